# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Readiness finds one defect at a time on a running pair: it is reported once, and the answer is YES again afterwards.

Defects that a lab of one broker cannot have (missing leaders, missing replicas, versions) are in tests/unit.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest
import requests
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    ResourceType,
)

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds, wait_until
from ansible_collections.switchback.kafka_dr.plugins.modules import dr_journal, dr_readiness
from ansible_collections.switchback.kafka_dr.tests.support.pairs import as_pair, of_journal
from brokers import commit, committed_offsets
from modules import run_module
from scenario import Scenario
from snapshot import at_rest, read_inventory, snapshot

PARTITIONS = 3
CLIENTS = [
    {"name": "payments-api", "role": "producer", "rate": 200, "flush_seconds": 2},
    {"name": "settlement", "role": "consumer", "group": "settlement"},
    {"name": "archive", "role": "consumer", "group": "archive"},
]
SOURCE, CHECKPOINT, HEARTBEAT = "MirrorSourceConnector", "MirrorCheckpointConnector", "MirrorHeartbeatConnector"
DEAD = "127.0.0.1:1"
READY = ("YES", "YES")
Observed = dict[str, Any]


class BreakablePair:
    """An enabled pair under load, and the operations that break it."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.clusters: dict[str, dict[str, Any]] = read_inventory(scenario.inventory)["kafka_dr_clusters"]
        self.name = "B-P"
        self.admin = {
            alias: AdminClient({"bootstrap.servers": one["bootstrap_servers"]}) for alias, one in self.clusters.items()
        }

    def observe(self, clusters: dict[str, Any] | None = None, **more: Any) -> Observed:
        params = {
            "clusters": {alias: {**one, **(clusters or {}).get(alias, {})} for alias, one in self.clusters.items()},
            "topics": ["Payments"],
            "groups": ["settlement", "archive"],
            "home": "P",
            "pair": self.name,
            "age_limit": 3600,
            "unreachable": [],
            "request_timeout": 5,
            **more,
        }
        result = run_module(dr_readiness, as_pair(params))
        assert result["rc"] == 0, result["msg"]
        assert result["changed"] is False
        return result

    def connect(self, verb: str, alias: str, path: str, body: Any = None) -> Any:
        answer = requests.request(
            verb, f"{self.clusters[alias]['connect_url']}/connectors{path}", json=body, timeout=30
        )
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def config(self, alias: str, topic: str, name: str, value: str | None) -> None:
        operation = AlterConfigOpType.DELETE if value is None else AlterConfigOpType.SET
        entry = ConfigEntry(name, value or "", incremental_operation=operation)
        resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
        for done in self.admin[alias].incremental_alter_configs([resource]).values():
            done.result(15)

    def committed_offsets(self, alias: str, group: str) -> dict[tuple[str, int], int]:
        return committed_offsets(self.admin[alias], group)

    def commit(self, alias: str, group: str, committed_offsets: dict[tuple[str, int], int]) -> None:
        commit(self.admin[alias], group, committed_offsets)

    def forget(self, alias: str, group: str) -> None:
        self.admin[alias].delete_consumer_groups([group])[group].result(15)

    def end(self, alias: str, topic: str, index: int) -> int:
        consumer = Consumer({"bootstrap.servers": self.clusters[alias]["bootstrap_servers"], "group.id": "test"})
        try:
            return int(consumer.get_watermark_offsets(TopicPartition(topic, index), timeout=15)[1])
        finally:
            consumer.close()

    def ends(self, alias: str, topic: str) -> dict[tuple[str, int], int]:
        return {(topic, index): self.end(alias, topic, index) for index in range(PARTITIONS)}


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BreakablePair]:
    with Scenario(tmp_path_factory.mktemp("ready"), partitions=PARTITIONS, clients=CLIENTS).up() as made:
        made.playbook("enable", {"kafka_dr_confirm": "P"})
        made.start()
        made.traffic(1000)
        made.playbook("reverse_checkpoint", {"kafka_dr_confirm": "B"})
        pair = BreakablePair(made)
        healthy = until(pair.observe, lambda found: answers(found) == READY)
        assert answers(healthy) == READY, named(healthy)
        yield pair


# ---- defects -------------------------------------------------------------------------------------------------------

Break = Callable[[BreakablePair], AbstractContextManager[dict[str, Any]]]


def params(**given: Any) -> Break:
    """The inventory declares something that is wrong."""

    @contextmanager
    def broken(_pair: BreakablePair) -> Iterator[dict[str, Any]]:
        yield given

    return broken


def verb(alias: str, connector: str, word: str) -> Break:
    """A connector of the flow toward ``alias`` is paused or stopped."""

    @contextmanager
    def broken(pair: BreakablePair) -> Iterator[dict[str, Any]]:
        name = f"/{'P->B' if alias == 'B' else 'B->P'}.{connector}"
        pair.connect("PUT", alias, f"{name}/{word}")
        try:
            yield {}
        finally:
            pair.connect("PUT", alias, f"{name}/resume")

    return broken


def configured(**settings: str | None) -> Break:
    """The source connector P->B was edited manually. None removes a setting."""

    @contextmanager
    def broken(pair: BreakablePair) -> Iterator[dict[str, Any]]:
        name = f"/P->B.{SOURCE}"
        before = pair.connect("GET", "B", f"{name}/config")
        changed = {**before, **{key.replace("_", "."): value for key, value in settings.items()}}
        wanted = {key: value for key, value in changed.items() if value is not None}
        pair.connect("PUT", "B", f"{name}/config", wanted)
        try:
            yield {}
        finally:
            pair.connect("PUT", "B", f"{name}/config", before)

    return broken


@contextmanager
def carried(pair: BreakablePair, group: str) -> Iterator[dict[str, Any]]:
    """The inventory has one group more, as enable would have declared it."""
    path = f"/P->B.{CHECKPOINT}/config"
    before = pair.connect("GET", "B", path)
    pair.connect("PUT", "B", path, {**before, "groups": f"{before['groups']},{group}"})
    try:
        yield {"groups": ["settlement", "archive", group]}
    finally:
        pair.connect("PUT", "B", path, before)


@contextmanager
def never_read(pair: BreakablePair) -> Iterator[dict[str, Any]]:
    with carried(pair, "new") as given:
        yield given


@contextmanager
def deleted_connector(pair: BreakablePair) -> Iterator[dict[str, Any]]:
    name = f"P->B.{SOURCE}"
    before = pair.connect("GET", "B", f"/{name}/config")
    pair.connect("DELETE", "B", f"/{name}")
    try:
        yield {}
    finally:
        pair.connect("POST", "B", "", {"name": name, "config": before})


def topic_setting(topic: str, name: str, value: str, before: str | None = None) -> Break:
    """A topic setting on B differs from P or from the wanted value. ``before``: the value that enable had set."""

    @contextmanager
    def broken(pair: BreakablePair) -> Iterator[dict[str, Any]]:
        pair.config("B", topic, name, value)
        try:
            yield {}
        finally:
            pair.config("B", topic, name, before)

    return broken


@contextmanager
def silent(pair: BreakablePair) -> Iterator[dict[str, Any]]:
    """No record is written, and no heartbeat shows that the flow would replicate one."""
    pair.scenario.ledger("stop", "payments-api")
    pair.connect("PUT", "B", f"/P->B.{HEARTBEAT}/stop")
    pair.connect("PUT", "P", f"/B->P.{HEARTBEAT}/stop")
    try:
        yield {}
    finally:
        pair.connect("PUT", "B", f"/P->B.{HEARTBEAT}/resume")
        pair.connect("PUT", "P", f"/B->P.{HEARTBEAT}/resume")
        pair.scenario.ledger("start", "payments-api")


@contextmanager
def works_there(pair: BreakablePair) -> Iterator[dict[str, Any]]:
    servers = pair.clusters["B"]["bootstrap_servers"]
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "settlement", "enable.auto.commit": False})
    consumer.subscribe(["Payments"])
    try:
        waited = wait_until(lambda: consumer.poll(0.2) or consumer.assignment(), bool, Bounds(30, 0.1))
        assert waited.done
        yield {}
    finally:
        consumer.close()


@contextmanager
def following(pair: BreakablePair) -> Iterator[dict[str, Any]]:
    """A stopped group on P has an offset on B after records that it has not processed."""
    pair.scenario.ledger("stop", "archive")
    try:
        pair.scenario.wait(lambda: _lags(pair, 100), 60, "records that the group has not read")
        before = {key: at for key, at in pair.committed_offsets("B", "archive").items() if key[0] == "P.Payments"}
        pair.commit("B", "archive", pair.ends("B", "P.Payments"))
        try:
            yield {}
        finally:
            pair.commit("B", "archive", before)
    finally:
        pair.scenario.ledger("start", "archive")


def _lags(pair: BreakablePair, records: int) -> bool:
    at, ends = pair.committed_offsets("P", "archive"), pair.ends("P", "Payments")
    return all(ends[key] - at.get(key, 0) >= records for key in ends)


@contextmanager
def undeclared_group(pair: BreakablePair) -> Iterator[dict[str, Any]]:
    pair.commit("P", "nightly", {("Payments", 0): 5})
    try:
        yield {}
    finally:
        pair.forget("P", "nightly")


@contextmanager
def other_topics(pair: BreakablePair) -> Iterator[dict[str, Any]]:
    """A group of the inventory also reads another topic."""
    pair.admin["P"].create_topics([NewTopic("Other", 1, 1)])["Other"].result(15)
    pair.commit("P", "auditor", {**pair.ends("P", "Payments"), ("Other", 0): 0})
    try:
        with carried(pair, "auditor") as given:
            yield given
    finally:
        pair.forget("P", "auditor")
        pair.admin["P"].delete_topics(["Other"])["Other"].result(15)


@contextmanager
def unfinished(pair: BreakablePair) -> Iterator[dict[str, Any]]:
    base = of_journal({"clusters": pair.clusters, "pair": pair.name})
    data = {"type": "cutoff", "from": "P", "to": "B", "policy": "default"}
    begun = run_module(dr_journal, {**base, "event": "started", "data": data})
    assert begun["rc"] == 0, begun["msg"]
    try:
        yield {}
    finally:
        run_module(
            dr_journal,
            {**base, "event": "ended", "run": begun["run_id"], "holder_generation": 0, "data": {"result": "undone"}},
        )


def open_transaction(ahead: float) -> Break:
    """A producer left the transaction open, and its timeout is long. ``ahead``: of its event times, in seconds."""

    @contextmanager
    def broken(pair: BreakablePair) -> Iterator[dict[str, Any]]:
        producer = Producer(
            {
                "bootstrap.servers": pair.clusters["P"]["bootstrap_servers"],
                "transactional.id": "left-open",
                "transaction.timeout.ms": 600_000,
            }
        )
        producer.init_transactions(30)
        producer.begin_transaction()
        producer.produce("Payments", b"x", partition=0, timestamp=int((time.time() + ahead) * 1000))
        assert producer.flush(30) == 0
        try:
            yield {}
        finally:
            producer.abort_transaction(30)

    return broken


@contextmanager
def foreign_writes(pair: BreakablePair) -> Iterator[dict[str, Any]]:
    """A foreign producer writes into the replica. Records of the flow come after that later."""
    pair.scenario.ledger("stop", "payments-api")
    try:
        pair.scenario.wait(lambda: pair.observe()["controlled"] == "YES", 60, "everything is replicated")
        producer = Producer({"bootstrap.servers": pair.clusters["B"]["bootstrap_servers"]})
        producer.produce("P.Payments", b"not from P", partition=0)
        assert producer.flush(30) == 0
        yield {}
    finally:
        pair.scenario.ledger("start", "payments-api")


TABLE: dict[str, tuple[Break, str, str, str]] = {
    "the target does not answer": (params(clusters={"B": {"bootstrap_servers": DEAD}}), "cluster_to", "NO", "answer"),
    "the source does not answer": (params(clusters={"P": {"bootstrap_servers": DEAD}}), "cluster_from", "NO", "answer"),
    "the target is another cluster": (params(clusters={"B": {"cluster_id": "other"}}), "cluster_to", "NO", "other"),
    "the source is another cluster": (params(clusters={"P": {"cluster_id": "other"}}), "cluster_from", "NO", "other"),
    "the worker there is dead": (
        params(clusters={"B": {"connect_url": f"http://{DEAD}"}}),
        "workers_to",
        "NO",
        DEAD,
    ),
    "the worker here is dead": (params(clusters={"P": {"connect_url": f"http://{DEAD}"}}), "workers_from", "NO", DEAD),
    "a topic that does not exist": (params(topics=["Payments", "Ghost"]), "topics", "NO", "Ghost"),
    "a pair that is not enabled": (params(pair="another"), "journal", "NO", "not enabled"),
    "a move to where they live": (params(to="P"), "journal", "NO", "live on P"),
    "a group that never read": (never_read, "group_offsets", "NO", '"new"'),
    "a group that is not enabled": (params(groups=["settlement", "archive", "new"]), "flow_carries", "NO", '"new"'),
    "a host that does not answer": (params(unreachable=["the host app1 is silent"]), "clients", "NO", "app1"),
    "a run that is not finished": (unfinished, "run", "NO", "cutoff"),
    "the source connector is paused": (verb("B", SOURCE, "pause"), "flow", "NO", "PAUSED"),
    "the source connector is stopped": (verb("B", SOURCE, "stop"), "flow", "NO", "STOPPED"),
    "the source connector is gone": (deleted_connector, "flow", "NO", "no source connector"),
    "no checkpoints": (verb("B", CHECKPOINT, "stop"), "checkpoints", "NO", "STOPPED"),
    "the way back is stopped": (verb("P", SOURCE, "stop"), "back", "NO", "STOPPED"),
    "the journal expires": (
        topic_setting("kafka-dr-journal-internal", "retention.ms", "3600000", "-1"),
        "retention",
        "NO",
        "retention.ms=3600000, wanted -1",
    ),
    "offset-syncs expire": (
        topic_setting("mm2-offset-syncs.P.internal", "cleanup.policy", "delete", "compact"),
        "retention",
        "NO",
        '"mm2-offset-syncs.P.internal" on B has cleanup.policy delete',
    ),
    # Without any topic a connector has no tasks.
    "RUNNING, and no longer of this topic": (
        configured(topics="Other,heartbeats"),
        "flow_carries",
        "NO",
        '"Payments"',
    ),
    "RUNNING, and it waits for more than there is": (
        configured(source_consumer_fetch_min_bytes="50000000", source_consumer_fetch_max_wait_ms="25000"),
        "flow_progress",
        "NO",
        "no progress",
    ),
    "RUNNING, and the topic is excluded": (configured(topics_exclude="Pay.*"), "flow_carries", "NO", '"Payments"'),
    "aborted records would be replicated": (
        configured(source_consumer_isolation_level="read_uncommitted"),
        "flow_settings",
        "NO",
        "isolation",
    ),
    "the workers' own file decides what is acknowledged": (
        configured(producer_override_acks=None),
        "flow_settings",
        "NO",
        '"producer.override.acks" is not set',
    ),
    "the replica is kept shorter": (
        topic_setting("P.Payments", "retention.ms", "86400000"),
        "settings",
        "NO",
        "retention.ms",
    ),
    "the replica is bounded": (topic_setting("P.Payments", "retention.bytes", "100000000"), "settings", "NO", "bytes"),
    "the original is compacted there": (
        topic_setting("Payments", "cleanup.policy", "compact"),
        "settings",
        "NO",
        "comp",
    ),
    "the original takes less there": (topic_setting("Payments", "max.message.bytes", "900"), "settings", "NO", "900"),
    "the broker sets timestamps there": (
        topic_setting("Payments", "message.timestamp.type", "LogAppendTime"),
        "settings",
        "NO",
        "LogAppendTime",
    ),
    "the original can never be written there": (
        topic_setting("Payments", "min.insync.replicas", "2"),
        "writable",
        "NO",
        "min.insync.replicas is 2",
    ),
    "RUNNING, and every write is refused": (
        topic_setting("P.Payments", "min.insync.replicas", "2"),
        "writable",
        "NO",
        '"P.Payments"',
    ),
    "a group works on the other side": (works_there, "groups_there", "NO", "settlement"),
    "an offset that would skip": (following, "offsets_there", "NO", "archive"),
    "an undeclared group": (undeclared_group, "undeclared_groups", "NO", "nightly"),
    "a group that reads something else": (other_topics, "group_topics", "NO", "Other"),
    "a transaction that was left open": (open_transaction(-300), "transactions", "NO", "Payments-0"),
    "an open transaction with later event times": (open_transaction(3600), "transactions", "NO", "Payments-0"),
    "records of a foreign producer": (foreign_writes, "foreign_writes", "NO", "P.Payments-0"),
}


def named(found: Observed) -> dict[str, str]:
    """The checks that are not YES, and their findings."""
    return {
        row["name"]: f"{row['answer']}: {row['found']}"
        for row in found["readiness"]["checks"]
        if row["answer"] in ("NO", "UNKNOWN")
    }


def until(observe: Callable[[], Observed], done: Callable[[Observed], bool], seconds: float = 90) -> Observed:
    """Observe until the condition is true: connectors take a moment to stop, start and replicate."""
    return wait_until(observe, done, Bounds(seconds, 0.5)).state


def answers(found: Observed) -> tuple[str, str]:
    return found["controlled"], found["disaster"]


@pytest.mark.parametrize("case", list(TABLE))
def test_one_defect_is_reported_and_repaired(pair: BreakablePair, case: str) -> None:
    begin, name, answer, word = TABLE[case]
    with begin(pair) as given:
        found = until(lambda: pair.observe(**given), lambda seen: list(named(seen)) == [name], 40)
    assert list(named(found)) == [name], named(found)
    row = next(row for row in found["readiness"]["checks"] if row["name"] == name)
    assert (row["answer"], word in row["found"]) == (answer, True), row
    assert row["remedy"]
    for way in row["counts"]:
        assert found[way] == answer
    repaired = until(pair.observe, lambda seen: answers(seen) == READY)
    assert answers(repaired) == READY, named(repaired)


def test_a_flow_without_records_and_heartbeats_is_not_making_progress(pair: BreakablePair) -> None:
    with silent(pair):
        found = until(pair.observe, lambda seen: "flow_progress" in named(seen), 60)
        assert named(found)["flow_progress"].startswith("UNKNOWN"), named(found)
        assert answers(found) == ("UNKNOWN", "UNKNOWN")
    assert answers(until(pair.observe, lambda seen: answers(seen) == READY)) == READY


def test_the_playbook_reports_and_changes_nothing_and_fails_only_on_request(pair: BreakablePair) -> None:
    scenario = pair.scenario
    until(pair.observe, lambda seen: answers(seen) == READY)
    scenario.stop()
    until(pair.observe, lambda seen: seen["controlled"] == "YES")
    groups = ["settlement", "archive"]
    # MirrorMaker 2's own group sync has yet to catch up with the stopped applications.
    before = at_rest(lambda: snapshot(scenario.folder, groups))
    report = scenario.reports / "readiness.json"
    observations = kept(pair)
    scenario.playbook("readiness", options=("--check",))
    assert not report.exists()
    assert kept(pair) == observations
    done = scenario.playbook("readiness", {"kafka_dr_ready_require": "both"})
    assert done["changed"] == 0
    assert "ready for a controlled cutover: YES, for a disaster: YES" in done["output"]
    found = json.loads(report.read_text())
    assert (found["schema"], found["from"], found["to"]) == ("switchback.kafka_dr/readiness/2", "P", "B")
    assert {row["answer"] for row in found["checks"]} == {"YES"}
    assert set(found["rereads"]["disaster"]) == set(groups)
    assert found["loss"]["records_at_least"] == found["loss"]["records_at_most"] == 0
    assert snapshot(scenario.folder, groups) == before
    # The only write: this observation, on both clusters.
    assert {alias: end - observations[alias] for alias, end in kept(pair).items()} == {"P": 1, "B": 1}
    assert found["observations"][-1]["at"] == found["at"]
    assert any("controlled: YES since" in text for text in found["trend"])
    assert found["durations"] == {}

    with verb("B", SOURCE, "pause")(pair):
        until(pair.observe, lambda seen: "flow" in named(seen))
        reported = scenario.playbook("readiness")
        assert "ready for a controlled cutover: NO, for a disaster: NO" in reported["output"]
        refused = scenario.playbook("readiness", {"kafka_dr_ready_require": "disaster"}, expect=2)
        assert "PAUSED" in refused["output"]
        accepted = {"kafka_dr_ready_require": "disaster", "kafka_dr_ready_accept": ["flow"]}
        # A check that depends on it is still observed, and reports the cost.
        assert "flow_progress" in scenario.playbook("readiness", accepted, expect=2)["output"]


def kept(pair: BreakablePair) -> dict[str, int]:
    """The end of the state topic, with all observations in it."""
    return {alias: pair.end(alias, "kafka-dr-state-internal", 0) for alias in pair.clusters}


def test_an_added_partition_is_reported(pair: BreakablePair) -> None:
    """MirrorMaker 2 adds it to the replica, but no process adds it to the original on B."""
    pair.admin["P"].create_partitions([NewPartitions("Payments", PARTITIONS + 1)])["Payments"].result(15)
    found = until(pair.observe, lambda seen: list(named(seen)) == ["partitions"])
    assert list(named(found)) == ["partitions"], named(found)
    assert answers(found) == ("NO", "NO")
    pair.admin["B"].create_partitions([NewPartitions("Payments", PARTITIONS + 1)])["Payments"].result(15)
    # The flow back starts its tasks anew. Groups find a new partition at their next metadata refresh. Until then, or
    # until it has records, all answers are YES.
    found = until(pair.observe, lambda seen: set(named(seen)) <= {"group_offsets"})
    assert set(named(found)) <= {"group_offsets"}, named(found)


def test_data_that_kafka_does_not_carry_is_reported_and_blocks_nothing(pair: BreakablePair) -> None:
    names = ["_schemas", "settlement-sums-changelog"]
    admin = pair.admin["P"]
    # The test before this one added a partition, which its flow may not have observed yet.
    before = until(pair.observe, lambda seen: answers(seen) == ("YES", "YES"))
    assert before["readiness"]["not_carried"] == []
    for done in admin.create_topics([NewTopic(name, 1, 1) for name in names]).values():
        done.result(15)
    try:
        found = until(pair.observe, lambda seen: len(seen["readiness"]["not_carried"]) == len(names))
        reported = " ".join(found["lines"])
        assert "not carried: P has the topic _schemas" in reported
        assert '"settlement" is a Kafka Streams application' in reported
        assert answers(found) == answers(before)
    finally:
        for done in admin.delete_topics(names).values():
            done.result(15)


def test_a_re_created_topic_is_reported(pair: BreakablePair) -> None:
    """This is the last test, because the repair needs a disabled pair."""
    admin = pair.admin["B"]
    admin.delete_topics(["Payments"])["Payments"].result(15)
    gone = wait_until(lambda: "Payments" in admin.list_topics(timeout=15).topics, lambda there: not there, Bounds(30))
    assert gone.done
    partitions = len(pair.admin["P"].list_topics(timeout=15).topics["Payments"].partitions)
    admin.create_topics([NewTopic("Payments", partitions, 1)])["Payments"].result(15)
    found = until(pair.observe, lambda seen: list(named(seen)) == ["topic_ids"])
    assert list(named(found)) == ["topic_ids"], named(found)
    assert answers(found) == ("NO", "NO")
    assert "disable" in next(row["remedy"] for row in found["readiness"]["checks"] if row["name"] == "topic_ids")
