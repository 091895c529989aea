# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Control the connectors of one KafkaConnect by KafkaConnector resources.

A connector that this client has not changed is read from the status of its resource, which changes nothing. One that
it has changed, or that :meth:`StrimziClient.prove` names, is read by looks (:mod:`.looks`), which prove what they show.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ..._connect.rest import Connector
from ..._core.errors import DrError
from .changing import OPERATOR_SECONDS, KafkaConnectors
from .creating import Creation
from .looks import Looks
from .proving import Proving
from .resources import (
    CLUSTER_LABEL,
    RESTART,
    config_patch,
    connector_name_of,
    connector_of,
    mirror_connectors,
    plain_secrets,
    resource_name,
    state_patch,
)
from .site import Site
from .stored_offsets import OffsetReader, OffsetsTopic, OffsetWork

__all__ = ["StrimziClient"]


class StrimziClient:
    """The :class:`..._connect.connector_client.ConnectorClient` of one site."""

    # The looks of a client have one state. The operator handles one resource of a KafkaConnect at a time anyway.
    concurrent = False
    patience = OPERATOR_SECONDS

    def __init__(
        self,
        site: Site,
        stored: Callable[[str, str, str], OffsetReader],
        cluster_id: Callable[[str], str],
    ) -> None:
        """``stored``: of (offsets topic, connector, source alias). ``cluster_id``: of the workers' group."""
        self.site = site
        self._resources = KafkaConnectors(site)
        self._looks = Looks(self._resources)
        self._proving = Proving(self._resources, self._looks)
        self._creation = Creation(self._resources, self.connectors)
        self._work = OffsetWork(self._resources, self._looks)
        self._topic = OffsetsTopic(site, stored)
        self._cluster_id = cluster_id
        self._taken: dict[str, list[str]] = {}

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
        self._proving.add(names)

    def unproven(self, names: Iterable[str]) -> list[str]:
        """Those connectors that no look has read, although the operator can."""
        return self._proving.unread(names)

    def connectors(self) -> dict[str, Connector]:
        """Return the connectors of all KafkaConnector resources of the site, and of all KafkaMirrorMaker2 resources."""
        labels = f"{CLUSTER_LABEL}={self.site.connect}"
        listed = self.site.api.find_all(self.site.kind("kafkaconnectors"), self.site.namespace, labels)
        resources = self._proving.read({connector_name_of(resource): resource for resource in listed})
        self._taken = {name: self._resources.refusals(resource) for name, resource in resources.items()}
        mirrors = self.site.api.find_all(self.site.kind("kafkamirrormaker2s"), self.site.namespace)
        others = {connector.name: connector for mirror in mirrors for connector in mirror_connectors(mirror)}
        return {**others, **{name: connector_of(resource) for name, resource in resources.items()}}

    def taken(self, name: str) -> list[str]:
        """Why a stop of a connector that :meth:`connectors` listed last would be refused, one sentence each."""
        owned = "it belongs to a KafkaMirrorMaker2. Set spec.replicas to 0 there, and name its offsets topic instead"
        return [owned] if "/" in name else self._taken.get(name, [])

    def find(self, name: str) -> Connector | None:
        """Return one connector, even if it has no status yet."""
        resource = self._resources.find(name)
        return None if resource is None else connector_of(resource)

    def asked_to_stop(self, name: str) -> bool:
        """Whether the specification wants the connector stopped, which proves nothing. False: not, or unknown."""
        with suppress(DrError):  # the stop reports it
            connector = self.find(name)
            return connector is not None and connector.state == "STOPPED"
        return False

    def task_configs(self, name: str) -> list[dict[str, str]]:
        """Empty: no resource shows the configuration of tasks."""
        del name
        return []

    def validate(self, connector_class: str, config: Mapping[str, str]) -> dict[str, Any]:
        """Refuse a secret in plain text, which every reader of the resource would see. Otherwise empty.

        No resource asks a worker to validate: the operator reports an error after it has tried.
        """
        del connector_class
        self.site.require_overrides(config)
        plain = plain_secrets(config)
        if plain:
            raise DrError(
                "secret_in_resource",
                f"The setting {', '.join(plain)} would be readable in the KafkaConnector.",
                "No connector was changed. In kafka_dr_flow.settings, set it to a reference of a config provider, such"
                " as ${secrets:kafka/kafka-dr:jaas} (docs/kubernetes.md).",
                self.url,
            )
        return {}

    # ---- changes

    def create(self, name: str, config: Mapping[str, str], initial_state: str) -> None:
        """Create the resource. A STOPPED connector gets its filters after it was proven to be stopped."""
        stopped = initial_state == "STOPPED"
        self._creation.begin(name, config, stopped)
        self.prove([name])
        if stopped:
            self.configure(name, config)
            # The status must be that of this change when another process reads it.
            self._looks.settle(name)

    def configure(self, name: str, config: Mapping[str, str]) -> None:
        """Replace the whole configuration. The state does not change."""
        self.prove([name])
        resource = self._resources.require(name)
        self._creation.await_stopped(resource)
        self._proving.begin(name, config_patch(resource, config))

    def stop(self, name: str, awaited: bool = True) -> None:
        """Set the state to stopped. If the caller waits for it, ask for a look in the same patch.

        Without a look the operator goes on to the next connector at once: a worker lists no offsets before it has
        stopped (0.7 to 1.4 s, measured).
        """
        if awaited:
            self._set_state(name, "stopped")
        else:
            self._looks.settle(name)
            self._resources.change(name, state_patch(self._resources.require(name), "stopped"), {})

    def resume(self, name: str) -> None:
        """Set the state to running, and ask for a look in the same patch."""
        self._set_state(name, "running")

    def _set_state(self, name: str, state: str) -> None:
        self.prove([name])
        self._proving.begin(name, state_patch(self._resources.require(name), state))

    def restart_failed(self, name: str) -> None:
        """Restart the connector and its tasks if they failed."""
        self._annotate(name, RESTART, "includeTasks,onlyFailed")

    def restart_connector(self, name: str) -> None:
        """Restart only the connector, in its state."""
        self._annotate(name, RESTART, "true")

    def delete(self, name: str) -> None:
        """Delete the resource. The operator then deletes the connector, whose stored offsets survive."""
        self._looks.settle(name)
        self._resources.delete(name)
        self._proving.discard(name)

    def _annotate(self, name: str, key: str, value: str) -> None:
        # The status shows the state from before the restart until the operator has carried it out.
        self.prove([name])
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
                "No other connector is affected. To adopt it, stop it (spec.replicas 0), and name its offsets topic in"
                " kafka_dr_adopt (docs/kubernetes.md).",
                self.url,
            )
        resource = self._resources.find(name)
        if resource is None:
            # Offsets survive the deletion of a connector, under the name of its resource.
            return {"offsets": self._topic.entries(resource_name(name), name.partition("->")[0])}
        listed = self._proving.offsets(name)
        if listed is not None:
            return dict(listed)
        alias = connector_of(resource).config.get("source.cluster.alias")
        return {} if alias is None else {"offsets": self._topic.entries(str(resource["metadata"]["name"]), alias)}

    def reset_offsets(self, name: str) -> None:
        """Remove all stored offsets of a STOPPED connector."""
        self.prove([name])
        self._work.reset(name)

    def alter_offsets(self, name: str, entries: Sequence[Mapping[str, Any]]) -> None:
        """Set stored offsets of a STOPPED connector."""
        self.prove([name])
        self._work.alter(name, entries)
