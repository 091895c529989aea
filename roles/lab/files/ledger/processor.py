# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The processor: consume, transform, produce, and commit the input offsets in the same transaction."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from confluent_kafka import KafkaException, TopicPartition

from ledger.consumer import Intake, Received, write_processed
from ledger.definition import Definition
from ledger.endpoint import Endpoint
from ledger.errors import EXIT_CLEAN, EXIT_UNCLEAN, LedgerError
from ledger.producer import Outbox, producer_config
from ledger.record import Content, value_of
from ledger.state import Life
from ledger.store import ledger_path, now_us, open_ledger
from ledger.transaction import OutcomeUnknownError, Transactions


@dataclass
class Counts:
    """Counts of this run."""

    processed: int = 0
    transactions: int = 0
    given_up: int = 0
    rebalances: int = 0
    read_to: int = 0


class Processor:
    """Processes exactly once on one cluster: input offsets and output become visible together or not at all."""

    def __init__(self, client: Definition, endpoint: Endpoint, folder: Path, life: Life) -> None:
        self._outputs = client.output_topics or endpoint.topics
        if loop := set(self._outputs) & set(endpoint.subscribe):
            raise LedgerError(f"Processor {client.name!r} would read its own output topics: {', '.join(sorted(loop))}.")
        if not self._outputs:
            raise LedgerError(f"Processor {client.name!r} has no output_topics, and its endpoint file no KAFKA_TOPICS.")
        self._ledger, _identity = open_ledger(ledger_path(folder, client.name), "consumer", client.consumer_group)
        self._outbox = Outbox(client, folder, output=True)
        self._client, self._endpoint, self._life = client, endpoint, life
        self._intake = Intake(client, endpoint, 0, life)
        config = producer_config(client, endpoint)
        self._transactions = Transactions(config, f"ledger-{client.name}", life, client.flush_seconds)
        self._counts = Counts()

    def run(self) -> int:
        self._ledger.add("S", now_us(), "start", self._endpoint.alias, ",".join(self._endpoint.subscribe))
        self._outbox.ledger.add("S", now_us(), "start", self._endpoint.alias, ",".join(self._outputs))
        exit_code, message = EXIT_CLEAN, ""
        try:
            if self._transactions.initialise():
                self._intake.subscribe()
                self._process()
        except LedgerError as error:
            exit_code, message = error.exit_code, str(error)
        except OutcomeUnknownError as error:
            exit_code, message = EXIT_UNCLEAN, f"The outcome of the last transaction is unknown: {error}."
        finally:
            self._ledger.flush()
            self._intake.kafka.close()
        for ledger in (self._ledger, self._outbox.ledger):
            ledger.add("S", now_us(), "stop", self._endpoint.alias, f"exit={exit_code}")
            ledger.close()
        return self._life.end(exit_code, message, self._all_counts())

    def _process(self) -> None:
        while not self._life.stopping:
            if records := self._intake.take():
                self._transact(records)
            self._counts.rebalances, self._counts.read_to = self._intake.rebalances, sum(self._intake.read_to.values())
            self._life.count(self._all_counts())

    def _transact(self, records: list[Received]) -> None:
        """Announce output and input, run one transaction, then record its end in both ledgers.

        Q lines without an end are a transaction with an unknown outcome: the checker counts them neither as processed
        nor as lost. The number of a transaction is the sequence number of its first output, which is unique.
        """
        numbers = self._outbox.announce(len(records))
        time_us = now_us()
        for record in records:
            write_processed(self._ledger, "Q", record, time_us, numbers.start)
        self._ledger.flush()
        committed = self._run_transaction(numbers, records)
        self._ledger.add("C" if committed else "D", numbers.start, now_us())
        self._ledger.flush()
        self._outbox.settle(numbers, self._transactions.delivered, committed)
        if committed:
            self._counts.processed += len(records)
            self._counts.transactions += 1
        else:
            self._counts.given_up += 1
            self._rewind(records)

    def _run_transaction(self, numbers: range, records: list[Received]) -> bool:
        self._transactions.begin()
        for seq, record in zip(numbers, records, strict=True):
            source = f"{record.producer}:{record.seq}"
            value = value_of(self._outbox.identity, seq, self._client.size, source)
            topic = self._outputs[seq % len(self._outputs)]
            self._transactions.produce(seq, topic, Content(record.key, value, []))
        offsets = {(item.topic, item.partition): item.offset + 1 for item in records}
        committed_offsets = [TopicPartition(topic, partition, offset) for (topic, partition), offset in offsets.items()]
        group = self._intake.kafka.consumer_group_metadata()
        if not self._transactions.send_offsets(committed_offsets, group):
            return False
        return self._transactions.commit()

    def _rewind(self, records: list[Received]) -> None:
        """Read the input of an aborted transaction again, from its first record in each assigned partition."""
        first: dict[tuple[str, int], int] = {}
        for record in records:
            first.setdefault((record.topic, record.partition), record.offset)
        for (topic, partition), offset in first.items():
            if (topic, partition) not in self._intake.next_offset:
                continue
            self._intake.next_offset[topic, partition] = offset
            self._intake.read_to.pop((topic, partition), None)
            try:
                self._intake.kafka.seek(TopicPartition(topic, partition, offset))
            except KafkaException as error:
                raise LedgerError(
                    f"Cannot read {topic}-{partition} again from {offset}: {error.args[0].str()}"
                ) from error

    def _all_counts(self) -> dict[str, int]:
        return {**vars(self._outbox.counts), **vars(self._counts)}
