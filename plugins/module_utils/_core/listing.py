# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists that a person can read.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["first_few"]


def first_few(texts: Sequence[str], shown: int = 5, separator: str = ", ") -> str:
    """The first ``shown`` of ``texts``, and the number of the others."""
    more = f" and {len(texts) - shown} more" if len(texts) > shown else ""
    return separator.join(texts[:shown]) + more
