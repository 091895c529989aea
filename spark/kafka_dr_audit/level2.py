# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Level 2: read the differing parts again, record by record, and classify each difference."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np

from .alignment import Gap
from .brokers import TopicDescription, TopicPartition
from .chunks import Chunks
from .differences import EXPIRED, FOREIGN, LOST, NOT_YET, Aligned, Difference, Edge, Records, Region, Rules, classify
from .level1 import PartitionPair, by_place, timestamps
from .plan import SIDES
from .reading import AuditContext
from .snapshot import TARGET_ISOLATION, Scope

ROUNDS = 64  # maximum number of differing parts of a partition to read separately; more are joined
PAUSE = 1.0  # seconds between two observations of a snapshot's last records
SEARCHED = 10_000  # maximum number of fingerprints to search for in a whole partition


@dataclass(frozen=True)
class Piece:
    """Offsets [start, end) of one side. ``rank``: the rank of its first record."""

    start: int
    end: int
    rank: int


@dataclass(frozen=True)
class Bulk:
    """A run that is too long to be read record by record, so its records are only counted.

    ``kind`` None: the class of the records is unknown. ``oldest`` and ``newest``: timestamps in milliseconds.
    """

    kind: str | None
    partition: int
    source_records: int
    target_records: int
    source: tuple[int, int] | None  # first and last offset; None: no records on this side
    target: tuple[int, int] | None
    oldest: int
    newest: int


@dataclass(frozen=True)
class Spec:
    """What to read of one differing part."""

    pair: PartitionPair
    gap: Gap
    pieces: Mapping[str, tuple[Piece, ...]]
    head: bool
    tail: bool
    counts: Mapping[str, int] | None = None  # number of records in level 1; None: only the ends are read

    @property
    def scope(self) -> Scope:
        """The topic pair."""
        return self.pair.scope

    @property
    def growing(self) -> bool:
        """True if producers write after this part while the audit reads."""
        return self.tail and self.scope.topic.mode == "online"

    def place(self, name: str) -> TopicPartition:
        """Topic and partition on the side ``name``."""
        return self.scope.side(name).topic, self.pair.partition

    def log(self, name: str) -> tuple[str, TopicPartition]:
        """Cluster, and topic and partition, on the side ``name``."""
        return self.scope.side(name).cluster, self.place(name)


@dataclass
class Compared:
    """One topic pair after both levels."""

    scope: Scope
    pairs: list[PartitionPair]
    differences: list[Difference] = field(default_factory=list)
    aligned: list[Aligned] = field(default_factory=list)
    bulks: list[Bulk] = field(default_factory=list)
    ranges: dict[int, list[Gap]] = field(default_factory=dict)  # chunks that were read again, by partition
    # Partitions of which only a part was read, so that an unmatched record may be a copy of a record outside that part.
    narrow: set[int] = field(default_factory=set)
    read: dict[tuple[str, int], tuple[Any, Any, Any]] = field(default_factory=dict)  # offsets, rows, table

    def hashes(self, name: str, partition: int, offset: int) -> tuple[str | None, str | None]:
        """Return the SHA-256 of key and value of a record. None: it was not read again."""
        if (name, partition) not in self.read:
            return None, None
        offsets, rows, table = self.read[name, partition]
        at = int(np.searchsorted(offsets, offset))
        if at == len(offsets) or offsets[at] != offset:
            return None, None
        return table["key_sha256"][int(rows[at])].as_py(), table["value_sha256"][int(rows[at])].as_py()


def by_scope(pairs: list[PartitionPair]) -> dict[Scope, Compared]:
    """Group the result of level 1 by topic pair."""
    found: dict[Scope, Compared] = {}
    for pair in pairs:
        found.setdefault(pair.scope, Compared(pair.scope, [])).pairs.append(pair)
    return found


def explain(pairs: list[PartitionPair], context: AuditContext) -> tuple[list[Compared], int]:
    """Classify everything that differs. Return the result, and the number of records that were read again."""
    found = by_scope(pairs)
    specs = _specs(pairs, found, context.budget)
    if not specs:
        return list(found.values()), 0
    records = _records(SIDES, specs, context, found)
    regions = _observed(specs, records, context, found)
    _check_counts(regions)
    again = sum(len(region.left) + len(region.right) for _spec, region in regions)
    regions, searched = _searched(regions, context, found)
    _name(regions, found)
    return list(found.values()), again + searched


def _check_counts(regions: list[tuple[Spec, Region]]) -> None:
    """Add a reason for UNKNOWN if the second read of a part has another number of records than the first."""
    for spec, region in regions:
        read = {"source": len(region.left), "target": len(region.right)}
        if spec.growing:
            del read["target"]  # the target may have grown
        for name, count in read.items() if spec.counts else ():
            if spec.counts and count != spec.counts[name]:
                spec.scope.reasons.append(
                    f"partition {spec.pair.partition}: the first read of the {name} had {spec.counts[name]} records, "
                    f"the second {count}"
                )


def _observed(
    specs: list[Spec], records: Mapping[str, list[Records]], context: AuditContext, found: Mapping[Scope, Compared]
) -> list[tuple[Spec, Region]]:
    """Compare. Online, read the target again until the missing records are replicated or time is up."""
    until = time.monotonic() + context.settle
    regions: dict[int, tuple[Spec, Region]] = {}
    waiting = list(range(len(specs)))
    reached, right = specs, records["target"]
    while waiting:
        for n, spec, read, (words, untimed) in zip(waiting, reached, right, _later(reached, context), strict=True):
            regions[n] = spec, replace(_region(spec, records["source"][n], read), later=words, untimed=untimed)
        _name([regions[n] for n in sorted(regions)], found)
        late = {
            (compared.scope, item.partition)
            for compared in found.values()
            if compared.scope.topic.mode == "online"
            for item in compared.differences
            if item.kind == NOT_YET
        }
        waiting = [n for n in waiting if (specs[n].scope, specs[n].pair.partition) in late]
        if time.monotonic() > until:
            break
        if waiting:
            context.progress.say(
                f"{len(waiting)} partitions of the snapshot are not fully replicated yet; reading them again"
            )
            time.sleep(PAUSE)
            reached = _reaching([specs[n] for n in waiting], context)
            right = _records(["target"], reached, context, found)["target"]
    return [regions[n] for n in sorted(regions)]


def _name(regions: list[tuple[Spec, Region]], found: Mapping[Scope, Compared]) -> None:
    for scope, compared in found.items():
        mine = [region for spec, region in regions if spec.scope is scope]
        rules = Rules(scope.timestamps, scope.topic.mode)
        compared.differences, compared.aligned = classify(mine, rules)


def _reaching(specs: list[Spec], context: AuditContext) -> list[Spec]:
    """Online, the target has grown meanwhile: extend its last part to its current end."""
    growing = [spec for spec in specs if spec.growing and not spec.scope.topic.target.live]
    ends: dict[tuple[str, TopicPartition], int] = {}
    for cluster in {spec.scope.topic.target.cluster for spec in growing}:
        places = [spec.place("target") for spec in growing if spec.scope.topic.target.cluster == cluster]
        found = context.brokers[cluster].ends(places, TARGET_ISOLATION)
        ends |= {(cluster, place): end for place, end in found.items()}

    def grown(spec: Spec) -> Spec:
        *pieces, last = spec.pieces["target"]
        last = replace(last, end=max(last.end, ends[spec.log("target")]))
        return replace(spec, pieces={**spec.pieces, "target": (*pieces, last)})

    return [grown(spec) if spec in growing else spec for spec in specs]


def _later(specs: list[Spec], context: AuditContext) -> list[tuple[frozenset[int], frozenset[int]]]:
    """Return fingerprints of records that the sources received after the snapshot: the target may have them already.

    The second set has the content fingerprints of those without a timestamp.
    """
    growing = [spec for spec in specs if spec.growing]
    wanted = []
    for cluster, isolation in {spec.scope.read_from("source") for spec in growing}:
        mine = [spec for spec in growing if spec.scope.read_from("source") == (cluster, isolation)]
        ends = context.brokers[cluster].ends([spec.place("source") for spec in mine], isolation)
        for spec in mine:
            place, end = spec.place("source"), spec.pair.span("source").end
            if ends[place] > end:
                wanted.append((spec.scope, place, (end, ends[place])))
    columns = _collect({"source": wanted}, context)["source"]
    found = []
    for spec in specs:
        rows = columns.get(spec.log("source")) if spec.growing else None
        records = _columns(rows, np.arange(len(rows["offset"]))) if rows else Records.none()
        untimed = records.content[records.stamp < 0]
        found.append((frozenset(records.whole.tolist()), frozenset(untimed.tolist())))
    return found


def _specs(pairs: list[PartitionPair], found: Mapping[Scope, Compared], budget: int) -> list[Spec]:
    """Select what to read: short parts as a whole, and the ends of longer ones, up to ``budget`` records.

    The rest is only counted, as runs.
    """
    wanted = [(pair, gap) for pair in pairs for gap in _joined(pair)]
    left, most = budget, max(1, min(1_000, budget // 8))
    chosen: list[tuple[int, Spec, list[Bulk]]] = []
    for n in sorted(range(len(wanted)), key=lambda n: sum(wanted[n][0].counts(wanted[n][1]).values())):
        pair, gap = wanted[n]
        counts = pair.counts(gap)
        if sum(counts.values()) <= left:
            chosen.append((n, *_spec(pair, gap, counts, True, 0)))
            left -= sum(counts.values())
            continue
        # Too long: read only the really differing parts, and only the ends of these.
        for inner in pair.gaps:
            if gap.left <= inner.left and inner.left_end <= gap.left_end:
                ends = most if left >= 4 * most else 0
                counts = pair.counts(inner)
                if counts["target"]:
                    found[pair.scope].narrow.add(pair.partition)
                chosen.append((n, *_spec(pair, inner, counts, sum(counts.values()) <= left, ends)))
                left -= min(left, sum(counts.values()), max(4 * ends, 1))
    for _order, spec, bulks in sorted(chosen, key=lambda item: (item[0], item[1].gap.left, item[1].gap.right)):
        compared = found[spec.scope]
        compared.bulks += bulks
        compared.ranges.setdefault(spec.pair.partition, []).append(spec.gap)
    return [spec for _order, spec, _bulks in chosen]


def _joined(pair: PartitionPair) -> list[Gap]:
    """Return the parts to read, widened to include the originals of resent records. Compacted topics: everything."""
    if not pair.gaps:
        return []
    if pair.scope.source and pair.scope.target and (pair.scope.source.compacts or pair.scope.target.compacts):
        return [Gap(0, len(pair.source.chunks), 0, len(pair.target.chunks))]
    wide: list[Gap] = []
    for gap in (_widened(pair, gap) for gap in pair.gaps):
        while wide and (gap.left <= wide[-1].left_end or gap.right <= wide[-1].right_end):
            gap = _union(wide.pop(), gap)
        wide.append(gap)
    while len(wide) > ROUNDS:
        distances = [after.left - before.left_end for before, after in pairwise(wide)]
        nearest = distances.index(min(distances))
        wide[nearest : nearest + 2] = [_union(wide[nearest], wide[nearest + 1])]
    return wide


def _union(before: Gap, after: Gap) -> Gap:
    return Gap(
        min(before.left, after.left),
        max(before.left_end, after.left_end),
        min(before.right, after.right),
        max(before.right_end, after.right_end),
    )


def _widened(pair: PartitionPair, gap: Gap) -> Gap:
    """Widen a gap with surplus records on the target.

    MirrorMaker 2 resends a run, so its originals are within the same number of records before or after the gap.
    """
    left, right, counts = pair.source.chunks.records, pair.target.chunks.records, pair.counts(gap)
    surplus = counts["target"] - counts["source"]
    if surplus <= 0:
        return gap
    # Extend chunk by chunk through equal parts. A gap on the way is included as a whole, on both sides.
    wanted = surplus + (int(left.max()) if len(left) else 0)
    before = {(other.left_end, other.right_end): other for other in pair.gaps}
    after = {(other.left, other.right): other for other in pair.gaps}
    i, j, read = gap.left, gap.right, 0
    while (i or j) and read < wanted:
        other = before.get((i, j))
        k, m = (other.left, other.right) if other else (i - 1, j - 1)
        read += int(left[k:i].sum())
        i, j = k, m
    k, m, read = gap.left_end, gap.right_end, 0
    while (k < len(left) or m < len(right)) and read < wanted:
        other = after.get((k, m))
        end = (other.left_end, other.right_end) if other else (k + 1, m + 1)
        read += int(left[k : end[0]].sum())
        k, m = end
    return Gap(i, k, j, m)


def _spec(pair: PartitionPair, gap: Gap, counts: Mapping[str, int], whole: bool, ends: int) -> tuple[Spec, list[Bulk]]:
    head = gap.left == 0 and gap.right == 0
    tail = gap.left_end == len(pair.source.chunks) and gap.right_end == len(pair.target.chunks)
    borders = {"source": (gap.left, gap.left_end), "target": (gap.right, gap.right_end)}
    if min(counts.values()) > ends:
        ends = 0  # matching records could lie between the ends, so neither side can be classified
    pieces, gaps = {}, {}
    for name, other in (("source", "target"), ("target", "source")):
        chunks = pair.half(name).chunks
        # Records with a counterpart on the other side are at an end of the longer side.
        keep = ends and ends + min(counts[other], ends)
        parts, gaps[name] = _parts(chunks, *borders[name], whole or counts[name] <= ends, keep)
        pieces[name] = tuple(_piece(chunks, begin, end, pair.span(name).border) for begin, end in parts)
    return Spec(pair, gap, pieces, head, tail, counts if whole else None), _bulks(pair, gaps, head, tail)


def _parts(
    chunks: Chunks, begin: int, end: int, whole: bool, keep: int
) -> tuple[list[tuple[int, int]], tuple[int, int] | None]:
    """Return the chunks to read, and those in between that are only counted."""
    sizes = chunks.records
    first, last = begin, end
    kept = 0
    while first < end and kept < keep:
        kept += int(sizes[first])
        first += 1
    kept = 0
    while last > first and kept < keep:
        last -= 1
        kept += int(sizes[last])
    if whole or first >= last:
        return [(begin, end)], None
    return [(begin, first), (last, end)], (first, last)


def _piece(chunks: Chunks, begin: int, end: int, border: int) -> Piece:
    start = int(chunks.first[begin]) if begin < len(chunks) else border
    stop = int(chunks.first[end]) if end < len(chunks) else border
    return Piece(start, max(start, stop), int(chunks.records[:begin].sum()))


def _bulks(pair: PartitionPair, gaps: Mapping[str, tuple[int, int] | None], head: bool, tail: bool) -> list[Bulk]:
    if not any(gaps.values()):
        return []
    facts: dict[str, Any] = {}
    stamps: list[int] = []
    for name in SIDES:
        chunks, gap = pair.half(name).chunks, gaps[name]
        begin, end = gap or (0, 0)
        facts[f"{name}_records"] = int(chunks.records[begin:end].sum())
        facts[name] = (int(chunks.first[begin]), int(chunks.last[end - 1])) if gap else None
        if gap:
            stamps += [int(chunks.oldest[begin:end].min()), int(chunks.newest[begin:end].max())]
    kind = None
    deleted = {name: pair.span(name).deleted for name in SIDES}
    if gaps["source"] and not gaps["target"]:
        kind = EXPIRED if head and deleted["target"] >= facts["source_records"] else LOST
        kind = NOT_YET if kind == LOST and tail and pair.scope.topic.mode == "online" else kind
    elif gaps["target"] and not gaps["source"] and head and deleted["source"] >= facts["target_records"]:
        kind = EXPIRED
    return [Bulk(kind, pair.partition, oldest=min(stamps), newest=max(stamps), **facts)]


def _records(
    names: Sequence[str], specs: Sequence[Spec], context: AuditContext, found: Mapping[Scope, Compared]
) -> dict[str, list[Records]]:
    """Return the records of each spec by side."""
    columns = _collect(
        {
            name: [
                (spec.scope, spec.place(name), (piece.start, piece.end))
                for spec in specs
                for piece in spec.pieces[name]
                if piece.end > piece.start
            ]
            for name in names
        },
        context,
    )
    records: dict[str, list[Records]] = {name: [] for name in names}
    for name in names:
        for spec in specs:
            rows = columns[name].get(spec.log(name))
            if rows is not None:
                found[spec.scope].read[name, spec.pair.partition] = rows["offset"], rows["row"], rows["table"]
            records[name].append(_of_spec(spec, name, rows))
    return records


RangesToRead = Sequence[tuple[Scope, TopicPartition, tuple[int, int]]]
Columns = dict[tuple[str, TopicPartition], dict[str, Any]]


def _collect(
    wanted: Mapping[str, RangesToRead], context: AuditContext, isolation: str = "", words: Sequence[int] | None = None
) -> dict[str, Columns]:
    """Return columns in the order of the log by side, and by (cluster, partition).

    One Spark job for each side, cluster and isolation. ``words``: return only records with one of these fingerprints.
    """
    frames, planned = {}, 0
    for name, items in wanted.items():
        for cluster, declared in {scope.read_from(name) for scope, _place, _ends in items}:
            mine = [item for item in items if item[0].read_from(name) == (cluster, declared)]
            whole = context.reader.whole(*timestamps([scope for scope, _place, _ends in mine], cluster, declared))
            settings = context.plan.clusters[cluster]
            reads = [
                context.reader.details(context.reader.records(settings, isolation or declared, ranges), whole)
                for ranges in _rounds(mine)
            ]
            rows = reduce(lambda one, other: one.union(other), reads)
            frames[name, cluster, declared] = rows if words is None else rows.where(rows["whole"].isin(list(words)))
            planned += sum(end - start for _scope, _place, (start, end) in mine)
    found: dict[str, Columns] = {name: {} for name in wanted}
    for (name, cluster, _declared), table in context.collect(frames, "level 2", planned).items():
        for (topic, partition), read in by_place(table, "offset", without=("key_sha256", "value_sha256")).items():
            # Two topic pairs may read the same records of one topic.
            once = np.unique(read["offset"], return_index=True)[1]
            columns = {column: values[once] for column, values in read.items()}
            found[name][cluster, (context.names[topic], partition)] = {**columns, "table": table}
    return found


def _rounds(wanted: RangesToRead) -> list[dict[TopicPartition, tuple[int, int]]]:
    """Distribute the ranges over reads. A read can have only one range for each partition."""
    rounds: list[dict[TopicPartition, tuple[int, int]]] = []
    for _scope, place, ends in wanted:
        free = next((ranges for ranges in rounds if place not in ranges), None)
        if free is None:
            rounds.append(free := {})
        free[place] = ends
    return rounds


def _of_spec(spec: Spec, name: str, rows: Mapping[str, Any] | None) -> Records:
    if rows is None:
        return Records.none()
    chosen, ranks = [], []
    for piece in spec.pieces[name]:
        low, high = np.searchsorted(rows["offset"], [piece.start, piece.end])
        chosen.append(np.arange(low, high))
        ranks.append(np.arange(piece.rank, piece.rank + high - low))
    return replace(_columns(rows, np.concatenate(chosen)), rank=np.concatenate(ranks))


def _columns(rows: Mapping[str, Any], index: Any) -> Records:
    """Return the rows at ``index`` as records with ranks from 0."""
    words = [rows[column][index].view(np.uint64) for column in ("whole", "key", "value", "headers")]
    flags = [rows[column][index].astype(np.bool_) for column in ("tombstone", "appended")]
    return Records(np.arange(len(index)), rows["offset"][index], rows["stamp"][index], *words, *flags)


def _region(spec: Spec, left: Records, right: Records) -> Region:
    scope, partition = spec.scope, spec.pair.partition
    planned = next(item for item in scope.topic.partitions if item.number == partition)
    source, target = (_edge(spec.pair, name) for name in SIDES)
    return Region(partition, left, right, spec.head, spec.tail, source, target, planned.replicated)


def _edge(pair: PartitionPair, name: str) -> Edge:
    topic: TopicDescription = getattr(pair.scope, name)
    span = pair.span(name)
    return Edge(span.log_start, span.begin, topic.expires, topic.compacts)


def _searched(
    regions: list[tuple[Spec, Region]], context: AuditContext, found: Mapping[Scope, Compared]
) -> tuple[list[tuple[Spec, Region]], int]:
    """Search the whole source partition for unexplained target records: far copies, or copies of aborted records."""
    foreign = {
        (compared.scope, item.partition, item.target_offset)
        for compared in found.values()
        for item in compared.differences
        if item.kind == FOREIGN
    }
    words: set[int] = set()
    wanted: dict[tuple[Scope, int], tuple[Scope, TopicPartition, tuple[int, int]]] = {}
    for spec, region in regions:
        scope, span = spec.scope, spec.pair.span("source")
        mine = {
            word
            for offset, word in zip(region.right.offset.tolist(), region.right.whole.tolist(), strict=True)
            if (scope, region.partition, offset) in foreign
        }
        if mine and span.end > span.start:
            words |= mine
            wanted[scope, region.partition] = (scope, spec.place("source"), (span.start, span.end))
    if len(words) > SEARCHED:
        context.progress.say(f"{len(words):,} target records have no original nearby: too many to search for them")
    if not wanted or len(words) > SEARCHED:
        return regions, 0
    signed = np.asarray(sorted(words), dtype=np.uint64).view(np.int64).tolist()
    ranges = {"source": list(wanted.values())}
    visible = _collect(ranges, context, words=signed)["source"]
    everything = _collect(ranges, context, "read_uncommitted", signed)["source"]
    enriched = []
    for spec, region in regions:
        origins = _known(visible.get(spec.log("source")))
        aborted = frozenset(_known(everything.get(spec.log("source")))) - set(origins)
        enriched.append((spec, replace(region, origins=origins, aborted=aborted)))
    return enriched, 2 * sum(end - start for _scope, _place, (start, end) in wanted.values())


def _known(rows: Mapping[str, Any] | None) -> dict[int, tuple[int, int]]:
    if rows is None:
        return {}
    words = rows["whole"].view(np.uint64).tolist()
    return dict(zip(words, zip(rows["offset"].tolist(), rows["stamp"].tolist(), strict=True), strict=True))
