# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One application out of many moves as a pair of its own. Anything it shares with another application is refused."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.layout import laid_out
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.pair import derive_pair
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.names import connector_name
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.topic_filters import takes_any

RUN = {"start": ["up"], "stop": ["down"]}
MANY: dict[str, Any] = {
    "home": "P",
    "application": "payments",
    "clusters": {
        "P": {"bootstrap_servers": "p:9092", "connect_url": "http://p:8083"},
        "B": {"bootstrap_servers": "b:9092", "connect_url": "http://b:8083"},
    },
    "topics": [
        {"name": "Payments", "partitions": 6, "application": "payments"},
        {"name": "Refunds", "partitions": 1, "application": "payments"},
        {"name": "Orders", "partitions": 2, "application": "orders"},
    ],
    "groups": [
        "settlement",
        {"name": "warehouse", "topics": ["Orders"]},
        {"name": "probe", "mode": "local"},
    ],
    "clients": [
        {"name": "till", "role": "producer", "topics": ["Payments", "Refunds"], "principal": "User:till", **RUN},
        {"name": "settle", "role": "consumer", "group": "settlement", "topics": ["Payments"], **RUN},
        {"name": "shop", "role": "producer", "topics": ["Orders"], "principal": "User:shop", **RUN},
        {"name": "ship", "role": "consumer", "group": "warehouse", "topics": ["Orders"], "after": ["shop"], **RUN},
    ],
}


def many(**parts: Any) -> dict[str, Any]:
    return {**copy.deepcopy(MANY), **parts}


def with_client(name: str, **parts: Any) -> dict[str, Any]:
    clients = [{**client, **(parts if client["name"] == name else {})} for client in MANY["clients"]]
    return {"clients": [{key: value for key, value in client.items() if value is not None} for client in clients]}


def both(units: tuple[str | None, str | None] = (None, None), **parts: Any) -> dict[str, Any]:
    """The producers of two applications with the same ``parts``."""
    own = dict(zip(("till", "shop"), units, strict=True))
    return {
        "clients": [
            {**client, **parts, **({"unit": own[client["name"]]} if own[client["name"]] else {})}
            if client["name"] in own
            else client
            for client in MANY["clients"]
        ]
    }


def test_an_application_is_a_pair_of_its_own() -> None:
    pair = laid_out(derive_pair(many()))
    assert (pair["name"], pair["application"]) == ("B-P.payments", "payments")
    assert [topic["name"] for topic in pair["topics"]] == ["Payments", "Refunds"]
    assert all("application" not in topic for topic in pair["topics"]), "modules do not know the key"
    assert (pair["groups"], pair["local_groups"]) == (["settlement"], ["probe"])
    assert [client["name"] for client in pair["clients"]] == ["till", "settle"]
    assert {cluster["application"] for cluster in pair["clusters"].values()} == {"payments"}
    assert pair["flows"]["P->B"]["replicas"] == {"Payments": "P.Payments", "Refunds": "P.Refunds"}


def test_connectors_of_applications_have_names_of_their_own_but_for_heartbeats() -> None:
    assert connector_name("P", "B", "source", "payments") == "P->B.payments.MirrorSourceConnector"
    assert connector_name("P", "B", "checkpoint", "payments") == "P->B.payments.MirrorCheckpointConnector"
    assert connector_name("P", "B", "heartbeat", "payments") == connector_name("P", "B", "heartbeat")


def test_a_pair_without_applications_is_unchanged() -> None:
    topics = [{key: value for key, value in topic.items() if key != "application"} for topic in MANY["topics"]]
    pair = derive_pair(many(topics=topics, application=""))
    assert (pair["name"], pair["application"], len(pair["topics"])) == ("B-P", None, 3)


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ({"application": None}, "kafka_dr_application must name one, wanted one of: orders, payments."),
        ({"application": "payment"}, 'is "payment", wanted one of: orders, payments. Did you mean "payments"?'),
        ({"topics": [{"name": "Payments", "partitions": 6}], "groups": [], "clients": []}, "no topic names an applic"),
        (
            {"topics": [*MANY["topics"], {"name": "Audit", "partitions": 1}]},
            'The topic "Audit" names no application, but other topics do',
        ),
        (
            {"topics": [*MANY["topics"][:2], {**MANY["topics"][2], "application": "a b"}]},
            'The application "a b" must consist of',
        ),
        (with_client("till", topics=["Payments", "Orders"]), 'The client "till" uses topics of the applications'),
        (with_client("till", topics=None), 'The client "till" needs the key "topics"'),
        (with_client("settle", after=["shop"]), 'must start after "shop", which belongs to another application'),
        (
            {"groups": ["settlement", {"name": "warehouse", "topics": ["Payments"]}]},
            'The group "warehouse" uses topics of the applications orders, payments',
        ),
        ({"groups": [*MANY["groups"], "lonely"]}, 'The group "lonely" needs the key "topics"'),
        (
            {"rights": "exact", **with_client("shop", principal="User:till")},
            'The applications orders, payments share the principal "User:till"',
        ),
        (
            both(control="systemd", units=("api", "api.service")),
            'The applications orders, payments share the unit "api" on localhost',
        ),
        (
            both(endpoint_file="/etc/kafka.env"),
            'The applications orders, payments share the endpoint file "/etc/kafka.env" on localhost',
        ),
        (both(transactional_ids=["tx"]), 'The applications orders, payments share the transactional id "tx"'),
    ],
)
def test_shared_or_ambiguous_names_are_refused(parts: dict[str, Any], text: str) -> None:
    with pytest.raises(DrError) as refused:
        derive_pair(many(**parts))
    assert refused.value.code == "inventory_invalid"
    assert text in refused.value.message


def test_clients_of_one_application_may_share_names_and_hosts_distinguish_the_others() -> None:
    """One process may be declared both as a producer and as a consumer."""
    shared = {"control": "systemd", "unit": "api", "endpoint_file": "/etc/api.env", "transactional_ids": ["tx"]}
    clients = [{**client, **(shared if client["name"] in ("till", "settle") else {})} for client in MANY["clients"]]
    elsewhere = {"control": "systemd", "unit": "api", "endpoint_file": "/etc/api.env", "hosts": "shop1"}
    clients = [{**client, **(elsewhere if client["name"] == "shop" else {})} for client in clients]
    assert [client["name"] for client in derive_pair(many(clients=clients))["clients"]] == ["till", "settle"]


def test_a_missing_host_of_another_application_stops_only_that_application() -> None:
    hosts = {"all": ["till1"], "ungrouped": ["till1"]}
    clients = [
        {**client, "hosts": "shop1" if client["name"] in ("shop", "ship") else "till1"} for client in MANY["clients"]
    ]
    assert [client["hosts"] for client in derive_pair(many(clients=clients), hosts=hosts)["clients"]] == ["till1"] * 2
    with pytest.raises(DrError) as refused:
        derive_pair(many(application="orders", clients=clients), hosts=hosts)
    assert 'The client "shop" has hosts "shop1", which is neither a host nor a group' in refused.value.message
    assert '"till"' not in refused.value.message


def test_a_shared_name_is_refused_no_matter_which_application_moves() -> None:
    shared = with_client("ship", topics=["Orders", "Payments"])
    for application in ("payments", "orders"):
        with pytest.raises(DrError, match='client "ship" uses topics'):
            derive_pair(many(application=application, **shared))


def test_streams_replication_manager_switches_group_sync_for_the_whole_flow() -> None:
    site = {"url": "https://cm", "cluster": "C", "host": "h"}
    with pytest.raises(DrError, match="cannot move separately"):
        derive_pair(many(engine="srm", srm={"P": site, "B": {**site, "url": "https://cm2"}}))


@pytest.mark.parametrize(
    ("topics", "excluded", "takes"),
    [
        ("Payments,Refunds", None, True),
        ("Orders", None, False),
        ("Pay.*", None, True),
        (".*", "Payments, Refunds", False),
        ("(?<unknown>Pay.*)", None, True),
    ],
)
def test_another_connector_of_the_flow_is_a_rival_if_it_may_replicate_the_same_topics(
    topics: str, excluded: str | None, takes: bool
) -> None:
    config = {"topics": topics, **({"topics.exclude": excluded} if excluded else {})}
    assert takes_any(config, ["Payments", "Refunds"]) is takes


def test_a_connector_without_a_topic_list_may_replicate_every_topic() -> None:
    assert takes_any({"topics": "Orders"}, [])
