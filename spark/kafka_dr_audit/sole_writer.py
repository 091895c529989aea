# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decide whether only the flow has written to the target since the cut (R50).

The flow begins at the cut and writes each later record of the source at least once, in order. So if the records of both
logs from the cut on are equal, in order and one to one, no other producer has added a record. What could hide such a
record makes it UNKNOWN. docs/correctness.md has the argument.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from . import differences as d

__all__ = ["SinceCut", "judge"]

PROVEN, REFUTED, UNKNOWN = "PROVEN", "REFUTED", "UNKNOWN"
#: Kinds that hide no record of another producer: the source has the record, or the target does not have it yet.
_HARMLESS = (d.NOT_YET, d.NEWER, d.RETIMED)
_SHOWN = 3


@dataclass(frozen=True)
class SinceCut:
    """One partition of the target, from the cut to the snapshot."""

    partition: int
    #: The cut: the first offset on the source, and on the target.
    source_cut: int
    target_cut: int
    #: End of the compared range of the target.
    end: int
    #: Records that a read_committed reader receives there.
    records: int
    #: Offsets from the cut on that were deleted from the head of the target's log.
    deleted: int = 0
    #: True: a transaction was open at the end.
    unstable: bool = False
    #: Source offset up to which the flow had stored its progress before the snapshot; None: none or unknown.
    stored: int | None = None
    #: True: only a part of the partition was read again, so an unmatched record may be a second copy.
    narrow: bool = False
    #: Number of differing records by kind. A kind that is accepted counts, too.
    differences: Mapping[str, int] = field(default_factory=dict)

    @property
    def foreign(self) -> int:
        """Records that the target has and the source certainly lacks."""
        return 0 if self.narrow else self.differences.get(d.FOREIGN, 0)

    @property
    def doubt(self) -> str:
        """Why another producer's record could be hidden; "": it could not."""
        hiding = [f"{count} {kind}" for kind, count in self.differences.items() if count and kind not in _HARMLESS]
        empty = self.end - self.target_cut - self.deleted - self.records
        if hiding:
            return f"{', '.join(hiding)} since the cut"
        if self.deleted:
            return f"{self.deleted} offsets since the cut were deleted"
        if self.unstable:
            return "a transaction was open"
        if empty:
            return f"{empty} offsets since the cut hold no record (transaction markers, aborted or compacted records)"
        if self.records and (self.stored is None or self.stored <= self.source_cut):
            unclear = f"{self.records} records may not be its own"
            return f"the flow is not known to have stored progress since the cut, so {unclear}"
        return ""


def judge(partitions: Sequence[SinceCut], compacts: bool, reasons: Sequence[str]) -> tuple[str, str]:
    """Return the verdict and the reason for one topic.

    ``compacts``: the target is compacted. ``reasons``: why the comparison of the topic is incomplete.
    """
    foreign = sum(partition.foreign for partition in partitions)
    if foreign:
        return REFUTED, f"{foreign} records were written to the target since the cut, and the source lacks them"
    if reasons or not partitions:
        return UNKNOWN, reasons[0] if reasons else "its partitions were not compared"
    if compacts:
        return UNKNOWN, "the target is compacted, so a record may have been removed since it was written"
    doubts = [f"partition {since.partition}: {since.doubt}" for since in partitions if since.doubt]
    if doubts:
        more = f" and {len(doubts) - _SHOWN} more" if len(doubts) > _SHOWN else ""
        return UNKNOWN, f"{'; '.join(doubts[:_SHOWN])}{more}"
    records = sum(partition.records for partition in partitions)
    return PROVEN, f"{records} records since the cut are those of the source, in order and once each"
