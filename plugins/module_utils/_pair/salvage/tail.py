# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tail of one partition, and a reader of its records.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..._core.errors import DrError
from ..._core.offsets.tails import Progress
from ..._core.partition import Partition
from ..._kafka.client import Kafka
from ..._kafka.records import LIMIT, RangeRead, Reading, Record, read_ranges
from ..observation.pair import ISOLATION

__all__ = ["CHUNK", "CHUNK_BYTES", "READ_SECONDS", "Tail", "TailReader", "lines"]

# Records of one partition that are in memory at a time.
CHUNK = 10_000
# A chunk of large records ends earlier, because it is held in memory.
CHUNK_BYTES = 64 * 1024 * 1024
# Timeout of reading one range.
READ_SECONDS = 60.0


@dataclass
class Tail:
    """Offsets [``begin``, ``end``) of one source partition."""

    key: Partition
    begin: int
    #: Last stable offset, or the end of the range of a replay that has begun.
    end: int
    high_watermark: int
    #: Offsets of the tail that retention has deleted: [begin, end).
    expired: tuple[int, int] | None = None
    #: Present log end and former log end, if the lost cluster came back without the last replicated records.
    truncated: tuple[int, int] | None = None
    #: Records at the beginning that the replica has, although the flow has not stored their offsets.
    already_replicated: int = 0
    #: Records at the beginning that the flow had replicated and stored, and that the target has lost since.
    copies_lost: int = 0
    #: Offsets before the beginning whose records the target does not hold, although it holds later ones.
    missing: Sequence[int] = ()
    #: Number of records.
    records: int = 0
    #: Lowest and highest timestamp, in Unix time in milliseconds; None: no record has one.
    first_time: int | None = None
    last_time: int | None = None
    #: Number of records with a timestamp after the failover. Producers set it, so this is a hint (R43).
    after_failover: int = 0
    #: A replay that has begun and not ended.
    resumes: Progress | None = None
    #: Path of the exported file.
    file: str | None = None
    #: Number of records that were replayed.
    replayed: int = 0

    @property
    def matters(self) -> bool:
        """Are there records, missing records, or a replay to finish?"""
        gaps = self.expired or self.truncated or self.missing
        return bool(self.records or gaps or self.resumes or self.high_watermark > self.end)

    def count(self, record: Record, failed_over_ms: int | None) -> None:
        """Count a record of the tail."""
        self.records += 1
        self.after_failover += failed_over_ms is not None and (record.timestamp or 0) > failed_over_ms
        times = [one for one in (self.first_time, self.last_time, record.timestamp) if one is not None]
        self.first_time, self.last_time = min(times, default=None), max(times, default=None)

    def row(self) -> dict[str, Any]:
        """Return the tail as plain data for the report."""
        return {
            "topic": self.key[0],
            "partition": self.key[1],
            "begin": self.begin,
            "end": self.end,
            "records": self.records,
            "first_time": self.first_time,
            "last_time": self.last_time,
            "after_failover": self.after_failover,
            "already_replicated": self.already_replicated,
            "copies_lost": self.copies_lost,
            "missing": [self.missing[0], self.missing[-1] + 1] if self.missing else None,
            "missing_records": len(self.missing),
            "expired": None if self.expired is None else list(self.expired),
            "truncated": None if self.truncated is None else list(self.truncated),
            "undecided": 0 if self.resumes or self.truncated else max(0, self.high_watermark - self.end),
            "file": self.file,
            "replayed": self.replayed,
        }


class TailReader:
    """Reads the records of tails from the lost cluster."""

    def __init__(self, kafka: Kafka, alias: str) -> None:
        self._kafka, self._alias = kafka, alias

    def range(self, key: Partition, begin: int, end: int, limit: int = 0) -> list[Record]:
        """Return digests of the records of ``key`` in [``begin``, ``end``), as ``chunks`` would return the records."""
        reading = Reading(ISOLATION, limit=limit, digests=True, timeout=READ_SECONDS)
        return self._read(key, begin, end, reading).records

    def _read(self, key: Partition, begin: int, end: int, reading: Reading) -> RangeRead:
        """Raise if a record cannot be read, or not be written unchanged."""
        read = read_ranges(self._kafka, {key: (begin, end)}, reading)[key]
        if not read.complete:
            raise DrError(
                "tail_unreadable",
                f"{key} on {self._alias} could not be read from offset {begin} to {end}: {read.ended}.",
                "Start again when every partition has a leader. Finished steps are not repeated.",
            )
        unreadable = next((one.offset for one in read.records if one.headers is None), None)
        if unreadable is not None:
            raise DrError(
                "headers_unreadable",
                f"{key} on {self._alias}: a header name of the record at offset {unreadable} is not UTF-8.",
                "confluent-kafka cannot read its headers, so the record cannot be written unchanged. Nothing of it was"
                " written. Restart the flow to replicate the tail, or export and replay with another tool.",
            )
        return read

    def records(self, tail: Tail) -> Iterator[Record]:
        """Iterate over every record of the tail."""
        for chunk in self.chunks(tail):
            yield from chunk

    def chunks(self, tail: Tail) -> Iterator[list[Record]]:
        """Iterate over the records of the tail, at most ``CHUNK`` and about ``CHUNK_BYTES`` at a time."""
        at = tail.begin
        reading = Reading(ISOLATION, limit=CHUNK, most_bytes=CHUNK_BYTES, timeout=READ_SECONDS)
        while at < tail.end:
            read = self._read(tail.key, at, tail.end, reading)
            if read.records:
                yield read.records
            at = read.reached if read.ended == LIMIT else tail.end


def lines(rows: list[dict[str, Any]], source: str, target: str) -> list[str]:
    """Describe the tails, one line per partition."""
    total = sum(row["records"] for row in rows)
    if not rows:
        return [f"{source} holds no record that {target} lacks."]
    late = sum(row["after_failover"] for row in rows)
    texts = [f"{total} records on {source} were never replicated to {target}"]
    if late:
        texts.append(
            f"  {late} of them have a timestamp after the failover: they were written then (split brain), or their"
            " producers' clocks are ahead"
        )
    for row in rows[:50]:
        where = f"  {row['topic']}-{row['partition']}: {row['records']} records in [{row['begin']}, {row['end']})"
        where += f", {row['copies_lost']} of them replicated before and lost on {target}" if row["copies_lost"] else ""
        where += (
            f", and {row['missing_records']} more in [{row['missing'][0]}, {row['missing'][1]}) that {target} lacks"
            if row["missing"]
            else ""
        )
        where += f", expired {row['expired'][0]} to {row['expired'][1] - 1}" if row["expired"] else ""
        where += f", ends at {row['truncated'][0]}, formerly at {row['truncated'][1]}" if row["truncated"] else ""
        where += f", {row['undecided']} offsets held back by an open transaction" if row["undecided"] else ""
        texts.append(where)
    return texts
