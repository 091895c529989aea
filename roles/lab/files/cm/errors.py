# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors of requests and commands."""

from __future__ import annotations


class ApiError(Exception):
    """The response is ``{"message": ..., "causes": ...}`` with the HTTP status ``status``."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class CommandError(Exception):
    """The command ends with ``success: false``."""


class AbortedError(Exception):
    """The command was aborted. Its thread stops at once."""
