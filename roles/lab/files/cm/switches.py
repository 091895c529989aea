# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Switches and faults for tests (PUT /emulator/switches). Cloudera Manager has no such endpoint."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass, field
from typing import Any

from .errors import ApiError

FAULTS = ("error", "bad_gateway", "unavailable", "dropped", "login_page", "redirect")


@dataclass
class Fault:
    """A fault of requests that match ``method`` and ``path`` (a search): ``times`` of them or, with null, all."""

    kind: str
    times: int | None = 1
    method: str | None = None
    path: str = ""
    #: Retry-After header of `unavailable`, in seconds.
    retry_after: int | None = None
    #: Base address for `redirect`, to which the path of the request is appended.
    to: str = ""
    #: Whether the request takes effect and only its response is lost.
    after: bool = False

    def __post_init__(self) -> None:
        if self.kind not in FAULTS:
            raise ApiError(400, f"Unknown fault '{self.kind}', known: {', '.join(FAULTS)}.")
        re.compile(self.path)

    def meets(self, method: str, path: str) -> bool:
        return self.times != 0 and self.method in (None, method) and re.search(self.path, path) is not None


@dataclass
class Control:
    """Switches of srm-control, which it reads from a file beside the deployed client configuration."""

    wording: str = "whitelist"
    noise: bool = False
    #: False: the tool exits with 0 and changes nothing.
    apply: bool = True
    #: Whether the tool knows a topic only after the refresh interval of topics.
    discovery: bool = False
    #: 0: --list works. Otherwise it exits with this code, as an unknown version might.
    list_rc: int = 0


@dataclass
class Switches:
    """Times in seconds."""

    maximum_version: int = 54
    runtime: str = "7.3.2"
    #: Prefix of the paths. "" is /api/vNN; "/gateway/cdp-proxy-api/cm-api" is Knox.
    prefix: str = ""
    command_seconds: float = 0.3
    #: Delay between the start of a command and the response to its POST.
    answer_seconds: float = 0.0
    #: Delay from a change until STALE is visible; from the end of a restart or deployment until FRESH is visible.
    stale_seconds: float = 0.0
    fresh_seconds: float = 0.0
    session_seconds: float | None = None
    post_status: int = 200
    put_status: int = 200
    synchronous: bool = False
    #: success, failure or endless
    restart: str = "success"
    rolling_restart: bool = True
    #: Whether role commands that name several roles fail for the last one.
    role_commands_fail: bool = False
    #: service or driver: the level of the property of reverse checkpointing.
    reverse_level: str = "service"
    #: reject (400) or accept (validationState ERROR) a badly typed value.
    bad_values: str = "reject"
    absent_account_status: int = 404
    faults: list[Fault] = field(default_factory=list)
    control: Control = field(default_factory=Control)

    def changed(self, values: dict[str, Any]) -> Switches:
        """A copy with these values. Raises ApiError for an unknown name or a wrong type, so that typos fail a test."""
        values = dict(values)
        try:
            if "faults" in values:
                values["faults"] = [item if isinstance(item, Fault) else Fault(**item) for item in values["faults"]]
            if "control" in values:
                values["control"] = _replace(self.control, dict(values["control"]))
            changed: Switches = _replace(self, values)
            return changed
        except (TypeError, ValueError, re.error) as error:
            raise ApiError(400, f"Switches: {error}.") from error

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


def _replace(item: Any, values: dict[str, Any]) -> Any:
    for name, value in values.items():
        kind = {entry.name: entry.type for entry in dataclasses.fields(item)}.get(name)
        if kind is None:
            raise ValueError(f"unknown name '{name}'")
        plain = {"int": int, "str": str, "bool": bool}.get(str(kind))
        if plain and (not isinstance(value, plain) or (plain is int and isinstance(value, bool))):
            raise ValueError(f"'{name}' wants {kind}, found {value!r}")
    return dataclasses.replace(item, **values)
