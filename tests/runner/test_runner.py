# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Playbooks as AWX jobs: surveys as text, artifacts, no secret in any event. On one secured pair."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from awx_acceptance import Acceptance, Client
from awx_api import AwxApi
from awx_project import PROJECT, RefusedError, configuration, questions, templates
from awx_runs import LONG, Awx, lab_credentials
from lab.lab import Lab
from scenario import Scenario, totals
from scripted import playing
from secured import leaks, masked
from snapshot import read_inventory
from workers import worker
from yamls import load_yaml

pytestmark = pytest.mark.timeout(900)

CLIENTS = [
    {"name": "payments-api", "role": "producer", "rate": 300},
    {"name": "settlement", "role": "consumer", "group": "settlement"},
]
# In a state in which they refuse nothing: the applications run on P. tests/playbooks runs these for real.
CHECKED = {
    "rights": {"kafka_dr_confirm": "P"},
    "rehearse": {"kafka_dr_confirm": "B"},
    "failover_disaster": {"kafka_dr_confirm": "B", "kafka_dr_although_healthy": "true"},
}
# These run for real at the end, with the values that they pass on.
DONE: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "reverse_checkpoint": ({"kafka_dr_confirm": "B"}, {"kafka_dr_outcome": "done", "kafka_dr_active": "P"}),
    "discover": ({}, {}),
    "disable": ({"kafka_dr_confirm": "P"}, {}),
}
# These run no job, because they only ask for what another playbook asks for. tests/repository/test_awx.py compares
# their wrappers with the playbooks.
ALIKE = {
    "failover_continuous": "failover_cutoff",
    "abandon": "failover_cutoff",
    "rehearse_cleanup": "disable",
    "support_bundle": "discover",
}


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    with Scenario(tmp_path_factory.mktemp("awx"), 3, CLIENTS, secure=True).up() as made:
        yield made


@pytest.fixture(scope="module")
def awx(pair: Scenario) -> Awx:
    """The inventory names variables of credentials only, as the examples do. All secrets come from the credentials."""
    clusters = read_inventory(pair.inventory)["kafka_dr_clusters"]
    for alias, side in (("P", "home"), ("B", "away")):
        clusters[alias]["admin_client"]["ssl.ca.location"] = "{{ vault_kafka_ca_file }}"
        for key in ("username", "password"):
            clusters[alias]["admin_client"][f"sasl.{key}"] = f"{{{{ vault_kafka.{side}_{key} }}}}"
            clusters[alias]["connect_client"][f"url_{key}"] = f"{{{{ vault_connect.{side}_{key} }}}}"
    variables = load_yaml(PROJECT / "inventories" / "connect" / "group_vars" / "all" / "credentials.yml")
    variables |= {"kafka_dr_clusters": clusters, "kafka_dr_report_dir": str(pair.reports)}
    # A value that a survey asks for: without an answer, the inventory decides.
    variables |= {"kafka_dr_audit": "false"}
    credentials = lab_credentials(Lab(pair.folder, quiet=True))
    return Awx(pair.folder / "awx", pair.inventory, variables, credentials)


def test_enable_accepts_empty_answers(awx: Awx) -> None:
    done = awx.launch("enable", kafka_dr_confirm="P", kafka_dr_accept_foreign_writers="", kafka_dr_applications_on="")
    assert (done.status, done.changed > 0) == ("successful", True), done.stdout


def test_a_wrong_confirmation_fails_the_job(awx: Awx) -> None:
    job = awx.launch("disable", kafka_dr_confirm="B")
    assert job.status == "failed"
    assert "Nothing was changed" in job.stdout


@pytest.fixture(scope="module")
def acceptance(pair: Scenario, awx: Awx) -> Iterator[Acceptance]:
    """The acceptance test of `make awx`, with an API in memory that runs the jobs here."""
    with playing(AwxApi(awx)) as api:
        api.preload(configuration())
        made = Acceptance(Client(api.url, "token"), "Kafka DR", "P", "B", pair.reports, "UNKNOWN")
        made.fill({name.removeprefix("Kafka DR "): inputs for name, inputs in awx.credentials.items()})
        yield made
        api.join()


def test_enable_and_readiness_pass_on_what_their_reports_say(pair: Scenario, awx: Awx, acceptance: Acceptance) -> None:
    pair.start()
    pair.traffic(500)
    acceptance.prepare()
    enabled, ready = awx.jobs[-2:]
    assert (enabled.playbook, enabled.changed) == ("enable", 0)
    assert ready.artifacts["kafka_dr_ready_controlled"] == "YES"


@pytest.mark.parametrize("playbook", CHECKED)
def test_each_playbook_can_be_checked_from_awx(awx: Awx, playbook: str) -> None:
    job = awx.launch(playbook, "--check --diff", **CHECKED[playbook])
    assert job.status == "successful", job.stdout


def test_an_approved_failover_moves_the_applications(pair: Scenario, awx: Awx, acceptance: Acceptance) -> None:
    acceptance.workflow("approved failover", "failover_cutoff", "B")
    assert [job.playbook for job in awx.jobs[-3:]] == ["readiness", "failover_cutoff", "status"]
    pair.traffic(500)


def test_an_approved_failback_loses_nothing(pair: Scenario, awx: Awx, acceptance: Acceptance) -> None:
    acceptance.workflow("approved failback", "failback", "P")
    assert [job.playbook for job in awx.jobs[-3:]] == ["readiness", "failback", "status"]
    pair.traffic(500)
    pair.stop()
    counted = totals(pair.check())
    assert counted["processed"] == counted["acknowledged"] > 0
    assert {counted[key] for key in ("lost", "processed_twice", "phantom", "out_of_order", "unknown")} == {0}


def test_credentials_reach_the_example_inventory_and_no_event(tmp_path: Path) -> None:
    """The run stops at the wrong confirmation, because this inventory has no real cluster."""
    credentials = {
        name: dict.fromkeys(("home_username", "home_password", "away_username", "away_password"), f"{name} 2f6b")
        for name in ("Kafka DR clients", "Kafka DR Connect")
    }
    awx = Awx(tmp_path / "awx", PROJECT / "inventories" / "connect" / "hosts.yml", {}, credentials)
    job = awx.launch("disable", kafka_dr_confirm="B")
    assert 'kafka_dr_confirm is "B", wanted "P"' in job.stdout
    assert not [text for text in job.texts if "2f6b" in text]


def test_awx_starts_no_job_with_an_empty_credential_or_an_empty_confirmation(awx: Awx) -> None:
    empty = Awx(awx.folder, awx.inventory, awx.variables)
    job = empty.launch("disable", kafka_dr_confirm="P")
    assert (job.status, job.stdout) == ("failed", "")
    assert job.explanation.startswith(
        "Job cannot start because Credential Kafka DR clients does not provide one or more"
    )
    with pytest.raises(RefusedError, match="kafka_dr_confirm"):
        awx.launch("disable", kafka_dr_confirm="")


def test_a_job_with_a_wrong_password_fails(awx: Awx) -> None:
    clients = {**awx.credentials["Kafka DR clients"], "away_password": "another-word"}
    wrong = Awx(awx.folder, awx.inventory, awx.variables, {**awx.credentials, "Kafka DR clients": clients}, awx.jobs)
    assert wrong.launch("status").status == "failed"


@pytest.mark.parametrize("playbook", DONE)
def test_each_playbook_runs_from_awx_and_passes_on_the_values_in_the_guide(
    pair: Scenario, awx: Awx, playbook: str
) -> None:
    answers, artifacts = DONE[playbook]
    job = awx.launch(playbook, **answers)
    assert (job.status, job.artifacts) == ("successful", artifacts), job.stdout
    if playbook == "disable":
        lab = Lab(pair.folder, quiet=True)
        assert {alias: worker(lab, alias).call("GET", "/connectors") for alias in ("P", "B")} == {"P": [], "B": []}


def test_every_playbook_has_succeeded_for_real_or_is_listed_here(awx: Awx) -> None:
    """This checks the jobs of the whole file, so it fails if it runs alone."""
    assert awx.successful(checked=False) == set(templates()) - LONG - set(CHECKED) - set(ALIKE)
    assert awx.successful(checked=True) == set(CHECKED)


@pytest.mark.parametrize(("playbook", "model"), ALIKE.items())
def test_a_playbook_without_a_job_asks_for_nothing_of_its_own(playbook: str, model: str) -> None:
    def asked(name: str) -> list[tuple[Any, ...]]:
        keys = ("variable", "type", "required", "min", "choices")
        return [tuple(question.get(key) for key in keys) for question in questions(templates()[name])]

    assert [one for one in asked(playbook) if one not in asked(model)] == []


def test_no_job_shows_a_secret(pair: Scenario, awx: Awx) -> None:
    texts = [text for job in awx.jobs for text in job.texts]
    assert masked(texts)
    assert leaks(Lab(pair.folder, quiet=True), texts) == []
