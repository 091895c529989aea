# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read stored offsets from the topic of the workers, and let the operator change them.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol

from ..._core.errors import DrError
from ..._core.partition import Partition
from ..._kubernetes.api import KubernetesError, Resource
from .changing import KafkaConnectors
from .looks import Looks
from .resources import MANAGED_BY, OFFSETS
from .site import CONFIG_MAPS, Site, old_operator

__all__ = ["OffsetReader", "OffsetWork", "OffsetsTopic"]


class OffsetReader(Protocol):
    """Reads the stored offsets of one connector from the workers' topic (``ConnectOffsets``)."""

    def last_replicated_offset(self) -> dict[Partition, int]:
        """Return the offset of the last replicated record by source partition."""


class OffsetsTopic:
    """The offsets topic of one site. Reading it changes nothing, and each read continues where the last one ended."""

    def __init__(self, site: Site, reader: Callable[[str, str, str], OffsetReader]) -> None:
        """``reader``: of (offsets topic, connector, source alias)."""
        self._site, self._reader = site, reader
        self._readers: dict[tuple[str, str], OffsetReader] = {}

    def entries(self, connector: str, alias: str) -> list[dict[str, Any]]:
        """Return the stored offsets of ``connector`` (the resource's name) in Kafka Connect's format."""
        key = connector, alias
        if key not in self._readers:
            self._readers[key] = self._reader(self._site.offsets_topic, *key)
        return [
            {
                "partition": {"cluster": alias, "topic": partition.topic, "partition": partition.partition},
                "offset": {"offset": offset},
            }
            for partition, offset in self._readers[key].last_replicated_offset().items()
        ]


class OffsetWork:
    """Work of the operator on the stored offsets of a STOPPED connector. Callers read the offsets back."""

    def __init__(self, resources: KafkaConnectors, looks: Looks) -> None:
        self._site, self._resources, self._looks = resources.site, resources, looks

    def reset(self, name: str) -> None:
        """Remove all stored offsets. Raises ``operator_too_old``: before 0.44 the operator ignores the annotation."""
        if not self._site.lists_offsets():
            raise old_operator(self._site, "a reset of offsets")
        self._do(name, "reset", {})

    def alter(self, name: str, entries: Sequence[Mapping[str, Any]]) -> None:
        """Set offsets, which the operator takes from a ConfigMap. Other partitions keep theirs."""
        resource = self._resources.require(name)
        config_map = f"{resource['metadata']['name']}-offsets"
        self._write(config_map, resource, {"offsets": list(entries)})
        try:
            self._do(name, "alter", {"alterOffsets": {"fromConfigMap": {"name": config_map}}})
        finally:
            # Without it, the operator cannot do work later that was given up. The next change would replace it.
            with suppress(DrError):
                self._site.api.delete(CONFIG_MAPS, self._site.namespace, config_map)

    def _do(self, name: str, work: str, spec: Mapping[str, Any]) -> None:
        self._looks.settle(name)
        try:
            self._resources.change(name, spec, {OFFSETS: work})
        except KubernetesError as error:
            if "alterOffsets" in error.text:
                raise old_operator(self._site, "a change of offsets") from error
            raise
        self._resources.settle(name, work)

    def _write(self, name: str, owner: Resource, content: Mapping[str, Any]) -> None:
        """Write the ConfigMap. It is deleted with the resource if this run is killed."""
        reference = {key: owner[key] for key in ("apiVersion", "kind")}
        reference |= {key: owner["metadata"][key] for key in ("name", "uid")}
        body = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name, "labels": dict(MANAGED_BY), "ownerReferences": [reference]},
            "data": {"offsets.json": json.dumps(content)},
        }
        api, namespace = self._site.api, self._site.namespace
        if api.find(CONFIG_MAPS, namespace, name) is None:
            api.create(CONFIG_MAPS, namespace, body)
        else:
            api.replace(CONFIG_MAPS, namespace, name, body)
