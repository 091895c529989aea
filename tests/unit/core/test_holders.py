# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""R25: two runs of one pair never interleave, and a dead run never blocks another one."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils import _process
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.journal.holders import Holder, require_over
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.journal.state import Run

HERE = Holder("one/boot/ns", 10, 100, "c")
OTHER = Holder("one/boot/ns", 7, 90, "c")
AWAY = Holder("two/boot/ns", 7, 90, "c")
NOWHERE = Holder("one/boot/ns")


def asked(holder: Holder | None, alive: bool = False, take_over: str | None = None) -> str:
    written = None if holder is None else holder.as_dict()
    run = Run("r1", 2, "cutoff", "P", "B", "default", written, 0.0, False, {})
    try:
        require_over(run, HERE, alive, take_over)
    except DrError as error:
        return error.code
    return "over"


@pytest.mark.parametrize(
    ("holder", "alive", "code"),
    [
        (HERE, True, "over"),  # The same playbook continues.
        (OTHER, True, "run_at_work"),
        (OTHER, False, "over"),
        (
            replace(OTHER, host="one/later/ns"),
            False,
            "run_undecided",
        ),  # The process belongs to another boot or container.
        (AWAY, False, "run_undecided"),
        (NOWHERE, False, "run_undecided"),
        (None, False, "run_undecided"),
    ],
)
def test_which_processes_may_take_over(holder: Holder | None, alive: bool, code: str) -> None:
    assert asked(holder, alive) == code


@pytest.mark.parametrize("holder", [AWAY, NOWHERE, None])
def test_a_process_on_another_host_has_ended_only_if_the_operator_confirms_it(holder: Holder | None) -> None:
    assert asked(holder, take_over="r1") == "over"
    assert asked(holder, take_over="r2") == "run_undecided"


def test_the_operator_cannot_overrule_a_running_process() -> None:
    assert asked(OTHER, alive=True, take_over="r1") == "run_at_work"


def test_without_an_ansible_parent_process_no_holder_is_reported() -> None:
    assert (_process.myself().pid, _process.myself().born) == (None, None)


def test_a_process_that_cannot_be_inspected_is_not_taken_for_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, gone = Holder("h", os.getpid(), 1), subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    monkeypatch.setattr(_process, "_PROC", tmp_path)
    assert _process.is_alive(there)
    assert not _process.is_alive(replace(there, pid=gone.pid))


def test_an_ansible_process_is_found_from_its_child_and_known_to_have_ended(tmp_path: Path) -> None:
    """A program with Ansible's name starts a child that looks for it.

    Then the program is killed and the child stays.
    """
    program = tmp_path / "ansible-playbook"
    root = os.pathsep.join(sys.path)
    program.write_text(
        "import os, sys, time\n"
        "if not os.fork():\n"
        "    from ansible_collections.switchback.kafka_dr.plugins.module_utils import _process\n"
        "    print(*_process.myself().as_dict().values(), sep='\\n', flush=True)\n"
        "    sys.stdin.read()\n"
        "    os._exit(0)\n"
        "os.wait()\n"
    )
    run = subprocess.Popen(
        [sys.executable, str(program)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": root},
    )
    assert run.stdout is not None
    assert run.stdin is not None
    host, pid, born, command = (run.stdout.readline().strip() for _field in range(4))
    holder = Holder(host, int(pid), int(born), command)
    assert (holder.pid, holder.host) == (run.pid, _process.myself().host)
    assert _process.is_alive(holder)
    assert not _process.is_alive(replace(holder, born=holder.born and holder.born + 1))
    run.kill()
    # The process is dead, although its parent has not waited for it yet.
    while _process.is_alive(holder):
        pass
    assert len(_process.orphans(holder)) == 1
    run.stdin.close()
    while _process.orphans(holder):
        pass
    run.wait()
    run.stdout.close()
