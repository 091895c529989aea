# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""dr_translation_info after a real barrier: where groups start on the other cluster, verified by reading from there."""

from __future__ import annotations

import json
import struct
import threading
import time
import urllib.parse
import urllib.request
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.groups import GroupState
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds, wait_until
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.groups import committed_offsets
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.groups import describe as describe_groups
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.records import data_records
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.topics import describe, log_ranges
from ansible_collections.switchback.kafka_dr.plugins.modules import (
    connect_mirror,
    dr_salvage,
    dr_status_info,
    dr_translation_info,
    kafka_topic,
)
from ansible_collections.switchback.kafka_dr.tests.support.journals import journal_state
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module
from ansible_collections.switchback.kafka_dr.tests.support.pairs import as_pair
from brokers import commit

pytestmark = pytest.mark.integration

P, B = "TP", "TB"
THERE, BACK = {"source": P, "target": B}, {"source": B, "target": P}
COUNT, BACKWARD = 40, 6
GONE = 25
JOURNALED = {"replays", "trusted_offsets", "arrived", "bound", "topic_ids", "offset_syncs_start"}
Commits = dict[tuple[str, int], int]
Written = list[tuple[bytes | None, bytes | None]]


class LabPair:
    """A pair of its own in the lab."""

    def __init__(self, lab: Any, p: str = P, b: str = B) -> None:
        found = lab.info()["clusters"]
        self.p, self.b = p, b
        self.clusters = {
            alias: {key: found[name][key] for key in ("bootstrap_servers", "connect_url", "cluster_id")}
            for alias, name in ((p, "P"), (b, "B"))
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
            # Heartbeats of another pair in the same lab would be replicated in a loop. No test here needs them.
            "source_settings": {"refresh.topics.interval.seconds": 1, "heartbeats.replication.enabled": False},
            "parts": ["source"],
            "state": state,
            "wait_timeout": 90,
            "request_timeout": 30,
            **more,
        }
        result = run_module(connect_mirror, params)
        assert result["rc"] == 0, result["msg"]

    def wait_replicated(self, *flows: dict[str, str]) -> None:
        params = {"clusters": self.clusters, "topics": self.topics, "flows": list(flows), "wait_for": "replicated"}
        result = run_module(dr_status_info, as_pair({**params, "wait_timeout": 120}))
        assert result["rc"] == 0, result["msg"]

    def send(self, alias: str, topic: str, partition: int, count: int) -> None:
        producer = Producer({"bootstrap.servers": self.servers(alias)})
        for number in range(count):
            producer.produce(topic, f"{partition}/{number}", partition=partition)
        assert producer.flush(30) == 0

    def end(self, alias: str, topic: str, partition: int = 0) -> int:
        return log_ranges(self.kafka[alias], {(topic, partition)})[topic, partition][1]

    def settled_end(self, alias: str, topic: str) -> int:
        """The end of partition 0 once no marker of an ended transaction is awaited."""
        key = Partition(topic, 0)

        def ends() -> set[int]:
            kinds = ("read_committed", "read_uncommitted")
            return {log_ranges(self.kafka[alias], {key}, kind)[key][1] for kind in kinds}

        waited = wait_until(ends, lambda found: len(found) == 1, Bounds(30, 0.1, 30))
        assert waited.done, waited.state
        return waited.state.pop()

    def values(self, alias: str, topic: str, partition: int, start: int) -> list[bytes | None]:
        """The values that a read_committed consumer receives from ``start`` on."""
        end = self.end(alias, topic, partition)
        return [record.value for record in data_records(self.kafka[alias], (topic, partition), start, end)]

    def group(self, alias: str, commits: Commits, name: str | None = None) -> str:
        """Create a group with these committed offsets. It is new unless ``name`` is given."""
        name = name or f"translate-{uuid.uuid4().hex[:8]}"
        commit(AdminClient({"bootstrap.servers": self.servers(alias)}), name, commits)
        return name

    def ends(self, alias: str, *topics: str) -> Commits:
        """The end offsets of every partition of ``topics`` on ``alias``."""
        partitions = [(topic, number) for topic in topics for number in ((0, 1) if self.main in topic else (0,))]
        return {key: self.end(alias, *key) for key in partitions}

    def translate(self, *groups: str, topics: list[str] | None = None, **more: Any) -> dict[str, Any]:
        base = {"clusters": self.clusters, "topics": topics or [self.main], "groups": list(groups), "settle": 0.1}
        params = {**base, "leave": self.p, "enter": self.b, **more}
        known = {"topic_ids": self.topic_ids()} | {key: params.pop(key) for key in JOURNALED & params.keys()}
        journal = journal_state(self.clusters, (params["leave"], params["enter"]), **known)
        return run_module(dr_translation_info, as_pair({**params, **journal}))

    def topic_ids(self) -> dict[str, dict[str, str]]:
        """The ids of originals and replicas, as the journal stores them."""
        ids = {}
        for alias, other in ((self.p, self.b), (self.b, self.p)):
            names = [*self.topics, *(replica(other, topic) for topic in self.topics)]
            found = describe(self.kafka[alias], names)
            ids[alias] = {name: state.topic_id for name, state in found.items() if state is not None}
        return ids


@pytest.fixture(scope="module")
def pair(lab: Any) -> Iterator[LabPair]:
    """Records on both clusters, replicated.

    Then the flow P->B is stopped without tasks: the barrier. B->P still runs.
    """
    made = LabPair(lab)
    made.make_topics()
    for flow in (THERE, BACK):
        made.flow(flow, "running")
    for partition in (0, 1):
        made.send(P, made.main, partition, COUNT)
        made.send(B, made.main, partition, BACKWARD)
    made.send(P, made.late, 0, 3)
    made.send(P, made.hanging, 0, 3)
    transactions(made)
    made.wait_replicated(THERE, BACK)
    made.flow(THERE, "stopped")
    yield made
    for flow in (THERE, BACK):
        made.flow(flow, "absent")


def transactions(pair: LabPair) -> None:
    """Ten transactions of three records on the topic tx. Every third one and the last one are aborted."""
    producer = Producer({"bootstrap.servers": pair.servers(P), "transactional.id": uuid.uuid4().hex})
    producer.init_transactions(30)
    for number in range(10):
        producer.begin_transaction()
        for record in range(3):
            producer.produce(pair.tx, f"{number}/{record}", partition=0)
        producer.flush(30)
        producer.abort_transaction(30) if number % 3 == 0 else producer.commit_transaction(30)
    observed = wait_until(lambda: pair.end(P, pair.tx), lambda end: end == 40, Bounds(30, 0.05))
    assert observed.done, "the markers of ended transactions were not written"


def by_place(result: dict[str, Any]) -> dict[tuple[str, int], dict[str, Any]]:
    return {(row["topic"], row["partition"]): row for row in result["details"]}


def replica(alias: str, topic: str) -> str:
    return f"{alias}.{topic}"


# ---- read to the end


def test_a_group_that_has_read_everything_starts_exactly_at_the_end_of_all_topics(pair: LabPair) -> None:
    """R7: the replica and the original on the cluster being entered, each partition."""
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
    assert [row["group"] for row in result["committed_offsets"]] == [group]
    assert len(result["committed_offsets"][0]["committed_offsets"]) == 4


def test_the_translation_back_works_the_same_way(pair: LabPair) -> None:
    """R7: the four topics of both clusters, in both directions."""
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


def test_the_barrier_has_the_values_that_cannot_be_read_later(pair: LabPair) -> None:
    commits = pair.ends(P, pair.main, replica(B, pair.main))
    group = pair.group(P, commits)
    barrier = pair.translate(group)["barrier"]
    both = {"0": COUNT, "1": COUNT}
    assert barrier["ends"] == {pair.main: both}
    assert barrier["last_replicated_offset"] == {pair.main: {"0": COUNT - 1, "1": COUNT - 1}}
    assert barrier["starts"] == {pair.main: {"0": 0, "1": 0}}
    assert barrier["cut"] == {pair.main: {"0": BACKWARD, "1": BACKWARD}}
    at_barrier = {
        (topic, int(n)): at for topic, parts in barrier["committed_offsets"][group].items() for n, at in parts.items()
    }
    assert at_barrier == commits


def test_a_tail_of_markers_and_aborted_records_is_read_to_the_end(pair: LabPair) -> None:
    """R5 and R19: no consumer receives them."""
    last = max(record.offset for record in data_records(pair.kafka[P], (pair.tx, 0), 0, 40))
    group = pair.group(P, {(pair.tx, 0): last + 1})
    result = pair.translate(group, topics=[pair.tx])
    assert last + 1 < 40
    assert result["rc"] == 0, result["msg"]
    row = by_place(result)[replica(P, pair.tx), 0]
    assert (row["offset"], row["quality"]) == (18, "exact")  # Six committed transactions of three records.


# ---- lagging groups -------


@pytest.mark.parametrize("committed_offset", [0, 1, 8, 25, COUNT - 1])
def test_a_lagging_group_continues_with_the_next_record(pair: LabPair, committed_offset: int) -> None:
    commits = {**pair.ends(P, pair.main, replica(B, pair.main)), (pair.main, 0): committed_offset}
    group = pair.group(P, commits)
    result = pair.translate(group)
    assert result["rc"] == 0, result["msg"]
    row = by_place(result)[replica(P, pair.main), 0]
    assert (row["quality"], row["rereads"], result["rereads"]) == ("exact", 0, 0)
    assert pair.values(B, replica(P, pair.main), 0, row["offset"]) == pair.values(P, pair.main, 0, committed_offset)
    # A narrow part of both logs around the offset is enough.
    assert 0 < result["records_read"] <= 6 * COUNT


@pytest.mark.parametrize("transaction", [0, 1, 4, 8])
def test_a_lagging_group_continues_with_the_next_record_if_markers_shift_the_offsets(
    pair: LabPair, transaction: int
) -> None:
    group = pair.group(P, {(pair.tx, 0): 4 * transaction + 1})
    result = pair.translate(group, topics=[pair.tx])
    assert result["rc"] == 0, result["msg"]
    row = by_place(result)[replica(P, pair.tx), 0]
    assert (row["quality"], row["rereads"]) == ("exact", 0)
    assert pair.values(B, replica(P, pair.tx), 0, row["offset"]) == pair.values(P, pair.tx, 0, 4 * transaction + 1)


def test_without_topic_ids_only_the_log_start_is_safe_and_it_is_refused_unless_re_reads_are_accepted(
    pair: LabPair,
) -> None:
    group = pair.group(P, {**pair.ends(P, pair.main, replica(B, pair.main)), (pair.main, 1): 8})
    result = pair.translate(group, topic_ids={})
    assert (result["rc"], result["error"]["code"]) == (1, "group_lagging")
    assert f'Group "{group}" on {P}.{pair.main}-1' in result["msg"]
    assert "kafka_dr_group_lag=reread" in result["error"]["hint"]
    accepted = pair.translate(group, topic_ids={}, group_lag="reread")
    row = by_place(accepted)[replica(P, pair.main), 1]
    assert (row["offset"], row["method"], row["rereads"]) == (0, "start", COUNT)


@pytest.mark.parametrize("alias", [P, B])
def test_a_re_created_topic_is_refused_by_name(pair: LabPair, alias: str) -> None:
    """Earlier offsets and offset-syncs mean other records, even for a group that has read everything."""
    name = pair.main if alias == P else replica(P, pair.main)
    group = pair.group(P, pair.ends(P, pair.main, replica(B, pair.main)))
    ids = pair.topic_ids()
    ids[alias] = {**ids[alias], name: "AAAAAAAAAAAAAAAAAAAAAA"}
    result = pair.translate(group, topic_ids=ids, group_lag="reread")
    assert result["error"]["code"] == "topic_recreated"
    assert f'"{name}" on {alias}' in result["msg"]
    assert "committed_offsets" not in result


def test_a_committed_offset_on_the_entered_cluster_is_reported_and_does_not_count(pair: LabPair) -> None:
    """R6: the committed offset on the cluster being left is the truth."""
    group = pair.group(P, {**pair.ends(P, pair.main, replica(B, pair.main)), (pair.main, 0): 8})
    before = by_place(pair.translate(group, group_lag="reread"))[replica(P, pair.main), 0]
    pair.group(B, {(replica(P, pair.main), 0): 33}, group)
    after = by_place(pair.translate(group, group_lag="reread"))[replica(P, pair.main), 0]
    assert (before["existing"], after["existing"]) == (None, 33)
    assert after["offset"] == before["offset"] == 8


@pytest.mark.parametrize("original", [False, True], ids=["on the replica", "on the original"])
def test_a_forecast_refuses_a_higher_offset_that_a_group_which_was_set_back_has_left(
    pair: LabPair, original: bool
) -> None:
    """R6: group sync never lowers an offset. Only commit_offsets found it, after all applications had stopped."""
    there = (pair.main, 0) if original else (replica(P, pair.main), 0)
    place, at, higher = ((replica(B, pair.main), 0), 2, 4) if original else ((pair.main, 0), 8, 33)
    group = pair.group(P, {**pair.ends(P, pair.main, replica(B, pair.main)), place: at})
    assert pair.translate(group, forecast=True)["rc"] == 0
    pair.group(B, {there: at}, group)
    assert pair.translate(group, forecast=True)["rc"] == 0
    pair.group(B, {there: higher}, group)
    refused = pair.translate(group, forecast=True)
    assert (refused["rc"], refused["error"]["code"]) == (1, "offset_lower"), refused
    assert f'group "{group}" on {B} {there[0]}-0: committed {higher}, processed up to {at}' in refused["msg"]
    assert "kafka_dr_lower=keep" in refused["error"]["hint"]
    for lower in ("lower", "keep"):
        assert pair.translate(group, forecast=True, lower=lower)["rc"] == 0


def test_a_forecast_lets_a_group_with_members_pass_a_higher_offset(pair: LabPair) -> None:
    """A group that reads on is refused only where it may move from wherever it stops."""
    group = pair.group(P, {**pair.ends(P, pair.main, replica(B, pair.main)), (pair.main, 0): 8})
    pair.group(B, {(replica(P, pair.main), 0): 33}, group)
    consumer = Consumer({"bootstrap.servers": pair.servers(P), "group.id": group, "enable.auto.commit": False})
    consumer.subscribe([pair.main])
    try:
        while not consumer.assignment():
            consumer.poll(0.1)
        assert pair.translate(group, forecast=True)["rc"] == 0
        refused = pair.translate(group, forecast=True, group_lag="reread", wait_timeout=0)
        assert (refused["rc"], refused["error"]["code"]) == (1, "offset_lower"), refused
        # It passes that offset while the forecast observes.
        timer = threading.Timer(
            1.0, lambda: consumer.commit(offsets=[TopicPartition(pair.main, 0, 34)], asynchronous=False)
        )
        timer.start()
        assert pair.translate(group, forecast=True, group_lag="reread", wait_timeout=30)["rc"] == 0
        timer.join()
    finally:
        consumer.close()


# ---- the original


@pytest.mark.parametrize("trusted", [5, 1, None])
def test_on_the_original_the_exact_translation_counts_and_no_earlier_offset(pair: LabPair, trusted: int | None) -> None:
    """R39: a group with a higher offset of its own was set back on the replica, and the lower truth wins."""
    group = pair.group(P, {**pair.ends(P, pair.main), (replica(B, pair.main), 0): 2, (replica(B, pair.main), 1): 6})
    # An untrusted commit may come from a rehearsal.
    pair.group(B, {(pair.main, 0): 5}, group)
    own = {} if trusted is None else {group: {pair.main: {"0": trusted}}}
    result = pair.translate(group, trusted_offsets=own)
    assert result["rc"] == 0, result["msg"]
    row = by_place(result)[pair.main, 0]
    assert (row["offset"], row["method"], row["quality"], row["rereads"]) == (2, "tail", "exact", 0)
    # The move may lower what the group itself has committed there, and nothing else (R6).
    assert row["own"] == (5 if trusted == 5 else None)
    assert ("own earlier committed offset 5 does not count" in row["reason"]) == (trusted == 5)


def test_a_trusted_offset_past_the_end_is_refused(pair: LabPair) -> None:
    """R8: the original was re-created meanwhile."""
    group = pair.group(P, {**pair.ends(P, pair.main), (replica(B, pair.main), 0): 2})
    result = pair.translate(group, group_lag="reread", trusted_offsets={group: {pair.main: {"0": 99}}})
    assert result["error"]["code"] == "no_committed_offset"
    assert "past the log end" in result["msg"]


# ---- the topics of a group


def test_only_the_topics_that_a_group_reads_are_translated(pair: LabPair) -> None:
    group = pair.group(P, {(pair.tx, 0): 40})
    result = pair.translate(group, topics=[pair.main, pair.tx])
    assert result["rc"] == 0, result["msg"]
    assert {topic for topic, _partition in by_place(result)} == {pair.tx, replica(P, pair.tx)}


def test_a_declared_topic_needs_a_committed_offset(pair: LabPair) -> None:
    """R8: auto.offset.reset must never decide."""
    group = pair.group(P, {(pair.tx, 0): 40})
    result = pair.translate(group, topics=[pair.main, pair.tx], group_topics={group: [pair.main, pair.tx]})
    assert result["error"]["code"] == "no_committed_offset"
    assert f"{P}.{pair.main}-0: the group has no committed offset on the cluster being left" in result["msg"]


def test_a_missing_offset_on_one_partition_is_refused_even_if_re_reads_are_accepted(pair: LabPair) -> None:
    """R8: auto.offset.reset must never decide."""
    commits = pair.ends(P, pair.main, replica(B, pair.main))
    del commits[pair.main, 1]
    group = pair.group(P, commits)
    result = pair.translate(group, group_lag="reread")
    assert (result["error"]["code"], result["rereads"]) == ("no_committed_offset", None)
    assert f"{P}.{pair.main}-1" in result["msg"]
    assert "auto.offset.reset" in result["error"]["hint"]


def test_an_offset_past_the_end_is_refused_and_not_taken_for_the_end(pair: LabPair) -> None:
    """R8: brokers accept such a commit."""
    group = pair.group(P, {**pair.ends(P, pair.main, replica(B, pair.main)), (pair.main, 0): COUNT + 60})
    result = pair.translate(group, group_lag="reread")
    assert result["error"]["code"] == "no_committed_offset"
    assert f"committed offset {COUNT + 60} is past the log end {COUNT}" in result["msg"]


# ---- idle groups


@contextmanager
def polling(pair: LabPair, alias: str, group: str, topic: str, **more: Any) -> Iterator[None]:
    """A member of the group. Once it has joined, librdkafka keeps it a member without polling."""
    options = {"group.id": group, "enable.auto.commit": False, "auto.offset.reset": "error", **more}
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
def test_a_group_with_members_on_either_cluster_is_refused(pair: LabPair, alias: str) -> None:
    """R9: an active group must not be committed for."""
    group = pair.group(P, pair.ends(P, pair.main, replica(B, pair.main)))
    if alias == B:
        pair.group(B, {(pair.main, 0): 0, (pair.main, 1): 0}, group)
    with polling(pair, alias, group, pair.main):
        result = pair.translate(group)
    assert result["error"]["code"] == "group_active"
    assert f"on {alias} after 0 s: {group} (" in result["msg"]
    assert "committed_offsets" not in result


SESSION = 6
STATIC = {"group.instance.id": "till-1", "session.timeout.ms": SESSION * 1000, "client.id": "till"}


def group_state(pair: LabPair, alias: str, group: str) -> GroupState:
    return describe_groups(pair.kafka[alias], [group])[group]


@pytest.mark.parametrize("alias", [P, B])
def test_a_static_member_that_has_left_is_waited_for(pair: LabPair, alias: str) -> None:
    """R9: the bound follows its session timeout."""
    group = pair.group(P, pair.ends(P, pair.main, replica(B, pair.main)))
    if alias == B:
        pair.group(B, {(pair.main, 0): 0, (pair.main, 1): 0}, group)
    with polling(pair, alias, group, pair.main, **STATIC):
        pass
    assert group_state(pair, alias, group).members, "it has left by itself: nothing is tested here"
    result = pair.translate(group, member_timeout=SESSION * 5)
    assert result["rc"] == 0, result["msg"]
    assert not group_state(pair, alias, group).members


def test_an_active_member_is_refused_within_the_bound_and_named(pair: LabPair) -> None:
    group = pair.group(P, pair.ends(P, pair.main, replica(B, pair.main)))
    with polling(pair, P, group, pair.main, **STATIC):
        began = time.monotonic()
        result = pair.translate(group, member_timeout=3)
        seconds = time.monotonic() - began
    assert result["error"]["code"] == "group_active"
    assert 3 <= seconds < 30
    assert f"on {P} after 3 s: {group} (" in result["msg"]
    assert "till on " in result["msg"]
    assert "group.instance.id till-1" in result["msg"]


def test_a_reader_with_assign_has_no_members_and_is_found_by_its_advancing_offset(pair: LabPair) -> None:
    """R9: a group without members may still commit."""
    commits = {**pair.ends(P, pair.main, replica(B, pair.main)), (pair.main, 0): 1}
    group = pair.group(P, commits)
    consumer = Consumer({"bootstrap.servers": pair.servers(P), "group.id": group, "enable.auto.commit": False})
    consumer.assign([TopicPartition(pair.main, 0, 1)])
    over = threading.Event()

    def work() -> None:
        committed_offset = 1
        while not over.wait(0.2):
            committed_offset = committed_offset % (COUNT - 1) + 1
            consumer.commit(offsets=[TopicPartition(pair.main, 0, committed_offset)], asynchronous=False)

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
    assert f"{pair.main}-0 changed" in result["msg"]


# ---- the barrier


def test_a_flow_that_still_runs_is_no_barrier(pair: LabPair) -> None:
    """R20: N is final only after a stop that left no tasks."""
    group = pair.group(B, pair.ends(B, pair.main, replica(P, pair.main)))
    result = pair.translate(group, leave=B, enter=P)
    assert result["error"]["code"] == "no_barrier"
    assert "RUNNING" in result["msg"]
    assert "expected STOPPED" in result["msg"]


def test_without_a_barrier_a_replicated_group_gets_the_end_that_was_read_before_the_sources(pair: LabPair) -> None:
    """R14 and R20: the replica grows meanwhile."""
    group = pair.group(B, pair.ends(B, pair.main, replica(P, pair.main)))
    result = pair.translate(group, leave=B, enter=P, barrier=False, group_lag="reread", wait_timeout=60)
    assert result["rc"] == 0, result["msg"]
    for number in (0, 1):
        row = by_place(result)[replica(B, pair.main), number]
        assert (row["offset"], row["quality"]) == (BACKWARD, "exact")


def test_unreplicated_records_after_the_barrier_are_refused_by_name(pair: LabPair) -> None:
    """R20: every record before the barrier must be replicated."""
    pair.send(P, pair.late, 0, 2)
    group = pair.group(P, {(pair.late, 0): 3})
    result = pair.translate(group, topics=[pair.late], group_lag="reread")
    assert result["error"]["code"] == "not_drained"
    assert f"{pair.late}-0: replicated up to 2, source end 5" in result["msg"]


def test_without_a_barrier_an_unreplicated_offset_is_waited_for_within_the_bound(pair: LabPair) -> None:
    """R14: N >= commit - 1."""
    pair.send(P, pair.late, 0, 1)
    group = pair.group(P, {(pair.late, 0): pair.end(P, pair.late)})
    result = pair.translate(group, topics=[pair.late], barrier=False, group_lag="reread", wait_timeout=2)
    assert result["error"]["code"] == "not_replicated"
    assert f"{pair.late}-0 (replicated 2, committed" in result["msg"]
    # Records after the group's own offset do not matter to it.
    pair.group(P, {(pair.late, 0): 3}, group)
    again = pair.translate(group, topics=[pair.late], barrier=False, group_lag="reread", wait_timeout=20)
    assert again["rc"] == 0, again["msg"]


def test_a_flow_with_an_open_transaction_is_not_drained(pair: LabPair) -> None:
    """R5: its records would arrive after offsets that claim that everything was read."""
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


def test_a_group_that_has_read_into_an_open_transaction_waits_for_its_end(pair: LabPair) -> None:
    """R19: a reader of uncommitted records commits after the last stable offset, and none of them is replicated yet."""
    last_stable = pair.settled_end(P, pair.hanging)
    producer = Producer({"bootstrap.servers": pair.servers(P), "transactional.id": uuid.uuid4().hex})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(pair.hanging, "open", partition=0)
    producer.flush(30)
    group = pair.group(P, {(pair.hanging, 0): last_stable + 1})
    without = {"topics": [pair.hanging], "barrier": False, "group_lag": "reread"}
    try:
        forecast = pair.translate(group, topics=[pair.hanging], forecast=True, wait_timeout=2)
        result = pair.translate(group, **without, wait_timeout=2)
    finally:
        producer.abort_transaction(30)
    assert forecast["rc"] == 0, forecast["msg"]
    assert (result["rc"], result["error"]["code"]) == (1, "not_replicated"), result
    assert f"{pair.hanging}-0 (last stable offset {last_stable}, committed {last_stable + 1})" in result["msg"]
    assert "committed_offsets" not in result
    # The transaction was aborted, so nothing is left to replicate.
    ended = pair.translate(group, **without, wait_timeout=20)
    assert ended["rc"] == 0, ended["msg"]
    row = by_place(ended)[replica(P, pair.hanging), 0]
    assert (row["offset"], row["rereads"]) == (3, 0)


# ---- damaged topics of MirrorMaker 2: offsets depend on the records themselves --------


class Bare:
    """A pair without a flow back, stopped after replicating.

    No other test uses its internal topics, so they may be damaged.
    """

    def __init__(self, lab: Any) -> None:
        run = uuid.uuid4().hex[:6]
        self.p, self.b = f"W{run}", f"V{run}"
        self.there = {"source": self.p, "target": self.b}
        self.pair = LabPair(lab, self.p, self.b)
        self.pair.topics = [self.pair.main]
        self.pair.make_topics()
        self.syncs, self.heartbeats = f"mm2-offset-syncs.{self.p}.internal", f"{self.p}.heartbeats"
        self.pair.flow(self.there, "running")
        for partition in (0, 1):
            self.pair.send(self.p, self.pair.main, partition, COUNT)
        self.pair.wait_replicated(self.there)
        self.pair.flow(self.there, "stopped")
        # MirrorMaker 2's own offset-syncs.
        self.real = self._written()

    @property
    def replica(self) -> str:
        return replica(self.p, self.pair.main)

    def _written(self) -> Written:
        kafka, place = self.pair.kafka[self.b], (self.syncs, 0)
        return [(one.key, one.value) for one in data_records(kafka, place, *log_ranges(kafka, {place})[place])]

    def write(self, topic: str, records: Written | None) -> None:
        """Give an internal topic exactly these records. None: delete it. The collection itself refuses to do that."""
        kafka = self.pair.kafka[self.b]

        def exists() -> bool | None:
            state = describe(kafka, [topic])[topic]
            return None if state is not None and state.leaderless else state is not None

        if exists():
            kafka.admin.delete_topics([topic])[topic].result()
            assert wait_until(exists, lambda found: found is False, Bounds(30, 0.05)).done
        if records is None:
            return
        kafka.admin.create_topics([NewTopic(topic, 1, 1)])[topic].result()
        assert wait_until(exists, lambda found: found is True, Bounds(30, 0.05)).done
        producer = Producer({"bootstrap.servers": self.pair.servers(self.b)})
        for key, value in records:
            producer.produce(topic, value, key=key, partition=0)
        assert producer.flush(30) == 0

    def delete(self, alias: str, topic: str, partition: int, before: int) -> None:
        """Delete records as retention does, or kafka-delete-records."""
        admin = AdminClient({"bootstrap.servers": self.pair.servers(alias)})
        for future in admin.delete_records([TopicPartition(topic, partition, before)]).values():
            future.result()

    def policy(self, alias: str, topic: str, value: str) -> None:
        item = {"name": topic, "config": {"cleanup.policy": value}}
        made = run_module(kafka_topic, {"bootstrap_servers": self.pair.servers(alias), "topics": [item]})
        assert made["rc"] == 0, made

    def groups(self, partition: int, at: Iterable[int]) -> dict[str, int]:
        """A group for every offset on one partition, which has read the other one to the end."""
        there = self.pair.main, 1 - partition
        return {
            self.pair.group(self.p, {there: COUNT, (self.pair.main, partition): committed_offset}): committed_offset
            for committed_offset in at
        }

    def offsets(self, groups: dict[str, int], partition: int, **more: Any) -> dict[int, dict[str, Any]]:
        """The rows of all groups on one partition of the replica, by their offset on the source."""
        result = self.pair.translate(*groups, **more)
        assert result["rc"] == 0, result["msg"]
        rows = [row for row in result["details"] if (row["topic"], row["partition"]) == (self.replica, partition)]
        return {groups[row["group"]]: row for row in rows}


@pytest.fixture(scope="module")
def bare(lab: Any) -> Iterator[Bare]:
    made = Bare(lab)
    yield made
    made.pair.flow(made.there, "absent")
    for topic in (made.syncs, made.heartbeats):
        made.write(topic, None)


def sync(topic: str, partition: int, upstream: int, downstream: int) -> tuple[bytes, bytes]:
    """An offset-sync as MirrorMaker 2 writes it."""
    name = topic.encode()
    return struct.pack(">h", len(name)) + name + struct.pack(">i", partition), struct.pack(">qq", upstream, downstream)


def test_offset_syncs_written_here_are_read_like_those_of_mirrormaker_2(bare: Bare) -> None:
    """Otherwise the following tests would prove nothing."""
    at = [key[0] for key in bare.real if key[0] is not None and key[0].endswith(b"\0\0\0\1")]
    assert len(at) > 1
    # Heartbeats are replicated too, once another test of this lab has made the topic.
    topics = {key for key, _value in bare.real if key is not None and b"heartbeats" not in key}
    assert topics == {sync(bare.pair.main, number, 0, 0)[0] for number in (0, 1)}
    groups = bare.groups(0, [25])
    rows = []
    ways: list[Written] = [bare.real, [sync(bare.pair.main, 0, 20, 20)], [sync(bare.pair.main, 0, 22, 7)]]
    for written in ways:
        bare.write(bare.syncs, written)
        rows.append(bare.offsets(groups, 0)[25])
    assert [row["offset"] for row in rows] == [25, 25, 25]
    assert rows[0]["checkpoint"] in range(1, 26)
    # The offsets that MirrorMaker 2 itself would have derived from these.
    assert [row["checkpoint"] for row in rows[1:]] == [21, 8]


def test_without_an_offset_syncs_topic_offsets_are_exact_by_content(bare: Bare) -> None:
    bare.write(bare.syncs, None)
    committed_offsets = range(COUNT + 1)
    rows = bare.offsets(bare.groups(0, committed_offsets), 0)
    assert {at: (row["offset"], row["quality"], row["checkpoint"]) for at, row in rows.items()} == {
        at: (at, "exact", None) for at in committed_offsets
    }
    assert {row["method"] for at, row in rows.items() if 0 < at < COUNT} == {"content"}


LIES = [(0, COUNT - 1), (5, 30), (7, 3), (20, 21), (30, 5), (COUNT - 1, COUNT - 1), (COUNT + 60, 9), (9, COUNT + 60)]


@pytest.mark.parametrize(
    "syncs", [LIES, LIES[::-1], [(5, 30)], [(30, 5)]], ids=["all", "reverse", "too-high", "too-low"]
)
def test_wrong_offset_syncs_cause_no_skip(bare: Bare, syncs: list[tuple[int, int]]) -> None:
    """Offset-syncs of an earlier topic of the same name: each is compared with the records that it names."""
    bare.write(bare.syncs, [sync(bare.pair.main, 0, *places) for places in syncs])
    committed_offsets = range(COUNT + 1)
    rows = bare.offsets(bare.groups(0, committed_offsets), 0)
    assert {at: (row["offset"], row["quality"]) for at, row in rows.items()} == {
        at: (at, "exact") for at in committed_offsets
    }
    # They were read: MirrorMaker 2 itself would have followed one of them.
    assert any(row["checkpoint"] not in (None, at, at + 1) for at, row in rows.items())


def test_a_wrong_offset_sync_whose_source_record_has_expired_causes_no_skip(bare: Bare) -> None:
    """The record cannot be compared any more, but the next ones show that the offset-sync is wrong."""
    gone = 10
    admin = AdminClient({"bootstrap.servers": bare.pair.servers(bare.p)})
    for future in admin.delete_records([TopicPartition(bare.pair.main, 1, gone)]).values():
        future.result()
    bare.write(bare.syncs, [sync(bare.pair.main, 1, 2, COUNT - 1)])
    rows = bare.offsets(bare.groups(1, range(gone, COUNT + 1)), 1, group_lag="reread")
    assert {at: row["offset"] for at, row in rows.items() if row["offset"] > at} == {}


# ---- records that the replica no longer has (R30) -


@pytest.fixture(scope="module")
def expired(lab: Any) -> Iterator[Bare]:
    """The replica has lost 25 of 40 records of partition 0, and all records of partition 1."""
    made = Bare(lab)
    for partition, gone in ((0, GONE), (1, COUNT)):
        made.delete(made.b, made.replica, partition, gone)
    yield made
    made.pair.flow(made.there, "absent")
    for topic in (made.syncs, made.heartbeats):
        made.write(topic, None)


@pytest.mark.parametrize(
    "more", [{}, {"forecast": True}, {"barrier": False}], ids=["barrier", "forecast", "no barrier"]
)
def test_unread_records_that_the_replica_has_lost_are_counted_and_refused(expired: Bare, more: dict[str, Any]) -> None:
    """R30: raising the offset to the log start is a skip, and accepting re-reads does not accept it."""
    (group,) = expired.groups(0, [10])
    result = expired.pair.translate(group, group_lag="reread", accept_skips=["another"], **more)
    assert (result["rc"], result["error"]["code"]) == (1, "records_gone"), result
    assert f"{expired.b} no longer holds 15 records that {group} has not read on {expired.p}" in result["msg"]
    assert f"{expired.replica}-0" in result["msg"]
    assert f"the log starts at {GONE}" in result["msg"]
    assert "kafka_dr_accept_skips" in result["error"]["hint"]
    assert result["skips"] == {"at_least": 15, "at_most": 15}


@pytest.mark.parametrize("syncs", ["real", "none", "last"])
def test_every_lagging_offset_has_its_exact_number_which_is_accepted_by_name(expired: Bare, syncs: str) -> None:
    """This holds for every remainder of the offset-syncs. Remaining records are neither skipped nor read again."""
    expired.write(expired.syncs, {"real": expired.real, "none": None, "last": expired.real[-1:]}[syncs])
    committed_offsets = range(COUNT + 1)
    groups = expired.groups(0, committed_offsets)
    rows = expired.offsets(groups, 0, group_lag="reread", accept_skips=list(groups))
    lost = {at: max(0, GONE - at) for at in committed_offsets}
    assert {at: row["skips"] for at, row in rows.items()} == {
        at: {"at_least": count, "at_most": count} for at, count in lost.items()
    }
    assert {at for at, row in rows.items() if row["quality"] == "skips"} == set(range(GONE))
    assert {at: row["offset"] for at, row in rows.items() if lost[at]} == dict.fromkeys(range(GONE), GONE)
    for at in (GONE - 1, GONE, GONE + 5):
        rest = expired.pair.values(expired.b, expired.replica, 0, rows[at]["offset"])
        assert rest[-(COUNT - max(at, GONE)) :] == expired.pair.values(expired.p, expired.pair.main, 0, max(at, GONE))


def test_if_a_replica_has_lost_everything_each_unread_record_is_counted(expired: Bare) -> None:
    expired.write(expired.syncs, expired.real)
    groups = expired.groups(1, [0, 10, COUNT - 1, COUNT])
    # All groups have read partition 0 to the end.
    rows = expired.offsets(groups, 1, group_lag="reread", accept_skips=list(groups))
    assert {at: (row["offset"], row["skips"]["at_least"], row["skips"]["at_most"]) for at, row in rows.items()} == {
        at: (COUNT, COUNT - at, COUNT - at) for at in (0, 10, COUNT - 1, COUNT)
    }
    assert rows[COUNT]["quality"] == "exact"


def test_records_that_expired_on_both_clusters_are_reported_and_not_counted(expired: Bare) -> None:
    """R30: such a record is lost to the group with or without a move."""
    expired.delete(expired.p, expired.pair.main, 1, COUNT)
    (group,) = expired.groups(1, [5])
    result = expired.pair.translate(group, group_lag="reread")
    assert result["rc"] == 0, result["msg"]
    assert result["skips"] == {"at_least": 0, "at_most": 0}


# ---- records without a copy (R36) -


SET_TO, LAST = 60, 80


@pytest.fixture(scope="module")
def lacking(lab: Any) -> Iterator[Bare]:
    """Partition 0: records 40 to 59 were never replicated, because the flow's stored offset was set forward.

    Partition 1: the replica was compacted for a while, which removes every record without a key.
    """
    made = Bare(lab)
    p, b, main = made.p, made.b, made.pair.main
    made.pair.send(p, main, 0, SET_TO - COUNT)
    connector, url = f"{p}->{b}.MirrorSourceConnector", made.pair.clusters[b]["connect_url"]
    place = {"cluster": p, "partition": 0, "topic": main}
    body = json.dumps({"offsets": [{"partition": place, "offset": {"offset": SET_TO - 1}}]}).encode()
    address = f"{url}/connectors/{urllib.parse.quote(connector)}/offsets"
    request = urllib.request.Request(address, body, {"Content-Type": "application/json"}, method="PATCH")
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert answer.status == 200
    configure(made, {"segment.ms": 100})
    # Otherwise MirrorMaker 2 sets it back to the source's value at once.
    settings = {"refresh.topics.interval.seconds": 1, "heartbeats.replication.enabled": False}
    made.pair.flow(made.there, "running", source_settings={**settings, "sync.topic.configs.enabled": False})
    for partition, until in ((0, LAST - SET_TO), (1, LAST - COUNT)):
        made.pair.send(p, main, partition, until)
    made.pair.wait_replicated(made.there)
    made.pair.flow(made.there, "stopped")

    def left() -> int:
        return len(made.pair.values(b, made.replica, 1, 0))

    # A compacted topic accepts no record without a key, so the flow is stopped meanwhile.
    configure(made, {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": 0.01})
    assert wait_until(left, lambda count: count <= LAST - COUNT, Bounds(90, 0.5)).done
    configure(made, {"cleanup.policy": "delete", "segment.ms": None, "min.cleanable.dirty.ratio": None})
    yield made
    made.pair.flow(made.there, "absent")
    for topic in (made.syncs, made.heartbeats):
        made.write(topic, None)


def configure(made: Bare, config: dict[str, Any]) -> None:
    item = {"name": made.replica, "config": config}
    done = run_module(kafka_topic, {"bootstrap_servers": made.pair.servers(made.b), "topics": [item]})
    assert done["rc"] == 0, done


def test_a_group_before_records_without_a_copy_starts_there_and_is_refused(lacking: Bare) -> None:
    """R36: it starts at the first copy of an unread record, and what has no copy is named and counted."""
    (group,) = lacking.groups(0, [45])
    lacking.pair.group(lacking.p, {(lacking.pair.main, 1): LAST}, group)
    result = lacking.pair.translate(group, group_lag="reread")
    assert (result["rc"], result["error"]["code"]) == (1, "records_gone"), result
    assert "of the source have no copy" in result["msg"]
    assert "45 to 59" in result["msg"]
    assert result["skips"] == {"at_least": 15, "at_most": 15}


def test_every_offset_around_records_without_a_copy_reads_each_copy_of_an_unread_record(lacking: Bare) -> None:
    # Compaction has removed the copies of the records before.
    at = range(COUNT, LAST, 5)
    groups = lacking.groups(0, at)
    for group in groups:
        lacking.pair.group(lacking.p, {(lacking.pair.main, 1): LAST}, group)
    rows = lacking.offsets(groups, 0, group_lag="reread", accept_skips=list(groups))
    missing = {commit: max(0, SET_TO - commit) for commit in at}
    wanted = {commit: (max(COUNT, commit - (SET_TO - COUNT)), missing[commit], missing[commit]) for commit in at}
    found = {commit: (row["offset"], row["skips"]["at_least"], row["skips"]["at_most"]) for commit, row in rows.items()}
    assert found == wanted
    assert {commit for commit, row in rows.items() if row["quality"] == "exact"} == {
        commit for commit in at if not missing[commit]
    }


def test_a_replica_that_was_compacted_for_a_while_skips_no_record_unseen(lacking: Bare) -> None:
    """R36: the policy is delete again, and nothing but the records shows what is missing."""
    left = set(lacking.pair.values(lacking.b, lacking.replica, 1, 0))
    source = lacking.pair.values(lacking.p, lacking.pair.main, 1, 0)
    assert 0 < len(left) < len(source) == LAST
    at = range(0, LAST, 5)
    groups = {}
    for commit_at in at:
        group = lacking.pair.group(lacking.p, {(lacking.pair.main, 0): LAST, (lacking.pair.main, 1): commit_at})
        groups[group] = commit_at
    rows = lacking.offsets(groups, 1, group_lag="reread", accept_skips=list(groups))
    for commit_at, row in rows.items():
        unread = source[commit_at:]
        found = set(lacking.pair.values(lacking.b, lacking.replica, 1, row["offset"]))
        # Both batches have the same values, so a value counts as found only where it was sent.
        assert row["skips"]["at_most"] >= len(set(unread) - found), row
        assert row["quality"] == "skips" or set(unread) <= found, row
    assert any(row["quality"] == "skips" for row in rows.values())


def test_without_a_stored_offset_of_the_flow_a_record_without_a_copy_is_not_taken_for_a_later_one(
    lacking: Bare,
) -> None:
    """R36: N is unknown, so records 45 to 59 may be missing, or may be on their way. The others have copies."""
    connector = f"{lacking.p}->{lacking.b}.MirrorSourceConnector"
    url = lacking.pair.clusters[lacking.b]["connect_url"]
    address = f"{url}/connectors/{urllib.parse.quote(connector)}/offsets"
    with urllib.request.urlopen(urllib.request.Request(address, method="DELETE"), timeout=30) as answer:
        assert answer.status == 200
    (group,) = lacking.groups(0, [45])
    lacking.pair.group(lacking.p, {(lacking.pair.main, 1): LAST}, group)
    result = lacking.pair.translate(group, forecast=True, group_lag="reread", wait_timeout=0)
    assert (result["rc"], result["error"]["code"]) == (1, "records_gone"), result
    assert "the flow has stored no offset of the partition" in result["msg"]
    assert result["skips"] == {"at_least": 0, "at_most": 15}
    (group,) = lacking.groups(0, [SET_TO])
    lacking.pair.group(lacking.p, {(lacking.pair.main, 1): LAST}, group)
    assert lacking.pair.translate(group, forecast=True, wait_timeout=0)["rc"] == 0


def test_the_reason_for_a_group_in_a_compacted_topic_names_compaction(bare: Bare) -> None:
    """ "offset-sync, verified" does not explain why a lagging group would read again."""
    bare.write(bare.syncs, bare.real)
    for alias, topic in ((bare.p, bare.pair.main), (bare.b, bare.replica)):
        bare.policy(alias, topic, "compact,delete")
    try:
        (group,) = bare.groups(0, [25])
        result = bare.pair.translate(group)
        assert result["error"]["code"] == "group_lagging", result
        assert "the source is compacted and the replica is compacted" in result["msg"]
        assert "may read some again" in result["msg"]
    finally:
        for alias, topic in ((bare.p, bare.pair.main), (bare.b, bare.replica)):
            bare.policy(alias, topic, "delete")


def test_offset_syncs_before_their_start_are_ignored(bare: Bare) -> None:
    groups = bare.groups(0, [25])
    bare.write(bare.syncs, bare.real)
    name, end = f"{bare.p}->{bare.b}", len(bare.real)

    def observe(since: int) -> dict[str, Any]:
        return bare.offsets(groups, 0, offset_syncs_start={name: {bare.pair.main: since}})[25]

    assert observe(0)["checkpoint"] is not None
    for since in (end, end + 100):
        assert (observe(since)["checkpoint"], observe(since)["offset"], observe(since)["quality"]) == (
            None,
            25,
            "exact",
        )
    # An offset-sync of another flow or topic has no effect.
    for other in ({"X->Y": {bare.pair.main: end}}, {name: {"another": end}}):
        assert bare.offsets(groups, 0, offset_syncs_start=other)[25] == observe(0)
    # Later offset-syncs count, earlier ones do not.
    bare.write(bare.syncs, [sync(bare.pair.main, 0, 24, 24), sync(bare.pair.main, 0, 12, 12)])
    assert [observe(since)["checkpoint"] for since in (0, 1, 2)] == [13, 13, None]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (b"garbage", b"garbage"),
        (sync("topic", 0, 1, 1)[0], b"\0\0\0"),
        (b"\0\2\xff\xfe\0\0\0\0", struct.pack(">qq", 1, 1)),
        (b"", b""),
    ],
    ids=["text", "short", "no UTF-8", "empty"],
)
def test_an_offset_syncs_topic_with_unreadable_records_is_refused_by_name(bare: Bare, key: bytes, value: bytes) -> None:
    bare.write(bare.syncs, [*bare.real[:2], (key, value)])
    (group,) = bare.groups(0, [8])
    result = bare.pair.translate(group, group_lag="reread")
    assert (result["rc"], result["error"]["code"]) == (1, "syncs_unreadable")
    assert f'offset 2 of the topic "{bare.syncs}" of the flow {bare.p}->{bare.b} is not an offset-sync' in result["msg"]
    assert "Nothing was committed" in result["error"]["hint"]
    assert "committed_offsets" not in result
    assert committed_offsets(bare.pair.kafka[bare.b], [group])[group] == {}
    # If every record was read, no offset-sync is needed.
    (done,) = bare.groups(0, [COUNT])
    assert bare.pair.translate(done)["rc"] == 0
    # Records before the first one that counts are not read.
    since = {f"{bare.p}->{bare.b}": {bare.pair.main: 3}}
    assert bare.offsets({group: 8}, 0, offset_syncs_start=since)[8]["offset"] == 8


def test_tombstones_in_an_offset_syncs_topic_are_ignored(bare: Bare) -> None:
    key, value = sync(bare.pair.main, 0, 5, 5)
    bare.write(bare.syncs, [(key, value), (key, None), (None, b"no key")])
    row = bare.offsets(bare.groups(0, [8]), 0)[8]
    assert (row["offset"], row["quality"], row["checkpoint"]) == (8, "exact", 6)


@pytest.mark.parametrize(
    ("value", "code", "text"),
    [
        (struct.pack(">hq", 7, 1), "unknown_version", "heartbeat record has version 7, wanted version 0"),
        (b"\0", "bad_record", "heartbeat record is too short"),
    ],
    ids=["newer", "garbage"],
)
def test_an_unreadable_heartbeat_is_reported(bare: Bare, value: bytes, code: str, text: str) -> None:
    """A newer MirrorMaker 2 or another program wrote it."""
    names = [name.encode() for name in (bare.p, bare.b)]
    bare.write(bare.syncs, bare.real)
    bare.write(bare.heartbeats, [(b"".join(struct.pack(">h", len(name)) + name for name in names), value)])
    groups = bare.groups(0, [8])
    try:
        result = bare.pair.translate(*groups)
    finally:
        bare.write(bare.heartbeats, None)
    assert (result["rc"], result["error"]["code"]) == (1, code)
    assert text in result["msg"]
    assert "committed_offsets" not in result
    assert bare.offsets(groups, 0)[8]["offset"] == 8


# ---- bad input


def test_an_unknown_alias_is_refused_by_name(pair: LabPair) -> None:
    result = pair.translate("g", enter="TX")
    assert result["error"]["code"] == "unknown_alias"
    assert '"TX"' in result["msg"]


def test_workers_that_are_down_are_reported_within_the_bound(pair: LabPair) -> None:
    clusters = {**pair.clusters, B: {**pair.clusters[B], "connect_url": "http://127.0.0.1:1"}}
    result = pair.translate("g", clusters=clusters, request_timeout=2)
    assert result["error"]["code"] == "connect_unreachable"


# ---- a tail was replayed, and the flow was set to continue after it


@pytest.fixture(scope="module")
def replayed(lab: Any) -> Iterator[LabPair]:
    """0..29 were replicated, 30..39 replayed by salvage, then 40..59 were replicated to 30..49 of the replica."""
    run = uuid.uuid4().hex[:6]
    made = LabPair(lab, f"H{run}", f"I{run}")
    made.topics = [made.main]
    made.make_topics()
    there, back = {"source": made.p, "target": made.b}, {"source": made.b, "target": made.p}
    for name in (f"{made.main}.salvage", f"{made.main}.state"):
        params = {"bootstrap_servers": made.servers(made.b), "topics": [{"name": name, "partitions": 2}]}
        assert run_module(kafka_topic, params)["rc"] == 0
    try:
        made.flow(there, "running")
        made.flow(back, "running")
        made.send(made.p, made.main, 0, 30)
        made.send(made.b, made.main, 0, BACKWARD)
        made.wait_replicated(there, back)
        made.flow(there, "stopped")
        made.send(made.p, made.main, 0, 10)
        params = {"clusters": made.clusters, "topics": made.topics, "source": made.p, "target": made.b}
        state = {**journal_state(made.clusters, (made.b, made.p)), "state_topic": f"{made.main}.state"}
        replay = run_module(dr_salvage, as_pair({**params, **state, "mode": "replay"}))
        assert (replay["rc"], replay["records"]) == (0, 10), replay
        made.flow(there, "running")
        made.send(made.p, made.main, 0, 20)
        made.wait_replicated(there)
        made.flow(there, "stopped")
        assert made.end(made.b, replica(made.p, made.main)) == 50
        yield made
    finally:
        for flow in (there, back):
            made.flow(flow, "absent")


def across(pair: LabPair, leave: str, enter: str, at: list[int], **more: Any) -> list[tuple[int, int | None]]:
    """Where groups at these offsets of P's records on ``leave`` start on ``enter``, and what they read again."""
    copy, mirror = replica(pair.p, pair.main), replica(pair.b, pair.main)
    own, there, rest = (pair.main, copy, mirror) if leave == pair.p else (copy, pair.main, pair.main)
    groups = [pair.group(leave, {(own, 0): one, (rest, 0): BACKWARD}) for one in at]
    more = {"state_topic": f"{pair.main}.state", **more}
    result = pair.translate(*groups, leave=leave, enter=enter, group_lag="reread", **more)
    assert result["rc"] == 0, result["msg"]
    rows = {row["group"]: row for row in result["details"] if (row["topic"], row["partition"]) == (there, 0)}
    return [(rows[group]["offset"], rows[group]["rereads"]) for group in groups]


def test_no_translation_crosses_a_replayed_tail(replayed: LabPair) -> None:
    """After it the group continues with the next record, in both directions. Before it the tail is counted."""
    p, b = replayed.p, replayed.b
    there = across(replayed, p, b, [20, 30, 35, 40, 45, 60])
    assert there == [(20, 0), (30, 0), (30, 0), (30, 0), (35, 0), (50, 0)]
    back = across(replayed, b, p, [20, 30, 35, 50], barrier=False)
    assert back == [(20, 10), (40, 0), (45, 0), (60, 0)]


def test_a_lost_state_topic_does_not_mean_that_no_tail_was_replayed(replayed: LabPair) -> None:
    """R37: the journal knows of the replay, so the ranges are unknown, and only the log start is safe."""
    p, b = replayed.p, replayed.b
    known = {f"{p}->{b}": {replayed.main: {"0": replayed.topic_ids()[p][replayed.main]}}}
    lost = {"state_topic": f"{replayed.main}.lost", "replays": known}
    assert [offset for offset, _rereads in across(replayed, p, b, [20, 35, 45], **lost)] == [0, 0, 0]
    assert [offset for offset, _rereads in across(replayed, b, p, [20, 35], barrier=False, **lost)] == [0, 0]
    # An earlier topic of that name was replayed.
    other = {f"{p}->{b}": {replayed.main: {"0": "AAAAAAAAAAAAAAAAAAAAAA"}}}
    with pytest.raises(AssertionError, match="offsets 30 to 39 of the source have no copy"):
        across(replayed, p, b, [20], state_topic=lost["state_topic"], replays=other)
