# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The error that ends a lab command."""

from __future__ import annotations


class LabError(Exception):
    """A message for the terminal: what failed, the value found, the value wanted, the next step."""
