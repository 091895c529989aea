# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One MirrorMaker 2 service at Aiven: its state, its settings and its replication flows.

Sources: the client of Aiven (aiven-client 4.18.0, ``aiven/client/client.py``) for paths and result keys; the Terraform
provider of Aiven for fields and states.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .._core.errors import DrError
from .._core.names import flow_name
from .._http import quoted
from .http import AivenTransport, ConflictError, UnsureError, open_transport

__all__ = ["Aiven", "Flows", "Service", "open_service"]

#: The fields of a flow by its name, ``P->B``. Without the fields that name its clusters.
Flows = dict[str, dict[str, Any]]
_TYPE = "kafka_mirrormaker"
_ENDS = ("source_cluster", "target_cluster")
# States in which the workers of a service run. In the others, RUNNING flows replicate nothing.
_WORKING = frozenset({"RUNNING", "REBALANCING"})


@dataclass(frozen=True)
class Service:
    """A MirrorMaker 2 service as the API reports it."""

    #: RUNNING, REBALANCING, REBUILDING or POWEROFF.
    state: str
    #: Settings of all flows of the service: ``user_config.kafka_mirrormaker``.
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def works(self) -> bool:
        """Whether its workers run, as far as the API reports it."""
        return self.state in _WORKING


class Aiven:
    """The calls for one service. Each raises a :class:`DrError` that explains a refusal of the API."""

    def __init__(self, client: AivenTransport, project: str, service: str) -> None:
        self.client, self.project, self.name = client, project, service
        self._path = quoted("project", project, "service", service)
        self._flows = f"{self._path}/mirrormaker/replication-flows"

    @property
    def full_name(self) -> str:
        """Project and service, for messages."""
        return f"{self.project}/{self.name}"

    def read_service(self) -> Service:
        """Return the service. Raises ``aiven_wrong_service`` if it is not a MirrorMaker 2 service."""
        row = self.client.read(self._path, "service", dict)
        kind = row.get("service_type")
        if kind != _TYPE:
            raise DrError(
                "aiven_wrong_service",
                f'The service {self.full_name} has the type "{kind}", wanted "{_TYPE}".',
                "Set service of kafka_dr_aiven.<alias> to the MirrorMaker 2 service, not to a Kafka service.",
                self.client.url,
            )
        config = row.get("user_config")
        settings = config.get(_TYPE) if isinstance(config, Mapping) else None
        return Service(str(row.get("state") or "unknown"), dict(settings) if isinstance(settings, Mapping) else {})

    def read_aliases(self) -> list[str]:
        """Return the cluster aliases of the service's integrations that are enabled."""
        aliases = []
        for row in self.client.read(f"{self._path}/integration", "service_integrations", list):
            if not isinstance(row, Mapping) or row.get("integration_type") != _TYPE or row.get("enabled") is False:
                continue
            config = row.get("user_config")
            if config is None and row.get("service_integration_id"):
                path = quoted("project", self.project, "integration", str(row["service_integration_id"]))
                config = self.client.read(path, "service_integration", dict).get("user_config")
            if isinstance(config, Mapping) and config.get("cluster_alias"):
                aliases.append(str(config["cluster_alias"]))
        return sorted(aliases)

    def read_flows(self) -> Flows:
        """Return all flows of the service."""
        flows = {}
        for row in self.client.read(self._flows, "replication_flows", list):
            if not isinstance(row, Mapping) or not all(isinstance(row.get(end), str) for end in _ENDS):
                raise self.client.unexpected(self._flows, "flows with source_cluster and target_cluster")
            flows[flow_name(row[_ENDS[0]], row[_ENDS[1]])] = {key: row[key] for key in row if key not in _ENDS}
        return flows

    def create_flow(self, source: str, target: str, fields: Mapping[str, Any]) -> None:
        """Create a flow. If it is unknown whether a request took effect, the list of flows decides."""
        body = {**fields, _ENDS[0]: source, _ENDS[1]: target}
        try:
            self.client.call("POST", self._flows, body)
        except (ConflictError, UnsureError):
            if flow_name(source, target) not in self.read_flows():
                raise

    def change_flow(self, source: str, target: str, fields: Mapping[str, Any]) -> None:
        """Set ``fields`` of a flow. The other fields keep their values."""
        self.client.call("PUT", f"{self._flows}{quoted(source, target)}", dict(fields))

    def delete_flow(self, source: str, target: str) -> None:
        """Delete a flow. A flow that is already gone is no error."""
        try:
            self.client.call("DELETE", f"{self._flows}{quoted(source, target)}")
        except DrError:
            if flow_name(source, target) in self.read_flows():
                raise

    def change_settings(self, settings: Mapping[str, Any]) -> None:
        """Replace the settings of all flows. Every worker of the service restarts."""
        self.client.call("PUT", self._path, {"user_config": {_TYPE: dict(settings)}})


def open_service(site: Mapping[str, Any], timeout: float) -> Aiven:
    """Open the service of a site of ``kafka_dr_aiven``. Sends no request. Raises ``aiven_no_token``."""
    return Aiven(open_transport(site, timeout), site["project"], site["service"])
