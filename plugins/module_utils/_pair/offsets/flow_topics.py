# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Topics and offset-syncs of a flow, and what they limit a translation to.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ..._core.journal.facts import JournalFacts
from ..._core.names import flow_name
from ..._core.offsets.internal_records import OffsetSync
from ..._core.offsets.translation import after_last_rewind
from ..._core.partition import Partition, Range
from ..._core.resources.topic_ids import require_same
from ..._core.resources.topics import TopicState
from ..._kafka.topics import describe, with_config
from ..connections.clusters import both
from ..observation.offset_syncs import Syncs, syncs_of
from ..observation.pair import Pair

__all__ = ["FlowTopics", "Logs"]

Logs = dict[Partition, Range]

_POLICY = "cleanup.policy"


@dataclass
class FlowTopics:
    """Topics and offset-syncs of the flow ``source`` -> ``target``, each read once."""

    pair: Pair
    source: str
    target: str
    #: Nothing is proven for a topic without a journaled id.
    journal: JournalFacts
    #: By alias and topic.
    _compacted: dict[tuple[str, str], bool] = field(default_factory=dict, init=False)

    def replica(self, key: Partition) -> Partition:
        """Return the replica of a source partition."""
        return self.pair.naming.replica_partition(self.source, key)

    def logs(self, topics: Collection[str]) -> tuple[Logs, Logs]:
        """Return the log ranges of source and replica.

        Reads the replica first, so that it does not show records after the source's range.
        """
        replica = self.pair.ranges(self.target, [self._names(topic)[self.target] for topic in topics])
        return self.pair.ranges(self.source, topics), replica

    def check(self) -> None:
        """Raise if a topic of the flow is no longer the journaled one."""
        for topic in self.pair.topics:
            self.unchanged(topic)

    def unchanged(self, topic: str) -> bool:
        """Are both topics the journaled ones? False if no id is journaled; raises if an id differs."""
        known = True
        for alias, name in self._names(topic).items():
            journaled, state = self.journal.topic_ids.get(alias, {}).get(name), self._states[alias].get(name)
            known = known and journaled is not None
            if journaled is not None and state is not None:
                require_same(name, alias, state.topic_id, journaled)
        return known

    def compacted(self, alias: str, topic: str) -> bool:
        """Is the topic on ``alias`` (the original, or its replica on the target) compacted? True if unknown."""
        self.read_settings([topic])
        return self._compacted[alias, topic]

    def read_settings(self, topics: Iterable[str]) -> None:
        """Read on both clusters which of these topics are compacted, unless it is known."""
        unread = [topic for topic in topics if (self.source, topic) not in self._compacted]
        if unread:
            for compacted in both(
                lambda: self._read_compacted(self.source, unread), lambda: self._read_compacted(self.target, unread)
            ):
                self._compacted.update(compacted)

    def _read_compacted(self, alias: str, topics: Collection[str]) -> dict[tuple[str, str], bool]:
        names = {topic: self._names(topic)[alias] for topic in topics}
        existing = [self._states[alias][name] for name in names.values() if name in self._states[alias]]
        states = with_config(self.pair.kafka[alias], existing, {state.name: (_POLICY,) for state in existing})
        return {(alias, topic): _compacts(states.get(name)) for topic, name in names.items()}

    def _names(self, topic: str) -> dict[str, str]:
        return {self.source: topic, self.target: self.pair.naming.replica(self.source, topic)}

    @cached_property
    def _states(self) -> dict[str, dict[str, TopicState]]:
        """Topics of both clusters, by alias and name."""

        def states(alias: str, topics: Sequence[str]) -> dict[str, TopicState]:
            described = describe(self.pair.kafka[alias], topics)
            return {name: state for name, state in described.items() if state is not None}

        source_states, target_states = both(
            lambda: states(self.source, self.pair.topics),
            lambda: states(self.target, self.pair.replicas(self.source)),
        )
        return {self.source: source_states, self.target: target_states}

    @cached_property
    def syncs(self) -> Syncs:
        """The offset-syncs of the flow."""
        start = self.journal.offset_syncs_start.get(flow_name(self.source, self.target), {})
        return syncs_of(self.pair, self.source, self.target, start)

    @property
    def syncs_read(self) -> int:
        """How many offset-syncs were read so far."""
        return self.syncs.read if "syncs" in self.__dict__ else 0

    @cached_property
    def usable_syncs(self) -> dict[Partition, list[OffsetSync]]:
        """The offset-syncs after the flow's last rewind. Producers are stopped, so they count for all groups."""
        return {key: after_last_rewind(syncs) for key, syncs in self.syncs.of.items()}


def _compacts(state: TopicState | None) -> bool:
    policy = None if state is None else state.config.get(_POLICY)
    return policy is None or policy.value is None or "compact" in policy.value
