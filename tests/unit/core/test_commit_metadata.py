# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""R49: metadata go along only if each record that they may refer to is at the same place on both clusters."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.commit_metadata import (
    LogParts,
    Place,
    in_place,
    to_compare,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.disaster import (
    PresyncedOffset,
    surviving_metadata,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.target_offsets import TargetOffset
from metadata import bit_set, run_lengths, streams

NOW = 1_790_000_000_000
SHIFTED = Place(40, 30, (0, 100), (0, 90))
EQUAL = Place(40, 40, (5, 100), (10, 120))
NOTHING = LogParts((40, 40), (30, 30))


@dataclass(frozen=True)
class Written:
    """A record as the reader returns it."""

    offset: int
    value: bytes
    timestamp: int | None = NOW
    timestamp_type: str | None = "CreateTime"
    key: bytes | None = None
    headers: tuple[tuple[str, bytes | None], ...] | None = ()


@pytest.mark.parametrize(
    "text",
    [
        streams(NOW),
        streams(-1),
        streams(NOW, version=1),
        streams(NOW, {"KSTREAM-AGGREGATE-1": NOW - 1, "\N{GREEK SMALL LETTER ALPHA}": -1}),
    ],
)
def test_the_times_of_kafka_streams_refer_to_no_offset(text: str) -> None:
    assert to_compare(text, SHIFTED) == NOTHING


@pytest.mark.parametrize(
    ("text", "length"),
    [
        (bit_set(20, {1, 19}), 20),
        (bit_set(8, {0}, version=1), 8),
        (run_lengths(3, 4, 5), 12),
        (run_lengths(0, 60), 60),
        (run_lengths(1, 2, version=1), 3),
        (b64encode(b"p\x28\xb5\x2f\xfdcompressed").decode(), 60),
    ],
)
def test_parallel_consumers_metadata_refer_to_offsets_from_the_committed_one_on(text: str, length: int) -> None:
    """A length that is compressed is not read: then everything up to the log end is compared."""
    assert to_compare(text, SHIFTED) == LogParts((40, 40 + length), (30, 30 + length))


@pytest.mark.parametrize(
    "text",
    [
        "worker-7",
        "60",
        b64encode(b"node1").decode(),
        streams(64),
        streams(NOW) + "AAAA",
        b64encode(b"\x01" + bytes(12)).decode(),
        b64encode(b"L\x00\x01").decode(),
        b64encode(b"l\x00\x08\x01").decode(),
        b64encode(b"p1234").decode(),
    ],
)
def test_any_other_text_may_refer_to_every_offset(text: str) -> None:
    reason = to_compare(text, SHIFTED)
    assert isinstance(reason, str)
    if "after the end" not in reason:
        assert "format is unknown" in reason
        assert to_compare(text, EQUAL) == LogParts((10, 100), (10, 100))


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        (bit_set(61, {60}), SHIFTED, "after the end"),
        (bit_set(20, {1}), Place(40, 30, (0, 100), (0, 49)), "after the end"),
        ("x", Place(40, 40, (0, 100), (0, 99)), "after the end"),
        (run_lengths(0, 20_001), Place(0, 0, (0, 90_000), (0, 90_000)), "at most 20000"),
        ("x" * 4097, EQUAL, "4096 bytes"),
    ],
)
def test_metadata_whose_records_cannot_all_be_compared_stay(text: str, place: Place, reason: str) -> None:
    assert reason in to_compare(text, place)


def log(first: int, *values: int | None) -> list[Written]:
    """Consecutive offsets; None: an offset without a record."""
    return [Written(first + at, b"%d" % value) for at, value in enumerate(values) if value is not None]


@pytest.mark.parametrize(
    ("left", "entered", "same"),
    [
        (log(40, 1, 2, 3), log(30, 1, 2, 3), True),
        (log(40, 1, None, 3), log(30, 1, None, 3), True),
        (log(40, 1, None, 3), log(30, 1, 3), False),
        (log(40, 1, None, 3), log(30, 1, 2, 3), False),
        (log(40, 1, 2, 3), log(30, 1, 1, 3), False),
        (log(40, 1, 2, 3), log(30, 1, 2), False),
        ([], [], True),
    ],
)
def test_records_are_compared_one_by_one(left: list[Written], entered: list[Written], same: bool) -> None:
    assert in_place(left, entered, LogParts((40, 43), (30, 33))) is same


class World:
    """A log, what a flow made of it, and a consumer that has processed records after its committed offset."""

    def __init__(self, draw: Any) -> None:
        self.left = draw(st.lists(st.sampled_from([0, 1, 2, None]), min_size=1, max_size=12))
        records = [value for value in self.left if value is not None]
        again = draw(st.integers(0, len(records)))
        self.entered = draw(st.sampled_from([records, [*records[:again], *records[max(0, again - 2) :]], self.left]))
        self.commit = draw(st.integers(0, len(self.left)))
        self.offset = draw(st.integers(0, len(self.entered)))
        after = range(len(self.left) - self.commit)
        #: Distances from the committed offset. Parallel Consumer counts an offset without a record as processed.
        self.done = {at for at in after if self.left[self.commit + at] is None or draw(st.booleans())}


@given(st.data())
def test_no_unprocessed_record_is_skipped_because_of_carried_metadata(data: Any) -> None:
    """In each world the application skips a record on the other cluster only where it has processed an equal one."""
    world = World(data.draw)
    length = max(world.done, default=-1) + 1
    if not length:
        return
    place = Place(world.commit, world.offset, (0, len(world.left)), (0, len(world.entered)))
    compared = to_compare(bit_set(length, world.done), place)
    if isinstance(compared, str):
        return
    left = [record for record in log(0, *world.left) if compared.left[0] <= record.offset < compared.left[1]]
    entered = [
        record for record in log(0, *world.entered) if compared.entered[0] <= record.offset < compared.entered[1]
    ]
    if not in_place(left, entered, compared):
        return
    for at in world.done:
        assert world.offset + at < len(world.entered)
        assert world.entered[world.offset + at] == world.left[world.commit + at]


STORED = PresyncedOffset(30, 1.0, 40, metadata="compared")
OWN = PresyncedOffset(30, 0.0, 40, own=True)


def found(offset: int, method: str = "presynced") -> TargetOffset:
    return TargetOffset(offset, method, "safe", 0, "")


@pytest.mark.parametrize(
    ("target", "presynced", "existing", "original", "metadata", "dropped"),
    [
        (found(30), [STORED], (30, "compared"), False, "compared", False),
        (found(30), [STORED], (12, "mm2"), False, "compared", True),
        (found(30), [STORED], (None, ""), False, "compared", False),
        (found(29, "first_copy"), [STORED], (30, "compared"), False, "", True),
        (found(35, "checkpoint"), [STORED], (35, "mm2"), False, "", True),
        (found(30), [OWN], (30, "own"), True, None, False),
        (found(30), [OWN], (30, "mm2"), False, "", True),
        (found(30), [OWN], (31, "other"), True, "", True),
    ],
)
def test_in_a_disaster_only_metadata_of_known_origin_stay(
    target: TargetOffset,
    presynced: list[PresyncedOffset],
    existing: tuple[int | None, str],
    original: bool,
    metadata: str | None,
    dropped: bool,
) -> None:
    result = surviving_metadata(target, presynced, existing, original)
    assert (result[0], bool(result[1])) == (metadata, dropped)
