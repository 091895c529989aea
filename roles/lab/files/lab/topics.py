# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Leaders and settings of the topics of a running cluster."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .configs import Cluster, number
from .errors import LabError
from .secure import Security

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from confluent_kafka.admin import AdminClient

REASSIGN = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"
_SECONDS = 30


def client(cluster: Cluster, security: Security | None) -> AdminClient:
    """An admin client of the cluster."""
    # Imported here, because `jars`, `down` and `status` work without the library.
    from confluent_kafka.admin import AdminClient

    own: dict[str, str | int | float] = {"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0}
    return AdminClient({**(security.client("admin") if security else {}), **own})


def replicas(cluster: Cluster, security: Security | None) -> dict[tuple[str, int], list[int]]:
    """The brokers with a replica of each partition. The first one is the preferred leader."""
    topics = client(cluster, security).list_topics(timeout=_SECONDS).topics
    return {
        (name, index): list(partition.replicas)
        for name, topic in topics.items()
        for index, partition in topic.partitions.items()
    }


def leader(cluster: Cluster, security: Security | None, topic: str, index: int) -> str:
    """The broker that leads a partition. Raises LabError if no broker does."""
    found = client(cluster, security).list_topics(topic, timeout=5).topics[topic].partitions.get(index)
    names = {number(part): part for part in cluster.brokers}
    if found is None or found.leader not in names:
        raise LabError(f"{topic}-{index} on {cluster.alias} has no leader.")
    return names[found.leader]


def with_leader(assigned: Mapping[tuple[str, int], list[int]], broker: int) -> dict[tuple[str, int], list[int]]:
    """The partitions whose preferred leader changes if ``broker`` leads each one of which it has a replica."""
    return {
        key: [broker, *(other for other in brokers if other != broker)]
        for key, brokers in assigned.items()
        if broker in brokers and brokers[0] != broker
    }


def reassign(cluster: Cluster, java: str, jars: Path, wanted: Mapping[tuple[str, int], list[int]]) -> None:
    """Change the replicas of partitions with Kafka's own tool, because librdkafka cannot send this request."""
    rows = [{"topic": topic, "partition": index, "replicas": brokers} for (topic, index), brokers in wanted.items()]
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder, "plan.json")
        plan.write_text(json.dumps({"version": 1, "partitions": rows}))
        own = ["--bootstrap-server", cluster.bootstrap_servers, "--reassignment-json-file", str(plan), "--execute"]
        command = [java, "-Xmx128m", "-XX:TieredStopAtLevel=1", "-cp", f"{jars}/*", REASSIGN, *own]
        done = subprocess.run(command, capture_output=True, text=True, timeout=4 * _SECONDS, check=False)
    if done.returncode != 0:
        raise LabError(f"The replicas of {cluster.alias} could not be reassigned: {(done.stdout + done.stderr)[-500:]}")


def elect(cluster: Cluster, security: Security | None, partitions: Collection[tuple[str, int]] = ()) -> list[str]:
    """Elect the preferred leader of each partition, or of ``partitions``. Returns those that have a new leader."""
    from confluent_kafka import ElectionType, KafkaError, TopicPartition

    admin = client(cluster, security)
    wanted: Any = [TopicPartition(*key) for key in partitions] or None
    # confluent-kafka 2.16 raises SystemError for every keyword here.
    found = admin.elect_leaders(ElectionType.PREFERRED, wanted).result(2 * _SECONDS)
    # A preferred leader that is down cannot be elected, and one that leads already needs no election.
    expected = (KafkaError.ELECTION_NOT_NEEDED, KafkaError.PREFERRED_LEADER_NOT_AVAILABLE)
    failed = {key: error for key, error in found.items() if error is not None and error.code() not in expected}
    if failed:
        key, error = next(iter(failed.items()))
        raise LabError(f"The leader of {key.topic}-{key.partition} could not be elected: {error.str()}.")
    return sorted(f"{key.topic}-{key.partition}" for key, error in found.items() if error is None)


def configure(cluster: Cluster, security: Security | None, topic: str, settings: Mapping[str, str]) -> None:
    """Set settings of a topic. An empty value removes the topic's own value."""
    from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

    entries = [
        ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET if value else AlterConfigOpType.DELETE)
        for name, value in settings.items()
    ]
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=entries)
    admin = client(cluster, security)
    for done in admin.incremental_alter_configs([resource], request_timeout=_SECONDS).values():
        done.result(_SECONDS + 5)
