# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read what the surviving cluster holds about the groups and the flow, without contacting the lost cluster.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from ..._core.errors import DrError
from ..._core.flows.pair_spec import PairSpec
from ..._core.journal.facts import JournalFacts
from ..._core.names import flow_name
from ..._core.offsets.disaster import Checkpointed, Tail
from ..._core.offsets.internal_records import decode_checkpoint
from ..._core.offsets.rewinds import Rewind, open_rewind
from ..._core.offsets.tenures import TenurePlace, locate, tenures
from ..._core.offsets.translation import after_last_rewind, checkpoint
from ..._core.resources.topic_ids import require_same
from ..._core.resources.topics import TopicState
from ..._engines.base import FlowState
from ..._kafka import groups as kafka_groups
from ..._kafka.records import Record, data_records, first_data_record
from ..._kafka.topics import describe, log_ranges
from ..connections.engines import Opened
from .offset_syncs import Syncs
from .pair import ISOLATION, LastRecords, PairSnapshot, Partition, heartbeat_age, unwrap

__all__ = ["Survivor"]

_FIRST_CHUNK = 20_000
_GROWTH = 4


class Survivor:
    """The surviving cluster of a pair. X is lost, Y survives.

    Uses only the connections to Y in ``opened``. ``snapshot`` is a recent snapshot of Y; None: observe Y.
    """

    def __init__(
        self,
        pair: PairSpec,
        flow: tuple[str, str],
        journal: JournalFacts,
        opened: Opened,
        snapshot: PairSnapshot | None = None,
    ) -> None:
        self.x, self.y = flow
        self.topics, self.groups, self.naming = list(pair.topics), list(pair.groups), pair.naming
        self._declared = pair.group_topics
        self._ids: Mapping[str, str] = journal.topic_ids.get(self.y, {})
        self._offset_syncs_start: Mapping[str, int] = journal.offset_syncs_start.get(flow_name(*flow), {})
        self._opened, self._snapshot = opened, snapshot
        self.kafka, self.engine = self._opened.kafka[self.y], self._opened.engine
        self.tenures = tenures(journal.cuts, self.x, self.y) if self.naming.policy == "identity" else []

    @property
    def requests(self) -> list[dict[str, Any]]:
        """Return every request sent so far, without secrets."""
        return self._opened.requests

    def read_ahead(self) -> None:
        """Read checkpoints and offset-syncs now, so that later calls use them."""
        for group, key in self.checkpoints:
            self.checkpointed(group, key)

    # ---- topics

    def replica(self, key: Partition) -> Partition:
        """Return the replica on Y of X's partition."""
        return self.naming.replica(self.x, key[0]), key[1]

    @cached_property
    def originals(self) -> dict[str, str]:
        """X's topics by the names of their replicas."""
        return {self.naming.replica(self.x, name): name for name in self.topics}

    @cached_property
    def states(self) -> dict[str, TopicState]:
        """Every topic on Y that groups will read. Raises if one is missing or is no longer the journaled topic."""
        names = list(dict.fromkeys([*self.topics, *(self.naming.replica(self.x, topic) for topic in self.topics)]))
        settings = ("cleanup.policy",)
        states = describe(self.kafka, names, dict.fromkeys(names, settings))
        missing = [name for name in names if states[name] is None]
        if missing:
            raise DrError(
                "topic_missing",
                f"{len(missing)} topics do not exist on {self.y}: {', '.join(missing[:5])}.",
                "Consumers that subscribe to them would start where auto.offset.reset says. Create the topics first.",
                self.kafka.bootstrap_servers,
            )
        present = {name: state for name, state in states.items() if state is not None}
        for name, state in present.items():
            known = self._ids.get(name)
            if known is not None:
                require_same(name, self.y, state.topic_id, known)
        return present

    def setting(self, topic: str, name: str) -> str:
        """Return a setting of a topic on Y; empty if unknown."""
        value = self.states[topic].config.get(name)
        return "" if value is None or value.value is None else str(value.value)

    def ranges(self, isolation: str = ISOLATION) -> dict[Partition, tuple[int, int]]:
        """Return log start and end (last stable offset) of every partition on Y."""
        keys = {(name, index) for name, state in self.states.items() for index in range(state.partitions)}
        if self._snapshot is not None and isolation == ISOLATION:
            return self._snapshot.ranges(self.y, keys)
        return log_ranges(self.kafka, keys, isolation)

    # ---- the flow

    def observe(self) -> FlowState:
        """Return the flow X->Y as its engine on Y reports it."""
        if self._snapshot is None:
            return self.engine.observe(self.x, self.y)
        return unwrap(self._snapshot.engines[self.x, self.y])

    def tails(self, observation: FlowState) -> dict[Partition, Tail]:
        """Return every partition's log on Y, with the last replicated offset of replicas."""
        last_replicated_offset = {
            self.replica(key): offset for key, offset in observation.last_replicated_offset.items()
        }
        return {
            key: Tail(start, end, last_replicated_offset.get(key), self._floor(key))
            for key, (start, end) in self.ranges().items()
        }

    def _floor(self, key: Partition) -> int:
        return self.tenures[-1].first(self.y, key) if self.tenures else 0

    # ---- groups

    @cached_property
    def checkpoints(self) -> dict[tuple[str, Partition], Checkpointed]:
        """MirrorMaker 2's newest checkpoint by group and partition on Y."""
        topic = self.naming.checkpoints(self.x)
        if describe(self.kafka, [topic])[topic] is None:
            return {}
        sizes = {replica: self.states[replica].partitions for replica in self.originals}
        groups, expected = set(self.groups), len(self.groups) * sum(sizes.values())
        checkpoints: dict[tuple[str, Partition], Checkpointed] = {}
        start, left = log_ranges(self.kafka, {(topic, 0)}, ISOLATION)[topic, 0]
        chunk = _FIRST_CHUNK
        while left > start and len(checkpoints) < expected:
            begin = max(start, left - chunk)
            newer = self._decoded(topic, data_records(self.kafka, (topic, 0), begin, left))
            newer = {
                key: newest for key, newest in newer.items() if key[0] in groups and key[1][1] < sizes.get(key[1][0], 0)
            }
            checkpoints = {**newer, **checkpoints}
            left, chunk = begin, chunk * _GROWTH
        return {key: newest for key, newest in checkpoints.items() if self._believed(self.originals[key[1][0]], newest)}

    def _decoded(self, topic: str, records: list[Record]) -> dict[tuple[str, Partition], Checkpointed]:
        checkpoints = {}
        for record in records:
            if record.key is None or record.value is None:
                continue
            try:
                decoded = decode_checkpoint(record.key, record.value)
            except DrError as error:
                raise DrError(
                    "checkpoints_unreadable",
                    f'The record at offset {record.offset} of "{topic}" is not a checkpoint. {error.message}',
                    "A producer other than MirrorMaker 2 writes to this topic, or an unknown version of MirrorMaker 2"
                    " does. Nothing was committed.",
                    self.kafka.bootstrap_servers,
                ) from error
            time = (record.timestamp or 0) / 1000.0
            checkpoints[decoded.group, (decoded.topic, decoded.partition)] = Checkpointed(
                decoded.upstream, decoded.downstream, time, record.offset
            )
        return checkpoints

    @cached_property
    def _syncs(self) -> Syncs | None:
        """The offset-syncs of the flow X->Y; None: they are stored on X."""
        if self.engine.capabilities.offset_syncs_on_source:
            return None
        topic = self.naming.offset_syncs(self.x)
        return Syncs(self.kafka, topic, flow_name(self.x, self.y), self.topics, self._offset_syncs_start)

    @cached_property
    def _believed_from(self) -> dict[str, float]:
        """For topics that were created again: since when checkpoints are about the present topic (epoch seconds)."""
        topic, moments = self.naming.offset_syncs(self.x), {}
        for name, since in self._offset_syncs_start.items():
            moments[name] = 0.0 if since == 0 else float("inf")
            if since and not self.engine.capabilities.offset_syncs_on_source:
                start, end = log_ranges(self.kafka, {(topic, 0)}, ISOLATION)[topic, 0]
                first = first_data_record(self.kafka, (topic, 0), max(start, since), end) if since < end else None
                if first is not None:
                    moments[name] = (first.timestamp or 0) / 1000.0
        return moments

    def _believed(self, topic: str, one: Checkpointed) -> bool:
        return one.time >= self._believed_from.get(topic, 0.0)

    def checkpointed(self, group: str, key: Partition) -> Checkpointed | None:
        """Return the group's checkpoint of the present tenure, raised by the newest offset-syncs if these are higher.

        None: there is no such checkpoint.
        """
        current = self.checkpoints.get((group, key))
        if current is None or (self.tenures and self.place(group, key) != TenurePlace(len(self.tenures) - 1)):
            return None
        syncs = self._syncs
        if syncs is None:
            return current
        source = (self.originals[key[0]], key[1])
        syncs.reach(lambda of: any(sync.upstream <= current.upstream for sync in of.get(source, ())))
        better = checkpoint(current.upstream, after_last_rewind(syncs.of.get(source, ())))
        if better is None or better <= current.downstream:
            return current
        return replace(current, downstream=better)

    def last_source(self, source: Partition, last: Record | None) -> int | None:
        """Return the source offset of the replica's last record; None: no offset-sync holds it."""
        if self._syncs is None or last is None:
            return None
        upstream = [sync.upstream for sync in self._syncs.of.get(source, ()) if sync.downstream == last.offset]
        return upstream[-1] if upstream else None

    def rewind(self, replica: Partition, log: tuple[int, int]) -> Rewind | None:
        """Return what the flow was resending into this replica when it ended; None: offset-syncs show nothing."""
        if self._syncs is None or replica[0] not in self.originals:
            return None
        self._syncs.reach(lambda _of: True)
        return open_rewind(self._syncs.of.get((self.originals[replica[0]], replica[1]), ()), *log)

    def place(self, group: str, key: Partition) -> TenurePlace:
        """Return the tenure of the group's checkpointed offset on X (policy identity)."""
        newest = self.checkpoints.get((group, key))
        return TenurePlace(None) if newest is None else locate(self.tenures, self.x, key, newest.upstream)

    def commits(self) -> tuple[dict[str, Any], dict[str, dict[Partition, int]]]:
        """Return the state and the committed offsets of every group on Y."""
        if self._snapshot is not None:
            return unwrap(self._snapshot.groups[self.y])
        return kafka_groups.describe(self.kafka, self.groups), kafka_groups.committed_offsets(self.kafka, self.groups)

    def topics_of(self, group: str) -> list[str]:
        """Return the originals that the group reads: the declared ones, else all, because it may read any of them."""
        return list(self._declared.get(group) or self.topics)

    def heartbeat_age(self) -> float | None:
        """Return the age of X's newest heartbeat in seconds; None: none, or another flow may have replicated it."""
        if self.engine.application:
            return None
        topic = self.naming.heartbeats(self.x)
        return (
            heartbeat_age(self.kafka, topic) if self._snapshot is None else self._snapshot.heartbeat_age(self.y, topic)
        )

    def last_records(
        self, keys: set[Partition], ranges: Mapping[Partition, tuple[int, int]]
    ) -> dict[Partition, Record]:
        """Return the last data record of each of these partitions that has one."""
        last = LastRecords(self._opened.kafka) if self._snapshot is None else self._snapshot.last
        records = last.of(self.y, {key: ranges[key] for key in keys})
        return {key: record for key, record in records.items() if record is not None}
