# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which fields a flow and a service have, and what a PUT changes. Pure.

Sources: the Terraform provider of Aiven (fields, types, defaults, values that cannot be reset). AIVEN_EMULATOR.md lists
what is inferred.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .errors import ApiError

POLICIES = tuple(
    f"org.apache.kafka.connect.mirror.{name}" for name in ("DefaultReplicationPolicy", "IdentityReplicationPolicy")
)
#: Fields of a flow that a client may write, with their types or choices.
FLOW: Mapping[str, Any] = {
    "enabled": bool,
    "topics": list,
    "topics.blacklist": list,
    "topics_exclude": list,
    "sync_group_offsets_enabled": bool,
    "sync_group_offsets_interval_seconds": int,
    "emit_heartbeats_enabled": bool,
    "emit_backward_heartbeats_enabled": bool,
    "replication_policy_class": POLICIES,
    "offset_syncs_topic_location": ("source", "target"),
    "exactly_once_delivery_enabled": bool,
    "follower_fetching_enabled": bool,
    "replication_factor": int,
    "offset_lag_max": int,
    "config_properties_exclude": list,
}
#: Fields of ``user_config.kafka_mirrormaker`` of a service.
SERVICE: Mapping[str, Any] = {
    "admin_timeout_ms": int,
    "emit_checkpoints_enabled": bool,
    "emit_checkpoints_interval_seconds": int,
    "groups": str,
    "groups_exclude": str,
    "offset_lag_max": int,
    "refresh_groups_enabled": bool,
    "refresh_groups_interval_seconds": int,
    "refresh_topics_enabled": bool,
    "refresh_topics_interval_seconds": int,
    "sync_group_offsets_enabled": bool,
    "sync_group_offsets_interval_seconds": int,
    "sync_topic_configs_enabled": bool,
    "tasks_max_per_cpu": int,
}
#: Values of a new flow that the API reports although no client has set them.
NEW_FLOW: Mapping[str, Any] = {
    "sync_group_offsets_enabled": False,
    "sync_group_offsets_interval_seconds": 1,
    "emit_heartbeats_enabled": False,
    "replication_policy_class": POLICIES[0],
    "topics": [],
    "topics.blacklist": [],
}


def changed(fields: Mapping[str, Any], given: Any, known: Mapping[str, Any]) -> dict[str, Any]:
    """``fields`` after a write of ``given``. A field that is not given keeps its value.

    An empty value does not clear a number, a truth value or a choice: it is dropped. A list can be emptied.
    """
    if not isinstance(given, Mapping):
        raise ApiError(400, "The body must be an object.")
    result = dict(fields)
    for name, value in given.items():
        if name not in known:
            raise ApiError(400, f"Invalid input: additional property '{name}' is not allowed.")
        if value is None or (value == "" and known[name] is not str):
            continue
        result[name] = _checked(name, value, known[name])
    return result


def _checked(name: str, value: Any, kind: Any) -> Any:
    if isinstance(kind, tuple):
        if value not in kind:
            raise ApiError(400, f"Invalid input for {name}: '{value}' is not one of {', '.join(kind)}.")
        return value
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ApiError(400, f"Invalid input for {name}: {value!r} is not of type {kind.__name__}.")
    if kind is list and not all(isinstance(item, str) for item in value):
        raise ApiError(400, f"Invalid input for {name}: items must be strings.")
    return value
