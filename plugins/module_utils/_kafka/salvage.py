# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes records of another cluster together with how far that has come, in one transaction: exactly once.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress

from .._core.errors import DrError
from .._core.offsets.tails import Progress, provenance
from .._core.waiting import Bounds, wait_until
from .._guard import require_ownership
from .client import Kafka, kafka_error
from .records import Record
from .topics import log_ranges

with suppress(ImportError):  # Kafka() reports the missing library before anything here runs
    from confluent_kafka import KafkaException

__all__ = ["Replayer"]

# What the target's topic takes decides; the library's own limit is a megabyte.
_LARGEST = 100_000_000
_UNDECIDED = Bounds(40.0, 0.1)


class Replayer:
    """One writer for each pair: its transactional id fences the one of a killed run (KIP-98)."""

    def __init__(self, kafka: Kafka, pair: str, state_topic: str) -> None:
        self._kafka, self._topic = kafka, state_topic
        settings = {"transactional.id": f"kafka-dr-salvage-{pair}", "transaction.timeout.ms": 30_000}
        self._producer = kafka.producer(**settings, **{"compression.type": "lz4", "message.max.bytes": _LARGEST})
        try:
            self._producer.init_transactions(kafka.timeout)
        except KafkaException as error:
            raise self._failed(error) from error
        place = (state_topic, 0)
        high = log_ranges(kafka, {place}, "read_uncommitted")[place][1]
        decided = wait_until(lambda: log_ranges(kafka, {place})[place][1], lambda end: end >= high, _UNDECIDED)
        if not decided.done:
            raise DrError(
                "state_busy",
                f'"{state_topic}" ends at {high}, but a transaction is open from {decided.state} on.',
                "Another run is writing, or one died: the broker ends its transaction after a while. Start again then.",
                kafka.bootstrap_servers,
            )

    def note(self, progress: Sequence[Progress]) -> None:
        """How far each partition has come."""
        self._transact([], "", "", progress)

    def send(self, topic: str, cluster: str, records: Sequence[Record], progress: Progress) -> None:
        """Records of one partition, and that they are done."""
        self._transact(records, topic, cluster, [progress])

    def close(self) -> None:
        """Nothing is open behind the last commit."""
        self._producer.flush(self._kafka.timeout)

    def _transact(self, records: Sequence[Record], topic: str, cluster: str, progress: Sequence[Progress]) -> None:
        producer = self._producer
        try:
            producer.begin_transaction()
            for record in records:
                self._produce(topic, record, cluster, progress[0])
            for one in progress:
                value = json.dumps(one.as_dict(), sort_keys=True).encode()
                producer.produce(self._topic, key=one.key.encode(), value=value, partition=0)
            require_ownership()
            producer.commit_transaction(self._kafka.timeout)
        except KafkaException as error:
            raise self._failed(error) from error

    def _produce(self, topic: str, record: Record, cluster: str, place: Progress) -> None:
        headers: list[tuple[str, str | bytes | None]] = [*(record.headers or ())]
        headers += provenance(cluster, place.topic, place.partition, record.offset)
        # 0 lets the library take the present time; a record without one had none that counts.
        timestamp = record.timestamp or 0
        while True:
            try:
                self._producer.produce(
                    topic,
                    key=record.key,
                    value=record.value,
                    headers=headers,
                    partition=place.partition,
                    timestamp=timestamp,
                )
            except BufferError:
                self._producer.poll(0.1)  # its queue is full
            else:
                return

    def _failed(self, error: KafkaException) -> DrError:
        cause = kafka_error(error, "bring records over", self._kafka.bootstrap_servers)
        return DrError(
            "not_replayed",
            cause.message,
            "What was committed is not brought over again: start the same playbook again.",
            self._kafka.bootstrap_servers,
        )
