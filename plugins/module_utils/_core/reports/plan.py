# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cutover would do, from the results of its preflight: applications, connectors, committed offsets, cost.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, TypedDict, cast

from ..cutover_types import CUTOVER_TYPES, needs_source
from ..engines.finding import engine_inventory
from ..flows.goals import flow_goals
from ..flows.pair_spec import PairSpec
from ..inventory.layout import client_batches
from ..inventory.workloads import workload_name
from ..names import connector_name

__all__ = ["Plan", "cutover_plan", "plan_lines"]

_SHOWN = 20


class PlannedClient(TypedDict):
    """An application that would be stopped or started."""

    action: Literal["stop", "start"]
    client: str
    role: str
    host: str
    on: str
    control: Literal["command", "systemd", "tasks", "kubernetes"]
    how: str
    endpoint_file: str | None


class PlannedConnector(TypedDict):
    """A connector whose state would change."""

    connector: str
    now: str | None
    then: str


class PlannedOffset(TypedDict):
    """Where a group would start as of now."""

    group: str
    topic: str
    partition: int
    left: Any
    existing: int | None
    offset: int | None
    quality: str | None
    rereads: int | None


class Predicted(TypedDict):
    """Seconds of completed runs of this type in the journal."""

    last: float
    median: float
    runs: int
    phases: Annotated[dict[str, float], "median seconds by phase"]


class Plan(TypedDict):
    """What a check run would do."""

    clients: Annotated[list[PlannedClient], "in the order of the run"]
    connectors: Annotated[list[PlannedConnector] | None, "whose state changes; null: no connectors were observed"]
    committed_offsets: Annotated[list[PlannedOffset] | None, "as of now; null: unknown"]
    rereads: int | None
    loss: Annotated[dict[str, Any] | None, "of a disaster, in the format of loss"]
    loss_lines: list[str]
    predicted: Annotated[Predicted | None, "null: no such run has completed"]


def cutover_plan(facts: Mapping[str, Any]) -> Plan:
    """The plan of a check run.

    ``facts``: ``pair`` (its layout), ``hosts`` (inventory groups), ``type``, ``from``, ``to``; ``status`` of the flows,
    ``forecast`` (details and rereads of all groups as of now) and ``survey`` (of a disaster), each empty if unknown;
    ``durations``: of earlier runs by type, from the journal. None in the result: unknown.
    """
    known = facts["forecast"] if needs_source(facts["type"]) else facts["survey"]
    rows = known.get("details")
    return {
        "clients": _clients(facts),
        "connectors": _connectors(facts),
        "committed_offsets": None if rows is None else [_committed_offset(row) for row in rows],
        "rereads": known.get("rereads"),
        "loss": facts["survey"].get("loss"),
        "loss_lines": list(facts["survey"].get("loss_lines") or []),
        "predicted": facts["durations"].get(facts["type"]),
    }


def _clients(facts: Mapping[str, Any]) -> list[PlannedClient]:
    rows: list[PlannedClient] = []
    for action, roles in CUTOVER_TYPES[facts["type"]].steps:
        clients = [client for client in facts["pair"]["clients"] if client["role"] in roles]
        ordered: Sequence[Mapping[str, Any]] = clients if action == "start" else clients[::-1]
        alias = facts["to"] if action == "start" else facts["from"]
        for batch in client_batches(ordered, facts["hosts"]):
            rows += [
                _step(action, alias, place["host"], client) for place in batch["places"] for client in place["clients"]
            ]
    return rows


def _step(action: str, alias: str, host: str, client: Mapping[str, Any]) -> PlannedClient:
    how = {
        "command": lambda: " ".join(client[action] or []),
        "systemd": lambda: f"systemctl {action} {client['unit']}",
        "tasks": lambda: str(client["tasks_file"]),
        "kubernetes": lambda: f"scale {workload_name(client['workload'])} {'back' if action == 'start' else 'to 0'}",
    }[client["control"]]()
    return {
        "action": cast(Any, action),
        "client": client["name"],
        "role": client["role"],
        "host": host,
        "on": alias,
        "control": client["control"],
        "how": how,
        "endpoint_file": _endpoint(client) if action == "start" else None,
    }


def _endpoint(client: Mapping[str, Any]) -> str | None:
    """Where a start writes the endpoint. None: nowhere."""
    workload = client["workload"]
    if workload and workload["endpoint_name"]:
        place = f"{workload['endpoint_kind']} {workload['namespace']}/{workload['endpoint_name']}"
        return f"{place} ({workload['endpoint_key']})"
    return client["endpoint_file"] or None


def _connectors(facts: Mapping[str, Any]) -> list[PlannedConnector] | None:
    """Connectors whose state changes; None: the engine has none, or their states were not observed."""
    pair = facts["pair"]
    seen = {
        (flow["name"], one["part"]): one["state"] or "absent"
        for flow in facts["status"].get("flows", [])
        for one in flow["connectors"]
    }
    if not engine_inventory(pair["engine"]).capabilities.parts_have_states:
        return None
    rows: list[PlannedConnector] = []
    for goal in flow_goals(PairSpec.of(pair["spec"]), "live", facts["to"]):
        flow, parts = pair["flows"][goal.flow], goal.parts
        # Without the cluster being left, only the connectors on the other cluster's workers change.
        if not needs_source(facts["type"]) and flow["target"] != facts["to"]:
            continue
        for part, state in parts.items():
            now = seen.get((goal.flow, part))
            then = "RUNNING" if state == "running" else "STOPPED"
            if not needs_source(facts["type"]):
                if part == "heartbeat":
                    continue
                then = "STOPPED"
            if now != then:
                connector = connector_name(flow["source"], flow["target"], part, pair["application"])
                rows.append({"connector": connector, "now": now, "then": then})
    return rows


def _committed_offset(row: Mapping[str, Any]) -> PlannedOffset:
    return cast(PlannedOffset, {key: row.get(key) for key in PlannedOffset.__annotations__})


def plan_lines(plan: Mapping[str, Any], kind: str) -> list[str]:
    """The plan as lines of text. ``kind``: the type of the cutover."""
    lines = [
        f"would {step['action']} {step['client']} ({step['role']}) on {step['host']}: {step['how']}"
        + (f", after writing {step['endpoint_file']} for {step['on']}" if step["endpoint_file"] else "")
        for step in plan["clients"]
    ]
    lines += _connector_lines(plan["connectors"])
    lines += _offset_lines(plan["committed_offsets"])
    again = plan["rereads"]
    lines.append("records read again: " + ("unknown" if again is None else f"at most {again}, as of now"))
    if not needs_source(kind):
        lines += [f"loss: {text}" for text in plan["loss_lines"]] or ["loss: unknown"]
    return [*lines, _duration(plan["predicted"])]


def _connector_lines(rows: Iterable[Mapping[str, Any]] | None) -> list[str]:
    if rows is None:
        return ["connectors: their current states were not observed"]
    return [f"would change {row['connector']}: {row['now'] or 'unknown'} -> {row['then']}" for row in rows]


def _offset_lines(rows: Sequence[Mapping[str, Any]] | None) -> list[str]:
    if rows is None:
        return ["committed offsets: unknown"]
    lines = [
        f"would commit {row['group']} {row['topic']}-{row['partition']}: {_offset(row['offset'])}"
        f" (now {_offset(row['existing'])}; {row['quality']}, rereads at most {_offset(row['rereads'])})"
        for row in rows[:_SHOWN]
    ]
    return lines + ([f"and {len(rows) - _SHOWN} more committed offsets, in the report"] if len(rows) > _SHOWN else [])


def _offset(value: object) -> str:
    return "none" if value is None else str(value)


def _duration(predicted: Mapping[str, Any] | None) -> str:
    if predicted is None:
        return "duration: unknown, the journal has no completed run of this type"
    phases = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in predicted["phases"].items())
    runs = f"the median of {predicted['runs']} completed runs"
    return f"duration: {predicted['median']:.1f} s, {runs} ({phases or 'phases unknown'})"
