# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Definitions of clients from DIR/clients.json."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from ledger.errors import LedgerError
from ledger.record import SHAPES, Form

ROLES = ("producer", "transactional", "consumer", "processor")
NAME = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True)
class Definition:
    """One client. All options except the role and the endpoint file have defaults."""

    name: str
    role: str
    endpoint_file: str
    # producers
    rate: float = 1000.0
    size: int = 200
    keys: int = 100
    shapes: tuple[str, ...] = ("plain",)  # by turns, see record.SHAPES
    headers: bool = False  # a repeated name, an empty value and a null in each record
    limit: int | None = None  # exits after this number of records
    max_in_flight: int = 10_000  # limits the records with an unknown outcome after a kill
    flush_seconds: float = 10.0
    transaction_size: int = 100
    abort_share: float = 0.0
    # consumers
    group: str | None = None
    members: int = 1
    reset: str = "error"
    assignment: str = "cooperative-sticky"
    session_ms: int = 10_000
    static: bool = False  # each member has a group.instance.id
    commit_ms: int = 200
    process_ms: float = 0.0
    limit_rate: float | None = None
    # processors
    output_topics: tuple[str, ...] = ()
    # librdkafka properties, which override those of the endpoint file
    config: Mapping[str, Any] = field(default_factory=dict)
    # user and file with USER=PASSWORD lines, for a cluster that requires a login
    user: str | None = None
    password_file: str | None = None

    def login(self) -> dict[str, str]:
        """librdkafka properties of the login. Read at each start, so that no other file holds a password."""
        if not self.user or not self.password_file:
            return {}
        try:
            lines = Path(self.password_file).read_text().splitlines()
        except OSError as error:
            raise LedgerError(
                f"Client {self.name!r}: {self.password_file} cannot be read: {error.strerror}."
            ) from error
        found = dict(line.split("=", 1) for line in lines if "=" in line)
        if self.user not in found:
            raise LedgerError(f"Client {self.name!r}: {self.password_file} has no line for the user {self.user!r}.")
        return {"sasl.username": self.user, "sasl.password": found[self.user]}

    @property
    def form(self) -> Form:
        """How its records look."""
        return Form(self.size, self.keys, self.shapes, self.headers)

    @property
    def consumer_group(self) -> str:
        return self.group or self.name

    @property
    def work_seconds(self) -> float:
        """Seconds of simulated work per record."""
        return max(self.process_ms / 1e3, 1 / self.limit_rate if self.limit_rate else 0.0)

    @property
    def member_count(self) -> int:
        return self.members if self.role in ("consumer", "processor") else 1


def define(name: str, options: Mapping[str, Any]) -> Definition:
    """Check the options of one client. Raises LedgerError with the client and the key."""
    if not NAME.fullmatch(name):
        raise LedgerError(f"Client {name!r}: a name consists of letters, digits, '-' and '_'.")
    known = {item.name for item in fields(Definition)} - {"name"}
    for key in options:
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            raise LedgerError(
                f"Client {name!r}: unknown key {key!r}" + (f", did you mean {near[0]!r}?" if near else ".")
            )
    for key in ("role", "endpoint_file"):
        if not options.get(key):
            raise LedgerError(f"Client {name!r}: {key!r} is missing.")
    lists = ("output_topics", "shapes")
    options = {key: tuple(value) if key in lists else value for key, value in options.items()}
    definition = Definition(name=name, **options)
    _refuse_wrong_values(definition)
    return definition


def read_definitions(folder: Path) -> dict[str, Definition]:
    path = folder / "clients.json"
    try:
        found = json.loads(path.read_text())["clients"]
        items = list(found.items())
    except OSError as error:
        raise LedgerError(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise LedgerError(f'{path} must be JSON of the form {{"clients": {{NAME: {{...}}}}}} ({error!r}).') from error
    return {name: define(name, options) for name, options in items}


def read_definition(folder: Path, name: str) -> Definition:
    found = read_definitions(folder)
    if name not in found:
        raise LedgerError(
            f"Client {name!r} is not in {folder / 'clients.json'}, which has {', '.join(found) or 'none'}."
        )
    return found[name]


def _refuse_wrong_values(client: Definition) -> None:
    wrong = {
        "role": client.role not in ROLES,
        "rate": not client.rate > 0,
        "size": client.size < 1,
        "keys": client.keys < 1,
        "shapes": not client.shapes or not set(client.shapes) <= set(SHAPES),
        "members": client.members < 1,
        "transaction_size": not 1 <= client.transaction_size <= 50_000,
        "abort_share": not 0 <= client.abort_share <= 1,
        "commit_ms": not 0 <= client.commit_ms <= 500,
        "process_ms": client.process_ms < 0,
        "limit_rate": client.limit_rate is not None and not client.limit_rate > 0,
        "reset": client.reset not in ("error", "earliest", "latest"),
        # one member only: the output ledger and the transactional id belong to one process
        "members of a processor": client.role == "processor" and client.members != 1,
    }
    for key, is_wrong in wrong.items():
        if is_wrong:
            value = getattr(client, key.split()[0])
            raise LedgerError(f"Client {client.name!r}: {key} is {value!r}, which is out of range.")
