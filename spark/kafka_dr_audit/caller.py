# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""End with the program that started the audit: an audit whose caller was killed would occupy the machine."""

from __future__ import annotations

import os
import signal
import threading

__all__ = ["end_with_caller"]


def end_with_caller() -> None:
    """End this process and all of its session, Spark's JVM too, when the caller closes standard input.

    The caller keeps the other end of a pipe open, and the kernel closes it when the caller is killed. The caller has
    started this process in a session of its own.
    """
    threading.Thread(target=_watch, name="caller", daemon=True).start()


def _watch() -> None:
    # Not by sys.stdin: its lock would be held when the interpreter shuts down.
    while os.read(0, 1024):
        pass
    os.killpg(os.getpgid(0), signal.SIGKILL)
