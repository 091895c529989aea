# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reverse checkpoints by the rule of KIP-1098's prototype. Pure. It is inferred that SRM uses the same rule."""

from __future__ import annotations

from dataclasses import dataclass, field

from .records import Checkpoint, Sync

Part = tuple[str, int]


@dataclass
class Syncs:
    """Offset-syncs of the forward flow by topic (name on the source) and partition, in log order."""

    by_part: dict[Part, list[Sync]] = field(default_factory=dict)

    def add(self, sync: Sync) -> None:
        kept = self.by_part.setdefault((sync.topic, sync.partition), [])
        if kept and sync.downstream < kept[-1].downstream:
            # The downstream offset decreased, so the replica was recreated. Earlier offset-syncs are of another log.
            kept.clear()
        kept.append(sync)

    def upstream(self, topic: str, partition: int, commit: int) -> int | None:
        """Source offset for a committed offset on the replica. None if no offset-sync is old enough."""
        for sync in reversed(self.by_part.get((topic, partition), [])):
            if sync.downstream <= commit:
                return sync.upstream if sync.downstream == commit else sync.upstream + 1
        return None


@dataclass
class Emitted:
    """The last checkpoint of each group and partition."""

    last: dict[tuple[str, str, int], Checkpoint] = field(default_factory=dict)

    def is_due(self, found: Checkpoint) -> bool:
        """Whether to send it: the first checkpoint, a lower committed offset, or a higher translated offset."""
        before = self.last.get((found.group, found.topic, found.partition))
        return before is None or found.upstream < before.upstream or found.downstream > before.downstream

    def add(self, sent: Checkpoint) -> None:
        self.last[sent.group, sent.topic, sent.partition] = sent


def commits(checkpoints: list[Checkpoint], state: str, present: dict[Part, int]) -> dict[Part, int]:
    """Offsets that group sync commits for a group: only if it is EMPTY or absent (DEAD), and never lower ones."""
    if state not in ("EMPTY", "DEAD"):
        return {}
    wanted = {(item.topic, item.partition): item.downstream for item in checkpoints}
    return {part: offset for part, offset in wanted.items() if offset > present.get(part, -1)}
