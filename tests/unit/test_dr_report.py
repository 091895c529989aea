# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports are whole, in every mode, and never a change."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._files import is_as_wanted, write_whole
from ansible_collections.switchback.kafka_dr.plugins.modules import dr_report
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module


@pytest.mark.parametrize("check", [True, False])
def test_each_name_gets_the_report_and_nothing_counts_as_a_change(tmp_path: Path, check: bool) -> None:
    params = {"folder": str(tmp_path / "a" / "b"), "names": ["last", "run-1"], "content": {"verdict": "UNKNOWN"}}
    for _again in range(2):
        result = run_module(dr_report, params, check=check, diff=True)
        assert (result["changed"], result["rc"]) == (False, 0)
        assert [json.loads(Path(path).read_text()) for path in result["paths"]] == [{"verdict": "UNKNOWN"}] * 2
    assert sorted(path.name for path in (tmp_path / "a" / "b").iterdir()) == ["last.json", "run-1.json"]
    assert (tmp_path / "a" / "b" / "last.json").stat().st_mode & 0o777 == 0o640


def test_a_folder_that_cannot_be_made_is_a_plain_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = run_module(dr_report, {"folder": str(tmp_path / "file" / "x"), "names": ["a"], "content": {}})
    assert result["failed"]
    assert result["error"]["code"] == "no_report"


def test_a_failed_write_leaves_the_old_file_and_no_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.json"
    write_whole(path, "old", 0o640)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_whole(path, "new", 0o640)
    assert is_as_wanted(path, "old", 0o640)
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.json"]
