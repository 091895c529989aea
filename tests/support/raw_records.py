# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write records that no client library can write: without a timestamp, or with header names that are not UTF-8.

Each record is a batch of its own, sent to the partition's leader without TLS. Source: DefaultRecordBatch and
DefaultRecord (message format 2), ProduceRequest version 3.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from confluent_kafka.admin import AdminClient

from tamper import crc32c

__all__ = ["NO_TIMESTAMP", "Raw", "write"]

NO_TIMESTAMP = -1
_PRODUCE, _VERSION = 0, 3
_ALL, _TIMEOUT_MS = -1, 30_000


@dataclass(frozen=True)
class Raw:
    """One record. ``timestamp``: epoch milliseconds. Header names are bytes."""

    value: bytes | None
    key: bytes | None = None
    timestamp: int = NO_TIMESTAMP
    headers: tuple[tuple[bytes, bytes | None], ...] = ()


def write(bootstrap: str, topic: str, records: Iterable[Raw], partition: int = 0) -> None:
    """Write the records in order, acknowledged by all in-sync replicas."""
    with _leader(bootstrap, topic, partition) as connection:
        for record in records:
            _send(connection, topic, partition, _batch(record))


@contextmanager
def _leader(bootstrap: str, topic: str, partition: int) -> Iterator[socket.socket]:
    found = AdminClient({"bootstrap.servers": bootstrap}).list_topics(topic, timeout=15)
    broker = found.brokers[found.topics[topic].partitions[partition].leader]
    with socket.create_connection((broker.host, broker.port), timeout=30) as connection:
        yield connection


def _send(connection: socket.socket, topic: str, partition: int, batch: bytes) -> None:
    head = struct.pack(">hhi", _PRODUCE, _VERSION, 1) + _string(b"raw")
    body = struct.pack(">hhi", -1, _ALL, _TIMEOUT_MS)
    body += struct.pack(">i", 1) + _string(topic.encode()) + struct.pack(">ii", 1, partition)
    request = head + body + struct.pack(">i", len(batch)) + batch
    connection.sendall(struct.pack(">i", len(request)) + request)
    (size,) = struct.unpack(">i", _read(connection, 4))
    answer = _read(connection, size)
    # Correlation id, topics, the topic's name, partitions, index, error.
    (error,) = struct.unpack_from(">h", answer, 4 + 4 + 2 + len(topic.encode()) + 4 + 4)
    if error:
        raise ValueError(f"{topic}-{partition}: the broker refused the record with error {error}")


def _read(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = connection.recv(size - len(data))
        if not more:
            raise ConnectionError("the broker closed the connection")
        data += more
    return data


def _string(data: bytes) -> bytes:
    return struct.pack(">h", len(data)) + data


def _batch(record: Raw) -> bytes:
    inner = b"\0" + _varint(0) + _varint(0) + _field(record.key) + _field(record.value)
    inner += _varint(len(record.headers))
    inner += b"".join(_field(name) + _field(value) for name, value in record.headers)
    checked = struct.pack(">hiqqqhii", 0, 0, record.timestamp, record.timestamp, -1, -1, -1, 1)
    checked += _varint(len(inner)) + inner
    rest = struct.pack(">ibI", -1, 2, crc32c(checked)) + checked
    return struct.pack(">qi", 0, len(rest)) + rest


def _field(data: bytes | None) -> bytes:
    return _varint(-1) if data is None else _varint(len(data)) + data


def _varint(number: int) -> bytes:
    """Zigzag, seven bits a byte."""
    left = (number << 1) ^ (number >> 63)
    out = bytearray()
    while left > 0x7F:
        out.append(left & 0x7F | 0x80)
        left >>= 7
    return bytes([*out, left])
