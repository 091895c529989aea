# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands of docs/kubernetes.md, in their order, from an empty namespace to an application that was moved."""

from __future__ import annotations

import base64
import re
import shlex
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.strimzi.site import Site
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kubernetes.control import control
from fake_workloads import FakeWorkloads
from kube_apiserver import ROOT, Cluster, define
from manifests import documents, folder
from strimzi.kube import Kube, KubeError

PAGE = (ROOT / "docs" / "kubernetes.md").read_text()
COMMANDS = [shlex.split(line)[1:] for line in re.findall(r"^ +(kubectl .*)$", PAGE, re.MULTILINE)]
INVENTORY = yaml.safe_load(re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[0])
STRICT = {"fieldValidation": "Strict"}


def carry_out(kube: Kube, words: list[str]) -> None:
    """Do by the API what kubectl does with these words. Fails for words that it does not know."""
    match words:
        case ["create", "namespace", name]:
            kube.call("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        case ["apply", "-f", file]:
            for body in documents(file.removeprefix("awx/kubernetes/")):
                place = folder(body, body["metadata"]["namespace"])
                with pytest.raises(KubeError, match="unknown field"):
                    kube.call("POST", place, {**body, "no-such-field": 1}, {**STRICT, "dryRun": "All"})
                kube.call("POST", place, body, STRICT)
        case ["-n", namespace, "create", "secret", "generic", name, *files]:
            keys = [file.removeprefix("--from-file=").partition("=")[0] for file in files]
            content = base64.b64encode(b"x").decode()
            body = {"metadata": {"name": name}, "data": dict.fromkeys(keys, content)}
            kube.call("POST", f"/api/v1/namespaces/{namespace}/secrets", body)
        case ["-n", namespace, "wait", resource, *_condition]:
            kind, name = resource.split("/")
            assert kube.get(f"/apis/kafka.strimzi.io/v1/namespaces/{namespace}/{kind}s/{name}")
        case ["-n", namespace, "get", "secret", name, "-o", *_path]:
            # A controller that is not part of the API server fills it in.
            assert (kube.get(f"/api/v1/namespaces/{namespace}/secrets/{name}") or {})["type"].endswith("-token")
        case _:
            raise AssertionError(words)


@pytest.fixture(scope="module")
def token(cluster: Cluster) -> str:
    """A token of the account, after all commands."""
    kube = cluster.kube()
    define(kube, "0.49.1")
    for words in COMMANDS:
        carry_out(kube, words)
    account = "/api/v1/namespaces/kafka/serviceaccounts/kafka-dr/token"
    return str(kube.call("POST", account, {"spec": {"expirationSeconds": 600}})["status"]["token"])


def login(cluster: Cluster, token: str) -> dict[str, Any]:
    return {"url": cluster.url, "ca_path": str(cluster.ca), "token": token}


def test_the_account_has_the_rights_of_the_engine_and_finds_the_kafka_connect(cluster: Cluster, token: str) -> None:
    place = {key: INVENTORY["kafka_dr_strimzi"]["B"][key] for key in ("namespace", "connect")}
    site = Site({**login(cluster, token), **place}, 15.0)
    site.require_rights()
    assert (site.group_id, site.offsets_topic) == ("dr-b", "dr-b-offsets")
    factors = {key: value for key, value in site.worker["spec"]["config"].items() if key.endswith("replication.factor")}
    assert (len(factors), set(factors.values())) == (3, {3})


def test_the_workers_may_read_each_secret_that_the_inventory_refers_to_and_no_other(kube: Kube, token: str) -> None:
    del token
    references = set(re.findall(r"\$\{secrets:(\w+)/([\w-]+):([\w-]+)\}", PAGE))
    assert len(references) == 4
    for namespace, name, key in references:
        assert key in (kube.get(f"/api/v1/namespaces/{namespace}/secrets/{name}") or {})["data"]
        assert workers_may_read(kube, namespace, name)
    assert not workers_may_read(kube, "kafka", "kafka-dr-token")


def workers_may_read(kube: Kube, namespace: str, secret: str) -> bool:
    attributes = {"namespace": namespace, "resource": "secrets", "name": secret, "verb": "get"}
    body = {"spec": {"user": "system:serviceaccount:kafka:dr-b-connect", "resourceAttributes": attributes}}
    answer = kube.call("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", body)
    return bool(answer["status"]["allowed"])


@pytest.fixture
def pods(cluster: Cluster) -> Iterator[None]:
    made = FakeWorkloads(cluster.kube(manager="kube-controller-manager"), "shop")
    made.start()
    yield
    made.stop()


def test_the_account_moves_the_application(cluster: Cluster, kube: Kube, token: str, pods: None) -> None:
    del pods
    (client,) = INVENTORY["kafka_dr_clients"]
    workload = {key: value for key, value in client["workload"].items() if key != "kubeconfig"}
    defaults = {"kind": "Deployment", "endpoint_kind": "ConfigMap", "endpoint_key": "kafka.env"}
    given = {**login(cluster, token), **defaults, **workload, "client": client["name"], "gitops_suspended": False}
    assert control([given], False, 20.0, 15.0, False).failure is None
    assert kube.items("/api/v1/namespaces/shop/pods") == []
    done = control([{**given, "content": "for B"}], True, 20.0, 15.0, False)
    assert (done.failure, len(kube.items("/api/v1/namespaces/shop/pods"))) == (None, 2)
    # The pods mount it.
    deployment = kube.get("/apis/apps/v1/namespaces/shop/deployments/payments-api") or {}
    (volume,) = deployment["spec"]["template"]["spec"]["volumes"]
    mounted = kube.get(f"/api/v1/namespaces/shop/configmaps/{volume['configMap']['name']}") or {}
    assert mounted["data"] == {"kafka.env": "for B"}
