# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A controller that freezes in the middle of a playbook, as a paused machine does, and another one that takes over."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scenario import COLLECTION, Scenario
from snapshot import at_rest, snapshot

_LONGEST = 240.0
_OTHER = "import socket\nsocket.gethostname = lambda: 'controller-2'\n"


class Frozen:
    """A playbook that is stopped, with all its children, when ``trigger`` appears in its output."""

    def __init__(self, scenario: Scenario, trigger: str, playbook: str, variables: Mapping[str, Any]) -> None:
        program = str(Path(sys.executable).parent / "ansible-playbook")
        own = {"kafka_dr_report_dir": str(scenario.folder / "reports-frozen"), "kafka_dr_audit": False, **variables}
        command = [program, f"{COLLECTION}.{playbook}", "-i", str(scenario.inventory), "-e", json.dumps(own)]
        self.log = scenario.logs / f"frozen-{playbook}-{time.time_ns()}.log"
        with self.log.open("w") as output:
            self.run = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=scenario.environment())
        until = time.monotonic() + _LONGEST
        while trigger not in self.log.read_text():
            if self.run.poll() is not None or time.monotonic() > until:
                self.run.kill()
                raise AssertionError(f"{trigger} was not seen in {self.log}: {self.log.read_text()[-1500:]}")
            time.sleep(0.005)
        self._freeze()

    def _freeze(self) -> None:
        """Stop parents before children, until no running process is left: a worker may have been forked meanwhile."""
        self.stopped: list[int] = []
        while new := [pid for pid in tree(self.run.pid) if pid not in self.stopped]:
            for pid in new:
                os.kill(pid, signal.SIGSTOP)
            self.stopped += new

    def thaw(self) -> tuple[int, str]:
        """Let it continue. Return the exit code and the output once it has ended."""
        for pid in reversed(self.stopped):
            os.kill(pid, signal.SIGCONT)
        return self.run.wait(_LONGEST), self.log.read_text()

    def end(self) -> None:
        """Kill everything that a failed test has left."""
        if self.run.poll() is None:
            for pid in reversed(self.stopped):
                os.kill(pid, signal.SIGKILL)
            self.run.wait(_LONGEST)


def tree(pid: int) -> list[int]:
    """A process and all its descendants."""
    try:
        threads = list(Path(f"/proc/{pid}/task").iterdir())
        children = [int(word) for thread in threads for word in (thread / "children").read_text().split()]
    except OSError:
        return []
    return [pid, *(each for child in children for each in tree(child))]


@contextmanager
def another_controller(scenario: Scenario) -> Iterator[None]:
    """Make playbooks within the context run on another machine, as far as the journal can see."""
    folder = scenario.folder / "controller-2"
    folder.mkdir(exist_ok=True)
    (folder / "sitecustomize.py").write_text(_OTHER)
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(folder), *([before] if before else [])])
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


def undecided_run(output: str) -> str:
    """The id that a refused playbook names for ``kafka_dr_take_over``."""
    found = re.search(r"kafka_dr_take_over=(\S+?)\.\s", " ".join(output.split()) + " ")
    assert found, output[-2000:]
    return found[1]


def world(scenario: Scenario) -> dict[str, Any]:
    """Everything that a superseded controller could change.

    The applications are stopped, so nothing else changes it.
    """
    clients = json.loads(scenario.ledger("status"))["clients"]
    groups = sorted({str(client["group"]) for client in scenario.clients if "group" in client})
    endpoints = {path.name: path.read_text() for path in sorted((scenario.folder / "ledger").glob("*.env"))}
    assert endpoints, "the endpoint files were not found"
    return {
        "clusters": snapshot(scenario.folder, groups),
        "endpoints": endpoints,
        "running": {name: client["running"] for name, client in clients.items()},
    }


def wake(scenario: Scenario, frozen: Frozen) -> tuple[int, str, list[str]]:
    """Stop the applications and let the first controller continue.

    Return exit code, output, and the names of all changes.
    """
    scenario.stop()
    before = at_rest(lambda: world(scenario))
    rc, output = frozen.thaw()
    after = world(scenario)
    return rc, output, sorted(_differences(before, after, ""))


def _differences(before: Any, after: Any, path: str) -> Iterator[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before.keys() | after.keys():
            yield from _differences(before.get(key), after.get(key), f"{path}/{key}")
    elif before != after:
        yield f"{path}: {before!r:.120} -> {after!r:.120}"
