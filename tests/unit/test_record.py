# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a run on the controller, and the events that reach the journal too."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils import _record
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.flows.pair_spec import PairSpec
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.run.events import RunEvent
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import Result
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal.request import JournalRequest
from ansible_collections.switchback.kafka_dr.plugins.module_utils._record import RunRecord
from ansible_collections.switchback.kafka_dr.plugins.module_utils._run import events
from ansible_collections.switchback.kafka_dr.plugins.modules import dr_commit, dr_probe_info, dr_run
from modules import run_module
from run_records import PAIR, begun, move

BEGAN = {"move": move(), "options": {"lower": "auto"}, "check": False}


@pytest.fixture
def record(tmp_path: Path) -> RunRecord:
    return begun(tmp_path)


def returned(step: str, **result: Any) -> RunEvent:
    return RunEvent("returned", 1.0, {"step": step, "result": result})


def opened(generation: int) -> RunEvent:
    return returned("opened", run_id="r1", run={"id": "r1", "resumed": generation}, phases={})


def test_a_run_has_a_folder_with_its_events(tmp_path: Path, record: RunRecord) -> None:
    assert record.folder == tmp_path / "runs" / "r1"
    record.append(returned("drain", stopped=True))
    assert record.read().result("drain") == {"stopped": True}
    assert [path.name for path in record.folder.iterdir()] == ["run.json"]
    assert record.folder.stat().st_mode & 0o7 == 0
    assert (record.folder / "run.json").stat().st_mode & 0o7 == 0


def test_a_large_result_is_a_file_of_its_own_and_read_only_when_it_is_needed(record: RunRecord) -> None:
    rows = [{"topic": "T", "partition": number} for number in range(1000)]
    record.append(returned("barrier", details=rows, rereads=12))
    assert len((record.folder / "run.json").read_text()) < 2000
    run = record.read()
    assert dict(run.result("barrier")) == {"details": rows, "rereads": 12}
    kept = record.read()
    (record.folder / "001-barrier.json").unlink()
    assert kept.result("barrier")["rereads"] == 12
    with pytest.raises(DrError, match=r"001-barrier\.json") as missing:
        kept.result("barrier")["details"]
    assert missing.value.code == "no_record"
    assert kept.id is None


def test_an_event_reads_no_rows_of_the_pair(record: RunRecord, journal: Journal) -> None:
    """They have megabytes in a large pair, and applications are stopped."""
    rows = [{"topic": "T", "partition": number} for number in range(1000)]
    for step in ("journal", "status", "forecast"):
        record.append(returned(step, state={"rows": rows}, status={"rows": rows}, details=rows))
    journal.phases = {"barrier": {"rows": rows}, "seeded": {}}
    happen(record, "open")
    record.append(returned("standstill", seen={"rows": rows}))
    record.append(returned("barrier", barrier={"rows": rows}, details=rows))
    happen(record, "pass")
    files = sorted(record.folder.glob("[0-9]*.json"))
    assert len(files) == 7
    for path in files:
        path.unlink()
    answer = happen(record, "phase", phase="arrival")
    assert (answer["run"]["passed"], answer["run"]["seeded"], answer.get("error")) == (True, True, None)
    assert "arrival" in (record.folder / "page.html").read_text()


def test_events_of_several_processes_are_all_kept(record: RunRecord) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: record.append(returned(f"s{number}", n=number)), range(40)))
    assert set(record.read().results) == {f"s{number}" for number in range(40)}


@pytest.mark.parametrize(
    "content", ["", "{}", '{"version": 2, "events": []}', '{"version": 1, "events": [{"kind": "x"}]}']
)
def test_a_record_that_is_not_one_is_refused(record: RunRecord, content: str) -> None:
    (record.folder / "run.json").write_text(content)
    with pytest.raises(DrError) as refused:
        record.read()
    assert refused.value.code == "no_record"


def test_a_folder_that_cannot_be_written_refuses_the_run_before_it_begins(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file")
    asked = {
        "event": "begin",
        "pair": PAIR,
        "reports": str(tmp_path),
        "data": {**BEGAN, "type": "cutoff", "target": "B"},
    }
    assert run_module(dr_run, asked)["error"]["code"] == "no_report"


def full(_path: Path, _text: str, _mode: int, **_named: bool) -> None:
    raise OSError(28, "No space left on device")


def test_a_full_disk_does_not_prevent_the_undo(record: RunRecord, monkeypatch: pytest.MonkeyPatch) -> None:
    record.append(returned("opened", run_id="r1", owner={"run": "r1"}, run={"id": "r1", "pnr": None}, phases={}))
    monkeypatch.setattr(_record, "write_whole", full)
    failed = {"task": "Stop", "message": "no", "error": {}}
    answer = run_module(dr_run, {"event": "failed", "pair": PAIR, "record": str(record.folder), "data": failed})
    assert (answer["run"]["id"], answer["run"]["passed"], answer["run"]["failed"]) == ("r1", False, True)
    asked = events.EventRequest("failed", PairSpec.of(PAIR), record.folder, data=failed)
    assert "No space left" in events.happened(asked).warnings[0]
    assert record.read().failure is None
    advice = run_module(dr_run, {"event": "advise", "pair": PAIR, "record": str(record.folder)})["text"]
    assert advice.startswith("Stopped in 'unknown': The record of the run could not be written")
    phase = {"event": "phase", "pair": PAIR, "record": str(record.folder), "data": {"phase": "drain"}}
    assert run_module(dr_run, phase)["error"]["code"] == "no_report"


def test_a_step_appends_its_result_without_secrets(record: RunRecord) -> None:
    asked = {
        "bootstrap_servers": "127.0.0.1:1",
        "client": {"sasl.password": "hunter22"},
        "topics": [],
        "timeout": 0.2,
        "record": str(record.folder),
        "step": "probe",
    }
    assert run_module(dr_probe_info, asked)["answers"] is False
    assert [probe["answers"] for probe in record.read().probes] == [False]
    asked["bootstrap_servers"] = "127.0.0.1:1,hunter22:1"
    run_module(dr_probe_info, asked)
    assert len(record.read().probes) == 2
    assert all("hunter22" not in path.read_text() for path in record.folder.iterdir())


def test_a_failure_that_repeats_a_password_is_recorded_without_it(record: RunRecord) -> None:
    clusters = {**PAIR["clusters"], "B": {"bootstrap_servers": "b:1", "admin_client": {"sasl.password": "hunter22"}}}
    failed = {"task": "Stop", "message": "login with hunter22 failed", "error": {"message": "hunter22"}}
    run_module(
        dr_run,
        {"event": "failed", "pair": {**PAIR, "clusters": clusters}, "record": str(record.folder), "data": failed},
    )
    kept = record.read().failure
    assert kept is not None
    assert kept.message.startswith("login with ")
    assert "hunter22" not in (record.folder / "run.json").read_text()


def test_each_start_of_a_run_has_a_folder_of_its_own(tmp_path: Path, record: RunRecord) -> None:
    """R31: a controller that was overtaken must not reach the run of the one that has overtaken it."""
    record.append(opened(0))
    record.append(RunEvent("phase", 5.0, {"phase": "stop_producers"}))
    starts = [RunRecord.create(tmp_path, name, BEGAN) for name in ("r2", "r3")]
    starts[0].append(returned("forecast", details=["x" * 5000]))
    assert starts[0].named("r2") is starts[0]
    joined = [start.named("r1") for start in starts]
    assert [one.folder for one in joined] == [record.folder / "start-2", record.folder / "start-3"]
    assert not any(start.folder.exists() for start in starts)
    assert joined[0].read().result("forecast") == {"details": ["x" * 5000]}
    assert [one.reports for one in (record, *joined)] == [tmp_path] * 3
    record.append(RunEvent("failed", 6.0, {"task": "t", "message": "m", "error": {}}))
    joined[0].append(opened(1))
    joined[0].append(RunEvent("phase", 7.0, {"phase": "stop_consumers"}))
    joined[1].append(opened(2))
    last = joined[1].read()
    assert (last.failure, last.stopped_at("writes"), last.stopped_at("reads")) == (None, 5.0, 7.0)


def test_an_earlier_start_that_cannot_be_read_stops_nothing_and_makes_its_times_unknown(
    tmp_path: Path, record: RunRecord
) -> None:
    record.append(opened(0))
    again = RunRecord.create(tmp_path, "r2", BEGAN).named("r1")
    again.append(opened(1))
    again.append(RunEvent("phase", 7.0, {"phase": "stop_producers"}))
    assert again.read().stopped_at("writes") == 7.0
    (record.folder / "run.json").unlink()
    assert again.read().stopped_at("writes") is None


def test_a_run_that_began_elsewhere_takes_its_name(tmp_path: Path, record: RunRecord) -> None:
    moved = record.named("r9")
    assert (moved.folder, record.folder.exists()) == (tmp_path / "runs" / "r9", False)
    assert moved.read().move.pair == "B-P"


def test_a_run_in_the_folder_of_another_user_goes_on_in_a_folder_of_its_own(
    record: RunRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_path: Path, _target: Path) -> None:
        raise PermissionError(13, "Permission denied")

    record.append(opened(0))
    again = RunRecord.create(tmp_path, "r2", BEGAN)
    monkeypatch.setattr(Path, "rename", refused)
    assert again.named("r1").folder == tmp_path / "runs" / "r2"


ROWS = [{"group": "g", "committed_offsets": [{"topic": "T", "partition": 0, "offset": 7, "own": 5, "metadata": "m"}]}]


def test_the_offsets_of_the_barrier_are_committed_as_the_run_says(
    record: RunRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R6: what happens to a higher offset was decided when the run was opened."""
    called: list[Any] = []

    def commit(*values: Any) -> Result:
        called.append(values[1:])
        return Result(extra={"lowered": 1, "kept": [], "committed_offsets": [1]})

    monkeypatch.setattr(dr_commit, "commit_offsets", commit)
    monkeypatch.setattr(dr_commit, "connect_one", lambda alias, *_more: alias)
    asked = {"pair": PAIR, "record": str(record.folder), "step": "commit"}
    assert run_module(dr_commit, asked)["error"]["code"] == "bad_option"
    record.append(returned("barrier", committed_offsets=ROWS, settle=1.5))
    record.append(returned("opened", run_id="r1", on_higher="lower", state={"run": {}}))
    answer = run_module(dr_commit, asked)
    key = Partition("T", 0)
    assert called == [({"g": {key: 7}}, "lower", False, 1.5, {"g": {key: 5}}, {"g": {key: "m"}})]
    assert (answer["lowered"], "committed_offsets" in answer) == (1, False)
    assert record.read().result("commit")["committed_offsets"] == [1]
    record.append(returned("barrier", failed=True, committed_offsets=ROWS))
    assert run_module(dr_commit, asked)["error"]["code"] == "bad_option"


# ---- the journal


class Journal:
    """What ``dr_journal`` would append."""

    def __init__(self) -> None:
        self.requests: list[JournalRequest] = []
        self.phases: dict[str, Any] = {}

    def note(self, request: JournalRequest, check: bool) -> Result:
        self.requests.append(request)
        state = {"run": {"id": "r1", "type": "cutoff", "from": "P", "to": "B", "pnr": None, "resumed": 3}}
        state["run"] |= {"phases": self.phases, "pnr": 5.0 if request.event == "pnr" else None}
        state["run"] |= {"ended": None, "replaces_passed_run": False, "started": 1.0}
        owner = {"run": "r1", "holder_generation": 3, "on": ["B", "P"]}
        return Result(extra={"state": state, "run_id": "r1", "resumed": False, "owner": owner})


@pytest.fixture
def journal(monkeypatch: pytest.MonkeyPatch) -> Journal:
    made = Journal()
    monkeypatch.setattr(events, "note", made.note)
    return made


def happen(record: RunRecord, event: str, **data: Any) -> dict[str, Any]:
    return run_module(dr_run, {"event": event, "pair": PAIR, "record": str(record.folder), "data": data})


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        ("pass", "pnr"),
        ("start_consumers", "phase"),
        ("undoing", "undoing"),
        ("undone", "ended"),
        ("close", "ended"),
    ],
)
def test_every_event_of_a_run_refuses_a_superseded_controller(
    record: RunRecord, journal: Journal, event: str, kind: str
) -> None:
    """R25: the journal compares the number of the holder."""
    happen(record, "open")
    happen(record, event)
    asked = journal.requests[-1]
    assert (asked.event, asked.run, asked.generation, asked.copies) == (kind, "r1", 3, ("B", "P"))


def test_a_new_run_has_the_name_of_its_record_and_says_how_to_go_on(record: RunRecord, journal: Journal) -> None:
    answer = happen(record, "open")
    (asked,) = journal.requests
    assert (asked.new_id, asked.run, asked.generation) == ("r1", None, None)
    assert answer["text"].startswith("The run r1 stops api on P. If it is interrupted, ansible-playbook")
    assert answer["run"]["owner"]["holder_generation"] == 3


def test_a_run_that_is_resumed_reads_what_its_start_has_found_in_its_record(
    tmp_path: Path, record: RunRecord, journal: Journal
) -> None:
    again = RunRecord.create(tmp_path, "r2", BEGAN)
    again.append(returned("journal", state={"interrupted": True, "left": ["x" * 5000]}))
    answer = happen(again, "open")
    assert answer["record"] == str(record.folder / "start-2")
    assert RunRecord(answer["record"]).read().result("journal")["state"]["left"] == ["x" * 5000]


def test_the_point_of_no_return_is_journaled_once(record: RunRecord, journal: Journal) -> None:
    happen(record, "open")
    record.append(returned("passed", run={"pnr": 7.0}, phases={}))
    answer = happen(record, "pass")
    assert len(journal.requests) == 1
    assert answer["run"]["passed"] is True


def test_an_event_needs_a_record() -> None:
    assert run_module(dr_run, {"event": "phase", "pair": PAIR, "data": {"phase": "x"}})["error"]["code"] == "bad_option"


def test_the_report_of_a_run_that_never_began_belongs_into_its_folder(record: RunRecord) -> None:
    failed = happen(record, "failed", task="t", message="m", error={})
    assert failed["run"]["outcome"] == "failed"
    answer = happen(record, "report")
    assert answer["made"] == {"folder": "r1", "start": "", "newest": True}
    assert answer["report"]["failure"]["task"] == "t"
    assert json.dumps(answer["lines"])
