# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A draft inventory from observations: what it names, what it leaves out and why, and that it can be read back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.discovery.building import (
    build_draft,
    lines,
    problems_of,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.discovery.draft import Draft
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.discovery.drift import drift
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.discovery.given import pair_of
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.discovery.observations import (
    ClusterObservation,
    GroupUse,
    MirrorConnector,
    PairObservation,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.pair import derive_pair
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.acl import Acl
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.groups import GroupState, Member
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.topics import ConfigValue, TopicState

GIVEN: dict[str, Any] = {
    "home": "P",
    "clusters": {
        "P": {"bootstrap_servers": "p1:9092", "connect_url": "http://p:8083"},
        "B": {"bootstrap_servers": "b1:9092", "connect_url": "http://b:8083"},
    },
}
POLICY = "org.apache.kafka.connect.mirror.IdentityReplicationPolicy"


def topic(name: str, partitions: int = 3, factor: int | None = 1, **config: str) -> TopicState:
    """A topic with own settings; underscores stand for dots in their names."""
    own = {key.replace("_", "."): ConfigValue(value, True) for key, value in config.items()}
    return TopicState(name, "id", partitions, factor, config={"segment.bytes": ConfigValue("1", False), **own})


def member(client: str = "app-1", host: str = "/10.0.0.5", *topics: str) -> Member:
    return Member("m", client, host, None, tuple(Partition(name, 0) for name in topics))


def group(*committed: str, members: tuple[Member, ...] = (), assignor: str = "range", known: bool = True) -> GroupUse:
    state = GroupState("g", "STABLE" if members else "EMPTY", "classic", members, assignor)
    return GroupUse(state, frozenset(committed) if known else None)


def cluster(
    alias: str, *topics: TopicState, groups: Mapping[str, GroupUse] | None = None, **more: Any
) -> ClusterObservation:
    facts = {"brokers": 3, "acls": None, "authorizer": False, "connectors": (), **more}
    states = {state.name: state for state in topics}
    return ClusterObservation(alias, f"id-{alias}", topics=states, groups=groups or {}, **facts)


def connector(
    name: str, part: str = "source", source: str = "P", target: str = "B", **settings: str
) -> MirrorConnector:
    classes = {"source": "MirrorSourceConnector", "checkpoint": "MirrorCheckpointConnector"}
    own = {"source.cluster.alias": source, "target.cluster.alias": target, "connector.class": classes[part]}
    more = {key.replace("_", "."): value for key, value in settings.items()}
    return MirrorConnector(name, part, "RUNNING", {**own, **more}, frozenset({"Payments", "Extra-changelog"}))


def drafted(home: ClusterObservation, away: ClusterObservation | None = None, **variables: Any) -> Draft:
    return build_draft({**GIVEN, **variables}, PairObservation(home, away or cluster("B")))


def read_back(draft: Draft) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(draft.text())
    return {name.removeprefix("kafka_dr_"): value for name, value in loaded.items()}


def words(draft: Draft) -> str:
    """The text on one line, with the lines of each comment joined."""
    return " ".join(line.strip("# ") for line in draft.text().splitlines())


# ---- topics


def test_a_topic_is_drafted_with_partitions_factor_and_its_own_settings_only() -> None:
    draft = drafted(cluster("P", topic("Payments", 12, 3, retention_ms="1000", cleanup_policy="compact")))
    config = {"cleanup.policy": "compact", "retention.ms": "1000"}
    assert draft.variables()["topics"] == [
        {"name": "Payments", "partitions": 12, "replication_factor": 3, "config": config}
    ]
    assert draft.variables()["flow"] == {"replication_factor": 3}
    assert problems_of(draft) == ""


@pytest.mark.parametrize(
    ("size", "settings"),
    [("1048588", None), ("2000012", {"producer.override.max.request.size": "2000000"})],
)
def test_the_flow_can_send_what_the_topics_accept(size: str, settings: dict[str, str] | None) -> None:
    draft = drafted(cluster("P", topic("Payments"), topic("Invoices", max_message_bytes=size)))
    assert draft.variables()["flow"].get("source_settings") == settings
    assert problems_of(draft) == ""


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("__consumer_offsets", "internal to Kafka"),
        ("heartbeats", "heartbeats of MirrorMaker 2"),
        ("B.heartbeats", "heartbeats of MirrorMaker 2"),
        ("mm2-offset-syncs.B.internal", "offset-syncs of MirrorMaker 2"),
        ("B.checkpoints.internal", "checkpoints of MirrorMaker 2"),
        ("mm2-status.B.internal", "internal to MirrorMaker 2 or Streams"),
        ("connect-offsets", "has the name of a topic of Kafka Connect"),
        ("work-status", "configs, offsets or status of Connect workers"),
        ("kafka-dr-journal-internal", "belongs to this collection"),
        ("B.Payments", "replica from B"),
        ("Payments.salvage", "records that the playbook salvage restored"),
        ("app-store-changelog", 'internal to the Kafka Streams application "app"'),
        ("app-x-repartition", 'internal to the Kafka Streams application "app"'),
        (".hidden", "internal: flows never replicate this name"),
        ("x" * 249, "the name of its replica would be too long"),
    ],
)
def test_a_topic_that_no_inventory_should_name_is_left_out_with_the_reason(name: str, reason: str) -> None:
    workers = [topic(f"work-{kind}", cleanup_policy="compact") for kind in ("configs", "offsets", "status")]
    draft = drafted(cluster("P", topic("Payments"), topic(name), *workers, groups={"app": group("Payments")}))
    assert [item["name"] for item in draft.variables()["topics"]] == ["Payments"]
    assert f"Left out on P: {reason}" in words(draft)
    assert name in words(draft)


def test_topics_that_only_end_like_those_of_workers_are_drafted() -> None:
    draft = drafted(cluster("P", topic("a-configs"), topic("a-offsets"), topic("a-status"), topic("b-status")))
    assert len(draft.variables()["topics"]) == 4


def test_what_differs_on_the_other_cluster_is_asked() -> None:
    home = cluster("P", topic("Payments", 3, 3, retention_ms="1"))
    away = cluster("B", topic("Payments", 4, 1, retention_ms="2"), topic("Other"), brokers=1)
    todos = "\n".join(drafted(home, away).todos())
    assert "it has 4 partitions on B" in todos
    assert "on B it has retention.ms=2" in todos
    assert "3 replicas on P, but B has 1 brokers" in todos
    assert "only B has Other" in todos


def test_a_setting_that_ansible_would_evaluate_is_asked_for_and_not_written() -> None:
    draft = drafted(cluster("P", topic("Payments", compression_type="{{ lookup('pipe', 'id') }}")))
    assert "lookup" not in draft.text()
    assert any("compression.type" in todo for todo in draft.todos())


# ---- groups


def test_a_group_is_drafted_with_the_originals_that_it_reads_also_by_their_replicas() -> None:
    home = cluster("P", topic("A"), topic("C"), topic("B.C"), groups={"g": group("A", "B.C")})
    assert drafted(home).variables()["groups"] == [{"name": "g", "topics": ["A", "C"]}]


@pytest.mark.parametrize(
    ("name", "use", "reason"),
    [
        ("connect-sink", group("A"), "the group of a sink connector"),
        ("console-consumer-1", group("A"), "a console consumer"),
        ("app", group("A", members=(member(),), assignor="stream"), "a Kafka Streams application"),
        ("kstreams", group("A"), "a Kafka Streams application"),
    ],
)
def test_a_group_that_stays_is_local_if_it_reads_the_pair_and_a_comment_otherwise(
    name: str, use: GroupUse, reason: str
) -> None:
    topics = (topic("A"), topic("kstreams-x-changelog"))
    draft = drafted(cluster("P", *topics, groups={name: use}))
    assert draft.variables()["groups"] == [{"name": name, "mode": "local"}]
    assert f"does not move: {reason}" in draft.text()
    idle = drafted(cluster("P", *topics, groups={name: replace(use, committed=frozenset())}))
    assert idle.variables()["groups"] == []
    assert f"Left out on P: {reason}" in idle.text()


@pytest.mark.parametrize("name", ["{{ 1 }}", "two\nlines", " "])
def test_a_group_whose_name_cannot_be_in_an_inventory_is_only_named_in_a_comment(name: str) -> None:
    draft = drafted(cluster("P", topic("A"), groups={name: group("A")}))
    assert draft.variables()["groups"] == []
    assert read_back(draft) == draft.variables()


def test_a_group_with_members_and_without_topics_is_a_question_and_not_unused() -> None:
    draft = drafted(cluster("P", topic("A"), groups={"g": group(members=(member(),))}))
    assert draft.variables()["groups"] == []
    assert any('"g" has members, and no assignment' in todo for todo in draft.todos())


def test_questions_about_groups() -> None:
    home = cluster(
        "P",
        topic("A"),
        topic("__x"),
        groups={"moved": group("A"), "wide": group("A", "__x"), "dark": group("A", members=(member("c", "/h", "A"),))},
    )
    home.groups["dark"] = replace(home.groups["dark"], committed=None)  # type: ignore[index]
    away = cluster("B", groups={"moved": group("A", members=(member(),)), "there": group("A")})
    todos = "\n".join(drafted(home, away).todos())
    assert "it has members on B, and none on P" in todos
    assert "it also uses __x (internal to Kafka)" in todos
    assert "not everything about this group on P could be read" in todos
    assert "only B has the groups there" in todos


# ---- applications


def stubs(draft: Draft) -> list[dict[str, Any]]:
    (section,) = [section for section in draft.sections if section.variable == "clients"]
    assert section.active in (None, [])
    return [item.value for item in section.items]


def acl(principal: str, name: str, operation: str, kind: str = "topic", pattern: str = "literal") -> Acl:
    return Acl(f"User:{principal}", kind, name, operation, pattern)


def test_applications_are_stubs_by_group_and_principal() -> None:
    acls = {
        acl("api", "A", "write"),
        acl("api", "tx", "write", "transactional_id"),
        acl("batch", "g", "read", "group"),
        acl("join", "A", "all", pattern="prefixed"),
        acl("join", "j", "read", "group", "prefixed"),
        acl("flow", "*", "all"),
        acl("flow", "mm2-offset-syncs.B.internal", "all"),
        acl("admin", "*", "all"),
    }
    members = (member("one", "/10.0.0.5"),)
    home = cluster(
        "P",
        topic("A"),
        groups={"g": group("A", members=members), "j-1": group("A", members=(member("two", "/127.0.0.1"),))},
        acls=frozenset(acls),
        authorizer=True,
    )
    clusters = {
        alias: {**one, "client": {"sasl.username": "admin", "sasl.password": "s3cret"}}
        for alias, one in GIVEN["clusters"].items()
    }
    variables = {**GIVEN, "clusters": clusters}
    draft = build_draft(variables, PairObservation(home, cluster("B"), {"10.0.0.5": "batch1"}))
    rows = stubs(draft)
    assert [(row["name"], row["role"], row.get("principal"), row["hosts"]) for row in rows] == [
        ("g", "consumer", "User:batch", "batch1"),
        ("j-1", "processor", "User:join", "localhost"),
        ("api", "producer", "User:api", "HOSTS"),
    ]
    assert rows[1]["outputs"] == ["A"]
    assert rows[2]["transactional_ids"] == ["tx"]
    text = words(draft)
    assert "User:admin (a login of this collection)" in text
    assert "User:flow (uses internal topics of MirrorMaker 2)" in text


def test_every_stub_passes_the_inventory_check_once_its_comment_is_removed() -> None:
    acls = frozenset({acl("api", "A", "write"), acl("g", "g", "read", "group")})
    home = cluster("P", topic("A"), groups={"g": group("A")}, acls=acls, authorizer=True)
    lines = drafted(home).text().splitlines()
    edited = [line.replace("  # - {name: ", "  - {name: ") for line in lines if "# TODO" not in line]
    variables = {name.removeprefix("kafka_dr_"): one for name, one in yaml.safe_load("\n".join(edited)).items()}
    assert [client["name"] for client in variables["clients"]] == ["g", "api"]
    derive_pair(variables)


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({"authorizer": False}, "P has no authorizer, so no ACL shows the writers"),
        ({"authorizer": True}, "the ACLs of P could not be read"),
        ({"authorizer": True, "acls": frozenset()}, "no ACL of P names a single application"),
    ],
)
def test_unknown_writers_are_asked_for(facts: dict[str, Any], text: str) -> None:
    assert any(text in todo for todo in drafted(cluster("P", topic("A"), **facts)).todos())


# ---- flows


def test_existing_connectors_are_drafted_for_adoption_with_the_topics_that_they_leave() -> None:
    home = cluster("P", topic("Payments"), topic("Extra-changelog"), groups={"Extra": group("Payments")})
    away = cluster("B", connectors=(connector("old"), connector("old-offsets", "checkpoint")))
    draft = drafted(home, away)
    assert draft.variables()["adopt"] == {
        "P->B": {"source": "old", "checkpoint": "old-offsets", "leave_topics": ["Extra-changelog"]}
    }
    assert problems_of(draft) == ""


@pytest.mark.parametrize(
    ("away", "text"),
    [
        (cluster("B", connectors=(connector("a"), connector("b"))), "only one can be adopted"),
        (cluster("B", connectors=(connector("a", transforms="route"),)), "a cannot be adopted as it is"),
        (cluster("B", connectors=(connector("a", source="primary"),)), "a on the workers of B replicates primary->B"),
        (cluster("B", topic("mm2-offsets.old.internal")), "belongs to a dedicated MirrorMaker 2 with the alias old"),
        (cluster("B", topic("mm2-offsets.P.internal")), "stop this dedicated MirrorMaker 2 with SIGTERM"),
        (cluster("B", topic("P.Payments")), "B has replicas of Payments. Which process fills them?"),
        (cluster("B", connectors=None), "the connectors of P->B could not be read"),
        (cluster("B", connectors=(connector("a", replication_policy_class=POLICY),)), "stop a first"),
    ],
)
def test_flows_that_need_a_decision_are_asked_about(away: ClusterObservation, text: str) -> None:
    draft = drafted(cluster("P", topic("Payments")), away)
    assert any(text in todo for todo in draft.todos()), draft.text()
    assert problems_of(draft) == ""


def test_connectors_of_a_mirror_maker_resource_are_drafted_by_their_offsets_topic() -> None:
    away = cluster("B", connectors=(replace(connector("mm2/P->B.MirrorSourceConnector"), replicated=None),))
    draft = drafted(cluster("P", topic("Payments")), away)
    assert draft.variables()["adopt"] == {
        "P->B": {"offsets_topic": "mirrormaker2-cluster-offsets", "group": "mirrormaker2-cluster"}
    }
    assert any("set spec.replicas to 0 in the KafkaMirrorMaker2 mm2" in todo for todo in draft.todos())
    assert problems_of(draft) == ""


def test_the_policy_and_the_separator_are_those_of_existing_flows() -> None:
    identity = drafted(
        cluster("P", topic("A")), cluster("B", connectors=(connector("a", replication_policy_class=POLICY),))
    )
    assert identity.variables()["policy"] == "identity"
    glued = connector("a", replication_policy_separator="__")
    dashed = drafted(cluster("P", topic("A"), topic("B__A")), cluster("B", connectors=(glued,)))
    assert dashed.variables()["separator"] == "__"
    assert [item["name"] for item in dashed.variables()["topics"]] == ["A"]


def test_the_connectors_of_the_pair_are_not_adopted() -> None:
    away = cluster("B", topic("P.Payments"), connectors=(connector("P->B.MirrorSourceConnector"),))
    assert "adopt" not in drafted(cluster("P", topic("Payments")), away).variables()


def test_an_engine_without_adoption_gets_a_comment() -> None:
    site = {alias: {"url": "https://cm:7183", "cluster": "c"} for alias in "PB"}
    draft = drafted(
        cluster("P", topic("Payments")), cluster("B", topic("mm2-offsets.P.internal")), engine="srm", srm=site
    )
    assert "Nothing to adopt" in draft.text()


# ---- the text


def test_secrets_are_replaced_by_variables() -> None:
    jaas = 'x required username="u" password="s3cret";'
    client = {"sasl.username": "u", "sasl.password": "s3cret", "java.sasl.jaas.config": jaas}
    clusters = {alias: {**one, "client": client} for alias, one in GIVEN["clusters"].items()}
    clusters["B"]["connect_client"] = {"url_username": "o", "url_password": "0ther"}
    draft = drafted(cluster("P", topic("A")), clusters=clusters)
    assert "s3cret" not in draft.text()
    assert "0ther" not in draft.text()
    written = read_back(draft)["clusters"]
    assert written["P"]["client"]["sasl.password"] == "{{ vault_clusters_P_client_sasl_password }}"
    assert written["P"]["cluster_id"] == "id-P"
    assert len([todo for todo in draft.todos() if "Passwords are never written" in todo]) == 2


def test_a_refusal_of_the_inventory_check_is_a_question_at_the_top() -> None:
    draft = drafted(cluster("P"))
    assert "kafka_dr_topics is empty" in problems_of(draft)
    assert any("the inventory check refuses this draft" in todo for todo in draft.todos())


def test_what_could_not_be_read_is_a_question_and_not_an_empty_list() -> None:
    home = cluster("P", topic("A"), acls=None, authorizer=True, unread=("the ACLs of P could not be read: refused.",))
    todos = drafted(home).todos()
    assert "the ACLs of P could not be read: refused." in todos
    assert any("may not describe" in todo for todo in todos)


NAMES = st.text("aA1._-", min_size=1, max_size=12).filter(lambda name: name not in (".", ".."))
TEXTS = st.text(max_size=12)
# Longer than every generated text.
WORD = "a-long-secret-word"
SETTINGS = st.dictionaries(st.sampled_from(["retention.ms", "cleanup.policy"]), TEXTS, max_size=2)


@given(
    names=st.lists(NAMES, unique_by=lambda name: name.replace(".", "_"), max_size=5),
    settings=SETTINGS,
    groups=st.dictionaries(TEXTS, st.lists(NAMES, max_size=3), max_size=4),
    client=TEXTS,
    principal=TEXTS,
)
def test_any_draft_is_read_back_as_it_was_built_and_passes_or_says_why(
    names: list[str], settings: dict[str, str], groups: dict[str, list[str]], client: str, principal: str
) -> None:
    config = {key: ConfigValue(value, True) for key, value in settings.items()}
    topics = [TopicState(name, "", 1, 1, config=config) for name in names]
    uses = {name: group(*read, *names[:1], members=(member(client, client),)) for name, read in groups.items()}
    rights = [acl(principal, name, "write") for name in names] + [
        acl(principal, name, "read", "group") for name in groups
    ]
    home = cluster("P", *topics, groups=uses, acls=frozenset(rights), authorizer=True)
    client_of = {"sasl.username": "u", "sasl.password": WORD, "client.id": f"x{WORD}"}
    clusters = {alias: {**one, "client": client_of} for alias, one in GIVEN["clusters"].items()}
    draft = drafted(home, clusters=clusters)
    assert read_back(draft) == draft.variables()
    assert WORD not in draft.text()
    assert draft.text() == drafted(home, clusters=clusters).text()
    problems = problems_of(draft)
    assert not problems or any(problems in todo for todo in draft.todos())
    bare = [line for line in draft.text().splitlines() if "{{" in line and not line.strip().startswith("#")]
    assert all("{{ vault_clusters_" in line for line in bare)


# ---- the variables that discovery needs


def test_an_inventory_without_topics_is_checked_as_far_as_it_goes() -> None:
    assert pair_of(GIVEN)["home"] == "P"
    assert pair_of({**GIVEN, "groups": ["g"], "fence_logins": {"User:x": {}}, "copy_again": ["A"]})["groups"] == []
    with pytest.raises(DrError, match='Did you mean "kafka_dr_home"'):
        pair_of({**GIVEN, "hom": "P"})
    with pytest.raises(DrError, match="connect_url"):
        pair_of({**GIVEN, "clusters": {alias: {"bootstrap_servers": f"{alias}:1"} for alias in "PB"}})


# ---- drift

DECLARED = {
    **GIVEN,
    "topics": [{"name": "A", "partitions": 3, "replication_factor": 1, "config": {"retention.ms": 5}}],
    "groups": ["g"],
}
SAME = topic("A", retention_ms="5")
OWN = connector("P->B.MirrorSourceConnector")


def observed(home: ClusterObservation | None = None, away: ClusterObservation | None = None) -> PairObservation:
    both = {"g": group("A", members=(member(),))}
    return PairObservation(home or cluster("P", SAME, groups=both), away or cluster("B", SAME, connectors=(OWN,)))


def test_an_unchanged_pair_has_no_drift() -> None:
    assert drift(pair_of(DECLARED), observed()) == []


@pytest.mark.parametrize(
    ("observation", "text"),
    [
        (
            observed(cluster("P", groups={"g": group("A")})),
            'The topic "A" on P does not exist, or may not be described.',
        ),
        (observed(away=cluster("B", topic("A", 4, retention_ms="5"))), "has 4 partitions, the inventory has 3."),
        (observed(away=cluster("B", topic("A", 3, 2, retention_ms="5"))), "has 2 replicas, the inventory has 1."),
        (observed(away=cluster("B", topic("A", 3, 1))), "has retention.ms=unset, the inventory has 5."),
        (observed(away=cluster("B", SAME, topic("New"))), "B has topics that kafka_dr_topics does not name: New."),
        (observed(cluster("P", SAME)), 'The group "g" does not exist on either cluster'),
        (
            observed(cluster("P", SAME, groups={"g": group("A"), "n": group("A")})),
            'The group "n" reads A on P, and kafka_dr_groups omits it.',
        ),
        (
            observed(cluster("P", SAME, groups={"g": group("A", known=False)})),
            "The groups g on P could not be read completely.",
        ),
        (observed(away=cluster("B", SAME, connectors=None)), "The connectors of P->B could not be read."),
        (observed(away=cluster("B", SAME, connectors=(connector("old"),))), 'The connector "P->B.Mirror'),
        (observed(away=cluster("B", SAME, connectors=(OWN, connector("x")))), "Other connectors replicate P->B: x."),
        (
            observed(away=cluster("B", SAME, connectors=(replace(OWN, state="FAILED"),))),
            'The connector "P->B.MirrorSourceConnector" is FAILED.',
        ),
    ],
)
def test_drift_is_named(observation: PairObservation, text: str) -> None:
    assert any(text in line for line in drift(pair_of(DECLARED), observation)), drift(pair_of(DECLARED), observation)


def test_a_group_with_members_and_without_an_application_is_drift() -> None:
    other = {"name": "x", "role": "producer", "control": "systemd", "unit": "x"}
    (line,) = drift(pair_of({**DECLARED, "clients": [other]}), observed())
    assert 'The group "g" has members, and no application' in line


@pytest.mark.parametrize(
    ("differences", "unread", "last"),
    [
        (None, [], "It passes the inventory check."),
        ([], [], "No drift from the inventory."),
        ([], ["the groups of B are hidden"], "No drift in what could be read, but the groups of B are hidden"),
        (["A is gone."], ["the groups of B are hidden"], "Drift: A is gone."),
    ],
)
def test_no_drift_is_reported_only_if_everything_was_read(
    differences: list[str] | None, unread: list[str], last: str
) -> None:
    assert lines(drafted(cluster("P", topic("A"))), "", differences, unread)[-1] == last
