# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Start, stop or restart a service so that it runs with its current configuration.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass

from .._core.changes import Change, Outcome
from .._core.errors import DrError
from .._core.waiting import Bounds, Waited, wait_until
from .._module import Result
from .commands import Reader, Runner, verb_of
from .service import CmService
from .shapes import Command, Service

__all__ = ["DesiredService", "plan", "reconcile_service"]

KIND = "service"
# Cloudera Manager computes staleness in the background. A joined command may have begun before the last change. If the
# service is still stale this long after the end of that command, a new command is issued.
LAG_SECONDS = 10.0
_DEFINITE = ("STARTED", "STOPPED", "NA")


@dataclass(frozen=True)
class DesiredService:
    """The desired state of a service."""

    #: ``present``, ``started``, ``restarted`` or ``stopped``, see :func:`plan`.
    state: str = "started"
    #: When to deploy the client configuration: ``stale``, ``always`` or ``never``.
    deploy: str = "stale"
    #: When to restart a running service: ``stale``, ``always`` or ``never``.
    restart: str = "stale"
    #: True: the configuration was just changed, so it is stale even if Cloudera Manager still reports FRESH.
    changed: bool = False
    #: Restart role by role.
    rolling: bool = False
    #: True: a command that was already active counts as ours. False: wait for it, then issue a new one. A command that
    #: began before our change may have read the old configuration, which the barrier of a cutover must not depend on.
    join: bool = True

    @property
    def restart_when(self) -> str:
        """When to restart a running service: ``stale``, ``always`` or ``never``."""
        return "always" if self.state == "restarted" else self.restart


def plan(desired: DesiredService, seen: Service, done: frozenset[str] = frozenset()) -> list[str]:
    """Return the commands that a service needs, in their order.

    ``done``: commands that were carried out. Those with the mode ``always`` are not planned again.

    =========  =======================  =======================================================
    desired    is stopped               is running
    =========  =======================  =======================================================
    present    deploy if due            deploy if due, restart if due
    started    deploy if due, start     the same
    restarted  deploy if due, start     deploy if due, restart
    stopped    nothing                  stop
    =========  =======================  =======================================================

    A command is due if the mode is ``always``, if the service is stale, or just after a change, because Cloudera
    Manager still reports FRESH for a moment.
    """
    if desired.state == "stopped":
        return [] if seen.state in ("STOPPED", "NA") else ["stop"]
    steps = ["deploy"] if _due("deploy", desired.deploy, desired, seen.client_fresh, done) else []
    if seen.state == "STOPPED":
        return steps + ([] if desired.state == "present" else ["start"])
    if seen.state == "NA":
        return steps
    fresh_by_start = seen.fresh and bool(done & {"start", "restart"})
    if not fresh_by_start and _due("restart", desired.restart_when, desired, seen.fresh, done):
        steps.append("restart")
    return steps


def _due(verb: str, mode: str, desired: DesiredService, fresh: bool, done: frozenset[str]) -> bool:
    asked = mode == "always" or (mode == "stale" and desired.changed)
    return (asked and verb not in done) or (mode != "never" and not fresh)


def reconcile_service(service: CmService, desired: DesiredService, bounds: Bounds, check: bool) -> Result:
    """Bring the service to the desired state, and wait until Cloudera Manager reports it.

    A failure is part of the result. Raises only if the service cannot be read at the beginning.
    """
    return _Control(service, desired, bounds).reconcile(check)


class _Control:
    """One run: the commands carried out so far, and the service as last observed."""

    def __init__(self, service: CmService, desired: DesiredService, bounds: Bounds) -> None:
        self._service = service
        self._desired = desired
        self._bounds = bounds
        self._runner = Runner(service, bounds, desired.rolling)
        self._outcomes: list[Outcome] = []
        self._done: frozenset[str] = frozenset()
        # Commands that were already active and do what is planned.
        self._joinable: dict[str, Command] = {}

    def reconcile(self, check: bool) -> Result:
        """Observe the service, run the planned commands, wait, and return the result."""
        start = time.monotonic()
        before = self._seen = self._service.read_service()
        active = self._service.active_commands()
        failure = None
        try:
            if check:
                self._outcomes = [Outcome(self._change(verb), "planned") for verb in plan(self._desired, before)]
            else:
                self._make_way(active)
                self._carry_out()
        except DrError as error:
            failure = error
            with contextlib.suppress(DrError):
                self._seen = self._service.read_service()
        seen = self._seen
        extra = {
            "cluster": self._service.cluster,
            "service": self._service.name,
            "state": seen.state or None,
            "health": seen.health or None,
            "health_checks": list(seen.checks),
            "maintenance_mode": seen.maintenance,
            "staleness": {"before": before.staleness_row(), "after": seen.staleness_row()},
            "commands": [ran.as_dict() for ran in self._runner.ran],
            "seconds": round(time.monotonic() - start, 1),
        }
        warnings = _warnings(seen) + self._runner.warnings
        return Result(self._outcomes, extra, self._service.client.requests, warnings, failure)

    def _make_way(self, active: Sequence[Command]) -> None:
        """Wait for active commands that are not joined, and for a known state of the service."""
        planned = plan(self._desired, self._seen)
        for command in active:
            verb = verb_of(command)
            if verb in planned and self._desired.join:
                self._joinable[verb] = command
            elif verb is not None:
                self._runner.wait_for(verb, command)
                self._seen = self._service.read_service()
        if not self._joinable:
            self._require_definite()
        if self._seen.state == "NA" and self._desired.state in ("started", "restarted"):
            text = f'The service "{self._seen.name}" has no role with a process, so it cannot be {self._desired.state}.'
            raise DrError("cm_nothing_to_run", text, "Add a Driver role in Cloudera Manager.", self._service.client.url)

    def _require_definite(self) -> None:
        if self._seen.state in _DEFINITE:
            return
        observation = Reader(self._service.read_service, self._seen)
        waited = wait_until(
            observation,
            lambda seen: seen.state in _DEFINITE,
            self._bounds,
            lambda seen: seen.state,
            fallback=lambda: observation.last,
        )
        self._seen = waited.state
        if not waited.done:
            state = waited.state.state or "unknown"
            text = (
                f'The state of the service "{self._seen.name}" has been {state} for {waited.seconds:.0f} s, wanted'
                f" {', '.join(_DEFINITE)}. No command was sent.{waited.last_error}"
            )
            hint = "Check that the agents of its hosts are connected, then start the same playbook again."
            raise DrError("cm_state_unknown", text, hint, self._service.client.url)

    def _carry_out(self) -> None:
        """Run the planned commands and plan again, until no command is left."""
        while steps := plan(self._desired, self._seen, self._done):
            joined = False
            for verb in steps:
                again = verb in self._done
                joined = (self._step(verb) == "joined" and not again) or joined
            self._settle(joined)
        if self._desired.state == "stopped" and not self._done and self._seen.state == "STOPPED":
            self._require_no_process()

    def _require_no_process(self) -> None:
        """Raise ``cm_process_left`` if a role of a service that was already stopped still runs."""
        left = self._processes()
        if left:
            text = f'The service "{self._seen.name}" is STOPPED, but these roles are not: {", ".join(left)}.'
            raise DrError("cm_process_left", text, "Stop them in Cloudera Manager.", self._service.client.url)

    def _processes(self) -> list[str]:
        """Roles that may still run, with their states. The state of a service only summarizes those of its roles."""
        roles = self._service.roles()
        if not roles:
            return ["Cloudera Manager lists no role"]
        return [f"{role.name} {role.state or 'unknown'}" for role in roles if not role.stopped]

    def _step(self, verb: str) -> str:
        """Run one command. Return ``issued``, ``joined`` or ``adopted``."""
        change = self._change(verb)
        try:
            ran = self._runner.run(verb, self._seen, self._joinable.pop(verb, None))
        except DrError as error:
            self._outcomes.append(Outcome(change, "failed", error.sentence()))
            raise
        self._done |= {verb}
        self._outcomes.append(Outcome(change, "done"))
        return ran.how

    def _settle(self, joined: bool) -> None:
        """Wait until the service is in the desired state or, if ``joined``, until it clearly needs a new command."""
        start = time.monotonic()

        def stale(seen: Service) -> bool:
            settled = seen.state in _DEFINITE and time.monotonic() - start >= LAG_SECONDS
            return joined and settled and bool(plan(self._desired, seen, self._done))

        observation = Reader(self._observe, None)
        waited = wait_until(
            observation,
            lambda view: bool(view and (view[1] or stale(view[0]))),
            self._bounds,
            fallback=lambda: observation.last,
        )
        if waited.state is not None:
            self._seen = waited.state[0]
        if not waited.done:
            self._raise_unsettled(waited)

    def _observe(self) -> tuple[Service, bool] | None:
        """Read the service, and check whether it is in the desired state."""
        seen, desired = self._service.read_service(), self._desired
        if desired.state == "stopped":
            return seen, seen.state == "STOPPED" and not self._processes()
        runs = seen.state == "STARTED" or (desired.state == "present" and seen.state in _DEFINITE)
        deployed = desired.deploy == "never" or seen.client_fresh
        current = desired.restart_when == "never" or seen.state != "STARTED" or seen.fresh
        return seen, runs and deployed and current

    def _raise_unsettled(self, waited: Waited[tuple[Service, bool] | None]) -> None:
        seen, desired = self._seen, self._desired
        goal = {"stopped": "STOPPED with all roles", "present": "FRESH"}.get(desired.state, "STARTED and FRESH")
        found = (
            f"{seen.state or 'state unknown'}, configuration {seen.staleness or 'unknown'}, "
            f"client configuration {seen.client_staleness or 'unknown'}"
            if waited.state is not None
            else "no answer since then"
        )
        text = (
            f'The service "{seen.name}" is not {goal} {waited.seconds:.0f} s after the last command succeeded.'
            f" Found: {found}.{waited.last_error}"
        )
        hint = (
            "Check whether another user changed the service, or whether a host lacks the client configuration. Then"
            " start the same playbook again."
        )
        raise DrError("cm_not_settled", text, hint, self._service.client.url)

    def _change(self, verb: str) -> Change:
        seen = self._seen
        if verb == "deploy":
            before, after = {"client_config": seen.client_staleness or None}, {"client_config": "FRESH"}
            return Change(KIND, seen.name, "deploy_client_config", before, after)
        after_state = "STOPPED" if verb == "stop" else "STARTED"
        before = {"state": seen.state or None}
        after = {"state": after_state}
        if verb == "restart":
            before |= {"config": seen.staleness or None}
            after |= {"config": "FRESH"}
        return Change(KIND, seen.name, verb, before, after)


def _warnings(seen: Service) -> list[str]:
    warnings = []
    if seen.maintenance:
        warnings.append(f'The service "{seen.name}" is in maintenance mode: Cloudera Manager suppresses its alerts.')
    if seen.state == "STARTED" and seen.health == "BAD":
        checks = f" ({', '.join(seen.checks)})" if seen.checks else ""
        warnings.append(f'The service "{seen.name}" runs, but its health is BAD{checks}.')
    return warnings
