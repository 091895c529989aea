# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Worlds: one partition that MirrorMaker 2 replicates as it really works, with every failure around it.

A world knows the truth (which replica record is a copy of which source record). The translation sees only what can be
read. Everything follows from the seed.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.fingerprints import fingerprints
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.internal_records import OffsetSync
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.missing_copies import Copy
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.read_copies import Window
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.skipped_ranges import SkippedRange, add
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.tenures import Tenure
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.translation import forward, reverse
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition

Mark = tuple[object, ...]
CREATED, APPENDED = "CreateTime", "LogAppendTime"


class Data(NamedTuple):
    """A record: its content, and for a replica record the source offset it copies (None: another writer's record).

    ``stamp`` None: the record has no timestamp. ``kind``: which program set it. ``repeats``: another writer's record
    that
    equals the copy of this source offset in every field.
    """

    offset: int
    stamp: int | None
    content: str
    origin: int | None = None
    key: int = 0
    kind: str = CREATED
    repeats: int | None = None


class ConsumedRecord(NamedTuple):
    """A record of a world as a consumer returns it. Its key is part of the content there."""

    timestamp: int | None
    timestamp_type: str
    value: bytes
    key: bytes | None = None
    headers: tuple[tuple[str, bytes | None], ...] = ()


@dataclass
class World:
    """The logs of both clusters (data records only), the truth in ``Data.origin``, and everything
    that can be observed.
    """

    seed: int
    kinds: frozenset[str]
    source: list[Data] = field(default_factory=list)
    replica: list[Data] = field(default_factory=list)
    start: int = 0
    source_end: int = 0
    replica_start: int = 0
    replica_end: int = 0
    last_replicated_offset: int | None = None
    first: int = 0
    syncs: list[OffsetSync] = field(default_factory=list)
    skipped_ranges: tuple[SkippedRange, ...] = ()

    def windows(self, sources: tuple[int, int], replicas: tuple[int, int]) -> tuple[Window, Window]:
        """The windows that are read on both clusters, as a consumer returns them."""
        spans = sources, replicas
        kept = [
            [one for one in log if low <= one.offset < high]
            for log, (low, high) in zip((self.source, self.replica), spans, strict=True)
        ]
        digests = fingerprints(
            *([ConsumedRecord(one.stamp, one.kind, one.content.encode()) for one in log] for log in kept)
        )
        left, right = (
            Window(*span, [one.offset for one in log], found)
            for span, log, found in zip(spans, kept, digests, strict=True)
        )
        return left, right

    def copy(self, sources: tuple[int, int] | None = None, replicas: tuple[int, int] | None = None) -> Copy:
        """What the translation sees. The windows default to the whole logs."""
        low, high = sources or (self.start, self.source_end)
        source, replica = self.windows((low, high), replicas or (self.replica_start, self.replica_end))
        return Copy(
            source=source,
            replica=replica,
            start=self.start,
            source_end=self.source_end,
            replica_start=self.replica_start,
            replica_end=self.replica_end,
            last_replicated_offset=self.last_replicated_offset,
            first=self.first,
            source_compacted="source_compacted" in self.kinds,
            replica_compacted="replica_compacted" in self.kinds,
            same_topics="recreated" not in self.kinds,
            syncs=tuple(self.syncs),
        )

    def part(self, tenure: Tenure, entered: str) -> Copy:
        """What the translation sees of one segment of the flow P->B, as FlowCopies bounds it."""
        key = Partition("T", 0)
        whole = {"P": (self.start, self.source_end), "B": (self.replica_start, self.replica_end)}
        logs = {"P": (self.start, self.source_end), "B": (self.replica_start, self.replica_end)}
        for alias, (low, high) in logs.items():
            begin = max(low, tenure.first(alias, key))
            end = high if tenure.end is None else min(high, tenure.end[alias][key])
            logs[alias] = (min(begin, max(low, end)), max(low, end))
        seen = self.copy(logs["P"], logs["B"])
        return replace(
            seen,
            start=logs["P"][0],
            source_end=logs["P"][1],
            replica_start=logs["B"][0],
            replica_end=logs["B"][1],
            last_replicated_offset=self.last_replicated_offset if tenure.end is None else tenure.end["P"][key] - 1,
            first=tenure.first("P", key),
            replica_first=tenure.first("B", key),
            gone_after=tenure.gone_after(entered, key, whole, self.compacted(entered)),
            ended=tenure.end is not None,
        )

    def compacted(self, alias: str) -> bool:
        return ("source_compacted" if alias == "P" else "replica_compacted") in self.kinds

    def brought(self, offset: int, commit: int | None = None) -> bool:
        """Return whether a replay added this source record before the replica grew to ``commit``."""
        return any(
            skipped_range.begin <= offset < skipped_range.end and (commit is None or skipped_range.replica_at <= commit)
            for skipped_range in self.skipped_ranges
        )

    # ---- the truth

    def skipped_forward(self, commit: int, offset: int) -> list[int]:
        """Unread source records that exist, were replicated, and have no copy at or after ``offset``."""
        at_or_after = {one.origin for one in self.replica if one.offset >= offset}
        lost = [one.offset for one in self.source if one.offset >= commit and one.offset not in at_or_after]
        last_replicated_offset = {one.origin for one in self.replica}
        return [one for one in lost if one in last_replicated_offset and not self.brought(one)]

    def lost_forward(self, commit: int, offset: int, repeats: bool = True) -> list[int]:
        """R30: unread records that the source has, that were replicated, and that a group cannot read from ``offset``
        on.

        ``repeats``: records that another writer repeated can still be read.
        """
        there = {number for one in self.replica if one.offset >= offset for number in (one.origin, one.repeats)}
        if not repeats:
            there = {one.origin for one in self.replica if one.offset >= offset}
        last_replicated_offset = {one.origin for one in self.replica + self.gone}
        unread = (one.offset for one in self.source if one.offset >= max(commit, self.first))
        return [one for one in unread if one in last_replicated_offset and one not in there and not self.brought(one)]

    def lost_reverse(self, commit: int, offset: int) -> list[int]:
        """R30: unread records of the replica whose original is not at or after ``offset``."""
        there = {one.offset for one in self.source if one.offset >= offset} | self.processed(commit)
        unread = {one.origin for one in self.replica if one.offset >= commit and one.origin is not None}
        return sorted(one for one in unread - there if one >= self.first)

    def reread_forward(self, commit: int, offset: int) -> int:
        """Processed source records at or after ``offset`` whose first copy there is not a resend."""
        seen = {one.origin for one in self.replica + self.gone if one.offset < offset}
        return len(
            {
                one.origin
                for one in self.replica
                if one.offset >= offset and one.origin is not None and one.origin < commit and one.origin not in seen
            }
        )

    def processed(self, commit: int) -> set[int]:
        """Source records processed by a group that has read the replica below ``commit``."""
        return {one.origin for one in self.replica + self.gone if one.offset < commit and one.origin is not None}

    # ---- the truth where copies are missing (R36): records that are equal in every field can stand in for each other

    @cached_property
    def _contents(self) -> tuple[list[tuple[int, Hashable]], ...]:
        """Offset and fingerprint of each record of the source, of the replica, and of its expired part."""
        logs = self.source, [*self.replica, *self.gone]
        digests = fingerprints(
            *([ConsumedRecord(one.stamp, one.kind, one.content.encode()) for one in log] for log in logs)
        )
        source, replica = (
            [(one.offset, found) for one, found in zip(log, of_log, strict=True)]
            for log, of_log in zip(logs, digests, strict=True)
        )
        return source, replica[: len(self.replica)], replica[len(self.replica) :]

    def missing_forward(self, commit: int, offset: int) -> tuple[int, int]:
        """Unread records without a copy at or after ``offset``: those with any copy, and all up to N."""
        source, replica, _gone = self._contents
        origins = {one.origin for one in (*self.replica, *self.gone)}
        reach = -1 if self.last_replicated_offset is None else self.last_replicated_offset
        after = Counter(found for at, found in replica if at >= offset)
        unread = Counter(
            found for at, found in source if at >= max(commit, self.first) and (at <= reach or at in origins)
        )
        passed = (unread - after).total() - (unread - Counter(found for _at, found in replica)).total()
        known = Counter(found for at, found in source if max(commit, self.first) <= at <= reach)
        return passed, (known - after).total()

    def missing_reverse(self, commit: int, offset: int) -> tuple[int, int]:
        """Records below ``offset`` that the group cannot have read below ``commit``: with an unread copy, and all."""
        source, replica, gone = self._contents
        below = Counter(found for at, found in source if self.first <= at < offset)
        read = Counter(found for at, found in (*replica, *gone) if at < commit)
        unread = Counter(found for at, found in replica if at >= commit)
        unprocessed = (below - read).total()
        return unprocessed - (below - read - unread).total(), unprocessed

    def lacking_originals(self, commit: int, offset: int) -> int:
        """Unread records of the replica whose original is no longer at or after ``offset``."""
        source, replica, _gone = self._contents
        origins = {one.offset for one in self.replica if one.origin is not None}
        unread = {found for at, found in replica if at >= commit and at in origins}
        read = {found for at, found in replica if at < commit}
        return len(unread - read - {found for at, found in source if at >= offset})

    gone: list[Data] = field(default_factory=list)
    gone_source: list[Data] = field(default_factory=list)

    def skipped_reverse(self, commit: int, offset: int) -> list[int]:
        """Source records that exist below ``offset`` and were never processed."""
        done = self.processed(commit)
        below = (one.offset for one in self.source if self.first <= one.offset < offset)
        return [one for one in below if one not in done and not self.brought(one, commit)]

    def reread_reverse(self, commit: int, offset: int) -> int:
        """Processed source records at or after ``offset``, except those that are on the replica again."""
        done = self.processed(commit) - {one.origin for one in self.replica if one.offset >= commit}
        return sum(one.offset >= offset and one.offset in done for one in self.source)


KINDS = (
    "stamps_jump",
    "foreign_writes",
    "untimed",
    "source_append_time",
    "replica_append_time",
    "resends",
    "periodic",
    "identical",
    "transactions",
    "aborted",
    "source_compacted",
    "replica_compacted",
    "source_retention",
    "replica_retention",
    "syncs_lost",
    "syncs_compacted",
    "patched",
    "running",
    "recreated",
)
#: States in which a source record at or before N has no copy (R36). None of them is a fault of MirrorMaker 2.
GAPS = (
    # cleanup.policy was compact for a while, and is delete again.
    "replica_compacted_once",
    "source_compacted_once",
    # The flow's stored offsets were set forward (KIP-875).
    "set_forward",
    # An earlier connector had a filter or a transform, or errors.tolerance=all.
    "filtered",
    # An unclean election or a power failure removed the end of a log, and the flow went on.
    "replica_cut",
    "source_cut",
)


def world(seed: int, replayed: bool = False, gaps: bool = False) -> World:
    """The world of a seed.

    ``replayed``: tails were replayed, and the flow was set to continue after them. ``gaps``: copies are missing.
    """
    draw = random.Random(seed)
    kinds = frozenset(kind for kind in KINDS if draw.random() < 0.25)
    if replayed:
        kinds = kinds - {"patched", "recreated"} | {"replayed"}
    if gaps:
        kinds = kinds - {"recreated"} | {draw.choice(GAPS)} | {kind for kind in GAPS if draw.random() < 0.1}
    made = World(seed, kinds)
    _produce(made, draw)
    _replicate(made, draw)
    if "source_cut" in made.kinds:
        _rewrite(made, draw)
    if "recreated" in made.kinds:
        _recreate(made, draw)
    _age(made, draw)
    return made


def _rewrite(made: World, draw: random.Random) -> None:
    """The source lost its end and got other records at the same offsets. The flow's N is past them: it goes on."""
    reached = [one.origin for one in made.replica if one.origin is not None]
    if not reached:
        return
    last = max(reached)
    first = max(made.first, last - draw.randint(0, 12))
    made.gone_source += [one for one in made.source if first <= one.offset <= last]
    made.source = [
        one._replace(content=f"new{one.offset}") if first <= one.offset <= last else one for one in made.source
    ]
    made.replica = [
        one._replace(origin=None) if one.origin is not None and one.origin >= first else one for one in made.replica
    ]


def _recreate(made: World, draw: random.Random) -> None:
    """The source topic is deleted and re-created: MirrorMaker 2 continues silently, and its old offset-syncs remain."""
    made.gone_source = made.source
    old, made.source, made.source_end = made.replica, [], 0
    made.replica = [one._replace(origin=None) for one in old]
    made.first, at, syncs = 0, made.replica_end, made.syncs
    _produce(made, draw)
    made.replica, made.syncs = [], []
    _replicate(made, draw)
    made.replica = [one._replace(origin=None) for one in old] + [
        one._replace(offset=one.offset + at) for one in made.replica
    ]
    made.syncs = syncs + [OffsetSync("T", 0, one.upstream, one.downstream + at) for one in made.syncs]
    made.replica_end += at


def _produce(made: World, draw: random.Random) -> None:
    """Source records. Markers and aborted records leave gaps in the offsets, and contents may repeat."""
    count = draw.randint(1, 60)
    letters = draw.randint(1, 3)
    at, stamp = 0, 1000
    for number in range(count):
        if "transactions" in made.kinds and draw.random() < 0.2:
            at += 1
        if "aborted" in made.kinds and draw.random() < 0.1:
            at += draw.randint(1, 4)
        stamp += draw.choice((0, 1, 5)) if "stamps_jump" not in made.kinds else draw.randint(-20, 20)
        content, key = f"r{number}", draw.randint(0, 8)
        # Equal records have the same key: compaction keeps the newest of them.
        if "periodic" in made.kinds:
            content, stamp = "abc"[number % letters], 1000
            key = number % letters
        elif "identical" in made.kinds and draw.random() < 0.7:
            content = draw.choice("xy"[: draw.randint(1, 2)])
            stamp, key = 1000 + number // 20, "xy".index(content)
        made.source.append(Data(at, stamp, content, key=key))
        at += 1
    _timestamps(made, draw)
    made.source_end = at + (draw.randint(0, 1) if "transactions" in made.kinds else 0)


def _timestamps(made: World, draw: random.Random) -> None:
    """Records without a timestamp: a run, single ones, or the end.

    A broker's time: for all, from one record on, or up to one.
    """
    log = made.source
    if "untimed" in made.kinds:
        low, share = draw.randint(0, len(log)), draw.choice((0.1, 0.5, 1.0))
        high = draw.choice((len(log), draw.randint(low, len(log))))
        for at in range(low, high):
            if draw.random() < share:
                log[at] = log[at]._replace(stamp=None)
    if "source_append_time" in made.kinds:
        clock = 1000
        changed, before = draw.choice((0, draw.randint(0, len(log)))), draw.random() < 0.5
        for at, one in enumerate(log):
            clock += draw.choice((0, 1, 5))
            if (at < changed) == before:
                log[at] = one._replace(stamp=clock, kind=APPENDED)


@dataclass
class _Copying:
    """How a replica record gets its timestamp. ``clock``: the replication time, close to the time of the producers."""

    draw: random.Random
    by_broker: tuple[int, bool] | None
    clock: int = 1000

    def of(self, record: Data, at: int) -> Data:
        self.clock += self.draw.choice((0, 0, 1, 3))
        last_replicated_offset = record._replace(offset=at, origin=record.offset, kind=CREATED)
        if self.by_broker is not None and (at < self.by_broker[0]) == self.by_broker[1]:
            return last_replicated_offset._replace(stamp=self.clock, kind=APPENDED)
        return last_replicated_offset._replace(stamp=self.clock) if record.stamp is None else last_replicated_offset


def _copying(made: World, draw: random.Random) -> _Copying:
    if "replica_append_time" not in made.kinds:
        return _Copying(draw, None)
    return _Copying(draw, (draw.choice((0, draw.randint(0, len(made.source)))), draw.random() < 0.5))


def _replicate(made: World, draw: random.Random) -> None:
    """The cursor advances or, at a restart, goes back to just after the last flushed record.

    A sync is written or lost.
    """
    cursor = flushed = draw.randint(0, len(made.source)) if "patched" in made.kinds and draw.random() < 0.5 else 0
    made.first = made.source[cursor].offset if 0 < cursor < len(made.source) else 0
    if cursor and not made.first:
        cursor = flushed = 0
    stop = len(made.source) if draw.random() < 0.6 else draw.randint(cursor, len(made.source))
    lag_max, since = draw.choice((0, 1, 3, 10, 100)), 1000
    restarts = draw.randint(1, 4) if "resends" in made.kinds else 0
    fresh = True
    at, copying = 0, _copying(made, draw)
    while True:
        if restarts and draw.random() < 0.06:
            cursor, restarts, fresh = flushed, restarts - 1, True
        if "replayed" in made.kinds and cursor < stop and draw.random() < 0.06:
            cursor = flushed = _replay(made, draw, (flushed, cursor), at)
            stop, fresh = max(stop, cursor), True
        if cursor >= stop:
            if not restarts or draw.random() < 0.5:
                break
            continue
        if "foreign_writes" in made.kinds and draw.random() < 0.15:
            repeat = made.replica and "identical" not in made.kinds and "periodic" not in made.kinds
            old = draw.choice(made.replica) if repeat and draw.random() < 0.4 else None
            of = None if old is None else old.repeats if old.origin is None else old.origin
            made.replica.append(
                old._replace(offset=at, origin=None, repeats=of)
                if old
                else Data(at, draw.randint(900, 1100), f"foreign{at}")
            )
            at += 1
        if "replica_gaps" in made.kinds and draw.random() < 0.1:
            at += 1
        if "set_forward" in made.kinds and draw.random() < 0.06:
            cursor = flushed = min(stop, cursor + draw.randint(1, 10))
            fresh = True
            continue
        if "replica_cut" in made.kinds and made.replica and draw.random() < 0.06:
            lost = draw.randint(1, min(12, len(made.replica)))
            made.replica, at = made.replica[:-lost], made.replica[-lost].offset
        record = made.source[cursor]
        if "filtered" in made.kinds and draw.random() < 0.1:
            cursor += 1
            continue
        made.replica.append(copying.of(record, at))
        due = fresh or since >= lag_max
        since = 0 if due else since + 1
        if due and not ("syncs_lost" in made.kinds and draw.random() < 0.6):
            made.syncs.append(OffsetSync("T", 0, record.offset, at))
        fresh = False
        cursor += 1
        at += 1
        if draw.random() < 0.15:
            flushed = cursor
    made.replica_end = at
    # After a stop N is exact. For a running or killed flow only the last flushed record is known.
    known = flushed if "running" in made.kinds else cursor
    made.last_replicated_offset = made.source[known - 1].offset if known else None
    if made.last_replicated_offset is not None and made.last_replicated_offset < made.first:
        made.last_replicated_offset = None
    if made.skipped_ranges:
        made.last_replicated_offset = max(made.last_replicated_offset or 0, made.skipped_ranges[-1].end - 1)


def _replay(made: World, draw: random.Random, place: tuple[int, int], at: int) -> int:
    """Set the flow after a tail and return the new cursor.

    The tail begins at the cursor, or at the last stored offset.
    """
    flushed, cursor = place
    begin = flushed if draw.random() < 0.3 else cursor
    after = min(len(made.source), cursor + draw.randint(1, 10))
    first = made.source[begin - 1].offset + 1 if begin else 0
    made.skipped_ranges = add(made.skipped_ranges, first, made.source[after - 1].offset + 1, at) or ()
    return after


def _age(made: World, draw: random.Random) -> None:
    """Apply retention and compaction on either cluster."""
    if "source_compacted_once" in made.kinds:
        made.source, _removed = _compacted(made.source, draw)
    if "replica_compacted_once" in made.kinds:
        made.replica, _removed = _compacted(made.replica, draw)
    if "source_compacted" in made.kinds:
        made.source, _removed = _compacted(made.source, draw)
    if "replica_compacted" in made.kinds:
        made.replica, removed = _compacted(made.replica, draw)
        made.gone += removed
    if "source_retention" in made.kinds:
        made.start = draw.randint(0, made.source_end)
        made.source = [one for one in made.source if one.offset >= made.start]
    if "replica_retention" in made.kinds:
        # Sometimes every record is gone, as after a long pause or a deletion of all records.
        made.replica_start = made.replica_end if draw.random() < 0.1 else draw.randint(0, made.replica_end)
        made.gone += [one for one in made.replica if one.offset < made.replica_start]
        made.replica = [one for one in made.replica if one.offset >= made.replica_start]
    if "syncs_compacted" in made.kinds:
        made.syncs = made.syncs[-1:]


def _compacted(records: list[Data], draw: random.Random) -> tuple[list[Data], list[Data]]:
    """Below the point that the cleaner has reached, only the newest record of each key is left."""
    reached = draw.randint(0, len(records))
    newest = {record.key: record.offset for record in records[:reached]}
    kept = [one for at, one in enumerate(records) if at >= reached or newest[one.key] == one.offset]
    return kept, [one for one in records if one not in kept]


# ---- rules that are known to be wrong -----------------------------------------------------------------------------


def dead_reckoning(made: World, commit: int) -> int:
    """u + (g - d) from the newest sync at or below the offset."""
    known = [sync for sync in made.syncs if sync.downstream <= commit]
    return made.start if not known else known[-1].upstream + commit - known[-1].downstream


def unguarded_time(made: World, commit: int) -> int:
    """offsetsForTimes of the next replica record's timestamp."""
    following = [one for one in made.replica if one.offset >= commit]
    if not following:
        return made.source_end
    time = following[0].stamp or 0
    return next((one.offset for one in made.source if (one.stamp or 0) >= time), made.source_end)


def unvalidated_floor(made: World, commit: int) -> int:
    """The newest sync at or below the offset, even if a topic was re-created since."""
    known = [sync for sync in made.syncs if sync.downstream < commit]
    return made.start if not known else known[-1].upstream + 1


def k_grams(made: World, commit: int) -> int:
    """The last run of up to 3 replica records below the offset that occurs once in the source."""
    fingerprints = [(one.stamp, one.content) for one in made.source]
    below = [(one.stamp, one.content) for one in made.replica if one.offset < commit]
    for size in (1, 2, 3):
        run = below[-size:]
        hits = [at for at in range(len(fingerprints) - len(run) + 1) if fingerprints[at : at + len(run)] == run]
        if len(run) == size and len(hits) == 1:
            return made.source[hits[0] + size - 1].offset + 1
    return made.start


def always_timed(made: World, commit: int) -> int:
    """Timestamps count unless a broker set one that was read: a record without one seems never to be replicated."""
    seen = made.copy()
    timed = APPENDED not in {one.kind for log in (made.source, made.replica) for one in log}
    fingerprints: list[list[Mark]] = [
        [(one.stamp, one.content) if timed else (one.content,) for one in log] for log in (made.source, made.replica)
    ]
    sides = replace(seen.source, fingerprints=fingerprints[0]), replace(seen.replica, fingerprints=fingerprints[1])
    return reverse(commit, replace(seen, source=sides[0], replica=sides[1])).offset


def clamped(made: World, commit: int) -> int:
    """Forward: the proven offset, raised to the replica's log start and reported as safe (R30)."""
    return forward(commit, made.copy()).offset


BAD_RULES: dict[str, Callable[[World, int], int]] = {
    "dead reckoning": dead_reckoning,
    "unguarded time": unguarded_time,
    "unvalidated floor": unvalidated_floor,
    "k-grams": k_grams,
    "timestamps always carried": always_timed,
}
