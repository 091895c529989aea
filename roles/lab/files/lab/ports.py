# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Choosing ports that nobody else uses now and that two labs rarely choose both."""

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
    """Ports from here on are given by the kernel to outgoing connections, at any moment."""
    try:
        return int(RANGE.read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return 32_768


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        # As Java does it: without this a port in TIME_WAIT after a `down` would look taken.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def choose(
    folder: Path, count: int, free: Callable[[int], bool] = is_free, below: int | None = None
) -> tuple[int, ...]:
    """A free run of neighbouring ports; where the search begins follows from the path of the lab."""
    end = below or first_ephemeral()
    if end < LOWEST + 100 * BLOCK:
        # A machine whose ephemeral range begins very low: nothing below it is left, so bind and hope.
        end = 60_000
    blocks = (end - LOWEST) // BLOCK
    start = int.from_bytes(hashlib.sha256(str(folder).encode()).digest()[:4], "big") % blocks
    for step in range(blocks):
        first = LOWEST + (start + step) % blocks * BLOCK
        ports = tuple(range(first, first + count))
        if all_free(ports, free):
            return ports
    raise LabError(f"No {count} neighbouring free ports between {LOWEST} and {end} on 127.0.0.1.")


def all_free(ports: Sequence[int], free: Callable[[int], bool] = is_free) -> bool:
    return all(free(port) for port in ports)
