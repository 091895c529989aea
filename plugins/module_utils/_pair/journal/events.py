# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The journal of a pair on all its clusters: merged when read, mended and appended when written.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Mapping
from typing import Any

from ..._core.changes import Change, Outcome
from ..._core.checks.history import durations
from ..._core.errors import DrError
from ..._core.journal.cutover_types import CUTOVER_TYPES
from ..._core.journal.events import OF_THE_PAIR, Event, missing_facts
from ..._core.journal.holders import Holder, require_over
from ..._core.journal.run_rules import begin, is_same, require_turn
from ..._core.journal.state import JournalState, Run
from ..._core.waiting import Bounds, wait_until
from ..._kafka.client import Kafka
from ..._module import Result
from ..._process import is_alive, left_behind, myself
from ..connections.clusters import connect_answering, connect_pair
from .copies import Book, JournalCopies, append
from .leases import give_back, leases_of, revoke, take, unfinished_replays, wait_for_lease

__all__ = ["note"]

# A child of a killed run ends with its task.
_ORPHANS = Bounds(120.0, 0.1)
# Longer than any scheduled job holds one (kafka_dr_checkpoint_timeout): one that died is outwaited.
_LEASE_SECONDS = 600.0


def note(params: Mapping[str, Any], check: bool) -> Result:
    """Read the journal and append ``params.event`` (nothing in check mode, nothing for ``read``)."""
    absent = missing_facts(params["event"], params["data"])
    if absent:
        text = f'The event "{params["event"]}" needs {", ".join(absent)} in data, found {sorted(params["data"])}.'
        raise DrError("bad_option", text)
    kafkas = _connect(params)
    # Who notes a phase knows no state topic, and needs none.
    state_topic, pair = params.get("state_topic", ""), params["pair"]
    extra: dict[str, Any] = {"owner": {}}
    held = params.get("held")
    if params.get("lease") and not check:
        # Before the look: a run that begins behind it waits.
        lease = take(kafkas, state_topic, pair, params["lease"], _LEASE_SECONDS, held, params.get("take_over"))
        extra["owner"] = {} if lease is None else {"lease": lease.run}
    book, outcomes = _event(params, kafkas, extra, check)
    if params["event"] in ("read", "started"):
        extra["leases"] = [lease.as_dict() for lease in leases_of(kafkas, state_topic, pair)]
    if params["event"] == "read":
        extra["durations"] = durations(book.events)
        extra["unfinished_replays"] = unfinished_replays(kafkas, state_topic, pair)
    if (params["event"] in ("enabled", "disabled") or params.get("give_back")) and not check:
        give_back(kafkas, state_topic, pair, held)
    if params["event"] == "started" and not check:
        # After the event: a job that begins now sees the run, one that began before is waited for.
        _end_others(params, kafkas, extra)
    if params["event"] in ("started", "resumed") and not check:
        extra["owner"] = _owner(book.state, params["clusters"])
    told = book.state.as_dict()
    # With the name of the pair, a run's own command can be told to whoever reads it.
    told["run"] = told["run"] and {**told["run"], "pair": pair}
    extra.update(state=told, events=len(book.events), missing_on=book.missing)
    requests = [request for kafka in kafkas.values() for request in kafka.requests]
    return Result(outcomes=outcomes, extra=extra, requests=requests)


def _owner(state: JournalState, clusters: Iterable[str]) -> dict[str, Any]:
    """What the playbook hands on to each task with an effect, see the option ``guard``."""
    run = state.run
    if run is None:
        raise ValueError("no run was written")
    token = {"journal": state.created, "epoch": run.epoch, "turn": run.holder_generation}
    return {"run": run.id, "turn": run.holder_generation, "token": token, "on": sorted(clusters)}


def _event(
    params: Mapping[str, Any], kafkas: Mapping[str, Kafka], extra: dict[str, Any], check: bool
) -> tuple[Book, list[Outcome]]:
    """The journal as it is then, and what was or would be written. ``extra`` gets the run."""
    takes = params["event"] in ("started", "resumed") and not check
    copies = JournalCopies(kafkas, params["topic"], params["pair"])
    if params["event"] != "read" and not check:
        copies.open()
    book = copies.look()
    if takes and _outwaited(params, book.state):
        # Its last child may have written one more event: what was read before is not to be acted on.
        seen, book = book.state, copies.look()
        _require_open(seen.run, book.state)

    def decide(now: Book) -> Event | None:
        """Anew, because somebody has written: a run that another one has begun meanwhile is not simply taken."""
        if takes:
            _outwaited(params, now.state)
        return _next_event(params, now.state, now.events, extra)

    before, event = book.state, _next_event(params, book.state, book.events, extra)
    if event is not None and check:
        book = book.with_event(event)
    elif event is not None:
        before, book, event = append(copies, book, event, decide)
    if event is None:
        return book, []
    known, now = _essence(before.as_dict()), _essence(book.state.as_dict())
    change = Change("journal", params["pair"], event.kind, known, now)
    return book, [Outcome(change, "planned" if check else "done")]


def _end_others(params: Mapping[str, Any], kafkas: Mapping[str, Kafka], extra: Mapping[str, Any]) -> None:
    """A run that has just begun, and cannot go on, has touched nothing: it must not be left open.

    A disaster waits for nobody: what holds a lease sees that it was ended before its next effect.
    """
    try:
        if CUTOVER_TYPES[params["data"]["type"]].replaces_interrupted:
            revoke(kafkas, params["state_topic"], params["pair"])
        else:
            wait_for_lease(kafkas, params["state_topic"], params["pair"], params["take_over"])
    except DrError:
        if not extra["resumed"]:
            note({**params, "event": "ended", "run": extra["run_id"], "turn": 0, "data": {"result": "refused"}}, False)
        raise


def _connect(params: Mapping[str, Any]) -> dict[str, Kafka]:
    """Every cluster, but for a run that is taken back: the side being entered may be what it failed for."""
    clusters, timeout = params["clusters"], float(params["request_timeout"])
    back = params["event"] == "undoing" or (params["event"], params["data"].get("result")) == ("ended", "undone")
    return (connect_answering if back else connect_pair)(clusters, timeout)


def _next_event(
    params: Mapping[str, Any], state: JournalState, events: list[Event], extra: dict[str, Any]
) -> Event | None:
    kind, data = params["event"], dict(params["data"])
    if kind == "read" or _already(kind, data, state):
        return None
    if kind in OF_THE_PAIR:
        return Event(state.epoch + 1, 0, "", kind, time.time(), data)
    if kind == "started":
        run_id, epoch, resumed = begin(state, data, time.strftime("%Y%m%dT%H%M%SZ-", time.gmtime()) + _short_id())
        extra.update(run_id=run_id, resumed=resumed)
        if state.run is not None and resumed:
            return _resumed(state.run, events)
        return Event(epoch, 0, run_id, kind, time.time(), {**data, "holder": myself().as_dict()})
    extra.update(run_id=params["run"])
    run = require_turn(state, params["run"], kind, data, params.get("turn"))
    if kind == "resumed":
        return _resumed(run, events)
    # One place is left free: the event whose writing failed may stand on a copy that cannot be read now.
    seq = _next(events, params["run"]) + (kind == "undoing")
    return Event(run.epoch, seq, params["run"], kind, time.time(), data)


def _next(events: list[Event], run: str) -> int:
    """Of the run, not of the journal: an event of the pair in between must not make two events look like one."""
    return 1 + max(event.seq for event in events if event.run == run)


def _resumed(run: Run, events: list[Event]) -> Event | None:
    here = myself()
    if here.pid is not None and Holder.of(run.holder) == here:
        return None
    return Event(run.epoch, _next(events, run.id), run.id, "resumed", time.time(), {"holder": here.as_dict()})


def _outwaited(params: Mapping[str, Any], state: JournalState) -> bool:
    """Whether an interrupted run may be taken over now, its holder and all that it has left behind having ended.

    Raises where it may not (SOUNDNESS 25). Another run than the wanted one is refused later, with its own words.
    """
    run = state.run
    if run is None or not state.interrupted:
        return False
    kind = CUTOVER_TYPES.get(params["data"].get("type") or "")
    takes = kind is not None and kind.replaces_interrupted
    if params["event"] == "started" and not takes and not is_same(run, params["data"]):
        return False
    here, holder = myself(), Holder.of(run.holder)
    near = holder is not None and holder.host == here.host
    require_over(run, here, holder is not None and near and is_alive(holder), params["take_over"])
    if holder is not None and near and holder != here:
        _outwait(holder)
    return True


def _require_open(run: Run | None, now: JournalState) -> None:
    if run is None or now.run is None or not now.interrupted or now.run.id != run.id:
        raise DrError(
            "run_ended",
            f'The run "{run and run.id}" has ended meanwhile: there is nothing to take over.',
            "Start the same playbook again: it looks at what there is now.",
        )


def _outwait(holder: Holder) -> None:
    waited = wait_until(lambda: left_behind(holder), lambda pids: not pids, _ORPHANS)
    if not waited.done:
        raise DrError(
            "run_left_behind",
            f"Process {holder.pid}, which carried out this run, was killed; its children"
            f" {', '.join(map(str, waited.state))} have been at work for another {waited.seconds:.0f} s.",
            "They end with their task. Start the same playbook again then, or end them.",
        )


def _already(kind: str, data: Mapping[str, Any], state: JournalState) -> bool:
    if kind == "enabled":
        here = not data.get("adopted") or state.active == data["active"]
        return here and state.enabled and state.topic_ids == data.get("topic_ids", {})
    if kind == "held":
        return state.held == data.get("held")
    if kind == "adopted":
        # The offsets that it found may have moved since with those of the old connector, which was only stopped.
        known = state.adopted.get(data["flow"], {})
        return known.get("connectors") == data["connectors"] and known.get("offsets_topic") == data.get("offsets_topic")
    return kind == "disabled" and not state.enabled


def _short_id() -> str:
    return uuid.uuid4().hex[:6]


def _essence(state: Mapping[str, Any]) -> dict[str, Any]:
    run = state["run"] or {}
    return {
        "active": state["active"],
        "enabled": state["enabled"],
        "run": run.get("id"),
        "resumed": run.get("resumed", 0),
        "phases": sorted(run.get("phases", {})),
        "ended": run.get("result"),
    }
