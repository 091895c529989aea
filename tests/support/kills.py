# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Playbooks that are killed in the middle."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from scenario import COLLECTION, Scenario


def kill_in_phase(scenario: Scenario, phase: str, to: str) -> None:
    """Start a cutover and SIGKILL ansible-playbook when it says that the phase begins."""
    command = [str(Path(sys.executable).parent / "ansible-playbook"), f"{COLLECTION}.failover_cutoff"]
    if to == "P":
        command[1] = f"{COLLECTION}.failback"
    command += ["-i", str(scenario.inventory), "-e", f"kafka_dr_confirm={to}"]
    log = scenario.logs / f"killed-in-{phase}.log"
    with log.open("w") as output:
        run = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=scenario.environment())
        mark = f"phase_{phase}.yml"
        until = time.monotonic() + 240
        while mark not in log.read_text():
            assert run.poll() is None, log.read_text()[-2000:]
            assert time.monotonic() < until
            time.sleep(0.05)
        os.kill(run.pid, signal.SIGKILL)
        run.wait()


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
