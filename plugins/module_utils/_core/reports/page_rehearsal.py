# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of a rehearsal's report: what moved, how long it took, and whether anything is left.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..verdict import UNKNOWN
from .markup import (
    Html,
    at,
    badge,
    bullets,
    checks_table,
    duration,
    part,
    rows,
    section,
    table,
    tag,
    texts,
    whole,
    whole_page,
)

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
    return whole_page(
        f"{document.get('verdict')}: {head}, {document.get('outcome')}",
        tag("h1", badge(document.get("verdict")), f" {head}: {document.get('outcome')}"),
        tag("p", *when, *took, class_="faint"),
        section("What stopped it", *_failure(document)),
        section("Predicted and actual", _figures(document)),
        section("Checks", checks_table(document.get("checks"))),
        section("Steps", _phases(document)),
        *(_move(move) for move in rows(document.get("moves"))),
        section("Not known or not checked", bullets(_open(document))),
    )


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


def _phases(document: Document) -> Html:
    lines = [[row.get("phase"), duration(row.get("seconds"))] for row in rows(document.get("phases"))]
    return table(["step", "took"], lines, (1,))


def _move(move: Document) -> Html:
    title = f"{move.get('type')} {move.get('from')} \N{RIGHTWARDS ARROW} {move.get('to')}: {move.get('outcome')}"
    return section(title, checks_table(move.get("checks")), _phases(move))


def _open(document: Document) -> list[str]:
    unknown = [row for row in rows(document.get("checks")) if row.get("verdict") == UNKNOWN]
    return [
        *(f"{row.get('name')}: {row.get('reason')}" for row in unknown),
        *(f"not checked: {text}" for text in texts(document.get("not_checked"))),
    ]
