# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine aiven on a secured pair: the fence is written through the API, and proven by the brokers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import KafkaError, Producer

from aiven_sites import Service
from lab.lab import Lab
from scenario import Scenario, totals

pytestmark = pytest.mark.long

CLIENTS = [
    {"name": "payments-api", "role": "producer", "rate": 100},
    {"name": "settlement", "role": "consumer", "group": "settlement"},
]
FENCE = {"User:producer Payments"}


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    """A pair whose brokers apply an ACL three seconds after the API lists it."""
    folder = tmp_path_factory.mktemp("fence")
    with Scenario(folder, 3, CLIENTS, engine="aiven", secure=True).up() as made:
        for alias in ("P", "B"):
            Service(made, alias).own("switches", "PUT", {"acl_effect_seconds": 3})
        made.playbook("enable", {"kafka_dr_confirm": "P"})
        made.start()
        made.traffic(500)
        yield made


def refusal(pair: Scenario, alias: str) -> int | None:
    """The reason why the application may not write there, or None. Nothing is written while the fence holds."""
    lab, errors = Lab(pair.folder, quiet=True), list[Any]()
    servers = lab.info()["clusters"][alias]["bootstrap_servers"]
    producer = Producer({**lab.client("producer"), "bootstrap.servers": servers, "message.timeout.ms": 20000})
    producer.produce("Payments", b"fence", on_delivery=lambda error, _record: errors.append(error))
    producer.flush(30)
    return errors[0].code() if errors and errors[0] else None


def fence_of(report: dict[str, Any]) -> tuple[str, str]:
    """Verdict and first word of the reason."""
    (check,) = [check for check in report["checks"] if check["name"] == "fence"]
    return check["verdict"], check["reason"].partition(":")[0]


def test_a_cutoff_under_load_is_fenced_through_the_api_and_proven_by_the_broker(pair: Scenario) -> None:
    service = Service(pair, "P")
    service.own("log", "DELETE")
    report = pair.move("failover_cutoff", "B", kafka_dr_fence="acl")
    assert (report["outcome"], fence_of(report)) == ("completed", ("PROVEN", "FENCED"))
    verdicts = {check["name"]: check["verdict"] for check in report["checks"]}
    assert {verdicts[name] for name in ("drained", "committed_offsets", "first_write", "groups")} == {"PROVEN"}
    posts = [row["path"] for row in service.requests() if row["method"] == "POST"]
    assert posts == ["/v1/project/lab/service/kafka-p/kafka/acl"]
    assert (service.denied(), Service(pair, "B").denied()) == (FENCE, set())
    assert refusal(pair, "P") == KafkaError.TOPIC_AUTHORIZATION_FAILED
    pair.traffic(500)


def test_a_second_run_finds_the_fence_and_changes_nothing(pair: Scenario) -> None:
    service = Service(pair, "P")
    service.own("log", "DELETE")
    assert pair.move("failover_cutoff", "B", kafka_dr_fence="acl")["outcome"] == "already_there"
    assert {row["method"] for row in service.requests()} <= {"GET"}


def test_without_acls_a_needed_fence_is_refused_before_an_application_stops(pair: Scenario) -> None:
    Service(pair, "B").own("switches", "PUT", {"native_acls": False})
    stopped = pair.count("acknowledged")
    done = pair.playbook("failback", {"kafka_dr_confirm": "P", "kafka_dr_to": "P", "kafka_dr_fence": "acl"}, expect=2)
    assert "Kafka-native ACLs are not available" in done["output"]
    assert "Stop the producers" not in done["output"]
    assert pair.count("acknowledged") > stopped
    pair.traffic(500)


def test_without_acls_an_optional_fence_is_reported_as_missing_and_the_old_one_is_removed(pair: Scenario) -> None:
    report = pair.move("failback", "P")
    assert (report["outcome"], fence_of(report)) == ("completed", ("UNKNOWN", "UNFENCED"))
    assert Service(pair, "P").denied() == set()
    pair.traffic(500)
    pair.stop()
    found = totals(pair.check())
    assert found["acknowledged"] == found["processed"]
    assert {found[key] for key in ("lost", "processed_twice", "phantom", "out_of_order")} == {0}
