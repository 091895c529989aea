# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Metadata of committed offsets, as Kafka Streams and Parallel Consumer write them.

Sources: TopicPartitionMetadata.encode, ProcessorMetadata.serialize (Kafka 4.3.1); BitSetEncoder, RunLengthEncoder,
OffsetSimpleSerialisation (Parallel Consumer 0.5.3).
"""

from __future__ import annotations

import struct
from base64 import b64encode
from collections.abc import Collection, Mapping

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka import groups
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.records import data_records
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.topics import describe, log_ranges

__all__ = ["bit_set", "commit_with_metadata", "run_lengths", "stored_metadata", "streams"]


def streams(time: int, entries: Mapping[str, int] | None = None, version: int = 2) -> str:
    """The partition time, and the times that window processors store."""
    data = struct.pack(">bq", version, time)
    if entries:
        data += struct.pack(">i", len(entries))
        for name, value in entries.items():
            data += struct.pack(">i", len(name.encode())) + name.encode() + struct.pack(">q", value)
    return b64encode(data).decode()


def bit_set(length: int, done: Collection[int], version: int = 2) -> str:
    """Which of ``length`` offsets from the committed one on are processed."""
    bits = sum(1 << offset for offset in done)
    head = struct.pack(">ci", b"o", length) if version == 2 else struct.pack(">ch", b"l", length)
    return b64encode(head + bits.to_bytes((length + 7) // 8 + 1, "little")).decode()


def run_lengths(*runs: int, version: int = 2) -> str:
    """Numbers of offsets that are not processed and that are, in turn."""
    return b64encode(struct.pack(f">c{len(runs)}{'ih'[version == 1]}", b"en"[version == 1 :][:1], *runs)).decode()


def commit_with_metadata(kafka: Kafka, group: str, offsets: Mapping[tuple[str, int], tuple[int, str]]) -> None:
    """As the collection does it: the client library would add a zero byte to each text."""
    wanted = {Partition(*key): groups.Committed(*value) for key, value in offsets.items()}
    refused = [text for text in groups.commit(kafka, {group: wanted})[group].values() if text]
    assert not refused, refused


def stored_metadata(kafka: Kafka, group: str) -> dict[Partition, bytes]:
    """The newest metadata in the log of ``__consumer_offsets``, by no client (OffsetCommitKey, OffsetCommitValue)."""
    topic = "__consumer_offsets"
    described = describe(kafka, [topic])[topic]
    assert described is not None
    stored = {}
    for number in range(described.partitions):
        key = Partition(topic, number)
        for record in data_records(kafka, key, *log_ranges(kafka, {key})[key]):
            place, name, version = _place(record.key or b"")
            if name == group and version in (0, 1) and record.value:
                # Before them: offset, leader epoch, and the length, which is a varint in version 4.
                (value_version,) = struct.unpack_from(">h", record.value)
                start = 15 if value_version >= 4 else 16
                length = record.value[14] - 1 if value_version >= 4 else struct.unpack_from(">h", record.value, 14)[0]
                stored[place] = record.value[start : start + length]
    return stored


def _place(key: bytes) -> tuple[Partition, str, int]:
    version, size = struct.unpack_from(">hh", key)
    if version not in (0, 1):
        return Partition("", 0), "", version
    group, rest = key[4 : 4 + size].decode(), key[4 + size :]
    (size,) = struct.unpack_from(">h", rest)
    (number,) = struct.unpack_from(">i", rest, 2 + size)
    return Partition(rest[2 : 2 + size].decode(), number), group, version
