# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records that only the source has: the range contains the true number in every world, and is exact for unique records.

The worlds count only because rules that are known to be wrong are wrong in some of them.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.names import naming_of
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.replication_gates import PartitionFacts
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.unreplicated import (
    Log,
    ReplicaEnd,
    Seen,
    Unreplicated,
    bounded,
    never_replicated,
    place,
    placed,
    records_after,
    shares,
    unplaced,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.records import (
    EXHAUSTED,
    TIMEOUT,
    RangeRead,
    Reading,
    Record,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation import unreplicated as module
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation.flows import FlowObservation
from effort import share

# As in test_translation_worlds. The normal run has 5,000 worlds.
COUNT = share(5_000, least=500)
FIRST = int(os.environ.get("KAFKA_DR_WORLD_SEED", "0"))
KEY = Partition("t", 0)

Range = tuple[int, int]
Many = dict[Any, Any]


def seen(text: str, begin: int = 0, reached: int | None = None) -> Seen:
    """Records of one letter each; a dot is an offset without a record. Timestamps are offsets in seconds."""
    offsets = [begin + index for index, one in enumerate(text) if one != "."]
    fingerprints = [one.encode() for one in text if one != "."]
    end = begin + len(text) if reached is None else reached
    return Seen(begin, end, offsets, fingerprints, [1000 * offset for offset in offsets])


# ---- how much to read


@given(st.lists(st.integers(0, 200), max_size=20), st.integers(0, 1000))
def test_a_budget_is_used_up_shared_fairly_and_never_exceeded(sizes: list[int], budget: int) -> None:
    needs = dict(enumerate(sizes))
    given_out = shares(needs, budget)
    assert set(given_out) == set(needs)
    assert all(0 <= given_out[key] <= needs[key] for key in needs)
    assert sum(given_out.values()) <= budget
    # A larger need gets no less than a smaller one, except for a remainder that cannot be divided.
    short = [key for key in needs if given_out[key] < needs[key]]
    assert all(given_out[key] + 1 >= max(given_out.values()) for key in short)
    if short:
        assert sum(given_out.values()) == budget


def test_a_span_that_is_too_long_begins_at_the_last_replicated_offset() -> None:
    spans = {"long": (0, 1000), "short": (5, 15), "unknown": (0, 1000), "empty": (9, 3)}
    parts = bounded(spans, {"long": 900, "short": 9, "empty": 1}, 210)
    # The short span fits and keeps its records. The unknown one gets the rest that the long one does not need.
    assert parts == {"long": (900, 1000), "short": (5, 15), "unknown": (0, 100), "empty": (9, 9)}


def test_if_everything_fits_nothing_is_left_out() -> None:
    spans = {"a": (0, 50), "b": (10, 60)}
    assert bounded(spans, {"a": 40, "b": 50}, 100) == spans


SPANS = st.dictionaries(
    st.integers(0, 5), st.tuples(st.integers(0, 20), st.integers(0, 20)).map(lambda ends: (min(ends), max(ends)))
)


@given(SPANS, st.dictionaries(st.integers(0, 5), st.none() | st.integers(0, 30)), st.integers(0, 60))
def test_what_is_read_fits_the_budget_and_is_divided_fairly(
    spans: dict[int, tuple[int, int]], floors: dict[int, int | None], budget: int
) -> None:
    parts = bounded(spans, floors, budget)
    sizes = {key: end - begin for key, (begin, end) in spans.items()}
    assert sum(end - begin for begin, end in parts.values()) <= budget
    for key, (begin, end) in spans.items():
        low, high = parts[key]
        assert begin <= low <= high <= end
        # What is below the floor of a long span is known.
        assert low in (begin, max(begin, min(end, floors.get(key) or 0)))
        assert high - low >= min(end - low, budget // len(spans))
        if sum(sizes.values()) <= budget:
            assert (low, high) == (begin, end)
        elif sizes[key] > budget:
            assert low == max(begin, min(end, floors.get(key) or 0))


# ---- one partition


@pytest.mark.parametrize(
    ("text", "last_replicated_offset", "expected"),
    [
        ("abcd", None, ReplicaEnd(1, 1)),
        ("aacd", None, None),
        ("bacb", None, ReplicaEnd(0, 3)),
        ("babb", 2, ReplicaEnd(2, 3)),  # N is after the first one, and there is data between them.
        ("ab..", 3, ReplicaEnd(1, 1)),  # There is no other data up to N: the flow was seeded after a marker.
        ("abcd", 2, ReplicaEnd(1, 1, doubted=True)),
    ],
)
def test_the_end_of_the_replica_is_found_by_content_within_the_bounds_of_n(
    text: str, last_replicated_offset: int | None, expected: ReplicaEnd | None
) -> None:
    assert place(Log(0, 4, last_replicated_offset), seen(text), b"b", 0) == expected


@pytest.mark.parametrize(("last_replicated_offset", "first"), [(None, 3), (2, 3), (3, 3), (4, 4), (5, None), (6, None)])
def test_an_equal_record_may_have_been_deleted_unless_n_excludes_it(
    last_replicated_offset: int | None, first: int | None
) -> None:
    """The log begins at 4, with a marker. Only an existing, replicated record comes after the deleted ones."""
    log, read = Log(4, 8, last_replicated_offset), seen(".abb", 4)
    found = place(log, read, b"b", 4)
    if first is None:
        assert found == ReplicaEnd(6, 7)
        return
    assert found == ReplicaEnd(first, 7, unseen=True)
    row = placed(KEY, log, read, found, False)
    assert (row.least, row.most) == (0, 3)
    assert "deleted or was not read" in row.reason


def test_an_equal_record_may_be_at_n_if_reading_began_there() -> None:
    """Reading began at N, and N was a marker: the last replicated record is before it."""
    assert place(Log(0, 8, 4), seen(".abb", 4), b"b", 2) == ReplicaEnd(4, 7, unseen=True)
    assert place(Log(0, 8, 4), seen("abb", 5), b"b", 2) == ReplicaEnd(6, 7)
    # It did not begin at N but at an offset before which no record is equal: the marker there does not matter.
    assert place(Log(0, 8, 4), seen(".abb", 4), b"b", 4) == ReplicaEnd(6, 7)


def test_records_are_counted_and_offsets_are_not() -> None:
    """After the second record there are two more, a marker and an aborted one."""
    log, read = Log(0, 6, None), seen("ab.c.d")
    assert list(records_after(log, read, ReplicaEnd(1, 1))) == [2, 3]
    assert placed(KEY, log, read, ReplicaEnd(1, 1), False) == Unreplicated("t", 0, 2, 2, 3.0, "")
    assert not records_after(log, read, ReplicaEnd(5, 5))
    assert placed(KEY, log, read, ReplicaEnd(5, 5), None) == Unreplicated("t", 0, 0, 0, None, "")


def test_records_written_after_the_end_was_read_are_not_counted() -> None:
    log, read = Log(0, 3, None), seen("abcdef")
    assert placed(KEY, log, read, ReplicaEnd(1, 1), False) == Unreplicated("t", 0, 1, 1, 2.0, "")
    assert placed(KEY, log, read, ReplicaEnd(4, 4), None) == Unreplicated("t", 0, 0, 0, None, "")
    assert not records_after(log, read, ReplicaEnd(2, 2))


@pytest.mark.parametrize(
    ("found", "held", "least", "message"),
    [
        (ReplicaEnd(0, 2), False, 1, "several source records equal the replica's last record"),
        (ReplicaEnd(1, 1), True, 0, "replicated again, or records repeat"),
        (ReplicaEnd(1, 1), None, 0, "the read limit was reached"),
        (ReplicaEnd(1, 1, doubted=True), False, 0, "ends before the flow's stored offset 3"),
    ],
)
def test_an_uncertain_number_is_a_range_with_its_reason(
    found: ReplicaEnd, held: bool | None, least: int, message: str
) -> None:
    row = placed(KEY, Log(0, 4, 3), seen("abcd"), found, held)
    assert (row.least, row.most) == (least, 3 - found.first)
    assert row.event_time == found.first + 1.0
    assert message in row.reason


def test_an_unread_range_counts_as_offsets() -> None:
    log, read = Log(0, 100, None), seen("ab.c")
    assert placed(KEY, log, read, ReplicaEnd(0, 0), False) == Unreplicated(
        "t", 0, 2, 98, 1.0, "96 offsets were not read"
    )
    assert never_replicated(KEY, log, read) == Unreplicated("t", 0, 3, 99, 0.0, "96 offsets were not read")


def test_without_a_place_every_record_after_n_counts() -> None:
    row = unplaced(KEY, Log(0, 6, 2), seen("abc.ef"), "not found")
    assert row == Unreplicated("t", 0, 0, 2, 4.0, "not found; all records after the flow's stored offset 2 are counted")
    row = unplaced(KEY, Log(2, 6, None), seen("cdef", 2), "not found")
    assert row == Unreplicated(
        "t",
        0,
        0,
        4,
        2.0,
        "not found; all records after the log start (the flow's stored offset is unknown) are counted",
    )
    # Only markers are left, so the number is certain for every end of the replica.
    assert unplaced(KEY, Log(0, 6, 2), seen("abc..."), "not found") == Unreplicated("t", 0, 0, 0, None, "")


def test_the_first_record_has_no_time_if_an_older_one_may_be_unread() -> None:
    row = unplaced(KEY, Log(0, 6, 0), seen("ef", 4), "not found")
    assert (row.most, row.event_time) == (5, None)


# ---- worlds


@dataclass
class WorldLog:
    """A log: only data records, and the offsets that they and other entries take."""

    start: int = 0
    end: int = 0
    records: list[Record] = field(default_factory=list)

    def add(self, stamp: int, value: bytes, kind: str = "CreateTime") -> int:
        self.records.append(Record(self.end, stamp, kind, None, value, ()))
        self.end += 1
        return self.end - 1

    def data(self, span: Range) -> list[Record]:
        return [one for one in self.records if max(self.start, span[0]) <= one.offset < min(self.end, span[1])]


class World:
    """One partition that is written and replicated, also between the observations of it.

    ``origins``: the records that were ever replicated, and the offset of the newest copy of each.
    """

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        chosen = (
            "repeats",
            "markers",
            "resends",
            "disorder",
            "foreign_writes",
            "expired",
            "busy",
            "slow",
            "tight",
            "broker_time",
            "untimed",
            "broker_time_changes",
            "recreated",
        )
        self.kinds = {kind for kind in chosen if self.dice.random() < 0.2}
        self.source, self.replica = WorldLog(), WorldLog()
        self.origins: dict[int, int] = {}
        self.next, self.noted, self.number = 0, -1, 0
        for _step in range(self.dice.randrange(60)):
            self.step()
        if self.dice.random() < 0.5:
            while self.next < self.source.end:
                self.copy()
        if self.dice.random() < 0.3:
            for _step in range(self.dice.randrange(6)):
                self.write()
        if "foreign_writes" in self.kinds and self.replica.end:
            self.replica.add(self.number, b"foreign_writes")
        if "expired" in self.kinds:
            self.source.start = self.dice.randint(0, self.source.end)
            self.replica.start = self.dice.randint(0, self.replica.end)
        known = self.noted if self.noted >= 0 else None
        data_after = bool(self.source.data((self.noted + 1, self.source.end))) if self.dice.random() < 0.5 else None
        if "recreated" in self.kinds:
            # The stored offset is about an earlier log with a higher end.
            known, data_after = self.source.end + 20, None
        self.facts = PartitionFacts(self.source.start, self.source.end, known, data_after)
        self.truth: set[int] = set()
        self.lacking: set[int] = set()
        self.end = -1

    def step(self) -> None:
        roll = self.dice.random()
        if roll < 0.5:
            self.write()
        elif roll < 0.9:
            self.copy()
        elif roll < 0.95:
            self.noted = max((one for one in self.origins if one < self.next), default=-1)
        elif "resends" in self.kinds:
            self.next = self.noted + 1

    def write(self) -> None:
        if "markers" in self.kinds and self.dice.random() < 0.3:
            self.source.end += 1
            return
        self.number += 0 if "repeats" in self.kinds else 1
        late = self.dice.randrange(8) if "disorder" in self.kinds else 0
        # Several records share a timestamp.
        value = self.dice.choice([b"a", b"b"]) if "repeats" in self.kinds else b"%d" % self.number
        untimed = "untimed" in self.kinds and self.dice.random() < 0.5
        self.source.add(None if untimed else self.number // 3 - late, value)

    def copy(self) -> None:
        if self.next < self.source.end:
            by_broker = "broker_time" in self.kinds
            by_broker = by_broker or ("broker_time_changes" in self.kinds and self.dice.random() < 0.5)
            for one in self.source.data((self.next, self.next + 1)):
                # The replication time may equal that of a later record.
                copying = one.timestamp is None or by_broker
                stamp = self.number // 3 + self.dice.randrange(2) if copying else one.timestamp
                kind = "LogAppendTime" if by_broker else "CreateTime"
                self.origins[one.offset] = self.replica.add(stamp, one.value or b"", kind)
            self.next += 1

    # ---- the answers of the clusters

    def pair(self) -> Any:
        there = {"X.t"} if self.replica.end and self.dice.random() < 0.8 else set()

        def refresh() -> None:
            there.update({"X.t"} if self.replica.end else set())
            self.note()

        return SimpleNamespace(
            kafka={"X": self.source, "Y": self.replica},
            naming=naming_of("default", "."),
            existing=lambda alias, topics: {(topic, 0) for topic in topics if topic in there},
            refresh=refresh,
        )

    def note(self) -> None:
        """The replica is observed now: these are the records that it lacks of the source as it was observed."""
        whole = [one.offset for one in self.source.data((0, self.end))]
        self.truth = {one for one in whole if one not in self.origins}
        self.lacking = {one for one in whole if self.origins.get(one, -1) < self.replica.start}

    def log_ranges(self, side: WorldLog, keys: Iterable[Any], isolation: str) -> Many:
        if "busy" in self.kinds:
            for _step in range(self.dice.randrange(4)):
                self.step()
        if side is self.source and self.end < 0:
            self.end = side.end
        asked = list(keys)
        if side is self.replica and asked:
            self.note()
        return dict.fromkeys(asked, (side.start, side.end))

    def last_data_records(self, side: WorldLog, ranges: Mapping[Any, Range], isolation: str) -> Many:
        return {key: (side.data(span) or [None])[-1] for key, span in ranges.items()}

    def offsets_at(self, side: WorldLog, moments: Mapping[Any, int]) -> Many:
        return {
            key: next((one.offset for one in side.data((0, side.end)) if (one.timestamp or 0) >= moment), None)
            for key, moment in moments.items()
        }

    def read_ranges(self, side: WorldLog, ranges: Mapping[Any, Range], reading: Reading) -> Many:
        found = {}
        for key, (begin, end) in ranges.items():
            cut = self.dice.randint(begin, max(begin, end)) if "slow" in self.kinds else end
            ended = EXHAUSTED if cut >= end else TIMEOUT
            found[key] = RangeRead(begin, end, cut, ended, side.data((begin, cut)))
        return found


def asked(world: World, patch: pytest.MonkeyPatch) -> Unreplicated:
    for name in ("log_ranges", "last_data_records", "offsets_at", "read_ranges"):
        patch.setattr(module, name, getattr(world, name))
    observation = FlowObservation("X", "Y", {}, {KEY: world.facts}, None)
    budget = module.Budget(world.dice.randrange(12) if "tight" in world.kinds else 1000)
    return module.unreplicated(world.pair(), observation, budget)[KEY]


def wrong(seeds: Iterable[int], change: Callable[[pytest.MonkeyPatch], None] | None = None) -> list[str]:
    """The worlds whose true number is not in the range."""
    found = []
    for seed in seeds:
        world = World(seed)
        with pytest.MonkeyPatch.context() as patch:
            if change is not None:
                change(patch)
            row = asked(world, patch)
        # A record that is sent again after its first copy expired was replicated, and is missing.
        if not (row.least <= len(world.lacking) and len(world.truth) <= row.most):
            found.append(f"{seed} {sorted(world.kinds)}: {len(world.truth)} to {len(world.lacking)} in {row}")
    return found


def test_the_range_contains_the_true_number_in_every_world() -> None:
    assert wrong(range(FIRST, FIRST + COUNT))[:5] == []


def test_a_range_has_a_reason_and_unique_records_are_counted_exactly() -> None:
    tally: Counter[str] = Counter()
    for seed in range(FIRST, FIRST + COUNT):
        world = World(seed)
        with pytest.MonkeyPatch.context() as patch:
            row = asked(world, patch)
        exact = row.least == row.most
        assert exact == (row.reason == ""), (seed, row)
        if world.kinds <= {"markers", "disorder", "busy"}:
            assert exact, (seed, world.kinds, row)
            stamps = [one.timestamp or 0 for one in world.source.records if one.offset in world.truth]
            assert row.event_time == (stamps[0] / 1000.0 if stamps else None), (seed, row)
            tally["lacking" if row.most else "nothing"] += 1
    assert min(tally["lacking"], tally["nothing"]) >= COUNT // 40


def never_sends_again(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(module, "placed", lambda key, log, read, found, held: placed(key, log, read, found, False))


def latest_of_equals(patch: pytest.MonkeyPatch) -> None:
    def last(log: Log, read: Seen, fingerprint: bytes, at: int) -> ReplicaEnd | None:
        found = place(log, read, fingerprint, at)
        return None if found is None else replace(found, first=found.last)

    patch.setattr(module, "place", last)


def first_of_equals(patch: pytest.MonkeyPatch) -> None:
    def first(log: Log, read: Seen, fingerprint: bytes, at: int) -> ReplicaEnd | None:
        found = place(log, read, fingerprint, at)
        return None if found is None else replace(found, last=found.first)

    patch.setattr(module, "place", first)
    never_sends_again(patch)


def all_is_replicated_without_a_place(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(module, "unplaced", lambda key, log, read, reason: Unreplicated(*key, 0, 0, None, ""))


@pytest.mark.parametrize(
    "rule", [never_sends_again, latest_of_equals, first_of_equals, all_is_replicated_without_a_place]
)
def test_a_rule_that_is_known_to_be_wrong_is_wrong_in_some_world(rule: Callable[[pytest.MonkeyPatch], None]) -> None:
    assert wrong(range(2000), rule) != []
