# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The barrier of a cutover: connectors stopped, progress final, positions found, and all of it in the journal.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._core.waiting import Bounds
from ..._module import Result
from ..journal.events import note
from ..journal.request import JournalRequest
from .evidence import ahead
from .translation import Translation

__all__ = ["barrier"]


def barrier(params: Mapping[str, Any], check: bool) -> Result:
    """Stop, translate, journal: in this order, and nothing after a failure.

    The checkpoint connector toward the side being entered always stops: MirrorMaker 2's own group sync must not write
    there any more (SOUNDNESS 10). The source connector stops too if the barrier is ``final``.
    """
    wanted = {**params, "barrier": params["final"]}
    # Created first: the settle time of the groups runs while the connectors stop.
    translation = Translation(wanted)
    engine = translation.pair.engine
    seconds = engine.capabilities.bound(params["stop_timeout"], params["restart_timeout"])
    bounds = Bounds(seconds, float(params["wait_sleep"]))
    stopped = engine.stop(params["leave"], params["enter"], params["final"], bounds, check)
    if check or stopped.failure is not None:
        return stopped
    found = translation.run()
    found.outcomes = stopped.outcomes
    if found.failure is None:
        seen = ahead(found.extra["details"]) if params["ahead"] is None else params["ahead"]
        facts = {**found.extra["barrier"], "entered": found.extra["positions"], "ahead": seen}
        found.extra["barrier"] = facts
        noted = note(JournalRequest.of_parts(params, "phase", {"phase": "barrier", "facts": facts}), check)
        found.outcomes = found.outcomes + noted.outcomes
    return found
