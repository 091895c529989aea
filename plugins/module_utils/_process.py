# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the Ansible process above a module, and the workers that a killed Ansible process left running (proc(5)).

Private to this collection: may change in any release.
"""

from __future__ import annotations

import os
import socket
import time
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from ._core.journal.holders import Holder

__all__ = ["is_alive", "myself", "orphans", "own_clock"]

_PROC = Path("/proc")
_PROGRAM = b"ansible-playbook"


def own_clock() -> float:
    """Seconds since this machine's boot, including suspended time. Changes of the date do not affect it."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def myself() -> Holder:
    """Return the outermost ``ansible-playbook`` above this process. No pid: a managed host, or no /proc."""
    top = _playbook(os.getpid())
    return Holder(_host()) if top is None else Holder(_host(), top, _born(top), _command(top))


def is_alive(holder: Holder) -> bool:
    """Return whether exactly this process exists. Meaningful only on its own machine.

    A process that exists but cannot be inspected (of another user, if /proc hides those) counts as alive.
    """
    if holder.pid is None:
        return False
    if _stat(holder.pid):
        return _born(holder.pid) == holder.born
    try:
        with suppress(PermissionError):
            os.kill(holder.pid, 0)
    except ProcessLookupError:
        return False
    return True


def orphans(holder: Holder) -> list[int]:
    """Return the pids of the workers of a killed holder. They exit by themselves when their task ends."""
    mine = _playbook(os.getpid())
    return sorted(
        pid
        for pid in (int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit())
        if (_born(pid) or 0) >= (holder.born or 0)
        and _command(pid) == holder.command
        and _playbook(pid) not in (None, mine)
    )


def _playbook(pid: int) -> int | None:
    """The outermost process with Ansible's command line among ``pid`` and its ancestors."""
    found = None
    while pid > 1:
        if _PROGRAM in _read(pid, "cmdline"):
            found = pid
        pid = _parent(pid)
    return found


def _host() -> str:
    """Identify the host, its boot and its pid namespace: a pid is unique only within these."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
        names = str((_PROC / "self/ns/pid").readlink())
    except OSError:
        boot = names = "unknown"
    return f"{socket.gethostname()}/{boot}/{names}"


def _command(pid: int) -> str:
    try:
        folder = str((_PROC / str(pid) / "cwd").readlink())
    except OSError:
        return "unknown"
    return blake2b(_read(pid, "cmdline") + b"\0" + os.fsencode(folder), digest_size=8).hexdigest()


def _born(pid: int) -> int | None:
    """Start time of a process in ticks since boot. None: the process has ended, reaped or not."""
    words = _stat(pid)
    return None if not words or words[0] == b"Z" else int(words[19])


def _parent(pid: int) -> int:
    words = _stat(pid)
    return int(words[1]) if words else 0


def _stat(pid: int) -> list[bytes]:
    """The fields of /proc/PID/stat from the state on. The name before it may contain any character."""
    return _read(pid, "stat").rpartition(b")")[2].split()


def _read(pid: int, name: str) -> bytes:
    try:
        return (_PROC / str(pid) / name).read_bytes()
    except OSError:
        return b""
