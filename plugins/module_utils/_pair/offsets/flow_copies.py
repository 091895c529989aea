# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Translate offsets through one flow: read the records that this needs, of all partitions at the same time.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from ..._core.offsets.fingerprints import carries_times, fingerprints
from ..._core.offsets.internal_records import OffsetSync
from ..._core.offsets.missing_copies import Copy, kept_from
from ..._core.offsets.read_copies import Window
from ..._core.offsets.skipped_records import Skips
from ..._core.offsets.spans import LogBounds, Span, merged, span_forward, span_reverse, span_skips
from ..._core.offsets.tenures import Tenure
from ..._core.offsets.translation import Translated, better, checkpoint, forward, reverse
from ..._core.partition import Partition, PartitionOffset
from ..._kafka.records import RangeRead
from ..connections.clusters import both
from .flow_topics import FlowTopics, Logs
from .span_reader import SpanReader

__all__ = ["FlowCopies"]

# Records to read before and after an offset, in rounds: runs of equal records need more than a few.
_WIDTHS = (16, 200, 2000)
# Reading this many records in between is faster than another round.
_GAP = 1000
# Most records that are compared to look for missing copies. The reader keeps about 400 bytes of each.
_COMPARED = 1_000_000
Rule = Callable[[int, Copy], Translated]
Translations = dict[PartitionOffset, Translated]


class FlowCopies:
    """Translations through the flow of ``topics``.

    ``last_replicated_offset`` is N by source partition, read before the log ends are read here. Only records of
    ``tenure`` are used.
    """

    def __init__(
        self, topics: FlowTopics, last_replicated_offset: Mapping[Partition, int | None], tenure: Tenure
    ) -> None:
        self.topics, self._last_replicated_offset, self._tenure = topics, last_replicated_offset, tenure
        self._reader = SpanReader(topics)

    @property
    def records(self) -> int:
        """Return how many records and offset-syncs were read so far."""
        return self._reader.records + self.topics.syncs_read

    def forward(self, wanted: Mapping[Partition, Iterable[int]]) -> Translations:
        """Return offsets on the replica by (source partition, offset on the source).

        The result has no entry for a partition that is missing on either cluster.
        """
        return self._translate(wanted, span_forward, forward)

    def reverse(self, wanted: Mapping[Partition, Iterable[int]]) -> Translations:
        """Return offsets on the source by (source partition, offset on its replica). See ``forward``."""
        return self._translate(wanted, span_reverse, reverse)

    def checkpoint(self, key: Partition, commit: int) -> int | None:
        """Return MirrorMaker 2's own translation of ``commit`` to the replica; None: it has none."""
        return checkpoint(commit, self.topics.usable_syncs.get(key, ()))

    def _translate(
        self,
        requested: Mapping[Partition, Iterable[int]],
        span_of: Callable[[int, LogBounds, int], Span],
        rule: Rule,
    ) -> Translations:
        translations: Translations = {}
        remaining = {key: sorted(set(offsets)) for key, offsets in requested.items() if offsets}
        if remaining:
            self.topics.syncs.reach(
                lambda of: all(_covers(of.get(key, ()), offsets[0], rule) for key, offsets in remaining.items())
            )
        topics = {key.topic for key in remaining}
        # Every translation asks whether the topics are compacted.
        logs, _none = both(lambda: self.topics.logs(topics), lambda: self.topics.read_settings(topics))
        source_logs, replica_logs = logs
        remaining = {
            key: offsets
            for key, offsets in remaining.items()
            if key in source_logs and self.topics.replica(key) in replica_logs
        }
        bounds = {key: self._bounds(key, logs, rule) for key in remaining}
        for width in _WIDTHS:
            spans = {
                key: merged((span_of(offset, bounds[key], width) for offset in offsets), _GAP)
                for key, offsets in remaining.items()
            }
            self._try(spans, bounds, rule, translations)
            remaining = _those(remaining, lambda key, offset: not _is_clear(translations[key, offset]))
            if not remaining:
                break
        # Only offsets that may skip records need more reads, to count the skipped records (R30, R36).
        asked = {key: sorted(set(requested[key])) for key in bounds}
        doubtful = _those(asked, lambda key, offset: _is_doubtful(translations[key, offset]))
        spans = {
            key: merged(
                (span_skips(offset, translations[key, offset], bounds[key], rule is forward) for offset in offsets),
                _GAP,
            )
            for key, offsets in doubtful.items()
        }
        if _size(spans) > _COMPARED:
            # Too many to keep. What was not seen is counted; only what is certainly gone is compared.
            gone = _those(doubtful, lambda key, offset: not translations[key, offset].skips.exact)
            spans = {key: of_key for key, of_key in spans.items() if key in gone}
        self._try(spans, bounds, rule, translations)
        self._count_unseen(doubtful, bounds, translations)
        return translations

    def _count_unseen(
        self,
        offsets: Mapping[Partition, Sequence[int]],
        bounds: Mapping[Partition, LogBounds],
        translations: Translations,
    ) -> None:
        """Count the unread records on both clusters where there are too many to compare them (R36).

        In rounds, with one offset of each partition: a consumer reads one part of a partition at a time.
        """
        unseen = _those(offsets, lambda key, offset: translations[key, offset].unseen > 0)
        for number in range(max((len(of_key) for of_key in unseen.values()), default=0)):
            now = {key: of_key[number] for key, of_key in unseen.items() if number < len(of_key)}
            translations.update(self._count_round({place: translations[place] for place in now.items()}, bounds))

    def _count_round(self, unseen: Translations, bounds: Mapping[Partition, LogBounds]) -> Translations:
        unread, copies = {}, {}
        for (key, _commit), translated in unseen.items():
            end = (bounds[key].last_replicated_offset or 0) + 1
            unread[key] = end - translated.unseen, min(end, bounds[key].source[1])
            copies[self.topics.replica(key)] = translated.offset, bounds[key].replica[1]
        found = self._reader.count(self.topics.target, copies)
        # Every offset of the source may be a record.
        records = {key: high - low for key, (low, high) in unread.items()}
        short = {key: unread[key] for key, count in records.items() if found[self.topics.replica(key)] < count}
        records |= self._reader.count(self.topics.source, short)
        counted: Translations = {}
        for place, translated in unseen.items():
            lacking = max(0, records[place[0]] - found[self.topics.replica(place[0])])
            skips = translated.skips.plus(Skips(lacking, records[place[0]] if lacking else 0))
            counted[place] = replace(translated, unseen=0, skips=skips)
        return counted

    def _try(
        self,
        spans: Mapping[Partition, Sequence[Span]],
        bounds: Mapping[Partition, LogBounds],
        rule: Rule,
        translations: Translations,
    ) -> None:
        """Read these spans, and keep each translation that is better than the one before."""
        for key, span, source, replica in self._reader.read(spans):
            copy = self._copy(key, bounds[key], source, replica)
            for committed_offset in span.committed_offsets:
                place, new = (key, committed_offset), rule(committed_offset, copy)
                translations[place] = better(translations.get(place), new, rule is forward)

    def _bounds(self, key: Partition, logs: tuple[Logs, Logs], rule: Rule) -> LogBounds:
        topics, tenure = self.topics, self._tenure
        log = {topics.source: logs[0][key], topics.target: logs[1][topics.replica(key)]}
        source, replica = (tenure.within(alias, key, span) for alias, span in log.items())
        syncs = sorted(tenure.syncs(key, topics.syncs.of.get(key, ())), key=lambda sync: sync.downstream)
        entered = topics.target if rule is forward else topics.source
        gone = tenure.gone_after(entered, key, log, topics.compacted(entered, key.topic))
        return LogBounds(source, replica, self._last_replicated_offset.get(key), syncs, gone)

    def _copy(self, key: Partition, bounds: LogBounds, source: RangeRead, replica: RangeRead) -> Copy:
        topics, tenure = self.topics, self._tenure
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
            first=tenure.first(topics.source, key),
            replica_first=tenure.first(topics.target, key),
            source_compacted=topics.compacted(topics.source, key.topic),
            replica_compacted=topics.compacted(topics.target, key.topic),
            timed=carries_times(source.records, replica.records),
            same_topics=topics.unchanged(key.topic) and key not in tenure.unknown,
            syncs=[*near, *floor[-1:]],
            gone_after=bounds.gone_after,
            ended=tenure.end is not None,
            replica_kept_from=kept_from((record.offset, record.key) for record in replica.records),
        )


def _those(
    offsets: Mapping[Partition, Iterable[int]], holds: Callable[[Partition, int], bool]
) -> dict[Partition, list[int]]:
    """Return the partitions and offsets for which ``holds`` is true."""
    selected = {key: [offset for offset in of_key if holds(key, offset)] for key, of_key in offsets.items()}
    return {key: of_key for key, of_key in selected.items() if of_key}


def _size(spans: Mapping[Partition, Iterable[Span]]) -> int:
    """Return how many offsets the spans have on both clusters."""
    return sum(high - low for of_key in spans.values() for span in of_key for low, high in (span.source, span.replica))


def _is_clear(translated: Translated) -> bool:
    """Would reading more around the offset change nothing?"""
    return translated.rereads == 0 and not translated.skips.possible


def _is_doubtful(translated: Translated) -> bool:
    """Is the number of skipped records not known?"""
    return not translated.skips.exact or translated.unseen > 0


def _covers(syncs: Sequence[OffsetSync], lowest: int, rule: Rule) -> bool:
    """Is an offset-sync at or before the offset ``lowest`` known? Older ones cannot make a translation more exact."""
    if rule is forward:
        return any(sync.upstream <= lowest for sync in syncs)
    return any(sync.downstream <= lowest for sync in syncs)


def _window(read: RangeRead, fingerprints: Sequence[bytes]) -> Window:
    offsets = [record.offset for record in read.records]
    return Window(read.start, max(read.start, read.reached), offsets, fingerprints)
