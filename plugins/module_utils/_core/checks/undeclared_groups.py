# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Groups that do not move, although they use topics of the pair: what is known of them, and whether a move may start.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..listing import first_few
from ..partition import Partition
from ..resources.groups import IDLE_STATES, UNDESCRIBED, GroupState, members_named

__all__ = [
    "UndeclaredGroup",
    "judge_group",
    "needs_second_look",
    "stay_notes",
    "undeclared_problems",
    "undescribed_notes",
    "with_changes",
]

_SHOWN = 4


@dataclass(frozen=True)
class UndeclaredGroup:
    """A group that does not move and uses topics of the pair, or may use them."""

    group: str
    alias: str
    state: str
    #: Client id and host of the first members, in words; "" without members.
    members: str
    #: Topics of the pair on which it has committed offsets or that are assigned to its members; None: unknown.
    topics: tuple[str, ...] | None
    #: Its committed offsets on these topics; None: pending.
    commits: Mapping[Partition, int | None]
    #: Why it may stay: ``local`` (its mode in the inventory), ``accepted`` (by name), or "".
    declared_as: str
    #: Whether its committed offsets changed between two looks; None: there was one look.
    commits_changed: bool | None = None

    @property
    def at_work(self) -> bool:
        """False only if an observation that shows members of its type showed none, and no committed offset changed."""
        return self.topics is None or self.state not in IDLE_STATES or self.commits_changed is True

    def as_dict(self) -> dict[str, Any]:
        """The form in which modules return it."""
        return {
            "group": self.group,
            "alias": self.alias,
            "state": self.state,
            "members": self.members,
            "topics": None if self.topics is None else list(self.topics),
            "declared_as": self.declared_as,
            "commits_changed": self.commits_changed,
            "at_work": self.at_work,
        }


def judge_group(
    state: GroupState,
    alias: str,
    commits: Mapping[Partition, int | None],
    ours: Collection[str],
    shared: Mapping[str, Collection[str]] | None = None,
    declared_as: str = "",
) -> UndeclaredGroup | None:
    """What is known of one group; None: it uses no topic of the pair.

    ``ours``: originals and replicas on ``alias``. ``shared``: by share group, those of ``ours`` that it reads; None:
    unknown. A group of a type that cannot be described shows what it reads only by its committed offsets, or as a share
    group. Without both, and while a group without committed offsets rebalances, its topics are unknown.
    """
    used = {partition.topic for partition in (*commits, *state.assigned)} & set(ours)
    known = bool(commits or state.assigned) or state.state in (*IDLE_STATES, "STABLE")
    if not known and state.state == UNDESCRIBED and shared is not None and state.group in shared:
        used, known = set(shared[state.group]), True
    if known and not used:
        return None
    return UndeclaredGroup(
        state.group,
        alias,
        state.state,
        members_named(state),
        tuple(sorted(used)) if known else None,
        {key: offset for key, offset in commits.items() if key.topic in used},
        declared_as,
    )


def needs_second_look(rows: Sequence[UndeclaredGroup]) -> bool:
    """Whether a later look can show that a group is at work, or what it reads.

    A reader with assign() is no member: only its committed offsets change (R9).
    """
    return any(
        not row.declared_as and row.state != UNDESCRIBED and (row.state in IDLE_STATES or row.topics is None)
        for row in rows
    )


def with_changes(first: Sequence[UndeclaredGroup], second: Sequence[UndeclaredGroup]) -> list[UndeclaredGroup]:
    """What two looks show together. A pending offset counts as a change, and a member at either look as a member."""
    before = {row.group: row for row in first}
    rows = []
    for row in second:
        old = before.get(row.group)
        changed = None in row.commits.values() or row.commits != (old.commits if old is not None else {})
        new = replace(row, commits_changed=changed)
        rows.append(old if old is not None and old.topics is not None and old.at_work and not new.at_work else new)
    return rows


def undeclared_problems(rows: Sequence[Mapping[str, Any]], alias: str) -> list[str]:
    """Why a planned move from ``alias`` must not start. ``rows``: as in the result of ``dr_status_info``."""
    refused = [row for row in rows if row["alias"] == alias and row["at_work"] and not row["declared_as"]]
    if not refused:
        return []
    named = first_few([_described(row) for row in refused], _SHOWN, "; ")
    return [
        f"{len(refused)} groups that are not in the inventory use topics of the pair on {alias}, or may use them:"
        f" {named}. They would stay on {alias}. Add each one to kafka_dr_groups (mode: local if it stays), stop it, or"
        " name it in kafka_dr_accept_undeclared."
    ]


def stay_notes(rows: Sequence[Mapping[str, Any]], alias: str) -> list[str]:
    """Notes for a report: groups that use topics of the pair and were not moved, accepted or idle."""
    return [
        f"the group {_described(row)} stays on {alias}"
        + (": kafka_dr_accept_undeclared names it" if row["declared_as"] else ": it is not in the inventory")
        for row in rows
        if row["alias"] == alias and row["declared_as"] != "local" and (row["declared_as"] or not row["at_work"])
    ]


def undescribed_notes(rows: Sequence[UndeclaredGroup]) -> list[str]:
    """Notes about groups of types that this collection does not move, one for each."""
    return [
        f'"{row.group}" on {row.alias} is not a classic or consumer group'
        f" ({'topics unknown' if row.topics is None else ', '.join(row.topics)}): it is not moved, and its own settings"
        " (for a share group, share.auto.offset.reset) decide where it starts on the other cluster"
        for row in rows
        if row.state == UNDESCRIBED
    ]


def _described(row: Mapping[str, Any]) -> str:
    topics = "topics unknown" if row["topics"] is None else first_few(list(row["topics"]))
    if row["members"]:
        who = str(row["members"])
    elif row["state"] not in IDLE_STATES:
        who = f"state {row['state']}"
    else:
        who = "no members, but its committed offsets changed" if row["commits_changed"] else "no members"
    return f'"{row["group"]}" ({who}; {topics})'
