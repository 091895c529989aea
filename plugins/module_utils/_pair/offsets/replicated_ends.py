# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find where the replicated part of each source partition ends, after the flow's worker has died (R45).

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from ..._core.errors import DrError
from ..._core.offsets.fingerprints import fingerprints, has_time
from ..._core.offsets.replicated_end import replicated_end
from ..._core.partition import Partition, Range, Ranges
from ..._kafka.client import Kafka
from ..._kafka.records import EXHAUSTED, RangeRead, Reading, Record, read_ranges
from ..._kafka.topics import offsets_at
from ..observation.pair import ISOLATION

__all__ = ["EndFound", "TenureLogs", "replicated_ends"]

# Highest number of offsets at a replica's end to compare with the source's records.
_WINDOW = 1_000_000
# Offsets of the source before the stored one that are compared.
_CONTEXT = 2_000
_EXPIRED = "records around the last stored offset have expired, or have no timestamp"
# Partitions that are compared at the same time, because their records are in memory.
_AT_ONCE = 50


@dataclass(frozen=True)
class TenureLogs:
    """One source partition and its replica: the parts of both logs that one tenure wrote."""

    replica: Partition
    #: From the first offset of the tenure that is left, to where the flow may have replicated.
    source: Range
    #: From the first offset of the tenure that is left, to the cut.
    target: Range
    #: The offset after the last replicated one that the flow stored.
    stored: int
    #: Nothing of the tenure has expired on the source, and on the target.
    source_whole: bool
    target_whole: bool
    compacted: bool = False


@dataclass(frozen=True)
class EndFound:
    """Where the replicated part of a source partition ends."""

    #: Offset of the first record that the replica does not hold, or the end of the source's part. A lower bound unless
    #: ``found``.
    end: int
    found: bool
    #: Number of records that were replicated after the last stored offset.
    after_stored: int = 0
    #: Number of records at or before the last stored offset that the replica does not hold, from ``end`` on.
    lost: int = 0
    #: Offsets of records before ``end`` that the replica does not hold.
    missing: Sequence[int] = ()
    #: Why the end is only a lower bound; "" if it is found.
    reason: str = ""
    #: The records that were compared are too few to show where the replica ends, so not even ``end`` is a lower bound.
    undecided: bool = False


def replicated_ends(source: Kafka, target: Kafka, logs: Mapping[Partition, TenureLogs]) -> dict[Partition, EndFound]:
    """Compare both logs of each partition. Raises if one cannot be read."""
    ends: dict[Partition, EndFound] = {}
    for chunk in _chunks(logs):
        ends.update(_Comparison(source, target, chunk).ends())
    return ends


def _chunks(logs: Mapping[Partition, TenureLogs]) -> Iterator[dict[Partition, TenureLogs]]:
    rest = iter(sorted(logs.items(), key=lambda item: item[0]))
    while chunk := dict(islice(rest, _AT_ONCE)):
        yield chunk


class _Comparison:
    """Reads the records around the stored offsets of some partitions, and compares them."""

    def __init__(self, source: Kafka, target: Kafka, logs: Mapping[Partition, TenureLogs]) -> None:
        self._source, self._target, self._logs = source, target, logs
        self._context = {key: read.records for key, read in self._read(source, self._context_spans()).items()}
        #: Partitions whose replica is read from a place after other, older records.
        self._inside: set[Partition] = set()

    def _context_spans(self) -> dict[Partition, Range]:
        spans = {}
        for key, of_one in self._logs.items():
            begin, end = of_one.source
            high = max(begin, min(of_one.stored, end))
            spans[key] = (max(begin, high - _CONTEXT), high)
        return spans

    def ends(self) -> dict[Partition, EndFound]:
        """Return the end of each partition."""
        spans = self._replica_spans()
        too_long = {key for key, span in spans.items() if span is not None and span[1] - span[0] > _WINDOW}
        wanted = {key: span for key, span in spans.items() if span is not None and key not in too_long}
        replicas = {self._logs[key].replica: key for key in wanted}
        reads = self._read(self._target, {replica: wanted[key] for replica, key in replicas.items()})
        copies = {key: reads[replica].records for replica, key in replicas.items()}
        later = self._later(copies)
        ends = {}
        for key in self._logs:
            if key in wanted and (copies[key] or self._complete(key)):
                ends[key] = self._compared(key, copies[key], later[key])
            else:
                reason = f"more than {_WINDOW} offsets of it are to be compared" if key in too_long else _EXPIRED
                ends[key] = self._not_compared(key, later[key], reason, key in too_long)
        return ends

    def _replica_spans(self) -> dict[Partition, Range | None]:
        """Return what to read of each replica: from the first copy of the context on; None: its place is unknown."""
        times = {}
        for key, of_one in self._logs.items():
            first = next((at for at, record in enumerate(self._context[key]) if has_time(record)), None)
            if self._complete(key) or first is None:
                continue
            del self._context[key][:first]
            times[of_one.replica] = self._context[key][0].timestamp or 0
        # The copies of later records are after the copy of that record.
        places = offsets_at(self._target, times) if times else {}
        spans: dict[Partition, Range | None] = {}
        for key, of_one in self._logs.items():
            begin, end = of_one.target
            if self._complete(key):
                spans[key] = (begin, end)
            elif of_one.replica in times and begin < end:
                place = places[of_one.replica]
                if place is None or place > begin:
                    self._inside.add(key)
                # Without such a record, look at the last ones: they show whether the replica keeps timestamps.
                low = end if place is None else max(begin, place)
                spans[key] = (min(low, max(begin, end - _CONTEXT)), end)
            else:
                spans[key] = None
        return spans

    def _complete(self, key: Partition) -> bool:
        """Do both parts begin with the first record of the tenure, and is that near enough?"""
        of_one = self._logs[key]
        near = of_one.stored - of_one.source[0] <= _CONTEXT
        return near and of_one.source_whole and of_one.target_whole

    def _later(self, copies: Mapping[Partition, Sequence[Record]]) -> dict[Partition, list[Record]]:
        """Return the source's records after the stored offset: at most one more than the replica may hold."""
        spans = {}
        for key, of_one in self._logs.items():
            begin, end = of_one.source
            spans[key] = (min(end, max(begin, of_one.stored)), end)
        most = max((len(records) for records in copies.values()), default=0)
        reads = self._read(self._source, spans, most + 1)
        return {key: read.records for key, read in reads.items()}

    def _not_compared(self, key: Partition, later: Sequence[Record], reason: str, undecided: bool) -> EndFound:
        of_one = self._logs[key]
        # The source holds no record after the stored offset, so none can have been replicated.
        at_end = not later and of_one.source[0] <= of_one.stored
        if at_end:
            return EndFound(of_one.source[1], True)
        return EndFound(of_one.stored, False, reason=reason, undecided=undecided)

    def _compared(self, key: Partition, copies: Sequence[Record], later: Sequence[Record]) -> EndFound:
        of_one, context, complete = self._logs[key], self._context[key], self._complete(key)
        if of_one.stored < of_one.source[0]:
            return self._not_compared(key, later, _EXPIRED, False)
        # A broker's time may be before or after the time of the original.
        timed = all(has_time(record) for record in copies)
        whole = complete or (timed and (key in self._inside or of_one.target_whole))
        records = [*context, *later]
        digests, there = fingerprints(records, copies)
        result = replicated_end(digests, len(context), there, whole, complete, of_one.compacted)
        at, reason = result.least, ""
        undecided = not at and bool(context) and not complete
        exact = not undecided and (result.found or (at == len(records) and not later))
        if undecided:
            reason = f"it holds none of the last {len(context)} records that the flow had stored"
        elif not exact:
            reason = _reason(of_one, timed)
        end = records[at].offset if at < len(records) else of_one.source[1]
        return EndFound(
            of_one.stored if at == len(context) and not exact else end,
            exact,
            max(0, at - len(context)),
            max(0, len(context) - at),
            tuple(records[index].offset for index in result.missing),
            reason,
            undecided,
        )

    def _read(self, kafka: Kafka, spans: Ranges, limit: int = 0) -> dict[Partition, RangeRead]:
        reads = read_ranges(kafka, spans, Reading(ISOLATION, limit=limit, digests=True, timeout=60.0))
        for key, read in reads.items():
            if not (read.complete if limit else read.ended == EXHAUSTED):
                raise DrError(
                    "end_unreadable",
                    f"{key} could not be read from offset {read.start} to {read.end}: {read.ended}.",
                    "Where its replicated part ends is unknown. Nothing was written. Start again when every partition"
                    " has a leader.",
                    kafka.bootstrap_servers,
                )
        return reads


def _reason(logs: TenureLogs, timed: bool) -> str:
    if logs.compacted:
        return "the topic is compacted"
    return "records have equal content" if timed else "brokers set the timestamps, or records have equal content"
