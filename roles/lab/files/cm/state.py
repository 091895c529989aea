# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of an emulator: one JSON file that each change replaces atomically, so that a kill loses nothing."""

from __future__ import annotations

import dataclasses
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab.files import read_json, to_json, write_atomically

from .switches import Switches


@dataclass
class Group:
    """A role config group. ``config`` holds only values that were set."""

    name: str
    role_type: str
    config: dict[str, str] = field(default_factory=dict)


@dataclass
class Role:
    name: str
    type: str
    group: str
    host: str
    state: str = "STARTED"


@dataclass
class Service:
    """``running`` and ``deployed``: all effective values at the last start, and at the last deployment."""

    cluster: str
    name: str
    type: str
    site: str = ""
    state: str = "STARTED"
    config: dict[str, str] = field(default_factory=dict)
    groups: dict[str, Group] = field(default_factory=dict)
    roles: list[Role] = field(default_factory=list)
    running: dict[str, Any] = field(default_factory=dict)
    deployed: dict[str, Any] = field(default_factory=dict)
    #: Epoch seconds of the last start, from which the timers of the engine count.
    started: float = 0.0
    #: Visible staleness: [epoch seconds from which it is visible, status]. The last due entry applies.
    staleness: dict[str, list[list[Any]]] = field(default_factory=dict)


@dataclass
class Command:
    """``success`` is None while the command runs. Times are epoch seconds."""

    id: int
    name: str
    cluster: str | None = None
    service: str | None = None
    role: str | None = None
    parent: int | None = None
    children: list[int] = field(default_factory=list)
    args: dict[str, Any] = field(default_factory=dict)
    started: float = 0.0
    ended: float | None = None
    success: bool | None = None
    message: str | None = None

    @property
    def active(self) -> bool:
        return self.ended is None


@dataclass
class State:
    services: list[Service] = field(default_factory=list)
    accounts: dict[str, dict[str, Any]] = field(default_factory=dict)
    commands: dict[int, Command] = field(default_factory=dict)
    audits: list[dict[str, Any]] = field(default_factory=list)
    next_id: int = 100
    switches: Switches = field(default_factory=Switches)


class Store:
    """The stored state. Use ``state`` only inside ``with store.lock`` or ``with store.change()``."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lock = threading.RLock()
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.is_new = not path.exists()
        self.state = State() if self.is_new else from_json(read_json(path))

    @contextmanager
    def change(self) -> Iterator[State]:
        """Change the state in a block. If the block fails, nothing is written to disk."""
        with self.lock:
            before = json.dumps(self._document())
            try:
                yield self.state
            except BaseException:
                self.state = from_json(json.loads(before))
                raise
            write_atomically(self.path, to_json(self._document()))

    def _document(self) -> dict[str, Any]:
        return dataclasses.asdict(self.state)


def from_json(document: dict[str, Any]) -> State:
    """State from a document of ``Store``. JSON has converted the numbers of commands to text."""
    services = [
        Service(
            **{
                **item,
                "groups": {name: Group(**group) for name, group in item["groups"].items()},
                "roles": [Role(**role) for role in item["roles"]],
            }
        )
        for item in document["services"]
    ]
    return State(
        services=services,
        accounts=document["accounts"],
        commands={int(number): Command(**item) for number, item in document["commands"].items()},
        audits=document["audits"],
        next_id=document["next_id"],
        switches=Switches().changed(document["switches"]),
    )
