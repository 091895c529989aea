# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decide when a connector has reached its desired state: what a worker must report, and for how long.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .._core.changes import Change
from .._core.resources.task_failures import with_advice
from .planning import DesiredConnector, merged_config
from .rest import Connector

__all__ = ["RESTART_SECONDS", "Watch", "already", "describe", "goal", "watch_of"]

# A source connector computes its tasks after it is RUNNING. If it has no task by then, it has nothing to replicate.
TASKLESS_SECONDS = 5.0
# A worker accepts a restart before the FAILED status disappears.
RESTART_SECONDS = 5.0
# A rebalance takes less time. A worker drops a status that a broker refuses for a moment if a rebalance follows, and
# may write UNASSIGNED late, after it has started the connector again. It corrects neither until a restart (observed
# with 4.3.1, which includes KAFKA-12525; KafkaStatusBackingStore.send).
STALE_SECONDS = 5.0
# A resume may take that long on a busy worker, and shows no task until then.
RESUME_SECONDS = 30.0
# States that are wrong for good if a connector is to run.
_IDLE = ("PAUSED", "STOPPED", "UNASSIGNED")


@dataclass
class Watch:
    """The wait for one connector, and what it has observed so far."""

    desired: DesiredConnector
    #: True: the connector was just changed, so its status may be outdated.
    changed: bool
    #: The settings that were just updated.
    updated: Mapping[str, str] = field(default_factory=dict)
    #: Number of consecutive observations in the state RUNNING.
    observations: int = 0
    #: Monotonic times. None: not in this state, or not restarted.
    running_since: float | None = None
    restarted: float | None = None
    stale_since: float | None = None

    def stale(self, actual: Connector, now: float, patience: float) -> bool:
        """Return True once, when a status has been wrong too long. The connector may be in its desired state.

        Call it once for each observation. ``patience``: seconds that a change may need before a worker gets it.
        """
        if not self._wrong(actual):
            self.stale_since = None
            return False
        self.stale_since = now if self.stale_since is None else self.stale_since
        resuming = actual.state in ("PAUSED", "STOPPED") and not actual.tasks
        if now - self.stale_since < patience + (RESUME_SECONDS if resuming else STALE_SECONDS):
            return False
        self.stale_since = math.inf
        return True

    def _wrong(self, actual: Connector) -> bool:
        if self.desired.state == "running":
            return actual.state in _IDLE
        # A worker has finished the rebalance of a stop when it has removed the tasks.
        stopping = self.desired.state in ("inactive", "stopped", "absent")
        return stopping and not actual.tasks and actual.state in ("RUNNING", "PAUSED", "UNASSIGNED")

    def reached(self, actual: Connector | None, now: float) -> bool:
        """Whether ``actual`` is in the desired state. Call it once for each observation."""
        if self.desired.state in ("inactive", "stopped", "absent"):
            return actual is None or actual.stopped
        if self.desired.state == "present":
            return actual is not None and actual.state is not None
        return self._runs(actual, now)

    def _runs(self, actual: Connector | None, now: float) -> bool:
        if actual is None or not actual.running:
            self.observations, self.running_since = 0, None
            return False
        self.observations += 1
        self.running_since = now if self.running_since is None else self.running_since
        if not self.changed:
            return True
        if self.desired.part == "source" and not actual.tasks and now - self.running_since < TASKLESS_SECONDS:
            return False
        # The first RUNNING after a change can be the status from before the change.
        return self.observations >= 2


def watch_of(desired: DesiredConnector, steps: Sequence[Change], actual: Connector | None) -> Watch:
    """Return the watch for a connector whose changes ``steps`` were sent. ``actual``: the connector before them."""
    updates = [change for change in steps if change.action == "update"]
    keys = [key for change in updates for key in change.after or {}]
    updated = {key: value for key, value in merged_config(desired, actual).items() if key in keys} if updates else {}
    restarts = any(change.action == "restart" for change in steps)
    return Watch(desired, bool(steps), updated, restarted=time.monotonic() if restarts else None)


def already(watch: Watch, actual: Connector | None) -> bool:
    """Whether an unchanged connector is in the desired state, so that no wait is needed."""
    return not watch.changed and watch.reached(actual, time.monotonic())


def describe(name: str, actual: Connector | None) -> str:
    """State and tasks in a few words, for messages."""
    if actual is None:
        return f'"{name}" is not listed by the worker'
    tasks = ", ".join(f"{task.id} {task.state}" for task in actual.tasks) or "none"
    failures = f" ({with_advice(actual.failures)})" if actual.failures else ""
    return f'"{name}" is {actual.state or "without status"}, tasks: {tasks}{failures}'


def goal(desired: DesiredConnector) -> str:
    """The desired state in a few words, for messages."""
    return {"running": "RUNNING with its tasks", "present": "with a status"}.get(desired.state, "STOPPED without tasks")
