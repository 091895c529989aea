# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs one command within a bound, as a process group of its own.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

__all__ = ["Ended", "last_lines", "run_bounded"]

_GRACE = 3.0
_SHOWN_LINES = 6
_SHOWN_LETTERS = 300
# Its first line and those that are indented below it.
_USAGE = re.compile(r"^\s*usage:.*(?:\n[ \t]+.*)*", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True)
class Ended:
    """How a command ended. ``rc`` is None when it was ended after ``timeout`` seconds."""

    rc: int | None
    stdout: str
    stderr: str


def run_bounded(argv: Sequence[str], environment: Mapping[str, str], timeout: float) -> Ended:
    """Run ``argv`` without a shell and without input. Raises OSError when it cannot be started.

    Ansible's ``run_command`` knows no bound, expands ``$`` in arguments and hands on the module's own input, on which a
    tool that asks for a password would wait for ever.
    """
    process = subprocess.Popen(
        list(argv),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **environment},
        start_new_session=True,
    )
    rc: int | None = None
    try:
        out, err = process.communicate(timeout=timeout)
        rc = process.returncode
    except subprocess.TimeoutExpired:
        out, err = _end(process)
    except BaseException:
        _end(process)
        raise
    return Ended(rc, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))


def _end(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    """End the group, with its children (the tool is a script around Java), and return what it had printed."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        try:
            return process.communicate(timeout=_GRACE)
        except subprocess.TimeoutExpired as still:
            printed = still.stdout or b"", still.stderr or b""
    # Somebody outside the group holds the pipes open; the command itself is gone.
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
    process.wait()
    return printed


def last_lines(*outputs: str) -> str:
    """The last lines that say something, in one line; a usage text and frames of a trace say nothing to a user."""
    lines = [line.strip() for output in outputs for line in _USAGE.sub("", output).splitlines() if line.strip()]
    lines = lines or [line.strip() for output in outputs for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if not re.match(r"at [\w.$]+\(|\.\.\. \d+ more", line)]
    return " | ".join(line[:_SHOWN_LETTERS] for line in telling[-_SHOWN_LINES:]) or "it said nothing"
