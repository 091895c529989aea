# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random groups that are about to move: some topics are empty until the move, and members read only a part of them.

A group reads a topic from preflight on, or only after it. The topic may have committed offsets, or records of which the
group has read nothing, or get its first records before the drain, before the barrier, or never.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition

__all__ = ["MOMENTS", "ReadTopic", "ReadingWorld", "reading_world"]

# When a run observes the groups. At the barrier they have no members.
MOMENTS = ("preflight", "drain", "barrier")
_NEVER = len(MOMENTS)


@dataclass(frozen=True)
class ReadTopic:
    """A topic of the pair, as one group uses it."""

    name: str
    partitions: int
    #: Moment from which members of the group are assigned the topic; after the last one: never.
    read_from: int
    #: Moment from which the topic has records. Before the first one, it had them when the group began.
    written_from: int
    #: Whether the group commits what it reads.
    commits: bool

    def assigned(self, moment: int) -> bool:
        """Whether members are assigned the topic at this moment."""
        return self.read_from <= moment < MOMENTS.index("barrier")

    @property
    def read(self) -> bool:
        """Whether members were assigned the topic at any moment."""
        return self.read_from < MOMENTS.index("barrier")

    @property
    def refused(self) -> bool:
        """Whether the topic had records when the group began to read, and the group never commits."""
        return self.read and not self.commits and self.written_from <= self.read_from

    def end(self, moment: int) -> int:
        """Log end of each partition."""
        return 5 if self.written_from <= moment else 0

    def committed(self, moment: int) -> int | None:
        """The committed offset on each partition."""
        ever = self.commits and self.read_from <= moment and self.read
        return self.end(min(moment, MOMENTS.index("drain"))) or None if ever else None


@dataclass
class ReadingWorld:
    """One group on the cluster being left."""

    topics: list[ReadTopic] = field(default_factory=list)

    def partitions(self) -> list[tuple[ReadTopic, Partition]]:
        """Every partition with its topic."""
        return [(topic, Partition(topic.name, number)) for topic in self.topics for number in range(topic.partitions)]


def reading_world(random: Random) -> ReadingWorld:
    """Return a world with one to five topics."""
    return ReadingWorld(
        [
            ReadTopic(
                f"T{number}",
                random.randint(1, 3),
                read_from=random.choice((0, 0, 1, _NEVER)),
                written_from=random.choice((-1, 1, 2, _NEVER)),
                commits=random.random() < 0.6,
            )
            for number in range(random.randint(1, 5))
        ]
    )
