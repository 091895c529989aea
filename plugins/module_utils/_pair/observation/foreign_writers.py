# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who else writes into a replica: applications that write the wrong topic, and flows that run in a circle.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence

from ..._core.offsets.replication_gates import drained
from ..._core.verdict import PROVEN
from ..._kafka.records import Reading, Record, read_ranges
from ..._kafka.topics import log_ranges, offsets_at
from ..connections.clusters import both
from .pair import ISOLATION, FlowObservation, LastRecords, Pair, Partition, same_content

__all__ = ["foreign_records", "replication_loop"]

Range = tuple[int, int]

# How far below that end the original of a copy may lie: markers and aborted records take offsets.
_RECENT = 500
# And at most, where its timestamp does not lead to it: the original may have none.
_SEARCHED = 20_000
# A record goes round in some 15 ms: in this time dozens of its copies appear.
_CIRCLE_SECONDS = 0.5
_CIRCLE_COPIES = 5
_CIRCLE_TAIL = 200
_CIRCLE_PARTITIONS = 50


def foreign_records(
    pair: Pair, observation: FlowObservation, accepted: Collection[str] = (), last: LastRecords | None = None
) -> list[str]:
    """Partitions whose replica ends in a record that the source does not have, in words.

    Only where the flow has copied everything: there the last record of both sides is the same one. Compared is what the
    flow carries, so a record without a timestamp is found although its copy has one. ``accepted``: topics of which it
    is known. ``last``: records that the look has read already.
    """
    last = last or LastRecords(pair.kafka)
    last_replicated_offset = {
        key: (pair.naming.replica(observation.source, key[0]), key[1])
        for key, facts in observation.facts.items()
        if (drained(facts).verdict == PROVEN or facts.tail_replicated) and key[0] not in accepted
    }
    known = {
        key: new
        for key, new in last_replicated_offset.items()
        if new in observation.replica_log and key in observation.source_log
    }
    left, right = both(
        lambda: last.of(observation.source, {key: observation.source_log[key] for key in known}),
        lambda: last.of(observation.target, {new: observation.replica_log[new] for new in known.values()}),
    )
    suspects = {
        key: record
        for key, new in known.items()
        if (record := right[new]) is not None and left[key] is not None and not same_content(left[key], record)
    }
    if not suspects:
        return []
    # Asked behind the replica's end: the source then shows everything that the replica can hold.
    here = log_ranges(pair.kafka[observation.source], suspects, ISOLATION)
    # Everything was copied up to the end that the look saw; what came since may be much.
    spans = {key: (max(here[key][0], (observation.facts[key].end or 0) - _RECENT), here[key][1]) for key in suspects}
    suspects = _not_within(pair, observation.source, suspects, spans)
    suspects = _not_within(pair, observation.source, suspects, _by_time(pair, observation.source, suspects, here))
    far = {key: (max(here[key][0], here[key][1] - _SEARCHED), here[key][1]) for key in suspects}
    suspects = _not_within(pair, observation.source, suspects, far)
    return [
        f"{pair.naming.replica(observation.source, topic)}-{index} on {observation.target} ends in a"
        f" record at offset {record.offset}"
        f" that {topic} on {observation.source} does not have"
        for (topic, index), record in sorted(suspects.items())
    ]


def _not_within(
    pair: Pair, source: str, copies: Mapping[Partition, Record], spans: Mapping[Partition, Range]
) -> dict[Partition, Record]:
    """Those of ``copies`` whose original does not lie there."""
    read = _records(pair, source, {key: spans[key] for key in copies if key in spans})
    return {key: copy for key, copy in copies.items() if not any(same_content(one, copy) for one in read.get(key, ()))}


def _by_time(
    pair: Pair, source: str, copies: Mapping[Partition, Record], log: Mapping[Partition, Range]
) -> dict[Partition, Range]:
    """Where the originals of ``copies`` lie by their time: a flow that was told to begin behind a tail ends far below.

    So it is behind a salvage that brought the tail over itself.
    """
    stamps = {
        key: record.timestamp
        for key, record in copies.items()
        if record.timestamp is not None and record.timestamp_type != "LogAppendTime"
    }
    found = offsets_at(pair.kafka[source], stamps)
    return {key: (at, min(at + _RECENT, log[key][1])) for key, at in found.items() if at is not None}


def _records(pair: Pair, alias: str, spans: Mapping[Partition, Range]) -> dict[Partition, list[Record]]:
    if not spans:
        return {}
    reads = read_ranges(pair.kafka[alias], spans, Reading("read_uncommitted"))
    return {key: read.records for key, read in reads.items()}


def replication_loop(pair: Pair, source: str, target: str) -> list[str]:
    """Topics of a pair with the policy identity whose records come back again and again, in words.

    Evidence, not configuration: of what arrives within half a second on *both* sides, most lay there before, content
    and timestamp alike. It finds a second flow of whatever name on whatever worker.
    """
    sides = (source, target)
    before = {alias: pair.ranges(alias, pair.topics, "read_uncommitted") for alias in sides}
    time.sleep(_CIRCLE_SECONDS)
    after = {alias: pair.ranges(alias, pair.topics, "read_uncommitted") for alias in sides}
    grown = [key for key in before[source] if all(_grown(key, before[alias], after[alias]) for alias in sides)]
    again = set(grown[:_CIRCLE_PARTITIONS])
    for alias in sides:
        old, new = before[alias], after[alias]
        # As many of before as have arrived: a long circle takes a while to come round.
        tails = {key: max(_CIRCLE_TAIL, new[key][1] - old[key][1]) for key in again}
        spans = {key: (max(new[key][0], old[key][1] - tails[key]), new[key][1]) for key in again}
        read = _records(pair, alias, spans)
        again = {key for key in again if _mostly_known(read[key], old[key][1])}
    return [
        f"{topic}-{index}: within {_CIRCLE_SECONDS:g} s the same records arrived again on {source} and on {target}:"
        " both directions copy it, round and round"
        for topic, index in sorted(again)
    ]


def _grown(key: Partition, before: Mapping[Partition, Range], after: Mapping[Partition, Range]) -> bool:
    return key in before and key in after and after[key][1] > before[key][1]


def _mostly_known(records: Sequence[Record], since: int) -> bool:
    seen: set[object] = set()
    again = arrived = 0
    for record in records:
        content = _content(record)
        if record.offset >= since:
            arrived += 1
            # Whatever has gone round has a timestamp: records without one that are equal are a producer's.
            again += content in seen and record.timestamp is not None
        seen.add(content)
    return again >= _CIRCLE_COPIES and 2 * again >= arrived


def _content(record: Record) -> object:
    timestamp = None if record.timestamp_type == "LogAppendTime" else record.timestamp
    return timestamp, record.key, record.value, record.headers
