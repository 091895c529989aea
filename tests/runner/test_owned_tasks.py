# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Task files of hooks and clients with an unreachable host: the play continues with undo and report."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from run_records import PAIR, move

PING: dict[str, Any] = {"ansible.builtin.ping": {}, "delegate_to": "dead"}
SAY: dict[str, Any] = {"ansible.builtin.debug": {"msg": "SWITCHED {{ cutover_hook_facts.KAFKA_DR_TO }}"}}
INVENTORY = {"all": {"hosts": {"dead": {"ansible_host": "127.0.0.1", "ansible_port": 1, "ansible_connection": "ssh"}}}}
OURS = "switchback.kafka_dr."
STATE = {
    "kafka_dr_guard": {},  # No request is sent, because there is no pair.
    "kafka_dr_pair": {"name": "B-P", "application": None, "spec": PAIR, "moved": move()},
    "cutover_when": "before",
    "cutover_moment": "start",
    "cutover_type": "cutoff",
    "cutover_to": "B",
}


def event(name: str, **more: Any) -> dict[str, Any]:
    return {f"{OURS}dr_run": {"event": name, "pair": PAIR, **more}, "register": "cutover_now"}


def played(folder: Path, tasks: list[dict[str, Any]], **facts: Any) -> tuple[int, str]:
    """The exit code and output of a hook with these tasks, in a run as the role makes it, and of a play after it."""
    (folder / "inventory.json").write_text(json.dumps(INVENTORY))
    (folder / "tasks.yml").write_text(json.dumps(tasks))
    ended = facts.pop("ended", False)
    hook = {"name": "dns", "command": None, "tasks_file": str(folder / "tasks.yml"), "timeout": 30, "on_error": "stop"}
    run_it = {
        "ansible.builtin.include_role": {"name": f"{OURS}cutover", "tasks_from": "hook"},
        "vars": {"cutover_hook": hook | facts},
    }
    begun = event("begin", reports=str(folder), data={"type": "cutoff", "target": "B", "move": move(), "options": {}})
    failed = event("failed", data={"task": "it", "message": "it", "error": {}})
    failures = "cutover_now.report.hooks | map(attribute='failure') | list"
    run = {
        "module_defaults": {f"group/{OURS}run": {"record": "{{ cutover_now.record }}"}},
        "block": [
            *([{"ansible.builtin.fail": {"msg": "BROKEN"}}] if ended else [run_it]),
            {"ansible.builtin.debug": {"msg": "MOVED"}},
        ],
        "rescue": [
            {"ansible.builtin.debug": {"msg": "UNDONE {{ ansible_failed_result.msg }}"}},
            failed,
            {"ansible.builtin.fail": {"msg": "STOPPED"}},
        ],
        "always": [
            event("report", data={"final": ended, "planned": {}}),
            {"ansible.builtin.debug": {"msg": f"REPORTED {{{{ {failures} }}}}"}},
            *([run_it] if ended else []),
        ],
    }
    plays = [
        {
            "hosts": "localhost",
            "gather_facts": False,
            "strategy": "linear",
            "tasks": [{"ansible.builtin.set_fact": STATE}, begun, run],
        },
        {"hosts": "localhost", "gather_facts": False, "tasks": [{"ansible.builtin.debug": {"msg": "LATER PLAY"}}]},
    ]
    (folder / "play.yml").write_text(json.dumps(plays))
    done = subprocess.run(
        [str(Path(sys.executable).parent / "ansible-playbook"), "-i", "inventory.json", "play.yml"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout


LATE = "a host is unreachable"


def test_a_dead_host_stops_the_file_and_the_run_which_is_undone(tmp_path: Path) -> None:
    code, output = played(tmp_path, [PING, SAY])
    assert code == 2
    assert f"UNDONE The hook dns before start failed: {tmp_path}/tasks.yml: {LATE}" in output
    assert "REPORTED" in output
    assert [word for word in ("SWITCHED B", "MOVED", "LATER PLAY") if f'"{word}"' in output] == []


def test_a_dead_host_may_be_ignored(tmp_path: Path) -> None:
    code, output = played(tmp_path, [PING, SAY], on_error="go_on")
    assert code == 0
    assert '"MOVED"' in output
    assert "SWITCHED B" not in output
    assert f"tasks.yml: {LATE}" in output.split("REPORTED")[1]
    assert '"LATER PLAY"' in output


@pytest.mark.parametrize(
    "tasks",
    [
        [{**PING, "delegate_to": "{{ item }}", "loop": ["localhost", "dead"]}, SAY],
        [{"block": [PING, SAY]}, SAY],
    ],
    ids=["loop", "block"],
)
def test_a_dead_host_stops_the_run_at_any_place_in_the_file(tmp_path: Path, tasks: list[dict[str, Any]]) -> None:
    code, output = played(tmp_path, tasks)
    assert (code, "UNDONE" in output, "SWITCHED B" in output) == (2, True, False)


def test_the_owner_may_rescue_it(tmp_path: Path) -> None:
    code, output = played(tmp_path, [{"block": [PING], "rescue": [SAY]}])
    assert (code, '"SWITCHED B"' in output, '"MOVED"' in output, '"LATER PLAY"' in output) == (0, True, True, True)


def test_another_failure_is_reported_unchanged(tmp_path: Path) -> None:
    code, output = played(tmp_path, [{"ansible.builtin.fail": {"msg": "no licence"}}])
    assert code == 2
    assert "tasks.yml: no licence" in output.split("UNDONE")[1]


def test_a_dead_host_after_a_failed_run_does_not_make_it_a_success(tmp_path: Path) -> None:
    code, output = played(tmp_path, [PING, SAY], ended=True)
    assert code == 2
    assert LATE in output
    assert '"LATER PLAY"' not in output
