# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The downtime of applications in a failover under load, by phase, and the least that a cutoff can cost.

A producer at 5,000 records/s on 12 partitions, three consumer groups. Write downtime is the longest time between two
acknowledgements, read downtime the longest time in which a group processed no record: both from the ledgers. The
product and the limit (limit.py) move the same applications by turns. The baseline of the downtimes is the vendors'
waiting rule, 240 s.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from limit import PHASES, Limit

from scenario import Scenario

RATE = 5000
VENDOR_RULE_S = 240.0
GROUPS = ("settlement", "fraud", "archive")


def measure(folder: Path, say: Callable[[str], None], rounds: int = 5) -> list[dict[str, Any]]:
    """The medians over ``rounds`` failovers of each type and of the limit, each followed by a failback."""
    clients = [{"name": "payments-api", "role": "producer", "rate": RATE}]
    clients += [{"name": group, "role": "consumer", "group": group} for group in GROUPS]
    scenario = Scenario(folder, clients=clients, say=say)
    with scenario.up():
        return _figures(_rounds(scenario, rounds))


def _rounds(scenario: Scenario, rounds: int) -> dict[str, list[dict[str, Any]]]:
    scenario.playbook("enable", {"kafka_dr_confirm": "P"})
    scenario.start()
    limit = Limit(scenario, json.loads((scenario.folder / "lab.json").read_text())["clusters"], GROUPS)
    runs: dict[str, list[dict[str, Any]]] = {"cutoff": [], "continuous": [], "limit": []}
    for number in range(1, rounds + 1):
        for kind in ("cutoff", "continuous"):
            scenario.traffic(RATE * 5)
            runs[kind].append(scenario.move(f"failover_{kind}", "B"))
            limit.remember_endpoints("B")
            scenario.traffic(RATE * 5)
            scenario.move("failback", "P")
            limit.remember_endpoints("P")
        scenario.traffic(RATE * 5)
        began = _now()
        phases = limit.move("P", "B")
        # Until the groups work again.
        scenario.traffic(RATE * 5)
        runs["limit"].append({"began": began, "ended": _now(), "phases": phases})
        limit.move("B", "P")
        scenario.say(f"cutoff: round {number} of {rounds} is done")
    scenario.stop()
    scenario.require_unharmed()
    return {kind: [{**run, **scenario.downtime(run)} for run in of_kind] for kind, of_kind in runs.items()}


def _now() -> str:
    return datetime.now(tz=UTC).isoformat()


def _figures(measured: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    rows, runs, limits = [], measured["cutoff"], measured["limit"]
    for name in ("write_downtime_s", "read_downtime_s"):
        ours, least = (statistics.median(run[name] for run in side) for side in (runs, limits))
        rows += [_row(f"cutoff.{name}", ours, VENDOR_RULE_S), _row(f"cutoff.limit.{name}", least, VENDOR_RULE_S)]
        followed = statistics.median(run[name] for run in measured["continuous"])
        rows.append(_row(f"continuous.{name}", followed, VENDOR_RULE_S))
        if name == "write_downtime_s":
            rows.append({**_row("cutoff.ratio_to_limit", ours, least), "value": round(ours / least, 3), "unit": "1"})
    rows.append(_row("cutoff.write_downtime_worst_s", max(run["write_downtime_s"] for run in runs), VENDOR_RULE_S))
    for index, phase in enumerate(runs[0]["phases"]):
        seconds = statistics.median(run["phases"][index]["seconds"] for run in runs)
        rows.append(_row(f"cutoff.phase.{phase['phase']}", seconds, None))
    for phase_name in PHASES:
        seconds = statistics.median(run["phases"][phase_name] for run in limits)
        rows.append(_row(f"cutoff.limit.phase.{phase_name}", seconds, None))
    return rows


def _row(name: str, value: float, baseline: float | None) -> dict[str, Any]:
    ratio = None if baseline is None else round(value / baseline, 3)
    return {"name": name, "value": round(value, 3), "unit": "s", "baseline": baseline, "ratio": ratio}
