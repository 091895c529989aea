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
from .topics import describe, log_ranges

with suppress(ImportError):  # Kafka() reports the missing library before anything here runs
    from confluent_kafka import KafkaException

__all__ = ["append", "read"]


def read(kafka: Kafka, topic: str, pair: str) -> list[Event] | None:
    """All events of ``pair``; None when the topic does not exist (never: an unknown topic is not an empty journal)."""
    if describe(kafka, [topic])[topic] is None:
        return None
    start, end = log_ranges(kafka, {(topic, 0)}, "read_committed")[topic, 0]
    decoded = [decode(record.value) for record in data_records(kafka, (topic, 0), start, end) if record.value]
    return [event for owner, event in decoded if owner == pair]


def append(kafka: Kafka, topic: str, pair: str, events: Sequence[Event]) -> None:
    """Append ``events`` in one transaction.

    The transactional id is fixed per pair: a new run fences the writer of an old one (KIP-98), so a controller that
    comes back from the dead cannot write behind its successor.
    """
    producer = kafka.producer(
        **{
            "transactional.id": f"kafka-dr-{pair}",
            "transaction.timeout.ms": 15000,
            # The positions of many groups in one event: far below the topic's limit once they are compressed.
            "compression.type": "gzip",
            "message.max.bytes": 100_000_000,
        }
    )
    doing = f'append to the journal "{topic}"'
    try:
        producer.init_transactions(kafka.timeout)
        producer.begin_transaction()
        for event in events:
            producer.produce(topic, key=pair.encode(), value=encode(pair, event), partition=0)
        producer.commit_transaction(kafka.timeout)
    except KafkaException as error:
        cause = kafka_error(error, doing, kafka.bootstrap_servers)
        raise DrError(
            "journal_not_written",
            f"The journal could not be written: {cause.message}",
            "Nothing goes on without it. Check the topic (playbook enable creates it), its ACLs, or a second run.",
            kafka.bootstrap_servers,
        ) from error
