# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Count the records that would be lost if the source of a flow were lost now, from the records of both clusters.

Offsets cannot answer this: they count transaction markers and aborted records too, and MirrorMaker 2's stored offset
may be a minute old. This code only reads.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..._core.offsets.fingerprints import fingerprints, has_time
from ..._core.offsets.replication_gates import PartitionFacts, lag
from ..._core.offsets.unreplicated import (
    Log,
    ReplicaEnd,
    Seen,
    Unreplicated,
    bounded,
    never_replicated,
    nothing,
    place,
    placed,
    records_after,
    unplaced,
)
from ..._core.partition import Partition, Range, Ranges
from ..._kafka.client import Kafka
from ..._kafka.records import RangeRead, Reading, Record, digested, last_data_records, read_ranges
from ..._kafka.topics import log_ranges, offsets_at
from .flows import FlowObservation
from .pair import ISOLATION, Pair

__all__ = ["Budget", "Unreplicated", "unreplicated"]

_NOT_FOUND = (
    "the replica's last record was not found on the source: it is expired or compacted, has no timestamp there, or was"
    " written by a foreign writer"
)
_NOT_REACHED = "the replica's last record was not found within the read limit"
_NO_TIME = "the replica's records have the broker's timestamp, so its last record cannot be distinguished from others"
_UNTIMED = "the source has records without a timestamp that equal the replica's last record"
_EMPTIED = "the replica was written, but no longer holds any record"


@dataclass(frozen=True)
class Budget:
    """Limits on reading, for each cluster."""

    #: Highest number of offsets to read.
    records: int = 20_000
    seconds: float = 5.0


_BUDGET = Budget()


def unreplicated(pair: Pair, observation: FlowObservation, budget: Budget = _BUDGET) -> dict[Partition, Unreplicated]:
    """Count the records of each source partition that the replica lacks.

    The order of reads matters. The source's end E is read first, the replica's end R afterwards. Records before E that
    are not before R are counted. A record that is replicated between the two reads is before R, so it does not look
    lost. Records written after E are not counted, so the later read hides nothing: each record that was on the source
    at E is either before R or counted. The replica's last record may be a copy of a record after E. It is therefore
    searched up to a third end, read after R. Without that, it would look like the record of a foreign writer.

    With the policy identity, the replica also holds records that were first written there. Either the source has them
    too, or the flow was seeded after them. So content shows where the replica ends, as with the default policy. A tail
    that was never replicated is not found on the source, and the result is a range then.
    """
    return _Comparison(pair, observation, budget).rows()


class _Reader:
    """Reads one cluster within the budget."""

    def __init__(self, kafka: Kafka, budget: Budget) -> None:
        self._kafka, self._left, self._seconds = kafka, budget.records, budget.seconds

    def read(self, spans: Ranges, floors: Mapping[Partition, int | None] | None = None) -> dict[Partition, RangeRead]:
        if not spans:
            return {}
        began = time.monotonic()
        parts = bounded(spans, floors or {}, self._left)
        reading = Reading(ISOLATION, digests=True, timeout=max(0.0, self._seconds))
        reads = read_ranges(self._kafka, parts, reading)
        self._left -= sum(read.reached - read.start for read in reads.values())
        self._seconds -= time.monotonic() - began
        return reads


@dataclass
class _Comparison:
    """One comparison of the logs of a flow."""

    pair: Pair
    observation: FlowObservation
    budget: Budget
    _reasons: dict[Partition, str] = field(default_factory=dict)
    _reads: dict[Partition, RangeRead] = field(default_factory=dict)

    def rows(self) -> dict[Partition, Unreplicated]:
        source, facts = self.pair.kafka[self.observation.source], self.observation.facts
        logs = {key: _log(facts[key], span) for key, span in log_ranges(source, facts, ISOLATION).items()}
        replicas = self._replicas()
        written = {key: replicas[key] for key in logs if replicas.get(key, (0, 0))[1] > 0}
        waiting = [key for key, log in logs.items() if not _all_replicated(facts[key], log, key in written)]
        last = self._last({key: written[key] for key in waiting if key in written})
        reads, places = self._search(logs, waiting, set(written), last)
        held = self._held(logs, reads, places, written)
        rows = {key: nothing(key) for key in logs}
        for key in waiting:
            if key in places:
                rows[key] = placed(key, logs[key], reads[key], places[key], held.get(key))
            elif key in written:
                row = unplaced(key, logs[key], reads[key], self._reasons[key])
                rows[key] = replace(row, end_is_known=last[key] is None)
            else:
                rows[key] = never_replicated(key, logs[key], reads[key])
        return rows

    def _renamed(self, key: Partition) -> Partition:
        return self.pair.naming.replica_partition(self.observation.source, key)

    def _replicas(self) -> dict[Partition, Range]:
        """Return the log ranges of the replicas that exist, by source partition."""
        renamed = {key: self._renamed(key) for key in self.observation.facts}
        topics = {topic for topic, _index in renamed.values()}
        if set(renamed.values()) - self.pair.existing(self.observation.target, topics):
            # A replica may have been created and filled since the pair's topics were last described.
            self.pair.refresh()
        existing = self.pair.existing(self.observation.target, topics) & set(renamed.values())
        spans = log_ranges(self.pair.kafka[self.observation.target], existing, ISOLATION)
        return {key: spans[new] for key, new in renamed.items() if new in spans}

    def _last(self, replicas: Ranges) -> dict[Partition, Record | None]:
        """Return the last data record of each replica, by source partition."""
        spans = {self._renamed(key): span for key, span in replicas.items()}
        records = last_data_records(self.pair.kafka[self.observation.target], spans, ISOLATION)
        found = {key: records[self._renamed(key)] for key in replicas}
        return {key: None if record is None else digested(record) for key, record in found.items()}

    # ---- the source

    def _search(
        self,
        logs: Mapping[Partition, Log],
        waiting: Iterable[Partition],
        written: Collection[Partition],
        last: Mapping[Partition, Record | None],
    ) -> tuple[dict[Partition, Seen], dict[Partition, ReplicaEnd]]:
        """Return what was read from each source partition, and where the replica ends on the source, if found."""
        kafka = self.pair.kafka[self.observation.source]
        reader = _Reader(kafka, self.budget)
        wanted = {key: record for key, record in last.items() if record is not None and has_time(record)}
        stamps = {key: record.timestamp for key, record in wanted.items() if record.timestamp is not None}
        later = log_ranges(kafka, wanted, ISOLATION)
        at = offsets_at(kafka, stamps)
        spans = {key: (begin, later[key][1]) for key, begin in at.items() if begin is not None}
        rest = {
            key: (logs[key].floor if key in written else logs[key].start, logs[key].end)
            for key in waiting
            if key not in wanted
        }
        reads = self._reads = reader.read({**spans, **rest}, {key: logs[key].last_replicated_offset for key in spans})
        seen, found = {}, dict[Partition, ReplicaEnd]()
        for key, read in reads.items():
            digests, ends = fingerprints(read.records, [wanted[key]] if key in spans else [])
            seen[key] = _seen(read, digests)
            # The timestamp locates the original, unless it is the time of replication.
            if key in spans and not _untimed(read.records, wanted[key]):
                one = place(logs[key], seen[key], ends[0], spans[key][0])
                found |= {} if one is None else {key: one}
        self._reasons = {key: _EMPTIED if last[key] is None else _NO_TIME for key in last if key not in wanted}
        for key in set(wanted) - set(found):
            whole = key not in spans or (reads[key].start, reads[key].reached) == spans[key]
            untimed = key in reads and _untimed(reads[key].records, wanted[key])
            self._reasons[key] = _UNTIMED if untimed else _NOT_FOUND if whole else _NOT_REACHED
        again = reader.read({key: (logs[key].floor, logs[key].end) for key in set(wanted) - set(found)})
        return seen | {key: _seen(read, []) for key, read in again.items()}, found

    # ---- the replica

    def _held(
        self,
        logs: Mapping[Partition, Log],
        seen: Mapping[Partition, Seen],
        found: Mapping[Partition, ReplicaEnd],
        replicas: Ranges,
    ) -> dict[Partition, bool | None]:
        """Does the replica hold any source record after the place where it ends? Then the flow is resending records.

        A copy keeps its timestamp, so the broker's time index returns the first offset at which it can be. All records
        after that place are searched for, because the first ones may have expired on the replica. None: unknown.
        """
        parts = {key: records_after(logs[key], seen[key], one) for key, one in found.items()}
        stamps = {key: [seen[key].stamps[index] for index in part] for key, part in parts.items() if part}
        oldest = {key: min(known) for key, all_of in stamps.items() if (known := _known(all_of))}
        kafka = self.pair.kafka[self.observation.target]
        at = offsets_at(kafka, {self._renamed(key): stamp for key, stamp in oldest.items()})
        spans = {key: (at[self._renamed(key)], replicas[key][1]) for key in oldest}
        reads = _Reader(kafka, self.budget).read(
            {self._renamed(key): (low, end) for key, (low, end) in spans.items() if low is not None and low < end}
        )
        held: dict[Partition, bool | None] = {}
        for key in oldest:
            read = reads.get(self._renamed(key))
            if read is None:
                held[key] = False
            elif _share([self._reads[key].records[index] for index in parts[key]], read.records):
                held[key] = True
            else:
                held[key] = False if read.reached >= replicas[key][1] else None
        return held


def _known(stamps: Iterable[int | None]) -> list[int]:
    """Return the timestamps; empty if one of them is None."""
    found = list(stamps)
    return [] if None in found else [stamp for stamp in found if stamp is not None]


def _log(facts: PartitionFacts, span: Range) -> Log:
    start, end = span
    # An N past the end belongs to another log: the topic was truncated or created again.
    return Log(
        start,
        end,
        facts.last_replicated_offset
        if facts.last_replicated_offset is not None and facts.last_replicated_offset < end
        else None,
    )


def _all_replicated(facts: PartitionFacts, log: Log, written: bool) -> bool:
    """Does the flow's stored offset say that all is replicated? Not used if the replica was never written."""
    data_after = facts.data_after if facts.end == log.end else None
    now = replace(facts, start=log.start, end=log.end, data_after=data_after)
    return lag(now) == 0 and (written or log.start == log.end)


def _untimed(source: Iterable[Record], replica: Record) -> bool:
    """Can ``replica`` be the copy of a source record that has no timestamp?"""
    return any(one.timestamp is None and (one.key, one.value) == (replica.key, replica.value) for one in source)


def _share(source: Sequence[Record], replica: Sequence[Record]) -> bool:
    """Can a record of the replica be the copy of any of these source records?"""
    source_digests, replica_digests = fingerprints(source, replica)
    return not set(source_digests).isdisjoint(replica_digests)


def _seen(read: RangeRead, fingerprints: Sequence[bytes]) -> Seen:
    return Seen(
        read.start,
        read.reached,
        [record.offset for record in read.records],
        fingerprints,
        [record.timestamp for record in read.records],
    )
