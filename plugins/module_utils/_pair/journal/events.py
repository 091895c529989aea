# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the journal of a pair from all its clusters, and append events to it.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..._core.changes import Change, Outcome
from ..._core.cutover_types import CUTOVER_TYPES
from ..._core.errors import DrError, one_text
from ..._core.journal.durations import durations
from ..._core.journal.events import OF_THE_PAIR, Event
from ..._core.journal.holders import Holder, require_over
from ..._core.journal.run_rules import begin, is_same, require_holder_generation
from ..._core.journal.state import JournalState, Run
from ..._core.offsets.tenures import flat
from ..._core.waiting import Bounds, wait_until
from ..._kafka.client import Kafka
from ..._module import Result
from ..._process import is_alive, myself, orphans
from ..connections.clusters import connect_answering, connect_pair
from .copies import Book, JournalCopies, append
from .leases import give_back, leases_of, revoke, take, unfinished_replays, wait_for_lease
from .members import members
from .request import JournalRequest

__all__ = ["new_run_id", "note"]

# The child processes of a killed run end when their task ends.
_ORPHANS = Bounds(120.0, 0.1)
# Longer than any scheduled job holds a lease (kafka_dr_checkpoint_timeout): the lease of a dead job expires.
_LEASE_SECONDS = 600.0


@dataclass(frozen=True)
class _Decision:
    """What a request appends to the journal."""

    #: The event; None: nothing.
    event: Event | None
    #: The run that the event belongs to; None: an event of the pair.
    run_id: str | None = None
    #: For ``started``: whether an interrupted run is resumed.
    resumed: bool | None = None


@dataclass(frozen=True)
class _Noted:
    """The result of a request."""

    #: The journal after the event; in check mode, as it would be.
    book: Book
    decision: _Decision
    outcomes: list[Outcome]


def note(request: JournalRequest, check: bool) -> Result:
    """Read the journal and append the event of ``request``. Appends nothing in check mode, or for ``read``."""
    kafkas = _connect(request)
    owner = {} if check else _take_lease(request, kafkas)
    noted = _append(request, kafkas, check)
    extra, warnings = _lists(request, kafkas, noted.book), []
    if request.event == "read":
        membership = members(request.pair, noted.book.state, kafkas)
        extra.update(leaving=membership.texts(), leaving_problem=one_text(membership.problem(), membership.next_step()))
        warnings = membership.notes()
    if not check:
        _end_own_lease(request, kafkas)
        _end_other_leases(request, kafkas, noted.decision)
        owner = _owner(request, noted.book.state) or owner
    extra.update(_described(request, noted), owner=owner)
    requests = [sent for kafka in kafkas.values() for sent in kafka.requests]
    return Result(outcomes=noted.outcomes, extra=extra, requests=requests, warnings=warnings)


def _connect(request: JournalRequest) -> dict[str, Kafka]:
    """Connect to every cluster; to undo a run, only to those that respond, because one of them may be down."""
    connect = connect_answering if request.takes_run_back else connect_pair
    return connect(request.clusters, request.timeout)


# ---- results


def _lists(request: JournalRequest, kafkas: Mapping[str, Kafka], book: Book) -> dict[str, Any]:
    """Return leases, durations and unfinished replays, if the event returns them."""
    place = (request.pair.state_topic, request.pair.name)
    extra: dict[str, Any] = {}
    if request.event in ("read", "started"):
        extra["leases"] = [lease.as_dict() for lease in leases_of(kafkas, *place)]
    if request.event == "read":
        extra["durations"] = durations(book.events)
        extra["unfinished_replays"] = unfinished_replays(kafkas, *place)
    return extra


def _described(request: JournalRequest, noted: _Noted) -> dict[str, Any]:
    book, decision = noted.book, noted.decision
    state = book.state.as_dict()
    # Messages need the name of the pair for the command that resumes the run.
    state["run"] = state["run"] and {**state["run"], "pair": request.pair.name}
    run_id = {} if decision.run_id is None else {"run_id": decision.run_id}
    resumed = {} if decision.resumed is None else {"resumed": decision.resumed}
    return {**run_id, **resumed, "state": state, "events": len(book.events), "missing_on": book.missing}


def _owner(request: JournalRequest, state: JournalState) -> dict[str, Any]:
    """Return what the playbook passes to each task with an effect (option ``guard``); empty if it takes no run."""
    run = state.run
    if not request.takes_run or run is None:
        return {}
    token = {"journal": state.created, "epoch": run.epoch, "holder_generation": run.holder_generation}
    return {"run": run.id, "holder_generation": run.holder_generation, "token": token, "on": sorted(request.clusters)}


# ---- leases


def _take_lease(request: JournalRequest, kafkas: Mapping[str, Kafka]) -> dict[str, Any]:
    """Take the lease of the request. This happens before the journal is read, so that a run that begins later waits."""
    if not request.lease:
        return {}
    place = (request.pair.state_topic, request.pair.name)
    lease = take(kafkas, *place, request.lease, _LEASE_SECONDS, request.held, request.take_over)
    return {} if lease is None else {"lease": lease.run}


def _end_own_lease(request: JournalRequest, kafkas: Mapping[str, Kafka]) -> None:
    if request.event in ("enabled", "disabled") or request.give_back:
        give_back(kafkas, request.pair.state_topic, request.pair.name, request.held)


def _end_other_leases(request: JournalRequest, kafkas: Mapping[str, Kafka], decision: _Decision) -> None:
    """Wait for the leases of other jobs, after ``started`` was appended. A job that begins now reads the run.

    A disaster ends the leases instead of waiting, and their holders notice before their next effect. If a new run
    cannot continue, it is ended, because it has changed nothing.
    """
    if request.event != "started":
        return
    place = (request.pair.state_topic, request.pair.name)
    try:
        if CUTOVER_TYPES[request.data["type"]].replaces_interrupted:
            revoke(kafkas, *place)
        else:
            wait_for_lease(kafkas, *place, request.take_over)
    except DrError:
        if not decision.resumed:
            refused = {"result": "refused"}
            note(replace(request, event="ended", run=decision.run_id, generation=0, data=refused), False)
        raise


# ---- appending


def _append(request: JournalRequest, kafkas: Mapping[str, Kafka], check: bool) -> _Noted:
    takes = request.takes_run and not check
    copies = JournalCopies(kafkas, request.pair.journal_topic, request.pair.name)
    if request.event != "read" and not check:
        copies.open()
    book = copies.observe()
    if takes and _waited_for_holder(request, book.state):
        # The last child process of the former holder may have appended one more event.
        seen, book = book.state, copies.observe()
        _require_open(seen.run, book.state)
    decision = _decide(request, book)

    def decide_again(now: Book) -> Event | None:
        """Decide again after another writer appended. A run that it has begun is not taken over without permission."""
        nonlocal decision
        if takes:
            _waited_for_holder(request, now.state)
        decision = _decide(request, now)
        return decision.event

    before, event = book.state, decision.event
    if event is not None and check:
        book = book.with_event(event)
    elif event is not None:
        before, book, event = append(copies, book, event, decide_again)
    if event is None:
        return _Noted(book, decision, [])
    change = Change("journal", request.pair.name, event.kind, _summary(before), _summary(book.state))
    return _Noted(book, decision, [Outcome(change, "planned" if check else "done")])


def _decide(request: JournalRequest, book: Book) -> _Decision:
    """Return the event that ``request`` appends to ``book``; raise if its run may not append it."""
    kind, data, state = request.event, dict(request.data), book.state
    if kind == "read" or _is_noted(kind, data, state):
        return _Decision(None)
    if kind in OF_THE_PAIR:
        return _Decision(Event(state.epoch + 1, 0, "", kind, time.time(), data))
    if kind == "started":
        return _start(state, book.events, data, request.new_id or new_run_id())
    run_id = str(request.run)
    run = require_holder_generation(state, run_id, kind, data, request.generation)
    if kind == "resumed":
        return _Decision(_resume(run, book.events), run_id)
    # Leave out one number, because a copy that cannot be read now may hold a partly appended event.
    seq = _next_number(book.events, run_id) + (kind == "undoing")
    return _Decision(Event(run.epoch, seq, run_id, kind, time.time(), data), run_id)


def new_run_id() -> str:
    """An id for a run: the time of its start in UTC, and six random digits."""
    return f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{uuid.uuid4().hex[:6]}"


def _start(state: JournalState, events: list[Event], data: dict[str, Any], new_id: str) -> _Decision:
    run_id, epoch, resumed = begin(state, data, new_id)
    if resumed and state.run is not None:
        now = {name: data[name] for name in ("reads", "options") if data.get(name)}
        return _Decision(_resume(state.run, events, now), run_id, True)
    started = {**data, "holder": myself().as_dict()}
    return _Decision(Event(epoch, 0, run_id, "started", time.time(), started), run_id, False)


def _resume(run: Run, events: list[Event], now: Mapping[str, Any] | None = None) -> Event | None:
    """Return the event that takes over ``run``; None: this process already holds it.

    ``now``: what the groups read now (``reads``), which may be more than when the run began, and the ``options`` of the
    playbook that resumes it.
    """
    here = myself()
    if here.pid is not None and Holder.of(run.holder) == here:
        return None
    data = {"holder": here.as_dict(), **(now or {})}
    return Event(run.epoch, _next_number(events, run.id), run.id, "resumed", time.time(), data)


def _next_number(events: list[Event], run: str) -> int:
    """Return the next number in the run. Events of the pair do not count, because they have other numbers."""
    return 1 + max(event.seq for event in events if event.run == run)


def _is_noted(kind: str, data: Mapping[str, Any], state: JournalState) -> bool:
    if kind == "enabled":
        here = not data.get("adopted") or state.active == data["active"]
        joined = (state.topics, state.groups) == (data.get("topics", state.topics), data.get("groups", state.groups))
        ids = (state.topic_ids, state.cluster_ids)
        same = ids == (data.get("topic_ids", {}), data.get("cluster_ids", state.cluster_ids))
        # The ends that the journal lacks.
        return here and joined and state.enabled and same and not data.get("checkpoints")
    if kind == "held":
        return state.held == data.get("held")
    if kind == "adopted":
        # The old connector is only stopped, so its offsets may have changed since they were read.
        known = state.adopted.get(data["flow"], {})
        return known.get("connectors") == data["connectors"] and known.get("offsets_topic") == data.get("offsets_topic")
    if kind == "replayed":
        noted = flat(state.replays.get(data["flow"], {}))
        return all(noted.get(key) == topic_id for key, topic_id in flat(data["partitions"]).items())
    return kind == "disabled" and not state.enabled


def _summary(state: JournalState) -> dict[str, Any]:
    run = state.run
    return {
        "active": state.active,
        "enabled": state.enabled,
        "run": None if run is None else run.id,
        "resumed": 0 if run is None else run.holder_generation,
        "phases": [] if run is None else sorted(run.phases),
        "ended": None if run is None else run.result,
    }


# ---- the former holder of an interrupted run


def _waited_for_holder(request: JournalRequest, state: JournalState) -> bool:
    """Wait until an interrupted run may be taken over: its holder and the holder's child processes have ended.

    Returns False if there is no such run. Raises if it may not be taken over (R25). A run of another type or direction
    is refused later, with its own message.
    """
    run = state.run
    if run is None or not state.interrupted:
        return False
    kind = CUTOVER_TYPES.get(request.data.get("type") or "")
    replaces = kind is not None and kind.replaces_interrupted
    if request.event == "started" and not replaces and not is_same(run, request.data):
        return False
    here, holder = myself(), Holder.of(run.holder)
    near = holder is not None and holder.host == here.host
    require_over(run, here, holder is not None and near and is_alive(holder), request.take_over)
    if holder is not None and near and holder != here:
        _wait_for_children(holder)
    return True


def _require_open(run: Run | None, now: JournalState) -> None:
    if run is None or now.run is None or not now.interrupted or now.run.id != run.id:
        raise DrError(
            "run_ended",
            f'The run "{run and run.id}" has ended meanwhile, so it cannot be taken over.',
            "Start the same playbook again: it checks the current state.",
        )


def _wait_for_children(holder: Holder) -> None:
    waited = wait_until(lambda: orphans(holder), lambda pids: not pids, _ORPHANS)
    if not waited.done:
        raise DrError(
            "run_left_children",
            f"Process {holder.pid}, which executed this run, was killed, but its child processes"
            f" {', '.join(map(str, waited.state))} are still running after {waited.seconds:.0f} s.",
            "They end when their task ends. Then start the same playbook again. Or end them yourself.",
        )
