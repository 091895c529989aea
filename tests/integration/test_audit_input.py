# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""If the audit cannot give a verdict, it prints one clear line and exits with 2, and an old result never looks new."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audits import run_audit, small_plan
from kafka_dr_audit.page import GUIDES
from lab.lab import Lab

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def good(lab: Lab) -> dict[str, Any]:
    """A plan of one small topic pair that is proven."""
    return small_plan(lab)


def audit(folder: Path, document: dict[str, Any], *more: str, **environment: str) -> tuple[int, str, dict[str, Any]]:
    """The exit code, the last line of the output, and the result."""
    (folder / "plan.json").write_text(json.dumps(document))
    done = run_audit(folder / "plan.json", folder / "out", *more, environment=environment)
    result = folder / "out" / "audit.json"
    output = [line for line in (done.stderr + done.stdout).splitlines() if not line.startswith(("audit ", "WARNING"))]
    return done.returncode, "\n".join(output), json.loads(result.read_text()) if result.exists() else {}


def test_a_good_plan_is_proven_and_its_page_needs_no_network(good: dict[str, Any], tmp_path: Path) -> None:
    code, output, result = audit(tmp_path, good)
    assert (code, result["verdict"], result["partial"]) == (0, "PROVEN", False), output
    html = (tmp_path / "out" / "audit.html").read_text()
    assert "http" not in html.replace("http-equiv", "").replace(GUIDES, "")
    assert "PROVEN" in html


SHORT = {"default.api.timeout.ms": "5000", "request.timeout.ms": "3000"}
Change = Callable[[dict[str, Any]], Any]
CASES: dict[str, tuple[Change, tuple[str, ...], dict[str, str], str]] = {
    "wrong cluster": (lambda d: d["clusters"]["P"].update(cluster_id="other"), (), {}, "must have the id other"),
    "broker unreachable": (
        lambda d: d["clusters"]["B"].update(bootstrap_servers="127.0.0.1:1", client=SHORT),
        (),
        {},
        "Cluster B (127.0.0.1:1) did not return its cluster id within",
    ),
    "wrong credentials": (
        lambda d: d["clusters"]["P"].update(client={"security.protocol": "SSL", **SHORT}),
        (),
        {},
        "Cluster P",
    ),
    "no java": (lambda d: None, (), {"JAVA_HOME": "/nonexistent"}, "Spark needs Java 17 or newer"),
    "no connector": (lambda d: None, ("--jars", "/nonexistent"), {}, "lacks spark-sql-kafka"),
    "no such setting": (lambda d: None, ("--conf", "spark"), {}, "--conf takes name=value"),
}


@pytest.mark.parametrize("name", CASES)
def test_each_problem_of_the_input_is_named(good: dict[str, Any], tmp_path: Path, name: str) -> None:
    change, more, environment, text = CASES[name]
    document = json.loads(json.dumps(good))
    change(document)
    code, output, result = audit(tmp_path, document, *more, **environment)
    assert code == 2
    assert text in output
    assert len(output.splitlines()) == 1, output
    assert result.get("verdict", "UNKNOWN") == "UNKNOWN"


def test_jars_of_another_version_are_refused(good: dict[str, Any], tmp_path: Path) -> None:
    folder = tmp_path / "jars"
    folder.mkdir()
    for name in ("spark-sql-kafka-0-10_2.13-4.2.0.jar", "spark-token-provider-kafka-0-10_2.13-4.2.0.jar"):
        (folder / name).write_text("something else")
    for name in ("kafka-clients-3.9.2.jar", "commons-pool2-2.13.1.jar"):
        (folder / name).write_text("something else")
    code, output, _other = audit(tmp_path, good, "--jars", str(folder))
    assert code == 2
    assert "SHA-256" in output


def test_a_failed_audit_removes_the_old_result(good: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "audit.json").write_text('{"verdict": "PROVEN"}')
    code, _said, result = audit(tmp_path, good, "--jars", "/nonexistent")
    assert (code, result) == (2, {})


def test_an_unusable_folder_is_named(good: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    (tmp_path / "plan.json").write_text(json.dumps(good))
    done = run_audit(tmp_path / "plan.json", tmp_path / "out")
    assert done.returncode == 2
    assert "cannot be used" in done.stderr
