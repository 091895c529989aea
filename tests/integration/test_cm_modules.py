# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""cm_config and cm_config_info on an emulated Cloudera Manager, over real HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.modules import cm_config, cm_config_info
from ansible_collections.switchback.kafka_dr.tests.support.cm_server import SERVICE, CmServer, cm_server
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module, warned

pytestmark = pytest.mark.integration

CONFIGS = "streams.replication.manager.config"
REVERSE = "cloudera.reverse.checkpointing.enabled"
BOTH = {"P->B.enabled": True, "B->P.enabled": True}
DRIVER = f"{SERVICE}-STREAMS_REPLICATION_MANAGER_DRIVER-BASE"


@pytest.fixture
def cm(tmp_path: Path) -> Iterator[CmServer]:
    with cm_server(tmp_path / "cm") as server:
        yield server


def text(cm: CmServer) -> str | None:
    """The Replication Configs in Cloudera Manager."""
    return next((item["value"] for item in cm.get("/config")["items"] if item["name"] == CONFIGS), None)


def rows(result: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["asked"]: row for row in result["properties"]}


# ---- changes -------


def test_properties_and_lines_are_written_at_once_and_a_second_run_only_reads(cm: CmServer) -> None:
    cm.put("/config", **{CONFIGS: " keep = me |P->B.enabled=false||x"})
    wanted = cm.params(
        properties={"Reverse checkpointing ENABLED": True, "refresh.topics.interval.seconds": 30},
        lines={"Streams Replication Manager's Replication Configs": BOTH},
        reason="Both directions",
    )
    planned = run_module(cm_config, wanted, check=True, diff=True)
    assert (planned["rc"], planned["changed"], cm.log("PUT")[1:]) == (0, True, [])
    result = run_module(cm_config, wanted, diff=True)
    assert (result["rc"], [change["status"] for change in result["changes"]]) == (0, ["done"] * 3)
    strip = [{key: value for key, value in change.items() if key != "status"} for change in result["changes"]]
    assert strip == [{key: value for key, value in one.items() if key != "status"} for one in planned["changes"]]
    assert result["diff"] == planned["diff"]
    assert result["diff"]["before"][f"property {CONFIGS}"] == {"P->B.enabled": "false", "B->P.enabled": None}
    assert text(cm) == " keep = me |P->B.enabled=true||x|B->P.enabled=true"
    assert [audit["message"] for audit in cm.audits()][1:] == ["Both directions"]
    cm.forget()
    again = run_module(cm_config, wanted)
    assert (again["changed"], len(cm.log()), cm.log("PUT")) == (False, 3, [])


def test_values_that_mean_the_same_are_no_change(cm: CmServer) -> None:
    cm.put("/config", **{"clusters": "P, B", REVERSE: "true", "refresh.topics.interval.seconds": "30"})
    same = {"clusters": ["P", "B"], REVERSE: "True ", "refresh.topics.interval.seconds": "030"}
    result = run_module(cm_config, cm.params(properties={**same, "refresh.groups.interval.seconds": 600}))
    assert (result["rc"], result["changed"], len(cm.log("PUT"))) == (0, False, 1)


def test_null_resets_a_property_and_removes_a_line(cm: CmServer) -> None:
    cm.put("/config", **{CONFIGS: "a=1|b=2", "refresh.topics.interval.seconds": "30"})
    wanted = cm.params(properties={"refresh.topics.interval.seconds": None}, lines={CONFIGS: {"a": None, "c": None}})
    result = run_module(cm_config, wanted)
    assert [(change["action"], change["status"]) for change in result["changes"]] == [
        ("reset", "done"),
        ("update", "done"),
    ]
    assert text(cm) == "b=2"
    assert rows(result)["refresh.topics.interval.seconds"]["value"] is None
    assert not run_module(cm_config, wanted)["changed"]


def test_each_role_group_gets_one_write_and_two_groups_with_one_name_are_reported(cm: CmServer) -> None:
    wanted = {"streams.replication.manager.driver.target.cluster": "B", "Service Target Cluster": "B"}
    result = run_module(cm_config, cm.params(properties={**wanted, "clusters": "P,B,C"}))
    assert result["rc"] == 0
    assert [path.split("/")[-2] for _method, path in cm.log("PUT")] == [
        DRIVER,
        DRIVER.replace("DRIVER", "SERVICE"),
        SERVICE,
    ]
    twice = run_module(cm_config, cm.params(properties={"ssl_enabled": True}))
    assert twice["error"]["code"] == "cm_property_ambiguous"
    assert DRIVER in twice["msg"]
    group = "STREAMS_REPLICATION_MANAGER_DRIVER"
    one = run_module(cm_config, cm.params(properties={"ssl_enabled": True}, role_group=group))
    assert (one["changed"], one["properties"][0]["level"]) == (True, DRIVER)
    wrong = run_module(cm_config, cm.params(properties={"ssl_enabled": True}, role_group=group.lower()))
    assert wrong["error"]["code"] == "cm_group_not_found"
    assert group in wrong["msg"]


def test_the_reverse_property_is_found_on_the_driver_too(cm: CmServer) -> None:
    cm.switch(reverse_level="driver")
    result = run_module(cm_config, cm.params(properties={REVERSE: True}))
    assert (result["changed"], result["properties"][0]["level"]) == (True, DRIVER)


def test_a_missing_secret_is_written_and_never_shown(cm: CmServer) -> None:
    name, word = "ssl_client_truststore_password", "hunter2hunter2"
    wanted = cm.params(properties={name: word}, role_group=DRIVER)
    first = run_module(cm_config, wanted, diff=True)
    assert (first["changed"], first["diff"]["after"]) == (True, {f"property {DRIVER}/{name}": {"value": "(secret)"}})
    assert not run_module(cm_config, {**wanted, "properties": {name: "another-one"}})["changed"]
    always = run_module(cm_config, {**wanted, "update_secrets": "always"}, diff=True)
    assert always["changed"]
    assert always["diff"]["after"] == {f"property {DRIVER}/{name}": {"value": "(secret, written)"}}
    info = run_module(cm_config_info, cm.params(properties=[name], role_group=DRIVER))
    assert (info["properties"][0]["value"], info["properties"][0]["sensitive"]) == ("(secret)", True)
    assert word not in repr([first, always, info])
    stored = cm.get(f"/roleConfigGroups/{DRIVER}/config")["items"]
    assert [item["value"] for item in stored if item["name"] == name] == [word]


def test_info_returns_values_lines_and_runtime(cm: CmServer) -> None:
    cm.put("/config", **{CONFIGS: "P->B.enabled=true|P.sasl.jaas.config=x password=hunter2;"})
    result = run_module(cm_config_info, cm.params(properties=[CONFIGS, "Refresh Topics Interval", "Nonsense Topics"]))
    found = rows(result)
    assert (result["runtime_version"], result["service"]) == ("7.3.2", SERVICE)
    assert found[CONFIGS]["lines"] == {"P->B.enabled": "true", "P.sasl.jaas.config": "(secret)"}
    assert "hunter2" not in repr(result)
    interval = found["Refresh Topics Interval"]
    assert (interval["value"], interval["effective"], interval["level"]) == (None, "600", "service")
    assert not found["Nonsense Topics"]["exists"]
    everything = run_module(cm_config_info, cm.params())
    assert {"clusters", CONFIGS} <= {row["name"] for row in everything["properties"]}
    assert {row["level"] for row in everything["properties"]} == {
        "service",
        DRIVER,
        DRIVER.replace("DRIVER", "SERVICE"),
    }


def test_misconfigured_lines_are_explained_and_the_effective_line_is_written(
    cm: CmServer, capfd: pytest.CaptureFixture[str]
) -> None:
    cm.put("/config", **{CONFIGS: "p->B.enabled=true|synch.group.offsets.enabled=true|P->B.topics=P__Payments"})
    result = run_module(cm_config, cm.params(lines={CONFIGS: {"P->B": True}}, aliases=["P", "B"]))
    reported = warned(result, capfd)
    for part in (
        '"P->B.enabled=true" is written as well',
        'Did you mean "P"',
        '"sync.group.offsets.enabled"',
        '"P.Pay',
    ):
        assert part in reported
    assert (text(cm) or "").endswith("|P->B=true|P->B.enabled=true")


# ---- failures ------


def test_an_unknown_property_is_refused_with_similar_names_before_any_write(cm: CmServer) -> None:
    result = run_module(cm_config, cm.params(properties={"clusters": "P,B,C", "Refresh Topic Interval": 5}))
    assert result["error"]["code"] == "cm_property_unknown"
    assert "Similar names: Refresh Topics Interval" in result["error"]["hint"]
    assert (result["changes"], cm.log("PUT")) == ([], [])


def test_reverse_checkpointing_of_an_old_runtime_names_the_needed_version(cm: CmServer) -> None:
    cm.switch(runtime="7.1.9")
    for name in (REVERSE, "Reverse Checkpointing Enabled"):
        result = run_module(cm_config, cm.params(properties={name: True}))
        assert "needs Runtime 7.3.2; the cluster runs 7.1.9" in result["msg"]


def test_a_bar_in_a_value_is_refused(cm: CmServer) -> None:
    result = run_module(cm_config, cm.params(lines={CONFIGS: {"topics": "a|b"}}))
    assert result["error"]["code"] == "cm_line_invalid"
    assert cm.log("PUT") == []


@pytest.mark.parametrize(
    ("more", "code", "expected"),
    [
        ({"cluster": "Cluster 2"}, "cm_cluster_not_found", '"Cluster 1"'),
        ({"service": "srm"}, "cm_service_not_found", f'"{SERVICE}" (STREAMS_REPLICATION_MANAGER)'),
        ({"cm_client": {"url_username": "admin", "url_password": "wrong"}}, "cm_not_authorized", "url_password"),
        ({"cm_api_version": "v99"}, "cm_not_found", "API version"),
        ({"cm_url": "http://127.0.0.1:9", "request_timeout": 0.5}, "cm_unreachable", "refused"),
    ],
)
def test_a_missing_object_is_reported_with_the_existing_ones(
    cm: CmServer, more: dict[str, Any], code: str, expected: str
) -> None:
    result = run_module(cm_config, {**cm.params(properties={"clusters": "P,B,C"}), **more})
    assert (result["error"]["code"], result["changed"]) == (code, False)
    assert expected in result["msg"]


def test_a_read_only_user_may_read_and_gets_a_clear_error_for_a_write(cm: CmServer) -> None:
    assert run_module(cm_config_info, cm.params(user="reader"))["rc"] == 0
    result = run_module(cm_config, cm.params(user="reader", properties={"clusters": "P,B,C"}))
    assert (result["error"]["code"], result["changed"]) == ("cm_forbidden", False)
    assert result["changes"][0]["status"] == "failed"
    assert "role" in result["error"]["hint"]


def test_a_refused_second_write_lists_the_completed_first_write(cm: CmServer) -> None:
    cm.fault("error", times=None, method="PUT", path="roleConfigGroups")
    target = "streams.replication.manager.driver.target.cluster"
    result = run_module(cm_config, cm.params(properties={"clusters": "P,B,C", target: "B"}))
    assert (result["failed"], result["changed"], result["error"]["code"]) == (True, True, "cm_error")
    assert [(change["name"], change["status"]) for change in result["changes"]] == [
        ("clusters", "done"),
        (f"{DRIVER}/{target}", "failed"),
    ]


def test_a_write_with_a_lost_response_is_read_back_and_counts(cm: CmServer) -> None:
    cm.fault("error", method="PUT", after=True)
    result = run_module(cm_config, cm.params(properties={"clusters": "P,B,C"}))
    assert (result["rc"], result["changes"][0]["status"]) == (0, "done")


@pytest.mark.parametrize("fault", ["bad_gateway", "unavailable", "dropped"])
@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_a_retriable_response_is_repeated(cm: CmServer, fault: str, method: str) -> None:
    cm.fault(fault, method=method, times=2)
    result = run_module(cm_config, cm.params(properties={"clusters": "P,B,C"}))
    assert result["rc"] == 0
    assert [call["attempts"] for call in result["requests"] if "attempts" in call] == [3]


def test_a_login_page_is_an_error(cm: CmServer) -> None:
    cm.fault("login_page", times=None)
    result = run_module(cm_config_info, cm.params())
    assert result["error"]["code"] == "cm_not_json"
    assert "Knox" in result["error"]["hint"]


def test_a_stored_value_that_differs_is_a_failure(cm: CmServer) -> None:
    wanted = cm.params(properties={"refresh.topics.interval.seconds": "soon"})
    assert run_module(cm_config, wanted)["error"]["code"] == "cm_invalid"
    cm.switch(bad_values="accept")
    stored = run_module(cm_config, wanted)
    assert (stored["error"]["code"], stored["changed"]) == ("cm_value_invalid", True)
    assert "is not a number" in stored["msg"]


def test_an_empty_response_to_a_write_is_a_success(cm: CmServer) -> None:
    cm.switch(put_status=204)
    assert run_module(cm_config, cm.params(properties={"clusters": "P,B,C"}))["rc"] == 0


# ---- connection ------


def test_an_address_with_an_api_version_needs_no_version_request(cm: CmServer) -> None:
    cm.switch(prefix="/gateway/cdp-proxy-api/cm-api")
    knox = cm.url + "/gateway/cdp-proxy-api/cm-api"
    for url, first in ((f"{knox}/v54", "/clusters"), (knox, "/version")):
        result = run_module(cm_config_info, {**cm.params(), "cm_url": url})
        assert (result["rc"], result["requests"][0]["path"][: len(first)]) == (0, first)


def test_a_redirect_is_followed_only_to_the_same_host_and_only_for_the_version_request(
    cm: CmServer, tmp_path: Path
) -> None:
    with cm_server(tmp_path / "other") as other:
        cm.fault("redirect", times=None, to=other.url)
        moved = run_module(cm_config_info, cm.params())
        assert (moved["rc"], len(cm.log()), len(other.log()) > 2) == (0, 1, True)
        cm.fault("redirect", times=None, path="/clusters", to=other.url)
        late = run_module(cm_config_info, cm.params())
        assert late["error"]["code"] == "cm_redirect"
        cm.fault("redirect", times=None, to="http://cm.example.com:7183")
        assert run_module(cm_config_info, cm.params())["error"]["code"] == "cm_redirect"


def test_a_session_that_expires_between_two_calls_is_renewed(cm: CmServer) -> None:
    cm.switch(session_seconds=0)
    assert run_module(cm_config, cm.params(properties={"clusters": "P,B,C"}))["rc"] == 0


def test_one_manager_of_both_sites_only_changes_the_named_cluster(tmp_path: Path) -> None:
    with cm_server(tmp_path / "cm", "--site", "B") as both:
        result = run_module(cm_config, {**both.params(lines={CONFIGS: BOTH}), "cluster": "Cluster 2"})
        assert (result["changed"], result["cluster"]) == (True, "Cluster 2")
        assert text(both) is None
