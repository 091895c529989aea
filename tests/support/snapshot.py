# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that a run could change on a pair, as plain data: taken before and after, it proves that nothing was."""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType

JOURNAL = "kafka-dr-journal-internal"
T = TypeVar("T")


def at_rest(look: Callable[[], T], step: float = 1.0, seconds: float = 90.0) -> T:
    """What ``look`` sees once it has seen the same five times in a row, ``step`` seconds apart."""
    until = time.monotonic() + seconds
    seen, times = look(), 1
    while times < 5:
        assert time.monotonic() < until, f"something still moves after {seconds:g} s"
        time.sleep(step)
        now = look()
        times = times + 1 if now == seen else 1
        seen = now
    return seen


def snapshot(inventory: dict[str, Any], groups: list[str], client: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Topics and their settings, positions, journal ends, connectors and their states, of both clusters.

    ``client``: properties with which a secured cluster is reached. No ``connectors`` where none is declared.
    """
    clusters: dict[str, Any] = inventory["kafka_dr_clusters"]
    return {
        alias: _one({**(client or {}), "bootstrap.servers": cluster["bootstrap_servers"]}, cluster, groups)
        for alias, cluster in clusters.items()
    }


def _one(client: dict[str, str], cluster: dict[str, Any], groups: list[str]) -> dict[str, Any]:
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
        "positions": {group: _positions(admin, group) for group in groups},
        "journal": _end(client, JOURNAL) if JOURNAL in names else None,
        "connectors": _connectors(cluster["connect_url"]) if cluster.get("connect_url") else None,
    }


def _positions(admin: AdminClient, group: str) -> list[tuple[str, int, int]]:
    answer = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])[group].result()
    return sorted((one.topic, one.partition, one.offset) for one in answer.topic_partitions)


def _end(client: dict[str, str], topic: str) -> int:
    consumer = Consumer({**client, "group.id": "snapshot"})
    try:
        return int(consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=15)[1])
    finally:
        consumer.close()


def _connectors(url: str) -> dict[str, Any]:
    with urllib.request.urlopen(f"{url}/connectors?expand=status&expand=info", timeout=15) as answer:
        found = json.load(answer)
    return {
        name: (entry["status"]["connector"]["state"], len(entry["status"]["tasks"]), entry["info"]["config"])
        for name, entry in found.items()
    }


def read_inventory(folder: Path) -> dict[str, Any]:
    """The variables that the lab wrote."""
    import yaml

    loaded: dict[str, Any] = yaml.safe_load((folder / "group_vars" / "all" / "kafka_dr.yml").read_text())
    return loaded
