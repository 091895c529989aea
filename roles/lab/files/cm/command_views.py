# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Views of commands: one command, the active commands, and their JSON."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from .errors import ApiError
from .state import Command, State


def find(state: State, number: int) -> Command:
    if number not in state.commands:
        raise ApiError(404, f"Command {number} not found.")
    return state.commands[number]


def active(state: State, cluster: str, service: str | None) -> list[Command]:
    """Active commands of one service, or of the cluster itself. Includes child commands, as Cloudera Manager does."""
    found = [item for item in state.commands.values() if item.active and item.cluster == cluster]
    return [item for item in found if item.service == service and item.role is None]


def to_json(state: State, command: Command, full: bool) -> dict[str, Any]:
    """An ApiCommand. Only the full view has children, as summaries without reasons; read those by their own ids."""
    found = _summary(command)
    if command.ended is not None:
        found["resultMessage"] = command.message
        found["canRetry"] = command.success is False
    if command.parent is not None:
        found["parent"] = _summary(find(state, command.parent))
    if full:
        found["children"] = {"items": [_summary(find(state, child)) for child in command.children]}
    return found


def _summary(command: Command) -> dict[str, Any]:
    found: dict[str, Any] = {"id": command.id, "name": command.name, "startTime": _iso(command.started)}
    found["active"] = command.active
    if command.ended is not None:
        found |= {"endTime": _iso(command.ended), "success": command.success}
    if command.service is None:
        found["clusterRef"] = {"clusterName": command.cluster}
    else:
        found["serviceRef"] = {"clusterName": command.cluster, "serviceName": command.service}
    if command.role is not None:
        found["roleRef"] = {**found["serviceRef"], "roleName": command.role}
    return found


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
