# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""cm_service against a scripted Cloudera Manager, with responses that the emulator of a healthy one does not give."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._cm import control
from ansible_collections.switchback.kafka_dr.plugins.modules import cm_service
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module, warned
from ansible_collections.switchback.kafka_dr.tests.support.scripted import ScriptedServer, playing

BASE = "/api/v54/clusters/C/services/srm"
NONE: tuple[int, Any] = (200, {"items": []})
NOT_NOW = (400, {"message": "Command Restart is not currently available for execution."})
DONE = {"id": -1, "name": "Restart", "active": False, "success": True}


@pytest.fixture
def script() -> Iterator[ScriptedServer]:
    with playing(ScriptedServer()) as served:
        yield served


def service(state: str = "STARTED", **more: Any) -> tuple[int, Any]:
    fresh = {"configStalenessStatus": "FRESH", "clientConfigStalenessStatus": "FRESH"}
    return 200, {"name": "srm", "type": "STREAMS_REPLICATION_MANAGER", "serviceState": state, **fresh, **more}


def active(name: str, number: int = 7) -> tuple[int, Any]:
    return 200, {"items": [{"id": number, "name": name, "active": True, "serviceRef": {"serviceName": "srm"}}]}


def run(script: ScriptedServer, **more: Any) -> dict[str, Any]:
    own = {"cm_url": f"{script.url}/api/v54", "cluster": "C", "service": "srm", "request_timeout": 20.0}
    return run_module(cm_service, {**own, "wait_timeout": 20.0, "wait_sleep": 0.02, "state": "restarted", **more})


def posts(script: ScriptedServer) -> list[str]:
    return [path.removeprefix(BASE + "/commands/") for method, path in script.calls if method == "POST"]


def test_a_command_that_another_one_blocks_is_sent_after_it(script: ScriptedServer) -> None:
    script.answers = [
        *(service(), NONE, NONE, NONE, NOT_NOW),
        *(active("Upgrade"), NONE, (200, {"id": 7, "name": "Upgrade", "active": False, "success": True})),
        *(NONE, NONE, (200, DONE), service()),
    ]
    result = run(script)
    assert (result["rc"], posts(script)) == (0, ["restart", "restart"])
    assert [(command["verb"], command["how"]) for command in result["commands"]] == [
        ("Upgrade", "awaited"),
        ("restart", "issued"),
    ]


def test_a_command_that_is_blocked_without_a_visible_cause_is_explained(script: ScriptedServer) -> None:
    script.answers = [service(), NONE, NONE, NONE, NOT_NOW, NONE, NONE, service(), service()]
    result = run(script)
    assert (result["error"]["code"], posts(script)) == ("cm_command_unavailable", ["restart"])
    assert "The service is STARTED. Other active commands: none." in result["msg"]


def test_without_a_command_in_the_response_the_command_is_searched(script: ScriptedServer) -> None:
    ended = (200, {"id": 7, "name": "Restart", "active": False, "success": True})
    script.answers = [service(), NONE, NONE, NONE, (204, None), active("Restart"), NONE, ended, service()]
    result = run(script)
    assert (result["rc"], result["commands"][0]["how"]) == (0, "adopted")


def test_a_finished_command_whose_effect_is_visible_is_adopted(script: ScriptedServer) -> None:
    stopped = (200, {"items": [{"name": "d", "type": "D", "roleState": "STOPPED"}]})
    script.answers = [
        *(service(), NONE, NONE, NONE, (502, "<html>"), NONE, NONE, service("STOPPED")),
        *(service("STOPPED"), stopped),
    ]
    result = run(script, state="stopped")
    assert (result["rc"], result["commands"][0]["how"], posts(script)) == (0, "adopted", ["stop"])


def test_a_command_that_ended_without_a_result_is_a_failure(script: ScriptedServer) -> None:
    script.answers = [service(), NONE, NONE, NONE, (200, {"id": -1, "name": "Restart", "active": False}), service()]
    result = run(script)
    assert (result["error"]["code"], result["changes"][0]["status"]) == ("cm_command_failed", "failed")


def test_a_service_is_not_stopped_while_a_role_has_a_process(script: ScriptedServer) -> None:
    roles = (200, {"items": [{"name": "d", "roleState": "STOPPING"}, {"name": "g", "roleState": "NA"}]})
    script.answers = [service(), NONE, NONE, NONE, (200, {**DONE, "name": "Stop"})]
    observations = [service("STOPPED"), roles]
    script.answers += observations * 2
    script.answers += [service("STOPPED"), (200, {"items": [{"name": "d", "roleState": "STOPPED"}]})]
    result = run(script, state="stopped")
    assert (result["rc"], result["state"]) == (0, "STOPPED")


def test_a_stop_that_was_already_running_is_waited_for(script: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control, "LAG_SECONDS", 0.0)
    left = (200, {"items": [{"name": "d", "roleState": "STOPPING"}]})
    ended = (200, {"id": 7, "name": "Stop", "active": False, "success": True})
    script.answers = [service(), active("Stop"), ended, service("STOPPED"), left, service("STOPPED"), left]
    script.answers += [service("STOPPED"), (200, {"items": [{"name": "d", "roleState": "STOPPED"}]})]
    result = run(script, state="stopped")
    assert (result["rc"], posts(script)) == (0, [])


@pytest.mark.parametrize(
    ("roles", "expected"),
    [([{"name": "d", "roleState": "STARTED"}], "d STARTED"), ([], "Cloudera Manager lists no role")],
)
def test_a_stopped_service_counts_as_stopped_only_without_a_role_process(
    script: ScriptedServer, roles: list[dict[str, str]], expected: str
) -> None:
    """The state of a service is a summary, and a response without roles is not evidence."""
    script.answers = [service("STOPPED"), NONE, (200, {"items": roles}), service("STOPPED")]
    result = run(script, state="stopped")
    assert (result["rc"], result["error"]["code"], posts(script)) == (1, "cm_process_left", [])
    assert expected in result["msg"]


def test_a_restart_is_not_repeated_while_its_effect_is_not_visible_yet(script: ScriptedServer) -> None:
    stale = service(configStalenessStatus="STALE")
    script.answers = [stale, NONE, NONE, NONE, (200, DONE), stale, stale, service()]
    result = run(script, restart="never")
    assert (result["rc"], posts(script)) == (0, ["restart"])


@pytest.mark.parametrize("state", ["UNKNOWN", "HISTORY_NOT_AVAILABLE", ""])
def test_an_unknown_state_causes_no_command(script: ScriptedServer, state: str) -> None:
    script.answers = [service(state), NONE]
    script.endless = service(state)
    result = run(script, state="stopped", wait_timeout=0.2)
    assert (result["error"]["code"], posts(script), result["changed"]) == ("cm_state_unknown", [], False)


def test_a_service_without_processes_cannot_be_started(script: ScriptedServer) -> None:
    script.answers = [service("NA"), NONE, service("NA")]
    assert run(script, state="started")["error"]["code"] == "cm_nothing_to_run"


def test_maintenance_and_bad_health_are_warnings(script: ScriptedServer, capfd: pytest.CaptureFixture[str]) -> None:
    checks = [{"name": "DISTRIBUTED_HERDER_STATUS", "summary": "BAD"}, {"name": "OTHER", "summary": "GOOD"}]
    script.answers = [service(maintenanceMode=True, healthSummary="BAD", healthChecks=checks), NONE]
    result = run(script, state="started")
    assert (result["rc"], result["changed"], result["maintenance_mode"]) == (0, False, True)
    assert "maintenance mode" in warned(result, capfd)
    assert result["health_checks"] == ["DISTRIBUTED_HERDER_STATUS BAD"]


def test_the_last_state_does_not_count_while_cloudera_manager_is_unreachable(script: ScriptedServer) -> None:
    script.answers = [service(), NONE, NONE, NONE, (200, DONE), (401, {"message": "out"}), service()]
    result = run(script)
    assert (result["error"]["code"], result["changed"]) == ("cm_not_authorized", True)


def test_with_several_services_none_is_chosen(script: ScriptedServer) -> None:
    two = [{"name": name, "type": "STREAMS_REPLICATION_MANAGER"} for name in ("srm-1", "srm-2")]
    script.answers = [(200, {"items": [*two, {"name": "kafka", "type": "KAFKA"}]})]
    result = run(script, service=None)
    assert result["error"]["code"] == "cm_service_not_found"
    assert '"srm-1" (STREAMS_REPLICATION_MANAGER), "srm-2"' in result["msg"]


@pytest.mark.parametrize("odd", [[], {"items": None}, {"items": ["x"]}, "text", 5])
def test_a_response_of_another_shape_is_not_taken_for_an_empty_one(script: ScriptedServer, odd: Any) -> None:
    script.answers = [service(), (200, odd if odd != "text" else '"text"')]
    assert run(script)["error"]["code"] == "cm_unexpected"
