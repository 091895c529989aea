# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Observe the groups that moved on the cluster that was left, after the point of no return (R41).

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..._core.checks.departure import judge_departure
from ..._core.errors import DrError
from ..._core.flows.pair_spec import PairSpec
from ..._core.offsets.tenures import flat
from ..._core.verdict import UNKNOWN, Finding
from ..._kafka.groups import read
from ..._module import Result
from ..connections.clusters import connect_one

__all__ = ["DepartureRequest", "departure"]


@dataclass(frozen=True)
class DepartureRequest:
    """The options of ``dr_departure_info``."""

    pair: PairSpec
    #: Alias of the cluster that was left.
    leave: str
    #: Committed offsets at the barrier by group, topic and partition.
    barrier_offsets: Mapping[str, Mapping[str, Mapping[str, int]]]
    #: Whether MirrorMaker 2's group sync has committed on ``leave`` since the barrier: "stopped": it has not;
    #: "started": it may have, after a look that has proven the departure; "unknown".
    group_sync: str
    request_timeout: float


def departure(request: DepartureRequest) -> Result:
    """Return the finding of one look. It is UNKNOWN if the cluster does not respond: the applications have moved."""
    request.pair.require_alias(request.leave)
    result = Result()
    try:
        finding = _observe(request, result)
    except DrError as error:
        finding = Finding(UNKNOWN, f"the groups on {request.leave} could not be read: {error.message}")
    result.extra = {"departure": {"verdict": finding.verdict, "reason": finding.reason}}
    return result


def _observe(request: DepartureRequest, result: Result) -> Finding:
    spec, leave = request.pair, request.leave
    kafka = connect_one(leave, spec.connections[leave], request.request_timeout)
    result.requests = kafka.requests
    states, commits = read(kafka, spec.groups) if spec.groups else ({}, {})
    # The barrier holds the offsets on the topics of the pair only.
    entered = [alias for alias in spec.clusters if alias != leave]
    replicas = {spec.naming.replica(alias, topic) for alias in entered for topic in spec.topics}
    ours = {*spec.topics, *replicas}
    now = {
        group: {key: offset for key, offset in offsets.items() if key.topic in ours}
        for group, offsets in commits.items()
    }
    before = {group: flat(offsets) for group, offsets in request.barrier_offsets.items()}
    # Toward the cluster that was left, group sync commits on the replicas of the other cluster's originals.
    synced = set() if request.group_sync == "stopped" else replicas
    return judge_departure(leave, states, now, before, synced, request.group_sync == "started")
