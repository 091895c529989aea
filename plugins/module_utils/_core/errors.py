# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one exception family of the collection: what was wanted, what was found, what to do next.

Private to this collection: may change in any release.
"""

from __future__ import annotations

__all__ = ["Busy", "DrError", "LockedOut", "Transient", "Unreachable"]


class DrError(Exception):
    """A failure that a user can act on.

    ``code`` is API (playbooks branch on it), ``message`` and ``hint`` are prose.
    """

    def __init__(self, code: str, message: str, hint: str = "", endpoint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.endpoint = endpoint

    def as_dict(self) -> dict[str, str]:
        """The parts, as modules return them under ``error``."""
        return {"code": self.code, "message": self.message, "hint": self.hint, "endpoint": self.endpoint}

    def sentence(self) -> str:
        """Message and hint in one text, for ``msg``."""
        return f"{self.message} {self.hint}".strip()


class Unreachable(DrError):  # noqa: N818 - reads as what happened
    """A cluster or worker did not answer: callers that only want to know may go on with UNKNOWN."""


class Transient(DrError):  # noqa: N818 - reads as what it is
    """A state that passes by itself, such as an election: a bounded wait watches it until its bound (R35)."""


class Busy(Unreachable, Transient):
    """It answered that it did not get to it in time: a rebalance, a start, a request that timed out on the broker."""


class LockedOut(Unreachable):
    """It is there, and certificate or login kept this client from asking: nothing is known of its state."""
