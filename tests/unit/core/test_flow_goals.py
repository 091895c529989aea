# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The desired state of each flow in each state of the pair, and how the engine connect reaches it."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.flows.goals import (
    ABSENT,
    READABLE,
    RUNNING,
    STATES,
    STOPPED,
    WRITABLE,
    FlowGoal,
    flow_goals,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.flows.pair_spec import PairSpec
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.layout import pair_option
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.pair import derive_pair
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.connect.applying import INACTIVE, steps

Steps = list[tuple[str, list[str], str]]
SIDES = pytest.mark.parametrize(("active", "away", "toward"), [("P", "P->B", "B->P"), ("B", "B->P", "P->B")])
ALL_PARTS = ["source", "checkpoint", "heartbeat"]


def derived(**more: Any) -> dict[str, Any]:
    clusters = {
        alias: {"bootstrap_servers": f"{alias}:9092", "connect_url": f"http://{alias}", "client": {"client.id": alias}}
        for alias in ("P", "B")
    }
    return derive_pair({"home": "P", "clusters": clusters, "topics": [{"name": "T", "partitions": 3}], **more})


def pair(**more: Any) -> PairSpec:
    return PairSpec.of(pair_option(derived(**more)))


def goals(state: str, at: str = "", **more: Any) -> list[FlowGoal]:
    return flow_goals(pair(**more), state, at)


def table(found: Steps) -> dict[tuple[str, str], str]:
    return {(flow, part): state for flow, parts, state in found for part in parts}


@SIDES
def test_group_sync_never_runs_toward_the_cluster_where_applications_live(active: str, away: str, toward: str) -> None:
    """R10: records flow in both directions."""
    assert {goal.flow: goal for goal in goals("live", active)} == {
        away: FlowGoal(away, RUNNING, RUNNING, RUNNING, settings=True),
        toward: FlowGoal(toward, RUNNING, STOPPED, RUNNING, settings=True),
    }


@SIDES
def test_under_identity_records_flow_only_away_from_the_applications(active: str, away: str, toward: str) -> None:
    """Two flows would replicate each record in a circle. Heartbeats have prefixes under this policy too."""
    assert {goal.flow: goal for goal in goals("live", active, policy="identity")} == {
        away: FlowGoal(away, RUNNING, RUNNING, RUNNING, settings=True),
        toward: FlowGoal(toward, STOPPED, STOPPED, RUNNING, settings=True),
    }


@pytest.mark.parametrize("policy", ["default", "identity"])
@pytest.mark.parametrize("active", ["P", "B"])
def test_over_both_flows_everything_stops_before_anything_starts(active: str, policy: str) -> None:
    """Under identity, no source connector starts before the other one was stopped."""
    wanted = goals("live", active, policy=policy)
    found = [step for step in steps(wanted) if step[2] != INACTIVE]
    assert table(found) == {(goal.flow, part): state for goal in wanted for part, state in goal.parts.items()}
    states = [state for _flow, _parts, state in found]
    assert states == sorted(states, key=[STOPPED, RUNNING].index)


@pytest.mark.parametrize("policy", ["default", "identity"])
@SIDES
def test_the_settings_of_stopped_connectors_are_written_after_everything_else(
    policy: str, active: str, away: str, toward: str
) -> None:
    """A topic that joins while the connector is stopped is in its settings. No setting prevents a stop or a start."""
    stopped = {"default": ["checkpoint"], "identity": ["source", "checkpoint"]}[policy]
    assert steps(goals("live", active, policy=policy))[-1] == (toward, stopped, INACTIVE)
    assert all(INACTIVE not in step for state in ("seed", "hold", "survive") for step in steps(goals(state, active)))


def test_everything_is_removed_except_the_heartbeats_that_applications_share() -> None:
    assert steps(goals("absent")) == [("P->B", ALL_PARTS, ABSENT), ("B->P", ALL_PARTS, ABSENT)]
    many = {"topics": [{"name": "T", "partitions": 3, "application": "pay"}], "application": "pay"}
    assert [parts for _flow, parts, _state in steps(goals("absent", **many))] == [["source", "checkpoint"]] * 2


@SIDES
@pytest.mark.parametrize("policy", ["default", "identity"])
def test_before_offsets_are_set_the_other_direction_is_stopped_and_the_connector_exists(
    policy: str, active: str, away: str, toward: str
) -> None:
    """R22: Kafka Connect sets the offsets only of a connector that exists and is stopped."""
    assert steps(goals("seed", active, policy=policy)) == [
        (toward, ["source", "checkpoint"], STOPPED),
        (away, ["source"], "present"),
    ]
    assert steps(goals("hold", active, policy=policy)) == [(away, ["source"], STOPPED)]


@SIDES
def test_a_lost_cluster_stops_its_outgoing_flow_and_the_way_back_restores_only_that_flow(
    active: str, away: str, toward: str
) -> None:
    assert steps(goals("survive", active)) == [(toward, ["source", "checkpoint"], STOPPED)]
    # The applications live on the other cluster again, so group sync toward this one runs.
    assert goals("live_elsewhere", active) == [FlowGoal(toward, RUNNING, RUNNING, RUNNING, settings=True)]


def test_offsets_of_both_flows_become_readable_or_writable() -> None:
    assert steps(goals("exist")) == [("P->B", ["source"], "present"), ("B->P", ["source"], "present")]
    assert {goal.offsets for goal in goals("exist")} == {READABLE}
    assert {goal.offsets for goal in goals("rebuild", "P")} == {WRITABLE}
    assert steps(goals("rebuild", "P")) == [
        ("B->P", ["source", "checkpoint"], STOPPED),
        ("P->B", ["source", "checkpoint"], STOPPED),
        ("B->P", ["source"], "present"),
        ("P->B", ["source"], "present"),
    ]


def test_a_flow_that_replicates_leaves_its_group_sync_as_it_is() -> None:
    assert steps(goals("replicate", "P->B")) == [("P->B", ["source"], RUNNING)]


def test_only_adopting_flows_are_stopped_for_adoption() -> None:
    adopting = goals("adopt", adopt={"P->B": {"source": "legacy"}})
    assert steps(adopting) == [("P->B", ["source"], STOPPED)]
    assert goals("adopt") == []


@pytest.mark.parametrize("state", sorted(STATES))
def test_each_state_names_each_flow_once(state: str) -> None:
    found = [goal.flow for goal in goals(state, "P->B" if state == "replicate" else "B")]
    assert len(found) == len(set(found))
    assert set(found) <= set(pair().flows)


@pytest.mark.parametrize("state", sorted(set(STATES) - {"absent", "adopt", "exist"}))
@pytest.mark.parametrize("at", ["", "C", "P->C"])
def test_a_state_of_an_unknown_cluster_or_flow_is_refused(state: str, at: str) -> None:
    """Otherwise every part of both flows would run: group sync toward the active cluster, and a loop under identity."""
    with pytest.raises(DrError, match="wanted one of"):
        goals(state, at, policy="identity")


def test_the_reported_cluster_id_takes_precedence_over_the_inventory() -> None:
    given = pair_option(derived())
    given["clusters"]["P"]["cluster_id"] = "declared"
    assert PairSpec.of(given).clusters["P"].cluster_id == "declared"
    assert PairSpec.of(given, {"P": "reported"}).clusters["P"].cluster_id == "reported"


def test_flows_carry_the_moving_groups_and_no_local_group() -> None:
    """R8: a group that runs on both clusters (``mode: local``) is not in the pair's groups."""
    assert pair(groups=["moves", {"name": "stays", "mode": "local"}]).groups == ("moves",)
