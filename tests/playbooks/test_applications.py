# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two applications on one pair of clusters: each moves on its own, with connectors and a journal of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from brokers import admin, commit, committed_offsets
from lab.lab import Lab
from scenario import Scenario, totals
from snapshot import snapshot

pytestmark = pytest.mark.long

TOPICS = [
    {"name": name, "partitions": 3, "replication_factor": 1, "application": application}
    for name, application in (("Payments", "payments"), ("Orders", "orders"))
]
CLIENTS = [
    {"name": "payments-api", "role": "producer", "rate": 300, "topics": ["Payments"]},
    {"name": "settlement", "role": "consumer", "group": "settlement", "topics": ["Payments"]},
    {"name": "shop", "role": "producer", "rate": 300, "topics": ["Orders"]},
    {"name": "warehouse", "role": "consumer", "group": "warehouse", "topics": ["Orders"]},
]
PAYMENTS = {"kafka_dr_application": "payments"}
ORDERS = {"kafka_dr_application": "orders"}


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    """Both applications running on P, each with its flows."""
    with Scenario(tmp_path_factory.mktemp("pair"), clients=CLIENTS, topics=TOPICS).up() as made:
        for application in (PAYMENTS, ORDERS):
            made.playbook("enable", {"kafka_dr_confirm": "P", **application})
        made.start()
        work(made)
        yield made


def work(pair: Scenario, records: int = 500) -> None:
    """Wait until this many more records are acknowledged and processed. Each topic has one group."""
    wanted = pair.count("acknowledged") + records
    pair.wait(lambda: pair.count("acknowledged") >= wanted, 120, f"{records} more records are acknowledged")
    pair.wait(lambda: pair.count("processed") >= wanted - records // 2, 120, "consumers follow")


def active(pair: Scenario, application: dict[str, str]) -> str:
    """The active cluster of an application, with proven flows."""
    assert pair.playbook("status", application)["changed"] == 0
    status: dict[str, Any] = json.loads((pair.reports / "status.json").read_text())
    assert {flow["name"]: flow["verdict"] for flow in status["flows"]} == {"P->B": "PROVEN", "B->P": "PROVEN"}
    return str(status["journal"]["active"])


def connectors(pair: Scenario) -> dict[str, str]:
    seen = snapshot(pair.folder, ["settlement", "warehouse"])
    return {name: reported[0] for alias in "PB" for name, reported in seen[alias]["connectors"].items()}


def endpoints(pair: Scenario, *names: str) -> list[str]:
    found = [(pair.folder / "ledger" / f"{name}.env").read_text() for name in names]
    return [line.removeprefix("KAFKA_ALIAS=") for text in found for line in text.splitlines() if "KAFKA_ALIAS=" in line]


def test_an_inventory_with_applications_requires_the_name_of_one(pair: Scenario) -> None:
    done = pair.playbook("failover_cutoff", {"kafka_dr_confirm": "B"}, expect=2)
    assert "kafka_dr_application must name one, wanted one of: orders, payments." in done["output"]
    assert done["changed"] == 0


def test_enabling_again_changes_nothing(pair: Scenario) -> None:
    assert pair.playbook("enable", {"kafka_dr_confirm": "P", **PAYMENTS})["changed"] == 0


def test_one_application_moves_and_the_other_stays(pair: Scenario) -> None:
    others = {name: state for name, state in connectors(pair).items() if ".orders." in name}
    assert others["P->B.orders.MirrorSourceConnector"] == "RUNNING"
    # A local group has offsets on both clusters, and keeps them (R8).
    local = {"P": ("Payments", 0), "B": ("P.Payments", 0)}
    clients = {alias: admin(Lab(pair.folder), alias) for alias in local}
    for alias, key in local.items():
        commit(clients[alias], "probe", {key: 3})
    groups = [{"name": "settlement"}, {"name": "warehouse"}, {"name": "probe", "mode": "local"}]
    report = pair.move("failover_cutoff", "B", kafka_dr_groups=groups, **PAYMENTS)
    for alias, key in local.items():
        assert committed_offsets(clients[alias], "probe") == {key: 3}
    assert {row["group"] for row in report["committed_offsets"]} == {"settlement"}
    assert (report["outcome"], report["pair"]) == ("completed", "B-P.payments")
    assert {row["topic"] for row in report["committed_offsets"]} == {"Payments", "P.Payments"}
    work(pair)
    assert endpoints(pair, "payments-api", "settlement", "shop", "warehouse") == ["B", "B", "P", "P"]
    assert {name: state for name, state in connectors(pair).items() if ".orders." in name} == others
    assert connectors(pair)["B->P.payments.MirrorCheckpointConnector"] == "RUNNING"
    assert connectors(pair)["P->B.payments.MirrorCheckpointConnector"] == "STOPPED"
    assert (active(pair, PAYMENTS), active(pair, ORDERS)) == ("B", "P")


def test_both_move_at_the_same_time_in_opposite_directions(pair: Scenario, tmp_path: Path) -> None:
    moves = [
        ("failback", {"kafka_dr_confirm": "P", "kafka_dr_report_dir": str(tmp_path / "payments"), **PAYMENTS}),
        ("failover_cutoff", {"kafka_dr_confirm": "B", "kafka_dr_report_dir": str(tmp_path / "orders"), **ORDERS}),
    ]
    with ThreadPoolExecutor() as pool:
        for done in list(pool.map(lambda move: pair.playbook(*move), moves)):
            assert done["rc"] == 0
    work(pair)
    assert (active(pair, PAYMENTS), active(pair, ORDERS)) == ("P", "B")
    pair.stop()
    counted = totals(pair.check())
    assert counted["acknowledged"] > 0
    harm = {key: counted[key] for key in ("lost", "phantom", "processed_twice", "out_of_order", "unknown")}
    assert harm == dict.fromkeys(harm, 0)


def test_an_idle_flow_makes_progress_by_its_own_heartbeats(pair: Scenario) -> None:
    """No producer writes now, and the topic of all heartbeats does not show anything about one flow."""
    assert (active(pair, PAYMENTS), active(pair, ORDERS)) == ("P", "B")


def test_a_group_of_two_applications_does_not_move(pair: Scenario) -> None:
    pair.stop()
    commit(admin(Lab(pair.folder), "P"), "settlement", {("Orders", 0): 0})
    refused = pair.playbook("failover_cutoff", {"kafka_dr_confirm": "B", **PAYMENTS}, expect=2)
    assert "settlement" in refused["output"]
    assert "Orders" in refused["output"]
    assert refused["changed"] == 0


def test_a_topic_cannot_move_to_another_application(pair: Scenario) -> None:
    """Its records would be replicated again, because offsets are stored under the name of the connector."""
    moved: dict[str, Any] = {
        "kafka_dr_confirm": "P",
        "kafka_dr_application": "bank",
        "kafka_dr_topics": [{**topic, "application": "bank"} for topic in TOPICS if topic["name"] == "Payments"],
        "kafka_dr_clients": [],
        "kafka_dr_groups": [{"name": "settlement", "topics": ["Payments"]}],
    }
    # Its name is new, and its topic was written on B: without other evidence the operator must name the active cluster
    # (R34).
    assert "active_side_unknown" in pair.playbook("enable", moved, expect=2)["output"]
    moved["kafka_dr_applications_on"] = "P"
    for disabled in (False, True):
        if disabled:
            pair.playbook("disable", {"kafka_dr_confirm": "P", **PAYMENTS})
            left = connectors(pair)
            assert not [name for name in left if ".payments." in name]
            assert left["P->B.MirrorHeartbeatConnector"] == "RUNNING", "that of all applications"
        done = pair.playbook("enable", moved, expect=2)
        assert "no connector of this pair has written it" in " ".join(done["output"].split())
        assert done["changed"] == 0
        assert "P->B.bank.MirrorSourceConnector" not in connectors(pair)
    # It does not join a running application either.
    joins = {
        "kafka_dr_confirm": "P",
        "kafka_dr_application": "orders",
        "kafka_dr_topics": [{**topic, "application": "orders"} for topic in TOPICS],
        "kafka_dr_clients": [],
        "kafka_dr_groups": [{"name": "warehouse", "topics": ["Orders"]}],
    }
    done = pair.playbook("enable", joins, expect=2)
    assert "the connector has no stored offset" in " ".join(done["output"].split())
    assert connectors(pair)["P->B.orders.MirrorSourceConnector"] == "RUNNING"
    # Under its own name it continues where it was.
    pair.playbook("enable", {"kafka_dr_confirm": "P", **PAYMENTS})
    assert active(pair, PAYMENTS) == "P"
