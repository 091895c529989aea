# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One report for every outcome, which never claims more than was observed."""

from __future__ import annotations

import json
import time
from datetime import datetime
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.cutover import (
    arrival_text,
    cutover_report,
    epoch_seconds,
    report_lines,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.cutover_checks import _fence
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.outcome import lost, said, standstill
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.status import (
    checkpoint_lines,
    lease_lines,
    status_lines,
)

ARRIVED = {
    "first_write": {"verdict": "PROVEN", "reason": "first records of 1 topics read back"},
    "groups": {"verdict": "PROVEN", "reason": "1 groups have members"},
}

DEPARTED = {"verdict": "PROVEN", "reason": "1 groups have no members on P"}
NO_GROUPS = {"verdict": "NOT_APPLICABLE", "reason": "no group moved, so none had to arrive"}


def settled(
    *verdicts: str, reason: str = "replicated up to 4 of 9, the rest could not be read"
) -> list[dict[str, Any]]:
    """One partition of T for each verdict, as ``dr_status_info`` returns it."""
    return [
        {"topic": "T", "partition": number, "drained": verdict, "reason": reason}
        for number, verdict in enumerate(verdicts)
    ]


def gone(*counts: tuple[int, int | None]) -> dict[str, Any]:
    """A barrier with these bounds, by group."""
    names = ("g", "archive")
    rows = zip(names, counts, strict=False)
    place = {"topic": "P.T", "partition": 0}
    return {"skips": [{"group": name, **place, "at_least": low, "at_most": high} for name, (low, high) in rows]}


ROW = {"existing": None, "offset": 5, "quality": "safe", "method": "checkpoint", "rereads": 2}


def facts(**parts: Any) -> dict[str, Any]:
    base = {
        "pair": "B-P",
        "type": "cutoff",
        "from": "P",
        "to": "B",
        "run": "r1",
        "outcome": "completed",
        "began": "1700000000.0",
        "ended": "1700000004.25",
        "judgement": {"verdict": "PROVEN", "text": "lives there"},
        "times": [{"phase": "drain", "began": "1700000001", "ended": "1700000002.5", "result": "ok"}],
        "hooks": [],
        "rereads": 0,
        "details": [ROW],
        "survey": None,
        "probes": [],
        "lowered": 0,
        "kept": [],
        "rescue": None,
        "fence": None,
        "unstopped": [],
        "barrier": {"cut": {}, "skips": []},
        "arrival": ARRIVED,
        "departure": [DEPARTED, DEPARTED],
        "undeclared_groups": [],
        "late_writes": [],
        "one_log": False,
        "settled": settled("PROVEN", "PROVEN"),
        "audit": None,
        "failure": None,
        "plan": {},
        "passed": True,
        "turned": 1700000003.0,
        "journal": {"active": "P", "interrupted": False},
        "run_on": "localhost",
        "drop": [],
        "options": {},
        "rehearsal": False,
    }
    return {**base, **parts}


def audited(verdict: str, reason: str = "") -> dict[str, Any]:
    text = [f"{verdict}: B-P, 9 records compared", "  a line"]
    return {"verdict": verdict, "reason": reason, "text": text, "not_checked": ["later records"], "folder": "/a"}


def checks(report: dict[str, Any]) -> dict[str, str]:
    return {check["name"]: check["verdict"] for check in report["checks"]}


STOPPED = [("failed", "r1"), ("undone", "r1"), ("undo_failed", "r1"), ("failed", None)]


@pytest.mark.parametrize(("outcome", "run"), STOPPED)
def test_a_move_that_stopped_is_started_again_with_the_options_that_it_had(outcome: str, run: str | None) -> None:
    """R6: without them, the next run stops at the offsets that this one accepted."""
    given = {"outcome": outcome, "run": run, "options": {"lower": "lower", "group_lag": "reread"}}
    (step,) = cutover_report(facts(**given))["next"]
    assert step["command"].endswith(" -e kafka_dr_lower=lower -e kafka_dr_group_lag=reread")
    default = {**given, "options": {"lower": "auto", "group_lag": "refuse"}}
    assert cutover_report(facts(**default))["next"][0]["command"].endswith(" -e kafka_dr_confirm=B")


def test_a_report_has_a_versioned_schema_and_is_plain_json() -> None:
    report = cutover_report(facts())
    assert report["schema"] == "switchback.kafka_dr/report/2"
    assert json.loads(json.dumps(report)) == report
    assert (report["seconds"], report["phases"][0]["seconds"]) == (4.25, 1.5)
    assert datetime.fromisoformat(report["began"]).timestamp() == 1700000000.0


@pytest.mark.parametrize(
    ("parts", "name", "verdict"),
    [
        ({}, "drained", "PROVEN"),
        ({"type": "continuous"}, "drained", "PROVEN"),
        # Only the flow's own offsets prove it; one open partition is enough.
        ({"settled": settled("PROVEN", "UNKNOWN")}, "drained", "UNKNOWN"),
        ({"settled": settled("REFUTED", "PROVEN")}, "drained", "UNKNOWN"),
        ({"settled": None}, "drained", "UNKNOWN"),
        ({"settled": []}, "drained", "UNKNOWN"),
        ({}, "first_write", "PROVEN"),
        ({}, "committed_offsets", "PROVEN"),
        # Without groups nothing was set, so nothing is proven. Missing offsets of groups prove nothing either.
        ({"details": [], "arrival": {**ARRIVED, "groups": NO_GROUPS}}, "committed_offsets", "NOT_APPLICABLE"),
        ({"details": []}, "committed_offsets", "UNKNOWN"),
        ({"details": [], "arrival": None}, "committed_offsets", "UNKNOWN"),
        ({"rereads": 12}, "committed_offsets", "PROVEN"),
        ({"rereads": None}, "committed_offsets", "UNKNOWN"),
        (
            {"kept": [{"group": "g", "topic": "T", "partition": 0, "before": 9, "wanted": 5}]},
            "committed_offsets",
            "UNKNOWN",
        ),
        ({"barrier": gone((3, 3))}, "committed_offsets", "REFUTED"),
        ({"barrier": gone((3, 3)), "rereads": None, "kept": []}, "committed_offsets", "REFUTED"),
        # A record that may be lost is not known to be lost, but the verdict is never PROVEN.
        ({"barrier": gone((0, 9))}, "committed_offsets", "UNKNOWN"),
        ({"barrier": gone((0, None))}, "committed_offsets", "UNKNOWN"),
        # Without a fence it cannot be proven that no producer writes. At best, no write was observed.
        ({"late_writes": []}, "fence", "UNKNOWN"),
        ({"late_writes": None}, "fence", "UNKNOWN"),
        ({"late_writes": ["P T-0: 3 offsets"]}, "fence", "REFUTED"),
        ({}, "records", "UNKNOWN"),
        ({"audit": audited("PROVEN")}, "records", "PROVEN"),
        ({"audit": audited("REFUTED")}, "records", "REFUTED"),
        ({"audit": audited("UNKNOWN", "no Java")}, "records", "UNKNOWN"),
        ({"arrival": {**ARRIVED, "first_write": {"verdict": "UNKNOWN", "reason": "quiet"}}}, "first_write", "UNKNOWN"),
        ({"arrival": {**ARRIVED, "groups": {"verdict": "REFUTED", "reason": "fell back"}}}, "groups", "REFUTED"),
        ({}, "departure", "PROVEN"),
        ({"departure": [DEPARTED, {"verdict": "REFUTED", "reason": '"g" has members'}]}, "departure", "REFUTED"),
        ({"departure": [DEPARTED, None]}, "departure", "UNKNOWN"),
    ],
)
def test_each_check_reports_its_observation(parts: dict[str, Any], name: str, verdict: str) -> None:
    """R21: an idle topic is UNKNOWN."""
    assert checks(cutover_report(facts(**parts)))[name] == verdict


def test_unprocessed_records_are_a_number_in_the_report() -> None:
    """R30: an accepted loss is reported as a loss, by group."""
    report = cutover_report(facts(barrier=gone((3, 3), (0, 9)), rereads=2))
    (text,) = (check["reason"] for check in report["checks"] if check["name"] == "committed_offsets")
    assert text == (
        "never processed, because B does not have them any more: archive up to 9 records, g 3 records"
        " (accepted by kafka_dr_accept_skips); at most 2 records are read again"
    )
    assert report["skips"] == {"at_least": 3, "at_most": 12}
    assert cutover_report(facts(barrier=gone((0, None))))["skips"] == {"at_least": 0, "at_most": None}
    assert cutover_report(facts(barrier={"skips": []}))["skips"] == {"at_least": 0, "at_most": 0}
    # A run that ended before its barrier has no such number.
    assert cutover_report(facts(barrier={}))["skips"] is None


@pytest.mark.parametrize("kind", ["cutoff", "disaster"])
def test_offsets_are_not_proven_if_the_number_of_skipped_records_is_unknown(kind: str) -> None:
    survey = {"loss": None, "loss_lines": [], "ages": {}}
    found = [{"group": "g", "offset": 9, "quality": "exact", "method": "presynced", "rereads": 0}]
    parts = {"type": kind, "survey": survey, "details": found}
    assert checks(cutover_report(facts(**parts)))["committed_offsets"] == "PROVEN"
    assert checks(cutover_report(facts(**parts, barrier={"cut": {}})))["committed_offsets"] == "UNKNOWN"


def test_a_disaster_does_not_report_offsets_as_proven_if_records_may_be_missing() -> None:
    survey = {"loss": None, "loss_lines": [], "ages": {}}
    found = [{"group": "g", "offset": 9, "quality": "exact", "method": "presynced", "rereads": 0}]
    parts = {"type": "disaster", "survey": survey, "details": found}
    assert checks(cutover_report(facts(**parts)))["committed_offsets"] == "PROVEN"
    report = cutover_report(facts(**parts, barrier=gone((0, 9))))
    (text,) = (check["reason"] for check in report["checks"] if check["name"] == "committed_offsets")
    assert checks(report)["committed_offsets"] == "UNKNOWN"
    assert text == "never processed, because B does not have them any more: g up to 9 records"


def test_a_disaster_does_not_report_offsets_as_proven_if_the_flow_ran_with_unsafe_settings() -> None:
    """R38: the facts about the order of the replica hold only with these settings."""
    survey = {"loss": None, "loss_lines": [], "ages": {}, "unsafe_settings": ['The setting "x" is not set']}
    found = [{"group": "g", "offset": 9, "quality": "exact", "method": "presynced", "rereads": 0}]
    report = cutover_report(facts(type="disaster", survey=survey, details=found))
    (text,) = (check["reason"] for check in report["checks"] if check["name"] == "committed_offsets")
    assert checks(report)["committed_offsets"] == "UNKNOWN"
    assert 'The setting "x" is not set' in text


@pytest.mark.parametrize("kind", ["cutoff", "disaster"])
def test_metadata_that_did_not_go_along_are_named_with_the_reason(kind: str) -> None:
    """R49. An application may process records again although its offset is exact."""
    place = {"group": "g", "topic": "P.T", "partition": 0}
    lacking = {**ROW, **place, "metadata_dropped": "the records that they may refer to have other places there"}
    parts = {} if kind == "cutoff" else {"type": kind, "survey": SURVEY}
    for details, named in (([ROW], False), ([ROW, lacking], True)):
        report = cutover_report(facts(details=details, **parts))
        (check,) = (row for row in report["checks"] if row["name"] == "committed_offsets")
        text = "metadata of 1 committed offsets did not go along"
        assert (text in check["reason"]) is named
        assert ("g P.T-0: the records that they may refer to" in check["reason"]) is named


def test_the_omissions_of_an_audit_are_not_checked_and_its_lines_are_shown() -> None:
    assert cutover_report(facts())["not_checked"] == ["record-by-record comparison of both clusters"]
    report = cutover_report(facts(audit=audited("PROVEN")))
    assert report["not_checked"] == ["later records"]
    noted = cutover_report(facts(judgement={**facts()["judgement"], "notes": ["groups"]}))
    assert noted["not_checked"] == ["record-by-record comparison of both clusters", "groups"]


def drained(**parts: Any) -> str:
    report = cutover_report(facts(**parts))
    return next(check["reason"] for check in report["checks"] if check["name"] == "drained")


def test_the_first_partition_that_is_not_proven_is_named_with_its_reason_and_the_others_are_counted() -> None:
    assert drained(settled=settled("PROVEN", "UNKNOWN", "REFUTED")) == (
        "2 partitions are not proven to be replicated; T-1: replicated up to 4 of 9, the rest could not be read"
    )


def test_a_drain_reports_its_number_of_partitions_and_whether_they_were_observed() -> None:
    assert drained() == "all 2 partitions were replicated to their ends"
    assert drained(settled=None) == "it was not observed"


@pytest.mark.parametrize(
    ("parts", "verdict"),
    [
        ({}, "UNKNOWN"),
        ({"settled": settled("UNKNOWN"), "late_writes": ["P T-0: 3 offsets"]}, "REFUTED"),
        ({"late_writes": ["P T-0: 3 offsets"]}, "REFUTED"),
        ({"audit": audited("REFUTED")}, "REFUTED"),
        ({"audit": audited("PROVEN")}, "UNKNOWN"),
        ({"outcome": "already_there"}, "PROVEN"),
        ({"outcome": "already_there", "judgement": {"verdict": "UNKNOWN", "text": "by the journal"}}, "UNKNOWN"),
        ({"outcome": "undone"}, "UNKNOWN"),
        ({"outcome": "failed"}, "UNKNOWN"),
        ({"outcome": "checked"}, "UNKNOWN"),
    ],
)
def test_the_verdict_of_a_run(parts: dict[str, Any], verdict: str) -> None:
    assert cutover_report(facts(**parts))["verdict"] == verdict


@pytest.mark.parametrize("outcome", ["failed", "undone", "checked", "already_there"])
def test_a_run_that_failed_early_still_has_a_report(outcome: str) -> None:
    failure = {"task": "Wait until every record is replicated", "message": "it stopped moving", "error": {}}
    empty = {
        "arrival": None,
        "late_writes": None,
        "settled": None,
        "rereads": None,
        "times": [],
        "run": None,
        "barrier": {},
    }
    report = cutover_report(facts(outcome=outcome, failure=failure, **empty))
    assert report["outcome"] == outcome
    text = " ".join("\n".join(report_lines(report)).split())
    if outcome != "checked":
        assert "stopped in 'Wait until every record is replicated': it stopped moving" in text
        assert report["headline"] in text


def test_the_lines_end_a_run_with_its_outcome_its_evidence_and_the_next_step() -> None:
    lines = report_lines(cutover_report(facts(rereads=7)), "/reports/cutoff-B.html")
    command = "ansible-playbook switchback.kafka_dr.verify -i INVENTORY"
    assert lines == [
        "MOVED to B (cutoff P -> B, 4.2 s)",
        "  writes stood still  not known: this run finished neither their stop nor their start",
        "  reads stood still   not known: this run finished neither their stop nor their start",
        "  lost                0",
        "  read again          at most 7 records",
        "  evidence            UNKNOWN: 5 of 7 PROVEN; the fence is not set up; records were not compared",
        "  UNKNOWN fence: UNFENCED: the cluster that was left was not set to refuse writes; writes there after the"
        " barrier are unknown, because the log ends of 2 of 2 partitions were not read: T-0, T-1. Give each writing"
        " application a principal in kafka_dr_clients, run the playbook rights, and set kafka_dr_fence_logins"
        " (docs/security.md). The next move sets the fence.",
        f"  UNKNOWN records: the clusters were not compared record by record. Compare the records: {command}",
        "  report              /reports/cutoff-B.html",
        f"  next                Compare both clusters record by record: {command}",
    ]


@pytest.mark.parametrize("path", ["", "/r.html"])
def test_a_run_shows_at_most_twelve_lines_and_refuted_checks_first(path: str) -> None:
    unseen = {name: {"verdict": "UNKNOWN", "reason": "quiet"} for name in ARRIVED}
    hooks = [{"name": "h", "when": "after", "phase": "start", "began": 1, "ended": 2, "failure": "no"}] * 3
    open_ = {"settled": None, "rereads": None, "arrival": unseen, "audit": audited("REFUTED"), "hooks": hooks}
    open_["departure"] = [None, None]
    report = cutover_report(facts(**open_))
    lines = report_lines(report, path)
    assert len(lines) == 12
    assert report["evidence"]["text"].startswith("REFUTED: records; 0 of 7 PROVEN; ")
    assert report["evidence"]["open"][0]["verdict"] == "REFUTED"
    (first,) = [place for place, line in enumerate(lines) if line.startswith("  REFUTED records: ")]
    assert first == 6
    assert "more, in the report" in "\n".join(lines)


# ---- outcome and evidence

NOTHING = {"run": None, "passed": False, "turned": None}


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({}, "MOVED to B"),
        ({"type": "disaster"}, "MOVED to B"),
        ({"outcome": "already_there"}, "already on B"),
        ({"outcome": "checked"}, "CHECKED: nothing was changed"),
        ({"outcome": "undone"}, "UNDONE: the applications are back on P"),
        ({"outcome": "failed"}, "STOPPED after the point of no return"),
        ({"outcome": "undo_failed", "passed": False}, "STOPPED before the point of no return, and the undo failed"),
        ({"outcome": "failed", **NOTHING}, "STAYED on P"),
        # Where the applications are is known only from a journal that was read and has no unfinished run.
        ({"outcome": "failed", **NOTHING, "journal": {}}, "STOPPED before it began"),
        ({"outcome": "failed", **NOTHING, "journal": {"active": "B"}}, "STOPPED before it began"),
        ({"outcome": "failed", **NOTHING, "journal": {"active": "P", "interrupted": True}}, "STOPPED before it began"),
    ],
)
def test_a_headline_says_where_the_applications_live_as_far_as_that_is_known(parts: dict[str, Any], said: str) -> None:
    survey = {"loss": None, "loss_lines": [], "ages": {}}
    assert cutover_report(facts(survey=survey, **parts))["headline"] == said


@pytest.mark.parametrize(
    ("parts", "proven", "of", "text"),
    [
        ({"audit": audited("PROVEN")}, 6, 7, "6 of 7 PROVEN; the fence is not set up"),
        (
            {"arrival": {**ARRIVED, "groups": NO_GROUPS}, "departure": [NO_GROUPS, NO_GROUPS], "details": []},
            2,
            4,
            "2 of 4 PROVEN; the fence is not set up",
        ),
        ({"late_writes": ["P T-0: 3 offsets"]}, 5, 7, "REFUTED: fence; 5 of 7 PROVEN; records were not compared"),
        ({"outcome": "already_there"}, 1, 1, "PROVEN"),
        ({"outcome": "undone"}, 0, 1, "0 of 1 PROVEN; the run did not complete"),
        (
            {"audit": audited("UNKNOWN", "no Java"), "fence": {"fenced": True, "proven": False, "reason": "r"}},
            5,
            7,
            "5 of 7 PROVEN; the fence is not proven; records are not proven",
        ),
    ],
)
def test_evidence_counts_checks_and_names_what_is_missing(
    parts: dict[str, Any], proven: int, of: int, text: str
) -> None:
    found = cutover_report(facts(**parts))["evidence"]
    assert (found["proven"], found["of"]) == (proven, of)
    assert found["text"].startswith(text)
    assert len(found["open"]) == of - proven
    assert all(row["how"] for row in found["open"])


def test_a_report_with_all_checks_proven_has_nothing_open() -> None:
    barrier = {"skips": [], "ends": {"T": {"0": 4}}}
    rows = [{**row, "end": 4} for row in settled("PROVEN")]
    fence = {"fenced": True, "proven": True, "reason": "refused"}
    report = cutover_report(facts(barrier=barrier, settled=rows, fence=fence, audit=audited("PROVEN")))
    assert report["evidence"] == {"proven": 7, "of": 7, "text": "PROVEN", "open": []}
    assert report["verdict"] == "PROVEN"
    assert "  evidence            PROVEN" in report_lines(report)


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ({}, "0"),
        ({"settled": None}, "not known: the drain is not proven"),
        ({"barrier": {}}, "not known"),
        ({"barrier": gone((3, 3))}, "at least 3 records, at most 3 records"),
        ({"barrier": gone((0, None))}, "at least 0 records, at most an unknown number of records"),
        ({"audit": audited("REFUTED")}, "REFUTED: the audit names each record"),
        (
            {"kept": [{"group": "g", "topic": "T", "partition": 0, "before": 9, "wanted": 5}]},
            "not known: committed offsets are not proven",
        ),
        ({"rereads": None}, "not known: committed offsets are not proven"),
    ],
)
def test_lost_is_0_only_with_evidence(parts: dict[str, Any], text: str) -> None:
    assert said(lost(cutover_report(facts(**parts)))) == text


def test_a_pager_text_has_five_lines_for_every_outcome() -> None:
    failure = {"task": "Wait", "message": "it stopped\nmoving", "error": {}}
    for parts in ({}, {"outcome": "failed", "failure": failure}, {"outcome": "already_there"}):
        lines = cutover_report(facts(**parts))["pager"].splitlines()
        assert len(lines) == 5
        assert lines[-1].startswith("Next: ansible-playbook switchback.kafka_dr.")


def test_the_line_before_the_audit_says_since_when_the_applications_run() -> None:
    times = [
        {"phase": name, "began": 1700000000 + 2 * at, "ended": 1700000002 + 2 * at, "result": "ok"}
        for at, name in enumerate(["stop_producers", "drain", "stop_consumers", "start", "arrival"])
    ]
    given = {"type": "cutoff", "to": "B", "run": "20231114T221320Z-a", "began": "1700000000", "times": times}
    line = "Applications run on B since 22:13:28 UTC (writes stood still 8.0 s, reads 4.0 s)"
    assert arrival_text(given) == line
    # A resumed run does not know when its applications stopped.
    unknown = "Applications run on B (writes stood still not known, reads not known)"
    assert arrival_text({**given, "times": times[4:]}) == unknown


# ---- status


def status(**parts: Any) -> dict[str, Any]:
    base = {
        "verdict": "PROVEN",
        "flows": [{"name": "P->B", "verdict": "PROVEN", "lag": 0, "reason": "the flow has passed the last record"}],
        "groups": [],
        "missing": [],
        "unjoined": [],
        "competing_flows": [],
        "open_transactions": [],
    }
    return {**base, **parts}


def row(group: str, alias: str, commit: int | None, read: bool | None) -> dict[str, Any]:
    return {"group": group, "alias": alias, "state": "EMPTY", "commit": commit, "read_to_end": read}


def test_a_status_names_the_side_and_the_flows() -> None:
    assert status_lines(status(), "P") == [
        "PROVEN: applications live on P",
        "  PROVEN   P->B: lag 0, the flow has passed the last record",
    ]


def test_an_unknown_lag_is_reported_as_unknown_and_not_as_zero() -> None:
    flows = [{"name": "P->B", "verdict": "UNKNOWN", "lag": None, "reason": "no heartbeat"}]
    lines = status_lines(status(flows=flows, verdict="UNKNOWN"), None)
    assert lines == ["UNKNOWN: applications live on unknown", "  UNKNOWN  P->B: lag unknown, no heartbeat"]


def test_groups_are_counted_by_cluster_and_unknown_does_not_count_as_read() -> None:
    rows = [row("g", "P", 5, True), row("g", "P", 0, None), row("g", "P", None, None), row("g", "B", None, None)]
    lines = status_lines(status(groups=rows), "P")
    assert lines[2:] == [
        "  group g on B: EMPTY, 0 of 1 partitions have a committed offset, 0 are read to the end",
        "  group g on P: EMPTY, 2 of 3 partitions have a committed offset, 1 are read to the end",
    ]


@pytest.mark.parametrize(("pnr", "replaced_passed_run"), [(None, False), (11.0, False), (None, True)])
def test_an_interrupted_run_is_shown_with_the_next_step(pnr: float | None, replaced_passed_run: bool) -> None:
    run = {
        "id": "r1",
        "type": "cutoff",
        "from": "P",
        "to": "B",
        "pnr": pnr,
        "replaces_passed_run": replaced_passed_run,
        "started": 9.5,
        "ended": None,
    }
    text = "\n".join(status_lines(status(), "P", run))
    assert "INTERRUPTED: the cutoff run r1 to B" in text
    command = "ansible-playbook switchback.kafka_dr.{} -i INVENTORY"
    assert f"{command.format('failover_cutoff')} -e kafka_dr_to=B -e kafka_dr_confirm=B" in text
    # After the point of no return, of this run or of the one it replaces, nothing is undone.
    assert (f"{command.format('abandon')} -e kafka_dr_confirm=P" in text) is (pnr is None and not replaced_passed_run)
    assert "INTERRUPTED" not in "\n".join(status_lines(status(), "P", {**run, "ended": 12.0}))


def test_the_applications_of_an_interrupted_run_are_shown_as_observed() -> None:
    run = {"id": "r1", "type": "cutoff", "from": "P", "to": "B", "pnr": None, "started": 9.5, "ended": None}
    states = {"idle": ("EMPTY", "DEAD"), "works": ("STABLE", "DEAD"), "hidden": ("UNDESCRIBED", "EMPTY")}
    rows = [
        {**row(name, alias, 1, True), "state": state}
        for name, both in states.items()
        for alias, state in zip("PB", both, strict=True)
    ]
    clients = [{"name": f"{name}-app", "group": name} for name in states] + [{"name": "api", "group": None}]
    lines = status_lines(status(groups=rows), "P", run, clients=clients)
    since = "    since 1970-01-01T00:00:09.500+00:00: "
    assert [line.removeprefix(since) for line in lines if line.startswith(since)] == [
        "idle-app is stopped: its group has no members",
        "works-app is at work on P",
        "hidden-app may be stopped: it has no group that shows it",
        "api may be stopped: it has no group that shows it",
    ]
    # One cluster alone does not show that a group has no members.
    seen = [one for one in rows if one["group"] == "idle" and one["alias"] == "P"]
    alone = status_lines(status(groups=seen), "P", run, clients=clients[:1])
    assert f"{since}idle-app may be stopped: it has no group that shows it" in alone
    assert since not in "".join(status_lines(status(groups=rows), "P", {**run, "ended": 12.0}, clients=clients))


def test_commands_of_an_interrupted_run_are_complete() -> None:
    run = {
        "id": "r1",
        "type": "cutoff",
        "from": "P",
        "to": "B",
        "pnr": None,
        "replaces_passed_run": False,
        "ended": None,
    }
    run["pair"] = "B-P.payments"
    text = "\n".join(status_lines(status(), "P", run, "jump.example.com"))
    assert text.count(" -e kafka_dr_application=payments -e kafka_dr_run_on=jump.example.com") == 2
    assert "kafka_dr_run_on" not in "\n".join(status_lines(status(), "P", run, "localhost"))


def test_what_a_pattern_matches_and_has_not_joined_is_named() -> None:
    rows = [{"alias": alias, "kind": "topic", "name": f"t{number}"} for alias in "PB" for number in range(7)]
    (line,) = [line for line in status_lines(status(unjoined=rows), "P") if "pattern" in line]
    assert line.endswith('topic "t0", topic "t1", topic "t2", topic "t3", topic "t4" and 2 more: run enable')
    assert not [line for line in status_lines(status(unjoined=rows[:7]), "B") if "pattern" in line]


def test_other_flows_for_the_same_topics_are_listed() -> None:
    name = "P->B: mm2/P->B.MirrorSourceConnector"
    assert f"  another flow replicates the same topics: {name}" in status_lines(status(competing_flows=[name]), "P")
    assert not [line for line in status_lines(status(competing_flows=None), "P") if "another flow" in line]


def test_what_an_open_transaction_holds_back_is_listed() -> None:
    lines = status_lines(status(open_transactions=[{"text": "T-0 on P: a transaction stays open"}]), "P")
    assert lines[-1] == "  not replicated: T-0 on P: a transaction stays open"
    assert not [line for line in status_lines(status(open_transactions=None), "P") if "not replicated" in line]


def test_at_most_ten_missing_items_are_listed() -> None:
    lines = status_lines(status(missing=[f"thing {n}" for n in range(20)]), "P")
    assert len([line for line in lines if "missing" in line]) == 10


@pytest.mark.parametrize(
    ("pairs", "rereads"),
    [([(30, 12), (5, 9), (7, None)], 18), ([(30, 30)], 0), ([(30, None)], None), ([(None, 4)], None), ([], None)],
)
def test_records_that_checkpoints_would_have_read_again_are_unknown_without_a_checkpoint(
    pairs: list[tuple[int | None, int | None]], rereads: int | None
) -> None:
    details = [{"offset": ours, "checkpoint": theirs} for ours, theirs in pairs]
    assert cutover_report(facts(details=details))["checkpoint_rereads"] == rereads


def test_records_to_read_again_are_unknown_if_an_offset_is_missing() -> None:
    result = {
        "outcome": "done",
        "committed": 1,
        "rereads": None,
        "details": [],
        "preexisting_higher_offsets": [],
        "left_out": [],
    }
    assert "an unknown number of records" in checkpoint_lines(result, "B")[0]
    lease = {"kind": "checkpoint", "to": "B", "since": 10.0, "ended": 11.0, "outcome": "done", "holder": None}
    (known,) = lease_lines([{**lease, "counts": {"rereads": 3}}], 40.0)
    (unknown,) = lease_lines([{**lease, "counts": {"rereads": None}}], 40.0)
    assert "at most 3 records" in known
    assert "an unknown number of records" in unknown
    (failed,) = lease_lines([{**lease, "outcome": "failed", "counts": {"rereads": 3}}], 40.0)
    assert "failed 30 s ago" in failed
    # A playbook that changes the flows gets a line while it runs.
    enabling = {**lease, "kind": "enable", "to": "", "holder": {"host": "h"}}
    assert lease_lines([enabling], 40.0) == []
    assert lease_lines([{**enabling, "ended": None}], 40.0) == ["  enable: began 30 s ago and has not ended"]


def test_existing_offsets_are_compared_with_the_translated_ones() -> None:
    """SRM's reverse checkpointing or MirrorMaker 2's sync wrote them."""
    pairs = [(30, 12), (5, 5), (5, 9), (7, None), (None, 4), (8, 3)]
    report = cutover_report(facts(details=[{"offset": ours, "existing": theirs} for ours, theirs in pairs]))
    assert report["found_offsets"] == {"equal": 1, "lower": 2, "rereads": 23, "higher": 1, "none": 2}


@pytest.mark.parametrize("kind", ["cutoff", "continuous", "disaster"])
def test_kept_offsets_are_listed_with_the_records_they_may_skip(kind: str) -> None:
    """R6: there is no evidence that the group has read the records below them."""
    kept = [{"group": f"g{n}", "topic": "T", "partition": n, "before": 9 + n, "wanted": 5} for n in range(7)]
    more = {"survey": SURVEY, "details": [ROW]} if kind == "disaster" else {}
    found = cutover_report(facts(type=kind, kept=kept, **more))
    row = next(check for check in found["checks"] if check["name"] == "committed_offsets")
    assert row["verdict"] == "UNKNOWN"
    assert "7 higher committed offsets were kept: they may skip up to 49 records, g0 T-0 by 4" in row["reason"]
    assert row["reason"].endswith("g4 T-4 by 8, ...")


SURVEY = {"loss": {"offsets_to_committed": 3}, "loss_lines": ["up to 3 offsets"], "ages": {"g": 12.0, "h": None}}


def disaster(**parts: Any) -> dict[str, Any]:
    base = {"type": "disaster", "survey": SURVEY, "details": [ROW], "rereads": 2, "arrival": ARRIVED}
    return cutover_report(facts(**base, **parts))


def test_a_disaster_never_reports_that_nothing_was_lost() -> None:
    report = disaster(probes=[{"answers": False, "reason": "silent", "seconds": 3.0}])
    checks = {check["name"]: check for check in report["checks"]}
    assert (report["verdict"], report["loss"]) == ("UNKNOWN", {"offsets_to_committed": 3})
    assert (checks["loss"]["verdict"], checks["loss"]["reason"]) == ("UNKNOWN", "up to 3 offsets")
    assert checks["committed_offsets"]["verdict"] == "PROVEN"
    assert "at most 2 records are read again; the oldest offset was 12 s old" in checks["committed_offsets"]["reason"]
    assert "did not respond" in checks["fence"]["reason"]
    assert not {"drained", "records"} & set(checks)


@pytest.mark.parametrize(
    ("parts", "name", "text"),
    [
        (
            {"lowered": 1, "details": [{**ROW, "existing": 9}]},
            "committed_offsets",
            "1 higher committed offsets were lowered",
        ),
        ({"details": [{**ROW, "method": "start"}]}, "committed_offsets", "; 1 are unknown"),
        ({"details": [{**ROW, "quality": "unproven"}]}, "committed_offsets", "1 of 1 may skip"),
        (
            {"kept": [{"group": "g", "topic": "T", "partition": 0, "before": 9, "wanted": 5}]},
            "committed_offsets",
            "1 higher committed offsets were kept: they may skip up to 4 records, g T-0 by 4",
        ),
        ({"survey": None}, "loss", "interrupted run"),
        ({"survey": None}, "committed_offsets", "interrupted run"),
        ({"probes": [{"answers": True}]}, "fence", "responded right before the first producer"),
        ({"unstopped": ["host h is gone"]}, "fence", "not stopped: host h is gone"),
        ({}, "fence", "its producers were stopped"),
    ],
)
def test_the_lines_of_a_disaster_report(parts: dict[str, Any], name: str, text: str) -> None:
    base = {"type": "disaster", "survey": SURVEY, "details": [ROW], "rereads": 2, "arrival": ARRIVED}
    report = cutover_report(facts(**{**base, **parts}))
    found = next(check for check in report["checks"] if check["name"] == name)
    assert text in found["reason"]
    known = name == "committed_offsets" and text.split()[-1] in ("lowered", "unknown")
    assert found["verdict"] == ("PROVEN" if known else "UNKNOWN")


ENDS = {"type": "cutoff", "one_log": False, "barrier": {"ends": {"T": {"0": 9}}}, "late_writes": []}
UP = {"fenced": True, "proven": True, "reason": "denied"}
LEFT = {"topic": "T", "partition": 0, "end": 9, "drained": "PROVEN", "reason": ""}


@pytest.mark.parametrize(
    ("facts", "verdict"),
    [
        ({}, "PROVEN"),
        ({"fence": None}, "UNKNOWN"),
        ({"fence": {**UP, "fenced": False, "proven": False}}, "UNKNOWN"),
        ({"fence": {**UP, "proven": False}}, "UNKNOWN"),
        ({"late_writes": None}, "UNKNOWN"),
        ({"late_writes": ["P T-0: 3 offsets"]}, "REFUTED"),
        ({"settled": None}, "UNKNOWN"),
        ({"settled": [{**LEFT, "end": None}]}, "UNKNOWN"),
        ({"barrier": {}}, "UNKNOWN"),
        ({"barrier": {"ends": {"T": {"1": 9}}}}, "UNKNOWN"),
    ],
)
def test_a_fence_is_proven_by_the_broker_and_by_ends_that_are_known(facts: dict[str, Any], verdict: str) -> None:
    assert _fence({**ENDS, "fence": UP, "settled": [LEFT], **facts})["verdict"] == verdict


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({}, "no record was written there after the barrier"),
        ({"late_writes": None}, "writes after the barrier were not observed"),
        ({"settled": []}, "its log ends were not read after the barrier"),
        ({"settled": [LEFT, {**LEFT, "partition": 1}]}, "the log ends of 1 of 2 partitions were not read: T-1"),
        ({"settled": [LEFT, {**LEFT, "partition": 1, "end": None}]}, "of 1 of 2 partitions were not read: T-1"),
        ({"barrier": {}}, "writes there after the barrier are unknown, because the log ends of 1 of 1"),
    ],
)
def test_a_fence_says_that_nothing_was_written_only_if_its_log_ends_show_it(facts: dict[str, Any], text: str) -> None:
    reason = _fence({**ENDS, "fence": UP, "settled": [LEFT], **facts})["reason"]
    assert text in reason
    assert ("no record was written" in reason) == (not facts)


FLOWED = {"written_by_flow": {"verdict": "PROVEN", "reason": "9 records"}}


def by_flow(verdict: str) -> dict[str, Any]:
    return {"audit": {"written_by_flow": {"verdict": verdict, "reason": "B:T: 1 records"}}}


@pytest.mark.parametrize(
    ("parts", "verdict", "text"),
    [
        ({}, "PROVEN", "since the cut: 9 records"),
        (by_flow("REFUTED"), "REFUTED", "FENCED for the declared principals, but since the cut: B:T: 1 records"),
        (by_flow("UNKNOWN"), "UNKNOWN", "since the cut: B:T"),
        ({"audit": None}, "UNKNOWN", "was not compared"),
        ({"audit": {"written_by_flow": None}}, "UNKNOWN", "was not compared"),
        ({"fence": None}, "UNKNOWN", "UNFENCED"),
        ({"fence": {**UP, "proven": False}}, "UNKNOWN", "FENCED"),
        # What is compared since the cut does not excuse a write that was seen before the flow back began.
        ({"late_writes": ["P T-0: 3 offsets"]}, "REFUTED", "after the barrier: P T-0"),
        # A resumed run did not seed the flow itself. The comparison begins at the barrier's ends, before that moment.
        ({"late_writes": None}, "PROVEN", "since the cut"),
        ({"late_writes": None, **by_flow("REFUTED")}, "REFUTED", "since the cut"),
    ],
)
def test_where_a_flow_writes_to_the_originals_only_the_comparison_proves_the_fence(
    parts: dict[str, Any], verdict: str, text: str
) -> None:
    """R50: the log ends move, so they are no evidence, and the rows of dr_seed have none."""
    seeded = {"topic": "T", "partition": 0, "cut": 9, "tail": 0, "drained": "PROVEN", "reason": ""}
    found = _fence({**ENDS, "one_log": True, "fence": UP, "settled": [seeded], "audit": FLOWED, **parts})
    assert (found["verdict"], text in found["reason"]) == (verdict, True), found


@pytest.mark.parametrize(
    ("parts", "verdict"),
    [
        ({}, "PROVEN"),
        # The ends of the barrier: the producers wrote there afterwards.
        ({"fence": UP, "barrier": {"ends": {"T": {"0": 9}}}}, "UNKNOWN"),
        ({"fence": {**UP, "ends": {"T": {"1": 9}}}}, "UNKNOWN"),
        ({"fence": {**UP, "proven": False, "ends": {"T": {"0": 9}}}}, "UNKNOWN"),
        ({"fence": None}, "UNKNOWN"),
        ({"late_writes": None}, "UNKNOWN"),
        ({"late_writes": ["P T-0: 1 offsets"]}, "REFUTED"),
        ({"settled": [{**LEFT, "end": None}]}, "UNKNOWN"),
    ],
)
def test_after_a_continuous_move_the_fence_is_proven_from_its_own_log_ends(parts: dict[str, Any], verdict: str) -> None:
    """R50: what was written before the fence was closed is replicated by the old flow."""
    closed = {"type": "continuous", "fence": {**UP, "ends": {"T": {"0": 9}}}, "barrier": {}, "settled": [LEFT]}
    assert _fence({**ENDS, **closed, **parts})["verdict"] == verdict


def test_an_identity_move_and_a_continuous_move_can_be_proven_as_a_whole() -> None:
    barrier = {"skips": [], "ends": {"T": {"0": 4}}}
    proven = audited("PROVEN") | FLOWED
    seeded = facts(barrier=barrier, settled=settled("PROVEN"), fence=UP, audit=proven, one_log=True)
    assert cutover_report(seeded)["verdict"] == "PROVEN"
    assert cutover_report({**seeded, "audit": audited("PROVEN")})["verdict"] == "UNKNOWN"
    rows = [{**row, "end": 4} for row in settled("PROVEN")]
    closed = {**UP, "ends": {"T": {"0": 4}}}
    moved = facts(type="continuous", barrier=barrier, settled=rows, fence=closed, audit=proven)
    assert cutover_report(moved)["verdict"] == "PROVEN"
    report = cutover_report({**moved, "fence": UP})
    assert report["verdict"] == "UNKNOWN"
    assert "docs/procedures/report.md names what it needs" in report["evidence"]["open"][0]["how"]


def test_a_moment_in_utc_is_not_taken_for_local_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ansible's now(utc=true) carries no time zone."""
    monkeypatch.setenv("TZ", "EST5")
    time.tzset()
    try:
        assert epoch_seconds(datetime(1970, 1, 1, 0, 1)) == 60.0
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize("kind", [None, "cutof"])
def test_a_run_of_an_unknown_type_is_not_reported_without_a_downtime(kind: str | None) -> None:
    assert standstill({**cutover_report(facts()), "type": kind}, "writes") == ("not known", "")


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ({"type": "cutoff"}, "UNDONE: the applications are back on P"),
        ({"probes": [{"answers": True}, {"answers": False}]}, "but P did not respond: they may not work there"),
        (
            {"probes": [{"answers": False}, {"answers": True}]},
            "the applications were started on P again, which responds",
        ),
        ({"probes": []}, "but P was not probed: they may not work there"),
    ],
)
def test_an_undone_disaster_says_what_was_observed(parts: dict[str, Any], text: str) -> None:
    report = cutover_report(facts(**{"type": "disaster", "outcome": "undone", "survey": None, **parts}))
    assert text in report["headline"]
    if report["type"] == "disaster":
        assert "back on P" not in report["headline"]
