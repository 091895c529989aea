# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read several lists and exported offsets. Each has its own row, and a failed one does not prevent the others.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._core.errors import DrError
from .._module import Result
from .control import SrmControl, export_offsets
from .entries import alias_problems
from .listing import FlowList
from .reconcile import doubts, read_list, shown

__all__ = ["observe"]


def observe(
    control: SrmControl, flows: Sequence[tuple[str, str]], kinds: Sequence[str], groups: Sequence[str]
) -> Result:
    """Return one row for each of ``kinds`` x ``flows`` and of ``groups`` x ``flows``, with SRM's translated offsets."""
    _check(flows)
    result = Result(requests=control.requests)
    failed: list[DrError] = []
    try:
        lists = [_list_row(control, FlowList(kind, *flow), result, failed) for flow in flows for kind in kinds]
        offsets = [_offsets_row(control, flow, group, failed) for flow in flows for group in groups]
    except DrError as error:
        result.failure = error
        return result
    result.extra = {"lists": lists, "offsets": offsets}
    if failed:
        first = failed[0]
        text = f"{len(failed)} of {len(lists) + len(offsets)} reads failed: {first.message}"
        result.failure = DrError(first.code, text, first.hint, first.endpoint)
    return result


def _check(flows: Sequence[tuple[str, str]]) -> None:
    problems = [text for flow in flows for text in alias_problems(FlowList("topics", *flow))]
    if problems:
        raise DrError("srm_entries_invalid", " ".join(dict.fromkeys(problems)))


def _list_row(control: SrmControl, where: FlowList, result: Result, failed: list[DrError]) -> dict[str, Any]:
    row: dict[str, Any] = {
        "kind": where.kind,
        "source": where.source,
        "target": where.target,
        "known": False,
        "allowed": None,
        "denied": None,
        "error": None,
    }
    try:
        listing, unknown = read_list(control, where)
    except DrError as error:
        _raise_if_it_ends_all(error)
        failed.append(error)
        return {**row, "error": error.as_dict()}
    result.warnings += doubts(where, listing, unknown)
    if unknown is not None:
        return {**row, "error": unknown.as_dict()}
    return {**row, "known": True, **(shown(listing) or {})}


def _offsets_row(control: SrmControl, flow: tuple[str, str], group: str, failed: list[DrError]) -> dict[str, Any]:
    source, target = flow
    row: dict[str, Any] = {"source": source, "target": target, "group": group, "committed_offsets": None, "error": None}
    try:
        return {**row, "committed_offsets": export_offsets(control, source, target, group)}
    except DrError as error:
        _raise_if_it_ends_all(error)
        failed.append(error)
        return {**row, "error": error.as_dict()}


def _raise_if_it_ends_all(error: DrError) -> None:
    """Raise an error that every further call would meet too, so that they do not take their time in vain."""
    if error.code in ("srm_control_missing", "srm_control_timeout", "srm_secret"):
        raise error
