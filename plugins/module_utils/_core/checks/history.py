# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Results of earlier readiness checks and rehearsals of a pair.

Each result is a record of the state topic, and its key has its time. So processes that write at the same time do not
overwrite each other. A tombstone deletes an old result.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from .facts import WAYS

__all__ = [
    "KEPT",
    "READINESS",
    "REHEARSAL",
    "kept",
    "kept_key",
    "moment",
    "rehearsal_line",
    "superfluous",
    "trend_entry",
    "trend_lines",
]

# Kinds of results.
READINESS, REHEARSAL = "readiness", "rehearsal"
# An observation every 15 minutes for four days. The reports have the older ones.
KEPT = 400


def moment(seconds: float) -> str:
    """Epoch seconds as ISO 8601 in UTC with microseconds. Such texts sort by time."""
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{int(seconds % 1 * 1e6):06d}"


def kept_key(pair: str, kind: str, at: str) -> str:
    """Key of a result. ``at``: see :func:`moment`."""
    return f"{pair}/{kind}/{at}"


def trend_entry(pair: str, at: str, report: Mapping[str, Any]) -> dict[str, Any]:
    """The stored part of a readiness report: verdicts, checks that are NO or UNKNOWN, and figures for the trend."""
    loss, rereads = report.get("loss") or {}, (report.get("rereads") or {}).get("controlled")
    counts = None if rereads is None else list(rereads.values())
    return {
        "schema": 1,
        "pair": pair,
        "kind": READINESS,
        "at": at,
        "from": report["from"],
        "to": report["to"],
        **{way: report[way] for way in WAYS},
        "named": [row["name"] for row in report["checks"] if row["answer"] in ("NO", "UNKNOWN")],
        "lag_s": report.get("lag_s"),
        "loss_records": loss.get("records_at_most"),
        "rereads": None if counts is None or None in counts else sum(counts),
    }


def kept(values: Iterable[Mapping[str, Any]], pair: str, kind: str) -> list[dict[str, Any]]:
    """The results of one kind from the values of the state topic, oldest first. A copy on both clusters counts once."""
    found = {value["at"]: dict(value) for value in values if (value.get("kind"), value.get("pair")) == (kind, pair)}
    return [found[at] for at in sorted(found)]


def superfluous(observations: Sequence[Mapping[str, Any]], keep: int = KEPT) -> list[Mapping[str, Any]]:
    """All observations but the newest ``keep``."""
    return list(observations[: max(0, len(observations) - keep)])


def rehearsal_line(rehearsal: Mapping[str, Any] | None) -> list[str]:
    """The last rehearsal as a line of a report; no line if there is none."""
    if rehearsal is None:
        return []
    took = "" if rehearsal["cutover_s"] is None else f", {rehearsal['cutover_s']:.1f} s"
    back = " and back" if rehearsal["back"] else ""
    way = f"{rehearsal['type']} {rehearsal['from']} -> {rehearsal['to']}{back}"
    return [f"last rehearsed: {rehearsal['at'][:19]}Z, {way}: {rehearsal['outcome']}, {rehearsal['verdict']}{took}"]


def trend_lines(observations: Sequence[Mapping[str, Any]]) -> list[str]:
    """The last observation compared with the others, as lines of a report; no line if it is the only one."""
    if len(observations) < 2:
        return []
    return [*(_since(observations, way) for way in WAYS), *_lag(observations)]


def _since(observations: Sequence[Mapping[str, Any]], way: str) -> str:
    now = observations[-1][way]
    began = observations[-1]["at"]
    for observation in reversed(observations):
        if observation[way] != now:
            break
        began = observation["at"]
    good = sum(observation[way] == "YES" for observation in observations)
    first = observations[0]["at"]
    return f"{way}: {now} since {began[:19]}Z; YES in {good} of {len(observations)} observations since {first[:19]}Z"


def _lag(observations: Sequence[Mapping[str, Any]]) -> list[str]:
    now, before = (
        observations[-1]["lag_s"],
        [observation["lag_s"] for observation in observations[:-1] if observation["lag_s"] is not None],
    )
    if now is None or not before:
        return []
    return [f"lag: {now:.1f} s; earlier observations: median {median(before):.1f} s, maximum {max(before):.1f} s"]
