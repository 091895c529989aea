# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The journal folds into one state, no matter which copy misses which events (R25)."""

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
    decoded,
    encode,
    merge,
    missing_facts,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.journal.facts import JournalFacts, OwnOffsets
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.journal.run_rules import (
    begin,
    require_holder_generation,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.journal.state import fold
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.bindings import Bound, Witness
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.tenures import tenures
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition

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


# ---- serialization


def test_an_event_has_a_fixed_form_with_its_schema() -> None:
    assert json.loads(encode("B-P", BARRIER)) == {
        "schema": 2,
        "pair": "B-P",
        "epoch": 2,
        "seq": 1,
        "run": "r2",
        "time": 2001.0,
        "kind": "phase",
        "data": {"phase": "barrier", "facts": CUT},
    }


@pytest.mark.parametrize("one", LIFE, ids=lambda one: str(one.kind))
def test_a_written_event_is_read_back_unchanged(one: Event) -> None:
    pair, found = decode(encode("B-P", one))
    assert pair == "B-P"
    assert dataclasses.asdict(found) == dataclasses.asdict(one)


def test_the_copies_of_a_journal_share_events_which_no_state_changes() -> None:
    """A record is decoded once for all copies, and a module folds the events several times."""
    values = [encode("B-P", one) for one in ROUND_TRIP] + [encode("other", ENABLED)]
    first, second = decoded(values, "B-P"), decoded([bytes(bytearray(value)) for value in values], "B-P")
    assert [id(one) for one in first] == [id(one) for one in second]
    assert len(first) == len(ROUND_TRIP)
    assert fold(first).as_dict() == fold(second).as_dict()
    assert [encode("B-P", one) for one in first] == values[:-1]


def test_a_newer_schema_is_refused_with_the_next_step() -> None:
    body = {**json.loads(encode("B-P", ENABLED)), "schema": SCHEMA + 1}
    with pytest.raises(DrError) as refused:
        decode(json.dumps(body).encode())
    assert refused.value.code == "journal_newer"
    assert f"schema {SCHEMA + 1}" in refused.value.message
    assert "newer release" in refused.value.hint


def test_a_newer_schema_is_recognised_even_if_the_rest_is_unreadable() -> None:
    with pytest.raises(DrError) as refused:
        decode(b'{"schema": 9, "events": []}')
    assert refused.value.code == "journal_newer"


def test_an_older_schema_is_refused_because_its_facts_have_other_names() -> None:
    body = {**json.loads(encode("B-P", STARTED)), "schema": 1}
    with pytest.raises(DrError) as refused:
        decode(json.dumps(body).encode())
    assert refused.value.code == "journal_older"
    assert f"schema 1, which no release wrote. This collection supports schema {SCHEMA}" in refused.value.message
    assert "run the playbook enable" in refused.value.hint


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
        b'{"schema": 2}',
        *(json.dumps({key: GOOD[key] for key in GOOD if key != gone}).encode() for gone in GOOD),
        json.dumps({**GOOD, "kind": "surprise"}).encode(),
        json.dumps({**GOOD, "data": {}}).encode(),
        json.dumps({**GOOD, "kind": "started", "data": {"type": "cutoff"}}).encode(),
    ],
)
def test_a_record_that_is_not_an_event_is_refused_and_never_skipped(value: bytes) -> None:
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
def test_an_event_without_its_required_facts_is_refused(kind: str, data: dict[str, Any], missing: list[str]) -> None:
    assert missing_facts(kind, data) == missing


# ---- the state


def test_an_empty_journal_has_an_unknown_state() -> None:
    state = fold([])
    assert (state.active, state.enabled, state.run, state.epoch, state.interrupted) == (None, False, None, 0, False)


def test_the_states_of_a_run_from_start_to_end() -> None:
    seen = []
    for length in range(1, len(LIFE) + 1):
        state = fold(LIFE[:length])
        seen.append((state.active, state.interrupted))
    # The applications live on the new cluster from exactly the point of no return on.
    assert seen == [("P", False), ("P", True), ("P", True), ("B", True), ("B", False)]
    run = fold(LIFE).as_dict()["run"]
    assert (run["id"], run["epoch"], run["type"], run["from"], run["to"]) == ("r2", 2, "cutoff", "P", "B")
    assert (run["started"], run["pnr"], run["ended"], run["result"]) == (2000.0, 2002.0, 2003.0, "completed")
    assert run["phases"] == {"barrier": {"time": 2001.0, **CUT}}
    keys = "id epoch type from to policy holder resumed started replaces_passed_run "
    keys += "phases drop options pnr pnr_holder_generation left_at ended result"
    assert list(run) == keys.split()


def test_the_barrier_is_kept_for_the_cluster_that_was_left() -> None:
    """R7 and R22: the way back needs the committed offsets and the cut, long after the run."""
    state = fold([*LIFE, event(3, 0, "started", "r3", **BACK)])
    assert state.left == {"P": {"time": 2001.0, **CUT}}
    assert state.as_dict()["left"]["P"]["committed_offsets"] == CUT["committed_offsets"]


def test_a_disaster_leaves_a_cut_until_the_flow_back_is_seeded() -> None:
    passed = [ENABLED, event(2, 0, "started", "r2", **LOST), BARRIER, PNR]
    seeded = event(2, 3, "phase", "r2", phase="seeded", facts={"flow": "B->P"})
    assert fold([*passed, ENDED]).unseeded_cut == {"time": 2001.0, **CUT}
    assert fold([*passed, seeded]).unseeded_cut is None
    assert fold(passed[:-1]).unseeded_cut is None
    # A planned cutover seeds the flow itself.
    assert fold(LIFE).unseeded_cut is None


def test_the_end_of_the_checkpoints_of_a_lost_cluster_is_known_once_it_is_enabled_again() -> None:
    """R43: until then, no clock decides whether a checkpoint there is older than the disaster."""
    lost = [event(2, 0, "started", "r2", **LOST), event(2, 1, "phase", "r2", phase="barrier", facts={"disaster": True})]
    passed = [ENABLED, *lost, PNR, ENDED]
    assert JournalFacts.toward(fold([ENABLED]), "P").own == OwnOffsets()
    own = JournalFacts.toward(fold(passed), "P").own
    assert (own.left, own.checkpoints) == (True, None)
    passed.append(event(3, 0, "enabled", active="P", topic_ids=IDS, checkpoints={"P": [41, "c"], "B": [7, "d"]}))
    assert JournalFacts.toward(fold(passed), "P").own.checkpoints == (41, "c")
    assert "B" not in fold(passed).left
    # Later ones are since the disaster.
    passed.append(event(4, 0, "enabled", active="P", topic_ids=IDS, checkpoints={"P": [90, "c"]}))
    assert JournalFacts.toward(fold(passed), "P").own.checkpoints == (41, "c")


def test_only_an_exact_offset_shows_where_a_group_arrived() -> None:
    """R39: with an inexact one, the group may have been set back without a trace."""
    rows = [{"topic": "B.T", "partition": number, "offset": 15 + number} for number in (0, 1)]
    facts = {**CUT, "entered": [{"group": "g", "committed_offsets": rows}], "bound": {"T": {"0": [[4, 1, "digest"]]}}}
    own = OwnOffsets.of({**facts, "inexact": [["g", "B.T", 1]]})
    assert [own.arrival("g", Partition("B.T", number)) for number in (0, 1, 2)] == [15, None, None]
    assert own.bound_offset("g", Partition("T", 0)) == Bound(Partition("T", 0), 5, (Witness(4, 1, "digest"),))
    assert own.bound_offset("g", Partition("T", 1)) is None
    # Facts of which it is unknown which offsets were exact show none.
    assert OwnOffsets.of(facts).arrival("g", Partition("B.T", 0)) is None


def test_the_ends_of_a_disaster_are_lower_bounds_until_they_are_found_by_content() -> None:
    """R45: the flow stored 99, and had replicated 160 records of partition 0. The end of partition 1 is not found."""
    lost = {**LOST, "policy": "identity"}
    facts = {"disaster": True, "ends": {"T": {"0": 100, "1": 7}}, "cut": {"T": {"0": 160, "1": 9}}}
    passed = [
        ENABLED,
        event(2, 0, "started", "r2", **lost),
        event(2, 1, "phase", "r2", phase="barrier", facts=facts),
        PNR,
        ENDED,
    ]
    assert [(one["disaster"], one.get("found")) for one in fold(passed).cuts] == [(True, None)]
    resumed, found = {"T": {"0": 180, "1": 9}}, {"T": {"0": 160}}
    seeded = {"flow": "B->P", "cut": facts["cut"], "resumed": resumed, "found": found}
    state = fold([*passed, event(2, 4, "phase", "r2", phase="seeded", facts=seeded)])
    (cut,) = state.cuts
    assert (cut["ends"], cut["found"], cut["resumed"]) == (facts["ends"], found, resumed)
    assert state.left["P"]["ends"] == {"T": {"0": 160, "1": 7}}
    assert dict(tenures(state.cuts, "B", "P")[0].at_least) == {("T", 1): 7}


def test_a_run_undone_before_the_point_of_no_return_leaves_no_trusted_offsets() -> None:
    state = fold([ENABLED, STARTED, BARRIER, dataclasses.replace(ENDED, data={"result": "undone"})])
    assert (state.active, state.left, state.interrupted) == ("P", {}, False)


def test_enabling_again_does_not_move_the_applications() -> None:
    state = fold([*LIFE, event(3, 0, "enabled", active="P", topic_ids={"P": {"T": "new"}})])
    assert (state.active, state.topic_ids) == ("B", {"P": {"T": "new"}})


def test_the_names_that_joined_with_the_newest_enable_count() -> None:
    assert fold([ENABLED]).topics is None
    joined = [event(2, 0, "enabled", active="P", topic_ids=IDS, topics={"T": 3}, groups=["g"])]
    assert (fold([ENABLED, *joined]).topics, fold([ENABLED, *joined]).groups) == ({"T": 3}, ["g"])
    later = event(3, 0, "enabled", active="P", topic_ids=IDS, topics={"T": 3, "U": 1}, groups=[])
    for last in (event(4, 0, "disabled"), event(4, 0, "replaced", alias="B")):
        state = fold([ENABLED, *joined, later, last])
        assert (state.topics, state.groups) == ({"T": 3, "U": 1}, [])


def test_disabling_keeps_the_active_cluster() -> None:
    state = fold([*LIFE, event(3, 0, "disabled")])
    assert (state.enabled, state.active) == (False, "B")


def test_a_point_of_no_return_in_one_copy_is_void_once_the_run_is_undone() -> None:
    """One copy has it, and the write to the other failed.

    The controller never went on and started the old cluster's clients.
    """
    undoing, undone = event(2, 4, "undoing", "r2"), event(2, 5, "ended", "r2", result="undone")
    state = fold([ENABLED, STARTED, BARRIER, PNR, undoing])
    assert state.run is not None
    assert (state.active, state.left, state.run.passed, state.run.left_at) == ("P", {}, None, None)
    # Started again, the run goes through all phases, because the old cluster's clients run.
    assert state.interrupted
    again = fold([ENABLED, STARTED, BARRIER, PNR, undoing, undone, event(3, 0, "enabled", active="P", topic_ids=IDS)])
    assert (again.active, again.left, again.interrupted) == ("P", {}, False)
    # The entry of another tenure is unchanged.
    home = [event(3, 0, "started", "r3", **BACK), event(3, 1, "phase", "r3", phase="barrier", facts={"cut": {}})]
    # Before its own, nothing of an earlier run is void.
    early = fold([*LIFE, event(3, 0, "started", "r3", **BACK), event(3, 1, "undoing", "r3")])
    assert (early.active, early.left, early.tenure) == ("B", fold(LIFE).left, 2)
    back = [*LIFE, *home, event(3, 2, "pnr", "r3"), event(3, 4, "undoing", "r3")]
    assert (fold(back).active, fold(back).left) == ("B", fold(LIFE).left)


def test_an_undo_removes_the_offsets_and_the_cut_that_the_point_of_no_return_recorded() -> None:
    """With the policy identity a later flow would start at that cut, after records that it never replicated (R22)."""
    started = event(2, 0, "started", "r2", **THERE, policy="identity")
    facts = {"cut": {"T": {"0": 9}}, "ends": {"T": {"0": 9}}, "committed_offsets": {"g": {"T": {"0": 7}}}}
    passed = [ENABLED, started, event(2, 1, "phase", "r2", phase="barrier", facts=facts), PNR]
    state = fold(passed)
    assert state.left["P"]["committed_offsets"] == facts["committed_offsets"]
    assert [cut["cut"] for cut in state.cuts] == [facts["cut"]]
    undone = fold([*passed, event(2, 3, "undoing", "r2"), event(2, 4, "ended", "r2", result="undone")])
    assert (undone.active, undone.left, undone.cuts) == ("P", {}, [])


EVENTS_OF_A_RUN = {"phase": {"phase": "drain"}, "pnr": {}, "undoing": {}, "ended": {"result": "completed"}}
TAKEN = event(2, 2, "resumed", "r2", holder=None)


@pytest.mark.parametrize("kind", EVENTS_OF_A_RUN)
def test_a_superseded_controller_writes_no_more_events(kind: str) -> None:
    """R25: the run keeps its id when another controller takes it over, and the first controller may wake up."""
    state = fold([ENABLED, STARTED, BARRIER, TAKEN, event(2, 3, "resumed", "r2", holder=None)])
    assert require_holder_generation(state, "r2", kind, EVENTS_OF_A_RUN[kind], 2).id == "r2"
    for generation in (0, 1):
        with pytest.raises(DrError) as refused:
            require_holder_generation(state, "r2", kind, EVENTS_OF_A_RUN[kind], generation)
        assert refused.value.code == "run_superseded"
        assert f"taken over {2 - generation} times" in refused.value.message


@pytest.mark.parametrize("kind", EVENTS_OF_A_RUN)
def test_a_run_that_has_ended_gets_no_more_events(kind: str) -> None:
    with pytest.raises(DrError) as refused:
        require_holder_generation(fold(LIFE), "r2", kind, EVENTS_OF_A_RUN[kind], 0)
    assert refused.value.code == "run_ended"
    # Except for its flow, which is seeded once the lost cluster is back.
    require_holder_generation(fold(LIFE), "r2", "phase", {"phase": "seeded"}, None)


def test_only_the_controller_that_wrote_the_point_of_no_return_may_void_it() -> None:
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
def test_events_of_a_superseded_run_change_nothing(kind: str) -> None:
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
        "partitions": {"T": {"0": "id"}},
    }
    for kind in KINDS:
        fold([event(1, 0, kind, "r", **data)])


def test_each_flow_keeps_the_connector_whose_offsets_it_adopted() -> None:
    """This also holds after the pair was enabled, moved and disabled: the old connector must not run again."""
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
    """The events of a cutover up to the point of no return."""
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
        "bound": {source: {}, target: {}},
        "resumed": None if resumed is None else {"T": {"0": resumed}},
    }


OVER = [*trip(2, "P", "B", 10, 8), seeded(2, 12), event(2, 4, "ended", "r2", result="completed")]
HOME = [*trip(3, "B", "P", 20, 25), seeded(3, 20), event(3, 4, "ended", "r3", result="completed")]
ROUND_TRIP = [ENABLED, *OVER, *HOME]


def test_the_cut_is_known_only_from_the_point_of_no_return_on() -> None:
    """R22: an undone run must not leave a cut."""
    seen = [fold([ENABLED, *OVER][:length]).cuts for length in range(1, 7)]
    before, after = cut_record("P", "B", 10, 8), cut_record("P", "B", 10, 8, 12)
    assert seen == [[], [], [], [before], [after], [after]]


@pytest.mark.parametrize("policy", [None, "default"])
def test_without_the_policy_identity_there_are_no_cuts(policy: str | None) -> None:
    """Without this policy a topic and its replica have different names."""
    state = fold([ENABLED, *trip(2, "P", "B", 10, 8, policy), seeded(2, 12)])
    assert state.cuts == []
    assert state.left["P"]["ends"] == {"T": {"0": 10}}


def test_the_cuts_are_kept_in_order_and_seeding_only_changes_the_newest() -> None:
    state = fold(ROUND_TRIP)
    assert state.cuts == [cut_record("P", "B", 10, 8, 12), cut_record("B", "P", 20, 25, 20)]
    assert state.active == "P"


def test_the_last_seeding_of_a_resumed_run_counts() -> None:
    again = event(2, 4, "phase", "r2", phase="seeded", facts={"resumed": {"T": {"0": 13}}})
    assert fold([ENABLED, *trip(2, "P", "B", 10, 8), seeded(2, 12), again]).cuts == [cut_record("P", "B", 10, 8, 13)]


@pytest.mark.parametrize(
    "late",
    [
        seeded(4, 99, "r2"),  # An event of a superseded run.
        event(4, 0, "phase", "r3", phase="arrival", facts={"resumed": {"T": {"0": 99}}}),
    ],
)
def test_nothing_else_moves_a_cut(late: Event) -> None:
    assert fold([*ROUND_TRIP, late]).cuts == fold(ROUND_TRIP).cuts


def test_seeding_without_a_cut_changes_nothing() -> None:
    events = trip(2, "P", "B", 10, 8)
    assert fold([ENABLED, events[0], seeded(2, 12)]).cuts == []


def test_a_run_undone_before_the_point_of_no_return_leaves_no_cut() -> None:
    undone = event(2, 3, "ended", "r2", result="undone")
    assert fold([ENABLED, *trip(2, "P", "B", 10, 8)[:2], undone]).cuts == []


def test_the_cuts_in_the_journal_give_the_tenures_of_the_pair() -> None:
    state = fold(ROUND_TRIP).as_dict()
    found = tenures(state["cuts"], state["active"], "B")
    assert [(tenure.source, tenure.first("P", ("T", 0)), tenure.first("B", ("T", 0))) for tenure in found] == [
        ("P", 0, 0),
        ("B", 12, 8),
        ("P", 25, 20),
    ]


def test_folding_changes_no_event() -> None:
    """Events that were read are also written to the copy that misses them."""
    before = [encode("B-P", one) for one in ROUND_TRIP]
    assert fold(ROUND_TRIP).as_dict() == fold(ROUND_TRIP).as_dict()
    assert [encode("B-P", one) for one in ROUND_TRIP] == before


# ---- the policy identity: a pair that was moved by hand

T = ("T", 0)

BY_HAND = cut_record("P", "B", 10, 8, 10)


def test_an_adopted_pair_is_active_where_it_was_moved_and_only_the_end_of_the_earlier_tenure_is_known() -> None:
    state = fold([ENABLED, event(2, 0, "enabled", active="B", adopted=True, topic_ids=IDS, cut_record=BY_HAND)])
    assert state.active == "B"
    assert state.cuts == [{**BY_HAND, "known": False}]
    assert [T in tenure.unknown for tenure in tenures(state.cuts, "B", "P")] == [True, False]


def test_an_adopted_pair_whose_flow_has_stored_offsets_has_no_new_cut() -> None:
    state = fold([*ROUND_TRIP, event(4, 0, "enabled", active="B", adopted=True, topic_ids=IDS, cut_record=None)])
    assert (state.active, state.cuts) == ("B", fold(ROUND_TRIP).cuts)


def test_adopting_keeps_earlier_cuts() -> None:
    state = fold([*ROUND_TRIP, event(4, 0, "enabled", active="B", adopted=True, topic_ids=IDS, cut_record=BY_HAND)])
    assert state.cuts == [*fold(ROUND_TRIP).cuts, {**BY_HAND, "known": False}]


def test_a_cut_found_by_content_counts_although_the_applications_have_not_moved() -> None:
    """The first enable of a pair with a history: an unknown process replicated the records below the cut."""
    found = fold(
        [event(1, 0, "enabled", active="P", adopted=False, topic_ids=IDS, cut_record=cut_record("B", "P", 8, 10, 8))]
    )
    assert found.active == "P"
    assert [T in tenure.unknown for tenure in tenures(found.cuts, "P", "B")] == [True, False]


# ---- the policy identity: topics that were deleted or re-created


def enabled_again(**topics: str) -> Event:
    """Enabled after the round trip, with these topic ids on P. On B nothing has changed."""
    return event(9, 0, "enabled", active="P", topic_ids={"P": {"T": "id-p", **topics}, "B": IDS["B"]})


def test_the_cuts_of_a_topic_that_is_new_to_the_pair_are_dropped() -> None:
    """The topic was re-created or is back in the inventory. The pair did not observe its records from before."""
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


def test_the_cuts_of_other_topics_are_kept() -> None:
    """Otherwise their whole logs would count as the copy of one flow, and lagging groups would skip records."""
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


def test_a_topic_that_did_not_exist_at_a_cutover_has_an_unknown_past() -> None:
    without = trip(4, "P", "B", 1, 1)
    without[1].data["facts"].update({"ends": {"U": {"0": 1}}, "cut": {"U": {"0": 1}}})
    found = tenures(fold([*ROUND_TRIP, *without]).cuts, "B", "P")
    assert [T in tenure.unknown for tenure in found] == [False, False, False, True]


@pytest.mark.parametrize("topics", [{}, {"New": "id-new"}])
def test_adding_a_topic_keeps_the_cuts_of_the_others(topics: dict[str, str]) -> None:
    assert fold([*ROUND_TRIP, enabled_again(**topics)]).cuts == fold(ROUND_TRIP).cuts


def test_removing_a_topic_keeps_the_cuts_of_the_others() -> None:
    both = [enabled_again(Gone="id-gone"), *HOME]
    assert fold([ENABLED, *OVER, *both, enabled_again()]).cuts == fold([ENABLED, *OVER, *both]).cuts


def test_the_start_of_the_offset_syncs_of_the_current_topics_is_kept() -> None:
    since = {"P->B": {"T": 7}, "B->P": {"T": 0}}
    first = event(1, 0, "enabled", active="P", topic_ids=IDS, offset_syncs_start=since)
    assert fold([first, *OVER, *HOME]).offset_syncs_start == since
    assert fold([first, *OVER, event(3, 0, "disabled")]).as_dict()["offset_syncs_start"] == since
    newer = event(3, 0, "enabled", active="P", topic_ids=IDS, offset_syncs_start={"P->B": {"T": 9}})
    assert fold([first, *OVER, newer]).offset_syncs_start == {"P->B": {"T": 9}}
    assert fold([ENABLED]).offset_syncs_start == {}


def test_where_the_checkpoints_of_the_current_topics_start_is_kept() -> None:
    start = {"P->B": {"T": [7, "c"]}}
    first = event(1, 0, "enabled", active="P", topic_ids=IDS, checkpoints_start=start)
    state = fold([first, *OVER, *HOME, event(3, 0, "disabled")])
    assert state.as_dict()["checkpoints_start"] == start
    assert JournalFacts.toward(state, "B").checkpoints_start == {"P->B": {"T": (7, "c")}}
    assert fold([first, event(3, 0, "enabled", active="P", topic_ids=IDS)]).checkpoints_start == {}


# ---- a replaced cluster -------------------


REPLACED = event(3, 0, "replaced", alias="P", unreplicated_below={"B": {"P.T": {"0": 40}}})


def test_a_replaced_cluster_is_forgotten_and_the_active_cluster_is_unchanged() -> None:
    state = fold([*LIFE, REPLACED])
    assert (state.active, state.enabled) == ("B", True)
    assert state.topic_ids == {"B": IDS["B"]}
    assert (state.run, state.cuts, state.offset_syncs_start, state.left) == (None, [], {}, {})
    assert state.unreplicated_below == {"B": {"P.T": {"0": 40}}}


def test_a_replica_that_was_created_again_has_no_records_of_the_replaced_cluster() -> None:
    before = {"P": {"T": "new"}, "B": {**IDS["B"], "P.T": "replica"}}
    enabled = event(2, 5, "enabled", active="B", topic_ids=before)
    again = event(4, 0, "enabled", active="B", topic_ids={**before, "B": {**IDS["B"], "P.T": "another"}})
    same = event(4, 0, "enabled", active="B", topic_ids=before)
    assert fold([*LIFE, enabled, REPLACED, same]).unreplicated_below == {"B": {"P.T": {"0": 40}}}
    assert fold([*LIFE, enabled, REPLACED, again]).unreplicated_below == {"B": {}}


def test_offsets_journaled_on_the_surviving_cluster_stay_valid_but_its_cut_does_not() -> None:
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
    assert state.left == {"B": {"committed_offsets": {"g": {"T": {"0": 8}}}, "time": state.left["B"]["time"]}}


def test_replacing_a_cluster_of_an_identity_pair_drops_its_cuts() -> None:
    events = [dataclasses.replace(one, data={**one.data, "policy": "identity"}) for one in LIFE]
    assert fold(events).cuts
    assert fold([*events, REPLACED]).cuts == []


def test_the_state_of_a_pair_survives_the_journal_and_json() -> None:
    read = [decode(encode("B-P", one))[1] for one in ROUND_TRIP]
    state = fold(read).as_dict()
    assert json.loads(json.dumps(state)) == state == fold(ROUND_TRIP).as_dict()
    assert (state["cuts"], state["run"]["policy"]) == (fold(ROUND_TRIP).cuts, "identity")


# ---- copies


def test_events_are_ordered_by_epoch_and_sequence_no_matter_how_the_copies_were_written() -> None:
    assert merge([[ENDED, PNR], [STARTED, ENABLED, BARRIER]]) == LIFE


def test_an_event_in_both_copies_counts_once() -> None:
    assert merge([LIFE, LIFE]) == LIFE
    assert merge([]) == []


@given(st.lists(st.sampled_from(["first", "second", "both"]), min_size=len(LIFE), max_size=len(LIFE)), st.booleans())
def test_the_state_does_not_depend_on_which_copy_misses_which_events(held: list[str], turned: bool) -> None:
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
        (LIFE[:4], THERE, ("r2", 2, True)),  # After the point of no return the run continues anyway.
    ],
)
def test_a_run_begins_or_resumes(events: list[Event], wanted: dict[str, str], expected: tuple[str, int, bool]) -> None:
    assert begin(fold(events), wanted, "new") == expected


@pytest.mark.parametrize("wanted", [BACK, {**THERE, "type": "continuous"}, {**THERE, "from": "C"}])
def test_another_run_is_refused_while_one_is_unfinished(wanted: dict[str, str]) -> None:
    with pytest.raises(DrError) as refused:
        begin(fold(LIFE[:3]), wanted, "new")
    assert refused.value.code == "run_interrupted"
    assert "r2" in refused.value.message
    assert wanted["type"] in refused.value.message


def test_the_replication_policy_of_the_topics_is_kept_while_the_pair_is_disabled() -> None:
    enabled = event(1, 0, "enabled", active="P", topic_ids=IDS, policy="identity")
    assert fold([enabled, event(2, 0, "disabled")]).policy == "identity"
    assert fold([ENABLED]).policy is None


# ---- disasters


def test_a_disaster_replaces_another_interrupted_run() -> None:
    state = fold([ENABLED, STARTED, BARRIER])
    assert begin(state, LOST, "r3") == ("r3", 3, False)
    again = fold([ENABLED, STARTED, BARRIER, event(3, 0, "started", "r3", **LOST)])
    assert begin(again, LOST, "r4") == ("r3", 3, True)
    with pytest.raises(DrError) as refused:
        begin(again, THERE, "r4")
    assert refused.value.code == "run_interrupted"


def test_a_barrier_journaled_before_a_disaster_still_holds_after_the_point_of_no_return() -> None:
    lost = event(3, 0, "started", "r3", replaces_passed_run=True, **LOST)
    state = fold([ENABLED, STARTED, BARRIER, PNR, lost, event(3, 1, "pnr", "r3")])
    assert (state.active, state.left["P"]["cut"]) == ("B", CUT["cut"])
    assert state.run is not None
    assert (state.run.passed, state.run.replaces_passed_run, state.run.phases["barrier"]["cut"]) == (
        3001.0,
        True,
        CUT["cut"],
    )
    # Since then, only foreign producers wrote on P.
    assert state.run.left_at == PNR.time
    # A seeded flow back is not seeded again, because it has replicated since.
    seeded = event(2, 3, "phase", "r2", phase="seeded", facts={"resumed": {}})
    flows = fold([ENABLED, STARTED, BARRIER, PNR, seeded, lost]).run
    assert flows is not None
    assert sorted(flows.phases) == ["barrier", "seeded"]
    # Nothing is taken from a run to the other cluster.
    back = event(2, 0, "started", "r2", **BACK)
    other = fold([ENABLED, back, BARRIER, event(3, 0, "started", "r3", replaces_passed_run=True, **LOST)])
    assert other.run is not None
    assert other.run.phases == {}


def test_committed_offsets_on_re_created_topics_are_dropped() -> None:
    again = event(3, 0, "enabled", active="B", topic_ids={"P": {"T": "new"}, "B": {"T": "id-b"}})
    assert fold(LIFE).left["P"]["committed_offsets"] == {"g": {"T": {"0": 5}}}
    assert fold([*LIFE, again]).left["P"]["committed_offsets"] == {"g": {}}
    same = event(3, 0, "enabled", active="B", topic_ids=IDS)
    assert fold([*LIFE, same]).left["P"]["committed_offsets"] == {"g": {"T": {"0": 5}}}


def test_diverged_copies_are_refused() -> None:
    here = [ENABLED, event(2, 0, "started", "r2", **LOST)]
    there = [ENABLED, event(2, 0, "started", "r9", type="disaster", **{"from": "B", "to": "P"})]
    with pytest.raises(DrError) as refused:
        merge([here, there])
    assert refused.value.code == "journal_forked"
    with pytest.raises(DrError):
        merge([[ENABLED], [dataclasses.replace(ENABLED, time=1.0)]])
    assert merge([LIFE, LIFE[:2]]) == LIFE
