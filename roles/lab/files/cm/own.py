# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Endpoints below /emulator/, which Cloudera Manager does not have: switches, log, audits, engine."""

from __future__ import annotations

from typing import Any

from .control_file import write_control
from .errors import ApiError
from .requests import parse
from .site import Manager
from .switches import Switches


def answer(manager: Manager, log: list[dict[str, Any]], method: str, name: str, body: bytes) -> Any:
    """Handle a request. ``log``: all requests to the API so far."""
    if name == "switches":
        return _switches(manager, method, body)
    if name == "log":
        found = list(log)
        if method == "DELETE":
            log.clear()
        return {"items": found}
    if name == "audits":
        with manager.store.lock:
            return {"items": list(manager.store.state.audits)}
    if name == "engine":
        return manager.engine_report()
    raise ApiError(404, "Known: switches, log, audits, engine.")


def _switches(manager: Manager, method: str, body: bytes) -> Any:
    if method in ("PUT", "DELETE"):
        with manager.store.change() as state:
            before = state.switches if method == "PUT" else Switches()
            state.switches = before.changed(parse(body) or {})
            manager.refresh(state)
        write_control(manager)
    with manager.store.lock:
        return manager.store.state.switches.to_json()
