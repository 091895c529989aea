# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""API resources below /api/vNN, and their routes."""

from __future__ import annotations

import io
import re
import time
import zipfile
from collections.abc import Callable
from typing import Any

from . import services
from .actions import Actions
from .properties import SRM
from .requests import C, G, Request, Route, S
from .site import Manager


class Api:
    def __init__(self, manager: Manager) -> None:
        self._manager = manager
        self._store = manager.store
        self.routes: list[tuple[str, re.Pattern[str], Callable[[Request], Any]]] = [
            (method, re.compile(f"{path}$"), handler) for method, path, handler in self._table()
        ]

    def _table(self) -> list[Route]:
        return [
            ("GET", "/cm/version", self._cm_version),
            ("GET", "/cm/commands", lambda request: {"items": []}),
            ("GET", "/clusters", self._clusters),
            ("GET", C + "/services", self._services),
            ("GET", S, self._service),
            ("GET", S + "/config", self._config),
            ("PUT", S + "/config", self._put_config),
            ("GET", S + "/clientConfig", self._client_config),
            ("GET", S + "/roles", self._roles),
            ("GET", S + "/roleConfigGroups", self._groups),
            ("GET", G + "/config", self._config),
            ("PUT", G + "/config", self._put_config),
            *Actions(self._manager).routes(),
        ]

    # ---- clusters and services

    def _cm_version(self, request: Request) -> Any:
        about = {"buildUser": "emulator", "buildTimestamp": "20260101-0000", "gitHash": "0" * 40}
        return {"version": "7.13.1", "snapshot": False, **about}

    def _clusters(self, request: Request) -> Any:
        kind = request.query.get("clusterType", "base").lower()
        with self._store.lock:
            runtime = self._store.state.switches.runtime
        items = [
            {
                "name": site.cluster,
                "displayName": site.cluster,
                "fullVersion": runtime,
                "clusterType": "BASE_CLUSTER",
                "entityStatus": "GOOD_HEALTH",
                "maintenanceMode": False,
            }
            for site in self._manager.sites
        ]
        return {"items": items if kind in ("base", "any") else []}

    def _services(self, request: Request) -> Any:
        with self._store.lock:
            names = [service.name for service in services.of_cluster(self._store.state, request.parts[0])]
        return {"items": [self._shown(request.parts[0], name) for name in names]}

    def _service(self, request: Request) -> Any:
        return self._shown(request.parts[0], request.parts[1])

    def _shown(self, cluster: str, name: str) -> Any:
        with self._store.lock:
            service = services.find(self._store.state, cluster, name)
        # Outside the lock, because the engine calls its worker.
        healthy = self._manager.engine.healthy(service) if service.type == SRM else True
        with self._store.lock:
            return services.to_json(self._store.state, services.find(self._store.state, cluster, name), healthy)

    def _roles(self, request: Request) -> Any:
        with self._store.lock:
            service = services.find(self._store.state, request.parts[0], request.parts[1])
            found = services.roles(service, request.query.get("filter", ""))
            return {"items": [services.role_to_json(service, role) for role in found]}

    def _groups(self, request: Request) -> Any:
        with self._store.lock:
            state = self._store.state
            service = services.find(state, request.parts[0], request.parts[1])
            return {
                "items": [
                    services.group_to_json(service, group, services.view(state, service, group, False, request.weak))
                    for group in service.groups.values()
                ]
            }

    # ---- configuration

    def _config(self, request: Request) -> Any:
        with self._store.lock:
            state = self._store.state
            service = services.find(state, request.parts[0], request.parts[1])
            group = services.group_of(service, request.parts[2]) if len(request.parts) > 2 else None
            return services.view(state, service, group, request.full(), request.weak)

    def _put_config(self, request: Request) -> Any:
        with self._store.change() as state:
            service = services.find(state, request.parts[0], request.parts[1])
            group = services.group_of(service, request.parts[2]) if len(request.parts) > 2 else None
            services.update(state, service, group, request.items())
            names = [item.get("name") for item in request.items()]
            if names:
                audit = {"user": request.user, "message": request.query.get("message"), "names": names}
                state.audits.append({"time": time.time(), "path": list(request.parts), **audit})
            return services.view(state, service, group, False, request.weak)

    def _client_config(self, request: Request) -> Any:
        with self._store.lock:
            state = self._store.state
            service = services.find(state, request.parts[0], request.parts[1])
            text = "".join(f"{name}={value}\n" for name, value in services.effective(state, service)["service"].items())
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr(f"{request.parts[1]}-conf/srm.properties", text)
        return packed.getvalue()
