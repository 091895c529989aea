# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stands in for the controllers of Deployments and for the kubelet: pods without processes, which take time to end."""

from __future__ import annotations

import threading
import time
from typing import Any

from strimzi.kube import Kube, KubeError

_FINALIZER = "kafka-dr.test/flush"


class FakeWorkloads:
    """``flush``: seconds from the deletion of a pod to its end. ``ready``: whether new pods become ready."""

    def __init__(self, kube: Kube, namespace: str, flush: float = 0.3) -> None:
        self._kube, self.flush, self.ready = kube, flush, True
        self._apps = f"/apis/apps/v1/namespaces/{namespace}"
        self._pods = f"/api/v1/namespaces/{namespace}/pods"
        self._ending: dict[str, float] = {}
        self._numbers = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ended.wait(0.05):
            try:
                for plural in ("deployments", "statefulsets"):
                    for workload in self._kube.items(f"{self._apps}/{plural}"):
                        self._reconcile(plural, workload)
            except KubeError:
                continue

    def _reconcile(self, plural: str, workload: dict[str, Any]) -> None:
        labels = workload["spec"]["selector"]["matchLabels"]
        selector = ",".join(f"{key}={value}" for key, value in labels.items())
        pods = self._kube.items(self._pods, labelSelector=selector)
        live = [pod for pod in pods if not pod["metadata"].get("deletionTimestamp")]
        for pod in live[workload["spec"]["replicas"] :]:
            self._kube.call("DELETE", f"{self._pods}/{pod['metadata']['name']}")
        for pod in pods:
            if pod["metadata"].get("deletionTimestamp"):
                self._end(pod["metadata"]["name"])
        for _each in range(workload["spec"]["replicas"] - len(live)):
            self._create(workload["metadata"]["name"], labels)
        ready = min(len(live), workload["spec"]["replicas"]) if self.ready else 0
        status = {
            "observedGeneration": workload["metadata"]["generation"],
            "replicas": len(pods),
            "readyReplicas": ready,
            "updatedReplicas": ready,
        }
        self._kube.patch(f"{self._apps}/{plural}/{workload['metadata']['name']}/status", {"status": status})

    def _create(self, name: str, labels: dict[str, str]) -> None:
        self._numbers += 1
        metadata = {"name": f"{name}-{self._numbers}", "labels": labels, "finalizers": [_FINALIZER]}
        spec = {"containers": [{"name": "it", "image": "none"}]}
        body = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
        self._kube.call("POST", self._pods, body)
        self._kube.patch(f"{self._pods}/{metadata['name']}/status", {"status": {"phase": "Running"}})

    def _end(self, name: str) -> None:
        if time.monotonic() >= self._ending.setdefault(name, time.monotonic() + self.flush):
            self._kube.patch(f"{self._pods}/{name}", {"metadata": {"finalizers": None}})
