# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The gates: each decision from what is known about a partition is safe, and none waits forever."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.replication_gates import (
    PartitionFacts,
    drained,
    healthy,
    lag,
    making_progress,
    open_transaction,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.verdict import PROVEN, REFUTED, UNKNOWN


def facts(
    start: int | None, end: int | None, last_replicated_offset: int | None, data: bool | None = None
) -> PartitionFacts:
    """``start`` and ``end`` of the source log, the last replicated offset, and whether data records come after it."""
    return PartitionFacts(start, end, last_replicated_offset, data_after=data)


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (facts(0, 10, 9), 0),
        (facts(0, 10, 4), 5),
        (facts(0, 10, 8, False), 0),  # A transaction marker is not a record.
        (facts(6, 10, 2), 4),  # Expired records cannot be replicated any more.
        (facts(0, 0, None), 0),
        (facts(0, 10, None), None),
        (facts(None, 10, 9), None),
        (facts(0, None, 9), None),
        (facts(0, 5, 9), None),  # The topic was re-created, so its lag is unknown.
    ],
)
def test_lag_is_an_upper_bound_and_null_when_unknown(seen: PartitionFacts, expected: int | None) -> None:
    """R19: the lag is never below the true value, and it is None when it is unknown."""
    assert lag(seen) == expected


@pytest.mark.parametrize(
    ("seen", "verdict", "message"),
    [
        (facts(0, 10, 9), PROVEN, "the flow is at 10"),
        (facts(0, 0, None), PROVEN, "never written"),
        (facts(0, 10, 4, True), REFUTED, "replicated up to 4, source end 10"),
        (facts(0, 10, 4), UNKNOWN, "could not be read"),
        (facts(0, 10, None, True), UNKNOWN, "the last replicated offset is unknown"),
        # R19: a transactional tail ends with a marker, so the flow always lags one offset.
        (facts(0, 10, 8, False), PROVEN, "only transaction markers"),
        (facts(0, 3, None, False), PROVEN, "only transaction markers"),  # Every record of it was aborted.
        # R20: E == S counts only if S - 1 <= N, or if nothing was ever written.
        (facts(10, 10, 9), PROVEN, "the flow is at 10"),
        (facts(10, 10, 4, False), REFUTED, "5 offsets expired"),
        (facts(10, 10, None, False), UNKNOWN, "the last replicated offset is unknown"),
        (facts(10, 12, None, False), UNKNOWN, "the last replicated offset is unknown"),
        (facts(8, 12, 6, True), REFUTED, "1 offsets expired"),
        # The source log is shorter than its replicated part: it was re-created or truncated.
        (facts(0, 5, 9, False), REFUTED, "recreated"),
        (facts(0, 0, 9, False), REFUTED, "recreated"),
        (facts(None, 10, 9), UNKNOWN, "could not be read"),
        (facts(0, None, 9), UNKNOWN, "could not be read"),
    ],
)
def test_drained_verdicts(seen: PartitionFacts, verdict: str, message: str) -> None:
    """R19 and R20: the verdict and the reason for each combination of log range and last replicated offset."""
    finding = drained(seen)
    assert finding.verdict == verdict
    assert message in finding.reason


@pytest.mark.parametrize(
    ("seen", "verdict"),
    [
        (facts(0, 10, 4), PROVEN),
        (facts(5, 10, 4), PROVEN),  # The next record to replicate is the first one in the log.
        (facts(6, 10, 4), REFUTED),
        (facts(0, 10, 9), PROVEN),
        (facts(0, 10, 10), REFUTED),
        (facts(0, 10, 10, False), REFUTED),
        (facts(0, 10, None), PROVEN),
        (facts(3, 10, None), UNKNOWN),
        (facts(3, 10, None, False), UNKNOWN),
        (facts(None, None, None), UNKNOWN),
    ],
)
def test_an_offset_outside_the_source_log_is_not_a_healthy_flow(seen: PartitionFacts, verdict: str) -> None:
    """If N < S - 1, retention overtook the flow. If N + 1 > E, the topic was re-created."""
    assert healthy(seen).verdict == verdict


@pytest.mark.parametrize(
    ("end", "high", "expected"), [(10, 10, 0), (10, 14, 4), (10, None, 0), (None, 14, 0), (14, 10, 0)]
)
def test_an_open_transaction_is_the_range_from_the_last_stable_offset_to_the_high_watermark(
    end: int | None, high: int | None, expected: int
) -> None:
    """R5: records of an open transaction are after the last stable offset."""
    assert open_transaction(PartitionFacts(0, end, None, high=high)) == expected


LAGGING = facts(0, 10, 4, True)


@pytest.mark.parametrize(
    ("before", "after", "verdict", "message"),
    [
        (LAGGING, LAGGING, REFUTED, "although 5 offsets are not replicated"),
        (
            LAGGING,
            dataclasses.replace(LAGGING, last_replicated_offset=5),
            PROVEN,
            "last replicated offset advanced from 4 to 5",
        ),
        (
            dataclasses.replace(LAGGING, replica_end=3),
            dataclasses.replace(LAGGING, replica_end=4),
            PROVEN,
            "replica end advanced from 3 to 4",
        ),
        # A replica end that was unknown before is not progress: it may have been the same all the time.
        (LAGGING, dataclasses.replace(LAGGING, replica_end=4), REFUTED, "no progress"),
        # Going backwards is not progress either.
        (
            dataclasses.replace(LAGGING, replica_end=9),
            dataclasses.replace(LAGGING, replica_end=2),
            REFUTED,
            "no progress",
        ),
        (LAGGING, dataclasses.replace(LAGGING, tail_replicated=True), PROVEN, "the flow has passed the last record"),
        (LAGGING, dataclasses.replace(LAGGING, tail_replicated=False), REFUTED, "no progress"),
        (LAGGING, facts(0, 10, 9), PROVEN, "the flow has passed the last record"),
        (facts(0, 10, None, True), facts(0, 10, None, True), UNKNOWN, "the last replicated offset is unknown"),
        (LAGGING, facts(None, None, 4), UNKNOWN, "could not be read"),
        # Progress does not close a skipped range.
        (facts(7, 10, 4, True), facts(7, 10, 5, True), REFUTED, "expired"),
        (facts(0, 10, 4), facts(0, 3, 4, False), REFUTED, "recreated"),
        # Everything expired before the flow existed: nothing waits, and nothing is proven.
        (facts(10, 10, None, False), facts(10, 10, None, False), UNKNOWN, "the last replicated offset is unknown"),
    ],
)
def test_making_progress_verdicts(before: PartitionFacts, after: PartitionFacts, verdict: str, message: str) -> None:
    finding = making_progress(before, after)
    assert finding.verdict == verdict
    assert message in finding.reason


# ---- worlds: a source log as a list of the entry at each offset, and how much of it was really replicated


@st.composite
def worlds(draw: st.DrawFn) -> tuple[PartitionFacts, bool]:
    """The facts that a correct observer sees, and whether a data record is really unreplicated.

    The flow has read ``passed`` offsets. N is the last *record* among them. Entries below the log start offset expired.
    """
    log = draw(st.lists(st.sampled_from(["record", "marker"]), max_size=12))
    passed = draw(st.integers(0, len(log)))
    start = draw(st.integers(0, len(log)))
    last_replicated_offset = max((at for at in range(passed) if log[at] == "record"), default=None)
    unreplicated = any(kind == "record" for kind in log[passed:])
    floor = max(start, 0 if last_replicated_offset is None else last_replicated_offset + 1)
    left = [kind == "record" for kind in log[floor:]]
    data = draw(st.sampled_from([any(left), None]))
    return PartitionFacts(start, len(log), last_replicated_offset, data_after=data), unreplicated


@given(worlds())
def test_drained_is_never_proven_while_a_record_is_unreplicated(world: tuple[PartitionFacts, bool]) -> None:
    """R19, R20: not even if every record expired."""
    seen, unreplicated = world
    if unreplicated:
        assert drained(seen).verdict != PROVEN


@given(worlds())
def test_drained_is_proven_in_an_unexpired_log_once_every_record_is_replicated_and_the_rest_was_searched(
    world: tuple[PartitionFacts, bool],
) -> None:
    seen, unreplicated = world
    if not unreplicated and seen.start == 0 and seen.data_after is False:
        assert drained(seen).verdict == PROVEN
        assert lag(seen) == 0


@given(worlds())
def test_lag_is_never_zero_while_an_existing_record_is_unreplicated(world: tuple[PartitionFacts, bool]) -> None:
    seen, unreplicated = world
    if unreplicated and seen.start == 0:
        assert lag(seen) != 0


OPTIONAL = st.one_of(st.none(), st.integers(0, 12))
ANY_FACTS = st.builds(
    PartitionFacts,
    start=OPTIONAL,
    end=OPTIONAL,
    last_replicated_offset=OPTIONAL,
    data_after=st.sampled_from([None, True, False]),
    replica_end=OPTIONAL,
    tail_replicated=st.sampled_from([None, True, False]),
    high=OPTIONAL,
)


@given(ANY_FACTS, ANY_FACTS)
def test_every_combination_of_facts_gets_a_verdict_with_a_reason(before: PartitionFacts, after: PartitionFacts) -> None:
    for finding in (healthy(after), drained(after), making_progress(before, after)):
        assert finding.verdict in (PROVEN, REFUTED, UNKNOWN)
        assert finding.reason


@given(ANY_FACTS)
def test_a_source_log_that_could_not_be_read_proves_nothing(seen: PartitionFacts) -> None:
    for unread in (dataclasses.replace(seen, start=None), dataclasses.replace(seen, end=None)):
        assert drained(unread).verdict != PROVEN
        assert lag(unread) is None
