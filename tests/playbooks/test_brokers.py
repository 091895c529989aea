# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Three brokers and two workers per cluster: brokers and workers restart, freeze and fail while applications move.

The tests share one pair and run in this order. Each moves the applications from where they are.
"""

from __future__ import annotations

import itertools
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from confluent_kafka import KafkaException, Producer

from accounts import read_log
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.cutover_types import CUTOVER_TYPES
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from ansible_collections.switchback.kafka_dr.plugins.module_utils._http import quoted
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka import groups
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka
from kills import beginning, disturbed
from lab.errors import LabError
from lab.lab import Lab
from scenario import Scenario, totals
from workers import worker

pytestmark = pytest.mark.long

# A stop waits for records and commits in flight, which takes longer while their broker restarts.
PATIENT = {"flush_seconds": 25}
# The rack of a consumer makes it fetch from a follower. The verdicts must not depend on it.
CLIENTS = [
    {"name": "payments-api", "role": "producer", "rate": 500, "topics": ["Payments"], **PATIENT},
    {"name": "ledger-tx", "role": "transactional", "rate": 100, "topics": ["Payments"], **PATIENT},
    {"name": "risk", "role": "producer", "rate": 20, "topics": ["Risky"], **PATIENT},
    {"name": "settlement", "role": "consumer", "group": "settlement", "topics": ["Payments"]},
    {
        "name": "fraud",
        "role": "consumer",
        "group": "fraud",
        "topics": ["Payments"],
        "config": {"client.rack": "rack-2"},
    },
]
# No group reads the topic Risky: its records are lost on purpose.
TOPICS = [
    {"name": "Payments", "partitions": 6, "replication_factor": 3},
    {"name": "Risky", "partitions": 1, "replication_factor": 3},
]
PROVEN = {"drained", "committed_offsets", "first_write", "groups"}
BROKERS = ("broker", "broker-2", "broker-3")
OTHER = {"P": "B", "B": "P"}
Disturb = Callable[[Lab, threading.Event], None]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    """An enabled pair with three brokers and two workers per cluster, under load."""
    folder = tmp_path_factory.mktemp("brokers")
    with Scenario(folder, topics=TOPICS, clients=CLIENTS, brokers=3, workers=2).up() as made:
        made.playbook("enable", {"kafka_dr_confirm": "P"})
        made.start()
        yield made


@pytest.fixture
def lab(pair: Scenario) -> Iterator[Lab]:
    """The lab. Every part runs and is in sync again after the test."""
    found = Lab(pair.folder, quiet=True)
    yield found
    parts = found.status()["parts"]
    for key in found.wanted():
        if parts[" ".join(key)]["state"] == "paused":
            found.resume(*key)
    found.up()
    for alias in OTHER:
        found.wait_in_sync(alias)


@contextmanager
def meanwhile(work: Disturb, pair: Scenario) -> Iterator[list[str]]:
    """Disturb the lab while the block runs. The list has a line for each disturbance; errors are raised at the end."""
    done, errors = threading.Event(), []
    lines: list[str] = []
    lab = Lab(pair.folder, quiet=True)

    def disturb() -> None:
        try:
            while not done.is_set():
                work(lab, done)
                lines.append("round")
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        yield lines
    finally:
        done.set()
        thread.join()
    if errors:
        raise errors[0]


def rolling() -> Disturb:
    """Restart all brokers, by turns on both clusters, each one once all replicas are in sync."""
    parts = itertools.cycle([(alias, part) for part in BROKERS for alias in OTHER])

    def work(lab: Lab, done: threading.Event) -> None:
        alias, part = next(parts)
        lab.restart(alias, part)
        lab.wait_in_sync(alias)
        done.wait(1.0)

    return work


def moving_leaders(moved: list[str]) -> Disturb:
    """Give all partitions of a cluster one leader, then another one. ``moved`` gets the partitions."""
    turns = itertools.cycle([(alias, part) for part in BROKERS for alias in OTHER])

    def work(lab: Lab, done: threading.Event) -> None:
        alias, part = next(turns)
        moved.extend(lab.lead(alias, part))
        done.wait(1.0)

    return work


def lives_on(pair: Scenario) -> str:
    """The cluster that the producer writes to."""
    text = (pair.folder / "ledger" / "payments-api.env").read_text()
    return next(line.partition("=")[2].strip("'\"") for line in text.splitlines() if line.startswith("KAFKA_ALIAS="))


def playbook_of(pair: Scenario, kind: str = "cutoff") -> tuple[str, str, dict[str, str]]:
    """The playbook that moves the applications to the other cluster, that cluster, and its variables."""
    to = OTHER[lives_on(pair)]
    variables = {"kafka_dr_confirm": to, "kafka_dr_to": to, "kafka_dr_type": kind}
    return ("failback", to, variables) if to == "P" else (f"failover_{kind}", to, variables)


def report_of(pair: Scenario, to: str, kind: str = "cutoff") -> dict[str, Any]:
    return pair.report(kind, to)


def moved(pair: Scenario, kind: str = "cutoff") -> dict[str, Any]:
    """Move the applications to the other cluster and return the report."""
    name, to, variables = playbook_of(pair, kind)
    pair.playbook(name, variables)
    return report_of(pair, to, kind)


def moved_while(pair: Scenario, phase: str, act: Callable[[str, str], Any], kind: str = "cutoff") -> dict[str, Any]:
    """The same, with ``act(left, entered)`` when the phase begins. The playbook continues meanwhile."""
    name, to, variables = playbook_of(pair, kind)
    acted: list[Any] = []
    rc, output = disturbed(
        pair, beginning(phase), name, variables, lambda _run: acted.append(act(OTHER[to], to) or True)
    )
    assert rc == 0, output[-3000:]
    assert acted, f"the phase {phase} began"
    return report_of(pair, to, kind)


def leader_of(lab: Lab, alias: str, topic: str = "Payments") -> str | None:
    """The broker that leads partition 0; None if there is none now, or if the broker that is asked is frozen."""
    with suppress(LabError, KafkaException):
        return lab.leader(alias, topic, 0)
    return None


def proven(report: dict[str, Any], pair: Scenario) -> None:
    """Check that the cutover completed with its evidence, and that the applications work."""
    assert report["outcome"] == "completed", report
    verdicts = {check["name"]: check["verdict"] for check in report["checks"]}
    assert {name: verdicts[name] for name in PROVEN} == dict.fromkeys(PROVEN, "PROVEN"), report
    assert report["rereads"] == 0, report
    pair.traffic(500)


def readiness(pair: Scenario) -> dict[str, dict[str, Any]]:
    """Each check of the playbook readiness, by name."""
    pair.playbook("readiness", {})
    return {row["name"]: row for row in json.loads((pair.reports / "readiness.json").read_text())["checks"]}


# ---- restarts ------------------------------------------------------------------------------------------------------


def test_brokers_restart_one_after_the_other_during_a_round_trip(pair: Scenario, lab: Lab) -> None:
    round_trip(pair)


@pytest.mark.timeout(900)
def test_brokers_restart_one_after_the_other_during_two_more_round_trips(pair: Scenario, lab: Lab) -> None:
    for _trip in range(2):
        round_trip(pair)


def round_trip(pair: Scenario) -> None:
    for _way in OTHER:
        with meanwhile(rolling(), pair) as restarts:
            report = moved(pair)
        assert len(restarts) > 1, "brokers restarted during the move"
        proven(report, pair)


@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_brokers_restart_one_after_the_other_during_twenty_round_trips(pair: Scenario, lab: Lab) -> None:
    for _trip in range(20):
        round_trip(pair)


@pytest.mark.soak
@pytest.mark.parametrize("phase", CUTOVER_TYPES["cutoff"].phases)
def test_all_brokers_restart_when_a_phase_begins(phase: str, pair: Scenario, lab: Lab) -> None:
    proven(moved_while(pair, phase, lambda left, entered: lab.roll(entered) + lab.roll(left)), pair)


@pytest.mark.soak
def test_brokers_restart_during_a_continuous_cutover_and_a_checkpoint(pair: Scenario, lab: Lab) -> None:
    for _way in OTHER:
        with meanwhile(rolling(), pair) as restarts:
            report = moved(pair, "continuous")
            pair.playbook("reverse_checkpoint", {"kafka_dr_confirm": OTHER[lives_on(pair)]})
        assert len(restarts) > 1
        assert report["outcome"] == "completed", report
        pair.traffic(500)


@pytest.mark.soak
def test_brokers_restart_during_an_audit(pair: Scenario, lab: Lab) -> None:
    with meanwhile(rolling(), pair) as restarts:
        pair.playbook("verify", {})
    assert len(restarts) > 1
    report = json.loads((pair.reports / "audit.json").read_text())
    assert report["verdict"] == "PROVEN", report["text"]


# ---- leaders -------------------------------------------------------------------------------------------------------


def test_leaders_move_during_a_move(pair: Scenario, lab: Lab) -> None:
    partitions: list[str] = []
    with meanwhile(moving_leaders(partitions), pair):
        report = moved(pair)
    assert any("Payments" in name for name in partitions), "leaders moved during the move"
    proven(report, pair)


def test_the_leaders_of_original_and_replica_die_at_the_barrier(pair: Scenario, lab: Lab) -> None:
    def kill(left: str, entered: str) -> None:
        lab.kill(left, lab.leader(left, "Payments", 0))
        lab.kill(entered, lab.leader(entered, f"{left}.Payments", 0))

    proven(moved_while(pair, "barrier", kill), pair)


@pytest.mark.soak
def test_a_leader_freezes_and_wakes_up_as_a_follower(pair: Scenario, lab: Lab) -> None:
    """A frozen broker keeps its connections. When it wakes up it still takes itself for the leader, in an old epoch."""

    def freeze(left: str, entered: str) -> None:
        frozen = {alias: lab.leader(alias, "Payments", 0) for alias in (left, entered)}
        for alias, part in frozen.items():
            lab.pause(alias, part)
        pair.wait(
            lambda: all(leader_of(lab, alias) not in (None, frozen[alias]) for alias in frozen), 60, "new leaders"
        )
        for alias, part in frozen.items():
            lab.resume(alias, part)

    proven(moved_while(pair, "drain", freeze), pair)


# ---- brokers and workers that are down -----------------------------------------------------------------------------


@pytest.mark.soak
def test_a_round_trip_with_one_broker_of_each_cluster_down(pair: Scenario, lab: Lab) -> None:
    for alias in OTHER:
        lab.kill(alias, "broker-2")
    pair.traffic(500)
    for _way in OTHER:
        proven(moved(pair), pair)


def test_one_of_two_workers_dies_while_the_flow_is_stopped(pair: Scenario, lab: Lab) -> None:
    """The first worker in ``connect_url`` dies at the barrier, so requests go to the next one."""
    killed: list[bool] = []
    proven(moved_while(pair, "barrier", lambda _left, entered: killed.append(lab.kill(entered, "connect"))), pair)
    assert killed == [True]


@pytest.mark.parametrize("end", [Lab.stop, Lab.kill], ids=["stopped", "killed"])
def test_offsets_are_committed_although_the_coordinator_that_the_client_knows_has_gone(
    end: Callable[[Lab, str, str], object], pair: Scenario, lab: Lab
) -> None:
    alias, wanted = OTHER[lives_on(pair)], {"moved": {Partition("Payments", 0): groups.Committed(1)}}
    kafka = Kafka(lab.info()["clusters"][alias]["bootstrap_servers"], {}, 15.0)
    assert not groups.describe(kafka, list(wanted))["moved"].active
    coordinator = lab.leader(alias, "__consumer_offsets", 0)
    end(lab, alias, coordinator)
    try:
        assert groups.commit(kafka, wanted) == {"moved": {Partition("Payments", 0): None}}
        assert groups.committed_offsets(kafka, list(wanted)) == {"moved": {Partition("Payments", 0): 1}}
        groups.delete(kafka, list(wanted))
    finally:
        lab.start(alias, coordinator)
        lab.wait_in_sync(alias)


@pytest.mark.soak
def test_a_worker_that_freezes_ends_the_run_safely_or_not_at_all(pair: Scenario, lab: Lab) -> None:
    """A request that changes something may have reached the frozen worker, so it is not sent to the next one."""
    name, to, variables = playbook_of(pair)
    rc, output = disturbed(pair, beginning("barrier"), name, variables, lambda _run: lab.pause(to, "connect"))
    lab.resume(to, "connect")
    if rc:
        assert report_of(pair, to)["outcome"] == "undone", output[-3000:]
        assert lives_on(pair) == OTHER[to]
        pair.traffic(200)
        proven(moved(pair), pair)
    else:
        proven(report_of(pair, to), pair)


def test_too_few_replicas_in_sync_are_refused_before_any_change(pair: Scenario, lab: Lab) -> None:
    name, to, variables = playbook_of(pair)
    for part in BROKERS[1:]:
        lab.kill(to, part)
    refused = pair.playbook(name, variables, expect=2)
    report = report_of(pair, to)
    assert report["outcome"] == "failed", report
    assert "min.insync.replicas is 2" in refused["output"]
    assert "start the missing brokers" in refused["output"]
    pair.traffic(200)
    for part in BROKERS[1:]:
        lab.start(to, part)
    lab.wait_in_sync(to)
    proven(moved(pair), pair)


@pytest.mark.soak
def test_a_run_that_loses_two_brokers_completes_once_they_are_back(pair: Scenario, lab: Lab) -> None:
    name, to, variables = playbook_of(pair)

    def kill(_run: object) -> None:
        for part in BROKERS[1:]:
            lab.kill(to, part)

    rc, output = disturbed(pair, beginning("drain"), name, {**variables, "kafka_dr_drain_timeout": 30}, kill)
    assert rc == 2, output[-3000:]
    assert "min.insync.replicas is 2" in output
    for part in BROKERS[1:]:
        lab.start(to, part)
    lab.wait_in_sync(to)
    proven(moved(pair), pair)


def test_the_ledgers_of_all_moves_are_clean(pair: Scenario) -> None:
    pair.stop()
    counted = totals(pair.check())
    pair.start()
    print(json.dumps(counted))
    assert {name: counted[name] for name in ("lost", "phantom")} == {"lost": 0, "phantom": 0}, counted
    assert counted["processed_twice"] == counted["groups"] * written_twice(pair), counted


def written_twice(pair: Scenario) -> int:
    """Count the records that are twice in an original, where only producers write.

    librdkafka 2.16 may write its last batch again, with a new epoch of its producer id, when the leader moves.
    """
    clusters = Lab(pair.folder, quiet=True).info()["clusters"].values()
    logs = [read_log(cluster["bootstrap_servers"], "Payments", number) for cluster in clusters for number in range(6)]
    written = Counter(identity for log in logs for _offset, identity in log)
    return sum(count > 1 for count in written.values())


# ---- losses. The pair stays broken, so these tests are last --------------------------------------------------------


def stored(lab: Lab, left: str, entered: str, topic: str) -> int | None:
    """The source offset that the flow has stored for partition 0 of a topic."""
    path = quoted("connectors", f"{left}->{entered}.MirrorSourceConnector", "offsets")
    found = worker(lab, entered).call("GET", path)
    offsets = {(row["partition"]["topic"], row["partition"]["partition"]): row["offset"] for row in found["offsets"]}
    return int(offsets[topic, 0]["offset"]) if (topic, 0) in offsets else None


def produce(pair: Scenario, alias: str, records: int) -> int:
    """Write records to Risky and return the offset of the last one."""
    servers = Lab(pair.folder, quiet=True).info()["clusters"][alias]["bootstrap_servers"]
    producer = Producer({"bootstrap.servers": servers, "acks": "all"})
    offsets: list[int] = []
    for number in range(records):
        producer.produce(
            "Risky", f"{number}".encode(), partition=0, on_delivery=lambda _error, sent: offsets.append(sent.offset())
        )
    assert producer.flush(60) == 0
    return max(offsets)


@pytest.mark.soak
def test_an_unclean_election_is_warned_of_and_its_truncation_is_found(pair: Scenario, lab: Lab) -> None:
    left = lives_on(pair)
    entered = OTHER[left]
    pair.ledger("stop", "risk")
    assert readiness(pair)["unclean_elections"]["answer"] == "YES"
    lab.configure(left, "Risky", {"unclean.leader.election.enable": "true", "min.insync.replicas": "1"})
    row = readiness(pair)["unclean_elections"]
    assert row["answer"] == "NO"
    assert f'"Risky" on {left}' in row["found"]

    leader = lab.leader(left, "Risky", 0)
    others = [part for part in BROKERS if part != leader]
    for part in others:
        lab.kill(left, part)
    last = produce(pair, left, 30)
    pair.wait(lambda: stored(lab, left, entered, "Risky") == last, 60, "all records are replicated")
    lab.kill(left, leader)
    for part in others:
        lab.start(left, part)
    pair.wait(lambda: leader_of(lab, left, "Risky") in others, 60, "a replica that lacks 30 records becomes the leader")
    lab.start(left, leader)
    lab.wait_in_sync(left)
    row = readiness(pair)["flow_fits"]
    assert row["answer"] == "NO", row
    assert "truncated or recreated" in row["found"]
    name, _to, variables = playbook_of(pair)
    refused = pair.playbook(name, variables, expect=2)
    assert "truncated or recreated" in refused["output"]
    assert lives_on(pair) == left
