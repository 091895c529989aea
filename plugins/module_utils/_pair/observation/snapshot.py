# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Observe both clusters of a pair at one time, and derive flows and groups from that.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from ..._core.errors import DrError
from ..._core.partition import Partition, Range
from ..._engines.base import FlowState
from ..._kafka.client import Kafka
from ..._kafka.records import Record
from ..._kafka.topics import describe, require_ranges, try_log_ranges
from ..connections.clusters import on_each
from .flows import FlowObservation, combine, own_heartbeat
from .groups import Groups, GroupStatus, group_statuses, read_groups
from .last_records import LastRecords
from .pair import ISOLATION, Pair

__all__ = ["PairSnapshot", "capture", "flow_in", "groups_in", "take_snapshot", "unwrap"]

T = TypeVar("T")


@dataclass(frozen=True)
class PairSnapshot:
    """Both clusters at one time: N and committed offsets were read first, log ends afterwards (``take_snapshot``).

    A failed read is stored as its error, which is raised when the value is used.
    """

    #: By flow (source, target).
    engines: Mapping[tuple[str, str], FlowState | DrError]
    #: State and committed offsets of every group, by alias.
    groups: Mapping[str, Groups | DrError]
    #: Log start and last stable offset by alias and partition, or the broker's error.
    logs: Mapping[str, Mapping[Partition, Range | str] | DrError]
    kafka: Mapping[str, Kafka]
    last: LastRecords
    #: Seconds of this machine's monotonic clock, right before the logs were read; None: unknown.
    logs_at: float | None = None

    def ranges(self, alias: str, keys: Iterable[Partition]) -> dict[Partition, Range]:
        """Return log start and end of those of ``keys`` that exist."""
        reported = unwrap(self.logs[alias])
        return require_ranges(self.kafka[alias], {key: reported[key] for key in keys if key in reported})

    def newest_heartbeat(self, alias: str, topic: str) -> Record | None:
        """Return the newest heartbeat that a flow replicated into ``topic``; None: there is none."""
        place = Partition(topic, 0)
        return self.last.of(alias, self.ranges(alias, [place])).get(place)


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


def take_snapshot(pair: Pair, away: Mapping[str, str | None]) -> PairSnapshot:
    """Observe flows and groups on both clusters, then their logs.

    ``away`` says by target why a flow's workers must not be contacted.
    """
    on_each(pair.kafka, pair.partitions)
    with ThreadPoolExecutor() as pool:
        engines = {flow: pool.submit(capture, partial(_engine_state, pair, *flow, away)) for flow in pair.flows}
        groups = {alias: pool.submit(capture, partial(read_groups, pair, alias)) for alias in pair.kafka}
        engine_states = {flow: future.result() for flow, future in engines.items()}
        group_states = {alias: future.result() for alias, future in groups.items()}
    logs_at = time.monotonic()
    logs = on_each(pair.kafka, lambda alias: capture(lambda: _logs(pair, alias)))
    snapshot = PairSnapshot(engine_states, group_states, logs, pair.kafka, LastRecords(pair.kafka), logs_at)
    # Read the last records of both clusters now. An error is raised again when a caller needs the record.
    on_each(
        pair.kafka,
        lambda alias: capture(lambda: snapshot.last.of(alias, snapshot.ranges(alias, _partitions(pair, alias)))),
    )
    return snapshot


def _partitions(pair: Pair, alias: str) -> set[Partition]:
    """Return the partitions of the pair's topics and of replicated heartbeats on ``alias``."""
    heartbeats = describe(pair.kafka[alias], [pair.naming.heartbeats(other) for other in pair.kafka if other != alias])
    present = {Partition(name, 0) for name, state in heartbeats.items() if state is not None}
    return pair.existing(alias, pair.partitions(alias)) | present


def _engine_state(pair: Pair, source: str, target: str, away: Mapping[str, str | None]) -> FlowState:
    reason = away.get(target)
    if reason:
        raise DrError("workers_away", reason)
    return pair.engine.observe(source, target)


def _logs(pair: Pair, alias: str) -> dict[Partition, Range | str]:
    """Read the log ranges of the pair's topics and of every topic seen so far, in one request.

    The ends of other topics are remembered: a later end would only make a finding more exact. The exception is
    heartbeats, because they show whether a flow makes progress.
    """
    kafka, keys = pair.kafka[alias], _partitions(pair, alias)
    remembered = [state for state in (kafka.seen_topics or {}).values() if state is not None]
    others = {Partition(state.name, index) for state in remembered for index in range(state.partitions)} - keys
    reported = try_log_ranges(kafka, keys | others, ISOLATION)
    kafka.seen_ends = {key: span[1] for key in others if not isinstance(span := reported[key], str)}
    return reported


def flow_in(snapshot: PairSnapshot, pair: Pair, source: str, target: str) -> FlowObservation:
    """Return one flow like ``observe_flow`` with tails, from the snapshot."""
    engine_state = unwrap(snapshot.engines[source, target])
    source_log = snapshot.ranges(source, pair.existing(source, pair.topics))
    replica_log = snapshot.ranges(target, pair.existing(target, pair.replicas(source)))
    heartbeat = (
        snapshot.newest_heartbeat(target, pair.naming.heartbeats(source))
        if pair.engine.application is None
        else own_heartbeat(source, engine_state, snapshot.last)
    )
    observation = combine(pair, (source, target), engine_state, heartbeat, source_log, replica_log, {}, snapshot.last)
    return replace(observation, observed_at=snapshot.logs_at)


def groups_in(snapshot: PairSnapshot, pair: Pair, alias: str) -> dict[str, GroupStatus]:
    """Return every group like ``observe_groups`` on all topics, from the snapshot."""
    names = pair.present(alias)
    ranges = snapshot.ranges(alias, pair.existing(alias, names))
    snapshot.last.of(alias, ranges)
    read = unwrap(snapshot.groups[alias])
    return group_statuses(
        pair, alias, set(names), read, ranges, lambda places: snapshot.last.data_after(alias, ranges, places)
    )
