# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which topics and groups of a pair an inventory would let fall out of it (R42).

The journal knows what has joined the pair. Another inventory with the same aliases describes the same pair. If it lists
less, the rest would no longer be replicated, translated or moved.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..journal.state import JournalState
from ..listing import first_few
from .pair_spec import PairSpec

__all__ = ["Membership", "Omitted", "Place", "membership", "omitted"]

_SHOWN = 10
_LEAVES = (
    "What leaves the pair is no longer replicated, its offsets are no longer translated, and it is not ready for a"
    " disaster."
)


@dataclass(frozen=True, order=True)
class Omitted:
    """A member of the pair that the inventory does not list."""

    #: ``topic`` or ``group``.
    kind: str
    name: str

    def __str__(self) -> str:
        return f'the {self.kind} "{self.name}"'


@dataclass(frozen=True)
class Place:
    """Where a member was found. ``unknown``: why it is not known whether it is there; "": it is there."""

    alias: str
    unknown: str = ""

    def __str__(self) -> str:
        return f"unknown on {self.alias}" if self.unknown else f"on {self.alias}"


@dataclass(frozen=True)
class Membership:
    """What the inventory omits of the pair, and what becomes of it."""

    #: The pair's name.
    pair: str
    #: Omitted members that kafka_dr_drop does not name, with the places where they are or may be. They must not leave.
    leaving: Mapping[Omitted, Sequence[Place]] = field(default_factory=dict)
    #: Omitted members that kafka_dr_drop names.
    dropped: Sequence[Omitted] = ()
    #: Omitted members that no cluster has any more.
    gone: Sequence[Omitted] = ()
    #: Clusters with another id than in the journal: alias, id in the journal, id of the cluster.
    exchanged: Sequence[tuple[str, str, str]] = ()

    def texts(self) -> list[str]:
        """What must not happen without a decision, one text each; empty: the inventory has the whole pair."""
        return [
            *(
                f'the alias "{alias}" stands for the cluster with the id "{reported}", and for "{known}" in the journal'
                for alias, known, reported in self.exchanged
            ),
            *(
                f"{member} ({first_few([str(place) for place in places])})"
                for member, places in sorted(self.leaving.items())
            ),
        ]

    def problem(self) -> str:
        """What the inventory omits, or which clusters it exchanges; "": it has the whole pair."""
        sentences = []
        if self.exchanged:
            sentences.append(
                f"This inventory names other clusters than the journal of the pair {self.pair}:"
                f" {first_few(self.texts()[: len(self.exchanged)], _SHOWN, '; ')}."
            )
        if self.leaving:
            sentences.append(
                f"{_count(len(self.leaving), self.pair)} not in this inventory:"
                f" {first_few(self.texts()[len(self.exchanged) :], _SHOWN, '; ')}. {_LEAVES}"
            )
        return " ".join(sentences)

    def next_step(self) -> str:
        """How to go on; "": the inventory has the whole pair."""
        sentences = []
        if self.exchanged:
            sentences.append(
                "Correct bootstrap_servers. For a pair of other clusters, choose other aliases in kafka_dr_clusters. If"
                " an empty cluster replaces a lost one, run the playbook switchback.kafka_dr.rebuild."
            )
        if self.leaving:
            names = sorted({member.name for member in self.leaving})
            sentences.append(
                "Add them to kafka_dr_topics and kafka_dr_groups. If they belong to another team, your topics need a"
                " pair of their own: name an application for each topic (docs/applications.md), or choose other aliases"
                " in kafka_dr_clusters. To let them leave, start again with"
                f" -e '{json.dumps({'kafka_dr_drop': names}, ensure_ascii=False)}'."
            )
        return " ".join(sentences)

    def notes(self) -> list[str]:
        """What leaves the pair without a refusal, in words."""
        dropped, gone = _named(self.dropped), _named(self.gone)
        notes = [f"kafka_dr_drop lets {dropped} leave the pair {self.pair}. {_LEAVES}"] if dropped else []
        if gone:
            notes.append(
                f"Neither this inventory nor any cluster has {gone}, so enable removes what is gone from the pair"
                f" {self.pair}."
            )
        return notes


def omitted(pair: PairSpec, state: JournalState) -> list[Omitted]:
    """Members of the pair that the inventory does not list. A group with ``mode: local`` is listed."""
    topics = sorted(set(state.topics or {}) - set(pair.topics))
    groups = sorted(set(state.groups) - {*pair.groups, *pair.local_groups})
    return [*(Omitted("topic", name) for name in topics), *(Omitted("group", name) for name in groups)]


def membership(
    pair: PairSpec,
    state: JournalState,
    cluster_ids: Mapping[str, str],
    places: Mapping[Omitted, Sequence[Place]],
) -> Membership:
    """Compare the inventory with the journal.

    ``cluster_ids``: as the clusters report them, by alias. ``places``: where each omitted member is or may be; one
    without an entry may be anywhere, and one with an empty entry is nowhere.
    """
    everywhere = [Place(alias, "not observed") for alias in pair.clusters]
    missing = {member: places.get(member, everywhere) for member in omitted(pair, state)}
    return Membership(
        pair.name,
        {member: where for member, where in missing.items() if where and member.name not in pair.drop},
        [member for member in missing if member.name in pair.drop],
        [member for member, where in missing.items() if not where and member.name not in pair.drop],
        [
            (alias, known, cluster_ids[alias])
            for alias, known in sorted(state.cluster_ids.items())
            if known and cluster_ids.get(alias) and cluster_ids[alias] != known
        ],
    )


def _count(number: int, pair: str) -> str:
    return f"1 member of the pair {pair} is" if number == 1 else f"{number} members of the pair {pair} are"


def _named(members: Sequence[Omitted]) -> str:
    return first_few([str(member) for member in members], _SHOWN)
