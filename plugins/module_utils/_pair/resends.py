# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds where the end of a replica was sent a second time, without reading more than the second copy.

Copies keep the producer's timestamp. So the broker's index by time gives an offset at or below the first copy of a
record; where that is the record itself, there is no other one.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping

from .._core.disaster import Copies
from .._kafka.records import Reading, Record, first_data_record, read_ranges
from .._kafka.topics import offsets_at
from .copies import mark
from .observe import ISOLATION, Partition
from .survivor import Survivor

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
        self._untimed = {key for key, record in last.items() if not self._timed(key, record)}
        self._seams = self._first_copies(last)

    def of(self, key: Partition, offset: int) -> Copies:
        """What is known for a position on a partition."""
        seam = self._seams.get(key)
        if seam is None:
            # Nothing was found; without timestamps that is true only as far back as was read.
            return Copies(None, None, key not in self._untimed)
        first, proven = seam
        behind = first_data_record(self._survivor.kafka, key, offset, self._ranges[key][1], ISOLATION)
        if behind is None:
            return Copies(first, None, proven)
        copies = self._first_copies({key: behind})
        earliest, known = copies.get(key, (behind.offset, True))
        return Copies(first, earliest, proven and known)

    def _timed(self, key: Partition, record: Record) -> bool:
        by_broker = self._survivor.setting(key[0], "message.timestamp.type") == "LogAppendTime"
        return not by_broker and record.timestamp is not None and record.timestamp_type != "LogAppendTime"

    def _first_copies(self, records: Mapping[Partition, Record]) -> dict[Partition, tuple[int, bool]]:
        """(offset, proven) of the first copy of each record that has an earlier one."""
        kafka = self._survivor.kafka
        moments = {
            key: record.timestamp
            for key, record in records.items()
            if key not in self._untimed and record.timestamp is not None
        }
        lowest = {key: at for key, at in offsets_at(kafka, moments).items() if at is not None}
        spans, found = {}, {}
        for key, record in records.items():
            low = max(lowest.get(key, self._ranges[key][0]), self._ranges[key][0])
            begin = max(low, record.offset - _BUDGET)
            if begin > low and key not in self._untimed:
                found[key] = (low, False)  # nowhere lower: re-read rather than skip
            elif begin < record.offset:
                spans[key] = (begin, record.offset)
        for key, read in read_ranges(kafka, spans, Reading(ISOLATION, timeout=_SECONDS)).items():
            timed = key not in self._untimed
            wanted = mark(records[key], timed)
            first = next((one.offset for one in read.records if mark(one, timed) == wanted), None)
            if first is not None:
                found[key] = (first, True)
            elif not read.complete:
                found[key] = (read.start, False)
        return found
