# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every rule that code, tests or documentation cite exists in docs/correctness.md, and every rule is cited."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from repository import ROOT, name, read, require_none, tracked

PAGE = ROOT / "docs" / "correctness.md"
PLACES = (
    "docs",
    "playbooks",
    "plugins",
    "roles",
    "spark",
    "tests",
    "molecule",
    "README.md",
    "CONTRIBUTING.md",
    "Makefile",
)
SUFFIXES = {".py", ".yml", ".md", ".j2"}
CITATION = re.compile(r"\bR(\d+)\b")
TEST = re.compile(r"^ *def (test_\w+)\(", re.MULTILINE)
SECTIONS = dict(re.findall(r"^### R(\d+) .*?\n(.*?)(?=^##|\Z)", read(PAGE), re.MULTILINE | re.DOTALL))


def texts() -> list[Path]:
    """The text files of the project, without the page itself and this test."""
    return [
        path
        for path in tracked(*PLACES)
        if (path.suffix in SUFFIXES or path.name == "Makefile") and path not in (PAGE, Path(__file__))
    ]


@cache
def citations() -> dict[str, set[str]]:
    """The files that cite a rule, by its number."""
    found: dict[str, set[str]] = {}
    for path in texts():
        for number in CITATION.findall(read(path)):
            found.setdefault(number, set()).add(name(path))
    return found


def test_every_cited_rule_exists() -> None:
    require_none(f"R{number}: {path}" for number in citations().keys() - SECTIONS for path in citations()[number])


def test_each_rule_is_cited_by_code_and_by_a_test() -> None:
    for places in (("plugins/", "roles/", "playbooks/", "spark/", "Makefile"), ("tests/", "molecule/")):
        require_none(
            f"R{number} is not cited below {', '.join(places)}"
            for number in SECTIONS
            if not any(path.startswith(places) for path in citations().get(number, ()))
        )


def test_rules_are_numbered_without_a_gap() -> None:
    assert list(SECTIONS) == [str(number) for number in range(1, len(SECTIONS) + 1)]


def test_each_rule_has_a_counterexample_and_names_files_that_exist() -> None:
    require_none(f"R{number}: {fault}" for number, text in SECTIONS.items() for fault in faults(text))


def faults(text: str) -> Iterator[str]:
    if "- Counterexample:" not in text:
        yield "no counterexample"
    enforced, tested = text.split("- Code: ")[1].split("Tests: ")
    for part in (enforced, tested):
        paths = re.findall(r"`([^`]+)`", part)
        yield from (f"{path} does not exist" for path in paths if not (ROOT / path).exists())
        if not paths:
            yield f"no file in: {part}"


def test_each_of_the_first_rules_has_a_state_that_makes_its_premise_false_and_something_that_makes_the_state() -> None:
    """What a row names exists: a file, a test, or a trip of the chaos."""
    table = read(PAGE).split("### States that make a premise false")[1]
    rows = re.findall(r"^\| R(\d+) \| (.+?) \| (.+) \|$", table, re.MULTILINE)
    assert [number for number, *_texts in rows] == [str(number) for number in range(1, 36)]
    tests = {name for path in (ROOT / "tests").rglob("test_*.py") for name in TEST.findall(read(path))}
    chaos = read(ROOT / "tests" / "chaos" / "__main__.py")
    for number, state, made_by in rows:
        assert state
        names = re.findall(r"`([^`]+)`", made_by)
        trips = set(re.findall(r"chaos `([^`]+)`", made_by))
        assert names, number
        unknown = [name for name in names if name not in trips and name not in tests and not (ROOT / name).is_file()]
        assert unknown == [], number
        assert [trip for trip in trips if trip not in chaos] == [], number
