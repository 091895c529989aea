# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The timeline of a run: bars over an axis, with the point of no return. It has no drawn text, so text keeps its size.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from .downtime import TimeSpan
from .markup import Html, tag

__all__ = ["Bar", "timeline"]

_STEPS = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 86400, 604800)
# An axis has at most so many intervals.
_MOST = 6
# Longer bars after the phases, such as that of an audit, are cut off, or the phases would be too small to see.
_LONGEST = 3


@dataclass(frozen=True)
class Bar:
    """A line of the timeline."""

    name: str
    text: str
    #: None: it has no times.
    span: TimeSpan | None
    #: The class of its colour.
    kind: str = ""
    #: Its length decides the length of the axis.
    leads: bool = True


def timeline(bars: Sequence[Bar], turned: datetime | None) -> Html:
    """The bars, and the point of no return if the axis includes it. Empty without a bar that has times."""
    spans = [one.span for one in bars if one.span is not None]
    if not spans:
        return Html("")
    begin, end = min(span.began for span in spans), max(span.ended for span in spans)
    leading = max((one.span.ended for one in bars if one.span is not None and one.leads), default=end)
    length = max(1.0, min((end - begin).total_seconds(), _LONGEST * max(1.0, (leading - begin).total_seconds())))
    share = None if turned is None else (turned - begin).total_seconds() / length
    line = tag("div", class_="turn", style=f"left:{100 * share:.2f}%") if share is not None and 0 <= share <= 1 else ""
    rows = [_row(one, begin, length, line) for one in bars]
    note = tag("p", "Dashed line: the point of no return.", class_="faint") if line else Html("")
    return Html(tag("div", _axis(begin, length), *rows, class_="bars") + note)


def _axis(begin: datetime, length: float) -> Html:
    step = next((step for step in _STEPS if length / step <= _MOST), _STEPS[-1])
    count = min(_MOST, int(length * 0.94 // step))
    ticks = (
        tag(
            "div",
            f"{place * step} s" if step < 60 else f"{place * step / 60:g} min",
            class_="tick",
            style=_left(place * step, length),
        )
        for place in range(count + 1)
    )
    return tag(
        "div",
        tag("div", f"{begin:%H:%M:%S} UTC"),
        tag("div", *ticks, class_="track"),
        tag("div", ""),
        class_="row axis",
    )


def _left(seconds: float, length: float) -> str:
    return f"left:{100 * seconds / length:.2f}%"


def _row(one: Bar, begin: datetime, length: float, line: object) -> Html:
    drawn: object = ""
    text = one.text
    if one.span is not None:
        start, last = ((moment - begin).total_seconds() for moment in (one.span.began, one.span.ended))
        text += " (drawn shorter)" if last > length * 1.001 else ""
        width = max(0.0, min(last, length) - start)
        style = f"{_left(start, length)};width:{100 * width / length:.2f}%"
        drawn = tag("div", class_=f"bar {one.kind}".rstrip(), style=style)
    return tag("div", tag("div", one.name), tag("div", drawn, line, class_="track"), tag("div", text), class_="row")
