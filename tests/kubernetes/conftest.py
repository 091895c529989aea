# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One real API server for all tests of a session, a namespace for each test, and emulated operators."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from fake_connect import FakeConnect
from kube_apiserver import Cluster, define, running, until
from kube_place import Place
from strimzi.cluster_operator import Operator
from strimzi.kube import Kube
from strimzi_crds import CONNECT_SPEC, GROUP

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with running(tmp_path_factory.mktemp("kubernetes")) as found:
        yield found


@pytest.fixture
def kube(cluster: Cluster) -> Kube:
    """An administrator, with the field manager of a person."""
    return cluster.kube()


@pytest.fixture
def namespace(kube: Kube) -> str:
    name = f"test-{next(_numbers)}"
    kube.call("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    return name


@pytest.fixture
def operators(cluster: Cluster) -> Iterator[Callable[..., Operator]]:
    """Start an operator for the KafkaConnect ``connect`` of a namespace."""
    started = []

    def start(namespace: str, workers: FakeConnect, version: str = "0.49.1", **options: Any) -> Operator:
        kube = cluster.kube(manager="strimzi-cluster-operator")
        operator = Operator(kube, workers, namespace, options.pop("connect", "dr"), version, **options)
        operator.start()
        started.append(operator)
        return operator

    yield start
    for operator in started:
        operator.stop()


@pytest.fixture
def place(
    cluster: Cluster, kube: Kube, namespace: str, operators: Callable[..., Operator], request: pytest.FixtureRequest
) -> Place:
    """With the operator 0.49.1, or the version that the test is given: ``1.2.0``, or ``vendor 1.2.0``."""
    version = getattr(request, "param", "0.49.1").removeprefix("vendor ")
    define(kube, version, vendor=getattr(request, "param", "").startswith("vendor "))
    workers = FakeConnect({"T": 100})
    found = Place(cluster, kube, namespace, version, workers, None)
    metadata = {"name": "dr", "annotations": {"strimzi.io/use-connector-resources": "true"}}
    kube.call(
        "POST",
        found.path("kafkaconnects", "").rstrip("/"),
        {"apiVersion": f"{GROUP}/{found.api}", "kind": "KafkaConnect", "metadata": metadata, "spec": CONNECT_SPEC},
    )
    found.operator = operators(namespace, workers, version)
    plugins = found.path("kafkaconnects", "dr")
    until(lambda: ((kube.get(plugins) or {}).get("status") or {}).get("connectorPlugins"))
    return found
