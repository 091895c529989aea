# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands: restart, start, stop and deploy. Each runs in its own thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from . import services
from .command_views import find, to_json
from .contract import Engine
from .errors import AbortedError, ApiError, CommandError
from .properties import DRIVER, SRM
from .state import Command, Service, State, Store

# They exclude each other on one service. A deployment excludes other deployments only.
LIFE = ("Restart", "RollingRestart", "Start", "Stop")
DEPLOY = ("DeployClientConfig", "DeployClusterClientConfig")
FATAL = "Supervisor returned FATAL. Please check the role log file, stderr, or stdout."
Scope = tuple[str, str | None]


class Commands:
    def __init__(self, store: Store, engine: Engine) -> None:
        self._store = store
        self._engine = engine
        self._ended = threading.Condition(store.lock)

    def resume(self) -> None:
        """Restart the commands of a killed emulator from the beginning, which is harmless."""
        with self._store.lock:
            left = [item.id for item in self._store.state.commands.values() if item.active and item.parent is None]
        with self._store.change() as state:
            for item in [item for item in state.commands.values() if item.active and item.parent is not None]:
                _end(state, item.id, False, "The server restarted.")
        for number in left:
            self._spawn(number)

    def submit(self, name: str, cluster: str, service: str | None = None, role: str | None = None, **args: Any) -> Any:
        """Start a command and return its ApiCommand. In synchronous mode it is finished and cannot be read again."""
        with self._store.change() as state:
            self._refuse_second(state, name, (cluster, service))
            synchronous = state.switches.synchronous
            command = _new(state, name, cluster, service, role, args)
        if synchronous:
            self._run(command.id)
            with self._store.change() as state:
                found = state.commands.pop(command.id)
                for child in [item for item in state.commands.values() if item.parent == found.id]:
                    del state.commands[child.id]
                return {**to_json(state, found, full=False), "id": -found.id, "canRetry": False}
        self._spawn(command.id)
        with self._store.lock:
            return to_json(self._store.state, self._store.state.commands[command.id], full=False)

    def abort(self, number: int) -> dict[str, Any]:
        with self._store.change() as state:
            if find(state, number).active:
                for child in _family(state, number):
                    _end(state, child, False, "Aborted by user")
            self._ended.notify_all()
            return to_json(state, find(state, number), full=False)

    # ---- one command in its thread

    def _spawn(self, number: int) -> None:
        threading.Thread(target=self._run, args=(number,), daemon=True, name=f"command-{number}").start()

    def _run(self, number: int) -> None:
        success, message = True, "Successfully executed."
        try:
            with self._store.lock:
                command = find(self._store.state, number)
            self._work(command)
        except AbortedError:
            return
        except (CommandError, OSError, RuntimeError) as error:
            success, message = False, str(error)
        with self._store.change() as state:
            _end(state, number, success, message)

    def _work(self, command: Command) -> None:
        if command.service is None:
            self._work_on_cluster(command)
        elif command.name in DEPLOY:
            self._deploy(command)
        else:
            self._live(command)

    def _work_on_cluster(self, command: Command) -> None:
        cluster, args = str(command.cluster), command.args
        with self._store.lock:
            found = services.of_cluster(self._store.state, cluster)
            names = [item.name for item in found if item.name in (args.get("restartServiceNames") or [item.name])]
            if args.get("restartOnlyStaleServices"):
                names = [
                    item.name for item in found if item.name in names and services.staleness(item, "config") != "FRESH"
                ]
            everything = [item.name for item in found]
        if command.name in LIFE:
            for name in names:
                self._child(command, command.name, name)
        if command.name in DEPLOY or args.get("redeployClientConfiguration"):
            for name in everything:
                self._child(command, "DeployClientConfig", name)

    def _live(self, command: Command) -> None:
        if command.role is not None:
            self._restart_role(command)
            return
        stops = command.name in ("Stop", "Restart", "RollingRestart")
        starts = command.name in ("Start", "Restart", "RollingRestart")
        single = command.name in ("Start", "Stop")
        if stops:
            self._step(command, "Stop", self._stop_service, single)
        if starts:
            self._step(command, "Start", self._start_service, single)

    def _restart_role(self, command: Command) -> None:
        """Restart a role. Only a Driver role runs a flow; the Service role shows metrics."""
        service = self._service(command)
        drives = any(role.name == command.role and role.type == DRIVER for role in service.roles)
        if drives:
            self._engine.stop(service)
        self._wait(command.id, 1.0)
        if drives:
            self._begin(command)

    def _step(self, command: Command, name: str, work: Callable[[Command], None], single: bool) -> None:
        """Run one step: as a child command of a restart, or as the command itself for a start or stop."""
        if single:
            work(command)
            return
        child = self._new_child(command, name, str(command.service))
        self._finish_child(child, lambda: work(child))

    def _stop_service(self, command: Command) -> None:
        self._set_state(command, "STOPPING")
        self._engine.stop(self._service(command))
        self._wait(command.id, 0.4)
        self._set_state(command, "STOPPED" if command.parent is None else "STARTING")

    def _start_service(self, command: Command) -> None:
        self._set_state(command, "STARTING")
        self._wait(command.id, 0.4)
        with self._store.lock:
            outcome = self._store.state.switches.restart
            service = self._service(command)
        if outcome == "endless":
            self._wait(command.id, None)
        if outcome == "failure" and service.type == SRM:
            self._set_state(command, "STOPPED")
            role = next(role.name for role in service.roles if role.type == DRIVER)
            child = self._new_child(command, "Start", service.name, role)
            self._finish_child(
                child,
                lambda: _fail(FATAL),
                "Service did not start successfully; not all of the required roles started.",
            )
        self._begin(command)
        self._wait(command.id, 0.2)
        self._set_state(command, "STARTED")

    def _begin(self, command: Command) -> None:
        """Record the configuration that the new process reads. A later change makes the service stale again."""
        with self._store.change() as state:
            service = services.find(state, str(command.cluster), str(command.service))
            service.running, service.started = services.effective(state, service), time.time()
        self._engine.start(self._service(command))
        with self._store.change() as state:
            services.refresh_staleness(state, services.find(state, str(command.cluster), str(command.service)))

    def _deploy(self, command: Command) -> None:
        self._wait(command.id, 1.0)
        with self._store.change() as state:
            service = services.find(state, str(command.cluster), str(command.service))
            service.deployed = services.effective(state, service)
            services.refresh_staleness(state, service)
        self._engine.deploy(self._service(command))

    # ---- helpers

    def _child(self, parent: Command, name: str, service: str) -> None:
        child = self._new_child(parent, name, service)
        self._finish_child(child, lambda: self._work(child))

    def _new_child(self, parent: Command, name: str, service: str, role: str | None = None) -> Command:
        with self._store.change() as state:
            if not find(state, parent.id).active:
                raise AbortedError
            child = _new(state, name, str(parent.cluster), service, role, {})
            child.parent = parent.id
            find(state, parent.id).children.append(child.id)
            return child

    def _finish_child(self, child: Command, work: Callable[[], None], failure: str = "") -> None:
        success, message = True, "Successfully executed."
        try:
            work()
        except CommandError as error:
            success, message = False, str(error)
        with self._store.change() as state:
            _end(state, child.id, success, message)
        if not success:
            raise CommandError(failure or f"Command '{child.name}' of service '{child.service}' failed.")

    def _service(self, command: Command) -> Service:
        with self._store.lock:
            return services.find(self._store.state, str(command.cluster), str(command.service))

    def _set_state(self, command: Command, value: str) -> None:
        with self._store.change() as state:
            service = services.find(state, str(command.cluster), str(command.service))
            service.state = value
            for role in service.roles:
                role.state = value

    def _wait(self, number: int, share: float | None) -> None:
        """Wait for a share of the duration, or forever (None). Raises AbortedError when the command is aborted."""
        with self._ended:
            seconds = None if share is None else share * self._store.state.switches.command_seconds
            gone = self._ended.wait_for(lambda: not find(self._store.state, number).active, seconds)
        if gone:
            raise AbortedError

    @staticmethod
    def _refuse_second(state: State, name: str, scope: Scope) -> None:
        kin = next((names for names in (LIFE, DEPLOY) if name in names), (name,))
        busy = [item for item in state.commands.values() if item.active and (item.cluster, item.service) == scope]
        if any(item.name in kin and item.role is None for item in busy):
            raise ApiError(400, f"Command {name} is not currently available for execution.")


def _fail(message: str) -> None:
    raise CommandError(message)


def _new(state: State, name: str, cluster: str, service: str | None, role: str | None, args: dict[str, Any]) -> Command:
    state.next_id += 1
    command = Command(state.next_id, name, cluster, service, role, args=args, started=time.time())
    state.commands[command.id] = command
    return command


def _end(state: State, number: int, success: bool, message: str) -> None:
    command = state.commands.get(number)
    if command is not None and command.active:
        command.ended, command.success, command.message = time.time(), success, message


def _family(state: State, number: int) -> list[int]:
    found = [number]
    for child in find(state, number).children:
        found += _family(state, child)
    return found
