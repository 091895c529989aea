# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cost of a disaster that readiness predicts, compared with the real cost: P fails as soon as the observation ends.

The producer is frozen during the observation, which takes seconds while a flow does not advance. The records that it
would write meanwhile are not part of the measurement.
"""

from __future__ import annotations

import json
import os
import random
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.modules import dr_readiness
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module
from ansible_collections.switchback.kafka_dr.tests.support.pairs import as_pair
from disasters import PARTS, give_back, hold_back
from lab.lab import Lab
from scenario import Scenario
from snapshot import read_inventory

pytestmark = pytest.mark.long

RATE = 1000
CLIENTS = [
    {"name": "payments-api", "role": "producer", "rate": RATE, "flush_seconds": 2},
    {"name": "settlement", "role": "consumer", "group": "settlement"},
    {"name": "fraud", "role": "consumer", "group": "fraud"},
]
GROUPS = ["settlement", "fraud"]
# A prediction may be off by this many seconds of traffic, or by a tenth.
SECONDS = 2.0
ROUNDS = int(os.environ.get("KAFKA_DR_DISASTERS", "10"))


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    """Under load on P."""
    with Scenario(tmp_path_factory.mktemp("pair"), clients=CLIENTS).up() as made:
        made.playbook("enable", {"kafka_dr_confirm": "P"})
        made.start()
        made.traffic(2000)
        yield made


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("number", range(ROUNDS))
def test_a_disaster_costs_as_much_as_readiness_predicted(pair: Scenario, number: int) -> None:
    draw = random.Random(f"{os.environ['KAFKA_DR_SEED']} {number}")
    # The offsets on B are as old as the schedule that commits them happened to leave them.
    pair.playbook("reverse_checkpoint", {"kafka_dr_confirm": "B"})
    pair.traffic(draw.randrange(500, 8000))
    twice = doubled(pair)
    lab, predicted = lose_while_lagging(pair, draw.uniform(0.5, 6.0), draw.uniform(0.5, 6.0))
    report = pair.move("failover_disaster", "B")
    assert report["outcome"] == "completed"
    pair.traffic(1000)
    again = {group: count - twice[group] for group, count in doubled(pair).items()}

    for part in PARTS:
        lab.start("P", part)
    pair.playbook("salvage")
    lost = json.loads((pair.reports / "salvage-list.json").read_text())["records"]
    reported, rereads = predicted["unreplicated"], predicted["rereads"]["disaster"]
    print(
        f"disaster {number}: lost {lost}, said {reported['at_least']} to {reported['at_most']};"
        f" re-read {again} of {rereads}"
    )
    give_back(pair)
    assert pair.move("failback", "P")["outcome"] == "completed"
    pair.traffic(1000)

    assert reported["at_most"] - reported["at_least"] <= allowed(reported["at_most"])
    assert reported["at_least"] <= lost <= reported["at_most"] + allowed(lost)
    for group in GROUPS:
        assert again[group] <= rereads[group] + allowed(again[group]), group


def allowed(records: int) -> float:
    return max(0.1 * records, SECONDS * RATE)


def doubled(pair: Scenario) -> dict[str, int]:
    """The records that each group has processed more than once so far."""
    groups = pair.check()["groups"]
    return {group: groups[group]["processed_twice"] for group in GROUPS}


def lose_while_lagging(pair: Scenario, unknown: float, unreplicated: float) -> tuple[Lab, dict[str, Any]]:
    """MirrorMaker 2 first syncs no offsets, then replicates nothing.

    Return the prediction of readiness. Then P is lost.
    """
    lab = Lab(pair.folder, quiet=True)
    for part, seconds in (("Checkpoint", unknown), ("Source", unreplicated)):
        hold_back(pair, lab, f"P->B.Mirror{part}Connector", seconds)
    params = {
        "clusters": read_inventory(pair.inventory)["kafka_dr_clusters"],
        "topics": ["Payments"],
        "groups": GROUPS,
        "home": "P",
        "pair": "B-P",
        "history": False,
    }
    writer = json.loads(pair.ledger("status", "payments-api"))["pid"]
    os.kill(writer, signal.SIGSTOP)
    try:
        result = run_module(dr_readiness, as_pair(params))
        assert result["rc"] == 0, result["msg"]
        for part in PARTS:
            lab.kill("P", part)
    finally:
        os.kill(writer, signal.SIGCONT)
    found: dict[str, Any] = result["readiness"]
    return lab, found
