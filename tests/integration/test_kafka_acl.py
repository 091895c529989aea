# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kafka_acl on a real cluster with an authorizer: create, repeat, check, diff, delete, refuse."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.modules import kafka_acl
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module
from lab.lab import Lab

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]

Run = Callable[..., dict[str, Any]]


@pytest.fixture
def who() -> str:
    """A principal that only this test uses."""
    return f"User:app-{uuid.uuid4().hex[:8]}"


@pytest.fixture
def apply(secure_lab: Lab) -> Run:
    cluster = secure_lab.info()["clusters"]["P"]

    def run(acls: list[dict[str, Any]], check: bool = False, user: str = "admin", **params: Any) -> dict[str, Any]:
        base = {"bootstrap_servers": cluster["bootstrap_servers"], "expected_cluster_id": cluster["cluster_id"]}
        options = {**base, "client": secure_lab.client(user), "acls": acls, **params}
        return run_module(kafka_acl, options, check, diff=True)

    return run


def rights(who: str) -> list[dict[str, Any]]:
    """One of each kind."""
    return [
        {"principal": who, "operation": "read", "resource_type": "topic", "name": "Payments"},
        {"principal": who, "operation": "read", "resource_type": "group", "name": "settle", "pattern_type": "prefixed"},
        {"principal": who, "operation": "write", "resource_type": "transactional_id", "name": "*"},
        {"principal": who, "operation": "describe", "resource_type": "cluster"},
        {
            "principal": who,
            "operation": "all",
            "resource_type": "topic",
            "name": "Secret",
            "permission": "deny",
            "host": "10.1.2.3",
        },
    ]


def done(result: dict[str, Any]) -> list[tuple[str, str]]:
    return [(change["action"], change["status"]) for change in result["changes"]]


def test_acls_are_created_and_the_second_run_changes_nothing(apply: Run, who: str) -> None:
    first, again = apply(rights(who)), apply(rights(who))
    assert (first["changed"], done(first)) == (True, [("create", "done")] * 5)
    assert (again["changed"], again["changes"], again["diff"]) == (False, [], {"before": {}, "after": {}})
    assert again["acls"] == first["acls"]
    assert {acl["name"] for acl in again["acls"]} == {"Payments", "settle", "*", "kafka-cluster", "Secret"}


def test_check_mode_shows_the_same_and_creates_nothing(apply: Run, who: str) -> None:
    planned = apply(rights(who), check=True)
    assert apply([], principals=[who])["acls"] == []
    real = apply(rights(who))
    assert done(planned) == [("create", "planned")] * 5
    assert (planned["diff"], planned["acls"]) == (real["diff"], real["acls"])


def test_absent_deletes_exactly_the_listed_acls(apply: Run, who: str) -> None:
    apply(rights(who))
    assert done(apply(rights(who)[:2], state="absent", check=True)) == [("delete", "planned")] * 2
    gone = apply(rights(who)[:2], state="absent")
    assert (done(gone), len(gone["acls"])) == ([("delete", "done")] * 2, 3)
    assert apply(rights(who)[:2], state="absent")["changed"] is False
    assert len(apply([], principals=[who])["acls"]) == 3


def test_exact_keeps_the_acls_of_other_principals(apply: Run, who: str) -> None:
    other = f"{who}-other"
    apply(rights(who) + rights(other))
    wider = {**rights(who)[0], "name": "Pay", "pattern_type": "prefixed"}
    result = apply([wider], state="exact")
    assert done(result) == [("create", "done")] + [("delete", "done")] * 5
    assert [acl["name"] for acl in apply([], principals=[who])["acls"]] == ["Pay"]
    assert len(apply([], principals=[other])["acls"]) == 5
    assert apply([wider], state="exact")["changed"] is False
    assert apply([], state="exact", principals=[who, other])["acls"] == []


def test_deleting_a_literal_asterisk_deletes_only_that_acl(apply: Run, who: str) -> None:
    """In a filter of Kafka's own tools it can match every name."""
    every, one = ({**rights(who)[0], "name": name} for name in ("*", "Payments"))
    apply([every, one])
    assert [acl["name"] for acl in apply([every], state="absent")["acls"]] == ["Payments"]
    assert [acl["name"] for acl in apply([], principals=[who])["acls"]] == ["Payments"]


def test_without_the_right_to_list_acls_the_result_is_an_error_and_not_an_empty_list(apply: Run, who: str) -> None:
    """confluent-kafka returns an empty list for a refused request."""
    apply(rights(who))
    for params in ({"acls": rights(who)}, {"acls": [], "principals": [who]}):
        result = apply(**params, user="consumer")
        assert (result["rc"], result["error"]["code"]) == (1, "not_authorized")
        assert "DESCRIBE on the cluster" in result["msg"]


def test_with_only_the_right_to_list_acls_a_change_is_refused(apply: Run, who: str) -> None:
    observation = {"principal": "User:consumer", "operation": "describe", "resource_type": "cluster"}
    apply([observation])
    try:
        assert apply([], principals=[who], user="consumer")["acls"] == []
        assert apply(rights(who), check=True, user="consumer")["changed"]
        result = apply(rights(who), user="consumer")
        assert (result["rc"], result["error"]["code"]) == (1, "not_authorized")
    finally:
        apply([observation], state="absent")


def test_a_list_with_an_invalid_entry_is_refused_as_a_whole(apply: Run, who: str) -> None:
    wrong = [
        {"principal": "payments", "operation": "read", "resource_type": "topic", "name": "x"},
        {"principal": who, "operation": "write", "resource_type": "group", "name": "x"},
    ]
    result = apply(rights(who) + wrong)
    assert (result["rc"], result["error"]["code"]) == (1, "bad_acls")
    assert 'did you mean "User:payments"?' in result["msg"]
    assert 'never checks "write" on a group' in result["msg"]
    assert apply([], principals=[who])["acls"] == []


def test_no_secret_is_in_a_result(apply: Run, who: str, secure_lab: Lab) -> None:
    assert secure_lab.client()["sasl.password"] not in json.dumps(apply(rights(who)))


@pytest.mark.parametrize("check", [False, True])
def test_without_an_authorizer_the_error_has_a_next_step(lab: Lab, who: str, check: bool) -> None:
    servers = lab.info()["clusters"]["P"]["bootstrap_servers"]
    for params in ({"acls": rights(who)}, {"acls": [], "principals": [who], "state": "exact"}):
        result = run_module(kafka_acl, {"bootstrap_servers": servers, **params}, check)
        assert (result["rc"], result["error"]["code"]) == (1, "no_authorizer")
        assert "Set authorizer.class.name on brokers and controllers" in result["msg"]
