# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Observe the surviving cluster: topics, groups and the flow, without contacting the lost cluster.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from ..._core.errors import DrError
from ..._core.flows.pair_spec import PairSpec
from ..._core.journal.facts import JournalFacts
from ..._core.offsets.disaster import Tail
from ..._core.offsets.tenures import tenures
from ..._core.partition import Partition, Range, Ranges
from ..._core.resources.topic_ids import require_same
from ..._core.resources.topics import TopicState
from ..._engines.base import FlowState
from ..._kafka import groups as kafka_groups
from ..._kafka.records import Record
from ..._kafka.topics import describe, log_ranges
from ..connections.engines import Opened
from .last_records import LastRecords, heartbeat_age, newest_heartbeat
from .pair import ISOLATION
from .snapshot import PairSnapshot, unwrap

__all__ = ["Survivor"]


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
        self._opened, self._snapshot = opened, snapshot
        self.kafka, self.engine = self._opened.kafka[self.y], self._opened.engine
        self.tenures = tenures(journal.cuts, self.x, self.y) if self.naming.starts_at_cut else []

    @property
    def requests(self) -> list[dict[str, Any]]:
        """Return every request sent so far, without secrets."""
        return self._opened.requests

    # ---- topics

    def replica(self, key: Partition) -> Partition:
        """Return the replica on Y of X's partition."""
        return self.naming.replica_partition(self.x, key)

    @cached_property
    def originals(self) -> dict[str, str]:
        """X's topics by the names of their replicas."""
        return {self.naming.replica(self.x, name): name for name in self.topics}

    def replica_name(self, topic: str) -> str:
        """Return the name of the replica on Y of X's topic."""
        return self.naming.replica(self.x, topic)

    def original(self, replica: Partition) -> Partition:
        """Return X's partition of a replica on Y."""
        return Partition(self.originals[replica.topic], replica.partition)

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

    @cached_property
    def checkpoints_id(self) -> str | None:
        """The id of the topic on Y with MirrorMaker 2's checkpoints; None: there is no such topic."""
        name = self.naming.checkpoints(self.x)
        state = describe(self.kafka, [name])[name]
        return None if state is None else state.topic_id

    def setting(self, topic: str, name: str) -> str:
        """Return a setting of a topic on Y; empty if unknown."""
        value = self.states[topic].config.get(name)
        return "" if value is None or value.value is None else str(value.value)

    def ranges(self, isolation: str = ISOLATION) -> dict[Partition, Range]:
        """Return log start and end (last stable offset) of every partition on Y."""
        keys = {Partition(name, index) for name, state in self.states.items() for index in range(state.partitions)}
        if self._snapshot is not None and isolation == ISOLATION:
            return self._snapshot.ranges(self.y, keys)
        return log_ranges(self.kafka, keys, isolation)

    # ---- the flow

    def observe(self) -> FlowState:
        """Return the flow X->Y as its engine on Y reports it.

        An engine whose stop cannot be proven adds nothing to what Kafka shows. So only its stored offsets are read, and
        its management interface may be lost as well.
        """
        if self._snapshot is None:
            stored = None if self.engine.capabilities.stop_provable else self.engine.observe_offsets(self.x, self.y)
            return stored or self.engine.observe(self.x, self.y)
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

    def commits(self) -> tuple[dict[str, Any], dict[str, dict[Partition, int]]]:
        """Return the state and the committed offsets of every group on Y."""
        if self._snapshot is not None:
            return unwrap(self._snapshot.groups[self.y])
        return kafka_groups.describe(self.kafka, self.groups), kafka_groups.committed_offsets(self.kafka, self.groups)

    def metadata(self) -> dict[str, dict[Partition, str]]:
        """Return the metadata of the committed offsets on Y that have any; empty for a prediction from a snapshot."""
        if self._snapshot is not None:
            return {}
        commits = kafka_groups.committed(self.kafka, self.groups)
        return {
            group: {key: commit.metadata for key, commit in of_group.items() if commit.metadata}
            for group, of_group in commits.items()
        }

    def topics_of(self, group: str) -> list[str]:
        """Return the originals that the group reads: the declared ones, else all, because it may read any of them."""
        return list(self._declared.get(group) or self.topics)

    def declares_topics(self, group: str) -> bool:
        """Return whether the inventory lists the topics that the group reads."""
        return bool(self._declared.get(group))

    def heartbeat_age(self) -> float | None:
        """Return the age of X's newest heartbeat in seconds, by its worker's clock.

        None: there is none, its age is unknown, or another flow may have replicated it. It proves nothing, so one that
        cannot be read does not end a disaster.
        """
        if self.engine.application:
            return None
        topic = self.naming.heartbeats(self.x)
        snapshot = self._snapshot
        newest = newest_heartbeat(self.kafka, topic) if snapshot is None else snapshot.newest_heartbeat(self.y, topic)
        try:
            return heartbeat_age(newest)
        except DrError:
            return None

    def last_records(self, keys: set[Partition], ranges: Ranges) -> dict[Partition, Record]:
        """Return the last data record of each of these partitions that has one."""
        last = LastRecords(self._opened.kafka) if self._snapshot is None else self._snapshot.last
        records = last.of(self.y, {key: ranges[key] for key in keys})
        return {key: record for key, record in records.items() if record is not None}
