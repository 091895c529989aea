# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""IdentityReplicationPolicy: one log on each side, made of tenures.

A *tenure* is the time between two cutovers: the applications lived on one side, and one flow copied from there to the
other. At each cutover both ends are journaled while nobody writes: the *cut*. So a position that lies in one tenure on
one side belongs into the same tenure on the other, and a position at a cut is the cut (R22).

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Partition", "Place", "Tenure", "flat", "locate", "nested", "tenures"]

Partition = tuple[str, int]


@dataclass(frozen=True)
class Tenure:
    """One tenure. ``begin``/``end``: offsets by alias and partition; a partition that is not named begins at 0.

    ``end`` None: it has not ended. ``unknown``: partitions of which only the end is known, not how the copy was made.
    """

    source: str
    target: str
    begin: Mapping[str, Mapping[Partition, int]]
    end: Mapping[str, Mapping[Partition, int]] | None
    unknown: frozenset[Partition] = frozenset()

    def first(self, alias: str, key: Partition) -> int:
        """First offset of the tenure on ``alias``."""
        return self.begin[alias].get(key, 0)

    def gone_after(self, entered: str, key: Partition, logs: Mapping[str, tuple[int, int]], compacted: bool) -> int:
        """At most so many records of later tenures are gone on the side ``entered``; ``compacted``: that topic is."""
        if self.end is None:
            return 0
        left = self.source if entered == self.target else self.target
        unread = max(0, logs[left][1] - self.end[left].get(key, 0))
        expired = max(0, logs[entered][0] - self.end[entered].get(key, 0))
        return unread if compacted else min(unread, expired)


@dataclass(frozen=True)
class Place:
    """Where a position lies: in a tenure (index), exactly at a cut (``other``: the offset there), or in neither."""

    tenure: int | None
    other: int | None = None


def tenures(cut_records: Sequence[Mapping[str, Any]], active: str, idle: str) -> list[Tenure]:
    """The tenures of a pair, oldest first, from the cuts that the journal holds.

    A seam: ``{from, to, ends, cut, resumed, known}``; ``ends`` is where the copied part of the left side ends, ``cut``
    the end of the entered side, ``resumed`` where the left side went on (behind ``ends`` if a tail was left there).
    Not ``known``: nobody moved by our hand, so what lies before is unknown; partitions that it does not name go on
    as they were. A cutover without a topic leaves its past unknown: somebody else has moved it, or nobody has.
    """
    found: list[Tenure] = []
    begin: dict[str, dict[Partition, int]] = {active: {}, idle: {}}
    lost: set[Partition] = set()
    every = {key for cut_record in cut_records for key in flat(cut_record["ends"])}
    for cut_record in cut_records:
        source, target, known = cut_record["from"], cut_record["to"], cut_record.get("known", True)
        ends, cut, resumed = (
            flat(cut_record["ends"]),
            flat(cut_record["cut"]),
            flat(cut_record.get("resumed") or cut_record["ends"]),
        )
        # A partition that is not named has nothing in this tenure: it begins again where it began.
        end = {
            source: {key: ends.get(key, begin[source].get(key, 0)) for key in every},
            target: {key: cut.get(key, begin[target].get(key, 0)) for key in every},
        }
        unknown = frozenset(lost & set(ends)) | (frozenset() if known else frozenset(ends))
        found.append(Tenure(source, target, {alias: dict(at) for alias, at in begin.items()}, end, unknown))
        lost -= set(ends)
        lost |= {key for key in every if known and key[0] not in cut_record["ends"]}
        begin = {source: {**end[source], **resumed}, target: dict(end[target])}
    found.append(Tenure(active, idle, begin, None, frozenset(lost)))
    return found


def locate(all_tenures: Sequence[Tenure], alias: str, key: Partition, commit: int) -> Place:
    """The tenure of a position on ``alias``. Neither tenure nor cut: it lies in a tail that was never copied."""
    for index in range(len(all_tenures) - 1, -1, -1):
        tenure = all_tenures[index]
        first = tenure.first(alias, key)
        if commit < first:
            continue
        other = tenure.target if alias == tenure.source else tenure.source
        if commit == first:
            return Place(index, tenure.first(other, key))
        if tenure.end is not None and commit >= tenure.end[alias].get(key, 0):
            return Place(None)
        return Place(index)
    return Place(None)


def flat(values: Mapping[str, Mapping[str, Any]]) -> dict[Partition, Any]:
    """{topic: {"partition": v}}, as JSON carries it, by (topic, partition)."""
    return {(topic, int(number)): value for topic, parts in values.items() for number, value in parts.items()}


def nested(values: Mapping[Partition, Any]) -> dict[str, dict[str, Any]]:
    """{(topic, partition): v} as {topic: {"partition": v}}: what JSON can carry."""
    found: dict[str, dict[str, Any]] = {}
    for (topic, partition), value in sorted(values.items()):
        found.setdefault(topic, {})[str(partition)] = value
    return found
