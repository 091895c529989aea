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
from disasters import PARTS, forgotten, lose
from scenario import ROOT, Scenario, totals

pytestmark = pytest.mark.long

PAGE = ROOT / "docs" / "incident.md"
CLIENTS = [
    {"name": "payments-api", "role": "producer", "rate": 300, "flush_seconds": 2},
    {"name": "settlement", "role": "consumer", "group": "settlement"},
]
# At 1,000 records/s: the tail has at least 300 records.
LAG_SECONDS = 0.3
COMMAND = re.compile(r"ansible-playbook switchback\.kafka_dr\.(\w+) -i INVENTORY([^`\n|]*)")
OPTION = re.compile(r"`(-e [^`]+)`")
OTHER = {"P": "B", "B": "P"}


@dataclass(frozen=True)
class Incident:
    """A pair whose applications live on the cluster that is about to be lost."""

    pair: Scenario
    lost: str

    @property
    def safe(self) -> str:
        return OTHER[self.lost]

    def follow(self, text: str, *more: str, expect: int = 0) -> str:
        """Run the only command of ``text`` and return its output in one line. ``more``: options that the page adds."""
        ((playbook, options),) = COMMAND.findall(text)
        words = shlex.split(" ".join([options, *more]))
        if self.lost == "B" and playbook != "enable":
            # The page: exchange the letters in every command except enable.
            words = [re.sub(r"(?<==)[PB]$", lambda match: OTHER[match[0]], word) for word in words]
        done = self.pair.playbook(playbook, options=tuple(words), expect=expect)
        return " ".join(done["output"].replace('\\"', '"').split())


def section(number: int) -> str:
    return re.split(r"^## \d+\. .*$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[number]


def commands(text: str) -> list[str]:
    """The lines of the only code block."""
    (block,) = re.findall(r"```sh\n(.*?)\n```", text, re.DOTALL)
    return str(block).splitlines()


def steps() -> dict[int, str]:
    """The numbered steps for a cluster that is back, each in one line."""
    items = re.findall(r"^(\d+)\. ((?:.+\n)(?: +.+\n)*)", section(4), re.MULTILINE)
    return {int(number): " ".join(text.split()) for number, text in items}


def option(text: str, variable: str) -> str:
    """The option that a step says to add."""
    (match,) = (option for option in OPTION.findall(text) if variable in option)
    return str(match)


CASES = [
    ("default", "B"),
    ("identity", "P"),
    pytest.param(("default", "P"), marks=pytest.mark.soak),
    pytest.param(("identity", "B"), marks=pytest.mark.soak),
]


@pytest.fixture(params=CASES, ids=" on ".join)
def incident(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Incident]:
    """Under load on the cluster that is about to be lost, with presynced offsets on the other one."""
    policy, lost = request.param
    with Scenario(tmp_path_factory.mktemp("incident"), partitions=4, clients=CLIENTS, policy=policy).up() as pair:
        pair.playbook("enable", {"kafka_dr_confirm": "P"})
        pair.start()
        pair.traffic(500)
        if lost == "B":
            pair.move("failover_cutoff", "B")
            pair.traffic(500)
        pair.playbook("reverse_checkpoint", {"kafka_dr_confirm": OTHER[lost]})
        yield Incident(pair, lost)


def test_each_command_of_the_page_works_as_written(incident: Incident) -> None:
    pair, lost, safe = incident.pair, incident.lost, incident.safe
    lab = lose(pair, LAG_SECONDS, lost)

    (what_is_down,) = commands(section(1))
    incident.follow(what_is_down)
    answers = {row["name"]: row["answer"] for row in checks(pair)}
    names = ("cluster_from", "cluster_to", "workers_to")
    assert [answers[name] for name in names] == ["NO", "YES", "YES"]

    planned, done = commands(section(2))
    incident.follow(planned)
    assert f"MOVED to {safe}" in incident.follow(done)
    pair.traffic(1000)

    for part in PARTS:
        lab.start(lost, part)
    forgotten(pair, lost)
    page = steps()
    incident.follow(page[1])
    tail = json.loads((pair.reports / "salvage-list.json").read_text())["records"]
    assert tail > 0
    bring_over(incident, page)
    # Its exit code is that of the page.
    incident.follow(page[4], expect=2)
    require_verdicts_of_the_page(pair, tail)

    ready = wait_until(lambda: readiness(pair), lambda output: ready_text(page[5]) in output, Bounds(120, 1.0))
    assert ready.done, ready.state
    assert f"MOVED to {lost}" in incident.follow(page[6])
    (afterwards,) = (line for line in section(4).splitlines() if line.startswith("**Afterwards**"))
    incident.follow(afterwards)
    assert list(pair.reports.glob("support-*.tar.gz"))
    pair.traffic(500)
    pair.stop()
    counted = totals(pair.check())
    assert (counted["lost"], counted["phantom"]) == (0, 0)


def bring_over(incident: Incident, page: dict[int, str]) -> None:
    """Steps 2 and 3. With the policy ``identity`` both are refused until the topics are named."""
    accepted = []
    if incident.pair.policy == "identity":
        into, newer = (option(page[2], word) for word in ("kafka_dr_salvage_into", "kafka_dr_accept_newer_keys"))
        refused = incident.follow(page[2], into, expect=2)
        assert '"newer_keys"' in refused
        assert newer in refused
        incident.follow(page[2], into, newer)
        accepted = [option(page[3], "kafka_dr_accept_tail")]
        stopped = incident.follow(page[3], expect=2)
        assert '"tail_left"' in stopped
        assert accepted[0] in stopped
    incident.follow(page[3], *accepted)


def require_verdicts_of_the_page(pair: Scenario, tail: int) -> None:
    """Committed offsets are UNKNOWN. With ``identity`` the lost cluster has the records of the tail twice."""
    report = json.loads((pair.reports / "audit.json").read_text())
    verdicts = {row["verdict"] for topic in report["topics"] for row in topic["committed_offsets"]}
    assert (report["verdict"], verdicts) == ("UNKNOWN", {"UNKNOWN"}), report["text"]
    records = {row["kind"]: row["records"] for topic in report["topics"] for row in topic["classes"]}
    # NEWER: the producers write.
    assert set(records) <= {"NEWER", "DUPLICATE"}, report["text"]
    assert records.get("DUPLICATE", 0) >= (tail if pair.policy == "identity" else 0), report["text"]


def checks(pair: Scenario) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((pair.reports / "readiness.json").read_text())["checks"]
    return rows


def readiness(pair: Scenario) -> str:
    output: str = pair.playbook("readiness")["output"]
    return output


def ready_text(step: str) -> str:
    """What the page says to wait for, which readiness prints word for word."""
    (text,) = re.findall(r"`(ready for [^`]+)`", step)
    return str(text)
