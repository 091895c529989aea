# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The actions on a service: every case of the plan, and the names of commands."""

from __future__ import annotations

from itertools import product

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._cm.commands import verb_of
from ansible_collections.switchback.kafka_dr.plugins.module_utils._cm.control import DesiredService, plan
from ansible_collections.switchback.kafka_dr.plugins.module_utils._cm.shapes import Command, Service


def seen(state: str = "STARTED", config: str = "FRESH", client: str = "FRESH") -> Service:
    return Service("srm", "STREAMS_REPLICATION_MANAGER", state, config, client)


@pytest.mark.parametrize(
    ("desired", "service", "steps"),
    [
        (DesiredService(), seen(), []),
        (DesiredService(), seen(config="STALE"), ["restart"]),
        (DesiredService(), seen(config="STALE_REFRESHABLE"), ["restart"]),
        (DesiredService(), seen(client="STALE"), ["deploy"]),
        (DesiredService(), seen(config="STALE", client="STALE"), ["deploy", "restart"]),
        # An unreported freshness is not fresh.
        (DesiredService(), seen(config="", client=""), ["deploy", "restart"]),
        (DesiredService(changed=True), seen(), ["deploy", "restart"]),
        (DesiredService(changed=True, deploy="never"), seen(), ["restart"]),
        (DesiredService(changed=True, restart="never"), seen(), ["deploy"]),
        (DesiredService(deploy="always"), seen(), ["deploy"]),
        (DesiredService(restart="always"), seen(), ["restart"]),
        (DesiredService(deploy="never", restart="never"), seen(config="STALE", client="STALE"), []),
        (DesiredService("restarted", restart="never"), seen(), ["restart"]),
        (DesiredService("restarted"), seen("STOPPED"), ["start"]),
        (DesiredService(), seen("STOPPED", config="STALE"), ["start"]),
        (DesiredService(changed=True), seen("STOPPED"), ["deploy", "start"]),
        (DesiredService("present", changed=True), seen("STOPPED"), ["deploy"]),
        (DesiredService("present"), seen(config="STALE"), ["restart"]),
        (DesiredService("present"), seen("NA", config="STALE", client="STALE"), ["deploy"]),
        (DesiredService("stopped", changed=True), seen(config="STALE", client="STALE"), ["stop"]),
        (DesiredService("stopped", changed=True), seen("STOPPED", config="STALE"), []),
        (DesiredService("stopped"), seen("STARTING"), ["stop"]),
    ],
)
def test_the_planned_steps_of_a_service(desired: DesiredService, service: Service, steps: list[str]) -> None:
    assert plan(desired, service) == steps


@pytest.mark.parametrize(
    "desired",
    [
        DesiredService(state, deploy, restart, changed)
        for state, deploy, restart, changed in product(
            ("present", "started", "restarted", "stopped"),
            ("stale", "always", "never"),
            ("stale", "always", "never"),
            (False, True),
        )
    ],
)
@pytest.mark.parametrize("state", ["STARTED", "STOPPED"])
@pytest.mark.parametrize("config", ["FRESH", "STALE"])
def test_a_completed_step_is_not_planned_again(desired: DesiredService, state: str, config: str) -> None:
    first = plan(desired, seen(state, config, config))
    after = state
    if "stop" in first:
        after = "STOPPED"
    elif set(first) & {"start", "restart"}:
        after = "STARTED"
    fresh = "FRESH" if set(first) & {"start", "restart"} else config
    client = "FRESH" if "deploy" in first else config
    assert plan(desired, seen(after, fresh, client), frozenset(first)) == []


def test_a_restart_that_left_the_service_stale_is_planned_again() -> None:
    assert plan(DesiredService(), seen(config="STALE"), frozenset({"restart"})) == ["restart"]


@pytest.mark.parametrize(
    ("name", "verb"),
    [
        ("Restart", "restart"),
        ("RollingRestart", "restart"),
        ("DeployClusterClientConfig", "deploy"),
        ("deployClientConfig", "deploy"),
        ("Stop", "stop"),
        ("Start", "start"),
        ("RefreshCluster", None),
    ],
)
def test_commands_are_recognised_by_their_names(name: str, verb: str | None) -> None:
    assert verb_of(Command.parse({"id": 1, "name": name})) == verb


def test_a_command_without_a_status_is_neither_active_nor_successful() -> None:
    odd = Command.parse({"id": "abc", "active": "false", "success": "true", "children": None, "serviceRef": None})
    assert (odd.id, odd.active, odd.success, odd.children, odd.service) == (-1, False, None, (), None)
