# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stop or start several workloads at the same time.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from .._core.changes import Outcome
from .._core.errors import DrError
from .._core.waiting import Bounds
from .._module import Result
from .access import access_of
from .api import KubernetesApi
from .workloads import Endpoint, Workload

__all__ = ["control"]

_SLEEP = 0.1


@dataclass
class _Row:
    """What happened to one application."""

    name: str
    outcomes: list[Outcome] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0
    error: DrError | None = None

    def shown(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "changed": bool(self.outcomes),
            "seconds": round(self.seconds, 3),
            "error": None if self.error is None else self.error.sentence(),
        }


def control(
    workloads: Sequence[Mapping[str, Any]], starts: bool, timeout: float, request_timeout: float, check: bool
) -> Result:
    """Handle all workloads at the same time. A failed one does not prevent the others.

    ``workloads``: items of the module's option. ``timeout``: seconds until a workload must be stopped or ready.
    """
    bounds = Bounds(timeout, _SLEEP)
    with ThreadPoolExecutor(max_workers=max(1, min(16, len(workloads)))) as pool:
        rows = list(pool.map(lambda workload: _handle(workload, starts, bounds, request_timeout, check), workloads))
    result = Result(
        outcomes=[outcome for row in rows for outcome in row.outcomes],
        extra={"clients": [row.shown() for row in rows]},
        requests=[request for row in rows for request in row.requests],
    )
    failed = [(row.name, row.error) for row in rows if row.error is not None]
    if failed:
        names = ", ".join(name for name, _error in failed)
        first = failed[0][1]
        text = first.message if len(failed) == 1 else f"{len(failed)} applications failed ({names}): {first.message}"
        result.failure = DrError(first.code, text, first.hint, first.endpoint)
    return result


def _handle(given: Mapping[str, Any], starts: bool, bounds: Bounds, request_timeout: float, check: bool) -> _Row:
    began = time.monotonic()
    row = _Row(str(given["client"]))
    try:
        api = KubernetesApi(access_of(given), request_timeout)
        row.requests = api.requests
        workload = Workload(api, given["namespace"], given["kind"], given["name"], given["gitops_suspended"])
        endpoint = None
        if given.get("endpoint_name") and given.get("content") is not None:
            endpoint = Endpoint(given["endpoint_kind"], given["endpoint_name"], given["endpoint_key"], given["content"])
        row.outcomes = workload.outcomes
        if starts:
            workload.start(endpoint, bounds, check)
        else:
            workload.stop(bounds, check)
    except DrError as error:
        row.error = error
    row.seconds = time.monotonic() - began
    return row
