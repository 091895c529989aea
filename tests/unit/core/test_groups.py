# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which committed offsets may be written, and how a written one is checked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.groups import (
    GroupPlan,
    GroupState,
    Member,
    Seen,
    distance,
    failure_of,
    outcomes_of,
    plan_group,
    wanted_offsets,
)

T0, T1 = ("T", 0), ("T", 1)
EMPTY = GroupState("g", "EMPTY")
MEMBER = Member("m-1", "settlement-app", "/10.0.0.5", None)


def seen(state: GroupState = EMPTY, before: dict[Any, Any] | None = None, **more: Any) -> Seen:
    return Seen(state, before or {}, more.get("ranges", {T0: (5, 20), T1: (0, 0)}), more.get("partitions", {"T": 2}))


def codes(plan: GroupPlan) -> list[str]:
    return [problem.code for problem in plan.problems]


@pytest.mark.parametrize(
    ("offset", "before", "lower", "status", "problems"),
    [
        (10, None, "fail", "planned", []),
        (10, 8, "fail", "planned", []),
        (10, 10, "fail", "unchanged", []),
        (10, 12, "fail", "planned", ["offset_lower"]),
        (10, 12, "lower", "planned", []),
        (10, 12, "keep", "kept", []),
        (5, None, "fail", "planned", []),
        (20, None, "fail", "planned", []),
        (4, None, "fail", "planned", ["offset_out_of_range"]),
        (21, None, "fail", "planned", ["offset_out_of_range"]),
        (21, 21, "fail", "unchanged", ["offset_out_of_range"]),
    ],
)
def test_the_plan_of_a_group(offset: int, before: int | None, lower: str, status: str, problems: list[str]) -> None:
    plan = plan_group("g", {T0: offset}, seen(before={T0: before} if before is not None else {}), lower)

    assert (plan.rows[0].status, codes(plan)) == (status, problems)


@pytest.mark.parametrize("state", ["STABLE", "PREPARING_REBALANCING", "COMPLETING_REBALANCING", "UNKNOWN", "ASSIGNING"])
def test_every_state_but_empty_and_dead_is_active(state: str) -> None:
    assert codes(plan_group("g", {T0: 10}, seen(GroupState("g", state)))) == ["group_active"]


def test_an_empty_state_with_members_is_active() -> None:
    plan = plan_group("g", {T0: 10}, seen(GroupState("g", "EMPTY", None, (MEMBER,))))

    assert codes(plan) == ["group_active"]
    assert "settlement-app on 10.0.0.5" in plan.problems[0].text


def test_an_active_group_that_already_has_the_offsets_is_no_problem() -> None:
    assert codes(plan_group("g", {T0: 10}, seen(GroupState("g", "STABLE"), {T0: 10}))) == []


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"partitions": {"T": None}}, "unknown_partition"),
        ({"partitions": {}}, "unknown_partition"),
        ({"partitions": {"T": 1}}, "unknown_partition"),
        ({"ranges": {T1: None}}, "offsets_unknown"),
    ],
)
def test_an_unknown_offset_is_not_written(more: dict[str, Any], code: str) -> None:
    assert codes(plan_group("g", {T1: 0}, seen(**more))) == [code]


def test_lowered_offsets_are_counted_and_the_worst_is_named() -> None:
    before = {T0: 12, T1: 900}
    plan = plan_group("g", {T0: 10, T1: 0}, seen(before=before))

    assert plan.lowered == 2
    assert "higher committed offset than wanted on 2 partitions" in plan.problems[0].text
    assert '"T" partition 1, committed 900, wanted 0' in plan.problems[0].text


def test_a_refused_plan_writes_nothing_and_reports_it() -> None:
    plan = plan_group("g", {T0: 99, T1: 0}, seen())
    plan.refuse()
    failure = failure_of([plan], "b:9092")

    assert (plan.to_write, [row.status for row in plan.rows]) == ({}, ["refused", "refused"])
    assert failure is not None
    assert failure.hint.startswith("No offset was committed.")
    assert {outcome.status for outcome in outcomes_of([plan])} == {"refused"}


def test_written_offsets_are_verified_by_reading_them_back() -> None:
    plan = plan_group("g", {T0: 10, T1: 0}, seen(before={T1: 0}))

    plan.conclude({T0: None}, {T0: (10, ""), T1: (0, "")}, EMPTY)

    assert [(row.status, row.after) for row in plan.rows] == [("done", 10), ("unchanged", 0)]
    assert failure_of([plan]) is None


@pytest.mark.parametrize(
    ("errors", "after", "words"),
    [
        ({T0: "Unknown member"}, {}, "Unknown member"),
        ({T0: None}, {T0: (9, "")}, "read back 9, wanted 10"),
        ({T0: None}, {}, "read back None"),
        ({}, {T0: (10, "")}, "returned no result"),
    ],
)
def test_an_offset_that_cannot_be_read_back_has_failed(
    errors: dict[Any, Any], after: dict[Any, Any], words: str
) -> None:
    plan = plan_group("g", {T0: 10}, seen())

    plan.conclude(errors, after, EMPTY)

    assert (plan.rows[0].status, codes(plan)) == ("failed", ["offset_not_written"])
    assert words in plan.problems[0].text


@pytest.mark.parametrize(
    ("lower", "after", "status"), [("raise", 11, "kept"), ("raise", 9, "failed"), ("keep", 11, "failed")]
)
def test_with_upward_only_an_offset_that_is_raised_meanwhile_is_kept(lower: str, after: int, status: str) -> None:
    """MirrorMaker 2 syncs a group that runs on the other cluster, between the commit and the check."""
    plan = plan_group("g", {T0: 10}, seen(before={T0: 8}), lower)

    plan.conclude({T0: None}, {T0: (after, "")}, EMPTY)

    assert (plan.rows[0].status, plan.rows[0].after) == (status, after)
    assert codes(plan) == ([] if status == "kept" else ["offset_not_written"])
    assert len(outcomes_of([plan])) == (status != "kept")


@pytest.mark.parametrize(
    ("there", "wanted", "status"),
    [
        ("", None, "unchanged"),
        ("mm2", None, "unchanged"),
        ("same", "same", "unchanged"),
        ("mm2", "", "planned"),
        ("mm2", "own", "planned"),
        ("", "own", "planned"),
    ],
)
def test_an_offset_that_is_already_there_is_committed_again_for_other_metadata(
    there: str, wanted: str | None, status: str
) -> None:
    """R49: MirrorMaker 2 may have committed the same offset with metadata that were meant for another one."""
    metadata = {} if wanted is None else {T0: wanted}
    plan = plan_group("g", {T0: 10}, replace(seen(before={T0: 10}), metadata={T0: there}), metadata=metadata)
    assert [row.status for row in plan.rows] == [status]
    text = there if wanted is None else wanted
    assert plan.metadata == ({T0: text} if text else {})
    shown = [(outcome.change.before, outcome.change.after) for outcome in outcomes_of([plan])]
    changed = ({"offset": 10, "metadata": there}, {"offset": 10, "metadata": wanted})
    assert shown == ([changed] if status == "planned" else [])


@pytest.mark.parametrize(("read_back", "status"), [("own", "done"), ("", "failed"), ("mm2", "failed")])
def test_metadata_are_verified_by_reading_them_back(read_back: str, status: str) -> None:
    plan = plan_group("g", {T0: 10}, seen(before={T0: 8}), metadata={T0: "own"})
    plan.conclude({T0: None}, {T0: (10, read_back)}, EMPTY)
    assert plan.rows[0].status == status


def test_a_higher_offset_that_is_kept_keeps_its_metadata() -> None:
    plan = plan_group("g", {T0: 10}, replace(seen(before={T0: 12}), metadata={T0: "own"}), "keep", metadata={T0: ""})
    assert ([row.status for row in plan.rows], plan.metadata) == (["kept"], {})


def test_a_group_that_became_active_meanwhile_is_reported_although_the_offset_is_there() -> None:
    plan = plan_group("g", {T0: 10}, seen())

    plan.conclude({T0: None}, {T0: (10, "")}, GroupState("g", "STABLE", None, (MEMBER,)))
    failure = failure_of([plan])

    assert plan.rows[0].status == "done"
    assert failure is not None
    assert (failure.code, "No offset was committed" in failure.hint) == ("group_active", False)


def test_offsets_that_could_not_be_read_back_are_not_reported_as_unchanged() -> None:
    plan = plan_group("g", {T0: 10}, seen())

    plan.unproven(DrError("kafka_unreachable", "No answer."))
    failure = failure_of([plan])

    assert (plan.rows[0].status, plan.rows[0].after) == ("failed", None)
    assert failure is not None
    assert (failure.code, "No offset was committed" in failure.hint) == ("offset_not_proven", False)


def test_different_problems_share_one_error() -> None:
    plans = [plan_group("g", {T0: 99}, seen()), plan_group("h", {T0: 10}, seen(GroupState("h", "STABLE")))]
    failure = failure_of(plans)

    assert failure is not None
    assert failure.code == "several_failed"
    assert '"h" is active' in failure.message


@pytest.mark.parametrize(
    ("items", "words"),
    [
        ([{"committed_offsets": []}], "no group name"),
        ([{"group": "g", "committed_offsets": []}, {"group": "g", "committed_offsets": []}], "listed twice"),
        ([{"group": "g", "committed_offsets": [{"topic": "T", "partition": 0}]}], "are required"),
        ([{"group": "g", "committed_offsets": [{"topic": "T", "partition": 0, "offset": -3}]}], "offset -3"),
        (
            [{"group": "g", "committed_offsets": [{"topic": "T", "partition": 0, "offset": 1}] * 2}],
            "partition 0 is listed twice",
        ),
    ],
)
def test_mistakes_in_the_list_are_reported(items: list[dict[str, Any]], words: str) -> None:
    with pytest.raises(DrError, match=words) as refused:
        wanted_offsets(items)

    assert refused.value.code == "bad_offsets"


@pytest.mark.parametrize(
    ("offset", "span", "lag"),
    [(3, (0, 10), 7), (10, (0, 10), 0), (11, (0, 10), None), (None, (0, 10), None), (3, None, None)],
)
def test_an_unknown_distance_is_none_and_never_zero(
    offset: int | None, span: tuple[int, int] | None, lag: int | None
) -> None:
    assert distance(offset, span) == lag


OFFSETS = st.dictionaries(st.sampled_from([T0, T1]), st.integers(0, 20), min_size=1)


@given(OFFSETS, OFFSETS, st.sampled_from(["lower", "keep"]))
def test_committing_a_plan_and_planning_again_writes_nothing(
    wanted: dict[Any, int], before: dict[Any, int], lower: str
) -> None:
    ranges = {T0: (0, 20), T1: (0, 20)}
    plan = plan_group("g", wanted, seen(before=before, ranges=ranges), lower)
    after = {**before, **plan.to_write}

    again = plan_group("g", wanted, seen(before=after, ranges=ranges), lower)

    assert (again.to_write, again.problems) == ({}, [])
    if lower == "keep":
        assert all(after[key] >= before[key] for key in before)
