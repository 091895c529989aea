# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A readiness report as metrics, in the text format of node_exporter's textfile collector.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..checks.facts import WAYS
from .markup import figure, part, rows

__all__ = ["readiness_metrics"]

_ANSWERS = ("YES", "NO", "UNKNOWN")
_TYPES = ("cutoff", "continuous", "disaster")
Labels = dict[str, str]
Samples = Iterable["tuple[Labels, float | None]"]


def readiness_metrics(report: Mapping[str, Any], at: float) -> str:
    """The metrics. An unknown value is NaN, never 0 or a missing line. ``at``: epoch seconds of the observation."""
    families: dict[str, tuple[str, Samples]] = {
        "ready": ("Whether a move could start: 1 for the current answer, 0 for the others.", _ready(report)),
        "check": ("Readiness checks with their answers.", _checks(report)),
        "lag_seconds": (
            "Upper bound of the seconds for which the oldest unreplicated record waits.",
            [({}, figure(report.get("lag_s")))],
        ),
        "predicted_loss_records": (
            "Records that a disaster now would lose.",
            _loss(report, "records_at_least", "records_at_most"),
        ),
        "predicted_loss_seconds": (
            "Seconds within which the records that a disaster now would lose were committed.",
            _loss(report, None, "seconds_at_most"),
        ),
        "predicted_rereads": ("Upper bound of the records that a group would read again.", _rereads(report)),
        "predicted_duration_seconds": ("Median duration of completed runs.", _durations(report)),
        "predicted_downtime_seconds": (
            "Downtime in earlier runs of the pair, or in its rehearsal.",
            _downtimes(report),
        ),
        "readiness_timestamp_seconds": ("Time of the observation.", [({}, at)]),
    }
    pair = {name: str(report.get(name) or "") for name in ("pair", "from", "to")}
    lines = [line for name, family in families.items() for line in _family(f"kafka_dr_{name}", *family, pair)]
    return "\n".join(lines) + "\n"


def _family(name: str, reported: str, samples: Samples, pair: Labels) -> list[str]:
    head = [f"# HELP {name} {reported}", f"# TYPE {name} gauge"]
    return head + [f"{name}{{{_labels({**pair, **labels})}}} {_number(value)}" for labels, value in samples]


def _labels(labels: Labels) -> str:
    return ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())


def _escaped(value: str) -> str:
    r"""Escape ``\``, ``"`` and line ends as the format requires. Replaces what UTF-8 cannot represent."""
    text = value.encode("utf-8", "replace").decode("utf-8")
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float | None) -> str:
    return "NaN" if value is None else repr(int(value) if value == int(value) else value)


def _ready(report: Mapping[str, Any]) -> Samples:
    for way in WAYS:
        answer = report.get(way) if report.get(way) in _ANSWERS else "UNKNOWN"
        for word in _ANSWERS:
            yield {"way": way, "answer": word}, float(word == answer)


def _checks(report: Mapping[str, Any]) -> Samples:
    """One line for each name: the collector refuses a file with a duplicate line."""
    answers = {str(row.get("name")): str(row.get("answer") or "UNKNOWN") for row in rows(report.get("checks"))}
    return [({"check": name, "answer": answer}, 1.0) for name, answer in answers.items()]


def _loss(report: Mapping[str, Any], least: str | None, most: str) -> Samples:
    loss = part(report.get("loss"))
    return [
        ({"bound": "least"}, None if least is None else figure(loss.get(least))),
        ({"bound": "most"}, figure(loss.get(most))),
    ]


def _rereads(report: Mapping[str, Any]) -> Samples:
    """Each group for each way, also if only the other way was observed."""
    reported = part(report.get("rereads"))
    by_way = {way: {str(group): count for group, count in part(reported.get(way)).items()} for way in WAYS}
    groups = sorted({group for counts in by_way.values() for group in counts})
    return [
        ({"group": group, "way": way}, figure(counts.get(group))) for way, counts in by_way.items() for group in groups
    ]


def _durations(report: Mapping[str, Any]) -> Samples:
    found = part(report.get("durations"))
    kinds = dict.fromkeys([*_TYPES, *map(str, found)])
    return [({"type": kind}, figure(part(found.get(kind)).get("median"))) for kind in kinds]


def _downtimes(report: Mapping[str, Any]) -> Samples:
    """The recovery time of each type, for writes and for reads (``checks.objectives``)."""
    found = {str(row.get("type")): row for row in rows(report.get("objectives"))}
    return [
        ({"type": kind, "of": of}, figure(part(found.get(kind)).get(f"{of}_s")))
        for kind in _TYPES
        for of in ("writes", "reads")
    ]
