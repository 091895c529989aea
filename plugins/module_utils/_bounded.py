# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run one command with a time limit, in its own process group that is killed as a whole.

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

from ._core.redaction import without_secrets

__all__ = ["Ended", "last_lines", "run_bounded"]

_GRACE = 3.0
_OBSERVATION = 0.02
_SHOWN_LINES = 6
_SHOWN_LETTERS = 300
# The first line of a usage text, and the indented lines below it.
_USAGE = re.compile(r"^\s*usage:.*(?:\n[ \t]+.*)*", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True)
class Ended:
    """The result of a command."""

    #: Exit code. None: the command was killed after ``timeout`` seconds.
    rc: int | None
    stdout: str
    stderr: str
    #: True: no process of the command's group is left. Meaningful only if ``rc`` is None: a command that exits by
    #: itself may leave processes running on purpose, such as a daemon.
    gone: bool = True


def run_bounded(
    argv: Sequence[str],
    environment: Mapping[str, str],
    timeout: float,
    gate: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext,
) -> Ended:
    """Run ``argv`` without a shell and without input. Raises OSError if it cannot be started.

    ``environment``: variables to add. ``timeout``: seconds until the command is killed. ``gate``: a context manager
    that is held only while the process is started.

    Ansible's ``run_command`` has no time limit, expands ``$`` in arguments, and passes on the module's own input, on
    which a tool that asks for a password would wait for ever. The output goes to files, because a daemon would inherit
    a pipe and keep it open, and the reader of the pipe would wait for the daemon.
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
    """Kill the process group, because a shell's children survive it. Return True if no process is left."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        # PermissionError: the command runs as another user, for example with sudo.
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
    """Join the last lines of the outputs to one line, without usage texts, Java stack frames and secrets."""
    outputs = tuple(map(without_secrets, outputs))
    lines = [line.strip() for output in outputs for line in _USAGE.sub("", output).splitlines() if line.strip()]
    lines = lines or [line.strip() for output in outputs for line in output.splitlines() if line.strip()]
    messages = [line for line in lines if not re.match(r"at [\w.$]+\(|\.\.\. \d+ more", line)]
    return " | ".join(line[:_SHOWN_LETTERS] for line in messages[-_SHOWN_LINES:]) or "no output"
