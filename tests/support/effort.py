# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How many random worlds, examples and mutations the unit tests try. ``KAFKA_DR_WORLDS``: 20,000 if it is not set."""

from __future__ import annotations

import os

_FULL = 20_000
_WORLDS = int(os.environ.get("KAFKA_DR_WORLDS", _FULL))


def share(number: int, least: int = 20) -> int:
    """What a test tries that tries ``number`` with 20,000 worlds, as in `make test`. `make check` has 2,000."""
    return max(least, number * _WORLDS // _FULL)
