# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records that a group has not read and that are gone from the topic that it will read (R30).

A record counts as skipped if the group has not read it, the cluster being left still has it, the flow had replicated
it, and no record with its content is left at or after the group's new offset. Retention, ``kafka-delete-records`` and
compaction on the cluster being entered remove such records, and no offset there restores them.

A record that has expired on the cluster being left as well is lost to the group with or without a move. It does not
count.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .missing_copies import Copy
from .read_copies import Window

__all__ = [
    "NO_SKIPS",
    "Skips",
    "skip_lines",
    "skip_rows",
    "skip_text",
    "skipped_forward",
    "skipped_in",
    "skipped_reverse",
    "total",
]


@dataclass(frozen=True)
class Skips:
    """Number of skipped records; exact if both bounds are equal."""

    at_least: int = 0
    #: None: no upper bound is known.
    at_most: int | None = 0

    @property
    def possible(self) -> bool:
        """False only if it is proven that no record is skipped."""
        return self.at_most != 0

    @property
    def exact(self) -> bool:
        """Whether the number of records is known."""
        return self.at_least == self.at_most

    def plus(self, other: Skips) -> Skips:
        """The sum; its upper bound is None if either upper bound is None."""
        most = None if self.at_most is None or other.at_most is None else self.at_most + other.at_most
        return Skips(self.at_least + other.at_least, most)

    def including(self, count: int) -> Skips:
        """The same, where ``count`` records are known to be among the skipped ones."""
        most = None if self.at_most is None else max(self.at_most, count)
        return Skips(max(self.at_least, count), most)

    def capped(self, limit: int) -> Skips:
        """The same, with an upper bound from another fact."""
        most = limit if self.at_most is None else min(self.at_most, limit)
        return Skips(min(self.at_least, most), most)

    def as_dict(self) -> dict[str, int | None]:
        """The shape of rows and reports."""
        return {"at_least": self.at_least, "at_most": self.at_most}

    @property
    def text(self) -> str:
        """For messages: ``1746 records``, ``up to 9 records``."""
        if self.at_most is None:
            return f"at least {self.at_least} records" if self.at_least else "an unknown number of records"
        if self.exact:
            return f"{self.at_most} records" if self.at_most != 1 else "1 record"
        return f"{self.at_least} to {self.at_most} records" if self.at_least else f"up to {self.at_most} records"


NO_SKIPS = Skips()


def skipped_in(row: Mapping[str, Any]) -> Skips:
    """The skips of a row of translated offsets; a row without them is unknown."""
    found = row.get("skips")
    return Skips(0, None) if found is None else Skips(found["at_least"], found["at_most"])


def total(rows: Iterable[Mapping[str, Any]]) -> Skips:
    """The sum of all rows."""
    found = NO_SKIPS
    for row in rows:
        found = found.plus(skipped_in(row))
    return found


def skip_rows(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows where records are or may be skipped, as the journal and the report store them."""
    names = ("group", "topic", "partition")
    found = [row for row in rows if skipped_in(row).possible]
    return [{name: row[name] for name in names} | skipped_in(row).as_dict() for row in found]


def skip_text(found: Iterable[Mapping[str, Any]]) -> str:
    """How many records each group never processes; empty if none is skipped. ``found``: from ``skip_rows``."""
    groups: dict[str, Skips] = {}
    for row in found:
        one = Skips(row["at_least"], row["at_most"])
        groups[row["group"]] = groups.get(row["group"], NO_SKIPS).plus(one)
    return ", ".join(f"{group} {skips.text}" for group, skips in sorted(groups.items()))


def skip_lines(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """At most one line of a loss."""
    text = skip_text(skip_rows(rows))
    return [f"replicated records that are gone since and may be unread: {text}"] if text else []


# ---- forward: unread source records without a copy at or after the new offset --------------------------------------


def skipped_forward(commit: int, offset: int, needed: int, copy: Copy) -> Skips:
    """For a group at ``commit`` on the source that starts at ``offset`` on the replica.

    ``needed``: the proven offset, which may be before the replica's log start. Every unread record that was replicated
    has, or had, a copy at or after it.
    """
    low = max(commit, copy.start, copy.first)
    present = not copy.replica_compacted and needed >= copy.replica_start
    if present or low >= copy.source_end or copy.replica_end <= copy.replica_first:
        return NO_SKIPS
    high = min(_held_from(offset, copy), _arriving_from(copy))
    source = copy.source
    unread = range(source.below(low), source.below(max(low, high)))
    at_most = _outside(source, low, max(low, high)) + sum(not _held(index, offset, copy) for index in unread)
    if not copy.replica_compacted:
        # Each of them had a copy in the deleted part of the replica.
        at_most = min(at_most, copy.replica_start - needed)
    return Skips(min(_missing(unread, offset, copy), at_most), at_most)


def _held_from(offset: int, copy: Copy) -> int:
    """A source offset from which on every replicated record has a copy at or after ``offset``.

    A copy of v is followed by a copy of every later record that is replicated. So it is the lowest anchor that is left.
    """
    if copy.replica_compacted or not copy.same_topics:
        return copy.source_end
    left = (anchor.upstream for anchor in copy.anchors if anchor.downstream >= offset)
    return min(left, default=copy.source_end)


def _arriving_from(copy: Copy) -> int:
    """A source offset from which on no record is replicated yet: the flow continues after the last copy (rule 2).

    If N is unknown, it may have passed records without a copy since (R36).
    """
    source, replica, last_replicated_offset = copy.source, copy.replica, copy.last_replicated_offset
    if not copy.same_topics or copy.ended or not copy.tail_read or source.end < copy.source_end:
        return copy.source_end
    places = (
        source.places[fingerprint][-1] for fingerprint in set(replica.fingerprints) if fingerprint in source.places
    )
    last = max(places, default=None)
    if last is None or last_replicated_offset is None:
        return copy.source_end
    return max(source.offsets[last], last_replicated_offset) + 1


def _held(index: int, offset: int, copy: Copy) -> bool:
    """Is a record with the content of the source record at ``index`` left at or after ``offset``?

    If no later source record has that content, a replica record with it is a copy of this record or of an earlier one,
    and then a copy of this record follows (rule 2 of translation).
    """
    source, replica = copy.source, copy.replica
    if not copy.same_topics or copy.ended or source.end < copy.source_end:
        return False
    fingerprint = source.fingerprints[index]
    return source.places[fingerprint][-1] == index and replica.holds(
        fingerprint, replica.below(offset), len(replica.offsets)
    )


def _missing(unread: range, offset: int, copy: Copy) -> int:
    """Lower bound of the replicated records without a copy at or after ``offset``: each copy is of one record."""
    source, replica = copy.source, copy.replica
    seen = copy.tail_read and replica.begin <= offset
    if not seen or not copy.same_topics or copy.last_replicated_offset is None:
        return 0
    wanted = Counter(
        source.fingerprints[index] for index in unread if source.offsets[index] <= copy.last_replicated_offset
    )
    low = replica.below(offset)
    return sum(
        max(0, count - sum(at >= low for at in replica.places.get(fingerprint, ())))
        for fingerprint, count in wanted.items()
    )


# ---- reverse: unread replica records whose original is gone -------------------------------------------------------


def skipped_reverse(commit: int, needed: int, copy: Copy) -> Skips:
    """For a group at ``commit`` on the replica that starts on the source. ``needed``: the proven offset there.

    Only an upper bound: a record that is gone from the source looks like a record of another writer in the replica.
    """
    if commit >= copy.replica_end or (not copy.source_compacted and needed >= copy.start):
        return NO_SKIPS
    replica = copy.replica
    low = max(commit, copy.replica_start)
    if copy.source_compacted or copy.replica_compacted:
        unread = range(replica.below(low), len(replica.offsets))
        gone = sum(not _original_held(index, needed, copy) for index in unread)
        return Skips(0, _outside(replica, low, copy.replica_end) + gone)
    # First copies that the group has not read but that have expired may have been replicated again later.
    high = max(low, _first_alive(copy)) if commit >= copy.replica_start else copy.replica_end
    count = _outside(replica, low, high) + replica.below(high) - replica.below(low)
    return Skips(0, min(count, copy.start - needed))


def _first_alive(copy: Copy) -> int:
    """A replica offset before which every record that has expired on the source has its first copy (rule 1)."""
    source, replica = copy.source, copy.replica
    bounds = [copy.replica_end]
    if copy.same_topics:
        bounds += [one.downstream for one in copy.anchors if one.upstream >= copy.start]
        if copy.last_replicated_offset is not None and copy.tail_read:
            known = (
                replica.places.get(fingerprint)
                for fingerprint in source.fingerprints[: source.below(copy.last_replicated_offset + 1)]
            )
            bounds += [replica.offsets[places[-1]] for places in known if places]
    return min(bounds)


def _original_held(index: int, needed: int, copy: Copy) -> bool:
    """Is the original of the replica record at ``index`` left on the source, at or after the offset?

    One side is compacted. A later record with the same content would have a copy after this one if it was replicated,
    and there is none.
    """
    source, replica = copy.source, copy.replica
    fingerprint = replica.fingerprints[index]
    if (
        not copy.same_topics
        or not copy.tail_read
        or copy.last_replicated_offset is None
        or len(replica.places[fingerprint]) > 1
    ):
        return False
    return source.holds(
        fingerprint, source.below(max(needed, copy.start)), source.below(copy.last_replicated_offset + 1)
    )


def _outside(window: Window, low: int, high: int) -> int:
    """Offsets in [low, high) that were not read: each may be a record."""

    return max(0, min(window.begin, high) - low) + max(0, high - max(window.end, low))
