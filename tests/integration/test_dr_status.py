# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""dr_status_info on real brokers and real MirrorMaker 2: which states count as evidence, and how a wait ends."""

from __future__ import annotations

import http.server
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from ansible_collections.switchback.kafka_dr.plugins.modules import connect_mirror, dr_status_info, kafka_topic
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module
from ansible_collections.switchback.kafka_dr.tests.support.pairs import as_pair
from brokers import commit

pytestmark = pytest.mark.integration

P, B = "SP", "SB"
THERE, BACK = {"source": P, "target": B}, {"source": B, "target": P}


class LabPair:
    """A pair of its own in the lab: its topics, its flows and the queries about them."""

    def __init__(self, lab: Any) -> None:
        found = lab.info()["clusters"]
        self.clusters = {
            alias: {key: found[name][key] for key in ("bootstrap_servers", "connect_url", "cluster_id")}
            for alias, name in ((P, "P"), (B, "B"))
        }
        run = uuid.uuid4().hex[:6]
        self.plain, self.tx, self.open, self.gone, self.cut, self.alone, self.large = (
            f"status-{name}-{run}" for name in ("plain", "tx", "open", "gone", "cut", "alone", "large")
        )
        self.replicated_topics = [self.plain, self.tx, self.open, self.gone, self.cut]
        self.group = f"status-{run}"

    def servers(self, alias: str) -> str:
        return str(self.clusters[alias]["bootstrap_servers"])

    def make_topics(self, *names: str) -> None:
        for alias in self.clusters:
            items = [{"name": name, "partitions": 1} for name in names]
            made = run_module(kafka_topic, {"bootstrap_servers": self.servers(alias), "topics": items})
            assert made["rc"] == 0, made

    def flow(self, flow: dict[str, str], state: str, topics: list[str] | None = None, **more: Any) -> dict[str, Any]:
        ends = {
            end: {key: self.clusters[flow[end]][key] for key in ("bootstrap_servers", "cluster_id")}
            | {"alias": flow[end]}
            for end in ("source", "target")
        }
        params = {
            **ends,
            "connect_url": self.clusters[flow["target"]]["connect_url"],
            "topics": topics or self.replicated_topics,
            "groups": [self.group],
            "replication_factor": 1,
            "tasks_max": 1,
            "source_settings": {"refresh.topics.interval.seconds": 1},
            "state": state,
            "wait_timeout": 90,
            "request_timeout": 30,
            **more,
        }
        result = run_module(connect_mirror, params)
        assert result["rc"] == 0, result["msg"]
        return result

    def status(self, *topics: str, **more: Any) -> dict[str, Any]:
        params = {
            "clusters": self.clusters,
            "topics": list(topics) or [self.plain],
            "flows": [THERE],
            "wait_timeout": 60,
            **more,
        }
        return run_module(dr_status_info, as_pair(params))

    def send(self, topic: str, count: int, alias: str = P) -> None:
        producer = Producer({"bootstrap.servers": self.servers(alias)})
        for number in range(count):
            producer.produce(topic, f"{number}", key=f"{uuid.uuid4().hex}", partition=0)
        assert producer.flush(30) == 0

    def commit(self, topic: str, offset: int, alias: str = P) -> None:
        commit(AdminClient({"bootstrap.servers": self.servers(alias)}), self.group, {(topic, 0): offset})


@pytest.fixture(scope="module")
def pair(lab: Any) -> Iterator[LabPair]:
    """Both flows run. They are deleted at the end, so that heartbeats do not loop between several pairs."""
    made = LabPair(lab)
    made.make_topics(*made.replicated_topics, made.alone, made.large)
    for flow in (THERE, BACK):
        made.flow(flow, "running")
    yield made
    for flow in (THERE, BACK):
        made.flow(flow, "absent")


@contextmanager
def stopped(pair: LabPair) -> Iterator[None]:
    """Stop the source connector THERE within the context."""
    pair.flow(THERE, "stopped", parts=["source"])
    try:
        yield
    finally:
        pair.flow(THERE, "running", parts=["source"])


def only(result: dict[str, Any]) -> dict[str, Any]:
    """The only partition of the requested flow."""
    (flow,) = result["status"]["flows"]
    (partition,) = flow["partitions"]
    return dict(partition)


# ---- flows


def test_a_wait_for_flows_ends_once_records_or_heartbeats_prove_them(pair: LabPair) -> None:
    result = pair.status(*pair.replicated_topics, flows=[THERE, BACK], wait_for="flowing", wait_timeout=250)
    assert (result["rc"], result["changed"], result["verdict"]) == (0, False, "PROVEN")
    assert [flow["name"] for flow in result["status"]["flows"]] == [f"{P}->{B}", f"{B}->{P}"]
    assert result["status"]["missing"] == []
    for flow in result["status"]["flows"]:
        assert (flow["lag"], flow["heartbeat_age_s"] is not None, flow["final"]) == (0, True, False)


def test_a_fully_replicated_topic_has_no_lag_and_equal_ends(pair: LabPair) -> None:
    pair.send(pair.plain, 20)
    result = pair.status(wait_for="replicated")
    assert result["rc"] == 0, result["msg"]
    observation = pair.status()
    row = only(observation)
    assert observation["verdict"] == "PROVEN"
    assert row["end"] == row["replica_end"]


def test_the_lag_of_a_stopped_flow_is_counted_exactly_and_refutes_it(pair: LabPair) -> None:
    with stopped(pair):
        pair.send(pair.plain, 7)
        result = pair.status()
        (flow,), row = result["status"]["flows"], only(result)
        assert (result["rc"], result["verdict"], flow["final"]) == (0, "REFUTED", True)
        assert "in state STOPPED" in flow["reason"]
        assert (flow["lag"], row["lag"], row["drained"]) == (7, 7, "REFUTED")
        assert row["last_replicated_offset"] == row["end"] - 8


def test_a_wait_for_a_stopped_flow_ends_at_its_bound_and_names_the_partition(pair: LabPair) -> None:
    with stopped(pair):
        pair.send(pair.plain, 2)
        result = pair.status(wait_for="replicated", wait_timeout=3)
        assert (result["error"]["code"], result["status"]["flows"][0]["lag"]) == ("not_replicated", 2)
        assert "the time-out was reached" in result["msg"]
        assert f"{pair.plain}-0: replicated up to" in result["msg"]
        stalled = pair.status(wait_for="replicated", wait_timeout=90, stall_timeout=1)
        assert stalled["error"]["code"] == "not_replicated"
        assert "no progress for 1 s" in stalled["msg"]
        assert stalled["waited_s"] < 60
    assert pair.status(wait_for="replicated")["rc"] == 0


def test_the_state_running_does_not_count_without_progress(pair: LabPair) -> None:
    """The topic list no longer has the topic: the connector and its task are RUNNING, and replicate none of its
    records.
    """
    others = [name for name in pair.replicated_topics if name != pair.plain]
    assert pair.status(wait_for="replicated")["rc"] == 0
    pair.flow(THERE, "running", others, parts=["source"])
    try:
        pair.send(pair.plain, 3)
        result = pair.status()
        (flow,) = result["status"]["flows"]
        source = next(one for one in flow["connectors"] if one["part"] == "source")
        assert (source["state"], set(source["tasks"])) == ("RUNNING", {"RUNNING"})
        assert result["verdict"] == "REFUTED"
        assert (
            f"{pair.plain}-0: no progress between two observations although 3 offsets are not replicated"
            in flow["reason"]
        )
    finally:
        pair.flow(THERE, "running", parts=["source"])
    assert pair.status(wait_for="replicated")["rc"] == 0


def test_a_topic_that_was_never_replicated_is_unknown_and_its_lag_is_null(pair: LabPair) -> None:
    pair.send(pair.alone, 4)
    result = pair.status(pair.alone)
    row = only(result)
    assert (result["verdict"], row["drained"], row["lag"], row["last_replicated_offset"]) == (
        "UNKNOWN",
        "UNKNOWN",
        None,
        None,
    )
    assert f'"{P}.{pair.alone}" does not exist yet' in " ".join(result["status"]["missing"])
    waited = pair.status(pair.alone, wait_for="flowing", wait_timeout=2)
    assert waited["error"]["code"] == "not_flowing"


@pytest.mark.parametrize("wait_for", ["none", "replicated"])
def test_a_topic_that_does_not_exist_on_the_source_proves_nothing(pair: LabPair, wait_for: str) -> None:
    result = pair.status("no-such-topic", wait_for=wait_for, wait_timeout=1)
    assert result["verdict"] == "UNKNOWN"
    # Once, and joined to sentences as the preflight does it: one fact, one full stop.
    assert result["status"]["missing"] == [f'{P}->{B}: the topic "no-such-topic" does not exist on {P}']
    assert result["failed"] is (wait_for == "replicated")


def test_a_connector_that_does_not_exist_refutes_the_flow(pair: LabPair) -> None:
    """No connector is declared under the other alias."""
    clusters = {"XX": pair.clusters[P], B: pair.clusters[B]}
    result = pair.status(clusters=clusters, flows=[{"source": "XX", "target": B}])
    assert result["verdict"] == "REFUTED"
    assert "XX->SB.MirrorSourceConnector" in result["status"]["flows"][0]["reason"]
    assert only(result)["lag"] is None


# ---- transactions


def transactional(pair: LabPair, alias: str = P) -> Producer:
    producer = Producer({"bootstrap.servers": pair.servers(alias), "transactional.id": uuid.uuid4().hex})
    producer.init_transactions(30)
    return producer


def test_a_tail_of_markers_and_aborted_records_counts_as_drained_and_read(pair: LabPair) -> None:
    """R5 and R19: the flow always lags one offset, and no record waits."""
    producer = transactional(pair)
    for batch, committed in (("a", True), ("x", False)):
        producer.begin_transaction()
        for number in range(3):
            producer.produce(pair.tx, f"{batch}{number}", partition=0)
        producer.flush(30)
        producer.commit_transaction(30) if committed else producer.abort_transaction(30)
    # 0 1 2, marker 3, aborted 4 5 6, marker 7
    pair.commit(pair.tx, 3)
    with_group = {"groups": [pair.group], "groups_on": P}
    waited = pair.status(pair.tx, wait_for="replicated", **with_group)
    assert waited["rc"] == 0, waited["msg"]
    with stopped(pair):
        result = pair.status(pair.tx, groups=[pair.group])
    row = only(result)
    assert (row["last_replicated_offset"], row["end"], row["replica_end"]) == (2, 8, 3)
    assert (row["drained"], row["lag"]) == ("PROVEN", 0)
    assert "only transaction markers" in row["reason"]
    read = [one for one in result["status"]["groups"] if one["alias"] == P and one["topic"] == pair.tx]
    assert [(one["commit"], one["read_to_end"]) for one in read] == [(3, True)]


def test_an_open_transaction_is_named_and_waited_for(pair: LabPair) -> None:
    """R5: a flow that reached the last stable offset is not drained while a transaction is open."""
    producer = transactional(pair)
    pair.send(pair.open, 2)
    producer.begin_transaction()
    producer.produce(pair.open, "open", partition=0)
    producer.flush(30)
    try:
        result = pair.status(pair.open, wait_for="replicated", wait_timeout=4)
        assert result["error"]["code"] == "not_replicated"
        assert f"{pair.open}-0: an open transaction holds back 1 offsets" in result["msg"]
    finally:
        producer.abort_transaction(30)
    ended = pair.status(pair.open, wait_for="replicated")
    assert ended["rc"] == 0, ended["msg"]


def stamped(ahead: float) -> int:
    """An event time that is ``ahead`` seconds ahead of the clock."""
    return int((time.time() + ahead) * 1000)


@pytest.mark.parametrize("ahead", [3600.0, -3600.0])
def test_nothing_is_proven_while_a_transaction_stays_open(pair: LabPair, ahead: float) -> None:
    """R43: its age is the time for which it was observed, and not the distance of its event time."""
    pair.send(pair.open, 2)
    replicated = pair.status(pair.open, wait_for="replicated")
    assert replicated["rc"] == 0, replicated["msg"]
    producer = transactional(pair)
    producer.begin_transaction()
    producer.produce(pair.open, "open", partition=0, timestamp=stamped(ahead))
    producer.flush(30)
    try:
        result = pair.status(pair.open)
    finally:
        producer.abort_transaction(30)
    row = only(result)
    (transaction,) = result["status"]["open_transactions"]
    assert {key: transaction[key] for key in ("alias", "topic", "partition", "offset", "held")} == {
        "alias": P,
        "topic": pair.open,
        "partition": 0,
        "offset": row["end"],
        "held": 1,
    }
    assert 9.0 <= transaction["seconds"] <= 30.0
    (flow,) = result["status"]["flows"]
    assert (result["verdict"], row["drained"]) == ("UNKNOWN", "UNKNOWN")
    assert (flow["verdict"], flow["reason"]) == ("UNKNOWN", transaction["text"])
    ended = pair.status(pair.open)
    assert (ended["verdict"], ended["status"]["open_transactions"]) == ("PROVEN", [])


def test_a_transaction_that_ends_while_it_is_observed_is_not_reported(pair: LabPair) -> None:
    producer = transactional(pair)
    producer.begin_transaction()
    producer.produce(pair.open, "soon over", partition=0, timestamp=stamped(-3600.0))
    producer.flush(30)
    timer = threading.Timer(2.0, producer.commit_transaction, [30])
    timer.start()
    try:
        began = time.monotonic()
        result = pair.status(pair.open)
        took = time.monotonic() - began
    finally:
        timer.join()
    assert (result["verdict"], result["status"]["open_transactions"]) == ("PROVEN", [])
    assert took > 1.5


@pytest.mark.parametrize("ahead", [3600.0, -3600.0])
def test_a_log_that_grows_has_no_open_transaction(pair: LabPair, ahead: float) -> None:
    producer, over = Producer({"bootstrap.servers": pair.servers(P), "linger.ms": 0}), threading.Event()

    def write() -> None:
        while not over.wait(0.001):
            producer.produce(pair.open, uuid.uuid4().hex, partition=0, timestamp=stamped(ahead))
            producer.poll(0)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        found = [pair.status(pair.open) for _observation in range(3)]
    finally:
        over.set()
        writer.join()
        assert producer.flush(30) == 0
    assert [one["status"]["open_transactions"] for one in found] == [[], [], []]
    assert [one["verdict"] for one in found] == ["PROVEN"] * 3, [one["status"]["missing"] for one in found]


def test_unreachable_workers_only_hide_their_flow_if_partial_results_are_requested(pair: LabPair) -> None:
    """An operator still sees committed offsets and log ends. A gate gets an error as always."""
    away = {**pair.clusters, B: {**pair.clusters[B], "connect_url": "http://127.0.0.1:1"}}
    asked = {"clusters": away, "groups": [pair.group], "request_timeout": 5}
    pair.send(pair.plain, 1)
    pair.commit(pair.plain, 1)
    gate = pair.status(**asked)
    assert (gate["rc"], gate["error"]["code"]) == (1, "connect_unreachable")
    seen = pair.status(partial=True, **asked)
    assert seen["rc"] == 0, seen["msg"]
    (flow,) = seen["status"]["flows"]
    assert (seen["verdict"], flow["verdict"], flow["lag"], flow["final"]) == ("UNKNOWN", "UNKNOWN", None, False)
    assert "127.0.0.1:1" in flow["reason"]
    assert {one["state"] for one in flow["connectors"]} == {"UNKNOWN"}
    assert {(one["drained"], one["fits"]) for one in flow["partitions"]} == {("UNKNOWN", "UNKNOWN")}
    assert any(one["end"] for one in flow["partitions"])
    rows = [one for one in seen["status"]["groups"] if (one["alias"], one["topic"]) == (P, pair.plain)]
    assert [one["commit"] for one in rows] == [1]


# ---- groups


@contextmanager
def idle_member(pair: LabPair, *topics: str) -> Iterator[None]:
    """A group member that commits nothing. Once it has joined, librdkafka keeps it a member without polling."""
    options = {"group.id": pair.group, "enable.auto.commit": False, "auto.offset.reset": "earliest"}
    consumer = Consumer({"bootstrap.servers": pair.servers(P), **options})
    consumer.subscribe(list(topics))
    deadline = time.monotonic() + 30
    try:
        while not consumer.assignment() and time.monotonic() < deadline:
            consumer.poll(0.1)
        assert consumer.assignment()
        yield
    finally:
        consumer.close()


def test_groups_on_both_clusters_are_shown_and_unknown_values_are_null(pair: LabPair) -> None:
    pair.send(pair.plain, 1)
    assert pair.status(wait_for="replicated")["rc"] == 0
    pair.commit(pair.plain, 1)
    result = pair.status(groups=[pair.group], group_topics={pair.group: [pair.plain]})
    rows = {(row["alias"], row["topic"]): row for row in result["status"]["groups"]}
    assert (rows[P, pair.plain]["commit"], rows[P, pair.plain]["read_to_end"]) == (1, False)
    original = rows[B, pair.plain]
    assert (original["commit"], original["read_to_end"]) == (None, True)  # Never written: there is no record to read.


def test_topics_outside_the_pair_that_a_group_commits_on_are_named(pair: LabPair) -> None:
    """R8: such an offset is not translated."""
    pair.commit(pair.alone, 1)
    result = pair.status(groups=[pair.group])
    named = [row for row in result["status"]["undeclared_topics"] if row["alias"] == P]
    assert pair.alone in named[0]["topics"]


def test_a_declaration_hides_neither_commits_nor_members_on_another_topic_of_the_pair(pair: LabPair) -> None:
    """R32.

    Observed: such a group left 266 records of the other topic unread after a move that was reported as PROVEN.
    """
    pair = copy(pair)
    pair.group = f"{pair.group}-scope"  # Without the committed offsets of earlier tests.
    declared = {"groups": [pair.group], "group_topics": {pair.group: [pair.plain]}}
    assert pair.status(pair.plain, pair.tx, **declared)["status"]["out_of_scope"] == []
    with idle_member(pair, pair.plain, pair.tx):
        seen = pair.status(pair.plain, pair.tx, **declared)["status"]
        (row,) = seen["out_of_scope"]
        assert (row["group"], row["alias"], row["topic"]) == (pair.group, P, pair.tx)
        assert row["evidence"].startswith("assigned to its member rdkafka at ")
        # Without a declaration, assigned topics belong to the group, even without a committed offset.
        open_ = pair.status(pair.plain, pair.tx, groups=[pair.group])["status"]
        rows = [one for one in open_["groups"] if (one["alias"], one["topic"]) == (P, pair.tx)]
        assert ([one["commit"] for one in rows], open_["out_of_scope"]) == ([None], [])
    pair.commit(f"{P}.{pair.tx}", 0, alias=B)
    (row,) = pair.status(pair.plain, pair.tx, **declared)["status"]["out_of_scope"]
    assert (row["alias"], row["topic"]) == (B, f"{P}.{pair.tx}")
    assert row["evidence"] == "committed offset 0 on partition 0"


def test_a_group_with_members_is_waited_for_within_its_own_bound_and_then_listed(pair: LabPair) -> None:
    """R13: the cutoff does not wait for a nightly group."""
    params = {"groups": [pair.group], "group_topics": {pair.group: [pair.plain]}, "groups_on": P}
    pair.commit(pair.plain, 1)
    # It has no members and cannot read, so the module does not wait for it.
    assert pair.status(wait_for="replicated", groups_timeout=120, **params)["waited_s"] < 100
    with idle_member(pair, pair.plain):
        listed = pair.status(wait_for="replicated", groups_timeout=1, **params)
        assert listed["rc"] == 0, listed["msg"]
        text = f'group "{pair.group}" on {P} has not read 1 partitions to the end ({pair.plain}-0: '
        left = only(listed)["end"] - 1
        assert listed["status"]["missing"] == [f"{text}{left} offsets before the end)"]
        (member,) = {row["members"] for row in listed["status"]["groups"]}
        assert member.startswith("rdkafka on 127.0.0.1")
        # A group whose committed offsets do not change is not waited for until the end.
        quiet = pair.status(wait_for="replicated", groups_timeout=150, groups_stall=2, **params)
        assert quiet["rc"] == 0, quiet["msg"]
        assert 2 <= quiet["waited_s"] < 100
        # This also applies if the whole wait, or its stall bound, ends first.
        stalled = pair.status(wait_for="replicated", groups_timeout=150, stall_timeout=1, **params)
        assert stalled["rc"] == 0, stalled["msg"]
        assert stalled["waited_s"] < 100


# ---- bad input


def test_a_flow_with_an_unknown_alias_is_refused_by_name(pair: LabPair) -> None:
    result = pair.status(flows=[{"source": "SQ", "target": B}])
    assert result["error"]["code"] == "unknown_alias"
    assert '"SQ"' in result["msg"]
    assert f"{B}, {P}" in result["msg"]


def test_one_cluster_under_two_aliases_is_refused(pair: LabPair) -> None:
    clusters = {P: {**pair.clusters[P], "cluster_id": None}, B: {**pair.clusters[P], "cluster_id": None}}
    assert pair.status(clusters=clusters)["error"]["code"] == "same_cluster"


def test_a_wrong_cluster_id_is_refused(pair: LabPair) -> None:
    clusters = {**pair.clusters, B: {**pair.clusters[B], "cluster_id": "another"}}
    result = pair.status(clusters=clusters)
    assert result["error"]["code"] == "wrong_cluster"
    assert 'wanted "another"' in result["msg"]


def test_a_cluster_without_workers_is_refused_if_it_is_the_target_of_a_flow(pair: LabPair) -> None:
    clusters = {**pair.clusters, B: {**pair.clusters[B], "connect_url": None}}
    assert pair.status(clusters=clusters)["error"]["code"] == "no_connect_url"


def test_workers_that_are_down_are_reported_within_the_bound(pair: LabPair) -> None:
    clusters = {**pair.clusters, B: {**pair.clusters[B], "connect_url": "http://127.0.0.1:1"}}
    result = pair.status(clusters=clusters, request_timeout=2)
    assert result["error"]["code"] == "connect_unreachable"
    assert "http://127.0.0.1:1" in result["msg"]


def test_a_broker_that_is_down_is_reported_within_the_bound(pair: LabPair) -> None:
    clusters = {**pair.clusters, B: {**pair.clusters[B], "bootstrap_servers": "127.0.0.1:1"}}
    result = pair.status(clusters=clusters, request_timeout=2)
    assert (result["error"]["code"], result["error"]["endpoint"]) == ("kafka_unreachable", "127.0.0.1:1")


def test_html_is_not_taken_for_a_response(pair: LabPair) -> None:
    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<html><title>Sign in</title></html>")

        def log_message(self, *_values: Any) -> None:
            """Quiet."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        url = f"http://127.0.0.1:{server.server_address[1]}"
        clusters = {**pair.clusters, B: {**pair.clusters[B], "connect_url": url}}
        result = pair.status(clusters=clusters, request_timeout=2)
        server.shutdown()
        thread.join()
    assert result["error"]["code"] == "connect_not_json"


# ---- states that a running connector never reports: these tests are last, because they damage their topics


def test_records_that_expired_unreplicated_refute_the_flow(pair: LabPair) -> None:
    """R20: E == S is not drained when S - 1 > N."""
    pair.send(pair.cut, 3)
    assert pair.status(pair.cut, wait_for="replicated")["rc"] == 0
    with stopped(pair):
        pair.send(pair.cut, 5)
        admin = AdminClient({"bootstrap.servers": pair.servers(P)})
        for future in admin.delete_records([TopicPartition(pair.cut, 0, 8)]).values():
            future.result()
        row = only(pair.status(pair.cut))
        assert (row["start"], row["end"], row["last_replicated_offset"]) == (8, 8, 2)
        assert row["drained"] == "REFUTED"
        assert "5 offsets expired" in row["reason"]


def test_a_re_created_topic_refutes_the_flow(pair: LabPair) -> None:
    """N is past the end of the source, and MirrorMaker 2 itself would continue silently."""
    pair.send(pair.gone, 6)
    assert pair.status(pair.gone, wait_for="replicated")["rc"] == 0
    with stopped(pair):
        servers = pair.servers(P)
        item = {"name": pair.gone, "partitions": 1}
        for state in ("absent", "present"):
            made = run_module(kafka_topic, {"bootstrap_servers": servers, "topics": [item], "state": state})
            assert made["rc"] == 0, made["msg"]
        pair.send(pair.gone, 2)
        result = pair.status(pair.gone)
        row = only(result)
        assert (row["last_replicated_offset"], row["end"], row["drained"], row["lag"]) == (5, 2, "REFUTED", None)
        assert "truncated or recreated" in row["reason"]


LARGE = 3_000_000


def test_a_record_too_large_for_the_flow_is_reported_with_the_setting_that_helps(pair: LabPair) -> None:
    """It has a few hundred bytes on the source's wire; the flow's producer counts the uncompressed size."""
    limits = {"compression.type": "zstd", "message.max.bytes": 10_000_000}
    producer = Producer({"bootstrap.servers": pair.servers(P), **limits})
    topics = [pair.large]

    def settle(**settings: str) -> dict[str, Any]:
        pair.flow(THERE, "running", topics, parts=["source"], source_settings=settings)
        return pair.status(pair.large, wait_for="flowing", wait_timeout=60)

    quick = {"refresh.topics.interval.seconds": "1"}
    pair.flow(THERE, "running", topics, parts=["source"])
    producer.produce(pair.large, b"\0" * LARGE, partition=0)
    assert producer.flush(30) == 0
    began = time.monotonic()
    failed = pair.status(pair.large, wait_for="flowing", wait_timeout=250)
    assert failed["error"]["code"] == "not_flowing"
    assert time.monotonic() - began < 200, "it must not wait for what cannot come"
    assert "RecordTooLargeException: The message is 3000" in failed["msg"]
    assert "set producer.override.max.request.size above 3000" in failed["msg"]
    # An observation without a wait has the same words.
    (flow,) = pair.status(pair.large)["status"]["flows"]
    assert "RecordTooLargeException" in flow["reason"]
    # A restart of the connector does not help: its module ends long before its bound of 90 s, with the same words. With
    # a higher producer limit, the uncompressed batch is too large for the replica.
    raised = settle(**quick, **{"producer.override.max.request.size": "4000000"})
    assert raised["error"]["code"] == "not_flowing"
    assert "The request included a message larger than the max message size the server will accept" in raised["msg"]
    assert "producer.override.compression.type" in raised["msg"]
    both = {"producer.override.max.request.size": "4000000", "producer.override.compression.type": "zstd"}
    assert settle(**quick, **both)["rc"] == 0
    result = pair.status(pair.large, wait_for="replicated")
    assert result["rc"] == 0, result["msg"]
    (row,) = result["status"]["flows"][0]["partitions"]
    assert (row["end"], row["replica_end"]) == (1, 1)
