# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a request or a command ends when it cannot be done."""

from __future__ import annotations


class ApiError(Exception):
    """Answered as ``{"message": ..., "causes": ...}``; ``status`` is an HTTP status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class CommandError(Exception):
    """A command ends with ``success: false``."""


class AbortedError(Exception):
    """Somebody aborted the command: whatever runs it stops where it is."""
