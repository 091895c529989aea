# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Outcome and evidence of a cutover: where the applications live, what is proven of it, and what to do next.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from ..cutover_types import CUTOVER_TYPES, needs_source
from ..journal.runs import resume_command
from ..verdict import NOT_APPLICABLE, PROVEN, REFUTED
from .downtime import downtimes
from .markup import duration, figure, part, rows, whole
from .rows import EvidenceRow, Step
from .steps import command, next_step, pager_text

__all__ = ["evidence", "headline", "lost", "next_steps", "pager", "reread", "said", "standstill", "undone_text"]

_HEADLINES = {
    "completed": "MOVED to {to}",
    "already_there": "already on {to}",
    "checked": "CHECKED: nothing was changed",
    "undo_failed": "STOPPED before the point of no return, and the undo failed",
}
# In the evidence, of a check that is open.
_SHORT = {
    "active side": "where the applications live is not proven",
    "run": "the run did not complete",
    "drained": "the drain is not proven",
    "committed_offsets": "committed offsets are not proven",
    "first_write": "first writes were not observed on every topic",
    "groups": "groups were not observed",
    "departure": "groups are not proven to have left the old cluster",
    "fence": "the fence is not proven",
    "records": "records are not proven",
    "loss": "the loss is unknown",
}
_FENCE = (
    "Give each writing application a principal in kafka_dr_clients, run the playbook rights, and set"
    " kafka_dr_fence_logins (docs/security.md). The next move sets the fence."
)


def headline(report: Mapping[str, Any], journal: Mapping[str, Any] | None = None, *, passed: bool = False) -> str:
    """What happened to the applications, in a few words.

    ``journal``: the pair's state before the run, if it was read. ``passed``: the point of no return is passed.
    """
    outcome = str(report.get("outcome"))
    if outcome == "undone":
        text = undone_text(report)
        return f"UNDONE: {text[0].lower()}{text[1:]}"
    if outcome != "failed":
        return _HEADLINES.get(outcome, "The outcome is not known").format_map(report)
    if report.get("run") is not None:
        return "STOPPED after the point of no return" if passed else "STOPPED"
    known = journal or {}
    if known.get("active") == report.get("from") and not known.get("interrupted"):
        return f"STAYED on {report['from']}"
    # An earlier run may have moved some applications, or the journal was never read.
    return "STOPPED before it began"


def undone_text(facts: Mapping[str, Any]) -> str:
    """Where the applications are after an undo, without a final stop. After a disaster, the last probe decides it."""
    left = facts.get("from")
    if needs_source(facts.get("type")):
        return f"The applications are back on {left}"
    seen = rows(facts.get("probes"))[-1:]
    if seen and seen[0].get("answers") is True:
        return f"The applications were started on {left} again, which responds"
    silence = "did not respond" if seen else "was not probed"
    return f"The applications were started on {left} again, but {left} {silence}: they may not work there"


def evidence(
    checks: Sequence[Mapping[str, Any]], report: Mapping[str, Any], fence: Mapping[str, Any] | None
) -> EvidenceRow:
    """How many checks are PROVEN, and how to get the missing evidence. What is REFUTED comes first.

    ``fence``: the run's fence; None: it set none.
    """
    counted = [check for check in checks if check["verdict"] != NOT_APPLICABLE]
    proven = sum(check["verdict"] == PROVEN for check in counted)
    left = [check for check in counted if check["verdict"] != PROVEN]
    left.sort(key=lambda check: check["verdict"] != REFUTED)
    refuted = [check["name"] for check in left if check["verdict"] == REFUTED]
    unset = fence is None and needs_source(report.get("type"))
    short = {**_SHORT, **({"fence": "the fence is not set up"} if unset else {})}
    if report.get("audit") is None:
        short["records"] = "records were not compared"
    others = [short.get(check["name"], check["name"]) for check in left if check["verdict"] != REFUTED]
    text = "; ".join(
        [
            *([f"REFUTED: {', '.join(refuted)}"] if refuted else []),
            f"{proven} of {len(counted)} PROVEN",
            *others,
        ]
    )
    return {
        "proven": proven,
        "of": len(counted),
        "text": text if left or not counted else PROVEN,
        "open": [cast(Any, {**check, "how": _how(check, report, fence)}) for check in left],
    }


def _how(check: Mapping[str, Any], report: Mapping[str, Any], fence: Mapping[str, Any] | None) -> str:
    """How to get the missing evidence of a check."""
    name, refuted, audit = check["name"], check["verdict"] == REFUTED, part(report.get("audit"))
    verify, status = (command(playbook, report) for playbook in ("verify", "status"))
    if name == "records":
        folder = audit.get("folder")
        page = f"See audit.html in {folder}. " if folder else ""
        return page + ("docs/audit.md explains each difference." if refuted else f"Compare the records: {verify}")
    if name == "fence" and not needs_source(report.get("type")):
        return f"When {report['from']} is back, its late records are counted: {command('salvage', report)}"
    if name == "fence" and refuted:
        return f"Find and stop that writer (docs/procedures/report.md), then compare the records: {verify}"
    if name == "fence" and fence and fence.get("proven"):
        # Writing is denied. What is missing is the evidence that nothing was written (R50).
        return f"docs/procedures/report.md names what it needs. Compare the records: {verify}"
    if name == "loss":
        return f"Only {report['from']} knows. When it is back: {command('salvage', report)}"
    return {
        "fence": _FENCE,
        "drained": f"Check that the flow replicates to the end: {status}. Then compare the records: {verify}",
        "committed_offsets": f"The page of the report lists each offset. Compare them: {verify}",
        "first_write": f"If the topic should have writes, check its producers: {status}",
        "groups": f"Check the consumers of these groups: {status}",
        "departure": f"Stop these consumers on {report['from']}, then observe both clusters: {status}"
        if refuted
        else f"Observe the groups on both clusters: {status}",
        "active side": f"Observe both clusters: {status}",
    }.get(name, "See the next step.")


# ---- figures in words ------------------------------------------------------------------------------------------------


def lost(report: Mapping[str, Any]) -> tuple[str, str]:
    """How many records are lost to the applications, never 0 without evidence; and an explanation, or nothing."""
    if not needs_source(report.get("type")):
        bound = whole(part(report.get("loss")).get("records_at_most"))
        until = f"until {report.get('from')} is back"
        return ("not known", until) if bound is None else (f"at most {bound} records", until)
    verdicts = {str(row.get("name")): row.get("verdict") for row in rows(report.get("checks"))}
    skips = part(report.get("skips"))
    least, most = figure(skips.get("at_least")), figure(skips.get("at_most"))
    if verdicts.get("records") == REFUTED:
        return "REFUTED", "the audit names each record"
    if least is None:
        return "not known", ""
    if least or most != 0:
        return f"at least {whole(least)} records", f"at most {whole(most) or 'an unknown number of'} records"
    if verdicts.get("drained") != PROVEN:
        return "not known", "the drain is not proven"
    # A higher committed offset that was kept may skip records which the cluster has.
    if verdicts.get("committed_offsets") not in (PROVEN, NOT_APPLICABLE):
        return "not known", "committed offsets are not proven"
    return "0", ""


def reread(report: Mapping[str, Any]) -> tuple[str, str]:
    """How many records groups read again, and an explanation, or nothing."""
    count = figure(report.get("rereads"))
    return ("not known", "") if count is None else (f"at most {whole(count)} records", "") if count else ("0", "")


def standstill(report: Mapping[str, Any], who: str) -> tuple[str, str]:
    """How long writes or reads stood still, and an explanation."""
    if str(report.get("type")) not in CUTOVER_TYPES:
        return "not known", ""
    for still in downtimes(report):
        if still.who == who:
            if still.whole and still.span is not None:
                taken = duration(still.span.seconds) or "not known"
                return taken, still.text.removeprefix(taken).strip()
            value, _mark, more = still.text.partition("; " if still.text.startswith("not known;") else ": ")
            return value, more
    return "none", "this run stopped no application"


def said(pair: tuple[str, str]) -> str:
    """A figure and its explanation in one line."""
    value, more = pair
    return value if not more else f"{value}: {more}" if value in ("not known", "REFUTED") else f"{value}, {more}"


# ---- next steps ------------------------------------------------------------------------------------------------------


def next_steps(report: Mapping[str, Any]) -> list[Step]:
    """What to do now, the most urgent first: ``text``, and the ``command`` that does it."""
    to, left, outcome = report.get("to"), report.get("from"), report.get("outcome")
    run_on = str(report.get("run_on") or "")
    if outcome == "checked":
        return []
    if outcome not in ("completed", "already_there"):
        if to is None or report.get("type") is None:
            return []
        text = {
            "failed": "Correct the cause, then start again. It continues from the point of no return",
            "undo_failed": "Correct the cause, then start again. It does what is left to do",
        }.get(str(outcome), "Correct the cause, then start again")
        text = "Correct the cause, then start again" if report.get("run") is None else text
        return [{"text": text, "command": resume_command(report, run_on)}]
    steps = []
    if outcome == "already_there" or (needs_source(report.get("type")) and report.get("audit") is None):
        steps.append(next_step("Compare both clusters record by record", "verify", report))
    if not needs_source(report.get("type")):
        guide = "docs/procedures/failover_disaster.md"
        text = f"When {left} is back, list what it never sent, and follow {guide}"
        return [*steps, next_step(text, "salvage", report)]
    steps.append(next_step(f"Check whether {left} could take over", "readiness", report, to=left))
    return steps


def pager(report: Mapping[str, Any], steps: Sequence[Step]) -> str:
    """Five lines for a pager or a chat."""
    proof = part(report.get("evidence"))
    failure = part(report.get("failure"))
    if failure:
        middle = [f"Stopped in '{failure.get('task')}': {failure.get('message')}"]
    else:
        middle = [f"Lost: {said(lost(report))}. Read again: {said(reread(report))}."]
    still = f"Writes stood still: {standstill(report, 'writes')[0]}. Reads: {standstill(report, 'reads')[0]}."
    lines = [
        f"{report.get('headline')} ({report.get('type')}, pair {report.get('pair')}, run {report.get('run')})",
        still,
        *middle,
        f"Evidence: {proof.get('text')}",
    ]
    return pager_text(lines, steps)
