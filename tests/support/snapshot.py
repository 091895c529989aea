# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that a run could change on a pair, as plain data.

Equal snapshots before and after prove that it did not.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType

from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.http import Transport
from lab.lab import Lab
from workers import worker

JOURNAL = "kafka-dr-journal-internal"
T = TypeVar("T")


def at_rest(observe: Callable[[], T], step: float = 1.0, seconds: float = 90.0) -> T:
    """The result of ``observe`` once it was the same five times in a row, ``step`` seconds apart."""
    until = time.monotonic() + seconds
    seen, times = observe(), 1
    while times < 5:
        assert time.monotonic() < until, f"something still moves after {seconds:g} s"
        time.sleep(step)
        now = observe()
        times = times + 1 if now == seen else 1
        seen = now
    return seen


def snapshot(folder: Path, groups: list[str]) -> dict[str, Any]:
    """Topics and their settings, committed offsets, journal ends, and connectors with states, of both clusters of a
    lab.

    Without ``connectors`` if an emulator is in front of the workers.
    """
    lab = Lab(folder, quiet=True)
    return {alias: _one(lab, alias, groups) for alias in lab.info()["clusters"]}


def _one(lab: Lab, alias: str, groups: list[str]) -> dict[str, Any]:
    cluster = lab.info()["clusters"][alias]
    client = {**lab.client(), "bootstrap.servers": cluster["bootstrap_servers"]}
    admin = AdminClient(client)
    names = sorted(name for name in admin.list_topics(timeout=15).topics if not name.startswith("__"))
    listed = admin.list_topics(timeout=15).topics
    resources = [ConfigResource(ResourceType.TOPIC, name) for name in names]
    settings = (
        {
            resource.name: {key: entry.value for key, entry in future.result().items() if not entry.is_default}
            for resource, future in admin.describe_configs(resources).items()
        }
        if names
        else {}
    )
    return {
        "topics": {name: len(listed[name].partitions) for name in names},
        "settings": settings,
        "committed_offsets": {group: _committed_offsets(admin, group) for group in groups},
        "journal": end(client, JOURNAL) if JOURNAL in names else None,
        "connectors": None if {"cm_url", "aiven"} & set(cluster) else _connectors(worker(lab, alias)),
    }


def _committed_offsets(admin: AdminClient, group: str) -> list[tuple[str, int, int]]:
    answer = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])[group].result()
    return sorted((one.topic, one.partition, one.offset) for one in answer.topic_partitions)


def end(client: dict[str, str], topic: str) -> int:
    """The end of a topic with one partition."""
    consumer = Consumer({**client, "group.id": "snapshot"})
    try:
        return int(consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=15)[1])
    finally:
        consumer.close()


def _connectors(rest: Transport) -> dict[str, Any]:
    found = rest.call("GET", "/connectors", query="?expand=status&expand=info")
    return {
        name: (entry["status"]["connector"]["state"], len(entry["status"]["tasks"]), entry["info"]["config"])
        for name, entry in found.items()
    }


def read_inventory(folder: Path) -> dict[str, Any]:
    """The variables in the inventory that the lab wrote."""
    import yaml

    loaded: dict[str, Any] = yaml.safe_load((folder / "group_vars" / "all" / "kafka_dr.yml").read_text())
    return loaded
