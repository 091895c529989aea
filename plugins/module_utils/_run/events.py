# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What happens in a run: its record gets the event, and for some events the pair's journal too.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .._core.checks.preflight import run_outlook
from .._core.errors import DrError
from .._core.flows.pair_spec import PairSpec
from .._core.journal.ownership import Claim
from .._core.reports.advice import begun_text, judge, stopped_text
from .._core.reports.cutover import arrival_text
from .._core.reports.documents import audit_result, document
from .._core.reports.page import page
from .._core.reports.page_run import run_page
from .._core.run.events import RunEvent
from .._core.run.facts import report_facts, task_facts
from .._core.run.move import Move
from .._core.run.run import Failure, Run
from .._core.verdict import UNKNOWN
from .._module import Result
from .._pair.journal.events import new_run_id, note
from .._pair.journal.guard import Guard, Held
from .._pair.journal.request import JournalRequest
from .._record import PAGE, RunRecord, unwritable
from .publish import point, publish

__all__ = ["EVENTS", "EventRequest", "happened"]

# A run must be undone even if the controller's disk is full, so these are then kept by this task only.
_MAY_BE_LOST = ("failed", "restarted", "undo_failed", "undone", "hook_ended", "not_stopped", "ended", "reported")


@dataclass(frozen=True)
class EventRequest:
    """The options of ``dr_run``."""

    event: str
    pair: PairSpec
    #: Folder of the record; None: ``begin`` makes it.
    record: Path | None
    #: Folder of the reports, for ``begin``.
    reports: Path | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    #: Id of a run or lease whose process has ended, as the operator has verified.
    take_over: str | None = None
    check: bool = False
    timeout: float = 15.0


@dataclass
class _Work:
    """One event on its way into the record and the journal."""

    request: EventRequest
    record: RunRecord
    run: Run
    warnings: list[str] = field(default_factory=list)
    #: Lines for the operator.
    text: str = ""
    result: Result = field(default_factory=Result)

    def append(self, kind: str, **data: Any) -> None:
        """Append to the record, and let the run follow."""
        event = RunEvent(kind, time.time(), data)
        try:
            self.record.append(event)
        except DrError as error:
            if kind not in _MAY_BE_LOST:
                raise
            self.warnings.append(error.sentence())
            self.run = self.record.read(event)
            return
        self.run = self.record.read()

    def rename(self) -> None:
        """Give the record the id of the run in the journal."""
        self.record = self.record.named(str(self.run.id))
        self.run = self.record.read()

    def show(self) -> None:
        """Write the page of a run that has not ended, for people who watch it."""
        if self.run.id is not None and self.run.ended is None:
            self.put(lambda: run_page(self.run, time.time()))

    def put(self, shown: Callable[[], str]) -> None:
        """Write the page of the run. Applications may be stopped, so nothing about it is a reason to fail."""
        try:
            self.record.show(shown())
        except Exception as error:
            self.warnings.append(f"The page of the run could not be written: {error}")

    def returned(self, step: str, result: Mapping[str, Any]) -> None:
        """Append the result of a step."""
        self.append("returned", step=step, result=result)

    def note(self, event: str, data: Mapping[str, Any] | None = None, **more: Any) -> Result:
        """Append an event of this run to the pair's journal."""
        run, request = self.run, self.request
        held = {"run": run.id, "generation": run.generation, **more}
        return note(
            JournalRequest(
                request.pair, event, dict(data or {}), copies=run.move.copies, timeout=request.timeout, **held
            ),
            request.check,
        )


def happened(request: EventRequest) -> Result:
    """Record the event, and return what the tasks decide by. Also returns that if the event could not be journaled."""
    if request.event == "begin":
        return _begin(request)
    if request.event == "amend":
        return _amend(request)
    if request.record is None:
        raise DrError(
            "bad_option", f'The event "{request.event}" needs the option record.', "Pass the folder of begin."
        )
    record = RunRecord(request.record)
    work = _Work(request, record, record.read())
    failure = None
    try:
        EVENTS[request.event](work)
    except DrError as error:
        failure = error
    if request.event != "report":
        work.show()
    extra = {"run": task_facts(work.run), "record": str(work.record.folder), "text": work.text, **work.result.extra}
    return Result(work.result.outcomes, extra, work.result.requests, work.warnings + work.result.warnings, failure)


def _begin(request: EventRequest) -> Result:
    given, pair = request.data, request.pair
    target = given["target"]
    pair.require_alias(target)
    (source,) = (alias for alias in pair.connections if alias != target)
    move = Move.of({**given["move"], "type": given["type"], "source": source, "target": target})
    began = {"move": move.as_dict(), "options": dict(given["options"]), "check": request.check}
    if request.reports is None:
        raise DrError("bad_option", 'The event "begin" needs the option reports.', "Pass kafka_dr_report_dir.")
    record = RunRecord.create(request.reports, new_run_id(), began)
    return Result(extra={"run": task_facts(record.read()), "record": str(record.folder), "text": ""})


def _amend(request: EventRequest) -> Result:
    """Add a later audit to the report of a move that has none. ``data``: ``run``, and ``result``, of ``dr_audit``.

    Nothing happens without a record of that run here, because another controller may have moved the applications.
    """
    if request.reports is None:
        raise DrError("bad_option", 'The event "amend" needs the option reports.', "Pass kafka_dr_report_dir.")
    unchanged = Result(extra={"made": None})
    try:
        record = RunRecord.of(request.reports, str(request.data["run"]))
        if record is None or not _lacks(run := record.read(), audit_result(request.data["result"])):
            return unchanged
        work = _Work(request, record, run)
        if run.ended is None:
            # The playbook was interrupted, so it ended with its newest event.
            record.append(RunEvent("ended", run.newest))
        _audited(work)
        _report(work)
    except (DrError, OSError) as error:
        why = error.message if isinstance(error, DrError) else error
        unchanged.warnings.append(f"The report of the last move stays as it is: {why}")
        return unchanged
    return Result(extra=work.result.extra, warnings=work.warnings)


def _lacks(run: Run, audit: Mapping[str, Any]) -> bool:
    """Whether the report of the run gains by this audit. One that compared nothing takes no evidence away."""
    if run.outcome != "completed" or not run.move.kind.needs_source:
        return False
    known = UNKNOWN if run.audit is None else run.audit["verdict"]
    return run.audit is None or (known == UNKNOWN != audit["verdict"])


# ---- what is decided


def _judge(work: _Work) -> None:
    """``data``: ``kind``, and what only the tasks know."""
    data, run, move = work.request.data, work.run, work.run.move
    facts = {
        **report_facts(run),
        "state": run.result("journal").get("state") or {},
        "status": run.result("status").get("status") or {},
        "wait": run.options.wait_for_applications,
        "policy": move.policy,
        "groups": list(work.request.pair.groups),
        "anyway": run.options.although_healthy,
        "writing": list(run.unstopped_writers),
        **data,
    }
    if data["kind"] == "at_rest":
        # A flow that is new shows its progress later than the rest.
        flowing = run.attempt("flowing").get("status")
        facts |= {"journal": dict(run.result("journal")), "status": flowing or facts["status"]}
    judgement = judge(data["kind"], facts)
    work.text = str(judgement.get("text") or "")
    work.result.extra["problems"] = list(judgement.get("problems") or [])
    step = {"cutover": "preflight", "disaster": "preflight"}.get(data["kind"], data["kind"])
    work.returned(step, {"judgement": judgement})


def _arrived(work: _Work) -> None:
    work.text = arrival_text(report_facts(work.run))


def _advise(work: _Work) -> None:
    """A controller that was paused may fail on a read of its own first, and must not advise to start the run again."""
    run = work.run
    if run.id is not None and run.passed and not run.undone:
        try:
            _prove(work)
        except DrError as error:
            work.returned("ownership", {"failed": True, "msg": error.sentence(), "error": error.as_dict()})
    run = work.run
    if run.failure is None:
        run = replace(
            run, failure=Failure("unknown", "The record of the run could not be written, so why is not known.")
        )
    work.text = stopped_text(report_facts(run), run.move.run_on)


def _prove(work: _Work) -> None:
    owner, pair = work.run.result("opened").get("owner") or {}, work.request.pair
    claim = Claim.of(owner)
    if claim is None:
        return
    clusters = {alias: one for alias, one in pair.connections.items() if alias in owner["on"]}
    Guard(Held(claim, clusters, pair.name, pair.journal_topic, pair.state_topic, False), work.request.timeout)()


def _report(work: _Work) -> None:
    """Build the report and write it.

    ``data``: ``final``, whether the run has ended; ``planned``, facts of the plan, if any; ``last``, as in
    :func:`.publish`; ``here``, whether this host has the folder of the reports. The report of a large pair has
    megabytes, which then do not travel through Ansible.
    """
    data = work.request.data
    if data.get("final") and work.run.ended is None:
        work.append("ended")
    run, planned = work.run, data.get("planned")
    if planned:
        seen = {"status": run.result("status").get("status") or {}, "forecast": dict(run.result("forecast"))}
        seen |= {"survey": dict(run.survey or {}), "durations": run.result("journal").get("durations") or {}}
        planned = {**planned, **seen, "type": run.move.type, "from": run.move.source, "to": run.move.target}
    record, ended = work.record, run.ended or time.time()
    built = document("cutover", {**report_facts(run), "planned": planned}, ended, str(record.whole / PAGE))
    start = "" if record.folder == record.whole else record.folder.name
    made = {"folder": record.whole.name, "start": start, "newest": record.newest}
    work.result.extra["lines"] = built.lines
    if data.get("final") and not data.get("last"):
        work.append("reported", verdict=built.content["verdict"])
    if data.get("here"):
        short = {key: built.content[key] for key in ("verdict", "outcome", "run")}
        work.result.extra |= {"report": built.content if run.move.rehearsal else short, "made": None}
        try:
            written = publish(record.reports, {"report": built.content, "last": data.get("last"), **made})
        except OSError as error:
            raise unwritable("report", error) from error
        work.warnings += written.pop("warnings")
        work.result.extra |= written
        return
    work.result.extra |= {"report": built.content, "made": made}
    if run.ended is not None and run.id is not None:
        # The report goes to the controller, and this page stays here.
        work.put(lambda: page(built.content) or "")


# ---- the journal


def _open(work: _Work) -> None:
    """Open the run in the journal, or resume an interrupted one: its record gets this start of the playbook too."""
    run, move = work.run, work.run.move
    judgement = run.judgement or {}
    data = {
        "type": move.type,
        "from": move.source,
        "to": move.target,
        "policy": move.policy,
        "drop": list(move.drop),
        "options": run.options.repeated,
        "replaces_passed_run": bool(judgement.get("replaces_passed_run")),
        # A stopped consumer is assigned nothing, and this event is older than the first stop.
        "reads": judgement.get("reads") or {},
    }
    _opened(work, work.note("started", data, take_over=work.request.take_over, new_id=work.record.folder.name))
    work.rename()
    with suppress(OSError):
        point(work.record.reports / "latest", work.record.whole.name)
    if not move.rehearsal:
        clients = [{"name": one.name, "role": one.role} for one in move.applications]
        work.text = begun_text({"run": work.run.journaled, "clients": clients, "run_on": move.run_on})


def _take_over(work: _Work) -> None:
    """Resume an interrupted run in order to take it back. ``data``: its id, as ``run``."""
    _opened(work, work.note("resumed", run=work.request.data["run"], take_over=work.request.take_over, generation=None))
    if not work.request.check:
        work.rename()


def _opened(work: _Work, result: Result) -> None:
    found = result.extra
    outlook = run_outlook(found["state"]["run"], work.run.options.lower, work.run.move.run_on)
    kept: dict[str, Any] = {key: found[key] for key in ("run_id", "owner", "resumed") if key in found}
    # In check mode the run stays as it is.
    outcomes = [] if work.request.check else result.outcomes
    work.result = Result(outcomes, {}, result.requests, result.warnings)
    run = _in_journal(found)
    work.returned("opened", {**kept, **run, "done": sorted(run["phases"]), **outlook})


def _in_journal(found: Mapping[str, Any]) -> dict[str, Any]:
    """``run`` without its phases, which are large, and ``phases``. ``found``: what the journal returned."""
    run = dict(found["state"]["run"])
    return {"phases": run.pop("phases"), "run": run}


def _pass(work: _Work) -> None:
    """Journaled also for a run that could never be undone (replaces_passed_run), so that abandon refuses it."""
    if work.run.passed_at is None:
        work.result = work.note("pnr")
        work.returned("passed", _in_journal(work.result.extra))
        work.result.extra.clear()


def _journaled(kind: str, **data: Any) -> Callable[[_Work], None]:
    def append(work: _Work) -> None:
        work.result = work.note(kind, data)
        work.result.extra.clear()

    return append


def _start_consumers(work: _Work) -> None:
    """A resumed run may find offsets that its own consumers have committed; this event explains them."""
    if not work.run.passed:
        _journaled("phase", phase="start_consumers")(work)


def _undoing(work: _Work) -> None:
    """The cluster being entered may have failed, so one copy of the journal is proof enough from here on."""
    _journaled("undoing")(work)
    work.returned("undoing", {"undoing": True})


def _undone(work: _Work) -> None:
    _journaled("ended", result="undone")(work)
    if work.result.changed:
        work.append("undone")


def _close(work: _Work) -> None:
    """End the last phase, then the run. Later runs predict their duration from the times."""
    work.append("phase", phase=None)
    _journaled("ended", result="completed", times=report_facts(work.run)["times"])(work)
    work.returned("closed", {"closed": True})


# ---- the record alone


def _hook_ended(work: _Work) -> None:
    work.append("hook_ended", **work.request.data)
    hook = work.run.hooks[-1]
    if hook.failure is not None:
        work.text = f"The hook {hook.name} {hook.when} {hook.moment} failed: {hook.failure}"


def _audited(work: _Work) -> None:
    """``data``: the ``result`` of ``dr_audit``."""
    work.append("audited", audit=audit_result(work.request.data["result"]))


def _undo_failed(work: _Work) -> None:
    """``data``: also ``task`` if the undo is the whole playbook."""
    work.append("undo_failed", **work.request.data)
    run = work.run
    if run.failure is not None and "task" in work.request.data:
        restarted = f"The applications were started on {run.move.source} again."
        state = restarted if run.restarted else "Some applications may be stopped."
        text = f"Stopped in '{run.failure.task}': {run.failure.message} {state}"
        work.text = f"{text} Remove the cause, then start the same playbook again."


def _recorded(kind: str) -> Callable[[_Work], None]:
    return lambda work: work.append(kind, **work.request.data)


EVENTS: Mapping[str, Callable[[_Work], None]] = {
    "judge": _judge,
    "open": _open,
    "take_over": _take_over,
    "pass": _pass,
    "start_consumers": _start_consumers,
    "undoing": _undoing,
    "undone": _undone,
    "close": _close,
    "arrived": _arrived,
    "advise": _advise,
    "report": _report,
    "hook_ended": _hook_ended,
    "undo_failed": _undo_failed,
    "audited": _audited,
    **{
        kind: _recorded(kind)
        for kind in (
            "phase",
            "hook_began",
            "not_stopped",
            "failed",
            "restarted",
        )
    },
}
