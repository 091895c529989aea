# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The journal topic on one cluster: read all events, append some in one transaction.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from .._core.errors import DrError
from .._core.journal.events import Event, decode, encode
from .client import Kafka, kafka_error
from .records import data_records

with suppress(ImportError):  # Kafka() reports the missing library before anything here runs
    from confluent_kafka import KafkaException, Producer

__all__ = ["Appender", "Undecided", "read"]


class Undecided(DrError):  # noqa: N818 - reads as what happened
    """Whether it was written is not known: another writer has claimed the journal since, or the answer did not come.

    Claimed again, the journal shows it: what was open then has ended.
    """


def read(kafka: Kafka, topic: str, pair: str, span: tuple[int, int]) -> list[Event]:
    """All events of ``pair`` within ``span`` of the topic."""
    start, end = span
    decoded = [decode(record.value) for record in data_records(kafka, (topic, 0), start, end) if record.value]
    return [event for owner, event in decoded if owner == pair]


class Appender:
    """Appends events of ``pair`` in transactions.

    The transactional id is fixed per pair: whoever claims the journal fences all writers before it (KIP-98), so that
    what is decided from a look behind the claim is written only if nobody else has written since.

    To be made before the journal is read: a client that has not been connected for a moment finds no coordinator, and
    asks again after half a second.
    """

    def __init__(self, kafka: Kafka, topic: str, pair: str) -> None:
        self._kafka, self._topic, self._pair = kafka, topic, pair
        self._producer = self._connected()

    def _connected(self) -> Producer:
        producer = self._kafka.producer(
            **{
                "transactional.id": f"kafka-dr-{self._pair}",
                "transaction.timeout.ms": 15000,
                # The positions of many groups in one event: far below the topic's limit once they are compressed.
                "compression.type": "gzip",
                "message.max.bytes": 100_000_000,
            }
        )
        with suppress(KafkaException):
            producer.list_topics(self._topic, self._kafka.timeout)
        return producer

    def claim(self) -> None:
        """Fence every writer before this one, and end what one that died has left open."""
        self._try(lambda: self._producer.init_transactions(self._kafka.timeout), "claim", DrError)

    def claim_again(self) -> None:
        """After :class:`Undecided`: a producer that was fenced is of no use any more."""
        self._producer = self._connected()
        self.claim()

    def append(self, events: Sequence[Event]) -> None:
        """Append ``events`` in one transaction. Raises :class:`Undecided`."""
        self._try(lambda: self._send(events), "append to", Undecided)

    def _send(self, events: Sequence[Event]) -> None:
        producer = self._producer
        producer.begin_transaction()
        for event in events:
            producer.produce(self._topic, key=self._pair.encode(), value=encode(self._pair, event), partition=0)
        producer.commit_transaction(self._kafka.timeout)

    def _try(self, work: Callable[[], None], doing: str, kind: type[DrError]) -> None:
        try:
            work()
        except KafkaException as error:
            servers = self._kafka.bootstrap_servers
            cause = kafka_error(error, f'{doing} the journal "{self._topic}"', servers)
            raise kind(
                "journal_not_written",
                f"The journal could not be written: {cause.message}",
                "Nothing goes on without it. Check the topic (playbook enable creates it), its ACLs, or a second run.",
                servers,
            ) from error
