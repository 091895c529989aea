# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster is lost, and a person follows docs/incident.md word by word: each command works as the page has it."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds, wait_until
from brokers import admin, at_work
from lab.lab import Lab
from scenario import ROOT, Scenario, totals
from workers import control_connector

pytestmark = pytest.mark.long

PAGE = ROOT / "docs" / "incident.md"
CLIENTS = [
    {"name": "payments-api", "role": "producer", "rate": 300, "flush_seconds": 2},
    {"name": "settlement", "role": "consumer", "group": "settlement"},
]
COMMAND = re.compile(r"ansible-playbook switchback\.kafka_dr\.(\w+) -i INVENTORY([^`\n|]*)")
EXTRA = re.compile(r"`(-e [^`]+)`")
OTHER = {"P": "B", "B": "P"}


@dataclass(frozen=True)
class Incident:
    """A pair whose applications live on ``lost``, which is about to be lost."""

    pair: Scenario
    lost: str

    @property
    def safe(self) -> str:
        return OTHER[self.lost]

    def follow(self, text: str, *more: str, expect: int | None = 0) -> dict[str, Any]:
        """Run the only command of ``text``. ``more``: what the page says to add."""
        ((playbook, options),) = COMMAND.findall(text)
        words = shlex.split(" ".join([options, *more]))
        if self.lost == "B" and playbook != "enable":
            # The page: exchange the letters in every command except enable.
            words = [re.sub(r"(?<==)[PB]$", lambda found: OTHER[found[0]], word) for word in words]
        return self.pair.playbook(playbook, options=tuple(words), expect=expect)


def section(number: int) -> str:
    return re.split(r"^## \d+\. .*$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[number]


def steps() -> dict[int, str]:
    """The numbered steps of the section about a cluster that is back, each in one line."""
    found = re.findall(r"^(\d+)\. ((?:.+\n)(?: +.+\n)*)", section(4), re.MULTILINE)
    return {int(number): " ".join(text.split()) for number, text in found}


def added(text: str, variable: str) -> str:
    """The option that a step says to add."""
    (option,) = (found for found in EXTRA.findall(text) if variable in found)
    return str(option)


CASES = [
    ("default", "B"),
    ("identity", "P"),
    pytest.param(("default", "P"), marks=pytest.mark.soak),
    pytest.param(("identity", "B"), marks=pytest.mark.soak),
]


@pytest.fixture(params=CASES, ids=" on ".join)
def incident(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Incident]:
    """Under load on the cluster that is about to be lost."""
    policy, lost = request.param
    with Scenario(tmp_path_factory.mktemp("incident"), partitions=4, clients=CLIENTS, policy=policy).up() as pair:
        pair.playbook("enable", {"kafka_dr_confirm": "P"})
        pair.start()
        pair.traffic(500)
        if lost == "B":
            pair.move("failover_cutoff", "B")
            pair.traffic(500)
        yield Incident(pair, lost)


def test_each_command_of_the_page_works_as_written(incident: Incident) -> None:
    pair, lost, safe = incident.pair, incident.lost, incident.safe
    pair.playbook("reverse_checkpoint", {"kafka_dr_confirm": safe})
    lab = lose(incident)

    incident.follow(section(1).split("```")[1])
    checks = {row["name"]: row["answer"] for row in readiness(pair)["checks"]}
    assert (checks["cluster_from"], checks["workers_to"]) == ("NO", "YES")
    shown, done = section(2).split("```")[1].strip().splitlines()[1:]
    incident.follow(shown)
    assert f"MOVED to {safe}" in incident.follow(done)["output"]
    pair.traffic(500)

    lab.start(lost, "broker")
    lab.start(lost, "connect")
    client = admin(lab, lost)
    pair.wait(lambda: not at_work(client), 90, "the members that died with the cluster have left")
    page = steps()
    incident.follow(page[1].split(". ")[0])
    tail = json.loads((pair.reports / "salvage-list.json").read_text())["records"]
    assert tail > 0
    accepted = []
    if pair.policy == "identity":
        into = added(page[2], "kafka_dr_salvage_into")
        refused = said(incident.follow(page[2], into, expect=2))
        assert '"newer_keys"' in refused
        assert added(page[2], "kafka_dr_accept_newer_keys") in refused
        incident.follow(page[2], into, added(page[2], "kafka_dr_accept_newer_keys"))
        left = said(incident.follow(page[3], expect=2))
        assert '"tail_left"' in left
        assert added(page[3], "kafka_dr_accept_tail") in left
        accepted = [added(page[3], "kafka_dr_accept_tail")]
    incident.follow(page[3], *accepted)
    # Exit code and verdicts are those of step 4.
    incident.follow(page[4], expect=2)
    audited(pair, tail)

    answered = wait_until(lambda: not_yes(pair), lambda found: not found, Bounds(120, 1.0))
    assert answered.done, answered.state
    assert f"MOVED to {lost}" in incident.follow(page[6])["output"]
    (bundle,) = (line for line in section(4).splitlines() if "support_bundle" in line)
    incident.follow(bundle)
    assert list(pair.reports.glob("support-*.tar.gz"))
    pair.traffic(500)
    pair.stop()
    counted = totals(pair.check())
    assert (counted["lost"], counted["phantom"]) == (0, 0)


def lose(incident: Incident) -> Lab:
    """The cluster fails with its workers, after its flow has not replicated 300 records."""
    lab, pair = Lab(incident.pair.folder), incident.pair
    connector = f"{incident.lost}->{incident.safe}.MirrorSourceConnector"
    control_connector(lab, connector, "pause")
    records = pair.count("acknowledged") + 300
    pair.wait(lambda: pair.count("acknowledged") >= records, 60, "records after the pause")
    for part in ("broker", "connect"):
        lab.kill(incident.lost, part)
    control_connector(lab, connector, "resume")
    return lab


def audited(pair: Scenario, tail: int) -> None:
    """What cannot be known is UNKNOWN, nothing is REFUTED. With ``identity`` the lost cluster has the tail twice."""
    report = json.loads((pair.reports / "audit.json").read_text())
    verdicts = {row["verdict"] for topic in report["topics"] for row in topic["committed_offsets"]}
    assert (report["verdict"], verdicts) == ("UNKNOWN", {"UNKNOWN"}), report["text"]
    different = {row["kind"]: row["records"] for topic in report["topics"] for row in topic["classes"]}
    assert set(different) <= {"NEWER", "DUPLICATE"}, report["text"]
    assert pair.policy == "default" or different["DUPLICATE"] >= tail, report["text"]


def readiness(pair: Scenario) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((pair.reports / "readiness.json").read_text())
    return report


def not_yes(pair: Scenario) -> dict[str, str]:
    """The checks that are not YES, and their findings."""
    pair.playbook("readiness")
    return {row["name"]: row["found"] for row in readiness(pair)["checks"] if row["answer"] in ("NO", "UNKNOWN")}


def said(done: dict[str, Any]) -> str:
    """The output in one line, without the escapes of Ansible."""
    return " ".join(done["output"].replace('\\"', '"').split())
