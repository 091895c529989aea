# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Translate committed offsets with the policy identity: topic ``T`` on both clusters, and cuts between tenures.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._core.journal.facts import JournalFacts
from ..._core.offsets.target_offsets import TargetOffset, enter_same
from ..._core.offsets.tenures import Tenure, TenurePlace, bound_cuts, locate, tenures
from ..._core.offsets.translation import Translated
from ..._core.partition import Partition, PartitionOffset, Ranges, by_topic
from ..connections.clusters import both
from .bindings import bindings
from .evidence import Evidence, row
from .flow_copies import FlowCopies
from .flow_topics import FlowTopics

__all__ = ["IdentityOffsets"]


class IdentityOffsets:
    """Maps an offset at a cut to the same cut on the other cluster; translates others through their tenure (R22)."""

    def __init__(self, evidence: Evidence, journal: JournalFacts) -> None:
        self._evidence = evidence
        self._tenures = tenures(journal.cuts, evidence.x, evidence.y)
        self._journal = journal
        self._index = by_topic(evidence.forward.facts)
        self._moved: dict[Partition, str] = {}
        self._copies = {index: self._of_tenure(tenure) for index, tenure in enumerate(self._tenures)}

    @property
    def records(self) -> int:
        """Return how many records were read."""
        return sum(copies.records for copies in self._copies.values())

    def _of_tenure(self, tenure: Tenure) -> FlowCopies:
        """Return the translation of one tenure.

        A tenure that has ended is replicated up to its cut. In the present one, the flow's N counts. If the worker of
        an ended one died and its end was not found, the cut is a lower bound like N (R45).
        """
        facts = self._evidence.forward.facts
        last_replicated_offset: dict[Partition, int | None] = (
            {key: partition_facts.last_replicated_offset for key, partition_facts in facts.items()}
            if tenure.end is None
            else {key: tenure.replicated(key) - 1 for key in facts}
        )
        topics = FlowTopics(self._evidence.pair, tenure.source, tenure.target, self._journal)
        return FlowCopies(topics, last_replicated_offset, tenure)

    def rows(self) -> list[dict[str, Any]]:
        """Return a report row for each group and partition."""
        evidence = self._evidence
        self._copies[len(self._tenures) - 1].topics.check()
        x, y = self._evidence.x, self._evidence.y
        logs = {
            key: (facts.start, facts.end)
            for key, facts in self._evidence.forward.facts.items()
            if facts.start is not None and facts.end is not None
        }
        for moved in both(lambda: self._moved_cuts(x, logs), lambda: self._moved_cuts(y, self._evidence.y_ranges)):
            self._moved.update(moved)
        placed = [(key, *self._place(group, key)) for group in evidence.pair.groups for key in self._keys(group)]
        for index, copies in self._copies.items():
            at_cut = {key[0] for key, _commit, place in placed if place.tenure == index and place.other is not None}
            copies.topics.read_settings(at_cut)
        offsets_by_tenure: dict[int, dict[Partition, set[int]]] = {}
        for key, commit, place in placed:
            if commit is not None and place.tenure is not None:
                offsets_by_tenure.setdefault(place.tenure, {}).setdefault(key, set()).add(commit)
                for index, first in self._later(place.tenure, key):
                    offsets_by_tenure.setdefault(index, {}).setdefault(key, set()).add(first)
        translated = {
            (index, *key): result
            for index, keys in offsets_by_tenure.items()
            for key, result in self._through(index, keys).items()
        }
        return [self._row(group, key, translated) for group in evidence.pair.groups for key in self._keys(group)]

    def _moved_cuts(self, alias: str, logs: Ranges) -> dict[Partition, str]:
        """Describe the partitions on ``alias`` that have other records before the newest cut than at its move (R37)."""
        kafka, cuts = self._evidence.pair.kafka[alias], bound_cuts(self._journal.cuts, alias)
        topics = self._copies[len(self._tenures) - 1].topics
        suspects = {cut for cut, held in bindings(kafka, cuts, logs).items() if held.replaced}
        compacted = {cut.key.topic for cut in suspects if topics.compacted(alias, cut.key.topic)}
        again = bindings(kafka, [cut for cut in suspects if cut.key.topic in compacted], logs, compacted)
        moved = suspects - {cut for cut, held in again.items() if not held.replaced}
        return {
            cut.key: f"{cut.key} on {alias} was cut and filled again before offset {cut.offset}, where an earlier move"
            " began, so offsets of the two clusters cannot be compared"
            for cut in moved
        }

    def _keys(self, group: str) -> list[Partition]:
        topics = sorted(set(self._evidence.topics_of(group)))
        return [key for topic in topics for key in self._index.get(topic, ())]

    def _place(self, group: str, key: Partition) -> tuple[int | None, TenurePlace]:
        """Return the group's committed offset on X and its tenure. None: there is nothing to translate."""
        left = self._evidence.left(group, key)
        if left.commit is None or left.commit > (left.end or 0) or (left.read_to_end and self._evidence.final(key)):
            return None, TenurePlace(None)
        return left.commit, locate(self._tenures, self._evidence.x, key, left.commit)

    def _later(self, tenure: int, key: Partition) -> list[tuple[int, int]]:
        """Return the later tenures in which X was the source, each with its first offset: all records are unread."""
        x = self._evidence.x
        later = enumerate(self._tenures[tenure + 1 :], tenure + 1)
        return [(index, one.first(x, key)) for index, one in later if one.source == x]

    def _through(self, index: int, offsets: Mapping[Partition, set[int]]) -> dict[PartitionOffset, Translated]:
        copies = self._copies[index]
        return copies.forward(offsets) if copies.topics.source == self._evidence.x else copies.reverse(offsets)

    def _row(
        self, group: str, key: Partition, translated: Mapping[tuple[int, Partition, int], Translated]
    ) -> dict[str, Any]:
        committed_offset, mm2 = self._committed_offset(group, key, translated)
        # An inexact offset may be too low, so it does not show that the group was set back.
        own = self._journal.own.offset(group, key) if committed_offset.quality == "exact" else None
        return row(self._evidence, group, key, committed_offset, self._evidence.left(group, key).commit, mm2, own)

    def _committed_offset(
        self, group: str, key: Partition, translated: Mapping[tuple[int, Partition, int], Translated]
    ) -> tuple[TargetOffset, int | None]:
        evidence = self._evidence
        left, entered = evidence.left(group, key), evidence.entered(group, key)
        commit, place = self._place(group, key)
        own_translation = (
            None if commit is None or place.tenure is None else translated.get((place.tenure, key, commit))
        )
        if own_translation is not None and place.tenure is not None:
            later = (translated.get((index, key, first)) for index, first in self._later(place.tenure, key))
            own_translation = own_translation.lacking(ranges for one in later if one for ranges in one.missing)
        committed_offset = enter_same(
            left, entered, evidence.final(key), place, own_translation, self._at_least(place, key)
        )
        if key in self._moved and committed_offset.method not in ("end", "empty"):
            return TargetOffset(None, "none", "none", None, self._moved[key]), None
        if own_translation is None or commit is None or place.tenure is None or place.other is not None:
            return committed_offset, None
        copies = self._copies[place.tenure]
        if self._tenures[place.tenure].end is None:
            committed_offset = evidence.known_replicated(key, commit, committed_offset, own_translation)
        # MirrorMaker 2 translates only from the cluster where the applications live.
        return committed_offset, copies.checkpoint(key, commit) if copies.topics.source == evidence.x else None

    def _at_least(self, place: TenurePlace, key: Partition) -> int | None:
        """Return the lower bound of the end of an offset's tenure on X, if that is all that is known (R45)."""
        if place.tenure is None or self._tenures[place.tenure].source != self._evidence.x:
            return None
        return self._tenures[place.tenure].at_least.get(key)
