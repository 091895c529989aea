# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What would be lost if the source of a flow were lost now: counted from the records of both sides. Reads only.

Offsets count markers and aborted records too, and what MirrorMaker 2 has noted may be a minute old.

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
    Place,
    Range,
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
from ..._kafka.client import Kafka
from ..._kafka.records import RangeRead, Reading, Record, last_data_records, read_ranges
from ..._kafka.topics import log_ranges, offsets_at
from .pair import ISOLATION, FlowObservation, Pair, Partition

__all__ = ["Budget", "Unreplicated", "unreplicated"]

_NOT_FOUND = (
    "the replica's last record was not found on the source: expired, compacted, without a timestamp there, or somebody"
    " else's"
)
_NOT_REACHED = "the replica's last record was not found within the bound on reading"
_NO_TIME = "the replica's records have the broker's time, so its last one cannot be told apart from others"
_UNTIMED = "the source has records without a timestamp that equal the replica's last one"
_EMPTIED = "the replica was written but holds no record any more"


@dataclass(frozen=True)
class Budget:
    """On either side so many offsets are read at most, and for so many seconds."""

    records: int = 20_000
    seconds: float = 5.0


_BUDGET = Budget()


def unreplicated(pair: Pair, observation: FlowObservation, budget: Budget = _BUDGET) -> dict[Partition, Unreplicated]:
    """Of each source partition, the records below its end that the replica lacks.

    The order of looking decides. The source's end E is taken first, the replica's end R afterwards, and counted is what
    lies below E and is not below R. A record that is copied between the two looks is below R: it does not seem lost. A
    record that is written after E is not asked about, so the later look hides nothing: whatever was on the source at E
    is either below R or counted. The replica's last record may then be a copy of something behind E; it is looked for
    up to an end taken once more, behind R, or it would seem to be somebody else's.

    With the policy identity the replica also holds what was born there. That lies on the source too, or the flow was
    armed behind it, so content tells where the replica ends, as with the other policy; a tail that was never carried
    over is not found on the source, and the range says so.
    """
    return _Comparison(pair, observation, budget).rows()


class _Reader:
    """Reads one side within the budget."""

    def __init__(self, kafka: Kafka, budget: Budget) -> None:
        self._kafka, self._left, self._seconds = kafka, budget.records, budget.seconds

    def read(
        self, spans: Mapping[Partition, Range], floors: Mapping[Partition, int | None] | None = None
    ) -> dict[Partition, RangeRead]:
        if not spans:
            return {}
        began = time.monotonic()
        parts = bounded(spans, floors or {}, self._left)
        reads = read_ranges(self._kafka, parts, Reading(ISOLATION, timeout=max(0.0, self._seconds)))
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
        seen, found = self._search(logs, waiting, set(written), last)
        held = self._held(logs, seen, found, written)
        rows = {key: nothing(key) for key in logs}
        for key in waiting:
            if key in found:
                rows[key] = placed(key, logs[key], seen[key], found[key], held.get(key))
            elif key in written:
                rows[key] = unplaced(key, logs[key], seen[key], self._reasons[key])
            else:
                rows[key] = never_replicated(key, logs[key], seen[key])
        return rows

    def _renamed(self, key: Partition) -> Partition:
        return self.pair.naming.replica(self.observation.source, key[0]), key[1]

    def _replicas(self) -> dict[Partition, Range]:
        """Logs of the replicas that exist, by source partition."""
        renamed = {key: self._renamed(key) for key in self.observation.facts}
        topics = {topic for topic, _index in renamed.values()}
        if set(renamed.values()) - self.pair.existing(self.observation.target, topics):
            # One may have appeared, with all of its records, since the pair first looked.
            self.pair.refresh()
        there = self.pair.existing(self.observation.target, topics) & set(renamed.values())
        spans = log_ranges(self.pair.kafka[self.observation.target], there, ISOLATION)
        return {key: spans[new] for key, new in renamed.items() if new in spans}

    def _last(self, replicas: Mapping[Partition, Range]) -> dict[Partition, Record | None]:
        """The last data record of each replica, by source partition."""
        spans = {self._renamed(key): span for key, span in replicas.items()}
        found = last_data_records(self.pair.kafka[self.observation.target], spans, ISOLATION)
        return {key: found[self._renamed(key)] for key in replicas}

    # ---- the source

    def _search(
        self,
        logs: Mapping[Partition, Log],
        waiting: Iterable[Partition],
        written: Collection[Partition],
        last: Mapping[Partition, Record | None],
    ) -> tuple[dict[Partition, Seen], dict[Partition, Place]]:
        """What was read of the source for each partition, and where on it the replica ends, if that is found."""
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
        seen, found = {}, dict[Partition, Place]()
        for key, read in reads.items():
            digests, ends = fingerprints(read.records, [wanted[key]] if key in spans else [])
            seen[key] = _seen(read, digests)
            # A timestamp tells where the original lies, unless it is the time of copying.
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
        found: Mapping[Partition, Place],
        replicas: Mapping[Partition, Range],
    ) -> dict[Partition, bool | None]:
        """Whether the replica holds any of the records behind the place where it ends: then the flow is sending again.

        A copy keeps its timestamp, so the broker's index by time tells from where on one would lie. All of them are
        looked for, since the first ones may have expired there.
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
    """The timestamps, if there is none without one."""
    found = list(stamps)
    return [] if None in found else [stamp for stamp in found if stamp is not None]


def _log(facts: PartitionFacts, span: Range) -> Log:
    start, end = span
    # Past the end: the topic was truncated or created again, and N is about another log.
    return Log(
        start,
        end,
        facts.last_replicated_offset
        if facts.last_replicated_offset is not None and facts.last_replicated_offset < end
        else None,
    )


def _all_replicated(facts: PartitionFacts, log: Log, written: bool) -> bool:
    """Does what the flow has noted say so? Then nothing needs to be read, unless the replica was never written."""
    data_after = facts.data_after if facts.end == log.end else None
    now = replace(facts, start=log.start, end=log.end, data_after=data_after)
    return lag(now) == 0 and (written or log.start == log.end)


def _untimed(source: Iterable[Record], replica: Record) -> bool:
    """May it be the copy of a record here that has no timestamp?"""
    return any(one.timestamp is None and (one.key, one.value) == (replica.key, replica.value) for one in source)


def _share(source: Sequence[Record], replica: Sequence[Record]) -> bool:
    """May a record of the replica be the copy of any of these?"""
    left, right = fingerprints(source, replica)
    return not set(left).isdisjoint(right)


def _seen(read: RangeRead, fingerprints: Sequence[bytes]) -> Seen:
    return Seen(
        read.start,
        read.reached,
        [record.offset for record in read.records],
        fingerprints,
        [record.timestamp for record in read.records],
    )
