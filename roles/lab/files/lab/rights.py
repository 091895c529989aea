# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the user `flow` of a secured lab may do: no more than Connect workers and MirrorMaker 2 need.

For the policy `default`. With `identity` replicas carry the names of their originals, so that flow must also be
allowed ALL on those.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .errors import LabError
from .processes import wait_until

FLOW = "User:flow"


def table(alias: str, other: str) -> list[tuple[str, str, str, str]]:
    """Resource type, pattern type, name and operation on the cluster ``alias``; ``other`` is its partner.

    ============================  ==================================================================================
    topics connect-*              the worker's own: connectors, offsets, states
    groups connect-*              the workers find each other
    transactional ids connect-*   for exactly.once.source.support
    topics OTHER.*                replicas with their settings, heartbeats and checkpoints of the other side
    topics rehearsal-OTHER--*         the same of a rehearsal
    topics mm2-offset-syncs*      pairs of offsets, on either side
    topic heartbeats              of this side
    all topics: READ              originals are copied from here; READ implies DESCRIBE
    all topics: DESCRIBE_CONFIGS  replicas take over the settings of originals
    all groups: READ              positions are read here and written there
    ============================  ==================================================================================
    """
    return [
        ("TOPIC", "PREFIXED", f"connect-{alias}-", "ALL"),
        ("GROUP", "PREFIXED", f"connect-{alias}", "ALL"),
        ("TRANSACTIONAL_ID", "PREFIXED", f"connect-{alias}", "ALL"),
        ("TRANSACTIONAL_ID", "PREFIXED", f"connect-cluster-connect-{alias}", "ALL"),
        ("TOPIC", "PREFIXED", f"{other}.", "ALL"),
        ("TOPIC", "PREFIXED", f"rehearsal-{other}--", "ALL"),
        ("TOPIC", "PREFIXED", "mm2-offset-syncs", "ALL"),
        ("TOPIC", "LITERAL", "heartbeats", "ALL"),
        ("TOPIC", "LITERAL", "*", "READ"),
        ("TOPIC", "LITERAL", "*", "DESCRIBE_CONFIGS"),
        ("GROUP", "LITERAL", "*", "READ"),
    ]


def grant(alias: str, other: str, bootstrap_servers: str, client: Mapping[str, Any]) -> None:
    """Kafka takes a right that is there already without a word, so this may run at each start."""
    # Imported here: stopping and asking for the status work without the library.
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import (
        AclBinding,
        AclBindingFilter,
        AclOperation,
        AclPermissionType,
        AdminClient,
        ResourcePatternType,
        ResourceType,
    )

    wanted = [
        AclBinding(
            ResourceType[kind],
            name,
            ResourcePatternType[pattern],
            FLOW,
            "*",
            AclOperation[operation],
            AclPermissionType.ALLOW,
        )
        for kind, pattern, name, operation in table(alias, other)
    ]
    any_text: Any = None  # the library's types do not know that it may be left out
    every = AclBindingFilter(
        ResourceType.ANY, any_text, ResourcePatternType.ANY, FLOW, any_text, AclOperation.ANY, AclPermissionType.ANY
    )
    admin = AdminClient({**client, "bootstrap.servers": bootstrap_servers, "log_level": 0})
    try:
        for future in admin.create_acls(wanted, request_timeout=20).values():
            future.result(25)
        # A worker that asked before the broker has learnt them would end.
        seen = wait_until(lambda: set(wanted) <= set(admin.describe_acls(every, request_timeout=20).result(25)), 20)
    except (KafkaException, TimeoutError) as error:
        raise LabError(f"The rights of the user flow could not be set on {alias}: {error}") from error
    if not seen:
        raise LabError(f"The broker of {alias} does not show the rights of the user flow 20 s after they were set.")
