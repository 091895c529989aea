# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster that was taken for lost answers again while a disaster run moves the applications (R47)."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from lab.lab import Lab
from scenario import ROOT, Scenario, totals
from snapshot import read_inventory

pytestmark = pytest.mark.long

CLIENTS: list[dict[str, Any]] = [
    {"name": "payments-api", "role": "producer", "rate": 500, "flush_seconds": 2},
    {"name": "settlement", "role": "consumer", "group": "settlement"},
]
LAB = ROOT / "roles" / "lab" / "files" / "lab"
AGAIN = "responded right before the point of no return"


@pytest.fixture(scope="module", params=["default", pytest.param("identity", marks=pytest.mark.soak)])
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    """Under load on P."""
    with Scenario(tmp_path_factory.mktemp("pair"), clients=CLIENTS, policy=request.param).up() as made:
        made.playbook("enable", {"kafka_dr_confirm": "P"})
        made.start()
        made.traffic(1000)
        yield made


def test_an_undone_disaster_does_not_claim_that_the_applications_work(pair: Scenario) -> None:
    """The run fails before the point of no return, and P is still lost."""
    lab = Lab(pair.folder)
    fails = {"name": "fails", "when": "before", "phase": "move_producers", "types": ["disaster"], "command": ["false"]}
    lab.pause("P", "broker")
    try:
        stopped = pair.playbook("failover_disaster", {"kafka_dr_confirm": "B", "kafka_dr_hooks": [fails]}, expect=2)
        report = pair.report("disaster", "B")
    finally:
        lab.resume("P", "broker")
    assert report["outcome"] == "undone", report["failure"]
    assert "but P did not respond: they may not work there" in report["headline"]
    assert "are back on P" not in " ".join(stopped["output"].split())
    pair.traffic(1000)
    assert harm(pair)["lost"] == 0


def test_the_last_look_at_a_lost_cluster_decides(pair: Scenario) -> None:
    lab = Lab(pair.folder)
    lab.pause("P", "broker")
    try:
        stopped = pair.playbook("failover_disaster", {"kafka_dr_confirm": "B", **thawed(pair)}, expect=2)
    finally:
        lab.resume("P", "broker")
    output = " ".join(stopped["output"].split())
    assert AGAIN in output
    report = pair.report("disaster", "B")
    assert report["outcome"] == "undone", report["failure"]
    assert "applications were started on P again, which responds" in report["headline"]
    # At the start it was lost, before the point of no return and at the undo it responded.
    assert [probe["answers"] for probe in report["probes"]] == [False, True, True]
    pair.traffic(1000)
    assert harm(pair)["lost"] == 0

    # The same with a producer that cannot be stopped: it would write on P while the others write on B.
    lab.pause("P", "broker")
    try:
        variables = {"kafka_dr_although_healthy": True, "kafka_dr_clients": one_does_not_stop(pair), **thawed(pair)}
        refused = pair.playbook("failover_disaster", {"kafka_dr_confirm": "B", **variables}, expect=2)
    finally:
        lab.resume("P", "broker")
    assert "could not be stopped and may still write there: payments-api" in " ".join(refused["output"].split())
    pair.traffic(1000)

    # If it is stopped, the run goes on: the tail is what was written before that.
    lab.pause("P", "broker")
    try:
        moved = pair.move("failover_disaster", "B", kafka_dr_although_healthy=True, **thawed(pair))
    finally:
        lab.resume("P", "broker")
    assert (moved["outcome"], [probe["answers"] for probe in moved["probes"]]) == ("completed", [False, True])
    ends = ends_of(lab)
    pair.traffic(1000)
    assert ends_of(lab) == ends


def thawed(pair: Scenario) -> dict[str, Any]:
    """A hook: P continues before the producers move, and has some seconds to elect its leaders."""
    resume = shlex.join([sys.executable, str(LAB), "resume", "P", "broker", "--dir", str(pair.folder)])
    hook = {"name": "thaw", "when": "before", "phase": "move_producers", "types": ["disaster"]}
    return {"kafka_dr_hooks": [{**hook, "command": ["sh", "-c", f"{resume}; sleep 5"]}]}


def one_does_not_stop(pair: Scenario) -> list[dict[str, Any]]:
    """The producer's stop command fails, and the producer goes on."""
    clients: list[dict[str, Any]] = read_inventory(pair.inventory)["kafka_dr_clients"]
    (producer,) = (client for client in clients if client["role"] == "producer")
    producer["stop"] = ["false"]
    return clients


def ends_of(lab: Lab) -> list[int]:
    """The log ends of the topic on P."""
    from confluent_kafka import Consumer, TopicPartition

    servers = lab.info()["clusters"]["P"]["bootstrap_servers"]
    consumer = Consumer({**lab.client(), "bootstrap.servers": servers, "group.id": "ends"})
    try:
        count = len(consumer.list_topics("Payments", timeout=10).topics["Payments"].partitions)
        ends = [consumer.get_watermark_offsets(TopicPartition("Payments", index), timeout=10) for index in range(count)]
    finally:
        consumer.close()
    return [high for _low, high in ends]


def harm(pair: Scenario) -> dict[str, int]:
    """The counts of the ledgers, with the applications at rest."""
    pair.stop()
    counted = totals(pair.check())
    pair.start()
    return counted
