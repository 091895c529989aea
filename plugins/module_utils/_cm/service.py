# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One Streams Replication Manager service as Cloudera Manager shows it, and the calls that act on it.

A call that acts only starts a command; ``commands.py`` joins, issues, waits and explains.

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
    """A service of one cluster. Without a name it is the only one of type STREAMS_REPLICATION_MANAGER.

    Values of properties may be secrets: never log or return them raw.
    """

    def __init__(self, client: CmTransport, cluster: str, service: str | None = None) -> None:
        self.client = client
        self.cluster = cluster
        self._name = service
        self._listed: Service | None = None

    @property
    def name(self) -> str:
        """The service's name; the first use may ask for it."""
        if not self._name:
            self._listed = self._only_one()
            self._name = self._listed.name
        return self._name

    def anew(self) -> CmService:
        """The same service, without what was read of its state: another one may have restarted meanwhile."""
        return CmService(self.client, self.cluster, self._name)

    # ---- looking

    def read_service(self) -> Service:
        """State, staleness and health. The list that told the name is not asked again."""
        name, listed = self.name, self._listed
        self._listed = None
        if listed is not None and listed.state:
            return listed
        return Service.parse(self._mapping(self._get(quoted("clusters", self.cluster, "services", name))))

    def read_config(self, group: str | None = None) -> list[Property]:
        """Every property of the service, or of one role group, also those that are not set."""
        answer = self._get(self._config_path(group), "?view=full")
        return [Property.parse(group, item) for item in self._items(answer)]

    def groups(self) -> list[Group]:
        """The service's role groups."""
        return [Group.parse(item) for item in self._items(self._get(self._path("roleConfigGroups")))]

    def roles(self) -> list[Role]:
        """The service's roles, one for each process or client."""
        return [Role.parse(item) for item in self._items(self._get(self._path("roles")))]

    def active_commands(self, cluster: bool = False) -> list[Command]:
        """Commands that run now, without their parts: of this service, or (``cluster``) those that concern it too."""
        path = quoted("clusters", self.cluster, "commands") if cluster else self._path("commands")
        found = [Command.parse(item) for item in self._items(self._get(path))]
        return [
            command
            for command in found
            if command.parent is None and command.active and command.service in (None, self.name)
        ]

    def read_command(self, number: int) -> Command:
        """One command with the summaries of its parts."""
        return Command.parse(self._mapping(self.client.call("GET", f"/commands/{number}")))

    def runtime_version(self) -> str:
        """Version of the cluster's Runtime, "" if Cloudera Manager does not tell."""
        clusters = self._items(self.client.call("GET", "/clusters"))
        return next((str(one.get("fullVersion") or "") for one in clusters if one.get("name") == self.cluster), "")

    # ---- acting

    def put_config(self, values: Mapping[str, str | None], reason: str, group: str | None = None) -> None:
        """Set properties by API name, None resets to the default. What is not named stays. Read them again after it."""
        items = [{"name": name, "value": value} for name, value in values.items()]
        self.client.call("PUT", self._config_path(group), {"items": items}, f"?message={quote_plus(reason)}")

    def stop(self) -> Command | None:
        """Start stopping; None: nothing was told about the command."""
        return self._post("stop")

    def start(self) -> Command | None:
        """Start starting."""
        return self._post("start")

    def restart(self) -> Command | None:
        """Start a restart of all roles at once. Client configuration is not deployed by it."""
        return self._post("restart")

    def rolling_restart(self) -> Command | None:
        """Start a restart role by role; needs an Enterprise licence."""
        return self._post("rollingRestart")

    def deploy(self) -> Command | None:
        """Start deploying the client configuration. No roles are named: that would take it from the others."""
        return self._post("deployClientConfig")

    # ---- how

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
        text = f'"{url}" answered with something else than {wanted}, which Cloudera Manager would not.'
        return DrError(
            "cm_unexpected",
            text,
            "Is url of kafka_dr_srm.<alias> (option cm_url) the address of a Cloudera Manager?",
            url,
        )

    def _only_one(self) -> Service:
        path = quoted("clusters", self.cluster, "services")
        services = [Service.parse(item) for item in self._items(self._get(path))]
        fitting = [service for service in services if service.type == SRM_TYPE]
        if len(fitting) == 1:
            return fitting[0]
        there = ", ".join(f'"{service.name}" ({service.type})' for service in services) or "none"
        found = f"{len(fitting)} of them" if fitting else "none"
        raise DrError(
            "cm_service_not_found",
            f'Wanted the one service of type {SRM_TYPE} in cluster "{self.cluster}", found {found}. '
            f"Services there: {there}.",
            "Name it in the option service.",
            self.client.url,
        )

    def _not_there(self, error: RefusedError) -> DrError:
        """Which part of a path does not exist, and what there is instead."""
        url = self.client.url
        try:
            clusters = [str(item.get("name")) for item in self._items(self.client.call("GET", "/clusters"))]
            if self.cluster not in clusters:
                there = ", ".join(f'"{name}"' for name in clusters) or "none"
                text = f'There is no cluster "{self.cluster}" in Cloudera Manager. Clusters there: {there}.'
                return DrError("cm_cluster_not_found", text, nearest(self.cluster, clusters).strip(), url)
            found = self._items(self.client.call("GET", quoted("clusters", self.cluster, "services")))
        except DrError:
            return error
        names = {str(item.get("name")): str(item.get("type")) for item in found}
        if not self._name or self._name in names:
            return error
        there = ", ".join(f'"{name}" ({kind})' for name, kind in names.items()) or "none"
        text = f'There is no service "{self._name}" in cluster "{self.cluster}". Services there: {there}.'
        return DrError("cm_service_not_found", text, nearest(self._name, names).strip(), url)


def open_service(params: Mapping[str, Any]) -> CmService:
    """The service that the options of the fragment ``cm`` name; nothing is asked yet."""
    client = CmTransport(
        params["cm_url"], params["cm_client"] or {}, params["request_timeout"], params["cm_api_version"]
    )
    return CmService(client, params["cluster"], params["service"])
