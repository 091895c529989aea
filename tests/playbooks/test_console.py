# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The callback plugin console: a cutover in 40 lines, and the usual mistakes in 15, each ending with one block."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer

from lab.lab import Lab
from scenario import Scenario
from snapshot import read_inventory

pytestmark = pytest.mark.timeout(900)

CLIENTS = [
    {"name": "payments-api", "role": "producer", "rate": 200},
    {"name": "settlement", "role": "consumer", "group": "settlement"},
    {"name": "fraud", "role": "consumer", "group": "fraud"},
]
CONFIRMED = {"kafka_dr_confirm": "B"}
RECAP = re.compile(r"^\S+: ok \d+, changed \d+, failures \d+, unreachable \d+ \(\d+\.\d s\)$")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    """A pair with running applications, whose playbooks use the plugin."""
    folder = tmp_path_factory.mktemp("console")
    with Scenario(folder, partitions=4, clients=CLIENTS, console=True).up() as made:
        made.playbook("enable", {"kafka_dr_confirm": "P"})
        made.start()
        yield made


def lines(pair: Scenario, variables: dict[str, Any], expect: int) -> list[str]:
    done = pair.playbook("failover_cutoff", variables, expect=expect)
    return [line for line in done["output"].splitlines() if line.strip()]


def block(shown: list[str]) -> dict[str, str]:
    """The lines of the last block by name. Only the recap follows it."""
    assert len(shown) <= 15, "\n".join(shown)
    assert RECAP.match(shown[-1]), shown[-1]
    (start,) = [place for place, line in enumerate(shown) if line.startswith("FAILED: ")]
    found = {line[2:13].strip(): line[13:] for line in shown[start + 1 : -1]}
    assert list(found) in (["found", "wanted", "next step", "read more"], ["found", "next step", "read more"])
    guide = found["read more"].split(",")[0]
    assert (Path(__file__).resolve().parents[2] / guide).is_file()
    return found


def test_a_wrong_confirmation(pair: Scenario) -> None:
    found = block(lines(pair, {"kafka_dr_confirm": "P"}, 2))
    assert found["found"] == 'kafka_dr_confirm is "P"'
    assert found["wanted"].startswith('"B"')
    assert "-e kafka_dr_confirm=B" in found["next step"]


def test_a_misspelt_variable(pair: Scenario) -> None:
    found = block(lines(pair, {**CONFIRMED, "kafka_dr_clientz": []}, 2))
    assert found["found"] == (
        'The inventory is not usable: The variable "kafka_dr_clientz" is unknown. Did you mean "kafka_dr_clients"?'
    )
    assert found["next step"].startswith("Nothing was changed.")


def test_a_missing_topic(pair: Scenario) -> None:
    topics = read_inventory(pair.inventory)["kafka_dr_topics"]
    more = {"name": "Orders", "partitions": 4, "replication_factor": 1}
    assert "Orders" in block(lines(pair, {**CONFIRMED, "kafka_dr_topics": [*topics, more]}, 2))["found"]


def test_a_group_that_is_active_on_the_other_side(pair: Scenario) -> None:
    servers = read_inventory(pair.inventory)["kafka_dr_clusters"]["B"]["bootstrap_servers"]
    member = Consumer({"bootstrap.servers": servers, "group.id": "settlement"})
    member.subscribe(["Payments"])
    try:
        pair.wait(lambda: bool(member.poll(0.2)) or bool(member.assignment()), 30, "the member has joined")
        assert "settlement" in block(lines(pair, CONFIRMED, 2))["found"]
    finally:
        member.close()


@contextmanager
def stopped(pair: Scenario, alias: str, process: str) -> Iterator[None]:
    lab = Lab(pair.folder)
    lab.stop(alias, process)
    try:
        yield
    finally:
        lab.start(alias, process)


def test_connect_is_down(pair: Scenario) -> None:
    url = copy.deepcopy(read_inventory(pair.inventory))["kafka_dr_clusters"]["B"]["connect_url"]
    with stopped(pair, "B", "connect"):
        found = block(lines(pair, CONFIRMED, 2))
    assert url.removeprefix("http://") in found["found"]


def test_a_broker_is_down(pair: Scenario) -> None:
    servers = read_inventory(pair.inventory)["kafka_dr_clusters"]["B"]["bootstrap_servers"]
    with stopped(pair, "B", "broker"):
        assert servers in block(lines(pair, CONFIRMED, 2))["found"]


def test_a_cutover_and_its_report_fit_on_a_screen(pair: Scenario) -> None:
    pair.traffic(400)
    shown = lines(pair, {**CONFIRMED, "kafka_dr_audit": "later"}, 0)
    assert len(shown) <= 40, "\n".join(shown)
    assert RECAP.match(shown[-1])
    (arrived,) = [line.strip() for line in shown if line.strip().startswith("Applications run on B since ")]
    assert re.search(r"\(writes stood still [\d.]+ s, reads [\d.]+ s\)$", arrived)
    (start,) = [place for place, line in enumerate(shown) if line.startswith("  MOVED to B (cutoff P -> B, ")]
    report = [line.strip() for line in shown[start:-1]]
    assert len(report) <= 12
    assert [line.split("  ")[0] for line in report[1:6]] == [
        "writes stood still",
        "reads stood still",
        "lost",
        "read again",
        "evidence",
    ]
    assert report[-2].endswith("/page.html")
    assert report[-1].endswith("ansible-playbook switchback.kafka_dr.verify -i INVENTORY")
