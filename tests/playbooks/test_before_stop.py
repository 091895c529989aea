# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be known before the stop is refused before it, with the applications running. One pair under load."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from confluent_kafka import Producer

from ansible_collections.switchback.kafka_dr.plugins.module_utils._http import quoted
from brokers import admin, commit
from lab.lab import Lab
from scenario import Scenario
from snapshot import snapshot
from workers import worker

TOPICS = [
    {"name": "Payments", "partitions": 2, "replication_factor": 1},
    {"name": "Orders", "partitions": 1, "replication_factor": 1},
]
CLIENTS = [
    {"name": "payments-api", "role": "producer", "rate": 200, "topics": ["Payments"]},
    {"name": "settlement", "role": "consumer", "group": "settlement", "topics": ["Payments"]},
]
GROUPS = [{"name": "settlement", "topics": ["Payments"]}, {"name": "archive", "topics": ["Orders"]}]
TO_B = {"kafka_dr_confirm": "B", "kafka_dr_to": "B"}
HOUR = 3600
# A producer that is killed in its transaction, which stays open until transaction.timeout.ms has passed.
KILLED = """
import os, signal, sys, time
from confluent_kafka import Producer
servers, ahead = sys.argv[1:]
options = {"transactional.id": "killed", "transaction.timeout.ms": 600000}
producer = Producer({"bootstrap.servers": servers, **options})
producer.init_transactions(30)
producer.begin_transaction()
producer.produce("Payments", b"never committed", partition=0, timestamp=int((time.time() + float(ahead)) * 1000))
assert producer.flush(30) == 0
os.kill(os.getpid(), signal.SIGKILL)
"""


def servers(pair: Scenario, alias: str) -> str:
    return str(Lab(pair.folder, quiet=True).info()["clusters"][alias]["bootstrap_servers"])


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    """Applications running on P, and a group without members that has read two of three records."""
    made = Scenario(tmp_path_factory.mktemp("before-stop"), clients=CLIENTS, topics=TOPICS)
    made.variables = {"kafka_dr_groups": GROUPS}
    with made.up():
        made.playbook("enable", {"kafka_dr_confirm": "P"})
        producer = Producer({"bootstrap.servers": servers(made, "P")})
        for number in range(3):
            producer.produce("Orders", f"order {number}".encode(), partition=0)
        assert producer.flush(30) == 0
        commit(admin(Lab(made.folder, quiet=True), "P"), "archive", {("Orders", 0): 2})
        made.start()
        made.traffic(500)
        yield made


def refused(pair: Scenario, *texts: str, playbook: str = "failover_cutoff", **variables: Any) -> None:
    """The playbook exits with 2 and prints ``texts``. Nothing was changed, and no application was stopped."""
    before, began = snapshot(pair.folder, []), time.time()
    done = pair.playbook(playbook, {**TO_B, **variables}, expect=2)
    output = " ".join(done["output"].split())
    assert [text for text in texts if text not in output] == [], output[-3000:]
    assert done["changed"] == 0
    assert snapshot(pair.folder, []) == before
    # Consumers wait at an open transaction, so only the producer shows that nothing was stopped.
    written = pair.count("acknowledged")
    pair.wait(lambda: pair.count("acknowledged") > written, 30, "more records are acknowledged")
    gap = pair.check(began, time.time())["gaps"]["acknowledged"]
    assert gap["seconds"] < 3, gap


def accepted(pair: Scenario, **variables: Any) -> None:
    """Preflight has nothing to refuse."""
    pair.playbook("failover_cutoff", {**TO_B, **variables}, options=("--check",))


def until_accepted(pair: Scenario) -> None:
    """The flow is as before. Its connector takes a moment."""
    pair.wait(lambda: ready(pair)["controlled"] == "YES", 90, "the pair is ready again")
    accepted(pair)


def ready(pair: Scenario) -> dict[str, Any]:
    pair.playbook("readiness")
    report: dict[str, Any] = json.loads((pair.reports / "readiness.json").read_text())
    return report


def check(report: dict[str, Any], name: str) -> tuple[str, str]:
    row = next(row for row in report["checks"] if row["name"] == name)
    return row["answer"], row["found"]


@contextmanager
def killed_in_its_transaction(pair: Scenario, ahead: float) -> Iterator[None]:
    """``ahead``: seconds by which the producer's clock is ahead."""
    done = subprocess.run([sys.executable, "-c", KILLED, servers(pair, "P"), str(ahead)], check=False)
    assert done.returncode == -signal.SIGKILL
    try:
        yield
    finally:
        # A new producer with this id ends the transaction.
        Producer({"bootstrap.servers": servers(pair, "P"), "transactional.id": "killed"}).init_transactions(30)


@contextmanager
def written_meanwhile(pair: Scenario, ahead: float) -> Iterator[None]:
    """Another producer writes small records all the time, with event times ``ahead`` of the clock."""
    producer, over = Producer({"bootstrap.servers": servers(pair, "P"), "linger.ms": 0}), threading.Event()

    def write() -> None:
        while not over.wait(0.002):
            producer.produce("Orders", str(time.monotonic()).encode(), timestamp=int((time.time() + ahead) * 1000))
            producer.poll(0)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        over.set()
        writer.join()
        assert producer.flush(120) == 0


@pytest.mark.parametrize(
    ("ahead", "playbook"),
    [(HOUR, "failover_cutoff"), (-HOUR, "failover_continuous")],
    ids=["in the future", "in the past"],
)
def test_the_transaction_of_a_killed_producer_is_refused(pair: Scenario, ahead: float, playbook: str) -> None:
    """Observed: the drain refused it after the applications had stood for 17 s, and status called the pair PROVEN."""
    text = "Payments-0 on P: a transaction stays open at offset "
    with killed_in_its_transaction(pair, ahead):
        refused(pair, text, "kafka_dr_ready_accept", playbook=playbook)
        done = pair.playbook("status")
        status = json.loads((pair.reports / "status.json").read_text())
        assert (status["verdict"], len(status["open_transactions"])) == ("UNKNOWN", 1)
        assert status["open_transactions"][0]["seconds"] >= 9
        assert '"UNKNOWN: applications live on P"' in done["output"]
        assert f"  not replicated: {text}" in done["output"]
        answer, found = check(ready(pair), "transactions")
        assert (answer, found.startswith(text)) == ("NO", True), found
        accepted(pair, kafka_dr_ready_accept=["transactions"])
    accepted(pair)


@pytest.mark.parametrize("ahead", [HOUR, -HOUR], ids=["in the future", "in the past"])
def test_a_growing_topic_has_no_open_transaction(pair: Scenario, ahead: float) -> None:
    """Observed: with event times of an hour ago, the last records of a growing log were an open transaction."""
    with written_meanwhile(pair, ahead):
        for _observation in range(2):
            assert check(ready(pair), "transactions") == ("YES", "no transaction stays open")
        pair.playbook("status")
        assert json.loads((pair.reports / "status.json").read_text())["open_transactions"] == []


def edited(pair: Scenario, change: Callable[[dict[str, str]], dict[str, str]]) -> dict[str, str]:
    """Change the settings of the source connector P->B, and return the earlier ones."""
    here, path = worker(Lab(pair.folder, quiet=True), "B"), ("connectors", "P->B.MirrorSourceConnector", "config")
    before: dict[str, str] = here.call("GET", quoted(*path))
    here.call("PUT", quoted(*path), change(before))
    return before


def test_a_flow_that_leaves_out_a_topic_is_refused(pair: Scenario) -> None:
    """Everything in the topic is replicated, so only the first record after this would show it: in the drain."""
    before = edited(pair, lambda settings: {**settings, "topics.exclude": "Ord.*"})
    try:
        refused(pair, "NO (flow_carries)", '"Orders"', "No application was stopped.")
    finally:
        edited(pair, lambda _settings: before)
    until_accepted(pair)


def test_a_higher_offset_of_an_idle_group_is_refused(pair: Scenario) -> None:
    """Observed: the commit refused it, after the applications had stopped."""
    target = admin(Lab(pair.folder, quiet=True), "B")
    commit(target, "archive", {("P.Orders", 0): 3})
    refused(pair, 'group "archive" on B P.Orders-0: committed 3, processed up to 2', "kafka_dr_lower=lower")
    accepted(pair, kafka_dr_lower="lower")
    commit(target, "archive", {("P.Orders", 0): 2})
    accepted(pair)


def test_brokers_that_would_refuse_a_producer_are_refused(pair: Scenario) -> None:
    """A producer with a longer time-out would fail on its start on B, after the point of no return."""
    lab, extra = Lab(pair.folder, quiet=True), pair.folder / "B" / "broker.extra"
    extra.write_text("transaction.max.timeout.ms=60000\n")
    try:
        lab.restart("B", "broker")
        pair.wait(lambda: opposing(ready(pair)) == ["broker_limits"], 90, "the flow replicates again")
        limit = "transaction.max.timeout.ms is 900000 on P (broker 1) and 60000 on B (broker 1)"
        refused(pair, "NO (broker_limits)", limit, "No application was stopped.")
        accepted(pair, kafka_dr_ready_accept=["broker_limits"])
    finally:
        extra.unlink()
        lab.restart("B", "broker")
    until_accepted(pair)


def opposing(report: dict[str, Any]) -> list[str]:
    """The checks that are neither YES nor accepted."""
    return [row["name"] for row in report["checks"] if row["answer"] not in ("YES", "ACCEPTED")]


def test_a_move_that_nothing_refuses_completes(pair: Scenario) -> None:
    report = pair.move("failover_cutoff", "B")
    verdicts = {row["name"]: row["verdict"] for row in report["checks"]}
    proven = {verdicts[name] for name in ("drained", "committed_offsets", "departure")}
    # No application of the inventory reads as "archive", so its members are not awaited (R48).
    assert (report["outcome"], proven, verdicts["groups"]) == ("completed", {"PROVEN"}, "UNKNOWN"), verdicts
    pair.traffic(300)
