# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decide how many second copies a crash of the flow explains.

After a crash, a source task sends again all records since it last stored its offsets: a limited part of a log. A flow
that starts without stored offsets, or from wrong ones, replicates a whole log again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["SHARE", "SMALL", "Doubled", "unexplained"]

#: Up to this number, second copies in a topic are always explained: a flow may crash before it first stores offsets.
SMALL = 1000
#: From this share of a partition's records on, second copies are not explained.
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
    """Return the partitions with more second copies than a crash explains."""
    large = [one for _partition, one in sorted(found.items()) if one.copies >= SHARE * one.records]
    return large if sum(one.copies for one in large) > SMALL else []
