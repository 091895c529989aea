# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare the topics of a pair on both clusters with the inventory and with the journal.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..._core.flows.pair_spec import PairSpec
from ..._core.inventory.layout import larger_replicas, unequal_partitions
from ..._core.partition import Partition
from ..._core.resources.retention import retention_plan
from ..._core.resources.topic_ids import (
    checkpoints_start,
    joined,
    log_ends,
    offset_syncs_start,
    recreated,
    require_ids,
    topic_ids,
)
from ..._core.resources.topics import topic_row
from ..._kafka.client import Kafka
from ..._kafka.topics import describe, known_ranges, with_config
from ..._module import Result
from ..connections.clusters import connect_pair, on_each
from .checkpoints import checkpoints_end

__all__ = ["TopicsRequest", "compare_topics"]

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class TopicsRequest:
    """What to observe; the options of ``dr_topics_info``."""

    pair: PairSpec
    #: The topics of the inventory.
    declared: Sequence[Mapping[str, Any]]
    #: Topics to observe, by alias.
    names: Mapping[str, Sequence[str]]
    #: The topics that the flows create, by alias.
    flow_topics: Mapping[str, Sequence[Mapping[str, Any]]]
    #: Location of a flow's offset-syncs, by flow: ``on`` (an alias) and ``topic``.
    offset_syncs: Mapping[str, Mapping[str, str]]
    #: The state of the journal; empty: compare with the inventory only.
    state: Mapping[str, Any]
    #: Whether the topics must keep all records; None: make no plan for that.
    hold: bool | None
    request_timeout: float


def compare_topics(request: TopicsRequest) -> Result:
    """Observe both clusters and report the differences."""
    pair, state = request.pair, request.state
    kafka = connect_pair(pair.connections, request.request_timeout)
    held: Mapping[str, Mapping[str, Any]] = (state.get("held") or {}) if request.hold is not None else {}
    rows = on_each(
        kafka,
        lambda alias: _rows(
            kafka[alias],
            [
                *request.names.get(alias, ()),
                *held.get(alias, ()),
                *(topic["name"] for topic in request.flow_topics.get(alias, ())),
            ],
            request.hold is not None,
        ),
    )
    require_ids(rows)
    ids = topic_ids(rows)
    existing = {alias: {row["name"] for row in alias_rows if row["exists"]} for alias, alias_rows in rows.items()}
    extra: dict[str, Any] = {
        "cluster_ids": {alias: connected.cluster_id for alias, connected in kafka.items()},
        "missing": {
            alias: [topic for topic in request.flow_topics.get(alias, ()) if topic["name"] not in names]
            for alias, names in existing.items()
        },
        "topic_ids": ids,
        "unequal": unequal_partitions(rows, request.declared),
        "larger_replicas": larger_replicas(rows, request.declared, pair.flows.values(), pair.naming),
    }
    if state:
        extra |= _against_the_journal(request, kafka, rows, ids)
    if request.hold is not None:
        extra["retention"] = retention_plan(rows, held, request.declared, request.hold)
    return Result(extra=extra, requests=[sent for connected in kafka.values() for sent in connected.requests])


def _rows(kafka: Kafka, names: Sequence[str], settings: bool) -> Rows:
    states = describe(kafka, list(dict.fromkeys(names)))
    if settings:
        existing = [state for state in states.values() if state is not None]
        states.update(with_config(kafka, existing, {state.name: () for state in existing}))
    return [topic_row(name, state, "overrides" if settings else "none") for name, state in states.items()]


def _against_the_journal(
    request: TopicsRequest, kafka: Mapping[str, Kafka], rows: Mapping[str, Rows], ids: dict[str, dict[str, str]]
) -> dict[str, Any]:
    pair, journaled = request.pair, request.state["topic_ids"]
    lost = [alias for alias, facts in request.state["left"].items() if facts.get("checkpoints") is None]
    new = joined(journaled, ids)
    # Without any observed topic, a cluster is unknown.
    known = not new and all(alias_rows and all(row["topic_id"] for row in alias_rows) for alias_rows in rows.values())
    # Offset-syncs and checkpoints from before the flow runs may be about deleted topics of the same names.
    ends = {} if known else _ends(request, kafka)
    checkpoints = {
        name: checkpoints_end(kafka[target], pair.naming.checkpoints(source))
        for name, (source, target) in pair.flows.items()
        if not known or target in lost
    }
    flows = {
        name: {
            "source": source,
            "target": target,
            "replicas": {topic: pair.naming.replica(source, topic) for topic in pair.topics},
        }
        for name, (source, target) in pair.flows.items()
    }
    return {
        "recreated": recreated(journaled, ids),
        "joined": new,
        "known": known,
        "offset_syncs_start": offset_syncs_start(request.state, flows, ids, ends),
        "checkpoints_start": checkpoints_start(request.state, flows, ids, checkpoints),
        "checkpoints": {target: checkpoints[name] for name, (_source, target) in pair.flows.items() if target in lost},
    }


def _ends(request: TopicsRequest, kafka: Mapping[str, Kafka]) -> dict[str, int]:
    return log_ends(
        {flow: _with_offsets(kafka[place["on"]], place["topic"]) for flow, place in request.offset_syncs.items()}
    )


def _with_offsets(kafka: Kafka, name: str) -> Rows:
    state = describe(kafka, [name])[name]
    partitions = range(0 if state is None else state.partitions)
    return [topic_row(name, state, "none", known_ranges(kafka, {Partition(name, index) for index in partitions}))]
