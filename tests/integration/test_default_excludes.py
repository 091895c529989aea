# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Declared topics and groups that MirrorMaker 2 excludes by default are replicated and checkpointed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds, wait_until
from ansible_collections.switchback.kafka_dr.plugins.modules import connect_mirror
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module

pytestmark = pytest.mark.integration

SOURCE, TARGET, TOPIC = "XP", "XB", "orders.replica"
GROUPS = ["connect-jdbc-sink", "console-consumer-audit"]


def declared(clusters: dict[str, Any], state: str) -> dict[str, Any]:
    """The flow XP->XB through the worker beside B."""
    p, b = clusters["P"], clusters["B"]
    return {
        "connect_url": b["connect_url"],
        "source": {"alias": SOURCE, "bootstrap_servers": p["bootstrap_servers"], "cluster_id": p["cluster_id"]},
        "target": {"alias": TARGET, "bootstrap_servers": b["bootstrap_servers"], "cluster_id": b["cluster_id"]},
        "topics": [TOPIC],
        "groups": GROUPS,
        "parts": ["source", "checkpoint"],
        "replication_factor": 1,
        # Heartbeats of other flows in the same lab would be replicated in an endless loop through two pairs of aliases.
        "source_settings": {"heartbeats.replication.enabled": False},
        "wait_timeout": 60,
        "state": state,
    }


@pytest.fixture
def clusters(lab: Any) -> Iterator[dict[str, Any]]:
    """Both clusters; the flow is deleted before and after the test."""
    found = lab.info()["clusters"]
    run_module(connect_mirror, declared(found, "absent"))
    yield found
    run_module(connect_mirror, declared(found, "absent"))


def prepare(bootstrap: str) -> None:
    """One partition with ten records; both groups have read seven of them."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([NewTopic(TOPIC, 1, 1)])[TOPIC].result(30)
    producer = Producer({"bootstrap.servers": bootstrap})
    for number in range(10):
        producer.produce(TOPIC, str(number).encode(), partition=0)
    assert producer.flush(30) == 0
    for group in GROUPS:
        consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group, "enable.auto.commit": False})
        consumer.commit(offsets=[TopicPartition(TOPIC, 0, 7)], asynchronous=False)
        consumer.close()


def committed(admin: AdminClient, group: str, topic: str) -> int:
    """The committed offset of ``group``, negative without one."""
    wanted = ConsumerGroupTopicPartitions(group, [TopicPartition(topic, 0)])
    return int(admin.list_consumer_group_offsets([wanted])[group].result(30).topic_partitions[0].offset)


def test_a_topic_and_groups_that_mirrormaker_excludes_by_default_are_replicated(clusters: dict[str, Any]) -> None:
    prepare(clusters["P"]["bootstrap_servers"])
    run_module(connect_mirror, declared(clusters, "running"))
    admin = AdminClient({"bootstrap.servers": clusters["B"]["bootstrap_servers"]})
    replica = f"{SOURCE}.{TOPIC}"
    waited = wait_until(
        lambda: {group: committed(admin, group, replica) for group in GROUPS},
        # A synced offset is at or before the translation of 7, and never at the log end, which no group has reached.
        lambda offsets: all(0 < offset <= 7 for offset in offsets.values()),
        Bounds(90),
    )
    assert waited.ended == "done", waited
    reader = Consumer({"bootstrap.servers": clusters["B"]["bootstrap_servers"], "group.id": "reader"})
    assert reader.get_watermark_offsets(TopicPartition(replica, 0), timeout=10) == (0, 10)
    reader.close()
