# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Groups on the cluster that was left, after the point of no return (R41)."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.departure import (
    judge_departure,
    together,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.groups import GroupState, Member

HERE, BACK = Partition("T", 0), Partition("B.T", 0)
MEMBER = Member("m", "app-1", "/10.0.0.7", None)
IDLE = GroupState("g", "EMPTY")
BEFORE = {"g": {HERE: 100}}


def judged(state: GroupState = IDLE, commits: Any = None, before: Any = None, group_sync: str = "stopped") -> Any:
    commits = {HERE: 100} if commits is None else commits
    return judge_departure("P", {"g": state}, {"g": commits}, BEFORE if before is None else before, {"B.T"}, group_sync)


@pytest.mark.parametrize("group_sync", ["stopped", "running", "unknown"])
def test_a_group_without_members_and_new_commits_has_left(group_sync: str) -> None:
    found = judged(group_sync=group_sync)
    assert found.verdict == "PROVEN"
    assert found.reason == "1 groups have no members on P and have committed nothing there since the barrier"


@pytest.mark.parametrize("group_sync", ["stopped", "running", "unknown"])
@pytest.mark.parametrize(
    ("state", "commits", "reason"),
    [
        (GroupState("g", "STABLE", None, (MEMBER,)), {HERE: 100}, '"g" has members (app-1 on 10.0.0.7)'),
        (IDLE, {HERE: 120}, '"g" committed 120 on T-0, after 100 at the barrier'),
        (IDLE, {HERE: 40}, '"g" committed 40 on T-0, after 100 at the barrier'),
        (IDLE, {HERE: 100, Partition("T", 1): 7}, '"g" committed 7 on T-1, after none at the barrier'),
    ],
)
def test_a_member_or_a_commit_there_is_found(state: GroupState, commits: Any, reason: str, group_sync: str) -> None:
    """An instance that starts there after the point of no return processes records a second time."""
    found = judged(state, commits, group_sync=group_sync)
    assert (found.verdict, found.reason) == ("REFUTED", f"at work on P after the point of no return: {reason}")


@pytest.mark.parametrize(
    ("group_sync", "verdict"), [("stopped", "REFUTED"), ("unknown", "UNKNOWN"), ("running", "PROVEN")]
)
def test_a_commit_that_group_sync_may_have_written_is_no_consumer(group_sync: str, verdict: str) -> None:
    assert judged(commits={HERE: 100, BACK: 5}, group_sync=group_sync).verdict == verdict


@pytest.mark.parametrize("state", ["UNDESCRIBED", "UNKNOWN", "PREPARING_REBALANCING", "FUTURE"])
def test_a_group_whose_members_are_unknown_has_not_left(state: str) -> None:
    assert judged(GroupState("g", state)).verdict == "UNKNOWN"


def test_a_group_that_the_barrier_did_not_observe_is_unknown() -> None:
    assert judged(commits={}, before={}).verdict == "UNKNOWN"


def test_without_groups_nothing_can_stay() -> None:
    assert judge_departure("P", {}, {}, {}, set(), "stopped").verdict == "NOT_APPLICABLE"


def look(verdict: str) -> dict[str, str]:
    return {"verdict": verdict, "reason": f"because {verdict}"}


@pytest.mark.parametrize(
    ("looks", "verdict"),
    [
        (["PROVEN", "PROVEN"], "PROVEN"),
        (["PROVEN", "REFUTED"], "REFUTED"),
        (["REFUTED", None], "REFUTED"),
        (["PROVEN", None], "UNKNOWN"),
        ([None, "PROVEN"], "UNKNOWN"),
        (["UNKNOWN", "PROVEN"], "UNKNOWN"),
        ([None, None], "UNKNOWN"),
        (["NOT_APPLICABLE", "NOT_APPLICABLE"], "NOT_APPLICABLE"),
    ],
)
def test_only_looks_until_the_end_prove_it(looks: list[str | None], verdict: str) -> None:
    found = together([None if one is None else look(one) for one in looks])
    assert found.verdict == verdict
    if verdict in looks:
        assert found.reason == f"because {verdict}"
