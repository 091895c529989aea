# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The transactional producer: sends batches and aborts a share of them on purpose."""

from __future__ import annotations

import time

from ledger.definition import Definition
from ledger.endpoint import Endpoint
from ledger.errors import EXIT_CLEAN, EXIT_UNCLEAN
from ledger.pace import TICK_SECONDS, Pace
from ledger.producer import Outbox, connect, producer_config
from ledger.record import content_of, topic_of
from ledger.state import Life
from ledger.store import now_us
from ledger.transaction import OutcomeUnknownError, Transactions


def is_aborted(number: int, share: float) -> bool:
    """Whether to abort this transaction. Aborts are spread evenly: n * share of the first n transactions."""
    return int((number + 1) * share) > int(number * share)


class TransactionalProducer:
    """A record counts as acknowledged when commit_transaction returns."""

    def __init__(self, client: Definition, endpoint: Endpoint, outbox: Outbox, life: Life) -> None:
        self._client, self._endpoint, self._outbox, self._life = client, endpoint, outbox, life
        config = producer_config(client, endpoint)
        self._transactions = Transactions(config, f"ledger-{client.name}", life, client.flush_seconds)
        self._number = 0

    def run(self) -> int:
        self._outbox.ledger.add("S", now_us(), "start", self._endpoint.alias, ",".join(self._endpoint.topics))
        connect(self._transactions.kafka, self._endpoint, self._life)
        message = ""
        try:
            if self._transactions.initialise():
                self._produce()
        except OutcomeUnknownError as error:
            message = f"The outcome of the last transaction is unknown: {error}."
        counts = self._outbox.counts
        self._outbox.ledger.add("S", now_us(), "stop", self._endpoint.alias, f"unknown={counts.in_flight}")
        self._outbox.ledger.close()
        return self._life.end(EXIT_UNCLEAN if message else EXIT_CLEAN, message, vars(counts))

    def _produce(self) -> None:
        pace = Pace(self._client.rate, time.monotonic())
        waiting = 0
        while not self._life.stopping:
            left = self._left()
            if left == 0:
                return
            size = min(self._client.transaction_size, left)
            waiting += pace.due(time.monotonic(), size - waiting)
            if waiting < size:
                self._transactions.kafka.poll(TICK_SECONDS)
                continue
            self._transact(waiting)
            waiting = 0
            self._life.count(vars(self._outbox.counts))

    def _left(self) -> int:
        limit = self._client.limit
        return self._client.transaction_size if limit is None else max(0, limit - self._outbox.counts.announced)

    def _transact(self, records: int) -> None:
        """Run one transaction. Its whole outcome is in the ledger before the next one is announced."""
        numbers = self._outbox.announce(records)
        self._transactions.begin()
        for seq in numbers:
            topic = topic_of(seq, self._client.keys, self._endpoint.topics)
            self._transactions.produce(seq, topic, content_of(self._outbox.identity, seq, self._client.form))
        aborts = is_aborted(self._number, self._client.abort_share)
        self._number += 1
        if aborts:
            # Flush first, so that the aborted records are really in the log and test the readers.
            self._transactions.flush()
            self._transactions.abort()
        committed = not aborts and self._transactions.commit()
        self._write_down(numbers, committed)

    def _write_down(self, numbers: range, committed: bool) -> None:
        self._outbox.settle(numbers, self._transactions.delivered, committed)
        if committed:
            self._life.reach("working")
