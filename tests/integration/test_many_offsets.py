# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Log starts and ends of many partitions, read through a consumer: equal to those from the admin client. And the same
for the states and committed offsets of many groups, read and committed in batches.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Producer, TopicPartition

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka import groups, topics
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka
from ansible_collections.switchback.kafka_dr.plugins.modules import kafka_topic
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module

pytestmark = pytest.mark.integration
PARTITIONS = 4


@pytest.fixture
def kafka(lab: Any) -> Kafka:
    return Kafka(lab.info()["clusters"]["P"]["bootstrap_servers"], {}, 15.0)


@pytest.fixture
def topic(kafka: Kafka) -> str:
    name = f"many-{uuid.uuid4().hex[:8]}"
    item = {"name": name, "partitions": PARTITIONS}
    run_module(kafka_topic, {"bootstrap_servers": kafka.bootstrap_servers, "topics": [item]})
    return name


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the consumer for few partitions too, in batches of two."""
    monkeypatch.setattr(topics, "_ADMIN_OFFSETS", 1)
    monkeypatch.setattr(topics, "_CONSUMER_OFFSETS", 2)


def send(kafka: Kafka, topic: str, partition: int, count: int) -> None:
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers})
    for number in range(count):
        producer.produce(topic, f"{number}", partition=partition, timestamp=1000 * (number + 1))
    assert producer.flush(20) == 0


def keys(topic: str) -> set[Partition]:
    return {Partition(topic, index) for index in range(PARTITIONS)}


def test_a_consumer_returns_the_same_offsets_as_the_admin_client(
    kafka: Kafka, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for partition in range(1, PARTITIONS):
        send(kafka, topic, partition, 10 * partition)
    for future in kafka.admin.delete_records([TopicPartition(topic, 3, 5)]).values():
        future.result(15)
    few = topics.log_ranges(kafka, keys(topic))
    assert few == {(topic, 0): (0, 0), (topic, 1): (0, 10), (topic, 2): (0, 20), (topic, 3): (5, 30)}
    moments = dict.fromkeys(keys(topic), 9500)
    at = topics.offsets_at(kafka, moments)
    assert at == {(topic, 0): None, (topic, 1): 9, (topic, 2): 9, (topic, 3): 9}
    monkeypatch.setattr(topics, "_ADMIN_OFFSETS", 1)
    monkeypatch.setattr(topics, "_CONSUMER_OFFSETS", 2)
    assert topics.log_ranges(kafka, keys(topic)) == few
    assert topics.offsets_at(kafka, moments) == at


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize(("isolation", "end"), [("read_committed", 3), ("read_uncommitted", 5)])
def test_an_open_transaction_only_ends_the_log_for_read_committed(
    kafka: Kafka, topic: str, isolation: str, end: int
) -> None:
    send(kafka, topic, 0, 3)
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers, "transactional.id": uuid.uuid4().hex})
    producer.init_transactions(20)
    producer.begin_transaction()
    for value in ("a", "b"):
        producer.produce(topic, value, partition=0)
    assert producer.flush(20) == 0
    try:
        assert topics.log_ranges(kafka, keys(topic), isolation)[topic, 0] == (0, end)
    finally:
        producer.abort_transaction(20)


@pytest.mark.usefixtures("many")
def test_a_missing_partition_does_not_hide_the_others(
    kafka: Kafka, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(topics, "_OPENING", Bounds(0.5, 0.1))
    send(kafka, topic, 1, 7)
    asked = keys(topic) | {Partition(topic, PARTITIONS), Partition(f"{topic}-nix", 0)}
    known = topics.known_ranges(kafka, asked)
    assert {key for key, span in known.items() if span is None} == {(topic, PARTITIONS), (f"{topic}-nix", 0)}
    assert known[topic, 1] == (0, 7)
    with pytest.raises(
        DrError, match=rf"of 2 partitions.*{topic}-{PARTITIONS}.*error for the first one: .*No leaders found"
    ):
        topics.log_ranges(kafka, asked)


def test_a_leader_with_a_newer_epoch_is_queried_again(
    lab: Any, kafka: Kafka, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broker that was restarted leads as before, and refuses clients that only know the previous epoch."""
    send(kafka, topic, 1, 7)
    servers = kafka.bootstrap_servers
    # Both ways to ask for offsets: a consumer, and the admin client for few partitions.
    clients = {few: Kafka(servers, {}, 15.0) for few in (1, 1000)}

    def ask() -> Iterator[Kafka]:
        for few, client in clients.items():
            monkeypatch.setattr(topics, "_ADMIN_OFFSETS", few)
            yield client

    before = topics.log_ranges(kafka, keys(topic))
    for client in ask():
        assert topics.log_ranges(client, keys(topic)) == before
    lab.stop("P", "broker")
    lab.start("P", "broker")
    for client in ask():
        assert topics.offsets_at(client, {Partition(topic, 1): 6500}) == {(topic, 1): 6}
        assert topics.log_ranges(client, keys(topic)) == before
    lab.stop("P", "broker")
    lab.start("P", "broker")
    # Once it serves others, one observation is enough, without a wait.
    for client in ask():
        assert topics.log_ranges(Kafka(servers, {}, 15.0), keys(topic)) == before
        assert topics.known_ranges(client, keys(topic)) == before


def test_one_snapshot_describes_topics_once_and_reads_ends_every_time(kafka: Kafka, topic: str) -> None:
    topics.remember(kafka, [topic], ["retention.ms"])
    asked = len(kafka.requests)
    state = topics.describe(kafka, [topic], {topic: ["retention.ms"]})[topic]
    assert state is not None
    assert "retention.ms" in state.config
    assert len(kafka.requests) == asked
    assert topics.log_ranges(kafka, {Partition(topic, 0)})[topic, 0] == (0, 0)
    send(kafka, topic, 0, 2)
    assert topics.log_ranges(kafka, {Partition(topic, 0)})[topic, 0] == (0, 2)
    asks = [request["at"] for request in kafka.requests[asked:]]
    assert asks == ["latest", "latest"]
    # Except for ends that the snapshot may keep.
    kafka.seen_ends = {Partition(topic, 0): 1}
    assert topics.log_ranges(kafka, {Partition(topic, 0)})[topic, 0] == (0, 1)
    assert topics.log_ranges(kafka, {(topic, 0), (topic, 1)})[topic, 0] == (0, 2)
    # A setting that is not in the snapshot is requested.
    other = topics.describe(kafka, [topic], {topic: ["segment.ms"]})[topic]
    assert other is not None
    assert "segment.ms" in other.config


def test_groups_in_batches_have_the_same_states_and_committed_offsets(
    kafka: Kafka, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(kafka, topic, 0, 10)
    wanted = {f"{topic}-{number}": {Partition(topic, 0): number} for number in range(5)}
    monkeypatch.setattr(groups, "_BATCH", 2)
    accepted = {group: {Partition(topic, 0): None} for group in wanted}
    commits = {group: {key: groups.Committed(offset) for key, offset in wanted[group].items()} for group in wanted}
    assert groups.commit(kafka, commits) == accepted
    kafka.requests.clear()
    asked = [*wanted, f"{topic}-absent"]
    assert groups.committed_offsets(kafka, asked) == {**wanted, f"{topic}-absent": {}}
    states = {group: state.state for group, state in groups.describe(kafka, asked).items()}
    described = [row["groups"] for row in kafka.requests if row["api"] == "describe_consumer_groups"]
    assert described == [2, 2, 2]
    assert states == {**dict.fromkeys(wanted, "EMPTY"), f"{topic}-absent": "DEAD"}
    groups.delete(kafka, asked)
    assert {state.state for state in groups.describe(kafka, asked).values()} == {"DEAD"}
