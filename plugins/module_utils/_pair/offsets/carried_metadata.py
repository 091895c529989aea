# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decide for each translated offset which metadata are committed with it (R49).

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..._core.listing import first_few
from ..._core.offsets.commit_metadata import OUT_OF_PLACE, LogParts, Place, dropped_metadata, in_place, to_compare
from ..._core.partition import Partition, Ranges
from ..._kafka.groups import Committed, committed
from ..._kafka.records import EXHAUSTED, RangeRead, Reading, read_ranges
from ..connections.clusters import both
from ..observation.pair import ISOLATION
from .evidence import Evidence

__all__ = ["metadata_warnings", "with_metadata"]

# Offsets that are compared in all, because the applications stand meanwhile.
_MOST = 200_000
_SECONDS = 60.0


class _Asked(NamedTuple):
    """Parts of a log on X and of one on Y to compare."""

    source: Partition
    target: Partition
    compared: LogParts

    def size(self) -> int:
        """Return how many offsets are compared."""
        return self.compared.left[1] - self.compared.left[0]


def with_metadata(evidence: Evidence, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows with ``metadata``, the text to commit, and ``metadata_dropped``, why others do not go along.

    ``metadata`` is None if the group's own earlier offset on Y stands in, which keeps what it has. "" removes metadata
    that MirrorMaker 2 committed on Y: its group sync copies them without a look at the offset that they were meant for.
    """
    pair, x, y = evidence.pair, evidence.x, evidence.y
    names = {pair.naming.replica(x, topic): topic for topic in pair.topics}
    names |= {topic: pair.naming.replica(y, topic) for topic in pair.topics if topic not in names}
    groups = sorted({row["group"] for row in rows})
    commits = committed(pair.kafka[x], groups) if groups else {}
    sources = [Partition(names[row["topic"]], row["partition"]) for row in rows]
    found = [commits[row["group"]].get(source) for row, source in zip(rows, sources, strict=True)]
    topics = {source.topic for source, commit in zip(sources, found, strict=True) if commit and commit.metadata}
    logs = pair.ranges(x, topics) if topics else {}
    decided = [
        _asked(row, source, commit, logs, evidence.y_ranges)
        for row, source, commit in zip(rows, sources, found, strict=True)
    ]
    results = _compare(evidence, [asked for asked in decided if isinstance(asked, _Asked)])
    return [
        _with(row, commit, results[asked] if isinstance(asked, _Asked) else asked)
        for row, commit, asked in zip(rows, found, decided, strict=True)
    ]


def metadata_warnings(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Name the offsets whose metadata do not go along, each with the reason, in one warning; empty if all do."""
    dropped = dropped_metadata(rows)
    if not dropped:
        return []
    return [
        f"The metadata of {len(dropped)} committed offsets do not go along: {first_few(dropped)}. Their applications"
        " may process finished records again."
    ]


def _with(row: Mapping[str, Any], commit: Committed | None, dropped: str) -> dict[str, Any]:
    own = row["method"] == "own"
    metadata = None if own else commit.metadata if commit is not None and not dropped else ""
    return {**row, "metadata": metadata, "metadata_dropped": dropped}


def _asked(
    row: Mapping[str, Any], source: Partition, commit: Committed | None, logs: Ranges, entered: Ranges
) -> _Asked | str:
    """What to compare, or the reason why the metadata do not go along; "" if there are none."""
    if commit is None or not commit.metadata or row["offset"] is None:
        return ""
    target = Partition(row["topic"], row["partition"])
    if row["quality"] != "exact":
        return "the translated offset is not exact"
    if row["left"] != commit.offset or source not in logs or target not in entered:
        return "the committed offset changed while it was translated"
    place = Place(commit.offset, row["offset"], logs[source], entered[target])
    compared = to_compare(commit.metadata, place)
    return compared if isinstance(compared, str) else _Asked(source, target, compared)


def _compare(evidence: Evidence, asked: Iterable[_Asked]) -> dict[_Asked, str]:
    """Return why metadata cannot go along, for each part of the logs; "" if they can."""
    results: dict[_Asked, str] = {}
    # A consumer reads one part of a partition at a time.
    rounds: list[dict[Partition, _Asked]] = []
    left = _MOST
    for parts in sorted(set(asked), key=_Asked.size):
        if parts.size() > left:
            results[parts] = f"in all, at most {_MOST} records are compared"
            continue
        left -= parts.size()
        results[parts] = ""
        if parts.size():
            now = next((now for now in rounds if parts.source not in now), None)
            if now is None:
                now = {}
                rounds.append(now)
            now[parts.source] = parts
    for now in rounds:
        results.update(_compare_round(evidence, list(now.values())))
    return results


def _compare_round(evidence: Evidence, asked: Sequence[_Asked]) -> dict[_Asked, str]:
    kafka, reading = evidence.pair.kafka, Reading(ISOLATION, digests=True, timeout=_SECONDS)
    left, entered = both(
        lambda: read_ranges(kafka[evidence.x], {parts.source: parts.compared.left for parts in asked}, reading),
        lambda: read_ranges(kafka[evidence.y], {parts.target: parts.compared.entered for parts in asked}, reading),
    )
    return {parts: _difference(left[parts.source], entered[parts.target], parts.compared) for parts in asked}


def _difference(left: RangeRead, entered: RangeRead, compared: LogParts) -> str:
    if left.ended != EXHAUSTED or entered.ended != EXHAUSTED:
        return "the records that they may refer to could not be read"
    return "" if in_place(left.records, entered.records, compared) else OUT_OF_PLACE
