# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Level 1: one pass over each side, and what is equal by it.

The pass cuts both logs by rank, which costs least and tells equal logs, and logs with a few altered records. Where a
record too many or too few has shifted all that follow, a second pass cuts that partition by content.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from .alignment import Gap, Same, align, gaps
from .chunks import Chunks, chunk_size, mixed
from .errors import AuditError
from .plan import SIDES
from .reading import CHUNK, END, RANK, RANK_BITS, AuditContext, Recipe
from .snapshot import ReadRange, Scope

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

RUNS = 10_000  # into which the first pass cuts a pair of clusters, or a few more
FEW = 4  # runs that may differ in one partition before it is cut by content
LogKey = tuple[Scope, str, int]  # topic pair, side, partition


@dataclass(frozen=True)
class Half:
    """One side of one partition: chunks of the planned range, records behind it, ranks of the watched offsets."""

    chunks: Chunks
    outside: int
    ranks: Mapping[int, int]


@dataclass(frozen=True)
class PartitionPair:
    """One partition of a topic pair after level 1. Gaps and equal parts are indexes of chunks."""

    scope: Scope
    partition: int
    source: Half
    target: Half
    same: list[Same]
    gaps: list[Gap]

    def half(self, name: str) -> Half:
        half: Half = getattr(self, name)
        return half

    def span(self, name: str) -> ReadRange:
        return self.scope.spans[name, self.partition]

    def counts(self, gap: Gap) -> dict[str, int]:
        """Records of each side in a gap."""
        return {
            "source": int(self.source.chunks.records[gap.left : gap.left_end].sum()),
            "target": int(self.target.chunks.records[gap.right : gap.right_end].sum()),
        }


@dataclass(frozen=True)
class Ask:
    """What a pass reads of one side of one partition: offsets [start, end), and the ranks of the watched ones."""

    start: int
    end: int
    watched: tuple[int, ...] = ()
    border: int | None = None


def compare(scopes: list[Scope], context: AuditContext) -> tuple[list[PartitionPair], int]:
    """The pairs, and how many offsets were read a second time. Raises what Spark raises."""
    readable = [scope for scope in scopes if scope.readable]
    pairs, asks = _glance(readable, context)
    if not asks:
        return list(pairs.values()), 0
    read = sum(ask.end - ask.start for ask in asks.values())
    context.progress.say(f"level 1: {read:,} offsets are read by content: shifted, or with holes around a position")
    size = chunk_size(read // 2)

    def chunked(records: DataFrame, whole: str, wanted: Mapping[tuple[int, int], Ask]) -> DataFrame:
        watched = {place: list(ask.watched) for place, ask in wanted.items()}
        borders = {place: ask.border for place, ask in wanted.items() if ask.border is not None}
        return context.reader.summaries(records, whole, Recipe(size, watched, borders))

    tables = _tables("level 1 by content", readable, asks, context, chunked, "first", "kind")
    for (scope, partition), pair in pairs.items():
        halves = [
            _half(pair, name, asks[key], tables.get(key))
            if (key := (scope, name, partition)) in asks
            else pair.half(name)
            for name in SIDES
        ]
        pairs[scope, partition] = _pair(scope, partition, *halves)
    return list(pairs.values()), read


def _glance(
    readable: list[Scope], context: AuditContext
) -> tuple[dict[tuple[Scope, int], PartitionPair], dict[LogKey, Ask]]:
    """The pass over everything, and what it cannot tell."""
    asks = {
        (scope, name, partition): Ask(span.start, span.border)
        for scope in readable
        for (name, partition), span in scope.spans.items()
    }
    size = chunk_size(sum(ask.end - ask.start for ask in asks.values()) // 2, RUNS)

    def by_rank(records: DataFrame, whole: str, _wanted: object) -> DataFrame:
        return context.reader.buckets(records, whole, size)

    tables = _tables("level 1", readable, asks, context, by_rank, "first")
    pairs: dict[tuple[Scope, int], PartitionPair] = {}
    left: dict[LogKey, Ask] = {}
    for scope in readable:
        for partition in scope.topic.partition_numbers:
            halves = []
            for name in SIDES:
                runs = _runs(tables.get((scope, name, partition)), size, f"{scope.side(name)}-{partition}")
                ranks, gaps = _ranks(runs, _watched(scope, name, partition))
                halves.append(Half(runs, 0, ranks))
                if gaps:
                    left[scope, name, partition] = gaps
            pair = pairs[scope, partition] = _pair(scope, partition, *halves)
            if _shifted(pair, size):
                for name in SIDES:
                    span = pair.span(name)
                    watched = tuple(sorted(_watched(scope, name, partition) | {span.border}))
                    left[scope, name, partition] = Ask(span.start, span.end, watched, span.border)
    return pairs, {key: ask for key, ask in left.items() if ask.end > ask.start}


def _shifted(pair: PartitionPair, size: int) -> bool:
    """Whether more differs than what may be read record by record, or records lie behind the plan's end."""
    differing = sum(sum(pair.counts(gap).values()) for gap in pair.gaps)
    return differing > FEW * size or any(span.end > span.border for span in map(pair.span, SIDES))


def _pair(scope: Scope, partition: int, source: Half, target: Half) -> PartitionPair:
    left, right = _identity(source.chunks), _identity(target.chunks)
    same = align(left, right)
    return PartitionPair(scope, partition, source, target, same, gaps(same, len(left), len(right)))


def _runs(columns: Mapping[str, Any] | None, size: int, where: str) -> Chunks:
    """Of one side of one partition. Raises `AuditError` ``read_twice`` unless one task has read it, whole runs each."""
    if columns is None:
        return Chunks.of([])
    bits = RANK_BITS - (size.bit_length() - 1)
    tasks, numbers = columns["run"] >> bits, columns["run"] & ((1 << bits) - 1)
    if (
        (tasks != tasks[0]).any()
        or (numbers != np.arange(len(numbers))).any()
        or (columns["records"][:-1] != size).any()
        or (columns["partition"] != columns["other"]).any()
    ):
        raise AuditError("read_twice", f"Spark read {where} in several parts: no proof.")
    return _chunks(columns, slice(None))


def _ranks(runs: Chunks, offsets: set[int]) -> tuple[dict[int, int], Ask | None]:
    """Visible records below each offset; what must be read to know it where the log has holes around one."""
    below = np.concatenate([[0], np.cumsum(runs.records)])
    known: dict[int, int] = {}
    unknown: dict[int, int] = {}
    for offset in offsets:
        at = int(np.searchsorted(runs.first, offset, side="right")) - 1
        if at < 0:
            known[offset] = 0
        elif offset > runs.last[at]:
            known[offset] = int(below[at + 1])
        elif runs.last[at] - runs.first[at] + 1 == runs.records[at] or offset == runs.first[at]:
            known[offset] = int(below[at] + offset - runs.first[at])
        else:
            unknown[offset] = at
    if not unknown:
        return known, None
    start, end = runs.first[min(unknown.values())], runs.last[max(unknown.values())] + 1
    return known, Ask(int(start), int(end), tuple(sorted(unknown)))


def _tables(
    what: str,
    scopes: list[Scope],
    asks: Mapping[LogKey, Ask],
    context: AuditContext,
    make: Callable[[DataFrame, str, Mapping[tuple[int, int], Ask]], DataFrame],
    *order: str,
) -> dict[LogKey, dict[str, Any]]:
    """Rows of one pass by side and partition, sorted; one Spark job for each lane."""
    lanes = _lanes(scopes)
    frames: dict[Lane, DataFrame] = {}
    for lane, sides in lanes.items():
        cluster, isolation, _number = lane
        wanted = {
            (scope.side(name).topic, partition): ask
            for scope, name in sides
            for partition in scope.topic.partition_numbers
            if (ask := asks.get((scope, name, partition))) and ask.end > ask.start
        }
        if not wanted:
            continue
        ranges = {place: (ask.start, ask.end) for place, ask in wanted.items()}
        records = context.reader.records(context.plan.clusters[cluster], isolation, ranges)
        whole = context.reader.whole(*timestamps([scope for scope, _name in sides], cluster, isolation))
        by_id = {(context.ids[topic], partition): ask for (topic, partition), ask in wanted.items()}
        frames[lane] = make(records, whole, by_id)
    found = {}
    for lane, table in context.collect(frames, what, sum(ask.end - ask.start for ask in asks.values())).items():
        rows = by_place(table, *order)
        for scope, name in lanes[lane]:
            topic = context.ids[scope.side(name).topic]
            for partition in scope.topic.partition_numbers:
                if (topic, partition) in rows:
                    found[scope, name, partition] = rows[topic, partition]
    return found


def timestamps(scopes: list[Scope], cluster: str, isolation: str) -> tuple[list[str], list[str]]:
    """Topics of one read whose timestamps count, and all topics of it."""
    chosen = [
        (scope.side(name).topic, scope.timestamps)
        for scope in scopes
        for name in SIDES
        if scope.read_from(name) == (cluster, isolation)
    ]
    return [topic for topic, counts in chosen if counts], [topic for topic, _other in chosen]


Lane = tuple[str, str, int]  # cluster, isolation, and a number where one topic is read for two pairs


def _lanes(scopes: list[Scope]) -> dict[Lane, list[tuple[Scope, str]]]:
    """Sides that are read together: no topic twice in one read, whose ranges may differ."""
    lanes: dict[Lane, list[tuple[Scope, str]]] = {}
    for scope in scopes:
        for name in SIDES:
            number = 0
            while True:
                lane = (*scope.read_from(name), number)
                taken = {other.side(of).topic for other, of in lanes.get(lane, ())}
                if scope.side(name).topic not in taken:
                    break
                number += 1
            lanes.setdefault(lane, []).append((scope, name))
    return lanes


def _watched(scope: Scope, name: str, partition: int) -> set[int]:
    committed_offsets = [
        committed_offset
        for committed_offset in scope.topic.committed_offsets
        if committed_offset.partition == partition
    ]
    return set().union(*(committed_offset.watched(name) for committed_offset in committed_offsets))


def by_place(table: pa.Table | None, *order: str, without: Sequence[str] = ()) -> dict[tuple[int, int], dict[str, Any]]:
    """{(topic, partition): columns as numpy arrays, sorted by the columns ``order``, the last one first}

    ``row`` is the place in the table, for the columns ``without`` that stay there.
    """
    if table is None or not len(table):
        return {}
    columns = {name: table[name].to_numpy() for name in table.column_names if name not in without}
    index = np.lexsort((*(columns[name] for name in order), columns["partition"], columns["topic"]))
    columns = {name: column[index] for name, column in columns.items()} | {"row": index}
    changes = (np.diff(columns["topic"]) != 0) | (np.diff(columns["partition"]) != 0)
    borders = [0, *(np.flatnonzero(changes) + 1).tolist(), len(index)]
    return {
        (int(columns["topic"][begin]), int(columns["partition"][begin])): {
            name: column[begin:end] for name, column in columns.items()
        }
        for begin, end in pairwise(borders)
    }


def _half(pair: PartitionPair, name: str, ask: Ask, columns: Mapping[str, Any] | None) -> Half:
    """What the second pass says in place of the first, or the ranks that the first could not tell."""
    half, where = pair.half(name), f"{pair.scope.side(name)}-{pair.partition}"
    chunks, ranks, total = Chunks.of([]), dict.fromkeys(ask.watched, 0), 0
    if columns is not None:
        kind = columns["kind"]
        if (kind == END).sum() != 1:
            raise AuditError("read_twice", f"Spark read {where} in several parts: no proof.")
        counted = columns["first"][kind == RANK].tolist(), columns["records"][kind == RANK].tolist()
        ranks = dict(zip(*counted, strict=True))
        total = int(columns["records"][kind == END][0])
        chunks = _chunks(
            columns, (kind == CHUNK) & (columns["first"] < (ask.end if ask.border is None else ask.border))
        )
    begin, end = np.searchsorted(half.chunks.first, [ask.start, ask.end if ask.border is None else ask.border])
    seen = int(half.chunks.records[begin:end].sum())
    if chunks.total != seen:
        pair.scope.reasons.append(f"{where}: {seen} records were read at first, {chunks.total} when read again")
    if ask.border is None:
        below = int(half.chunks.records[:begin].sum())
        return Half(half.chunks, 0, {**half.ranks, **{offset: below + rank for offset, rank in ranks.items()}})
    if chunks.total != ranks[ask.border]:
        raise AuditError("read_twice", f"Rows of {where} do not add up: no proof.")
    return Half(chunks, total - ranks[ask.border], ranks)


def _chunks(columns: Mapping[str, Any], chosen: Any) -> Chunks:
    return Chunks(
        columns["first"][chosen],
        columns["last"][chosen],
        columns["records"][chosen],
        columns["digest"][chosen].view(np.uint64),
        columns["oldest"][chosen],
        columns["newest"][chosen],
    )


def _identity(chunks: Chunks) -> Any:
    """Digest and count in one word: what makes two chunks the same."""
    return mixed(chunks.digest ^ mixed(chunks.records.view(np.uint64)))
