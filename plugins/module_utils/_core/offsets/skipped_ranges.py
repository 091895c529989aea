# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""SkippedRanges of a flow: source offsets over which a replay of the tail has set it, so that it never copies them.

Translation rests on "never forward over a record". So what was copied before a hole and what was copied behind it are
two segments: a position is translated within its segment, and one at a hole is where the other segment begins.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from .skipped_records import NO_SKIPS, Skips
from .tenures import Partition, Tenure
from .translation import Translated

__all__ = ["SkippedRange", "add", "at_skipped_range", "read_again", "segment", "segments", "usable"]

_AGAIN = "a tail lies behind it that a replay has brought over: it is read again"
SkippedRanges = Mapping[Partition, Sequence["SkippedRange"]]


class SkippedRange(NamedTuple):
    """Source offsets [begin, end) that the flow left out.

    ``replica_at``: end of the replica at that time. Copies from before the hole lie below it, those from behind it at
    it or above.
    """

    begin: int
    end: int
    replica_at: int


def add(
    skipped_ranges: Sequence[SkippedRange] | None, begin: int, end: int, replica_at: int
) -> tuple[SkippedRange, ...] | None:
    """One more. What is not known stays unknown."""
    if skipped_ranges is None:
        return None
    last = skipped_ranges[-1] if skipped_ranges else None
    if last is None:
        return (SkippedRange(begin, end, replica_at),)
    if last.replica_at == replica_at:
        # Nothing was copied between the two.
        return (*skipped_ranges[:-1], SkippedRange(last.begin, end, replica_at))
    return (*skipped_ranges, SkippedRange(max(begin, last.end), end, replica_at))


def usable(skipped_ranges: Sequence[SkippedRange] | None, last_replicated_offset: int | None) -> bool:
    """Can positions be translated by them? Not if the flow was set back since: offsets then mean other records."""
    if not skipped_ranges:
        return skipped_ranges is not None
    return last_replicated_offset is not None and last_replicated_offset >= skipped_ranges[-1].end - 1


def segments(skipped_ranges: SkippedRanges, unknown: frozenset[Partition], source: str, target: str) -> list[Tenure]:
    """The parts of a flow, oldest first; the last one goes on. A partition with fewer holes begins later."""
    count = max((len(of_one) for of_one in skipped_ranges.values()), default=0)
    found: list[Tenure] = []
    begin: dict[str, dict[Partition, int]] = {source: {}, target: {}}
    for number in range(count):
        end: dict[str, dict[Partition, int]] = {source: {}, target: {}}
        after: dict[str, dict[Partition, int]] = {source: {}, target: {}}
        for key, of_one in skipped_ranges.items():
            index = number - (count - len(of_one))
            if index >= 0:
                skipped_range = of_one[index]
                end[source][key], end[target][key] = skipped_range.begin, skipped_range.replica_at
                after[source][key], after[target][key] = skipped_range.end, skipped_range.replica_at
        found.append(Tenure(source, target, begin, end, unknown))
        begin = after
    return [*found, Tenure(source, target, begin, None, unknown)]


def segment(skipped_ranges: Sequence[SkippedRange], commit: int, upstream: bool) -> int:
    """Which segment a position lies in, counted from the last one: 0, -1 and so on. ``upstream``: on the source."""
    return -sum(
        commit < (skipped_range.begin if upstream else skipped_range.replica_at) for skipped_range in skipped_ranges
    )


def at_skipped_range(
    skipped_ranges: Sequence[SkippedRange], commit: int, upstream: bool, compacted: bool
) -> Translated | None:
    """A position at a hole: nothing of the flow's lies between the two ends. The tail itself came over another way.

    ``compacted``: the side being entered is, so that records after the hole may be gone; nothing counts them here.
    """
    skips = Skips(0, None) if compacted else NO_SKIPS
    for skipped_range in reversed(skipped_ranges):
        if upstream and skipped_range.begin <= commit <= skipped_range.end:
            return Translated(skipped_range.replica_at, "skipped_range", 0, reached=True, skips=skips)
        if not upstream and commit == skipped_range.replica_at:
            return Translated(skipped_range.end, "skipped_range", 0, skips=skips)
    return None


def read_again(skipped_ranges: Sequence[SkippedRange], commit: int, found: Translated) -> Translated:
    """``found`` on the source, for ``commit`` on the replica, with the tails behind it counted as read again."""
    behind = [skipped_range for skipped_range in skipped_ranges if commit < skipped_range.replica_at]
    if not behind:
        return found
    rereads = found.rereads + sum(skipped_range.end - skipped_range.begin for skipped_range in behind)
    return replace(found, rereads=rereads, hazards=(*found.hazards, _AGAIN))
