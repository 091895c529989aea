# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random worlds of the policy identity: one partition over several tenures, with every failure around them.

As in ``worlds``, the translation sees only what can be read, and everything follows from the seed. The truth is which
record is at which offset: each record gets a number when it is produced, and its copies share that number.
"""

from __future__ import annotations

import random
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.disaster import (
    Checkpointed,
    PresyncedOffset,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.fingerprints import fingerprints
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.internal_records import OffsetSync
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.missing_copies import Copy
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.read_copies import Window
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.replicated_end import replicated_end
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.spans import LogBounds
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.target_offsets import TargetOffset
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.tenures import Tenure, tenures
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.topic_ids import CheckpointsEnd
from ansible_collections.switchback.kafka_dr.tests.unit.core.worlds import APPENDED, CREATED, ConsumedRecord

KEY = Partition("T", 0)
SIDES = ("P", "B")
Range = tuple[int, int]

KINDS = (
    "stamps_jump",
    "identical",
    "periodic",
    "repeats",
    "untimed",
    "source_append_time",
    "replica_append_time",
    "transactions",
    "aborted",
    "resends",
    "replica_markers",
    "foreign_writes",
    "tails",
    "late",
    "adopted",
    "retention",
    "compacted",
    "syncs_lost",
    "syncs_compacted",
    "running",
)
# Drawn apart, so that the other kinds of a seed stay the same.
DEAD_WORKERS = "dead_workers"
# Some records are not unique, or some are missing, unknown or not replicated.
BLURRED = frozenset(("identical", "periodic", "repeats", "adopted", "retention", "compacted", "running"))


@dataclass(frozen=True)
class Entry:
    """What is at one offset.

    ``record``: its number; None for a record that was never replicated (a tail, a foreign write).
    """

    offset: int
    stamp: int | None
    content: str
    key: int
    record: int | None
    kind: str = CREATED


@dataclass
class TenureWorld:
    """The logs of both clusters (data only), what the journal holds, and the offset-syncs of both flows.

    ``gone``: expired records. ``superseded``: records that compaction removed. ``last_replicated_offset``: of the
    current flow. ``unfound``: by cluster, the offsets between a lower bound of a tenure's end and where the log
    continued.
    """

    seed: int
    kinds: frozenset[str]
    active: str = ""
    logs: dict[str, list[Entry]] = field(default_factory=lambda: {alias: [] for alias in SIDES})
    gone: dict[str, list[Entry]] = field(default_factory=lambda: {alias: [] for alias in SIDES})
    superseded: dict[str, list[Entry]] = field(default_factory=lambda: {alias: [] for alias in SIDES})
    starts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(SIDES, 0))
    ends: dict[str, int] = field(default_factory=lambda: dict.fromkeys(SIDES, 0))
    tails: dict[str, list[Range]] = field(default_factory=lambda: {alias: [] for alias in SIDES})
    unfound: dict[str, list[Range]] = field(default_factory=lambda: {alias: [] for alias in SIDES})
    cut_records: list[dict[str, Any]] = field(default_factory=list)
    #: The key of the records with this content.
    keys: dict[str, int] = field(default_factory=dict)
    syncs: dict[tuple[str, str], list[OffsetSync]] = field(
        default_factory=lambda: {("P", "B"): [], ("B", "P"): []},
    )
    last_replicated_offset: int | None = None
    born: int = 0
    stamp: int = 1000
    #: The clocks of workers and brokers, close to those of the producers.
    clock: int = 1000

    @property
    def idle(self) -> str:
        return SIDES[self.active == SIDES[0]]

    def log(self, alias: str) -> Range:
        return self.starts[alias], self.ends[alias]

    # ---- what can be observed: as _pair/offsets/flow_topics.py and _pair/offsets/identity_offsets.py read a tenure

    def tenures(self) -> list[Tenure]:
        return tenures(self.cut_records, self.active, self.idle)

    def within(self, tenure: Tenure, alias: str) -> Range:
        """The part of a log that belongs to the tenure."""
        start, end = self.log(alias)
        low, high = max(start, tenure.first(alias, KEY)), end
        if tenure.end is not None:
            high = min(high, tenure.end[alias].get(KEY, 0))
        return min(low, max(start, high)), max(start, high)

    def bounds(self, tenure: Tenure) -> LogBounds:
        last_replicated_offset = self.last_replicated_offset if tenure.end is None else tenure.replicated(KEY) - 1
        syncs = [sync for sync in self.syncs[tenure.source, tenure.target] if self._of(tenure, sync)]
        syncs.sort(key=lambda sync: sync.downstream)
        gone = tenure.gone_after(self.idle, KEY, {alias: self.log(alias) for alias in SIDES}, "compacted" in self.kinds)
        return LogBounds(
            self.within(tenure, tenure.source), self.within(tenure, tenure.target), last_replicated_offset, syncs, gone
        )

    @staticmethod
    def _of(tenure: Tenure, sync: OffsetSync) -> bool:
        """Return whether the record was written in the tenure."""
        end = None if tenure.end is None else tenure.end[tenure.source].get(KEY, 0)
        return tenure.first(tenure.source, KEY) <= sync.upstream and (end is None or sync.upstream < end)

    def copy(
        self, tenure: Tenure, bounds: LogBounds, sources: Range | None = None, replicas: Range | None = None
    ) -> Copy:
        """What the translation sees of a tenure. The windows default to the whole tenure."""
        source, replica = self.windows(tenure, sources or bounds.source, replicas or bounds.replica)
        low, high = replica.begin, replica.end
        near = [sync for sync in bounds.syncs if low <= sync.downstream < high or sync.upstream < bounds.source[0]]
        floor = [sync for sync in bounds.syncs if sync.downstream < bounds.replica[0]]
        return Copy(
            source=source,
            replica=replica,
            start=bounds.source[0],
            source_end=bounds.source[1],
            replica_start=bounds.replica[0],
            replica_end=bounds.replica[1],
            last_replicated_offset=bounds.last_replicated_offset,
            first=tenure.first(tenure.source, KEY),
            replica_first=tenure.first(tenure.target, KEY),
            source_compacted="compacted" in self.kinds,
            replica_compacted="compacted" in self.kinds,
            same_topics=KEY not in tenure.unknown,
            syncs=[*near, *floor[-1:]],
            gone_after=bounds.gone_after,
            ended=tenure.end is not None,
        )

    def windows(self, tenure: Tenure, sources: Range, replicas: Range) -> tuple[Window, Window]:
        """The windows as a reader receives them: offsets outside the logs are left out."""
        read = [self._read(alias, part) for alias, part in ((tenure.source, sources), (tenure.target, replicas))]
        digests = fingerprints(
            *([ConsumedRecord(one.stamp, one.kind, one.content.encode()) for one in log] for _span, log in read)
        )
        source, replica = (
            Window(*span, [one.offset for one in log], found) for (span, log), found in zip(read, digests, strict=True)
        )
        return source, replica

    def _read(self, alias: str, part: Range) -> tuple[Range, list[Entry]]:
        begin = max(part[0], self.starts[alias])
        end = max(begin, min(part[1], self.ends[alias]))
        offsets = self._offsets[alias]
        return (begin, end), self.logs[alias][bisect_left(offsets, begin) : bisect_left(offsets, end)]

    @cached_property
    def _offsets(self) -> dict[str, list[int]]:
        return {alias: [one.offset for one in log] for alias, log in self.logs.items()}

    # ---- the truth

    @cached_property
    def _ever(self) -> dict[str, list[Entry]]:
        """Every record that was ever replicated, wherever it is now."""
        return {
            alias: [
                one for one in self.logs[alias] + self.gone[alias] + self.superseded[alias] if one.record is not None
            ]
            for alias in SIDES
        }

    def below(self, alias: str, commit: int) -> set[int | None]:
        """Records that have a copy below ``commit``: on the active cluster, those that a group there has processed."""
        return {one.record for one in self._ever[alias] if one.offset < commit}

    def at_or_after(self, alias: str, offset: int) -> set[int | None]:
        """Records that still exist and have a copy at or after ``offset``."""
        return {one.record for one in self.logs[alias] if one.offset >= offset}

    def skipped(self, commit: int, offset: int) -> list[int | None]:
        """Unprocessed records that exist on the cluster being entered but have no copy there at or after ``offset``.

        Tails are left out, because the operator accepted that when the next tenure was seeded. So are records of which
        the
        cluster being left only has a newer record with the same key.
        """
        newer = {one.record for one in self.superseded[self.active] if one.offset >= commit}
        newer -= self.at_or_after(self.active, commit)
        done = self.below(self.active, commit) | self.at_or_after(self.idle, offset) | newer | {None}
        return [one.record for one in self.logs[self.idle] if one.offset < offset and one.record not in done]

    def lost(self, commit: int, offset: int) -> list[int | None]:
        """R30: unread records on the cluster being left that the other cluster had, but no longer has from ``offset``
        on.
        """
        there = self.below(self.active, commit) | self.at_or_after(self.idle, offset) | {None}
        last_replicated_offset = {one.record for one in self._ever[self.idle]}
        unread = {one.record for one in self.logs[self.active] if one.offset >= commit}
        return [one for one in unread if one in last_replicated_offset and one not in there]

    def reread(self, commit: int, offset: int) -> int:
        """Processed records from ``offset`` on, except those with another copy there or at or after ``commit``."""
        done = self.below(self.active, commit) - self.at_or_after(self.active, commit) - self.below(self.idle, offset)
        return len(self.at_or_after(self.idle, offset) & done)

    def unread(self, commit: int) -> bool:
        """Return whether there is a data record at or after ``commit`` on the cluster being left."""
        return bool(self.logs[self.active]) and self.logs[self.active][-1].offset >= commit

    def in_tail(self, commit: int) -> bool:
        return any(low <= commit < high for low, high in self.tails[self.active])

    def in_unfound(self, commit: int) -> bool:
        return any(low < commit < high for low, high in self.unfound[self.active])


@dataclass
class Tally:
    """The results of all worlds; each failure with the seeds that reproduce it."""

    skipped: list[str] = field(default_factory=list)
    inexact: list[str] = field(default_factory=list)
    unbounded: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    guessed: list[str] = field(default_factory=list)
    uncounted: list[str] = field(default_factory=list)
    skipped_by: Counter[str] = field(default_factory=Counter)
    checked: Counter[str] = field(default_factory=Counter)

    def note(self, made: TenureWorld, name: str, commit: int, found: TargetOffset) -> None:
        """Check one committed offset on the idle cluster of a group whose committed offset is ``commit`` on the active
        one.
        """
        text = f"seed {made.seed}: {name}, {made.active}:{commit} -> {found} in {sorted(made.kinds)}"
        tail = made.in_tail(commit)
        self.checked[name] += 1
        self.checked[found.method] += 1
        if found.offset is None or found.rereads is None:
            self.checked["tails"] += tail
            if not tail and not made.in_unfound(commit):
                self.refused.append(text)
            return
        # At the first offset of a tail the group has read none of it. Content may show that, too (R45).
        inside = tail and made.in_tail(commit - 1)
        if inside and found.method not in ("cut", "end") and not made.in_unfound(commit):
            self.guessed.append(text)
        # The group read to the end, although the records after its offset expired: that counts as lost where the group
        # is.
        expired = found.method == "end" and commit < made.starts[made.active]
        if not expired and (lost := made.skipped(commit, found.offset)):
            self.skipped.append(f"{text}, skips {lost}")
        gone = made.lost(commit, found.offset)
        self.checked["gone"] += bool(gone)
        self.checked["accused"] += found.skips.possible and not gone
        reported = found.skips
        within = reported.at_least <= len(gone) and (reported.at_most is None or len(gone) <= reported.at_most)
        if not within or (found.quality == "skips") != reported.possible:
            self.uncounted.append(f"{text}, {gone} are gone")
        if not made.kinds & BLURRED:
            self.checked["clear"] += 1
            again = made.reread(commit, found.offset)
            # Foreign records and resends after the offset are counted, because they look like any other copy.
            counted = made.kinds & {"foreign_writes", "resends"} or any(made.unfound.values())
            if again * (found.quality == "exact") or (found.quality != "exact" and not counted):
                self.inexact.append(f"{text}, reads {again} again")
            self.checked[DEAD_WORKERS] += DEAD_WORKERS in made.kinds
            if again > found.rereads:
                self.unbounded.append(f"{text}, reads {again} again")


def committed_offsets(made: TenureWorld, all_tenures: Sequence[Tenure], draw: random.Random, count: int) -> list[int]:
    """Committed offsets on the active cluster, as often in an old tenure as in the current one."""
    chosen = []
    for tenure in draw.choices(all_tenures, k=count):
        last = made.ends[made.active] if tenure.end is None else tenure.end[made.active].get(KEY, 0)
        chosen.append(draw.randint(tenure.first(made.active, KEY), last))
    return chosen


# ---- what a group did in the present tenure, and who saw it

# Without these, what MirrorMaker 2 writes and what the translation finds are known without running either.
UNFIT = frozenset(
    ("resends", "foreign_writes", "compacted", "retention", "running", "tails", "late", "adopted", DEAD_WORKERS)
)


@dataclass
class GroupHistory:
    """The commits of a group on the active cluster, and what the idle cluster holds about them."""

    world: TenureWorld
    #: End of the checkpoints topic when the applications last left the idle cluster.
    checkpoints_at_move: CheckpointsEnd
    #: The last one.
    committed_offset: int = 0
    #: Did the group ever go back?
    set_back: bool = False
    newest_checkpoint: Checkpointed | None = None
    #: The present topic with checkpoints. It may have been deleted and created again.
    checkpoints_id: str = "1"
    #: Presynced offsets of the present tenure, and the group's own offset from when the idle cluster was left, each
    #: with the end of the checkpoints topic then.
    stored: list[tuple[PresyncedOffset, CheckpointsEnd]] = field(default_factory=list)
    #: A presynced offset of an earlier tenure.
    outdated: list[PresyncedOffset] = field(default_factory=list)


def _image(made: TenureWorld, commit: int, way: tuple[str, str]) -> int:
    """The exact offset on the other cluster, by the truth: that of the first record that is not before ``commit``."""
    left, entered = way
    done = made.below(left, commit)
    return min((one.offset for one in made.logs[entered] if one.record not in done), default=made.ends[entered])


def group_history(made: TenureWorld, draw: random.Random) -> GroupHistory | None:
    """Let a group live through the last two tenures. None: such a world has no exact offsets.

    The evidence ends at some commit. Since then, the group only read on: what nothing on the idle cluster has seen
    cannot be known there.
    """
    if made.kinds & UNFIT or len(made.tenures()) < 2:
        return None
    at = draw.randint(1, 30)
    found = GroupHistory(made, checkpoints_at_move=CheckpointsEnd(at, "1"))
    # Clocks of workers and of the controller differ by hours.
    fate = random.Random(draw.getrandbits(32))
    ahead = fate.choice((-10_000.0, 0.0, 10_000.0))
    recreated_at = fate.randint(1, 3) if fate.random() < 0.7 else None
    x, y = made.active, made.idle
    # In the tenure before, the group was anywhere on the idle cluster: it may have been set back there.
    own = draw.randint(0, made.tenures()[-1].first(y, KEY))
    commit = arrived = _image(made, own, (y, x))
    found.stored.append((PresyncedOffset(own, 0.0, arrived, own=True), found.checkpoints_at_move))
    # Before that, it had read more: an old checkpoint, and an old value of the scheduled job.
    if draw.random() < 0.6:
        old = draw.randint(0, made.ends[x])
        found.newest_checkpoint = Checkpointed(old, _image(made, old, (x, y)), ahead, draw.randint(0, at - 1))
    if draw.random() < 0.6:
        old = draw.randint(0, made.ends[x])
        found.outdated.append(PresyncedOffset(_image(made, old, (x, y)), 0.0, old, draw.randint(0, at - 1)))
    for step in range(draw.randint(0, 5)):
        if step == recreated_at:
            # MirrorMaker 2 writes the checkpoints of all groups into the new topic.
            found.checkpoints_id, at = "2", 1
            found.newest_checkpoint = Checkpointed(commit, _image(made, commit, (x, y)), step + ahead, 0)
        before = commit
        commit = draw.randint(0, commit) if draw.random() < 0.4 else draw.randint(commit, made.ends[x])
        found.set_back = found.set_back or commit < before
        seen = draw.choice(("checkpoint", "presync", "both")) if commit < before else draw.choice(("", "both"))
        if seen in ("presync", "both"):
            presynced = PresyncedOffset(_image(made, commit, (x, y)), float(step), commit)
            found.stored = [found.stored[0], (presynced, CheckpointsEnd(at, found.checkpoints_id))]
        if seen in ("checkpoint", "both"):
            found.newest_checkpoint = Checkpointed(commit, _image(made, commit, (x, y)), step + 0.5 + ahead, at)
            at += 1
    found.committed_offset = draw.randint(commit, made.ends[x])
    return found


def world(seed: int) -> TenureWorld:
    """Build the world of a seed."""
    draw = random.Random(seed)
    fate = random.Random(f"{DEAD_WORKERS} {seed}")
    kinds = {kind for kind in KINDS if draw.random() < 0.2} | ({DEAD_WORKERS} if fate.random() < 0.25 else set())
    made = TenureWorld(seed, frozenset(kinds))
    count = draw.randint(2, 5)
    late = draw.randint(1, count - 1) if "late" in made.kinds else 0
    sides = draw.sample(SIDES, 2)
    for number in range(count):
        source, target = sides[number % 2], sides[1 - number % 2]
        made.active = source
        last = number == count - 1
        if number >= late:
            fresh = _produce(made, draw, source)
            dies = not last and DEAD_WORKERS in made.kinds and fate.random() < 0.5
            stored = _replicate(made, draw, fresh, (source, target), last, dies)
            if dies:
                _lose(made, draw, (source, target), stored)
                continue
        if not last:
            _cut_over(made, draw, (source, target), number, number >= late)
    _age(made, draw)
    return made


def _produce(made: TenureWorld, draw: random.Random, source: str) -> list[Entry]:
    """Produce the records of one tenure.

    Markers and aborted records leave gaps in the offsets; sometimes nothing is written.
    """
    older = [*made.logs[source]] if "repeats" in made.kinds else []
    fresh: list[Entry] = []
    at = made.ends[source]
    for _number in range(0 if draw.random() < 0.15 else draw.randint(1, 24)):
        if "transactions" in made.kinds and draw.random() < 0.2:
            at += 1
        if "aborted" in made.kinds and draw.random() < 0.1:
            at += draw.randint(1, 4)
        made.stamp += draw.choice((0, 1, 5)) if "stamps_jump" not in made.kinds else draw.randint(-20, 20)
        stamp, content = made.stamp, f"r{made.born}"
        if "periodic" in made.kinds:
            stamp, content = 1000, "abc"[made.born % 3]
        elif "identical" in made.kinds and draw.random() < 0.7:
            stamp, content = 1000 + made.born // 40, draw.choice("xy"[: draw.randint(1, 2)])
        elif older and draw.random() < 0.5:
            # The same content is written again in a later tenure: equal in every field, but a different record.
            old = older.pop(draw.randrange(len(older)))
            stamp, content = old.stamp, old.content
        # Equal records have the same key: compaction keeps the newest of them.
        key = made.keys.setdefault(content, draw.randint(0, 8))
        entry = Entry(at, stamp, content, key, made.born)
        if "untimed" in made.kinds and draw.random() < 0.4:
            entry = replace(entry, stamp=None)
        elif "source_append_time" in made.kinds and draw.random() < 0.8:
            made.clock += draw.choice((0, 1, 5))
            entry = replace(entry, stamp=made.clock, kind=APPENDED)
        fresh.append(entry)
        made.born += 1
        at += 1
    made.ends[source] = at + (draw.randint(0, 2) if made.kinds & {"transactions", "aborted"} else 0)
    made.logs[source] += fresh
    return fresh


def _replicate(
    made: TenureWorld, draw: random.Random, fresh: Sequence[Entry], flow: tuple[str, str], last: bool, dies: bool
) -> int:
    """Replicate from the cut to the end, or until the worker dies. Return the offset after the last one that it stored.

    A kill goes back to just after the last flushed record, never below the cut.
    """
    running = dies or (last and "running" in made.kinds)
    stop = draw.randint(0, len(fresh)) if running else len(fresh)
    restarts = draw.randint(1, 4) if "resends" in made.kinds else 0
    lag_max, since, first = draw.choice((0, 1, 3, 10, 100)), 1000, True
    log, cursor, flushed, at = made.logs[flow[1]], 0, 0, made.ends[flow[1]]
    while True:
        if restarts and draw.random() < 0.08:
            cursor, restarts, first = flushed, restarts - 1, True
        if cursor >= stop:
            if not restarts or draw.random() < 0.5:
                break
            continue
        if "foreign_writes" in made.kinds and draw.random() < 0.1:
            log.append(Entry(at, draw.randint(900, 1100), f"foreign{flow[1]}{at}", draw.randint(0, 8), None))
            at += 1
        if "replica_markers" in made.kinds and draw.random() < 0.2:
            at += 1
        log.append(replace(_timestamped(made, draw, fresh[cursor]), offset=at))
        due = first or since >= lag_max
        since = 0 if due else since + 1
        if due and not ("syncs_lost" in made.kinds and draw.random() < 0.6):
            made.syncs[flow].append(OffsetSync(*KEY, fresh[cursor].offset, at))
        first = False
        cursor += 1
        at += 1
        if draw.random() < 0.15:
            flushed = cursor
    made.ends[flow[1]] = at
    known = flushed if running else cursor
    begin = made.tenures()[-1].first(flow[0], KEY)
    if last:
        # A flow that has replicated nothing yet knows the offset it was seeded with.
        made.last_replicated_offset = fresh[known - 1].offset if known else begin - 1 if begin else None
    return fresh[known - 1].offset + 1 if known else begin


def _lose(made: TenureWorld, draw: random.Random, flow: tuple[str, str], stored: int) -> None:
    """The cluster is lost with its worker: what the journal gets, and what is found when the cluster is back (R45)."""
    source, target = flow
    tenure = Tenure(source, target, made.tenures()[-1].begin, None)
    replicated = {one.record for one in made.logs[target]}
    log = made.logs[source]
    tail = [one.offset for one in log if one.offset >= tenure.first(source, KEY) and one.record not in replicated]
    # What the flow did not replicate is a tail, which the operator accepted when the flow back was seeded.
    made.logs[source] = [replace(one, record=None) if one.offset in tail else one for one in log]
    end = made.ends[source]
    if tail:
        made.tails[source].append((tail[0], end))
    ends = {"T": {"0": stored}} if stored or draw.random() < 0.5 else {}
    cut_record: dict[str, Any] = {"from": source, "to": target, "disaster": True, "ends": ends}
    cut_record |= {"cut": {"T": {"0": made.ends[target]}}, "resumed": {"T": {"0": end}}}
    found = _found(made, draw, tenure, stored)
    if found is None:
        made.unfound[source].append((stored, end))
    else:
        assert found == (tail[0] if tail else end), f"seed {made.seed}: {found} is not the end of what was replicated"
        cut_record["found"] = {"T": {"0": found}}
    made.cut_records.append(cut_record)


def _found(made: TenureWorld, draw: random.Random, tenure: Tenure, stored: int) -> int | None:
    """The end of the replicated part, from all records of the tenure or only those near the stored offset."""
    made.__dict__.pop("_offsets", None)
    sources = made.within(tenure, tenure.source)
    replicas = made.within(tenure, tenure.target)
    complete = draw.random() < 0.5
    if not complete:
        low = draw.randint(sources[0], max(sources[0], min(stored, sources[1])))
        records = [one.record for one in made.logs[tenure.source] if low <= one.offset < stored]
        first = [one.offset for one in made.logs[tenure.target] if records and one.record == records[0]]
        if not first:
            return None
        sources, replicas = (low, sources[1]), (first[0], replicas[1])
    source, replica = made.windows(tenure, sources, replicas)
    seen = replicated_end(
        source.fingerprints,
        source.below(stored),
        replica.fingerprints,
        True,
        complete,
        "compacted" in made.kinds,
    )
    made.__dict__.pop("_offsets", None)
    if not seen.found:
        return None
    return source.offsets[seen.least] if seen.least < len(source.offsets) else sources[1]


def _timestamped(made: TenureWorld, draw: random.Random, record: Entry) -> Entry:
    """The timestamp of a copy: the original's, the replication time if the original has none, or the broker's."""
    made.clock += draw.choice((0, 0, 1, 3))
    if "replica_append_time" in made.kinds and draw.random() < 0.8:
        return replace(record, stamp=made.clock, kind=APPENDED)
    return replace(record, stamp=made.clock if record.stamp is None else record.stamp, kind=CREATED)


def _cut_over(made: TenureWorld, draw: random.Random, flow: tuple[str, str], number: int, exists: bool) -> None:
    """Everything is replicated and no producer runs, so both ends are journaled.

    Then a foreign producer may write on the old cluster.
    """

    def journaled(value: int) -> dict[str, dict[str, int]]:
        # A partition that was added later: the topic existed before, with other partitions.
        return {"T": {"0": value}} if exists else {"T": {"1": 5}}

    source, target = flow
    cut_record: dict[str, Any] = {
        "from": source,
        "to": target,
        "ends": journaled(made.ends[source]),
        "cut": journaled(made.ends[target]),
    }
    cut_record["resumed"] = draw.choice((None, cut_record["ends"]))
    if exists and "tails" in made.kinds and draw.random() < 0.5:
        low = at = made.ends[source]
        for _record in range(draw.randint(0, 4)):
            made.logs[source].append(Entry(at, made.stamp, f"tail{source}{at}", draw.randint(0, 8), None))
            at += 1
        made.ends[source] = at + draw.randint(0, 1)
        made.tails[source].append((low, made.ends[source]))
        cut_record["resumed"] = journaled(made.ends[source])
    if "adopted" in made.kinds and number == 0:
        cut_record["known"] = False
    made.cut_records.append(cut_record)


def _age(made: TenureWorld, draw: random.Random) -> None:
    """Apply retention and compaction on each cluster separately."""
    for alias in SIDES:
        if "compacted" in made.kinds:
            log = made.logs[alias]
            reached = draw.randint(0, len(log))
            newest = {one.key: one.offset for one in log[:reached]}
            kept = [one for at, one in enumerate(log) if at >= reached or newest[one.key] == one.offset]
            made.superseded[alias] = [one for one in log if one not in kept]
            made.logs[alias] = kept
        if "retention" in made.kinds and draw.random() < 0.7:
            start = made.starts[alias] = draw.randint(0, made.ends[alias])
            made.gone[alias] = [one for one in made.logs[alias] if one.offset < start]
            made.logs[alias] = [one for one in made.logs[alias] if one.offset >= start]
    if "syncs_compacted" in made.kinds:
        made.syncs = {flow: syncs[-1:] for flow, syncs in made.syncs.items()}
