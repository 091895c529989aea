# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The workers of the lab: the Driver of the cluster's Connect worker runs the flow to that cluster."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any, Protocol

from cm.plan import Plan
from cm.worker import WorkerError

from . import plan
from .service import Flows


class Runner(Protocol):
    """The part of ``cm.driver.Driver`` that the workers use."""

    def start(self, plan: Plan, wait: bool = True) -> None: ...

    def stop(self) -> None: ...

    def report(self) -> dict[str, Any]: ...


class LabWorkers:
    """Runs the flow to ``alias``. Flows to other clusters exist in the API only: another service has their workers.

    ``servers``: bootstrap servers by alias. ``more``: settings of the lab that the API does not have.
    """

    def __init__(self, alias: str, driver: Runner, servers: Mapping[str, str], more: Mapping[str, str]) -> None:
        self._alias, self._driver, self._servers, self._more = alias, driver, servers, more
        self._change = threading.Condition()
        #: When it is due (``time.monotonic``), how long nothing runs before it, and what runs then.
        self._wanted: list[tuple[float, float, Plan | None]] = []
        self._error = ""
        threading.Thread(target=self._work, daemon=True, name=f"workers-{alias}").start()

    def use(self, flows: Flows, settings: Mapping[str, Any], after: float) -> None:
        """See :class:`.service.Workers`."""
        self.restart(flows, settings, after, 0.0)

    def restart(self, flows: Flows, settings: Mapping[str, Any], after: float, seconds: float) -> None:
        """See :class:`.service.Workers`."""
        ends = next((ends for ends in flows if ends[1] == self._alias), None)
        made = None if ends is None else plan.make(ends, flows[ends], settings, self._servers, self._more)
        with self._change:
            self._wanted.append((time.monotonic() + after, seconds, made))
            self._change.notify_all()

    def report(self) -> dict[str, Any]:
        """The report of the Driver, and the last error of a start or stop."""
        with self._change:
            return {**self._driver.report(), "pending": len(self._wanted), "error": self._error}

    def _work(self) -> None:
        while True:
            seconds, made = self._next()
            try:
                if seconds or made is None:
                    self._driver.stop()
                if seconds:
                    time.sleep(seconds)
                if made is not None:
                    self._driver.start(made, wait=False)
                error = ""
            except (RuntimeError, WorkerError) as failed:
                error = str(failed)
            with self._change:
                self._error = error

    def _next(self) -> tuple[float, Plan | None]:
        """Wait for the next change that is due."""
        with self._change:
            while not self._wanted or self._wanted[0][0] > time.monotonic():
                self._change.wait(self._wanted[0][0] - time.monotonic() if self._wanted else None)
            _due, seconds, made = self._wanted.pop(0)
            return seconds, made
