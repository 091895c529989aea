# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence that contradicts declarations or the journal: refused without downtime, in every playbook that would act on
it.

One pair under load, in order: a declaration that hides a topic (R32), committed offsets that cannot be moved, a pair
that is "already there" and not as it should be, and a journal that was lost on both clusters (R34).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds, wait_until
from ansible_collections.switchback.kafka_dr.plugins.module_utils._http import quoted
from brokers import admin, commit
from lab.lab import Lab
from scenario import Scenario
from snapshot import read_inventory, snapshot
from workers import worker

pytestmark = pytest.mark.long

TOPICS = [{"name": name, "partitions": 2, "replication_factor": 1} for name in ("Payments", "Orders")]
CLIENTS = [
    {"name": "payments-api", "role": "producer", "rate": 300, "topics": ["Payments"]},
    {"name": "shop", "role": "producer", "rate": 300, "topics": ["Orders"]},
    # It reads both topics, no matter what its group's declaration says.
    {"name": "narrow", "role": "consumer", "group": "narrow"},
]
ARCHIVE = {"kafka_dr_groups": ["narrow", {"name": "archive", "topics": ["Payments"]}]}
OWN_TOPICS = ("kafka-dr-journal-internal", "kafka-dr-state-internal")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    """Applications running on P."""
    with Scenario(tmp_path_factory.mktemp("evidence"), clients=CLIENTS, topics=TOPICS).up() as made:
        made.playbook("enable", {"kafka_dr_confirm": "P"})
        made.start()
        work(made)
        yield made


def work(pair: Scenario, records: int = 500) -> None:
    """Wait until this many more records are acknowledged and processed."""
    written, read = pair.count("acknowledged") + records, pair.count("processed") + records
    pair.wait(lambda: pair.count("acknowledged") >= written, 120, f"{records} more records are acknowledged")
    pair.wait(lambda: pair.count("processed") >= read, 120, f"{records} more records are processed")


def narrow(pair: Scenario) -> dict[str, Any]:
    """An inventory in which group and client declare only one of the two topics that they read."""
    clients = read_inventory(pair.inventory)["kafka_dr_clients"]
    declared = [{**one, "topics": ["Payments"]} if one["name"] == "narrow" else one for one in clients]
    return {"kafka_dr_groups": [{"name": "narrow", "topics": ["Payments"]}], "kafka_dr_clients": declared}


def processes(pair: Scenario) -> dict[str, Any]:
    """The process ids of all clients. None for one that does not run."""
    return {name: client["pid"] for name, client in json.loads(pair.ledger("status"))["clients"].items()}


def refused(pair: Scenario, playbook: str, variables: dict[str, Any], *texts: str) -> None:
    """The playbook exits with 2 and prints ``texts``.

    No client was stopped; no connector, topic or offset was changed.
    """
    running, before = processes(pair), snapshot(pair.folder, ["archive"])
    assert None not in running.values()
    done = pair.playbook(playbook, variables, expect=2)
    output = " ".join(done["output"].split())
    assert [text for text in texts if text not in output] == [], output[-3000:]
    assert done["changed"] == 0
    assert processes(pair) == running
    assert snapshot(pair.folder, ["archive"]) == before
    work(pair, 200)


# ---- R32: a declaration is not evidence


@pytest.mark.parametrize("playbook", ["failover_cutoff", "failover_disaster"])
def test_a_move_refuses_a_group_that_reads_an_undeclared_topic(pair: Scenario, playbook: str) -> None:
    """Observed: 266 records of Orders were never processed after such a move, which was reported as PROVEN."""
    healthy = {"kafka_dr_although_healthy": True} if playbook == "failover_disaster" else {}
    where = "B" if playbook == "failover_disaster" else "P"
    variables = {"kafka_dr_confirm": "B", "kafka_dr_to": "B", **narrow(pair), **healthy}
    topic = f'The group "narrow" uses the topic "{"P." if where == "B" else ""}Orders" on {where}'
    refused(pair, playbook, variables, topic, "Add the topic to the group's topics")


def test_enable_refuses_it_and_readiness_reports_it(pair: Scenario) -> None:
    refused(pair, "enable", {"kafka_dr_confirm": "P", **narrow(pair)}, "group_out_of_scope", '"Orders" on P')
    pair.playbook("readiness", narrow(pair))
    found = json.loads((pair.reports / "readiness.json").read_text())
    check = next(one for one in found["checks"] if one["name"] == "group_scope")
    assert (check["answer"], found["controlled"], found["disaster"]) == ("NO", "NO", "NO")
    assert '"narrow" uses "Orders" on P: committed offset ' in check["found"]


def test_reverse_checkpoint_commits_the_other_offsets_and_fails(pair: Scenario) -> None:
    done = pair.playbook("reverse_checkpoint", {"kafka_dr_confirm": "B", **narrow(pair)}, expect=2)
    assert "group_out_of_scope" in done["output"]
    assert 'uses the topic "Orders" on P' in " ".join(done["output"].split())


# ---- committed offsets that stopping cannot make movable


def test_an_offset_past_the_log_end_is_refused_while_applications_run(pair: Scenario) -> None:
    """Observed: the applications were down for 37 to 92 s before this was found at the barrier."""
    client = admin(Lab(pair.folder, quiet=True), "P")
    commit(client, "archive", {("Payments", 0): 10_000_000, ("Payments", 1): 0})
    variables = {"kafka_dr_confirm": "B", "kafka_dr_to": "B", **ARCHIVE}
    refused(pair, "failover_cutoff", variables, "offset_refused", "committed offset 10000000 is past the log end")


def test_an_offset_before_the_log_start_is_refused_while_applications_run(pair: Scenario) -> None:
    client = admin(Lab(pair.folder, quiet=True), "P")
    commit(client, "archive", {("Payments", 0): 5, ("Payments", 1): 0})
    client.delete_records([TopicPartition("Payments", 0, 30)])[TopicPartition("Payments", 0)].result(30)
    variables = {"kafka_dr_confirm": "B", "kafka_dr_to": "B", **ARCHIVE}
    refused(pair, "failover_cutoff", variables, "offset_refused", "committed offset 5 is before the log start 30")
    # The flows were created without that group.
    pair.playbook("readiness", {**ARCHIVE, "kafka_dr_ready_accept": ["flow_carries", "back_carries"]})
    found = json.loads((pair.reports / "readiness.json").read_text())
    check = next(one for one in found["checks"] if one["name"] == "offsets_movable")
    assert (check["answer"], found["controlled"]) == ("NO", "NO")
    assert "committed offset 5 is before the log start 30" in check["found"]


# ---- "already there" also makes a claim about producers and flows


BACK = "B->P.MirrorSourceConnector"


def already_there(pair: Scenario, expect: int = 0) -> dict[str, Any]:
    """The report of a cutover to the active cluster. It changes nothing."""
    running = processes(pair)
    done = pair.playbook("failover_cutoff", {"kafka_dr_confirm": "B"}, expect=expect)
    assert (done["changed"], processes(pair)) == (0, running)
    return pair.report("cutoff", "B")


def test_already_there_is_proven_only_if_producers_and_flows_agree(pair: Scenario) -> None:
    """Observed: PROVEN while a producer wrote to P and the flow back lacked a topic."""
    pair.move("failover_cutoff", "B")
    work(pair)
    report = already_there(pair)
    assert (report["outcome"], report["verdict"]) == ("already_there", "PROVEN"), report["checks"]

    lab = Lab(pair.folder, quiet=True)
    place = quoted("connectors", BACK, "config")
    config = worker(lab, "P").call("GET", place)
    worker(lab, "P").call("PUT", place, {**config, "topics": "Payments"})
    report = already_there(pair, expect=2)
    assert report["verdict"] == "REFUTED"
    assert f"the connector {BACK} is not in its desired state" in report["checks"][0]["reason"]
    worker(lab, "P").call("PUT", place, config)

    servers = lab.info()["clusters"]["P"]["bootstrap_servers"]
    producer = Producer({**lab.client(), "bootstrap.servers": servers})
    producer.produce("Payments", "written by hand", partition=1)
    assert producer.flush(30) == 0
    report = already_there(pair, expect=2)
    assert report["verdict"] == "REFUTED"
    assert "P Payments-1: 1 offsets were written since the applications left" in report["checks"][0]["reason"]


# ---- R34: a lost journal is not an empty one


@contextmanager
def member(pair: Scenario, alias: str) -> Iterator[None]:
    """A member of the group on the other cluster, as after a manual start."""
    lab = Lab(pair.folder, quiet=True)
    servers = lab.info()["clusters"][alias]["bootstrap_servers"]
    options = {"group.id": "narrow", "client.id": "by-hand", "enable.auto.commit": False}
    consumer = Consumer({**lab.client(), "bootstrap.servers": servers, **options})
    consumer.subscribe(["Payments"])
    try:
        joined = wait_until(lambda: (consumer.poll(0.1), consumer.assignment())[1], bool, Bounds(30, 0.1))
        assert joined.done
        yield
    finally:
        consumer.close()


def lose_the_journal(pair: Scenario) -> None:
    for alias in ("P", "B"):
        client = admin(Lab(pair.folder, quiet=True), alias)
        for deleted in client.delete_topics(list(OWN_TOPICS)).values():
            deleted.result(30)


def test_without_a_journal_enable_uses_the_cluster_where_the_groups_run(pair: Scenario) -> None:
    """Observed: enable wrote "applications live on P" while every group was STABLE on B."""
    lose_the_journal(pair)
    with member(pair, "P"):
        texts = ("active_side_contradicted", "by narrow-0 at ", "by by-hand at ", "members on both clusters")
        refused(pair, "enable", {"kafka_dr_confirm": "P"}, *texts)
    asked = {"kafka_dr_confirm": "P", "kafka_dr_applications_on": "P"}
    refused(pair, "enable", asked, "active_side_contradicted", "are at work on B")
    pair.playbook("enable", {"kafka_dr_confirm": "P"})
    pair.playbook("status")
    status = json.loads((pair.reports / "status.json").read_text())
    assert status["journal"]["active"] == "B"
    states = snapshot(pair.folder, [])["B"]["connectors"]
    # MirrorMaker 2's own group sync must not write where the applications live (R10).
    assert {name: reported[0] for name, reported in states.items() if "MirrorCheckpoint" in name} in (
        {},
        {"P->B.MirrorCheckpointConnector": "STOPPED"},
    )
    work(pair)
