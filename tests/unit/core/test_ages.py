# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ages come from two observations by one clock, and never from the timestamp of a record (R43)."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.ages import (
    LogEnds,
    age_of,
    existed_for,
    written_within,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.unreplicated import (
    Log,
    ReplicaEnd,
    Seen,
    Unreplicated,
    placed,
    waiting_time,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition

KEY = Partition("T", 0)
LIMIT = 60.0


@pytest.mark.parametrize(
    ("moment", "age"), [(100.0, 5.0), (105.0, 0.0), (0.0, 105.0), (105.1, None), (3705.0, None), (None, None)]
)
def test_a_moment_in_the_future_has_no_age(moment: float | None, age: float | None) -> None:
    assert age_of(moment, 105.0) == age


def test_a_record_is_younger_than_an_observation_of_a_log_that_ended_before_it() -> None:
    observed = [LogEnds(10.0, {KEY: 5}), LogEnds(20.0, {KEY: 8})]
    assert written_within(KEY, 8, observed, 21.0) == 1.0
    assert written_within(KEY, 7, observed, 21.0) == 11.0
    assert written_within(KEY, 4, observed, 21.0) is None
    assert written_within(Partition("T", 1), 9, observed, 21.0) is None
    assert (existed_for(KEY, 4, observed, 21.0), existed_for(KEY, 7, observed, 21.0)) == (11.0, 1.0)
    assert existed_for(KEY, 8, observed, 21.0) == 0.0


def test_the_counterexample_of_producers_one_hour_ahead() -> None:
    """The lag was 0.0 s by the timestamps, although the records had waited for over a minute."""
    row = Unreplicated("T", 0, 500, 500, 3600.0, "", first=100, first_certain=100)
    assert waiting_time(row, [LogEnds(0.0, {KEY: 600})], LIMIT, 67.0) == 67.0
    assert waiting_time(row, [LogEnds(0.0, {KEY: 600})], LIMIT, 5.0) is None
    # Without a certain record the age of an old one proves nothing.
    assert waiting_time(replace(row, first_certain=None), [LogEnds(0.0, {KEY: 600})], LIMIT, 67.0) is None


def test_in_random_worlds_the_bound_holds_for_every_timestamp() -> None:
    """A log grows, and a flow follows it. Timestamps lie anywhere, or are missing; observations happen in between."""
    bounded = late = 0
    for seed in range(2000):
        draw = random.Random(seed)
        written, now = [], 0.0
        observed: list[LogEnds] = []
        for _step in range(draw.randint(1, 8)):
            now += draw.choice([0.0, 0.5, 5.0, 80.0])
            # Half of the offsets belong to markers or aborted records.
            written += [(now, draw.random() < 0.5) for _offset in range(draw.randint(0, 3))]
            if draw.random() < 0.6:
                observed.append(LogEnds(now, {KEY: len(written)}))
        now += draw.choice([0.0, 1.0, 70.0])
        data = [offset for offset, (_at, is_data) in enumerate(written) if is_data]
        if not data:
            continue
        stamps = [draw.choice([None, -1, 0, int(now * 1000), 10**13]) for _offset in data]
        seen = Seen(0, len(written), data, [bytes([index]) for index in range(len(data))], stamps)
        end = draw.choice(data)
        row = placed(KEY, Log(0, len(written), None), seen, ReplicaEnd(end, end), False)
        left = [offset for offset in data if offset > end]
        assert (row.least, row.most, row.first) == (len(left), len(left), left[0] if left else None)
        waited = waiting_time(row, observed, LIMIT, now) if left else 0.0
        truth = now - written[left[0]][0] if left else 0.0
        if waited is None:
            continue
        if waited <= LIMIT:
            assert truth <= waited, f"seed {seed}: {truth} {waited}"
            bounded += bool(left)
        else:
            assert truth >= waited, f"seed {seed}: {truth} {waited}"
            late += 1
        shifted = replace(seen, stamps=[None for _stamp in stamps])
        again = placed(KEY, Log(0, len(written), None), shifted, ReplicaEnd(end, end), False)
        assert waiting_time(again, observed, LIMIT, now) == (waited if left else None)
    assert bounded > 100
    assert late > 100
