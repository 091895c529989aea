# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One real API server for all tests of a session, a namespace for each test, and emulated operators."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from fake_connect import FakeConnect
from kube_apiserver import Cluster, running
from strimzi.kube import Kube, KubeError
from strimzi.operator import Operator
from strimzi_crds import GROUP, definitions

_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with running(tmp_path_factory.mktemp("kubernetes")) as found:
        yield found


@pytest.fixture
def kube(cluster: Cluster) -> Kube:
    """An administrator, with the field manager of a person."""
    return cluster.kube()


def define(kube: Kube, version: str) -> None:
    """Install the definitions of this version of Strimzi, in place of any other."""
    wanted = definitions(version)
    for definition in wanted:
        name = definition["metadata"]["name"]
        found = kube.get(f"{_CRDS}/{name}")
        if found and found["metadata"].get("labels", {}).get("version") == version:
            continue
        if found:
            remove(kube, f"{_CRDS}/{name}")
        definition["metadata"].setdefault("labels", {})["version"] = version
        kube.call("POST", _CRDS, definition)
    served = [item["name"] for item in wanted[0]["spec"]["versions"] if item["served"]]

    def is_served() -> bool:
        try:
            listed = [item["version"] for item in kube.call("GET", f"/apis/{GROUP}")["versions"]]
            if sorted(listed) != sorted(served):
                return False
            for definition in wanted:
                kube.items(f"/apis/{GROUP}/{served[0]}/{definition['spec']['names']['plural']}")
            return True
        except KubeError:
            return False

    until(is_served, 30.0)


def remove(kube: Kube, path: str) -> None:
    """Delete a resource, and wait until it is gone."""
    kube.call("DELETE", path)
    until(lambda: kube.get(path) is None)


def until(holds: Callable[[], Any], seconds: float = 10.0) -> None:
    """Wait until a condition holds; fail if it does not."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"not reached within {seconds:g} s"
        time.sleep(0.02)


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
