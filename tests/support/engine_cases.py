# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What every engine does alike, as classes of tests that the file of each engine inherits.

A file has one pair, and each test continues where the one before ended: ``EnableCases``, ``MoveCases`` and ``EndCases``
in this order, with tests of its own between them.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from disasters import forgotten
from kills import kill_in_phase
from lab.lab import Lab
from lagging import slow
from scenario import Scenario, totals

__all__ = ["CLIENTS", "EnableCases", "EndCases", "EngineStore", "MoveCases", "counted", "harmless"]

CLIENTS = [
    {"name": "payments-api", "role": "producer", "rate": 500},
    {"name": "settlement", "role": "consumer", "group": "settlement"},
    {"name": "fraud", "role": "consumer", "group": "fraud"},
]
PROVEN = ("drained", "committed_offsets", "first_write", "groups")


class EngineStore:
    """Where an engine keeps the flows of ``pair``, as its administrator sees it."""

    #: What the difference of the first enable shows.
    shown: str
    #: What a lost cluster takes along, besides its broker and its worker.
    own_parts: tuple[str, ...] = ()

    def __init__(self, pair: Scenario) -> None:
        self.pair = pair

    def state(self, alias: str) -> Any:
        """Return what the playbooks may write for the flow to a cluster."""
        raise NotImplementedError

    def states(self) -> dict[str, Any]:
        return {alias: self.state(alias) for alias in "PB"}

    def runs(self, alias: str) -> bool:
        """Does the flow to a cluster run?"""
        raise NotImplementedError

    def empty(self) -> bool:
        """Is neither flow there any more?"""
        raise NotImplementedError

    def forget(self) -> None:
        """Begin to count requests."""

    def writes(self) -> list[Any]:
        """Return the requests since ``forget`` that may have changed something."""
        return []


def counted(pair: Scenario) -> dict[str, int]:
    """Stop the applications, compare their ledgers, and start them again."""
    pair.stop()
    found = totals(pair.check())
    pair.start()
    return found


def harmless(found: dict[str, int], rereads: int) -> None:
    harm = {key: found[key] for key in ("lost", "phantom", "unknown")}
    assert harm == dict.fromkeys(harm, 0)
    assert found["processed_twice"] <= rereads


class EnableCases:
    """From a pair before any configuration to running applications."""

    def test_check_mode_shows_what_enable_would_write_and_writes_nothing(
        self, pair: Scenario, store: EngineStore
    ) -> None:
        before = store.states()
        store.forget()
        done = pair.playbook("enable", {"kafka_dr_confirm": "P"}, ("--check", "--diff"))
        assert (store.writes(), store.states()) == ([], before)
        assert store.shown in done["output"]
        assert done["changed"] > 0

    def test_enable_makes_flows_that_replicate(self, pair: Scenario, store: EngineStore) -> None:
        pair.playbook("enable", {"kafka_dr_confirm": "P"})
        assert store.runs("B")
        pair.start()
        pair.traffic(1000)

    def test_enabling_again_changes_nothing(self, pair: Scenario, store: EngineStore) -> None:
        before = store.states()
        store.forget()
        done = pair.playbook("enable", {"kafka_dr_confirm": "P"})
        assert (done["changed"], store.writes(), store.states()) == (0, [], before)


class MoveCases:
    """Moves of a running pair, there and back."""

    def test_a_lagging_group_moves_there_and_back(self, pair: Scenario) -> None:
        """No record is skipped or read again, although the group has read half of them."""
        slow(pair, "settlement", 50)
        reports: list[dict[str, Any]] = []
        for playbook, to in (("failover_cutoff", "B"), ("failback", "P")):
            self.lags(pair, 2000 + 2000 * len(reports))
            reports.append(pair.move(playbook, to, kafka_dr_drain_groups_timeout=1))
            self.moved(pair, reports[-1])
        slow(pair, "settlement", None)
        pair.wait(lambda: pair.count("acknowledged") - pair.slowest_reader() < 1500, 240, "it catches up")
        for report in reports:
            verdicts = {check["name"]: check["verdict"] for check in report["checks"]}
            assert {verdicts[name] for name in PROVEN} == {"PROVEN"}
            assert report["rereads"] == 0
            assert report["found_offsets"]["higher"] == 0
            print(f"to {report['to']}: {pair.downtime(report)}, playbook {report['playbook_s']} s")
        harmless(counted(pair), 0)

    def lags(self, pair: Scenario, records: int) -> None:
        pair.wait(lambda: pair.count("acknowledged") - pair.slowest_reader() > records, 120, "the group lags")

    def moved(self, pair: Scenario, report: dict[str, Any]) -> None:
        """What an engine shows after a move."""

    @pytest.mark.long
    def test_offsets_are_presynced_on_the_other_cluster(self, pair: Scenario) -> None:
        pair.traffic(500)
        pair.playbook("reverse_checkpoint", {"kafka_dr_confirm": "B"})
        report = json.loads((pair.reports / "checkpoint-B.json").read_text())
        assert report["outcome"] == "done"
        assert {row["quality"] for row in report["committed_offsets"]} == {"exact"}

    @pytest.mark.long
    def test_a_continuous_move_there_and_back(self, pair: Scenario) -> None:
        reports: list[dict[str, Any]] = []
        for playbook, to in (("failover_continuous", "B"), ("failback", "P")):
            pair.traffic(1000)
            reports.append(pair.move(playbook, to, **({"kafka_dr_type": "continuous"} if to == "P" else {})))
            assert reports[-1]["outcome"] == "completed"
        pair.traffic(1000)
        harmless(counted(pair), sum(report["rereads"] for report in reports))

    @pytest.mark.long
    @pytest.mark.parametrize("phase", ["barrier", "commit_offsets"])
    def test_a_run_that_was_killed_resumes(self, pair: Scenario, phase: str) -> None:
        pair.traffic(500)
        kill_in_phase(pair, phase, "B")
        assert pair.move("failover_cutoff", "B")["outcome"] == "completed"
        pair.traffic(500)
        assert pair.move("failback", "P")["outcome"] == "completed"
        pair.traffic(500)
        harmless(counted(pair), 0)


class EndCases:
    """A lost cluster, and the end of the pair."""

    @pytest.mark.long
    def test_a_lost_cluster_is_left_and_comes_back_with_its_unreplicated_records(
        self, pair: Scenario, store: EngineStore
    ) -> None:
        """P and what runs its flow do not respond. When they are back, the flow replicates the tail itself."""
        pair.traffic(500)
        lab, before = Lab(pair.folder), store.state("B")
        parts = (*store.own_parts, "connect", "broker")
        for part in parts:
            lab.kill("P", part)
        shown = pair.playbook("failover_disaster", {"kafka_dr_confirm": "B"}, options=("--check",))
        assert "may be lost" in shown["output"] or "at least" in shown["output"]
        assert store.state("B") == before
        report = pair.move("failover_disaster", "B")
        assert (report["outcome"], report["verdict"]) == ("completed", "UNKNOWN")
        assert {check["name"]: check["verdict"] for check in report["checks"]}["committed_offsets"] == "PROVEN"
        assert not store.runs("B")
        assert pair.move("failover_disaster", "B")["outcome"] == "already_there"
        pair.traffic(500)
        for part in reversed(parts):
            lab.start("P", part)
        pair.playbook("enable", {"kafka_dr_confirm": "P"})
        forgotten(pair)
        assert pair.move("failback", "P")["outcome"] == "completed"
        pair.traffic(500)
        found = counted(pair)
        assert (found["lost"], found["phantom"]) == (0, 0)

    def test_disable_ends_both_flows(self, pair: Scenario, store: EngineStore) -> None:
        pair.stop()
        pair.playbook("disable", {"kafka_dr_confirm": "P"})
        assert store.empty()
        assert pair.playbook("disable", {"kafka_dr_confirm": "P"})["changed"] <= 1
