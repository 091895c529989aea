# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""R43: random logs grow while they are observed. What is called open was open all the time, whatever else happens."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.open_transactions import (
    StableEnds,
    hold_back,
    still_open,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from effort import share

KEY = Partition("Payments", 0)
FOREVER = float("inf")
WORLDS = share(300, 200)


@dataclass
class Begun:
    """A transaction with its first offset, and when its first and its last record were written."""

    offset: int
    since: float
    until: float = FOREVER


@dataclass
class Log:
    """A partition, by what is written at which time. Records have no timestamps, because nothing may depend on them."""

    ends: list[tuple[float, int]] = field(default_factory=lambda: [(0.0, 0)])
    transactions: list[Begun] = field(default_factory=list)

    def grow(self, draw: random.Random) -> None:
        """Producers write, begin transactions and end them, most of them fast; some never end one."""
        at, end = 0.0, 0
        for _event in range(draw.randrange(60)):
            at += draw.expovariate(4.0)
            running = [one for one in self.transactions if one.until == FOREVER]
            kind = draw.choice(["plain", "begin", "more", "end"])
            if kind == "begin" and len(running) < 3:
                self.transactions.append(Begun(end, at))
            elif kind == "end" and running and draw.random() < 0.7:
                draw.choice(running).until = at
            end += draw.randrange(1, 4)
            self.ends.append((at, end))

    def high(self, at: float) -> int:
        return max(end for since, end in self.ends if since <= at)

    def stable(self, at: float) -> int:
        return min([one.offset for one in self.transactions if one.since <= at < one.until] + [self.high(at)])


def observations(log: Log, draw: random.Random) -> tuple[list[StableEnds], list[float]]:
    """High watermarks are read before last stable offsets, and the log grows in between. The moments of the latter."""
    observed, moments, at = [], [], draw.uniform(0.0, 8.0)
    for _look in range(draw.randrange(1, 5)):
        high, asked = log.high(at), at + draw.uniform(0.0, 0.5)
        read = asked + draw.uniform(0.0, 0.5)
        at = read + draw.uniform(0.0, 0.2)
        observed.append(StableEnds(asked, at, {KEY: (log.stable(read), high)}))
        moments.append(read)
        at += draw.uniform(0.0, 2.0)
    return observed, moments


@pytest.mark.parametrize("block", range(10))
def test_what_is_called_open_was_open_all_the_time_and_the_oldest_one_is_found(block: int) -> None:
    found_any = missed_any = 0
    for seed in range(block * WORLDS, (block + 1) * WORLDS):
        draw, log = random.Random(seed), Log()
        log.grow(draw)
        observed, moments = observations(log, draw)
        found = still_open("P", observed)
        all_the_time = [one for one in log.transactions if one.since <= moments[0] and one.until > moments[-1]]
        for transaction in found:
            (begun,) = (one for one in all_the_time if one.offset == transaction.offset)
            assert transaction.seconds <= moments[-1] - moments[0]
            assert 0 < transaction.held <= log.high(moments[-1]) - begun.offset
        oldest = min((one.offset for one in log.transactions if one.since <= moments[0] < one.until), default=None)
        before_first_look = [one for one in all_the_time if one.offset < observed[0].ends[KEY][1]]
        if any(one.offset == oldest for one in before_first_look):
            assert [transaction.offset for transaction in found] == [oldest], seed
        found_any += bool(found)
        missed_any += not found and log.stable(moments[0]) < log.high(moments[0])
    assert found_any > 10
    # Short transactions, which a single look would have called open.
    assert missed_any > 10


def test_what_a_transaction_holds_back_is_not_proven() -> None:
    (transaction,) = still_open("P", [StableEnds(0, 1, {KEY: (3, 9)}), StableEnds(11, 12, {KEY: (3, 20)})])
    assert (transaction.offset, transaction.held, transaction.seconds) == (3, 17, 10)
    row = {"topic": "Payments", "partition": 0, "drained": "PROVEN", "reason": ""}
    other = {**row, "partition": 1}
    flow = {"source": "P", "verdict": "PROVEN", "reason": "", "partitions": [dict(row), dict(other)]}
    hold_back(flow, [transaction])
    assert (flow["verdict"], flow["reason"]) == ("UNKNOWN", transaction.text)
    assert [one["drained"] for one in flow["partitions"]] == ["UNKNOWN", "PROVEN"]
    back = {"source": "B", "verdict": "PROVEN", "reason": "", "partitions": [dict(row)]}
    hold_back(back, [transaction])
    assert back == {"source": "B", "verdict": "PROVEN", "reason": "", "partitions": [row]}


@pytest.mark.parametrize("later", [{}, {KEY: (4, 9)}, {KEY: (3, 3)}], ids=["left out", "ended", "nothing after it"])
def test_a_later_look_ends_it(later: dict[Partition, tuple[int, int]]) -> None:
    assert still_open("P", [StableEnds(0, 1, {KEY: (3, 9)}), StableEnds(2, 3, later)]) == []
    assert still_open("P", []) == []
