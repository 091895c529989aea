# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the journal knows and no log shows: evidence of earlier moves, as offset translation needs it.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..offsets.bindings import Bound, Witness
from ..offsets.tenures import flat
from ..partition import Partition
from ..resources.topic_ids import CheckpointsEnd
from .state import JournalState

__all__ = ["JournalFacts", "OwnOffsets"]

_Nested = Mapping[str, Mapping[str, Mapping[str, int]]]


@dataclass(frozen=True)
class OwnOffsets:
    """What the journal recorded of the groups when the applications last left the cluster being entered."""

    #: Committed offsets there: group -> topic -> partition -> offset.
    offsets: _Nested = field(default_factory=dict)
    #: The records that these offsets are bound to, by partition (R37).
    bound: Mapping[Partition, Sequence[Witness]] = field(default_factory=dict)
    #: The exact offsets that the groups got on the other cluster, as ``offsets``. Inexact ones are left out.
    arrived: _Nested = field(default_factory=dict)
    #: Whether the applications have ever left it.
    left: bool = False
    #: Where the topic with MirrorMaker 2's checkpoints of the other cluster ended then. None: unknown, because the
    #: cluster was lost.
    checkpoints: CheckpointsEnd | None = None

    @classmethod
    def of(cls, facts: Mapping[str, Any] | None) -> OwnOffsets:
        """Read the facts of the barrier of that move; None: there was none."""
        if facts is None:
            return cls()
        inexact = set(map(tuple, facts.get("inexact") or ()))
        arrived: dict[str, dict[str, dict[str, int]]] = {}
        # Facts without the list do not show which offsets were exact.
        for group in facts.get("entered") or () if facts.get("inexact") is not None else ():
            for row in group["committed_offsets"]:
                place = (group["group"], row["topic"], int(row["partition"]))
                if place not in inexact:
                    topics = arrived.setdefault(group["group"], {})
                    topics.setdefault(row["topic"], {})[str(row["partition"])] = row["offset"]
        return cls(
            facts.get("committed_offsets") or {},
            {key: [Witness.of(fields) for fields in stored] for key, stored in flat(facts.get("bound") or {}).items()},
            arrived,
            True,
            None if facts.get("checkpoints") is None else CheckpointsEnd(*facts["checkpoints"]),
        )

    def offset(self, group: str, key: Partition) -> int | None:
        """Return the group's committed offset on a partition; None: it had none."""
        return self.offsets.get(group, {}).get(key.topic, {}).get(str(key.partition))

    def bound_offset(self, group: str, key: Partition) -> Bound | None:
        """Return that offset with the records that it is bound to; None: it has none, or is not bound (R37)."""
        offset, stored = self.offset(group, key), self.bound.get(key)
        return None if offset is None or stored is None else Bound.of(key, offset, stored)

    def arrival(self, group: str, key: Partition) -> int | None:
        """Return the exact offset that the group got on a partition of the other cluster; None: it was not exact."""
        return self.arrived.get(group, {}).get(key.topic, {}).get(str(key.partition))


@dataclass(frozen=True)
class JournalFacts:
    """Evidence from the journal to translate offsets to one cluster."""

    #: The groups on the cluster being entered, from when the applications last left it.
    own: OwnOffsets = field(default_factory=OwnOffsets)
    #: Topic ids from when the flows were set up: alias -> topic -> id.
    topic_ids: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    #: Offset of the first offset-sync that refers to the current topic: flow -> topic -> offset.
    offset_syncs_start: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    #: Where the checkpoints ended when the current topic joined the pair: flow -> topic -> end. Older checkpoints may
    #: refer to another topic.
    checkpoints_start: Mapping[str, Mapping[str, CheckpointsEnd]] = field(default_factory=dict)
    #: Policy identity: the cuts between the tenures, oldest first.
    cuts: Sequence[Mapping[str, Any]] = ()
    #: Records below these offsets came from a cluster that is gone: alias -> replica -> partition -> offset.
    unreplicated_below: Mapping[str, Mapping[str, Mapping[str, int]]] = field(default_factory=dict)
    #: Epoch of the run that moved the applications last; 0: none did.
    tenure: int = 0
    #: Partitions whose tail was replayed, with the topic id of the source: flow -> topic -> partition -> id.
    replays: Mapping[str, Mapping[str, Mapping[str, str]]] = field(default_factory=dict)

    @classmethod
    def toward(cls, state: JournalState, entered: str) -> JournalFacts:
        """From the state of the journal, for a move to the alias ``entered``."""
        return cls(
            own=OwnOffsets.of(state.left.get(entered)),
            topic_ids=state.topic_ids,
            offset_syncs_start=state.offset_syncs_start,
            checkpoints_start={
                flow: {topic: CheckpointsEnd(*end) for topic, end in ends.items()}
                for flow, ends in state.checkpoints_start.items()
            },
            cuts=state.cuts,
            unreplicated_below=state.unreplicated_below,
            tenure=state.tenure,
            replays=state.replays,
        )
