# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run as plain data: what its report and its advice are made from, and what the tasks need of it.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from typing import Any

from ..journal.runs import resume_command, take_back_command
from .run import Failure, Run

__all__ = ["going_on", "report_facts", "task_facts"]


def report_facts(run: Run) -> dict[str, Any]:
    """The facts of a cutover, from which ``cutover_report`` and ``stopped_text`` are made."""
    move, status = run.move, run.attempt("status").get("status") or {}
    return {
        "pair": move.pair,
        "type": move.type,
        "from": move.source,
        "to": move.target,
        "run": run.id,
        "drop": list(move.drop),
        "options": run.options.repeated,
        "outcome": run.outcome,
        "passed": run.passed,
        "generation": run.generation,
        "turned": run.passed_at,
        "journal": run.result("journal").get("state") or {},
        "run_on": move.run_on,
        "rehearsal": move.rehearsal,
        "clusters": {alias: {"bootstrap_servers": servers} for alias, servers in move.bootstrap.items()},
        "judgement": run.judgement,
        "began": run.began,
        "opened": run.opened_at,
        "stopped": {who: run.stopped_at(who) for who in run.move.kind.standstill},
        "times": [
            {"phase": time.name, "began": time.began, "ended": time.ended, "result": "ok"} for time in run.phases
        ],
        "hooks": [
            {
                "name": hook.name,
                "when": hook.when,
                "phase": hook.moment,
                "began": hook.began,
                "ended": hook.ended,
                "failure": hook.failure,
            }
            for hook in run.hooks
            if hook.ended is not None
        ],
        "rereads": run.result("barrier").get("rereads"),
        "details": run.result("barrier").get("details") or [],
        "barrier": run.barrier,
        "arrival": run.attempt("arrival") or None,
        "departure": list(run.departure),
        "other_applications": move.other_applications.as_dict(),
        "undeclared_groups": status.get("undeclared_groups") or [],
        "late_writes": run.late_writes,
        "one_log": move.one_flow_at_a_time,
        "settled": run.settled,
        "audit": run.audit,
        "survey": run.survey,
        "probes": run.probes,
        "lowered": run.result("commit").get("lowered") or 0,
        "kept": run.result("commit").get("kept") or [],
        "rescue": run.attempt("rescue"),
        "fence": run.fence,
        "nameless": move.nameless,
        "unstopped": list(run.unstopped),
        "failure": None if run.failure is None else _failure(run.failure, run),
    }


def _failure(failure: Failure, run: Run) -> dict[str, Any]:
    """``overtaken``: another controller has taken over the run, as its undo found."""
    rows = {"task": failure.task, "message": failure.message, "error": dict(failure.error)}
    ownership = {"ownership": run.attempt("ownership").get("error") or {}} if run.attempt("ownership") else {}
    if failure.undo is None:
        return {**rows, **ownership}
    overtaken = failure.undo_error.get("code") == "run_superseded"
    return {**rows, "undo": failure.undo, "overtaken": overtaken, "restarted": run.restarted, **ownership}


def _owner(run: Run) -> dict[str, Any]:
    """What the guard of each step proves (R31): empty without a run in the journal."""
    owner = dict(run.result("opened").get("owner") or {})
    if not owner:
        return {}
    # The cluster being entered may have failed; and the hooks after the run still need a guard.
    more = {"any_side": bool(run.result("undoing")), "after_end": run.ended is not None}
    return {**owner, **{key: True for key, value in more.items() if value}}


def going_on(run: Run) -> dict[str, Any]:
    """How to go on if the playbook ends here: commands, and since when applications are stopped, in epoch seconds."""
    if run.id is None:
        return {"resume": "", "undo": "", "stopped": {}}
    move = run.move
    journaled = {
        "pair": move.pair,
        "type": move.type,
        "from": move.source,
        "to": move.target,
        "drop": list(move.drop),
        "options": run.options.repeated,
    }
    stopped = {who: at for who in move.kind.standstill if (at := run.stopped_at(who)) is not None}
    undo = "" if run.passed else take_back_command(journaled, move.run_on)
    return {"resume": resume_command(journaled, move.run_on), "undo": undo, "stopped": stopped}


def task_facts(run: Run) -> dict[str, Any]:
    """What the tasks of the roles decide by. Small, because it travels through Ansible."""
    judgement = run.judgement or {}
    return {
        "id": run.id,
        "owner": _owner(run),
        "resumed": run.resumed,
        "seeded": run.seeded,
        "passed": run.passed,
        "already": run.already,
        "problems": list(judgement.get("problems") or []),
        "terms": list(judgement.get("terms") or []),
        "verdict": judgement.get("verdict") or "",
        "text": judgement.get("text") or "",
        # Before the run is open. Each of these two reads rows of the whole pair, for which a downtime has no time.
        "interrupted": run.id is None and bool((run.result("journal").get("state") or {}).get("interrupted")),
        "outcome": run.outcome,
        "ended": run.ended is not None,
        "reported": run.reported,
        "deadline": run.deadline,
        "phases_left": run.phases_left,
        "unneeded": run.unneeded,
        "replicating": run.already and (run.result("status").get("status") or {}).get("verdict") == "PROVEN",
        "loss_lines": list((run.survey or {}).get("loss_lines") or []),
        "rescues": run.rescues,
        "writing": [dict(one) for one in run.unstopped_writers],
        "had_left": run.had_left,
        "failed": run.failure is not None,
        **going_on(run),
        "source": run.move.source,
        "principals": list(run.move.principals),
        "late_principals": list(run.move.late_principals),
        "nameless": run.move.nameless,
        "fences": run.move.may_fence(run.options),
        "copies": list(run.move.copies),
    }
