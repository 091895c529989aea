# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the events of the journal topic on one cluster, and append events in transactions.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from .._core.errors import DrError
from .._core.journal.events import Event, encode
from .._core.partition import Partition
from .client import Kafka
from .records import data_records
from .topics import why_not_written

with suppress(ImportError):  # Kafka() reports the missing library before anything here runs
    from confluent_kafka import KafkaError, KafkaException, Producer

__all__ = ["Appender", "Undecided", "read"]

# A transaction also needs a write to this topic of the brokers.
_TRANSACTIONS = "__transaction_state"


class Undecided(DrError):  # noqa: N818 - reads as what happened
    """It is unknown whether the events were written: another writer claimed the journal, or the response is missing.

    Claim the journal again to end open transactions, then read it to see whether the events were written.
    """


def read(kafka: Kafka, topic: str, span: tuple[int, int]) -> list[bytes]:
    """Return all records in the offset range ``span`` of the topic, in order."""
    return [record.value for record in data_records(kafka, Partition(topic, 0), *span) if record.value]


class Appender:
    """Append events of ``pair`` in transactions.

    The transactional id is fixed for each pair, so a writer that claims the journal fences all earlier writers
    (KIP-98). Claim first, then read the journal and decide: an append succeeds only if no other writer has claimed the
    journal since.

    A client without a connection to a broker that the metadata name finds no coordinator, and retries only after half a
    second. So the constructor connects.
    """

    def __init__(self, kafka: Kafka, topic: str, pair: str) -> None:
        self._kafka, self._topic, self._pair = kafka, topic, pair
        self._producer = self._connected()

    def _connected(self) -> Producer:
        producer = self._kafka.producer(
            **{
                "transactional.id": f"kafka-dr-{self._pair}",
                "transaction.timeout.ms": 15000,
                # One event can hold the committed offsets of many groups. Compression keeps it far below the topic's
                # limit.
                "compression.type": "gzip",
                "message.max.bytes": 100_000_000,
                # librdkafka waits half of this before it connects to a second broker.
                "reconnect.backoff.ms": 20,
            }
        )
        with suppress(KafkaException):
            # The first response names the brokers, and the second one comes from a connection to one of them.
            for _attempt in range(2):
                producer.list_topics(self._topic, self._kafka.timeout)
        return producer

    def claim(self) -> None:
        """Fence every earlier writer, and end the transaction that a dead one may have left open."""
        self._try(lambda: self._producer.init_transactions(self._kafka.timeout), "claim", DrError)

    def claim_again(self) -> None:
        """Claim with a new producer, after :class:`Undecided`: a fenced producer cannot be used again."""
        self._producer = self._connected()
        self.claim()

    def append(self, events: Sequence[Event]) -> None:
        """Append ``events`` in one transaction. Raises :class:`Undecided` if the outcome is unknown."""
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
            needs = (("topic", self._topic, "write"), ("transactional_id", f"kafka-dr-{self._pair}", "write"))
            cause = self._kafka.explain(error, f'{doing} the journal "{self._topic}"', *needs)
            refused = why_not_written(self._kafka, [self._topic, _TRANSACTIONS])
            lacks_right = cause.code == "not_authorized"
            if error.args[0].code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
                # Brokers check this right for AddPartitionsToTxn and Produce. librdkafka sends EndTxn only after both
                # have succeeded, so nothing was committed. A refused transactional id decides nothing: it may be the
                # response to a repeated EndTxn whose first one was carried out.
                kind = DrError
            raise kind(
                "journal_not_written",
                f"The journal could not be written: {cause.message}{refused}",
                cause.hint
                if lacks_right
                else "Check that the topic exists (the playbook enable creates it), and that no other run is active. No"
                " step runs without the journal.",
                servers,
            ) from error
