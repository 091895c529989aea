# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A client that reads and writes moves with the others, and is fenced on the cluster being left (R17)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from lab.lab import Lab
from scenario import Scenario, totals
from snapshot import end

pytestmark = pytest.mark.long

TOPICS = [{"name": name, "partitions": 1, "replication_factor": 1} for name in ("Payments", "Fees")]
CLIENTS = [
    {"name": "payments-api", "role": "producer", "rate": 300, "topics": ["Payments"]},
    {
        "name": "fees",
        "role": "processor",
        "group": "fees",
        "topics": ["Payments"],
        "output_topics": ["Fees"],
        "user": "consumer",  # Another principal than the producer's.
    },
    # MirrorMaker 2's default excludes groups with this name.
    {"name": "books", "role": "consumer", "group": "connect-jdbc-sink", "topics": ["Fees"]},
]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    """Applications running on P."""
    with Scenario(tmp_path_factory.mktemp("pair"), clients=CLIENTS, topics=TOPICS, secure=True).up() as made:
        made.playbook("enable", {"kafka_dr_confirm": "P"})
        made.start()
        work(made)
        yield made


def counts(pair: Scenario, name: str, what: str) -> int:
    return int(json.loads(pair.ledger("status"))["clients"][name]["counts"].get(what, 0))


def work(pair: Scenario, records: int = 500) -> None:
    """Wait until this many more payments are made, their fees computed, and those booked."""
    wanted = counts(pair, "books", "processed") + records
    pair.wait(lambda: counts(pair, "books", "processed") >= wanted, 120, f"{records} more fees are booked")


def rest(pair: Scenario) -> dict[str, int]:
    """Stop all clients, each after it has read everything. Return the counts of the ledgers."""
    pair.stop()
    return totals(pair.check())


def fees(pair: Scenario, alias: str) -> int:
    """The end of the topic that the processor writes on that cluster."""
    lab = Lab(pair.folder, quiet=True)
    return end({**lab.client(), "bootstrap.servers": lab.info()["clusters"][alias]["bootstrap_servers"]}, "Fees")


def verdicts(report: dict[str, Any]) -> dict[str, str]:
    return {check["name"]: check["verdict"] for check in report["checks"]}


def test_a_processor_may_write_only_until_everything_is_drained(pair: Scenario) -> None:
    report = pair.move("failover_cutoff", "B", kafka_dr_fence="acl")
    assert report["outcome"] == "completed"
    assert {verdicts(report)[name] for name in ("drained", "committed_offsets", "groups", "fence")} == {"PROVEN"}
    assert report["rereads"] == 0
    work(pair)
    found = rest(pair)
    assert found["acknowledged"] > 0
    harm = {key: found[key] for key in ("lost", "phantom", "processed_twice", "out_of_order", "unknown")}
    assert harm == dict.fromkeys(harm, 0)
    pair.start()


def test_in_a_continuous_move_it_writes_only_after_the_point_of_no_return(pair: Scenario) -> None:
    before = fees(pair, "P")
    stop = {"name": "stop", "when": "before", "phase": "move_producers", "command": ["false"]}
    variables = {"kafka_dr_confirm": "P", "kafka_dr_type": "continuous", "kafka_dr_hooks": [stop]}
    undone = pair.playbook("failback", variables, expect=2)
    assert "The applications are back on B" in undone["output"]
    assert fees(pair, "P") == before
    work(pair)

    report = pair.move("failback", "P", kafka_dr_type="continuous")
    assert report["outcome"] == "completed"
    assert {verdicts(report)[name] for name in ("committed_offsets", "groups")} == {"PROVEN"}
    work(pair)
    assert fees(pair, "P") > before
    found = rest(pair)
    assert (found["lost"], found["phantom"], found["unknown"]) == (0, 0, 0)
