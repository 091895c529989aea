# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the inventory may declare about an existing flow, and which connectors can be adopted."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.adoption import (
    config_problems,
    undeclared_topics,
    unknown_order,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.layout import laid_out
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.pair import derive_pair
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.names import naming_of
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.connector_settings import PRODUCER

INVENTORY: dict[str, Any] = {
    "home": "P",
    "clusters": {
        "P": {"bootstrap_servers": "p:9092", "connect_url": "http://p:8083"},
        "B": {"bootstrap_servers": "b:9092", "connect_url": "http://b:8083", "connect_client": {"url_username": "u"}},
    },
    "topics": [{"name": "Payments", "partitions": 6}],
}


def inventory(adopt: Any, **more: Any) -> dict[str, Any]:
    return {**copy.deepcopy(INVENTORY), "adopt": adopt, **more}


def test_a_connector_is_searched_on_the_workers_of_its_flow() -> None:
    pair = laid_out(derive_pair(inventory({"P->B": {"source": "legacy", "heartbeat": "heartbeats"}})))
    assert pair["adopt"] == {
        "P->B": {
            "connectors": {"source": "legacy", "heartbeat": "heartbeats"},
            "connect_url": "http://b:8083",
            "connect_client": {"url_username": "u"},
            "offsets_topic": None,
            "group": "P-mm2",
            "leave_topics": [],
        }
    }
    assert derive_pair(copy.deepcopy(INVENTORY))["adopt"] == {}


def test_other_workers_do_not_get_the_password_of_the_flows_own_workers() -> None:
    adopt = {"B->P": {"source": "legacy", "connect_url": "http://old:8083"}}
    found = derive_pair(inventory(adopt))["adopt"]["B->P"]
    assert (found["connect_url"], found["connect_client"]) == ("http://old:8083", {})


def test_an_operator_would_start_a_connector_again_that_rest_has_stopped() -> None:
    site = {"url": "https://k", "token": "t", "namespace": "kafka"}
    sites = {"P": {**site, "connect": "p"}, "B": {**site, "connect": "b"}}
    more = {"engine": "strimzi", "strimzi": sites}
    with pytest.raises(DrError, match='has the key "connect_url", which kafka_dr_engine "strimzi" does not use'):
        derive_pair(inventory({"P->B": {"source": "legacy", "connect_url": "http://old:8083"}}, **more))
    assert derive_pair(inventory({"P->B": {"source": "legacy"}}, **more))["adopt"]["P->B"]["connect_url"] is None


def test_a_dedicated_mirrormaker_is_named_by_its_offsets_topic() -> None:
    found = derive_pair(inventory({"P->B": {"offsets_topic": "mm2-offsets.P.internal"}}))["adopt"]["P->B"]
    assert (found["offsets_topic"], found["group"], found["connectors"]) == ("mm2-offsets.P.internal", "P-mm2", {})


@pytest.mark.parametrize(
    ("adopt", "more", "text"),
    [
        ({"P->C": {"source": "x"}}, {}, 'kafka_dr_adopt names the flow "P->C", wanted P->B or B->P'),
        ({"P->B": {}}, {}, 'kafka_dr_adopt.P->B needs exactly one of the keys "source"'),
        ({"P->B": {"source": "x", "offsets_topic": "y"}}, {}, 'needs exactly one of the keys "source"'),
        ({"P->B": {"sorce": "x"}}, {}, "sorce"),
        ({"P->B": "legacy"}, {}, "kafka_dr_adopt.P->B"),
        ({"P->B": {"source": "x", "group": "g"}}, {}, 'has the key "group"'),
        ({"P->B": {"offsets_topic": "y", "checkpoint": "c"}}, {}, 'has both "offsets_topic" and "checkpoint"'),
        ({"P->B": {"source": "P->B.MirrorSourceConnector"}}, {}, "the name of the pair's own connector"),
        ({"P->B": {"source": "x", "leave_topics": ["Payments"]}}, {}, '"Payments", which kafka_dr_topics lists'),
        ({"P->B": {"source": "x"}}, {"policy": "identity"}, "enable finds by content"),
        ("legacy", {}, "kafka_dr_adopt"),
    ],
)
def test_a_contradictory_declaration_is_refused_by_name(adopt: Any, more: dict[str, Any], text: str) -> None:
    with pytest.raises(DrError) as refused:
        derive_pair(inventory(adopt, **more))
    assert text in refused.value.message


GOOD = {
    "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",
    "source.cluster.alias": "P",
    "target.cluster.alias": "B",
}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({}, None),
        ({"connector.class": "MirrorSourceConnector"}, None),
        ({"replication.policy.class": "org.apache.kafka.connect.mirror.DefaultReplicationPolicy"}, None),
        ({"connector.class": "FileStreamSource"}, "connector.class"),
        ({"source.cluster.alias": "Q"}, 'source.cluster.alias is "Q", wanted "P"'),
        ({"target.cluster.alias": "Q"}, "target.cluster.alias"),
        ({"replication.policy.class": "com.example.Own"}, "replication.policy.class"),
        ({"replication.policy.separator": "_"}, 'separator is "_", wanted "."'),
        ({"transforms": "route"}, "transforms"),
        ({"predicates": "some"}, "predicates"),
        ({"errors.tolerance": "all"}, 'the setting "errors.tolerance" is "all", wanted "none"'),
        ({"producer.override.acks": "1"}, "producer.override.acks"),
        ({"producer.override.max.in.flight.requests.per.connection": "5"}, "needs one request in flight"),
        ({"producer.override.acks": "all", "errors.tolerance": "none"}, None),
    ],
)
def test_only_a_connector_with_the_same_replica_names_is_adopted(change: dict[str, str], text: str | None) -> None:
    found = config_problems("source", {**GOOD, **change}, "P", "B", naming_of())
    assert [text in one for one in found] == ([True] if text else []), found


def test_settings_that_only_the_workers_file_knows_are_reported() -> None:
    """R38: a connector that is adopted seldom has them, and the past of its replicas cannot be changed."""
    assert "producer.override.acks" in unknown_order("legacy", GOOD)
    assert unknown_order("legacy", {**GOOD, **PRODUCER}) == ""
    assert "of the dedicated MirrorMaker 2 of P->B" in unknown_order("P->B")


def test_another_policy_does_not_matter_to_a_heartbeat_connector() -> None:
    config = {**GOOD, "connector.class": "MirrorHeartbeatConnector", "replication.policy.class": "com.example.Own"}
    assert config_problems("heartbeat", config, "P", "B", naming_of()) == []


def test_topics_that_would_no_longer_be_replicated_are_named() -> None:
    replicated = ["Payments", "Orders", "Extra", "heartbeats", "Q.heartbeats"]
    assert undeclared_topics(replicated, ["Payments"], ["Extra"]) == ["Orders"]
