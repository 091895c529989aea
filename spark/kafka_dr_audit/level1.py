# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Level 1: read both sides once, and find the parts that are equal.

The first pass splits both logs by rank. It is the cheapest way, and it suffices for equal logs and for logs with a few
altered records. If an additional or missing record has shifted all later ones, a second pass splits that partition by
content.
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

RUNS = 10_000  # approximate number of runs into which the first pass splits a pair of clusters
FEW = 4  # number of runs of a partition that may differ before the partition is split by content
LogKey = tuple[Scope, str, int]  # topic pair, side, partition


@dataclass(frozen=True)
class Half:
    """One side of one partition."""

    #: Chunks of the planned range.
    chunks: Chunks
    #: Number of records after the planned range.
    outside: int
    #: Ranks of the watched offsets.
    ranks: Mapping[int, int]


@dataclass(frozen=True)
class PartitionPair:
    """One partition of a topic pair after level 1. Equal parts and gaps are in indexes of chunks."""

    scope: Scope
    partition: int
    source: Half
    target: Half
    same: list[Same]
    gaps: list[Gap]

    def half(self, name: str) -> Half:
        """Return the side ``source`` or ``target``."""
        half: Half = getattr(self, name)
        return half

    def span(self, name: str) -> ReadRange:
        """Return the offsets to read on the side ``source`` or ``target``."""
        return self.scope.spans[name, self.partition]

    def counts(self, gap: Gap) -> dict[str, int]:
        """Return the number of records of each side in a gap."""
        return {
            "source": int(self.source.chunks.records[gap.left : gap.left_end].sum()),
            "target": int(self.target.chunks.records[gap.right : gap.right_end].sum()),
        }


@dataclass(frozen=True)
class Ask:
    """What a pass reads of one side of one partition: offsets [start, end), and the ranks of watched offsets.

    ``border``: offset at which a chunk must end. None: there is none.
    """

    start: int
    end: int
    watched: tuple[int, ...] = ()
    border: int | None = None


def compare(scopes: list[Scope], context: AuditContext) -> tuple[list[PartitionPair], int]:
    """Compare all partitions. Return them, and the number of offsets that were read twice. Raises Spark's errors."""
    readable = [scope for scope in scopes if scope.readable]
    pairs, asks = _glance(readable, context)
    if not asks:
        return list(pairs.values()), 0
    read = sum(ask.end - ask.start for ask in asks.values())
    context.progress.say(f"level 1: reading {read:,} offsets again: shifted records, or gaps around a committed offset")
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
    """Run the first pass over everything. Return its result, and what the second pass must read."""
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
    """Whether too much differs to read it record by record, or records lie after the end of the plan."""
    differing = sum(sum(pair.counts(gap).values()) for gap in pair.gaps)
    return differing > FEW * size or any(span.end > span.border for span in map(pair.span, SIDES))


def _pair(scope: Scope, partition: int, source: Half, target: Half) -> PartitionPair:
    left, right = _identity(source.chunks), _identity(target.chunks)
    same = align(left, right)
    return PartitionPair(scope, partition, source, target, same, gaps(same, len(left), len(right)))


def _runs(columns: Mapping[str, Any] | None, size: int, where: str) -> Chunks:
    """Return the runs of one side of one partition.

    Raises `AuditError` ``read_twice`` unless a single task has read all of it in complete runs.
    """
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
        raise AuditError("read_twice", f"Spark read {where} in several parts, which proves nothing. Run it again.")
    return _chunks(columns, slice(None))


def _ranks(runs: Chunks, offsets: set[int]) -> tuple[dict[int, int], Ask | None]:
    """Return the number of visible records before each offset, and what to read for those with gaps around them."""
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
    """Return the sorted rows of one pass by side and partition. Each lane is one Spark job."""
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
    """Return the topics of one read whose timestamps are compared, and all its topics."""
    chosen = [
        (scope.side(name).topic, scope.timestamps)
        for scope in scopes
        for name in SIDES
        if scope.read_from(name) == (cluster, isolation)
    ]
    return [topic for topic, counts in chosen if counts], [topic for topic, _other in chosen]


Lane = tuple[str, str, int]  # cluster, isolation, and a number that differs if a topic belongs to several pairs


def _lanes(scopes: list[Scope]) -> dict[Lane, list[tuple[Scope, str]]]:
    """Group the sides that are read together. No topic is twice in one read, because its ranges may differ."""
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
    """Return columns as numpy arrays by (topic, partition), sorted by the columns ``order``, the last one first.

    The column ``row`` holds the index in the table, for the columns ``without``, which are not converted.
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
    """Replace the result of the first pass by that of the second, or add the ranks that the first did not know."""
    half, where = pair.half(name), f"{pair.scope.side(name)}-{pair.partition}"
    chunks, ranks, total = Chunks.of([]), dict.fromkeys(ask.watched, 0), 0
    if columns is not None:
        kind = columns["kind"]
        if (kind == END).sum() != 1:
            raise AuditError("read_twice", f"Spark read {where} in several parts, which proves nothing. Run it again.")
        counted = columns["first"][kind == RANK].tolist(), columns["records"][kind == RANK].tolist()
        ranks = dict(zip(*counted, strict=True))
        total = int(columns["records"][kind == END][0])
        chunks = _chunks(
            columns, (kind == CHUNK) & (columns["first"] < (ask.end if ask.border is None else ask.border))
        )
    begin, end = np.searchsorted(half.chunks.first, [ask.start, ask.end if ask.border is None else ask.border])
    seen = int(half.chunks.records[begin:end].sum())
    if chunks.total != seen:
        pair.scope.reasons.append(f"{where}: the first read had {seen} records, the second {chunks.total}")
    if ask.border is None:
        below = int(half.chunks.records[:begin].sum())
        return Half(half.chunks, 0, {**half.ranks, **{offset: below + rank for offset, rank in ranks.items()}})
    if chunks.total != ranks[ask.border]:
        raise AuditError("read_twice", f"The rows of {where} do not add up, which proves nothing. Run it again.")
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
    """Combine digest and count into one word. Two chunks are equal if their words are."""
    return mixed(chunks.digest ^ mixed(chunks.records.view(np.uint64)))
