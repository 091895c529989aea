# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""cm_service on an emulated Cloudera Manager, over real HTTP."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._cm import control
from ansible_collections.switchback.kafka_dr.plugins.module_utils._cm.commands import Runner
from ansible_collections.switchback.kafka_dr.plugins.module_utils._cm.http import CmTransport
from ansible_collections.switchback.kafka_dr.plugins.module_utils._cm.service import CmService
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds
from ansible_collections.switchback.kafka_dr.plugins.modules import cm_service
from ansible_collections.switchback.kafka_dr.tests.support.cm_server import SERVICE, CmServer, cm_server
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module, warned

pytestmark = pytest.mark.integration

COMMANDS = f"/services/{SERVICE}/commands"
FRESH = {"config": "FRESH", "client_config": "FRESH"}


@pytest.fixture
def cm(tmp_path: Path) -> Iterator[CmServer]:
    with cm_server(tmp_path / "cm") as server:
        yield server


def run(cm: CmServer, check: bool = False, **more: Any) -> dict[str, Any]:
    """The module with waits that suit an emulator."""
    return run_module(cm_service, cm.params(**{"wait_timeout": 20.0, "wait_sleep": 0.05, **more}), check=check)


def sent(cm: CmServer) -> list[str]:
    """The commands that it received."""
    return [path.rsplit("/", 1)[1] for _method, path in cm.log("POST")]


def ways(result: dict[str, Any]) -> list[tuple[str, str, bool | None]]:
    return [(command["verb"], command["how"], command["success"]) for command in result["commands"]]


def actions(result: dict[str, Any]) -> list[tuple[str, str]]:
    return [(change["action"], change["status"]) for change in result["changes"]]


def stale(cm: CmServer, value: str = "31") -> None:
    cm.put("/config", **{"refresh.topics.interval.seconds": value})


# ---- actions -------


def test_a_fresh_unchanged_service_costs_three_reads(cm: CmServer) -> None:
    for more in ({}, {"service": SERVICE}, {"state": "present"}):
        cm.forget()
        result = run(cm, **more)
        assert (result["rc"], result["changed"], result["state"]) == (0, False, "STARTED")
        assert [method for method, _path in cm.log()] == ["GET"] * 3


def test_a_stale_service_is_deployed_and_then_restarted(cm: CmServer) -> None:
    stale(cm)
    planned = run(cm, check=True)
    assert (actions(planned), sent(cm)) == ([("deploy_client_config", "planned"), ("restart", "planned")], [])
    result = run(cm)
    assert (result["rc"], sent(cm)) == (0, ["deployClientConfig", "restart"])
    assert actions(result) == [("deploy_client_config", "done"), ("restart", "done")]
    assert result["staleness"] == {"before": {"config": "STALE", "client_config": "STALE"}, "after": FRESH}
    assert ways(result) == [("deploy", "issued", True), ("restart", "issued", True)]
    assert not run(cm)["changed"]


def test_a_changed_service_is_deployed_and_restarted_even_if_it_is_reported_as_fresh(cm: CmServer) -> None:
    cm.switch(stale_seconds=60, fresh_seconds=0.6)
    stale(cm)
    result = run(cm, changed=True)
    assert (sent(cm), result["staleness"]) == (["deployClientConfig", "restart"], {"before": FRESH, "after": FRESH})
    cm.forget()
    assert (run(cm, changed=True, restart="never")["rc"], sent(cm)) == (0, ["deployClientConfig"])


def test_stop_waits_for_every_process_and_start_starts_them_again(cm: CmServer) -> None:
    stopped = run(cm, state="stopped")
    assert (stopped["state"], actions(stopped), sent(cm)) == ("STOPPED", [("stop", "done")], ["stop"])
    assert {role["roleState"] for role in cm.get("/roles")["items"]} == {"STOPPED", "NA"}
    assert not run(cm, state="stopped")["changed"]
    stale(cm)
    left = run(cm, state="present")
    assert (left["state"], actions(left)) == ("STOPPED", [("deploy_client_config", "done")])
    started = run(cm, state="started")
    assert (started["state"], actions(started), started["staleness"]["after"]) == (
        "STARTED",
        [("start", "done")],
        FRESH,
    )


def test_restarted_restarts_once_and_never_does_not_restart(cm: CmServer) -> None:
    assert actions(run(cm, state="restarted")) == [("restart", "done")]
    stale(cm)
    assert actions(run(cm, restart="never", deploy_client_config="never")) == []


def test_a_refused_rolling_restart_becomes_a_plain_one_with_a_warning(
    cm: CmServer, capfd: pytest.CaptureFixture[str]
) -> None:
    assert (run(cm, state="restarted", rolling=True)["commands"][0]["name"], sent(cm)) == (
        "RollingRestart",
        ["rollingRestart"],
    )
    cm.forget()
    cm.switch(rolling_restart=False)
    result = run(cm, state="restarted", rolling=True)
    assert (result["rc"], sent(cm)) == (0, ["rollingRestart", "restart"])
    assert "A rolling restart is not possible" in warned(result, capfd)


# ---- commands of other users, lost responses


def test_a_running_restart_of_another_user_is_joined(cm: CmServer) -> None:
    cm.switch(command_seconds=3.0)
    stale(cm)
    cm.post(f"{COMMANDS}/restart")
    cm.forget()
    result = run(cm, changed=True)
    assert (result["rc"], sent(cm)) == (0, ["deployClientConfig"])
    assert ways(result) == [("deploy", "issued", True), ("restart", "joined", True)]


def test_a_restart_of_the_whole_cluster_is_joined(cm: CmServer) -> None:
    cm.switch(command_seconds=3.0)
    stale(cm)
    cm.post("/commands/restart")
    cm.forget()
    result = run(cm, deploy_client_config="never")
    assert (result["rc"], sent(cm), ways(result)) == (0, [], [("restart", "joined", True)])


def test_a_joined_restart_that_began_before_the_change_is_not_enough(
    cm: CmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control, "LAG_SECONDS", 0.3)
    cm.switch(command_seconds=3.0)
    # The cluster's restart does not restart our service: joining it has no effect.
    cm.post("/commands/restart", {"restartServiceNames": ["kafka"]})
    stale(cm)
    cm.forget()
    result = run(cm, deploy_client_config="never")
    assert (result["rc"], sent(cm)) == (0, ["restart"])
    assert ways(result) == [("restart", "joined", True), ("restart", "issued", True)]


def test_a_running_stop_of_another_user_is_waited_for_before_the_start(cm: CmServer) -> None:
    cm.switch(command_seconds=5.0)
    cm.post(f"{COMMANDS}/stop")
    result = run(cm)
    assert ways(result) == [("stop", "awaited", True), ("start", "issued", True)]
    assert result["state"] == "STARTED"


def test_a_stop_waits_until_a_running_restart_has_ended(cm: CmServer) -> None:
    cm.switch(command_seconds=5.0)
    cm.post(f"{COMMANDS}/restart")
    result = run(cm, state="stopped")
    assert ways(result) == [("restart", "awaited", True), ("stop", "issued", True)]
    assert result["state"] == "STOPPED"


@pytest.mark.parametrize("fault", ["dropped", "bad_gateway", "unavailable"])
def test_a_restart_with_a_lost_response_is_found_and_not_sent_again(cm: CmServer, fault: str) -> None:
    cm.switch(command_seconds=0.8)
    stale(cm)
    cm.fault(fault, method="POST", path="restart", after=True)
    result = run(cm, deploy_client_config="never")
    assert (result["rc"], sent(cm), ways(result)) == (0, ["restart"], [("restart", "adopted", True)])


def test_a_command_whose_response_is_late_is_found_and_not_sent_again(cm: CmServer) -> None:
    cm.switch(answer_seconds=3.0, command_seconds=1.5)
    stale(cm)
    result = run(cm, deploy_client_config="never", request_timeout=1.0)
    assert (result["rc"], sent(cm), ways(result)) == (0, ["restart"], [("restart", "adopted", True)])


def test_a_command_without_any_trace_is_unknown_and_not_repeated(cm: CmServer) -> None:
    cm.fault("dropped", method="POST", path="restart")
    result = run(cm, state="restarted", request_timeout=1.0)
    assert (result["error"]["code"], sent(cm), actions(result)) == (
        "cm_command_unknown",
        ["restart"],
        [("restart", "failed")],
    )


def test_commands_that_finish_at_once_are_not_polled(cm: CmServer) -> None:
    cm.switch(synchronous=True)
    stale(cm)
    result = run(cm)
    assert (result["rc"], [command["id"] for command in result["commands"]]) == (0, [None, None])
    assert not [path for _method, path in cm.log("GET") if path.startswith("/commands/")]


def test_status_201_is_a_success(cm: CmServer) -> None:
    cm.switch(post_status=201)
    assert run(cm, state="restarted")["rc"] == 0


# ---- failures ------


def test_a_failed_restart_reports_the_innermost_cause(cm: CmServer) -> None:
    cm.switch(restart="failure")
    stale(cm)
    result = run(cm)
    assert (result["error"]["code"], result["state"]) == ("cm_command_failed", "STOPPED")
    assert "Supervisor returned FATAL" in result["msg"]
    assert f"{SERVICE}-STREAMS_REPLICATION_MANAGER_DRIVER-1" in result["msg"]
    assert (result["changed"], actions(result)) == (True, [("deploy_client_config", "done"), ("restart", "failed")])


def test_an_endless_restart_is_left_at_the_bound_and_joined_by_the_next_run(cm: CmServer) -> None:
    cm.switch(restart="endless")
    result = run(cm, state="restarted", wait_timeout=1.5)
    assert (result["error"]["code"], result["state"]) == ("cm_command_unfinished", "STARTING")
    assert "Start on" in result["msg"]
    assert "to wait for it" in result["error"]["hint"]
    number = result["commands"][0]["id"]
    stalled = run(cm, state="restarted", stall_timeout=0.5)
    assert ("no progress" in stalled["msg"], stalled["commands"][0]["id"]) == (True, number)
    assert stalled["commands"][0]["how"] == "joined"
    assert sent(cm) == ["restart"]


def test_a_read_only_user_gets_a_clear_error_for_a_restart(cm: CmServer) -> None:
    result = run_module(cm_service, cm.params(user="reader", state="restarted"))
    assert (result["error"]["code"], actions(result)) == ("cm_forbidden", [("restart", "failed")])


def test_errors_while_polling_are_tolerated_for_a_while(cm: CmServer) -> None:
    cm.switch(command_seconds=1.0)
    cm.fault("error", method="GET", path="/commands/[0-9]+$", times=4)
    assert run(cm, state="restarted")["rc"] == 0
    cm.fault("error", method="GET", path="/commands/[0-9]+$", times=None)
    result = run(cm, state="restarted")
    assert (result["error"]["code"], result["changed"]) == ("cm_error", False)


def test_a_service_that_stays_stale_is_a_failure(cm: CmServer) -> None:
    cm.switch(fresh_seconds=30)
    stale(cm)
    result = run(cm, wait_timeout=1.0)
    assert (result["error"]["code"], result["changed"]) == ("cm_not_settled", True)
    assert "configuration STALE" in result["msg"]


# ---- without a module, and two at once


def test_the_functions_that_a_barrier_needs_work_without_a_module(cm: CmServer) -> None:
    service = CmService(
        CmTransport(cm.url, {"url_username": "admin", "url_password": "admin"}, 10.0), "Cluster 1", SERVICE
    )
    Runner(service, Bounds(20.0, 0.05)).run("stop", service.read_service())
    assert (service.read_service().state, service.active_commands()) == ("STOPPED", [])
    assert all(role.stopped for role in service.roles())
    assert [group.base for group in service.groups()] == [True] * 3


def test_two_tasks_at_once_restart_once(cm: CmServer) -> None:
    cm.switch(command_seconds=8.0)
    stale(cm)
    services = [
        CmService(CmTransport(cm.url, {"url_username": "admin", "url_password": "admin"}, 10.0), "Cluster 1")
        for _task in range(2)
    ]
    desired = control.DesiredService(deploy="never")
    results: list[Any] = []

    def work(service: CmService) -> None:
        results.append(control.reconcile_service(service, desired, Bounds(60.0, 0.05), False))

    threads = [threading.Thread(target=work, args=(service,)) for service in services]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [result.failure for result in results] == [None, None]
    restarts = [command for result in results for command in result.extra["commands"]]
    assert len({command["id"] for command in restarts}) == 1
