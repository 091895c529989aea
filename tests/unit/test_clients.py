# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands of applications and hooks as real processes: a command that is too slow ends with its children, a daemon
stays.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils import _guard, _host_tokens
from ansible_collections.switchback.kafka_dr.plugins.module_utils._clients import control
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import Result

# A child that is not the command itself. `wait` is what a script does that runs a program in the foreground.
CHILD = "(exec sh -c 'echo $$ > {pid}; sleep 30; touch {late}') & wait"


def run(argv: list[str], timeout: float = 20.0) -> dict[str, Any]:
    """The row of one command, run as the module runs it."""
    module = cast(AnsibleModule, SimpleNamespace(check_mode=False))
    client = {"name": "it", "argv": argv, "path": None, "content": None, "mode": "0640"}
    row: dict[str, Any] = control(module, [client], timeout, {}).extra["clients"][0]
    return row


def until(condition: Callable[[], bool]) -> None:
    """Wait until the condition is true, for a few seconds."""
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


def is_at_work(pid: int) -> bool:
    """Return whether a process runs. A process that ended and was not waited for does not run."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_command_that_is_too_slow_ends_with_its_children(tmp_path: Path) -> None:
    pid, late = tmp_path / "pid", tmp_path / "late"
    row = run(["sh", "-c", CHILD.format(pid=pid, late=late)], timeout=1.5)
    assert "did not exit within 1.5 s and was killed, with its child processes" in row["error"]
    assert row["rc"] is None
    assert not is_at_work(int(pid.read_text())), "the child would have gone on, and switched something after the undo"
    assert not late.exists()


def test_a_child_that_ignores_signals_is_killed(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    deaf = f"import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); \
open({str(pid)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    row = run(["sh", "-c", f'{sys.executable} -c "$0" & wait', deaf], timeout=1.5)
    assert "and was killed, with its child processes: deaf" in row["error"]
    assert not is_at_work(int(pid.read_text()))


def test_a_daemon_stays_and_its_output_is_not_waited_for(tmp_path: Path) -> None:
    """It keeps the output of the command that started it, and stays in its session."""
    pid = tmp_path / "pid"
    row = run(["sh", "-c", f"sleep 60 & echo $! > {pid}; echo started"])
    daemon = int(pid.read_text())
    try:
        assert (row["error"], row["rc"], row["changed"]) == (None, 0, True)
        assert row["seconds"] < 15, "the call waited for the daemon"
        assert is_at_work(daemon)
    finally:
        os.kill(daemon, signal.SIGKILL)
    until(lambda: not is_at_work(daemon))


def test_the_output_of_a_command_is_shown() -> None:
    assert run(["sh", "-c", "echo no licence >&2; echo hidden; exit 3"])["error"] == (
        '"sh -c echo no licence >&2; echo hidden; exit 3" exited with 3, wanted 0: no licence'
    )
    assert run(["sh", "-c", "echo said; exit 4"])["error"].endswith("wanted 0: said")
    assert run(["sh", "-c", "exit 5"])["error"].endswith("wanted 0: no output")
    assert "No such file" in run(["/no/such/command"])["error"]


def test_a_last_line_may_report_that_nothing_changed() -> None:
    assert run(["echo", '{"changed": false}'])["changed"] is False


def test_a_command_has_no_input() -> None:
    assert run(["sh", "-c", "read answer || exit 7"])["rc"] == 7


def start(folder: Path, epoch: int, holder_generation: int, journal: float = 1.0) -> Result:
    """Point an application at a cluster and start it, as a controller with this token does."""
    module = cast(AnsibleModule, SimpleNamespace(check_mode=False))
    client = {
        "name": "app",
        "argv": ["sh", "-c", f"echo {epoch}.{holder_generation} >> {folder}/started"],
        "path": str(folder / "app.env"),
        "content": f"{epoch}.{holder_generation}",
        "mode": "0640",
        "token_file": str(folder / ".app.env.kafka-dr-token"),
    }
    token = {"journal": journal, "epoch": epoch, "holder_generation": holder_generation}
    return control(module, [client], 20.0, {"pair": "p", "token": token})


def seen(folder: Path) -> tuple[str, str]:
    return (folder / "app.env").read_text(), (folder / "started").read_text()


def test_a_host_refuses_a_controller_older_than_the_last_one_there(tmp_path: Path) -> None:
    """R31: it passed its own check, was frozen, and wakes up after a newer one has started the application."""
    assert start(tmp_path, 7, 0).failure is None
    assert start(tmp_path, 7, 1).failure is None
    before = seen(tmp_path)
    late = start(tmp_path, 7, 0)
    assert late.failure is not None
    assert (late.failure.code, late.changed, seen(tmp_path)) == ("run_superseded", False, before)
    assert start(tmp_path, 8, 0).failure is None
    assert seen(tmp_path) == ("8.0", "7.0\n7.1\n8.0\n")


def test_a_re_created_journal_counts_from_the_beginning(tmp_path: Path) -> None:
    assert start(tmp_path, 40, 3).failure is None
    assert start(tmp_path, 1, 0, journal=2.0).failure is None


def test_an_application_without_an_endpoint_file_is_fenced_in_the_state_of_its_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    module = cast(AnsibleModule, SimpleNamespace(check_mode=False))
    client = {"name": "app", "argv": None, "path": None, "content": None, "mode": "0640"}
    for epoch, refused in ((3, False), (2, True)):
        guard = {"pair": "B-P", "token": {"journal": 1.0, "epoch": epoch, "holder_generation": 0}}
        assert (control(module, [client], 20.0, guard).failure is not None) is refused
    kept = json.loads((tmp_path / "kafka-dr" / "B-P" / "app.token").read_text())
    assert kept == {"journal": 1.0, "epoch": 3, "holder_generation": 0}


def test_a_token_that_cannot_be_stored_is_a_warning_and_the_application_starts(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").write_text("")
    module = cast(AnsibleModule, SimpleNamespace(check_mode=False))
    client = {"name": "app", "argv": ["true"], "path": None, "token_file": str(tmp_path / "file" / "token")}
    done = control(module, [client], 20.0, {"pair": "p", "token": {"journal": 1.0, "epoch": 1, "holder_generation": 0}})
    assert done.failure is None
    assert "could not be stored" in done.warnings[0]


def test_a_frozen_controller_with_the_lock_stops_the_newer_one_with_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert start(tmp_path, 1, 0).failure is None
    monkeypatch.setattr(_host_tokens, "_LOCKED", Bounds(0.1, 0.02))
    with (tmp_path / ".app.env.kafka-dr-token").open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        refused = start(tmp_path, 2, 0).failure
    assert refused is not None
    assert refused.code == "client_locked"
    assert seen(tmp_path) == ("1.0", "1.0\n")


def test_a_command_is_not_started_if_the_proof_fails_just_before_it(tmp_path: Path) -> None:
    """The controller is superseded between writing the endpoint file and the command: the file is written, the command
    not run.
    """
    proofs = iter([None, DrError("run_superseded", "overtaken")])

    def proof() -> None:
        error = next(proofs)
        if error is not None:
            raise error

    with _guard.owned(proof):
        result = start(tmp_path, 1, 0)
    assert result.failure is not None
    assert result.failure.code == "run_superseded"
    assert ((tmp_path / "app.env").read_text(), (tmp_path / "started").exists()) == ("1.0", False)
