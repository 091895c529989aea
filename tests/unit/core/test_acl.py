# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan for ACLs: which are created, which are deleted, and which principals are left alone."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.changes import Outcome, diff_of
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.acl import (
    OPERATIONS,
    PATTERN_TYPES,
    PERMISSIONS,
    RESOURCE_TYPES,
    Acl,
    after,
    application_acls,
    bans,
    client_acls,
    failure_of,
    named,
    plan,
    wanted_acls,
    write_bans,
)

# Few names, so that wanted and existing entries often match.
ACLS = st.builds(
    Acl,
    principal=st.sampled_from(["User:a", "User:b", "User:*"]),
    resource_type=st.sampled_from(RESOURCE_TYPES),
    name=st.sampled_from(["x", "y", "*"]),
    operation=st.sampled_from(OPERATIONS[:3]),
    pattern_type=st.sampled_from(PATTERN_TYPES),
    permission=st.sampled_from(PERMISSIONS),
    host=st.sampled_from(["*", "10.0.0.1"]),
)
SETS = st.frozensets(ACLS, max_size=8)
STATES = st.sampled_from(["present", "absent", "exact"])
PRINCIPALS = st.frozensets(st.sampled_from(["User:a", "User:b", "User:c"]))


def item(**changed: Any) -> dict[str, Any]:
    return {"principal": "User:a", "operation": "read", "resource_type": "topic", "name": "x", **changed}


@given(wanted=SETS, found=SETS, state=STATES, more=PRINCIPALS)
def test_applying_the_plan_gives_the_wanted_acls(
    wanted: frozenset[Acl], found: frozenset[Acl], state: str, more: frozenset[str]
) -> None:
    principals = named(wanted, more, state) if wanted or more or state != "exact" else ["User:z"]
    result = set(after(found, plan(wanted, found, state, principals)))
    others = {acl for acl in found if acl.principal not in principals}
    expected = {"present": found | wanted, "absent": found - wanted, "exact": wanted | others}
    assert result == expected[state]


@given(wanted=SETS, found=SETS, keep=SETS)
def test_exact_never_deletes_or_creates_protected_entries(
    wanted: frozenset[Acl], found: frozenset[Acl], keep: frozenset[Acl]
) -> None:
    principals = {acl.principal for acl in wanted | found}
    result = set(after(found, plan(wanted, found, "exact", principals, keep)))
    assert result == wanted | (found & keep)


@given(wanted=SETS, found=SETS, state=STATES, more=PRINCIPALS)
def test_planning_again_after_applying_finds_no_change(
    wanted: frozenset[Acl], found: frozenset[Acl], state: str, more: frozenset[str]
) -> None:
    principals = {acl.principal for acl in wanted} | more
    result = after(found, plan(wanted, found, state, principals))
    assert plan(wanted, result, state, principals) == []


@given(wanted=SETS, found=SETS, state=STATES, more=PRINCIPALS)
def test_other_principals_are_untouched_and_no_change_is_planned_twice(
    wanted: frozenset[Acl], found: frozenset[Acl], state: str, more: frozenset[str]
) -> None:
    principals = {acl.principal for acl in wanted} | more
    changes = plan(wanted, found, state, principals)
    touched = [Acl(**(change.after or change.before or {})) for change in changes]
    assert {acl.principal for acl in touched} <= principals
    assert len(set(touched)) == len(touched) == len({change.name for change in changes})
    actions = [change.action for change in changes]
    assert actions == sorted(actions), "creations come first"
    difference = diff_of(changes)
    assert len(difference["before"]) == len(changes), "each shows in the diff"


@given(wanted=st.lists(ACLS, max_size=6))
def test_a_listing_parses_back_to_the_same_entries(wanted: list[Acl]) -> None:
    """Entries to delete are checked only for the principal and the cluster's name."""
    fits = [acl for acl in wanted if acl.resource_type != "cluster"]
    assert wanted_acls([asdict(acl) for acl in fits], "absent") == list(dict.fromkeys(fits))


def test_defaults_match_the_most_common_entries() -> None:
    assert wanted_acls([item()]) == [Acl("User:a", "topic", "x", "read", "literal", "allow", "*")]
    cluster = item(resource_type="cluster", operation="alter", name=None)
    assert wanted_acls([cluster])[0].name == "kafka-cluster"


@pytest.mark.parametrize(
    ("wrong", "message_part"),
    [
        ({"principal": "a"}, 'did you mean "User:a"?'),
        ({"principal": "User:"}, "has no type"),
        ({"name": None}, "name is missing for a topic"),
        ({"name": ""}, "name is missing for a topic"),
        ({"operation": "cluster_action"}, 'never checks "cluster_action" on a topic'),
        ({"resource_type": "group", "operation": "write"}, "it supports all, alter_configs, delete, describe"),
        ({"resource_type": "transactional_id", "operation": "read"}, 'never checks "read"'),
        ({"resource_type": "cluster", "operation": "read", "name": None}, 'never checks "read" on a cluster'),
        ({"resource_type": "cluster", "operation": "alter"}, 'has only the literal name "kafka-cluster"'),
        ({"name": "*", "pattern_type": "prefixed"}, "For every name use pattern_type: literal"),
        ({"host": "api.example.com"}, 'host "api.example.com" never matches'),
        ({"host": "10.0.0.0/8"}, "never matches"),
    ],
)
def test_an_entry_without_effect_is_refused_with_its_number(wrong: dict[str, Any], message_part: str) -> None:
    with pytest.raises(DrError) as refused:
        wanted_acls([item(), item(**wrong)])
    assert refused.value.code == "bad_acls"
    assert refused.value.message.startswith("acls[2]: ")
    assert message_part in refused.value.message


def test_all_problems_are_reported_at_once() -> None:
    with pytest.raises(DrError, match=r"acls\[1\].*acls\[3\]"):
        wanted_acls([item(principal="a"), item(), item(host="h")])


def test_an_entry_without_effect_may_still_be_deleted() -> None:
    useless = item(resource_type="group", operation="write", host="somewhere")
    assert wanted_acls([useless], "absent")[0].host == "somewhere"


def test_exact_needs_at_least_one_principal() -> None:
    with pytest.raises(DrError, match="at least one principal"):
        named([], [], "exact")
    assert named([], ["User:b", "User:a"], "exact") == ["User:a", "User:b"]
    assert named([], [], "present") == []
    with pytest.raises(DrError, match='did you mean "User:b"'):
        named([], ["b"], "present")


def test_a_failure_message_names_the_first_few_entries() -> None:
    changes = plan([Acl("User:a", "topic", f"t{n}", "read") for n in range(8)], [], "present")
    outcomes = [Outcome(change, "failed", "no") for change in changes[:7]] + [Outcome(changes[7], "done")]
    failure = failure_of(outcomes, "p:1")
    assert failure is not None
    assert failure.message.startswith("7 of 8 ACLs were refused. allow User:a from *: read topic literal t0: no")
    assert failure.message.endswith("t4: no and 2 more")
    assert failure_of(outcomes[7:]) is None


def test_the_order_of_a_listing_does_not_depend_on_the_order_of_responses() -> None:
    rights = [Acl("User:b", "topic", "x", "read"), Acl("User:a", "topic", "x", "read")]
    assert after(rights, []) == after(reversed(rights), []) == sorted(rights)
    assert replace(rights[0], principal="User:a") == rights[1]


# ---- which ACLs an application needs

ENDPOINT = {"topics": ["Payments", "Refunds"], "subscribe": ["Payments", "Refunds", "P.Payments", "P.Refunds"]}


def needs(role: str, **more: Any) -> set[tuple[str, str, str]]:
    client = {"role": role, "group": None if role == "producer" else "settlement"}
    found = application_acls(client, ENDPOINT, "User:a", **more)
    assert wanted_acls(found), "what it derives, the module takes"
    assert {(row["principal"], row["permission"], row["host"], row["pattern_type"]) for row in found} == {
        ("User:a", "allow", "*", "literal")
    }
    assert len(found) == len({tuple(row.items()) for row in found})
    return {(row["resource_type"], row["name"], row["operation"]) for row in found}


def test_a_producer_writes_originals_and_never_replicas() -> None:
    assert needs("producer") == {("topic", "Payments", "write"), ("topic", "Refunds", "write")}


def test_a_transactional_producer_also_writes_its_transactional_id() -> None:
    assert needs("producer", transactional_ids=["t1"]) - needs("producer") == {("transactional_id", "t1", "write")}


def test_an_idempotent_producer_needs_more_acls_on_old_brokers() -> None:
    assert needs("producer", before_2_8=True) - needs("producer") == {("cluster", "kafka-cluster", "idempotent_write")}
    assert needs("consumer", before_2_8=True) == needs("consumer")


def test_a_consumer_reads_originals_replicas_and_its_group() -> None:
    topics = {("topic", name, "read") for name in ENDPOINT["subscribe"]}
    assert needs("consumer", transactional_ids=["t1"]) == topics | {("group", "settlement", "read")}


def test_a_processor_reads_and_writes_only_its_declared_topics() -> None:
    assert needs("processor", transactional_ids=["t1"]) == needs("producer", transactional_ids=["t1"]) | needs(
        "consumer"
    )
    written = {name for _kind, name, what in needs("processor", outputs=["Out"]) if what == "write"}
    assert written == {"Out"}


def declared(**more: Any) -> set[tuple[str, str, str]]:
    client = {"role": "processor", "group": "settlement", "principal": "User:a", **more}
    return {(row["resource_type"], row["name"], row["operation"]) for row in client_acls(client, ENDPOINT)}


def test_a_declared_client_needs_the_acls_of_its_declaration() -> None:
    assert declared(outputs=["Out"], transactional_ids=["t1"]) == needs(
        "processor", outputs=["Out"], transactional_ids=["t1"]
    )
    assert declared(role="producer", transactional_ids=["t1"]) == needs("producer", transactional_ids=["t1"])
    assert declared(principal=None) == set()


def test_a_processor_without_declared_output_topics_only_gets_read_acls() -> None:
    assert declared(outputs=None, transactional_ids=["t1"]) == needs("consumer") | {("transactional_id", "t1", "write")}


def test_a_fence_denies_each_principal_each_topic() -> None:
    found = bans(["x", "y"], ["User:a"])
    assert {(acl.name, acl.permission, acl.operation, acl.host) for acl in found} == {
        ("x", "deny", "write", "*"),
        ("y", "deny", "write", "*"),
    }


@pytest.mark.parametrize(
    ("ban", "keeps"),
    [
        ({}, True),
        ({"operation": "all"}, True),
        ({"name": "*"}, True),
        ({"name": "Pay", "pattern_type": "prefixed"}, True),
        ({"host": "10.0.0.1"}, True),
        ({"permission": "allow"}, False),
        ({"operation": "read"}, False),
        ({"name": "Pay"}, False),
        ({"resource_type": "group"}, False),
    ],
)
def test_every_acl_that_prevents_a_write_is_found(ban: dict[str, str], keeps: bool) -> None:
    base = {"principal": "User:x", "resource_type": "topic", "name": "Payments", "operation": "write"}
    acl = Acl(**{**base, "permission": "deny", **ban})
    assert write_bans([acl], ["Orders", "Payments"]) == ([acl] if keeps else [])
