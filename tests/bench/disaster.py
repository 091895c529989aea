# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long applications stand still when their side is killed under load with MirrorMaker 2 behind."""

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

# Seconds from the loss to the command: nobody is faster, and MirrorMaker 2 is done with its own shock by then. The last
# round asks at once, when it is not.
ROUNDS = (20.0, 20.0, 20.0, 0.0)
RATE = 5000
# Seconds of records that B does not have.
BEHIND = 2
CLIENTS = [
    {"name": "payments-api", "role": "producer", "rate": RATE, "flush_seconds": 2, "max_in_flight": 20_000},
    {"name": "settlement", "role": "consumer", "group": "settlement"},
    # Has not read everything that B has: it tells when reading goes on, whoever writes.
    {"name": "archive", "role": "consumer", "group": "archive", "process_ms": 0.3},
]


def measure(folder: Path, say: Callable[[str], None] = lambda text: None) -> list[dict[str, Any]]:
    """Medians, from the command: until the slow group has processed a record on B, and one is acknowledged there."""
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
            pair.playbook("enable", {"kafka_dr_confirm": "P"})
            pair.move("failback", "P", kafka_dr_group_lag="reread")
    empty = {"baseline": None, "ratio": None}
    return [
        {"name": f"disaster.{name}", "value": statistics.median(values), "unit": "s", **empty}
        for name, values in seen.items()
    ]


def _wait_acknowledged(pair: Scenario, more: int) -> None:
    wanted = pair.count("acknowledged") + more
    pair.wait(lambda: pair.count("acknowledged") >= wanted, 180, f"{more} more records")


def _lose(pair: Scenario, lab: Lab) -> None:
    """P dies with everything on it, while MirrorMaker 2 is behind.

    Behind, not paused: a connector that is started beside a dead source holds its worker up for ten seconds, and no
    operator would do that.
    """
    copy = "P.Payments"
    hold_copies(lab, "B", copy, hold=True)
    _wait_acknowledged(pair, BEHIND * RATE)
    lab.kill("P", "broker")
    lab.kill("P", "connect")
    hold_copies(lab, "B", copy, hold=False)


def _restored(pair: Scenario, report: dict[str, Any], began: float) -> dict[str, float]:
    gaps = pair.check(began - BEHIND, time.time())["gaps"]
    phase = next(phase for phase in report["phases"] if phase["phase"] == "start_consumers")
    started = datetime.fromisoformat(phase["began"]).timestamp() + phase["seconds"]
    return {
        "read_restored_s": gaps["groups"]["archive"]["end"] / 1e6 - began,
        "consumers_started_s": started - began,
        "write_restored_s": gaps["acknowledged"]["end"] / 1e6 - began,
    }
