# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Observations of groups: their lag, whether they have read to the end, and whether they were idle for a while.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import DrError
from ..listing import first_few
from ..partition import Partition, PartitionOffset, Range
from ..waiting import Waited
from .groups import GroupState, distance, members_named

__all__ = [
    "CommittedOffset",
    "Extra",
    "GroupObservation",
    "Quiet",
    "counted",
    "group_observation",
    "read_to_end",
    "wait_error",
]


@dataclass(frozen=True)
class Extra:
    """What an observation has besides committed offsets and logs."""

    #: The partitions to return; None: those with a committed offset.
    shown: Collection[Partition] | None = None
    #: By partition and committed offset, whether a data record is left to read; empty: not observed.
    data_after: Mapping[PartitionOffset, bool | None] = field(default_factory=dict)
    #: None: the group was not watched.
    idle: bool | None = None


@dataclass(frozen=True)
class CommittedOffset:
    """A group on one partition. None: unknown, or for ``offset``, no committed offset."""

    partition: Partition
    offset: int | None
    span: Range | None
    read_to_end: bool | None

    @property
    def lag(self) -> int | None:
        """Offsets from the committed offset to the log end."""
        return distance(self.offset, self.span)

    def as_dict(self) -> dict[str, Any]:
        """The form in which modules return it."""
        start, end = self.span or (None, None)
        topic, number = self.partition
        return {
            "topic": topic,
            "partition": number,
            "offset": self.offset,
            "start": start,
            "end": end,
            "lag": self.lag,
            "read_to_end": self.read_to_end,
        }


@dataclass(frozen=True)
class GroupObservation:
    """A group at one moment."""

    state: GroupState
    committed_offsets: Sequence[CommittedOffset]
    #: None: the group was not watched.
    idle: bool | None

    @property
    def lag(self) -> int | None:
        """Sum over the committed offsets; None if one is unknown, or if there are none."""
        lags = [committed_offset.lag for committed_offset in self.committed_offsets]
        known = [lag for lag in lags if lag is not None]
        return sum(known) if lags and len(known) == len(lags) else None

    @property
    def read_to_end(self) -> bool | None:
        """False if a committed offset is known not to be at the end, True if all are known to be there."""
        answers = [committed_offset.read_to_end for committed_offset in self.committed_offsets]
        if False in answers:
            return False
        return True if answers and all(answers) else None

    def reached(self, goal: str) -> bool:
        """Whether the goal of a wait (``idle``, ``read_to_end``) is reached; False if unknown."""
        return (self.idle if goal == "idle" else self.read_to_end) is True

    def progress(self, goal: str) -> Any:
        """A value that changes while there is progress toward the goal."""
        members = [member.member_id for member in self.state.members]
        if goal == "idle":
            return self.state.state, members
        return [(committed_offset.partition, committed_offset.offset) for committed_offset in self.committed_offsets]

    def describe(self) -> str:
        """The group in a few words, for error messages."""
        state = self.state
        who = members_named(state)
        lag = "unknown" if self.lag is None else str(self.lag)
        members = f"{len(state.members)} members{': ' + who if who else ''}"
        return f'"{state.group}" {state.state}, {members}, {lag} offsets from the end'

    def as_dict(self) -> dict[str, Any]:
        """The form in which modules return it."""
        return {
            "group": self.state.group,
            "state": self.state.state,
            "type": self.state.type,
            "members": [member.as_dict() for member in self.state.members],
            "idle": self.idle,
            "lag": self.lag,
            "read_to_end": self.read_to_end,
            "committed_offsets": [committed_offset.as_dict() for committed_offset in self.committed_offsets],
        }


def group_observation(
    state: GroupState,
    commits: Mapping[Partition, int | None],
    ranges: Mapping[Partition, Range | None],
    extra: Extra | None = None,
) -> GroupObservation:
    """Combine the observations of one group."""
    extra = extra or Extra()
    committed_offsets = []
    for partition in sorted(commits if extra.shown is None else extra.shown):
        offset, span = commits.get(partition), ranges.get(partition)
        at_end = None if offset is None else read_to_end(offset, span, extra.data_after.get((partition, offset)))
        committed_offsets.append(CommittedOffset(partition, offset, span, at_end if extra.data_after else None))
    return GroupObservation(state, committed_offsets, extra.idle)


def read_to_end(offset: int, span: Range | None, data_after: bool | None) -> bool | None:
    """Whether a group at ``offset`` has nothing left to read. ``data_after``: a data record is in [offset, end).

    None (unknown) past the log end, and before the log start, where records may have expired unread, unless an unread
    record is still there.
    """
    if span is None or offset > span[1]:
        return None
    if data_after is None:
        return None
    if data_after:
        return False
    return None if offset < span[0] else True


class Quiet:
    """Which groups had no members and did not commit for ``settle`` seconds, from repeated observations."""

    def __init__(self, settle: float | None) -> None:
        self.settle = settle
        self._since: dict[str, tuple[float, Mapping[Partition, int | None]] | None] = {}
        self._disturbed: set[str] = set()
        self._idle: dict[str, bool | None] = {}

    def note(
        self,
        now: float,
        states: Mapping[str, GroupState],
        commits: Mapping[str, Mapping[Partition, int | None]],
    ) -> dict[str, bool | None]:
        """Record one observation. Return whether each group has been idle long enough (None without a settle time)."""
        for group, state in states.items():
            found = commits[group]
            last = self._since.get(group)
            if state.active or None in found.values():
                self._since[group] = None
                self._disturbed.add(group)
            elif last is None or last[1] != found:
                if last is not None:
                    self._disturbed.add(group)
                self._since[group] = (now, dict(found))
            self._idle[group] = self._quiet_at(group, now)
        return dict(self._idle)

    def _quiet_at(self, group: str, now: float) -> bool | None:
        if self.settle is None:
            return None
        since = self._since[group]
        return since is not None and now - since[0] >= self.settle

    @property
    def decided(self) -> bool:
        """Whether more observations cannot change whether the groups were idle since the first observation."""
        return self.settle is None or all(idle or group in self._disturbed for group, idle in self._idle.items())


def wait_error(goal: str, waited: Waited[list[GroupObservation]], endpoint: str = "") -> DrError | None:
    """The error of a wait that did not reach its goal, with the last state of the groups that did not reach it."""
    if waited.done:
        return None
    missing = [observation.describe() for observation in waited.state if not observation.reached(goal)]
    wanted = "idle" if goal == "idle" else "at the log end"
    why = "there was no more progress" if waited.ended == "stalled" else "the time-out was reached"
    return DrError(
        "wait_stalled" if waited.ended == "stalled" else "wait_timeout",
        f"After {waited.seconds:.1f} s {why}: {len(missing)} groups are not {wanted}:"
        f" {first_few(missing, separator='; ')}.",
        "Stop the remaining members (a killed one remains until its session time-out)."
        if goal == "idle"
        else "Check that the consumers run, and that no open transaction holds back the last stable offset.",
        endpoint,
    )


def counted(requests: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The requests of a wait: each kind once, with its count."""
    return [{"api": api, "times": times} for api, times in Counter(one["api"] for one in requests).items()]
