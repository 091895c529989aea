# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which part of both logs must be read to translate an offset: from the offset-sync below it to the one above it.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from ..partition import Range
from .internal_records import OffsetSync
from .translation import Translated

__all__ = ["LogBounds", "Span", "merged", "span_forward", "span_reverse", "span_skips"]

# Largest number of offsets that are read to count skipped records. Above it, the count is a range.
_COUNTED = 50_000
_NEAR = 1000
# If no more offsets than this are unread, all of them are read: that is faster than another round, and shows every
# missing copy (R36).
_WHOLE = 1000


@dataclass(frozen=True)
class LogBounds:
    """The logs of one partition on both clusters."""

    source: Range
    replica: Range
    last_replicated_offset: int | None
    #: Ordered by downstream offset.
    syncs: Sequence[OffsetSync]
    #: Upper bound of the records of later tenures that are gone from the log being entered.
    gone_after: int = 0

    @cached_property
    def downstreams(self) -> list[int]:
        """Downstream offsets of the offset-syncs, ascending."""
        return [sync.downstream for sync in self.syncs]

    @cached_property
    def _lowest_from(self) -> list[int]:
        """For each offset-sync, the lowest upstream offset from there on. Ascending, so it can be searched."""
        return list(accumulate((sync.upstream for sync in reversed(self.syncs)), min))[::-1]

    def last_below(self, commit: int) -> int:
        """Index of the last offset-sync whose source record is below ``commit``; -1: there is none."""
        return bisect_left(self._lowest_from, commit) - 1


@dataclass(frozen=True)
class Span:
    """Offsets [begin, end) of the source and of the replica that are read together to translate these offsets."""

    source: Range
    replica: Range
    committed_offsets: tuple[int, ...]


def span_forward(commit: int, bounds: LogBounds, width: int, whole: int = _WHOLE) -> Span:
    """For an offset on the source. ``width``: how many records on each side must be read.

    Reaches to the end of both logs if at most ``whole`` offsets of each are unread.
    """
    below = bounds.last_below(commit)
    if below >= 0:
        anchor = bounds.syncs[below]
        place = min(anchor.downstream + max(1, commit - anchor.upstream), bounds.replica[1])
        if below + 1 < len(bounds.syncs):
            place = min(place, bounds.downstreams[below + 1])
        floor = anchor.downstream
    else:
        place = floor = bounds.replica[0]
    (low, high), (begin, end) = _around(place, bounds, width, floor)
    if bounds.source[1] - commit <= whole and bounds.replica[1] - begin <= 2 * whole:
        high, end = bounds.source[1], bounds.replica[1]
    return Span(
        (min(low, max(bounds.source[0], commit - 1)), max(high, min(bounds.source[1], commit + width))),
        (begin, end),
        (commit,),
    )


def span_reverse(commit: int, bounds: LogBounds, width: int, whole: int = _WHOLE) -> Span:
    """For an offset on the replica. All of both logs if each has at most ``whole`` offsets."""
    if _is_short(bounds, whole):
        return Span(bounds.source, bounds.replica, (commit,))
    source, replica = _around(commit, bounds, width, commit)
    return Span(source, replica, (commit,))


def _is_short(bounds: LogBounds, whole: int) -> bool:
    return max(high - low for low, high in (bounds.source, bounds.replica)) <= whole


def span_skips(commit: int, found: Translated, bounds: LogBounds, forward: bool) -> Span:
    """What to read to count the records that ``found`` skips: all unread records, or only around the log starts.

    Forward this also shows the unread records without a copy (R36).
    """
    source, replica = bounds.source, bounds.replica
    if not forward and _is_short(bounds, _WHOLE):
        return Span(source, replica, (commit,))
    commits = (commit, found.offset) if forward else (found.offset, commit)
    if found.anchor is not None:
        commits = min(commits[0], found.anchor.upstream), min(commits[1], found.anchor.downstream)
    low, begin = max(source[0], commits[0] - 1), max(replica[0], commits[1])
    if (source[1] - low if forward else replica[1] - begin) > _COUNTED:
        return _first_left(commit, bounds)
    if not forward and source[1] - low > 2 * _COUNTED:
        return Span((low, low + _NEAR), (begin, replica[1]), (commit,))
    return Span((low, source[1]), (max(begin, replica[1] - 2 * _COUNTED), replica[1]), (commit,))


def _first_left(commit: int, bounds: LogBounds) -> Span:
    """Around the first offset-sync whose records both logs still have."""
    source, replica = bounds.source, bounds.replica
    left = (sync for sync in bounds.syncs if sync.downstream >= replica[0] and sync.upstream >= source[0])
    first = min(left, key=lambda sync: (sync.downstream, sync.upstream), default=None)
    low, begin = (source[0], replica[0]) if first is None else (first.upstream, first.downstream)
    return Span((low, min(low + _NEAR, source[1])), (begin, min(begin + _NEAR, replica[1])), (commit,))


def _around(place: int, bounds: LogBounds, width: int, floor: int) -> tuple[Range, Range]:
    syncs, downstreams = bounds.syncs, bounds.downstreams
    cap = 10 * width
    low = bisect_right(downstreams, min(place - width, floor)) - 1
    high = bisect_left(downstreams, place + width)
    near_start = place - bounds.replica[0] <= cap
    if low >= 0 and place - downstreams[low] <= cap:
        begin = downstreams[low]
    else:
        begin = bounds.replica[0] if near_start else place - cap
    if high < len(syncs) and downstreams[high] - place <= cap:
        end = downstreams[high] + 1
    else:
        end = min(bounds.replica[1], place + cap)
    # Several records of the source may have the same place on the replica.
    near = syncs[bisect_left(downstreams, begin) : bisect_left(downstreams, end)]
    seen = [sync.upstream for sync in near]
    top = (
        bounds.source[1]
        if bounds.last_replicated_offset is None
        else min(bounds.source[1], bounds.last_replicated_offset + 1)
    )
    upper = max(seen, default=top - 1) + 1
    lower = min(seen, default=upper - 1)
    if end >= bounds.replica[1]:
        upper = max(upper, top + width)
    if begin <= bounds.replica[0]:
        lower = min(lower, lower - (end - begin), upper - 2 * (end - begin))
    # Transaction markers and aborted records take offsets on the source only. Add as many offsets as the width.
    lower -= width
    first, last = bounds.source
    source = (max(first, min(lower, last)), min(last, max(upper + width, first)))
    # An offset-sync may be below the log start (retention) or outside the tenure. Its record cannot be read.
    start, stop = bounds.replica
    return source, (min(max(begin, start), stop), max(min(end, stop), start))


def merged(spans: Iterable[Span], gap: int) -> list[Span]:
    """Join spans that overlap, or whose distance is at most ``gap``, so that they are read once."""
    joined: list[Span] = []
    for span in sorted(spans, key=lambda one: (one.replica, one.source)):
        last = joined[-1] if joined else None
        if last is not None and _near(last.replica, span.replica, gap) and _near(last.source, span.source, gap):
            joined[-1] = Span(
                _hull(last.source, span.source),
                _hull(last.replica, span.replica),
                tuple(sorted({*last.committed_offsets, *span.committed_offsets})),
            )
        else:
            joined.append(span)
    return joined


def _near(left: Range, right: Range, gap: int) -> bool:
    return right[0] <= left[1] + gap and left[0] <= right[1] + gap


def _hull(left: Range, right: Range) -> Range:
    return min(left[0], right[0]), max(left[1], right[1])
