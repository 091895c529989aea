# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes a service run, or stand still, with its present configuration.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass

from .._core.changes import Change, Outcome
from .._core.errors import DrError
from .._core.waiting import Bounds, wait_until
from .._module import Result
from .commands import Reader, Runner, verb_of
from .service import CmService
from .shapes import Command, Service

__all__ = ["DesiredService", "plan", "reconcile_service"]

KIND = "service"
# Staleness is computed in the background. A command that we joined may have begun before the last change: if the
# service is still stale this long after its end, it gets a command of its own.
LAG_SECONDS = 10.0
_DEFINITE = ("STARTED", "STOPPED", "NA")


@dataclass(frozen=True)
class DesiredService:
    """How a service is wanted. ``deploy`` and ``restart``: stale, always or never.

    ``join``: a command that was active when we came counts. One that began before our own change may have read the old
    configuration, so where positions rest on it (the barrier of a cutover) it is waited for and counts for nothing.
    """

    state: str = "started"
    deploy: str = "stale"
    restart: str = "stale"
    changed: bool = False
    rolling: bool = False
    join: bool = True

    @property
    def restart_when(self) -> str:
        """When to restart a service that runs."""
        return "always" if self.state == "restarted" else self.restart


def plan(desired: DesiredService, seen: Service, done: frozenset[str] = frozenset()) -> list[str]:
    """The verbs for a service, in their order; those in ``done`` were carried out and count for what shows no trace.

    =========  =======================  =======================================================
    wanted     stopped                  runs
    =========  =======================  =======================================================
    present    deploy if due            deploy if due, restart if due
    started    deploy if due, start     the same
    restarted  deploy if due, start     deploy if due, restart
    stopped    nothing                  stop
    =========  =======================  =======================================================

    Due: always, or where stale, or just after a change, because Cloudera Manager shows FRESH for a while.
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
    """Make the service be as ``wish`` says, wait until it shows it, and tell."""
    return _Control(service, desired, bounds).reconcile(check)


class _Control:
    """One run: what was done so far, and the service as last seen."""

    def __init__(self, service: CmService, desired: DesiredService, bounds: Bounds) -> None:
        self._service = service
        self._desired = desired
        self._bounds = bounds
        self._runner = Runner(service, bounds, desired.rolling)
        self._outcomes: list[Outcome] = []
        self._done: frozenset[str] = frozenset()
        # Active when we came, and of use.
        self._joinable: dict[str, Command] = {}

    def reconcile(self, check: bool) -> Result:
        """Look, act, wait, tell."""
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
        """Behind commands that are not ours to join, to a state that is known."""
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
            text = f'"{self._seen.name}" has no role with a process, so it cannot be {self._desired.state}.'
            raise DrError("cm_nothing_to_run", text, "Add a Driver role in Cloudera Manager.", self._service.client.url)

    def _require_definite(self) -> None:
        if self._seen.state in _DEFINITE:
            return
        observation = Reader(self._service.read_service, self._seen)
        waited = wait_until(observation, lambda seen: seen.state in _DEFINITE, self._bounds, lambda seen: seen.state)
        self._seen = waited.state
        if not waited.done:
            state = waited.state.state or "not told"
            text = f'The state of "{self._seen.name}" is {state} for {waited.seconds:.0f} s, so nothing was done.'
            raise DrError("cm_state_unknown", text, "Are the agents of its hosts connected?", self._service.client.url)

    def _carry_out(self) -> None:
        """Do what is planned, and plan again, until nothing is left to do."""
        while steps := plan(self._desired, self._seen, self._done):
            joined = False
            for verb in steps:
                again = verb in self._done
                joined = (self._step(verb) == "joined" and not again) or joined
            self._settle(joined)
        if self._desired.state == "stopped" and not self._done and self._seen.state == "STOPPED":
            self._require_no_process()

    def _require_no_process(self) -> None:
        """Somebody else had stopped it: its processes are looked at all the same."""
        left = self._processes()
        if left:
            text = f'"{self._seen.name}" is STOPPED, but of its roles: {", ".join(left)}.'
            raise DrError("cm_process_left", text, "Stop them in Cloudera Manager.", self._service.client.url)

    def _processes(self) -> list[str]:
        """What may still run, in words. The state of a service is a summary; what counts are its processes."""
        roles = self._service.roles()
        if not roles:
            return ["none is told"]
        return [f"{role.name} {role.state or 'unknown'}" for role in roles if not role.stopped]

    def _step(self, verb: str) -> str:
        """Do one verb; how it was done."""
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
        """Wait until the service shows what is wanted, or, if ``joined``, that it needs a command of its own."""
        start = time.monotonic()

        def stale(seen: Service) -> bool:
            settled = seen.state in _DEFINITE and time.monotonic() - start >= LAG_SECONDS
            return joined and settled and bool(plan(self._desired, seen, self._done))

        observation = Reader(self._observe, None)
        waited = wait_until(observation, lambda view: bool(view and (view[1] or stale(view[0]))), self._bounds)
        if waited.state is not None:
            self._seen = waited.state[0]
        if not waited.done:
            self._raise_unsettled(waited.seconds, waited.state is not None)

    def _observe(self) -> tuple[Service, bool] | None:
        """The service, and whether it is as wanted."""
        seen, desired = self._service.read_service(), self._desired
        if desired.state == "stopped":
            return seen, seen.state == "STOPPED" and not self._processes()
        runs = seen.state == "STARTED" or (desired.state == "present" and seen.state in _DEFINITE)
        deployed = desired.deploy == "never" or seen.client_fresh
        current = desired.restart_when == "never" or seen.state != "STARTED" or seen.fresh
        return seen, runs and deployed and current

    def _raise_unsettled(self, seconds: float, answered: bool) -> None:
        seen, desired = self._seen, self._desired
        goal = {"stopped": "STOPPED with all roles", "present": "FRESH"}.get(desired.state, "STARTED and FRESH")
        found = (
            f"{seen.state or 'state unknown'}, configuration {seen.staleness or 'unknown'}, "
            f"client configuration {seen.client_staleness or 'unknown'}"
            if answered
            else "no answer since then"
        )
        text = f'Wanted "{seen.name}" {goal}; not so {seconds:.0f} s after the last command. Found: {found}.'
        hint = "Did somebody change it meanwhile, or does a host lack the client configuration? Run the task again."
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
    found = []
    if seen.maintenance:
        found.append(f'"{seen.name}" is in maintenance mode: Cloudera Manager keeps its alerts back.')
    if seen.state == "STARTED" and seen.health == "BAD":
        checks = f" ({', '.join(seen.checks)})" if seen.checks else ""
        found.append(f'"{seen.name}" runs, and its health is BAD{checks}.')
    return found
