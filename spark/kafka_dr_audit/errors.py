# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ways an audit ends before it has a verdict. All of them are UNKNOWN, exit code 2."""

from __future__ import annotations


class AuditError(Exception):
    """One plain line: what was wanted, what was found, what to do next."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
