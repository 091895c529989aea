# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A move from P to B with the default policy, through the code that reads the clusters (R7).

Each world has two flows. ``P.T`` on B is the replica of P's topic, and ``B.T`` on P is the replica of B's original.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.journal.facts import JournalFacts, OwnOffsets
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.names import naming_of
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.bindings import Witness
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.internal_records import OffsetSync
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.replication_gates import PartitionFacts
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.skipped_records import Skips, skipped_in
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.translation import forward
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition, Range
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.topics import ConfigValue, TopicState
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.base import PartState
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.records import (
    BLOCKED,
    EXHAUSTED,
    OUT_OF_RANGE,
    RangeRead,
    Record,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation.flows import FlowObservation
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation.groups import GroupStatus
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.offsets import (
    bindings,
    flow_copies,
    flow_topics,
    prefixed_offsets,
    skipped_ranges,
    span_reader,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.offsets.bindings import witness_of
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.offsets.evidence import Evidence
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.offsets.prefixed_offsets import PrefixedOffsets
from ansible_collections.switchback.kafka_dr.tests.unit.core.worlds import Data, World, world

# A fraction of the worlds of test_translation_worlds, because every record is hashed here.
COUNT = max(100, int(os.environ.get("KAFKA_DR_WORLDS", "20000")) * 3 // 100)
FIRST = int(os.environ.get("KAFKA_DR_WORLD_SEED", "0"))
T, REPLICA, MIRROR = Partition("T", 0), Partition("P.T", 0), Partition("B.T", 0)
BLURRED = frozenset(("identical", "periodic", "recreated", "running", "patched"))


@dataclass
class WorldCluster:
    """The topics of one cluster, each with one partition."""

    logs: dict[str, tuple[Sequence[Data], Range]]
    compacted: frozenset[str]

    def read(self, key: Partition, span: Range) -> RangeRead:
        """Read as a consumer does: an offset outside the log is an error, and reading stops at the end of the log."""
        (begin, end), (log, (start, high)) = span, self.logs[key.topic]
        if begin < end and not start <= begin <= high:
            return RangeRead(begin, end, begin, OUT_OF_RANGE)
        records = [record_of(one) for one in log if begin <= one.offset < end]
        ended = EXHAUSTED if end <= high else BLOCKED
        return RangeRead(begin, end, max(begin, min(end, high)), ended, records, count=len(records))

    def describe(self, topic: str) -> TopicState:
        policy = {"cleanup.policy": ConfigValue("compact" if topic in self.compacted else "delete", True)}
        return TopicState(topic, f"id-{topic}", 1, 1, config=policy)


def record_of(one: Data) -> Record:
    return Record(one.offset, one.stamp, one.kind, str(one.key).encode(), one.content.encode(), ())


@dataclass
class TwoFlows:
    """The world of each flow by its source, and the parts of a pair that PrefixedOffsets uses."""

    worlds: Mapping[str, World]
    groups: list[str]
    #: Offsets at the end of B:T that were written after the flow was observed.
    unseen: int = 0
    topics: tuple[str, ...] = ("T",)
    naming: Any = field(default_factory=lambda: naming_of("default"))
    spec: Any = field(default_factory=lambda: SimpleNamespace(group_topics={}, state_topic="state"))

    def __post_init__(self) -> None:
        self.spec.group_topics = {name: ["T"] for name in self.groups}
        self.kafka = {}
        for alias, other in (("P", "B"), ("B", "P")):
            own, back = self.worlds[alias], self.worlds[other]
            logs = {
                "T": (own.source, (own.start, own.source_end)),
                f"{other}.T": (back.replica, (back.replica_start, back.replica_end)),
            }
            kinds = {"T": "source_compacted" in own.kinds, f"{other}.T": "replica_compacted" in back.kinds}
            self.kafka[alias] = WorldCluster(logs, frozenset(name for name, compacted in kinds.items() if compacted))

    def replicas(self, source: str) -> list[str]:
        return [f"{source}.T"]

    def both_names(self, alias: str, topic: str) -> list[str]:
        return [topic, f"{'B' if alias == 'P' else 'P'}.{topic}"]

    def ranges(self, alias: str, topics: Iterable[str]) -> dict[Partition, Range]:
        logs = self.kafka[alias].logs
        return {Partition(name, 0): logs[name][1] for name in topics if name in logs}

    def journal(self, own: OwnOffsets | None = None, **facts: Any) -> JournalFacts:
        """The journal knows the topics of the flows that were not created again."""
        ids: dict[str, dict[str, str]] = {"P": {}, "B": {}}
        for source, target in (("P", "B"), ("B", "P")):
            if "recreated" not in self.worlds[source].kinds:
                ids[source]["T"], ids[target][f"{source}.T"] = "id-T", f"id-{source}.T"
        return JournalFacts(own=own or OwnOffsets(), topic_ids=ids, **facts)

    def observed(self, source: str, stopped: bool) -> FlowObservation:
        made = self.worlds[source]
        last = -1 if made.last_replicated_offset is None else made.last_replicated_offset
        end = made.source_end - (self.unseen if source == "B" else 0)
        waiting = any(last < one.offset < end for one in made.source)
        facts = PartitionFacts(made.start, end, made.last_replicated_offset, waiting, made.replica_end)
        state, tasks = ("STOPPED", ()) if stopped else ("RUNNING", ("RUNNING",))
        connectors = {"source": PartState("source", "name", state, tasks)}
        return FlowObservation(source, "B" if source == "P" else "P", connectors, {T: facts}, None)

    def status(self, commits: Mapping[Partition, int]) -> GroupStatus:
        """The group on P. It has not read what has expired there."""
        logs = {key: self.kafka["P"].logs[key.topic] for key in commits}
        read = {
            key: start <= commits[key] and not any(one.offset >= commits[key] for one in log)
            for key, (log, (start, _end)) in logs.items()
        }
        return GroupStatus("EMPTY", dict(commits), read)

    def rows(
        self, commits: Mapping[str, Mapping[Partition, int]], stopped: bool, journal: JournalFacts
    ) -> dict[tuple[str, str], dict[str, Any]]:
        """Report rows of a move to B by group and topic."""
        pair: Any = self
        evidence = Evidence(
            pair,
            "P",
            "B",
            self.observed("P", stopped),
            None,
            {name: self.status(of_group) for name, of_group in commits.items()},
            {name: GroupStatus("EMPTY", {}) for name in commits},
            self.ranges("B", ["T", "P.T"]),
        )
        rows = PrefixedOffsets(evidence, self.observed("B", False), journal).rows()
        return {(row["group"], row["topic"]): row for row in rows}


class WorldSyncs:
    """All offset-syncs of a flow."""

    def __init__(self, pair: TwoFlows, source: str, _target: str, _since: Mapping[str, int]) -> None:
        self.of = {T: list(pair.worlds[source].syncs)}
        self.read = len(self.of[T])

    def reach(self, enough: Callable[[Any], bool]) -> None:
        pass


@pytest.fixture(scope="module", autouse=True)
def fake_clusters() -> Iterator[None]:
    def read_ranges(kafka: WorldCluster, ranges: Mapping[Partition, Range], _reading: object) -> dict[Any, RangeRead]:
        return {key: kafka.read(key, span) for key, span in ranges.items()}

    def has_data(kafka: WorldCluster, ranges: Mapping[Partition, Range], *_how: object) -> dict[Partition, bool]:
        return {key: bool(kafka.read(key, span).records) for key, span in ranges.items()}

    def describe(kafka: WorldCluster, topics: Iterable[str]) -> dict[str, TopicState]:
        return {name: kafka.describe(name) for name in topics}

    with pytest.MonkeyPatch.context() as patch:
        for module in (span_reader, bindings):
            patch.setattr(module, "read_ranges", read_ranges)
        for module in (prefixed_offsets, bindings):
            patch.setattr(module, "has_data", has_data)
        patch.setattr(flow_topics, "describe", describe)
        patch.setattr(flow_topics, "with_config", lambda _kafka, states, _names: {one.name: one for one in states})
        patch.setattr(flow_topics, "syncs_of", WorldSyncs)
        patch.setattr(skipped_ranges, "read_latest", lambda _kafka, _topic: {})
        for module in (flow_copies, flow_topics, span_reader, prefixed_offsets):
            patch.setattr(module, "both", lambda first, second: (first(), second()))
        # The worlds are small: with the widths that are used on clusters, everything would be read at once.
        patch.setattr(flow_copies, "_WIDTHS", (2, 8, 64))
        patch.setattr(flow_copies, "_GAP", 3)
        yield


# ---- worlds


@dataclass(frozen=True)
class Earlier:
    """The group's own offset on B:T when the applications last left B, and how it arrived on P:``B.T``."""

    offset: int
    #: None: the offset there was not exact.
    arrived: int | None
    #: "held", "moved" (B:T has another record before the offset since) or "unbound".
    binding: str

    def of(self, group: str, made: World) -> OwnOffsets:
        """As the journal has it."""
        bound: dict[Partition, list[Witness]] = {}
        before = [one for one in made.source if one.offset < self.offset]
        if self.binding != "unbound":
            witnesses = [witness_of(record_of(one)) for one in (*before[-1:], *made.source[-1:])]
            moved = [Witness(one.offset, one.leader_epoch, "another") for one in witnesses]
            bound[T] = moved if self.binding == "moved" else witnesses
        arrived = {} if self.arrived is None else {group: {"B.T": {"0": self.arrived}}}
        return OwnOffsets({group: {"T": {"0": self.offset}}}, bound, arrived, True)


def earlier(made: World, draw: random.Random) -> tuple[Earlier, int]:
    """An own offset that was moved to P by the forward translation, and the offset that the group committed there."""
    own = made.source_end if draw.random() < 0.4 else draw.randint(made.start, made.source_end)
    there = forward(own, made.copy())
    last = -1 if made.last_replicated_offset is None else made.last_replicated_offset
    # As in test_set_back_worlds: otherwise, records before it may have no copy yet.
    certain = there.exact and there.method == "end" and last >= own - 1
    binding = draw.choice(("held", "held", "moved" if made.source else "held", "unbound"))
    return Earlier(own, there.offset if certain else None, binding), min(there.offset, made.replica_end)


@dataclass
class Tally:
    """What was wrong, with the seeds that reproduce it, and what occurred."""

    wrong: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


@pytest.fixture(scope="module")
def tally(fake_clusters: None) -> Tally:
    found = Tally()
    for seed in range(FIRST, FIRST + COUNT):
        flows = {"P": world(2 * seed), "B": world(2 * seed + 1)}
        if any(made.first for made in flows.values()):
            continue  # Only the journal of a replay shows that a flow began later.
        ahead, back, draw = flows["P"], flows["B"], random.Random(seed)
        pair = TwoFlows(flows, ["g", "new"])
        stored, there = earlier(back, draw)
        reached = draw.randint(there, back.replica_end)
        commits = {
            "g": {
                T: draw.choice((ahead.source_end, draw.randint(ahead.start, ahead.source_end))),
                MIRROR: draw.choice((back.replica_end, reached, draw.randint(0, reached))),
            },
            "new": {T: draw.randint(0, ahead.source_end)},
        }
        if draw.random() < 0.2:
            del commits["g"][MIRROR]
        stopped = "running" not in ahead.kinds and draw.random() < 0.5
        rows = pair.rows(commits, stopped, pair.journal(stored.of("g", back)))
        for group, of_group in commits.items():
            judge_replica(found, ahead, of_group[T], stopped, rows[group, "P.T"])
        judge_original(found, back, commits["g"].get(MIRROR), stored, rows["g", "T"])
        # A group without an offset there, and without an earlier one: the log start.
        row = rows["new", "T"]
        if (row["offset"], row["method"]) not in ((back.start, "start"), (0, "empty")):
            found.wrong.append(f"seed {seed}: {row}")
    print(f"worlds with the seeds {FIRST} to {FIRST + COUNT - 1}: {dict(found.counts)}")
    return found


def judge(found: Tally, row: Mapping[str, Any], skipped: list[int], lost: list[int], text: str, least: bool) -> None:
    """No record is passed in silence, and the number of skipped records is true. ``least``: its lower bound, too."""
    skips = skipped_in(row)
    miscounted = (least and skips.at_least > len(lost)) or (skips.at_most is not None and skips.at_most < len(lost))
    if row["offset"] is None or skipped or miscounted or (row["quality"] == "exact" and lost):
        found.wrong.append(f"{text}: passes {skipped}, {lost} are gone: {dict(row)}")


def judge_replica(found: Tally, made: World, commit: int, stopped: bool, row: Mapping[str, Any]) -> None:
    offset, text = row["offset"], f"seed {made.seed}: {commit}, {sorted(made.kinds)}"
    found.counts[f"replica {row['method']}"] += 1
    judge(found, row, made.skipped_forward(commit, offset), made.lost_forward(commit, offset), text, True)
    last = -1 if made.last_replicated_offset is None else made.last_replicated_offset
    late = sum(last < one.offset < commit for one in made.source)
    if row["quality"] == "exact" and not stopped and late and made.reread_forward(commit, offset):
        found.wrong.append(f"{text}: {late} records may arrive again: {dict(row)}")
    if not made.kinds & BLURRED and made.reread_forward(commit, offset) > row["rereads"]:
        found.wrong.append(f"{text}: {made.reread_forward(commit, offset)} re-reads: {dict(row)}")


def judge_original(found: Tally, made: World, commit: int | None, stored: Earlier, row: Mapping[str, Any]) -> None:
    offset, text = row["offset"], f"seed {made.seed}: {commit}, {stored}, {sorted(made.kinds)}"
    found.counts[f"original {row['method']}"] += 1
    skipped, lost = made.skipped_reverse(commit or 0, offset), made.lost_reverse(commit or 0, offset)
    set_back = commit is not None and (stored.arrived is None or commit < stored.arrived)
    if row["method"] == "own":
        if set_back or stored.binding != "held" or row["quality"] == "exact" or offset != stored.offset:
            found.wrong.append(f"{text}: {dict(row)}")
    elif stored.binding == "held" and commit is None and row["method"] == "start" and made.start <= stored.offset:
        found.wrong.append(f"{text}, its own offset is known: {dict(row)}")
    if not set_back:
        # It has read the records before its own offset there.
        skipped, lost = ([one for one in passed if one >= stored.offset] for passed in (skipped, lost))
    if "source_compacted" in made.kinds and (commit is None or row["method"] == "own"):
        lost = []  # Without a translation, what compaction removed is not counted. Newer records of these keys follow.
    # In reverse, another writer's record can make copies that have expired look like missing ones.
    judge(found, row, skipped, lost, text, "replica_retention" not in made.kinds)


def test_no_target_offset_of_a_move_skips_records(tally: Tally) -> None:
    assert tally.counts["replica content"] > COUNT // 10
    assert tally.counts["replica end"] > COUNT // 10
    assert tally.counts["original content"] > COUNT // 30
    assert tally.counts["original end"] > COUNT // 10
    assert tally.counts["original own"] > COUNT // 50
    assert tally.wrong[:3] == [], "\n".join(tally.wrong[:3])


# ---- examples


def flow(contents: str, copies: str, replica_start: int = 0) -> World:
    """A flow that has replicated ``copies`` of the records ``contents``; a space is an offset without a record."""
    source = [Data(at, 1000 + at, content) for at, content in enumerate(contents)]
    origins = {content: at for at, content in enumerate(contents)}
    replica = [
        Data(at, 1000 + origins[content], content, origins[content])
        for at, content in enumerate(copies)
        if content != " " and at >= replica_start
    ]
    last = max((origins[content] for content in copies if content != " "), default=None)
    return World(
        -1,
        frozenset(),
        source,
        replica,
        source_end=len(contents),
        replica_start=replica_start,
        replica_end=len(copies),
        last_replicated_offset=last,
    )


def original(back: World, commit: int | None, own: OwnOffsets | None = None, **facts: Any) -> dict[str, Any]:
    """The row of B:T for a group with this committed offset on P:``B.T``."""
    pair = TwoFlows({"P": flow("x", "x"), "B": back}, ["g"])
    commits = {} if commit is None else {MIRROR: commit}
    return pair.rows({"g": commits}, True, pair.journal(own, **facts))["g", "T"]


@pytest.mark.parametrize(
    ("copies", "start", "commit", "unread"),
    [
        ("abcd", 0, 1, 2),
        ("abcd", 0, 2, 1),
        ("abcd", 0, None, 3),
        ("abcd", 1, None, 2),
        ("ab d", 0, 1, 2),
        ("abcd", 0, 3, 0),
        ("abcd", 3, None, 0),
        ("ab d", 0, 2, 0),
        ("abcd", 3, 1, 0),
    ],
)
def test_records_that_only_the_replica_holds_and_the_group_has_not_read_have_no_offset(
    copies: str, start: int, commit: int | None, unread: int
) -> None:
    """B was replaced by a new cluster: the records of P:``B.T`` before offset 3 are on no other cluster (R7)."""
    row = original(flow("abcd", copies, start), commit, unreplicated_below={"P": {"B.T": {"0": 3}}})
    if unread:
        assert (row["offset"], row["method"]) == (None, "unreplicated_records")
        assert row["reason"].startswith(f"up to {unread} records of B.T-0 before offset 3 are unread")
    else:
        assert row["offset"] is not None


def test_a_replica_with_such_records_that_is_gone_leaves_no_offset() -> None:
    pair = TwoFlows({"P": flow("x", "x"), "B": flow("abcd", "abcd")}, ["g"])
    del pair.kafka["P"].logs["B.T"]
    row = pair.rows({"g": {}}, True, pair.journal(unreplicated_below={"P": {"B.T": {"0": 3}}}))["g", "T"]
    assert (row["offset"], row["quality"], row["reason"]) == (None, "none", "B.T-0 does not exist on P")


@pytest.mark.parametrize(("own", "skips"), [(None, 1), (2, 1), (3, 0), (4, 0)])
def test_a_group_at_the_end_of_the_replica_has_not_read_a_record_without_a_copy(own: int | None, skips: int) -> None:
    """R36: "c" has no copy. A group that was after it on B has read it there."""
    stored = None if own is None else Earlier(own, 1, "held").of("g", flow("abcd", "abd"))
    row = original(flow("abcd", "abd"), 3, stored)
    assert (row["offset"], row["method"], skipped_in(row)) == (4, "end", Skips(skips, skips))


def test_a_record_that_another_producer_wrote_on_b_is_not_passed() -> None:
    """The flow was drained, and the group had read everything. Then "e" was written."""
    pair = TwoFlows({"P": flow("x", "x"), "B": flow("abcde", "abcd")}, ["g"], unseen=1)
    row = pair.rows({"g": {MIRROR: 4}}, True, pair.journal())["g", "T"]
    assert (row["offset"], row["quality"]) == (4, "exact")


def test_at_the_end_of_a_replica_that_lacks_records_the_committed_offset_is_translated() -> None:
    """The flow back has not replicated "d". The group's own offset after it is not bound to the log."""
    row = original(flow("abcd", "abc"), 3, Earlier(4, 3, "unbound").of("g", flow("abcd", "abc")))
    assert (row["offset"], row["quality"]) == (3, "exact")


def test_the_offset_of_mirrormaker_2_is_shown_beside_a_translated_one() -> None:
    """An offset-sync below the committed offset gives the offset after it, never the difference."""
    ahead = replace(flow("abcd", "abcd"), syncs=[OffsetSync(*T, 0, 0), OffsetSync(*T, 1, 1)])
    pair = TwoFlows({"P": ahead, "B": flow("x", "x")}, ["g", "done"])
    rows = pair.rows({"g": {T: 3}, "done": {T: 4}}, True, pair.journal())
    shown = [[rows[group, "P.T"][name] for name in ("offset", "quality", "checkpoint")] for group in ("g", "done")]
    assert shown == [[3, "exact", 2], [4, "exact", None]]
