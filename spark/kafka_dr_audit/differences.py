# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Classify differences: each record without a counterpart at its place gets exactly one class.

The input is the records of the differing parts of one topic pair, as fingerprints. Payloads never reach this module.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, fields, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from .alignment import Same, align, gaps
from .chunks import Longs, Words, mixed

LOST = "LOST"
NOT_YET = "NOT_YET"
NEWER = "NEWER"
ERRANT = "ERRANT"
EXPIRED = "EXPIRED"
COMPACTED = "COMPACTED"
DUPLICATE = "DUPLICATE"
REORDERED = "REORDERED"
CORRUPT = "CORRUPT"
MISPLACED = "MISPLACED"
ABORTED = "ABORTED"
FOREIGN = "FOREIGN"
RETIMED = "RETIMED"

KINDS = (
    *(LOST, CORRUPT, REORDERED, MISPLACED, ABORTED, FOREIGN, DUPLICATE),
    *(ERRANT, NOT_YET, NEWER, EXPIRED, COMPACTED, RETIMED),
)
PARTS = ("key", "value", "headers", "timestamp")


@dataclass(frozen=True, eq=False)
class Records:
    """The records of one side of one region, as columns in the order of the log.

    Fingerprints can be compared only with those of the same run.
    """

    rank: Longs  # number of visible records of the compared range before it; jumps where a part was not read
    offset: Longs
    stamp: Longs  # milliseconds since the epoch; -1: the record has no timestamp
    whole: Words
    key: Words
    value: Words
    headers: Words
    tombstone: npt.NDArray[np.bool_]
    appended: npt.NDArray[np.bool_]  # LogAppendTime: the broker set the timestamp

    @cached_property
    def content(self) -> Words:
        """Fingerprints of key, value and headers."""
        return mixed(self.key ^ mixed(self.value ^ mixed(self.headers)))

    def __len__(self) -> int:
        return len(self.offset)

    @staticmethod
    def none() -> Records:
        """No records."""
        words, longs, flags = np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0, np.bool_)
        return Records(longs, longs, longs, words, words, words, words, flags, flags)

    def take(self, chosen: npt.NDArray[np.bool_]) -> Records:
        """Return the chosen records."""
        return Records(*(getattr(self, item.name)[chosen] for item in fields(Records)))


@dataclass(frozen=True)
class Edge:
    """Facts about one side of a partition that explain which records may be missing there."""

    start: int = 0  # log start offset
    begin: int = 0  # where the compared range begins by plan
    expires: bool = False  # True: the topic's retention explains a log start offset above 0
    compacts: bool = False

    @property
    def deleted(self) -> int:
        """Number of offsets that were deleted from the head of the compared range."""
        return max(0, self.start - self.begin)


@dataclass(frozen=True, eq=False)
class Region:
    """A differing part of a partition. The records around it are equal on both sides. Compares by identity."""

    partition: int
    #: Records of the source and of the target.
    left: Records
    right: Records
    #: True: no equal records precede the region, or follow it.
    head: bool = False
    tail: bool = False
    source: Edge = field(default_factory=Edge)
    target: Edge = field(default_factory=Edge)
    #: Source offset before which the flow reports that it replicated everything. None: unknown.
    replicated: int | None = None
    #: Fingerprints of source records that only a read_uncommitted reader receives.
    aborted: Set[int] = frozenset()
    #: Fingerprint -> (offset, timestamp) of records elsewhere in the source partition.
    origins: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    #: Fingerprints of records that the source received after the snapshot.
    later: Set[int] = frozenset()
    #: Content fingerprints of those among them that have no timestamp.
    untimed: Set[int] = frozenset()


@dataclass(frozen=True)
class Rules:
    """The rules for a topic pair."""

    timestamps: bool = True  # both topics keep the timestamps of producers
    mode: str = "complete"  # complete | online | disaster


@dataclass(frozen=True)
class Difference:
    """The difference of one record. Values of a side that does not have the record are None.

    Ranks count from the start of the compared range.
    """

    kind: str
    partition: int
    source_offset: int | None = None
    source_stamp: int | None = None
    source_rank: int | None = None
    target_offset: int | None = None
    target_stamp: int | None = None
    target_rank: int | None = None
    target_partition: int | None = None  # only if it is another partition
    parts: tuple[str, ...] = ()  # only for CORRUPT: the parts that differ
    detail: str = ""


@dataclass(frozen=True)
class Aligned:
    """The equal parts of one region, as ranks of the compared range."""

    partition: int
    same: tuple[Same, ...]


@dataclass(frozen=True, eq=False)
class _One:
    """A record without a counterpart at its place. Compares by identity."""

    region: Region
    index: int
    gap: int  # index of the gap within the region
    gaps: int  # number of gaps of the region
    opens: bool = False  # True: no equal record precedes this gap in the region
    closes: bool = False  # True: no equal record follows this gap in the region

    @property
    def at_head(self) -> bool:
        return self.region.head and self.gap == 0 and self.opens

    @property
    def at_tail(self) -> bool:
        return self.region.tail and self.gap == self.gaps - 1 and self.closes


def classify(regions: Sequence[Region], rules: Rules) -> tuple[list[Difference], list[Aligned]]:
    """Return all differences of one topic pair, and the equal parts inside its regions."""
    missing: list[_One] = []
    extra: list[_One] = []
    aligned: list[Aligned] = []
    found: list[Difference] = []
    read, regions = regions, _carried(regions) if rules.timestamps else regions
    for whole, region in zip(read, regions, strict=True):
        same = align(region.left.whole, region.right.whole)
        found += _retimed(whole, same)
        left_only, right_only = _unmatched(region, same)
        missing += left_only
        extra += right_only
        aligned.append(Aligned(region.partition, tuple(_by_rank(region, same))))
    for step in (_moved, _resent, _aborted, _compacted, _changed):
        more, missing, extra = step(missing, extra, regions, rules)
        found += more
    found += [_left_over(one, rules) for one in missing]
    heads: dict[int, _Head] = defaultdict(_Head)
    found += [_added(one, rules, heads[one.region.partition]) for one in sorted(extra, key=_right_rank)]
    return found, aligned


def _carried(regions: Sequence[Region]) -> Sequence[Region]:
    """Replace fingerprints so that a record and its copy have the same one, even if the flow changed the timestamp.

    The copy of a record without a timestamp gets the time of replication, and a broker with LogAppendTime sets its own
    timestamp. Such a record is compared by its content alone. So is every target record that may be its copy: one with
    the same content, unless a source record with that content has the same timestamp.
    """
    nothing = np.empty(0, np.uint64)
    untimed = np.concatenate([nothing, *(one.left.content[one.left.stamp < 0] for one in regions)])
    untimed = np.concatenate([untimed, *(np.fromiter(one.untimed, np.uint64) for one in regions)])
    appended = np.concatenate([nothing, *(one.right.content[one.right.appended] for one in regions)])
    if not len(untimed) and not len(appended):
        return regions
    timed = np.concatenate([_timed(one.left)[one.left.stamp >= 0] for one in regions])

    def counted(records: Records, loose: npt.NDArray[np.bool_]) -> Records:
        content = records.content
        return replace(records, whole=np.where(loose | np.isin(content, appended), content, records.whole))

    return [
        replace(
            one,
            left=counted(one.left, one.left.stamp < 0),
            right=counted(one.right, np.isin(one.right.content, untimed) & ~np.isin(_timed(one.right), timed)),
        )
        for one in regions
    ]


def _timed(records: Records) -> Words:
    """Return fingerprints of content and timestamp."""
    return mixed(records.content ^ mixed(records.stamp.view(np.uint64)))


def _retimed(region: Region, same: Sequence[Same]) -> Iterator[Difference]:
    """Yield copies that differ from their originals only in the timestamp: RETIMED if explained, else CORRUPT."""
    left, right = region.left, region.right
    repeated = Counter(left.content.tolist()) if right.appended.any() else {}
    for part in same:
        i, j = np.arange(part.left, part.left + part.length), np.arange(part.right, part.right + part.length)
        for at in np.flatnonzero(left.whole[i] != right.whole[j]).tolist():
            one, twin = int(i[at]), int(j[at])
            pair = _One(region, one, 0, 0), _One(region, twin, 0, 0)
            if left.stamp[one] < 0:
                yield _difference(RETIMED, *pair, "no timestamp on the source: the copy has the time of replication")
            elif right.appended[twin] or repeated.get(int(left.content[one]), 0) > 1:
                yield _difference(RETIMED, *pair, "the target's broker set the timestamp (LogAppendTime)")
            else:
                yield replace(_difference(CORRUPT, *pair), parts=(PARTS[3],))


def _by_rank(region: Region, same: list[Same]) -> Iterator[Same]:
    """Yield the equal parts as ranks. A part that continues after a range that was not read is split in two."""
    for part in same:
        left = region.left.rank[part.left : part.left + part.length]
        right = region.right.rank[part.right : part.right + part.length]
        breaks = np.flatnonzero((np.diff(left) != 1) | (np.diff(right) != 1)) + 1
        for begin, end in zip([0, *breaks.tolist()], [*breaks.tolist(), part.length], strict=True):
            yield Same(int(left[begin]), int(right[begin]), end - begin)


StepResult = tuple[list[Difference], list[_One], list[_One]]


def _unmatched(region: Region, same: list[Same]) -> tuple[list[_One], list[_One]]:
    between = gaps(same, len(region.left), len(region.right))
    left: list[_One] = []
    right: list[_One] = []
    for number, gap in enumerate(between):
        opens = gap.left == 0 and gap.right == 0
        closes = gap.left_end == len(region.left) and gap.right_end == len(region.right)
        place = (number, len(between), opens, closes)
        left += [_One(region, index, *place) for index in range(gap.left, gap.left_end)]
        right += [_One(region, index, *place) for index in range(gap.right, gap.right_end)]
    return left, right


def _moved(missing: list[_One], extra: list[_One], regions: Sequence[Region], rules: Rules) -> StepResult:
    """Match records that are missing at one place with the same records at another, in the same partition first."""
    near, missing, extra = _twins(missing, extra, lambda one, side: (one.region.partition, _whole(one, side)))
    far, missing, extra = _twins(missing, extra, _whole)
    found = [_difference(REORDERED, one, twin) for one, twin in near]
    for one, twin in far:
        found.append(replace(_difference(MISPLACED, one, twin), target_partition=twin.region.partition))
    return found, missing, extra


def _twins(
    missing: list[_One], extra: list[_One], key: Callable[[_One, str], Hashable]
) -> tuple[list[tuple[_One, _One]], list[_One], list[_One]]:
    """Pair records of both sides with the same key, in order. Return the pairs and the rest of each side."""
    waiting: dict[Hashable, list[_One]] = defaultdict(list)
    for one in reversed(extra):
        waiting[key(one, "right")].append(one)
    pairs, still = [], []
    for one in missing:
        if twins := waiting.get(key(one, "left")):
            pairs.append((one, twins.pop()))
        else:
            still.append(one)
    used = {twin for _one, twin in pairs}
    return pairs, still, [one for one in extra if one not in used]


def _resent(missing: list[_One], extra: list[_One], regions: Sequence[Region], rules: Rules) -> StepResult:
    """Find records that the source has and whose copy is already at its place: the flow sent them again."""
    wanted: dict[int, set[int]] = defaultdict(set)
    for one in extra:
        wanted[one.region.partition].add(_whole(one, "right"))
    known: dict[tuple[int, int], tuple[Region, int]] = {}
    for region in regions:
        for index, word in enumerate(region.left.whole.tolist()):
            if word in wanted[region.partition]:
                known.setdefault((region.partition, word), (region, index))
    found, still = [], []
    for one in extra:
        word = _whole(one, "right")
        origin = known.get((one.region.partition, word))
        if origin is not None:
            found.append(_difference(DUPLICATE, _One(*origin, 0, 0), one))
        elif word in one.region.origins:
            offset, stamp = one.region.origins[word]
            found.append(replace(_difference(DUPLICATE, None, one), source_offset=offset, source_stamp=stamp))
        else:
            still.append(one)
    return found, missing, still


def _aborted(missing: list[_One], extra: list[_One], regions: Sequence[Region], rules: Rules) -> StepResult:
    """Find copies of records that their producer aborted."""
    found = [_difference(ABORTED, None, one) for one in extra if _whole(one, "right") in one.region.aborted]
    return found, missing, [one for one in extra if _whole(one, "right") not in one.region.aborted]


def _compacted(missing: list[_One], extra: list[_One], regions: Sequence[Region], rules: Rules) -> StepResult:
    """Find records that compaction removed: a later record on one of the sides has the same key."""
    if not any(region.source.compacts or region.target.compacts for region in regions):
        return [], missing, extra
    known: dict[tuple[int, str, int], _Key] = defaultdict(_Key)
    for region in regions:
        for side in ("left", "right"):
            records: Records = getattr(region, side)
            rows = (records.key.tolist(), records.whole.tolist(), records.offset.tolist(), records.tombstone.tolist())
            for key, whole, offset, tombstone in zip(*rows, strict=True):
                known[region.partition, side, key].add(whole, offset, tombstone)
    found: list[Difference] = []
    still: dict[str, list[_One]] = {"left": [], "right": []}
    for side, ones in (("left", missing), ("right", extra)):
        other = "right" if side == "left" else "left"
        for one in ones:
            lacks = one.region.target if side == "left" else one.region.source
            records = getattr(one.region, side)
            key = int(records.key[one.index])
            here, there = known[one.region.partition, side, key], known[one.region.partition, other, key]
            if lacks.compacts and here.explains(there, int(records.offset[one.index])):
                pair = (one, None) if side == "left" else (None, one)
                found.append(_difference(COMPACTED, *pair))
            else:
                still[side].append(one)
    return found, still["left"], still["right"]


@dataclass
class _Key:
    """The records of one key on one side."""

    offsets: dict[int, int] = field(default_factory=dict)  # offset of the newest record by fingerprint
    newest: int = -1  # offset of the newest record
    ends: bool = False  # True: the newest record is a tombstone

    def add(self, whole: int, offset: int, tombstone: bool) -> None:
        """Add one record."""
        self.offsets[whole] = max(offset, self.offsets.get(whole, -1))
        if offset > self.newest:
            self.newest, self.ends = offset, tombstone

    def explains(self, other: _Key, offset: int) -> bool:
        """Whether compaction explains that the side ``other`` lacks the record at ``offset``.

        It does if that side has a later record of the key, or if it removed all of them after a tombstone.
        """
        later = any(self.offsets.get(whole, -1) > offset for whole in other.offsets)
        return later or (self.ends and not other.offsets)


def _changed(missing: list[_One], extra: list[_One], regions: Sequence[Region], rules: Rules) -> StepResult:
    """Pair a missing record with another record at its place: the same record, altered."""
    places: dict[tuple[Region, int], tuple[list[_One], list[_One]]] = defaultdict(lambda: ([], []))
    for side, ones in enumerate((missing, extra)):
        for one in ones:
            places[one.region, one.gap][side].append(one)
    found: list[Difference] = []
    used: set[_One] = set()
    for left, right in places.values():
        for one, twin in _counterparts(left, right, rules):
            used |= {one, twin}
            found.append(replace(_difference(CORRUPT, one, twin), parts=_differing(one, twin, rules)))
    return found, [one for one in missing if one not in used], [one for one in extra if one not in used]


def _counterparts(left: list[_One], right: list[_One], rules: Rules) -> Iterator[tuple[_One, _One]]:
    if len(left) == len(right):
        yield from zip(left, right, strict=True)
        return
    if left and right and left[0].at_head and (right[0].region.source.deleted or right[0].region.target.deleted):
        # Retention removed the head of one side, so match the records backward from the first equal record.
        length = min(len(left), len(right))
        yield from zip(left[-length:], right[-length:], strict=True)
        return
    # By key or by value, in order on both sides.
    places: dict[tuple[str, int], list[int]] = defaultdict(list)
    for index, twin in enumerate(right):
        for part in ("key", "value"):
            places[part, int(getattr(twin.region.right, part)[twin.index])].append(index)
    begin = 0
    for one in left:
        ahead = []
        for part in ("key", "value"):
            found = places.get((part, int(getattr(one.region.left, part)[one.index])), [])
            at = bisect_left(found, begin)
            ahead += found[at : at + 1]
        if ahead:
            begin = min(ahead) + 1
            yield one, right[begin - 1]


def _differing(one: _One, twin: _One, rules: Rules) -> tuple[str, ...]:
    left, right = one.region.left, twin.region.right
    parts = [name for name in PARTS[:3] if getattr(left, name)[one.index] != getattr(right, name)[twin.index]]
    if rules.timestamps and left.stamp[one.index] != right.stamp[twin.index]:
        parts.append(PARTS[3])
    return tuple(parts)


def _left_over(one: _One, rules: Rules) -> Difference:
    """Classify a record that is on the source but not on the target."""
    offset = int(one.region.left.offset[one.index])
    region = one.region
    beyond = region.replicated is not None and offset >= region.replicated
    if rules.mode == "disaster" and beyond:
        return _difference(ERRANT, one, None)
    if beyond or (rules.mode == "online" and one.at_tail):
        return _difference(NOT_YET, one, None)
    if one.at_head and region.target.deleted > int(region.left.rank[one.index]):
        why = "its retention explains it" if region.target.expires else "its retention does not explain it"
        return _difference(EXPIRED, one, None, f"the target's log begins at {region.target.start}; {why}")
    return _difference(LOST, one, None)


@dataclass
class _Head:
    """The copies, found so far, of records that the source has deleted from a partition.

    Contents are counted too: a deleted record may have had no timestamp, and then its copies have different timestamps.
    """

    whole: set[int] = field(default_factory=set)
    contents: set[int] = field(default_factory=set)


def _added(one: _One, rules: Rules, head: _Head) -> Difference:
    """Classify a record that is on the target but not on the source."""
    region, word, content = one.region, _whole(one, "right"), int(one.region.right.content[one.index])
    if rules.mode == "online" and one.at_tail and (word in region.later or word in region.untimed):
        return _difference(NEWER, None, one)
    if word in head.whole:
        return _difference(DUPLICATE, None, one)
    # A log that lost n offsets from its head lacks at most n of the records at the head of the other log.
    if one.at_head and region.source.deleted > len(head.contents):
        head.whole.add(word)
        head.contents.add(content)
        return _difference(EXPIRED, None, one, f"the source's log begins at {region.source.start}")
    if one.at_head and content in head.contents:
        return _difference(DUPLICATE, None, one, "the source deleted it; its copies differ in the timestamp")
    return _difference(FOREIGN, None, one)


def _right_rank(one: _One) -> int:
    return int(one.region.right.rank[one.index])


def _whole(one: _One, side: str) -> int:
    return int(getattr(one.region, side).whole[one.index])


def _difference(kind: str, one: _One | None, twin: _One | None, detail: str = "") -> Difference:
    some = one or twin
    assert some is not None
    return Difference(kind, some.region.partition, *_located(one, "left"), *_located(twin, "right"), detail=detail)


def _located(one: _One | None, side: str) -> tuple[int | None, int | None, int | None]:
    """Return offset, timestamp and rank."""
    if one is None:
        return None, None, None
    records: Records = getattr(one.region, side)
    return int(records.offset[one.index]), int(records.stamp[one.index]), int(records.rank[one.index])
