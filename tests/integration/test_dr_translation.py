# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""dr_translation_info behind a real barrier: where groups start on the other side, checked by reading what follows."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds, wait_until
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.records import data_records
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.topics import describe, log_ranges
from ansible_collections.switchback.kafka_dr.plugins.modules import (
    connect_mirror,
    dr_status_info,
    dr_translation_info,
    kafka_topic,
)
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module

pytestmark = pytest.mark.integration

P, B = "TP", "TB"
THERE, BACK = {"source": P, "target": B}, {"source": B, "target": P}
COUNT, BACKWARD = 40, 6
Commits = dict[tuple[str, int], int]


class Pair:
    """A pair of its own in the lab."""

    def __init__(self, lab: Any) -> None:
        found = lab.info()["clusters"]
        self.clusters = {
            alias: {key: found[name][key] for key in ("bootstrap_servers", "connect_url", "cluster_id")}
            for alias, name in ((P, "P"), (B, "B"))
        }
        self.kafka = {alias: Kafka(self.servers(alias), {}, 15.0) for alias in self.clusters}
        run = uuid.uuid4().hex[:6]
        self.main, self.tx, self.late, self.hanging = (
            f"translate-{name}-{run}" for name in ("main", "tx", "late", "hanging")
        )
        self.topics = [self.main, self.tx, self.late, self.hanging]

    def servers(self, alias: str) -> str:
        return str(self.clusters[alias]["bootstrap_servers"])

    def make_topics(self) -> None:
        for alias in self.clusters:
            items = [{"name": name, "partitions": 2 if name == self.main else 1} for name in self.topics]
            made = run_module(kafka_topic, {"bootstrap_servers": self.servers(alias), "topics": items})
            assert made["rc"] == 0, made

    def flow(self, flow: dict[str, str], state: str, **more: Any) -> None:
        ends = {
            end: {key: self.clusters[flow[end]][key] for key in ("bootstrap_servers", "cluster_id")}
            | {"alias": flow[end]}
            for end in ("source", "target")
        }
        params = {
            **ends,
            "connect_url": self.clusters[flow["target"]]["connect_url"],
            "topics": self.topics,
            "replication_factor": 1,
            "tasks_max": 1,
            # Heartbeats of another pair in the same lab would go round; nothing here needs them.
            "source_settings": {"refresh.topics.interval.seconds": 1, "heartbeats.replication.enabled": False},
            "parts": ["source"],
            "state": state,
            "wait_timeout": 90,
            "request_timeout": 30,
            **more,
        }
        result = run_module(connect_mirror, params)
        assert result["rc"] == 0, result["msg"]

    def wait_copied(self, *flows: dict[str, str]) -> None:
        params = {"clusters": self.clusters, "topics": self.topics, "flows": list(flows), "wait_for": "copied"}
        result = run_module(dr_status_info, {**params, "wait_timeout": 120})
        assert result["rc"] == 0, result["msg"]

    def send(self, alias: str, topic: str, partition: int, count: int) -> None:
        producer = Producer({"bootstrap.servers": self.servers(alias)})
        for number in range(count):
            producer.produce(topic, f"{partition}/{number}", partition=partition)
        assert producer.flush(30) == 0

    def end(self, alias: str, topic: str, partition: int = 0) -> int:
        return log_ranges(self.kafka[alias], {(topic, partition)})[topic, partition][1]

    def values(self, alias: str, topic: str, partition: int, start: int) -> list[bytes | None]:
        """What a reader of committed records gets from ``start`` on."""
        end = self.end(alias, topic, partition)
        return [record.value for record in data_records(self.kafka[alias], (topic, partition), start, end)]

    def group(self, alias: str, commits: Commits, name: str | None = None) -> str:
        """A group, new unless it is named, with these positions."""
        name = name or f"translate-{uuid.uuid4().hex[:8]}"
        items = [TopicPartition(topic, partition, offset) for (topic, partition), offset in commits.items()]
        admin = AdminClient({"bootstrap.servers": self.servers(alias)})
        done = admin.alter_consumer_group_offsets([ConsumerGroupTopicPartitions(name, items)])[name].result()
        assert [one.error for one in done.topic_partitions] == [None] * len(items)
        return name

    def ends(self, alias: str, *topics: str) -> Commits:
        """Positions at the end of every partition of ``topics`` on ``alias``."""
        partitions = [(topic, number) for topic in topics for number in ((0, 1) if self.main in topic else (0,))]
        return {key: self.end(alias, *key) for key in partitions}

    def translate(self, *groups: str, topics: list[str] | None = None, **more: Any) -> dict[str, Any]:
        base = {"clusters": self.clusters, "topics": topics or [self.main], "groups": list(groups), "settle": 0.1}
        ids = {"topic_ids": self.topic_ids()}
        return run_module(dr_translation_info, {**base, **ids, "leave": P, "enter": B, **more})

    def topic_ids(self) -> dict[str, dict[str, str]]:
        """Of originals and replicas, as the journal keeps them."""
        ids = {}
        for alias, other in ((P, B), (B, P)):
            names = [*self.topics, *(replica(other, topic) for topic in self.topics)]
            found = describe(self.kafka[alias], names)
            ids[alias] = {name: state.topic_id for name, state in found.items() if state is not None}
        return ids


@pytest.fixture(scope="module")
def pair(lab: Any) -> Iterator[Pair]:
    """Records on both sides, copied; then the flow P->B is stopped without tasks: the barrier. B->P still runs."""
    made = Pair(lab)
    made.make_topics()
    for flow in (THERE, BACK):
        made.flow(flow, "running")
    for partition in (0, 1):
        made.send(P, made.main, partition, COUNT)
        made.send(B, made.main, partition, BACKWARD)
    made.send(P, made.late, 0, 3)
    made.send(P, made.hanging, 0, 3)
    transactions(made)
    made.wait_copied(THERE, BACK)
    made.flow(THERE, "stopped")
    yield made
    for flow in (THERE, BACK):
        made.flow(flow, "absent")


def transactions(pair: Pair) -> None:
    """Ten transactions of three records on the topic tx, every third aborted; ends in an aborted one."""
    producer = Producer({"bootstrap.servers": pair.servers(P), "transactional.id": uuid.uuid4().hex})
    producer.init_transactions(30)
    for number in range(10):
        producer.begin_transaction()
        for record in range(3):
            producer.produce(pair.tx, f"{number}/{record}", partition=0)
        producer.flush(30)
        producer.abort_transaction(30) if number % 3 == 0 else producer.commit_transaction(30)
    looked = wait_until(lambda: pair.end(P, pair.tx), lambda end: end == 40, Bounds(30, 0.05))
    assert looked.done, "the markers of ended transactions were not written"


def by_place(result: dict[str, Any]) -> dict[tuple[str, int], dict[str, Any]]:
    return {(row["topic"], row["partition"]): row for row in result["details"]}


def replica(alias: str, topic: str) -> str:
    return f"{alias}.{topic}"


# ---- read to the end


def test_a_group_that_has_read_everything_starts_at_the_end_of_all_topics_exactly(pair: Pair) -> None:
    """SOUNDNESS 7: replica and original of the side being entered, each partition."""
    group = pair.group(P, pair.ends(P, pair.main, replica(B, pair.main)))
    result = pair.translate(group)
    assert result["rc"] == 0, result["msg"]
    assert (result["changed"], result["rereads"]) == (False, 0)
    found = {key: (row["offset"], row["method"], row["quality"]) for key, row in by_place(result).items()}
    assert found == {
        (replica(P, pair.main), 0): (COUNT, "end", "exact"),
        (replica(P, pair.main), 1): (COUNT, "end", "exact"),
        (pair.main, 0): (BACKWARD, "end", "exact"),
        (pair.main, 1): (BACKWARD, "end", "exact"),
    }
    assert [row["group"] for row in result["positions"]] == [group]
    assert len(result["positions"][0]["positions"]) == 4


def test_the_way_back_is_the_mirror_image(pair: Pair) -> None:
    """SOUNDNESS 7: the four topics of both sides, there and back."""
    group = pair.group(B, pair.ends(B, pair.main, replica(P, pair.main)))
    pair.flow(BACK, "stopped")
    try:
        result = pair.translate(group, leave=B, enter=P)
    finally:
        pair.flow(BACK, "running")
    assert result["rc"] == 0, result["msg"]
    found = {key: (row["offset"], row["quality"]) for key, row in by_place(result).items()}
    assert found == {
        **{(replica(B, pair.main), number): (BACKWARD, "exact") for number in (0, 1)},
        **{(pair.main, number): (COUNT, "exact") for number in (0, 1)},
    }


def test_the_barrier_is_told_with_what_cannot_be_read_again_later(pair: Pair) -> None:
    commits = pair.ends(P, pair.main, replica(B, pair.main))
    group = pair.group(P, commits)
    barrier = pair.translate(group)["barrier"]
    both = {"0": COUNT, "1": COUNT}
    assert barrier["ends"] == {pair.main: both}
    assert barrier["copied"] == {pair.main: {"0": COUNT - 1, "1": COUNT - 1}}
    assert barrier["starts"] == {pair.main: {"0": 0, "1": 0}}
    assert barrier["cut"] == {pair.main: {"0": BACKWARD, "1": BACKWARD}}
    told = {(topic, int(n)): at for topic, parts in barrier["positions"][group].items() for n, at in parts.items()}
    assert told == commits


def test_a_tail_of_markers_and_aborted_records_is_read_to_the_end(pair: Pair) -> None:
    """SOUNDNESS 5 and 19."""
    last = max(record.offset for record in data_records(pair.kafka[P], (pair.tx, 0), 0, 40))
    group = pair.group(P, {(pair.tx, 0): last + 1})
    result = pair.translate(group, topics=[pair.tx])
    assert last + 1 < 40
    assert result["rc"] == 0, result["msg"]
    row = by_place(result)[replica(P, pair.tx), 0]
    assert (row["offset"], row["quality"]) == (18, "exact")  # six committed transactions of three records


# ---- groups that are behind


@pytest.mark.parametrize("position", [0, 1, 8, 25, COUNT - 1])
def test_a_group_behind_goes_on_with_the_very_next_record(pair: Pair, position: int) -> None:
    commits = {**pair.ends(P, pair.main, replica(B, pair.main)), (pair.main, 0): position}
    group = pair.group(P, commits)
    result = pair.translate(group)
    assert result["rc"] == 0, result["msg"]
    row = by_place(result)[replica(P, pair.main), 0]
    assert (row["quality"], row["rereads"], result["rereads"]) == ("exact", 0, 0)
    assert pair.values(B, replica(P, pair.main), 0, row["offset"]) == pair.values(P, pair.main, 0, position)
    # A narrow part of both logs around the position is enough.
    assert 0 < result["records_read"] <= 6 * COUNT


@pytest.mark.parametrize("transaction", [0, 1, 4, 8])
def test_where_markers_shift_the_offsets_it_is_the_next_record_too(pair: Pair, transaction: int) -> None:
    group = pair.group(P, {(pair.tx, 0): 4 * transaction + 1})
    result = pair.translate(group, topics=[pair.tx])
    assert result["rc"] == 0, result["msg"]
    row = by_place(result)[replica(P, pair.tx), 0]
    assert (row["quality"], row["rereads"]) == ("exact", 0)
    assert pair.values(B, replica(P, pair.tx), 0, row["offset"]) == pair.values(P, pair.tx, 0, 4 * transaction + 1)


def test_without_topic_ids_only_the_log_start_is_safe_and_it_is_refused_unless_re_reads_are_accepted(
    pair: Pair,
) -> None:
    group = pair.group(P, {**pair.ends(P, pair.main, replica(B, pair.main)), (pair.main, 1): 8})
    result = pair.translate(group, topic_ids={})
    assert (result["rc"], result["error"]["code"]) == (1, "group_behind")
    assert f'group "{group}" on {P}.{pair.main}-1' in result["msg"]
    assert "group_lag: reread" in result["error"]["hint"]
    accepted = pair.translate(group, topic_ids={}, group_lag="reread")
    row = by_place(accepted)[replica(P, pair.main), 1]
    assert (row["offset"], row["method"], row["rereads"]) == (0, "start", COUNT)


@pytest.mark.parametrize("alias", [P, B])
def test_a_topic_that_was_created_again_is_refused_by_name(pair: Pair, alias: str) -> None:
    """Positions and offset-syncs of before mean other records, even for a group that has read everything."""
    name = pair.main if alias == P else replica(P, pair.main)
    group = pair.group(P, pair.ends(P, pair.main, replica(B, pair.main)))
    ids = pair.topic_ids()
    ids[alias] = {**ids[alias], name: "AAAAAAAAAAAAAAAAAAAAAA"}
    result = pair.translate(group, topic_ids=ids, group_lag="reread")
    assert result["error"]["code"] == "topic_recreated"
    assert f'"{name}" on {alias}' in result["msg"]
    assert "positions" not in result


def test_a_commit_on_the_side_being_entered_is_told_and_not_believed(pair: Pair) -> None:
    """SOUNDNESS 6: the position on the side being left is the truth."""
    group = pair.group(P, {**pair.ends(P, pair.main, replica(B, pair.main)), (pair.main, 0): 8})
    before = by_place(pair.translate(group, group_lag="reread"))[replica(P, pair.main), 0]
    pair.group(B, {(replica(P, pair.main), 0): 33}, group)
    after = by_place(pair.translate(group, group_lag="reread"))[replica(P, pair.main), 0]
    assert (before["existing"], after["existing"]) == (None, 33)
    assert after["offset"] == before["offset"] == 8


# ---- the original


@pytest.mark.parametrize(("vouched", "offset", "method"), [(4, 4, "own"), (1, 2, "tail"), (None, 2, "tail")])
def test_on_the_original_the_higher_of_reverse_and_the_vouched_position_counts(
    pair: Pair, vouched: int | None, offset: int, method: str
) -> None:
    """SOUNDNESS 7: everything below either was read."""
    group = pair.group(P, {**pair.ends(P, pair.main), (replica(B, pair.main), 0): 2, (replica(B, pair.main), 1): 6})
    # A commit that nobody vouches for may come from a drill.
    pair.group(B, {(pair.main, 0): 5}, group)
    own = {} if vouched is None else {group: {pair.main: {"0": vouched}}}
    result = pair.translate(group, vouched=own)
    assert result["rc"] == 0, result["msg"]
    row = by_place(result)[pair.main, 0]
    assert (row["offset"], row["method"], row["quality"], row["rereads"]) == (offset, method, "exact", 0)


def test_a_vouched_position_past_the_end_is_refused(pair: Pair) -> None:
    """SOUNDNESS 8: the original was made again meanwhile."""
    group = pair.group(P, {**pair.ends(P, pair.main), (replica(B, pair.main), 0): 2})
    result = pair.translate(group, group_lag="reread", vouched={group: {pair.main: {"0": 99}}})
    assert result["error"]["code"] == "no_position"
    assert "past the log end" in result["msg"]


# ---- what a group reads


def test_only_the_topics_that_a_group_reads_are_translated(pair: Pair) -> None:
    group = pair.group(P, {(pair.tx, 0): 40})
    result = pair.translate(group, topics=[pair.main, pair.tx])
    assert result["rc"] == 0, result["msg"]
    assert {topic for topic, _partition in by_place(result)} == {pair.tx, replica(P, pair.tx)}


def test_a_topic_that_a_group_is_declared_to_read_needs_its_position(pair: Pair) -> None:
    """SOUNDNESS 8."""
    group = pair.group(P, {(pair.tx, 0): 40})
    result = pair.translate(group, topics=[pair.main, pair.tx], group_topics={group: [pair.main, pair.tx]})
    assert result["error"]["code"] == "no_position"
    assert f"{P}.{pair.main}-0: the group has no position on the side being left" in result["msg"]


def test_a_missing_position_on_one_partition_is_refused_even_where_re_reads_are_accepted(pair: Pair) -> None:
    """SOUNDNESS 8: auto.offset.reset must never decide."""
    commits = pair.ends(P, pair.main, replica(B, pair.main))
    del commits[pair.main, 1]
    group = pair.group(P, commits)
    result = pair.translate(group, group_lag="reread")
    assert (result["error"]["code"], result["rereads"]) == ("no_position", None)
    assert f"{P}.{pair.main}-1" in result["msg"]
    assert "auto.offset.reset" in result["error"]["hint"]


def test_a_position_past_the_end_is_refused_and_not_taken_for_the_end(pair: Pair) -> None:
    """SOUNDNESS 8: brokers accept such a commit."""
    group = pair.group(P, {**pair.ends(P, pair.main, replica(B, pair.main)), (pair.main, 0): COUNT + 60})
    result = pair.translate(group, group_lag="reread")
    assert result["error"]["code"] == "no_position"
    assert f"position {COUNT + 60} lies past the log end {COUNT}" in result["msg"]


# ---- idle groups


@contextmanager
def polling(pair: Pair, alias: str, group: str, topic: str) -> Iterator[None]:
    """A member of the group; once it has joined, librdkafka keeps it a member by itself."""
    options = {"group.id": group, "enable.auto.commit": False, "auto.offset.reset": "error"}
    consumer = Consumer({"bootstrap.servers": pair.servers(alias), **options})
    consumer.subscribe([topic])
    deadline = time.monotonic() + 30
    try:
        while not consumer.assignment() and time.monotonic() < deadline:
            consumer.poll(0.1)
        assert consumer.assignment()
        yield
    finally:
        consumer.close()


@pytest.mark.parametrize("alias", [P, B])
def test_a_group_with_members_on_either_side_is_refused(pair: Pair, alias: str) -> None:
    """SOUNDNESS 9."""
    group = pair.group(P, pair.ends(P, pair.main, replica(B, pair.main)))
    if alias == B:
        pair.group(B, {(pair.main, 0): 0, (pair.main, 1): 0}, group)
    with polling(pair, alias, group, pair.main):
        result = pair.translate(group)
    assert result["error"]["code"] == "group_active"
    assert f"on {alias}: {group} (" in result["msg"]
    assert "positions" not in result


def test_a_reader_with_assign_looks_empty_and_is_found_by_its_moving_position(pair: Pair) -> None:
    """SOUNDNESS 9."""
    commits = {**pair.ends(P, pair.main, replica(B, pair.main)), (pair.main, 0): 1}
    group = pair.group(P, commits)
    consumer = Consumer({"bootstrap.servers": pair.servers(P), "group.id": group, "enable.auto.commit": False})
    consumer.assign([TopicPartition(pair.main, 0, 1)])
    over = threading.Event()

    def work() -> None:
        position = 1
        while not over.wait(0.2):
            position = position % (COUNT - 1) + 1
            consumer.commit(offsets=[TopicPartition(pair.main, 0, position)], asynchronous=False)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        result = pair.translate(group, settle=2, group_lag="reread")
    finally:
        over.set()
        thread.join()
        consumer.close()
    assert result["error"]["code"] == "group_active"
    assert "no members" in result["msg"]
    assert f"{pair.main}-0 moved" in result["msg"]


# ---- the barrier


def test_a_flow_that_still_runs_is_no_barrier(pair: Pair) -> None:
    """SOUNDNESS 20: N is final only behind a stop that left no tasks."""
    group = pair.group(B, pair.ends(B, pair.main, replica(P, pair.main)))
    result = pair.translate(group, leave=B, enter=P)
    assert result["error"]["code"] == "no_barrier"
    assert "RUNNING" in result["msg"]
    assert "wanted STOPPED" in result["msg"]


def test_without_a_barrier_a_copied_group_gets_the_end_that_was_read_before_the_sources(pair: Pair) -> None:
    """SOUNDNESS 14 and 20."""
    group = pair.group(B, pair.ends(B, pair.main, replica(P, pair.main)))
    result = pair.translate(group, leave=B, enter=P, barrier=False, group_lag="reread", wait_timeout=60)
    assert result["rc"] == 0, result["msg"]
    for number in (0, 1):
        row = by_place(result)[replica(B, pair.main), number]
        assert (row["offset"], row["quality"]) == (BACKWARD, "exact")


def test_uncopied_records_behind_the_barrier_are_refused_by_name(pair: Pair) -> None:
    """SOUNDNESS 20."""
    pair.send(P, pair.late, 0, 2)
    group = pair.group(P, {(pair.late, 0): 3})
    result = pair.translate(group, topics=[pair.late], group_lag="reread")
    assert result["error"]["code"] == "not_drained"
    assert f"{pair.late}-0: copied up to 2, source end 5" in result["msg"]


def test_without_a_barrier_a_position_that_is_not_copied_is_waited_for_within_the_bound(pair: Pair) -> None:
    """SOUNDNESS 14: N >= commit - 1."""
    pair.send(P, pair.late, 0, 1)
    group = pair.group(P, {(pair.late, 0): pair.end(P, pair.late)})
    result = pair.translate(group, topics=[pair.late], barrier=False, group_lag="reread", wait_timeout=2)
    assert result["error"]["code"] == "not_copied"
    assert f"{pair.late}-0 copied 2, position" in result["msg"]
    # What lies behind the group's own position does not matter to it.
    pair.group(P, {(pair.late, 0): 3}, group)
    again = pair.translate(group, topics=[pair.late], barrier=False, group_lag="reread", wait_timeout=20)
    assert again["rc"] == 0, again["msg"]


def test_an_open_transaction_is_no_drained_flow(pair: Pair) -> None:
    """SOUNDNESS 5: its records would arrive behind positions that say that everything was read."""
    producer = Producer({"bootstrap.servers": pair.servers(P), "transactional.id": uuid.uuid4().hex})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(pair.hanging, "open", partition=0)
    producer.flush(30)
    group = pair.group(P, {(pair.hanging, 0): 3})
    try:
        result = pair.translate(group, topics=[pair.hanging])
    finally:
        producer.abort_transaction(30)
    assert result["error"]["code"] == "not_drained"
    assert f"{pair.hanging}-0: an open transaction holds back 1 offsets" in result["msg"]


# ---- bad input


def test_an_unknown_alias_is_refused_by_name(pair: Pair) -> None:
    result = pair.translate("g", enter="TX")
    assert result["error"]["code"] == "unknown_alias"
    assert '"TX"' in result["msg"]


def test_workers_that_are_down_are_told_within_the_bound(pair: Pair) -> None:
    clusters = {**pair.clusters, B: {**pair.clusters[B], "connect_url": "http://127.0.0.1:1"}}
    result = pair.translate("g", clusters=clusters, request_timeout=2)
    assert result["error"]["code"] == "connect_unreachable"
