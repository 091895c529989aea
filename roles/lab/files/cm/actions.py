# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""API resources for commands and external accounts."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from . import accounts, services
from . import command_views as commands
from .errors import ApiError
from .requests import C, Request, Route, S
from .site import Manager

# Name of the command by the path of its POST.
SERVICE_COMMANDS = {
    "restart": "Restart",
    "start": "Start",
    "stop": "Stop",
    "rollingRestart": "RollingRestart",
    "deployClientConfig": "DeployClientConfig",
}
CLUSTER_COMMANDS = {"restart": "Restart", "deployClientConfig": "DeployClusterClientConfig"}


class Actions:
    def __init__(self, manager: Manager) -> None:
        self._manager = manager
        self._store = manager.store

    def routes(self) -> list[Route]:
        return [
            ("GET", C + "/commands", self._active),
            ("POST", C + "/commands/([^/]+)", self._cluster_command),
            ("GET", S + "/commands", self._active),
            ("GET", S + "/commandsByName", self._commands_by_name),
            ("POST", S + "/commands/([^/]+)", self._service_command),
            ("POST", S + "/roleCommands/restart", self._role_commands),
            ("GET", "/commands/([^/]+)", self._command),
            ("POST", "/commands/([^/]+)/abort", lambda request: self._manager.commands.abort(_number(request))),
            ("POST", "/commands/([^/]+)/retry", self._retry),
            ("GET", "/externalAccounts/supportedCategories", lambda request: accounts.CATEGORIES),
            ("GET", "/externalAccounts/account/([^/]+)", self._account),
            ("GET", "/externalAccounts/type/([^/]+)", self._accounts),
            ("POST", "/externalAccounts/create", lambda request: self._write(accounts.create, request.body)),
            ("PUT", "/externalAccounts/update", lambda request: self._write(accounts.update, request.body)),
            (
                "DELETE",
                "/externalAccounts/delete/([^/]+)",
                lambda request: self._write(accounts.delete, request.parts[0]),
            ),
        ]

    # ---- commands

    def _active(self, request: Request) -> Any:
        with self._store.lock:
            state = self._store.state
            services.of_cluster(state, request.parts[0])
            name = request.parts[1] if len(request.parts) > 1 else None
            if name is not None:
                services.find(state, request.parts[0], name)
            found = commands.active(state, request.parts[0], name)
            return {"items": [commands.to_json(state, item, request.full()) for item in found]}

    def _commands_by_name(self, request: Request) -> Any:
        with self._store.lock:
            services.find(self._store.state, request.parts[0], request.parts[1])
        return {"items": [{"name": name, "argSchema": ""} for name in SERVICE_COMMANDS.values()]}

    def _service_command(self, request: Request) -> Any:
        cluster, name, verb = request.parts
        with self._store.lock:
            services.find(self._store.state, cluster, name)
            rolling = self._store.state.switches.rolling_restart
        # By path or by name: Cloudera Manager accepts both.
        command = SERVICE_COMMANDS.get(verb, verb)
        if command not in SERVICE_COMMANDS.values():
            raise ApiError(404, f"Command '{verb}' not found.")
        if command == "RollingRestart" and not rolling:
            raise ApiError(400, "Command Rolling Restart is not currently available for execution.")
        return self._manager.commands.submit(command, cluster, name)

    def _cluster_command(self, request: Request) -> Any:
        cluster, verb = request.parts
        with self._store.lock:
            services.of_cluster(self._store.state, cluster)
        if verb not in CLUSTER_COMMANDS:
            raise ApiError(404, f"Command '{verb}' not found.")
        known = ("restartOnlyStaleServices", "redeployClientConfiguration", "restartServiceNames")
        args = {key: value for key, value in (request.body or {}).items() if key in known}
        return self._manager.commands.submit(CLUSTER_COMMANDS[verb], cluster, None, **args)

    def _role_commands(self, request: Request) -> Any:
        cluster, name = request.parts
        with self._store.lock:
            service = services.find(self._store.state, cluster, name)
            roles = {role.name: role.type for role in service.roles}
            fails = self._store.state.switches.role_commands_fail
        found: dict[str, list[Any]] = {"items": [], "errors": []}
        wanted = request.items()
        for index, role in enumerate(wanted):
            if role not in roles:
                found["errors"].append(f"Role '{role}' not found.")
            elif roles[role] == "GATEWAY" or (fails and index == len(wanted) - 1 > 0):
                found["errors"].append(f"Command Restart is not currently available for execution on role {role}.")
            else:
                found["items"].append(self._manager.commands.submit("Restart", cluster, name, role))
        return found

    def _command(self, request: Request) -> Any:
        with self._store.lock:
            command = commands.find(self._store.state, _number(request))
            return commands.to_json(self._store.state, command, request.full("full"))

    def _retry(self, request: Request) -> Any:
        with self._store.lock:
            command = commands.find(self._store.state, _number(request))
        if command.active or command.success or command.parent is not None:
            raise ApiError(400, f"Command {command.id} cannot be retried.")
        return self._manager.commands.submit(
            command.name, str(command.cluster), command.service, command.role, **command.args
        )

    # ---- external accounts

    def _account(self, request: Request) -> Any:
        with self._store.lock:
            return accounts.show(self._store.state, request.parts[0], request.weak)

    def _accounts(self, request: Request) -> Any:
        with self._store.lock:
            return accounts.of_type(self._store.state, request.parts[0], request.weak)

    def _write(self, action: Callable[[Any, Any], Any], argument: Any) -> Any:
        with self._store.change() as state:
            if not isinstance(argument, (dict, str)):
                raise ApiError(400, "A body is missing.")
            found = action(state, argument)
            for service in state.services:
                services.refresh_staleness(state, service)
            return found


def _number(request: Request) -> int:
    if not re.fullmatch(r"-?\d+", request.parts[0]):
        raise ApiError(404, f"Command '{request.parts[0]}' not found.")
    return int(request.parts[0])
