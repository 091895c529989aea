# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One application of several: its topics, groups and clients move as a pair of their own.

It has its own connectors and its own events in the journal, so each application can live on another cluster. Replicas
keep their names. A resource that two applications share cannot both move and stay, so it is refused.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..engines.finding import engine_inventory
from ..schema import nearest
from .workloads import workload_means

__all__ = ["part_of"]

_NAME = re.compile(r"[A-Za-z0-9_-]+")


def part_of(
    pair: dict[str, Any], wanted: str | None, exact: bool = False, hosts: Mapping[str, Sequence[str]] | None = None
) -> list[str]:
    """Restrict ``pair`` (checked lists of the inventory) to the application ``wanted``. Return the problems.

    Sets ``application``; None if the topics name none. ``exact``: rights that are not declared are deleted. ``hosts``:
    groups of the Ansible inventory with their hosts.
    """
    owners = {topic["name"]: topic.pop("application") for topic in pair["topics"]}
    owned = [*owners.values(), *(entry["application"] for entry in pair["patterns"]["topics"])]
    names = sorted({owner for owner in owned if owner is not None})
    pair["application"] = wanted if names else None
    if not names:
        return [] if wanted is None else [f'kafka_dr_application is "{wanted}", but no topic names an application.']
    problems = _check_topics(pair, owners, names) or _check_shared(pair, owners, exact, hosts or {})
    choices = f"wanted one of: {', '.join(names)}."
    if wanted is None:
        problems.append(f"The topics belong to applications: kafka_dr_application must name one, {choices}")
    elif wanted not in names:
        problems.append(f'kafka_dr_application is "{wanted}", {choices}{nearest(wanted, names)}')
    if problems:
        return problems
    groups = _owners_of_groups(pair, owners)
    pair["patterns"] = _patterns(pair, owners)
    pair["topics"] = [topic for topic in pair["topics"] if owners[topic["name"]] == wanted]
    pair["groups"] = [one for one in pair["groups"] if one["mode"] == "local" or groups[one["name"]] == {wanted}]
    pair["clients"] = [client for client in pair["clients"] if _owners_of(_topics(client), owners) == {wanted}]
    return []


def _patterns(pair: Mapping[str, Any], owners: Mapping[str, str | None]) -> dict[str, list[dict[str, Any]]]:
    """The patterns of the application. Those of groups are its own if they declare topics of it only."""
    wanted, patterns = pair["application"], pair["patterns"]
    groups = [entry for entry in patterns["groups"] if _owners_of(entry["topics"] or [], owners) == {wanted}]
    return {"topics": [entry for entry in patterns["topics"] if entry["application"] == wanted], "groups": groups}


def _check_topics(pair: Mapping[str, Any], owners: Mapping[str, str | None], names: Iterable[str]) -> list[str]:
    problems = [
        f'The topic "{name}" names no application, but other topics do: it could not move with any of them.'
        for name, owner in owners.items()
        if owner is None
    ]
    problems += [
        f'The application "{name}" must consist of letters, digits, "-" and "_".'
        for name in names
        if not _NAME.fullmatch(name)
    ]
    refused = engine_inventory(pair["engine"]).refusals.applications
    if refused:
        problems.append(f'Applications cannot move separately with kafka_dr_engine "{pair["engine"]}": {refused}.')
    return problems


def _check_shared(
    pair: Mapping[str, Any], owners: Mapping[str, str | None], exact: bool, hosts: Mapping[str, Sequence[str]]
) -> list[str]:
    problems = []
    clients = {client["name"]: client for client in pair["clients"]}
    for name, client in clients.items():
        if client["topics"] is None:
            problems.append(f'The client "{name}" needs the key "topics", which determines its application.')
            continue
        found = _owners_of(_topics(client), owners)
        if len(found) != 1:
            problems.append(f'The client "{name}" {_shared(found)}.')
        problems += [
            f'The client "{name}" must start after "{other}", which belongs to another application.'
            for other in client["after"]
            if _owners_of(_topics(clients[other]), owners) != found
        ]
    if problems:
        return problems
    for name, found in _owners_of_groups(pair, owners).items():
        if len(found) != 1:
            problems.append(f'The group "{name}" {_shared(found)}.')
    problems += _shared_means(pair, owners, hosts)
    return problems + (_shared_principals(pair, owners) if exact else [])


def _shared(found: Iterable[str | None]) -> str:
    names = ", ".join(sorted(str(name) for name in found))
    if not names:
        return 'needs the key "topics", which determines its application'
    return f"uses topics of the applications {names}: it cannot move with one of them and stay with the other"


def _shared_principals(pair: Mapping[str, Any], owners: Mapping[str, str | None]) -> list[str]:
    found = _used_by_many(pair, owners, lambda client: [(client["principal"], "")] if client["principal"] else [])
    return [
        f'The applications {users} share the principal "{name}": with kafka_dr_rights "exact" the others would lose'
        " their rights."
        for (name, _where), users in found
    ]


def _shared_means(
    pair: Mapping[str, Any], owners: Mapping[str, str | None], hosts: Mapping[str, Sequence[str]]
) -> list[str]:
    """Resources of one application whose move would also stop or redirect another application."""
    found: dict[tuple[str, str], str] = {}
    for (name, where), users in _used_by_many(pair, owners, lambda client: _means(client, hosts)):
        # One problem is enough for all hosts of a group.
        found.setdefault((name, users), where)
    return [
        f"The applications {users} share the {name}{where}: moving one would move or stop the other."
        for (name, users), where in found.items()
    ]


def _means(client: Mapping[str, Any], hosts: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    """The resources that run a client, each with its host."""
    means = [(f'transactional id "{name}"', "") for name in client["transactional_ids"]]
    means += workload_means(client)
    for host in hosts.get(client["hosts"]) or [client["hosts"]]:
        if client["control"] == "systemd":
            means.append((f'unit "{client["unit"].removesuffix(".service")}"', f" on {host}"))
        if client["endpoint_file"]:
            means.append((f'endpoint file "{client["endpoint_file"]}"', f" on {host}"))
    return means


def _used_by_many(
    pair: Mapping[str, Any],
    owners: Mapping[str, str | None],
    used: Callable[[Mapping[str, Any]], Iterable[tuple[str, str]]],
) -> list[tuple[tuple[str, str], str]]:
    """Resources that clients of several applications use, with the names of the applications."""
    users: dict[tuple[str, str], set[str | None]] = {}
    for client in pair["clients"]:
        for means in used(client):
            users.setdefault(means, set()).update(_owners_of(_topics(client), owners))
    return [(means, ", ".join(sorted(str(one) for one in found))) for means, found in users.items() if len(found) > 1]


def _topics(client: Mapping[str, Any]) -> list[str]:
    return [*(client["topics"] or []), *(client["outputs"] or [])]


def _owners_of(topics: Iterable[str], owners: Mapping[str, str | None]) -> set[str | None]:
    return {owners[topic] for topic in topics}


def _owners_of_groups(pair: Mapping[str, Any], owners: Mapping[str, str | None]) -> dict[str, set[str | None]]:
    """The applications of each group that moves, by the topics that it declares and those that its clients read."""
    found = {}
    for group in pair["groups"]:
        if group["mode"] == "moved":
            own = [_topics(client) for client in pair["clients"] if client["group"] == group["name"]]
            found[group["name"]] = _owners_of(
                [*(group["topics"] or []), *(name for row in own for name in row)], owners
            )
    return found
