# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Configuration, staleness and the state file, without HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest

from cm import services
from cm.client_config import client_config
from cm.errors import ApiError
from cm.properties import GATEWAY, REVERSE, SRM, knows_reverse
from cm.state import Service, State, Store
from cm.switches import Switches


@pytest.fixture
def service() -> Service:
    return services.new_service("C", "srm", SRM, "P", "localhost")


@pytest.fixture
def state(service: Service) -> State:
    found = State(services=[service])
    service.running = service.deployed = services.effective(found, service)
    return found


def put(state: State, service: Service, name: str, value: object) -> None:
    services.update(state, service, None, [{"name": name, "value": value}])


@pytest.mark.parametrize(
    ("runtime", "knows"), [("7.3.2", True), ("7.3.1", False), ("7.10.0", True), ("7.3.2.1-5", True), ("7.2.18", False)]
)
def test_versions_compare_as_numbers(runtime: str, knows: bool) -> None:
    assert knows_reverse(runtime) is knows


def test_setting_a_default_or_the_same_value_is_no_change(state: State, service: Service) -> None:
    put(state, service, REVERSE, "false")
    assert services.staleness(service, "config") == "FRESH"
    assert {"name": REVERSE, "sensitive": False, "value": "false"} in services.view(state, service, None, False, False)[
        "items"
    ]
    put(state, service, REVERSE, True)
    assert services.staleness(service, "config") == "STALE"
    put(state, service, REVERSE, None)
    assert services.staleness(service, "config") == "FRESH"
    assert services.view(state, service, None, False, False)["items"] == []


def test_a_changed_account_makes_stale_only_where_it_is_named(state: State, service: Service) -> None:
    state.accounts["B"] = {"items": {"kafka_bootstrap_servers": "b:1"}}
    services.refresh_staleness(state, service)
    assert services.staleness(service, "client") == "FRESH"
    put(state, service, "external_kafka_accounts", "B")
    assert services.staleness(service, "client") == "STALE"


def test_a_failed_change_is_not_stored(tmp_path: Path) -> None:
    store = Store(tmp_path / "state.json")
    with store.change() as state:
        state.next_id = 7

    def fail() -> None:
        with store.change() as state:
            state.next_id = 8
            raise ApiError(400, "no")

    with pytest.raises(ApiError):
        fail()
    assert store.state.next_id == 7
    assert Store(tmp_path / "state.json").state.next_id == 7


def test_the_state_is_read_back_unchanged(tmp_path: Path, service: Service) -> None:
    store = Store(tmp_path / "state.json")
    with store.change() as state:
        state.services.append(service)
        state.switches = Switches().changed({"faults": [{"kind": "error"}], "control": {"noise": True}})
    assert Store(tmp_path / "state.json").state == store.state


def test_the_client_configuration_has_no_password(state: State, service: Service) -> None:
    group = service.groups[f"srm-{GATEWAY}-BASE"]
    services.update(state, service, group, [{"name": "securestorage.password", "value": "hidden"}])
    put(state, service, "clusters", "P, B")
    put(state, service, "colocated.cluster.alias", "P")
    found = client_config(services.effective(state, service), {"P": "p:1", "B": "b:1"})
    assert "hidden" not in str(found)
    assert (found["clusters"], found["bootstrap_servers"]) == (["P", "B"], {"P": "p:1"})
    assert (found["secret_variable"], found["knows_reverse"]) == ("SECURESTOREPASS", True)
