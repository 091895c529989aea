# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a cutover may begin: journal and evidence must agree, and every skip is found before an application stops."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.preflight import (
    initial_offsets,
    judge_cutover,
    judge_disaster,
    judge_last_probe,
    on_higher,
    phases_left,
    run_outlook,
    unfit,
    written_after_barrier,
)
from run_records import judged

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
        "unjoined": [],
        "undeclared_groups": [],
        "undeclared_topics": [],
        "open_transactions": [],
    } | {"out_of_scope": []}
    return {**base, **parts}


def undeclared(**parts: Any) -> dict[str, Any]:
    """A group that is not in the inventory and is at work, as ``dr_status_info`` returns it."""
    base = {"group": "nightly", "alias": "P", "state": "EMPTY", "members": "", "topics": ["T"], "declared_as": ""}
    return {**base, "commits_changed": False, "at_work": True, **parts}


def journal(active: str = "P", run: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"active": active, "run": run, "interrupted": run is not None and run["ended"] is None}


def test_a_transaction_that_stays_open_is_refused_unless_it_is_accepted() -> None:
    """Observed: the drain refused it, after the applications had stood for 17 s."""
    text = "T-0 on P: a transaction stays open at offset 7 (observed for 10 s) and holds back 3 offsets"
    held = {**flow("P", "B"), "verdict": "UNKNOWN", "reason": text}
    seen = status(group("P", "STABLE", 5, None), group("B"), flows=[held], open_transactions=[{"text": text}])
    (problem,) = judge_cutover(seen, journal(), "cutoff", "B")["problems"]
    assert problem.startswith(f"{text}. The drain would wait")
    assert """-e '{"kafka_dr_ready_accept": ["transactions"]}'""" in problem
    assert judge_cutover(seen, journal(), "cutoff", "B", accept=["transactions"])["problems"] == []
    # Another fault of the same flow is still named.
    broken = {**seen, "flows": [{**held, "verdict": "REFUTED", "reason": "its task failed"}]}
    problems = judge_cutover(broken, journal(), "cutoff", "B", accept=["transactions"])["problems"]
    assert problems[0] == "The flow P->B is REFUTED: its task failed."


def test_transactions_that_were_not_observed_are_refused() -> None:
    seen = status(group("P", "STABLE", 5, None), group("B"), open_transactions=None)
    judged = judge_cutover(seen, journal(), "cutoff", "B")
    assert judged["problems"] == ["Whether transactions stay open on P was not observed."]


def test_a_healthy_pair_may_move() -> None:
    judged = judge_cutover(status(group("P", "STABLE", 5, None), group("B")), journal(), "cutoff", "B")
    assert (judged["already"], judged["problems"]) == (False, [])
    assert "live on P and move to B" in judged["text"]


def test_groups_without_members_are_named_because_their_offsets_may_be_kept_outside_kafka() -> None:
    """R6: Flink and Spark read without membership, from offsets of their own."""
    reads = {**group("P", "STABLE"), "group": "reads"}
    stale = [group("P", read=read) | {"partition": number} for number, read in enumerate((True, False, None))]
    judged = judge_cutover(status(*stale, reads, group("B")), journal(), "cutoff", "B")
    (note,) = judged["notes"]
    assert '1 groups had no members on P: "g" (2 partitions unread). Only committed offsets are moved' in note
    assert judged["problems"] == []
    assert f"Not checked: {note}." in judged["text"]
    assert judge_cutover(status(reads, group("B")), journal(), "cutoff", "B")["notes"] == []


def test_a_match_on_the_other_cluster_does_not_stop_a_move() -> None:
    seen = status(group("P", "STABLE", 5, None), unjoined=[{"alias": "B", "kind": "topic", "name": "New"}])
    assert judge_cutover(seen, journal(), "cutoff", "B")["problems"] == []


@pytest.mark.parametrize(
    "row",
    [
        undeclared(at_work=False),
        undeclared(state="STABLE", declared_as="local"),
        undeclared(state="STABLE", declared_as="accepted"),
        undeclared(state="STABLE", alias="B"),
    ],
)
def test_an_undeclared_group_that_is_idle_or_may_stay_does_not_stop_a_move(row: dict[str, Any]) -> None:
    assert judge_cutover(status(undeclared_groups=[row]), journal(), "cutoff", "B")["problems"] == []


@pytest.mark.parametrize(
    ("seen", "message"),
    [
        (status(flows=[flow("P", "B", "REFUTED"), flow("B", "P")]), "The flow P->B is REFUTED: because"),
        (status(flows=[flow("P", "B"), flow("B", "P", "UNKNOWN")]), "The flow B->P is UNKNOWN: because"),
        (status(missing=['P->B: the replica topic "P.T" does not exist yet']), '"P.T" does not exist yet'),
        (status(group("B", "STABLE")), "These groups already have members on B: g (app-1 on 10.0.0.7)."),
        (status(group("B", "UNKNOWN")), "These groups already have members on B: g (app-1 on 10.0.0.7)."),
        (status(group("P", commit=None, read=None)), "A share group has no committed offsets and is not moved."),
        (status(group("P"), {**group("P", commit=None, read=None), "partition": 1}), "no committed offset on P T-1."),
        (
            status(undeclared_topics=[{"group": "g", "alias": "P", "topics": ["Other"]}]),
            '"g" also reads Other on P, which the inventory does not list',
        ),
        (status(group("P", "UNDESCRIBED")), 'Whether the group "g" has members on P is unknown'),
        (
            status(group("P", "PREPARING_REBALANCING")),
            'The group "g" is still rebalancing on P (state PREPARING_REBALANCING), so it is unknown which topics',
        ),
        # A group of the new protocol that rebalances.
        (status(group("P", "UNKNOWN")), 'The group "g" is still rebalancing on P (state UNKNOWN)'),
        (status(undeclared_groups=None), "Whether groups outside the inventory use topics of the pair on P was not"),
        (
            status(undeclared_groups=[undeclared(state="STABLE", members="app-1 on 10.0.0.7")]),
            'use topics of the pair on P, or may use them: "nightly" (app-1 on 10.0.0.7; T). They would stay on P.',
        ),
        (
            status(undeclared_groups=[undeclared(commits_changed=True)]),
            '"nightly" (no members, but its committed offsets changed; T)',
        ),
        (
            status(undeclared_groups=[undeclared(state="UNDESCRIBED", members="members unknown", topics=None)]),
            '"nightly" (members unknown; topics unknown)',
        ),
        (status(unjoined=None), "match more than has joined the pair was not observed."),
        (
            status(unjoined=[{"alias": "P", "kind": "topic", "name": "New"}]),
            'would stay on P: topic "New". Run the playbook switchback.kafka_dr.enable, or exclude them.',
        ),
        (
            status(out_of_scope=[{"group": "g", "alias": "B", "topic": "P.U", "evidence": "committed offset 3"}]),
            'The group "g" uses the topic "P.U" on B (committed offset 3)',
        ),
    ],
)
def test_each_problem_is_reported_before_anything_moves(seen: dict[str, Any], message: str) -> None:
    """R8: the preflight refuses a group without a valid target offset."""
    judged = judge_cutover(seen, journal(), "cutoff", "B")
    text = " ".join(judged["problems"])
    assert message in text
    assert "Nothing was changed" not in text  # The playbook reports it once.


@pytest.mark.parametrize(
    "row",
    [
        group("P", commit=None, read=True),  # Never written: the initial offset is 0 for every group.
        group("B", commit=None, read=None),  # Translation gives the offsets on the cluster being entered.
    ],
)
def test_an_offset_that_is_not_needed_is_not_required(row: dict[str, Any]) -> None:
    assert judge_cutover(status(row), journal(), "cutoff", "B")["problems"] == []


def test_a_reason_is_not_repeated() -> None:
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
        ("B", None),  # Not even if there is nothing to do.
        ("P", {**RUN, "type": "continuous"}),
    ],
)
def test_under_identity_a_continuous_cutover_is_refused(active: str, run: dict[str, Any] | None) -> None:
    """R22: the flow and producers would write to the same partitions, and no cut would separate their records."""
    judged = judge_cutover(status(), journal(active, run), "continuous", "B", "identity")
    assert (judged["already"], judged["verdict"]) == (False, "UNKNOWN")
    assert 'The type "continuous" cannot be used with the policy "identity"' in judged["problems"][0]


@pytest.mark.parametrize(("kind", "policy"), [("cutoff", "identity"), ("cutoff", "default"), ("continuous", "default")])
def test_every_other_combination_of_type_and_policy_is_accepted(kind: str, policy: str) -> None:
    judged = judge_cutover(status(group("P", "STABLE", 5, None)), journal(), kind, "B", policy)
    assert (judged["already"], judged["problems"]) == (False, [])


def test_under_identity_all_other_checks_are_the_same() -> None:
    seen = status(flows=[flow("P", "B", "REFUTED")])
    assert judge_cutover(seen, journal(), "cutoff", "B", "identity") == judge_cutover(seen, journal(), "cutoff", "B")
    assert judge_cutover(status(), journal("B"), "cutoff", "B", "identity")["already"] is True


# ---- already there


@pytest.mark.parametrize("groups", [(group("B", "STABLE"),), (group("P"), group("B", "STABLE"))])
def test_already_there_with_an_active_group_is_proven(groups: tuple[dict[str, Any], ...]) -> None:
    """R18: group members are evidence from the cluster."""
    judged = judge_cutover(status(*groups), journal("B"), "cutoff", "B")
    assert (judged["already"], judged["problems"], judged["verdict"]) == (True, [], "PROVEN")
    assert "Nothing to do." in judged["text"]


@pytest.mark.parametrize("groups", [(), (group("B"),), (group("P"), group("B", "DEAD"))])
def test_already_there_by_the_journal_alone_is_unknown(groups: tuple[dict[str, Any], ...]) -> None:
    """R18: a journal is not evidence from the clusters."""
    judged = judge_cutover(status(*groups), journal("B"), "cutoff", "B")
    assert (judged["already"], judged["problems"], judged["verdict"]) == (True, [], "UNKNOWN")
    assert "No group has members" in judged["text"]


def test_already_there_but_with_members_on_the_other_cluster_is_an_error() -> None:
    """R18: evidence from the clusters outranks the journal."""
    judged = judge_cutover(status(group("P", "STABLE")), journal("B"), "cutoff", "B")
    assert "live on B, but these groups have members on P: g (app-1 on 10.0.0.7)." in judged["problems"][0]


# ---- an interrupted run


def test_the_same_run_resumes_no_matter_what_the_clusters_show() -> None:
    seen = status(group("B", "STABLE"), flows=[flow("P", "B", "REFUTED"), flow("B", "P")])
    judged = judge_cutover(seen, journal("P", RUN), "cutoff", "B")
    assert (judged["already"], judged["problems"]) == (False, [])
    assert "r1 was interrupted and resumes" in judged["text"]


@pytest.mark.parametrize(("kind", "to"), [("continuous", "B"), ("cutoff", "P")])
def test_another_run_is_refused_until_the_unfinished_one_has_ended(kind: str, to: str) -> None:
    judged = judge_cutover(status(), journal("P", RUN), kind, to)
    assert "The cutoff run r1 to B is unfinished" in judged["problems"][0]


def test_an_interrupted_run_after_its_point_of_no_return_is_not_taken_for_finished() -> None:
    judged = judge_cutover(status(), journal("B", {**RUN, "pnr": 1.0}), "cutoff", "B")
    assert judged["already"] is False


# ---- initial offsets


@pytest.mark.parametrize(
    ("row", "given"),
    [
        (group("P", commit=None, read=True), True),
        (group("P", "DEAD", commit=None, read=True), True),
        (group("P", commit=None, read=None), False),  # Records were written, so only the owner of the group can decide.
        (group("P", commit=None, read=False), False),
        (group("P", commit=3, read=True), False),
        (group("P", "STABLE", commit=None, read=True), False),  # The consumer commits for itself.
        (group("B", commit=None, read=True), False),
    ],
)
def test_an_initial_offset_is_committed_only_if_no_record_was_ever_written(row: dict[str, Any], given: bool) -> None:
    """R8: any other offset would be a guess."""
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
def test_after_the_point_of_no_return_no_earlier_phase_is_repeated(kind: str, pnr: float | None, first: str) -> None:
    """R16: nothing before the point of no return is undone or repeated after it."""
    left = phases_left(PHASES[kind], {**RUN, "pnr": pnr})
    assert left == PHASES[kind][PHASES[kind].index(first) :]


# ---- producers that write after the barrier


@pytest.mark.parametrize(
    ("end", "ends", "expected"),
    [
        (10, {"T": {"0": 10}}, []),
        (13, {"T": {"0": 10}}, ["P T-0: 3 offsets"]),
        (None, {"T": {"0": 10}}, []),
        (13, {}, []),
    ],
)
def test_writes_on_the_cluster_that_was_left_are_detected(
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
        (observe(ALIVE, ALIVE), journal(), False, "A planned failover is possible", ""),
        (observe(ALIVE, DEAD), journal(), False, "", "lived on P"),
        (observe(CLOSED), journal(), False, "it is unknown whether it is lost: (certificate has expired).", ""),
        (observe(ALIVE, CLOSED), journal(), False, "it is unknown whether it is lost", ""),
        (observe(DEAD, busy=("g",)), journal(), False, "already have members on B: g (app-1 on 10.0.0.7)", ""),
        (observe(DEAD, hidden=(HIDDEN,)), journal(), False, '"g" uses the topic "U" on B (committed offset 3', ""),
        (observe(DEAD, hidden=(HIDDEN,)), journal(run=LOST), False, "", "was interrupted and resumes"),
        (observe(DEAD, busy=("g",)), journal("B"), True, "", "(members: g)"),
        (observe(DEAD), journal("B"), True, "", "this is not proven"),
        (observe(DEAD, busy=("g",)), journal(run=LOST), False, "", "was interrupted and resumes"),
        (observe(DEAD, busy=("g",)), journal(run=RUN), False, "", "this run replaces it"),
        (observe(DEAD), journal("B", {**RUN, "pnr": 1.0}), False, "", "this run completes it"),
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


def test_a_healthy_cluster_is_left_only_if_the_operator_requests_it() -> None:
    assert judge_disaster(observe(ALIVE, ALIVE), journal(), "B", anyway=True)["problems"] == []
    assert judge_disaster(observe(CLOSED), journal(), "B", anyway=True)["problems"] == []


LOST_PHASES = ["stop_consumers", "survey", "committed_offsets", "start_consumers", "move_producers", "arrival", "flows"]
AGAIN = ["start_consumers", "move_producers", "arrival", "flows"]


@pytest.mark.parametrize(
    ("run", "left"),
    [
        (LOST, LOST_PHASES),
        ({**LOST, "pnr": 1.0}, AGAIN[1:]),
        # After the point of no return of another run, offsets are not changed again, even if that run is killed too.
        ({**LOST, "replaces_passed_run": True, "phases": {"barrier": {}}}, AGAIN),
        ({**LOST, "replaces_passed_run": True, "phases": {"barrier": {}}, "pnr": 1.0}, AGAIN[1:]),
        # It is unknown which writes are the first ones.
        ({**LOST, "replaces_passed_run": True}, ["start_consumers", "move_producers", "flows"]),
    ],
)
def test_the_remaining_phases_of_a_disaster(run: dict[str, Any], left: list[str]) -> None:
    assert phases_left(LOST_PHASES, run) == left


def test_applications_that_are_already_there_are_not_set_back() -> None:
    passed = judge_disaster(observe(DEAD), journal("B", {**RUN, "pnr": 1.0}), "B")
    leaving = judge_disaster(observe(DEAD), journal("B", {**RUN, "from": "B", "to": "P"}), "B")
    assert (passed["replaces_passed_run"], "had passed" in passed["text"]) == (True, True)
    assert (leaving["replaces_passed_run"], "was about to leave B" in leaving["text"]) == (True, True)
    assert judge_disaster(observe(DEAD), journal("B", {**LOST, "pnr": 1.0}), "B")["replaces_passed_run"] is False


def test_a_flow_whose_offsets_do_not_fit_its_source_is_named() -> None:
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
    """It has no rows, so no other check would see it. A resumed run has passed this check."""
    judged = judge_cutover(status(group("P")), journal(), "cutoff", "B", groups=["g", "new"])
    assert ['"new" has no committed offset on any' in text for text in judged["problems"]] == [True]
    assert judge_cutover(status(), journal("P", RUN), "cutoff", "B", groups=["new"])["problems"] == []


def begun(kind: str, *phases: str, following: list[str] | None = None) -> dict[str, Any]:
    """A run of the journal with completed ``phases``. ``preexisting_higher_offsets``: groups with higher offsets at its
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
        # A killed run resumes. Its empty list at the barrier does not show which process moved an offset since.
        (begun("cutoff", "barrier"), "auto", "fail"),
        (begun("continuous", "barrier"), "auto", "fail"),
        (begun("disaster", "barrier"), "auto", "lower"),
        # Its own consumers may have moved it.
        (begun("continuous", "barrier", "start_consumers"), "auto", "keep"),
        (begun("disaster", "barrier", "start_consumers"), "auto", "keep"),
        # A group with a higher offset before the consumers started still has it.
        (begun("continuous", "barrier", "start_consumers", following=["g T-0"]), "auto", "fail"),
        (begun("disaster", "barrier", "start_consumers", following=["g T-0"]), "auto", "lower"),
        (begun("continuous", "start_consumers"), "auto", "fail"),
        (begun("cutoff"), "keep", "keep"),
        (begun("disaster", "barrier"), "fail", "fail"),
        (begun("continuous", "barrier", "start_consumers"), "lower", "lower"),
    ],
)
def test_a_higher_offset_is_kept_only_if_the_consumers_of_this_run_may_have_read_it(
    run: dict[str, Any], asked: str, done: str
) -> None:
    """R6: any other higher offset was set by another process and would skip records."""
    assert on_higher(run, asked) == done
    assert run_outlook({**RUN, **run}, asked, "localhost")["on_higher"] == done


def test_an_unfinished_run_is_named_with_complete_commands() -> None:
    """The operator can copy the commands without adding the application."""
    run = {**RUN, "pair": "B-P.payments"}
    (problem,) = judge_cutover(status(), journal("P", run), "continuous", "B")["problems"]
    for name, side in (
        ("failover_cutoff", "-e kafka_dr_to=B -e kafka_dr_confirm=B"),
        ("abandon", "-e kafka_dr_confirm=P"),
    ):
        command = f"ansible-playbook switchback.kafka_dr.{name} -i INVENTORY {side} -e kafka_dr_application=payments"
        assert command in problem


def test_the_commands_of_an_unfinished_run_let_the_same_members_leave_the_pair() -> None:
    """R42: without it, the same playbook refuses the inventory, and the run stays open."""
    run = {**RUN, "pair": "B-P", "drop": ["Orders", "fraud"]}
    text = run_outlook(run, "auto", "localhost")["unfinished_run"]
    assert text.count("""-e '{"kafka_dr_drop": ["Orders", "fraud"]}'""") == 2
    assert run_outlook({**run, "drop": []}, "auto", "localhost")["resume_command"].endswith("-e kafka_dr_confirm=B")


def test_the_command_that_resumes_a_run_accepts_the_same_offsets() -> None:
    """R6: without them, the same playbook stops at the offsets that were accepted."""
    run = {**RUN, "pair": "B-P", "options": {"lower": "keep", "group_lag": "reread"}}
    found = run_outlook(run, "auto", "localhost")
    assert found["resume_command"].endswith("=B -e kafka_dr_lower=keep -e kafka_dr_group_lag=reread")
    assert "kafka_dr_lower" not in found["unfinished_run"].partition("undo it: ")[2]
    defaults = {**run, "options": {"lower": "auto", "group_lag": "refuse"}}
    assert run_outlook(defaults, "auto", "localhost")["resume_command"].endswith(" -e kafka_dr_confirm=B")


def test_the_outlook_of_a_run_has_the_values_that_the_next_tasks_need() -> None:
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


def test_a_run_judges_the_same() -> None:
    direct = judge_cutover(status(), journal(), "cutoff", "B", groups=["g"])
    assert direct["problems"]
    steps = {"status": {"status": status()}, "journal": {"state": journal()}}
    assert judged("cutover", "cutoff", steps, {"groups": ["g"]}, accept=[]) == direct
    lost = {"foreseen": observe(ALIVE, ALIVE), "journal": {"state": journal()}}
    refused = judge_disaster(observe(ALIVE, ALIVE), journal(), "B")
    assert refused["problems"]
    assert judged("disaster", "disaster", lost) == refused


SILENT = {**DEAD, "reachable": False}
BACK = {**ALIVE, "reachable": True}
HALF = {**DEAD, "reachable": True, "reason": "it responds, but 3 partitions have no leader"}
REJECTS = {**CLOSED, "reachable": False}


@pytest.mark.parametrize(
    ("probes", "stops"),
    [
        ([SILENT, SILENT], False),
        ([SILENT, BACK], True),
        # It responds with more than at the start: it comes back.
        ([SILENT, HALF], True),
        ([SILENT, REJECTS], True),
        # It was like that at the start, and the run has replicated what could be read.
        ([HALF, HALF], False),
        ([REJECTS, REJECTS], False),
        ([HALF, SILENT], False),
        ([HALF, BACK], True),
        ([BACK, SILENT, SILENT], False),
    ],
)
def test_the_last_probe_of_a_lost_cluster_decides(probes: list[dict[str, Any]], stops: bool) -> None:
    """R47: P thawed while consumers started on B, and its producers wrote on."""
    problems = judge_last_probe(probes, ("P", "B"), [], None)["problems"]
    assert bool(problems) == stops
    for text in problems:
        assert "P responded right before the point of no return" in text
        assert "kafka_dr_although_healthy=true" in text
    assert judge_last_probe(probes, ("P", "B"), [], None, anyway=True)["problems"] == []


FENCED = {"fenced": True}


@pytest.mark.parametrize(
    ("writing", "fence", "named"),
    [
        ([], None, None),
        ([{"name": "api", "principal": "User:api"}], None, "api"),
        ([{"name": "api", "principal": "User:api"}], {"fenced": False}, "api"),
        ([{"name": "api", "principal": "User:api"}], FENCED, None),
        ([{"name": "api", "principal": "User:api"}, {"name": "job", "principal": None}], FENCED, "job"),
        ([{"name": "job"}], FENCED, "job"),
    ],
)
def test_although_it_responds_no_application_may_still_write_there(
    writing: list[dict[str, Any]], fence: dict[str, Any] | None, named: str | None
) -> None:
    judged = judge_last_probe([SILENT, BACK], ("P", "B"), writing, fence, anyway=True)
    assert len(judged["problems"]) == (named is not None)
    assert all(f"may still write there: {named}." in text for text in judged["problems"])
    # A cluster that is still lost cannot be written, and cannot be fenced.
    assert judge_last_probe([SILENT, SILENT], ("P", "B"), writing, None, anyway=True)["problems"] == []
