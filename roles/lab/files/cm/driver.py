# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A site's Driver: keeps the connectors of its worker in the state that its plan and the lists require."""

from __future__ import annotations

import threading
import time
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from . import lists, replication
from .lists import KNOWN, View
from .plan import Plan
from .replication import CONNECTORS, Lists
from .worker import Worker, WorkerError

#: Seconds until the Driver retries after an error, such as a dead worker or broker.
AGAIN_SECONDS = 0.5
STOP_SECONDS = 60.0
START_SECONDS = 15.0


class Driver:
    """Commands call ``start`` and ``stop``. In between, a thread maintains the connectors."""

    def __init__(self, alias: str, worker: Worker) -> None:
        self.alias = alias
        self._worker = worker
        self._change = threading.Condition()
        # Held while the connectors are written, so that no write follows a stop.
        self._writing = threading.Lock()
        self._plan: Plan | None = None
        self._halting = False
        self._observations = 0
        self._due = {"topics": 0.0, "groups": 0.0}
        self._lists: dict[str, Lists] = {}
        self._trouble = ""
        self._written = 0
        threading.Thread(target=self._work, daemon=True, name=f"driver-{alias}").start()

    def start(self, plan: Plan, wait: bool = True) -> None:
        """Start the thread and wait for its first pass, even a failed one, as a real start waits only for a process."""
        with self._change:
            self._plan, self._lists, self._due = plan, {}, {"topics": 0.0, "groups": 0.0}
            seen = self._observations
            self._change.notify_all()
            self._change.wait_for(lambda: not wait or self._observations > seen, START_SECONDS)

    def stop(self) -> None:
        """Stop and wait until no connector has a task. A dead worker has none; it is stopped again when it returns."""
        with self._change:
            self._plan, self._halting = None, True
            self._change.notify_all()
        self._halt()

    def _halt(self) -> None:
        with self._writing:
            if self._plan is not None or not self._halting:
                return
            end = time.monotonic() + STOP_SECONDS
            try:
                for name in CONNECTORS:
                    self._worker.stop(name)
                while any(tasks or state == "RUNNING" for state, tasks in map(self._worker.state, CONNECTORS)):
                    if time.monotonic() > end:
                        raise RuntimeError(f"The connectors still have tasks after {STOP_SECONDS:.0f} s.")
                    time.sleep(0.05)
                self._halting = False
            except WorkerError:
                if self._worker.answers():
                    raise

    def healthy(self) -> bool:
        return self._worker.answers()

    def report(self) -> dict[str, Any]:
        with self._change:
            plan = self._plan
            found = {name: {"allowed": item.allowed, "denied": item.denied} for name, item in self._lists.items()}
            flow = plan and plan.flow
            return {
                "alias": self.alias,
                "running": plan is not None,
                "flow": f"{flow.source}->{flow.target}" if flow else None,
                "enabled": bool(flow and flow.enabled),
                "settings": flow.settings if flow else {},
                "reverse": bool(plan and plan.reverse),
                "notes": plan.notes if plan else [],
                "lists": found,
                "trouble": self._trouble,
                "observations": self._observations,
                "writes": self._written,
            }

    # ---- the thread

    def _work(self) -> None:
        view: View | None = None
        of: Plan | None = None
        while True:
            plan = self._next(of)
            if view is not None and plan is not of:
                view.close()
                view = None
            of = plan
            try:
                if plan is None:
                    self._halt()
                if plan is None or plan.flow is None:
                    self._seen("")
                    continue
                if view is None and plan.lists is None:
                    lists.create(plan.servers[self.alias], plan.control_factor)
                    view = View(plan.servers[self.alias])
                self._observe(plan, view)
                self._seen("")
            except (KafkaException, WorkerError, OSError, RuntimeError) as error:
                self._seen(str(error))

    def _next(self, before: Plan | None) -> Plan | None:
        """The plan for the next pass: a new plan at once, the same plan when a pass is due."""
        with self._change:
            self._change.wait_for(lambda: self._plan is not before, self._pause())
            return self._plan

    def _pause(self) -> float | None:
        if self._plan is None or self._plan.flow is None:
            return AGAIN_SECONDS if self._halting and self._plan is None else None
        return AGAIN_SECONDS if self._trouble else max(0.0, min(self._due.values()) - time.monotonic())

    def _seen(self, trouble: str) -> None:
        with self._change:
            self._trouble = trouble
            self._observations += 1
            self._change.notify_all()

    def _observe(self, plan: Plan, view: View | None) -> None:
        """Read the lists that are due, then update the connectors."""
        flow = plan.flow
        assert flow is not None
        now = time.monotonic()
        due = [kind for kind, when in self._due.items() if when <= now]
        if view is not None:
            view.refresh()
        found = {kind: self._list_of(plan, view, kind) for kind in due}
        if view is not None and "topics" in due:
            self._discover(plan, view)
        wanted = {"topics": Lists(), "groups": Lists(), **self._lists, **found}
        configs = replication.connectors(flow, plan.servers, wanted["topics"], wanted["groups"])
        with self._writing:
            # Stopped, or started with another plan, since this pass began.
            if self._plan is not plan:
                return
            for name, config in configs.items():
                self._written += self._worker.configure(name, config)
                self._worker.resume(name)
        with self._change:
            if self._plan is plan:
                self._lists = wanted
                for kind in due:
                    self._due[kind] = now + flow.seconds(f"refresh.{kind}.interval.seconds", 600.0)

    def _list_of(self, plan: Plan, view: View | None, kind: str) -> Lists:
        """A list of the flow: that of the plan, else that of srm-control."""
        if view is None or plan.flow is None:
            return (plan.lists or {}).get(kind, Lists())
        return view.lists(kind, plan.flow.source, plan.flow.target)

    def _discover(self, plan: Plan, view: View) -> None:
        """Record the discovered topics of the source for srm-control. A dead source adds none."""
        flow = plan.flow
        assert flow is not None
        key = ("topics", flow.source, flow.target, KNOWN)
        try:
            there = AdminClient(lists.client(plan.servers[flow.source])).list_topics(timeout=3).topics
        except KafkaException:
            return
        new = [name for name in there if name not in view.entries(key)]
        if new:
            lists.write(plan.servers[flow.target], key, new)
