# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prove from Kafka that the group sync of a flow is off: the API does not report when a change takes effect.

While group sync is on, MirrorMaker 2 raises the committed offset of each group without members to the group's newest
checkpoint, once in each interval (MirrorCheckpointTask.syncGroupOffset). So an offset that stays below a checkpoint for
two intervals proves that group sync was off.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..._core.errors import DrError
from ..._core.names import Naming
from ..._core.offsets.internal_records import decode_checkpoint
from ..._core.partition import Partition
from ..._core.verdict import PROVEN, UNKNOWN, Finding
from ..._kafka import groups as kafka_groups
from ..._kafka.client import Kafka
from ..._kafka.records import data_records
from ..._kafka.topics import describe, log_ranges

__all__ = ["Evidence", "SyncedCheckpoint", "judge", "read_evidence"]

INTERVALS = 2
# Checkpoints carry the time of a worker, so their age by this machine's clock counts only from here on.
CLOCK_DIFFERENCE = 600.0
_NEWEST_RECORDS = 20_000


@dataclass(frozen=True)
class SyncedCheckpoint:
    """A checkpoint of a flow, on the target."""

    group: str
    partition: Partition
    #: The offset on the target that group sync would commit.
    downstream: int
    #: When the worker wrote it (epoch seconds, the worker's clock).
    time: float


@dataclass(frozen=True)
class Evidence:
    """The checkpoints of a flow, and the offsets on its target at one moment."""

    checkpoints: tuple[SyncedCheckpoint, ...]
    #: By group. A partition without a committed offset is missing.
    offsets: Mapping[str, Mapping[Partition, int]]
    #: Groups without members on the target. Group sync writes for these only.
    idle: frozenset[str]
    #: This machine's time (epoch seconds).
    now: float

    @property
    def newest(self) -> float:
        """When the newest checkpoint was written (worker's clock); 0: there is none."""
        return max((checkpoint.time for checkpoint in self.checkpoints), default=0.0)

    @property
    def unsynced(self) -> list[SyncedCheckpoint]:
        """Checkpoints above the committed offset of their group, which group sync would commit."""
        return [
            checkpoint
            for checkpoint in self.checkpoints
            if checkpoint.group in self.idle
            and checkpoint.downstream > max(0, self.offsets.get(checkpoint.group, {}).get(checkpoint.partition, 0))
        ]


def judge(evidence: Evidence, interval: float, since: float = 0.0, elapsed: float = 0.0) -> Finding:
    """PROVEN: group sync is off. UNKNOWN: Kafka does not show it.

    ``interval``: seconds between two writes of group sync. ``since``: only checkpoints that were written after this
    time count (worker's clock), because group sync was on before. ``elapsed``: seconds since this machine first read
    a checkpoint that is as new as the newest one.
    """
    unsynced = [checkpoint for checkpoint in evidence.unsynced if checkpoint.time > since]
    newest = evidence.newest
    needed = INTERVALS * interval
    for checkpoint in unsynced:
        # The worker's own clock has reached `newest`, and this machine has counted `elapsed` seconds since then.
        age = max(newest + elapsed - checkpoint.time, evidence.now - CLOCK_DIFFERENCE - checkpoint.time)
        if age >= needed:
            return Finding(
                PROVEN,
                f'the group "{checkpoint.group}" stays below the checkpoint {checkpoint.downstream} of'
                f" {checkpoint.partition}, which is at least {age:.0f} s old",
            )
    if unsynced:
        return Finding(UNKNOWN, f"no checkpoint above a committed offset is {needed:.0f} s old yet")
    return Finding(UNKNOWN, "no checkpoint is above the committed offset of a group without members")


def read_evidence(kafka: Kafka, naming: Naming, source: str, now: float) -> Evidence:
    """Read the newest checkpoints of the flow from ``source``, then the committed offsets of their groups.

    This order is the safe one: an offset that rises in between only removes evidence. Raises
    ``checkpoints_unreadable``.
    """
    place = Partition(naming.checkpoints(source), 0)
    if describe(kafka, [place.topic])[place.topic] is None:
        return Evidence((), {}, frozenset(), now)
    start, end = log_ranges(kafka, {place})[place]
    checkpoints = tuple(_decoded(kafka, place, max(start, end - _NEWEST_RECORDS), end))
    names = sorted({checkpoint.group for checkpoint in checkpoints})
    offsets = kafka_groups.committed_offsets(kafka, names) if names else {}
    states = kafka_groups.describe(kafka, names)
    idle = frozenset(name for name in names if states[name].state in ("EMPTY", "DEAD"))
    return Evidence(checkpoints, offsets, idle, now)


def _decoded(kafka: Kafka, place: Partition, start: int, end: int) -> Iterable[SyncedCheckpoint]:
    for record in data_records(kafka, place, start, end):
        if record.key is None or record.value is None:
            continue
        try:
            checkpoint = decode_checkpoint(record.key, record.value)
        except DrError as error:
            raise DrError(
                "checkpoints_unreadable",
                f'The record at offset {record.offset} of "{place.topic}" is not a checkpoint. {error.message}',
                "A producer other than MirrorMaker 2 writes to this topic, or an unknown version of it does.",
                kafka.bootstrap_servers,
            ) from error
        yield SyncedCheckpoint(
            checkpoint.group,
            Partition(checkpoint.topic, checkpoint.partition),
            checkpoint.downstream,
            (record.timestamp or 0) / 1000.0,
        )
