# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The downtime of applications in cutovers by engine: what a flow costs that is not stopped through REST.

The same applications move three times there and back with each engine, one engine after the other. The baseline is the
engine ``connect`` of the same run. The engines but ``connect`` work on emulators, which drive real MirrorMaker 2.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kube_apiserver import missing
from scenario import Scenario, ScenarioError

ENGINES = ("connect", "strimzi", "srm", "aiven")
RATE, ROUNDS = 1000, 3
GROUPS = ("settlement", "fraud")


def measure(folder: Path, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """The medians over the cutoffs and over the failbacks of each engine."""
    lacking = missing()
    if lacking:
        say(f"engines: strimzi is left out: {lacking}")
    engines = [engine for engine in ENGINES if engine != "strimzi" or not lacking]
    figures = {engine: _downtimes(folder / engine, engine, say) for engine in engines}
    return [
        {
            "name": f"engines.{engine}.{name}",
            "value": round(value, 3),
            "unit": "s",
            "baseline": round(figures["connect"][name], 3),
            "ratio": round(value / figures["connect"][name], 3),
        }
        for engine, found in figures.items()
        for name, value in found.items()
    ]


def _known(seconds: float | None, kind: str) -> float:
    if seconds is None:
        raise ScenarioError(f"The {kind} of a move is unknown.")
    return seconds


def _downtimes(folder: Path, engine: str, say: Callable[[str], None]) -> dict[str, float]:
    clients = [{"name": "payments-api", "role": "producer", "rate": RATE}]
    clients += [{"name": group, "role": "consumer", "group": group} for group in GROUPS]
    scenario = Scenario(folder, clients=clients, engine=engine, say=say)
    reports: dict[str, list[dict[str, Any]]] = {"cutoff": [], "failback": []}
    with scenario.up():
        scenario.playbook("enable", {"kafka_dr_confirm": "P"})
        scenario.start()
        for number in range(1, ROUNDS + 1):
            for name, playbook, to in (("cutoff", "failover_cutoff", "B"), ("failback", "failback", "P")):
                scenario.traffic(RATE * 5)
                reports[name].append(scenario.move(playbook, to))
            scenario.traffic(RATE * 5)
            say(f"engines: {engine}: round {number} of {ROUNDS} is done")
        scenario.stop()
        scenario.require_unharmed()
        return {
            f"{name}.{kind}": statistics.median(_known(scenario.downtime(report)[kind], kind) for report in moves)
            for name, moves in reports.items()
            for kind in ("write_downtime_s", "read_downtime_s")
        }
