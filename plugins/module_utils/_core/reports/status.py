# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of a pair between moves as lines of text: its flows, groups, leases and presynced offsets.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..ages import age_of
from ..checks.preflight import unjoined_text
from ..journal.runs import passed, resume_command, take_back_command
from ..offsets.skipped_records import skip_rows, skip_text
from ..resources.groups import IDLE_STATES, UNDESCRIBED
from .rows import stamp

__all__ = ["checkpoint_lines", "lease_lines", "status_lines"]


def status_lines(
    status: Mapping[str, Any],
    active: str | None,
    run: Mapping[str, Any] | None = None,
    run_on: str = "",
    leaving: Sequence[str] = (),
    clients: Sequence[Mapping[str, Any]] = (),
) -> list[str]:
    """The result of ``dr_status_info`` as lines of text. ``leaving``: as ``dr_journal`` returns it. ``clients``: of the
    pair."""
    lines = [f"{status['verdict']}: applications live on {active or 'unknown'}"]
    if run is not None and run["ended"] is None:
        lines.append(f"  INTERRUPTED: the {run['type']} run {run['id']} to {run['to']}")
        lines += [f"    since {stamp(run['started'])}: {text}" for text in _interrupted(clients, status["groups"])]
        lines.append(f"    resume: {resume_command(run, run_on)}")
        if not passed(run):
            lines.append(f"    undo:   {take_back_command(run, run_on)}")
    for flow in status["flows"]:
        lag = "unknown" if flow["lag"] is None else flow["lag"]
        lines.append(f"  {flow['verdict']:<8} {flow['name']}: lag {lag}, {flow['reason']}")
    sides: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in status["groups"]:
        sides.setdefault((row["group"], row["alias"]), []).append(row)
    for (group, alias), rows in sorted(sides.items()):
        commits = sum(row["commit"] is not None for row in rows)
        read = sum(row["read_to_end"] is True for row in rows)
        lines.append(
            f"  group {group} on {alias}: {rows[0]['state']}, {commits} of {len(rows)} partitions have a committed"
            f" offset, {read} are read to the end"
        )
    left = [row for row in status["unjoined"] or () if active in (None, row["alias"])]
    lines += [f"  not in the pair, although a pattern matches: {unjoined_text(left)}: run enable"] if left else []
    lines += [f"  in the pair, but not in this inventory: {text}" for text in leaving[:10]]
    lines += [f"  another flow replicates the same topics: {text}" for text in status["competing_flows"] or ()]
    lines += [f"  not replicated: {row['text']}" for row in status["open_transactions"] or ()]
    return lines + [f"  missing: {text}" for text in status["missing"][:10]]


def _interrupted(clients: Sequence[Mapping[str, Any]], groups: Sequence[Mapping[str, Any]]) -> list[str]:
    """What is known of applications that an interrupted run may have stopped. Only groups can be observed."""
    texts = []
    for client in clients:
        name, group = client["name"], client.get("group")
        seen = {row["alias"]: row["state"] for row in groups if row["group"] == group}
        at_work = sorted(alias for alias, state in seen.items() if state not in (*IDLE_STATES, UNDESCRIBED))
        if at_work:
            texts.append(f"{name} is at work on {' and '.join(at_work)}")
        elif len(seen) > 1 and UNDESCRIBED not in seen.values():
            texts.append(f"{name} is stopped: its group has no members")
        else:
            texts.append(f"{name} may be stopped: it has no group that shows it")
    return texts


def checkpoint_lines(result: Mapping[str, Any], to: str) -> list[str]:
    """The result of ``dr_checkpoint`` as lines of text."""
    if result["outcome"] == "skipped":
        return [f"no offset was committed on {to}: {result['reason']}"]
    rows = result["details"]
    exact = sum(row["quality"] == "exact" for row in rows)
    lost = skip_text(skip_rows(rows))
    lines = [
        f"{result['committed']} committed offsets raised on {to}; {exact} of {len(rows)} are exact,"
        f" {_at_most(result['rereads'])} would be read again if the applications moved now"
    ]
    lines += [f"  unread and gone from {to}: {lost}; those offsets were not committed"] if lost else []
    lines += [f"  already higher: {text}" for text in result["preexisting_higher_offsets"][:10]]
    return lines + [f"  left out: {text}" for text in result["left_out"][:10]]


def _at_most(count: int | None) -> str:
    return "an unknown number of records" if count is None else f"at most {count} records"


def lease_lines(leases: Sequence[Mapping[str, Any]], now: float) -> list[str]:
    """The age of presynced offsets as lines of text (R12)."""
    lines = []
    for lease in leases:
        age = age_of(lease["since"], float(now))
        at = "at an unknown time" if age is None else f"{age:.0f} s ago"
        if lease["holder"] is not None:
            # A playbook that changes the flows: it has a line only while it runs.
            lines += [f"  {lease['kind']}: began {at} and has not ended"] if lease["ended"] is None else []
        elif lease["ended"] is None:
            lines.append(f"  {lease['kind']} to {lease['to']}: began {at} and has not ended")
        elif lease["outcome"] == "done":
            again = _at_most(lease["counts"]["rereads"])
            lines.append(f"  offsets on {lease['to']}: presynced {at}, {again} would be read again")
        else:
            lines.append(f"  {lease['kind']} to {lease['to']}: {lease['outcome']} {at}")
    return lines
