# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The evidence for translating committed offsets, gathered once, and the report row of one translated offset.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..._core.errors import DrError
from ..._core.offsets.lasting_gaps import is_higher_there
from ..._core.offsets.replication_gates import drained
from ..._core.offsets.skipped_records import skipped_in, total
from ..._core.offsets.target_offsets import Side, TargetOffset
from ..._core.offsets.translation import Translated
from ..._core.partition import Partition, Ranges
from ..._core.verdict import PROVEN
from ..connections.clusters import both
from ..observation.flows import FlowObservation, observe_flow
from ..observation.groups import GroupStatus, observe_groups, topics_of
from ..observation.pair import Pair
from ..observation.snapshot import PairSnapshot, unwrap

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
    """An observation of flows, groups and logs on both clusters."""

    pair: Pair
    #: Alias of the cluster being left.
    x: str
    #: Alias of the cluster being entered.
    y: str
    #: The flow X->Y.
    forward: FlowObservation
    #: The flow Y->X. None: with the policy identity it does not run.
    back: FlowObservation | None
    x_groups: Mapping[str, GroupStatus]
    y_groups: Mapping[str, GroupStatus]
    #: Log start and log end of every partition on Y, read last.
    y_ranges: Ranges

    def final(self, key: Partition) -> bool:
        """Is the source partition replicated completely, with the source connector stopped?"""
        return self.forward.connectors["source"].final and drained(self.forward.facts[key]).verdict == PROVEN

    def unreplicated(self, key: Partition, commit: int) -> int:
        """Return how many records below ``commit`` on X may be missing on Y: an upper bound, because N may be old."""
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
        """Count the records processed on X that may not be replicated yet as re-reads of ``committed_offset``."""
        late = (
            0 if commit is None or (translated is not None and translated.reached) else self.unreplicated(key, commit)
        )
        if not late or committed_offset.rereads is None:
            return committed_offset
        quality = "skips" if committed_offset.skips.possible else "safe"
        return replace(committed_offset, quality=quality, rereads=committed_offset.rereads + late)

    def topics_of(self, group: str) -> list[str]:
        """Return the original topics that the group reads."""
        status = self.x_groups[group]
        return topics_of(self.pair, group, self.x, status.used | {key.topic for key in status.commits})

    def left(self, group: str, key: Partition) -> Side:
        """Return the group's state on a source partition of the flow X->Y."""
        observation, facts = self.x_groups[group], self.forward.facts[key]
        return Side(observation.commits.get(key), facts.start, facts.end, observation.read_to_end.get(key))

    def entered(self, group: str, key: Partition) -> Side:
        """Return the group's state on a partition of Y."""
        start, end = self.y_ranges.get(key, (None, None))
        return Side(self.y_groups[group].commits.get(key), start, end)


def gather(pair: Pair, x: str, y: str) -> Evidence:
    """Gather the evidence as of now, while flows and groups may be running.

    Reads committed offsets first and logs afterwards, so that no committed offset is after its log's end.
    """
    x_topics = pair.present(x)
    y_topics = pair.present(y)
    x_groups, y_groups = both(lambda: observe_groups(pair, x, x_topics), lambda: observe_groups(pair, y, y_topics))
    alone = pair.naming.one_flow_at_a_time
    forward, back = both(lambda: observe_flow(pair, x, y), lambda: None if alone else observe_flow(pair, y, x))
    return Evidence(pair, x, y, forward, back, x_groups, y_groups, pair.ranges(y, y_topics))


def of_snapshot(
    pair: Pair,
    snapshot: PairSnapshot,
    observations: tuple[FlowObservation, FlowObservation | None],
    groups: Mapping[str, GroupStatus],
) -> Evidence:
    """Like ``gather``, but from a snapshot of both clusters.

    ``observations`` are the flows X->Y and Y->X, ``groups`` the groups on X. For groups on Y the result has only the
    state and the committed offsets: nothing else is used.
    """
    forward, back = observations
    x, y = forward.source, forward.target
    states, commits = unwrap(snapshot.groups[y])
    partitions = pair.partitions(y)
    y_groups = {
        name: GroupStatus(
            states[name].state, {key: offset for key, offset in commits[name].items() if key[0] in partitions}
        )
        for name in pair.groups
    }
    return Evidence(pair, x, y, forward, back, groups, y_groups, snapshot.ranges(y, pair.existing(y, partitions)))


def row(
    evidence: Evidence,
    group: str,
    key: Partition,
    target_offset: TargetOffset,
    left_offset: int | None,
    mm2: int | None = None,
    own: int | None = None,
) -> dict[str, Any]:
    """Return the report row of one offset on Y.

    ``left`` is the committed offset on X that it was translated from, ``mm2`` the offset of MirrorMaker 2's own
    checkpoint on Y. ``own`` is what the group had committed on Y when the applications last left it. If that is still
    there and higher, the group was set back since, and the lower offset replaces it (R39).
    """
    existing = evidence.y_groups[group].commits.get(key)
    set_back = own is not None and existing == own and target_offset.offset is not None and own > target_offset.offset
    return {
        "group": group,
        "topic": key[0],
        "partition": key[1],
        "offset": target_offset.offset,
        "method": target_offset.method,
        "quality": target_offset.quality,
        "rereads": target_offset.rereads,
        "skips": target_offset.skips.as_dict(),
        "reason": target_offset.reason,
        "anchor": None
        if target_offset.anchor is None
        else [target_offset.anchor.upstream, target_offset.anchor.downstream],
        "hazards": list(target_offset.hazards),
        "existing": existing,
        "left": left_offset,
        "checkpoint": mm2,
        "own": own if set_back else None,
    }


def by_group(rows: Iterable[Mapping[str, Any]], metadata: bool = True) -> list[dict[str, Any]]:
    """Return the offsets in the form of the option ``committed_offsets`` of the module ``kafka_group``.

    ``metadata``: with their metadata. Those of many offsets are too large for a record of the journal.
    """
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if row["offset"] is not None:
            committed_offset = {"topic": row["topic"], "partition": row["partition"], "offset": row["offset"]}
            if row.get("own") is not None:
                committed_offset["own"] = row["own"]
            if metadata and row.get("metadata") is not None:
                committed_offset["metadata"] = row["metadata"]
            groups.setdefault(row["group"], []).append(committed_offset)
    return [{"group": group, "committed_offsets": committed_offsets} for group, committed_offsets in groups.items()]


def preexisting_higher_offsets(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Name the offsets that are already higher on Y before this run commits any. Another writer committed them."""
    return [f"{row['group']} {row['topic']}-{row['partition']}" for row in rows if is_higher_there(row)]


def skips_refusal(
    rows: Iterable[Mapping[str, Any]], clusters: tuple[str, str], accepted: Collection[str]
) -> DrError | None:
    """Return an error if groups have unread records that the cluster being entered no longer holds (R30), else None.

    ``clusters`` are those being left and entered. The groups ``accepted`` may lose such records.
    """
    refused = refused_skips(rows, accepted)
    if not refused:
        return None
    x, y = clusters
    named = "; ".join(f"{row['group']} {row['topic']}-{row['partition']}: {row['reason']}" for row in refused[:3])
    groups = ", ".join(dict.fromkeys(row["group"] for row in refused))
    return DrError(
        "records_gone",
        f"{y} no longer holds {total(refused).text} that {groups} has not read on {x}, in {len(refused)} partitions:"
        f" {named}.",
        f"Let the group read these records on {x} first. Raise the retention of the topic on {y} before the next move."
        " To move anyway and lose the records for that group, name the group in kafka_dr_accept_skips (option"
        " accept_skips); kafka_dr_group_lag=reread does not accept this loss.",
    )


def refused_skips(rows: Iterable[Mapping[str, Any]], accepted: Collection[str]) -> list[Mapping[str, Any]]:
    """Return the rows that skip records, or may skip some, of groups that are not in ``accepted``."""
    return [row for row in rows if skipped_in(row).possible and row["group"] not in accepted]
