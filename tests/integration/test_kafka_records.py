# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading ranges of records on a real cluster: markers, aborted records, open transactions, compaction, bounds."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from confluent_kafka import Producer, TopicPartition

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError, Unreachable
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds, wait_until
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka import records
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.topics import log_ranges
from ansible_collections.switchback.kafka_dr.plugins.modules import kafka_topic
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module

pytestmark = pytest.mark.integration


@pytest.fixture
def kafka(lab: Any) -> Kafka:
    return Kafka(lab.info()["clusters"]["P"]["bootstrap_servers"], {}, 15.0)


@pytest.fixture
def topic(kafka: Kafka) -> str:
    name = f"records-{uuid.uuid4().hex[:8]}"
    item = {"name": name, "partitions": 3}
    run_module(kafka_topic, {"bootstrap_servers": kafka.bootstrap_servers, "topics": [item]})
    return name


@pytest.fixture
def transactional(kafka: Kafka) -> Producer:
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers, "transactional.id": uuid.uuid4().hex})
    producer.init_transactions(20)
    return producer


def send(kafka: Kafka, topic: str, values: range, partition: int = 0) -> None:
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers})
    for value in values:
        producer.produce(topic, f"{value}", key=f"k{value}", partition=partition, headers=[("n", b"%d" % value)])
    assert producer.flush(20) == 0


def transaction(producer: Producer, topic: str, values: range, commit: bool = True) -> None:
    producer.begin_transaction()
    for value in values:
        producer.produce(topic, f"{value}", partition=0)
    if commit:
        producer.commit_transaction(20)
    else:
        producer.flush(20)
        producer.abort_transaction(20)


def stable_end(kafka: Kafka, topic: str, end: int) -> int:
    """The last stable offset, once brokers have written the markers of ended transactions."""
    observed = wait_until(
        lambda: log_ranges(kafka, {(topic, 0)})[topic, 0][1], lambda found: found >= end, Bounds(20, 0.05)
    )
    return observed.state


def offsets(found: list[records.Record]) -> list[int]:
    return [record.offset for record in found]


def test_a_range_returns_exactly_its_records(kafka: Kafka, topic: str) -> None:
    send(kafka, topic, range(20))

    found = records.data_records(kafka, (topic, 0), 5, 9)

    assert offsets(found) == [5, 6, 7, 8]
    assert (found[0].key, found[0].value, found[0].headers) == (b"k5", b"5", (("n", b"5"),))
    assert (found[0].timestamp_type, found[0].timestamp is not None) == ("CreateTime", True)


def test_an_empty_range_sends_no_request(kafka: Kafka, topic: str) -> None:
    assert records.data_records(kafka, (topic, 0), 3, 3) == []
    assert kafka.requests == []


def test_a_range_that_ends_with_markers_and_aborted_records_is_exhausted(
    kafka: Kafka, topic: str, transactional: Producer
) -> None:
    transaction(transactional, topic, range(3))  # 0 1 2, marker 3.
    transaction(transactional, topic, range(3), commit=False)  # 4 5 6 aborted, marker 7.
    end = stable_end(kafka, topic, 8)

    read = records.read_ranges(kafka, {(topic, 0): (0, end)})[topic, 0]

    assert end == 8
    assert (offsets(read.records), read.ended, read.reached) == ([0, 1, 2], records.EXHAUSTED, 8)
    assert records.has_data(kafka, {(topic, 0): (3, 8)}) == {(topic, 0): False}
    assert records.has_data(kafka, {(topic, 0): (3, 8)}, "read_uncommitted") == {(topic, 0): True}


def test_markers_in_the_middle_of_a_growing_log_do_not_hide_the_end(
    kafka: Kafka, topic: str, transactional: Producer
) -> None:
    transaction(transactional, topic, range(2))  # 0 1, marker 2
    stable_end(kafka, topic, 3)
    send(kafka, topic, range(5))  # 3 to 7

    read = records.read_ranges(kafka, {(topic, 0): (2, 3)})[topic, 0]

    assert (read.records, read.ended) == ([], records.EXHAUSTED)


def test_an_open_transaction_blocks_and_does_not_count_as_the_end(
    kafka: Kafka, topic: str, transactional: Producer
) -> None:
    send(kafka, topic, range(2))
    transactional.begin_transaction()
    transactional.produce(topic, "open", partition=0)
    transactional.flush(20)
    end = log_ranges(kafka, {(topic, 0)}, "read_uncommitted")[topic, 0][1]

    read = records.read_ranges(kafka, {(topic, 0): (0, end)})[topic, 0]

    assert (end, offsets(read.records), read.ended, read.reached) == (3, [0, 1], records.BLOCKED, 2)
    assert records.has_data(kafka, {(topic, 0): (2, 3)}) == {(topic, 0): None}
    assert log_ranges(kafka, {(topic, 0)})[topic, 0] == (0, 2)
    with pytest.raises(DrError) as refused:
        records.data_records(kafka, (topic, 0), 0, 3)
    assert refused.value.code == "read_incomplete"
    assert "open transaction" in refused.value.hint
    transactional.abort_transaction(20)


def test_a_range_below_the_log_start_is_named(kafka: Kafka, topic: str) -> None:
    send(kafka, topic, range(10))
    for future in kafka.admin.delete_records([TopicPartition(topic, 0, 6)]).values():
        future.result()

    assert records.read_ranges(kafka, {(topic, 0): (2, 9)})[topic, 0].ended == records.OUT_OF_RANGE
    assert offsets(records.data_records(kafka, (topic, 0), 6, 9)) == [6, 7, 8]


def test_many_ranges_are_read_at_once_and_each_to_its_own_bound(kafka: Kafka, topic: str) -> None:
    for partition in range(3):
        send(kafka, topic, range(50 * (partition + 1)), partition)

    reads = records.read_ranges(
        kafka, {(topic, 0): (0, 50), (topic, 1): (90, 100), (topic, 2): (7, 7)}, records.Reading(limit=20)
    )

    ends = {key[1]: (read.ended, len(read.records)) for key, read in reads.items()}
    assert ends == {0: (records.LIMIT, 20), 1: (records.EXHAUSTED, 10), 2: (records.EXHAUSTED, 0)}


def test_the_first_and_last_data_records_exclude_markers_and_aborted_records(
    kafka: Kafka, topic: str, transactional: Producer
) -> None:
    transaction(transactional, topic, range(4), commit=False)  # 0 to 3 aborted, marker 4
    send(kafka, topic, range(2))  # 5 6
    for _round in range(30):
        transaction(transactional, topic, range(20), commit=False)  # 21 offsets each
    end = stable_end(kafka, topic, 637)

    first = records.first_data_record(kafka, (topic, 0), 0, end)
    last = records.last_data_record(kafka, (topic, 0), 0, end)

    assert end == 637
    assert first is not None
    assert last is not None
    assert (first.offset, last.offset) == (5, 6)
    assert records.last_data_record(kafka, (topic, 0), 7, end) is None
    assert records.first_data_record(kafka, (topic, 0), 7, end) is None


def test_data_after_several_offsets_of_one_partition_is_found(
    kafka: Kafka, topic: str, transactional: Producer
) -> None:
    send(kafka, topic, range(5))
    transaction(transactional, topic, range(1))  # 5, marker 6
    stable_end(kafka, topic, 7)
    places = {((topic, 0), offset) for offset in (0, 5, 6, 7, 9)} | {((topic, 1), 0)}

    found = records.data_after(kafka, places, log_ranges(kafka, {(topic, 0), (topic, 1)}))

    assert {(key[1], offset): answer for (key, offset), answer in found.items()} == {
        (0, 0): True,
        (0, 5): True,
        (0, 6): False,
        (0, 7): False,
        (0, 9): None,
        (1, 0): False,
    }


def test_a_missing_topic_is_an_error_and_is_not_created(kafka: Kafka) -> None:
    name = f"missing-{uuid.uuid4().hex[:8]}"

    with pytest.raises(DrError):
        records.data_records(kafka, (name, 0), 0, 5, records.Reading(timeout=10))

    assert name not in kafka.admin.list_topics(timeout=10).topics


def test_an_unreachable_broker_ends_within_the_bound() -> None:
    unreachable = Kafka("127.0.0.1:1", {}, 2.0)

    with pytest.raises(Unreachable, match="timed out"):
        records.data_records(unreachable, ("T", 0), 0, 5, records.Reading(timeout=1.5))


@pytest.mark.parametrize("limit", [0, 1])
def test_batches_of_thousands_of_records_starve_no_partition(kafka: Kafka, limit: int) -> None:
    """A batch is fetched completely.

    A consumer that needs few records of many partitions must still reach all of them.
    """
    name, partitions, count = f"records-{uuid.uuid4().hex[:8]}", 24, 3000
    item = {"name": name, "partitions": partitions, "config": {"max.message.bytes": "5000000"}}
    run_module(kafka_topic, {"bootstrap_servers": kafka.bootstrap_servers, "topics": [item]})
    size = {"message.max.bytes": 4_500_000, "batch.size": 4_000_000, "queue.buffering.max.messages": 100_000}
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers, "linger.ms": 2000, **size})
    for _number in range(count):
        for partition in range(partitions):
            producer.produce(name, b"x" * 500, partition=partition)
    assert producer.flush(60) == 0
    wanted = {(name, partition): (count - 16, count) for partition in range(partitions)}
    found = records.read_ranges(kafka, wanted, records.Reading(limit=limit, timeout=20))
    assert {len(read.records) for read in found.values()} == {limit or 16}


def test_a_read_of_large_records_ends_by_their_size_or_keeps_digests(kafka: Kafka) -> None:
    name, size = f"records-{uuid.uuid4().hex[:8]}", 5 << 20
    item = {"name": name, "partitions": 1, "config": {"max.message.bytes": str(size + 1000)}}
    run_module(kafka_topic, {"bootstrap_servers": kafka.bootstrap_servers, "topics": [item]})
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers, "message.max.bytes": size + 1000})
    for number in range(6):
        producer.produce(name, b"%d" % (number // 2) * size, key=b"k", partition=0, headers=[("none", None)])
    assert producer.flush(60) == 0
    key = (name, 0)

    part = records.read_ranges(kafka, {key: (0, 6)}, records.Reading(most_bytes=2 * size))[key]
    assert (part.ended, part.reached, offsets(part.records), part.complete) == (records.LIMIT, 2, [0, 1], True)
    rest = records.read_ranges(kafka, {key: (part.reached, 6)}, records.Reading(most_bytes=100 * size))[key]
    assert (rest.ended, offsets(rest.records)) == (records.EXHAUSTED, [2, 3, 4, 5])

    read = records.read_ranges(kafka, {key: (0, 6)}, records.Reading(digests=True))[key]
    values = [record.value for record in read.records]
    assert max(len(value or b"") for value in values) < 100
    assert [values[number] == values[number + 1] for number in range(5)] == [True, False, True, False, True]
    last = records.last_data_record(kafka, key, 0, 6)
    assert last is not None
    assert records.digested(last) == read.records[-1]
