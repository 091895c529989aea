# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The records that every group must have processed, and how often, from the logs and the committed offsets of its
tenures.

The truth besides the ledgers: record identities are read from all four topics. This distinguishes re-reads caused by a
committed offset from copies that MirrorMaker 2 left twice in a replica (R4).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from confluent_kafka import Consumer, TopicPartition

Place = tuple[str, str, int]  # Alias, topic, partition.
Log = list[tuple[int, bytes]]  # Offset and identity of each committed record.


@dataclass(frozen=True)
class TenureSpan:
    """One group on one cluster: for each partition, the range [begin, end) that it read there."""

    alias: str
    spans: Mapping[tuple[str, int], tuple[int, int]]


@dataclass
class Account:
    """For one group: the records processed more than once, and those of them that a committed offset caused."""

    repeated: int
    caused: int
    skipped: int


def read_log(servers: str, topic: str, partition: int, client: Mapping[str, str] | None = None) -> Log:
    """All committed records that a partition has now: the offset, and (producer, seq) from the value.

    While applications write, the end of the partition may never be reported.
    """
    options = {**(client or {}), "bootstrap.servers": servers, "group.id": "accounts", "enable.auto.commit": False}
    consumer = Consumer({**options, "isolation.level": "read_committed", "enable.partition.eof": True})
    found: Log = []
    try:
        _start, end = consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=30)
        consumer.assign([TopicPartition(topic, partition, 0)])
        while not found or found[-1][0] < end - 1:
            messages: list[Any] = consumer.consume(2000, 0.5)
            for message in messages:
                if message.error() is not None:
                    if message.error().name() == "_PARTITION_EOF":
                        return found
                    raise AssertionError(message.error())
                value = message.value() or b""
                found.append((message.offset(), b"|".join(value.split(b"|", 2)[:2])))
        return found
    finally:
        consumer.close()


def account(stays: list[TenureSpan], logs: Mapping[Place, Log], copies: Mapping[Place, Place]) -> Account:
    """``copies``: replica partition -> the original that it is a copy of."""
    read: Counter[bytes] = Counter()
    caused = 0
    for number, tenure in enumerate(stays):
        before = Counter(read)
        for (topic, partition), (begin, end) in tenure.spans.items():
            place = (tenure.alias, topic, partition)
            below = {identity for offset, identity in logs[place] if offset < begin}
            here = [identity for offset, identity in logs[place] if begin <= offset < end]
            read.update(here)
            if number:
                # A first copy after the offset of a record processed before: not a resend, but caused by the offset.
                caused += sum(1 for identity in set(here) if before[identity] and identity not in below)
    wanted = {identity for place, log in logs.items() if place not in copies for _offset, identity in log}
    repeated = sum(count - 1 for count in read.values() if count > 1)
    return Account(repeated, caused, len(wanted - set(read)))


def resent(log: Log) -> list[int]:
    """The offsets of records that are in the log for the second time or more."""
    seen: set[bytes] = set()
    again = []
    for offset, identity in log:
        if identity in seen:
            again.append(offset)
        seen.add(identity)
    return again


def committed_offsets(rows: Any) -> dict[str, dict[tuple[str, int], int]]:
    """The start offsets by group, from the details of a report."""
    found: dict[str, dict[tuple[str, int], int]] = {}
    for row in rows:
        found.setdefault(row["group"], {})[row["topic"], row["partition"]] = row["offset"]
    return found


def ends(nested: Mapping[str, Mapping[str, Mapping[str, int]]]) -> dict[str, dict[tuple[str, int], int]]:
    """The offsets by group at a barrier, from the barrier of a report."""
    return {
        group: {(topic, int(number)): at for topic, parts in topics.items() for number, at in parts.items()}
        for group, topics in nested.items()
    }
