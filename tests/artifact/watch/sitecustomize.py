# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Log the files that each Python process uses. Python runs this at its start if this folder is on PYTHONPATH.

Only files below KAFKA_DR_WATCHED (a list of folders) are logged, one a line, in the file KAFKA_DR_WATCH_LOG.
"""

from __future__ import annotations

import contextlib
import os
import sys

_FOLDERS = tuple(os.environ.get("KAFKA_DR_WATCHED", "").split(os.pathsep))
_LOG = os.environ.get("KAFKA_DR_WATCH_LOG", "")
_EVENTS = ("open", "os.listdir", "os.scandir", "os.chdir", "subprocess.Popen", "os.exec", "os.posix_spawn")
_seen: set[str] = set()


def _watch(event: str, arguments: tuple[object, ...]) -> None:
    if event not in _EVENTS:
        return
    for argument in arguments:
        for word in argument if isinstance(argument, list | tuple) else [argument]:
            path = os.fsdecode(word) if isinstance(word, str | bytes | os.PathLike) else ""
            if path.startswith(_FOLDERS) and path not in _seen:
                _seen.add(path)
                # The log is opened each time, because a program that becomes a daemon closes its open files.
                with contextlib.suppress(OSError):
                    log = os.open(_LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
                    os.write(log, os.fsencode(path.replace("\n", " ")) + b"\n")
                    os.close(log)


if _LOG:
    sys.addaudithook(_watch)
