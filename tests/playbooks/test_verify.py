# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook verify on a pair under load: proven after a move, refuted by one altered record (R26)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Producer

from scenario import Scenario
from snapshot import read_inventory

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

CLIENTS = [
    {"name": "payments-api", "role": "producer", "rate": 200},
    {"name": "ledger-tx", "role": "transactional", "rate": 50, "abort_share": 0.2, "transaction_size": 20},
    {"name": "settlement", "role": "consumer", "group": "settlement"},
    {"name": "fraud", "role": "consumer", "group": "fraud", "limit_rate": 225},
]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    """A pair in the normal state, with running applications. One of the groups falls behind."""
    with Scenario(tmp_path_factory.mktemp("verified"), partitions=4, clients=CLIENTS).up() as made:
        made.playbook("enable", {"kafka_dr_confirm": "P"})
        made.start()
        yield made


def verify(pair: Scenario, expect: int = 0, options: tuple[str, ...] = (), **variables: Any) -> dict[str, Any]:
    done = pair.playbook("verify", variables, options, expect=expect)
    name = "check-audit.json" if "--check" in options else "audit.json"
    report: dict[str, Any] = json.loads((pair.reports / name).read_text())
    return {**report, "output": done["output"], "changed": done["changed"]}


def topic(report: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(item for item in report["topics"] if item["name"] == name)
    return found


def test_after_a_move_records_and_offsets_are_proven_while_producers_write(pair: Scenario) -> None:
    pair.traffic(3000)
    pair.move("failover_cutoff", "B")
    pair.traffic(1000)
    report = verify(pair, options=("--check",))
    assert report["verdict"] == "PROVEN", report["text"]
    assert report["changed"] == 0
    assert report["output"].count("audit ") >= 2, "its progress is shown"
    committed_offsets = [item for found in report["topics"] for item in found["committed_offsets"]]
    assert {item["group"] for item in committed_offsets} == {"settlement", "fraud"}
    assert {item["verdict"] for item in committed_offsets} == {"EXACT"}, report["text"]
    assert len(committed_offsets) == 2 * 2 * pair.partitions
    assert {found["name"]: found["mode"] for found in report["topics"]} == {
        "P:Payments": "complete",
        "B:Payments": "online",
    }
    assert topic(report, "P:Payments")["partitions"][0]["source"]["records"] > 0


def test_one_altered_record_is_reported_with_its_offset(pair: Scenario) -> None:
    """It has the same key and value as the last record of a replica, so only its own log can show it."""
    servers = {
        alias: item["bootstrap_servers"] for alias, item in read_inventory(pair.inventory)["kafka_dr_clusters"].items()
    }
    producer = Producer({"bootstrap.servers": servers["P"]})
    where: list[Any] = []
    producer.produce(
        "B.Payments", b"not from the flow", partition=2, on_delivery=lambda _error, sent: where.append(sent)
    )
    assert producer.flush(20) == 0
    report = verify(pair, expect=2)
    assert report["verdict"] == "REFUTED"
    # Producers write, so some records may have been replicated after the snapshot.
    (item,) = [found for found in topic(report, "B:Payments")["classes"] if found["kind"] != "NEWER"]
    assert (item["kind"], item["records"]) == ("FOREIGN", 1)
    (one,) = item["sample"]
    assert (one["partition"], one["source"], one["target"]["offset"]) == (2, None, where[0].offset())


@pytest.mark.parametrize(
    ("variables", "text"),
    [
        ({"kafka_dr_spark_jars": "/nonexistent"}, "lacks spark-sql-kafka"),
        ({"kafka_dr_spark_python": "/nonexistent/python"}, "could not be started"),
        ({"kafka_dr_audit_timeout": 2}, "did not end within 2 s"),
    ],
)
def test_without_a_verdict_the_reason_is_one_clear_line(pair: Scenario, variables: dict[str, Any], text: str) -> None:
    done = pair.playbook("verify", variables, expect=2)
    assert text in done["output"]
