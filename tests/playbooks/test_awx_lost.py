# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""AWX jobs that need Spark or a lost cluster: like tests/runner, on a secured pair under load."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from awx_runs import LONG, Awx, Job, lab_credentials
from disasters import PARTS, forgotten, lose, rename
from lab.lab import Lab
from scenario import Scenario
from secured import leaks, masked

pytestmark = pytest.mark.long

CLIENTS = [
    {"name": "payments-api", "role": "producer", "rate": 300},
    {"name": "settlement", "role": "consumer", "group": "settlement"},
]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    with Scenario(tmp_path_factory.mktemp("awx"), 3, CLIENTS, secure=True).up() as made:
        made.playbook("enable", {"kafka_dr_confirm": "P"})
        made.start()
        made.traffic(500)
        yield made


@pytest.fixture(scope="module")
def jobs() -> list[Job]:
    """All jobs of this file."""
    return []


@pytest.fixture
def awx(pair: Scenario, jobs: list[Job]) -> Awx:
    """AWX with the current inventory."""
    variables = {"kafka_dr_report_dir": str(pair.reports)}
    return Awx(pair.folder / "awx", pair.inventory, variables, lab_credentials(Lab(pair.folder, quiet=True)), jobs)


def test_verify_compares_both_clusters(awx: Awx) -> None:
    job = awx.launch("verify")
    assert job.status == "successful", job.stdout
    assert job.artifacts == {"kafka_dr_verdict": "PROVEN", "kafka_dr_active": "P"}


def test_a_disaster_and_the_salvage_of_the_unreplicated_records(pair: Scenario, awx: Awx) -> None:
    lab = lose(pair, 1.0)
    moved = awx.launch("failover_disaster", kafka_dr_confirm="B")
    assert (moved.status, moved.artifacts["kafka_dr_outcome"]) == ("successful", "completed"), moved.stdout
    assert moved.artifacts["kafka_dr_verdict"] == "UNKNOWN"
    for part in PARTS:
        lab.start("P", part)
    forgotten(pair)

    listed = awx.launch("salvage", kafka_dr_confirm="B")
    assert (listed.status, listed.changed) == ("successful", 0), listed.stdout
    tail = json.loads((pair.reports / "salvage-list.json").read_text())["records"]
    assert tail > 0
    answers = {"kafka_dr_salvage_into": "original", "kafka_dr_accept_newer_keys": "Payments"}
    replayed = awx.launch("salvage", kafka_dr_confirm="B", kafka_dr_salvage="replay", **answers)
    assert (replayed.status, replayed.changed > 0) == ("successful", True), replayed.stdout
    enabled = awx.launch("enable", kafka_dr_confirm="P")
    assert enabled.status == "successful", enabled.stdout
    pair.traffic(500)


def test_rebuild_replaces_a_lost_cluster_with_an_empty_one(pair: Scenario, jobs: list[Job], awx: Awx) -> None:
    lab = Lab(pair.folder)
    old = lab.info()["clusters"]["P"]["cluster_id"]
    lab.replace("P")
    refused = awx.launch("rebuild", kafka_dr_confirm="P")
    assert refused.status == "failed"
    rename(pair, old, lab.info()["clusters"]["P"]["cluster_id"])
    corrected = Awx(awx.folder, pair.inventory, awx.variables, awx.credentials, jobs)
    rebuilt = corrected.launch("rebuild", kafka_dr_confirm="P")
    assert (rebuilt.status, rebuilt.changed > 0) == ("successful", True), rebuilt.stdout
    again = corrected.launch("enable", kafka_dr_confirm="P")
    assert (again.status, again.changed) == ("successful", 0), again.stdout


def test_every_long_job_has_succeeded(awx: Awx) -> None:
    """This checks the whole file, so it fails if it runs alone."""
    assert awx.successful(checked=False) >= LONG


def test_no_job_shows_a_secret(pair: Scenario, jobs: list[Job]) -> None:
    texts = [text for job in jobs for text in job.texts]
    assert masked(texts)
    assert leaks(Lab(pair.folder, quiet=True), texts) == []
