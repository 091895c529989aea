# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands of applications on several hosts run at the same time, and every one has ended before the play goes on.

Real runs of ansible-playbook with the role clients, on hosts that are this machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils import _process
from ansible_collections.switchback.kafka_dr.plugins.module_utils._client_results import collect, together
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.journal.holders import Holder

ROOT = Path(__file__).parents[2]
HERE = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
#: Nothing listens there.
SILENT = {"ansible_connection": "ssh", "ansible_host": "127.0.0.1", "ansible_port": 1}
# Waits for the other hosts' files: without the others it would take longer than its time-out.
MEET = 'touch "$0"; for file in "$@"; do until [ -e "$file" ]; do sleep 0.05; done; done'


def until(condition: Callable[[], bool]) -> None:
    """Wait until the condition is true, for a minute at most."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def application(name: str, host: str, argv: list[str], after: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "name": name,
        "hosts": host,
        "control": "command",
        "become": False,
        "after": list(after),
        "workload": None,
        "endpoint_file": None,
        "start": argv,
        "stop": argv,
    }


def begun(folder: Path, clients: list[dict[str, Any]], timeout: float, **hosts: Any) -> subprocess.Popen[str]:
    """Start a play that stops the clients with the role, and notes the error that its caller can rescue."""
    tasks: list[dict[str, Any]] = [
        {
            "block": [
                {
                    "ansible.builtin.include_role": {"name": "switchback.kafka_dr.clients", "rolespec_validate": False},
                    "vars": {"clients_action": "stop", "clients_alias": "P", "clients_list": clients},
                }
            ],
            "rescue": [{"ansible.builtin.set_fact": {"failure": "{{ ansible_failed_result }}"}}],
        },
        {
            "ansible.builtin.copy": {
                "content": "{{ {'failure': failure | default({}), 'done': clients_done | default({})} | to_json }}",
                "dest": str(folder / "result.json"),
            }
        },
    ]
    variables = {"kafka_dr_guard": {}, "kafka_dr_stop_timeout": timeout, "clients_endpoints": {"P": {}}}
    playbook = [{"hosts": "localhost", "gather_facts": False, "vars": variables, "tasks": tasks}]
    (folder / "play.yml").write_text(json.dumps(playbook))
    inventory = {"all": {"hosts": {"localhost": HERE, **hosts}}}
    (folder / "hosts.json").write_text(json.dumps(inventory))
    program = Path(sys.executable).with_name("ansible-playbook")
    return subprocess.Popen(
        [program, "-i", folder / "hosts.json", folder / "play.yml"],
        env={**os.environ, "ANSIBLE_COLLECTIONS_PATH": str(ROOT / "build" / "collections")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def play(folder: Path, clients: list[dict[str, Any]], timeout: float, **hosts: Any) -> dict[str, Any]:
    """Return the error that the caller of the role can rescue, and the result of the last batch."""
    with begun(folder, clients, timeout, **hosts) as run:
        output, _nothing = run.communicate(timeout=120)
    assert run.returncode == 0, output
    found: dict[str, Any] = json.loads((folder / "result.json").read_text())
    return found


@pytest.mark.playbook
def test_commands_on_several_hosts_run_at_the_same_time(tmp_path: Path) -> None:
    files = [str(tmp_path / name) for name in "abc"]
    clients = [
        application(name, f"host-{name}", ["sh", "-c", MEET, file, *files])
        for name, file in zip("abc", files, strict=True)
    ]
    # It starts after one of them only, so it may look for all of their files.
    last = ["sh", "-c", 'for file in "$@"; do [ -e "$file" ] || exit 1; done', "all", *files]
    clients.append(application("last", "host-a", last, after=("a",)))
    found = play(tmp_path, clients, 60, **{f"host-{name}": HERE for name in "abc"})
    assert found["failure"] == {}
    assert found["done"]["changed"] is True
    assert [row["name"] for row in found["done"]["clients"]] == ["last"]


@pytest.mark.playbook
def test_every_command_has_ended_before_a_failure_is_reported(tmp_path: Path) -> None:
    late = tmp_path / "late"
    clients = [
        application("gone", "host-a", ["true"]),
        application("bad", "host-b", ["sh", "-c", "echo it broke; exit 4"]),
        application("slow", "host-c", ["sh", "-c", 'sleep 1; touch "$0"', str(late)]),
    ]
    found = play(tmp_path, clients, 60, **{"host-a": SILENT, "host-b": HERE, "host-c": HERE})
    assert late.exists()
    message = found["failure"]["msg"]
    assert "Host host-a: Host host-a is unreachable:" in message
    assert 'Host host-b: 1 of 1 applications failed (bad): "sh -c' in message
    assert "it broke" in message
    assert found["failure"]["error"]["code"] == "host_unreachable"
    assert {row["name"]: row["rc"] for row in found["failure"]["clients"]} == {"bad": 4, "slow": 0}


@pytest.mark.playbook
def test_one_host_that_is_unreachable_is_named_once(tmp_path: Path) -> None:
    found = play(tmp_path, [application("gone", "host-a", ["true"])], 60, **{"host-a": SILENT})
    assert found["failure"]["error"]["code"] == "host_unreachable"
    assert found["failure"]["msg"].count("host-a is unreachable") == 1
    assert found["done"]["changed"] is False


@pytest.mark.parametrize("result", [{}, {"skipped": True}, {"clients": None}, {"failed": True}, {"unreachable": True}])
def test_a_host_without_a_result_is_a_failure(result: dict[str, Any]) -> None:
    done = {"clients": [{"name": "a"}]}
    assert together([("h1", done)]).failure is None
    both = together([("h1", done), ("h2", result)])
    assert both.extra["failed_hosts"] == ["h2"]
    failure = both.failure
    assert failure is not None
    assert "h2" in failure.message
    assert failure.hint


def test_a_process_that_ends_without_a_result_is_a_failure(tmp_path: Path) -> None:
    file = tmp_path / "pending"
    file.touch()
    result = collect({"pending": str(file)})
    assert result["failed"] is True
    assert not file.exists()


@pytest.mark.playbook
def test_a_command_that_outlives_its_controller_keeps_the_next_one_waiting(tmp_path: Path) -> None:
    started, go_on = tmp_path / "started", tmp_path / "go-on"
    script = 'touch "$0"; until [ -e "$1" ]; do sleep 0.05; done'
    clients = [application("slow", "host-a", ["sh", "-c", script, str(started), str(go_on)])]
    with begun(tmp_path, clients, 60, **{"host-a": HERE}) as run:
        until(started.exists)
        holder = Holder(_process.myself().host, run.pid, _process._born(run.pid), _process._command(run.pid))
        run.kill()
        until(lambda: not _process.is_alive(holder))
        assert _process.orphans(holder)
        go_on.touch()
        until(lambda: not _process.orphans(holder))
