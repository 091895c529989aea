# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cost of `enable` on an enabled pair with the engine srm: three runs, the median."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

from managers import sites
from scenario import Scenario

ROUNDS = 3


def measure(folder: Path, say: Callable[[str], None] = lambda text: None) -> list[dict[str, Any]]:
    """The seconds of the whole playbook, and the requests to the busier Cloudera Manager."""
    clients = [{"name": name, "role": "consumer", "group": name} for name in ("settlement", "fraud")]
    pair = Scenario(folder, clients=clients, engine="srm", say=say)
    seconds, requests = [], []
    with pair.up():
        pair.playbook("enable", {"kafka_dr_confirm": "P"})
        for number in range(ROUNDS):
            for site in sites(pair).values():
                site.forget()
            done = pair.playbook("enable", {"kafka_dr_confirm": "P"})
            if done["changed"]:
                raise RuntimeError(f"enable changed something again; see {done['log']}")
            seconds.append(done["seconds"])
            requests.append(max(len(site.requests()) for site in sites(pair).values()))
            say(f"srm: round {number + 1}: {done['seconds']:.1f} s, {requests[-1]} requests")
    rows = {"seconds": (statistics.median(seconds), "s"), "requests": (max(requests), "")}
    empty = {"baseline": None, "ratio": None}
    return [
        {"name": f"srm.enable_noop.{name}", "value": value, "unit": unit, **empty}
        for name, (value, unit) in rows.items()
    ]
