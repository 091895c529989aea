# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A stored offset holds only while no record before it was replaced, in many histories of a log (R37)."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import dataclass, field

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.bindings import (
    Binding,
    Bound,
    Witness,
    between,
    binding,
    witness,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.disaster import (
    REPLACED,
    Checkpointed,
    PresyncedOffset,
    Tail,
    is_voided,
    survived,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.tails import Progress
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.tenures import bound_cuts
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.records import Record, digested
from effort import share

KEY = Partition("T", 0)
COUNT = share(5_000, least=500)


@dataclass
class Log:
    """One partition: data records by offset. A marker leaves a gap."""

    draw: random.Random
    records: dict[int, Witness] = field(default_factory=dict)
    start: int = 0
    end: int = 0
    epoch: int = 0
    #: The lowest offset at which the log was ever cut.
    cut_at: int | None = None

    def append(self, count: int) -> None:
        for _record in range(count):
            if self.draw.random() < 0.85:
                # The content alone does not distinguish the records of many logs.
                self.records[self.end] = Witness(self.end, self.epoch, self.draw.choice("xy"))
            self.end += 1

    def expire(self, start: int) -> None:
        self.start = max(self.start, start)
        self.records = {offset: one for offset, one in self.records.items() if offset >= self.start}

    def cut(self, end: int) -> None:
        """An unclean election, or a restart on a disk that was restored: a new leader, and a shorter log."""
        self.end, self.epoch = end, self.epoch + 1
        self.start = min(self.start, end)
        self.records = {offset: one for offset, one in self.records.items() if offset < end}
        self.cut_at = end if self.cut_at is None else min(end, self.cut_at)

    def bound(self, offset: int) -> Bound:
        before = [one for at, one in self.records.items() if at < offset]
        return Bound.of(KEY, offset, [*before[-1:], *list(self.records.values())[-1:]])

    def judge(self, stored: Bound) -> Binding:
        present = {one.offset: self.records.get(one.offset) for one in stored.witnesses}
        low, high = between(stored, self.start)
        data = any(low <= at < high for at in self.records)
        return binding(stored, (self.start, self.end), present, data_between=data)


def test_a_stored_offset_holds_exactly_while_no_record_before_it_was_replaced() -> None:
    counts: Counter[str] = Counter()
    wrong = []
    for seed in range(COUNT):
        draw = random.Random(seed)
        log = Log(draw)
        log.append(draw.randint(0, 30))
        log.expire(draw.choice((0, draw.randint(0, log.end))))
        offset = draw.randint(log.start, log.end)
        stored = log.bound(offset)
        for _step in range(draw.randint(0, 4)):
            step = draw.choice(("append", "expire", "cut", "restart"))
            if step == "append":
                log.append(draw.randint(1, 15))
            elif step == "expire":
                log.expire(draw.randint(log.start, log.end))
            elif step == "cut":
                log.cut(draw.randint(log.start, log.end))
                log.append(draw.randint(0, 20))
            else:
                log.epoch += 1
        held = log.judge(stored)
        intact = log.cut_at is None or log.cut_at >= offset
        counts["intact"] += intact
        counts["cut and filled"] += not intact and log.end >= offset
        readable = any((log.cut_at or 0) <= at < offset for at in log.records)
        # Without a new record before the offset that can be read, no lower offset would deliver more.
        if held.holds and not intact and readable:
            wrong.append(f"seed {seed}: {stored} holds, the log was cut at {log.cut_at}")
        if not held.holds and intact and (log.cut_at is None or not held.replaced):
            wrong.append(f"seed {seed}: {stored} does not hold in an intact log: {held}")
        if held.replaced and log.cut_at is None:
            wrong.append(f"seed {seed}: {stored} is taken for replaced")
        # The same topic id says nothing.
        counts["the id alone"] += not intact and readable and log.end >= offset
    assert wrong[:3] == []
    assert counts["intact"] > COUNT // 4
    assert counts["the id alone"] > COUNT // 20


W10, W19 = Witness(10, 1, "aa"), Witness(19, 1, "bb")


def test_an_offset_is_bound_to_the_last_record_before_it_and_to_later_ones() -> None:
    """R37: an earlier record that is still the same does not show that the last one was replaced."""
    w5 = Witness(5, 1, "cc")
    stored = [W19, w5, W10]
    assert Bound.of(KEY, 12, stored).witnesses == (W10, W19)
    for offset in (5, 10):
        assert Bound.of(KEY, offset, stored).witnesses == (w5, W10, W19)


@pytest.mark.parametrize(
    ("log", "present", "data", "expected"),
    [
        ((0, 30), {10: W10, 19: W19}, None, (True, False)),
        # One of them is enough: no record before the offset was replaced.
        ((0, 30), {10: W10, 19: Witness(19, 2, "bb")}, False, (True, True)),
        ((0, 15), {10: W10}, False, (True, True)),
        ((15, 30), {19: W19}, None, (True, False)),
        ((0, 30), {10: Witness(10, 2, "aa"), 19: None}, None, (False, True)),
        ((0, 8), {}, None, (False, True)),
        ((0, 30), {}, None, (False, False)),
        ((25, 30), {}, False, (True, False)),
        ((25, 25), {}, False, (True, False)),
    ],
)
def test_what_the_witnesses_prove(
    log: tuple[int, int], present: dict[int, Witness | None], data: bool | None, expected: tuple[bool, bool]
) -> None:
    held = binding(Bound(KEY, 11, (W10, W19)), log, present, data_between=data)
    assert (held.holds, held.replaced) == expected
    assert bool(held.reason) == (not held.holds or log[0] >= 25)


def test_a_record_that_compaction_removed_proves_nothing() -> None:
    gone = binding(Bound(KEY, 11, (W10,)), (0, 30), {10: None}, compacted=True)
    assert (gone.holds, gone.replaced) == (False, False)
    other = binding(Bound(KEY, 11, (W10,)), (0, 30), {10: Witness(10, 2, "cc")}, compacted=True)
    assert (other.holds, other.replaced) == (False, True)


def test_a_log_that_was_empty_stays_bound_until_it_has_records_before_the_offset() -> None:
    empty = Bound(KEY, 12, ())
    assert binding(empty, (12, 20), {}, data_between=False).holds
    # Only a marker is before it.
    assert binding(empty, (10, 20), {}, data_between=False).holds
    assert binding(empty, (10, 20), {}, data_between=True).replaced
    assert not binding(empty, (10, 20), {}, data_between=None).holds


def test_a_record_between_the_witness_and_the_offset_is_a_new_one() -> None:
    """A transaction marker was there. The log was cut between both, and filled again."""
    stored = Bound(KEY, 12, (W10,))
    assert [between(stored, start) for start in (0, 11, 12, 20)] == [(11, 12), (11, 12), (12, 12), (20, 20)]
    assert binding(stored, (0, 30), {10: W10}, data_between=False).holds
    assert binding(stored, (0, 30), {10: W10}, data_between=True).replaced
    assert not binding(stored, (0, 30), {10: W10}, data_between=None).holds
    # A later record proves that the log was not cut.
    assert binding(Bound(KEY, 12, (W10, W19)), (0, 30), {10: W10, 19: W19}, data_between=None).holds


def test_every_field_of_a_record_counts_and_long_contents_by_their_digest() -> None:
    record = Record(7, 1000, "CreateTime", b"k", b"v" * 1000, (("h", b"1"),), 3)
    others = [
        Record(7, 1001, "CreateTime", b"k", b"v" * 1000, (("h", b"1"),), 3),
        Record(7, 1000, "CreateTime", b"k2", b"v" * 1000, (("h", b"1"),), 3),
        Record(7, 1000, "CreateTime", b"k", b"v" * 1001, (("h", b"1"),), 3),
        Record(7, 1000, "CreateTime", b"k", b"v" * 1000, (("h", b"2"),), 3),
        Record(7, 1000, "CreateTime", b"k", b"v" * 1000, (("h", b"1"),), 4),
        Record(8, 1000, "CreateTime", b"k", b"v" * 1000, (("h", b"1"),), 3),
    ]
    assert len({witness(digested(one)) for one in [record, *others]}) == 7
    assert witness(digested(digested(record))) == witness(digested(record))
    assert Witness.of(json.loads(json.dumps(witness(record)))) == witness(record)


def test_after_a_disaster_only_bound_offsets_of_a_log_that_was_cut_count() -> None:
    """R37: the counterexample, with a checkpoint of the log before it was cut."""
    cut = Binding(False, True, "the log was cut and filled again since the offset was stored")
    presynced = PresyncedOffset(90, 2.0, 90, 1, binding=cut)
    found = survived(Tail(0, 120, replaced=True), Checkpointed(90, 90, 1.0), [presynced])
    assert (found.offset, found.method, found.quality) == (0, "start", "safe")
    assert found.hazards[0] == REPLACED
    assert is_voided(found.hazards)
    # Another one is bound to a record before the cut.
    low = PresyncedOffset(40, 2.0, 95, 1, binding=Binding(replaced=True))
    assert survived(Tail(0, 120, replaced=True), Checkpointed(90, 90, 1.0), [presynced, low]).offset == 40


def test_skipped_ranges_of_an_earlier_schema_are_unknown() -> None:
    plan = Progress("pair", "P", "T", 0, "id", "salvage", 0, 9, 9, (), "r", (W10,), (W19,))
    assert Progress.of(json.loads(json.dumps(plan.as_dict()))) == plan
    assert Progress.of({**json.loads(json.dumps(plan.as_dict())), "schema": 2}).skipped_ranges is None


def test_the_newest_cut_with_a_witness_counts_for_each_log() -> None:
    first = {"from": "P", "to": "B", "ends": {"T": {"0": 10}}, "cut": {"T": {"0": 8}}}
    first["bound"] = {"P": {"T": {"0": [[9, 0, "aa"]]}}, "B": {"T": {"0": [[7, 0, "bb"]]}}}
    # A disaster: nothing could be read on P.
    second = {"from": "B", "to": "P", "ends": {"T": {"0": 20}}, "cut": {"T": {"0": 25}}, "bound": {"B": {}, "P": {}}}
    assert bound_cuts([first, second], "P") == [Bound(KEY, 10, (Witness(9, 0, "aa"),))]
    assert bound_cuts([first, second], "B") == [Bound(KEY, 8, (Witness(7, 0, "bb"),))]
    assert bound_cuts([{**first, "bound": None}], "P") == []
