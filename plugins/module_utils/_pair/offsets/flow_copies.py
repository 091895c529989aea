# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads of one flow what translating positions needs, all partitions at once, and no more than needed.

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
from ..._core.offsets.spans import Bounds, Span, merged, span_forward, span_reverse, span_skips
from ..._core.offsets.tenures import Tenure
from ..._core.offsets.translation import Copy, Translated, Window, after_last_rewind, checkpoint, forward, reverse
from ..._core.resources.topic_ids import require_same
from ..._kafka.records import BLOCKED, EXHAUSTED, RangeRead, Reading, read_ranges
from ..._kafka.topics import describe
from ..connections.clusters import both
from ..observation.offset_syncs import Syncs, syncs_of
from ..observation.pair import ISOLATION, Pair, Partition

__all__ = ["FlowCopies"]

# Records on either side of a position: few are enough where records differ; more for runs of equal ones.
_WIDTHS = (16, 200, 2000)
# Reading so many records through takes less than another round.
_GAP = 1000
_SECONDS = 60.0
Rule = Callable[[int, Copy], Translated]
_Ends = tuple[dict[Partition, tuple[int, int]], dict[Partition, tuple[int, int]]]


@dataclass(frozen=True)
class Limits:
    """What a topic's settings leave of the proof."""

    same_topics: bool
    source_compacted: bool
    replica_compacted: bool


@dataclass
class FlowCopies:
    """Translations through the flow ``source`` -> ``target``. ``copied``: N, read before the log ends read here.

    ``journal``: nothing is proven of a topic without a journaled id. ``tenure``: only what was copied in it.
    """

    pair: Pair
    source: str
    target: str
    last_replicated_offset: Mapping[Partition, int | None]
    journal: JournalFacts
    tenure: Tenure | None = None
    read: int = 0

    @property
    def records(self) -> int:
        """Records and offset-syncs read so far."""
        return self.read + (self._syncs.read if "_syncs" in self.__dict__ else 0)

    def forward(self, wanted: Mapping[Partition, Iterable[int]]) -> dict[tuple[Partition, int], Translated]:
        """Positions on the replica by (source partition, position on it); none where either partition is missing."""
        return self._translate(wanted, span_forward, forward)

    def reverse(self, wanted: Mapping[Partition, Iterable[int]]) -> dict[tuple[Partition, int], Translated]:
        """Positions on the source by (source partition, position on its replica); as for ``forward``."""
        return self._translate(wanted, span_reverse, reverse)

    def checkpoint(self, key: Partition, commit: int) -> int | None:
        """Where MirrorMaker 2's own checkpoint would put ``commit`` on the replica; None: nowhere."""
        return checkpoint(commit, self._usable.get(key, ()))

    # ---- what is known of the topics

    def replica(self, key: Partition) -> Partition:
        """The replica of a source partition."""
        return self.pair.naming.replica(self.source, key[0]), key[1]

    def _ends(self, topics: Collection[str]) -> _Ends:
        """Log ranges of source and replica. The replica's first: it shows nothing that the source does not."""
        replica = self.pair.ranges(self.target, [self.replica((topic, 0))[0] for topic in topics])
        return self.pair.ranges(self.source, topics), replica

    @cached_property
    def _states(self) -> dict[str, dict[str, Any]]:
        """Topics of both sides with the setting that matters, by alias and name."""
        settings = ("cleanup.policy",)
        sides = {
            self.source: list(self.pair.topics),
            self.target: [self.replica((topic, 0))[0] for topic in self.pair.topics],
        }
        left, right = both(
            lambda: _described(self.pair, self.source, sides[self.source], settings),
            lambda: _described(self.pair, self.target, sides[self.target], settings),
        )
        return {self.source: left, self.target: right}

    def check_topics(self) -> None:
        """Raise where a topic of the flow is no longer the one that was journaled."""
        for topic in self.pair.topics:
            self._identity(topic)

    def _identity(self, topic: str) -> bool:
        """Both topics are the journaled ones; False where no id is journaled."""
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
        """Is the topic (source) or its replica (target) compacted, or not known not to be?"""
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
        # Once, not for each group: producers stand still meanwhile.
        return {key: after_last_rewind(syncs) for key, syncs in self._syncs.of.items()}

    def _bounds(self, key: Partition, ends: _Ends, rule: Rule) -> Bounds:
        syncs = sorted(self._of_tenure(key), key=lambda sync: sync.downstream)
        logs = {self.source: ends[0][key], self.target: ends[1][self.replica(key)]}
        source, replica = (self._within(alias, key, log) for alias, log in logs.items())
        entered = self.target if rule is forward else self.source
        gone = 0 if self.tenure is None else self.tenure.gone_after(entered, key, logs, self.compacted(entered, key[0]))
        return Bounds(source, replica, self.last_replicated_offset.get(key), syncs, gone)

    def _of_tenure(self, key: Partition) -> Iterable[OffsetSync]:
        syncs = self._syncs.of.get(key, ())
        if self.tenure is None:
            return syncs
        low, down = self.tenure.first(self.source, key), self.tenure.first(self.target, key)
        return (sync for sync in syncs if sync.upstream >= low and sync.downstream >= down)

    def _within(self, alias: str, key: Partition, log: tuple[int, int]) -> tuple[int, int]:
        """The part of a log that belongs to the tenure."""
        if self.tenure is None:
            return log
        low, high = max(log[0], self.tenure.first(alias, key)), log[1]
        if self.tenure.end is not None:
            high = min(high, self.tenure.end[alias].get(key, 0))
        return min(low, max(log[0], high)), max(log[0], high)

    # ---- reading and translating

    def _translate(
        self,
        wanted: Mapping[Partition, Iterable[int]],
        span_of: Callable[[int, Bounds, int], Span],
        rule: Rule,
    ) -> dict[tuple[Partition, int], Translated]:
        found: dict[tuple[Partition, int], Translated] = {}
        left = {key: sorted(set(committed_offsets)) for key, committed_offsets in wanted.items() if committed_offsets}
        if left:
            self._syncs.reach(lambda of: all(_covers(of.get(key, ()), at[0], rule) for key, at in left.items()))
        ends = self._ends({topic for topic, _index in left})
        left = {key: at for key, at in left.items() if key in ends[0] and self.replica(key) in ends[1]}
        bounds = {key: self._bounds(key, ends, rule) for key in left}
        for width in _WIDTHS:
            spans = {
                key: merged((span_of(at, bounds[key], width) for at in committed_offsets), _GAP)
                for key, committed_offsets in left.items()
            }
            self._try(spans, bounds, rule, found)
            left = {
                key: [at for at in committed_offsets if not found[key, at].exact]
                for key, committed_offsets in left.items()
                if any(not found[key, at].exact for at in committed_offsets)
            }
            if not left:
                break
        # Of positions that may skip, how many records: more is read only here (R30).
        unsure = {
            key: [at for at in committed_offsets if not found[key, at].skips.exact]
            for key, committed_offsets in left.items()
        }
        spans = {
            key: merged(
                (span_skips(at, found[key, at], bounds[key], rule is forward) for at in committed_offsets), _GAP
            )
            for key, committed_offsets in unsure.items()
        }
        self._try(spans, bounds, rule, found)
        return found

    def _try(
        self,
        spans: Mapping[Partition, Sequence[Span]],
        bounds: Mapping[Partition, Bounds],
        rule: Rule,
        found: dict[tuple[Partition, int], Translated],
    ) -> None:
        """Read these spans and keep what is better than what was found before."""
        for key, span, copy in self._read(spans, bounds):
            for committed_offset in span.committed_offsets:
                new = rule(committed_offset, copy)
                old = found.get((key, committed_offset))
                if old is None or _rank(new) < _rank(old):
                    found[key, committed_offset] = new

    def _read(
        self, spans: Mapping[Partition, Sequence[Span]], bounds: Mapping[Partition, Bounds]
    ) -> Iterable[tuple[Partition, Span, Copy]]:
        """A consumer is at one place of a partition at a time: the n-th span of every partition is one round."""
        rounds = max((len(of_one) for of_one in spans.values()), default=0)
        for number in range(rounds):
            now = {key: of_one[number] for key, of_one in spans.items() if number < len(of_one)}
            source, replica = self._read_round(now)
            for key, span in now.items():
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
                    f"{topic}-{partition} on {alias} could not be read from {read.start} to {read.end}: {read.ended}.",
                    "Without the records no position can be proven. Nothing was committed.",
                )
        return reads

    def _copy(self, key: Partition, bounds: Bounds, source: RangeRead, replica: RangeRead) -> Copy:
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


def _rank(found: Translated) -> tuple[float, int, int]:
    """Lower is better: fewer records that may be skipped, then a narrower range of them, then fewer re-reads."""
    skips = found.skips
    return float("inf") if skips.at_most is None else skips.at_most, -skips.at_least, found.rereads


def _covers(syncs: Sequence[OffsetSync], lowest: int, rule: Rule) -> bool:
    """Is an offset-sync at or below the lowest position known? Older ones could not make it more exact."""
    if rule is forward:
        return any(sync.upstream <= lowest for sync in syncs)
    return any(sync.downstream <= lowest for sync in syncs)


def _described(pair: Pair, alias: str, topics: Sequence[str], settings: Sequence[str]) -> dict[str, Any]:
    found = describe(pair.kafka[alias], topics, dict.fromkeys(topics, settings))
    return {name: state for name, state in found.items() if state is not None}


def _setting(state: Any, name: str) -> str | None:
    value = state.config.get(name)
    return None if value is None else value.value


def _window(read: RangeRead, fingerprints: Sequence[bytes]) -> Window:
    offsets = [record.offset for record in read.records]
    return Window(read.start, max(read.start, read.reached), offsets, fingerprints)
