# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find equal parts of two sequences: common ends, then elements that occur once in each sequence (patience diff).

The time is linear in the equal parts and n log n in the others. Long sequences are never compared pair by pair.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

import numpy as np

from .chunks import Words

# A gap without unique elements is compared pair by pair if it has at most this many elements in each sequence.
SMALL = 2_000


@dataclass(frozen=True)
class Same:
    """``length`` elements that start at ``left`` in one sequence equal those that start at ``right`` in the other."""

    left: int
    right: int
    length: int


@dataclass(frozen=True)
class Gap:
    """The elements between two equal parts: no element of [left, left_end) is matched in [right, right_end)."""

    left: int
    left_end: int
    right: int
    right_end: int


def align(left: Words, right: Words) -> list[Same]:
    """Return the equal parts in rising order in both sequences. Adjacent parts are joined."""
    joined: list[Same] = []
    for part in _parts(left, right, 0, 0):
        before = joined[-1] if joined else None
        if before and before.left + before.length == part.left and before.right + before.length == part.right:
            joined[-1] = Same(before.left, before.right, before.length + part.length)
        else:
            joined.append(part)
    return joined


def gaps(same: list[Same], left: int, right: int) -> list[Gap]:
    """Return the gaps between the parts ``same`` in two sequences of the lengths ``left`` and ``right``."""
    found, at_left, at_right = [], 0, 0
    for part in [*same, Same(left, right, 0)]:
        if part.left > at_left or part.right > at_right:
            found.append(Gap(at_left, part.left, at_right, part.right))
        at_left, at_right = part.left + part.length, part.right + part.length
    return found


def _parts(left: Words, right: Words, at_left: int, at_right: int) -> Iterator[Same]:
    # Iterative: the stack holds the pieces to compare, and the last one is next.
    stack: list[Any] = [(left, right, at_left, at_right)]
    while stack:
        piece = stack.pop()
        if isinstance(piece, Same):
            yield piece
            continue
        left, right, at_left, at_right = piece
        head = _common(left, right)
        if head:
            yield Same(at_left, at_right, head)
        left, right, at_left, at_right = left[head:], right[head:], at_left + head, at_right + head
        tail = _common(left[::-1], right[::-1])
        if tail:
            stack.append(Same(at_left + len(left) - tail, at_right + len(right) - tail, tail))
            left, right = left[: len(left) - tail], right[: len(right) - tail]
        if not len(left) or not len(right):
            continue
        anchors = _anchors(left, right)
        if anchors:
            stack.extend(reversed(_between(left, right, at_left, at_right, anchors)))
        elif len(left) <= SMALL and len(right) <= SMALL:
            matcher = SequenceMatcher(None, left.tolist(), right.tolist(), autojunk=False)
            yield from (Same(at_left + i, at_right + j, n) for i, j, n in matcher.get_matching_blocks() if n)


def _between(
    left: Words, right: Words, at_left: int, at_right: int, anchors: list[tuple[int, int]]
) -> list[tuple[Words, Words, int, int]]:
    """Split at the anchors. Each piece but the first begins with a match."""
    begins = [(0, 0), *anchors]
    ends = [*anchors, (len(left), len(right))]
    return [(left[i:k], right[j:m], at_left + i, at_right + j) for (i, j), (k, m) in zip(begins, ends, strict=True)]


def _common(left: Words, right: Words) -> int:
    """Length of the common prefix."""
    length = min(len(left), len(right))
    differing = np.flatnonzero(left[:length] != right[:length])
    return int(differing[0]) if len(differing) else length


def _anchors(left: Words, right: Words) -> list[tuple[int, int]]:
    """Return the longest chain, rising in both sequences, of elements that occur once in each sequence."""
    left_values, left_at, left_counts = np.unique(left, return_index=True, return_counts=True)
    right_values, right_at, right_counts = np.unique(right, return_index=True, return_counts=True)
    _other, in_left, in_right = np.intersect1d(
        left_values[left_counts == 1], right_values[right_counts == 1], assume_unique=True, return_indices=True
    )
    pairs = sorted(
        zip(left_at[left_counts == 1][in_left].tolist(), right_at[right_counts == 1][in_right].tolist(), strict=True)
    )
    return _rising(pairs)


def _rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest subsequence whose second members rise. The first members are sorted."""
    tops: list[int] = []  # the smallest end of a chain of each length
    ends: list[int] = []  # the index of that end
    before: list[int] = []
    for index, (_other, right) in enumerate(pairs):
        length = bisect_left(tops, right)
        before.append(ends[length - 1] if length else -1)
        if length == len(tops):
            tops.append(right)
            ends.append(index)
        else:
            tops[length], ends[length] = right, index
    chain, index = [], ends[-1] if ends else -1
    while index >= 0:
        chain.append(pairs[index])
        index = before[index]
    return chain[::-1]
