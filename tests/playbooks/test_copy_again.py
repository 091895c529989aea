# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Topics that are deleted while the pair is disabled: no flow continues from a wrong offset, and there is a way out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import NewTopic

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds, wait_until
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.records import data_records
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.topics import log_ranges
from brokers import admin
from lab.lab import Lab
from scenario import Scenario
from snapshot import snapshot

pytestmark = pytest.mark.long

TOPIC, REPLICA, PARTITIONS = "Payments", "P.Payments", 3
COPY_AGAIN = {"kafka_dr_copy_again": [TOPIC]}


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    """An enabled pair that has replicated ten records of each partition."""
    with Scenario(tmp_path_factory.mktemp("again"), partitions=PARTITIONS).up() as made:
        assert enable(made)["changed"] > 0
        send(made, "first")
        wait_replicated(made, Counter(f"first-{number}" for number in range(30)))
        yield made


def enable(pair: Scenario, expect: int = 0, **more: Any) -> dict[str, Any]:
    return pair.playbook("enable", {"kafka_dr_confirm": "P", **more}, expect=expect)


def refused(pair: Scenario, *texts: str, **more: Any) -> None:
    """``enable`` reports it, and no record is replicated."""
    output = " ".join(enable(pair, 2, **more)["output"].split()).replace('\\"', '"')
    for text in texts:
        assert text in output
    connectors = snapshot(pair.folder, [])["B"]["connectors"]
    assert [found[0] for name, found in connectors.items() if "MirrorSource" in name] in ([], ["STOPPED"])


def send(pair: Scenario, prefix: str) -> None:
    producer = Producer({"bootstrap.servers": servers(pair, "P")})
    for number in range(30):
        producer.produce(TOPIC, value=f"{prefix}-{number}", partition=number % PARTITIONS)
    assert producer.flush(30) == 0


def servers(pair: Scenario, alias: str) -> str:
    return str(Lab(pair.folder).info()["clusters"][alias]["bootstrap_servers"])


def held(pair: Scenario, alias: str, topic: str) -> Counter[str]:
    """The records of a topic, each with the number of its copies."""
    kafka = Kafka(servers(pair, alias), {}, 15.0)
    spans = log_ranges(kafka, {(topic, index) for index in range(PARTITIONS)})
    records = [record for key, span in spans.items() for record in data_records(kafka, key, *span)]
    return Counter((record.value or b"").decode() for record in records)


def wait_replicated(pair: Scenario, wanted: Counter[str]) -> None:
    waited = wait_until(
        lambda: held(pair, "B", REPLICA), lambda found: found.total() >= wanted.total(), Bounds(60, 0.3, 60)
    )
    assert waited.state == wanted


def create_again(pair: Scenario, alias: str, topic: str) -> None:
    client = admin(Lab(pair.folder), alias)
    client.delete_topics([topic])[topic].result(15)
    wait_until(lambda: topic in client.list_topics(timeout=10).topics, lambda there: not there, Bounds(30, 0.2, 30))
    client.create_topics([NewTopic(topic, PARTITIONS, 1)])[topic].result(15)


def test_an_enabled_pair_is_not_replicated_again(pair: Scenario) -> None:
    output = " ".join(enable(pair, 2, **COPY_AGAIN)["output"].split())
    assert "the pair is enabled" in output
    assert "switchback.kafka_dr.disable first" in output


def test_a_replica_with_records_is_not_replicated_again(pair: Scenario) -> None:
    pair.playbook("disable", {"kafka_dr_confirm": "P"})
    refused(pair, "kafka_dr_copy_again has nothing to do", **COPY_AGAIN)


def test_a_re_created_replica_is_replicated_again_on_request(pair: Scenario) -> None:
    pair.playbook("disable", {"kafka_dr_confirm": "P"})
    create_again(pair, "B", REPLICA)
    refused(pair, f'"{REPLICA}" on B', "Nothing was replicated", '"kafka_dr_copy_again": ["Payments"]')
    assert not held(pair, "B", REPLICA)
    assert enable(pair, **COPY_AGAIN)["changed"] > 0
    wait_replicated(pair, Counter(f"first-{number}" for number in range(30)))
    assert enable(pair)["changed"] == 0


def test_a_re_created_original_is_replicated_again_on_request(pair: Scenario) -> None:
    pair.playbook("disable", {"kafka_dr_confirm": "P"})
    create_again(pair, "P", TOPIC)
    for _number in range(2):
        send(pair, "second")
    before = held(pair, "B", REPLICA)
    refused(pair, f'"{TOPIC}" on P', "Nothing was replicated")
    refused(pair, "These replicas have records", **COPY_AGAIN)
    assert held(pair, "B", REPLICA) == before
    create_again(pair, "B", REPLICA)
    enable(pair, **COPY_AGAIN)
    wait_replicated(
        pair, Counter(f"second-{number}" for number in range(30)) + Counter(f"second-{n}" for n in range(30))
    )
