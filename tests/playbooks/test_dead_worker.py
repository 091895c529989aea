# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""R45: a worker dies before it has stored what it replicated, its cluster is lost, and a lagging group goes home."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from accounts import read_log
from ansible_collections.switchback.kafka_dr.plugins.modules import dr_journal
from ansible_collections.switchback.kafka_dr.tests.support.pairs import of_journal
from brokers import admin, commit, committed_offsets
from disasters import PARTS, forgotten
from lab import configs
from lab.lab import Lab
from modules import run_module
from scenario import Scenario
from snapshot import read_inventory

pytestmark = pytest.mark.long

CLIENTS = [
    {"name": "payments-api", "role": "producer", "rate": 200},
    {"name": "settlement", "role": "consumer", "group": "settlement"},
    {"name": "fraud", "role": "consumer", "group": "fraud"},
]
PARTITIONS = 2


def flush_seldom(lab: Lab, patch: pytest.MonkeyPatch) -> None:
    """Restart B's worker with Kafka Connect's default flush interval. The lab's is 1 s."""
    usual = configs.connect

    def seldom(*args: Any) -> dict[str, object]:
        return {**usual(*args), "offset.flush.interval.ms": 60_000}

    with patch.context() as patched:
        patched.setattr(configs, "connect", seldom)
        lab.restart("B", "connect")


def logs(lab: Lab, alias: str) -> dict[int, dict[int, Any]]:
    """The records of each partition by offset, while nothing is written there."""
    servers = lab.info()["clusters"][alias]["bootstrap_servers"]
    return {number: dict(read_log(servers, "Payments", number)) for number in range(PARTITIONS)}


def journaled(pair: Scenario) -> dict[str, Any]:
    """The newest cut in the journal."""
    clusters = read_inventory(pair.inventory)["kafka_dr_clusters"]
    result = run_module(dr_journal, of_journal({"clusters": clusters, "pair": "B-P"}))
    assert result["rc"] == 0, result
    newest: dict[str, Any] = result["state"]["cuts"][-1]
    return newest


def offset_of(record: Any, log: Mapping[int, Any]) -> int:
    return next(at for at, one in log.items() if one == record)


def test_the_end_of_what_a_dead_worker_replicated_is_found_and_a_lagging_group_goes_home_to_its_record(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path_factory.mktemp("dead")
    with Scenario(folder, clients=CLIENTS, policy="identity", partitions=PARTITIONS).up() as pair:
        pair.playbook("enable", {"kafka_dr_confirm": "P"})
        pair.start()
        pair.traffic(300)
        lab = Lab(pair.folder, quiet=True)
        flush_seldom(lab, monkeypatch)
        # Replicated and read, and not stored by the worker, which dies before it flushes.
        pair.traffic(600)
        pair.ledger("stop", "fraud")
        read = {key[1]: at for key, at in committed_offsets(admin(lab, "P"), "fraud").items()}
        replicated = pair.count("acknowledged") + 400
        pair.wait(lambda: pair.count("acknowledged") > replicated, 30, "what fraud has read is replicated")
        lab.kill("B", "connect")
        for part in PARTS:
            lab.kill("P", part)
        lab.start("B", "connect")

        assert pair.move("failover_disaster", "B")["outcome"] == "completed"

        # The group lags on B, at the record that it had reached on P.
        pair.traffic(200)
        pair.ledger("stop", "fraud")
        pair.ledger("stop", "payments-api")
        lab.start("P", "broker")
        lab.start("P", "connect")
        forgotten(pair)
        stored = journaled(pair)["ends"].get("Payments", {})
        assert all(at > stored.get(str(number), 0) for number, at in read.items()), (read, stored)
        on_p, on_b = logs(lab, "P"), logs(lab, "B")
        there = {("Payments", number): offset_of(on_p[number][at - 1], on_b[number]) + 1 for number, at in read.items()}
        commit(admin(lab, "B"), "fraud", there)
        held_by_b = {number: set(log.values()) for number, log in on_b.items()}
        left = {number: [at for at, one in log.items() if one not in held_by_b[number]] for number, log in on_p.items()}
        pair.ledger("start", "payments-api")

        accepted = {"kafka_dr_accept_tail": ["Payments"]} if any(left.values()) else {}
        pair.playbook("enable", {"kafka_dr_confirm": "P", **accepted})
        found = {str(number): min(left[number], default=max(log) + 1) for number, log in on_p.items()}
        assert journaled(pair)["found"] == {"Payments": found}

        report = pair.move("failback", "P", kafka_dr_drain_groups_timeout=1)
        assert report["outcome"] == "completed"
        rows = {row["partition"]: row for row in report["committed_offsets"] if row["group"] == "fraud"}
        assert {number: (row["offset"], row["quality"], row["rereads"]) for number, row in rows.items()} == {
            number: (at, "exact", 0) for number, at in read.items()
        }
