# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Consumer groups: their state, their committed offsets, and whether wanted offsets may be committed.

A committed offset is the offset of the next record to read. Kafka accepts a commit past the end of a log. A group
without a valid committed offset falls back to ``auto.offset.reset``: it skips or re-reads every record. So this module
checks every offset against the log before the first commit.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..changes import Change, Outcome
from ..errors import DrError
from ..partition import Partition

__all__ = [
    "ABSENT",
    "IDLE_STATES",
    "REBALANCING_STATES",
    "UNDESCRIBED",
    "GroupPlan",
    "GroupState",
    "Member",
    "OffsetRow",
    "Problem",
    "Seen",
    "active_problem",
    "as_listed",
    "contradicts",
    "distance",
    "failure_of",
    "members_named",
    "outcomes_of",
    "own_offsets",
    "plan_group",
    "wanted_offsets",
    "with_members",
]


_SHOWN = 5
_HINTS = {
    "group_active": "Stop its consumers (a killed one remains a member until its session time-out), then start again.",
    "group_undescribed": "Run the application with a classic or consumer group. For Kafka Streams, set"
    " group.protocol=classic.",
    "offset_out_of_range": "Translate the offset for this cluster, or choose one within the log.",
    "offset_lower": "Find out which process committed it. If the group has processed the records in between, keep the"
    " higher offset with -e kafka_dr_lower=keep (option lower). Otherwise set it back with -e kafka_dr_lower=lower.",
    "unknown_partition": "Create the topic, or wait until the flow has created it.",
    "offsets_unknown": "Check that the partition has a leader.",
    "offset_not_proven": "Start again: offsets that are already committed count as done.",
    "offset_not_written": "Check that no consumer of the group has started, then start again.",
}

ABSENT = "DEAD"
# The group exists, and the client library cannot describe its type. The library reports such a group as DEAD (R41).
UNDESCRIBED = "UNDESCRIBED"
_UNDESCRIBED = "members unknown: not a classic or consumer group"
# Every other state is active, also UNKNOWN: groups of the new protocol report UNKNOWN while they rebalance.
IDLE_STATES = ("EMPTY", ABSENT)
# Members of the classic protocol are assigned nothing meanwhile; groups of the new protocol report UNKNOWN.
REBALANCING_STATES = ("PREPARING_REBALANCING", "COMPLETING_REBALANCING", "UNKNOWN")


@dataclass(frozen=True)
class Member:
    """One member of a group."""

    member_id: str
    client_id: str
    host: str
    #: ``group.instance.id`` of a static member, which outlives its process for a while; None: not static.
    instance: str | None
    partitions: tuple[Partition, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The form in which modules return it."""
        return {
            "member_id": self.member_id,
            "client_id": self.client_id,
            "host": self.host,
            "group_instance_id": self.instance,
            "assignments": [{"topic": topic, "partition": number} for topic, number in self.partitions],
        }


@dataclass(frozen=True)
class GroupState:
    """A group as its coordinator describes it.

    The state ``DEAD`` means that the group does not exist, ``UNDESCRIBED`` that nothing else is known of it.
    """

    group: str
    state: str
    type: str | None = None
    members: tuple[Member, ...] = ()
    #: How members divide the partitions, such as ``range``; ``stream``: Kafka Streams. "": no members, or unknown.
    assignor: str = ""

    @property
    def active(self) -> bool:
        """True unless the group is known to have no members."""
        return self.state not in IDLE_STATES or bool(self.members)

    @property
    def assigned(self) -> set[Partition]:
        """Partitions that are assigned to a member."""
        return {partition for member in self.members for partition in member.partitions}


def as_listed(state: GroupState, listed: Mapping[str, str | None]) -> GroupState:
    """Return the state that a description and a list of all groups show together (R41).

    A description says ``DEAD`` of a group that does not exist, and of a group of a type that the client library cannot
    describe. Only a list with the groups of every type distinguishes them. ``listed``: by group, the protocol type of
    its members; None: it is of such a type. A group that was created between both reads is of the state UNKNOWN.
    """
    if state.state != ABSENT or state.group not in listed:
        return state
    return replace(state, state=UNDESCRIBED if listed[state.group] is None else "UNKNOWN", type=None)


def contradicts(state: GroupState, commits: Collection[Partition]) -> bool:
    """Whether the group has committed offsets although it does not exist: then one of both reads is wrong (R41)."""
    return state.state == ABSENT and bool(commits)


@dataclass(frozen=True)
class Seen:
    """What was observed of one group and its partitions. The group's plan is made from it."""

    state: GroupState
    before: Mapping[Partition, int | None]
    #: Log start and end; None: the partition exists, but its offsets are unknown.
    ranges: Mapping[Partition, tuple[int, int] | None]
    partitions: Mapping[str, int | None]


@dataclass(frozen=True)
class OffsetRow:
    """One partition's committed offset before, as wanted, and after; ``status`` is the outcome."""

    group: str
    partition: Partition
    before: int | None
    wanted: int
    after: int | None
    status: str
    error: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """The form in which modules return it."""
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

    def outcome(self) -> Outcome:
        """The row as the outcome of a change."""
        topic, number = self.partition
        name = f"{self.group} {topic}-{number}"
        change = Change("committed_offset", name, "commit", {"offset": self.before}, {"offset": self.wanted})
        return Outcome(change, self.status, self.error)


@dataclass(frozen=True)
class Problem:
    """Why nothing may be committed: the code of the error, and one sentence."""

    code: str
    text: str


@dataclass
class GroupPlan:
    """What to commit for one group: the rows with status ``planned``, or nothing if there are problems."""

    group: str
    rows: list[OffsetRow] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    #: Whether an offset that another process has meanwhile raised further counts as done.
    upward: bool = False
    #: Higher committed offsets that are known to be the group's own, and are lowered without asking.
    own: Mapping[Partition, int] = field(default_factory=dict)

    @property
    def to_write(self) -> dict[Partition, int]:
        """The offsets to commit."""
        return {row.partition: row.wanted for row in self.rows if row.status == "planned"}

    @property
    def lowered(self) -> int:
        """How many of the wanted offsets are below the committed ones."""
        return sum(1 for row in self.rows if row.before is not None and row.wanted < row.before)

    @property
    def unexplained(self) -> list[OffsetRow]:
        """The rows with a higher committed offset that is not known to be the group's own."""
        return [
            row
            for row in self.rows
            if row.before is not None and row.wanted < row.before and self.own.get(row.partition) != row.before
        ]

    def refuse(self) -> None:
        """Mark planned rows as refused, because of a problem in this plan or in another one."""
        self.rows = [replace(row, status="refused") if row.status == "planned" else row for row in self.rows]

    def conclude(
        self, errors: Mapping[Partition, str | None], after: Mapping[Partition, int], state: GroupState
    ) -> None:
        """Judge the written rows by the offsets read back, and the group by its current state."""
        written = self.to_write
        self.rows = [
            self._concluded(row, errors.get(row.partition, "The broker returned no result for it."), after)
            if row.partition in written
            else row
            for row in self.rows
        ]
        failed = [row for row in self.rows if row.status == "failed"]
        if failed:
            topic, number = failed[0].partition
            text = (
                f'Group "{self.group}": {len(failed)} of {len(written)} offsets were not committed '
                f'(first: "{topic}" partition {number}: {failed[0].error})'
            )
            self.problems.append(Problem("offset_not_written", f"{text}."))
        if state.active:
            self.problems.append(
                Problem(
                    "group_active",
                    f'Group "{self.group}" became active (state {state.state}) while its offsets were committed.',
                )
            )

    def _concluded(self, row: OffsetRow, error: str | None, found: Mapping[Partition, int]) -> OffsetRow:
        after = found.get(row.partition)
        if error is None and self.upward and after is not None and after > row.wanted:
            return replace(row, after=after, status="kept")
        if error is None and after != row.wanted:
            error = f"read back {after}, wanted {row.wanted}"
        return replace(row, after=after, status="done" if error is None else "failed", error=error)

    def unproven(self, error: DrError) -> None:
        """Mark the written rows as failed: they could not be read back and may or may not be committed."""
        if self.to_write:
            self.rows = [
                replace(row, after=None, status="failed", error="written, but not read back")
                if row.status == "planned"
                else row
                for row in self.rows
            ]
            text = f'The offsets of group "{self.group}" were sent but could not be read back: {error.message}'
            self.problems.append(Problem("offset_not_proven", text))


def wanted_offsets(items: Iterable[Mapping[str, Any]]) -> dict[str, dict[Partition, int]]:
    """The option ``groups``, checked as a whole. One error names every problem."""
    problems: list[str] = []
    wanted: dict[str, dict[Partition, int]] = {}
    for number, item in enumerate(items, start=1):
        group = item.get("group")
        if not group:
            problems.append(f"groups[{number}] has no group name.")
            continue
        if group in wanted:
            problems.append(f'Group "{group}" is listed twice.')
        committed_offsets = wanted.setdefault(group, {})
        for committed_offset in item.get("committed_offsets") or ():
            problems += _add_offset(group, committed_offsets, committed_offset)
    if problems:
        raise DrError("bad_offsets", " ".join(problems), "No request was sent to the cluster. Correct the list.")
    return wanted


def own_offsets(items: Iterable[Mapping[str, Any]]) -> dict[str, dict[Partition, int]]:
    """The suboption ``own`` of the option ``groups``, which ``wanted_offsets`` has checked."""
    return {
        item["group"]: {
            Partition(row["topic"], row["partition"]): row["own"]
            for row in item.get("committed_offsets") or ()
            if row.get("own") is not None
        }
        for item in items
    }


def _add_offset(group: str, committed_offsets: dict[Partition, int], item: Mapping[str, Any]) -> list[str]:
    topic, number, offset = item.get("topic"), item.get("partition"), item.get("offset")
    where = f'Group "{group}", topic "{topic}", partition {number}'
    if not topic or number is None or offset is None:
        return [f"{where}: topic, partition and offset are required."]
    if number < 0 or offset < 0:
        return [f"{where}: partition and offset must not be negative, found offset {offset}."]
    if (topic, number) in committed_offsets:
        return [f"{where} is listed twice."]
    committed_offsets[Partition(topic, number)] = offset
    return []


def plan_group(
    group: str,
    wanted: Mapping[Partition, int],
    seen: Seen,
    lower: str = "fail",
    own: Mapping[Partition, int] | None = None,
) -> GroupPlan:
    """What to commit for one group.

    An offset equal to the committed one is ``unchanged``. For an offset below it, ``lower`` decides: it is a problem
    (``fail``), ``planned`` (``lower``), or the committed one is kept (``keep``). This function does not know what the
    group has processed. ``raise``: as ``keep``, also if another process raises it meanwhile, as MirrorMaker 2's sync
    does. ``own``: offsets that the group itself committed earlier; with ``fail``, exactly these are lowered (R39).
    """
    plan = GroupPlan(group, upward=lower == "raise", own=own or {})
    for partition in sorted(wanted):
        offset, before = wanted[partition], seen.before.get(partition)
        below = before is not None and offset < before
        status = "unchanged" if before == offset else "kept" if below and lower in ("keep", "raise") else "planned"
        plan.rows.append(OffsetRow(group, partition, before, offset, before, status))
        # Also for unchanged ones: an offset outside the log is not done even if it is already committed.
        plan.problems += _range_problem(group, partition, offset, seen)
    if plan.to_write:
        plan.problems += active_problem(seen.state)
    if plan.unexplained and lower == "fail":
        plan.problems.append(_lower_problem(plan))
    return plan


def members_named(state: GroupState, shown: int = 3) -> str:
    """Client id and host of the first ``shown`` members, and the number of the others; "" without members."""
    if state.state == UNDESCRIBED:
        return _UNDESCRIBED
    named = [
        f"{member.client_id} on {member.host.lstrip('/')}"
        + (f", group.instance.id {member.instance}" if member.instance else "")
        for member in state.members[:shown]
    ]
    more = len(state.members) - len(named)
    return " and ".join(named + ([f"{more} more"] if more > 0 else []))


def with_members(groups: Mapping[str, str], shown: int = 5) -> str:
    """The first ``shown`` groups with their members, as :func:`members_named` names them."""
    named = [f"{group} ({members})" if members else group for group, members in list(groups.items())[:shown]]
    more = len(groups) - len(named)
    return "; ".join(named) + (f" and {more} more" if more > 0 else "")


def active_problem(state: GroupState) -> list[Problem]:
    """Empty if the group has no members; else the problem, with its members."""
    if not state.active:
        return []
    if state.state == UNDESCRIBED:
        text = (
            f'Whether the group "{state.group}" has members is unknown, because it is not a classic or consumer group.'
        )
        return [Problem("group_undescribed", text)]
    who = f": {members_named(state)}" if state.members else ""
    return [
        Problem(
            "group_active",
            f'Group "{state.group}" is active (state {state.state}, {len(state.members)} members{who}); '
            "offsets can be committed only for a group without members.",
        )
    ]


def _range_problem(group: str, partition: Partition, offset: int, seen: Seen) -> list[Problem]:
    topic, number = partition
    where = f'Group "{group}": topic "{topic}"'
    count = seen.partitions.get(topic)
    if count is None:
        return [Problem("unknown_partition", f"{where} does not exist.")]
    if number >= count:
        return [Problem("unknown_partition", f"{where} has {count} partitions, but no partition {number}.")]
    span = seen.ranges.get(partition)
    if span is None:
        return [Problem("offsets_unknown", f"{where} partition {number}: its log start and end could not be read.")]
    if not span[0] <= offset <= span[1]:
        return [
            Problem(
                "offset_out_of_range",
                f"{where} partition {number}: offset {offset} is outside the log ({span[0]} to {span[1]}).",
            )
        ]
    return []


def _lower_problem(plan: GroupPlan) -> Problem:
    higher = plan.unexplained
    worst = max(higher, key=lambda row: (row.before or 0) - row.wanted)
    topic, number = worst.partition
    return Problem(
        "offset_lower",
        f'Group "{plan.group}" has a higher committed offset than wanted on {len(higher)} partitions '
        f'(largest difference: "{topic}" partition {number}, committed {worst.before}, wanted {worst.wanted}).',
    )


def outcomes_of(plans: Iterable[GroupPlan]) -> list[Outcome]:
    """The rows that were or would be written, or were refused, as outcomes."""
    return [row.outcome() for plan in plans for row in plan.rows if row.status not in ("unchanged", "kept")]


def failure_of(plans: Iterable[GroupPlan], endpoint: str = "") -> DrError | None:
    """One error for all problems of all groups, or None. Its code is the common one, or ``several_failed``."""
    problems = [problem for plan in plans for problem in plan.problems]
    if not problems:
        return None
    codes = sorted({problem.code for problem in problems})
    more = f" ... and {len(problems) - _SHOWN} more problems." if len(problems) > _SHOWN else ""
    text = " ".join(problem.text for problem in problems[:_SHOWN]) + more
    hint = _HINTS.get(codes[0], "") if len(codes) == 1 else "Correct each of them, then start again."
    written = any(row.status in ("done", "failed") for plan in plans for row in plan.rows)
    return DrError(
        codes[0] if len(codes) == 1 else "several_failed",
        text,
        hint if written else f"No offset was committed. {hint}".strip(),
        endpoint,
    )


def distance(offset: int | None, span: tuple[int, int] | None) -> int | None:
    """Distance from an offset to the log end; None if either is unknown or the offset is past the end."""
    if offset is None or span is None or offset > span[1]:
        return None
    return span[1] - offset
