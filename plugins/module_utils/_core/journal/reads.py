# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the groups read, as a run has seen it while they had members (R40).

A stopped consumer is assigned nothing, and a topic that was never written has no committed offset. So a run journals
what it has seen before it stops the first application.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..partition import Partition

__all__ = ["Reads", "beyond", "joined", "reads_of", "start_offsets"]

#: Group -> topic -> its partitions that were never written while the group used the topic without a committed offset.
Reads = Mapping[str, Mapping[str, Sequence[int]]]


def reads_of(status: Mapping[str, Any], alias: str) -> dict[str, dict[str, list[int]]]:
    """Return what the groups read on ``alias``. ``status``: as ``dr_status_info`` returns it."""
    reads: dict[str, dict[str, list[int]]] = {}
    for row in status["groups"]:
        if row["alias"] == alias:
            partitions = reads.setdefault(row["group"], {}).setdefault(row["topic"], [])
            # Without a committed offset, it is known to be read to the end only if it was never written.
            partitions += [row["partition"]] if row["commit"] is None and row["read_to_end"] is True else []
    for row in status["out_of_scope"]:
        if row["alias"] == alias:
            reads.setdefault(row["group"], {}).setdefault(row["topic"], [])
    return reads


def joined(*observations: Reads) -> dict[str, dict[str, list[int]]]:
    """Return all that any of the observations has."""
    union: dict[str, dict[str, set[int]]] = {}
    for reads in observations:
        for group, topics in reads.items():
            for topic, partitions in topics.items():
                union.setdefault(group, {}).setdefault(topic, set()).update(partitions)
    return {
        group: {topic: sorted(partitions) for topic, partitions in sorted(topics.items())}
        for group, topics in sorted(union.items())
    }


def beyond(reads: Reads, known: Reads) -> dict[str, dict[str, list[int]]]:
    """Return the topics and partitions of ``reads`` that ``known`` does not have."""
    more_reads: dict[str, dict[str, list[int]]] = {}
    for group, topics in reads.items():
        for topic, partitions in topics.items():
            before = known.get(group, {}).get(topic)
            more = sorted(set(partitions) - set(before or ()))
            if before is None or more:
                more_reads.setdefault(group, {})[topic] = more
    return more_reads


def start_offsets(reads: Reads, group: str) -> dict[Partition, int]:
    """Return offset 0 for each partition on which the group has no committed offset, and had nothing to read before.

    All records that are there by now are unread, or would be read again after a restart on the same cluster.
    """
    return {Partition(topic, number): 0 for topic, numbers in reads.get(group, {}).items() for number in numbers}
