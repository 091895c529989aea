# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""dr_fence on real clusters: closed means that the broker refuses writes, and an unknown state is never closed."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import Producer

from ansible_collections.switchback.kafka_dr.plugins.modules import dr_fence, kafka_acl, kafka_topic
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module, warned
from lab.lab import Lab

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]

Run = Callable[..., dict[str, Any]]
OTHER = {"operation": "write", "resource_type": "topic", "permission": "deny", "name": "Elsewhere"}


def base(lab: Lab) -> dict[str, Any]:
    cluster = lab.info()["clusters"]["P"]
    return {"bootstrap_servers": cluster["bootstrap_servers"], "expected_cluster_id": cluster["cluster_id"]}


def pair(lab: Lab, topics: list[str], user: str = "") -> dict[str, Any]:
    """The options that name the cluster P, with the login of ``user``."""
    cluster = {**lab.info()["clusters"]["P"], "admin_client": lab.client(user) if user else {}}
    return {"pair": {"clusters": {"P": cluster}, "topics": topics}, "at": "P"}


@pytest.fixture
def who() -> str:
    """A principal that only this test uses."""
    return f"User:app-{uuid.uuid4().hex[:8]}"


@pytest.fixture(scope="module")
def topics(secure_lab: Lab) -> list[str]:
    names = ["Fenced", "Fenced.too"]
    wanted = [{"name": name, "partitions": 1, "replication_factor": 1} for name in names]
    made = run_module(kafka_topic, {**base(secure_lab), "client": secure_lab.client("admin"), "topics": wanted})
    assert not made["failed"], made
    return names


@pytest.fixture
def fence(secure_lab: Lab, who: str, topics: list[str]) -> Run:
    def run(state: str = "fenced", check: bool = False, user: str = "admin", **params: Any) -> dict[str, Any]:
        own = {**pair(secure_lab, topics, user), "principals": [who], "state": state, **params}
        return run_module(dr_fence, own, check, diff=True)

    return run


def listed(lab: Lab, who: str) -> list[str]:
    found = run_module(kafka_acl, {**base(lab), "client": lab.client("admin"), "principals": [who]})
    return [f"{acl['permission']} {acl['operation']} {acl['name']}" for acl in found["acls"]]


def test_a_fence_is_closed_and_opened_and_only_its_own_acls_are_removed(secure_lab: Lab, fence: Run, who: str) -> None:
    other = {**base(secure_lab), "client": secure_lab.client("admin"), "acls": [{**OTHER, "principal": who}]}
    run_module(kafka_acl, other)
    planned = fence(check=True)
    assert (planned["changed"], planned["fenced"], planned["bans"]) == (True, False, 0)
    assert listed(secure_lab, who) == ["deny write Elsewhere"]
    closed, again = fence(), fence()
    assert (closed["changed"], closed["fenced"], closed["bans"]) == (True, True, 2)
    assert (again["changed"], again["fenced"]) == (False, True)
    assert set(listed(secure_lab, who)) == {"deny write Elsewhere", "deny write Fenced", "deny write Fenced.too"}
    opened = fence("open")
    assert (opened["changed"], opened["fenced"]) == (True, False)
    assert fence("open")["changed"] is False
    assert listed(secure_lab, who) == ["deny write Elsewhere"]


def test_the_log_ends_are_those_after_the_fence_is_in_force(secure_lab: Lab, fence: Run) -> None:
    """R50: the end of a partition with an open transaction moves without a record, so it is no evidence."""
    login = {**secure_lab.client("admin"), "bootstrap.servers": base(secure_lab)["bootstrap_servers"]}
    plain, transactional = Producer(login), Producer({**login, "transactional.id": uuid.uuid4().hex})
    assert "ends" not in fence()
    before = fence(log_ends=True)["ends"]
    plain.produce("Fenced", b"1", partition=0)
    assert plain.flush(30) == 0
    after = fence(log_ends=True)["ends"]
    assert (after["Fenced"]["0"], after["Fenced.too"]) == (before["Fenced"]["0"] + 1, before["Fenced.too"])
    assert "ends" not in fence(log_ends=True, check=True)
    transactional.init_transactions(30)
    transactional.begin_transaction()
    transactional.produce("Fenced.too", b"2", partition=0)
    assert transactional.flush(30) == 0
    assert fence(log_ends=True)["ends"] == {"Fenced": after["Fenced"]}
    transactional.abort_transaction(30)
    assert fence("open")["changed"] is True


def test_other_acls_that_deny_writes_are_reported_and_kept(
    secure_lab: Lab, fence: Run, who: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One example is a DENY for a principal that is no longer in the inventory."""
    gone = f"{who}-renamed"
    fence(principals=[gone])
    prefixed = {**OTHER, "principal": who, "name": "Fen", "pattern_type": "prefixed"}
    elsewhere = {**OTHER, "principal": who}
    rights = {**base(secure_lab), "client": secure_lab.client("admin")}
    run_module(kafka_acl, {**rights, "acls": [prefixed, elsewhere]})
    try:
        fence()
        opened = fence("open")
        text = warned(opened, capsys)
        assert (opened["failed"], opened["changed"]) == (False, True)
        assert f"deny {gone} from *: write topic literal Fenced" in text
        assert f"deny {who} from *: write topic prefixed Fen" in text
        assert "3 other DENY ACLs" in text
        assert "Elsewhere" not in text
        assert set(listed(secure_lab, who)) == {"deny write Fen", "deny write Elsewhere"}
        assert len(listed(secure_lab, gone)) == 2
    finally:
        fence("open", principals=[gone])
        run_module(kafka_acl, {**rights, "acls": [prefixed], "state": "absent"})
    assert "other DENY ACLs" not in warned(fence("open"), capsys)


def test_without_the_right_to_list_acls_nothing_is_opened_and_a_warning_is_given(
    fence: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """The applications start anyway: with kafka_dr_fence: none, the right to list ACLs is not needed."""
    soft = fence("open", user="consumer")
    assert (soft["failed"], soft["changed"]) == (False, False)
    assert "It is unknown whether" in warned(soft, capsys)
    assert fence("open", user="consumer", required=True)["error"]["code"] == "not_authorized"


def test_only_a_write_of_the_application_itself_proves_that_it_is_denied(secure_lab: Lab, fence: Run) -> None:
    """A DENY for a super user exists but has no effect, and brokers do not report which users are super users."""
    login = {"User:producer": secure_lab.client("producer")}
    try:
        unasked, asked = fence(principals=["User:producer"]), fence(principals=["User:producer"], logins=login)
        assert (unasked["fenced"], unasked["proven"], asked["fenced"], asked["proven"]) == (True, False, True, True)
        above = {"principals": ["User:broker"], "logins": {"User:broker": secure_lab.client("broker")}}
        soft = fence(**above)
        assert (soft["failed"], soft["fenced"], soft["proven"]) == (False, False, False)
        assert "User:broker may write" in soft["reason"]
        assert fence(**above, required=True)["error"]["code"] == "not_kept_out"
    finally:
        fence("open", principals=["User:producer", "User:broker"])


def test_without_the_right_to_list_acls_the_fence_is_unknown(fence: Run) -> None:
    refused = fence(user="consumer")
    assert (refused["failed"], refused["changed"]) == (True, False)
    assert refused["error"]["code"] in ("not_authorized", "kafka_refused"), refused["error"]


def test_without_an_authorizer_the_cluster_is_open(lab: Lab) -> None:
    own = {**pair(lab, ["Payments"]), "principals": ["User:app"]}
    soft = run_module(dr_fence, own)
    assert (soft["failed"], soft["fenced"], soft["changed"]) == (False, False, False)
    assert "no authorizer" in soft["reason"]
    assert run_module(dr_fence, {**own, "required": True})["error"]["code"] == "no_authorizer"
