# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands of applications and hooks as real processes: what is too slow ends as a whole, a daemon stays."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._clients import control

# A child that is not the command itself; `wait` is what a script does that runs something in the foreground.
CHILD = "(exec sh -c 'echo $$ > {pid}; sleep 30; touch {late}') & wait"


def run(argv: list[str], timeout: float = 20.0) -> dict[str, Any]:
    """The row of one command, run as the module runs it."""
    module = cast(AnsibleModule, SimpleNamespace(check_mode=False))
    client = {"name": "it", "argv": argv, "path": None, "content": None, "mode": "0640"}
    row: dict[str, Any] = control(module, [client], timeout).extra["clients"][0]
    return row


def until(condition: Callable[[], bool]) -> None:
    """Wait for what must happen soon."""
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


def is_at_work(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_what_is_too_slow_ends_with_its_children(tmp_path: Path) -> None:
    pid, late = tmp_path / "pid", tmp_path / "late"
    row = run(["sh", "-c", CHILD.format(pid=pid, late=late)], timeout=1.5)
    assert "did not end within 1.5 s and was ended, with its children" in row["error"]
    assert row["rc"] is None
    assert not is_at_work(int(pid.read_text())), "the child would have gone on, and switched something after the undo"
    assert not late.exists()


def test_a_child_that_does_not_listen_is_killed(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    deaf = f"import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); \
open({str(pid)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    row = run(["sh", "-c", f'{sys.executable} -c "$0" & wait', deaf], timeout=1.5)
    assert "and was ended, with its children: deaf" in row["error"]
    assert not is_at_work(int(pid.read_text()))


def test_a_daemon_lives_on_and_nobody_waits_for_its_output(tmp_path: Path) -> None:
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


def test_what_a_command_said_is_shown() -> None:
    assert run(["sh", "-c", "echo no licence >&2; echo hidden; exit 3"])["error"] == (
        '"sh -c echo no licence >&2; echo hidden; exit 3" ended with 3, wanted 0: no licence'
    )
    assert run(["sh", "-c", "echo said; exit 4"])["error"].endswith("wanted 0: said")
    assert run(["sh", "-c", "exit 5"])["error"].endswith("wanted 0: it said nothing")
    assert "No such file" in run(["/no/such/command"])["error"]


def test_a_last_line_may_say_that_nothing_changed() -> None:
    assert run(["echo", '{"changed": false}'])["changed"] is False


def test_a_command_has_no_input() -> None:
    assert run(["sh", "-c", "read answer || exit 7"])["rc"] == 7
