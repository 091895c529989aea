# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A setting that makes a client fail on the other cluster is named by readiness, with both values."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.broker_limits import LIMITS, stricter
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.facts import Facts
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.readiness import CHECKS, SETTINGS
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.names import naming_of
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds, wait_until
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.brokers import broker_settings
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.topics import describe
from ansible_collections.switchback.kafka_dr.plugins.modules import kafka_topic
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module

pytestmark = pytest.mark.integration

HOUR = 3_600_000
NEVER = 2**63 - 1
# The broker writes such records as they are, so that a batch has their size.
PLAIN = {"compression.type": "uncompressed", "max.message.bytes": "8000000"}
# Limits of the broker of B that one on P does not have. Its Connect worker is the one member of its group, with 6 s.
STRICT = {
    "transaction.max.timeout.ms": 60_000,
    "group.max.session.timeout.ms": 30_000,
    "group.min.session.timeout.ms": 5_000,
    "group.max.size": 1,
    "offset.metadata.max.bytes": 100,
}


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
    ("setting", "value", "ahead_ms", "size", "error", "common"),
    [
        ("message.timestamp.before.max.ms", HOUR, -2 * HOUR, 10, "INVALID_TIMESTAMP", {}),
        ("message.timestamp.after.max.ms", HOUR // 60, HOUR // 2, 10, "INVALID_TIMESTAMP", {}),
        ("max.message.bytes", 1000, 0, 1_500_000, "MSG_SIZE_TOO_LARGE", {}),
        ("compression.type", "uncompressed", 0, 1_500_000, "MSG_SIZE_TOO_LARGE", {}),
        ("cleanup.policy", "compact", 0, 10, "INVALID_RECORD", {}),
        ("segment.bytes", 1_048_576, 0, 1_500_000, "RECORD_LIST_TOO_LARGE", PLAIN),
    ],
)
def test_a_setting_that_refuses_a_producer_on_the_other_cluster_is_named_by_readiness(
    lab: Any, setting: str, value: Any, ahead_ms: int, size: int, error: str, common: dict[str, str]
) -> None:
    clusters = lab.info()["clusters"]
    topic = f"refused-{uuid.uuid4().hex[:8]}"
    record = {"value": b"a" * size, "timestamp": int(time.time() * 1000) + ahead_ms}
    states: dict[str, Any] = {}
    for alias, config in (("P", common), ("B", {**common, setting: str(value)})):
        servers = str(clusters[alias]["bootstrap_servers"])
        made = run_module(
            kafka_topic,
            {"bootstrap_servers": servers, "topics": [{"name": topic, "partitions": 1, "config": config}]},
        )
        assert made["rc"] == 0, made
        assert written(servers, topic, record) == (error if alias == "B" else "")
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
            "topics": [{"name": topic, "partitions": 1, "config": {**common, setting: str(value)}}],
        },
    )
    assert made["rc"] == 0, made
    states["P"] = describe(Kafka(servers, {}, 15.0), [topic], {topic: SETTINGS})
    assert check.judge(facts).verdict == "PROVEN"


@pytest.fixture
def strict_there(lab: Any) -> Iterator[None]:
    """The broker of B has the limits ``STRICT``."""
    extra = lab.paths.root / "B" / "broker.extra"
    extra.write_text("".join(f"{name}={value}\n" for name, value in STRICT.items()))
    try:
        lab.restart("B", "broker")
        yield
    finally:
        extra.unlink()
        lab.restart("B", "broker")


def transacting(servers: str, _topic: str) -> str:
    """Begin transactions that may stay open for two minutes, as those of Flink do. Return the broker's error."""
    producer = Producer(
        {"bootstrap.servers": servers, "transactional.id": uuid.uuid4().hex, "transaction.timeout.ms": 120_000}
    )
    return refusal(lambda: producer.init_transactions(30))


def committing(servers: str, topic: str) -> str:
    """Commit an offset with metadata."""
    with consumer(servers) as reader:
        offsets = [TopicPartition(topic, 0, 0, metadata="a" * 200)]
        return refusal(lambda: reader.commit(offsets=offsets, asynchronous=False))


def long_session(servers: str, topic: str) -> str:
    return joined(servers, topic, **{"session.timeout.ms": 45_000})


def short_session(servers: str, topic: str) -> str:
    return joined(servers, topic, **{"session.timeout.ms": 3_000, "heartbeat.interval.ms": 1_000})


def two_members(servers: str, topic: str) -> str:
    """The second member of a group joins it."""
    group = {"group.id": uuid.uuid4().hex, "session.timeout.ms": 20_000}
    with consumer(servers, **group) as first, consumer(servers, **group) as second:
        assert joined_as(first, topic) == ""
        return joined_as(second, topic, beside=first)


def consumer(servers: str, **more: Any) -> Any:
    return Consumer({"bootstrap.servers": servers, "group.id": uuid.uuid4().hex, **more})


def joined(servers: str, topic: str, **more: Any) -> str:
    with consumer(servers, **more) as reader:
        return joined_as(reader, topic)


def joined_as(reader: Any, topic: str, beside: Any = None) -> str:
    """Join the group, and return the broker's error; "": it has joined. ``beside``: a member, which must join again."""
    answers: list[str] = []
    reader.subscribe([topic], on_assign=lambda _reader, _partitions: answers.append(""))

    def poll() -> list[str]:
        if beside is not None:
            beside.poll(0.1)
        message = reader.poll(0.2)
        if message is not None and message.error():
            answers.append(message.error().name())
        return answers

    return wait_until(poll, bool, Bounds(30)).state[0]


def refusal(call: Callable[[], Any]) -> str:
    """The name of the broker's error; "": there was none."""
    try:
        call()
    except KafkaException as error:
        return str(error.args[0].name())
    return ""


def test_a_limit_of_brokers_that_refuses_a_client_on_the_other_cluster_is_named_by_readiness(
    lab: Any, strict_there: None
) -> None:
    topic = f"refused-{uuid.uuid4().hex[:8]}"
    found: dict[str, dict[int, dict[str, str]]] = {}
    refused: dict[str, list[str]] = {}
    for alias, cluster in lab.info()["clusters"].items():
        servers = str(cluster["bootstrap_servers"])
        made = run_module(kafka_topic, {"bootstrap_servers": servers, "topics": [{"name": topic, "partitions": 1}]})
        assert made["rc"] == 0, made
        clients = (transacting, long_session, short_session, two_members, committing)
        refused[alias] = [client(servers, topic) for client in clients]
        kafka = Kafka(servers, {}, 15.0)
        kafka.identify(None)
        found[alias] = broker_settings(kafka, LIMITS)
    assert refused["P"] == [""] * 5
    session = "INVALID_SESSION_TIMEOUT"
    assert refused["B"] == [
        *("INVALID_TRANSACTION_TIMEOUT", session, session),
        *("GROUP_MAX_SIZE_REACHED", "OFFSET_METADATA_TOO_LARGE"),
    ]
    texts, unknown = stricter(found["P"], found["B"], "P", "B")
    assert unknown == []
    assert [text.partition(" is ")[0] for text in texts] == list(STRICT)
    assert [text.partition(" and ")[2] for text in texts] == [f"{value} on B (broker 1)" for value in STRICT.values()]
    facts = Facts("P", "B", naming_of("default", "."), [], {}, broker_settings=found)
    check = next(check for check in CHECKS if check.name == "broker_limits")
    assert check.judge(facts).verdict == "REFUTED"
    # Every client of B can work on P.
    assert check.judge(replace(facts, x="B", y="P")).verdict == "PROVEN"
