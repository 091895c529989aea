# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The manifests of awx/kubernetes, which users copy."""

from __future__ import annotations

from typing import Any

import yaml

from kube_apiserver import ROOT


def documents(name: str) -> list[dict[str, Any]]:
    """The resources of one file."""
    items: list[dict[str, Any]] = yaml.safe_load((ROOT / "awx" / "kubernetes" / name).read_text())["items"]
    return items


def role_and_binding(name: str) -> list[dict[str, Any]]:
    """The Role and the RoleBinding of one file, without a namespace, for the user ``dr``."""
    role, binding = (body for body in documents(name) if body["kind"] in ("Role", "RoleBinding"))
    for body in (role, binding):
        del body["metadata"]["namespace"]
    binding["subjects"] = [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "dr"}]
    return [role, binding]


def folder(body: dict[str, Any], namespace: str) -> str:
    """The path of the resources of one kind."""
    version, kind = body["apiVersion"], body["kind"].lower()
    root = "/apis" if "/" in version else "/api"
    return f"{root}/{version}/namespaces/{namespace}/{kind}s"
