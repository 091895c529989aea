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

__all__ = ["bit_set", "run_lengths", "streams"]


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
