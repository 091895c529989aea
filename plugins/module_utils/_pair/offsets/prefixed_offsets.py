# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Translate committed offsets with the default policy, to the replica ``X.T`` and the original ``T`` on Y.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._core.journal.facts import JournalFacts
from ..._core.offsets.bindings import UNBOUND, Binding, Bound
from ..._core.offsets.replication_gates import drained
from ..._core.offsets.target_offsets import OwnOffset, Side, TargetOffset, enter_original, enter_replica
from ..._core.offsets.translation import Translated
from ..._core.partition import Partition, PartitionOffset, by_topic
from ..._core.verdict import PROVEN
from ..._kafka.records import has_data
from ..connections.clusters import both
from ..observation.flows import FlowObservation
from ..observation.pair import ISOLATION
from .bindings import bindings
from .evidence import Evidence, row
from .skipped_ranges import CopiesWithSkippedRanges

__all__ = ["PrefixedOffsets"]

Wanted = dict[Partition, set[int]]
Found = Mapping[PartitionOffset, Translated]


class PrefixedOffsets:
    """Translates forward through X->Y and in reverse through Y->X, where the log ends do not decide (R7)."""

    def __init__(self, evidence: Evidence, back: FlowObservation, journal: JournalFacts) -> None:
        self._evidence, self._back = evidence, back
        self._own = journal.own
        self._unreplicated_below = journal.unreplicated_below.get(evidence.x, {})
        self._copies = tuple(
            CopiesWithSkippedRanges(evidence.pair, observation, journal) for observation in (evidence.forward, back)
        )
        self._left, self._there = by_topic(evidence.forward.facts), by_topic(back.facts)

    @property
    def records(self) -> int:
        """Return how many records were read."""
        return sum(copies.records for copies in self._copies)

    def rows(self) -> list[dict[str, Any]]:
        """Return a report row for each group, topic on Y and partition."""
        both(*(copies.check_topics for copies in self._copies))
        forward, mirrored = self._wanted()
        translated = both(lambda: self._copies[0].forward(forward), lambda: self._copies[1].reverse(mirrored))
        held = self._bindings(translated[1])
        return [row for group in self._evidence.pair.groups for row in self._of_group(group, *translated, held)]

    def _bindings(self, mirrored: Found) -> dict[PartitionOffset, Binding]:
        """Return whether the groups' own offsets still refer to the same records, where they may stand in (R37)."""
        evidence, stored = self._evidence, set[Bound]()
        for group, observation in evidence.x_groups.items():
            for key in _of(self._there, set(evidence.topics_of(group))):
                own, mirror = self._own.bound_offset(group, key), self._mirror(key)
                commit = observation.commits.get(mirror)
                translated = None if commit is None else mirrored.get((key, commit))
                decided = observation.read_to_end.get(mirror) and self._replicated_back(key)
                exact = translated is not None and translated.rereads == 0
                # Of records without a copy, it has read those before its own offset.
                lacking = translated is not None and bool(translated.missing)
                if own is not None and (lacking or not (decided or exact)):
                    stored.add(own)
        if not stored:
            return {}
        topics = {own.key.topic for own in stored}
        compacted = [topic for topic in topics if self._copies[1].compacted(evidence.y, topic)]
        held = bindings(evidence.pair.kafka[evidence.y], stored, evidence.y_ranges, compacted)
        return {(bound.key, bound.offset): binding for bound, binding in held.items()}

    def _mirror(self, key: Partition) -> Partition:
        return self._copies[1].replica(key)

    def _replicated_back(self, key: Partition) -> bool:
        return drained(self._back.facts[key]).verdict == PROVEN

    def _wanted(self) -> tuple[Wanted, Wanted]:
        evidence = self._evidence
        forward: Wanted = {}
        mirrored: Wanted = {}
        for group, observation in evidence.x_groups.items():
            topics = set(evidence.topics_of(group))
            for key in _of(self._left, topics):
                commit, facts = observation.commits.get(key), evidence.forward.facts[key]
                to_end = observation.read_to_end.get(key) and evidence.final(key)
                if commit is not None and not to_end and commit <= (facts.end or 0):
                    forward.setdefault(key, set()).add(commit)
            for key in _of(self._there, topics):
                commit = observation.commits.get(self._mirror(key))
                to_end = observation.read_to_end.get(self._mirror(key)) and self._replicated_back(key)
                if commit is not None and (not to_end or self._may_lack_copies(group, key)):
                    mirrored.setdefault(key, set()).add(commit)
        return forward, mirrored

    def _may_lack_copies(self, group: str, key: Partition) -> bool:
        """Has the group read a part of the original on Y only as copies on X, some of which may be missing (R36)?"""
        own, (start, end) = self._own.offset(group, key), self._evidence.y_ranges[key]
        return start < end and (own is None or own < end)

    def _unread(self, commits: Mapping[Partition, int], topics: set[str]) -> dict[Partition, TargetOffset]:
        """Return an unknown offset for each original on Y whose unread records only the replica on X holds.

        This happens after Y was replaced by a new cluster. No offset on Y would make the group read those records.
        """
        pair, x = self._evidence.pair, self._evidence.x
        mirrors = {self._mirror(key): key for key in _of(self._there, topics)}
        floors = {mirror: self._unreplicated_below.get(mirror[0], {}).get(str(mirror[1]), 0) for mirror in mirrors}
        below = [mirror for mirror, floor in floors.items() if commits.get(mirror, 0) < floor]
        if not below:
            return {}
        starts = pair.ranges(x, {topic for topic, _index in below})
        existing = [mirror for mirror in below if mirror in starts]
        spans = {mirror: (max(commits.get(mirror, 0), starts[mirror][0]), floors[mirror]) for mirror in existing}
        spans = {mirror: span for mirror, span in spans.items() if span[0] < span[1]}
        data = has_data(pair.kafka[x], spans, ISOLATION) if spans else {}
        target_offsets = {
            mirrors[mirror]: TargetOffset(None, "none", "none", None, f"{mirror} does not exist on {x}")
            for mirror in set(below) - set(existing)
        }
        for mirror, (start, floor) in spans.items():
            if data.get(mirror) is not False:
                reason = (
                    f"up to {floor - start} records of {mirror} before offset {floor} are unread and exist only"
                    f" on {x}: they came from a cluster that was replaced"
                )
                target_offsets[mirrors[mirror]] = TargetOffset(None, "unreplicated_records", "none", None, reason)
        return target_offsets

    def _of_group(
        self, group: str, forward: Found, mirrored: Found, held: Mapping[PartitionOffset, Binding]
    ) -> list[dict[str, Any]]:
        evidence = self._evidence
        observation, topics = evidence.x_groups[group], set(evidence.topics_of(group))
        unread = self._unread(observation.commits, topics)
        rows = []
        for key in _of(self._left, topics):
            left, replica = evidence.left(group, key), self._copies[0].replica(key)
            translated = None if left.commit is None else forward.get((key, left.commit))
            target_offset = enter_replica(left, evidence.entered(group, replica), evidence.final(key), translated)
            target_offset = evidence.known_replicated(key, left.commit, target_offset, translated)
            mm2 = None if translated is None or left.commit is None else self._copies[0].checkpoint(key, left.commit)
            rows.append(row(evidence, group, replica, target_offset, left.commit, mm2))
        for key in _of(self._there, topics):
            start, end = evidence.y_ranges[key]
            offset = self._own.offset(group, key)
            arrived = self._own.arrival(group, self._mirror(key))
            own = None if offset is None else OwnOffset(offset, arrived, held.get((key, offset), UNBOUND))
            left = Side(
                observation.commits.get(self._mirror(key)), start, end, observation.read_to_end.get(self._mirror(key))
            )
            # Records that another producer wrote since the flow was observed are not known to be replicated.
            last_replicated_offset = self._replicated_back(key) and self._back.facts[key].end == end
            translated = None if left.commit is None else mirrored.get((key, left.commit))
            to_end = left.read_to_end and last_replicated_offset
            compacted = not to_end and start < end and self._copies[1].compacted(evidence.y, key.topic)
            original = Side(None, start, end, compacted=compacted)
            # MirrorMaker 2 does not translate in this direction.
            target_offset = enter_original(left, original, last_replicated_offset, translated, own)
            target_offset = unread.get(key, target_offset)
            rows.append(row(evidence, group, key, target_offset, left.commit, own=offset))
        return rows


def _of(index: Mapping[str, list[Partition]], topics: set[str]) -> list[Partition]:
    return [key for topic in sorted(topics) for key in index.get(topic, ())]
