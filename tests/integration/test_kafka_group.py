# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kafka_group and kafka_group_info on a real cluster: commit, repeat, check, diff, refuse, wait."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds, wait_until
from ansible_collections.switchback.kafka_dr.plugins.modules import kafka_group, kafka_group_info, kafka_topic
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module
from brokers import commit as commit_by_hand

pytestmark = pytest.mark.integration

Run = Callable[..., dict[str, Any]]
RECORDS = 10


@pytest.fixture
def cluster(lab: Any) -> dict[str, Any]:
    found: dict[str, Any] = lab.info()["clusters"]["P"]
    return found


@pytest.fixture
def servers(cluster: dict[str, Any]) -> str:
    return str(cluster["bootstrap_servers"])


@pytest.fixture
def topic(servers: str) -> str:
    """A topic with two partitions of ten records each."""
    name = f"group-{uuid.uuid4().hex[:8]}"
    run_module(kafka_topic, {"bootstrap_servers": servers, "topics": [{"name": name, "partitions": 2}]})
    producer = Producer({"bootstrap.servers": servers})
    for number in range(RECORDS):
        for partition in range(2):
            producer.produce(name, f"{number}", partition=partition)
    assert producer.flush(20) == 0
    return name


@pytest.fixture
def group() -> str:
    return f"g-{uuid.uuid4().hex[:8]}"


@pytest.fixture
def commit(cluster: dict[str, Any], servers: str) -> Run:
    def run(groups: dict[str, list[tuple[str, int, int]]], check: bool = False, **params: Any) -> dict[str, Any]:
        items = [
            {
                "group": name,
                "committed_offsets": [{"topic": t, "partition": p, "offset": o} for t, p, o in committed_offsets],
            }
            for name, committed_offsets in groups.items()
        ]
        base = {"bootstrap_servers": servers, "expected_cluster_id": cluster["cluster_id"], "groups": items}
        return run_module(kafka_group, {**base, **params}, check, diff=True)

    return run


@pytest.fixture
def observe(servers: str) -> Run:
    def run(group: str, **params: Any) -> dict[str, Any]:
        result = run_module(kafka_group_info, {"bootstrap_servers": servers, "groups": [group], **params})
        return {**result["groups"][0], "result": result}

    return run


@pytest.fixture
def member(servers: str, topic: str, group: str) -> Iterator[Consumer]:
    """A consumer that is a member of the group and has partitions assigned."""
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": group,
            "client.id": "settlement-app",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe([topic])
    until = time.monotonic() + 30
    while not consumer.assignment() and time.monotonic() < until:
        consumer.poll(0.1)
    assert consumer.assignment()
    yield consumer
    consumer.close()


def committed(observe: Run, group: str) -> dict[tuple[str, int], int]:
    return {(one["topic"], one["partition"]): one["offset"] for one in observe(group)["committed_offsets"]}


def statuses(result: dict[str, Any]) -> list[str]:
    return [row["status"] for row in result["committed_offsets"]]


# ---- committing


def test_offsets_of_a_new_group_are_committed_and_the_second_run_changes_nothing(
    commit: Run, observe: Run, topic: str, group: str
) -> None:
    wanted = {group: [(topic, 0, 4), (topic, 1, RECORDS)]}

    first, again = commit(wanted), commit(wanted)

    assert (first["changed"], statuses(first)) == (True, ["done", "done"])
    assert first["committed_offsets"][0] == {
        "group": group,
        "topic": topic,
        "partition": 0,
        "before": None,
        "wanted": 4,
        "after": 4,
        "status": "done",
    }
    assert (again["changed"], statuses(again), again["changes"]) == (False, ["unchanged"] * 2, [])
    assert committed(observe, group) == {(topic, 0): 4, (topic, 1): RECORDS}


def test_check_mode_shows_the_same_and_writes_nothing(commit: Run, observe: Run, topic: str, group: str) -> None:
    wanted = {group: [(topic, 0, 4)]}

    planned = commit(wanted, check=True)
    assert (observe(group)["state"], committed(observe, group)) == ("DEAD", {})
    done = commit(wanted)

    assert (planned["changed"], statuses(planned)) == (True, ["planned"])
    key = f"committed_offset {group} {topic}-0"
    assert planned["diff"] == done["diff"] == {"before": {key: {"offset": None}}, "after": {key: {"offset": 4}}}


def test_a_consumer_continues_exactly_at_the_committed_offset(
    commit: Run, topic: str, group: str, servers: str
) -> None:
    commit({group: [(topic, 0, 7), (topic, 1, RECORDS)]})
    consumer = Consumer({"bootstrap.servers": servers, "group.id": group, "auto.offset.reset": "error"})
    consumer.subscribe([topic])
    until = time.monotonic() + 30
    message = None
    while message is None and time.monotonic() < until:
        message = consumer.poll(0.2)
    consumer.close()

    assert message is not None
    assert message.error() is None
    assert (message.partition(), message.offset(), message.value()) == (0, 7, b"7")


def test_lowering_an_offset_is_refused_unless_requested(commit: Run, observe: Run, topic: str, group: str) -> None:
    commit({group: [(topic, 0, 8), (topic, 1, 8)]})
    lower = {group: [(topic, 0, 5), (topic, 1, 9)]}

    refused = commit(lower)
    assert (refused["failed"], refused["changed"], refused["error"]["code"]) == (True, False, "offset_lower")
    assert "higher committed offset than wanted on 1 partitions" in refused["msg"]
    assert committed(observe, group) == {(topic, 0): 8, (topic, 1): 8}

    kept = commit(lower, lower="keep")
    assert (statuses(kept), kept["lowered"]) == (["kept", "done"], 0)
    assert committed(observe, group) == {(topic, 0): 8, (topic, 1): 9}

    lowered = commit(lower, lower="lower")
    assert (statuses(lowered), lowered["lowered"]) == (["done", "unchanged"], 1)
    assert committed(observe, group) == {(topic, 0): 5, (topic, 1): 9}


def test_an_offset_that_another_process_changes_is_set_again_and_counted(
    commit: Run, observe: Run, topic: str, group: str, servers: str
) -> None:
    # As a task of MirrorMaker 2 that hangs on a dead source: it raises the group once more, and ends.
    commit({group: [(topic, 0, 8), (topic, 1, 8)]})
    admin = AdminClient({"bootstrap.servers": servers})

    def committed_offset() -> int:
        asked = ConsumerGroupTopicPartitions(group, [TopicPartition(topic, 0)])
        found = admin.list_consumer_group_offsets([asked])[group].result(10).topic_partitions
        return int(found[0].offset)

    def raise_it() -> None:
        assert wait_until(committed_offset, lambda at: at == 5, Bounds(30, 0.1)).done
        commit_by_hand(admin, group, {(topic, 0): 9})

    with ThreadPoolExecutor() as pool:
        other = pool.submit(raise_it)
        held = commit({group: [(topic, 0, 5), (topic, 1, 8)]}, lower="lower", settle=6)
        other.result()
    assert (held["failed"], held["moved"]) == (False, 1), held
    assert committed(observe, group) == {(topic, 0): 5, (topic, 1): 8}
    assert commit({group: [(topic, 0, 5)]}, settle=0.5)["moved"] == 0


@pytest.mark.parametrize(
    ("committed_offset", "code"),
    [
        ((0, RECORDS + 1), "offset_out_of_range"),
        ((2, 0), "unknown_partition"),
    ],
)
def test_an_offset_outside_the_log_stops_everything(
    commit: Run, observe: Run, topic: str, group: str, committed_offset: tuple[int, int], code: str
) -> None:
    other = f"{group}-other"
    commit({group: [(topic, 0, 3)]})

    result = commit({other: [(topic, 0, 1)], group: [(topic, 1, 2), (topic, *committed_offset)]})

    assert (result["failed"], result["changed"], result["error"]["code"]) == (True, False, code)
    assert set(statuses(result)) == {"refused"}
    assert "No offset was committed" in result["msg"]
    assert committed(observe, group) == {(topic, 0): 3}
    assert committed(observe, other) == {}


def test_a_missing_topic_is_refused_and_not_created(commit: Run, observe: Run, group: str, servers: str) -> None:
    name = f"missing-{group}"

    result = commit({group: [(name, 0, 0)]})

    assert result["error"]["code"] == "unknown_partition"
    assert observe(group)["state"] == "DEAD"
    absent = {"bootstrap_servers": servers, "topics": [{"name": name}], "state": "absent"}
    assert run_module(kafka_topic, absent)["changed"] is False


def test_expired_offsets_are_refused(commit: Run, topic: str, group: str, servers: str) -> None:
    admin = AdminClient({"bootstrap.servers": servers})
    for future in admin.delete_records([TopicPartition(topic, 0, 6)]).values():
        future.result()

    result = commit({group: [(topic, 0, 5)]})

    assert result["error"]["code"] == "offset_out_of_range"
    assert f"6 to {RECORDS}" in result["msg"]


def test_an_active_group_is_refused_with_its_members(
    commit: Run, observe: Run, topic: str, group: str, member: Consumer
) -> None:
    result = commit({group: [(topic, 0, 3)], f"{group}-idle": [(topic, 0, 3)]})

    assert (result["failed"], result["changed"], result["error"]["code"]) == (True, False, "group_active")
    assert "settlement-app" in result["msg"]
    assert committed(observe, group) == committed(observe, f"{group}-idle") == {}


def test_several_groups_are_written_in_one_run(commit: Run, observe: Run, topic: str, group: str) -> None:
    groups = [f"{group}-{number}" for number in range(5)]

    result = commit({name: [(topic, 0, number)] for number, name in enumerate(groups)})

    assert statuses(result) == ["done"] * 5
    assert [committed(observe, name) for name in groups] == [{(topic, 0): number} for number in range(5)]


def test_the_wrong_cluster_is_refused(commit: Run, observe: Run, topic: str, group: str) -> None:
    result = commit({group: [(topic, 0, 1)]}, expected_cluster_id="another")

    assert (result["failed"], result["changed"], result["error"]["code"]) == (True, False, "wrong_cluster")
    assert observe(group)["state"] == "DEAD"


def test_a_list_with_mistakes_is_refused_before_connecting() -> None:
    committed_offsets = [{"topic": "T", "partition": 0, "offset": -1}, {"topic": "T", "partition": -1, "offset": 0}]
    params = {"bootstrap_servers": "127.0.0.1:1", "groups": [{"group": "g", "committed_offsets": committed_offsets}]}

    result = run_module(kafka_group, params)

    assert result["error"]["code"] == "bad_offsets"
    assert "offset -1" in result["msg"]


# ---- observing


def test_a_missing_group_has_no_numbers(observe: Run, topic: str, group: str) -> None:
    found = observe(group, topics=[topic], check_data=True)

    assert (found["state"], found["members"], found["lag"], found["read_to_end"]) == ("DEAD", [], None, None)
    assert [(one["offset"], one["lag"], one["end"]) for one in found["committed_offsets"]] == [
        (None, None, RECORDS)
    ] * 2


def test_lag_counts_offsets_and_is_unknown_without_a_committed_offset(
    commit: Run, observe: Run, topic: str, group: str
) -> None:
    commit({group: [(topic, 0, 4)]})

    whole, known = observe(group, topics=[topic]), observe(group)

    assert [one["lag"] for one in whole["committed_offsets"]] == [6, None]
    assert (whole["lag"], known["lag"]) == (None, 6)
    assert known["committed_offsets"][0]["read_to_end"] is None


def test_members_are_shown_with_their_partitions(observe: Run, topic: str, group: str, member: Consumer) -> None:
    found = observe(group)

    assert found["state"] == "STABLE"
    assert found["members"][0]["client_id"] == "settlement-app"
    assert found["members"][0]["assignments"] == [{"topic": topic, "partition": n} for n in range(2)]


def test_a_group_before_a_transaction_marker_has_read_to_the_end_although_its_lag_is_one(
    commit: Run, observe: Run, topic: str, group: str, servers: str
) -> None:
    producer = Producer({"bootstrap.servers": servers, "transactional.id": f"tx-{group}"})
    producer.init_transactions(20)
    producer.begin_transaction()
    producer.produce(topic, "committed", partition=0)
    producer.commit_transaction(20)
    # The marker is written after the commit returns, and takes one more offset.
    wait_until(
        lambda: observe(group, topics=[topic])["committed_offsets"][0]["end"],
        lambda end: end == RECORDS + 2,
        Bounds(20, 0.05),
    )
    commit({group: [(topic, 0, RECORDS + 1)]})

    found = observe(group, check_data=True)

    assert (found["lag"], found["read_to_end"]) == (1, True)
    commit({group: [(topic, 0, RECORDS)]}, lower="lower")
    assert observe(group, check_data=True)["read_to_end"] is False


def test_an_empty_group_is_idle_and_an_active_one_is_not(
    commit: Run, observe: Run, topic: str, group: str, member: Consumer
) -> None:
    commit({f"{group}-empty": [(topic, 0, 1)]})

    assert observe(f"{group}-empty", settle_seconds=0.6)["idle"] is True
    assert observe(group, settle_seconds=0.6)["idle"] is False
    assert observe(group)["idle"] is None


def test_commits_without_members_are_not_idle(observe: Run, topic: str, group: str, servers: str) -> None:
    """A reader with assign() leaves no other trace than its commits (R9)."""
    reader = Consumer({"bootstrap.servers": servers, "group.id": group, "enable.auto.commit": False})
    reader.assign([TopicPartition(topic, 0, 0)])
    stop = threading.Event()

    def go_on_committing() -> None:
        offset = 0
        while not stop.wait(0.1):
            offset = offset % RECORDS + 1
            reader.commit(offsets=[TopicPartition(topic, 0, offset)], asynchronous=False)

    worker = threading.Thread(target=go_on_committing)
    worker.start()
    try:
        found = observe(group, settle_seconds=2.0)
    finally:
        stop.set()
        worker.join()
        reader.close()

    assert found["idle"] is False


def test_waiting_for_an_active_group_to_be_idle_ends_with_its_last_state(
    observe: Run, group: str, member: Consumer
) -> None:
    found = observe(group, wait_for="idle", settle_seconds=0.2, wait_timeout=1)

    assert found["result"]["error"]["code"] == "wait_timeout"
    assert "STABLE" in found["result"]["msg"]
    assert "settlement-app" in found["result"]["msg"]
    assert found["state"] == "STABLE"


def test_a_group_that_leaves_becomes_idle(observe: Run, group: str, member: Consumer) -> None:
    member.close()

    found = observe(group, wait_for="idle", settle_seconds=0.4, wait_timeout=30)

    assert (found["result"]["failed"], found["idle"]) == (False, True)
    assert found["result"]["waited"]["ended"] == "done"


def test_waiting_for_a_group_that_does_not_read_stalls(commit: Run, observe: Run, topic: str, group: str) -> None:
    commit({group: [(topic, 0, 2)]})

    found = observe(group, wait_for="read_to_end", wait_timeout=60, stall_timeout=0.8)

    assert found["result"]["error"]["code"] == "wait_stalled"
    assert "8 offsets from the end" in found["result"]["msg"]


def test_check_mode_observes_once_and_does_not_wait(servers: str, commit: Run, topic: str, group: str) -> None:
    commit({group: [(topic, 0, 2)]})
    params = {"bootstrap_servers": servers, "groups": [group], "wait_for": "read_to_end", "wait_timeout": 60}

    result = run_module(kafka_group_info, params, check=True)

    assert (result["failed"], result["waited"], result["groups"][0]["read_to_end"]) == (False, None, False)
