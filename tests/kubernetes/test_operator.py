# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The emulated operator behaves like the real one: each test quotes what was measured with Strimzi 0.49.1.

The API server is real. Kafka Connect is a small one in memory, whose states follow requests 0.15 s later.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from fake_connect import FakeConnect
from kube_apiserver import define, until
from strimzi.cluster_operator import Operator
from strimzi.kube import Kube, KubeError
from strimzi_crds import CONNECT_SPEC, GROUP

NAME = "p-b.source"
OFFSETS = "strimzi.io/connector-offsets"
CLASS = "org.apache.kafka.connect.mirror.MirrorSourceConnector"
WORD = "a refusal of Kafka Connect"
T0 = {"cluster": "P", "partition": 0, "topic": "T"}


class Namespace:
    """The resources of one test."""

    def __init__(self, kube: Kube, name: str, version: str) -> None:
        api = "v1" if tuple(int(part) for part in version.split(".")) >= (0, 49) else "v1beta2"
        self.kube, self.api = kube, f"{GROUP}/{api}"
        self.root = f"/apis/{GROUP}/{api}/namespaces/{name}"
        self.maps = f"/api/v1/namespaces/{name}/configmaps"

    @property
    def path(self) -> str:
        return f"{self.root}/kafkaconnectors/{NAME}"

    def connect(self, **annotations: str) -> None:
        metadata = {"name": "dr", "annotations": {"strimzi.io/use-connector-resources": "true", **annotations}}
        body = {"apiVersion": self.api, "kind": "KafkaConnect", "metadata": metadata, "spec": CONNECT_SPEC}
        self.kube.call("POST", f"{self.root}/kafkaconnects", body)

    def create(self, state: str, topics: str = "T", name: str = NAME) -> None:
        metadata = {"name": name, "labels": {"strimzi.io/cluster": "dr"}}
        spec = {"class": CLASS, "tasksMax": 2, "state": state}
        spec["config"] = {"topics": topics, "source.cluster.alias": "P"}
        body = {"apiVersion": self.api, "kind": "KafkaConnector", "metadata": metadata, "spec": spec}
        self.kube.call("POST", f"{self.root}/kafkaconnectors", body)

    def get(self) -> dict[str, Any]:
        found = self.kube.get(self.path)
        assert found is not None
        return found

    def patch(self, spec: dict[str, Any] | None = None, **metadata: Any) -> dict[str, Any]:
        return self.kube.patch(self.path, {"metadata": metadata, "spec": spec or {}})

    def shown(self) -> tuple[str | None, int]:
        """State and number of tasks in the status."""
        status = (self.get().get("status") or {}).get("connectorStatus") or {}
        return (status.get("connector") or {}).get("state"), len(status.get("tasks") or [])

    def annotation(self, key: str = OFFSETS) -> str | None:
        return (self.get()["metadata"].get("annotations") or {}).get(key)

    def observed(self) -> int:
        return int((self.get().get("status") or {}).get("observedGeneration") or 0)

    def warnings(self) -> list[str]:
        conditions = (self.get().get("status") or {}).get("conditions") or []
        return [condition["reason"] for condition in conditions if condition["type"] == "Warning"]


Start = Callable[..., tuple[Namespace, FakeConnect, Operator]]


@pytest.fixture
def start(kube: Kube, namespace: str, operators: Callable[..., Operator]) -> Start:
    def run(version: str = "0.49.1", **options: Any) -> tuple[Namespace, FakeConnect, Operator]:
        define(kube, version)
        found, workers = Namespace(kube, namespace, version), FakeConnect({"T": 100})
        found.connect()
        return found, workers, operators(namespace, workers, version, **options)

    return run


def test_a_connector_without_a_resource_is_deleted(start: Start) -> None:
    """A1b.1: all three connectors made by REST were gone 3 s after the KafkaConnect was ready, later ones at the next
    full reconciliation (120 s by default).
    """
    found, workers, _operator = start(interval=0.5)
    workers.call("POST", "/connectors", {"name": "by-rest", "config": {"connector.class": CLASS}})
    found.create("running")
    until(lambda: "by-rest" not in workers.connectors)
    until(lambda: NAME in workers.connectors)


def test_a_stop_by_rest_is_undone(start: Start) -> None:
    """A1b.2: undone after 3 s, by any reconciliation; at the latest after 120 s."""
    found, workers, _operator = start(interval=1.0)
    found.create("running")
    until(lambda: found.shown() == ("RUNNING", 2))
    workers.call("PUT", f"/connectors/{NAME}/stop")
    until(lambda: workers.states()[NAME] == ("STOPPED", 0))
    until(lambda: workers.states()[NAME] == ("RUNNING", 2))


def test_a_paused_reconciliation_leaves_the_connector_alone_and_shows_no_status(start: Start) -> None:
    """A1b.3: changes by REST were left alone for 135 s; the status had no connectorStatus; the specification was
    enforced 0.5 s after the annotation was gone.
    """
    found, workers, _operator = start(interval=0.3)
    found.create("running")
    until(lambda: found.shown() == ("RUNNING", 2))
    found.patch(annotations={"strimzi.io/pause-reconciliation": "true"})
    until(lambda: found.shown() == (None, 0))
    workers.call("PUT", f"/connectors/{NAME}/stop")
    until(lambda: workers.states()[NAME] == ("STOPPED", 0))
    end = time.monotonic() + 1.0
    while time.monotonic() < end:
        assert workers.states()[NAME] == ("STOPPED", 0)
    found.patch(annotations={"strimzi.io/pause-reconciliation": None})
    until(lambda: workers.states()[NAME] == ("RUNNING", 2))


def test_a_change_of_the_state_reaches_the_worker_by_the_watch(start: Start) -> None:
    """A1b.4: the request came 0.1 s after the patch; the worker was STOPPED without tasks after 0.9 to 1.0 s, and
    RUNNING with tasks after 0.2 s. The next full reconciliation would have been up to 120 s later.
    """
    found, workers, _operator = start(interval=120.0)
    found.create("running")
    until(lambda: found.shown() == ("RUNNING", 2))
    for state, request, shown in (("stopped", "stop", ("STOPPED", 0)), ("running", "resume", ("RUNNING", 2))):
        workers.calls.clear()
        found.patch({"state": state})
        until(lambda request=request: ("PUT", f"/connectors/{NAME}/{request}") in workers.calls, 3.0)
        until(lambda shown=shown: workers.states()[NAME] == shown, 3.0)


def test_the_first_status_after_a_stop_is_stale(start: Start) -> None:
    """A1b.5: 5 of 5 stops: observedGeneration reached the generation after 0.1 s with RUNNING and 2 tasks; one or two
    events later the status was right.
    """
    found, _workers, _operator = start()
    found.create("running")
    until(lambda: found.shown() == ("RUNNING", 2))
    generation = found.patch({"state": "stopped"})["metadata"]["generation"]
    first = None
    while first is None:
        resource = found.get()
        if resource["status"]["observedGeneration"] == generation:
            first = resource["status"]["connectorStatus"]
    assert (first["connector"]["state"], len(first["tasks"])) == ("RUNNING", 2)
    until(lambda: found.shown() == ("STOPPED", 0), 3.0)


def test_one_patch_with_a_new_list_gives_state_and_offsets_from_after_it(start: Start) -> None:
    """A1b.6: 4 of 4 after 0.14 to 0.19 s; a change of annotations alone does not move the generation."""
    found, workers, _operator = start()
    found.create("running")
    until(lambda: found.shown() == ("RUNNING", 2))
    before = found.get()["metadata"]["generation"]
    alone = found.patch(annotations={"example": "x"})
    assert alone["metadata"]["generation"] == before
    changed = found.patch({"listOffsets": {"toConfigMap": {"name": "look"}}}, annotations={OFFSETS: "list"})
    assert changed["metadata"]["generation"] == before + 1
    until(lambda: found.annotation() is None and found.observed() == before + 1)
    listed = found.kube.get(f"{found.maps}/look")
    assert listed is not None
    assert '"offset": 99' in listed["data"]["offsets.json"]
    assert listed["metadata"]["ownerReferences"][0]["name"] == NAME
    assert workers.connectors[NAME].offsets == [{"partition": T0, "offset": {"offset": 99}}]


@pytest.mark.parametrize(("version", "replicated"), [("0.49.1", True), ("1.1.0", True), ("1.2.0", False)])
def test_a_connector_that_is_created_stopped_runs_first_below_1_2(start: Start, version: str, replicated: bool) -> None:
    """A1: with 0.49.1 it was RUNNING with 2 tasks for 0.13 to 0.2 s, and all 100 records of a topic were replicated."""
    found, workers, _operator = start(version)
    found.create("stopped")
    until(lambda: found.shown() == ("STOPPED", 0))
    assert bool(workers.stored[NAME]) == replicated


def alter(found: Namespace, offset: int) -> None:
    content = json.dumps({"offsets": [{"partition": T0, "offset": {"offset": offset}}]})
    found.kube.write(
        found.maps,
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "wanted"}, "data": {"offsets.json": content}},
    )
    found.patch({"alterOffsets": {"fromConfigMap": {"name": "wanted"}}}, annotations={OFFSETS: "alter"})


def test_offsets_of_a_stopped_connector_are_altered_and_reset(start: Start) -> None:
    """A1b.7: 0.16 s; A1: reset within 0.8 s after the stop."""
    found, workers, _operator = start()
    found.create("stopped", topics="none")
    until(lambda: found.shown() == ("STOPPED", 0))
    alter(found, 41)
    until(lambda: found.annotation() is None)
    assert workers.stored[NAME] == [{"partition": T0, "offset": {"offset": 41}}]
    found.patch(annotations={OFFSETS: "reset"})
    until(lambda: found.annotation() is None)
    assert workers.stored[NAME] == []


def test_offsets_of_a_running_connector_are_not_reset_before_it_is_stopped(start: Start) -> None:
    """A1: condition Warning with ResetOffsets until it is stopped, then done within 0.8 s."""
    found, workers, _operator = start(interval=0.3)
    found.create("running")
    until(lambda: found.shown() == ("RUNNING", 2))
    found.patch(annotations={OFFSETS: "reset"})
    until(lambda: found.warnings() == ["ResetOffsets"])
    assert workers.stored[NAME] != []
    found.patch({"state": "stopped"})
    until(lambda: found.annotation() is None)
    assert workers.stored[NAME] == []


def test_a_change_during_an_alter_makes_the_operator_alter_again(start: Start) -> None:
    """A1b.8: the removal of the annotation failed with a conflict, and the next stop altered the offsets again."""
    found, workers, _operator = start(interval=0.3)
    found.create("stopped", topics="none")
    until(lambda: found.shown() == ("STOPPED", 0))
    workers.slow_offsets = 0.3
    alter(found, 10)

    def altered() -> int:
        return sum(call == ("PATCH", f"/connectors/{NAME}/offsets") for call in workers.calls)

    until(workers.begun.is_set)
    found.patch({"state": "running"})
    until(lambda: altered() == 1 and workers.states()[NAME][0] == "RUNNING")
    assert found.annotation() == "alter"
    found.patch({"state": "stopped"})
    until(lambda: altered() == 2)
    until(lambda: found.annotation() is None)


def test_no_write_of_the_operator_sets_the_specification_back(start: Start) -> None:
    """A1b.9: 5 of 5 changes during its work stayed; its own patch failed on the resourceVersion instead."""
    found, workers, _operator = start(interval=0.3)
    found.create("stopped", topics="none")
    until(lambda: found.shown() == ("STOPPED", 0))
    workers.slow_offsets = 0.2
    for number in range(5):
        workers.begun.clear()
        alter(found, number)
        until(workers.begun.is_set)
        wanted = found.patch({"config": {"topics": f"none-{number}"}, "tasksMax": 3 + number})["spec"]
        until(lambda: found.annotation() is None)
        assert found.get()["spec"] == wanted
    managers = {entry["manager"]: entry["fieldsV1"] for entry in found.get()["metadata"]["managedFields"]}
    assert "f:status" in managers["strimzi-cluster-operator"]
    assert "f:spec" not in managers["strimzi-cluster-operator"]


def test_resources_of_one_kafka_connect_are_reconciled_one_after_the_other(start: Start) -> None:
    """A1b.10: under one lock, which the operator awaits for 10 s."""
    found, workers, _operator = start()
    found.create("stopped", topics="none")
    found.create("running", name="p-b.other")
    until(lambda: found.shown() == ("STOPPED", 0) and workers.states().get("p-b.other") == ("RUNNING", 2))
    workers.slow_offsets = 0.5
    workers.calls.clear()
    alter(found, 1)
    until(workers.begun.is_set)
    found.kube.patch(found.path.replace(NAME, "p-b.other"), {"spec": {"state": "stopped"}})
    until(lambda: ("PUT", "/connectors/p-b.other/stop") in workers.calls)
    changes = [call for call in workers.calls if call[0] != "GET"]
    assert changes[:2] == [("PATCH", f"/connectors/{NAME}/offsets"), ("PUT", "/connectors/p-b.other/stop")]


def test_the_offsets_of_a_deleted_connector_survive(start: Start) -> None:
    """A1: a connector made anew under the old name had the old offsets."""
    found, workers, _operator = start()
    found.create("running")
    until(lambda: found.shown() == ("RUNNING", 2))
    found.kube.call("DELETE", found.path)
    until(lambda: NAME not in workers.connectors)
    assert workers.stored[NAME] == [{"partition": T0, "offset": {"offset": 99}}]


def test_an_operator_before_0_44_does_not_list_offsets(start: Start) -> None:
    """A1: spec.listOffsets came with 0.44; an older definition drops the field, or refuses it if it is asked to."""
    found, _workers, _operator = start("0.43.0")
    found.create("running")
    until(lambda: found.shown() == ("RUNNING", 2))
    patched = found.patch({"listOffsets": {"toConfigMap": {"name": "look"}}})
    assert "listOffsets" not in patched["spec"]
    with pytest.raises(KubeError, match="unknown field"):
        found.kube.call("PATCH", f"{found.path}?fieldValidation=Strict", {"spec": {"listOffsets": {}}})


def test_a_refused_configuration_is_reported_as_not_ready(start: Start) -> None:
    """A1: conditions Ready or NotReady; the message is Kafka Connect's."""
    found, _workers, _operator = start()
    found.create("running")
    until(lambda: found.shown() == ("RUNNING", 2))
    found.patch({"config": {"fails": WORD}})

    def refusal() -> Any:
        return [one for one in found.get()["status"]["conditions"] if one["type"] == "NotReady"]

    until(refusal)
    assert WORD in refusal()[0]["message"]
