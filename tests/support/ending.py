# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Long programs that are interrupted, and what they have started: it ends within seconds."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

__all__ = ["ends_with_us", "run", "was_interrupted"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_seen: list[int] = []


def run(main: Callable[[], int]) -> NoReturn:
    """Run ``main`` and exit with its code. Each of these signals raises KeyboardInterrupt once, so that labs stop."""
    for number in _SIGNALS:
        signal.signal(number, _interrupt)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; what was started has been stopped\n")
        sys.exit(130)


def was_interrupted() -> bool:
    """Whether this program is ending because of a signal."""
    return bool(_seen)


@contextmanager
def ends_with_us(process: subprocess.Popen[Any]) -> Iterator[None]:
    """Kill the session of ``process``, which it leads, if the block is interrupted or fails."""
    try:
        yield
    except BaseException:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        raise


def _interrupt(number: int, _frame: Any) -> None:
    _seen.append(number)
    for each in _SIGNALS:
        # Programs that are started from here on get the default handlers again.
        signal.signal(each, lambda *_: None)
    raise KeyboardInterrupt
