# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is there to be read: the plan held against what the brokers say, before and after the reading.

A plan that is narrower than the logs must not pass as a proof of them: whatever lies outside of it is a reason for
UNKNOWN.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from .brokers import Brokers, Look, Place
from .errors import AuditError
from .plan import Plan, Range, Side, Topic

TARGET_ISOLATION = "read_committed"  # workers with exactly-once write replicas in transactions


@dataclass(frozen=True)
class Span:
    """Offsets [start, end) are read; from ``border`` on they only count as outside of the plan."""

    start: int
    end: int
    border: int
    log_start: int


@dataclass
class Scope:
    """One topic pair of the plan. ``reasons``: why its verdict can be no better than UNKNOWN."""

    topic: Topic
    source: Look | None = None
    target: Look | None = None
    reasons: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    spans: dict[tuple[str, int], Span] = field(default_factory=dict)  # ("source" | "target", partition)

    @property
    def readable(self) -> bool:
        return bool(self.spans)

    def side(self, name: str) -> Side:
        side: Side = getattr(self.topic, name)
        return side

    def isolation(self, name: str) -> str:
        return self.topic.isolation if name == "source" else TARGET_ISOLATION

    @property
    def timestamps(self) -> bool:
        """Comparable only where neither side overwrites them."""
        return bool(self.source and self.target and self.source.keeps_timestamps and self.target.keeps_timestamps)


def take(plan: Plan, brokers: Mapping[str, Brokers]) -> list[Scope]:
    """Ask both clusters. A wrong cluster ends the audit; a topic that is wrong only ends what is said of it."""
    for alias, cluster in plan.clusters.items():
        found = brokers[alias].cluster_id()
        if found != cluster.cluster_id:
            raise AuditError(
                "wrong_cluster",
                f"Cluster {alias} must be {cluster.cluster_id}; {cluster.bootstrap_servers} is {found}.",
            )
    scopes = [Scope(topic) for topic in plan.topics]
    for alias, asked in brokers.items():
        wanted = [
            (scope, name) for scope in scopes for name in ("source", "target") if scope.side(name).cluster == alias
        ]
        looks = asked.topics(scope.side(name).topic for scope, name in wanted)
        for scope, name in wanted:
            setattr(scope, name, looks.get(scope.side(name).topic))
    for scope in scopes:
        _check(scope)
    # The source first: what it holds by then must be on the target at the end of the look.
    sound = [scope for scope in scopes if not scope.reasons]
    for name in ("source", "target"):
        _measure(sound, name, brokers)
    for scope in sound:
        _expired_uncopied(scope)
    return scopes


def look_again(scopes: Iterable[Scope], brokers: Mapping[str, Brokers]) -> None:
    """Ids must be those of the first look; a log start that moved meanwhile is a note, for the records were read."""
    for scope in scopes:
        for name in ("source", "target"):
            side, before = scope.side(name), getattr(scope, name)
            if not scope.readable:
                continue
            now = brokers[side.cluster].topics([side.topic]).get(side.topic)
            if now is None or now.topic_id != before.topic_id:
                found = "gone" if now is None else "another one"
                scope.reasons.append(f"{side.cluster}:{side.topic} was {found} at the end of the audit")
                continue
            places = [(side.topic, partition) for of, partition in scope.spans if of == name]
            starts = brokers[side.cluster].starts(places)
            if scope.topic.mode != "online" and not side.live:
                ends = brokers[side.cluster].ends(places, scope.isolation(name))
                grown = sum(end > scope.spans[name, place[1]].end for place, end in ends.items())
                if grown:
                    scope.reasons.append(f"{grown} partitions of {side.cluster}:{side.topic} were written meanwhile")
            moved = sum(start > scope.spans[name, place[1]].log_start for place, start in starts.items())
            if moved:
                scope.notes.append(
                    f"the log start of {moved} partitions of {side.cluster}:{side.topic} moved meanwhile"
                )


def _expired_uncopied(scope: Scope) -> None:
    """A replica that was never written, of a log that has lost its head: nobody knows what it held (SOUNDNESS 20)."""
    for partition in scope.topic.partitions:
        source, target = (scope.spans[name, partition.number] for name in ("source", "target"))
        if source.log_start > 0 and target.end == 0 and not scope.topic.baseline:
            scope.reasons.append(
                f"partition {partition.number}: {source.log_start} offsets expired, none was ever copied"
            )


def _check(scope: Scope) -> None:
    topic = scope.topic
    for name in ("source", "target"):
        side, look = scope.side(name), getattr(scope, name)
        where = f"{side.cluster}:{side.topic}"
        if look is None:
            scope.reasons.append(f"{where} does not exist")
        elif side.topic_id is not None and look.topic_id != side.topic_id:
            scope.reasons.append(
                f"{where} was created again: its id is {look.topic_id}, the plan was made for {side.topic_id}"
            )
        elif look.partitions != len(topic.partitions):
            scope.reasons.append(f"{where} has {look.partitions} partitions, the plan has {len(topic.partitions)}")
    if topic.transformed:
        scope.reasons.append("the flow transforms records: equal bytes cannot be expected")


def _measure(scopes: list[Scope], name: str, brokers: Mapping[str, Brokers]) -> None:
    asked: dict[tuple[str, str], list[Place]] = {}
    for scope in scopes:
        places = [(scope.side(name).topic, partition.number) for partition in scope.topic.partitions]
        asked.setdefault((scope.side(name).cluster, scope.isolation(name)), []).extend(places)
    for (alias, isolation), places in asked.items():
        starts, ends = brokers[alias].starts(places), brokers[alias].ends(places, isolation)
        # Later than the last stable offset: a transaction is open, and neither flow nor audit sees what lies behind it.
        written = brokers[alias].ends(places, "read_uncommitted")
        for scope in scopes:
            side = scope.side(name)
            if (side.cluster, scope.isolation(name)) != (alias, isolation):
                continue
            for partition in scope.topic.partitions:
                place = (side.topic, partition.number)
                planned: Range = getattr(partition, name)
                scope.spans[name, partition.number] = _span(scope, side, place, planned, starts[place], ends[place])
                if scope.topic.mode != "online" and not side.live and written[place] > ends[place]:
                    scope.reasons.append(
                        f"{alias}:{place[0]}-{place[1]}: a transaction is open at {ends[place]}, "
                        f"{written[place] - ends[place]} offsets behind it could not be read"
                    )


def _span(scope: Scope, side: Side, place: Place, planned: Range, start: int, end: int) -> Span:
    where = f"{side.cluster}:{place[0]}-{place[1]}"
    begin = start if planned.start is None else planned.start
    border = end if planned.end is None else planned.end
    if begin > start and not scope.topic.baseline:
        scope.reasons.append(
            f"{where}: the plan begins at {begin}, the log at {start}: what lies between was not compared"
        )
    if begin < start:
        scope.notes.append(f"{where}: the log began at {begin} when the plan was made, now at {start}")
        begin = start
    if border > end:
        scope.reasons.append(f"{where}: the plan ends at {border}, the log at {end}")
        border = max(begin, end)
    last = border if side.live else end
    return Span(begin, max(begin, last), max(begin, border), start)
