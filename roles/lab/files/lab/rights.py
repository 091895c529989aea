# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""ACLs of the user ``flow`` of a secured lab: the minimum for Connect workers and MirrorMaker 2.

They are for the policy ``default``. With ``identity`` a replica has the name of its original, so ``flow`` also needs
ALL on the originals.
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
    topics connect-*              configurations, offsets and states of the worker
    groups connect-*              the worker group
    transactional ids connect-*   for exactly.once.source.support
    topics OTHER.*                replicas with their settings, heartbeats and checkpoints of the other cluster
    topics rehearsal-OTHER--*     the same for a rehearsal
    topics mm2-offset-syncs*      offset-syncs, on either cluster
    topic heartbeats              heartbeats of this cluster
    all topics: READ              to replicate originals; READ implies DESCRIBE
    all topics: DESCRIBE_CONFIGS  to copy the settings of originals to replicas
    all groups: READ              to read committed offsets here and commit them there
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
    """Grant the ACLs. Kafka accepts existing ACLs, so this can run at each start. Raises LabError on a failure."""
    # Imported here, because `down` and `status` work without the library.
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
    any_text: Any = None  # the library accepts None, its type hints do not
    every = AclBindingFilter(
        ResourceType.ANY, any_text, ResourcePatternType.ANY, FLOW, any_text, AclOperation.ANY, AclPermissionType.ANY
    )
    admin = AdminClient({**client, "bootstrap.servers": bootstrap_servers, "log_level": 0})
    try:
        for future in admin.create_acls(wanted, request_timeout=20).values():
            future.result(25)
        # A worker exits if it connects before the broker has applied the ACLs.
        seen = wait_until(lambda: set(wanted) <= set(admin.describe_acls(every, request_timeout=20).result(25)), 20)
    except (KafkaException, TimeoutError) as error:
        raise LabError(f"The ACLs of the user flow could not be created on {alias}: {error}") from error
    if not seen:
        raise LabError(f"The broker of {alias} does not list the ACLs of the user flow 20 s after their creation.")
