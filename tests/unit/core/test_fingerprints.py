# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A record and its copy have equal fingerprints, no matter which fields are lost; carried fields distinguish other
records.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.fingerprints import (
    carries_times,
    fingerprints,
    has_time,
    may_be_copy,
)


@dataclass(frozen=True)
class One:
    """A record, as a consumer returns it."""

    timestamp: int | None = 10
    timestamp_type: str | None = "CreateTime"
    key: bytes | None = b"k"
    value: bytes | None = b"v"
    headers: tuple[tuple[str, bytes | None], ...] | None = ()


APPENDED = "LogAppendTime"
small = st.sampled_from([None, b"", b"a"])
names = st.sampled_from(["a", "b", ""])
records = st.builds(
    One,
    st.sampled_from([None, 0, 10, 11]),
    st.sampled_from(["CreateTime", APPENDED]),
    small,
    small,
    st.one_of(st.none(), st.lists(st.tuples(names, small), max_size=2).map(tuple)),
)


def last_replicated_offset(record: One, clock: int, by_broker: bool) -> One:
    """The copy as MirrorMaker 2 and the replica's broker write it."""
    headers = (("\N{REPLACEMENT CHARACTER}", b"v"),) if record.headers is None else record.headers
    if by_broker:
        return replace(record, timestamp=clock, timestamp_type=APPENDED, headers=headers)
    time = clock if record.timestamp is None else record.timestamp
    return replace(record, timestamp=time, timestamp_type="CreateTime", headers=headers)


@given(st.lists(records, max_size=8), st.data())
def test_a_record_and_its_copy_have_equal_fingerprints_among_any_other_records(
    source: list[One], data: st.DataObject
) -> None:
    chosen = data.draw(st.lists(st.integers(0, len(source) - 1), max_size=8) if source else st.just([]))
    replica = [
        last_replicated_offset(source[at], data.draw(st.integers(9, 12)), data.draw(st.booleans())) for at in chosen
    ]
    left, right = fingerprints(source, replica)
    assert [left[at] for at in chosen] == right
    assert all(may_be_copy(source[at], copy) for at, copy in zip(chosen, replica, strict=True))


@given(st.lists(records, max_size=6), st.lists(records, max_size=6))
def test_key_value_and_readable_headers_always_count(source: list[One], replica: list[One]) -> None:
    left, right = fingerprints(source, replica)
    digests = [*zip(source, left, strict=True), *zip(replica, right, strict=True)]
    assert all(
        (one.key, one.value) == (other.key, other.value)
        for one, digest in digests
        for other, same in digests
        if digest == same
    )


@pytest.mark.parametrize(
    "other",
    [
        One(timestamp=11),
        One(key=None),
        One(key=b""),
        One(value=None),
        One(value=b""),
        One(headers=(("h", None),)),
        One(headers=(("h", b""),)),
    ],
    ids=str,
)
def test_if_every_field_is_carried_each_field_distinguishes_records(other: One) -> None:
    left, right = fingerprints([One()], [other])
    assert left != right


def test_a_record_without_a_timestamp_only_affects_records_with_its_key_and_value() -> None:
    source = [One(None), One(10), One(20), One(10, value=b"w"), One(20, value=b"w")]
    left, _right = fingerprints(source, [])
    assert len({*left[:3]}) == 1
    assert left[3] != left[4]


def test_the_append_time_of_the_source_counts_and_that_of_the_replica_does_not() -> None:
    assert not may_be_copy(One(10, APPENDED), One(11))
    assert may_be_copy(One(10, APPENDED), One(10))
    assert may_be_copy(One(10), One(11, APPENDED))


def test_a_replica_record_without_a_timestamp_is_compared_by_content() -> None:
    assert may_be_copy(One(10), One(None, None))


def test_which_settings_carry_every_timestamp() -> None:
    assert carries_times([One(), One(10, APPENDED)], [One()])
    assert not carries_times([One(None)], [])
    assert not carries_times([One()], [One(10, APPENDED)])
    assert [has_time(one) for one in (One(), One(None), One(10, APPENDED))] == [True, False, False]
