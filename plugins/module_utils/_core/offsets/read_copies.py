# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One partition of one flow as far as it was read: the records of both clusters, and the offset-syncs between them.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from .internal_records import OffsetSync

__all__ = ["COMPACTED", "NOT_STORED", "Anchor", "ReadCopy", "Window"]

# Hazards that explain why offsets do not count records.
COMPACTED = ("the source is compacted", "the replica is compacted")
# Hazard that explains why unread records without a copy may be missing.
NOT_STORED = "the flow has stored no offset of the partition, so it is unknown how far it has replicated"


@dataclass(frozen=True)
class Window:
    """All data records of one partition in [begin, end): ascending offsets, and a fingerprint for each."""

    begin: int
    end: int
    offsets: Sequence[int]
    fingerprints: Sequence[Hashable]

    @cached_property
    def places(self) -> dict[Hashable, list[int]]:
        """Indexes by fingerprint, ascending."""
        found: dict[Hashable, list[int]] = {}
        for index, fingerprint in enumerate(self.fingerprints):
            found.setdefault(fingerprint, []).append(index)
        return found

    def at(self, offset: int) -> int | None:
        """Index of the record at ``offset``; None: there is none."""
        index = bisect_left(self.offsets, offset)
        return index if index < len(self.offsets) and self.offsets[index] == offset else None

    def below(self, offset: int) -> int:
        """How many records of the window are below ``offset``: the index of the first record at or after it."""
        return bisect_left(self.offsets, offset)

    def holds(self, fingerprint: Hashable, low: int, high: int) -> bool:
        """Is there a record with this fingerprint at an index in [low, high)?"""
        indexes = self.places.get(fingerprint, [])
        first = bisect_left(indexes, low)
        return first < len(indexes) and indexes[first] < high


@dataclass(frozen=True)
class Anchor:
    """The source record at ``upstream`` is replicated at ``downstream``."""

    upstream: int
    downstream: int


@dataclass(frozen=True)
class ReadCopy:
    """One partition of one flow, as far as it was read. Both windows begin at or after ``first``/``replica_first``."""

    source: Window
    replica: Window
    #: Log start offset of the source.
    start: int
    #: Last stable offset of the source.
    source_end: int
    #: The part of the replica's log that can hold copies: read after ``last_replicated_offset``, before the source end.
    replica_start: int
    replica_end: int
    #: A lower bound; None: unknown.
    last_replicated_offset: int | None
    #: First source offset that this flow could replicate: 0, or the offset that a PATCH has set.
    first: int = 0
    #: First replica offset at which a copy can be.
    replica_first: int = 0
    source_compacted: bool = False
    replica_compacted: bool = False
    #: The flow carries the timestamp of every record that was read.
    timed: bool = True
    #: Topic ids prove that the flow has always replicated between these two topics. Otherwise only the log start is
    #: safe.
    same_topics: bool = True
    syncs: Sequence[OffsetSync] = field(default=())
    #: Upper bound of the records of later parts that are gone from the log being entered.
    gone_after: int = 0
    #: Later parts follow. A replay may have set the flow forward from an earlier offset than it had reached, so copies
    #: at the end of this part can be of records after it.
    ended: bool = False
    #: From this replica offset on, the replica was never compacted; None: that was not shown (``kept_from``).
    replica_kept_from: int | None = None

    @cached_property
    def last_copies(self) -> list[int]:
        """For each source record, the replica index of the last record that equals it; -1: there is none."""
        places = self.replica.places
        return [places[content][-1] if content in places else -1 for content in self.source.fingerprints]

    @cached_property
    def anchors(self) -> list[Anchor]:
        """The offset-syncs that can be trusted, by downstream offset."""
        found = {Anchor(sync.upstream, sync.downstream) for sync in self.syncs if self._trusted(sync)}
        return sorted(found, key=lambda anchor: (anchor.downstream, anchor.upstream))

    def _trusted(self, sync: OffsetSync) -> bool:
        of_source = self.first <= sync.upstream < self.source_end
        if not of_source or not self.replica_first <= sync.downstream < self.replica_end:
            return False
        if sync.upstream < self.start or sync.downstream < self.replica_start:
            return True  # Expired: no record is left to compare, and both topics are the original ones.
        above, below = self.source.at(sync.upstream), self.replica.at(sync.downstream)
        return (
            above is not None
            and below is not None
            and self.source.fingerprints[above] == self.replica.fingerprints[below]
        )

    @cached_property
    def downstreams(self) -> list[int]:
        """Downstream offsets of the anchors, ascending."""
        return [anchor.downstream for anchor in self.anchors]

    @cached_property
    def hazards(self) -> tuple[str, ...]:
        """Why a translated offset here is less precise than it could be, in words; it is never less safe."""
        known = {
            "the topics may have been recreated": not self.same_topics,
            COMPACTED[0]: self.source_compacted,
            COMPACTED[1]: self.replica_compacted,
            NOT_STORED: self.last_replicated_offset is None,
            "the flow does not carry the timestamp of every record": not self.timed,
            "records have expired on the source": self.start > self.first,
            "records have expired on the replica": self.replica_start > self.replica_first,
            "no offset-sync is nearby": not self.anchors,
        }
        return tuple(text for text, applies in known.items() if applies)

    @property
    def complete_below(self) -> bool:
        """Does the source window reach down to the first record that was ever replicated (R2)?"""
        return self.source.begin <= max(self.start, self.first) and self.start <= self.first

    @property
    def tail_read(self) -> bool:
        """Does the replica window reach to the replica's end?"""
        return self.replica.end >= self.replica_end
