# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The loop of the emulated operator: watch the resources of one KafkaConnect, reconcile them one after the other."""

from __future__ import annotations

import queue
import threading
import time
from typing import Any
from urllib.parse import quote

from .kube import Kube, KubeError
from .reconciliation import CLUSTER, GROUP, PAUSE, Reconciler
from .worker import WorkerError, Workers, connector_path

USE_RESOURCES = "strimzi.io/use-connector-resources"
_STEP = 0.05
# Inferred: the status of a stop was right less than 3 s after it, although no event of its own announces the end.
_AGAIN_SECONDS = 0.5


class Operator:
    """Runs until :meth:`stop`. ``delay``: seconds before each reconciliation, for a slow operator."""

    def __init__(
        self,
        kube: Kube,
        workers: Workers,
        namespace: str,
        connect: str,
        version: str = "0.49.1",
        interval: float = 120.0,
    ) -> None:
        major, minor = (int(part) for part in version.split(".")[:2])
        # v1 is served from 0.49 on.
        api = "v1" if (major, minor) >= (0, 49) else "v1beta2"
        self._kube, self._workers, self._connect = kube, workers, connect
        self._path = f"/apis/{GROUP}/{api}/namespaces/{namespace}/kafkaconnects/{connect}"
        self.reconciler = Reconciler(kube, workers, namespace, api, (major, minor))
        self.interval, self.delay = interval, 0.0
        self._queue: queue.Queue[str] = queue.Queue()
        self._waiting: set[str] = set()
        self._again: dict[str, float] = {}
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=work) for work in (self._watch, self._work)]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()

    # ---- events

    def _watch(self) -> None:
        while not self._ended.is_set():
            try:
                listed = self._kube.call("GET", self.reconciler.connectors)
                for resource in listed["items"]:
                    self._changed(resource)
                version = str(listed["metadata"]["resourceVersion"])
                while not self._ended.is_set():
                    for event in self._kube.watch(self.reconciler.connectors, version):
                        version = self._changed(event["object"])
            except (KubeError, KeyError):
                # Also an event of type ERROR: the version is too old, so list again.
                self._ended.wait(_STEP)

    def _changed(self, resource: dict[str, Any]) -> str:
        metadata = resource["metadata"]
        if (metadata.get("labels") or {}).get(CLUSTER) == self._connect:
            self._enqueue(str(metadata["name"]))
        return str(metadata["resourceVersion"])

    def _enqueue(self, name: str) -> None:
        with self._lock:
            if name not in self._waiting:
                self._waiting.add(name)
                self._queue.put(name)

    def _work(self) -> None:
        due = 0.0
        while not self._ended.is_set():
            if time.monotonic() >= due and self._full():
                due = time.monotonic() + self.interval
            for name in [name for name, at in self._again.items() if time.monotonic() >= at]:
                del self._again[name]
                self._enqueue(name)
            try:
                name = self._queue.get(timeout=_STEP)
            except queue.Empty:
                continue
            if self._ended.wait(self.delay):
                return
            with self._lock:
                self._waiting.discard(name)
            self._one(name)

    def _one(self, name: str) -> None:
        try:
            resource = self._kube.get(f"{self.reconciler.connectors}/{quote(name)}")
            if resource is None:
                self._delete(name)
            elif self._uses_resources() and not self.reconciler.reconcile(resource):
                self._again[name] = time.monotonic() + _AGAIN_SECONDS
        except (KubeError, WorkerError):
            # The real operator also tries again later. Until then nothing else must wait.
            self._ended.wait(_STEP)
            self._enqueue(name)

    # ---- the KafkaConnect

    def _uses_resources(self) -> bool:
        connect = self._kube.get(self._path)
        annotations: dict[str, Any] = (connect or {}).get("metadata", {}).get("annotations") or {}
        return annotations.get(USE_RESOURCES) == "true" and annotations.get(PAUSE) != "true"

    def _full(self) -> bool:
        """The full reconciliation: report the KafkaConnect, and delete every connector that has no resource."""
        try:
            connect = self._kube.get(self._path)
            if connect is None:
                return False
            self._report(connect)
            if self._uses_resources():
                named = self._kube.items(self.reconciler.connectors, labelSelector=f"{CLUSTER}={self._connect}")
                names = {str(resource["metadata"]["name"]) for resource in named}
                for name in set(self._workers.call("GET", "/connectors")) - names:
                    self._delete(name)
                for name in names:
                    self._enqueue(name)
        except (KubeError, WorkerError):
            return False
        return True

    def _report(self, connect: dict[str, Any]) -> None:
        status = {
            "conditions": [{"type": "Ready", "status": "True"}],
            "observedGeneration": connect["metadata"]["generation"],
            "connectorPlugins": self._workers.call("GET", "/connector-plugins"),
        }
        present = connect.get("status") or {}
        if any(present.get(key) != value for key, value in status.items()):
            self._kube.patch(f"{self._path}/status", {"status": status})

    def _delete(self, name: str) -> None:
        try:
            self._workers.call("DELETE", connector_path(name))
        except WorkerError as error:
            if error.status != 404:
                raise
