# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Do the members of a group read every partition on which the run committed an offset (R40)?

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ..listing import first_few
from ..partition import Partition, Range, by_topic

__all__ = ["unassigned", "unassigned_text"]

_SHOWN = 3


def unassigned(
    entered: Mapping[str, Collection[Partition]],
    assigned: Mapping[str, Collection[Partition]],
    precautions: Mapping[str, Collection[str]],
) -> dict[str, list[Partition]]:
    """Return by group the partitions with an offset of the run that no member is assigned.

    Groups without such partitions are left out. ``precautions``: topics by group that got an offset although nothing
    shows that the group reads them.
    """
    missing = {
        group: sorted(
            key for key in set(partitions) - set(assigned.get(group, ())) if key.topic not in precautions.get(group, ())
        )
        for group, partitions in sorted(entered.items())
    }
    return {group: partitions for group, partitions in missing.items() if partitions}


def unassigned_text(
    partitions: Mapping[str, Collection[Partition]],
    committed: Mapping[str, Mapping[Partition, int]],
    ranges: Mapping[Partition, Range],
) -> str:
    """Name the topics of :func:`unassigned`, with the offsets that are left to read there."""
    texts = []
    for group, keys in partitions.items():
        named = []
        for topic, of_topic in by_topic(keys).items():
            left = sum(max(0, ranges[key][1] - committed[group].get(key, ranges[key][0])) for key in of_topic)
            named.append(f"{topic} ({len(of_topic)} partitions, {left} offsets unread)")
        texts.append(f'no member of the group "{group}" is assigned {first_few(named, _SHOWN)}')
    return first_few(texts, _SHOWN, "; ")
