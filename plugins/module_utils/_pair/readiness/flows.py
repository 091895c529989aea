# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Observe what needs both clusters: flows, groups, and the offsets after a move now.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from ..._core.errors import DrError
from ..._core.journal.facts import JournalFacts
from ..._core.journal.state import JournalState
from ..._core.names import flow_name
from ..._core.offsets.flow_restart import misfits
from ..._core.resources.topic_filters import Filter, left_out
from ..._core.verdict import PROVEN, UNKNOWN, Finding
from ..._core.waiting import Bounds
from ..connections.engines import Opened
from ..flows.restart import replica_starts
from ..observation.flows import FlowObservation, observe_flow
from ..observation.foreign_writers import foreign_records, not_compared, replication_loop
from ..observation.groups import GroupStatus
from ..observation.open_transactions import open_transactions
from ..observation.pair import Pair
from ..observation.snapshot import PairSnapshot, capture, flow_in, groups_in, take_snapshot, unwrap
from ..observation.standstill import Watch, watched_texts
from ..observation.status import flow_row, group_rows, judged_flows
from ..observation.undeclared_groups import undeclared_groups
from ..observation.unreplicated import unreplicated
from ..offsets.disaster_barrier import survey
from ..offsets.evidence import of_snapshot
from ..offsets.forecast import lasting
from ..offsets.requests import DisasterRequest
from ..offsets.translation import find_offsets
from .parts import Parts
from .request import ReadinessRequest
from .waiting_records import await_replication, expiring, log_ends_of

__all__ = ["Move", "predicted_disaster"]

# Seconds. A flow that stores its offsets once a minute makes progress in steps, and no application waits for this.
_MOVING_SECONDS = 10.0
_NOT_JUDGED = Finding(UNKNOWN, "its progress was not observed")


def predicted_disaster(
    request: ReadinessRequest,
    move: tuple[str, str],
    journal: JournalFacts,
    opened: Opened,
    snapshot: PairSnapshot | None,
) -> dict[str, Any]:
    """Return what a disaster now would find. ``move``: the aliases of the clusters being left and entered."""
    wanted = DisasterRequest(
        pair=request.pair,
        leave=move[0],
        enter=move[1],
        claim=None,
        stop_timeout=0.0,
        restart_timeout=0.0,
        members=Bounds(0.0),
        probe_timeout=0.0,
        request_timeout=request.request_timeout,
    )
    return survey(wanted, journal, opened, snapshot)


class Move:
    """A move from ``x`` to ``y``, observed once on both clusters at the same time."""

    def __init__(self, request: ReadinessRequest, move: tuple[str, str], state: JournalState, opened: Opened) -> None:
        self._request, self.x, self.y = request, *move
        self._state, self._journal = state, JournalFacts.toward(state, self.y)
        self._opened, self._naming = opened, request.pair.naming
        self._flows = [move] if self._naming.one_flow_at_a_time else [move, (self.y, self.x)]
        self._pair = Pair(request.pair, self._flows, request.request_timeout, opened=opened)

    def observe(self, parts: Parts, workers: Mapping[str, str | None]) -> dict[str, Any]:
        """Return fields of ``Facts``. ``workers``: by alias, why the workers of the flow toward it are not used."""
        pair, flows = self._pair, self._flows
        snapshot = capture(lambda: take_snapshot(pair, workers))
        seen = parts.together(
            {
                **{flow_name(*flow): partial(self._observe_at, snapshot, flow) for flow in flows},
                "groups": lambda: capture(lambda: groups_in(unwrap(snapshot), pair, self.x)),
            }
        )
        observations: list[FlowObservation | DrError] = [seen[flow_name(*flow)] for flow in flows]
        works: dict[str, Callable[[], Any]] = {
            f"flow {flow_name(*flow)}": partial(self._flow, snapshot, observation)
            for flow, observation in zip(flows, observations, strict=True)
        }
        works["committed_offsets"] = lambda: self._groups(unwrap(seen["groups"]))
        works["undeclared_groups"] = lambda: undeclared_groups(pair, self.x)
        if self._request.other_applications and self._request.wait_for_applications <= 0:
            works["running"] = self._running
        works["rivals"] = self._competing_flows
        works["open_transactions"] = lambda: open_transactions(pair, (source for source, _target in flows))
        works["offsets"] = lambda: self._offsets(unwrap(snapshot), observations, unwrap(seen["groups"]))
        works["survey"] = lambda: predicted_disaster(
            self._request, (self.x, self.y), self._journal, self._opened, unwrap(snapshot)
        )
        return self._fields(parts, parts.together(works))

    def observe_at_once(self, parts: Parts, _workers: Mapping[str, str | None]) -> dict[str, Any]:
        """Return the fields of ``Facts`` that preflight needs in addition to its own observations, without waiting."""

        def configured(flow: tuple[str, str]) -> dict[str, Any]:
            return self._configured(observe_flow(self._pair, *flow))

        works: dict[str, Callable[[], Any]] = {
            f"flow {flow_name(*flow)}": partial(configured, flow) for flow in self._flows
        }
        works["rivals"] = self._competing_flows
        seen = parts.together(works)
        flows = {flow_name(*flow): seen[f"flow {flow_name(*flow)}"] for flow in self._flows}
        return {
            "flows": {name: flow["row"] for name, flow in flows.items() if flow is not None},
            "misfits": {name: None if flow is None else flow["misfits"] for name, flow in flows.items()},
            "left_out": {name: flow["left_out"] for name, flow in flows.items() if flow is not None},
            "rivals": seen["rivals"] or {},
        }

    def _configured(self, observation: FlowObservation, finding: Finding = _NOT_JUDGED) -> dict[str, Any]:
        """Return what one observation shows of a flow, whether or not it makes progress."""
        starts, state = [], self._state
        if not self._naming.starts_at_cut:
            starts = replica_starts(self._pair, observation, state.topic_ids, state.unreplicated_below)
        return {
            "row": flow_row(observation, finding),
            "left_out": self._left_out(observation),
            "misfits": misfits(starts),
        }

    def _fields(self, parts: Parts, found: Mapping[str, Any]) -> dict[str, Any]:
        names = [flow_name(*flow) for flow in self._flows]
        flows = {name: found[f"flow {name}"] for name in names}
        away = flows[names[0]]
        for name, flow in flows.items():
            if flow is None:
                parts.unknown.setdefault("flows", parts.unknown[f"flow {name}"])
        groups = found["committed_offsets"] or dict.fromkeys(("rows", "undeclared_topics", "out_of_scope"))
        return {
            "flows": {name: one["row"] for name, one in flows.items() if one is not None},
            **{
                part: {name: None if one is None else one[part] for name, one in flows.items()}
                for part in ("unsafe_settings", "misfits", "foreign_writes", "not_compared")
            },
            "left_out": {name: one["left_out"] for name, one in flows.items() if one is not None},
            "rivals": found["rivals"] or {},
            "unreplicated": None if away is None else away["unreplicated"],
            "expiring": None if away is None else away["expiring"],
            "open_transactions": found["open_transactions"],
            "committed_offsets": groups["rows"],
            "undeclared_topics": groups["undeclared_topics"],
            "out_of_scope": groups["out_of_scope"],
            "undeclared_groups": found["undeclared_groups"],
            "running": found.get("running"),
            "offsets": None if found["offsets"] is None else found["offsets"][0],
            "refused": None if found["offsets"] is None else found["offsets"][1],
            "survey": found["survey"],
        }

    def _observe_at(self, snapshot: PairSnapshot | DrError, flow: tuple[str, str]) -> FlowObservation | DrError:
        return capture(lambda: flow_in(unwrap(snapshot), self._pair, *flow))

    def _flow(self, snapshot: PairSnapshot | DrError, first: FlowObservation | DrError) -> dict[str, Any]:
        pair = self._pair
        observation, finding = judged_flows(pair, [unwrap(first)], _MOVING_SECONDS)[0]
        accepted, last = pair.spec.accepted_foreign_writers, unwrap(snapshot).last
        below = self._state.unreplicated_below.get(observation.target)
        foreign_writes = foreign_records(pair, observation, accepted, last)
        ends = log_ends_of(unwrap(first))
        counted = unreplicated(pair, observation) if observation.source == self.x else {}
        if finding.verdict == PROVEN:
            await_replication(pair, observation, counted, ends, self._request.limits.lag)
        lacking = [counted[key] for key in sorted(counted) if counted[key].most]
        if self._naming.one_flow_at_a_time:
            foreign_writes += [
                f"{name} replicates the same topics as {observation.name} in the opposite direction"
                for name in pair.engine.reverse_flows(observation.source, observation.target, pair.topics)
            ]
            foreign_writes += replication_loop(pair, observation.source, observation.target)
        return {
            **self._configured(observation, finding),
            "unsafe_settings": observation.unsafe_settings,
            "foreign_writes": foreign_writes,
            "not_compared": not_compared(pair, observation, counted, accepted, last, below),
            "unreplicated": lacking,
            "expiring": expiring(pair, observation, lacking, last, ends, self._request.limits.lag),
        }

    def _running(self) -> list[str]:
        """Name what applications that the inventory does not control do on ``x``."""
        others, request = self._request.other_applications, self._request
        return watched_texts(Watch(self._pair.kafka[self.x], others.topics, others.groups, request.settles))

    def _competing_flows(self) -> dict[str, list[str]]:
        """Name the other running flows for the same topics."""
        engine, topics = self._pair.engine, self._pair.topics
        return {flow_name(*flow): engine.competing_flows(*flow, topics, running=True) for flow in self._flows}

    def _left_out(self, observation: FlowObservation) -> tuple[list[str], list[str]]:
        """Return the topics and groups that the flow does not replicate, and those for which this is unknown.

        The evidence is the filters of its connectors, or the lists that its engine keeps separately.
        """
        names = {"topics": list(self._request.pair.topics), "groups": list(self._request.pair.groups)}
        missing = [text for part in observation.connectors.values() for text in part.drift]
        unknown: list[str] = []
        filters: dict[str, Sequence[Filter]] = {part.name: part.filters for part in observation.connectors.values()}
        if self._pair.engine.capabilities.separate_lists:
            listed, unknown = self._lists(observation, names)
            filters = {"Streams Replication Manager": listed}
        for who, takes in filters.items():
            lacks, unclear = left_out(takes, names)
            missing += [f"{who} leaves out {text}" for text in lacks]
            unknown += [f"it is unknown whether {who} replicates {text}" for text in unclear]
        return list(dict.fromkeys(missing)), unknown

    def _lists(
        self, observation: FlowObservation, names: Mapping[str, Sequence[str]]
    ) -> tuple[list[Filter], list[str]]:
        """Return the lists that select what the flow replicates, and errors about lists that could not be read."""
        rows = {
            listed["kind"]: listed
            for listed in self._request.lists
            if (listed["source"], listed["target"]) == (observation.source, observation.target)
        }
        known = {kind: rows[kind] for kind in names if rows.get(kind, {}).get("known")}
        filters = [Filter(kind, tuple(row["allowed"]), tuple(row["denied"])) for kind, row in known.items()]
        why = "".join(f": {text}" for text in self._request.list_errors[:1])
        unread = [
            f"srm-control did not return the list {kind} of {observation.name}{why}"
            for kind in names
            if kind not in known and names[kind]
        ]
        return filters, unread

    def _groups(self, observations: Mapping[str, GroupStatus]) -> dict[str, Any]:
        return {
            "rows": [
                row for name, observation in observations.items() for row in group_rows(self.x, name, observation)
            ],
            "undeclared_topics": [
                {"group": name, "alias": self.x, "topics": list(observation.undeclared_topics)}
                for name, observation in observations.items()
                if observation.undeclared_topics
            ],
            "out_of_scope": [row for observation in observations.values() for row in observation.out_of_scope],
        }

    def _offsets(
        self,
        snapshot: PairSnapshot,
        observations: Sequence[FlowObservation | DrError],
        groups: Mapping[str, GroupStatus],
    ) -> tuple[list[dict[str, Any]], list[str]]:
        """Return translated offsets as of now, and why a barrier would refuse some of them in any case."""
        forward, *back = [unwrap(observation) for observation in observations]
        evidence = of_snapshot(self._pair, snapshot, (forward, back[0] if back else None), groups)
        rows, _read = find_offsets(evidence, self._journal)
        return rows, lasting(evidence, rows, "refuse")
