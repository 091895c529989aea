# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Level 1: one pass over each side, and what is equal by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from .alignment import Gap, Same, align, gaps
from .chunks import Chunks, chunk_size, mixed
from .errors import AuditError
from .plan import Plan
from .progress import Progress, rows_read
from .reading import CHUNK, END, RANK, Reader, Recipe
from .snapshot import Scope

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

SIDES = ("source", "target")


@dataclass(frozen=True)
class Half:
    """One side of one partition: chunks of the planned range, records behind it, ranks of the watched offsets."""

    chunks: Chunks
    outside: int
    ranks: Mapping[int, int]


@dataclass(frozen=True)
class Pair:
    """One partition of a topic pair after level 1. Gaps and equal parts are indexes of chunks."""

    scope: Scope
    partition: int
    source: Half
    target: Half
    same: list[Same]
    gaps: list[Gap]


def compare(
    plan: Plan,
    scopes: list[Scope],
    reader: Reader,
    names: Mapping[int, str],
    session: SparkSession,
    progress: Progress,
) -> list[Pair]:
    """Reads everything once. Raises what Spark raises."""
    readable = [scope for scope in scopes if scope.readable]
    planned = sum(span.end - span.start for scope in readable for span in scope.spans.values())
    size = chunk_size(planned // 2)
    jobs: dict[Lane, Any] = {}
    lanes = _lanes(readable)
    ids = {topic: number for number, topic in names.items()}
    before = rows_read(session)
    with ThreadPoolExecutor() as pool:
        for lane, sides in lanes.items():
            jobs[lane] = pool.submit(_read, plan, lane, sides, reader, ids, size)
        progress.watch(list(jobs.values()), "level 1", planned, lambda: rows_read(session) - before)
    tables = {
        (id(scope), name): by_place(jobs[lane].result(), "first", "kind")
        for lane, sides in lanes.items()
        for scope, name in sides
    }
    pairs = []
    for scope in readable:
        for partition in scope.topic.partitions:
            source = _half(scope, "source", partition.number, ids, tables)
            target = _half(scope, "target", partition.number, ids, tables)
            left, right = _identity(source.chunks), _identity(target.chunks)
            same = align(left, right)
            pairs.append(Pair(scope, partition.number, source, target, same, gaps(same, len(left), len(right))))
    return pairs


def timestamps(scopes: list[Scope], cluster: str, isolation: str) -> tuple[list[str], list[str]]:
    """Topics of one read whose timestamps count, and all topics of it."""
    chosen = [
        (scope.side(name).topic, scope.timestamps)
        for scope in scopes
        for name in SIDES
        if (scope.side(name).cluster, scope.isolation(name)) == (cluster, isolation)
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
                lane = (scope.side(name).cluster, scope.isolation(name), number)
                taken = {other.side(of).topic for other, of in lanes.get(lane, ())}
                if scope.side(name).topic not in taken:
                    break
                number += 1
            lanes.setdefault(lane, []).append((scope, name))
    return lanes


def _read(
    plan: Plan, lane: Lane, sides: list[tuple[Scope, str]], reader: Reader, ids: Mapping[str, int], size: int
) -> pa.Table | None:
    cluster, isolation, _other = lane
    ranges, watched, borders = {}, {}, {}
    for scope, name in sides:
        for (of, partition), span in scope.spans.items():
            side = scope.side(name)
            if of != name or span.end == span.start:
                continue
            ranges[side.topic, partition] = (span.start, span.end)
            borders[ids[side.topic], partition] = span.border
            watched[ids[side.topic], partition] = sorted(_watched(scope, name, partition) | {span.border})
    if not ranges:
        return None
    records = reader.records(plan.clusters[cluster], isolation, ranges)
    whole = reader.whole(*timestamps([scope for scope, _other in sides], cluster, isolation))
    return reader.summaries(records, whole, Recipe(size, watched, borders)).toArrow()


def _watched(scope: Scope, name: str, partition: int) -> set[int]:
    positions = [position for position in scope.topic.positions if position.partition == partition]
    return set().union(*(position.watched(name) for position in positions))


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


def _half(scope: Scope, name: str, partition: int, ids: Mapping[str, int], tables: Mapping[Any, Any]) -> Half:
    side, span = scope.side(name), scope.spans[name, partition]
    columns = tables[id(scope), name].get((ids[side.topic], partition))
    if columns is None:
        # No row at all: an empty range, or one without a visible record.
        return Half(Chunks.of([]), 0, dict.fromkeys(_watched(scope, name, partition) | {span.border}, 0))
    kind = columns["kind"]
    if (kind == END).sum() != 1:
        raise AuditError(
            "read_twice", f"Spark read {side.cluster}:{side.topic}-{partition} in several parts: no proof."
        )
    ranks = dict(zip(columns["first"][kind == RANK].tolist(), columns["records"][kind == RANK].tolist(), strict=True))
    inside = (kind == CHUNK) & (columns["first"] < span.border)
    chunks = Chunks(
        columns["first"][inside],
        columns["last"][inside],
        columns["records"][inside],
        columns["digest"][inside].view(np.uint64),
        columns["oldest"][inside],
        columns["newest"][inside],
    )
    total = int(columns["records"][kind == END][0])
    if chunks.total != ranks[span.border]:
        raise AuditError("read_twice", f"Rows of {side.cluster}:{side.topic}-{partition} do not add up: no proof.")
    return Half(chunks, total - ranks[span.border], ranks)


def _identity(chunks: Chunks) -> Any:
    """Digest and count in one word: what makes two chunks the same."""
    return mixed(chunks.digest ^ mixed(chunks.records.view(np.uint64)))
