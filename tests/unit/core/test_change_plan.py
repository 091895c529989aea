# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What check runs of enable, salvage, rebuild and rehearse show: every change with its values, and no guessed ones."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.changes import Change, Outcome
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.change_plan import (
    change_plan,
    change_plan_lines,
    rehearsal_changes,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.page import page
from schemas import faults


def planned(kind: str, name: str, action: str, before: Any, after: Any) -> dict[str, Any]:
    return Outcome(Change(kind, name, action, before, after), "planned").as_dict()


TOPIC = planned("topic", "T", "create", None, {"partitions": 3, "retention.ms": "-1"})
CONNECTOR = planned(
    "connector",
    "P->B.MirrorSourceConnector",
    "update",
    {"tasks.max": "1", "offset.lag.max": "10"},
    {"tasks.max": "4", "offset.lag.max": "10"},
)
JOURNAL = planned("journal", "B-P", "enabled", {"active": None}, {"active": "P", "topic_ids": {"P": {}}})


def plan(*results: dict[str, Any], **facts: Any) -> dict[str, Any]:
    return change_plan({"kind": "enable", "pair": "B-P", "results": list(results), **facts})


def test_each_change_shows_its_cluster_and_the_values_that_differ() -> None:
    topics = {"results": [{"topics_alias": "P", "changes": []}, {"topics_alias": "B", "changes": [TOPIC]}]}
    flows = {"changes": [CONNECTOR]}
    found = plan(topics, flows)
    assert found["changes"] == [
        {
            "on": "B",
            "kind": "topic",
            "name": "T",
            "action": "create",
            "settings": [
                {"name": "partitions", "before": None, "after": "3"},
                {"name": "retention.ms", "before": None, "after": "-1"},
            ],
        },
        {
            "on": "",
            "kind": "connector",
            "name": "P->B.MirrorSourceConnector",
            "action": "update",
            "settings": [{"name": "tasks.max", "before": "1", "after": "4"}],
        },
    ]
    assert change_plan_lines(found)[:2] == [
        "would create topic T (B): partitions 3; retention.ms -1",
        "would update connector P->B.MirrorSourceConnector: tasks.max 1 -> 4",
    ]
    assert faults(found) == []


def test_skipped_or_unchanged_tasks_add_nothing() -> None:
    skipped = {"skipped": True, "changed": False}
    found = plan({}, skipped, {"results": [skipped, {"topics_alias": "P", "failed": True}]}, {"results": []})
    assert found["changes"] == []
    assert change_plan_lines(found) == ["no change", "duration: unknown, no completed run of this kind is recorded"]


def test_a_journal_event_is_shown_without_its_state() -> None:
    found = plan({"changes": [JOURNAL]})
    (row,) = found["changes"]
    assert change_plan_lines(found)[0] == "would add the event enabled to the journal of B-P"
    assert (row["action"], row["on"], row["settings"]) == ("enabled", "", [])


@pytest.mark.parametrize("name", ["source.cluster.sasl.jaas.config", "sasl.password", "ssl.keystore.key"])
def test_no_secret_is_shown_even_if_a_module_returned_one(name: str) -> None:
    found = plan({"changes": [planned("connector", "c", "update", {name: "old-word"}, {name: "new-word"})]})
    shown = f"{found} {change_plan_lines(found)} {page(found)}"
    assert "-word" not in shown
    assert name in shown


def test_stored_offsets_are_shown_by_topic_and_partition() -> None:
    offsets = planned("offsets", "P->B.MirrorSourceConnector", "update", {"T": {"0": 4}}, {"T": {"0": 9}})
    assert change_plan_lines(plan({"changes": [offsets]}))[0] == (
        'would update offsets P->B.MirrorSourceConnector: T {"0": 4} -> {"0": 9}'
    )


def test_the_duration_is_measured_or_unknown() -> None:
    found = plan(seconds=[10.0, 30.0, None])
    assert found["predicted"] == {"seconds": 20.0, "runs": 2}
    assert change_plan_lines(found)[-1] == "duration: 20.0 s, the median of 2 completed runs"
    assert plan()["predicted"] == {"seconds": None, "runs": 0}


REHEARSAL = {
    "policy": "default",
    "separator": "--",
    "parts": ["source", "checkpoint"],
    "clusters": {"rehearsal-P": {}, "rehearsal-B": {}},
    "clients": [{"name": "kafka-dr-rehearsal-producer", "hosts": "localhost"}],
    "rehearsal": {
        "of": {"rehearsal-P": "P", "rehearsal-B": "B"},
        "belongings": {
            "rehearsal-P": {
                "topics": ["canary", "rehearsal-B--heartbeats"],
                "groups": ["g"],
                "connectors": [
                    "rehearsal-B->rehearsal-P.MirrorSourceConnector",
                    "rehearsal-B->rehearsal-P.MirrorHeartbeatConnector",
                ],
                "principals": ["User:rehearsal"],
            },
            "rehearsal-B": {"topics": ["canary"], "groups": [], "connectors": [], "principals": []},
        },
    },
}


def test_a_rehearsal_deletes_only_what_it_created() -> None:
    rows = rehearsal_changes(REHEARSAL)
    names = {action: [(one["on"], one["name"]) for one in rows if one["action"] == action] for action in ACTIONS}
    assert names["create"] == [
        ("P", "canary"),
        ("P", "g"),
        ("P", "rehearsal-B->rehearsal-P.MirrorSourceConnector"),
        ("P", "User:rehearsal"),
        ("B", "canary"),
    ]
    assert names["delete"] == names["create"][::-1]
    assert names["run"] == [("localhost", "kafka-dr-rehearsal-producer")]
    document = change_plan({"kind": "rehearse", "pair": "B-P", "results": [], "changes": rows})
    assert faults(document) == []


ACTIONS = ("create", "run", "delete")


def test_the_page_shows_every_change_with_its_html_escaped() -> None:
    document = plan({"changes": [planned("topic", "<b>", "create", None, {"partitions": 3})]}, notes=["lost: 3"])
    text = page(document) or ""
    assert "&lt;b&gt;" in text
    assert "lost: 3" in text
    assert "partitions" in text
