# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compute the fields of a replication flow, and interpret those that Aiven's API reports.

Sources: the Terraform provider of Aiven (fields, defaults, values that cannot be reset), MirrorSourceConnector
(exactlyOnceSupport requires read_committed).

Private to this collection: may change in any release.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ...flows.pair_spec import PairSpec
from ...resources.topic_filters import Filter, filters_of

__all__ = [
    "EXACTLY_ONCE",
    "GROUP_SYNC",
    "POLICY",
    "SETTINGS",
    "SILENT",
    "as_field",
    "filters",
    "kept_values",
    "problems",
    "running_fields",
    "service_changes",
    "sync_interval",
]

GROUP_SYNC, EXACTLY_ONCE = "sync_group_offsets_enabled", "exactly_once_delivery_enabled"
_POLICY_FIELD, _HEARTBEATS = "replication_policy_class", "emit_heartbeats_enabled"
_INTERVAL = "sync_group_offsets_interval_seconds"
POLICY = "org.apache.kafka.connect.mirror.DefaultReplicationPolicy"
_EXCLUDES = ("topics.blacklist", "topics_exclude")
#: A flow that replicates nothing and syncs no groups.
SILENT: Mapping[str, Any] = {"enabled": False, GROUP_SYNC: False}
#: The settings of ``kafka_dr_flow`` that have a field in the API, and the type of the field.
SETTINGS: Mapping[str, tuple[str, type]] = {
    "offset.lag.max": ("offset_lag_max", int),
    "sync.group.offsets.interval.seconds": (_INTERVAL, int),
    "config.properties.exclude": ("config_properties_exclude", list),
}
# Fields without a declared value that the API keeps for ever.
_CANNOT_BE_CLEARED = {"offset_lag_max": "offset.lag.max", "replication_factor": "replication_factor"}
# MirrorCheckpointConfig: the default interval of group sync.
_DEFAULT_INTERVAL = 60.0


def as_field(kind: type, value: Any) -> Any:
    """The value of a setting as the API takes it. None: the setting does not have this type."""
    if kind is list:
        parts = value if isinstance(value, list | tuple) else str(value).split(",")
        return [text for part in parts if (text := str(part).strip())]
    text = str(value).strip()
    return int(text) if re.fullmatch(r"\d+", text) else None


def running_fields(pair: PairSpec, current: Mapping[str, Any], heartbeats: bool) -> dict[str, Any]:
    """The fields of a flow that replicates. Topics that the flow has already are kept, in their order.

    Group sync is off in every state of the pair: the API does not report when a change takes effect, and the offsets
    of this collection do not need it (R10). Exactly-once delivery is the only field that makes the flow's consumer
    read committed records (R5).
    """
    have = [str(entry) for entry in current.get("topics") or ()]
    takes = Filter("topics", tuple(have), ())
    # Patterns match whole names, and a dot in a name matches itself only.
    missing = [re.escape(name) for name in pair.topics if takes.takes(name) is not True]
    fields: dict[str, Any] = {
        "enabled": True,
        "topics": have + missing,
        GROUP_SYNC: False,
        EXACTLY_ONCE: True,
        "offset_syncs_topic_location": "target",
        _POLICY_FIELD: POLICY,
    }
    if heartbeats:
        fields[_HEARTBEATS] = True
    if pair.replication_factor:
        fields["replication_factor"] = pair.replication_factor
    for settings in pair.settings.values():
        for key, (name, kind) in SETTINGS.items():
            if settings.get(key) is not None:
                fields[name] = as_field(kind, settings[key])
    return fields


def kept_values(name: str, current: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    """Values of an existing flow that the inventory does not declare and that the API cannot clear."""
    return [
        f'The flow {name} keeps "{key}": {current[key]}. Aiven\'s API cannot clear it. To change it, declare'
        f' "{setting}" in kafka_dr_flow.'
        for key, setting in _CANNOT_BE_CLEARED.items()
        if current.get(key) is not None and key not in wanted
    ]


def problems(current: Mapping[str, Any], service: Mapping[str, Any]) -> list[str]:
    """Settings of an enabled flow that invalidate the proofs of a cutover, one sentence each."""
    texts = []
    policy = current.get(_POLICY_FIELD) or POLICY
    if policy != POLICY:
        texts.append(f'Its "{_POLICY_FIELD}" is "{policy}": replicas need the prefixes of DefaultReplicationPolicy.')
    if current.get(EXACTLY_ONCE) is not True:
        texts.append(
            f'Its "{EXACTLY_ONCE}" is not true, so it reads uncommitted records. Aborted records would become real'
            " ones. Run the playbook enable."
        )
    if current.get(GROUP_SYNC) is True:
        texts.append(
            f'Its "{GROUP_SYNC}" is true, and the API does not report when a change takes effect. MirrorMaker 2 could'
            " overwrite offsets of a cutover. Run the playbook enable."
        )
    if service.get(GROUP_SYNC) is True:
        texts.append(
            f'"{GROUP_SYNC}" of the service is true, and it is unknown whether a flow can override it. Set it to'
            " false in the advanced configuration of the service."
        )
    if current.get("offset_syncs_topic_location") != "target":
        texts.append('Its "offset_syncs_topic_location" is not "target". Run the playbook enable.')
    return texts


def filters(current: Mapping[str, Any], service: Mapping[str, Any]) -> dict[str, tuple[Filter, ...]]:
    """The filters of a flow by part. A list that the API does not report has MirrorMaker 2's default."""
    (default,) = filters_of({}, ("topics",))
    denied = [str(entry) for key in _EXCLUDES for entry in current.get(key) or ()]
    given = any(current.get(key) is not None for key in _EXCLUDES)
    topics = Filter("topics", tuple(map(str, current.get("topics") or ())), tuple(denied) if given else default.denied)
    return {"source": (topics,), "checkpoint": _group_filters(service)}


def _group_filters(service: Mapping[str, Any]) -> tuple[Filter, ...]:
    texts = {"groups": service.get("groups"), "groups.exclude": service.get("groups_exclude")}
    return filters_of({key: str(text) for key, text in texts.items() if text}, ("groups",))


def service_changes(service: Mapping[str, Any], groups: Iterable[str]) -> dict[str, Any]:
    """The settings of the service that must change so that checkpoints of ``groups`` are written. Empty: none."""
    changes: dict[str, Any] = {}
    if service.get("emit_checkpoints_enabled") is False:
        changes["emit_checkpoints_enabled"] = True
    allowed = str(service.get("groups") or "")
    # The excludes win over the list, so an entry would not help. Readiness reports such a group.
    (listed,) = filters_of({"groups": allowed or ".*", "groups.exclude": ""}, ("groups",))
    missing = [re.escape(group) for group in groups if listed.takes(group) is not True]
    if missing:
        changes["groups"] = ",".join([allowed, *missing])
    return changes


def sync_interval(current: Mapping[str, Any]) -> float:
    """Seconds between two writes of group sync, if it is on."""
    value = current.get(_INTERVAL)
    return float(value) if isinstance(value, int | float) and value > 0 else _DEFAULT_INTERVAL
