# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Longest interval without an event, computed in little memory."""

from __future__ import annotations

from array import array
from dataclasses import asdict, dataclass

GRAIN_US = 1000  # events closer than this are one stretch of activity; longer gaps are exact


@dataclass(frozen=True)
class Window:
    """Window in which to search for gaps. None: from the first, or to the last event."""

    start: int | None = None
    end: int | None = None


@dataclass(frozen=True)
class Gap:
    """An interval without events. `open`: it touches an edge of the window, so it may really be longer."""

    seconds: float
    start: int
    end: int
    open: bool

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


class Activity:
    """Times of events, stored as stretches without a pause. Their number depends on time, not on records."""

    def __init__(self) -> None:
        self._starts = array("q")
        self._ends = array("q")

    def add(self, time_us: int) -> None:
        if self._ends and 0 <= time_us - self._ends[-1] <= GRAIN_US:
            self._ends[-1] = time_us
        elif not self._ends or time_us != self._ends[-1]:
            self._starts.append(time_us)
            self._ends.append(time_us)

    def join(self, other: Activity) -> None:
        self._starts.extend(other._starts)
        self._ends.extend(other._ends)

    def longest_gap(self, window: Window) -> Gap | None:
        """The longest gap. 0 s: none exceeds GRAIN_US. None: no event and no full window, or a single event."""
        low, high = window.start, window.end
        edge, is_edge = low, True
        longest: Gap | None = None
        for start, end in sorted(zip(self._starts, self._ends, strict=True)):
            if (low is not None and end < low) or (high is not None and start > high):
                continue
            if edge is not None and (longest is None or start - edge > longest.end - longest.start):
                longest = _gap(edge, max(start, edge), is_edge)
            if longest is None and end > start:
                longest = _gap(start, start, False)
            if edge is None or end > edge:
                edge, is_edge = end, False
        if high is not None and edge is not None and edge < high:
            last = _gap(edge, high, True)
            longest = last if longest is None or last.seconds > longest.seconds else longest
        return longest


def _gap(start: int, end: int, is_open: bool) -> Gap:
    return Gap((end - start) / 1e6, start, end, is_open)
