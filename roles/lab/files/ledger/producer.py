# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The producer: announces, sends, and records the outcome of each record."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from confluent_kafka import KafkaError, KafkaException, Message
from confluent_kafka import Producer as KafkaProducer

from ledger.definition import Definition
from ledger.endpoint import Endpoint
from ledger.errors import EXIT_BROKEN, EXIT_CLEAN, EXIT_UNCLEAN, LedgerError
from ledger.pace import TICK_SECONDS, Pace
from ledger.record import content_of, topic_of
from ledger.state import Life
from ledger.store import last_announced, ledger_path, now_us, open_ledger

# Errors after which the record is certainly not in the log. After all others, such as timeouts, that is unknown.
REFUSALS = {
    KafkaError._PURGE_QUEUE,
    KafkaError._UNKNOWN_TOPIC,
    KafkaError._UNKNOWN_PARTITION,
    KafkaError.MSG_SIZE_TOO_LARGE,
    KafkaError.INVALID_MSG,
    KafkaError.INVALID_RECORD,
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    KafkaError.POLICY_VIOLATION,
}


@dataclass
class Counts:
    """Counts of this run."""

    announced: int = 0
    acknowledged: int = 0
    failed: int = 0
    aborted: int = 0
    unknown: int = 0

    @property
    def in_flight(self) -> int:
        return self.announced - self.acknowledged - self.failed - self.aborted - self.unknown


def producer_config(client: Definition, endpoint: Endpoint) -> dict[str, object]:
    """Properties of the endpoint and the client, except those on which the guarantees of the ledger depend."""
    return {
        "bootstrap.servers": endpoint.bootstrap_servers,
        "client.id": client.name,
        "linger.ms": 50,
        "delivery.timeout.ms": 60_000,
        **endpoint.client_config,
        **client.login(),
        **client.config,
        "enable.idempotence": True,
        "acks": "all",
    }


class Outbox:
    """Sequence numbers, the ledger of sent records, and the outcome of each record."""

    def __init__(self, client: Definition, folder: Path, output: bool = False) -> None:
        path = ledger_path(folder, client.name, output=output)
        self.ledger, self.identity = open_ledger(path, "producer", client.name)
        self.next_seq = last_announced(path) + 1
        self.counts = Counts()

    def announce(self, records: int) -> range:
        """Write the announcements before the first record is sent. After a kill they show the unknown outcomes."""
        numbers = range(self.next_seq, self.next_seq + records)
        self.next_seq = numbers.stop
        self.ledger.add("A", numbers.start, numbers.stop - 1, now_us())
        self.ledger.flush()
        self.counts.announced += records
        return numbers

    def acknowledged(self, seq: int, message: Message, time_us: int) -> None:
        self.ledger.add("K", seq, message.topic(), message.partition(), message.offset(), time_us)
        self.counts.acknowledged += 1

    def aborted(self, seq: int, message: Message | None, time_us: int) -> None:
        place = (message.topic(), message.partition(), message.offset()) if message else ("-", -1, -1)
        self.ledger.add("X", seq, *place, time_us)
        self.counts.aborted += 1

    def settle(self, numbers: range, delivered: dict[int, Message], committed: bool) -> None:
        """Record the end of a transaction. All records get the time at which the call returned."""
        time_us = now_us()
        for seq in numbers:
            if committed:
                self.acknowledged(seq, delivered[seq], time_us)
            else:
                self.aborted(seq, delivered.get(seq), time_us)
        self.ledger.flush()

    def failed(self, seq: int, error: KafkaError) -> None:
        is_refusal = error.code() in REFUSALS
        self.ledger.add("F" if is_refusal else "U", seq, now_us(), error.name())
        if is_refusal:
            self.counts.failed += 1
        else:
            self.counts.unknown += 1

    def unsent(self, seq: int, reason: str) -> None:
        self.ledger.add("F", seq, now_us(), reason)
        self.counts.failed += 1


class PlainProducer:
    """Idempotent producer with acks=all and one delivery report per record."""

    def __init__(self, client: Definition, endpoint: Endpoint, outbox: Outbox, life: Life) -> None:
        self._client, self._endpoint, self._outbox, self._life = client, endpoint, outbox, life
        self._fatal = ""
        self._kafka = KafkaProducer({**producer_config(client, endpoint), "error_cb": self._on_error})

    def run(self) -> int:
        self._outbox.ledger.add("S", now_us(), "start", self._endpoint.alias, ",".join(self._endpoint.topics))
        connect(self._kafka, self._endpoint, self._life)
        pace = Pace(self._client.rate, time.monotonic())
        while not self._life.stopping and not self._fatal and not self._is_complete():
            self._send(pace.due(time.monotonic(), self._room()))
            self._serve(time.monotonic() + TICK_SECONDS)
            self._outbox.ledger.flush_if_due()
            self._life.count(vars(self._outbox.counts))
        return self._finish()

    def _room(self) -> int:
        room = self._client.max_in_flight - self._outbox.counts.in_flight
        return room if self._client.limit is None else min(room, self._client.limit - self._outbox.counts.announced)

    def _is_complete(self) -> bool:
        return self._client.limit is not None and self._outbox.counts.announced >= self._client.limit

    def _send(self, records: int) -> None:
        if records <= 0:
            return
        form, topics, identity = self._client.form, self._endpoint.topics, self._outbox.identity
        for seq in self._outbox.announce(records):
            content = content_of(identity, seq, form)
            try:
                self._kafka.produce(
                    topic_of(seq, form.keys, topics),
                    content.value,
                    content.key,
                    headers=content.headers,
                    on_delivery=partial(self._delivered, seq),
                )
            except (BufferError, KafkaException) as error:
                self._outbox.unsent(seq, type(error).__name__)

    def _serve(self, until: float) -> None:
        """Poll until the next tick. Poll returns after each report, and a batch per report would be slow."""
        while (left := until - time.monotonic()) > 0:
            self._kafka.poll(left)

    def _delivered(self, seq: int, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self._outbox.failed(seq, error)
            return
        self._outbox.acknowledged(seq, message, now_us())
        self._life.reach("working")

    def _on_error(self, error: KafkaError) -> None:
        if error.fatal():
            self._fatal = error.str()

    def _finish(self) -> int:
        self._kafka.flush(self._client.flush_seconds)
        counts = self._outbox.counts
        open_records = counts.in_flight + counts.unknown
        self._outbox.ledger.add("S", now_us(), "stop", self._endpoint.alias, f"unknown={open_records}")
        self._outbox.ledger.close()
        if self._fatal:
            return self._life.end(EXIT_BROKEN, self._fatal, vars(counts))
        if open_records:
            text = (
                f"The outcome of {open_records} records is unknown after a flush of {self._client.flush_seconds:g} s."
            )
            return self._life.end(EXIT_UNCLEAN, text, vars(counts))
        return self._life.end(EXIT_CLEAN, "", vars(counts))


def connect(kafka: KafkaProducer, endpoint: Endpoint, life: Life) -> None:
    """Wait until the broker returns each topic, or the client must stop. Raises LedgerError for a missing topic."""
    if not endpoint.topics:
        raise LedgerError("The endpoint file has no KAFKA_TOPICS, so there is nothing to write to.")
    for topic in endpoint.topics:
        while not life.stopping:
            try:
                found = kafka.list_topics(topic, timeout=1.0).topics[topic]
            except KafkaException as error:
                if not error.args[0].retriable() and error.args[0].code() != KafkaError._TRANSPORT:
                    raise LedgerError(f"{endpoint.bootstrap_servers}: {error.args[0].str()}", EXIT_BROKEN) from error
                continue
            if found.error is not None:
                raise LedgerError(
                    f"Topic {topic!r} on {endpoint.alias or endpoint.bootstrap_servers}: {found.error.str()}. "
                    "Create it before you start its producer.",
                    EXIT_BROKEN,
                )
            break
    life.reach("connected")
