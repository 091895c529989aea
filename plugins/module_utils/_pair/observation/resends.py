# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds where the end of a replica was sent a second time, without reading more than the second copy.

Copies keep the producer's timestamp. So the broker's index by time gives an offset at or below the first copy of a
record; where that is the record itself, there is no other one. Each copy of a record without a timestamp has another
one: where offset-syncs show that the flow was sending again, what it had sent before is compared without it.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..._core.offsets.disaster import Copies
from ..._core.offsets.fingerprints import fingerprints, has_time, may_be_copy
from ..._kafka.records import Reading, Record, first_data_record, read_ranges
from ..._kafka.topics import offsets_at
from .pair import ISOLATION, Partition
from .surviving_cluster import Survivor

__all__ = ["Resends"]

# Records that are compared to find a first copy. Further back it is bounded by its timestamp.
_BUDGET = 100_000
_SECONDS = 60.0


class Resends:
    """For the partitions of which ``last`` names the last record. ``ranges``: their logs."""

    def __init__(
        self, survivor: Survivor, last: Mapping[Partition, Record], ranges: Mapping[Partition, tuple[int, int]]
    ) -> None:
        self._survivor, self._ranges = survivor, ranges
        self._untimed = {key for key, record in last.items() if not has_time(record)}
        self._resent = self._first_copies(last)

    def of(self, key: Partition, offset: int) -> Copies:
        """What is known for a position on a partition."""
        found = self._resent.get(key)
        if found is None:
            # Nothing was found; without timestamps that is true only as far back as was read.
            return Copies(None, None, key not in self._untimed)
        first, proven = found
        behind = first_data_record(self._survivor.kafka, key, offset, self._ranges[key][1], ISOLATION)
        if behind is None:
            return Copies(first, None, proven)
        copies = self._first_copies({key: behind})
        earliest, known = copies.get(key, (behind.offset, True))
        return Copies(first, earliest, proven and known)

    def _first_copies(self, records: Mapping[Partition, Record]) -> dict[Partition, tuple[int, bool]]:
        """(offset, proven) of the first copy of each record that has an earlier one."""
        found = self._with_time(records)
        return found | self._without_time({key: one for key, one in records.items() if key not in found})

    def _without_time(self, records: Mapping[Partition, Record]) -> dict[Partition, tuple[int, bool]]:
        """By content alone, in what the flow had sent before it was sending again."""
        spans, found = {}, {}
        for key, record in records.items():
            rewind = self._survivor.rewind(key, self._ranges[key]) if has_time(record) else None
            if rewind is not None:
                high = min(rewind.restart, record.offset)
                spans[key] = (min(high, max(rewind.first, high - _BUDGET)), high)
        spans = {key: span for key, span in spans.items() if span[0] < span[1]}
        for key, read in read_ranges(self._survivor.kafka, spans, Reading(ISOLATION, timeout=_SECONDS)).items():
            record = replace(records[key], timestamp=None)
            first = next((one.offset for one in read.records if may_be_copy(record, one)), None)
            if first is not None or not read.complete:
                found[key] = (read.start, False) if first is None else (first, True)
        return found

    def _with_time(self, records: Mapping[Partition, Record]) -> dict[Partition, tuple[int, bool]]:
        kafka = self._survivor.kafka
        moments = {
            key: record.timestamp
            for key, record in records.items()
            if has_time(record) and record.timestamp is not None
        }
        lowest = {key: at for key, at in offsets_at(kafka, moments).items() if at is not None}
        spans, found = {}, {}
        for key, record in records.items():
            low = max(lowest.get(key, self._ranges[key][0]), self._ranges[key][0])
            begin = max(low, record.offset - _BUDGET)
            if begin > low and has_time(record):
                found[key] = (low, False)  # nowhere lower: re-read rather than skip
            elif begin < record.offset:
                spans[key] = (begin, record.offset)
        for key, read in read_ranges(kafka, spans, Reading(ISOLATION, timeout=_SECONDS)).items():
            # Two copies of one record, so what a broker sets differs on either.
            _source, (wanted, *digests) = fingerprints([], [records[key], *read.records])
            first = next(
                (one.offset for one, digest in zip(read.records, digests, strict=True) if digest == wanted), None
            )
            if first is not None:
                found[key] = (first, True)
            elif not read.complete:
                found[key] = (read.start, False)
        return found
