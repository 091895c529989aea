# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Translate between Kafka Connect's connectors and KafkaConnector resources.

Sources: io.strimzi.api.kafka.model.connector.KafkaConnectorSpec, KafkaConnectorStatus,
io.strimzi.operator.cluster.operator.assembly.AbstractConnectOperator (Strimzi 0.49.1).

Private to this collection: may change in any release.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..._connect.rest import Connector, Task, parse_connector
from ..._core.errors import DrError
from ..._core.redaction import is_secret, looks_secret
from ..._core.resources.connector_settings import as_text
from ..._kubernetes.api import Resource

__all__ = [
    "CLUSTER_LABEL",
    "MANAGED_BY",
    "NAME",
    "OFFSETS",
    "PAUSED",
    "RESTART",
    "annotation",
    "config_patch",
    "connector_name_of",
    "connector_of",
    "mirror_connectors",
    "new_resource",
    "plain_secrets",
    "resource_name",
    "settled_generation",
    "spec_of",
    "state_patch",
    "warning_of",
]

#: The KafkaConnect whose workers run the connector.
CLUSTER_LABEL = "strimzi.io/cluster"
#: The work that the operator is to do with the stored offsets: ``list``, ``alter`` or ``reset``.
OFFSETS = "strimzi.io/connector-offsets"
RESTART = "strimzi.io/restart"
PAUSED = "strimzi.io/pause-reconciliation"
#: Our name of the connector, such as ``P->B.MirrorSourceConnector``.
NAME = "kafka-dr.switchback/connector"
MANAGED_BY = {"app.kubernetes.io/managed-by": "switchback.kafka_dr"}
# Settings that have fields of their own. The operator refuses them in spec.config.
_FIELDS = ("name", "connector.class", "tasks.max")
_LONGEST_NAME = 253
_OFFSET_WARNINGS = ("ListOffsets", "AlterOffsets", "ResetOffsets", "ManageOffsets")
# A task that the status does not show. Its state is unknown, so the connector is not stopped.
_UNKNOWN_TASK = Task(-1, "UNKNOWN")


def resource_name(name: str) -> str:
    """The name of the resource for a connector: ``p-b.mirrorsourceconnector`` for ``P->B.MirrorSourceConnector``.

    Kubernetes accepts only lower-case letters, digits, "-" and ".", and refuses ``>`` with 422. Two names may give the
    same resource: callers compare the annotation :data:`NAME`. Raises ``name_not_possible``.
    """
    plain = re.sub(r"[^a-z0-9.]+", "-", name.lower())
    made = ".".join(label.strip("-") for label in plain.split("."))
    if len(made) > _LONGEST_NAME or not all(made.split(".")):
        raise DrError(
            "name_not_possible",
            f'The connector "{name}" has no name that Kubernetes accepts: "{made}".',
            "Use aliases and application names that contain letters or digits and are not longer than 60 characters.",
        )
    return made


def connector_name_of(resource: Resource) -> str:
    """The connector's name: ours from the annotation, else that of the resource."""
    return annotation(resource, NAME) or str(resource["metadata"]["name"])


def annotation(resource: Resource, key: str) -> str | None:
    """The value of an annotation. None: the resource does not have it."""
    value = (resource["metadata"].get("annotations") or {}).get(key)
    return None if value is None else str(value)


def settled_generation(resource: Resource) -> int:
    """The generation of the specification that the operator carried out last. 0: none yet."""
    return int((resource.get("status") or {}).get("observedGeneration") or 0)


def warning_of(resource: Resource) -> str | None:
    """The operator's message about work on offsets that failed. None: none failed."""
    for condition in (resource.get("status") or {}).get("conditions") or []:
        if condition.get("type") == "Warning" and condition.get("reason") in _OFFSET_WARNINGS:
            return str(condition.get("message") or condition["reason"])
    return None


def config_of(resource: Resource) -> dict[str, str]:
    """The whole configuration of the connector, as Kafka Connect would report it."""
    spec = resource.get("spec") or {}
    config = {str(key): as_text(value) for key, value in (spec.get("config") or {}).items() if value is not None}
    if spec.get("class"):
        config["connector.class"] = str(spec["class"])
    if spec.get("tasksMax") is not None:
        config["tasks.max"] = str(spec["tasksMax"])
    return {**config, "name": connector_name_of(resource)}


def spec_of(config: Mapping[str, str], state: str) -> dict[str, Any]:
    """The specification of a connector with this configuration. ``state``: ``running`` or ``stopped``."""
    return {**_fields(config), "state": state, "config": _settings(config)}


def new_resource(name: str, version: str, connect: str, config: Mapping[str, str], state: str) -> dict[str, Any]:
    """The KafkaConnector to create. ``version``: its API version. ``connect``: the KafkaConnect of its workers."""
    return {
        "apiVersion": version,
        "kind": "KafkaConnector",
        "metadata": {
            "name": resource_name(name),
            "labels": {CLUSTER_LABEL: connect, **MANAGED_BY},
            "annotations": {NAME: name},
        },
        "spec": spec_of(config, state),
    }


def plain_secrets(config: Mapping[str, str]) -> list[str]:
    """The settings whose secret is readable, because it is no reference of a config provider (KIP-297)."""
    return sorted(
        key for key, value in config.items() if value and "${" not in value and (is_secret(key) or looks_secret(value))
    )


def config_patch(resource: Resource, config: Mapping[str, str]) -> dict[str, Any]:
    """The merge patch of the specification that replaces the whole configuration. The state does not change."""
    removed = dict.fromkeys((resource.get("spec") or {}).get("config") or {})
    return {**_fields(config), "config": {**removed, **_settings(config)}}


def state_patch(resource: Resource, state: str) -> dict[str, Any]:
    """The merge patch of the specification that sets the state. It removes the older ``pause``, which contradicts."""
    older = {"pause": None} if "pause" in (resource.get("spec") or {}) else {}
    return {"state": state, **older}


def _fields(config: Mapping[str, str]) -> dict[str, Any]:
    tasks = config.get("tasks.max")
    return {"class": config["connector.class"], **({"tasksMax": int(tasks)} if tasks is not None else {})}


def _settings(config: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in config.items() if key not in _FIELDS}


def connector_of(resource: Resource) -> Connector:
    """The connector as the resource shows it.

    The first status after a change is stale: it shows the state from before the change, although observedGeneration is
    that of the change (5 of 5 stops, measured with 0.49.1). So the status counts only where it agrees with the
    specification:

    ================  ====================================================  =========================================
    spec.state        status                                                result
    ================  ====================================================  =========================================
    stopped, paused   of this generation, the same state                    that state and the tasks of the status
    stopped, paused   of an earlier generation, of another state, or none   that state with a task in state UNKNOWN
    running           of this generation, neither STOPPED nor PAUSED        the status
    running           anything else                                         UNKNOWN
    ================  ====================================================  =========================================
    """
    config, wanted = config_of(resource), _wanted_state(resource)
    name = config["name"]
    status = resource.get("status") or {}
    is_current = settled_generation(resource) == resource["metadata"]["generation"]
    reported = parse_connector(name, {"status": status.get("connectorStatus"), "info": {"config": config}})
    if wanted in ("STOPPED", "PAUSED"):
        if is_current and reported.state == wanted:
            return reported
        return Connector(name, wanted, reported.tasks or (_UNKNOWN_TASK,), config)
    if is_current and reported.state not in (None, "STOPPED", "PAUSED"):
        return reported
    failure = _not_ready(status) if is_current else None
    return Connector(name, "FAILED" if failure else "UNKNOWN", (), config, failure or "")


def _wanted_state(resource: Resource) -> str:
    spec = resource.get("spec") or {}
    # spec.pause is the older field; v1 does not have it.
    return str(spec.get("state") or ("paused" if spec.get("pause") else "running")).upper()


def _not_ready(status: Mapping[str, Any]) -> str | None:
    """The operator's message about a connector that it could not create or configure."""
    for condition in status.get("conditions") or []:
        if condition.get("type") == "NotReady" and condition.get("status") == "True":
            return str(condition.get("message") or condition.get("reason") or "no reason is given")
    return None


def mirror_connectors(resource: Resource) -> list[Connector]:
    """The connectors of a KafkaMirrorMaker2 resource, which only its owner can change.

    The names have the name of the resource as a prefix, because the operator names them like this collection does. The
    state is that of the last reconciliation, which may be two minutes old. Without replicas the operator reports none.
    """
    prefix, spec = resource["metadata"]["name"], resource.get("spec") or {}
    reported = {
        str(connector.get("name")): connector for connector in (resource.get("status") or {}).get("connectors") or []
    }
    connectors = []
    for mirror in spec.get("mirrors") or []:
        source = (mirror.get("source") or {}).get("alias") or mirror.get("sourceCluster")
        target = (spec.get("target") or {}).get("alias") or mirror.get("targetCluster")
        for part in ("Source", "Checkpoint"):
            own = mirror.get(f"{part[0].lower()}{part[1:]}Connector")
            if own is None:
                continue
            config = {
                "connector.class": f"org.apache.kafka.connect.mirror.Mirror{part}Connector",
                "source.cluster.alias": str(source),
                "target.cluster.alias": str(target),
                **_pattern(mirror, "topics"),
                **_pattern(mirror, "groups"),
                **{str(key): as_text(value) for key, value in (own.get("config") or {}).items()},
            }
            name = f"{source}->{target}.Mirror{part}Connector"
            entry = {"status": reported.get(name), "info": {"config": config}}
            shown = parse_connector(f"{prefix}/{name}", entry)
            state = "STOPPED" if _has_no_replicas(resource) else "UNKNOWN"
            connectors.append(shown if shown.state else Connector(shown.name, state, (), config))
    return connectors


def _has_no_replicas(resource: Resource) -> bool:
    """Whether the operator has scaled the workers of a resource to 0."""
    wanted = (resource.get("spec") or {}).get("replicas") == 0
    is_current = settled_generation(resource) == resource["metadata"].get("generation")
    return wanted and is_current and (resource.get("status") or {}).get("replicas") == 0


def _pattern(mirror: Mapping[str, Any], kind: str) -> dict[str, str]:
    value = mirror.get(f"{kind}Pattern")
    return {} if value is None else {kind: str(value)}
