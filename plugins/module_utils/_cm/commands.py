# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands of a service: one that runs already is joined, one is issued at most once, its end is waited for.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from .._core.errors import DrError, Unreachable
from .._core.waiting import Bounds, Waited, wait_until
from .http import RefusedError, UnsureError
from .service import CmService
from .shapes import Command, Service

__all__ = ["Ran", "Reader", "Runner", "verb_of"]

T = TypeVar("T")

# Cloudera Manager answers 400 to a good request at times; Cloudera's own automation goes on after five.
_TOLERATED = 5
# How often a command that is not available because of another one is tried again, each time behind that one.
_TRIES = 3
_DEEPEST = 10


@dataclass(frozen=True)
class Verb:
    """One thing to do: names that Cloudera Manager gives to the command, and what a service shows when it is done."""

    names: tuple[str, ...]
    issue: Callable[[CmService], Command | None]
    goal: Callable[[Service], bool]


VERBS = {
    "deploy": Verb(
        # The first is a guess, nobody documents the service's own name; the second is the cluster's.
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
    """Which of our verbs a command is; None: another one."""
    return next((verb for verb, known in VERBS.items() if command.name.lower() in known.names), None)


@dataclass(frozen=True)
class Ran:
    """A command and how we came to it: ``issued``, ``joined``, ``adopted`` (sent without an answer) or ``awaited``."""

    verb: str
    how: str
    command: Command | None
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
    """Reads again and again. While there is no answer, and for some refusals, what was read last stands."""

    def __init__(self, read: Callable[[], T], last: T) -> None:
        self._read = read
        self.last = last
        self._refusals = 0

    def __call__(self) -> T:
        """What was read now, or last."""
        try:
            self.last = self._read()
            self._refusals = 0
        except Unreachable:
            pass
        except RefusedError as refused:
            self._refusals += 1
            if refused.status not in (400, 500) or self._refusals > _TOLERATED:
                raise
        return self.last


class Runner:
    """Runs commands of one service to their end. ``ran`` lists them, failed ones too."""

    def __init__(self, service: CmService, bounds: Bounds, rolling: bool = False) -> None:
        self.ran: list[Ran] = []
        self.warnings: list[str] = []
        self._service = service
        self._bounds = bounds
        self._rolling = rolling

    def run(self, verb: str, before: Service, join: Command | None = None) -> Ran:
        """Do ``verb`` and return when its command succeeded, or raise what stopped it.

        ``before``: the service as last seen. ``join``: a command that was active then and counts, even if it has ended.
        """
        start = time.monotonic()
        command, how = self._obtain(verb, before) if join is None else (join, "joined")
        ran = self._follow(verb, how, command, start)
        if ran.command is not None and ran.command.success is not True:
            raise self._failed(verb, ran.command)
        return ran

    def wait_for(self, verb: str, command: Command) -> Ran:
        """Return when somebody else's command has ended, whether it succeeded or not."""
        return self._follow(verb, "awaited", command, time.monotonic())

    # ---- getting a command

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
            f"{verb} of {self._shown()}: other commands kept it out.",
            "Start again when they have ended.",
        )

    def _issue(self, verb: str) -> Command | None:
        command: Command | None = None
        if verb == "restart" and self._rolling:
            try:
                command = self._service.rolling_restart()
            except RefusedError as refused:
                self._rolling = False
                self.warnings.append(f"No rolling restart, all roles restart at once: {refused.text}")
                command = VERBS[verb].issue(self._service)
        else:
            command = VERBS[verb].issue(self._service)
        if command is None:
            raise UnsureError("cm_unsure", f"{verb} of {self._shown()} was answered without a command.")
        return command

    def _after_others(self, verb: str, refused: RefusedError, attempt: int) -> None:
        """Wait for what keeps our command out; without anything in sight there is no use in trying again."""
        active = self._active()
        if _first(active, verb) is not None:
            return
        if not active or attempt == _TRIES - 1:
            running = ", ".join(f"{command.name} (id {command.id})" for command in active) or "none"
            state = self._service.read_service().state or "unknown"
            raise DrError(
                "cm_command_unavailable",
                f"Cloudera Manager does not allow {verb} of {self._shown()} now: {refused.text} "
                f"The service is {state}; other active commands: {running}.",
                "A service without roles to run, a missing licence or an unfinished command are the usual reasons.",
                self._service.client.url,
            )
        for command in active:
            self.wait_for(verb_of(command) or command.name, command)

    def _adopt(self, verb: str, before: Service, unsure: UnsureError) -> Command | None:
        """The command that an unanswered call started; None: it is over, and the service shows what it did."""
        goal = VERBS[verb].goal

        def observe() -> tuple[Command | None, bool]:
            try:
                found = _first(self._active(), verb)
                return found, found is None and not goal(before) and goal(self._service.read_service())
            except Unreachable:
                return None, False

        bounds = Bounds(min(self._bounds.timeout, self._service.client.timeout), self._bounds.sleep)
        waited = wait_until(observe, lambda seen: seen[0] is not None or seen[1], bounds)
        if waited.done:
            return waited.state[0]
        raise DrError(
            "cm_command_unknown",
            f"{unsure.message} Since then neither an active command nor the state of {self._shown()} shows "
            f"what became of {verb}.",
            "It was not sent again. Look at the recent commands in Cloudera Manager, then run the task again.",
            self._service.client.url,
        )

    def _active(self) -> list[Command]:
        mine = self._service.active_commands()
        known = {command.id for command in mine}
        of_cluster = [command for command in self._service.active_commands(cluster=True) if command.id not in known]
        # What the cluster does as a whole may leave this service alone: it is joined, not waited for.
        return mine + [command for command in of_cluster if command.service or verb_of(command)]

    # ---- its end

    def _follow(self, verb: str, how: str, command: Command | None, start: float) -> Ran:
        """Note the command, then its end."""
        self.ran.append(Ran(verb, how, command, 0.0))
        ended = None if command is None else self._ended(command)
        self.ran[-1] = Ran(verb, how, ended, time.monotonic() - start)
        return self.ran[-1]

    def _ended(self, command: Command) -> Command:
        """The command when it is no longer active. One with a negative id was done at once and cannot be read."""
        if not command.active:
            return command
        observe = Reader(lambda: self._service.read_command(command.id), command)
        waited = wait_until(observe, lambda seen: not seen.active, self._bounds, _fingerprint)
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
            f"Unfinished: {parts}.",
            "It goes on in Cloudera Manager; running the task again joins it.",
            self._service.client.url,
        )

    def _failed(self, verb: str, command: Command) -> DrError:
        causes = "; ".join(self._causes(command, 0))
        said = command.message or "no message"
        also = "" if causes == _said(command) else f" Cause: {causes}."
        return DrError(
            "cm_command_failed",
            f"{command.name or verb} (id {command.id}) of {self._shown()} failed: {said}.{also}",
            "Cloudera Manager has the logs of the roles named here.",
            self._service.client.url,
        )

    def _causes(self, command: Command, depth: int) -> list[str]:
        """The deepest parts that did not succeed. Parts are listed as summaries: each is read again for its message."""
        found = []
        for child in command.children if depth < _DEEPEST else ():
            if child.success is True:
                continue
            try:
                whole = self._service.read_command(child.id) if child.id >= 0 else child
            except DrError:
                whole = child
            found += self._causes(whole, depth + 1)
        return found or [_said(command)]

    def _shown(self) -> str:
        return f'"{self._service.name}"'


def _first(commands: list[Command], verb: str) -> Command | None:
    return next((command for command in commands if verb_of(command) == verb), None)


def _fingerprint(command: Command) -> tuple[object, ...]:
    return command.active, tuple((child.id, child.active, child.success) for child in command.children)


def _said(command: Command) -> str:
    where = f" on {command.where}" if command.where else ""
    return f"{command.name}{where}: {command.message or ('still active' if command.active else 'no message')}"
