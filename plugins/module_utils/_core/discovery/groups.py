# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which consumer groups of a cluster move, and why the others do not.

Readiness answers NO while a group that reads topics of the pair is missing from the inventory. So a group that stays on
its cluster, such as that of a sink connector, is declared with ``mode: local``.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ..listing import first_few
from ..names import Naming
from ..resources.groups import UNDESCRIBED
from ..schema import printable
from .draft import Item
from .observations import GroupUse, PairObservation
from .topics import TEMPLATE, is_streams, original_of
from .yaml_text import is_template

__all__ = ["GroupChoice", "choose_groups", "member_hosts"]

_SHOWN = 3
_UNPRINTABLE = "its name has characters that an inventory cannot contain"
_STREAMS = "a Kafka Streams application"
_UNWRITABLE = (TEMPLATE, _UNPRINTABLE)


@dataclass(frozen=True)
class GroupChoice:
    """What the draft says about one group."""

    name: str
    #: Originals of the draft that it reads, sorted.
    reads: tuple[str, ...]
    #: Why it does not move. "": it moves.
    reason: str = ""
    note: str = ""
    todos: tuple[str, ...] = ()

    @property
    def item(self) -> Item | None:
        """Its item in the draft. None: the group is only named in a comment."""
        if self.reason:
            if not self.reads or self.reason in _UNWRITABLE:
                return None
            return Item({"name": self.name, "mode": "local"}, note=f"does not move: {self.reason}", todos=self.todos)
        return Item({"name": self.name, "topics": list(self.reads)}, note=self.note, todos=self.todos)


def choose_groups(
    observation: PairObservation, naming: Naming, topics: Collection[str], left_out: Mapping[str, str]
) -> list[GroupChoice]:
    """What the draft says about each group of the home cluster.

    ``topics``: those of the draft. ``left_out``: the other topics of the home cluster, each with the reason.
    """
    home = observation.home
    return [
        _choice(observation, name, use, _uses(use, naming, observation, topics, left_out))
        for name, use in sorted(home.groups.items())
    ]


def _uses(
    use: GroupUse,
    naming: Naming,
    observation: PairObservation,
    topics: Collection[str],
    left_out: Mapping[str, str],
) -> tuple[tuple[str, ...], dict[str, str]]:
    """The topics of the draft that a group reads, and the topics outside of it with the reason why they are."""
    originals = {original_of(topic, naming, observation.away.alias): topic for topic in use.topics}
    reads = tuple(sorted(originals.keys() & set(topics)))
    others = {
        topic: left_out.get(topic, f"is not on {observation.home.alias}")
        for original, topic in sorted(originals.items())
        if original not in topics
    }
    return reads, others


def _choice(
    observation: PairObservation, name: str, use: GroupUse, uses: tuple[tuple[str, ...], dict[str, str]]
) -> GroupChoice:
    (reads, others), home, away = uses, observation.home, observation.away
    if reason := _reason(name, use, home.topics):
        asked = (
            (f'does the Kafka Streams application "{name}" move? Its state topics do not.',)
            if reason == _STREAMS
            else ()
        )
        return GroupChoice(name, reads, reason, todos=asked)
    if use.has_members and not use.topics:
        asked = (f'"{name}" has members, and no assignment or committed offset at present. Run discover again.',)
        return GroupChoice(name, (), "has members that read nothing at present", todos=asked)
    if not reads:
        return GroupChoice(name, (), "reads no topic of this draft" if use.known else "could not be read")
    todos = [] if use.known else [f"not everything about this group on {home.alias} could be read. Check its topics."]
    if others:
        listed = ", ".join(f"{topic} ({reason})" for topic, reason in others.items())
        todos.append(f"it also uses {listed}. The playbook enable refuses a group that uses a topic outside the pair.")
    other = away.groups.get(name)
    if other is not None and other.has_members:
        if use.has_members:
            todos.append(f"it has members on {away.alias} too. If it works on both clusters, use mode: local.")
        else:
            todos.append(f"it has members on {away.alias}, and none on {home.alias}. Where do the applications run?")
    return GroupChoice(name, reads, note=_members(use, observation.hosts), todos=tuple(todos))


def _reason(name: str, use: GroupUse, topics: Collection[str]) -> str:
    if is_template(name):
        return TEMPLATE
    if not name.strip() or not name.isprintable():
        return _UNPRINTABLE
    if name.startswith("connect-"):
        return "the group of a sink connector, which Kafka Connect runs"
    if name.startswith("console-consumer-"):
        return "a console consumer"
    if name.startswith(("__", "kafka-dr-")):
        return "internal"
    if use.state is not None and use.state.state == UNDESCRIBED:
        return "neither a classic nor a consumer group, so its members cannot be observed"
    return _STREAMS if is_streams(name, use, topics) else ""


def _members(use: GroupUse, hosts: Mapping[str, str]) -> str:
    if use.state is None:
        return ""
    if not use.state.members:
        return "no members now"
    clients = sorted({member.client_id for member in use.state.members})
    return f"{len(use.state.members)} members on {_few(member_hosts(use, hosts))}, client id {_few(clients)}"


def member_hosts(use: GroupUse, hosts: Mapping[str, str]) -> list[str]:
    """The hosts of a group's members: the names in the Ansible inventory, else the network addresses."""
    if use.state is None:
        return []
    addresses = {member.host.lstrip("/") for member in use.state.members}
    local = {address: "localhost" for address in addresses if address.startswith("127.") or address == "::1"}
    return sorted({hosts.get(address) or local.get(address, address) for address in addresses})


def _few(texts: Sequence[str]) -> str:
    return first_few([printable(text) for text in texts], _SHOWN)
