# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tenures of a pair with the policy identity: which one an offset belongs to, and the other cluster's offset of a
cut.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.tenures import (
    Tenure,
    TenurePlace,
    flat,
    locate,
    nested,
    tenures,
)

T = ("T", 0)
Partitions = dict[str, dict[str, int]]


def at(**offsets: int) -> Partitions:
    """Offsets of the topic T: ``at(_0=7, _1=3)``."""
    return {"T": {name[1:]: offset for name, offset in offsets.items()}}


def cut_record(
    source: str, target: str, ends: Partitions, cut: Partitions, resumed: Partitions | None = None, **more: Any
) -> dict[str, Any]:
    return {"from": source, "to": target, "ends": ends, "cut": cut, "resumed": resumed, **more}


# P [0, 10) is B [0, 8). P has a tail of two records after the cut. B [8, 20) is P [12, 25). The rest has no cut yet.
THERE = cut_record("P", "B", at(_0=10), at(_0=8), at(_0=12))
BACK = cut_record("B", "P", at(_0=20), at(_0=25), at(_0=20))


# ---- tenures


@pytest.mark.parametrize(
    ("entered", "compacted", "gone"),
    [("B", False, 3), ("B", True, 5), ("P", False, 2), ("P", True, 12)],
)
def test_of_later_tenures_no_more_is_gone_than_is_unread_and_has_expired(
    entered: str, compacted: bool, gone: int
) -> None:
    """R30: 5 records on P and 12 on B follow the tenure. Of the offsets after it, 2 and 3 have expired."""
    first, second = tenures([THERE], "B", "P")
    logs = {"P": (12, 15), "B": (11, 20)}
    assert first.gone_after(entered, T, logs, compacted) == gone
    assert second.gone_after(entered, T, logs, compacted) == 0
    # Less is unread than has expired.
    assert first.gone_after(entered, T, {"P": (30, 11), "B": (30, 9)}, False) == 1


def test_without_a_cutover_there_is_one_tenure_from_the_beginning_of_both_logs() -> None:
    found = tenures([], "P", "B")
    assert found == [Tenure("P", "B", {"P": {}, "B": {}}, None)]
    assert (found[0].first("P", T), found[0].first("B", T), found[0].unknown) == (0, 0, frozenset())


def test_one_cutover_ends_one_tenure_and_begins_the_next_in_the_other_direction() -> None:
    first, second = tenures([THERE], "B", "P")
    assert (first.source, first.target, first.begin) == ("P", "B", {"B": {}, "P": {}})
    assert first.end == {"P": {T: 10}, "B": {T: 8}}
    assert (second.source, second.target, second.end) == ("B", "P", None)
    # Copies come after the tail on P.
    assert second.begin == {"P": {T: 12}, "B": {T: 8}}


def test_the_tenures_after_two_cutovers() -> None:
    found = tenures([THERE, BACK], "P", "B")
    assert [(tenure.source, tenure.target) for tenure in found] == [("P", "B"), ("B", "P"), ("P", "B")]
    assert found[1].end == {"B": {T: 20}, "P": {T: 25}}
    assert (found[2].begin, found[2].end) == ({"B": {T: 20}, "P": {T: 25}}, None)


def test_the_tenures_after_three_cutovers() -> None:
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
def test_a_cluster_without_a_seeded_flow_continues_at_its_end(resumed: Partitions | None) -> None:
    """This is so between the point of no return and the seeding of the flow back, and if there is no tail."""
    found = tenures([cut_record("P", "B", at(_0=10), at(_0=8), resumed)], "B", "P")
    assert (found[1].first("P", T), found[1].first("B", T)) == (10, 8)


def test_only_the_end_of_a_tenure_found_by_content_is_known() -> None:
    found = tenures([{**THERE, "known": False}, BACK], "P", "B")
    assert [T in tenure.unknown for tenure in found] == [True, False, False]
    assert (found[1].first("P", T), found[1].first("B", T)) == (12, 8)


# ---- offsets -


@pytest.mark.parametrize(
    ("alias", "commit", "expected"),
    [
        ("P", 0, TenurePlace(0, 0)),
        ("P", 1, TenurePlace(0)),
        ("P", 9, TenurePlace(0)),
        ("P", 10, TenurePlace(None)),  # The whole tenure is read, but not the tail after it.
        ("P", 11, TenurePlace(None)),
        ("P", 12, TenurePlace(1, 8)),
        ("P", 13, TenurePlace(1)),
        ("P", 24, TenurePlace(1)),
        ("P", 25, TenurePlace(2, 20)),
        ("P", 26, TenurePlace(2)),
        ("P", 1000, TenurePlace(2)),
        ("B", 0, TenurePlace(0, 0)),
        ("B", 7, TenurePlace(0)),
        ("B", 8, TenurePlace(1, 12)),  # B continues at the cut, P after its tail.
        ("B", 9, TenurePlace(1)),
        ("B", 20, TenurePlace(2, 25)),
        ("B", 21, TenurePlace(2)),
        ("P", -1, TenurePlace(None)),
    ],
)
def test_an_offset_is_at_a_cut_in_a_tenure_or_in_a_tail(alias: str, commit: int, expected: TenurePlace) -> None:
    """R22: each offset belongs to exactly one of them."""
    assert locate(tenures([THERE, BACK], "P", "B"), alias, T, commit) == expected


def test_the_current_tenure_has_no_end() -> None:
    assert locate(tenures([THERE], "B", "P"), "B", T, 10**12) == TenurePlace(1)
    assert locate(tenures([], "P", "B"), "P", T, 10**12) == TenurePlace(0)


NEW = ("T", 1)
# The partition was added while the applications lived on B, and was written there before the way back.
GROWN = [THERE, cut_record("B", "P", at(_0=20, _1=7), at(_0=25, _1=6))]


@pytest.mark.parametrize(
    ("cut_records", "alias", "commit", "expected"),
    [
        # No cut names it, so it belongs to one tenure only.
        ([THERE, BACK], "P", 0, TenurePlace(2, 0)),
        ([THERE, BACK], "P", 5, TenurePlace(2)),
        ([THERE, BACK], "B", 5, TenurePlace(2)),
        (GROWN, "P", 0, TenurePlace(1, 0)),
        (GROWN, "P", 5, TenurePlace(1)),
        (GROWN, "P", 6, TenurePlace(2, 7)),
        (GROWN, "B", 6, TenurePlace(1)),
        (GROWN, "B", 7, TenurePlace(2, 6)),
        (GROWN, "B", 8, TenurePlace(2)),
    ],
)
def test_a_new_partition_begins_at_0_in_the_first_tenure_that_wrote_it(
    cut_records: list[dict[str, Any]], alias: str, commit: int, expected: TenurePlace
) -> None:
    assert locate(tenures(cut_records, "P", "B"), alias, NEW, commit) == expected
    # The topic's other partition is unaffected.
    assert locate(tenures(cut_records, "P", "B"), "P", T, 12) == TenurePlace(1, 8)


def test_a_new_topic_belongs_to_one_tenure_only() -> None:
    found = tenures([THERE, BACK], "P", "B")
    assert [locate(found, "P", ("New", 0), commit) for commit in (0, 3)] == [TenurePlace(2, 0), TenurePlace(2)]


def test_the_newest_cut_counts_if_a_tenure_wrote_nothing() -> None:
    """Two cutovers without a record: P 10, B 8 before and after."""
    still = [cut_record("P", "B", at(_0=10), at(_0=8)), cut_record("B", "P", at(_0=8), at(_0=10))]
    found = tenures(still, "P", "B")
    assert locate(found, "P", T, 10) == TenurePlace(2, 8)
    assert locate(found, "B", T, 8) == TenurePlace(2, 10)
    assert [locate(found, "P", T, commit).tenure for commit in (9, 11)] == [0, 2]


def test_the_newest_cut_counts_on_the_other_cluster_if_a_tenure_left_only_markers() -> None:
    """B ended with an aborted transaction of 3 offsets, which is never replicated."""
    found = tenures([cut_record("P", "B", at(_0=10), at(_0=8)), cut_record("B", "P", at(_0=11), at(_0=10))], "P", "B")
    assert locate(found, "P", T, 10) == TenurePlace(2, 11)
    assert [locate(found, "B", T, commit) for commit in (8, 9, 11)] == [
        TenurePlace(1, 10),
        TenurePlace(1),
        TenurePlace(2, 10),
    ]


def test_empty_logs_have_cuts_at_0() -> None:
    found = tenures([cut_record("P", "B", at(_0=0), at(_0=0)), cut_record("B", "P", at(_0=0), at(_0=0))], "P", "B")
    assert locate(found, "P", T, 0) == TenurePlace(2, 0)


STEPS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 3)), max_size=6)


def chain(steps: list[tuple[int, int, int]]) -> list[Tenure]:
    """Tenures with these lengths on the cluster being left and the one being entered, and tails of these lengths after
    the cuts.
    """
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
def test_every_offset_has_one_place(steps: list[tuple[int, int, int]], alias: str, commit: int) -> None:
    found = chain(steps)
    place = locate(found, alias, T, commit)
    other = "B" if alias == "P" else "P"
    ends = [None if tenure.end is None else tenure.end[alias][T] for tenure in found]
    begun = [index for index, tenure in enumerate(found) if tenure.first(alias, T) <= commit]
    if place.tenure is None:
        # After the end of the newest tenure that has begun there, and before the next one.
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
def test_the_order_of_offsets_is_the_order_of_the_tenures(steps: list[tuple[int, int, int]], alias: str) -> None:
    found = chain(steps)
    places = [locate(found, alias, T, commit) for commit in range(61)]
    indexes = [place.tenure for place in places if place.tenure is not None]
    cuts = [place.other for place in places if place.other is not None]
    assert indexes == sorted(indexes)
    assert cuts == sorted(cuts)


# ---- serialization


def test_offsets_convert_between_json_and_memory() -> None:
    inside = {("T", 2): 5, ("T", 10): 6, ("A", 0): 7}
    outside = {"A": {"0": 7}, "T": {"2": 5, "10": 6}}
    assert nested(inside) == outside
    # Sorted by number.
    assert list(nested(inside)["T"]) == ["2", "10"]
    assert flat(outside) == inside
    assert (flat({}), nested({}), flat({"T": {}})) == ({}, {}, {})


@given(st.dictionaries(st.tuples(st.text(min_size=1, max_size=5), st.integers(0, 200)), st.integers(0)))
def test_journaled_cuts_are_read_back(values: dict[tuple[str, int], int]) -> None:
    assert flat(json.loads(json.dumps(nested(values)))) == values


def test_a_cut_missing_on_the_entered_cluster_is_not_taken_from_the_other_one() -> None:
    found = tenures([{**THERE, "cut": {}}], "B", "P")
    assert (found[1].first("P", T), found[1].first("B", T)) == (12, 0)


# ---- a tenure that a disaster ended (R45)

# The flow had stored 99 and replicated 160 records. P kept 20 more.
LOST = cut_record("P", "B", at(_0=100), at(_0=160), at(_0=180), disaster=True)


def test_the_end_of_a_dead_worker_is_a_lower_bound() -> None:
    lost, present = tenures([LOST], "B", "P")
    assert (lost.at_least, lost.replicated(T)) == ({T: 100}, 100)
    # All that was replicated is in this part: what content shows there counts.
    assert lost.end == {"P": {T: 180}, "B": {T: 160}}
    assert (present.first("P", T), present.first("B", T)) == (180, 160)
    assert locate([lost, present], "P", T, 130) == TenurePlace(0)


def test_an_end_that_was_found_replaces_the_lower_bound() -> None:
    lost, present = tenures([{**LOST, "found": at(_0=160)}], "B", "P")
    assert (lost.at_least, lost.replicated(T), lost.end) == ({}, 160, {"P": {T: 160}, "B": {T: 160}})
    assert locate([lost, present], "P", T, 130) == TenurePlace(0)
    assert locate([lost, present], "P", T, 170) == TenurePlace(None)


def test_a_flow_that_had_stored_nothing_has_a_lower_bound_too() -> None:
    """The topic is not new to the pair: its past is known."""
    lost, present = tenures([cut_record("P", "B", {}, at(_0=3), at(_0=5), disaster=True)], "B", "P")
    assert (lost.at_least, lost.end) == ({T: 0}, {"P": {T: 5}, "B": {T: 3}})
    assert (present.first("P", T), present.unknown) == (5, frozenset())
