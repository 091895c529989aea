# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Playbooks that are killed in the middle."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scenario import COLLECTION, Scenario


def kill_in_phase(scenario: Scenario, phase: str, to: str) -> None:
    """Start a cutover and SIGKILL ansible-playbook when it says that the phase begins."""
    playbook = "failback" if to == "P" else "failover_cutoff"
    kill_at(scenario, f"phase_{phase}.yml", playbook, {"kafka_dr_confirm": to})


def kill_at(scenario: Scenario, mark: str, playbook: str, variables: Mapping[str, Any]) -> None:
    """Start a playbook and SIGKILL ansible-playbook when ``mark`` stands in its output; outwait its children."""
    program = str(Path(sys.executable).parent / "ansible-playbook")
    command = [program, f"{COLLECTION}.{playbook}", "-i", str(scenario.inventory), "-e", json.dumps(dict(variables))]
    log = scenario.logs / f"killed-{playbook}-{time.time_ns()}.log"
    with log.open("w") as output:
        run = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=scenario.environment())
        until = time.monotonic() + 240
        while mark not in log.read_text():
            assert run.poll() is None, log.read_text()[-2000:]
            assert time.monotonic() < until
            time.sleep(0.05)
        os.kill(run.pid, signal.SIGKILL)
        run.wait()
    scenario.wait(lambda: not playbooks_alive(scenario), 30, "the killed run's children end")


def playbooks_alive(scenario: Scenario) -> list[int]:
    """Children of a killed run, found by the lab folder in their command line or environment."""
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
