# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Committed offsets that a barrier would refuse for a reason that stopping the applications does not change.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..partition import Partition

__all__ = ["GroupOnPartition", "is_higher_there", "lasting_problems", "stays_higher_there"]


@dataclass(frozen=True)
class GroupOnPartition:
    """A group on one partition of the cluster being left. None: unknown."""

    partition: Partition
    commit: int | None
    #: High watermark, read after the committed offset.
    end: int
    #: The group has no members, and its committed offset did not change between two observations.
    idle: bool
    read_to_end: bool | None
    #: Last replicated offset of the partition.
    last_replicated_offset: int | None
    start: int | None

    @property
    def past_end(self) -> bool:
        """The committed offset is above the high watermark: the log was truncated, or the topic was recreated.

        Kafka accepts such a commit.
        """
        return self.commit is not None and self.commit > self.end

    @property
    def unreachable(self) -> bool:
        """The group is idle and its next record is replicated, so the barrier will see the same records as now."""
        waits = self.idle and self.commit is not None and self.read_to_end is False
        return (
            waits
            and self.last_replicated_offset is not None
            and self.last_replicated_offset >= max(self.commit or 0, self.start or 0)
        )


def lasting_problems(
    rows: Iterable[tuple[Mapping[str, Any], GroupOnPartition]], alias: str, group_lag: str = "refuse"
) -> list[str]:
    """Why the barrier will refuse, in words. ``rows``: translated offsets that are not exact, with their groups' state.

    ``group_lag``: as kafka_dr_group_lag; ``reread`` accepts offsets that are not exact.
    """
    problems = []
    for row, standing in rows:
        topic, partition = standing.partition
        where = f'group "{row["group"]}" on {alias} {topic}-{partition}'
        if standing.past_end:
            problems.append(f"{where}: its committed offset {standing.commit} is past the log end {standing.end}")
        elif row["offset"] is None and standing.unreachable:
            problems.append(f"{where}: its committed offset {standing.commit} cannot be moved: {row['reason']}")
        elif row["offset"] is not None and standing.unreachable and group_lag == "refuse":
            problems.append(
                f"{where}: {_why(standing)}; at most {row['rereads']} records would be read again ({row['reason']})"
            )
    return problems


def is_higher_there(row: Mapping[str, Any]) -> bool:
    """Whether the group has a higher committed offset on the cluster being entered, by another writer (R6).

    MirrorMaker 2's group sync leaves one there if the group was set back since: it never lowers an offset. A group's
    own offset of an earlier tenure does not count: the move lowers it (R39).
    """
    existing, offset = row["existing"], row["offset"]
    return existing is not None and offset is not None and existing > offset and row.get("own") is None


def stays_higher_there(row: Mapping[str, Any], idle: bool, waits: bool, group_lag: str) -> bool:
    """Whether a higher offset there will still be higher when the applications have stopped.

    ``idle``: the group has no members, and its committed offset does not change. ``waits``: an unread record of it is
    on both clusters. A group with members reads on: with ``group_lag`` ``refuse`` to the end, past any such offset,
    and otherwise from wherever it stops. Only an exact offset shows that the one there is too high.
    """
    if not is_higher_there(row):
        return False
    return waits if idle else group_lag == "reread" and row["quality"] == "exact"


def _why(standing: GroupOnPartition) -> str:
    commit = standing.commit or 0
    if standing.start is not None and commit < standing.start:
        return f"its committed offset {commit} is before the log start {standing.start}"
    return f"its committed offset {commit} is below the log end {standing.end}, and it has no members"
