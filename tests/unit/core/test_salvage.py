# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the tail of a lost cluster begins: it may include a replicated record, but it never
misses an unreplicated one.
"""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.tails import (
    BEGINNING,
    Progress,
    already_replicated,
    first_offset,
    line,
    provenance,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.records import Record

PLAN = Progress("B-P", "P", "T", 0, "id", "salvage", 5, 9, 5)


@given(st.data())
def test_exactly_the_records_replicated_without_a_stored_offset_are_found(data: st.DataObject) -> None:
    """The worker replicated from ``noted`` on in order, died, started there again, and so on.

    Then the source was lost.
    """
    length = data.draw(st.integers(1, 12))
    noted = data.draw(st.integers(1, length))
    # Earlier restarts: the last record with a stored offset may be there twice.
    replica = [*range(noted), *(range(data.draw(st.integers(0, noted - 1)), noted) if data.draw(st.booleans()) else ())]
    reached = noted
    for _start in range(data.draw(st.integers(1, 3))):
        end = data.draw(st.integers(noted, length))
        replica += range(noted, end)
        reached = max(reached, end)
    context, tail = list(range(noted)), list(range(noted, length))
    assert already_replicated(context, tail, replica) == reached - noted


@given(st.lists(st.integers(0, 3), max_size=8), st.integers(0, 8), st.integers(0, 8))
def test_without_a_stored_offset_the_first_records_are_compared(tail: list[int], first: int, second: int) -> None:
    """The worker restarted once. Only a record that is unique and really replicated is left out of the tail."""
    replica = [BEGINNING, *tail[:first], *tail[:second]]
    found = already_replicated([BEGINNING], tail, replica)
    assert found <= max(first, second)
    if len(set(tail)) == len(tail):
        assert found == min(max(first, second), len(tail))


@given(st.lists(st.integers(0, 2), max_size=6), st.lists(st.integers(0, 2), max_size=8), st.integers(0, 8))
def test_an_unreplicated_record_is_never_taken_for_a_replicated_one_that_is_equal(
    context: list[int], tail: list[int], last_replicated_offset: int
) -> None:
    """For any content, only records that were really replicated are left out."""
    last_replicated_offset = min(last_replicated_offset, len(tail))
    assert already_replicated(context, tail, [*context, *tail[:last_replicated_offset]]) <= last_replicated_offset


@pytest.mark.parametrize(
    ("context", "tail", "replica"),
    [
        (["w"], ["x", "y"], ["x", "a", "b", "w"]),
        (["x", "x"], ["x", "x", "z"], ["x", "x", "x"]),
        ([], ["x"], ["x"]),
        (["w"], [], ["w"]),
    ],
)
def test_an_equal_record_is_not_a_copy(context: list[str], tail: list[str], replica: list[str]) -> None:
    assert already_replicated(context, tail, replica) == 0


def test_a_tail_begins_after_the_replicated_and_the_salvaged_records() -> None:
    assert first_offset(None, None) == 0
    assert first_offset(4, None) == 5
    assert first_offset(4, PLAN) == 9
    assert first_offset(20, PLAN) == 21


def test_progress_is_read_back_unchanged() -> None:
    assert Progress.of(json.loads(json.dumps(PLAN.as_dict()))) == PLAN
    assert PLAN.key == "B-P/salvage/P/T/0"
    assert not PLAN.done
    assert Progress.of({**PLAN.as_dict(), "through": 9}).done


@pytest.mark.parametrize("data", [None, b"", b"text", "Grüße".encode(), bytes(range(256))])
def test_a_line_is_readable_and_preserves_every_byte(data: bytes | None) -> None:
    found = json.loads(line("T", 3, Record(7, 1700000000000, "CreateTime", data, data, (("h", data),))))
    assert (found["topic"], found["partition"], found["offset"], found["timestamp"]) == ("T", 3, 7, 1700000000000)
    for shown, kept in ((found["key"], found["key_base64"]), tuple(found["headers"][0][1:])):
        assert (None if kept is None else base64.b64decode(kept)) == data
        assert shown is None or shown.encode() == data
    assert "\n" not in line("T", 0, Record(0, None, None, b"a\nb", data, ()))


def test_the_origin_of_a_record_is_in_its_headers() -> None:
    assert provenance("id", "T", 3, 7) == [
        ("kafka_dr.salvage.cluster", b"id"),
        ("kafka_dr.salvage.topic", b"T"),
        ("kafka_dr.salvage.partition", b"3"),
        ("kafka_dr.salvage.offset", b"7"),
    ]
