# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The worlds of several tenures, through the code that reads the clusters: each tenure gets exactly its own part."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.journal.facts import JournalFacts
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.names import naming_of
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.internal_records import OffsetSync
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.replication_gates import PartitionFacts
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.skipped_records import skipped_in
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.target_offsets import TargetOffset
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
    flow_topics,
    identity_offsets,
    span_reader,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.offsets import flow_copies as copies
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.offsets.bindings import witness_of
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.offsets.evidence import Evidence
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.offsets.identity_offsets import IdentityOffsets
from ansible_collections.switchback.kafka_dr.tests.unit.core.tenure_worlds import (
    KEY,
    SIDES,
    Entry,
    Range,
    Tally,
    TenureWorld,
    committed_offsets,
    world,
)
from effort import share

# A fifth of the worlds of test_tenure_worlds, because every record is hashed here.
COUNT = share(600, least=100)
FIRST = int(os.environ.get("KAFKA_DR_WORLD_SEED", "0"))
EACH = 6
WIDTHS = copies._WIDTHS
IDS = {alias: {"T": f"id-{alias}"} for alias in SIDES}


class WorldCluster:
    """One cluster of a world: its records, topics and log ranges."""

    def __init__(self, made: TenureWorld, alias: str) -> None:
        self.made, self.alias = made, alias

    def read(self, span: Range) -> RangeRead:
        """Read as a consumer does: an offset outside the log is an error, and reading stops at the end of the log."""
        (begin, end), (start, high) = span, self.made.log(self.alias)
        if begin < end and not start <= begin <= high:
            return RangeRead(begin, end, begin, OUT_OF_RANGE)
        records = [self._record(one) for one in self.made.logs[self.alias] if begin <= one.offset < end]
        return RangeRead(begin, end, max(begin, min(end, high)), EXHAUSTED if end <= high else BLOCKED, records)

    def _record(self, one: Entry) -> Record:
        return Record(one.offset, one.stamp, one.kind, str(one.key).encode(), one.content.encode(), ())

    def describe(self) -> TopicState:
        policy = "compact" if "compacted" in self.made.kinds else "delete"
        settings = {"cleanup.policy": ConfigValue(policy, True)}
        return TopicState("T", IDS[self.alias]["T"], 1, 1, config=settings)


class TwoSides:
    """The parts of a pair that IdentityOffsets uses."""

    topics = ("T",)
    naming = naming_of("identity")

    def __init__(self, made: TenureWorld, groups: Iterable[str]) -> None:
        self.kafka = {alias: WorldCluster(made, alias) for alias in SIDES}
        self.groups = list(groups)
        self.spec = SimpleNamespace(group_topics={name: ["T"] for name in self.groups})

    def replicas(self, _source: str) -> list[str]:
        return list(self.topics)

    def ranges(self, alias: str, topics: Iterable[str]) -> dict[tuple[str, int], Range]:
        return {KEY: self.kafka[alias].made.log(alias)} if list(topics) else {}


class WorldSyncs:
    """All offset-syncs of a flow, as the topic holds them over all tenures."""

    def __init__(self, pair: TwoSides, source: str, target: str, since: Mapping[str, int]) -> None:
        self.of = {KEY: list(pair.kafka[source].made.syncs[source, target])}
        self.read = len(self.of[KEY])

    def reach(self, enough: Callable[[Any], bool]) -> None:
        pass


@pytest.fixture(scope="module", autouse=True)
def fake_clusters() -> Iterator[None]:
    def read_ranges(kafka: WorldCluster, ranges: Mapping[Any, Range], _reading: object) -> dict[Any, RangeRead]:
        return {key: kafka.read(span) for key, span in ranges.items()}

    def has_data(kafka: WorldCluster, ranges: Mapping[Any, Range], *_how: object) -> dict[Any, bool]:
        return {key: bool(kafka.read(span).records) for key, span in ranges.items()}

    with pytest.MonkeyPatch.context() as patch:
        for module in (span_reader, bindings):
            patch.setattr(module, "read_ranges", read_ranges)
        patch.setattr(bindings, "has_data", has_data)
        patch.setattr(flow_topics, "describe", lambda kafka, _topics: {"T": kafka.describe()})
        patch.setattr(
            flow_topics, "with_config", lambda _kafka, states, _wanted: {state.name: state for state in states}
        )
        patch.setattr(flow_topics, "syncs_of", WorldSyncs)
        for module in (flow_topics, identity_offsets, span_reader):
            patch.setattr(module, "both", lambda first, second: (first(), second()))
        # The worlds are small: with the widths that are used on clusters, everything would be read at once.
        patch.setattr(copies, "_WIDTHS", (2, 8, 64))
        patch.setattr(copies, "_GAP", 3)
        yield


def evidence(made: TenureWorld, commits: Mapping[str, int], final: bool) -> Evidence:
    """Observations of the groups and of the current flow."""
    start, end = made.log(made.active)
    log, last_replicated_offset = made.logs[made.active], made.last_replicated_offset
    waiting = any(one.offset > (-1 if last_replicated_offset is None else last_replicated_offset) for one in log)
    facts = PartitionFacts(start, end, last_replicated_offset, waiting, made.ends[made.idle])
    state, tasks = ("STOPPED", ()) if final else ("RUNNING", ("RUNNING",))
    connectors = {"source": PartState("source", "name", state, tasks)}
    left = {name: GroupStatus("EMPTY", {KEY: at}, {KEY: not made.unread(at)}) for name, at in commits.items()}
    pair: Any = TwoSides(made, commits)
    return Evidence(
        pair,
        made.active,
        made.idle,
        FlowObservation(made.active, made.idle, connectors, {KEY: facts}, None),
        None,
        left,
        {name: GroupStatus("EMPTY", {}) for name in commits},
        {KEY: made.log(made.idle)},
    )


@pytest.fixture(scope="module")
def tally(fake_clusters: None) -> Tally:
    found = Tally()
    for seed in range(FIRST, FIRST + COUNT):
        made, draw = world(seed), random.Random(seed)
        commits = {f"g{number}": at for number, at in enumerate(committed_offsets(made, made.tenures(), draw, EACH))}
        seen = evidence(made, commits, "running" not in made.kinds and draw.random() < 0.5)
        journal = JournalFacts(topic_ids=IDS, cuts=made.cut_records)
        try:
            rows = IdentityOffsets(seen, journal).rows()
        except DrError as error:
            found.refused.append(f"seed {seed}: {error.message} in {sorted(made.kinds)}")
            continue
        for row in rows:
            values = (row[name] for name in ("offset", "method", "quality", "rereads", "reason"))
            committed_offset = replace(TargetOffset(*values), skips=skipped_in(row))
            found.note(made, "read", commits[row["group"]], committed_offset)
    print(f"worlds with the seeds {FIRST} to {FIRST + COUNT - 1}: {dict(found.checked)}")
    return found


def test_every_world_can_be_read(tally: Tally) -> None:
    """Reads are only inside the logs. A reader returns an error for anything else, and the cutover would be refused."""
    assert tally.checked["read"] > COUNT
    assert tally.refused[:3] == []


def test_only_in_a_tail_there_is_no_target_offset(tally: Tally) -> None:
    assert tally.guessed[:3] == []


def test_no_target_offset_ever_skips_records(tally: Tally) -> None:
    assert tally.skipped[:3] == []


def test_records_missing_on_the_cluster_being_entered_are_counted(tally: Tally) -> None:
    """R30, with the records read around an offset, and with more of them if it may skip."""
    assert tally.checked["gone"] > COUNT // 10
    assert tally.uncounted[:3] == []


def test_target_offsets_are_exact_if_records_are_distinguishable(tally: Tally) -> None:
    assert tally.checked["clear"] > COUNT // 4
    assert (tally.inexact[:3], tally.unbounded[:3]) == ([], [])


# ---- examples, with the widths that are used on clusters


def entries(contents: str, step: int = 1) -> list[Entry]:
    """A record at every ``step``-th offset."""
    return [Entry(step * at, 1000, content, 0, at) for at, content in enumerate(contents)]


def different(count: int, step: int = 1) -> list[Entry]:
    return entries("".join(chr(200 + number) for number in range(count)), step)


def cut_record(source: str, target: str, ends: int, cut: int) -> dict[str, Any]:
    end = {"T": {"0": ends}}
    return {"from": source, "to": target, "ends": end, "cut": {"T": {"0": cut}}, "resumed": end}


def offset(made: TenureWorld, commit: int, patch: pytest.MonkeyPatch) -> tuple[int | None, str]:
    patch.setattr(copies, "_WIDTHS", WIDTHS)
    journal = JournalFacts(topic_ids=IDS, cuts=made.cut_records)
    row = IdentityOffsets(evidence(made, {"g": commit}, True), journal).rows()[0]
    return row["offset"], row["quality"]


def test_a_record_of_an_earlier_tenure_is_not_taken_for_a_copy_in_this_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three tenures: P->B replicated "x" and 17 others, B->P nothing, P->B "a" and a new "x". Now B is left.

    The group has read B up to "a". The search for an earlier offset-sync must not leave the tenure.
    """
    log = entries("xbcdefghijklmnopqr" + "ax")
    made = TenureWorld(
        -1, frozenset(), "B", {"P": log, "B": list(log)}, ends={"P": 20, "B": 20}, last_replicated_offset=19
    )
    made.cut_records = [cut_record("P", "B", 18, 18), cut_record("B", "P", 18, 18), cut_record("P", "B", 20, 20)]
    made.syncs["P", "B"] = [OffsetSync(*KEY, 0, 0), OffsetSync(*KEY, 18, 18)]
    assert offset(made, 19, monkeypatch) == (19, "exact")


def test_an_offset_sync_below_the_log_start_is_not_read_from(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Retention removed the first 20 records of B. The group's offset is 32, and the offset-sync below it is at 15."""
    log = different(40)
    made = TenureWorld(-1, frozenset(), "B", {"P": log, "B": log[20:]}, ends={"P": 40, "B": 40})
    made.starts["B"] = 20
    made.cut_records = [cut_record("P", "B", 40, 40)]
    made.syncs["P", "B"] = [OffsetSync(*KEY, at, at) for at in (0, 15, 39)]
    assert offset(made, 32, monkeypatch) == (32, "exact")


@pytest.mark.parametrize("commit", [1, 2, 3, 4])
def test_a_record_that_was_sent_twice_in_a_tenure_is_read_in_that_tenure(
    commit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B->P replicated "ab", died, and replicated "abc".

    Then "d" was written on P. Without the cuts "c" and "d" would be skipped.
    """
    home = [replace(one, record=record) for one, record in zip(entries("ababcd"), (0, 1, 0, 1, 2, 3), strict=True)]
    made = TenureWorld(
        -1, frozenset(), "P", {"P": home, "B": entries("abcd")}, ends={"P": 6, "B": 4}, last_replicated_offset=5
    )
    made.cut_records = [cut_record("P", "B", 0, 0), cut_record("B", "P", 3, 5)]
    made.syncs["B", "P"] = [OffsetSync(*KEY, 0, 0), OffsetSync(*KEY, 0, 2)]
    made.syncs["P", "B"] = [OffsetSync(*KEY, 5, 3)]
    assert offset(made, commit, monkeypatch) == (min(commit, 2), "exact")


def test_a_marker_at_the_end_of_a_tenure_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """300 records and a transaction marker, without an offset-sync: the group has read all but two records.

    If the part of the source that was read holds only the marker, nothing is proven yet. In particular "start" is not
    exact: it would read 298 records again without a report.
    """
    log = different(300)
    made = TenureWorld(-1, frozenset(), "B", {"P": log, "B": list(log)}, ends={"P": 301, "B": 300})
    made.cut_records = [cut_record("P", "B", 301, 300)]
    assert offset(made, 298, monkeypatch) == (298, "exact")


def test_offsets_without_a_record_do_not_hide_records_below_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nine aborted records before each of 10, without an offset-sync: a wider read must start earlier on the source."""
    made = TenureWorld(-1, frozenset(), "B", {"P": different(10, 10), "B": different(10)}, ends={"P": 100, "B": 10})
    made.cut_records = [cut_record("P", "B", 100, 10)]
    assert offset(made, 3, monkeypatch) == (21, "exact")


def test_a_re_created_topic_is_refused() -> None:
    """R18: the cuts in the journal are about an earlier topic of the same name."""
    made = world(0)
    journal = JournalFacts(topic_ids={**IDS, "P": {"T": "another"}}, cuts=made.cut_records)
    with pytest.raises(DrError) as refused:
        IdentityOffsets(evidence(made, {"g": 0}, False), journal).rows()
    assert refused.value.code == "topic_recreated"


@pytest.mark.parametrize("alias", SIDES)
def test_a_log_that_was_cut_and_filled_again_before_a_move_has_no_offsets(
    alias: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R37: P moved to B at offset 20 of both logs. Then the end of one of them was lost and written again."""
    log = different(30)
    made = TenureWorld(
        -1, frozenset(), "B", {"P": log, "B": list(log)}, ends={"P": 30, "B": 30}, last_replicated_offset=29
    )
    made.syncs["B", "P"] = [OffsetSync(*KEY, 20, 20)]
    before = witness_of(WorldCluster(made, alias)._record(log[19]))

    def bound_to(*witnesses: Any) -> None:
        stored = {alias: {"T": {"0": [list(one) for one in witnesses]}}}
        made.cut_records = [{**cut_record("P", "B", 20, 20), "bound": stored}]

    bound_to(before)
    assert [offset(made, commit, monkeypatch) for commit in (10, 25)] == [(10, "exact"), (25, "exact")]
    bound_to(before._replace(digest="another"))
    assert [offset(made, commit, monkeypatch)[0] for commit in (10, 20, 25)] == [None] * 3
    # A group that has read everything starts at the end.
    assert offset(made, 30, monkeypatch) == (30, "exact")
    # A record that compaction may have removed is no other record.
    made.logs[alias].pop(19)
    bound_to(before)
    assert offset(made, 25, monkeypatch)[0] is None
    compacted = replace(made, kinds=frozenset(("compacted",)))
    assert offset(compacted, 25, monkeypatch)[0] is not None
