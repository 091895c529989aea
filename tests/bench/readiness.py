# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The duration of the playbook readiness for 500 topics of 12 partitions and 200 groups, and the requests that it
sends.

MirrorMaker 2 runs with its default intervals. Every group reads five topics and has an offset in each of their
partitions. Everything is replicated, and only heartbeats are written meanwhile.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import statistics
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from translate import module

from scenario import Scenario, ScenarioError
from snapshot import read_inventory

TOPICS, PARTITIONS, GROUPS, TOPICS_PER_GROUP, RECORDS, RUNS = 500, 12, 200, 5, 5, 3
HEAP_MB = 768
_END = -1  # As a time: the end of the log.
_COPY_SECONDS = 600.0

Say = Callable[[str], None]


def measure(folder: Path, say: Say = lambda text: None) -> list[dict[str, Any]]:
    """The medians of the whole playbook and of its module, and the requests that the module sent."""
    pair = Scenario(folder, say=say)
    try:
        wanted = prepare(pair)
        found = [observe(pair, wanted) for _run in range(RUNS)]
        requests, module_seconds = ask(pair, wanted)
    finally:
        pair.lab_down(wipe=True)
        # 24,000 sparse index files.
        shutil.rmtree(pair.folder)
    figures = [
        ("seconds", statistics.median(found), "s"),
        ("module_s", module_seconds, "s"),
        ("requests", requests, ""),
    ]
    empty = {"baseline": None, "ratio": None}
    return [
        {"name": f"readiness.{name}", "value": round(value, 3), "unit": unit, **empty} for name, value, unit in figures
    ]


def prepare(pair: Scenario) -> dict[str, Any]:
    """A pair that has run for a while. Return the variables of its playbooks."""
    draw = random.Random(7)
    names, groups = shape(TOPICS, GROUPS, draw)
    pair.say(f"readiness: lab ({start_lab(pair, names, []):.0f} s)")
    wanted = {
        "kafka_dr_clients": [],
        "kafka_dr_groups": groups,
        "kafka_dr_checkpoint_timeout": 300,
    }
    clusters = read_inventory(pair.inventory)["kafka_dr_clusters"]
    servers = {alias: clusters[alias]["bootstrap_servers"] for alias in ("P", "B")}
    done = pair.playbook("enable", {"kafka_dr_confirm": "P", **wanted})
    pair.say(f"readiness: enable ({done['seconds']:.0f} s)")
    keys = [(name, index) for name in names for index in range(PARTITIONS)]
    produce(servers["P"], keys)
    began = time.monotonic()
    copies = [(f"P.{name}", index) for name, index in keys]
    pair.wait(lambda: ends(servers["B"], copies) == RECORDS * len(copies), _COPY_SECONDS, "every record is replicated")
    pair.say(f"readiness: {RECORDS * len(copies)} records are replicated ({time.monotonic() - began:.0f} s)")
    commit(servers["P"], groups, draw)
    done = pair.playbook("reverse_checkpoint", {"kafka_dr_confirm": "B", **wanted})
    pair.say(f"readiness: offsets are presynced ({done['seconds']:.0f} s)")
    return wanted


def shape(topics: int, groups: int, draw: random.Random) -> tuple[list[str], list[dict[str, Any]]]:
    """The topics and the groups of a large pair. Each group reads ``TOPICS_PER_GROUP`` of the topics.

    Names with dots are common, and as a pattern they are no plain text.
    """
    names = [f"shop.topic-{number:03d}" for number in range(topics)]
    return names, [
        {"name": f"group-{number:03d}", "topics": draw.sample(names, TOPICS_PER_GROUP)} for number in range(groups)
    ]


def start_lab(pair: Scenario, names: Sequence[str], clients: Sequence[Mapping[str, Any]]) -> float:
    """Start a lab that can hold a large pair, and return the seconds."""
    topics = [{"name": name, "partitions": PARTITIONS, "replication_factor": 1} for name in names]
    lab = {"lab_dir": str(pair.folder), "lab_topics": topics, "lab_clients": clients, "lab_heap_mb": HEAP_MB}
    # No interval is set, so those of MirrorMaker 2 apply, including ten minutes for new topics.
    lab["lab_flow"] = {"replication_factor": 1, "tasks_max": 2}
    return float(pair.playbook("lab_up", lab)["seconds"])


def observe(pair: Scenario, wanted: Mapping[str, Any]) -> float:
    """The seconds of one playbook."""
    done = pair.playbook("readiness", wanted)
    reported = json.loads((pair.reports / "readiness.json").read_text())
    open_ = [row["name"] for row in reported["checks"] if row["answer"] in ("NO", "UNKNOWN")]
    load = os.getloadavg()[0]
    pair.say(f"readiness: {done['seconds']:.1f} s at load {load:.1f}; not YES: {', '.join(open_) or 'none'}")
    if done["changed"]:
        raise ScenarioError(f"readiness changed something; see {done['log']}")
    return float(done["seconds"])


def ask(pair: Scenario, wanted: Mapping[str, Any]) -> tuple[int, float]:
    """The requests that the module sends, and its seconds in a process of its own."""
    inventory = read_inventory(pair.inventory)
    spec = {
        "clusters": inventory["kafka_dr_clusters"],
        "topics": [topic["name"] for topic in inventory["kafka_dr_topics"]],
        "groups": [group["name"] for group in wanted["kafka_dr_groups"]],
        "group_topics": {group["name"]: group["topics"] for group in wanted["kafka_dr_groups"]},
        "home": "P",
        "name": "B-P",
    }
    result, seconds = module("dr_readiness", {"pair": spec})
    apis = Counter(str(request.get("api", request.get("path"))) for request in result["requests"])
    pair.say(f"readiness: module {seconds:.1f} s, {', '.join(f'{api} {count}' for api, count in sorted(apis.items()))}")
    return len(result["requests"]), seconds


def produce(servers: str, keys: Sequence[tuple[str, int]]) -> None:
    """Write some records to every partition."""
    refused: list[Any] = []

    def on_delivery(error: Any, _message: object) -> None:
        if error:
            refused.append(error)

    producer = Producer({"bootstrap.servers": servers, "linger.ms": 50, "queue.buffering.max.messages": 1_000_000})
    for number in range(RECORDS):
        for topic, index in keys:
            text = f"{topic}/{index}/{number}".ljust(100, ".")
            producer.produce(topic, text, partition=index, on_delivery=on_delivery)
        producer.poll(0)
    # A record that was refused, such as for an unknown topic, is no longer in the queue that `flush` counts.
    if producer.flush(120) or refused:
        raise ScenarioError(f"Not every record was acknowledged within 120 s: {refused[:1]}.")


def ends(servers: str, keys: Sequence[tuple[str, int]]) -> int:
    """The sum of all log ends."""
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "bench"})
    try:
        found = consumer.offsets_for_times([TopicPartition(*key, _END) for key in keys], timeout=60)
    finally:
        consumer.close()
    return sum(one.offset for one in found)


def commit(servers: str, groups: Sequence[Mapping[str, Any]], draw: random.Random) -> None:
    """Commit an offset for every group in every partition of its topics."""
    admin = AdminClient({"bootstrap.servers": servers})
    for group in groups:
        keys = [(topic, index) for topic in group["topics"] for index in range(PARTITIONS)]
        items = [TopicPartition(*key, draw.randint(1, RECORDS)) for key in keys]
        request = [ConsumerGroupTopicPartitions(group["name"], items)]
        admin.alter_consumer_group_offsets(request)[group["name"]].result(60)
