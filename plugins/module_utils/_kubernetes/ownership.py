# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who else writes a resource: field managers, and the annotations of GitOps controllers.

Sources: https://kubernetes.io/docs/reference/using-api/server-side-apply/ (metadata.managedFields),
https://argo-cd.readthedocs.io/en/stable/user-guide/resource_tracking/,
https://fluxcd.io/flux/components/kustomize/kustomizations/ (labels of applied resources).

Private to this collection: may change in any release.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from .api import MANAGER, Resource

__all__ = ["gitops_tool", "owner_of", "suspension"]

# Controllers that write the state of a repository again and again. Prefixes of their field managers.
_CONTROLLERS = {"argocd": "Argo CD", "kustomize-controller": "Flux", "helm-controller": "Flux", "flux": "Flux"}
_MARKS = {
    "argocd.argoproj.io/instance": "Argo CD",
    "argocd.argoproj.io/tracking-id": "Argo CD",
    "kustomize.toolkit.fluxcd.io/name": "Flux",
    "helm.toolkit.fluxcd.io/name": "Flux",
}
_SUSPEND = {
    "Argo CD": "In Argo CD, disable automated sync of the application, or ignore {path} in its ignoreDifferences",
    "Flux": "Suspend the resource of Flux: flux suspend kustomization NAME, or flux suspend helmrelease NAME",
}


def owner_of(resource: Resource, *path: str) -> str | None:
    """Return the field manager that keeps the field at ``path`` as it is. None: this collection may change it.

    A person's kubectl changes a field once, and so does another client's update. A server-side apply of a program, or
    any write of a known GitOps controller, is repeated.
    """
    for entry in resource["metadata"].get("managedFields") or []:
        manager = str(entry.get("manager", ""))
        if manager == MANAGER or manager.startswith("kubectl") or entry.get("subresource"):
            continue
        repeats = entry.get("operation") == "Apply" or _controller(manager)
        if repeats and _holds(entry.get("fieldsV1") or {}, path):
            return manager
    return None


def gitops_tool(resource: Resource) -> str | None:
    """The GitOps tool whose labels or annotations the resource has, such as ``Flux``."""
    metadata = resource["metadata"]
    marks = {**(metadata.get("labels") or {}), **(metadata.get("annotations") or {})}
    return next((tool for mark, tool in _MARKS.items() if mark in marks), None)


def suspension(owner: str, path: Sequence[str]) -> str:
    """What to suspend so that ``owner`` (a field manager or a tool) leaves the field at ``path`` alone."""
    tool = _controller(owner) or owner
    general = "Suspend the program that applies this resource, or remove {path} from what it applies"
    return _SUSPEND.get(tool, general).format(path="/" + "/".join(path)) + ". Then start the same playbook again."


def _controller(manager: str) -> str | None:
    return next((tool for prefix, tool in _CONTROLLERS.items() if re.match(rf"{prefix}\b", manager)), None)


def _holds(fields: Mapping[str, Any], path: Sequence[str]) -> bool:
    """Whether a set of fields (FieldsV1) has the field at ``path``."""
    for key in path:
        if f"f:{key}" not in fields:
            return False
        fields = fields[f"f:{key}"]
    return True
