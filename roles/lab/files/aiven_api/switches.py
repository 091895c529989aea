# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Switches and faults for tests (PUT /emulator/switches). Aiven's API has no such endpoint."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .errors import ApiError

FAULTS = ("conflict", "limited", "error", "unavailable", "html", "html_error", "not_json", "redirect", "dropped")


@dataclass
class Fault:
    """A fault of requests that match ``method`` and ``path`` (a search): ``times`` of them or, with null, all."""

    kind: str
    times: int | None = 1
    method: str | None = None
    path: str = ""
    #: Retry-After header of ``limited``, in seconds.
    retry_after: int | None = None
    #: Whether the request takes effect and only its response is lost.
    after: bool = False

    def __post_init__(self) -> None:
        if self.kind not in FAULTS:
            raise ApiError(400, f"Unknown fault '{self.kind}', known: {', '.join(FAULTS)}.")
        re.compile(self.path)

    def meets(self, method: str, path: str) -> bool:
        return self.times != 0 and self.method in (None, method) and re.search(self.path, path) is not None


@dataclass
class Switches:
    """Times in seconds."""

    #: From a write until the workers use it. The API returns the new values at once.
    effect_seconds: float = 0.5
    #: How long no flow runs after a change of the service's settings.
    restart_seconds: float = 1.0
    #: Fields of a flow that a write drops without an error.
    dropped_fields: list[str] = field(default_factory=list)
    #: Whether the list of integrations contains their ``user_config``.
    listed_config: bool = True
    #: From a change of an ACL until the brokers apply it. The API lists the change at once.
    acl_effect_seconds: float = 0.5
    #: Whether the Kafka service has Kafka-native ACLs.
    native_acls: bool = True
    faults: list[Fault] = field(default_factory=list)

    def changed(self, values: Mapping[str, Any]) -> Switches:
        """A copy with these values. Raises ApiError for an unknown name, so that typos fail a test."""
        values = dict(values)
        try:
            if "faults" in values:
                values["faults"] = [Fault(**item) for item in values["faults"]]
            return dataclasses.replace(self, **values)
        except (TypeError, re.error) as error:
            raise ApiError(400, f"Switches: {error}.") from error

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)
