# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which cluster a client uses, and whether both clusters have the same topics and partition counts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.flows.pair_spec import PairSpec
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory import layout
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.pair import derive_pair
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.names import naming_of


def pair() -> dict[str, Any]:
    clusters = {
        alias: {"bootstrap_servers": f"{alias}:9092", "connect_url": f"http://{alias}", "client": {"client.id": alias}}
        for alias in ("P", "B")
    }
    topics = [{"name": "Payments", "partitions": 3}, {"name": "Orders", "partitions": 3}]
    clients = [
        {"name": "settle", "role": "consumer", "group": "g", "topics": ["Payments"], "start": ["a"], "stop": ["b"]}
    ]
    given = {"home": "P", "clusters": clusters, "topics": topics, "groups": ["g"], "clients": clients}
    return derive_pair(given)


def test_the_pair_has_the_derived_values_that_roles_need() -> None:
    derived = pair()
    laid = layout.laid_out(derived)
    assert {key: laid[key] for key in derived} == derived
    both = [{"source": "P", "target": "B"}, {"source": "B", "target": "P"}]
    assert laid["live_flows"] == {"P": both, "B": both}
    assert [topic["name"] for topic in laid["syncs"]["B"]] == ["mm2-offset-syncs.P.internal"]
    assert {alias: list(laid["endpoints"][alias]) for alias in laid["endpoints"]} == {"P": ["settle"], "B": ["settle"]}
    assert laid["endpoints"]["B"]["settle"] == layout.endpoint(derived, derived["clients"][0], "B")
    assert laid["spec"]["topics"] == ["Payments", "Orders"]
    assert not {"clients", "hooks"} & set(laid["spec"])
    assert set(laid) - set(derived) == {
        "spec",
        "moved",
        "types",
        "live_flows",
        "stop_provable",
        "flow_topics",
        "endpoints",
        "names",
        "syncs",
        "lists",
        "rights",
        "hooks_at",
        "steps",
        "hook_lines",
        "offset_syncs",
        "salvage_topics",
        "other_applications",
        "awaited_stops",
    }


@pytest.mark.parametrize(
    ("config", "accepted"),
    [
        ({}, 8 << 20),
        ({"max.message.bytes": 1000}, 8 << 20),
        ({"max.message.bytes": "20000000"}, 40_000_000),
        ({"max.message.bytes": 2**31 - 1}, 2**31 - 1),
        ({"max.message.bytes": "large"}, 8 << 20),
    ],
)
def test_a_topic_for_a_tail_accepts_the_records_of_its_original(config: dict[str, Any], accepted: int) -> None:
    (made,) = layout.salvage_topics([{"name": "T", "partitions": 3, "replication_factor": 2, "config": config}])
    assert (made["name"], made["config"]["max.message.bytes"]) == ("T.salvage", accepted)


def test_the_pair_has_the_acls_of_its_clients_on_each_cluster_and_the_permanent_fence() -> None:
    base = pair()
    base["clients"][0]["principal"] = "User:settle"
    rights = layout.laid_out(base)["rights"]
    reads = {(acl["resource_type"], acl["name"]) for acl in rights["B"]["acls"]}
    assert reads == {("topic", "Payments"), ("topic", "P.Payments"), ("group", "g")}
    assert rights["P"]["principals"] == ["User:settle"]
    fence = layout.fence_acls(base, rights["P"]["principals"])
    assert {(ban["name"], ban["permission"]) for ban in fence} == {("Payments", "deny"), ("Orders", "deny")}
    none = layout.laid_out(pair())["rights"]["P"]
    assert {key: none[key] for key in ("principals", "acls", "accounts")} == {
        "principals": [],
        "acls": [],
        "accounts": [],
    }


def flow_topics(alias: str, **changes: Any) -> dict[str, tuple[int, int | None]]:
    rows = layout.laid_out({**pair(), **changes})["flow_topics"][alias]
    return {row["name"]: (row["partitions"], row["replication_factor"]) for row in rows}


def test_the_topics_that_the_flows_create_are_known_with_their_replication_factors() -> None:
    base = pair()
    replicas = {f"P.{topic['name']}": (topic["partitions"], 2) for topic in base["topics"]}
    others = {"P.heartbeats": (1, 2), "P.checkpoints.internal": (1, 3), "heartbeats": (1, 3)}
    assert flow_topics("B") == {**replicas, **others}
    assert set(flow_topics("P")) == {name.replace("P.", "B.") for name in {**replicas, **others}}
    assert set(flow_topics("B", policy="identity")) == set(others)
    assert "heartbeats" not in flow_topics("B", parts=["source", "checkpoint"])

    def factors(**flow: Any) -> list[int | None]:
        found = flow_topics("B", flow={**base["flow"], **flow})
        return [found[name][1] for name in ("P.Payments", "P.checkpoints.internal", "heartbeats")]

    assert factors(replication_factor=1) == [1, 1, 1]
    assert factors(replication_factor=1, source_settings={"replication.factor": "4"}) == [4, 1, 1]
    assert factors(replication_factor=1, settings={"checkpoints.topic.replication.factor": 5}) == [1, 5, 1]
    assert factors(heartbeat_settings={"heartbeats.topic.replication.factor": -1}) == [2, 3, None]
    assert factors(replication_factor=1, settings={"replication.factor": None}) == [2, 1, 1]


def test_with_streams_replication_manager_only_a_declared_replication_factor_is_known() -> None:
    assert set(flow_topics("B", engine="srm").values()) == {(n, None) for _name, (n, _f) in flow_topics("B").items()}


def test_the_layout_does_not_modify_the_given_pair() -> None:
    derived = pair()
    layout.laid_out(derived)
    assert derived == pair()


def test_the_topics_of_a_cluster_are_its_originals_and_the_replicas_on_it() -> None:
    assert layout.laid_out(pair())["names"] == {
        "P": ["Payments", "Orders", "B.Payments", "B.Orders"],
        "B": ["Payments", "Orders", "P.Payments", "P.Orders"],
    }


def counts(**aliases: int | None) -> dict[str, list[dict[str, Any]]]:
    """The partition counts of topic T by alias. None: T does not exist there."""
    return {
        alias: [{"name": "T", "partitions": count or 0, "exists": count is not None}]
        for alias, count in aliases.items()
    }


@pytest.mark.parametrize(
    ("found", "problem"),
    [
        (counts(P=3, B=3), None),
        (counts(P=None, B=None), None),
        (counts(P=3, B=None), None),  # The other topic is created with the same count.
        (counts(P=2, B=2), None),  # Both topics get more partitions.
        (counts(P=1, B=None), None),
        (counts(P=3, B=2), None),  # The smaller one gets the partitions that the inventory declares.
        (counts(P=2, B=3), None),
        # The number of partitions cannot be reduced, so the inventory must grow first.
        (counts(P=4, B=3), '"T": 3 in the inventory, 3 on B, 4 on P (set partitions to 4)'),
        (counts(P=3, B=5), '"T": 3 in the inventory, 5 on B, 3 on P (set partitions to 5)'),
        (counts(P=4, B=4), '"T": 3 in the inventory, 4 on B, 4 on P (set partitions to 4)'),
        (counts(P=4, B=None), '"T": 3 in the inventory, 4 on P (set partitions to 4)'),
    ],
)
def test_more_partitions_than_declared_are_reported_with_the_count_to_declare(
    found: dict[str, list[dict[str, Any]]], problem: str | None
) -> None:
    """R8: partition counts are equal on both clusters."""
    wanted = [{"name": "T", "partitions": 3}]
    assert layout.unequal_partitions(found, wanted) == ([problem] if problem else [])


@pytest.mark.parametrize(
    ("original", "replica", "text"),
    [
        (3, 3, None),
        (3, None, None),
        (3, 2, None),  # MirrorMaker 2 adds missing partitions.
        (None, 3, None),
        (2, 3, None),  # The original is about to get the partitions that the inventory wants.
        (3, 5, '"P.T" has 5 partitions on B, "T" has 3'),
        (None, 5, '"P.T" has 5 partitions on B, "T" has 3'),
    ],
)
def test_a_replica_with_more_partitions_than_its_original_is_reported(
    original: int | None, replica: int | None, text: str | None
) -> None:
    """Its reader would be assigned partitions without committed offsets."""
    found = {**counts(P=original), "B": [{"name": "P.T", "partitions": replica or 0, "exists": replica is not None}]}
    topics, flows = [{"name": "T", "partitions": 3}], [("P", "B"), ("B", "P")]
    assert layout.larger_replicas(found, topics, flows, naming_of()) == ([text] if text else [])
    assert layout.larger_replicas(found, topics, flows, naming_of("identity")) == []


def test_a_client_writes_originals_and_reads_originals_and_replicas_from_the_other_cluster() -> None:
    derived = pair()
    client = derived["clients"][0]
    assert layout.endpoint(derived, client, "B") == {
        "alias": "B",
        "bootstrap_servers": "B:9092",
        "client": {"client.id": "B"},
        "topics": ["Payments"],
        "replicas": ["P.Payments"],
        "subscribe": ["Payments", "P.Payments"],
        "group": "g",
    }
    assert layout.endpoint(derived, client, "P")["subscribe"] == ["Payments", "B.Payments"]


def test_a_client_gets_librdkafka_properties_and_no_java_properties() -> None:
    derived = pair()
    derived["clusters"]["B"]["client"] = {
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "u",
        "java.sasl.jaas.config": "secret of the workers",
    }
    reported = layout.laid_out(derived)["endpoints"]["B"]["settle"]["client"]
    assert reported == {"sasl.mechanisms": "SCRAM-SHA-512", "sasl.username": "u"}
    # The connectors translate properties themselves, so they get all of them.
    assert PairSpec.of(layout.pair_option(derived)).clusters["B"].client == derived["clusters"]["B"]["client"]


def test_under_identity_a_topic_has_one_name_and_is_subscribed_once() -> None:
    derived = {**pair(), "policy": "identity"}
    found = layout.endpoint(derived, derived["clients"][0], "B")
    assert (found["replicas"], found["subscribe"]) == ([], ["Payments"])


# ---- the policy identity: one flow at a time


def identity() -> dict[str, Any]:
    clusters = {alias: {"bootstrap_servers": f"{alias}:9092", "connect_url": f"http://{alias}"} for alias in ("P", "B")}
    given = {"home": "P", "policy": "identity", "clusters": clusters, "topics": [{"name": "T", "partitions": 3}]}
    return derive_pair(given)


@pytest.mark.parametrize(("active", "away"), [("P", "P->B"), ("B", "B->P")])
def test_under_identity_records_flow_only_away_from_the_applications(active: str, away: str) -> None:
    laid = layout.laid_out(identity())
    assert laid["live_flows"][active] == [{"source": active, "target": away[-1]}]
    assert laid["names"] == {"P": ["T"], "B": ["T"]}


# ---- clients in batches


def client(name: str, hosts: str = "h1", control: str = "command", after: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"name": name, "hosts": hosts, "control": control, "become": False, "after": list(after)}


Batches = list[list[tuple[str, list[str]]]]


def shape(clients: list[dict[str, Any]], groups: dict[str, list[str]] | None = None) -> Batches:
    """The places of each batch, with the names of their clients."""
    batches = layout.client_batches(clients, groups or {})
    assert all(
        batch["clients"] == [one for place in batch["places"] for one in place["clients"]]
        and batch["host"] == ", ".join(dict.fromkeys(place["host"] for place in batch["places"]))
        for batch in batches
    )
    return [
        [(place["host"], [one["name"] for one in place["clients"]]) for place in batch["places"]] for batch in batches
    ]


@pytest.mark.parametrize(
    ("clients", "expected"),
    [
        ([], []),
        ([client("a"), client("b")], [[("h1", ["a", "b"])]]),
        ([client("a"), client("b", "h2"), client("c")], [[("h1", ["a", "c"]), ("h2", ["b"])]]),
        ([client("a"), client("b", control="systemd")], [[("h1", ["a"])], [("h1", ["b"])]]),
        # Only commands run on several hosts at the same time.
        (
            [client("a", control="systemd"), client("b", "h2", control="systemd"), client("c", control="systemd")],
            [[("h1", ["a", "c"])], [("h2", ["b"])]],
        ),
        # R17: a client that waits for another one is never in the same batch, in either direction.
        ([client("a"), client("b", after=("a",))], [[("h1", ["a"])], [("h1", ["b"])]]),
        ([client("b", after=("a",)), client("a")], [[("h1", ["b"])], [("h1", ["a"])]]),
        ([client("a"), client("b"), client("c", after=("a",))], [[("h1", ["a", "b"])], [("h1", ["c"])]]),
        (
            [client("a"), client("b", "h2", after=("a",)), client("c", "h3"), client("d", after=("b",))],
            [[("h1", ["a"]), ("h3", ["c"])], [("h2", ["b"])], [("h1", ["d"])]],
        ),
    ],
)
def test_clients_without_an_order_are_in_one_batch(clients: list[dict[str, Any]], expected: Batches) -> None:
    assert shape(clients) == expected


@given(data=st.data())
def test_a_client_is_in_a_later_batch_than_every_earlier_one_that_is_ordered_with_it(data: st.DataObject) -> None:
    names = [f"c{number}" for number in range(data.draw(st.integers(1, 7)))]
    clients = [
        client(
            name,
            data.draw(st.sampled_from(["h1", "h2", "h3"])),
            data.draw(st.sampled_from(["command", "systemd", "tasks"])),
            tuple(data.draw(st.lists(st.sampled_from([*names[:number], "other"]), max_size=2))),
        )
        for number, name in enumerate(names)
    ]
    for ordered in (clients, clients[::-1]):
        at = {
            one["name"]: number
            for number, batch in enumerate(layout.client_batches(ordered, {}))
            for one in batch["clients"]
        }
        assert sorted(at) == names
        for number, later in enumerate(ordered):
            for earlier in ordered[:number]:
                if earlier["name"] in later["after"] or later["name"] in earlier["after"]:
                    assert at[earlier["name"]] < at[later["name"]]


def test_a_client_runs_on_every_host_of_its_group() -> None:
    found = shape([client("a", "web"), client("b", "web")], {"web": ["w1", "w2"]})
    assert found == [[("w1", ["a", "b"]), ("w2", ["a", "b"])]]


TOKEN = "/etc/.a.env.kafka-dr-token"
APP = {
    "name": "a",
    "start": ["up", "it"],
    "stop": ["down"],
    "endpoint_file": "/etc/a.env",
    "endpoint_mode": "0640",
    "workload": None,
}


@pytest.mark.parametrize(
    ("app", "action", "expected"),
    [
        (APP, "stop", {"name": "a", "argv": ["down"], "token_file": TOKEN}),
        (
            APP,
            "start",
            {
                "name": "a",
                "argv": ["up", "it"],
                "path": "/etc/a.env",
                "content": "x=1\n",
                "mode": "0640",
                "token_file": TOKEN,
            },
        ),
        (APP, "point", {"name": "a", "path": "/etc/a.env", "content": "x=1\n", "mode": "0640", "token_file": TOKEN}),
        (APP, "fence", {"name": "a", "token_file": TOKEN}),
        ({**APP, "endpoint_file": None}, "start", {"name": "a", "argv": ["up", "it"]}),
    ],
)
def test_a_stop_never_rewrites_the_endpoint_of_a_client(
    app: dict[str, Any], action: str, expected: dict[str, Any]
) -> None:
    assert layout.client_call(app, action, {"a": "x=1\n"}) == expected
