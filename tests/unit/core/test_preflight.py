# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""May a cutover begin? Journal and evidence must agree, and whatever would skip is found before anything moves."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.preflight import (
    initial_offsets,
    judge_cutover,
    judge_disaster,
    on_higher,
    phases_left,
    run_outlook,
    unfit,
    written_after_barrier,
)
from ansible_collections.switchback.kafka_dr.plugins.modules import dr_judge
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module

RUN = {
    "id": "r1",
    "type": "cutoff",
    "from": "P",
    "to": "B",
    "pnr": None,
    "ended": None,
    "replaces_passed_run": False,
    "phases": {},
}


def flow(source: str, target: str, verdict: str = "PROVEN", **parts: Any) -> dict[str, Any]:
    name = f"{source}->{target}"
    return {
        "name": name,
        "source": source,
        "target": target,
        "verdict": verdict,
        "reason": "because",
        "partitions": [],
        **parts,
    }


def group(alias: str, state: str = "EMPTY", commit: int | None = 5, read: bool | None = True) -> dict[str, Any]:
    return {
        "group": "g",
        "alias": alias,
        "state": state,
        "members": "" if state == "EMPTY" else "app-1 on 10.0.0.7",
        "topic": "T",
        "partition": 0,
        "commit": commit,
        "read_to_end": read,
    }


def status(*groups: dict[str, Any], **parts: Any) -> dict[str, Any]:
    base = {
        "flows": [flow("P", "B"), flow("B", "P")],
        "groups": list(groups),
        "missing": [],
        "undeclared_topics": [],
    } | {"out_of_scope": []}
    return {**base, **parts}


def journal(active: str = "P", run: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"active": active, "run": run, "interrupted": run is not None and run["ended"] is None}


def test_a_sound_pair_may_move() -> None:
    judged = judge_cutover(status(group("P", "STABLE", 5, None), group("B")), journal(), "cutoff", "B")
    assert (judged["already"], judged["problems"]) == (False, [])
    assert "live on P and move to B" in judged["text"]


@pytest.mark.parametrize(
    ("seen", "said"),
    [
        (status(flows=[flow("P", "B", "REFUTED"), flow("B", "P")]), "The flow P->B is REFUTED: because"),
        (status(flows=[flow("P", "B"), flow("B", "P", "UNKNOWN")]), "The flow B->P is UNKNOWN: because"),
        (status(missing=['P->B: the replica topic "P.T" does not exist yet']), '"P.T" does not exist yet'),
        (status(group("B", "STABLE")), "These groups already have members on B: g (app-1 on 10.0.0.7)."),
        (status(group("B", "UNKNOWN")), "These groups already have members on B: g (app-1 on 10.0.0.7)."),
        (status(group("P", commit=None, read=None)), "no position on P T-0"),
        (
            status(undeclared_topics=[{"group": "g", "alias": "P", "topics": ["Other"]}]),
            '"g" also reads Other on P, which the inventory does not list',
        ),
        (
            status(out_of_scope=[{"group": "g", "alias": "B", "topic": "P.U", "evidence": "committed offset 3"}]),
            'The group "g" uses the topic "P.U" on B (committed offset 3)',
        ),
    ],
)
def test_what_cannot_go_well_is_named_before_anything_moves(seen: dict[str, Any], said: str) -> None:
    """R8."""
    judged = judge_cutover(seen, journal(), "cutoff", "B")
    text = " ".join(judged["problems"])
    assert said in text
    assert "Nothing was changed" not in text  # the playbook says it, once


@pytest.mark.parametrize(
    "row",
    [
        group("P", commit=None, read=True),  # never written: the first position is 0, whoever asks
        group("B", commit=None, read=None),  # the side being entered gets its positions by translation
    ],
)
def test_a_position_that_nobody_needs_is_not_asked_for(row: dict[str, Any]) -> None:
    assert judge_cutover(status(row), journal(), "cutoff", "B")["problems"] == []


def test_a_reason_that_is_already_told_is_not_told_twice() -> None:
    seen = status(flows=[flow("P", "B", "REFUTED"), flow("B", "P")], missing=["P->B: because"])
    assert judge_cutover(seen, journal(), "cutoff", "B")["problems"][:-1] == ["P->B: because."]


def test_at_most_eight_problems_are_shown() -> None:
    judged = judge_cutover(status(missing=[f"text {n}" for n in range(20)]), journal(), "cutoff", "B")
    assert len(judged["problems"]) == 7
    assert "switchback.kafka_dr.enable" in judged["problems"][-1]


@pytest.mark.parametrize(
    ("active", "run"),
    [
        ("P", None),
        ("B", None),  # not even where nothing is to be done
        ("P", {**RUN, "type": "continuous"}),
    ],
)
def test_under_identity_a_continuous_cutover_is_refused(active: str, run: dict[str, Any] | None) -> None:
    """R22: flow and producers would write into the same partitions, and no cut tells their records apart."""
    judged = judge_cutover(status(), journal(active, run), "continuous", "B", "identity")
    assert (judged["already"], judged["verdict"]) == (False, "UNKNOWN")
    assert 'The type "continuous" cannot be used with the policy "identity"' in judged["problems"][0]


@pytest.mark.parametrize(("kind", "policy"), [("cutoff", "identity"), ("cutoff", "default"), ("continuous", "default")])
def test_every_other_combination_is_not(kind: str, policy: str) -> None:
    judged = judge_cutover(status(group("P", "STABLE", 5, None)), journal(), kind, "B", policy)
    assert (judged["already"], judged["problems"]) == (False, [])


def test_under_identity_everything_else_is_judged_alike() -> None:
    seen = status(flows=[flow("P", "B", "REFUTED")])
    assert judge_cutover(seen, journal(), "cutoff", "B", "identity") == judge_cutover(seen, journal(), "cutoff", "B")
    assert judge_cutover(status(), journal("B"), "cutoff", "B", "identity")["already"] is True


# ---- already there


@pytest.mark.parametrize("groups", [(group("B", "STABLE"),), (group("P"), group("B", "STABLE"))])
def test_already_there_and_a_group_at_work_is_proven(groups: tuple[dict[str, Any], ...]) -> None:
    """R18."""
    judged = judge_cutover(status(*groups), journal("B"), "cutoff", "B")
    assert (judged["already"], judged["problems"], judged["verdict"]) == (True, [], "PROVEN")
    assert "nothing is to be done" in judged["text"]


@pytest.mark.parametrize("groups", [(), (group("B"),), (group("P"), group("B", "DEAD"))])
def test_already_there_by_the_journal_alone_is_unknown(groups: tuple[dict[str, Any], ...]) -> None:
    """R18: a journal is no evidence from the clusters."""
    judged = judge_cutover(status(*groups), journal("B"), "cutoff", "B")
    assert (judged["already"], judged["problems"], judged["verdict"]) == (True, [], "UNKNOWN")
    assert "no group has members" in judged["text"]


def test_already_there_but_with_members_on_the_other_side_is_an_error() -> None:
    """R18: the journal is not believed against what the clusters show."""
    judged = judge_cutover(status(group("P", "STABLE")), journal("B"), "cutoff", "B")
    assert "live on B, but these groups have members on P: g (app-1 on 10.0.0.7)." in judged["problems"][0]


# ---- an interrupted run


def test_the_same_run_goes_on_whatever_the_clusters_look_like_in_the_middle_of_it() -> None:
    seen = status(group("B", "STABLE"), flows=[flow("P", "B", "REFUTED"), flow("B", "P")])
    judged = judge_cutover(seen, journal("P", RUN), "cutoff", "B")
    assert (judged["already"], judged["problems"]) == (False, [])
    assert "r1 was interrupted and goes on" in judged["text"]


@pytest.mark.parametrize(("kind", "to"), [("continuous", "B"), ("cutoff", "P")])
def test_another_run_waits_until_the_unfinished_one_has_ended(kind: str, to: str) -> None:
    judged = judge_cutover(status(), journal("P", RUN), kind, to)
    assert "The cutoff run r1 to B has not ended" in judged["problems"][0]


def test_an_interrupted_run_that_has_passed_its_point_of_no_return_is_not_taken_for_finished() -> None:
    judged = judge_cutover(status(), journal("B", {**RUN, "pnr": 1.0}), "cutoff", "B")
    assert judged["already"] is False


# ---- first positions


@pytest.mark.parametrize(
    ("row", "given"),
    [
        (group("P", commit=None, read=True), True),
        (group("P", "DEAD", commit=None, read=True), True),
        (group("P", commit=None, read=None), False),  # something was written: only its owner can say
        (group("P", commit=None, read=False), False),
        (group("P", commit=3, read=True), False),
        (group("P", "STABLE", commit=None, read=True), False),  # it commits for itself
        (group("B", commit=None, read=True), False),
    ],
)
def test_a_first_position_is_given_only_where_nothing_was_ever_written(row: dict[str, Any], given: bool) -> None:
    """R8."""
    committed_offsets = [{"topic": "T", "partition": 0, "offset": 0}]
    assert initial_offsets(status(row), "P") == (
        [{"group": "g", "committed_offsets": committed_offsets}] if given else []
    )


# ---- phases


PHASES = {
    "cutoff": ["stop_producers", "drain", "barrier", "committed_offsets", "start", "arrival", "flows"],
    "continuous": ["stop_consumers", "follow", "start_consumers", "move_producers", "arrival"],
}


@pytest.mark.parametrize(
    ("kind", "pnr", "first"),
    [
        ("cutoff", None, "stop_producers"),
        ("cutoff", 12.0, "start"),
        ("continuous", None, "stop_consumers"),
        ("continuous", 12.0, "move_producers"),
        ("cutoff", 0.0, "start"),
    ],
)
def test_behind_the_point_of_no_return_no_earlier_phase_is_done_again(kind: str, pnr: float | None, first: str) -> None:
    """R16: nothing is undone or repeated behind it."""
    left = phases_left(PHASES[kind], {**RUN, "pnr": pnr})
    assert left == PHASES[kind][PHASES[kind].index(first) :]


# ---- writers behind the barrier


@pytest.mark.parametrize(
    ("end", "ends", "expected"),
    [
        (10, {"T": {"0": 10}}, []),
        (13, {"T": {"0": 10}}, ["P T-0: 3 offsets"]),
        (None, {"T": {"0": 10}}, []),
        (13, {}, []),
    ],
)
def test_whoever_still_writes_on_the_side_that_was_left_is_seen(
    end: int | None, ends: dict[str, dict[str, int]], expected: list[str]
) -> None:
    seen = status(flows=[flow("P", "B", partitions=[{"topic": "T", "partition": 0, "end": end}])])
    assert written_after_barrier(seen, ends) == expected


# ---- disasters

DEAD = {"answers": False, "reason": "no answer within 3 s", "seconds": 3.0, "locked_out": False}
ALIVE = {"answers": True, "reason": "it responds", "seconds": 0.1, "locked_out": False}
CLOSED = {"answers": False, "reason": "(certificate has expired).", "seconds": 3.0, "locked_out": True}
LOST = {**RUN, "type": "disaster"}
HIDDEN = {"group": "g", "alias": "B", "topic": "U", "evidence": "committed offset 3 on partition 0"}


def observe(
    *probes: dict[str, Any], busy: tuple[str, ...] = (), hidden: tuple[dict[str, Any], ...] = ()
) -> dict[str, Any]:
    members = dict.fromkeys(busy, "app-1 on 10.0.0.7")
    seen = {"probes": list(probes), "active_groups": list(busy), "active_members": members}
    return {**seen, "out_of_scope": list(hidden)}


@pytest.mark.parametrize(
    ("seen", "state", "already", "problem", "text"),
    [
        (observe(DEAD), journal(), False, "", "lived on P and move to B"),
        (observe(ALIVE, ALIVE), journal(), False, "a planned failover is possible", ""),
        (observe(ALIVE, DEAD), journal(), False, "", "lived on P"),
        (observe(CLOSED), journal(), False, "nobody knows whether it is lost: (certificate has expired).", ""),
        (observe(ALIVE, CLOSED), journal(), False, "nobody knows whether it is lost", ""),
        (observe(DEAD, busy=("g",)), journal(), False, "already have members on B: g (app-1 on 10.0.0.7)", ""),
        (observe(DEAD, hidden=(HIDDEN,)), journal(), False, '"g" uses the topic "U" on B (committed offset 3', ""),
        (observe(DEAD, hidden=(HIDDEN,)), journal(run=LOST), False, "", "was interrupted and goes on"),
        (observe(DEAD, busy=("g",)), journal("B"), True, "", "(g at work)"),
        (observe(DEAD), journal("B"), True, "", "nothing proves it"),
        (observe(DEAD, busy=("g",)), journal(run=LOST), False, "", "was interrupted and goes on"),
        (observe(DEAD, busy=("g",)), journal(run=RUN), False, "", "takes its place"),
        (observe(DEAD), journal("B", {**RUN, "pnr": 1.0}), False, "", "this one ends it"),
    ],
)
def test_whether_a_disaster_may_begin(
    seen: dict[str, Any], state: dict[str, Any], already: bool, problem: str, text: str
) -> None:
    judged = judge_disaster(seen, state, "B")
    assert judged["already"] is already
    assert problem in " ".join(judged["problems"])
    assert bool(judged["problems"]) is bool(problem)
    assert text in judged["text"]


def test_a_healthy_side_is_left_only_if_that_is_said() -> None:
    assert judge_disaster(observe(ALIVE, ALIVE), journal(), "B", anyway=True)["problems"] == []
    assert judge_disaster(observe(CLOSED), journal(), "B", anyway=True)["problems"] == []


LOST_PHASES = ["stop_consumers", "survey", "committed_offsets", "start_consumers", "move_producers", "arrival", "flows"]
AGAIN = ["start_consumers", "move_producers", "arrival", "flows"]


@pytest.mark.parametrize(
    ("run", "left"),
    [
        (LOST, LOST_PHASES),
        ({**LOST, "pnr": 1.0}, AGAIN[1:]),
        # Behind another run's point of no return positions are not touched again, also when it is killed itself.
        ({**LOST, "replaces_passed_run": True, "phases": {"barrier": {}}}, AGAIN),
        ({**LOST, "replaces_passed_run": True, "phases": {"barrier": {}}, "pnr": 1.0}, AGAIN[1:]),
        # Nothing says from where on writes are the first ones.
        ({**LOST, "replaces_passed_run": True}, ["start_consumers", "move_producers", "flows"]),
    ],
)
def test_what_a_disaster_has_still_to_do(run: dict[str, Any], left: list[str]) -> None:
    assert phases_left(LOST_PHASES, run) == left


def test_applications_that_live_there_already_are_not_set_back() -> None:
    passed = judge_disaster(observe(DEAD), journal("B", {**RUN, "pnr": 1.0}), "B")
    leaving = judge_disaster(observe(DEAD), journal("B", {**RUN, "from": "B", "to": "P"}), "B")
    assert (passed["replaces_passed_run"], "had passed" in passed["text"]) == (True, True)
    assert (leaving["replaces_passed_run"], "was about to leave B" in leaving["text"]) == (True, True)
    assert judge_disaster(observe(DEAD), journal("B", {**LOST, "pnr": 1.0}), "B")["replaces_passed_run"] is False


def test_a_flow_that_does_not_fit_its_source_is_named() -> None:
    rows = [
        {"topic": "T", "partition": 0, "fits": "PROVEN", "fits_reason": "inside"},
        {"topic": "T", "partition": 1, "fits": "REFUTED", "fits_reason": "past the end"},
        {"topic": "T", "partition": 2, "fits": "UNKNOWN", "fits_reason": "not known"},
    ]
    assert unfit(status(flows=[flow("P", "B", partitions=rows)])) == [
        "P->B T-1: past the end",
        "P->B T-2: not known",
    ]


def test_a_group_that_never_read_is_refused_by_name() -> None:
    """It has no rows, so that nothing else would see it; a run that goes on has long looked."""
    judged = judge_cutover(status(group("P")), journal(), "cutoff", "B", groups=["g", "new"])
    assert ['"new" has no position on any' in text for text in judged["problems"]] == [True]
    assert judge_cutover(status(), journal("P", RUN), "cutoff", "B", groups=["new"])["problems"] == []


def begun(kind: str, *phases: str, following: list[str] | None = None) -> dict[str, Any]:
    """A run of the journal that has noted ``phases``; ``preexisting_higher_offsets``: who was ahead of it at the
    barrier.
    """
    facts = {"barrier": {"preexisting_higher_offsets": [] if following is None else following}}
    return {"type": kind, "phases": {phase: facts.get(phase, {}) for phase in phases}}


@pytest.mark.parametrize(
    ("run", "asked", "done"),
    [
        (begun("cutoff"), "auto", "fail"),
        (begun("continuous"), "auto", "fail"),
        (begun("disaster"), "auto", "lower"),
        # A killed run goes on: that nobody was ahead at its barrier does not say who has moved a position since.
        (begun("cutoff", "barrier"), "auto", "fail"),
        (begun("continuous", "barrier"), "auto", "fail"),
        (begun("disaster", "barrier"), "auto", "lower"),
        # Its own consumers may have.
        (begun("continuous", "barrier", "start_consumers"), "auto", "keep"),
        (begun("disaster", "barrier", "start_consumers"), "auto", "keep"),
        # Whoever was ahead before they started still is.
        (begun("continuous", "barrier", "start_consumers", following=["g T-0"]), "auto", "fail"),
        (begun("disaster", "barrier", "start_consumers", following=["g T-0"]), "auto", "lower"),
        (begun("continuous", "start_consumers"), "auto", "fail"),
        (begun("cutoff"), "keep", "keep"),
        (begun("disaster", "barrier"), "fail", "fail"),
        (begun("continuous", "barrier", "start_consumers"), "lower", "lower"),
    ],
)
def test_a_higher_position_is_kept_only_where_this_run_s_own_consumers_may_have_read(
    run: dict[str, Any], asked: str, done: str
) -> None:
    """R6: else it is somebody else's, and would skip."""
    assert on_higher(run, asked) == done
    assert run_outlook({**RUN, **run}, asked, "localhost")["on_higher"] == done


def test_a_run_that_is_in_the_way_is_named_with_its_whole_commands() -> None:
    """Whoever copies them at night must not have to add the application."""
    run = {**RUN, "pair": "B-P.payments"}
    (problem,) = judge_cutover(status(), journal("P", run), "continuous", "B")["problems"]
    for name, side in (
        ("failover_cutoff", "-e kafka_dr_to=B -e kafka_dr_confirm=B"),
        ("abandon", "-e kafka_dr_confirm=P"),
    ):
        command = f"ansible-playbook switchback.kafka_dr.{name} -i INVENTORY {side} -e kafka_dr_application=payments"
        assert command in problem


def test_the_outlook_of_a_run_has_what_the_next_tasks_need() -> None:
    run = {**RUN, "pair": "B-P", "pnr": 1.0}
    found = run_outlook(run, "auto", "dr1")
    assert found["phases_left"] == ["start", "arrival", "flows", "settled"]
    assert found["resume_command"].endswith("-e kafka_dr_run_on=dr1")
    assert found["resume_command"] in found["unfinished_run"]
    assert run_outlook({**run, "ended": 2.0}, "auto", "dr1")["unfinished_run"] == ""
    assert run_outlook(None, "auto", "dr1") == {
        "phases_left": [],
        "on_higher": "",
        "resume_command": "",
        "unfinished_run": "",
    }


def test_a_judgement_is_the_same_through_the_module() -> None:
    facts = {"status": status(), "state": journal(), "type": "cutoff", "to": "B", "policy": "default", "groups": ["g"]}
    direct = judge_cutover(status(), journal(), "cutoff", "B", groups=["g"])
    assert direct["problems"]
    assert run_module(dr_judge, {"kind": "cutover", "facts": facts})["judgement"] == direct
    lost = {"survey": observe(ALIVE, ALIVE), "state": journal(), "to": "B", "anyway": False}
    refused = judge_disaster(observe(ALIVE, ALIVE), journal(), "B")
    assert refused["problems"]
    assert run_module(dr_judge, {"kind": "disaster", "facts": lost})["judgement"] == refused
