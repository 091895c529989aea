# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The emulated services at Aiven of a pair, as their administrator sees them."""

from __future__ import annotations

import json
import urllib.request
from typing import Any

from scenario import Scenario
from snapshot import read_inventory

__all__ = ["Service", "services", "state"]

_ENDS = {"B": ("P", "B"), "P": ("B", "P")}
_DENIED = ("DENY", "Write")


class Service:
    """The emulated service that runs the flow to one cluster, and the one that is the cluster."""

    def __init__(self, pair: Scenario, alias: str) -> None:
        self.site = read_inventory(pair.inventory)["kafka_dr_aiven"][alias]
        self._flow = "/".join(_ENDS[alias])

    def call(self, url: str, method: str = "GET", body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", "Authorization": f"aivenv1 {self.site['token']}"}
        request = urllib.request.Request(url, data=data, method=method, headers=headers)
        with urllib.request.urlopen(request, timeout=15) as answer:
            return json.load(answer)

    @property
    def _path(self) -> str:
        return f"{self.site['url']}/project/{self.site['project']}/service/{self.site['service']}"

    def service(self, **body: Any) -> dict[str, Any]:
        """Read the service, or change it."""
        found = self.call(self._path, *(("PUT", body) if body else ()))
        return dict(found["service"])

    def flows(self) -> list[dict[str, Any]]:
        return list(self.call(f"{self._path}/mirrormaker/replication-flows")["replication_flows"])

    def change(self, **fields: Any) -> None:
        self.call(f"{self._path}/mirrormaker/replication-flows/{self._flow}", "PUT", fields)

    def denied(self) -> set[str]:
        """The principals and topics of the Kafka-native ACLs that deny writing, as the API lists them."""
        path = f"{self.site['url']}/project/{self.site['project']}/service/{self.site['kafka_service']}/kafka/acl"
        rows = [row for row in self.call(path)["kafka_acl"] if (row["permission_type"], row["operation"]) == _DENIED]
        return {f"{row['principal']} {row['resource_name']}" for row in rows}

    def own(self, name: str, method: str = "GET", body: Any = None) -> Any:
        """An endpoint of the emulator that Aiven does not have."""
        return self.call(f"{self.site['url'].removesuffix('/v1')}/emulator/{name}", method, body)

    def requests(self) -> list[dict[str, Any]]:
        """Requests since the log was cleared, without those of this class: it cleared the log before the playbook."""
        return list(self.own("log")["items"])


def services(pair: Scenario) -> dict[str, Service]:
    return {alias: Service(pair, alias) for alias in _ENDS}


def state(pair: Scenario) -> dict[str, Any]:
    """The flows and the settings of both services."""
    found = {}
    for alias, service in services(pair).items():
        found[alias] = (service.flows(), service.service()["user_config"])
    return found
