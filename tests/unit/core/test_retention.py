# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Held retention: the original values survive any number of holds, and they or the declared values are restored."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.retention import (
    RETENTION,
    retention_plan,
    without_retention,
)

VALUES = st.one_of(st.none(), st.sampled_from(["-1", "1000", "604800000"]))
OWN = st.fixed_dictionaries(dict.fromkeys((*RETENTION, "cleanup.policy"), VALUES))
CLUSTERS = st.dictionaries(
    st.sampled_from(["P", "B"]), st.dictionaries(st.sampled_from(["T", "P.T", "B.T"]), OWN), min_size=1
)
Clusters = dict[str, dict[str, dict[str, str | None]]]


def observed(clusters: Clusters) -> dict[str, list[dict[str, Any]]]:
    """Topics by alias with their own settings. An inherited setting is not listed."""
    return {
        alias: [
            *(
                {"name": name, "exists": True, "config": {k: v for k, v in own.items() if v is not None}}
                for name, own in topics.items()
            ),
            {"name": "gone", "exists": False, "config": None},
        ]
        for alias, topics in clusters.items()
    }


def done(clusters: Clusters, plan: dict[str, Any]) -> Clusters:
    """Apply rows as kafka_topic does: other settings are kept, and None removes the topic's own value."""
    sets = {alias: {row["name"]: row["config"] for row in rows} for alias, rows in plan["topics"].items()}
    return {
        alias: {name: {**own, **sets.get(alias, {}).get(name, {})} for name, own in topics.items()}
        for alias, topics in clusters.items()
    }


@given(CLUSTERS)
def test_holding_twice_and_releasing_restores_the_settings(before: Clusters) -> None:
    first = retention_plan(observed(before), {}, [], hold=True)
    during = done(before, first)
    assert all(own[key] == "-1" for topics in during.values() for own in topics.values() for key in RETENTION)
    again = retention_plan(observed(during), first["held"], [], hold=True)
    assert again == first
    last = retention_plan(observed(during), first["held"], [], hold=False)
    assert last["held"] == {}
    assert done(during, last) == before


@given(CLUSTERS, CLUSTERS)
def test_a_topic_that_is_added_later_is_held_too(before: Clusters, more: Clusters) -> None:
    first = retention_plan(observed(before), {}, [], hold=True)
    joined = {alias: {**more.get(alias, {}), **done(before, first).get(alias, {})} for alias in {**before, **more}}
    second = retention_plan(observed(joined), first["held"], [], hold=True)
    last = retention_plan(observed(done(joined, second)), second["held"], [], hold=False)
    assert done(done(joined, second), last) == {
        alias: {**more.get(alias, {}), **before.get(alias, {})} for alias in {**before, **more}
    }


def test_a_topic_that_left_the_inventory_is_released_with_the_others() -> None:
    held = {"P": {"old": {"retention.ms": "5", "retention.bytes": None}}}
    both = observed({"P": {"T": {}, "old": {"retention.ms": "-1"}}})
    assert retention_plan(both, held, [], hold=True)["held"]["P"]["old"] == held["P"]["old"]
    plan = retention_plan(both, held, [], hold=False)
    assert plan["topics"] == {"P": [{"name": "old", "config": held["P"]["old"]}]}
    # Even if the observation lacks it, because it does not exist now, it is not forgotten.
    assert retention_plan(observed({"P": {"T": {}}}), held, [], hold=True)["held"]["P"]["old"] == held["P"]["old"]


def test_without_topics_nothing_is_set() -> None:
    assert retention_plan(observed({"P": {}, "B": {}}), {}, [], hold=True)["topics"] == {}


def test_the_current_inventory_counts_and_a_deleted_topic_is_not_created() -> None:
    held = {"P": {"T": {"retention.ms": "5", "retention.bytes": None}, "gone": {"retention.ms": "5"}}}
    declared = [{"name": "T", "config": {"retention.ms": 9}}]
    plan = retention_plan(observed({"P": {"T": {"retention.ms": "-1"}}}), held, declared, hold=False)
    assert plan["topics"] == {"P": [{"name": "T", "config": {"retention.ms": 9, "retention.bytes": None}}]}


def test_a_declared_retention_is_applied_at_release() -> None:
    topic = {"name": "T", "partitions": 3, "config": {"retention.ms": 9, "cleanup.policy": "delete"}}
    assert without_retention(topic) == {"name": "T", "partitions": 3, "config": {"cleanup.policy": "delete"}}
