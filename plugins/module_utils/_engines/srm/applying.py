# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals of flows as lines of Replication Configs and states of the services that run them.

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
from ..._core.flows.goals import ABSENT, WRITABLE, FlowGoal
from ..._core.flows.pair_spec import PairSpec
from ..._core.waiting import Bounds
from ..._module import Result
from ..base import SiteSettings, attempt, joined
from .replication_lines import flow_lines

__all__ = ["apply_goals", "service_state"]


def service_state(goals: Sequence[FlowGoal]) -> str:
    """The state of the service beside the target of ``goals``.

    Stored offsets can be removed only while it is stopped. A site without flows runs on with what else it does.
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
    """Write the lines of every site first, then deploy and restart what is stale (srm-control reads what is deployed).

    A flow ends at the site of its target. Stored offsets are readable in any state, so a goal that asks for nothing
    else needs no call.
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
        # A site whose lines were not taken would run on with the old ones.
        if written[alias].failure is None:
            mine = [goal for goal in goals if pair.flows[goal.flow][1] == alias]
            desired = DesiredService(service_state(mine), changed=written[alias].changed)
            results.append(
                _named(alias, attempt(partial(reconcile_service, site(alias).anew(), desired, bounds, check)))
            )
    whole = joined(results)
    whole.extra["not_compared"] = ["the lists of srm-control were not compared"]
    return whole


def _named(alias: str, result: Result) -> Result:
    """Both sites have the same property: changes say where they are made."""
    result.outcomes = [
        replace(one, change=replace(one.change, name=f"{one.change.name} on {alias}")) for one in result.outcomes
    ]
    return result
