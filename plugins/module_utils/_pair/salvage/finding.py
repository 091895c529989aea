# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the tail of each partition: where it begins on the lost cluster, and which part is missing.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ..._core.errors import DrError
from ..._core.journal.facts import JournalFacts
from ..._core.offsets.tails import Progress, first_offset
from ..._core.partition import Partition, Range, Ranges
from ..._core.resources.topic_ids import recreated
from ..._kafka.latest import read_latest
from ..._kafka.topics import describe
from ..connections.clusters import on_each
from ..observation.pair import Pair
from ..offsets.flow_topics import FlowTopics
from ..offsets.replicated_ends import TenureLogs, replicated_ends
from .request import LossFacts
from .tail import Tail, TailReader

__all__ = ["Finder", "Found", "read_progress", "require_whole"]


@dataclass(frozen=True)
class Found:
    """The tails, and the observations they were found with."""

    tails: Sequence[Tail]
    #: Topic ids on the lost cluster.
    topic_ids: Mapping[str, str]
    #: Last replicated offsets of the flow from the lost cluster.
    replicated: Mapping[Partition, int]
    #: Whether that flow is running.
    flow_runs: bool


class Finder:
    """Compares the lost cluster with the cluster where the applications live."""

    def __init__(self, pair: Pair, flow: tuple[str, str], facts: LossFacts, reader: TailReader) -> None:
        self._pair, (self._source, self._target) = pair, flow
        self._facts, self._reader = facts, reader

    def require_known_replays(self, accepted: Collection[str]) -> None:
        """Raise if the journal has replays whose progress is lost, except in the topics ``accepted`` (R37)."""
        ids = self._require_journaled_topics()[self._source]
        progress = read_progress(self._pair, self._source, self._target)
        lost = sorted(
            key
            for key, topic_id in self._facts.replayed.items()
            if key not in progress and ids.get(key.topic) == topic_id and key.topic not in accepted
        )
        if lost:
            raise DrError(
                "salvage_progress_lost",
                f'The topic "{self._pair.spec.state_topic}" on {self._target} has no progress of the replays of'
                f" {len(lost)} partitions that the journal names, first {lost[0]}: it was deleted or created again.",
                "Nothing was written. It is unknown which records of their tails were replayed. Compare both clusters"
                " with the playbook verify. To replay what the flow has not passed, perhaps a second time, name the"
                " topics in kafka_dr_accept_expired (option accept_expired).",
            )

    def find(self) -> Found:
        """Return the tail of every source partition that has records which the target lacks."""
        pair, topic_ids = self._pair, self._require_journaled_topics()[self._source]
        progress = {
            key: one
            for key, one in read_progress(pair, self._source, self._target).items()
            if one.topic_id == topic_ids.get(key[0])
        }
        replicated, flow_runs = self._require_stopped([one for one in progress.values() if not one.done])
        # Before the last stable offsets: a log that grows in between has no open transaction.
        highs = pair.ranges(self._source, pair.topics, "read_uncommitted")
        logs = pair.ranges(self._source, pair.topics)
        tails = []
        for key, (start, end) in sorted(logs.items()):
            known, high = progress.get(key), highs[key][1]
            if known is not None and not known.done:
                tails.append(self._tail(key, (known.through, known.end), start, high, known))
                continue
            begin = first_offset(replicated.get(key), known)
            # Records at or after that offset came from the target, through the flow back.
            limit = min(end, self._facts.flow_back_start.get(key, end))
            tail = self._tail(key, (begin, limit), start, high, None)
            if begin > high:
                tail.truncated = (high, begin)
            tails.append(tail)
        self._align(tails, replicated, logs, progress)
        for tail in tails:
            for record in self._reader.records(tail):
                tail.count(record, self._facts.failed_over_ms)
        return Found([tail for tail in tails if tail.matters], topic_ids, replicated, flow_runs)

    @staticmethod
    def _tail(key: Partition, span: tuple[int, int], start: int, high: int, resumes: Progress | None) -> Tail:
        begin, end = span
        expired = (begin, min(start, end)) if begin < min(start, end) else None
        first = max(begin, start)
        return Tail(key, first, max(end, first), high, expired, resumes=resumes)

    def _require_journaled_topics(self) -> dict[str, dict[str, str]]:
        described = on_each(self._pair.kafka, lambda alias: describe(self._pair.kafka[alias], self._pair.topics))
        missing = [
            f"{name} on {alias}" for alias, states in described.items() for name, state in states.items() if not state
        ]
        if missing:
            hint = "Nothing was written. Run enable, which creates originals, or remove the topics from the inventory."
            raise DrError("topic_missing", f"{len(missing)} topics do not exist: {', '.join(missing[:5])}.", hint)
        ids_by_alias = {
            alias: {name: state.topic_id for name, state in states.items() if state is not None}
            for alias, states in described.items()
        }
        other = recreated(self._facts.topic_ids, ids_by_alias)
        if other:
            raise DrError(
                "topic_recreated",
                f"These topics were created again since the pair was enabled: {'; '.join(other)}.",
                "Their records are not a tail of the replicated topics. Nothing was written. Remove these topics from"
                " the inventory to salvage the others.",
            )
        return ids_by_alias

    def _require_stopped(self, unfinished: list[Progress]) -> tuple[dict[Partition, int], bool]:
        """Return the flow's last replicated offsets, and whether it is running; raise if it would replicate the tail.

        Either the flow delivers the tail, or the replay, never both (R24). A replay that has begun may continue while
        the flow runs, because the flow's offsets were set past its range.
        """
        observation = self._pair.engine.observe(self._source, self._target)
        source = observation.connectors["source"]
        past = [
            observation.last_replicated_offset.get(Partition(one.topic, one.partition), -1) >= one.end - 1
            for one in unfinished
        ]
        if not source.final and not (unfinished and all(past)):
            raise DrError(
                "flow_running",
                f'"{source.name}" is {source.state} with {len(source.tasks)} tasks, expected STOPPED with none.',
                "Nothing was written. While the flow runs, it replicates the tail itself, and a replay would deliver"
                " these records twice.",
            )
        return observation.last_replicated_offset, not source.final

    def _align(
        self,
        tails: list[Tail],
        replicated: Mapping[Partition, int],
        logs: Ranges,
        progress: Mapping[Partition, Progress],
    ) -> None:
        """Let each tail begin where the replica ends, by content (R45).

        A worker may have replicated records before it died without storing their offsets, and the target may have lost
        copies since. Offsets below the stored one may have been written again on the source.
        """
        pair = self._pair
        replicas = pair.ranges(self._target, [pair.naming.replica(self._source, topic) for topic in pair.topics])
        fresh = {
            tail.key: tail
            for tail in tails
            if tail.resumes is None and tail.expired is None and tail.begin == replicated.get(tail.key, -1) + 1
        }
        topics = FlowTopics(pair, self._source, self._target, JournalFacts())
        topics.read_settings({key.topic for key in fresh})
        wanted = {
            # The flow has replicated no record into a partition that it has not created yet.
            key: self._tenure_logs(tail, logs[key], replicas[topics.replica(key)], progress.get(key), topics)
            for key, tail in fresh.items()
            if topics.replica(key) in replicas
        }
        kafka = pair.kafka
        for key, end in replicated_ends(kafka[self._source], kafka[self._target], wanted).items():
            tail = fresh[key]
            if end.undecided and (end.lost or tail.begin < tail.end):
                raise DrError(
                    "tail_not_aligned",
                    f"It is unknown where the replica of {key} on {self._target} ends: {end.reason}.",
                    "Nothing was written. Compare both logs by hand, or let the flow replicate what follows its last"
                    " stored offset, which needs no such comparison.",
                )
            tail.already_replicated, tail.copies_lost, tail.missing = end.after_stored, end.lost, end.missing
            if end.after_stored or end.lost:
                tail.begin, tail.end = end.end, max(end.end, wanted[key].source[1])

    def _tenure_logs(
        self, tail: Tail, log: Range, replica_log: Range, done: Progress | None, topics: FlowTopics
    ) -> TenureLogs:
        key, shared = tail.key, self._pair.naming.flows_write_originals
        first = self._facts.begin[self._source].get(key, 0)
        # Records of an earlier replay have no copy in the replica.
        floor = first if done is None else max(first, done.end)
        begin = self._facts.begin[self._target].get(key, 0) if shared else 0
        start, end = replica_log
        if shared:
            # The replica ends where the applications began to write.
            end = min(end, self._facts.cut.get(key, end))
        low = max(log[0], floor)
        limit = min(log[1], self._facts.flow_back_start.get(key, log[1]))
        low_there = min(max(start, begin), end)
        return TenureLogs(
            topics.replica(key),
            (low, max(low, limit)),
            (low_there, end),
            tail.begin,
            log[0] <= first and done is None,
            start <= begin and done is None,
            topics.compacted(self._source, key.topic) or topics.compacted(self._target, key.topic),
        )


def read_progress(pair: Pair, source: str, target: str) -> dict[Partition, Progress]:
    """Return the replays of the pair's tails, finished or not, from the state topic."""
    state = read_latest(pair.kafka[target], pair.spec.state_topic) or {}
    replays = [
        Progress.of(value)
        for value in state.values()
        if value.get("kind") == "salvage" and (value["pair"], value["source"]) == (pair.spec.name, source)
    ]
    return {Partition(replay.topic, replay.partition): replay for replay in replays}


def require_whole(tails: Sequence[Tail], source: str, accepted: Collection[str]) -> None:
    """Raise if a part of a tail is missing, except in the topics ``accepted``."""
    gaps = [tail for tail in tails if tail.missing and tail.key[0] not in accepted]
    if gaps:
        first = gaps[0]
        raise DrError(
            "copies_missing",
            f"{len(gaps)} partitions on {source} hold records before their tail that the other cluster lacks."
            f" {first.key}: {len(first.missing)} records in the offsets {first.missing[0]} to {first.missing[-1]}.",
            f"Nothing was written. Either the other cluster has lost their copies, or these offsets on {source} were"
            " written again after the flow had replicated them. No replay delivers them: copy them by hand. To continue"
            " with the tail, name the topics in kafka_dr_accept_expired (option accept_expired).",
        )
    gone = [tail for tail in tails if (tail.expired or tail.truncated) and tail.key[0] not in accepted]
    if gone:
        first = gone[0]
        low, high = first.expired or first.truncated or (0, 0)
        cause = (
            "retention has deleted a part of their tail"
            if first.expired
            else "the log now ends before the last replicated offset"
        )
        raise DrError(
            "tail_expired" if first.expired else "tail_truncated",
            f"{len(gone)} partitions on {source} are incomplete: {cause}. {first.key}: offsets {low}"
            f" to {high - 1} are missing.",
            "Nothing was written. To continue with the rest, name the topics in kafka_dr_accept_expired (option"
            " accept_expired).",
        )
