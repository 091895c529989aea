# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The folder of a run: its page while it runs, its report, the seal of an ended run, and the list of all runs."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils import _record
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.page_run import run_page
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.run.events import RunEvent
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.run.run import Run
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds
from ansible_collections.switchback.kafka_dr.plugins.module_utils._record import RunRecord
from ansible_collections.switchback.kafka_dr.plugins.module_utils._run import events, publish
from ansible_collections.switchback.kafka_dr.plugins.modules import dr_report, dr_run
from modules import run_module, warned
from run_records import PAIR, begun, move
from schemas import faults

# The folders of a user's environment may be closed to others, so it imports everything before.
AS_USER = """
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from ansible_collections.switchback.kafka_dr.plugins.module_utils._run.publish import publish
os.umask(0o002)
os.setgroups([4321])
os.setgid(4321)
os.setuid({user})
written = publish(Path.cwd(), {made})
assert not written["warnings"], written
"""
COLLECTIONS = os.pathsep.join(path for path in sys.path if (Path(path) / "ansible_collections").is_dir())
AUDIT = {
    "verdict": "PROVEN",
    "reason": "",
    "folder": "/audit",
    "audit": {"text": ["PROVEN: 12 records"], "not_checked": [], "began": None, "seconds": 3.5, "records": 12},
}


# Whether the plays run on the controller.
HERE = True


def returned(step: str, **result: Any) -> RunEvent:
    return RunEvent("returned", 2.0, {"step": step, "result": result})


def opened(run_id: str, **run: Any) -> RunEvent:
    journaled = {"id": run_id, "resumed": 0, "started": 1.0, "pnr": None, "replaces_passed_run": False, **run}
    return returned("opened", run_id=run_id, phases_left=["drain", "barrier"], run=journaled, phases={})


def run(reports: Path, run_id: str, *events: RunEvent, kind: str = "cutoff", **more: Any) -> RunRecord:
    record = RunRecord.create(reports, run_id, {"move": move(kind, **more), "options": {}, "check": False})
    for event in events:
        record.append(event)
    return record


@pytest.fixture(autouse=True, params=[True, False], ids=["on the controller", "on another host"])
def where(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "HERE", request.param)


def ended(record: RunRecord, *, final: bool = True, last: bool = True) -> dict[str, Any]:
    """The report of a run as the role makes and writes it."""
    asked = {"event": "report", "pair": PAIR, "record": str(record.folder)}
    answer = run_module(dr_run, {**asked, "data": {"final": final, "last": last, "here": HERE, "planned": {}}})
    assert "error" not in answer, answer
    return written(record.reports, answer, last=last)


def written(reports: Path, answer: dict[str, Any], *, last: bool = True) -> dict[str, Any]:
    """What the role does after the event: nothing if it has written the report itself."""
    if answer["made"] is None:
        return answer
    facts = {"report": answer["report"], "last": last, **answer["made"]}
    return run_module(dr_report, {"kind": "run", "folder": str(reports), "facts": facts})


def moved(reports: Path, run_id: str) -> RunRecord:
    return run(reports, run_id, opened(run_id, pnr=2.0), returned("closed", closed=True))


def report(reports: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((reports / name / "report.json").read_text())
    return found


def test_the_record_of_an_ended_run_is_read_only_and_its_report_has_the_sums(tmp_path: Path) -> None:
    record = moved(tmp_path, "r1")
    record.append(returned("barrier", details=[], rows=["x" * 5000]))
    assert ended(record)["paths"] == [str(record.folder / "report.json")]
    files = {path.name: path for path in record.folder.iterdir()}
    assert sorted(files) == ["003-barrier.json", "page.html", "report.json", "run.json"]
    found = json.loads(files["report.json"].read_text())
    # The page is made from the report.
    assert files.pop("page.html").stat().st_mode & 0o777 == 0o640
    assert {path.stat().st_mode & 0o777 for path in files.values()} == {0o440}
    del files["report.json"]
    assert found["files"] == {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()}
    assert faults(found) == []
    assert record.read().ended is not None


def test_a_run_that_goes_on_is_not_sealed(tmp_path: Path) -> None:
    record = moved(tmp_path, "r1")
    ended(record, final=False, last=False)
    assert report(tmp_path, "latest-move")["files"] == {}
    assert record.read().ended is None
    record.append(RunEvent("phase", 3.0, {"phase": "flows"}))
    ended(record)
    assert set(report(tmp_path, "latest-move")["files"]) == {"run.json"}


def test_refused_idle_undone_and_rehearsed_runs_never_are_the_latest_move(tmp_path: Path) -> None:
    ended(moved(tmp_path, "r1"))
    others = {
        "refused": [RunEvent("failed", 2.0, {"task": "it", "message": "no", "error": {}})],
        "idle": [returned("preflight", judgement={"already": True, "verdict": "PROVEN", "text": "there"})],
        "undone": [opened("undone"), RunEvent("failed", 2.0, {"task": "t", "message": "m", "error": {}})],
        "rehearsed": [opened("rehearsed", pnr=2.0), returned("closed", closed=True)],
    }
    for name, happened in others.items():
        record = run(tmp_path, name, *happened, rehearsal=name == "rehearsed")
        if name == "undone":
            record.append(RunEvent("undone", 3.0))
        ended(record)
        assert report(tmp_path, "latest-move")["run"] == "r1"
        assert (tmp_path / "latest").resolve().name == name
    listed = json.loads((tmp_path / "index.json").read_text())
    assert faults(listed) == []
    assert [row["folder"] for row in listed["runs"]] == ["rehearsed", "undone", "idle", "refused", "r1"]
    assert [row["moved"] for row in listed["runs"]] == [False] * 4 + [True]
    page = (tmp_path / "index.html").read_text()
    assert all(f'href="runs/{name}/page.html"' in page for name in (*others, "r1"))


def test_a_run_that_failed_after_the_point_of_no_return_is_the_latest_move(tmp_path: Path) -> None:
    ended(moved(tmp_path, "r1"))
    failure = RunEvent("failed", 3.0, {"task": "it", "message": "no", "error": {}})
    ended(run(tmp_path, "r2", opened("r2", pnr=2.0), failure))
    assert report(tmp_path, "latest-move")["outcome"] == "failed"
    # A disaster that replaces such a run cannot be undone either.
    ended(run(tmp_path, "r3", opened("r3", replaces_passed_run=True), failure, kind="disaster"))
    assert report(tmp_path, "latest-move")["run"] == "r3"
    stuck = RunEvent("undo_failed", 4.0, {"message": "no", "error": {}})
    ended(run(tmp_path, "r4", opened("r4"), failure, stuck))
    assert report(tmp_path, "latest-move")["run"] == "r4"


def test_runs_whose_folders_were_deleted_leave_the_list(tmp_path: Path) -> None:
    ended(moved(tmp_path, "r1"))
    for path in (tmp_path / "runs" / "r1").iterdir():
        path.unlink()
    (tmp_path / "runs" / "r1").rmdir()
    ended(moved(tmp_path, "r2"))
    assert [row["folder"] for row in json.loads((tmp_path / "index.json").read_text())["runs"]] == ["r2"]


@pytest.mark.parametrize("content", ["", "[]", '{"runs": 3}', '{"runs": [{}, 7]}'])
def test_a_list_that_cannot_be_read_begins_again(tmp_path: Path, content: str) -> None:
    (tmp_path / "index.json").write_text(content)
    assert ended(moved(tmp_path, "r1"))["rc"] == 0
    assert [row["folder"] for row in json.loads((tmp_path / "index.json").read_text())["runs"]] == ["r1"]


def test_the_report_is_written_even_if_the_list_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "latest").mkdir()
    (tmp_path / "latest" / "file").write_text("of the user")
    answer = ended(moved(tmp_path, "r1"))
    assert answer["rc"] == 0
    assert "not the list of runs" in warned(answer, capsys)
    assert report(tmp_path, "runs/r1")["outcome"] == "completed"
    assert not list(tmp_path.glob(".latest*"))


def test_a_controller_that_was_overtaken_leaves_the_report_and_the_page_of_the_run(tmp_path: Path) -> None:
    first = moved(tmp_path, "r1")
    second = run(tmp_path, "new", opened("r1", pnr=2.0, resumed=1), returned("closed", closed=True)).named("r1")
    ended(second)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    first.append(RunEvent("failed", 9.0, {"task": "it", "message": "overtaken", "error": {}}))
    first.show("its page")
    answer = ended(first)
    assert answer["paths"] == [str(first.folder / "overtaken.json")]
    changed = {path for path, content in before.items() if path.read_bytes() != content}
    assert changed == {first.folder / "run.json"}
    found = report(tmp_path, "latest-move")
    assert (found["outcome"], found["holder_generation"], set(found["files"])) == ("completed", 1, {"start-2/run.json"})


def test_a_controller_that_froze_before_it_wrote_its_report_leaves_that_of_the_run(tmp_path: Path) -> None:
    """It was the newest start when it built its report. The other one may also have run on another host."""
    first = moved(tmp_path, "r1")
    asked = {"event": "report", "pair": PAIR, "record": str(first.folder), "data": {"final": True}}
    late = run_module(dr_run, asked)
    assert late["made"]["newest"]
    second = run(tmp_path, "new", opened("r1", pnr=2.0, resumed=1), returned("closed", closed=True)).named("r1")
    ended(second)
    before = report(tmp_path, "runs/r1")
    assert written(tmp_path, late)["paths"] == [str(first.folder / "overtaken.json")]
    assert report(tmp_path, "runs/r1") == before
    assert [row["folder"] for row in json.loads((tmp_path / "index.json").read_text())["runs"]] == ["r1"]


def test_a_run_that_is_missing_in_the_list_is_found_by_its_report(tmp_path: Path) -> None:
    ended(moved(tmp_path, "r1"))
    listed = (tmp_path / "index.json").read_text()
    ended(moved(tmp_path, "r2"))
    (tmp_path / "index.json").write_text(listed)
    ended(run(tmp_path, "r3", RunEvent("failed", 2.0, {"task": "it", "message": "no", "error": {}})))
    assert [row["folder"] for row in json.loads((tmp_path / "index.json").read_text())["runs"]] == ["r3", "r2", "r1"]
    assert report(tmp_path, "latest-move")["run"] == "r2"


def test_a_frozen_run_with_the_same_folder_holds_up_no_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(publish, "_OTHERS", Bounds(0.1, 0.02))
    frozen = os.open(tmp_path, os.O_RDONLY)
    try:
        fcntl.flock(frozen, fcntl.LOCK_EX)
        answer = ended(moved(tmp_path, "r1"))
    finally:
        os.close(frozen)
    assert "another run has kept" in warned(answer, capsys)
    assert report(tmp_path, "runs/r1")["outcome"] == "completed"
    assert report(tmp_path, "runs/r1")["files"]


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that other users can reach: those of pytest are closed."""
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        if not all(parent.stat().st_mode & 0o001 for parent in Path(folder).resolve().parents):
            pytest.skip("the folder for temporary files is closed to other users")
        yield Path(folder)


@pytest.mark.skipif(os.getuid() != 0, reason="becomes two users")
def test_users_of_one_group_share_the_list(public: Path) -> None:
    """A file that another user wrote last cannot keep its owner."""
    shared = public / "shared"
    shared.mkdir()
    os.chown(shared, 1234, 4321)
    shared.chmod(0o2770)
    script = public / "write.py"
    for number, user in enumerate((1234, 1235)):
        made = {"folder": f"r{number}", "start": "", "newest": True, "last": True}
        report = {"outcome": "completed", "began": str(number)}
        script.write_text(AS_USER.format(user=user, made={**made, "report": report}))
        subprocess.run([sys.executable, str(script)], cwd=shared, check=True, env={"PYTHONPATH": COLLECTIONS})
    assert [row["folder"] for row in json.loads((shared / "index.json").read_text())["runs"]] == ["r1", "r0"]
    assert (shared / "latest-move").resolve().name == "r1"


# ---- a later audit


def amended(reports: Path, run_id: str, **result: Any) -> dict[str, Any]:
    data = {"run": run_id, "result": {**AUDIT, **result}, "last": True, "here": HERE}
    return run_module(dr_run, {"event": "amend", "pair": PAIR, "reports": str(reports), "data": data})


def test_a_later_audit_is_added_to_the_report_of_a_move_that_has_none(tmp_path: Path) -> None:
    ended(moved(tmp_path, "r1"))
    before = report(tmp_path, "latest-move")
    written(tmp_path, amended(tmp_path, "r1"))
    after = report(tmp_path, "latest-move")
    assert (before["audit"], after["audit"]["verdict"]) == (None, "PROVEN")
    assert (after["ended"], after["seconds"]) == (before["ended"], before["seconds"])
    assert after["files"].keys() == before["files"].keys()
    assert after["files"] != before["files"]
    # A second audit finds another time, and the report of the move stays.
    assert amended(tmp_path, "r1", verdict="REFUTED")["made"] is None
    assert report(tmp_path, "latest-move") == after


def test_a_move_whose_audit_was_interrupted_ended_then(tmp_path: Path) -> None:
    record = moved(tmp_path, "r1")
    ended(record, final=False, last=False)
    written(tmp_path, amended(tmp_path, "r1"))
    found = report(tmp_path, "latest-move")
    assert (found["audit"]["verdict"], found["ended"]) == ("PROVEN", found["began"])


def test_an_audit_that_compared_nothing_takes_no_evidence_away(tmp_path: Path) -> None:
    ended(moved(tmp_path, "r1"))
    written(tmp_path, amended(tmp_path, "r1", verdict="UNKNOWN", reason="2 offsets are not judged"))
    assert amended(tmp_path, "r1", failed=True, msg="Spark did not start")["made"] is None
    assert report(tmp_path, "latest-move")["audit"]["reason"] == "2 offsets are not judged"


def test_a_disaster_gets_no_audit(tmp_path: Path) -> None:
    ended(run(tmp_path, "r1", opened("r1", pnr=2.0), returned("closed", closed=True), kind="disaster"))
    assert amended(tmp_path, "r1")["made"] is None


# Once: Ansible shows the same warning once.
@pytest.mark.parametrize("where", [True], indirect=True)
def test_a_record_that_is_not_writable_leaves_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ended(moved(tmp_path, "r1"))

    def refused(*_args: object, **_named: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(_record, "write_whole", refused)
    answer = amended(tmp_path, "r1")
    assert (answer["rc"], answer["made"]) == (0, None)
    assert "Permission denied" in warned(answer, capsys)


def test_an_audit_that_failed_may_be_repeated(tmp_path: Path) -> None:
    ended(moved(tmp_path, "r1"))
    written(tmp_path, amended(tmp_path, "r1", failed=True, msg="Spark did not start"))
    audit = report(tmp_path, "latest-move")["audit"]
    assert (audit["verdict"], audit["reason"], audit["records"]) == ("UNKNOWN", "Spark did not start", None)
    written(tmp_path, amended(tmp_path, "r1"))
    assert report(tmp_path, "latest-move")["audit"]["records"] == 12


def test_a_run_that_is_not_here_or_moved_nothing_is_not_amended(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert amended(tmp_path, "r1")["made"] is None
    run(tmp_path, "r2", opened("r2"))
    assert amended(tmp_path, "r2")["made"] is None
    (moved(tmp_path, "r3").folder / "run.json").write_text("{")
    answer = amended(tmp_path, "r3")
    assert answer["made"] is None
    assert "The report of the last move stays as it is" in warned(answer, capsys)


# ---- the page while it runs


def page(*events: RunEvent) -> str:
    began = RunEvent("began", 0.0, {"move": move(), "options": {}, "check": False})
    return run_page(Run.of([began, *events]), 60.0)


def test_the_page_of_a_run_shows_who_is_stopped_what_runs_and_how_to_go_on() -> None:
    stop, drain = (RunEvent("phase", at, {"phase": phase}) for at, phase in ((10.0, "stop_producers"), (20.0, "drain")))
    shown = page(opened("r1"), stop, drain)
    assert '<meta http-equiv="refresh" content="2">' in shown
    assert "RUNNING: drain" in shown
    assert "1970-01-01 00:00:10 UTC" in shown
    assert '"name">reads</span><strong>not stopped' in shown
    assert '"name">writes</span><strong>stopped' in shown
    assert "<li>barrier</li>" in shown
    assert "<li>drain</li>" not in shown
    assert "switchback.kafka_dr.failover_cutoff" in shown
    assert "switchback.kafka_dr.abandon" in shown


def test_the_page_of_a_run_that_was_resumed_elsewhere_does_not_say_that_applications_run() -> None:
    resumed = returned(
        "opened", run_id="r1", resumed=True, phases_left=["start"], run={"resumed": 1, "started": 1.0}, phases={}
    )
    shown = page(resumed, RunEvent("phase", 10.0, {"phase": "start"}))
    assert shown.count("may be stopped") == 2
    assert "opened 1970-01-01 00:00:01 UTC" in shown
    again = page(resumed, RunEvent("phase", 10.0, {"phase": "start"}), RunEvent("phase", 11.0, {"phase": "arrival"}))
    assert again.count("<strong>started again") == 2


def test_the_page_says_that_they_were_started_again() -> None:
    times = [(10.0, "stop_producers"), (11.0, "stop_consumers"), (20.0, "start"), (30.0, "arrival")]
    shown = page(opened("r1"), *(RunEvent("phase", at, {"phase": phase}) for at, phase in times))
    assert shown.count("<strong>started again") == 2


def test_the_page_of_an_undone_run_and_of_a_rehearsal_has_no_command() -> None:
    failure = RunEvent("failed", 3.0, {"task": "Wait", "message": "late", "error": {}})
    assert "switchback.kafka_dr." not in page(opened("r1"), failure, RunEvent("undone", 4.0))
    began = RunEvent("began", 0.0, {"move": move(rehearsal=True), "options": {}, "check": False})
    assert "switchback.kafka_dr." not in run_page(Run.of([began, opened("r1")]), 60.0)


def test_neither_page_nor_record_holds_a_login_of_a_failure(tmp_path: Path) -> None:
    record = run(tmp_path, "r1", opened("r1"))
    failure = {"task": "it", "message": "https://u:s3cret@h/ does not answer", "error": {}}
    run_module(dr_run, {"pair": PAIR, "record": str(record.folder), "event": "failed", "data": failure})
    texts = [path.read_text() for path in record.folder.iterdir()]
    assert len(texts) == 2
    assert not [text for text in texts if "s3cret" in text]


def test_the_page_offers_no_undo_after_the_point_of_no_return() -> None:
    shown = page(opened("r1", pnr=5.0))
    assert "cannot be undone" in shown
    assert "switchback.kafka_dr.abandon" not in shown


def test_the_page_of_a_run_that_goes_back_says_so_and_no_phase_follows() -> None:
    failure = RunEvent("failed", 3.0, {"task": "Wait", "message": "<b>late</b>", "error": {}})
    shown = page(opened("r1"), failure)
    assert "UNDOING" in shown
    assert "&lt;b&gt;late" in shown
    assert "Comes next" not in shown
    assert "STOPPED" in page(opened("r1"), failure, RunEvent("undo_failed", 4.0, {"message": "no", "error": {}}))


def test_each_event_of_an_open_run_renews_its_page_and_the_report_takes_its_place(tmp_path: Path) -> None:
    record = run(tmp_path, "r1", opened("r1"))
    asked = {"pair": PAIR, "record": str(record.folder)}
    run_module(dr_run, {**asked, "event": "phase", "data": {"phase": "drain"}})
    assert "RUNNING: drain" in (record.folder / "page.html").read_text()
    ended(record)
    assert "refresh" not in (record.folder / "page.html").read_text()


# Once: Ansible shows the same warning once.
@pytest.mark.parametrize("where", [True], indirect=True)
def test_a_page_that_cannot_be_made_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_args: object) -> str:
        raise KeyError("phase")

    record = run(tmp_path, "r1", opened("r1"))
    monkeypatch.setattr(events, "run_page", broken)
    asked = {"pair": PAIR, "record": str(record.folder), "event": "phase", "data": {"phase": "drain"}}
    answer = run_module(dr_run, asked)
    assert (answer["rc"], answer["run"]["id"]) == (0, "r1")
    assert "page of the run" in warned(answer, capsys)


def test_a_run_that_was_not_opened_has_no_page_of_its_own(tmp_path: Path) -> None:
    record = begun(tmp_path)
    run_module(dr_run, {"pair": PAIR, "record": str(record.folder), "event": "phase", "data": {"phase": "drain"}})
    assert not (record.folder / "page.html").exists()
