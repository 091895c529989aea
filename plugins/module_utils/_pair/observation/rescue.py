# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a side that is given up still serves is copied by its own flow: wait for that, within bounds.

The flow does it, not a copy of ours: it notes its progress, repeats nothing, and what it does not bring is the tail.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..._core.waiting import Bounds, wait_until
from ..._kafka.topics import known_ranges
from ..._module import Result
from .pair import Pair, Partition

__all__ = ["rescue"]


@dataclass(frozen=True)
class _Look:
    """``ends``: last stable offsets of X, None where no leader tells it. ``copied``: last copied source offsets."""

    ends: Mapping[Partition, int | None]
    copied: Mapping[Partition, int]

    def behind(self) -> dict[Partition, int | None]:
        """Offsets that are there and not noted as copied; None: not known."""
        found: dict[Partition, int | None] = {}
        for key, end in self.ends.items():
            at = self.copied.get(key)
            found[key] = None if end is None or (at is None and end) else max(0, end - 1 - (-1 if at is None else at))
        return found

    @property
    def done(self) -> bool:
        """Nothing that can be read is missing."""
        return not any(self.behind()[key] != 0 for key, end in self.ends.items() if end is not None)


def rescue(params: Mapping[str, Any]) -> Result:
    """Look until everything that can be read is copied, or nothing moves any more, or the time is over.

    ``params``: clusters, topics, policy, separator, leave, enter, wait_timeout, stall_timeout, wait_sleep,
    request_timeout. Ends of control records count as offsets, so that a transactional log ends by ``stall_timeout``.
    """
    leave, enter = params["leave"], params["enter"]
    pair = Pair.of_params({**params, "flows": [{"source": leave, "target": enter}]})
    keys = pair.existing(leave, pair.topics)

    def observe() -> _Look:
        spans = known_ranges(pair.kafka[leave], keys)
        ends = {key: None if span is None else span[1] for key, span in spans.items()}
        return _Look(ends, pair.engine.observe(leave, enter).copied)

    bounds = Bounds(float(params["wait_timeout"]), float(params["wait_sleep"]), float(params["stall_timeout"]))
    waited = wait_until(observe, lambda look: look.done, bounds, lambda look: sorted(look.copied.items()))
    behind = waited.state.behind()
    missing = set(pair.topics) - {topic for topic, _index in keys}
    unread = sorted([key for key, end in waited.state.ends.items() if end is None] + [(topic, 0) for topic in missing])
    left = {key: count for key, count in behind.items() if count != 0 and key not in unread}
    known = sum(count for count in left.values() if count is not None)
    extra = {
        "copied": not left and not unread,
        "offsets_left": None if None in left.values() or unread else known,
        "unreadable": [f"{topic}-{index}" for topic, index in unread],
        "seconds": round(waited.seconds, 3),
        "text": _text(enter, left, known, unread, waited.seconds),
    }
    return Result(extra=extra, requests=pair.requests)


def _text(enter: str, left: Mapping[Partition, int | None], known: int, unread: list[Partition], seconds: float) -> str:
    found = []
    if left:
        found.append(f"{known} offsets or more of {len(left)} partitions were not copied within {seconds:.0f} s")
    if unread:
        found.append(f"{len(unread)} partitions could not be read")
    return "; ".join(found) or f"everything that it held was copied to {enter} within {seconds:.1f} s"
