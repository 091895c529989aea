# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ranks of offsets from runs of records are exact, or the range is read again.

Rows that cannot be a proof are refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_dr_audit import level1
from kafka_dr_audit.chunks import Chunker
from kafka_dr_audit.errors import AuditError
from kafka_dr_audit.level1 import Ask, Half, PartitionPair
from kafka_dr_audit.plan import PlannedPartition, PlannedRange, Topic, TopicSide
from kafka_dr_audit.reading import CHUNK, END, RANK, RANK_BITS
from kafka_dr_audit.snapshot import Scope

SIZE = 8
offsets = st.lists(st.integers(0, 150), unique=True, max_size=80).map(sorted)


def rows(visible: list[int], task: int = 3) -> dict[str, Any]:
    """The rows that Spark's groups return for a log whose records are at these offsets."""
    runs = [visible[at : at + SIZE] for at in range(0, len(visible), SIZE)]
    bits = RANK_BITS - (SIZE.bit_length() - 1)
    columns = {
        "run": [(task << bits) + number for number in range(len(runs))],
        "records": [len(run) for run in runs],
        "first": [run[0] for run in runs],
        "last": [run[-1] for run in runs],
    }
    found = {name: np.asarray(values, dtype=np.int64) for name, values in columns.items()}
    same = np.zeros(len(runs), dtype=np.int64)
    return {**found, "partition": same, "other": same, "digest": found["first"], "oldest": same, "newest": same}


def chunked(visible: list[int], ask: Ask) -> dict[str, Any] | None:
    """The rows that the workers return for the range that is read again."""
    inside = np.asarray([offset for offset in visible if ask.start <= offset < ask.end], dtype=np.int64)
    if not len(inside):
        return None
    chunker = Chunker(SIZE, ask.watched, ask.border)
    chunker.feed(inside, inside, inside.astype(np.uint64))
    chunker.finish()
    made: list[tuple[int, ...]] = [(CHUNK, row[0], row[1], row[2], row[3] >> 1, row[4], row[5]) for row in chunker.rows]
    made += [(RANK, offset, 0, rank, 0, 0, 0) for offset, rank in chunker.ranks]
    made.append((END, 0, 0, chunker.total, 0, 0, 0))
    names = ("kind", "first", "last", "records", "digest", "oldest", "newest")
    return {
        name: np.asarray(column, dtype=np.int64) for name, column in zip(names, zip(*made, strict=True), strict=True)
    }


def pair(visible: list[int], ranks: dict[int, int]) -> PartitionPair:
    part = PlannedPartition(0, PlannedRange(None, None), PlannedRange(None, None), None)
    sides = [TopicSide(alias, "T", None, False) for alias in ("P", "B")]
    rest = ("complete", "read_committed", "at_least_once", False, False, True, (), (part,), ())
    half = Half(level1._runs(rows(visible) if visible else None, SIZE, "P:T-0"), 0, ranks)
    return PartitionPair(Scope(Topic("T", *sides, *rest)), 0, half, half, [], [])


@given(offsets, st.sets(st.integers(0, 160), max_size=6))
def test_ranks_equal_the_counted_ones(visible: list[int], watched: set[int]) -> None:
    known, ask = level1._ranks(level1._runs(rows(visible) if visible else None, SIZE, "P:T-0"), watched)
    if ask:
        one = pair(visible, known)
        known = dict(level1._half(one, "source", ask, chunked(visible, ask)).ranks)
        assert not one.scope.reasons
    assert known == {offset: sum(at < offset for at in visible) for offset in watched}


def test_logs_without_gaps_are_not_read_again() -> None:
    assert level1._ranks(level1._runs(rows(list(range(100))), SIZE, "P:T-0"), {0, 1, 50, 99, 100, 120})[1] is None


@given(offsets.filter(lambda visible: len(visible) > 2), st.data())
def test_a_log_that_changed_between_both_reads_is_refused(visible: list[int], data: st.DataObject) -> None:
    border = visible[-1] + 1
    one, ask = pair(visible, {}), Ask(0, border, (border,), border)
    gone = data.draw(st.sampled_from(visible))
    level1._half(one, "source", ask, chunked([offset for offset in visible if offset != gone], ask))
    assert "the first read had" in one.scope.reasons[0]


@pytest.mark.parametrize(
    "damage",
    [
        lambda found: found["run"].__setitem__(1, found["run"][1] + (1 << RANK_BITS)),  # Another task.
        lambda found: found["run"].__setitem__(1, found["run"][1] + 1),
        lambda found: found["records"].__setitem__(0, SIZE - 1),
        lambda found: found["other"].__setitem__(1, 1),
    ],
    ids=["another-task", "a-run-missing", "a-run-too-short", "another-partition"],
)
def test_rows_of_several_reads_are_refused(damage: Any) -> None:
    found = {name: column.copy() for name, column in rows(list(range(20))).items()}
    level1._runs(found, SIZE, "P:T-0")
    damage(found)
    with pytest.raises(AuditError) as caught:
        level1._runs(found, SIZE, "P:T-0")
    assert caught.value.code == "read_twice"
