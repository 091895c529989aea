# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""make demo: a failover and a failback under load, counted record by record.

The lab is secured: each account has the rights that the playbook ``rights`` lists, so both moves prove their fence too.
``--tamper``: flip one bit of one record in a replica, which the audit must find.
``--engine srm``: use Streams Replication Manager, through emulators of Cloudera Manager and srm-control.
``--engine aiven``: use a managed MirrorMaker 2, through an emulator of Aiven's API.
``--engine strimzi``: use KafkaConnector resources of a real API server, and emulators of the operator.
KAFKA_DR_DEMO_KEEP=1 keeps the lab running for inspection, except with the engine strimzi: lab_down would not stop the
API server.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import ending
from scenario import ROOT, Scenario, ScenarioError, totals
from tamper import flip

sys.path.append(str(ROOT / "roles" / "lab" / "files"))

from lab.lab import Lab

RATE = 1000
ENGINES = {
    "aiven": "MirrorMaker 2 through Aiven's API",
    "connect": "MirrorMaker 2",
    "srm": "Streams Replication Manager",
    "strimzi": "MirrorMaker 2 through resources of Kubernetes",
}
OPERATOR = "dr-mover"
ACCOUNTS = {
    "operator": f"User:{OPERATOR}",
    "flow": "User:flow",
    "workers": {"P": "connect-P", "B": "connect-B"},
}
REPORT = ROOT / "build" / "demo" / "report.json"


def main() -> int:
    """Run the demo. Return 0 if everything is proven, 1 if something is wrong, 2 if the result is unknown."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--engine", choices=list(ENGINES), default="connect")
    options.add_argument("--tamper", action="store_true", help="turn one bit of a replica: must be REFUTED")
    given = options.parse_args()
    engine = given.engine
    REPORT.unlink(missing_ok=True)
    scenario = Scenario(
        ROOT / "build" / "demo" / "lab",
        clients=_clients(),
        engine=engine,
        secure=engine == "connect",
        console=True,
        say=say,
    )
    try:
        report = round_trip(scenario, given.tamper)
    except ScenarioError as error:
        say(f"The demo could not finish: {error}")
        return 2
    finally:
        if os.environ.get("KAFKA_DR_DEMO_KEEP") and not scenario.kubernetes:
            say(f"The lab keeps running. Inventory: {scenario.inventory}")
            say(f"Stop it: ansible-playbook switchback.kafka_dr.lab_down -e lab_dir={scenario.folder}")
        else:
            scenario.lab_down()
    REPORT.write_text(json.dumps(report, indent=2) + "\n")
    account(report)
    return {"PROVEN": 0, "REFUTED": 1}.get(report["verdict"], 2)


def _clients() -> list[dict[str, Any]]:
    return [
        {"name": "payments-api", "role": "producer", "rate": RATE},
        {"name": "settlement", "role": "consumer", "group": "settlement"},
        {"name": "fraud", "role": "consumer", "group": "fraud"},
    ]


def round_trip(scenario: Scenario, tamper: bool = False) -> dict[str, Any]:
    """Enable, load, failover, load, failback, load. Then compare both clusters and the ledgers."""
    scenario.lab_up()
    say(f"enable: topics on both clusters, {ENGINES[scenario.engine]} in both directions")
    scenario.playbook("enable", {"kafka_dr_confirm": "P"})
    if scenario.secure:
        say(f"rights: the account {OPERATOR} gets exactly the rights of the list, and runs everything from now on")
        scenario.playbook("rights", {"kafka_dr_confirm": "P", "kafka_dr_accounts": ACCOUNTS})
        scenario.variables = scenario.login(OPERATOR)
    say(f"applications: one producer with {RATE} records/s and two consumer groups start on P")
    scenario.start()
    runs = {}
    for name, playbook, to in (("failover", "failover_cutoff", "B"), ("failback", "failback", "P")):
        scenario.traffic(RATE * 3)
        say(f"{name}: the applications move to {to} by a cutoff, then Spark compares both sides record by record")
        runs[name] = scenario.move(playbook, to, kafka_dr_audit=True)
    audit: dict[str, Any] = runs["failback"]["audit"]
    scenario.traffic(RATE * 3)
    if tamper:
        _tamper(scenario)
        say("verify: Spark compares both sides again")
        audit = scenario.verify()
    say("applications stop; the ledgers are compared")
    scenario.stop()
    return _report(scenario, runs, audit)


def _tamper(scenario: Scenario) -> None:
    """Flip a bit on the disk of B's broker, the passive cluster: offsets, counts and checksums stay valid."""
    lab = Lab(scenario.folder)
    lab.stop("B", "broker")
    segment = scenario.folder / "B" / "data" / "P.Payments-3" / f"{0:020d}.log"
    offset = flip(segment)
    lab.start("B", "broker")
    say(f"one bit is turned over on B's disk: P.Payments-3, offset {offset}")


def _report(scenario: Scenario, runs: dict[str, Any], audit: dict[str, Any]) -> dict[str, Any]:
    check = scenario.check()
    records = totals(check)
    clean = check["verdict"] == "clean"
    harmed = records["lost"] + records["processed_twice"] + records["phantom"] + records["out_of_order"]
    ledgers = "PROVEN" if clean and not harmed else "REFUTED" if check["verdict"] != "unknown" else "UNKNOWN"
    # Without an authorizer, a move has no fence and is UNKNOWN as a whole.
    moves = [run["verdict"] for run in runs.values()] if scenario.secure else []
    verdict = combine([ledgers, audit["verdict"], *moves])
    legs = {name: {**scenario.downtime(run), **_leg(run)} for name, run in runs.items()}
    phases = [{"run": name, **phase} for name, run in runs.items() for phase in run["phases"]]
    return {
        "schema": "switchback.kafka_dr/demo/1",
        "verdict": verdict,
        "records": records,
        "audit": {key: audit[key] for key in ("verdict", "records", "text", "seconds", "not_checked")},
        **legs,
        "phases": phases,
        "ledgers": check,
    }


def combine(verdicts: list[str]) -> str:
    """REFUTED if one part is, and PROVEN only if all parts are."""
    return "REFUTED" if "REFUTED" in verdicts else "PROVEN" if set(verdicts) == {"PROVEN"} else "UNKNOWN"


def _leg(run: dict[str, Any]) -> dict[str, Any]:
    kept = (
        "type",
        "from",
        "to",
        "run",
        "outcome",
        "verdict",
        "headline",
        "evidence",
        "checks",
        "not_checked",
        "rereads",
        "seconds",
        "playbook_s",
    )
    return {key: run[key] for key in kept}


def account(report: dict[str, Any]) -> None:
    """A short, readable summary."""
    records = report["records"]
    say("")
    say(f"acknowledged by Kafka     {records['acknowledged']:>9}")
    say(f"processed                 {records['processed']:>9}   by {records['groups']} groups together")
    say(f"lost                      {records['lost']:>9}")
    say(f"processed twice           {records['processed_twice']:>9}")
    say(f"out of order              {records['out_of_order']:>9}")
    say(f"unknown (in flight)       {records['unknown']:>9}")
    for name in ("failover", "failback"):
        leg = report[name]
        say(
            f"{name} {leg['from']} -> {leg['to']}: no writes for {leg['write_downtime_s']} s,"
            f" no reads for {leg['read_downtime_s']} s (the vendors' rule waits 240 s)"
        )
        say(f"    evidence: {leg['evidence']['text']}")
    page = scenario_page().relative_to(ROOT)
    say(f"{report['verdict']}: by the ledgers of producer and consumers, and by the audit ({page})")
    say(f"Report: {REPORT.relative_to(ROOT)}")


def scenario_page() -> Path:
    """The audit's page for people."""
    return ROOT / "build" / "demo" / "lab" / "reports" / "audit" / "audit.html"


_BEGAN = time.monotonic()


def say(text: str) -> None:
    """Print one line with the seconds since the start."""
    print(f"[{time.monotonic() - _BEGAN:6.1f} s] {text}" if text else "", flush=True)


if __name__ == "__main__":
    ending.run(main)
