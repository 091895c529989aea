# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""External accounts, which hold the address and the login of a peer cluster."""

from __future__ import annotations

import time
from typing import Any

from .errors import ApiError
from .properties import REDACTED
from .state import State

TYPE = "KAFKA_SERVICE"
REQUIRED = ("kafka_bootstrap_servers", "kafka_security_protocol")
SENSITIVE = ("kafka_jaas_secret1", "kafka_jaas_secret2", "kafka_jaas_secret3", "kafka_truststore_password")
CATEGORIES = {"items": [{"name": "KAFKA", "displayName": "External Kafka Accounts", "description": ""}]}


def create(state: State, body: dict[str, Any]) -> dict[str, Any]:
    name = body.get("name")
    if not name or name in state.accounts:
        raise ApiError(400, f"An external account named '{name}' already exists." if name else "A name is missing.")
    if body.get("typeName") != TYPE:
        raise ApiError(400, f"Unknown external account type '{body.get('typeName')}'.")
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    about = {"name": name, "displayName": body.get("displayName") or name, "typeName": TYPE, "createdTime": now}
    state.accounts[name] = {**about, "lastModifiedTime": now, "items": _items(body)}
    return show(state, name, weak=False)


def update(state: State, body: dict[str, Any]) -> dict[str, Any]:
    """Replace all items. An update must contain every required item."""
    account = _find(state, str(body.get("name")), 404)
    account["items"] = _items(body)
    account["displayName"] = body.get("displayName") or account["displayName"]
    account["lastModifiedTime"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return show(state, account["name"], weak=False)


def delete(state: State, name: str) -> dict[str, Any]:
    _find(state, name, state.switches.absent_account_status)
    found = show(state, name, weak=False)
    del state.accounts[name]
    return found


def show(state: State, name: str, weak: bool) -> dict[str, Any]:
    """An ApiExternalAccount."""
    account = _find(state, name, 404)
    items = [
        {"name": key, "value": REDACTED if weak and key in SENSITIVE else value, "sensitive": key in SENSITIVE}
        for key, value in account["items"].items()
    ]
    about = {key: value for key, value in account.items() if key != "items"}
    return {**about, "accountConfigs": {"items": items}}


def of_type(state: State, name: str, weak: bool) -> dict[str, Any]:
    return {"items": [show(state, key, weak) for key, item in state.accounts.items() if item["typeName"] == name]}


def _items(body: dict[str, Any]) -> dict[str, str]:
    given = (body.get("accountConfigs") or {}).get("items") or []
    found = {str(item.get("name")): str(item["value"]) for item in given if item.get("value") is not None}
    missing = [name for name in REQUIRED if name not in found]
    if missing:
        raise ApiError(400, f"Required configuration is missing: {', '.join(missing)}.")
    return found


def _find(state: State, name: str, status: int) -> dict[str, Any]:
    if name not in state.accounts:
        raise ApiError(status, f"External account '{name}' not found.")
    return state.accounts[name]
