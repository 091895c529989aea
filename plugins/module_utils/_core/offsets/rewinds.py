# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds out from offset-syncs whether a flow was replicating earlier records again when it ended.

Content does not always show it: each copy of a record without a timestamp gets another timestamp. A task writes an
offset-sync for its first record, and wherever source offsets have gaps. So between two offset-syncs of one run the
replica grows by at most as much as the source. If it grows by more, the flow was restarted in between.

Source: MirrorSourceTask, OffsetSyncWriter (Kafka 4.3.1).

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from .internal_records import OffsetSync

__all__ = ["Rewind", "open_rewind"]


@dataclass(frozen=True)
class Rewind:
    """A restart that replicated records again. The first copies of these records are in [first, restart)."""

    first: int
    #: Replica offset.
    restart: int


def open_rewind(syncs: Sequence[OffsetSync], start: int, end: int) -> Rewind | None:
    """The restarts whose repeated records the flow had not all passed at the replica's ``end``; None: there are none.

    A run has passed all records that were replicated before if it has written more records than there are between the
    first copy of its first record and the restart. ``start``: the replica's log start.
    """
    ordered = sorted(syncs, key=lambda sync: sync.downstream)
    restarts = [
        index + 1
        for index, (before, sync) in enumerate(pairwise(ordered))
        if sync.downstream - before.downstream > sync.upstream - before.upstream
    ]
    ends = [*(ordered[index].downstream for index in restarts[1:]), end]
    found = []
    for index, until in zip(restarts, ends, strict=False):
        sync = ordered[index]
        lower = [one.downstream for one in ordered[:index] if one.upstream <= sync.upstream]
        first = max(lower, default=start)
        if until - sync.downstream <= sync.downstream - first:
            found.append(Rewind(max(start, first), sync.downstream))
    if not found:
        return None
    return Rewind(min(one.first for one in found), max(one.restart for one in found))
