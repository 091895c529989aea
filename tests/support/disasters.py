# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clusters that are lost with everything on them, and recovered."""

from __future__ import annotations

from collections.abc import Callable

from brokers import admin, at_work
from lab.lab import Lab
from scenario import Scenario, ScenarioError
from workers import control_connector

PARTS = ("broker", "connect")
FLOW = "P->B.MirrorSourceConnector"


def pause(pair: Scenario, seconds: float, meanwhile: Callable[[Lab], None] = lambda lab: None, flow: str = FLOW) -> Lab:
    """MirrorMaker 2 stops for the records written in ``seconds`` (at 1,000 records/s), and continues."""
    lab = Lab(pair.folder)
    hold_back(pair, lab, flow, seconds)
    meanwhile(lab)
    control_connector(lab, flow, "resume")
    return lab


def hold_back(pair: Scenario, lab: Lab, connector: str, seconds: float) -> None:
    """Pause a connector until this many records were written on P, at 1,000 records/s. It stays paused."""
    control_connector(lab, connector, "pause")
    records = pair.count("acknowledged") + int(seconds * 1000)
    pair.wait(lambda: pair.count("acknowledged") >= records, 60, "records after the pause")


def lose(pair: Scenario, lag_seconds: float, alias: str = "P") -> Lab:
    """A cluster fails with everything on it, ``lag_seconds`` after MirrorMaker 2 has stopped replicating from it."""

    def die(lab: Lab) -> None:
        for part in PARTS:
            lab.kill(alias, part)

    return pause(pair, lag_seconds, die, FLOW if alias == "P" else "B->P.MirrorSourceConnector")


def give_back(pair: Scenario) -> None:
    """Start P again, salvage the records that it never sent, and enable the pair."""
    forgotten(pair)
    into = {
        "kafka_dr_salvage": "replay",
        "kafka_dr_salvage_into": "original",
        "kafka_dr_confirm": "B",
        # The ledger's keys repeat, and the newest record of a key does not matter to it.
        "kafka_dr_accept_newer_keys": ["Payments"],
    }
    pair.playbook("salvage", into)
    accepted = {"kafka_dr_accept_tail": ["Payments"]} if pair.policy == "identity" else {}
    pair.playbook("enable", {"kafka_dr_confirm": "P", **accepted})


def forgotten(pair: Scenario, alias: str = "P") -> None:
    """Wait until a cluster removes the consumers that died with it, when their session ends.

    A broker of Kafka 4.3.1 may keep them for ever, if it becomes leader again while it loads its groups ("Ignored load
    completion" in its log). Then it is restarted, as an operator would.
    """
    lab = Lab(pair.folder)

    def left() -> bool:
        return not at_work(admin(lab, alias))

    what = f"the members of {alias}'s groups that died with it have left"
    try:
        pair.wait(left, 90, what)
    except ScenarioError:
        lab.kill(alias, "broker")
        lab.start(alias, "broker")
        pair.wait(left, 300, f"{what}, after a restart")


def rename(pair: Scenario, old: str, new: str) -> None:
    """Write the new id of the cluster P to the inventory."""
    for path in pair.inventory.rglob("*.yml"):
        path.write_text(path.read_text().replace(old, new))
