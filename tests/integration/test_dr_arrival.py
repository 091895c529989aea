# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""dr_arrival_info on a real cluster: first writes are read back, topics may be idle, and committed offsets may fall
back.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.journal.events import (
    Event,
    encode,
)
from ansible_collections.switchback.kafka_dr.plugins.modules import dr_arrival_info, kafka_topic
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module
from brokers import commit
from run_records import recorded

pytestmark = pytest.mark.integration

Look = Callable[..., dict[str, Any]]


@pytest.fixture
def servers(lab: Any) -> str:
    return str(lab.info()["clusters"]["B"]["bootstrap_servers"])


@pytest.fixture
def topic(servers: str) -> str:
    name = f"arrival-{uuid.uuid4().hex[:8]}"
    run_module(kafka_topic, {"bootstrap_servers": servers, "topics": [{"name": name, "partitions": 2}]})
    return name


@pytest.fixture
def group() -> str:
    return f"arrival-{uuid.uuid4().hex[:8]}"


@pytest.fixture
def observe(servers: str, topic: str) -> Look:
    def run(
        cut: Any = None,
        committed_offsets: Any = (),
        bootstrap_servers: str = "",
        expected_cluster_id: str = "",
        groups: Any = (),
        **params: Any,
    ) -> dict[str, Any]:
        facts = {"cut": {topic: {"0": 5, "1": 0}} if cut is None else cut, "entered": list(committed_offsets)}
        cluster = {"bootstrap_servers": bootstrap_servers or servers, "cluster_id": expected_cluster_id or None}
        pair = {"clusters": {"B": cluster}, "topics": [topic], "journal_topic": journal(servers, facts)}
        return arrival({**pair, "groups": list(groups)}, **params)

    return run


def arrival(pair: dict[str, Any], **params: Any) -> dict[str, Any]:
    """What the module finds in a run from P to B."""
    with recorded() as record:
        return run_module(dr_arrival_info, {"pair": pair, "record": record, "wait_timeout": 20, **params})


def journal(servers: str, barrier: dict[str, Any] | None) -> str:
    """A journal whose run has the barrier, if one is given."""
    name = f"arrival-journal-{uuid.uuid4().hex[:8]}-internal"
    assert (
        run_module(kafka_topic, {"bootstrap_servers": servers, "topics": [{"name": name, "partitions": 1}]})["rc"] == 0
    )
    began = Event(1, 0, "run", "started", time.time(), {"type": "cutoff", "from": "P", "to": "B"})
    put_up = Event(1, 1, "run", "phase", time.time(), {"phase": "barrier", "facts": barrier})
    producer = Producer({"bootstrap.servers": servers})
    for event in [began, put_up] if barrier is not None else [began]:
        producer.produce(name, encode("B", event), partition=0)
    assert producer.flush(20) == 0
    return name


def send(servers: str, topic: str, partition: int, count: int) -> None:
    producer = Producer({"bootstrap.servers": servers})
    for number in range(count):
        producer.produce(topic, f"{number}", partition=partition)
    assert producer.flush(20) == 0


def wanted(group: str, topic: str, offset: int) -> dict[str, Any]:
    committed_offset = {"topic": topic, "partition": 0, "offset": offset}
    return {"groups": [group], "committed_offsets": [{"group": group, "committed_offsets": [committed_offset]}]}


@contextmanager
def member(servers: str, group: str, topic: str) -> Iterator[None]:
    """A member of the group that polls and never commits."""
    options = {"group.id": group, "enable.auto.commit": False, "auto.offset.reset": "error"}
    consumer = Consumer({"bootstrap.servers": servers, **options})
    consumer.subscribe([topic])
    over = threading.Event()

    def poll() -> None:
        while not over.is_set():
            consumer.poll(0.1)

    thread = threading.Thread(target=poll)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        consumer.close()


# ---- first writes


def test_a_record_after_the_cut_is_read_back_and_proves_the_first_write(
    observe: Look, servers: str, topic: str
) -> None:
    send(servers, topic, 0, 6)
    result = observe()
    assert (result["rc"], result["changed"], result["first_write"]["verdict"]) == (0, False, "PROVEN")
    first = result["first_records"][topic]
    assert (first["partition"], first["offset"]) == (0, 5)


def test_the_first_write_is_waited_for(observe: Look, servers: str, topic: str) -> None:
    writing = threading.Timer(1.0, send, (servers, topic, 1, 1))
    writing.start()
    result = observe()
    writing.join()
    assert result["first_write"]["verdict"] == "PROVEN"
    assert result["first_records"][topic] == {**result["first_records"][topic], "partition": 1, "offset": 0}


def test_an_idle_topic_is_unknown_at_the_bound_and_not_a_failure(observe: Look, servers: str, topic: str) -> None:
    """R21: without a write there is no evidence."""
    send(servers, topic, 0, 5)  # All records are before the cut.
    began = time.monotonic()
    result = observe(wait_timeout=1.5)
    assert (result["rc"], result["first_write"]["verdict"], result["first_records"]) == (0, "UNKNOWN", {})
    assert topic in result["first_write"]["reason"]
    assert time.monotonic() - began < 60


def test_an_uncommitted_record_is_no_first_write(observe: Look, servers: str, topic: str) -> None:
    """R5 and R21: an acknowledged record in an open transaction may still be aborted."""
    producer = Producer({"bootstrap.servers": servers, "transactional.id": uuid.uuid4().hex})
    producer.init_transactions(20)
    producer.begin_transaction()
    producer.produce(topic, "open", partition=1)
    producer.flush(20)
    try:
        assert observe(wait_timeout=1)["first_write"]["verdict"] == "UNKNOWN"
    finally:
        producer.abort_transaction(20)
    # The aborted record and its marker come after the cut, but no consumer receives them.
    assert observe(wait_timeout=1)["first_write"]["verdict"] == "UNKNOWN"


def test_a_cut_below_the_log_start_is_read_from_the_log_start(observe: Look, servers: str, topic: str) -> None:
    send(servers, topic, 0, 9)
    admin = AdminClient({"bootstrap.servers": servers})
    for future in admin.delete_records([TopicPartition(topic, 0, 7)]).values():
        future.result()
    result = observe()
    assert (result["rc"], result["first_records"][topic]["offset"]) == (0, 7)


# ---- groups


def test_a_group_with_members_at_its_committed_offset_is_proven(
    observe: Look, servers: str, topic: str, group: str
) -> None:
    send(servers, topic, 0, 6)
    commit(AdminClient({"bootstrap.servers": servers}), group, {(topic, 0): 5})
    with member(servers, group, topic):
        result = observe(**wanted(group, topic, 5))
    assert (result["rc"], result["groups"]["verdict"]) == (0, "PROVEN")


def test_a_group_without_members_is_unknown_and_named(observe: Look, servers: str, topic: str, group: str) -> None:
    """R21: a committed offset without members is no evidence that the group works."""
    send(servers, topic, 0, 6)
    commit(AdminClient({"bootstrap.servers": servers}), group, {(topic, 0): 5})
    result = observe(**wanted(group, topic, 5), wait_timeout=1)
    assert (result["rc"], result["groups"]["verdict"]) == (0, "UNKNOWN")
    assert group in result["groups"]["reason"]
    assert result["first_write"]["verdict"] == "PROVEN"  # One group does not affect the other.


@pytest.fixture
def replica(servers: str, topic: str) -> str:
    """The mirrored topic, with 8 records."""
    run_module(kafka_topic, {"bootstrap_servers": servers, "topics": [{"name": f"P.{topic}", "partitions": 2}]})
    send(servers, f"P.{topic}", 1, 8)
    return f"P.{topic}"


def two_topics(group: str, topic: str, replica: str) -> dict[str, Any]:
    rows = [(topic, 0, 5), (topic, 1, 0), (replica, 0, 0), (replica, 1, 0)]
    offsets = [{"topic": name, "partition": number, "offset": offset} for name, number, offset in rows]
    return {"groups": [group], "committed_offsets": [{"group": group, "committed_offsets": offsets}]}


def start_group(servers: str, group: str, topic: str, replica: str) -> None:
    starts = {(topic, 0): 5, (topic, 1): 0, (replica, 0): 0, (replica, 1): 0}
    commit(AdminClient({"bootstrap.servers": servers}), group, starts)


def test_a_topic_that_no_member_reads_is_unknown_and_named(
    observe: Look, servers: str, topic: str, replica: str, group: str
) -> None:
    """R40: the consumers subscribe to the original only, and nothing reads the rest of the replica."""
    send(servers, topic, 0, 6)
    start_group(servers, group, topic, replica)
    with member(servers, group, topic):
        result = observe(**two_topics(group, topic, replica), wait_timeout=6)
    assert (result["rc"], result["groups"]["verdict"]) == (0, "UNKNOWN")
    assert f'"{group}" is assigned {replica} (2 partitions, 8 offsets unread)' in result["groups"]["reason"]
    assert result["first_write"]["verdict"] == "PROVEN"


def test_an_assignment_that_is_not_complete_yet_is_waited_for(
    observe: Look, servers: str, topic: str, replica: str, group: str
) -> None:
    send(servers, topic, 0, 6)
    start_group(servers, group, topic, replica)
    over = threading.Event()

    def follow() -> None:
        time.sleep(2.0)
        with member(servers, group, replica):
            over.wait(60)

    second = threading.Thread(target=follow)
    with member(servers, group, topic):
        second.start()
        try:
            result = observe(**two_topics(group, topic, replica), wait_timeout=40)
        finally:
            over.set()
            second.join()
    assert (result["rc"], result["groups"]["verdict"]) == (0, "PROVEN"), result["groups"]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (3, "has the committed offset 3, expected 5 or higher"),
        (60, "committed offset 60"),
        (None, "committed offset none"),
    ],
)
def test_an_offset_that_fell_back_or_left_the_log_is_refuted(
    observe: Look, servers: str, topic: str, group: str, found: int | None, expected: str
) -> None:
    """R8: after the start too, the offset is within the log and not below the committed one."""
    send(servers, topic, 0, 6)
    if found is not None:
        commit(AdminClient({"bootstrap.servers": servers}), group, {(topic, 0): found})
    result = observe(**wanted(group, topic, 5), wait_timeout=1)
    assert (result["rc"], result["groups"]["verdict"], result["error"]["code"]) == (1, "REFUTED", "offset_wrong")
    assert expected in result["msg"]
    assert f"{topic}-0" in result["msg"]


def test_an_offset_below_the_log_start_is_refuted(observe: Look, servers: str, topic: str, group: str) -> None:
    """R8: auto.offset.reset would decide."""
    send(servers, topic, 0, 9)
    commit(AdminClient({"bootstrap.servers": servers}), group, {(topic, 0): 5})
    admin = AdminClient({"bootstrap.servers": servers})
    for future in admin.delete_records([TopicPartition(topic, 0, 7)]).values():
        future.result()
    result = observe(**wanted(group, topic, 5), wait_timeout=1)
    assert result["error"]["code"] == "offset_wrong"
    assert "within the log [7, 9]" in result["msg"]


def test_another_cluster_than_expected_is_refused(observe: Look) -> None:
    assert observe(expected_cluster_id="somewhere-else")["error"]["code"] == "wrong_cluster"


def test_a_broker_that_is_down_is_reported_within_the_bound(observe: Look) -> None:
    result = observe(bootstrap_servers="127.0.0.1:1", request_timeout=2)
    assert (result["error"]["code"], result["error"]["endpoint"]) == ("kafka_unreachable", "127.0.0.1:1")


def test_without_groups_and_topics_nothing_is_proven(observe: Look) -> None:
    """R18: a missing observation is not evidence."""
    result = observe(cut={}, groups=[])
    assert (result["rc"], result["first_write"]["verdict"], result["groups"]["verdict"]) == (
        0,
        "UNKNOWN",
        "NOT_APPLICABLE",
    )


def test_a_journal_without_the_barrier_is_refused(servers: str, topic: str) -> None:
    """Without the cut, the module would not wait for any write."""
    pair = {
        "clusters": {"B": {"bootstrap_servers": servers}},
        "topics": [topic],
        "journal_topic": journal(servers, None),
    }
    refused = arrival(pair)
    assert (refused["rc"], refused["error"]["code"]) == (1, "journal_incomplete")
    assert "no barrier" in refused["msg"]
