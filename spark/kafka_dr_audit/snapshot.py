# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare the plan with the topics and offsets of the brokers, before and after the records are read.

A plan that covers only a part of the logs must not count as a proof of the whole, so anything outside it is a reason
for UNKNOWN.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from .brokers import Brokers, TopicDescription, TopicPartition
from .errors import AuditError
from .plan import SIDES, AuditPlan, PlannedRange, Topic, TopicSide

TARGET_ISOLATION = "read_committed"  # workers with exactly-once support write replicas in transactions


@dataclass(frozen=True)
class ReadRange:
    """Offsets [start, end) to read. Records at or after ``border`` are only counted, as outside the plan."""

    start: int
    end: int
    border: int
    log_start: int
    #: Where the plan begins.
    begin: int = 0

    @property
    def deleted(self) -> int:
        """Number of offsets that were deleted from the head of the range."""
        return max(0, self.log_start - self.begin)


@dataclass(frozen=True, eq=False)
class Scope:
    """One topic pair of the plan, with what the brokers report. Compares by identity."""

    topic: Topic
    source: TopicDescription | None = None  # None: the topic does not exist
    target: TopicDescription | None = None
    #: Why the verdict can be at most UNKNOWN.
    reasons: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    spans: dict[tuple[str, int], ReadRange] = field(default_factory=dict)  # by ("source" | "target", partition)
    #: Partitions of the target with an open transaction at the snapshot.
    unstable: set[int] = field(default_factory=set)

    @property
    def readable(self) -> bool:
        """True if the records of the topic pair can be read."""
        return bool(self.spans)

    def side(self, name: str) -> TopicSide:
        """Return the side ``source`` or ``target``."""
        side: TopicSide = getattr(self.topic, name)
        return side

    def isolation(self, name: str) -> str:
        """Return the isolation level for reading a side."""
        return self.topic.isolation if name == "source" else TARGET_ISOLATION

    def read_from(self, name: str) -> tuple[str, str]:
        """Return the cluster and the isolation level for reading a side."""
        return self.side(name).cluster, self.isolation(name)

    @property
    def timestamps(self) -> bool:
        """True if timestamps can be compared, because both topics keep those of producers."""
        return bool(self.source and self.target and self.source.keeps_timestamps and self.target.keeps_timestamps)


def take(plan: AuditPlan, brokers: Mapping[str, Brokers]) -> list[Scope]:
    """Read topics and offsets of both clusters.

    Raises `AuditError` ``wrong_cluster``. A wrong topic is not an error but a reason for UNKNOWN of its topic pair.
    """
    for alias, cluster in plan.clusters.items():
        found = brokers[alias].cluster_id()
        if found != cluster.cluster_id:
            raise AuditError(
                "wrong_cluster",
                f"The cluster {alias} must have the id {cluster.cluster_id}, but {cluster.bootstrap_servers} has the id"
                f" {found}. Correct the plan.",
            )
    sides = [side for topic in plan.topics for side in (topic.source, topic.target)]
    described = {
        alias: asked.topics(side.topic for side in sides if side.cluster == alias) for alias, asked in brokers.items()
    }
    scopes = [
        Scope(
            topic,
            described[topic.source.cluster].get(topic.source.topic),
            described[topic.target.cluster].get(topic.target.topic),
        )
        for topic in plan.topics
    ]
    for scope in scopes:
        _check(scope)
    # The source first: records that it has by now must be on the target when the target is measured.
    sound = [scope for scope in scopes if not scope.reasons]
    for name in SIDES:
        _measure(sound, name, brokers)
    for scope in sound:
        _expired_unreplicated(scope)
    return scopes


def observe_again(scopes: Iterable[Scope], brokers: Mapping[str, Brokers]) -> None:
    """Check after the reading that the topics have not changed.

    A new topic id is a reason for UNKNOWN. A log start offset that moved is only a note, because the records were read.
    """
    for scope in scopes:
        for name in SIDES:
            side, before = scope.side(name), getattr(scope, name)
            if not scope.readable:
                continue
            now = brokers[side.cluster].topics([side.topic]).get(side.topic)
            if now is None or now.topic_id != before.topic_id:
                found = "did not exist" if now is None else "was another topic"
                scope.reasons.append(f"{side} {found} at the end of the audit")
                continue
            places = [(side.topic, partition) for of, partition in scope.spans if of == name]
            starts = brokers[side.cluster].starts(places)
            if scope.topic.mode != "online" and not side.live:
                ends = brokers[side.cluster].ends(places, scope.isolation(name))
                grown = sum(end > scope.spans[name, place[1]].end for place, end in ends.items())
                if grown:
                    scope.reasons.append(f"{grown} partitions of {side} received records during the audit")
            moved = sum(start > scope.spans[name, place[1]].log_start for place, start in starts.items())
            if moved:
                scope.notes.append(f"the log start offsets of {moved} partitions of {side} moved during the audit")


def _expired_unreplicated(scope: Scope) -> None:
    """Add a reason for UNKNOWN if a replica is empty and its source log has lost its head, which is unknown (R20)."""
    for partition in scope.topic.partitions:
        source, target = (scope.spans[name, partition.number] for name in SIDES)
        if source.deleted and target.end == target.begin and not scope.topic.baseline:
            scope.reasons.append(
                f"partition {partition.number}: {source.deleted} offsets expired, and none was ever replicated"
            )


def _check(scope: Scope) -> None:
    topic = scope.topic
    for name in SIDES:
        side, observation = scope.side(name), getattr(scope, name)
        if observation is None:
            scope.reasons.append(f"{side} does not exist")
        elif side.topic_id is not None and observation.topic_id != side.topic_id:
            scope.reasons.append(
                f"{side} was created again: its id is {observation.topic_id}, but the plan has {side.topic_id}"
            )
        elif observation.partitions != len(topic.partitions):
            scope.reasons.append(
                f"{side} has {observation.partitions} partitions, but the plan has {len(topic.partitions)}"
            )
    if topic.transformed:
        scope.reasons.append("the flow transforms records, so they cannot be compared")


def _measure(scopes: list[Scope], name: str, brokers: Mapping[str, Brokers]) -> None:
    asked: dict[tuple[str, str], list[TopicPartition]] = {}
    for scope in scopes:
        places = [(scope.side(name).topic, number) for number in scope.topic.partition_numbers]
        asked.setdefault(scope.read_from(name), []).extend(places)
    for (alias, isolation), places in asked.items():
        # If this is after the last stable offset, a transaction is open. Neither flow nor audit can read past it. It is
        # read before that offset, which a record in between would only raise.
        written = brokers[alias].ends(places, "read_uncommitted")
        starts, ends = brokers[alias].starts(places), brokers[alias].ends(places, isolation)
        for scope in scopes:
            side = scope.side(name)
            if scope.read_from(name) != (alias, isolation):
                continue
            for partition in scope.topic.partitions:
                place = (side.topic, partition.number)
                planned: PlannedRange = getattr(partition, name)
                scope.spans[name, partition.number] = _span(scope, side, place, planned, starts[place], ends[place])
                if name == "target" and written[place] > ends[place]:
                    scope.unstable.add(partition.number)
                if scope.topic.mode != "online" and not side.live and written[place] > ends[place]:
                    scope.reasons.append(
                        f"{side}-{place[1]}: a transaction is open at {ends[place]}, so "
                        f"{written[place] - ends[place]} offsets after it could not be read"
                    )


def _span(
    scope: Scope, side: TopicSide, place: TopicPartition, planned: PlannedRange, start: int, end: int
) -> ReadRange:
    where = f"{side}-{place[1]}"
    begin = start if planned.start is None else planned.start
    border = end if planned.end is None else planned.end
    if begin > start and not scope.topic.baseline and not scope.topic.cut_known:
        scope.reasons.append(
            f"{where}: the plan begins at {begin}, the log at {start}; the records in between were not compared"
        )
    if begin > end:
        scope.reasons.append(f"{where}: the plan begins at {begin}, but the log ends at {end}")
    planned_start = planned.start or 0
    if begin < start:
        scope.notes.append(f"{where}: the log began at {begin} when the plan was made, now at {start}")
        begin = start
    if border > end:
        scope.reasons.append(f"{where}: the plan ends at {border}, the log at {end}")
        border = max(begin, end)
    last = border if side.live else end
    return ReadRange(begin, max(begin, last), max(begin, border), start, planned_start)
