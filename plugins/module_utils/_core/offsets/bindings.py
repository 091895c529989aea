# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bind an offset that is stored for later to the records of its log (R37).

A topic id does not show that a log was cut and filled again: after an unclean election, a power failure or on a
restored disk, the same id has other records. So an offset is stored with *witnesses*: the last data record before it,
and the last data record of the log at that time. A log only grows at its end. If a record at or after the one before
the offset is still the same, no record before the offset was replaced.

On one log a record is byte for byte the same, so every field counts, and the leader epoch of its batch as well.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from ..partition import Partition, Range
from .fingerprints import HasFields, identity

__all__ = ["HELD", "UNBOUND", "Binding", "Bound", "Witness", "between", "binding", "witness"]


class HasPlace(HasFields, Protocol):
    """A record with its place in the log."""

    @property
    def offset(self) -> int:
        """Its offset."""

    @property
    def leader_epoch(self) -> int | None:
        """Epoch of the leader that appended it; None: the client does not show it."""


class Witness(NamedTuple):
    """One record of a log, as it was when an offset was stored. Its JSON form is the list of its fields."""

    offset: int
    leader_epoch: int | None
    digest: str

    @classmethod
    def of(cls, values: Sequence[Any]) -> Witness:
        """Read the JSON form."""
        offset, epoch, digest = values
        return cls(int(offset), None if epoch is None else int(epoch), str(digest))


class Bound(NamedTuple):
    """A stored offset, and the witnesses that can prove it."""

    key: Partition
    offset: int
    witnesses: tuple[Witness, ...]

    @classmethod
    def of(cls, key: Partition, offset: int, stored: Iterable[Witness]) -> Bound:
        """Choose the witnesses of ``offset`` among those in ``stored``.

        ``stored``: of this partition, with the last record before each stored offset and the last record of the log.
        """
        known = sorted(stored)
        before = [each.offset for each in known if each.offset < offset]
        return cls(key, offset, tuple(each for each in known if not before or each.offset >= before[-1]))


@dataclass(frozen=True)
class Binding:
    """Whether a stored offset still refers to the records that it was stored for."""

    #: No record before the offset was replaced, or none of them is left to read.
    holds: bool = True
    #: The log has other records than it had then, at or after the record before the offset, or before it.
    replaced: bool = False
    #: Why it does not hold, or what could not be compared; empty: nothing to say.
    reason: str = ""


#: Nothing speaks against a stored offset.
HELD = Binding()
#: A stored offset without a binding.
UNBOUND = Binding(False, False, "it is not bound to a record of the log")


def witness(record: HasPlace) -> Witness:
    """Return what to store of a record."""
    return Witness(record.offset, record.leader_epoch, identity(record))


def binding(
    bound: Bound,
    log: Range,
    present: Mapping[int, Witness | None],
    *,
    compacted: bool = False,
    data_between: bool | None = None,
) -> Binding:
    """Compare the witnesses of an offset with the log as it is now.

    ``present``: the record at the offset of each witness; None: no record is there; an offset without an entry could
    not be read. ``compacted``: a record may be missing because a later one has its key. ``data_between``: whether the
    log has a data record in :func:`between`; None: unknown.

    If every witness has expired, the log had no other record before the offset than expired ones. Then the offset
    skips nothing that can be read, as long as there is no record before it.
    """
    start, end = log
    left = [each for each in bound.witnesses if each.offset >= start]
    same = [each for each in left if each.offset < end and present.get(each.offset) == each]
    unread = [each for each in left if each.offset < end and each.offset not in present]
    # Compaction removes a record, but replaces none.
    gone = [each for each in left if compacted and each.offset < end and present.get(each.offset, each) is None]
    replaced = len(left) > len(same) + len(unread) + len(gone)
    if any(each.offset >= bound.offset for each in same):
        return Binding(replaced=replaced)
    if same and data_between is False:
        return Binding(replaced=replaced)
    if replaced or (data_between and (same or not compacted)):
        return Binding(False, True, "the log was cut and filled again since the offset was stored")
    if unread or same:
        return Binding(False, False, "the record that the offset is bound to could not be read")
    if data_between is False and not gone:
        return Binding(reason="every record that the offset was bound to has expired")
    return Binding(False, False, "no record that the offset was bound to is left to compare")


def between(bound: Bound, start: int) -> Range:
    """Return the offsets before a stored one that had no data record when it was stored; ``start``: the log start.

    After the last record before it, there were only transaction markers, aborted records, or nothing.
    """
    before = [each.offset + 1 for each in bound.witnesses if each.offset < bound.offset]
    return min(max([start, *before]), max(start, bound.offset)), max(start, bound.offset)
