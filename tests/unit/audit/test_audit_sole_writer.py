# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""R50: only the flow wrote to the target since the cut, or it is not PROVEN. The worlds are in test_audit_worlds.py."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_dr_audit import snapshot
from kafka_dr_audit.differences import KINDS
from kafka_dr_audit.plan import PlannedPartition, PlannedRange, Topic, TopicSide
from kafka_dr_audit.snapshot import ReadRange, Scope
from kafka_dr_audit.sole_writer import SinceCut, judge
from kafka_dr_audit.text import lines
from kafka_dr_audit.verdict import _whole

#: Source 100 to 105 as 40 to 45 on the target.
CLEAN = SinceCut(0, source_cut=100, target_cut=40, end=46, records=6, stored=103)


@pytest.mark.parametrize(
    ("parts", "verdict", "text"),
    [
        ({}, "PROVEN", "6 records since the cut are those of the source"),
        ({"differences": {"NOT_YET": 2, "NEWER": 3}}, "PROVEN", "6 records"),
        ({"differences": {"FOREIGN": 1}, "end": 47, "records": 7}, "REFUTED", "1 records were written to the target"),
        # Another producer's record, or one that the flow sent again: they look alike.
        ({"differences": {"DUPLICATE": 1}, "end": 47, "records": 7}, "UNKNOWN", "1 DUPLICATE since the cut"),
        ({"differences": {"UNCLASSIFIED": 9}}, "UNKNOWN", "9 UNCLASSIFIED"),
        ({"differences": {"FOREIGN": 1}, "narrow": True}, "UNKNOWN", "1 FOREIGN since the cut"),
        ({"deleted": 2, "records": 4}, "UNKNOWN", "2 offsets since the cut were deleted"),
        ({"end": 48}, "UNKNOWN", "2 offsets since the cut hold no record"),
        ({"unstable": True}, "UNKNOWN", "a transaction was open"),
        ({"stored": None}, "UNKNOWN", "so 6 records may not be its own"),
        # The flow was seeded at the cut, and has replicated nothing that it stored.
        ({"stored": 100}, "UNKNOWN", "so 6 records may not be its own"),
        ({"stored": 101}, "PROVEN", "6 records"),
        # Nothing was written, so there is nothing to attribute.
        ({"stored": None, "end": 40, "records": 0}, "PROVEN", "0 records"),
    ],
)
def test_each_state_of_a_partition_has_its_verdict(parts: dict[str, Any], verdict: str, text: str) -> None:
    shown = judge([CLEAN, replace(CLEAN, **{"partition": 1, **parts})], compacts=False, reasons=[])
    assert shown[0] == verdict
    assert (text if verdict != "PROVEN" else str(6 + parts.get("records", 6))) in shown[1]


def test_what_was_not_compared_is_unknown_and_a_foreign_record_still_refutes() -> None:
    foreign = replace(CLEAN, differences={"FOREIGN": 1})
    for parts in ({"compacts": True}, {"reasons": ["the topic was created again"]}):
        given = {"compacts": False, "reasons": [], **parts}
        assert judge([CLEAN], **given)[0] == "UNKNOWN"
        assert judge([CLEAN, foreign], **given)[0] == "REFUTED"
    assert judge([], compacts=False, reasons=[])[0] == "UNKNOWN"


@given(st.dictionaries(st.sampled_from([*KINDS, "UNCLASSIFIED"]), st.integers(1, 9), min_size=1))
def test_no_kind_of_difference_that_may_hide_a_record_is_proven(differences: dict[str, int]) -> None:
    shown = judge([replace(CLEAN, differences=differences)], compacts=False, reasons=[])[0]
    if "FOREIGN" in differences:
        assert shown == "REFUTED"
    else:
        assert (shown == "PROVEN") == (set(differences) <= {"NOT_YET", "NEWER", "RETIMED"})


def spanned(start: int, end: int, **parts: Any) -> tuple[ReadRange, list[str]]:
    """The range that is read of a log [start, end) from the cut 100 on, and the reasons for UNKNOWN."""
    side = TopicSide("P", "T", None, False)
    partition = PlannedPartition(0, PlannedRange(100, None), PlannedRange(100, None), None)
    given: dict[str, Any] = {"from_cut": True, **parts}
    topic = Topic(
        *("T", side, side, "online", "read_committed", "at_least_once", False, False, True, ()),
        partitions=(partition,),
        committed_offsets=(),
        **given,
    )
    scope = Scope(topic)
    shown = snapshot._span(scope, side, ("T", 0), partition.target, start, end)
    return shown, scope.reasons


def test_a_log_is_read_from_the_cut_on_and_must_reach_it() -> None:
    assert spanned(30, 130) == (ReadRange(100, 130, 130, 30, 100), [])
    assert spanned(30, 130)[0].deleted == 0
    assert spanned(104, 130)[0].deleted == 4
    assert spanned(104, 130)[0].start == 104
    assert spanned(30, 90)[1] == ["P:T-0: the plan begins at 100, but the log ends at 90"]
    # Without a cut, a plan that begins later than the log proves nothing.
    assert "records in between were not compared" in spanned(30, 130, from_cut=False)[1][0]


@pytest.mark.parametrize(
    ("verdicts", "whole"),
    [
        (["PROVEN", "PROVEN"], "PROVEN"),
        # A topic whose cut is unknown leaves the whole unknown.
        (["PROVEN", "UNKNOWN"], "UNKNOWN"),
        (["UNKNOWN", "REFUTED"], "REFUTED"),
    ],
)
def test_the_worst_topic_decides_and_is_shown(verdicts: list[str], whole: str) -> None:
    shown = _whole([{"verdict": verdict, "reason": f"{verdict} here"} for verdict in verdicts])
    assert shown is not None
    assert shown["verdict"] == whole
    document: dict[str, Any] = {"verdict": "PROVEN", "pair": "B-P", "records": {"source": 9}, "topics": []}
    shown = lines({**document, "written_by_flow": shown, "not_checked": []})
    assert shown[1].startswith(f"  {whole:<8} only the flow has written since the cut: {whole} here")
    assert len(lines({**document, "written_by_flow": _whole([]), "not_checked": []})) == 1


@pytest.mark.parametrize("open_since", [None, 112])
def test_a_log_that_grows_meanwhile_has_no_open_transaction(open_since: int | None) -> None:
    """Each request finds ten records more. An open transaction holds the last stable offset back."""
    asked = iter(range(110, 200, 10))

    def ends(places: list[Any], isolation: str) -> dict[Any, int]:
        end = next(asked)
        stable = end if open_since is None else min(end, open_since)
        return dict.fromkeys(places, end if isolation == "read_uncommitted" else stable)

    broker: Any = SimpleNamespace(starts=lambda places: dict.fromkeys(places, 0), ends=ends)
    side = TopicSide("P", "T", None, False)
    partition = PlannedPartition(0, PlannedRange(100, None), PlannedRange(100, None), None)
    topic = Topic(
        *("T", side, side, "online", "read_committed", "at_least_once", False, False, True, ()),
        partitions=(partition,),
        committed_offsets=(),
        from_cut=True,
    )
    next(asked)
    scope = Scope(topic)
    snapshot._measure([scope], "target", {"P": broker})
    assert scope.unstable == (set() if open_since is None else {0})
