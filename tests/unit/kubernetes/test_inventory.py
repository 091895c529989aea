# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The sites of the engine strimzi and the workloads of applications in the inventory."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._clients import _scale_warning
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.layout import client_call
from ansible_collections.switchback.kafka_dr.tests.unit.engines.stages import derived

SITE = {"url": "https://p:6443", "token": "t", "namespace": "kafka", "connect": "dr-p"}
SITES = {"P": SITE, "B": {**SITE, "url": "https://b:6443"}}
CONNECT = {alias: {"bootstrap_servers": f"{alias}:9092", "connect_url": f"http://{alias}:8083"} for alias in "PB"}
WORKLOAD = {"kubeconfig": "/k", "namespace": "shop", "name": "api"}


def problems(engine: str = "strimzi", **given: Any) -> str:
    with pytest.raises(DrError) as error:
        derived(engine, **given)
    return error.value.message


def test_each_cluster_has_the_values_of_its_site() -> None:
    pair = derived("strimzi", strimzi=SITES)
    assert pair["clusters"]["B"]["strimzi"]["url"] == "https://b:6443"
    assert pair["clusters"]["P"]["strimzi"]["validate_certs"] is True


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"url": None}, 'needs exactly one of the keys "url" and "kubeconfig"'),
        ({"kubeconfig": "/k"}, 'needs exactly one of the keys "url" and "kubeconfig"'),
        ({"url": None, "kubeconfig": "/k"}, 'has both "kubeconfig" and "token"'),
        ({"token": None}, "found none"),
        ({"token_file": "/t"}, 'found "token" and "token_file"'),
        ({"token": None, "client_cert": "/c"}, '"client_cert" and "client_key" together'),
        ({"context": "c"}, "which only a kubeconfig has"),
        ({"namespace": "Kafka"}, 'kafka_dr_strimzi.P.namespace is "Kafka", wanted the name of a Kubernetes resource'),
        ({"url": "p:6443"}, 'kafka_dr_strimzi.P.url is "p:6443"'),
        ({"conect": "x"}, 'unknown key "conect". Did you mean "connect"?'),
    ],
)
def test_a_site_that_cannot_work_is_refused(change: dict[str, Any], text: str) -> None:
    assert text in problems(strimzi={**SITES, "P": {**SITE, **change}})


def test_each_cluster_needs_a_kafka_connect_of_its_own() -> None:
    assert 'needs the site "B"' in problems(strimzi={"P": SITE})
    assert "each cluster needs its own KafkaConnect" in problems(strimzi={"P": SITE, "B": SITE})
    assert 'names "X", which is not in kafka_dr_clusters' in problems(strimzi={**SITES, "X": SITE})


def test_engine_connect_is_refused_on_workers_of_an_operator() -> None:
    text = problems("connect", clusters=CONNECT, strimzi={"B": SITE})
    assert 'kafka_dr_strimzi.B names workers that an operator owns, but kafka_dr_engine is "connect"' in text


def client(**given: Any) -> dict[str, Any]:
    return {"name": "api", "role": "producer", "topics": ["T"], "control": "kubernetes", **given}


def test_a_workload_has_its_defaults_and_its_call() -> None:
    pair = derived("connect", clusters=CONNECT, clients=[client(workload={**WORKLOAD, "endpoint_name": "env"})])
    (found,) = pair["clients"]
    assert (found["workload"]["kind"], found["workload"]["endpoint_key"]) == ("Deployment", "kafka.env")
    assert found["has_endpoint"]
    started, stopped = (client_call(found, action, {"api": "E=1"}) for action in ("start", "stop"))
    assert (started["content"], started["client"], "content" in stopped) == ("E=1", "api", False)
    # Nothing is passed that the module does not know, and no null.
    assert None not in started.values()


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({}, 'needs the key "workload"'),
        ({"workload": {"name": "x"}}, 'needs the key "namespace"'),
        (
            {"workload": {**WORKLOAD, "kind": "DaemonSet"}},
            'kind is "DaemonSet", wanted one of: Deployment, StatefulSet',
        ),
        ({"workload": {**WORKLOAD, "name": "A_b"}}, 'workload.name is "A_b"'),
        ({"workload": WORKLOAD, "endpoint_file": "/e"}, "has an endpoint_file"),
        ({"workload": WORKLOAD, "hosts": "app1"}, 'has hosts "app1"'),
        ({"workload": WORKLOAD, "control": "systemd", "unit": "x"}, 'which only control "kubernetes" uses'),
    ],
)
def test_a_workload_that_cannot_work_is_refused(given: dict[str, Any], text: str) -> None:
    assert text in problems("connect", clusters=CONNECT, clients=[client(**given)])


def test_two_applications_do_not_share_a_workload() -> None:
    topics = [{"name": name, "partitions": 1, "application": name.lower()} for name in ("A", "B1")]
    clients = [client(name=name, topics=[name], workload=WORKLOAD) for name in ("A", "B1")]
    given = {"topics": topics, "groups": [], "application": "a", "clients": clients}
    text = problems("connect", clusters=CONNECT, **given)
    assert "share the Deployment shop/api on /k" in text


@pytest.mark.parametrize(
    ("argv", "warned"),
    [
        (["kubectl", "scale", "deploy/x", "--replicas=0"], True),
        (["/usr/bin/oc", "scale", "dc/x", "--replicas=0"], True),
        (["kubectl", "rollout", "status", "deploy/x"], False),
        (["/opt/scale", "down"], False),
        (None, False),
    ],
)
def test_a_command_that_only_scales_is_warned_of(argv: list[str] | None, warned: bool) -> None:
    assert bool(_scale_warning({"name": "x", "argv": argv})) == warned
