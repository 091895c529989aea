# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How many second copies a crash of the flow explains. Pure.

A source task that ended without storing its offsets sends again what it had sent since it stored them last: a bounded
part of a log. A flow that started without stored offsets, or from wrong ones, replicates a whole log again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["SHARE", "SMALL", "Doubled", "unexplained"]

#: So many second copies in one topic are explained whatever their share: a flow may crash before it stored any offset.
SMALL = 1000
#: The part of a partition's records from which on second copies are not explained.
SHARE = 0.5


@dataclass(frozen=True)
class Doubled:
    """Second copies in one partition of a replica."""

    partition: int
    copies: int
    #: Records of the replica without second copies.
    records: int
    #: First and last source offset of the second copies. None: the source has deleted them.
    span: tuple[int, int] | None = None

    def __str__(self) -> str:
        where = "" if self.span is None else f" (source offsets {self.span[0]} to {self.span[1]})"
        return f"partition {self.partition}: {self.copies} second copies of {self.records} records{where}"


def unexplained(found: Mapping[int, Doubled]) -> list[Doubled]:
    """Partitions in which more came twice than a crash explains."""
    large = [one for _partition, one in sorted(found.items()) if one.copies >= SHARE * one.records]
    return large if sum(one.copies for one in large) > SMALL else []
