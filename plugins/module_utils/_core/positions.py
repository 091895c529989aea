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

from dataclasses import dataclass

from .stays import Place
from .translation import Anchor, Translated

__all__ = ["Position", "Side", "enter_original", "enter_replica", "enter_same"]


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
    """A start on the new side. ``quality``: ``exact``, ``safe`` (re-reads at most ``rereads``) or ``none``.

    ``anchor``: the verified offset-sync that was used. ``hazards``: what kept the position from being more precise.
    """

    offset: int | None
    method: str
    quality: str
    rereads: int | None
    reason: str
    anchor: Anchor | None = None
    hazards: tuple[str, ...] = ()


def enter_replica(left: Side, replica: Side, flow_final: bool, translated: Translated | None) -> Position:
    """Start on Y:``X.T``. ``flow_final``: the flow X->Y is drained and stopped, so the replica's end is final.

    ``translated``: the group's position on X:T, translated forward; None where nothing had to be translated.
    """
    decided = _decided(left, replica, flow_final)
    if decided is not None:
        return decided
    return _translated(replica, translated)


def enter_same(left: Side, entered: Side, flow_final: bool, place: Place, translated: Translated | None) -> Position:
    """Start on Y:T with the policy identity. ``place``: where the position lies among the stays of the pair."""
    decided = _decided(left, entered, flow_final)
    if decided is not None:
        return decided
    if place.other is not None:
        offset = min(max(place.other, entered.start or 0), entered.end or 0)
        return Position(offset, "cut", "exact", 0, "the position is the cut of a cutover")
    if place.stay is None:
        return Position(None, "none", "none", None, "it lies in a tail that was written behind a cut and never copied")
    return _translated(entered, translated)


def _decided(left: Side, entered: Side, flow_final: bool) -> Position | None:
    """What needs no translation: nothing is known, nothing was written, or everything is read."""
    if left.start is None or left.end is None or entered.start is None or entered.end is None:
        return Position(None, "none", "none", None, "a log of the partition could not be read")
    if left.commit is None:
        if left.end == 0 and entered.end == 0:
            return Position(0, "empty", "exact", 0, "the partition was never written")
        return Position(None, "none", "none", None, "the group has no position on the side being left")
    if left.commit > left.end:
        reason = f"its position {left.commit} lies past the log end {left.end}: topic truncated or re-created"
        return Position(None, "none", "none", None, reason)
    if left.read_to_end and flow_final:
        return Position(entered.end, "end", "exact", 0, "read to the end, and everything is copied")
    return None


def _translated(entered: Side, translated: Translated | None) -> Position:
    if translated is None or entered.start is None or entered.end is None:
        return Position(None, "none", "none", None, "its position could not be translated")
    return _from(translated, entered.start, entered.end)


def _from(translated: Translated, start: int, end: int) -> Position:
    quality = "exact" if translated.exact else "safe"
    offset = min(max(translated.offset, start), end)
    reason = _REASONS[translated.method]
    return Position(
        offset, translated.method, quality, translated.rereads, reason, translated.anchor, translated.hazards
    )


_REASONS = {
    "end": "everything is read",
    "content": "the records on both sides were compared",
    "tail": "what is read does not lie behind the position on the replica",
    "sync": "MirrorMaker 2's offset-sync, verified",
    "hole": "it lies where a replay of the tail has set the flow forward",
    "start": "nothing proves more than the log start",
}


def enter_original(left: Side, original: Side, flow_drained: bool, translated: Translated | None) -> Position:
    """Start on Y:T. ``original.commit``: the group's own earlier commit there, if the journal vouches for it.

    ``flow_drained``: every record of Y:T is on X (no producer writes there while the applications live on X).
    ``translated``: the group's position on X:``Y.T``, translated in reverse. Everything below either was read, so the
    higher one counts (SOUNDNESS 7).
    """
    if original.start is None or original.end is None:
        return Position(None, "none", "none", None, "the log of the original topic could not be read")
    if original.end == 0:
        return Position(0, "empty", "exact", 0, "the partition was never written")
    if left.read_to_end and flow_drained:
        return Position(original.end, "end", "exact", 0, "its replica is read to the end, and everything is copied")
    own = original.commit
    if own is not None and own > original.end:
        reason = f"the earlier position {own} lies past the log end {original.end}: topic re-created"
        return Position(None, "none", "none", None, reason)
    if own is not None and own >= original.start and (translated is None or own > translated.offset):
        span = original.end - own if translated is None else max(0, translated.rereads - (own - translated.offset))
        quality = "exact" if translated is not None and translated.exact else "safe"
        return Position(own, "own", quality, span, "the group's own earlier position")
    if translated is not None:
        return _from(translated, original.start, original.end)
    span = original.end - original.start
    return Position(original.start, "start", "safe", span, "no earlier position of the group is known")
