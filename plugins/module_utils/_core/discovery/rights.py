# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What principals may do on a cluster, read from its ACLs.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from ..resources.acl import EVERYBODY, Acl
from .yaml_text import is_template

__all__ = ["Principal", "principals", "readers_of"]


@dataclass(frozen=True)
class Principal:
    """One principal, and the topics of the draft that it may use."""

    name: str
    writes: tuple[str, ...]
    transactional_ids: tuple[str, ...]
    #: Why it is not an application. "": it may be one.
    reason: str = ""


def principals(acls: Iterable[Acl], topics: Collection[str], own: Collection[str]) -> list[Principal]:
    """Every principal that may write a topic of the draft, sorted. ``own``: principals of this collection's logins.

    DENY ACLs are not evaluated: they may be the fence of an earlier move.
    """
    allowed: dict[str, list[Acl]] = {}
    for acl in acls:
        if acl.permission == "allow":
            allowed.setdefault(acl.principal, []).append(acl)
    listed = [_principal(name, rights, topics, own) for name, rights in sorted(allowed.items())]
    return [principal for principal in listed if principal.writes]


def _principal(name: str, rights: list[Acl], topics: Collection[str], own: Collection[str]) -> Principal:
    writes = tuple(sorted(topic for topic in topics if any(_allows(acl, "topic", topic, "write") for acl in rights)))
    ids = {acl.name for acl in rights if (acl.resource_type, acl.pattern_type) == ("transactional_id", "literal")}
    reason = ""
    if name in own:
        reason = "a login of this collection"
    elif name == EVERYBODY:
        reason = "every client may write these topics"
    elif any(acl.resource_type == "topic" and acl.name.startswith("mm2") for acl in rights):
        reason = "uses internal topics of MirrorMaker 2"
    elif is_template(name) or not name.startswith("User:") or not name.isprintable():
        reason = "has a name that an inventory cannot contain"
    return Principal(name, writes, tuple(sorted(text for text in ids if text != "*" and not is_template(text))), reason)


def readers_of(acls: Iterable[Acl], group: str, own: Collection[str]) -> list[str]:
    """The principals that may read as the group, without wildcards and without this collection's logins."""
    return sorted(
        {
            acl.principal
            for acl in acls
            if acl.permission == "allow"
            and acl.principal not in {*own, EVERYBODY}
            and acl.name != "*"
            and not is_template(acl.principal)
            and acl.principal.startswith("User:")
            and acl.principal.isprintable()
            and _allows(acl, "group", group, "read")
        }
    )


def _allows(acl: Acl, kind: str, name: str, operation: str) -> bool:
    if acl.resource_type != kind or acl.operation not in (operation, "all"):
        return False
    return name.startswith(acl.name) if acl.pattern_type == "prefixed" else acl.name in (name, "*")
