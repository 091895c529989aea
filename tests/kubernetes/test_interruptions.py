# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run that ends right after any of its write requests: the same operation, repeated, comes to the same state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils import _http
from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.flow import reconcile_flow
from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.mirror import FlowSpec
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.flows.pair_spec import ClusterSpec
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from kube_apiserver import until
from kube_place import BOUNDS, MADE, OFFSETS, SOURCE, Place

T0 = Partition("T", 0)
STORED = [{"partition": {"cluster": alias, "partition": 0, "topic": "T"}, "offset": {"offset": 5}} for alias in "PQ"]


class Killed(BaseException):
    """Ends a run. Nothing in the product may handle it."""


class Cut:
    """Ends a run after the answer to its write request ``at``, counted from 1; 0: never."""

    def __init__(self, at: int, patch: pytest.MonkeyPatch) -> None:
        self.at = at
        #: The methods of the writes so far.
        self.writes: list[str] = []
        patch.setattr(_http.HttpClient, "_attempt", self._around(_http.HttpClient._attempt))

    def _around(self, attempt: Callable[..., Any]) -> Callable[..., Any]:
        def made(client: Any, method: str, url: str, path: str, *rest: Any) -> Any:
            self._end_here()
            answer = attempt(client, method, url, path, *rest)
            self.writes += [method] if method != "GET" and "accessreviews" not in path else []
            self._end_here()
            return answer

        return made

    def _end_here(self) -> None:
        # Also again: a process that has ended sends nothing more.
        if self.at and len(self.writes) >= self.at:
            raise Killed


def bring(place: Place, state: str, topics: tuple[str, ...] = ("T",)) -> None:
    """What the module ``connect_mirror`` does with the source connector."""
    spec = FlowSpec(ClusterSpec("P", "p:9092"), ClusterSpec("B", "b:9092"), topics, ("g",), tasks_max=2)
    result = reconcile_flow(place.client(), spec, ("source",), state, BOUNDS, False)
    assert result.failure is None, result.failure.sentence()


def stop(place: Place) -> None:
    result = place.engine().stop("P", "B", True, BOUNDS, False)
    assert result.failure is None, result.failure.sentence()


@dataclass(frozen=True)
class Operation:
    """``before``: the state in which it begins. ``writes``: the kinds of requests that it sends at least."""

    before: str
    run: Callable[[Place], None]
    writes: set[str]


OPERATIONS = {
    "create": Operation("absent", lambda place: bring(place, "present"), {"POST", "PATCH", "DELETE"}),
    "stop": Operation("running", stop, {"PATCH", "DELETE"}),
    "resume": Operation("present", lambda place: bring(place, "running"), {"PATCH", "DELETE"}),
    "set topics": Operation("present", lambda place: bring(place, "present", ("T", "U")), {"PATCH"}),
    "replace offsets": Operation(
        "present", lambda place: place.engine().offsets("P", "B").replace({T0: 41}), {"POST", "PATCH", "DELETE"}
    ),
    "update offsets": Operation(
        "present", lambda place: place.engine().offsets("P", "B").update({T0: 41}, ""), {"POST", "PATCH", "DELETE"}
    ),
    "remove offsets": Operation(
        "present", lambda place: place.engine().offsets("P", "B").forget(["T"]), {"POST", "PATCH", "DELETE"}
    ),
    "delete": Operation("present", lambda place: bring(place, "absent"), {"DELETE"}),
}


def prepare(place: Place, state: str) -> None:
    """Begin anew: no resource but the connector in ``state``, with an offset of its own alias and one of another."""
    if place.kube.get(place.path()):
        place.kube.call("DELETE", place.path())
    for left in place.kube.items(f"/api/v1/namespaces/{place.name}/configmaps"):
        place.kube.call("DELETE", f"/api/v1/namespaces/{place.name}/configmaps/{left['metadata']['name']}")
    until(lambda: not place.workers.connectors)
    place.workers.stored.clear()
    if state != "absent":
        bring(place, state)
        place.workers.stored[MADE][:] = STORED
    place.workers.calls.clear()


def reached(place: Place) -> Any:
    """The connector on the workers, its offsets, and what the resource wants."""
    resource = place.kube.get(place.path()) or {"spec": {}, "metadata": {}}
    spec = {key: value for key, value in resource["spec"].items() if not key.endswith("Offsets")}
    offsets = sorted(place.workers.stored.get(MADE, []), key=str)
    return (
        {name: (*state, place.workers.connectors[name].config) for name, state in place.workers.states().items()},
        offsets,
        spec,
        resource["metadata"].get("annotations"),
    )


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_that_was_cut_after_any_write_is_completed_by_the_next_run(place: Place, name: str) -> None:
    operation = OPERATIONS[name]

    def run(at: int) -> tuple[list[str], bool]:
        """Run the operation, cut after this write. Return the writes that it sent, and whether it was cut."""
        with pytest.MonkeyPatch.context() as patch:
            cut = Cut(at, patch)
            try:
                operation.run(place)
            except Killed:
                return cut.writes, True
        return cut.writes, False

    prepare(place, operation.before)
    writes, was_cut = run(0)
    assert set(writes) >= operation.writes
    settle(place)
    wanted, alters, at = reached(place), place.alters(), 0
    while at == 0 or was_cut:
        at += 1
        prepare(place, operation.before)
        writes, was_cut = run(at)
        left = place.alters()
        operation.run(place)
        settle(place)
        assert reached(place) == wanted, f"after {writes}"
        assert_owned(place)
        # The work of the run that was cut, if it was on its way, and that of the next run.
        assert place.alters() <= left + 1 + alters, f"after {writes}"
        if "offsets" in name:
            assert_altered_for_good(place)
    assert at > len(operation.writes)


def assert_owned(place: Place) -> None:
    """A ConfigMap that is left belongs to the resource: it is deleted with it, and the next work replaces it."""
    for left in place.kube.items(f"/api/v1/namespaces/{place.name}/configmaps"):
        assert [one["name"] for one in left["metadata"]["ownerReferences"]] == [MADE]


def settle(place: Place) -> None:
    """Wait until the workers have what the resource wants, and the operator has no more work."""
    resource = place.kube.get(place.path())
    if resource is None:
        until(lambda: not place.workers.connectors)
        return
    wanted = {"stopped": ("STOPPED", 0), "running": ("RUNNING", 2)}[resource["spec"]["state"]]
    until(lambda: place.workers.states().get(MADE) == wanted)
    topics = resource["spec"]["config"]["topics"]
    until(lambda: place.workers.connectors[MADE].config["topics"] == topics)
    until(lambda: OFFSETS not in (place.kube.get(place.path()) or resource)["metadata"]["annotations"])


def assert_altered_for_good(place: Place) -> None:
    """No work is left that the operator would do again at the next stop."""
    alters, offsets = place.alters(), list(place.workers.stored[MADE])
    place.workers.topics = {}
    place.client().resume(SOURCE)
    until(lambda: place.workers.states()[MADE] == ("RUNNING", 2))
    stop(place)
    assert (place.alters(), place.workers.stored[MADE]) == (alters, offsets)
    place.workers.topics = {"T": 100}
