# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The downtime of applications in a cutoff failover under load, by phase.

A producer at 5,000 records/s on 12 partitions, three consumer groups. Write downtime is the longest time between two
acknowledgements, read downtime the longest time in which a group processed no record: both from the ledgers. The
baseline is the vendors' waiting rule, 240 s.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scenario import Scenario, ScenarioError, totals

RATE = 5000
VENDOR_RULE_S = 240.0
GROUPS = ("settlement", "fraud", "archive")


def measure(folder: Path, say: Callable[[str], None], rounds: int = 3) -> list[dict[str, Any]]:
    """The medians over ``rounds`` failovers, each followed by a failback."""
    clients = [{"name": "payments-api", "role": "producer", "rate": RATE}]
    clients += [{"name": group, "role": "consumer", "group": group} for group in GROUPS]
    scenario = Scenario(folder, clients=clients, say=say)
    with scenario.up():
        runs = _rounds(scenario, rounds)
    return _figures(runs)


def _rounds(scenario: Scenario, rounds: int) -> list[dict[str, Any]]:
    scenario.playbook("enable", {"kafka_dr_confirm": "P"})
    scenario.start()
    runs = []
    for number in range(1, rounds + 1):
        scenario.traffic(RATE * 5)
        runs.append(scenario.move("failover_cutoff", "B"))
        scenario.traffic(RATE * 5)
        scenario.move("failback", "P")
        scenario.say(f"cutoff: round {number} of {rounds} is done")
    scenario.stop()
    counted = totals(scenario.check())
    if counted["lost"] or counted["processed_twice"] or counted["out_of_order"]:
        raise ScenarioError(f"The figures do not count, records were harmed: {counted}")
    return [{**run, **scenario.downtime(run)} for run in runs]


def _figures(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    rows = [
        _row(f"cutoff.{name}", statistics.median(run[name] for run in runs), VENDOR_RULE_S)
        for name in ("write_downtime_s", "read_downtime_s")
    ]
    rows.append(_row("cutoff.write_downtime_worst_s", max(run["write_downtime_s"] for run in runs), VENDOR_RULE_S))
    for index, phase in enumerate(runs[0]["phases"]):
        seconds = statistics.median(run["phases"][index]["seconds"] for run in runs)
        rows.append(_row(f"cutoff.phase.{phase['phase']}", seconds, None))
    return rows


def _row(name: str, value: float, baseline: float | None) -> dict[str, Any]:
    ratio = None if baseline is None else round(value / baseline, 3)
    return {"name": name, "value": round(value, 3), "unit": "s", "baseline": baseline, "ratio": ratio}
