# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tenures of a pair with the policy identity: which one a position lies in, and what a cut is on the other side."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.tenures import (
    Place,
    Tenure,
    flat,
    locate,
    nested,
    tenures,
)

T = ("T", 0)
Partitions = dict[str, dict[str, int]]


def at(**offsets: int) -> Partitions:
    """Of the topic T: ``at(_0=7, _1=3)``."""
    return {"T": {name[1:]: offset for name, offset in offsets.items()}}


def cut_record(
    source: str, target: str, ends: Partitions, cut: Partitions, resumed: Partitions | None = None, **more: Any
) -> dict[str, Any]:
    return {"from": source, "to": target, "ends": ends, "cut": cut, "resumed": resumed, **more}


# P [0, 10) is B [0, 8). On P two records were left behind the cut. B [8, 20) is P [12, 25). The rest is not cut yet.
THERE = cut_record("P", "B", at(_0=10), at(_0=8), at(_0=12))
BACK = cut_record("B", "P", at(_0=20), at(_0=25), at(_0=20))


# ---- tenures


def test_without_a_cutover_there_is_one_stay_from_the_beginning_of_both_logs() -> None:
    found = tenures([], "P", "B")
    assert found == [Tenure("P", "B", {"P": {}, "B": {}}, None)]
    assert (found[0].first("P", T), found[0].first("B", T), found[0].unknown) == (0, 0, frozenset())


def test_one_cutover_ends_one_stay_and_begins_the_next_in_the_other_direction() -> None:
    first, second = tenures([THERE], "B", "P")
    assert (first.source, first.target, first.begin) == ("P", "B", {"B": {}, "P": {}})
    assert first.end == {"P": {T: 10}, "B": {T: 8}}
    assert (second.source, second.target, second.end) == ("B", "P", None)
    # Copies go behind what was left on P.
    assert second.begin == {"P": {T: 12}, "B": {T: 8}}


def test_two_cutovers() -> None:
    found = tenures([THERE, BACK], "P", "B")
    assert [(tenure.source, tenure.target) for tenure in found] == [("P", "B"), ("B", "P"), ("P", "B")]
    assert found[1].end == {"B": {T: 20}, "P": {T: 25}}
    assert (found[2].begin, found[2].end) == ({"B": {T: 20}, "P": {T: 25}}, None)


def test_three_cutovers() -> None:
    again = cut_record("P", "B", at(_0=40), at(_0=33))
    found = tenures([THERE, BACK, again], "B", "P")
    assert [tenure.source for tenure in found] == ["P", "B", "P", "B"]
    assert [(tenure.first("P", T), tenure.first("B", T)) for tenure in found] == [(0, 0), (12, 8), (25, 20), (40, 33)]
    assert [None if tenure.end is None else (tenure.end["P"][T], tenure.end["B"][T]) for tenure in found] == [
        (10, 8),
        (25, 20),
        (40, 33),
        None,
    ]


@pytest.mark.parametrize("resumed", [None, {}])
def test_a_side_that_was_not_armed_yet_goes_on_where_it_ended(resumed: Partitions | None) -> None:
    """Between the point of no return and the arming of the flow back, and where nothing was left behind."""
    found = tenures([cut_record("P", "B", at(_0=10), at(_0=8), resumed)], "B", "P")
    assert (found[1].first("P", T), found[1].first("B", T)) == (10, 8)


def test_of_a_stay_that_was_found_by_content_only_the_end_is_known() -> None:
    found = tenures([{**THERE, "known": False}, BACK], "P", "B")
    assert [T in tenure.unknown for tenure in found] == [True, False, False]
    assert (found[1].first("P", T), found[1].first("B", T)) == (12, 8)


# ---- positions


@pytest.mark.parametrize(
    ("alias", "commit", "expected"),
    [
        ("P", 0, Place(0, 0)),
        ("P", 1, Place(0)),
        ("P", 9, Place(0)),
        ("P", 10, Place(None)),  # all of the tenure is read, nothing of what was left behind it
        ("P", 11, Place(None)),
        ("P", 12, Place(1, 8)),
        ("P", 13, Place(1)),
        ("P", 24, Place(1)),
        ("P", 25, Place(2, 20)),
        ("P", 26, Place(2)),
        ("P", 1000, Place(2)),
        ("B", 0, Place(0, 0)),
        ("B", 7, Place(0)),
        ("B", 8, Place(1, 12)),  # B goes on at the cut, P behind its tail
        ("B", 9, Place(1)),
        ("B", 20, Place(2, 25)),
        ("B", 21, Place(2)),
        ("P", -1, Place(None)),
    ],
)
def test_a_position_lies_at_a_cut_in_a_stay_or_in_a_tail(alias: str, commit: int, expected: Place) -> None:
    """R22."""
    assert locate(tenures([THERE, BACK], "P", "B"), alias, T, commit) == expected


def test_the_present_stay_has_no_end_to_lie_behind() -> None:
    assert locate(tenures([THERE], "B", "P"), "B", T, 10**12) == Place(1)
    assert locate(tenures([], "P", "B"), "P", T, 10**12) == Place(0)


NEW = ("T", 1)
# The partition came while the applications lived on B, and was written there before the way back.
GROWN = [THERE, cut_record("B", "P", at(_0=20, _1=7), at(_0=25, _1=6))]


@pytest.mark.parametrize(
    ("cut_records", "alias", "commit", "expected"),
    [
        # Named by no cut: it has seen one tenure only.
        ([THERE, BACK], "P", 0, Place(2, 0)),
        ([THERE, BACK], "P", 5, Place(2)),
        ([THERE, BACK], "B", 5, Place(2)),
        (GROWN, "P", 0, Place(1, 0)),
        (GROWN, "P", 5, Place(1)),
        (GROWN, "P", 6, Place(2, 7)),
        (GROWN, "B", 6, Place(1)),
        (GROWN, "B", 7, Place(2, 6)),
        (GROWN, "B", 8, Place(2)),
    ],
)
def test_a_partition_that_is_new_begins_at_0_in_the_first_stay_that_wrote_it(
    cut_records: list[dict[str, Any]], alias: str, commit: int, expected: Place
) -> None:
    assert locate(tenures(cut_records, "P", "B"), alias, NEW, commit) == expected
    # The topic's other partition does not mind.
    assert locate(tenures(cut_records, "P", "B"), "P", T, 12) == Place(1, 8)


def test_a_topic_that_is_new_has_seen_one_stay_only() -> None:
    found = tenures([THERE, BACK], "P", "B")
    assert [locate(found, "P", ("New", 0), commit) for commit in (0, 3)] == [Place(2, 0), Place(2)]


def test_where_a_stay_wrote_nothing_the_newest_cut_counts() -> None:
    """Over and back without a record: P 10, B 8 before and after."""
    still = [cut_record("P", "B", at(_0=10), at(_0=8)), cut_record("B", "P", at(_0=8), at(_0=10))]
    found = tenures(still, "P", "B")
    assert locate(found, "P", T, 10) == Place(2, 8)
    assert locate(found, "B", T, 8) == Place(2, 10)
    assert [locate(found, "P", T, commit).tenure for commit in (9, 11)] == [0, 2]


def test_where_a_stay_left_only_markers_on_one_side_the_newest_cut_counts_on_the_other() -> None:
    """B ended in an aborted transaction of 3 offsets, which is never copied."""
    found = tenures([cut_record("P", "B", at(_0=10), at(_0=8)), cut_record("B", "P", at(_0=11), at(_0=10))], "P", "B")
    assert locate(found, "P", T, 10) == Place(2, 11)
    assert [locate(found, "B", T, commit) for commit in (8, 9, 11)] == [Place(1, 10), Place(1), Place(2, 10)]


def test_nothing_was_ever_written() -> None:
    found = tenures([cut_record("P", "B", at(_0=0), at(_0=0)), cut_record("B", "P", at(_0=0), at(_0=0))], "P", "B")
    assert locate(found, "P", T, 0) == Place(2, 0)


STEPS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 3)), max_size=6)


def chain(steps: list[tuple[int, int, int]]) -> list[Tenure]:
    """Stays of so many offsets on the left side and on the entered one, and a tail of so many behind the cut."""
    ends, sides, cut_records = {"P": 0, "B": 0}, ["P", "B"], []
    for written, last_replicated_offset, tail in steps:
        source, target = sides
        ends[source] += written
        ends[target] += last_replicated_offset
        cut_records.append(
            cut_record(source, target, at(_0=ends[source]), at(_0=ends[target]), at(_0=ends[source] + tail))
        )
        ends[source] += tail
        sides.reverse()
    return tenures(cut_records, *sides)


@given(STEPS, st.sampled_from(["P", "B"]), st.integers(0, 60))
def test_every_position_has_one_place(steps: list[tuple[int, int, int]], alias: str, commit: int) -> None:
    found = chain(steps)
    place = locate(found, alias, T, commit)
    other = "B" if alias == "P" else "P"
    ends = [None if tenure.end is None else tenure.end[alias][T] for tenure in found]
    begun = [index for index, tenure in enumerate(found) if tenure.first(alias, T) <= commit]
    if place.tenure is None:
        # Behind the end of the newest tenure that has begun there, and before the next one.
        end = ends[begun[-1]]
        assert end is not None
        assert end <= commit
        return
    assert place.tenure == begun[-1]
    first, end = found[place.tenure].first(alias, T), ends[place.tenure]
    if place.other is None:
        assert first < commit
        assert end is None or commit < end
    else:
        assert (commit, place.other) == (first, found[place.tenure].first(other, T))


@given(STEPS, st.sampled_from(["P", "B"]))
def test_the_order_of_positions_is_the_order_of_the_stays(steps: list[tuple[int, int, int]], alias: str) -> None:
    found = chain(steps)
    places = [locate(found, alias, T, commit) for commit in range(61)]
    indexes = [place.tenure for place in places if place.tenure is not None]
    cuts = [place.other for place in places if place.other is not None]
    assert indexes == sorted(indexes)
    assert cuts == sorted(cuts)


# ---- shapes


def test_offsets_have_one_shape_in_json_and_another_in_memory() -> None:
    inside = {("T", 2): 5, ("T", 10): 6, ("A", 0): 7}
    outside = {"A": {"0": 7}, "T": {"2": 5, "10": 6}}
    assert nested(inside) == outside
    # By number, as people read it.
    assert list(nested(inside)["T"]) == ["2", "10"]
    assert flat(outside) == inside
    assert (flat({}), nested({}), flat({"T": {}})) == ({}, {}, {})


@given(st.dictionaries(st.tuples(st.text(min_size=1, max_size=5), st.integers(0, 200)), st.integers(0)))
def test_what_is_journaled_is_read_back(values: dict[tuple[str, int], int]) -> None:
    assert flat(json.loads(json.dumps(nested(values)))) == values


def test_a_cut_that_is_missing_on_the_entered_side_is_not_taken_from_the_other_one() -> None:
    found = tenures([{**THERE, "cut": {}}], "B", "P")
    assert (found[1].first("P", T), found[1].first("B", T)) == (12, 0)
