# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Apply the goals of flows by setting the states of MirrorMaker 2 connectors.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from ..._connect.connector_client import ConnectorClient
from ..._connect.flow import reconcile_flow
from ..._connect.mirror import DEFAULT_TASKS, FlowSpec
from ..._core.flows.goals import ABSENT, RUNNING, STOPPED, FlowGoal
from ..._core.flows.pair_spec import PairSpec
from ..._core.waiting import Bounds
from ..._module import Result
from ..base import attempt, joined

__all__ = ["INACTIVE", "apply_goals", "steps"]

# A new connector is created STOPPED. An existing connector keeps its state.
PRESENT = "present"
# A connector that exists is STOPPED and gets the settings of the inventory.
INACTIVE = "inactive"


def steps(goals: Sequence[FlowGoal]) -> list[tuple[str, list[str], str]]:
    """Return (flow, parts, wanted state) in the order of the calls. Parts stop before any part starts.

    The settings of stopped parts come after the stops, so that no setting can prevent a stop.
    """

    def wanted(state: str) -> list[tuple[str, list[str], str]]:
        return [
            (goal.flow, [part for part, part_state in goal.parts.items() if part_state == state], state)
            for goal in goals
        ]

    readable = [(goal.flow, ["source"], PRESENT) for goal in goals if goal.offsets is not None]
    declared = {goal.flow for goal in goals if goal.settings}
    inactive = [(flow, parts, INACTIVE) for flow, parts, _state in wanted(STOPPED) if flow in declared]
    return [step for step in [*wanted(STOPPED), *readable, *wanted(RUNNING), *inactive, *wanted(ABSENT)] if step[1]]


def apply_goals(
    rest: Callable[[str, str], ConnectorClient], pair: PairSpec, goals: Sequence[FlowGoal], bounds: Bounds, check: bool
) -> Result:
    """Carry out :func:`steps` in order. A failed step does not prevent the others."""

    def carry_out(flow: str, parts: list[str], state: str) -> Result:
        workers, adopted = rest(*pair.flows[flow]), pair.adopted.get(flow, ())
        return reconcile_flow(workers, _flow_spec(pair, flow), parts, state, bounds, check, adopted=adopted)

    return joined([attempt(partial(carry_out, *step)) for step in steps(goals)])


def _flow_spec(pair: PairSpec, flow: str) -> FlowSpec:
    source, target = (pair.clusters[alias] for alias in pair.flows[flow])
    return FlowSpec(
        source,
        target,
        pair.topics,
        pair.groups,
        pair.naming,
        pair.replication_factor,
        tasks_max=pair.tasks_max or DEFAULT_TASKS,
        settings=pair.settings,
        application=pair.application,
    )
