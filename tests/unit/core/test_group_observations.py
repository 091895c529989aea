# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an observation of groups shows, and what it must not claim to know."""

from __future__ import annotations

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.group_observations import (
    Extra,
    GroupObservation,
    Quiet,
    counted,
    group_observation,
    read_to_end,
    wait_error,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.groups import GroupState, Member
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Waited

T0, T1 = ("T", 0), ("T", 1)
EMPTY = GroupState("g", "EMPTY")
STABLE = GroupState("g", "STABLE", "classic", (Member("m-1", "settlement-app", "/10.0.0.5", None, (T0,)),))


@pytest.mark.parametrize(
    ("offset", "span", "data_after", "answer"),
    [
        (10, (0, 10), False, True),
        (9, (0, 10), False, True),  # One offset of distance, which is a marker.
        (9, (0, 10), True, False),
        (9, (0, 10), None, None),
        (11, (0, 10), False, None),
        (3, (5, 10), True, False),
        (3, (5, 5), False, None),  # All records there expired, so whether they were read is unknown.
        (3, None, False, None),
    ],
)
def test_a_group_has_read_to_the_end_if_no_data_follows_its_offset(
    offset: int, span: tuple[int, int] | None, data_after: bool | None, answer: bool | None
) -> None:
    assert read_to_end(offset, span, data_after) is answer


def test_a_group_is_at_the_end_only_if_it_is_in_every_partition() -> None:
    ranges = {T0: (0, 10), T1: (0, 10)}
    commits = {T0: 10, T1: 4}

    def observe(data_after_t1: bool | None) -> bool | None:
        return group_observation(
            EMPTY, commits, ranges, Extra(None, {(T0, 10): False, (T1, 4): data_after_t1}, None)
        ).read_to_end

    assert (observe(False), observe(True), observe(None)) == (True, False, None)


def test_a_partition_without_a_committed_offset_makes_the_group_unknown() -> None:
    observation = group_observation(
        EMPTY, {T0: 10}, {T0: (0, 10), T1: (0, 10)}, Extra([T0, T1], {(T0, 10): False}, None)
    )

    assert (observation.lag, observation.read_to_end) == (None, None)
    assert [committed_offset.offset for committed_offset in observation.committed_offsets] == [10, None]


def test_a_group_without_committed_offsets_has_no_lag_and_is_not_at_the_end() -> None:
    observation = group_observation(EMPTY, {}, {})

    assert (observation.lag, observation.read_to_end, observation.idle) == (None, None, None)
    assert not observation.reached("read_to_end")
    assert not observation.reached("idle")


def test_reading_to_the_end_is_unknown_unless_the_log_was_searched_for_data() -> None:
    assert group_observation(EMPTY, {T0: 10}, {T0: (0, 10)}).read_to_end is None


def test_an_observation_is_returned_as_plain_data() -> None:
    observation = group_observation(STABLE, {T0: 4}, {T0: (0, 10)}, Extra(None, {(T0, 4): True}, False)).as_dict()

    assert (observation["state"], observation["type"], observation["lag"], observation["idle"]) == (
        "STABLE",
        "classic",
        6,
        False,
    )
    assert observation["members"][0]["assignments"] == [{"topic": "T", "partition": 0}]
    assert observation["committed_offsets"] == [
        {"topic": "T", "partition": 0, "offset": 4, "start": 0, "end": 10, "lag": 6, "read_to_end": False}
    ]


# ---- idle groups


def test_a_group_is_idle_after_the_settle_time_and_not_before() -> None:
    quiet = Quiet(2.0)

    assert quiet.note(10.0, {"g": EMPTY}, {"g": {T0: 1}}) == {"g": False}
    assert quiet.note(11.9, {"g": EMPTY}, {"g": {T0: 1}}) == {"g": False}
    assert not quiet.decided
    assert quiet.note(12.0, {"g": EMPTY}, {"g": {T0: 1}}) == {"g": True}
    assert quiet.decided


def test_a_commit_restarts_the_settle_time() -> None:
    quiet = Quiet(2.0)
    quiet.note(10.0, {"g": EMPTY}, {"g": {T0: 1}})

    assert quiet.note(12.0, {"g": EMPTY}, {"g": {T0: 2}}) == {"g": False}
    assert quiet.decided  # The group was not idle at the first observation, so later ones cannot change the result.
    assert quiet.note(14.0, {"g": EMPTY}, {"g": {T0: 2}}) == {"g": True}


def test_a_member_restarts_the_settle_time() -> None:
    quiet = Quiet(2.0)
    quiet.note(10.0, {"g": EMPTY}, {"g": {}})
    quiet.note(11.0, {"g": STABLE}, {"g": {}})

    assert quiet.note(12.5, {"g": EMPTY}, {"g": {}}) == {"g": False}
    assert quiet.note(14.5, {"g": EMPTY}, {"g": {}}) == {"g": True}


def test_an_unreadable_committed_offset_is_not_idle() -> None:
    quiet = Quiet(0.0)

    assert quiet.note(10.0, {"g": EMPTY}, {"g": {T0: None}}) == {"g": False}


def test_a_group_that_does_not_exist_is_idle() -> None:
    quiet = Quiet(1.0)
    quiet.note(0.0, {"g": GroupState("g", "DEAD")}, {"g": {}})

    assert quiet.note(1.0, {"g": GroupState("g", "DEAD")}, {"g": {}}) == {"g": True}


def test_without_a_settle_time_idleness_is_not_reported() -> None:
    quiet = Quiet(None)

    assert quiet.note(0.0, {"g": EMPTY}, {"g": {}}) == {"g": None}
    assert quiet.decided


# ---- how waits end


def test_a_failed_wait_shows_the_last_state() -> None:
    observations = [GroupObservation(STABLE, (), False), GroupObservation(GroupState("h", "EMPTY"), (), True)]

    error = wait_error("idle", Waited("timeout", observations, 3.0, 9), "p:9092")

    assert error is not None
    assert (error.code, error.endpoint) == ("wait_timeout", "p:9092")
    assert "1 groups are not idle" in error.message
    assert '"g" STABLE, 1 members: settlement-app on 10.0.0.5, unknown offsets from the end' in error.message


def test_a_stall_has_its_own_code_and_a_success_has_none() -> None:
    observation = group_observation(EMPTY, {T0: 4}, {T0: (0, 10)}, Extra(None, {(T0, 4): True}, None))
    stalled = wait_error("read_to_end", Waited("stalled", [observation], 3.0, 9))

    assert stalled is not None
    assert (stalled.code, "6 offsets from the end" in stalled.message) == ("wait_stalled", True)
    assert wait_error("idle", Waited("done", [observation], 3.0, 9)) is None


def test_requests_of_a_wait_are_counted() -> None:
    assert counted([{"api": "a"}, {"api": "b", "x": 1}, {"api": "a"}]) == [
        {"api": "a", "times": 2},
        {"api": "b", "times": 1},
    ]
