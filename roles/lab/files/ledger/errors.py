# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one error that ends a ledger program, and its exit codes."""

from __future__ import annotations

EXIT_CLEAN = 0
EXIT_DAMAGED = 1  # check: something was lost, or processed although it was never committed
EXIT_USAGE = 2  # wrong input, or nothing that could be judged
EXIT_UNCLEAN = 3  # a stop that left records without an outcome, or had to kill
EXIT_BROKEN = 4  # Kafka refused to go on
EXIT_NO_COMMITTED_OFFSET = 5  # a consumer found no valid position on a partition and must not choose one


class LedgerError(Exception):
    """Ends the program with a sentence for the reader and an exit code for the caller."""

    def __init__(self, message: str, exit_code: int = EXIT_USAGE) -> None:
        super().__init__(message)
        self.exit_code = exit_code
