# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs one command within a bound, as a process group of its own that ends as a whole.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from tempfile import TemporaryFile

__all__ = ["Ended", "last_lines", "run_bounded"]

_GRACE = 3.0
_OBSERVATION = 0.02
_SHOWN_LINES = 6
_SHOWN_LETTERS = 300
# Its first line and those that are indented below it.
_USAGE = re.compile(r"^\s*usage:.*(?:\n[ \t]+.*)*", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True)
class Ended:
    """How a command ended. ``rc`` is None when it was ended after ``timeout`` seconds.

    ``gone``: nothing of it is left at work, as far as its process group tells. Meaningful without ``rc`` only: what a
    command that ended by itself has left behind, such as a daemon, is its own affair.
    """

    rc: int | None
    stdout: str
    stderr: str
    gone: bool = True


def run_bounded(
    argv: Sequence[str],
    environment: Mapping[str, str],
    timeout: float,
    gate: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext,
) -> Ended:
    """Run ``argv`` without a shell and without input. Raises OSError when it cannot be started. ``gate``: held
    while the process is started, and no longer.

    Ansible's ``run_command`` knows no bound, expands ``$`` in arguments and hands on the module's own input, on which a
    tool that asks for a password would wait for ever. Output goes to files: whoever inherits a pipe, such as a daemon,
    keeps it open, and its reader would wait for that.
    """
    rc: int | None = None
    gone = True
    with TemporaryFile() as out, TemporaryFile() as err:
        with gate():
            process = subprocess.Popen(
                list(argv),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env={**os.environ, **environment},
                start_new_session=True,
            )
        try:
            rc = process.wait(timeout)
        except subprocess.TimeoutExpired:
            gone = _end(process)
        except BaseException:
            _end(process)
            raise
        printed = []
        for file in (out, err):
            file.seek(0)
            printed.append(file.read().decode("utf-8", "replace"))
    return Ended(rc, printed[0], printed[1], gone)


def _end(process: subprocess.Popen[bytes]) -> bool:
    """End the group: a shell's children go on without it. True when none of them is left."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        # Not permitted: a command that has become another user, as with sudo.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        until = time.monotonic() + _GRACE
        while time.monotonic() < until:
            if process.poll() is not None and not _is_there(process.pid):
                return True
            time.sleep(_OBSERVATION)
    return False


def _is_there(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def last_lines(*outputs: str) -> str:
    """The last lines that say something, in one line; a usage text and frames of a trace say nothing to a user."""
    lines = [line.strip() for output in outputs for line in _USAGE.sub("", output).splitlines() if line.strip()]
    lines = lines or [line.strip() for output in outputs for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if not re.match(r"at [\w.$]+\(|\.\.\. \d+ more", line)]
    return " | ".join(line[:_SHOWN_LETTERS] for line in telling[-_SHOWN_LINES:]) or "it said nothing"
