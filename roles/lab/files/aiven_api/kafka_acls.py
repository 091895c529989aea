# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Kafka-native ACLs of an emulated Kafka service. The brokers apply a change later than the API reports it."""

from __future__ import annotations

import hashlib
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from .errors import ApiError

# Sources: the choices of aiven-client 4.18.0 and of the Terraform provider.
_OPERATIONS = "All Alter AlterConfigs ClusterAction Create CreateTokens Delete Describe DescribeConfigs DescribeTokens"
_CHOICES = {
    "resource_type": ("Cluster", "Group", "Topic", "TransactionalId", "User"),
    "pattern_type": ("LITERAL", "PREFIXED"),
    "operation": (*_OPERATIONS.split(), "IdempotentWrite", "Read", "Write"),
    "permission_type": ("ALLOW", "DENY"),
}
# Until a change is repeated that the brokers have refused.
_AGAIN_SECONDS = 0.5


@dataclass(frozen=True, order=True)
class Entry:
    """One ACL, in the words of the API."""

    principal: str
    resource_type: str
    resource_name: str
    pattern_type: str
    operation: str
    permission_type: str
    host: str = "*"

    @property
    def key(self) -> str:
        """Its id. Derived from the ACL, so that it survives a kill."""
        return f"acl{hashlib.sha256(repr(self).encode()).hexdigest()[:11]}"

    def row(self) -> dict[str, str]:
        return {"id": self.key, **asdict(self)}


class Broker(Protocol):
    """The cluster that applies ACLs. Raises ApiError if it does not respond."""

    def entries(self) -> set[Entry]: ...

    def create(self, entry: Entry) -> None: ...

    def delete(self, entry: Entry) -> None: ...


class NoBroker:
    """For a run without Kafka."""

    def __init__(self) -> None:
        self.applied: set[Entry] = set()

    def entries(self) -> set[Entry]:
        return set(self.applied)

    def create(self, entry: Entry) -> None:
        self.applied.add(entry)

    def delete(self, entry: Entry) -> None:
        self.applied.discard(entry)


class KafkaService:
    """A Kafka service. ``effect_seconds``: time from a change until the brokers apply it. A kill loses such changes."""

    def __init__(self, name: str, broker: Broker, effect_seconds: Callable[[], float]) -> None:
        self.name, self._broker, self._effect_seconds = name, broker, effect_seconds
        self._change = threading.Condition()
        #: When it is due (``time.monotonic``), the ACL, and whether it will exist.
        self._pending: list[tuple[float, Entry, bool]] = []
        threading.Thread(target=self._work, daemon=True, name=f"acls-{name}").start()

    def rows(self) -> list[dict[str, str]]:
        with self._change:
            return [entry.row() for entry in sorted(self._known())]

    def add(self, body: Any) -> dict[str, str]:
        entry = _parsed(body)
        with self._change:
            if entry in self._known():
                raise ApiError(409, "Identical ACL entry already exists")
            self._later(entry, True)
        return entry.row()

    def delete(self, key: str) -> None:
        with self._change:
            entries = {entry.key: entry for entry in self._known()}
            if key not in entries:
                raise ApiError(404, "ACL does not exist")
            self._later(entries[key], False)

    def _known(self) -> set[Entry]:
        """What the API lists: the ACLs of the brokers after all changes."""
        entries = self._broker.entries()
        for _due, entry, exists in self._pending:
            (entries.add if exists else entries.discard)(entry)
        return entries

    def _later(self, entry: Entry, exists: bool) -> None:
        self._pending.append((time.monotonic() + self._effect_seconds(), entry, exists))
        self._change.notify_all()

    def _work(self) -> None:
        while True:
            with self._change:
                while not self._pending or self._pending[0][0] > time.monotonic():
                    self._change.wait(self._pending[0][0] - time.monotonic() if self._pending else None)
                _due, entry, exists = self._pending[0]
                try:
                    (self._broker.create if exists else self._broker.delete)(entry)
                    del self._pending[0]
                except ApiError:
                    self._change.wait(_AGAIN_SECONDS)


def _parsed(body: Any) -> Entry:
    given = {"host": "*", **(body if isinstance(body, Mapping) else {})}
    names = Entry.__dataclass_fields__
    if set(given) != set(names) or not all(isinstance(value, str) and value for value in given.values()):
        raise ApiError(400, f"Invalid input: wanted texts for {', '.join(names)}.")
    wrong = [name for name, known in _CHOICES.items() if given[name] not in known]
    if wrong or not re.fullmatch(r"\w+:.+", given["principal"]):
        raise ApiError(400, f"Invalid input for {wrong[0] if wrong else 'principal'}.")
    return Entry(**given)
