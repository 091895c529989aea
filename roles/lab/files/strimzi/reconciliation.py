# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One reconciliation of a KafkaConnector, in the order of the real operator.

The order is that of AbstractConnectOperator: configuration, state, restart, offsets, status of the worker, status of
the resource. A status is therefore stale right after a stop, because the worker has not carried it out yet.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import Any

from .kube import Kube, KubeError
from .worker import WorkerError, Workers, connector_path

GROUP = "kafka.strimzi.io"
CLUSTER = "strimzi.io/cluster"
OFFSETS, RESTART, PAUSE = "strimzi.io/connector-offsets", "strimzi.io/restart", "strimzi.io/pause-reconciliation"
OFFSETS_SINCE, CREATE_STOPPED_SINCE = (0, 44), (1, 2)
# Seconds between two requests for a status that does not exist yet.
BACK_OFF = (0.2, 0.4, 0.8, 1.6, 3.2)
STATES = {"running": "RUNNING", "paused": "PAUSED", "stopped": "STOPPED"}


@dataclass
class Pass:
    """What one reconciliation has found."""

    resource: dict[str, Any]
    conditions: list[dict[str, str]] = field(default_factory=list)
    connector_status: dict[str, Any] | None = None

    @property
    def name(self) -> str:
        return str(self.resource["metadata"]["name"])

    @property
    def spec(self) -> dict[str, Any]:
        spec: dict[str, Any] = self.resource["spec"]
        return spec

    @property
    def state(self) -> str:
        return str(self.spec.get("state") or ("paused" if self.spec.get("pause") else "running"))

    def annotation(self, key: str) -> str | None:
        return (self.resource["metadata"].get("annotations") or {}).get(key)

    def warn(self, reason: str, message: str) -> None:
        self.conditions.append({"type": "Warning", "status": "True", "reason": reason, "message": message})

    def config(self) -> dict[str, str]:
        config = {key: _text(value) for key, value in (self.spec.get("config") or {}).items()}
        return {
            **config,
            "name": self.name,
            "connector.class": str(self.spec["class"]),
            "tasks.max": str(self.spec.get("tasksMax", 1)),
        }


class Reconciler:
    """Reconciles the KafkaConnectors of one KafkaConnect."""

    def __init__(self, kube: Kube, workers: Workers, namespace: str, api: str, version: tuple[int, int]) -> None:
        self._kube, self._workers, self._version = kube, workers, version
        self._maps = f"/api/v1/namespaces/{namespace}/configmaps"
        self.connectors = f"/apis/{GROUP}/{api}/namespaces/{namespace}/kafkaconnectors"

    def reconcile(self, resource: dict[str, Any]) -> bool:
        """Carry out one resource. Returns whether the worker shows the wanted state, or is not asked for it."""
        current = Pass(resource)
        if current.annotation(PAUSE) == "true":
            current.conditions.append({"type": "ReconciliationPaused", "status": "True"})
        else:
            try:
                self._carry_out(current)
                current.conditions.append({"type": "Ready", "status": "True"})
            except WorkerError as error:
                reason = "ConnectRestException"
                current.conditions.append(
                    {"type": "NotReady", "status": "True", "reason": reason, "message": str(error)}
                )
        self._write_status(current)
        shown = current.connector_status and current.connector_status["connector"]["state"]
        return shown in (None, STATES[current.state], "FAILED")

    def _carry_out(self, current: Pass) -> None:
        self._configure(current)
        self._set_state(current)
        self._restart(current)
        if self._version >= OFFSETS_SINCE:
            self._manage_offsets(current)
        current.connector_status = self._status(current.name)

    def _status(self, name: str) -> Any:
        """A new connector has no status for a moment. Strimzi waits as well (``KafkaConnectApi.statusWithBackOff``)."""
        for pause in BACK_OFF:
            try:
                return self._workers.call("GET", connector_path(name, "status"))
            except WorkerError as error:
                if error.status != 404:
                    raise
                time.sleep(pause)
        return self._workers.call("GET", connector_path(name, "status"))

    def _configure(self, current: Pass) -> None:
        """Below 1.2 a connector is created by PUT, so it runs until its state is set."""
        config = current.config()
        try:
            present = self._workers.call("GET", connector_path(current.name, "config"))
        except WorkerError as error:
            if error.status != 404:
                raise
            if self._version >= CREATE_STOPPED_SINCE:
                state = STATES[current.state]
                self._workers.call(
                    "POST", "/connectors", {"name": current.name, "config": config, "initial_state": state}
                )
                return
            present = None
        if present != config:
            self._workers.call("PUT", connector_path(current.name, "config"), config)

    def _state(self, current: Pass) -> str | None:
        """The connector's state. None: a new connector has no status yet."""
        try:
            status = self._workers.call("GET", connector_path(current.name, "status"))
        except WorkerError as error:
            if error.status == 404:
                return None
            raise
        return str(status["connector"]["state"])

    def _set_state(self, current: Pass) -> None:
        present = self._state(current)
        calls = {"running": "resume", "paused": "pause", "stopped": "stop"}
        if current.state == "running" and present in (None, "RUNNING", "FAILED", "UNASSIGNED", "RESTARTING"):
            return
        if present != STATES[current.state]:
            self._workers.call("PUT", connector_path(current.name, calls[current.state]))

    def _restart(self, current: Pass) -> None:
        wanted = current.annotation(RESTART)
        if wanted is None:
            return
        options = "&".join(f"{key}={str(key in wanted).lower()}" for key in ("includeTasks", "onlyFailed"))
        try:
            self._workers.call("POST", connector_path(current.name, "restart") + f"?{options}")
        except WorkerError as error:
            current.warn("RestartConnector", str(error))
        self._remove(current, RESTART)

    # ---- offsets

    def _manage_offsets(self, current: Pass) -> None:
        work = current.annotation(OFFSETS)
        if work is None:
            return
        try:
            done = {"list": self._list, "alter": self._alter, "reset": self._reset}.get(work)
            if done is None:
                current.warn("ManageOffsets", f"unknown value {work}")
                return
            done(current)
        except (WorkerError, KubeError) as error:
            current.warn(f"{work.capitalize()}Offsets", str(error))
            return
        self._remove(current, OFFSETS)

    def _list(self, current: Pass) -> None:
        name = current.spec["listOffsets"]["toConfigMap"]["name"]
        offsets = self._workers.call("GET", connector_path(current.name, "offsets"))
        metadata = current.resource["metadata"]
        owner = {"apiVersion": current.resource["apiVersion"], "kind": "KafkaConnector"}
        owner |= {key: metadata[key] for key in ("name", "uid")}
        self._kube.write(
            self._maps,
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": name, "ownerReferences": [owner]},
                "data": {"offsets.json": json.dumps(offsets)},
            },
        )

    def _require_stopped(self, current: Pass) -> None:
        state = self._state(current)
        if state != "STOPPED":
            raise WorkerError(0, f"the connector is {state}, offsets change only while it is STOPPED")

    def _alter(self, current: Pass) -> None:
        self._require_stopped(current)
        config_map = self._kube.get(f"{self._maps}/{current.spec['alterOffsets']['fromConfigMap']['name']}")
        if config_map is None:
            raise KubeError(404, "the ConfigMap of alterOffsets does not exist")
        self._workers.call(
            "PATCH", connector_path(current.name, "offsets"), json.loads(config_map["data"]["offsets.json"])
        )

    def _reset(self, current: Pass) -> None:
        self._require_stopped(current)
        self._workers.call("DELETE", connector_path(current.name, "offsets"))

    def _remove(self, current: Pass, key: str) -> None:
        """Remove an annotation. It stays if the resource was changed since, and the work is done again later."""
        metadata = current.resource["metadata"]
        body = {"metadata": {"resourceVersion": metadata["resourceVersion"], "annotations": {key: None}}}
        try:
            changed = self._kube.patch(f"{self.connectors}/{current.name}", body)
            metadata["resourceVersion"] = changed["metadata"]["resourceVersion"]
        except KubeError as error:
            if error.status not in (404, 409):
                raise

    # ---- status

    def _write_status(self, current: Pass) -> None:
        status = {
            "conditions": current.conditions,
            "observedGeneration": current.resource["metadata"]["generation"],
            "connectorStatus": current.connector_status,
        }
        present = current.resource.get("status") or {}
        if all(present.get(key) == value for key, value in status.items()):
            return
        try:
            self._kube.patch(f"{self.connectors}/{current.name}/status", {"status": status})
        except KubeError as error:
            if error.status != 404:
                raise


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
