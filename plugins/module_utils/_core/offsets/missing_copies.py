# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which records of a source have a copy on the replica, and where (R36).

The stored progress N says how far a flow has come, not that every record at or before N is on the target. Copies are
missing if the replica was compacted for a while, if stored offsets were set forward, if an earlier connector had a
filter, or if the end of a log was lost. So every translated offset is checked against the records that were read:

- Forward, the offset is at or before the last copy of each unread record that has one.
- In reverse, it is at or before each record of which only an unread copy exists.
- A record at or before N without any copy is missing. It is counted like a skipped record.
- If N is unknown, each unread record without a copy may be missing, or not replicated yet.

If several records are equal in every field that the flow carries, the last copies are taken for those of the unread
records. A copy of an equal record stands in for a missing one, because a reader cannot distinguish them.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from itertools import accumulate, pairwise

from ..partition import Range
from .read_copies import ReadCopy

__all__ = ["Copy", "MissingCopies", "kept_from", "ranges_text", "size"]

_MISSING = -1
_SHOWN = 3


class MissingCopies:
    """What the windows of a partition show about copies. Everything is computed once, for all offsets."""

    def __init__(self, copy: ReadCopy) -> None:
        self._copy, self._source, self._replica = copy, copy.source, copy.replica
        self._known = copy.last_replicated_offset is not None
        last = copy.source.end if copy.last_replicated_offset is None else copy.last_replicated_offset
        #: Number of records of the source window that may be up to N: all of them if N is unknown.
        self._passed = copy.source.below(last + 1)
        #: Compaction removes copies on purpose: ``skipped_records`` counts those.
        self._compacted = copy.replica_compacted
        #: Index of the first source record that the flow could replicate.
        self._first = self._source.below(copy.first)

    # ---- forward

    def lowered_forward(self, commit: int, offset: int) -> int:
        """``offset``, or the highest lower offset that passes no copy of a record which is unread at ``commit``."""
        unread = max(self._source.below(commit), self._first)
        if unread >= len(self._lowest_copies):
            return offset
        index = self._lowest_copies[unread]
        return offset if index >= self._replica.below(offset) else self._replica.offsets[index]

    def missing_forward(self, commit: int, offset: int) -> list[int]:
        """Offsets of the records up to N that are unread at ``commit`` and have no copy.

        ``offset``: where the group starts on the replica. Empty if not all copies from there on were read.
        """
        if not self._known or self._compacted or not self._copy.tail_read or self._replica.begin > offset:
            return []
        return self._without_copy[bisect_left(self._without_copy, max(commit, self._copy.first)) :]

    def uncertain_forward(self, commit: int, offset: int) -> int:
        """Upper bound of the unread records of which it is unknown whether a copy is missing, because N is unknown.

        ``offset``: where the group starts on the replica. 0 if N is known, or if every unread record has a copy.
        """
        if self._known or self._compacted:
            return 0
        copy, source, lacking = self._copy, self._source, self._without_copy
        low = max(commit, copy.start, copy.first)
        if not copy.tail_read or self._replica.begin > offset or source.begin > low:
            return max(0, copy.source_end - low)
        return max(0, copy.source_end - max(source.end, low)) + len(lacking) - bisect_left(lacking, low)

    def unseen_forward(self, commit: int, offset: int) -> int:
        """Upper bound of the unread records up to N of which neither the record nor the place of its copy was read.

        ``offset``: where the group starts on the replica. 0 if counting offsets proves that no copy is missing: the
        replica has as many offsets from there on as the source has up to N, and was never compacted there.
        """
        copy, source, replica = self._copy, self._source, self._replica
        if self._compacted:
            return 0
        low = max(commit, copy.start, copy.first)
        unread = 0 if copy.last_replicated_offset is None else copy.last_replicated_offset + 1 - low
        read = source.begin <= low and source.end >= min(low + unread, copy.source_end)
        if unread <= 0 or (read and replica.begin <= offset and copy.tail_read):
            return 0
        kept = copy.replica_kept_from is not None and copy.replica_kept_from <= offset
        # Markers of transactions take offsets of the replica, as copies do.
        dense = replica.begin <= offset and len(replica.offsets) - replica.below(offset) == replica.end - offset > 0
        first = source.below(low)
        begin = source.offsets[first] if source.begin <= low and first < len(source.offsets) else low
        return 0 if kept and dense and copy.replica_end - offset == low + unread - begin else unread

    @cached_property
    def _ranks(self) -> list[int]:
        """For each source record up to N: how many equal ones follow up to there, itself included."""
        seen: Counter[Hashable] = Counter()
        ranks = []
        for fingerprint in reversed(self._source.fingerprints[: self._passed]):
            seen[fingerprint] += 1
            ranks.append(seen[fingerprint])
        return ranks[::-1]

    @cached_property
    def _lowest_copies(self) -> list[int]:
        """For each source record: the lowest replica index of a copy that an offset must not pass if it is unread."""
        copies = [self._last_copy(index) for index in range(len(self._source.offsets) - 1, -1, -1)]
        return list(accumulate(copies, min))[::-1]

    def _last_copy(self, index: int) -> int:
        """The replica index of the last copy of the source record at ``index``; the log end if there is none."""
        fingerprint = self._source.fingerprints[index]
        places = self._replica.places.get(fingerprint)
        if places and index < self._passed:
            return places[max(0, len(places) - self._ranks[index])]
        # N may be a lower bound.
        single = len(self._source.places[fingerprint]) == 1
        return places[-1] if places and single else len(self._replica.offsets)

    @cached_property
    def _without_copy(self) -> list[int]:
        """Offsets of the source records up to N that have no copy; the first of equal ones."""
        places, source = self._replica.places, self._source
        return [
            source.offsets[index]
            for index, rank in enumerate(self._ranks)
            if rank > len(places.get(source.fingerprints[index], ()))
        ]

    # ---- reverse

    def lowered_reverse(self, commit: int, offset: int) -> int:
        """``offset``, or that of the first lower record of which the replica has a copy only at or after ``commit``."""
        below = self._replica.below(commit)
        first = bisect_left(self._first_copies, below)
        if first < len(self._first_copies):
            offset = min(offset, self._source.offsets[self._first + first])
        if self.complete or len(self._replica.offsets) - below >= self._passed - self._source.below(offset):
            return offset
        # Copies are missing after the offset, so counting cannot distinguish equal records.
        following = set(self._replica.fingerprints[below:])
        equal = {content for content in following if len(self._source.places.get(content, ())) > 1}
        indexes = (index for content in equal for index in self._source.places[content] if index >= self._first)
        lowest = min(indexes, default=len(self._source.offsets))
        return min([offset, *self._source.offsets[lowest : lowest + 1]])

    def missing_reverse(self, offset: int) -> list[int]:
        """Offsets below ``offset`` of the records up to N that have no copy."""
        return self._lacking[: bisect_left(self._lacking, offset)]

    def without_original(self, commit: int) -> int:
        """Upper bound of the replica records at or after ``commit`` whose original is gone from within the source.

        A record of another writer looks the same. 0 if not the whole source was read, or if it is compacted.
        """
        copy = self._copy
        if copy.source_compacted or not copy.complete_below or self._source.end < copy.source_end:
            return 0
        return len(self._foreign) - bisect_left(self._foreign, self._replica.below(commit))

    @cached_property
    def _foreign(self) -> list[int]:
        """Indexes of the replica records whose content no source record has."""
        places = self._source.places
        return [index for index, content in enumerate(self._replica.fingerprints) if content not in places]

    @cached_property
    def _replica_read(self) -> bool:
        """Was the whole replica read, and has nothing of it expired?"""
        copy = self._copy
        below = self._replica.begin <= copy.replica_start <= copy.replica_first
        return below and copy.tail_read and not copy.replica_compacted

    @property
    def complete(self) -> bool:
        """Were all copies read that any record of the source window can have, and all records that precede it?"""
        return self._replica_read and self._copy.complete_below

    @cached_property
    def _copies(self) -> list[int | None]:
        """For each source record from the first one on: the replica index of its first copy.

        -1: it has none. None: unknown, because equal records or their copies may not have been read.
        """
        source, places = self._source, self._replica.places
        indistinct = not self.complete or self._copy.source_compacted
        seen: Counter[Hashable] = Counter()
        copies: list[int | None] = []
        for fingerprint in source.fingerprints[self._first :]:
            seen[fingerprint] += 1
            found, rank = places.get(fingerprint, ()), seen[fingerprint]
            unknown = indistinct and len(source.places[fingerprint]) > 1
            copies.append(None if unknown else found[rank - 1] if rank <= len(found) else _MISSING)
        return copies

    @cached_property
    def _first_copies(self) -> list[int]:
        """For each source record from the first one on: the highest replica index of a first copy up to there.

        A record after N without a copy is not replicated yet: as if its copy were at the log end.
        """
        passed, end = self._passed - self._first, len(self._replica.offsets)
        copies = (
            _MISSING if index is None else end if index == _MISSING and number >= passed else index
            for number, index in enumerate(self._copies)
        )
        return list(accumulate(copies, max))

    @cached_property
    def _lacking(self) -> list[int]:
        """Offsets of the source records up to N that have no copy, from the first one on that can be judged."""
        if self._compacted or not self._copy.tail_read:
            return []
        copies = self._copies[: max(0, self._passed - self._first)]
        # Copies before the window were not read, or have expired.
        seen = [number for number, index in enumerate(copies) if index is not None and index != _MISSING]
        begin = 0 if self._replica_read else next(iter(seen), len(copies))
        missing = {number for number, index in enumerate(copies) if number >= begin and index == _MISSING}
        # Of equal records, some are missing if the replica holds fewer records between two copies than the source.
        for low, high in pairwise(seen):
            between = (copies[high] or 0) - (copies[low] or 0) - 1
            if 0 <= between < high - low - 1:
                missing |= {number for number in range(low + 1, high) if copies[number] is None}
        return [self._source.offsets[self._first + number] for number in sorted(missing)]


class Copy(ReadCopy):
    """A partition of a flow, with what is missing of it."""

    @cached_property
    def missing(self) -> MissingCopies:
        """Where copies of the records that were read are missing."""
        return MissingCopies(self)


def kept_from(records: Iterable[tuple[int, bytes | None]]) -> int | None:
    """The first offset from which on compaction has certainly removed nothing; None: the records do not show it.

    ``records``: offset and key of consecutive records. The cleaner works from the log start, discards records without a
    key, and leaves one record of each key. So it has not come past a record without a key, or past a second record of
    one key. Source: org.apache.kafka.storage.internals.log.Cleaner (Kafka 4.3.1).
    """
    keys: set[bytes] = set()
    for offset, key in records:
        if key is None or key in keys:
            return offset
        keys.add(key)
    return None


def size(ranges: Iterable[Range]) -> int:
    """How many offsets these ranges [begin, end) have together."""
    return sum(high - low for low, high in ranges)


def ranges_text(ranges: Sequence[Range]) -> str:
    """The first ranges [begin, end) in words: ``40 to 59, 63``."""
    shown = [str(low) if high - low == 1 else f"{low} to {high - 1}" for low, high in ranges[:_SHOWN]]
    return ", ".join(shown) + (f" and {len(ranges) - _SHOWN} more ranges" if len(ranges) > _SHOWN else "")
