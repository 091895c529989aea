# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each kind of difference gets its own name, and no other one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_dr_audit.alignment import Same
from kafka_dr_audit.chunks import mixed
from kafka_dr_audit.committed_offsets import Judged, Map, SecondCopy, judge
from kafka_dr_audit.differences import Edge, Records, Region, Rules, classify

Record = tuple[object, object, object, int]  # Key, value, headers, milliseconds.


def word(*parts: object) -> int:
    return hash(("seed", *map(repr, parts))) & 0xFFFFFFFFFFFFFFFF


def side(log: list[Record], first: int = 0, timestamps: bool = True, appended: Collection[int] = ()) -> Records:
    def words(values: list[int]) -> np.ndarray:
        return mixed(np.asarray(values, dtype=np.uint64))

    return Records(
        np.arange(len(log), dtype=np.int64),
        np.arange(first, first + len(log), dtype=np.int64),
        np.asarray([record[3] for record in log], dtype=np.int64),
        words([word(*record[: 4 if timestamps else 3]) for record in log]),
        words([word("k", record[0]) for record in log]),
        words([word("v", record[1]) for record in log]),
        words([word("h", record[2]) for record in log]),
        np.asarray([record[1] is None for record in log], dtype=np.bool_),
        np.asarray([index in appended for index in range(len(log))], dtype=np.bool_),
    )


def log(count: int, partition: int = 0) -> list[Record]:
    return [(f"key-{n % 7}", f"value-{partition}-{n}", None, 1000 + n) for n in range(count)]


def whole(left: list[Record], right: list[Record], partition: int = 0, **more: object) -> Region:
    return Region(partition, side(left), side(right), head=True, tail=True, **more)


def kinds(*regions: Region, **rules: object) -> dict[str, int]:
    found, _other = classify(regions, Rules(**rules))
    return dict(Counter(difference.kind for difference in found))


LOG = log(40)
CASES = {
    "nothing": (LOG, LOG, {}),
    "first record lost": (LOG, LOG[1:], {"LOST": 1}),
    "last record lost": (LOG, LOG[:-1], {"LOST": 1}),
    "one in the middle lost": (LOG, LOG[:20] + LOG[21:], {"LOST": 1}),
    "a run lost": (LOG, LOG[:10] + LOG[20:], {"LOST": 10}),
    "all lost": (LOG, [], {"LOST": 40}),
    "one twice, near": (LOG, LOG[:21] + LOG[20:], {"DUPLICATE": 1}),
    "a run twice": (LOG, LOG[:30] + LOG[20:], {"DUPLICATE": 10}),
    "one twice, far": (LOG, [*LOG, LOG[3]], {"DUPLICATE": 1}),
    "neighbours swapped": (LOG, [*LOG[:10], LOG[11], LOG[10], *LOG[12:]], {"REORDERED": 1}),
    "key changed": (LOG, [*LOG[:5], ("other", *LOG[5][1:]), *LOG[6:]], {"CORRUPT": 1}),
    "value null": (LOG, [*LOG[:5], (LOG[5][0], None, *LOG[5][2:]), *LOG[6:]], {"CORRUPT": 1}),
    "time changed": (LOG, [*LOG[:5], (*LOG[5][:3], 1), *LOG[6:]], {"CORRUPT": 1}),
    "everything changed": (LOG, [*LOG[:5], ("x", "y", "z", 1), *LOG[6:]], {"CORRUPT": 1}),
    "written by others": (LOG, [*LOG, ("x", "y", None, 5)], {"FOREIGN": 1}),
    "one changed, its neighbour lost": (LOG, [*LOG[:5], ("other", *LOG[5][1:]), *LOG[7:]], {"CORRUPT": 1, "LOST": 1}),
}


@pytest.mark.parametrize("name", CASES)
def test_one_difference_has_one_name(name: str) -> None:
    left, right, expected = CASES[name]
    assert kinds(whole(left, right)) == expected


def test_a_corruption_names_the_altered_parts() -> None:
    changed = [*LOG[:5], ("other", LOG[5][1], (("a", b""),), LOG[5][3]), *LOG[6:]]
    (found,), _other = classify([whole(LOG, changed)], Rules())
    assert (found.parts, found.source_offset, found.target_offset) == (("key", "headers"), 5, 5)


def test_timestamps_that_are_not_comparable_do_not_count() -> None:
    later = [(*record[:3], record[3] + 5) for record in LOG]
    region = Region(0, side(LOG, timestamps=False), side(later, timestamps=False), head=True, tail=True)
    assert kinds(region, timestamps=False) == {}


UNTIMED = [(*one[:3], -1) if 10 <= at < 20 else one for at, one in enumerate(LOG)]
REPLICATED = [(*one[:3], 9_000 + at) if one[3] < 0 else one for at, one in enumerate(UNTIMED)]


def test_the_copy_of_a_record_without_a_timestamp_is_equal_and_reported() -> None:
    found, (aligned,) = classify([whole(UNTIMED, REPLICATED)], Rules())
    assert Counter(item.kind for item in found) == {"RETIMED": 10}
    assert [(item.source_offset, item.target_offset) for item in found] == [(at, at) for at in range(10, 20)]
    assert aligned.same == (Same(0, 0, 40),)
    again = [*REPLICATED, *((*one[:3], 9_900 + at) for at, one in enumerate(UNTIMED[12:20]))]
    assert kinds(whole(UNTIMED, again)) == {"RETIMED": 10, "DUPLICATE": 8}


def test_records_with_a_timestamp_are_still_compared_beside_records_without_one() -> None:
    """All fields but the timestamp are equal.

    Only records without one on the source may have another one on the target.
    """
    left = [("k", "v", None, 5), ("k", "v", None, -1), ("k", "v", None, 7), *LOG]
    right = [("k", "v", None, 5), ("k", "v", None, 9_000), ("k", "v", None, 7), *LOG]
    assert kinds(whole(left, right)) == {"RETIMED": 1}
    altered = [*right[:2], ("k", "v", None, 8), *LOG]
    # It is unknown which of two equal records it copies, but one of them has no timestamp.
    assert kinds(whole(left, altered)) == {"RETIMED": 1, "LOST": 1, "DUPLICATE": 1}


def test_timestamps_count_except_those_that_the_targets_broker_set() -> None:
    """message.timestamp.type was changed in the middle of the target's log."""
    later = [(*one[:3], 9_000) if at < 20 else one for at, one in enumerate(LOG)]
    region = Region(0, side(LOG), side(later, appended=range(20)), head=True, tail=True)
    assert kinds(region) == {"RETIMED": 20}
    altered = [*later[:30], (*later[30][:3], 9_000), *later[31:]]
    region = Region(0, side(LOG), side(altered, appended=range(20)), head=True, tail=True)
    assert kinds(region) == {"RETIMED": 20, "CORRUPT": 1}


def test_a_copy_of_a_source_record_without_a_timestamp_after_the_snapshot_is_newer() -> None:
    new = side([("k", "new", None, -1)])
    right = [*LOG, ("k", "new", None, 9_000)]
    region = whole(LOG, right, untimed=frozenset(new.content.tolist()))
    assert kinds(region, mode="online") == {"NEWER": 1}
    assert kinds(whole(LOG, right), mode="online") == {"FOREIGN": 1}


def test_a_record_in_another_partition_is_misplaced() -> None:
    other = log(10, partition=1)
    (found,), _other = classify(
        [whole(LOG, LOG[:7] + LOG[8:]), whole(other, [*other[:4], LOG[7], *other[4:]], partition=1)], Rules()
    )
    assert (found.kind, found.partition, found.source_offset) == ("MISPLACED", 0, 7)
    assert (found.target_partition, found.target_offset) == (1, 4)


@pytest.mark.parametrize(
    ("edges", "left", "right", "expected"),
    [
        ({"target": Edge(start=10)}, LOG, LOG[10:], {"EXPIRED": 10}),
        ({"target": Edge(start=3)}, LOG, LOG[10:], {"EXPIRED": 3, "LOST": 7}),
        ({"target": Edge(start=0)}, LOG, LOG[10:], {"LOST": 10}),
        ({"target": Edge(start=10)}, LOG, LOG[10:20] + LOG[21:], {"EXPIRED": 10, "LOST": 1}),
        ({"source": Edge(start=10)}, LOG[10:], LOG, {"EXPIRED": 10}),
        ({"source": Edge(start=0)}, LOG[10:], LOG, {"FOREIGN": 10}),
        (
            {"source": Edge(start=10)},
            LOG[10:],
            [*LOG[:10], ("x", "y", None, 1), *LOG[11:]],
            {"EXPIRED": 10, "CORRUPT": 1},
        ),
        ({"source": Edge(start=40)}, [], LOG, {"EXPIRED": 40}),
        # What was deleted before the compared range explains nothing in it (R50).
        ({"source": Edge(start=70, begin=100)}, LOG[1:], LOG, {"FOREIGN": 1}),
        ({"target": Edge(start=70, begin=100)}, LOG, LOG[1:], {"LOST": 1}),
        ({"source": Edge(start=101, begin=100)}, LOG[1:], LOG, {"EXPIRED": 1}),
        ({"target": Edge(start=101, begin=100)}, LOG, LOG[1:], {"EXPIRED": 1}),
    ],
)
def test_only_records_below_a_log_start_have_expired(edges, left, right, expected) -> None:
    assert kinds(whole(left, right, **edges)) == expected


def test_a_record_that_is_not_replicated_yet_is_not_lost() -> None:
    assert kinds(whole(LOG, LOG[:30], replicated=30)) == {"NOT_YET": 10}
    assert kinds(whole(LOG, LOG[:30], replicated=35)) == {"NOT_YET": 5, "LOST": 5}
    assert kinds(whole(LOG, LOG[:30]), mode="online") == {"NOT_YET": 10}
    assert kinds(whole(LOG, LOG[:10] + LOG[11:30]), mode="online") == {"LOST": 1, "NOT_YET": 10}
    assert kinds(whole(LOG, LOG[:30], replicated=30), mode="disaster") == {"ERRANT": 10}


def test_a_replicated_aborted_record_is_reported() -> None:
    phantom: Record = ("p", "aborted", None, 7)
    region = whole(LOG, [*LOG[:9], phantom, *LOG[9:]])
    aborted = frozenset(side([phantom]).whole.tolist())
    assert kinds(region) == {"FOREIGN": 1}
    assert kinds(replace(region, aborted=aborted)) == {"ABORTED": 1}


def test_compaction_explains_only_superseded_records() -> None:
    keyed: list[Record] = [
        ("a", 1, None, 1),
        ("b", 1, None, 2),
        ("a", 2, None, 3),
        ("b", None, None, 4),
        ("c", 1, None, 5),
    ]
    a2, b0, c1 = keyed[2], keyed[3], keyed[4]
    compacts = {"target": Edge(compacts=True)}
    assert kinds(whole(keyed, [a2, b0, c1], **compacts)) == {"COMPACTED": 2}
    assert kinds(whole(keyed, [a2, c1], **compacts)) == {"COMPACTED": 3}
    assert kinds(whole(keyed, [c1], **compacts)) == {"COMPACTED": 2, "LOST": 2}
    assert kinds(whole(keyed, [a2, b0], **compacts)) == {"COMPACTED": 2, "LOST": 1}
    assert kinds(whole([a2, b0, c1], keyed, source=Edge(compacts=True))) == {"COMPACTED": 2}
    assert kinds(whole(keyed, [a2, b0, c1])) == {"LOST": 2}


@given(st.sets(st.integers(0, 39)), st.integers(0, 39), st.integers(1, 10))
def test_every_lost_and_every_resent_record_is_counted_once(lost: set[int], at: int, length: int) -> None:
    """Records of the run that was sent again are not lost: the second copy is a copy."""
    run = LOG[at : at + length]
    right = [record for n, record in enumerate(LOG) if n not in lost and n < at + length] + run
    right += [record for n, record in enumerate(LOG) if n not in lost and n >= at + length]
    counted = kinds(whole(LOG, right))
    gone = lost - set(range(at, at + length))
    assert counted.get("LOST", 0) == len(gone)
    assert counted.get("DUPLICATE", 0) == len(run) - len(lost & set(range(at, at + len(run))))
    assert set(counted) <= {"LOST", "DUPLICATE", "REORDERED"}


EQUAL = Map([Same(0, 0, 100)])


@pytest.mark.parametrize(
    ("place", "stands", "goes_on", "expected"),
    [
        (EQUAL, 40, 40, ("EXACT", 0)),
        (EQUAL, 40, 39, ("REREAD", 1)),
        (EQUAL, 40, 41, ("SKIP", 1)),
        (EQUAL, 100, 100, ("EXACT", 0)),
        (EQUAL, 100, 97, ("REREAD", 3)),
        (EQUAL, 40, None, ("NONE", 0)),
        (EQUAL, None, None, ("NONE", 0)),
        # Records 50 to 59 are lost on the target.
        (Map([Same(0, 0, 50), Same(60, 50, 40)]), 55, 50, ("EXACT", 0)),
        (Map([Same(0, 0, 50), Same(60, 50, 40)]), 55, 49, ("REREAD", 1)),
        (Map([Same(0, 0, 50), Same(60, 50, 40)]), 45, 51, ("SKIP", 6)),
        # Two records of another producer are at 50 and 51 of the target.
        (Map([Same(0, 0, 50), Same(50, 52, 50)]), 50, 50, ("EXACT", 0)),
        (Map([Same(0, 0, 50), Same(50, 52, 50)]), 50, 52, ("EXACT", 0)),
    ],
)
def test_a_committed_offset_is_exact_too_early_or_too_late(place, stands, goes_on, expected) -> None:
    judged = judge(place, stands, goes_on)
    assert (judged.verdict, judged.records) == expected


def test_second_copies_are_counted_separately_from_the_committed_offset() -> None:
    """T = 0..9, R = 0..5 3 4 5 6..9: 3 to 5 are there twice."""
    place = Map([Same(0, 0, 6), Same(6, 9, 4)], [SecondCopy(3, 6), SecondCopy(4, 7), SecondCopy(5, 8)])
    assert judge(place, 6, 9) == Judged("EXACT", 0, 0, 9)
    assert judge(place, 6, 6) == Judged("REREAD", 3, 0, 9)
    assert judge(place, 5, 8) == Judged("EXACT", 0, 0, 8)
    assert judge(place, 5, 5) == Judged("REREAD", 3, 0, 8)
    assert judge(place, 3, 6) == Judged("EXACT", 0, 0, 6)  # The second copies of 3, 4 and 5 are still to be read.
    assert judge(place, 3, 7) == Judged("SKIP", 1, 0, 6)
    assert judge(place, 2, 2) == Judged("EXACT", 0, 3, 2)
    assert judge(place, 4, 7) == Judged("EXACT", 0, 0, 7)
    lone = Map([Same(0, 0, 4), Same(4, 5, 6)], [SecondCopy(1, 4)])
    assert judge(lone, 3, 3) == Judged("EXACT", 0, 1, 3)  # The replica has 1 once more, for every committed offset.
    assert judge(lone, 4, 5) == Judged("EXACT", 0, 0, 5)


def test_an_offset_in_the_reverse_direction_is_judged_by_the_same_map() -> None:
    place = Map([Same(0, 0, 50), Same(60, 50, 40)]).mirrored()
    assert judge(place, 50, 60).verdict == "EXACT"
    # 50 to 59 were never replicated: a group at 49 there has not read them.
    assert judge(place, 49, 61) == Judged("SKIP", 12, 0, 49)
    assert judge(Map([Same(0, 0, 50)]).mirrored(), 50, 80) == Judged("SKIP", 30, 0, 50)


def test_records_that_the_group_read_in_an_earlier_tenure_are_not_skipped() -> None:
    assert judge(EQUAL, 40, 30, own=20) == Judged("REREAD", 10, 0, 40)
    # On the way back: records that were never replicated were read where they were written.
    back = Map([Same(0, 0, 50)]).mirrored()
    assert judge(back, 50, 80, own=80) == Judged("EXACT", 0, 0, 80)
    assert judge(back, 50, 80, own=70) == Judged("SKIP", 10, 0, 70)
    assert judge(EQUAL, None, 60, own=60).verdict == "EXACT"


def test_the_offset_of_an_earlier_tenure_counts_for_nothing_once_the_group_was_set_back() -> None:
    """R39: the committed offset on the cluster being left is the truth, also for the audit."""
    assert judge(EQUAL, 10, 30, own=30) == Judged("SKIP", 20, 0, 10)
    assert judge(EQUAL, 10, 30, own=20) == Judged("SKIP", 20, 0, 10)
    assert judge(EQUAL, 10, 10, own=30) == Judged("EXACT", 0, 0, 10)
    assert judge(EQUAL, 10, 8, own=30) == Judged("REREAD", 2, 0, 10)
    # The replica lacks 50 to 79, and holds the records that the group was set back to.
    back = Map([Same(0, 0, 50)]).mirrored()
    assert judge(back, 10, 80, own=80) == Judged("SKIP", 70, 0, 10)
    assert judge(back, 10, 10, own=80) == Judged("EXACT", 0, 0, 10)


def test_a_group_that_never_committed_may_start_at_the_beginning() -> None:
    assert judge(EQUAL, None, 0).verdict == "EXACT"
    assert judge(EQUAL, None, 5).verdict == "UNKNOWN"
