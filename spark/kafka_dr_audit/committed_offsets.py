# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a group goes on with the right record: by the content on both sides, not by anybody's offset translation.

Pure. A position is a rank, the number of visible records of the compared range below it; the record comparison says
which ranks hold the same record. Rules: R4 and R6 to R8.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from .alignment import Same

EXACT = "EXACT"
REREAD = "REREAD"
SKIP = "SKIP"
NONE = "NONE"
UNKNOWN = "UNKNOWN"


@dataclass(frozen=True)
class SecondCopy:
    """A record that lies once more on the target: its place on the source, and that of the second copy (ranks)."""

    source: int
    target: int


@dataclass(frozen=True)
class Map:
    """One partition: equal parts by rank, and second copies."""

    same: Sequence[Same]
    copies: Sequence[SecondCopy] = ()
    unread: bool = False  # records on the right that have no counterpart were never read by the group

    def mirrored(self) -> Map:
        """The other way round: for a position that is translated from the replica back to the original."""
        turned = [Same(part.right, part.left, part.length) for part in self.same]
        return Map(turned, unread=True)


@dataclass(frozen=True)
class Judged:
    """``records``: how many are read again or skipped because of the position. ``resent``: how many the group reads
    again because the replica itself holds them twice."""

    verdict: str
    records: int = 0
    resent: int = 0
    image: int | None = None  # rank on the side that the group goes to
    reason: str = ""


def judge(place: Map, stands: int | None, goes_on: int | None, own: int = 0) -> Judged:
    """``stands``: rank on the side whose position is the truth; ``goes_on``: rank of the position it was given.

    ``own``: rank on that other side below which the group itself has read, in an earlier stay.
    """
    if goes_on is None:
        return Judged(NONE, reason="the group has no position here: auto.offset.reset decides")
    if stands is None:
        # From there on nothing can be skipped.
        known = goes_on <= own
        return Judged(EXACT if known else UNKNOWN, reason="the group has no position on the side it left")
    image = max(_image(place, stands), own)
    resent = _resent(place, stands, max(goes_on, image))
    skipped = _skipped(place, stands, image, goes_on, own)
    if skipped:
        return Judged(SKIP, skipped, resent, image)
    # What the group itself has read counts whole, whoever wrote it.
    again = _reported(place, max(goes_on, own), image) + max(0, own - goes_on)
    return Judged(REREAD if again else EXACT, again, resent, image)


def _resent(place: Map, stands: int, begin: int) -> int:
    """Records that the replica itself brings once more, whatever the position (R4)."""
    times = Counter(copy.source for copy in place.copies if copy.target >= begin)
    # One delivery of an unread record is the right one.
    wanted = sum(source >= stands and _replicated(place, source) < begin for source in times)
    return sum(times.values()) - wanted


def _image(place: Map, stands: int) -> int:
    """The latest rank that skips nothing: each record from ``stands`` on has a copy there or behind it."""
    seconds: dict[int, int] = {}
    for copy in place.copies:
        seconds[copy.source] = max(copy.target, seconds.get(copy.source, -1))
    rank = stands
    while rank in seconds:
        rank += 1
    latest = [_replicated(place, rank)]
    latest += [max(second, _replicated(place, source)) for source, second in seconds.items() if source >= stands]
    return min(latest)


def _replicated(place: Map, rank: int) -> int:
    """The rank of the copy of the first record at or behind ``rank`` that has one; the end, if none has."""
    index = bisect_right([part.left for part in place.same], rank) - 1
    if index >= 0:
        part = place.same[index]
        if rank < part.left + part.length:
            return part.right + rank - part.left
    if index + 1 < len(place.same):
        return place.same[index + 1].right
    last = place.same[-1].right + place.same[-1].length if place.same else 0
    return max([last, *(copy.target + 1 for copy in place.copies if copy.source < rank)])


def _reported(place: Map, begin: int, end: int) -> int:
    """Records in [begin, end) that were read before: copies of something, so not those that somebody else wrote."""
    inside = sum(begin <= copy.target < end for copy in place.copies)
    return inside + sum(high - low for low, high in _first_copies(place, begin, end))


def _skipped(place: Map, stands: int, image: int, end: int, own: int) -> int:
    """Records from ``stands`` on that have no copy from rank ``end`` on, and that were not read below ``own``."""
    passed = [(max(low, stands), high) for low, high in _first_copies(place, own, end, sources=True)]
    # The other copy may lie before the one that the alignment chose.
    other = {copy.source for copy in place.copies if copy.target >= end or copy.target < own}
    saved = sum(any(low <= rank < high for low, high in passed) for rank in other)
    alone = 0
    if place.unread and end > image:
        alone = end - image - sum(high - low for low, high in _first_copies(place, image, end))
    return sum(max(0, high - low) for low, high in passed) - saved + alone


def _first_copies(place: Map, begin: int, end: int, sources: bool = False) -> list[tuple[int, int]]:
    """The parts of [begin, end) on the target that are first copies, as ranks there or on the source."""
    found = []
    for part in place.same:
        low, high = max(part.right, begin), min(part.right + part.length, end)
        if low < high:
            shift = part.left - part.right if sources else 0
            found.append((low + shift, high + shift))
    return found
