# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a translation of positions rests on, gathered once, and the shape of one found position.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..._core.errors import DrError
from ..._core.offsets.replication_gates import drained
from ..._core.offsets.skipped_records import skipped_in, total
from ..._core.offsets.target_offsets import Side, TargetOffset
from ..._core.offsets.translation import Translated
from ..._core.verdict import PROVEN
from ..connections.clusters import both
from ..observation.pair import FlowObservation, GroupStatus, Pair, PairSnapshot, Partition, unwrap

__all__ = [
    "Evidence",
    "by_group",
    "gather",
    "of_snapshot",
    "preexisting_higher_offsets",
    "refused_skips",
    "row",
    "skips_refusal",
]


@dataclass(frozen=True)
class Evidence:
    """X is the side being left, Y the one being entered. ``forward``: the flow X->Y, ``back``: Y->X if it copies too.

    ``y_ranges``: log start and end of every partition on Y, read last.
    """

    pair: Pair
    x: str
    y: str
    forward: FlowObservation
    back: FlowObservation | None
    x_groups: Mapping[str, GroupStatus]
    y_groups: Mapping[str, GroupStatus]
    y_ranges: Mapping[Partition, tuple[int, int]]

    def final(self, key: Partition) -> bool:
        """Everything of the source partition is on the target, and nothing more will come."""
        return self.forward.connectors["source"].final and drained(self.forward.facts[key]).verdict == PROVEN

    def unreplicated(self, key: Partition, commit: int) -> int:
        """At most so many records below ``commit`` on X are not known to be on Y; N may only be old."""
        facts = self.forward.facts[key]
        if self.final(key) or facts.data_after is False:
            return 0
        return max(
            0,
            commit
            - 1
            - max(-1 if facts.last_replicated_offset is None else facts.last_replicated_offset, (facts.start or 0) - 1),
        )

    def known_replicated(
        self, key: Partition, commit: int | None, committed_offset: TargetOffset, translated: Translated | None
    ) -> TargetOffset:
        """``position`` on Y, with what is processed on X but perhaps not yet copied counted as read again."""
        late = (
            0 if commit is None or (translated is not None and translated.reached) else self.unreplicated(key, commit)
        )
        if not late or committed_offset.rereads is None:
            return committed_offset
        quality = "skips" if committed_offset.skips.possible else "safe"
        return replace(committed_offset, quality=quality, rereads=committed_offset.rereads + late)

    def topics_of(self, group: str) -> list[str]:
        """The originals that the group reads."""
        return self.pair.topics_of(group, self.x, self.x_groups[group].commits)

    def left(self, group: str, key: Partition) -> Side:
        """The group on a source partition of the flow X->Y."""
        observation, facts = self.x_groups[group], self.forward.facts[key]
        return Side(observation.commits.get(key), facts.start, facts.end, observation.read_to_end.get(key))

    def entered(self, group: str, key: Partition) -> Side:
        """The group on a partition of Y."""
        start, end = self.y_ranges.get(key, (None, None))
        return Side(self.y_groups[group].commits.get(key), start, end)


def gather(pair: Pair, x: str, y: str) -> Evidence:
    """As of now, with flows and groups at work.

    Positions first, logs afterwards: none then lies behind the end of its log.
    """
    x_topics = [name for name, count in pair.partitions(x).items() if count is not None]
    y_topics = [name for name, count in pair.partitions(y).items() if count is not None]
    x_groups, y_groups = both(lambda: pair.observe_groups(x, x_topics), lambda: pair.observe_groups(y, y_topics))
    identity = pair.naming.policy == "identity"
    forward, back = both(lambda: pair.observe(x, y), lambda: None if identity else pair.observe(y, x))
    return Evidence(pair, x, y, forward, back, x_groups, y_groups, pair.ranges(y, y_topics))


def of_snapshot(
    pair: Pair,
    snapshot: PairSnapshot,
    observations: tuple[FlowObservation, FlowObservation | None],
    groups: Mapping[str, GroupStatus],
) -> Evidence:
    """As ``gather``, from what was seen of both sides at one time. ``observations``: forward and back; ``groups``:
    on X.

    Of groups on Y only their positions are told: nothing else counts there.
    """
    forward, back = observations
    x, y = forward.source, forward.target
    states, commits = unwrap(snapshot.groups[y])
    known = pair.partitions(y)
    there = {
        name: GroupStatus(states[name].state, {key: at for key, at in commits[name].items() if key[0] in known})
        for name in pair.groups
    }
    return Evidence(pair, x, y, forward, back, groups, there, snapshot.ranges(y, pair.existing(y, known)))


def row(
    evidence: Evidence, group: str, key: Partition, found: TargetOffset, left: int | None, mm2: int | None = None
) -> dict[str, Any]:
    """One position on Y. ``left``: the one on X it was found from; ``checkpoint``: where MirrorMaker 2's would be."""
    return {
        "group": group,
        "topic": key[0],
        "partition": key[1],
        "offset": found.offset,
        "method": found.method,
        "quality": found.quality,
        "rereads": found.rereads,
        "skips": found.skips.as_dict(),
        "reason": found.reason,
        "anchor": None if found.anchor is None else [found.anchor.upstream, found.anchor.downstream],
        "hazards": list(found.hazards),
        "existing": evidence.y_groups[group].commits.get(key),
        "left": left,
        "checkpoint": mm2,
    }


def by_group(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The shape that ``kafka_group`` takes."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if row["offset"] is not None:
            committed_offset = {"topic": row["topic"], "partition": row["partition"], "offset": row["offset"]}
            groups.setdefault(row["group"], []).append(committed_offset)
    return [{"group": group, "committed_offsets": committed_offsets} for group, committed_offsets in groups.items()]


def preexisting_higher_offsets(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Offsets that are already higher on Y, before this run has committed any: those of another writer."""
    return [
        f"{row['group']} {row['topic']}-{row['partition']}"
        for row in rows
        if row["existing"] is not None and row["offset"] is not None and row["existing"] > row["offset"]
    ]


def skips_refusal(
    rows: Iterable[Mapping[str, Any]], sides: tuple[str, str], accepted: Collection[str]
) -> DrError | None:
    """Why groups cannot move that have unread records which the side being entered no longer holds (R30).

    ``sides``: left and entered. ``accepted``: groups that may lose them.
    """
    refused = refused_skips(rows, accepted)
    if not refused:
        return None
    x, y = sides
    named = "; ".join(f"{row['group']} {row['topic']}-{row['partition']}: {row['reason']}" for row in refused[:3])
    groups = ", ".join(dict.fromkeys(row["group"] for row in refused))
    return DrError(
        "records_gone",
        f"{total(refused).text} that {groups} has not read on {x} are no longer on {y}, in {len(refused)} partitions:"
        f" {named}.",
        f"Let the group read on {x} first, where they still are. Raise the retention of the topic on {y} for the next"
        " time. To move all the same and lose them for that group, name it in kafka_dr_accept_skips (option"
        " accept_skips); kafka_dr_group_lag=reread does not accept it.",
    )


def refused_skips(rows: Iterable[Mapping[str, Any]], accepted: Collection[str]) -> list[Mapping[str, Any]]:
    """Positions that skip records, or may, of groups that are not named."""
    return [row for row in rows if skipped_in(row).possible and row["group"] not in accepted]
