# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mutants that no test can tell from the code, each with the reason."""

from __future__ import annotations

__all__ = ["EQUIVALENTS"]

#: By file below ``plugins/module_utils`` and function: the change, and why no caller can observe it.
EQUIVALENTS: dict[tuple[str, str], dict[str, str]] = {}
