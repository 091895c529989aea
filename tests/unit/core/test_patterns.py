# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Topics and groups by pattern: what a pattern takes, and the pair that is derived from the names."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.flows.pair_spec import PairSpec
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.layout import laid_out
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.pair import derive_pair
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.rehearsal import rehearsal_aliases
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.names import (
    JOURNAL_TOPIC,
    STATE_TOPIC,
    naming_of,
    offsets_topic,
    salvage_topic,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.name_patterns import (
    NamePattern,
    expression_problem,
    group_candidates,
    similar,
    taken,
    topic_candidates,
)

ALIASES = ("P", "B")
FOUND: dict[str, Any] = {
    "topics": {"orders.eu": 6, "orders.us": 3, "Payments": 12},
    "groups": ["settlement", "shop-a", "shop-b"],
    "listed": "P",
}


def derived(resolved: dict[str, Any] | None = None, **parts: Any) -> dict[str, Any]:
    inventory: dict[str, Any] = {
        "home": "P",
        "clusters": {
            alias: {"bootstrap_servers": f"{alias.lower()}:9092", "connect_url": f"http://{alias.lower()}:8083"}
            for alias in ALIASES
        },
        "topics": [{"match": r"orders\..*", "config": {"retention.ms": 1000}}],
        **parts,
    }
    return derive_pair(copy.deepcopy(inventory), resolved=resolved)


def refusal(resolved: dict[str, Any] | None = None, **parts: Any) -> str:
    with pytest.raises(DrError) as refused:
        derived(resolved, **parts)
    assert refused.value.code == "inventory_invalid"
    return refused.value.message


def reader(group: str, *topics: str, **more: Any) -> dict[str, Any]:
    own = {"topics": list(topics)} if topics else {}
    return {"name": f"app-{group}", "role": "consumer", "group": group, "start": ["x"], "stop": ["x"], **own, **more}


def counts(pair: dict[str, Any]) -> dict[str, int]:
    return {topic["name"]: topic["partitions"] for topic in pair["topics"]}


# ---- matching


@pytest.mark.parametrize(
    ("pattern", "name", "expected"),
    [
        (r"orders\..*", "orders.eu", True),
        (r"orders\..*", "ordersXeu", False),
        (r"orders", "orders.eu", False),  # the whole name
        (r"a|ab", "ab", True),
        (r"t\d", "t٣", False),  # ASCII, as in Java
    ],
)
def test_a_pattern_matches_whole_names(pattern: str, name: str, expected: bool) -> None:
    assert NamePattern(pattern).takes(name) is expected


def test_exclude_wins() -> None:
    assert taken([NamePattern("a.*", ("ab.*", "ac"))], ["a", "ab", "abc", "ac", "acd", "b"]) == ["a", "acd"]


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("", "which is empty"),
        ("  ", "which is empty"),
        ("orders(", "which is not a regular expression: "),
        ("*", "which is not a regular expression: "),
        ("(?P<x>a)", 'which contains "(?P"'),
        (r"a\Z", r'which contains "\Z"'),
        ("[a&&b]", 'which contains "&&"'),
        ("[a[b]]x" + "[[a]]", 'which contains "[["'),
        (r"\p{Alpha}", "which is not a regular expression: bad escape"),
    ],
)
def test_an_expression_that_java_and_python_read_differently_is_refused(expression: str, why: str) -> None:
    assert expression_problem(expression).startswith(why)


@pytest.mark.parametrize("expression", [".*", r"orders\..*", "(?i)pay.*", "a|b", r"[a-z]{2,3}\d+", "(?:x)?y", "a++b"])
def test_usual_expressions_are_accepted(expression: str) -> None:
    assert expression_problem(expression) == ""


def rehearsals(policy: str, separator: str) -> set[str]:
    """The topics that the flows of a rehearsal write on either cluster."""
    aliases = rehearsal_aliases({"separator": separator, "clusters": dict.fromkeys(ALIASES)}).values()
    naming = naming_of(policy, ".." if "-" in separator else "--")
    return {name(alias) for alias in aliases for name in (naming.heartbeats, naming.checkpoints, naming.offset_syncs)}


LABELS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True)


@given(LABELS, st.sampled_from(("default", "identity")), st.sampled_from((".", "_", "-", "..", "--")))
def test_no_pattern_takes_internal_topics_replicas_or_the_journal(name: str, policy: str, separator: str) -> None:
    naming = naming_of(policy, separator)
    never = {
        *(JOURNAL_TOPIC, STATE_TOPIC, "my-journal", "heartbeats", "connect-configs", "__consumer_offsets"),
        *(f"__{name}", f"{name}.internal", f"{name}-internal", f"connect-{name}", f"mm2-{name}", f".{name}"),
        *(salvage_topic(name), f"{name}.replica", f"kafka-dr-rehearsal-B-P-{name}", *rehearsals(policy, separator)),
    }
    for alias in ALIASES:
        never |= {naming.checkpoints(alias), naming.offset_syncs(alias), naming.heartbeats(alias), offsets_topic(alias)}
        never |= set() if naming.keeps_names else {naming.replica(alias, name), naming.replica(alias, "heartbeats")}
    assert topic_candidates(never, naming, ALIASES, "my-journal") == []


@given(LABELS)
def test_no_pattern_takes_groups_of_connect_consoles_and_the_collection(name: str) -> None:
    never = [
        f"connect-{name}",
        f"console-consumer-{name}",
        f"__{name}",
        "kafka-dr-reader",
        f"kafka-dr-rehearsal-{name}",
    ]
    assert group_candidates(never) == []


def test_ordinary_names_are_candidates() -> None:
    names = ["Payments", "orders.eu", "Pay", "B", "internal", "salvage", "heartbeat", "Px.orders"]
    assert topic_candidates(names, naming_of(), ALIASES) == names
    assert topic_candidates(["P.orders"], naming_of("identity"), ALIASES) == ["P.orders"]
    assert group_candidates(["settlement", "streams-app", "connect"]) == ["settlement", "streams-app", "connect"]


def test_similar_names_are_named() -> None:
    assert similar(r"ordrs\..*", ["Payments", "orders.eu", "orders.us"])[0].startswith("orders.")
    assert similar("zzz", ["a", "b", "c", "d"]) == ["a", "b", "c"]


# ---- before the names are known


def test_before_the_names_are_known_a_pattern_takes_what_other_variables_mention() -> None:
    pair = derived(
        groups=[{"match": "shop-.*"}, {"name": "audit", "topics": ["orders.us"]}],
        clients=[reader("shop-a", "orders.eu")],
        accept_foreign_writers=["P.orders.jp"],
    )
    assert pair["unresolved"] is True
    assert counts(pair) == {"orders.eu": 1, "orders.jp": 1, "orders.us": 1}
    assert pair["groups"] == ["audit", "shop-a"]
    spec = PairSpec.of(laid_out(pair)["spec"])
    assert spec.patterns == {"topics": (NamePattern(r"orders\..*"),), "groups": (NamePattern("shop-.*"),)}


def test_a_pair_without_a_mentioned_topic_can_be_derived_and_parsed() -> None:
    pair = derived()
    assert (pair["topics"], pair["unresolved"]) == ([], True)
    assert PairSpec.of(laid_out(pair)["spec"]).topics == ()


def test_an_inventory_of_names_needs_no_cluster() -> None:
    pair = derived(topics=[{"name": "T", "partitions": 1}])
    assert (pair["unresolved"], pair["pattern_lines"]) == (False, [])


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ({"topics": [{"match": "a", "name": "b"}]}, 'kafka_dr_topics[0] needs one of the keys "name" and "match".'),
        ({"topics": [{"partitions": 3}]}, 'kafka_dr_topics[0] needs one of the keys "name" and "match".'),
        ({"topics": [{"match": "a", "partitions": 3}]}, 'kafka_dr_topics[0] has the key "partitions", which only an'),
        ({"topics": [{"name": "a", "exclude": ["b"]}]}, 'has the key "exclude", which only an entry with "match" has'),
        ({"topics": [{"match": "a("}]}, 'kafka_dr_topics[0].match is "a(", which is not a regular expression'),
        ({"topics": [{"match": "a", "exclude": ["("]}]}, 'kafka_dr_topics[0].exclude is "(", which is not'),
        ({"topics": [{"match": ""}]}, 'kafka_dr_topics[0].match is "", which is empty.'),
        ({"topics": [{"match": "a", "exclude": "b"}]}, "kafka_dr_topics[0].exclude must be of type words"),
        ({"groups": [{"match": "a", "mode": "local"}]}, 'kafka_dr_groups[0] has the key "mode", which only an entry'),
        ({"groups": [{"match": "a("}]}, 'kafka_dr_groups[0].match is "a(", which is not a regular expression'),
        ({"clients": [reader("x", "orders.eu")]}, 'needs a group from kafka_dr_groups, found "x".'),
        ({"clients": [reader("x", "other")], "groups": ["x"]}, 'names the unknown topic "other"'),
    ],
)
def test_bad_patterns_are_refused_without_a_cluster(parts: dict[str, Any], text: str) -> None:
    assert text in refusal(**parts)


# ---- with the names


def test_a_pattern_takes_the_names_that_were_found() -> None:
    pair = derived(FOUND, groups=[{"match": "shop-.*", "exclude": ["shop-b"]}])
    assert (counts(pair), pair["unresolved"]) == ({"orders.eu": 6, "orders.us": 3}, False)
    assert {tuple(topic["config"].items()) for topic in pair["topics"]} == {(("retention.ms", 1000),)}
    assert pair["groups"] == ["shop-a"]
    assert pair["pattern_lines"] == [
        r'topics that match "orders\..*": orders.eu, orders.us',
        'groups that match "shop-.*": shop-a',
    ]


def test_an_entry_with_a_name_wins() -> None:
    topics = [{"name": "orders.us", "partitions": 9}, {"match": r"orders\..*"}, {"name": "Payments"}]
    pair = derived(FOUND, topics=topics, groups=[{"name": "shop-b", "mode": "local"}, {"match": ".*"}])
    assert counts(pair) == {"orders.us": 9, "Payments": 12, "orders.eu": 6}
    assert (pair["groups"], pair["local_groups"]) == (["settlement", "shop-a"], ["shop-b"])
    patterns = PairSpec.of(laid_out(pair)["spec"]).patterns["groups"]
    assert taken(patterns, ["shop-a", "shop-b"]) == ["shop-a"]


def test_a_group_of_an_application_belongs_to_the_pair_before_it_exists() -> None:
    pair = derived(FOUND, groups=[{"match": "new-.*"}], clients=[reader("new-app", "orders.eu")])
    assert pair["groups"] == ["new-app"]


def test_a_topic_that_an_application_names_must_have_been_found() -> None:
    parts = {"clients": [reader("g", "orders.jp")], "groups": ["g"]}
    derived(**parts)
    assert 'The client "app-g" names the unknown topic "orders.jp". Did you mean "orders.' in refusal(FOUND, **parts)


def test_patterns_that_overlap_must_have_the_same_settings() -> None:
    same = derived(FOUND, topics=[{"match": r"orders\..*"}, {"match": r".*\.eu"}])
    assert counts(same) == {"orders.eu": 6, "orders.us": 3}
    text = refusal(FOUND, topics=[{"match": r"orders\..*"}, {"match": r".*\.eu", "replication_factor": 2}])
    assert r'The patterns "orders\..*" and ".*\.eu" of kafka_dr_topics both take "orders.eu"' in text


@pytest.mark.parametrize(
    ("listed", "text"),
    [
        ("P", 'The topic "T" declares no partitions, and it does not exist on P. Add the key "partitions".'),
        (None, 'The topic "T" declares no partitions, and it has not joined the pair. Run the playbook enable.'),
    ],
)
def test_an_unknown_partition_count_is_refused(listed: str | None, text: str) -> None:
    derived(topics=[{"name": "T"}])
    assert text in refusal({**FOUND, "listed": listed}, topics=[{"name": "T"}])


def test_patterns_that_took_nothing_leave_nothing_to_protect() -> None:
    assert "kafka_dr_topics is empty" in refusal({"topics": {}, "groups": [], "listed": None})


# ---- applications


APPLICATIONS: dict[str, Any] = {
    "topics": [{"match": r"orders\..*", "application": "shop"}, {"match": "Pay.*", "application": "bank"}],
    "groups": [{"match": "shop-.*", "topics": ["orders.eu"]}, {"match": "bank-.*", "topics": ["Payments"]}],
    "clients": [reader("shop-a", "orders.eu"), reader("bank-a", "Payments")],
}


@pytest.mark.parametrize("application", ["shop", "bank"])
def test_each_application_has_its_own_patterns(application: str) -> None:
    own = {"shop": {"orders.eu": 6, "orders.us": 3}, "bank": {"Payments": 12}}[application]
    unresolved = derived(application=application, **APPLICATIONS)
    assert unresolved["name"] == f"B-P.{application}"
    # The journal of the application has its own topics only.
    for resolved in (FOUND, {"topics": own, "groups": [f"{application}-a"], "listed": None}):
        pair = derived(resolved, application=application, **APPLICATIONS)
        assert counts(pair) == own
        assert {entry["application"] for entry in pair["patterns"]["topics"]} == {application}
        assert [entry["match"] for entry in pair["patterns"]["groups"]] == [f"{application}-.*"]
        assert f"{application}-a" in pair["groups"]


def test_an_application_with_patterns_only_can_be_named() -> None:
    topics = APPLICATIONS["topics"]
    assert derived(application="bank", topics=topics)["application"] == "bank"
    assert "wanted one of: bank, shop" in refusal(topics=topics)
