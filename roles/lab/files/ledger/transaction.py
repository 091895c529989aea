# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kafka transactions with a time limit and an explicit unknown outcome."""

from __future__ import annotations

import time
from collections.abc import Callable

from confluent_kafka import KafkaError, KafkaException, Message, TopicPartition
from confluent_kafka import Producer as KafkaProducer

from ledger.errors import EXIT_BROKEN, LedgerError
from ledger.record import Content
from ledger.state import Life

CALL_SECONDS = 5.0


class OutcomeUnknownError(Exception):
    """Kafka neither confirmed nor rejected the commit, so it is unknown whether the records are in the log."""


class Transactions:
    """A transactional producer. Its fixed transactional.id fences the open transaction of a killed predecessor."""

    def __init__(self, config: dict[str, object], transactional_id: str, life: Life, bound_seconds: float) -> None:
        self.kafka = KafkaProducer({**config, "transactional.id": transactional_id, "error_cb": lambda _error: None})
        self._life, self._bound = life, bound_seconds
        self.delivered: dict[int, Message] = {}

    def initialise(self) -> bool:
        """Wait for a reachable coordinator. Returns False if the client must stop first."""
        while not self._life.stopping:
            if self._tried(lambda: self.kafka.init_transactions(1.0)):
                return True
        return False

    def begin(self) -> None:
        self.delivered.clear()
        self.kafka.begin_transaction()

    def produce(self, seq: int, topic: str, content: Content) -> None:
        self.kafka.produce(
            topic,
            content.value,
            content.key,
            headers=content.headers,
            on_delivery=lambda error, message: self._report(seq, error, message),
        )

    def commit(self) -> bool:
        """Return True if committed, False if aborted. Raises OutcomeUnknownError after the time limit."""
        started = time.monotonic()
        while time.monotonic() - started < self._bound:
            try:
                self.kafka.commit_transaction(CALL_SECONDS)
                return True
            except KafkaException as error:
                reason = error.args[0]
                if reason.txn_requires_abort():
                    self.abort()
                    return False
                if not reason.retriable():
                    raise OutcomeUnknownError(reason.str()) from error
        raise OutcomeUnknownError(f"no response to the commit within {self._bound:g} s")

    def send_offsets(self, committed_offsets: list[TopicPartition], group: object) -> bool:
        """Add the input offsets. Returns False if the transaction was aborted, for example after a rebalance."""
        started = time.monotonic()
        while time.monotonic() - started < self._bound:
            try:
                self.kafka.send_offsets_to_transaction(committed_offsets, group, CALL_SECONDS)
                return True
            except KafkaException as error:
                reason = error.args[0]
                if reason.fatal() or not (reason.retriable() or reason.txn_requires_abort()):
                    raise OutcomeUnknownError(reason.str()) from error
                if reason.txn_requires_abort():
                    break
        self.abort()
        return False

    def abort(self) -> None:
        started = time.monotonic()
        while time.monotonic() - started < self._bound:
            if self._tried(lambda: self.kafka.abort_transaction(CALL_SECONDS)):
                return
        raise OutcomeUnknownError(f"no response to the abort within {self._bound:g} s")

    def flush(self) -> None:
        self.kafka.flush(self._bound)

    def _tried(self, call: Callable[[], object]) -> bool:
        """Call once. Returns False for a retriable error. Raises LedgerError for one that is not abortable either."""
        try:
            call()
        except KafkaException as error:
            reason = error.args[0]
            if reason.retriable() or reason.code() in (KafkaError._TIMED_OUT, KafkaError._TRANSPORT):
                return False
            raise LedgerError(f"Kafka rejected the transaction: {reason.str()}", EXIT_BROKEN) from error
        return True

    def _report(self, seq: int, error: KafkaError | None, message: Message) -> None:
        if error is None:
            self.delivered[seq] = message
