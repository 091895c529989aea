# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A declaration never hides evidence: each topic that a group uses outside its declared topics is named (R32)."""

from __future__ import annotations

import random

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.groups import GroupState, Member
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.scopes import (
    out_of_scope,
    scope_problems,
)
from effort import share

WORLDS = share(2_000, least=200)
TOPICS = ["Payments", "Orders", "Fees", "P.Payments", "P.Orders", "P.Fees"]
PLACE = ("narrow", "B")


def member(*partitions: tuple[str, int]) -> Member:
    return Member("m-1", "reader-7", "/10.0.0.7", None, partitions)


def test_a_committed_offset_outside_the_scope_is_named_with_partition_and_value() -> None:
    (row,) = out_of_scope(PLACE, ["Payments"], TOPICS, {("Payments", 0): 5, ("Orders", 3): 266})
    assert row == {
        "group": "narrow",
        "alias": "B",
        "topic": "Orders",
        "evidence": "committed offset 266 on partition 3",
    }


def test_an_assigned_member_without_a_committed_offset_is_named_by_client_and_host() -> None:
    (row,) = out_of_scope(PLACE, ["Payments"], TOPICS, {}, [member(("Payments", 0), ("Orders", 0), ("Orders", 1))])
    assert (row["topic"], row["evidence"]) == ("Orders", "assigned to its member reader-7 at /10.0.0.7")


def test_offset_0_is_evidence_and_many_pieces_of_it_are_counted() -> None:
    (row,) = out_of_scope(PLACE, [], ["Orders"], {("Orders", index): 0 for index in range(5)})
    assert row["evidence"].startswith("committed offset 0 on partition 0, ")
    assert row["evidence"].endswith("and 2 more")


def test_replicas_count_and_topics_outside_the_pair_have_their_own_refusal() -> None:
    rows = out_of_scope(PLACE, ["Payments", "P.Payments"], TOPICS, {("P.Orders", 0): 1, ("Other", 0): 9})
    assert [row["topic"] for row in rows] == ["P.Orders"]


def test_a_refusal_names_group_topic_evidence_and_the_next_step() -> None:
    (text,) = scope_problems(out_of_scope(PLACE, [], TOPICS, {("Orders", 0): 7}))
    for words in ('"narrow"', '"Orders" on B', "committed offset 7", "Add the topic", "--delete-offsets"):
        assert words in text


def test_assigned_partitions_of_a_group_are_those_of_all_members() -> None:
    state = GroupState("narrow", "STABLE", members=(member(("Orders", 0)), member(("Fees", 1))))
    assert state.assigned == {("Orders", 0), ("Fees", 1)}


def test_in_random_worlds_no_topic_that_a_group_uses_is_left_to_auto_offset_reset() -> None:
    """Oracle: each topic that the group reads on the old cluster is translated (in scope), or the move is refused by
    name.
    """
    hidden_worlds = 0
    for seed in range(WORLDS):
        draw = random.Random(seed)
        scope = set(draw.sample(TOPICS, draw.randrange(len(TOPICS) + 1)))
        commits = {(topic, draw.randrange(3)): draw.randrange(50) for topic in TOPICS if draw.random() < 0.4}
        members = [
            Member(f"m-{number}", f"c-{number}", "h", None, tuple((topic, 0) for topic in draw.sample(TOPICS, 2)))
            for number in range(draw.randrange(3))
        ]
        used = {topic for topic, _partition in commits} | {topic for one in members for topic, _p in one.partitions}
        named = [row["topic"] for row in out_of_scope(PLACE, scope, TOPICS, commits, members)]
        assert named == sorted(used - scope), f"seed {seed}"
        hidden_worlds += bool(named)
    assert hidden_worlds > WORLDS / 4
