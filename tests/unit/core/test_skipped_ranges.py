# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Skipped ranges that replays leave in a flow: offsets before, at and after them, and in many worlds."""

from __future__ import annotations

import random

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.skipped_ranges import (
    SkippedRange,
    add,
    at_skipped_range,
    read_again,
    segment,
    segments,
    usable,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.tails import Progress
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.translation import (
    Translated,
    forward,
    reverse,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from ansible_collections.switchback.kafka_dr.tests.unit.core.worlds import Data, World, world
from effort import share

COUNT = share(5_000, least=100)
BLURRED = {
    "identical",
    "periodic",
    "source_compacted",
    "replica_compacted",
    "source_retention",
    "replica_retention",
    "running",
}
KEY = Partition("T", 0)


def through(made: World, commit: int, upstream: bool) -> Translated:
    """Translate as ``CopiesWithSkippedRanges`` does."""
    entered = "B" if upstream else "P"
    there = at_skipped_range(made.skipped_ranges, commit, upstream, made.compacted(entered))
    if there is not None:
        return there
    parts = segments({KEY: made.skipped_ranges}, frozenset(), "P", "B")
    seen = made.part(parts[segment(made.skipped_ranges, commit, upstream) - 1], entered)
    return forward(commit, seen) if upstream else read_again(made.skipped_ranges, commit, reverse(commit, seen))


@pytest.fixture
def replayed() -> World:
    """Source offsets 0..99 were replicated and the tail 100..109 replayed; then 110..159 were
    replicated to 100..149.
    """
    made = World(0, frozenset({"replayed"}))
    made.source = [Data(at, 1000 + at, f"r{at}") for at in range(160)]
    made.source_end, made.replica_end, made.last_replicated_offset = 160, 150, 159
    made.replica = [Data(at, 1000 + one, f"r{one}", one) for at, one in enumerate([*range(100), *range(110, 160)])]
    made.skipped_ranges = (SkippedRange(100, 110, 100),)
    return made


@pytest.mark.parametrize(
    ("commit", "offset"), [(90, 90), (99, 99), (100, 100), (105, 100), (110, 100), (111, 101), (160, 150)]
)
def test_forward_continues_with_the_first_record_after_the_skipped_range(
    replayed: World, commit: int, offset: int
) -> None:
    found = through(replayed, commit, upstream=True)
    assert (found.offset, found.rereads) == (offset, 0)


@pytest.mark.parametrize(
    ("commit", "offset", "rereads"), [(90, 90, 10), (99, 99, 10), (100, 110, 0), (101, 111, 0), (150, 160, 0)]
)
def test_reverse_counts_the_tail_after_an_offset_before_the_skipped_range(
    replayed: World, commit: int, offset: int, rereads: int
) -> None:
    found = through(replayed, commit, upstream=False)
    assert (found.offset, found.rereads) == (offset, rereads)


def test_if_the_skipped_range_is_ignored_no_record_is_skipped_unseen(replayed: World) -> None:
    """The records of the tail have no copy, so they count as missing (R36)."""
    there = forward(105, replayed.copy())
    assert (there.offset, there.missing, there.exact) == (100, ((105, 110),), False)
    replayed.replica, replayed.replica_end = replayed.replica[:100], 100
    replayed.source, replayed.source_end, replayed.last_replicated_offset = replayed.source[:110], 110, 109
    assert reverse(90, replayed.copy()).offset == 90
    back = through(replayed, 90, upstream=False)
    assert (back.offset, replayed.skipped_reverse(90, back.offset)) == (90, [])


def miscounted(found: Translated, log_start: int, gone: list[int], at_most: list[int]) -> bool:
    """R30. The log does not bound an offset at a skipped range here: the code that computes the offset does that."""
    raised = max(0, log_start - found.offset)
    most = found.skips.at_most
    return not (found.skips.at_least <= len(at_most) and (most is None or len(gone) <= most + raised))


def test_no_record_is_skipped_and_exact_offsets_are_exact_in_worlds_with_replays() -> None:
    wrong, inexact, uncounted, ignored, clear = [], [], [], 0, 0
    for seed in range(COUNT):
        made, draw = world(seed, replayed=True), random.Random(seed)
        if not made.skipped_ranges:
            continue
        commit, upstream = draw.randint(0, made.replica_end), draw.randint(0, made.source_end)
        there, back = through(made, upstream, upstream=True), through(made, commit, upstream=False)
        text = (
            f"seed {seed} {sorted(made.kinds)} {made.skipped_ranges}:"
            f" forward({upstream})={there} reverse({commit})={back}"
        )
        if made.skipped_forward(upstream, there.offset) or made.skipped_reverse(commit, back.offset):
            wrong.append(text)
        gone = made.lost_forward(upstream, there.offset), made.lost_reverse(commit, back.offset)
        # Another writer may have repeated a record in a later segment than the one being read.
        at_most = made.lost_forward(upstream, there.offset, repeats=False)
        if miscounted(there, made.replica_start, gone[0], at_most) or miscounted(back, made.start, gone[1], gone[1]):
            uncounted.append(f"{text}, {gone} are gone")
        again = made.reread_forward(upstream, there.offset), made.reread_reverse(commit, back.offset)
        sharp = not made.kinds & BLURRED
        if sharp and (again[0] > there.rereads or again[1] > back.rereads):
            wrong.append(text)
        clear += sharp
        before = any(commit < skipped_range.replica_at for skipped_range in made.skipped_ranges)
        if sharp and (again[0] or (again[1] and not before)):
            inexact.append(text)
        seen = made.copy()
        ignored += there.exact and not forward(upstream, seen).exact
        ignored += back.exact and not reverse(commit, seen).exact
    assert (wrong[:3], inexact[:3], uncounted[:3]) == ([], [], [])
    assert clear > COUNT // 40
    # The same worlds detect a translation that ignores skipped ranges.
    assert ignored > COUNT // 100


def test_partitions_with_fewer_skipped_ranges_only_have_their_own_segments() -> None:
    skipped_ranges = {
        Partition("T", 0): [SkippedRange(10, 20, 10), SkippedRange(30, 40, 20)],
        Partition("T", 1): [SkippedRange(5, 6, 7)],
    }
    first, second, last = segments(skipped_ranges, frozenset(), "P", "B")
    assert (first.end or {})["P"] == {Partition("T", 0): 10}
    assert ((second.end or {})["P"], second.begin["B"]) == (
        {Partition("T", 0): 30, Partition("T", 1): 5},
        {Partition("T", 0): 10},
    )
    assert (last.begin["P"], last.begin["B"]) == (
        {Partition("T", 0): 40, Partition("T", 1): 6},
        {Partition("T", 0): 20, Partition("T", 1): 7},
    )
    assert (last.end, last.first("P", Partition("T", 2))) == (None, 0)
    assert [segment(skipped_ranges["T", 1], at, True) for at in (4, 5, 6)] == [-1, 0, 0]
    assert [segment(skipped_ranges["T", 0], at, False) for at in (9, 10, 20)] == [-2, -1, 0]


def test_skipped_ranges_add_up_and_unknown_ones_stay_unknown() -> None:
    one = add((), 100, 110, 100)
    assert one == (SkippedRange(100, 110, 100),)
    assert add(one, 110, 115, 100) == (SkippedRange(100, 115, 100),)
    assert add(one, 105, 130, 108) == (SkippedRange(100, 110, 100), SkippedRange(110, 130, 108))
    assert add(None, 100, 110, 100) is None


def test_skipped_ranges_count_only_once_the_flow_has_passed_them() -> None:
    skipped_ranges = [SkippedRange(100, 110, 100)]
    assert usable(skipped_ranges, 109)
    # It was stored, and the run was killed before the flow was set, or the flow was set back since.
    assert not usable(skipped_ranges, 108)
    assert not usable(skipped_ranges, None)
    assert not usable(None, 200)
    assert usable([], None)


def test_progress_keeps_its_skipped_ranges_and_in_an_old_record_they_are_unknown() -> None:
    plan = Progress("pair", "P", "T", 0, "id", "salvage", 100, 110, 100, (SkippedRange(100, 110, 100),), "replica")
    written = plan.as_dict()
    assert written["skipped_ranges"] == [[100, 110, 100]]
    assert Progress.of(written) == plan
    old = {name: value for name, value in written.items() if name not in ("skipped_ranges", "replica_id")}
    assert Progress.of(old).skipped_ranges is None
