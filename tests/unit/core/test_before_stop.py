# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which readiness checks preflight of a planned move asks, and which it leaves out on purpose."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.facts import (
    CONTROLLED,
    Check,
    Facts,
    refusals_before_stop,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.readiness import CHECKS
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.names import naming_of
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.verdict import (
    PROVEN,
    REFUTED,
    UNKNOWN,
    Finding,
)

PAGE = (Path(__file__).parents[3] / "docs" / "correctness.md").read_text()
FACTS = Facts(x="P", y="B", naming=naming_of("default", "."), originals=["T"], away={})


def check(name: str, verdict: str = PROVEN, **parts: object) -> Check:
    made = Check(name, f"Is {name} so?", lambda _facts: Finding(verdict, f"{name} was seen."), f"Repair {name}.")
    return replace(made, **parts)  # type: ignore[arg-type]


def table(title: str) -> Mapping[str, str]:
    """The first two columns of the table after ``title``."""
    text = PAGE.split(f"\n**{title}")[1].split("\n\n")[1]
    return dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", text, re.MULTILINE))


def test_the_page_lists_each_check_that_is_left_out_with_its_reason() -> None:
    assert table("Left out.") == {one.name: one.left_out for one in CHECKS if one.left_out}


def test_the_page_lists_each_check_that_another_part_of_preflight_asks() -> None:
    assert table("Asked by another part.") == {one.name: one.asked_by for one in CHECKS if one.asked_by}


def test_the_page_names_each_check_that_the_last_part_asks() -> None:
    (line,) = re.findall(r"^The last part asks (.*?)\.$", PAGE, re.MULTILINE | re.DOTALL)
    assert set(re.findall(r"`(\w+)`", line)) == {one.name for one in CHECKS if one.before_stop}


def test_each_check_of_a_planned_move_is_asked_or_has_one_reason() -> None:
    for one in CHECKS:
        places = [one.before_stop, bool(one.asked_by), bool(one.left_out)]
        assert sum(places) == (CONTROLLED in one.counts), one.name


def test_a_new_check_is_asked() -> None:
    assert check("new").before_stop
    assert not check("new", counts=("disaster",)).before_stop


def test_no_check_that_is_asked_rests_on_one_that_is_left_out() -> None:
    left_out = {one.name for one in CHECKS if one.left_out}
    needs = {one.name: one.needs for one in CHECKS}

    def rests_on(name: str) -> set[str]:
        return {name}.union(*(rests_on(need) for need in needs[name]))

    assert [one.name for one in CHECKS if one.before_stop and rests_on(one.name) & left_out] == []


@pytest.mark.parametrize("verdict", [REFUTED, UNKNOWN])
def test_no_and_unknown_refuse_with_the_evidence_and_the_remedy(verdict: str) -> None:
    answer = "NO" if verdict == REFUTED else "UNKNOWN"
    text = f"Is rotten so? {answer} (rotten): rotten was seen. Repair rotten."
    assert refusals_before_stop(FACTS, [check("fine"), check("rotten", verdict)]) == [text]


def test_an_accepted_no_does_not_refuse_and_an_unknown_answer_cannot_be_accepted() -> None:
    checks = [check("known", REFUTED), check("hidden", UNKNOWN)]
    (text,) = refusals_before_stop(FACTS, checks, ["known", "hidden"])
    assert text.startswith("Is hidden so?")


def test_a_check_may_pass_with_unknown_but_not_with_no() -> None:
    lenient = {"refuses_unknown": False}
    assert refusals_before_stop(FACTS, [check("rights", UNKNOWN, **lenient)]) == []
    assert len(refusals_before_stop(FACTS, [check("rights", REFUTED, **lenient)])) == 1


def test_what_another_part_asks_does_not_refuse_again_and_does_not_hide_what_needs_it() -> None:
    other = check("flow", UNKNOWN, asked_by="the observation of the flows")
    (text,) = refusals_before_stop(FACTS, [other, check("carries", REFUTED, needs=("flow",))])
    assert "(carries)" in text


def test_nothing_observed_refuses_every_check_that_is_asked() -> None:
    texts = refusals_before_stop(FACTS, CHECKS)
    first = next(one for one in CHECKS if one.before_stop)
    assert any(f"({first.name})" in text for text in texts)
