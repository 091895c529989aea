# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The emulated Cloudera Managers of a lab with the engine srm, as their administrator and as a test use them."""

from __future__ import annotations

import json
import urllib.request
from typing import Any

from scenario import Scenario
from snapshot import read_inventory

CONFIGS = "streams.replication.manager.config"
ALIASES = ("P", "B")


class Site:
    """One Cloudera Manager."""

    service = "/api/v54/clusters/Cluster%201/services/streams_replication_manager"

    def __init__(self, pair: Scenario, alias: str) -> None:
        self._url = read_inventory(pair.inventory)["kafka_dr_srm"][alias]["url"]

    def call(self, path: str, method: str = "GET", body: Any = None) -> Any:
        """The response as JSON, or None if it is empty."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", "Authorization": "Basic YWRtaW46YWRtaW4="}
        request = urllib.request.Request(self._url + path, data=data, method=method, headers=headers)
        with urllib.request.urlopen(request, timeout=15) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def put(self, name: str, value: str | None) -> None:
        """Save values as an administrator does. None resets a value."""
        self.call(f"{self.service}/config", "PUT", {"items": [{"name": name, "value": value}]})

    def lines(self) -> list[str]:
        """The lines of the Replication Configs, in order."""
        items = self.call(f"{self.service}/config")["items"]
        value: str = next(item["value"] for item in items if item["name"] == CONFIGS)
        return value.split("|")

    def set_lines(self, lines: list[str]) -> None:
        """Set all lines."""
        self.put(CONFIGS, "|".join(lines))

    def switch(self, **values: Any) -> None:
        """Set the behaviour of the emulator (roles/lab/EMULATORS.md)."""
        self.call("/emulator/switches", "PUT", values)

    def behave(self) -> None:
        """Reset all switches."""
        self.call("/emulator/switches", "DELETE")

    def requests(self) -> list[dict[str, Any]]:
        """The requests since the last ``forget``."""
        rows: list[dict[str, Any]] = self.call("/emulator/log")["items"]
        return [row for row in rows if not row["path"].startswith("/emulator")]

    def forget(self) -> None:
        """Restart the count of requests."""
        self.call("/emulator/log", "DELETE")


def sites(pair: Scenario) -> dict[str, Site]:
    """Both sites, by alias."""
    return {alias: Site(pair, alias) for alias in ALIASES}
