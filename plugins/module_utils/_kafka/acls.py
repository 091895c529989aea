# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read and change the ACLs of one cluster with few requests, and the contract of a store of ACLs.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from .._core.changes import Change, Outcome
from .._core.errors import DrError
from .._core.resources.acl import CLUSTER_NAME, Acl
from .._core.waiting import Bounds, wait_until
from .brokers import describe_cluster
from .client import Kafka, missing_right

with suppress(ImportError):  # Kafka() reports the missing library before anything here runs
    from confluent_kafka import KafkaError, KafkaException
    from confluent_kafka.admin import (
        AclBinding,
        AclBindingFilter,
        AclOperation,
        AclPermissionType,
        ResourcePatternType,
        ResourceType,
    )

__all__ = ["AclStore", "KafkaAcls", "apply", "denied", "describe", "wait_for_broker"]

# The KRaft controller refuses a request that writes more than 10,000 metadata records; an ACL costs one.
_BATCH = 5000
# librdkafka calls the resource type CLUSTER "BROKER", its name in configurations.
_LIBRARY_TYPES = {"cluster": "BROKER"}
_LISTING = "list the ACLs"
# A broker that refuses one ACL with one of these error codes refuses all of them.
_REFUSES_ALL = ("no_authorizer", "not_authorized")
_TYPES = {name.lower(): kind for kind, name in _LIBRARY_TYPES.items()}
# How a cluster refuses ACLs over Kafka: no authorizer, missing right, an authorizer that does not implement it.
_REFUSALS = (*_REFUSES_ALL, "acl_refused", "kafka_error")


class AclStore(Protocol):
    """Where the ACLs of one cluster are read and changed."""

    #: Seconds that brokers may need to apply a change after :meth:`wait` has returned. 0: they have applied it.
    effect_seconds: ClassVar[float]

    def describe(self, principals: Sequence[str]) -> set[Acl]:
        """Return all ACLs of ``principals``."""

    def denied(self) -> set[Acl]:
        """Return all DENY ACLs on topics, of every principal."""

    def apply(self, changes: Sequence[Change], check: bool) -> list[Outcome]:
        """Carry out the changes of a plan. A failed change is ``failed`` in the outcomes.

        Raises if the store refuses every change.
        """

    def wait(self, outcomes: Iterable[Outcome], bounds: Bounds) -> DrError | None:
        """Wait until the store reports all changes that were carried out. Return the error if it does not in time."""

    def is_refusal(self, error: DrError) -> bool:
        """True if ``error`` means that the cluster does not take ACLs from this store. A fence is then impossible."""


@dataclass(frozen=True)
class KafkaAcls:
    """The ACLs of a cluster over Kafka's own protocol, see :class:`AclStore`."""

    effect_seconds: ClassVar[float] = 0.0

    kafka: Kafka
    #: True: the cluster may refuse ACLs over Kafka although it has an authorizer.
    may_refuse: bool = False

    def describe(self, principals: Sequence[str]) -> set[Acl]:
        """See :func:`describe`."""
        return describe(self.kafka, principals)

    def denied(self) -> set[Acl]:
        """See :func:`denied`."""
        return denied(self.kafka)

    def apply(self, changes: Sequence[Change], check: bool) -> list[Outcome]:
        """See :func:`apply`."""
        return apply(self.kafka, changes, check)

    def wait(self, outcomes: Iterable[Outcome], bounds: Bounds) -> DrError | None:
        """See :func:`wait_for_broker`."""
        return wait_for_broker(self.kafka, outcomes, bounds)

    def is_refusal(self, error: DrError) -> bool:
        """True without an authorizer and, if the cluster ``may_refuse``, for each refusal."""
        return error.code in (_REFUSALS if self.may_refuse else _REFUSALS[:1])


def describe(kafka: Kafka, principals: Sequence[str] | None) -> set[Acl]:
    """Return all ACLs of ``principals`` (None: of every principal).

    ACLs for resource types that librdkafka does not know are left out.
    """
    asked: Sequence[str | None] = [None] if principals is None else principals
    return _matching(kafka, [_filter(ResourceType.ANY, principal, AclPermissionType.ANY) for principal in asked])


def denied(kafka: Kafka) -> set[Acl]:
    """Return all DENY ACLs on topics, of every principal. One request, whose response omits the ALLOW ACLs."""
    return _matching(kafka, [_filter(ResourceType.TOPIC, None, AclPermissionType.DENY)])


def _filter(kind: Any, principal: Any, permission: Any) -> Any:
    any_text: Any = None  # valid, but the library's type hints do not allow it
    place = (kind, any_text, ResourcePatternType.ANY)
    return AclBindingFilter(*place, principal, any_text, AclOperation.ANY, permission)


def _matching(kafka: Kafka, filters: Sequence[Any]) -> set[Acl]:
    kafka.note_request("describe_acls", filters=len(filters))

    def read() -> list[Any]:
        futures = [kafka.admin.describe_acls(acl_filter, request_timeout=kafka.timeout) for acl_filter in filters]
        return [binding for future in futures for binding in _settle(kafka, future, _LISTING)]

    bindings = kafka.patiently(read)
    if filters and not bindings:
        _prove_that_it_was_sent(kafka)
    return {_acl(binding) for binding in bindings if _is_known(binding)}


def _prove_that_it_was_sent(kafka: Kafka) -> None:
    """Raise if the broker refused to list ACLs.

    confluent-kafka 2.16 returns an empty list for a refused describe_acls, which would mean "no ACLs exist". It does
    report errors of deletions, so a deletion that matches nothing shows whether the cluster has an authorizer.
    """
    kafka.note_request("delete_acls", acls=0)
    nothing = AclBindingFilter(
        ResourceType.TOPIC,
        "kafka-dr.no-such-topic",
        ResourcePatternType.LITERAL,
        "KafkaDr:no-such-principal",
        "127.0.0.1",
        AclOperation.READ,
        AclPermissionType.DENY,
    )
    try:
        for future in kafka.admin.delete_acls([nothing], request_timeout=kafka.timeout).values():
            _settle(kafka, future, "check whether the cluster has an authorizer")
        return
    except DrError as error:
        if error.code != "not_authorized":
            raise
    # The principal may not change ACLs. The authorized operations show whether it may read them.
    if AclOperation.DESCRIBE.name not in describe_cluster(kafka, operations=True)["operations"]:
        raise _refused(kafka, _LISTING)


def _is_known(binding: Any) -> bool:
    """False for types and operations that librdkafka reports as UNKNOWN, because they are newer than itself."""
    return "UNKNOWN" not in (binding.restype.name, binding.operation.name)


def _acl(binding: Any) -> Acl:
    kind = binding.restype.name.lower()
    return Acl(
        principal=binding.principal,
        resource_type=_TYPES.get(kind, kind),
        name=binding.name,
        operation=binding.operation.name.lower(),
        pattern_type=binding.resource_pattern_type.name.lower(),
        permission=binding.permission_type.name.lower(),
        host=binding.host,
    )


def apply(kafka: Kafka, changes: Sequence[Change], check: bool = False) -> list[Outcome]:
    """Carry out the changes of a plan, creations first. A failed change does not prevent the others.

    Raises ``no_authorizer`` or ``not_authorized`` if the cluster refuses every change.
    """
    if check:
        return [Outcome(change, "planned") for change in changes]
    outcomes: list[Outcome] = []
    for action, send in (("create", _create), ("delete", _delete)):
        listed = [change for change in changes if change.action == action]
        for start in range(0, len(listed), _BATCH):
            batch = listed[start : start + _BATCH]
            kafka.note_request(f"{action}_acls", acls=len(batch))
            futures = send(kafka, batch)
            outcomes += [_outcome(kafka, change, future) for change, future in zip(batch, futures, strict=True)]
    return outcomes


def _outcome(kafka: Kafka, change: Change, future: Future[Any]) -> Outcome:
    try:
        _settle(kafka, future, f"{change.action} an ACL")
    except DrError as error:
        if error.code in _REFUSES_ALL:
            raise
        return Outcome(change, "failed", error.sentence())
    return Outcome(change, "done")


def _create(kafka: Kafka, changes: Sequence[Change]) -> list[Future[Any]]:
    bindings = [AclBinding(*_fields(change.after or {})) for change in changes]
    futures = kafka.admin.create_acls(bindings, request_timeout=kafka.timeout)
    return [futures[binding] for binding in bindings]


def _delete(kafka: Kafka, changes: Sequence[Change]) -> list[Future[Any]]:
    """Each filter sets every field, so it matches exactly one ACL. A literal "*" is a plain name here."""
    filters = [AclBindingFilter(*_fields(change.before or {})) for change in changes]
    futures = kafka.admin.delete_acls(filters, request_timeout=kafka.timeout)
    return [futures[acl_filter] for acl_filter in filters]


def _fields(parts: Any) -> tuple[Any, ...]:
    kind = _LIBRARY_TYPES.get(parts["resource_type"], parts["resource_type"].upper())
    return (
        ResourceType[kind],
        parts["name"],
        ResourcePatternType[parts["pattern_type"].upper()],
        parts["principal"],
        parts["host"],
        AclOperation[parts["operation"].upper()],
        AclPermissionType[parts["permission"].upper()],
    )


def _unsettled(kafka: Kafka, changes: Iterable[Change]) -> list[Change]:
    """Return the changes that are not visible yet: a broker learns of a change from the controller a moment later."""
    listed = list(changes)
    parts = [Acl(**(change.after or change.before or {})) for change in listed]
    current = describe(kafka, sorted({acl.principal for acl in parts}))
    pairs = zip(listed, parts, strict=True)
    return [change for change, acl in pairs if (acl in current) != (change.after is not None)]


def wait_for_broker(kafka: Kafka, outcomes: Iterable[Outcome], bounds: Bounds) -> DrError | None:
    """Wait until the broker reports all changes that were carried out. Return the error if it does not in time."""
    done = [outcome.change for outcome in outcomes if outcome.status == "done"]
    if not done:
        return None
    try:
        waited = wait_until(lambda: _unsettled(kafka, done), lambda left: not left, bounds, progress=len)
    except DrError as error:
        # The outcomes list the changes that were carried out. A missing response must not hide them.
        return error
    if waited.done:
        return None
    return DrError(
        "acl_not_shown",
        f"The broker does not report {len(waited.state)} changed ACLs after {waited.seconds:.1f} s: "
        f"{waited.state[0].name}.",
        "Check that this broker keeps up with the controller, then start the same task again.",
        kafka.bootstrap_servers,
    )


def _settle(kafka: Kafka, future: Future[Any], doing: str) -> Any:
    try:
        return kafka.result(future)
    except KafkaException as error:
        code = error.args[0].code() if error.args else None
        if code == KafkaError.SECURITY_DISABLED:
            raise DrError(
                "no_authorizer",
                f'Kafka at "{kafka.bootstrap_servers}" has no authorizer: every client may do everything, '
                "and ACLs do not exist.",
                "Set authorizer.class.name on brokers and controllers (with KRaft "
                "org.apache.kafka.metadata.authorizer.StandardAuthorizer) and restart them, or leave this task out.",
                kafka.bootstrap_servers,
            ) from error
        if code == KafkaError.CLUSTER_AUTHORIZATION_FAILED:
            # Only reading works without ALTER.
            raise _refused(kafka, doing, "describe" if doing == _LISTING else "alter") from error
        raise kafka.explain(error, doing) from error


def _refused(kafka: Kafka, doing: str, operation: str = "describe") -> DrError:
    return DrError(
        "not_authorized",
        f'Kafka at "{kafka.bootstrap_servers}" refused: {doing}.',
        missing_right([("cluster", CLUSTER_NAME, operation)], kafka.principal, kafka.bootstrap_servers),
        kafka.bootstrap_servers,
    )
