# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What only the source of a flow has: counted from what was read of both logs, and a range where that cannot tell.

A flow copies in order. So what lies on the source behind the replica's last record is what the replica lacks, if three
things are known: which source record that last one is a copy of (equal records leave a choice), that the flow is not
sending again what it had sent before, and what lies up to the source's end. Each that is missing widens the range;
``most`` is then what may be lost, ``least`` what certainly is.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

__all__ = [
    "Log",
    "Place",
    "Range",
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
]

K = TypeVar("K")
Range = tuple[int, int]
Partition = tuple[str, int]


@dataclass(frozen=True)
class Unreplicated:
    """Data records of a source partition that the replica lacks: between ``least`` and ``most``.

    ``since``: when the first one was written (epoch seconds); of a range, the first that may be one. None: there is
    none, or it is not known. ``reason``: why it is a range; empty if it is exact.
    """

    topic: str
    partition: int
    least: int
    most: int
    since: float | None
    reason: str


@dataclass(frozen=True)
class Log:
    """The source: log start, last stable offset, and N, the last copied offset (a lower bound; None: not known)."""

    start: int
    end: int
    last_replicated_offset: int | None

    @property
    def floor(self) -> int:
        """The first offset that is not known to be copied."""
        return self.start if self.last_replicated_offset is None else max(self.start, self.last_replicated_offset + 1)


@dataclass(frozen=True)
class Seen:
    """The data records of the source in [begin, reached): offsets, fingerprints, timestamps (epoch ms)."""

    begin: int
    reached: int
    offsets: Sequence[int] = ()
    fingerprints: Sequence[bytes] = ()
    stamps: Sequence[int | None] = ()


@dataclass(frozen=True)
class Place:
    """Source offsets of which the replica's last record may be the copy.

    ``doubted``: N is behind all of them. ``unseen``: an equal one may lie below what was read, or be deleted.
    """

    first: int
    last: int
    doubted: bool = False
    unseen: bool = False


# ---- how much to read


def shares(needs: Mapping[K, int], budget: int) -> dict[K, int]:
    """``budget`` among all: nobody gets more than it needs, and what one leaves is for the others."""
    given: dict[K, int] = {}
    for key in sorted(needs, key=lambda one: needs[one]):
        given[key] = min(needs[key], budget // (len(needs) - len(given)))
        budget -= given[key]
    return given


def bounded(spans: Mapping[K, Range], floors: Mapping[K, int | None], budget: int) -> dict[K, Range]:
    """The part of each span to read. One that is too long begins at its floor: below it lies what is known."""
    fit = shares({key: max(0, end - begin) for key, (begin, end) in spans.items()}, budget)
    moved = {
        key: (begin if end - begin <= fit[key] else max(begin, min(end, floors.get(key) or 0)), end)
        for key, (begin, end) in spans.items()
    }
    fit = shares({key: max(0, end - begin) for key, (begin, end) in moved.items()}, budget)
    return {key: (begin, begin + fit[key]) for key, (begin, _end) in moved.items()}


# ---- where the replica ends on the source


def place(log: Log, seen: Seen, fingerprint: bytes, at: int) -> Place | None:
    """Where on the source the replica's last record may come from; None: not from what was read.

    ``at``: below it every record is older than that one. Everything up to N was copied before that record was, or with
    it: so no data lies between it and N. Where that excludes every equal one, N and the replica contradict each other.
    """
    equal = [offset for offset, one in zip(seen.offsets, seen.fingerprints, strict=True) if one == fingerprint]
    if not equal:
        return None
    known = 0 if log.last_replicated_offset is None else bisect_right(seen.offsets, log.last_replicated_offset)
    possible = [offset for offset in equal if offset >= seen.offsets[known - 1]] if known else equal
    if not possible:
        return Place(equal[0], equal[-1], doubted=True)
    if _unseen(log, seen, known, at):
        return Place(log.floor - 1, possible[-1], unseen=True)
    return Place(possible[0], possible[-1])


def _unseen(log: Log, seen: Seen, known: int, at: int) -> bool:
    """May an equal record lie below what was read? ``known``: records that were read at or below N.

    One that was read there was copied: nothing below it is still the replica's last one. A deleted one may be anything.
    """
    if log.last_replicated_offset is None or log.last_replicated_offset < log.start:
        return log.start > 0
    return known == 0 and seen.begin <= log.last_replicated_offset and (seen.begin > at or log.start > 0)


def records_after(log: Log, seen: Seen, found: Place) -> range:
    """Indexes of the records that the replica certainly lacks, unless the flow is sending again what it had sent."""
    return range(bisect_right(seen.offsets, found.last), bisect_left(seen.offsets, log.end))


# ---- verdicts


def nothing(key: Partition) -> Unreplicated:
    """Everything is copied."""
    return Unreplicated(*key, 0, 0, None, "")


def never_replicated(key: Partition, log: Log, seen: Seen) -> Unreplicated:
    """The replica was never written."""
    counted, unread = _tally(log, seen, log.start)
    return _range(key, counted, counted + unread, _since(log, seen, log.start), [_unread(unread)])


def unplaced(key: Partition, log: Log, seen: Seen, reason: str) -> Unreplicated:
    """The replica's last record is found nowhere: nothing is proven, and what lies behind N is at stake."""
    counted, unread = _tally(log, seen, log.floor)
    noted = (
        "nothing known to be copied"
        if log.last_replicated_offset is None
        else f"the flow's noted offset {log.last_replicated_offset}"
    )
    reasons = [f"{reason}; counted is what lies behind {noted}", _unread(unread)]
    return _range(key, 0, counted + unread, _since(log, seen, log.floor), reasons)


def placed(key: Partition, log: Log, seen: Seen, found: Place, held: bool | None) -> Unreplicated:
    """The replica's last record is a copy of one at ``found``.

    ``held``: does the replica hold any record that was read behind the last such place? Then the flow is sending again,
    or records repeat, and what is lacking is not told by where the replica ends. None: not known.
    """
    counted, unread = _tally(log, seen, found.first + 1)
    least, _beyond = _tally(log, seen, found.last + 1)
    reasons = []
    if found.unseen:
        reasons.append("the replica's last one may be the copy of an equal record that is deleted or was not read")
    elif found.first != found.last:
        reasons.append("several records equal the last one of the replica")
    if found.doubted:
        reasons.append(f"the replica ends before the flow's noted offset {log.last_replicated_offset}")
    elif least and held:
        reasons.append("the replica holds some of what follows: sent again, or records repeat")
    elif least and held is None:
        reasons.append("whether the replica holds some of what follows was not told within the bound on reading")
    sure = least if held is False and not found.doubted else 0
    return _range(key, sure, counted + unread, _since(log, seen, found.first + 1), [*reasons, _unread(unread)])


def _range(key: Partition, least: int, most: int, since: float | None, reasons: Sequence[str]) -> Unreplicated:
    reason = "" if least == most else "; ".join(text for text in reasons if text)
    return Unreplicated(*key, least, most, since if most else None, reason)


def _unread(offsets: int) -> str:
    return f"{offsets} offsets were not read" if offsets else ""


def _tally(log: Log, seen: Seen, begin: int) -> tuple[int, int]:
    """Records that were read in [begin, end) of the source, and offsets of it that were not."""
    begin = max(begin, log.start)
    counted = bisect_left(seen.offsets, log.end) - bisect_left(seen.offsets, begin)
    below = max(0, min(seen.begin, log.end) - begin)
    above = max(0, log.end - max(seen.reached, begin, seen.begin))
    return max(0, counted), below + above


def _since(log: Log, seen: Seen, begin: int) -> float | None:
    """When the first record at or behind ``begin`` was written, unless an older one may not have been read."""
    index = bisect_left(seen.offsets, begin)
    if seen.begin > max(begin, log.start) or index >= len(seen.offsets) or seen.offsets[index] >= log.end:
        return None
    stamp = seen.stamps[index]
    return None if stamp is None else stamp / 1000.0
