# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Playbooks with a fault in the middle."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import ending
from scenario import COLLECTION, Scenario

# What a cutover of any type prints just after it has journaled the point of no return.
NO_RETURN = ": Start producers"
_LONGEST = 240.0


def kill_in_phase(scenario: Scenario, phase: str, to: str) -> None:
    """Start a cutover and SIGKILL ansible-playbook when it prints that the phase begins."""
    playbook = "failback" if to == "P" else "failover_cutoff"
    kill_at(scenario, beginning(phase), playbook, {"kafka_dr_confirm": to})


def beginning(phase: str) -> str:
    """What a cutover prints when a phase begins."""
    return f"Begin the phase {phase}]"


def kill_at(scenario: Scenario, trigger: str, playbook: str, variables: Mapping[str, Any]) -> None:
    """Start a playbook and SIGKILL ansible-playbook when ``trigger`` appears in its output. Its children stay alive."""
    rc, output = disturbed(scenario, trigger, playbook, variables, kill)
    assert rc == -signal.SIGKILL, output[-2000:]


def outwait(scenario: Scenario) -> None:
    """Wait until the children of a killed run have ended."""
    scenario.wait(lambda: not playbooks_alive(scenario), 30, "the killed run's children end")


def kill(run: subprocess.Popen[bytes]) -> None:
    """Kill as the kernel does when it is out of memory: no cleanup is possible."""
    os.kill(run.pid, signal.SIGKILL)


def disturbed(
    scenario: Scenario,
    trigger: str,
    playbook: str,
    variables: Mapping[str, Any],
    act: Callable[[subprocess.Popen[bytes]], None],
    delay: float = 0.0,
) -> tuple[int, str]:
    """Start a playbook, and call ``act`` on it ``delay`` seconds after ``trigger`` appears. Return exit code and
    output.

    A run that ends before that is not touched.
    """
    program = str(Path(sys.executable).parent / "ansible-playbook")
    own = {"kafka_dr_report_dir": str(scenario.reports), "kafka_dr_audit": False, **variables}
    command = [program, f"{COLLECTION}.{playbook}", "-i", str(scenario.inventory), "-e", json.dumps(own)]
    log = scenario.logs / f"disturbed-{playbook}-{time.time_ns()}.log"
    with log.open("w") as output:
        run = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, env=scenario.environment(), start_new_session=True
        )
        with ending.ends_with_us(run):
            return _disturb(run, log, trigger, act, delay)


def _disturb(
    run: subprocess.Popen[bytes], log: Path, trigger: str, act: Callable[[subprocess.Popen[bytes]], None], delay: float
) -> tuple[int, str]:
    until = time.monotonic() + _LONGEST
    while trigger not in log.read_text() and run.poll() is None:
        assert time.monotonic() < until, f"{trigger} was not seen in {log}"
        time.sleep(0.05)
    due = time.monotonic() + delay
    while time.monotonic() < due and run.poll() is None:
        time.sleep(0.01)
    if run.poll() is None:
        act(run)
    return run.wait(_LONGEST), log.read_text()


def playbooks_alive(scenario: Scenario) -> list[int]:
    """The children of a killed run, found by the lab folder in their command line or environment."""
    alive = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                words = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
            except OSError:
                continue
            if b"ansible-playbook" in words and str(scenario.folder).encode() in words:
                alive.append(int(entry.name))
    return alive
