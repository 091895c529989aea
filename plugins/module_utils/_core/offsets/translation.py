# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Translates offsets through one flow, forward (source to replica) and in reverse, with a proof for each.

MirrorMaker 2 guarantees: one task owns a partition, has one request in flight, and sends records in order. So its
*cursor*, the source record that it replicated last, goes from each data record to the next one, or back to resend after
a restart. It never goes forward over a record. Where a replay has set it forward, ``skipped_ranges`` keeps the two
parts apart. So, if the replica record at ``d`` is a copy of the source record ``v``:

1. Every source record below ``v`` was replicated below ``d`` (unless it was deleted before).
2. Every source record after ``v``, up to ``last_replicated_offset``, has a copy after ``d``.
3. Between a replica record that is a copy of ``v`` and a later one that is a copy of ``u``, there are at least as many
   records as the source has in (v, u). Counting is a proof, time is not.

The state of a real cluster can break these facts: copies may be missing. ``missing_copies`` checks each result against
the records that were read (R36).

An *anchor* is an offset-sync (upstream ``u`` is replicated at downstream ``d``) whose two records are equal, or whose
record has expired on one side.
Records are compared by fingerprint, and fingerprints contain only the fields that the flow carries (``fingerprints``).
A record and its copy have equal fingerprints, even if their timestamps differ. Records of another writer in the replica
cost precision only, unless that writer repeats a source record before MirrorMaker 2 replicates it. Then the topic has
two writers, which other checks refuse.

Sources: MirrorSourceTask, OffsetSyncWriter, OffsetSyncStore (Kafka 4.3.1); R1 to R4.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ..partition import Range
from .internal_records import OffsetSync
from .missing_copies import Copy, size
from .read_copies import Anchor
from .skipped_records import NO_SKIPS, Skips, skipped_forward, skipped_reverse

__all__ = [
    "Translated",
    "after_last_rewind",
    "better",
    "checkpoint",
    "forward",
    "joined",
    "reverse",
]

# How many upper anchors are tried for one replica record. A resend in between makes the nearest one useless.
_ANCHORS_TRIED = 3


@dataclass(frozen=True)
class Translated:
    """An offset on the other cluster that skips no record that is still there. ``skips`` counts those that are gone."""

    offset: int
    #: end, content, sync, tail, skipped_range or start.
    method: str
    #: Upper bound of the processed records that are read again. Second copies in the replica do not count (R4).
    rereads: int
    anchor: Anchor | None = None
    hazards: tuple[str, ...] = ()
    #: Forward: a copy of the last processed record is below the offset. Otherwise it may not be replicated yet.
    reached: bool = False
    skips: Skips = NO_SKIPS
    #: The proven offset, lower than ``offset`` if the log being entered starts only after it. None: ``offset``.
    needed: int | None = None
    #: Source offsets [begin, end) of records that the group has not read and of which no copy exists. ``skips`` has
    #: them too.
    missing: tuple[Range, ...] = ()
    #: In reverse, upper bound of the unread replica records whose original is gone from within the source. ``skips``
    #: has them too.
    without_original: int = 0
    #: Upper bound of the unread records whose copies were neither read nor counted.
    unseen: int = 0

    @property
    def exact(self) -> bool:
        """Whether the offset is proven to be that of the very next record, and no unread record lacks a copy."""
        return self.rereads == 0 and not self.skips.possible and not self.unseen

    def lacking(self, missing: Iterable[Range]) -> Translated:
        """The same, with more unread records that have no copy, each a range of source offsets."""
        more = tuple(missing)
        return replace(self, missing=self.missing + more, skips=self.skips.plus(Skips(size(more), size(more))))


def joined(offsets: Iterable[int]) -> tuple[Range, ...]:
    """Ascending offsets as ranges [begin, end)."""
    ranges: list[Range] = []
    for offset in offsets:
        if ranges and ranges[-1][1] == offset:
            ranges[-1] = ranges[-1][0], offset + 1
        else:
            ranges.append((offset, offset + 1))
    return tuple(ranges)


# ---- forward: commit c on the source -> offset on the replica ----------------------------------------------------


def forward(commit: int, copy: Copy) -> Translated:
    """Where a group that has processed every source record below ``commit`` starts on the replica."""
    return _with_later_parts(_clamped_forward(commit, copy), copy)


def _with_later_parts(found: Translated, copy: Copy) -> Translated:
    """The group has read nothing of the parts that follow, and no offset restores what has expired of them."""
    return replace(found, skips=found.skips.plus(Skips(0, copy.gone_after)))


def _clamped_forward(commit: int, copy: Copy) -> Translated:
    if not copy.same_topics:
        # A group that has read nothing reads nothing again.
        span = copy.replica_end - copy.replica_start if commit else 0
        skips = skipped_forward(commit, copy.replica_start, copy.replica_first, copy)
        return Translated(copy.replica_start, "start", span, hazards=copy.hazards, skips=skips)
    found = replace(_bounded_forward(commit, copy), hazards=copy.hazards)
    offset = min(max(found.offset, copy.replica_start), copy.replica_end)
    if found.method == "end":
        return replace(found, offset=offset)
    # The log start is the only offset left, but records before it are skipped (R30).
    needed = copy.replica_first if found.anchor is None else found.offset
    gone = skipped_forward(commit, offset, needed, copy)
    missing = copy.missing.missing_forward(commit, offset)
    rereads = max(0, found.rereads - max(0, offset - found.offset))
    return replace(
        found,
        offset=offset,
        rereads=rereads,
        skips=gone.including(len(missing)).plus(Skips(0, copy.missing.uncertain_forward(commit, offset))),
        needed=needed,
        # If the replica has lost records, whether those had copies is not known.
        missing=() if gone.possible else joined(missing),
        unseen=0 if gone.possible else copy.missing.unseen_forward(commit, offset),
    )


def _bounded_forward(commit: int, copy: Copy) -> Translated:
    """As :func:`_forward`, at or before the copies of all unread records (R36)."""
    found = _forward(commit, copy)
    if found.method == "end":
        return found
    offset = copy.missing.lowered_forward(commit, found.offset)
    if offset == found.offset:
        return found
    return replace(_counted(offset, found.method, commit, copy, found.anchor), reached=found.reached)


def _forward(commit: int, copy: Copy) -> Translated:
    """As :func:`forward`, by the facts above."""
    source, replica = copy.source, copy.replica
    unread = source.below(commit)
    rest = source.begin <= commit and source.end >= copy.source_end
    if commit >= copy.source_end or (rest and unread == len(source.offsets)):
        # Nothing is left to read on the source, and the replica's end was read before the source's.
        return Translated(copy.replica_end, "end", 0)
    begins = _begin(commit, copy)
    if begins is None:
        return _counted(copy.replica_start, "start", commit, copy, None)
    cursor, at, anchor = begins
    offset = copy.replica_start if anchor is None else anchor.downstream + 1
    if at is None or cursor == unread - 1:
        counted = _counted(offset, "start" if anchor is None else "sync", commit, copy, anchor)
        return replace(counted, reached=cursor == unread - 1)
    # The cursor cannot be further than the records that match one after the other. If the copy of a processed record
    # is missing, this ends at the end of the replica, and the copies of the unread records decide (R36).
    while cursor < unread - 1 and at < len(replica.offsets):
        cursor += replica.fingerprints[at] == source.fingerprints[cursor + 1]
        offset = replica.offsets[at] + 1
        at += 1
    reached = cursor == unread - 1
    later = _latest(unread, at, copy) if reached else None
    return replace(_counted(offset if later is None else later, "content", commit, copy, anchor), reached=reached)


def _begin(commit: int, copy: Copy) -> tuple[int, int | None, Anchor | None] | None:
    """(index of the cursor's source record, index of the next replica record, anchor) from which to compare records.

    The second is None if the records between the anchor and the window were not read or are gone.
    """
    source, replica = copy.source, copy.replica
    for anchor in reversed(copy.anchors):
        if anchor.upstream < commit and _holds_forward(anchor, commit, copy):
            after = anchor.downstream + 1
            seen = source.begin <= max(anchor.upstream + 1, copy.start) and replica.begin <= after
            seen = seen and copy.replica_start <= after
            at = replica.below(anchor.downstream + 1) if seen and not copy.replica_compacted else None
            return source.below(anchor.upstream + 1) - 1, at, anchor
    if replica.begin <= copy.replica_start == copy.replica_first and source.begin <= max(copy.start, copy.first):
        # Nothing was replicated before the first replica record.
        return source.below(copy.first) - 1, None if copy.replica_compacted else 0, None
    return None


def _holds_forward(anchor: Anchor, commit: int, copy: Copy) -> bool:
    """An anchor whose source record has expired cannot be compared: the first unread record must be after it."""
    if anchor.upstream >= copy.start:
        return True
    source, replica = copy.source, copy.replica
    unread = source.below(commit)
    if source.begin > commit or unread == len(source.offsets):
        return False
    return replica.holds(source.fingerprints[unread], replica.below(anchor.downstream + 1), len(replica.offsets))


def _counted(offset: int, method: str, commit: int, copy: Copy, anchor: Anchor | None) -> Translated:
    """Counts the replica records from ``offset`` to the first copy of an unread record, if that copy is known."""
    source, replica = copy.source, copy.replica
    unread, low = source.below(commit), replica.below(offset)
    high = len(replica.offsets)
    beyond = 0 if copy.tail_read else copy.replica_end - replica.end
    if source.begin <= commit and not copy.source_compacted:
        # The first unread record that has a copy there.
        for fingerprint in source.fingerprints[unread:]:
            places = replica.places.get(fingerprint, [])
            place = bisect_left(places, low)
            if place < len(places) and len(source.places[fingerprint]) == 1:
                high, beyond = places[place], 0
            if places or not copy.tail_read:
                break
    missed = max(0, min(replica.begin, copy.replica_end) - offset)
    return Translated(offset, method, max(0, high - low) + beyond + missed, anchor)


def _latest(unread: int, at: int, copy: Copy) -> int | None:
    """The offset after a later copy of the last processed record, if every unread record follows it (a resend).

    Requires that no two unread records have equal content: then equal content means the same record.
    """
    source, replica = copy.source, copy.replica
    if (
        not unread
        or not copy.tail_read
        or copy.last_replicated_offset is None
        or source.end <= copy.last_replicated_offset
    ):
        return None
    last = source.fingerprints[unread - 1]
    later = [index for index in replica.places.get(last, []) if index >= at]
    left = source.fingerprints[unread : source.below(copy.last_replicated_offset + 1)]
    if not later or not left or len(source.places[last]) > 1 or len(set(left)) < len(left):
        return None
    at = later[-1] + 1
    for fingerprint in left:
        indexes = replica.places.get(fingerprint, [])
        place = bisect_left(indexes, at)
        if place == len(indexes):
            return None
        at = indexes[place] + 1
    return replica.offsets[later[-1]] + 1


# ---- reverse: commit g on the replica -> offset on the source ----------------------------------------------------


def reverse(commit: int, copy: Copy) -> Translated:
    """Where a group that has processed every replica record below ``commit`` starts on the source."""
    return _with_later_parts(_counted_reverse(commit, copy), copy)


def _counted_reverse(commit: int, copy: Copy) -> Translated:
    if not copy.same_topics:
        skips = skipped_reverse(commit, copy.first, copy)
        return Translated(copy.start, "start", copy.source_end - copy.start, hazards=copy.hazards, skips=skips)
    found = _bounded_reverse(commit, copy)
    needed = found.offset if found.needed is None else found.needed
    gone = skipped_reverse(commit, needed, copy)
    missing = copy.missing.missing_reverse(found.offset)
    without_original = copy.missing.without_original(commit)
    found = replace(
        found,
        hazards=copy.hazards,
        # Without all copies, one that was not read or has expired looks like a missing one.
        skips=gone.plus(Skips(len(missing) if copy.missing.complete else 0, len(missing) + without_original)),
        without_original=without_original,
        needed=needed,
        missing=joined(missing),
    )
    if found.rereads == 0:
        return found
    replica = copy.replica
    begin = _forward(found.offset, copy).offset
    rereads = max(0, replica.below(commit) - replica.below(max(begin, replica.begin)))
    rereads += max(0, min(commit, replica.begin) - begin)
    return replace(found, rereads=rereads)


def _bounded_reverse(commit: int, copy: Copy) -> Translated:
    """As :func:`_reverse`, at or before each record of which only an unread copy exists (R36)."""
    found = _reverse(commit, copy)
    offset = max(copy.missing.lowered_reverse(commit, found.offset), copy.start)
    if offset >= found.offset:
        return found
    needed = offset if found.needed is None else min(offset, found.needed)
    exact = copy.missing.complete and _is_next(offset, commit, copy)
    return replace(found, offset=offset, needed=needed, rereads=0 if exact else -1)


def _reverse(commit: int, copy: Copy) -> Translated:
    """As :func:`reverse`. ``rereads`` is 0 if the next record is proven, and -1 if it is not counted yet."""
    claims = [claim for claim in (_by_anchor(commit, copy), _by_tail(commit, copy)) if claim is not None]
    # The log start is a proven offset only if a claim reaches it.
    proven = max((claim.offset for claim in claims), default=copy.first)
    best = Translated(copy.start, "start", -1, needed=min(proven, copy.start))
    best = max([best, *claims], key=lambda claim: claim.offset)
    if _is_next(best.offset, commit, copy):
        return replace(best, rereads=0)
    for index in range(copy.replica.below(commit) - 1, -1, -1):
        claim = _by_count(index, copy)
        if claim is not None and claim.offset > best.offset:
            best = claim
            if _is_next(best.offset, commit, copy):
                return replace(best, rereads=0)
    return best


def _by_anchor(commit: int, copy: Copy) -> Translated | None:
    """Every record up to the highest anchor below ``commit`` was processed (rule 1)."""
    known = [
        (anchor.upstream + (anchor.downstream < commit), anchor)
        for anchor in copy.anchors[: bisect_right(copy.downstreams, commit)]
        # An anchor whose replica record has expired cannot be compared, but would be trusted for all records below it.
        if anchor.downstream >= copy.replica_start
    ]
    if not known:
        return None
    offset, anchor = max(known, key=lambda one: one[0])
    return Translated(offset, "sync", -1, anchor)


def _by_tail(commit: int, copy: Copy) -> Translated | None:
    """A replicated source record whose content is not at or after ``commit`` is below it, even with other writers."""
    source, replica = copy.source, copy.replica
    read = replica.begin <= commit and copy.tail_read
    if not read or copy.replica_compacted or commit < copy.replica_start or copy.last_replicated_offset is None:
        return None
    low, last = replica.below(commit), copy.last_copies
    for index in range(source.below(copy.last_replicated_offset + 1) - 1, source.below(copy.first) - 1, -1):
        if last[index] < low:
            return Translated(source.offsets[index] + 1, "end" if low == len(replica.offsets) else "tail", -1)
    return None


def _by_count(index: int, copy: Copy) -> Translated | None:
    """The replica record at ``index`` is a copy of the lowest source record of its content that counting allows."""
    source, replica = copy.source, copy.replica
    places = source.places.get(replica.fingerprints[index])
    if copy.source_compacted or not places:
        return None
    best = None
    for upstream, after, anchor in _upper(index, copy):
        top = source.below(upstream + 1) - 1
        low = top - after
        if low < 0 and not copy.complete_below:
            continue
        low = max(low, 0, source.below(copy.first))
        place = bisect_left(places, low)
        if place < len(places):
            offset = source.offsets[places[place]] + 1
            if best is None or offset > best.offset:
                best = Translated(offset, "content", -1, anchor)
    return best


def _upper(index: int, copy: Copy) -> Iterable[tuple[int, int, Anchor | None]]:
    """(upstream, replica records from ``index`` to its copy, anchor): facts after the replica record at ``index``."""
    replica = copy.replica
    offset = replica.offsets[index]
    first = bisect_left(copy.downstreams, offset)
    for anchor in copy.anchors[first : first + _ANCHORS_TRIED]:
        yield anchor.upstream, _records(offset, anchor.downstream, copy), anchor
    if copy.last_replicated_offset is not None and copy.source.end > copy.last_replicated_offset:
        yield copy.last_replicated_offset, _records(offset, copy.replica_end - 1, copy), None


def _records(low: int, high: int, copy: Copy) -> int:
    """Upper bound of the copies in (low, high] of the replica. Compaction has removed some of them."""
    if copy.replica_compacted or high >= copy.replica.end:
        return high - low
    return copy.replica.below(high + 1) - copy.replica.below(low + 1)


def _is_next(offset: int, commit: int, copy: Copy) -> bool:
    """Whether the source record at or after ``offset`` has no copy below ``commit`` in the records that were read."""
    source, replica = copy.source, copy.replica
    index, split = source.below(offset), replica.below(commit)
    if offset < max(source.begin, copy.first):
        return False
    if index == len(source.offsets):
        return source.end >= copy.source_end
    fingerprint = source.fingerprints[index]
    return len(source.places[fingerprint]) == 1 and not replica.holds(fingerprint, 0, split)


def better(old: Translated | None, new: Translated, upstream: bool) -> Translated:
    """The better of two translations of one offset, from two parts of the logs.

    Better: fewer records that may be skipped, a narrower range, fewer re-reads. ``upstream``: the offset is one of the
    source. In reverse, a part of the logs does not show all missing copies, so those that one of them shows are kept.
    """
    if old is None:
        return new
    best, other = (new, old) if _rank(new) < _rank(old) else (old, new)
    if upstream or best.missing or not other.missing:
        return best
    count = sum(max(0, min(high, best.offset) - low) for low, high in other.missing)
    return replace(best, missing=other.missing, skips=best.skips.plus(Skips(0, count)))


def _rank(translated: Translated) -> tuple[float, int, int]:
    skips = translated.skips
    most = float("inf") if skips.at_most is None else skips.at_most + translated.unseen
    return most, -skips.at_least, translated.rereads


# ---- MirrorMaker 2's own rule --------------------------------------------------------------------------------------


def after_last_rewind(syncs: Iterable[OffsetSync]) -> list[OffsetSync]:
    """The offset-syncs of one partition, in topic order, that MirrorMaker 2 still uses; ascending."""
    usable: list[OffsetSync] = []
    for sync in syncs:
        if usable and (sync.upstream < usable[-1].upstream or sync.downstream < usable[-1].downstream):
            usable.clear()
        usable.append(sync)
    return usable


def checkpoint(commit: int, usable: Sequence[OffsetSync]) -> int | None:
    """The downstream offset in MirrorMaker 2's own checkpoint, for comparison only: this collection never commits it.

    ``usable``: from :func:`after_last_rewind`. Source: OffsetSyncStore.translateDownstream (Kafka 4.3.1). An equal
    upstream offset gives the downstream offset, a lower one gives the downstream offset + 1, never the difference.
    """
    at_or_below = bisect_right(usable, commit, key=lambda sync: sync.upstream)
    if not at_or_below:
        return None
    best = usable[at_or_below - 1]
    return best.downstream if best.upstream == commit else best.downstream + 1
