# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The journal folds into one state, whichever copy missed what (SOUNDNESS 25)."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.journal import (
    KINDS,
    SCHEMA,
    Event,
    begin,
    decode,
    encode,
    fold,
    merge,
    missing_facts,
)

IDS = {"P": {"T": "id-p"}, "B": {"T": "id-b"}}
THERE = {"type": "cutoff", "from": "P", "to": "B"}
BACK = {"type": "cutoff", "from": "B", "to": "P"}
CUT = {"cut": {"T": {"0": 7}}, "positions": {"g": {"T": {"0": 5}}}}


def event(epoch: int, seq: int, kind: str, run: str = "", **data: Any) -> Event:
    return Event(epoch, seq, run, kind, 1000.0 * epoch + seq, data)


ENABLED = event(1, 0, "enabled", active="P", topic_ids=IDS)
STARTED = event(2, 0, "started", "r2", **THERE)
BARRIER = event(2, 1, "phase", "r2", phase="barrier", facts=CUT)
PNR = event(2, 2, "pnr", "r2")
ENDED = event(2, 3, "ended", "r2", result="completed")
LIFE = [ENABLED, STARTED, BARRIER, PNR, ENDED]


# ---- bytes


def test_an_event_has_a_fixed_form_that_says_its_schema() -> None:
    assert json.loads(encode("B-P", BARRIER)) == {
        "schema": 1,
        "pair": "B-P",
        "epoch": 2,
        "seq": 1,
        "run": "r2",
        "time": 2001.0,
        "kind": "phase",
        "data": {"phase": "barrier", "facts": CUT},
    }


@pytest.mark.parametrize("one", LIFE, ids=lambda one: str(one.kind))
def test_what_is_written_is_read_back(one: Event) -> None:
    pair, found = decode(encode("B-P", one))
    assert pair == "B-P"
    assert dataclasses.asdict(found) == dataclasses.asdict(one)


def test_a_newer_schema_is_refused_with_what_to_do() -> None:
    body = {**json.loads(encode("B-P", ENABLED)), "schema": SCHEMA + 1}
    with pytest.raises(DrError) as refused:
        decode(json.dumps(body).encode())
    assert refused.value.code == "journal_newer"
    assert f"schema {SCHEMA + 1}" in refused.value.message
    assert "newer release" in refused.value.hint


def test_a_newer_schema_is_told_from_rubbish_even_if_nothing_else_is_understood() -> None:
    with pytest.raises(DrError) as refused:
        decode(b'{"schema": 9, "events": []}')
    assert refused.value.code == "journal_newer"


GOOD = json.loads(encode("B-P", ENABLED))


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"hello",
        b"[]",
        b"null",
        b"7",
        b"{}",
        b'{"schema": "new"}',
        b'{"schema": null}',
        b'{"schema": 1}',
        *(json.dumps({key: GOOD[key] for key in GOOD if key != gone}).encode() for gone in GOOD),
        json.dumps({**GOOD, "kind": "surprise"}).encode(),
        json.dumps({**GOOD, "data": {}}).encode(),
        json.dumps({**GOOD, "kind": "started", "data": {"type": "cutoff"}}).encode(),
    ],
)
def test_a_record_that_is_no_event_is_refused_and_never_skipped(value: bytes) -> None:
    with pytest.raises(DrError) as refused:
        decode(value)
    assert refused.value.code == "journal_unreadable"


@pytest.mark.parametrize(
    ("kind", "data", "missing"),
    [
        ("read", {}, []),
        ("enabled", {"active": "P"}, []),
        ("enabled", {}, ["active"]),
        ("started", {"type": "cutoff"}, ["from", "to"]),
        ("phase", {"facts": {}}, ["phase"]),
        ("phase", {"phase": None}, ["phase"]),
        ("pnr", {}, []),
        ("ended", {}, []),
        ("disabled", {}, []),
    ],
)
def test_facts_that_an_event_cannot_do_without(kind: str, data: dict[str, Any], missing: list[str]) -> None:
    assert missing_facts(kind, data) == missing


# ---- the state


def test_an_empty_journal_knows_nothing_and_pretends_nothing() -> None:
    state = fold([])
    assert (state.active, state.enabled, state.run, state.epoch, state.interrupted) == (None, False, None, 0, False)


def test_the_life_of_a_run() -> None:
    seen = []
    for length in range(1, len(LIFE) + 1):
        state = fold(LIFE[:length])
        seen.append((state.active, state.interrupted))
    # The applications live on the new side from the point of no return on, not before and not later.
    assert seen == [("P", False), ("P", True), ("P", True), ("B", True), ("B", False)]
    run = fold(LIFE).as_dict()["run"]
    assert (run["id"], run["epoch"], run["type"], run["from"], run["to"]) == ("r2", 2, "cutoff", "P", "B")
    assert (run["started"], run["pnr"], run["ended"], run["result"]) == (2000.0, 2002.0, 2003.0, "completed")
    assert run["phases"] == {"barrier": {"time": 2001.0, **CUT}}


def test_the_barrier_is_kept_by_the_side_that_was_left() -> None:
    """SOUNDNESS 7 and 22: positions and the cut are needed on the way back, long after the run."""
    state = fold([*LIFE, event(3, 0, "started", "r3", **BACK)])
    assert state.left == {"P": {"time": 2001.0, **CUT}}
    assert state.as_dict()["left"]["P"]["positions"] == CUT["positions"]


def test_a_run_undone_before_the_point_of_no_return_leaves_no_trace_in_what_is_vouched_for() -> None:
    state = fold([ENABLED, STARTED, BARRIER, dataclasses.replace(ENDED, data={"result": "undone"})])
    assert (state.active, state.left, state.interrupted) == ("P", {}, False)


def test_enabling_again_does_not_move_the_applications() -> None:
    state = fold([*LIFE, event(3, 0, "enabled", active="P", topic_ids={"P": {"T": "new"}})])
    assert (state.active, state.topic_ids) == ("B", {"P": {"T": "new"}})


def test_disabling_keeps_where_the_applications_live() -> None:
    state = fold([*LIFE, event(3, 0, "disabled")])
    assert (state.enabled, state.active) == (False, "B")


@pytest.mark.parametrize("kind", ["phase", "pnr", "ended"])
def test_events_of_a_run_that_was_overtaken_change_nothing(kind: str) -> None:
    newer = event(3, 0, "started", "r3", **BACK)
    late = event(4, 0, kind, "r2", phase="x", result="late")
    assert fold([*LIFE, newer, late]).as_dict() == {**fold([*LIFE, newer]).as_dict(), "epoch": 4}


def test_every_kind_of_event_can_be_folded() -> None:
    data = {"active": "P", **THERE, "phase": "x"}
    for kind in KINDS:
        fold([event(1, 0, kind, "r", **data)])


# ---- copies


def test_order_is_by_epoch_then_sequence_however_the_copies_were_written() -> None:
    assert merge([[ENDED, PNR], [STARTED, ENABLED, BARRIER]]) == LIFE


def test_an_event_in_both_copies_counts_once() -> None:
    assert merge([LIFE, LIFE]) == LIFE
    assert merge([]) == []


@given(st.lists(st.sampled_from(["first", "second", "both"]), min_size=len(LIFE), max_size=len(LIFE)), st.booleans())
def test_the_state_does_not_depend_on_which_copy_missed_what(held: list[str], turned: bool) -> None:
    copies = [
        [one for one, where in zip(LIFE, held, strict=True) if where in (name, "both")] for name in ("first", "second")
    ]
    merged = merge(reversed(copies) if turned else copies)
    assert fold(merged).as_dict() == fold(LIFE).as_dict()


@given(st.permutations(LIFE), st.integers(0, len(LIFE)))
def test_merging_again_changes_nothing(events: list[Event], cut: int) -> None:
    once = merge([events[:cut], events[cut:]])
    assert merge([once, events[:cut]]) == once == LIFE


# ---- runs


@pytest.mark.parametrize(
    ("events", "wanted", "expected"),
    [
        ([ENABLED], THERE, ("new", 2, False)),
        (LIFE, BACK, ("new", 3, False)),
        (LIFE[:2], THERE, ("r2", 2, True)),
        (LIFE[:3], THERE, ("r2", 2, True)),
        (LIFE[:4], THERE, ("r2", 2, True)),  # behind the point of no return it goes on all the same
    ],
)
def test_a_run_begins_or_goes_on(events: list[Event], wanted: dict[str, str], expected: tuple[str, int, bool]) -> None:
    assert begin(fold(events), wanted, "new") == expected


@pytest.mark.parametrize("wanted", [BACK, {**THERE, "type": "continuous"}, {**THERE, "from": "C"}])
def test_another_run_is_refused_while_one_has_not_ended(wanted: dict[str, str]) -> None:
    with pytest.raises(DrError) as refused:
        begin(fold(LIFE[:3]), wanted, "new")
    assert refused.value.code == "run_interrupted"
    assert "r2" in refused.value.message
    assert wanted["type"] in refused.value.message


def test_the_policy_that_the_topics_were_filled_with_is_kept_while_the_pair_is_disabled() -> None:
    enabled = event(1, 0, "enabled", active="P", topic_ids=IDS, policy="identity")
    assert fold([enabled, event(2, 0, "disabled")]).policy == "identity"
    assert fold([ENABLED]).policy is None
