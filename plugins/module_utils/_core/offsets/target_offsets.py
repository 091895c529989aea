# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The positions of a group on the side that it enters, from its positions on the side that it leaves.

X is the side being left, Y the side being entered. Two topics of Y are set for every topic T of the pair:
the replica ``X.T`` from the group's position on X:T (forward through the flow X->Y), and the original T
from its position on the replica X:``Y.T`` (reverse through the flow Y->X). R6 to R8.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from .skipped_records import NO_SKIPS, Skips
from .tenures import Place
from .translation import COMPACTED, Anchor, Translated

__all__ = ["Side", "TargetOffset", "enter_original", "enter_replica", "enter_same"]


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
class TargetOffset:
    """A start on the new side.

    ``quality``: ``exact``, ``safe`` (re-reads at most ``rereads``), ``skips`` (records that the group has not read are
    no longer there, R30) or ``none``.
    ``anchor``: the verified offset-sync that was used. ``hazards``: what kept the position from being more precise.
    """

    offset: int | None
    method: str
    quality: str
    rereads: int | None
    reason: str
    anchor: Anchor | None = None
    hazards: tuple[str, ...] = ()
    skips: Skips = NO_SKIPS


def enter_replica(left: Side, replica: Side, flow_final: bool, translated: Translated | None) -> TargetOffset:
    """Start on Y:``X.T``. ``flow_final``: the flow X->Y is drained and stopped, so the replica's end is final.

    ``translated``: the group's position on X:T, translated forward; None where nothing had to be translated.
    """
    decided = _decided(left, replica, flow_final)
    if decided is not None:
        return decided
    return _with_expired(left, _translated(left, replica, translated))


def enter_same(
    left: Side, entered: Side, flow_final: bool, place: Place, translated: Translated | None
) -> TargetOffset:
    """Start on Y:T with the policy identity. ``place``: where the position lies among the tenures of the pair.

    ``translated``: of a position at a cut it only counts what is gone on Y.
    """
    decided = _decided(left, entered, flow_final)
    if decided is not None:
        return decided
    if place.other is not None:
        return _at_cut(left, entered, place.other, translated)
    if place.tenure is None:
        return TargetOffset(
            None, "none", "none", None, "it lies in a tail that was written behind a cut and never copied"
        )
    return _with_expired(left, _translated(left, entered, translated))


def _at_cut(left: Side, entered: Side, cut: int, translated: Translated | None) -> TargetOffset:
    """Everything after the cut on the side being left has its copy after the cut on the other one."""
    start, end = entered.start or 0, entered.end or 0
    found = TargetOffset(min(max(cut, start), end), "cut", "exact", 0, "the position is the cut of a cutover")
    most = Skips(0, max(0, start - cut)).capped(_unread(left))
    return _skipping(found, most if translated is None else translated.skips, cut, start)


def _unread(left: Side) -> int:
    """At most so many records of the side being left has the group not read."""
    return max(0, (left.end or 0) - max(left.commit or 0, left.start or 0))


def _skipping(committed_offset: TargetOffset, skips: Skips, needed: int, start: int) -> TargetOffset:
    """``position`` with what is skipped: never exact or safe (R30)."""
    if not skips.possible:
        return committed_offset
    causes = [f"the log starts at {start}, its position there would be {needed}"] if start > needed else []
    causes += [text for text in committed_offset.hazards if text in COMPACTED]
    reason = f"{skips.text} that it has not read are no longer there: {'; '.join(causes) or 'expired or compacted'}"
    return replace(committed_offset, quality="skips", skips=skips, reason=reason)


def _with_expired(left: Side, committed_offset: TargetOffset) -> TargetOffset:
    """Names what is gone on the side being left as well: lost to the group, but not by a move."""
    gone = (left.start or 0) - (left.commit or 0)
    if gone <= 0 or committed_offset.offset is None:
        return committed_offset
    text = f"{committed_offset.reason}; {gone} offsets that it had not read have expired on the side being left as well"
    return replace(committed_offset, reason=text)


def _decided(left: Side, entered: Side, flow_final: bool) -> TargetOffset | None:
    """What needs no translation: nothing is known, nothing was written, or everything is read."""
    if left.start is None or left.end is None or entered.start is None or entered.end is None:
        return TargetOffset(None, "none", "none", None, "a log of the partition could not be read")
    if left.commit is None:
        if left.end == 0 and entered.end == 0:
            return TargetOffset(0, "empty", "exact", 0, "the partition was never written")
        return TargetOffset(None, "none", "none", None, "the group has no position on the side being left")
    if left.commit > left.end:
        reason = f"its position {left.commit} lies past the log end {left.end}: topic truncated or re-created"
        return TargetOffset(None, "none", "none", None, reason)
    if left.read_to_end and flow_final:
        return TargetOffset(entered.end, "end", "exact", 0, "read to the end, and everything is copied")
    return None


def _translated(left: Side, entered: Side, translated: Translated | None) -> TargetOffset:
    if translated is None or entered.start is None or entered.end is None:
        return TargetOffset(None, "none", "none", None, "its position could not be translated")
    return _from(translated, entered.start, entered.end, _unread(left))


def _from(translated: Translated, start: int, end: int, most: int) -> TargetOffset:
    """``most``: at most so many records can be skipped that have expired since the translation."""
    quality = "exact" if translated.exact else "safe"
    offset = min(max(translated.offset, start), end)
    found = TargetOffset(
        offset,
        translated.method,
        quality,
        translated.rereads,
        _reason(translated),
        translated.anchor,
        translated.hazards,
    )
    more = Skips(0, max(0, start - translated.offset)).capped(most)
    needed = translated.offset if translated.needed is None else translated.needed
    return _skipping(found, translated.skips.plus(more), needed, start)


def _reason(translated: Translated) -> str:
    """Why the position is what it is; of an inexact one in a compacted topic, what that means for the group."""
    reason = _REASONS[translated.method]
    compacted = [text for text in translated.hazards if text in COMPACTED]
    if translated.exact or not compacted:
        return reason
    return (
        f"{reason}; {' and '.join(compacted)}, and compaction removes records between two offsets, so that the records"
        " after the position cannot be counted off: the group may read some again"
    )


_REASONS = {
    "end": "everything is read",
    "content": "the records on both sides were compared",
    "tail": "what is read does not lie behind the position on the replica",
    "sync": "MirrorMaker 2's offset-sync, verified",
    "skipped_range": "it lies where a replay of the tail has set the flow forward",
    "start": "nothing proves more than the log start",
}


def enter_original(left: Side, original: Side, flow_drained: bool, translated: Translated | None) -> TargetOffset:
    """Start on Y:T. ``original.commit``: the group's own earlier commit there, if the journal vouches for it.

    ``flow_drained``: every record of Y:T is on X (no producer writes there while the applications live on X).
    ``translated``: the group's position on X:``Y.T``, translated in reverse. Everything below either was read, so the
    higher one counts (R7).
    """
    if original.start is None or original.end is None:
        return TargetOffset(None, "none", "none", None, "the log of the original topic could not be read")
    if original.end == 0:
        return TargetOffset(0, "empty", "exact", 0, "the partition was never written")
    if left.read_to_end and flow_drained:
        return TargetOffset(original.end, "end", "exact", 0, "its replica is read to the end, and everything is copied")
    own = original.commit
    if own is not None and own > original.end:
        reason = f"the earlier position {own} lies past the log end {original.end}: topic re-created"
        return TargetOffset(None, "none", "none", None, reason)
    if own is not None and own >= original.start and (translated is None or own > translated.offset):
        span = original.end - own if translated is None else max(0, translated.rereads - (own - translated.offset))
        exact = translated is not None and translated.rereads == 0
        return TargetOffset(own, "own", "exact" if exact else "safe", span, "the group's own earlier position")
    # What lies before the group's own earlier position it has read there.
    needed = own or 0
    if translated is not None:
        most = max(0, original.start - needed)
        if COMPACTED[0] not in translated.hazards:
            translated = replace(translated, skips=translated.skips.capped(most))
        return _from(translated, original.start, original.end, most)
    span = original.end - original.start
    found = TargetOffset(original.start, "start", "safe", span, "no earlier position of the group is known")
    # Nothing to read on the replica: then nothing is lost.
    gone = 0 if left.read_to_end else max(0, original.start - needed)
    return _skipping(found, Skips(0, gone), needed, original.start)
