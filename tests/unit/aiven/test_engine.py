# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine aiven against the emulator without Kafka: idempotence, bad input, and values that the API keeps."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.engines.aiven.flow_fields import POLICY
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.flows.goals import flow_goals
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.flows.pair_spec import PairSpec
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.base import SiteSettings
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.opening import open_engine
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import Result
from ansible_collections.switchback.kafka_dr.plugins.modules import dr_flows
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module
from ansible_collections.switchback.kafka_dr.tests.unit.aiven.api import TOKEN, Api

BOUNDS = Bounds(0.6, 0.05)


def apply(api: Api, state: str = "live", at: str = "P", check: bool = False, **given: Any) -> Result:
    pair = PairSpec.of(api.pair(**given)["spec"])
    kafka: Any = {"P": None, "B": None}
    engine = open_engine(pair.connections, pair.naming, kafka, 0.5)
    return engine.apply(pair, flow_goals(pair, state, at), SiteSettings(), BOUNDS, check)


def flow(api: Api, source: str = "P", target: str = "B") -> dict[str, Any]:
    return dict(api.mirror_maker.flows[source, target])


# ---- what enable writes


def test_flows_are_created_without_group_sync_and_with_exactly_once_delivery(api: Api) -> None:
    done = apply(api, flow={"replication_factor": 3, "settings": {"offset.lag.max": 10}})
    assert done.failure is None
    assert api.writes == [("POST", 200), ("POST", 200)]
    for ends in (("P", "B"), ("B", "P")):
        fields = flow(api, *ends)
        assert fields["sync_group_offsets_enabled"] is False
        assert fields["exactly_once_delivery_enabled"] is True
        assert fields["replication_policy_class"] == POLICY
        assert (fields["replication_factor"], fields["offset_lag_max"], fields["topics"]) == (3, 10, ["T"])
        assert fields["emit_heartbeats_enabled"] is True


def test_a_second_run_and_a_run_in_check_mode_send_no_change(api: Api) -> None:
    planned = apply(api, check=True)
    assert ({one.status for one in planned.outcomes}, api.writes) == ({"planned"}, [])
    assert apply(api).changed
    sent = list(api.writes)
    for state, at in (("live", "P"), ("live", "B")):
        # Both states are equal: group sync is off in both directions.
        again = apply(api, state, at)
        assert (again.failure, again.outcomes, again.warnings) == (None, [], [])
    assert api.writes == sent
    checked = apply(api, "absent", check=True)
    assert ([one.change.action for one in checked.outcomes], api.writes) == (["delete", "delete"], sent)


def test_an_existing_flow_keeps_its_topics_and_gets_what_is_missing(api: Api) -> None:
    other = {"enabled": False, "topics": ["Other", "a.*"], "sync_group_offsets_enabled": True}
    api.mirror_maker.create({"source_cluster": "P", "target_cluster": "B", **other})
    topics = [{"name": name, "partitions": 1} for name in ("abc", "pay.ments")]
    done = apply(api, topics=topics)
    assert done.failure is None
    assert flow(api)["topics"] == ["Other", "a.*", r"pay\.ments"]
    assert (flow(api)["enabled"], flow(api)["sync_group_offsets_enabled"]) == (True, False)


def test_the_settings_of_the_service_change_only_if_needed_and_with_a_warning(api: Api) -> None:
    before = {"groups": "x.*", "emit_checkpoints_enabled": False}
    api.mirror_maker.settings = {**before, "refresh_topics_interval_seconds": 60}
    planned = apply(api, check=True)
    (change,) = {one.change.name: one.change for one in planned.outcomes if one.change.kind == "service"}.values()
    assert change.before == before
    assert change.after == {"groups": "x.*,g", "emit_checkpoints_enabled": True}
    done = apply(api)
    assert done.failure is None
    assert [text for text in done.warnings if "restarts the workers of all its flows: B->P, P->B" in text]
    assert api.mirror_maker.settings["groups"] == "x.*,g"
    assert api.mirror_maker.settings["refresh_topics_interval_seconds"] == 60
    assert [call for call in api.workers.calls if call[0] == "restart"] == [("restart", 2)]
    assert not apply(api).changed


def test_a_value_that_the_api_cannot_clear_is_named(api: Api) -> None:
    apply(api, flow={"settings": {"offset.lag.max": 10}})
    again = apply(api)
    assert (again.failure, again.outcomes) == (None, [])
    assert again.warnings[0].startswith('The flow B->P keeps "offset_lag_max": 10.') or again.warnings[0].startswith(
        'The flow P->B keeps "offset_lag_max": 10.'
    )


def test_a_value_that_the_api_drops_is_an_error(api: Api) -> None:
    api.switch(dropped_fields=["exactly_once_delivery_enabled"])
    failure = apply(api).failure
    assert failure is not None
    assert failure.code == "aiven_not_taken"
    assert '"exactly_once_delivery_enabled" is None, wanted True' in failure.message


def test_a_lost_response_to_a_creation_is_resolved_by_the_list(api: Api) -> None:
    api.fail("dropped", 1, method="POST", after=True)
    assert apply(api).failure is None
    assert api.writes == [("POST", 0), ("POST", 200)]


def test_a_lost_cluster_s_flow_is_disabled_and_the_other_one_stays(api: Api) -> None:
    apply(api)
    assert apply(api, "survive", "B").failure is None
    assert (flow(api)["enabled"], flow(api, "B", "P")["enabled"]) == (False, True)
    state = api.engine().observe("P", "B").connectors["source"]
    assert (state.state, state.final) == ("STOPPED", False)


# ---- bad input

WRONG = [
    ({"token": "wrong"}, "aiven_not_authorized", "environment variable AIVEN_TOKEN"),
    ({"token": "reader-token"}, "aiven_forbidden", "service:data:write"),
    ({"project": "nowhere"}, "aiven_not_found", "project and service"),
    ({"service": "nothing"}, "aiven_not_found", "They are case-sensitive"),
    ({"token": "", "project": "lab"}, "aiven_no_token", "vaulted variable"),
    ({"token": "a\nb"}, "aiven_no_token", "Correct token"),
]


@pytest.mark.parametrize(("site", "code", "hint"), WRONG, ids=[str(site) for site, _code, _hint in WRONG])
def test_a_wrong_site_is_a_clear_error_and_nothing_is_changed(
    api: Api, site: dict[str, str], code: str, hint: str
) -> None:
    with pytest.raises(DrError) as refused:
        api.engine(**site).observe("P", "B")
    assert refused.value.code == code
    assert hint in refused.value.hint
    api.site.update(site)
    if code != "aiven_no_token":
        failure = apply(api).failure
        assert failure is not None
        assert failure.code == code
    assert [status for _method, status in api.writes if status < 400] == []
    assert api.mirror_maker.flows == {}


FAULTS = [
    ("conflict", "PUT|POST|DELETE", "aiven_conflict", "409"),
    ("limited", None, "aiven_busy", "429"),
    ("error", None, "aiven_busy", "500"),
    ("unavailable", None, "aiven_busy", "503"),
    ("html_error", None, "aiven_busy", "text/html instead of JSON"),
    ("html", None, "aiven_not_json", "text/html"),
    ("not_json", None, "aiven_not_json", "not json"),
    ("redirect", None, "aiven_redirect", "302"),
    ("dropped", None, "aiven_unreachable", "GET"),
]


@pytest.mark.parametrize(("kind", "writes", "code", "text"), FAULTS, ids=[kind for kind, *_rest in FAULTS])
def test_each_bad_answer_is_a_clear_error_and_nothing_is_changed(
    api: Api, kind: str, writes: str | None, code: str, text: str
) -> None:
    faults = [{"kind": kind, "times": None, "method": method} for method in (writes or "").split("|")]
    api.switch(faults=faults if writes else [{"kind": kind, "times": None}])
    failure = apply(api).failure
    assert failure is not None
    assert (failure.code, text in failure.message) == (code, True), failure.message
    assert failure.hint
    assert api.mirror_maker.flows == {}


@pytest.mark.parametrize("kind", ["limited", "error", "unavailable", "html_error", "dropped"])
def test_a_passing_fault_of_a_read_is_repeated(api: Api, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ansible_collections.switchback.kafka_dr.plugins.module_utils._aiven.http._PAUSE", 0.01)
    monkeypatch.setattr("ansible_collections.switchback.kafka_dr.plugins.module_utils._aiven.http._PAUSE_LIMITED", 0.01)
    api.fail(kind, 1)
    engine = api.engine()
    assert engine.observe("P", "B").connectors["source"].state is None
    assert engine.requests[0]["attempts"] == 2


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_a_passing_conflict_of_a_change_is_repeated(api: Api, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ansible_collections.switchback.kafka_dr.plugins.module_utils._aiven.http._PAUSE", 0.01)
    apply(api)
    api.fail("conflict", 1, method=method)
    assert apply(api, *(("survive", "B") if method == "PUT" else ("absent", ""))).failure is None
    assert [status for sent, status in api.writes if sent == method][:2] == [409, 200]


def test_a_service_that_is_off_is_named_and_nothing_is_changed(api: Api) -> None:
    apply(api)
    sent = list(api.writes)
    api.mirror_maker.state = "POWEROFF"
    with pytest.raises(DrError, match="is in state POWEROFF, wanted RUNNING") as refused:
        api.engine().about("P", "B")
    assert refused.value.code == "aiven_service_off"
    failure = apply(api).failure
    assert failure is not None
    assert (failure.code, api.writes) == ("aiven_service_off", sent)
    assert api.engine().observe("P", "B").connectors["source"].state == "POWEROFF"
    assert api.engine().reverse_flows("P", "B", ["T"]) == []


@pytest.mark.parametrize("listed", [True, False])
def test_an_alias_without_an_integration_is_named(api: Api, listed: bool) -> None:
    """The aliases are also found if the list of integrations has no settings."""
    api.switch(listed_config=listed)
    assert api.engine().about("P", "B") == (None, None)
    api.mirror_maker.integrations["integration-B"]["cluster_alias"] = "b"
    with pytest.raises(DrError, match=r'no integration with the cluster alias "B"\. Aliases .*: "P", "b"') as refused:
        api.engine().about("P", "B")
    assert refused.value.code == "aiven_alias_unknown"


def test_another_kind_of_service_is_refused(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aiven_api.service.TYPE", "kafka")
    with pytest.raises(DrError, match='has the type "kafka", wanted "kafka_mirrormaker"') as refused:
        api.engine().about("P", "B")
    assert refused.value.code == "aiven_wrong_service"


def test_a_flow_with_another_policy_is_refused_before_a_change(api: Api) -> None:
    identity = "org.apache.kafka.connect.mirror.IdentityReplicationPolicy"
    body = {"source_cluster": "P", "target_cluster": "B", "enabled": True, "replication_policy_class": identity}
    api.mirror_maker.create(body)
    failure = apply(api).failure
    assert failure is not None
    assert failure.code == "aiven_policy"
    assert flow(api)["replication_policy_class"] == identity


def test_group_sync_of_the_whole_service_is_refused_before_a_change(api: Api) -> None:
    api.mirror_maker.settings = {"sync_group_offsets_enabled": True}
    failure = apply(api).failure
    assert failure is not None
    assert (failure.code, api.writes) == ("aiven_service_sync", [])


def test_unsafe_settings_of_a_flow_are_reported(api: Api) -> None:
    apply(api)
    assert api.engine().observe("P", "B").connectors["source"].unsafe_settings == ()
    api.mirror_maker.patch(("P", "B"), {"sync_group_offsets_enabled": True, "exactly_once_delivery_enabled": False})
    unsafe = api.engine().observe("P", "B").connectors["source"].unsafe_settings
    assert [text.split(" ")[1].strip('"') for text in unsafe] == [
        "exactly_once_delivery_enabled",
        "sync_group_offsets_enabled",
    ]


# ---- the token


def test_the_token_is_in_no_result_message_or_request(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    params = {"pair": api.pair()["spec"], "state": "live", "at": "P", "guard": {}, "request_timeout": 0.5}
    done = run_module(dr_flows, params)
    assert (done["rc"], done["changed"]) == (0, True), done
    assert TOKEN not in json.dumps(done)
    api.fail("html_error")
    failed = run_module(dr_flows, params)
    assert failed["rc"] != 0
    assert TOKEN not in json.dumps(failed)


def test_the_token_of_the_environment_is_used_if_the_site_has_none(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIVEN_TOKEN", TOKEN)
    assert api.engine(token=None).about("P", "B") == (None, None)
