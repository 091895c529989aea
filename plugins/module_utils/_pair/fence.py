# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fence: bans that keep an application's principals from writing where it no longer lives (SOUNDNESS 23).

A ban outranks every right of its principal, however that was given, but for super users, and brokers tell nobody who
those are. So bans that are up are no proof: the broker is asked, as that principal, what it may do. The bans are told
by their form alone, so that a killed run leaves nothing that another one would not find.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from .._core.acl import bans, failure_of, plan
from .._core.errors import DrError
from .._kafka import acls
from .._kafka.client import Kafka, connect
from .._module import Result

with suppress(ImportError):  # Kafka() reports the missing library before anything here runs
    from confluent_kafka import KafkaError, KafkaException, TopicCollection
    from confluent_kafka.admin import AclOperation

__all__ = ["fence"]


def fence(params: Mapping[str, Any], check: bool) -> Result:
    """Put the bans up (``state: fenced``) or take them away (``open``), and ask the broker what holds then.

    Raises ``no_authorizer``, ``not_authorized``, ``not_kept_out``; with ``required`` false the first and the last are a
    result: the side is open then.
    """
    kafka = connect(params)
    topics, principals, fenced = params["topics"], params["principals"], params["state"] == "fenced"
    try:
        found = acls.describe(kafka, principals)
    except DrError as error:
        if params["required"] or error.code != "no_authorizer":
            raise
        return Result(extra=_told(error.message), requests=kafka.requests)
    listed = bans(topics, principals)
    changes = plan(listed, found, "present" if fenced else "absent")
    outcomes = acls.apply(kafka, changes, check)
    failure = failure_of(outcomes, kafka.bootstrap_servers)
    if not check:
        failure = failure or acls.wait_for_broker(kafka, outcomes, params)
    count = f"{len(principals)} principals on {len(topics)} topics"
    if not fenced or check or failure is not None:
        return Result(outcomes, _told(f"no ban on {count}"), kafka.requests, failure=failure)
    answers = {
        name: _may_write(params, login, topics) for name, login in params["logins"].items() if name in principals
    }
    still = [name for name, may in answers.items() if may]
    if still:
        text = f'{", ".join(still)} may write on "{kafka.bootstrap_servers}" in spite of a ban: a super user.'
        hint = "Give the application a principal of its own, or set kafka_dr_fence: none."
        if params["required"]:
            failure = DrError("not_kept_out", text, hint)
        return Result(outcomes, _told(text), kafka.requests, failure=failure)
    asked = [name for name, may in answers.items() if may is False]
    silent = [name for name in principals if name not in asked]
    rest = f"; not asked as themselves: {', '.join(silent)}" if silent else ""
    reason = f"writing is denied to {count}, which {len(asked)} of them were told by the broker{rest}"
    # Nobody kept out of nothing is no fence.
    extra = {"fenced": bool(listed), "proven": bool(listed) and not silent, "reason": reason, "bans": len(listed)}
    return Result(outcomes, extra, kafka.requests)


def _told(reason: str) -> dict[str, Any]:
    return {"fenced": False, "proven": False, "reason": reason, "bans": 0}


def _may_write(params: Mapping[str, Any], login: Mapping[str, Any], topics: Sequence[str]) -> bool | None:
    """Whether the broker says that this login may write any of the topics; None: it does not say (KIP-430)."""
    kafka = Kafka(params["bootstrap_servers"], {**params["client"], **login}, float(params["request_timeout"]))
    kafka.note_request("describe_topics", topics=len(topics), operations=True)
    futures = kafka.admin.describe_topics(
        TopicCollection(list(topics)), include_authorized_operations=True, request_timeout=kafka.timeout
    )
    told = True
    for future in futures.values():
        try:
            found = future.result(timeout=kafka.timeout + 5)
        except KafkaException as error:
            if error.args[0].code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
                continue  # it may not even look
            raise kafka.explain(error, "ask what the application may do") from error
        if found.authorized_operations is None:
            told = False
        elif AclOperation.WRITE in found.authorized_operations:
            return True
    return False if told else None
