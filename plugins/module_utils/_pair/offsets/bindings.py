# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the records that stored offsets are bound to, when they are stored and when they are used (R37).

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from ..._core.offsets.bindings import Binding, Bound, Witness, between, binding, witness
from ..._core.partition import Partition, PartitionOffset, Range, Ranges
from ..._kafka.client import Kafka
from ..._kafka.records import EXHAUSTED, LIMIT, Reading, Record, digested, has_data, last_data_records, read_ranges
from ..observation.pair import ISOLATION

__all__ = ["bindings", "last_witnesses", "present_witnesses", "witness_of", "witnesses_before"]

# A disaster must not wait longer for the records that would raise its offsets.
_SECONDS = 20.0


def witness_of(record: Record) -> Witness:
    """Return what to store of a record. Long contents count by their digests, so that they need no memory later."""
    return witness(digested(record))


def last_witnesses(kafka: Kafka, logs: Ranges) -> dict[Partition, Witness]:
    """Return the last data record of each log that has one."""
    records = last_data_records(kafka, logs, ISOLATION)
    return {key: witness_of(record) for key, record in records.items() if record is not None}


def witnesses_before(
    kafka: Kafka, places: Iterable[PartitionOffset], logs: Ranges, last: Mapping[Partition, Witness]
) -> dict[PartitionOffset, list[Witness]]:
    """Return the witnesses of each (partition, offset): the last data record before the offset, and ``last``.

    ``last``: from ``last_witnesses``, read before the offsets were determined. Reads the records of all partitions at
    once, and again for each further offset in one partition. An empty list: the log has no data record.
    """
    by_place: dict[PartitionOffset, list[Witness]] = {}
    remaining: dict[Partition, list[int]] = {}
    for key, offset in sorted(set(places)):
        by_place[key, offset] = [last[key]] if key in last else []
        if key in logs and offset > logs[key][0] and not (key in last and last[key].offset == offset - 1):
            remaining.setdefault(key, []).append(offset)
    while remaining:
        now = {key: offsets.pop() for key, offsets in remaining.items()}
        spans = {key: (logs[key][0], min(offset, logs[key][1])) for key, offset in now.items()}
        before = last_witnesses(kafka, spans)
        for key, record in before.items():
            place = by_place[key, now[key]]
            place[:] = sorted({record, *place})
        remaining = {key: offsets for key, offsets in remaining.items() if offsets}
    return by_place


def present_witnesses(
    kafka: Kafka, wanted: Mapping[Partition, Collection[int]], logs: Ranges
) -> dict[Partition, dict[int, Witness | None]]:
    """Return the record at each of these offsets within the logs as they are now; None: no record is there.

    An offset that could not be read has no entry. Reads one offset of every partition at once.
    """
    by_place: dict[Partition, dict[int, Witness | None]] = {key: {} for key in wanted}
    remaining = {
        key: sorted({offset for offset in offsets if logs[key][0] <= offset < logs[key][1]})
        for key, offsets in wanted.items()
        if key in logs
    }
    while remaining := {key: offsets for key, offsets in remaining.items() if offsets}:
        now = {key: offsets.pop() for key, offsets in remaining.items()}
        spans = {key: (offset, offset + 1) for key, offset in now.items()}
        for key, read in read_ranges(
            kafka, spans, Reading(ISOLATION, last_only=True, digests=True, timeout=_SECONDS)
        ).items():
            if read.ended in (EXHAUSTED, LIMIT):
                by_place[key][now[key]] = witness_of(read.records[0]) if read.records else None
    return by_place


def bindings(
    kafka: Kafka, stored: Iterable[Bound], logs: Ranges, compacted: Collection[str] = ()
) -> dict[Bound, Binding]:
    """Return whether each stored offset still refers to the records that it was stored for.

    ``logs``: log start and end as of now. ``compacted``: topics that are compacted. Reads the newest witness of every
    partition at once; older ones only where that one is gone or replaced.
    """
    known = {bound for bound in stored if bound.key in logs}
    present: dict[Partition, dict[int, Witness | None]] = {bound.key: {} for bound in known}

    def proven(bound: Bound) -> bool:
        return any(present[bound.key].get(each.offset) == each for each in bound.witnesses)

    def later(bound: Bound) -> bool:
        return any(
            each.offset >= bound.offset and present[bound.key].get(each.offset) == each for each in bound.witnesses
        )

    for newest in (True, False):
        wanted: dict[Partition, set[int]] = {}
        for bound in known:
            chosen = bound.witnesses[-1:] if newest else bound.witnesses[:-1]
            if not proven(bound):
                wanted.setdefault(bound.key, set()).update(each.offset for each in chosen)
        for key, records in present_witnesses(kafka, wanted, logs).items():
            present[key].update(records)
    gaps = {bound: between(bound, logs[bound.key][0]) for bound in known}
    data = _has_data(kafka, {(bound.key, gap) for bound, gap in gaps.items() if not later(bound)}, logs)
    return {
        bound: binding(
            bound,
            logs[bound.key],
            present[bound.key],
            compacted=bound.key.topic in compacted,
            data_between=data.get((bound.key, gaps[bound])),
        )
        for bound in known
    }


def _has_data(
    kafka: Kafka, places: Iterable[tuple[Partition, Range]], logs: Ranges
) -> dict[tuple[Partition, Range], bool | None]:
    """Return whether each part of a log has a data record. None: unknown."""
    answers: dict[tuple[Partition, Range], bool | None] = {}
    remaining: dict[Partition, list[Range]] = {}
    for key, gap in sorted(places):
        if gap[0] < gap[1]:
            remaining.setdefault(key, []).append(gap)
        else:
            answers[key, gap] = False
    while remaining:
        now = {key: gaps.pop() for key, gaps in remaining.items()}
        spans = {key: (low, max(low, min(high, logs[key][1]))) for key, (low, high) in now.items()}
        for key, answer in has_data(kafka, spans, ISOLATION, _SECONDS).items():
            answers[key, now[key]] = answer
        remaining = {key: gaps for key, gaps in remaining.items() if gaps}
    return answers
