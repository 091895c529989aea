# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Foreign producers and replication loops in a replica are reported, on real workers. A fast flow is not (R28).

What a group reads is remembered from before its members stop (R40).
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.mirror import (
    FlowSpec,
    wanted_config,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.offsets import change_offsets
from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.rest import ConnectClient
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.flows.pair_spec import ClusterSpec
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.names import naming_of
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.advice import judge
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds, wait_until
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.groups import committed_offsets
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.records import data_records
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.topics import describe, log_ranges
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal.leases import revoke
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.offsets import presync
from ansible_collections.switchback.kafka_dr.plugins.modules import (
    connect_mirror,
    dr_arrival_info,
    dr_barrier,
    dr_checkpoint,
    dr_drain,
    dr_journal,
    dr_status_info,
    dr_translation_info,
    kafka_group,
    kafka_topic,
)
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module
from ansible_collections.switchback.kafka_dr.tests.support.pairs import as_pair, of_journal
from ansible_collections.switchback.kafka_dr.tests.support.snapshot import at_rest
from brokers import commit
from run_records import recorded

pytestmark = pytest.mark.integration

FlowAliases = dict[str, str]
OBSERVATIONS, PARTITIONS = 10, 6
#: As preflight observes groups whose members still run.
NONE_IDLE = {"groups": [], "at": 0.0, "digest": ""}


class LabPair:
    """A pair of its own in the lab, with the replication policy ``policy``."""

    def __init__(self, lab: Any, policy: str, p: str, b: str) -> None:
        found = lab.info()["clusters"]
        self.policy, self.p, self.b = policy, p, b
        self.there, self.back = {"source": p, "target": b}, {"source": b, "target": p}
        self.clusters = {
            alias: {key: found[name][key] for key in ("bootstrap_servers", "connect_url", "cluster_id")}
            for alias, name in ((p, "P"), (b, "B"))
        }
        self.kafka = {alias: Kafka(self.servers(alias), {}, 15.0) for alias in (p, b)}
        self.producers = {alias: Producer({"bootstrap.servers": self.servers(alias)}) for alias in (p, b)}

    def servers(self, alias: str) -> str:
        return str(self.clusters[alias]["bootstrap_servers"])

    def worker(self, alias: str) -> ConnectClient:
        return ConnectClient(str(self.clusters[alias]["connect_url"]), {}, 15.0)

    def replica(self, topic: str) -> str:
        """The name on B of a topic of P."""
        return naming_of(self.policy).replica(self.p, topic)

    def topic(self, partitions: int = 1, config: dict[str, str] | None = None) -> str:
        name = f"foreign-{uuid.uuid4().hex[:8]}"
        for alias in (self.p, self.b):
            self.make(alias, name, partitions, config)
        return name

    def make(self, alias: str, name: str, partitions: int = 1, config: dict[str, str] | None = None) -> None:
        items = [{"name": name, "partitions": partitions, "config": config or {}}]
        made = run_module(kafka_topic, {"bootstrap_servers": self.servers(alias), "topics": items})
        assert made["rc"] == 0, made

    def send(self, alias: str, topic: str, count: int, partition: int = 0) -> None:
        for _number in range(count):
            self.producers[alias].produce(topic, uuid.uuid4().hex, key=b"k", partition=partition)
        assert self.producers[alias].flush(30) == 0

    def end(self, alias: str, topic: str, partition: int = 0) -> int:
        return log_ranges(self.kafka[alias], {(topic, partition)})[topic, partition][1]

    def group(self, topic: str) -> str:
        """A new group that has read ``topic`` on P to its end."""
        name = f"foreign-{uuid.uuid4().hex[:8]}"
        commit(AdminClient({"bootstrap.servers": self.servers(self.p)}), name, {(topic, 0): self.end(self.p, topic)})
        return name

    # ---- flows

    def flow(self, flow: FlowAliases, state: str, *topics: str, **more: Any) -> None:
        """The source connector of a flow, or the ``parts`` that are given."""
        ends = {
            end: {key: self.clusters[flow[end]][key] for key in ("bootstrap_servers", "cluster_id")}
            | {"alias": flow[end]}
            for end in ("source", "target")
        }
        params = {
            **ends,
            "connect_url": self.clusters[flow["target"]]["connect_url"],
            "topics": topics,
            "policy": self.policy,
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

    @contextmanager
    def running(self, flow: FlowAliases, *topics: str) -> Iterator[None]:
        """Run a flow within the context, and stop it in every case."""
        try:
            self.flow(flow, "running", *topics)
            yield
        finally:
            self.flow(flow, "stopped")

    @contextmanager
    def unnamed(self, flow: FlowAliases, *topics: str) -> Iterator[str]:
        """A flow whose connector has another name than this collection would give it."""
        name = f"some-copy-{uuid.uuid4().hex[:6]}"
        source, target = (ClusterSpec(flow[end], self.servers(flow[end])) for end in ("source", "target"))
        spec = FlowSpec(source, target, topics, (), naming_of(self.policy), 1)
        config = {key: value for key, value in wanted_config(spec, "source").items() if value is not None}
        rest = self.worker(flow["target"])
        try:
            rest.create(name, {**config, "name": name, "heartbeats.replication.enabled": "false"}, "RUNNING")
            observed = wait_until(
                lambda: rest.connectors().get(name),
                lambda found: found is not None and found.running and len(found.tasks) > 0,
                Bounds(60, 0.2),
            )
            assert observed.done, observed.state
            yield name
        finally:
            rest.stop(name)
            wait_until(rest.connectors, lambda found: found[name].stopped, Bounds(60, 0.1))
            rest.delete(name)

    def settle(self, topic: str) -> None:
        """Wait until the topic does not grow on either cluster: no running flow replicates it."""
        at_rest(lambda: [self.end(alias, topic) for alias in (self.p, self.b)], step=0.2)

    # ---- the modules

    def status(self, *topics: str, **more: Any) -> dict[str, Any]:
        params = {"clusters": self.clusters, "topics": list(topics), "policy": self.policy, "flows": [self.there]}
        return run_module(dr_status_info, as_pair({**params, "wait_timeout": 90, "wait_sleep": 0.1, **more}))

    def missing(self, *topics: str, **more: Any) -> list[str]:
        """What the status reports as missing, besides the heartbeats that no flow sends here."""
        result = self.status(*topics, **more)
        assert result["rc"] == 0, result["msg"]
        return [text for text in result["status"]["missing"] if "heartbeat" not in text]

    def wait_replicated(self, *topics: str) -> None:
        result = self.status(*topics, wait_for="replicated")
        assert result["rc"] == 0, result["msg"]

    def translate(self, topic: str, *groups: str, **more: Any) -> dict[str, Any]:
        base = {"clusters": self.clusters, "topics": [topic], "policy": self.policy, "groups": list(groups)}
        way = {"leave": self.p, "enter": self.b, "settle": 0.1}
        return run_module(dr_translation_info, as_pair({**base, **way, **more}))

    def reads(self, group: str, *topics: str) -> dict[str, Any]:
        """What preflight remembers of the group for the journal."""
        state = {"active": self.p, "run": None, "interrupted": False}
        status = self.status(*topics, groups=[group])["status"]
        seen = {"status": status, "state": state, "policy": self.policy}
        facts = {**seen, "type": "cutoff", "to": self.b, "groups": [], "accept": []}
        found: dict[str, Any] = judge("cutover", facts)["reads"]
        return found

    def barrier(self, topic: str, journal: Journal, *groups: str, settle: float = 0.1, **more: Any) -> dict[str, Any]:
        seen = {
            "status": {"idle_groups": more.pop("idle_groups", NONE_IDLE)},
            "drain": {"commits_seen": more.pop("commits_seen", None)},
        }
        with self.recorded(seen) as record:
            given = {"waits": {"settle": settle, "wait_timeout": 60}, "record": record, **more}
            return run_module(dr_barrier, as_pair({**self._in_run(topic, journal, *groups), **given}))

    def drain(self, topic: str, journal: Journal, *groups: str, **more: Any) -> dict[str, Any]:
        with self.recorded() as record:
            given = {"record": record, "wait_timeout": 60, **more}
            return run_module(dr_drain, as_pair({**self._in_run(topic, journal, *groups), **given}))

    def recorded(self, steps: dict[str, Any] | None = None) -> AbstractContextManager[str]:
        """The record of a move from P to B, of which the flow back does not exist."""
        return recorded(steps, source=self.p, target=self.b, one_flow_at_a_time=True)

    def _in_run(self, topic: str, journal: Journal, *groups: str) -> dict[str, Any]:
        base = {"clusters": self.clusters, "topics": [topic], "policy": self.policy, "groups": list(groups)}
        place = {"pair": journal.pair, "topic": journal.topic}
        return {
            **base,
            **place,
            "guard": {"clusters": self.clusters, **place, "run": journal.run, "holder_generation": 0},
        }


class Journal:
    """A journal of its own with a run that has just started."""

    def __init__(self, pair: LabPair, begun: bool = True, **facts: Any) -> None:
        self._clusters = pair.clusters
        self.topic, self.pair = f"journal-{uuid.uuid4().hex[:8]}-internal", f"foreign-{uuid.uuid4().hex[:6]}"
        for alias in pair.clusters:
            pair.make(alias, self.topic)
        assert self._note("enabled", active=pair.p)["rc"] == 0
        started = {"type": "cutoff", "policy": pair.policy, "from": pair.p, "to": pair.b, **facts}
        self.run: str = self._note("started", **started)["run_id"] if begun else ""

    def _note(self, event: str, **data: Any) -> dict[str, Any]:
        place = {"clusters": self._clusters, "pair": self.pair, "topic": self.topic}
        return run_module(dr_journal, of_journal({**place, "event": event, "data": data}))

    def join(self, pair: LabPair, *topics: str) -> None:
        """Journal the ids of these topics and of their replicas, as enable does. Without them, no content counts."""
        names = [*topics, *map(pair.replica, topics)]
        states = {alias: describe(pair.kafka[alias], names) for alias in pair.clusters}
        ids = {alias: {name: one.topic_id for name, one in there.items() if one} for alias, there in states.items()}
        assert self._note("enabled", active=pair.p, topic_ids=ids)["rc"] == 0

    @property
    def phases(self) -> list[str]:
        return list(self._note("read")["state"]["run"]["phases"])


@contextmanager
def producing(pair: LabPair, topic: str, burst: int, pause: float) -> Iterator[Callable[[], int]]:
    """A producer on P that writes this many records at a time to each partition in turn.

    Yields how many it has written.
    """
    over = threading.Event()
    sent = [0]

    def work() -> None:
        producer = Producer({"bootstrap.servers": pair.servers(pair.p)})
        while not over.wait(pause):
            partition = sent[0] // burst % PARTITIONS
            for _number in range(burst):
                producer.produce(topic, f"{sent[0]} {uuid.uuid4().hex}", partition=partition)
                sent[0] += 1
            producer.flush(30)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield lambda: sent[0]
    finally:
        over.set()
        thread.join()


@pytest.fixture(scope="module")
def prefixed(lab: Any) -> Iterator[LabPair]:
    """Replicas have the source alias before their name."""
    made = LabPair(lab, "default", "IP", "IB")
    yield made
    for flow in (made.there, made.back):
        made.flow(flow, "absent")


@pytest.fixture(scope="module")
def same(lab: Any) -> Iterator[LabPair]:
    """Replicas have the name of their original."""
    made = LabPair(lab, "identity", "JP", "JB")
    yield made
    for flow in (made.there, made.back):
        made.flow(flow, "absent")


@pytest.fixture(scope="module")
def others(lab: Any) -> Iterator[LabPair]:
    """The same clusters under names that the pair ``same`` does not know."""
    made = LabPair(lab, "identity", "KP", "KB")
    yield made
    for flow in (made.there, made.back):
        made.flow(flow, "absent")


# ---- a foreign producer writes into a replica


def test_a_producer_into_the_prefixed_replica_is_reported_and_stops_the_barrier(prefixed: LabPair) -> None:
    """The producers were given the name of the replica. Such records are never replicated back."""
    pair, topic = prefixed, prefixed.topic()
    journal = Journal(pair)
    replica = pair.replica(topic)
    with pair.running(pair.there, topic):
        pair.send(pair.p, topic, 8)
        pair.wait_replicated(topic)
        assert pair.missing(topic) == []
        pair.send(pair.b, replica, 3)
        named = pair.missing(topic)
        accepted = pair.missing(topic, accept_foreign_writers=[topic])
    text = f"the last record of {replica}-0 on {pair.b} (offset 10) is not in {topic} on {pair.p}"
    assert named == [f"{pair.p}->{pair.b}: {text}"]
    assert accepted == []

    group = pair.group(topic)
    for result in (pair.barrier(topic, journal, group), pair.translate(topic, group)):
        assert (result["rc"], result["error"]["code"]) == (1, "foreign_writer")
        assert text in result["msg"]
        assert "accept_foreign_writers" in result["error"]["hint"]
        assert "committed_offsets" not in result
    assert journal.phases == []
    assert committed_offsets(pair.kafka[pair.b], [group])[group] == {}

    for more in ({"accept_foreign_writers": ["another"]}, {}):
        assert pair.barrier(topic, journal, group, **more)["error"]["code"] == "foreign_writer"
    result = pair.barrier(topic, journal, group, accept_foreign_writers=[topic])
    assert result["rc"] == 0, result["msg"]
    at = {(row["topic"], row["partition"]): row["offset"] for row in result["details"]}
    assert at[replica, 0] == 11  # After the foreign records: the group has read everything of P.
    assert journal.phases == ["barrier"]


def test_a_drained_flow_stops_while_others_work_and_idle_groups_settle_once(prefixed: LabPair) -> None:
    """The barrier counts the settle time from the drain, unless a group has committed since (R9)."""
    pair, topic = prefixed, prefixed.topic()
    journal, settle = Journal(pair), 6.0
    with pair.running(pair.there, topic):
        pair.send(pair.p, topic, 8)
        group = pair.group(topic)
        drained = pair.drain(topic, journal, group)
        assert drained["rc"] == 0, drained["msg"]
        assert drained["changed"]
        name = f"{pair.p}->{pair.b}.MirrorSourceConnector"
        stopped = wait_until(lambda: pair.worker(pair.b).connectors()[name].stopped, bool, Bounds(30, 0.05))
        assert stopped.done
        # A record that came after the drain is not replicated any more: no barrier, and nothing is lost.
        pair.send(pair.p, topic, 1)
        late = pair.barrier(topic, journal, group)
        assert (late["error"]["code"], journal.phases) == ("not_drained", [])

    with pair.running(pair.there, topic):
        drained = pair.drain(topic, journal, group)
        seen = drained["commits_seen"]
        # As long as consumers take to stop.
        wait_until(lambda: time.monotonic() - seen["at"], lambda seconds: seconds >= settle - 1, Bounds(settle))
        began = time.monotonic()
        result = pair.barrier(topic, journal, group, settle=settle, commits_seen=seen, group_lag="reread")
        assert result["rc"] == 0, result["msg"]
        assert time.monotonic() - seen["at"] >= settle
        quick = time.monotonic() - began
        again = pair.drain(topic, journal, group)
        commit(AdminClient({"bootstrap.servers": pair.servers(pair.p)}), group, {(topic, 0): pair.end(pair.p, topic)})
        began = time.monotonic()
        moved = pair.barrier(topic, journal, group, settle=settle, commits_seen=again["commits_seen"])
        assert moved["rc"] == 0, moved["msg"]
        assert time.monotonic() - began >= settle
    assert quick < settle


@contextmanager
def assigned(pair: LabPair, group: str, topic: str) -> Iterator[Callable[[int], None]]:
    """A reader with assign(), which is no member of its group. Yields how it commits an offset."""
    options = {"bootstrap.servers": pair.servers(pair.p), "group.id": group, "enable.auto.commit": False}
    reader = Consumer(options)
    reader.assign([TopicPartition(topic, 0, 0)])
    try:
        yield lambda offset: reader.commit(offsets=[TopicPartition(topic, 0, offset)], asynchronous=False)
    finally:
        reader.close()


def test_a_reader_that_is_no_member_and_commits_every_five_seconds_is_not_idle(
    prefixed: LabPair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R9: by default, auto-commit comes every 5 s, and committed offsets settle for 1 s."""
    pair, topic = prefixed, prefixed.topic()
    journal = Journal(pair)
    with pair.running(pair.there, topic):
        pair.send(pair.p, topic, 8)
        group = pair.group(topic)
        with assigned(pair, group, topic) as commit_offset:
            commit_offset(2)
            idle = pair.status(topic, groups=[group], idle_on=pair.p)["idle_groups"]
            assert idle["groups"] == [group]
            commit_offset(3)
            drained = pair.drain(topic, journal, group)
            assert drained["rc"] == 0, drained["msg"]
            # The next commit comes after the settle time.
            later = threading.Timer(4.0, commit_offset, (4,))
            later.start()
            seen = {"commits_seen": drained["commits_seen"], "idle_groups": idle, "group_lag": "reread"}
            result = pair.barrier(topic, journal, group, settle=1.0, **seen)
            later.join()
        assert (result["rc"], result["error"]["code"]) == (1, "group_active"), result
        assert f'"{group}" has no members on {pair.p}, but its committed offset on {topic}-0 changed' in result["msg"]
        assert journal.phases == []
        assert committed_offsets(pair.kafka[pair.b], [group])[group] == {}

    with pair.running(pair.there, topic):
        # It has stopped: nothing has changed since preflight, so nothing is waited for.
        idle = pair.status(topic, groups=[group], idle_on=pair.p)["idle_groups"]
        # As if preflight had been long ago.
        idle = {**idle, "at": idle["at"] - 1000}
        drained = pair.drain(topic, journal, group)
        slept, sleep = [0.0], time.sleep
        monkeypatch.setattr(time, "sleep", lambda seconds: (slept.append(seconds), sleep(seconds)))
        seen = {"commits_seen": drained["commits_seen"], "idle_groups": idle, "group_lag": "reread"}
        result = pair.barrier(topic, journal, group, settle=0.1, **seen)
        assert result["rc"] == 0, result["msg"]
        # Not for the interval of 6 s. How long the module takes depends on the load.
        assert max(slept) < 3


def test_offsets_that_are_kept_outside_kafka_are_not_taken_for_translated(prefixed: LabPair) -> None:
    """R6: such an application reads with assign(), and its group commits nothing, or did so once."""
    pair, topic = prefixed, prefixed.topic()
    pair.send(pair.p, topic, 8)
    stale, none = pair.group(topic), f"foreign-{uuid.uuid4().hex[:8]}"
    state = {"active": pair.p, "run": None, "interrupted": False}

    def judged(*groups: str) -> dict[str, Any]:
        read = {group: [topic] for group in groups}
        status = pair.status(topic, groups=list(groups), group_topics=read, undeclared_on=pair.p)["status"]
        facts = {"status": status, "state": state, "type": "cutoff", "to": pair.b, "policy": pair.policy}
        more = {"groups": list(groups), "accept": []}
        return judge("cutover", {**facts, **more})

    # The application reads these, and its group does not show it.
    pair.send(pair.p, topic, 5)
    (note,) = judged(stale)["notes"]
    assert f'1 groups had no members on {pair.p}: "{stale}" (1 partitions unread)' in note
    assert note in judged(stale)["text"]
    (refused,) = [text for text in judged(none)["problems"] if none in text]
    assert "no committed offset" in refused
    assert "keeps outside Kafka (Flink, Spark)" in refused


def test_a_producer_that_comes_back_is_replicated_or_refused_or_named(prefixed: LabPair) -> None:
    """R13: an orchestrator starts it again between its stop and the barrier, or after the barrier."""
    pair, topic = prefixed, prefixed.topic()
    journal, replica = Journal(pair), pair.replica(topic)
    with pair.running(pair.there, topic):
        pair.send(pair.p, topic, 8)
        group = pair.group(topic)
        assert pair.drain(topic, journal, group)["rc"] == 0
        pair.flow(pair.there, "stopped", topic)
        pair.send(pair.p, topic, 3)
        refused = pair.barrier(topic, journal, group, group_lag="reread")
        assert (refused["error"]["code"], journal.phases) == ("not_drained", []), refused
        assert f"{topic}-0: replicated up to 7, source end 11" in refused["msg"]
        assert committed_offsets(pair.kafka[pair.b], [group])[group] == {}
    journal.join(pair, topic)
    with pair.running(pair.there, topic):
        assert pair.drain(topic, journal, group)["rc"] == 0
        result = pair.barrier(topic, journal, group, group_lag="reread")
        assert result["rc"] == 0, result["msg"]
        assert result["barrier"]["ends"] == {topic: {"0": 11}}
        assert pair.end(pair.b, replica) == 11
        # The group has not read these three.
        (row,) = (row for row in result["details"] if row["topic"] == replica)
        assert (row["offset"], row["quality"]) == (8, "exact"), row
    pair.send(pair.p, topic, 2)
    late = pair.status(topic, barrier_ends=result["barrier"]["ends"])["written_after"]
    assert late == [f"{pair.p} {topic}-0: 2 offsets"]


def test_a_foreign_record_below_later_copies_lets_no_group_skip_a_record(prefixed: LabPair) -> None:
    """R28: a barrier compares last records only, so the audit finds this one (tests/playbooks/test_verify.py)."""
    pair, topic = prefixed, prefixed.topic()
    journal, replica = Journal(pair), pair.replica(topic)
    with pair.running(pair.there, topic):
        pair.send(pair.p, topic, 4)
        pair.wait_replicated(topic)
        pair.send(pair.b, replica, 1)
        pair.send(pair.p, topic, 4)
        pair.wait_replicated(topic)
        assert pair.missing(topic) == []
        journal.join(pair, topic)
        groups = [pair.group(topic) for _number in range(3)]
        for group, offset in zip(groups, (2, 4, 6), strict=True):
            commit(AdminClient({"bootstrap.servers": pair.servers(pair.p)}), group, {(topic, 0): offset})
        result = pair.barrier(topic, journal, *groups, group_lag="reread")
    assert result["rc"] == 0, result["msg"]
    offsets = {row["group"]: row["offset"] for row in result["details"] if row["topic"] == replica}
    unread = {group: _values(pair, pair.p, topic, offset) for group, offset in zip(groups, (2, 4, 6), strict=True)}
    for group, offset in offsets.items():
        assert unread[group] <= _values(pair, pair.b, replica, offset)
    assert offsets[groups[0]] == 2


def test_two_live_tasks_that_interleave_let_no_group_skip_a_record(prefixed: LabPair) -> None:
    """R3: a second connector for the same topic writes each copy again, between those of the first one."""
    pair, topic = prefixed, prefixed.topic()
    journal, replica, count = Journal(pair), pair.replica(topic), 60
    with pair.running(pair.there, topic), pair.unnamed(pair.there, topic):
        for _number in range(count):
            pair.send(pair.p, topic, 1)
        sent_twice = wait_until(lambda: pair.end(pair.b, replica), lambda end: end == 2 * count, Bounds(60, 0.1))
        assert sent_twice.done, sent_twice.state
        journal.join(pair, topic)
        groups = {pair.group(topic): offset for offset in range(0, count + 1, 6)}
        for group, offset in groups.items():
            commit(AdminClient({"bootstrap.servers": pair.servers(pair.p)}), group, {(topic, 0): offset})
        pair.wait_replicated(topic)
        result = pair.barrier(topic, journal, *groups, group_lag="reread")
    assert result["rc"] == 0, result["msg"]
    order = [record.value for record in data_records(pair.kafka[pair.b], (replica, 0), 0, 2 * count)]
    assert order[:count] != order[count:], "the tasks did not interleave"
    rows = {row["group"]: row for row in result["details"] if row["topic"] == replica}
    for group, offset in groups.items():
        unread, start = _values(pair, pair.p, topic, offset), rows[group]["offset"]
        assert unread <= set(order[start:]), rows[group]
        # What it reads again although it had read it, besides the second copies (R4).
        again = set(order[start:]) - unread - set(order[:start])
        assert len(again) <= rows[group]["rereads"], rows[group]
    assert rows[next(group for group, offset in groups.items() if offset == count)]["offset"] == 2 * count


def _values(pair: LabPair, alias: str, topic: str, start: int) -> set[bytes | None]:
    end = pair.end(alias, topic)
    return {record.value for record in data_records(pair.kafka[alias], (topic, 0), start, end)}


def test_partitions_that_are_added_while_the_applications_stop_are_not_left_to_auto_offset_reset(
    prefixed: LabPair,
) -> None:
    """R8: an operator adds one to the original after the drain, and a producer with keys writes into it."""
    pair, topic = prefixed, prefixed.topic()
    journal, replica = Journal(pair), pair.replica(topic)
    with pair.running(pair.there, topic):
        pair.send(pair.p, topic, 8)
        group = pair.group(topic)
        assert pair.drain(topic, journal, group)["rc"] == 0
        pair.flow(pair.there, "stopped", topic)
        pair.make(pair.p, topic, 2)
        # A producer that knows of the partition.
        pair.producers[pair.p] = Producer({"bootstrap.servers": pair.servers(pair.p)})
        pair.send(pair.p, topic, 3, 1)
        refused = pair.barrier(topic, journal, group, group_lag="reread")
        assert (refused["error"]["code"], journal.phases) == ("not_drained", []), refused
        assert f"{topic}-1: " in refused["msg"]
    # The flow has added it to the replica, and the original on the other cluster still lacks it.
    with pair.running(pair.there, topic):
        pair.wait_replicated(topic)
        assert pair.end(pair.b, replica, 1) == 3
        journal.join(pair, topic)
        # Its consumers never saw that partition, so nothing shows where they would start there.
        again = pair.barrier(topic, journal, group, group_lag="reread")
        assert (again["error"]["code"], journal.phases) == ("no_committed_offset", []), again
        assert f"on {replica}-1: the group has no committed offset" in again["msg"]
        assert committed_offsets(pair.kafka[pair.b], [group])[group] == {}
        commit(AdminClient({"bootstrap.servers": pair.servers(pair.p)}), group, {(topic, 1): 2})
        result = pair.barrier(topic, journal, group, group_lag="reread")
    assert result["rc"] == 0, result["msg"]
    at = {Partition(row["topic"], row["partition"]): row["offset"] for row in result["details"]}
    counts = {name: state.partitions for name, state in describe(pair.kafka[pair.b], [topic, replica]).items() if state}
    assert at.keys() == {Partition(name, number) for name, count in counts.items() for number in range(count)}
    assert (at[Partition(replica, 0)], at[Partition(replica, 1)]) == (8, 2)


def test_a_group_sync_that_is_started_again_is_not_taken_for_the_committed_offset(prefixed: LabPair) -> None:
    """R10: a tool that keeps connectors running resumes it between the commit and the first consumer."""
    pair, topic = prefixed, prefixed.topic()
    journal, replica, count, at = Journal(pair), pair.replica(topic), 400, 333
    admin = AdminClient({"bootstrap.servers": pair.servers(pair.p)})
    with pair.running(pair.there, topic):
        pair.send(pair.p, topic, count)
        pair.wait_replicated(topic)
        journal.join(pair, topic)
        group = pair.group(topic)
        commit(admin, group, {(topic, 0): at})
        result = pair.barrier(topic, journal, group, group_lag="reread")
    assert result["rc"] == 0, result["msg"]
    wanted = {"bootstrap_servers": pair.servers(pair.b), "groups": result["committed_offsets"]}
    done = run_module(kafka_group, wanted)
    assert done["rc"] == 0, done["msg"]
    spec = {"clusters": pair.clusters, "topics": [topic], "pair": journal.pair, "topic": journal.topic}
    arrival = {**as_pair({**spec, "groups": [group]}), "wait_timeout": 1}
    other = pair.group(topic)

    def committed(name: str) -> int | None:
        return committed_offsets(pair.kafka[pair.b], [name])[name].get(Partition(replica, 0))

    assert (committed(group), committed(other)) == (at, None)
    every = {"emit.checkpoints.interval.seconds": 1, "sync.group.offsets.interval.seconds": 1}
    parts = {"parts": ["checkpoint"], "groups": [group, other], "checkpoint_settings": every}
    try:
        pair.flow(pair.there, "running", topic, **parts)
        # Group sync commits for all groups in one pass. The other group shows that one has ended.
        synced = wait_until(lambda: committed(other), lambda offset: offset is not None, Bounds(60, 0.2))
        assert synced.done
    finally:
        pair.flow(pair.there, "absent", topic, **parts)
    with pair.recorded() as record:
        now, observed = committed(group), run_module(dr_arrival_info, {**arrival, "record": record})
    assert "groups" in observed, observed
    groups = observed["groups"]
    assert now is not None
    # It never skips a record. If it has set the group back, the report says so.
    assert now <= at
    assert groups["verdict"] == ("UNKNOWN" if now == at else "REFUTED"), (now, groups)


def test_a_processor_that_dies_in_a_transaction_holds_the_move_up_until_the_transaction_has_ended(
    prefixed: LabPair,
) -> None:
    """R17: its output and its committed offsets are one transaction, and its stop command does not end it."""
    pair, inputs, outputs = prefixed, prefixed.topic(), prefixed.topic()
    journal, both_topics = Journal(pair), {"topics": [inputs, outputs], "group_lag": "reread"}
    group = f"foreign-{uuid.uuid4().hex[:8]}"
    servers = {"bootstrap.servers": pair.servers(pair.p)}
    reader = Consumer({**servers, "group.id": group, "enable.auto.commit": False})
    life = {"transactional.id": group, "transaction.timeout.ms": 20_000}
    with pair.running(pair.there, inputs, outputs):
        pair.send(pair.p, inputs, 8)
        processor = Producer({**servers, **life})
        processor.init_transactions(30)
        for offset in (5, 8):
            processor.begin_transaction()
            processor.produce(outputs, f"output up to {offset}".encode(), partition=0)
            done = [TopicPartition(inputs, 0, offset)]
            processor.send_offsets_to_transaction(done, reader.consumer_group_metadata(), 30)
            assert processor.flush(30) == 0
            if offset == 5:
                processor.commit_transaction(30)
        # Killed here: only the broker ends the second transaction.
        pair.flow(pair.there, "stopped", inputs, outputs)
        refused = pair.barrier(inputs, journal, group, **both_topics)
        assert refused["rc"] == 1, refused["details"]
        assert journal.phases == []
        assert committed_offsets(pair.kafka[pair.b], [group])[group] == {}
        pair.flow(pair.there, "running", inputs, outputs)
        at_end = pair.status(inputs, outputs, wait_for="replicated", wait_timeout=60)
        assert at_end["rc"] == 0, at_end["msg"]
        journal.join(pair, inputs, outputs)
        result = pair.barrier(inputs, journal, group, **both_topics)
    reader.close()
    assert result["rc"] == 0, result["msg"]
    at = {row["topic"]: (row["offset"], row["quality"]) for row in result["details"]}
    assert at[pair.replica(inputs)] == (5, "exact")
    assert _values(pair, pair.b, pair.replica(outputs), 0) == {b"output up to 5"}
    print("refused with", refused["error"]["code"], refused["msg"])


def test_a_scheduled_job_that_was_overtaken_before_its_commit_commits_nothing(
    prefixed: LabPair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R11: the job read the journal long ago, and a disaster has moved the applications to its target since."""
    pair, topic = prefixed, prefixed.topic()
    journal, state = Journal(pair, begun=False), f"state-{uuid.uuid4().hex[:8]}-internal"
    kafkas = pair.kafka
    for alias in pair.clusters:
        pair.make(alias, state, config={"cleanup.policy": "compact"})
    with pair.running(pair.there, topic):
        pair.send(pair.p, topic, 8)
        pair.wait_replicated(topic)
        journal.join(pair, topic)
        late, group = pair.group(topic), pair.group(topic)
        base = {"clusters": pair.clusters, "topics": [topic], "policy": pair.policy, "leave": pair.p, "enter": pair.b}
        base |= {"pair": journal.pair, "topic": journal.topic, "state_topic": state}
        done = run_module(dr_checkpoint, as_pair({**base, "groups": [group]}))
        assert (done["rc"], done["outcome"]) == (0, "done"), done
        commits = presync.commit_offsets

        def overtaken(*values: Any, **more: Any) -> Any:
            revoke(kafkas, state, journal.pair)
            return commits(*values, **more)

        monkeypatch.setattr(presync, "commit_offsets", overtaken)
        refused = run_module(dr_checkpoint, as_pair({**base, "groups": [late]}))
    assert (refused["rc"], refused["error"]["code"]) == (1, "run_superseded"), refused
    there = committed_offsets(pair.kafka[pair.b], [late, group])
    assert there[late] == {}
    assert there[group] == {Partition(pair.replica(topic), 0): 8, Partition(topic, 0): 0}


# ---- what a group reads


@contextmanager
def latest(pair: LabPair, alias: str, group: str, *topics: str) -> Iterator[list[str]]:
    """A consumer that starts at the end where it has no committed offset. Yields the topics of the records it read."""
    options = {"group.id": group, "auto.offset.reset": "latest", "enable.auto.commit": False}
    consumer = Consumer({"bootstrap.servers": pair.servers(alias), **options})
    over, found = threading.Event(), list[str]()
    ready = threading.Event()
    consumer.subscribe(list(topics), on_assign=lambda _consumer, _partitions: ready.set())

    def work() -> None:
        while not over.is_set():
            record = consumer.poll(0.1)
            if record is not None and record.error() is None:
                found.append(str(record.topic()))

    thread = threading.Thread(target=work)
    thread.start()
    try:
        assert ready.wait(30)
        yield found
    finally:
        over.set()
        thread.join()
        consumer.close()


@pytest.mark.parametrize("kind", ["prefixed", "same"])
@pytest.mark.parametrize(("seen_early", "late"), [(True, 0), (True, 20), (False, 0)])
def test_a_topic_without_records_before_the_move_gets_an_offset_and_no_record_is_skipped(
    request: pytest.FixtureRequest, kind: str, seen_early: bool, late: int
) -> None:
    """R40: the group has no committed offset there, and its members are stopped before the barrier."""
    pair: LabPair = request.getfixturevalue(kind)
    topic, other = pair.topic(), pair.topic()
    both_topics = {"topics": [topic, other]}
    pair.send(pair.p, topic, 5)
    group = pair.group(topic)
    with pair.running(pair.there, topic, other):
        with latest(pair, pair.p, group, topic, other):
            journal = Journal(pair, **({"reads": pair.reads(group, topic, other)} if seen_early else {}))
            if not seen_early:
                drained = pair.drain(topic, journal, group, **both_topics)
                assert drained["rc"] == 0, drained["msg"]
                assert journal.phases == ["drain"]
        # Between the stop of the consumers and the barrier.
        pair.send(pair.p, other, late)
        if seen_early:
            drained = pair.drain(topic, journal, group, **both_topics)
            assert drained["rc"] == 0, drained["msg"]
            assert journal.phases == []
    result = pair.barrier(topic, journal, group, **both_topics)
    assert result["rc"] == 0, result["msg"]
    at = {row["topic"]: (row["offset"], row["quality"]) for row in result["details"]}
    assert at[pair.replica(other)] == at[other] == (0, "exact")
    servers = pair.servers(pair.b)
    done = run_module(kafka_group, {"bootstrap_servers": servers, "groups": result["committed_offsets"]})
    assert done["rc"] == 0, done["msg"]
    pair.send(pair.b, other, 20)
    names = {topic, other, pair.replica(topic), pair.replica(other)}
    with latest(pair, pair.b, group, *names) as found:
        assert wait_until(lambda: len(found), lambda count: count >= 20 + late, Bounds(20, 0.1)).done, found
    assert len(found) == 20 + late


def test_a_record_written_on_the_idle_cluster_under_identity_is_reported(same: LabPair) -> None:
    """With the policy identity the replica is the topic itself: an application that was not moved writes there."""
    pair, topic = same, same.topic(2)
    with pair.running(pair.there, topic):
        for partition in (0, 1):
            pair.send(pair.p, topic, 4, partition)
        pair.wait_replicated(topic)
        assert pair.missing(topic) == []
        pair.send(pair.b, topic, 1, 1)
        assert pair.missing(topic) == [
            f"{pair.p}->{pair.b}: the last record of {topic}-1 on {pair.b} (offset 4) is not in {topic} on {pair.p}"
        ]
        assert pair.missing(topic, accept_foreign_writers=[topic]) == []
    journal, group = Journal(pair), pair.group(topic)
    refused = pair.barrier(topic, journal, group)
    assert (refused["error"]["code"], journal.phases) == ("foreign_writer", [])


def test_a_flow_that_was_set_to_skip_a_long_tail_is_not_taken_for_a_foreign_writer(prefixed: LabPair) -> None:
    """As after a salvage that replayed the tail: the replica ends far below the offset that the flow has passed."""
    pair, topic = prefixed, prefixed.topic()
    with pair.running(pair.there, topic):
        pair.send(pair.p, topic, 8)
        pair.wait_replicated(topic)
    pair.send(pair.p, topic, 1500)
    name = f"{pair.p}->{pair.b}.MirrorSourceConnector"
    change_offsets(pair.worker(pair.b), name, pair.p, {(topic, 0): pair.end(pair.p, topic) - 1})
    with pair.running(pair.there, topic):
        assert pair.missing(topic) == []
        pair.send(pair.b, pair.replica(topic), 1)
        assert ["is not in" in text for text in pair.missing(topic)] == [True]


# ---- an active flow is not a foreign writer


@pytest.mark.parametrize("policy", ["default", "identity"])
def test_a_fast_flow_is_not_taken_for_a_foreign_writer(prefixed: LabPair, same: LabPair, policy: str) -> None:
    """One of the two topics is written without a pause, the other one in large batches."""
    pair = prefixed if policy == "default" else same
    steady, bursts = topics = [pair.topic(PARTITIONS) for _number in range(2)]
    observations = []
    with pair.running(pair.there, *topics):
        for topic in topics:
            pair.send(pair.p, topic, 5)
        pair.wait_replicated(*topics)
        with producing(pair, steady, 20, 0.01) as one, producing(pair, bursts, 2000, 0.03) as many:
            for _observation in range(OBSERVATIONS):
                before = one(), many()
                observations.append(pair.missing(*topics))
                # Both ran since that observation began, so the next one is another one.
                went = wait_until(lambda: (one(), many()), both_above(before), Bounds(30, 0.02))
                assert went.done
        pair.wait_replicated(*topics)
        assert pair.missing(*topics) == []
    for topic in topics:
        assert [pair.end(pair.b, pair.replica(topic), number) for number in range(PARTITIONS)] == [
            pair.end(pair.p, topic, number) for number in range(PARTITIONS)
        ]
    assert [text for observation in observations for text in observation if steady in text] == []
    assert [text for observation in observations for text in observation if bursts in text] == []


def both_above(before: tuple[int, int]) -> Callable[[tuple[int, int]], bool]:
    return lambda now: now[0] > before[0] and now[1] > before[1]


# ---- replication loops


def test_a_second_flow_with_swapped_aliases_is_reported_with_any_name(same: LabPair) -> None:
    pair, topic = same, same.topic()
    try:
        with pair.running(pair.there, topic):
            assert pair.missing(topic) == []
            with pair.unnamed(pair.back, topic) as name:
                named = pair.missing(topic)
            # A stopped one replicates nothing.
            assert pair.missing(topic) == []
    finally:
        pair.settle(topic)
    text = f"{name} replicates the same topics in the opposite direction; stop it"
    assert named == [f"{pair.p}->{pair.b}: {text}"]


@pytest.mark.parametrize(
    ("count", "stamp"),
    [(1, "CreateTime"), (2000, "CreateTime"), (1, "LogAppendTime")],
    ids=["one record", "many records", "one record with the time of the broker"],
)
def test_a_replication_loop_with_other_aliases_is_found_by_its_records(
    same: LabPair, others: LabPair, count: int, stamp: str
) -> None:
    """Their configuration does not show that they belong to this pair."""
    pair, topic = same, same.topic(config={"message.timestamp.type": stamp})
    try:
        with pair.running(pair.there, topic), others.running(others.back, topic):
            pair.send(pair.p, topic, count)
            # Every record was replicated around the loop twice.
            went = wait_until(lambda: pair.end(pair.p, topic), lambda end: end >= 3 * count, Bounds(60, 0.05))
            assert went.done
            named = pair.missing(topic)
    finally:
        pair.settle(topic)
    assert [text for text in named if "in a loop" in text] == [
        f"{pair.p}->{pair.b}: {topic}-0: within 0.5 s the same records arrived again on {pair.p} and on {pair.b}:"
        " both directions replicate it, in a loop"
    ]
    # The loop has ended, and is not reported any more.
    assert [text for text in pair.missing(topic) if "in a loop" in text] == []


def test_no_barrier_while_the_other_direction_runs(same: LabPair) -> None:
    """R22: records would be replicated back after the cut."""
    pair, topic = same, same.topic()
    journal = Journal(pair)
    with pair.running(pair.there, topic):
        pair.send(pair.p, topic, 4)
        pair.wait_replicated(topic)
    group = pair.group(topic)

    def refused(other: str, **more: Any) -> None:
        ways = [pair.translate(topic, group, **more), pair.translate(topic, group, barrier=False, **more)]
        for result in [pair.barrier(topic, journal, group, **more), *ways]:
            assert (result["rc"], result["error"]["code"]) == (1, "both_directions"), result
            assert f"{other} replicates from {pair.b} to {pair.p}" in result["msg"]
            assert "committed_offsets" not in result

    # On a topic of its own: running is enough, and no record can loop.
    with pair.unnamed(pair.back, pair.topic()) as name:
        refused(name)
    with pair.running(pair.back, pair.topic()):
        refused(f"{pair.b}->{pair.p}.MirrorSourceConnector", accept_foreign_writers=[topic])
    assert journal.phases == []
    assert committed_offsets(pair.kafka[pair.b], [group])[group] == {}
    # Without it, the same barrier is established.
    assert pair.barrier(topic, journal, group)["rc"] == 0
    assert journal.phases == ["barrier"]
