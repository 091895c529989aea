# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The verdicts PROVEN, REFUTED and UNKNOWN, and how to combine them.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["NOT_APPLICABLE", "PROVEN", "REFUTED", "UNKNOWN", "Finding", "combine"]

PROVEN = "PROVEN"
REFUTED = "REFUTED"
UNKNOWN = "UNKNOWN"
#: There is nothing to prove, so the part says nothing about the whole.
NOT_APPLICABLE = "NOT_APPLICABLE"


@dataclass(frozen=True)
class Finding:
    """A verdict and the evidence for it, in one sentence."""

    verdict: str
    reason: str


def combine(verdicts: Iterable[str]) -> str:
    """The verdict of a whole: REFUTED if any part is REFUTED, PROVEN only if there are parts and all are PROVEN.

    Parts that are NOT_APPLICABLE do not count.
    """
    parts = [verdict for verdict in verdicts if verdict != NOT_APPLICABLE]
    if REFUTED in parts:
        return REFUTED
    if parts and all(part == PROVEN for part in parts):
        return PROVEN
    return UNKNOWN
