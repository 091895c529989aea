# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan for topics: which changes are made, which are refused, and which topics are left alone."""

from __future__ import annotations

import dataclasses
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.changes import Change, Outcome
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.topics import (
    ConfigValue,
    Plan,
    TopicState,
    WantedTopic,
    collisions,
    failure_of,
    plan_absent,
    plan_present,
    topic_row,
    wanted_topics,
)

DEFAULTS = {"retention.ms": "604800000", "cleanup.policy": "delete", "segment.ms": "604800000"}


def state(partitions: int = 3, factor: int | None = 2, own: dict[str, str] | None = None) -> TopicState:
    config = {key: ConfigValue(value, False) for key, value in DEFAULTS.items()}
    config.update({key: ConfigValue(value, True) for key, value in (own or {}).items()})
    return TopicState("orders", "id", partitions, factor, (), config)


def steps(plan: Plan) -> list[tuple[str, Any, Any]]:
    return [(change.action, change.before, change.after) for change in plan.changes]


@pytest.mark.parametrize(
    ("wanted", "found", "expected"),
    [
        (WantedTopic("orders", 6, 2), None, [("create", None, {"partitions": 6, "replication_factor": 2})]),
        (WantedTopic("orders"), None, [("create", None, {"partitions": None, "replication_factor": None})]),
        (WantedTopic("orders", 3, 2), state(), []),
        (WantedTopic("orders"), state(), []),
        (WantedTopic("orders", 12), state(), [("add_partitions", {"partitions": 3}, {"partitions": 12})]),
        (WantedTopic("orders", config={"retention.ms": "604800000"}), state(), []),
        (
            WantedTopic("orders", config={"retention.ms": "1000"}),
            state(),
            [("alter_config", {"retention.ms": "604800000"}, {"retention.ms": "1000"})],
        ),
        (
            WantedTopic("orders", config={"no.such": "1"}),
            state(),
            [("alter_config", {"no.such": None}, {"no.such": "1"})],
        ),
        (WantedTopic("orders", config={"segment.ms": None}), state(), []),
        (
            WantedTopic("orders", config={"segment.ms": None}),
            state(own={"segment.ms": "5"}),
            [("alter_config", {"segment.ms": "5"}, {"segment.ms": None})],
        ),
        (WantedTopic("orders", config={"cleanup.policy": "delete"}), state(own={"segment.ms": "5"}), []),
    ],
)
def test_the_plan_for_present_topics(wanted: WantedTopic, found: TopicState | None, expected: list[Any]) -> None:
    assert steps(plan_present([wanted], {"orders": found})) == expected


def test_a_setting_of_null_is_not_sent_with_a_new_topic() -> None:
    wanted = WantedTopic("orders", 1, None, {"segment.ms": None, "retention.ms": "1"})

    (change,) = plan_present([wanted], {}).changes

    assert change.after == {"partitions": 1, "replication_factor": None, "retention.ms": "1"}


def test_exact_only_removes_own_values_that_are_not_named() -> None:
    found = state(own={"segment.ms": "5", "retention.ms": "1"})

    plan = plan_present([WantedTopic("orders", config={"retention.ms": "1"})], {"orders": found}, exact=True)

    assert steps(plan) == [("alter_config", {"segment.ms": "5"}, {"segment.ms": None})]


@pytest.mark.parametrize(
    ("wanted", "found", "code", "words"),
    [
        (WantedTopic("orders", 2), state(3), "partitions_fewer", "has 3 partitions, wanted 2"),
        (WantedTopic("orders", 3, 3), state(3), "replication_factor_differs", "replication factor 2, wanted 3"),
        (WantedTopic("orders", 3, 3), state(3, None), "replication_factor_differs", "replication factor mixed"),
    ],
)
def test_an_impossible_change_is_reported_and_that_topic_is_unchanged(
    wanted: WantedTopic, found: TopicState, code: str, words: str
) -> None:
    plan = plan_present([replace(wanted, config={"retention.ms": "1"})], {"orders": found})

    assert plan.changes == []
    assert plan.conflicts[0].error.code == code
    assert words in plan.conflicts[0].error.message
    assert plan.conflicts[0].error.hint


def test_a_conflict_does_not_hide_the_other_topics() -> None:
    plan = plan_present([WantedTopic("orders", 1), WantedTopic("bills", 1)], {"orders": state(), "bills": None})

    assert ([change.name for change in plan.changes], len(plan.conflicts)) == (["bills"], 1)


def test_only_existing_topics_are_deleted() -> None:
    plan = plan_absent([WantedTopic("orders"), WantedTopic("gone")], {"orders": state(), "gone": None})

    assert steps(plan) == [("delete", {"partitions": 3, "topic_id": "id"}, None)]


# ---- validation


@pytest.mark.parametrize(
    ("items", "words"),
    [
        ([{"name": "a"}, {"name": "a"}], '"a" is listed 2 times'),
        ([{"name": "a b"}], '"a b" must have 1 to 249'),
        ([{"name": "x" * 250}], "1 to 249"),
        ([{"name": ".."}], 'must not be ".."'),
        ([{}], "topics[1].name is missing"),
        ([{"name": "a"}, {"name": "b", "partitions": 0}], "topics[2].partitions"),
        ([{"name": "a", "replication_factor": -1}], "topics[1].replication_factor"),
        ([{"name": "a", "partitions": True}], "topics[1].partitions"),
        ([{"name": "a", "config": {"x": {"y": 1}}}], 'topics[1].config: "x"'),
        ([{"name": "a", "config": [1]}], "must be a dictionary"),
        ([{"name": "a", "partition": 1}], 'unknown key "partition". Did you mean "partitions"?'),
    ],
)
def test_mistakes_are_reported(items: list[dict[str, Any]], words: str) -> None:
    with pytest.raises(DrError) as refused:
        wanted_topics(items)

    assert refused.value.code == "bad_topics"
    assert words in refused.value.message


def test_all_mistakes_are_reported_at_once() -> None:
    with pytest.raises(DrError) as refused:
        wanted_topics([{"name": "a b"}, {"name": "c", "partitions": 0}])

    assert "topics[1]" in refused.value.message
    assert "topics[2]" in refused.value.message


def test_a_list_to_delete_with_an_internal_topic_is_refused_as_a_whole() -> None:
    items = [{"name": "orders"}, {"name": "__consumer_offsets"}]

    assert len(wanted_topics(items, "present")) == 2
    with pytest.raises(DrError, match="__consumer_offsets") as refused:
        wanted_topics(items, "absent")
    assert refused.value.code == "topic_internal"


def test_names_that_collide_are_warned_about() -> None:
    assert collisions(["a.b", "c", "a_b"]) == [
        'The topics a.b and a_b differ only in "." and "_": Kafka gives their metrics the same name.'
    ]
    assert collisions(["a.b", "a-b"]) == []


# ---- results


def test_a_missing_topic_has_no_facts() -> None:
    row = topic_row("orders", None)

    assert (row.pop("name"), row.pop("exists"), set(row.values())) == ("orders", False, {None})


def test_offsets_that_could_not_be_read_are_null() -> None:
    row = topic_row("orders", state(2), "all", {("orders", 0): (1, 5), ("orders", 1): None})

    assert row["offsets"] == [{"partition": 0, "start": 1, "end": 5}, {"partition": 1, "start": None, "end": None}]
    assert row["config"] == dict(sorted(DEFAULTS.items()))
    assert topic_row("orders", state(2, own={"segment.ms": "1"}))["config"] == {"segment.ms": "1"}
    assert topic_row("orders", state(2), "none")["config"] is None


def test_one_failure_keeps_its_code_and_hint_and_several_share_one() -> None:
    conflicts = plan_present([WantedTopic("orders", 1)], {"orders": state()}).conflicts
    failed = [Outcome(Change("topic", name, "create", None, {}), "failed", "no.") for name in ("a", "b")]
    done = [Outcome(Change("topic", "c", "create", None, {}), "done")]

    alone, same_code, mixed = failure_of(conflicts, done), failure_of([], failed), failure_of(conflicts, failed)

    assert failure_of([], done) is None
    assert alone is not None
    assert (alone.code, alone.hint) == ("partitions_fewer", "Set partitions: 3 or recreate the topic.")
    assert same_code is not None
    assert (same_code.code, "2 topics failed" in same_code.message) == ("topic_refused", True)
    assert mixed is not None
    assert mixed.code == "several_failed"
    beyond = [dataclasses.replace(one, code="replication_factor_too_high") for one in failed]
    assert (found := failure_of([], beyond)) is not None
    assert found.code == "replication_factor_too_high"


# ---- properties

KEYS = st.sampled_from([*DEFAULTS, "max.message.bytes"])
TEXTS = st.sampled_from(["1", "1000", "604800000", "delete", "compact", "compact,delete"])
WANTED = st.builds(
    WantedTopic,
    st.just("orders"),
    st.none() | st.integers(1, 8),
    st.none() | st.integers(1, 3),
    st.dictionaries(KEYS, st.none() | TEXTS),
)
FOUND = st.none() | st.builds(state, st.integers(1, 8), st.integers(1, 3), st.dictionaries(KEYS, TEXTS))


def applied(change: Change, found: TopicState | None) -> TopicState:
    """Apply a change as a broker does."""
    after = dict(change.after or {})
    if change.action == "create":
        shape = after.pop("partitions") or 1, after.pop("replication_factor") or 1
        return state(*shape, after)
    assert found is not None
    if change.action == "add_partitions":
        return replace(found, partitions=after["partitions"])
    own = {key: one.value for key, one in found.config.items() if one.override and one.value is not None}
    own.update({key: value for key, value in after.items() if value is not None})
    kept = {key: value for key, value in own.items() if after.get(key, value) is not None}
    return state(found.partitions, found.replication_factor, kept)


@given(WANTED, FOUND, st.booleans())
def test_planning_again_after_applying_finds_no_change(
    wanted: WantedTopic, found: TopicState | None, exact: bool
) -> None:
    plan = plan_present([wanted], {"orders": found}, exact)
    for change in plan.changes:
        found = applied(change, found)

    again = plan_present([wanted], {"orders": found}, exact)

    assert again.changes == []
    assert [one.error.code for one in again.conflicts] == [one.error.code for one in plan.conflicts]


@given(WANTED, FOUND, st.booleans())
def test_no_plan_removes_partitions_or_deletes(wanted: WantedTopic, found: TopicState | None, exact: bool) -> None:
    for change in plan_present([wanted], {"orders": found}, exact).changes:
        assert change.action in ("create", "add_partitions", "alter_config")
        if change.action == "add_partitions":
            assert change.before is not None
            assert change.after is not None
            assert change.after["partitions"] > change.before["partitions"]
