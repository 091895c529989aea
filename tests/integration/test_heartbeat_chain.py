# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two pairs with other aliases on the same two clusters: no flow replicates the heartbeats that
another one replicated.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Producer

from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.rest import ConnectClient
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.names import CONNECTORS, connector_name
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds, wait_until
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.topics import log_ranges, names
from ansible_collections.switchback.kafka_dr.plugins.modules import connect_mirror, kafka_topic
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module

pytestmark = pytest.mark.integration

PAIRS = (("HP", "HB"), ("IP", "IB"))
FLOWS = [flow for pair in PAIRS for flow in (pair, pair[::-1])]
SIDE = {alias: alias[1] for pair in PAIRS for alias in pair}


class Both:
    """Four flows between the two clusters of the lab."""

    def __init__(self, lab: Any) -> None:
        self.clusters = lab.info()["clusters"]
        self.kafka = {side: Kafka(str(self.clusters[side]["bootstrap_servers"]), {}, 15.0) for side in "PB"}

    def topic(self) -> str:
        name = f"chain-{uuid.uuid4().hex[:6]}"
        for side in "PB":
            servers = str(self.clusters[side]["bootstrap_servers"])
            items = [{"name": name, "partitions": 1}]
            assert run_module(kafka_topic, {"bootstrap_servers": servers, "topics": items})["rc"] == 0
            producer = Producer({"bootstrap.servers": servers})
            producer.produce(name, value="x")
            assert producer.flush(30) == 0
        return name

    def run(self, source: str, target: str, topics: list[str]) -> None:
        ends = {
            end: {key: self.clusters[SIDE[alias]][key] for key in ("bootstrap_servers", "cluster_id")}
            | {"alias": alias}
            for end, alias in (("source", source), ("target", target))
        }
        params = {
            **ends,
            "connect_url": self.clusters[SIDE[target]]["connect_url"],
            "topics": topics,
            "groups": ["unused"],
            "replication_factor": 1,
            "tasks_max": 1,
            "parts": ["source", "heartbeat"],
            "source_settings": {"refresh.topics.interval.seconds": 1},
            "wait_timeout": 90,
        }
        found = run_module(connect_mirror, params)
        assert found["rc"] == 0, found

    def await_records(self, side: str, topic: str) -> None:
        def there() -> bool:
            known = topic in names(self.kafka[side])
            return known and log_ranges(self.kafka[side], {(topic, 0)})[topic, 0][1] > 0

        assert wait_until(there, lambda found: found, Bounds(60, 0.3, 60)).done, topic


@pytest.fixture
def both(lab: Any) -> Iterator[Both]:
    made = Both(lab)
    try:
        yield made
    finally:
        for source, target in FLOWS:
            rest = ConnectClient(str(made.clusters[SIDE[target]]["connect_url"]), {}, 15.0)
            for part in CONNECTORS:
                name = connector_name(source, target, part)
                if rest.find(name) is not None:
                    rest.delete(name)


def test_heartbeats_are_not_replicated_in_a_loop(both: Both) -> None:
    first, second = both.topic(), both.topic()
    for flow in FLOWS:
        both.run(*flow, [first])
    for source, target in FLOWS:
        both.await_records(SIDE[target], f"{source}.heartbeats")
    # A topic that joins now is found by a refresh that also found the other pair's heartbeats.
    for flow in FLOWS:
        both.run(*flow, [first, second])
    for source, target in FLOWS:
        both.await_records(SIDE[target], f"{source}.{second}")
    found = {name for side in "PB" for name in names(both.kafka[side]) if name.split(".")[0] in SIDE}
    assert {name for name in found if name.endswith("heartbeats")} == {f"{source}.heartbeats" for source, _to in FLOWS}
