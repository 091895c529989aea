# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The longest gap, with and without a window."""

from __future__ import annotations

import pytest

from ledger.gaps import Activity, Gap, Window

S = 1_000_000


def activity(*times: int) -> Activity:
    result = Activity()
    for time_us in times:
        result.add(time_us)
    return result


@pytest.mark.parametrize(
    ("times", "window", "expected"),
    [
        ([], Window(), None),
        ([5 * S], Window(), None),
        ([1 * S, 2 * S, 5 * S, 6 * S], Window(), Gap(3.0, 2 * S, 5 * S, False)),
        ([1 * S, 2 * S, 5 * S], Window(0, 20 * S), Gap(15.0, 5 * S, 20 * S, True)),
        ([9 * S, 10 * S], Window(0, 11 * S), Gap(9.0, 0, 9 * S, True)),
        ([], Window(0, 4 * S), Gap(4.0, 0, 4 * S, True)),
        ([1 * S, 9 * S], Window(3 * S, 5 * S), Gap(2.0, 3 * S, 5 * S, True)),
        ([1 * S, 2 * S, 9 * S], Window(None, 3 * S), Gap(1.0, 1 * S, 2 * S, False)),
    ],
)
def test_the_longest_gap(times: list[int], window: Window, expected: Gap | None) -> None:
    assert activity(*times).longest_gap(window) == expected


def test_the_activity_of_one_source_fills_the_gaps_of_the_other() -> None:
    one, other = activity(1 * S, 5 * S), activity(3 * S, 4 * S)
    one.join(other)
    assert one.longest_gap(Window()) == Gap(2.0, 1 * S, 3 * S, False)


def test_a_steady_stream_takes_no_memory() -> None:
    steady = activity(*range(0, 2 * S, 500))
    assert len(steady._starts) == 1
    assert steady.longest_gap(Window()) == Gap(0.0, 0, 0, False)


def test_a_clock_that_goes_back_does_not_hide_a_gap() -> None:
    assert activity(1 * S, 9 * S, 2 * S, 3 * S).longest_gap(Window()) == Gap(6.0, 3 * S, 9 * S, False)
