# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What ``make demo``, ``bench``, ``chaos`` and ``compatibility`` started ends with them, also on Ctrl-C and SIGTERM."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
import uuid
from pathlib import Path
from types import FrameType

__all__ = ["end_all_on_signals"]

# Inherited by every process that is started from here, in its own session or not: brokers outlive their parents.
_MARK = "KAFKA_DR_STARTED_BY"
_PATIENCE_S = 6.0


def end_all_on_signals() -> None:
    """From now on, SIGINT, SIGTERM and SIGHUP end this process and all that it started, within ten seconds or so."""
    os.environ[_MARK] = uuid.uuid4().hex
    # Also SIGINT, which a shell makes its background processes ignore.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)


def _end(number: int, _frame: FrameType | None) -> None:
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    print(f"{signal.Signals(number).name}: ending everything that was started", file=sys.stderr, flush=True)
    began = time.monotonic()
    while (pids := _started()) and time.monotonic() - began < 2 * _PATIENCE_S:
        late = time.monotonic() - began > _PATIENCE_S
        for pid in pids:
            # SIGCONT: a frozen process handles no other signal before.
            for sent in (signal.SIGKILL,) if late else (signal.SIGTERM, signal.SIGCONT):
                _send(pid, sent)
        time.sleep(0.2)
    os._exit(128 + number)


def _started() -> list[int]:
    """The processes with our mark that still run."""
    mark = f"{_MARK}={os.environ[_MARK]}".encode()
    return [
        int(folder.name)
        for folder in Path("/proc").iterdir()
        if folder.name.isdigit() and int(folder.name) != os.getpid() and mark in _environment(folder)
    ]


def _environment(folder: Path) -> list[bytes]:
    # Empty for a process that has ended and whose parent has not waited for it.
    try:
        return (folder / "environ").read_bytes().split(b"\0")
    except OSError:
        return []


def _send(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
