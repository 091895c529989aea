# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fields and rows of reports. Their annotations are what the published schemas and the documentation say.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cached_property
from typing import Annotated, Any, Literal, TypedDict, TypeVar, cast

__all__ = [
    "CheckRow",
    "EvidenceRow",
    "FoundOffsets",
    "HookRow",
    "OpenCheck",
    "PhaseRow",
    "ReportField",
    "SkipCount",
    "Step",
    "check_row",
    "hook_row",
    "phase_row",
    "stamp",
]

T = TypeVar("T")
Verdict = Literal["PROVEN", "REFUTED", "UNKNOWN", "NOT_APPLICABLE"]


class ReportField(cached_property[T]):
    """A field of a report: its name, its type and its docstring are the documentation of the report."""


class CheckRow(TypedDict):
    """A check."""

    name: str
    verdict: Verdict
    reason: str


class OpenCheck(TypedDict):
    """A check that is not PROVEN."""

    name: str
    verdict: Literal["REFUTED", "UNKNOWN"]
    reason: str
    how: Annotated[str, "how to get the missing evidence"]


class EvidenceRow(TypedDict):
    """What is proven of a move."""

    proven: int
    of: Annotated[int, "checks that apply"]
    text: str
    open: Annotated[list[OpenCheck], "checks that are not PROVEN, REFUTED ones first"]


class Step(TypedDict):
    """What to do next."""

    text: str
    command: str


class PhaseRow(TypedDict):
    """A finished phase."""

    phase: str
    result: str
    began: str
    seconds: float


class HookRow(TypedDict):
    """A hook that was run."""

    name: str
    when: Literal["before", "after"]
    phase: str
    began: str
    seconds: float
    failure: Annotated[str | None, "its error; null: it succeeded"]


class SkipCount(TypedDict):
    """How many records are skipped."""

    at_least: int
    at_most: Annotated[int | None, "null: the upper bound is unknown"]


class FoundOffsets(TypedDict):
    """Committed offsets that were there before, against the translated ones."""

    equal: int
    lower: int
    rereads: Annotated[int, "sum of the distances of the lower ones"]
    higher: int
    none: Annotated[int, "of a partition without a committed offset there, or without a translated one"]


def check_row(name: str, verdict: str, reason: str) -> CheckRow:
    """A check, as in reports."""
    return {"name": name, "verdict": cast(Any, verdict), "reason": reason}


def phase_row(phase: Mapping[str, Any]) -> PhaseRow:
    """A finished phase, as in reports."""
    began, ended = float(phase["began"]), float(phase["ended"])
    return {
        "phase": phase["phase"],
        "result": phase["result"],
        "began": stamp(began),
        "seconds": round(ended - began, 3),
    }


def hook_row(hook: Mapping[str, Any]) -> HookRow:
    """A hook that was run, as in reports."""
    began, ended = float(hook["began"]), float(hook["ended"])
    return {
        "name": hook["name"],
        "when": hook["when"],
        "phase": hook["phase"],
        "began": stamp(began),
        "seconds": round(ended - began, 3),
        "failure": hook["failure"],
    }


def stamp(moment: Any) -> str:
    """Epoch seconds as ISO 8601 in UTC with milliseconds."""
    return datetime.fromtimestamp(float(moment), tz=UTC).isoformat(timespec="milliseconds")
