# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long applications stood still in a cutover, according to its report: never less than it was.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from ..cutover_types import CUTOVER_TYPES, needs_source
from ..verdict import PROVEN
from .markup import duration, figure, instant, part, rows

__all__ = ["Still", "TimeSpan", "downtimes", "phase_spans"]

# The check that observes them at work again.
_SEEN = {"writes": "first_write", "reads": "groups"}
_RUN = re.compile(r"(\d{8}T\d{6})Z-")


@dataclass(frozen=True)
class TimeSpan:
    """A part of a run."""

    name: str
    began: datetime
    ended: datetime
    #: How the phase ended.
    result: str | None = None

    @property
    def seconds(self) -> float:
        """Its duration in seconds."""
        return (self.ended - self.began).total_seconds()


@dataclass(frozen=True)
class Still:
    """How long writes or reads stopped."""

    #: writes or reads.
    who: str
    text: str
    #: The part that a chart can show.
    span: TimeSpan | None = None
    #: ``span`` is the whole time.
    whole: bool = False


def phase_spans(report: Mapping[str, Any]) -> list[TimeSpan]:
    """The finished phases that have a start and a duration."""
    found = []
    for row in rows(report.get("phases")):
        began, seconds = instant(row.get("began")), figure(row.get("seconds"))
        if began is not None and seconds is not None and 0 <= seconds < 1e9:
            result = None if row.get("result") is None else str(row.get("result"))
            found.append(TimeSpan(str(row.get("phase")), began, began + timedelta(seconds=seconds), result))
    return found


def downtimes(report: Mapping[str, Any]) -> list[Still]:
    """The downtimes of writes and reads; none for a run that stopped no application."""
    kind = CUTOVER_TYPES.get(str(report.get("type")))
    if kind is None or report.get("run") is None or report.get("outcome") in ("already_there", "checked"):
        return []
    return [_still(report, who, *pair) for who, pair in kind.standstill.items()]


def _still(report: Mapping[str, Any], who: str, stops: str, starts: str) -> Still:
    others = part(report.get("other_applications"))
    if others.get({"writes": "topics", "reads": "groups"}[who]):
        return Still(who, "not known: other teams stop and start applications")
    spans = {span.name: span for span in phase_spans(report)}
    first, last = spans.get(stops), spans.get(starts)
    began, ended = instant(report.get("began")), instant(report.get("ended"))
    if not needs_source(report.get("type")):
        # When the other cluster was lost is unknown here.
        text = "not known: since the other cluster was lost"
        if last is None:
            return Still(who, text)
        span = TimeSpan(who, began or last.ended, last.ended)
        return Still(who, f"{text}, and {duration(span.seconds)} of this run until they were started", span)
    resumed = _begun_before(report)
    stopped, opened = instant(part(report.get("stopped")).get(who)), instant(report.get("opened"))
    if report.get("outcome") == "undone":
        since = (stopped or opened) if resumed else began if first is None else first.began
        if since is None or ended is None:
            return Still(who, "not known; the undo has started them again where they were")
        span = TimeSpan(who, since, ended)
        return Still(who, f"at most {duration(span.seconds)}: the undo has started them again where they were", span)
    if first is None and last is None:
        return Still(who, "not known: this run finished neither their stop nor their start")
    if last is None:
        return Still(who, "not known: the run ended before all were started")
    if first is None or resumed:
        return _across(who, stopped, opened, last)
    span = TimeSpan(who, first.began, last.ended)
    return Still(who, f"{duration(span.seconds)} until all were started{_seen(report, who, first, spans)}", span, True)


def _across(who: str, stopped: datetime | None, opened: datetime | None, last: TimeSpan) -> Still:
    """The downtime of a resumed run. ``stopped``: when its record shows that it began to stop them.

    Another controller may have stopped them, but not before ``opened``: the run was opened in the journal first.
    """
    if stopped is not None:
        span = TimeSpan(who, stopped, last.ended)
        return Still(who, f"{duration(span.seconds)} until all were started, with the interruption", span, True)
    if opened is None:
        return Still(who, "not known: an earlier start of this run stopped them")
    span = TimeSpan(who, opened, last.ended)
    return Still(who, f"at most {duration(span.seconds)}: an earlier start of this run, elsewhere, stopped them", span)


def _seen(report: Mapping[str, Any], who: str, first: TimeSpan, spans: Mapping[str, TimeSpan]) -> str:
    """The time that the applications themselves needed to start is between both figures."""
    proven = any((row.get("name"), row.get("verdict")) == (_SEEN[who], PROVEN) for row in rows(report.get("checks")))
    if not proven or "arrival" not in spans:
        return "; it is not known when they worked again"
    seconds = (spans["arrival"].ended - first.began).total_seconds()
    return f", at most {duration(seconds)} until they were observed at work"


def _begun_before(report: Mapping[str, Any]) -> bool:
    """Whether this was not the run's first start. The run's name has the time of the first start in seconds."""
    named, began = _RUN.match(str(report.get("run"))), instant(report.get("began"))
    if named is None or began is None:
        return False
    try:
        first = datetime.strptime(named[1], "%Y%m%dT%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return False
    return first < began - timedelta(seconds=1)
