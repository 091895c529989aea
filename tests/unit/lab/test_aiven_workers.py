# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the emulator of Aiven's API runs flows: the plan of the Driver, delays, and restarts. Without Kafka."""

from __future__ import annotations

import queue
from typing import Any

import pytest

from aiven_api import plan, rules
from aiven_api.errors import ApiError
from aiven_api.workers import LabWorkers
from cm import replication

SERVERS = {"P": "p:9092", "B": "b:9092"}
FIELDS = {
    "enabled": True,
    "topics": ["T"],
    "topics.blacklist": ["T-old"],
    "sync_group_offsets_enabled": False,
    "exactly_once_delivery_enabled": True,
    "offset_syncs_topic_location": "target",
    "config_properties_exclude": ["a", "b"],
}


class Recorder:
    """Records what the workers ask of the Driver."""

    def __init__(self) -> None:
        self.calls: queue.Queue[Any] = queue.Queue()

    def start(self, plan: Any, wait: bool = True) -> None:
        self.calls.put(plan.flow.settings.get("enabled"))

    def stop(self) -> None:
        self.calls.put("stop")

    def report(self) -> dict[str, Any]:
        return {}

    def next(self) -> Any:
        return self.calls.get(timeout=10)


def test_fields_become_settings_of_the_connectors() -> None:
    made = plan.make(("P", "B"), FIELDS, {"groups": "g,h", "emit_checkpoints_interval_seconds": 1}, SERVERS, {"x": "1"})
    assert made.flow is not None
    assert made.lists is not None
    config = replication.connectors(made.flow, SERVERS, made.lists["topics"], made.lists["groups"])
    source = config["MirrorSourceConnector"]
    assert source["source.consumer.isolation.level"] == "read_committed"
    assert (source["topics"], source["groups"], source["config.properties.exclude"]) == ("T", "g,h", "a,b")
    assert source["topics.exclude"].endswith(",T-old")
    assert (source["emit.checkpoints.interval.seconds"], source["sync.group.offsets.enabled"]) == ("1", "false")
    assert (source["offset-syncs.topic.location"], source["x"]) == ("target", "1")


def test_a_flow_without_exactly_once_reads_uncommitted_records() -> None:
    made = plan.make(("P", "B"), {**FIELDS, "exactly_once_delivery_enabled": False}, {}, SERVERS, {})
    assert made.flow is not None
    assert "source.consumer.isolation.level" not in made.flow.settings


def test_flows_of_the_cluster_take_effect_and_others_do_not() -> None:
    driver = Recorder()
    workers = LabWorkers("B", driver, SERVERS, {})
    workers.use({("P", "B"): FIELDS, ("B", "P"): FIELDS}, {}, 0.0)
    assert driver.next() == "true"
    workers.use({("B", "P"): FIELDS}, {}, 0.0)
    assert driver.next() == "stop"


def test_a_change_of_the_service_stops_the_flow_before_it_starts_again() -> None:
    driver = Recorder()
    workers = LabWorkers("B", driver, SERVERS, {})
    workers.restart({("P", "B"): FIELDS}, {}, 0.0, 0.01)
    assert [driver.next(), driver.next()] == ["stop", "true"]


def test_a_change_takes_effect_late() -> None:
    driver = Recorder()
    workers = LabWorkers("B", driver, SERVERS, {})
    workers.use({("P", "B"): FIELDS}, {}, 3600.0)
    assert workers.report()["pending"] == 1
    assert driver.calls.empty()


@pytest.mark.parametrize("value", [None, ""])
def test_an_empty_value_clears_only_texts_and_lists(value: Any) -> None:
    fields = {"offset_lag_max": 5, "topics": ["T"]}
    assert rules.changed(fields, {"offset_lag_max": value}, rules.FLOW) == fields
    assert rules.changed(fields, {"topics": []}, rules.FLOW)["topics"] == []


@pytest.mark.parametrize(
    "given", [{"enabled": 1}, {"offset_lag_max": True}, {"topics": [1]}, {"source_cluster": "P"}, []]
)
def test_a_value_of_another_type_is_refused(given: Any) -> None:
    with pytest.raises(ApiError) as refused:
        rules.changed({}, given, rules.FLOW)
    assert refused.value.status == 400
