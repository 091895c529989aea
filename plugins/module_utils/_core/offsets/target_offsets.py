# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The start offsets of a group on the cluster being entered, from its committed offsets on the cluster being left.

X is the cluster being left, Y the cluster being entered. For every topic T of the pair, two topics of Y get offsets:
the replica ``X.T`` from the group's committed offset on X:T (forward through the flow X->Y), and the original T from
the group's committed offset on the replica X:``Y.T`` (reverse through the flow Y->X). R6 to R8.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..partition import Range
from .bindings import HELD, Binding
from .missing_copies import ranges_text, size
from .read_copies import COMPACTED, NOT_STORED, Anchor
from .skipped_records import NO_SKIPS, Skips
from .tenures import TenurePlace
from .translation import Translated

__all__ = ["OwnOffset", "Side", "TargetOffset", "enter_original", "enter_replica", "enter_same"]


@dataclass(frozen=True)
class Side:
    """A group on one partition of one topic. None: unknown."""

    commit: int | None
    #: Log start and log end.
    start: int | None
    end: int | None
    #: Whether there is no data record in [commit, end). Transaction markers do not count.
    read_to_end: bool | None = None
    #: Whether records may be missing between the log start and the log end.
    compacted: bool = False


@dataclass(frozen=True)
class TargetOffset:
    """Where a group starts on the cluster being entered."""

    offset: int | None
    method: str
    #: ``exact``, ``safe`` (re-reads at most ``rereads``), ``skips`` (records that the group has not read are gone, R30)
    #: or ``none``.
    quality: str
    rereads: int | None
    reason: str
    #: The verified offset-sync that was used.
    anchor: Anchor | None = None
    #: Why the offset is not more precise.
    hazards: tuple[str, ...] = ()
    skips: Skips = NO_SKIPS


def enter_replica(left: Side, replica: Side, flow_final: bool, translated: Translated | None) -> TargetOffset:
    """Start on Y:``X.T``. ``flow_final``: the flow X->Y is drained and stopped, so the replica's end is final.

    ``translated``: the group's committed offset on X:T, translated forward; None if it needs no translation.
    """
    decided = _decided(left, replica, flow_final)
    if decided is not None:
        return decided
    return _with_expired(left, _translated(left, replica, translated))


def enter_same(
    left: Side,
    entered: Side,
    flow_final: bool,
    place: TenurePlace,
    translated: Translated | None,
    at_least: int | None = None,
) -> TargetOffset:
    """Start on Y:T with the policy identity. ``place``: where the committed offset is among the tenures of the pair.

    ``translated``: for an offset at a cut, it only counts the records that are gone on Y. ``at_least``: the lower bound
    of the end of the offset's tenure on X, if the end is unknown (R45).
    """
    decided = _decided(left, entered, flow_final)
    if decided is not None:
        return decided
    if place.other is not None:
        return _at_cut(left, entered, place.other, translated)
    if place.tenure is None:
        return TargetOffset(
            None, "none", "none", None, "it is in a tail that was written after a cut and never replicated"
        )
    if at_least is not None and (left.commit or 0) > at_least and not _replicated(translated):
        reason = (
            f"it is after {at_least}, the last offset that the flow stored before its worker died, and it is unknown"
            " whether the records there were replicated"
        )
        return TargetOffset(None, "none", "none", None, reason)
    return _with_expired(left, _translated(left, entered, translated))


def _replicated(translated: Translated | None) -> bool:
    """Whether every record before the committed offset was replicated, or none after it is left."""
    return translated is not None and (translated.reached or translated.method == "end")


def _at_cut(left: Side, entered: Side, cut: int, translated: Translated | None) -> TargetOffset:
    """Every record after the cut on the cluster being left has its copy after the cut on the other cluster."""
    start, end = entered.start or 0, entered.end or 0
    found = TargetOffset(min(max(cut, start), end), "cut", "exact", 0, "the committed offset is the cut of a cutover")
    most = Skips(0, max(0, start - cut)).capped(_unread(left))
    return _skipping(found, most if translated is None else translated.skips, cut, start)


def _unread(left: Side) -> int:
    """Upper bound of the records on the cluster being left that the group has not read."""
    return max(0, (left.end or 0) - max(left.commit or 0, left.start or 0))


def _skipping(
    committed_offset: TargetOffset, skips: Skips, needed: int, start: int, missing: Sequence[Range] = ()
) -> TargetOffset:
    """``committed_offset`` with the skipped records: never exact or safe (R30, R36)."""
    if not skips.possible:
        return committed_offset
    causes = [f"the log starts at {start}, the group's offset there would be {needed}"] if start > needed else []
    causes += [f"the records at offsets {ranges_text(missing)} of the source have no copy"] if missing else []
    causes += [text for text in committed_offset.hazards if text in (*COMPACTED, NOT_STORED)]
    reason = f"{skips.text} that the group has not read are gone: {'; '.join(causes) or 'expired or compacted'}"
    return replace(committed_offset, quality="skips", skips=skips, reason=reason)


def _with_expired(left: Side, committed_offset: TargetOffset) -> TargetOffset:
    """Adds what has expired on the cluster being left as well: lost to the group, but not because of a move."""
    gone = (left.start or 0) - (left.commit or 0)
    if gone <= 0 or committed_offset.offset is None:
        return committed_offset
    text = f"{committed_offset.reason}; {gone} offsets that it had not read have expired on the cluster being left, too"
    return replace(committed_offset, reason=text)


def _decided(left: Side, entered: Side, flow_final: bool) -> TargetOffset | None:
    """Cases that need no translation: a log is unknown, nothing was written, or everything is read."""
    if left.start is None or left.end is None or entered.start is None or entered.end is None:
        return TargetOffset(None, "none", "none", None, "a log of the partition could not be read")
    if left.commit is None:
        if left.end == 0 and entered.end == 0:
            return TargetOffset(0, "empty", "exact", 0, "the partition was never written")
        return TargetOffset(None, "none", "none", None, "the group has no committed offset on the cluster being left")
    if left.commit > left.end:
        reason = (
            f"its committed offset {left.commit} is past the log end {left.end}: the topic was truncated or recreated"
        )
        return TargetOffset(None, "none", "none", None, reason)
    if left.read_to_end and flow_final:
        reason = "read to the end, and the flow has passed the last record"
        return TargetOffset(entered.end, "end", "exact", 0, reason)
    return None


def _translated(left: Side, entered: Side, translated: Translated | None) -> TargetOffset:
    if translated is None or entered.start is None or entered.end is None:
        return TargetOffset(None, "none", "none", None, "its committed offset could not be translated")
    return _from(translated, entered.start, entered.end, _unread(left))


def _from(translated: Translated, start: int, end: int, most: int) -> TargetOffset:
    """``most``: upper bound of the records that may be skipped because they expired since the translation."""
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
    return _skipping(found, translated.skips.plus(more), needed, start, translated.missing)


def _reason(translated: Translated) -> str:
    """Why the offset is what it is. For an inexact one in a compacted topic, also what that means for the group."""
    reason = _REASONS[translated.method]
    compacted = [text for text in translated.hazards if text in COMPACTED]
    if translated.exact or not compacted:
        return reason
    return (
        f"{reason}; {' and '.join(compacted)}; compaction removes records between two offsets, so the records after the"
        " offset cannot be counted, and the group may read some again"
    )


_REASONS = {
    "end": "everything is read",
    "content": "the records on both clusters were compared",
    "tail": "the records below it are not after the committed offset on the replica",
    "sync": "MirrorMaker 2's offset-sync, verified",
    "skipped_range": "it is where a replay of the tail has set the flow forward",
    "start": "only the log start is proven",
}


def _unread_from(own: int, translated: Translated) -> Translated:
    """``translated`` without the missing records before ``own``, which the group has read on the original itself."""
    kept = tuple((max(low, own), high) for low, high in translated.missing if high > own)
    read = size(translated.missing) - size(kept)
    if not read:
        return translated
    skips = translated.skips
    most = None if skips.at_most is None else max(0, skips.at_most - read)
    return replace(translated, missing=kept, skips=Skips(max(0, skips.at_least - read), most))


@dataclass(frozen=True)
class OwnOffset:
    """The committed offset of a group on Y:T when the applications last left Y, as the journal has it."""

    offset: int
    #: The committed offset on X:``Y.T`` that the group got then. None: it was not exact, so it proves nothing here.
    arrived: int | None = None
    #: Whether Y:T still has the records that the offset was bound to (R37).
    binding: Binding = HELD

    def stands_in(self, left: int | None) -> bool:
        """Whether the group is known to be at or after it, with the committed offset ``left`` on X:``Y.T`` (R39).

        A group without a committed offset there was not set back.
        """
        return self.binding.holds and (left is None or (self.arrived is not None and left >= self.arrived))


def enter_original(
    left: Side, original: Side, flow_drained: bool, translated: Translated | None, own: OwnOffset | None = None
) -> TargetOffset:
    """Start on Y:T.

    ``flow_drained``: every record of Y:T is on X (no producer writes there while the applications live on X).
    ``translated``: the group's committed offset on X:``Y.T``, translated in reverse. If it is exact, it decides: the
    group's own earlier offset may be higher, because the group was set back since, or has not read again what its last
    move made it read again (R39). Otherwise the own offset stands in, unless the group was set back (R7).
    """
    if original.start is None or original.end is None:
        return TargetOffset(None, "none", "none", None, "the log of the original topic could not be read")
    if original.end == 0:
        return TargetOffset(0, "empty", "exact", 0, "the partition was never written")
    trusted = own.offset if own is not None and own.stands_in(left.commit) else None
    translated = None if translated is None else _unread_from(trusted or 0, translated)
    if left.read_to_end and flow_drained:
        reason = "its replica is read to the end, and the flow has passed the last record"
        found = TargetOffset(original.end, "end", "exact", 0, reason)
        missing = () if translated is None else translated.missing
        return _skipping(found, Skips(size(missing), size(missing)), original.end, original.start, missing)
    if own is not None and own.offset > original.end:
        reason = f"its earlier committed offset {own.offset} is past the log end {original.end}: the log was cut"
        return TargetOffset(None, "none", "none", None, reason)
    target_offset = _own_or_translated(left, original, translated, own)
    if own is None or target_offset.method == "own":
        return target_offset
    return _with_own(target_offset, own, left.commit)


def _own_or_translated(
    left: Side, original: Side, translated: Translated | None, own: OwnOffset | None
) -> TargetOffset:
    start, end = original.start or 0, original.end or 0
    hazards = COMPACTED[:1] if original.compacted else ()
    trusted = own.offset if own is not None and own.stands_in(left.commit) else None
    exact = translated is not None and translated.rereads == 0
    if trusted is not None and not exact and trusted >= start and (translated is None or trusted > translated.offset):
        # Offsets between the two may have no record, so their distance is not subtracted.
        most = end - trusted
        rereads = most if translated is None else min(translated.rereads, most)
        found = TargetOffset(trusted, "own", "safe", rereads, _OWN[translated is not None], hazards=hazards)
        gone = most if translated is None else translated.skips.capped(most).at_most
        return _skipping(found, Skips(0, gone), trusted, start) if original.compacted else found
    # The group has read the records before its own earlier committed offset there, if it was not set back since.
    needed = trusted or 0
    if translated is not None:
        expired = max(0, start - needed)
        if COMPACTED[0] not in translated.hazards:
            translated = replace(translated, skips=_with_expired_at_most(expired, translated))
        return _from(translated, start, end, expired)
    reason = "no earlier committed offset of the group is known"
    at_start = TargetOffset(start, "start", "safe", end - start, reason, hazards=hazards)
    # If nothing is left to read on the replica, nothing is lost.
    if left.read_to_end:
        return at_start
    return _skipping(at_start, Skips(0, max(0, (end if original.compacted else start) - needed)), needed, start)


def _with_expired_at_most(most: int, translated: Translated) -> Skips:
    """The skips, of which at most ``most`` have expired. The others lack a copy or an original in between (R36)."""
    skips, between = translated.skips, size(translated.missing) + translated.without_original
    known = min(skips.at_least, size(translated.missing))
    expired = Skips(skips.at_least - known, None if skips.at_most is None else max(0, skips.at_most - between))
    return expired.capped(most).plus(Skips(known, between))


_OWN = {
    True: "the group's own earlier committed offset, because the committed offset on the replica has no exact"
    " translation and is not before the one that the group got when it moved",
    False: "the group's own earlier committed offset, because it has none on the replica",
}


def _with_own(found: TargetOffset, own: OwnOffset, left: int | None) -> TargetOffset:
    """``found`` with the reason why the group does not start at its own earlier offset, if that is higher."""
    if found.offset is None or own.offset <= found.offset:
        return found
    if not own.binding.holds and found.quality != "exact":
        why = f"is not used: {own.binding.reason}"
    elif left is not None and own.arrived is not None and left < own.arrived:
        why = f"does not count: the group was set back since, from {own.arrived} to {left} on the replica"
    else:
        why = "does not count: the committed offset on the cluster being left is lower"
    return replace(found, reason=f"{found.reason}; its own earlier committed offset {own.offset} {why}")
