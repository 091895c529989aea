# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read and control one Streams Replication Manager service through Cloudera Manager.

The methods that act only start a command. ``commands.py`` joins or issues commands, waits for them and explains errors.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote_plus

from .._core.errors import DrError
from .._core.schema import nearest
from .._http import quoted
from .http import CmTransport, RefusedError
from .shapes import Command, Group, Property, Role, Service

__all__ = ["SRM_TYPE", "CmService", "open_service"]

SRM_TYPE = "STREAMS_REPLICATION_MANAGER"


class CmService:
    """A service of one cluster.

    ``service`` None: the only service of the type STREAMS_REPLICATION_MANAGER. Property values may be secrets: never
    log or return them unmasked.
    """

    def __init__(self, client: CmTransport, cluster: str, service: str | None = None) -> None:
        self.client = client
        self.cluster = cluster
        self._name = service
        self._listed: Service | None = None

    @property
    def name(self) -> str:
        """The name of the service. The first access may send a request."""
        if not self._name:
            self._listed = self._only_one()
            self._name = self._listed.name
        return self._name

    def anew(self) -> CmService:
        """Return an object for the same service without cached state, which may be outdated."""
        return CmService(self.client, self.cluster, self._name)

    # ---- observation

    def read_service(self) -> Service:
        """Read state, staleness and health. The first call reuses the response that contained the service's name."""
        name, listed = self.name, self._listed
        self._listed = None
        if listed is not None and listed.state:
            return listed
        return Service.parse(self._mapping(self._get(quoted("clusters", self.cluster, "services", name))))

    def read_config(self, group: str | None = None) -> list[Property]:
        """Read all properties of the service or of one role group, including properties that are not set."""
        answer = self._get(self._config_path(group), "?view=full")
        return [Property.parse(group, item) for item in self._items(answer)]

    def groups(self) -> list[Group]:
        """Read the role groups of the service."""
        return [Group.parse(item) for item in self._items(self._get(self._path("roleConfigGroups")))]

    def roles(self) -> list[Role]:
        """Read the roles of the service: one for each process or client."""
        return [Role.parse(item) for item in self._items(self._get(self._path("roles")))]

    def active_commands(self, cluster: bool = False) -> list[Command]:
        """Read the top-level commands that are active now.

        Those of this service or, with ``cluster``, those of the cluster that may concern this service.
        """
        path = quoted("clusters", self.cluster, "commands") if cluster else self._path("commands")
        found = [Command.parse(item) for item in self._items(self._get(path))]
        return [
            command
            for command in found
            if command.parent is None and command.active and command.service in (None, self.name)
        ]

    def read_command(self, number: int) -> Command:
        """Read one command with summaries of its child commands."""
        return Command.parse(self._mapping(self.client.call("GET", f"/commands/{number}")))

    def runtime_version(self) -> str:
        """Read the version of the cluster's Runtime. "": Cloudera Manager does not report it."""
        clusters = self._items(self.client.call("GET", "/clusters"))
        return next(
            (str(cluster.get("fullVersion") or "") for cluster in clusters if cluster.get("name") == self.cluster), ""
        )

    # ---- effects

    def put_config(self, values: Mapping[str, str | None], reason: str, group: str | None = None) -> None:
        """Set properties by API name. None resets a property. Others are unchanged. Read them back afterwards."""
        items = [{"name": name, "value": value} for name, value in values.items()]
        self.client.call("PUT", self._config_path(group), {"items": items}, f"?message={quote_plus(reason)}")

    def stop(self) -> Command | None:
        """Issue the command to stop the service. None: Cloudera Manager returned no command."""
        return self._post("stop")

    def start(self) -> Command | None:
        """Issue the command to start the service. None: Cloudera Manager returned no command."""
        return self._post("start")

    def restart(self) -> Command | None:
        """Issue the command to restart all roles at once. It does not deploy the client configuration."""
        return self._post("restart")

    def rolling_restart(self) -> Command | None:
        """Issue the command to restart role by role. It needs an Enterprise licence."""
        return self._post("rollingRestart")

    def deploy(self) -> Command | None:
        """Issue the command to deploy the client configuration. Naming roles would remove it from the others."""
        return self._post("deployClientConfig")

    # ---- requests

    def _post(self, command: str) -> Command | None:
        answer = self.client.call("POST", self._path("commands", command))
        return Command.parse(answer) if isinstance(answer, dict) and "id" in answer else None

    def _path(self, *more: str) -> str:
        return quoted("clusters", self.cluster, "services", self.name, *more)

    def _config_path(self, group: str | None) -> str:
        return self._path("config") if group is None else self._path("roleConfigGroups", group, "config")

    def _get(self, path: str, query: str = "") -> Any:
        try:
            return self.client.call("GET", path, None, query)
        except RefusedError as error:
            if error.status == 404:
                raise self._not_there(error) from error
            raise

    def _items(self, answer: Any) -> list[dict[str, Any]]:
        items = self._mapping(answer).get("items")
        if isinstance(items, list) and all(isinstance(item, dict) for item in items):
            return items
        raise self._unexpected("a list")

    def _mapping(self, answer: Any) -> dict[str, Any]:
        if isinstance(answer, dict):
            return answer
        raise self._unexpected("an object")

    def _unexpected(self, wanted: str) -> DrError:
        url = self.client.url
        return DrError(
            "cm_unexpected",
            f'The response of "{url}" is not {wanted}, as it is from a Cloudera Manager.',
            "Check that url of kafka_dr_srm.<alias> (option cm_url) is the address of a Cloudera Manager.",
            url,
        )

    def _only_one(self) -> Service:
        path = quoted("clusters", self.cluster, "services")
        services = [Service.parse(item) for item in self._items(self._get(path))]
        matches = [service for service in services if service.type == SRM_TYPE]
        if len(matches) == 1:
            return matches[0]
        existing = ", ".join(f'"{service.name}" ({service.type})' for service in services) or "none"
        count = f"{len(matches)} of them" if matches else "none"
        raise DrError(
            "cm_service_not_found",
            f'Wanted exactly one service of the type {SRM_TYPE} in cluster "{self.cluster}", found {count}. '
            f"Services there: {existing}.",
            "Set service in kafka_dr_srm.<alias> (option service) to the name of the service.",
            self.client.url,
        )

    def _not_there(self, error: RefusedError) -> DrError:
        """Return the error that names the missing part of a path, and the existing names."""
        url = self.client.url
        try:
            clusters = [str(item.get("name")) for item in self._items(self.client.call("GET", "/clusters"))]
            if self.cluster not in clusters:
                existing = ", ".join(f'"{name}"' for name in clusters) or "none"
                text = f'There is no cluster "{self.cluster}" in Cloudera Manager. Clusters there: {existing}.'
                return DrError("cm_cluster_not_found", text, nearest(self.cluster, clusters).strip(), url)
            services = self._items(self.client.call("GET", quoted("clusters", self.cluster, "services")))
        except DrError:
            return error
        names = {str(item.get("name")): str(item.get("type")) for item in services}
        if not self._name or self._name in names:
            return error
        existing = ", ".join(f'"{name}" ({kind})' for name, kind in names.items()) or "none"
        text = f'There is no service "{self._name}" in cluster "{self.cluster}". Services there: {existing}.'
        return DrError("cm_service_not_found", text, nearest(self._name, names).strip(), url)


def open_service(params: Mapping[str, Any]) -> CmService:
    """Return the service that the options of the documentation fragment ``cm`` name. Sends no request."""
    client = CmTransport(
        params["cm_url"], params["cm_client"] or {}, params["request_timeout"], params["cm_api_version"]
    )
    return CmService(client, params["cluster"], params["service"])
