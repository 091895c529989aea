# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Applications that run as workloads on Kubernetes: the key ``workload`` of a client with control ``kubernetes``.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..resources.kubernetes_api import API_KEYS, api_problems, name_problems
from ..schema import Key, check_mapping

__all__ = ["WORKLOAD_KINDS", "has_endpoint", "workload_means", "workload_name", "workload_of", "workload_problems"]

WORKLOAD_KINDS = ("Deployment", "StatefulSet")
_KEYS = {
    **API_KEYS,
    "namespace": Key(required=True),
    "kind": Key(default="Deployment", choices=WORKLOAD_KINDS),
    "name": Key(required=True),
    "endpoint_kind": Key(default="ConfigMap", choices=("ConfigMap", "Secret")),
    "endpoint_name": Key(),
    "endpoint_key": Key(default="kafka.env"),
    "gitops_suspended": Key("bool", default=False),
}


def workload_problems(client: Mapping[str, Any]) -> list[str]:
    """Problems of the key ``workload``, one sentence each."""
    where = f'The client "{client["name"]}"'
    if client["control"] != "kubernetes":
        given = client["workload"]
        return [f'{where} has the key "workload", which only control "kubernetes" uses.'] if given else []
    workload, problems = check_mapping(f"{where}: workload", client["workload"], _KEYS)
    if problems:
        return problems
    problems = api_problems(f"{where}: workload", workload)
    for key in ("namespace", "name", "endpoint_name"):
        problems += name_problems(f"{where}: workload.{key}", workload[key]) if workload[key] else []
    if client["endpoint_file"]:
        problems.append(f'{where} has an endpoint_file, but control "kubernetes" writes workload.endpoint_name.')
    if client["hosts"] != "localhost":
        problems.append(f'{where} has hosts "{client["hosts"]}", but the API server is called from kafka_dr_run_on.')
    return problems


def workload_of(client: Mapping[str, Any]) -> dict[str, Any] | None:
    """The workload with its defaults. None: the client is not controlled on Kubernetes."""
    return check_mapping("", client["workload"], _KEYS)[0] if client["control"] == "kubernetes" else None


def has_endpoint(client: Mapping[str, Any]) -> bool:
    """Whether an endpoint template is rendered for this client. Its workload has its defaults."""
    return bool(client["endpoint_file"] or (client["workload"] or {}).get("endpoint_name"))


def workload_name(workload: Mapping[str, Any]) -> str:
    """The workload in a few words, such as ``Deployment shop/payments``."""
    return f"{workload.get('kind') or 'Deployment'} {workload['namespace']}/{workload['name']}"


def workload_means(client: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What two applications must not share, each with its place: the workload and the endpoint."""
    workload = client["workload"]
    if client["control"] != "kubernetes" or not workload:
        return []
    place = f" on {workload.get('url') or workload.get('kubeconfig')}"
    means = [(workload_name(workload), place)]
    if workload.get("endpoint_name"):
        key = workload.get("endpoint_key") or "kafka.env"
        means.append((f"endpoint {workload['namespace']}/{workload['endpoint_name']} {key}", place))
    return means
