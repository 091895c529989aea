# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read and write a compacted topic of JSON values, in which the latest value of each key counts.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from .._core.errors import DrError
from .._core.partition import Partition
from .._guard import require_ownership
from .client import Kafka
from .records import data_records
from .topics import describe, log_ranges, why_not_written

with suppress(ImportError):  # Kafka() reports the missing library before anything here runs
    from confluent_kafka import KafkaException

__all__ = ["read_latest", "write_latest", "write_records"]


def read_latest(kafka: Kafka, topic: str) -> dict[str, dict[str, Any]] | None:
    """Return the latest value of each key. None: the topic does not exist. Raises ``state_unreadable``."""
    state, place = describe(kafka, [topic])[topic], Partition(topic, 0)
    if state is None:
        return None
    start, end = log_ranges(kafka, {place})[place]
    # A client reads each record once: a proof of ownership reads this topic before each effect.
    topic_id, begin, known = kafka.seen_latest.get(topic, ("", -1, {}))
    if not state.topic_id or state.topic_id != topic_id or not start <= begin <= end:
        begin, known = start, {}
    latest = dict(known)
    for record in data_records(kafka, place, begin, end):
        if record.value is None:
            latest.pop((record.key or b"").decode(), None)
            continue
        try:
            latest[(record.key or b"").decode()] = json.loads(record.value or b"")
        except ValueError as error:
            raise DrError(
                "state_unreadable",
                f'The record at offset {record.offset} of the topic "{topic}" is not JSON: {record.value!r:.80}.',
                "Another program writes to this topic. Stop it: only this collection may write there.",
                kafka.bootstrap_servers,
            ) from error
    kafka.seen_latest[topic] = (state.topic_id, end, latest)
    return dict(latest)


def write_latest(kafka: Kafka, topic: str, values: Mapping[str, Mapping[str, Any] | None]) -> None:
    """Write values by key, and wait until all in-sync replicas have them. A value of None removes a key."""
    encoded = (
        (key.encode(), None if value is None else json.dumps(value, sort_keys=True).encode(), 0)
        for key, value in values.items()
    )
    write_records(kafka, topic, encoded)


def write_records(kafka: Kafka, topic: str, records: Iterable[tuple[bytes, bytes | None, int]]) -> None:
    """Write records of (key, value, partition), and wait until all in-sync replicas have them.

    Raises ``state_not_written`` if the topic does not accept them in time.
    """
    failed: list[Any] = []
    require_ownership()
    producer = kafka.producer()
    try:
        for key, value, partition in records:
            producer.produce(
                topic,
                key=key,
                value=value,
                partition=partition,
                on_delivery=lambda error, _message: failed.append(error) if error else None,
            )
        left = producer.flush(kafka.timeout)
        if failed:
            raise KafkaException(failed[0])
    except (KafkaException, SystemError) as error:
        # The library raises a fatal error of a producer from within its callbacks, where CPython wraps it.
        cause = error.__cause__ if isinstance(error, SystemError) else error
        if not isinstance(cause, KafkaException):
            raise
        raise kafka.explain(cause, f'write to "{topic}"', ("topic", topic, "write")) from error
    if left:
        refused = why_not_written(kafka, [topic])
        raise DrError(
            "state_not_written",
            f'{left} records could not be written to the topic "{topic}" within {kafka.timeout:g} s.{refused}',
            "Check that the topic has a leader and enough in-sync replicas, and that this principal may WRITE it. Then"
            " start the same playbook again.",
            kafka.bootstrap_servers,
        )
