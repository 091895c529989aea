# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Replication Configs: which settings of each flow follow from one string."""

from __future__ import annotations

import re

import pytest

from cm import plan, replication
from cm.properties import DRIVER, DRIVER_TARGET, REPLICATION, REVERSE
from cm.replication import Lists

KNOWN = ["P", "B"]
OWN = {"P": "p:1", "B": "b:1"}


def flow(text: str, **fields: str) -> replication.Flow:
    return replication.flow("P", "B", replication.parse(text)[0], fields)


def test_a_key_ends_at_the_first_equals_sign_and_the_last_line_wins() -> None:
    lines, notes = replication.parse("P->B.enabled = true| |a=b=c|a=d|lonely|=x")
    assert lines == {"P->B.enabled": "true", "a": "d"}
    assert notes == ["set twice, the last one counts: a", "no key and value: lonely", "no key and value: =x"]


@pytest.mark.parametrize(
    "text", ["", "P->B=true", "p->B.enabled=true", "P->b.enabled=true", "P->B.Enabled=true", "enabled=true",
             "connectors.enabled=true", "P->B.enabled=yes", "B->P.enabled=true", "P->B.enabled=true|P->B.enabled=false"]
)  # fmt: skip
def test_a_wrong_line_does_not_start_the_flow(text: str) -> None:
    assert not flow(text).enabled


@pytest.mark.parametrize("text", ["P->B.enabled=true", " P->B.enabled = True ", "P->B.enabled=false|P->B.enabled=true"])
def test_the_right_line_starts_the_flow(text: str) -> None:
    assert flow(text).enabled


def test_the_more_specific_prefix_takes_precedence() -> None:
    lines = ["offset.lag.max=1", "connectors.offset.lag.max=2", "P->B.offset.lag.max=3", "B->P.offset.lag.max=4"]
    assert flow("|".join(lines)).settings["offset.lag.max"] == "3"
    assert flow("|".join(reversed(lines))).settings["offset.lag.max"] == "3"
    assert flow("|".join(lines[:2])).settings["offset.lag.max"] == "2"
    assert flow(lines[0]).settings["offset.lag.max"] == "1"


def test_every_line_takes_precedence_over_a_field_of_cloudera_manager() -> None:
    name = "refresh.topics.interval.seconds"
    assert flow("", **{name: "600"}).settings[name] == "600"
    assert flow(f"{name}=5", **{name: "600"}).settings[name] == "5"


def test_client_settings_apply_to_their_cluster() -> None:
    found = flow("P.consumer.isolation.level=read_committed|B.producer.acks=1|P.security.protocol=SSL").settings
    assert found["source.consumer.isolation.level"] == "read_committed"
    assert found["target.producer.acks"] == "1"
    assert found["source.cluster.security.protocol"] == "SSL"


def test_unprefixed_client_settings_reach_no_client_as_in_apache_kafka() -> None:
    assert "consumer.isolation.level" not in flow("consumer.isolation.level=read_committed").settings


def test_srm_has_defaults_of_its_own() -> None:
    assert flow("").settings["emit.heartbeats.interval.seconds"] == "5"
    assert not flow("").truth("sync.group.offsets.enabled", False)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("p->B.enabled=true", "unknown alias p"),
        ("P->B=true", ".enabled starts it"),
        ("workers.offset.flush.interval.ms=1", "lab's worker"),
        ("offset.flush.interval.ms=1", "no connector knows it"),
        ("enabled=true", "no connector knows it"),
    ],
)
def test_ignored_lines_are_noted(line: str, reason: str) -> None:
    notes = replication.ignored(replication.parse(line)[0], KNOWN)
    assert len(notes) == 1
    assert reason in notes[0]


@pytest.mark.parametrize("line", ["P->B.enabled=true", "tasks.max=2", "connectors.tasks.max=2", "P.acks=1"])
def test_used_lines_are_not_noted(line: str) -> None:
    assert replication.ignored(replication.parse(line)[0], KNOWN) == []


def test_empty_lists_match_nothing() -> None:
    found = replication.connectors(flow("topics=.*|P->B.topics=.*"), OWN, Lists(), Lists())
    assert sorted(found) == sorted(replication.CONNECTORS)
    for config in found.values():
        assert not re.fullmatch(config["topics"], "T")
        assert not re.fullmatch(config["groups"], "")


def test_lists_become_filters_and_denied_names_join_the_internal_ones() -> None:
    config = replication.connectors(flow(""), OWN, Lists(("A", "B.*"), ("B.x",)), Lists(("G",)))[
        "MirrorSourceConnector"
    ]
    assert (config["topics"], config["groups"]) == ("A,B.*", "G")
    assert config["topics.exclude"].split(",") == [*replication.TOPICS_EXCLUDE, "B.x"]


@pytest.mark.parametrize(
    ("allowed", "denied", "name", "matches"),
    [
        (("T",), (), "T", True),
        (("T",), (), "TT", False),
        ((), (), "T", False),
        (("t",), (), "T", False),
        (("P.T",), (), "PxT", True),
        (("P__T",), (), "P.T", False),
        ((".*",), ("T",), "T", False),
        (("[",), (), "[", False),
    ],
)
def test_a_list_matches_whole_names_as_patterns(
    allowed: tuple[str, ...], denied: tuple[str, ...], name: str, matches: bool
) -> None:
    assert Lists(allowed, denied).match(name) is matches


# ---- the plan of a site


def running(text: str, target: str = "P", runtime: str = "7.3.2", **values: str) -> dict[str, object]:
    service = {"clusters": "P, B", "colocated.cluster.alias": "P", REPLICATION: text, **values}
    accounts = {"B": {"items": {"kafka_bootstrap_servers": "b:2"}}}
    return {"service": service, DRIVER: {DRIVER_TARGET: target}, "accounts": accounts, "runtime": runtime}


def test_a_site_runs_the_flow_toward_itself_with_the_addresses_that_a_customer_configures() -> None:
    found = plan.make(running("B->P.enabled=true"), "P", OWN)
    assert found.flow is not None
    assert (found.flow.source, found.flow.target, found.flow.enabled) == ("B", "P", True)
    assert found.servers == {"P": "p:1", "B": "b:2"}
    assert plan.make(running("B.bootstrap.servers=b:3"), "P", OWN).servers["B"] == "b:3"


@pytest.mark.parametrize(
    "wrong", [running("", target="B"), running("", clusters="P"), running("", clusters="P,B,C"),
              running("", clusters="p,B"), {**running(""), "accounts": {}}]
)  # fmt: skip
def test_without_target_aliases_or_addresses_nothing_runs_and_the_reason_is_noted(wrong: dict[str, object]) -> None:
    found = plan.make(wrong, "P", OWN)
    assert found.flow is None
    assert "nothing runs" in found.notes[-1]


BOTH = "P->B.enabled=true|B->P.enabled=true"
IDENTITY = "replication.policy.class=org.apache.kafka.connect.mirror.IdentityReplicationPolicy"


@pytest.mark.parametrize(
    ("document", "wanted"),
    [
        (running(BOTH, **{REVERSE: "true"}), True),
        ({**running(BOTH), DRIVER: {DRIVER_TARGET: "P", REVERSE: "true"}}, True),
        (running(BOTH), False),
        (running(BOTH, runtime="7.3.1", **{REVERSE: "true"}), False),
        (running("B->P.enabled=true", **{REVERSE: "true"}), False),
        (running("P->B.enabled=true", **{REVERSE: "true"}), False),
        (running(f"{BOTH}|{IDENTITY}", **{REVERSE: "true"}), False),
        (running(BOTH, **{REVERSE: "true", "replication.policy.prefixless.enabled": "true"}), False),
    ],
)
def test_reverse_checkpoints_need_version_property_both_flows_and_the_default_policy(
    document: dict[str, object], wanted: bool
) -> None:
    assert plan.make(document, "P", OWN).reverse is wanted
