# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each kind of report is built from the values that its role passes to dr_report."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.documents import (
    KINDS,
    document,
    fence_result,
    rescue_result,
)
from ansible_collections.switchback.kafka_dr.plugins.modules import dr_report
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module
from example_reports import readiness
from schemas import faults

ROOT = Path(__file__).resolve().parents[3]
NOW = 1795417110.5
READINESS: dict[str, Any] = {key: value for key, value in readiness().items() if key not in ("schema", "next", "pager")}
LEASE = {"kind": "enable", "to": None, "since": NOW - 5, "ended": None, "holder": "c1", "outcome": None}
STATUS: dict[str, Any] = {
    "verdict": "PROVEN",
    "flows": [],
    "groups": [],
    "missing": [],
    "unjoined": [],
    "competing_flows": [],
    "open_transactions": [],
}


def test_every_kind_is_built_by_a_role() -> None:
    tasks = " ".join(path.read_text() for path in ROOT.glob("roles/*/tasks/*.yml"))
    assert set(re.findall(r"dr_report:\n +kind: (\w+)", tasks)) == {"run", *KINDS}


def test_readiness_has_the_lines_of_its_module_and_current_metrics() -> None:
    facts = {"pair": "B-P", "run_on": "localhost", "readiness": READINESS, "lines": ["controlled: YES"]}
    found = document("readiness", facts, NOW)
    assert found.lines == ["controlled: YES"]
    assert found.content == readiness()
    assert f'kafka_dr_readiness_timestamp_seconds{{pair="B-P",from="P",to="B"}} {NOW!r}' in (found.metrics or "")


def test_the_status_shows_leases_by_their_age() -> None:
    facts = {"status": STATUS, "state": {"active": "P", "run": None}, "leases": [LEASE], "run_on": "localhost"}
    found = document("status", facts, NOW)
    assert found.lines == ["PROVEN: applications live on P", "  enable: began 5 s ago and has not ended"]
    assert found.content["journal"] == facts["state"]
    assert found.content["leases"] == [LEASE]


def test_the_status_needs_no_more_than_the_active_cluster() -> None:
    assert document("status", {"status": STATUS, "state": {"active": "B"}}, NOW).lines == [
        "PROVEN: applications live on B"
    ]


def test_a_checkpoint_report_names_the_cluster_and_keeps_its_offsets() -> None:
    result = {
        "outcome": "skipped",
        "reason": "the applications live there",
        "committed": 0,
        "rereads": 0,
        "preexisting_higher_offsets": [],
        "left_out": [],
        "details": [],
    }
    found = document("checkpoint", {"pair": "B-P", "to": "B", "result": {**result, "changed": False}}, NOW)
    assert found.lines == ["no offset was committed on B: the applications live there"]
    assert faults(found.content) == []


def test_a_rehearsal_report_lists_its_creations_as_deletions() -> None:
    rehearsal = {
        "rehearsal": {
            "of": {"P": "P", "B": "B"},
            "belongings": {"P": {"topics": ["t"], "groups": [], "connectors": [], "principals": []}},
        },
        "parts": ["source", "checkpoint", "heartbeat"],
        "policy": "default",
        "separator": ".",
        "clusters": ["P", "B"],
        "clients": [],
    }
    found = document("changes", {"kind": "rehearse", "pair": "B-P", "results": [], "rehearsal": rehearsal}, NOW)
    assert found.lines[:2] == ["would create topic t (P)", "would delete topic t (P)"]
    assert faults(found.content) == []


def test_metrics_are_written_to_the_requested_file_and_never_in_check_mode(tmp_path: Path) -> None:
    metrics = tmp_path / "kafka_dr.prom"
    facts = {"pair": "B-P", "run_on": "localhost", "readiness": READINESS, "lines": []}
    params = {"kind": "readiness", "folder": str(tmp_path), "metrics_file": str(metrics), "facts": facts}
    assert run_module(dr_report, params, check=True)["paths"] == []
    assert not metrics.exists()
    assert run_module(dr_report, params)["changed"] is False
    assert metrics.read_text().startswith("# HELP kafka_dr_ready ")
    assert metrics.stat().st_mode & 0o777 == 0o644


def test_a_report_that_cannot_be_written_is_returned(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    facts = {"status": STATUS, "state": {"active": "B"}}
    params = {"kind": "status", "folder": str(tmp_path / "file"), "names": ["status"], "facts": facts}
    result = run_module(dr_report, params)
    assert result["error"]["code"] == "no_report"
    assert result["report"]["verdict"] == "PROVEN"
    assert result["lines"] == ["PROVEN: applications live on B"]


def test_metrics_that_cannot_be_written_are_a_plain_error(tmp_path: Path) -> None:
    facts = {"pair": "B-P", "run_on": "localhost", "readiness": READINESS, "lines": []}
    missing = tmp_path / "missing" / "kafka_dr.prom"
    result = run_module(
        dr_report, {"kind": "readiness", "folder": str(tmp_path), "metrics_file": str(missing), "facts": facts}
    )
    assert result["error"]["code"] == "no_report"
    assert "kafka_dr_metrics_file" in result["msg"]


def test_a_fence_counts_only_if_every_writing_application_has_a_principal() -> None:
    found = {"fenced": True, "proven": True, "reason": "WRITE is denied", "changed": True}
    ends = {"Payments": {"0": 9}}
    denied = {"fenced": True, "proven": True, "reason": "WRITE is denied"}
    assert fence_result(found, []) == {**denied, "ends": {}}
    assert fence_result({**found, "ends": ends}, []) == {**denied, "ends": ends}
    reason = "WRITE is denied; without a principal: api, job"
    left_open = {"fenced": False, "proven": False, "reason": reason, "ends": {}}
    assert fence_result(found, ["api", "job"]) == left_open


def test_a_fence_that_could_not_be_read_is_open_and_no_fence_is_none() -> None:
    failed = {"failed": True, "msg": "It broke. Start again.", "error": {"message": "It broke."}}
    assert fence_result(failed, []) == {"fenced": False, "proven": False, "reason": "It broke."}
    assert fence_result({"failed": True}, []) == {"fenced": False, "proven": False, "reason": "unknown"}
    assert fence_result(None, ["api"]) is None


def test_a_rescue_that_failed_replicated_nothing_and_one_that_was_skipped_is_none() -> None:
    done = {"replicated": True, "text": "all of it", "changed": False}
    assert rescue_result(done) == {"replicated": True, "text": "all of it"}
    assert rescue_result({"failed": True}) == {"replicated": False, "text": "it could not be read"}
    assert rescue_result({"skipped": True, "changed": False}) is rescue_result({}) is None
