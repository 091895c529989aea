# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pair: connections to both clusters and to the engine, and the topics that exist.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..._core.flows.pair_spec import PairSpec
from ..._core.partition import Partition, Range
from ..._core.resources.topics import TopicState
from ..._kafka.topics import describe, log_ranges, refusing_writes
from ..connections.engines import Opened, open_pair

__all__ = ["ISOLATION", "Pair"]

ISOLATION = "read_committed"


class Pair:
    """Open connections to both clusters and to the engine of their flows.

    ``opened``: use these connections instead of new ones. ``partial``: if an engine does not respond, report its flow
    as unknown instead of raising.
    """

    def __init__(
        self,
        spec: PairSpec,
        flows: Iterable[tuple[str, str]],
        timeout: float = 15.0,
        partial: bool = False,
        opened: Opened | None = None,
    ) -> None:
        self.spec, self.flows = spec, list(flows)
        self.topics, self.groups, self.naming = list(spec.topics), list(spec.groups), spec.naming
        self.partial = partial
        for alias in {alias for flow in self.flows for alias in flow}:
            spec.require_alias(alias)
        self._opened = opened or open_pair(spec.connections, self.naming, timeout)
        self.kafka, self.engine = self._opened.kafka, self._opened.engine
        self._states: dict[str, list[TopicState]] = {}
        self._counts: dict[str, dict[str, int | None]] = {}

    @property
    def requests(self) -> list[dict[str, Any]]:
        """Return every request sent so far, without secrets."""
        return self._opened.requests

    def partitions(self, alias: str) -> dict[str, int | None]:
        """Return partition counts on ``alias`` by name, originals and replicas; None: the topic does not exist."""
        if alias not in self._counts:
            replicas = [name for other in self.kafka if other != alias for name in self.replicas(other)]
            states = describe(self.kafka[alias], list(dict.fromkeys([*self.topics, *replicas])))
            self._states[alias] = [state for state in states.values() if state is not None]
            self._counts[alias] = {name: None if state is None else state.partitions for name, state in states.items()}
        return self._counts[alias]

    def topic_ids(self, alias: str) -> dict[str, str]:
        """Return the ids of those topics, originals and replicas, that have one on ``alias``."""
        self.partitions(alias)
        return {state.name: state.topic_id for state in self._states[alias] if state.topic_id}

    def present(self, alias: str) -> list[str]:
        """Return the names of those topics, originals and replicas, that exist on ``alias``."""
        return [name for name, count in self.partitions(alias).items() if count is not None]

    def replicas(self, source: str) -> list[str]:
        """Return the names of the replicas of the topics of ``source``."""
        return [self.naming.replica(source, topic) for topic in self.topics]

    def both_names(self, alias: str, topic: str) -> list[str]:
        """Return the names of a topic on ``alias``: the original, and the replica of the other cluster's original."""
        replicas = [self.naming.replica(other, topic) for other in self.kafka if other != alias]
        return list(dict.fromkeys([topic, *replicas]))

    def refusing_writes(self, alias: str) -> list[str]:
        """Return the topics on ``alias`` that refuse writes because too few replicas are in sync."""
        self.partitions(alias)
        return refusing_writes(self.kafka[alias], self._states[alias])

    def refresh(self) -> None:
        """Forget the cached states of topics: replicas may have been created since."""
        self._counts.clear()

    def existing(self, alias: str, topics: Iterable[str]) -> set[Partition]:
        """Return the partitions of those of ``topics`` that exist on ``alias``."""
        counts = self.partitions(alias)
        return {Partition(topic, index) for topic in topics for index in range(counts.get(topic) or 0)}

    def ranges(self, alias: str, topics: Iterable[str], isolation: str = ISOLATION) -> dict[Partition, Range]:
        """Return log start and end (last stable offset) of every partition of ``topics`` that exists on ``alias``."""
        return log_ranges(self.kafka[alias], self.existing(alias, topics), isolation)
