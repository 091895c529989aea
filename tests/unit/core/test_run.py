# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run follows from its events: every value that tasks decide by, and every fact of its report."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.run.events import KINDS, RunEvent
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.run.facts import report_facts, task_facts
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.run.move import Move, RunOptions
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.run.run import Run

APPLICATIONS = [
    {"name": "api", "role": "producer", "principal": "User:api"},
    {"name": "join", "role": "processor", "principal": "User:join"},
    {"name": "fraud", "role": "consumer"},
]
MOVE: dict[str, Any] = {
    "pair": "B-P",
    "type": "cutoff",
    "source": "P",
    "target": "B",
    "bootstrap": {"P": "p:9092", "B": "b:9092"},
    "applications": APPLICATIONS,
}
OWNER = {"run": "r1", "holder_generation": 0, "on": ["B", "P"]}
JOURNALED: dict[str, Any] = {"id": "r1", "started": 100.0, "pnr": None, "resumed": 0}
OPENED: dict[str, Any] = {
    "run_id": "r1",
    "owner": OWNER,
    "resumed": False,
    "phases_left": ["drain"],
    "on_higher": "fail",
}


class Story:
    """Events of a run, one second apart."""

    def __init__(self, check: bool = False, move: dict[str, Any] | None = None, **options: Any) -> None:
        self.move, self.options, self.check = {**MOVE, **(move or {})}, options, check
        self.events: list[RunEvent] = []
        self.add("began", move=self.move, options=options, check=check)

    def add(self, kind: str, **data: Any) -> Story:
        self.events.append(RunEvent(kind, 100.0 + len(self.events), data))
        return self

    def step(self, step: str, **result: Any) -> Story:
        return self.add("returned", step=step, result=result)

    def opened(self, **journaled: Any) -> Story:
        phases = journaled.pop("phases", {})
        return self.step("opened", **OPENED, run={**JOURNALED, **journaled}, phases=phases, done=sorted(phases))

    @property
    def run(self) -> Run:
        # As the record keeps them.
        return Run.of(RunEvent.of(event.as_dict()) for event in self.events)


def test_the_first_event_must_be_the_begin_and_an_unknown_one_is_refused() -> None:
    with pytest.raises(ValueError, match="wanted began"):
        Run.of([RunEvent("ended", 1.0)])
    for row in ({"kind": "moved", "at": 1}, {"kind": "phase", "at": 1, "data": {}}):
        with pytest.raises(ValueError, match="no event of a run"):
            RunEvent.of(row)


def test_a_move_names_who_writes_and_who_cannot_be_fenced() -> None:
    move = Move.of({**MOVE, "other_applications": {"topics": ["Orders"], "groups": []}})
    assert Move.of(move.as_dict()) == move
    assert (move.principals, move.late_principals) == (("User:api", "User:join"), ("User:join",))
    assert move.nameless == ["the writers of Orders (other teams)"]
    assert Move.of({**MOVE, "applications": [{"name": "api", "role": "producer"}]}).nameless == ["api"]
    assert move.copies == ("B", "P")
    assert Move.of({**MOVE, "type": "disaster"}).copies == ("B",)


@pytest.mark.parametrize(
    ("fence", "applications", "fences"),
    [("auto", APPLICATIONS, True), ("none", APPLICATIONS, False), ("acl", [], False)],
)
def test_a_fence_needs_a_principal(fence: str, applications: list[dict[str, Any]], fences: bool) -> None:
    move = Move.of({**MOVE, "applications": applications})
    assert move.may_fence(RunOptions.of({"fence": fence})) == fences


def test_options_that_were_text_are_numbers() -> None:
    given = {"max_downtime": "12", "wait_for_applications": "", "rescue_timeout": None, "although_healthy": "yes"}
    assert RunOptions.of(given) == RunOptions(max_downtime=12.0, rescue_timeout=0.0, although_healthy=True)


def test_a_run_that_was_not_opened_has_no_id_and_holds_nothing() -> None:
    run = Story().run
    assert (run.id, run.generation, run.passed, run.outcome) == (None, None, False, "failed")
    assert task_facts(run)["owner"] == {}


def test_the_owner_says_what_the_guard_must_prove() -> None:
    story = Story().opened()
    assert task_facts(story.run)["owner"] == OWNER
    assert task_facts(story.step("undoing", undoing=True).run)["owner"] == {**OWNER, "any_side": True}
    ended = Story().opened().add("ended").run
    assert task_facts(ended)["owner"] == {**OWNER, "after_end": True}


def test_the_point_of_no_return_is_that_of_the_journal() -> None:
    assert not Story().opened().run.passed
    assert Story().opened(pnr=99.0).run.passed_at == 99.0
    turned = Story().opened().step("passed", run={**JOURNALED, "pnr": 105.0}, phases={}).run
    assert (turned.passed, turned.passed_at) == (True, 105.0)
    replaced = Story().opened(replaces_passed_run=True).run
    assert (replaced.passed, replaced.passed_at) == (True, None)


@pytest.mark.parametrize(
    ("story", "outcome"),
    [
        (Story().opened(), "failed"),
        (Story().opened().step("closed", closed=True), "completed"),
        (Story().opened().add("failed", task="t", message="m", error={}), "failed"),
        (Story().opened().add("failed", task="t", message="m", error={}).add("undone"), "undone"),
        (
            Story().opened().add("failed", task="t", message="m", error={}).add("undo_failed", message="u", error={}),
            "undo_failed",
        ),
        (Story().opened().add("undo_failed", task="t", message="u", error={}), "undo_failed"),
        (Story(check=True), "checked"),
        (Story(check=True).add("failed", task="t", message="m", error={}), "failed"),
        (Story().step("preflight", judgement={"already": True}), "already_there"),
        (Story(check=True).step("preflight", judgement={"already": True}), "already_there"),
        # A later failure of the report or of a hook does not make it complete.
        (Story().opened().step("closed", closed=True).add("failed", task="t", message="m", error={}), "failed"),
    ],
)
def test_the_outcome_follows_from_the_last_of_its_events(story: Story, outcome: str) -> None:
    assert story.run.outcome == outcome


def test_a_failed_step_returned_nothing_but_its_failure() -> None:
    run = Story().step("rescue", failed=True, msg="no", error={"message": "no"}, replicated=True).run
    assert run.result("rescue") == {}
    assert report_facts(run)["rescue"]["failed"] is True


def test_a_resumed_run_has_its_barrier_from_the_journal() -> None:
    barrier = {"ends": {"T": {"0": 4}}, "committed_offsets": {}}
    resumed = Story().opened(phases={"barrier": barrier}).run
    assert resumed.barrier == barrier
    own = Story().opened(phases={"barrier": barrier}).step("barrier", barrier={"ends": {}}, rereads=0, details=[]).run
    assert own.barrier == {"ends": {}}
    assert Story().run.barrier == {}


def test_the_fence_keeps_the_log_ends_of_the_step_that_read_them() -> None:
    """R50: a later look at the fence reads none."""
    fenced = {"fenced": True, "proven": True, "reason": "by login", "changes": []}
    story = Story().step("fence", **fenced, ends={"T": {"0": 7}}).step("fence", **fenced)
    assert story.run.fence == {"ends": {"T": {"0": 7}}, "fenced": True, "proven": True, "reason": "by login"}
    failed = story.step("fence", failed=True, msg="m", error={"message": "m"}).run.fence
    assert failed == {"ends": {"T": {"0": 7}}, "failed": True, "msg": "m", "error": {"message": "m"}}


@pytest.mark.parametrize(("kind", "ends"), [("cutoff", {"T": {"0": 5}}), ("continuous", {"T": {"0": 7}})])
def test_late_writes_are_those_after_the_barrier_or_after_the_fence(kind: str, ends: dict[str, Any]) -> None:
    story = Story(move={"type": kind}).step("barrier", barrier={"ends": {"T": {"0": 5}}})
    story.step("fence", fenced=True, proven=True, reason="", ends={"T": {"0": 7}})
    assert story.run.last_ends == ends
    assert story.run.late_writes is None
    story.step("settled", status={"flows": [{"partitions": [1]}]}, written_after=["T-0"])
    assert (story.run.late_writes, story.run.settled) == (["T-0"], [1])


def test_writes_are_not_observed_without_log_ends_to_compare_with() -> None:
    run = Story(move={"type": "continuous"}).step("settled", status={"flows": [{}]}, written_after=[]).run
    assert run.late_writes is None


def test_with_one_flow_at_a_time_the_seed_has_seen_what_came_after_the_cut() -> None:
    run = Story().step("seed", late_writes=["T-0"], partitions=[2]).run
    assert (run.late_writes, run.settled) == (["T-0"], [2])


PROBE = {"answers": True, "reachable": True, "locked_out": False, "reason": "it responds", "seconds": 0.1}


def test_probes_are_those_before_the_run_and_its_own() -> None:
    story = Story(move={"type": "disaster"}, rescue_timeout=30)
    assert (story.run.probes, story.run.rescues) == ([], False)
    dead = {**PROBE, "answers": False, "reachable": False}
    story.step("foreseen", probes=[dead])
    assert not story.run.rescues
    story.step("probe", **PROBE, changed=False)
    assert story.run.probes == [dead, PROBE]
    assert story.run.rescues
    assert not Story(move={"type": "disaster"}, rescue_timeout=0).step("probe", **PROBE).run.rescues


def test_the_survey_of_a_disaster_is_its_newest() -> None:
    story = Story(move={"type": "disaster"}).step("foreseen", loss_lines=["before"])
    assert story.run.survey == {"loss_lines": ["before"]}
    assert story.step("barrier", loss_lines=["at it"]).run.survey == {"loss_lines": ["at it"]}
    assert Story().run.survey is None


@pytest.mark.parametrize(
    ("limit", "journaled", "deadline"),
    [
        (0, {}, None),
        (30, {}, 130.0),
        ("30", {}, 130.0),
        (30, {"pnr": 120.0}, None),
        (30, {"replaces_passed_run": True}, None),
    ],
)
def test_the_downtime_has_a_limit_until_the_point_of_no_return(
    limit: Any, journaled: dict[str, Any], deadline: Any
) -> None:
    assert Story(max_downtime=limit).opened(**journaled).run.deadline == deadline


@pytest.mark.parametrize(
    ("options", "move", "left", "resumed", "unneeded"),
    [
        ({}, {}, ["drain", "arrival"], False, {"deadline.yml", "resume_flow.yml", "await_start.yml"}),
        ({"max_downtime": 5}, {}, ["arrival"], True, {"await_start.yml"}),
        ({"wait_for_applications": 5}, {}, ["arrival"], True, {"deadline.yml"}),
        ({"wait_for_applications": 5}, {}, ["start"], True, {"deadline.yml", "await_start.yml"}),
        (
            {"fence": "none"},
            {"applications": []},
            ["arrival"],
            True,
            {"deadline.yml", "await_start.yml", "fence_producers.yml", "fence_processors.yml", "arrived.yml"},
        ),
        ({}, {"type": "continuous"}, ["arrival"], True, {"deadline.yml", "await_start.yml", "fence_processors.yml"}),
        (
            {},
            {"applications": APPLICATIONS[1:2]},
            ["arrival"],
            True,
            {"deadline.yml", "await_start.yml", "fence_producers.yml"},
        ),
    ],
)
def test_files_that_have_nothing_to_do_are_left_out(
    options: dict[str, Any], move: dict[str, Any], left: list[str], resumed: bool, unneeded: set[str]
) -> None:
    story = Story(move=move, **options)
    story.step("opened", **{**OPENED, "resumed": resumed, "phases_left": left}, run=JOURNALED, phases={})
    assert set(story.run.unneeded) == unneeded


def test_a_phase_ends_when_the_next_one_begins() -> None:
    story = Story().add("phase", phase="drain").add("phase", phase="barrier")
    assert report_facts(story.run)["times"] == [{"phase": "drain", "began": 101.0, "ended": 102.0, "result": "ok"}]
    story.add("phase", phase=None)
    assert [(time["phase"], time["ended"]) for time in report_facts(story.run)["times"]] == [
        ("drain", 102.0),
        ("barrier", 103.0),
    ]


def test_a_later_start_knows_since_when_an_earlier_one_has_stopped_writes_and_nothing_else_of_it() -> None:
    """A frozen controller that wakes up appends to the events of its own start."""
    first = Story().opened().add("phase", phase="stop_producers").add("phase", phase="barrier")
    first.step("barrier", rereads=3).add("failed", task="t", message="m", error={})
    again = Story().opened(resumed=1).add("phase", phase="stop_consumers").add("phase", phase=None)
    run = Run.of(again.events, [first.events])
    assert (run.stopped_at("writes"), run.stopped_at("reads"), run.opened_at) == (102.0, 102.0, 100.0)
    assert (run.result("barrier"), run.failure) == ({}, None)
    assert [time.name for time in run.phases] == ["stop_consumers"]
    facts = task_facts(run)
    assert facts["stopped"] == {"writes": 102.0, "reads": 102.0}
    assert facts["resume"].endswith("-e kafka_dr_to=B -e kafka_dr_confirm=B")
    assert facts["undo"].endswith("abandon -i INVENTORY -e kafka_dr_confirm=P")
    assert again.run.stopped_at("writes") is None
    assert task_facts(Story().opened(pnr=5.0).run)["undo"] == ""
    assert task_facts(Story().run)["resume"] == ""


@pytest.mark.parametrize(
    ("generations", "known"),
    [((0,), True), ((0, 1), True), ((1,), False), ((0, 2), False), ((1, 2), False), ((0, 1, 3), False)],
)
def test_a_start_that_is_missing_makes_it_unknown_since_when_writes_are_stopped(
    generations: tuple[int, ...], known: bool
) -> None:
    """Another controller may have stopped the applications earlier: a downtime must not be understated."""
    starts = [Story().opened(resumed=number).add("phase", phase="stop_producers").events for number in generations]
    assert (Run.of(starts[-1], starts[:-1]).stopped_at("writes") is not None) == known


def test_a_hook_has_its_moment_and_its_failure() -> None:
    story = Story().add("hook_began", name="dns", moment="before drain").add("hook_ended", failure="no route")
    (hook,) = report_facts(story.add("hook_began", name="late", moment="after run").run)["hooks"]
    assert hook == {
        "name": "dns",
        "when": "before",
        "phase": "drain",
        "began": 101.0,
        "ended": 102.0,
        "failure": "no route",
    }


def test_applications_that_did_not_stop_are_named_once() -> None:
    api = {"name": "api", "principal": "User:api"}
    story = Story(move={"type": "disaster"}).add("not_stopped", reason="no route", clients=[api])
    run = story.add("not_stopped", reason="no route", clients=[api]).run
    assert (run.unstopped, run.unstopped_writers) == (("no route",), (api,))


def test_a_failure_says_who_took_over_and_what_the_undo_did() -> None:
    story = Story().opened().add("failed", task="t", message="m", error={"code": "x"})
    assert report_facts(story.run)["failure"] == {"task": "t", "message": "m", "error": {"code": "x"}}
    lost = {"code": "run_superseded", "message": "other"}
    owned = Story().opened().add("failed", task="t", message="m", error={}).step("ownership", failed=True, error=lost)
    assert report_facts(owned.run)["failure"]["ownership"] == lost
    story.add("restarted").add("undo_failed", message="u", error={"code": "run_superseded"})
    failure = report_facts(story.run)["failure"]
    assert (failure["undo"], failure["overtaken"], failure["restarted"]) == ("u", True, True)


def test_group_sync_is_known_to_have_stood_only_in_a_run_that_was_not_resumed() -> None:
    gone = {"departure": {"verdict": "PROVEN", "reason": ""}}
    assert Story().opened().step("departure", **gone).run.had_left
    story = Story().step("opened", **{**OPENED, "resumed": True}, run=JOURNALED, phases={})
    assert not story.step("departure", **gone).run.had_left
    assert not Story().opened().step("departure", failed=True, departure=gone["departure"]).run.had_left


@given(st.lists(st.sampled_from(sorted(set(KINDS) - {"began"})), max_size=12))
def test_any_order_of_events_gives_facts_for_tasks_and_report(kinds: list[str]) -> None:
    """A controller may end after any of them."""
    story = Story().opened()
    for kind in kinds:
        data: dict[str, Any] = {
            "returned": {"step": "status", "result": {}},
            "phase": {"phase": "drain"},
            "hook_began": {"name": "h", "moment": "before run"},
            "hook_ended": {"failure": None},
            "not_stopped": {"reason": "r", "clients": []},
            "failed": {"task": "t", "message": "m", "error": {}},
            "undo_failed": {"message": "m", "error": {}},
            "audited": {"audit": {}},
            "reported": {"verdict": "PROVEN"},
        }.get(kind, {})
        if kind != "hook_ended" or story.run.hooks:
            story.add(kind, **data)
    assert task_facts(story.run)["outcome"] in ("completed", "failed", "undone", "undo_failed")
    assert report_facts(story.run)["pair"] == "B-P"
