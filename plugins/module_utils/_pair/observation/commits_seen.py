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
from dataclasses import dataclass, replace
from typing import Any

from ..._core.partition import Partition

__all__ = ["COMMIT_INTERVAL", "CommitsSeen", "IdleGroups"]

# Seconds: longer than auto.commit.interval.ms by default (5 s).
COMMIT_INTERVAL = 6.0


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


@dataclass(frozen=True)
class IdleGroups:
    """Groups that had no members while the applications ran, and their committed offsets at that time.

    The reader of such a group may be one with assign(), which commits without being a member (R9).
    """

    groups: tuple[str, ...]
    seen: CommitsSeen

    @classmethod
    def of(cls, offsets: Mapping[str, Mapping[Partition, int | None]]) -> IdleGroups:
        """Remember ``offsets``, as :meth:`CommitsSeen.of` does."""
        return cls(tuple(sorted(offsets)), CommitsSeen.of(offsets))

    @classmethod
    def parsed(cls, option: Mapping[str, Any]) -> IdleGroups:
        """Parse what :meth:`as_dict` returned."""
        return cls(tuple(option["groups"]), CommitsSeen(option["at"], option["digest"]))

    def as_dict(self) -> dict[str, Any]:
        """Return the object as plain data."""
        return {"groups": list(self.groups), **self.seen.as_dict()}

    def idle_at(self, offsets: Mapping[str, Mapping[Partition, int | None]], since: float) -> float:
        """Return the moment at which such a reader would have committed again, if it is still at work.

        ``offsets``: of all groups, unchanged since the moment ``since``.
        """
        now = replace(CommitsSeen.of({group: offsets.get(group, {}) for group in self.groups}), at=since)
        return now.unchanged_since(self.seen) + COMMIT_INTERVAL if self.groups else since
