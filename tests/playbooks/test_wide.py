# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Topics of 500 partitions, a group on 3,000 partitions, and 2,000 groups without members, all with default settings.

The other large shape, 500 topics and 30 applications, is that of ``make bench ONLY=scale``.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import NewTopic

from brokers import admin
from lab.lab import Lab
from scenario import Scenario

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]
RATE, GROUPS, RECORDS = 100, 2000, 20
WIDE = {f"wide-{number}": 500 for number in range(6)}
SMALL = {f"small-{number:02d}": 12 for number in range(50)}
NAMES = list(WIDE)
CLIENTS = [
    {"name": "writer", "role": "producer", "rate": RATE, "topics": NAMES},
    {"name": "broad", "role": "consumer", "group": "broad", "topics": NAMES},
]
IDLE = [f"idle-{number:04d}" for number in range(GROUPS)]


@pytest.fixture
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    """A lab whose brokers can hold 6,000 partitions each, with the topics and their records on P."""
    made = Scenario(tmp_path_factory.mktemp("wide"))
    topics = [{"name": name, "partitions": count, "replication_factor": 1} for name, count in (WIDE | SMALL).items()]
    lab = {"lab_dir": str(made.folder), "lab_topics": topics, "lab_clients": CLIENTS, "lab_heap_mb": 2048}
    try:
        made.playbook("lab_up", {**lab, "lab_flow": {"replication_factor": 1, "tasks_max": 2}})
        client = admin(Lab(made.folder, quiet=True), "P")
        new = [NewTopic(name, count, 1) for name, count in (WIDE | SMALL).items()]
        for created in client.create_topics(new).values():
            created.result(60)
        producer = Producer({"bootstrap.servers": servers(made, "P"), "linger.ms": 50, "enable.idempotence": True})
        for name, count in SMALL.items():
            for number in range(count * RECORDS):
                producer.produce(name, f"{name} {number}", partition=number % count)
                producer.poll(0)
        assert producer.flush(120) == 0
        yield made
    finally:
        made.playbook("lab_down", {"lab_dir": str(made.folder), "lab_wipe": True}, expect=None)


def servers(pair: Scenario, alias: str) -> str:
    return str(Lab(pair.folder, quiet=True).info()["clusters"][alias]["bootstrap_servers"])


def commit(pair: Scenario) -> dict[str, dict[tuple[str, int], int]]:
    """Commit offsets of every group without members on all partitions of one topic, and return them."""
    client, draw = admin(Lab(pair.folder, quiet=True), "P"), random.Random(3)
    committed: dict[str, dict[tuple[str, int], int]] = {}
    futures = []
    for group in IDLE:
        name = draw.choice(list(SMALL))
        committed[group] = {(name, index): draw.randint(1, RECORDS) for index in range(SMALL[name])}
        items = [TopicPartition(*place, offset) for place, offset in sorted(committed[group].items())]
        futures.append(client.alter_consumer_group_offsets([ConsumerGroupTopicPartitions(group, items)])[group])
    for future in futures:
        assert all(row.error is None for row in future.result(60).topic_partitions)
    return committed


def replicas(pair: Scenario) -> dict[tuple[str, int], list[bytes]]:
    """The records of the groups without members on B. MirrorMaker 2 may have replicated some twice."""
    options = {"bootstrap.servers": servers(pair, "B"), "group.id": "reader", "enable.auto.commit": False}
    consumer = Consumer({**options, "enable.partition.eof": True})
    places = [(name, number) for name, count in SMALL.items() for number in range(count)]
    consumer.assign([TopicPartition(f"P.{name}", number, 0) for name, number in places])
    records: dict[tuple[str, int], list[bytes]] = {place: [] for place in places}
    ended = set()
    while len(ended) < len(places):
        for message in consumer.consume(5000, 5.0):
            place = (str(message.topic()).removeprefix("P."), int(message.partition()))
            if message.error() is None:
                records[place].append(message.value())
            else:
                assert message.error().name() == "_PARTITION_EOF", message.error()
                ended.add(place)
    consumer.close()
    return records


def unread(place: tuple[str, int], offset: int) -> list[bytes]:
    """The records of P from this offset on."""
    name, number = place
    return [f"{name} {index}".encode() for index in range(number, SMALL[name] * RECORDS, SMALL[name])][offset:]


def on_replicas(pair: Scenario) -> dict[str, dict[tuple[str, int], int]]:
    """What the groups without members have committed on the replicas of B."""
    client = admin(Lab(pair.folder, quiet=True), "B")
    futures = {
        group: client.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])[group] for group in IDLE
    }
    return {
        group: {
            (row.topic.removeprefix("P."), row.partition): row.offset
            for row in future.result(60).topic_partitions
            if row.topic.startswith("P.") and row.offset >= 0
        }
        for group, future in futures.items()
    }


def worked(pair: Scenario) -> None:
    """Wait until more records are acknowledged and read."""
    acknowledged, read = pair.count("acknowledged") + RATE * 3, pair.slowest_reader()
    pair.wait(lambda: pair.count("acknowledged") >= acknowledged, 300, "more records are acknowledged")
    pair.wait(lambda: pair.slowest_reader() > read, 300, "the group follows")


def verdicts(report: dict[str, Any]) -> dict[str, str]:
    return {check["name"]: check["verdict"] for check in report["checks"]}


def test_applications_on_three_thousand_partitions_move_with_two_thousand_groups(pair: Scenario) -> None:
    committed = commit(pair)
    # A group without topics counts for all topics: the rows of 2,000 groups on 3,600 partitions need 13 GB.
    topics = {group: sorted({topic for topic, _partition in offsets}) for group, offsets in committed.items()}
    groups = {"kafka_dr_groups": [{"name": name, "topics": topics[name]} for name in IDLE]}
    groups["kafka_dr_groups"].append({"name": "broad", "topics": NAMES})
    pair.playbook("enable", {**groups, "kafka_dr_confirm": "P"})
    pair.start()
    worked(pair)
    pair.playbook("status", groups)
    pair.playbook("readiness", groups)
    answers = json.loads((pair.reports / "readiness.json").read_text())["checks"]
    assert answers
    # The groups committed before the flow existed, so it has no checkpoints of them.
    assert {row["name"] for row in answers if row["answer"] in ("NO", "UNKNOWN")} == {"presynced"}
    for playbook, to in (("failover_cutoff", "B"), ("failback", "P")):
        report = pair.move(playbook, to, **groups)
        assert report["outcome"] == "completed", report
        wanted = ("drained", "committed_offsets")
        assert {name: verdicts(report)[name] for name in wanted} == dict.fromkeys(wanted, "PROVEN")
        # No application in the inventory reads as the idle groups, so no member of them is awaited (R48).
        assert verdicts(report)["groups"] == "UNKNOWN"
        assert report["rereads"] == 0
        if to == "B":
            records, entered = replicas(pair), on_replicas(pair)
            for group, offsets in committed.items():
                assert entered[group].keys() == offsets.keys()
                for place, offset in offsets.items():
                    assert records[place][entered[group][place] :] == unread(place, offset), (group, place)
        worked(pair)
    pair.stop()
    pair.require_unharmed()
    pair.start()
    worked(pair)
    for part in ("broker", "connect"):
        Lab(pair.folder, quiet=True).kill("P", part)
    assert pair.move("failover_disaster", "B", **groups)["outcome"] == "completed"
    worked(pair)
