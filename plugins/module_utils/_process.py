# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Ansible process above a module, and what a killed one has left behind, as Linux shows them (proc(5)).

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
    """Seconds since this machine's boot, those in which it slept included: no change of its date moves them."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def myself() -> Holder:
    """The Ansible process above this one; without a pid where there is none: on a managed host, or without /proc."""
    top = _playbook(os.getpid())
    return Holder(_host()) if top is None else Holder(_host(), top, _born(top), _command(top))


def is_alive(holder: Holder) -> bool:
    """Does that very process exist? Meaningful only on its own machine.

    One that exists and may not be looked at (another user's, where /proc hides those) counts as alive.
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
    """Workers of a holder that was killed: they end by themselves, with their task."""
    mine = _playbook(os.getpid())
    return sorted(
        pid
        for pid in (int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit())
        if (_born(pid) or 0) >= (holder.born or 0)
        and _command(pid) == holder.command
        and _playbook(pid) not in (None, mine)
    )


def _playbook(pid: int) -> int | None:
    """The outermost process with Ansible's command line from ``pid`` upwards."""
    found = None
    while pid > 1:
        if _PROGRAM in _read(pid, "cmdline"):
            found = pid
        pid = _parent(pid)
    return found


def _host() -> str:
    """Pids mean the same only within one boot and one namespace: a container has its own."""
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
    """Ticks since boot; None for a process that has ended, reaped or not."""
    words = _stat(pid)
    return None if not words or words[0] == b"Z" else int(words[19])


def _parent(pid: int) -> int:
    words = _stat(pid)
    return int(words[1]) if words else 0


def _stat(pid: int) -> list[bytes]:
    """Fields from the state on: the name before may hold anything."""
    return _read(pid, "stat").rpartition(b")")[2].split()


def _read(pid: int, name: str) -> bytes:
    try:
        return (_PROC / str(pid) / name).read_bytes()
    except OSError:
        return b""
