# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The duration of dr_translation_info for 50 groups on 48 partitions, all stopped somewhere in the middle."""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
MODULES = "ansible_collections.switchback.kafka_dr.plugins.modules"
GROUPS, PARTITIONS, RECORDS, RUNS = 50, 48, 5000, 3
TOPIC = "Payments"


def module(name: str, params: Mapping[str, Any]) -> tuple[dict[str, Any], float]:
    """The result and the seconds of a module in a process of its own, as Ansible runs it on a controller."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "build" / "collections")}
    given = json.dumps({"ANSIBLE_MODULE_ARGS": params})
    began = time.perf_counter()
    command = [sys.executable, "-m", f"{MODULES}.{name}"]
    done = subprocess.run(command, input=given, env=environment, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - began
    result: dict[str, Any] = json.loads(done.stdout)
    if done.returncode:
        raise SystemExit(f"{name}: {result.get('msg')}")
    return result, seconds


def measure(clusters: Mapping[str, Any], say: Callable[[str], None] = lambda text: None) -> list[dict[str, Any]]:
    """All figures, as ``{name, value, unit, baseline, ratio}``."""
    for cluster in clusters.values():
        topics = [{"name": TOPIC, "partitions": PARTITIONS, "replication_factor": 1}]
        module("kafka_topic", {"bootstrap_servers": cluster["bootstrap_servers"], "topics": topics})
    for source, target in (("P", "B"), ("B", "P")):
        flow(clusters, source, target, "running")
    produce(clusters["P"]["bootstrap_servers"])
    watched = {"pair": {"clusters": clusters, "topics": [TOPIC]}, "flows": [{"source": "P", "target": "B"}]}
    module("dr_status_info", {**watched, "wait_for": "replicated", "wait_timeout": 300})
    say(f"{PARTITIONS} partitions with {RECORDS} records each are replicated")
    commit_groups(clusters["P"]["bootstrap_servers"], seed=1)
    flow(clusters, "P", "B", "stopped")
    enable(clusters)
    pair = {"clusters": clusters, "topics": [TOPIC], "groups": [f"group-{number}" for number in range(GROUPS)]}
    params = {"pair": pair, "leave": "P", "enter": "B"}
    seconds: list[float] = []
    found: dict[str, Any] = {}
    for _run in range(RUNS):
        found, took = module("dr_translation_info", params)
        seconds.append(took)
        say(f"{len(found['details'])} offsets in {took:.2f} s, {found['records_read']} records read")
    replicas = [row for row in found["details"] if row["topic"] == f"P.{TOPIC}"]
    inexact = [row for row in replicas if row["quality"] != "exact"]
    if len(replicas) != GROUPS * PARTITIONS or inexact:
        raise SystemExit(f"{len(replicas)} offsets, {len(inexact)} of them not exact: {inexact[:2]}")
    median = statistics.median(seconds)
    return [
        {"name": "translate.2400.seconds", "value": round(median, 3), "unit": "s", "baseline": None, "ratio": None},
        {
            "name": "translate.2400.records_per_partition",
            "value": round(found["records_read"] / PARTITIONS, 1),
            "unit": "records",
            "baseline": 2 * RECORDS,
            "ratio": round(found["records_read"] / PARTITIONS / 2 / RECORDS, 3),
        },
    ]


def flow(clusters: Mapping[str, Any], source: str, target: str, state: str) -> None:
    """Set the state of the source connector of one flow."""
    ends = {
        end: {"alias": alias, "bootstrap_servers": clusters[alias]["bootstrap_servers"]}
        for end, alias in (("source", source), ("target", target))
    }
    settings = {"refresh.topics.interval.seconds": 1}
    shape = {"topics": [TOPIC], "replication_factor": 1, "tasks_max": 2, "source_settings": settings}
    where = {"connect_url": clusters[target]["connect_url"], "parts": ["source"], "state": state}
    module("connect_mirror", {**ends, **shape, **where})


def produce(servers: str) -> None:
    """Write different records to every partition."""
    from confluent_kafka import Producer

    options = {"bootstrap.servers": servers, "linger.ms": 50, "queue.buffering.max.messages": 1_000_000}
    producer = Producer(options)
    for number in range(RECORDS):
        for partition in range(PARTITIONS):
            producer.produce(TOPIC, f"{partition}/{number}".ljust(100, "."), partition=partition)
        producer.poll(0)
    producer.flush(120)


def commit_groups(servers: str, seed: int) -> None:
    """Commit an offset for every group in every partition."""
    from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
    from confluent_kafka.admin import AdminClient

    draw = random.Random(seed)
    admin = AdminClient({"bootstrap.servers": servers})
    for number in range(GROUPS):
        items = [TopicPartition(TOPIC, partition, draw.randint(1, RECORDS - 1)) for partition in range(PARTITIONS)]
        request = [ConsumerGroupTopicPartitions(f"group-{number}", items)]
        for future in admin.alter_consumer_group_offsets(request).values():
            future.result()


def enable(clusters: Mapping[str, Any]) -> None:
    """Journal the topics."""
    for cluster in clusters.values():
        topics = [{"name": "kafka-dr-journal-internal", "partitions": 1, "replication_factor": 1}]
        module("kafka_topic", {"bootstrap_servers": cluster["bootstrap_servers"], "topics": topics})
    data = {"active": "P", "topic_ids": topic_ids(clusters)}
    pair = {"clusters": clusters, "topics": [TOPIC]}
    module("dr_journal", {"pair": pair, "event": "enabled", "data": data})


def topic_ids(clusters: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """The topic ids as the journal stores them."""
    ids = {}
    for alias, other in (("P", "B"), ("B", "P")):
        params = {"bootstrap_servers": clusters[alias]["bootstrap_servers"], "topics": [TOPIC, f"{other}.{TOPIC}"]}
        found, _took = module("kafka_topic_info", params)
        ids[alias] = {topic["name"]: topic["topic_id"] for topic in found["topics"] if topic["topic_id"]}
    return ids
