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
#: Topics on which group sync may have committed: none before it starts, and with the policy identity all of them.
STOPPED: frozenset[str] = frozenset()
RUNNING, IDENTITY = frozenset({"B.T"}), frozenset({"T"})
MEMBER = Member("m", "app-1", "/10.0.0.7", None)
IDLE = GroupState("g", "EMPTY")
BEFORE = {"g": {HERE: 100}}


def judged(
    state: GroupState = IDLE,
    commits: Any = None,
    before: Any = None,
    synced: frozenset[str] = STOPPED,
    looked: bool = False,
) -> Any:
    commits = {HERE: 100} if commits is None else commits
    return judge_departure("P", {"g": state}, {"g": commits}, BEFORE if before is None else before, synced, looked)


@pytest.mark.parametrize("synced", [STOPPED, RUNNING, IDENTITY])
def test_a_group_without_members_and_new_commits_has_left(synced: frozenset[str]) -> None:
    finding = judged(synced=synced)
    assert finding.verdict == "PROVEN"
    assert finding.reason == "1 groups have no members on P and have committed nothing there since the barrier"


@pytest.mark.parametrize("synced", [STOPPED, RUNNING])
@pytest.mark.parametrize(
    ("state", "commits", "reason"),
    [
        (GroupState("g", "STABLE", None, (MEMBER,)), {HERE: 100}, '"g" has members (app-1 on 10.0.0.7)'),
        (IDLE, {HERE: 120}, '"g" committed 120 on T-0, after 100 at the barrier'),
        (IDLE, {HERE: 40}, '"g" committed 40 on T-0, after 100 at the barrier'),
        (IDLE, {HERE: 100, Partition("T", 1): 7}, '"g" committed 7 on T-1, after none at the barrier'),
    ],
)
def test_a_member_or_a_commit_there_is_found(
    state: GroupState, commits: Any, reason: str, synced: frozenset[str]
) -> None:
    """An instance that starts there after the point of no return processes records a second time."""
    finding = judged(state, commits, synced=synced)
    assert (finding.verdict, finding.reason) == ("REFUTED", f"at work on P after the point of no return: {reason}")


def test_a_commit_that_group_sync_may_have_written_proves_neither() -> None:
    """An instance that came, committed and went looks the same. With the policy identity, each topic is synced."""
    commits = {HERE: 120, Partition("T", 1): 7}
    unknown = "it is unknown whether these groups are at work on P: "
    text = '"g" (its offsets changed on T, where group sync commits, too)'
    finding = judged(commits=commits, synced=IDENTITY)
    assert (finding.verdict, finding.reason) == ("UNKNOWN", unknown + text)
    assert judged(commits=commits, synced=STOPPED).verdict == "REFUTED"
    assert judged(commits={HERE: 100, BACK: 5}, synced=RUNNING).verdict == "UNKNOWN"
    assert judged(GroupState("g", "STABLE", None, (MEMBER,)), commits, synced=IDENTITY).verdict == "REFUTED"


def test_after_a_look_before_group_sync_started_only_members_are_asked_for_where_it_commits() -> None:
    """Otherwise every move whose group sync is fast would be UNKNOWN."""
    finding = judged(commits={HERE: 100, BACK: 5}, synced=RUNNING, looked=True)
    assert finding.verdict == "PROVEN"
    assert finding.reason.endswith("since the barrier, and where group sync commits, too, nothing until it started")
    assert judged(commits={HERE: 101, BACK: 5}, synced=RUNNING, looked=True).verdict == "REFUTED"
    member = GroupState("g", "STABLE", None, (MEMBER,))
    assert judged(member, {HERE: 100, BACK: 5}, synced=RUNNING, looked=True).verdict == "REFUTED"
    assert judged(GroupState("g", "UNKNOWN"), {HERE: 100, BACK: 5}, synced=RUNNING, looked=True).verdict == "UNKNOWN"


def test_only_the_groups_and_topics_that_group_sync_hides_are_unknown() -> None:
    """A commit on any other topic, or of a group that changed nothing, is judged as before."""
    states = {name: GroupState(name, "EMPTY") for name in "gh"}
    before = {"g": {HERE: 100}, "h": {HERE: 100, BACK: 3}}
    commits = {"g": {HERE: 100, BACK: 5}, "h": {HERE: 100, BACK: 3}}
    finding = judge_departure("P", states, commits, before, RUNNING)
    assert finding.verdict == "UNKNOWN"
    assert finding.reason.endswith(': "g" (its offsets changed on B.T, where group sync commits, too)')
    finding = judge_departure("P", states, {**commits, "h": {HERE: 101, BACK: 3}}, before, RUNNING)
    assert finding.verdict == "REFUTED"
    assert finding.reason.endswith(': "h" committed 101 on T-0, after 100 at the barrier')


@pytest.mark.parametrize("state", ["UNDESCRIBED", "UNKNOWN", "PREPARING_REBALANCING", "FUTURE"])
def test_a_group_whose_members_are_unknown_has_not_left(state: str) -> None:
    assert judged(GroupState("g", state)).verdict == "UNKNOWN"


def test_a_group_that_the_barrier_did_not_observe_is_unknown() -> None:
    assert judged(commits={}, before={}).verdict == "UNKNOWN"


def test_without_groups_nothing_can_stay() -> None:
    assert judge_departure("P", {}, {}, {}, set()).verdict == "NOT_APPLICABLE"


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
    finding = together([None if one is None else look(one) for one in looks])
    assert finding.verdict == verdict
    if verdict in looks:
        assert finding.reason == f"because {verdict}"
