# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Equal values are dropped, and one object decides which differences are shown."""

from __future__ import annotations

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.changes import (
    Change,
    Differences,
    Outcome,
    diff_of,
)


def test_only_differences_are_kept() -> None:
    found = Differences()
    found.add("partitions", 3, 3)
    assert not found
    found.add("retention.ms", "1", "2")
    found.add("cleanup.policy", None, "compact")
    assert found
    assert found.before == {"retention.ms": "1", "cleanup.policy": None}
    assert found.after == {"retention.ms": "2", "cleanup.policy": "compact"}


def test_two_none_values_are_no_difference() -> None:
    found = Differences()
    found.add("cluster_id", None, None)
    assert not found


def test_a_change_keeps_the_values_from_when_it_was_made() -> None:
    found = Differences()
    found.add("a", 1, 2)
    change = found.change("topic", "T", "alter_config")
    found.add("b", 1, 2)
    assert change == Change("topic", "T", "alter_config", {"a": 1}, {"a": 2})


def test_an_outcome_converts_to_plain_data() -> None:
    made = Outcome(Change("topic", "T", "create", None, {"partitions": 3}), "failed", "no right")
    assert made.as_dict() == {
        "kind": "topic",
        "name": "T",
        "action": "create",
        "before": None,
        "after": {"partitions": 3},
        "status": "failed",
        "error": "no right",
    }


def test_the_diff_of_one_object_merges_its_changes() -> None:
    grown = Change("topic", "T", "add_partitions", {"partitions": 1}, {"partitions": 3})
    set_ = Change("topic", "T", "alter_config", {"retention.ms": "1"}, {"retention.ms": "2"})
    assert diff_of([grown, set_]) == {
        "before": {"topic T": {"partitions": 1, "retention.ms": "1"}},
        "after": {"topic T": {"partitions": 3, "retention.ms": "2"}},
    }


def test_the_diff_of_a_creation_has_an_empty_before_and_of_a_deletion_an_empty_after() -> None:
    made = Change("topic", "new", "create", None, {"partitions": 1})
    gone = Change("topic", "old", "delete", {"partitions": 1}, None)
    assert diff_of([made, gone]) == {
        "before": {"topic new": None, "topic old": {"partitions": 1}},
        "after": {"topic new": {"partitions": 1}, "topic old": None},
    }


def test_without_a_change_the_diff_is_empty() -> None:
    assert diff_of([]) == {"before": {}, "after": {}}
