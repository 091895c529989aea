# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""R31: a controller that was frozen and superseded has no effect after it wakes up."""

from __future__ import annotations

import pytest

from frozen import Frozen, another_controller, undecided_run, wake
from kills import NO_RETURN
from scenario import Scenario, totals

pytestmark = pytest.mark.long

UNDOING = ": Accept either copy of the journal]"
MORE = [
    {"name": "Payments", "partitions": 12, "replication_factor": 1},
    {"name": "Orders", "partitions": 2, "replication_factor": 1},
]
WIDER = {"kafka_dr_topics": MORE}


def wakes_up_in_vain(scenario: Scenario, frozen: Frozen) -> str:
    """The first controller continues, exits with an error, and changes nothing."""
    rc, output, different = wake(scenario, frozen)
    assert different == []
    assert rc != 0, output[-2000:]
    return output


def lost(scenario: Scenario) -> dict[str, int]:
    """Run again under load, then count."""
    scenario.start()
    scenario.traffic(1000)
    scenario.stop()
    counted = totals(scenario.check())
    scenario.start()
    return {name: counted[name] for name in ("lost", "phantom")}


def test_a_controller_superseded_after_the_point_of_no_return_changes_nothing(enabled: Scenario) -> None:
    enabled.start()
    enabled.traffic(1000)
    frozen = Frozen(enabled, NO_RETURN, "failover_cutoff", {"kafka_dr_confirm": "B"})
    try:
        with another_controller(enabled):
            refused = enabled.playbook("failover_cutoff", {"kafka_dr_confirm": "B"}, expect=2)
            run = undecided_run(refused["output"])
            report = enabled.move("failover_cutoff", "B", kafka_dr_take_over=run)
            assert report["outcome"] == "completed"
            enabled.traffic(500)
            enabled.move("failback", "P")
            enabled.playbook("enable", {"kafka_dr_confirm": "P", **WIDER})
        output = wakes_up_in_vain(enabled, frozen)
    finally:
        frozen.end()
    assert "run_superseded" in output
    assert "makes no more changes" in " ".join(output.split())
    assert lost(enabled) == {"lost": 0, "phantom": 0}


def test_a_controller_superseded_during_its_undo_changes_nothing(enabled: Scenario) -> None:
    enabled.traffic(500)
    frozen = Frozen(enabled, UNDOING, "failover_cutoff", {**WIDER, "kafka_dr_confirm": "B", "kafka_dr_max_downtime": 1})
    try:
        with another_controller(enabled):
            refused = enabled.playbook("abandon", {**WIDER, "kafka_dr_confirm": "P"}, expect=2)
            run = undecided_run(refused["output"])
            enabled.playbook("abandon", {**WIDER, "kafka_dr_confirm": "P", "kafka_dr_take_over": run})
            enabled.traffic(500)
            assert enabled.move("failover_cutoff", "B", **WIDER)["outcome"] == "completed"
        wakes_up_in_vain(enabled, frozen)
    finally:
        frozen.end()
    assert lost(enabled) == {"lost": 0, "phantom": 0}
