# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The records that only the source has, counted on real brokers and after a real flow."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka import TopicPartition as Place
from confluent_kafka.admin import AdminClient

from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.mirror import (
    FlowSpec,
    wanted_config,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.rest import ConnectClient
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.flows.pair_spec import ClusterSpec, PairSpec
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.names import naming_of
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.replication_gates import PartitionFacts
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds, wait_until
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation.flows import (
    FlowObservation,
    observe_flow,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation.pair import Pair
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation.unreplicated import (
    Budget,
    Unreplicated,
    unreplicated,
)
from ansible_collections.switchback.kafka_dr.plugins.modules import kafka_topic
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module

pytestmark = pytest.mark.integration

# A busy machine must not turn an exact count into a range.
PATIENT = Budget(seconds=60.0)
P, B = "UP", "UB"


class LabFlow:
    """P -> B of the lab under names of its own, with one topic per test. ``copy`` does manually what a flow does."""

    def __init__(self, lab: Any, policy: str = "default") -> None:
        found = lab.info()["clusters"]
        wanted = ("bootstrap_servers", "connect_url", "cluster_id")
        self.clusters = {alias: {key: found[name][key] for key in wanted} for alias, name in ((P, "P"), (B, "B"))}
        self.policy, self.naming = policy, naming_of(policy)
        self.topic = f"unreplicated-{uuid.uuid4().hex[:8]}"
        self.now = int(time.time() * 1000) - 60_000

    def servers(self, alias: str) -> str:
        return str(self.clusters[alias]["bootstrap_servers"])

    @property
    def replica(self) -> str:
        return self.naming.replica(P, self.topic)

    def make(self, replica: bool = True, partitions: int = 1, **config: str) -> None:
        names = [(P, self.topic), *([(B, self.replica)] if replica else [])]
        for alias, name in names:
            items = [{"name": name, "partitions": partitions, "config": config if alias == B else {}}]
            made = run_module(kafka_topic, {"bootstrap_servers": self.servers(alias), "topics": items})
            assert made["rc"] == 0, made

    def send(self, *values: str, copy: bool = False, partition: int = 0) -> None:
        """Send records on P, or as copies on B.

        The second of each timestamp is the number that the value begins with.
        """
        alias, name = (B, self.replica) if copy else (P, self.topic)
        producer = Producer({"bootstrap.servers": self.servers(alias), "linger.ms": 5})
        for value in values:
            producer.produce(name, value, key="k", partition=partition, timestamp=self.now + self.second(value) * 1000)
        assert producer.flush(30) == 0

    @staticmethod
    def second(value: str) -> int:
        return int(value.split("-")[0])

    def transaction(self, *values: str, commit: bool) -> None:
        settings = {"bootstrap.servers": self.servers(P), "transactional.id": uuid.uuid4().hex}
        producer = Producer(settings)
        producer.init_transactions(30)
        producer.begin_transaction()
        for value in values:
            producer.produce(self.topic, value, key="k", partition=0, timestamp=self.now + self.second(value) * 1000)
        assert producer.flush(30) == 0
        (producer.commit_transaction if commit else producer.abort_transaction)(30)

    def delete_below(self, alias: str, topic: str, offset: int) -> None:
        admin = AdminClient({"bootstrap.servers": self.servers(alias)})
        for future in admin.delete_records([Place(topic, 0, offset)]).values():
            future.result()

    # ---- counting

    def pair(self) -> Pair:
        spec = PairSpec.of({"clusters": self.clusters, "topics": [self.topic], "policy": self.policy})
        return Pair(spec, [(P, B)], timeout=30)

    def observe(self, pair: Pair, last_replicated_offset: int | None = None, partitions: int = 1) -> FlowObservation:
        """The observation that the flow itself might report."""
        log = pair.ranges(P, [self.topic])
        facts = {key: PartitionFacts(*span, last_replicated_offset) for key, span in log.items()}
        assert len(facts) == partitions
        return FlowObservation(P, B, {}, facts, None)

    def count(self, last_replicated_offset: int | None = None, budget: Budget = PATIENT) -> Unreplicated:
        pair = self.pair()
        return unreplicated(pair, self.observe(pair, last_replicated_offset), budget)[self.topic, 0]

    def at(self, second: int) -> float:
        return (self.now + second * 1000) / 1000.0


def numbers(first: int, end: int) -> list[str]:
    return [f"{number}-record" for number in range(first, end)]


def seen(row: Unreplicated) -> tuple[int, int, str]:
    return row.least, row.most, row.reason


@pytest.fixture
def flow(lab: Any) -> LabFlow:
    return LabFlow(lab)


# ---- a real flow


@pytest.fixture(params=["default", "identity"])
def real(lab: Any, request: pytest.FixtureRequest) -> Iterator[tuple[LabFlow, ConnectClient, str]]:
    """A source connector that replicates the topic."""
    made = LabFlow(lab, request.param)
    made.make(replica=made.policy == "identity")
    ends = (ClusterSpec(alias, made.servers(alias)) for alias in (P, B))
    spec = FlowSpec(*ends, (made.topic,), (), made.naming, 1)
    config = {key: value for key, value in wanted_config(spec, "source").items() if value is not None}
    quick = {"heartbeats.replication.enabled": "false", "refresh.topics.interval.seconds": "1"}
    rest = ConnectClient(str(made.clusters[B]["connect_url"]), {}, 15.0)
    name = f"{P}->{B}.MirrorSourceConnector"
    rest.create(name, {**config, "name": name, **quick}, "RUNNING")
    try:
        yield made, rest, name
    finally:
        rest.stop(name)
        wait_until(rest.connectors, lambda found: found[name].stopped, Bounds(60, 0.1))
        rest.delete(name)


def test_after_a_stopped_flow_the_count_is_exact(real: tuple[LabFlow, ConnectClient, str]) -> None:
    """Transactions, committed and aborted, before and after the offset where it stopped."""
    flow, rest, name = real
    flow.send(*numbers(0, 5))
    flow.transaction("5-aborted", "5-too", commit=False)
    flow.transaction(*numbers(6, 9), commit=True)

    def count_now() -> Unreplicated:
        pair = flow.pair()
        return unreplicated(pair, observe_flow(pair, P, B), PATIENT)[flow.topic, 0]

    observed = wait_until(count_now, lambda row: row.most == 0, Bounds(90, 0.2))
    assert observed.done, observed.state
    # The flow has read the last transaction completely, and the marker after it does not count.
    assert observed.state == Unreplicated(flow.topic, 0, 0, 0, None, "")
    rest.stop(name)
    assert wait_until(rest.connectors, lambda found: found[name].stopped, Bounds(60, 0.1)).done
    flow.transaction("9-aborted", commit=False)
    assert seen(count_now()) == (0, 0, "")
    flow.send(*numbers(10, 13))
    flow.transaction(*numbers(13, 15), commit=True)
    flow.transaction("16-aborted", commit=False)
    assert count_now() == Unreplicated(flow.topic, 0, 5, 5, flow.at(10), "")


# ---- what a flow may leave ------


def test_a_stored_offset_makes_reading_unnecessary(flow: LabFlow) -> None:
    flow.make()
    flow.send(*numbers(0, 4))
    flow.send("9-foreign", copy=True)
    assert seen(flow.count(3)) == (0, 0, "")
    # With one more record it must read: that record is not stored, and the last record of the replica is no copy.
    flow.send("4-more")
    row = flow.count(3)
    assert (row.least, row.most, row.event_time) == (0, 1, flow.at(4))
    assert "was not found on the source" in row.reason
    assert "stored offset 3" in row.reason


def test_a_stored_offset_does_not_count_if_the_replica_was_never_written(flow: LabFlow) -> None:
    flow.make()
    flow.send(*numbers(0, 4))
    assert flow.count(3) == Unreplicated(flow.topic, 0, 4, 4, flow.at(0), "")


@pytest.mark.parametrize("exists", [True, False])
def test_with_an_empty_replica_all_of_the_source_is_unreplicated(flow: LabFlow, exists: bool) -> None:
    flow.make(replica=exists)
    flow.transaction("0-aborted", commit=False)
    assert seen(flow.count()) == (0, 0, "")
    flow.send(*numbers(1, 7))
    flow.transaction(*numbers(7, 9), commit=True)
    assert flow.count() == Unreplicated(flow.topic, 0, 8, 8, flow.at(1), "")
    # Expired records are already lost, so the source does not have them any more.
    flow.delete_below(P, flow.topic, 4)
    assert flow.count() == Unreplicated(flow.topic, 0, 6, 6, flow.at(3), "")


def test_a_replica_that_appears_after_the_first_observation_is_found(flow: LabFlow) -> None:
    flow.make(replica=False)
    flow.send(*numbers(0, 4))
    pair = flow.pair()
    assert pair.existing(B, [flow.replica]) == set()
    flow.make()
    flow.send(*numbers(0, 3), copy=True)
    assert seen(unreplicated(pair, flow.observe(pair), PATIENT)[flow.topic, 0]) == (1, 1, "")


def test_many_equal_records_give_a_range(flow: LabFlow) -> None:
    """Their content and timestamp are the same, so it is unknown which of them was replicated last."""
    flow.make()
    flow.send("0-first", *["1-same"] * 6, "2-last")
    flow.send("0-first", *["1-same"] * 2, copy=True)
    row = flow.count()
    assert (row.least, row.most, row.event_time) == (1, 6, flow.at(1))
    assert row.reason == "several source records equal the replica's last record"
    # The stored offset of the flow makes the range smaller.
    assert seen(flow.count(2))[:2] == (1, 5)
    # The next record is in the replica: it was sent before, or it repeats one.
    flow.send("2-last", "1-same", copy=True)
    row = flow.count()
    assert (row.least, row.most) == (0, 6)
    assert "has some of the records that follow" in row.reason


def test_a_flow_that_sends_again_has_not_lost_the_records_it_had_sent(flow: LabFlow) -> None:
    flow.make()
    flow.send(*numbers(0, 8))
    flow.send(*numbers(0, 6), *numbers(2, 4), copy=True)
    row = flow.count(1)
    assert (row.least, row.most, row.event_time) == (0, 4, flow.at(4))
    assert "has some of the records that follow" in row.reason
    flow.send(*numbers(4, 7), copy=True)
    assert seen(flow.count(1)) == (1, 1, "")


def test_with_one_topic_only_records_written_after_the_cut_are_unreplicated(lab: Any) -> None:
    """Policy identity: records before the cut came from the other cluster, and the flow was seeded after it."""
    flow = LabFlow(lab, "identity")
    flow.make()
    flow.send(*numbers(0, 3), copy=True)
    flow.transaction(*numbers(0, 3), commit=True)
    cut = 4
    assert seen(flow.count(cut - 1)) == (0, 0, "")
    flow.send(*numbers(3, 5))
    # This also holds without a stored offset: both clusters have the same last record before the cut.
    for last_replicated_offset in (cut - 1, None):
        assert flow.count(last_replicated_offset) == Unreplicated(flow.topic, 0, 2, 2, flow.at(3), "")
    # A tail that was left there and is only on the other cluster.
    flow.send("2-tail", copy=True)
    row = flow.count(cut - 1)
    assert (row.least, row.most, row.event_time) == (0, 2, flow.at(3))
    assert "was not found on the source" in row.reason
    # The flow continues after it.
    flow.send("3-record", copy=True)
    assert flow.count(cut - 1) == Unreplicated(flow.topic, 0, 1, 1, flow.at(4), "")


@pytest.mark.parametrize("case", ["expired on the source", "emptied", "broker time"])
def test_if_content_is_ambiguous_the_stored_offset_bounds_the_count(flow: LabFlow, case: str) -> None:
    stamps = {"message.timestamp.type": "LogAppendTime"} if case == "broker time" else {}
    flow.make(**stamps)
    flow.send(*numbers(0, 8))
    flow.send(*numbers(0, 3), copy=True)
    if case == "expired on the source":
        flow.delete_below(P, flow.topic, 4)
    elif case == "emptied":
        flow.delete_below(B, flow.replica, 3)
    counts = {
        "expired on the source": "was not found on the source",
        "emptied": "no longer holds any record",
        "broker time": "the broker's timestamp",
    }[case]
    for last_replicated_offset, most in ((None, 4 if case == "expired on the source" else 8), (4, 3)):
        row = flow.count(last_replicated_offset)
        assert (row.least, row.most, row.event_time) == (0, most, flow.at(8 - most)), row
        assert counts in row.reason


def test_a_last_record_that_compaction_removed_on_the_source_is_not_found(flow: LabFlow) -> None:
    """Its key was written again: the source only has the newer value, as the cleaner leaves it."""
    flow.make()
    flow.send("0-kept", "2-newer", "3-other")
    flow.send("0-kept", "1-older", copy=True)
    row = flow.count(0)
    assert (row.least, row.most, row.event_time) == (0, 2, flow.at(2))
    assert "compacted" in row.reason


def test_records_beyond_the_reading_budget_are_bounded_by_offsets(flow: LabFlow) -> None:
    flow.make()
    flow.send(*numbers(0, 10), *(f"{number // 10}-{number}" for number in range(100, 600)))
    flow.send(*numbers(0, 8), copy=True)
    row = flow.count(budget=Budget(50, 60.0))
    # The replica's last record and 49 after it were read; the rest are offsets.
    assert row == Unreplicated(flow.topic, 0, 49, 502, flow.at(8), "453 offsets were not read")
    assert seen(flow.count()) == (502, 502, "")
    # The time is over at once: no record was read, and everything after the stored offset may be unreplicated.
    row = flow.count(5, Budget(seconds=0.0))
    assert (row.least, row.most, row.event_time) == (0, 504, None)
    assert "within the read limit" in row.reason


def test_partitions_are_queried_together(flow: LabFlow) -> None:
    """One partition of each kind: the number of requests does not grow with the number of partitions."""
    flow.make(partitions=60)
    for partition in range(60):
        flow.send(*numbers(0, 5), partition=partition)
        flow.send(*numbers(0, partition % 6), copy=True, partition=partition)
    pair = flow.pair()
    observation = flow.observe(pair, partitions=60)
    before = len(pair.requests)
    rows = unreplicated(pair, observation, PATIENT)
    assert len(pair.requests) - before < 20
    assert [rows[flow.topic, number].most for number in range(60)] == [5 - number % 6 for number in range(60)]
    assert all(row.reason == "" for row in rows.values())
