# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines of progress of a module that waits for minutes.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import sys
import time

__all__ = ["ProgressLines", "print_progress"]

# Seconds between two lines.
_BETWEEN = 15.0


def print_progress(text: str) -> None:
    """Print one line of progress, which the action plugin shows while the module runs."""
    sys.stderr.write(f"status {text}\n")
    sys.stderr.flush()


class ProgressLines:
    """Prints what a wait is still waiting for, every 15 s."""

    def __init__(self, until: float) -> None:
        """``until``: the time of ``time.monotonic`` at which the wait ends."""
        self._until = until
        self._shown = time.monotonic()

    def show(self, texts: list[str]) -> None:
        """Print the first ``texts`` if the last line is old enough and there are any."""
        now = time.monotonic()
        if texts and now - self._shown >= _BETWEEN:
            self._shown = now
            print_progress(f"waits, {max(0.0, self._until - now):.0f} s left: {'; '.join(texts[:3])}")
