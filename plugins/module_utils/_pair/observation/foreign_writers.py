# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Detect foreign writers of a replica: applications that write to the wrong topic, and replication loops (R28).

Private to this collection: may change in any release.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence

from ..._core.offsets.replication_gates import drained
from ..._core.offsets.unreplicated import Unreplicated
from ..._core.partition import Partition, Range, Ranges
from ..._core.verdict import PROVEN
from ..._kafka.records import Reading, Record, digested, read_ranges
from ..._kafka.topics import log_ranges, offsets_at
from ..connections.clusters import both
from .flows import FlowObservation
from .last_records import LastRecords, same_content
from .pair import ISOLATION, Pair

__all__ = ["foreign_records", "not_compared", "replication_loop"]


# Offsets before the log end to search for a copy's original. Markers and aborted records use offsets too.
_RECENT = 500
# The same, if the timestamp does not lead to the original, which may have none.
_SEARCHED = 20_000
# In a loop, a record returns after some 15 ms, so dozens of its copies appear in this time.
_LOOP_SECONDS = 0.5
_LOOP_COPIES = 5
_LOOP_TAIL = 200
_LOOP_PARTITIONS = 50


def foreign_records(
    pair: Pair, observation: FlowObservation, accepted: Collection[str] = (), last: LastRecords | None = None
) -> list[str]:
    """Describe each partition whose replica ends in a record that the source does not have.

    Checks only partitions that the flow has replicated completely: there, both logs end in the same record. Compares
    the fields that the flow carries, so that it finds an original without a timestamp although its copy has one.
    ``accepted`` are topics with a known foreign writer. ``last`` are records that were read before.
    """
    last = last or LastRecords(pair.kafka)
    comparable = _comparable(pair, observation, accepted)
    source_records, replica_records = _last_records(observation, comparable, last)
    suspects = {
        key: record
        for key, replica in comparable.items()
        if (record := replica_records[replica]) is not None
        and source_records[key] is not None
        and not same_content(source_records[key], record)
    }
    if not suspects:
        return []
    # Read after the replica's end, so that the source shows every record that the replica can hold.
    source_log = log_ranges(pair.kafka[observation.source], suspects, ISOLATION)
    # Everything was replicated up to the observed end, and many records may have been written since.
    spans = {
        key: (max(source_log[key][0], (observation.facts[key].end or 0) - _RECENT), source_log[key][1])
        for key in suspects
    }
    suspects = _not_within(pair, observation.source, suspects, spans)
    suspects = _not_within(pair, observation.source, suspects, _by_time(pair, observation.source, suspects, source_log))
    far = {key: (max(source_log[key][0], source_log[key][1] - _SEARCHED), source_log[key][1]) for key in suspects}
    suspects = _not_within(pair, observation.source, suspects, far)
    return [
        f"the last record of {pair.naming.replica(observation.source, topic)}-{index} on {observation.target} (offset"
        f" {record.offset}) is not in {topic} on {observation.source}"
        for (topic, index), record in sorted(suspects.items())
    ]


def not_compared(
    pair: Pair,
    observation: FlowObservation,
    counted: Mapping[Partition, Unreplicated],
    accepted: Collection[str],
    last: LastRecords,
    replaced_below: Mapping[str, Mapping[str, int]] | None = None,
) -> list[str]:
    """Describe each partition whose replica has records of which none could be found on the source, or compared.

    ``counted`` has searched the last record of each replica that lags. A replica without lag is compared by
    :func:`foreign_records`, if both logs still have a record. ``accepted`` and ``last``: as there. ``replaced_below``:
    by replica and partition, the log end when the source was replaced. Nothing was written into a replica that still
    ends there: its records came from the lost cluster.
    """
    below = replaced_below or {}
    comparable = _comparable(pair, observation, accepted)
    source_records, replica_records = _last_records(observation, comparable, last)
    texts = []
    for key in sorted(observation.facts):
        replica = pair.naming.replica_partition(observation.source, key)
        begin, end = observation.replica_log.get(replica, (0, 0))
        if key[0] in accepted or begin == end or end <= int(below.get(replica[0], {}).get(str(replica[1]), 0)):
            continue
        if key in comparable:
            found = source_records[key] is not None or replica_records[replica] is None
        else:
            found = key in counted and counted[key].end_is_known
        if not found:
            texts.append(
                f"the last record of {replica} on {observation.target} could not be compared with"
                f" {key[0]} on {observation.source}"
            )
    return texts


def _comparable(pair: Pair, observation: FlowObservation, accepted: Collection[str]) -> dict[Partition, Partition]:
    """Return the partitions that are replicated to their ends, with their replicas."""
    replicated = {
        key: pair.naming.replica_partition(observation.source, key)
        for key, facts in observation.facts.items()
        if (drained(facts).verdict == PROVEN or facts.tail_replicated) and key[0] not in accepted
    }
    return {
        key: replica
        for key, replica in replicated.items()
        if replica in observation.replica_log and key in observation.source_log
    }


def _last_records(
    observation: FlowObservation, comparable: Mapping[Partition, Partition], last: LastRecords
) -> tuple[dict[Partition, Record | None], dict[Partition, Record | None]]:
    return both(
        lambda: last.of(observation.source, {key: observation.source_log[key] for key in comparable}),
        lambda: last.of(
            observation.target, {replica: observation.replica_log[replica] for replica in comparable.values()}
        ),
    )


def _not_within(pair: Pair, source: str, copies: Mapping[Partition, Record], spans: Ranges) -> dict[Partition, Record]:
    """Return those of ``copies`` whose original is not within ``spans``."""
    read = _records(pair, source, {key: spans[key] for key in copies if key in spans})
    digests = {key: digested(copy) for key, copy in copies.items()}
    return {
        key: copy
        for key, copy in copies.items()
        if not any(same_content(one, digests[key]) for one in read.get(key, ()))
    }


def _by_time(pair: Pair, source: str, copies: Mapping[Partition, Record], log: Ranges) -> dict[Partition, Range]:
    """Return the source ranges in which the timestamps place the originals of ``copies``.

    After a salvage replayed the tail, the flow was set past it, so its last record can be far before the source's end.
    """
    stamps = {
        key: record.timestamp
        for key, record in copies.items()
        if record.timestamp is not None and record.timestamp_type != "LogAppendTime"
    }
    offsets = offsets_at(pair.kafka[source], stamps)
    return {key: (offset, min(offset + _RECENT, log[key][1])) for key, offset in offsets.items() if offset is not None}


def _records(pair: Pair, alias: str, spans: Ranges) -> dict[Partition, list[Record]]:
    if not spans:
        return {}
    reads = read_ranges(pair.kafka[alias], spans, Reading("read_uncommitted", digests=True))
    return {key: read.records for key, read in reads.items()}


def replication_loop(pair: Pair, source: str, target: str) -> list[str]:
    """Describe each partition, with the policy identity, whose records are replicated in a loop.

    Looks at records, not at configuration: most records that arrive within half a second on *both* clusters were there
    before, with the same content and timestamp. So it finds a second flow with any name on any worker.
    """
    aliases = (source, target)
    before = {alias: pair.ranges(alias, pair.topics, "read_uncommitted") for alias in aliases}
    time.sleep(_LOOP_SECONDS)
    after = {alias: pair.ranges(alias, pair.topics, "read_uncommitted") for alias in aliases}
    grown = [key for key in before[source] if all(_grown(key, before[alias], after[alias]) for alias in aliases)]
    again = set(grown[:_LOOP_PARTITIONS])
    for alias in aliases:
        old, new = before[alias], after[alias]
        # Read as many earlier records as have arrived, because a long loop takes some time.
        tails = {key: max(_LOOP_TAIL, new[key][1] - old[key][1]) for key in again}
        spans = {key: (max(new[key][0], old[key][1] - tails[key]), new[key][1]) for key in again}
        read = _records(pair, alias, spans)
        again = {key for key in again if _mostly_known(read[key], old[key][1])}
    return [
        f"{topic}-{index}: within {_LOOP_SECONDS:g} s the same records arrived again on {source} and on {target}:"
        " both directions replicate it, in a loop"
        for topic, index in sorted(again)
    ]


def _grown(key: Partition, before: Ranges, after: Ranges) -> bool:
    return key in before and key in after and after[key][1] > before[key][1]


def _mostly_known(records: Sequence[Record], since: int) -> bool:
    contents: set[object] = set()
    again = arrived = 0
    for record in records:
        content = _content(record)
        if record.offset >= since:
            arrived += 1
            # A replicated record has a timestamp. Equal records without one come from a producer.
            again += content in contents and record.timestamp is not None
        contents.add(content)
    return again >= _LOOP_COPIES and 2 * again >= arrived


def _content(record: Record) -> object:
    timestamp = None if record.timestamp_type == "LogAppendTime" else record.timestamp
    return timestamp, record.key, record.value, record.headers
