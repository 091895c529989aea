# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the replicated part of a log ends after its worker died (R45): found by content, or a lower bound."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.replicated_end import (
    ReplicatedEnd,
    replicated_end,
)


@st.composite
def flows(draw: st.DrawFn, letters: int | None) -> tuple[list[int], int, list[int], int]:
    """(source, stored, replica as indexes of the source, records that were ever replicated).

    The worker restarts from the offset that was stored by then, perhaps several times. ``letters``: how many contents
    there are; None: every record is unique.
    """
    length = draw(st.integers(1, 14))
    source = [draw(st.integers(0, letters - 1)) for _index in range(length)] if letters else list(range(length))
    replica: list[int] = []
    cursor = stored = reached = 0
    for _step in range(draw(st.integers(1, 25))):
        action = draw(st.sampled_from(("copy", "copy", "copy", "store", "restart")))
        if action == "copy" and cursor < length:
            replica.append(cursor)
            cursor += 1
            reached = max(reached, cursor)
        elif action == "store":
            stored = cursor
        elif action == "restart":
            cursor = stored
    return source, stored, replica, reached


@given(flows(None))
def test_the_end_of_distinct_records_is_found(flow: tuple[list[int], int, list[int], int]) -> None:
    source, stored, replica, reached = flow
    assert replicated_end(source, stored, replica, True, True) == ReplicatedEnd(reached, reached)


@given(flows(3), st.integers(0, 14), st.booleans())
def test_equal_records_leave_bounds_and_an_unreplicated_record_is_never_taken_for_a_replicated_one(
    flow: tuple[list[int], int, list[int], int], expired: int, whole: bool
) -> None:
    """For any contents, however much has expired on the source."""
    source, stored, replica, reached = flow
    expired = min(expired, stored)
    copies = [source[at] for at in replica]
    found = replicated_end(source[expired:], stored - expired, copies, whole, not expired)
    assert found.least <= reached - expired
    assert found.most is None or found.most >= reached - expired
    assert found.missing == ()


@given(flows(None), st.integers(0, 25), st.integers(0, 14))
def test_lost_copies_and_offsets_that_were_written_again_are_not_replicated(
    flow: tuple[list[int], int, list[int], int], kept: int, rewritten: int
) -> None:
    """The replica lost its last records; or the source lost its last ones, and other records took their offsets."""
    source, stored, replica, _reached = flow
    held = replica[:kept]
    found = replicated_end(source, stored, held, True, True)
    assert (found.least, found.missing) == (max(held, default=-1) + 1, ())
    assert found.found
    other = [at if at < rewritten else 100 + at for at in source]
    seen = [at for at in replica if at < rewritten]
    assert replicated_end(other, stored, replica, True, True) == ReplicatedEnd(*[max(seen, default=-1) + 1] * 2)


@pytest.mark.parametrize(
    ("source", "stored", "replica", "whole", "complete", "expected"),
    [
        # 3 and 4 were replicated and not stored; 5 was not replicated.
        ([0, 1, 2, 3, 4, 5], 3, [0, 1, 2, 3, 4], True, True, ReplicatedEnd(5, 5)),
        # R2: the first records are deleted. The first copy of "a" is not that of the stored record.
        (["a", "b"], 1, ["a", "b", "a"], False, False, ReplicatedEnd(1, None)),
        # 8 and 9 took the offsets of 2 and 3 on the source before the worker went on with 4, without storing it.
        ([0, 1, 8, 9, 4, 5], 4, [0, 1, 2, 3, 4], True, True, ReplicatedEnd(5, 5, (2, 3))),
        # The replica lost 2 and 3, and the flow went on.
        ([0, 1, 2, 3, 4, 5], 5, [0, 1, 4], True, True, ReplicatedEnd(5, 5, (2, 3))),
        # 9 took the offset of the first record.
        ([9, 1, 2, 3], 3, [0, 1, 2], True, True, ReplicatedEnd(3, 3, (0,))),
        # Everything of the window is lost, or its copies have expired: then nothing is known.
        ([2, 3, 4], 2, [0, 1], True, False, ReplicatedEnd(0, 0)),
        ([2, 3, 4], 2, [], False, False, ReplicatedEnd(0, None)),
        # The replica's log begins with the copy of the stored record: what it held before is unknown.
        ([1, 2, 3], 2, [2, 3], False, False, ReplicatedEnd(3, None)),
        ([1, 2, 3, 4], 3, [1, 2, 3, 4], False, False, ReplicatedEnd(4, 4)),
        # Nothing was stored.
        ([1, 2, 3], 0, [1, 2], True, True, ReplicatedEnd(2, 2)),
        ([1, 2, 3], 0, [1, 2], True, False, ReplicatedEnd(0, 2)),
        # Equal records: one or two were replicated, or 40 of 100 copies are gone for certain.
        (["w", "x", "x"], 1, ["w", "x", "x"], True, True, ReplicatedEnd(1, 3)),
        (["x"] * 5, 5, ["x"] * 3, True, True, ReplicatedEnd(0, 3)),
    ],
)
def test_what_a_window_proves(
    source: Sequence[object],
    stored: int,
    replica: Sequence[object],
    whole: bool,
    complete: bool,
    expected: ReplicatedEnd,
) -> None:
    assert replicated_end(source, stored, replica, whole, complete) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("source", "stored", "replica", "least"),
    [
        ([], 0, [], 0),
        ([0, 1, 2], 0, [0, 1, 2], 0),
        # The copy of 2 follows that of the record at N. The copy of 0 is compacted away.
        ([0, 1, 2], 2, [1, 2], 3),
        # Its own copy is compacted away, so N is all that is known.
        ([0, 1, 2], 2, [0, 2], 2),
        # The copy of 2 may be that of a record that the source no longer has.
        ([0, 1, 2], 2, [2, 1], 2),
    ],
)
def test_in_a_compacted_topic_a_lower_bound_is_all_that_is_known(
    source: list[int], stored: int, replica: list[int], least: int
) -> None:
    """R45: a match may be that of an equal record which compaction has removed."""
    for whole in (True, False):
        assert replicated_end(source, stored, replica, whole, True, True) == ReplicatedEnd(least, None)
