# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fence: DENY ACLs that keep an application's principals from writing where it no longer lives (R23).

A DENY ACL outranks every ALLOW ACL of its principal, except for super users, and brokers do not report who these are.
So existing ACLs are no proof: this code logs in as the principal and requests its authorized operations. The fence's
ACLs are identified by their form alone, so that another run finds those of a killed run. The engine provides the store
of ACLs, because some clusters take them only from a management system.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from .._core.changes import Change, Outcome
from .._core.errors import DrError
from .._core.flows.pair_spec import PairSpec
from .._core.offsets.tenures import nested
from .._core.partition import Partition
from .._core.resources.acl import Acl, bans, failure_of, plan, write_bans
from .._core.waiting import Bounds, wait_until
from .._kafka.acls import AclStore, KafkaAcls
from .._kafka.client import Kafka
from .._kafka.topics import describe, log_ends, log_ranges
from .._module import Result
from .connections.engines import open_pair

with suppress(ImportError):  # Kafka() reports the missing library before anything here runs
    from confluent_kafka import KafkaError, KafkaException, TopicCollection
    from confluent_kafka.admin import AclOperation

__all__ = ["FenceRequest", "fence"]


@dataclass(frozen=True)
class FenceRequest:
    """The options of ``dr_fence``."""

    pair: PairSpec
    #: Alias of the cluster.
    at: str
    principals: Sequence[str]
    #: Login properties by principal, in librdkafka's names, for principals whose permissions are verified.
    logins: Mapping[str, Mapping[str, Any]]
    #: Raise an error if the cluster cannot be fenced.
    required: bool
    request_timeout: float
    bounds: Bounds
    #: Return the log ends after the fence is in force.
    log_ends: bool = False

    @property
    def connection(self) -> Mapping[str, Any]:
        """How to connect to the cluster."""
        self.pair.require_alias(self.at)
        return self.pair.connections[self.at]

    @property
    def asked(self) -> dict[str, Mapping[str, Any]]:
        """The logins of ``principals``."""
        return {name: login for name, login in self.logins.items() if name in self.principals}


def fence(request: FenceRequest, state: str, check: bool) -> Result:
    """Create the DENY ACLs (``state`` fenced) or delete them (open), and verify the effect on the broker.

    Raises ``no_authorizer``, ``not_authorized``, ``not_kept_out``, or the error of the engine's store. With
    ``required`` false, the last one and refusals of all ACLs are a result instead, and the cluster stays open.
    """
    opened = open_pair({request.at: request.connection}, request.pair.naming, request.request_timeout)
    kafka = opened.kafka[request.at]
    store = opened.engine.acls(request.at) or KafkaAcls(kafka)
    result = (_close if state == "fenced" else _open)(kafka, store, request, check)
    result.requests = opened.requests
    return result


def _open(kafka: Kafka, store: AclStore, request: FenceRequest, check: bool) -> Result:
    """Delete the fence's ACLs, and warn about other DENY ACLs.

    If ACLs cannot be listed and the fence is not required, only warn. If they are changed outside Kafka, the warnings
    name the principals that may not write.
    """
    try:
        found = store.denied()
    except DrError as error:
        if request.required or not (store.is_refusal(error) or error.code == "not_authorized"):
            raise
        blind = [f"{error.message} It is unknown whether writing is denied there."]
        blind += _refused(_ask(kafka, request)) if store.effect_seconds else []
        return Result(extra=_reported(error.message), warnings=[] if error.code == "no_authorizer" else blind)
    listed = bans(request.pair.topics, request.principals)
    outcomes, failure = _apply(kafka, store, plan(listed, found, "absent"), request, check)
    warnings = _left(found - set(listed), request.pair.topics)
    if store.effect_seconds and failure is None and any(outcome.status == "done" for outcome in outcomes):
        # A producer that starts before the brokers have applied the change would fail.
        warnings += _refused(_answers(kafka, store, request, wanted=True))
    return Result(outcomes, _reported(f"no DENY ACL for {_count(request)}"), warnings=warnings, failure=failure)


def _close(kafka: Kafka, store: AclStore, request: FenceRequest, check: bool) -> Result:
    outcomes: list[Outcome] = []
    listed = bans(request.pair.topics, request.principals)
    try:
        changes = plan(listed, store.describe(request.principals), "present")
        outcomes, failure = _apply(kafka, store, changes, request, check)
        if failure is not None and store.is_refusal(failure):
            raise failure
    except DrError as error:
        if not store.is_refusal(error):
            raise
        warnings = [] if error.code == "no_authorizer" else [error.sentence()]
        return Result(outcomes, _reported(error.message), [], warnings, error if request.required else None)
    if check or failure is not None:
        return Result(outcomes, _reported(f"no DENY ACL for {_count(request)}"), failure=failure)
    answers = _answers(kafka, store, request, wanted=False)
    still = [name for name, may in answers.items() if may]
    if still:
        because = f", or because the ACL has no effect after {store.effect_seconds:g} s" if store.effect_seconds else ""
        text = (
            f'{", ".join(still)} may write on "{kafka.bootstrap_servers}" despite a DENY ACL, as a super user{because}.'
        )
        hint = "Use a separate principal for the application, or set kafka_dr_fence: none."
        if request.required:
            failure = DrError("not_kept_out", text, hint)
        return Result(outcomes, _reported(text), failure=failure)
    asked = [name for name, may in answers.items() if may is False]
    silent = [name for name in request.principals if name not in asked]
    rest = f"; not verified: {', '.join(silent)}" if silent else ""
    reason = f"writing is denied to {_count(request)}, verified by the broker for {len(asked)} of them{rest}"
    # Without any ACL there is no fence.
    extra: dict[str, Any] = {"fenced": bool(listed), "proven": bool(listed) and not silent}
    extra |= {"reason": reason, "bans": len(listed)}
    if request.log_ends:
        extra["ends"] = nested(_still_ends(kafka, request.pair.topics))
    return Result(outcomes, extra)


def _still_ends(kafka: Kafka, topics: Sequence[str]) -> dict[Partition, int]:
    """The log ends, without those of partitions with an open transaction: its marker moves them (R50)."""
    counts = {name: state.partitions for name, state in describe(kafka, topics).items() if state is not None}
    keys = [Partition(name, number) for name, count in counts.items() for number in range(count)]
    # In this order, so that a record in between makes them differ.
    stable = log_ranges(kafka, keys)
    return {key: end for key, end in log_ends(kafka, keys).items() if end == stable[key][1]}


def _apply(
    kafka: Kafka, store: AclStore, changes: Sequence[Change], request: FenceRequest, check: bool
) -> tuple[list[Outcome], DrError | None]:
    outcomes = store.apply(changes, check)
    failure = failure_of(outcomes, kafka.bootstrap_servers)
    return outcomes, failure if check or failure else store.wait(outcomes, request.bounds)


def _answers(kafka: Kafka, store: AclStore, request: FenceRequest, wanted: bool) -> dict[str, bool | None]:
    """Ask like :func:`_ask`, again while an answer is not ``wanted`` and may still change."""
    if not store.effect_seconds:
        return _ask(kafka, request)
    bounds = Bounds(min(store.effect_seconds, request.bounds.timeout), request.bounds.sleep)
    return wait_until(lambda: _ask(kafka, request), lambda answers: (not wanted) not in answers.values(), bounds).state


def _ask(kafka: Kafka, request: FenceRequest) -> dict[str, bool | None]:
    """May each login write, as the broker reports? None: the broker does not report it."""
    return {name: _asked_as(kafka, name, request, login) for name, login in request.asked.items()}


def _refused(answers: Mapping[str, bool | None]) -> list[str]:
    refused = [name for name, may in answers.items() if may is False]
    return [f"The broker does not let {', '.join(refused)} write."] if refused else []


def _count(request: FenceRequest) -> str:
    return f"{len(request.principals)} principals on {len(request.pair.topics)} topics"


def _left(found: Iterable[Acl], topics: Sequence[str]) -> list[str]:
    """Describe DENY ACLs that are not the fence's: of principals outside the inventory, or created by another tool."""
    rest = write_bans(found, topics)
    if not rest:
        return []
    named = "; ".join(ban.sentence() for ban in rest[:5])
    return [f"{len(rest)} other DENY ACLs on writing were left: {named}. These principals cannot write there."]


def _reported(reason: str) -> dict[str, Any]:
    return {"fenced": False, "proven": False, "reason": reason, "bans": 0}


def _asked_as(kafka: Kafka, name: str, request: FenceRequest, login: Mapping[str, Any]) -> bool | None:
    try:
        return _may_write(kafka, request, login)
    except DrError as error:
        error.hint = f"This is the login of {name} in kafka_dr_fence_logins. {error.hint}".strip()
        raise


def _may_write(own: Kafka, request: FenceRequest, login: Mapping[str, Any]) -> bool | None:
    """Does the broker allow this login to write to any of the topics? None: it does not report that (KIP-430)."""
    client = request.connection.get("admin_client") or request.connection.get("client") or {}
    kafka = Kafka(own.bootstrap_servers, {**client, **login}, own.timeout)
    kafka.note_request("describe_topics", topics=len(request.pair.topics), operations=True)
    futures = kafka.admin.describe_topics(
        TopicCollection(list(request.pair.topics)), include_authorized_operations=True, request_timeout=kafka.timeout
    )
    reported = True
    for future in futures.values():
        try:
            found = kafka.result(future)
        except KafkaException as error:
            if error.args[0].code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
                continue  # it may not even describe the topic
            raise kafka.explain(error, "request the application's authorized operations") from error
        if found.authorized_operations is None:
            reported = False
        elif AclOperation.WRITE in found.authorized_operations:
            return True
    return False if reported else None
