# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Worlds of one partition, from chunks to verdicts, compared with simple counting: all damage is found and none is
invented.

A world is a source, a replica as MirrorMaker 2 writes it (runs are sent again after a restart), retention on either
cluster, and damage. Records are numbers; offsets are indexes.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import share
from kafka_dr_audit import level1, level2, verdict
from kafka_dr_audit.brokers import TopicDescription
from kafka_dr_audit.chunks import Chunker, Chunks, mixed
from kafka_dr_audit.differences import FOREIGN, Records, Region, Rules, classify
from kafka_dr_audit.level1 import Half, PartitionPair
from kafka_dr_audit.plan import CommittedOffsets, PlannedPartition, PlannedRange, Topic, TopicSide
from kafka_dr_audit.resends import SMALL
from kafka_dr_audit.snapshot import ReadRange, Scope

CHUNK = 8
SETTINGS = {
    "cleanup.policy": "delete",
    "message.timestamp.type": "CreateTime",
    "retention.ms": "-1",
    "retention.bytes": "-1",
}


@dataclass
class World:
    """``left``, ``right``: record numbers. ``start``: how many records the source has deleted from its head."""

    left: list[int]
    right: list[int]
    start: int = 0
    committed_offsets: list[CommittedOffsets] = field(default_factory=list)
    budget: int = 400_000
    untimed: set[int] = field(default_factory=set)  # Records of the source that have no timestamp.
    retimed: set[int] = field(default_factory=set)  # Records whose copies have a wrong one.
    cut: int | None = None  # Both logs are compared from this cut on, and the flow had stored this offset (R50).

    def stamps(self, name: str) -> np.ndarray:
        """The timestamp of each record in milliseconds. The copy of a record without one has the replication time."""
        numbers = self.left if name == "source" else self.right
        if name == "source":
            return np.asarray([-1 if n in self.untimed else n for n in numbers], dtype=np.int64)
        times = [5_000 + at if n in self.untimed | self.retimed else n for at, n in enumerate(numbers)]
        return np.asarray(times, dtype=np.int64)

    def whole(self, name: str) -> np.ndarray:
        """Fingerprints of all fields, including the timestamp."""
        content = words(self.left if name == "source" else self.right)
        return mixed(content ^ mixed(self.stamps(name).view(np.uint64)))


def words(numbers: list[int]) -> np.ndarray:
    return mixed(np.asarray(numbers, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(99))


def half(world: World, name: str, watched: set[int]) -> Half:
    whole = world.whole(name)
    chunker = Chunker(CHUNK, sorted(watched | {len(whole)}), len(whole))
    offsets = np.arange(len(whole), dtype=np.int64)
    chunker.feed(offsets, offsets, whole)
    chunker.finish()
    return Half(Chunks.of(chunker.rows), 0, dict(chunker.ranks))


def glance(world: World, name: str, watched: set[int]) -> Half:
    """The rows by rank as Spark returns them."""
    numbers = world.whole(name)
    index = np.arange(len(numbers))
    placed = mixed(numbers + (index % CHUNK).astype(np.uint64))
    begins = np.arange(0, len(numbers), CHUNK)
    counts = np.diff(begins, append=len(numbers))
    digests = np.bitwise_xor.reduceat(placed, begins) if len(numbers) else placed
    ends = begins + counts - 1
    runs = Chunks.of(list(zip(begins, ends, counts, digests.tolist(), begins, ends, strict=True)))
    ranks, gaps = level1._ranks(runs, watched)
    assert gaps is None
    return Half(runs, 0, ranks)


def records(spec: level2.Spec, name: str, world: World) -> Records:
    numbers = world.left if name == "source" else world.right
    index = np.concatenate([np.arange(piece.start, min(piece.end, len(numbers))) for piece in spec.pieces[name]])
    ranks = [
        np.arange(piece.rank, piece.rank + max(0, min(piece.end, len(numbers)) - piece.start))
        for piece in spec.pieces[name]
    ]
    index = index.astype(np.int64)
    found = words(numbers)[index]
    none = np.zeros(len(index), np.bool_)
    parts = world.stamps(name)[index], world.whole(name)[index]
    return Records(np.concatenate(ranks).astype(np.int64), index, *parts, found, found, found, none, none)


def audited(world: World) -> dict[str, object]:
    """The document of the one topic, through everything that the program does except reading."""
    begin = None if world.cut is None else 0
    part = PlannedPartition(0, PlannedRange(begin, None), PlannedRange(begin, None), None, world.cut)
    sides = [TopicSide(alias, "T", None, False) for alias in ("P", "B")]
    topic = Topic(
        "T",
        *sides,
        "complete",
        "read_committed",
        "at_least_once",
        False,
        False,
        True,
        (),
        (part,),
        tuple(world.committed_offsets),
        world.cut is not None,
    )
    spans = {
        ("source", 0): ReadRange(0, len(world.left), len(world.left), 0),
        ("target", 0): ReadRange(0, len(world.right), len(world.right), 0),
    }
    scope = Scope(topic, TopicDescription("a", 1, SETTINGS), TopicDescription("b", 1, SETTINGS), spans=spans)
    watched = {
        name: set().union(*(committed_offset.watched(name) for committed_offset in world.committed_offsets))
        for name in ("source", "target")
    }
    if world.start:
        # Ranks count from the compared range. The log start only shows how many records were deleted before it.
        begin = world.start if world.cut is not None else 0
        scope.spans["source", 0] = replace(scope.spans["source", 0], log_start=world.start, begin=begin)
    pair = level1._pair(scope, 0, *(glance(world, name, watched[name]) for name in ("source", "target")))
    if level1._shifted(pair, CHUNK):
        pair = level1._pair(scope, 0, *(half(world, name, watched[name]) for name in ("source", "target")))
    compared = level2.Compared(scope, [pair])
    if not world.budget:
        return verdict._topic(scope, compared, (), 5)
    specs = level2._specs([pair], {scope: compared}, world.budget)
    regions = [level2._region(spec, records(spec, "source", world), records(spec, "target", world)) for spec in specs]
    compared.differences, compared.aligned = classify(regions, Rules())
    if any(item.kind == FOREIGN for item in compared.differences):
        origins = {int(word): (n, n) for n, word in enumerate(world.whole("source").tolist())}
        regions = [replace(region, origins=origins) for region in regions]
        compared.differences, compared.aligned = classify(regions, Rules())
    covered(pair, specs, regions)
    return verdict._topic(scope, compared, (), 5)


def covered(pair: PartitionPair, specs: list[level2.Spec], regions: list[Region]) -> None:
    """Check that every chunk is equal, read again or counted, and that no regions overlap."""
    spans = sorted((spec.gap.left, spec.gap.left_end, spec.gap.right, spec.gap.right_end) for spec in specs)
    for before, after in itertools.pairwise(spans):
        assert before[1] <= after[0]
        assert before[3] <= after[2]
    for gap in pair.gaps:
        assert any(span[0] <= gap.left and gap.left_end <= span[1] for span in spans)


def unnamed(world: World) -> dict[str, object]:
    """The result before anything is read again."""
    return audited(replace(world, budget=0))


def kinds(found: dict[str, object]) -> dict[str, int]:
    return {item["kind"]: item["records"] for item in found["classes"]}


@st.composite
def healthy(draw: st.DrawFn, most: int = 300) -> World:
    """A healthy replica: restarts send again the records after the last stored offset."""
    count = draw(st.integers(1, most))
    right = list(range(count))
    cursor: list[int] = []
    for _other in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, count))
        back = draw(st.integers(0, at))
        cursor.append((at, back))
    out: list[int] = []
    committed_offset = 0
    for at, back in sorted(cursor):
        if at < committed_offset:
            continue
        out += right[committed_offset:at]
        # Together no more than crashes explain. More than that has a test of its own.
        committed_offset = max(min(back, at), at - (SMALL - (len(out) - at)))
    out += right[committed_offset:]
    start = draw(st.sampled_from([0, 0, draw(st.integers(0, count))]))
    return World(list(range(start, count)), out, start)


@settings(max_examples=share(400))
@given(healthy())
def test_a_healthy_pair_raises_no_alarm(world: World) -> None:
    found = audited(world)
    assert found["verdict"] == "PROVEN", found["classes"]
    assert set(kinds(found)) <= {"DUPLICATE", "EXPIRED"}
    known = Counter(number for number in world.right if number >= world.start)
    if not world.start:
        assert kinds(found).get("DUPLICATE", 0) == sum(known.values()) - len(known)


@settings(max_examples=share(50))
@given(st.integers(SMALL + 1, 3 * SMALL), st.integers(0, SMALL // 2))
def test_a_flow_that_replicated_everything_again_is_refuted(count: int, new: int) -> None:
    """R33: the second pass begins at the first record and continues with new records."""
    everything = list(range(count + new))
    found = audited(World(everything, [*everything[:count], *everything], 0))
    assert (found["verdict"], kinds(found)) == ("REFUTED", {"DUPLICATE": count})
    assert f"{count} second copies" in str(found["classes"])


@settings(max_examples=share(200))
@given(healthy(), st.sets(st.integers(0, 299), max_size=80), st.data())
def test_records_without_a_timestamp_are_reported_as_such(world: World, untimed: set[int], data: st.DataObject) -> None:
    """They are neither altered nor lost, with or without resends.

    A committed offset among them is judged by the copies.
    """
    world.untimed = untimed
    if not world.start:
        stands, goes_on = (data.draw(st.integers(0, len(log))) for log in (world.left, world.right))
        world.committed_offsets = [CommittedOffsets("g", 0, "source", stands, goes_on, None)]
    found = audited(world)
    assert set(kinds(found)) <= {"DUPLICATE", "EXPIRED", "RETIMED", "FOREIGN"}, world
    assert kinds(found).get("RETIMED", 0) == len(untimed & set(world.left))
    # Sent again, and deleted on the source since: it is no longer visible that the record had no timestamp.
    if untimed & set(range(world.start)):
        return
    assert "FOREIGN" not in kinds(found), world
    assert {item["verdict"] for item in found["classes"]} <= {"PROVEN"}
    for judged in found["committed_offsets"]:
        skipped = set(world.left[stands:]) - set(world.right[goes_on:])
        assert (
            (judged["verdict"], judged["records"]) == ("SKIP", len(skipped)) if skipped else judged["verdict"] != "SKIP"
        ), world


@settings(max_examples=share(150))
@given(st.integers(1, 200), st.sets(st.integers(0, 199), max_size=60), st.sets(st.integers(0, 199), max_size=4))
def test_a_changed_timestamp_that_should_have_been_kept_is_altered(
    count: int, untimed: set[int], wrong: set[int]
) -> None:
    wrong = {number for number in wrong - untimed if number < count}
    found = audited(World([*range(count)], [*range(count)], untimed=untimed, retimed=wrong))
    assert kinds(found).get("CORRUPT", 0) == len(wrong)
    assert kinds(found).get("RETIMED", 0) == len({number for number in untimed if number < count})
    assert found["verdict"] == ("REFUTED" if wrong else "PROVEN")


@settings(max_examples=share(400))
@given(healthy(), st.sets(st.integers(0, 299), min_size=1, max_size=6))
def test_every_record_without_a_copy_is_lost(world: World, gone: set[int]) -> None:
    lost = gone & set(world.left)
    world.right = [number for number in world.right if number not in gone]
    found = audited(world)
    # If the source has lost its head, an altered record there looks like a missing one. And the second copy of a
    # distant record at the place of a missing one looks like that record altered.
    unclear = bool(world.start) or len(set(world.right)) < len(world.right)
    assert kinds(found).get("LOST", 0) + (kinds(found).get("CORRUPT", 0) if unclear else 0) == len(lost), world
    assert found["verdict"] == ("REFUTED" if lost else "PROVEN")


@settings(max_examples=share(300))
@given(healthy(), st.data())
def test_a_foreign_record_is_found(world: World, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(world.right)))
    world.right.insert(at, 10_000)
    found = audited(world)
    if world.start and at <= world.right.index(max(world.left, default=0)):
        return  # At the head, where the source has deleted records, it looks like one of those.
    assert found["verdict"] == "REFUTED", found["classes"]


@settings(max_examples=share(600))
@given(healthy(), st.data())
def test_an_offset_is_reported_to_skip_exactly_if_counting_agrees(world: World, data: st.DataObject) -> None:
    world.left, world.start = list(range(max(world.right) + 1)), 0
    stands = data.draw(st.integers(0, len(world.left)))
    goes_on = data.draw(st.integers(0, len(world.right)))
    own = data.draw(st.one_of(st.just(0), st.integers(0, len(world.right))))
    world.committed_offsets = [CommittedOffsets("g", 0, "source", stands, goes_on, own)]
    found = audited(world)
    (judged,) = found["committed_offsets"]
    # An own offset may be that of a group which was set back since (R39).
    skipped = set(world.left[stands:]) - set(world.right[goes_on:])
    assert (judged["verdict"] == "SKIP") == bool(skipped), (world, judged)
    if skipped:
        assert judged["records"] == len(skipped)
    elif judged["verdict"] == "EXACT":
        safe = [
            at for at in range(goes_on, len(world.right) + 1) if not set(world.left[stands:]) - set(world.right[at:])
        ]
        later = max(safe)
        assert later == goes_on or not set(world.right[goes_on:later]) & set(world.left[:stands]), (world, judged)


@settings(max_examples=share(300))
@given(healthy(), st.data())
def test_an_offset_in_the_reverse_direction_is_reported_to_skip_exactly_if_counting_agrees(
    world: World, data: st.DataObject
) -> None:
    """The replica has no second copies: exactly the records below the committed offset there were read."""
    world.right = sorted(set(world.right))
    world.left, world.start = list(range(len(world.right) + data.draw(st.integers(0, 20)))), 0
    gone = data.draw(st.sets(st.integers(0, 299), max_size=3))
    world.right = [number for number in world.right if number not in gone]
    stands = data.draw(st.integers(0, len(world.right)))
    goes_on = data.draw(st.integers(0, len(world.left)))
    own = data.draw(st.one_of(st.just(0), st.integers(0, len(world.left))))
    world.committed_offsets = [CommittedOffsets("g", 0, "target", goes_on, stands, own)]
    (judged,) = audited(world)["committed_offsets"]
    ahead = min(world.right[stands:], default=max(world.right[:stands], default=-1) + 1)
    # A group that was set back since, before its own offset, gets nothing from that (R39).
    read = own if not world.right[stands:] or own <= ahead else 0
    skipped = set(range(max(ahead, read), goes_on))
    assert (judged["verdict"] == "SKIP") == bool(skipped), (world, judged)


@settings(max_examples=share(200))
@given(healthy(), st.sets(st.integers(0, 299), max_size=4), st.integers(8, 80))
def test_a_small_budget_never_turns_damage_into_a_proof(world: World, gone: set[int], budget: int) -> None:
    lost = gone & set(world.left)
    world.right = [number for number in world.right if number not in gone]
    world.budget = budget
    found = audited(world)
    if lost:
        assert found["verdict"] != "PROVEN", found["classes"]
    else:
        assert found["verdict"] != "REFUTED", found["classes"]


@pytest.mark.parametrize(
    "world",
    [
        World(list(range(1, 21)), [*range(21), *range(3)], start=1),
        World(list(range(1, 24)), [*range(24), *range(1, 18)], start=1),
        World(list(range(5, 20)), [*range(20), *range(1, 13)], start=5),
        World(list(range(146, 152)), [*range(152), *range(147, 152)], start=146),
    ],
    ids=["foreign", "reordered", "lost", "corrupt"],
)
def test_beside_unread_ranges_nothing_is_refuted(world: World) -> None:
    """A healthy flow has resends whose first copies are in runs of the target that were too long to be read."""
    for world.budget in (8, 32):
        assert audited(world)["verdict"] != "REFUTED"
    world.budget = 400_000
    assert audited(world)["verdict"] == "PROVEN"


def test_an_unexplained_difference_is_never_proven() -> None:
    """The log may change between the two passes so that the second one shows no difference."""
    world = World(list(range(200)), [*range(50), *range(51, 200)])
    assert audited(world)["verdict"] == "REFUTED"
    assert unnamed(world)["verdict"] == "UNKNOWN"


@st.composite
def since_the_cut(draw: st.DrawFn) -> tuple[World, int, set[int], int]:
    """The log that a flow writes to since the cut, with how many records it sent again, and those of another producer.

    They are records that the source lacks, and the number of those that equal a record of the source.
    """
    count = draw(st.integers(1, 120))
    right = list(range(count))
    again = 0
    if draw(st.booleans()):
        at = draw(st.integers(1, count))
        again = draw(st.integers(1, at))
        right[at:at] = right[at - again : at]
    new = set(range(10_000, 10_000 + draw(st.sampled_from([0, 0, 1, 3]))))
    equal = draw(st.lists(st.integers(0, count - 1), max_size=draw(st.sampled_from([0, 0, 2]))))
    for number in (*new, *equal):
        right.insert(draw(st.integers(0, len(right))), number)
    return World(list(range(count)), right, cut=1), again, new, len(equal)


@settings(max_examples=share(400))
@given(since_the_cut())
def test_only_the_flow_wrote_since_the_cut_exactly_if_no_record_is_left_over(
    drawn: tuple[World, int, set[int], int],
) -> None:
    """R50: one record of another producer is never PROVEN, also if it equals one of the source."""
    world, again, new, equal = drawn
    found = audited(world)["written_by_flow"]
    if new:
        # A new record beside a second copy of a far one may look like a record that was altered.
        altered = bool(again or equal)
        assert found["verdict"] in ("REFUTED", "UNKNOWN") if altered else found["verdict"] == "REFUTED", found
    else:
        assert found["verdict"] == ("UNKNOWN" if again or equal else "PROVEN"), found


@settings(max_examples=share(100))
@given(st.integers(1, 60), st.integers(1, 200), st.integers(1, 100), st.sampled_from([400_000, 16]))
def test_what_the_source_deleted_before_the_cut_hides_no_record_after_it(
    count: int, deleted: int, foreign: int, budget: int
) -> None:
    """The first records after the cut look like some that the source deleted after they were replicated."""
    log = list(range(count))
    world = World(log, [*range(10_000, 10_000 + foreign), *log], deleted, budget=budget, cut=deleted + 1)
    assert audited(world)["written_by_flow"]["verdict"] != "PROVEN"
    assert "EXPIRED" not in kinds(audited(world))
    if budget > 2 * (count + foreign):
        assert audited(world)["written_by_flow"]["verdict"] == "REFUTED"
    assert audited(World(log, log, deleted, cut=deleted + 1))["written_by_flow"]["verdict"] == "PROVEN"


@settings(max_examples=share(100))
@given(since_the_cut(), st.sampled_from([None, 0]))
def test_without_stored_progress_nothing_is_known_to_be_the_flows(
    drawn: tuple[World, int, set[int], int], stored: int | None
) -> None:
    """The flow may stand still, and another tool may write the same records."""
    world, _again, new, _equal = drawn
    world.cut = stored
    if stored is None:
        assert audited(world)["written_by_flow"] is None
    elif not new:
        assert audited(world)["written_by_flow"]["verdict"] == "UNKNOWN"


@settings(max_examples=share(200))
@given(since_the_cut(), st.integers(8, 80))
def test_a_small_budget_never_proves_that_only_the_flow_wrote(
    drawn: tuple[World, int, set[int], int], budget: int
) -> None:
    world, again, new, equal = drawn
    world.budget = budget
    found = audited(world)["written_by_flow"]
    assert (found["verdict"] == "PROVEN") == (not again and not new and not equal), found
