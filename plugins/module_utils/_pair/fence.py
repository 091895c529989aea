# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fence: bans that keep an application's principals from writing where it no longer lives (R23).

A ban outranks every right of its principal, however that was given, but for super users, and brokers tell nobody who
those are. So bans that are up are no proof: the broker is asked, as that principal, what it may do. The bans are told
by their form alone, so that a killed run leaves nothing that another one would not find.

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
    """The options of ``dr_fence``, beside the connection."""

    topics: Sequence[str]
    principals: Sequence[str]
    #: Login of each principal that is asked as itself, in librdkafka's names.
    logins: Mapping[str, Mapping[str, Any]]
    #: A cluster that cannot be closed is an error.
    required: bool
    #: Properties of the collection's own client, which a login replaces in part.
    client: Mapping[str, Any]
    bounds: Bounds


def fence(kafka: Kafka, request: FenceRequest, state: str, check: bool) -> Result:
    """Create the DENY ACLs (``state`` fenced) or delete them (open), and ask the broker what holds then.

    Raises ``no_authorizer``, ``not_authorized``, ``not_kept_out``; with ``required`` false the first and the last are a
    result: the side is open then.
    """
    return (_close if state == "fenced" else _open)(kafka, request, check)


def _open(kafka: Kafka, request: FenceRequest, check: bool) -> Result:
    """Without permission to list ACLs, and unless required, do nothing and warn.

    Also warn about DENY ACLs that are not the fence's.
    """
    try:
        found = acls.denied(kafka)
    except DrError as error:
        if request.required or error.code not in ("no_authorizer", "not_authorized"):
            raise
        blind = [f"{error.message} Whether writing is denied there is not known."]
        warnings = [] if error.code == "no_authorizer" else blind
        return Result(extra=_reported(error.message), requests=kafka.requests, warnings=warnings)
    listed = bans(request.topics, request.principals)
    outcomes, failure = _apply(kafka, plan(listed, found, "absent"), request, check)
    left = _left(found - set(listed), request.topics)
    return Result(outcomes, _reported(f"no ban on {_count(request)}"), kafka.requests, left, failure)


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
        return Result(outcomes, _reported(f"no ban on {_count(request)}"), kafka.requests, failure=failure)
    answers = {
        name: _asked_as(kafka, name, request, login) for name, login in request.logins.items() if name in principals
    }
    still = [name for name, may in answers.items() if may]
    if still:
        text = f'{", ".join(still)} may write on "{kafka.bootstrap_servers}" in spite of a ban: a super user.'
        hint = "Give the application a principal of its own, or set kafka_dr_fence: none."
        if request.required:
            failure = DrError("not_kept_out", text, hint)
        return Result(outcomes, _reported(text), kafka.requests, failure=failure)
    asked = [name for name, may in answers.items() if may is False]
    silent = [name for name in principals if name not in asked]
    rest = f"; not asked as themselves: {', '.join(silent)}" if silent else ""
    reason = f"writing is denied to {_count(request)}, which {len(asked)} of them were told by the broker{rest}"
    # Nobody kept out of nothing is no fence.
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
    """Bans that are not the fence's: of a principal that the inventory no longer names, or by somebody else."""
    rest = write_bans(found, topics)
    if not rest:
        return []
    named = "; ".join(ban.sentence() for ban in rest[:5])
    return [f"{len(rest)} other bans on writing stay as they are: {named}. Whoever they name cannot write there."]


def _reported(reason: str) -> dict[str, Any]:
    return {"fenced": False, "proven": False, "reason": reason, "bans": 0}


def _asked_as(kafka: Kafka, name: str, request: FenceRequest, login: Mapping[str, Any]) -> bool | None:
    try:
        return _may_write(kafka, request, login)
    except DrError as error:
        error.hint = f"This is the login of {name} in kafka_dr_fence_logins. {error.hint}".strip()
        raise


def _may_write(own: Kafka, request: FenceRequest, login: Mapping[str, Any]) -> bool | None:
    """Whether the broker says that this login may write any of the topics; None: it does not say (KIP-430)."""
    kafka = Kafka(own.bootstrap_servers, {**request.client, **login}, own.timeout)
    kafka.note_request("describe_topics", topics=len(request.topics), operations=True)
    futures = kafka.admin.describe_topics(
        TopicCollection(list(request.topics)), include_authorized_operations=True, request_timeout=kafka.timeout
    )
    reported = True
    for future in futures.values():
        try:
            found = future.result(timeout=kafka.timeout + 5)
        except KafkaException as error:
            if error.args[0].code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
                continue  # it may not even look
            raise kafka.explain(error, "ask what the application may do") from error
        if found.authorized_operations is None:
            reported = False
        elif AclOperation.WRITE in found.authorized_operations:
            return True
    return False if reported else None
