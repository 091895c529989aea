# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the inventory does not control, when it must be at rest, and what a run says about it (R48)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.facts import Facts, judge_readiness
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.objectives import objectives
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.other_applications import (
    OtherApplications,
    Standstill,
    awaited_stops,
    other_applications,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.readiness import CHECKS
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.hooks import steps_by_phase
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.names import naming_of
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.advice import cutover_advice, judge
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.downtime import downtimes

TOPICS, GROUPS = ["Payments", "Fees"], ["settlement", "books"]
BOTH = OtherApplications(("Payments",), ("settlement",))
(CHECK,) = [check for check in CHECKS if check.name == "other_applications"]


def client(role: str, **keys: Any) -> dict[str, Any]:
    return {"name": role, "role": role, "topics": [], "outputs": None, "group": None, **keys}


@pytest.mark.parametrize(
    ("clients", "topics", "groups"),
    [
        ([], TOPICS, GROUPS),
        ([client("producer")], [], GROUPS),
        ([client("producer", topics=["Payments"])], ["Fees"], GROUPS),
        ([client("consumer", group="books", topics=["Fees"])], TOPICS, ["settlement"]),
        # A processor that does not say what it writes may write any topic.
        ([client("processor", group="books", topics=["Payments"])], [], ["settlement"]),
        ([client("processor", group="books", topics=["Payments"], outputs=["Fees"])], ["Payments"], ["settlement"]),
        ([client("producer"), client("consumer", group="settlement"), client("consumer", group="books")], [], []),
    ],
)
def test_what_no_declared_application_covers(
    clients: list[dict[str, Any]], topics: list[str], groups: list[str]
) -> None:
    others = other_applications(clients, TOPICS, GROUPS)
    assert others.as_dict() == {"topics": topics, "groups": groups}
    assert bool(others) == bool(topics or groups)
    assert OtherApplications.of(others.as_dict()) == others


@given(
    st.lists(
        st.builds(
            client,
            st.sampled_from(["producer", "consumer", "processor"]),
            topics=st.lists(st.sampled_from(TOPICS), unique=True),
            outputs=st.none() | st.lists(st.sampled_from(TOPICS), unique=True, min_size=1),
            group=st.none() | st.sampled_from(GROUPS),
        )
    )
)
def test_one_more_declared_application_never_leaves_more_to_other_teams(clients: list[dict[str, Any]]) -> None:
    fewer, more = (other_applications(rows, TOPICS, GROUPS) for rows in (clients[:-1], clients))
    assert set(more.topics) <= set(fewer.topics)
    assert set(more.groups) <= set(fewer.groups)


def test_when_they_must_be_at_rest() -> None:
    others = awaited_stops(BOTH)
    writers, readers = "the writers of Payments", 'the consumers of "settlement"'
    assert others["cutoff"] == {
        "stop_producers": {"topics": ["Payments"], "groups": [], "again": [], "text": writers},
        "stop_consumers": {"topics": [], "groups": ["settlement"], "again": ["Payments"], "text": readers},
    }
    assert others["continuous"] == {
        "stop_consumers": {"topics": [], "groups": ["settlement"], "again": [], "text": readers},
        "move_producers": {"topics": ["Payments"], "groups": [], "again": [], "text": writers},
    }
    assert others["disaster"] == {}
    only = awaited_stops(OtherApplications(groups=("settlement",)))
    assert list(only["cutoff"]) == ["stop_consumers"]
    assert set(map(str, awaited_stops(OtherApplications()).values())) == {"{}"}


def files(kind: str, phase: str, others: OtherApplications) -> list[str]:
    steps = steps_by_phase([], awaited_stops(others), bool(others))
    return [step["file"] for step in steps[kind][phase] if step["file"] != "begin_phase.yml"]


def test_the_steps_of_a_run() -> None:
    assert files("cutoff", "stop_producers", BOTH)[-3:] == [
        "await_stop.yml",
        "phase_stop_producers.yml",
        "fence_producers.yml",
    ]
    for kind, phase in (("cutoff", "start"), ("continuous", "move_producers"), ("disaster", "move_producers")):
        assert files(kind, phase, BOTH)[-2:] == [f"phase_{phase}.yml", "announce_start.yml"]
    # The evidence about the cluster that was left is taken after the wait, and nothing but the end waits for people.
    assert files("cutoff", "settled", BOTH)[-2:] == ["await_start.yml", "phase_settled.yml"]
    assert files("disaster", "flows", BOTH)[-2:] == ["phase_flows.yml", "await_start.yml"]
    everything = {step for kind in steps_by_phase([]).values() for rows in kind.values() for step in map(str, rows)}
    assert not [step for step in everything if "await_" in step or "announce_" in step]


def test_what_is_not_at_rest_is_named() -> None:
    still = Standstill({}, [], {}, 10.0)
    assert still.texts == []
    busy = Standstill({"settlement": "rdkafka on 10.0.0.7"}, ["books"], {"Payments": 1250}, 10.2)
    assert busy.texts == [
        'the group "settlement" has members (rdkafka on 10.0.0.7)',
        'the group "books" has no members, but commits offsets',
        "Payments was written (1,250 offsets in 10 s)",
    ]


def facts(**more: Any) -> Facts:
    return Facts(x="P", y="B", naming=naming_of("default"), originals=["Payments"], away={}, **more)


def answer(**more: Any) -> dict[str, Any]:
    from dataclasses import replace

    (row,) = judge_readiness(facts(**more), [replace(CHECK, needs=())])["checks"]
    return dict(row)


def test_readiness_says_what_the_move_will_ask() -> None:
    assert answer()["answer"] == "YES"
    refused = answer(other_applications=BOTH, running=["Payments was written (9 offsets in 10 s)"])
    assert (refused["answer"], refused["found"]) == ("NO", "Payments was written (9 offsets in 10 s)")
    assert "kafka_dr_wait_for_applications" in refused["remedy"]
    # What was not watched is unknown.
    assert answer(other_applications=BOTH)["answer"] == "UNKNOWN"
    stopped = answer(other_applications=BOTH, running=[])
    assert stopped["answer"] == "YES"
    assert "must have stopped on P before the playbook starts. Their start on B is not awaited" in stopped["found"]
    waits = answer(other_applications=BOTH, wait_for_applications=600.0)
    assert waits["answer"] == "YES"
    assert "waits up to 600 s" in waits["found"]
    assert "No fence denies them WRITE on P" in waits["found"]


def test_a_disaster_cannot_know_whether_they_have_stopped() -> None:
    text = BOTH.disaster_terms(("P", "B"))
    assert "Whether they have stopped on P is unknown" in text
    assert 'the writers of Payments and the consumers of "settlement"' in text


FAILURE = {"task": "t", "message": "m", "error": {}}


@pytest.mark.parametrize(
    ("kind", "others", "wanted"),
    [
        ("cutoff", BOTH.as_dict(), "Other teams may start their applications on P again: the writers of Payments"),
        ("disaster", BOTH.as_dict(), "Other teams may start their applications on P again: the writers of Payments"),
        ("cutoff", OtherApplications().as_dict(), ""),
    ],
)
def test_after_an_undo_the_run_says_what_other_teams_may_do(kind: str, others: dict[str, Any], wanted: str) -> None:
    run = {"failure": FAILURE, "run": "r", "passed": False, "outcome": "undone", "type": kind, "from": "P", "to": "B"}
    others = cutover_advice({**run, "clusters": {}, "journal": {}, "probes": [], "other_applications": others})
    assert wanted in others
    assert ("Other teams" in others) == bool(wanted)


def test_their_downtime_is_never_claimed_to_be_known() -> None:
    phases = [
        {"phase": phase, "began": f"2026-11-30T05:00:0{number}+00:00", "seconds": 1.0, "result": "ok"}
        for number, phase in enumerate(("stop_producers", "drain", "stop_consumers", "barrier", "start"))
    ]
    report = {"type": "cutoff", "run": "20261130T050000Z-a", "outcome": "completed", "phases": phases, "checks": []}
    report |= {"began": "2026-11-30T05:00:00+00:00", "ended": "2026-11-30T05:00:09+00:00"}
    assert [still.span is not None for still in downtimes(report)] == [True, True]
    half = downtimes({**report, "other_applications": {"topics": ["Payments"], "groups": []}})
    assert half[0].text == "not known: other teams stop and start applications"
    assert half[1].whole

    ready = {"controlled": "YES", "durations": {"cutoff": {"writes": 3.0, "reads": 4.0, "runs": 2}}}
    (cutoff, *_others) = objectives({**ready, "other_applications": {"topics": ["Payments"], "groups": []}})
    assert (cutoff["writes_s"], cutoff["reads_s"]) == (None, 4.0)
    (cutoff, *_others) = objectives({**ready, "other_applications": BOTH.as_dict()})
    assert (cutoff["writes_s"], cutoff["reads_s"]) == (None, None)
    assert cutoff["source"] == "unknown for applications that other teams stop and start"


def test_the_judge_passes_the_terms_on() -> None:
    state = {"active": "P", "run": None, "interrupted": False}
    observed: dict[str, Any] = {"probes": [], "active_groups": [], "active_members": {}, "out_of_scope": []}
    given: dict[str, Any] = {"survey": observed, "state": state, "type": "disaster", "from": "P", "to": "B"}
    given["anyway"] = False
    assert "terms" not in judge("disaster", {**given, "other_applications": OtherApplications().as_dict()})
    (text,) = judge("disaster", {**given, "other_applications": BOTH.as_dict()})["terms"]
    assert text.endswith("must not start on P again.")
