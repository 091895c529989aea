# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine aiven: the same playbooks through Aiven's API, as the lab's emulator shows it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from aiven_sites import Service, services
from engine_cases import CLIENTS, EnableCases, EndCases, EngineStore, MoveCases
from scenario import Scenario
from snapshot import read_inventory


class AivenStore(EngineStore):
    shown = "exactly_once_delivery_enabled"
    own_parts = ("aiven",)

    def state(self, alias: str) -> Any:
        service = Service(self.pair, alias)
        return service.flows(), service.service()["user_config"]

    def runs(self, alias: str) -> bool:
        return [flow["enabled"] for flow in Service(self.pair, alias).flows()] == [True]

    def empty(self) -> bool:
        return all(service.flows() == [] for service in services(self.pair).values())

    def forget(self) -> None:
        for service in services(self.pair).values():
            service.own("log", "DELETE")

    def writes(self) -> list[Any]:
        rows = [row for service in services(self.pair).values() for row in service.requests()]
        assert rows
        return [row for row in rows if row["method"] != "GET"]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    """A pair before any configuration. Each test continues where the one before ended."""
    with Scenario(tmp_path_factory.mktemp("aiven"), partitions=4, clients=CLIENTS, engine="aiven").up() as made:
        yield made


@pytest.fixture(scope="module")
def store(pair: Scenario) -> EngineStore:
    return AivenStore(pair)


# ---- invalid configurations

BAD: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    # Switches of the emulator, keys of the site, the message.
    ({}, {"token": "not-the-right-one"}, "aiven_not_authorized"),
    ({}, {"token": "lab-reader"}, "service:data:write"),
    ({}, {"project": "nowhere"}, "aiven_not_found"),
    ({}, {"service": "nothing"}, "aiven_not_found"),
    ({"faults": [{"kind": "html", "times": None}]}, {}, "aiven_not_json"),
    ({"faults": [{"kind": "error", "times": None}]}, {}, "aiven_busy"),
    ({"faults": [{"kind": "limited", "times": None}]}, {}, "aiven_busy"),
    ({"faults": [{"kind": "conflict", "times": None, "method": "POST"}]}, {}, "aiven_conflict"),
]


@pytest.mark.long
@pytest.mark.parametrize(("switches", "site", "expected"), BAD, ids=range(len(BAD)))
def test_each_invalid_configuration_is_refused_and_nothing_is_written(
    pair: Scenario, switches: dict[str, Any], site: dict[str, Any], expected: str
) -> None:
    declared = read_inventory(pair.inventory)["kafka_dr_aiven"]
    declared["B"] |= site
    service = Service(pair, "B")
    service.own("switches", "PUT", switches)
    try:
        done = pair.playbook("enable", {"kafka_dr_confirm": "P", "kafka_dr_aiven": declared}, ("-vv",), expect=2)
    finally:
        service.own("switches", "DELETE")
    assert expected in done["output"]
    assert "not-the-right-one" not in done["output"]
    assert service.flows() == []


@pytest.mark.long
def test_a_service_that_is_powered_off_is_refused(pair: Scenario) -> None:
    service = Service(pair, "B")
    service.service(powered=False)
    try:
        done = pair.playbook("enable", {"kafka_dr_confirm": "P"}, expect=2)
    finally:
        service.service(powered=True)
    assert "is in state POWEROFF, wanted RUNNING" in done["output"]
    assert service.flows() == []


@pytest.mark.long
@pytest.mark.parametrize(
    ("playbook", "variables", "expected"),
    [
        ("enable", {"kafka_dr_policy": "identity"}, "cannot set the stored offsets of a flow"),
        ("enable", {"kafka_dr_adopt": {"P->B": {"source": "x"}}}, "kafka_dr_adopt cannot be used"),
        ("enable", {"kafka_dr_separator": "_"}, "no field for another separator"),
        ("rebuild", {}, "cannot reset the stored offsets of a flow"),
    ],
)
def test_what_the_engine_cannot_do_is_refused_with_its_reason(
    pair: Scenario, playbook: str, variables: dict[str, Any], expected: str
) -> None:
    done = pair.playbook(playbook, {"kafka_dr_confirm": "P" if playbook == "enable" else "B", **variables}, expect=2)
    assert expected in " ".join(done["output"].split())


# ---- enabling


class TestEnable(EnableCases):
    def test_flows_have_no_group_sync_and_committed_reads(self, pair: Scenario) -> None:
        for service in services(pair).values():
            (flow,) = service.flows()
            assert (flow["enabled"], flow["sync_group_offsets_enabled"]) == (True, False)
            assert flow["exactly_once_delivery_enabled"] is True
            assert service.own("engine")["settings"]["source.consumer.isolation.level"] == "read_committed"


@pytest.mark.long
def test_a_rehearsal_is_refused_with_its_reason(pair: Scenario) -> None:
    done = pair.playbook("rehearse", {"kafka_dr_confirm": "B"}, expect=2)
    assert "one flow exists for each pair of aliases" in " ".join(done["output"].split())


@pytest.mark.long
def test_status_and_a_cutover_refuse_a_flow_with_group_sync(pair: Scenario) -> None:
    service = Service(pair, "B")
    service.change(sync_group_offsets_enabled=True)
    try:
        done = pair.playbook("status", expect=None)
        assert '"sync_group_offsets_enabled" is true' in done["output"].replace('\\"', '"')
        refused = pair.playbook("failover_cutoff", {"kafka_dr_confirm": "B"}, expect=2)
        assert "sync_group_offsets_enabled" in refused["output"]
    finally:
        service.change(sync_group_offsets_enabled=False)
    pair.traffic(500)


@pytest.mark.long
def test_a_changed_service_restarts_its_flows_with_a_warning(pair: Scenario) -> None:
    service = Service(pair, "B")
    service.service(user_config={"kafka_mirrormaker": {"groups": "settlement"}})
    done = pair.playbook("enable", {"kafka_dr_confirm": "P"})
    assert "restarts the workers of all its flows: P->B" in " ".join(done["output"].split())
    assert service.service()["user_config"]["kafka_mirrormaker"]["groups"] == "settlement,fraud"
    pair.traffic(500)


class TestMoves(MoveCases):
    def moved(self, pair: Scenario, report: dict[str, Any]) -> None:
        """No flow has stopped after the way home."""
        for service in services(pair).values() if report["to"] == "P" else ():
            assert [flow["enabled"] for flow in service.flows()] == [True]


class TestEnd(EndCases):
    pass
