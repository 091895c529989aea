# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One row of the compatibility matrix: a round trip, readiness and the audit with given versions of Kafka."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from scenario import Scenario, ScenarioError, totals

NEWEST = "4.3.1"
CLIENTS: list[dict[str, Any]] = [
    {"name": "payments-api", "role": "producer", "rate": 100},
    {"name": "settlement", "role": "consumer", "group": "settlement"},
    {"name": "fraud", "role": "consumer", "group": "fraud"},
]
#: What both cutovers must prove. The lab of a row has no authorizer, so there is no fence to prove.
PROVEN = ("drained", "committed_offsets", "first_write", "groups")
HARM = ("lost", "phantom", "processed_twice", "out_of_order", "unknown")
PASSED, FAILED, REFUSED, NOT_RUN = "passed", "failed", "refused", "not run"
#: The code of the error by which `enable` refuses workers that are too old.
TOO_OLD = "connect_too_old"


@dataclass(frozen=True)
class Versions:
    """The versions of one row."""

    p: str
    b: str
    workers_p: str = NEWEST
    workers_b: str = NEWEST
    #: Whether `enable` must refuse the row before it changes anything.
    refused: bool = False

    @property
    def all(self) -> tuple[str, ...]:
        """The versions in the order of the table."""
        return self.p, self.b, self.workers_p, self.workers_b

    @property
    def name(self) -> str:
        """Unique in the table, and a name for a folder."""
        return f"P-{self.p}_B-{self.b}_workers-{self.workers_p}-{self.workers_b}"

    def scenario(self, folder: Path) -> Scenario:
        """A lab with these versions. It is not started yet."""
        return Scenario(
            folder,
            partitions=4,
            clients=CLIENTS,
            kafka_versions={"P": self.p, "B": self.b},
            connect_versions={"P": self.workers_p, "B": self.workers_b},
        )


#: The rows of `make compatibility`. Each broker version is on both clusters at least once, with the oldest and the
#: newest one mixed in both directions; each worker version runs both flows of at least one row.
ROWS = (
    Versions("2.8.2", NEWEST),
    Versions("3.9.1", "3.9.1", "3.9.1", "3.9.1"),
    Versions("4.1.1", "4.1.1", "4.1.1", "4.1.1"),
    Versions("3.4.1", "3.4.1"),
    Versions(NEWEST, "2.8.2"),
    Versions("3.7.2", "3.7.2", "3.7.2", "3.7.2"),
    Versions("3.6.2", "3.6.2", "3.7.2", "3.7.2"),
    Versions("2.8.2", "2.8.2", "3.7.2", "3.7.2"),
    Versions(NEWEST, NEWEST),
    Versions(NEWEST, NEWEST, "3.7.2", "3.7.2"),
    Versions("3.4.1", NEWEST, "3.9.1", NEWEST),
    Versions("3.6.2", "3.6.2", "3.6.2", "3.6.2", refused=True),
)


@dataclass(frozen=True)
class Libraries:
    """Python and the libraries of the controller, for a run with the newest Kafka."""

    python: str
    ansible_core: str
    confluent_kafka: str
    pyspark: str

    @property
    def name(self) -> str:
        """Unique in the table, and a name for a folder."""
        return "_".join((f"python-{self.python}", *(f"{name}-{version}" for name, version in self._own.items())))

    @property
    def _own(self) -> dict[str, str]:
        return {
            "ansible-core": self.ansible_core,
            "confluent-kafka": self.confluent_kafka,
            "pyspark": self.pyspark,
        }

    def packages(self, pinned: Iterable[str]) -> list[str]:
        """``pinned``: lines of requirements-run.in. Ansible chooses its Jinja2, and this row has the other versions."""
        chosen = {*self._own, "jinja2"}
        others = [line for line in pinned if line and not line.startswith("#") and line.split("==")[0] not in chosen]
        return [*(f"{name}=={version}" for name, version in self._own.items()), *others]


#: The oldest libraries that the README allows, and the newest ones for each Python.
LIBRARIES = (
    Libraries("3.11", "2.19.0", "2.6.0", "4.0.0"),
    Libraries("3.12", "2.20.10", "2.11.1", "4.1.1"),
    Libraries("3.13", "2.21.5", "2.16.1", "4.2.0"),
)


@dataclass
class Outcome:
    """What a run of one row found. ``asdict`` of it is the entry in the report."""

    versions: dict[str, Any]
    result: str
    #: UTC, to the minute.
    at: str
    seconds: float = 0.0
    #: Why the row failed, or the text of the refusal.
    text: str = ""
    #: Readiness checks that do not answer YES, and what they found.
    limits: list[str] = field(default_factory=list)
    acknowledged: int = 0
    harm: dict[str, int] = field(default_factory=dict)
    #: Seconds without an acknowledged write, by cutover.
    write_downtime_s: dict[str, float | None] = field(default_factory=dict)
    audit: str = ""


def run_row(versions: Versions, folder: Path, audit: bool = True) -> Outcome:
    """Run one row on a lab of its own, which is stopped at the end. A step that fails makes the row ``failed``."""
    began = time.monotonic()
    outcome = Outcome(asdict(versions), FAILED, time.strftime("%Y-%m-%dT%H:%MZ", time.gmtime()))
    scenario = versions.scenario(folder)
    try:
        with scenario.up():
            outcome.result = _refusal(scenario, outcome) if versions.refused else _round_trip(scenario, outcome, audit)
    except (ScenarioError, OSError, ValueError, KeyError) as error:
        outcome.result, outcome.text = FAILED, str(error)
    outcome.seconds = round(time.monotonic() - began, 1)
    return outcome


def _refusal(scenario: Scenario, outcome: Outcome) -> str:
    """`enable` must name the version and the remedy, and create no connector and no topic."""
    done = scenario.playbook("enable", {"kafka_dr_confirm": "P"}, expect=None)
    text = " ".join(done["output"].split())
    outcome.text = next((line.strip() for line in done["output"].splitlines() if TOO_OLD in line), text[-500:])[:500]
    return REFUSED if done["rc"] != 0 and TOO_OLD in text and done["changed"] == 0 else FAILED


def _round_trip(scenario: Scenario, outcome: Outcome, with_audit: bool) -> str:
    scenario.playbook("enable", {"kafka_dr_confirm": "P"})
    scenario.start()
    reports = {}
    for playbook, to in (("failover_cutoff", "B"), ("failback", "P")):
        scenario.traffic(300)
        reports[playbook] = scenario.move(playbook, to)
    scenario.traffic(300)
    scenario.playbook("readiness", {"kafka_dr_confirm": "B"}, expect=None)
    readiness = json.loads((scenario.reports / "readiness.json").read_text())
    audit = scenario.verify() if with_audit else None
    scenario.stop()
    counted = totals(scenario.check())

    outcome.limits = [
        f"{check['name']}: {check['found']}" for check in readiness["checks"] if check["answer"] in ("NO", "UNKNOWN")
    ]
    outcome.acknowledged = counted["acknowledged"]
    outcome.harm = {name: counted[name] for name in HARM}
    outcome.write_downtime_s = {name: scenario.downtime(report)["write_downtime_s"] for name, report in reports.items()}
    outcome.audit = audit["verdict"] if audit else ""
    faults = [fault for name, report in reports.items() for fault in _unproven(name, report)]
    faults += [f"{name}: {count}" for name, count in outcome.harm.items() if count]
    faults += [] if counted["acknowledged"] else ["no record was acknowledged"]
    if audit and audit["verdict"] != "PROVEN":
        faults.append(f"audit: {audit['verdict']}: {'; '.join(audit['text'])}")
    outcome.text = "; ".join(faults)
    return FAILED if faults else PASSED


def _unproven(name: str, report: dict[str, Any]) -> list[str]:
    verdicts = {check["name"]: check["verdict"] for check in report["checks"]}
    faults = [f"{name}: {one} is {verdicts.get(one)}" for one in PROVEN if verdicts.get(one) != "PROVEN"]
    faults += [] if report["outcome"] == "completed" else [f"{name}: {report['outcome']}"]
    return faults + ([] if report["rereads"] == 0 else [f"{name}: {report['rereads']} records were read again"])
