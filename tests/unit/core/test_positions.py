# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a group starts on the side that it enters: never past what it has read, never outside the log."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.formats import OffsetSync
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.positions import (
    Position,
    Side,
    enter_original,
    enter_replica,
    newest_sync_floor,
)


def syncs(*pairs: tuple[int, int]) -> list[OffsetSync]:
    return [OffsetSync("T", 0, upstream, downstream) for upstream, downstream in pairs]


@pytest.mark.parametrize(
    ("commit", "written", "floor"),
    [
        (5, [], None),
        (5, [(5, 3)], (5, 3)),  # equal upstream: the record itself is next
        (6, [(5, 3)], (5, 4)),  # above: the offset behind it, never the difference
        (500, [(5, 3)], (5, 4)),
        (4, [(5, 3)], None),
        (7, [(0, 0), (5, 3), (9, 7)], (5, 4)),
        (9, [(0, 0), (5, 3), (9, 7)], (9, 7)),
        # Sent again after a crash: what was written before the rewind does not count.
        (5, [(0, 0), (8, 8), (3, 9), (9, 15)], (3, 10)),
        (2, [(0, 0), (8, 8), (3, 9), (9, 15)], None),
        # The same record acknowledged twice: the later copy, everything below it has one in front.
        (5, [(5, 3), (5, 8)], (5, 8)),
        # The replica was re-created: offsets of the earlier one mean other records.
        (100, [(100, 100), (101, 0)], None),
        (101, [(100, 100), (101, 0)], (101, 0)),
    ],
)
def test_newest_sync_floor(commit: int, written: list[tuple[int, int]], floor: tuple[int, int] | None) -> None:
    assert newest_sync_floor(commit, syncs(*written)) == floor


# ---- generated worlds: MirrorMaker 2 copies one to one, and after a crash sends again from an earlier place


@dataclass(frozen=True)
class World:
    """``replica``: source offset of each replica record. ``written``: the syncs that made it to the topic, in order.

    ``fresh``: replica offset from which the last start of the flow wrote; before it lie only copies of earlier ones.
    """

    source_end: int
    replica: list[int]
    written: list[OffsetSync]


@st.composite
def replicated(draw: st.DrawFn) -> World:
    source_end = draw(st.integers(1, 30))
    replica: list[int] = []
    written: list[OffsetSync] = []
    at = 0
    for last in (*(False for _copy in range(draw(st.integers(0, 3)))), True):
        until = source_end if last else draw(st.integers(at, source_end))
        for number, upstream in enumerate(range(at, until)):
            replica.append(upstream)
            # The first record of a start is always synced; of the others, only some arrive.
            if number == 0 or draw(st.booleans()):
                written.append(OffsetSync("T", 0, upstream, len(replica) - 1))
        at = draw(st.integers(0, until)) if not last else until
    return World(source_end, replica, written)


@given(replicated(), st.data())
def test_the_floor_never_skips_a_record_in_a_world_with_resends(world: World, data: st.DataObject) -> None:
    """Every record that the group has not read has a copy at or behind the floor (SOUNDNESS 4: copies may repeat)."""
    commit = data.draw(st.integers(0, world.source_end))
    floor = newest_sync_floor(commit, world.written)
    if floor is not None:
        assert set(range(commit, world.source_end)) <= set(world.replica[floor[1] :])


@given(replicated(), st.data())
def test_a_start_on_the_replica_lies_in_its_log_skips_nothing_and_counts_its_re_reads(
    world: World, data: st.DataObject
) -> None:
    """SOUNDNESS 8 (S <= position <= E), and the upper bound of re-reads is one."""
    commit = data.draw(st.integers(0, world.source_end))
    start = data.draw(st.integers(0, len(world.replica)))
    final = data.draw(st.booleans())
    left = Side(commit, 0, world.source_end, read_to_end=commit == world.source_end)

    found = enter_replica(left, Side(None, start, len(world.replica)), final, world.written)

    assert found.offset is not None
    assert start <= found.offset <= len(world.replica)
    ahead = world.replica[found.offset :]
    there = set(world.replica[start:])
    assert {upstream for upstream in there if upstream >= commit} <= set(ahead)
    again = {upstream for upstream in ahead if upstream < commit}
    assert found.rereads is not None
    assert found.rereads >= (0 if found.method == "sync" and _resent(world, found.offset) else len(again))
    if found.quality == "exact" and not _resent(world, found.offset):
        assert not again


def _resent(world: World, offset: int) -> bool:
    """Copies that lie twice in the replica behind ``offset`` are counted apart from those that the position causes."""
    ahead = world.replica[offset:]
    return any(later <= earlier for earlier, later in pairwise(ahead))


# ---- the replica


LOG = Side(None, 0, 40)


@pytest.mark.parametrize(
    ("left", "replica", "final", "written", "expected"),
    [
        # Read to the end behind the barrier: the end, whatever the syncs say.
        (Side(50, 0, 50, True), LOG, True, [(10, 8)], ("end", "exact", 40, 0)),
        # A marker behind the last record does not matter (SOUNDNESS 19).
        (Side(49, 0, 50, True), LOG, True, [], ("end", "exact", 40, 0)),
        # Without a barrier the end of the replica proves nothing.
        (Side(50, 0, 50, True), LOG, False, [(45, 35)], ("sync", "safe", 36, 4)),
        (Side(30, 0, 50, False), LOG, True, [(30, 24)], ("sync", "exact", 24, 0)),
        (Side(30, 0, 50, False), LOG, True, [(29, 23)], ("sync", "safe", 24, 0)),
        (Side(30, 0, 50, None), LOG, True, [(20, 14)], ("sync", "safe", 15, 9)),
        (Side(30, 0, 50, False), LOG, True, [(31, 25)], ("start", "safe", 0, 40)),
        (Side(30, 0, 50, False), Side(None, 30, 40), True, [(20, 14)], ("sync", "safe", 30, 9)),
        (Side(30, 0, 50, False), Side(None, 30, 40), True, [], ("start", "safe", 30, 10)),
        # A sync behind the replica's end is about an earlier replica of that name.
        (Side(30, 0, 50, False), LOG, True, [(30, 90)], ("start", "safe", 0, 40)),
        (Side(None, 0, 0, True), Side(None, 0, 0), True, [], ("empty", "exact", 0, 0)),
        (Side(0, 0, 0, True), Side(None, 0, 0), True, [], ("end", "exact", 0, 0)),
    ],
)
def test_enter_replica(
    left: Side, replica: Side, final: bool, written: list[tuple[int, int]], expected: tuple[str, str, int, int]
) -> None:
    """SOUNDNESS 7: the position on the replica comes from the position on the original."""
    found = enter_replica(left, replica, final, syncs(*written))
    assert (found.method, found.quality, found.offset, found.rereads) == expected


@pytest.mark.parametrize(
    ("left", "replica", "said"),
    [
        (Side(None, 0, 50), LOG, "no position on the side being left"),
        (Side(None, 0, 0), LOG, "no position on the side being left"),  # never written, but something was copied
        (Side(50, None, None, None), LOG, "could not be read"),
        (Side(50, 0, 50, True), Side(None, None, None), "could not be read"),
        (Side(70, 0, 50, True), LOG, "past the log end 50"),
    ],
)
def test_where_nothing_is_known_there_is_no_position_on_the_replica(left: Side, replica: Side, said: str) -> None:
    """SOUNDNESS 8: auto.offset.reset must never decide, and a guess is no position."""
    found = enter_replica(left, replica, True, [])
    assert (found.offset, found.quality, found.rereads) == (None, "none", None)
    assert said in found.reason


def test_a_commit_on_the_target_does_not_raise_the_start_on_the_replica() -> None:
    """SOUNDNESS 6: the position on the side being left is the truth."""
    left = Side(30, 0, 50, False)
    plain = enter_replica(left, Side(None, 0, 40), True, syncs((29, 23)))
    assert enter_replica(left, Side(38, 0, 40), True, syncs((29, 23))) == plain


# ---- the original


@pytest.mark.parametrize(
    ("left", "original", "drained", "expected"),
    [
        (Side(20, 0, 20, True), Side(None, 0, 30), True, ("end", "exact", 30, 0)),
        (Side(20, 0, 20, True), Side(12, 0, 30), True, ("end", "exact", 30, 0)),
        # Not drained: the copy may lack records, so reading all of it proves nothing.
        (Side(20, 0, 20, True), Side(12, 0, 30), False, ("own", "safe", 12, 18)),
        (Side(15, 0, 20, False), Side(12, 0, 30), True, ("own", "safe", 12, 18)),
        (Side(15, 0, 20, None), Side(30, 0, 30), True, ("own", "safe", 30, 0)),
        # The group's own position expired, or it has none: the log start, counted.
        (Side(15, 0, 20, False), Side(12, 14, 30), True, ("start", "safe", 14, 16)),
        (Side(None, 0, 20), Side(None, 0, 30), True, ("start", "safe", 0, 30)),
        (Side(None, None, None), Side(None, 5, 30), True, ("start", "safe", 5, 25)),
        (Side(None, None, None), Side(None, 0, 0), False, ("empty", "exact", 0, 0)),
    ],
)
def test_enter_original(left: Side, original: Side, drained: bool, expected: tuple[str, str, int, int]) -> None:
    """SOUNDNESS 7: reverse of the replica, else the group's own vouched commit, log start only if neither exists."""
    found = enter_original(left, original, drained)
    assert (found.method, found.quality, found.offset, found.rereads) == expected


@pytest.mark.parametrize(
    ("left", "original", "said"),
    [
        (Side(15, 0, 20, False), Side(31, 0, 30), "past the log end 30"),
        (Side(20, 0, 20, True), Side(12, None, 30), "could not be read"),
        (Side(20, 0, 20, True), Side(12, 0, None), "could not be read"),
    ],
)
def test_where_nothing_is_known_there_is_no_position_on_the_original(left: Side, original: Side, said: str) -> None:
    """SOUNDNESS 8."""
    found = enter_original(left, original, True)
    assert (found.offset, found.quality, found.rereads) == (None, "none", None)
    assert said in found.reason


OPTIONAL = st.one_of(st.none(), st.integers(0, 20))
SIDES = st.builds(Side, OPTIONAL, OPTIONAL, OPTIONAL, st.sampled_from([None, True, False]))
ORDERED = SIDES.filter(lambda side: side.start is None or side.end is None or side.start <= side.end)
SYNCS = st.lists(st.tuples(st.integers(0, 25), st.integers(0, 25)), max_size=5)


def _sound(found: Position, log: Side) -> bool:
    if found.offset is None:
        return (found.method, found.quality, found.rereads) == ("none", "none", None)
    assert log.start is not None
    assert log.end is not None
    counted = found.rereads is not None and found.rereads >= 0
    return log.start <= found.offset <= log.end and counted and found.quality in ("exact", "safe")


@given(ORDERED, ORDERED, st.booleans(), SYNCS)
def test_any_position_on_a_replica_lies_inside_its_log(
    left: Side, replica: Side, final: bool, written: list[tuple[int, int]]
) -> None:
    """SOUNDNESS 8: S <= position <= E, whatever was seen."""
    assert _sound(enter_replica(left, replica, final, syncs(*written)), replica)


@given(ORDERED, ORDERED, st.booleans())
def test_any_position_on_an_original_lies_inside_its_log(left: Side, original: Side, drained: bool) -> None:
    """SOUNDNESS 8."""
    assert _sound(enter_original(left, original, drained), original)


@given(ORDERED, ORDERED, SYNCS)
def test_without_the_barrier_no_position_rests_on_the_end_of_the_replica(
    left: Side, replica: Side, written: list[tuple[int, int]]
) -> None:
    """SOUNDNESS 20: the replica's end is final only behind a stop that left no tasks."""
    assert enter_replica(left, replica, False, syncs(*written)).method != "end"
