# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Apply the goals of flows: write lines of Replication Configs, and set the states of the services that run them.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from ..._cm.config import Declared, reconcile_config
from ..._cm.control import DesiredService, reconcile_service
from ..._cm.replication_config import REPLICATION_CONFIGS
from ..._cm.service import CmService
from ..._core.engines.srm.replication_lines import flow_lines
from ..._core.flows.goals import ABSENT, WRITABLE, FlowGoal
from ..._core.flows.pair_spec import PairSpec
from ..._core.waiting import Bounds
from ..._module import Result
from ..base import SiteSettings, attempt, joined

__all__ = ["apply_goals", "service_state"]


def service_state(goals: Sequence[FlowGoal]) -> str:
    """The wanted state of the service at the target of ``goals``.

    Stored offsets can be removed only while the service is stopped. A service whose flows are all absent keeps its
    state, because it may run other flows.
    """
    if any(goal.offsets == WRITABLE for goal in goals):
        return "stopped"
    return "present" if all(goal.replication == ABSENT for goal in goals) else "started"


def apply_goals(
    site: Callable[[str], CmService],
    pair: PairSpec,
    goals: Sequence[FlowGoal],
    settings: SiteSettings,
    bounds: Bounds,
    check: bool,
) -> Result:
    """Write the lines of all sites, then deploy and restart the services whose configuration is stale.

    srm-control reads the deployed configuration. The site of a flow's target runs the flow. Stored offsets can be read
    in any state of the service, so a goal that only asks for readable offsets needs no call.
    """
    goals = [goal for goal in goals if goal.parts]
    lines = flow_lines(pair, [goal for goal in goals if goal.offsets != WRITABLE])
    targets = dict.fromkeys(pair.flows[goal.flow][1] for goal in goals)
    written = {}
    for alias in targets:
        wanted = Declared(
            properties=settings.properties.get(alias) or {},
            lines={REPLICATION_CONFIGS: lines},
            aliases=list(pair.clusters),
            reason=settings.reason,
        )
        work = partial(reconcile_config, site(alias), wanted, check, lambda _secret: None)
        written[alias] = _named(alias, attempt(work))
    results = list(written.values())
    for alias in targets:
        # If the lines could not be written, a restart would run the old ones.
        if written[alias].failure is None:
            mine = [goal for goal in goals if pair.flows[goal.flow][1] == alias]
            desired = DesiredService(service_state(mine), changed=written[alias].changed)
            results.append(
                _named(alias, attempt(partial(reconcile_service, site(alias).anew(), desired, bounds, check)))
            )
    merged = joined(results)
    merged.extra["not_compared"] = ["the lists of srm-control were not compared"]
    return merged


def _named(alias: str, result: Result) -> Result:
    """Add the alias of the site to each change: the sites have properties of the same names."""
    result.outcomes = [
        replace(outcome, change=replace(outcome.change, name=f"{outcome.change.name} on {alias}"))
        for outcome in result.outcomes
    ]
    return result
