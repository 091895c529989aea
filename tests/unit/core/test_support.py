# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A support bundle has each part, or the reason why it is missing. It holds no secret and only our own reports."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.redaction import HIDDEN
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.support import REPORTS, bundle, lines
from ansible_collections.switchback.kafka_dr.plugins.modules import dr_support_bundle
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module
from schemas import faults

VARIABLES: dict[str, Any] = {
    "kafka_dr_home": "P",
    "kafka_dr_clusters": {"P": {"client": {"sasl.username": "dr", "sasl.password": "hunter2"}}},
    "kafka_dr_clients": [{"name": "api", "start": ["/ctl", "-p", "qwerty", "start"], "stop": ["/ctl"]}],
    "kafka_dr_hooks": [{"name": "page", "command": ["/page", "asdfgh"], "timeout": 10}],
}
SIDES = {
    "sides": {
        "P": {"journal": {"error": "No broker answers; tried hunter2."}},
        "B": {"journal": {"found": [{"epoch": 1, "data": {"note": "hunter2"}}]}},
    },
    "versions": {"collection": "1.0.0", "java": None},
}
OBSERVATIONS: dict[str, Any] = {
    "status": {"failed": True, "msg": "P does not answer."},
    "readiness": {"readiness": {"controlled": "NO"}},
    "sides": SIDES,
    "versions": SIDES,
}
REPORT = json.dumps({"schema": "switchback.kafka_dr/report/2", "text": "hunter2"})


def made(**changes: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """``about.json``, and the text of all files."""
    given = {"observations": OBSERVATIONS, "reports": {}, **changes}
    texts = bundle("B-P", "2026-01-01T00:00:00Z", VARIABLES, **given)
    assert "hunter2" not in str(texts)
    files = {name: json.loads(text) for name, text in texts.items()}
    return files["about.json"], files


def test_each_part_is_a_file_or_a_reason() -> None:
    about, files = made(reports={"cutoff-B.json": REPORT})
    assert faults(about) == []
    assert about["files"] == ["B/journal.json", "inventory.json", "readiness.json", "reports/cutoff-B.json"]
    assert set(files) == {*about["files"], "about.json"}
    assert about["missing"] == {"status": "P does not answer.", "P/journal": f"No broker answers; tried {HIDDEN}."}
    assert about["versions"] == {"collection": "1.0.0", "java": None}
    assert files["readiness.json"] == {"controlled": "NO"}


def test_the_inventory_is_included_without_passwords_and_command_arguments() -> None:
    shown = made()[1]["inventory.json"]
    assert shown["kafka_dr_clusters"]["P"]["client"] == {"sasl.username": "dr", "sasl.password": HIDDEN}
    assert shown["kafka_dr_clients"] == [{"name": "api", "start": ["/ctl", HIDDEN, HIDDEN, HIDDEN], "stop": ["/ctl"]}]
    assert shown["kafka_dr_hooks"] == [{"name": "page", "command": ["/page", HIDDEN], "timeout": 10}]


@pytest.mark.parametrize("result", [{}, None, "text", {"status": None}])
def test_an_unobserved_part_is_reported(result: Any) -> None:
    about, _files = made(observations={"status": result})
    assert about["missing"]["status"] == "it was not observed"
    assert about["versions"] is None


@pytest.mark.parametrize("text", ["{", "[]", '{"schema": "other/1"}', '"x"', ""])
def test_files_that_are_not_our_reports_are_left_out(text: str) -> None:
    about, files = made(reports={"x.json": text}, left_out=3)
    assert "reports/x.json" in about["missing"]
    assert about["missing"]["reports"] == "3 older reports are left out"
    assert "reports/x.json" not in files


def test_the_bundle_is_summarised_in_lines() -> None:
    reported = lines(bundle("B-P", "now", VARIABLES, OBSERVATIONS, {}))
    assert reported[0] == "4 files about the pair B-P"
    assert "missing: status: P does not answer." in reported


def params(folder: Path) -> dict[str, Any]:
    return {"folder": str(folder), "pair": "B-P", "variables": VARIABLES, "observations": OBSERVATIONS}


def test_the_module_writes_one_archive_with_the_newest_reports(tmp_path: Path) -> None:
    for number in range(REPORTS + 2):
        (tmp_path / f"{number}.json").write_text(REPORT)
    (tmp_path / "salvage").mkdir()
    (tmp_path / "salvage" / "records.json").write_text(REPORT)
    result = run_module(dr_support_bundle, params(tmp_path))
    assert (result["changed"], result["rc"]) == (False, 0)
    path = Path(result["path"])
    assert path.stat().st_mode & 0o777 == 0o640
    with tarfile.open(path) as archive:
        texts = {entry.name: archive.extractfile(entry).read().decode() for entry in archive}  # type: ignore[union-attr]
    top = path.name.removesuffix(".tar.gz")
    assert sorted(texts) == sorted(f"{top}/{name}" for name in result["files"])
    assert not [name for name in texts if "records" in name]
    assert sum("/reports/" in name for name in texts) == REPORTS
    assert result["missing"]["reports"] == "2 older reports are left out"
    assert "hunter2" not in str(texts)


def test_check_mode_writes_nothing(tmp_path: Path) -> None:
    result = run_module(dr_support_bundle, params(tmp_path / "reports"), check=True)
    assert result["files"]
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = run_module(dr_support_bundle, params(tmp_path / "file" / "reports"))
    assert result["error"]["code"] == "no_bundle"
