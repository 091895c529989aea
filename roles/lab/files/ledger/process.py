# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Operating system processes: which one is ours, and when it is gone."""

from __future__ import annotations

import os
import select
import signal
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Process:
    """A pid alone is recycled; together with its start time it names one process for ever."""

    pid: int
    started: int  # clock ticks since boot, /proc/<pid>/stat field 22

    def is_running(self) -> bool:
        """A zombie is over, even while nobody has collected it."""
        fields = _stat_fields(self.pid)
        return bool(fields) and int(fields[19]) == self.started and fields[0] not in ("Z", "X")

    def send(self, signum: signal.Signals) -> bool:
        """Signal exactly this process; False if it was gone."""
        try:
            handle = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return False
        try:
            # The handle pins the pid: checked after it was opened, the signal cannot hit a successor.
            if not self.is_running():
                return False
            signal.pidfd_send_signal(handle, signum)
        except ProcessLookupError:
            return False
        finally:
            os.close(handle)
        return True

    def wait(self, seconds: float) -> bool:
        """True as soon as the process has ended, False if it still runs after the bound."""
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
    """Wall clock of the start, for people."""
    boot = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
    return int((boot + process.started / os.sysconf("SC_CLK_TCK")) * 1_000_000)


def _stat_fields(pid: int) -> list[str]:
    """Fields from the third (state) on; the second, the command's name, may hold blanks and brackets."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []
