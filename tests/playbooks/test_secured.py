# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""TLS, SCRAM and ACLs on both sides: the round trip works, whoever has left cannot write, and no password comes out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import KafkaError, Producer

from lab.lab import Lab
from scenario import Scenario, totals
from secured import leaking_files

CLIENTS = [
    {"name": "payments-api", "role": "producer", "rate": 500},
    {"name": "settlement", "role": "consumer", "group": "settlement"},
    {"name": "fraud", "role": "consumer", "group": "fraud"},
]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    """Under load on P."""
    made = Scenario(tmp_path_factory.mktemp("secured"), clients=[dict(one) for one in CLIENTS], secure=True)
    try:
        made.lab_up()
        made.playbook("enable", {"kafka_dr_confirm": "P"})
        made.start()
        made.traffic(1000)
        yield made
    finally:
        made.lab_down()


def refusal(lab: Lab, alias: str) -> int | None:
    """Why the application may not write there; None: it may. The record, if one arrives, is nobody's."""
    seen: list[Any] = []
    servers = lab.info()["clusters"][alias]["bootstrap_servers"]
    login = {**lab.paths.security.client("producer"), "bootstrap.servers": servers, "log_level": 0}
    producer = Producer({**login, "message.timeout.ms": 10000})
    producer.produce("Payments", b"fence", on_delivery=lambda error, _record: seen.append(error))
    producer.flush(20)
    return seen[0].code() if seen and seen[0] else None


def fence(report: dict[str, Any]) -> dict[str, Any]:
    (check,) = (check for check in report["checks"] if check["name"] == "fence")
    return check


def test_a_round_trip_fences_the_side_that_is_left_and_opens_the_one_that_is_entered(pair: Scenario) -> None:
    lab = Lab(pair.folder)
    there = pair.move("failover_cutoff", "B", kafka_dr_fence="acl", kafka_dr_audit=True)
    assert there["outcome"] == "completed"
    assert fence(there)["verdict"] == "PROVEN", fence(there)
    assert there["verdict"] == "PROVEN", there["checks"]
    assert refusal(lab, "P") == KafkaError.TOPIC_AUTHORIZATION_FAILED
    pair.traffic(1000)

    home = pair.move("failback", "P")
    assert home["outcome"] == "completed"
    assert fence(home)["verdict"] == "PROVEN"
    assert refusal(lab, "B") == KafkaError.TOPIC_AUTHORIZATION_FAILED
    pair.traffic(1000)

    # Undone before the point of no return: the applications write on P as before.
    undone = pair.playbook("failover_cutoff", {"kafka_dr_confirm": "B", "kafka_dr_max_downtime": 2}, expect=2)
    assert "back on P" in undone["output"]
    pair.traffic(1000)
    pair.stop()
    counted = totals(pair.check())
    assert (counted["lost"], counted["phantom"], counted["processed_twice"]) == (0, 0, 0)
    assert leaking_files(lab) == []
