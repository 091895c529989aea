# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where groups start, and what may be lost, when the side being left can no longer be asked.

X is the side that is lost, Y the one that survives. Three things on Y tell of a group's position on X, and none can be
ahead of what the group has processed: MirrorMaker 2's newest checkpoint of it, the position that the scheduled job has
prepared (R12), and the log start. The highest counts.

One thing makes even such a position skip: MirrorMaker 2 was restarted shortly before, was sending records again, and
did not get as far as it had been. What it had copied only once then lies *below* a position in the second copy.
So where the last record of the replica has an earlier copy, positions move down to the earlier copy (``guarded``).

Sources: MirrorCheckpointTask, OffsetSyncStore (Kafka 4.3.1); R3, R6 to R8, R12, R15.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..verdict import UNKNOWN
from .skipped_records import NO_SKIPS, Skips
from .target_offsets import TargetOffset

__all__ = [
    "Checkpointed",
    "Copies",
    "PresyncedOffset",
    "Tail",
    "compacted",
    "guarded",
    "loss_lines",
    "predicted_loss",
    "survived",
]


@dataclass(frozen=True)
class Checkpointed:
    """MirrorMaker 2's newest checkpoint: ``upstream`` on X is ``downstream`` on Y, as of ``time`` (epoch seconds).

    ``at``: where it lies in the topic of checkpoints.
    """

    upstream: int
    downstream: int
    time: float
    at: int = 0


@dataclass(frozen=True)
class PresyncedOffset:
    """A position on Y that this collection has translated: by the scheduled job, or noted when Y was left.

    ``upstream``: the position on X that it was translated from; None where it was the group's own on Y.
    ``checkpoints``: the log end of Y's topic of checkpoints before that; None: it was not there, or not noted.
    """

    offset: int
    time: float
    upstream: int | None = None
    checkpoints: int | None = None


@dataclass(frozen=True)
class Tail:
    """One partition on Y: its log, and what the flow has noted as copied into it (N; None: unknown).

    N is no bound of what lies here: a worker that died had copied more than it noted. ``floor``: with the policy
    identity, where the present stay began; no group of which a checkpoint is known from this stay can lie below.
    """

    start: int
    end: int
    last_replicated_offset: int | None = None
    floor: int = 0


@dataclass(frozen=True)
class Copies:
    """What was found of records that lie twice at the end of a replica.

    ``last``: offset of the earliest copy of the last record, if that is not the last record itself. ``next``: of the
    earliest copy of the first record at or behind the position; None: there is no such record. ``proven``: both are
    known; otherwise they are lower bounds.
    """

    last: int | None
    next: int | None
    proven: bool = True


def survived(tail: Tail, checkpointed: Checkpointed | None, presynced: Sequence[PresyncedOffset]) -> TargetOffset:
    """The highest position on Y below which the group has processed everything, before ``guarded``."""
    if tail.end == 0:
        return TargetOffset(0, "empty", "exact", 0, "the partition was never written")
    hazards = []
    # The log start is not proven: what lay before it is perhaps unread, and no position brings it back (R30).
    claims = [(0, "start", "no position of the group is known here")]
    if checkpointed is not None:
        claims.append((tail.floor, "tenure", "the group had come to the present stay"))
        if checkpointed.downstream <= tail.end:
            claims.append((checkpointed.downstream, "checkpoint", "MirrorMaker 2's newest checkpoint of the group"))
        else:
            hazards.append("a checkpoint lies past the log end")
    for one in presynced:
        if _set_back(one, checkpointed):
            hazards.append("the group was set back after its position was prepared")
        elif one.offset > tail.end:
            hazards.append("a prepared position lies past the log end")
        else:
            claims.append((one.offset, "presynced", "translated while both sides could be read"))
    needed, method, reason = max(claims, key=lambda claim: claim[0])
    found = TargetOffset(needed, method, "safe", None, reason, hazards=tuple(dict.fromkeys(hazards)))
    return _from_start(found, needed, tail)


def compacted(committed_offset: TargetOffset, tail: Tail) -> TargetOffset:
    """At the log start of a compacted replica. ``position``: what is known of the group otherwise.

    Compaction may have removed any record after that position.
    """
    reason = "compacted: whether MirrorMaker 2 was sending records again when it ended cannot be seen"
    most = tail.end - (committed_offset.offset or 0) + (committed_offset.skips.at_most or 0)
    found = _at(
        TargetOffset(tail.start, "start", "safe", None, reason, hazards=committed_offset.hazards), tail.start, tail.end
    )
    if not most:
        return found
    text = f"{reason}; up to {most} records that the group may not have read can have been compacted away"
    return replace(found, quality="skips", skips=Skips(0, most), reason=text)


def _from_start(committed_offset: TargetOffset, needed: int, tail: Tail) -> TargetOffset:
    """At ``needed`` or at the log start: then what has expired in between may be unread, and is loss (R30).

    Only an upper bound: how far the group had read beyond what is known here, only the lost side knows.
    """
    gone = tail.start - needed
    if gone <= 0:
        return _at(committed_offset, needed, tail.end)
    reason = f"{committed_offset.reason}; the log starts at {tail.start}, its position there would be {needed}"
    found = _at(replace(committed_offset, reason=reason), tail.start, tail.end)
    return replace(found, quality="skips", skips=Skips(0, gone))


def _set_back(presynced: PresyncedOffset, checkpointed: Checkpointed | None) -> bool:
    """Somebody has set the group back on X since: MirrorMaker 2 notes that as a newer, lower checkpoint.

    Newer is what lies behind. The times are those of two machines, and count for a topic of checkpoints that was made
    again: a lower position, taken for newer by mistake, is read again and skips nothing.
    """
    if checkpointed is None or presynced.upstream is None:
        return False
    behind = presynced.checkpoints is not None and checkpointed.at >= presynced.checkpoints
    return (behind or checkpointed.time > presynced.time) and checkpointed.upstream < presynced.upstream


def _at(committed_offset: TargetOffset, offset: int, end: int) -> TargetOffset:
    """With the records from there on: the group may have processed all of them."""
    return replace(committed_offset, offset=offset, quality="exact" if offset == end else "safe", rereads=end - offset)


def guarded(committed_offset: TargetOffset, tail: Tail, copies: Copies) -> TargetOffset:
    """``position``, moved down to the first copy where the flow was sending records again when it ended."""
    if committed_offset.offset is None or copies.last is None or committed_offset.offset <= copies.last:
        return committed_offset
    first = copies.last + 1 if copies.next is None else min(committed_offset.offset, copies.next)
    if first == committed_offset.offset:
        return committed_offset
    reason = f"{committed_offset.reason}; moved down: MirrorMaker 2 was sending records again when it ended"
    hazards = (
        committed_offset.hazards
        if copies.proven
        else (*committed_offset.hazards, "the first copies were not found, only bounded")
    )
    moved = replace(committed_offset, method="first_copy", reason=reason, hazards=hazards, skips=NO_SKIPS)
    return _from_start(moved, first, tail)


# ---- loss -------------------------------------------------------------------------------------------------------


def predicted_loss(
    tails: Mapping[tuple[str, int], Tail],
    upstream: Mapping[tuple[str, int], int],
    last: Mapping[tuple[str, int], int | None],
    newest: Mapping[tuple[str, int], float | None],
    heartbeat_age: float | None,
    now: float,
) -> dict[str, Any]:
    """What may have been acknowledged on X and is not on Y: ranges, never 0 by default.

    ``upstream``: by source partition, the highest position of any group on X that is known here. ``last``: the source
    offset of the replica's last record, where an offset-sync tells it. ``newest``: epoch seconds of that record.
    Records have no upper bound here: only X knows its end.
    """
    rows = []
    for key in sorted(tails):
        tail, heartbeat, last_replicated_offset = tails[key], newest.get(key), last.get(key)
        rows.append(
            {
                "topic": key[0],
                "partition": key[1],
                "last_replicated_offset": tail.last_replicated_offset,
                "at_least": None
                if last_replicated_offset is None
                else max(0, upstream.get(key, 0) - 1 - last_replicated_offset),
                "last_copied": heartbeat,
            }
        )
    ages = [None if newest.get(key) is None else max(0.0, now - (newest[key] or 0.0)) for key in tails]
    known_ages = [age for age in ages if age is not None]
    return {
        "verdict": UNKNOWN,
        "offsets_at_least": sum(row["at_least"] or 0 for row in rows),
        "records_at_most": None,
        # Lost records were written behind the last copied one; a quiet topic makes the bound larger than need be.
        "seconds_at_most": None if len(known_ages) < len(ages) or not ages else round(max(known_ages), 3),
        "heartbeat_age": None if heartbeat_age is None else round(heartbeat_age, 3),
        "partitions": rows,
    }


def loss_lines(loss: Mapping[str, Any] | None, only_there: Iterable[str] = ()) -> list[str]:
    """For a person at three in the morning. ``only_there``: replicas on the lost side with what nobody else has."""
    if loss is None:
        return ["it was not looked at"]
    seconds = "an unknown time" if loss["seconds_at_most"] is None else f"{loss['seconds_at_most']:.1f} s"
    heartbeat = "none known" if loss["heartbeat_age"] is None else f"the last one is {loss['heartbeat_age']:.1f} s old"
    return [
        f"at least {loss['offsets_at_least']} offsets, how many at most only the old side knows;"
        f" written within the last {seconds} (heartbeats: {heartbeat}). The playbook salvage counts and fetches them",
        *(f"what groups had not read of {name}: it came from a cluster that is gone" for name in only_there),
    ]
