# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a flow that stood still may go on where it was: what it has copied must still be there.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from .errors import DrError

__all__ = ["Begun", "Place", "forgotten"]


@dataclass(frozen=True)
class Place:
    """A partition of a flow. ``end`` and ``replica_end``: log ends; None: not there, or not known."""

    partition: int
    copied: int
    end: int | None
    replica_end: int | None


@dataclass(frozen=True)
class Begun:
    """A topic in a flow. ``places``: partitions of which the flow has a stored offset (the last copied record).

    ``recreated``: in words, original or replica that is not the journaled one. ``held``: has the replica any record?
    """

    flow: str
    topic: str
    replica: str
    places: tuple[Place, ...]
    recreated: tuple[str, ...]
    held: bool


def forgotten(topics: Collection[Begun], again: Collection[str]) -> list[Begun]:
    """Of which the stored offsets must go, because they are about other records and ``again`` names the topic.

    Raises for every other topic whose offsets do not fit, and for what ``again`` names in vain.
    """
    wrong = {one: reasons for one in topics if one.places and (reasons := _unfit(one))}
    left = [f"{one.flow}: {reasons[0]}" for one, reasons in wrong.items() if one.topic not in again]
    if left:
        names = ", ".join(f'"{name}"' for name in dict.fromkeys(one.topic for one in wrong))
        raise DrError(
            "topic_recreated",
            f"{'; '.join(left[:5])}. Flows would go on behind their stored offsets, and leave out what lies below.",
            "Nothing was copied. To copy such a topic from its beginning: run the playbook disable, delete its replica,"
            f" and run enable with -e '{{\"kafka_dr_copy_again\": [{names}]}}'.",
        )
    held = [f'{one.flow} "{one.replica}"' for one in wrong if one.held]
    if held:
        raise DrError(
            "replica_not_empty",
            f"Replicas that hold records: {', '.join(held)}. Copied again, they would hold them twice.",
            "Nothing was copied. Run the playbook disable, delete those replicas, and start again.",
        )
    stored = {one.topic for one in topics if one.places}
    vain = sorted(set(again) & stored - {one.topic for one in wrong})
    if vain:
        raise DrError(
            "replica_not_empty",
            f"The replicas of {', '.join(vain)} hold what was copied, so kafka_dr_copy_again has nothing to do.",
            "Nothing was copied. Leave those topics out; or run the playbook disable, delete the replica, start again.",
        )
    return list(wrong)


def _unfit(one: Begun) -> list[str]:
    """Why the stored offsets are about records that are not there any more."""
    reasons = [f"created again since the pair was enabled: {text}" for text in one.recreated]
    for place in one.places:
        at = f"{one.topic}-{place.partition} is copied up to {place.copied}"
        if not place.replica_end:
            found = "was never written" if place.replica_end == 0 else "does not exist"
            reasons.append(f'{at}, but the replica "{one.replica}" {found}')
        elif place.end is None or place.copied >= place.end:
            reasons.append(f"{at}, but it ends at {'an unknown offset' if place.end is None else place.end}")
    return reasons
