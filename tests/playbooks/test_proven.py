# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""R50: identity and continuous moves are PROVEN as a whole. With one record of another producer they are not.

The brokers have an authorizer, and each application that writes has a principal and a login.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from kills import beginning, disturbed
from lab.lab import Lab
from scenario import Scenario

pytestmark = [pytest.mark.long, pytest.mark.timeout(1200)]

CLIENTS = [
    {"name": "payments-api", "role": "producer", "rate": 300},
    {"name": "settlement", "role": "consumer", "group": "settlement"},
]
AUDITED = {"kafka_dr_fence": "acl", "kafka_dr_audit": True}


@pytest.fixture(scope="module", params=["identity", "default"])
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    """A secured pair, enabled, applications running on P."""
    policy: str = request.param
    folder = tmp_path_factory.mktemp(policy)
    with Scenario(folder, 2, CLIENTS, secure=True, policy=policy).up() as made:
        made.playbook("enable", {"kafka_dr_confirm": "P"})
        made.start()
        yield made


def login(pair: Scenario, alias: str) -> dict[str, Any]:
    """A super user, whom no ACL denies anything."""
    lab = Lab(pair.folder, quiet=True)
    return {**lab.client(), "bootstrap.servers": lab.info()["clusters"][alias]["bootstrap_servers"]}


def written(pair: Scenario, name: str) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((pair.reports / f"{name}.json").read_text())
    return report


def write(pair: Scenario, alias: str, **record: Any) -> None:
    producer = Producer(login(pair, alias))
    producer.produce("Payments", partition=0, **record)
    assert producer.flush(30) == 0


def newest(pair: Scenario, alias: str) -> dict[str, Any]:
    """A record of the last second on a cluster, to be written somewhere else."""
    consumer = Consumer({**login(pair, alias), "group.id": "foreign", "enable.auto.commit": False})
    place = TopicPartition("Payments", 0)
    place.offset = consumer.get_watermark_offsets(place, timeout=15)[1] - 1
    consumer.assign([place])
    record = consumer.poll(15)
    consumer.close()
    assert record is not None
    assert record.error() is None
    stamp = record.timestamp()[1]
    return {"key": record.key(), "value": record.value(), "headers": record.headers(), "timestamp": stamp}


def checks(report: dict[str, Any]) -> dict[str, str]:
    return {check["name"]: check["verdict"] for check in report["checks"]}


def reason(report: dict[str, Any], name: str) -> str:
    return next(str(check["reason"]) for check in report["checks"] if check["name"] == name)


def moved(pair: Scenario, playbook: str, to: str, **variables: Any) -> dict[str, Any]:
    pair.traffic(1000)
    report = pair.move(playbook, to, **AUDITED, **variables)
    assert report["outcome"] == "completed"
    return report


def moved_beside(pair: Scenario, playbook: str, to: str, foreign: dict[str, Any] | None) -> dict[str, Any]:
    """Move the applications. After the flow back has started, another producer writes to the cluster that was left.

    ``foreign``: its record; None: one that the applications have just written on the cluster that was entered.
    """
    pair.traffic(1000)
    left = "B" if to == "P" else "P"

    def interfere(_run: object) -> None:
        write(pair, left, **(foreign or newest(pair, to)))

    rc, output = disturbed(pair, beginning("settled"), playbook, {"kafka_dr_confirm": to, **AUDITED}, interfere)
    assert rc == 0, output[-2000:]
    return pair.report("cutoff", to)


def test_a_move_is_proven_as_a_whole(pair: Scenario) -> None:
    if pair.policy == "identity":
        reports = [moved(pair, "failover_cutoff", "B"), moved(pair, "failback", "P")]
    else:
        reports = [moved(pair, "failover_continuous", "B"), moved(pair, "failback", "P", kafka_dr_type="continuous")]
    for report in reports:
        assert (report["verdict"], set(checks(report).values())) == ("PROVEN", {"PROVEN"}), report["checks"]
    kept = "since the cut" if pair.policy == "identity" else "after the fence was closed"
    assert kept in reason(reports[-1], "fence")
    # Without the audit the same move has less evidence.
    pair.traffic(500)
    if pair.policy == "identity":
        report = pair.move("failover_cutoff", "B", kafka_dr_fence="acl")
        assert checks(report)["fence"] == "UNKNOWN"
        assert "was not compared" in reason(report, "fence")
        pair.move("failback", "P", kafka_dr_fence="acl")


def test_a_record_of_another_producer_is_never_proven(pair: Scenario) -> None:
    if pair.policy != "identity":
        pair.traffic(1000)
        variables = {"kafka_dr_confirm": "B", **AUDITED}
        foreign = {"value": b"after the fence"}
        rc, output = disturbed(
            pair, beginning("flows"), "failover_continuous", variables, lambda _run: write(pair, "P", **foreign)
        )
        assert rc == 0, output[-2000:]
        report = pair.report("continuous", "B")
        assert (checks(report)["fence"], report["verdict"]) == ("REFUTED", "REFUTED"), report["checks"]
        assert "after the fence was closed: P Payments-0: 1 offsets" in reason(report, "fence")
        return
    # A copy of a record that the flow replicates: it looks like one that the flow sent again.
    report = moved_beside(pair, "failover_cutoff", "B", None)
    assert (checks(report)["fence"], report["verdict"]) == ("UNKNOWN", "UNKNOWN"), report["checks"]
    assert checks(report)["records"] == "PROVEN"
    assert "1 DUPLICATE since the cut" in reason(report, "fence")
    report = moved_beside(pair, "failback", "P", {"value": b"from elsewhere"})
    assert (checks(report)["fence"], report["verdict"]) == ("REFUTED", "REFUTED"), report["checks"]
    assert "1 records were written to the target since the cut" in reason(report, "fence")
