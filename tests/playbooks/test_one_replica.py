# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Topics with one replica on three brokers: a partition has no leader while its broker is fenced (R35).

A frozen broker misses its heartbeats, so the KRaft controllers fence it. With more replicas another one would lead.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator

import pytest
from confluent_kafka import KafkaException

from kills import beginning, disturbed
from lab.errors import LabError
from lab.lab import Lab
from scenario import Scenario, totals

pytestmark = pytest.mark.long

CLIENTS = [
    {"name": "payments-api", "role": "producer", "rate": 300, "topics": ["Payments"], "flush_seconds": 40},
    {"name": "settlement", "role": "consumer", "group": "settlement", "topics": ["Payments"]},
]
TOPICS = [{"name": "Payments", "partitions": 6, "replication_factor": 1}]
LEADERLESS_SECONDS = 5


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    """An enabled pair under load, whose originals have one replica."""
    folder = tmp_path_factory.mktemp("one-replica")
    with Scenario(folder, topics=TOPICS, clients=CLIENTS, brokers=3).up() as made:
        made.playbook("enable", {"kafka_dr_confirm": "P"})
        made.start()
        yield made


def is_leaderless(lab: Lab, alias: str) -> bool:
    try:
        lab.leader(alias, "Payments", 0)
    except LabError:
        return True
    except KafkaException:  # The broker that was asked is the frozen one.
        pass
    return False


@pytest.mark.parametrize(
    ("to", "phase", "where"), [("B", "drain", "P"), ("P", "commit_offsets", "P"), ("B", "start", "B")]
)
def test_a_move_waits_for_a_partition_without_a_leader(pair: Scenario, to: str, phase: str, where: str) -> None:
    pair.traffic(500)
    lab = Lab(pair.folder, quiet=True)
    frozen: list[str] = []

    def freeze(_run: subprocess.Popen[bytes]) -> None:
        part = lab.leader(where, "Payments", 0)
        lab.pause(where, part)
        try:
            pair.wait(lambda: is_leaderless(lab, where), 60, "the partition has no leader")
            time.sleep(LEADERLESS_SECONDS)  # The fault itself: nothing is awaited.
            frozen.append(part)
        finally:
            lab.resume(where, part)

    name = "failback" if to == "P" else "failover_cutoff"
    variables = {"kafka_dr_confirm": to, "kafka_dr_to": to, "kafka_dr_type": "cutoff"}
    rc, output = disturbed(pair, beginning(phase), name, variables, freeze)
    assert rc == 0, output[-3000:]
    assert frozen, f"the phase {phase} began"
    report = pair.report("cutoff", to)
    verdicts = {check["name"]: check["verdict"] for check in report["checks"]}
    assert report["outcome"] == "completed", report
    assert {verdicts[name] for name in ("drained", "committed_offsets", "first_write", "groups")} == {"PROVEN"}, report
    assert report["rereads"] == 0, report


def test_the_ledgers_of_these_moves_are_clean(pair: Scenario) -> None:
    pair.traffic(500)
    pair.stop()
    counted = totals(pair.check())
    print(json.dumps(counted))
    assert {name: counted[name] for name in ("lost", "phantom", "processed_twice")} == dict.fromkeys(
        ("lost", "phantom", "processed_twice"), 0
    ), counted
