# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a transaction stays open comes from several observations of log ends, and never from timestamps (R43)."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.open_transactions import (
    StableEnds,
    hold_back,
    still_open,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition, Range

KEY, OTHER = Partition("T", 0), Partition("T", 1)


def look(at: float, *ends: Range, key: Partition = KEY) -> StableEnds:
    return StableEnds(at, at + 0.5, {Partition("T", key.partition + number): end for number, end in enumerate(ends)})


def found(*observed: StableEnds) -> list[tuple[Partition, int, int, float]]:
    return [(one.key, one.offset, one.held, one.seconds) for one in still_open("P", observed)]


def test_a_transaction_that_stays_open_has_the_age_for_which_it_was_observed() -> None:
    assert found(look(0.0, (7, 9)), look(5.0, (7, 12))) == [(KEY, 7, 5, 4.5)]
    assert found(look(0.0, (7, 9))) == [(KEY, 7, 2, 0.0)]
    (one,) = still_open("P", [look(0.0, (7, 9)), look(4.77, (7, 12))])
    assert one.as_dict() == {
        "alias": "P",
        "topic": "T",
        "partition": 0,
        "offset": 7,
        "held": 5,
        "seconds": 4.3,
        "text": "T-0 on P: a transaction stays open at offset 7 (observed for 4 s) and holds back 5 offsets",
    }


@pytest.mark.parametrize(
    "later",
    [
        (9, 9),  # it has ended
        (8, 12),  # another one is open
        (7, 7),  # the log was cut
    ],
)
def test_a_last_stable_offset_that_has_moved_shows_another_transaction_or_none(later: Range) -> None:
    assert found(look(0.0, (7, 9)), look(5.0, later)) == []


def test_a_partition_that_a_later_observation_leaves_out_counts_as_ended() -> None:
    both = look(0.0, (7, 9), (3, 4))
    assert found(both, look(5.0, (3, 4), key=OTHER)) == [(OTHER, 3, 1, 4.5)]
    assert found(both, look(5.0, (3, 3), key=OTHER)) == []
    assert found() == []


def test_a_log_that_grows_between_the_two_requests_is_not_open() -> None:
    """The high watermark was read first, so the last stable offset is at or above it."""
    assert found(look(0.0, (12, 9)), look(5.0, (40, 31))) == []


@dataclass
class Log:
    """A partition with plain and transactional producers. Every record has any timestamp, so it has none here."""

    end: int = 0
    #: First offset of each open transaction, and the time of its first record.
    open: dict[int, float] = field(default_factory=dict)

    def step(self, draw: random.Random, now: float) -> None:
        for _event in range(draw.randint(0, 3)):
            kind = draw.choice(["plain", "plain", "begin", "end", "end"])
            if kind == "begin":
                self.open[self.end] = now
            if kind == "end" and self.open:
                del self.open[draw.choice(sorted(self.open))]
            self.end += 1

    @property
    def stable(self) -> int:
        return min(self.open, default=self.end)


def test_in_random_worlds_what_stays_open_is_found_and_nothing_else() -> None:
    stayed = ended = grew = 0
    for seed in range(3000):
        draw = random.Random(seed)
        log, now, observed = Log(), 0.0, list[StableEnds]()
        # Of each observation: the transactions that were open all the time.
        whole: list[dict[int, float]] = []
        for _observation in range(draw.randint(1, 4)):
            now += draw.choice([0.1, 2.0, 60.0])
            log.step(draw, now)
            high, before = log.end, dict(log.open)
            now += draw.choice([0.0, 0.3])
            log.step(draw, now)
            asked, stable = now, log.stable
            whole.append({first: since for first, since in before.items() if first in log.open})
            grew += not log.open and log.end > high
            observed.append(StableEnds(asked, now, {KEY: (stable, high)}))
        transactions = still_open("P", observed)
        for one in transactions:
            assert one.offset in log.open, f"seed {seed}"
            assert one.seconds <= now - log.open[one.offset], f"seed {seed}"
        standing = set.intersection(*(set(one) for one in whole))
        # The first one in the log decides about the last stable offset, so only that one can be seen.
        seen = {first for first in standing if all(first == one.ends[KEY][0] for one in observed)}
        assert {one.offset for one in transactions} == seen, f"seed {seed}"
        stayed += bool(transactions)
        ended += bool(whole[0]) and not transactions
    assert min(stayed, ended, grew) > 100, (stayed, ended, grew)


def test_what_a_transaction_holds_back_is_not_proven_to_be_replicated() -> None:
    rows = [
        {"topic": "T", "partition": number, "drained": "PROVEN", "reason": "the flow is at 7, source end 7"}
        for number in (0, 1)
    ]
    flow = {"source": "P", "verdict": "PROVEN", "reason": "the flow has passed the last record", "partitions": rows}
    transactions = still_open("P", [look(0.0, (7, 9)), look(10.0, (7, 9))])
    hold_back(flow, still_open("B", [look(0.0, (7, 9))]))
    assert flow["verdict"] == "PROVEN"
    hold_back(flow, transactions)
    text = "T-0 on P: a transaction stays open at offset 7 (observed for 10 s) and holds back 2 offsets"
    assert (flow["verdict"], flow["reason"]) == ("UNKNOWN", text)
    assert [(row["drained"], row["reason"] == text) for row in rows] == [("UNKNOWN", True), ("PROVEN", False)]
    refuted = {**flow, "verdict": "REFUTED", "reason": "its task failed"}
    hold_back(refuted, transactions)
    assert refuted["reason"] == "its task failed"
