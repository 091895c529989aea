# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stubs of applications, one commented line each: consumers by group, producers by principal.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from .draft import Item, Section
from .groups import GroupChoice, member_hosts
from .observations import GroupUse, PairObservation
from .rights import Principal, principals, readers_of
from .topics import shown

__all__ = ["application_section"]

_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")
_QUESTION = (
    "remove '# ' from each application that moves, and correct hosts, control and endpoint_file. Instead of"
    " 'control: systemd, unit: X' it may have 'control: command, start: [...], stop: [...]'"
    " (docs/inventory.md#kafka_dr_clients)."
)
_PRODUCERS = "which applications write these topics? Add one line for each, as in: "


def application_section(
    observation: PairObservation, groups: Sequence[GroupChoice], topics: Sequence[str], own: Collection[str]
) -> Section:
    """``kafka_dr_clients``: no application is active until a human has completed its line."""
    home = observation.home
    writers = principals(home.acls or (), topics, own)
    possible = {principal.name: principal for principal in writers if not principal.reason}
    rows = [
        _reader(choice, home.groups[choice.name], observation.hosts, readers_of(home.acls or (), choice.name, own))
        for choice in groups
        if not choice.reason
    ]
    readers = Counter(row["principal"] for row, _note in rows if "principal" in row)
    processors = {name for name, count in readers.items() if count == 1 and name in possible}
    stubs = [
        _stub(_processor(row, possible[row["principal"]]) if row.get("principal") in processors else row, note)
        for row, note in rows
    ]
    stubs += [_stub(_producer(writer), "") for name, writer in possible.items() if name not in processors]
    todos = [_QUESTION] if stubs else []
    if not possible:
        todos.append(f"{_why_unknown(observation)}{_PRODUCERS}{_example(topics)}")
    others = [f"{principal.name} ({principal.reason})" for principal in writers if principal.reason]
    after = (f"Other principals that may write these topics: {shown(others)}.",) if others else ()
    return Section("clients", value=[], items=tuple(_distinct(stubs)), todos=tuple(todos), after=after)


def _reader(
    choice: GroupChoice, use: GroupUse, hosts: Mapping[str, str], readers: Sequence[str]
) -> tuple[dict[str, Any], str]:
    where = member_hosts(use, hosts)
    row: dict[str, Any] = {"name": choice.name, "role": "consumer", "group": choice.name, "topics": list(choice.reads)}
    if len(readers) == 1:
        row["principal"] = readers[0]
    row["hosts"] = where[0] if len(where) == 1 else "HOSTS"
    notes = [f"members on {', '.join(where)}"] if len(where) > 1 else []
    notes += [f"principals with READ on the group: {', '.join(readers)}"] if len(readers) > 1 else []
    return row, "; ".join(notes)


def _processor(row: Mapping[str, Any], writer: Principal) -> dict[str, Any]:
    """The stub of a consumer whose principal may also write."""
    ids = {"transactional_ids": list(writer.transactional_ids)} if writer.transactional_ids else {}
    head = {"name": row["name"], "role": "processor"}
    return {
        **head,
        **{key: value for key, value in row.items() if key not in head},
        "outputs": list(writer.writes),
        **ids,
    }


def _producer(writer: Principal) -> dict[str, Any]:
    ids = {"transactional_ids": list(writer.transactional_ids)} if writer.transactional_ids else {}
    return {
        "name": writer.name.removeprefix("User:"),
        "role": "producer",
        "topics": list(writer.writes),
        "principal": writer.name,
        **ids,
        "hosts": "HOSTS",
    }


def _stub(row: Mapping[str, Any], note: str) -> Item:
    name = _UNSAFE.sub("-", row["name"])
    control = {"control": "systemd", "unit": name, "become": True, "endpoint_file": f"/etc/{name}/kafka.env"}
    return Item({**row, **control}, note=note, active=False)


def _distinct(stubs: Iterable[Item]) -> list[Item]:
    """The stubs with distinct names: a group and a principal may have the same one."""
    seen: Counter[str] = Counter()
    items = []
    for stub in stubs:
        name = stub.value["name"]
        seen[name] += 1
        suffix = f"-{stub.value['role']}" if seen[name] > 1 else ""
        items.append(Item({**stub.value, "name": f"{name}{suffix}"}, note=stub.note, active=False))
    return items


def _why_unknown(observation: PairObservation) -> str:
    home = observation.home
    if home.acls is None and home.authorizer is False:
        return f"{home.alias} has no authorizer, so no ACL shows the writers: "
    if home.acls is None:
        return f"the ACLs of {home.alias} could not be read: "
    return f"no ACL of {home.alias} names a single application that may write: "


def _example(topics: Sequence[str]) -> str:
    first = topics[0] if topics else "TOPIC"
    return (
        f"- {{name: NAME, role: producer, topics: [{first}], hosts: HOSTS, control: systemd, unit: NAME,"
        " endpoint_file: /etc/NAME/kafka.env}"
    )
