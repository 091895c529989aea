# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of a cutover's report: what happened, what is proven, and what is unknown.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..cutover_types import needs_source
from ..journal.runs import resume_command
from ..offsets.skipped_records import skip_text
from ..verdict import REFUTED, UNKNOWN
from .downtime import TimeSpan, downtimes, phase_spans
from .markup import (
    Html,
    at,
    badge,
    bullets,
    checks_table,
    duration,
    figure,
    loss_table,
    part,
    rows,
    section,
    table,
    tag,
    texts,
    whole,
    whole_page,
)
from .plan import plan_lines

__all__ = ["cutover_page"]

_SHOWN = 200
_PLAN = ("clients", "connectors", "committed_offsets", "rereads", "loss_lines", "predicted")
_OUTCOMES = {
    "completed": "The applications live on {to}.",
    "already_there": "The applications lived on {to} already. Nothing was changed.",
    "checked": "Check mode: nothing was changed.",
    "undone": "The run was undone: the applications are back on {from}.",
    "undo_failed": "The run failed, and so did its undo: check where the applications are.",
    "failed": "The run stopped.",
}
_VERDICTS = {
    "PROVEN": "Every check is proven.",
    "REFUTED": "At least one check failed: see the checks.",
    "UNKNOWN": "No check failed, but not every check is proven: see what is not known.",
}
Document = Mapping[str, Any]


def cutover_page(document: Document) -> str:
    """The whole page. All its content comes from ``document``."""
    names = {key: str(document.get(key) or "not known") for key in ("type", "from", "to", "outcome", "verdict")}
    head = f"{names['type']} {names['from']} \N{RIGHTWARDS ARROW} {names['to']}"
    began, ended = at(document.get("began")), at(document.get("ended"))
    run: list[object] = ["run ", document.get("run"), ", pair ", document.get("pair"), ", began ", began]
    took: list[object] = [", ended ", ended, ", took ", duration(document.get("seconds"))]
    plan = _plan(document)
    return whole_page(
        f"{names['verdict']}: {head}, {names['outcome']}",
        tag("h1", badge(document.get("verdict")), f" {head}: {names['outcome']}"),
        tag("p", _OUTCOMES.get(names["outcome"], "The outcome is not known.").format_map(names)),
        tag("p", _VERDICTS.get(names["verdict"], "The verdict is not known.")),
        tag("p", *run, *took, class_="faint"),
        section("What stopped it", *_failure(document)),
        *([section("What would be done", bullets(plan_lines(plan, names["type"])))] if plan else []),
        section("Warnings", bullets(_warnings(document))),
        section("Times", *_times(document)),
        section("Hooks", _hooks(document)),
        section("Checks", checks_table(document.get("checks"))),
        section("Not known or not checked", bullets(_open(document))),
        section("What may be lost", *_loss(document)),
        section("Committed offsets", *_committed_offsets(document)),
        section("Comparison of both clusters", bullets(texts(part(document.get("audit")).get("text")))),
        _words(),
    )


def _plan(document: Document) -> Mapping[str, Any] | None:
    """The plan of a check run, if the report has one with all of its parts."""
    plan = part(document.get("plan"))
    return plan if all(key in plan for key in _PLAN) else None


# ---- what stopped it, and what to check ------------------------------------------------------------------------------


def _failure(document: Document) -> list[Html]:
    failure = part(document.get("failure"))
    if not failure and document.get("outcome") not in ("failed", "undone", "undo_failed"):
        return []
    error, message = part(failure.get("error")), str(failure.get("message") or "")
    lines = [tag("p", "In ", tag("strong", failure.get("task")), ": ", message or None)]
    # Most failures have the hint in their message.
    if error.get("hint") and str(error["hint"]) not in message:
        lines.append(tag("p", error["hint"]))
    if error.get("code"):
        where = f" at {error['endpoint']}" if error.get("endpoint") else ""
        lines.append(tag("p", f"code {error['code']}{where}", class_="faint"))
    if failure.get("undo"):
        lines.append(tag("p", "The undo stopped as well: ", failure["undo"]))
    return [tag("div", *lines, tag("p", tag("strong", "Next: "), *_next(document)), class_="card bad")]


def _next(document: Document) -> list[object]:
    """The same advice as the playbook's."""
    if document.get("run") is None:
        return ["nothing was changed. Correct the cause, then start the same playbook again."]
    known = isinstance(document.get("type"), str) and document.get("to") is not None
    same = tag("code", resume_command(document)) if known else "the same playbook"
    advice = {
        "undone": "correct the cause, then start again: ",
        "undo_failed": "correct the cause, then start again; the run does what is left to do: ",
        "failed": "the point of no return is passed. Correct the cause, then start again; it continues from there: ",
    }
    return [advice.get(str(document.get("outcome")), "correct the cause, then start again: "), same]


def _warnings(document: Document) -> list[str]:
    found = part(document.get("found_offsets"))
    higher, lowered, rereads = (
        figure(value) for value in (found.get("higher"), document.get("lowered"), document.get("rereads"))
    )
    refuted = [row for row in rows(document.get("checks")) if row.get("verdict") == REFUTED]
    unproven = sum(row.get("quality") == "unproven" for row in rows(document.get("committed_offsets")))
    rescue = part(document.get("rescue")).get("text")
    return [
        *(f"{row.get('name')}: {row.get('reason')}" for row in refuted),
        *([f"{whole(rereads)} records are read again at most"] if rereads else []),
        *(
            [f"{whole(higher)} existing committed offsets were higher: those that are kept may skip records"]
            if higher
            else []
        ),
        *([f"{whole(lowered)} of them were lowered"] if lowered else []),
        *([f"{unproven} offsets may skip records where a record was replicated twice"] if unproven else []),
        *([str(rescue)] if rescue else []),
        *texts(document.get("warnings")),
    ]


def _open(document: Document) -> list[str]:
    checks = rows(document.get("checks"))
    unknown = [row for row in checks if row.get("verdict") == UNKNOWN]
    return [
        *(f"{row.get('name')}: {row.get('reason')}" for row in unknown),
        *([] if checks else ["checks: this report has none"]),
        *(["rereads: how many records are read again"] if document.get("rereads") is None else []),
        *(f"not checked: {text}" for text in texts(document.get("not_checked"))),
    ]


# ---- times -----------------------------------------------------------------------------------------------------------


def _times(document: Document) -> list[Html]:
    spans, still = phase_spans(document), downtimes(document)
    drawn = [*spans, *(one.span for one in still if one.span is not None)]
    if not drawn and not still:
        return [tag("p", "No phase was finished.")]
    lines: list[tuple[str, str, TimeSpan | None, str]] = [(span.name, "", span, _took(span)) for span in spans]
    lines += [(f"no {one.who}", "still" if one.whole else "some", one.span, one.text) for one in still]
    cells = []
    for name, kind, span, text in lines:
        cells += [tag("div", name), tag("div", _bar(span, drawn, kind), class_="track"), tag("div", text)]
    note = "Finished phases, and below them the downtime of the applications according to the phases. " + (
        "The time that an application needs to start is not included: only the applications can measure it."
    )
    return [tag("div", *cells, class_="bars"), tag("p", note, class_="faint")]


def _took(span: TimeSpan) -> str:
    took = duration(span.seconds) or ""
    return took if span.result in (None, "ok") else f"{took}, {span.result}"


def _bar(span: TimeSpan | None, drawn: Iterable[TimeSpan], kind: str) -> Html:
    if span is None:
        return Html("")
    begin, end = min(one.began for one in drawn), max(one.ended for one in drawn)
    length = (end - begin).total_seconds() or 1.0
    left = 100 * (span.began - begin).total_seconds() / length
    style = f"margin-left:{left:.2f}%;width:{100 * span.seconds / length:.2f}%"
    return tag("div", class_=f"bar {kind}".rstrip(), style=style)


def _hooks(document: Document) -> Html:
    lines: list[list[object]] = [
        [
            row.get("name"),
            f"{row.get('when')} {row.get('phase')}",
            duration(row.get("seconds")),
            f"failed: {row['failure']}" if row.get("failure") is not None else "ended well",
        ]
        for row in rows(document.get("hooks"))
    ]
    return table(["hook", "moment", "took", "result"], lines, (2,))


# ---- loss and committed offsets --------------------------------------------------------------------------------------


def _loss(document: Document) -> list[Html]:
    if needs_source(document.get("type")):
        return []
    salvage = (
        "Only the lost cluster knows how much. When it is back, the playbook salvage counts and restores the records."
    )
    return [loss_table(document.get("loss")), tag("p", salvage)]


def _committed_offsets(document: Document) -> list[Html]:
    found, taken = rows(document.get("committed_offsets")), rows(part(document.get("barrier")).get("entered"))
    if found:
        lines = [_row(document, row) for row in sorted(found, key=lambda row: row.get("quality") == "exact")]
    else:
        lines = [_journaled(group, row) for group in taken for row in rows(group.get("committed_offsets"))]
    if not lines:
        return [tag("p", "This report has no committed offsets.")]
    here, there = (str(document.get(key) or "the other cluster") for key in ("from", "to"))
    heads = ["group", "topic", "partition", f"before, on {here}", f"existing, on {there}", f"after, on {there}"]
    more = len(lines) - _SHOWN
    return [
        *([] if found else [tag("p", "From the journal of an interrupted run.", class_="faint")]),
        *_summary(document),
        table([*heads, "quality", "read again at most", "why"], lines[:_SHOWN], (2, 3, 4, 5, 7)),
        tag("p", f"and {more:,} more, in the JSON report") if more > 0 else Html(""),
    ]


def _summary(document: Document) -> list[Html]:
    again = whole(document.get("rereads"))
    checkpoints = whole(document.get("checkpoint_rereads"))
    text = (
        "Read again, at most: ",
        again,
        ". MirrorMaker 2's own checkpoints would have been lower by: ",
        checkpoints,
    )
    lost = skip_text(rows(part(document.get("barrier")).get("skips")))
    return [
        tag("p", *text, ". Those that are not exact come first."),
        *([tag("p", f"Never processed, because the records were gone: {lost}.")] if lost else []),
    ]


def _row(document: Document, row: Document) -> list[object]:
    hazards = texts(row.get("hazards"))
    why = "; ".join([*([str(row["reason"])] if row.get("reason") else []), *hazards])
    return [
        row.get("group"),
        row.get("topic"),
        row.get("partition"),
        _offset(row.get("left")),
        _offset(row.get("existing")),
        _after(document, row),
        row.get("quality"),
        whole(row.get("rereads")),
        why,
    ]


def _after(document: Document, row: Document) -> object:
    """Where the group starts. A higher existing committed offset is kept, unless the run lowered such offsets."""
    passed = {str(phase.get("phase")) for phase in rows(document.get("phases"))}
    if "commit_offsets" not in passed:
        return "not committed"
    offset, there = figure(row.get("offset")), figure(row.get("existing"))
    if offset is None or there is None or there <= offset:
        return _offset(offset)
    lowered = figure(document.get("lowered"))
    return None if lowered is None else _offset(offset) if lowered else f"{there:.0f} (kept)"


def _journaled(group: Document, row: Document) -> list[object]:
    where = [group.get("group"), row.get("topic"), row.get("partition")]
    return [*where, None, None, _offset(row.get("offset")), None, None, ""]


def _offset(value: object) -> str | None:
    number = figure(value)
    return None if number is None else f"{number:.0f}"


def _words() -> Html:
    return section(
        "How to read this",
        tag(
            "p",
            "PROVEN: observed and correct. REFUTED: observed and wrong. UNKNOWN: not observed, which proves nothing."
            " Offsets on the two clusters may differ although all records are equal. Exact: the group continues with"
            " the very next record. Safe: it skips no record, and may read as many records again as are counted.",
        ),
    )
