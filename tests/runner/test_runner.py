# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every wrapper playbook as an AWX job: surveys as text, artifacts, no secret in any event. On one secured pair."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from awx_project import PROJECT, configuration, injected, templates
from awx_runs import LONG, Awx
from lab.lab import Lab
from scenario import Scenario, totals
from secured import leaks, masked
from snapshot import read_inventory
from workers import worker

pytestmark = pytest.mark.timeout(900)

CLIENTS = [
    {"name": "payments-api", "role": "producer", "rate": 300},
    {"name": "settlement", "role": "consumer", "group": "settlement"},
]
# In a state in which they refuse nothing: the applications run on P.
CHECKED = {
    "reverse_checkpoint": {"kafka_dr_confirm": "B"},
    "rights": {"kafka_dr_confirm": "P"},
    "rehearse": {"kafka_dr_confirm": "B"},
    "rehearse_cleanup": {"kafka_dr_confirm": "B"},
    "failover_continuous": {"kafka_dr_confirm": "B"},
    "failover_disaster": {"kafka_dr_confirm": "B", "kafka_dr_although_healthy": "true"},
    "abandon": {"kafka_dr_confirm": "P"},
    "disable": {"kafka_dr_confirm": "P"},
}
# These also run for real, in this order, because of the values that they pass on.
DONE: dict[str, dict[str, str]] = {
    "reverse_checkpoint": {"kafka_dr_outcome": "done", "kafka_dr_active": "P"},
    "rights": {},
    "rehearse_cleanup": {},
    "abandon": {},
    "support_bundle": {},
    "discover": {},
    "disable": {},
}
# tests/playbooks runs these for real, but not as AWX jobs: they take as long as a cutover.
ONLY_CHECKED = {"rehearse", "failover_continuous"}


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    with Scenario(tmp_path_factory.mktemp("awx"), 3, CLIENTS, secure=True).up() as made:
        yield made


@pytest.fixture(scope="module")
def awx(pair: Scenario) -> Awx:
    return Awx(pair.folder / "awx", pair.inventory, {"kafka_dr_report_dir": str(pair.reports)})


def report(pair: Scenario, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((pair.reports / f"{name}.json").read_text())
    return found


def test_enable_is_checked_then_applied_then_changes_nothing(awx: Awx) -> None:
    checked = awx.launch("enable", "--check --diff", kafka_dr_confirm="P")
    assert (checked.status, checked.changed > 0) == ("successful", True)
    done = awx.launch("enable", kafka_dr_confirm="P")
    assert (done.status, done.changed > 0) == ("successful", True), done.stdout
    again = awx.launch("enable", kafka_dr_confirm="P", kafka_dr_accept_foreign_writers="Payments, ")
    assert (again.status, again.changed) == ("successful", 0), again.stdout


def test_a_wrong_confirmation_fails_the_job(awx: Awx) -> None:
    job = awx.launch("disable", kafka_dr_confirm="B")
    assert job.status == "failed"
    assert "Nothing was changed" in job.stdout


def test_status_passes_on_the_active_cluster(pair: Scenario, awx: Awx) -> None:
    pair.start()
    pair.traffic(500)
    job = awx.launch("status")
    assert (job.status, job.artifacts) == ("successful", {"kafka_dr_verdict": "PROVEN", "kafka_dr_active": "P"})


def test_an_approved_failover_uses_the_values_that_readiness_passed_on(pair: Scenario, awx: Awx) -> None:
    ready = awx.launch(
        "readiness", kafka_dr_ready_require="controlled", kafka_dr_ready_accept="undeclared_groups, rights"
    )
    assert ready.status == "successful", ready.stdout
    found = report(pair, "readiness")
    assert ready.artifacts == {f"kafka_dr_ready_{way}": found[way] for way in ("controlled", "disaster")}
    assert ready.artifacts["kafka_dr_ready_controlled"] == "YES"

    moved = awx.launch(
        "failover_cutoff", more=ready.artifacts, kafka_dr_confirm="B", kafka_dr_audit="false", kafka_dr_fence="acl"
    )
    assert moved.status == "successful", moved.stdout
    reported = report(pair, "cutoff-B")
    assert reported["outcome"] == "completed"
    assert moved.artifacts == {f"kafka_dr_{key}": reported[key] for key in ("outcome", "verdict", "run")}
    pair.traffic(500)


def test_a_failback_loses_nothing(pair: Scenario, awx: Awx) -> None:
    moved = awx.launch("failback", kafka_dr_confirm="P", kafka_dr_audit="false", kafka_dr_max_downtime=120)
    assert (moved.status, moved.artifacts["kafka_dr_outcome"]) == ("successful", "completed"), moved.stdout
    pair.traffic(500)
    pair.stop()
    counted = totals(pair.check())
    assert counted["processed"] == counted["acknowledged"] > 0
    assert {counted[key] for key in ("lost", "processed_twice", "phantom", "out_of_order", "unknown")} == {0}
    pair.start()


@pytest.mark.parametrize("playbook", CHECKED)
def test_each_playbook_can_be_checked_from_awx(awx: Awx, playbook: str) -> None:
    job = awx.launch(playbook, "--check --diff", **CHECKED[playbook])
    assert job.status == "successful", job.stdout


def test_credentials_reach_the_example_inventory_and_no_event(tmp_path: Path) -> None:
    """The run stops at the wrong confirmation, because this inventory has no real cluster."""
    kinds = {kind["name"]: kind for kind in configuration()["controller_credential_types"]}
    secrets: dict[str, str] = {}
    for name in ("clients", "Connect", "fence"):
        kind = kinds[f"Kafka DR {name}"]
        inputs = {field["id"]: f"{name}-{field['id']}-2f6b" for field in kind["inputs"]["fields"]}
        inputs |= {"logins": '{"User:payments-api": {"sasl.password": "fence-2f6b"}}'} if name == "fence" else {}
        secrets |= injected(kind, inputs, {"ca": "/runner/env/ca-file"})
    awx = Awx(tmp_path / "awx", PROJECT / "inventories" / "connect" / "hosts.yml", {})
    job = awx.launch("disable", more=secrets, kafka_dr_confirm="B")
    assert 'kafka_dr_confirm is "B", wanted "P"' in job.stdout
    assert not [text for text in job.texts if "2f6b" in text]
    without = awx.launch("disable", kafka_dr_confirm="B")
    assert re.search(r"'vault_\w+' is undefined", without.stdout)


def test_a_job_authenticates_with_the_injected_credentials(pair: Scenario, awx: Awx) -> None:
    """The inventory only names variables, as the examples do. All secrets come from the credential types."""
    clusters = read_inventory(pair.inventory)["kafka_dr_clusters"]
    for alias, side in (("P", "home"), ("B", "away")):
        clusters[alias]["admin_client"]["ssl.ca.location"] = "{{ vault_kafka_ca_file }}"
        for key in ("username", "password"):
            clusters[alias]["admin_client"][f"sasl.{key}"] = f"{{{{ vault_kafka_{side}_{key} }}}}"
            clusters[alias]["connect_client"][f"url_{key}"] = f"{{{{ vault_connect_{side}_{key} }}}}"
    named = Awx(pair.folder / "credentials", pair.inventory, {**awx.variables, "kafka_dr_clusters": clusters}, awx.jobs)
    security = Lab(pair.folder, quiet=True).paths.security
    rest = security.rest_client()
    kinds = {kind["name"]: kind for kind in configuration()["controller_credential_types"]}
    kafka = {"username": "admin", "password": security.password("admin")}
    connect = {"username": rest["url_username"], "password": rest["url_password"]}
    both = {
        name: {f"{side}_{key}": text for side in ("home", "away") for key, text in login.items()}
        for name, login in (("Kafka DR clients", kafka), ("Kafka DR Connect", connect))
    }
    secrets: dict[str, str] = {}
    for name, inputs in both.items():
        secrets |= injected(kinds[name], {**inputs, "ca": security.ca.read_text()}, {"ca": str(security.ca)})
    job = named.launch("status", more=secrets)
    assert (job.status, job.artifacts) == ("successful", {"kafka_dr_verdict": "PROVEN", "kafka_dr_active": "P"})
    # A module was given the injected login, and no output shows it.
    assert masked(job.texts)
    wrong = named.launch("status", more=secrets | {"vault_kafka_away_password": "another-word"})
    assert wrong.status == "failed"


@pytest.mark.parametrize("playbook", DONE)
def test_each_playbook_runs_from_awx_and_passes_on_the_values_in_the_guide(
    pair: Scenario, awx: Awx, playbook: str
) -> None:
    job = awx.launch(playbook, **CHECKED.get(playbook, {}))
    assert (job.status, job.artifacts) == ("successful", DONE[playbook]), job.stdout
    if playbook == "support_bundle":
        assert list(pair.reports.glob("*.tar.gz"))
    if playbook == "disable":
        lab = Lab(pair.folder, quiet=True)
        assert {alias: worker(lab, alias).call("GET", "/connectors") for alias in ("P", "B")} == {"P": [], "B": []}


def test_every_playbook_has_succeeded_for_real_or_is_listed_here(awx: Awx) -> None:
    """This checks the jobs of the whole file, so it fails if it runs alone."""
    assert awx.successful(checked=False) == set(templates()) - LONG - ONLY_CHECKED
    assert awx.successful(checked=True) == {"enable", *CHECKED}


def test_no_job_shows_a_secret(pair: Scenario, awx: Awx) -> None:
    texts = [text for job in awx.jobs for text in job.texts]
    assert masked(texts)
    assert leaks(Lab(pair.folder, quiet=True), texts) == []
