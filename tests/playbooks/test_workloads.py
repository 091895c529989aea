# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Applications that are Deployments move with whole playbooks. The account has exactly the documented Roles.

A stand-in for the kubelet runs the process of each pod: a ledger client that reads its endpoint from the ConfigMap.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from fake_workloads import FakeWorkloads
from kills import beginning, kill_in_phase
from kube_apiserver import until
from kube_lab import KubeLab
from manifests import folder, role_and_binding
from scenario import LEDGER, Scenario, totals
from strimzi.kube import Kube

pytestmark = pytest.mark.long

CLIENTS = [
    {"name": "payments-api", "role": "producer", "rate": 500},
    {"name": "settlement", "role": "consumer", "group": "settlement"},
    {"name": "fraud", "role": "consumer", "group": "fraud"},
]
SHOP = "shop"
MAPS = f"/api/v1/namespaces/{SHOP}/configmaps"
DEPLOYMENTS = f"/apis/apps/v1/namespaces/{SHOP}/deployments"
REPLICAS = "kafka-dr.switchback/replicas"


class LedgerPods(FakeWorkloads):
    """The pod of a Deployment is the ledger client with its name."""

    def __init__(self, kube: Kube, ledger: Path) -> None:
        super().__init__(kube, SHOP)
        self._ledger = ledger

    def _create(self, name: str, labels: dict[str, str]) -> None:
        mounted = self._kube.get(f"{MAPS}/payments-kafka") or {}
        (self._ledger / f"{name}.env").write_text(mounted["data"][f"{name}.env"])
        self._run_ledger("start", name)
        super()._create(name, labels)

    def _end(self, name: str) -> None:
        self._run_ledger("stop", name.rpartition("-")[0])
        super()._end(name)

    def _run_ledger(self, verb: str, name: str) -> None:
        subprocess.run([sys.executable, str(LEDGER), verb, name, "--dir", str(self._ledger)], check=True)


@pytest.fixture(scope="module")
def pair(api_server: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    """Enabled, with all applications as Deployments on P. Each test continues where the one before ended."""
    with Scenario(tmp_path_factory.mktemp("workloads"), partitions=4, clients=CLIENTS, engine="strimzi").up() as made:
        assert made.kubernetes is not None
        kube, ledger = made.kubernetes.kube, made.folder / "ledger"
        kube.call("POST", "/api/v1/namespaces", {"metadata": {"name": SHOP}})
        for body in role_and_binding("applications.yml"):
            kube.call("POST", folder(body, SHOP), body)
        describe(made, made.kubernetes)
        made.playbook("enable", {"kafka_dr_confirm": "P"})
        endpoints = {f"{client['name']}.env": (ledger / f"{client['name']}.env").read_text() for client in CLIENTS}
        kube.call("POST", MAPS, {"metadata": {"name": "payments-kafka"}, "data": endpoints})
        pods = LedgerPods(made.kubernetes.server.kube(manager="kubelet"), ledger)
        pods.start()
        try:
            for client in CLIENTS:
                kube.call("POST", DEPLOYMENTS, deployment(str(client["name"])))
            until(lambda: all(item["status"].get("readyReplicas") for item in kube.items(DEPLOYMENTS)), 60.0)
            yield made
        finally:
            pods.stop()


def describe(pair: Scenario, kubernetes: KubeLab) -> None:
    """Replace the commands of the applications in the inventory by their Deployments."""
    path = pair.inventory / "group_vars" / "all" / "kafka_dr.yml"
    variables = yaml.safe_load(path.read_text())
    login = {key: kubernetes.sites()["P"][key] for key in ("url", "ca_path", "token_file")}
    for client in variables["kafka_dr_clients"]:
        for key in ("stop", "start", "endpoint_file"):
            del client[key]
        name = client["name"]
        place = {"namespace": SHOP, "name": name, "endpoint_name": "payments-kafka", "endpoint_key": f"{name}.env"}
        client |= {"control": "kubernetes", "workload": {**login, **place}}
    path.write_text(yaml.safe_dump(variables, sort_keys=False))


def deployment(name: str) -> dict[str, Any]:
    labels = {"app": name}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "ledger", "image": "none"}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": pod}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}


def require_home(pair: Scenario, alias: str) -> None:
    """Every Deployment has its replica and no mark of a stop, and every process uses this cluster."""
    assert pair.kubernetes is not None
    kube = pair.kubernetes.kube
    for item in kube.items(DEPLOYMENTS):
        assert (item["spec"]["replicas"], REPLICAS in item["metadata"].get("annotations", {})) == (1, False)
    endpoints = (kube.get(f"{MAPS}/payments-kafka") or {})["data"]
    assert [f"KAFKA_ALIAS={alias}" in text.splitlines() for text in endpoints.values()] == [True] * len(CLIENTS)
    for client in CLIENTS:
        text = (pair.folder / "ledger" / f"{client['name']}.env").read_text()
        assert text == endpoints[f"{client['name']}.env"]


def test_a_cutoff_there_and_back(pair: Scenario) -> None:
    for playbook, to in (("failover_cutoff", "B"), ("failback", "P")):
        pair.traffic(1000)
        report = pair.move(playbook, to)
        assert (report["outcome"], report["rereads"]) == ("completed", 0)
        require_home(pair, to)
        print(f"to {to}: {pair.downtime(report)}, playbook {report['playbook_s']} s")
    assert pair.playbook("failback", {"kafka_dr_confirm": "P"})["changed"] == 0


def test_a_run_that_was_killed_while_the_deployments_are_stopped_starts_them_with_their_replicas(
    pair: Scenario,
) -> None:
    pair.traffic(500)
    kill_in_phase(pair, "barrier", "B")
    assert pair.move("failover_cutoff", "B")["outcome"] == "completed"
    require_home(pair, "B")
    pair.traffic(500)
    assert pair.move("failback", "P")["outcome"] == "completed"
    require_home(pair, "P")


def test_a_missing_endpoint_is_refused_before_an_application_stops(pair: Scenario) -> None:
    assert pair.kubernetes is not None
    kube = pair.kubernetes.kube
    content = (kube.get(f"{MAPS}/payments-kafka") or {})["data"]
    assert _clients_check(pair)["answer"] == "YES"
    kube.call("DELETE", f"{MAPS}/payments-kafka")
    check = _clients_check(pair)
    done = pair.playbook("failover_cutoff", {"kafka_dr_confirm": "B"}, expect=2)
    kube.call("POST", MAPS, {"metadata": {"name": "payments-kafka"}, "data": content})
    text = " ".join(done["output"].split())
    assert f"{SHOP}/payments-kafka" in text
    assert "does not exist" in text
    assert beginning("stop_producers") not in done["output"]
    assert check["answer"] == "NO"
    assert f"{SHOP}/payments-kafka" in check["found"]
    require_home(pair, "P")


def _clients_check(pair: Scenario) -> dict[str, Any]:
    pair.playbook("readiness")
    rows = json.loads((pair.reports / "readiness.json").read_text())["checks"]
    found: dict[str, Any] = next(row for row in rows if row["name"] == "clients")
    return found


def test_the_ledgers_have_every_record_once(pair: Scenario) -> None:
    pair.traffic(500)
    pair.stop()
    found = totals(pair.check())
    harm = {key: found[key] for key in ("lost", "phantom", "unknown", "processed_twice", "out_of_order")}
    assert found["acknowledged"] > 3500
    assert harm == dict.fromkeys(harm, 0)
