# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Split a partition into chunks at borders that its content determines, and digest each chunk in a streaming way.

A chunk ends after a record whose fingerprint has zero low bits. After any difference, two logs are therefore split at
the same records again a few records later, regardless of their offsets. The digest of a chunk covers the order of its
records.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

Longs = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
# A chunk: the columns of `Chunks`.
Row = tuple[int, int, int, int, int, int]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


def mixed(words: Words) -> Words:
    """Mix words with the finaliser of SplitMix64: similar inputs give unrelated outputs, whose sums do not cancel."""
    words = (words ^ (words >> np.uint64(30))) * _FIRST
    words = (words ^ (words >> np.uint64(27))) * _SECOND
    return words ^ (words >> np.uint64(31))


def chunk_size(records: int, chunks: int = 100_000, smallest: int = 64, largest: int = 8192) -> int:
    """Return the average number of records in a chunk (a power of two) for about ``chunks`` chunks in total."""
    size = smallest
    while size < largest and size * chunks < records:
        size *= 2
    return size


@dataclass(frozen=True)
class Chunks:
    """Chunks in the order of the log, as columns of equal length."""

    #: First and last offset.
    first: Longs
    last: Longs
    #: Number of records.
    records: Longs
    digest: Words
    #: Oldest and newest timestamp in milliseconds since the epoch.
    oldest: Longs
    newest: Longs

    @staticmethod
    def of(rows: Sequence[tuple[Any, ...]]) -> Chunks:
        """Build from rows of the same fields."""
        columns = list(zip(*rows, strict=True)) if rows else [() for _other in fields(Chunks)]
        made: list[Any] = [np.asarray(column, dtype=kind) for column, kind in zip(columns, _TYPES, strict=True)]
        return Chunks(*made)

    def __len__(self) -> int:
        return len(self.first)

    @property
    def total(self) -> int:
        """Number of records in all chunks."""
        return int(self.records.sum())


_TYPES = (np.int64, np.int64, np.int64, np.uint64, np.int64, np.int64)


def _joined(before: Row, after: Row) -> Row:
    """Join two adjacent pieces of one chunk."""
    first, _last, records, digest, oldest, newest = before
    _first, last, more, rest, low, high = after
    return first, last, records + more, (digest + rest) & 0xFFFFFFFFFFFFFFFF, min(oldest, low), max(newest, high)


class Chunker:
    """Split one partition into chunks, batch by batch in the order of offsets. Memory does not grow with the log.

    ``watched``: sorted offsets whose rank is needed. The rank of an offset is the number of visible records before it.
    ``border``: an offset at which a chunk always ends.
    """

    def __init__(self, size: int, watched: Sequence[int] = (), border: int | None = None) -> None:
        if size & (size - 1) or size < 4:
            raise ValueError(f"The average chunk size must be a power of two of at least 4, found {size}.")
        self._mask = np.uint64(size - 1)
        self._smallest, self._largest = size // 4, size * 8
        self._watched = list(watched)
        self._border = border
        self.total = 0  # records of all previous batches
        self._open: Row | None = None
        self.rows: list[Row] = []
        self.ranks: list[tuple[int, int]] = []

    def feed(self, offsets: Longs, stamps: Longs, hashes: Words) -> None:
        """Add a batch. The columns have equal length, and offsets rise within and between calls."""
        if not len(offsets):
            return
        self._rank(offsets)
        ends = self._ends(offsets, hashes)
        if ends and ends[0] == 0:
            self._close()
            del ends[0]
        closed = bool(ends) and ends[-1] == len(offsets)
        self._add(np.asarray([0, *(ends[:-1] if closed else ends)]), offsets, stamps, hashes)
        if closed:
            self._close()
        self.total += len(offsets)

    def finish(self) -> None:
        """Close the last chunk at the end of the partition's range."""
        self._close()
        self.ranks += [(offset, self.total) for offset in self._watched]
        self._watched = []

    def _rank(self, offsets: Longs) -> None:
        last = int(offsets[-1])
        while self._watched and self._watched[0] <= last:
            offset = self._watched.pop(0)
            self.ranks.append((offset, self.total + int(np.searchsorted(offsets, offset))))

    def _ends(self, offsets: Longs, hashes: Words) -> list[int]:
        """Return the indexes at which chunks end within this batch, exclusive."""
        # Borders depend on other bits than the digest.
        candidates = (np.flatnonzero((mixed(hashes ^ _GOLDEN) & self._mask) == 0) + 1).tolist()
        border = None
        if self._border is not None and offsets[-1] >= self._border:
            border = int(np.searchsorted(offsets, self._border))
            self._border = None
        ends: list[int] = []
        begin = -(self._open[2] if self._open else 0)
        while True:
            index = bisect_left(candidates, begin + self._smallest)
            end = min(candidates[index] if index < len(candidates) else len(offsets) + 1, begin + self._largest)
            if border is not None and end >= border:
                end, border = border, None
                if end == begin or (end == 0 and self._open is None):
                    begin = end
                    continue
            if end > len(offsets):
                return ends
            ends.append(end)
            begin = end

    def _add(self, begins: Longs, offsets: Longs, stamps: Longs, hashes: Words) -> None:
        """Add the pieces of a batch that begin at these indexes.

        The first piece continues the open chunk, and the last piece stays open. All pieces are computed at once,
        because one call for each chunk would take longer than everything else.
        """
        lengths = np.diff(begins, append=len(offsets))
        ranks = np.arange(1, len(offsets) + 1) - np.repeat(begins, lengths)
        if self._open:
            ranks[: lengths[0]] += self._open[2]
        words = mixed(hashes ^ (ranks.astype(np.uint64) * _GOLDEN))
        columns = (
            offsets[begins],
            offsets[begins + lengths - 1],
            lengths,
            np.add.reduceat(words, begins),
            np.minimum.reduceat(stamps, begins),
            np.maximum.reduceat(stamps, begins),
        )
        for row in zip(*(column.tolist() for column in columns), strict=True):
            if self._open:
                row = _joined(self._open, row)
                self._open = None
            self.rows.append(row)
        self._open = self.rows.pop()

    def _close(self) -> None:
        if self._open:
            self.rows.append(self._open)
            self._open = None
