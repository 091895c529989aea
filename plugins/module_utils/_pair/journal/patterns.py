# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the topics and groups of a pair whose inventory has patterns: in the journal, or on the clusters.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..._core.errors import DrError
from ..._core.flows.pair_spec import PairSpec
from ..._core.resources.name_patterns import NamePattern, group_candidates, similar
from ..._core.schema import one_line
from ..._kafka.client import Kafka
from ..._kafka.groups import names as group_names
from ..._kafka.topics import describe
from ..._module import Result
from ..connections.clusters import connect_answering, connect_one, connect_pair
from ..observation.patterns import candidate_topics, matches
from .copies import read_state

__all__ = ["SOURCES", "PatternRequest", "find_names"]

# journal: what has joined the pair. clusters: what exists now. survivor: the journal without the cluster being left.
SOURCES = ("journal", "clusters", "survivor")


@dataclass(frozen=True)
class PatternRequest:
    """The options of ``dr_pattern_info``."""

    pair: PairSpec
    #: One of SOURCES.
    source: str
    #: For ``survivor``, alias of the cluster to move to; "": away from home.
    to: str
    #: Alias on which the applications live, as the operator states it; "": as the journal states it.
    asked: str
    request_timeout: float


def find_names(request: PatternRequest) -> Result:
    """Return topics with partition counts, and groups; raise if a pattern takes nothing on the cluster."""
    pair = request.pair
    survivor = request.to or next(alias for alias in pair.clusters if alias != pair.home)
    pair.require_alias(survivor)
    if request.source == "survivor":
        kafkas = connect_pair({survivor: pair.connections[survivor]}, request.request_timeout)
    else:
        kafkas = connect_answering(pair.connections, request.request_timeout)
    state = read_state(kafkas, pair)
    resolved: dict[str, Any] = {"topics": state.topics, "groups": state.groups, "listed": None}
    if request.source == "survivor" and state.topics is None:
        raise DrError(
            "pair_not_enabled",
            f'The journal "{pair.journal_topic}" on {survivor} names no topic of the pair {pair.name}, and the'
            " inventory has patterns: which topics are replicated is unknown.",
            "Name the topics, with their partitions, and the groups in the inventory, and start again.",
        )
    if request.source == "clusters" or state.topics is None:
        active = request.asked or state.active or pair.home
        pair.require_alias(active)
        if active not in kafkas:
            kafkas[active] = connect_one(active, pair.connections[active], request.request_timeout)
        resolved = _listed(kafkas[active], pair, active)
    return Result(extra={"resolved": resolved}, requests=[sent for kafka in kafkas.values() for sent in kafka.requests])


def _listed(kafka: Kafka, pair: PairSpec, alias: str) -> dict[str, Any]:
    taken = matches(kafka, pair, alias)
    _require_matches(
        pair.patterns.get("topics", ()), "topic", taken.topics, lambda: candidate_topics(kafka, pair), alias
    )
    # An application may declare a group before it exists.
    known = [*taken.groups, *pair.groups]
    _require_matches(
        pair.patterns.get("groups", ()), "group", known, lambda: group_candidates(group_names(kafka)), alias
    )
    # Entries with a name may leave out their partition counts.
    states = describe(kafka, list(dict.fromkeys([*taken.topics, *pair.topics])))
    counts = {name: state.partitions for name, state in states.items() if state is not None}
    return {"topics": counts, "groups": taken.groups, "listed": alias}


def _require_matches(
    patterns: Iterable[NamePattern], kind: str, taken: Sequence[str], candidates: Callable[[], list[str]], alias: str
) -> None:
    idle = [pattern for pattern in patterns if not any(map(pattern.takes, taken))]
    if not idle:
        return
    names = similar(idle[0].match, candidates())
    near = f" Similar names: {', '.join(names)}." if names else ""
    also = " that has committed offsets on topics of the pair" if kind == "group" else ""
    raise DrError(
        "pattern_without_match",
        f'The pattern "{one_line(idle[0].match)}" of kafka_dr_{kind}s takes no {kind} on {alias}{also}.{near}',
        "Correct match or exclude, or remove the entry. Internal topics, replicas and groups of Kafka Connect or of a"
        " console are never taken.",
    )
