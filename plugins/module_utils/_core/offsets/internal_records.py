# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""MirrorMaker 2's internal records: offset-syncs, checkpoints, heartbeats.

Sources: org.apache.kafka.connect.mirror.OffsetSync, Checkpoint, Heartbeat (Kafka 4.3.1). Big-endian; a STRING is
an int16 byte length and UTF-8. Offset-syncs carry no version; the other two carry version 0, others are refused.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from ..errors import DrError

__all__ = [
    "Checkpoint",
    "Heartbeat",
    "OffsetSync",
    "decode_checkpoint",
    "decode_heartbeat",
    "decode_offset_sync",
]


@dataclass(frozen=True)
class OffsetSync:
    """Source record ``upstream`` of (topic, partition) was acknowledged at replica offset ``downstream``."""

    topic: str
    partition: int
    upstream: int
    downstream: int


@dataclass(frozen=True)
class Checkpoint:
    """A group's committed offset ``upstream`` on the source, translated to ``downstream`` on the replica ``topic``."""

    group: str
    topic: str
    partition: int
    upstream: int
    downstream: int
    metadata: str


@dataclass(frozen=True)
class Heartbeat:
    """A heartbeat of the flow ``source`` -> ``target``."""

    source: str
    target: str
    #: Epoch milliseconds.
    timestamp: int


class _Bytes:
    """Reads fields from a byte string. Raises ``bad_record`` if it is too short."""

    def __init__(self, kind: str, data: bytes) -> None:
        self._kind = kind
        self._data = data
        self._at = 0

    def number(self, code: str) -> int:
        size = struct.calcsize(code)
        if self._at + size > len(self._data):
            raise DrError("bad_record", f"The {self._kind} record is too short: {self._data.hex()}.")
        (value,) = struct.unpack_from(code, self._data, self._at)
        self._at += size
        return int(value)

    def string(self) -> str:
        length = self.number(">h")
        if length < 0 or self._at + length > len(self._data):
            raise DrError("bad_record", f"The {self._kind} record has an invalid text length: {self._data.hex()}.")
        try:
            text = self._data[self._at : self._at + length].decode("utf-8")
        except UnicodeDecodeError as error:
            raise DrError("bad_record", f"The {self._kind} record has invalid UTF-8: {self._data.hex()}.") from error
        self._at += length
        return text

    def version(self) -> None:
        found = self.number(">h")
        if found != 0:
            raise DrError(
                "unknown_version",
                f"The {self._kind} record has version {found}, wanted version 0.",
                "A newer MirrorMaker 2 wrote it than this collection supports, or the flow ran with its worker's"
                " converter, which the playbook enable replaces.",
            )


def decode_offset_sync(key: bytes, value: bytes) -> OffsetSync:
    """One record of ``mm2-offset-syncs.X.internal``. Skip tombstones before calling."""
    head, body = _Bytes("offset-sync", key), _Bytes("offset-sync", value)
    return OffsetSync(head.string(), head.number(">i"), body.number(">q"), body.number(">q"))


def decode_checkpoint(key: bytes, value: bytes) -> Checkpoint:
    """One record of ``X.checkpoints.internal``. Skip tombstones before calling."""
    head, body = _Bytes("checkpoint", key), _Bytes("checkpoint", value)
    group, topic, partition = head.string(), head.string(), head.number(">i")
    body.version()
    return Checkpoint(group, topic, partition, body.number(">q"), body.number(">q"), body.string())


def decode_heartbeat(key: bytes, value: bytes) -> Heartbeat:
    """One record of ``heartbeats`` or ``X.heartbeats``."""
    head, body = _Bytes("heartbeat", key), _Bytes("heartbeat", value)
    source, target = head.string(), head.string()
    body.version()
    return Heartbeat(source, target, body.number(">q"))
