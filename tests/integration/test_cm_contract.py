# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The emulator of Cloudera Manager, tested with Cloudera's own client, and with raw requests for what that client
hides.
"""

from __future__ import annotations

import io
import signal
import time
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from certificates import issue
from cm_emulator import CLUSTER, SERVICE, C, Cm, EmulatorProcess, S, until

with warnings.catch_warnings():
    # Its sources have escapes that Python reports as invalid.
    warnings.simplefilter("ignore")
    import cm_client
    from cm_client.rest import ApiException

pytestmark = [pytest.mark.integration, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

CONFIGS = "streams.replication.manager.config"
REVERSE = "cloudera.reverse.checkpointing.enabled"
DRIVER = "STREAMS_REPLICATION_MANAGER_DRIVER"
DRIVER_GROUP = f"{SERVICE}-{DRIVER}-BASE"
KNOX = "/gateway/cdp-proxy-api/cm-api"
STALENESS = cm_client.ApiConfigStalenessStatus


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmulatorProcess]:
    found = EmulatorProcess(tmp_path_factory.mktemp("cm"), "--site", "P")
    yield found
    found.end()


@pytest.fixture
def cm(process: EmulatorProcess) -> Cm:
    """Default switches, an empty log, no stale service, and no running command."""
    found = Cm(process.url)
    found.reset()
    found.switch(command_seconds=0.1)
    for item in found.get(f"{C}/commands")["items"] + found.get(f"{S}/commands")["items"]:
        found.call("POST", f"/commands/{item['id']}/abort")
    found.put_config({CONFIGS: None, REVERSE: None})
    found.run("restart")
    found.run("deployClientConfig")
    found.call("DELETE", "/emulator/log", raw=True)
    return found


def apis(base: str, password: str = "admin", **tls: Any) -> SimpleNamespace:
    """The client's resources. Its configuration is global for the process."""
    settings = cm_client.Configuration()
    settings.username, settings.password = "admin", password
    settings.ssl_ca_cert, settings.verify_ssl = tls.get("ca"), True
    client = cm_client.ApiClient(base)
    return SimpleNamespace(
        manager=cm_client.ClouderaManagerResourceApi(client),
        clusters=cm_client.ClustersResourceApi(client),
        services=cm_client.ServicesResourceApi(client),
        groups=cm_client.RoleConfigGroupsResourceApi(client),
        roles=cm_client.RolesResourceApi(client),
        role_commands=cm_client.RoleCommandsResourceApi(client),
        commands=cm_client.CommandsResourceApi(client),
        accounts=cm_client.ExternalAccountsResourceApi(client),
    )


@pytest.fixture
def api(cm: Cm) -> SimpleNamespace:
    return apis(f"{cm.url}/api/v54")


def constants(kind: type) -> set[str]:
    """Values of an enumeration of the client, which does not check them itself."""
    return {value for name, value in vars(kind).items() if name.isupper() and isinstance(value, str)}


def finished(api: SimpleNamespace, command: Any) -> Any:
    return until(lambda: (found := api.commands.read_command(command.id)) and not found.active and found)


# ---- every call with Cloudera's client


def test_versions_and_clusters_are_read(api: SimpleNamespace) -> None:
    assert api.manager.get_version().version == "7.13.1"
    assert api.manager.list_active_commands().items == []
    found = api.clusters.read_clusters().items
    assert [(item.name, item.full_version, item.cluster_type) for item in found] == [(CLUSTER, "7.3.2", "BASE_CLUSTER")]
    assert found[0].entity_status in constants(cm_client.ApiEntityStatus)
    assert api.clusters.read_clusters(cluster_type="compute", view="FULL").items == []


def test_a_service_has_the_states_that_the_client_defines(api: SimpleNamespace) -> None:
    listed = {item.type: item.name for item in api.services.read_services(CLUSTER).items}
    assert listed == {"KAFKA": "kafka", "STREAMS_REPLICATION_MANAGER": SERVICE}
    found = api.services.read_service(CLUSTER, SERVICE)
    assert found.cluster_ref.cluster_name == CLUSTER
    assert found.service_state == cm_client.ApiServiceState.STARTED
    assert (found.config_staleness_status, found.client_config_staleness_status) == (STALENESS.FRESH, STALENESS.FRESH)
    assert found.health_summary in constants(cm_client.ApiHealthSummary)
    assert found.entity_status in constants(cm_client.ApiEntityStatus)
    assert [item.summary in constants(cm_client.ApiHealthSummary) for item in found.health_checks] == [True]
    assert (found.config_stale, found.maintenance_mode) == (False, False)


def test_configuration_is_partial_and_null_or_absent_resets(api: SimpleNamespace, cm: Cm) -> None:
    item = cm_client.ApiConfig(name=CONFIGS, value="P->B.enabled=true")
    found = api.services.update_service_config(
        CLUSTER, SERVICE, message="why not", body=cm_client.ApiServiceConfig([item])
    )
    assert {entry.name: entry.value for entry in found.items}[CONFIGS] == "P->B.enabled=true"
    assert cm.call("GET", "/emulator/audits", raw=True).json["items"][-1]["message"] == "why not"
    full = {entry.name: entry for entry in api.services.read_service_config(CLUSTER, SERVICE, view="full").items}
    assert (full[REVERSE].value, full[REVERSE].default) == (None, "false")
    assert full[REVERSE].display_name == "Reverse Checkpointing Enabled"
    assert full["refresh.topics.interval.seconds"].related_name == "refresh.topics.interval.seconds"
    assert {entry.validation_state for entry in full.values()} <= constants(cm_client.ValidationState)
    others = {entry.name: entry.value for entry in found.items if entry.name != CONFIGS}
    for reset in (cm_client.ApiConfig(name=CONFIGS), {"name": CONFIGS, "value": None}):
        cm.put_config({CONFIGS: "P->B.enabled=true"})
        body = cm_client.ApiServiceConfig([reset])
        found = api.services.update_service_config(CLUSTER, SERVICE, body=body)
        assert {entry.name: entry.value for entry in found.items} == others
    for nothing in (cm_client.ApiServiceConfig(), cm_client.ApiServiceConfig([])):
        assert len(api.services.update_service_config(CLUSTER, SERVICE, body=nothing).items) == len(others)


def test_a_change_is_stale_until_restart_and_redeployment(api: SimpleNamespace, cm: Cm) -> None:
    def statuses() -> tuple[str, str, bool]:
        found = api.services.read_service(CLUSTER, SERVICE)
        return found.config_staleness_status, found.client_config_staleness_status, found.config_stale

    body = cm_client.ApiServiceConfig([cm_client.ApiConfig(name=REVERSE, value=True)])
    api.services.update_service_config(CLUSTER, SERVICE, body=body)
    assert statuses() == (STALENESS.STALE, STALENESS.STALE, True)
    cm.put_config({REVERSE: "False"})
    assert statuses() == (STALENESS.FRESH, STALENESS.FRESH, False)
    cm.put_config({REVERSE: "True"})
    assert cm.get(f"{S}/config")["items"][-1]["value"] == "true"
    command = api.services.deploy_client_config_command(CLUSTER, SERVICE)
    assert finished(api, command).success is True
    assert statuses() == (STALENESS.STALE, STALENESS.FRESH, True)
    command = api.services.restart_command(CLUSTER, SERVICE)
    assert (command.active, command.success, command.name) == (True, None, "Restart")
    done = finished(api, command)
    assert (done.success, done.result_message, done.service_ref.service_name) == (
        True,
        "Successfully executed.",
        SERVICE,
    )
    assert statuses() == (STALENESS.FRESH, STALENESS.FRESH, False)


def test_staleness_may_be_reported_late_in_both_directions(cm: Cm) -> None:
    cm.switch(stale_seconds=1.0, fresh_seconds=1.0)
    cm.put_config({REVERSE: True})
    assert cm.get(S)["configStalenessStatus"] == "FRESH"
    until(lambda: cm.get(S)["configStalenessStatus"] == "STALE")
    cm.run("restart")
    assert cm.get(S)["configStalenessStatus"] == "STALE"
    until(lambda: cm.get(S)["configStalenessStatus"] == "FRESH")


def test_start_and_stop_have_intermediate_states(api: SimpleNamespace, cm: Cm) -> None:
    cm.switch(command_seconds=1.0)
    state = cm_client.ApiServiceState
    seen = set()

    def observe(command: Any) -> Any:
        while api.commands.read_command(command.id).active:
            seen.add(api.services.read_service(CLUSTER, SERVICE).service_state)
        return api.commands.read_command(command.id)

    assert observe(api.services.stop_command(CLUSTER, SERVICE)).success
    assert api.services.read_service(CLUSTER, SERVICE).service_state == state.STOPPED
    roles = {role.type: role.role_state for role in api.roles.read_roles(CLUSTER, SERVICE).items}
    assert roles == {
        "GATEWAY": cm_client.ApiRoleState.NA,
        DRIVER: cm_client.ApiRoleState.STOPPED,
        f"{SERVICE.upper()}_SERVICE": cm_client.ApiRoleState.STOPPED,
    }
    assert observe(api.services.start_command(CLUSTER, SERVICE)).success
    assert observe(api.services.restart_command(CLUSTER, SERVICE)).success
    assert {state.STOPPING, state.STARTING} <= seen <= constants(state)
    cm.run("stop")
    assert observe(api.services.restart_command(CLUSTER, SERVICE)).success
    assert api.services.read_service(CLUSTER, SERVICE).service_state == state.STARTED


def test_active_commands_include_a_restart_by_another_user(api: SimpleNamespace, cm: Cm) -> None:
    cm.switch(command_seconds=5.0)
    other = cm.call("POST", f"{S}/commands/restart").json
    found = until(
        lambda: [i for i in api.services.list_active_commands(CLUSTER, SERVICE, view="full").items if i.parent]
    )
    assert found[0].parent.id == other["id"]
    with pytest.raises(ApiException) as refused:
        api.services.restart_command(CLUSTER, SERVICE)
    assert refused.value.status == 400
    assert "Command Restart is not currently available for execution." in str(refused.value.body)
    aborted = api.commands.abort_command(other["id"])
    assert (aborted.active, aborted.success) == (False, False)
    assert api.services.list_active_commands(CLUSTER, SERVICE).items == []


def test_the_cause_of_a_failed_restart_is_two_levels_deep(api: SimpleNamespace, cm: Cm) -> None:
    cm.switch(restart="failure")
    failed = finished(api, api.services.restart_command(CLUSTER, SERVICE))
    assert (failed.success, failed.can_retry) == (False, True)
    assert [child.success for child in failed.children.items] == [True, False]
    assert failed.children.items[1].result_message is None, "children are summaries"
    child = api.commands.read_command(failed.children.items[1].id)
    grandchild = api.commands.read_command(child.children.items[0].id)
    assert grandchild.result_message.startswith("Supervisor returned FATAL")
    assert grandchild.role_ref.role_name.endswith("DRIVER-1")
    assert cm.get(S)["serviceState"] == "STOPPED"
    cm.switch(restart="success")
    retried = cm.call("POST", f"/commands/{failed.id}/retry").json
    assert cm.finished(retried["id"])["success"]


def test_an_endless_restart_continues_until_it_is_aborted(cm: Cm) -> None:
    cm.switch(restart="endless")
    number = cm.call("POST", f"{S}/commands/restart").json["id"]
    until(lambda: cm.get(S)["serviceState"] == "STARTING")
    assert cm.get(f"/commands/{number}")["active"] is True
    assert "success" not in cm.get(f"/commands/{number}")
    assert cm.call("POST", f"/commands/{number}/abort").json["success"] is False
    cm.switch(restart="success")
    assert cm.run("restart")["success"]


def test_commands_of_the_cluster_run(api: SimpleNamespace, cm: Cm) -> None:
    cm.put_config({REVERSE: True})
    command = api.clusters.deploy_client_config(CLUSTER)
    assert command.name == "DeployClusterClientConfig"
    assert finished(api, command).success
    assert cm.get(S)["clientConfigStalenessStatus"] == "FRESH"
    body = cm_client.ApiRestartClusterArgs(restart_only_stale_services=True, redeploy_client_configuration=True)
    done = finished(api, api.clusters.restart_command(CLUSTER, body=body))
    assert [(child.name, child.service_ref.service_name) for child in done.children.items] == [
        ("Restart", SERVICE),
        ("DeployClientConfig", "kafka"),
        ("DeployClientConfig", SERVICE),
    ]
    assert api.clusters.list_active_commands(CLUSTER).items == []
    whole = finished(api, api.clusters.restart_command(CLUSTER, body=cm_client.ApiRestartClusterArgs()))
    assert [child.service_ref.service_name for child in whole.children.items] == ["kafka", SERVICE]


def test_other_commands_of_a_service_run(api: SimpleNamespace, cm: Cm) -> None:
    known = {item.name for item in api.services.list_service_commands(CLUSTER, SERVICE).items}
    assert {"Restart", "RollingRestart"} <= known
    assert finished(api, api.services.service_command_by_name(CLUSTER, "Restart", SERVICE)).success
    rolling = cm_client.ApiRollingRestartArgs(stale_configs_only=True)
    assert finished(api, api.services.rolling_restart(CLUSTER, SERVICE, body=rolling)).name == "RollingRestart"
    cm.switch(rolling_restart=False)
    with pytest.raises(ApiException, match="Rolling Restart is not currently available"):
        api.services.rolling_restart(CLUSTER, SERVICE, body=rolling)
    packed = api.services.get_client_config(CLUSTER, SERVICE, _preload_content=False).data
    assert zipfile.ZipFile(io.BytesIO(packed)).namelist() == [f"{SERVICE}-conf/srm.properties"]


def test_role_groups_roles_and_role_commands_work(api: SimpleNamespace, cm: Cm) -> None:
    groups = {group.name: group for group in api.groups.read_role_config_groups(CLUSTER, SERVICE).items}
    assert (groups[DRIVER_GROUP].role_type, groups[DRIVER_GROUP].base) == (DRIVER, True)
    body = cm_client.ApiConfigList([cm_client.ApiConfig(name="ssl_enabled", value="true")])
    api.groups.update_config(CLUSTER, DRIVER_GROUP, SERVICE, body=body)
    found = {item.name: item.value for item in api.groups.read_config(CLUSTER, DRIVER_GROUP, SERVICE).items}
    assert found == {"streams.replication.manager.driver.target.cluster": "P", "ssl_enabled": "true"}
    cm.put_config({"ssl_enabled": None}, f"{S}/roleConfigGroups/{DRIVER_GROUP}")
    role = api.roles.read_roles(CLUSTER, SERVICE, filter=f"type=={DRIVER};hostname==localhost").items[0]
    assert role.role_config_group_ref.role_config_group_name == DRIVER_GROUP
    assert api.roles.read_roles(CLUSTER, SERVICE, filter="type==driver").items == []
    with pytest.raises(ApiException, match="Invalid filter"):
        api.roles.read_roles(CLUSTER, SERVICE, filter="name==x")
    names = cm_client.ApiRoleNameList([role.name, f"{SERVICE}-GATEWAY-1", "unknown-role"])
    bulk = api.role_commands.restart_command(CLUSTER, SERVICE, body=names)
    assert (len(bulk.items), len(bulk.errors)) == (1, 2)
    assert finished(api, bulk.items[0]).success


def test_the_property_of_reverse_checkpointing_has_a_role_and_a_version(api: SimpleNamespace, cm: Cm) -> None:
    def where() -> list[bool]:
        service = api.services.read_service_config(CLUSTER, SERVICE, view="full")
        group = api.groups.read_config(CLUSTER, DRIVER_GROUP, SERVICE, view="full")
        return [REVERSE in {item.name for item in found.items} for found in (service, group)]

    assert where() == [True, False]
    cm.switch(reverse_level="driver")
    assert where() == [False, True]
    cm.switch(runtime="7.3.1")
    assert where() == [False, False]
    answer = cm.call("PUT", f"{S}/config", {"items": [{"name": REVERSE, "value": "true"}]})
    assert (answer.status, answer.message) == (400, f"Unknown configuration attribute '{REVERSE}'.")


def test_external_accounts_work(api: SimpleNamespace, cm: Cm) -> None:
    def account(**items: str) -> Any:
        configs = cm_client.ApiConfigList(
            [cm_client.ApiConfig(name=name, value=value) for name, value in items.items()]
        )
        return cm_client.ApiExternalAccount("X", display_name="X", type_name="KAFKA_SERVICE", account_configs=configs)

    whole = account(kafka_bootstrap_servers="x:9092", kafka_security_protocol="SSL", kafka_truststore_password="s")
    assert api.accounts.create_account(body=whole).name == "X"
    for wrong, text in ((whole, "already exists"), (account(kafka_bootstrap_servers="y:9092"), "missing")):
        with pytest.raises(ApiException, match=text):
            (api.accounts.create_account if wrong is whole else api.accounts.update_account)(body=wrong)
    moved = account(kafka_bootstrap_servers="y:9092", kafka_security_protocol="SSL")
    api.accounts.update_account(body=moved)
    found = {item.name: item.value for item in api.accounts.read_account("X").account_configs.items}
    assert found == {"kafka_bootstrap_servers": "y:9092", "kafka_security_protocol": "SSL"}
    assert [item.name for item in api.accounts.read_accounts("KAFKA_SERVICE").items] == ["X"]
    assert len(api.accounts.get_supported_categories().items) == 1
    assert api.accounts.delete_account("X").name == "X"
    for status in (404, 400):
        cm.switch(absent_account_status=status)
        with pytest.raises(ApiException) as absent:
            api.accounts.delete_account("X")
        assert absent.value.status == status


# ---- what the client hides: raw requests


def test_the_version_is_text_and_every_call_needs_a_user(cm: Cm) -> None:
    answer = cm.call("GET", "/api/version", raw=True)
    assert (answer.data, answer.headers["Content-Type"].split(";")[0]) == (b"v54", "text/plain")
    without_user = Cm(cm.url, user="").call("GET", "/clusters")
    assert (without_user.status, without_user.json["causes"]) == (401, None)
    assert "Basic" in without_user.headers["WWW-Authenticate"]
    assert Cm(cm.url, user="").call("GET", f"{S}/clientConfig").status == 200
    assert cm.call("GET", "/api/v55/clusters", raw=True).status == 404
    assert cm.call("GET", "/api/v40/clusters", raw=True).status == 200
    assert cm.call("GET", "//clusters").status == 404


def test_a_session_cookie_is_valid_until_it_expires(cm: Cm) -> None:
    cookie = cm.call("GET", "/clusters").headers["Set-Cookie"].partition(";")[0]
    assert Cm(cm.url, user="").call("GET", "/clusters", Cookie=cookie).status == 200
    cm.switch(session_seconds=0)
    assert Cm(cm.url, user="").call("GET", "/clusters", Cookie=cookie).status == 401


@pytest.mark.parametrize("path", ["/clusters/cluster 1", "/clusters/No", f"{C}/services/Streams_replication_manager"])
def test_names_are_case_sensitive_and_unknown_ones_are_404_with_a_message(cm: Cm, path: str) -> None:
    answer = cm.call("GET", path.replace(" ", "%20") + "/commands")
    assert (answer.status, "not found" in answer.message) == (404, True)


def test_an_unknown_property_applies_nothing_of_its_request(cm: Cm) -> None:
    items = [{"name": CONFIGS, "value": "x=1"}, {"name": "x", "value": "1"}]
    answer = cm.call("PUT", f"{S}/config", {"items": items})
    assert (answer.status, answer.message) == (400, "Unknown configuration attribute 'x'.")
    assert CONFIGS not in {item["name"] for item in cm.get(f"{S}/config")["items"]}


def test_values_of_a_wrong_type_are_refused_or_flagged(cm: Cm) -> None:
    name = "refresh.topics.interval.seconds"
    wrong = {"items": [{"name": name, "value": "soon"}]}
    assert cm.call("PUT", f"{S}/config", wrong).status == 400
    cm.switch(bad_values="accept")
    assert cm.call("PUT", f"{S}/config", wrong).status == 200
    full = {item["name"]: item for item in cm.get(f"{S}/config?view=full")["items"]}
    assert full[name]["validationState"] == "ERROR"
    cm.put_config({name: 30})
    assert {item["name"]: item["value"] for item in cm.get(f"{S}/config?view=SUMMARY")["items"]}[name] == "30"
    cm.put_config({name: None})


def test_a_read_only_user_changes_nothing_and_sees_no_secret(cm: Cm) -> None:
    group = f"{S}/roleConfigGroups/{SERVICE}-GATEWAY-BASE"
    cm.put_config({"securestorage.password": "hidden"}, group)
    reader = Cm(cm.url, user="reader")
    assert reader.call("PUT", f"{S}/config", {"items": [{"name": CONFIGS, "value": "x=1"}]}).status == 403
    assert reader.call("POST", f"{S}/commands/restart").status == 403
    assert b"hidden" not in reader.call("GET", f"{group}/config").data
    assert reader.get(f"{group}/config")["items"][0] == {
        "name": "securestorage.password",
        "sensitive": True,
        "value": "REDACTED",
    }
    cm.put_config({"securestorage.password": None}, group)


def test_success_may_be_201_or_204(cm: Cm, api: SimpleNamespace) -> None:
    cm.switch(post_status=201, put_status=204)
    answer = cm.call("PUT", f"{S}/config", {"items": [{"name": REVERSE, "value": "true"}]})
    assert (answer.status, answer.data) == (204, b"")
    command, status, _headers = api.services.restart_command_with_http_info(CLUSTER, SERVICE)
    assert (status, cm.finished(command.id)["success"]) == (201, True)


def test_a_synchronous_command_is_finished_and_cannot_be_read(cm: Cm) -> None:
    cm.switch(synchronous=True)
    answer = cm.call("POST", f"{S}/commands/restart").json
    assert answer["id"] < 0
    assert (answer["active"], answer["success"]) == (False, True)
    assert cm.call("GET", f"/commands/{answer['id']}").status == 404
    assert cm.call("GET", "/commands/999999").status == 404


def test_a_late_response_belongs_to_a_running_command(cm: Cm) -> None:
    cm.switch(answer_seconds=1.5, command_seconds=3.0)
    began = time.monotonic()
    number = cm.call("POST", f"{S}/commands/restart").json["id"]
    assert time.monotonic() - began >= 1.5
    assert cm.finished(number)["success"]


@pytest.mark.parametrize(
    ("fault", "status", "kind"),
    [
        ({"kind": "error"}, 500, "application/json"),
        ({"kind": "bad_gateway"}, 502, "text/html"),
        ({"kind": "unavailable"}, 503, "application/json"),
        ({"kind": "unavailable", "retry_after": 7}, 503, "application/json"),
        ({"kind": "login_page"}, 200, "text/html"),
    ],
)
def test_faults_occur_as_often_as_configured(cm: Cm, fault: dict[str, Any], status: int, kind: str) -> None:
    cm.switch(faults=[{"times": 2, "path": "/clusters", "method": "GET", **fault}])
    for _twice in range(2):
        answer = cm.call("GET", "/clusters")
        assert (answer.status, answer.headers["Content-Type"].split(";")[0]) == (status, kind)
        assert answer.headers.get("Retry-After") == (str(fault["retry_after"]) if "retry_after" in fault else None)
    assert cm.call("GET", "/clusters").status == 200
    assert [entry["status"] for entry in cm.log()] == [status, status, 200]


def test_the_response_to_an_executed_post_can_be_lost(cm: Cm) -> None:
    cm.switch(command_seconds=5.0, faults=[{"kind": "dropped", "method": "POST", "after": True}])
    with pytest.raises(OSError, match=r"closed connection|reset|Remote end"):
        cm.call("POST", f"{S}/commands/restart")
    assert [entry["status"] for entry in cm.log()] == [0]
    found = [item for item in cm.get(f"{S}/commands")["items"] if "parent" not in item]
    assert [item["name"] for item in found] == ["Restart"]


def test_the_client_takes_a_login_page_for_an_empty_model_and_repeats_a_get(cm: Cm, api: SimpleNamespace) -> None:
    cm.switch(faults=[{"kind": "login_page"}])
    assert api.services.read_service(CLUSTER, SERVICE).name is None
    cm.switch(faults=[{"kind": "unavailable", "retry_after": 0, "times": 2}])
    assert api.services.read_service(CLUSTER, SERVICE).name == SERVICE
    assert [entry["status"] for entry in cm.log()] == [200, 503, 503, 200]


def test_switches_refuse_unknown_values(cm: Cm) -> None:
    for wrong in ({"colour": 1}, {"runtime": 7}, {"faults": [{"kind": "fire"}]}, {"control": {"speed": 1}}):
        assert cm.call("PUT", "/emulator/switches", wrong, raw=True).status == 400


# ---- other addresses


def test_through_a_gateway_the_base_path_differs_and_api_is_missing(cm: Cm) -> None:
    cm.switch(prefix=KNOX)
    assert apis(f"{cm.url}{KNOX}/v54").services.read_service(CLUSTER, SERVICE).name == SERVICE
    assert cm.call("GET", f"{KNOX}/version", raw=True).data == b"v54"
    assert cm.call("GET", "/api/v54/clusters", raw=True).status == 404


def test_tls_with_a_checked_certificate_a_wrong_password_and_a_redirect(cm: Cm, tmp_path: Path) -> None:
    served = issue(tmp_path / "certificates")
    ca = str(served.ca)
    tls = EmulatorProcess(
        tmp_path / "tls", "--site", "P", "--certificate", str(served.certificate), "--key", str(served.key)
    )
    try:
        assert tls.url.startswith("https://")
        found = apis(f"{tls.url}/api/v54", ca=ca)
        assert found.services.read_service(CLUSTER, SERVICE).name == SERVICE
        with pytest.raises(ApiException) as wrong:
            apis(f"{tls.url}/api/v54", password="wrong", ca=ca).clusters.read_clusters()
        assert wrong.value.status == 401
        with pytest.raises(Exception, match="CERTIFICATE_VERIFY_FAILED"):
            apis(f"{tls.url}/api/v54").clusters.read_clusters()
        cm.switch(faults=[{"kind": "redirect", "to": tls.url}])
        answer = cm.call("GET", "/clusters")
        assert (answer.status, answer.headers["Location"]) == (302, f"{tls.url}/api/v54/clusters")
        cm.switch(faults=[{"kind": "redirect", "to": tls.url}])
        with pytest.raises(ApiException) as lost:
            # The other port does not receive the password.
            apis(f"{cm.url}/api/v54", ca=ca).clusters.read_clusters()
        assert lost.value.status == 401
    finally:
        tls.end()


def test_one_manager_can_serve_both_sites_and_names_with_blanks(tmp_path: Path) -> None:
    both = EmulatorProcess(
        tmp_path / "both", "--site", "P", "--site", "B", "--cluster", "Site P/1", "--cluster", "Site+B"
    )
    try:
        found = Cm(both.url)
        assert [item["name"] for item in found.get("/clusters")["items"]] == ["Site P/1", "Site+B"]
        for path, alias in (("Site%20P%2F1", "P"), ("Site+B", "B")):
            items = found.get(f"/clusters/{path}/services/{SERVICE}/config")["items"]
            assert {item["name"]: item["value"] for item in items}["colocated.cluster.alias"] == alias
    finally:
        both.end()


def test_state_and_running_commands_survive_a_kill(tmp_path: Path) -> None:
    first = EmulatorProcess(tmp_path / "killed", "--site", "P", "--switches", '{"command_seconds": 2.0}')
    found = Cm(first.url)
    found.put_config({REVERSE: True})
    number = found.call("POST", f"{S}/commands/restart").json["id"]
    first.end(signal.SIGKILL)
    second = EmulatorProcess(tmp_path / "killed", "--site", "P")
    try:
        found = Cm(second.url)
        assert found.get(f"{S}/config")["items"][-1] == {"name": REVERSE, "sensitive": False, "value": "true"}
        assert found.finished(number)["success"]
        assert found.get(S)["configStalenessStatus"] == "FRESH"
    finally:
        second.end()
