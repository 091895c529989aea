# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Identify operating system processes, and wait for their end."""

from __future__ import annotations

import os
import select
import signal
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Process:
    """A process, identified by its pid and start time, because the kernel reuses pids."""

    pid: int
    started: int  # clock ticks since boot, /proc/<pid>/stat field 22

    def is_running(self) -> bool:
        """Whether the process runs. A zombie does not."""
        fields = _stat_fields(self.pid)
        return bool(fields) and int(fields[19]) == self.started and fields[0] not in ("Z", "X")

    def send(self, signum: signal.Signals) -> bool:
        """Signal exactly this process. Returns False if it is gone."""
        try:
            handle = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return False
        try:
            # The open handle reserves the pid. After this check the signal cannot reach another process.
            if not self.is_running():
                return False
            signal.pidfd_send_signal(handle, signum)
        except ProcessLookupError:
            return False
        finally:
            os.close(handle)
        return True

    def wait(self, seconds: float) -> bool:
        """Wait for the end of the process. Returns False if it still runs after ``seconds``."""
        try:
            handle = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return True
        try:
            if self.is_running():
                poller = select.poll()
                poller.register(handle, select.POLLIN)
                poller.poll(max(0.0, seconds) * 1000)
        finally:
            os.close(handle)
        return not self.is_running()


def this_process() -> Process:
    return find_process(os.getpid())


def find_process(pid: int) -> Process:
    fields = _stat_fields(pid)
    if not fields:
        raise ProcessLookupError(pid)
    return Process(pid, int(fields[19]))


def started_at_us(process: Process) -> int:
    """Wall clock time of the start, for display."""
    boot = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
    return int((boot + process.started / os.sysconf("SC_CLK_TCK")) * 1_000_000)


def _stat_fields(pid: int) -> list[str]:
    """Fields from the third (state) on. The second, the command name, may contain blanks and parentheses."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []
