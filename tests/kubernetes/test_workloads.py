# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Applications that are Deployments or StatefulSets, on a real API server. A small stand-in runs their pods."""

from __future__ import annotations

import base64
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._kubernetes.control import control
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import Result
from fake_workloads import FakeWorkloads
from kube_apiserver import Cluster, until
from manifests import folder, role_and_binding
from strimzi.kube import Kube, KubeError

REPLICAS = "kafka-dr.switchback/replicas"
KEDA = "autoscaling.keda.sh/paused"
PLURALS = {"Deployment": "deployments", "StatefulSet": "statefulsets"}


class Shop:
    """One namespace with applications."""

    def __init__(self, cluster: Cluster, kube: Kube, namespace: str, pods: FakeWorkloads) -> None:
        self.cluster, self.kube, self.namespace, self.pods_of = cluster, kube, namespace, pods
        self.apps = f"/apis/apps/v1/namespaces/{namespace}"
        self.core = f"/api/v1/namespaces/{namespace}"

    def create(self, name: str = "payments", kind: str = "Deployment", replicas: int = 2, **metadata: Any) -> str:
        labels = {"app": name}
        pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "it", "image": "none"}]}}
        spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": pod}
        body = {"metadata": {"name": name, **metadata}, "spec": spec}
        self.kube.call("POST", f"{self.apps}/{PLURALS[kind]}", {"apiVersion": "apps/v1", "kind": kind, **body})
        until(lambda: len(self.pods(name)) == replicas)
        return f"{self.apps}/{PLURALS[kind]}/{name}"

    def pods(self, name: str = "payments") -> list[dict[str, Any]]:
        return self.kube.items(f"{self.core}/pods", labelSelector=f"app={name}")

    def call(
        self, starts: bool, timeout: float = 20.0, check: bool = False, user: str = "admin", **given: Any
    ) -> Result:
        api = {"url": self.cluster.url, "ca_path": str(self.cluster.ca), "token": self.cluster.tokens[user]}
        defaults = {
            "client": "payments",
            "namespace": self.namespace,
            "kind": "Deployment",
            "name": "payments",
            "endpoint_kind": "ConfigMap",
            "endpoint_key": "kafka.env",
            "gitops_suspended": False,
        }
        return control([{**api, **defaults, **given}], starts, timeout, 5.0, check)


@pytest.fixture
def shop(cluster: Cluster, kube: Kube, namespace: str) -> Iterator[Shop]:
    pods = FakeWorkloads(cluster.kube(manager="kube-controller-manager"), namespace)
    pods.start()
    yield Shop(cluster, kube, namespace, pods)
    pods.stop()


def spec_of(shop: Shop, path: str) -> tuple[int, str | None]:
    found = shop.kube.get(path)
    assert found is not None
    return found["spec"]["replicas"], (found["metadata"].get("annotations") or {}).get(REPLICAS)


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
def test_a_workload_is_stopped_without_pods_and_started_with_its_replicas(shop: Shop, kind: str) -> None:
    path = shop.create(kind=kind, replicas=3)
    planned = shop.call(False, kind=kind, check=True)
    assert [outcome.status for outcome in planned.outcomes] == ["planned"]
    assert spec_of(shop, path) == (3, None)
    done = shop.call(False, kind=kind)
    assert (done.failure, done.changed, shop.pods(), spec_of(shop, path)) == (None, True, [], (0, "3"))
    assert (shop.call(False, kind=kind).failure, shop.call(False, kind=kind).changed) == (None, False)
    assert shop.call(True, kind=kind).failure is None
    assert (spec_of(shop, path), len(shop.pods())) == ((3, None), 3)
    assert not shop.call(True, kind=kind).changed


def test_a_pod_that_still_flushes_is_not_gone(shop: Shop) -> None:
    path = shop.create(replicas=1)
    shop.pods_of.flush = 60.0
    failure = shop.call(False, timeout=1.0).failure
    assert failure is not None
    assert failure.code == "workload_not_stopped"
    assert "payments-1 Terminating" in failure.message
    assert spec_of(shop, path) == (0, "1")
    shop.pods_of._ending.clear()
    shop.pods_of.flush = 0.0
    assert shop.call(False).failure is None


def test_a_workload_that_is_not_ready_is_an_error(shop: Shop) -> None:
    shop.create(replicas=2)
    shop.call(False)
    shop.pods_of.ready = False
    failure = shop.call(True, timeout=1.0).failure
    assert failure is not None
    assert (failure.code, "0 of 2 replicas" in failure.message) == ("workload_not_ready", True)


@pytest.mark.parametrize("kind", ["ConfigMap", "Secret"])
def test_the_endpoint_is_written_before_pods_start(shop: Shop, kind: str) -> None:
    shop.create()
    folder = f"{shop.core}/{'configmaps' if kind == 'ConfigMap' else 'secrets'}"
    old = "old" if kind == "ConfigMap" else base64.b64encode(b"old").decode()
    body = {"apiVersion": "v1", "kind": kind, "metadata": {"name": "kafka"}, "data": {"kafka.env": old, "other": old}}
    shop.kube.call("POST", folder, body)
    point: dict[str, Any] = {"endpoint_kind": kind, "endpoint_name": "kafka", "content": "new"}
    running = shop.call(True, **point).failure
    assert running is not None
    assert running.code == "workload_runs"
    shop.call(False)
    done = shop.call(True, **point)
    assert done.failure is None
    assert [outcome.change.kind for outcome in done.outcomes] == ["endpoint", "workload"]
    data = (shop.kube.get(f"{folder}/kafka") or {})["data"]
    value = data["kafka.env"] if kind == "ConfigMap" else base64.b64decode(data["kafka.env"]).decode()
    assert (value, data["other"]) == ("new", old)
    assert "new" not in str(done.requests) + str(done.outcomes)


def test_a_missing_or_immutable_endpoint_is_named_and_nothing_starts(shop: Shop) -> None:
    path = shop.create()
    shop.call(False)
    point: dict[str, Any] = {"endpoint_name": "kafka", "content": "new"}
    failure = shop.call(True, **point).failure
    assert failure is not None
    assert (failure.code, "does not exist" in failure.message) == ("endpoint_not_writable", True)
    body = {"metadata": {"name": "kafka"}, "data": {"kafka.env": "old"}, "immutable": True}
    shop.kube.call("POST", f"{shop.core}/configmaps", body)
    failure = shop.call(True, **point).failure
    assert failure is not None
    assert "is immutable" in failure.message
    assert spec_of(shop, path) == (0, "2")


@pytest.mark.parametrize(
    ("metadata", "hint"),
    [
        ({"annotations": {"argocd.argoproj.io/tracking-id": "shop:apps/Deployment:x"}}, "Argo CD"),
        ({"labels": {"kustomize.toolkit.fluxcd.io/name": "shop"}}, "flux suspend"),
    ],
)
def test_a_workload_that_gitops_applies_is_refused(shop: Shop, metadata: dict[str, Any], hint: str) -> None:
    path = shop.create(**metadata)
    failure = shop.call(False).failure
    assert failure is not None
    assert (failure.code, hint in failure.hint) == ("workload_owned", True)
    assert spec_of(shop, path) == (2, None)
    assert shop.call(False, gitops_suspended=True).failure is None


def test_a_workload_that_is_scaled_up_again_meanwhile_is_an_error(shop: Shop) -> None:
    """As by a controller that heals it while its pods end."""
    path = shop.create(replicas=1)
    shop.pods_of.flush = 60.0

    def heal() -> None:
        until(lambda: spec_of(shop, path)[0] == 0)
        shop.kube.patch(path, {"spec": {"replicas": 1}})

    healer = threading.Thread(target=heal)
    healer.start()
    failure = shop.call(False).failure
    healer.join()
    assert failure is not None
    assert (failure.code, "scaled to 1 again" in failure.message) == ("workload_owned", True)
    shop.pods_of._ending.clear()
    shop.pods_of.flush = 0.0


def test_a_workload_that_another_program_scaled_to_0_is_not_started_with_a_guess(shop: Shop) -> None:
    path = shop.create(replicas=0)
    failure = shop.call(True).failure
    assert failure is not None
    assert (failure.code, f"{REPLICAS}=N" in failure.hint) == ("replicas_unknown", True)
    assert spec_of(shop, path) == (0, None)


def scaled_objects(shop: Shop, *objects: tuple[str, str, str | None]) -> str:
    """Create ScaledObjects: name, workload, and whether it is paused. Return their path."""
    crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    names = {"kind": "ScaledObject", "plural": "scaledobjects", "singular": "scaledobject"}
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1alpha1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    spec = {"group": "keda.sh", "scope": "Namespaced", "names": names, "versions": [version]}
    body = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    if shop.kube.get(f"{crds}/scaledobjects.keda.sh") is None:
        shop.kube.call("POST", crds, {**body, "metadata": {"name": "scaledobjects.keda.sh"}, "spec": spec})
    folder = f"/apis/keda.sh/v1alpha1/namespaces/{shop.namespace}/scaledobjects"
    until(lambda: served(shop.kube, folder))
    for name, target, mark in objects:
        metadata = {"name": name, "annotations": {KEDA: mark} if mark else {}}
        one = {"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "metadata": metadata}
        shop.kube.call("POST", folder, {**one, "spec": {"scaleTargetRef": {"name": target}}})
    return folder


def test_a_scaled_object_is_paused_and_only_ours_is_resumed(shop: Shop) -> None:
    shop.create()
    folder = scaled_objects(shop, ("ours", "payments", None), ("theirs", "payments", "true"), ("other", "x", None))

    def paused() -> list[str]:
        items = shop.kube.items(folder)
        return [one["metadata"]["name"] for one in items if (one["metadata"].get("annotations") or {}).get(KEDA)]

    assert shop.call(False).failure is None
    assert paused() == ["ours", "theirs"]
    assert shop.call(True).failure is None
    assert paused() == ["theirs"]


def served(kube: Kube, path: str) -> bool:
    """Whether a kind is served. While its storage starts, the API server answers 404 or 429."""
    try:
        return kube.get(path) is not None
    except KubeError:
        return False


def test_a_missing_workload_is_named(shop: Shop) -> None:
    failure = shop.call(False, name="nothing").failure
    assert failure is not None
    assert failure.code == "no_workload"


# ---- the Role of awx/kubernetes/applications.yml

ROLE, BINDING = role_and_binding("applications.yml")
RIGHTS = [(rule["resources"][0], verb) for rule in ROLE["rules"] for verb in rule["verbs"]]


def grant(shop: Shop, missing: tuple[str, str] | None) -> None:
    """Give the user ``dr`` the Role without one right, and wait until the API server applies it."""
    rules = [
        {**rule, "verbs": [verb for verb in rule["verbs"] if (rule["resources"][0], verb) != missing]}
        for rule in ROLE["rules"]
    ]
    role = {**ROLE, "rules": [rule for rule in rules if rule["verbs"]]}
    for body in (role, BINDING):
        shop.kube.call("POST", folder(body, shop.namespace), body)
    until(lambda: [right for right in RIGHTS if not may(shop, *right)] == ([missing] if missing else []))


def may(shop: Shop, resource: str, verb: str) -> bool:
    (rule,) = (rule for rule in ROLE["rules"] if rule["resources"] == [resource])
    attributes = {"namespace": shop.namespace, "group": rule["apiGroups"][0], "resource": resource, "verb": verb}
    attributes["name"] = rule.get("resourceNames", [""])[0]
    body = {"spec": {"user": "dr", "resourceAttributes": attributes}}
    answer = shop.kube.call("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", body)
    return bool(answer["status"]["allowed"])


@pytest.mark.parametrize("missing", [None, *RIGHTS])
def test_the_role_of_applications_is_enough_and_each_right_is_needed(
    shop: Shop, missing: tuple[str, str] | None
) -> None:
    grant(shop, missing)
    scaled_objects(shop, ("api", "api", None), ("store", "store", None))
    failures = []
    for kind, name, endpoint in (("Deployment", "api", "configmap"), ("StatefulSet", "store", "secret")):
        shop.create(name, kind, replicas=1)
        shop.kube.call("POST", f"{shop.core}/{endpoint}s", {"metadata": {"name": "payments-kafka"}})
        endpoint_kind = {"configmap": "ConfigMap", "secret": "Secret"}[endpoint]
        point = {"endpoint_kind": endpoint_kind, "endpoint_name": "payments-kafka", "content": "new"}
        for starts in (False, True):
            failure = shop.call(starts, user="dr", kind=kind, name=name, **point).failure
            failures += [] if failure is None else [failure]
    if missing is None:
        assert failures == []
    else:
        assert failures[0].code == "kubernetes_forbidden"
        assert f'cannot {missing[1]} resource "{missing[0]}"' in failures[0].message


CHECKED = ("deployments", "pods", "configmaps", "scaledobjects")


@pytest.mark.parametrize("missing", [right for right in RIGHTS if right[0] in CHECKED])
def test_check_mode_names_a_missing_right_before_an_application_stops(shop: Shop, missing: tuple[str, str]) -> None:
    grant(shop, missing)
    scaled_objects(shop, ("payments", "payments", None))
    shop.create(replicas=1)
    shop.kube.call("POST", f"{shop.core}/configmaps", {"metadata": {"name": "payments-kafka"}})
    point: dict[str, Any] = {"endpoint_name": "payments-kafka", "content": "new"}
    failure = shop.call(True, check=True, user="dr", **point).failure
    assert failure is not None
    resource, verb = missing
    wanted = f"{verb} {resource}" if verb != "get" else f'cannot get resource "{resource}"'
    assert wanted in failure.message
