# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The endpoint file of a client: its cluster, and the topics to read and write."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from ledger.errors import LedgerError


@dataclass(frozen=True)
class Endpoint:
    """Content of the endpoint file, read once at the start. A running client never moves."""

    bootstrap_servers: str
    alias: str = ""
    topics: tuple[str, ...] = ()
    subscribe: tuple[str, ...] = ()
    client_config: dict[str, object] = field(default_factory=dict)


def parse_endpoint(text: str, source: str = "endpoint file") -> Endpoint:
    """Parse KEY=VALUE lines, quoted as in a shell. Ignores comments and unknown keys."""
    values = {}
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        key, equals, value = line.partition("=")
        if not equals:
            raise LedgerError(f"{source}, line {number}: found {line!r}, wanted KEY=VALUE.")
        if key.startswith("KAFKA_"):
            values[key.strip()] = _unquoted(value, f"{source}, line {number}")
    bootstrap = values.get("KAFKA_BOOTSTRAP_SERVERS", "")
    if not bootstrap:
        raise LedgerError(f"{source} has no KAFKA_BOOTSTRAP_SERVERS. Render it before you start the client.")
    topics = _names(values.get("KAFKA_TOPICS", ""))
    return Endpoint(
        bootstrap_servers=bootstrap,
        alias=values.get("KAFKA_ALIAS", ""),
        topics=topics,
        subscribe=_names(values.get("KAFKA_SUBSCRIBE", "")) or topics,
        client_config=_client_config(values.get("KAFKA_CLIENT_CONFIG", ""), source),
    )


def read_endpoint(path: Path) -> Endpoint:
    try:
        text = path.read_text()
    except OSError as error:
        raise LedgerError(f"Endpoint file {path} cannot be read: {error.strerror}. Render it first.") from error
    return parse_endpoint(text, f"Endpoint file {path}")


def covers(subscribed: Iterable[str], topic: str) -> bool:
    """Whether a subscription of names, and patterns that start with ``^``, includes this topic."""
    return any(re.match(name, topic) if name.startswith("^") else name == topic for name in subscribed)


def _unquoted(value: str, where: str) -> str:
    """The value as a POSIX shell and systemd read it. Errors never contain it, because it may hold a password."""
    try:
        words = shlex.split(value)
    except ValueError as error:
        raise LedgerError(f"{where}: the value is not quoted as in a shell ({error}).") from error
    if len(words) > 1:
        raise LedgerError(f"{where}: found {len(words)} words, wanted one. Quote a value that contains blanks.")
    return "".join(words)


def _names(value: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in value.split(",") if name.strip())


def _client_config(value: str, source: str) -> dict[str, object]:
    try:
        found = json.loads(value or "{}")
    except ValueError as error:
        raise LedgerError(f"{source}: KAFKA_CLIENT_CONFIG is not JSON ({error}).") from error
    if not isinstance(found, dict):
        raise LedgerError(f"{source}: KAFKA_CLIENT_CONFIG is {found!r}, wanted an object of librdkafka properties.")
    return found
