# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Committed offsets when one cluster is lost: no replicated record is skipped, however MirrorMaker 2 ended."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.disaster import (
    SET_BACK,
    Checkpointed,
    Copies,
    PresyncedOffset,
    Tail,
    compacted,
    guarded,
    loss_lines,
    predicted_loss,
    survived,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.internal_records import OffsetSync
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.skipped_records import NO_SKIPS, Skips
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.translation import (
    after_last_rewind,
    checkpoint,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.topic_ids import CheckpointsEnd
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.verdict import UNKNOWN


@dataclass(frozen=True)
class World:
    """``replica``: the source offset of each record on Y. Every restart goes back to the last flushed record."""

    replica: list[int]
    syncs: list[OffsetSync]
    commit: int
    start: int = 0

    def lost(self, committed_offset: int) -> list[int]:
        """R30: replicated source records that the group has not processed and cannot read from ``offset`` on."""
        return sorted({one for one in self.replica if one >= self.commit} - set(self.replica[committed_offset:]))

    def skipped(self, committed_offset: int) -> list[int]:
        """Replicated source records that the group has not processed and will not read from ``offset`` on."""
        seen = set(self.replica[committed_offset:])
        return sorted(one for one in set(self.replica) if one >= self.commit and one not in seen)


@st.composite
def worlds(draw: st.DrawFn) -> World:
    replica: list[int] = []
    at = 0
    for _start in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, at))
        length = draw(st.integers(0, 12))
        replica += range(at, at + length)
        at += length
    kept = draw(st.lists(st.booleans(), min_size=len(replica), max_size=len(replica)))
    syncs = [
        OffsetSync("T", 0, upstream, downstream)
        for downstream, (upstream, keep) in enumerate(zip(replica, kept, strict=True))
        if keep
    ]
    return World(replica, syncs, draw(st.integers(0, max(replica, default=0) + 1)))


def committed_offset(world: World, guard: bool = True) -> int:
    """The committed offset as the module finds it, with MirrorMaker 2's own checkpoint."""
    end = len(world.replica)
    tail = Tail(0, end)
    there = checkpoint(world.commit, after_last_rewind(world.syncs))
    seen = None if there is None else Checkpointed(world.commit, there, 1.0)
    found = survived(tail, seen, [])
    assert found.offset is not None
    if not guard or not world.replica:
        return found.offset
    last = world.replica.index(world.replica[-1])
    offset_after = None if found.offset == end else world.replica.index(world.replica[found.offset])
    copies = Copies(None if last == end - 1 else last, offset_after)
    moved = guarded(found, tail, copies)
    assert moved.offset is not None
    assert moved.rereads == end - moved.offset
    assert (moved.quality == "exact") == (moved.offset == end)
    return moved.offset


def expired(seed: int) -> World:
    """A replica that has lost its oldest records, and a group that lags."""
    draw = random.Random(seed)
    replica = list(range(draw.randint(1, 30)))
    for _restart in range(draw.randint(0, 2)):
        back = draw.randint(0, replica[-1])
        replica += range(back, replica[-1] + draw.randint(1, 8))
    syncs = [OffsetSync("T", 0, one, at) for at, one in enumerate(replica) if draw.random() < 0.4]
    return World(replica, syncs, draw.randint(0, max(replica) + 1), draw.randint(0, len(replica)))


def test_records_lost_on_the_surviving_cluster_are_bounded_and_never_reported_as_safe() -> None:
    """R30: the log start offset is the only possible committed offset, and raising the offset to it skips records."""
    wrong, skipped = [], 0
    for seed in range(2000):
        made, draw = expired(seed), random.Random(seed)
        tail = Tail(made.start, len(made.replica))
        there = checkpoint(made.commit, after_last_rewind(made.syncs))
        seen = None if there is None or draw.random() < 0.3 else Checkpointed(made.commit, there, 1.0)
        known = [PresyncedOffset(there, 2.0, made.commit)] if there is not None and draw.random() < 0.5 else []
        found = survived(tail, seen, known)
        left = made.replica[made.start :]
        first = made.start + left.index(left[-1]) if left else None
        offset_after = (
            None if found.offset == tail.end else made.replica.index(made.replica[found.offset or 0], made.start)
        )
        found = guarded(found, tail, Copies(None if first == tail.end - 1 else first, offset_after))
        assert found.offset is not None
        lost = made.lost(found.offset)
        skipped += bool(lost)
        sound = found.skips.at_least <= len(lost) <= (found.skips.at_most or 0)
        if (
            not sound
            or (found.quality == "skips") != found.skips.possible
            or not made.start <= found.offset <= tail.end
        ):
            wrong.append(f"seed {seed}: {made} -> {found}, {lost} are lost")
    assert wrong[:3] == []
    # The old rule gave the same offsets and reported them as safe.
    assert skipped > 50


def test_an_offset_that_still_exists_skips_nothing() -> None:
    found = survived(Tail(40, 100), Checkpointed(50, 40, 1.0), [])
    assert (found.quality, found.skips) == ("safe", NO_SKIPS)
    gone = survived(Tail(41, 100), Checkpointed(50, 40, 1.0), [])
    assert (gone.offset, gone.quality, gone.skips, gone.rereads) == (41, "skips", Skips(0, 1), 59)
    assert "the log starts at 41, the group's offset there would be 40" in gone.reason
    # For a group without any known offset, every expired record may be unread.
    assert survived(Tail(41, 100), None, []).skips == Skips(0, 41)
    # Under the policy identity, records before the current tenure do not count.
    assert survived(Tail(41, 100, floor=30), Checkpointed(50, 20, 1.0), []).skips == Skips(0, 11)


def test_in_a_compacted_replica_every_record_after_the_known_offset_may_be_gone() -> None:
    known = survived(Tail(0, 100), Checkpointed(90, 80, 1.0), [])
    found = compacted(known, Tail(0, 100))
    assert (found.offset, found.method, found.quality, found.skips) == (0, "start", "skips", Skips(0, 20))
    at_end = compacted(survived(Tail(0, 100), Checkpointed(100, 100, 1.0), []), Tail(0, 100))
    assert (at_end.offset, at_end.quality, at_end.skips) == (0, "safe", NO_SKIPS)


@given(worlds())
def test_no_replicated_record_is_skipped(world: World) -> None:
    assert world.skipped(committed_offset(world)) == []


def test_without_the_guard_a_restart_just_before_the_loss_skips_records() -> None:
    # Records 0 to 9 were replicated. After the restart 5 and 6 were sent again, then the source was lost.
    world = World([*range(10), 5, 6], [OffsetSync("T", 0, 5, 10)], 6)
    assert world.skipped(committed_offset(world, guard=False)) == [7, 8, 9]
    assert committed_offset(world) == 6


def test_the_last_offset_that_a_worker_stored_is_not_the_last_replicated_offset() -> None:
    """Records 0 to 999 are there, and 499 was stored before the worker was killed.

    A group at 600 has not read to the end.
    """
    found = survived(Tail(0, 1000, 499), Checkpointed(600, 591, 1.0), [])
    assert (found.offset, found.quality, found.rereads) == (591, "safe", 409)
    assert survived(Tail(0, 10, 9), Checkpointed(10, 10, 1.0), []).quality == "exact"


@pytest.mark.parametrize(
    ("seen", "presynced", "wanted"),
    [
        (None, [], (2, "start")),
        (Checkpointed(5, 4, 1.0), [], (4, "checkpoint")),
        (Checkpointed(9, 8, 1.0, 30), [PresyncedOffset(7, 2.0, 8, 30)], (8, "checkpoint")),
        # R39: the scheduled job found the group lower after that checkpoint.
        (Checkpointed(9, 8, 3.0, 29), [PresyncedOffset(7, 2.0, 8, 30)], (7, "presynced")),
        # The group was set back on purpose after the presynced offset was written: the newer, lower offset is right.
        # The checkpoint is at a later offset than everything from then, no matter what its worker's clock says (R43).
        (Checkpointed(5, 4, 1.5, 30), [PresyncedOffset(7, 2.0, 8, 30)], (4, "checkpoint")),
        # An older checkpoint is no evidence for that.
        (Checkpointed(5, 4, 3.0, 29), [PresyncedOffset(7, 2.0, 8, 30)], (7, "presynced")),
        # Which of them is newer is unknown: the lower one counts.
        (Checkpointed(5, 4, 1.5), [PresyncedOffset(7, 2.0, 8)], (4, "checkpoint")),
        (Checkpointed(9, 8, 3.0), [PresyncedOffset(7, 2.0, 8)], (7, "presynced")),
        (None, [PresyncedOffset(7, 0.0)], (7, "presynced")),
        (Checkpointed(50, 40, 1.0), [], (2, "start")),
        (None, [PresyncedOffset(11, 2.0)], (2, "start")),
        # It has expired: only the log start offset is left (R30).
        (Checkpointed(1, 1, 1.0), [], (2, "checkpoint")),
    ],
)
def test_the_highest_known_offset_counts(
    seen: Checkpointed | None, presynced: list[PresyncedOffset], wanted: tuple[int, str]
) -> None:
    found = survived(Tail(2, 10), seen, presynced)
    assert (found.offset, found.method) == wanted
    assert found.rereads == 10 - wanted[0]


def test_hazards_are_reported() -> None:
    assert survived(Tail(0, 10), Checkpointed(50, 40, 1.0), []).hazards == ("a checkpoint is past the log end",)
    set_back = survived(Tail(0, 10), Checkpointed(5, 4, 3.0), [PresyncedOffset(7, 2.0, 8, 0)])
    assert set_back.hazards == (SET_BACK,)
    # The scheduled job found it lower after that checkpoint, which is not used.
    overtaken = survived(Tail(0, 10), Checkpointed(9, 8, 1.0), [PresyncedOffset(7, 2.0, 8, 1)])
    assert overtaken.hazards == (SET_BACK,)
    moved = guarded(survived(Tail(0, 10), Checkpointed(9, 9, 1.0), []), Tail(0, 10), Copies(3, 2, proven=False))
    assert (moved.offset, moved.method) == (2, "first_copy")
    assert moved.hazards == ("the first copies were not found, only a lower bound is known",)


def test_every_checkpoint_of_a_topic_that_was_created_again_is_newer() -> None:
    end = CheckpointsEnd(30, "first")
    assert (end.within("first"), end.within("second"), end.within(None)) == (30, 0, 0)


@given(
    st.integers(0, 9),
    st.integers(0, 9),
    st.integers(0, 9) | st.none(),
    st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=2),
)
def test_no_clock_decides_which_offset_counts(upstream: int, left: int, end: int | None, times: list[float]) -> None:
    """R43: the times are those of a worker and of the controller, which may differ by hours."""
    first, second = (
        survived(Tail(0, 10), Checkpointed(upstream, upstream, time, 5), [PresyncedOffset(left, 0.0, left, end)])
        for time in times
    )
    assert first == second


@given(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9), st.integers(0, 9), st.booleans())
def test_a_higher_checkpoint_is_used_unless_the_scheduled_job_found_the_group_lower_since(
    checkpoint: int, stored: int, before: int, after: int, own: bool
) -> None:
    """R39: ``before`` and ``after`` are places in the checkpoints topic. The group's own offset is always older."""
    made = PresyncedOffset(stored, 2.0, stored, after, own=own)
    found = survived(Tail(0, 10), Checkpointed(checkpoint, checkpoint, 1.0, before), [made])
    newer = before >= after
    # Who is lower and newer decides. Otherwise the higher offset counts.
    lower, overtaken = newer and checkpoint < stored, not newer and not own and stored < checkpoint
    assert found.offset == (checkpoint if lower else stored if overtaken else max(checkpoint, stored))
    assert (SET_BACK in found.hazards) == (lower or overtaken)


def test_an_empty_partition_and_the_current_tenure() -> None:
    assert survived(Tail(0, 0), None, []).offset == 0
    # Only a group with a checkpoint from the current tenure has arrived in it.
    assert survived(Tail(0, 10, floor=6), None, []).offset == 0
    assert survived(Tail(0, 10, floor=6), Checkpointed(20, 3, 1.0), []).offset == 6


def test_a_loss_is_unknown_and_never_zero() -> None:
    tails = {Partition("T", 0): Tail(0, 10, 9), Partition("T", 1): Tail(0, 10, 9)}
    committed = dict.fromkeys(tails, 15)
    loss = predicted_loss(tails, committed, {Partition("T", 0): 9}, {Partition("T", 0): 100.0}, 7.0)
    assert (loss["verdict"], loss["records_at_least"], loss["records_at_most"]) == (UNKNOWN, 0, None)
    # Without an offset-sync for the last record, nothing is certain.
    assert loss["offsets_to_committed"] == 5
    assert [row["offsets_to_committed"] for row in loss["partitions"]] == [5, None]
    assert [row["last_event_time"] for row in loss["partitions"]] == [100.0, None]
    assert loss["seconds_at_most"] is None
    assert "an unknown number of records" in loss_lines(loss)[0]
    assert loss_lines(loss)[0].endswith("; the playbook salvage counts and restores them")
    assert "salvage" not in loss_lines(loss, final=True)[0]
    assert "up to 5 offsets after the last replicated record, which may be" in loss_lines(loss)[0]
    assert "heartbeat is 7.0 s old by the clock of the worker" in loss_lines(loss)[0]
    unknown = predicted_loss({Partition("T", 0): Tail(0, 0)}, {}, {}, {}, None)
    assert "the age of the newest replicated heartbeat is unknown" in loss_lines(unknown)[0]
    assert loss_lines(None) == ["the loss was not estimated"]
    assert [line for line in loss_lines(loss) if "pattern" in line] == []
    assert "only the lost cluster knows which" in loss_lines(loss, has_patterns=True)[-1]


@given(
    st.lists(st.tuples(st.sampled_from("rma"), st.one_of(st.none(), st.floats(-1e9, 4e9))), max_size=12),
    st.integers(0, 12),
    st.integers(0, 12),
    st.one_of(st.none(), st.floats(0, 1e9)),
)
def test_a_loss_claims_nothing_that_offsets_and_timestamps_do_not_show(
    log: list[tuple[str, float | None]], replicated: int, committed: int, heartbeat_age: float | None
) -> None:
    """R43, R46: the lost log has records, markers and aborted records, with timestamps of any clock."""
    key = Partition("T", 0)
    data = [offset for offset, (kind, _time) in enumerate(log) if kind == "r"]
    last = max((offset for offset in data if offset < replicated), default=None)
    event_time = None if last is None else log[last][1]
    found = predicted_loss(
        {key: Tail(0, len(log), last)}, {key: min(committed, len(log))}, {key: last}, {key: event_time}, heartbeat_age
    )
    lost = sum(offset > (-1 if last is None else last) for offset in data)
    assert found["records_at_least"] <= lost
    assert (found["records_at_most"], found["seconds_at_most"]) == (None, None)
    # The timestamp of a record changes what is shown of that record, and no bound.
    other = predicted_loss(
        {key: Tail(0, len(log), last)}, {key: min(committed, len(log))}, {key: last}, {key: 1.0}, heartbeat_age
    )
    assert loss_lines(found) == loss_lines(other)
