# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How old something is, without trusting another machine's clock (R43).

A record's timestamp is an event time: its producer chose it, and it may lie in the past or in the future. An age comes
from two observations by the same clock: a record at or after the log end of an earlier observation was written later.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .partition import Partition

__all__ = ["LogEnds", "age_of", "existed_for", "written_within"]


@dataclass(frozen=True)
class LogEnds:
    """Log ends of one cluster, as this machine observed them."""

    #: Seconds of this machine's monotonic clock, read before the log ends were requested.
    at: float
    #: Log ends by partition. A partition that was not observed is missing.
    ends: Mapping[Partition, int]


def age_of(moment: float | None, now: float) -> float | None:
    """Seconds since ``moment``; None: unknown, also if it lies in the future. Both in epoch seconds.

    If another machine wrote ``moment``, the age is no proof: it is as wrong as the difference of the two clocks.
    """
    return None if moment is None or moment > now else now - moment


def written_within(key: Partition, offset: int, observed: Iterable[LogEnds], now: float) -> float | None:
    """Upper bound of the seconds since ``offset`` became readable; None: unknown. ``now``: as :attr:`LogEnds.at`.

    It was not readable when the log ended at or before it.
    """
    before = [log.at for log in observed if key in log.ends and log.ends[key] <= offset]
    return now - max(before) if before else None


def existed_for(key: Partition, offset: int, observed: Iterable[LogEnds], now: float) -> float:
    """Lower bound of the seconds since ``offset`` became readable; 0.0: no observation shows it."""
    shown = [log.at for log in observed if key in log.ends and log.ends[key] > offset]
    return now - min(shown) if shown else 0.0
