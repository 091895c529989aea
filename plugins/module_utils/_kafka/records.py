# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the records in an offset range [start, end) of a partition, with a time limit.

Not every offset has a record: consumers never receive transaction markers, aborted records, and compacted records. A
range is therefore exhausted when the reader has passed its end, because it received a later record or reached the end
of the partition. The number of records never decides.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from .._core.errors import DrError, Unreachable
from .._core.partition import Partition, PartitionOffset, Range, Ranges
from .._core.retriable import is_retriable_code
from .client import Kafka, Need

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
    "digested",
    "first_data_record",
    "first_data_records",
    "has_data",
    "last_data_record",
    "last_data_records",
    "read_ranges",
]


# How the read of one range ended.
EXHAUSTED = "exhausted"  # the reader passed every offset of the range
LIMIT = "limit"  # the wanted number of records was found
BLOCKED = "blocked"  # the log or its last stable offset (an open transaction) ends before the end of the range
OUT_OF_RANGE = "out_of_range"  # the range begins below the log start offset or above the log end offset
TIMEOUT = "timeout"

# The last record is at the end, or before the marker of its transaction.
_WINDOWS = (2, 16, 256, 4096, 65536)
_BATCH = 2000
# 64 of blake2b and 8 of the length.
_DIGEST_BYTES = 72
_TIMESTAMP_TYPES = {1: "CreateTime", 2: "LogAppendTime"}
# The reader never joins its group and never commits, so missing rights on the group do not matter. If the name of one
# broker cannot be resolved, the consumer uses the others.
_IRRELEVANT = ("GROUP_AUTHORIZATION_FAILED", "_RESOLVE")


@dataclass(frozen=True)
class Record:
    """One data record."""

    offset: int
    #: Milliseconds since the epoch. None: the record has no timestamp.
    timestamp: int | None
    #: ``CreateTime`` or ``LogAppendTime``. None: the record has no timestamp.
    timestamp_type: str | None
    key: bytes | None
    value: bytes | None
    #: None: a header name is not UTF-8. confluent-kafka returns none of the headers of such a record.
    headers: tuple[tuple[str, bytes | None], ...] | None
    #: Epoch of the leader that appended it. None: its message format has none.
    leader_epoch: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Reading:
    """How to read ranges."""

    isolation: str = "read_committed"
    #: Number of records to read of each range. 0: all.
    limit: int = 0
    #: Keep only the last record of each range.
    last_only: bool = False
    #: End the read of a range with LIMIT once its records have this many bytes. 0: never.
    most_bytes: int = 0
    #: Keep digests instead of long contents, as :func:`digested` does: records of megabytes need no memory then.
    digests: bool = False
    #: Seconds for the read of all ranges together.
    timeout: float = 30.0


@dataclass
class RangeRead:
    """The result of the read of one range [start, end)."""

    start: int
    end: int
    #: Offset up to which (exclusive) the range was read.
    reached: int
    #: EXHAUSTED, LIMIT, BLOCKED, OUT_OF_RANGE or TIMEOUT.
    ended: str = TIMEOUT
    #: The data records below ``reached``, subject to ``limit`` and ``last_only``.
    records: list[Record] = field(default_factory=list)
    #: Bytes of the keys and values that were read.
    size: int = 0
    #: Number of data records below ``reached``, also with ``last_only``.
    count: int = 0

    @property
    def complete(self) -> bool:
        """True if the range is exhausted, or the wanted number of records was found."""
        return self.ended in (EXHAUSTED, LIMIT)


def read_ranges(kafka: Kafka, ranges: Ranges, reading: Reading | None = None) -> dict[Partition, RangeRead]:
    """Read many ranges with one consumer.

    A range that cannot be read to its end raises no error; check ``ended`` or ``complete`` of its result.
    """
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
        # consume() alone waits for its whole time-out unless the batch is full.
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
    """Add one message or event to the result of a range. Return True if the read of the range has ended."""
    error = message.error()
    if error is not None:
        return _take_event(kafka, read, message, error)
    offset = message.offset()
    if offset < read.end:
        record = _record(message)
        read.size += len(record.key or b"") + len(record.value or b"")
        read.count += 1
        record = digested(record) if reading.digests else record
        if reading.last_only:
            read.records = [record]
        else:
            read.records.append(record)
        read.reached = offset + 1
        enough = 0 < reading.limit <= len(read.records) or 0 < reading.most_bytes <= read.size
        if enough and not reading.last_only:
            read.ended = LIMIT
            return True
    if offset >= read.end - 1:
        read.reached, read.ended = read.end, EXHAUSTED
        return True
    return False


def _take_event(kafka: Kafka, read: RangeRead, message: Any, error: Any) -> bool:
    name = error.name()
    if name == "_PARTITION_EOF":
        # The reader has passed all offsets below this one, including markers and aborted records.
        read.reached = min(read.end, max(read.reached, message.offset()))
        read.ended = EXHAUSTED if message.offset() >= read.end else BLOCKED
        return True
    if name in ("_AUTO_OFFSET_RESET", "OFFSET_OUT_OF_RANGE"):
        read.ended = OUT_OF_RANGE
        return True
    doing = f'read "{message.topic()}" partition {message.partition()}'
    _check(kafka, error, doing, ("topic", message.topic(), "read"))
    return False


def _check(kafka: Kafka, error: Any, doing: str, *needs: Need) -> None:
    """Raise an error that does not end by itself. The consumer retries after the others until the read's time-out."""
    if not is_retriable_code(error.name()) and error.name() not in _IRRELEVANT:
        raise kafka.explain(KafkaException(error), doing, *needs)


def _record(message: Any) -> Record:
    kind, stamp = message.timestamp()
    timestamp = stamp if kind in _TIMESTAMP_TYPES and stamp >= 0 else None
    return Record(
        message.offset(),
        timestamp,
        _TIMESTAMP_TYPES.get(kind),
        message.key(),
        message.value(),
        _headers(message),
        message.leader_epoch(),
    )


def digested(record: Record) -> Record:
    """Return the record with a digest for each key, value and header value that is longer than a digest.

    Compare such records with each other only. Equal contents have equal digests, and a digest of a digest is itself.
    """
    key, value = _digest(record.key), _digest(record.value)
    if key is record.key and value is record.value and not record.headers:
        return record
    headers = record.headers and tuple((name, _digest(value)) for name, value in record.headers)
    # Much faster than dataclasses.replace(), for hundreds of thousands of records.
    return Record(record.offset, record.timestamp, record.timestamp_type, key, value, headers, record.leader_epoch)


def _digest(data: bytes | None) -> bytes | None:
    if data is None or len(data) <= _DIGEST_BYTES:
        return data
    return blake2b(data).digest() + struct.pack(">q", len(data))


def _headers(message: Any) -> tuple[tuple[str, bytes | None], ...] | None:
    try:
        return tuple((str(name), value) for name, value in message.headers() or ())
    except UnicodeDecodeError:
        return None


def data_records(
    kafka: Kafka, partition: Partition, start: int, end: int, reading: Reading | None = None
) -> list[Record]:
    """Return the data records in [start, end) of one partition, in order.

    Raises ``read_timeout`` or ``read_incomplete`` if the range could not be read.
    """
    read = read_ranges(kafka, {partition: (start, end)}, reading)[partition]
    _require(kafka, partition, read)
    return read.records


def first_data_record(
    kafka: Kafka, partition: Partition, start: int, end: int, isolation: str = "read_committed"
) -> Record | None:
    """Return the first data record in [start, end). None: the range has no data record."""
    records = data_records(kafka, partition, start, end, Reading(isolation, limit=1))
    return records[0] if records else None


def last_data_record(
    kafka: Kafka, partition: Partition, start: int, end: int, isolation: str = "read_committed"
) -> Record | None:
    """Return the last data record in [start, end). None: the range has no data record."""
    return last_data_records(kafka, {partition: (start, end)}, isolation)[partition]


def first_data_records(
    kafka: Kafka, ranges: Ranges, isolation: str = "read_committed"
) -> dict[Partition, Record | None]:
    """Return the first data record of each range. None: the range has no data record.

    Raises ``read_timeout`` or ``read_incomplete`` if a range could not be read.
    """
    reads = read_ranges(kafka, ranges, Reading(isolation, limit=1))
    for partition, read in reads.items():
        _require(kafka, partition, read)
    return {partition: read.records[0] if read.records else None for partition, read in reads.items()}


def last_data_records(
    kafka: Kafka, ranges: Ranges, isolation: str = "read_committed"
) -> dict[Partition, Record | None]:
    """Return the last data record of each range. None: the range has no data record.

    Reads growing windows backward from the end, for all partitions at once. Raises ``read_timeout`` or
    ``read_incomplete`` if a range could not be read.
    """
    records: dict[Partition, Record | None] = dict.fromkeys(ranges)
    open_ends = {partition: end for partition, (start, end) in ranges.items() if start < end}
    for window in _back(ranges.values()):
        if not open_ends:
            break
        windows = {p: (max(ranges[p][0], end - window), end) for p, end in open_ends.items()}
        for partition, read in read_ranges(kafka, windows, Reading(isolation, last_only=True)).items():
            _require(kafka, partition, read)
            records[partition] = read.records[-1] if read.records else None
        # The next window ends where this one began, unless that was the start of the range.
        open_ends = {p: w[0] for p, w in windows.items() if records[p] is None and w[0] > ranges[p][0]}
    return records


def _back(ranges: Iterable[Range]) -> Iterable[int]:
    yield from _WINDOWS
    longest = max((end - start for start, end in ranges), default=0)
    yield max(longest, 1)


def has_data(
    kafka: Kafka, ranges: Ranges, isolation: str = "read_committed", timeout: float = 30.0
) -> dict[Partition, bool | None]:
    """Return whether each range has a data record. None: unknown, because the range could not be read to its end."""
    reads = read_ranges(kafka, ranges, Reading(isolation, limit=1, timeout=timeout))
    return {p: True if read.records else False if read.ended == EXHAUSTED else None for p, read in reads.items()}


def data_after(
    kafka: Kafka,
    places: Iterable[PartitionOffset],
    ranges: Mapping[Partition, Range | None],
    isolation: str = "read_committed",
) -> dict[PartitionOffset, bool | None]:
    """Return for each (partition, offset) whether a data record lies at or after it. None: unknown.

    ``places``: the (partition, offset) pairs. ``ranges``: (log start offset, end offset) by partition, None if unknown.
    A partition may have several offsets. Its highest offset is checked first: a record at or after that one also lies
    after the lower ones.
    """
    answers: dict[PartitionOffset, bool | None] = {}
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
        answers_now = has_data(kafka, {p: (start, ends[p]) for p, start in starts.items()}, isolation)
        for partition, answer in answers_now.items():
            offsets = open_places[partition]
            # No record up to the end: check the next lower offset. A record, or unknown: so for all lower offsets too.
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
    wanted = f"wanted offsets {read.start} to {read.end - 1}, read up to {read.reached} (exclusive)"
    if read.ended == TIMEOUT:
        raise Unreachable(
            "read_timeout",
            f"The read of {where} timed out: {wanted}.",
            "Check that the partition has a leader, then start the same playbook again.",
            kafka.bootstrap_servers,
            retriable=True,
        )
    hints = {
        BLOCKED: "The log ends before the last wanted offset, or an open transaction holds back its last stable offset."
        " End the transaction, then start the same playbook again.",
        OUT_OF_RANGE: "The offsets lie outside the log. Check whether the topic was truncated or re-created, or whether"
        " its records expired.",
    }
    raise DrError(
        "read_incomplete", f"{where} could not be read: {wanted}.", hints[read.ended], kafka.bootstrap_servers
    )
