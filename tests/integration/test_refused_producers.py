# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A setting that makes a producer fail on the other cluster is named by readiness, with both values."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from typing import Any

import pytest
from confluent_kafka import Producer

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.facts import Facts
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.readiness import CHECKS, SETTINGS
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.names import naming_of
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.topics import describe
from ansible_collections.switchback.kafka_dr.plugins.modules import kafka_topic
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module

pytestmark = pytest.mark.integration

HOUR = 3_600_000
NEVER = 2**63 - 1


def written(servers: str, topic: str, record: Mapping[str, Any]) -> str:
    """Write one record, and return the name of the broker's error; "": it was written."""
    errors: list[str] = []
    settings = {"bootstrap.servers": servers, "message.max.bytes": 10_000_000, "compression.type": "gzip"}
    producer = Producer(settings)
    producer.produce(
        topic, partition=0, on_delivery=lambda error, _message: errors.append(error.name() if error else ""), **record
    )
    assert producer.flush(30) == 0
    (error,) = errors
    return error


@pytest.mark.parametrize(
    ("setting", "value", "ahead_ms", "size", "error"),
    [
        ("message.timestamp.before.max.ms", HOUR, -2 * HOUR, 10, "INVALID_TIMESTAMP"),
        ("message.timestamp.after.max.ms", HOUR // 60, HOUR // 2, 10, "INVALID_TIMESTAMP"),
        ("max.message.bytes", 1000, 0, 1_500_000, "MSG_SIZE_TOO_LARGE"),
        ("compression.type", "uncompressed", 0, 1_500_000, "MSG_SIZE_TOO_LARGE"),
        ("cleanup.policy", "compact", 0, 10, "INVALID_RECORD"),
    ],
)
def test_a_setting_that_refuses_a_producer_on_the_other_cluster_is_named_by_readiness(
    lab: Any, setting: str, value: Any, ahead_ms: int, size: int, error: str
) -> None:
    clusters = lab.info()["clusters"]
    topic = f"refused-{uuid.uuid4().hex[:8]}"
    record = {"value": b"a" * size, "timestamp": int(time.time() * 1000) + ahead_ms}
    states: dict[str, Any] = {}
    for alias, config in (("P", {}), ("B", {setting: str(value)})):
        servers = str(clusters[alias]["bootstrap_servers"])
        made = run_module(
            kafka_topic,
            {"bootstrap_servers": servers, "topics": [{"name": topic, "partitions": 1, "config": config}]},
        )
        assert made["rc"] == 0, made
        assert written(servers, topic, record) == (error if config else "")
        states[alias] = describe(Kafka(servers, {}, 15.0), [topic], {topic: SETTINGS})
    facts = Facts(x="P", y="B", naming=naming_of("identity", "."), originals=[topic], away={}, topics=states)
    check = next(check for check in CHECKS if check.name == "settings")
    found = check.judge(facts)
    assert found.verdict == "REFUTED"
    assert f"{setting} is " in found.reason
    assert str(value) in found.reason
    # The same value on both clusters is the remedy.
    servers = str(clusters["P"]["bootstrap_servers"])
    made = run_module(
        kafka_topic,
        {
            "bootstrap_servers": servers,
            "topics": [{"name": topic, "partitions": 1, "config": {setting: str(value)}}],
        },
    )
    assert made["rc"] == 0, made
    states["P"] = describe(Kafka(servers, {}, 15.0), [topic], {topic: SETTINGS})
    assert check.judge(facts).verdict == "PROVEN"
