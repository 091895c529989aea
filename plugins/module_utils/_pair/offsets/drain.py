# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The drain of a cutover: wait until everything is replicated and read, then ask the flow to stop.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from contextlib import suppress

from ..._core.errors import DrError
from ..._core.journal.ownership import Claim
from ..._core.journal.reads import Reads, beyond, reads_of
from ..._core.run.run import Run
from ..._core.waiting import Bounds
from ..._kafka.groups import known_committed_offsets
from ..._module import Result
from ..connections.clusters import both
from ..journal.copies import read_state
from ..journal.phases import note_phase
from ..observation.commits_seen import CommitsSeen
from ..observation.pair import Pair
from ..observation.status import StatusRequest, status

__all__ = ["drain"]


def drain(request: StatusRequest, run: Run, check: bool, claim: Claim | None = None) -> Result:
    """Wait as :func:`.status` does. Then ask the flow of the run to stop, unless an application may still write.

    Journals what the groups read on the cluster being left for the run of ``claim``, if the journal does not have it
    yet (R40). Only then it costs a transaction.

    A worker of Kafka Connect takes a second to stop connectors, and the consumers stop meanwhile. This proves nothing:
    the barrier stops the flow again, waits for it, and requires that no record came after.
    """
    leave, enter = run.move.source, run.move.target
    pair = Pair(request.pair, request.flows, request.request_timeout)
    result, known = both(lambda: status(request, pair), lambda: _known(pair, claim))
    reads = beyond(reads_of(result.extra["status"], leave), known)
    # The status has a row for each partition, which every later task of the downtime would carry.
    result.extra = {"waited_s": result.extra["waited_s"]}
    if result.failure is not None:
        return result
    if reads and claim is not None and claim.run and not check:
        result.outcomes = note_phase(request.pair, claim, "drain", {"reads": reads}, request.request_timeout)
    asks = run.move.only_producers_write(run.options) and pair.engine.capabilities.stop_provable
    _asked, seen = both(
        lambda: _ask(pair, leave, enter, result, Bounds(request.request_timeout), check) if asks else None,
        lambda: _seen(pair, leave),
    )
    if seen is not None:
        result.extra["commits_seen"] = seen.as_dict()
    return result


def _known(pair: Pair, claim: Claim | None) -> Reads:
    """Return what the journal has. Empty if it cannot be read: then all is journaled again."""
    with suppress(DrError):
        run = None if claim is None else read_state(pair.kafka, pair.spec).run
        return {} if run is None or claim is None or run.id != claim.run else run.reads
    return {}


def _seen(pair: Pair, leave: str) -> CommitsSeen | None:
    """Return the committed offsets. None: unknown; the barrier then waits for the whole settle time."""
    with suppress(DrError):
        return CommitsSeen.of(known_committed_offsets(pair.kafka[leave], pair.groups))
    return None


def _ask(pair: Pair, leave: str, enter: str, result: Result, bounds: Bounds, check: bool) -> None:
    try:
        asked = pair.engine.stop(leave, enter, True, bounds, check, awaited=())
    except DrError as error:
        asked = Result(failure=error)
    result.outcomes = result.outcomes + asked.outcomes
    if asked.failure is not None:
        result.warnings.append(f"The flow could not be asked to stop early. {asked.failure.message}")
