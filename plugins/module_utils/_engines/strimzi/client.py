# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Control the connectors of one KafkaConnect by KafkaConnector resources.

A connector that this client has not changed is read from the status of its resource, which changes nothing. One that
it has changed, or that :meth:`StrimziClient.prove` names, is read by looks (:mod:`.looks`), which prove what they show.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from ..._connect.rest import Connector
from ..._core.errors import DrError
from ..._core.partition import Partition
from ..._core.waiting import wait_until
from ..._kubernetes.api import KubernetesError, Resource
from .changing import KafkaConnectors
from .looks import Looks
from .resources import (
    CLUSTER_LABEL,
    MANAGED_BY,
    NAME,
    OFFSETS,
    RESTART,
    config_patch,
    connector_name_of,
    connector_of,
    mirror_connectors,
    resource_name,
    spec_of,
)
from .site import CONFIG_MAPS, Site, old_operator

__all__ = ["OffsetReader", "StrimziClient"]

# A regular expression that no name matches. A connector with it runs, but replicates nothing.
_NOTHING = "(?!)"


class OffsetReader(Protocol):
    """Reads the stored offsets of one connector from the workers' topic (``ConnectOffsets``)."""

    def last_replicated_offset(self) -> dict[Partition, int]:
        """Return the offset of the last replicated record by source partition."""


class StrimziClient:
    """The :class:`..._connect.connector_client.ConnectorClient` of one site."""

    def __init__(
        self,
        site: Site,
        timeout: float,
        stored: Callable[[str, str, str], OffsetReader],
        cluster_id: Callable[[str], str],
    ) -> None:
        """``stored``: of (offsets topic, connector, source alias). ``cluster_id``: of the workers' group."""
        self.site = site
        self._resources = KafkaConnectors(site, timeout)
        self._looks = Looks(self._resources)
        self._cluster_id, self._stored = cluster_id, stored
        self._readers: dict[tuple[str, str], OffsetReader] = {}
        #: Connectors that are read by looks, and those of them that a look has read.
        self._proven: set[str] = set()
        self._looked: set[str] = set()
        self._can_look = True

    @property
    def url(self) -> str:
        """Address of the API server."""
        return self.site.api.url

    @property
    def requests(self) -> list[dict[str, Any]]:
        """All requests sent so far, without secrets."""
        return self.site.api.requests

    # ---- observation

    def about(self) -> tuple[str, str]:
        """Return the id of the cluster on which the workers' group is, and the workers' version of Kafka."""
        return self._cluster_id(self.site.group_id), self.site.kafka_version()

    def plugins(self) -> set[str]:
        """Class names of the connectors, as the operator read them from a worker."""
        return set(self.site.plugins())

    def prove(self, names: Iterable[str]) -> None:
        """Read these connectors by looks from now on."""
        self._proven |= set(names)

    def unproven(self, names: Iterable[str]) -> list[str]:
        """Those connectors that no look has read."""
        return [name for name in names if self._can_look and name not in self._looked]

    def connectors(self) -> dict[str, Connector]:
        """Return the connectors of all KafkaConnector resources of the site, and of all KafkaMirrorMaker2 resources."""
        labels = f"{CLUSTER_LABEL}={self.site.connect}"
        listed = self.site.api.find_all(self.site.kind("kafkaconnectors"), self.site.namespace, labels)
        resources = {connector_name_of(resource): resource for resource in listed}
        self._looks.drop(name for name in self._proven if name not in resources)
        looked = [name for name in sorted(self._proven) if name in resources and self._can_look]
        # All patches first: the operator then works on one while this client waits for another.
        for name in looked:
            self._begin(name)
        for name in looked if self._can_look else ():
            resources[name] = self._looks.finish(name).resource
            self._looked.add(name)
        mirrors = self.site.api.find_all(self.site.kind("kafkamirrormaker2s"), self.site.namespace)
        others = {connector.name: connector for one in mirrors for connector in mirror_connectors(one)}
        return {**others, **{name: connector_of(resource) for name, resource in resources.items()}}

    def _begin(self, name: str, spec: Mapping[str, Any] | None = None) -> None:
        """Begin a look. An operator without looks (before Strimzi 0.44) gets the change alone."""
        if self._can_look:
            try:
                self._looks.begin(name, spec)
                return
            except DrError as error:
                if error.code != "operator_too_old":
                    raise
                self._can_look = False
        if spec:
            self._resources.change(name, spec, {})

    def find(self, name: str) -> Connector | None:
        """Return one connector, even if it has no status yet."""
        found = self._resources.find(name)
        return None if found is None else connector_of(found)

    def task_configs(self, name: str) -> list[dict[str, str]]:
        """Empty: no resource shows the configuration of tasks."""
        del name
        return []

    def validate(self, connector_class: str, config: Mapping[str, str]) -> dict[str, Any]:
        """Empty: no resource asks a worker to validate. The operator reports an error after it has tried."""
        del connector_class, config
        return {}

    # ---- changes

    def create(self, name: str, config: Mapping[str, str], initial_state: str) -> None:
        """Create the resource.

        Before Strimzi 1.2 the operator creates a connector RUNNING and stops it afterwards: one with
        ``spec.state: stopped`` replicated 100 records (measured with 0.49.1). So a STOPPED connector is created with
        filters that match nothing, and gets its own after it was proven to be stopped.
        """
        stopped = initial_state == "STOPPED"
        first = {**config, **{key: _NOTHING for key in ("topics", "groups") if stopped and key in config}}
        metadata = {
            "name": resource_name(name),
            "labels": {CLUSTER_LABEL: self.site.connect, **MANAGED_BY},
            "annotations": {NAME: name},
        }
        body = {
            "apiVersion": self.site.kind("kafkaconnectors").version,
            "kind": "KafkaConnector",
            "metadata": metadata,
            "spec": spec_of(first, "stopped" if stopped else "running"),
        }
        try:
            self._resources.create(body)
        except KubernetesError as error:
            # An earlier attempt without a response may have created it.
            same = error.status == 409 and (found := self._resources.find(name)) is not None
            if not same or connector_of(found or {}).config != {**first, "name": name}:
                raise
        self.prove([name])
        if stopped:
            self._await_stopped(name)
            self.configure(name, config)
            # The status must be that of this change when another process reads it.
            self._looks.settle(name)

    def _await_stopped(self, name: str) -> None:
        bounds = self._resources.operator_bounds
        waited = wait_until(lambda: self.connectors().get(name), lambda seen: seen is not None and seen.stopped, bounds)
        if not waited.done:
            seen = waited.state
            raise DrError(
                "not_stopped",
                f'The new connector "{name}" is {seen.state if seen else "missing"} after {waited.seconds:.0f} s,'
                " wanted STOPPED with 0 tasks.",
                "Its filters match nothing, so it replicates nothing. Check the operator's log, then start the same"
                " playbook again.",
                self.url,
            )

    def configure(self, name: str, config: Mapping[str, str]) -> None:
        """Replace the whole configuration. The state does not change."""
        self.prove([name])
        self._begin(name, config_patch(self._resources.require(name), config))

    def stop(self, name: str) -> None:
        """Set the state to stopped, and ask for a look in the same patch."""
        self._set_state(name, "stopped")

    def resume(self, name: str) -> None:
        """Set the state to running, and ask for a look in the same patch."""
        self._set_state(name, "running")

    def _set_state(self, name: str, state: str) -> None:
        self.prove([name])
        older = {"pause": None} if "pause" in (self._resources.require(name).get("spec") or {}) else {}
        self._begin(name, {"state": state, **older})

    def restart_failed(self, name: str) -> None:
        """Restart the connector and its tasks if they failed."""
        self._annotate(name, RESTART, "includeTasks,onlyFailed")

    def restart_connector(self, name: str) -> None:
        """Restart only the connector."""
        self._annotate(name, RESTART, "true")

    def delete(self, name: str) -> None:
        """Delete the resource. The operator then deletes the connector, whose stored offsets survive."""
        self._looks.settle(name)
        self._resources.delete(name)
        self._proven.discard(name)

    def _annotate(self, name: str, key: str, value: str) -> None:
        self._looks.settle(name)
        self._resources.change(name, {}, {key: value})

    # ---- stored offsets

    def offsets(self, name: str) -> dict[str, Any]:
        """Return the stored offsets: by a look of their own, else from the offsets topic of the workers.

        Within one look the operator reads the offsets before the state. Offsets that are final with a state therefore
        need a look that begins after that state was seen.
        """
        if "/" in name:
            raise DrError(
                "offsets_not_readable",
                f'The stored offsets of "{name}" are not known: only its KafkaMirrorMaker2 could list them.',
                "No other connector is affected.",
                self.url,
            )
        found = self._resources.find(name)
        if found is None:
            # Offsets survive the deletion of a connector, under the name of its resource.
            return {"offsets": self._from_topic(resource_name(name), name.partition("->")[0])}
        if name in self._proven and self._can_look:
            self._looks.settle(name)
            self._begin(name)
        if name in self._proven and self._can_look:
            return dict(self._looks.finish(name).offsets)
        alias = connector_of(found).config.get("source.cluster.alias")
        return {} if alias is None else {"offsets": self._from_topic(str(found["metadata"]["name"]), alias)}

    def _from_topic(self, made: str, alias: str) -> list[dict[str, Any]]:
        key = made, alias
        if key not in self._readers:
            self._readers[key] = self._stored(self.site.offsets_topic, *key)
        return [
            {
                "partition": {"cluster": alias, "topic": partition.topic, "partition": partition.partition},
                "offset": {"offset": offset},
            }
            for partition, offset in self._readers[key].last_replicated_offset().items()
        ]

    def reset_offsets(self, name: str) -> None:
        """Remove all stored offsets of a STOPPED connector. An operator before 0.44 ignores the annotation."""
        if not self.site.lists_offsets():
            raise old_operator(self.site, "a reset of offsets")
        self._work(name, "reset", {})

    def alter_offsets(self, name: str, entries: Sequence[Mapping[str, Any]]) -> None:
        """Write the offsets into a ConfigMap, and let the operator set them."""
        config_map = f"{resource_name(name)}-offsets"
        self._write_config_map(config_map, self._resources.require(name), {"offsets": list(entries)})
        self._work(name, "alter", {"alterOffsets": {"fromConfigMap": {"name": config_map}}})
        self.site.api.delete(CONFIG_MAPS, self.site.namespace, config_map)

    def _work(self, name: str, work: str, spec: Mapping[str, Any]) -> None:
        self._looks.settle(name)
        self.prove([name])
        try:
            self._resources.change(name, spec, {OFFSETS: work})
        except KubernetesError as error:
            if "alterOffsets" in error.text:
                raise old_operator(self.site, "a change of offsets") from error
            raise
        self._resources.settle(name, work)

    def _write_config_map(self, name: str, owner: Resource, content: Mapping[str, Any]) -> None:
        metadata = owner["metadata"]
        reference = {key: owner[key] for key in ("apiVersion", "kind")} | {
            key: metadata[key] for key in ("name", "uid")
        }
        body = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name, "labels": dict(MANAGED_BY), "ownerReferences": [reference]},
            "data": {"offsets.json": json.dumps(content)},
        }
        if self.site.api.find(CONFIG_MAPS, self.site.namespace, name) is None:
            self.site.api.create(CONFIG_MAPS, self.site.namespace, body)
        else:
            self.site.api.replace(CONFIG_MAPS, self.site.namespace, name, body)
