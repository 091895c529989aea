# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fence through Aiven's API, with an emulated service whose brokers apply ACLs late. Without Kafka."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from aiven_api.kafka_acls import Entry
from ansible_collections.switchback.kafka_dr.plugins.module_utils._aiven import acls as aiven_acls
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError, Unreachable
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.flows.pair_spec import PairSpec
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.acl import Acl
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.opening import open_engine
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka import acls as kafka_acls
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import Result
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair import fence as fences
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.connections.engines import Opened
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.fence import FenceRequest
from ansible_collections.switchback.kafka_dr.tests.unit.aiven.api import KAFKA, Api
from ansible_collections.switchback.kafka_dr.tests.unit.engines.stages import derived

WHO = ("User:a", "User:b")
BANS = {Entry(who, "Topic", "T", "LITERAL", "Write", "DENY") for who in WHO}
OTHER = Entry("User:a", "Topic", "T", "LITERAL", "Read", "DENY")


@pytest.fixture(autouse=True)
def cluster(api: Api, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A cluster whose broker answers a principal by the ACLs that it has applied, and does not list them."""
    api.site["kafka_service"] = KAFKA
    kafka = SimpleNamespace(bootstrap_servers="p:9092", requests=[])

    def open_pair(clusters: Any, naming: Any, timeout: float) -> Opened:
        found: Any = {"P": kafka}
        return Opened(found, open_engine(clusters, naming, found, timeout))

    def may_write(_own: Any, _request: Any, login: Any) -> bool:
        return Entry(login["who"], "Topic", "T", "LITERAL", "Write", "DENY") not in api.broker.applied

    monkeypatch.setattr(fences, "open_pair", open_pair)
    monkeypatch.setattr(fences, "_may_write", may_write)
    monkeypatch.setattr(aiven_acls, "describe", lambda *_values: set())
    monkeypatch.setattr(aiven_acls.AivenAcls, "effect_seconds", 2.0)
    return kafka


def fence(api: Api, state: str = "fenced", check: bool = False, required: bool = False, who: Any = WHO) -> Result:
    request = FenceRequest(
        pair=PairSpec.of(api.pair()["spec"]),
        at="P",
        principals=who,
        logins={name: {"who": name} for name in WHO},
        required=required,
        request_timeout=0.5,
        bounds=Bounds(2.0, 0.02),
    )
    return fences.fence(request, state, check)


def verdict(result: Result) -> tuple[bool, bool]:
    return result.extra["fenced"], result.extra["proven"]


# ---- the fence


def test_a_fence_is_proven_only_when_the_brokers_have_applied_it(api: Api) -> None:
    api.switch(acl_effect_seconds=0.3)
    closed = fence(api)
    assert (closed.failure, verdict(closed), closed.changed) == (None, (True, True), True)
    assert api.broker.applied == BANS
    assert [request["path"].rpartition("/v1")[2] for request in closed.requests if request["method"] == "POST"] == [
        "/project/lab/service/kafka/kafka/acl"
    ] * 2


def test_an_acl_that_does_not_take_effect_in_time_is_no_fence(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    api.switch(acl_effect_seconds=30)
    monkeypatch.setattr(aiven_acls.AivenAcls, "effect_seconds", 0.1)
    soft, hard = fence(api), fence(api, required=True)
    assert (soft.failure, verdict(soft)) == (None, (False, False))
    assert "User:a, User:b may write" in soft.extra["reason"]
    assert hard.failure is not None
    assert hard.failure.code == "not_kept_out"


def test_a_principal_without_a_login_is_not_verified(api: Api) -> None:
    closed = fence(api, who=(*WHO, "User:c"))
    assert verdict(closed) == (True, False)
    assert "not verified: User:c" in closed.extra["reason"]


def test_a_second_run_and_check_mode_send_no_change(api: Api) -> None:
    planned = fence(api, check=True)
    assert (verdict(planned), planned.changed, api.writes) == ((False, False), True, [])
    fence(api)
    sent = list(api.writes)
    again = fence(api)
    assert (verdict(again), again.outcomes, api.writes) == ((True, True), [], sent)


def test_opening_deletes_only_the_acls_of_the_fence_and_waits_until_writing_is_allowed(api: Api) -> None:
    api.broker.create(OTHER)
    fence(api)
    api.switch(acl_effect_seconds=0.3)
    opened = fence(api, "open")
    assert (opened.failure, opened.changed, opened.warnings) == (None, True, [])
    assert api.broker.applied == {OTHER}
    assert fence(api, "open").outcomes == []


def test_a_principal_that_may_not_write_yet_is_named_when_the_fence_is_opened(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    fence(api)
    api.switch(acl_effect_seconds=30)
    monkeypatch.setattr(aiven_acls.AivenAcls, "effect_seconds", 0.1)
    assert fence(api, "open").warnings == ["The broker does not let User:a, User:b write."]


@pytest.mark.parametrize(("code", "seen"), [("", True), ("kafka_error", True), ("acl_not_shown", False)])
def test_where_kafka_lists_the_acls_of_the_api_it_must_list_the_fence(
    api: Api, code: str, seen: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    api.broker.create(OTHER)
    asked: list[Any] = []
    late = DrError(code, "The broker does not report 2 changed ACLs.") if code else None
    monkeypatch.setattr(
        aiven_acls, "describe", lambda *_values: {Acl("User:a", "topic", "T", "read", permission="deny")}
    )
    monkeypatch.setattr(aiven_acls, "wait_for_broker", lambda *values: asked.append(values) or late)
    closed = fence(api)
    assert (len(asked), verdict(closed), closed.failure) == (1, (seen, seen), None)
    assert bool(closed.warnings) is not seen
    assert fence(api, "open").failure is (None if seen else late)


# ---- refusals

REFUSALS: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    # Keys of the site, switches of the emulator, the error.
    ({"token": "reader-token"}, {}, "aiven_forbidden"),
    ({"token": "wrong"}, {}, "aiven_not_authorized"),
    ({"kafka_service": "nothing"}, {}, "aiven_not_found"),
    ({"kafka_project": "nowhere"}, {}, "aiven_not_found"),
    ({}, {"native_acls": False}, "aiven_not_found"),
    ({}, {"faults": [{"kind": "error", "times": None}]}, "aiven_busy"),
    ({}, {"faults": [{"kind": "html", "times": None}]}, "aiven_not_json"),
    ({}, {"faults": [{"kind": "error", "times": None, "method": "POST"}]}, "acl_refused"),
]


@pytest.mark.parametrize(("site", "switches", "code"), REFUSALS, ids=range(len(REFUSALS)))
def test_a_refusal_leaves_the_cluster_unfenced_or_fails(
    api: Api, site: dict[str, Any], switches: dict[str, Any], code: str
) -> None:
    api.site.update(site)
    api.switch(**switches)
    soft, hard = fence(api), fence(api, required=True)
    assert (soft.failure, verdict(soft), len(soft.warnings)) == (None, (False, False), 1)
    assert hard.failure is not None
    assert (hard.failure.code, verdict(hard)) == (code, (False, False))
    assert api.broker.applied == set()


def test_a_fence_that_cannot_be_read_does_not_keep_applications_from_starting(api: Api) -> None:
    """The API may be lost in a disaster. Then a fence that an earlier move left is named."""
    api.fail("unavailable")
    soft = fence(api, "open")
    assert (soft.failure, soft.changed, len(soft.warnings)) == (None, False, 1)
    assert "It is unknown whether writing is denied there." in soft.warnings[0]
    api.broker.create(next(entry for entry in BANS if entry.principal == "User:b"))
    assert fence(api, "open").warnings[1:] == ["The broker does not let User:b write."]
    with pytest.raises(DrError, match="503"):
        fence(api, "open", required=True)


def test_a_half_written_fence_is_no_fence_and_the_next_run_removes_it(api: Api) -> None:
    api.switch(acl_effect_seconds=0, faults=[{"kind": "html", "times": 1, "method": "POST"}])
    half = fence(api)
    assert (half.failure, verdict(half)) == (None, (False, False))
    assert "failed" in {outcome.status for outcome in half.outcomes}
    assert fence(api, "open").failure is None
    assert api.broker.applied == set()


@pytest.mark.parametrize("kind", ["dropped", "error"])
def test_a_lost_response_is_resolved_by_the_list(api: Api, kind: str) -> None:
    api.fail(kind, 2, method="POST", after=True)
    assert verdict(fence(api)) == (True, True)
    assert api.broker.applied == BANS


def test_an_identical_acl_of_another_controller_is_no_error(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was created after this run had read the list."""
    for entry in BANS:
        api.broker.create(entry)
    monkeypatch.setattr(aiven_acls.AivenAcls, "describe", lambda *_values: set())
    closed = fence(api)
    assert (verdict(closed), {status for _method, status in api.writes}) == ((True, True), {409})


def test_a_response_without_the_fields_of_an_acl_is_an_error(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api.server.kafka, "rows", lambda: [{"id": "acl1"}])
    failed = fence(api, required=True).failure
    assert failed is not None
    assert failed.code == "aiven_unexpected"


def test_every_kind_of_acl_is_read_and_written_in_the_words_of_the_api(api: Api) -> None:
    named = Acl("User:a", "transactional_id", "x-", "idempotent_write", "prefixed", "allow", "10.0.0.1")
    row = aiven_acls._fields(named)
    assert row == {
        "principal": "User:a",
        "host": "10.0.0.1",
        "resource_type": "TransactionalId",
        "resource_name": "x-",
        "pattern_type": "PREFIXED",
        "operation": "IdempotentWrite",
        "permission_type": "ALLOW",
    }
    assert aiven_acls._acl(row) == named


# ---- without the service of the cluster: Kafka


@pytest.mark.parametrize("code", ["no_authorizer", "not_authorized", "kafka_error"])
def test_a_cluster_that_refuses_acls_over_kafka_is_unfenced(
    api: Api, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    del api.site["kafka_service"]

    def refuse(*_values: Any) -> Any:
        raise DrError(code, "Kafka refused: create an ACL.")

    monkeypatch.setattr(kafka_acls, "describe", refuse)
    soft, hard = fence(api), fence(api, required=True)
    assert (soft.failure, verdict(soft)) == (None, (False, False))
    assert soft.extra["reason"] == "Kafka refused: create an ACL."
    assert bool(soft.warnings) is (code != "no_authorizer")
    assert hard.failure is not None
    assert hard.failure.code == code


def test_an_authorizer_that_implements_no_changes_leaves_the_cluster_unfenced(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    del api.site["kafka_service"]
    monkeypatch.setattr(kafka_acls, "describe", lambda *_values: set())

    def fail(_kafka: Any, changes: Any, _check: bool) -> Any:
        return [kafka_acls.Outcome(change, "failed", "Unknown server error.") for change in changes]

    monkeypatch.setattr(kafka_acls, "apply", fail)
    soft = fence(api)
    assert (soft.failure, verdict(soft)) == (None, (False, False))
    assert "2 of 2 ACLs were refused" in soft.extra["reason"]


def test_a_cluster_that_does_not_respond_is_an_error(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    del api.site["kafka_service"]

    def silent(*_values: Any) -> Any:
        raise Unreachable("kafka_unreachable", "No answer.")

    monkeypatch.setattr(kafka_acls, "describe", silent)
    with pytest.raises(Unreachable):
        fence(api)


def test_only_an_engine_that_says_so_tolerates_a_refusal() -> None:
    kafka: Any = None
    refusals = [DrError(code, "") for code in ("no_authorizer", "not_authorized", "acl_refused", "run_superseded")]
    assert [kafka_acls.KafkaAcls(kafka).is_refusal(error) for error in refusals] == [True, False, False, False]
    lenient = kafka_acls.KafkaAcls(kafka, may_refuse=True)
    assert [lenient.is_refusal(error) for error in refusals] == [True, True, True, False]


# ---- the inventory


def test_a_needed_fence_needs_the_kafka_service_of_each_site(api: Api) -> None:
    assert api.pair(fence="acl")["spec"]
    del api.site["kafka_service"]
    with pytest.raises(DrError, match=r"kafka_dr_aiven\.P has no kafka_service"):
        derived("aiven", aiven={"P": api.site, "B": api.site}, fence="acl")
    assert api.pair(fence="auto")["spec"]


def test_an_empty_name_of_a_service_is_refused(api: Api) -> None:
    with pytest.raises(DrError, match=r"kafka_dr_aiven\.P\.kafka_service is empty"):
        api.pair(aiven={"P": {**api.site, "kafka_service": ""}, "B": api.site})
