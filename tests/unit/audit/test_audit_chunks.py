# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Chunks depend on the content and not on the batches, and exactly the equal parts of two sequences are found."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_dr_audit.alignment import Same, align, gaps
from kafka_dr_audit.chunks import Chunker, Chunks, chunk_size, mixed

SIZE = 16


def prints(values: list[int]) -> np.ndarray:
    return mixed(np.asarray(values, dtype=np.uint64) + np.uint64(7))


def chunks(
    values: list[int], cuts: list[int] = (), border: int | None = None, watched: list[int] = (), gap: int = 1
) -> Chunker:
    chunker = Chunker(SIZE, watched, border)
    offsets = np.arange(len(values), dtype=np.int64) * gap
    words = prints(values)
    edges = [0, *sorted(cuts), len(values)]
    for begin, end in itertools.pairwise(edges):
        chunker.feed(offsets[begin:end], offsets[begin:end], words[begin:end])
    chunker.finish()
    return chunker


def same_content(left: Chunker, right: Chunker) -> bool:
    return [row[2:4] for row in left.rows] == [row[2:4] for row in right.rows]


logs = st.lists(st.integers(0, 2**40), max_size=400)


@given(logs, st.lists(st.integers(0, 400), max_size=5), st.integers(1, 5))
def test_chunks_do_not_depend_on_batches_and_offsets(values: list[int], cuts: list[int], gap: int) -> None:
    cuts = [cut for cut in cuts if cut <= len(values)]
    assert same_content(chunks(values), chunks(values, cuts, gap=gap))
    rows = Chunks.of(chunks(values, cuts).rows)
    assert rows.total == len(values)
    if values:
        assert (rows.first[0], rows.last[-1]) == (0, len(values) - 1)
        assert (rows.first[1:] == rows.last[:-1] + 1).all()


@pytest.mark.parametrize("values", [[3] * 1000, list(range(1000))])
def test_chunks_have_a_minimum_and_a_maximum_size(values: list[int]) -> None:
    """This also holds if all records are equal, so that every record or no record would be a border."""
    records = Chunks.of(chunks(values).rows).records
    assert records.max() <= SIZE * 8
    assert records[:-1].min() >= SIZE // 4


@given(st.lists(st.integers(0, 2**40), min_size=2, max_size=300, unique=True), st.data())
def test_a_digest_covers_content_and_order(values: list[int], data: st.DataObject) -> None:
    where = data.draw(st.integers(0, len(values) - 2))
    swapped = [*values[:where], values[where + 1], values[where], *values[where + 2 :]]
    changed = [*values[:where], values[where] ^ 1, *values[where + 1 :]]
    lost = [*values[:where], *values[where + 1 :]]
    twice = [*values[: where + 1], *values[where:]]
    for other in (swapped, changed, lost, twice):
        assert not same_content(chunks(values), chunks(other))


def test_one_difference_leaves_all_but_a_few_chunks_equal() -> None:
    values = list(range(100_000))
    for other in ([*values[:50_000], *values[50_001:]], [*values[:50_000], -1 % 2**40, *values[50_001:]]):
        left, right = Chunks.of(chunks(values).rows), Chunks.of(chunks(other).rows)
        open_ = gaps(align(left.digest, right.digest), len(left), len(right))
        assert len(open_) == 1
        assert open_[0].left_end - open_[0].left <= 4


@given(logs, st.integers(0, 500))
def test_each_watched_offset_is_a_border(values: list[int], border: int) -> None:
    assert all(not row[0] < border <= row[1] for row in chunks(values, border=border).rows)


@given(logs, st.lists(st.integers(-1, 900), unique=True, max_size=6), st.lists(st.integers(0, 400), max_size=3))
def test_a_rank_is_the_number_of_records_below(values: list[int], watched: list[int], cuts: list[int]) -> None:
    cuts = [cut for cut in cuts if cut <= len(values)]
    ranks = dict(chunks(values, cuts, watched=sorted(watched), gap=2).ranks)
    assert ranks == {offset: sum(2 * index < offset for index in range(len(values))) for offset in watched}


def test_the_size_of_chunks_follows_the_work() -> None:
    assert [chunk_size(n) for n in (0, 10**6, 10**7, 10**8, 10**12)] == [64, 64, 128, 1024, 8192]


@given(st.lists(st.integers(0, 6), max_size=60), st.lists(st.integers(0, 6), max_size=60))
def test_matched_parts_are_equal_and_in_order(left: list[int], right: list[int]) -> None:
    same = align(prints(left), prints(right))
    at_left = at_right = 0
    for part in same:
        assert part.left >= at_left
        assert part.right >= at_right
        assert left[part.left : part.left + part.length] == right[part.right : part.right + part.length]
        at_left, at_right = part.left + part.length, part.right + part.length
    open_ = gaps(same, len(left), len(right))
    assert sum(gap.left_end - gap.left for gap in open_) == len(left) - sum(part.length for part in same)
    assert sum(gap.right_end - gap.right for gap in open_) == len(right) - sum(part.length for part in same)


@given(st.lists(st.integers(0, 2**40), max_size=200, unique=True), st.sets(st.integers(0, 199)))
def test_only_removed_unique_elements_differ(values: list[int], lost: set[int]) -> None:
    kept = [value for index, value in enumerate(values) if index not in lost]
    assert sum(part.length for part in align(prints(values), prints(kept))) == len(kept)


def test_long_sequences_without_unique_elements_are_compared_quickly() -> None:
    left, right = prints([1, 2] * 50_000), prints([2, 1, 1] * 50_000)
    for part in align(left, right):
        assert (left[part.left : part.left + part.length] == right[part.right : part.right + part.length]).all()
    assert align(left, left) == [Same(0, 0, len(left))]
