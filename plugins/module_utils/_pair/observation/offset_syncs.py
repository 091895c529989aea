# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the offset-syncs of a flow, newest first and no more than needed, because producers may be stopped meanwhile.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ..._core.errors import DrError
from ..._core.names import flow_name
from ..._core.offsets.internal_records import OffsetSync, decode_offset_sync
from ..._core.partition import Partition
from ..._kafka.client import Kafka
from ..._kafka.records import Record, data_records
from ..._kafka.topics import describe, log_ranges
from .pair import ISOLATION, Pair

__all__ = ["Syncs", "syncs_of"]

_FIRST_CHUNK = 20_000
_GROWTH = 4


class Syncs:
    """The offset-syncs of one flow.

    ``since`` maps a topic to its first valid offset in the offset-syncs topic. Earlier records belong to a deleted
    topic of the same name. If the offset-syncs topic does not exist, offsets are translated by content alone.
    """

    def __init__(self, kafka: Kafka, topic: str, flow: str, topics: Iterable[str], since: Mapping[str, int]) -> None:
        #: Records read so far.
        self.read = 0
        #: By source partition, in the order of the topic.
        self.of: dict[Partition, list[OffsetSync]] = {}
        self._flow = flow
        self._since = since
        self._kafka = kafka
        self._place = None if describe(kafka, [topic])[topic] is None else Partition(topic, 0)
        self._start = self._left = 0
        if self._place is not None:
            self._start, self._left = log_ranges(kafka, {self._place}, ISOLATION)[self._place]
            wanted = [since.get(name, 0) for name in topics]
            self._start = max(self._start, min(wanted, default=0))

    def reach(self, enough: Callable[[Mapping[Partition, list[OffsetSync]]], bool]) -> None:
        """Read more offset-syncs, toward the oldest, until ``enough`` returns true or none is left."""
        chunk = _FIRST_CHUNK
        while self._place and self._left > self._start and not (self.read and enough(self.of)):
            begin = max(self._start, self._left - chunk)
            self._take(self._place, begin, self._left)
            self._left, chunk = begin, chunk * _GROWTH

    def _take(self, place: Partition, begin: int, end: int) -> None:
        older: dict[Partition, list[OffsetSync]] = {}
        for record in data_records(self._kafka, place, begin, end):
            self.read += 1
            sync = self._decoded(record)
            if sync is not None and record.offset >= self._since.get(sync.topic, 0):
                older.setdefault(Partition(sync.topic, sync.partition), []).append(sync)
        for key, syncs in older.items():
            self.of[key] = syncs + self.of.get(key, [])

    def _decoded(self, record: Record) -> OffsetSync | None:
        if record.key is None or record.value is None:
            return None
        try:
            return decode_offset_sync(record.key, record.value)
        except DrError as error:
            topic = self._place[0] if self._place else ""
            raise DrError(
                "syncs_unreadable",
                f'The record at offset {record.offset} of the topic "{topic}" of the flow {self._flow} is not an'
                f" offset-sync. {error.message}",
                "A producer other than MirrorMaker 2 writes to this topic, or an unknown version of MirrorMaker 2"
                " does. Nothing was committed.",
                self._kafka.bootstrap_servers,
            ) from error


def syncs_of(pair: Pair, source: str, target: str, since: Mapping[str, int]) -> Syncs:
    """Return a flow's offset-syncs from the cluster where its engine writes them.

    On the other cluster, a topic with a similar name belongs to the opposite flow.
    """
    alias, other = (source, target) if pair.engine.capabilities.offset_syncs_on_source else (target, source)
    topic = pair.naming.offset_syncs(other)
    return Syncs(pair.kafka[alias], topic, flow_name(source, target), pair.topics, since)
