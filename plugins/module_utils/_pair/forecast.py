# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Positions on the side being entered as of now, with flows and applications at work. Writes nothing.

Preflight refuses by it what the barrier would refuse for a reason that stopping the applications does not change.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .._core.errors import DrError
from .._core.lasting import Standing, lasting_problems
from .._kafka.groups import positions
from .._kafka.topics import log_ranges
from .._module import Result
from .evidence import Evidence, by_group, gather
from .observe import Pair, Partition
from .translate import find_positions

__all__ = ["forecast", "lasting"]


def forecast(params: Mapping[str, Any]) -> Result:
    """All positions as of now; fails for those that the barrier would refuse whatever the applications do."""
    x, y = params["leave"], params["enter"]
    pair = Pair({**params, "flows": [{"source": x, "target": y}, {"source": y, "target": x}]})
    evidence = gather(pair, x, y)
    rows, records = find_positions(evidence, params)
    counts = [row["rereads"] for row in rows]
    extra: dict[str, Any] = {
        "positions": by_group(rows),
        "details": rows,
        "rereads": None if None in counts else sum(counts),
        "records_read": records,
        "barrier": {},
    }
    problems = lasting(evidence, rows, params["group_lag"])
    result = Result(extra=extra, requests=pair.requests)
    if problems:
        more = f" and {len(problems) - 3} more" if len(problems) > 3 else ""
        result.failure = DrError(
            "position_refused",
            f"{len(problems)} committed offsets cannot be moved: {'; '.join(problems[:3])}{more}.",
            "Stopping the applications would not change that, so none was stopped. Commit an offset within the log on"
            f" {x}, or let the group read on; kafka_dr_group_lag=reread accepts records that are read again.",
        )
    return result


def lasting(evidence: Evidence, rows: Iterable[Mapping[str, Any]], group_lag: str) -> list[str]:
    """What of ``rows`` the barrier will refuse, in words (see ``_core.lasting``)."""
    pair, x = evidence.pair, evidence.x
    sources = {evidence.pair.naming.replica(x, topic): topic for topic in pair.topics}
    found = [(row, (sources[row["topic"]], row["partition"])) for row in rows if row["topic"] in sources]
    suspects = [(row, key) for row, key in found if row["quality"] != "exact"]
    if not suspects:
        return []
    # Positions that still move are a reader's with assign(); an open transaction hides the end from read_committed.
    ends = log_ranges(pair.kafka[x], {key for _row, key in suspects}, "read_uncommitted")
    now = positions(pair.kafka[x], sorted({row["group"] for row, _key in suspects}))
    return lasting_problems(
        [(row, _standing(evidence, row["group"], key, ends[key][1], now)) for row, key in suspects], x, group_lag
    )


def _standing(
    evidence: Evidence, group: str, key: Partition, end: int, now: Mapping[str, Mapping[Partition, int]]
) -> Standing:
    look, facts = evidence.x_groups[group], evidence.forward.facts[key]
    return Standing(
        partition=key,
        commit=look.commits.get(key),
        end=end,
        idle=look.state in ("EMPTY", "DEAD") and now[group].get(key) == look.commits.get(key),
        read_to_end=look.read_to_end.get(key),
        copied=facts.copied,
        start=facts.start,
    )
