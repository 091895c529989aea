# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a group reads is remembered, not inferred from what it has committed (R40)."""

from __future__ import annotations

from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.coverage import (
    unassigned,
    unassigned_text,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.preflight import judge_cutover
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.flows.pair_spec import PairSpec
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.journal.events import Event
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.journal.reads import (
    Reads,
    beyond,
    joined,
    reads_of,
    start_offsets,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.journal.state import fold
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.target_offsets import Side, enter_same
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.tenures import TenurePlace
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.translation import Translated
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.groups import GroupState, Member
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.topics import TopicState
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.connections.engines import Opened
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation.groups import (
    GroupStatus,
    group_statuses,
    topics_of,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation.pair import Pair
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation.status import group_rows
from ansible_collections.switchback.kafka_dr.tests.unit.core.reading_worlds import (
    MOMENTS,
    ReadingWorld,
    ReadTopic,
    reading_world,
)

T0, T1 = Partition("T", 0), Partition("T", 1)
REPLICA = Partition("P.T", 0)


# ---- remembering


def row(topic: str, partition: int, commit: int | None, read: bool | None, alias: str = "P") -> dict[str, Any]:
    return {
        "group": "g",
        "alias": alias,
        "topic": topic,
        "partition": partition,
        "commit": commit,
        "read_to_end": read,
    }


def test_the_topics_of_a_group_are_remembered_with_partitions_that_were_never_written() -> None:
    status = {
        "groups": [
            row("T", 0, 5, True),
            row("T", 1, None, True),
            row("U", 0, None, None),
            row("V", 0, None, True, alias="B"),
        ],
        "out_of_scope": [{"group": "g", "alias": "P", "topic": "W", "evidence": "assigned"}],
    }
    assert reads_of(status, "P") == {"g": {"T": [1], "U": [], "W": []}}
    assert start_offsets(reads_of(status, "P"), "g") == {T1: 0}
    assert start_offsets(reads_of(status, "P"), "another") == {}


def test_observations_are_joined_and_only_what_is_new_is_journaled() -> None:
    early: Reads = {"g": {"T": [1]}, "h": {"T": []}}
    late: Reads = {"g": {"T": [0, 1], "U": []}}
    assert joined(early, late, {}) == {"g": {"T": [0, 1], "U": []}, "h": {"T": []}}
    assert beyond(late, early) == {"g": {"T": [0], "U": []}}
    assert beyond(early, joined(early, late)) == {}


def test_the_journal_remembers_what_every_process_of_a_run_saw() -> None:
    began = {"type": "cutoff", "from": "P", "to": "B", "reads": {"g": {"T": [1]}}}
    drained = {"phase": "drain", "facts": {"reads": {"g": {"U": []}}}}
    events = [
        Event(1, 0, "r", "started", 1.0, began),
        Event(1, 1, "r", "phase", 2.0, drained),
        Event(1, 2, "r", "resumed", 3.0, {"holder": None, "reads": {"g": {"V": [0]}}}),
        Event(1, 3, "r", "resumed", 4.0, {"holder": None}),
    ]
    run = fold(events).run
    assert run is not None
    assert run.reads == {"g": {"T": [1], "U": [], "V": [0]}}


def test_preflight_returns_what_the_groups_read_also_for_a_resumed_run() -> None:
    status = {
        "flows": [{"name": "P->B", "source": "P", "target": "B", "verdict": "PROVEN", "reason": "r", "partitions": []}],
        "groups": [{**row("T", 0, None, True), "state": "STABLE", "members": "c"}],
        "out_of_scope": [],
        "undeclared_topics": [],
        "missing": [],
        "unjoined": [],
        "undeclared_groups": [],
        "open_transactions": [],
    }
    for run in (None, {"id": "r", "type": "cutoff", "to": "B", "pnr": None, "ended": None}):
        state = {"active": "P", "run": run, "interrupted": run is not None}
        assert judge_cutover(status, state, "cutoff", "B")["reads"] == {"g": {"T": [0]}}


# ---- random worlds


class Observed:
    """A world as a run observes it: preflight and drain with members, the barrier without."""

    def __init__(self, world: ReadingWorld, policy: str) -> None:
        self.world = world
        names = [topic.name for topic in world.topics]
        kafka: Any = SimpleNamespace(seen_settings=frozenset(), seen_topics=dict[str, Any]())
        for topic in world.topics:
            kafka.seen_topics[topic.name] = TopicState(topic.name, "id", topic.partitions, 1)
        kafka.seen_topics |= {f"B.{name}": None for name in names}
        spec = PairSpec.of({"clusters": {"P": {}, "B": {}}, "topics": names, "groups": ["g"], "policy": policy})
        engine: Any = SimpleNamespace(application=None)
        self.pair = Pair(spec, [("P", "B")], opened=Opened({"P": kafka, "B": kafka}, engine))

    def status(self, moment: int, reads: Reads) -> GroupStatus:
        owned = [key for topic, key in self.world.partitions() if topic.assigned(moment)]
        members = (Member("m", "c", "/h", None, tuple(owned)),) if owned else ()
        state = GroupState("g", "STABLE" if members else "EMPTY", members=members)
        commits = {
            key: offset for topic, key in self.world.partitions() if (offset := topic.committed(moment)) is not None
        }
        ranges = {key: (0, topic.end(moment)) for topic, key in self.world.partitions()}
        names = {topic.name for topic in self.world.topics}

        def has_data_after(places: Any) -> Any:
            return {(key, offset): offset < ranges[key][1] for key, offset in places}

        groups = ({"g": state}, {"g": commits})
        return group_statuses(self.pair, "P", names, groups, ranges, has_data_after, reads=reads)["g"]

    def reads(self, moment: int) -> Reads:
        status = {"groups": group_rows("P", "g", self.status(moment, {})), "out_of_scope": []}
        return reads_of(status, "P")


@pytest.mark.parametrize("policy", ["default", "identity"])
def test_no_partition_that_a_group_has_read_is_left_to_auto_offset_reset(policy: str) -> None:
    """At the barrier, each one gets an offset at or before the first unread record, or the run is refused."""
    empty = late = forgotten = 0
    for seed in range(500):
        world = reading_world(Random(seed))
        observed = Observed(world, policy)
        moments = range(MOMENTS.index("barrier"))
        reads = joined(*(observed.reads(moment) for moment in moments))
        status = observed.status(MOMENTS.index("barrier"), reads)
        naive = observed.status(MOMENTS.index("barrier"), {})
        forgotten += set(topics_of(observed.pair, "g", "P", naive.used)) != {t.name for t in world.topics if t.read}
        scope = set(topics_of(observed.pair, "g", "P", status.used))
        assert scope == {topic.name for topic in world.topics if topic.read}, seed
        for topic, key in world.partitions():
            if not topic.read:
                continue
            end = topic.end(MOMENTS.index("barrier"))
            left = Side(status.commits.get(key), 0, end, status.read_to_end[key])
            translated = None if left.commit is None else Translated(left.commit, "content", 0)
            target = enter_same(left, Side(None, 0, end), True, TenurePlace(0), translated)
            first_unread = topic.committed(MOMENTS.index("barrier")) or 0
            if topic.refused:
                assert target.offset is None, (seed, key)
            else:
                assert (target.offset, target.quality) == (first_unread, "exact"), (seed, key, target)
                empty += end == 0
                late += end > 0 and first_unread == 0
    assert empty > 200
    assert late > 50
    # Committed offsets and assignments at the barrier alone omit topics.
    assert forgotten > 100


@pytest.mark.parametrize(
    ("state", "assigned", "offset", "named"),
    [
        ("STABLE", [Partition("T0", 0)], 3, ("T1",)),
        ("STABLE", [Partition("T0", 0)], 5, ()),  # Nothing is left to read there.
        ("STABLE", [Partition("T0", 0), Partition("T1", 0)], 3, ()),
        ("EMPTY", [], 3, ()),
        ("PREPARING_REBALANCING", [], 3, ()),
    ],
)
def test_unread_topics_that_no_member_is_assigned_are_observed(
    state: str, assigned: list[Partition], offset: int, named: tuple[str, ...]
) -> None:
    topics = [ReadTopic(name, 1, read_from=0, written_from=-1, commits=True) for name in ("T0", "T1")]
    pair = Observed(ReadingWorld(topics), "identity").pair
    members = (Member("m", "c", "/h", None, tuple(assigned)),) if assigned else ()
    commits = {Partition("T0", 0): 5, Partition("T1", 0): offset}
    ranges = dict.fromkeys(commits, (0, 5))
    groups = ({"g": GroupState("g", state, members=members)}, {"g": commits})
    found = group_statuses(pair, "P", {"T0", "T1"}, groups, ranges, lambda places: dict.fromkeys(places, True))
    assert found["g"].unassigned == named


# ---- coverage


def test_every_partition_with_an_offset_must_be_assigned() -> None:
    entered = {"g": {T0: 1, T1: 2, REPLICA: 0}, "h": {T0: 0}}
    assert unassigned(entered, {"g": {T0, T1, REPLICA}, "h": {T0, T1}}, {}) == {}
    assert unassigned(entered, {"g": {T0, T1}, "h": {T0}}, {}) == {"g": [REPLICA]}
    assert unassigned(entered, {"g": {T0, REPLICA}}, {}) == {"g": [T1], "h": [T0]}
    # Without any evidence that the group reads it, a topic of a disaster need not be assigned.
    assert unassigned(entered, {"g": {T0, T1}, "h": {T0}}, {"g": ["P.T"], "h": ["U"]}) == {}


def test_unassigned_topics_are_named_with_the_offsets_that_are_left() -> None:
    ranges = {T0: (0, 5), T1: (0, 9), REPLICA: (0, 8)}
    text = unassigned_text({"g": [REPLICA, T0, T1]}, {"g": {T0: 5, T1: 4, REPLICA: 0}}, ranges)
    named = "P.T (1 partitions, 8 offsets unread), T (2 partitions, 5 offsets unread)"
    assert text == f'no member of the group "g" is assigned {named}'
