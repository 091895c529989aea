# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lists of srm-control: one record per entry, in a compacted topic on the target of the flow."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from .replication import Lists

TOPIC = "srm-control.internal"
KINDS = ("topics", "groups", "reverse-checkpointed-topics")
ALLOW, DENY, KNOWN = "allow", "deny", "known"
SECONDS = 10.0
# (list, source, target, allow or deny)
Key = tuple[str, str, str, str]


def client(servers: str, **more: Any) -> dict[str, Any]:
    """librdkafka properties with short timeouts, to detect a dead broker within seconds."""
    return {"bootstrap.servers": servers, "log_level": 0, "socket.timeout.ms": 5000, **more}


def create(servers: str, factor: int) -> None:
    topic = NewTopic(TOPIC, 1, factor, config={"cleanup.policy": "compact"})
    # Kept in a variable, because its futures are cancelled when it is freed.
    admin = AdminClient(client(servers))
    for future in admin.create_topics([topic], request_timeout=SECONDS).values():
        try:
            future.result(SECONDS)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise


def write(servers: str, key: Key, add: Iterable[str], remove: Iterable[str] = ()) -> None:
    """Add and remove entries. Existing entries to add and missing entries to remove are no error."""
    producer = Producer(client(servers, acks="all", **{"message.timeout.ms": int(SECONDS * 1000)}))
    problems: list[Any] = []

    def reported(error: Any, _message: Any) -> None:
        if error is not None:
            problems.append(error)

    for value, entries in (("{}", add), (None, remove)):
        for entry in entries:
            producer.produce(TOPIC, key=json.dumps([*key, entry]), value=value, on_delivery=reported)
    if producer.flush(SECONDS) or problems:
        raise KafkaException(problems[0] if problems else KafkaError(KafkaError._MSG_TIMED_OUT))


class Reader:
    """Follows one partition of an internal topic. ``poll`` reads to the current end and returns new messages."""

    def __init__(self, servers: str, topic: str) -> None:
        self._at = TopicPartition(topic, 0, 0)
        self._consumer = Consumer(client(servers, **{"group.id": "srm-emulator", "enable.auto.commit": False}))
        self._assigned = False

    def poll(self) -> list[Any]:
        """New messages in order. A missing topic counts as empty. Other errors raise KafkaException."""
        try:
            low, high = self._consumer.get_watermark_offsets(TopicPartition(self._at.topic, 0), SECONDS)
        except KafkaException as error:
            if error.args[0].code() in (
                KafkaError.UNKNOWN_TOPIC_OR_PART,
                KafkaError._UNKNOWN_PARTITION,
                KafkaError._UNKNOWN_TOPIC,
            ):
                return []
            raise
        if not self._assigned or self._at.offset > high:
            self._at = TopicPartition(self._at.topic, 0, low)
            self._consumer.assign([self._at])
            self._assigned = True
        found = []
        while self._at.offset < high:
            # ``consume`` waits for its whole timeout unless 500 messages come: wait for one, then take those after it.
            first = self._consumer.poll(1.0)
            messages: list[Any] = [] if first is None else [first, *self._consumer.consume(500, 0)]
            for message in messages:
                if message.error():
                    raise KafkaException(message.error())
                found.append(message)
                self._at.offset = message.offset() + 1
            if not messages:
                # After the last record there may be only markers or compacted offsets. The fetch position shows it.
                at = self._consumer.position([self._at])[0].offset
                if at <= self._at.offset:
                    break
                self._at.offset = at
        return found

    def close(self) -> None:
        self._consumer.close()


class View:
    """The lists in the topic of one cluster."""

    def __init__(self, servers: str) -> None:
        self._reader = Reader(servers, TOPIC)
        self._entries: dict[tuple[str, ...], None] = {}

    def refresh(self) -> None:
        for message in self._reader.poll():
            key = tuple(json.loads(message.key()))
            if message.value() is None:
                self._entries.pop(key, None)
            else:
                self._entries[key] = None

    def lists(self, kind: str, source: str, target: str) -> Lists:
        return Lists(self.entries((kind, source, target, ALLOW)), self.entries((kind, source, target, DENY)))

    def entries(self, key: Key) -> tuple[str, ...]:
        return tuple(sorted(entry[4] for entry in self._entries if entry[:4] == key))

    def close(self) -> None:
        self._reader.close()
