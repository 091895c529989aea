# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read MirrorMaker 2's internal topics on the surviving cluster: checkpoints and offset-syncs.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

from ..._core.errors import DrError
from ..._core.journal.facts import JournalFacts
from ..._core.names import flow_name
from ..._core.offsets.disaster import Checkpointed
from ..._core.offsets.internal_records import decode_checkpoint
from ..._core.offsets.rewinds import Rewind, open_rewind
from ..._core.offsets.tenures import TenurePlace, locate
from ..._core.offsets.translation import after_last_rewind, checkpoint
from ..._core.partition import Partition, Range
from ..._kafka.records import Record, data_records
from ..._kafka.topics import log_ranges
from .offset_syncs import Syncs
from .pair import ISOLATION
from .surviving_cluster import Survivor

__all__ = ["InternalTopics"]

_FIRST_CHUNK = 20_000
_GROWTH = 4
_Checkpoints = dict[tuple[str, Partition], Checkpointed]


class InternalTopics:
    """Checkpoints and offset-syncs of the flow X->Y on the surviving cluster Y."""

    def __init__(self, survivor: Survivor, journal: JournalFacts) -> None:
        self.kafka, self._survivor, self._naming = survivor.kafka, survivor, survivor.naming
        self._flow = flow_name(survivor.x, survivor.y)
        self._offset_syncs_start: Mapping[str, int] = journal.offset_syncs_start.get(self._flow, {})
        self._checkpoints_start = journal.checkpoints_start.get(self._flow, {})
        self._own = journal.own

    def read_ahead(self) -> None:
        """Read checkpoints and offset-syncs now, so that later calls use them."""
        for group, key in self.checkpoints:
            self.checkpointed(group, key)

    @cached_property
    def checkpoints(self) -> _Checkpoints:
        """MirrorMaker 2's newest checkpoint by group and partition on Y."""
        survivor = self._survivor
        place = Partition(self._naming.checkpoints(survivor.x), 0)
        if survivor.checkpoints_id is None:
            return {}
        sizes = {replica: survivor.states[replica].partitions for replica in survivor.originals}
        expected = len(survivor.groups) * sum(sizes.values())
        checkpoints: _Checkpoints = {}
        groups = set(survivor.groups)
        start, left = log_ranges(self.kafka, {place}, ISOLATION)[place]
        chunk = _FIRST_CHUNK
        while left > start and len(checkpoints) < expected:
            begin = max(start, left - chunk)
            newer = {
                (group, key): newest
                for (group, key), newest in self._decoded(place, begin, left).items()
                if group in groups and key.partition < sizes.get(key.topic, 0)
            }
            checkpoints = {**newer, **checkpoints}
            left, chunk = begin, chunk * _GROWTH
        return {
            (group, key): newest
            for (group, key), newest in checkpoints.items()
            if newest.at >= self._first_checkpoint(survivor.originals[key.topic])
        }

    def _decoded(self, place: Partition, begin: int, end: int) -> _Checkpoints:
        checkpoints: _Checkpoints = {}
        # Only the newest record of each key is decoded: MirrorMaker 2 may write one every five seconds.
        newest: dict[bytes, tuple[bytes, Record]] = {}
        for record in data_records(self.kafka, place, begin, end):
            if record.key is not None and record.value is not None:
                newest[record.key] = record.value, record
        for key, (value, record) in newest.items():
            try:
                decoded = decode_checkpoint(key, value)
            except DrError as error:
                raise DrError(
                    "checkpoints_unreadable",
                    f'The record at offset {record.offset} of "{place.topic}" is not a checkpoint. {error.message}',
                    "A producer other than MirrorMaker 2 writes to this topic, or an unknown version of MirrorMaker 2"
                    " does. Nothing was committed.",
                    self.kafka.bootstrap_servers,
                ) from error
            time = (record.timestamp or 0) / 1000.0
            checkpoints[decoded.group, Partition(decoded.topic, decoded.partition)] = Checkpointed(
                decoded.upstream, decoded.downstream, time, record.offset
            )
        return checkpoints

    @cached_property
    def _syncs(self) -> Syncs | None:
        """The offset-syncs of the flow X->Y; None: they are stored on X."""
        if self._survivor.engine.capabilities.offset_syncs_on_source:
            return None
        topic = self._naming.offset_syncs(self._survivor.x)
        return Syncs(self.kafka, topic, self._flow, self._survivor.topics, self._offset_syncs_start)

    def _first_checkpoint(self, topic: str) -> int:
        """Return the offset from which checkpoints are about the present topic. No worker's clock decides it (R43)."""
        start = self._checkpoints_start.get(topic)
        return 0 if start is None else start.within(self._survivor.checkpoints_id)

    def checkpointed(self, group: str, key: Partition) -> Checkpointed | None:
        """Return the group's checkpoint of the present tenure, raised by the newest offset-syncs if these are higher.

        If it is older than the last move from Y, it is lowered to the group's own offset at that move (R39). None:
        there is no such checkpoint, or without tenures it is unknown whether it is older.
        """
        current, tenures = self.checkpoints.get((group, key)), self._survivor.tenures
        stale = current is not None and self._is_stale(current)
        if current is not None and (stale or (stale is None and not tenures)):
            own = None if tenures else self._own.offset(group, key)
            return None if own is None else replace(current, downstream=min(own, current.downstream))
        if current is None or (tenures and self.place(group, key) != TenurePlace(len(tenures) - 1)):
            return None
        syncs, source = self._syncs, self._survivor.original(key)
        if syncs is None:
            return current
        syncs.reach(lambda of: any(sync.upstream <= current.upstream for sync in of.get(source, ())))
        better = checkpoint(current.upstream, after_last_rewind(syncs.of.get(source, ())))
        return current if better is None or better <= current.downstream else replace(current, downstream=better)

    def newest(self, group: str, key: Partition) -> Checkpointed | None:
        """Return the group's newest checkpoint of any tenure, unless it is older than the last move from Y; None: none.

        It voids higher offsets, so it counts if its age is unknown.
        """
        checkpointed = self.checkpoints.get((group, key))
        return None if checkpointed is None or self._is_stale(checkpointed) else checkpointed

    def _is_stale(self, checkpointed: Checkpointed) -> bool | None:
        """Is it older than the last move from Y? None: unknown. Y was lost then, and not enabled since (R43)."""
        if self._own.checkpoints is not None:
            return checkpointed.at < self._own.checkpoints.within(self._survivor.checkpoints_id)
        return None if self._own.left else False

    def last_source(self, source: Partition, last: Record | None) -> int | None:
        """Return the source offset of the replica's last record; None: no offset-sync holds it."""
        if self._syncs is None or last is None:
            return None
        upstream = [sync.upstream for sync in self._syncs.of.get(source, ()) if sync.downstream == last.offset]
        return upstream[-1] if upstream else None

    def rewind(self, replica: Partition, log: Range) -> Rewind | None:
        """Return what the flow was resending into this replica when it ended; None: offset-syncs show nothing."""
        if self._syncs is None or replica.topic not in self._survivor.originals:
            return None
        self._syncs.reach(lambda _of: True)
        return open_rewind(self._syncs.of.get(self._survivor.original(replica), ()), *log)

    def place(self, group: str, key: Partition) -> TenurePlace:
        """Return the tenure of the group's checkpointed offset on X (policy identity)."""
        newest = self.newest(group, key)
        if newest is None:
            return TenurePlace(None)
        place = locate(self._survivor.tenures, self._survivor.x, key, newest.upstream)
        # At a cut, one from before the move looks like one from after it.
        return TenurePlace(None) if place.other is not None and self._is_stale(newest) is None else place
