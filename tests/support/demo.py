# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""make demo: a failover and a failback under load, counted record by record.

``--engine srm``: through Streams Replication Manager, as emulators of Cloudera Manager and srm-control show it.
KAFKA_DR_DEMO_KEEP=1 leaves the lab running to look around.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from typing import Any

from scenario import ROOT, Scenario, ScenarioError, totals

RATE = 1000
ENGINES = {"connect": "MirrorMaker 2", "srm": "Streams Replication Manager"}
REPORT = ROOT / "build" / "demo" / "report.json"


def main() -> int:
    """Run the demo; 0 when nothing was lost or processed twice, 1 when something was, 2 when it could not be told."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--engine", choices=list(ENGINES), default="connect")
    engine = options.parse_args().engine
    REPORT.unlink(missing_ok=True)
    scenario = Scenario(ROOT / "build" / "demo" / "lab", clients=_clients(), engine=engine, say=say)
    try:
        report = round_trip(scenario)
    except ScenarioError as error:
        say(f"The demo could not finish: {error}")
        return 2
    finally:
        if os.environ.get("KAFKA_DR_DEMO_KEEP"):
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


def round_trip(scenario: Scenario) -> dict[str, Any]:
    """Enable, load, failover, load, failback, load; then compare the ledgers."""
    scenario.lab_up()
    say(f"enable: topics on both clusters, {ENGINES[scenario.engine]} in both directions")
    scenario.playbook("enable", {"kafka_dr_confirm": "P"})
    say(f"applications: one producer with {RATE} records/s and two consumer groups start on P")
    scenario.start()
    runs = {}
    for name, playbook, to in (("failover", "failover_cutoff", "B"), ("failback", "failback", "P")):
        scenario.traffic(RATE * 3)
        say(f"{name}: the applications move to {to} by a cutoff")
        runs[name] = scenario.move(playbook, to)
    scenario.traffic(RATE * 3)
    say("applications stop; the ledgers are compared")
    scenario.stop()
    return _report(scenario, runs)


def _report(scenario: Scenario, runs: dict[str, Any]) -> dict[str, Any]:
    check = scenario.check()
    records = totals(check)
    clean = check["verdict"] == "clean"
    harmed = records["lost"] + records["processed_twice"] + records["phantom"] + records["out_of_order"]
    verdict = "PROVEN" if clean and not harmed else "REFUTED" if check["verdict"] != "unknown" else "UNKNOWN"
    legs = {name: {**scenario.downtime(run), **_leg(run)} for name, run in runs.items()}
    phases = [{"run": name, **phase} for name, run in runs.items() for phase in run["phases"]]
    return {
        "schema": "switchback.kafka_dr/demo/1",
        "verdict": verdict,
        "records": records,
        **legs,
        "phases": phases,
        "ledgers": check,
    }


def _leg(run: dict[str, Any]) -> dict[str, Any]:
    kept = (
        "type",
        "from",
        "to",
        "run",
        "outcome",
        "verdict",
        "checks",
        "not_checked",
        "rereads",
        "seconds",
        "playbook_s",
    )
    return {key: run[key] for key in kept}


def account(report: dict[str, Any]) -> None:
    """A short, readable account."""
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
        for phase in (phase for phase in report["phases"] if phase["run"] == name):
            say(f"    {phase['phase']:<16}{phase['seconds']:>7.1f} s")
    say(f"{report['verdict']}: by the ledgers of producer and consumers. Report: {REPORT.relative_to(ROOT)}")


_BEGAN = time.monotonic()


def say(text: str) -> None:
    """One line with the seconds since the start."""
    print(f"[{time.monotonic() - _BEGAN:6.1f} s] {text}" if text else "", flush=True)


if __name__ == "__main__":
    sys.exit(main())
