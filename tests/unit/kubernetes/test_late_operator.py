# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine strimzi with an operator that begins each reconciliation 30 s late. Its time-outs have their defaults.

The clock is simulated: it advances only while something sleeps, and the operator works in that time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

import fake_connect
from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect import reconcile, watching
from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.planning import DesiredConnector, plan
from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.reconcile import Reconciler
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core import waiting
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.flows.goals import RUNNING, FlowGoal
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.flows.pair_spec import PairSpec
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.names import naming_of
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.base import SiteSettings
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.strimzi.client import StrimziClient
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.strimzi.engine import StrimziEngine, _patient
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.strimzi.site import Site
from ansible_collections.switchback.kafka_dr.tests.support.scripted import playing
from ansible_collections.switchback.kafka_dr.tests.unit.engines.stages import derived
from fake_connect import FakeConnect
from kube_memory import KubeServer
from strimzi import reconciliation

LATE = 30.0
#: The default of kafka_dr_stop_timeout, within which a connector must start or stop.
BOUNDS = Bounds(60.0)
SOURCE, MADE = "P->B.MirrorSourceConnector", "p-b.mirrorsourceconnector"
OFFSETS = "strimzi.io/connector-offsets"
FOLDER = "/apis/kafka.strimzi.io/v1/namespaces/kafka"
PATH = f"{FOLDER}/kafkaconnectors/{MADE}"
SITE = {"url": "http://x", "token": "t", "namespace": "kafka", "connect": "dr"}
CONFIG = {
    "connector.class": f"{fake_connect.MIRROR}MirrorSourceConnector",
    "tasks.max": "2",
    "source.cluster.alias": "P",
    "target.cluster.alias": "B",
    "topics": "T",
}


class LateOperator:
    """Reconciles one resource after the other, each ``LATE`` seconds after its turn. Also the clock of all others."""

    def __init__(self, server: KubeServer) -> None:
        self.now, self.late = 1000.0, LATE
        self.workers = FakeConnect({"T": 100})
        self._memory = server.memory
        self._reconciler = reconciliation.Reconciler(server.memory, self.workers, "kafka", "v1", (0, 49))
        self._waiting: list[str] = []
        self._due = 0.0
        server.memory.changed = self._changed

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        # Pauses of the engine are shorter. Time passes in larger steps here, so that the test takes less of it.
        end = self.now + max(seconds, 1.0)
        while self._waiting and self._due <= end:
            self.now = max(self.now, self._due)
            path = self._waiting.pop(0)
            if self._waiting:
                self._due = self.now + self.late
            self._reconcile(path)
        self.now = max(self.now, end)

    def _changed(self, path: str) -> None:
        if path.startswith(f"{FOLDER}/kafkaconnectors/") and path not in self._waiting:
            self._due = self._due if self._waiting else self.now + self.late
            self._waiting.append(path)

    def _reconcile(self, path: str) -> None:
        resource = self._memory.get(path)
        if resource is None:
            self.workers.connectors.pop(path.rpartition("/")[2], None)
            return
        reached = self._reconciler.reconcile(resource)
        written = (self._memory.get(path) or {}).get("metadata", {}).get("resourceVersion")
        # A write of the status is an event, too. The operator looks again at a connector that is not there yet.
        if written != resource["metadata"]["resourceVersion"] or not reached:
            self._changed(path)


@pytest.fixture
def server() -> Iterator[KubeServer]:
    schema = {
        "x-kubernetes-group-version-kind": [{"kind": "KafkaConnector"}],
        "properties": {"spec": {"properties": {"listOffsets": {}}}},
    }
    documents = {"/openapi/v3/apis/kafka.strimzi.io/v1": {"components": {"schemas": {"it": schema}}}}
    with playing(KubeServer({"v1": {}}, documents)) as made:
        metadata = {"name": "dr", "annotations": {"strimzi.io/use-connector-resources": "true"}}
        plugins = FakeConnect().call("GET", "/connector-plugins")
        connect = {"metadata": metadata, "spec": {}, "status": {"connectorPlugins": plugins}}
        made.memory.write(f"{FOLDER}/kafkaconnects", connect)
        yield made


@pytest.fixture
def operator(server: KubeServer, monkeypatch: pytest.MonkeyPatch) -> LateOperator:
    made = LateOperator(server)
    for module in (waiting, reconcile, watching, fake_connect, reconciliation):
        monkeypatch.setattr(module, "time", made)
    return made


def client(server: KubeServer) -> StrimziClient:
    """A new client, which has no memory of earlier calls."""
    site = Site({**SITE, "url": server.url}, 15.0)
    return StrimziClient(site, lambda *_key: pytest.fail("reads the offsets topic"), lambda _group: "id-of-B")


def engine(server: KubeServer) -> StrimziEngine:
    return StrimziEngine({"B": client(server)}, naming_of("default"), None)


def prompt(operator: LateOperator, server: KubeServer, state: str) -> None:
    """Create all connectors while the operator is prompt. From now on it is late."""
    operator.late = 0.5
    own = client(server)
    for part in ("Source", "Checkpoint", "Heartbeat"):
        config = {**CONFIG, "connector.class": f"{fake_connect.MIRROR}Mirror{part}Connector"}
        own.create(f"P->B.Mirror{part}Connector", config, state)
    operator.sleep(10.0)
    operator.late = LATE


def resource(server: KubeServer) -> dict[str, Any]:
    found = server.memory.get(PATH)
    assert found is not None
    return found


def alters(operator: LateOperator) -> int:
    return operator.workers.calls.count(("PATCH", f"/connectors/{MADE}/offsets"))


def test_a_new_connector_is_awaited_until_it_is_stopped(operator: LateOperator, server: KubeServer) -> None:
    client(server).create(SOURCE, CONFIG, "STOPPED")
    assert operator.workers.states()[MADE] == ("STOPPED", 0)
    assert operator.workers.connectors[MADE].config["topics"] == "T"
    assert operator.workers.stored[MADE] == []


def test_a_stop_is_proven(operator: LateOperator, server: KubeServer) -> None:
    prompt(operator, server, "RUNNING")
    began = operator.now
    assert engine(server).stop("P", "B", True, BOUNDS, check=False).failure is None
    assert operator.workers.states()[MADE] == ("STOPPED", 0)
    assert operator.now - began > BOUNDS.timeout


def test_a_stop_that_was_requested_before_is_proven(operator: LateOperator, server: KubeServer) -> None:
    prompt(operator, server, "RUNNING")
    assert engine(server).stop("P", "B", True, Bounds(1.0), check=False, awaited=()).failure is None
    assert operator.workers.states()[MADE] == ("RUNNING", 2)
    later = engine(server)
    assert later.stop("P", "B", True, BOUNDS, check=False).failure is None
    assert operator.workers.states()[MADE] == ("STOPPED", 0)
    assert later.rest("P", "B").unproven([SOURCE]) == []


def test_all_parts_are_started(operator: LateOperator, server: KubeServer) -> None:
    prompt(operator, server, "STOPPED")
    pair = PairSpec.of(
        derived("strimzi", strimzi={alias: {**SITE, "connect": alias.lower()} for alias in "PB"})["spec"]
    )
    result = engine(server).apply(pair, [FlowGoal("P->B", *[RUNNING] * 3)], SiteSettings(), BOUNDS, check=False)
    assert result.failure is None, result.failure.sentence()
    assert set(operator.workers.states().values()) == {("RUNNING", 2)}


def test_a_stop_that_the_worker_does_not_carry_out_ends_with_the_time_out(
    operator: LateOperator, server: KubeServer
) -> None:
    prompt(operator, server, "RUNNING")
    operator.late, operator.workers.delay = 0.5, 1e9
    began = operator.now
    failure = engine(server).stop("P", "B", True, BOUNDS, check=False).failure
    assert failure is not None
    assert f"no progress within {operator.now - began:.0f} s" in failure.message
    assert operator.now - began < BOUNDS.timeout + LATE


def test_offsets_are_replaced_once(operator: LateOperator, server: KubeServer) -> None:
    prompt(operator, server, "STOPPED")
    engine(server).offsets("P", "B").replace({Partition("T", 0): 41})
    assert [entry["offset"]["offset"] for entry in operator.workers.stored[MADE]] == [41]
    assert alters(operator) == 1


def test_work_that_a_killed_run_left_is_awaited(operator: LateOperator, server: KubeServer) -> None:
    prompt(operator, server, "STOPPED")
    entry = {"partition": {"cluster": "P", "partition": 0, "topic": "T"}, "offset": {"offset": 10}}
    content = {"metadata": {"name": "left"}, "data": {"offsets.json": json.dumps({"offsets": [entry]})}}
    server.memory.write("/api/v1/namespaces/kafka/configmaps", content)
    spec = {"alterOffsets": {"fromConfigMap": {"name": "left"}}}
    server.memory.patch(PATH, {"metadata": {"annotations": {OFFSETS: "alter"}}, "spec": spec})
    own = client(server)
    own.resume(SOURCE)
    assert (alters(operator), resource(server)["spec"]["state"]) == (1, "running")
    operator.sleep(300.0)
    assert (alters(operator), operator.workers.states()[MADE]) == (1, ("RUNNING", 2))


def test_a_restart_that_the_operator_has_yet_to_carry_out_has_not_failed(
    operator: LateOperator, server: KubeServer
) -> None:
    prompt(operator, server, "RUNNING")
    operator.workers.connectors[MADE].state = "FAILED"
    server.memory.patch(PATH, {"spec": {"tasksMax": 3}})
    operator.sleep(100.0)
    own = client(server)
    actual = own.connectors()
    assert actual[SOURCE].failures
    desired = DesiredConnector(SOURCE, "source", "running", {})
    report = Reconciler(own, _patient(BOUNDS)).apply([desired], {SOURCE: plan(desired, actual[SOURCE])}, actual)
    assert report.failure is None
    assert [outcome.change.action for outcome in report.outcomes] == ["restart"]
    assert operator.workers.states()[MADE] == ("RUNNING", 2)


def test_a_deletion_awaits_pending_work(operator: LateOperator, server: KubeServer) -> None:
    prompt(operator, server, "STOPPED")
    spec = {"listOffsets": {"toConfigMap": {"name": "left"}}}
    server.memory.patch(PATH, {"metadata": {"annotations": {OFFSETS: "list"}}, "spec": spec})
    client(server).delete(SOURCE)
    assert server.memory.get(PATH) is None


def test_an_operator_that_does_not_answer_is_awaited_once(operator: LateOperator, server: KubeServer) -> None:
    """Its full reconciliation is due after 120 s. After that only the bound of the caller counts."""
    prompt(operator, server, "RUNNING")
    operator.late = 1e9
    own, began = client(server), operator.now
    own.stop(SOURCE)
    for _each in range(2):
        with pytest.raises(DrError, match="did not report the offsets") as error:
            own.connectors()
        assert (error.value.code, error.value.retriable) == ("operator_silent", True)
        assert 120.0 < operator.now - began < 200.0
