# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/compatibility.md holds what `make compatibility` found, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from compatibility import FAILED, LIBRARIES, NEWEST, PASSED, REFUSED, ROWS, TOO_OLD, Libraries, Versions
from compatibility_page import LIBRARY_RESULTS, PAGE, RESULTS, merged, page, read
from lab.ivy import KAFKA_VERSION
from lab.jars import pinned

ENTRIES: list[dict[str, Any]] = json.loads(RESULTS.read_text(encoding="utf-8"))


def test_the_page_is_the_one_of_the_results() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == page(ENTRIES, read(LIBRARY_RESULTS)), "run `make compatibility PAGE=1`"


def test_only_rows_of_the_matrix_that_met_their_promise_are_kept() -> None:
    rows = {row.name: row for row in ROWS}
    for entry in ENTRIES:
        row = rows[Versions(**entry["versions"]).name]
        assert entry["result"] == (REFUSED if row.refused else PASSED), entry
        if row.refused:
            assert TOO_OLD in entry["text"]
        else:
            assert entry["acknowledged"] > 0
            assert set(entry["harm"].values()) == {0}, entry
            assert entry["audit"] == "PROVEN"


def test_the_lab_has_the_jars_of_each_row() -> None:
    assert NEWEST == KAFKA_VERSION
    assert len({row.name for row in ROWS}) == len(ROWS)
    for version in {version for row in ROWS for version in row.all}:
        assert pinned(version).exists()


@pytest.mark.parametrize("version", ["2.8.2", "3.4.1", "3.6.2", "3.7.2", "3.9.1", "4.1.1", "4.3.1"])
def test_each_supported_version_of_brokers_is_on_each_side(version: str) -> None:
    assert {side for row in ROWS for side in ("p", "b") if getattr(row, side) == version} == {"p", "b"}


def test_a_row_without_a_result_is_shown_as_such() -> None:
    cells = " | ".join(ROWS[1].all)
    assert f"| {cells} | not run |" in page([], [])
    assert len([line for line in page([], []).splitlines() if line.endswith("| not run |  |  |  |")]) == len(ROWS)


def test_the_rows_of_the_libraries_passed_or_are_shown_as_not_run() -> None:
    names = {row.name for row in LIBRARIES}
    for entry in read(LIBRARY_RESULTS):
        assert Libraries(**entry["versions"]).name in names
        assert (entry["result"], entry["audit"], entry["text"]) == (PASSED, "PROVEN", ""), entry
    assert len([line for line in page([], []).splitlines() if line.endswith("| not run |  |  |")]) == len(LIBRARIES)


def test_a_row_that_ran_again_replaces_its_earlier_result() -> None:
    old = {"versions": {"p": "1"}, "result": FAILED}
    other = {"versions": {"p": "2"}, "result": PASSED}
    new = {"versions": {"p": "1"}, "result": PASSED}
    assert merged([old, other], new) == [other, new]


def test_a_finding_with_a_bar_does_not_break_the_table() -> None:
    entry = {
        "versions": {"p": "3.9.1", "b": "3.9.1", "workers_p": "3.9.1", "workers_b": "3.9.1"},
        "result": PASSED,
        "at": "2026-01-02T03:04Z",
        "limits": ["versions: a|b"],
        "acknowledged": 7,
    }
    line = next(line for line in page([entry], []).splitlines() if line.startswith("| 3.9.1 "))
    assert line.endswith("| passed | 7 | versions: a\\|b | 2026-01-02 |")
