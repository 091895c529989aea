# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine aiven: the same playbooks through Aiven's API, as the lab's emulator shows it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from aiven_sites import Service, services, state
from disasters import forgotten
from kills import kill_in_phase
from lab.lab import Lab
from lagging import slow
from scenario import Scenario, totals
from snapshot import read_inventory

CLIENTS = [
    {"name": "payments-api", "role": "producer", "rate": 500},
    {"name": "settlement", "role": "consumer", "group": "settlement"},
    {"name": "fraud", "role": "consumer", "group": "fraud"},
]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    """A pair before any configuration. Each test continues where the one before ended."""
    with Scenario(tmp_path_factory.mktemp("aiven"), partitions=4, clients=CLIENTS, engine="aiven").up() as made:
        yield made


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


def test_a_service_that_is_powered_off_is_refused(pair: Scenario) -> None:
    service = Service(pair, "B")
    service.service(powered=False)
    try:
        done = pair.playbook("enable", {"kafka_dr_confirm": "P"}, expect=2)
    finally:
        service.service(powered=True)
    assert "is in state POWEROFF, wanted RUNNING" in done["output"]
    assert service.flows() == []


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


def test_check_mode_shows_each_flow_that_enable_would_create_and_writes_nothing(pair: Scenario) -> None:
    before = state(pair)
    for service in services(pair).values():
        service.own("log", "DELETE")
    done = pair.playbook("enable", {"kafka_dr_confirm": "P"}, ("--check", "--diff"))
    assert "exactly_once_delivery_enabled" in done["output"]
    assert done["changed"] > 0
    assert {row["method"] for service in services(pair).values() for row in service.requests()} == {"GET"}
    assert state(pair) == before


def test_enable_creates_flows_without_group_sync_and_with_committed_reads(pair: Scenario) -> None:
    pair.playbook("enable", {"kafka_dr_confirm": "P"})
    for service in services(pair).values():
        (flow,) = service.flows()
        assert (flow["enabled"], flow["sync_group_offsets_enabled"]) == (True, False)
        assert flow["exactly_once_delivery_enabled"] is True
        assert service.own("engine")["settings"]["source.consumer.isolation.level"] == "read_committed"
    pair.start()
    pair.traffic(1000)


def test_a_rehearsal_is_refused_with_its_reason(pair: Scenario) -> None:
    done = pair.playbook("rehearse", {"kafka_dr_confirm": "B"}, expect=2)
    assert "one flow exists for each pair of aliases" in " ".join(done["output"].split())


def test_enabling_again_sends_no_change(pair: Scenario) -> None:
    for service in services(pair).values():
        service.own("log", "DELETE")
    done = pair.playbook("enable", {"kafka_dr_confirm": "P"})
    assert done["changed"] == 0
    assert {row["method"] for service in services(pair).values() for row in service.requests()} == {"GET"}


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


def test_a_changed_service_restarts_its_flows_with_a_warning(pair: Scenario) -> None:
    service = Service(pair, "B")
    service.service(user_config={"kafka_mirrormaker": {"groups": "settlement"}})
    done = pair.playbook("enable", {"kafka_dr_confirm": "P"})
    assert "restarts the workers of all its flows: P->B" in " ".join(done["output"].split())
    assert service.service()["user_config"]["kafka_mirrormaker"]["groups"] == "settlement,fraud"
    pair.traffic(500)


# ---- moving


def counted(pair: Scenario) -> dict[str, int]:
    pair.stop()
    found = totals(pair.check())
    pair.start()
    return found


def harmless(found: dict[str, int], rereads: int) -> None:
    harm = {key: found[key] for key in ("lost", "phantom", "unknown")}
    assert harm == dict.fromkeys(harm, 0)
    assert found["processed_twice"] <= rereads


def test_a_lagging_group_moves_there_and_back(pair: Scenario) -> None:
    """No record is skipped or read again, although no flow stops."""
    slow(pair, "settlement", 50)
    reports = []
    for playbook, to in (("failover_cutoff", "B"), ("failback", "P")):
        lag_wanted = 2000 + 2000 * len(reports)
        pair.wait(
            lambda lag_wanted=lag_wanted: pair.count("acknowledged") - pair.slowest_reader() > lag_wanted,
            120,
            "it lags",
        )
        reports.append(pair.move(playbook, to, kafka_dr_drain_groups_timeout=1))
    slow(pair, "settlement", None)
    pair.wait(lambda: pair.count("acknowledged") - pair.slowest_reader() < 1500, 240, "it catches up")
    for report in reports:
        verdicts = {check["name"]: check["verdict"] for check in report["checks"]}
        assert {verdicts[name] for name in ("drained", "committed_offsets", "first_write", "groups")} == {"PROVEN"}
        assert report["rereads"] == 0
        assert report["found_offsets"]["higher"] == 0
    harmless(counted(pair), sum(report["rereads"] for report in reports))
    for service in services(pair).values():
        assert [flow["enabled"] for flow in service.flows()] == [True]


def test_offsets_are_presynced_on_the_other_cluster(pair: Scenario) -> None:
    pair.traffic(500)
    pair.playbook("reverse_checkpoint", {"kafka_dr_confirm": "B"})
    report = json.loads((pair.reports / "checkpoint-B.json").read_text())
    assert report["outcome"] == "done"
    assert {row["quality"] for row in report["committed_offsets"]} == {"exact"}


def test_a_continuous_move_there_and_back(pair: Scenario) -> None:
    reports = []
    for playbook, to in (("failover_continuous", "B"), ("failback", "P")):
        pair.traffic(1000)
        reports.append(pair.move(playbook, to, **({"kafka_dr_type": "continuous"} if to == "P" else {})))
        assert reports[-1]["outcome"] == "completed"
    pair.traffic(1000)
    harmless(counted(pair), sum(report["rereads"] for report in reports))


def test_a_run_that_was_killed_at_the_barrier_resumes(pair: Scenario) -> None:
    pair.traffic(500)
    kill_in_phase(pair, "commit_offsets", "B")
    assert pair.move("failover_cutoff", "B")["outcome"] == "completed"
    pair.traffic(500)
    assert pair.move("failback", "P")["outcome"] == "completed"
    pair.traffic(500)
    harmless(counted(pair), 0)


@pytest.mark.soak
def test_a_lost_cluster_is_left_and_comes_back_with_its_unreplicated_records(pair: Scenario) -> None:
    """P and its service are unreachable. When they are back, the flow replicates the tail itself."""
    pair.traffic(500)
    lab = Lab(pair.folder)
    for part in ("aiven", "connect", "broker"):
        lab.kill("P", part)
    report = pair.move("failover_disaster", "B")
    assert (report["outcome"], report["verdict"]) == ("completed", "UNKNOWN")
    assert {check["name"]: check["verdict"] for check in report["checks"]}["committed_offsets"] == "PROVEN"
    assert [flow["enabled"] for flow in Service(pair, "B").flows()] == [False]
    assert pair.move("failover_disaster", "B")["outcome"] == "already_there"
    pair.traffic(500)
    for part in ("broker", "connect", "aiven"):
        lab.start("P", part)
    pair.playbook("enable", {"kafka_dr_confirm": "P"})
    forgotten(pair)
    assert pair.move("failback", "P")["outcome"] == "completed"
    pair.traffic(500)
    found = counted(pair)
    assert (found["lost"], found["phantom"]) == (0, 0)


def test_disable_deletes_both_flows(pair: Scenario) -> None:
    pair.stop()
    pair.playbook("disable", {"kafka_dr_confirm": "P"})
    for service in services(pair).values():
        assert service.flows() == []
    assert pair.playbook("disable", {"kafka_dr_confirm": "P"})["changed"] <= 1
