# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of a rehearsal's report: what moved, how long it took, and whether anything is left.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..verdict import NOT_APPLICABLE, PROVEN, REFUTED
from .downtime import phase_spans
from .markup import (
    Html,
    at,
    badge,
    bullets,
    checks_table,
    docs_link,
    duration,
    fold,
    instant,
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
from .timeline import Bar, timeline

__all__ = ["rehearsal_page"]

_FIGURES = {
    "cutover_s": "the moves, from start to end",
    "writes_s": "longest time without a write",
    "reads_s": "longest time in which a group processed no record",
}
Document = Mapping[str, Any]


def rehearsal_page(document: Document) -> str:
    """The whole page. All its content comes from ``document``."""
    arrow = "\N{RIGHTWARDS ARROW}"
    way = f"{document.get('from')} {arrow} {document.get('to')}{' and back' if document.get('back') else ''}"
    head = f"rehearsal {document.get('type')} {way}"
    when: list[object] = ["pair ", document.get("pair"), ", began ", at(document.get("began"))]
    took: list[object] = [", ended ", at(document.get("ended")), ", took ", duration(document.get("seconds"))]
    checks = rows(document.get("checks"))
    proven = sum(row.get("verdict") == PROVEN for row in checks)
    proof: list[object] = [badge(document.get("verdict")), f" evidence: {proven} of {len(checks)} PROVEN"]
    completed = document.get("outcome") == "completed" and document.get("verdict") != REFUTED
    left = [row for row in checks if row.get("verdict") not in (PROVEN, NOT_APPLICABLE)]
    return whole_page(
        f"{document.get('verdict')}: {head}, {document.get('outcome')}",
        page_head(
            head,
            f"Rehearsal {document.get('outcome')}",
            "good" if completed else "bad",
            proof,
            tag("span", *when, *took, class_="faint"),
        ),
        _tiles(document),
        section("What stopped it", *_failure(document)),
        next_section(document),
        section("What is not proven", *(_card(row) for row in left), _not_checked(document)),
        section("Predicted and actual", _figures(document)),
        section("Steps", _steps(document)),
        section("All checks", fold(f"{len(checks)} checks", checks_table(checks)) if checks else ""),
        *(_move(move) for move in rows(document.get("moves"))),
        pager_section(document),
        section("How to read this", tag("p", "Guide: ", docs_link("docs/procedures/rehearse.md"))),
    )


def _tiles(document: Document) -> Html:
    actual = part(document.get("actual"))
    return tiles(
        [
            ("writes stood still", duration(actual.get("writes_s")), "longest time without a write"),
            ("reads stood still", duration(actual.get("reads_s")), "longest time of a group without a record"),
            ("the moves took", duration(actual.get("cutover_s")), ""),
            ("records processed twice", whole(actual.get("rereads")), ""),
        ]
    )


def _card(row: Document) -> Html:
    line = tag("p", badge(row.get("verdict")), " ", tag("strong", row.get("name")), ": ", row.get("reason"))
    return tag("div", line, class_=f"card {tone(row.get('verdict'))}".rstrip())


def _failure(document: Document) -> list[Html]:
    failure = part(document.get("failure"))
    if not failure:
        return []
    where = tag("p", "In ", tag("strong", failure.get("task")), ": ", failure.get("message"))
    return [tag("div", where, class_="card bad")]


def _figures(document: Document) -> Html:
    predicted, actual = part(document.get("predicted")), part(document.get("actual"))
    lines: list[list[object]] = [
        [name, duration(predicted.get(key)), duration(actual.get(key))] for key, name in _FIGURES.items()
    ]
    lines.append(["records processed twice", _at_most(predicted.get("rereads")), whole(actual.get("rereads"))])
    earlier = whole(predicted.get("rehearsals"))
    return Html(
        table(["", "predicted", "actual"], lines, (1, 2))
        + tag("p", "Times are predicted by the median of earlier rehearsals of this kind: ", earlier, class_="faint")
    )


def _at_most(value: object) -> str | None:
    shown = whole(value)
    return None if shown is None else f"at most {shown}"


def _steps(document: Document) -> Html:
    bars = [Bar(span.name, duration(span.seconds) or "", span) for span in phase_spans(document)]
    return timeline(bars, instant(document.get("point_of_no_return")))


def _move(move: Document) -> Html:
    title = f"{move.get('type')} {move.get('from')} \N{RIGHTWARDS ARROW} {move.get('to')}: {move.get('headline')}"
    evidence = tag("p", badge(move.get("verdict")), " evidence: ", part(move.get("evidence")).get("text"))
    checks = rows(move.get("checks"))
    folded = fold(f"{len(checks)} checks", checks_table(checks)) if checks else ""
    return section(title, evidence, _steps(move), folded)


def _not_checked(document: Document) -> Html:
    return bullets(f"not checked: {text}" for text in texts(document.get("not_checked")))
