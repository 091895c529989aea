# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A small Kafka Connect in memory, for the contract of the emulated operator: states follow requests later.

It replicates: a source connector that runs for a moment with a topic filter that matches stores offsets for it.
"""

from __future__ import annotations

import re
import threading
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from strimzi.worker import WorkerError

MIRROR = "org.apache.kafka.connect.mirror."
#: Measured: a worker shows a stop after 0.1 to 1 s.
DELAY = 0.15


@dataclass
class _Connector:
    config: dict[str, str]
    state: str
    tasks: int
    #: The state to come, and the time from which on it is shown.
    next: tuple[str, int] | None = None
    due: float = 0.0
    offsets: list[dict[str, Any]] = field(default_factory=list)


class FakeConnect:
    """``topics``: number of records on the source cluster, by topic."""

    def __init__(self, topics: dict[str, int] | None = None, version: str = "4.1.1", delay: float = DELAY) -> None:
        self.topics, self.version, self.delay = topics or {}, version, delay
        self.connectors: dict[str, _Connector] = {}
        #: Offsets survive a connector.
        self.stored: dict[str, list[dict[str, Any]]] = {}
        self.calls: list[tuple[str, str]] = []
        #: Seconds that a change of offsets takes, and whether one has begun.
        self.slow_offsets, self.begun = 0.0, threading.Event()
        self._lock = threading.RLock()

    def call(self, method: str, path: str, body: Any = None) -> Any:
        if path.endswith("/offsets") and method != "GET":
            self.begun.set()
            time.sleep(self.slow_offsets)
        with self._lock:
            self.calls.append((method, path))
            parts = [unquote(part) for part in path.partition("?")[0].split("/")[1:]]
            if parts[0] == "connector-plugins":
                kinds = ("Source", "Checkpoint", "Heartbeat")
                return [{"class": f"{MIRROR}Mirror{kind}Connector", "version": self.version} for kind in kinds]
            if len(parts) == 1:
                return self._create(body) if method == "POST" else sorted(self.connectors)
            return self._one(method, parts[1], parts[2] if len(parts) > 2 else "", body)

    def states(self) -> dict[str, tuple[str, int]]:
        with self._lock:
            for one in self.connectors.values():
                self._advance(one)
            return {name: (one.state, one.tasks) for name, one in self.connectors.items()}

    # ---- requests

    def _create(self, body: Any) -> Any:
        state = body.get("initial_state", "RUNNING")
        return self._put(body["name"], body["config"], state)

    def _put(self, name: str, config: dict[str, str], state: str) -> Any:
        # Kafka Connect answers a bad configuration with 400.
        if config.get("fails"):
            raise WorkerError(400, f"Connector configuration is invalid: {config['fails']}")
        present = self.connectors.get(name)
        if present is None:
            tasks = 2 if state == "RUNNING" else 0
            present = _Connector(config, state, tasks, offsets=self.stored.setdefault(name, []))
            self.connectors[name] = present
        present.config = config
        self._replicate(present)
        return {"name": name, "config": config}

    def _one(self, method: str, name: str, what: str, body: Any) -> Any:
        if what == "config" and method == "PUT":
            return self._put(name, body, "RUNNING")
        one = self.connectors.get(name)
        if one is None:
            raise WorkerError(404, f"Connector {name} not found")
        self._advance(one)
        if what == "offsets":
            return self._offsets(method, one, body)
        if method == "DELETE":
            del self.connectors[name]
            return None
        if what == "status":
            tasks = [{"id": index, "state": one.state, "worker_id": "w"} for index in range(one.tasks)]
            return {"name": name, "connector": {"state": one.state, "worker_id": "w"}, "tasks": tasks}
        moves = {"stop": ("STOPPED", 0), "pause": ("PAUSED", 2), "resume": ("RUNNING", 2)}
        moves |= {"restart": ("RUNNING", 2)} if one.state == "FAILED" else {}
        # A repeated request does not put the change off: looks follow each other faster than a worker stops.
        if what in moves and one.next != moves[what]:
            one.next, one.due = moves[what], time.monotonic() + self.delay
        return one.config

    def _offsets(self, method: str, one: _Connector, body: Any) -> Any:
        if method != "GET" and (one.state, one.tasks) != ("STOPPED", 0):
            raise WorkerError(400, "Connectors must be in the STOPPED state before their offsets can be modified")
        if method == "DELETE":
            one.offsets.clear()
        for entry in body["offsets"] if method == "PATCH" else ():
            one.offsets[:] = [other for other in one.offsets if other["partition"] != entry["partition"]]
            one.offsets += [entry] if entry["offset"] is not None else []
        return {"offsets": [dict(entry) for entry in one.offsets]}

    # ---- time

    def _advance(self, one: _Connector) -> None:
        if one.next is not None and time.monotonic() >= one.due:
            one.state, one.tasks = one.next
            one.next = None
            self._replicate(one)

    def _replicate(self, one: _Connector) -> None:
        if one.state != "RUNNING" or not one.config["connector.class"].endswith("MirrorSourceConnector"):
            return
        alias = one.config.get("source.cluster.alias", "source")
        for topic, records in self.topics.items():
            patterns = [pattern for pattern in one.config.get("topics", ".*").split(",") if pattern]
            if records and any(re.fullmatch(pattern, topic) for pattern in patterns):
                partition = {"cluster": alias, "partition": 0, "topic": topic}
                one.offsets[:] = [entry for entry in one.offsets if entry["partition"] != partition]
                one.offsets.append({"partition": partition, "offset": {"offset": records - 1}})
