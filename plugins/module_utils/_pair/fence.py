# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fence: bans that keep an application's principals from writing where it no longer lives (SOUNDNESS 23).

A ban outranks every right of its principal, however that was given, but for super users. The bans are told by their
form alone, so that a killed run leaves nothing that another one would not find.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from .._core.acl import Acl, failure_of, plan
from .._core.errors import DrError
from .._kafka import acls
from .._kafka.client import Kafka, connect
from .._module import Result

with suppress(ImportError):  # Kafka() reports the missing library before anything here runs
    from confluent_kafka.admin import ConfigResource

__all__ = ["bans", "fence", "super_users"]


def bans(topics: Sequence[str], principals: Sequence[str]) -> list[Acl]:
    """Nobody of these writes any of these, from wherever."""
    return [
        Acl(principal=principal, resource_type="topic", name=topic, operation="write", permission="deny")
        for topic in topics
        for principal in principals
    ]


def fence(params: Mapping[str, Any], check: bool) -> Result:
    """Put the bans up (``state: fenced``) or take them away (``open``), and read back what the broker says then.

    Raises ``no_authorizer``, ``not_authorized``, ``principal_is_super``; with ``required`` false the first and the
    last are a result: the side is open then.
    """
    kafka = connect(params)
    topics, principals, fenced = params["topics"], params["principals"], params["state"] == "fenced"
    try:
        if fenced:
            _refuse_super_users(kafka, principals)
        found = acls.describe(kafka, principals)
    except DrError as error:
        if params["required"] or error.code not in ("no_authorizer", "principal_is_super"):
            raise
        extra = {"fenced": False, "reason": error.message, "bans": 0}
        return Result(extra=extra, requests=kafka.requests)
    listed = bans(topics, principals)
    changes = plan(listed, found, "present" if fenced else "absent")
    outcomes = acls.apply(kafka, changes, check)
    failure = failure_of(outcomes, kafka.bootstrap_servers)
    if not check:
        failure = failure or acls.wait_for_broker(kafka, outcomes, params)
    up = fenced and not check and failure is None
    count = f"{len(principals)} principals on {len(topics)} topics"
    extra = {
        "fenced": up,
        "reason": f"writing is denied to {count}, read back from the broker" if up else f"no ban on {count}",
        "bans": len(listed) if up else 0,
    }
    return Result(outcomes, extra, kafka.requests, failure=failure)


def _refuse_super_users(kafka: Kafka, principals: Sequence[str]) -> None:
    useless = sorted(set(principals) & super_users(kafka))
    if useless:
        raise DrError(
            "principal_is_super",
            f'{", ".join(useless)} is a super user of Kafka at "{kafka.bootstrap_servers}": no ban holds for it.',
            "Give the application a principal of its own, or set kafka_dr_fence: none.",
        )


def super_users(kafka: Kafka) -> set[str]:
    """Of one broker's settings; empty where it runs no authorizer (its own listing says so then)."""
    kafka.note_request("describe_configs", resources=1)
    brokers = kafka.settle(kafka.admin.describe_cluster(request_timeout=kafka.timeout), "look for a broker").nodes
    resource = ConfigResource(ConfigResource.Type.BROKER, str(brokers[0].id))
    (future,) = kafka.admin.describe_configs([resource], request_timeout=kafka.timeout).values()
    entry = kafka.settle(future, "read the settings of a broker").get("super.users")
    return {name.strip() for name in ((entry.value if entry else "") or "").split(";") if name.strip()}
