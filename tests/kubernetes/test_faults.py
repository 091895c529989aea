# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine strimzi with an API server that refuses or answers wrongly: a clear error, and nothing is changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils import _http
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds
from ansible_collections.switchback.kafka_dr.plugins.module_utils._http import Answer
from kube_apiserver import undefine
from kube_place import CHECKPOINT, CONFIG, SOURCE, Place
from strimzi.kube import Kube

WRITES = ("POST", "PUT", "PATCH", "DELETE")
BRIEF = Bounds(1.0, 0.05)


def status(code: int, message: str) -> Answer:
    """A refusal in the form of the API server."""
    return Answer(code, json.dumps({"kind": "Status", "code": code, "message": message}), {})


def stop(place: Place) -> None:
    failure = place.engine().stop("P", "B", True, BRIEF, check=False).failure
    if failure is not None:
        raise failure


WORK: dict[str, Callable[[Place], Any]] = {
    "about": lambda place: place.engine().about("P", "B"),
    "observe": lambda place: place.engine().observe("P", "B"),
    "create": lambda place: place.client().create("P->B.MirrorHeartbeatConnector", CONFIG, "STOPPED"),
    "stop": stop,
    "delete": lambda place: place.client().delete(CHECKPOINT),
    "offsets": lambda place: place.engine().offsets("P", "B").replace({Partition("T", 0): 3}),
}
ANSWERS = {
    "too many requests": status(429, "too many requests, try again later"),
    "error of etcd": status(500, "etcdserver: request timed out"),
    "page of a proxy": Answer(503, "<html>Service Unavailable</html>", {}),
    "login page": Answer(200, "<html>log in</html>", {}),
}


def answering(patch: pytest.MonkeyPatch, answer: Answer, methods: Collection[str]) -> None:
    """Requests with these methods do not reach the API server, and get this answer."""
    attempt = _http.HttpClient._attempt

    def made(client: Any, method: str, *rest: Any) -> Any:
        return answer if method in methods else attempt(client, method, *rest)

    patch.setattr(_http.HttpClient, "_attempt", made)


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_a_wrong_answer_is_reported_and_nothing_is_changed(
    place: Place, answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.running()
    place.timeout = place.patience = 0.5
    for methods in ((*WRITES, "GET"), WRITES):
        with monkeypatch.context() as patch:
            answering(patch, answer, methods)
            for name, work in WORK.items():
                if name == "observe" and methods == WRITES:
                    continue  # it only reads
                # A stop goes on until its time-out, if the server may answer better later.
                goes_on = name == "stop" and methods == WRITES and answer.status != 200
                code = "connector_not_ready" if goes_on else "kubernetes_unexpected"
                assert f"returned {answer.status} to" in place.refused(code, lambda work=work: work(place)), name


@pytest.mark.parametrize("method", ["PATCH", "POST", "DELETE"])
def test_endless_conflicts_are_reported_and_nothing_is_changed(
    place: Place, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.running()
    place.patience = 0.5
    answering(monkeypatch, status(409, "the object has been modified"), [method])
    name, code = {
        "PATCH": ("stop", "connector_step_failed"),
        "POST": ("create", "kubernetes_conflict"),
        "DELETE": ("delete", "kubernetes_conflict"),
    }[method]
    assert "(409): the object has been modified" in place.refused(code, lambda: WORK[name](place))


@pytest.mark.parametrize(
    ("resource", "verb", "name"),
    [
        ("kafkaconnectors", "get", "stop"),
        ("kafkaconnectors", "list", "observe"),
        ("kafkaconnectors", "patch", "stop"),
        ("kafkaconnectors", "create", "create"),
        ("kafkaconnectors", "delete", "delete"),
        ("kafkaconnects", "get", "create"),
        ("kafkamirrormaker2s", "list", "observe"),
        ("configmaps", "delete", "stop"),
    ],
)
def test_a_right_that_is_revoked_during_a_run_is_named_and_nothing_is_changed(
    place: Place, resource: str, verb: str, name: str
) -> None:
    place.running()
    place.user = "dr"
    place.grant((resource, verb))
    code = "connector_step_failed" if name == "stop" else "kubernetes_forbidden"
    text = place.refused(code, lambda: WORK[name](place))
    assert f'cannot {verb} resource "{resource}"' in text


def test_an_expired_token_is_reported_and_nothing_is_changed(place: Place) -> None:
    place.running()
    place.cluster.tokens["expired"], place.user = "x", "expired"
    for work in WORK.values():
        assert "expired" in place.refused("kubernetes_not_authorized", lambda work=work: work(place))


def test_in_a_wrong_namespace_nothing_is_changed(place: Place) -> None:
    place.running()
    place.name = "nowhere"
    for name in ("about", "observe", "create", "offsets"):
        assert '"nowhere"' in place.refused("no_kafka_connect", lambda name=name: WORK[name](place)), name
    assert '"nowhere"' in place.refused("no_kafka_connector", lambda: WORK["delete"](place))


def test_without_definitions_nothing_is_changed(place: Place, kube: Kube) -> None:
    undefine(kube)
    for name, work in WORK.items():
        text = place.refused("no_strimzi_api", lambda work=work: work(place))
        assert "no version of kafka.strimzi.io, wanted v1 or v1beta2" in text, name


@pytest.mark.parametrize("place", ["0.43.0"], indirect=True)
def test_definitions_without_offsets_are_named_before_a_change_of_offsets(place: Place) -> None:
    place.running()
    place.policy = "identity"
    for name in ("about", "offsets"):
        assert "0.44" in place.refused("operator_too_old", lambda name=name: WORK[name](place))
    assert place.client().find(SOURCE) is not None
