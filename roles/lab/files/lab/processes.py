# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Start, find and signal the processes of a lab, and no others."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from .errors import LabError

PROC = Path("/proc")


@dataclass(frozen=True)
class Part:
    """One process of the lab, identified by its main class and its own configuration file."""

    name: str
    main: str
    config: Path
    pid_file: Path
    log: Path

    def is_run_by(self, arguments: Sequence[str]) -> bool:
        """Whether a command line is this part. Compares whole arguments, so that /tmp/lab does not match /tmp/lab2."""
        return self.main in arguments and str(self.config) in arguments


def arguments_of(pid: int, proc: Path = PROC) -> list[str]:
    """The command line of a process. Empty if the process is gone or a zombie."""
    try:
        raw = (proc / str(pid) / "cmdline").read_bytes()
    except OSError:
        return []
    return os.fsdecode(raw).split("\0")[:-1]


def pid_of(part: Part, proc: Path = PROC) -> int | None:
    """The stored pid if that process is still this part, else None. The kernel may have reused the pid."""
    try:
        pid = int(part.pid_file.read_text())
    except (OSError, ValueError):
        return None
    return pid if part.is_run_by(arguments_of(pid, proc)) else None


def strays(part: Part, proc: Path = PROC) -> list[int]:
    """Pids of processes of this part without a pid file, from a start that was killed before it wrote the file."""
    pids = (int(entry.name) for entry in proc.iterdir() if entry.name.isdigit())
    return [pid for pid in pids if part.is_run_by(arguments_of(pid, proc))]


def state_of(part: Part) -> str:
    """ "running", "paused" or "stopped"."""
    pid = pid_of(part)
    if pid is None:
        return "stopped"
    return {"T": "paused", "t": "paused", "Z": "stopped", "X": "stopped", "": "stopped"}.get(_letter(pid), "running")


def resident_mib(pid: int) -> float | None:
    """Resident memory in MiB. None if it cannot be read."""
    try:
        lines = (PROC / str(pid) / "status").read_text().splitlines()
        return next(round(int(line.split()[1]) / 1024, 1) for line in lines if line.startswith("VmRSS:"))
    except (OSError, ValueError, IndexError, StopIteration):
        return None


def spawn(part: Part, command: Sequence[str]) -> int:
    """Start the process in its own session, so that it outlives the terminal and gets no Ctrl-C. Returns its pid."""
    for folder in (part.log.parent, part.pid_file.parent):
        folder.mkdir(parents=True, exist_ok=True)
    append = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    pid = os.posix_spawn(
        command[0],
        list(command),
        os.environ,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(part.log), append, 0o644),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,
        # If the caller ignores these signals (nohup), the process would inherit that, and `down` could not stop it.
        setsigdef=[signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE],
    )
    part.pid_file.write_text(f"{pid}\n")
    _await_command_line(pid)
    return pid


def _await_command_line(pid: int) -> None:
    """Wait for the command line, which is empty for a moment after the start, as it is for an ended process."""
    wait_until(lambda: bool(arguments_of(pid)) or _has_ended(pid), 10.0, 0.001)


def _has_ended(pid: int) -> bool:
    return _letter(pid) in ("Z", "X", "")


def _letter(pid: int) -> str:
    """The kernel's letter for the state. Empty if the process is gone."""
    try:
        # "pid (name) S ...": the name may contain parentheses, so parse after the last one.
        return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""


def send(part: Part, number: signal.Signals) -> bool:
    """Signal the process of a part. Returns False if there is none."""
    pid = pid_of(part)
    if pid is None:
        return False
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    except PermissionError as error:
        raise LabError(f"{part.name} (pid {pid}) belongs to another user. Run this command as that user.") from error
    return True


def collect(pid: int) -> None:
    """Reap an ended child process. The parents of other processes reap those."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


def gone(part: Part) -> bool:
    with contextlib.suppress(OSError, ValueError):
        collect(int(part.pid_file.read_text()))
    return pid_of(part) is None


def adopt_strays(part: Part) -> None:
    """Write the missing pid file of a process, so that it can be stopped like any other."""
    if pid_of(part) is None:
        for pid in strays(part)[:1]:
            part.pid_file.parent.mkdir(parents=True, exist_ok=True)
            part.pid_file.write_text(f"{pid}\n")


def stop(parts: Sequence[Part], bound: float) -> list[Part]:
    """Terminate the parts and kill those that run after ``bound`` seconds. Returns the killed ones."""
    for part in parts:
        send(part, signal.SIGTERM)
        # A paused process handles no other signal before this one.
        send(part, signal.SIGCONT)
    left = _wait_gone(parts, bound)
    kill(left)
    for part in parts:
        part.pid_file.unlink(missing_ok=True)
    return left


def kill(parts: Sequence[Part]) -> None:
    for part in parts:
        send(part, signal.SIGKILL)
    left = _wait_gone(parts, 10.0)
    if left:
        names = ", ".join(f"{part.name} (pid {pid_of(part)})" for part in left)
        raise LabError(f"{names} did not end within 10 s after SIGKILL. The machine may be blocked in I/O.")


def _wait_gone(parts: Sequence[Part], bound: float) -> list[Part]:
    left = [part for part in parts if not gone(part)]
    wait_until(lambda: all(gone(part) for part in parts), bound)
    return [part for part in left if not gone(part)]


def wait_until(condition: Callable[[], bool], bound: float, pause: float = 0.05) -> bool:
    end = time.monotonic() + bound
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(pause)
    return True


def tail(log: Path, lines: int = 25) -> str:
    try:
        return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])
    except OSError:
        return "(no log)"
