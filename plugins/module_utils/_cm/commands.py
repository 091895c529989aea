# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run commands of a service: join a command that already runs, issue at most one, and wait for its end.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from .._core.errors import DrError
from .._core.waiting import Bounds, Waited, wait_until
from .http import RefusedError, UnsureError
from .service import CmService
from .shapes import Command, Service

__all__ = ["Ran", "Reader", "Runner", "verb_of"]

T = TypeVar("T")

# Cloudera Manager sometimes returns 400 to a valid request. Cloudera's own automation tolerates five of them.
_TOLERATED = 5
# How often a command that another command blocks is tried, each time after waiting for the other command.
_TRIES = 3
_DEEPEST = 10


@dataclass(frozen=True)
class Verb:
    """A kind of command."""

    #: Names that Cloudera Manager gives to this command, in lower case.
    names: tuple[str, ...]
    #: Start the command. None: Cloudera Manager returned no command.
    issue: Callable[[CmService], Command | None]
    #: Whether a service is in the state that the command leads to.
    goal: Callable[[Service], bool]


VERBS = {
    "deploy": Verb(
        # The first is a guess, because the name of the service's command is undocumented. The second is the cluster's.
        ("deployclientconfig", "deployclusterclientconfig"),
        CmService.deploy,
        lambda seen: seen.client_fresh,
    ),
    "start": Verb(("start",), CmService.start, lambda seen: seen.state == "STARTED"),
    "stop": Verb(("stop",), CmService.stop, lambda seen: seen.state == "STOPPED"),
    "restart": Verb(
        ("restart", "rollingrestart"), CmService.restart, lambda seen: seen.state == "STARTED" and seen.fresh
    ),
}


def verb_of(command: Command) -> str | None:
    """Return the key in ``VERBS`` for a command. None: another kind of command."""
    return next((verb for verb, known in VERBS.items() if command.name.lower() in known.names), None)


@dataclass(frozen=True)
class Ran:
    """A command that ran, and how this run is related to it."""

    #: Key in ``VERBS``, or the name of another command.
    verb: str
    #: ``issued`` by this run; ``joined``: it was already running; ``adopted``: the request to start it got no response;
    #: ``awaited``: another command that blocked this run.
    how: str
    #: None: the command ended before it could be read.
    command: Command | None
    #: Seconds of waiting for it.
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        """The shape that modules return under ``commands``."""
        command = self.command
        return {
            "verb": self.verb,
            "how": self.how,
            "id": command.id if command and command.id >= 0 else None,
            "name": command.name if command else None,
            "success": command.success if command else None,
            "message": command.message if command else "",
            "seconds": round(self.seconds, 1),
        }


class Reader(Generic[T]):
    """Call ``read`` repeatedly, and return the last value for a few refusals.

    Raises the refusal after more than five consecutive responses of 400 or 500, and every other error at once.
    ``is_lenient``: also return the last value for a retriable error.
    """

    def __init__(self, read: Callable[[], T], last: T, is_lenient: bool = False) -> None:
        self._read = read
        self._is_lenient = is_lenient
        self.last = last
        self._refusals = 0

    def __call__(self) -> T:
        """Return the current value, or the last one that could be read."""
        try:
            self.last = self._read()
            self._refusals = 0
        except RefusedError as refused:
            self._refusals += 1
            if refused.status not in (400, 500) or self._refusals > _TOLERATED:
                raise
        except DrError as error:
            if not (self._is_lenient and error.retriable):
                raise
        return self.last


class Runner:
    """Run commands of one service to their end. ``ran`` lists all of them, failed ones too.

    ``rolling``: restart role by role if Cloudera Manager allows it, else all roles at once with a warning.
    """

    def __init__(self, service: CmService, bounds: Bounds, rolling: bool = False) -> None:
        self.ran: list[Ran] = []
        self.warnings: list[str] = []
        self._service = service
        self._bounds = bounds
        self._rolling = rolling

    def run(self, verb: str, before: Service, join: Command | None = None) -> Ran:
        """Run ``verb``, and return when its command has succeeded.

        ``before``: the service as last observed. ``join``: a command that was active then. It counts even if it has
        ended since. Raises ``cm_command_failed``, ``cm_command_unfinished``, ``cm_command_unavailable`` or
        ``cm_command_unknown``.
        """
        start = time.monotonic()
        command, how = self._obtain(verb, before) if join is None else (join, "joined")
        ran = self._follow(verb, how, command, start)
        if ran.command is not None and ran.command.success is not True:
            raise self._failed(verb, ran.command)
        return ran

    def wait_for(self, verb: str, command: Command) -> Ran:
        """Wait until the command of another user or program has ended, successfully or not."""
        return self._follow(verb, "awaited", command, time.monotonic())

    # ---- obtaining a command

    def _obtain(self, verb: str, before: Service) -> tuple[Command | None, str]:
        for attempt in range(_TRIES):
            active = self._active()
            found = _first(active, verb)
            if found is not None:
                return found, "joined"
            try:
                return self._issue(verb), "issued"
            except UnsureError as unsure:
                return self._adopt(verb, before, unsure), "adopted"
            except RefusedError as refused:
                if refused.status != 400 or "not currently available" not in refused.text:
                    raise
                self._after_others(verb, refused, attempt)
        raise DrError(
            "cm_command_unavailable",
            f"{verb} of {self._shown()} could not be started in {_TRIES} tries, because other commands were running.",
            "Wait until they have ended in Cloudera Manager, then start the same playbook again.",
        )

    def _issue(self, verb: str) -> Command | None:
        command: Command | None = None
        if verb == "restart" and self._rolling:
            try:
                command = self._service.rolling_restart()
            except RefusedError as refused:
                self._rolling = False
                self.warnings.append(f"A rolling restart is not possible, so all roles restart at once: {refused.text}")
                command = VERBS[verb].issue(self._service)
        else:
            command = VERBS[verb].issue(self._service)
        if command is None:
            raise UnsureError("cm_unsure", f"Cloudera Manager returned no command for {verb} of {self._shown()}.")
        return command

    def _after_others(self, verb: str, refused: RefusedError, attempt: int) -> None:
        """Wait for the commands that block ours. Raises ``cm_command_unavailable`` if no other command is active."""
        active = self._active()
        if _first(active, verb) is not None:
            return
        if not active or attempt == _TRIES - 1:
            running = ", ".join(f"{command.name} (id {command.id})" for command in active) or "none"
            state = self._service.read_service().state or "unknown"
            raise DrError(
                "cm_command_unavailable",
                f"Cloudera Manager does not allow {verb} of {self._shown()} now: {refused.text} "
                f"The service is {state}. Other active commands: {running}.",
                "Check that the service has roles, that the licence is valid, and that no command is unfinished. Then"
                " start the same playbook again.",
                self._service.client.url,
            )
        for command in active:
            self.wait_for(verb_of(command) or command.name, command)

    def _adopt(self, verb: str, before: Service, unsure: UnsureError) -> Command | None:
        """Find the command that a request without a response started.

        None: the command has ended, and the state of the service shows its effect. Raises ``cm_command_unknown``.
        """
        goal = VERBS[verb].goal

        def observe() -> tuple[Command | None, bool]:
            found = _first(self._active(), verb)
            return found, found is None and not goal(before) and goal(self._service.read_service())

        bounds = Bounds(min(self._bounds.timeout, self._service.client.timeout), self._bounds.sleep)
        waited = wait_until(
            observe, lambda seen: seen[0] is not None or seen[1], bounds, fallback=lambda: (None, False)
        )
        if waited.done:
            return waited.state[0]
        raise DrError(
            "cm_command_unknown",
            f"{unsure.message} It is unknown whether {verb} of {self._shown()} was started: no such command is active, "
            f"and the state of the service does not show its effect.{waited.last_error}",
            "The command was not sent again. Check the recent commands in Cloudera Manager, then start the same"
            " playbook again.",
            self._service.client.url,
        )

    def _active(self) -> list[Command]:
        mine = self._service.active_commands()
        known = {command.id for command in mine}
        of_cluster = [command for command in self._service.active_commands(cluster=True) if command.id not in known]
        # A command of the whole cluster may not concern this service. Join one that does; do not wait for the others.
        return mine + [command for command in of_cluster if command.service or verb_of(command)]

    # ---- waiting for its end

    def _follow(self, verb: str, how: str, command: Command | None, start: float) -> Ran:
        """Add the command to ``ran``, wait for its end, and store the result."""
        self.ran.append(Ran(verb, how, command, 0.0))
        ended = None if command is None else self._ended(command)
        self.ran[-1] = Ran(verb, how, ended, time.monotonic() - start)
        return self.ran[-1]

    def _ended(self, command: Command) -> Command:
        """Wait until the command is no longer active. A command with a negative id has ended and cannot be read."""
        if not command.active:
            return command
        observe = Reader(lambda: self._service.read_command(command.id), command)
        waited = wait_until(
            observe, lambda seen: not seen.active, self._bounds, _fingerprint, fallback=lambda: observe.last
        )
        if not waited.done:
            raise self._unfinished(waited)
        return waited.state

    def _unfinished(self, waited: Waited[Command]) -> DrError:
        command = waited.state
        parts = "; ".join(self._causes(command, 0))
        bound = "made no progress" if waited.ended == "stalled" else "has not ended"
        return DrError(
            "cm_command_unfinished",
            f"{command.name} (id {command.id}) of {self._shown()} {bound} within {waited.seconds:.0f} s. "
            f"Unfinished: {parts}.{waited.last_error}",
            "The command continues in Cloudera Manager. Start the same playbook again to wait for it.",
            self._service.client.url,
        )

    def _failed(self, verb: str, command: Command) -> DrError:
        causes = "; ".join(self._causes(command, 0))
        message = command.message or "no message"
        also = "" if causes == _summary(command) else f" Cause: {causes}."
        return DrError(
            "cm_command_failed",
            f"{command.name or verb} (id {command.id}) of {self._shown()} failed: {message}.{also}",
            "Read the logs of these roles in Cloudera Manager.",
            self._service.client.url,
        )

    def _causes(self, command: Command, depth: int) -> list[str]:
        """The deepest child commands that did not succeed.

        A command lists its children as summaries, so each child is read again for its message.
        """
        found = []
        for child in command.children if depth < _DEEPEST else ():
            if child.success is True:
                continue
            try:
                whole = self._service.read_command(child.id) if child.id >= 0 else child
            except DrError:
                whole = child
            found += self._causes(whole, depth + 1)
        return found or [_summary(command)]

    def _shown(self) -> str:
        return f'"{self._service.name}"'


def _first(commands: list[Command], verb: str) -> Command | None:
    return next((command for command in commands if verb_of(command) == verb), None)


def _fingerprint(command: Command) -> tuple[object, ...]:
    return command.active, tuple((child.id, child.active, child.success) for child in command.children)


def _summary(command: Command) -> str:
    where = f" on {command.where}" if command.where else ""
    return f"{command.name}{where}: {command.message or ('still active' if command.active else 'no message')}"
