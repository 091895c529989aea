# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounded reading of record ranges: what lies in [start, end) of a partition, also where it ends in markers.

Offsets are not records: transaction markers, aborted records and compaction leave offsets that no reader ever
receives. A range is therefore exhausted when the reader has passed its end (a later record, or the end of the
partition), never when a count is reached.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from .._core.errors import DrError, Unreachable
from .client import Kafka

with suppress(ImportError):  # Kafka() reports the missing library before anything here runs
    from confluent_kafka import KafkaException, TopicPartition

__all__ = [
    "BLOCKED",
    "EXHAUSTED",
    "LIMIT",
    "OUT_OF_RANGE",
    "TIMEOUT",
    "RangeRead",
    "Reading",
    "Record",
    "data_after",
    "data_records",
    "first_data_record",
    "first_data_records",
    "has_data",
    "last_data_record",
    "last_data_records",
    "read_ranges",
]

Partition = tuple[str, int]
Range = tuple[int, int]

# How the reading of one range ended.
EXHAUSTED = "exhausted"  # every offset of the range was passed
LIMIT = "limit"  # as many records as wanted were found
BLOCKED = "blocked"  # the log (or its last stable offset: an open transaction) ends before the range does
OUT_OF_RANGE = "out_of_range"  # the range begins below the log start or above the log end
TIMEOUT = "timeout"

_WINDOWS = (16, 256, 4096, 65536)
_BATCH = 2000
_TIMESTAMP_TYPES = {1: "CreateTime", 2: "LogAppendTime"}
# Reported by a consumer while it goes on trying by itself; the time bound decides.
_PASSING = ("_TRANSPORT", "_ALL_BROKERS_DOWN", "_RESOLVE", "_TIMED_OUT", "NOT_LEADER_FOR_PARTITION")
# The reader never joins or commits as a group, so a missing right on its group name does not matter.
_IRRELEVANT = ("GROUP_AUTHORIZATION_FAILED", "COORDINATOR_NOT_AVAILABLE", "NOT_COORDINATOR")


@dataclass(frozen=True)
class Record:
    """One data record. ``timestamp`` is None where the record has none.

    ``headers`` is None where a name is not UTF-8: confluent-kafka returns no header of such a record.
    """

    offset: int
    timestamp: int | None
    timestamp_type: str | None
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] | None


@dataclass(frozen=True)
class Reading:
    """How to read: isolation, records wanted per range (0: all), only the last one, seconds for everything."""

    isolation: str = "read_committed"
    limit: int = 0
    last_only: bool = False
    timeout: float = 30.0


@dataclass
class RangeRead:
    """What was found in one range: all data records below ``reached`` (or as many as wanted)."""

    start: int
    end: int
    reached: int
    ended: str = TIMEOUT
    records: list[Record] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """True when the question was answered: the range is exhausted, or enough records were found."""
        return self.ended in (EXHAUSTED, LIMIT)


def read_ranges(
    kafka: Kafka, ranges: Mapping[Partition, Range], reading: Reading | None = None
) -> dict[Partition, RangeRead]:
    """Read many ranges with one consumer. Never raises for a range that could not be read to its end: see ``ended``."""
    reading = reading or Reading()
    reads = {key: RangeRead(start, end, start) for key, (start, end) in ranges.items()}
    waiting = {key for key, read in reads.items() if read.start < read.end}
    for key in set(reads) - waiting:
        reads[key].ended = EXHAUSTED
    if not waiting:
        return reads
    kafka.note_request("read", ranges=len(waiting), isolation=reading.isolation)
    consumer = kafka.consumer(reading.isolation)
    try:
        consumer.assign([TopicPartition(*key, reads[key].start) for key in sorted(waiting)])
        _read_all(kafka, consumer, reads, waiting, reading)
    except KafkaException as error:
        raise kafka.explain(error, f"read {len(ranges)} ranges of records") from error
    finally:
        consumer.close()
    return reads


def _read_all(
    kafka: Kafka, consumer: Any, reads: dict[Partition, RangeRead], waiting: set[Partition], reading: Reading
) -> None:
    until = time.monotonic() + reading.timeout
    while waiting and (left := until - time.monotonic()) > 0:
        ended = []
        # consume() alone waits its time-out out unless the batch is full.
        first = consumer.poll(min(left, 0.2))
        for message in [] if first is None else [first, *consumer.consume(_BATCH, timeout=0.0)]:
            key = (message.topic(), message.partition())
            if message.error() is not None and key not in reads:
                _check(kafka, message.error(), "read records")
            elif key in waiting and _take(kafka, reads[key], message, reading):
                waiting.discard(key)
                ended.append(TopicPartition(*key))
        if ended and waiting:
            consumer.pause(ended)


def _take(kafka: Kafka, read: RangeRead, message: Any, reading: Reading) -> bool:
    """Note one message or event of a range; True when the range has ended."""
    error = message.error()
    if error is not None:
        return _take_event(kafka, read, message, error)
    offset = message.offset()
    if offset < read.end:
        if reading.last_only:
            read.records = [_record(message)]
        else:
            read.records.append(_record(message))
        read.reached = offset + 1
        if reading.limit and not reading.last_only and len(read.records) >= reading.limit:
            read.ended = LIMIT
            return True
    if offset >= read.end - 1:
        read.reached, read.ended = read.end, EXHAUSTED
        return True
    return False


def _take_event(kafka: Kafka, read: RangeRead, message: Any, error: Any) -> bool:
    name = error.name()
    if name == "_PARTITION_EOF":
        # Reached with everything below it seen: markers and aborted records included.
        read.reached = min(read.end, max(read.reached, message.offset()))
        read.ended = EXHAUSTED if message.offset() >= read.end else BLOCKED
        return True
    if name in ("_AUTO_OFFSET_RESET", "OFFSET_OUT_OF_RANGE"):
        read.ended = OUT_OF_RANGE
        return True
    _check(kafka, error, f'read "{message.topic()}" partition {message.partition()}')
    return False


def _check(kafka: Kafka, error: Any, doing: str) -> None:
    """Raise what will not pass by waiting."""
    if error.name() not in _PASSING and error.name() not in _IRRELEVANT:
        raise kafka.explain(KafkaException(error), doing)


def _record(message: Any) -> Record:
    kind, stamp = message.timestamp()
    timestamp = stamp if kind in _TIMESTAMP_TYPES and stamp >= 0 else None
    return Record(
        message.offset(), timestamp, _TIMESTAMP_TYPES.get(kind), message.key(), message.value(), _headers(message)
    )


def _headers(message: Any) -> tuple[tuple[str, bytes | None], ...] | None:
    try:
        return tuple((str(name), value) for name, value in message.headers() or ())
    except UnicodeDecodeError:
        return None


def data_records(
    kafka: Kafka, partition: Partition, start: int, end: int, reading: Reading | None = None
) -> list[Record]:
    """The data records in [start, end) of one partition, in order; raises when the range could not be read."""
    read = read_ranges(kafka, {partition: (start, end)}, reading)[partition]
    _require(kafka, partition, read)
    return read.records


def first_data_record(
    kafka: Kafka, partition: Partition, start: int, end: int, isolation: str = "read_committed"
) -> Record | None:
    """The first data record in [start, end), or None when there is none."""
    records = data_records(kafka, partition, start, end, Reading(isolation, limit=1))
    return records[0] if records else None


def last_data_record(
    kafka: Kafka, partition: Partition, start: int, end: int, isolation: str = "read_committed"
) -> Record | None:
    """The last data record in [start, end), or None when there is none."""
    return last_data_records(kafka, {partition: (start, end)}, isolation)[partition]


def first_data_records(
    kafka: Kafka, ranges: Mapping[Partition, Range], isolation: str = "read_committed"
) -> dict[Partition, Record | None]:
    """The first data record of each range, None where there is none; raises when a range could not be read."""
    reads = read_ranges(kafka, ranges, Reading(isolation, limit=1))
    for partition, read in reads.items():
        _require(kafka, partition, read)
    return {partition: read.records[0] if read.records else None for partition, read in reads.items()}


def last_data_records(
    kafka: Kafka, ranges: Mapping[Partition, Range], isolation: str = "read_committed"
) -> dict[Partition, Record | None]:
    """The last data record of each range: looks back from the end in growing windows, all partitions at once."""
    found: dict[Partition, Record | None] = dict.fromkeys(ranges)
    open_ends = {partition: end for partition, (start, end) in ranges.items() if start < end}
    for window in _back(ranges.values()):
        if not open_ends:
            break
        windows = {p: (max(ranges[p][0], end - window), end) for p, end in open_ends.items()}
        for partition, read in read_ranges(kafka, windows, Reading(isolation, last_only=True)).items():
            _require(kafka, partition, read)
            found[partition] = read.records[-1] if read.records else None
        # A next window ends where this one began, unless that was the start of the range.
        open_ends = {p: w[0] for p, w in windows.items() if found[p] is None and w[0] > ranges[p][0]}
    return found


def _back(ranges: Iterable[Range]) -> Iterable[int]:
    yield from _WINDOWS
    longest = max((end - start for start, end in ranges), default=0)
    yield max(longest, 1)


def has_data(
    kafka: Kafka, ranges: Mapping[Partition, Range], isolation: str = "read_committed", timeout: float = 30.0
) -> dict[Partition, bool | None]:
    """Whether any data record lies in each range: None where it could not be told."""
    reads = read_ranges(kafka, ranges, Reading(isolation, limit=1, timeout=timeout))
    return {p: True if read.records else False if read.ended == EXHAUSTED else None for p, read in reads.items()}


def data_after(
    kafka: Kafka,
    places: Iterable[tuple[Partition, int]],
    ranges: Mapping[Partition, Range | None],
    isolation: str = "read_committed",
) -> dict[tuple[Partition, int], bool | None]:
    """For each place (a position on a partition): does any data record lie from it to the log end? None: not known.

    Several groups may stand on one partition: its highest place is asked first, and what lies behind that one also
    lies behind the lower ones.
    """
    answers: dict[tuple[Partition, int], bool | None] = {}
    open_places: dict[Partition, list[int]] = {}
    ends: dict[Partition, int] = {}
    for partition, offset in sorted(places):
        span = ranges.get(partition)
        answers[partition, offset] = None
        if span is not None and offset <= span[1]:
            open_places.setdefault(partition, []).append(offset)
            ends[partition] = span[1]
    while open_places:
        starts = {p: max(offsets[-1], (ranges[p] or (0, 0))[0]) for p, offsets in open_places.items()}
        found = has_data(kafka, {p: (start, ends[p]) for p, start in starts.items()}, isolation)
        for partition, answer in found.items():
            offsets = open_places[partition]
            # Nothing up to the end: go on below. Something, or not known: that holds for all lower places too.
            for offset in [offsets.pop()] if answer is False else offsets:
                answers[partition, offset] = answer
            ends[partition] = starts[partition]
            if answer is not False or not offsets:
                del open_places[partition]
    return answers


def _require(kafka: Kafka, partition: Partition, read: RangeRead) -> None:
    if read.complete:
        return
    where = f'"{partition[0]}" partition {partition[1]} at "{kafka.bootstrap_servers}"'
    wanted = f"offsets {read.start} to {read.end - 1} were wanted, those below {read.reached} were seen"
    if read.ended == TIMEOUT:
        raise Unreachable(
            "read_timeout",
            f"Reading {where} took too long: {wanted}.",
            "Check that the partition has a leader.",
            kafka.bootstrap_servers,
        )
    hints = {
        BLOCKED: "The log ends before that, or an open transaction holds back its last stable offset.",
        OUT_OF_RANGE: "They lie outside the log: the topic was truncated, re-created, or its records expired.",
    }
    raise DrError("read_incomplete", f"{where} was not read: {wanted}.", hints[read.ended], kafka.bootstrap_servers)
