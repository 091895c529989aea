# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The goal of each flow in each state of a pair, for every engine.

The tables are those in docs/flows.md. MirrorMaker 2's group sync must not write on the cluster where the applications
live (R10), so it is stopped on the flow to the active cluster. With the policy identity, records flow in one direction
only, away from the applications: two flows would form a replication loop.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..errors import DrError
from .pair_spec import PairSpec

__all__ = ["ABSENT", "READABLE", "RUNNING", "STATES", "STOPPED", "WRITABLE", "FlowGoal", "flow_goals"]

RUNNING, STOPPED, ABSENT = "running", "stopped", "absent"
READABLE, WRITABLE = "readable", "writable"


@dataclass(frozen=True)
class FlowGoal:
    """The goal of one flow. None: this part does not change."""

    flow: str
    #: Replication of records.
    replication: str | None = None
    #: Writing of group offsets on the target.
    group_sync: str | None = None
    heartbeats: str | None = None
    #: READABLE: its stored offsets can be read, even if the flow does not run. WRITABLE: they can be changed, too.
    offsets: str | None = None
    #: True: parts that are stopped get the settings of the inventory too, and stay stopped.
    settings: bool = False

    @property
    def parts(self) -> dict[str, str]:
        """Desired state by the name of the part, without the parts that do not change."""
        wanted = {"source": self.replication, "checkpoint": self.group_sync, "heartbeat": self.heartbeats}
        return {part: state for part, state in wanted.items() if state is not None}


def flow_goals(pair: PairSpec, state: str, at: str) -> list[FlowGoal]:
    """The goals of a state of :data:`STATES`. ``at``: an alias, or the name of a flow, as that state needs."""
    free = {"absent", "adopt", "exist"}
    known = pair.flows if state == "replicate" else pair.clusters
    if state not in free and at not in known:
        raise DrError(
            "bad_option",
            f'The state {state} was requested for "{at}", wanted one of {", ".join(known)}.',
            "Correct it.",
        )
    return STATES[state](pair, at)


def _live(pair: PairSpec, active: str) -> list[FlowGoal]:
    """The applications live on ``active``."""
    toward_active = STOPPED if pair.naming.one_flow_at_a_time else RUNNING
    return [
        FlowGoal(
            name,
            replication=toward_active if target == active else RUNNING,
            group_sync=STOPPED if target == active else RUNNING,
            heartbeats=RUNNING if "heartbeat" in pair.parts else None,
            settings=True,
        )
        for name, (_source, target) in pair.flows.items()
    ]


def _live_elsewhere(pair: PairSpec, alias: str) -> list[FlowGoal]:
    """The applications live on the other cluster; only the flow to ``alias`` changes."""
    away, toward = pair.away_and_toward(alias)
    return [goal for goal in _live(pair, pair.flows[away][1]) if goal.flow == toward]


def _absent(pair: PairSpec, _at: str) -> list[FlowGoal]:
    """No flow exists. All applications share the heartbeats, so one application does not remove them."""
    heartbeats = ABSENT if "heartbeat" in pair.parts and not pair.application else None
    return [FlowGoal(name, ABSENT, ABSENT, heartbeats) for name in pair.flows]


def _exist(pair: PairSpec, _at: str) -> list[FlowGoal]:
    """The stored offsets of both flows can be read."""
    return [FlowGoal(name, offsets=READABLE) for name in pair.flows]


def _adopt(pair: PairSpec, _at: str) -> list[FlowGoal]:
    """Flows are stopped before they take over the offsets of other connectors."""
    return [FlowGoal(name, replication=STOPPED) for name in pair.adopted]


def _replicate(pair: PairSpec, flow: str) -> list[FlowGoal]:
    """One flow replicates records."""
    return [FlowGoal(flow, replication=RUNNING)]


def _seed(pair: PairSpec, active: str) -> list[FlowGoal]:
    """Before the offsets of the flow from ``active`` are set, the flow to ``active`` is stopped."""
    away, toward = pair.away_and_toward(active)
    return [FlowGoal(toward, STOPPED, STOPPED), FlowGoal(away, offsets=READABLE)]


def _hold(pair: PairSpec, active: str) -> list[FlowGoal]:
    """The flow from ``active`` is stopped."""
    return [FlowGoal(pair.away_and_toward(active)[0], replication=STOPPED)]


def _rebuild(pair: PairSpec, active: str) -> list[FlowGoal]:
    """Both flows are stopped, and their stored offsets can be reset."""
    return [FlowGoal(name, STOPPED, STOPPED, offsets=WRITABLE) for name in pair.away_and_toward(active)[::-1]]


def _survive(pair: PairSpec, alias: str) -> list[FlowGoal]:
    """A cluster is lost: the flow to ``alias`` is stopped until its records have been examined."""
    return [FlowGoal(pair.away_and_toward(alias)[1], STOPPED, STOPPED)]


#: State -> the goals, from the pair and an alias or a flow.
STATES: Mapping[str, Callable[[PairSpec, str], list[FlowGoal]]] = {
    "absent": _absent,
    "adopt": _adopt,
    "exist": _exist,
    "hold": _hold,
    "live": _live,
    "live_elsewhere": _live_elsewhere,
    "rebuild": _rebuild,
    "replicate": _replicate,
    "seed": _seed,
    "survive": _survive,
}
