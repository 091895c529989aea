# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of a readiness report: what stands in the way of a move, and what it would cost.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .markup import (
    Html,
    at,
    badge,
    bullets,
    duration,
    figure,
    loss_table,
    part,
    rows,
    section,
    table,
    tag,
    texts,
    tone,
    whole,
    whole_page,
)

__all__ = ["readiness_page"]

_WAYS = {"controlled": "controlled cutover", "disaster": "disaster"}
_TYPES = ("cutoff", "continuous", "disaster")
# Answers that need attention come first. SKIPPED ones depend on those.
_ORDER = ("NO", "UNKNOWN", "ACCEPTED", "SKIPPED")
_OBSERVATIONS = 20
# Set in the chart itself and readable on light and on dark: e-mail programs and printers do not apply styles.
_COLOURS = {"YES": "#2ea043", "NO": "#d1242f"}
_YELLOW, _BLUE = "#bf8700", "#4493f8"
Document = Mapping[str, Any]


def readiness_page(document: Document) -> str:
    """The whole page. All its content comes from ``document``."""
    checks = rows(document.get("checks"))
    names = f"{_word(document, 'from')} \N{RIGHTWARDS ARROW} {_word(document, 'to')}"
    answers = ", ".join(f"{_word(document, way)} for a {name}" for way, name in _WAYS.items())
    return whole_page(
        f"Readiness {names}: {answers}",
        tag("h1", f"Could the applications move now? {names}"),
        *(tag("p", badge(document.get(way)), f" for a {name}") for way, name in _WAYS.items()),
        tag("p", "pair ", document.get("pair"), ", observed at ", at(document.get("at")), class_="faint"),
        tag("p", _counted(checks), class_="faint"),
        section("What stands in the way", *_open(checks)),
        section(
            "What a move now would cost",
            _rereads(document.get("rereads")),
            loss_table(document.get("loss")),
            _words_of(document),
        ),
        section("How long a run took", _durations(document.get("durations"))),
        section(
            "The latest observations",
            bullets(texts(document.get("trend"))),
            *_observations(rows(document.get("observations"))),
        ),
        section("All checks", _checks(checks)),
        _words(),
    )


def _word(document: Document, key: str) -> str:
    return str(document.get(key) or "not known")


def _counted(checks: Sequence[Document]) -> str:
    answers = [str(row.get("answer")) for row in checks]
    counts = [f"{answers.count(answer)} {answer}" for answer in ("YES", *_ORDER) if answer in answers]
    return f"{len(checks)} checks: {', '.join(counts)}" if checks else "this report has no checks"


def _open(checks: Sequence[Document]) -> list[Html]:
    """Every check that is not YES, with any other answer."""
    rank = {answer: place for place, answer in enumerate(_ORDER)}
    found = [row for row in checks if row.get("answer") != "YES"]
    found.sort(key=lambda row: rank.get(str(row.get("answer")), 0))
    if checks and not found:
        return [tag("p", "Nothing: every check is YES.")]
    return [_card(row) for row in found]


def _card(row: Document) -> Html:
    remedy = row.get("remedy")
    return tag(
        "div",
        tag("p", badge(row.get("answer")), " ", tag("strong", row.get("name")), " ", row.get("asks")),
        tag("p", "Found: ", row.get("found")),
        tag("p", "What to do: ", remedy) if remedy else "",
        tag("p", "counts for: ", ", ".join(texts(row.get("counts"))) or None, class_="faint"),
        class_=f"card {tone(row.get('answer'))}".rstrip(),
    )


def _rereads(value: object) -> Html:
    """By group. A way that could not be observed is shown as not known for each group."""
    by_way = {way: part(part(value).get(way)) for way in _WAYS}
    groups = sorted({str(group) for counts in by_way.values() for group in counts})
    if not groups:
        return tag("p", "Records read again, by group: ", None)
    lines = [[group, *(whole(by_way[way].get(group)) for way in _WAYS)] for group in groups]
    heads = ["group", *(f"read again at most, {name}" for name in _WAYS.values())]
    return table(heads, lines, (1, 2))


def _words_of(document: Document) -> Html:
    lag = tag("p", "The flow lags behind by: ", duration(document.get("lag_s")))
    return Html(lag + bullets(texts(document.get("cost"))))


def _durations(value: object) -> Html:
    """Time from the journaled start to the end of completed runs, which is longer than the applications' downtime."""
    found = part(value)
    kinds = list(dict.fromkeys([*_TYPES, *map(str, found)]))
    lines = []
    for kind in kinds:
        one = part(found.get(kind))
        lines.append([kind, duration(one.get("last")), duration(one.get("median")), whole(one.get("runs"))])
    note = tag(
        "p", "Completed runs without interruption, from the journal. The applications' downtime is a part of it."
    )
    return Html(note + table(["type", "last", "median", "runs"], lines, (1, 2, 3)))


def _observations(observations: Sequence[Document]) -> list[Html]:
    if not observations:
        return []
    lines = [
        [
            at(observation.get("at")),
            *(badge(observation.get(way)) for way in _WAYS),
            duration(observation.get("lag_s")),
            whole(observation.get("loss_records")),
            whole(observation.get("rereads")),
            ", ".join(texts(observation["named"])) if "named" in observation else None,
        ]
        for observation in reversed(observations[-_OBSERVATIONS:])
    ]
    heads = ["at", *_WAYS, "lag", "lost at most", "read again at most", "in the way"]
    more = len(observations) - len(lines)
    return [
        _strip(observations),
        table(heads, lines, (3, 4, 5)),
        tag("p", f"and {more:,} earlier ones", class_="faint") if more > 0 else Html(""),
    ]


def _strip(observations: Sequence[Document]) -> Html:
    """A column for each observation: the answers above, the flow's lag below, with a gap if the lag is unknown."""
    width, height, top = 760.0, 90.0, 30.0
    step = width / len(observations)
    shapes = []
    for place, observation in enumerate(observations):
        for line, way in enumerate(_WAYS):
            shapes.append(_box(place * step, 2 + line * 13, step, _COLOURS.get(str(observation.get(way)), _YELLOW)))
    lags = [figure(observation.get("lag_s")) for observation in observations]
    most = max((lag for lag in lags if lag is not None), default=0.0) or 1.0
    points = [
        None if lag is None else ((place + 0.5) * step, height - 4 - (height - top - 8) * max(0.0, lag) / most)
        for place, lag in enumerate(lags)
    ]
    shapes += [
        tag("polyline", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in run), fill="none", stroke=_BLUE)
        for run in _runs(points)
    ]
    shapes += [tag("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=2, fill=_BLUE) for x, y in filter(None, points)]
    known = [lag for lag in lags if lag is not None]
    legend = f"{len(observations)} observations, the newest on the right. Upper line: controlled cutover, lower line:"
    legend += " disaster (green YES, red NO, yellow UNKNOWN). Curve: the flow's lag in seconds, "
    legend += f"{max(known):.1f} at the top." if known else "not known."
    chart = tag(
        "svg",
        *shapes,
        view_box=f"0 0 {width:.0f} {height:.0f}",
        role="img",
        aria_label="answers and lag of each observation",
    )
    return Html(tag("p", legend, class_="faint") + chart)


def _box(x: float, y: float, width: float, colour: str) -> Html:
    gap = min(1.0, width / 5)
    return tag("rect", x=f"{x:.2f}", y=f"{y:.0f}", width=f"{width - gap:.2f}", height=11, fill=colour)


def _runs(points: Sequence[tuple[float, float] | None]) -> list[list[tuple[float, float]]]:
    """Runs of at least two known neighbours: no line is drawn across an unknown value."""
    found: list[list[tuple[float, float]]] = [[]]
    for point in points:
        if point is None:
            found.append([])
        else:
            found[-1].append(point)
    return [run for run in found if len(run) > 1]


def _checks(checks: Sequence[Document]) -> Html:
    lines = [
        [
            badge(row.get("answer")),
            row.get("name"),
            row.get("asks"),
            ", ".join(texts(row.get("counts"))) or None,
            row.get("found"),
        ]
        for row in checks
    ]
    return table(["answer", "check", "asks", "counts for", "found"], lines)


def _words() -> Html:
    return section(
        "How to read this",
        tag(
            "p",
            "YES: every check that counts is YES or ACCEPTED. NO: at least one of them is NO. UNKNOWN: something could"
            " not be observed. SKIPPED: it depends on another check that is not YES. Records read again and records"
            " lost are bounds, not promises.",
        ),
    )
