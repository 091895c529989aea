# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Unusual but real values: codecs, tombstones, null keys, unusual group names and aliases, in both directions.

Each is asserted by the committed offsets that a move would set and by the records that a group reads from there.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, ConsumerGroupType, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.names import naming_of
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds, wait_until
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.records import data_records
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.topics import describe
from ansible_collections.switchback.kafka_dr.plugins.modules import (
    connect_mirror,
    dr_status_info,
    dr_translation_info,
    kafka_topic,
)
from ansible_collections.switchback.kafka_dr.tests.support.journals import journal_state
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module
from ansible_collections.switchback.kafka_dr.tests.support.pairs import as_pair
from brokers import commit, committed_offsets

pytestmark = pytest.mark.integration

P, B, SEPARATOR = "site-p", "site-b", "_"
NAMING = naming_of("default", SEPARATOR)
# No process listens there, and clients try the next address.
DEAD = {P: "127.0.0.1:1", B: "127.0.0.1:2"}
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
COUNT, READ = 12, 5
GROUPS = ["night batch", "größe-группа", "a|b", "sum*", "(old)", "new-protocol"]
Record = tuple[bytes | None, bytes | None]


def written(partition: int) -> list[Record]:
    """Key and value by turns: both, a tombstone, without a key, without either."""
    text = f"{partition}".encode()
    shapes = [(True, True), (True, False), (False, True), (False, False)]
    shaped = [shapes[number % len(shapes)] for number in range(COUNT)]
    return [
        (b"key-%d" % number if keyed else None, text + b"/%d" % number if valued else None)
        for number, (keyed, valued) in enumerate(shaped)
    ]


class LabPair:
    """A pair of its own in the lab: one topic, a partition for each codec."""

    def __init__(self, lab: Any) -> None:
        found = lab.info()["clusters"]
        self.clusters = {
            alias: {
                "bootstrap_servers": f"{DEAD[alias]},{found[name]['bootstrap_servers']}",
                "connect_url": found[name]["connect_url"],
                "cluster_id": found[name]["cluster_id"],
            }
            for alias, name in ((P, "P"), (B, "B"))
        }
        self.kafka = {alias: Kafka(self.servers(alias), {}, 15.0) for alias in self.clusters}
        run = uuid.uuid4().hex[:6]
        self.topic, self.groups = f"values-{run}", [f"{name} {run}" for name in GROUPS]

    def servers(self, alias: str) -> str:
        return str(self.clusters[alias]["bootstrap_servers"])

    def client(self, alias: str, **settings: Any) -> dict[str, Any]:
        named = {key.replace("_", "."): value for key, value in settings.items()}
        return {"bootstrap.servers": self.servers(alias), "log_level": 0, **named}

    def make(self) -> None:
        for alias in self.clusters:
            items = [{"name": self.topic, "partitions": len(CODECS)}]
            made = run_module(kafka_topic, {"bootstrap_servers": self.servers(alias), "topics": items})
            assert made["rc"] == 0, made

    def flow(self, source: str, target: str, state: str) -> None:
        ends = {
            name: {"alias": alias, **{key: self.clusters[alias][key] for key in ("bootstrap_servers", "cluster_id")}}
            for name, alias in (("source", source), ("target", target))
        }
        params = {
            **ends,
            "connect_url": self.clusters[target]["connect_url"],
            "topics": [self.topic],
            "groups": self.groups,
            "separator": SEPARATOR,
            "replication_factor": 1,
            "source_settings": {"heartbeats.replication.enabled": False},
            "parts": ["source", "checkpoint"],
            "state": state,
            "wait_timeout": 90,
            "request_timeout": 30,
        }
        result = run_module(connect_mirror, params)
        assert result["rc"] == 0, result["msg"]

    def send(self, alias: str) -> None:
        """Send one batch for each codec."""
        for partition, codec in enumerate(CODECS):
            producer = Producer(self.client(alias, compression_type=codec, linger_ms=500))
            for key, value in written(partition):
                producer.produce(self.topic, value, key, partition)
            assert producer.flush(30) == 0

    def read(self, alias: str) -> None:
        """Commit for every group that it has read ``READ`` records of each partition of the original on ``alias``."""
        admin = AdminClient(self.client(alias))
        for group in self.groups[:-1]:
            commit(admin, group, {(self.topic, index): READ for index in range(len(CODECS))})
        self.read_by_the_new_protocol(alias)

    def read_by_the_new_protocol(self, alias: str) -> None:
        group = self.groups[-1]
        settings = self.client(alias, group_id=group, group_protocol="consumer", enable_auto_commit=False)
        consumer = Consumer({**settings, "auto.offset.reset": "earliest"})
        consumer.subscribe([self.topic])
        try:
            joined = wait_until(lambda: consumer.poll(0.2) or consumer.assignment(), bool, Bounds(60, 0.05))
            assert joined.done
            places = [TopicPartition(self.topic, index, READ) for index in range(len(CODECS))]
            consumer.commit(offsets=places, asynchronous=False)
        finally:
            consumer.close()
        admin = AdminClient(self.client(alias))
        listed = admin.list_consumer_groups(request_timeout=15).result(20)
        assert {one.group_id: one.type for one in listed.valid}.get(group) == ConsumerGroupType.CONSUMER, listed

    def wait_replicated(self, source: str, target: str) -> None:
        flows = [{"source": source, "target": target}]
        params = {"clusters": self.clusters, "topics": [self.topic], "flows": flows, "separator": SEPARATOR}
        result = run_module(dr_status_info, as_pair({**params, "wait_for": "replicated", "wait_timeout": 90}))
        assert result["rc"] == 0, result["msg"]

    def wait_checkpointed(self, target: str, replica: str) -> None:
        """Wait until MirrorMaker 2's own group sync has an offset for every group."""
        admin = AdminClient(self.client(target))
        wanted = {(replica, index) for index in range(len(CODECS))}
        waited = wait_until(
            lambda: [group for group in self.groups if not wanted <= set(committed_offsets(admin, group))],
            lambda missing: not missing,
            Bounds(90, 0.5),
        )
        assert waited.done, waited.state

    def translate(self, leave: str, enter: str) -> dict[str, Any]:
        ids = {
            alias: {name: state.topic_id for name, state in describe(self.kafka[alias], names).items() if state}
            for alias, names in (
                (leave, [self.topic, NAMING.replica(enter, self.topic)]),
                (enter, [self.topic, NAMING.replica(leave, self.topic)]),
            )
        }
        params = {"clusters": self.clusters, "topics": [self.topic], "groups": self.groups, "separator": SEPARATOR}
        more = {"leave": leave, "enter": enter, "settle": 0.1, "group_lag": "refuse"}
        journal = journal_state(self.clusters, (leave, enter), topic_ids=ids)
        return run_module(dr_translation_info, as_pair({**params, **more, **journal}))

    def records(self, alias: str, topic: str, partition: int, start: int, end: int) -> list[Record]:
        read = data_records(self.kafka[alias], (topic, partition), start, end)
        return [(record.key, record.value) for record in read]


@pytest.fixture(scope="module")
def pair(lab: Any) -> Iterator[LabPair]:
    made = LabPair(lab)
    made.make()
    yield made
    for source, target in ((P, B), (B, P)):
        made.flow(source, target, "absent")


@pytest.mark.parametrize(("leave", "enter"), [(P, B), (B, P)], ids=["there", "back"])
def test_every_group_starts_at_its_next_record_for_all_values(pair: LabPair, leave: str, enter: str) -> None:
    replica = NAMING.replica(leave, pair.topic)
    pair.flow(leave, enter, "running")
    pair.send(leave)
    pair.read(leave)
    pair.wait_replicated(leave, enter)
    pair.wait_checkpointed(enter, replica)
    pair.flow(leave, enter, "stopped")

    result = pair.translate(leave, enter)
    assert result["rc"] == 0, result["msg"]
    found = {
        (row["group"], row["partition"]): (row["offset"], row["quality"], row["rereads"])
        for row in result["details"]
        if row["topic"] == replica
    }
    places = [(group, index) for group in pair.groups for index in range(len(CODECS))]
    assert found == dict.fromkeys(places, (READ, "exact", 0))
    for partition, codec in enumerate(CODECS):
        assert pair.records(enter, replica, partition, 0, COUNT) == written(partition), codec
        assert pair.records(enter, replica, partition, READ, COUNT) == written(partition)[READ:], codec
