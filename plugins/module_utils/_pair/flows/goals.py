# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bring the flows of a pair to what they are to do in one of its states.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._core.flows.goals import flow_goals
from ..._core.flows.pair_spec import PairSpec
from ..._core.waiting import Bounds
from ..._engines.base import SiteSettings
from ..._engines.opening import open_engine
from ..._module import Result

__all__ = ["bring_flows"]

# A service of a management system restarts for minutes.
_RESTART_SLEEP = 1.0


def bring_flows(params: Mapping[str, Any], check: bool) -> Result:
    """Apply the goals of ``state``. ``params``: the options of the module ``dr_flows``."""
    pair = PairSpec.of(params["pair"], params["cluster_ids"])
    engine = open_engine(pair.connections, pair.naming, {}, params["request_timeout"])
    restarts = engine.capabilities.changes_restart
    seconds = engine.capabilities.bound(params["wait_timeout"], params["restart_timeout"])
    bounds = Bounds(seconds, _RESTART_SLEEP) if restarts else Bounds(seconds)
    settings = SiteSettings(params["properties"], params["reason"])
    result = engine.apply(pair, flow_goals(pair, params["state"], params["at"]), settings, bounds, check)
    result.requests = engine.requests
    return result
