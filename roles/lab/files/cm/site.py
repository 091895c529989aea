# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One emulated Cloudera Manager: its state, its commands, and its initial configuration."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import services
from .commands import Commands
from .contract import Engine
from .properties import DRIVER, DRIVER_TARGET, GATEWAY, KAFKA, SERVICE, SERVICE_TARGET, SRM
from .state import State, Store

TARGETS = {DRIVER: DRIVER_TARGET, SERVICE: SERVICE_TARGET}


@dataclass(frozen=True)
class Site:
    """A cluster of this Cloudera Manager. ``bootstrap_servers``: by alias; empty without an engine."""

    alias: str
    cluster: str
    host: str = "localhost"
    connect_url: str = ""
    #: Folder of srm-control with its client configuration and launcher. Empty without srm-control.
    home: str = ""
    bootstrap_servers: dict[str, str] = field(default_factory=dict)
    #: Initial service-level properties, in addition to those of every installation.
    config: dict[str, str] = field(default_factory=dict)
    gateway: dict[str, str] = field(default_factory=dict)


class Manager:
    def __init__(self, folder: Path, sites: list[Site], engine: Engine, users: dict[str, str]) -> None:
        self.store = Store(folder / "state.json")
        self.sites = sites
        self.engine = engine
        # Passwords by user. Users whose name starts with "read" are read-only and have no access to secrets.
        self.users = users
        self.commands = Commands(self.store, engine)
        with self.store.change() as state:
            for site in sites:
                self._seed(state, site)

    def refresh(self, state: State) -> None:
        """Refresh the staleness after a switch that adds or removes properties."""
        for service in state.services:
            services.refresh_staleness(state, service)

    def engine_report(self) -> dict[str, Any]:
        """State of the flows for GET /emulator/engine."""
        return self.engine.report()

    def _seed(self, state: State, site: Site) -> None:
        """Set the initial configuration: aliases and addresses, without flows and lists."""
        peers = {alias: address for alias, address in site.bootstrap_servers.items() if alias != site.alias}
        for alias, address in peers.items():
            # At each start, because the ports of the lab may have changed.
            account = state.accounts.setdefault(alias, _account(alias))
            account["items"]["kafka_bootstrap_servers"] = address
            for service in state.services:
                for snapshot in (service.running, service.deployed):
                    if snapshot.get("accounts", {}).get(alias):
                        snapshot["accounts"][alias]["items"]["kafka_bootstrap_servers"] = address
        if any(service.cluster == site.cluster for service in state.services):
            return
        state.services.append(services.new_service(site.cluster, "kafka", KAFKA, site.alias, site.host))
        srm = services.new_service(site.cluster, "streams_replication_manager", SRM, site.alias, site.host)
        srm.config = {
            "clusters": "P, B",
            "colocated.cluster.alias": site.alias,
            "external_kafka_accounts": ",".join(peers),
            **site.config,
        }
        for group in srm.groups.values():
            if group.role_type in TARGETS:
                group.config[TARGETS[group.role_type]] = site.alias
            if group.role_type == GATEWAY:
                group.config.update(site.gateway)
        state.services.append(srm)
        for service in state.services[-2:]:
            service.running = service.deployed = services.effective(state, service)
            services.refresh_staleness(state, service)


def _account(alias: str) -> dict[str, object]:
    now = "2026-01-01T00:00:00Z"
    about = {"name": alias, "displayName": alias, "typeName": "KAFKA_SERVICE", "createdTime": now}
    return {**about, "lastModifiedTime": now, "items": {"kafka_security_protocol": "PLAINTEXT"}}
