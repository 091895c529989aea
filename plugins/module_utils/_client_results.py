# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wait for what ``plugin_utils/background.py`` has begun on several hosts, and make one result of it.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ._core.changes import Change, Outcome
from ._core.errors import DrError
from ._module import Result

__all__ = ["collect", "together"]


def collect(started: Mapping[str, Any]) -> dict[str, Any]:
    """Wait for the end of one item, and return its result. ``started``: the result of the loop's item."""
    if not started.get("pending"):
        return dict(started)
    path = Path(str(started["pending"]))
    with path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        text = file.read()
    path.unlink()
    if not text:
        return {"failed": True, "msg": "The process of the task ended without a result."}
    result: dict[str, Any] = json.loads(text)
    return result


def together(results: Iterable[tuple[str, Mapping[str, Any]]]) -> Result:
    """One result of all hosts: lists joined, and every failure in the message. ``results``: host, result."""
    rows = list(results)
    clients, changes, warnings = (
        [one for _host, result in rows for one in result.get(key) or ()] for key in ("clients", "changes", "warnings")
    )
    # A result without rows of applications shows nothing: its item was skipped, or did not run this module.
    failed = [
        (host, result)
        for host, result in rows
        if result.get("failed") or result.get("unreachable") or result.get("clients") is None
    ]
    return Result(
        outcomes=[_outcome(change) for change in changes],
        extra={"clients": clients, "failed_hosts": [host for host, _result in failed]},
        warnings=[str(text) for text in warnings],
        failure=_failure(failed) if failed else None,
    )


def _outcome(row: Mapping[str, Any]) -> Outcome:
    change = Change(*(row[key] for key in ("kind", "name", "action", "before", "after")))
    return Outcome(change, row["status"], row["error"])


def _failure(failed: Sequence[tuple[str, Mapping[str, Any]]]) -> DrError:
    errors = [_error(host, result) for host, result in failed]
    if len(errors) == 1:
        return errors[0]
    texts = [f"Host {host}: {error.message}" for (host, _result), error in zip(failed, errors, strict=True)]
    return DrError(errors[0].code, " ".join(texts), errors[0].hint, errors[0].endpoint)


def _error(host: str, result: Mapping[str, Any]) -> DrError:
    error = result.get("error")
    if error:
        return DrError(error["code"], error["message"], error["hint"], error["endpoint"])
    text = str(result.get("msg") or f"Host {host} returned no result of its applications.")
    if result.get("unreachable"):
        return DrError(
            "host_unreachable",
            f"Host {host} is unreachable: {text}",
            "Start the same playbook again once Ansible can connect to the host.",
        )
    return DrError("client_failed", text, "Read the log of that application, then start the same playbook again.")
