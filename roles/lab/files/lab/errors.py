# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one error that ends a lab command."""

from __future__ import annotations


class LabError(Exception):
    """What was wanted, what was found, what to do next: one message for the reader of the terminal."""
