# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""KafkaConnector resources as connectors: no stale status becomes a state."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.strimzi.resources import (
    NAME,
    config_patch,
    connector_of,
    mirror_connectors,
    resource_name,
    spec_of,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kubernetes.ownership import (
    gitops_tool,
    owner_of,
    suspension,
)

SOURCE = "org.apache.kafka.connect.mirror.MirrorSourceConnector"


def resource(state: str | None, shown: str | None, tasks: int = 0, observed: int = 7, **spec: Any) -> dict[str, Any]:
    status: dict[str, Any] = {"observedGeneration": observed}
    if shown:
        listed = [{"id": index, "state": shown} for index in range(tasks)]
        status["connectorStatus"] = {"connector": {"state": shown}, "tasks": listed}
    metadata = {"name": "p-b.x", "generation": 7, "annotations": {NAME: "P->B.x"}}
    given = {"class": SOURCE, **({"state": state} if state else {}), **spec}
    return {"metadata": metadata, "spec": given, "status": status}


@pytest.mark.parametrize(
    ("state", "shown", "tasks", "observed", "wanted"),
    [
        ("stopped", "STOPPED", 0, 7, ("STOPPED", True)),
        ("stopped", "STOPPED", 1, 7, ("STOPPED", False)),
        # Stale: right after the stop, and right before it.
        ("stopped", "RUNNING", 2, 7, ("STOPPED", False)),
        ("stopped", "STOPPED", 0, 6, ("STOPPED", False)),
        ("stopped", None, 0, 7, ("STOPPED", False)),
        ("paused", "RUNNING", 2, 7, ("PAUSED", False)),
        ("running", "RUNNING", 2, 7, ("RUNNING", False)),
        (None, "RUNNING", 2, 7, ("RUNNING", False)),
        # Stale: right after the start.
        ("running", "STOPPED", 0, 7, ("UNKNOWN", False)),
        ("running", "RUNNING", 2, 6, ("UNKNOWN", False)),
        ("running", None, 0, 7, ("UNKNOWN", False)),
        ("running", "FAILED", 0, 7, ("FAILED", False)),
    ],
)
def test_a_status_counts_only_where_it_agrees_with_the_specification(
    state: str | None, shown: str | None, tasks: int, observed: int, wanted: tuple[str, bool]
) -> None:
    found = connector_of(resource(state, shown, tasks, observed))
    assert (found.state, found.stopped) == wanted
    assert found.running == (wanted[0] == "RUNNING")
    assert (found.name, found.part) == ("P->B.x", "source")


def test_the_older_field_pause_is_a_state() -> None:
    assert connector_of(resource(None, "RUNNING", 2, pause=True)).state == "PAUSED"


def test_a_connector_that_the_operator_could_not_create_is_failed_with_its_message() -> None:
    refused = resource("running", None)
    refused["status"]["conditions"] = [{"type": "NotReady", "status": "True", "message": "400: no such class"}]
    found = connector_of(refused)
    assert (found.state, found.trace) == ("FAILED", "400: no such class")
    # A message about an earlier specification is none about this one.
    refused["status"]["observedGeneration"] = 6
    assert connector_of(refused).state == "UNKNOWN"


def test_a_configuration_is_the_same_after_a_round_trip() -> None:
    config = {"connector.class": SOURCE, "tasks.max": "4", "name": "P->B.x", "topics": "T", "a": "true"}
    spec = spec_of(config, "stopped")
    assert spec == {"class": SOURCE, "tasksMax": 4, "state": "stopped", "config": {"topics": "T", "a": "true"}}
    made = {"metadata": {"name": "p-b.x", "generation": 1, "annotations": {NAME: "P->B.x"}}, "spec": spec}
    assert connector_of(made).config == config
    made["spec"]["config"]["old"] = 1
    assert config_patch(made, config) == {
        "class": SOURCE,
        "tasksMax": 4,
        "config": {"topics": "T", "a": "true", "old": None},
    }


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("P->B.MirrorSourceConnector", "p-b.mirrorsourceconnector"),
        ("dc_1->dc-2.pay.MirrorSourceConnector", "dc-1-dc-2.pay.mirrorsourceconnector"),
        ("_P->B.x", "p-b.x"),
    ],
)
def test_a_name_is_one_that_kubernetes_accepts(name: str, made: str) -> None:
    assert resource_name(name) == made


@pytest.mark.parametrize("name", ["P->B._.x", f"{'a' * 300}->B.x"])
def test_a_name_that_cannot_be_made_is_refused(name: str) -> None:
    with pytest.raises(DrError, match="has no name that Kubernetes accepts"):
        resource_name(name)


def test_connectors_of_a_mirror_maker_before_v1() -> None:
    spec = {"mirrors": [{"sourceCluster": "P", "targetCluster": "B", "groupsPattern": "g", "checkpointConnector": {}}]}
    (found,) = mirror_connectors({"metadata": {"name": "mm2"}, "spec": spec})
    assert (found.name, found.part, found.state) == ("mm2/P->B.MirrorCheckpointConnector", "checkpoint", "UNKNOWN")
    assert found.config["groups"] == "g"


@pytest.mark.parametrize(
    ("replicas", "status", "expected"),
    [
        (0, {"observedGeneration": 3, "replicas": 0}, "STOPPED"),
        (0, {"observedGeneration": 2, "replicas": 0}, "UNKNOWN"),
        (0, {"observedGeneration": 3, "replicas": 1}, "UNKNOWN"),
        (0, {"observedGeneration": 3}, "UNKNOWN"),
        (1, {"observedGeneration": 3, "replicas": 0}, "UNKNOWN"),
    ],
)
def test_connectors_without_replicas_are_stopped_once_the_operator_has_seen_it(
    replicas: int, status: dict[str, Any], expected: str
) -> None:
    mirror = {"source": {"alias": "P"}, "sourceConnector": {}}
    spec = {"replicas": replicas, "target": {"alias": "B"}, "mirrors": [mirror]}
    resource = {"metadata": {"name": "mm2", "generation": 3}, "spec": spec, "status": status}
    assert [(found.state, found.tasks) for found in mirror_connectors(resource)] == [(expected, ())]


# ---- who else writes


def managed(manager: str, operation: str = "Update", subresource: str | None = None) -> dict[str, Any]:
    entry = {"manager": manager, "operation": operation, "fieldsV1": {"f:spec": {"f:state": {}}}}
    return {"metadata": {"managedFields": [{**entry, **({"subresource": subresource} if subresource else {})}]}}


@pytest.mark.parametrize(
    ("manager", "operation", "owner"),
    [
        ("argocd-controller", "Update", True),
        ("argocd-controller", "Apply", True),
        ("kustomize-controller", "Apply", True),
        ("helm-controller", "Update", True),
        ("some-operator", "Apply", True),
        ("some-operator", "Update", False),
        ("kubectl", "Apply", False),
        ("kubectl-client-side-apply", "Update", False),
        ("switchback.kafka_dr", "Update", False),
    ],
)
def test_an_owner_is_a_program_that_writes_a_field_again(manager: str, operation: str, owner: bool) -> None:
    assert owner_of(managed(manager, operation), "spec", "state") == (manager if owner else None)
    assert owner_of(managed(manager, operation), "spec", "config") is None
    assert owner_of(managed(manager, operation, "status"), "spec", "state") is None


def test_what_to_suspend_is_named() -> None:
    assert gitops_tool({"metadata": {"labels": {"helm.toolkit.fluxcd.io/name": "x"}}}) == "Flux"
    assert gitops_tool({"metadata": {}}) is None
    assert "flux suspend" in suspension("Flux", ("spec", "replicas"))
    assert "ignore /spec/replicas" in suspension("argocd-controller", ("spec", "replicas"))
    assert "remove /spec/state" in suspension("some-operator", ("spec", "state"))
