# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A watch shows that topics and groups are still, over several modules of one run (R48)."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.groups import GroupState, Member
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.topics import TopicState
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import wait_until
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation import standstill as file
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation.standstill import (
    Watch,
    watched_texts,
)


class World:
    """One topic, one group, and a clock that each look moves by a second."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.ends, self.commit, self.members = 100.0, [4, 7], 5, 0
        monkeypatch.setattr(file, "time", SimpleNamespace(monotonic=lambda: self.now))
        monkeypatch.setattr(file, "describe", lambda _kafka, groups: {name: self.state(name) for name in groups})
        monkeypatch.setattr(
            file,
            "known_committed_offsets",
            lambda _kafka, groups: {name: {Partition("Payments", 0): self.commit} for name in groups},
        )
        monkeypatch.setattr(
            file,
            "describe_anew",
            lambda _kafka, topics: {name: TopicState(name, "id", len(self.ends), 1, (), {}, 1) for name in topics},
        )
        monkeypatch.setattr(file, "log_ends", lambda _kafka, keys: {key: self.ends[key.partition] for key in keys})

    def state(self, name: str) -> GroupState:
        members = tuple(Member(str(number), "app", "/10.0.0.7", None) for number in range(self.members))
        return GroupState(name, "STABLE" if members else "EMPTY", "classic", members)

    def watch(self, seen: Any = None) -> Watch:
        kafka: Any = SimpleNamespace(bootstrap_servers="p:9092")
        return Watch(kafka, ["Payments"], ["settlement"], (10.0, 1.0), seen)

    def look(self, watch: Watch, after: float) -> list[str]:
        self.now += after
        return watch.look().texts


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    return World(monkeypatch)


def test_still_only_after_the_whole_time(world: World) -> None:
    watch = world.watch()
    assert world.look(watch, 0) == []
    assert not watch.settled
    assert world.look(watch, 9.9) == []
    assert not watch.settled
    assert world.look(watch, 0.1) == []
    assert watch.settled


def test_a_record_begins_the_time_anew_and_is_named_until_its_end(world: World) -> None:
    watch = world.watch()
    world.look(watch, 0)
    world.ends = [4, 9]
    assert world.look(watch, 9.9) == ["Payments was written (2 offsets in 10 s)"]
    assert world.look(watch, 9.9) == ["Payments was written (2 offsets in 20 s)"]
    assert not watch.settled
    assert world.look(watch, 0.1) == []
    assert watch.settled


def test_a_partition_that_was_added_counts_as_a_write(world: World) -> None:
    watch = world.watch()
    world.look(watch, 0)
    world.ends = [4, 7, 0]
    assert world.look(watch, 1) == ["Payments was written (0 offsets in 1 s)"]


def test_what_an_earlier_module_has_seen_counts(world: World) -> None:
    earlier = world.watch()
    world.look(earlier, 0)
    later = world.watch(earlier.as_seen())
    assert world.look(later, 10) == []
    assert later.settled
    # A later watch of something else does not forget it.
    kafka: Any = SimpleNamespace(bootstrap_servers="p:9092")
    assert set(Watch(kafka, [], ["fraud"], (10.0, 1.0), later.as_seen()).as_seen()["topics"]) == {"Payments"}


def test_a_record_between_two_modules_is_found(world: World) -> None:
    earlier = world.watch()
    world.look(earlier, 0)
    world.look(earlier, 10)
    assert earlier.settled
    world.ends = [5, 7]
    later = world.watch(earlier.as_seen())
    assert world.look(later, 60) == ["Payments was written (1 offsets in 70 s)"]
    assert not later.settled


def test_a_moment_of_another_host_does_not_count(world: World) -> None:
    earlier = world.watch()
    world.look(earlier, 1000)
    world.now = 100.0
    later = world.watch(earlier.as_seen())
    assert world.look(later, 0) == []
    assert not later.settled


def test_slow_looks_do_not_make_a_still_topic_unknown(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(_kafka: Any, topics: list[str]) -> dict[str, TopicState]:
        world.now += 7
        return {name: TopicState(name, "id", 2, 1, (), {}, 1) for name in topics}

    monkeypatch.setattr(file, "describe_anew", slow)
    monkeypatch.setattr(file, "wait_until", partial(wait_until, clock=(lambda: world.now, lambda _seconds: None)))
    assert watched_texts(world.watch()) == []
    world.members = 1
    assert watched_texts(world.watch()) == ['the group "settlement" has members (app on 10.0.0.7)']


def test_members_and_commits_are_named(world: World) -> None:
    watch = world.watch()
    world.members = 2
    assert world.look(watch, 0) == ['the group "settlement" has members (app on 10.0.0.7 and app on 10.0.0.7)']
    world.members = 0
    world.look(watch, 10)
    # A reader with assign() is no member (R9).
    world.commit = 6
    assert world.look(watch, 10) == ['the group "settlement" has no members, but commits offsets']
    assert not watch.settled
    assert world.look(watch, 1) == []
    assert watch.settled
