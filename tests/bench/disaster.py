# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The downtime of applications when their cluster is killed under load while MirrorMaker 2 lags."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from hurts import hold_copies
from lab.lab import Lab
from scenario import Scenario

# Seconds from the loss to the command. No operator is faster, and MirrorMaker 2 has handled its own errors by then. The
# last round runs the command at once, when it has not.
ROUNDS = (20.0, 20.0, 20.0, 0.0)
RATE = 5000
# Seconds of records that B does not have.
LAG_SECONDS = 2
CLIENTS: list[dict[str, Any]] = [
    {"name": "payments-api", "role": "producer", "rate": RATE, "flush_seconds": 2, "max_in_flight": 20_000},
    {"name": "settlement", "role": "consumer", "group": "settlement"},
    # A group that has not read everything that B has: it shows when reading resumes, no matter which producer writes.
    {"name": "archive", "role": "consumer", "group": "archive", "process_ms": 0.3},
]


def measure(folder: Path, say: Callable[[str], None] = lambda text: None) -> list[dict[str, Any]]:
    """Medians, from the command: until the slow group has processed a record on B, and until one
    is acknowledged there.
    """
    pair = Scenario(folder, clients=CLIENTS, say=say)
    lab = Lab(pair.folder)
    seen: dict[str, list[float]] = {"read_restored_s": [], "consumers_started_s": [], "write_restored_s": []}
    seen.update({f"at_once.{name}": [] for name in list(seen)})
    with pair.up():
        pair.playbook("enable", {"kafka_dr_confirm": "P"})
        pair.start()
        for number, pause in enumerate(ROUNDS):
            _wait_acknowledged(pair, 10 * RATE)
            pair.playbook("reverse_checkpoint", {"kafka_dr_confirm": "B"})
            _lose(pair, lab)
            time.sleep(pause)
            began = time.time()
            report = pair.move("failover_disaster", "B")
            found = _restored(pair, report, began)
            for name, value in found.items():
                seen[name if pause else f"at_once.{name}"].append(value)
            say(f"disaster: round {number + 1}: " + ", ".join(f"{name} {value:.1f}" for name, value in found.items()))
            lab.start("P", "broker")
            lab.start("P", "connect")
            pair.wait(lambda: _enabled(pair), 90, "the sessions of P's killed consumers end")
            pair.move("failback", "P", kafka_dr_group_lag="reread")
    empty = {"baseline": None, "ratio": None}
    return [
        {"name": f"disaster.{name}", "value": statistics.median(values), "unit": "s", **empty}
        for name, values in seen.items()
    ]


def _enabled(pair: Scenario) -> bool:
    return bool(pair.playbook("enable", {"kafka_dr_confirm": "P"}, expect=None)["rc"] == 0)


def _wait_acknowledged(pair: Scenario, more: int) -> None:
    wanted = pair.count("acknowledged") + more
    pair.wait(lambda: pair.count("acknowledged") >= wanted, 180, f"{more} more records")


def _lose(pair: Scenario, lab: Lab) -> None:
    """P fails with everything on it while MirrorMaker 2 lags.

    It lags and is not paused: starting a connector beside a dead source blocks its worker for ten seconds, and no
    operator
    would do that.
    """
    copy = "P.Payments"
    hold_copies(lab, "B", copy, hold=True)
    _wait_acknowledged(pair, LAG_SECONDS * RATE)
    lab.kill("P", "broker")
    lab.kill("P", "connect")
    hold_copies(lab, "B", copy, hold=False)


def _restored(pair: Scenario, report: dict[str, Any], began: float) -> dict[str, float]:
    gaps = pair.check(began - LAG_SECONDS, time.time())["gaps"]
    phase = next(phase for phase in report["phases"] if phase["phase"] == "start_consumers")
    started = datetime.fromisoformat(phase["began"]).timestamp() + phase["seconds"]
    return {
        "read_restored_s": gaps["groups"]["archive"]["end"] / 1e6 - began,
        "consumers_started_s": started - began,
        "write_restored_s": gaps["acknowledged"]["end"] / 1e6 - began,
    }
