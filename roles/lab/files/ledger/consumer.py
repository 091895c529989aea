# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The group consumer: process, record in the ledger, then commit."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from confluent_kafka import Consumer as KafkaConsumer
from confluent_kafka import KafkaError, KafkaException, Message, TopicPartition

from ledger.definition import Definition
from ledger.endpoint import Endpoint
from ledger.errors import EXIT_BROKEN, EXIT_CLEAN, EXIT_NO_COMMITTED_OFFSET, LedgerError
from ledger.record import identity_of
from ledger.state import Life
from ledger.store import Writer, ledger_path, now_us, open_ledger

BATCH = 500
BATCH_SECONDS = 0.2
POLL_SECONDS = 0.05
ANSWER_SECONDS = 1.0


@dataclass
class Counts:
    """Counts of this run."""

    processed: int = 0
    commits: int = 0
    rebalances: int = 0
    read_to: int = 0


def consumer_config(client: Definition, endpoint: Endpoint, member: int) -> dict[str, object]:
    """Properties of the endpoint and the client, except those on which the guarantees of the ledger depend."""
    config: dict[str, object] = {
        "bootstrap.servers": endpoint.bootstrap_servers,
        "client.id": f"{client.name}-{member}",
        "auto.offset.reset": client.reset,
        "isolation.level": "read_committed",
        "fetch.min.bytes": 65_536,
        "fetch.wait.max.ms": 50,
        **endpoint.client_config,
        **client.login(),
        **client.config,
        "group.id": client.consumer_group,
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "enable.partition.eof": True,
    }
    if config.get("group.protocol", "classic") == "classic":  # the newer protocol sets these on the broker
        config.setdefault("partition.assignment.strategy", client.assignment)
        config.setdefault("session.timeout.ms", client.session_ms)
        config.setdefault("heartbeat.interval.ms", max(100, client.session_ms // 10))  # learns of a rebalance sooner
    if client.static:
        config["group.instance.id"] = config["client.id"]
    return config


class Received(NamedTuple):
    """One record to process."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    #: Of the ledger client that wrote it, with the record's number there.
    producer: str
    seq: int


def received(message: Message) -> Received:
    topic, partition, offset = message.topic(), message.partition(), message.offset()
    if topic is None or partition is None or offset is None:
        raise LedgerError(
            f"The Kafka library returned a record without a partition or offset: {topic}-{partition}@{offset}."
        )
    value = _bytes(message.value())
    headers = _headers(message) if value is None else ()
    return Received(topic, partition, offset, _bytes(message.key()), *identity_of(value, headers))


class Intake:
    """A subscribed consumer that returns each record of its partitions once.

    A batch that spans a rebalance can hold records of a revoked partition, or the same records of a reassigned
    partition twice. `next_offset` holds the next offset of exactly the assigned partitions. `read_to` holds their
    log ends, after markers of transactions, at the last time they were read to the end.
    """

    def __init__(self, client: Definition, endpoint: Endpoint, member: int, life: Life) -> None:
        self.next_offset: dict[tuple[str, int], int] = {}
        self.read_to: dict[tuple[str, int], int] = {}
        self.rebalances = 0
        self.before_leaving: Callable[[], object] = _nothing
        self.after_leaving: Callable[[list[tuple[str, int]]], object] = _nothing
        self.committed: Callable[[KafkaError | None, list[TopicPartition]], object] = _nothing
        self._group, self._life, self._alias = client.consumer_group, life, endpoint.alias
        self._batch = max(1, min(BATCH, int(BATCH_SECONDS / client.work_seconds))) if client.work_seconds else BATCH
        self._subscription = list(endpoint.subscribe)
        self._addresses = endpoint.bootstrap_servers.split(",")
        config = {**consumer_config(client, endpoint, member), "on_commit": self._note_commit}
        self.kafka = KafkaConsumer(config)

    def _note_commit(self, error: KafkaError | None, places: list[TopicPartition]) -> None:
        self.committed(error, places)  # looked up at the call: the owner sets it after this object is created

    def reachable(self) -> bool:
        """Whether a broker listens. Without one a commit and a close would block for the session timeout.

        Checks the sockets and does not call Kafka: this also runs inside callbacks, where the library allows no calls,
        and the library reports dead brokers with a delay.
        """
        return any(_listens(address) for address in self._addresses)

    def subscribe(self) -> None:
        if not self._subscription:
            raise LedgerError(
                "The endpoint file has neither KAFKA_SUBSCRIBE nor KAFKA_TOPICS, so there is nothing to read."
            )
        self.kafka.subscribe(
            self._subscription, on_assign=self._on_assign, on_revoke=self._on_revoke, on_lost=self._on_lost
        )

    def take(self) -> list[Received]:
        """The next records: at most some hundred, or none after a short wait."""
        taken: list[Received] = []
        for message in self.kafka.consume(self._batch, POLL_SECONDS):
            error = message.error()
            if error is not None and error.code() != KafkaError._PARTITION_EOF:
                self._judge(error, message)
                continue
            record = received(message)
            place = (record.topic, record.partition)
            if error is not None:
                self.read_to.update({place: record.offset} if place in self.next_offset else {})
            elif record.offset >= self.next_offset.get(place, record.offset + 1):
                self.next_offset[place] = record.offset + 1
                taken.append(record)
        return taken

    def _judge(self, error: KafkaError, message: Message) -> None:
        """Wait out transient errors. Raise LedgerError for a missing committed offset and for permanent errors."""
        if error.code() == KafkaError._AUTO_OFFSET_RESET:
            raise LedgerError(
                f"Group {self._group!r} has no valid committed offset on {message.topic()}-{message.partition()}"
                f"{' on ' + self._alias if self._alias else ''}: {error.str()}. Commit one before the start; "
                "this client does not choose one (reset: error).",
                EXIT_NO_COMMITTED_OFFSET,
            )
        fatal = (
            KafkaError.TOPIC_AUTHORIZATION_FAILED,
            KafkaError.GROUP_AUTHORIZATION_FAILED,
            KafkaError.UNKNOWN_TOPIC_OR_PART,
        )
        if error.fatal() or error.code() in fatal:
            raise LedgerError(f"Group {self._group!r}: {error.str()}", EXIT_BROKEN)

    def _on_assign(self, _kafka: KafkaConsumer, partitions: list[TopicPartition]) -> None:
        self.next_offset.update(dict.fromkeys(_places(partitions), 0))
        self.rebalances += 1
        self._life.reach("working")

    def _on_revoke(self, _kafka: KafkaConsumer, partitions: list[TopicPartition]) -> None:
        self.before_leaving()
        self._drop(partitions)

    def _on_lost(self, _kafka: KafkaConsumer, partitions: list[TopicPartition]) -> None:
        self._drop(partitions)

    def _drop(self, partitions: list[TopicPartition]) -> None:
        places = _places(partitions)
        for place in places:
            self.next_offset.pop(place, None)
            self.read_to.pop(place, None)
        self.after_leaving(places)


class GroupConsumer:
    """Processes at least once. Only a kill between processing and commit makes it process a record twice."""

    def __init__(self, client: Definition, endpoint: Endpoint, folder: Path, life: Life, member: int) -> None:
        path = ledger_path(folder, client.name, member)
        self._ledger, _identity = open_ledger(path, "consumer", client.consumer_group, member)
        self._client, self._endpoint, self._life = client, endpoint, life
        self._intake = Intake(client, endpoint, member, life)
        self._intake.before_leaving = self._commit
        self._intake.after_leaving = self._forget
        self._intake.committed = self._note_commit
        self._counts = Counts()
        self._uncommitted: dict[tuple[str, int], int] = {}
        self._committed_at = 0.0
        self._under_way = False
        self._refused: KafkaError | None = None

    def run(self) -> int:
        self._ledger.add("S", now_us(), "start", self._endpoint.alias, ",".join(self._endpoint.subscribe))
        self._ledger.flush()
        exit_code, message = EXIT_CLEAN, ""
        try:
            self._intake.subscribe()
            self._consume()
            self._commit()
        except LedgerError as error:
            exit_code, message = error.exit_code, str(error)
        finally:
            self._ledger.flush()
            # Leaves the group; on_revoke commits the rest. Without a broker, close() would wait for the last commit.
            reachable = self._intake.reachable()
            if reachable:
                self._intake.kafka.close()
        self._ledger.add("S", now_us(), "stop", self._endpoint.alias, f"exit={exit_code}")
        self._ledger.close()
        self._life.end(exit_code, message, vars(self._counts))
        if not reachable:
            os._exit(exit_code)  # all ledgers are flushed; freeing the library would also wait for that commit
        return exit_code

    def _consume(self) -> None:
        while not self._life.stopping:
            self._process(self._intake.take())
            if time.monotonic() - self._committed_at >= self._client.commit_ms / 1e3:
                self._send_commit()
            self._ledger.flush_if_due()
            self._counts.rebalances, self._counts.read_to = self._intake.rebalances, sum(self._intake.read_to.values())
            self._life.count(vars(self._counts))

    def _process(self, records: Iterable[Received]) -> None:
        work = self._client.work_seconds
        time_us = now_us()
        for record in records:
            if work:
                time.sleep(work)  # the simulated work itself, not a wait
                time_us = now_us()
            write_processed(self._ledger, "P", record, time_us)
            self._uncommitted[record.topic, record.partition] = record.offset + 1
            self._counts.processed += 1

    def _send_commit(self) -> None:
        """Commit asynchronously. A synchronous commit would block for half a minute when the broker dies meanwhile."""
        self._committed_at = time.monotonic()
        if self._refused is not None:
            raise LedgerError(f"The broker rejected a commit: {self._refused.str()}", EXIT_BROKEN)
        if self._uncommitted and not self._under_way:
            self._ledger.flush()
            self._under_way = True
            self._intake.kafka.commit(offsets=self._committed_offsets(), asynchronous=True)

    def _note_commit(self, error: KafkaError | None, places: list[TopicPartition]) -> None:
        self._under_way = False
        self._refused = error if error is not None and hopeless(error) else None
        if error is None:
            self._counts.commits += 1
            for one in places:
                if (
                    one.error is None
                    and self._uncommitted.get((one.topic, one.partition), one.offset + 1) <= one.offset
                ):
                    del self._uncommitted[one.topic, one.partition]

    def _committed_offsets(self) -> list[TopicPartition]:
        return [TopicPartition(topic, partition, offset) for (topic, partition), offset in self._uncommitted.items()]

    def _commit(self) -> None:
        """Flush the ledger, then commit, so that each committed record is in the ledger."""
        if not self._uncommitted:
            return
        self._ledger.flush()
        if self._intake.reachable() and commit(self._intake.kafka, self._committed_offsets()):
            self._uncommitted.clear()

    def _forget(self, places: list[tuple[str, int]]) -> None:
        """Drop offsets of revoked partitions. A later commit could set back their new owner."""
        for place in places:
            self._uncommitted.pop(place, None)


def commit(kafka: KafkaConsumer, offsets: list[TopicPartition]) -> bool:
    """Commit synchronously. Returns False if the offsets must be committed again; errors of a rebalance are ignored."""
    try:
        kafka.commit(offsets=offsets, asynchronous=False)
    except KafkaException as error:
        if hopeless(error.args[0]):
            raise LedgerError(f"The broker rejected a commit: {error.args[0].str()}", EXIT_BROKEN) from error
        return False
    return True


def hopeless(error: KafkaError) -> bool:
    """Whether every further commit would fail with this error."""
    return bool(error.fatal() or error.code() == KafkaError.GROUP_AUTHORIZATION_FAILED)


def write_processed(ledger: Writer, kind: str, record: Received, time_us: int, *transaction: object) -> None:
    """Records without a key have an order within their partition only, so that partition takes the place of a key."""
    key = f"{record.topic}-{record.partition}" if record.key is None else record.key.decode(errors="replace")
    key = key.replace("\t", " ").replace("\n", " ")
    place = (record.topic, record.partition, record.offset)
    ledger.add(kind, *transaction, record.producer, record.seq, key, *place, time_us)


def _listens(address: str) -> bool:
    host, _colon, port = address.strip().rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), ANSWER_SECONDS):
            return True
    except OSError:
        return False


def _places(partitions: Iterable[TopicPartition]) -> list[tuple[str, int]]:
    return [(item.topic, item.partition) for item in partitions]


def _bytes(field: str | bytes | None) -> bytes | None:
    return field.encode() if isinstance(field, str) else field


def _headers(message: Message) -> list[tuple[str, bytes | None]]:
    pairs: Any = message.headers() or ()
    return [(name, _bytes(value)) for name, value in pairs]


def _nothing(*_places: object) -> None:
    """Do nothing when partitions are revoked."""
