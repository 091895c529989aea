# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Progress messages for the user."""

from __future__ import annotations

import sys
import time


class Progress:
    """Writes messages to standard error. Standard output is for the JSON result only."""

    def __init__(self, quiet: bool = False) -> None:
        self._quiet = quiet
        self._started = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    def say(self, text: str) -> None:
        if not self._quiet:
            sys.stderr.write(f"lab {self.seconds:6.1f} s  {text}\n")
            sys.stderr.flush()
