# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A partition of a topic, the key of every offset, and ranges of its log.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

__all__ = ["Partition", "PartitionOffset", "Range", "Ranges", "by_topic"]

#: Start and end of a log or of a part of it; the end is excluded.
Range = tuple[int, int]


class Partition(NamedTuple):
    """A topic's name and the number of one of its partitions."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


#: A partition and an offset in it.
PartitionOffset = tuple[Partition, int]
Ranges = Mapping[Partition, Range]


def by_topic(keys: Iterable[Partition]) -> dict[str, list[Partition]]:
    """Return the sorted partitions of each topic, so that callers need not search all partitions."""
    partitions: dict[str, list[Partition]] = defaultdict(list)
    for key in sorted(keys):
        partitions[key.topic].append(key)
    return dict(partitions)
