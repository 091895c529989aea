# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""connect_mirror and connect_mirror_info on real workers and real MirrorMaker 2, in the order of a connector's life."""

from __future__ import annotations

import http.server
import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.offsets import replicated_offsets
from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.rest import ConnectClient
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds, wait_until
from ansible_collections.switchback.kafka_dr.plugins.modules import connect_mirror, connect_mirror_info
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module

pytestmark = pytest.mark.integration

# Separate aliases, so that other tests in the same lab are not disturbed.
SOURCE, TARGET, TOPIC = "CP", "CB", "connect.mirror"
NAME = f"{SOURCE}->{TARGET}.MirrorSourceConnector"
WRITES = ("PUT", "POST", "PATCH", "DELETE")


@pytest.fixture(scope="module")
def clusters(lab: Any) -> Iterator[dict[str, Any]]:
    """Both clusters with the topic on P, and without connectors of these tests."""
    found = lab.info()["clusters"]
    admin = AdminClient({"bootstrap.servers": found["P"]["bootstrap_servers"]})
    if TOPIC not in admin.list_topics(timeout=10).topics:
        for future in admin.create_topics([NewTopic(TOPIC, 3, 1)]).values():
            future.result()
    run_module(connect_mirror, declared(found, state="absent"))
    yield found
    run_module(connect_mirror, declared(found, state="absent"))


def declared(clusters: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The parameters of the flow CP->CB through the worker beside B."""
    p, b = clusters["P"], clusters["B"]
    # Heartbeats of other flows in the same lab would be replicated in an endless loop through two pairs of aliases.
    quiet = {"heartbeats.replication.enabled": False, "refresh.topics.interval.seconds": 1}
    own = more.pop("source_settings", {})
    return {
        "connect_url": b["connect_url"],
        "source": {"alias": SOURCE, "bootstrap_servers": p["bootstrap_servers"], "cluster_id": p["cluster_id"]},
        "target": {"alias": TARGET, "bootstrap_servers": b["bootstrap_servers"], "cluster_id": b["cluster_id"]},
        "topics": [TOPIC],
        "groups": ["connect-mirror-group"],
        "replication_factor": 1,
        "source_settings": {**quiet, **own},
        "wait_timeout": 60,
        **more,
    }


def source_tasks(clusters: dict[str, Any]) -> int:
    """One for each partition of the topic, and of the heartbeats, which another flow toward P may have written."""
    known = AdminClient({"bootstrap.servers": clusters["P"]["bootstrap_servers"]}).list_topics(timeout=15).topics
    return sum(len(known[name].partitions) for name in (TOPIC, "heartbeats") if name in known)


def writes(result: dict[str, Any]) -> list[tuple[str, str]]:
    """The calls that could have changed something."""
    calls = [(call["method"], call["path"]) for call in result["requests"]]
    return [(method, path) for method, path in calls if method in WRITES and not path.endswith("/validate")]


def actions(result: dict[str, Any]) -> list[tuple[str, str]]:
    return [(change["action"], change["status"]) for change in result["changes"]]


def states(result: dict[str, Any]) -> dict[str, str | None]:
    return {connector["part"]: connector["state"] for connector in result["connectors"]}


# ---- the life of the three connectors


def test_check_mode_creates_nothing_and_shows_the_planned_changes(clusters: dict[str, Any]) -> None:
    result = run_module(connect_mirror, declared(clusters, state="present"), check=True, diff=True)
    assert (result["rc"], result["changed"], writes(result)) == (0, True, [])
    assert actions(result) == [("create", "planned")] * 3
    after = result["diff"]["after"][f"connector {NAME}"]
    assert (after["state"], after["topics"]) == ("STOPPED", r"connect\.mirror,heartbeats")
    assert not [connector for connector in result["connectors"] if connector["exists"]]


def test_present_creates_them_stopped(clusters: dict[str, Any]) -> None:
    result = run_module(connect_mirror, declared(clusters, state="present"))
    assert actions(result) == [("create", "done")] * 3
    assert set(states(result).values()) == {"STOPPED"}
    assert all(connector["final"] for connector in result["connectors"])


def test_a_second_present_only_reads(clusters: dict[str, Any]) -> None:
    result = run_module(connect_mirror, declared(clusters, state="present"))
    assert (result["changed"], writes(result), len(result["requests"])) == (False, [], 2)


def test_running_resumes_them_and_waits_for_the_tasks(clusters: dict[str, Any]) -> None:
    result = run_module(connect_mirror, declared(clusters, state="running"))
    assert actions(result) == [("resume", "done")] * 3
    by_part = {connector["part"]: connector for connector in result["connectors"]}
    assert {task["state"] for task in by_part["source"]["tasks"]} == {"RUNNING"}
    assert len(by_part["source"]["tasks"]) == source_tasks(clusters)
    assert by_part["checkpoint"]["tasks"] == []


def test_a_second_running_only_reads(clusters: dict[str, Any]) -> None:
    for check in (False, True):
        result = run_module(connect_mirror, declared(clusters, state="running"), check=check)
        assert (result["changed"], writes(result), len(result["requests"])) == (False, [], 2)


def write_status(clusters: dict[str, Any], what: str, state: str) -> ConnectClient:
    """Let the worker read a status of the connector or of one of its tasks that it did not write."""
    client = ConnectClient(clusters["B"]["connect_url"], {}, 10.0)
    worker = client.call("GET", f"/connectors/{NAME.replace('>', '%3E')}/status")["connector"]["worker_id"]
    status = {"state": state, "trace": None, "worker_id": worker, "generation": 1_000_000}
    producer = Producer({"bootstrap.servers": clusters["B"]["bootstrap_servers"]})
    producer.produce("connect-B-status", key=f"status-{what}", value=json.dumps(status))
    assert producer.flush(10) == 0

    def shown() -> bool:
        found = client.connectors()[NAME]
        return state in (found.state, *(task.state for task in found.tasks))

    until = time.monotonic() + 10
    while not shown() and time.monotonic() < until:
        time.sleep(0.1)
    assert shown()
    return client


@pytest.mark.parametrize("state", ["UNASSIGNED", "STOPPED"])
def test_a_lost_or_late_status_of_a_running_connector_is_corrected(clusters: dict[str, Any], state: str) -> None:
    """Kafka Connect shows this status for a connector that works, and would never correct it."""
    client = write_status(clusters, f"connector-{NAME}", state)
    tasks = client.connectors()[NAME].tasks
    assert {task.state for task in tasks} == {"RUNNING"}
    result = run_module(connect_mirror, declared(clusters, state="running"))
    assert (actions(result)[-1], states(result)["source"]) == (("restart", "done"), "RUNNING")
    assert result["changes"][-1]["before"] == {"state": state}
    assert client.connectors()[NAME].tasks == tasks
    assert run_module(connect_mirror, declared(clusters, state="running"))["changed"] is False


def test_an_update_reaches_the_tasks_before_it_returns(clusters: dict[str, Any]) -> None:
    wanted = declared(clusters, source_settings={"offset.lag.max": 3}, parts=["source"])
    planned = run_module(connect_mirror, wanted, check=True, diff=True)
    assert (actions(planned), writes(planned)) == ([("update", "planned")], [])
    result = run_module(connect_mirror, wanted, diff=True)
    key = f"connector {NAME}"
    assert result["diff"] == planned["diff"]
    assert result["diff"] == {"before": {key: {"offset.lag.max": "10"}}, "after": {key: {"offset.lag.max": "3"}}}
    configs = ConnectClient(clusters["B"]["connect_url"], {}, 10.0).task_configs(NAME)
    assert [config["offset.lag.max"] for config in configs] == ["3"] * source_tasks(clusters)
    assert run_module(connect_mirror, wanted)["changed"] is False


def test_other_settings_are_kept_and_reported_and_null_removes_one(clusters: dict[str, Any]) -> None:
    rest = ConnectClient(clusters["B"]["connect_url"], {}, 10.0)
    found = rest.find(NAME)
    assert found is not None
    rest.configure(NAME, {**found.config, "producer.linger.ms": "9"})
    kept = run_module(connect_mirror, declared(clusters, parts=["source"]))
    assert kept["connectors"][0]["kept"] == ["producer.linger.ms"]
    wanted = declared(clusters, parts=["source"], source_settings={"producer.linger.ms": None})
    assert actions(run_module(connect_mirror, wanted)) == [("update", "done")]
    assert "producer.linger.ms" not in (rest.find(NAME) or found).config


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"offset.lag.max": "many"}, "wanted a whole number"),
        ({"config.action.reload": "never"}, "Invalid value never for configuration config.action.reload"),
        ({"refresh.topics.interval.secs": 1}, 'Did you mean "refresh.topics.interval.seconds"?'),
        ({"transforms": "route"}, "Records are compared by content"),
    ],
)
@pytest.mark.parametrize("check", [True, False])
def test_a_bad_setting_is_refused_before_a_change(
    clusters: dict[str, Any], settings: dict[str, Any], expected: str, check: bool
) -> None:
    result = run_module(connect_mirror, declared(clusters, source_settings=settings), check=check)
    assert result["failed"]
    assert expected in result["msg"]
    again = run_module(connect_mirror, declared(clusters), check=True)
    assert again["changed"] is False


def test_workers_beside_the_source_are_refused(clusters: dict[str, Any]) -> None:
    result = run_module(connect_mirror, declared(clusters, connect_url=clusters["P"]["connect_url"]))
    assert result["error"]["code"] == "wrong_connect_cluster"


# ---- which records are replicated, and when the stop is final


def produce(bootstrap: str, *batches: tuple[str, bool]) -> None:
    """Each batch is a transaction of ten records on partition 0: (prefix of the values, committed or aborted)."""
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": "connect-mirror-test"})
    producer.init_transactions(30)
    for prefix, committed in batches:
        producer.begin_transaction()
        for number in range(10):
            producer.produce(TOPIC, f"{prefix}{number}".encode(), partition=0)
        producer.flush(30)
        producer.commit_transaction(30) if committed else producer.abort_transaction(30)


def consume(bootstrap: str, topic: str, until: str) -> list[str]:
    """The values of partition 0 up to ``until``, including uncommitted ones."""
    options = {"group.id": "reader", "isolation.level": "read_uncommitted", "enable.auto.commit": False}
    consumer = Consumer({"bootstrap.servers": bootstrap, "allow.auto.create.topics": False, **options})
    consumer.assign([TopicPartition(topic, 0, 0)])
    values: list[str] = []
    deadline = time.monotonic() + 60
    try:
        while until not in values and time.monotonic() < deadline:
            record = consumer.poll(1.0)
            if record is not None and record.error() is None:
                values.append(record.value().decode())
        return values
    finally:
        consumer.close()


def test_records_of_an_aborted_transaction_are_not_replicated_and_the_stop_is_exact(clusters: dict[str, Any]) -> None:
    source, target = clusters["P"]["bootstrap_servers"], clusters["B"]["bootstrap_servers"]
    run = str(time.time_ns())
    produce(source, (f"{run}a", True), (f"{run}x", False), (f"{run}b", True))
    assert f"{run}x9" in consume(source, TOPIC, f"{run}b9")
    replicated_values = [value for value in consume(target, f"{SOURCE}.{TOPIC}", f"{run}b9") if value.startswith(run)]
    assert replicated_values == [f"{run}{batch}{number}" for batch in "ab" for number in range(10)]

    result = run_module(connect_mirror, declared(clusters, state="stopped", parts=["source"]))
    assert (actions(result), result["connectors"][0]["final"]) == ([("stop", "done")], True)
    consumer = Consumer({"bootstrap.servers": source, "group.id": "reader"})
    end = consumer.get_watermark_offsets(TopicPartition(TOPIC, 0), timeout=10)[1]
    consumer.close()
    # The last offset is the commit marker, which is not a record.
    rest = ConnectClient(clusters["B"]["connect_url"], {}, 10.0)
    assert replicated_offsets(rest, NAME, SOURCE)[TOPIC, 0] == end - 2
    info = run_module(connect_mirror_info, {"connect_url": rest.url, "source_alias": SOURCE, "parts": ["source"]})
    assert {"topic": TOPIC, "partition": 0, "offset": end - 2} in info["connectors"][0]["offsets"]
    assert info["connectors"][0]["final"] is True


def test_a_second_stopped_only_reads_and_the_others_still_run(clusters: dict[str, Any]) -> None:
    result = run_module(connect_mirror, declared(clusters, state="stopped", parts=["source"]))
    assert (result["changed"], writes(result), len(result["requests"])) == (False, [], 1)
    info = run_module(connect_mirror_info, {"connect_url": clusters["B"]["connect_url"], "source_alias": SOURCE})
    assert states(info) == {"source": "STOPPED", "checkpoint": "RUNNING", "heartbeat": "RUNNING"}


def test_a_late_status_of_a_stopped_connector_is_corrected(clusters: dict[str, Any]) -> None:
    client = write_status(clusters, f"connector-{NAME}", "RUNNING")
    result = run_module(connect_mirror, declared(clusters, state="stopped", parts=["source"]))
    assert actions(result) == [("stop", "done"), ("restart", "done")]
    found = client.connectors()[NAME]
    assert (found.state, found.tasks) == ("STOPPED", ())


def test_an_update_of_a_stopped_connector_leaves_it_stopped(clusters: dict[str, Any]) -> None:
    wanted = declared(clusters, state="present", parts=["source"], source_settings={"offset.lag.max": 7})
    result = run_module(connect_mirror, wanted)
    # A worker may be reassigning its connectors, and reports UNASSIGNED until it is done.
    asked = {"connect_url": clusters["B"]["connect_url"], "source_alias": SOURCE, "parts": ["source"]}
    status = wait_until(
        lambda: states(run_module(connect_mirror_info, asked)),
        lambda found: found != {"source": "UNASSIGNED"},
        Bounds(30.0, 0.2),
    )
    assert (actions(result), status.state) == ([("update", "done")], {"source": "STOPPED"})


def test_waiting_for_running_ends_once_it_runs(clusters: dict[str, Any]) -> None:
    asked = {"connect_url": clusters["B"]["connect_url"], "source_alias": SOURCE, "parts": ["source"], "offsets": False}
    early = run_module(connect_mirror_info, {**asked, "wait_for": "running", "wait_timeout": 0.5})
    assert early["error"]["code"] == "connector_not_ready"
    assert "STOPPED" in early["msg"]
    run_module(connect_mirror, declared(clusters, parts=["source"]))
    assert run_module(connect_mirror_info, {**asked, "wait_for": "running"})["rc"] == 0


# ---- failed clusters and workers


@pytest.mark.parametrize(("consumer_timeout", "bound"), [(4000, 6.0), (None, 14.0)])
def test_a_stop_is_short_while_the_source_is_frozen(
    lab: Any, clusters: dict[str, Any], consumer_timeout: int | None, bound: float
) -> None:
    # A busy machine only lengthens a stop: the shortest of a few shows what the settings bound.
    shortest = min(frozen_stop_seconds(lab, clusters, consumer_timeout, bound))
    assert shortest < bound


def frozen_stop_seconds(
    lab: Any, clusters: dict[str, Any], consumer_timeout: int | None, bound: float
) -> Iterator[float]:
    """Seconds of up to three stops while the source broker is paused; no other after one below the bound."""
    settings = {"source.consumer.request.timeout.ms": consumer_timeout}
    for _dummy_attempt in range(3):
        run_module(connect_mirror, declared(clusters, source_settings=settings))
        lab.pause("P", "broker")
        try:
            # It is not visible that a refresh has started to hang, so this retries every second.
            time.sleep(2.5)
            started = time.monotonic()
            result = run_module(connect_mirror, declared(clusters, state="stopped"))
            seconds = time.monotonic() - started
        finally:
            lab.resume("P", "broker")
        assert result["rc"] == 0
        assert all(connector["final"] for connector in result["connectors"])
        yield seconds
        if seconds < bound:
            return


def test_a_worker_that_is_down_is_reported_within_the_bound(lab: Any, clusters: dict[str, Any]) -> None:
    lab.pause("B", "connect")
    try:
        started = time.monotonic()
        result = run_module(connect_mirror, declared(clusters, state="stopped", request_timeout=1.5))
        seconds = time.monotonic() - started
    finally:
        lab.resume("B", "connect")
    assert result["error"]["code"] == "connect_unreachable"
    assert clusters["B"]["connect_url"] in result["msg"]
    assert (result["changes"], seconds < 4.0) == ([], True)


def test_a_worker_that_restarts_is_waited_for(lab: Any, clusters: dict[str, Any]) -> None:
    run_module(connect_mirror, declared(clusters))
    lab.stop("B", "connect")
    # The start returns when the worker is ready, so it must run at the same time as the module.
    starting = threading.Thread(target=lab.start, args=("B", "connect"))
    starting.start()
    try:
        result = run_module(connect_mirror, declared(clusters, request_timeout=120, wait_timeout=120))
    finally:
        starting.join()
    assert result["rc"] == 0
    assert set(states(result).values()) == {"RUNNING"}
    assert result["requests"][0]["attempts"] > 1


def test_html_is_not_taken_for_a_response() -> None:
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
        result = run_module(connect_mirror_info, {"connect_url": url, "request_timeout": 1})
        server.shutdown()
        thread.join()
    assert result["error"]["code"] == "connect_not_json"
    assert "Sign in" in result["msg"]


# ---- deletion


def test_absent_stops_and_deletes_and_reports_that_offsets_survive(clusters: dict[str, Any]) -> None:
    run_module(connect_mirror, declared(clusters))
    planned = run_module(connect_mirror, declared(clusters, state="absent"), check=True)
    assert (writes(planned), planned["changed"]) == ([], True)
    result = run_module(connect_mirror, declared(clusters, state="absent"))
    assert sorted(actions(result)) == [("delete", "done")] * 3 + [("stop", "done")] * 3
    assert all(connector["offsets_survive"] for connector in result["connectors"])
    assert not any(connector["exists"] for connector in result["connectors"])
    again = run_module(connect_mirror, declared(clusters, state="absent"))
    assert (again["changed"], writes(again)) == (False, [])


def test_offsets_survive_a_deletion(clusters: dict[str, Any]) -> None:
    rest = ConnectClient(clusters["B"]["connect_url"], {}, 10.0)
    assert replicated_offsets(rest, NAME, SOURCE) == {}
    run_module(connect_mirror, declared(clusters, state="present", parts=["source"]))
    assert (TOPIC, 0) in replicated_offsets(rest, NAME, SOURCE)
