# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every kind of report that a playbook writes: makes the document and its lines from the facts of its role.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..verdict import UNKNOWN
from .advice import failure_reason
from .change_plan import change_plan, change_plan_lines, rehearsal_changes
from .cutover import cutover_report, report_lines
from .metrics import readiness_metrics
from .plan import cutover_plan
from .readiness import readiness_report
from .rehearsal import rehearsal_lines, rehearsal_note, rehearsal_report
from .status import checkpoint_lines, lease_lines, status_lines

__all__ = ["KINDS", "Document", "audit_result", "document", "fence_result", "rescue_result"]

Facts = Mapping[str, Any]


@dataclass(frozen=True)
class Document:
    """A report."""

    content: dict[str, Any]
    #: The same as lines of text.
    lines: list[str]
    #: The stored part of a rehearsal's report.
    note: dict[str, Any] = field(default_factory=dict)
    #: Metrics of a readiness report; None: this kind has none.
    metrics: str | None = None


def document(kind: str, facts: Facts, now: float, path: str = "") -> Document:
    """The report of ``kind``.

    ``now``: epoch seconds when the run ended or the pair was observed. ``path``: of its page, if it will be written.
    """
    if kind == "cutover":
        return _cutover(facts, now, path)
    return _BUILDERS[kind](facts, now)


def _cutover(facts: Facts, now: float, path: str) -> Document:
    """``planned``: facts of the plan, in check mode; empty: there is no plan."""
    plan = cutover_plan(facts["planned"]) if facts["planned"] else None
    results = {"fence": fence_result(facts["fence"], facts["nameless"]), "rescue": rescue_result(facts["rescue"])}
    report = cutover_report({**facts, **results, "ended": now, "plan": plan})
    return Document(report, report_lines(report, path))


def fence_result(found: Facts | None, nameless: Sequence[str]) -> dict[str, Any] | None:
    """The fence of a cutover, from the result of ``dr_fence``; None: no fence was set.

    ``nameless``: writing applications without a principal, which no fence stops.
    """
    if not found:
        return None
    if found.get("failed"):
        return {"fenced": False, "proven": False, "reason": failure_reason(found, "unknown")}
    reason = f"{found['reason']}; without a principal: {', '.join(nameless)}" if nameless else found["reason"]
    fence = {"fenced": found["fenced"] and not nameless, "proven": found["proven"] and not nameless, "reason": reason}
    # Log ends that were read after the fence was in force (R50).
    return {**fence, "ends": found.get("ends") or {}}


def rescue_result(found: Facts | None) -> dict[str, Any] | None:
    """What a disaster failover still replicated, from the result of ``dr_drain``; None: it did not try."""
    if not found or found.get("skipped"):
        return None
    if found.get("failed"):
        return {"replicated": False, "text": failure_reason(found, "it could not be read")}
    return {"replicated": found["replicated"], "text": found["text"]}


def audit_result(found: Facts) -> dict[str, Any]:
    """What the report of a move holds of the result of ``dr_audit``, also of one that failed."""
    audit = found.get("audit") or {}
    if found.get("failed"):
        everything = ["record-by-record comparison of both clusters"]
        verdict, reason = UNKNOWN, failure_reason(found, "it failed")
        audit = {"text": [], "not_checked": everything}
    else:
        verdict, reason = found["verdict"], found["reason"]
    shown = {key: audit.get(key) for key in ("written_by_flow", "began", "seconds", "records")}
    kept = {"text": audit["text"], "not_checked": audit["not_checked"], "folder": found.get("folder")}
    return {"verdict": verdict, "reason": reason, **kept, **shown}


def _rehearsal(facts: Facts, now: float) -> Document:
    report = rehearsal_report({**facts, "ended": now})
    return Document(report, rehearsal_lines(report), note=rehearsal_note(report))


def _readiness(facts: Facts, now: float) -> Document:
    """``readiness`` and ``lines``: as ``dr_readiness`` returns them. ``run_on``: inventory host of the plays."""
    report = readiness_report(facts)
    return Document(report, list(facts["lines"]), metrics=readiness_metrics(report, now))


def _status(facts: Facts, now: float) -> Document:
    """``status``: as ``dr_status_info`` returns it; ``state``, ``leases`` and ``leaving``: as ``dr_journal`` does;
    ``clients``: of the pair."""
    state, leases, status = facts["state"], facts.get("leases") or [], facts["status"]
    leaving = facts.get("leaving") or []
    report = {
        "schema": "switchback.kafka_dr/status/2",
        "journal": state,
        "leases": leases,
        "leaving": leaving,
        **status,
    }
    clients = facts.get("clients") or []
    lines = status_lines(status, state["active"], state.get("run"), facts.get("run_on") or "", leaving, clients)
    return Document(report, [*lines, *lease_lines(leases, now)])


def _checkpoint(facts: Facts, _now: float) -> Document:
    """``result``: of ``dr_checkpoint``; ``to``: the alias of the cluster that it wrote to."""
    result, to = facts["result"], facts["to"]
    same = ("outcome", "reason", "committed", "rereads", "preexisting_higher_offsets", "left_out")
    report = {
        "schema": "switchback.kafka_dr/checkpoint/2",
        "pair": facts["pair"],
        "to": to,
        **{key: result[key] for key in same},
        "committed_offsets": result["details"],
    }
    return Document(report, checkpoint_lines(result, to))


def _changes(facts: Facts, _now: float) -> Document:
    """``planned``: facts of ``change_plan``; ``rehearsal``: the pair of a rehearsal, whose objects are temporary."""
    own = rehearsal_changes(facts["rehearsal"]) if facts.get("rehearsal") else []
    plan = change_plan({**facts, "changes": own})
    return Document(plan, change_plan_lines(plan))


def _finished(facts: Facts, _now: float) -> Document:
    return Document(dict(facts), lines=[])


_BUILDERS: dict[str, Callable[[Facts, float], Document]] = {
    "rehearsal": _rehearsal,
    "readiness": _readiness,
    "status": _status,
    "checkpoint": _checkpoint,
    "changes": _changes,
    "finished": _finished,
}
#: The kinds of ``dr_report``. ``dr_run`` makes the report of a cutover from its record.
KINDS = tuple(_BUILDERS)
