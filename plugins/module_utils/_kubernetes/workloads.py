# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stop, repoint and start applications that are Deployments or StatefulSets.

A workload counts as stopped when no pod of it is left: a pod that terminates may still flush records. What was
remembered is an annotation of the workload, so that another run can start it.

Sources: https://kubernetes.io/docs/concepts/workloads/controllers/deployment/,
https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/ (an HPA does nothing at 0 replicas).

Private to this collection: may change in any release.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._core.changes import Change, Outcome
from .._core.errors import DrError
from .._core.waiting import Bounds, wait_until
from .api import Kind, KubernetesApi, Resource
from .ownership import gitops_tool, owner_of, suspension
from .rights import require_rights
from .scalers import pause, require_scaler_rights, resume

__all__ = ["Endpoint", "Workload"]

#: The number of replicas to scale back to.
REPLICAS = "kafka-dr.switchback/replicas"
_KINDS = {"Deployment": Kind("apps/v1", "deployments"), "StatefulSet": Kind("apps/v1", "statefulsets")}
_ENDPOINTS = {"ConfigMap": Kind("v1", "configmaps"), "Secret": Kind("v1", "secrets")}
_PODS = Kind("v1", "pods")


@dataclass(frozen=True)
class Endpoint:
    """The key of a ConfigMap or Secret that holds the endpoint of an application."""

    kind: str
    name: str
    key: str
    content: str


class Workload:
    """One Deployment or StatefulSet. ``gitops_suspended``: a GitOps tool's marks on it are no reason to refuse."""

    def __init__(
        self, api: KubernetesApi, namespace: str, kind: str, name: str, gitops_suspended: bool = False
    ) -> None:
        self._api, self._namespace, self._name = api, namespace, name
        self._kind, self._gitops_suspended = _KINDS[kind], gitops_suspended
        self.title = f"{kind} {namespace}/{name}"
        #: What was changed so far, also by a call that failed.
        self.outcomes: list[Outcome] = []

    def stop(self, bounds: Bounds, check: bool) -> None:
        """Scale to 0, and wait until no pod is left. Raises ``workload_not_stopped`` or ``workload_owned``."""
        self._require_unowned(self._require())
        self.outcomes += pause(self._api, self._namespace, self._name, check)
        self._scale(lambda _replicas, _resource: 0, bounds, check)
        if not check:
            self._await_gone(bounds)

    def start(self, endpoint: Endpoint | None, bounds: Bounds, check: bool) -> None:
        """Write the endpoint, scale back, and wait until every replica is ready.

        Raises ``workload_not_ready``, ``replicas_unknown``, or ``workload_runs`` if pods would keep another endpoint.
        In check mode also ``rights_missing``: reads alone would not show that a stop or a change is forbidden.
        """
        resource = self._require()
        self._require_unowned(resource)
        self._wanted(resource)  # before the endpoint is written
        if check:
            needed = [(self._kind, self._name, "patch"), (_PODS, "", "list")]
            needed += [(_ENDPOINTS[endpoint.kind], endpoint.name, "patch")] if endpoint else []
            require_rights(self._api, self._namespace, self.title, needed)
            require_scaler_rights(self._api, self._namespace, self.title, self._name)
        if endpoint is not None:
            self._point(endpoint, _replicas(resource), check)
        self._scale(lambda replicas, seen: replicas or self._wanted(seen), bounds, check)
        self.outcomes += resume(self._api, self._namespace, self._name, check)
        if not check:
            self._await_ready(bounds)

    # ---- the workload

    def _require(self) -> Resource:
        resource = self._api.find(self._kind, self._namespace, self._name)
        if resource is None:
            raise DrError(
                "no_workload",
                f'The {self.title} does not exist on "{self._api.url}".',
                "Correct workload in kafka_dr_clients.",
                self._api.url,
            )
        return resource

    def _require_unowned(self, resource: Resource) -> None:
        owner = owner_of(resource, "spec", "replicas") or gitops_tool(resource)
        if owner is not None and not self._gitops_suspended:
            raise DrError(
                "workload_owned",
                f"The {self.title} is applied by {owner}, which would set its replicas back.",
                f"{suspension(owner, ('spec', 'replicas'))} with workload.gitops_suspended: true.",
                self._api.url,
            )

    def _wanted(self, resource: Resource) -> int:
        remembered = (resource["metadata"].get("annotations") or {}).get(REPLICAS)
        if _replicas(resource) > 0:
            return _replicas(resource)
        if remembered is None or not str(remembered).isdigit() or int(remembered) == 0:
            raise DrError(
                "replicas_unknown",
                f"The {self.title} has 0 replicas and no annotation {REPLICAS}: this collection did not stop it.",
                f"Set the annotation to the number of replicas to start: kubectl -n {self._namespace} annotate"
                f" {self._kind.plural} {self._name} {REPLICAS}=N.",
                self._api.url,
            )
        return int(remembered)

    def _scale(self, wanted: Callable[[int, Resource], int], bounds: Bounds, check: bool) -> None:
        """Scale to the number that ``wanted`` returns for the present number and the resource.

        The patch has the resourceVersion that was read, so that a scaler's write in between is not overwritten. It is
        repeated after a conflict: a controller updates the status of a workload all the time.
        """

        def attempt() -> bool:
            resource = self._require()
            before = _replicas(resource)
            after = wanted(before, resource)
            if after != before:
                metadata = {
                    "resourceVersion": resource["metadata"]["resourceVersion"],
                    "annotations": {REPLICAS: None if after else str(before)},
                }
                change = Change("workload", self.title, "scale", {"replicas": before}, {"replicas": after})
                body = {"metadata": metadata, "spec": {"replicas": after}}
                self._carry_out(change, self._kind, self._name, body, check)
            return True

        wait_until(attempt, lambda done: done, bounds)

    def _carry_out(self, change: Change, kind: Kind, name: str, body: Resource, check: bool) -> None:
        if not check:
            self._api.patch(kind, self._namespace, name, body)
        self.outcomes.append(Outcome(change, "planned" if check else "done"))

    def _await_gone(self, bounds: Bounds) -> None:
        waited = wait_until(self._left, lambda left: not left, bounds)
        if not waited.done:
            raise DrError(
                "workload_not_stopped",
                f"The {self.title} still has {len(waited.state)} pods after {waited.seconds:.0f} s:"
                f" {', '.join(waited.state[:5])}.",
                "A pod that terminates may still write records. Check what delays it (terminationGracePeriodSeconds,"
                " preStop hooks, a lost node), then start the same playbook again.",
                self._api.url,
            )

    def _left(self) -> list[str]:
        """What still runs, or may. Raises ``workload_owned`` if another program has scaled the workload up again."""
        resource = self._require()
        if _replicas(resource) > 0:
            raise DrError(
                "workload_owned",
                f"The {self.title} was scaled to {_replicas(resource)} again while it was stopped.",
                "Find out which program does it (metadata.managedFields of the resource) and suspend it. Then start"
                " the same playbook again.",
                self._api.url,
            )
        pods = [pod for pod in self._pods(resource) if _phase(pod) not in ("Succeeded", "Failed")]
        names = [f"{pod['metadata']['name']} {_phase(pod)}" for pod in pods]
        status = resource.get("status") or {}
        # Without this, a controller that has not seen the change yet could create a pod after the list was read.
        unseen = int(status.get("observedGeneration") or 0) < resource["metadata"]["generation"]
        return names or (["its controller has not carried out the change"] if unseen or status.get("replicas") else [])

    def _pods(self, resource: Resource) -> list[Resource]:
        return self._api.find_all(_PODS, self._namespace, _selector(resource["spec"]["selector"]))

    def _await_ready(self, bounds: Bounds) -> None:
        waited = wait_until(self._unready, lambda left: not left, bounds)
        if not waited.done:
            raise DrError(
                "workload_not_ready",
                f"The {self.title} is not ready after {waited.seconds:.0f} s: {waited.state}.",
                "Look at its pods: kubectl describe pod. Then start the same playbook again.",
                self._api.url,
            )

    def _unready(self) -> str:
        resource = self._require()
        wanted, status = _replicas(resource), resource.get("status") or {}
        ready = min(int(status.get(key) or 0) for key in ("readyReplicas", "updatedReplicas"))
        if int(status.get("observedGeneration") or 0) < resource["metadata"]["generation"]:
            return "its controller has not carried out the change"
        return "" if ready >= wanted else f"{ready} of {wanted} replicas are ready"

    # ---- endpoint

    def _point(self, endpoint: Endpoint, replicas: int, check: bool) -> None:
        kind, title = _ENDPOINTS[endpoint.kind], f"{endpoint.kind} {self._namespace}/{endpoint.name}"
        present = self._api.find(kind, self._namespace, endpoint.name)
        content = endpoint.content
        if endpoint.kind == "Secret":
            content = base64.b64encode(content.encode()).decode()
        if present is not None and (present.get("data") or {}).get(endpoint.key) == content:
            return
        self._require_changeable(present, title, endpoint)
        # In check mode the application still runs.
        if replicas > 0 and not check:
            raise DrError(
                "workload_runs",
                f"The {self.title} has {replicas} replicas, and {title} names another cluster: running pods would keep"
                " the old endpoint.",
                "Stop the application first, then start the same playbook again.",
                self._api.url,
            )
        change = Change("endpoint", f"{title} {endpoint.key}", "write", {}, {"content": "for another cluster"})
        self._carry_out(change, kind, endpoint.name, {"data": {endpoint.key: content}}, check)

    def _require_changeable(self, present: Resource | None, title: str, endpoint: Endpoint) -> None:
        why = None
        if present is None:
            why, hint = "does not exist", "Create it: the application's pods name it."
        elif present.get("immutable"):
            why, hint = "is immutable", "Create it anew without immutable: true."
        elif (owner := owner_of(present, "data", endpoint.key)) and not self._gitops_suspended:
            why, hint = f"belongs to {owner}, which would set it back", suspension(owner, ("data", endpoint.key))
        if why is not None:
            raise DrError(
                "endpoint_not_writable",
                f'The {title} of the {self.title} {why}: its key "{endpoint.key}" cannot be written.',
                hint,
                self._api.url,
            )


def _replicas(resource: Resource) -> int:
    """The wanted number of replicas; the API server's default is 1."""
    value = (resource.get("spec") or {}).get("replicas")
    return 1 if value is None else int(value)


def _phase(pod: Resource) -> str:
    phase = str((pod.get("status") or {}).get("phase") or "Unknown")
    return "Terminating" if pod["metadata"].get("deletionTimestamp") and phase != "Succeeded" else phase


def _selector(selector: Mapping[str, Any]) -> str:
    """The label selector of a workload as text."""
    parts = [f"{key}={value}" for key, value in (selector.get("matchLabels") or {}).items()]
    for expression in selector.get("matchExpressions") or []:
        values: Sequence[str] = expression.get("values") or []
        words = {"In": "in", "NotIn": "notin"}
        if expression["operator"] in words:
            parts.append(f"{expression['key']} {words[expression['operator']]} ({','.join(values)})")
        else:
            parts.append(expression["key"] if expression["operator"] == "Exists" else f"!{expression['key']}")
    return ",".join(parts)
