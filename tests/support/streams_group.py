# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A member of a real streams group (KIP-1071), which the Python client library can neither create nor describe."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.ivy import KAFKA_VERSION
from lab.jars import default_cache

__all__ = ["streams_member"]

_SOURCE = Path(__file__).with_name("StreamsMember.java")


@contextmanager
def streams_member(servers: str, group: str, topic: str) -> Iterator[None]:
    """Run a member that has committed an offset on partition 0, and goes on committing. It leaves at the end."""
    jars = min(default_cache().glob(f"jars-{KAFKA_VERSION}-*/"))
    command = ["java", "-Xmx128m", "-cp", f"{jars}/*", str(_SOURCE), *servers.split(":"), group, topic]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as member:
        assert member.stdin is not None
        assert member.stdout is not None
        try:
            line = member.stdout.readline()
            assert line.startswith("committed"), "the member did not commit"
            yield
        finally:
            member.stdin.write("leave\n")
            member.stdin.close()
            member.stdout.read()
