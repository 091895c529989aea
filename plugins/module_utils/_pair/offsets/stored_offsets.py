# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The offsets on a surviving cluster that were stored earlier, compared with its logs as they are now (R37, R39).

Private to this collection: may change in any release.
"""

from __future__ import annotations

from dataclasses import replace

from ..._core.journal.facts import JournalFacts
from ..._core.offsets.bindings import UNBOUND
from ..._core.offsets.disaster import PresyncedOffset
from ..._core.offsets.tenures import bound_cuts
from ..._core.partition import Partition, Ranges
from ..observation.surviving_cluster import Survivor
from .bindings import bindings
from .presynced import Presynced

__all__ = ["StoredOffsets"]


class StoredOffsets:
    """Presynced offsets, and the groups' own offsets from when the applications last left the cluster.

    ``logs``: log start and end of every partition, as of now.
    """

    def __init__(self, survivor: Survivor, presynced: Presynced, journal: JournalFacts, logs: Ranges) -> None:
        self._survivor, self._presynced, self._own = survivor, presynced, journal.own
        stored = {bound for offsets in presynced.values() for _offset, bound in offsets.values()}
        keys = [key for key in logs if key.topic in survivor.topics]
        own = (self._own.bound_offset(group, key) for group in survivor.groups for key in keys)
        stored |= {bound for bound in own if bound is not None}
        cuts = bound_cuts(journal.cuts, survivor.y) if survivor.naming.starts_at_cut else []
        compacted = {
            topic for topic in survivor.states if "compact" in (survivor.setting(topic, "cleanup.policy") or "compact")
        }
        self._held = bindings(survivor.kafka, [*stored, *cuts], logs, compacted)
        #: Partitions that have other records than when an offset was stored for them.
        self.replaced = {bound.key for bound, held in self._held.items() if held.replaced}

    def of(self, group: str, key: Partition, is_original: bool) -> list[PresyncedOffset]:
        """Return what is stored of a group on one partition. Own offsets count on originals."""
        offsets = []
        if key in self._presynced.get(group, {}):
            presynced, bound = self._presynced[group][key]
            offsets.append(replace(presynced, binding=self._held.get(bound, UNBOUND)))
        offset = self._own.offset(group, key) if is_original else None
        if offset is not None:
            own = self._own.bound_offset(group, key)
            held = UNBOUND if own is None else self._held.get(own, UNBOUND)
            arrived = self._arrival(group, key)
            end = self._own.checkpoints
            newer = None if end is None else end.within(self._survivor.checkpoints_id)
            offsets.append(PresyncedOffset(offset, 0.0, arrived, newer, own=True, binding=held))
        return offsets

    def _arrival(self, group: str, key: Partition) -> int | None:
        """Return the committed offset on X with which the group left Y, or one after it; None: unknown."""
        survivor = self._survivor
        arrived = self._own.arrival(group, survivor.naming.replica_partition(survivor.y, key))
        if arrived is None and survivor.tenures:
            # All that the group may have read on Y is before the present tenure.
            return survivor.tenures[-1].first(survivor.x, key)
        return arrived
