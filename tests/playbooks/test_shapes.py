# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records, topics, producers and groups of the shapes that users have, through a cutoff, a failback and the audit.

One pair under load. The ledgers count every record of every group. The audit compares each copy with its original, with
null keys, null values and headers. Records without a timestamp that groups have not read are in test_untimed.py.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from confluent_kafka import Consumer, ConsumerGroupType, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.share_groups import share_groups
from brokers import admin
from lab.ivy import KAFKA_VERSION
from lab.jars import default_cache
from lab.lab import Lab
from raw_records import Raw, write
from scenario import Scenario, totals

pytestmark = pytest.mark.long

PARTITIONS = 2
MIB = 1024 * 1024
# A record of 5 MiB, its key and headers.
LIMIT = 5 * MIB + 64 * 1024
MIXED = "Card_Payments.v2-EUR"
# The replica's name has 249 characters.
LONG = "transactional".ljust(247, "x")
COMPACTED, BOTH = "accounts", "balances"
BY_BROKER, BY_SOURCE, BY_TARGET = "readings", "readings_in", "readings_out"
LARGE = "documents"
APPENDED = {"message.timestamp.type": "LogAppendTime"}
# Closes and cleans segments within seconds. Groups and flows read a record before it is old enough to be removed.
COMPACTION = {"segment.ms": 1000, "min.cleanable.dirty.ratio": 0.01, "min.compaction.lag.ms": 40_000}
CONFIGS: dict[str, dict[str, Any]] = {
    MIXED: {},
    LONG: {},
    COMPACTED: {"cleanup.policy": "compact", **COMPACTION},
    BOTH: {"cleanup.policy": ["compact", "delete"], **COMPACTION},
    BY_BROKER: APPENDED,
    BY_SOURCE: {},
    BY_TARGET: {},
    LARGE: {"max.message.bytes": LIMIT},
}
TOPICS = [
    {"name": name, "partitions": PARTITIONS, "replication_factor": 1, "config": config}
    for name, config in CONFIGS.items()
]
STATIC, NEWER, PLAIN = "night batch/größe", "connect-сток", "P.settlement"


def producer(name: str, codec: str, topics: list[str], **options: Any) -> dict[str, Any]:
    config = {"compression.type": codec, "message.max.bytes": LIMIT}
    return {"name": name, "role": "producer", "topics": topics, "rate": 40, "config": config, **options}


CLIENTS = [
    producer("mixed", "zstd", [MIXED], shapes=["plain", "tombstone", "keyless", "bare"], headers=True),
    producer("keyed", "lz4", [COMPACTED, BOTH], keys=20, shapes=["plain", "tombstone"], headers=True),
    producer("stamped", "snappy", [BY_BROKER, BY_SOURCE, BY_TARGET]),
    producer("large", "none", [LARGE], rate=0.4, size=5 * MIB),
    producer("transactions", "gzip", [LONG], role="transactional", transaction_size=10, abort_share=0.2),
    {"name": "static", "role": "consumer", "group": STATIC, "members": 2, "static": True, "session_ms": 3000},
    {"name": "newer", "role": "consumer", "group": NEWER, "config": {"group.protocol": "consumer"}},
    {"name": "plain", "role": "consumer", "group": PLAIN},
]
FLOW = {
    "replication_factor": 1,
    "tasks_max": 2,
    "source_settings": {"refresh.topics.interval.seconds": 1, "producer.override.max.request.size": LIMIT},
    "checkpoint_settings": {
        "refresh.groups.interval.seconds": 1,
        "emit.checkpoints.interval.seconds": 1,
        "sync.group.offsets.interval.seconds": 1,
    },
}
GROUPS = (STATIC, NEWER, PLAIN)
SHARE = "tills (shared)"
SHARE_CONSUMER = "org.apache.kafka.tools.consumer.ConsoleShareConsumer"
DECLARED = [{"name": group, "topics": list(CONFIGS)} for group in GROUPS]
UNTIMED = 20


@dataclass
class LabPair:
    """The pair, and the admin client of each cluster."""

    scenario: Scenario
    servers: dict[str, str]
    admin: dict[str, AdminClient]

    def config(self, alias: str, topic: str, name: str, value: Any) -> None:
        entry = ConfigEntry(name, str(value), incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
        for done in self.admin[alias].incremental_alter_configs([resource]).values():
            done.result(15)

    def is_compacted(self, alias: str, topic: str) -> bool:
        """Whether a topic without transactions has fewer records than offsets."""
        options = {"bootstrap.servers": self.servers[alias], "group.id": "test", "enable.auto.commit": False}
        consumer = Consumer({**options, "enable.partition.eof": True})
        left = set(range(PARTITIONS))
        ends = records = 0
        try:
            places = [TopicPartition(topic, number, 0) for number in left]
            ends = sum(consumer.get_watermark_offsets(place, timeout=15)[1] for place in places)
            consumer.assign(places)
            while left:
                for message in consumer.consume(1000, 0.5):
                    left -= {message.partition()} if message.error() else set()
                    records += message.error() is None
        finally:
            consumer.close()
        return bool(records < ends)

    def work(self) -> None:
        """Wait until every producer has written, and every group has read."""
        wanted = dict.fromkeys(self.scenario.names("producer", "transactional"), 3)
        self.scenario.wait(lambda: all(self.acknowledged(name) >= few for name, few in wanted.items()), 120, "writes")
        self.scenario.traffic(1000)

    def acknowledged(self, name: str) -> int:
        """The records that a producer has written since its start."""
        clients = json.loads(self.scenario.ledger("status"))["clients"]
        return int(clients[name]["counts"].get("acknowledged", 0))


@contextmanager
def share_group(servers: str, topic: str) -> Iterator[None]:
    """Run a member of the share group. The client library has none, so this is Kafka's own program."""
    jars = min(default_cache().glob(f"jars-{KAFKA_VERSION}-*/"))
    command = ["java", "-Xmx128m", "-cp", f"{jars}/*", SHARE_CONSUMER, "--bootstrap-server", servers]
    command += ["--topic", topic, "--group", SHARE]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as member:
        try:
            yield
        finally:
            member.terminate()


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabPair]:
    """Enabled, with all applications on P. One topic has LogAppendTime on P only, and one on B only."""
    with Scenario(tmp_path_factory.mktemp("shapes"), clients=CLIENTS, topics=TOPICS, flow=FLOW).up() as scenario:
        lab = Lab(scenario.folder, quiet=True)
        clusters = lab.info()["clusters"]
        servers = {alias: str(clusters[alias]["bootstrap_servers"]) for alias in ("P", "B")}
        made = LabPair(scenario, servers, {alias: admin(lab, alias) for alias in servers})
        scenario.playbook("enable", {"kafka_dr_confirm": "P"})
        for topic, alias in ((BY_SOURCE, "P"), (BY_TARGET, "B")):
            for name in (topic, f"{'B' if alias == 'P' else 'P'}.{topic}"):
                made.config(alias, name, "message.timestamp.type", "LogAppendTime")
        scenario.start()
        made.work()
        yield made


def proven(report: dict[str, Any]) -> None:
    """The cutover is proven in every respect, and no group reads a record again."""
    verdicts = {check["name"]: check["verdict"] for check in report["checks"]}
    assert report["outcome"] == "completed"
    assert {verdicts[name] for name in ("drained", "committed_offsets", "groups", "first_write")} == {"PROVEN"}, (
        verdicts
    )
    assert report["rereads"] == 0
    assert {row["group"] for row in report["committed_offsets"]} == set(GROUPS)
    assert {row["quality"] for row in report["committed_offsets"]} == {"exact"}
    assert {row["topic"].removeprefix("P.").removeprefix("B.") for row in report["committed_offsets"]} == set(CONFIGS)


def test_a_cutoff_keeps_every_record_of_every_group(pair: LabPair) -> None:
    listed = pair.admin["P"].list_consumer_groups(request_timeout=15).result(20)
    types = {one.group_id: one.type for one in listed.valid}
    assert types[NEWER] == ConsumerGroupType.CONSUMER
    members = pair.admin["P"].describe_consumer_groups([STATIC])[STATIC].result(20).members
    assert {member.group_instance_id for member in members} == {"static-0", "static-1"}
    write(pair.servers["P"], MIXED, [Raw(b"untimed %d" % number, b"k") for number in range(UNTIMED)])
    proven(pair.scenario.move("failover_cutoff", "B"))
    pair.work()


def test_a_failback_and_the_audit_find_every_record_once(pair: LabPair) -> None:
    proven(pair.scenario.move("failback", "P"))
    pair.work()
    pair.scenario.stop()
    check = pair.scenario.check()
    summed = totals(check)
    harm = {key: summed[key] for key in ("lost", "phantom", "processed_twice", "out_of_order", "unknown")}
    assert harm == dict.fromkeys(harm, 0), check["groups"]
    # They have no identity in the ledgers, and each group has read them all.
    assert {group: check["groups"][group]["foreign"] for group in GROUPS} == dict.fromkeys(GROUPS, UNTIMED)
    assert pair.scenario.count("aborted") > 0
    for topic in (COMPACTED, BOTH):
        pair.scenario.wait(lambda name=topic: pair.is_compacted("P", name), 90, f"{topic} is compacted")
    audit(pair)


def audit(pair: LabPair) -> None:
    pair.scenario.playbook("verify")
    report = json.loads((pair.scenario.reports / "audit.json").read_text())
    assert report["verdict"] == "PROVEN", report["text"]
    classes = {item["name"]: {one["kind"]: one["records"] for one in item["classes"]} for item in report["topics"]}
    print(classes)
    assert classes[f"P:{MIXED}"] == {"RETIMED": UNTIMED}
    for topic in (LONG, LARGE, BY_BROKER, BY_SOURCE, BY_TARGET):
        assert classes[f"P:{topic}"] == classes[f"B:{topic}"] == {}, topic
    assert {kind for topic in (COMPACTED, BOTH) for kind in classes[f"P:{topic}"]} == {"COMPACTED"}


def readiness(pair: LabPair, **variables: Any) -> dict[str, Any]:
    pair.scenario.playbook("readiness", variables)
    report: dict[str, Any] = json.loads((pair.scenario.reports / "readiness.json").read_text())
    return {**report, "answers": {row["name"]: (row["answer"], row["found"]) for row in report["checks"]}}


def test_a_share_group_is_named_and_not_moved(pair: LabPair) -> None:
    kafka = Kafka(pair.servers["P"], {}, 15.0)
    assert share_groups(kafka, [MIXED]) == {}
    with share_group(pair.servers["P"], MIXED):
        pair.scenario.wait(lambda: share_groups(kafka, [MIXED, LARGE]) == {SHARE: [MIXED]}, 240, "its state")
        assert share_groups(kafka, [LARGE]) == {SHARE: []}
        report = readiness(pair)
        assert report["answers"]["undeclared_groups"] == (
            "NO",
            f'"{SHARE}" on P (not a classic or consumer group)',
        )
        note = f'"{SHARE}" on P is not a classic or consumer group ({MIXED}): it is not moved'
        assert any(text.startswith(note) for text in report["not_carried"]), report["not_carried"]

        local = [*DECLARED, {"name": SHARE, "mode": "local"}]
        assert readiness(pair, kafka_dr_groups=local)["answers"]["undeclared_groups"][0] == "YES"
        done = pair.scenario.playbook("enable", {"kafka_dr_confirm": "P", "kafka_dr_groups": local})
        assert note in " ".join(done["output"].split())

        moved = [*DECLARED, {"name": SHARE, "topics": [MIXED]}]
        for name, to in (("enable", "P"), ("failover_cutoff", "B")):
            variables = {"kafka_dr_confirm": to, "kafka_dr_to": to, "kafka_dr_groups": moved}
            refused = pair.scenario.playbook(name, variables, expect=2)
            output = " ".join(refused["output"].split())
            assert "classic or consumer group" in output, output[-3000:]
    # A group that was deleted leaves nothing.
    admin_client = pair.admin["P"]
    pair.scenario.wait(lambda: deleted(admin_client, SHARE), 120, "the group is deleted")
    assert share_groups(kafka, [MIXED]) == {}


def deleted(client: AdminClient, group: str) -> bool:
    """Delete a group without members. Return False while it has members."""
    try:
        client.delete_consumer_groups([group], request_timeout=15)[group].result(20)
    except KafkaException as error:
        if error.args[0].code() != KafkaError.NON_EMPTY_GROUP:
            raise
        return False
    return True


def test_records_of_5_mib_without_matching_limits_are_refused_by_readiness(pair: LabPair) -> None:
    settings = {key: value for key, value in FLOW["source_settings"].items() if "max.request.size" not in key}
    small = {"kafka_dr_flow": {**FLOW, "source_settings": settings}}
    pair.scenario.playbook("enable", {"kafka_dr_confirm": "P", **small})
    pair.config("B", f"P.{LARGE}", "max.message.bytes", MIB)
    report = readiness(pair, **small)
    assert report["controlled"] == report["disaster"] == "NO"
    answer, text = report["answers"]["flow_sizes"]
    assert answer == "NO"
    assert f'"{LARGE}" on P accepts batches of {LIMIT} bytes' in text
    answer, text = report["answers"]["settings"]
    assert answer == "NO"
    assert "max.message.bytes" in text
