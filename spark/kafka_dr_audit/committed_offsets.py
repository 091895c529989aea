# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge whether a group continues with the right record, by the records of both logs and not by offset translation.

A committed offset is converted to a rank: the number of visible records of the compared range before it. The record
comparison shows which ranks hold the same record. Rules: R4, R6 to R8 and R39.
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
    """A second copy of a record on the target: the rank of its original on the source, and its own rank."""

    source: int
    target: int


@dataclass(frozen=True)
class Map:
    """The mapping of one partition: equal parts by rank, and second copies."""

    same: Sequence[Same]
    copies: Sequence[SecondCopy] = ()
    #: True: the group has never read the records on the right that have no counterpart.
    unread: bool = False

    def mirrored(self) -> Map:
        """Swap the sides, for an offset that is translated from the replica back to the source topic."""
        turned = [Same(part.right, part.left, part.length) for part in self.same]
        return Map(turned, unread=True)


@dataclass(frozen=True)
class Judged:
    """The judgement of one committed offset."""

    #: EXACT, REREAD, SKIP, NONE or UNKNOWN.
    verdict: str
    #: Number of records that are read again or skipped because of the committed offset.
    records: int = 0
    #: Number of records that the group reads again because the replica holds them twice.
    resent: int = 0
    #: The right rank on the cluster that the group moves to.
    image: int | None = None
    reason: str = ""


def judge(place: Map, stands: int | None, goes_on: int | None, own: int = 0) -> Judged:
    """Judge the committed offset of a group on one partition.

    ``stands``: rank of the committed offset on the cluster that it left, which is right. ``goes_on``: rank of the
    committed offset on the other cluster, which is judged. ``own``: rank on the other cluster before which the group
    itself has read everything in an earlier tenure. None: no committed offset.

    ``stands`` is the truth. If an own rank passes a record that the group would still read where it stood, the group
    was set back since, and the own rank counts for nothing (R39).
    """
    if goes_on is None:
        return Judged(NONE, reason="the group has no committed offset here, so auto.offset.reset decides")
    if stands is None:
        # At or before `own`, nothing can be skipped.
        known = goes_on <= own
        reason = "the journal has no committed offset of the group on the cluster it left"
        return Judged(EXACT if known else UNKNOWN, reason=reason)
    own = 0 if _set_back(place, stands, own) else own
    image = max(_image(place, stands), own)
    resent = _resent(place, stands, max(goes_on, image))
    skipped = _skipped(place, stands, image, goes_on)
    if skipped:
        return Judged(SKIP, skipped, resent, image)
    # All records that the group itself has read count, regardless of their producer.
    again = _reported(place, max(goes_on, own), image) + max(0, own - goes_on)
    return Judged(REREAD if again else EXACT, again, resent, image)


def _set_back(place: Map, stands: int, own: int) -> bool:
    """Whether a record at or after ``stands`` has all of its copies before ``own``."""
    return _passed(place, stands, own) > 0


def _resent(place: Map, stands: int, begin: int) -> int:
    """Number of records that the group reads again because the replica holds them twice (R4)."""
    times = Counter(copy.source for copy in place.copies if copy.target >= begin)
    # An unread record must be delivered once.
    wanted = sum(source >= stands and _replicated(place, source) < begin for source in times)
    return sum(times.values()) - wanted


def _image(place: Map, stands: int) -> int:
    """The highest rank that skips nothing: each record at or after ``stands`` has a copy at or after that rank."""
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
    """The rank of the copy of the first record at or after ``rank`` that has a copy. The end, if none has."""
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
    """Number of records in [begin, end) that were read before: replicated records, not those of foreign writers."""
    inside = sum(begin <= copy.target < end for copy in place.copies)
    return inside + sum(high - low for low, high in _first_copies(place, begin, end))


def _skipped(place: Map, stands: int, image: int, end: int) -> int:
    """Number of records at or after ``stands`` without a copy at or after ``end``."""
    alone = 0
    if place.unread and end > image:
        alone = end - image - sum(high - low for low, high in _first_copies(place, image, end))
    return _passed(place, stands, end) + alone


def _passed(place: Map, stands: int, end: int) -> int:
    """Number of records at or after ``stands`` that have copies, all of them before ``end``."""
    passed = [(max(low, stands), high) for low, high in _first_copies(place, 0, end, sources=True)]
    # The other copy may precede the copy that the alignment chose.
    other = {copy.source for copy in place.copies if copy.target >= end}
    saved = sum(any(low <= rank < high for low, high in passed) for rank in other)
    return sum(max(0, high - low) for low, high in passed) - saved


def _first_copies(place: Map, begin: int, end: int, sources: bool = False) -> list[tuple[int, int]]:
    """The parts of [begin, end) on the target that are first copies, as ranks on the target or on the source."""
    found = []
    for part in place.same:
        low, high = max(part.right, begin), min(part.right + part.length, end)
        if low < high:
            shift = part.left - part.right if sources else 0
            found.append((low + shift, high + shift))
    return found
