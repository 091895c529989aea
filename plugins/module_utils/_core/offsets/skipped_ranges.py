# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Skipped ranges of a flow: source offsets that a replay of the tail made it skip, so that it never replicates them.

Translation depends on "never forward over a record". So the records before a skipped range and those after it are two
segments. An offset is translated within its segment. An offset at a skipped range is where the other segment begins.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..partition import Partition
from .skipped_records import NO_SKIPS, Skips
from .tenures import Tenure
from .translation import Translated

__all__ = ["SkippedRange", "add", "at_skipped_range", "read_again", "segment", "segments", "usable"]

_AGAIN = "a replay has restored a tail after it, whose records are read again"
SkippedRanges = Mapping[Partition, Sequence["SkippedRange"]]


class SkippedRange(NamedTuple):
    """Source offsets [begin, end) that the flow skipped."""

    begin: int
    end: int
    #: Log end of the replica at that time. Copies of records before the range are below it, those of records after the
    #: range at or above it.
    replica_at: int


def add(
    skipped_ranges: Sequence[SkippedRange] | None, begin: int, end: int, replica_at: int
) -> tuple[SkippedRange, ...] | None:
    """``skipped_ranges`` and one more. None (unknown) stays None."""
    if skipped_ranges is None:
        return None
    last = skipped_ranges[-1] if skipped_ranges else None
    if last is None:
        return (SkippedRange(begin, end, replica_at),)
    if last.replica_at == replica_at:
        # Nothing was replicated between the two.
        return (*skipped_ranges[:-1], SkippedRange(last.begin, end, replica_at))
    return (*skipped_ranges, SkippedRange(max(begin, last.end), end, replica_at))


def usable(skipped_ranges: Sequence[SkippedRange] | None, last_replicated_offset: int | None) -> bool:
    """Can they be used to translate? Not if the flow was set back since: offsets then refer to other records."""
    if not skipped_ranges:
        return skipped_ranges is not None
    return last_replicated_offset is not None and last_replicated_offset >= skipped_ranges[-1].end - 1


def segments(skipped_ranges: SkippedRanges, unknown: frozenset[Partition], source: str, target: str) -> list[Tenure]:
    """The segments of a flow, oldest first; the last one continues. A partition with fewer ranges starts later."""
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
    """The segment of an offset, counted from the last one: 0, -1 and so on. ``upstream``: it is a source offset."""
    return -sum(
        commit < (skipped_range.begin if upstream else skipped_range.replica_at) for skipped_range in skipped_ranges
    )


def at_skipped_range(
    skipped_ranges: Sequence[SkippedRange], commit: int, upstream: bool, compacted: bool
) -> Translated | None:
    """Translate an offset at a skipped range. The flow has no record between its two ends; a replay restored the tail.

    ``compacted``: the cluster being entered compacts the topic, so records after the range may be gone. They are not
    counted here.
    """
    skips = Skips(0, None) if compacted else NO_SKIPS
    for skipped_range in reversed(skipped_ranges):
        if upstream and skipped_range.begin <= commit <= skipped_range.end:
            return Translated(skipped_range.replica_at, "skipped_range", 0, reached=True, skips=skips)
        if not upstream and commit == skipped_range.replica_at:
            return Translated(skipped_range.end, "skipped_range", 0, skips=skips)
    return None


def read_again(skipped_ranges: Sequence[SkippedRange], commit: int, found: Translated) -> Translated:
    """``found`` on the source, for ``commit`` on the replica; the tails after it count as read again."""
    after = [skipped_range for skipped_range in skipped_ranges if commit < skipped_range.replica_at]
    if not after:
        return found
    rereads = found.rereads + sum(skipped_range.end - skipped_range.begin for skipped_range in after)
    return replace(found, rereads=rereads, hazards=(*found.hazards, _AGAIN))
