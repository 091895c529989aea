# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stops of several connectors: at the same time where the client can, and with one outcome each."""

from __future__ import annotations

from threading import Barrier, BrokenBarrierError
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.planning import DesiredConnector, plan
from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.reconcile import Reconciler, Stopping
from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.rest import Connector, Task
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds

PARTS = ("source", "checkpoint")


class Client:
    """The two connectors of a flow. ``together``: a stop returns only when the other one was requested too."""

    url = "http://localhost:1"

    def __init__(self, concurrent: bool, together: bool = False, refused: str = "") -> None:
        self.concurrent, self.patience, self.refused = concurrent, 0.0, refused
        self.meeting = Barrier(2 if together else 1)
        self.found = {part: Connector(part, "RUNNING", (Task(0, "RUNNING"),), {}) for part in PARTS}
        self.stops: list[str] = []

    def stop(self, name: str, awaited: bool = True) -> None:
        try:
            self.meeting.wait(5.0)
        except BrokenBarrierError:
            pytest.fail("the other connector was stopped only afterwards")
        if name == self.refused:
            raise DrError("refused", "No.")
        self.stops.append(name)
        self.found[name] = Connector(name, "STOPPED", (), {})

    def connectors(self) -> dict[str, Connector]:
        return dict(self.found)


def stopped(client: Any) -> Any:
    before = client.connectors()
    desired = [DesiredConnector(part, part, "stopped", {}) for part in PARTS]
    plans = {one.name: plan(one, before[one.name]) for one in desired}
    return Reconciler(client, Bounds(5.0, 0.01)).apply(desired, plans, before)


def test_stops_are_sent_at_the_same_time() -> None:
    client = Client(concurrent=True, together=True)
    report = stopped(client)
    assert report.failure is None
    assert {outcome.change.name: outcome.status for outcome in report.outcomes} == dict.fromkeys(PARTS, "done")


def test_a_client_that_cannot_share_its_state_stops_the_source_connector_last() -> None:
    client = Client(concurrent=False)
    assert stopped(client).failure is None
    assert client.stops == ["checkpoint", "source"]


def test_a_refused_stop_does_not_hide_the_other_one() -> None:
    client = Client(concurrent=True, refused="source")
    report = stopped(client)
    assert {outcome.change.name: outcome.status for outcome in report.outcomes} == {
        "checkpoint": "done",
        "source": "failed",
    }
    assert report.failure is not None
    assert client.stops == ["checkpoint"]


class StaleWorker:
    """A worker that shows a stopped connector as RUNNING until a restart, and refuses the first restart."""

    patience = 0.0

    def __init__(self) -> None:
        self.restarts = 0

    def connectors(self) -> dict[str, Connector]:
        return {"x": Connector("x", "STOPPED" if self.restarts > 1 else "RUNNING", (), {})}

    def restart_connector(self, _name: str) -> None:
        self.restarts += 1
        if self.restarts == 1:
            raise DrError("connect_busy", "A rebalance is pending.", "Wait.")


def test_a_refused_restart_of_a_stale_connector_is_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = StaleWorker()
    stopping = Stopping(worker, ["x"])
    moments = [(0.0, 0, ["x"]), (6.0, 1, ["x"]), (8.0, 1, ["x"]), (12.0, 2, ["x"]), (60.0, 2, [])]
    for now, restarts, left in moments:
        monkeypatch.setattr("time.monotonic", lambda now=now: now)
        assert (stopping.left(), worker.restarts) == (left, restarts)


def test_a_connector_that_is_not_listed_is_left_but_does_not_run() -> None:
    worker = StaleWorker()
    worker.restarts = 2
    stopping = Stopping(worker, ["x", "gone"])
    assert (stopping.left(), stopping.running()) == (["gone"], [])
