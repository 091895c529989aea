# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Consumer groups: their state, their positions, and whether wanted positions may be written.

A position is the offset of the next record to read. Kafka itself accepts a commit past the end of a log, and a group
that finds no valid position falls back to ``auto.offset.reset``: it skips or re-reads everything. So every position is
checked against the log here, before the first one is written.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .changes import Change
from .errors import DrError

__all__ = [
    "ABSENT",
    "IDLE_STATES",
    "GroupPlan",
    "GroupState",
    "Member",
    "PositionRow",
    "Problem",
    "Seen",
    "active_problem",
    "distance",
    "plan_group",
    "wanted_positions",
]

Partition = tuple[str, int]

ABSENT = "DEAD"
# Everything else, UNKNOWN included, is active: groups of the new protocol report UNKNOWN while they rebalance.
IDLE_STATES = ("EMPTY", ABSENT)


@dataclass(frozen=True)
class Member:
    """One member of a group; ``instance`` is set for static members, which outlive their process for a while."""

    member_id: str
    client_id: str
    host: str
    instance: str | None
    partitions: tuple[Partition, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """As modules return it."""
        return {
            "member_id": self.member_id,
            "client_id": self.client_id,
            "host": self.host,
            "group_instance_id": self.instance,
            "assignments": [{"topic": topic, "partition": number} for topic, number in self.partitions],
        }


@dataclass(frozen=True)
class GroupState:
    """A group as its coordinator describes it; ``DEAD`` means that there is no such group."""

    group: str
    state: str
    type: str | None = None
    members: tuple[Member, ...] = ()

    @property
    def active(self) -> bool:
        """True unless the group is known to have no members."""
        return self.state not in IDLE_STATES or bool(self.members)


@dataclass(frozen=True)
class Seen:
    """What a plan for one group is made from. A range of None: the partition exists, its offsets are unknown."""

    state: GroupState
    before: Mapping[Partition, int | None]
    ranges: Mapping[Partition, tuple[int, int] | None]
    partitions: Mapping[str, int | None]


@dataclass(frozen=True)
class PositionRow:
    """One partition's position before, as wanted, and after; ``status`` says what was done about it."""

    group: str
    partition: Partition
    before: int | None
    wanted: int
    after: int | None
    status: str

    def as_dict(self) -> dict[str, Any]:
        """As modules return it."""
        topic, number = self.partition
        return {
            "group": self.group,
            "topic": topic,
            "partition": number,
            "before": self.before,
            "wanted": self.wanted,
            "after": self.after,
            "status": self.status,
        }

    def change(self) -> Change:
        """The same as a change."""
        topic, number = self.partition
        name = f"{self.group} {topic}-{number}"
        return Change("position", name, "commit", {"offset": self.before}, {"offset": self.wanted})


@dataclass(frozen=True)
class Problem:
    """Why nothing may be written: the code of the error, and one sentence."""

    code: str
    text: str


@dataclass
class GroupPlan:
    """Rows with status ``planned`` are to be written; nothing at all if there are problems."""

    group: str
    rows: list[PositionRow] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    @property
    def to_write(self) -> dict[Partition, int]:
        """The positions to commit."""
        return {row.partition: row.wanted for row in self.rows if row.status == "planned"}

    @property
    def lowered(self) -> int:
        """How many of the wanted positions are below what is committed."""
        return sum(1 for row in self.rows if row.before is not None and row.wanted < row.before)


def wanted_positions(items: Iterable[Mapping[str, Any]]) -> dict[str, dict[Partition, int]]:
    """The option ``groups``, checked as a whole; one error names every problem."""
    problems: list[str] = []
    wanted: dict[str, dict[Partition, int]] = {}
    for number, item in enumerate(items, start=1):
        group = item.get("group")
        if not group:
            problems.append(f"groups[{number}] has no group name.")
            continue
        if group in wanted:
            problems.append(f'Group "{group}" is listed twice.')
        positions = wanted.setdefault(group, {})
        for position in item.get("positions") or ():
            problems += _add_position(group, positions, position)
    if problems:
        raise DrError("bad_positions", " ".join(problems), "Nothing was asked of the cluster. Correct the list.")
    return wanted


def _add_position(group: str, positions: dict[Partition, int], item: Mapping[str, Any]) -> list[str]:
    topic, number, offset = item.get("topic"), item.get("partition"), item.get("offset")
    where = f'Group "{group}", topic "{topic}", partition {number}'
    if not topic or number is None or offset is None:
        return [f"{where}: topic, partition and offset are all needed."]
    if number < 0 or offset < 0:
        return [f"{where}: partition and offset must not be negative, found offset {offset}."]
    if (topic, number) in positions:
        return [f"{where} is listed twice."]
    positions[(topic, number)] = offset
    return []


def plan_group(group: str, wanted: Mapping[Partition, int], seen: Seen, lower: str = "fail") -> GroupPlan:
    """What to commit for one group.

    A position equal to the committed one is ``unchanged``. One below it is, by ``lower``: a problem (``fail``),
    ``planned`` (``lower``), or left as it is (``keep``): what was processed there is not known to this function.
    """
    plan = GroupPlan(group)
    for partition in sorted(wanted):
        offset, before = wanted[partition], seen.before.get(partition)
        below = before is not None and offset < before
        status = "unchanged" if before == offset else "kept" if below and lower == "keep" else "planned"
        plan.rows.append(PositionRow(group, partition, before, offset, before, status))
        # Also for unchanged ones: a position outside the log does not count as done because it is already there.
        plan.problems += _range_problem(group, partition, offset, seen)
    if plan.to_write:
        plan.problems += active_problem(seen.state)
    if plan.lowered and lower == "fail":
        plan.problems.append(_lower_problem(plan))
    return plan


def active_problem(state: GroupState) -> list[Problem]:
    """Empty when the group has no members; else the problem, with the members that were seen."""
    if not state.active:
        return []
    members = ", ".join(f"{member.client_id} at {member.host}" for member in state.members[:5])
    more = f" and {len(state.members) - 5} more" if len(state.members) > 5 else ""
    who = f": {members}{more}" if members else ""
    return [
        Problem(
            "group_active",
            f'Group "{state.group}" is active (state {state.state}, {len(state.members)} members{who}); '
            "positions are written only to a group without members.",
        )
    ]


def _range_problem(group: str, partition: Partition, offset: int, seen: Seen) -> list[Problem]:
    topic, number = partition
    where = f'Group "{group}": topic "{topic}"'
    count = seen.partitions.get(topic)
    if count is None:
        return [Problem("unknown_partition", f"{where} does not exist.")]
    if number >= count:
        return [Problem("unknown_partition", f"{where} has {count} partitions, there is no partition {number}.")]
    span = seen.ranges.get(partition)
    if span is None:
        return [Problem("offsets_unknown", f"{where} partition {number}: its log start and end could not be read.")]
    if not span[0] <= offset <= span[1]:
        return [
            Problem(
                "position_out_of_range",
                f"{where} partition {number}: position {offset} is outside the log ({span[0]} to {span[1]}).",
            )
        ]
    return []


def _lower_problem(plan: GroupPlan) -> Problem:
    worst = max((row for row in plan.rows if row.before is not None), key=lambda row: (row.before or 0) - row.wanted)
    topic, number = worst.partition
    return Problem(
        "position_lower",
        f'Group "{plan.group}" has a higher position on {plan.lowered} partitions than wanted '
        f'(most: "{topic}" partition {number} at {worst.before}, wanted {worst.wanted}).',
    )


def distance(offset: int | None, span: tuple[int, int] | None) -> int | None:
    """Offsets from a position to the log end; None when either is unknown or the position is past the end."""
    if offset is None or span is None or offset > span[1]:
        return None
    return span[1] - offset
