# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Is a partition fully replicated, does a flow make progress? Decisions over facts, each with its reason.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..verdict import PROVEN, REFUTED, UNKNOWN, Finding

__all__ = ["PartitionFacts", "drained", "healthy", "lag", "making_progress", "open_transaction"]


@dataclass(frozen=True)
class PartitionFacts:
    """What is known of one partition of a flow; None: unknown."""

    #: Log start offset of the source.
    start: int | None
    #: Log end of the source at the flow's isolation level: the last stable offset for read_committed.
    end: int | None
    #: Last replicated source offset that the flow stored. A lower bound unless the connector is stopped without tasks.
    last_replicated_offset: int | None
    #: Whether there is a data record in [last_replicated_offset + 1, end). Transaction markers do not count.
    data_after: bool | None = None
    #: Log end of the replica.
    replica_end: int | None = None
    #: Whether the last data record of the source equals the last one of the replica.
    tail_replicated: bool | None = None
    #: High watermark of the source.
    high: int | None = None


def lag(facts: PartitionFacts) -> int | None:
    """Source offsets that are not replicated yet, an upper bound of the records; None: unknown."""
    if facts.start is None or facts.end is None or _past_the_end(facts):
        return None
    if facts.data_after is False:
        return 0
    if facts.last_replicated_offset is None:
        return None if facts.end > facts.start else 0
    return max(0, facts.end - max(facts.last_replicated_offset + 1, facts.start))


def open_transaction(facts: PartitionFacts) -> int:
    """Offsets from the last stable offset to the high watermark, held by an open transaction. 0: none is known."""
    return 0 if facts.high is None or facts.end is None else max(0, facts.high - facts.end)


def healthy(facts: PartitionFacts) -> Finding:
    """Is the flow's offset within the source log: no record expired before it was replicated, no truncation?"""
    if facts.start is None or facts.end is None:
        return Finding(UNKNOWN, "the source log could not be read")
    if facts.last_replicated_offset is None:
        if facts.start > 0:
            return Finding(UNKNOWN, f"the last replicated offset is unknown and the source log starts at {facts.start}")
        return Finding(PROVEN, "the flow starts at the beginning of the source log")
    if facts.start - 1 > facts.last_replicated_offset:
        gone = facts.start - 1 - facts.last_replicated_offset
        return Finding(
            REFUTED,
            f"{gone} offsets expired on the source before they were replicated"
            f" (from {facts.last_replicated_offset + 1}; records or transaction markers)",
        )
    if _past_the_end(facts):
        return Finding(
            REFUTED,
            f"the flow is at {facts.last_replicated_offset + 1}, past the source end {facts.end}:"
            " the topic was truncated or recreated",
        )
    return Finding(PROVEN, "the flow's offset is within the source log")


def _past_the_end(facts: PartitionFacts) -> bool:
    """The end is read after the last replicated offset, so this is no race: the source has lost replicated records."""
    return (
        facts.last_replicated_offset is not None
        and facts.end is not None
        and facts.last_replicated_offset + 1 > facts.end
    )


def drained(facts: PartitionFacts) -> Finding:
    """Has the flow passed the last data record of the source partition? It does not prove each copy (R36)."""
    fits = healthy(facts)
    if fits.verdict == REFUTED or facts.start is None or facts.end is None:
        return fits
    if facts.end == 0:
        return Finding(PROVEN, "the source partition was never written")
    if facts.last_replicated_offset is not None and facts.last_replicated_offset >= facts.end - 1:
        return Finding(PROVEN, f"the flow is at {facts.last_replicated_offset + 1}, source end {facts.end}")
    if facts.data_after is False and (facts.last_replicated_offset is not None or facts.start == 0):
        return Finding(
            PROVEN, f"only transaction markers after the last replicated offset {facts.last_replicated_offset}"
        )
    if facts.last_replicated_offset is None:
        return Finding(
            UNKNOWN, f"the last replicated offset is unknown and the source has offsets [{facts.start}, {facts.end})"
        )
    if facts.data_after is None:
        return Finding(
            UNKNOWN, f"replicated up to {facts.last_replicated_offset} of {facts.end}, the rest could not be read"
        )
    return Finding(REFUTED, f"replicated up to {facts.last_replicated_offset}, source end {facts.end}")


def making_progress(before: PartitionFacts, after: PartitionFacts) -> Finding:
    """Does the flow replicate this partition, judged from two observations some time apart?"""
    fits = healthy(after)
    if fits.verdict == REFUTED:
        return fits
    done = drained(after)
    if done.verdict == PROVEN or after.tail_replicated:
        return Finding(PROVEN, "the flow has passed the last record")
    for name, old, new in (
        ("last replicated offset", before.last_replicated_offset, after.last_replicated_offset),
        ("replica end", before.replica_end, after.replica_end),
    ):
        if old is not None and new is not None and new > old:
            return Finding(PROVEN, f"the {name} advanced from {old} to {new}")
    if after.end is None or not lag(after):
        return Finding(UNKNOWN, done.reason)
    return Finding(REFUTED, f"no progress between two observations although {lag(after)} offsets are not replicated")
