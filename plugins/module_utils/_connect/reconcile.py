# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Carry out the planned changes of a flow's connectors, and wait until the worker reports that they took effect.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from .._core.changes import Change, Outcome
from .._core.errors import DrError, Unreachable
from .._core.names import CONNECTORS
from .._core.resources.task_failures import with_advice
from .._core.waiting import Bounds, Waited, wait_until
from .connector_client import ConnectorClient
from .planning import KIND, DesiredConnector, merged_config
from .rest import Connector
from .watching import RESTART_SECONDS, Watch, already, describe, goal, watch_of

__all__ = ["Reconciler", "Report", "Stopping"]


@dataclass
class Report:
    """The result of :meth:`Reconciler.apply`."""

    #: One outcome for each change.
    outcomes: list[Outcome] = field(default_factory=list)
    #: The connectors as last observed, by name.
    connectors: dict[str, Connector] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    failure: DrError | None = None


class _Settling:
    """Waits until the connectors are in their desired states, and restarts what does not get there by itself.

    ``unanswered``: stops and resumes without a response, by connector. They are sent again.
    """

    def __init__(
        self,
        rest: ConnectorClient,
        bounds: Bounds,
        watches: dict[str, Watch],
        report: Report,
        unanswered: dict[str, DrError],
    ) -> None:
        self._rest, self._bounds, self._unanswered = rest, bounds, unanswered
        self._watches, self._report = watches, report

    def run(self) -> None:
        """Wait within the bounds; the report gets a failure if a connector is not in its desired state then."""
        watches, report = self._watches, self._report
        pending = {name: watch for name, watch in watches.items() if not already(watch, report.connectors.get(name))}
        if not pending:
            return
        try:
            waited = wait_until(
                lambda: self._observe(pending),
                lambda left: not left,
                self._bounds,
                lambda left: _fingerprint(left, report),
                fallback=lambda: sorted(pending),
            )
        except DrError as error:
            report.failure = error
            return
        if not waited.done:
            report.failure = self._not_reached(waited, pending)
            report.outcomes = [_not_done(outcome, waited.state, report.failure) for outcome in report.outcomes]
        for name, watch in watches.items():
            actual = report.connectors.get(name)
            if watch.desired.state == "running" and watch.desired.part == "source" and actual and not actual.tasks:
                report.warnings.append(
                    f'The connector "{name}" runs without a task, because it finds none of its topics on the source '
                    "cluster. It searches again at each refresh."
                )

    def _observe(self, pending: dict[str, Watch]) -> list[str]:
        """Read the connectors, and return the names of those that are not in the desired state yet."""
        report = self._report
        self._repeat(pending)
        found = self._rest.connectors()
        report.connectors = found
        now = time.monotonic()
        left = []
        for name, watch in pending.items():
            reached = watch.reached(found.get(name), now)
            if not reached or not self._took_effect(watch, found.get(name)):
                left.append(name)
            self._restart_stale(watch, found.get(name), now)
            self._restart_once(watch, found.get(name), now)
        return sorted(left) if report.failure is None else []

    def _repeat(self, pending: Mapping[str, Watch]) -> None:
        for name in list(self._unanswered):
            state = pending[name].desired.state
            self._rest.resume(name) if state == "running" else self._rest.stop(name)
            del self._unanswered[name]

    def _took_effect(self, watch: Watch, actual: Connector | None) -> bool:
        """Whether all tasks have the updated settings. After an update, RUNNING may be the status of the old tasks."""
        if not watch.updated or watch.desired.state != "running" or actual is None or not actual.tasks:
            return True
        configs = self._rest.task_configs(watch.desired.name)
        return all(config.get(key) == value for config in configs for key, value in watch.updated.items())

    def _restart_stale(self, watch: Watch, actual: Connector | None, now: float) -> None:
        if actual is not None and _restarted(self._rest, watch, actual, now):
            after = {"state": "RUNNING" if watch.desired.state == "running" else "STOPPED"}
            change = Change(KIND, actual.name, "restart", {"state": actual.state}, after)
            self._report.outcomes.append(Outcome(change, "done"))

    def _restart_once(self, watch: Watch, actual: Connector | None, now: float) -> None:
        if watch.desired.state != "running" or actual is None or not actual.failures:
            return
        if watch.restarted is None:
            watch.restarted = now
            self._rest.restart_failed(actual.name)
            change = Change(KIND, actual.name, "restart", {"state": "FAILED"}, {"state": "RUNNING"})
            self._report.outcomes.append(Outcome(change, "done"))
        elif now - watch.restarted >= RESTART_SECONDS:
            self._report.failure = DrError(
                "connector_failed",
                f'The connector "{actual.name}" failed again after a restart. {with_advice(actual.failures)}',
                "Read the whole stack trace in the log of the worker, correct the cause, then start the same playbook"
                " again.",
                self._rest.url,
            )

    def _not_reached(self, waited: Waited[list[str]], pending: Mapping[str, Watch]) -> DrError:
        wanted = ", ".join(f'"{name}" {goal(pending[name].desired)}' for name in waited.state)
        seen = "; ".join(describe(name, self._report.connectors.get(name)) for name in waited.state)
        last = waited.error or next(iter(self._unanswered.values()), None)
        also = f" Last request: {last.message}" if last else ""
        stopping = any(pending[name].desired.state in ("inactive", "stopped", "absent") for name in waited.state)
        hint = (
            "Without the source.admin.* time-outs, a stop takes a minute while the source cluster does not answer. "
            if stopping
            else ""
        )
        hint += "Check the named tasks and the log of their worker, then start the same playbook again."
        bound = "no progress" if waited.ended == "stalled" else "not reached"
        text = f"Wanted {wanted}; {bound} within {waited.seconds:.0f} s. Last observed: {seen}.{also}"
        return DrError("connector_not_ready", text, hint, self._rest.url)


class Reconciler:
    """Apply the plans of several connectors together, so that they stop and start at the same time.

    ``awaited``: parts whose state to wait for. For other parts it suffices that the worker accepts the request.
    """

    def __init__(self, rest: ConnectorClient, bounds: Bounds, awaited: Collection[str] = tuple(CONNECTORS)) -> None:
        self._rest = rest
        self._bounds = bounds
        self._awaited = awaited
        self._unanswered: dict[str, DrError] = {}

    def apply(
        self,
        all_desired: Sequence[DesiredConnector],
        plans: Mapping[str, list[Change]],
        actual: Mapping[str, Connector],
    ) -> Report:
        """Carry out ``plans``, wait for all connectors, then delete those that must be absent.

        A failed connector does not prevent the others. The report has the first failure.
        """
        report = Report(connectors=dict(actual))
        watches = {}
        steps_of = {name: [change for change in plan if change.action != "delete"] for name, plan in plans.items()}
        stopped = self._stop_together(all_desired, steps_of)
        # The stop of the source connector takes the worker the longest. If it came first, the others would wait for it.
        for desired in sorted(all_desired, key=lambda desired: desired.part == "source" and not desired.configured):
            steps = steps_of[desired.name]
            outcomes = stopped.get(desired.name) or [
                self._step(change, desired, actual.get(desired.name)) for change in steps
            ]
            report.outcomes += outcomes
            if desired.part in self._awaited and not any(outcome.status == "failed" for outcome in outcomes):
                watches[desired.name] = watch_of(desired, steps, actual.get(desired.name))
        _Settling(self._rest, self._bounds, watches, report, self._unanswered).run()
        self._delete(all_desired, plans, report)
        if report.failure is None:
            failed = [outcome for outcome in report.outcomes if outcome.status == "failed"]
            report.failure = _together(failed) if failed else None
        return report

    def _stop_together(
        self, all_desired: Sequence[DesiredConnector], steps_of: Mapping[str, list[Change]]
    ) -> dict[str, list[Outcome]]:
        """Send the stops of connectors that only stop, at the same time. Return their outcomes by connector.

        A worker rebalances after each stop, and answers no other request meanwhile. Stops that arrive together share
        one rebalance (``DistributedHerder.tick``).
        """
        stops = [desired for desired in all_desired if [c.action for c in steps_of[desired.name]] == ["stop"]]
        if len(stops) < 2 or not self._rest.concurrent:
            return {}
        with ThreadPoolExecutor(len(stops)) as pool:
            outcomes = pool.map(lambda desired: [self._step(steps_of[desired.name][0], desired, None)], stops)
            return {desired.name: outcome for desired, outcome in zip(stops, outcomes, strict=True)}

    def _step(self, change: Change, desired: DesiredConnector, actual: Connector | None) -> Outcome:
        try:
            self._do(change.action, desired, actual)
        except Unreachable as error:
            # The worker may have carried out the request. A stop or a resume can be repeated until the status shows it.
            if change.action not in ("stop", "resume") or desired.part not in self._awaited:
                return Outcome(change, "failed", error.sentence())
            self._unanswered[desired.name] = error
        except DrError as error:
            return Outcome(change, "failed", error.sentence())
        return Outcome(change, "done")

    def _do(self, action: str, desired: DesiredConnector, actual: Connector | None) -> None:
        if action == "create":
            self._rest.create(
                desired.name, merged_config(desired, None), "RUNNING" if desired.state == "running" else "STOPPED"
            )
        elif action == "update":
            self._rest.configure(desired.name, merged_config(desired, actual))
        elif action == "stop":
            self._rest.stop(desired.name, desired.part in self._awaited)
        elif action == "resume":
            self._rest.resume(desired.name)
        elif action == "restart":
            self._rest.restart_failed(desired.name)

    def _delete(
        self, all_desired: Sequence[DesiredConnector], plans: Mapping[str, list[Change]], report: Report
    ) -> None:
        for desired in all_desired:
            for change in plans[desired.name]:
                if change.action == "delete" and report.failure is None:
                    report.outcomes.append(self._delete_one(change, report))

    def _delete_one(self, change: Change, report: Report) -> Outcome:
        try:
            self._rest.delete(change.name)
            gone = wait_until(lambda: self._rest.find(change.name), lambda found: found is None, self._bounds)
        except DrError as error:
            return Outcome(change, "failed", error.sentence())
        if not gone.done:
            text = f'The connector "{change.name}" still exists {gone.seconds:.0f} s after its deletion.'
            return Outcome(change, "failed", text)
        report.connectors.pop(change.name, None)
        return Outcome(change, "done")


def _restarted(rest: ConnectorClient, watch: Watch, actual: Connector, now: float) -> bool:
    """Restart a connector whose status is stale, so that it reports its state again."""
    if not watch.stale(actual, now, rest.patience):
        return False
    try:
        rest.restart_connector(actual.name)
    except DrError:
        # The workers rebalance, or no worker has the connector yet. Again after a while.
        watch.stale_since = now
        return False
    return True


class Stopping:
    """Connectors that were sent a stop. A status that stays wrong is corrected by a restart, which keeps the state."""

    def __init__(self, rest: ConnectorClient, names: Iterable[str]) -> None:
        self._rest = rest
        self._watches = {name: Watch(DesiredConnector(name, "source", "stopped", {}), changed=True) for name in names}

    def left(self) -> list[str]:
        """Read the connectors. Return the names of those that are not listed as STOPPED without tasks."""
        listed = self._read()
        return [name for name in self._watches if name not in listed or not listed[name].stopped]

    def running(self) -> list[str]:
        """As ``left``, but a connector that is not listed was deleted, and does not count."""
        listed = self._read()
        return [name for name in self._watches if name in listed and not listed[name].stopped]

    def _read(self) -> dict[str, Connector]:
        listed, now = self._rest.connectors(), time.monotonic()
        for name, watch in self._watches.items():
            if name in listed:
                _restarted(self._rest, watch, listed[name], now)
        return listed


def _fingerprint(left: Sequence[str], report: Report) -> tuple[object, ...]:
    return tuple((name, (seen := report.connectors.get(name)) and (seen.state, seen.tasks)) for name in left)


def _together(failed: Sequence[Outcome]) -> DrError:
    text = " ".join(f"{outcome.change.action} {outcome.change.name}: {outcome.error}" for outcome in failed)
    hint = "The result lists all changes under changes. Correct the cause, then start the same playbook again."
    return DrError("connector_step_failed", text, hint)


def _not_done(outcome: Outcome, names: Sequence[str], failure: DrError) -> Outcome:
    missed = outcome.change.name in names and outcome.status == "done" and outcome.change.action != "update"
    return Outcome(outcome.change, "failed", failure.message) if missed else outcome
