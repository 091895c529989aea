# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Gates that do not hang and do not lie: every decision over what is known of a partition."""

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
    """start and end of the source log, last copied offset, a data record behind it."""
    return PartitionFacts(start, end, last_replicated_offset, data_after=data)


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (facts(0, 10, 9), 0),
        (facts(0, 10, 4), 5),
        (facts(0, 10, 8, False), 0),  # the marker of a transaction is no record
        (facts(6, 10, 2), 4),  # what expired cannot be copied any more
        (facts(0, 0, None), 0),
        (facts(0, 10, None), None),
        (facts(None, 10, 9), None),
        (facts(0, None, 9), None),
        (facts(0, 5, 9), None),  # the topic is another one: what it lacks is not known
    ],
)
def test_lag_is_an_upper_bound_and_null_when_unknown(seen: PartitionFacts, expected: int | None) -> None:
    """R19."""
    assert lag(seen) == expected


@pytest.mark.parametrize(
    ("seen", "verdict", "said"),
    [
        (facts(0, 10, 9), PROVEN, "copied up to 9"),
        (facts(0, 0, None), PROVEN, "never written"),
        (facts(0, 10, 4, True), REFUTED, "copied up to 4, source end 10"),
        (facts(0, 10, 4), UNKNOWN, "could not be read"),
        (facts(0, 10, None, True), UNKNOWN, "no copied offset"),
        # R19: a transactional tail ends in a marker, for ever one offset behind.
        (facts(0, 10, 8, False), PROVEN, "only transaction markers"),
        (facts(0, 3, None, False), PROVEN, "only transaction markers"),  # all of it aborted
        # R20: E == S counts only if S - 1 <= N, or nothing was ever written.
        (facts(10, 10, 9), PROVEN, "copied up to 9"),
        (facts(10, 10, 4, False), REFUTED, "5 offsets expired"),
        (facts(10, 10, None, False), UNKNOWN, "no copied offset"),
        (facts(10, 12, None, False), UNKNOWN, "no copied offset"),
        (facts(8, 12, 6, True), REFUTED, "1 offsets expired"),
        # The source log is shorter than what was copied from it: re-created or truncated.
        (facts(0, 5, 9, False), REFUTED, "re-created"),
        (facts(0, 0, 9, False), REFUTED, "re-created"),
        (facts(None, 10, 9), UNKNOWN, "could not be read"),
        (facts(0, None, 9), UNKNOWN, "could not be read"),
    ],
)
def test_drained(seen: PartitionFacts, verdict: str, said: str) -> None:
    """R19 and R20."""
    finding = drained(seen)
    assert finding.verdict == verdict
    assert said in finding.reason


@pytest.mark.parametrize(
    ("seen", "verdict"),
    [
        (facts(0, 10, 4), PROVEN),
        (facts(5, 10, 4), PROVEN),  # the next one to copy is the first one there
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
def test_a_position_outside_the_source_log_is_no_healthy_flow(seen: PartitionFacts, verdict: str) -> None:
    """S - 1 <= N, else retention overtook the flow; N + 1 <= E, else the topic is another one."""
    assert healthy(seen).verdict == verdict


@pytest.mark.parametrize(
    ("end", "high", "expected"), [(10, 10, 0), (10, 14, 4), (10, None, 0), (None, 14, 0), (14, 10, 0)]
)
def test_an_open_transaction_is_what_lies_between_the_stable_and_the_true_end(
    end: int | None, high: int | None, expected: int
) -> None:
    """R5."""
    assert open_transaction(PartitionFacts(0, end, None, high=high)) == expected


BEHIND = facts(0, 10, 4, True)


@pytest.mark.parametrize(
    ("before", "after", "verdict", "said"),
    [
        (BEHIND, BEHIND, REFUTED, "although 5 offsets wait"),
        (BEHIND, dataclasses.replace(BEHIND, last_replicated_offset=5), PROVEN, "copied offset moved from 4 to 5"),
        (
            dataclasses.replace(BEHIND, replica_end=3),
            dataclasses.replace(BEHIND, replica_end=4),
            PROVEN,
            "replica end moved from 3 to 4",
        ),
        # A replica end that appears is no movement: it may have been there all the time.
        (BEHIND, dataclasses.replace(BEHIND, replica_end=4), REFUTED, "nothing moved"),
        # Going backwards is no progress either.
        (dataclasses.replace(BEHIND, replica_end=9), dataclasses.replace(BEHIND, replica_end=2), REFUTED, "nothing"),
        (BEHIND, dataclasses.replace(BEHIND, tail_replicated=True), PROVEN, "everything that can be copied"),
        (BEHIND, dataclasses.replace(BEHIND, tail_replicated=False), REFUTED, "nothing moved"),
        (BEHIND, facts(0, 10, 9), PROVEN, "everything that can be copied"),
        (facts(0, 10, None, True), facts(0, 10, None, True), UNKNOWN, "no copied offset"),
        (BEHIND, facts(None, None, 4), UNKNOWN, "could not be read"),
        # Movement does not heal a hole.
        (facts(7, 10, 4, True), facts(7, 10, 5, True), REFUTED, "expired"),
        (facts(0, 10, 4), facts(0, 3, 4, False), REFUTED, "re-created"),
        # Expired before the flow existed: nothing waits, nothing is proven.
        (facts(10, 10, None, False), facts(10, 10, None, False), UNKNOWN, "no copied offset"),
    ],
)
def test_alive(before: PartitionFacts, after: PartitionFacts, verdict: str, said: str) -> None:
    finding = making_progress(before, after)
    assert finding.verdict == verdict
    assert said in finding.reason


# ---- worlds: a source log as a list of what each offset holds, and how far it was really copied


@st.composite
def worlds(draw: st.DrawFn) -> tuple[PartitionFacts, bool]:
    """Facts as an honest observer sees them, and whether a data record is really uncopied.

    The flow has passed ``passed`` offsets; N is the last *record* among them. What lies below the log start expired.
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
def test_drained_is_never_proven_while_a_record_is_uncopied(world: tuple[PartitionFacts, bool]) -> None:
    """R19, R20: also where everything expired."""
    seen, unreplicated = world
    if unreplicated:
        assert drained(seen).verdict != PROVEN


@given(worlds())
def test_drained_is_proven_in_an_unexpired_log_once_every_record_is_copied_and_was_looked_for(
    world: tuple[PartitionFacts, bool],
) -> None:
    seen, unreplicated = world
    if not unreplicated and seen.start == 0 and seen.data_after is False:
        assert drained(seen).verdict == PROVEN
        assert lag(seen) == 0


@given(worlds())
def test_lag_zero_is_never_told_while_a_record_that_is_there_waits(world: tuple[PartitionFacts, bool]) -> None:
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
def test_whatever_is_seen_gets_a_verdict_with_a_reason(before: PartitionFacts, after: PartitionFacts) -> None:
    for finding in (healthy(after), drained(after), making_progress(before, after)):
        assert finding.verdict in (PROVEN, REFUTED, UNKNOWN)
        assert finding.reason


@given(ANY_FACTS)
def test_a_source_log_that_could_not_be_read_proves_nothing(seen: PartitionFacts) -> None:
    for unread in (dataclasses.replace(seen, start=None), dataclasses.replace(seen, end=None)):
        assert drained(unread).verdict != PROVEN
        assert lag(unread) is None
