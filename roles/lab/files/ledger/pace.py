# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Number of records that are due."""

from __future__ import annotations

from dataclasses import dataclass

CATCH_UP_SECONDS = 0.5
TICK_SECONDS = 0.01


@dataclass
class Pace:
    """A constant rate on a monotonic clock.

    Catches up at most half a second of records after a stall, because a burst would distort the measured outage.
    """

    rate: float
    start: float
    given: int = 0

    def due(self, now: float, room: int) -> int:
        """Number of records to send now, at most `room`. Records beyond the catch-up limit are dropped."""
        owed = int((now - self.start) * self.rate) - self.given
        allowed = max(1, int(self.rate * CATCH_UP_SECONDS))
        if owed > allowed:
            self.given += owed - allowed
            owed = allowed
        taken = max(0, min(owed, room))
        self.given += taken
        return taken
