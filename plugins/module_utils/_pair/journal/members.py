# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare an inventory with what has joined the pair, and look for what it omits on the clusters (R42).

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..._core.errors import DrError
from ..._core.flows.members import Membership, Omitted, Place, membership, omitted
from ..._core.flows.pair_spec import PairSpec
from ..._core.journal.state import JournalState
from ..._kafka.client import Kafka
from ..._kafka.groups import known_committed_offsets, may_have_members
from ..._kafka.topics import describe_anew
from ..connections.clusters import on_each

__all__ = ["members"]


def members(pair: PairSpec, state: JournalState, kafkas: Mapping[str, Kafka]) -> Membership:
    """Return what the inventory omits. Sends no request if it omits nothing. ``kafkas``: clusters that respond.

    A cluster without a connection, or that does not show a member to this account, may still have it.
    """
    missing = omitted(pair, state)
    ids = {alias: kafka.cluster_id for alias, kafka in kafkas.items()}
    if not missing:
        return membership(pair, state, ids, {})
    ours = {*pair.topics, *(state.topics or {})}
    observed = on_each(kafkas, lambda alias: _Cluster(pair, alias, kafkas[alias], ours).places(missing))
    away = [Place(alias, "not connected") for alias in pair.clusters if alias not in kafkas]
    places = {member: [*(place for on in observed.values() for place in on[member]), *away] for member in missing}
    return membership(pair, state, ids, places)


class _Cluster:
    """One cluster, on which omitted members are looked for. ``ours``: every original of the pair."""

    def __init__(self, pair: PairSpec, alias: str, kafka: Kafka, ours: Iterable[str]) -> None:
        self._pair, self._alias, self._kafka = pair, alias, kafka
        self._ours = {name for topic in ours for name in self._names(topic)}

    def places(self, missing: Iterable[Omitted]) -> dict[Omitted, list[Place]]:
        """Return by member where it is: nowhere on this cluster, or one place."""
        topics = [member for member in missing if member.kind == "topic"]
        groups = [member for member in missing if member.kind == "group"]
        return self._topics(topics) | self._groups(groups)

    def _names(self, topic: str) -> list[str]:
        others = [other for other in self._pair.clusters if other != self._alias]
        return list(dict.fromkeys([topic, *(self._pair.naming.replica(other, topic) for other in others)]))

    def _topics(self, topics: list[Omitted]) -> dict[Omitted, list[Place]]:
        names = {member: self._names(member.name) for member in topics}
        asked = list(dict.fromkeys(name for own in names.values() for name in own))
        try:
            states = describe_anew(self._kafka, asked) if asked else {}
        except DrError as error:
            return {member: [Place(self._alias, error.message)] for member in topics}
        there = [Place(self._alias)]
        return {member: there if any(states[name] is not None for name in own) else [] for member, own in names.items()}

    def _groups(self, groups: list[Omitted]) -> dict[Omitted, list[Place]]:
        """A group is here if it has members, or committed offsets on topics of the pair."""
        try:
            offsets = known_committed_offsets(self._kafka, [member.name for member in groups]) if groups else {}
            here = {
                member: bool(self._ours & {partition.topic for partition in offsets[member.name]})
                or may_have_members(self._kafka, member.name)
                for member in groups
            }
        except DrError as error:
            return {member: [Place(self._alias, error.message)] for member in groups}
        return {member: [Place(self._alias)] if there else [] for member, there in here.items()}
