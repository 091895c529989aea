# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``make demo``, ``bench`` and ``chaos`` that are ended leave nothing running: no broker, no worker, no application."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.processes import wait_until

pytestmark = pytest.mark.integration

ROOT = Path(__file__).resolve().parents[2]
BOUND_S = 15.0
# As they do it, with applications that run.
PROGRAM = """
import signal, sys
sys.path[:0] = ["tests/support", "roles/lab/files", "build/collections"]
from pathlib import Path
from interrupted import end_all_on_signals
from scenario import Scenario
end_all_on_signals()
pair = Scenario(Path(sys.argv[1]), clients=[{"name": "payments-api", "role": "producer", "rate": 10}])
pair.lab_up()
pair.playbook("enable", {"kafka_dr_confirm": "P"})
pair.start()
print("READY", flush=True)
signal.pause()
"""


def marked(mark: str) -> dict[int, str]:
    """The processes whose environment has ``mark``: their command lines by pid."""
    processes = {}
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and mark.encode() in (folder / "environ").read_bytes():
                line = (folder / "cmdline").read_bytes().replace(b"\0", b" ")
                processes[int(folder.name)] = line.decode(errors="replace")
        except OSError:
            continue
    return processes


@pytest.fixture
def mark() -> Iterator[str]:
    """A variable that everything below the process gets. Whatever has it at the end of the test is killed."""
    value = f"KAFKA_DR_TEST_TREE={uuid.uuid4().hex}"
    yield value
    for pid in marked(value):
        os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_ended_leaves_nothing_running(mark: str, number: signal.Signals, tmp_path: Path) -> None:
    """Brokers and applications have sessions of their own, and went on for hours."""
    key, _, value = mark.partition("=")
    log = tmp_path / "run.log"
    with log.open("wb") as output:
        run = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(tmp_path / "lab")],
            cwd=ROOT,
            env={**os.environ, key: value},
            stdout=output,
            stderr=output,
        )
    assert wait_until(lambda: "READY" in log.read_text() or run.poll() is not None, 240.0, 0.2), log.read_text()
    running = str(marked(mark).values())
    assert [word for word in ("kafka.Kafka", "ConnectDistributed", "payments-api") if word not in running] == []
    began = time.monotonic()
    run.send_signal(number)
    assert run.wait(BOUND_S) == 128 + number
    assert marked(mark) == {}
    assert time.monotonic() - began < BOUND_S
