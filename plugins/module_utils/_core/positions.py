# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The positions of a group on the side that it enters, from its positions on the side that it leaves.

X is the side being left, Y the side being entered. Two topics of Y are set for every topic T of the pair:
the replica ``X.T`` from the group's position on X:T (forward through the flow X->Y), and the original T
from its position on the replica X:``Y.T`` (reverse through the flow Y->X). SOUNDNESS rules 6 to 8.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .formats import OffsetSync

__all__ = ["Position", "Side", "enter_original", "enter_replica", "newest_sync_floor"]


@dataclass(frozen=True)
class Side:
    """A group on one partition of one topic. ``start``/``end`` bound the log; None is unknown.

    ``read_to_end``: no data record in [commit, end) (transaction markers left aside).
    """

    commit: int | None
    start: int | None
    end: int | None
    read_to_end: bool | None = None


@dataclass(frozen=True)
class Position:
    """A start on the new side. ``quality``: ``exact``, ``safe`` (re-reads at most ``rereads``) or ``none``."""

    offset: int | None
    method: str
    quality: str
    rereads: int | None
    reason: str


def newest_sync_floor(commit: int, syncs: Iterable[OffsetSync]) -> tuple[int, int] | None:
    """MirrorMaker 2's own forward rule over the syncs of one partition: (upstream, downstream) for ``commit``.

    Source: OffsetSyncStore.translateDownstream (Kafka 4.3.1): equal upstream gives the downstream offset, a lower one
    the offset behind it, never the difference. Only syncs written after the last upstream rewind count, and, stricter
    than there, after the last downstream one: then the replica was re-created, and older offsets mean other records.
    """
    usable: list[OffsetSync] = []
    for sync in syncs:
        if usable and (sync.upstream < usable[-1].upstream or sync.downstream < usable[-1].downstream):
            usable.clear()
        usable.append(sync)
    at_or_below = [sync for sync in usable if sync.upstream <= commit]
    if not at_or_below:
        return None
    best = at_or_below[-1]
    return best.upstream, best.downstream if best.upstream == commit else best.downstream + 1


def enter_replica(left: Side, replica: Side, flow_final: bool, syncs: Iterable[OffsetSync]) -> Position:
    """Start on Y:``X.T``. ``flow_final``: the flow X->Y is drained and stopped, so the replica's end is final."""
    if left.start is None or left.end is None or replica.start is None or replica.end is None:
        return Position(None, "none", "none", None, "a log of the partition could not be read")
    if left.commit is None:
        if left.end == 0 and replica.end == 0:
            return Position(0, "empty", "exact", 0, "the partition was never written")
        return Position(None, "none", "none", None, "the group has no position on the side being left")
    if flow_final and left.commit > left.end:
        reason = f"its position {left.commit} lies past the log end {left.end}: topic truncated or re-created"
        return Position(None, "none", "none", None, reason)
    if left.read_to_end and flow_final:
        return Position(replica.end, "end", "exact", 0, "read to the end, and everything is copied")
    # A sync names a record that lies on the replica; one at or behind its end is about an earlier replica.
    end = replica.end
    floor = newest_sync_floor(left.commit, (sync for sync in syncs if sync.downstream < end))
    if floor is None:
        span = replica.end - replica.start
        return Position(replica.start, "start", "safe", span, "no offset-sync at or below the group's position")
    upstream, downstream = floor
    offset = min(max(downstream, replica.start), replica.end)
    behind = left.commit - upstream - (0 if upstream == left.commit else 1)
    quality = "exact" if upstream == left.commit else "safe"
    return Position(offset, "sync", quality, behind, f"MirrorMaker 2's offset-sync at {upstream}")


def enter_original(left: Side, original: Side, flow_drained: bool) -> Position:
    """Start on Y:T. ``original.commit``: the group's own earlier commit there, if the journal vouches for it.

    ``flow_drained``: every record of Y:T is on X (no producer writes there while the applications live on X).
    """
    if original.start is None or original.end is None:
        return Position(None, "none", "none", None, "the log of the original topic could not be read")
    if original.end == 0:
        return Position(0, "empty", "exact", 0, "the partition was never written")
    if left.read_to_end and flow_drained:
        return Position(original.end, "end", "exact", 0, "its replica is read to the end, and everything is copied")
    if original.commit is not None and original.commit > original.end:
        reason = f"the earlier position {original.commit} lies past the log end {original.end}: topic re-created"
        return Position(None, "none", "none", None, reason)
    if original.commit is not None and original.commit >= original.start:
        span = original.end - original.commit
        return Position(original.commit, "own", "safe", span, "the group's own earlier position")
    span = original.end - original.start
    return Position(original.start, "start", "safe", span, "no earlier position of the group is known")
