# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The journal of a pair on all its clusters: merged when read, mended and appended when written.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from typing import Any

from .._core.changes import Change, Outcome
from .._core.errors import DrError
from .._core.holders import Holder, require_over
from .._core.journal import DISASTER, Event, State, begin, fold, is_same, merge, missing_facts
from .._core.waiting import Bounds, wait_until
from .._kafka.client import Kafka
from .._kafka.journal import Appender, read
from .._kafka.topics import describe, log_ranges
from .._module import Result
from .._process import is_alive, left_behind, myself
from .clusters import connect_pair, on_each
from .leases import leases_of, unfinished_replays, wait_for_lease

__all__ = ["note", "read_copy"]

# A writer that died leaves its transaction open for its time-out (15 s) and the broker's round after it (10 s).
_UNDECIDED = Bounds(40.0, 0.05)
# A child of a killed run ends with its task.
_ORPHANS = Bounds(120.0, 0.1)
# Longer than any scheduled job holds one (kafka_dr_checkpoint_timeout): one that died is outwaited.
_LEASE_SECONDS = 600.0


def note(params: Mapping[str, Any], check: bool) -> Result:
    """Read the journal and append ``params.event`` (nothing in check mode, nothing for ``read``)."""
    topic, pair = params["topic"], params["pair"]
    absent = missing_facts(params["event"], params["data"])
    if absent:
        text = f'The event "{params["event"]}" needs {", ".join(absent)} in data, found {sorted(params["data"])}.'
        raise DrError("bad_option", text, "Nothing was changed.")
    kafkas = connect_pair(params["clusters"], float(params["request_timeout"]))
    writes = params["event"] != "read" and not check
    appenders = on_each(kafkas, lambda alias: Appender(kafkas[alias], topic, pair)) if writes else {}

    def look() -> tuple[dict[str, list[Event] | None], list[Event], State]:
        copies = on_each(kafkas, lambda alias: read_copy(kafkas[alias], topic, pair))
        events = merge(copy for copy in copies.values() if copy is not None)
        return copies, events, fold(events)

    copies, events, state = look()
    if params["event"] in ("started", "resumed") and not check and _outwaited(params, state):
        # Its last child may have written one more event: what was read before is not to be acted on.
        seen, (copies, events, state) = state, look()
        _require_open(seen.run, state)
    missing = sorted(alias for alias, copy in copies.items() if copy is None)
    extra: dict[str, Any] = {"missing_on": missing}
    outcomes: list[Outcome] = []
    event = _next_event(params, state, events, extra)
    if params["event"] in ("read", "started"):
        extra["leases"] = [lease.as_dict() for lease in leases_of(kafkas, params["state_topic"], pair)]
    if params["event"] == "read":
        extra["unfinished_replays"] = unfinished_replays(kafkas, params["state_topic"], pair)
    if event is not None:
        if missing and not check:
            raise DrError(
                "journal_missing",
                f'The journal topic "{topic}" does not exist on {", ".join(missing)}.',
                "Run the playbook enable: it creates the topic. Nothing was changed.",
            )
        before = state.as_dict()
        events.append(event)
        state = fold(events)
        if not check:
            _write(appenders, copies, events)
        change = Change("journal", pair, event.kind, _essence(before), _essence(state.as_dict()))
        outcomes.append(Outcome(change, "planned" if check else "done"))
    if params["event"] == "started" and not check and params["data"]["type"] != DISASTER:
        # Behind the event: a scheduled job that begins now sees the run, one that began before is waited for.
        wait_for_lease(kafkas, params["state_topic"], pair, _LEASE_SECONDS)
    extra.update(state=state.as_dict(), events=len(events))
    requests = [request for kafka in kafkas.values() for request in kafka.requests]
    return Result(outcomes=outcomes, extra=extra, requests=requests)


def read_copy(kafka: Kafka, topic: str, pair: str) -> list[Event] | None:
    """The events of one copy; None: the topic does not exist.

    A commit is acknowledged before its marker is in the log: a reader in that moment would miss the newest events, and
    a run would number its next one like the last. So everything below the true end must be decided first.
    """
    if describe(kafka, [topic])[topic] is None:
        return None
    place = (topic, 0)
    high = log_ranges(kafka, {place}, "read_uncommitted")[place][1]
    settled = wait_until(
        lambda: log_ranges(kafka, {place}, "read_committed")[place], lambda span: span[1] >= high, _UNDECIDED
    )
    if not settled.done:
        raise DrError(
            "journal_busy",
            f'The journal "{topic}" ends at {high}, but a transaction is open from {settled.state[1]} on.',
            "Another run is writing, or one died: the broker ends its transaction after a while. Start again then.",
            kafka.bootstrap_servers,
        )
    return read(kafka, topic, pair, settled.state)


def _next_event(params: Mapping[str, Any], state: State, events: list[Event], extra: dict[str, Any]) -> Event | None:
    kind, data = params["event"], dict(params["data"])
    if kind == "read" or _already(kind, data, state):
        return None
    if kind in ("enabled", "disabled", "replaced", "held"):
        return Event(state.epoch + 1, 0, "", kind, time.time(), data)
    if kind == "started":
        run_id, epoch, resumed = begin(state, data, time.strftime("%Y%m%dT%H%M%SZ-", time.gmtime()) + _short_id())
        extra.update(run_id=run_id, resumed=resumed)
        if not resumed:
            return Event(epoch, 0, run_id, kind, time.time(), {**data, "holder": myself().as_dict()})
        return _resumed(state, events, run_id)
    extra.update(run_id=params["run"])
    if state.run is None or state.run["id"] != params["run"]:
        found = "none" if state.run is None else state.run["id"]
        raise DrError(
            "run_superseded",
            f'The run "{params["run"]}" is not the journal\'s current one, found "{found}".',
            "Another run has taken over this pair. This one must not go on.",
        )
    if kind == "resumed":
        _require_open(state.run, state)
        return _resumed(state, events, params["run"])
    return Event(int(state.run["epoch"]), _next(events, params["run"]), params["run"], kind, time.time(), data)


def _next(events: list[Event], run: str) -> int:
    """Of the run, not of the journal: an event of the pair in between must not make two events look like one."""
    return 1 + max(event.seq for event in events if event.run == run)


def _resumed(state: State, events: list[Event], run_id: str) -> Event | None:
    here, epoch = myself(), int((state.run or {})["epoch"])
    if here.pid is not None and Holder.of((state.run or {}).get("holder")) == here:
        return None
    return Event(epoch, _next(events, run_id), run_id, "resumed", time.time(), {"holder": here.as_dict()})


def _outwaited(params: Mapping[str, Any], state: State) -> bool:
    """Whether an interrupted run may be taken over now, its holder and all that it has left behind having ended.

    Raises where it may not (SOUNDNESS 25). Another run than the wanted one is refused later, with its own words.
    """
    run = state.run
    if run is None or not state.interrupted:
        return False
    takes = params["data"].get("type") == DISASTER
    if params["event"] == "started" and not takes and not is_same(run, params["data"]):
        return False
    here, holder = myself(), Holder.of(run.get("holder"))
    near = holder is not None and holder.host == here.host
    silent = time.time() - (state.last.time if state.last else 0.0)
    require_over(run, here, holder is not None and near and is_alive(holder), silent, params["take_over"])
    if holder is not None and near and holder != here:
        _outwait(holder)
    return True


def _require_open(run: Mapping[str, Any] | None, now: State) -> None:
    if run is None or now.run is None or not now.interrupted or now.run["id"] != run["id"]:
        raise DrError(
            "run_ended",
            f'The run "{(run or {}).get("id")}" has ended meanwhile: there is nothing to take over.',
            "Start the same playbook again: it looks at what there is now. Nothing was changed.",
        )


def _outwait(holder: Holder) -> None:
    waited = wait_until(lambda: left_behind(holder), lambda pids: not pids, _ORPHANS)
    if not waited.done:
        raise DrError(
            "run_left_behind",
            f"Process {holder.pid}, which carried out this run, was killed; its children"
            f" {', '.join(map(str, waited.state))} have been at work for another {waited.seconds:.0f} s.",
            "They end with their task. Start the same playbook again then, or end them. Nothing was changed.",
        )


def _already(kind: str, data: Mapping[str, Any], state: State) -> bool:
    if kind == "enabled":
        here = not data.get("adopted") or state.active == data["active"]
        return here and state.enabled and state.topic_ids == data.get("topic_ids", {})
    if kind == "held":
        return state.held == data.get("held")
    return kind == "disabled" and not state.enabled


def _short_id() -> str:
    return uuid.uuid4().hex[:6]


def _write(appenders: Mapping[str, Appender], copies: Mapping[str, list[Event] | None], events: list[Event]) -> None:
    def write(alias: str) -> None:
        have = {(event.epoch, event.seq, event.run) for event in copies[alias] or []}
        # Also what this copy missed while its cluster was away.
        wanted = [event for event in events if (event.epoch, event.seq, event.run) not in have]
        appenders[alias].append(wanted)

    on_each(appenders, write)


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
