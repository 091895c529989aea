# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Groups that the client library cannot describe, and groups outside the inventory, on a real cluster (R41)."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest
from confluent_kafka import Consumer, ConsumerGroupState, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.flows.pair_spec import PairSpec
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.groups import members_named
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka import groups as kafka_groups
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation.pair import Pair
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation.undeclared_groups import (
    UndeclaredGroups,
    undescribed_groups,
)
from ansible_collections.switchback.kafka_dr.plugins.modules import dr_departure_info, kafka_group, kafka_topic
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module
from brokers import commit
from run_records import recorded
from streams_group import streams_member

pytestmark = pytest.mark.integration

P, B = "GP", "GB"


def left(offsets: dict[str, Any]) -> AbstractContextManager[str]:
    """The record of a move from P, with the committed offsets at its barrier."""
    return recorded({"barrier": {"barrier": {"committed_offsets": offsets}}}, source=P, target=B)


class LabPair:
    """A topic of a pair and one outside of it, on both clusters of the lab."""

    def __init__(self, lab: Any) -> None:
        found = lab.info()["clusters"]
        self.clusters = {
            alias: {key: found[name][key] for key in ("bootstrap_servers", "connect_url", "cluster_id")}
            for alias, name in ((P, "P"), (B, "B"))
        }
        self.servers = str(self.clusters[P]["bootstrap_servers"])
        self.kafka = Kafka(self.servers, {}, 15.0)
        self.admin = AdminClient({"bootstrap.servers": self.servers, "log_level": 0})
        run = uuid.uuid4().hex[:6]
        self.topic, self.other = f"types-{run}", f"others-{run}"
        self.moved, self.streams, self.reader, self.elsewhere = (
            f"types-{name}-{run}" for name in ("moved", "streams", "reader", "elsewhere")
        )
        self.option: dict[str, Any] = {"clusters": self.clusters, "topics": [self.topic], "groups": [self.moved]}
        items = [{"name": name, "partitions": 1} for name in (self.topic, self.other)]
        for alias in self.clusters:
            servers = self.clusters[alias]["bootstrap_servers"]
            assert run_module(kafka_topic, {"bootstrap_servers": servers, "topics": items})["rc"] == 0
        producer = Producer({"bootstrap.servers": self.servers})
        for number in range(20):
            for name in (self.topic, self.other):
                producer.produce(name, str(number))
        assert producer.flush(20) == 0

    def undeclared(self, **more: Any) -> dict[str, dict[str, Any]]:
        """What both looks of a preflight show, of the groups of this test."""
        pair = Pair(PairSpec.of({**self.option, **more}), [(P, B), (B, P)])
        rows = [row.as_dict() for row in UndeclaredGroups(pair, P).again()]
        return {row["group"]: row for row in rows if row["group"].startswith("types-")}

    def departure(self, group_sync: str = "stopped", committed: int = 7, **pair: Any) -> tuple[str, str]:
        before = {self.moved: {self.topic: {"0": committed}}}
        options: dict[str, Any] = {"pair": {**self.option, **pair}, "group_sync": group_sync}
        with left(before) as record:
            found = run_module(dr_departure_info, {**options, "record": record})["departure"]
        return found["verdict"], found["reason"]


@pytest.fixture(scope="module")
def pair(lab: Any) -> LabPair:
    return LabPair(lab)


@contextmanager
def member(pair: LabPair, group: str, topic: str) -> Iterator[Consumer]:
    """A member of a classic group that has its assignment."""
    options = {"bootstrap.servers": pair.servers, "group.id": group, "client.id": "visitor", "log_level": 0}
    consumer = Consumer({**options, "auto.offset.reset": "earliest", "enable.auto.commit": False})
    consumer.subscribe([topic])
    try:
        while not consumer.assignment():
            consumer.poll(0.1)
        yield consumer
    finally:
        consumer.close()


def test_a_streams_group_is_never_taken_for_absent(pair: LabPair) -> None:
    """Observed: "DEAD, 4 of 4 partitions have a committed offset". The move completed, and it went on committing."""
    with streams_member(pair.servers, pair.streams, pair.topic):
        described = pair.admin.describe_consumer_groups([pair.streams])[pair.streams].result(15)
        assert described.state == ConsumerGroupState.DEAD  # the library's answer
        states, commits = kafka_groups.read(pair.kafka, [pair.streams, "types-nothing"])
        assert (states[pair.streams].state, states[pair.streams].active) == ("UNDESCRIBED", True)
        assert members_named(states[pair.streams]) == "members unknown: not a classic or consumer group"
        assert commits[pair.streams]
        assert (states["types-nothing"].state, states["types-nothing"].active) == ("DEAD", False)
        assert pair.streams in kafka_groups.names(pair.kafka)
        wanted = [{"group": pair.streams, "committed_offsets": [{"topic": pair.topic, "partition": 0, "offset": 3}]}]
        options = {"bootstrap_servers": pair.servers, "groups": wanted, "lower": "lower"}
        result = run_module(kafka_group, options)
        assert result["error"]["code"] == "group_undescribed"
    # Without its member nothing else is known of it.
    assert kafka_groups.describe(pair.kafka, [pair.streams])[pair.streams].active


def test_a_streams_group_outside_the_inventory_is_named(pair: LabPair) -> None:
    commit(pair.admin, pair.elsewhere, {(pair.other, 0): 5})
    with streams_member(pair.servers, pair.streams, pair.topic):
        found = pair.undeclared()
        assert set(found) == {pair.streams}
        assert (found[pair.streams]["state"], found[pair.streams]["at_work"]) == ("UNDESCRIBED", True)
        assert found[pair.streams]["topics"] == [pair.topic]
        assert pair.undeclared(accept_undeclared=[pair.streams])[pair.streams]["declared_as"] == "accepted"
        rows = undescribed_groups(Pair(PairSpec.of(pair.option), [(P, B), (B, P)]), P)
        assert pair.streams in [row.group for row in rows]


def test_readers_of_topics_of_the_pair_are_seen_by_members_and_by_commits(pair: LabPair) -> None:
    with member(pair, pair.reader, pair.topic), member(pair, pair.elsewhere, pair.other):
        found = pair.undeclared()
        assert pair.elsewhere not in found
        assert (found[pair.reader]["at_work"], found[pair.reader]["topics"]) == (True, [pair.topic])
        assert found[pair.reader]["members"].startswith("visitor on ")
    commit(pair.admin, pair.reader, {(pair.topic, 0): 5})
    assert pair.undeclared()[pair.reader]["at_work"] is False
    # A reader with assign() is no member. It commits every few seconds.
    stop = threading.Event()

    def read() -> None:
        options = {"bootstrap.servers": pair.servers, "group.id": pair.reader, "enable.auto.commit": False}
        consumer = Consumer(options)
        consumer.assign([TopicPartition(pair.topic, 0, 0)])
        offset = 5
        while not stop.wait(1):
            offset += 1
            consumer.commit(offsets=[TopicPartition(pair.topic, 0, offset)], asynchronous=False)
        consumer.close()

    reader = threading.Thread(target=read)
    reader.start()
    try:
        found = pair.undeclared()[pair.reader]
        assert (found["state"], found["commits_changed"], found["at_work"]) == ("EMPTY", True, True)
    finally:
        stop.set()
        reader.join()


def test_a_group_that_comes_back_on_the_cluster_that_was_left_is_found(pair: LabPair) -> None:
    """Observed: an instance restarted on P after the point of no return and processed 100 of 100 records again."""
    commit(pair.admin, pair.moved, {(pair.topic, 0): 7})
    assert pair.departure()[0] == "PROVEN"
    assert pair.departure(committed=6)[0] == "REFUTED"
    # Group sync toward P commits on the replicas of B's originals: with the policy identity, on every topic.
    assert pair.departure(group_sync="unknown", committed=6)[0] == "REFUTED"
    verdict, reason = pair.departure(group_sync="unknown", committed=6, policy="identity")
    assert (verdict, f'"{pair.moved}" (its offsets changed on {pair.topic}, ' in reason) == ("UNKNOWN", True)
    assert pair.departure(group_sync="unknown", policy="identity")[0] == "PROVEN"
    with member(pair, pair.moved, pair.topic):
        verdict, reason = pair.departure(group_sync="unknown", policy="identity")
        assert verdict == "REFUTED"
        assert f'"{pair.moved}" has members (visitor on ' in reason
    lost = {**pair.option, "clusters": {**pair.clusters, P: {**pair.clusters[P], "bootstrap_servers": "127.0.0.1:1"}}}
    options = {"pair": lost, "group_sync": "unknown", "request_timeout": 3}
    with left({}) as record:
        assert run_module(dr_departure_info, {**options, "record": record})["departure"]["verdict"] == "UNKNOWN"
