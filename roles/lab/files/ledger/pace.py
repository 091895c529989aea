# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How many records are due."""

from __future__ import annotations

from dataclasses import dataclass

CATCH_UP_SECONDS = 0.5
TICK_SECONDS = 0.01


@dataclass
class Pace:
    """A smooth rate by a monotonic clock.

    After a stall at most half a second's worth is caught up: a burst after an outage would be measured as part of it.
    """

    rate: float
    start: float
    given: int = 0

    def due(self, now: float, room: int) -> int:
        """Records to send now, at most `room`; what exceeds the catch-up is given up, not owed."""
        owed = int((now - self.start) * self.rate) - self.given
        allowed = max(1, int(self.rate * CATCH_UP_SECONDS))
        if owed > allowed:
            self.given += owed - allowed
            owed = allowed
        taken = max(0, min(owed, room))
        self.given += taken
        return taken
