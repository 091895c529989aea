# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hooks around the phases: checked before a run starts, chosen by moment, and announced beforehand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.hooks import (
    HOOK_KEYS,
    MOMENTS,
    check_hook,
    hook_lines,
    hooks_at,
    hooks_by_moment,
    steps_by_phase,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.schema import check_mapping

ROLE = Path(__file__).resolve().parents[3] / "roles" / "cutover"


def hook(**parts: Any) -> dict[str, Any]:
    given = {"name": "dns", "when": "before", "phase": "start", "command": ["/opt/dns", "B"], **parts}
    filled, problems = check_mapping("kafka_dr_hooks[0]", given, HOOK_KEYS)
    assert problems == []
    return filled


def test_the_moments_are_the_phases_of_the_role_and_the_start_and_end_of_a_run() -> None:
    files = {path.stem.removeprefix("phase_") for path in (ROLE / "tasks").glob("phase_*.yml")}
    assert {phase for moments in MOMENTS.values() for phase in moments} == {*files, "run", "undo"}
    assert all(moments[-2:] == ("run", "undo") for moments in MOMENTS.values())


def test_the_run_and_its_undo_have_their_hooks() -> None:
    """The role looks for hooks at every moment that an inventory may name."""
    text = "".join(path.read_text() for path in (ROLE / "tasks").glob("*.yml"))
    for moment in ("run", "undo"):
        for when in ("before", "after"):
            assert any(
                f"{pad}cutover_when: {when}\n{pad}cutover_moment: {moment}\n" in text for pad in (" " * 4, " " * 8)
            ), (when, moment)


def test_each_phase_has_its_file_and_only_the_hooks_that_it_needs() -> None:
    rows = [hook(phase="drain"), hook(name="after", phase="drain", when="after", types=["cutoff"])]
    found = steps_by_phase(rows)
    assert [(step["file"], step["when"]) for step in found["cutoff"]["drain"]] == [
        ("begin_phase.yml", "before"),
        ("deadline.yml", "before"),
        ("hooks.yml", "before"),
        ("resume_flow.yml", "before"),
        ("phase_drain.yml", "before"),
        ("hooks.yml", "after"),
    ]
    alone = ["begin_phase.yml", "deadline.yml", "phase_survey.yml"]
    assert [step["file"] for step in found["disaster"]["survey"]] == alone
    assert all([step["file"] for step in phases["flows"]][1:2] == ["arrived.yml"] for phases in found.values())
    files = {step["file"] for phases in found.values() for steps in phases.values() for step in steps}
    assert all((ROLE / "tasks" / file).is_file() for file in files)
    for name, phases in found.items():
        assert [*phases, "run", "undo"] == list(MOMENTS[name])
        assert all(step["phase"] == phase for phase, steps in phases.items() for step in steps)


def test_a_good_hook_has_no_problem() -> None:
    assert check_hook(hook()) == []
    assert check_hook(hook(command=None, tasks_file="/etc/kafka-dr/dns.yml", phase="run", when="after")) == []


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ({"phase": "strat"}, 'unknown phase "strat". Did you mean "start"?'),
        ({"types": ["cutof"]}, 'unknown type "cutof"'),
        ({"types": ["continuous"]}, "would never run: no continuous has the phase"),
        ({"types": []}, "would never run"),
        ({"tasks_file": "/etc/x.yml"}, "needs exactly one of the keys"),
        ({"command": None}, "needs exactly one of the keys"),
        ({"command": None, "tasks_file": "x.yml"}, "must be an absolute path"),
        ({"command": []}, "a list of words"),
        ({"command": ["/opt/dns", 1]}, "a list of words"),
        ({"timeout": 0}, "at least 1 s, found 0"),
    ],
)
def test_each_mistake_in_a_hook_is_named(parts: dict[str, Any], text: str) -> None:
    problems = check_hook(hook(**parts))
    assert len(problems) == 1
    assert problems[0].startswith('The hook "dns" ')
    assert text in problems[0]


def test_hooks_of_a_moment_are_in_the_order_of_the_inventory() -> None:
    rows = [
        hook(name="second", phase="barrier"),
        hook(name="a"),
        hook(name="after", when="after"),
        hook(name="other", types=["continuous", "disaster"], phase="arrival"),
        hook(name="b"),
    ]
    assert [row["name"] for row in hooks_at(rows, "before", "start", "cutoff")] == ["a", "b"]
    assert [row["name"] for row in hooks_at(rows, "before", "arrival", "cutoff")] == []
    assert [row["name"] for row in hooks_at(rows, "before", "arrival", "disaster")] == ["other"]
    found = hooks_by_moment(rows)
    assert {
        kind: {moment: [row["name"] for row in some] for moment, some in moments.items()}
        for kind, moments in found.items()
    } == {
        "cutoff": {"before start": ["a", "b"], "after start": ["after"], "before barrier": ["second"]},
        "continuous": {
            "before start": ["a", "b"],
            "after start": ["after"],
            "before barrier": ["second"],
            "before arrival": ["other"],
        },
        "disaster": {
            "before start": ["a", "b"],
            "after start": ["after"],
            "before barrier": ["second"],
            "before arrival": ["other"],
        },
    }


def test_lines_come_in_the_order_of_the_phases() -> None:
    rows = [hook(name="page", phase="run", when="after", timeout=5), hook(name="dns"), hook(name="lb", phase="drain")]
    assert hook_lines(rows, "cutoff") == [
        "hook before drain: lb, at most 60 s",
        "hook before start: dns, at most 60 s",
        "hook after run: page, at most 5 s",
    ]
    assert hook_lines(rows, "continuous") == ["hook after run: page, at most 5 s"]
