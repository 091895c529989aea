# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bring the flows of a pair to the goals of one of the pair's states.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..._core.flows.goals import flow_goals
from ..._core.flows.pair_spec import PairSpec
from ..._core.waiting import Bounds
from ..._engines.base import SiteSettings
from ..._engines.opening import open_engine
from ..._module import Result

__all__ = ["FlowsRequest", "bring_flows"]

# Seconds between two observations. A service of a management system takes minutes to restart.
_RESTART_SLEEP = 1.0


@dataclass(frozen=True)
class FlowsRequest:
    """The options of ``dr_flows``."""

    pair: PairSpec
    #: A name of :data:`.STATES`.
    state: str
    #: The alias or flow that the state applies to.
    at: str
    settings: SiteSettings
    #: Seconds within which each flow must be in its state.
    wait_timeout: float
    #: Used instead of ``wait_timeout`` if a change restarts a service.
    restart_timeout: float
    request_timeout: float


def bring_flows(request: FlowsRequest, check: bool) -> Result:
    """Apply the goals of the state."""
    pair = request.pair
    engine = open_engine(pair.connections, pair.naming, {}, request.request_timeout)
    restarts = engine.capabilities.changes_restart
    seconds = engine.capabilities.bound(request.wait_timeout, request.restart_timeout)
    bounds = Bounds(seconds, _RESTART_SLEEP) if restarts else Bounds(seconds)
    result = engine.apply(pair, flow_goals(pair, request.state, request.at), request.settings, bounds, check)
    result.requests = engine.requests
    return result
