# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Format of a ledger record. Its identity is in the value, which replication does not change."""

from __future__ import annotations

SEPARATOR = b"|"
FOREIGN = ("-", -1)


def value_of(producer: str, seq: int, size: int, source: str = "") -> bytes:
    """``producer|seq|source|``, padded to `size` bytes. `source` is the input record of a processor's output."""
    head = f"{producer}|{seq}|{source}|".encode()
    return head.ljust(size, b".")


def identity_of(value: bytes) -> tuple[str, int]:
    """Producer and sequence number, or FOREIGN for a record that no ledger client wrote."""
    parts = value.split(SEPARATOR, 3)
    if len(parts) != 4 or not parts[1].isdigit() or not parts[0].isascii() or b"\t" in parts[0]:
        return FOREIGN
    return parts[0].decode(), int(parts[1])


def key_of(seq: int, keys: int) -> bytes:
    return b"k%d" % (seq % keys)


def topic_of(seq: int, keys: int, topics: tuple[str, ...]) -> str:
    """Distribute keys over the topics. A key keeps its topic, so that the order within a key can be checked."""
    return topics[seq % max(keys, len(topics)) % len(topics)]
