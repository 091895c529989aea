# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A flow runs with the settings that carry a proof although the worker's own file has others (R38)."""

from __future__ import annotations

import re
import struct
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.rest import ConnectClient
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.preflight import judge_cutover
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.names import connector_name
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.connector_settings import IN_FORCE
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds, wait_until
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.records import last_data_records
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.topics import describe, log_ranges
from ansible_collections.switchback.kafka_dr.plugins.modules import connect_mirror, dr_status_info, kafka_topic
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module
from ansible_collections.switchback.kafka_dr.tests.support.pairs import as_pair
from lab.lab import Lab

pytestmark = pytest.mark.integration

# Not the aliases of another test of the same lab, whose internal topics these would be.
P, B = "WP", "WB"
NAMES = {part: connector_name(P, B, part) for part in ("source", "checkpoint", "heartbeat")}
WORKER_FILE = """
producer.acks=1
producer.max.in.flight.requests.per.connection=5
producer.delivery.timeout.ms=120000
producer.retries=3
consumer.isolation.level=read_uncommitted
value.converter=org.apache.kafka.connect.json.JsonConverter
"""
WORKER = {
    "acks": "1",
    "max.in.flight.requests.per.connection": "5",
    "delivery.timeout.ms": "120000",
    "retries": "3",
    "interceptor.classes": "[]",
}
FLOW = {
    "acks": "-1",
    "max.in.flight.requests.per.connection": "1",
    "delivery.timeout.ms": "2147483647",
    "retries": "2147483647",
    "interceptor.classes": "[]",
}


class Flow:
    """One topic and the connectors of one flow, on a worker whose file has other settings."""

    def __init__(self, lab: Lab) -> None:
        self.lab, found = lab, lab.info()["clusters"]
        self.clusters = {
            alias: {key: found[name][key] for key in ("bootstrap_servers", "connect_url", "cluster_id")}
            for alias, name in ((P, "P"), (B, "B"))
        }
        self.rest = ConnectClient(str(self.clusters[B]["connect_url"]), {}, 15.0)
        self.kafka = Kafka(str(self.clusters[B]["bootstrap_servers"]), {}, 15.0)
        self.topic = f"settings-{uuid.uuid4().hex[:8]}"
        self.file = lab.paths.part("B", "connect").config.with_suffix(".extra")
        items = [{"name": name, "partitions": 1} for name in (self.topic, "heartbeats")]
        for one in self.clusters.values():
            created = run_module(kafka_topic, {"bootstrap_servers": one["bootstrap_servers"], "topics": items})
            assert created["rc"] == 0
        self.write_heartbeat()

    def write_heartbeat(self) -> None:
        """Write a heartbeat of the other direction on P: the flow replicates it like a record."""
        ends = (name.encode() for name in (B, P))
        key = b"".join(struct.pack(">h", len(name)) + name for name in ends)
        producer = Producer({"bootstrap.servers": self.clusters[P]["bootstrap_servers"]})
        failed: list[object] = []
        value = struct.pack(">hq", 0, int(time.time() * 1000))
        producer.produce("heartbeats", key=key, value=value, on_delivery=lambda error, _message: failed.append(error))
        assert (producer.flush(30), failed) == (0, [None])

    def restart_worker(self, lines: str) -> None:
        self.file.write_text(lines) if lines else self.file.unlink(missing_ok=True)
        self.lab.restart("B", "connect")

    def mirror(self, **more: Any) -> dict[str, Any]:
        """Declare the flow as the playbook enable does."""
        ends = {
            end: {key: self.clusters[alias][key] for key in ("bootstrap_servers", "cluster_id")} | {"alias": alias}
            for end, alias in (("source", P), ("target", B))
        }
        settings = {"emit.heartbeats.interval.seconds": 1, "refresh.topics.interval.seconds": 1}
        params = {"connect_url": self.clusters[B]["connect_url"], "topics": [self.topic], "replication_factor": 1}
        return run_module(connect_mirror, {**ends, **params, "settings": settings, "wait_timeout": 60, **more})

    def without(self, part: str) -> dict[str, str]:
        """The connector's configuration before R38: without the settings that a worker supplies."""
        config = (self.rest.find(NAMES[part]) or pytest.fail("no connector")).config
        return {key: value for key, value in config.items() if key not in IN_FORCE[part]}

    def producer_config(self, part: str) -> dict[str, str]:
        """The values that the worker logged when the task's producer started last."""
        log = Path(self.lab.paths.part("B", "connect").log).read_text(errors="replace")
        found = [
            # Up to the first line of something else, which may be the values of a consumer.
            dict(re.findall(r"^\t(\S+) = (.*)$", block.split("\n\n")[0], re.MULTILINE))
            for block in log.split("ProducerConfig values:")
        ]
        name = f"connector-producer-{NAMES[part]}-0"
        last = [config for config in found if config.get("client.id") == name][-1:]
        return {key: config[key] for config in last for key in FLOW}

    def runs_with(self, part: str, wanted: dict[str, str]) -> None:
        waited = wait_until(lambda: self.producer_config(part), lambda found: found == wanted, Bounds(40, 0.3, 40))
        assert waited.state == wanted

    def replicated(self, text: str) -> bytes | None:
        """Produce a record on P and return the value of its copy on B."""
        replica, before = f"{P}.{self.topic}", self.ends()
        producer = Producer({"bootstrap.servers": self.clusters[P]["bootstrap_servers"]})
        producer.produce(self.topic, value=text)
        assert producer.flush(30) == 0
        assert wait_until(self.ends, lambda end: end > before, Bounds(40, 0.2, 40)).done
        ranges = log_ranges(self.kafka, {Partition(replica, 0)})
        record = last_data_records(self.kafka, ranges, "read_committed")[Partition(replica, 0)]
        return None if record is None else record.value

    def ends(self) -> int:
        replica = f"{P}.{self.topic}"
        if describe(self.kafka, [replica])[replica] is None:
            return 0
        return sum(end for _start, end in log_ranges(self.kafka, {Partition(replica, 0)}).values())

    def states(self) -> set[str | None]:
        """The states of the source connector's tasks."""
        return {task.state for task in self.rest.connectors()[NAMES["source"]].tasks}

    def problems(self) -> list[str]:
        """Why a move would be refused, as far as the flow is concerned."""
        params = {"clusters": self.clusters, "topics": [self.topic], "flows": [{"source": P, "target": B}]}
        done = run_module(dr_status_info, as_pair(params))
        assert done["rc"] == 0, done
        status = done["status"]
        journal = {"active": P, "run": None, "interrupted": False}
        found: list[str] = judge_cutover(status, journal, "cutoff", B)["problems"]
        return found


@pytest.fixture(scope="module")
def flow(lab: Lab) -> Iterator[Flow]:
    made = Flow(lab)
    try:
        made.restart_worker(WORKER_FILE)
        yield made
    finally:
        made.restart_worker("")
        made.mirror(state="absent")


def test_a_connector_without_them_gets_the_workers_settings_and_no_move_starts(flow: Flow) -> None:
    """Before R38 each connector was created like this, and readiness answered YES."""
    assert flow.mirror(state="present")["rc"] == 0
    for part in NAMES:
        # In another format, the checkpoints of a lab with groups could not be read any more.
        if part != "checkpoint":
            flow.rest.configure(NAMES[part], flow.without(part))
        flow.rest.resume(NAMES[part])
    assert flow.replicated("a record") not in (None, b"a record")  # as JSON
    flow.runs_with("source", WORKER)
    found = " ".join(flow.problems())
    for key in IN_FORCE["source"]:
        assert f'"{key}"' in found
    assert "its newest heartbeat cannot be read: The heartbeat record has version" in found
    assert "Run the playbook switchback.kafka_dr.enable" in found


def test_enable_writes_them_and_the_producer_runs_with_them(flow: Flow) -> None:
    done = flow.mirror()
    assert [change["action"] for change in done["changes"]] == ["update"] * 2
    flow.runs_with("source", FLOW)
    assert flow.replicated("unchanged") == b"unchanged"
    assert [text for text in flow.problems() if "setting" in text] == []
    assert flow.mirror()["changed"] is False


def test_a_worker_that_refuses_them_is_named(flow: Flow) -> None:
    flow.restart_worker(f"{WORKER_FILE}connector.client.config.override.policy=None\n")
    refused = flow.mirror(source_settings={"offset.lag.max": 3})
    assert refused["error"]["code"] == "overrides_refused"
    assert "producer.override.acks" in refused["msg"]
    assert "connector.client.config.override.policy=All" in refused["error"]["hint"]
    # The connector does not run with the worker's settings instead.
    states = wait_until(flow.states, lambda found: found == {"FAILED"}, Bounds(30, 0.3, 30))
    assert states.done, states.state
