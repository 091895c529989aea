# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long earlier runs of a pair took, according to its journal.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median
from typing import Any

from .events import Event

__all__ = ["durations"]


def durations(events: Iterable[Event]) -> dict[str, dict[str, Any]]:
    """By type, ``{last, median, runs, phases}`` in seconds, for runs that completed without an interruption.

    ``phases``: the median by phase, in order, of the runs whose end was journaled with its phases. An interrupted run
    does not count: its duration depends on when an operator started it again.
    """
    begun: dict[str, Event] = {}
    took: dict[str, list[float]] = {}
    phases: dict[str, dict[str, list[float]]] = {}
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
                for phase in event.data.get("times") or []:
                    if {"phase", "began", "ended"} <= set(phase):
                        known.setdefault(phase["phase"], []).append(phase["ended"] - phase["began"])
    return {
        kind: {
            "last": round(found[-1], 1),
            "median": round(median(found), 1),
            "runs": len(found),
            "phases": {name: round(median(each), 1) for name, each in phases[kind].items()},
        }
        for kind, found in sorted(took.items())
    }
