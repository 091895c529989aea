# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports are complete in every mode, and writing one is never a change."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._files import is_as_wanted, write_whole
from ansible_collections.switchback.kafka_dr.plugins.modules import dr_report
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module


@pytest.mark.parametrize("check", [True, False])
def test_each_name_gets_the_report_and_nothing_counts_as_a_change(tmp_path: Path, check: bool) -> None:
    params = {
        "folder": str(tmp_path / "a" / "b"),
        "names": ["last", "run-1"],
        "kind": "finished",
        "facts": {"verdict": "UNKNOWN"},
    }
    for _again in range(2):
        result = run_module(dr_report, params, check=check, diff=True)
        assert (result["changed"], result["rc"]) == (False, 0)
        assert [json.loads(Path(path).read_text()) for path in result["paths"]] == [{"verdict": "UNKNOWN"}] * 2
        assert result["pages"] == []
    prefix = "check-" if check else ""
    assert sorted(path.name for path in (tmp_path / "a" / "b").iterdir()) == [
        f"{prefix}last.json",
        f"{prefix}run-1.json",
    ]
    assert (tmp_path / "a" / "b" / f"{prefix}last.json").stat().st_mode & 0o777 == 0o640


READY = {"schema": "switchback.kafka_dr/readiness/2", "pair": "B-P", "from": "P", "to": "B", "controlled": "YES"}


@pytest.mark.parametrize("check", [True, False])
def test_a_report_gets_a_page_beside_each_file_and_an_equal_page_is_not_rewritten(tmp_path: Path, check: bool) -> None:
    params = {"folder": str(tmp_path), "names": ["last", "run-1"], "kind": "finished", "facts": READY}
    last, first = (f"{'check-' if check else ''}{name}" for name in ("last", "run-1"))
    result = run_module(dr_report, params, check=check, diff=True)
    assert (result["changed"], result["rc"]) == (False, 0)
    assert result["pages"] == [path.replace(".json", ".html") for path in result["paths"]]
    assert {path.name for path in tmp_path.iterdir()} == {
        f"{last}.json",
        f"{last}.html",
        f"{first}.json",
        f"{first}.html",
    }
    for path in result["pages"]:
        assert Path(path).read_text().startswith("<!DOCTYPE html>")
        assert Path(path).stat().st_mode & 0o777 == 0o640

    before = {path: path.stat().st_ino for path in tmp_path.iterdir()}
    # Changed by another program: other content, other permissions, or no text.
    (tmp_path / f"{last}.html").write_bytes(b"\xff")
    (tmp_path / f"{last}.json").chmod(0o600)
    again = run_module(dr_report, params, check=check)
    assert (again["paths"], again["pages"]) == (result["paths"], result["pages"])
    replaced = {path.name for path, inode in before.items() if path.stat().st_ino != inode}
    assert replaced == {f"{last}.html", f"{last}.json"}
    assert (tmp_path / f"{last}.html").read_text() == (tmp_path / f"{first}.html").read_text()
    assert (tmp_path / f"{last}.json").stat().st_mode & 0o777 == 0o640

    changed = run_module(dr_report, {**params, "facts": {**READY, "controlled": "NO"}}, check=check)
    assert ">NO</span> for a controlled cutover" in Path(changed["pages"][0]).read_text()


def test_the_report_is_written_even_if_its_page_fails(tmp_path: Path) -> None:
    (tmp_path / "last.html").mkdir()
    result = run_module(dr_report, {"folder": str(tmp_path), "names": ["last"], "kind": "finished", "facts": READY})
    assert result["error"]["code"] == "no_report"
    assert json.loads((tmp_path / "last.json").read_text()) == READY


def test_a_folder_that_cannot_be_created_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = run_module(
        dr_report, {"folder": str(tmp_path / "file" / "x"), "names": ["a"], "kind": "finished", "facts": {}}
    )
    assert result["failed"]
    assert result["error"]["code"] == "no_report"


def test_a_failed_write_leaves_the_old_file_and_no_partial_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.json"
    write_whole(path, "old", 0o640)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_whole(path, "new", 0o640)
    assert is_as_wanted(path, "old", 0o640)
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.json"]


def test_a_check_run_does_not_change_the_reports_of_real_runs(tmp_path: Path) -> None:
    params = {"folder": str(tmp_path), "names": ["cutoff-B"], "kind": "finished", "facts": READY}
    run_module(dr_report, params)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    checked = run_module(dr_report, {**params, "facts": {**READY, "controlled": "NO"}}, check=True)
    assert [Path(path).name for path in checked["paths"] + checked["pages"]] == [
        "check-cutoff-B.json",
        "check-cutoff-B.html",
    ]
    assert {name: (tmp_path / name).read_bytes() for name in before} == before
