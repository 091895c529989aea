# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which records are read to find the end of the replicated part (R45), on logs in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition, Range
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.records import (
    BLOCKED,
    EXHAUSTED,
    LIMIT,
    RangeRead,
    Reading,
    Record,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.offsets import replicated_ends as module
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.offsets.replicated_ends import (
    EndFound,
    TenureLogs,
    replicated_ends,
)

KEY = Partition("T", 0)
# More than the number of offsets that are compared.
MANY = 3000


@dataclass
class Log:
    """One partition of one cluster: the number of each record, by offset. Each record has a time of its own."""

    records: Mapping[int, int]
    kind: str = "CreateTime"
    bootstrap_servers: str = "memory"
    #: An open transaction begins here; None: there is none.
    blocked: int | None = None
    ranges: list[Range] = field(default_factory=list)

    def record(self, offset: int) -> Record:
        number = self.records[offset]
        return Record(offset, 10 * number, self.kind, b"k", str(number).encode(), ())


def log(*numbers: int, start: int = 0, **more: Any) -> Log:
    return Log({start + at: number for at, number in enumerate(numbers)}, **more)


def read_ranges(there: Log, ranges: Mapping[Partition, Range], reading: Reading) -> dict[Partition, RangeRead]:
    reads = {}
    for key, (start, end) in ranges.items():
        there.ranges.append((start, end))
        stop = end if there.blocked is None else min(end, there.blocked)
        records = [there.record(at) for at in there.records if start <= at < stop]
        ended = EXHAUSTED if stop == end else BLOCKED
        if reading.limit and len(records) >= reading.limit:
            records, ended = records[: reading.limit], LIMIT
        reads[key] = RangeRead(start, end, end, ended, records)
    return reads


def offsets_at(there: Log, times: Mapping[Partition, int]) -> dict[Partition, int | None]:
    return {
        key: next((at for at in there.records if (there.record(at).timestamp or 0) >= time), None)
        for key, time in times.items()
    }


@pytest.fixture(autouse=True)
def in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "read_ranges", read_ranges)
    monkeypatch.setattr(module, "offsets_at", offsets_at)


def end_of(source: Log, replica: Log, stored: int, cut: int | None = None, compacted: bool = False) -> EndFound:
    """Both topics belong to one tenure, which began at 0."""
    spans = [(min(there.records, default=0), max(there.records, default=-1) + 1) for there in (source, replica)]
    low, end = spans[1]
    logs = TenureLogs(KEY, spans[0], (low, end if cut is None else cut), stored, spans[0][0] == 0, low == 0, compacted)
    return replicated_ends(cast(Any, source), cast(Any, replica), {KEY: logs})[KEY]


def test_the_counterexample() -> None:
    """100 to 159 were replicated while 99 was stored; B's applications wrote after the cut, and P kept 20 more."""
    source, replica = log(*range(180)), log(*range(160), *range(1000, 1040))
    assert end_of(source, replica, 100, cut=160) == EndFound(160, True, after_stored=60)
    assert end_of(log(*range(160)), replica, 100, cut=160) == EndFound(160, True, after_stored=60)


def test_only_records_near_the_stored_offset_are_read() -> None:
    source, replica = log(*range(MANY + 180)), log(*range(MANY + 160))
    assert end_of(source, replica, MANY + 100) == EndFound(MANY + 160, True, after_stored=60)
    assert min(start for start, _end in [*source.ranges, *replica.ranges]) > MANY // 4


def test_lost_copies_are_a_part_of_the_tail_and_records_in_the_middle_are_named() -> None:
    many = range(MANY)
    assert end_of(log(*many), log(*many[:-40]), MANY) == EndFound(MANY - 40, True, lost=40)
    written_again = [*many[:-50], *range(9000, 9020), *many[-30:]]
    found = end_of(log(*written_again, 9999), log(*many), MANY - 10)
    assert (found.end, found.found, found.after_stored) == (MANY, True, 10)
    assert list(found.missing) == list(range(MANY - 50, MANY - 30))


def test_if_none_of_the_records_is_there_the_end_is_undecided() -> None:
    found = end_of(log(*range(MANY)), log(*range(100)), MANY)
    assert (found.found, found.undecided) == (False, True)
    assert "none of the last 2000 records" in found.reason


@pytest.mark.parametrize(
    ("source", "replica", "stored", "compacted", "reason"),
    [
        # The log of the source starts after the stored offset: the anchor has expired.
        (log(*range(110, 180), start=110), log(*range(160)), 100, False, "expired"),
        # All of the replica has expired.
        (log(*range(180)), log(), 100, False, "expired"),
        (log(*range(180)), log(*range(160)), 100, True, "compacted"),
        # The broker's times are before those of the producers, and the log starts with the stored record.
        (
            log(*range(50, 180), start=50),
            log(*range(99, 160), start=99, kind="LogAppendTime"),
            100,
            False,
            "brokers set",
        ),
    ],
)
def test_what_cannot_be_compared_stays_a_lower_bound(
    source: Log, replica: Log, stored: int, compacted: bool, reason: str
) -> None:
    if not replica.records:
        logs = TenureLogs(KEY, (0, 180), (160, 160), stored, True, False)
        found = replicated_ends(cast(Any, source), cast(Any, replica), {KEY: logs})[KEY]
    else:
        found = end_of(source, replica, stored, compacted=compacted)
    assert (found.found, found.undecided, found.end >= stored) == (False, False, True)
    assert reason in found.reason


def test_without_a_later_record_on_the_source_the_end_is_known() -> None:
    """The last offset is that of a transaction marker."""
    logs = TenureLogs(KEY, (90, 101), (160, 160), 100, False, False)
    source = log(*range(90, 100), start=90)
    assert replicated_ends(cast(Any, source), cast(Any, log()), {KEY: logs})[KEY] == EndFound(101, True)


def test_a_log_that_was_truncated_ends_where_it_ends() -> None:
    assert end_of(log(*range(90)), log(*range(100)), 100) == EndFound(90, True)
    # Written again since: the copies of the new records do not exist.
    found = end_of(log(*range(80), *range(900, 910)), log(*range(100)), 100)
    assert (found.end, found.lost) == (80, 10)


def test_a_log_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(DrError) as caught:
        end_of(log(*range(180)), log(*range(160), blocked=120), 100)
    assert caught.value.code == "end_unreadable"


def test_many_partitions_are_compared_in_parts() -> None:
    source, replica = log(*range(5)), log(*range(4))
    logs = {
        Partition("T", number): TenureLogs(Partition("R", number), (0, 5), (0, 4), 2, True, True)
        for number in range(120)
    }
    found = replicated_ends(cast(Any, source), cast(Any, replica), logs)
    assert list(found.values()) == [EndFound(4, True, after_stored=2)] * 120
