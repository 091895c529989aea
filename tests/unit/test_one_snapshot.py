# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One observation of a pair: which parts are requested again, and how a failure is stored."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.flows.pair_spec import PairSpec
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.replication_gates import PartitionFacts
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.unreplicated import Unreplicated
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition, by_topic
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.groups import GroupState
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.topics import TopicState
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.verdict import PROVEN, REFUTED, UNKNOWN
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.base import FlowState, PartState
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.records import Record
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.connections.engines import Opened
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation import last_records, status
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation.flows import FlowObservation
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation.foreign_writers import (
    foreign_records,
    not_compared,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation.last_records import LastRecords
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation.pair import Pair
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation.snapshot import (
    PairSnapshot,
    flow_in,
    groups_in,
)
from repository import files, read

A, B, C = Partition("T", 0), Partition("T", 1), Partition("T", 2)
RUNS = {"source": PartState("source", "P->B.source", "RUNNING", ("RUNNING",))}


def observe(**facts: PartitionFacts) -> FlowObservation:
    """A flow state by the letter of each partition."""
    keys = {"a": A, "b": B, "c": C}
    return FlowObservation(
        "P", "B", dict(RUNS), {keys[name]: one for name, one in facts.items()}, 1.0, heartbeat_offset=7
    )


def waits(last_replicated_offset: int, start: int = 0) -> PartitionFacts:
    return PartitionFacts(start, 100, last_replicated_offset, data_after=True, replica_end=last_replicated_offset + 1)


DONE = PartitionFacts(0, 100, 99, data_after=False, replica_end=100)


class ScriptedFlow:
    """Returns scripted later observations one after another, and stores the partitions of each request."""

    def __init__(self, *answers: FlowObservation) -> None:
        self.answers = list(answers)
        self.asked: list[set[Any]] = []

    def observe_again(self, _pair: Pair, before: FlowObservation, keys: set[Any]) -> FlowObservation:
        self.asked.append(set(keys))
        fresh = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return replace(fresh, facts={**before.facts, **fresh.facts})


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status, "_STEP", 0.001)


def judge(first: FlowObservation, *answers: FlowObservation, seconds: float = 5.0) -> tuple[str, list[set[Any]]]:
    flow = ScriptedFlow(*answers)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(status, "observe_again", flow.observe_again)
        [(_observation, finding)] = status.judged_flows(None, [first], seconds)  # type: ignore[arg-type]
    return finding.verdict, flow.asked


def test_if_nothing_waits_only_the_next_heartbeat_is_awaited() -> None:
    idle = observe(a=DONE, b=DONE)
    assert judge(idle, idle, replace(idle, heartbeat_offset=8)) == (PROVEN, [set(), set()])


@pytest.mark.parametrize("age", [0.0, 1.0, None])
def test_a_fresh_timestamp_of_a_heartbeat_is_no_sign_of_life(age: float | None) -> None:
    """R43: the clock of its worker may be an hour ahead, and the flow dead for an hour."""
    dead = replace(observe(a=DONE), heartbeat_age=age, heartbeat_limit=0.05)
    assert judge(dead, dead, seconds=0.01)[0] == UNKNOWN


def test_only_undecided_partitions_are_observed_again() -> None:
    first = observe(a=DONE, b=waits(10), c=waits(20))
    found = judge(first, observe(b=waits(11), c=waits(20)), observe(c=waits(25)))
    assert found == (PROVEN, [{B, C}, {C}])


def test_a_partition_that_never_advances_refutes_no_matter_what_the_others_do() -> None:
    verdict, asked = judge(observe(a=waits(10), b=waits(20)), observe(a=waits(11), b=waits(20)), seconds=0.05)
    assert verdict == REFUTED
    assert asked[0] == {A, B}
    assert all(keys == {B} for keys in asked[1:])


@pytest.mark.parametrize("rebalancing", [{"state": "UNASSIGNED"}, {"tasks": ("UNASSIGNED",)}])
@pytest.mark.parametrize("part", ["source", "checkpoint", "heartbeat"])
def test_a_flow_is_observed_again_while_its_workers_rebalance(part: str, rebalancing: dict[str, Any]) -> None:
    """A worker reports UNASSIGNED for some seconds, and that says nothing about the flow."""
    names = ("source", "checkpoint", "heartbeat")
    parts = {name: PartState(name, f"P->B.{name}", "RUNNING", ("RUNNING",)) for name in names}
    over = replace(observe(a=DONE), connectors=parts, heartbeat_offset=8)
    moves = replace(over, heartbeat_offset=7, connectors={**parts, part: replace(parts[part], **rebalancing)})
    assert judge(moves, moves, over) == (PROVEN, [set(), set()])


def test_a_rebalance_that_does_not_end_is_reported() -> None:
    moves = replace(observe(a=DONE), connectors={"source": replace(RUNS["source"], state="UNASSIGNED")})
    assert judge(moves, moves, seconds=0.05)[0] == REFUTED


def test_a_partition_that_has_advanced_must_still_fit() -> None:
    """Records may expire unreplicated after an observation that showed progress."""
    moved, lost = waits(11), waits(11, start=50)
    assert status._flow_finding(observe(a=waits(10)), observe(a=lost), {A}).verdict == REFUTED
    assert status._flow_finding(observe(a=waits(10)), observe(a=moved), {A}).verdict == PROVEN


def test_an_unreachable_flow_is_unknown_no_matter_what_its_logs_show() -> None:
    """An empty partition would fit, and all of it would be replicated, but the flow's state is unknown."""
    blind = replace(observe(a=PartitionFacts(0, 0, None)), away="no worker responds", heartbeat_age=0.5)
    [(_observation, finding)] = status.judged_flows(None, [blind])  # type: ignore[arg-type]
    assert (finding.verdict, finding.reason) == (UNKNOWN, "no worker responds")
    row = status.flow_row(blind, finding)
    assert (row["verdict"], row["lag"], row["partitions"][0]["fits"]) == (UNKNOWN, None, UNKNOWN)


def test_a_partial_observation_is_only_shown_to_people() -> None:
    """A playbook that continues with the observation gets an error instead."""
    users = [path.name for path in files("roles/**/*.yml") if re.search(r"^ +partial:", read(path), re.MULTILINE)]
    assert users == ["observe_status.yml"]


def test_a_missing_part_only_stops_code_that_needs_it() -> None:
    lost = DrError("x", "no leader", "")
    reported = {A: (0, 5), B: "Broker: Leader not available"}

    class ScriptedCluster:
        bootstrap_servers = "p:1"

    kafka: Any = {"P": ScriptedCluster(), "B": ScriptedCluster()}
    snapshot = PairSnapshot({}, {}, {"P": reported, "B": lost}, kafka, LastRecords(kafka))
    assert snapshot.ranges("P", [A, C]) == {A: (0, 5)}
    with pytest.raises(DrError, match=r"T-1.*Leader not available"):
        snapshot.ranges("P", [A, B])
    with pytest.raises(DrError, match="no leader"):
        snapshot.ranges("B", [A])


def test_the_last_record_is_read_once_for_each_end(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def read(_kafka: Any, spans: Any, _isolation: str) -> Any:
        asked.append(dict(spans))
        return dict.fromkeys(spans)

    monkeypatch.setattr(last_records, "last_data_records", read)
    last = LastRecords({"P": None})  # type: ignore[dict-item]
    last.of("P", {A: (0, 5)})
    last.of("P", {A: (0, 5), B: (0, 7)})
    last.of("P", {A: (0, 6)})
    assert asked == [{A: (0, 5)}, {B: (0, 7)}, {A: (0, 6)}]


def test_a_last_record_answers_only_for_the_range_in_which_it_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A record that was written since must not look as if the group had read everything."""
    # A ends with a marker at offset 4, B has no data record.
    monkeypatch.setattr(last_records, "last_data_records", lambda *_args: {A: record(3, b"a"), B: None})
    last = LastRecords({"P": None})  # type: ignore[dict-item]
    ranges = {A: (0, 5), B: (2, 7)}
    last.of("P", ranges)
    places = {(A, 0), (A, 3), (A, 4), (B, 2)}
    assert last.data_after("P", ranges, places) == {(A, 0): True, (A, 3): True, (A, 4): False, (B, 2): False}
    assert last.data_after("P", {A: (0, 6), B: (2, 7)}, places) == {(B, 2): False}
    assert last.data_after("B", ranges, places) == {}


def test_partitions_are_sorted_by_topic() -> None:
    assert by_topic([Partition("b", 1), Partition("a", 10), Partition("b", 0), Partition("a", 2)]) == {
        "a": [("a", 2), ("a", 10)],
        "b": [("b", 0), ("b", 1)],
    }


# ---- the values from one snapshot ----------------------------------------------------------------------------------


class Remembers:
    """A cluster whose topics the snapshot already has. It fails for every other request."""

    bootstrap_servers = "cluster:1"

    def __init__(self, *names: str) -> None:
        self.seen_topics = {name: TopicState(name, "id", 3, 1) for name in names}
        self.seen_settings: frozenset[str] = frozenset()
        self.requests: list[Any] = []


def record(offset: int, value: bytes) -> Record:
    return Record(offset, 1, "CreateTime", None, value, ())


LAST = {
    # Offset 9 is a marker.
    ("P", A): record(8, b"a"),
    ("P", B): record(4, b"b"),
    ("B", Partition("P.T", 0)): record(8, b"a"),
    ("B", Partition("P.T", 1)): record(3, b"not b"),
}


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> tuple[Pair, PairSnapshot]:
    """T-0 is replicated except for its marker, T-1 ends with another record on each cluster, T-2 was never written."""
    kafka: Any = {"P": Remembers("T", "B.T"), "B": Remembers("T", "P.T", "P.heartbeats")}
    for cluster, missing in (("P", "B.heartbeats"), ("B", "x")):
        kafka[cluster].seen_topics[missing] = None
    engine: Any = SimpleNamespace(application=None)
    spec = PairSpec.of({"clusters": {"P": {}, "B": {}}, "topics": ["T"], "groups": ["g"]})
    pair = Pair(spec, [("P", "B")], opened=Opened(kafka, engine))

    def read(cluster: Any, spans: Any, _isolation: str) -> Any:
        alias = next(name for name in kafka if kafka[name] is cluster)
        return {key: LAST.get((alias, key)) for key in spans}

    monkeypatch.setattr(last_records, "last_data_records", read)
    logs = {
        "P": {A: (0, 10), B: (0, 5), C: (0, 0)},
        "B": {
            Partition("P.T", 0): (0, 9),
            Partition("P.T", 1): (0, 4),
            Partition("P.T", 2): (0, 0),
            Partition("P.heartbeats", 0): (0, 0),
        },
    }
    observations = {("P", "B"): FlowState(dict(RUNS), {A: 8, B: 4})}
    state = {"g": GroupState("g", "EMPTY")}
    snapshot = PairSnapshot(observations, {"P": (state, {"g": {A: 9, B: 4}})}, logs, kafka, LastRecords(kafka))
    return pair, snapshot


def test_groups_lag_if_a_record_is_after_their_offset(seen: tuple[Pair, PairSnapshot]) -> None:
    pair, snapshot = seen
    found = groups_in(snapshot, pair, "P")["g"]
    assert found.commits == {A: 9, B: 4}
    # There is only a marker after 9. A partition that was never written is read to its end.
    assert {key: found.read_to_end[key] for key in (A, B, C)} == {A: True, B: False, C: True}


def test_a_flow_in_the_snapshot_equals_an_observation_of_its_own(seen: tuple[Pair, PairSnapshot]) -> None:
    pair, snapshot = seen
    found = flow_in(snapshot, pair, "P", "B")
    assert found.heartbeat_age is None
    assert found.facts[A] == PartitionFacts(0, 10, 8, data_after=False, replica_end=9, tail_replicated=True)
    assert found.facts[B] == PartitionFacts(0, 5, 4, data_after=False, replica_end=4)
    assert found.facts[C].replica_end == 0


def test_a_replica_that_ends_with_another_record_is_observed_again(
    seen: tuple[Pair, PairSnapshot], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The end of the source is read again, only for suspects: by now it may include the last record of the replica."""
    from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation import (
        foreign_writers as foreign_writers_module,
    )

    pair, snapshot = seen
    asked: list[set[Any]] = []

    def ranges(_kafka: Any, keys: Any, _isolation: str) -> Any:
        asked.append(set(keys))
        return dict.fromkeys(keys, (0, 7))

    recent = [record(4, b"b")]
    monkeypatch.setattr(foreign_writers_module, "log_ranges", ranges)
    monkeypatch.setattr(foreign_writers_module, "offsets_at", lambda _kafka, stamps: dict.fromkeys(stamps))
    monkeypatch.setattr(foreign_writers_module, "_records", lambda _pair, _alias, spans: dict.fromkeys(spans, recent))
    observation = flow_in(snapshot, pair, "P", "B")
    assert len(foreign_records(pair, observation, (), snapshot.last)) == 1
    recent.append(record(5, b"not b"))
    assert foreign_records(pair, observation, (), snapshot.last) == []
    assert asked == [{B}, {B}]


def test_a_replica_that_lags_is_no_evidence_unless_its_end_was_found(seen: tuple[Pair, PairSnapshot]) -> None:
    pair, snapshot = seen
    observation = flow_in(snapshot, pair, "P", "B")
    last = snapshot.last
    assert not_compared(pair, observation, {}, (), last) == []
    lags = PartitionFacts(0, 5, 2, data_after=True, replica_end=4)
    observation = replace(observation, facts={**observation.facts, B: lags})
    text = "the last record of P.T-1 on B could not be compared with T on P"
    assert not_compared(pair, observation, {}, (), last) == [text]
    row = Unreplicated("T", 1, 2, 2, None, "")
    assert not_compared(pair, observation, {B: row}, (), last) == []
    assert not_compared(pair, observation, {B: replace(row, end_is_known=False)}, (), last) == [text]
    assert not_compared(pair, observation, {}, ("T",), last) == []


def test_a_replica_whose_source_has_expired_is_no_evidence(
    seen: tuple[Pair, PairSnapshot], monkeypatch: pytest.MonkeyPatch
) -> None:
    pair, snapshot = seen
    monkeypatch.delitem(LAST, ("P", A))
    observation = flow_in(snapshot, pair, "P", "B")
    found = not_compared(pair, observation, {}, (), snapshot.last)
    assert found == ["the last record of P.T-0 on B could not be compared with T on P"]
    # The source was replaced, and the replica still ends where it ended then: its records came from the lost cluster.
    end = observation.replica_log[Partition("P.T", 0)][1]
    assert not_compared(pair, observation, {}, (), snapshot.last, {"P.T": {"0": end}}) == []
    assert not_compared(pair, observation, {}, (), snapshot.last, {"P.T": {"0": end - 1}}) == found


# ---- logs that are still loading -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reason", "observations"),
    # A leader that is still loading its logs is waited for until the timeout. A missing leader is not.
    [("Broker: Not leader for partition", 7), ("Broker: Leader epoch is newer than broker epoch", 7), ("none", 3)],
)
def test_a_leader_that_is_loading_logs_is_waited_for(
    reason: str, observations: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds
    from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka import topics

    asked: list[set[Any]] = []

    def ranges(_kafka: Any, keys: Any, _isolation: str) -> Any:
        asked.append(set(keys))
        return {key: (0, 1) if key == A or len(asked) == 7 else reason for key in keys}

    monkeypatch.setattr(topics, "_ranges", ranges)
    monkeypatch.setattr(topics, "_OPENING", Bounds(10.0, 0.2, 0.3))
    reported = topics.try_log_ranges(None, [A, B])  # type: ignore[arg-type]
    assert reported == {A: (0, 1), B: (0, 1) if observations == 7 else reason}
    assert asked == [{A, B}] + [{B}] * (observations - 1)


def test_other_flows_are_unknown_while_workers_do_not_respond() -> None:
    asked = []

    def competing_flows(*given: Any, running: bool) -> list[str]:
        asked.append((*given, running))
        if len(asked) > 1:
            raise DrError("kubernetes_unreachable", "no answer")
        return ["mm2/P->B.MirrorSourceConnector"]

    pair = SimpleNamespace(engine=SimpleNamespace(competing_flows=competing_flows), topics=["T"], partial=True)
    seen = observe()
    assert status._competing_flows(pair, [seen]) == ["P->B: mm2/P->B.MirrorSourceConnector"]
    assert asked == [("P", "B", ["T"], True)]
    assert status._competing_flows(pair, [seen]) is None
    assert status._competing_flows(pair, [replace(seen, away="no answer")]) is None
    assert len(asked) == 2
    pair.partial = False
    with pytest.raises(DrError):
        status._competing_flows(pair, [seen])
