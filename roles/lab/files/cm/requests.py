# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A parsed request for the API resources."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .errors import ApiError

# Patterns of paths: a cluster, a service, a role config group.
C = r"/clusters/([^/]+)"
S = C + r"/services/([^/]+)"
G = S + r"/roleConfigGroups/([^/]+)"


@dataclass(frozen=True)
class Request:
    """``parts``: decoded names of the path. ``body``: parsed JSON, None without one. ``weak``: a read-only user."""

    parts: tuple[str, ...]
    query: dict[str, str]
    body: Any
    user: str
    weak: bool

    def full(self, default: str = "summary") -> bool:
        """Whether the full view is requested. The case of the value does not matter."""
        return self.query.get("view", default).lower() in ("full", "full_with_health_check_explanation")

    def items(self) -> list[Any]:
        return list((self.body or {}).get("items") or []) if isinstance(self.body, dict) else []


# Method, pattern of the path, handler.
Route = tuple[str, str, Callable[[Request], Any]]


def parse(body: bytes) -> Any:
    """Parse the body. Returns None for an empty one."""
    if not body.strip():
        return None
    try:
        return json.loads(body)
    except ValueError as error:
        raise ApiError(400, f"The body is not JSON: {error}.") from error
