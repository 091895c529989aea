# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What each flow is to do in each state of the pair, and what the engine connect makes of it."""

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
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.connect.applying import steps

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
    """R10. Records flow both ways."""
    assert {goal.flow: goal for goal in goals("live", active)} == {
        away: FlowGoal(away, RUNNING, RUNNING, RUNNING),
        toward: FlowGoal(toward, RUNNING, STOPPED, RUNNING),
    }


@SIDES
def test_under_identity_records_flow_away_from_the_applications_only(active: str, away: str, toward: str) -> None:
    """Two flows would replicate each record in a circle. Heartbeats have prefixes under this policy too."""
    assert {goal.flow: goal for goal in goals("live", active, policy="identity")} == {
        away: FlowGoal(away, RUNNING, RUNNING, RUNNING),
        toward: FlowGoal(toward, STOPPED, STOPPED, RUNNING),
    }


@pytest.mark.parametrize("policy", ["default", "identity"])
@pytest.mark.parametrize("active", ["P", "B"])
def test_over_both_flows_everything_stops_before_anything_starts(active: str, policy: str) -> None:
    """Under identity no source connector starts before the other one was told to stop."""
    wanted = goals("live", active, policy=policy)
    found = steps(wanted)
    assert table(found) == {(goal.flow, part): state for goal in wanted for part, state in goal.parts.items()}
    states = [state for _flow, _parts, state in found]
    assert states == sorted(states, key=[STOPPED, RUNNING].index)


def test_everything_is_taken_down_but_heartbeats_that_are_those_of_other_applications() -> None:
    assert steps(goals("absent")) == [("P->B", ALL_PARTS, ABSENT), ("B->P", ALL_PARTS, ABSENT)]
    many = {"topics": [{"name": "T", "partitions": 3, "application": "pay"}], "application": "pay"}
    assert [parts for _flow, parts, _state in steps(goals("absent", **many))] == [["source", "checkpoint"]] * 2


@SIDES
@pytest.mark.parametrize("policy", ["default", "identity"])
def test_before_offsets_are_set_the_other_direction_stops_and_the_connector_exists(
    policy: str, active: str, away: str, toward: str
) -> None:
    """R22: Kafka Connect sets the offsets only of a connector that exists and is stopped."""
    assert steps(goals("seed", active, policy=policy)) == [
        (toward, ["source", "checkpoint"], STOPPED),
        (away, ["source"], "present"),
    ]
    assert steps(goals("hold", active, policy=policy)) == [(away, ["source"], STOPPED)]


@SIDES
def test_a_lost_cluster_stops_what_comes_from_it_and_the_way_back_restores_just_that(
    active: str, away: str, toward: str
) -> None:
    assert steps(goals("survive", active)) == [(toward, ["source", "checkpoint"], STOPPED)]
    # The applications live on the other cluster again, so group sync toward this one runs.
    assert goals("live_elsewhere", active) == [FlowGoal(toward, RUNNING, RUNNING, RUNNING)]


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


def test_only_flows_that_adopt_are_stopped_for_it() -> None:
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
    """Else every part of both flows would run: group sync toward the active cluster, and a loop under identity."""
    with pytest.raises(DrError, match="wanted one of"):
        goals(state, at, policy="identity")


def test_the_id_that_a_cluster_reported_outranks_the_one_of_the_inventory() -> None:
    given = pair_option(derived())
    given["clusters"]["P"]["cluster_id"] = "declared"
    assert PairSpec.of(given).clusters["P"].cluster_id == "declared"
    assert PairSpec.of(given, {"P": "reported"}).clusters["P"].cluster_id == "reported"


def test_flows_carry_the_groups_that_move_and_no_group_that_lives_on_both_sides() -> None:
    """R8."""
    assert pair(groups=["moves", {"name": "stays", "mode": "local"}]).groups == ("moves",)
