# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Services and their configuration: lookup, views, partial updates, staleness. No function blocks."""

from __future__ import annotations

import time
from typing import Any

from . import properties
from .errors import ApiError
from .properties import DRIVER, GATEWAY, ROLE_TYPES, SRM, Property
from .state import Group, Role, Service, State

HOST_ID = "lab-host"


def new_service(cluster: str, name: str, service_type: str, site: str, host: str) -> Service:
    groups, roles = {}, []
    for role_type in ROLE_TYPES[service_type]:
        group = f"{name}-{role_type}-BASE"
        groups[group] = Group(group, role_type)
        roles.append(Role(f"{name}-{role_type}-1", role_type, group, host))
    return Service(cluster, name, service_type, site, groups=groups, roles=roles)


def find(state: State, cluster: str, name: str) -> Service:
    """Find a service. Names are case-sensitive, as in Cloudera Manager."""
    of_cluster(state, cluster)
    for service in state.services:
        if (service.cluster, service.name) == (cluster, name):
            return service
    raise ApiError(404, f"Service '{name}' not found in cluster '{cluster}'.")


def of_cluster(state: State, cluster: str) -> list[Service]:
    found = [service for service in state.services if service.cluster == cluster]
    if not found:
        raise ApiError(404, f"Cluster '{cluster}' not found.")
    return found


def group_of(service: Service, name: str) -> Group:
    if name not in service.groups:
        raise ApiError(404, f"Role config group '{name}' not found in service '{service.name}'.")
    return service.groups[name]


# ---- configuration


def view(state: State, service: Service, group: Group | None, full: bool, weak: bool) -> dict[str, Any]:
    """An ApiServiceConfig or ApiConfigList. ``weak``: the user has no access to secrets."""
    values = service.config if group is None else group.config
    known = properties.known(service.type, group.role_type if group else None, state.switches)
    items = [item.to_json(values.get(item.name), full, weak) for item in known.values()]
    return {"items": [item for item in items if full or "value" in item]}


def update(state: State, service: Service, group: Group | None, items: list[Any]) -> None:
    """Update some properties. A null or absent value resets one. An unknown name rejects the whole update."""
    known = properties.known(service.type, group.role_type if group else None, state.switches)
    wanted: dict[str, str | None] = {}
    for item in items:
        name = item.get("name") if isinstance(item, dict) else None
        if name not in known:
            raise ApiError(400, f"Unknown configuration attribute '{name}'.")
        wanted[name] = _checked(known[name], item.get("value"), state.switches.bad_values)
    values = service.config if group is None else group.config
    for name, value in wanted.items():
        if value is None:
            values.pop(name, None)
        else:
            values[name] = value
    refresh_staleness(state, service)


def _checked(item: Property, value: Any, bad_values: str) -> str | None:
    if value is None:
        return None
    text = item.normalised(value)
    problem = item.problem(text)
    if problem and bad_values == "reject":
        raise ApiError(400, f"Invalid value of '{item.name}': {problem}")
    return text


def effective(state: State, service: Service) -> dict[str, Any]:
    """All effective values, by level, that the service would read now, and the accounts that it names."""
    levels: dict[str, Any] = {"service": _values(state, service, None)}
    levels |= {group.role_type: _values(state, service, group) for group in service.groups.values()}
    named = (levels["service"].get("external_kafka_accounts") or "").split(",")
    peers = {name.strip(): state.accounts.get(name.strip()) for name in named if name.strip()}
    return {**levels, "accounts": peers, "runtime": state.switches.runtime}


def _values(state: State, service: Service, group: Group | None) -> dict[str, str]:
    values = service.config if group is None else group.config
    known = properties.known(service.type, group.role_type if group else None, state.switches)
    found = {name: values.get(name, item.default) for name, item in known.items()}
    return {name: value for name, value in found.items() if value is not None}


# ---- staleness


def refresh_staleness(state: State, service: Service) -> None:
    """Record the new values of both statuses, and when they become visible."""
    now, wanted = time.time(), effective(state, service)
    for kind, current in (("config", service.running), ("client", service.deployed)):
        status = "FRESH" if current == wanted else "STALE"
        line = service.staleness.setdefault(kind, [[0.0, "FRESH"]])
        if line[-1][1] == status:
            continue
        delay = state.switches.fresh_seconds if status == "FRESH" else state.switches.stale_seconds
        # Keep the last due entry and all later ones.
        due = [entry for entry in line if entry[0] <= now][-1:]
        service.staleness[kind] = [*due, *(entry for entry in line if entry[0] > now), [now + delay, status]]


def staleness(service: Service, kind: str) -> str:
    """FRESH or STALE. ``kind`` is config or client."""
    now = time.time()
    due = [status for since, status in service.staleness.get(kind, []) if since <= now]
    return due[-1] if due else "FRESH"


# ---- responses


def to_json(state: State, service: Service, healthy: bool | None) -> dict[str, Any]:
    """An ApiService. ``healthy`` is None if unknown, as without an engine."""
    running = service.state == "STARTED"
    health = {True: "GOOD", False: "BAD", None: "NOT_AVAILABLE"}[healthy] if running else "DISABLED"
    entity = {"GOOD": "GOOD_HEALTH", "BAD": "BAD_HEALTH", "NOT_AVAILABLE": "UNKNOWN_HEALTH"}.get(health, service.state)
    stale = staleness(service, "config")
    found: dict[str, Any] = {
        "name": service.name,
        "type": service.type,
        "displayName": service.name.replace("_", " ").title(),
        "clusterRef": {"clusterName": service.cluster, "displayName": service.cluster},
        "serviceState": service.state,
        "healthSummary": health,
        "configStale": stale != "FRESH",
        "configStalenessStatus": stale,
        "clientConfigStalenessStatus": staleness(service, "client"),
        "entityStatus": entity,
        "maintenanceMode": False,
        "serviceVersion": f"CDH {state.switches.runtime}",
    }
    if service.type == SRM:
        check = {"name": f"{DRIVER}_DISTRIBUTED_HERDER_STATUS", "summary": health, "suppressed": False}
        found["healthChecks"] = [check]
    return found


def role_to_json(service: Service, role: Role) -> dict[str, Any]:
    """An ApiRole. A gateway has no process."""
    return {
        "name": role.name,
        "type": role.type,
        "roleState": "NA" if role.type == GATEWAY else role.state,
        "hostRef": {"hostId": HOST_ID, "hostname": role.host},
        "serviceRef": service_ref(service),
        "roleConfigGroupRef": {"roleConfigGroupName": role.group},
        "configStalenessStatus": staleness(service, "client" if role.type == GATEWAY else "config"),
        "maintenanceMode": False,
    }


def group_to_json(service: Service, group: Group, config: dict[str, Any]) -> dict[str, Any]:
    """An ApiRoleConfigGroup."""
    return {
        "name": group.name,
        "roleType": group.role_type,
        "base": True,
        "displayName": f"{group.role_type} Default Group",
        "config": config,
        "serviceRef": service_ref(service),
    }


def service_ref(service: Service) -> dict[str, Any]:
    return {"clusterName": service.cluster, "serviceName": service.name}


def roles(service: Service, text: str) -> list[Role]:
    """Roles that match a filter ``type==X;hostname==Y;hostId==Z`` without blanks."""
    wanted = {}
    for part in filter(None, text.split(";")):
        key, equals, value = part.partition("==")
        if not equals or key not in ("type", "hostname", "hostId"):
            raise ApiError(400, f"Invalid filter '{part}'.")
        wanted[key] = value
    facts = [({"type": role.type, "hostname": role.host, "hostId": HOST_ID}, role) for role in service.roles]
    return [role for fact, role in facts if wanted.items() <= fact.items()]
