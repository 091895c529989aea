# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fence: DENY ACLs that keep an application's principals from writing where it no longer lives (R23).

A DENY ACL outranks every ALLOW ACL of its principal, except for super users, and brokers do not report who these are.
So existing ACLs are no proof: this code logs in as the principal and requests its authorized operations. The fence's
ACLs are identified by their form alone, so that another run finds those of a killed run.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from .._core.changes import Change, Outcome
from .._core.errors import DrError
from .._core.resources.acl import Acl, bans, failure_of, plan, write_bans
from .._core.waiting import Bounds
from .._kafka import acls
from .._kafka.client import Kafka
from .._module import Result

with suppress(ImportError):  # Kafka() reports the missing library before anything here runs
    from confluent_kafka import KafkaError, KafkaException, TopicCollection
    from confluent_kafka.admin import AclOperation

__all__ = ["FenceRequest", "fence"]


@dataclass(frozen=True)
class FenceRequest:
    """The options of ``dr_fence``, without the connection."""

    topics: Sequence[str]
    principals: Sequence[str]
    #: Login properties by principal, in librdkafka's names, for principals whose permissions are verified.
    logins: Mapping[str, Mapping[str, Any]]
    #: Raise an error if the cluster cannot be fenced.
    required: bool
    #: Properties of the collection's own client. A login replaces some of them.
    client: Mapping[str, Any]
    bounds: Bounds


def fence(kafka: Kafka, request: FenceRequest, state: str, check: bool) -> Result:
    """Create the DENY ACLs (``state`` fenced) or delete them (open), and verify the effect on the broker.

    Raises ``no_authorizer``, ``not_authorized``, ``not_kept_out``. With ``required`` false, the first and the last are
    a result instead, and the cluster stays open.
    """
    return (_close if state == "fenced" else _open)(kafka, request, check)


def _open(kafka: Kafka, request: FenceRequest, check: bool) -> Result:
    """Delete the fence's ACLs, and warn about other DENY ACLs.

    If ACLs cannot be listed and the fence is not required, only warn.
    """
    try:
        found = acls.denied(kafka)
    except DrError as error:
        if request.required or error.code not in ("no_authorizer", "not_authorized"):
            raise
        blind = [f"{error.message} It is unknown whether writing is denied there."]
        warnings = [] if error.code == "no_authorizer" else blind
        return Result(extra=_reported(error.message), requests=kafka.requests, warnings=warnings)
    listed = bans(request.topics, request.principals)
    outcomes, failure = _apply(kafka, plan(listed, found, "absent"), request, check)
    left = _left(found - set(listed), request.topics)
    return Result(outcomes, _reported(f"no DENY ACL for {_count(request)}"), kafka.requests, left, failure)


def _close(kafka: Kafka, request: FenceRequest, check: bool) -> Result:
    topics, principals = request.topics, request.principals
    try:
        found = acls.describe(kafka, principals)
    except DrError as error:
        if request.required or error.code != "no_authorizer":
            raise
        return Result(extra=_reported(error.message), requests=kafka.requests)
    listed = bans(topics, principals)
    outcomes, failure = _apply(kafka, plan(listed, found, "present"), request, check)
    if check or failure is not None:
        return Result(outcomes, _reported(f"no DENY ACL for {_count(request)}"), kafka.requests, failure=failure)
    answers = {
        name: _asked_as(kafka, name, request, login) for name, login in request.logins.items() if name in principals
    }
    still = [name for name, may in answers.items() if may]
    if still:
        text = f'{", ".join(still)} may write on "{kafka.bootstrap_servers}" despite a DENY ACL, as a super user.'
        hint = "Use a separate principal for the application, or set kafka_dr_fence: none."
        if request.required:
            failure = DrError("not_kept_out", text, hint)
        return Result(outcomes, _reported(text), kafka.requests, failure=failure)
    asked = [name for name, may in answers.items() if may is False]
    silent = [name for name in principals if name not in asked]
    rest = f"; not verified: {', '.join(silent)}" if silent else ""
    reason = f"writing is denied to {_count(request)}, verified by the broker for {len(asked)} of them{rest}"
    # Without any ACL there is no fence.
    extra = {"fenced": bool(listed), "proven": bool(listed) and not silent, "reason": reason, "bans": len(listed)}
    return Result(outcomes, extra, kafka.requests)


def _apply(
    kafka: Kafka, changes: Sequence[Change], request: FenceRequest, check: bool
) -> tuple[list[Outcome], DrError | None]:
    outcomes = acls.apply(kafka, changes, check)
    failure = failure_of(outcomes, kafka.bootstrap_servers)
    return outcomes, failure if check or failure else acls.wait_for_broker(kafka, outcomes, request.bounds)


def _count(request: FenceRequest) -> str:
    return f"{len(request.principals)} principals on {len(request.topics)} topics"


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
    kafka = Kafka(own.bootstrap_servers, {**request.client, **login}, own.timeout)
    kafka.note_request("describe_topics", topics=len(request.topics), operations=True)
    futures = kafka.admin.describe_topics(
        TopicCollection(list(request.topics)), include_authorized_operations=True, request_timeout=kafka.timeout
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
