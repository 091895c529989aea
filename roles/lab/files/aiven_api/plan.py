# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of the Driver for one replication flow: settings of MirrorMaker 2 from the fields of the API. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cm.plan import Plan
from cm.replication import Flow, Lists

_FLOW = {
    "enabled": "enabled",
    "sync_group_offsets_enabled": "sync.group.offsets.enabled",
    "sync_group_offsets_interval_seconds": "sync.group.offsets.interval.seconds",
    "emit_heartbeats_enabled": "emit.heartbeats.enabled",
    "replication_policy_class": "replication.policy.class",
    "offset_syncs_topic_location": "offset-syncs.topic.location",
    "replication_factor": "replication.factor",
    "offset_lag_max": "offset.lag.max",
    "config_properties_exclude": "config.properties.exclude",
}
_SERVICE = {
    "admin_timeout_ms": "admin.timeout.ms",
    "emit_checkpoints_enabled": "emit.checkpoints.enabled",
    "emit_checkpoints_interval_seconds": "emit.checkpoints.interval.seconds",
    "offset_lag_max": "offset.lag.max",
    "refresh_groups_enabled": "refresh.groups.enabled",
    "refresh_groups_interval_seconds": "refresh.groups.interval.seconds",
    "refresh_topics_enabled": "refresh.topics.enabled",
    "refresh_topics_interval_seconds": "refresh.topics.interval.seconds",
    "sync_group_offsets_enabled": "sync.group.offsets.enabled",
    "sync_group_offsets_interval_seconds": "sync.group.offsets.interval.seconds",
    "sync_topic_configs_enabled": "sync.topic.configs.enabled",
    "tasks_max_per_cpu": "tasks.max",
}


def make(
    ends: tuple[str, str],
    fields: Mapping[str, Any],
    service: Mapping[str, Any],
    servers: Mapping[str, str],
    more: Mapping[str, str],
) -> Plan:
    """The plan of a flow. ``ends``: its source and target. ``more``: settings that the API does not have.

    A field of the flow wins over the same field of the service.
    """
    settings = {_SERVICE[name]: _text(value) for name, value in service.items() if name in _SERVICE}
    settings |= {_FLOW[name]: _text(value) for name, value in fields.items() if name in _FLOW}
    if fields.get("exactly_once_delivery_enabled"):
        # MirrorSourceConnector supports exactly-once only with read_committed.
        settings["source.consumer.isolation.level"] = "read_committed"
    denied = [*fields.get("topics.blacklist", []), *fields.get("topics_exclude", [])]
    lists = {
        "topics": Lists(tuple(fields.get("topics", ())), tuple(denied)),
        "groups": Lists(_names(service, "groups") or (".*",), _names(service, "groups_exclude")),
    }
    return Plan(flow=Flow(*ends, {**more, **settings}), servers=dict(servers), lists=lists)


def _names(service: Mapping[str, Any], key: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in service.get(key, "").split(",") if name.strip())


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(value) if isinstance(value, list) else str(value)
