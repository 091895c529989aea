# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Predictions use only complete runs, and a trend uses every stored observation."""

from __future__ import annotations

from typing import Any

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.history import (
    READINESS,
    kept,
    kept_key,
    rehearsal_line,
    superfluous,
    trend_entry,
    trend_lines,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.journal.durations import durations
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.journal.events import Event


def run(
    number: int, kind: str, seconds: float, result: str | None = "completed", resumed: bool = False, times: Any = None
) -> list[Event]:
    name, start = f"r{number}", number * 1000.0
    events = [Event(number, 0, name, "started", start, {"type": kind, "from": "P", "to": "B"})]
    if resumed:
        events.append(Event(number, 1, name, "resumed", start + 1, {}))
    if result is not None:
        events.append(
            Event(number, 2, name, "ended", start + seconds, {"result": result, **({"times": times} if times else {})})
        )
    return events


def test_a_duration_is_that_of_complete_runs_by_type() -> None:
    events = [*run(1, "cutoff", 20.0), *run(2, "disaster", 9.0), *run(3, "cutoff", 40.0), *run(4, "cutoff", 33.0)]
    assert durations(events) == {
        "cutoff": {"last": 33.0, "median": 33.0, "runs": 3, "phases": {}, "writes": None, "reads": None},
        "disaster": {"last": 9.0, "median": 9.0, "runs": 1, "phases": {}, "writes": None, "reads": None},
    }


def test_phases_are_predicted_by_the_runs_that_journaled_them() -> None:
    def times(**seconds: float) -> list[dict[str, Any]]:
        return [{"phase": name, "began": 5.0, "ended": 5.0 + took} for name, took in seconds.items()]

    events = [
        *run(1, "cutoff", 20.0, times=times(drain=2.0, barrier=4.0)),
        *run(2, "cutoff", 30.0),
        *run(3, "cutoff", 40.0, times=times(drain=4.0, barrier=8.0)),
        *run(4, "cutoff", 90.0, resumed=True, times=times(drain=80.0)),
    ]
    assert durations(events)["cutoff"]["phases"] == {"drain": 3.0, "barrier": 6.0}


def test_the_downtime_is_that_between_the_phases_that_stop_and_start() -> None:
    def times(*rows: tuple[str, float, float]) -> list[dict[str, Any]]:
        return [{"phase": name, "began": began, "ended": ended} for name, began, ended in rows]

    cutoff = [("stop_producers", 10.0, 11.0), ("drain", 11.0, 13.0), ("stop_consumers", 13.0, 14.0)]
    disaster = [("stop_consumers", 5.0, 6.0), ("start_consumers", 8.0, 9.0), ("move_producers", 9.0, 13.0)]
    events = [
        *run(1, "cutoff", 20.0, times=times(*cutoff, ("start", 14.0, 18.0))),
        *run(2, "cutoff", 20.0, times=times(*cutoff, ("start", 14.0, 20.0))),
        # Applications were started before the phases were journaled, so nothing is known of this run.
        *run(3, "cutoff", 20.0, times=times(*cutoff)),
        *run(4, "disaster", 20.0, times=times(*disaster)),
    ]
    found = durations(events)
    assert (found["cutoff"]["writes"], found["cutoff"]["reads"]) == (9.0, 6.0)
    # In a disaster nothing of this run stopped them.
    assert (found["disaster"]["writes"], found["disaster"]["reads"]) == (8.0, 4.0)


def test_interrupted_undone_or_unfinished_runs_predict_nothing() -> None:
    events = [
        *run(1, "cutoff", 900.0, resumed=True),
        *run(2, "cutoff", 5.0, result="abandoned"),
        *run(3, "cutoff", 0.0, result=None),
    ]
    assert durations(events) == {}


def observe(at: str, controlled: str = "YES", lag: float | None = 0.5, pair: str = "B-P") -> dict[str, Any]:
    report = {
        "from": "P",
        "to": "B",
        "controlled": controlled,
        "disaster": "YES",
        "checks": [{"name": "flow", "answer": controlled}, {"name": "topics", "answer": "SKIPPED"}],
        "lag_s": lag,
        "loss": {"records_at_most": 7},
        "rereads": {"controlled": {"a": 2, "b": 3}},
    }
    return trend_entry(pair, at, report)


def test_a_stored_observation_has_the_values_that_a_trend_needs() -> None:
    seen = observe("2026-01-01T00:00:00.000000", "NO")
    assert (seen["controlled"], seen["named"], seen["lag_s"]) == ("NO", ["flow"], 0.5)
    assert (seen["loss_records"], seen["rereads"]) == (7, 5)
    assert kept_key("B-P", READINESS, seen["at"]) == "B-P/readiness/2026-01-01T00:00:00.000000"


def test_an_unknown_value_is_not_stored_as_zero() -> None:
    report = {"from": "P", "to": "B", "controlled": "UNKNOWN", "disaster": "UNKNOWN", "checks": []}
    seen = trend_entry("p", "t", {**report, "rereads": {"controlled": {"a": 2, "b": None}}})
    assert (seen["lag_s"], seen["loss_records"], seen["rereads"]) == (None, None, None)
    assert trend_entry("p", "t", report)["rereads"] is None


def test_observations_of_this_pair_come_once_and_in_order() -> None:
    values = [observe("2026-01-02"), observe("2026-01-01"), observe("2026-01-01"), observe("2026-01-03", pair="other")]
    values.append({"kind": "committed_offsets", "pair": "B-P"})
    assert [one["at"] for one in kept(values, "B-P", READINESS)] == ["2026-01-01", "2026-01-02"]


def test_the_last_rehearsal_is_reported_in_one_line() -> None:
    rehearsal = {"type": "cutoff", "from": "P", "to": "B", "back": True, "outcome": "completed", "verdict": "PROVEN"}
    line = "last rehearsed: 2026-01-02T03:04:05Z, cutoff P -> B and back: completed, PROVEN"
    assert rehearsal_line({**rehearsal, "at": "2026-01-02T03:04:05.000001", "cutover_s": 44.66}) == [f"{line}, 44.7 s"]
    assert rehearsal_line({**rehearsal, "at": "2026-01-02T03:04:05.000001", "cutover_s": None}) == [line]
    assert rehearsal_line(None) == []


def test_the_oldest_observations_are_dropped() -> None:
    observations = [observe(f"2026-01-{day:02}") for day in range(1, 6)]
    assert [one["at"] for one in superfluous(observations, 3)] == ["2026-01-01", "2026-01-02"]
    assert superfluous(observations, 5) == []


def test_a_trend_reports_its_start_and_its_number_of_observations() -> None:
    observations = [
        observe("2026-01-01T00:00:00.1"),
        observe("2026-01-02T00:00:00.1", "NO"),
        observe("2026-01-03T00:00:00.1", "NO", 9),
    ]
    lines = trend_lines(observations)
    assert "controlled: NO since 2026-01-02T00:00:00Z; YES in 1 of 3 observations since 2026-01-01T00:00:00Z" in lines
    assert "disaster: YES since 2026-01-01T00:00:00Z; YES in 3 of 3 observations since 2026-01-01T00:00:00Z" in lines
    assert lines[-1] == "lag: 9.0 s; earlier observations: median 0.5 s, maximum 0.5 s"
    assert trend_lines(observations[:1]) == []
    assert not any("lag" in line for line in trend_lines([observe("a", lag=None), observe("b")]))
