# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes docs/rights.md, the ACLs of every account for an example pair, from the code: ``make error-codes``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.layout import laid_out, place
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.pair import derive_pair
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.account_rights import (
    ACCOUNTS,
    grouped,
    rights_of,
)

__all__ = ["PAGE", "example", "page"]

PAGE = Path(__file__).resolve().parents[2] / "docs" / "rights.md"
HEAD = """# Rights

Every ACL that an account needs on P, for the pair P and B with the topic `Payments`, the group `settlement` and the
policy `default`. On B, P and B are exchanged. [Security](security.md#rights) explains the accounts. The playbook
[`rights`](procedures/rights.md) shows this list for your inventory. `make error-codes` generates this page.
"""
COLUMNS = "| operation | resource | pattern | names | for |\n|---|---|---|---|---|\n"


def example() -> dict[str, Any]:
    """The pair of the page."""
    clients = [
        {"name": "payments-api", "role": "producer", "principal": "User:payments"},
        {"name": "settlement", "role": "consumer", "group": "settlement", "principal": "User:settlement"},
    ]
    command = {"start": ["start"], "stop": ["stop"]}
    return derive_pair(
        {
            "home": "P",
            "clusters": {
                alias: {"bootstrap_servers": f"{alias}:9092", "connect_url": f"http://{alias}:8083"} for alias in "PB"
            },
            "topics": [{"name": "Payments", "partitions": 3}],
            "groups": ["settlement"],
            "clients": [{**client, **command} for client in clients],
            "accounts": {"workers": {"P": "connect-P", "B": "connect-B"}},
        }
    )


def page() -> str:
    """The whole page."""
    pair = example()
    here = place(pair, "P")
    parts = [HEAD]
    for account, what in ACCOUNTS.items():
        rights = rights_of(account, here)
        lines = [
            f"| {operation.upper()} | {kind} | {pattern} | `{names.replace(', ', '`, `')}` | {why} |\n"
            for operation, kind, pattern, names, why in grouped(rights)
        ]
        parts.append(f"## {account}\nFor {what}: {len(rights)} ACLs.\n\n{COLUMNS}{''.join(lines)}")
    acls = laid_out(pair)["rights"]["P"]["acls"]
    lines = [
        f"| {acl['principal']} | {acl['operation'].upper()} | {acl['resource_type']} | `{acl['name']}` |\n"
        for acl in acls
    ]
    head = "| principal | operation | resource | name |\n|---|---|---|---|\n"
    text = "For each client with a `principal`. `payments-api` produces, and `settlement` consumes."
    parts.append(f"## Applications\n{text}\n\n{head}{''.join(lines)}")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
