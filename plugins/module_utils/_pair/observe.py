# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks at a pair: what each flow has copied, and where each group stands, on both sides.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .._core.errors import DrError
from .._core.formats import decode_heartbeat
from .._core.gates import PartitionFacts
from .._core.names import Naming, flow_name
from .._kafka import groups as kafka_groups
from .._kafka.client import Kafka
from .._kafka.records import Record, data_behind, has_data, last_data_records
from .._kafka.topics import describe, log_ranges
from .clusters import both, connect_pair, on_each, open_engine
from .engine import ConnectorLook

__all__ = ["FlowLook", "GroupLook", "Pair", "heartbeat_age", "same_content"]

ISOLATION = "read_committed"
Partition = tuple[str, int]


@dataclass(frozen=True)
class FlowLook:
    """One look at one flow. ``facts`` by source topic and partition."""

    source: str
    target: str
    connectors: dict[str, ConnectorLook]
    facts: dict[Partition, PartitionFacts]
    heartbeat_age: float | None
    problems: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """As MirrorMaker 2 writes it."""
        return flow_name(self.source, self.target)


@dataclass(frozen=True)
class GroupLook:
    """A group on one side: state, commits, and whether it has read each partition to its end."""

    state: str
    commits: dict[Partition, int]
    read_to_end: dict[Partition, bool | None] = field(default_factory=dict)
    unlisted: tuple[str, ...] = ()


class Pair:
    """Open connections to both clusters and to what runs their flows."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        self.topics = list(params["topics"])
        self.groups = list(params.get("groups") or [])
        self._group_topics: Mapping[str, Any] = params.get("group_topics") or {}
        self.naming = Naming(params["policy"], params["separator"])
        self.accepted: list[str] = list(params.get("accept_foreign") or [])
        self.flows = [(flow["source"], flow["target"]) for flow in params["flows"]]
        clusters = params["clusters"]
        for alias in {alias for flow in self.flows for alias in flow}:
            if alias not in clusters:
                known = ", ".join(sorted(clusters))
                raise DrError("unknown_alias", f'A flow names the alias "{alias}", the clusters are: {known}.')
        self._timeout = float(params["request_timeout"])
        self.kafka: dict[str, Kafka] = connect_pair(clusters, self._timeout)
        self.engine = open_engine(clusters, self.naming, self.kafka, self._timeout)
        self._partitions: dict[str, dict[str, int | None]] = {}

    @property
    def requests(self) -> list[dict[str, Any]]:
        """Every request sent so far, without secrets."""
        calls = [request for kafka in self.kafka.values() for request in kafka.requests]
        return calls + self.engine.requests

    # ---- topics

    def partitions(self, alias: str) -> dict[str, int | None]:
        """Partition count by topic name on ``alias``, originals and replicas; None: the topic does not exist."""
        if alias not in self._partitions:
            others = [name for name in self.kafka if name != alias]
            replicas = [self.naming.replica(other, topic) for other in others for topic in self.topics]
            names = list(dict.fromkeys([*self.topics, *replicas]))
            found = describe(self.kafka[alias], names)
            self._partitions[alias] = {
                name: None if state is None else state.partitions for name, state in found.items()
            }
        return self._partitions[alias]

    def refresh(self) -> None:
        """Forget cached topic layouts: replicas may have appeared."""
        self._partitions.clear()

    def existing(self, alias: str, topics: Iterable[str]) -> set[Partition]:
        """The partitions of those of ``topics`` that exist on ``alias``."""
        counts = self.partitions(alias)
        return {(topic, index) for topic in topics for index in range(counts.get(topic) or 0)}

    def ranges(self, alias: str, topics: Iterable[str], isolation: str = ISOLATION) -> dict[Partition, tuple[int, int]]:
        """Log start and end (last stable offset) of every partition of ``topics`` that exists on ``alias``."""
        return log_ranges(self.kafka[alias], self.existing(alias, topics), isolation)

    # ---- flows

    def look_at_flows(self) -> list[FlowLook]:
        """Every flow at the same time, with the last data records of both sides compared."""
        on_each(self.kafka, self.partitions)
        looks = on_each(dict.fromkeys(self.flows), lambda flow: self.look(*flow, tails=True))
        return list(looks.values())

    def look(self, source: str, target: str, tails: bool = False) -> FlowLook:
        """Look at one flow. ``tails``: also compare the last data record of both sides (a hint, never a proof)."""
        replicas = {topic: self.naming.replica(source, topic) for topic in self.topics}
        seen, beat = both(
            lambda: self.engine.look(source, target),
            lambda: heartbeat_age(self.kafka[target], self.naming.heartbeats(source)),
        )
        copied = seen.copied
        source_log, replica_log = both(
            lambda: self.ranges(source, self.topics), lambda: self.ranges(target, replicas.values())
        )
        high = self.ranges(source, self.topics, "read_uncommitted") if tails else {}
        facts, waiting = {}, {}
        tail_copied: dict[Partition, bool | None] = {}
        for key, (start, end) in source_log.items():
            known = copied.get(key)
            floor = start if known is None else max(start, known + 1)
            if floor < end:
                waiting[key] = (floor, end)
        if tails and waiting:
            last, tail_copied = self._compare_tails(source, target, waiting, source_log, replica_log)
            data = {key: _waits(last[key], span[0], tail_copied[key]) for key, span in waiting.items()}
        else:
            data = self._any_data(source, waiting)
        for key, (start, end) in source_log.items():
            replica = replica_log.get((replicas[key[0]], key[1]))
            facts[key] = PartitionFacts(
                start=start,
                end=end,
                copied=copied.get(key),
                data_after=False if key not in waiting else data.get(key),
                replica_end=None if replica is None else replica[1],
                tail_copied=tail_copied.get(key),
                high=high[key][1] if key in high else None,
            )
        problems = tuple(f'The topic "{topic}" does not exist on {source}.' for topic in self._missing(source))
        return FlowLook(source, target, seen.connectors, facts, beat, problems)

    def _missing(self, alias: str) -> list[str]:
        counts = self.partitions(alias)
        return [topic for topic in self.topics if counts.get(topic) is None]

    def against(self, source: str, target: str) -> list[str]:
        """What copies ``target`` -> ``source`` and runs, whatever it is called."""
        return self.engine.against(source, target)

    def _any_data(self, alias: str, spans: Mapping[Partition, tuple[int, int]]) -> dict[Partition, bool | None]:
        return has_data(self.kafka[alias], spans, ISOLATION) if spans else {}

    def _compare_tails(
        self,
        source: str,
        target: str,
        waiting: Mapping[Partition, tuple[int, int]],
        source_log: Mapping[Partition, tuple[int, int]],
        replica_log: Mapping[Partition, tuple[int, int]],
    ) -> tuple[dict[Partition, Record | None], dict[Partition, bool | None]]:
        """The last data record of each source partition, and whether it is the last one of the replica too."""
        renamed = {key: (self.naming.replica(source, key[0]), key[1]) for key in waiting}
        left, right = both(
            lambda: last_data_records(self.kafka[source], {key: source_log[key] for key in waiting}, ISOLATION),
            lambda: last_data_records(
                self.kafka[target], {new: replica_log[new] for new in renamed.values() if new in replica_log}, ISOLATION
            ),
        )
        return left, {key: same_content(left.get(key), right.get(new)) for key, new in renamed.items()}

    # ---- groups

    def topics_of(self, group: str, alias: str, commits: Iterable[Partition]) -> list[str]:
        """The originals that ``group`` reads: as declared, else those on which (or on whose replica) it has commits."""
        if self._group_topics.get(group):
            return list(self._group_topics[group])
        touched = {topic for topic, _partition in commits}
        return [topic for topic in self.topics if touched & set(self.both_names(alias, topic))]

    def both_names(self, alias: str, topic: str) -> list[str]:
        """An original and, on ``alias``, the replica of its twin."""
        replicas = [self.naming.replica(other, topic) for other in self.kafka if other != alias]
        return list(dict.fromkeys([topic, *replicas]))

    def look_groups(self, alias: str, topics: Iterable[str]) -> dict[str, GroupLook]:
        """Every group on ``alias``: state, commits on ``topics``, and whether a record lies behind each."""
        kafka, names = self.kafka[alias], list(topics)
        states, commits = both(
            lambda: kafka_groups.describe(kafka, self.groups), lambda: kafka_groups.positions(kafka, self.groups)
        )
        ranges = self.ranges(alias, names)
        scopes = {group: self._scope(group, alias, commits[group], ranges) for group in self.groups}
        behind = {
            (key, max(commits[group][key], ranges[key][0]))
            for group, scope in scopes.items()
            for key in scope
            if commits[group].get(key, ranges[key][1]) < ranges[key][1]
        }
        data = data_behind(kafka, behind, ranges, ISOLATION)
        looks = {}
        for group, scope in scopes.items():
            read = {key: self._read_to_end(commits[group].get(key), key, ranges, data) for key in scope}
            listed = {key: at for key, at in commits[group].items() if key[0] in names}
            outside = sorted({key[0] for key in commits[group]} - set(self.partitions(alias)))
            looks[group] = GroupLook(states[group].state, listed, read, tuple(outside))
        return looks

    def _scope(
        self, group: str, alias: str, commits: Iterable[Partition], ranges: Iterable[Partition]
    ) -> list[Partition]:
        topics = self.topics_of(group, alias, commits)
        names = {name for topic in topics for name in self.both_names(alias, topic)}
        return sorted(key for key in ranges if key[0] in names)

    @staticmethod
    def _read_to_end(
        commit: int | None,
        key: Partition,
        ranges: Mapping[Partition, tuple[int, int]],
        behind: Mapping[tuple[Partition, int], bool | None],
    ) -> bool | None:
        start, end = ranges[key]
        if end == 0:
            return True
        if commit is None:
            return None
        if commit < start:
            return False  # what it had not read has expired here; on the other side it may still be there
        if commit >= end:
            return True
        data = behind.get((key, max(commit, start)))
        return None if data is None else not data


def _waits(last: Record | None, floor: int, tail_copied: bool | None) -> bool | None:
    """Is a data record at or behind ``floor``, judged by the last one? Markers behind it are no lag (SOUNDNESS 19).

    Unknown where that record seems copied: N may only not have been written down yet.
    """
    if last is None or last.offset < floor:
        return False
    return None if tail_copied else True


def same_content(left: Record | None, right: Record | None) -> bool | None:
    """Equal key, value, headers and, unless a broker has set it, timestamp; None: one is not known."""
    if left is None or right is None:
        return None
    kept = "LogAppendTime" not in (left.timestamp_type, right.timestamp_type)
    parts = ("key", "value", "headers", *(("timestamp",) if kept else ()))
    return all(getattr(left, part) == getattr(right, part) for part in parts)


def heartbeat_age(kafka: Kafka, topic: str) -> float | None:
    """Seconds since the newest heartbeat that a flow has brought into ``topic``; None: there is none."""
    if describe(kafka, [topic])[topic] is None:
        return None
    record = last_data_records(kafka, log_ranges(kafka, {(topic, 0)}, ISOLATION), ISOLATION).get((topic, 0))
    if record is None or record.key is None or record.value is None:
        return None
    return max(0.0, time.time() - decode_heartbeat(record.key, record.value).timestamp / 1000.0)
