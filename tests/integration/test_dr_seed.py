# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""dr_seed on real workers: a flow of a pair with the policy identity begins at its cut, verified
by reading both logs.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.offsets import (
    replicated_offsets,
    set_offsets,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.rest import ConnectClient
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.names import connector_name
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds, wait_until
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.records import data_records
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.topics import describe, log_ranges
from ansible_collections.switchback.kafka_dr.plugins.modules import (
    connect_mirror,
    dr_journal,
    dr_seed,
    dr_status_info,
    kafka_topic,
)
from ansible_collections.switchback.kafka_dr.tests.support.journals import journal_state
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module
from ansible_collections.switchback.kafka_dr.tests.support.pairs import as_pair, of_journal

pytestmark = pytest.mark.integration

P, B = "AP", "AB"
THERE, BACK = {"source": P, "target": B}, {"source": B, "target": P}
# The same two clusters under other names: a flow of a user without this collection.
HAND = {P: "HP", B: "HB"}
FlowAliases = dict[str, str]
Nested = dict[str, dict[str, int]]
Offsets = dict[tuple[str, int], int]


class LabPair:
    """A pair with the policy identity. Every test has topics of its own, and the connectors are shared."""

    def __init__(self, lab: Any) -> None:
        found = lab.info()["clusters"]
        self.clusters = {
            alias: {key: found[name][key] for key in ("bootstrap_servers", "connect_url", "cluster_id")}
            for alias, name in ((P, "P"), (B, "B"))
        }
        self.kafka = {alias: Kafka(self.servers(alias), {}, 15.0) for alias in self.clusters}
        self._producers = {alias: Producer({"bootstrap.servers": self.servers(alias)}) for alias in self.clusters}
        self._rest = {alias: ConnectClient(str(self.clusters[alias]["connect_url"]), {}, 15.0) for alias in (P, B)}

    def servers(self, alias: str) -> str:
        return str(self.clusters[alias]["bootstrap_servers"])

    # ---- topics and records

    def topic(self, partitions: int = 1, sides: Iterable[str] = (P, B)) -> str:
        name = f"seed-{uuid.uuid4().hex[:8]}"
        for alias in sides:
            items = [{"name": name, "partitions": partitions}]
            made = run_module(kafka_topic, {"bootstrap_servers": self.servers(alias), "topics": items})
            assert made["rc"] == 0, made
        return name

    def send(self, alias: str, topic: str, partition: int, count: int, **more: Any) -> None:
        """Send records that differ in key, value and header, unless ``more`` sets them."""
        for _number in range(count):
            unique = uuid.uuid4().hex
            record = {
                "value": unique,
                "key": unique[:6],
                "headers": [("from", alias.encode()), ("n", unique.encode())],
            }
            self._producers[alias].produce(topic, partition=partition, **{**record, **more})
        assert self._producers[alias].flush(30) == 0

    def send_both(self, topic: str, partition: int, count: int) -> None:
        """Write the same records on both clusters, as if they had been replicated."""
        for _number in range(count):
            same: dict[str, Any] = {
                "value": uuid.uuid4().hex,
                "key": None,
                "headers": [],
                "timestamp": int(time.time() * 1000),
            }
            for alias in (P, B):
                self.send(alias, topic, partition, 1, **same)

    def transact(self, alias: str, topic: str, partition: int, count: int, commit: bool = True) -> None:
        """Run one transaction. Return when its marker is in the log."""
        with self.open_transaction(alias, topic, partition, count, commit):
            pass

    @contextmanager
    def open_transaction(
        self, alias: str, topic: str, partition: int, count: int, commit: bool = True
    ) -> Iterator[None]:
        producer = Producer({"bootstrap.servers": self.servers(alias), "transactional.id": uuid.uuid4().hex})
        producer.init_transactions(30)
        producer.begin_transaction()
        for _number in range(count):
            producer.produce(topic, uuid.uuid4().hex, partition=partition)
        assert producer.flush(30) == 0
        written = self.end(alias, topic, partition, "read_uncommitted")
        try:
            yield
        finally:
            producer.commit_transaction(30) if commit else producer.abort_transaction(30)
        observed = wait_until(lambda: self.end(alias, topic, partition), lambda end: end > written, Bounds(30, 0.05))
        assert observed.done, "the marker of an ended transaction was not written"

    def cut_off(self, alias: str, topic: str, partition: int, before: int) -> None:
        """Remove the records below ``before``, as retention does."""
        admin = AdminClient({"bootstrap.servers": self.servers(alias)})
        for future in admin.delete_records([TopicPartition(topic, partition, before)]).values():
            future.result()

    def ranges(self, alias: str, topic: str, isolation: str = "read_committed") -> dict[int, tuple[int, int]]:
        state = describe(self.kafka[alias], [topic])[topic]
        assert state is not None
        places = {(topic, number) for number in range(state.partitions)}
        return {number: span for (_topic, number), span in log_ranges(self.kafka[alias], places, isolation).items()}

    def end(self, alias: str, topic: str, partition: int = 0, isolation: str = "read_committed") -> int:
        return self.ranges(alias, topic, isolation)[partition][1]

    def ends(self, alias: str, topic: str) -> Nested:
        """The ends as the journal stores them."""
        return {topic: {str(number): end for number, (_start, end) in self.ranges(alias, topic).items()}}

    def ids(self, topic: str) -> dict[str, dict[str, str]]:
        """The ids in the journal of an enabled pair."""
        states = {alias: describe(self.kafka[alias], [topic])[topic] for alias in (P, B)}
        return {alias: {topic: state.topic_id} for alias, state in states.items() if state is not None}

    def log(self, alias: str, topic: str) -> dict[int, list[object]]:
        """The records that a read_committed consumer receives, without offsets, by partition."""
        return {
            number: [
                (one.timestamp, one.key, one.value, one.headers)
                for one in data_records(self.kafka[alias], (topic, number), *span)
            ]
            for number, span in self.ranges(alias, topic).items()
        }

    # ---- flows

    def flow(self, flow: FlowAliases, state: str, *topics: str, hand: bool = False) -> None:
        """The source connector of a flow. ``hand``: one with another name for the same clusters."""
        ends = {
            end: {key: self.clusters[flow[end]][key] for key in ("bootstrap_servers", "cluster_id")}
            | {"alias": HAND[flow[end]] if hand else flow[end]}
            for end in ("source", "target")
        }
        params = {
            **ends,
            "connect_url": self.clusters[flow["target"]]["connect_url"],
            "topics": topics,
            "policy": "identity",
            "replication_factor": 1,
            "tasks_max": 1,
            # Heartbeats of another pair in the same lab would be replicated in a loop. No test here needs them.
            "source_settings": {"refresh.topics.interval.seconds": 1, "heartbeats.replication.enabled": False},
            "parts": ["source"],
            "state": state,
            "wait_timeout": 90,
            "request_timeout": 30,
        }
        result = run_module(connect_mirror, params)
        assert result["rc"] == 0, result["msg"]

    def wait_replicated(self, flow: FlowAliases, topic: str) -> None:
        pair = {"clusters": self.clusters, "topics": [topic], "policy": "identity"}
        wait = {"wait_for": "replicated", "wait_timeout": 90, "wait_sleep": 0.1}
        result = run_module(dr_status_info, {"pair": pair, "flows": [flow], **wait})
        assert result["rc"] == 0, result["msg"]

    def copy(self, flow: FlowAliases, topic: str) -> None:
        """Run a flow until every record is replicated, then stop it without tasks."""
        self.flow(flow, "running", topic)
        try:
            self.wait_replicated(flow, topic)
        finally:
            self.flow(flow, "stopped")

    def copy_while_written(self, flow: FlowAliases, topic: str, *partitions: int) -> None:
        """Like ``copy``, while records are written in ``partitions``: records replicated again by mistake arrive by
        then.
        """
        self.flow(flow, "running", topic)
        try:
            self.wait_replicated(flow, topic)
            for partition in partitions:
                self.send(flow["source"], topic, partition, 2)
            self.wait_replicated(flow, topic)
        finally:
            self.flow(flow, "stopped")

    def connector(self, flow: FlowAliases) -> tuple[ConnectClient, str]:
        return self._rest[flow["target"]], connector_name(flow["source"], flow["target"], "source")

    def offsets(self, flow: FlowAliases) -> Offsets:
        """All offsets that the connector stores, under any alias."""
        return replicated_offsets(*self.connector(flow))

    def state(self, flow: FlowAliases) -> object:
        """All connectors, and the stored offsets of the flow's connector: a refusal changes none of them."""
        return [self._rest[alias].connectors() for alias in (P, B)], self.offsets(flow)

    # ---- the module

    def journal(self, topic: str, cut: Nested, ends: Nested) -> dict[str, Any]:
        """A journal of its own, after a disaster failover from P to B. Its topic and pair as options."""
        name = uuid.uuid4().hex[:8]
        place: dict[str, Any] = {"topic": f"journal-{name}-internal", "pair": f"seed-{name}"}
        for alias in (P, B):
            items = [{"name": place["topic"], "partitions": 1}]
            made = run_module(kafka_topic, {"bootstrap_servers": self.servers(alias), "topics": items})
            assert made["rc"] == 0, made

        def note(event: str, **data: Any) -> dict[str, Any]:
            run = data.pop("run", None)
            of_run = {} if run is None else {"run": run, "holder_generation": 0}
            options = {"clusters": self.clusters, **place, "event": event, "data": data, **of_run}
            result = run_module(dr_journal, of_journal(options))
            assert result["rc"] == 0, result
            return result

        note("enabled", active=P, policy="identity", topic_ids=self.ids(topic))
        run = note("started", type="disaster", policy="identity", **{"from": P, "to": B})["run_id"]
        note("phase", run=run, phase="barrier", facts={"disaster": True, "ends": ends, "cut": cut})
        note("pnr", run=run)
        note("ended", run=run, result="completed")
        return place

    def seed(self, flow: FlowAliases, topic: str, /, *, check: bool = False, **more: Any) -> dict[str, Any]:
        params = {"clusters": self.clusters, "topics": [topic], "policy": "identity", "pair": "seed", **flow, **more}
        ids = params.pop("topic_ids", None)
        if ids:
            params |= journal_state(self.clusters, (flow["target"], flow["source"]), topic_ids=ids)
        return run_module(dr_seed, as_pair(params), check=check, diff=True)

    def refused(self, flow: FlowAliases, topic: str, /, **more: Any) -> dict[str, Any]:
        """The error of a call that must change nothing."""
        before = self.state(flow)
        result = self.seed(flow, topic, **more)
        assert (result["rc"], result["changed"]) == (1, False), result
        assert self.state(flow) == before
        return dict(result["error"])


def known(topic: str, *last_replicated_offset: int | None) -> Offsets:
    """The last replicated offsets of the first partitions."""
    return {(topic, number): offset for number, offset in enumerate(last_replicated_offset) if offset is not None}


@pytest.fixture(scope="module")
def pair(lab: Any) -> Iterator[LabPair]:
    """Both source connectors exist and are stopped."""
    made = LabPair(lab)
    idle = made.topic()
    for flow in (THERE, BACK):
        made.flow(flow, "present", idle)
        made.flow(flow, "stopped")
    yield made
    for flow in (THERE, BACK):
        made.flow(flow, "absent")
        made.flow(flow, "absent", hand=True)


@pytest.fixture(scope="module")
def left(pair: LabPair) -> tuple[str, Nested, Nested]:
    """A topic after a failover to B: replicated, stopped, and written on B.

    With the cut and the ends of P. Read only.
    """
    topic = pair.topic(3)
    pair.transact(P, topic, 0, 3)
    pair.send(P, topic, 1, 6)
    pair.copy(THERE, topic)
    cut, ends = pair.ends(B, topic), pair.ends(P, topic)
    for partition in (0, 1, 2):
        pair.send(B, topic, partition, 3)
    return topic, cut, ends


# ---- at a cut


def test_the_flow_back_replicates_exactly_the_records_after_the_cut(pair: LabPair) -> None:
    """R22: partition 2 has the cut 0, partition 3 was never written."""
    topic = pair.topic(4)
    pair.send(P, topic, 0, 12)
    pair.transact(P, topic, 1, 4)  # Its marker is not replicated: offsets differ between the clusters from here on.
    pair.send(P, topic, 1, 3)
    pair.copy(THERE, topic)
    cut, ends = pair.ends(B, topic), pair.ends(P, topic)
    assert cut == {topic: {"0": 12, "1": 7, "2": 0, "3": 0}}
    assert ends == {topic: {"0": 12, "1": 8, "2": 0, "3": 0}}
    old = pair.log(P, topic)
    for partition, count in ((0, 5), (1, 2), (2, 3)):
        pair.send(B, topic, partition, count)

    result = pair.seed(BACK, topic, cut=cut, ends=ends)

    assert (result["rc"], result["changed"], result["seeded"], result["cut_record"]) == (0, True, True, None)
    rows = {row["partition"]: (row["topic"], row["cut"], row["tail"]) for row in result["partitions"]}
    assert rows == {0: (topic, 12, 0), 1: (topic, 7, 0), 2: (topic, 0, 0), 3: (topic, 0, 0)}
    pair.copy_while_written(BACK, topic, 0, 1, 2)
    here, there = pair.log(P, topic), pair.log(B, topic)
    assert here == there
    assert {number: len(records) for number, records in here.items()} == {0: 19, 1: 11, 2: 5, 3: 0}
    assert {number: records[: len(old[number])] for number, records in here.items()} == old


def test_after_three_moves_every_record_is_once_on_each_cluster(pair: LabPair) -> None:
    """R22: with the offsets of the first round, records would be replicated back to their origin."""
    topic = pair.topic(2)
    pair.send(P, topic, 0, 5)
    pair.copy(THERE, topic)
    assert pair.offsets(THERE)[topic, 0] == 4
    cuts = []
    for flow in (BACK, THERE):
        cut, ends = pair.ends(flow["source"], topic), pair.ends(flow["target"], topic)
        cuts.append(cut[topic])
        pair.transact(flow["source"], topic, 0, 2)
        pair.send(flow["source"], topic, 1, 3)
        seeded = pair.seed(flow, topic, cut=cut, ends=ends)
        assert (seeded["rc"], seeded["changed"]) == (0, True), seeded
        if flow == THERE:
            assert pair.offsets(THERE) == known(topic, 8, 4)
        pair.copy_while_written(flow, topic, 0, 1)
        assert pair.log(P, topic) == pair.log(B, topic)
    assert cuts == [{"0": 5, "1": 0}, {"0": 9, "1": 5}]
    assert [len(records) for records in pair.log(P, topic).values()] == [5 + 2 * 4, 2 * 5]


def test_a_stored_offset_of_an_earlier_round_is_removed_if_the_cut_is_0(pair: LabPair) -> None:
    """R22: it survives the deletion of the connector, and all records before it would be left out."""
    topic = pair.topic(2)
    pair.send(B, topic, 0, 8)
    rest, name = pair.connector(BACK)
    set_offsets(rest, name, B, {(topic, 0): 5, ("seed-gone", 3): 9})
    pair.flow(BACK, "absent")
    pair.flow(BACK, "present", topic)
    assert pair.offsets(BACK) == {(topic, 0): 5, ("seed-gone", 3): 9}

    result = pair.seed(BACK, topic, cut={topic: {"0": 0, "1": 0}}, ends={topic: {"0": 0, "1": 0}})

    assert (result["rc"], result["changed"], pair.offsets(BACK)) == (0, True, {})
    pair.copy_while_written(BACK, topic, 0)
    assert pair.log(P, topic) == pair.log(B, topic)
    assert len(pair.log(P, topic)[0]) == 10


def test_the_offsets_are_set_heartbeats_keep_theirs_and_a_second_run_changes_nothing(
    pair: LabPair, left: tuple[str, Nested, Nested]
) -> None:
    topic, cut, ends = left
    rest, name = pair.connector(BACK)
    # A flow that replicated heartbeats for a while, and another topic.
    set_offsets(rest, name, B, {("heartbeats", 0): 41, (topic, 0): 0, ("seed-gone", 0): 7})
    first = pair.seed(BACK, topic, cut=cut, ends=ends)
    assert (first["rc"], first["changed"], first["late_writes"]) == (0, True, [])
    assert pair.offsets(BACK) == {("heartbeats", 0): 41, **known(topic, 2, 5)}
    (change,) = first["changes"]
    assert (change["name"], change["status"]) == (name, "done")
    assert change["before"] == {"seed-gone": {"0": 7}, "heartbeats": {"0": 41}, topic: {"0": 0}}
    assert change["after"] == {"heartbeats": {"0": 41}, topic: {"0": 2, "1": 5}}
    before = pair.state(BACK)
    second = pair.seed(BACK, topic, cut=cut, ends=ends)
    assert (second["rc"], second["changed"], second["changes"], second["seeded"]) == (0, False, [], True)
    assert second["partitions"] == first["partitions"]
    assert pair.state(BACK) == before
    set_offsets(rest, name, B, {})


def test_the_seeded_offsets_are_journaled(pair: LabPair, left: tuple[str, Nested, Nested]) -> None:
    topic, cut, ends = left
    place: dict[str, Any] = {
        "topic": f"journal-{uuid.uuid4().hex[:8]}-internal",
        "pair": f"seed-{uuid.uuid4().hex[:6]}",
    }
    for alias in (P, B):
        items = [{"name": place["topic"], "partitions": 1}]
        made = run_module(kafka_topic, {"bootstrap_servers": pair.servers(alias), "topics": items})
        assert made["rc"] == 0, made

    def note(event: str, **data: Any) -> dict[str, Any]:
        params = {"clusters": pair.clusters, **place, "event": event, "data": data}
        return run_module(dr_journal, of_journal(params))

    assert note("enabled", active=P)["rc"] == 0
    run = note("started", type="cutoff", policy="identity", **{"from": P, "to": B})["run_id"]
    guard = {"clusters": pair.clusters, **place, "run": run, "holder_generation": 0}
    refused = pair.refused(BACK, topic, cut={topic: {**cut[topic], "0": 99}}, guard=guard, **place)
    assert refused["code"] == "cut_outside_log"
    assert note("read")["state"]["run"]["phases"] == {}
    result = pair.seed(BACK, topic, cut=cut, ends=ends, guard=guard, **place)
    assert result["rc"] == 0, result["msg"]
    seeded = note("read")["state"]["run"]["phases"]["seeded"]
    assert (seeded["flow"], seeded["cut"], seeded["resumed"]) == (f"{B}->{P}", cut, ends)


@pytest.mark.parametrize("lost", [0, 3], ids=["everything on B", "B lost copies"])
def test_after_a_disaster_the_end_of_the_replicated_part_is_found_by_content(pair: LabPair, lost: int) -> None:
    """R45: 4 of 10 replicated records were stored when the worker died. 5 later records were never replicated."""
    topic = pair.topic()
    pair.send_both(topic, 0, 10 - lost)
    pair.send(P, topic, 0, lost + 5)
    cut, ends = pair.ends(B, topic), {topic: {"0": 4}}
    pair.send(B, topic, 0, 2)
    place = pair.journal(topic, cut, ends)

    error = pair.refused(BACK, topic, **place)
    assert error["code"] == "tail_left"
    assert f"{topic}-0: {5 + lost} offsets that {B} does not hold" in error["message"]
    result = pair.seed(BACK, topic, accept_tail=[topic], **place)

    assert (result["rc"], result.get("warnings", [])) == (0, []), result
    state = run_module(dr_journal, of_journal({"clusters": pair.clusters, **place, "event": "read"}))["state"]
    found = {topic: {"0": 10 - lost}}
    assert [(one["ends"], one["found"], one["resumed"]) for one in state["cuts"]] == [
        (ends, found, {topic: {"0": 15}}),
    ]
    assert state["left"][P]["ends"] == found
    assert pair.offsets(BACK)[topic, 0] == 10 - lost - 1


def test_records_in_the_middle_that_the_entered_cluster_lacks_are_refused_by_name(pair: LabPair) -> None:
    """R45: P was truncated below the stored offset and written again before the worker went on."""
    topic = pair.topic()
    pair.send_both(topic, 0, 4)
    for alias in (P, B):
        pair.send(alias, topic, 0, 3)  # the same offsets, but other records
    pair.send_both(topic, 0, 2)
    pair.send(P, topic, 0, 1)
    place = pair.journal(topic, pair.ends(B, topic), {topic: {"0": 8}})
    error = pair.refused(BACK, topic, **place)
    assert error["code"] == "copies_missing"
    assert f"{topic}-0: 3 records in the offsets 4 to 6" in error["message"]
    assert pair.seed(BACK, topic, accept_tail=[topic], **place)["late_writes"] == [f"{P} {topic}-0: 1 offsets"]


def test_an_end_that_content_does_not_show_stays_a_lower_bound(pair: LabPair) -> None:
    """R45: all records are equal, and 2 of 4 were stored."""
    topic = pair.topic()
    equal: dict[str, Any] = {"value": "x", "key": None, "headers": [], "timestamp": int(time.time() * 1000)}
    pair.send(P, topic, 0, 6, **equal)
    pair.send(B, topic, 0, 4, **equal)
    ends = {topic: {"0": 2}}
    place = pair.journal(topic, pair.ends(B, topic), ends)
    result = pair.seed(BACK, topic, accept_tail=[topic], **place)
    assert f"{topic}-0 (at or after 2: records have equal content)" in str(result["warnings"][0])
    state = run_module(dr_journal, of_journal({"clusters": pair.clusters, **place, "event": "read"}))["state"]
    assert [(one["ends"], one.get("found"), one["disaster"]) for one in state["cuts"]] == [(ends, None, True)]


# ---- refusals, which change nothing -


def test_a_running_connector_is_refused(pair: LabPair, left: tuple[str, Nested, Nested]) -> None:
    """Offsets that are set under a running connector have no effect, or are overwritten."""
    topic, cut, ends = left
    pair.flow(BACK, "running", pair.topic())
    try:
        error = pair.refused(BACK, topic, cut=cut, ends=ends)
        # Its start was decided before: a repeated enable does not change it.
        before = pair.offsets(BACK)
        again = pair.seed(BACK, topic, topic_ids=pair.ids(topic))
        assert (again["rc"], again["changed"], again["seeded"], again["cut_record"]) == (0, False, False, None)
        # If the journal does not have it, the logs are compared, and the connector must be stopped for that.
        for unknown in ({"topic_ids": {}}, {"topic_ids": pair.ids(topic), "moved": True}):
            assert pair.refused(BACK, topic, **unknown)["code"] == "not_stopped"
        assert pair.offsets(BACK) == before
    finally:
        pair.flow(BACK, "stopped")
    assert error["code"] == "not_stopped"
    assert f'"{B}->{P}.MirrorSourceConnector" is RUNNING with 1 tasks' in error["message"]


def test_a_connector_that_does_not_exist_is_refused(pair: LabPair, left: tuple[str, Nested, Nested]) -> None:
    topic, cut, _ends = left
    clusters = {"XP": pair.clusters[P], "XB": pair.clusters[B]}
    before = pair.state(BACK)
    for given in (cut, None):
        result = pair.seed({"source": "XB", "target": "XP"}, topic, clusters=clusters, cut=given)
        assert (result["rc"], result["changed"], result["error"]["code"]) == (1, False, "not_stopped")
        assert '"XB->XP.MirrorSourceConnector" is missing' in result["msg"]
    assert pair.state(BACK) == before


def test_it_is_refused_while_the_other_direction_runs(pair: LabPair, left: tuple[str, Nested, Nested]) -> None:
    """Records would be replicated in a loop."""
    topic, cut, ends = left
    pair.flow(THERE, "running", pair.topic())
    try:
        errors = [pair.refused(BACK, topic, cut=given, ends=ends) for given in (cut, None)]
    finally:
        pair.flow(THERE, "stopped")
    assert [error["code"] for error in errors] == ["both_directions"] * 2
    assert f"{P}->{B}.MirrorSourceConnector replicates" in errors[0]["message"]


@pytest.mark.parametrize("alias", [P, B])
def test_another_topic_than_the_journaled_one_is_refused(
    pair: LabPair, left: tuple[str, Nested, Nested], alias: str
) -> None:
    topic, cut, ends = left
    ids = {**pair.ids(topic), alias: {topic: "AAAAAAAAAAAAAAAAAAAAAA"}}
    error = pair.refused(BACK, topic, cut=cut, ends=ends, topic_ids=ids)
    assert error["code"] == "topic_recreated"
    assert f'"{topic}" on {alias}' in error["message"]


def test_a_cut_beyond_the_end_of_the_log_is_refused(pair: LabPair, left: tuple[str, Nested, Nested]) -> None:
    topic, cut, ends = left
    end = pair.end(B, topic, 1)
    error = pair.refused(BACK, topic, cut={topic: {**cut[topic], "1": end + 4}}, ends=ends)
    assert error["code"] == "cut_outside_log"
    assert f"{topic}-1 on {B}: the cut {end + 4} is outside the log [0, {end})" in error["message"]
    assert "4 offsets are missing" in error["message"]


def test_a_partition_without_a_cut_begins_at_0_only_if_it_never_had_a_record_on_the_target(pair: LabPair) -> None:
    topic = pair.topic(2)
    pair.send(B, topic, 1, 3)
    assert pair.seed(BACK, topic, cut={topic: {"0": 0}})["rc"] == 0
    assert pair.offsets(BACK) == {}
    pair.send(P, topic, 1, 2)
    error = pair.refused(BACK, topic, cut={topic: {"0": 0}}, accept_tail=[topic])
    assert error["code"] == "cut_missing"
    assert f"{topic}-1 has no cut" in error["message"]
    assert f"up to offset 2 on {P}" in error["message"]


def test_a_cut_below_the_start_of_the_log_is_refused(pair: LabPair) -> None:
    """Records after the cut expired before they could be replicated back."""
    topic = pair.topic(2)
    for partition in (0, 1):
        pair.send(B, topic, partition, 9)
    pair.cut_off(B, topic, 1, 7)
    cut = {topic: {"0": 4, "1": 4}}
    error = pair.refused(BACK, topic, cut=cut)
    assert error["code"] == "cut_outside_log"
    assert f"{topic}-1 on {B}: the cut 4 is outside the log [7, 9); 3 offsets expired" in error["message"]
    # At the start of the log, no record is lost.
    assert pair.seed(BACK, topic, cut={topic: {"0": 4, "1": 7}})["rc"] == 0
    assert pair.offsets(BACK) == known(topic, 3, 6)


def test_records_written_after_the_barrier_are_refused_unless_they_are_accepted(pair: LabPair) -> None:
    topic = pair.topic(2)
    pair.send_both(topic, 1, 4)
    cut, ends = pair.ends(B, topic), pair.ends(P, topic)
    pair.send(P, topic, 1, 3)  # An application that was not stopped.
    tail = pair.log(P, topic)[1][4:]
    pair.send(B, topic, 0, 2)
    pair.send(B, topic, 1, 2)
    error = pair.refused(BACK, topic, cut=cut, ends=ends)
    assert error["code"] == "tail_left"
    assert f"1 partitions on {P} hold records after the cut. {topic}-1: 3 offsets" in error["message"]
    assert pair.refused(BACK, topic, cut=cut, ends=ends, accept_tail=["another"])["code"] == "tail_left"

    result = pair.seed(BACK, topic, cut=cut, ends=ends, accept_tail=[topic])

    assert (result["rc"], result["changed"], result["late_writes"]) == (0, True, [f"{P} {topic}-1: 3 offsets"])
    assert {row["partition"]: (row["tail"], row["drained"]) for row in result["partitions"]} == {
        0: (0, "PROVEN"),
        1: (3, "REFUTED"),
    }
    pair.copy_while_written(BACK, topic, 0, 1)
    here, there = pair.log(P, topic), pair.log(B, topic)
    assert (here[0], here[1]) == (there[0], there[1][:4] + tail + there[1][4:])


@pytest.mark.parametrize(("commit", "end"), [(True, 6), (False, 4)], ids=["marker", "aborted"])
def test_markers_and_aborted_records_are_no_tail(pair: LabPair, commit: bool, end: int) -> None:
    """R5 and R19: no consumer receives transaction markers and the records of aborted transactions."""
    topic = pair.topic()
    pair.send(P, topic, 0, 4)
    pair.send(B, topic, 0, 5)
    pair.transact(P, topic, 0, 2, commit)
    assert (pair.end(P, topic), len(pair.log(P, topic)[0])) == (7, end)
    result = pair.seed(BACK, topic, cut={topic: {"0": 4}}, ends={topic: {"0": end}})
    assert (result["rc"], result["late_writes"]) == (0, []), result
    assert [(row["tail"], row["drained"]) for row in result["partitions"]] == [(0, "PROVEN")]
    assert pair.offsets(BACK) == known(topic, 3)


def test_a_transaction_that_is_still_open_after_the_barrier_may_become_a_tail(pair: LabPair) -> None:
    topic = pair.topic(1)
    pair.send(P, topic, 0, 4)
    pair.send(B, topic, 0, 5)
    with pair.open_transaction(P, topic, 0, 2):
        error = pair.refused(BACK, topic, cut={topic: {"0": 4}}, ends={topic: {"0": 4}})
    assert error["code"] == "tail_left"
    assert f"{topic}-0: 2 offsets" in error["message"]


# ---- without a cut: when a pair is enabled


@pytest.mark.parametrize("sides", [(P, B), (P,)], ids=["empty", "missing"])
def test_if_the_target_was_never_written_the_flow_begins_at_0(pair: LabPair, sides: tuple[str, ...]) -> None:
    topic = pair.topic(2, sides)
    for partition, count in ((0, 7), (1, 2)):
        pair.send(P, topic, partition, count)
    result = pair.seed(THERE, topic, topic_ids=pair.ids(topic))
    assert (result["rc"], result["seeded"], result["cut_record"]) == (0, True, None)
    assert {row["partition"]: row["cut"] for row in result["partitions"]} == {0: 0, 1: 0}
    assert pair.offsets(THERE) == {}
    pair.copy(THERE, topic)
    assert pair.log(B, topic) == pair.log(P, topic)


def test_offsets_that_fit_both_logs_are_kept_and_a_foreign_record_on_the_target_is_refused(pair: LabPair) -> None:
    """A record that a foreign producer wrote on the target would never be replicated back."""
    topic = pair.topic(3)
    rest, name = pair.connector(THERE)
    set_offsets(rest, name, P, {})
    pair.send(P, topic, 0, 5)
    pair.transact(P, topic, 1, 2)
    pair.copy(THERE, topic)
    pair.send(P, topic, 0, 3)  # Not replicated yet.
    pair.transact(P, topic, 1, 2, commit=False)
    kept = pair.offsets(THERE)
    assert kept == known(topic, 4, 1)
    result = pair.seed(THERE, topic, topic_ids=pair.ids(topic))
    assert (result["rc"], result["changed"], result["seeded"], result["cut_record"]) == (0, False, True, None), result
    assert {row["partition"]: row["cut"] for row in result["partitions"]} == {0: 5, 1: 2, 2: 0}
    assert pair.offsets(THERE) == kept
    for partition, place in ((2, 0), (1, 2)):
        pair.send(B, topic, partition, 1)
        error = pair.refused(THERE, topic)
        assert error["code"] == "cut_unknown"
        assert f"{topic}-{partition} on {B} holds records up to offset {place + 1}" in error["message"]
        assert f"its last record there (offset {place}) occurs 0 times on {P}" in error["message"]


@pytest.mark.parametrize("start", [0, 5], ids=["whole log", "expired up to the offset"])
def test_an_offset_of_an_earlier_round_does_not_fit_and_the_cut_is_found_by_content(pair: LabPair, start: int) -> None:
    """Both clusters have the same 8 records since. The flow has stored 5 and would replicate the others again."""
    topic = pair.topic()
    pair.send_both(topic, 0, 8)
    pair.cut_off(P, topic, 0, start)
    pair.send(P, topic, 0, 2)
    rest, name = pair.connector(THERE)
    set_offsets(rest, name, P, known(topic, 4))
    result = pair.seed(THERE, topic)
    assert (result["rc"], result["changed"]) == (0, True), result
    assert [row["cut"] for row in result["partitions"]] == [8]
    assert pair.offsets(THERE) == known(topic, 7)


def test_an_offset_past_the_end_of_the_source_does_not_fit(pair: LabPair) -> None:
    """The topic of the earlier round was re-created."""
    topic = pair.topic(2)
    pair.send_both(topic, 0, 4)
    pair.send(P, topic, 1, 2)
    rest, name = pair.connector(THERE)
    set_offsets(rest, name, P, known(topic, 60, 70))
    result = pair.seed(THERE, topic)
    assert (result["rc"], result["changed"]) == (0, True), result
    assert {row["partition"]: row["cut"] for row in result["partitions"]} == {0: 4, 1: 0}
    assert pair.offsets(THERE) == known(topic, 3)


def test_the_cut_of_a_manual_failover_is_found_by_content(pair: LabPair) -> None:
    """R22: a flow with another name replicated, so our connector has no offsets."""
    topic = pair.topic(5)
    pair.send(P, topic, 0, 6)
    pair.transact(P, topic, 1, 3)
    pair.send(P, topic, 1, 2)
    pair.send(P, topic, 2, 4)
    # Equal except for the timestamp, as the records of a meter may be.
    now = int(time.time() * 1000)
    for number in range(5):
        pair.send(P, topic, 4, 1, value="same", key=None, headers=[], timestamp=now + number)
    pair.flow(THERE, "running", topic, hand=True)
    try:
        observed = wait_until(lambda: pair.log(B, topic), lambda found: found == pair.log(P, topic), Bounds(60, 0.2))
        assert observed.done
    finally:
        pair.flow(THERE, "stopped", hand=True)
    cut, ends = pair.ends(B, topic), pair.ends(P, topic)
    pair.transact(P, topic, 2, 2, commit=False)  # A tail that no consumer receives.
    for partition, count in ((0, 4), (1, 1), (3, 2), (4, 3)):
        pair.send(B, topic, partition, count)
    rest, name = pair.connector(BACK)
    set_offsets(rest, name, B, {})

    result = pair.seed(BACK, topic, moved=True, topic_ids=pair.ids(topic))

    assert (result["rc"], result["changed"], result["seeded"]) == (0, True, True), result
    assert cut == {topic: {"0": 6, "1": 5, "2": 4, "3": 0, "4": 5}}
    assert {str(row["partition"]): row["cut"] for row in result["partitions"]} == cut[topic]
    cut_record = result["cut_record"]
    assert (cut_record["from"], cut_record["to"], cut_record["cut"], cut_record["joined"]) == (P, B, cut, [])
    found = {**ends[topic], "2": pair.end(P, topic, 2)}
    assert cut_record["ends"] == cut_record["resumed"] == {topic: found}
    pair.copy_while_written(BACK, topic, 0, 1, 2, 3, 4)
    assert pair.log(P, topic) == pair.log(B, topic)
    assert [len(records) for records in pair.log(P, topic).values()] == [12, 8, 6, 4, 10]
    # The stored offsets of the connector fit now, so no cut needs to be found.
    again = pair.seed(BACK, topic, topic_ids=pair.ids(topic))
    assert (again["rc"], again["changed"], again["cut_record"]) == (0, False, None)


@pytest.mark.parametrize("journaled", [{}, {P: {"seed-other": "AAAAAAAAAAAAAAAAAAAAAA"}}], ids=["nothing", "another"])
def test_a_topic_that_is_not_in_the_journal_has_a_cut_too(pair: LabPair, journaled: dict[str, dict[str, str]]) -> None:
    """The pair did not observe its records. Only for journaled topics no cut is needed."""
    old, new = pair.topic(), pair.topic(2)
    for topic in (old, new):
        pair.send_both(topic, 0, 3)
        pair.send(B, topic, 0, 1)
    ids = {alias: {**journaled.get(alias, {}), **pair.ids(old)[alias]} for alias in (P, B)}
    result = pair.seed(BACK, new, topics=[old, new], topic_ids=ids)
    assert result["rc"] == 0, result["msg"]
    assert result["cut_record"]["joined"] == [new]
    assert result["cut_record"]["cut"] == {old: {"0": 3}, new: {"0": 3, "1": 0}}
    # Now the offset of the journaled topic fits.
    again = pair.seed(BACK, new, topics=[old, new], topic_ids=ids)
    assert (again["changed"], again["cut_record"]["cut"]) == (False, {new: {"0": 3, "1": 0}})


@pytest.mark.parametrize("times", [0, 2])
def test_a_last_record_that_does_not_occur_exactly_once_gives_no_cut(pair: LabPair, times: int) -> None:
    topic = pair.topic(2)
    last: dict[str, Any] = {"value": "last", "key": "k", "headers": [("h", b"1")], "timestamp": int(time.time() * 1000)}
    for alias in (P, B):
        pair.send(alias, topic, 1, 2)
    pair.send(P, topic, 1, 1, **last)
    pair.send(B, topic, 1, times, **last)
    pair.send(B, topic, 1, 3)
    # A nearly equal record is another record.
    others: list[dict[str, Any]] = [{"key": None}, {"headers": []}, {"timestamp": last["timestamp"] - 1}]
    for near in others:
        pair.send(B, topic, 1, 1, **{**last, **near})
    error = pair.refused(BACK, topic)
    assert error["code"] == "cut_unknown"
    assert f"{topic}-1 on {P} holds records up to offset 3" in error["message"]
    assert f"its last record there (offset 2) occurs {times} times on {B}" in error["message"]


def test_a_target_whose_records_have_expired_gives_no_cut(pair: LabPair) -> None:
    topic = pair.topic(2)
    pair.send(P, topic, 1, 5)
    pair.send(B, topic, 1, 5)
    pair.cut_off(P, topic, 1, 5)
    error = pair.refused(BACK, topic)
    assert error["code"] == "cut_unknown"
    assert f"{topic}-1 on {P} holds records up to offset 5" in error["message"]
    assert f"its records have expired on {P}" in error["message"]


# ---- check mode


@pytest.mark.parametrize("given", [True, False], ids=["cut", "no cut"])
def test_check_mode_changes_nothing(pair: LabPair, left: tuple[str, Nested, Nested], given: bool) -> None:
    """R25: the module neither sets offsets nor journals them."""
    topic, cut, ends = left
    rest, name = pair.connector(BACK)
    set_offsets(rest, name, B, known(topic, 0, 1, 2))
    before = pair.state(BACK)
    result = pair.seed(BACK, topic, check=True, **({"cut": cut, "ends": ends} if given else {}))
    assert (result["rc"], result["changed"], result["seeded"], result["changes"]) == (0, False, False, [])
    assert pair.state(BACK) == before
