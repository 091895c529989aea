# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Client for the parts of Kafka Connect's REST interface that this collection uses, and the connectors it returns.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._core.errors import DrError
from .._core.names import CONNECTORS
from .http import RefusedError, Transport, quoted

__all__ = ["PACKAGE", "ConnectClient", "Connector", "Task", "parse_connector"]

PACKAGE = "org.apache.kafka.connect.mirror."
# A busy worker takes more than 15 s for 6,000 partitions, because it reads its offsets topic to the end first.
_OFFSETS_SECONDS = 60.0
_PARTS = {PACKAGE + name: part for part, name in CONNECTORS.items()} | {name: part for part, name in CONNECTORS.items()}


@dataclass(frozen=True)
class Task:
    """One task of a connector."""

    id: int
    state: str
    #: First line and innermost cause of the stack trace. "": the task has not failed.
    trace: str = ""


@dataclass(frozen=True)
class Connector:
    """A connector as a worker reports it."""

    name: str
    #: None: the connector exists but has no status yet.
    state: str | None
    #: The tasks with a known status.
    tasks: tuple[Task, ...]
    config: Mapping[str, str]
    #: First line and innermost cause of the connector's own stack trace.
    trace: str = ""
    #: Ids of the tasks that the connector should have.
    assigned: frozenset[int] = frozenset()

    @property
    def part(self) -> str | None:
        """``source``, ``checkpoint`` or ``heartbeat``. None: not a MirrorMaker 2 connector."""
        return _PARTS.get(self.config.get("connector.class", ""))

    @property
    def stopped(self) -> bool:
        """True if the connector is STOPPED and has no tasks. A task may run for a second after the state changed."""
        return self.state == "STOPPED" and not self.tasks

    @property
    def running(self) -> bool:
        """True if the connector and all its tasks, if any, are RUNNING. A task without a status is not RUNNING."""
        running_tasks = {task.id for task in self.tasks if task.state == "RUNNING"}
        return self.state == "RUNNING" and len(running_tasks) == len(self.tasks) and self.assigned <= running_tasks

    @property
    def failures(self) -> tuple[str, ...]:
        """The failures of the connector and its tasks, each with its ``trace``."""
        own = (f"connector: {self.trace}",) if self.state == "FAILED" else ()
        return own + tuple(f"task {task.id}: {task.trace}" for task in self.tasks if task.state == "FAILED")


class ConnectClient(Transport):
    """One Kafka Connect worker group. Configurations contain plain passwords: never log or return them unmasked."""

    concurrent = True
    patience = 0.0

    def cluster_id(self) -> str:
        """Id of the Kafka cluster of this worker group, to which its source connectors write."""
        return self.about()[0]

    def about(self) -> tuple[str, str]:
        """Return that cluster id, and the worker's version of Kafka and MirrorMaker 2."""
        answer = _mapping(self, "/", self.call("GET", "/"))
        return str(answer.get("kafka_cluster_id", "")), str(answer.get("version", ""))

    def plugins(self) -> set[str]:
        """Class names of the connectors that the worker can run."""
        return {str(plugin.get("class")) for plugin in self.call("GET", "/connector-plugins") or []}

    def connectors(self) -> dict[str, Connector]:
        """Return all connectors with status and configuration, by name. Usually one request.

        Kafka Connect leaves out a new connector without a status, so use :meth:`find` before creating one. A worker
        that has not read its internal topics yet returns an empty list, for up to a minute if it died within a
        transaction. An empty list is therefore accepted only after the worker reports that it is ready.
        """
        listed = self._list()
        if not listed:
            self._require_ready()
            listed = self._list()
        return {name: parse_connector(name, entry) for name, entry in listed.items()}

    def _list(self) -> dict[str, Any]:
        query = "?expand=status&expand=info"
        return _mapping(self, "/connectors", self.call("GET", "/connectors", query=query))

    def _require_ready(self) -> None:
        """Wait while ``GET /health`` returns 503 because the worker starts (KIP-1017). Before Kafka 3.9: no-op."""
        try:
            self.call("GET", "/health")
        except RefusedError as error:
            if error.status != 404:
                raise

    def find(self, name: str) -> Connector | None:
        """Return one connector, even if it has no status yet. None: it does not exist."""
        try:
            config = self.call("GET", quoted("connectors", name, "config"))
        except RefusedError as error:
            if error.status == 404:
                return None
            raise
        return parse_connector(name, {"info": {"config": config}})

    def task_configs(self, name: str) -> list[dict[str, str]]:
        """Return the configuration of each task, as the connector computed it last."""
        return [dict(task.get("config") or {}) for task in self.call("GET", quoted("connectors", name, "tasks")) or []]

    def validate(self, connector_class: str, config: Mapping[str, str]) -> dict[str, Any]:
        """Return Kafka Connect's validation of a configuration. Changes nothing."""
        path = quoted("connector-plugins", connector_class, "config", "validate")
        return _mapping(self, path, self.call("PUT", path, dict(config)))

    def create(self, name: str, config: Mapping[str, str], initial_state: str) -> None:
        """Create a connector in the state RUNNING or STOPPED."""
        body = {"name": name, "config": dict(config), "initial_state": initial_state}
        try:
            self.call("POST", "/connectors", body)
        except RefusedError as error:
            # An earlier attempt that returned 409 or 500 may have created the connector.
            found = self.find(name) if error.status == 409 and "already exists" in error.text else None
            if found is None or any(found.config.get(key) != value for key, value in config.items()):
                raise

    def configure(self, name: str, config: Mapping[str, str]) -> None:
        """Replace the whole configuration. The state does not change."""
        self.call("PUT", quoted("connectors", name, "config"), dict(config))

    def taken(self, name: str) -> list[str]:
        """Empty: the workers refuse no stop."""
        del name
        return []

    def stop(self, name: str, awaited: bool = True) -> None:
        """Request the state STOPPED, which the connector reaches later."""
        del awaited
        self.call("PUT", quoted("connectors", name, "stop"))

    def resume(self, name: str) -> None:
        """Request the state RUNNING, which the connector reaches later."""
        self.call("PUT", quoted("connectors", name, "resume"))

    def restart_failed(self, name: str) -> None:
        """Restart the connector and its tasks if they failed. Running ones are not interrupted."""
        self.call("POST", quoted("connectors", name, "restart"), query="?includeTasks=true&onlyFailed=true")

    def restart_connector(self, name: str) -> None:
        """Restart the connector in its state. Its tasks, which replicate the records, are not interrupted."""
        self.call("POST", quoted("connectors", name, "restart"), query="?includeTasks=false&onlyFailed=false")

    def delete(self, name: str) -> None:
        """Delete a connector. Its offsets survive in the worker, under its name."""
        self.call("DELETE", quoted("connectors", name))

    def offsets(self, name: str) -> dict[str, Any]:
        """Return the stored offsets of a connector in Kafka Connect's format. Slow for thousands of partitions."""
        path = quoted("connectors", name, "offsets")
        return _mapping(self, path, self.call("GET", path, timeout=max(self.timeout, _OFFSETS_SECONDS)))

    def reset_offsets(self, name: str) -> None:
        """Remove all stored offsets of a STOPPED connector, which then replicates everything again."""
        self.call("DELETE", quoted("connectors", name, "offsets"))

    def alter_offsets(self, name: str, entries: Sequence[Mapping[str, Any]]) -> None:
        """Set stored offsets of a STOPPED connector. Other partitions keep theirs. Kafka Connect checks no value."""
        self.call("PATCH", quoted("connectors", name, "offsets"), {"offsets": list(entries)})


def parse_connector(name: str, entry: Mapping[str, Any]) -> Connector:
    """Parse one entry of ``GET /connectors?expand=status&expand=info``."""
    status, info = entry.get("status") or {}, entry.get("info") or {}
    own = status.get("connector") or {}
    tasks = tuple(
        Task(int(task["id"]), str(task.get("state", "UNKNOWN")), _head(task.get("trace")))
        for task in status.get("tasks") or []
    )
    config = {str(key): str(value) for key, value in (info.get("config") or {}).items()}
    assigned = frozenset(int(task["task"]) for task in info.get("tasks") or [])
    return Connector(name, own.get("state"), tasks, config, _head(own.get("trace")), assigned)


def _head(trace: Any) -> str:
    """First line of a stack trace, and its innermost cause. Often the first line only states that a task failed."""
    lines = [line.strip() for line in str(trace or "").splitlines() if line.strip()]
    causes = [line for line in lines[1:] if line.startswith("Caused by: ")]
    return " / ".join(lines[:1] + causes[-1:])


def _mapping(client: Transport, path: str, answer: Any) -> dict[str, Any]:
    if isinstance(answer, dict):
        return answer
    raise DrError(
        "connect_unexpected",
        f'"{client.url}{path}" returned JSON of the type {type(answer).__name__}, wanted an object of Kafka Connect.',
        "Check that connect_url is the REST address of a Kafka Connect worker, with its path prefix if it has one.",
        client.url,
    )
