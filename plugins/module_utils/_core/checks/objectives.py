# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a move of each type would cost in the words of the business: RPO (records lost) and RTO (seconds of downtime).

The seconds are those of earlier runs and rehearsals of the same pair, so its topics, groups and hosts are in them. No
figure of another pair is used: without a run and a rehearsal, the downtime is unknown.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..cutover_types import CUTOVER_TYPES
from .facts import ACCEPTED, CONTROLLED, YES

__all__ = ["objective_lines", "objectives"]

_REHEARSE = "unknown: this pair has no completed run of this type and no rehearsal of it; run the playbook rehearse"
_OTHERS = "unknown for applications that other teams stop and start"
_NO_DISASTER = "unknown: this pair has no completed disaster failover, and a rehearsal loses no cluster"


def objectives(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One row for each type of cutover.

    ``report``: a readiness report with ``controlled``, ``checks``, ``loss``, ``durations`` and ``rehearsal``. Rows have
    ``type``, ``rpo`` (text), ``writes_s`` and ``reads_s`` (seconds; None: unknown), and ``source`` (where the seconds
    are from, or why they are unknown).
    """
    return [_row(report, name) for name in CUTOVER_TYPES]


def _row(report: Mapping[str, Any], name: str) -> dict[str, Any]:
    kind = CUTOVER_TYPES[name]
    earlier = (report.get("durations") or {}).get(name) or {}
    rehearsed = report.get("rehearsal") or {}
    downtime: dict[str, Any] = {"writes_s": None, "reads_s": None}
    if earlier.get("writes") is not None:
        downtime = {"writes_s": earlier["writes"], "reads_s": earlier.get("reads")}
        source = f"median of {earlier['runs']} run{'s' if earlier['runs'] > 1 else ''} of this pair"
    elif kind.needs_source and (rehearsed.get("type"), rehearsed.get("outcome")) == (name, "completed"):
        downtime = {key: rehearsed.get(key) for key in downtime}
        source = "the last rehearsal of this pair"
    else:
        source = _REHEARSE if kind.needs_source else _NO_DISASTER
    others = report.get("other_applications") or {}
    if others.get("topics") or others.get("groups"):
        parts = {"writes_s": "topics", "reads_s": "groups"}
        downtime = {key: None if others.get(part) else downtime[key] for key, part in parts.items()}
        source = _OTHERS if set(downtime.values()) == {None} else f"{source}; {_OTHERS}"
    return {"type": name, "rpo": _rpo(report, kind.needs_source), **downtime, "source": source}


def _rpo(report: Mapping[str, Any], planned: bool) -> str:
    """What would be lost now. A planned cutover refuses to start if it could lose a record (R30)."""
    if planned:
        rows = report.get("checks") or []
        accepted = [row["name"] for row in rows if row["answer"] == ACCEPTED and CONTROLLED in row["counts"]]
        if accepted:
            return f"0 records, apart from what you accepted: {', '.join(accepted)}"
        return "0 records" if report.get(CONTROLLED) == YES else "0 records, because it does not start now"
    loss = report.get("loss") or {}
    least, most, seconds = (loss.get(key) for key in ("records_at_least", "records_at_most", "seconds_at_most"))
    if most is None:
        return "unknown"
    count = f"{most:,} records" if least == most else f"{least or 0:,} to {most:,} records"
    since = "" if not most else " of an unknown age" if seconds is None else f" of the last {seconds:.1f} s"
    return f"{count}{since}"


def objective_lines(rows: list[dict[str, Any]]) -> list[str]:
    """The rows as lines of a report."""
    lines = []
    for row in rows:
        known = [(who, row[f"{who}_s"]) for who in ("writes", "reads")]
        times = [f"{who} {seconds:.1f} s" for who, seconds in known if seconds is not None]
        begin = "" if CUTOVER_TYPES[row["type"]].needs_source else "from the start of the playbook, "
        rto = f"{begin}{', '.join(times)} ({row['source']})" if times else row["source"]
        lines.append(f"{row['type']}: RPO {row['rpo']}; RTO {rto}")
    return lines
