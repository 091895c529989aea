# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""IdentityReplicationPolicy: one log on each side, made of stays.

A *stay* is the time between two cutovers: the applications lived on one side, and one flow copied from there to the
other. At each cutover both ends are journaled while nobody writes: the *cut*. So a position that lies in one stay on
one side belongs into the same stay on the other, and a position at a cut is the cut (SOUNDNESS 22).

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Partition", "Place", "Stay", "flat", "locate", "nested", "stays"]

Partition = tuple[str, int]


@dataclass(frozen=True)
class Stay:
    """One stay. ``begin``/``end``: offsets by alias and partition; a partition that is not named begins at 0.

    ``end`` None: it has not ended. ``known``: its copy was made by our flow from its beginning; of a stay that was
    found by content only its end is known.
    """

    source: str
    target: str
    begin: Mapping[str, Mapping[Partition, int]]
    end: Mapping[str, Mapping[Partition, int]] | None
    known: bool = True

    def first(self, alias: str, key: Partition) -> int:
        """First offset of the stay on ``alias``."""
        return self.begin[alias].get(key, 0)


@dataclass(frozen=True)
class Place:
    """Where a position lies: in a stay (index), exactly at a cut (``other``: the offset there), or in neither."""

    stay: int | None
    other: int | None = None


def stays(seams: Sequence[Mapping[str, Any]], active: str, idle: str) -> list[Stay]:
    """The stays of a pair, oldest first, from the cuts that the journal holds.

    A seam: ``{from, to, ends, cut, resumed, known}``; ``ends`` is where the copied part of the left side ends, ``cut``
    the end of the entered side, ``resumed`` where the left side went on (behind ``ends`` if a tail was left there).
    """
    found: list[Stay] = []
    begin: Mapping[str, Mapping[Partition, int]] = {active: {}, idle: {}}
    for seam in seams:
        source, target = seam["from"], seam["to"]
        end = {source: flat(seam["ends"]), target: flat(seam["cut"])}
        found.append(Stay(source, target, begin, end, seam.get("known", True)))
        begin = {source: flat(seam.get("resumed") or seam["ends"]), target: end[target]}
    found.append(Stay(active, idle, begin, None))
    return found


def locate(all_stays: Sequence[Stay], alias: str, key: Partition, commit: int) -> Place:
    """The stay of a position on ``alias``. Neither stay nor cut: it lies in a tail that was never copied."""
    for index in range(len(all_stays) - 1, -1, -1):
        stay = all_stays[index]
        first = stay.first(alias, key)
        if commit < first:
            continue
        other = stay.target if alias == stay.source else stay.source
        if commit == first:
            return Place(index, stay.first(other, key))
        if stay.end is not None and commit >= stay.end[alias].get(key, 0):
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
