# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a move would cost now: records read again, records lost, and the time it takes. Pure.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ..listing import first_few
from .facts import Facts

__all__ = [
    "cost_lines",
    "duration_lines",
    "lag_seconds",
    "records_lost",
    "rereads",
    "survey_rows",
    "unreplicated",
]

_SHOWN = 10  # groups in a line


def lag_seconds(facts: Facts) -> float | None:
    """Upper bound of the seconds that unreplicated records wait; None: unknown for at least one partition.

    It is a lower bound if it exceeds the limit of the check ``flow_lag``.
    """
    if facts.expiring is None or any(one.waited is None for one in facts.expiring):
        return None
    return max((one.waited for one in facts.expiring if one.waited is not None), default=0.0)


def survey_rows(facts: Facts) -> Any:
    """Offsets from which groups would start in a disaster; None: unknown."""
    return None if facts.survey is None else facts.survey["details"]


def rereads(rows: Any) -> dict[str, int | None] | None:
    """Upper bound of records read again, by group; None: unknown."""
    if rows is None:
        return None
    counts: dict[str, int | None] = {}
    for row in rows:
        before = counts.get(row["group"], 0)
        counts[row["group"]] = None if before is None or row["rereads"] is None else before + row["rereads"]
    return counts


def cost_lines(facts: Facts, lacking: Mapping[str, Any] | None) -> list[str]:
    """What a move would cost now, as lines of a report."""
    lines = []
    for way, rows in (("a controlled cutover", facts.offsets), ("a disaster", survey_rows(facts))):
        counts = rereads(rows)
        if counts is None:
            lines.append(f"{way} now: the number of records read again is unknown")
            continue
        # Unknown counts first, then the largest.
        ranked = sorted(counts.items(), key=lambda item: (item[1] is not None, -(item[1] or 0), item[0]))
        reported = first_few([f"{group} {'?' if count is None else count}" for group, count in ranked], _SHOWN)
        lines.append(f"{way} now: records read again, at most: {reported or 'none'}")
    if facts.survey is not None:
        counted, *more = facts.survey["loss_lines"]
        lines += [f"a disaster now would lose {text}" for text in (_lost(lacking) or counted, *more)]
    return lines


def unreplicated(facts: Facts) -> dict[str, Any] | None:
    """Records that only the cluster being left has; None: they were not counted."""
    if facts.unreplicated is None:
        return None
    return {
        "at_least": sum(one.least for one in facts.unreplicated),
        "at_most": sum(one.most for one in facts.unreplicated),
        "seconds_at_most": lag_seconds(facts),
        "partitions": [asdict(one) for one in facts.unreplicated],
    }


def records_lost(found: Mapping[str, Any] | None) -> dict[str, Any]:
    """The fields of a disaster's loss that count unreplicated records."""
    known = found or {"at_least": None, "at_most": None, "seconds_at_most": None}
    names = {"records_at_least": "at_least", "records_at_most": "at_most", "seconds_at_most": "seconds_at_most"}
    return {name: known[key] for name, key in names.items()}


def _lost(found: Mapping[str, Any] | None) -> str:
    """The unreplicated records in words; empty: they were not counted."""
    if found is None:
        return ""
    least, most, seconds = found["at_least"], found["at_most"], found["seconds_at_most"]
    since = "at an unknown time" if seconds is None else f"within the last {seconds:.1f} s"
    return f"{most if least == most else f'{least} to {most}'} records, committed {since}" if most else "nothing"


def duration_lines(found: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Durations of earlier runs, as lines of a report."""
    return [
        f"{kind}: took {one['median']:.0f} s (median of {one['runs']} runs), the last one {one['last']:.0f} s"
        for kind, one in found.items()
    ]
