# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine of the lab: a Driver and a reverse job for each site, and the files of srm-control."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from . import plan
from .client_config import write_client_config
from .driver import Driver
from .properties import SRM
from .reverse_job import ReverseJob
from .site import Site
from .state import Service, Store
from .worker import Worker


class LabEngine:
    def __init__(self, sites: list[Site]) -> None:
        self._sites = {site.cluster: site for site in sites}
        self._drivers = {site.cluster: Driver(site.alias, Worker(site.connect_url)) for site in sites}
        self._jobs = {site.cluster: ReverseJob(site.alias) for site in sites}

    def begin(self, store: Store) -> None:
        """Resume the services that ran before the emulator was killed, without a restart."""
        with store.lock:
            found = [item for item in store.state.services if item.type == SRM]
        for service in found:
            if not (Path(self._sites[service.cluster].home) / "conf").exists():
                self.deploy(service)
            if service.state == "STARTED":
                self._run(service, wait=False)
            elif service.state == "STOPPED":
                self._drivers[service.cluster].stop()

    def stop(self, service: Service) -> None:
        if service.type == SRM:
            self._jobs[service.cluster].stop()
            self._drivers[service.cluster].stop()

    def start(self, service: Service) -> None:
        if service.type == SRM:
            self._run(service)

    def _run(self, service: Service, wait: bool = True) -> None:
        site = self._sites[service.cluster]
        wanted = plan.make(service.running, site.alias, site.bootstrap_servers)
        self._drivers[service.cluster].start(wanted, wait)
        self._jobs[service.cluster].start(wanted)

    def deploy(self, service: Service) -> None:
        site = self._sites[service.cluster]
        if service.type == SRM and site.home:
            write_client_config(Path(site.home), service.deployed, site.bootstrap_servers)

    def healthy(self, service: Service) -> bool | None:
        return self._drivers[service.cluster].healthy()

    def report(self) -> dict[str, Any]:
        return {
            name: {**driver.report(), "reverse_engine": self._jobs[name].report()}
            for name, driver in self._drivers.items()
        }
