# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One emulated MirrorMaker 2 service: its settings, integrations and flows. One JSON file holds the state."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from lab.files import read_json, to_json, write_atomically

from . import rules
from .errors import ApiError
from .switches import Switches

TYPE = "kafka_mirrormaker"
RUNNING, POWEROFF = "RUNNING", "POWEROFF"
Flows = Mapping[tuple[str, str], Mapping[str, Any]]


class Workers(Protocol):
    """What runs the flows of the service."""

    def use(self, flows: Flows, settings: Mapping[str, Any], after: float) -> None:
        """Run exactly these flows with these settings of the service, ``after`` seconds."""

    def restart(self, flows: Flows, settings: Mapping[str, Any], after: float, seconds: float) -> None:
        """The same, but no flow runs for ``seconds`` in between."""

    def report(self) -> dict[str, Any]:
        """The state of the flows, for tests."""


class NoWorkers:
    """For a run without Kafka: flows exist only in the API. Records what the workers would be given."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, int]] = []

    def use(self, flows: Flows, settings: Mapping[str, Any], after: float) -> None:
        self.calls.append(("use", len(flows)))

    def restart(self, flows: Flows, settings: Mapping[str, Any], after: float, seconds: float) -> None:
        self.calls.append(("restart", len(flows)))

    def report(self) -> dict[str, Any]:
        return {"calls": [list(call) for call in self.calls]}


@dataclass(frozen=True)
class Place:
    """Where the service is, and which clusters it is integrated with."""

    project: str
    service: str
    aliases: tuple[str, ...]


class MirrorMaker:
    """The service. Each change is stored before it is answered."""

    def __init__(self, place: Place, file: Path, workers: Workers, settings: Mapping[str, Any] | None = None) -> None:
        self.place, self._file, self._workers = place, file, workers
        self.lock = threading.RLock()
        stored = read_json(file) if file.exists() else {}
        self.switches = Switches()
        self.state: str = stored.get("state", RUNNING)
        self.settings: dict[str, Any] = stored.get("settings", dict(settings or {}))
        self.flows: dict[tuple[str, str], dict[str, Any]] = {
            (row["source_cluster"], row["target_cluster"]): row["fields"] for row in stored.get("flows", [])
        }
        self.integrations: dict[str, dict[str, Any]] = stored.get("integrations") or {
            f"integration-{alias}": {"cluster_alias": alias} for alias in place.aliases
        }

    def begin(self) -> None:
        """Run the flows of a killed emulator again."""
        self._workers.use(self._running(), self.settings, 0.0)

    # ---- the service

    def view(self) -> dict[str, Any]:
        with self.lock:
            return {
                "service_name": self.place.service,
                "service_type": TYPE,
                "state": self.state,
                "user_config": {TYPE: dict(self.settings)},
                "service_integrations": self.listed(),
            }

    def change(self, body: Any) -> dict[str, Any]:
        """PUT of the service: power and settings. Settings in the body replace those fields only."""
        given = body if isinstance(body, Mapping) else {}
        with self.lock:
            config = (given.get("user_config") or {}).get(TYPE)
            settings = self.settings if config is None else rules.changed(self.settings, config, rules.SERVICE)
            if given.get("powered") is not None:
                self.state = RUNNING if given["powered"] else POWEROFF
            restarts, self.settings = settings != self.settings, settings
            self._store()
            effect, restart = self.switches.effect_seconds, self.switches.restart_seconds
            if restarts and self.state == RUNNING:
                self._workers.restart(self._running(), self.settings, effect, restart)
            else:
                self._workers.use(self._running(), self.settings, effect)
            return self.view()

    # ---- integrations

    def listed(self) -> list[dict[str, Any]]:
        with self.lock:
            rows = [self.integration(key) for key in self.integrations]
            if not self.switches.listed_config:
                rows = [{key: value for key, value in row.items() if key != "user_config"} for row in rows]
            return rows

    def integration(self, key: str) -> dict[str, Any]:
        with self.lock:
            if key not in self.integrations:
                raise ApiError(404, "Service integration does not exist.")
            return {
                "service_integration_id": key,
                "integration_type": TYPE,
                "dest_service": self.place.service,
                "enabled": True,
                "active": True,
                "user_config": dict(self.integrations[key]),
            }

    def change_integration(self, key: str, body: Any) -> dict[str, Any]:
        with self.lock:
            self.integration(key)
            config = (body if isinstance(body, Mapping) else {}).get("user_config")
            if not isinstance(config, Mapping):
                raise ApiError(400, "Invalid input: user_config is missing.")
            self.integrations[key] = {**self.integrations[key], **config}
            self._store()
            return self.integration(key)

    # ---- flows

    def flow(self, ends: tuple[str, str]) -> dict[str, Any]:
        with self.lock:
            if ends not in self.flows:
                raise ApiError(404, f"Replication flow {ends[0]} -> {ends[1]} does not exist.")
            return {
                "source_cluster": ends[0],
                "target_cluster": ends[1],
                "replication_progress": 0.0,
                **self.flows[ends],
            }

    def all_flows(self) -> list[dict[str, Any]]:
        with self.lock:
            return [self.flow(ends) for ends in self.flows]

    def create(self, body: Any) -> None:
        given = dict(body) if isinstance(body, Mapping) else {}
        ends = (given.pop("source_cluster", None), given.pop("target_cluster", None))
        with self.lock:
            known = {config.get("cluster_alias") for config in self.integrations.values()}
            if not all(isinstance(alias, str) for alias in ends) or not isinstance(given.get("enabled"), bool):
                raise ApiError(400, "Invalid input: source_cluster, target_cluster and enabled are required.")
            if not set(ends) <= known or ends[0] == ends[1]:
                raise ApiError(400, f"Invalid cluster alias: {ends[0]} or {ends[1]}.")
            if ends in self.flows:
                raise ApiError(409, "Replication flow already exists.")
            self._write(ends, rules.changed(rules.NEW_FLOW, self._kept(given), rules.FLOW))

    def patch(self, ends: tuple[str, str], body: Any) -> dict[str, Any]:
        with self.lock:
            self.flow(ends)
            self._write(ends, rules.changed(self.flows[ends], self._kept(body), rules.FLOW))
            return self.flow(ends)

    def delete(self, ends: tuple[str, str]) -> None:
        with self.lock:
            self.flow(ends)
            del self.flows[ends]
            self._store()
            self._workers.use(self._running(), self.settings, self.switches.effect_seconds)

    def report(self) -> dict[str, Any]:
        return self._workers.report()

    def _kept(self, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        return {key: value for key, value in given.items() if key not in self.switches.dropped_fields}

    def _write(self, ends: tuple[str, str], fields: dict[str, Any]) -> None:
        self.flows[ends] = fields
        self._store()
        self._workers.use(self._running(), self.settings, self.switches.effect_seconds)

    def _running(self) -> dict[tuple[str, str], dict[str, Any]]:
        return {ends: dict(fields) for ends, fields in self.flows.items()} if self.state == RUNNING else {}

    def _store(self) -> None:
        rows = [
            {"source_cluster": ends[0], "target_cluster": ends[1], "fields": fields}
            for ends, fields in self.flows.items()
        ]
        document = {"state": self.state, "settings": self.settings, "flows": rows, "integrations": self.integrations}
        self._file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self._file, to_json(document))
