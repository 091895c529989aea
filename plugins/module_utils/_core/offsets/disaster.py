# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where groups start, and what may be lost, when the cluster being left does not respond.

X is the lost cluster, Y the surviving one. Y has three sources for a group's committed offset on X: MirrorMaker 2's
newest checkpoint, an offset that was stored earlier (presynced by the scheduled job, R12, or the group's own when Y was
left), and the log start. The highest one counts that is still true:

- A stored offset is void if the group was set back since: newer evidence, of any tenure, shows a lower committed
  offset on X (R39). It is void as well if Y no longer has the records that it is bound to (R37).
- A log that was cut and filled again has other records at every offset, so only stored offsets that are still bound to
  its records, and the log start, are left.

Such an offset can skip records in one case: MirrorMaker 2 was restarted shortly before, was replicating records again,
and did not get as far as before. Then records that it had replicated only once are *below* an offset in the second
copy. So if the last record of the replica has an earlier copy, offsets move down to the earlier copy (``guarded``).

Sources: MirrorCheckpointTask, OffsetSyncStore (Kafka 4.3.1); R3, R6 to R8, R12, R15, R37, R39.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..partition import Partition
from ..verdict import UNKNOWN
from .bindings import HELD, Binding
from .skipped_records import NO_SKIPS, Skips
from .target_offsets import TargetOffset

__all__ = [
    "REPLACED",
    "SET_BACK",
    "Checkpointed",
    "Copies",
    "PresyncedOffset",
    "Tail",
    "compacted",
    "guarded",
    "is_voided",
    "loss_lines",
    "overtaken",
    "predicted_loss",
    "survived",
    "surviving_metadata",
]


@dataclass(frozen=True)
class Checkpointed:
    """MirrorMaker 2's newest checkpoint: ``upstream`` on X is ``downstream`` on Y."""

    upstream: int
    downstream: int
    #: Epoch seconds.
    time: float
    #: Offset of the record in the checkpoints topic.
    at: int = 0


@dataclass(frozen=True)
class PresyncedOffset:
    """An offset on Y that this collection translated: in the scheduled job, or recorded when Y was left."""

    offset: int
    time: float
    #: The committed offset on X that it was translated from, or with which the group moved to X; None: unknown.
    upstream: int | None = None
    #: Offset of the first checkpoint on Y that is newer; None: unknown.
    checkpoints: int | None = None
    #: The group's own offset when Y was last left. It is older than an offset of the scheduled job.
    own: bool = False
    #: Whether Y still has the records that it was stored for.
    binding: Binding = HELD
    #: Metadata that mean the same on Y at this offset (R49). "": none, or unknown.
    metadata: str = ""


@dataclass(frozen=True)
class Tail:
    """One partition on Y."""

    start: int
    end: int
    #: The last replicated offset that the flow stored; None: unknown. Not an upper bound of the records here: a dead
    #: worker had replicated more than it stored.
    last_replicated_offset: int | None = None
    #: With the policy identity, where the current tenure began. A group with a checkpoint of this tenure is not below.
    floor: int = 0
    #: The log was cut and filled again since an offset was stored for it (R37).
    replaced: bool = False


@dataclass(frozen=True)
class Copies:
    """Records that are twice at the end of a replica."""

    #: Offset of the earliest copy of the last record, if that is not the last record itself.
    last: int | None
    #: Offset of the earliest copy of the first record at or after the group's offset; None: there is no such record.
    next: int | None
    #: Both are known; otherwise they are lower bounds.
    proven: bool = True


SET_BACK = "the group was set back after its offset was stored"
_NOT_USED = "a stored offset is not used"
REPLACED = "the log was cut and filled again, so offsets that are not bound to its records are not used"


def survived(
    tail: Tail,
    checkpointed: Checkpointed | None,
    presynced: Sequence[PresyncedOffset],
    newest: Checkpointed | None = None,
) -> TargetOffset:
    """The highest offset on Y below which the group has processed everything, before ``guarded``.

    ``newest``: MirrorMaker 2's newest checkpoint, if it is of another tenure than the present one. It proves no offset
    here, but voids stored ones.
    """
    if tail.end == 0:
        return TargetOffset(0, "empty", "exact", 0, "the partition was never written")
    hazards = [REPLACED] if tail.replaced else []
    # The log start is not proven: records before it may be unread, and no offset restores them (R30).
    claims = [(0, "start", "no offset of the group is known here")]
    if checkpointed is not None and overtaken(checkpointed, presynced):
        hazards.append(SET_BACK)
    elif checkpointed is not None and not tail.replaced:
        claims.append((tail.floor, "tenure", "the group has a checkpoint of the current tenure"))
        if checkpointed.downstream <= tail.end:
            claims.append((checkpointed.downstream, "checkpoint", "MirrorMaker 2's newest checkpoint of the group"))
        else:
            hazards.append("a checkpoint is past the log end")
    for one in presynced:
        if _set_back(one, checkpointed or newest) or any(_superseded(one, other) for other in presynced):
            hazards.append(SET_BACK)
        elif not one.binding.holds:
            hazards.append(f"{_NOT_USED}: {one.binding.reason}")
        elif one.offset > tail.end:
            hazards.append("a presynced offset is past the log end")
        else:
            claims.append((one.offset, "presynced", "translated while both clusters could be read"))
            hazards += [one.binding.reason] if one.binding.reason else []
    needed, method, reason = max(claims, key=lambda claim: claim[0])
    found = TargetOffset(needed, method, "safe", None, reason, hazards=tuple(dict.fromkeys(hazards)))
    return _from_start(found, needed, tail)


def compacted(committed_offset: TargetOffset, tail: Tail) -> TargetOffset:
    """At the log start of a compacted replica. ``committed_offset``: what is otherwise known of the group.

    Compaction may have removed any record after that offset.
    """
    reason = "compacted: it is unknown whether MirrorMaker 2 was replicating records again when it ended"
    most = tail.end - (committed_offset.offset or 0) + (committed_offset.skips.at_most or 0)
    found = _at(
        TargetOffset(tail.start, "start", "safe", None, reason, hazards=committed_offset.hazards), tail.start, tail.end
    )
    if not most:
        return found
    text = f"{reason}; compaction may have removed up to {most} records that the group may not have read"
    return replace(found, quality="skips", skips=Skips(0, most), reason=text)


def _from_start(committed_offset: TargetOffset, needed: int, tail: Tail) -> TargetOffset:
    """At ``needed``, or at the log start: then the records that expired in between may be unread, which is loss (R30).

    The loss is an upper bound: only the lost cluster knows how much more the group had read.
    """
    gone = tail.start - needed
    if gone <= 0:
        return _at(committed_offset, needed, tail.end)
    reason = f"{committed_offset.reason}; the log starts at {tail.start}, the group's offset there would be {needed}"
    found = _at(replace(committed_offset, reason=reason), tail.start, tail.end)
    return replace(found, quality="skips", skips=Skips(0, gone))


def is_voided(hazards: Iterable[str]) -> bool:
    """Whether an offset that was stored, or a checkpoint, was not used: the group was set back, or the log was cut."""
    return any(text in (SET_BACK, REPLACED) or text.startswith(_NOT_USED) for text in hazards)


def surviving_metadata(
    found: TargetOffset, presynced: Iterable[PresyncedOffset], existing: tuple[int | None, str], original: bool
) -> tuple[str | None, str]:
    """The metadata to commit with ``found``, and why those that are there do not stay; "": nothing is dropped (R49).

    Those of a presynced offset were compared while both clusters could be read. Those of the group's own offset on an
    original are its own; None keeps them. Others are from MirrorMaker 2, which copies them together with an offset that
    they were not meant for. ``existing``: the committed offset on Y and its metadata. ``original``: MirrorMaker 2
    commits nothing there.
    """
    offset, metadata = existing
    used = [stored for stored in presynced if found.method == "presynced" and stored.offset == found.offset]
    if original and offset == found.offset and any(stored.own for stored in used):
        return None, ""
    carried = next((stored.metadata for stored in used if stored.metadata), "")
    dropped = metadata not in ("", carried)
    return carried, "the lost cluster cannot be read to compare the records that they may refer to" if dropped else ""


def _set_back(presynced: PresyncedOffset, checkpointed: Checkpointed | None) -> bool:
    """Whether the group was set back on X since: then MirrorMaker 2 writes a newer, lower checkpoint.

    A lower offset that is taken for newer by mistake is read again and skips nothing.
    """
    if checkpointed is None or presynced.upstream is None:
        return False
    newer = presynced.checkpoints is None or checkpointed.at >= presynced.checkpoints
    return newer and checkpointed.upstream < presynced.upstream


def overtaken(checkpointed: Checkpointed, presynced: Iterable[PresyncedOffset]) -> bool:
    """Whether the scheduled job found the group at a lower committed offset on X after that checkpoint (R39)."""
    return any(
        stored.upstream is not None
        and stored.upstream < checkpointed.upstream
        and (stored.checkpoints is None or checkpointed.at < stored.checkpoints)
        for stored in presynced
        if not stored.own
    )


def _superseded(own: PresyncedOffset, presynced: PresyncedOffset) -> bool:
    """Whether the scheduled job found the group below its own offset since, by their committed offsets on X (R39)."""
    if not own.own or presynced.own or presynced.upstream is None:
        return False
    if own.upstream is None:
        return presynced.offset < own.offset
    return presynced.upstream < own.upstream


def _at(committed_offset: TargetOffset, offset: int, end: int) -> TargetOffset:
    """``committed_offset`` at ``offset``; the group may have processed every record from there on."""
    return replace(committed_offset, offset=offset, quality="exact" if offset == end else "safe", rereads=end - offset)


def guarded(committed_offset: TargetOffset, tail: Tail, copies: Copies) -> TargetOffset:
    """``committed_offset``, moved down to the first copy if the flow was replicating records again when it ended."""
    if committed_offset.offset is None or copies.last is None or committed_offset.offset <= copies.last:
        return committed_offset
    first = copies.last + 1 if copies.next is None else min(committed_offset.offset, copies.next)
    if first == committed_offset.offset:
        return committed_offset
    reason = f"{committed_offset.reason}; moved down: MirrorMaker 2 was replicating records again when it ended"
    hazards = (
        committed_offset.hazards
        if copies.proven
        else (*committed_offset.hazards, "the first copies were not found, only a lower bound is known")
    )
    moved = replace(committed_offset, method="first_copy", reason=reason, hazards=hazards, skips=NO_SKIPS)
    return _from_start(moved, first, tail)


# ---- loss -------------------------------------------------------------------------------------------------------


def predicted_loss(
    tails: Mapping[Partition, Tail],
    committed: Mapping[Partition, int],
    last: Mapping[Partition, int | None],
    event_times: Mapping[Partition, float | None],
    heartbeat_age: float | None,
) -> dict[str, Any]:
    """What may have been acknowledged on X and is not on Y: ranges, never 0 by default.

    ``committed``: by source partition, the highest committed offset of any group on X that is known here. ``last``: the
    source offset of the replica's last record, if an offset-sync has it. ``event_times``: the timestamp of that record
    in epoch seconds, which a producer set: it is shown, and no age follows from it (R43).

    Only X knows its log end, so the records have no upper bound. The lower bound is 0: offsets up to a committed offset
    existed, but they may belong to transaction markers or aborted records (R46). For the same reason only X knows when
    the lost records were written.
    """
    rows = []
    for key in sorted(tails):
        last_source = last.get(key)
        unreplicated = None if last_source is None else max(0, committed.get(key, 0) - 1 - last_source)
        rows.append(
            {
                "topic": key[0],
                "partition": key[1],
                "last_replicated_offset": tails[key].last_replicated_offset,
                "offsets_to_committed": unreplicated,
                "last_event_time": event_times.get(key),
            }
        )
    return {
        "verdict": UNKNOWN,
        "records_at_least": 0,
        "records_at_most": None,
        "offsets_to_committed": sum(row["offsets_to_committed"] or 0 for row in rows),
        "seconds_at_most": None,
        "heartbeat_age": None if heartbeat_age is None else round(heartbeat_age, 3),
        "partitions": rows,
    }


_UNJOINED = (
    "whole topics and groups that match a pattern and had not joined the pair; only the lost cluster knows which"
    " (readiness names them while it runs)"
)


def loss_lines(
    loss: Mapping[str, Any] | None, only_there: Iterable[str] = (), has_patterns: bool = False, final: bool = False
) -> list[str]:
    """The loss as lines of a report.

    ``final``: the lost cluster never returns, so that nothing can be salvaged. ``only_there``: replicas on the lost
    cluster with records that no other cluster has. ``has_patterns``: the inventory gives topics or groups by pattern.
    """
    if loss is None:
        return ["the loss was not estimated"]
    offsets = loss["offsets_to_committed"]
    committed = (
        f"; groups had committed up to {offsets} offsets after the last replicated record, which may be transaction"
        " markers"
        if offsets
        else ""
    )
    heartbeat = (
        "the age of the newest replicated heartbeat is unknown"
        if loss["heartbeat_age"] is None
        else f"the newest replicated heartbeat is {loss['heartbeat_age']:.1f} s old by the clock of the worker that"
        " wrote it, which is an estimate of when replication ended"
    )
    return [
        "an unknown number of records, because only the lost cluster knows its log ends and when it wrote these records"
        f"{committed}; {heartbeat}{'' if final else '; the playbook salvage counts and restores them'}",
        *(f"records of {name} that groups had not read; they came from a cluster that is gone" for name in only_there),
        *([_UNJOINED] if has_patterns else ()),
    ]
