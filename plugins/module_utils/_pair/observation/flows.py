# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Observe the flows of a pair: what each one has replicated, and whether it is making progress.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from ..._core.errors import DrError
from ..._core.names import CONNECTORS, connector_name, flow_name
from ..._core.offsets.replication_gates import PartitionFacts
from ..._core.partition import Partition, Range, Ranges
from ..._core.verdict import UNKNOWN
from ..._engines.base import FlowState, PartState, unsafe_settings
from ..._kafka.records import Record, has_data
from ..._kafka.topics import log_ends, log_ranges
from ..connections.clusters import both, on_each
from .last_records import LastRecords, heartbeat_age, newest_heartbeat, same_content
from .pair import ISOLATION, Pair

__all__ = ["FlowObservation", "combine", "observe_again", "observe_flow", "observe_flows", "own_heartbeat"]

_HEARTBEATS = Partition("heartbeats", 0)


@dataclass(frozen=True)
class FlowObservation:
    """One observation of one flow."""

    source: str
    target: str
    #: By part: "source", "checkpoint", "heartbeat".
    connectors: dict[str, PartState]
    #: By source partition.
    facts: dict[Partition, PartitionFacts]
    #: Seconds since the newest heartbeat on the target, by the clock of the worker that wrote it, so it proves nothing
    #: (R43); None: there is none, or it is unknown.
    heartbeat_age: float | None
    problems: tuple[str, ...] = ()
    #: Log start and log end by source partition.
    source_log: Ranges = field(default_factory=dict)
    #: Log start and log end by replica partition.
    replica_log: Ranges = field(default_factory=dict)
    #: Why the engine does not respond; "": it does. Otherwise connectors and replicated offsets are unknown.
    away: str = ""
    #: Seconds within which a live flow replicates a heartbeat. The flow of an application needs more: it shows a
    #: heartbeat with its stored offset, which Kafka Connect writes once a minute by default.
    heartbeat_limit: float = 10.0
    #: Offset of the newest heartbeat that the flow replicated; None: there is none, or it is unknown.
    heartbeat_offset: int | None = None
    #: Seconds of this machine's monotonic clock, right before ``source_log`` was read; None: unknown.
    observed_at: float | None = None
    #: Why its newest heartbeat cannot be read, which is one of ``problems``: its offset-syncs may be unreadable too.
    unreadable: DrError | None = None

    @property
    def name(self) -> str:
        """Return the flow's name as MirrorMaker 2 writes it."""
        return flow_name(self.source, self.target)

    @property
    def unsafe_settings(self) -> list[str]:
        """Settings of all parts that invalidate the proofs of a cutover, each named once (R38)."""
        return unsafe_settings(self.connectors)


def observe_flows(pair: Pair) -> list[FlowObservation]:
    """Observe every flow at the same time, and compare the last data records of source and target."""
    on_each(pair.kafka, pair.partitions)
    observations = on_each(dict.fromkeys(pair.flows), lambda flow: observe_flow(pair, *flow, tails=True))
    return list(observations.values())


def observe_again(pair: Pair, observation: FlowObservation, keys: Collection[Partition]) -> FlowObservation:
    """Return the observation, with tails, updated for these partitions."""
    fresh = observe_flow(pair, observation.source, observation.target, True, keys)
    return replace(
        fresh,
        facts={**observation.facts, **fresh.facts},
        source_log={**observation.source_log, **fresh.source_log},
        replica_log={**observation.replica_log, **fresh.replica_log},
    )


def observe_flow(
    pair: Pair,
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
    has_application, topic = pair.engine.application is not None, pair.naming.heartbeats(source)
    observed, heartbeat = both(
        lambda: _engine_state(pair, source, target) if engine_state is None else engine_state,
        lambda: None if has_application else newest_heartbeat(pair.kafka[target], topic),
    )
    heartbeat = own_heartbeat(source, observed, LastRecords(pair.kafka)) if has_application else heartbeat
    keys, replicas = pair.existing(source, pair.topics), pair.existing(target, pair.replicas(source))
    if only is not None:
        keys &= set(only)
        replicas &= {pair.naming.replica_partition(source, key) for key in keys}
    # Before the last stable offsets: a log that grows in between has no open transaction.
    high = log_ends(pair.kafka[source], keys) if tails else {}
    observed_at = time.monotonic()
    source_log, replica_log = both(
        lambda: log_ranges(pair.kafka[source], keys), lambda: log_ranges(pair.kafka[target], replicas)
    )
    last = LastRecords(pair.kafka) if tails else None
    observation = combine(pair, (source, target), observed, heartbeat, source_log, replica_log, high, last)
    return replace(observation, observed_at=observed_at)


def _engine_state(pair: Pair, source: str, target: str) -> FlowState:
    """Return the flow's state from its engine. With ``partial``, an engine that does not respond is no error."""
    try:
        return pair.engine.observe(source, target)
    except DrError as error:
        if not pair.partial:
            raise
        names = {part: connector_name(source, target, part, pair.engine.application) for part in CONNECTORS}
        return FlowState({part: PartState(part, name, UNKNOWN, ()) for part, name in names.items()}, {}, error.message)


def combine(
    pair: Pair,
    flow: tuple[str, str],
    engine_state: FlowState,
    heartbeat: Record | None,
    source_log: Ranges,
    replica_log: Ranges,
    high: Mapping[Partition, int],
    last: LastRecords | None,
) -> FlowObservation:
    """Combine the parts of an observation.

    ``heartbeat``: the newest one that the flow replicated. ``high``: high watermarks by source partition. ``last``:
    compare the tails with these records; None: do not compare.
    """
    source, target = flow
    last_replicated_offset = engine_state.last_replicated_offset
    waiting: dict[Partition, Range] = {}
    for key, (start, end) in source_log.items():
        floor = max(start, last_replicated_offset.get(key, -1) + 1)
        if floor < end:
            waiting[key] = (floor, end)
    tail_replicated: dict[Partition, bool | None] = {}
    data: dict[Partition, bool | None] = {}
    if last is not None:
        replicas = {key: pair.naming.replica_partition(source, key) for key in waiting}
        source_records, replica_records = both(
            lambda: last.of(source, {key: source_log[key] for key in waiting}),
            lambda: last.of(target, {new: replica_log[new] for new in replicas.values() if new in replica_log}),
        )
        tail_replicated = {
            key: same_content(source_records[key], replica_records.get(new)) for key, new in replicas.items()
        }
        data = {key: _waits(source_records[key], span[0], tail_replicated[key]) for key, span in waiting.items()}
    elif waiting:
        data = has_data(pair.kafka[source], waiting, ISOLATION)
    facts = {}
    for key, (start, end) in source_log.items():
        replica = replica_log.get(pair.naming.replica_partition(source, key))
        facts[key] = PartitionFacts(
            start=start,
            end=end,
            last_replicated_offset=last_replicated_offset.get(key),
            data_after=False if key not in waiting else data.get(key),
            replica_end=None if replica is None else replica[1],
            tail_replicated=tail_replicated.get(key),
            high=high.get(key),
        )
    counts = pair.partitions(source)
    problems = [f'the topic "{topic}" does not exist on {source}' for topic in pair.topics if counts.get(topic) is None]
    unreadable: DrError | None = None
    try:
        age = heartbeat_age(heartbeat)
    except DrError as error:
        age, unreadable = None, error
        problems.append(f"its newest heartbeat cannot be read: {error.message}")
    return FlowObservation(
        source,
        target,
        engine_state.connectors,
        facts,
        age,
        tuple(problems),
        source_log,
        replica_log,
        engine_state.away,
        heartbeat_offset=None if heartbeat is None else heartbeat.offset,
        unreadable=unreadable,
        **({"heartbeat_limit": 75.0} if pair.engine.application else {}),
    )


def own_heartbeat(source: str, engine_state: FlowState, last: LastRecords) -> Record | None:
    """Return the newest heartbeat that this flow replicated, by its stored offset; None: unknown.

    The flows of all applications replicate heartbeats into the same topic, so its records prove nothing about one
    flow.
    """
    offset = engine_state.last_replicated_offset.get(_HEARTBEATS)
    return None if offset is None else last.of(source, {_HEARTBEATS: (offset, offset + 1)})[_HEARTBEATS]


def _waits(last: Record | None, floor: int, tail_replicated: bool | None) -> bool | None:
    """Is the last data record at or after ``floor``? Transaction markers after it are not lag (R19).

    None (unknown) if that record seems to be replicated: then N may only not be stored yet.
    """
    if last is None or last.offset < floor:
        return False
    return None if tail_replicated else True
