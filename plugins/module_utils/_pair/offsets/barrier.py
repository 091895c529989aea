# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The barrier of a cutover: stop the connectors, translate the committed offsets, and journal the result.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from ..._core.errors import DrError
from ..._core.journal.run_rules import require_holder
from ..._core.waiting import Bounds
from ..._module import Result
from ..connections.clusters import both
from ..journal.phases import note_phase
from ..observation.pair import Pair
from .evidence import by_group, preexisting_higher_offsets
from .requests import BarrierRequest
from .translation import FirstObservation, Translation

__all__ = ["barrier"]

# Seconds between two observations, because the applications are stopped meanwhile.
_STEP = 0.05


def barrier(request: BarrierRequest, check: bool) -> Result:
    """Stop, translate, journal, in this order; a failure ends it.

    Always stops the checkpoint connector toward the cluster being entered, because MirrorMaker 2's own group sync must
    not write there any more (R10). Also stops the source connector if the barrier is ``final`` and the engine can prove
    a stop.
    """
    pair = Pair(request.pair, request.pair.flows.values(), request.request_timeout)
    # Read first: the settle time of the groups runs while the connectors stop.
    first = FirstObservation(pair)
    claim = request.claim
    run = require_holder(first.state, claim.run or "", claim.holder_generation, after_end=False)
    wanted = request.translation(run)
    for alias in (wanted.leave, wanted.enter):
        request.pair.require_alias(alias)
    bounds = Bounds(pair.engine.capabilities.bound(request.stop_timeout, request.restart_timeout), _STEP)
    translation = Translation(wanted, first)
    # The last consumers leave while the connectors stop.
    stopped, active = both(
        lambda: pair.engine.stop(wanted.leave, wanted.enter, request.final, bounds, check),
        lambda: None if check else _active(translation),
    )
    stopped.failure = stopped.failure or active
    if check or stopped.failure is not None:
        return stopped
    result = translation.run()
    result.outcomes = stopped.outcomes
    result.warnings = [*stopped.warnings, *result.warnings]
    if result.failure is None:
        # A resumed run has committed offsets itself since it first reached the barrier.
        known = run.phases.get("barrier", {}).get("preexisting_higher_offsets")
        higher = preexisting_higher_offsets(result.extra["details"]) if known is None else known
        facts = {
            **result.extra["barrier"],
            **translation.bound,
            "entered": by_group(result.extra["details"], metadata=False),
            "preexisting_higher_offsets": higher,
        }
        result.extra["barrier"] = facts
        result.outcomes = result.outcomes + note_phase(request.pair, claim, "barrier", facts, request.request_timeout)
    return result


def _active(translation: Translation) -> DrError | None:
    """Wait for the members, and return why they did not leave: it must not hide what became of the connectors."""
    try:
        translation.wait_for_members()
    except DrError as error:
        return error
    return None
