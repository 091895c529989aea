# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Custom resource definitions with the fields of Strimzi's that the product uses, by version of the operator.

Not Strimzi's own files: the schemas are reduced. What they keep: versions, required fields, enums, the subresource
status, and which fields are unknown to an older version. Some tests use the vendor's own files, where a folder has them
by version: KAFKA_DR_CRDS, or ../shared/crds beside the checkout.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from yamls import load_yaml

GROUP = "kafka.strimzi.io"
VENDOR = Path(os.environ.get("KAFKA_DR_CRDS") or Path(__file__).resolve().parents[3] / "shared" / "crds")
STORAGE = {"config": "configs", "offset": "offsets", "status": "status"}
#: The specification of a KafkaConnect, with the group and topics that v1beta2 has by default and v1 requires.
CONNECT_SPEC = {
    "replicas": 1,
    "bootstrapServers": "kafka:9092",
    "groupId": "connect-cluster",
    **{f"{name}StorageTopic": f"connect-cluster-{topic}" for name, topic in STORAGE.items()},
}


def mirror_spec(topics: str, replicas: int = 1) -> dict[str, Any]:
    """The v1 specification of a KafkaMirrorMaker2 that replicates ``topics`` from P to B."""
    target = {key: value for key, value in CONNECT_SPEC.items() if key != "replicas"}
    source = {"alias": "P", "bootstrapServers": "kafka:9092"}
    mirror = {"source": source, "topicsPattern": topics, "sourceConnector": {"config": {}}}
    return {"replicas": replicas, "target": {**target, "alias": "B"}, "mirrors": [mirror]}


_FREE = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_REQUIRED = {
    ("KafkaConnect", "v1"): list(CONNECT_SPEC),
    ("KafkaConnect", "v1beta2"): ["bootstrapServers"],
    ("KafkaMirrorMaker2", "v1"): ["replicas", "target", "mirrors"],
}
_PLURALS = {
    "KafkaConnect": "kafkaconnects",
    "KafkaConnector": "kafkaconnectors",
    "KafkaMirrorMaker2": "kafkamirrormaker2s",
}


def definitions(version: str, vendor: bool = False) -> list[dict[str, Any]]:
    """The definitions of an operator of this version, such as ``0.49.1``. ``vendor``: from the vendor's files."""
    if vendor:
        return [load_yaml(path) for path in sorted((VENDOR / version).glob("*.yaml"))]
    return [_definition(kind, version) for kind in _PLURALS]


def _definition(kind: str, version: str) -> dict[str, Any]:
    plural = _PLURALS[kind]
    names = {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": names,
            "versions": [
                {
                    "name": name,
                    "served": True,
                    # v1 is stored from 1.0 on.
                    "storage": name == ("v1" if _number(version) >= (1, 0) else "v1beta2"),
                    "subresources": {"status": {}},
                    "schema": {"openAPIV3Schema": {"type": "object", "properties": _properties(kind, name, version)}},
                }
                for name in _served(version)
            ],
        },
    }


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _served(version: str) -> list[str]:
    number = _number(version)
    return [*(["v1"] if number >= (0, 49) else []), *(["v1beta2"] if number < (1, 0) else [])]


def _properties(kind: str, name: str, version: str) -> dict[str, Any]:
    if kind == "KafkaConnector":
        return {"spec": {"type": "object", "properties": _connector(name, version)}, "status": _FREE}
    return {"spec": {**_FREE, "required": _REQUIRED.get((kind, name), [])}, "status": _FREE}


def _connector(name: str, version: str) -> dict[str, Any]:
    text = {"type": "string"}

    def reference(field: str) -> dict[str, Any]:
        place = {"type": "object", "properties": {"name": text}}
        return {"type": "object", "required": [field], "properties": {field: place}}

    fields: dict[str, Any] = {
        "class": text,
        "tasksMax": {"type": "integer", "minimum": 1},
        "config": _FREE,
        "state": {"type": "string", "enum": ["paused", "stopped", "running"]},
        "autoRestart": _FREE,
    }
    if _number(version) >= (0, 44):
        fields |= {"listOffsets": reference("toConfigMap"), "alterOffsets": reference("fromConfigMap")}
    if name == "v1beta2":
        fields["pause"] = {"type": "boolean"}
    if _number(version) >= (0, 49):
        fields["version"] = text
    return fields
