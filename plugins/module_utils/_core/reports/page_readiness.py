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
    docs_link,
    duration,
    figure,
    fold,
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

__all__ = ["readiness_page"]

_WAYS = {"controlled": "controlled cutover", "disaster": "disaster"}
_TYPES = ("cutoff", "continuous", "disaster")
# Answers that need attention come first. SKIPPED ones depend on those.
_ORDER = ("NO", "UNKNOWN", "ACCEPTED", "SKIPPED")
_OBSERVATIONS = 20
_COLOURS = {"YES": "good", "NO": "bad"}
Document = Mapping[str, Any]


def readiness_page(document: Document) -> str:
    """The whole page. All its content comes from ``document``."""
    checks = rows(document.get("checks"))
    names = f"{_word(document, 'from')} \N{RIGHTWARDS ARROW} {_word(document, 'to')}"
    answers = ", ".join(f"{_word(document, way)} for a {name}" for way, name in _WAYS.items())
    both = {_word(document, way) for way in _WAYS}
    mood = "bad" if "NO" in both else "good" if both == {"YES"} else "open"
    observed = tag("span", "pair ", document.get("pair"), ", observed at ", at(document.get("at")), class_="faint")
    return whole_page(
        f"Readiness {names}: {answers}",
        page_head(
            "readiness",
            f"Could the applications move now? {names}",
            mood,
            *([badge(document.get(way)), f" for a {name}"] for way, name in _WAYS.items()),
            observed,
            tag("span", _counted(checks), class_="faint"),
        ),
        _tiles(document),
        next_section(document),
        section("What stands in the way", *_open(checks)),
        section(
            "What a move now would cost",
            _objectives(rows(document.get("objectives"))),
            _rereads(document.get("rereads")),
            loss_table(document.get("loss")) if part(document.get("loss")) else "",
            bullets(texts(document.get("cost"))),
        ),
        section("How long a run took", _durations(document.get("durations"))),
        section(
            "The latest observations",
            bullets(texts(document.get("trend"))),
            *_observations(rows(document.get("observations"))),
        ),
        section("All checks", fold(_counted(checks), _checks(checks)) if checks else ""),
        pager_section(document),
        _words(),
    )


def _tiles(document: Document) -> Html:
    """What a move would cost, right under the answer. The sums over all groups are not known if one of them is not."""
    loss, durations = part(document.get("loss")), part(document.get("durations"))
    known = [(kind, figure(part(durations.get(kind)).get("median"))) for kind in _TYPES]
    taken = ", ".join(f"{kind} {duration(seconds)}" for kind, seconds in known if seconds is not None)
    lost = whole(loss.get("records_at_most"))
    return tiles(
        [
            *((f"read again, {name}", _sum(document, way), "records at most") for way, name in _WAYS.items()),
            ("at risk in a disaster", lost, f"records at most; {_age(loss)}"),
            ("replication lags by", duration(document.get("lag_s")), "the flow to the idle cluster"),
            ("a run took", taken or None, "median of completed runs"),
        ]
    )


def _sum(document: Document, way: str) -> str | None:
    counts = part(part(document.get("rereads")).get(way))
    known = [figure(count) for count in counts.values()]
    numbers = [count for count in known if count is not None]
    return whole(sum(numbers)) if numbers and len(numbers) == len(known) else None


def _age(loss: Document) -> str:
    seconds = duration(loss.get("seconds_at_most"))
    return "it is unknown when they were committed" if seconds is None else f"committed within the last {seconds}"


def _word(document: Document, key: str) -> str:
    return str(document.get(key) or "not known")


def _counted(checks: Sequence[Document]) -> str:
    answers = [str(row.get("answer")) for row in checks]
    counts = [f"{answers.count(answer)} {answer}" for answer in ("YES", *_ORDER) if answer in answers]
    return f"{len(checks)} checks: {', '.join(counts)}" if checks else "this report has no checks"


def _open(checks: Sequence[Document]) -> list[Html]:
    """Every check that is not YES, with any other answer. Those that were skipped share one line."""
    rank = {answer: place for place, answer in enumerate(_ORDER)}
    found = [row for row in checks if row.get("answer") != "YES"]
    found.sort(key=lambda row: rank.get(str(row.get("answer")), 0))
    if checks and not found:
        return [tag("p", "Nothing: every check is YES.")]
    skipped = [str(row.get("name")) for row in found if row.get("answer") == "SKIPPED"]
    cards = [_card(row) for row in found if row.get("answer") != "SKIPPED"]
    more = f"SKIPPED, because they depend on another check ({len(skipped)}): {', '.join(skipped)}."
    return [*cards, *([tag("p", more, class_="faint")] if skipped else [])]


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


def _objectives(objectives: Sequence[Document]) -> Html:
    """RPO and RTO by type of cutover."""
    if not objectives:
        return Html("")
    lines = [
        [
            row.get("type"),
            row.get("rpo"),
            duration(row.get("writes_s")),
            duration(row.get("reads_s")),
            row.get("source"),
        ]
        for row in objectives
    ]
    heads = ["type", "RPO: records lost", "RTO: without writes", "RTO: without reads", "seconds from"]
    return table(heads, lines, (2, 3))


def _durations(value: object) -> Html:
    """Time from the journaled start to the end of completed runs, which is longer than the applications' downtime."""
    found = part(value)
    kinds = [kind for kind in dict.fromkeys([*_TYPES, *map(str, found)]) if part(found.get(kind))]
    if not kinds:
        return tag("p", "The journal has no completed run yet. A rehearsal shows how long one takes.")
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
        _strip(observations) if len(observations) > 1 else Html(""),
        fold(f"The newest {len(lines)}", table(heads, lines, (3, 4, 5))),
        tag("p", f"and {more:,} earlier ones", class_="faint") if more > 0 else Html(""),
    ]


def _strip(observations: Sequence[Document]) -> Html:
    """A column for each observation: the answers above, the flow's lag below, with a gap if the lag is unknown."""
    width, height, top = 760.0, 90.0, 30.0
    step = width / len(observations)
    shapes = []
    for place, observation in enumerate(observations):
        for line, way in enumerate(_WAYS):
            shapes.append(_box(place * step, 2 + line * 13, step, _COLOURS.get(str(observation.get(way)), "open")))
    lags = [figure(observation.get("lag_s")) for observation in observations]
    most = max((lag for lag in lags if lag is not None), default=0.0) or 1.0
    points = [
        None if lag is None else ((place + 0.5) * step, height - 4 - (height - top - 8) * max(0.0, lag) / most)
        for place, lag in enumerate(lags)
    ]
    shapes += [tag("polyline", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in run)) for run in _runs(points)]
    shapes += [tag("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=2, class_="calm") for x, y in filter(None, points)]
    known = [lag for lag in lags if lag is not None]
    legend = f"{len(observations)} observations, the newest on the right. Upper line: controlled cutover, lower line:"
    legend += " disaster (green YES, red NO, amber UNKNOWN). Curve: the flow's lag in seconds, "
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
    return tag("rect", x=f"{x:.2f}", y=f"{y:.0f}", width=f"{width - gap:.2f}", height=11, class_=colour)


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
    links = [docs_link("docs/procedures/readiness.md"), " ", docs_link("docs/troubleshooting.md")]
    return section(
        "How to read this",
        tag(
            "p",
            "YES: every check that counts is YES or ACCEPTED. NO: at least one of them is NO. UNKNOWN: something could"
            " not be observed. SKIPPED: it depends on another check that is not YES. Records read again and records"
            " lost are bounds, not promises.",
        ),
        tag("p", "Guides: ", *links),
    )
