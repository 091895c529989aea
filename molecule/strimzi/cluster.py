# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The API server and the emulated operators of a running lab. ``cluster.py up | down DIR``, as often as you like.

``up`` starts ``cluster.py serve DIR`` in the background, and returns once the inventory of the lab names them.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT / "roles" / "lab" / "files")]

#: A busy machine takes two minutes for the API server and one for each operator.
UP_SECONDS = 240.0
DOWN_SECONDS = 60.0


def serve(folder: Path) -> None:
    """Run everything until SIGTERM."""
    from kube_lab import KubeLab

    signal.signal(signal.SIGTERM, lambda *_signal: sys.exit(0))
    lab = KubeLab(folder / "kubernetes")
    try:
        lab.up(folder / "inventory", json.loads((folder / "lab.json").read_text()))
        ready(folder).write_text(str(os.getpid()))
        signal.pause()
    finally:
        ready(folder).unlink(missing_ok=True)
        lab.close()


def up(folder: Path) -> None:
    with (folder / "logs" / "kubernetes.log").open("ab") as log:
        command = [sys.executable, __file__, "serve", str(folder)]
        process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
    end = time.monotonic() + UP_SECONDS
    while not ready(folder).exists():
        if process.poll() is not None or time.monotonic() > end:
            process.terminate()
            sys.exit(f"The API server or an operator did not start. The log: {log.name}")
        time.sleep(0.1)


def down(folder: Path) -> None:
    """End the process of an earlier ``up``, and wait until everything has ended."""
    pid = int(ready(folder).read_text()) if ready(folder).exists() else 0
    end = time.monotonic() + DOWN_SECONDS
    if runs(pid):
        os.kill(pid, signal.SIGTERM)
    while runs(pid):
        if time.monotonic() > end:
            sys.exit(f"Process {pid} still runs after {DOWN_SECONDS:g} s.")
        time.sleep(0.1)


def runs(pid: int) -> bool:
    """Whether this process is ours: another one may have got the number of a process that was killed."""
    try:
        return __file__.encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def ready(folder: Path) -> Path:
    return folder / "kubernetes.pid"


if __name__ == "__main__":
    {"serve": serve, "up": up, "down": down}[sys.argv[1]](Path(sys.argv[2]).resolve())
