# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""MirrorMaker 2's binary records: read offset-syncs, read and write checkpoints. Pure.

Big-endian; STRING is an int16 length and UTF-8. org.apache.kafka.connect.mirror.OffsetSync, Checkpoint (version 0).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass


@dataclass(frozen=True)
class Sync:
    """Source offset ``upstream`` is offset ``downstream`` of the replica. ``topic`` is the name on the source."""

    topic: str
    partition: int
    upstream: int
    downstream: int


@dataclass(frozen=True)
class Checkpoint:
    """``topic`` is the name on the cluster that holds the record; ``downstream`` is an offset there."""

    group: str
    topic: str
    partition: int
    upstream: int
    downstream: int
    metadata: str = ""

    def key(self) -> bytes:
        return _text(self.group) + _text(self.topic) + struct.pack(">i", self.partition)

    def value(self) -> bytes:
        return struct.pack(">hqq", 0, self.upstream, self.downstream) + _text(self.metadata)


def read_sync(key: bytes, value: bytes) -> Sync:
    topic, at = _read_text(key, 0)
    return Sync(topic, *struct.unpack_from(">i", key, at), *struct.unpack_from(">qq", value))


def read_checkpoint(key: bytes, value: bytes) -> Checkpoint:
    group, at = _read_text(key, 0)
    topic, at = _read_text(key, at)
    version, upstream, downstream = struct.unpack_from(">hqq", value)
    if version != 0:
        raise ValueError(f"a checkpoint of version {version}")
    (partition,) = struct.unpack_from(">i", key, at)
    return Checkpoint(group, topic, partition, upstream, downstream, _read_text(value, 18)[0])


def _text(value: str) -> bytes:
    data = value.encode()
    return struct.pack(">h", len(data)) + data


def _read_text(data: bytes, at: int) -> tuple[str, int]:
    (length,) = struct.unpack_from(">h", data, at)
    if length < 0 or at + 2 + length > len(data):
        raise ValueError(f"a text of {length} bytes in a record of {len(data)}")
    return data[at + 2 : at + 2 + length].decode(), at + 2 + length
