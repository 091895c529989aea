# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tail of one partition, and its records.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..._core.errors import DrError
from ..._core.offsets.tails import Progress
from ..._kafka.client import Kafka
from ..._kafka.records import Reading, Record, read_ranges
from ..observation.pair import ISOLATION, Partition

__all__ = ["CHUNK", "READ_SECONDS", "Tail", "TailReader", "lines"]

# Records of one partition that are held at a time.
CHUNK = 10_000
# Bound of reading one range.
READ_SECONDS = 60.0


@dataclass
class Tail:
    """Offsets [``begin``, ``end``) of one source partition."""

    key: Partition
    begin: int
    #: Last stable offset, or the end of the range that a replay has begun.
    end: int
    high_watermark: int
    #: Offsets of the tail that retention has deleted.
    expired: tuple[int, int] | None = None
    #: The log ends before the last replicated offset: the lost cluster came back without the end of it.
    truncated: tuple[int, int] | None = None
    #: Records at the beginning that the replica has, although the flow has not stored that.
    already_replicated: int = 0
    records: int = 0
    #: Unix time in milliseconds.
    first_time: int | None = None
    last_time: int | None = None
    after_failover: int = 0
    #: A replay that has begun and not ended.
    resumes: Progress | None = None
    #: Path of the exported file.
    file: str | None = None
    replayed: int = 0

    @property
    def matters(self) -> bool:
        """Whether there are records, missing records, or a replay to finish."""
        return bool(self.records or self.expired or self.truncated or self.resumes or self.high_watermark > self.end)

    def count(self, record: Record, failed_over_ms: int | None) -> None:
        """Count a record of the tail."""
        self.records += 1
        self.after_failover += failed_over_ms is not None and (record.timestamp or 0) > failed_over_ms
        times = [one for one in (self.first_time, self.last_time, record.timestamp) if one is not None]
        self.first_time, self.last_time = min(times, default=None), max(times, default=None)

    def row(self) -> dict[str, Any]:
        """Plain data for the report."""
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
        """Records of ``key`` within [``begin``, ``end``); raises where one of them cannot be read or rewritten."""
        reading = Reading(ISOLATION, limit=limit, timeout=READ_SECONDS)
        read = read_ranges(self._kafka, {key: (begin, end)}, reading)[key]
        if not read.complete:
            raise DrError(
                "tail_unreadable",
                f"{key[0]}-{key[1]} on {self._alias} could not be read from {begin} to {end}: {read.ended}.",
                "Start again when every partition has a leader; what is done is not done twice.",
            )
        unreadable = next((one.offset for one in read.records if one.headers is None), None)
        if unreadable is not None:
            raise DrError(
                "headers_unreadable",
                f"{key[0]}-{key[1]} on {self._alias}: a header name of the record at offset {unreadable} is not UTF-8.",
                "confluent-kafka cannot read its headers, so it cannot be written unchanged. Nothing of it was written."
                " Restart the flow to copy the tail, or export and replay with another tool.",
            )
        return read.records

    def records(self, tail: Tail) -> Iterator[Record]:
        """Every record of the tail."""
        for chunk in self.chunks(tail):
            yield from chunk

    def chunks(self, tail: Tail) -> Iterator[list[Record]]:
        """The records of the tail, so many at a time that memory suffices."""
        at = tail.begin
        while at < tail.end:
            records = self.range(tail.key, at, tail.end, CHUNK)
            if records:
                yield records
            at = records[-1].offset + 1 if len(records) >= CHUNK else tail.end


def lines(rows: list[dict[str, Any]], source: str, target: str) -> list[str]:
    """The tails, for a person."""
    total = sum(row["records"] for row in rows)
    if not rows:
        return [f"{source} holds nothing that {target} has not."]
    late = sum(row["after_failover"] for row in rows)
    texts = [f"{total} records on {source} were never copied to {target}"]
    if late:
        texts.append(f"  {late} of them were written after the failover (split brain)")
    for row in rows[:50]:
        where = f"  {row['topic']}-{row['partition']}: {row['records']} records in [{row['begin']}, {row['end']})"
        where += f", expired {row['expired'][0]} to {row['expired'][1] - 1}" if row["expired"] else ""
        where += f", ends at {row['truncated'][0]}, once at {row['truncated'][1]}" if row["truncated"] else ""
        where += f", {row['undecided']} offsets behind an open transaction" if row["undecided"] else ""
        texts.append(where)
    return texts
