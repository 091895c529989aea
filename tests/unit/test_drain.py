# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The drain asks the flow to stop, and remembers committed offsets so that idle groups need not settle twice (R9)."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError, Unreachable
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.flows.pair_spec import PairSpec
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.groups import GroupState, Member
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.topics import TopicState
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.run.move import Move, RunOptions
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.run.run import Run
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import Result
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.connections.engines import Opened
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation import groups as groups_file
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation import pair as pair_file
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation.commits_seen import (
    COMMIT_INTERVAL,
    CommitsSeen,
    IdleGroups,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation.pair import Pair
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.offsets import drain as drain_file
from run_records import move

COMMITS = {"settlement": {Partition("Payments", 1): 7, Partition("Payments", 0): 4}, "fraud": {}}


def stub(**fields: Any) -> Any:
    return SimpleNamespace(**fields)


def failing(error: DrError) -> Callable[..., Any]:
    def fail(*_values: Any, **_named: Any) -> Any:
        raise error

    return fail


@pytest.mark.parametrize(
    ("later", "same"),
    [
        ({"fraud": {}, "settlement": {Partition("Payments", 0): 4, Partition("Payments", 1): 7}}, True),
        ({**COMMITS, "settlement": {Partition("Payments", 0): 4, Partition("Payments", 1): 8}}, False),
        ({**COMMITS, "settlement": {Partition("Payments", 0): 4}}, False),
        ({**COMMITS, "settlement": {Partition("Payments", 0): 4, Partition("Payments", 1): None}}, False),
        ({**COMMITS, "fraud": {Partition("Payments", 0): 0}}, False),
        ({"settlement": COMMITS["settlement"]}, False),
    ],
)
def test_only_equal_offsets_count_from_the_first_of_two_observations(later: Any, same: bool) -> None:
    first = CommitsSeen.of(COMMITS)
    second = CommitsSeen.of(later)
    assert second.unchanged_since(CommitsSeen.parsed(first.as_dict())) == (first.at if same else second.at)


def test_a_moment_of_the_future_or_none_does_not_count() -> None:
    """Another host, or the same one after a start, has another clock."""
    now = CommitsSeen.of(COMMITS)
    assert now.unchanged_since(CommitsSeen(now.at + 60, now.digest)) == now.at
    assert now.unchanged_since(CommitsSeen.parsed(None)) == now.at


@pytest.mark.parametrize(
    ("later", "same"),
    [
        (COMMITS, True),
        ({**COMMITS, "fraud": {}}, True),
        ({"settlement": {Partition("Payments", 0): 4}}, False),
        ({}, False),
    ],
)
def test_a_group_that_had_no_members_and_committed_since_is_idle_after_a_commit_interval(
    later: Any, same: bool
) -> None:
    """R9: only the groups without members count, and a moment of the future does not."""
    idle = IdleGroups.of({"settlement": COMMITS["settlement"]})
    parsed = IdleGroups.parsed(idle.as_dict())
    assert parsed == idle
    since = idle.seen.at + 3
    assert parsed.idle_at(later, since) == (idle.seen.at if same else since) + COMMIT_INTERVAL
    assert parsed.idle_at(later, idle.seen.at - 60) == idle.seen.at - 60 + COMMIT_INTERVAL
    assert IdleGroups.of({}).idle_at(later, since) == since


def test_the_topics_of_groups_without_members_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """They take seconds in a large pair, while producers are stopped. The barrier reads them."""
    payments, audit = Partition("Payments", 0), Partition("Audit", 0)
    kafka: Any = stub(seen_topics={name: TopicState(name, "id", 1, 1) for name in ("Payments", "Audit")})
    kafka.seen_topics |= dict.fromkeys(("B.Payments", "B.Audit"))
    kafka.seen_settings = frozenset()
    spec = PairSpec.of({"clusters": {"P": {}, "B": {}}, "topics": ["Payments", "Audit"], "groups": ["works", "rests"]})
    pair = Pair(spec, [("P", "B")], opened=Opened({"P": kafka, "B": kafka}, stub(application=None)))
    member = Member("m", "c", "/h", None, (payments,))
    states = {"works": GroupState("works", "STABLE", members=(member,)), "rests": GroupState("rests", "EMPTY")}
    commits = {"works": {payments: 3}, "rests": {audit: 1}}
    asked: list[Any] = []

    def ranges(_kafka: Any, partitions: Any, _isolation: str) -> Any:
        asked.append(set(partitions))
        return dict.fromkeys(partitions, (0, 5))

    monkeypatch.setattr(groups_file, "read", lambda *_values: (states, commits))
    monkeypatch.setattr(pair_file, "log_ranges", ranges)
    monkeypatch.setattr(groups_file, "data_after", lambda _kafka, places, *_more: dict.fromkeys(places, True))
    found = groups_file.observe_readers(pair, "P")
    assert {group: status.read_to_end for group, status in found.items()} == {"works": {payments: False}}
    assert asked == [{payments}]


class Work:
    """One call of the drain with these answers."""

    def __init__(self, patch: pytest.MonkeyPatch, reached: Result, asked: Callable[..., Any], provable: bool) -> None:
        self.stops: list[tuple[Any, ...]] = []

        def stop(source: str, target: str, final: bool, _bounds: Any, check: bool, awaited: Any) -> Any:
            self.stops.append((source, target, final, check, awaited))
            return asked()

        engine = stub(capabilities=stub(stop_provable=provable), stop=stop)
        patch.setattr(drain_file, "Pair", lambda *_values: stub(engine=engine, kafka={"P": None}, groups=["fraud"]))
        reached.extra = {"waited_s": 0.2, "status": {"groups": [], "out_of_scope": []}}
        patch.setattr(drain_file, "status", lambda _request, _pair: reached)
        patch.setattr(drain_file, "known_committed_offsets", lambda _kafka, _groups: COMMITS)

    def run(self, waits: int = 0, **more: Any) -> Result:
        request: Any = stub(pair=None, flows=[], request_timeout=15.0)
        run = Run(Move.of(move(**more)), RunOptions(wait_for_applications=waits), 0.0)
        return drain_file.drain(request, run, check=False)


@pytest.mark.parametrize("others", [[], ["T"]], ids=["", "other teams have stopped before preflight"])
def test_the_flow_is_asked_to_stop_without_a_wait_and_the_offsets_are_remembered(
    monkeypatch: pytest.MonkeyPatch, others: list[str]
) -> None:
    work = Work(monkeypatch, Result(), Result, True)
    result = work.run(other_applications={"topics": others, "groups": []})
    assert work.stops == [("P", "B", True, False, ())]
    assert result.extra.keys() == {"waited_s", "commits_seen"}
    seen = CommitsSeen.parsed(result.extra["commits_seen"])
    assert seen is not None
    assert 0 <= time.monotonic() - seen.at < 60
    assert CommitsSeen.of(COMMITS).unchanged_since(seen) == seen.at


@pytest.mark.parametrize(
    ("reached", "moved", "provable"),
    [
        (Result(failure=DrError("not_replicated", "3 partitions lag.")), {}, True),
        (Result(), {"applications": [{"name": "enrich", "role": "processor"}]}, True),
        (Result(), {"other_applications": {"topics": ["T"], "groups": []}, "waits": 60}, True),
        (Result(), {}, False),
    ],
    ids=["not drained", "a processor writes", "other teams are awaited", "a stop of one flow cannot be proven"],
)
def test_the_flow_goes_on(
    reached: Result, moved: dict[str, Any], provable: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = Work(monkeypatch, reached, Result, provable)
    assert work.run(**moved).failure is reached.failure
    assert work.stops == []


@pytest.mark.parametrize(
    "asked",
    [failing(Unreachable("connect_unreachable", "No worker answers.")), lambda: Result(failure=DrError("x", "No."))],
)
def test_a_stop_that_is_not_accepted_is_left_to_the_barrier(
    asked: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    result = Work(monkeypatch, Result(), asked, True).run()
    assert result.failure is None
    assert ["could not be asked to stop early" in text for text in result.warnings] == [True]


def test_without_the_offsets_the_barrier_waits_for_the_whole_settle_time(monkeypatch: pytest.MonkeyPatch) -> None:
    work = Work(monkeypatch, Result(), Result, True)
    monkeypatch.setattr(drain_file, "known_committed_offsets", failing(DrError("offsets_unknown", "A coordinator.")))
    result = work.run()
    assert (result.failure, result.extra) == (None, {"waited_s": 0.2})
