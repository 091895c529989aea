# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The error that ends a ledger program, and the exit codes."""

from __future__ import annotations

EXIT_CLEAN = 0
EXIT_DAMAGED = 1  # check: a record was lost, or was processed although it was never committed
EXIT_USAGE = 2  # wrong input, or nothing to compare
EXIT_UNCLEAN = 3  # a stop after which the outcome of records is unknown, or a kill
EXIT_BROKEN = 4  # a permanent error of Kafka
EXIT_NO_COMMITTED_OFFSET = 5  # a partition without a valid committed offset, and reset is `error`


class LedgerError(Exception):
    """Ends the program with a message for the user and an exit code for the caller."""

    def __init__(self, message: str, exit_code: int = EXIT_USAGE) -> None:
        super().__init__(message)
        self.exit_code = exit_code
