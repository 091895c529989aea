# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find records at the end of a replica that the flow sent twice, without reading more than the second copy.

Copies keep the producer's timestamp. So the broker's time index returns an offset at or before the first copy of a
record. If that is the record itself, there is no other copy. If the original has no timestamp, each copy has a
different one. Then, if offset-syncs show that the flow was resending, earlier records are compared without timestamps.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..._core.offsets.disaster import Copies
from ..._core.offsets.fingerprints import fingerprints, has_time, may_be_copy
from ..._core.partition import Partition, Ranges
from ..._kafka.records import Reading, Record, digested, first_data_record, read_ranges
from ..._kafka.topics import offsets_at
from .internal_topics import InternalTopics
from .pair import ISOLATION

__all__ = ["Resends"]

# Offsets to compare in search of a first copy. Before them, only the timestamp limits where it can be.
_BUDGET = 100_000
_SECONDS = 60.0


class Resends:
    """Finds resent records, given the last record and the log range of each replica partition."""

    def __init__(self, topics: InternalTopics, last: Mapping[Partition, Record], ranges: Ranges) -> None:
        self._topics, self._ranges = topics, ranges
        self._untimed = {key for key, record in last.items() if not has_time(record)}
        self._resent = self._first_copies(last)

    def of(self, key: Partition, offset: int) -> Copies:
        """Return the earlier copies that matter for a committed offset on a partition."""
        resent = self._resent.get(key)
        if resent is None:
            # No copy was found. Without timestamps, that is proven only for the records that were read.
            return Copies(None, None, key not in self._untimed)
        first, proven = resent
        following = first_data_record(self._topics.kafka, key, offset, self._ranges[key][1], ISOLATION)
        if following is None:
            return Copies(first, None, proven)
        copies = self._first_copies({key: following})
        earliest, known = copies.get(key, (following.offset, True))
        return Copies(first, earliest, proven and known)

    def _first_copies(self, records: Mapping[Partition, Record]) -> dict[Partition, tuple[int, bool]]:
        """Return (offset, proven) of the first copy, for each record that has an earlier copy."""
        found = self._with_time(records)
        return found | self._without_time({key: one for key, one in records.items() if key not in found})

    def _without_time(self, records: Mapping[Partition, Record]) -> dict[Partition, tuple[int, bool]]:
        """Find first copies by content alone, in the records that the flow sent before it was resending."""
        spans, copies = {}, {}
        for key, record in records.items():
            rewind = self._topics.rewind(key, self._ranges[key]) if has_time(record) else None
            if rewind is not None:
                high = min(rewind.restart, record.offset)
                spans[key] = (min(high, max(rewind.first, high - _BUDGET)), high)
        spans = {key: span for key, span in spans.items() if span[0] < span[1]}
        for key, read in read_ranges(
            self._topics.kafka, spans, Reading(ISOLATION, digests=True, timeout=_SECONDS)
        ).items():
            record = replace(digested(records[key]), timestamp=None)
            first = next((one.offset for one in read.records if may_be_copy(record, one)), None)
            if first is not None or not read.complete:
                copies[key] = (read.start, False) if first is None else (first, True)
        return copies

    def _with_time(self, records: Mapping[Partition, Record]) -> dict[Partition, tuple[int, bool]]:
        kafka = self._topics.kafka
        moments = {
            key: record.timestamp
            for key, record in records.items()
            if has_time(record) and record.timestamp is not None
        }
        lowest = {key: at for key, at in offsets_at(kafka, moments).items() if at is not None}
        spans, copies = {}, {}
        for key, record in records.items():
            low = max(lowest.get(key, self._ranges[key][0]), self._ranges[key][0])
            begin = max(low, record.offset - _BUDGET)
            if begin > low and has_time(record):
                copies[key] = (low, False)  # no copy is lower, and a re-read is better than a skip
            elif begin < record.offset:
                spans[key] = (begin, record.offset)
        for key, read in read_ranges(kafka, spans, Reading(ISOLATION, digests=True, timeout=_SECONDS)).items():
            # Both are copies of one record, so fields that a broker sets differ and are not compared.
            _source, (wanted, *digests) = fingerprints([], [digested(records[key]), *read.records])
            first = next(
                (one.offset for one, digest in zip(read.records, digests, strict=True) if digest == wanted), None
            )
            if first is not None:
                copies[key] = (first, True)
            elif not read.complete:
                copies[key] = (read.start, False)
        return copies
