# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""dr_flow_start on real workers: a flow starts only from stored offsets that fit a replica with records (R33)."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Producer

from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.offsets import (
    replicated_offsets,
    set_offsets,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.rest import ConnectClient
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.names import connector_name
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds, wait_until
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.topics import describe, log_ranges
from ansible_collections.switchback.kafka_dr.plugins.modules import connect_mirror, dr_adopt, dr_flow_start, kafka_topic
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module
from ansible_collections.switchback.kafka_dr.tests.support.pairs import as_pair

pytestmark = pytest.mark.integration

P, B = "GP", "GB"
FLOW = {"source": P, "target": B}
SOURCE = connector_name(P, B, "source")
PARTITIONS, RECORDS = 3, 60


class LabPair:
    """One topic that a connector of another name has replicated. That connector has been stopped."""

    def __init__(self, lab: Any) -> None:
        found = lab.info()["clusters"]
        self.clusters = {
            alias: {key: found[name][key] for key in ("bootstrap_servers", "connect_url", "cluster_id")}
            for alias, name in ((P, "P"), (B, "B"))
        }
        self.rest = ConnectClient(str(self.clusters[B]["connect_url"]), {}, 15.0)
        self.kafka = {alias: Kafka(str(one["bootstrap_servers"]), {}, 15.0) for alias, one in self.clusters.items()}
        self.topic = f"start-{uuid.uuid4().hex[:8]}"
        self.replica = f"{P}.{self.topic}"
        self.legacy = f"legacy-{self.topic}"

    def fill(self) -> dict[tuple[str, int], int]:
        """Replicate the topic with the other connector, stop that, and return its stored offsets."""
        servers = str(self.clusters[P]["bootstrap_servers"])
        items = [{"name": self.topic, "partitions": PARTITIONS}]
        assert run_module(kafka_topic, {"bootstrap_servers": servers, "topics": items})["rc"] == 0
        producer = Producer({"bootstrap.servers": servers})
        for number in range(RECORDS):
            producer.produce(self.topic, value=f"{number}", partition=number % PARTITIONS)
        assert producer.flush(30) == 0
        self.rest.create(self.legacy, self.config(), "RUNNING")
        self.await_replica(RECORDS)
        self.rest.stop(self.legacy)
        stopped = wait_until(
            lambda: self.rest.connectors()[self.legacy].stopped, lambda found: found, Bounds(30, 0.2, 30)
        )
        assert stopped.done
        # It also replicates heartbeats if another test of the same lab left some.
        return {key: at for key, at in replicated_offsets(self.rest, self.legacy, P).items() if key[0] == self.topic}

    def config(self) -> dict[str, str]:
        """The configuration of the other connector."""
        servers = str(self.clusters[P]["bootstrap_servers"])
        return {
            "connector.class": "MirrorSourceConnector",
            "source.cluster.alias": P,
            "target.cluster.alias": B,
            "source.cluster.bootstrap.servers": servers,
            "target.cluster.bootstrap.servers": str(self.clusters[B]["bootstrap_servers"]),
            "topics": self.topic,
            "replication.factor": "1",
            "offset-syncs.topic.replication.factor": "1",
            **{f"{part}.converter": CONVERTER for part in ("key", "value", "header")},
        }

    def await_replica(self, records: int) -> None:
        waited = wait_until(self.replicated, lambda found: found >= records, Bounds(60, 0.3, 60))
        assert waited.state == records

    def replicated(self) -> int:
        """The number of records in the replica."""
        if describe(self.kafka[B], [self.replica])[self.replica] is None:
            return 0
        spans = log_ranges(self.kafka[B], {(self.replica, index) for index in range(PARTITIONS)})
        return sum(end - start for start, end in spans.values())

    def connector(self, state: str) -> dict[str, Any]:
        ends = {
            end: {key: self.clusters[alias][key] for key in ("bootstrap_servers", "cluster_id")} | {"alias": alias}
            for end, alias in FLOW.items()
        }
        params = {
            **ends,
            "connect_url": self.clusters[B]["connect_url"],
            "topics": [self.topic],
            "replication_factor": 1,
            "parts": ["source"],
            "state": state,
            "wait_timeout": 60,
        }
        return run_module(connect_mirror, params)

    def start(self, check: bool = False, **more: Any) -> dict[str, Any]:
        """The result of the module before a connector is created."""
        params = {"clusters": self.clusters, "topics": [self.topic], "flows": [FLOW]}
        return run_module(dr_flow_start, as_pair({**params, **more}), check=check)

    def refused(self, *texts: str, **more: Any) -> None:
        for check in (True, False):
            found = self.start(check, **more)
            assert found["error"]["code"] == "offsets_do_not_fit", found
            for text in (f"{PARTITIONS} partitions", *texts):
                assert text in found["msg"]


CONVERTER = "org.apache.kafka.connect.converters.ByteArrayConverter"


@pytest.fixture(scope="module")
def pair(lab: Any) -> Iterator[tuple[LabPair, dict[tuple[str, int], int]]]:
    made = LabPair(lab)
    try:
        yield made, made.fill()
    finally:
        for name in (made.legacy, SOURCE):
            if made.rest.find(name) is not None:
                made.rest.delete(name)


def test_a_replica_that_another_connector_filled_is_refused(pair: tuple[LabPair, dict[tuple[str, int], int]]) -> None:
    """The refusal comes before anything is created, in check mode too. The other connector is named while it exists."""
    one, stored = pair
    assert stored == {(one.topic, index): RECORDS // PARTITIONS - 1 for index in range(PARTITIONS)}
    one.refused(
        f'the replica "{one.replica}" ends at 20', "no connector of this pair", one.legacy, "No source connector"
    )
    one.rest.delete(one.legacy)
    one.refused("no connector of this pair has written it", "kafka_dr_adopt")
    assert one.connector("present")["rc"] == 0
    one.refused("the connector has no stored offset")
    found = one.start(forget=True)
    assert "No source connector was started" in found["error"]["hint"]


def test_stored_offsets_of_other_records_are_refused(pair: tuple[LabPair, dict[tuple[str, int], int]]) -> None:
    one, stored = pair
    assert one.connector("present")["rc"] == 0
    set_offsets(one.rest, SOURCE, P, {key: at - 1 for key, at in stored.items()})
    one.refused("with another record than the one at the stored offset 18")
    set_offsets(one.rest, SOURCE, P, {key: at + 1 for key, at in stored.items()})
    one.refused("the stored offset is 20, the source ends at 20")


def test_stored_offsets_that_fit_are_accepted(pair: tuple[LabPair, dict[tuple[str, int], int]]) -> None:
    """They survive the deletion of the connector, and are then read from the workers' topic."""
    one, stored = pair
    assert one.connector("present")["rc"] == 0
    set_offsets(one.rest, SOURCE, P, stored)
    assert (one.start()["rc"], one.start(check=True)["unseen"]) == (0, [])
    assert one.start(forget=True)["rc"] == 0
    assert one.connector("absent")["rc"] == 0
    assert (one.start()["rc"], one.start()["unseen"]) == (0, [])
    assert one.connector("running")["rc"] == 0
    producer = Producer({"bootstrap.servers": str(one.clusters[P]["bootstrap_servers"])})
    for index in range(PARTITIONS):
        producer.produce(one.topic, value="more", partition=index)
    assert producer.flush(30) == 0
    one.await_replica(RECORDS + PARTITIONS)
    # While it runs, Kafka Connect may not have stored its current offset yet.
    assert one.start()["rc"] == 0


# ---- adoption


def adoption(one: LabPair, **spec: Any) -> dict[str, Any]:
    """The adoption options as the inventory completes them."""
    given = {
        "connectors": {"source": one.legacy},
        "connect_url": one.clusters[B]["connect_url"],
        "connect_client": {},
        "offsets_topic": None,
        "group": f"{P}-mm2",
        "leave_topics": [],
    }
    return {**given, **spec}


def own_offsets(one: LabPair) -> dict[tuple[str, int], int]:
    """The stored offsets of our connector for this topic. The connector is shared by all tests."""
    return {key: at for key, at in replicated_offsets(one.rest, SOURCE, P).items() if key[0] == one.topic}


def adopted(one: LabPair, check: bool = False, apply: bool = True, **spec: Any) -> dict[str, Any]:
    adopt = {f"{P}->{B}": adoption(one, **spec)}
    params = {"clusters": one.clusters, "topics": [one.topic], "flows": [FLOW], "adopt": adopt, "apply": apply}
    return run_module(dr_adopt, as_pair(params), check=check)


@pytest.fixture
def fresh(lab: Any) -> Iterator[tuple[LabPair, dict[tuple[str, int], int]]]:
    """A replica that another connector has filled, and our connector without stored offsets."""
    made = LabPair(lab)
    try:
        if made.rest.find(SOURCE) is not None:
            made.rest.delete(SOURCE)
        stored = made.fill()
        made.rest.resume(made.legacy)
        assert made.connector("present")["rc"] == 0
        yield made, stored
    finally:
        for name in (made.legacy, SOURCE):
            if made.rest.find(name) is not None:
                made.rest.delete(name)


def test_offsets_are_adopted_once(fresh: tuple[LabPair, dict[tuple[str, int], int]]) -> None:
    one, stored = fresh
    observed = adopted(one, apply=False)
    assert (observed["pending"], observed["changed"]) == ([f"{P}->{B}"], False)
    planned = adopted(one, check=True, apply=False)
    assert planned["changed"]
    assert [change["action"] for change in planned["changes"]] == ["stop", "update"]
    assert one.rest.connectors()[one.legacy].state == "RUNNING"
    done = adopted(one)
    assert done["rc"] == 0, done
    assert one.rest.connectors()[one.legacy].stopped
    assert own_offsets(one) == stored
    assert done["adopted"][f"{P}->{B}"]["offsets"][one.topic] == {"0": 19, "1": 19, "2": 19}
    # A run that was killed after that and starts again.
    again = adopted(one)
    assert (again["rc"], again["changed"], again["pending"]) == (0, False, [])
    assert one.connector("running")["rc"] == 0
    producer = Producer({"bootstrap.servers": str(one.clusters[P]["bootstrap_servers"])})
    producer.produce(one.topic, value="more", partition=0)
    assert producer.flush(30) == 0
    one.await_replica(RECORDS + 1)
    assert (adopted(one)["changed"], one.replicated()) == (False, RECORDS + 1)


def test_offsets_of_other_records_are_not_adopted(fresh: tuple[LabPair, dict[tuple[str, int], int]]) -> None:
    """Another connector wrote into the replica: the old one runs again, and ours has no stored offsets."""
    one, _stored = fresh
    producer = Producer({"bootstrap.servers": str(one.clusters[B]["bootstrap_servers"])})
    producer.produce(one.replica, value="foreign_writes", partition=1)
    assert producer.flush(30) == 0
    refused = adopted(one)
    assert refused["error"]["code"] == "adoption_refused"
    assert f"{one.topic}-1" in refused["msg"]
    assert f"{one.topic}-0" not in refused["msg"]
    assert f"{one.legacy} run again" in refused["error"]["hint"]
    back = wait_until(lambda: one.rest.connectors()[one.legacy].running, lambda found: found, Bounds(30, 0.2, 30))
    assert back.done
    assert own_offsets(one) == {}
    one.rest.stop(one.legacy)
    wait_until(lambda: one.rest.connectors()[one.legacy].stopped, lambda found: found, Bounds(30, 0.2, 30))
    # It is already stopped, so the refusal comes before the first change.
    before = adopted(one, apply=False)
    assert (before["error"]["code"], before["error"]["hint"].split(".")[0]) == (
        "adoption_refused",
        "No connector was touched",
    )


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ({"connectors": {"source": "unknown"}}, 'the connector "unknown"'),
        ({"connectors": {"source": "LEGACY", "checkpoint": "LEGACY"}}, 'wanted "MirrorCheckpointConnector"'),
        ({"connect_url": "P"}, "belongs to the cluster"),
    ],
)
def test_a_connector_that_does_not_run_the_flow_is_not_adopted(
    pair: tuple[LabPair, dict[tuple[str, int], int]], spec: dict[str, Any], text: str
) -> None:
    one, _stored = pair
    if one.rest.find(one.legacy) is None:
        one.rest.create(one.legacy, one.config(), "STOPPED")
    named = {part: one.legacy if name == "LEGACY" else name for part, name in spec.get("connectors", {}).items()}
    url = {"connect_url": one.clusters[P]["connect_url"]} if "connect_url" in spec else {}
    found = adopted(one, apply=False, **({"connectors": named} if named else {}), **url)
    assert found["error"]["code"] == "adoption_refused", found
    if "connect_url" not in spec:
        assert text in found["msg"]


def test_a_dedicated_mirrormaker_is_adopted_only_after_it_has_ended(
    fresh: tuple[LabPair, dict[tuple[str, int], int]],
) -> None:
    """The offsets topic of its workers has the format of a real one (test_many_offsets reads those)."""
    one, stored = fresh
    one.rest.delete(one.legacy)
    topic = f"mm2-offsets-{one.topic}.internal"
    servers = str(one.clusters[B]["bootstrap_servers"])
    items = [{"name": topic, "partitions": 1, "config": {"cleanup.policy": "compact"}}]
    assert run_module(kafka_topic, {"bootstrap_servers": servers, "topics": items})["rc"] == 0
    producer = Producer({"bootstrap.servers": servers})
    for (name, index), at in stored.items():
        key = ["MirrorSourceConnector", {"cluster": P, "partition": index, "topic": name}]
        producer.produce(topic, key=json.dumps(key, separators=(",", ":")), value=json.dumps({"offset": at}))
    assert producer.flush(30) == 0
    # The group of the lab's own workers represents that of a running MirrorMaker 2.
    running = adopted(one, connectors={}, offsets_topic=topic, group="connect-B")
    assert running["error"]["code"] == "adoption_running", running
    assert "No connector was touched" in running["error"]["hint"]
    done = adopted(one, connectors={}, offsets_topic=topic)
    assert done["rc"] == 0, done
    assert own_offsets(one) == stored
    assert done["adopted"][f"{P}->{B}"]["offsets_topic"] == topic
