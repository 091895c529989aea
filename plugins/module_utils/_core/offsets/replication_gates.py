# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Is a partition copied, is a flow alive: decisions over facts, with the reason for each verdict.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..verdict import PROVEN, REFUTED, UNKNOWN, Finding

__all__ = ["PartitionFacts", "drained", "healthy", "lag", "making_progress", "open_transaction"]


@dataclass(frozen=True)
class PartitionFacts:
    """What is known of one partition of a flow; None is unknown.

    ``start``/``end``: log of the source at the flow's isolation level (``end`` is the last stable offset for
    read_committed), ``high`` its high watermark. ``copied``: N, the last copied source offset by the flow's own
    record; a lower bound unless the connector is stopped without tasks. ``data_after``: is there a data record in
    [N + 1, end), transaction markers left aside. ``replica_end``: end of the replica. ``tail_replicated``: the last
    data
    record of the source equals the last one of the replica.
    """

    start: int | None
    end: int | None
    last_replicated_offset: int | None
    data_after: bool | None = None
    replica_end: int | None = None
    tail_replicated: bool | None = None
    high: int | None = None


def lag(facts: PartitionFacts) -> int | None:
    """Source offsets not yet copied, an upper bound of records; None when unknown."""
    if facts.start is None or facts.end is None or _past_the_end(facts):
        return None
    if facts.data_after is False:
        return 0
    if facts.last_replicated_offset is None:
        return None if facts.end > facts.start else 0
    return max(0, facts.end - max(facts.last_replicated_offset + 1, facts.start))


def open_transaction(facts: PartitionFacts) -> int:
    """Offsets above the last stable offset: an open transaction holds them back. 0 when none is seen."""
    return 0 if facts.high is None or facts.end is None else max(0, facts.high - facts.end)


def healthy(facts: PartitionFacts) -> Finding:
    """Does the flow's position fit the source log: nothing expired before it was copied, nothing truncated."""
    if facts.start is None or facts.end is None:
        return Finding(UNKNOWN, "the source log could not be read")
    if facts.last_replicated_offset is None:
        if facts.start > 0:
            return Finding(UNKNOWN, f"nothing is known to be copied and the source log starts at {facts.start}")
        return Finding(PROVEN, "the flow starts at the beginning of the source log")
    if facts.start - 1 > facts.last_replicated_offset:
        gone = facts.start - 1 - facts.last_replicated_offset
        return Finding(
            REFUTED,
            f"{gone} offsets expired on the source before they were copied (from {facts.last_replicated_offset + 1})",
        )
    if _past_the_end(facts):
        return Finding(
            REFUTED,
            f"the flow is at {facts.last_replicated_offset + 1}, past the source end {facts.end}:"
            " topic truncated or re-created",
        )
    return Finding(PROVEN, "the flow's position lies inside the source log")


def _past_the_end(facts: PartitionFacts) -> bool:
    """N is read before E, so N + 1 > E is no race: the records that N counts are gone from the source."""
    return (
        facts.last_replicated_offset is not None
        and facts.end is not None
        and facts.last_replicated_offset + 1 > facts.end
    )


def drained(facts: PartitionFacts) -> Finding:
    """Is every data record of the source partition on the target?"""
    fits = healthy(facts)
    if fits.verdict == REFUTED or facts.start is None or facts.end is None:
        return fits
    if facts.end == 0:
        return Finding(PROVEN, "the source partition was never written")
    if facts.last_replicated_offset is not None and facts.last_replicated_offset >= facts.end - 1:
        return Finding(PROVEN, f"copied up to {facts.last_replicated_offset}, source end {facts.end}")
    if facts.data_after is False and (facts.last_replicated_offset is not None or facts.start == 0):
        return Finding(PROVEN, f"only transaction markers behind the copied offset {facts.last_replicated_offset}")
    if facts.last_replicated_offset is None:
        return Finding(UNKNOWN, f"no copied offset is known and the source holds [{facts.start}, {facts.end})")
    if facts.data_after is None:
        return Finding(
            UNKNOWN, f"copied up to {facts.last_replicated_offset} of {facts.end}, the rest could not be read"
        )
    return Finding(REFUTED, f"copied up to {facts.last_replicated_offset}, source end {facts.end}")


def making_progress(before: PartitionFacts, after: PartitionFacts) -> Finding:
    """Does the flow move this partition, from two looks some time apart?"""
    fits = healthy(after)
    if fits.verdict == REFUTED:
        return fits
    done = drained(after)
    if done.verdict == PROVEN or after.tail_replicated:
        return Finding(PROVEN, "everything that can be copied is copied")
    for name, old, new in (
        ("copied offset", before.last_replicated_offset, after.last_replicated_offset),
        ("replica end", before.replica_end, after.replica_end),
    ):
        if old is not None and new is not None and new > old:
            return Finding(PROVEN, f"the {name} moved from {old} to {new}")
    if after.end is None or not lag(after):
        return Finding(UNKNOWN, done.reason)
    return Finding(REFUTED, f"nothing moved between two looks although {lag(after)} offsets wait")
