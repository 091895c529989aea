# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Applications that the inventory does not control: other teams stop and start them (R48).

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..cutover_types import CUTOVER_TYPES
from ..listing import first_few

__all__ = ["OtherApplications", "Standstill", "awaited_stops", "other_applications"]

_SHOWN = 5


@dataclass(frozen=True)
class OtherApplications:
    """What of a pair no declared application writes, and what none reads."""

    #: Originals that no declared application writes.
    topics: tuple[str, ...] = ()
    #: Groups that move, and whose consumers belong to no declared application.
    groups: tuple[str, ...] = ()

    @classmethod
    def of(cls, option: Mapping[str, Any] | None) -> OtherApplications:
        """Parse what :meth:`as_dict` returned; empty without it."""
        given = option or {}
        return cls(tuple(given.get("topics") or ()), tuple(given.get("groups") or ()))

    def as_dict(self) -> dict[str, list[str]]:
        """Return the object as plain data."""
        return {"topics": list(self.topics), "groups": list(self.groups)}

    def __bool__(self) -> bool:
        return bool(self.topics or self.groups)

    @property
    def named(self) -> str:
        """The applications in words, by what they use; "": none."""
        quoted = [_quoted(name) for name in self.groups]
        parts = [f"the writers of {first_few(self.topics, _SHOWN)}"] if self.topics else []
        parts += [f"the consumers of {first_few(quoted, _SHOWN)}"] if self.groups else []
        return " and ".join(parts)

    @property
    def writers(self) -> list[str]:
        """The writers that no fence can name, in words; empty: every topic has a declared writer."""
        return [f"the writers of {first_few(self.topics, _SHOWN)} (other teams)"] if self.topics else []

    def disaster_terms(self, move: tuple[str, str]) -> str:
        """What a disaster failover asks of the teams. ``move``: the clusters left and entered."""
        left, to = move
        return (
            f"The inventory does not control {self.named}: other teams stop and start them. Whether they have stopped"
            f" on {left} is unknown. They may start on {to} once this run says so, and must not start on {left} again"
        )

    def terms(self, move: tuple[str, str], wait: float) -> str:
        """What a planned move asks of the teams, and what it cannot know. ``move``: the clusters left and entered.

        ``wait``: seconds that a run gives the teams to stop their applications, and again to start them; 0: none.
        """
        left, to = move
        when = (
            f"The run says when to stop them on {left}, and waits up to {wait:g} s in each phase that needs it. After"
            f" the point of no return it says that they may start on {to}, and waits up to {wait:g} s for that"
            if wait > 0
            else f"They must have stopped on {left} before the playbook starts. Their start on {to} is not awaited"
        )
        unfenced = f"No fence denies them WRITE on {left}, and" if self.topics else "Whether they have"
        rights = (
            f"their rights on {to} are not checked" if self.topics else f"the rights that they need on {to} is unknown"
        )
        return (
            f"The inventory does not control {self.named}: other teams stop and start them. {when}. {unfenced} {rights}"
        )


def other_applications(
    clients: Sequence[Mapping[str, Any]], topics: Sequence[str], groups: Sequence[str]
) -> OtherApplications:
    """What no application of ``clients`` covers. ``topics``: originals; ``groups``: those that move.

    An application without ``topics`` may use all of them. A processor without ``outputs`` may write any.
    """
    written: set[str] = set()
    for client in clients:
        if client["role"] == "producer":
            written |= set(client.get("topics") or topics)
        elif client["role"] == "processor":
            written |= set(client.get("outputs") or topics)
    read = {client.get("group") for client in clients}
    return OtherApplications(
        tuple(topic for topic in topics if topic not in written), tuple(group for group in groups if group not in read)
    )


def awaited_stops(others: OtherApplications) -> dict[str, dict[str, dict[str, Any]]]:
    """By type of cutover and phase, the topics and groups that must be at rest before the phase begins.

    ``again``: topics that were at rest before an earlier phase. No record may have been written since, because people
    may take long in between. ``text`` names the applications that must stop now. A disaster awaits nothing, because
    the cluster being left may not respond.
    """
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for name, kind in CUTOVER_TYPES.items():
        writes, reads = kind.standstill["writes"][0], kind.standstill["reads"][0]
        rows: dict[str, dict[str, Any]] = {}
        for phase in kind.phases if kind.needs_source else ():
            new = OtherApplications(others.topics if phase == writes else (), others.groups if phase == reads else ())
            if new:
                earlier = [topic for row in rows.values() for topic in row["topics"]]
                rows[phase] = {**new.as_dict(), "again": earlier, "text": new.named}
        found[name] = rows
    return found


@dataclass(frozen=True)
class Standstill:
    """What a watch has shown of topics and groups on one cluster."""

    #: By group with members, or whose members cannot be observed: its members in words.
    members: Mapping[str, str]
    #: Groups without members whose committed offsets changed within the time that they must be still.
    committing: Sequence[str]
    #: By topic that was written within the time that it must be still: by how many offsets its log grew since the
    #: watch began.
    written: Mapping[str, int]
    #: How long the watch has lasted, in seconds.
    seconds: float

    @property
    def texts(self) -> list[str]:
        """What is not at rest, in words; empty: everything is."""
        texts = [f"the group {_quoted(group)} has members ({who})" for group, who in sorted(self.members.items())]
        texts += [f"the group {_quoted(name)} has no members, but commits offsets" for name in sorted(self.committing)]
        # A log end counts offsets, with markers of transactions (R46).
        return texts + [
            f"{topic} was written ({grown:,} offsets in {self.seconds:.0f} s)"
            for topic, grown in sorted(self.written.items())
        ]


def _quoted(name: str) -> str:
    return f'"{name}"'
