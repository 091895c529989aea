# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kafka Connect's REST interface as far as this collection uses it, and connectors as a worker shows them.

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
# A busy worker takes over 15 s for 6,000 partitions: it reads its offsets topic to the end first.
_OFFSETS_SECONDS = 60.0
_PARTS = {PACKAGE + name: part for part, name in CONNECTORS.items()} | {name: part for part, name in CONNECTORS.items()}


@dataclass(frozen=True)
class Task:
    """One task. ``trace`` is the first line of what made it fail."""

    id: int
    state: str
    trace: str = ""


@dataclass(frozen=True)
class Connector:
    """A connector as a worker reports it. ``state`` None: it exists, but has no status yet.

    ``assigned``: ids of the tasks that it is to have; ``tasks``: those of which a status is known.
    """

    name: str
    state: str | None
    tasks: tuple[Task, ...]
    config: Mapping[str, str]
    trace: str = ""
    assigned: frozenset[int] = frozenset()

    @property
    def part(self) -> str | None:
        """Which MirrorMaker 2 connector this is: source, checkpoint, heartbeat; None: another one."""
        return _PARTS.get(self.config.get("connector.class", ""))

    @property
    def stopped(self) -> bool:
        """STOPPED without tasks. STOPPED alone is not enough: a task may still run for a second."""
        return self.state == "STOPPED" and not self.tasks

    @property
    def running(self) -> bool:
        """The connector and all of its tasks (perhaps none) are RUNNING; a task without a status yet is not."""
        started = {task.id for task in self.tasks if task.state == "RUNNING"}
        return self.state == "RUNNING" and len(started) == len(self.tasks) and self.assigned <= started

    @property
    def failures(self) -> tuple[str, ...]:
        """What failed, each with the first line of its trace."""
        own = (f"connector: {self.trace}",) if self.state == "FAILED" else ()
        return own + tuple(f"task {task.id}: {task.trace}" for task in self.tasks if task.state == "FAILED")


class ConnectClient(Transport):
    """One Kafka Connect worker group. Configurations hold passwords in clear: never log or return them raw."""

    def cluster_id(self) -> str:
        """Id of the Kafka cluster that this worker group belongs to: where its source connectors write."""
        return self.about()[0]

    def about(self) -> tuple[str, str]:
        """That id, and the worker's version of Kafka and of MirrorMaker 2."""
        answer = _mapping(self, "/", self.call("GET", "/"))
        return str(answer.get("kafka_cluster_id", "")), str(answer.get("version", ""))

    def plugins(self) -> set[str]:
        """Class names of the connectors that the worker can run."""
        return {str(plugin.get("class")) for plugin in self.call("GET", "/connector-plugins") or []}

    def connectors(self) -> dict[str, Connector]:
        """Every connector with status and configuration, in one request.

        Kafka Connect leaves out a connector without status (created a moment ago): use :meth:`find` before a create.
        A worker that has not read its own topics yet lists none, for a minute where it died within a transaction: an
        empty list counts only from a worker that says that it is ready.
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
        """``GET /health`` (KIP-1017, Kafka 3.9) is 503 while the worker starts; an older worker does not know it."""
        try:
            self.call("GET", "/health")
        except RefusedError as error:
            if error.status != 404:
                raise

    def find(self, name: str) -> Connector | None:
        """One connector, also in the moment in which it has no status; None: it does not exist."""
        try:
            config = self.call("GET", quoted("connectors", name, "config"))
        except RefusedError as error:
            if error.status == 404:
                return None
            raise
        return parse_connector(name, {"info": {"config": config}})

    def task_configs(self, name: str) -> list[dict[str, str]]:
        """Configuration of each task, as last computed by the connector."""
        return [dict(task.get("config") or {}) for task in self.call("GET", quoted("connectors", name, "tasks")) or []]

    def validate(self, connector_class: str, config: Mapping[str, str]) -> dict[str, Any]:
        """Kafka Connect's own judgement of a configuration; changes nothing."""
        path = quoted("connector-plugins", connector_class, "config", "validate")
        return _mapping(self, path, self.call("PUT", path, dict(config)))

    def create(self, name: str, config: Mapping[str, str], initial_state: str) -> None:
        """Create a connector that starts as RUNNING or STOPPED."""
        body = {"name": name, "config": dict(config), "initial_state": initial_state}
        try:
            self.call("POST", "/connectors", body)
        except RefusedError as error:
            # An attempt that ended with 409 or 500 may have been carried out before it was repeated.
            found = self.find(name) if error.status == 409 and "already exists" in error.text else None
            if found is None or any(found.config.get(key) != value for key, value in config.items()):
                raise

    def configure(self, name: str, config: Mapping[str, str]) -> None:
        """Replace the whole configuration; the running state stays as it is."""
        self.call("PUT", quoted("connectors", name, "config"), dict(config))

    def stop(self, name: str) -> None:
        """Ask for STOPPED; it is reached later."""
        self.call("PUT", quoted("connectors", name, "stop"))

    def resume(self, name: str) -> None:
        """Ask for RUNNING; it is reached later."""
        self.call("PUT", quoted("connectors", name, "resume"))

    def restart_failed(self, name: str) -> None:
        """Restart the connector and those of its tasks that failed; what runs goes on undisturbed."""
        self.call("POST", quoted("connectors", name, "restart"), query="?includeTasks=true&onlyFailed=true")

    def restart_connector(self, name: str) -> None:
        """Restart the connector alone: its tasks, which do the work, go on undisturbed."""
        self.call("POST", quoted("connectors", name, "restart"), query="?includeTasks=false&onlyFailed=false")

    def delete(self, name: str) -> None:
        """Delete a connector. Its offsets survive in the worker, under its name."""
        self.call("DELETE", quoted("connectors", name))

    def offsets(self, name: str) -> dict[str, Any]:
        """Committed offsets of a connector, as Kafka Connect shows them. Slow for thousands of partitions."""
        path = quoted("connectors", name, "offsets")
        return _mapping(self, path, self.call("GET", path, timeout=max(self.timeout, _OFFSETS_SECONDS)))

    def reset_offsets(self, name: str) -> None:
        """Forget every offset of a STOPPED connector: it would copy everything again."""
        self.call("DELETE", quoted("connectors", name, "offsets"))

    def alter_offsets(self, name: str, entries: Sequence[Mapping[str, Any]]) -> None:
        """Set offsets of a STOPPED connector; partitions that are not named keep theirs. Nothing is checked there."""
        self.call("PATCH", quoted("connectors", name, "offsets"), {"offsets": list(entries)})


def parse_connector(name: str, entry: Mapping[str, Any]) -> Connector:
    """One entry of ``GET /connectors?expand=status&expand=info``."""
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
    """First line of a trace, and its innermost cause: the first line alone often only says that a task failed."""
    lines = [line.strip() for line in str(trace or "").splitlines() if line.strip()]
    causes = [line for line in lines[1:] if line.startswith("Caused by: ")]
    return " / ".join(lines[:1] + causes[-1:])


def _mapping(client: Transport, path: str, answer: Any) -> dict[str, Any]:
    if isinstance(answer, dict):
        return answer
    raise DrError(
        "connect_unexpected",
        f'"{client.url}{path}" answered JSON that Kafka Connect would not: {type(answer).__name__}.',
        "Is this the REST address of a Kafka Connect worker, with its path prefix if it has one?",
        client.url,
    )
