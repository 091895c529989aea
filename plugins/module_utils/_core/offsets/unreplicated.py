# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Counts the records that only the source of a flow has. The count is a range where the logs do not decide it.

A flow replicates in order. So the replica lacks exactly the source records after the copy of its last record, if three
things are known: which source record that last one is a copy of (equal records leave a choice), that the flow is not
replicating earlier records again, and all records up to the source's end. Each unknown widens the range: ``most`` may
be lost, ``least`` certainly is.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from ..ages import LogEnds, existed_for, written_within
from ..partition import Partition, Range

__all__ = [
    "Log",
    "Range",
    "ReplicaEnd",
    "Seen",
    "Unreplicated",
    "bounded",
    "never_replicated",
    "nothing",
    "place",
    "placed",
    "records_after",
    "shares",
    "unplaced",
    "waiting_time",
]

K = TypeVar("K")


@dataclass(frozen=True)
class Unreplicated:
    """Data records of a source partition that the replica lacks: between ``least`` and ``most``."""

    topic: str
    partition: int
    least: int
    most: int
    #: Timestamp of the first of them, in epoch seconds (for a range: of the first that may be one); None: there is
    #: none, or it is unknown. Its producer set it, so it is no age (R43). The broker's retention counts from it.
    event_time: float | None
    #: Why the count is a range; empty if it is exact.
    reason: str
    #: Whether the replica's last record is one of the source, as far as the replica has a record.
    end_is_known: bool = True
    #: The first source offset that may be one of them, and the first that certainly is; None: there is none.
    first: int | None = field(default=None, compare=False)
    first_certain: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Log:
    """The source partition."""

    #: Log start offset.
    start: int
    #: Last stable offset.
    end: int
    #: A lower bound; None: unknown.
    last_replicated_offset: int | None

    @property
    def floor(self) -> int:
        """The first offset that is not known to be replicated."""
        return self.start if self.last_replicated_offset is None else max(self.start, self.last_replicated_offset + 1)


@dataclass(frozen=True)
class Seen:
    """The data records of the source in [begin, reached)."""

    begin: int
    reached: int
    offsets: Sequence[int] = ()
    fingerprints: Sequence[bytes] = ()
    #: Epoch milliseconds.
    stamps: Sequence[int | None] = ()


@dataclass(frozen=True)
class ReplicaEnd:
    """The range of source offsets that the replica's last record may be a copy of."""

    first: int
    last: int
    #: The last replicated offset is after all of them.
    doubted: bool = False
    #: A record of equal content may be below the records that were read, or be deleted.
    unseen: bool = False


# ---- how much to read


def shares(needs: Mapping[K, int], budget: int) -> dict[K, int]:
    """Divide ``budget``: no key gets more than it needs, and what one key does not need goes to the others."""
    given: dict[K, int] = {}
    for key in sorted(needs, key=lambda one: needs[one]):
        given[key] = min(needs[key], budget // (len(needs) - len(given)))
        budget -= given[key]
    return given


def bounded(spans: Mapping[K, Range], floors: Mapping[K, int | None], budget: int) -> dict[K, Range]:
    """The part of each span to read. A span that is too long starts at its floor: what is below is known."""
    fit = shares({key: max(0, end - begin) for key, (begin, end) in spans.items()}, budget)
    moved = {
        key: (begin if end - begin <= fit[key] else max(begin, min(end, floors.get(key) or 0)), end)
        for key, (begin, end) in spans.items()
    }
    fit = shares({key: max(0, end - begin) for key, (begin, end) in moved.items()}, budget)
    return {key: (begin, begin + fit[key]) for key, (begin, _end) in moved.items()}


# ---- where the replica ends on the source


def place(log: Log, seen: Seen, fingerprint: bytes, at: int) -> ReplicaEnd | None:
    """Where on the source the replica's last record may come from; None: it is none of the records that were read.

    ``at``: every record below this offset is older than the replica's last record. Every record up to the last
    replicated offset was replicated before that record, or with it, so no data record is between the two. If that
    excludes every equal record, the last replicated offset and the replica contradict each other.
    """
    equal = [offset for offset, one in zip(seen.offsets, seen.fingerprints, strict=True) if one == fingerprint]
    if not equal:
        return None
    known = 0 if log.last_replicated_offset is None else bisect_right(seen.offsets, log.last_replicated_offset)
    possible = [offset for offset in equal if offset >= seen.offsets[known - 1]] if known else equal
    if not possible:
        return ReplicaEnd(equal[0], equal[-1], doubted=True)
    if _unseen(log, seen, known, at):
        return ReplicaEnd(log.floor - 1, possible[-1], unseen=True)
    return ReplicaEnd(possible[0], possible[-1])


def _unseen(log: Log, seen: Seen, known: int, at: int) -> bool:
    """May an equal record be below the records that were read?

    ``known``: how many records were read up to the last replicated offset. If there is one, it was replicated, and no
    record below it is the replica's last one. A deleted record may have any content.
    """
    if log.last_replicated_offset is None or log.last_replicated_offset < log.start:
        return log.start > 0
    return known == 0 and seen.begin <= log.last_replicated_offset and (seen.begin > at or log.start > 0)


def records_after(log: Log, seen: Seen, found: ReplicaEnd) -> range:
    """Indexes of the records that the replica lacks, unless the flow is replicating earlier records again."""
    return range(bisect_right(seen.offsets, found.last), bisect_left(seen.offsets, log.end))


def waiting_time(row: Unreplicated, observed: Iterable[LogEnds], limit: float, now: float) -> float | None:
    """Seconds for which the first of the records has been readable and unreplicated; None: unknown.

    An upper bound, or a lower bound that exceeds ``limit``. Timestamps take no part in it (R43). ``observed``: earlier
    log ends of the source. ``now``: as :attr:`LogEnds.at`.
    """
    key, ends = Partition(row.topic, row.partition), list(observed)
    most = None if row.first is None else written_within(key, row.first, ends, now)
    if most is not None and most <= limit:
        return most
    least = 0.0 if row.first_certain is None else existed_for(key, row.first_certain, ends, now)
    return least if least > limit else None


# ---- verdicts


def nothing(key: Partition) -> Unreplicated:
    """Every record is replicated."""
    return Unreplicated(*key, 0, 0, None, "")


def never_replicated(key: Partition, log: Log, seen: Seen) -> Unreplicated:
    """The replica has never been written."""
    counted, unread = _tally(log, seen, log.start)
    return _range(key, counted, counted + unread, (log, seen, log.start, log.start), [_unread(unread)])


def unplaced(key: Partition, log: Log, seen: Seen, reason: str) -> Unreplicated:
    """No source record equals the replica's last one: what is after the last replicated offset may be lost."""
    counted, unread = _tally(log, seen, log.floor)
    after = (
        "the log start (the flow's stored offset is unknown)"
        if log.last_replicated_offset is None
        else f"the flow's stored offset {log.last_replicated_offset}"
    )
    reasons = [f"{reason}; all records after {after} are counted", _unread(unread)]
    return _range(key, 0, counted + unread, (log, seen, log.floor, log.floor), reasons)


def placed(key: Partition, log: Log, seen: Seen, found: ReplicaEnd, held: bool | None) -> Unreplicated:
    """The replica's last record is a copy of a record at ``found``.

    ``held``: whether the replica has any of the records that were read after the last such record. Then the flow is
    replicating earlier records again, or records repeat, so the replica's end does not show what is missing. None:
    unknown.
    """
    counted, unread = _tally(log, seen, found.first + 1)
    least, _beyond = _tally(log, seen, found.last + 1)
    reasons = []
    if found.unseen:
        reasons.append("the replica's last record may be the copy of an equal record that is deleted or was not read")
    elif found.first != found.last:
        reasons.append("several source records equal the replica's last record")
    if found.doubted:
        reasons.append(f"the replica ends before the flow's stored offset {log.last_replicated_offset}")
    elif least and held:
        reasons.append("the replica has some of the records that follow: they were replicated again, or records repeat")
    elif least and held is None:
        reasons.append("the read limit was reached before it was known whether the replica has the records that follow")
    sure = least if held is False and not found.doubted else 0
    places = (log, seen, found.first + 1, found.last + 1)
    return _range(key, sure, counted + unread, places, [*reasons, _unread(unread)])


def _range(
    key: Partition, least: int, most: int, places: tuple[Log, Seen, int, int], reasons: Sequence[str]
) -> Unreplicated:
    """``places``: both logs, and the source offsets at or after which all, and the certain ones, of the records are."""
    log, seen, begin, certain = places
    reason = "" if least == most else "; ".join(text for text in reasons if text)
    return Unreplicated(
        *key,
        least,
        most,
        _event_time(log, seen, begin) if most else None,
        reason,
        first=_first(log, seen, begin) if most else None,
        first_certain=_first(log, seen, certain) if least else None,
    )


def _first(log: Log, seen: Seen, begin: int) -> int:
    """The first data record that was read at or after ``begin``; ``begin`` itself if an earlier one may be unread."""
    begin = max(begin, log.start)
    index = bisect_left(seen.offsets, begin)
    known = seen.begin <= begin and index < len(seen.offsets)
    return seen.offsets[index] if known else begin


def _unread(offsets: int) -> str:
    return f"{offsets} offsets were not read" if offsets else ""


def _tally(log: Log, seen: Seen, begin: int) -> tuple[int, int]:
    """Number of records read in [begin, end) of the source, and number of its offsets that were not read."""
    begin = max(begin, log.start)
    counted = bisect_left(seen.offsets, log.end) - bisect_left(seen.offsets, begin)
    below = max(0, min(seen.begin, log.end) - begin)
    above = max(0, log.end - max(seen.reached, begin, seen.begin))
    return max(0, counted), below + above


def _event_time(log: Log, seen: Seen, begin: int) -> float | None:
    """The timestamp of the first record at or after ``begin``, unless an earlier record may not have been read."""
    index = bisect_left(seen.offsets, begin)
    if seen.begin > max(begin, log.start) or index >= len(seen.offsets) or seen.offsets[index] >= log.end:
        return None
    stamp = seen.stamps[index]
    return None if stamp is None else stamp / 1000.0
