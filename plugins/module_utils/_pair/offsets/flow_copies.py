# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Translate offsets through one flow: read the records that this needs, of all partitions at the same time.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..._core.errors import DrError
from ..._core.journal.facts import JournalFacts
from ..._core.names import flow_name
from ..._core.offsets.fingerprints import carries_times, fingerprints
from ..._core.offsets.internal_records import OffsetSync
from ..._core.offsets.spans import LogBounds, Span, merged, span_forward, span_reverse, span_skips
from ..._core.offsets.tenures import Tenure
from ..._core.offsets.translation import Copy, Translated, Window, after_last_rewind, checkpoint, forward, reverse
from ..._core.resources.topic_ids import require_same
from ..._kafka.records import BLOCKED, EXHAUSTED, RangeRead, Reading, read_ranges
from ..._kafka.topics import describe
from ..connections.clusters import both
from ..observation.offset_syncs import Syncs, syncs_of
from ..observation.pair import ISOLATION, Pair, Partition

__all__ = ["FlowCopies"]

# Records to read before and after an offset, in rounds: runs of equal records need more than a few.
_WIDTHS = (16, 200, 2000)
# Reading this many records in between is faster than another round.
_GAP = 1000
# Timeout of one read.
_SECONDS = 60.0
Rule = Callable[[int, Copy], Translated]
_Ends = tuple[dict[Partition, tuple[int, int]], dict[Partition, tuple[int, int]]]


@dataclass(frozen=True)
class Limits:
    """Settings of a topic that limit what its records can prove."""

    #: Both topics are the journaled ones.
    same_topics: bool
    source_compacted: bool
    replica_compacted: bool


@dataclass
class FlowCopies:
    """Translations through the flow ``source`` -> ``target``."""

    pair: Pair
    source: str
    target: str
    #: N by source partition. It was read before the log ends are read here.
    last_replicated_offset: Mapping[Partition, int | None]
    #: Nothing is proven for a topic without a journaled id.
    journal: JournalFacts
    #: Use only the records of this tenure; None: all records.
    tenure: Tenure | None = None
    #: Records read so far.
    read: int = 0

    @property
    def records(self) -> int:
        """Return how many records and offset-syncs were read so far."""
        return self.read + (self._syncs.read if "_syncs" in self.__dict__ else 0)

    def forward(self, wanted: Mapping[Partition, Iterable[int]]) -> dict[tuple[Partition, int], Translated]:
        """Return offsets on the replica by (source partition, offset on the source).

        The result has no entry for a partition that is missing on either cluster.
        """
        return self._translate(wanted, span_forward, forward)

    def reverse(self, wanted: Mapping[Partition, Iterable[int]]) -> dict[tuple[Partition, int], Translated]:
        """Return offsets on the source by (source partition, offset on its replica). See ``forward``."""
        return self._translate(wanted, span_reverse, reverse)

    def checkpoint(self, key: Partition, commit: int) -> int | None:
        """Return MirrorMaker 2's own translation of ``commit`` to the replica; None: it has none."""
        return checkpoint(commit, self._usable.get(key, ()))

    # ---- topics and logs

    def replica(self, key: Partition) -> Partition:
        """Return the replica of a source partition."""
        return self.pair.naming.replica(self.source, key[0]), key[1]

    def _ends(self, topics: Collection[str]) -> _Ends:
        """Return the log ranges of source and replica.

        Reads the replica first, so that it does not show records after the source's range.
        """
        replica = self.pair.ranges(self.target, [self.replica((topic, 0))[0] for topic in topics])
        return self.pair.ranges(self.source, topics), replica

    @cached_property
    def _states(self) -> dict[str, dict[str, Any]]:
        """Topics of both clusters with their ``cleanup.policy``, by alias and name."""
        settings = ("cleanup.policy",)
        names = {
            self.source: list(self.pair.topics),
            self.target: [self.replica((topic, 0))[0] for topic in self.pair.topics],
        }
        source_states, target_states = both(
            lambda: _described(self.pair, self.source, names[self.source], settings),
            lambda: _described(self.pair, self.target, names[self.target], settings),
        )
        return {self.source: source_states, self.target: target_states}

    def check_topics(self) -> None:
        """Raise if a topic of the flow is no longer the journaled one."""
        for topic in self.pair.topics:
            self._identity(topic)

    def _identity(self, topic: str) -> bool:
        """Are both topics the journaled ones? False if no id is journaled; raises if an id differs."""
        known = True
        for alias, name in self._names(topic):
            journaled, state = self.journal.topic_ids.get(alias, {}).get(name), self._states[alias].get(name)
            known = known and journaled is not None
            if journaled is not None and state is not None:
                require_same(name, alias, state.topic_id, journaled)
        return known

    def _names(self, topic: str) -> tuple[tuple[str, str], tuple[str, str]]:
        return (self.source, topic), (self.target, self.replica((topic, 0))[0])

    def compacted(self, alias: str, topic: str) -> bool:
        """Is the topic on ``alias`` (the original, or its replica on the target) compacted? True if unknown."""
        state = self._states[alias].get(dict(self._names(topic))[alias])
        policy = None if state is None else _setting(state, "cleanup.policy")
        return policy is None or "compact" in policy

    def _limits(self, topic: str) -> Limits:
        compacted = [self.compacted(alias, topic) for alias in (self.source, self.target)]
        return Limits(self._identity(topic), compacted[0], compacted[1])

    @cached_property
    def _syncs(self) -> Syncs:
        start = self.journal.offset_syncs_start.get(flow_name(self.source, self.target), {})
        return syncs_of(self.pair, self.source, self.target, start)

    @cached_property
    def _usable(self) -> dict[Partition, list[OffsetSync]]:
        # Computed once for all groups: producers are stopped during a translation.
        return {key: after_last_rewind(syncs) for key, syncs in self._syncs.of.items()}

    def _bounds(self, key: Partition, ends: _Ends, rule: Rule) -> LogBounds:
        syncs = sorted(self._of_tenure(key), key=lambda sync: sync.downstream)
        logs = {self.source: ends[0][key], self.target: ends[1][self.replica(key)]}
        source, replica = (self._within(alias, key, log) for alias, log in logs.items())
        entered = self.target if rule is forward else self.source
        gone = 0 if self.tenure is None else self.tenure.gone_after(entered, key, logs, self.compacted(entered, key[0]))
        return LogBounds(source, replica, self.last_replicated_offset.get(key), syncs, gone)

    def _of_tenure(self, key: Partition) -> Iterable[OffsetSync]:
        syncs = self._syncs.of.get(key, ())
        if self.tenure is None:
            return syncs
        low, down = self.tenure.first(self.source, key), self.tenure.first(self.target, key)
        return (sync for sync in syncs if sync.upstream >= low and sync.downstream >= down)

    def _within(self, alias: str, key: Partition, log: tuple[int, int]) -> tuple[int, int]:
        """Return the part of a log that belongs to the tenure."""
        if self.tenure is None:
            return log
        low, high = max(log[0], self.tenure.first(alias, key)), log[1]
        if self.tenure.end is not None:
            high = min(high, self.tenure.end[alias].get(key, 0))
        return min(low, max(log[0], high)), max(log[0], high)

    # ---- reading and translating

    def _translate(
        self,
        requested: Mapping[Partition, Iterable[int]],
        span_of: Callable[[int, LogBounds, int], Span],
        rule: Rule,
    ) -> dict[tuple[Partition, int], Translated]:
        translations: dict[tuple[Partition, int], Translated] = {}
        remaining = {
            key: sorted(set(committed_offsets)) for key, committed_offsets in requested.items() if committed_offsets
        }
        if remaining:
            self._syncs.reach(
                lambda of: all(_covers(of.get(key, ()), offsets[0], rule) for key, offsets in remaining.items())
            )
        ends = self._ends({topic for topic, _index in remaining})
        remaining = {
            key: offsets for key, offsets in remaining.items() if key in ends[0] and self.replica(key) in ends[1]
        }
        bounds = {key: self._bounds(key, ends, rule) for key in remaining}
        for width in _WIDTHS:
            spans = {
                key: merged((span_of(offset, bounds[key], width) for offset in committed_offsets), _GAP)
                for key, committed_offsets in remaining.items()
            }
            self._try(spans, bounds, rule, translations)
            remaining = {
                key: [offset for offset in committed_offsets if not translations[key, offset].exact]
                for key, committed_offsets in remaining.items()
                if any(not translations[key, offset].exact for offset in committed_offsets)
            }
            if not remaining:
                break
        # Only offsets that may skip records need more reads, to count the skipped records (R30).
        unsure = {
            key: [offset for offset in committed_offsets if not translations[key, offset].skips.exact]
            for key, committed_offsets in remaining.items()
        }
        spans = {
            key: merged(
                (
                    span_skips(offset, translations[key, offset], bounds[key], rule is forward)
                    for offset in committed_offsets
                ),
                _GAP,
            )
            for key, committed_offsets in unsure.items()
        }
        self._try(spans, bounds, rule, translations)
        return translations

    def _try(
        self,
        spans: Mapping[Partition, Sequence[Span]],
        bounds: Mapping[Partition, LogBounds],
        rule: Rule,
        translations: dict[tuple[Partition, int], Translated],
    ) -> None:
        """Read these spans, and keep each translation that is better than the one before."""
        for key, span, copy in self._read(spans, bounds):
            for committed_offset in span.committed_offsets:
                new = rule(committed_offset, copy)
                old = translations.get((key, committed_offset))
                if old is None or _rank(new) < _rank(old):
                    translations[key, committed_offset] = new

    def _read(
        self, spans: Mapping[Partition, Sequence[Span]], bounds: Mapping[Partition, LogBounds]
    ) -> Iterable[tuple[Partition, Span, Copy]]:
        """Read the spans in rounds. A consumer reads one span of a partition at a time: round n reads span n."""
        rounds = max((len(partition_spans) for partition_spans in spans.values()), default=0)
        for number in range(rounds):
            round_spans = {
                key: partition_spans[number] for key, partition_spans in spans.items() if number < len(partition_spans)
            }
            source, replica = self._read_round(round_spans)
            for key, span in round_spans.items():
                yield key, span, self._copy(key, bounds[key], source[key], replica[self.replica(key)])

    def _read_round(
        self, spans: Mapping[Partition, Span]
    ) -> tuple[dict[Partition, RangeRead], dict[Partition, RangeRead]]:
        sources = {key: span.source for key, span in spans.items()}
        replicas = {self.replica(key): span.replica for key, span in spans.items()}
        return both(lambda: self._ranges(self.source, sources), lambda: self._ranges(self.target, replicas))

    def _ranges(self, alias: str, ranges: Mapping[Partition, tuple[int, int]]) -> dict[Partition, RangeRead]:
        reads = read_ranges(self.pair.kafka[alias], ranges, Reading(ISOLATION, timeout=_SECONDS))
        for (topic, partition), read in reads.items():
            self.read += len(read.records)
            if read.ended not in (EXHAUSTED, BLOCKED):
                raise DrError(
                    "not_readable",
                    f"{topic}-{partition} on {alias} could not be read from offset {read.start} to {read.end}:"
                    f" {read.ended}.",
                    "Without these records no offset can be proven. Nothing was committed. Check the partition, then"
                    " start the same playbook again.",
                )
        return reads

    def _copy(self, key: Partition, bounds: LogBounds, source: RangeRead, replica: RangeRead) -> Copy:
        limits = self._limits(key[0])
        digests = fingerprints(source.records, replica.records)
        low, high = replica.start, replica.reached
        near = [sync for sync in bounds.syncs if low <= sync.downstream < high or sync.upstream < bounds.source[0]]
        floor = [sync for sync in bounds.syncs if sync.downstream < bounds.replica[0]]
        return Copy(
            source=_window(source, digests[0]),
            replica=_window(replica, digests[1]),
            start=bounds.source[0],
            source_end=bounds.source[1],
            replica_start=bounds.replica[0],
            replica_end=bounds.replica[1],
            last_replicated_offset=bounds.last_replicated_offset,
            first=0 if self.tenure is None else self.tenure.first(self.source, key),
            replica_first=0 if self.tenure is None else self.tenure.first(self.target, key),
            source_compacted=limits.source_compacted,
            replica_compacted=limits.replica_compacted,
            timed=carries_times(source.records, replica.records),
            same_topics=limits.same_topics and (self.tenure is None or key not in self.tenure.unknown),
            syncs=[*near, *floor[-1:]],
            gone_after=bounds.gone_after,
            ended=self.tenure is not None and self.tenure.end is not None,
        )


def _rank(translated: Translated) -> tuple[float, int, int]:
    """Return a sort key, lower is better: fewer records that may be skipped, a narrower range, fewer re-reads."""
    skips = translated.skips
    return float("inf") if skips.at_most is None else skips.at_most, -skips.at_least, translated.rereads


def _covers(syncs: Sequence[OffsetSync], lowest: int, rule: Rule) -> bool:
    """Is an offset-sync at or before the offset ``lowest`` known? Older ones cannot make a translation more exact."""
    if rule is forward:
        return any(sync.upstream <= lowest for sync in syncs)
    return any(sync.downstream <= lowest for sync in syncs)


def _described(pair: Pair, alias: str, topics: Sequence[str], settings: Sequence[str]) -> dict[str, Any]:
    states = describe(pair.kafka[alias], topics, dict.fromkeys(topics, settings))
    return {name: state for name, state in states.items() if state is not None}


def _setting(state: Any, name: str) -> str | None:
    value = state.config.get(name)
    return None if value is None else value.value


def _window(read: RangeRead, fingerprints: Sequence[bytes]) -> Window:
    offsets = [record.offset for record in read.records]
    return Window(read.start, max(read.start, read.reached), offsets, fingerprints)
