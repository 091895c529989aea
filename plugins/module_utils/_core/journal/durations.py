# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long earlier runs of a pair took, according to its journal.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import median
from typing import Any

from ..cutover_types import CUTOVER_TYPES
from .events import Event

__all__ = ["durations"]


def durations(events: Iterable[Event]) -> dict[str, dict[str, Any]]:
    """By type, ``{last, median, runs, phases, writes, reads}`` in seconds, for runs completed without an interruption.

    ``phases``: the median by phase, in order, of the runs whose end was journaled with its phases. ``writes`` and
    ``reads``: the median time for which they stopped in these runs, None: unknown; for a disaster, from the start of
    the run. An interrupted run does not count: its duration depends on when an operator started it again.
    """
    begun: dict[str, Event] = {}
    took: dict[str, list[float]] = {}
    phases: dict[str, dict[str, list[float]]] = {}
    standstill: dict[str, dict[str, list[float]]] = {}
    for event in events:
        if event.kind == "started":
            begun[event.run] = event
        elif event.kind == "resumed":
            begun.pop(event.run, None)
        elif event.kind == "ended" and event.run in begun:
            start = begun.pop(event.run)
            if event.data.get("result") == "completed":
                took.setdefault(start.data["type"], []).append(event.time - start.time)
                known = phases.setdefault(start.data["type"], {})
                spans = {
                    row["phase"]: (float(row["began"]), float(row["ended"]))
                    for row in event.data.get("times") or []
                    if {"phase", "began", "ended"} <= set(row)
                }
                for phase, (began, ended) in spans.items():
                    known.setdefault(phase, []).append(ended - began)
                for who, seconds in _standstill(start.data["type"], spans).items():
                    standstill.setdefault(start.data["type"], {}).setdefault(who, []).append(seconds)
    return {
        kind: {
            "last": round(found[-1], 1),
            "median": round(median(found), 1),
            "runs": len(found),
            "phases": {name: round(median(each), 1) for name, each in phases[kind].items()},
            **{who: _median(standstill.get(kind, {}).get(who)) for who in ("writes", "reads")},
        }
        for kind, found in sorted(took.items())
    }


def _standstill(kind: str, spans: Mapping[str, tuple[float, float]]) -> dict[str, float]:
    """Seconds for which writes and reads stopped, by the phases that stopped and started them."""
    known = CUTOVER_TYPES.get(kind)
    if known is None or not spans:
        return {}
    first = min(began for began, _ended in spans.values())
    seconds = {}
    for who, (stops, starts) in known.standstill.items():
        # In a disaster they stopped before the run, with the cluster.
        began = spans.get(stops, (None, None))[0] if known.needs_source else first
        if began is not None and starts in spans:
            seconds[who] = spans[starts][1] - began
    return seconds


def _median(values: list[float] | None) -> float | None:
    return round(median(values), 1) if values else None
