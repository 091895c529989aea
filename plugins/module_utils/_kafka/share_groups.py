# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read what the share groups of one cluster (KIP-932) read, from the state that brokers keep in an internal topic.

A share group has no committed offsets, and the client library describes none. Source: ShareSnapshotKey and
ShareUpdateKey of Kafka's share coordinator.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Collection
from typing import NamedTuple

from .._core.errors import DrError
from .._core.partition import Partition
from .client import Kafka
from .records import EXHAUSTED, read_ranges
from .topics import describe, describe_anew, log_ranges

__all__ = ["STATE_TOPIC", "ShareState", "parsed_key", "share_groups"]

STATE_TOPIC = "__share_group_state"
_SNAPSHOT, _UPDATE = 0, 1
_UUID_BYTES, _NUMBER_BYTES = 16, 4


class ShareState(NamedTuple):
    """The key of one state: a share group and a partition of a topic."""

    group: str
    topic_id: str
    partition: int


def share_groups(kafka: Kafka, topics: Collection[str]) -> dict[str, list[str]]:
    """Return those of ``topics`` that each share group reads or has read, by group; empty: only other topics.

    Raises ``share_groups_unknown`` if the state could not be read to its end.
    """
    state_topic = describe_anew(kafka, [STATE_TOPIC])[STATE_TOPIC]
    if state_topic is None:
        return {}
    states = describe(kafka, topics)
    names = {_same_id(state.topic_id): name for name, state in states.items() if state is not None}
    read_by: dict[str, set[str]] = {}
    for state in _states(kafka, state_topic.partitions):
        read_by.setdefault(state.group, set()).update(name for name in [names.get(state.topic_id)] if name)
    return {group: sorted(read) for group, read in read_by.items()}


def _states(kafka: Kafka, partitions: int) -> list[ShareState]:
    ranges = log_ranges(kafka, [Partition(STATE_TOPIC, number) for number in range(partitions)])
    exists: dict[ShareState, bool] = {}
    for partition, read in read_ranges(kafka, ranges).items():
        if read.ended != EXHAUSTED:
            raise DrError(
                "share_groups_unknown",
                f"The share groups are unknown: {partition.topic}-{partition.partition} could not be read up to offset"
                f" {read.end} ({read.ended}).",
                "Check that its leader is running, then start the same playbook again.",
                kafka.bootstrap_servers,
            )
        for record in read.records:
            state = parsed_key(record.key or b"")
            if state is not None:
                exists[state] = record.value is not None  # a deleted group leaves null
    return [state for state, one in exists.items() if one]


def parsed_key(key: bytes) -> ShareState | None:
    """Return the group and partition of a record. None: the record is of a type that newer brokers write."""
    kind, size = int.from_bytes(key[:2], "big"), int.from_bytes(key[2:4], "big")
    end = 4 + size
    if kind not in (_SNAPSHOT, _UPDATE) or len(key) != end + _UUID_BYTES + _NUMBER_BYTES:
        return None
    topic_id = b64encode(key[end : end + _UUID_BYTES]).decode().rstrip("=")
    return ShareState(key[4:end].decode(), topic_id, int.from_bytes(key[-_NUMBER_BYTES:], "big"))


def _same_id(topic_id: str) -> str:
    """The topic id in the alphabet of ``ShareState``. Kafka's own notation has other characters for 62 and 63."""
    return topic_id.translate(str.maketrans("-_", "+/"))
