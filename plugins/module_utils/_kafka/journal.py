# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The journal topic on one cluster: read all events, append some in one transaction.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from .._core.errors import DrError
from .._core.journal import Event, decode, encode
from .client import Kafka, kafka_error
from .records import data_records

with suppress(ImportError):  # Kafka() reports the missing library before anything here runs
    from confluent_kafka import KafkaException

__all__ = ["Appender", "read"]


def read(kafka: Kafka, topic: str, pair: str, span: tuple[int, int]) -> list[Event]:
    """All events of ``pair`` within ``span`` of the topic."""
    start, end = span
    decoded = [decode(record.value) for record in data_records(kafka, (topic, 0), start, end) if record.value]
    return [event for owner, event in decoded if owner == pair]


class Appender:
    """Appends events of ``pair`` in transactions.

    The transactional id is fixed per pair: a new run fences the writer of an old one (KIP-98), so a controller that
    comes back from the dead cannot write behind its successor. That happens at the first append, not here.

    To be made before the journal is read: a client that has not been connected for a moment finds no coordinator, and
    asks again after half a second.
    """

    def __init__(self, kafka: Kafka, topic: str, pair: str) -> None:
        self._kafka, self._topic, self._pair = kafka, topic, pair
        self._producer = kafka.producer(
            **{
                "transactional.id": f"kafka-dr-{pair}",
                "transaction.timeout.ms": 15000,
                # The positions of many groups in one event: far below the topic's limit once they are compressed.
                "compression.type": "gzip",
                "message.max.bytes": 100_000_000,
            }
        )
        with suppress(KafkaException):
            self._producer.list_topics(topic, kafka.timeout)

    def append(self, events: Sequence[Event]) -> None:
        """Append ``events`` in one transaction."""
        producer, timeout = self._producer, self._kafka.timeout
        try:
            producer.init_transactions(timeout)
            producer.begin_transaction()
            for event in events:
                producer.produce(self._topic, key=self._pair.encode(), value=encode(self._pair, event), partition=0)
            producer.commit_transaction(timeout)
        except KafkaException as error:
            servers = self._kafka.bootstrap_servers
            cause = kafka_error(error, f'append to the journal "{self._topic}"', servers)
            raise DrError(
                "journal_not_written",
                f"The journal could not be written: {cause.message}",
                "Nothing goes on without it. Check the topic (playbook enable creates it), its ACLs, or a second run.",
                servers,
            ) from error
