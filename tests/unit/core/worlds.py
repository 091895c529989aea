# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Worlds: one partition copied by MirrorMaker 2 as it really works, with everything that goes wrong around it.

A world knows the truth (which replica record is a copy of which source record); the translation sees only what can be
read. Everything follows from the seed.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.formats import OffsetSync
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.holes import Hole, add
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.stays import Stay
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.translation import Copy, Window

Mark = tuple[object, ...]


@dataclass(frozen=True)
class Data:
    """A record: content, and for a replica record the source offset that it is a copy of (None: somebody else's)."""

    offset: int
    stamp: int
    content: str
    origin: int | None = None
    key: int = 0


@dataclass
class World:
    """Logs of both sides (data records only), the truth in ``Data.origin``, and what can be seen."""

    seed: int
    kinds: frozenset[str]
    source: list[Data] = field(default_factory=list)
    replica: list[Data] = field(default_factory=list)
    start: int = 0
    source_end: int = 0
    replica_start: int = 0
    replica_end: int = 0
    copied: int | None = None
    first: int = 0
    syncs: list[OffsetSync] = field(default_factory=list)
    holes: tuple[Hole, ...] = ()

    @property
    def timed(self) -> bool:
        """Timestamps are part of the content unless a broker overwrites them."""
        return "log_append_time" not in self.kinds

    def mark(self, record: Data) -> Mark:
        return (record.stamp, record.content) if self.timed else (record.content,)

    def window(self, records: list[Data], begin: int, end: int) -> Window:
        kept = [record for record in records if begin <= record.offset < end]
        return Window(begin, end, [one.offset for one in kept], [self.mark(one) for one in kept])

    def copy(self, sources: tuple[int, int] | None = None, replicas: tuple[int, int] | None = None) -> Copy:
        """What the translation sees; the windows default to the whole logs."""
        low, high = sources or (self.start, self.source_end)
        left, right = replicas or (self.replica_start, self.replica_end)
        return Copy(
            source=self.window(self.source, low, high),
            replica=self.window(self.replica, left, right),
            start=self.start,
            source_end=self.source_end,
            replica_start=self.replica_start,
            replica_end=self.replica_end,
            copied=self.copied,
            first=self.first,
            source_compacted="source_compacted" in self.kinds,
            replica_compacted="replica_compacted" in self.kinds,
            same_topics="recreated" not in self.kinds,
            syncs=tuple(self.syncs),
        )

    def part(self, stay: Stay) -> Copy:
        """What the translation sees of one segment of the flow P->B, as FlowCopies bounds it."""
        key = ("T", 0)
        logs = {"P": (self.start, self.source_end), "B": (self.replica_start, self.replica_end)}
        for alias, (low, high) in logs.items():
            begin = max(low, stay.first(alias, key))
            end = high if stay.end is None else min(high, stay.end[alias][key])
            logs[alias] = (min(begin, max(low, end)), max(low, end))
        seen = self.copy(logs["P"], logs["B"])
        return replace(
            seen,
            start=logs["P"][0],
            source_end=logs["P"][1],
            replica_start=logs["B"][0],
            replica_end=logs["B"][1],
            copied=self.copied if stay.end is None else stay.end["P"][key] - 1,
            first=stay.first("P", key),
            replica_first=stay.first("B", key),
        )

    def brought(self, offset: int, commit: int | None = None) -> bool:
        """Did a replay bring this source record over, before the replica grew to ``commit``?"""
        return any(
            hole.begin <= offset < hole.end and (commit is None or hole.replica_at <= commit) for hole in self.holes
        )

    # ---- the truth

    def skipped_forward(self, commit: int, offset: int) -> list[int]:
        """Unread source records that exist, were copied, and have no copy at or behind ``offset``."""
        behind = {one.origin for one in self.replica if one.offset >= offset}
        lost = [one.offset for one in self.source if one.offset >= commit and one.offset not in behind]
        copied = {one.origin for one in self.replica}
        return [one for one in lost if one in copied and not self.brought(one)]

    def reread_forward(self, commit: int, offset: int) -> int:
        """Processed source records that lie at or behind ``offset`` although their first copy there is no resend."""
        seen = {one.origin for one in self.replica + self.gone if one.offset < offset}
        return len(
            {
                one.origin
                for one in self.replica
                if one.offset >= offset and one.origin is not None and one.origin < commit and one.origin not in seen
            }
        )

    def processed(self, commit: int) -> set[int]:
        """Source records that a group has processed which has read the replica below ``commit``."""
        return {one.origin for one in self.replica + self.gone if one.offset < commit and one.origin is not None}

    gone: list[Data] = field(default_factory=list)
    gone_source: list[Data] = field(default_factory=list)

    def skipped_reverse(self, commit: int, offset: int) -> list[int]:
        """Source records that exist below ``offset`` and were never processed."""
        done = self.processed(commit)
        below = (one.offset for one in self.source if self.first <= one.offset < offset)
        return [one for one in below if one not in done and not self.brought(one, commit)]

    def reread_reverse(self, commit: int, offset: int) -> int:
        """Source records at or behind ``offset`` that were processed, without those that lie on the replica again."""
        done = self.processed(commit) - {one.origin for one in self.replica if one.offset >= commit}
        return sum(one.offset >= offset and one.offset in done for one in self.source)


KINDS = (
    "stamps_jump",
    "foreign",
    "log_append_time",
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


def world(seed: int, replayed: bool = False) -> World:
    """The world of a seed. ``replayed``: tails were replayed, and the flow was set behind them."""
    draw = random.Random(seed)
    kinds = frozenset(kind for kind in KINDS if draw.random() < 0.25)
    if replayed:
        kinds = kinds - {"patched", "recreated"} | {"replayed"}
    made = World(seed, kinds)
    _produce(made, draw)
    _replicate(made, draw)
    if "recreated" in made.kinds:
        _recreate(made, draw)
    _age(made, draw)
    return made


def _recreate(made: World, draw: random.Random) -> None:
    """The source topic is deleted and created again: MirrorMaker 2 goes on silently, its old offset-syncs stay."""
    made.gone_source = made.source
    old, made.source, made.source_end = made.replica, [], 0
    made.replica = [replace(one, origin=None) for one in old]
    made.first, at, syncs = 0, made.replica_end, made.syncs
    _produce(made, draw)
    made.replica, made.syncs = [], []
    _replicate(made, draw)
    made.replica = [replace(one, origin=None) for one in old] + [
        replace(one, offset=one.offset + at) for one in made.replica
    ]
    made.syncs = syncs + [OffsetSync("T", 0, one.upstream, one.downstream + at) for one in made.syncs]
    made.replica_end += at


def _produce(made: World, draw: random.Random) -> None:
    """Source records: offsets with holes where markers and aborted records lie, contents that repeat or not."""
    count = draw.randint(1, 60)
    letters = draw.randint(1, 3)
    at, stamp = 0, 1000
    for number in range(count):
        if "transactions" in made.kinds and draw.random() < 0.2:
            at += 1
        if "aborted" in made.kinds and draw.random() < 0.1:
            at += draw.randint(1, 4)
        stamp += draw.choice((0, 1, 5)) if "stamps_jump" not in made.kinds else draw.randint(-20, 20)
        content = f"r{number}"
        if "periodic" in made.kinds:
            content, stamp = "abc"[number % letters], 1000
        elif "identical" in made.kinds and draw.random() < 0.7:
            content = draw.choice("xy"[: draw.randint(1, 2)])
            stamp = 1000 + number // 20
        made.source.append(Data(at, stamp, content, key=draw.randint(0, 8)))
        at += 1
    made.source_end = at + (draw.randint(0, 1) if "transactions" in made.kinds else 0)


def _replicate(made: World, draw: random.Random) -> None:
    """The cursor goes on or, at a restart, back to behind the last flushed record; a sync may be written or lost."""
    cursor = flushed = draw.randint(0, len(made.source)) if "patched" in made.kinds and draw.random() < 0.5 else 0
    made.first = made.source[cursor].offset if 0 < cursor < len(made.source) else 0
    if cursor and not made.first:
        cursor = flushed = 0
    stop = len(made.source) if draw.random() < 0.6 else draw.randint(cursor, len(made.source))
    lag_max, since = draw.choice((0, 1, 3, 10, 100)), 1000
    restarts = draw.randint(1, 4) if "resends" in made.kinds else 0
    fresh = True
    at = 0
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
        if "foreign" in made.kinds and draw.random() < 0.15:
            repeat = made.replica and "identical" not in made.kinds and "periodic" not in made.kinds
            old = draw.choice(made.replica) if repeat and draw.random() < 0.4 else None
            made.replica.append(
                Data(at, old.stamp, old.content) if old else Data(at, draw.randint(900, 1100), f"foreign{at}")
            )
            at += 1
        if "replica_holes" in made.kinds and draw.random() < 0.1:
            at += 1
        record = made.source[cursor]
        made.replica.append(Data(at, record.stamp, record.content, record.offset, record.key))
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
    # After a stop N is exact; of a running or killed one only the last flushed record is known.
    known = flushed if "running" in made.kinds else cursor
    made.copied = made.source[known - 1].offset if known else None
    if made.copied is not None and made.copied < made.first:
        made.copied = None
    if made.holes:
        made.copied = max(made.copied or 0, made.holes[-1].end - 1)


def _replay(made: World, draw: random.Random, place: tuple[int, int], at: int) -> int:
    """The flow is set behind a tail: the new cursor. The tail begins at the cursor, or where it was noted last."""
    flushed, cursor = place
    begin = flushed if draw.random() < 0.3 else cursor
    after = min(len(made.source), cursor + draw.randint(1, 10))
    first = made.source[begin - 1].offset + 1 if begin else 0
    made.holes = add(made.holes, first, made.source[after - 1].offset + 1, at) or ()
    return after


def _age(made: World, draw: random.Random) -> None:
    """Retention and compaction on either side."""
    if "source_compacted" in made.kinds:
        made.source, _removed = _compacted(made.source, draw)
    if "replica_compacted" in made.kinds:
        made.replica, removed = _compacted(made.replica, draw)
        made.gone += removed
    if "source_retention" in made.kinds:
        made.start = draw.randint(0, made.source_end)
        made.source = [one for one in made.source if one.offset >= made.start]
    if "replica_retention" in made.kinds:
        made.replica_start = draw.randint(0, made.replica_end)
        made.gone += [one for one in made.replica if one.offset < made.replica_start]
        made.replica = [one for one in made.replica if one.offset >= made.replica_start]
    if "syncs_compacted" in made.kinds:
        made.syncs = made.syncs[-1:]


def _compacted(records: list[Data], draw: random.Random) -> tuple[list[Data], list[Data]]:
    """Below a point that the cleaner has reached only the newest record of each key is left."""
    reached = draw.randint(0, len(records))
    newest = {record.key: record.offset for record in records[:reached]}
    kept = [one for at, one in enumerate(records) if at >= reached or newest[one.key] == one.offset]
    return kept, [one for one in records if one not in kept]


# ---- rules that are known to be wrong -----------------------------------------------------------------------------


def dead_reckoning(made: World, commit: int) -> int:
    """u + (g - d) from the newest sync at or below the position."""
    known = [sync for sync in made.syncs if sync.downstream <= commit]
    return made.start if not known else known[-1].upstream + commit - known[-1].downstream


def unguarded_time(made: World, commit: int) -> int:
    """offsetsForTimes of the next replica record's timestamp."""
    following = [one for one in made.replica if one.offset >= commit]
    if not following:
        return made.source_end
    return next((one.offset for one in made.source if one.stamp >= following[0].stamp), made.source_end)


def unvalidated_floor(made: World, commit: int) -> int:
    """The newest sync at or below the position, whatever became of the topics since."""
    known = [sync for sync in made.syncs if sync.downstream < commit]
    return made.start if not known else known[-1].upstream + 1


def k_grams(made: World, commit: int) -> int:
    """The last run of up to 3 replica records below the position that occurs once in the source."""
    marks = [made.mark(one) for one in made.source]
    below = [made.mark(one) for one in made.replica if one.offset < commit]
    for size in (1, 2, 3):
        run = below[-size:]
        hits = [at for at in range(len(marks) - len(run) + 1) if marks[at : at + len(run)] == run]
        if len(run) == size and len(hits) == 1:
            return made.source[hits[0] + size - 1].offset + 1
    return made.start


BAD_RULES: dict[str, Callable[[World, int], int]] = {
    "dead reckoning": dead_reckoning,
    "unguarded time": unguarded_time,
    "unvalidated floor": unvalidated_floor,
    "k-grams": k_grams,
}
