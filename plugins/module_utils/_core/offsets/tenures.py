# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""IdentityReplicationPolicy: one log on each cluster, made of tenures.

A *tenure* is the time between two cutovers: the applications live on one cluster, and one flow replicates from there to
the other. Each cutover journals both log ends while no application writes: the *cut*. So an offset within a tenure on
one cluster belongs to the same tenure on the other, and an offset at a cut translates to the cut (R22).

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..partition import Partition, Range
from .bindings import Bound, Witness
from .internal_records import OffsetSync

__all__ = ["Tenure", "TenurePlace", "bound_cuts", "flat", "locate", "nested", "tenures"]


@dataclass(frozen=True)
class Tenure:
    """One tenure."""

    source: str
    target: str
    #: Offsets by alias and partition; a partition without an entry begins at 0.
    begin: Mapping[str, Mapping[Partition, int]]
    #: As ``begin``; None: the tenure has not ended.
    end: Mapping[str, Mapping[Partition, int]] | None
    #: Partitions whose end is known, but not how they were replicated.
    unknown: frozenset[Partition] = frozenset()
    #: Partitions whose worker died: a lower bound of their end on the source (R45). ``end`` is an upper bound then.
    at_least: Mapping[Partition, int] = field(default_factory=dict)

    def replicated(self, key: Partition) -> int:
        """The end of the replicated part on the source; a lower bound for a partition of ``at_least``."""
        ended = {} if self.end is None else self.end[self.source]
        return self.at_least.get(key, ended.get(key, 0))

    def first(self, alias: str, key: Partition) -> int:
        """First offset of the tenure on ``alias``."""
        return self.begin[alias].get(key, 0)

    def syncs(self, key: Partition, syncs: Iterable[OffsetSync]) -> Iterable[OffsetSync]:
        """Those offset-syncs of a source partition that the tenure may have written."""
        low, down = self.first(self.source, key), self.first(self.target, key)
        return (sync for sync in syncs if sync.upstream >= low and sync.downstream >= down)

    def within(self, alias: str, key: Partition, log: Range) -> Range:
        """The part of a log that belongs to the tenure."""
        low, high = max(log[0], self.first(alias, key)), log[1]
        if self.end is not None:
            high = min(high, self.end[alias].get(key, 0))
        return min(low, max(log[0], high)), max(log[0], high)

    def gone_after(self, entered: str, key: Partition, logs: Mapping[str, tuple[int, int]], compacted: bool) -> int:
        """Upper bound of the records of later tenures that are gone on ``entered``. ``compacted``: so is that topic."""
        if self.end is None:
            return 0
        left = self.source if entered == self.target else self.target
        unread = max(0, logs[left][1] - self.end[left].get(key, 0))
        expired = max(0, logs[entered][0] - self.end[entered].get(key, 0))
        return unread if compacted else min(unread, expired)


@dataclass(frozen=True)
class TenurePlace:
    """Where an offset is: in a tenure, exactly at a cut, or in neither."""

    #: Index of the tenure.
    tenure: int | None
    #: At a cut: the offset on the other cluster.
    other: int | None = None


def tenures(cut_records: Sequence[Mapping[str, Any]], active: str, idle: str) -> list[Tenure]:
    """The tenures of a pair, oldest first, from the cuts in the journal.

    A cut record is ``{from, to, ends, cut, resumed, known, disaster, found}``. ``ends``: where the replicated part of
    the cluster being left ends. ``cut``: the log ends of the cluster being entered. ``resumed``: where the cluster
    being left continued, after ``ends`` if a tail was left there. Not ``known``: no cutover of this collection moved
    the applications, so everything before it is unknown; partitions that it does not name continue as they were. A
    known cut that lacks a topic makes that topic's past unknown: another tool has moved it, or it has not moved.
    ``disaster``: ``ends`` are the offsets that the flow had stored, so they are lower bounds (R45). ``found``: the ends
    that were found by content when the cluster was back.
    """
    result: list[Tenure] = []
    begin: dict[str, dict[Partition, int]] = {active: {}, idle: {}}
    lost: set[Partition] = set()
    every = {key for cut_record in cut_records for key in _named(cut_record)}
    for cut_record in cut_records:
        source, target, known = cut_record["from"], cut_record["to"], cut_record.get("known", True)
        cut, named = flat(cut_record["cut"]), _named(cut_record)
        exact = flat(cut_record.get("found") or {})
        # A partition without an entry has nothing in this tenure: it begins again where it began.
        ends = {key: begin[source].get(key, 0) for key in every} | flat(cut_record["ends"]) | exact
        at_least = {key: ends[key] for key in named - exact.keys()} if cut_record.get("disaster") else {}
        resumed = flat(cut_record.get("resumed") or {})
        end = {
            source: {key: max(at, resumed.get(key, at)) if key in at_least else at for key, at in ends.items()},
            target: {key: cut.get(key, begin[target].get(key, 0)) for key in every},
        }
        unknown = frozenset(lost & named) | (frozenset() if known else frozenset(named))
        result.append(Tenure(source, target, {alias: dict(at) for alias, at in begin.items()}, end, unknown, at_least))
        lost -= named
        topics = {key.topic for key in named}
        lost |= {key for key in every if known and key.topic not in topics}
        begin = {source: {**end[source], **resumed}, target: dict(end[target])}
    result.append(Tenure(active, idle, begin, None, frozenset(lost)))
    return result


def _named(cut_record: Mapping[str, Any]) -> set[Partition]:
    """The partitions of a cut. A disaster has no end for a partition whose flow had stored no offset."""
    return set(flat(cut_record["ends"])) | (set(flat(cut_record["cut"])) if cut_record.get("disaster") else set())


def locate(all_tenures: Sequence[Tenure], alias: str, key: Partition, commit: int) -> TenurePlace:
    """The tenure of an offset on ``alias``. Neither tenure nor cut: it is in a tail that was never replicated."""
    for index in range(len(all_tenures) - 1, -1, -1):
        tenure = all_tenures[index]
        first = tenure.first(alias, key)
        if commit < first:
            continue
        other = tenure.target if alias == tenure.source else tenure.source
        if commit == first:
            return TenurePlace(index, tenure.first(other, key))
        if tenure.end is not None and commit >= tenure.end[alias].get(key, 0):
            return TenurePlace(None)
        return TenurePlace(index)
    return TenurePlace(None)


def bound_cuts(cut_records: Sequence[Mapping[str, Any]], alias: str) -> list[Bound]:
    """The newest cut of each partition on ``alias`` that is bound to the last record before it (R37).

    While that record is there, no earlier cut on that log has moved either. A cut without a record is not listed: the
    cluster was lost then, or no cutover of this collection made the cut.
    """
    newest: dict[Partition, Bound] = {}
    for cut_record in cut_records:
        ends = flat(cut_record["ends"] if cut_record["from"] == alias else cut_record["cut"])
        for key, witnesses in flat((cut_record.get("bound") or {}).get(alias) or {}).items():
            if key in ends:
                newest[key] = Bound.of(key, ends[key], [Witness.of(each) for each in witnesses][-1:])
    return list(newest.values())


def flat(values: Mapping[str, Mapping[str, Any]]) -> dict[Partition, Any]:
    """``{topic: {"partition": value}}``, as in JSON, by (topic, partition)."""
    return {Partition(topic, int(number)): value for topic, parts in values.items() for number, value in parts.items()}


def nested(values: Mapping[Partition, Any]) -> dict[str, dict[str, Any]]:
    """``{(topic, partition): value}`` as ``{topic: {"partition": value}}``, which JSON can carry."""

    found: dict[str, dict[str, Any]] = {}
    for (topic, partition), value in sorted(values.items()):
        found.setdefault(topic, {})[str(partition)] = value
    return found
