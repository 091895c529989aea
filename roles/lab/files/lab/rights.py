# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""ACLs of the user ``flow`` of a secured lab: exactly those that the playbook ``rights`` grants to such an account.

They are for the policy ``default``. With ``identity`` a replica has the name of its original, so the role also grants
ALL on the originals.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .errors import LabError
from .processes import wait_until

FLOW = "User:flow"
# The lab runs without Ansible, so it loads this one file of the collection, which imports no other.
SOURCE = Path(__file__).resolve().parents[4] / "plugins/module_utils/_core/resources/account_rights.py"


def table(alias: str, other: str, workers: str) -> list[tuple[str, str, str, str]]:
    """Resource type, pattern type, name and operation on the cluster ``alias``; ``other`` is its partner.

    ``workers``: ``group.id`` of its workers.
    """
    spec = importlib.util.spec_from_file_location("lab_account_rights", SOURCE)
    if spec is None or spec.loader is None:
        raise LabError(f"The rights of the user flow cannot be read from {SOURCE}.")
    source = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(source)
    here = source.Place(pair="", other=other, rehearsal_other=f"rehearsal-{other}", workers=workers)
    rights = [
        (right.resource_type.upper(), right.pattern_type.upper(), right.name, right.operation.upper())
        for right in source.rights_of("flow", here)
    ]
    # The topics of dedicated MirrorMaker 2 do not begin with the name of its group.
    return [*rights, ("TOPIC", "PREFIXED", "mm2-", "ALL")] if workers == f"{other}-mm2" else rights


def grant(alias: str, other: str, workers: str, bootstrap_servers: str, client: Mapping[str, Any]) -> None:
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
        for kind, pattern, name, operation in table(alias, other, workers)
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
