# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Observe a pair: what each flow has replicated, and the committed offsets of each group on both clusters.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial as call
from typing import Any, TypeVar

from ..._core.errors import DrError
from ..._core.flows.pair_spec import PairSpec
from ..._core.names import CONNECTORS, connector_name, flow_name
from ..._core.offsets.fingerprints import may_be_copy
from ..._core.offsets.internal_records import decode_heartbeat
from ..._core.offsets.replication_gates import PartitionFacts
from ..._core.resources.groups import GroupState, members_named
from ..._core.resources.scopes import out_of_scope
from ..._core.verdict import UNKNOWN
from ..._engines.base import FlowState, PartState
from ..._kafka import groups as kafka_groups
from ..._kafka.client import Kafka
from ..._kafka.records import Record, data_after, has_data, last_data_records
from ..._kafka.topics import describe, log_ranges, require_ranges, try_log_ranges
from ..connections.clusters import both, on_each
from ..connections.engines import Opened, open_pair

__all__ = [
    "FlowObservation",
    "GroupStatus",
    "LastRecords",
    "Pair",
    "PairSnapshot",
    "by_topic",
    "capture",
    "heartbeat_age",
    "same_content",
    "unwrap",
]

ISOLATION = "read_committed"
_HEARTBEATS = ("heartbeats", 0)
Partition = tuple[str, int]
Range = tuple[int, int]
Ranges = Mapping[Partition, Range]
Groups = tuple[dict[str, GroupState], dict[str, dict[Partition, int]]]
T = TypeVar("T")


@dataclass(frozen=True)
class FlowObservation:
    """One observation of one flow."""

    source: str
    target: str
    #: By part: "source", "checkpoint", "heartbeat".
    connectors: dict[str, PartState]
    #: By source partition.
    facts: dict[Partition, PartitionFacts]
    #: Seconds since the newest heartbeat on the target; None: there is none, or it is unknown.
    heartbeat_age: float | None
    problems: tuple[str, ...] = ()
    #: Log start and log end by source partition.
    source_log: Ranges = field(default_factory=dict)
    #: Log start and log end by replica partition.
    replica_log: Ranges = field(default_factory=dict)
    #: Why the engine does not respond; "": it does. Otherwise connectors and replicated offsets are unknown.
    away: str = ""
    #: Highest ``heartbeat_age`` of a live flow, in seconds. The flow of an application has a higher one: its heartbeat
    #: is as old as its stored offset, which Kafka Connect writes once a minute by default.
    heartbeat_limit: float = 10.0

    @property
    def name(self) -> str:
        """Return the flow's name as MirrorMaker 2 writes it."""
        return flow_name(self.source, self.target)


@dataclass(frozen=True)
class GroupStatus:
    """A group on one cluster."""

    state: str
    #: Committed offsets.
    commits: dict[Partition, int]
    #: Whether no data record is left at or after the committed offset; None: unknown.
    read_to_end: dict[Partition, bool | None] = field(default_factory=dict)
    #: Topics outside the pair that the group uses.
    undeclared_topics: tuple[str, ...] = ()
    #: Topics of the pair that the group uses outside its declaration, as ``out_of_scope`` returns them.
    out_of_scope: tuple[Mapping[str, Any], ...] = ()
    #: Offsets between the committed offset and the log end; a partition without a committed offset is absent.
    left: dict[Partition, int] = field(default_factory=dict)
    #: Client id and host of the first members, in words; "" without members.
    members: str = ""


class LastRecords:
    """Reads the last data record of ranges, each range once."""

    def __init__(self, kafka: Mapping[str, Kafka]) -> None:
        self._kafka = kafka
        self._found: dict[tuple[str, Partition, Range], Record | None] = {}

    def of(self, alias: str, spans: Ranges) -> dict[Partition, Record | None]:
        """Return the record by partition; None: the range has no data record. Raises if a range cannot be read."""
        unread = {key: span for key, span in spans.items() if (alias, key, span) not in self._found}
        records = last_data_records(self._kafka[alias], unread, ISOLATION) if unread else {}
        self._found.update({(alias, key, unread[key]): record for key, record in records.items()})
        return {key: self._found[alias, key, span] for key, span in spans.items()}


@dataclass(frozen=True)
class PairSnapshot:
    """Both clusters at one time: N and committed offsets were read first, log ends afterwards (``Pair.snapshot``).

    A failed read is stored as its error, which is raised when the value is used.
    """

    #: By flow (source, target).
    engines: Mapping[tuple[str, str], FlowState | DrError]
    #: State and committed offsets of every group, by alias.
    groups: Mapping[str, Groups | DrError]
    #: Log start and last stable offset by alias and partition, or the broker's error.
    logs: Mapping[str, Mapping[Partition, Range | str] | DrError]
    #: Log start and high watermark of originals, by alias and partition, or the broker's error.
    high: Mapping[str, Mapping[Partition, Range | str] | DrError]
    kafka: Mapping[str, Kafka]
    last: LastRecords

    def ranges(self, alias: str, keys: Iterable[Partition], high: bool = False) -> dict[Partition, Range]:
        """Return log start and end of those of ``keys`` that exist; the end is the high watermark if ``high``."""
        reported = unwrap((self.high if high else self.logs)[alias])
        return require_ranges(self.kafka[alias], {key: reported[key] for key in keys if key in reported})

    def heartbeat_age(self, alias: str, topic: str) -> float | None:
        """Return the seconds since the newest heartbeat that a flow replicated into ``topic``; None: there is none."""
        place = (topic, 0)
        return _age(self.last.of(alias, self.ranges(alias, [place])).get(place))


def capture(work: Callable[[], T]) -> T | DrError:
    """Return the result of ``work``, or its error for ``unwrap`` to raise later."""
    try:
        return work()
    except DrError as error:
        return error


def unwrap(captured: T | DrError) -> T:
    """Return a captured result, or raise the captured error."""
    if isinstance(captured, DrError):
        raise captured
    return captured


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
        self._partial = partial
        for alias in {alias for flow in self.flows for alias in flow}:
            spec.require_alias(alias)
        self._opened = opened or open_pair(spec.connections, self.naming, timeout)
        self.kafka, self.engine = self._opened.kafka, self._opened.engine
        self._partitions: dict[str, dict[str, int | None]] = {}

    @property
    def requests(self) -> list[dict[str, Any]]:
        """Return every request sent so far, without secrets."""
        return self._opened.requests

    # ---- topics

    def partitions(self, alias: str) -> dict[str, int | None]:
        """Return partition counts on ``alias`` by name, originals and replicas; None: the topic does not exist."""
        if alias not in self._partitions:
            others = [name for name in self.kafka if name != alias]
            replicas = [self.naming.replica(other, topic) for other in others for topic in self.topics]
            names = list(dict.fromkeys([*self.topics, *replicas]))
            states = describe(self.kafka[alias], names)
            self._partitions[alias] = {
                name: None if state is None else state.partitions for name, state in states.items()
            }
        return self._partitions[alias]

    def refresh(self) -> None:
        """Forget cached partition counts: replicas may have been created since."""
        self._partitions.clear()

    def existing(self, alias: str, topics: Iterable[str]) -> set[Partition]:
        """Return the partitions of those of ``topics`` that exist on ``alias``."""
        counts = self.partitions(alias)
        return {(topic, index) for topic in topics for index in range(counts.get(topic) or 0)}

    def ranges(self, alias: str, topics: Iterable[str], isolation: str = ISOLATION) -> dict[Partition, tuple[int, int]]:
        """Return log start and end (last stable offset) of every partition of ``topics`` that exists on ``alias``."""
        return log_ranges(self.kafka[alias], self.existing(alias, topics), isolation)

    # ---- both clusters at one time

    def snapshot(self, away: Mapping[str, str | None], transactions: Collection[str]) -> PairSnapshot:
        """Observe flows and groups on both clusters, then their logs.

        ``away`` says by target why a flow's workers must not be contacted. ``transactions`` are the aliases on which to
        look for open transactions.
        """
        on_each(self.kafka, self.partitions)
        with ThreadPoolExecutor() as pool:
            engines = {flow: pool.submit(capture, call(self._observe_engine, *flow, away)) for flow in self.flows}
            groups = {alias: pool.submit(capture, call(self._groups, alias)) for alias in self.kafka}
            engine_states = {flow: future.result() for flow, future in engines.items()}
            group_states = {alias: future.result() for alias, future in groups.items()}
        logs = on_each(self.kafka, lambda alias: capture(lambda: self._reported(alias)))
        high = on_each(dict.fromkeys(transactions), lambda alias: capture(lambda: self._try_high_watermarks(alias)))
        snapshot = PairSnapshot(engine_states, group_states, logs, high, self.kafka, LastRecords(self.kafka))
        # Read the last records of both clusters now. An error is raised again when a caller needs the record.
        on_each(self.kafka, lambda alias: capture(lambda: self._read_last(snapshot, alias)))
        return snapshot

    def _read_last(self, snapshot: PairSnapshot, alias: str) -> None:
        keys = self.existing(alias, self.partitions(alias)) | self._heartbeats(alias)
        snapshot.last.of(alias, snapshot.ranges(alias, keys))

    def _heartbeats(self, alias: str) -> set[Partition]:
        heartbeats = [self.naming.heartbeats(other) for other in self.kafka if other != alias]
        return {(name, 0) for name, state in describe(self.kafka[alias], heartbeats).items() if state is not None}

    def _observe_engine(self, source: str, target: str, away: Mapping[str, str | None]) -> FlowState:
        reason = away.get(target)
        if reason:
            raise DrError("workers_away", reason)
        return self.engine.observe(source, target)

    def _groups(self, alias: str) -> Groups:
        kafka = self.kafka[alias]
        return both(
            lambda: kafka_groups.describe(kafka, self.groups),
            lambda: kafka_groups.committed_offsets(kafka, self.groups),
        )

    def _reported(self, alias: str) -> dict[Partition, Range | str]:
        """Read the log ranges of the pair's topics and of every topic seen so far, in one request.

        The ends of other topics are remembered: a later end would only make a finding more exact. The exception is
        heartbeats, because they show whether a flow makes progress.
        """
        kafka, keys = self.kafka[alias], self.existing(alias, self.partitions(alias)) | self._heartbeats(alias)
        remembered = [state for state in (kafka.seen_topics or {}).values() if state is not None]
        others = {(state.name, index) for state in remembered for index in range(state.partitions)} - keys
        reported = try_log_ranges(kafka, keys | others, ISOLATION)
        kafka.seen_ends = {key: span[1] for key in others if not isinstance(span := reported[key], str)}
        return reported

    def _try_high_watermarks(self, alias: str) -> dict[Partition, Range | str]:
        return try_log_ranges(self.kafka[alias], self.existing(alias, self.topics), "read_uncommitted")

    def flow_observation(self, snapshot: PairSnapshot, source: str, target: str) -> FlowObservation:
        """Return one flow like ``observe`` with tails, from the snapshot."""
        engine_state = unwrap(snapshot.engines[source, target])
        source_log = snapshot.ranges(source, self.existing(source, self.topics))
        replica_log = snapshot.ranges(target, self.existing(target, self._replicas(source)))
        high = snapshot.ranges(source, source_log, high=True) if source in snapshot.high else {}
        has_application, topic = self.engine.application is not None, self.naming.heartbeats(source)
        heartbeat = (
            self._own_heartbeat(source, engine_state, snapshot.last)
            if has_application
            else snapshot.heartbeat_age(target, topic)
        )
        return self._flow_observation(
            (source, target), engine_state, heartbeat, source_log, replica_log, high, snapshot.last
        )

    def groups_of(self, snapshot: PairSnapshot, alias: str) -> dict[str, GroupStatus]:
        """Return every group like ``observe_groups`` on all topics, from the snapshot."""
        names = [name for name, count in self.partitions(alias).items() if count is not None]
        ranges = snapshot.ranges(alias, self.existing(alias, names))
        last = snapshot.last.of(alias, ranges)

        def has_data_after(places: Iterable[tuple[Partition, int]]) -> dict[tuple[Partition, int], bool | None]:
            newest = {key: -1 if record is None else record.offset for key, record in last.items()}
            return {(key, place): newest[key] >= place for key, place in places}

        return self._group_statuses(alias, names, unwrap(snapshot.groups[alias]), ranges, has_data_after)

    # ---- flows

    def observe_flows(self) -> list[FlowObservation]:
        """Observe every flow at the same time, and compare the last data records of source and target."""
        on_each(self.kafka, self.partitions)
        observations = on_each(dict.fromkeys(self.flows), lambda flow: self.observe(*flow, tails=True))
        return list(observations.values())

    def observe_again(self, observation: FlowObservation, keys: Collection[Partition]) -> FlowObservation:
        """Return the observation, with tails, updated for these partitions."""
        fresh = self.observe(observation.source, observation.target, True, keys)
        return replace(
            fresh,
            facts={**observation.facts, **fresh.facts},
            source_log={**observation.source_log, **fresh.source_log},
            replica_log={**observation.replica_log, **fresh.replica_log},
        )

    def observe(
        self,
        source: str,
        target: str,
        tails: bool = False,
        only: Collection[Partition] | None = None,
        engine_state: FlowState | None = None,
    ) -> FlowObservation:
        """Observe one flow.

        ``tails``: also compare the last data records of source and target (a hint, never a proof). ``only``: observe
        only these source partitions. ``engine_state``: use this state instead of a new one from the engine.
        """
        has_application, topic = self.engine.application is not None, self.naming.heartbeats(source)
        observed, heartbeat = both(
            lambda: self._seen(source, target) if engine_state is None else engine_state,
            lambda: None if has_application else heartbeat_age(self.kafka[target], topic),
        )
        heartbeat = self._own_heartbeat(source, observed, LastRecords(self.kafka)) if has_application else heartbeat
        keys, replicas = self.existing(source, self.topics), self.existing(target, self._replicas(source))
        if only is not None:
            keys &= set(only)
            replicas &= {(self.naming.replica(source, topic), index) for topic, index in keys}
        source_log, replica_log = both(
            lambda: log_ranges(self.kafka[source], keys), lambda: log_ranges(self.kafka[target], replicas)
        )
        high = log_ranges(self.kafka[source], keys, "read_uncommitted") if tails else {}
        last = LastRecords(self.kafka) if tails else None
        return self._flow_observation((source, target), observed, heartbeat, source_log, replica_log, high, last)

    def _seen(self, source: str, target: str) -> FlowState:
        """Return the flow's state from its engine. With ``partial``, an engine that does not respond is no error."""
        try:
            return self.engine.observe(source, target)
        except DrError as error:
            if not self._partial:
                raise
            names = {part: connector_name(source, target, part, self.engine.application) for part in CONNECTORS}
            return FlowState(
                {part: PartState(part, name, UNKNOWN, ()) for part, name in names.items()}, {}, error.message
            )

    def _replicas(self, source: str) -> list[str]:
        return [self.naming.replica(source, topic) for topic in self.topics]

    def _flow_observation(
        self,
        flow: tuple[str, str],
        engine_state: FlowState,
        heartbeat: float | None,
        source_log: Ranges,
        replica_log: Ranges,
        high: Ranges,
        last: LastRecords | None,
    ) -> FlowObservation:
        """Combine the parts of an observation. ``last``: compare the tails with these records; None: do not compare."""
        source, target = flow
        replicas = {topic: self.naming.replica(source, topic) for topic in self.topics}
        last_replicated_offset = engine_state.last_replicated_offset
        facts, waiting = {}, {}
        tail_replicated: dict[Partition, bool | None] = {}
        for key, (start, end) in source_log.items():
            known = last_replicated_offset.get(key)
            floor = start if known is None else max(start, known + 1)
            if floor < end:
                waiting[key] = (floor, end)
        if last is not None and waiting:
            replica_keys = {key: (replicas[key[0]], key[1]) for key in waiting}
            source_records, replica_records = both(
                lambda: last.of(source, {key: source_log[key] for key in waiting}),
                lambda: last.of(target, {new: replica_log[new] for new in replica_keys.values() if new in replica_log}),
            )
            tail_replicated = {
                key: same_content(source_records[key], replica_records.get(new)) for key, new in replica_keys.items()
            }
            data = {key: _waits(source_records[key], span[0], tail_replicated[key]) for key, span in waiting.items()}
        else:
            data = self._any_data(source, waiting)
        for key, (start, end) in source_log.items():
            replica = replica_log.get((replicas[key[0]], key[1]))
            facts[key] = PartitionFacts(
                start=start,
                end=end,
                last_replicated_offset=last_replicated_offset.get(key),
                data_after=False if key not in waiting else data.get(key),
                replica_end=None if replica is None else replica[1],
                tail_replicated=tail_replicated.get(key),
                high=high[key][1] if key in high else None,
            )
        problems = tuple(f'the topic "{topic}" does not exist on {source}' for topic in self._missing(source))
        limit = {"heartbeat_limit": 75.0} if self.engine.application else {}
        return FlowObservation(
            source,
            target,
            engine_state.connectors,
            facts,
            heartbeat,
            problems,
            source_log,
            replica_log,
            engine_state.away,
            **limit,
        )

    def _own_heartbeat(self, source: str, engine_state: FlowState, last: LastRecords) -> float | None:
        """Return the seconds since the newest heartbeat that this flow replicated, by its stored offset; None: unknown.

        The flows of all applications replicate heartbeats into the same topic, so its records prove nothing about one
        flow.
        """
        if _HEARTBEATS not in engine_state.last_replicated_offset:
            return None
        offset = engine_state.last_replicated_offset[_HEARTBEATS]
        return _age(last.of(source, {_HEARTBEATS: (offset, offset + 1)})[_HEARTBEATS])

    def _missing(self, alias: str) -> list[str]:
        counts = self.partitions(alias)
        return [topic for topic in self.topics if counts.get(topic) is None]

    def against(self, source: str, target: str) -> list[str]:
        """Name the connectors that are running and replicate ``target`` -> ``source``, with any connector name."""
        return self.engine.reverse_flows(source, target, self.topics)

    def unless_away(self, work: Callable[[], list[str]], doubt: str) -> list[str]:
        """Return the texts from ``work``. If it raises and ``partial`` was set, return "<doubt> is unknown: ..."."""
        try:
            return work()
        except DrError as error:
            if not self._partial:
                raise
            return [f"{doubt} is unknown: {error.message}"]

    def _any_data(self, alias: str, spans: Mapping[Partition, tuple[int, int]]) -> dict[Partition, bool | None]:
        return has_data(self.kafka[alias], spans, ISOLATION) if spans else {}

    # ---- groups

    def topics_of(self, group: str, alias: str, used: Iterable[Partition]) -> list[str]:
        """Return the originals that ``group`` reads: the declared ones, else those it uses directly or as a replica.

        ``used``: partitions with a committed offset, or assigned to a member.
        """
        if self.spec.group_topics.get(group):
            return list(self.spec.group_topics[group])
        touched = {topic for topic, _partition in used}
        return [topic for topic in self.topics if touched & set(self.both_names(alias, topic))]

    def both_names(self, alias: str, topic: str) -> list[str]:
        """Return the names of a topic on ``alias``: the original, and the replica of the other cluster's original."""
        replicas = [self.naming.replica(other, topic) for other in self.kafka if other != alias]
        return list(dict.fromkeys([topic, *replicas]))

    def observe_groups(self, alias: str, topics: Iterable[str]) -> dict[str, GroupStatus]:
        """Observe every group on ``alias``: state, committed offsets on ``topics``, and whether records are left."""
        names = list(topics)
        groups = self._groups(alias)
        ranges = self.ranges(alias, names)
        kafka = self.kafka[alias]
        return self._group_statuses(
            alias, names, groups, ranges, lambda places: data_after(kafka, places, ranges, ISOLATION)
        )

    def _group_statuses(
        self,
        alias: str,
        names: Collection[str],
        groups: Groups,
        ranges: Ranges,
        has_data_after: Callable[[Iterable[tuple[Partition, int]]], dict[tuple[Partition, int], bool | None]],
    ) -> dict[str, GroupStatus]:
        """Combine states and committed offsets (``found``) with ``ranges``, which were read afterwards.

        ``has_data_after`` returns for each (partition, offset) whether a data record is at or after the offset.
        """
        states, commits = groups
        index = by_topic(ranges)
        used = {group: {*commits[group], *states[group].assigned} for group in self.groups}
        scopes = {group: self._scope(group, alias, used[group], index) for group in self.groups}
        places = {
            (key, max(commits[group][key], ranges[key][0]))
            for group, scope in scopes.items()
            for key in scope
            if commits[group].get(key, ranges[key][1]) < ranges[key][1]
        }
        data = has_data_after(places)
        observations, wanted, known = {}, set(names), set(self.partitions(alias))
        for group, scope in scopes.items():
            read = {key: self._read_to_end(commits[group].get(key), key, ranges, data) for key in scope}
            listed = {key: offset for key, offset in commits[group].items() if key[0] in wanted}
            outside = sorted({topic for topic, _partition in used[group]} - known)
            hidden = self._out_of_scope(group, alias, states[group], commits[group])
            offsets_left = {key: max(0, ranges[key][1] - commits[group][key]) for key in scope if key in commits[group]}
            members = members_named(states[group])
            observations[group] = GroupStatus(
                states[group].state, listed, read, tuple(outside), hidden, offsets_left, members
            )
        return observations

    def _scope(
        self, group: str, alias: str, used: Iterable[Partition], index: Mapping[str, list[Partition]]
    ) -> list[Partition]:
        names = self.names_of(group, alias, used)
        return [key for name in sorted(names) for key in index.get(name, ())]

    def names_of(self, group: str, alias: str, used: Iterable[Partition]) -> set[str]:
        """Return the topics in the group's scope on ``alias``, replicas included; ``used`` as in ``topics_of``."""
        topics = self.topics_of(group, alias, used)
        return {name for topic in topics for name in self.both_names(alias, topic)}

    def _out_of_scope(
        self, group: str, alias: str, state: GroupState, commits: Mapping[Partition, int]
    ) -> tuple[Mapping[str, Any], ...]:
        scope = self.names_of(group, alias, {*commits, *state.assigned})
        return tuple(out_of_scope((group, alias), scope, self.partitions(alias), commits, state.members))

    @staticmethod
    def _read_to_end(
        commit: int | None,
        key: Partition,
        ranges: Mapping[Partition, tuple[int, int]],
        data_after_places: Mapping[tuple[Partition, int], bool | None],
    ) -> bool | None:
        start, end = ranges[key]
        if end == 0:
            return True
        if commit is None:
            return None
        if commit < start:
            return False  # its unread records have expired here, but may still exist on the other cluster
        if commit >= end:
            return True
        data = data_after_places.get((key, max(commit, start)))
        return None if data is None else not data


def by_topic(keys: Iterable[Partition]) -> dict[str, list[Partition]]:
    """Return the sorted partitions of each topic, so that callers need not search all partitions."""
    partitions: dict[str, list[Partition]] = defaultdict(list)
    for key in sorted(keys):
        partitions[key[0]].append(key)
    return dict(partitions)


def _waits(last: Record | None, floor: int, tail_replicated: bool | None) -> bool | None:
    """Is the last data record at or after ``floor``? Transaction markers after it are not lag (R19).

    None (unknown) if that record seems to be replicated: then N may only not be stored yet.
    """
    if last is None or last.offset < floor:
        return False
    return None if tail_replicated else True


def same_content(source: Record | None, replica: Record | None) -> bool | None:
    """Are the fields that a flow carries equal, so that one may be the copy of the other? None: a record is unknown."""
    if source is None or replica is None:
        return None
    return may_be_copy(source, replica)


def heartbeat_age(kafka: Kafka, topic: str) -> float | None:
    """Return the seconds since the newest heartbeat that a flow replicated into ``topic``; None: there is none."""
    if describe(kafka, [topic])[topic] is None:
        return None
    place = (topic, 0)
    return _age(last_data_records(kafka, log_ranges(kafka, {place}, ISOLATION), ISOLATION).get(place))


def _age(record: Record | None) -> float | None:
    if record is None or record.key is None or record.value is None:
        return None
    return max(0.0, time.time() - decode_heartbeat(record.key, record.value).timestamp / 1000.0)
