# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The journal folds into one state, whichever copy missed what (R25)."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.journal.events import (
    KINDS,
    SCHEMA,
    Event,
    decode,
    encode,
    merge,
    missing_facts,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.journal.run_rules import (
    begin,
    require_holder_generation,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.journal.state import fold
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.tenures import tenures

IDS = {"P": {"T": "id-p"}, "B": {"T": "id-b"}}
THERE = {"type": "cutoff", "from": "P", "to": "B"}
BACK = {"type": "cutoff", "from": "B", "to": "P"}
LOST = {"type": "disaster", "from": "P", "to": "B"}
CUT = {"cut": {"T": {"0": 7}}, "committed_offsets": {"g": {"T": {"0": 5}}}}


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
        ("replaced", {}, ["alias"]),
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
    keys = "id epoch type from to policy holder resumed started replaces_passed_run "
    keys += "phases pnr pnr_holder_generation left_at ended result"
    assert list(run) == keys.split()


def test_the_barrier_is_kept_by_the_side_that_was_left() -> None:
    """R7 and R22: positions and the cut are needed on the way back, long after the run."""
    state = fold([*LIFE, event(3, 0, "started", "r3", **BACK)])
    assert state.left == {"P": {"time": 2001.0, **CUT}}
    assert state.as_dict()["left"]["P"]["committed_offsets"] == CUT["committed_offsets"]


def test_a_run_undone_before_the_point_of_no_return_leaves_no_trace_in_what_is_vouched_for() -> None:
    state = fold([ENABLED, STARTED, BARRIER, dataclasses.replace(ENDED, data={"result": "undone"})])
    assert (state.active, state.left, state.interrupted) == ("P", {}, False)


def test_enabling_again_does_not_move_the_applications() -> None:
    state = fold([*LIFE, event(3, 0, "enabled", active="P", topic_ids={"P": {"T": "new"}})])
    assert (state.active, state.topic_ids) == ("B", {"P": {"T": "new"}})


def test_disabling_keeps_where_the_applications_live() -> None:
    state = fold([*LIFE, event(3, 0, "disabled")])
    assert (state.enabled, state.active) == (False, "B")


def test_a_point_of_no_return_that_was_written_in_part_is_void_once_the_run_is_taken_back() -> None:
    """One copy holds it, the other one could not be written: its controller never went on, and started the old side."""
    undoing, undone = event(2, 4, "undoing", "r2"), event(2, 5, "ended", "r2", result="undone")
    state = fold([ENABLED, STARTED, BARRIER, PNR, undoing])
    assert state.run is not None
    assert (state.active, state.left, state.run.passed, state.run.left_at) == ("P", {}, None, None)
    # Started again, it goes through all phases: the old side's clients are at work.
    assert state.interrupted
    again = fold([ENABLED, STARTED, BARRIER, PNR, undoing, undone, event(3, 0, "enabled", active="P", topic_ids=IDS)])
    assert (again.active, again.left, again.interrupted) == ("P", {}, False)
    # What another stay has left is as it was before.
    home = [event(3, 0, "started", "r3", **BACK), event(3, 1, "phase", "r3", phase="barrier", facts={"cut": {}})]
    back = [*LIFE, *home, event(3, 2, "pnr", "r3"), event(3, 4, "undoing", "r3")]
    assert (fold(back).active, fold(back).left) == ("B", fold(LIFE).left)


TURNS = {"phase": {"phase": "drain"}, "pnr": {}, "undoing": {}, "ended": {"result": "completed"}}
TAKEN = event(2, 2, "resumed", "r2", holder=None)


@pytest.mark.parametrize("kind", TURNS)
def test_who_was_overtaken_notes_nothing_more(kind: str) -> None:
    """R25: the run keeps its id when another controller takes it over; the first one may wake up."""
    state = fold([ENABLED, STARTED, BARRIER, TAKEN])
    assert require_holder_generation(state, "r2", kind, TURNS[kind], 1).id == "r2"
    with pytest.raises(DrError) as refused:
        require_holder_generation(state, "r2", kind, TURNS[kind], 0)
    assert refused.value.code == "run_superseded"
    assert "taken over 1 times" in refused.value.message


@pytest.mark.parametrize("kind", TURNS)
def test_a_run_that_has_ended_gets_no_more_events(kind: str) -> None:
    with pytest.raises(DrError) as refused:
        require_holder_generation(fold(LIFE), "r2", kind, TURNS[kind], 0)
    assert refused.value.code == "run_ended"
    # But for its flow, which is armed when the lost side is back.
    require_holder_generation(fold(LIFE), "r2", "phase", {"phase": "seeded"}, None)


def test_only_who_wrote_the_point_of_no_return_may_call_it_void() -> None:
    passed = [ENABLED, STARTED, BARRIER, PNR]
    require_holder_generation(fold(passed), "r2", "undoing", {}, 0)
    taken = fold([*passed, event(2, 3, "resumed", "r2", holder=None)])
    with pytest.raises(DrError) as refused:
        require_holder_generation(taken, "r2", "undoing", {}, 1)
    assert refused.value.code == "run_passed"
    lost = [*passed, event(3, 0, "started", "r3", replaces_passed_run=True, **LOST), event(3, 1, "pnr", "r3")]
    with pytest.raises(DrError) as never:
        require_holder_generation(fold(lost), "r3", "undoing", {}, 0)
    assert never.value.code == "run_passed"


@pytest.mark.parametrize("kind", ["phase", "pnr", "undoing", "ended"])
def test_events_of_a_run_that_was_overtaken_change_nothing(kind: str) -> None:
    newer = event(3, 0, "started", "r3", **BACK)
    late = event(4, 0, kind, "r2", phase="x", result="late")
    assert fold([*LIFE, newer, late]).as_dict() == {**fold([*LIFE, newer]).as_dict(), "epoch": 4}


def test_every_kind_of_event_can_be_folded() -> None:
    data = {
        "active": "P",
        **THERE,
        "phase": "x",
        "alias": "P",
        "held": {},
        "flow": "P->B",
        "connectors": {},
        "offsets": {},
    }
    for kind in KINDS:
        fold([event(1, 0, kind, "r", **data)])


def test_each_flow_knows_whose_offsets_it_took_over() -> None:
    """Also after the pair was enabled, moved and taken down: the old connector must not run again."""
    there = {"flow": "P->B", "connectors": {"source": "legacy"}, "offsets": {"T": {"0": 9}}}
    back = {"flow": "B->P", "connectors": {}, "offsets_topic": "mm2-offsets.B.internal", "offsets": {}}
    first, second = event(1, 0, "adopted", "", **there), event(2, 0, "adopted", "", **back)
    ended = event(4, 0, "disabled", "")
    assert fold([first, second, event(3, 0, "enabled", "", active="P"), ended]).as_dict()["adopted"] == {
        "P->B": there,
        "B->P": back,
    }


# ---- the policy identity: cuts


def trip(epoch: int, source: str, target: str, ends: int, cut: int, policy: str | None = "identity") -> list[Event]:
    """Events of a cutover up to the point of no return."""
    run, given = f"r{epoch}", {"policy": policy} if policy else {}
    facts = {"ends": {"T": {"0": ends}}, "cut": {"T": {"0": cut}}, "committed_offsets": {}}
    return [
        event(epoch, 0, "started", run, type="cutoff", **{"from": source, "to": target}, **given),
        event(epoch, 1, "phase", run, phase="barrier", facts=facts),
        event(epoch, 2, "pnr", run),
    ]


def seeded(epoch: int, resumed: int | None, run: str = "") -> Event:
    facts = {} if resumed is None else {"resumed": {"T": {"0": resumed}}}
    return event(epoch, 3, "phase", run or f"r{epoch}", phase="seeded", facts=facts)


def cut_record(source: str, target: str, ends: int, cut: int, resumed: int | None = None) -> dict[str, Any]:
    return {
        "from": source,
        "to": target,
        "ends": {"T": {"0": ends}},
        "cut": {"T": {"0": cut}},
        "resumed": None if resumed is None else {"T": {"0": resumed}},
    }


OVER = [*trip(2, "P", "B", 10, 8), seeded(2, 12), event(2, 4, "ended", "r2", result="completed")]
HOME = [*trip(3, "B", "P", 20, 25), seeded(3, 20), event(3, 4, "ended", "r3", result="completed")]
ROUND_TRIP = [ENABLED, *OVER, *HOME]


def test_the_cut_is_known_from_the_point_of_no_return_on_and_not_before() -> None:
    """R22."""
    seen = [fold([ENABLED, *OVER][:length]).cuts for length in range(1, 7)]
    before, after = cut_record("P", "B", 10, 8), cut_record("P", "B", 10, 8, 12)
    assert seen == [[], [], [], [before], [after], [after]]


@pytest.mark.parametrize("policy", [None, "default"])
def test_without_the_policy_identity_there_are_no_cuts(policy: str | None) -> None:
    """The two sides of such a pair are other topics."""
    state = fold([ENABLED, *trip(2, "P", "B", 10, 8, policy), seeded(2, 12)])
    assert state.cuts == []
    assert state.left["P"]["ends"] == {"T": {"0": 10}}


def test_the_cuts_are_kept_in_order_and_arming_tells_only_of_the_newest() -> None:
    state = fold(ROUND_TRIP)
    assert state.cuts == [cut_record("P", "B", 10, 8, 12), cut_record("B", "P", 20, 25, 20)]
    assert state.active == "P"


def test_a_run_that_goes_on_and_arms_again_says_the_last_word() -> None:
    again = event(2, 4, "phase", "r2", phase="seeded", facts={"resumed": {"T": {"0": 13}}})
    assert fold([ENABLED, *trip(2, "P", "B", 10, 8), seeded(2, 12), again]).cuts == [cut_record("P", "B", 10, 8, 13)]


@pytest.mark.parametrize(
    "late",
    [
        seeded(4, 99, "r2"),  # of a run that was overtaken
        event(4, 0, "phase", "r3", phase="arrival", facts={"resumed": {"T": {"0": 99}}}),
    ],
)
def test_nothing_else_moves_a_cut(late: Event) -> None:
    assert fold([*ROUND_TRIP, late]).cuts == fold(ROUND_TRIP).cuts


def test_arming_without_a_cut_tells_nothing() -> None:
    events = trip(2, "P", "B", 10, 8)
    assert fold([ENABLED, events[0], seeded(2, 12)]).cuts == []


def test_a_run_undone_before_the_point_of_no_return_leaves_no_cut() -> None:
    undone = event(2, 3, "ended", "r2", result="undone")
    assert fold([ENABLED, *trip(2, "P", "B", 10, 8)[:2], undone]).cuts == []


def test_what_the_journal_holds_are_the_stays_of_the_pair() -> None:
    state = fold(ROUND_TRIP).as_dict()
    found = tenures(state["cuts"], state["active"], "B")
    assert [(tenure.source, tenure.first("P", ("T", 0)), tenure.first("B", ("T", 0))) for tenure in found] == [
        ("P", 0, 0),
        ("B", 12, 8),
        ("P", 25, 20),
    ]


def test_folding_changes_no_event() -> None:
    """What was read is written again to the copy that missed it."""
    before = [encode("B-P", one) for one in ROUND_TRIP]
    assert fold(ROUND_TRIP).as_dict() == fold(ROUND_TRIP).as_dict()
    assert [encode("B-P", one) for one in ROUND_TRIP] == before


# ---- the policy identity: a pair that was moved by hand

T = ("T", 0)

BY_HAND = cut_record("P", "B", 10, 8, 10)


def test_an_adopted_pair_lives_where_it_was_moved_and_only_the_end_of_the_stay_before_is_known() -> None:
    state = fold([ENABLED, event(2, 0, "enabled", active="B", adopted=True, topic_ids=IDS, cut_record=BY_HAND)])
    assert state.active == "B"
    assert state.cuts == [{**BY_HAND, "known": False}]
    assert [T in tenure.unknown for tenure in tenures(state.cuts, "B", "P")] == [True, False]


def test_an_adopted_pair_whose_flow_knew_where_to_go_on_has_no_new_cut() -> None:
    state = fold([*ROUND_TRIP, event(4, 0, "enabled", active="B", adopted=True, topic_ids=IDS, cut_record=None)])
    assert (state.active, state.cuts) == ("B", fold(ROUND_TRIP).cuts)


def test_adopting_keeps_the_cuts_of_before() -> None:
    state = fold([*ROUND_TRIP, event(4, 0, "enabled", active="B", adopted=True, topic_ids=IDS, cut_record=BY_HAND)])
    assert state.cuts == [*fold(ROUND_TRIP).cuts, {**BY_HAND, "known": False}]


def test_a_cut_that_was_found_by_content_counts_although_the_applications_have_not_moved() -> None:
    """The first enable of a pair that has a history: what lies below the cut was copied by somebody, who knows how."""
    found = fold(
        [event(1, 0, "enabled", active="P", adopted=False, topic_ids=IDS, cut_record=cut_record("B", "P", 8, 10, 8))]
    )
    assert found.active == "P"
    assert [T in tenure.unknown for tenure in tenures(found.cuts, "P", "B")] == [True, False]


# ---- the policy identity: topics that are not what they were


def enabled_again(**topics: str) -> Event:
    """Enabled after the round trip, with these ids on P; on B nothing has changed."""
    return event(9, 0, "enabled", active="P", topic_ids={"P": {"T": "id-p", **topics}, "B": IDS["B"]})


def test_the_cuts_of_a_topic_that_is_new_to_the_pair_are_forgotten() -> None:
    """Created again, or back in the inventory: what lay there before, or happened meanwhile, nobody watched."""
    new = {**cut_record("B", "P", 3, 4), "joined": ["T"]}
    state = fold([*ROUND_TRIP, event(4, 0, "enabled", active="P", topic_ids=IDS, cut_record=new)])
    assert [one["ends"] for one in state.cuts] == [{}, {}, {"T": {"0": 3}}]
    found = tenures(state.cuts, "P", "B")
    assert [(tenure.first("P", T), tenure.first("B", T), T in tenure.unknown) for tenure in found] == [
        (0, 0, False),
        (0, 0, False),
        (0, 0, True),
        (4, 3, False),
    ]


def test_the_cuts_of_other_topics_stay() -> None:
    """Else their whole logs would be taken for the copy of one flow, and groups that lag behind would skip."""
    new = {
        **cut_record("B", "P", 3, 4),
        "ends": {"U": {"0": 0}},
        "cut": {"U": {"0": 0}},
        "resumed": None,
        "joined": ["U"],
    }
    state = fold([*ROUND_TRIP, event(4, 0, "enabled", active="P", topic_ids=IDS, cut_record=new)])
    assert state.cuts[:2] == fold(ROUND_TRIP).cuts
    found = tenures(state.cuts, "P", "B")
    assert [(tenure.first("P", T), tenure.first("B", T)) for tenure in found] == [(0, 0), (12, 8), (25, 20), (25, 20)]
    assert [T in tenure.unknown for tenure in found] == [False] * 4


def test_a_topic_that_was_not_there_at_a_cutover_has_an_unknown_past() -> None:
    without = trip(4, "P", "B", 1, 1)
    without[1].data["facts"].update({"ends": {"U": {"0": 1}}, "cut": {"U": {"0": 1}}})
    found = tenures(fold([*ROUND_TRIP, *without]).cuts, "B", "P")
    assert [T in tenure.unknown for tenure in found] == [False, False, False, True]


@pytest.mark.parametrize("topics", [{}, {"New": "id-new"}])
def test_a_topic_that_comes_leaves_the_cuts_of_the_others(topics: dict[str, str]) -> None:
    assert fold([*ROUND_TRIP, enabled_again(**topics)]).cuts == fold(ROUND_TRIP).cuts


def test_a_topic_that_goes_leaves_the_cuts_of_the_others() -> None:
    both = [enabled_again(Gone="id-gone"), *HOME]
    assert fold([ENABLED, *OVER, *both, enabled_again()]).cuts == fold([ENABLED, *OVER, *both]).cuts


def test_where_the_offset_syncs_begin_to_be_about_the_present_topics_is_kept() -> None:
    since = {"P->B": {"T": 7}, "B->P": {"T": 0}}
    first = event(1, 0, "enabled", active="P", topic_ids=IDS, syncs_since=since)
    assert fold([first, *OVER, *HOME]).offset_syncs_start == since
    assert fold([first, *OVER, event(3, 0, "disabled")]).as_dict()["syncs_since"] == since
    newer = event(3, 0, "enabled", active="P", topic_ids=IDS, syncs_since={"P->B": {"T": 9}})
    assert fold([first, *OVER, newer]).offset_syncs_start == {"P->B": {"T": 9}}
    assert fold([ENABLED]).offset_syncs_start == {}


# ---- another cluster in the place of a side


REPLACED = event(3, 0, "replaced", alias="P", only_here={"B": {"P.T": {"0": 40}}})


def test_a_replaced_side_is_forgotten_and_the_applications_stay_where_they_are() -> None:
    state = fold([*LIFE, REPLACED])
    assert (state.active, state.enabled) == ("B", True)
    assert state.topic_ids == {"B": IDS["B"]}
    assert (state.run, state.cuts, state.offset_syncs_start, state.left) == (None, [], {}, {})
    assert state.unreplicated_below == {"B": {"P.T": {"0": 40}}}


def test_positions_that_were_noted_on_the_surviving_side_still_hold_and_its_cut_does_not() -> None:
    home = [
        event(3, 0, "started", "r3", **BACK),
        event(
            3,
            1,
            "phase",
            "r3",
            phase="barrier",
            facts={"cut": {"T": {"0": 9}}, "committed_offsets": {"g": {"T": {"0": 8}}}},
        ),
        event(3, 2, "pnr", "r3"),
        event(3, 3, "ended", "r3", result="completed"),
    ]
    state = fold([*LIFE, *home, event(4, 0, "replaced", alias="P")])
    assert state.left == {"B": {"committed_offsets": {"g": {"T": {"0": 8}}}}}


def test_the_cuts_of_an_identity_pair_were_between_other_clusters() -> None:
    events = [dataclasses.replace(one, data={**one.data, "policy": "identity"}) for one in LIFE]
    assert fold(events).cuts
    assert fold([*events, REPLACED]).cuts == []


def test_the_state_of_a_pair_survives_the_journal_and_json() -> None:
    read = [decode(encode("B-P", one))[1] for one in ROUND_TRIP]
    state = fold(read).as_dict()
    assert json.loads(json.dumps(state)) == state == fold(ROUND_TRIP).as_dict()
    assert (state["cuts"], state["run"]["policy"]) == (fold(ROUND_TRIP).cuts, "identity")


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


# ---- disasters


def test_a_disaster_takes_the_place_of_another_interrupted_run() -> None:
    state = fold([ENABLED, STARTED, BARRIER])
    assert begin(state, LOST, "r3") == ("r3", 3, False)
    again = fold([ENABLED, STARTED, BARRIER, event(3, 0, "started", "r3", **LOST)])
    assert begin(again, LOST, "r4") == ("r3", 3, True)
    with pytest.raises(DrError) as refused:
        begin(again, THERE, "r4")
    assert refused.value.code == "run_interrupted"


def test_what_was_noted_before_a_disaster_behind_the_point_of_no_return_still_holds() -> None:
    lost = event(3, 0, "started", "r3", replaces_passed_run=True, **LOST)
    state = fold([ENABLED, STARTED, BARRIER, PNR, lost, event(3, 1, "pnr", "r3")])
    assert (state.active, state.left["P"]["cut"]) == ("B", CUT["cut"])
    assert state.run is not None
    assert (state.run.passed, state.run.replaces_passed_run, state.run.phases["barrier"]["cut"]) == (
        3001.0,
        True,
        CUT["cut"],
    )
    # Since then whoever wrote on P was alone there.
    assert state.run.left_at == PNR.time
    # A flow back that was armed is not armed once more: it has copied since.
    seeded = event(2, 3, "phase", "r2", phase="seeded", facts={"resumed": {}})
    flows = fold([ENABLED, STARTED, BARRIER, PNR, seeded, lost]).run
    assert flows is not None
    assert sorted(flows.phases) == ["barrier", "seeded"]
    # Of a run to the other side nothing is taken over.
    back = event(2, 0, "started", "r2", **BACK)
    other = fold([ENABLED, back, BARRIER, event(3, 0, "started", "r3", replaces_passed_run=True, **LOST)])
    assert other.run is not None
    assert other.run.phases == {}


def test_positions_on_topics_that_were_created_again_are_forgotten() -> None:
    again = event(3, 0, "enabled", active="B", topic_ids={"P": {"T": "new"}, "B": {"T": "id-b"}})
    assert fold(LIFE).left["P"]["committed_offsets"] == {"g": {"T": {"0": 5}}}
    assert fold([*LIFE, again]).left["P"]["committed_offsets"] == {"g": {}}
    same = event(3, 0, "enabled", active="B", topic_ids=IDS)
    assert fold([*LIFE, same]).left["P"]["committed_offsets"] == {"g": {"T": {"0": 5}}}


def test_copies_that_went_on_without_each_other_are_refused() -> None:
    here = [ENABLED, event(2, 0, "started", "r2", **LOST)]
    there = [ENABLED, event(2, 0, "started", "r9", type="disaster", **{"from": "B", "to": "P"})]
    with pytest.raises(DrError) as refused:
        merge([here, there])
    assert refused.value.code == "journal_forked"
    with pytest.raises(DrError):
        merge([[ENABLED], [dataclasses.replace(ENABLED, time=1.0)]])
    assert merge([LIFE, LIFE[:2]]) == LIFE
