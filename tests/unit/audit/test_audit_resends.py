# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Second copies: how many a crash of the flow explains, and how many only a restart from the beginning can explain."""

from __future__ import annotations

import pytest

from kafka_dr_audit.resends import Doubled, unexplained


def doubled(*counts: tuple[int, int]) -> dict[int, Doubled]:
    return {number: Doubled(number, copies, records) for number, (copies, records) in enumerate(counts)}


@pytest.mark.parametrize(
    ("counts", "wrong"),
    [
        ([(250, 250)] * 12, list(range(12))),  # 3,000 records in 12 partitions, all of them twice.
        ([(1200, 600)], [0]),  # Three times.
        ([(0, 1000), (2000, 3000), (50, 10_000)], [1]),
        ([(501, 600), (500, 600)], [0, 1]),  # Together more than a crash explains for a small topic.
        ([(500, 500), (500, 600)], []),
        ([(83, 1000)] * 12, []),  # Records that a killed worker sent again.
        ([(971, 6000)], []),
        ([(49_999, 100_000)], []),
        ([(50_000, 100_000)], [0]),
        ([], []),
    ],
)
def test_more_second_copies_than_a_crash_explains_are_reported(counts: list[tuple[int, int]], wrong: list[int]) -> None:
    assert [one.partition for one in unexplained(doubled(*counts))] == wrong


def test_the_partition_the_count_and_the_range_are_reported() -> None:
    assert str(Doubled(3, 250, 250, (0, 249))) == (
        "partition 3: 250 second copies of 250 records (source offsets 0 to 249)"
    )
    assert "source" not in str(Doubled(3, 250, 250))
