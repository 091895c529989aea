# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What enable, salvage, rebuild and rehearse would change: their modules' results in check mode, as one report.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from statistics import median
from typing import Any

from ..names import connector_name, naming_of
from ..redaction import HIDDEN, is_secret, looks_secret

__all__ = ["SCHEMA", "change_plan", "change_plan_lines", "rehearsal_changes"]

SCHEMA = "switchback.kafka_dr/plan/1"
_SHOWN = 60
#: Loop variables of the roles that name the cluster of a change.
_PLACES = ("topics_alias", "replication_alias", "replication_site")


def change_plan(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The report of a check run.

    ``facts``: ``kind`` (the playbook), ``pair`` (its name), ``results`` (of tasks in check mode, with or without a
    loop; a skipped task or an empty mapping adds nothing), ``changes`` (known without a module), ``notes`` (what cannot
    be shown yet, and why), ``seconds`` (of earlier completed runs of this kind; None in the result: unknown).
    """
    seconds = [float(one) for one in facts.get("seconds") or [] if one is not None]
    return {
        "schema": SCHEMA,
        "kind": facts["kind"],
        "pair": facts["pair"],
        "changes": [*_changes(facts["results"]), *(facts.get("changes") or [])],
        "notes": list(facts.get("notes") or []),
        "predicted": {"seconds": round(median(seconds), 1) if seconds else None, "runs": len(seconds)},
    }


def _changes(results: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [_row(place, change) for result in results for place, change in _outcomes(result, "")]


def _outcomes(result: Mapping[str, Any], place: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    place = next((str(result[key]) for key in _PLACES if key in result), place)
    for inner in result.get("results") or []:
        yield from _outcomes(inner, place)
    for change in result.get("changes") or []:
        yield place, change


def _row(place: str, change: Mapping[str, Any]) -> dict[str, Any]:
    before, after = change["before"] or {}, change["after"] or {}
    # The journal's state before and after each event is long, and follows from the other rows.
    names = [] if change["kind"] == "journal" else sorted({*before, *after})
    return {
        "on": place,
        "kind": change["kind"],
        "name": change["name"],
        "action": change["action"],
        "settings": [
            {"name": name, "before": _text(name, before.get(name)), "after": _text(name, after.get(name))}
            for name in names
            if before.get(name) != after.get(name)
        ],
    }


def _text(name: str, value: Any) -> str | None:
    if value is None:
        return None
    if is_secret(name) or looks_secret(value):
        return HIDDEN
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def rehearsal_changes(rehearsal: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What a rehearsal creates, and deletes at its end. ``rehearsal``: its pair."""
    of, never = rehearsal["rehearsal"]["of"], _never_made(rehearsal)
    rows = []
    for alias, own in rehearsal["rehearsal"]["belongings"].items():
        for kind, names in (("topic", own["topics"]), ("group", own["groups"]), ("connector", own["connectors"])):
            rows += [_made(of[alias], kind, name) for name in names if name not in never]
        rows += [_made(of[alias], "rights", name) for name in own["principals"]]
    return [
        *({**row, "action": "create"} for row in rows),
        *(
            {**_made(client["hosts"], "application", client["name"]), "action": "run"}
            for client in rehearsal["clients"]
        ),
        *({**row, "action": "delete"} for row in rows[::-1]),
    ]


def _never_made(rehearsal: Mapping[str, Any]) -> set[str]:
    """Return the heartbeat connectors and topics if the rehearsal has none. They are listed for the clean-up only."""
    if "heartbeat" in rehearsal["parts"]:
        return set()
    naming = naming_of(rehearsal["policy"], rehearsal["separator"])
    flows = [(other, alias) for other in rehearsal["clusters"] for alias in rehearsal["clusters"] if other != alias]
    return {connector_name(*flow, "heartbeat") for flow in flows} | {
        naming.heartbeats(other) for other, _alias in flows
    }


def _made(place: str, kind: str, name: str) -> dict[str, Any]:
    return {"on": place, "kind": kind, "name": name, "settings": []}


def change_plan_lines(plan: Mapping[str, Any]) -> list[str]:
    """The plan as lines of text."""
    rows = plan["changes"]
    lines = [_line(row) for row in rows[:_SHOWN]] or ["no change"]
    lines += [f"and {len(rows) - _SHOWN} more changes, in the report"] if len(rows) > _SHOWN else []
    return [*lines, *plan["notes"], _duration(plan["predicted"])]


def _line(row: Mapping[str, Any]) -> str:
    if row["kind"] == "journal":
        return f"would add the event {row['action']} to the journal of {row['name']}"
    where = f" ({row['on']})" if row["on"] else ""
    settings = "; ".join(_setting(one, row["action"]) for one in row["settings"])
    return f"would {row['action']} {row['kind']} {row['name']}{where}" + (f": {settings}" if settings else "")


def _setting(one: Mapping[str, Any], action: str) -> str:
    before, after = ("none" if one[key] is None else one[key] for key in ("before", "after"))
    return f"{one['name']} {after}" if action == "create" else f"{one['name']} {before} -> {after}"


def _duration(predicted: Mapping[str, Any]) -> str:
    if predicted["seconds"] is None:
        return "duration: unknown, no completed run of this kind is recorded"
    return f"duration: {predicted['seconds']:.1f} s, the median of {predicted['runs']} completed runs"
