# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Translate offsets through a flow of the default policy, around the ranges that the flow skipped after a replay.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

from ..._core.journal.facts import JournalFacts
from ..._core.names import flow_name
from ..._core.offsets.bindings import UNBOUND, Bound
from ..._core.offsets.skipped_ranges import SkippedRange, at_skipped_range, read_again, segment, segments, usable
from ..._core.offsets.tails import Progress
from ..._core.offsets.tenures import flat
from ..._core.offsets.translation import Translated
from ..._core.partition import Partition, PartitionOffset
from ..._kafka.latest import read_latest
from ..._kafka.topics import describe
from ..observation.flows import FlowObservation
from ..observation.pair import Pair
from .bindings import bindings
from .flow_copies import FlowCopies
from .flow_topics import FlowTopics

__all__ = ["CopiesWithSkippedRanges", "replays"]

Wanted = Mapping[Partition, set[int]]
Found = dict[PartitionOffset, Translated]


def replays(pair: Pair, source: str, target: str, topic: str) -> list[Progress]:
    """Return the replays of tails of ``source``, for topics with unchanged ids. Empty without the state topic."""
    state = read_latest(pair.kafka[target], topic) or {}
    progress = [
        Progress.of(replay)
        for replay in state.values()
        if replay.get("kind") == "salvage" and replay["source"] == source
    ]
    if not progress:
        return []
    topics = describe(pair.kafka[source], sorted({replay.topic for replay in progress}))
    ids = {name: topic_state.topic_id for name, topic_state in topics.items() if topic_state is not None}
    return [replay for replay in progress if replay.topic_id == ids.get(replay.topic)]


class CopiesWithSkippedRanges:
    """Like :class:`FlowCopies`, around the ranges that the flow skips because their records were replayed."""

    def __init__(self, pair: Pair, observation: FlowObservation, journal: JournalFacts) -> None:
        self._pair, self._observation, self._journal = pair, observation, journal

    def forward(self, wanted: Wanted) -> Found:
        """Return offsets on the replica by (source partition, offset on the source)."""
        return self._translate(wanted, True)

    def reverse(self, wanted: Wanted) -> Found:
        """Return offsets on the source by (source partition, offset on its replica)."""
        return self._translate(wanted, False)

    @property
    def records(self) -> int:
        """Return how many records and offset-syncs were read so far."""
        return sum(copies.records for copies in self._segments)

    def replica(self, key: Partition) -> Partition:
        """Return the replica of a source partition."""
        return self._pair.naming.replica_partition(self._observation.source, key)

    def compacted(self, alias: str, topic: str) -> bool:
        """Is the topic on ``alias`` (the original, or its replica on the target) compacted? True if unknown."""
        return self._segments[-1].topics.compacted(alias, topic)

    def check_topics(self) -> None:
        """Raise if a topic of the flow is no longer the journaled one."""
        self._segments[-1].topics.check()

    def checkpoint(self, key: Partition, commit: int) -> int | None:
        """Return MirrorMaker 2's own translation of ``commit`` to the replica; None: it has none."""
        return self._segments[-1].checkpoint(key, commit)

    @cached_property
    def _noted(self) -> dict[Partition, tuple[SkippedRange, ...] | None]:
        """Return the skipped ranges by source partition; None: unknown, or no longer true."""
        ranges: dict[Partition, tuple[SkippedRange, ...] | None] = {}
        facts, pair, target = self._observation.facts, self._pair, self._observation.target
        progress = replays(pair, self._observation.source, target, pair.spec.state_topic)
        names = {replay.topic: pair.naming.replica(self._observation.source, replay.topic) for replay in progress}
        states = describe(pair.kafka[target], sorted(names.values())) if names else {}
        moved = self._moved(progress)
        for replay in progress:
            key, state = Partition(replay.topic, replay.partition), states[names[replay.topic]]
            last_replicated_offset = facts[key].last_replicated_offset if key in facts else None
            is_current = not replay.skipped_ranges or (state is not None and state.topic_id == replay.replica_id)
            # If two pairs replayed the same partition, neither knows the other's ranges.
            ranges[key] = (
                replay.skipped_ranges
                if key not in ranges
                and key not in moved
                and is_current
                and usable(replay.skipped_ranges, last_replicated_offset)
                else None
            )
        # The journal knows that these partitions were replayed: without the state topic, their ranges are unknown.
        source = self._observation.source
        replayed = flat(self._journal.replays.get(flow_name(source, target), {}))
        for key, topic_id in replayed.items():
            if key not in ranges and self._journal.topic_ids.get(source, {}).get(key.topic, topic_id) == topic_id:
                ranges[key] = None
        return ranges

    def _moved(self, progress: Iterable[Progress]) -> set[Partition]:
        """Return the source partitions whose ranges do not fit the logs any more, on the source or the replica (R37).

        If the records before a range have expired or were compacted, no other record can be mistaken for them.
        """
        observation, moved = self._observation, set[Partition]()
        places: dict[str, dict[Partition, Bound]] = {observation.source: {}, observation.target: {}}
        for replay in progress:
            key = Partition(replay.topic, replay.partition)
            if replay.skipped_ranges:
                newest, replica = replay.skipped_ranges[-1], self.replica(key)
                places[observation.source][key] = Bound(key, newest.end, replay.source_bound)
                places[observation.target][key] = Bound(replica, newest.replica_at, replay.replica_bound)
        topics = FlowTopics(self._pair, observation.source, observation.target, self._journal)
        for alias, bounds in places.items():
            if bounds:
                compacted = {bound.key.topic for key, bound in bounds.items() if topics.compacted(alias, key.topic)}
                logs = self._pair.ranges(alias, {bound.key.topic for bound in bounds.values()})
                held = bindings(self._pair.kafka[alias], bounds.values(), logs, compacted)
                for key, bound in bounds.items():
                    binding = held.get(bound, UNBOUND)
                    expired = bound.key.topic in compacted and not binding.replaced
                    moved |= set() if binding.holds or expired else {key}
        return moved

    @cached_property
    def _skipped_ranges(self) -> dict[Partition, tuple[SkippedRange, ...]]:
        return {key: skipped_ranges for key, skipped_ranges in self._noted.items() if skipped_ranges}

    @cached_property
    def _segments(self) -> list[FlowCopies]:
        observation = self._observation
        unknown = frozenset(key for key, skipped_ranges in self._noted.items() if skipped_ranges is None)
        made = []
        for tenure in segments(self._skipped_ranges, unknown, observation.source, observation.target):
            last_replicated_offset: dict[Partition, int | None] = (
                {key: facts.last_replicated_offset for key, facts in observation.facts.items()}
                if tenure.end is None
                else {key: end - 1 for key, end in tenure.end[observation.source].items()}
            )
            topics = FlowTopics(self._pair, observation.source, observation.target, self._journal)
            made.append(FlowCopies(topics, last_replicated_offset, tenure))
        return made

    def _translate(self, wanted: Wanted, upstream: bool) -> Found:
        translations: Found = {}
        by_segment: dict[int, dict[Partition, set[int]]] = {}
        entered = self._observation.target if upstream else self._observation.source
        self._segments[-1].topics.read_settings({key.topic for key in wanted if key in self._skipped_ranges})
        for key, commits in wanted.items():
            skipped_ranges = self._skipped_ranges.get(key, ())
            compacted = bool(skipped_ranges) and self._segments[-1].topics.compacted(entered, key[0])
            for commit in commits:
                translated = at_skipped_range(skipped_ranges, commit, upstream, compacted)
                if translated is None:
                    number = segment(skipped_ranges, commit, upstream)
                    by_segment.setdefault(number, {}).setdefault(key, set()).add(commit)
                else:
                    translations[key, commit] = translated
        for number, offsets in by_segment.items():
            copies = self._segments[number - 1]
            translations.update(copies.forward(offsets) if upstream else copies.reverse(offsets))
        if upstream:
            return translations
        return {
            (key, offset): read_again(self._skipped_ranges.get(key, ()), offset, result)
            for (key, offset), result in translations.items()
        }
