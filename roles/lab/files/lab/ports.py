# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Choose free ports that two labs rarely both choose."""

from __future__ import annotations

import hashlib
import socket
from collections.abc import Callable, Sequence
from pathlib import Path

from .errors import LabError

LOWEST = 10_000
BLOCK = 8
RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")


def first_ephemeral() -> int:
    """The first port of the range from which the kernel assigns ports to outgoing connections."""
    try:
        return int(RANGE.read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return 32_768


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        # Java sets it too. Without it a port in TIME_WAIT after a `down` would appear to be in use.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def choose(
    folder: Path, count: int, free: Callable[[int], bool] = is_free, below: int | None = None
) -> tuple[int, ...]:
    """Choose consecutive free ports. The path of the lab determines where the search starts."""
    end = below or first_ephemeral()
    if end < LOWEST + 100 * BLOCK:
        # The ephemeral range of this machine starts so low that no ports below it are left, so use ports inside it.
        end = 60_000
    blocks = (end - LOWEST) // BLOCK
    start = int.from_bytes(hashlib.sha256(str(folder).encode()).digest()[:4], "big") % blocks
    for step in range(blocks):
        first = LOWEST + (start + step) % blocks * BLOCK
        ports = tuple(range(first, first + count))
        if all_free(ports, free):
            return ports
    raise LabError(f"127.0.0.1 has no {count} consecutive free ports between {LOWEST} and {end}.")


def all_free(ports: Sequence[int], free: Callable[[int], bool] = is_free) -> bool:
    return all(free(port) for port in ports)
