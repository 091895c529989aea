# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration of a flow's connectors, and which settings are refused before a request is sent."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.mirror import (
    FlowSpec,
    check_flow,
    check_settings,
    literal,
    wanted_config,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.flows.pair_spec import ClusterSpec
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.names import CONNECTORS, naming_of
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.connector_settings import (
    risky,
    unknown_settings,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.topic_filters import (
    filters_of,
    left_out,
)

PARTS = tuple(CONNECTORS)
FLOW = FlowSpec(
    source=ClusterSpec(
        "P", "p1:9092,p2:9092", {"security.protocol": "SASL_SSL", "java.ssl.truststore.location": "/c.jks"}
    ),
    target=ClusterSpec("B", "b1:9092"),
    topics=("Payments", "orders.eu"),
    groups=("settlement",),
    replication_factor=3,
)


def test_all_three_connectors_replicate_records_as_bytes() -> None:
    for part in PARTS:
        config = wanted_config(FLOW, part)
        converters = {config[f"{kind}.converter"] for kind in ("key", "value", "header")}
        assert converters == {"org.apache.kafka.connect.converters.ByteArrayConverter"}
        assert config["connector.class"] == f"org.apache.kafka.connect.mirror.{CONNECTORS[part]}"
        assert config["name"] == f"P->B.{CONNECTORS[part]}"
        assert config["source.cluster.security.protocol"] == "SASL_SSL"
        assert config["source.cluster.ssl.truststore.location"] == "/c.jks"
        assert not [key for key in config if key.startswith("target.cluster.s")]


def test_a_flow_reads_committed_records_and_stops_quickly() -> None:
    config = wanted_config(FLOW, "source")
    assert config["source.consumer.isolation.level"] == "read_committed"
    assert config["source.admin.default.api.timeout.ms"] == "5000"
    assert config["source.admin.request.timeout.ms"] == "3000"
    assert config["offset-syncs.topic.location"] == "target"
    assert wanted_config(FLOW, "checkpoint")["offset-syncs.topic.location"] == "target"


def test_the_replication_factor_reaches_every_topic_that_is_created() -> None:
    factors = {key for part in PARTS for key, value in wanted_config(FLOW, part).items() if "replication.factor" in key}
    assert factors == {
        "replication.factor",
        "offset-syncs.topic.replication.factor",
        "checkpoints.topic.replication.factor",
        "heartbeats.topic.replication.factor",
    }
    own = wanted_config(replace(FLOW, replication_factor=None), "source")
    assert not [key for key in own if "replication.factor" in key]


def test_topics_are_literal_sorted_and_named_once() -> None:
    flow = replace(FLOW, topics=("b.x", "a", "b.x"))
    # Heartbeats by their exact name only: those of other pairs would return under ever longer names.
    assert wanted_config(flow, "source")["topics"] == r"a,b\.x,heartbeats"
    assert wanted_config(flow, "source")["heartbeats.replication.enabled"] == "false"
    assert wanted_config(flow, "checkpoint")["topics"] == r"a,b\.x"


@given(st.text(min_size=1), st.text(min_size=1))
def test_a_literal_matches_only_its_own_name_even_within_a_list(name: str, other: str) -> None:
    pattern = literal(name)
    assert "," not in pattern
    assert pattern == pattern.strip()
    # Java's \\x{h} is the character itself in Python.
    python = re.sub(r"\\x\{([0-9a-f]+)\}", lambda found: re.escape(chr(int(found[1], 16))), pattern)
    assert re.fullmatch(python, name)
    assert bool(re.fullmatch(python, other)) == (name == other)


@pytest.mark.parametrize("part", ["source", "checkpoint"])
def test_declared_names_that_mirrormaker_excludes_by_default_are_replicated(part: str) -> None:
    topics, groups = ("orders.replica", "Payments"), ("connect-jdbc-sink", "console-consumer-audit", "__own")
    config = wanted_config(replace(FLOW, topics=topics, groups=groups), part)
    kinds = {"source": ("topics",), "checkpoint": ("topics", "groups")}[part]
    assert left_out(filters_of(config, kinds), {"topics": topics, "groups": groups}) == ([], [])


def test_settings_of_a_connector_take_precedence_over_common_ones_and_those_over_ours() -> None:
    settings: dict[str, dict[str, Any]] = {
        "common": {"offset.lag.max": 5, "refresh.topics.interval.seconds": 2},
        "source": {"offset.lag.max": 0, "sync.topic.configs.enabled": False, "topics.exclude": ["a", "b"]},
        "checkpoint": {"sync.group.offsets.enabled": None},
    }
    config = wanted_config(replace(FLOW, settings=settings), "source")
    assert config["offset.lag.max"] == "0"
    assert config["refresh.topics.interval.seconds"] == "2"
    assert config["sync.topic.configs.enabled"] == "false"
    assert config["topics.exclude"] == "a,b"
    assert wanted_config(replace(FLOW, settings=settings), "checkpoint")["sync.group.offsets.enabled"] is None


@pytest.mark.parametrize(
    ("flow", "found"),
    [
        (replace(FLOW, source=ClusterSpec("", "p1:9092")), "alias of the source cluster is empty"),
        (replace(FLOW, source=ClusterSpec("p.1", "p1:9092")), 'contains the separator "."'),
        (replace(FLOW, target=ClusterSpec("P", "b1:9092")), 'the same alias "P"'),
        (replace(FLOW, target=ClusterSpec("B", "x:1, P2:9092")), 'share the broker "p2:9092"'),
        (replace(FLOW, target=ClusterSpec("B", "")), "target.bootstrap_servers is missing"),
        (
            replace(FLOW, source=ClusterSpec("P", "p1:1", {}, "i"), target=ClusterSpec("B", "b:1", {}, "i")),
            "same cluster id",
        ),
        (replace(FLOW, topics=()), "No topics are named"),
        (replace(FLOW, topics=("B.Payments",)), 'begins with the alias "B"'),
        (replace(FLOW, tasks_max=0), "tasks_max is 0"),
    ],
)
def test_a_flow_that_cannot_work_is_refused(flow: FlowSpec, found: str) -> None:
    with pytest.raises(DrError) as refused:
        check_flow(flow, PARTS, configured=True)
    assert found in refused.value.message
    assert refused.value.code == "flow_invalid"


def test_every_reason_is_reported_at_once() -> None:
    with pytest.raises(DrError) as refused:
        check_flow(replace(FLOW, target=ClusterSpec("P", "p1:9092"), topics=("P.x",)), PARTS, configured=True)
    assert all(text in refused.value.message for text in ("same alias", "share the broker", "begins with the alias"))


def test_stopping_only_needs_the_aliases() -> None:
    check_flow(FlowSpec(ClusterSpec("P"), ClusterSpec("B")), PARTS, configured=False)


def test_under_identity_a_topic_may_begin_with_an_alias() -> None:
    check_flow(replace(FLOW, topics=("P.x",), naming=naming_of("identity")), PARTS, configured=True)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("value.converter", "org.apache.kafka.connect.json.JsonConverter"),
        ("header.converter", "org.apache.kafka.connect.storage.SimpleHeaderConverter"),
        ("transforms", "route"),
        ("predicates", "isFoo"),
        ("errors.tolerance", "all"),
        ("source.consumer.isolation.level", "read_uncommitted"),
        ("source.consumer.auto.offset.reset", "latest"),
        ("producer.override.max.in.flight.requests.per.connection", 5),
        ("producer.override.acks", 1),
        ("producer.override.bootstrap.servers", "elsewhere:9092"),
        ("source.cluster.alias", "X"),
        ("topics", ".*"),
        ("tasks.max", 9),
        ("replication.policy.class", None),
    ],
)
def test_a_setting_that_breaks_the_proof_is_refused(key: str, value: Any) -> None:
    with pytest.raises(DrError) as refused:
        check_settings(replace(FLOW, settings={"common": {key: value}}), PARTS)
    assert refused.value.code == "setting_refused"
    assert refused.value.message.count(f'"{key}"') == 1


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("transforms", None),
        ("errors.tolerance", "none"),
        ("producer.override.bootstrap.servers", "B1:9092"),
        ("producer.override.compression.type", "zstd"),
        ("producer.override.max.in.flight.requests.per.connection", 1),
        ("offset.lag.max", 0),
        ("exactly.once.support", "required"),
    ],
)
def test_a_safe_setting_is_accepted(key: str, value: Any) -> None:
    check_settings(replace(FLOW, settings={"common": {key: value}}), PARTS)


def test_risky_settings_are_reported() -> None:
    assert len(risky({"emit.offset-syncs.enabled": "false", "sync.topic.acls.enabled": "false"})) == 1


@pytest.mark.parametrize(
    ("key", "near"),
    [
        ("refresh.topics.interval.secnds", "refresh.topics.interval.seconds"),
        ("refresh.topics.interval.seconds", None),
        ("source.cluster.request.timeout.ms", "source.admin.request.timeout.ms"),
        ("source.cluster.ssl.truststore.location", None),
        ("source.consumer.fetch.max.bytes", None),
        ("topic.creation.default.partitions", None),
        ("a.filter.of.our.own", ""),
        ("known.to.the.worker", None),
    ],
)
def test_an_unknown_setting_is_reported_with_the_closest_known_one(key: str, near: str | None) -> None:
    expected = [] if near is None else [(key, near)]
    assert unknown_settings({key: "1"}, known=["known.to.the.worker"]) == expected


def test_none_of_our_own_settings_is_unknown() -> None:
    for part in PARTS:
        assert unknown_settings(wanted_config(FLOW, part)) == []
