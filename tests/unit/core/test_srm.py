# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration of Streams Replication Manager in each state of the pair."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._cm.replication_config import REPLICATION_CONFIGS
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.engines.srm.replication_lines import (
    flow_lines,
    is_on,
    of_flow,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.flows.goals import flow_goals
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.flows.pair_spec import PairSpec
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory import layout
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.pair import derive_pair
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.srm.applying import service_state
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.srm.preflight import (
    DRIVER_TARGET,
    PREFIXLESS,
    REVERSE,
    reverse_supported,
    srm_addressed,
    srm_preflight,
)


def pair(**more: Any) -> dict[str, Any]:
    site = {"url": "https://cm", "cluster": "c", "host": "h"}
    given = {
        "engine": "srm",
        "home": "P",
        "clusters": {alias: {"bootstrap_servers": f"{alias}:9092"} for alias in ("P", "B")},
        "srm": {"P": site, "B": site},
        "topics": [{"name": "Payments", "partitions": 3}],
        "groups": ["settlement"],
    }
    return derive_pair({**given, **more})


def spec(**more: Any) -> PairSpec:
    return PairSpec.of(layout.pair_option(pair(**more)))


def lines_of(state: str, at: str = "", **more: Any) -> dict[str, str]:
    return flow_lines(spec(**more), flow_goals(spec(**more), state, at))


@pytest.mark.parametrize(("active", "toward", "away"), [("P", "B->P", "P->B"), ("B", "P->B", "B->P")])
def test_both_flows_replicate_and_group_offsets_are_written_only_where_no_application_lives(
    active: str, toward: str, away: str
) -> None:
    """R5 and R10: group offsets are written only on the passive cluster."""
    lines = lines_of("live", active)
    assert {lines[f"{flow}.enabled"] for flow in (toward, away)} == {"true"}
    assert lines[f"{toward}.sync.group.offsets.enabled"] == "false"
    assert lines[f"{away}.sync.group.offsets.enabled"] == "true"
    assert {lines[f"{flow}.source.consumer.isolation.level"] for flow in (toward, away)} == {"read_committed"}


def test_the_users_settings_are_lines_of_each_flow_and_numbers_and_booleans_texts() -> None:
    flow = {
        "replication_factor": 1,
        "settings": {"offset.lag.max": 10},
        "source_settings": {"sync.topic.acls.enabled": False},
    }
    lines = lines_of("live", "P", flow=flow)
    for name in ("P->B", "B->P"):
        assert lines[f"{name}.replication.factor"] == "1"
        assert lines[f"{name}.offset.lag.max"] == "10"
        assert lines[f"{name}.sync.topic.acls.enabled"] == "false"


@pytest.mark.parametrize(
    ("state", "at", "lines", "service"),
    [
        # A service that its owner has stopped stays stopped.
        ("absent", "", {"P->B.enabled": "false", "B->P.enabled": "false"}, "present"),
        # The flow replicates, and does not yet write offsets on the cluster that the applications are about to enter.
        ("replicate", "P->B", {"P->B.sync.group.offsets.enabled": "false"}, "started"),
        ("survive", "B", {"P->B.sync.group.offsets.enabled": "false", "P->B.enabled": "false"}, "started"),
    ],
)
def test_lines_and_service_of_a_state(state: str, at: str, lines: dict[str, str], service: str) -> None:
    assert lines_of(state, at) == lines
    assert service_state(flow_goals(spec(), state, at)) == service


def test_stored_offsets_can_be_removed_only_while_the_service_is_stopped() -> None:
    assert service_state(flow_goals(spec(), "rebuild", "P")) == "stopped"
    assert service_state(flow_goals(spec(), "live", "P")) == "started"


def test_the_four_topics_of_the_lists_are_beside_the_target_of_their_flow() -> None:
    lists = layout.laid_out(pair())["lists"]
    there, back = {"source": "P", "target": "B"}, {"source": "B", "target": "P"}
    for alias, flow, replica in (("B", there, "B.Payments"), ("P", back, "P.Payments")):
        assert lists[alias] == {
            "always": [
                {**flow, "kind": "topics", "entries": ["Payments"]},
                {**flow, "kind": "groups", "entries": ["settlement"]},
            ],
            "reverse": [{**flow, "kind": "reverse_checkpointed_topics", "entries": [replica]}],
        }
    without = layout.laid_out(pair(groups=[]))["lists"]["B"]["always"]
    assert [row["kind"] for row in without] == ["topics"]


def test_a_local_group_is_denied_no_matter_what_else_is_on_the_list() -> None:
    """R8: SRM would give it offsets of the other cluster whenever it is empty for a moment."""
    groups = ["settlement", {"name": "probe", "mode": "local"}]
    lists = layout.laid_out(pair(groups=groups))["lists"]
    assert [lists[alias]["always"][1]["denied"] for alias in ("P", "B")] == [["probe"], ["probe"]]


@pytest.mark.parametrize("key", ["sync.group.offsets.enabled", "enabled", "source.consumer.isolation.level"])
def test_no_setting_overrides_the_settings_that_the_proof_needs(key: str) -> None:
    """R5 and R10: these settings decide which records and offsets are replicated."""
    with pytest.raises(DrError, match=f'kafka_dr_flow sets "{key}"'):
        pair(flow={"checkpoint_settings": {key: "true"}})
    given = PairSpec.of({**layout.pair_option(pair()), "flow": {"settings": {key: "x"}}})
    assert flow_lines(given, flow_goals(given, "live", "P")) == lines_of("live", "P")


def test_a_group_name_that_srm_control_cannot_take_is_refused_before_anything_is_written() -> None:
    with pytest.raises(DrError, match='The name of the group "a b" contains a comma or a blank'):
        pair(groups=["a b"])


def shown(asked: str, value: str | None, **more: Any) -> dict[str, Any]:
    return {"asked": asked, "exists": True, "effective": value, **more}


def observed(runtime: str = "7.3.2", **other: dict[str, Any]) -> Any:
    """Results of the loop: B as it should be, P with the ``other`` rows."""
    rows = {
        alias: {
            "reverse": shown(REVERSE, "false"),
            "prefixless": shown(PREFIXLESS, "false"),
            "lines": shown(REPLICATION_CONFIGS, "a=b", lines={"a": "b"}),
            "target": shown(DRIVER_TARGET, alias),
        }
        for alias in ("B", "P")
    }
    for name, row in other.items():
        rows["P"][name] |= row
    return [
        {
            "replication_site": alias,
            "runtime_version": "7.3.2" if alias == "B" else runtime,
            "url": f"https://cm-{alias}/api/v54",
            "properties": list(rows[alias].values()),
        }
        for alias in ("B", "P")
    ]


def sites(reverse: str) -> Any:
    made = pair()
    return {**made, "srm": {alias: {**one, "reverse_checkpointing": reverse} for alias, one in made["srm"].items()}}


def test_reverse_checkpointing_is_enabled_if_both_sites_support_it() -> None:
    found = srm_preflight(sites("auto"), observed())
    on = {"P": {REVERSE: True}, "B": {REVERSE: True}}
    assert found == {"problems": [], "notes": [], "properties": on, "reverse": ["B", "P"]}


def test_each_cloudera_manager_is_asked_once_for_its_api_version() -> None:
    laid = layout.laid_out(sites("auto"))
    known = srm_addressed(laid, observed())
    assert known["spec"] == {**laid["spec"], "clusters": known["clusters"]}
    for alias in ("P", "B"):
        assert known["srm"][alias]["url"] == known["clusters"][alias]["srm"]["url"] == f"https://cm-{alias}/api/v54"
    changed = dict.fromkeys(("srm", "clusters", "spec"))
    assert {**known, **changed} == {**laid, **changed}


@pytest.mark.parametrize("old", [{"runtime": "7.3.1"}, {"reverse": {"exists": False}}])
def test_if_a_site_lacks_reverse_checkpointing_the_collection_replaces_it_unless_it_is_required(
    old: dict[str, Any],
) -> None:
    found = srm_preflight(sites("auto"), observed(**old))
    assert (found["problems"], found["reverse"], found["properties"]["P"]) == ([], ["B"], {})
    assert found["notes"][0].startswith("P: no reverse checkpointing by SRM")
    (problem,) = srm_preflight(sites("required"), observed(**old))["problems"]
    assert "it needs Runtime 7.3.2, found" in problem


def test_reverse_checkpointing_that_is_off_in_the_inventory_stays_off() -> None:
    found = srm_preflight(sites("off"), observed())
    assert (found["problems"], found["reverse"], found["properties"]) == ([], [], {"P": {}, "B": {}})
    assert len(found["notes"]) == 2


@pytest.mark.parametrize(
    ("misfit", "expected"),
    [
        ({"prefixless": {"effective": "true"}}, '"Enable Prefixless Replication" is on at P'),
        ({"prefixless": {"effective": "True "}}, '"Enable Prefixless Replication" is on at P'),
        ({"prefixless": {"effective": True}}, '"Enable Prefixless Replication" is on at P'),
        (
            {"lines": {"lines": {"replication.policy.class": "x.IdentityReplicationPolicy"}}},
            "replicas need the prefixes",
        ),
        ({"lines": {"lines": {"P->B.replication.policy.class": "own.Policy"}}}, "replicas need the prefixes"),
        ({"lines": {"lines": {"replication.policy.separator": "__"}}}, 'is "__", but kafka_dr_separator is "."'),
        # An unknown value is not accepted.
        ({"lines": {"lines": None}}, "cannot be read"),
        ({"lines": {"lines": None, "exists": False}}, "cannot be read"),
        # The default is all clusters: both sites would run both flows, and stopping one of them would stop nothing.
        ({"target": {"effective": ""}}, "The Driver of P must write to P only"),
        ({"target": {"effective": None, "exists": False}}, "The Driver of P must write to P only"),
        ({"target": {"effective": "P,B"}}, 'is "P,B"'),
        ({"target": {"effective": "B"}}, 'is "B"'),
    ],
)
def test_an_unsuitable_site_is_refused(misfit: dict[str, Any], expected: str) -> None:
    (problem,) = srm_preflight(sites("auto"), observed(**misfit))["problems"]
    assert expected in problem


def test_a_runtime_without_the_prefixless_property_and_with_the_default_policy_by_name_is_accepted() -> None:
    policy = "org.apache.kafka.connect.mirror.DefaultReplicationPolicy"
    lines = {"lines": {"lines": {"replication.policy.class": policy, "replication.policy.separator": "."}}}
    unknown = {"prefixless": {"exists": False, "effective": None}}
    assert srm_preflight(sites("auto"), observed(**lines, **unknown))["problems"] == []


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ({}, False),
        ({"x": "true"}, True),
        ({"x": " True "}, True),
        ({"x": "true", "P->B.x": " false "}, False),
        ({"B->P.x": "true"}, False),
    ],
)
def test_the_line_of_a_flow_takes_precedence(lines: dict[str, str], found: bool) -> None:
    assert is_on(lines, "P->B", "x") is found


def test_a_flow_gets_the_lines_for_all_and_its_own_on_top() -> None:
    lines = {"a": "1", "b": "2", "P->B.b": "3", "B->P.b": "4", "P->B.enabled": "true"}
    assert of_flow(lines, "P", "B") == {"a": "1", "b": "3", "enabled": "true"}


def test_client_settings_reach_a_flow_through_its_source_cluster_or_its_own_lines_only() -> None:
    """MirrorMaker 2 drops unprefixed client settings, so a read_committed there proves nothing."""
    key = "consumer.isolation.level"
    assert of_flow({key: "read_committed", f"source.{key}": "x", f"B.{key}": "x"}, "P", "B") == {f"B.{key}": "x"}
    assert of_flow({f"P.{key}": "a"}, "P", "B") == {f"P.{key}": "a", f"source.{key}": "a"}
    assert of_flow({f"P.{key}": "a", f"P->B.source.{key}": "b"}, "P", "B")[f"source.{key}"] == "b"


@pytest.mark.parametrize(
    ("runtime", "able"),
    [
        ("7.3.2", True),
        ("7.3.1", False),
        ("7.3.2.1000-12", True),
        ("7.2.18", False),
        ("7.10.0", True),
        ("8.0", True),
        ("7.3.2-1.cdh7.3.2.p0.123", True),
        ("", None),
        (None, None),
        ("CDH", None),
        ("7", None),
    ],
)
def test_reverse_checkpointing_came_with_runtime_7_3_2(runtime: str | None, able: bool | None) -> None:
    assert reverse_supported(runtime) is able
