# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write records of another cluster together with the progress, in one transaction, so each is written exactly once.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress

from .._core.errors import DrError
from .._core.offsets.tails import Progress, provenance
from .._core.partition import Partition
from .._core.waiting import Bounds, wait_until
from .._guard import require_ownership
from .client import Kafka, Need
from .records import Record
from .topics import log_ranges

with suppress(ImportError):  # Kafka() reports the missing library before anything here runs
    from confluent_kafka import KafkaException

__all__ = ["Replayer"]

# The limit of the target topic applies. The default limit of the library is 1 MB.
_LARGEST = 100_000_000
_UNDECIDED = Bounds(40.0, 0.1)


class Replayer:
    """The writer of a pair's lost records. Its transactional id fences the writer of a killed run (KIP-98).

    ``state_topic``: the topic that stores the progress. Raises ``state_busy`` while a transaction of another writer is
    open there.
    """

    def __init__(self, kafka: Kafka, pair: str, state_topic: str) -> None:
        self._kafka, self._topic = kafka, state_topic
        self._id = f"kafka-dr-salvage-{pair}"
        settings = {"transactional.id": self._id, "transaction.timeout.ms": 30_000}
        self._producer = kafka.producer(**settings, **{"compression.type": "lz4", "message.max.bytes": _LARGEST})
        try:
            self._producer.init_transactions(kafka.timeout)
        except KafkaException as error:
            raise self._failed(error) from error
        place = Partition(state_topic, 0)
        high = log_ranges(kafka, {place}, "read_uncommitted")[place][1]
        decided = wait_until(lambda: log_ranges(kafka, {place})[place][1], lambda end: end >= high, _UNDECIDED)
        if not decided.done:
            raise DrError(
                "state_busy",
                f'The topic "{state_topic}" has an open transaction: its high watermark is {high}, its last stable'
                f" offset {decided.state}.",
                "Another run writes there, or a run was killed and the broker ends its transaction within a minute."
                " Wait for it, then start the same playbook again.",
                kafka.bootstrap_servers,
            )

    def note(self, progress: Sequence[Progress]) -> None:
        """Store the progress of partitions, without records."""
        self._transact([], "", "", progress)

    def send(self, topic: str, cluster: str, records: Sequence[Record], progress: Progress) -> None:
        """Write records of one partition to ``topic``, and store the progress in the same transaction.

        ``cluster``: the alias of the cluster that the records come from, for their provenance headers.
        """
        self._transact(records, topic, cluster, [progress])

    def close(self) -> None:
        """Flush the producer. No transaction is open after the last commit."""
        self._producer.flush(self._kafka.timeout)

    def _transact(self, records: Sequence[Record], topic: str, cluster: str, progress: Sequence[Progress]) -> None:
        producer = self._producer
        try:
            producer.begin_transaction()
            for record in records:
                self._produce(topic, record, cluster, progress[0])
            for item in progress:
                value = json.dumps(item.as_dict(), sort_keys=True).encode()
                producer.produce(self._topic, key=item.key.encode(), value=value, partition=0)
            require_ownership()
            producer.commit_transaction(self._kafka.timeout)
        except KafkaException as error:
            raise self._failed(error, ("topic", topic or self._topic, "write")) from error

    def _produce(self, topic: str, record: Record, cluster: str, place: Progress) -> None:
        headers: list[tuple[str, str | bytes | None]] = [*(record.headers or ())]
        headers += provenance(cluster, place.topic, place.partition, record.offset)
        # 0 makes the library use the current time, for a record without a timestamp.
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
                self._producer.poll(0.1)  # the producer's queue is full
            else:
                return

    def _failed(self, error: KafkaException, *needs: Need) -> DrError:
        cause = self._kafka.explain(error, "replay records", ("transactional_id", self._id, "write"), *needs)
        return DrError(
            "not_replayed",
            cause.message,
            cause.hint
            if cause.code == "not_authorized"
            else "Start the same playbook again. It does not write committed records a second time.",
            self._kafka.bootstrap_servers,
        )
