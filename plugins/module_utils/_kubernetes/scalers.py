# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pause and resume the KEDA ScaledObjects of a workload, which would scale it up from 0.

A HorizontalPodAutoscaler needs no pause: at 0 replicas it does nothing until the workload is scaled up.

Source: https://keda.sh/docs/latest/concepts/scaling-deployments/ (annotation autoscaling.keda.sh/paused).

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._core.changes import Change, Outcome
from .api import Kind, KubernetesApi, KubernetesError, Resource
from .rights import require_rights

__all__ = ["pause", "require_scaler_rights", "resume"]

#: On a ScaledObject: this collection has paused it.
OURS = "kafka-dr.switchback/paused"
_PAUSED = "autoscaling.keda.sh/paused"
_KIND = Kind("keda.sh/v1alpha1", "scaledobjects")


def pause(api: KubernetesApi, namespace: str, workload: str, check: bool) -> list[Outcome]:
    """Pause the ScaledObjects of ``workload`` that are active."""
    active = [scaler for scaler in _scalers(api, namespace, workload) if _annotations(scaler).get(_PAUSED) != "true"]
    return [_annotate(api, namespace, scaler, "true", check) for scaler in active]


def resume(api: KubernetesApi, namespace: str, workload: str, check: bool) -> list[Outcome]:
    """Resume the ScaledObjects of ``workload`` that this collection has paused."""
    ours = [scaler for scaler in _scalers(api, namespace, workload) if _annotations(scaler).get(OURS) == "true"]
    return [_annotate(api, namespace, scaler, None, check) for scaler in ours]


def require_scaler_rights(api: KubernetesApi, namespace: str, title: str, workload: str) -> None:
    """Raise ``rights_missing`` if the account may not list ScaledObjects, or may not change those of ``workload``."""
    require_rights(api, namespace, title, [(_KIND, "", "list")])
    names = [scaler["metadata"]["name"] for scaler in _scalers(api, namespace, workload)]
    require_rights(api, namespace, title, [(_KIND, name, "patch") for name in names])


def _scalers(api: KubernetesApi, namespace: str, workload: str) -> list[Resource]:
    try:
        listed = api.find_all(_KIND, namespace)
    except KubernetesError as error:
        if error.status == 404:
            return []  # KEDA is not installed
        raise
    targets = [((scaler.get("spec") or {}).get("scaleTargetRef") or {}).get("name") for scaler in listed]
    return [scaler for scaler, target in zip(listed, targets, strict=True) if target == workload]


def _annotate(api: KubernetesApi, namespace: str, scaler: Resource, paused: str | None, check: bool) -> Outcome:
    name = scaler["metadata"]["name"]
    if not check:
        api.patch(_KIND, namespace, name, {"metadata": {"annotations": {_PAUSED: paused, OURS: paused}}})
    change = Change("scaler", f"ScaledObject {namespace}/{name}", "pause" if paused else "resume", {}, {})
    return Outcome(change, "planned" if check else "done")


def _annotations(resource: Resource) -> Mapping[str, Any]:
    return resource["metadata"].get("annotations") or {}
