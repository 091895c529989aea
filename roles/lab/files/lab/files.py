# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Atomic writes, and locks between processes."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from .progress import Progress


def write_atomically(path: Path, text: str) -> bool:
    """Replace the file in one step. Returns False if it already has this text."""
    if path.exists() and path.read_text() == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    part.write_text(text)
    part.replace(path)
    return True


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in the file, or an empty dict if the file is missing or not JSON."""
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def to_json(value: Any) -> str:
    return json.dumps(value, indent=2, sort_keys=True) + "\n"


@contextmanager
def locked(path: Path, progress: Progress) -> Iterator[None]:
    """Hold an exclusive lock. The kernel releases it when this process ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = _open_locked(path, progress)
    try:
        yield
    finally:
        handle.close()


def _open_locked(path: Path, progress: Progress) -> IO[str]:
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = path.open("w")
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress.say(f"waiting for another process that holds {path}")
            fcntl.flock(handle, fcntl.LOCK_EX)
        # The previous holder may have removed the file (down --wipe). A lock on a removed file excludes no process.
        if path.exists() and path.samefile(f"/proc/self/fd/{handle.fileno()}"):
            return handle
        handle.close()
