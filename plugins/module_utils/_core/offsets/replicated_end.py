# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the replicated part of a source partition ends, by content (R45).

The offset N that Kafka Connect stored for a dead worker is a lower bound of what the worker wrote. It is no bound at
all of what the replica still holds. So the source's records around N are compared with the replica's part of the
tenure. MirrorMaker 2 replicates in order and only goes back to send records again, so two bounds follow:

1. The first copies of the source's records have the source's order. Matching the records one after the other therefore
   gives an upper bound of the last one that has a copy. A record in between that has no match has no copy.
2. After the last copy of the record at N come only copies of records after N, because a restarted flow begins at N + 1.
   A record there whose content occurs once after N is replicated. If nothing of the tenure has expired, a record whose
   content occurs once on the source is replicated wherever the replica holds it (R2).

If both bounds are equal, the end is found. Equal records leave it open. The limit of the proof is a foreign record in
the replica that equals, timestamp included, a source record which is not replicated (docs/correctness.md, Arguments).

Private to this collection: may change in any release.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

__all__ = ["ReplicatedEnd", "replicated_end"]

_Places = Mapping[Hashable, Sequence[int]]


@dataclass(frozen=True)
class ReplicatedEnd:
    """How many records of a source window, from its first one on, the replica holds."""

    #: As many are proven. If it is lower than the number of records up to N, the replica lost the copies of the others.
    least: int
    #: Not more; None: unknown.
    most: int | None
    #: Indexes below ``least`` of records that have no copy: their copies were lost, or these offsets were written again
    #: after the flow had replicated them.
    missing: tuple[int, ...] = ()

    @property
    def found(self) -> bool:
        """Whether the end is known exactly."""
        return self.least == self.most


def replicated_end(
    source: Sequence[Hashable],
    stored: int,
    replica: Sequence[Hashable],
    whole: bool,
    complete: bool,
    compacted: bool = False,
) -> ReplicatedEnd:
    """Compare the fingerprints of a source window with those of the replica.

    ``stored``: how many records of the window are at or before N. ``replica``: to the end of the tenure's part of it.
    ``whole``: it begins at or before the first copy of the window's first record. ``complete``: both begin with the
    first record of the tenure. ``compacted``: either topic is, so N stays a lower bound.
    """
    places = _places(replica)
    if compacted:
        # A missing match proves nothing, and neither does a match: the record's equal may be gone from the source.
        held = bool(stored) and source[stored - 1] in places
        return ReplicatedEnd(max(stored, _least(source, stored, places, held, False)), None)
    first = _first(source, stored, places, whole)
    matched = [] if first is None else _matched(source, first, 0 if whole else places[source[first]][0], places)
    most = None if first is None else (matched[-1] + 1 if matched else first)
    # Copies of records up to N are lost: that the content of the record at N occurs somewhere proves nothing then.
    held = bool(stored) and source[stored - 1] in places and (most is None or most >= stored)
    least = _least(source, stored, places, held, complete)
    if most is not None and most < least:
        # Records of equal content are missing in between, so the order proves nothing.
        return ReplicatedEnd(least, None)
    with_copy = set(matched)
    missing = tuple(index for index in range(first or 0, least) if index not in with_copy) if most is not None else ()
    return ReplicatedEnd(least, most, missing)


def _places(records: Sequence[Hashable]) -> dict[Hashable, list[int]]:
    places: dict[Hashable, list[int]] = {}
    for place, fingerprint in enumerate(records):
        places.setdefault(fingerprint, []).append(place)
    return places


def _first(source: Sequence[Hashable], stored: int, places: _Places, whole: bool) -> int | None:
    """Index of the first record whose first copy the replica certainly holds; None: unknown.

    If the replica's log begins later than the window, it must be after a record that is still older.
    """
    if whole:
        return 0
    counts = Counter(source)
    return next(
        (at for at in range(stored) if counts[source[at]] == 1 and places.get(source[at], (0,))[0] > 0),
        None,
    )


def _matched(source: Sequence[Hashable], first: int, place: int, places: _Places) -> list[int]:
    """Indexes of the records with a copy, each after the copy of the one before."""
    matched = []
    for index in range(first, len(source)):
        copies = places.get(source[index], ())
        at = bisect_left(copies, place)
        if at < len(copies):
            matched.append(index)
            place = copies[at] + 1
    return matched


def _least(source: Sequence[Hashable], stored: int, places: _Places, held: bool, complete: bool) -> int:
    """How many records are replicated at least: up to the last one that no other record's copy can stand for."""
    counts, later = Counter(source), Counter(source[stored:])
    # Place in the replica after which only records after N have copies; None: unknown.
    after = places[source[stored - 1]][-1] if held and source[stored - 1] not in later else None
    floor = stored if held else 0
    for index in range(len(source) - 1, floor - 1, -1):
        fingerprint = source[index]
        copies = places.get(fingerprint, ())
        unique = counts[fingerprint] == 1 and (index < stored or complete)
        if copies and (unique or (after is not None and later[fingerprint] == 1 and copies[-1] > after)):
            return index + 1
    return floor
