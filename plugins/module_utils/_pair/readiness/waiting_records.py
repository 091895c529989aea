# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long unreplicated records have waited, by two observations (R43), and when the source deletes them.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from ..._core.ages import LogEnds
from ..._core.checks.facts import Expiring, seconds_until_full
from ..._core.checks.readiness import SETTINGS
from ..._core.offsets.unreplicated import Unreplicated, waiting_time
from ..._core.partition import Partition
from ..._core.resources.topics import TopicState
from ..._core.waiting import Bounds, wait_until
from ..._kafka.topics import describe, log_ends
from ..observation.flows import FlowObservation, observe_again
from ..observation.last_records import LastRecords
from ..observation.pair import Pair
from ..observation.unreplicated import unreplicated

__all__ = ["await_replication", "expiring", "log_ends_of"]

# Bytes of a batch with a single record, without key and value.
_RECORD_OVERHEAD = 70
# Seconds between two counts of unreplicated records.
_COUNT_STEP = 0.5


def await_replication(
    pair: Pair,
    observation: FlowObservation,
    counted: dict[Partition, Unreplicated],
    ends: list[LogEnds],
    limit: float,
) -> None:
    """Count again until it is known how long the unreplicated records wait, up to the limit of the lag.

    Only two observations show it (R43): if the records before the first log end are replicated, the others are
    younger than that observation. Adds to ``ends`` and updates ``counted``.
    """

    def waiting() -> list[Partition]:
        now = time.monotonic()
        return [key for key, row in counted.items() if row.most and waiting_time(row, ends, limit, now) is None]

    def count() -> list[Partition]:
        keys = waiting()
        if keys:
            fresh = observe_again(pair, observation, keys)
            part = replace(
                fresh,
                facts={key: fresh.facts[key] for key in keys},
                source_log={key: fresh.source_log[key] for key in keys},
            )
            ends.extend(log_ends_of(part))
            counted.update(unreplicated(pair, part))
        return waiting()

    wait_until(count, lambda keys: not keys, Bounds(limit, _COUNT_STEP))


def expiring(
    pair: Pair,
    observation: FlowObservation,
    lacking: Sequence[Unreplicated],
    last: LastRecords,
    ends: Sequence[LogEnds],
    limit: float,
) -> list[Expiring]:
    """Return how long the first unreplicated record of each partition has waited, and when it expires."""
    topics, source = pair.topics, observation.source
    settings = describe(pair.kafka[source], topics, dict.fromkeys(topics, SETTINGS))
    bounds = {name: _kept_bytes(state) for name, state in settings.items()}
    sizes = _record_sizes(observation, [row for row in lacking if bounds[row.topic] is not None], last)
    now, clock = time.time(), time.monotonic()
    rates = _rates(pair, source, list(sizes), ends)
    rows = []
    for row in lacking:
        key, waited = Partition(row.topic, row.partition), waiting_time(row, ends, limit, clock)
        waited = None if waited is None else round(waited, 3)
        # The broker's own rule: a record expires by its timestamp, even if a producer chose it.
        kept_for = _kept_seconds(settings[row.topic])
        event_time = row.event_time if kept_for != math.inf else now
        left = None if kept_for is None or event_time is None else event_time + kept_for - now
        bound = bounds[row.topic]
        full = partial(seconds_until_full, records=row.most, size=sizes.get(key), rate=rates.get(key))
        by_size = math.inf if bound is None else full(bound)
        rows.append(Expiring(row.topic, row.partition, waited, left, by_size))
    return rows


def _rates(pair: Pair, source: str, keys: Sequence[Partition], ends: Sequence[LogEnds]) -> dict[Partition, float]:
    """Return the offsets per second that are written now, between the first observation and a new one."""
    seen = next(iter(ends), None)
    if seen is None or not keys:
        return {}
    fresh, took = log_ends(pair.kafka[source], keys), time.monotonic() - seen.at
    return {
        key: max(0, fresh[key] - seen.ends[key]) / took
        for key in keys
        if took > 0 and key in fresh and key in seen.ends
    }


def log_ends_of(observation: FlowObservation) -> list[LogEnds]:
    """Return the source's log ends of an observation; empty: it is unknown when they were read."""
    at, ends = observation.observed_at, {key: end for key, (_start, end) in observation.source_log.items()}
    return [] if at is None else [LogEnds(at, ends)]


def _kept_seconds(state: TopicState | None) -> float | None:
    """Return for how many seconds the source keeps a record; infinite without a limit by age; None: unknown."""
    values = {} if state is None else {name: state.config.get(name) for name in ("retention.ms", "cleanup.policy")}
    policy, retention = (
        None if (one := values.get(name)) is None else one.value for name in ("cleanup.policy", "retention.ms")
    )
    if policy is not None and "delete" not in str(policy):
        return math.inf
    if policy is None or retention is None:
        return None
    return math.inf if int(retention) < 0 else int(retention) / 1000.0


def _kept_bytes(state: TopicState | None) -> int | None:
    """Return how many bytes of a partition the source keeps; None: its size sets no limit, or is unknown."""
    values = {} if state is None else {name: state.config.get(name) for name in ("retention.bytes", "cleanup.policy")}
    policy, bound = (
        None if (one := values.get(name)) is None else one.value for name in ("cleanup.policy", "retention.bytes")
    )
    if bound is None or int(bound) < 0 or (policy is not None and "delete" not in str(policy)):
        return None
    return int(bound)


def _record_sizes(
    observation: FlowObservation, lacking: Sequence[Unreplicated], last: LastRecords
) -> dict[Partition, int]:
    """Return the size in bytes, without compression, of the last record of each partition, if it has one."""
    keys = [Partition(row.topic, row.partition) for row in lacking]
    spans = {key: observation.source_log[key] for key in keys if key in observation.source_log}
    records = last.of(observation.source, spans)
    return {
        key: _RECORD_OVERHEAD + sum(len(part or b"") for part in (record.key, record.value))
        for key, record in records.items()
        if record is not None
    }
