# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of readiness: what was observed, the next steps, and the text for a pager.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..checks.objectives import objective_lines
from .markup import at, duration, whole
from .rows import Step
from .steps import next_step, pager_text

__all__ = ["SCHEMA", "readiness_report"]

SCHEMA = "switchback.kafka_dr/readiness/2"
# Answers that stand in the way of a move, the clear one first.
_OPEN = ("NO", "UNKNOWN")
Facts = Mapping[str, Any]


def readiness_report(facts: Facts) -> dict[str, Any]:
    """The report. ``facts``: ``pair`` (its name), ``run_on``, and ``readiness`` as ``dr_readiness`` returns it."""
    report = {"schema": SCHEMA, "pair": facts["pair"], "run_on": facts["run_on"], **facts["readiness"]}
    report["next"] = _steps(report)
    report["pager"] = pager_text(_pager(report), report["next"])
    return report


def _steps(report: Facts) -> list[Step]:
    """What to do now, the most urgent first."""
    left, to = report["from"], report["to"]
    ready, survives = report["controlled"] == "YES", report["disaster"] == "YES"
    steps = []
    if not (ready and survives):
        text = "Correct what stands in the way, then check again"
        steps.append(next_step(text, "readiness", report, to=to))
    if ready:
        text = f"Rehearse a move to {to} with clients of its own"
        steps.append(next_step(text, "rehearse", report, confirm=to))
    elif survives:
        text = f"Only if {left} is lost, move the applications without it"
        steps.append(next_step(text, "failover_disaster", report, to=to, confirm=to))
    return steps


def _pager(report: Facts) -> list[str]:
    loss = report["loss"] or {}
    lost, lag = whole(loss.get("records_at_most")), duration(report["lag_s"])
    named = [f"{answer} {row['name']}" for answer in _OPEN for row in report["checks"] if row["answer"] == answer]
    return [
        f"Ready to move {report['from']} -> {report['to']}: {report['controlled']} for a controlled cutover,"
        f" {report['disaster']} for a disaster (pair {report['pair']}, observed at {at(report['at'])})",
        f"In the way: {', '.join(named) or 'nothing'}",
        f"At risk in a disaster: {'not known' if lost is None else f'at most {lost} records'}."
        f" Replication lags by {lag or 'an unknown time'}.",
        *objective_lines(report["objectives"])[:1],
    ]
