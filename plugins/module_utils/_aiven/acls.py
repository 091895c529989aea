# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Kafka-native ACLs of one Kafka service at Aiven, through Aiven's API.

Aiven's authorizer for Kafka does not implement CreateAcls and DeleteAcls, so these ACLs are changed in the API only. A
DENY outranks each ALLOW, also one of Aiven's own ACLs.

Sources: aiven-client 4.18.0 (``service_kafka_native_acl_*``) for paths and fields; ``AivenAclAuthorizerV2`` in
Aiven-Open/auth-for-apache-kafka; Aiven's page "Manage access control lists".

Private to this collection: may change in any release.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

from .._core.changes import Change, Outcome
from .._core.errors import DrError
from .._core.resources.acl import Acl
from .._core.waiting import Bounds, wait_until
from .._http import quoted
from .._kafka.acls import describe, wait_for_broker
from .._kafka.client import Kafka
from .http import AivenTransport

__all__ = ["AivenAcls"]

# The API changes one ACL per request, and the applications are stopped meanwhile.
_AT_ONCE = 4
_FIELDS = ("id", "principal", "host", "resource_type", "resource_name", "pattern_type", "operation", "permission_type")


class AivenAcls:
    """See :class:`.._kafka.acls.AclStore`. ``kafka``: the cluster of the service."""

    # Each broker reads its ACLs from a file, by default every 10 s. How long Aiven takes to write it is unknown.
    effect_seconds: ClassVar[float] = 60.0

    def __init__(self, client: AivenTransport, project: str, service: str, kafka: Kafka) -> None:
        self._client, self._kafka = client, kafka
        self._path = f"{quoted('project', project, 'service', service)}/kafka/acl"
        self._ids: dict[Acl, str] = {}
        self._mirrored = False

    def describe(self, principals: Sequence[str]) -> set[Acl]:
        """Return the Kafka-native ACLs of ``principals``. Those of Aiven's own kind are no part of the result."""
        return {acl for acl in self._read() if acl.principal in principals}

    def denied(self) -> set[Acl]:
        """Return all DENY ACLs on topics, of every principal."""
        return {acl for acl in self._read() if (acl.permission, acl.resource_type) == ("deny", "topic")}

    def apply(self, changes: Sequence[Change], check: bool) -> list[Outcome]:
        """Send one request per change, several at a time. After a refusal, the rest is not sent."""
        if check:
            return [Outcome(change, "planned") for change in changes]
        if not changes:
            return []
        self._mirrored = self._kafka_lists()
        ids, refused = self._ids, list[str]()

        def send(change: Change) -> Outcome:
            if not refused:
                try:
                    self._send(change, ids)
                    return Outcome(change, "done")
                except DrError as error:
                    if not error.code.startswith("aiven_"):
                        raise
                    refused.append(error.sentence())
            return Outcome(change, "failed", refused[0])

        with ThreadPoolExecutor(_AT_ONCE) as pool:
            return list(pool.map(send, changes))

    def wait(self, outcomes: Iterable[Outcome], bounds: Bounds) -> DrError | None:
        """Wait until the API lists the changes and, if Kafka lists the ACLs of the API, until Kafka does too."""
        done = [outcome for outcome in outcomes if outcome.status == "done"]
        if not done:
            return None
        try:
            waited = wait_until(lambda: self._pending(done), lambda left: not left, bounds, progress=len)
        except DrError as error:
            return error
        if not waited.done:
            return DrError(
                "acl_not_shown",
                f"Aiven's API does not list {len(waited.state)} changed ACLs after {waited.seconds:.1f} s: "
                f"{waited.state[0].name}.",
                "Start the playbook again.",
                self._client.url,
            )
        late = wait_for_broker(self._kafka, done, bounds) if self._mirrored else None
        # An empty list is proven with DeleteAcls, which Aiven's authorizer does not implement.
        return late if late is not None and late.code == "acl_not_shown" else None

    def is_refusal(self, error: DrError) -> bool:
        """True for each error of the API, and if its ACLs do not take effect."""
        return error.code.startswith("aiven_") or error.code in ("acl_refused", "acl_not_shown")

    def _pending(self, done: Iterable[Outcome]) -> list[Change]:
        listed = self._read()
        changes = [outcome.change for outcome in done]
        return [change for change in changes if (_acl_of(change) in listed) != (change.after is not None)]

    def _kafka_lists(self) -> bool:
        """Whether Kafka lists an ACL that the API lists. If it may not or lists none, it shows no change either."""
        try:
            return bool(self._ids) and not self._ids.keys().isdisjoint(describe(self._kafka, None))
        except DrError:
            return False

    def _send(self, change: Change, ids: Mapping[Acl, str]) -> None:
        acl = _acl_of(change)
        try:
            if change.after is not None:
                self._client.call("POST", self._path, _fields(acl))
            else:
                self._client.call("DELETE", f"{self._path}{quoted(ids[acl])}")
        except DrError:
            # An identical ACL exists, another controller deleted it, or the response was lost. The list decides.
            if (acl in self._read()) != (change.after is not None):
                raise

    def _read(self) -> set[Acl]:
        rows = self._client.read(self._path, "kafka_acl", list)
        if not all(isinstance(row, Mapping) and all(isinstance(row.get(key), str) for key in _FIELDS) for row in rows):
            raise self._client.unexpected(self._path, f"ACLs with {', '.join(_FIELDS)}")
        self._ids = {_acl(row): row["id"] for row in rows}
        return set(self._ids)


def _acl_of(change: Change) -> Acl:
    return Acl(**(change.after or change.before or {}))


def _acl(row: Mapping[str, Any]) -> Acl:
    return Acl(
        principal=row["principal"],
        resource_type=_snake(row["resource_type"]),
        name=row["resource_name"],
        operation=_snake(row["operation"]),
        pattern_type=row["pattern_type"].lower(),
        permission=row["permission_type"].lower(),
        host=row["host"],
    )


def _fields(acl: Acl) -> dict[str, str]:
    return {
        "principal": acl.principal,
        "host": acl.host,
        "resource_type": _camel(acl.resource_type),
        "resource_name": acl.name,
        "pattern_type": acl.pattern_type.upper(),
        "operation": _camel(acl.operation),
        "permission_type": acl.permission.upper(),
    }


def _snake(text: str) -> str:
    """``TransactionalId`` becomes ``transactional_id``."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", text).lower()


def _camel(text: str) -> str:
    return "".join(word.capitalize() for word in text.split("_"))
