# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Chunks of a partition whose borders the content decides, digested without keeping a record.

A border is set behind a record whose fingerprint has its low bits zero, so that two logs cut themselves alike again a
few records after any difference, whatever their offsets are. The digest of a chunk covers the order of its records.
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

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


def mixed(words: Words) -> Words:
    """The finaliser of SplitMix64: neighbouring inputs give unrelated outputs, and sums of them do not cancel."""
    words = (words ^ (words >> np.uint64(30))) * _FIRST
    words = (words ^ (words >> np.uint64(27))) * _SECOND
    return words ^ (words >> np.uint64(31))


def chunk_size(records: int, chunks: int = 100_000, smallest: int = 64, largest: int = 8192) -> int:
    """Average records of a chunk (a power of two), so that a pair of clusters has some ``chunks`` of them in all."""
    size = smallest
    while size < largest and size * chunks < records:
        size *= 2
    return size


@dataclass(frozen=True)
class Chunks:
    """Columns of equal length, in the order of the log. Offsets, counts, milliseconds since 1970."""

    first: Longs
    last: Longs
    records: Longs
    digest: Words
    oldest: Longs
    newest: Longs

    @staticmethod
    def of(rows: Sequence[tuple[Any, ...]]) -> Chunks:
        columns = list(zip(*rows, strict=True)) if rows else [() for _other in fields(Chunks)]
        made: list[Any] = [np.asarray(column, dtype=kind) for column, kind in zip(columns, _TYPES, strict=True)]
        return Chunks(*made)

    def __len__(self) -> int:
        return len(self.first)

    @property
    def total(self) -> int:
        return int(self.records.sum())


_TYPES = (np.int64, np.int64, np.int64, np.uint64, np.int64, np.int64)


class Chunker:
    """Takes one partition in order, a batch at a time; memory does not grow with the log.

    ``watched``: sorted offsets whose rank is wanted, the number of visible records below them.
    ``border``: an offset at which a chunk ends in any case.
    """

    def __init__(self, size: int, watched: Sequence[int] = (), border: int | None = None) -> None:
        if size & (size - 1) or size < 4:
            raise ValueError(f"A chunk has a power of two of records on average, at least 4, not {size}.")
        self._mask = np.uint64(size - 1)
        self._smallest, self._largest = size // 4, size * 8
        self._watched = list(watched)
        self._border = border
        self.total = 0  # records of all batches before
        self._open: tuple[int, int, int, int, int, int] | None = None
        self.rows: list[tuple[int, int, int, int, int, int]] = []
        self.ranks: list[tuple[int, int]] = []

    def feed(self, offsets: Longs, stamps: Longs, hashes: Words) -> None:
        """Columns of equal length; offsets rise within and between calls."""
        if not len(offsets):
            return
        self._rank(offsets)
        begin = 0
        for end in self._ends(offsets, hashes):
            self._add(offsets[begin:end], stamps[begin:end], hashes[begin:end])
            self._close()
            begin = end
        if begin < len(offsets):
            self._add(offsets[begin:], stamps[begin:], hashes[begin:])
        self.total += len(offsets)

    def finish(self) -> None:
        """The end of the partition's range."""
        self._close()
        self.ranks += [(offset, self.total) for offset in self._watched]
        self._watched = []

    def _rank(self, offsets: Longs) -> None:
        last = int(offsets[-1])
        while self._watched and self._watched[0] <= last:
            offset = self._watched.pop(0)
            self.ranks.append((offset, self.total + int(np.searchsorted(offsets, offset))))

    def _ends(self, offsets: Longs, hashes: Words) -> list[int]:
        """Where chunks end within this batch: behind record end - 1."""
        # Other bits than those of the digest decide.
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

    def _add(self, offsets: Longs, stamps: Longs, hashes: Words) -> None:
        if not len(offsets):
            return
        first, records, digest = int(offsets[0]), 0, 0
        oldest, newest = int(stamps.min()), int(stamps.max())
        if self._open:
            first, _other, records, digest, before, after = self._open
            oldest, newest = min(oldest, before), max(newest, after)
        ranks = np.arange(records + 1, records + 1 + len(hashes), dtype=np.uint64)
        digest = (digest + int(mixed(hashes ^ (ranks * _GOLDEN)).sum())) & 0xFFFFFFFFFFFFFFFF
        self._open = (first, int(offsets[-1]), records + len(hashes), digest, oldest, newest)

    def _close(self) -> None:
        if self._open:
            self.rows.append(self._open)
            self._open = None
