# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The committed offsets of all groups at one moment, to find out in a later module that they did not change (R9).

Private to this collection: may change in any release.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..._core.partition import Partition

__all__ = ["CommitsSeen"]


@dataclass(frozen=True)
class CommitsSeen:
    """A moment of ``time.monotonic``, which all processes of a host share, and a digest of the offsets read before."""

    at: float
    digest: str

    @classmethod
    def of(cls, offsets: Mapping[str, Mapping[Partition, int | None]]) -> CommitsSeen:
        """Remember ``offsets``, by group and partition, which were read just now. None: unknown."""
        rows = sorted((group, sorted(commits.items())) for group, commits in offsets.items())
        return cls(time.monotonic(), hashlib.sha256(repr(rows).encode()).hexdigest())

    @classmethod
    def parsed(cls, option: Mapping[str, Any] | None) -> CommitsSeen | None:
        """Parse what :meth:`as_dict` returned; None without it."""
        return None if option is None else cls(option["at"], option["digest"])

    def as_dict(self) -> dict[str, Any]:
        """Return the object as plain data."""
        return {"at": self.at, "digest": self.digest}

    def unchanged_since(self, earlier: CommitsSeen | None) -> float:
        """Return the moment from which the offsets are known not to have changed, at the latest that of this object.

        A moment of the future is of another host, or of a time before the host was started again, and is ignored.
        """
        same = earlier is not None and earlier.digest == self.digest and earlier.at <= self.at
        return earlier.at if earlier is not None and same else self.at
