# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the records that a translation needs, on both clusters at the same time.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from ..._core.errors import DrError
from ..._core.offsets.spans import Span
from ..._core.partition import Partition, Ranges
from ..._kafka.records import BLOCKED, EXHAUSTED, RangeRead, Reading, read_ranges
from ..connections.clusters import both
from ..observation.pair import ISOLATION
from .flow_topics import FlowTopics

__all__ = ["SpanReader"]

# Timeout of one read, and of counting records.
_SECONDS = 60.0
_COUNTING_SECONDS = 600.0


class SpanReader:
    """Reads spans of source partitions and of their replicas."""

    def __init__(self, topics: FlowTopics) -> None:
        self._topics = topics
        #: Records read so far.
        self.records = 0

    def read(self, spans: Mapping[Partition, Sequence[Span]]) -> Iterator[tuple[Partition, Span, RangeRead, RangeRead]]:
        """Read the spans in rounds. A consumer reads one span of a partition at a time: round n reads span n."""
        topics = self._topics
        for number in range(max((len(of_partition) for of_partition in spans.values()), default=0)):
            now = {key: of_partition[number] for key, of_partition in spans.items() if number < len(of_partition)}
            sources = {key: span.source for key, span in now.items()}
            replicas = {topics.replica(key): span.replica for key, span in now.items()}
            source_reads, replica_reads = both(
                partial(self._ranges, topics.source, sources), partial(self._ranges, topics.target, replicas)
            )
            for key, span in now.items():
                yield key, span, source_reads[key], replica_reads[topics.replica(key)]

    def count(self, alias: str, spans: Ranges) -> dict[Partition, int]:
        """Return the number of data records in a part of each log. Keeps no record."""
        reading = Reading(ISOLATION, last_only=True, timeout=_COUNTING_SECONDS)
        reads = self._require(alias, read_ranges(self._topics.pair.kafka[alias], spans, reading))
        self.records += sum(read.count for read in reads.values())
        return {key: read.count for key, read in reads.items()}

    def _ranges(self, alias: str, ranges: Ranges) -> dict[Partition, RangeRead]:
        reading = Reading(ISOLATION, digests=True, timeout=_SECONDS)
        reads = self._require(alias, read_ranges(self._topics.pair.kafka[alias], ranges, reading))
        self.records += sum(read.count for read in reads.values())
        return reads

    @staticmethod
    def _require(alias: str, reads: dict[Partition, RangeRead]) -> dict[Partition, RangeRead]:
        for key, read in reads.items():
            if read.ended not in (EXHAUSTED, BLOCKED):
                raise DrError(
                    "not_readable",
                    f"{key} on {alias} could not be read from offset {read.start} to {read.end}: {read.ended}.",
                    "Without these records no offset can be proven. Nothing was committed. Check the partition, then"
                    " start the same playbook again.",
                )
        return reads
