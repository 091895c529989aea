# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which transactions stay open, from several observations of the same log ends (R43).

A transaction is open if the last stable offset is below a high watermark that was read *before* it. In the other order
a log that grows in between would look the same. If the last stable offset is still the same later, the same transaction
is still open: it is the one whose first record has this offset. Timestamps take no part in it.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..partition import Partition, Range
from ..verdict import PROVEN, UNKNOWN

__all__ = ["WATCH_SECONDS", "OpenTransaction", "StableEnds", "hold_back", "still_open"]

# Seconds for which open transactions are observed. A drain would wait for one that stays open for longer.
WATCH_SECONDS = 10.0


@dataclass(frozen=True)
class StableEnds:
    """One observation of log ends on one cluster. Times are seconds of this machine's monotonic clock."""

    #: Right before the last stable offsets were requested, and after the high watermarks had been received.
    asked: float
    #: Right after the last stable offsets were received.
    answered: float
    #: Last stable offset and high watermark by partition.
    ends: Mapping[Partition, Range]


@dataclass(frozen=True)
class OpenTransaction:
    """A transaction that was open in every observation."""

    alias: str
    topic: str
    partition: int
    #: Its first record, which is the last stable offset of the partition.
    offset: int
    #: Offsets from there to the high watermark. No flow replicates them, and no read_committed consumer reads them.
    held: int
    #: Seconds for which it was observed to be open. It may have been open for longer.
    seconds: float

    @property
    def key(self) -> Partition:
        """The partition."""
        return Partition(self.topic, self.partition)

    @property
    def text(self) -> str:
        """The transaction in words."""
        return (
            f"{self.topic}-{self.partition} on {self.alias}: a transaction stays open at offset {self.offset} (observed"
            f" for {self.seconds:.0f} s) and holds back {self.held} offsets"
        )

    def as_dict(self) -> dict[str, Any]:
        """The transaction as plain data."""
        return {
            "alias": self.alias,
            "topic": self.topic,
            "partition": self.partition,
            "offset": self.offset,
            "held": self.held,
            "seconds": round(self.seconds, 1),
            "text": self.text,
        }


def still_open(alias: str, observed: Sequence[StableEnds]) -> list[OpenTransaction]:
    """Return the transactions of the first observation that are open in all others too.

    A partition that a later observation leaves out counts as ended, as does one whose last stable offset has moved.
    """
    if not observed:
        return []
    first, last = observed[0], observed[-1]
    seconds = max(0.0, last.asked - first.answered)
    return [
        OpenTransaction(alias, *key, stable, last.ends[key][1] - stable, seconds)
        for key, (stable, _high) in sorted(first.ends.items())
        if all(_open_at(each.ends.get(key), stable) for each in observed)
    ]


def _open_at(end: Range | None, stable: int) -> bool:
    return end is not None and end[0] == stable < end[1]


def hold_back(flow: dict[str, Any], transactions: Collection[OpenTransaction]) -> None:
    """Change the row of a flow whose source has ``transactions``: what they hold back is not replicated."""
    held = {transaction.key: transaction for transaction in transactions if transaction.alias == flow["source"]}
    for row in flow["partitions"]:
        holder = held.get(Partition(row["topic"], row["partition"]))
        if holder is not None and row["drained"] == PROVEN:
            row.update(drained=UNKNOWN, reason=holder.text)
    if held and flow["verdict"] == PROVEN:
        flow.update(verdict=UNKNOWN, reason=held[min(held)].text)
