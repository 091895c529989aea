# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The group consumer: process, write down, then commit."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

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
    """Of this run."""

    processed: int = 0
    commits: int = 0
    rebalances: int = 0
    read_to: int = 0


def consumer_config(client: Definition, endpoint: Endpoint, member: int) -> dict[str, object]:
    """Properties of the endpoint and the client may tune everything but what the ledger's promises rest on."""
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
    if config.get("group.protocol", "classic") == "classic":  # the newer protocol leaves these to the broker
        config.setdefault("partition.assignment.strategy", client.assignment)
        config.setdefault("session.timeout.ms", client.session_ms)
        config.setdefault("heartbeat.interval.ms", max(100, client.session_ms // 10))  # hears of a rebalance sooner
    return config


class Received(NamedTuple):
    """One record that is ours to process."""

    topic: str
    partition: int
    offset: int
    key: bytes
    value: bytes


def received(message: Message) -> Received:
    topic, partition, offset = message.topic(), message.partition(), message.offset()
    if topic is None or partition is None or offset is None:
        raise LedgerError(f"The Kafka library delivered a record without a place: {topic}-{partition}@{offset}.")
    return Received(topic, partition, offset, _bytes(message.key()), _bytes(message.value()))


class Intake:
    """A subscribed consumer that hands out each record of its partitions once.

    A batch that was being filled while partitions moved can hold records of a partition that is gone, or twice the
    same ones of a partition that came back: `next_offset` holds exactly the partitions that are ours, and how far.
    `read_to` holds where their logs ended when they were last read to the end: behind markers of transactions too.
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
        self.committed(error, places)  # whoever listens by now: the client is made before its owner says so

    def reachable(self) -> bool:
        """False while no broker listens: a commit, and the end, would wait the session time-out out for nothing.

        Not by asking Kafka: this runs inside its callbacks too, where the library takes no other call, and it tells of
        dead brokers a while after they died.
        """
        return any(_listens(address) for address in self._addresses)

    def subscribe(self) -> None:
        if not self._subscription:
            raise LedgerError("The endpoint file has neither KAFKA_SUBSCRIBE nor KAFKA_TOPICS: nothing to read.")
        self.kafka.subscribe(
            self._subscription, on_assign=self._on_assign, on_revoke=self._on_revoke, on_lost=self._on_lost
        )

    def take(self) -> list[Received]:
        """The next records, at most some hundred, none if none came in a moment."""
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
        """What heals by itself is waited out; a missing position never does."""
        if error.code() == KafkaError._AUTO_OFFSET_RESET:
            raise LedgerError(
                f"Group {self._group!r} has no valid position on {message.topic()}-{message.partition()}"
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
    """At least once: a kill between processing and commit is the only source of a second processing."""

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
            # Leaves the group; on_revoke commits what is left. With nobody there it would wait for the last commit.
            reachable = self._intake.reachable()
            if reachable:
                self._intake.kafka.close()
        self._ledger.add("S", now_us(), "stop", self._endpoint.alias, f"exit={exit_code}")
        self._ledger.close()
        self._life.end(exit_code, message, vars(self._counts))
        if not reachable:
            os._exit(exit_code)  # everything is written; the library would wait for that commit when it is freed, too
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
        """Not waited for: one that is under way when the broker dies would keep this client for half a minute."""
        self._committed_at = time.monotonic()
        if self._refused is not None:
            raise LedgerError(f"Commit refused: {self._refused.str()}", EXIT_BROKEN)
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
        """Ledger first, then the position: what is committed has certainly been written down."""
        if not self._uncommitted:
            return
        self._ledger.flush()
        if self._intake.reachable() and commit(self._intake.kafka, self._committed_offsets()):
            self._uncommitted.clear()

    def _forget(self, places: list[tuple[str, int]]) -> None:
        """A commit that comes after the partition has gone could put its new owner back."""
        for place in places:
            self._uncommitted.pop(place, None)


def commit(kafka: KafkaConsumer, offsets: list[TopicPartition]) -> bool:
    """False: not committed, keep them for the next time. Errors of a group that moved on are no reason to end."""
    try:
        kafka.commit(offsets=offsets, asynchronous=False)
    except KafkaException as error:
        if hopeless(error.args[0]):
            raise LedgerError(f"Commit refused: {error.args[0].str()}", EXIT_BROKEN) from error
        return False
    return True


def hopeless(error: KafkaError) -> bool:
    """Whether the next commit would end like this one."""
    return bool(error.fatal() or error.code() == KafkaError.GROUP_AUTHORIZATION_FAILED)


def write_processed(ledger: Writer, kind: str, record: Received, time_us: int, *transaction: object) -> None:
    producer, seq = identity_of(record.value)
    key = record.key.decode(errors="replace").replace("\t", " ").replace("\n", " ")
    ledger.add(kind, *transaction, producer, seq, key, record.topic, record.partition, record.offset, time_us)


def _listens(address: str) -> bool:
    host, _colon, port = address.strip().rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), ANSWER_SECONDS):
            return True
    except OSError:
        return False


def _places(partitions: Iterable[TopicPartition]) -> list[tuple[str, int]]:
    return [(item.topic, item.partition) for item in partitions]


def _bytes(field: str | bytes | None) -> bytes:
    return field.encode() if isinstance(field, str) else field or b""


def _nothing(*_places: object) -> None:
    """Nothing to do when partitions leave."""
