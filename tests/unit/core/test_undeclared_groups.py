# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a client library cannot see is not absent (R41): groups of every type, and groups outside the inventory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.undeclared_groups import (
    UndeclaredGroup,
    judge_group,
    needs_second_look,
    stay_notes,
    undeclared_problems,
    undescribed_notes,
    with_changes,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.groups import (
    GroupState,
    Member,
    Seen,
    as_listed,
    contradicts,
    members_named,
    plan_group,
)

OURS, OTHER = Partition("T", 0), Partition("Elsewhere", 0)
TOPICS = {"T", "B.T"}
# Types that the client library describes. Every other type, also one that does not exist yet, is DEAD to it.
DESCRIBED = ("classic", "consumer")
LATER = ("streams", "share", "future")
PROTOCOLS = {"classic": "consumer", "consumer": "consumer"}
STATES = ("EMPTY", "STABLE", "PREPARING_REBALANCING", "COMPLETING_REBALANCING", "UNKNOWN")


@dataclass(frozen=True)
class Group:
    """A group as it is on the cluster. ``exists`` is False: a name without a group."""

    exists: bool
    kind: str
    state: str
    members: tuple[Member, ...]
    commits: dict[Partition, int]

    @property
    def described(self) -> GroupState:
        """What the client library returns."""
        if not self.exists or self.kind not in DESCRIBED:
            return GroupState("g", "DEAD", "classic")
        return GroupState("g", self.state, self.kind, self.members)

    @property
    def listed(self) -> dict[str, str | None]:
        """What a list of the groups of all types returns."""
        return {"g": PROTOCOLS.get(self.kind)} if self.exists else {}


def member(*partitions: Partition) -> Member:
    return Member("m", "app-1", "/10.0.0.7", None, partitions)


@st.composite
def groups(draw: st.DrawFn) -> Group:
    kind = draw(st.sampled_from((*DESCRIBED, *LATER)))
    state = draw(st.sampled_from(STATES))
    assigned = draw(st.lists(st.sampled_from([OURS, OTHER]), unique=True))
    members = () if state == "EMPTY" else tuple(draw(st.lists(st.just(member(*assigned)), max_size=2)))
    commits = draw(st.dictionaries(st.sampled_from([OURS, OTHER]), st.integers(0, 9)))
    exists = draw(st.booleans())
    return Group(exists, kind, state, members if exists else (), commits if exists and kind != "share" else {})


@given(groups())
def test_a_group_is_idle_only_if_the_look_would_have_shown_members(group: Group) -> None:
    state = as_listed(group.described, group.listed)
    if not state.active:
        assert not group.exists or (group.kind in DESCRIBED and not group.members)
        assert not contradicts(state, group.commits)
    else:
        assert group.exists
    # No healthy group becomes unknown.
    if group.exists and group.kind in DESCRIBED:
        assert state == group.described


@given(groups(), st.booleans())
def test_no_offset_is_committed_for_a_group_that_may_have_members(group: Group, listed: bool) -> None:
    """``listed`` is False: the list was read before the group was created. Then its commits contradict DEAD."""
    state = as_listed(group.described, group.listed if listed else {})
    if contradicts(state, group.commits):
        return
    plan = plan_group("g", {OURS: 5}, Seen(state, {}, {OURS: (0, 9)}, {"T": 1}))
    if group.exists and group.kind not in DESCRIBED and listed:
        assert [problem.code for problem in plan.problems] == ["group_undescribed"]
    if not plan.problems and listed:
        assert not group.members


@given(groups(), st.none() | st.just({"g": ["T"]}) | st.just({"g": []}))
def test_a_group_outside_the_inventory_is_overlooked_only_with_evidence(group: Group, shared: Any) -> None:
    """A group that exists, may have members and shows no topic at all is named, of any type."""
    state = as_listed(group.described, group.listed)
    row = judge_group(state, "P", group.commits, TOPICS, shared)
    shown = {partition.topic for partition in (*group.commits, *state.assigned)}
    if not group.exists:
        assert row is None
    elif shown & TOPICS:
        assert row is not None
        assert row.topics == ("T",)
        assert row.at_work == state.active
    elif row is None:
        read = shared is not None and shared == {"g": []} and state.state == "UNDESCRIBED"
        assert shown or read or state.state in ("EMPTY", "STABLE")
    else:
        assert row.at_work


@pytest.mark.parametrize("kind", LATER)
def test_the_next_group_type_needs_no_case_of_its_own(kind: str) -> None:
    group = Group(True, kind, "STABLE", (member(OURS),), {OURS: 4})
    state = as_listed(group.described, group.listed)
    assert (state.state, state.active, state.type) == ("UNDESCRIBED", True, None)
    assert members_named(state) == "members unknown: not a classic or consumer group"


def test_a_group_that_is_created_between_two_reads_is_unknown() -> None:
    assert as_listed(GroupState("g", "DEAD"), {"g": "consumer"}).state == "UNKNOWN"


def test_committed_offsets_of_a_group_that_does_not_exist_are_a_contradiction() -> None:
    assert contradicts(GroupState("g", "DEAD"), {OURS: 4})
    assert not contradicts(GroupState("g", "DEAD"), {})
    assert not contradicts(GroupState("g", "EMPTY"), {OURS: 4})


def row(**parts: Any) -> UndeclaredGroup:
    return replace(UndeclaredGroup("nightly", "P", "EMPTY", "", ("T",), {OURS: 4}, ""), **parts)


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        ([], False),
        ([row()], True),  # a reader with assign() has no members
        ([row(state="UNKNOWN", topics=None)], True),
        ([row(state="STABLE")], False),
        ([row(state="UNDESCRIBED")], False),
        ([row(declared_as="accepted")], False),
    ],
)
def test_a_second_look_is_taken_only_if_it_can_show_more(rows: list[UndeclaredGroup], wanted: bool) -> None:
    assert needs_second_look(rows) is wanted


@pytest.mark.parametrize(
    ("first", "second", "at_work"),
    [
        (row(), row(), False),
        (row(), row(commits={OURS: 5}), True),
        (row(), row(commits={OURS: None}), True),
        (row(), row(state="STABLE"), True),
        (row(state="STABLE"), row(), True),
        (row(state="UNKNOWN", topics=None), row(), False),
    ],
)
def test_two_looks_show_members_and_commits(first: UndeclaredGroup, second: UndeclaredGroup, at_work: bool) -> None:
    (both,) = with_changes([first], [second])
    # The offsets of a group that was not there before changed, too.
    assert (both.at_work or both.commits != first.commits) is at_work


def test_a_group_that_appears_between_two_looks_is_at_work() -> None:
    assert with_changes([], [row()])[0].at_work


def test_the_report_names_the_groups_that_stay() -> None:
    rows = [
        row(declared_as="accepted", state="STABLE", members="app-1 on 10.0.0.7").as_dict(),
        row(group="sink", declared_as="local").as_dict(),
        row(group="old").as_dict(),
    ]
    assert undeclared_problems(rows, "P") == []
    assert stay_notes(rows, "P") == [
        'the group "nightly" (app-1 on 10.0.0.7; T) stays on P: kafka_dr_accept_undeclared names it',
        'the group "old" (no members; T) stays on P: it is not in the inventory',
    ]


def test_a_note_says_what_decides_where_such_a_group_starts() -> None:
    (note,) = undescribed_notes([row(state="UNDESCRIBED"), row()])
    assert note.startswith('"nightly" on P is not a classic or consumer group (T): it is not moved')
