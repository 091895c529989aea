# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The error of an audit that ends without a verdict: UNKNOWN, exit code 2."""

from __future__ import annotations

from .masking import masked


class AuditError(Exception):
    """One line: what failed, the value found, the value wanted, and the next step."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        self.message = masked(message)
        super().__init__(self.message)
