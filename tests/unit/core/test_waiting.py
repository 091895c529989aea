# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One loop for every wait, with a simulated clock: no test here takes real time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError, Unreachable
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import (
    Bounds,
    Patience,
    Waited,
    wait_until,
)


class Clock:
    """A clock that advances only in sleep, and in observations that take long."""

    def __init__(self) -> None:
        self.now = 100.0
        self.sleeps: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        # As on a real clock, every sleep takes some time, no matter how short it is.
        self.now += max(seconds, 1e-9)

    @property
    def pair(self) -> tuple[Callable[[], float], Callable[[float], None]]:
        return (lambda: self.now), self.sleep


def wait(states: list[int], bounds: Bounds, done_at: int, cost: float = 0.0) -> tuple[Waited[int], Clock]:
    """Observe ``states`` one after the other, and the last one repeatedly. Each observation takes ``cost`` seconds."""
    clock = Clock()
    left = list(states)

    def observe() -> int:
        clock.now += cost
        return left.pop(0) if len(left) > 1 else left[0]

    waited = wait_until(observe, lambda state: state >= done_at, bounds, lambda state: state, clock.pair)
    return waited, clock


@pytest.mark.parametrize(
    ("states", "bounds", "ended", "state", "seconds", "observations"),
    [
        ([5], Bounds(10, 1), "done", 5, 0.0, 1),  # True at the first observation: no sleep.
        ([1, 2, 5], Bounds(10, 1), "done", 5, 2.0, 3),
        ([1], Bounds(3, 1), "timeout", 1, 3.0, 4),
        ([1], Bounds(0, 1), "timeout", 1, 0.0, 1),  # No time still means one observation.
        ([5], Bounds(0, 1), "done", 5, 0.0, 1),
        ([1], Bounds(10, 1, stall=2), "stalled", 1, 2.0, 3),
        ([1, 2, 3, 4, 4], Bounds(10, 1, stall=2), "stalled", 4, 5.0, 6),  # Progress restarts the stall bound.
        ([1, 2, 3, 4, 5], Bounds(10, 1, stall=2), "done", 5, 4.0, 5),
        ([1], Bounds(10, 1, stall=0), "timeout", 1, 10.0, 11),  # 0: only the timeout counts.
        ([1], Bounds(2.5, 1), "timeout", 1, 2.5, 4),  # The last sleep is shortened to the bound.
    ],
)
def test_how_a_wait_ends(
    states: list[int], bounds: Bounds, ended: str, state: int, seconds: float, observations: int
) -> None:
    waited, _clock = wait(states, bounds, done_at=5)

    assert (waited.ended, waited.state, waited.seconds, waited.observations) == (ended, state, seconds, observations)
    assert waited.done is (ended == "done")


def test_a_condition_that_holds_at_the_last_observation_succeeds_after_the_timeout() -> None:
    waited, _clock = wait([1, 5], Bounds(3, 1), done_at=5, cost=4.0)
    # The first observation alone took longer than the bound, so there is no other one.
    assert (waited.ended, waited.observations) == ("timeout", 1)
    waited, _clock = wait([5], Bounds(3, 1), done_at=5, cost=4.0)
    assert waited.ended == "done"


def test_without_a_measure_of_progress_the_stall_bound_runs_from_the_beginning() -> None:
    clock = Clock()
    states = iter(range(100))
    waited = wait_until(lambda: next(states), lambda state: False, Bounds(50, 1, stall=3), clock=clock.pair)
    assert (waited.ended, waited.seconds) == ("stalled", 3.0)


@given(
    st.floats(0, 20),
    st.floats(0.01, 5),
    st.one_of(st.just(0.0), st.floats(0.1, 20)),
    st.lists(st.integers(0, 3), min_size=1, max_size=6),
)
def test_no_wait_outlives_its_bound(timeout: float, sleep: float, stall: float, states: list[int]) -> None:
    waited, clock = wait(states, Bounds(timeout, sleep, stall), done_at=4)

    assert waited.ended in ("timeout", "stalled")
    assert waited.seconds <= timeout + 1e-6
    assert all(seconds >= 0 for seconds in clock.sleeps)


def test_an_error_during_an_observation_is_raised() -> None:
    def broken() -> Any:
        raise ValueError("no answer")

    with pytest.raises(ValueError, match="no answer"):
        wait_until(broken, lambda state: True, Bounds(1))


# ---- optional waits --------


def test_an_optional_wait_ends_early_without_progress() -> None:
    patience = Patience(60.0, 10.0)
    assert not patience.begun
    assert [patience.over("at 5", now) for now in (100.0, 105.0, 109.9)] == ["", "", ""]
    assert patience.begun
    assert patience.over("at 5", 110.0) == "there was no progress for 10 s"


def test_an_optional_wait_continues_with_progress_until_its_bound() -> None:
    patience = Patience(60.0, 10.0)
    assert not any(patience.over(now, float(now)) for now in range(100, 160, 9))
    assert patience.over(160, 160.0) == "the time-out of 60 s was reached"


@pytest.mark.parametrize(("timeout", "stall"), [(30.0, 0.0), (30.0, 31.0)])
def test_without_a_stall_bound_only_the_whole_time_counts(timeout: float, stall: float) -> None:
    patience = Patience(timeout, stall)
    assert [patience.over("at 5", now) for now in (0.0, 29.9, 30.0)] == ["", "", "the time-out of 30 s was reached"]


# ---- temporary errors (R35)


def watched(errors: list[DrError], bounds: Bounds, **more: Any) -> Waited[str]:
    """Observe ``errors`` one after the other (a single one repeatedly), then a good state."""
    clock, left = Clock(), list(errors)

    def observe() -> str:
        if left:
            raise left.pop(0)
        return "good"

    return wait_until(observe, lambda state: state == "good", bounds, clock=clock.pair, **more)


def passing(number: int) -> DrError:
    return DrError("offsets_unknown", f"{number} partitions have no leader", "Wait.", retriable=True)


def test_a_temporary_error_does_not_end_a_wait() -> None:
    waited = watched([passing(number) for number in range(1851)], Bounds(600.0, 0.25))
    assert (waited.ended, waited.state, waited.observations) == ("done", "good", 1)
    assert waited.seconds > 400


def test_at_the_bound_the_last_temporary_error_is_the_reason() -> None:
    with pytest.raises(DrError) as raised:
        watched([passing(number) for number in range(100)], Bounds(10.0, 1.0))
    assert raised.value.message == "10 partitions have no leader"
    assert raised.value.hint == "Wait. A wait of 10 s ended with this error."
    with pytest.raises(DrError, match="3 partitions"):
        watched([passing(number) for number in range(100)], Bounds(10.0, 1.0, 3.0))


def test_with_a_fallback_the_last_temporary_error_is_returned() -> None:
    waited = watched([passing(number) for number in range(100)], Bounds(10.0, 1.0), fallback=lambda: "as before")
    assert (waited.ended, waited.state, waited.last_error) == (
        "timeout",
        "as before",
        " Last error: 10 partitions have no leader",
    )
    waited = watched([passing(number) for number in range(100)], Bounds(10.0, 1.0, 3.0), fallback=lambda: "as before")
    assert waited.ended == "stalled"
    assert watched([passing(1)], Bounds(10.0, 1.0), fallback=lambda: "as before").last_error == ""


def test_every_other_error_ends_a_wait_at_once() -> None:
    for error in (DrError("not_authorized", "no"), Unreachable("kafka_unreachable", "unknown host")):
        with pytest.raises(DrError, match=error.message):
            watched([error], Bounds(10.0, 1.0), fallback=lambda: "as before")
