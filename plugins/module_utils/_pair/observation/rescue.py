# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wait, within bounds, until the flow has replicated the records that the cluster being left still serves.

The flow itself replicates them, because it stores its progress and repeats nothing. The rest is the tail.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..._core.flows.pair_spec import PairSpec
from ..._core.partition import Partition
from ..._core.waiting import Bounds, wait_until
from ..._kafka.topics import known_ranges
from ..._module import Result
from .pair import Pair

__all__ = ["RescueRequest", "rescue"]


@dataclass(frozen=True)
class RescueRequest:
    """What ``dr_drain`` needs in a disaster."""

    pair: PairSpec
    #: Alias of the cluster being left.
    leave: str
    #: Alias of the cluster being entered.
    enter: str
    bounds: Bounds
    request_timeout: float


@dataclass(frozen=True)
class _Progress:
    """Source log and stored offsets at one time."""

    #: Last stable offsets on the cluster being left; None: no leader returns it.
    ends: Mapping[Partition, int | None]
    #: Last replicated offset of the flow.
    replicated: Mapping[Partition, int]

    def missing(self) -> dict[Partition, int | None]:
        """Return by partition how many offsets are not known to be replicated; None: unknown."""
        missing: dict[Partition, int | None] = {}
        for key, end in self.ends.items():
            offset = self.replicated.get(key)
            missing[key] = (
                None
                if end is None or (offset is None and end)
                else max(0, end - 1 - (-1 if offset is None else offset))
            )
        return missing

    @property
    def done(self) -> bool:
        """Is everything that can be read replicated?"""
        return not any(self.missing()[key] != 0 for key, end in self.ends.items() if end is not None)


def rescue(request: RescueRequest) -> Result:
    """Wait until everything that can be read is replicated, progress stops, or the time-out is reached.

    Transaction markers count as offsets (R46), so the wait for a transactional log ends after ``bounds.stall``.
    """
    leave, enter = request.leave, request.enter
    pair = Pair(request.pair, [(leave, enter)], request.request_timeout)
    keys = pair.existing(leave, pair.topics)

    def observe() -> _Progress:
        spans = known_ranges(pair.kafka[leave], keys)
        ends = {key: None if span is None else span[1] for key, span in spans.items()}
        return _Progress(ends, pair.engine.observe(leave, enter).last_replicated_offset)

    waited = wait_until(
        observe, lambda progress: progress.done, request.bounds, lambda progress: sorted(progress.replicated.items())
    )
    unreplicated = waited.state.missing()
    absent = set(pair.topics) - {topic for topic, _index in keys}
    unread = sorted(
        [key for key, end in waited.state.ends.items() if end is None] + [Partition(topic, 0) for topic in absent]
    )
    left = {key: count for key, count in unreplicated.items() if count != 0 and key not in unread}
    known = sum(count for count in left.values() if count is not None)
    extra = {
        "replicated": not left and not unread,
        "offsets_left": None if None in left.values() or unread else known,
        "unreadable": [str(key) for key in unread],
        "seconds": round(waited.seconds, 3),
        "text": _text(enter, left, known, unread, waited.seconds),
    }
    return Result(extra=extra, requests=pair.requests)


def _text(enter: str, left: Mapping[Partition, int | None], known: int, unread: list[Partition], seconds: float) -> str:
    texts = []
    if left:
        texts.append(
            f"{known} offsets of {len(left)} partitions, of records or transaction markers, were not replicated within"
            f" {seconds:.0f} s"
        )
    if unread:
        texts.append(f"{len(unread)} partitions could not be read")
    return "; ".join(texts) or f"all of its records were replicated to {enter} within {seconds:.1f} s"
