# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Manual operations on a cluster."""

from __future__ import annotations

import struct
from collections.abc import Mapping

from confluent_kafka import ConsumerGroupState, ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from lab.lab import Lab


def admin(lab: Lab, alias: str) -> AdminClient:
    """The admin client. Keep a reference until its results have arrived: its requests end with it."""
    servers = lab.info()["clusters"][alias]["bootstrap_servers"]
    return AdminClient({**lab.client(), "bootstrap.servers": servers, "log_level": 0})


def commit(client: AdminClient, group: str, committed_offsets: Mapping[tuple[str, int], int]) -> None:
    """Commit offsets. Raise Kafka's error of any partition, because the request as a whole succeeds even then."""
    items = [TopicPartition(*key, offset) for key, offset in committed_offsets.items()]
    done = client.alter_consumer_group_offsets([ConsumerGroupTopicPartitions(group, items)])[group].result(15)
    for one in done.topic_partitions:
        if one.error:
            raise KafkaException(one.error)


def committed_offsets(client: AdminClient, group: str) -> dict[tuple[str, int], int]:
    """All committed offsets of the group."""
    done = client.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])[group].result(15)
    return {(one.topic, one.partition): one.offset for one in done.topic_partitions}


def cut(lab: Lab, alias: str, key: Partition, end: int) -> None:
    """Cut the records of a partition from ``end`` on, as a power failure does: the topic keeps its id.

    ``end`` must be the first offset of a batch. The cluster has one broker, which restarts.
    """
    lab.stop(alias, "broker")
    folders = list(lab.paths.root.rglob(f"{key.topic}-{key.partition}"))
    assert len(folders) == 1, folders
    (log,) = folders[0].glob("*.log")
    data, at = log.read_bytes(), 0
    while at < len(data):
        offset, length = struct.unpack_from(">qi", data, at)
        if offset >= end:
            break
        at += 12 + length
    assert at < len(data), f"{key} has no batch at or after {end}"
    log.write_bytes(data[:at])
    for index in (*folders[0].glob("*.index"), *folders[0].glob("*.timeindex"), *folders[0].glob("*.snapshot")):
        index.unlink()
    lab.start(alias, "broker")


def at_work(client: AdminClient) -> list[str]:
    """The groups with members. Members that died with their broker count until their session ends."""
    found = client.list_consumer_groups(request_timeout=10).result(20)
    return [one.group_id for one in found.valid if one.state not in (ConsumerGroupState.EMPTY, ConsumerGroupState.DEAD)]
