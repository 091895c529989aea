# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of a cutover's report: what happened, what is proven, and what is unknown.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from ..cutover_types import needs_source
from ..offsets.skipped_records import skip_text
from ..verdict import REFUTED
from .downtime import Still, TimeSpan, downtimes, phase_spans
from .markup import (
    Html,
    at,
    badge,
    bullets,
    checks_table,
    docs_link,
    duration,
    figure,
    fold,
    instant,
    link,
    loss_table,
    next_section,
    page_head,
    pager_section,
    part,
    rows,
    section,
    table,
    tag,
    texts,
    tiles,
    tone,
    whole,
    whole_page,
)
from .outcome import lost, reread, standstill
from .plan import plan_lines
from .timeline import Bar, timeline

__all__ = ["cutover_page", "open_cards"]

_SHOWN = 200
_PLAN = ("clients", "connectors", "committed_offsets", "rereads", "loss_lines", "predicted")
_MOODS = {"completed": "good", "already_there": "good", "checked": "calm"}
_VERDICTS = {
    "PROVEN": "Every check is proven.",
    "REFUTED": "At least one check failed.",
    "UNKNOWN": "No check failed, but not every check is proven.",
}
Document = Mapping[str, Any]


def cutover_page(document: Document) -> str:
    """The whole page. All its content comes from ``document``."""
    words = {key: str(document.get(key) or "not known") for key in ("type", "from", "to", "headline", "verdict")}
    way = f"{words['type']} {words['from']} \N{RIGHTWARDS ARROW} {words['to']}"
    plan = _plan(document)
    return whole_page(
        f"{words['headline']}, {words['verdict']}: {way}",
        _head(document, words, way),
        _tiles(document),
        section("What stopped it", *_failure(document)),
        next_section(document),
        *([section("What would be done", bullets(plan_lines(plan, words["type"])))] if plan else []),
        section("What is not proven", *open_cards(part(document.get("evidence")).get("open")), *_not_checked(document)),
        section("Warnings", bullets(_warnings(document))),
        section("Timeline", *_times(document)),
        section("What may be lost", *_loss(document)),
        section("Committed offsets", *_committed_offsets(document)),
        section("All checks", _checks(document)),
        section("Comparison of both clusters", *_audit(document)),
        section("Hooks", _hooks(document)),
        pager_section(document),
        _words(),
    )


def _head(document: Document, words: Mapping[str, str], way: str) -> Html:
    verdict, evidence = words["verdict"], part(document.get("evidence")).get("text")
    mood = "bad" if verdict == REFUTED else _MOODS.get(str(document.get("outcome")), "bad")
    began, ended = at(document.get("began")), at(document.get("ended"))
    run: list[object] = ["run ", document.get("run"), ", pair ", document.get("pair"), ", began ", began]
    took: list[object] = [", ended ", ended, ", took ", duration(document.get("seconds"))]
    known = _VERDICTS.get(verdict) if evidence == verdict else evidence
    proof: list[object] = [badge(document.get("verdict")), " evidence: ", known]
    return page_head(way, words["headline"], mood, proof, tag("span", *run, *took, class_="faint"))


def _tiles(document: Document) -> Html:
    if document.get("outcome") == "checked":
        return Html("")
    still = [(f"{who} stood still", *standstill(document, who)) for who in ("writes", "reads")]
    if document.get("outcome") != "completed":
        return tiles(still)
    groups = _groups(document)
    exact = sum(group.exact for group in groups)
    barrier = part(document.get("barrier"))
    moved = _moved(barrier)
    # An earlier start of the run may have journaled a barrier without log starts.
    records = (
        [("offsets moved", moved, "records and transaction markers" if moved else "")] if barrier.get("starts") else []
    )
    name = "lost" if needs_source(document.get("type")) else "at risk"
    return tiles(
        [
            *still,
            *records,
            (name, *lost(document)),
            ("read again", *reread(document)),
            ("groups exact", f"{exact} of {len(groups)}" if groups else None, ""),
        ]
    )


def _moved(barrier: Document) -> str | None:
    """Offsets on the cluster being left between log start and log end; None: at least one is unknown."""
    starts, ends = part(barrier.get("starts")), part(barrier.get("ends"))
    total = 0.0
    for topic, partitions in ends.items():
        for partition, end in part(partitions).items():
            low, high = figure(part(starts.get(topic)).get(partition)), figure(end)
            if low is None or high is None:
                return None
            total += high - low
    return whole(total) if ends else None


def open_cards(value: object) -> list[Html]:
    """Checks without proof, with the way to get it."""
    return [
        tag(
            "div",
            tag("p", badge(row.get("verdict")), " ", tag("strong", row.get("name")), ": ", row.get("reason")),
            tag("p", "How to prove it: ", row.get("how")),
            class_=f"card {tone(row.get('verdict'))}".rstrip(),
        )
        for row in rows(value)
    ]


def _not_checked(document: Document) -> list[Html]:
    left = [
        *([] if rows(document.get("checks")) else ["checks: this report has none"]),
        *(["rereads: how many records are read again"] if document.get("rereads") is None else []),
        *(f"not checked: {text}" for text in texts(document.get("not_checked"))),
    ]
    return [bullets(left)]


def _checks(document: Document) -> Html:
    checks = rows(document.get("checks"))
    verdicts = [str(row.get("verdict")) for row in checks]
    counts = [f"{verdicts.count(word)} {word}" for word in dict.fromkeys(verdicts)]
    return fold(f"{len(checks)} checks: {', '.join(counts)}", checks_table(checks)) if checks else Html("")


def _audit(document: Document) -> list[object]:
    audit = part(document.get("audit"))
    folder = str(audit.get("folder") or "")
    page = [tag("p", "Its page: ", link(f"{folder}/audit.html", f"{folder}/audit.html"))] if folder else []
    lines = texts(audit.get("text"))
    return [*(tag("p", line) for line in lines[:1]), *page, fold("Its lines", bullets(lines[1:])) if lines[1:] else ""]


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
    return [tag("div", *lines, class_="card bad")]


def _warnings(document: Document) -> list[str]:
    found = part(document.get("found_offsets"))
    higher, lowered = figure(found.get("higher")), figure(document.get("lowered"))
    unproven = sum(row.get("quality") == "unproven" for row in rows(document.get("committed_offsets")))
    return [
        *(
            [f"{whole(higher)} existing committed offsets were higher: those that are kept may skip records"]
            if higher
            else []
        ),
        *([f"{whole(lowered)} of them were lowered"] if lowered else []),
        *([f"{unproven} offsets may skip records where a record was replicated twice"] if unproven else []),
        *texts(document.get("warnings")),
    ]


# ---- times -----------------------------------------------------------------------------------------------------------


def _times(document: Document) -> list[Html]:
    spans, still = phase_spans(document), downtimes(document)
    bars = [Bar(span.name, _took(span), span) for span in spans]
    bars += [Bar(f"no {one.who}", _stood(one), one.span, "still" if one.whole else "some") for one in still]
    bars += _audit_bar(document)
    drawn = timeline(bars, instant(document.get("point_of_no_return")))
    if not drawn:
        return [tag("p", f"No {one.who}: {one.text}") for one in still]
    note = "Finished phases, and below them the downtime of the applications according to the phases. " + (
        "The time that an application needs to start is not included: only the applications can measure it."
    )
    return [drawn, tag("p", note, class_="faint")]


def _stood(still: Still) -> str:
    """The tiles explain a downtime that is known."""
    return duration(still.span.seconds) or "" if still.whole and still.span is not None else still.text


def _took(span: TimeSpan) -> str:
    took = duration(span.seconds) or ""
    return took if span.result in (None, "ok") else f"{took}, {span.result}"


def _audit_bar(document: Document) -> list[Bar]:
    audit = part(document.get("audit"))
    began, seconds = instant(audit.get("began")), figure(audit.get("seconds"))
    if began is None or seconds is None or not 0 <= seconds < 1e9:
        return []
    span = TimeSpan("audit", began, began + timedelta(seconds=seconds))
    return [Bar("audit", f"{duration(seconds)}, the applications run", span, "good", leads=False)]


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
    rescue = part(document.get("rescue")).get("text")
    return [loss_table(document.get("loss")), tag("p", "Rescue: ", rescue) if rescue else Html(""), tag("p", salvage)]


@dataclass(frozen=True)
class _Group:
    """The committed offsets of one group."""

    name: str
    qualities: tuple[str, ...]
    #: Records read again at most; None: unknown.
    rereads: float | None

    @property
    def exact(self) -> bool:
        """Whether the group continues with the very next record everywhere."""
        return set(self.qualities) == {"exact"}


def _groups(document: Document) -> list[_Group]:
    by_group: dict[str, list[Document]] = {}
    for row in rows(document.get("committed_offsets")):
        by_group.setdefault(str(row.get("group")), []).append(row)
    groups = []
    for name, lines in by_group.items():
        counts = [figure(row.get("rereads")) for row in lines]
        known = [count for count in counts if count is not None]
        rereads = sum(known) if len(known) == len(counts) else None
        groups.append(_Group(name, tuple(str(row.get("quality")) for row in lines), rereads))
    return sorted(groups, key=lambda group: (group.exact, group.name))


def _committed_offsets(document: Document) -> list[Html]:
    found, taken = rows(document.get("committed_offsets")), rows(part(document.get("barrier")).get("entered"))
    if found:
        lines = [_row(document, row) for row in sorted(found, key=lambda row: row.get("quality") == "exact")]
    else:
        lines = [_journaled(group, row) for group in taken for row in rows(group.get("committed_offsets"))]
    if not lines:
        return []
    here, there = (str(document.get(key) or "the other cluster") for key in ("from", "to"))
    heads = ["group", "topic", "partition", f"before, on {here}", f"existing, on {there}", f"after, on {there}"]
    more = len(lines) - _SHOWN
    groups = [
        [group.name, f"{group.qualities.count('exact')} of {len(group.qualities)}", whole(group.rereads)]
        for group in _groups(document)
    ]
    return [
        *([] if found else [tag("p", "From the journal of an interrupted run.", class_="faint")]),
        *_summary(document),
        table(["group", "exact", "read again at most"], groups[:_SHOWN], (1, 2)),
        fold(
            f"{len(lines):,} offsets; those that are not exact come first",
            table([*heads, "quality", "read again at most", "why"], lines[:_SHOWN], (2, 3, 4, 5, 7)),
            tag("p", f"and {more:,} more, in the JSON report") if more > 0 else "",
        ),
    ]


def _summary(document: Document) -> list[Html]:
    checkpoints, found = whole(document.get("checkpoint_rereads")), part(document.get("found_offsets"))
    lost_ = skip_text(rows(part(document.get("barrier")).get("skips")))
    names = {"equal": "equal", "lower": "lower", "higher": "higher", "missing": "none"}
    counts = {name: figure(found.get(key)) for name, key in names.items()}
    already = ", ".join(f"{whole(count)} {name}" for name, count in counts.items() if count)
    return [
        *([tag("p", f"MirrorMaker 2's own checkpoints would be lower by {checkpoints}.")] if checkpoints else []),
        *([tag("p", f"Offsets that were already there, against the translated ones: {already}.")] if already else []),
        *([tag("p", f"Never processed, because the records were gone: {lost_}.")] if lost_ else []),
    ]


def _row(document: Document, row: Document) -> list[object]:
    hazards = texts(row.get("hazards"))
    dropped = [f"its metadata did not go along: {row['metadata_dropped']}"] if row.get("metadata_dropped") else []
    why = "; ".join([*([str(row["reason"])] if row.get("reason") else []), *hazards, *dropped])
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
    guides = ("docs/procedures/report.md", "docs/concepts.md", "docs/audit.md", "docs/troubleshooting.md")
    links: list[object] = ["Guides: "]
    for path in guides:
        links += [docs_link(path), " "]
    return section(
        "How to read this",
        tag(
            "p",
            "PROVEN: observed and correct. REFUTED: observed and wrong. UNKNOWN: not observed, which proves nothing."
            " Offsets on the two clusters may differ although all records are equal. Exact: the group continues with"
            " the very next record. Safe: it skips no record, and may read as many records again as are counted.",
        ),
        tag("p", *links),
    )
