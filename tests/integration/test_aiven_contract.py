# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The emulator of Aiven's API, and what the engine writes there, with Aiven's own client. Needs no Kafka."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiven.client.client import AivenClient, Error

from ansible_collections.switchback.kafka_dr.plugins.module_utils._aiven import acls as aiven_acls
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.flows.goals import flow_goals
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.flows.pair_spec import PairSpec
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.acl import bans, plan
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.base import SiteSettings
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.opening import open_engine
from ansible_collections.switchback.kafka_dr.tests.unit.aiven.api import KAFKA, PROJECT, SERVICE, TOKEN, Api, serving

pytestmark = pytest.mark.integration

HERE = (PROJECT, SERVICE)
FLOW = (*HERE, "P", "B")
ACLS = (PROJECT, KAFKA)
BAN = {
    "principal": "User:a",
    "host": "*",
    "resource_name": "T",
    "resource_type": "Topic",
    "pattern_type": "LITERAL",
    "operation": "Write",
    "permission_type": "DENY",
}
PROGRAM = Path(__file__).resolve().parents[2] / "roles" / "lab" / "files" / "aiven_api"


@pytest.fixture
def api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    # There is no Kafka that lists ACLs.
    monkeypatch.setattr(aiven_acls, "describe", lambda *_values: set())
    with serving(tmp_path) as found:
        yield found


@pytest.fixture
def client(api: Api) -> AivenClient:
    return logged_in(api.url, TOKEN)


def logged_in(url: str, token: str) -> AivenClient:
    made = AivenClient(url)
    made.set_auth_token(token)
    return made


# ---- the emulator gives Aiven's client what it expects


def test_the_client_drives_the_five_endpoints_of_flows(client: AivenClient, api: Api) -> None:
    assert client.list_mirrormaker_replication_flows(*HERE) == []
    client.create_mirrormaker_replication_flow(*FLOW, {"enabled": True, "topics": ["T"], "offset_lag_max": 5})
    (listed,) = client.list_mirrormaker_replication_flows(*HERE)
    assert (listed["source_cluster"], listed["target_cluster"], listed["topics"]) == ("P", "B", ["T"])
    changed = client.update_mirrormaker_replication_flow(*FLOW, {"enabled": False})
    assert (changed["enabled"], changed["topics"]) == (False, ["T"])
    assert client.get_mirrormaker_replication_flow(*FLOW) == changed
    client.delete_mirrormaker_replication_flow(*FLOW)
    assert client.list_mirrormaker_replication_flows(*HERE) == []
    with pytest.raises(Error) as refused:
        client.get_mirrormaker_replication_flow(*FLOW)
    assert refused.value.status == 404
    assert {row["status"] for row in api.server.log} == {200, 404}


def test_an_update_keeps_other_fields_and_drops_values_that_cannot_be_cleared(client: AivenClient) -> None:
    client.create_mirrormaker_replication_flow(*FLOW, {"enabled": True, "topics": ["T"], "offset_lag_max": 5})
    empty = {"offset_lag_max": None, "enabled": None, "replication_policy_class": None, "topics": []}
    after = client.update_mirrormaker_replication_flow(*FLOW, empty)
    assert (after["offset_lag_max"], after["enabled"], after["topics"]) == (5, True, [])
    assert after["replication_policy_class"].endswith("DefaultReplicationPolicy")


BAD: list[tuple[str, dict[str, Any], int]] = [
    ("create_mirrormaker_replication_flow", {"enabled": True, "colour": "red"}, 400),
    ("create_mirrormaker_replication_flow", {"topics": ["T"]}, 400),
    ("create_mirrormaker_replication_flow", {"enabled": "yes"}, 400),
    ("update_mirrormaker_replication_flow", {"enabled": True}, 404),
]


@pytest.mark.parametrize(
    ("call", "fields", "status"), BAD, ids=[f"{call[:6]}-{fields}" for call, fields, _status in BAD]
)
def test_a_bad_write_is_refused_and_changes_nothing(
    client: AivenClient, api: Api, call: str, fields: dict[str, Any], status: int
) -> None:
    with pytest.raises(Error) as refused:
        getattr(client, call)(*FLOW, fields)
    assert (refused.value.status, api.mirror_maker.flows) == (status, {})


def test_a_flow_that_exists_is_not_created_again(client: AivenClient) -> None:
    client.create_mirrormaker_replication_flow(*FLOW, {"enabled": True})
    with pytest.raises(Error) as refused:
        client.create_mirrormaker_replication_flow(*FLOW, {"enabled": False})
    assert refused.value.status == 409


def test_the_client_reads_and_changes_the_service_and_its_integrations(client: AivenClient, api: Api) -> None:
    client.create_mirrormaker_replication_flow(*FLOW, {"enabled": True})
    found = client.get_service(*HERE)
    assert (found["service_type"], found["state"]) == ("kafka_mirrormaker", "RUNNING")
    after = client.update_service(*HERE, user_config={"kafka_mirrormaker": {"groups": "g", "offset_lag_max": 3}})
    assert after["user_config"]["kafka_mirrormaker"] == {"groups": "g", "offset_lag_max": 3}
    assert api.workers.calls[-1] == ("restart", 1)
    assert client.update_service(*HERE, powered=False)["state"] == "POWEROFF"
    assert api.workers.calls[-1] == ("use", 0)
    assert client.update_service(*HERE, powered=True)["state"] == "RUNNING"
    aliases = {
        row["service_integration_id"]: row["user_config"]["cluster_alias"]
        for row in client.get_service_integrations(*HERE)
    }
    assert sorted(aliases.values()) == ["B", "P"]
    key = next(iter(aliases))
    client.update_service_integration(PROJECT, key, {"kafka_mirrormaker": {"consumer_fetch_min_bytes": 1}})
    assert client.get_service_integration(PROJECT, key)["user_config"] == {
        "cluster_alias": aliases[key],
        "kafka_mirrormaker": {"consumer_fetch_min_bytes": 1},
    }


@pytest.mark.parametrize(("token", "status"), [("wrong", 401), ("reader-token", 403)])
def test_reading_flows_needs_the_right_to_write(api: Api, token: str, status: int) -> None:
    with pytest.raises(Error) as refused:
        logged_in(api.url, token).list_mirrormaker_replication_flows(*HERE)
    assert refused.value.status == status


@pytest.mark.parametrize("place", [("nowhere", SERVICE), (PROJECT, "nothing")])
def test_an_unknown_project_or_service_is_404(client: AivenClient, place: tuple[str, str]) -> None:
    with pytest.raises(Error) as refused:
        client.get_service(*place)
    assert refused.value.status == 404


def test_the_program_keeps_its_state_when_it_is_killed(tmp_path: Path) -> None:
    for expected in ([], ["P"]):
        command = [sys.executable, str(PROGRAM), "--dir", str(tmp_path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            url = json.loads(process.stdout.readline())["url"]
            client = logged_in(url, TOKEN)
            flows = client.list_mirrormaker_replication_flows(*HERE)
            assert [flow["source_cluster"] for flow in flows] == expected
            if not flows:
                client.create_mirrormaker_replication_flow(*FLOW, {"enabled": True})
            with urllib.request.urlopen(f"{url}/emulator/engine", timeout=10) as answer:
                assert json.load(answer)["calls"][-1] == ["use", 1]
            process.kill()


def add(client: AivenClient, **fields: str) -> Any:
    """Add an ACL. The client has its own name for one field."""
    named = {**BAN, **fields}
    named["resource_pattern_type"] = named.pop("pattern_type")
    return client.service_kafka_native_acl_add(*ACLS, **named)


def acls(client: AivenClient) -> list[dict[str, str]]:
    """The ACLs without their ids."""
    rows = client.service_kafka_native_acl_list(*ACLS)["kafka_acl"]
    return [{key: value for key, value in row.items() if key != "id"} for row in rows]


def test_the_client_drives_the_three_endpoints_of_acls(client: AivenClient, api: Api) -> None:
    api.switch(acl_effect_seconds=60)
    assert acls(client) == []
    assert add(client)["message"]
    prefixed = {"pattern_type": "PREFIXED", "permission_type": "ALLOW", "operation": "Read"}
    add(client, **prefixed)
    assert acls(client) == [BAN, {**BAN, **prefixed}]
    # The brokers apply an ACL later than the API lists it.
    assert api.broker.applied == set()
    keys = [row["id"] for row in client.service_kafka_native_acl_list(*ACLS)["kafka_acl"]]
    for key in keys:
        assert client.service_kafka_native_acl_delete(*ACLS, key)["message"]
    assert acls(client) == []
    with pytest.raises(Error) as refused:
        client.service_kafka_native_acl_delete(*ACLS, keys[0])
    assert refused.value.status == 404


BAD_ACLS: list[tuple[dict[str, str], int]] = [
    ({}, 409),
    ({"operation": "WRITE"}, 400),
    ({"resource_type": "topic"}, 400),
    ({"permission_type": "deny"}, 400),
    ({"principal": "payments"}, 400),
    ({"resource_name": ""}, 400),
]


@pytest.mark.parametrize(("fields", "status"), BAD_ACLS, ids=[str(fields) for fields, _status in BAD_ACLS])
def test_a_bad_or_identical_acl_is_refused(client: AivenClient, fields: dict[str, str], status: int) -> None:
    add(client)
    with pytest.raises(Error) as refused:
        add(client, **fields)
    assert (refused.value.status, acls(client)) == (status, [BAN])


@pytest.mark.parametrize(("token", "native", "status"), [("reader-token", True, 403), (TOKEN, False, 404)])
def test_acls_need_a_right_and_a_service_that_has_them(api: Api, token: str, native: bool, status: int) -> None:
    api.switch(native_acls=native)
    with pytest.raises(Error) as refused:
        acls(logged_in(api.url, token))
    assert refused.value.status == status


# ---- what the engine writes is what Aiven's client reads


def test_the_client_reads_the_fence_that_the_engine_wrote_and_deletes_it(client: AivenClient, api: Api) -> None:
    api.site["kafka_service"] = KAFKA
    store = api.engine().acls("P")
    wanted, bounds = bans(["T", "U.v"], ["User:a"]), Bounds(5.0, 0.02)
    assert store.apply([], False) == []
    created = store.apply(plan(wanted, store.describe(["User:a"]), "present"), False)
    assert ({outcome.status for outcome in created}, store.wait(created, bounds)) == ({"done"}, None)
    assert acls(client) == [BAN, {**BAN, "resource_name": "U.v"}]
    assert store.denied() == set(wanted)
    add(client, principal="User:b")
    assert store.describe(["User:a"]) == set(wanted)
    until = time.monotonic() + 10
    while len(api.broker.applied) < 3 and time.monotonic() < until:
        time.sleep(0.02)
    assert len(api.broker.applied) == 3
    deleted = store.apply(plan(wanted, store.denied(), "absent"), False)
    assert ({outcome.status for outcome in deleted}, store.wait(deleted, bounds)) == ({"done"}, None)
    assert acls(client) == [{**BAN, "principal": "User:b"}]


def test_the_engine_and_the_client_send_the_same_acl_requests(client: AivenClient, api: Api) -> None:
    """Path and method of each request agree. The client reads what the body had."""
    api.site["kafka_service"] = KAFKA
    store = api.engine().acls("P")
    wanted = bans(["T"], ["User:a"])
    store.apply(plan(wanted, store.denied(), "present"), False)
    store.apply(plan(wanted, store.denied(), "absent"), False)
    sent = [(row["method"], row["path"]) for row in api.server.log]
    api.server.log.clear()
    acls(client)
    add(client)
    (row,) = client.service_kafka_native_acl_list(*ACLS)["kafka_acl"]
    client.service_kafka_native_acl_delete(*ACLS, row["id"])
    assert [(row["method"], row["path"]) for row in api.server.log] == sent


def test_the_client_reads_what_the_engine_wrote(client: AivenClient, api: Api) -> None:
    pair = PairSpec.of(api.pair(flow={"replication_factor": 3})["spec"])
    kafka: Any = {"P": None, "B": None}
    engine = open_engine(pair.connections, pair.naming, kafka, 5.0)
    bounds = Bounds(5.0, 0.05)
    assert engine.apply(pair, flow_goals(pair, "live", "P"), SiteSettings(), bounds, False).failure is None
    read = {flow["target_cluster"]: flow for flow in client.list_mirrormaker_replication_flows(*HERE)}
    expected = {
        "enabled": True,
        "topics": ["T"],
        "sync_group_offsets_enabled": False,
        "exactly_once_delivery_enabled": True,
        "offset_syncs_topic_location": "target",
        "emit_heartbeats_enabled": True,
        "replication_factor": 3,
    }
    for alias in ("P", "B"):
        assert {key: read[alias][key] for key in expected} == expected
    client.update_service(*HERE, user_config={"kafka_mirrormaker": {"groups": "other"}})
    assert engine.apply(pair, flow_goals(pair, "live", "P"), SiteSettings(), bounds, False).failure is None
    assert client.get_service(*HERE)["user_config"]["kafka_mirrormaker"]["groups"] == "other,g"
    assert engine.apply(pair, flow_goals(pair, "absent", ""), SiteSettings(), bounds, False).failure is None
    assert client.list_mirrormaker_replication_flows(*HERE) == []


def test_the_engine_and_the_client_send_the_same_requests(client: AivenClient, api: Api) -> None:
    """Path, method and body fields of each write agree, so the engine uses the API as Aiven's client does."""
    pair = PairSpec.of(api.pair()["spec"])
    kafka: Any = {"P": None, "B": None}
    engine = open_engine(pair.connections, pair.naming, kafka, 5.0)
    for state, at in (("live", "P"), ("survive", "B"), ("absent", "")):
        assert engine.apply(pair, flow_goals(pair, state, at), SiteSettings(), Bounds(5.0, 0.05), False).failure is None
    sent = {(row["method"], row["path"]) for row in api.server.log if "->" not in row["path"]}
    api.server.log.clear()
    for ends in (("P", "B"), ("B", "P")):
        client.create_mirrormaker_replication_flow(*HERE, *ends, {"enabled": True})
    client.update_mirrormaker_replication_flow(*FLOW, {"enabled": False})
    client.list_mirrormaker_replication_flows(*HERE)
    client.get_service(*HERE)
    for ends in (("P", "B"), ("B", "P")):
        client.delete_mirrormaker_replication_flow(*HERE, *ends)
    assert {(row["method"], row["path"]) for row in api.server.log} == sent
