# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ACLs of accounts: complete, valid, and the same on the page, in the playbook and in the lab."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import rights_page
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.layout import laid_out, place
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.account_rights import (
    ACCOUNTS,
    Place,
    Right,
    flow_rights,
    operator_rights,
    rights_of,
    viewer_rights,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.acl import Acl, wanted_acls
from lab import rights as lab_rights

IMPLIED = {
    "describe": {"describe", "read", "write", "delete", "alter", "all"},
    "describe_configs": {"describe_configs", "alter_configs", "all"},
}
CHANGING = {"write", "alter", "alter_configs", "create", "delete", "all", "idempotent_write", "cluster_action"}


def here(**changes: Any) -> Place:
    return replace(place(rights_page.example(), "P"), **changes)


def allows(rights: list[Right], wanted: Right) -> bool:
    """Whether the rights include the wanted one, as a broker decides."""
    operations = IMPLIED.get(wanted.operation, {wanted.operation, "all"})
    same = [right for right in rights if right.resource_type == wanted.resource_type and right.operation in operations]
    return any(
        right.name in ("*", wanted.name) or (right.pattern_type == "prefixed" and wanted.name.startswith(right.name))
        for right in same
    )


def test_the_page_has_the_list_of_the_code() -> None:
    assert rights_page.PAGE.read_text(encoding="utf-8") == rights_page.page(), "run `make error-codes`"


@pytest.mark.parametrize("account", ACCOUNTS)
def test_every_acl_is_valid_and_occurs_once(account: str) -> None:
    rights = rights_of(account, here())
    acls = [Acl("User:x", one.resource_type, one.name, one.operation, one.pattern_type) for one in rights]
    assert wanted_acls([vars(acl) for acl in acls]) == acls
    assert len(set(acls)) == len(acls)
    assert all(right.why for right in rights)


def test_a_viewer_changes_nothing_and_an_operator_may_do_what_a_viewer_may() -> None:
    viewer, operator = viewer_rights(here()), operator_rights(here())
    assert not {right.operation for right in viewer} & CHANGING
    assert [right for right in viewer if not allows(operator, right)] == []


def test_no_account_writes_a_topic_of_the_applications_except_the_flow_with_the_policy_identity() -> None:
    write = Right("topic", "Payments", "write", "literal", "")
    for account in ACCOUNTS:
        assert not allows(rights_of(account, here()), write)
    assert allows(flow_rights(here(flows_write_originals=True)), write)
    assert not allows(operator_rights(here(flows_write_originals=True)), write)


def test_the_playbook_grants_what_it_shows_only_to_declared_accounts() -> None:
    pair = rights_page.example()
    assert laid_out(pair)["rights"]["P"]["accounts"] == []
    pair["accounts"] |= {"viewer": "User:look", "flow": "User:mm2"}
    rights = laid_out(pair)["rights"]["P"]
    granted = wanted_acls(rights["accounts"])
    expected = [("User:look", right) for right in viewer_rights(here())] + [
        ("User:mm2", right) for right in flow_rights(here())
    ]
    assert granted == [
        Acl(who, right.resource_type, right.name, right.operation, right.pattern_type) for who, right in expected
    ]
    text = "\n".join(rights["lines"])
    assert "viewer (User:look): describe cluster literal kafka-cluster [readiness: " in text
    assert "operator (kafka_dr_accounts.operator is not set): alter cluster literal kafka-cluster [rights, " in text
    assert "application allow User:payments from *: write topic literal Payments" in text
    for right in rights_of("operator", here()):
        assert right.name in text


def test_workers_that_are_not_declared_get_no_rights() -> None:
    assert [right.name for right in flow_rights(here(workers="")) if "connect" in right.name] == []


def test_the_lab_grants_the_flow_the_same_list() -> None:
    listed = lab_rights.table("P", "B", "connect-P")
    assert listed == [
        (right.resource_type.upper(), right.pattern_type.upper(), right.name, right.operation.upper())
        for right in flow_rights(here())
    ]
    assert ("TOPIC", "PREFIXED", "mm2-", "ALL") in set(lab_rights.table("P", "B", "B-mm2")) - set(listed)


@pytest.mark.parametrize(
    ("acl", "command"),
    [
        (
            Acl("User:dr", "topic", "P.Payments", "describe_configs"),
            "--allow-principal User:dr --operation DescribeConfigs --topic P.Payments",
        ),
        (
            Acl("User:a b", "transactional_id", "kafka-dr-", "write", "prefixed"),
            "--allow-principal 'User:a b' --operation Write --transactional-id kafka-dr-"
            " --resource-pattern-type prefixed",
        ),
        (
            Acl("User:dr", "cluster", "kafka-cluster", "alter"),
            "--allow-principal User:dr --operation Alter --cluster",
        ),
        (
            Acl("User:dr", "group", "*", "read", permission="deny"),
            "--deny-principal User:dr --operation Read --group '*'",
        ),
    ],
)
def test_the_command_of_an_acl(acl: Acl, command: str) -> None:
    assert acl.command("kafka:9092") == f"kafka-acls.sh --bootstrap-server kafka:9092 --add {command}"
