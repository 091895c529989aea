# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests while brokers restart: reads and commits are repeated, refusals are not, and too few replicas are named."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError, Unreachable
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.topics import (
    ConfigValue,
    TopicState,
    refused_writes,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka import client, committing, groups, topics
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.brokers import broker_settings
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.group_offsets import GroupOffsets, Row
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation.leaving import (
    wait_for_members_to_leave,
)

MOVES = (
    KafkaError._TRANSPORT,
    KafkaError.NOT_COORDINATOR,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.REQUEST_TIMED_OUT,
)


def future(outcome: Any) -> Future[Any]:
    found: Future[Any] = Future()
    if isinstance(outcome, Exception):
        found.set_exception(outcome)
    else:
        found.set_result(outcome)
    return found


class Answered:
    """A request for committed offsets. None: it gets no answer."""

    def __init__(self, outcome: list[Row] | Exception | None) -> None:
        self.outcome = outcome

    def result(self, until: float) -> list[Row]:
        if self.outcome is None:
            time.sleep(max(0.0, until - time.monotonic()))
        outcome = raised(KafkaError._TIMED_OUT) if self.outcome is None else self.outcome
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


class ScriptedAdmin:
    """Returns scripted outcomes, one for each request."""

    def __init__(self, *outcomes: Any) -> None:
        self.outcomes = list(outcomes)
        self.absent: int = KafkaError.UNKNOWN_TOPIC_OR_PART

    def poll(self, _seconds: float) -> int:
        return 0

    def _next(self) -> Any:
        return self.outcomes.pop(0)

    def describe_consumer_groups(self, names: list[str], **_options: Any) -> dict[str, Future[Any]]:
        outcome = self._next()
        return {name: future(outcome) for name in names}

    def read(self, _group: str) -> Answered:
        outcome = self._next()
        place = Partition("T", 0)
        return Answered(outcome if isinstance(outcome, Exception) else [Row(place, groups.Committed(outcome), None)])

    def commit(self, _group: str, offsets: Mapping[Partition, groups.Committed]) -> Answered:
        outcome = self._next()
        return Answered(outcome if isinstance(outcome, Exception) else rows(offsets, outcome))

    def list_consumer_groups(self, **_options: Any) -> Future[Any]:
        """An outcome is the error of one broker; None: all brokers returned their groups."""
        code = self._next()
        return future(
            SimpleNamespace(
                valid=[SimpleNamespace(group_id="g")],
                errors=[] if code is None else [KafkaError(code)],
            )
        )

    def list_groups(self, **_options: Any) -> list[Any]:
        return [SimpleNamespace(id="g", state="Empty", protocol_type="consumer")]

    def describe_topics(self, asked: Any, **_options: Any) -> dict[str, Future[Any]]:
        """No topic exists, and this account may know that."""
        return {name: future(raised(self.absent)) for name in asked.topic_names}

    def list_topics(self, **_options: Any) -> Any:
        outcome = self._next()
        if isinstance(outcome, Exception):
            raise outcome
        return outcome if outcome is CLUSTER else SimpleNamespace(topics={})

    def describe_configs(self, asked: list[Any], **_options: Any) -> dict[Any, Future[Any]]:
        """An outcome has the settings of one broker, or is its error."""
        outcome = self._next()
        values = {k: SimpleNamespace(value=v) for k, v in outcome.items()} if isinstance(outcome, dict) else outcome
        return {one: future(values) for one in asked}

    def list_offsets(self, asked: dict[TopicPartition, Any], **_options: Any) -> dict[TopicPartition, Future[Any]]:
        """An outcome is the offset or the error of each partition, by number."""
        outcome = self._next()
        return {one: future(outcome[one.partition]) for one in asked}


def rows(offsets: Mapping[Partition, groups.Committed], code: int | None) -> list[Row]:
    return [Row(key, committed, None if code is None else KafkaError(code)) for key, committed in offsets.items()]


class ScriptedKafka(Kafka):
    """A client whose admin client is scripted, and that counts its connections."""

    def __init__(self, outcomes: tuple[Any, ...], timeout: float) -> None:
        self._script = ScriptedAdmin(*outcomes)
        self.connections = 0
        super().__init__("127.0.0.1:1", {}, timeout)

    def _connected(self) -> Any:
        self.connections += 1
        return self._script

    @property
    def group_offsets(self) -> Any:
        return self._script


def kafka(*outcomes: Any, timeout: float = 5.0) -> ScriptedKafka:
    return ScriptedKafka(outcomes, timeout)


def raised(code: int) -> KafkaException:
    return KafkaException(KafkaError(code))


CLUSTER = SimpleNamespace(cluster_id="id", brokers=[1, 2, 3])
GROUP = SimpleNamespace(members=[], type=None, partition_assignor="", state=SimpleNamespace(name="EMPTY"))


@pytest.mark.parametrize("code", MOVES)
def test_a_read_is_repeated_while_a_broker_restarts(code: int) -> None:
    assert kafka(raised(code), CLUSTER).identify("id") == "id"
    assert groups.describe(kafka(raised(code), GROUP), ["g"])["g"].state == "EMPTY"
    assert groups.names(kafka(code, None)) == ["g"]


def test_the_settings_of_brokers_are_those_of_every_broker_or_unknown() -> None:
    made = kafka(CLUSTER, {"a": "1", "b": "2"}, {"b": "3"}, {"a": None})
    made.identify("id")
    assert broker_settings(made, ["a"]) == {1: {"a": "1"}, 2: {}, 3: {}}
    assert made.requests[-1] == {"api": "describe_configs", "brokers": 3}
    restarting = raised(KafkaError.REQUEST_TIMED_OUT)
    made = kafka(CLUSTER, {"a": "1"}, restarting, {"a": "1"}, *[{"a": str(number)} for number in (1, 2, 3)])
    made.identify("id")
    assert broker_settings(made, ["a"]) == {1: {"a": "1"}, 2: {"a": "2"}, 3: {"a": "3"}}
    refused = raised(KafkaError.CLUSTER_AUTHORIZATION_FAILED)
    made = kafka(CLUSTER, {"a": "1"}, refused, {"a": "1"})
    made.identify("id")
    with pytest.raises(DrError, match="describe the settings of a broker") as error:
        broker_settings(made, ["a"])
    assert error.value.code == "not_authorized"
    assert "DESCRIBE_CONFIGS on the cluster" in error.value.hint


def described(state: str) -> Any:
    return SimpleNamespace(members=[], type=None, partition_assignor="", state=SimpleNamespace(name=state))


def count_requests(made: Kafka) -> Counter[str]:
    return Counter(request["api"] for request in made.requests)


def test_absent_groups_are_looked_up_once_when_the_last_member_has_left() -> None:
    """R41. Observed: two requests to every broker at each poll, in the downtime, for each cluster with such a group."""
    stable, dead = described("STABLE"), described("DEAD")
    left, entered = kafka(stable, stable, GROUP), kafka(dead, dead, dead, None)
    waited = wait_for_members_to_leave({"P": left, "B": entered}, ["h"], Bounds(5.0, 0.01))
    assert (waited.observations, waited.state["B"]["h"].state) == (3, "DEAD")
    assert count_requests(entered) == {
        "describe_consumer_groups": 3,
        "list_consumer_groups": 1,
        "list_groups": 1,
    }
    assert count_requests(left) == {"describe_consumer_groups": 3}


def test_a_group_that_only_the_list_shows_has_not_left() -> None:
    """R41: the last look still asks every broker. The list has "g" as a consumer group, so it was just created."""
    made = kafka(described("DEAD"), None, GROUP)
    waited = wait_for_members_to_leave({"P": made}, ["g"], Bounds(5.0, 0.01))
    assert waited.state["P"]["g"].state == "EMPTY"
    assert count_requests(made)["list_groups"] == 1
    made = kafka(described("DEAD"), None, described("DEAD"))
    with pytest.raises(DrError, match="1 groups still have members"):
        wait_for_members_to_leave({"P": made}, ["g"], Bounds(0.0, 0.01))


def test_absent_groups_of_all_batches_are_looked_up_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "_BATCH", 1)
    monkeypatch.setattr(groups, "require_all_visible", lambda _kafka: None)
    made = kafka(described("DEAD"), -1001, described("DEAD"), -1001, GROUP, 7, None)
    states, committed = groups.read(made, ["h", "i", "j"])
    assert [states[name].state for name in "hij"] == ["DEAD", "DEAD", "EMPTY"]
    assert committed == {"h": {}, "i": {}, "j": {("T", 0): 7}}
    assert count_requests(made)["list_groups"] == count_requests(made)["list_consumer_groups"] == 1


def test_the_last_error_is_raised_at_the_time_out() -> None:
    with pytest.raises(DrError, match="not ready"):
        groups.describe(kafka(*[raised(KafkaError.NOT_COORDINATOR)] * 100, timeout=0.3), ["g"])


def test_an_attempt_that_waits_for_a_dead_coordinator_leaves_time_for_the_next_ones() -> None:
    """A broker that crashed is the coordinator until its session ends, and librdkafka waits for it. Each attempt asks
    with a new client; the last one has the whole time-out, for a cluster that is only slow."""
    made, began = kafka(timeout=3.0), time.monotonic()
    made.cluster_id = "id"
    asked: list[float] = []

    def describe(names: list[str], request_timeout: float) -> dict[str, Future[Any]]:
        asked.append(time.monotonic() - began)
        late: Future[Any] = Future()
        if len(asked) == 3:
            threading.Timer(1.5, late.set_result, [GROUP]).start()  # longer than an early attempt lasts
        return dict.fromkeys(names, late)

    made.admin.describe_consumer_groups = describe
    assert groups.describe(made, ["g"])["g"].state == "EMPTY"
    assert made.connections == 3
    assert asked[1] >= 1.0
    assert asked[2] >= 2.0


def test_a_list_without_the_groups_of_one_broker_is_refused() -> None:
    """The answer holds the groups of the other brokers, and an error for each broker that returned none."""
    with pytest.raises(DrError) as refused:
        groups.names(kafka(KafkaError.CLUSTER_AUTHORIZATION_FAILED))
    assert refused.value.code == "not_authorized"


def test_a_client_that_returns_no_type_of_a_group_is_enough() -> None:
    """confluent-kafka 2.6."""
    old = SimpleNamespace(**{name: value for name, value in vars(GROUP).items() if name != "type"})
    assert groups.describe(kafka(old), ["g"]) == groups.describe(kafka(GROUP), ["g"])


def test_a_commit_without_answers_is_repeated_within_one_time_out_each_time_with_a_new_client() -> None:
    """Every second group has no answer, and the answers of the others are there at once."""
    made = kafka(timeout=0.5)
    made.cluster_id = "id"
    sent: list[str] = []

    def commit(group: str, offsets: Mapping[Partition, groups.Committed]) -> Answered:
        sent.append(group)
        return Answered(None if int(group[1:]) % 2 == 0 else rows(offsets, None))

    made.group_offsets.commit = commit
    place, began = Partition("T", 0), time.monotonic()
    texts = groups.commit(made, {f"g{number:03d}": {place: groups.Committed(5)} for number in range(250)})
    assert time.monotonic() - began < 25.0  # and not 50 s, half a second for each group
    assert len(set(sent)) == 200
    assert "did not answer" in str(texts["g000"][place])
    assert "unknown" in str(texts["g000"][place])
    assert texts["g199"] == {place: None}
    assert {str(texts[group][place])[:8] for group in texts if group >= "g200"} == {"not sent"}
    assert made.connections == len(sent) // 100 > 2  # the first attempt is of 200 groups, and the others are of 100


def test_a_commit_of_a_former_coordinator_succeeds_at_the_next_one() -> None:
    """The first one refuses or is silent. A client would ask it again for minutes, so the next client is a new one."""
    for first in (raised(KafkaError.NOT_COORDINATOR), KafkaError.NOT_COORDINATOR, raised(KafkaError._TIMED_OUT)):
        made = kafka(first, None)
        made.cluster_id = "id"
        assert groups.commit(made, {"g": {("T", 0): groups.Committed(5)}}) == {"g": {("T", 0): None}}
        assert made.connections == 2


def test_a_commit_waits_for_a_leader_that_is_being_elected(monkeypatch: pytest.MonkeyPatch) -> None:
    place, states = Partition("T", 0), groups.describe(kafka(GROUP), ["g"])
    ranges: list[dict[Partition, Any]] = [{place: "Broker: Not leader for partition"}, {place: (0, 10)}]
    monkeypatch.setattr(topics, "_ranges", lambda *_: ranges.pop(0))
    monkeypatch.setattr(committing, "describe", lambda *_: {"T": SimpleNamespace(partitions=1)})
    monkeypatch.setattr(groups, "committed", lambda *_: {"g": {place: groups.Committed(5)}})
    monkeypatch.setattr(groups, "describe", lambda *_: states)
    done = committing.commit_offsets(kafka(), {"g": {place: 7}}, check=True)
    assert (done.failure, [outcome.status for outcome in done.outcomes]) == (None, ["planned"])


def test_a_refused_read_is_not_repeated() -> None:
    made = kafka(raised(KafkaError.GROUP_AUTHORIZATION_FAILED), GROUP)
    with pytest.raises(DrError, match="refused"):
        groups.describe(made, ["g"])
    assert len(made.admin.outcomes) == 1


@pytest.mark.parametrize("code", MOVES)
def test_offsets_of_a_former_coordinator_are_read_from_the_next_one(code: int) -> None:
    """The next client is a new one, with no memory of coordinators."""
    made = kafka(raised(code), 7)
    assert groups.committed_offsets(made, ["g"]) == {"g": {("T", 0): 7}}
    assert made.connections == 2


def test_committed_offsets_are_unknown_if_the_broker_hides_topics() -> None:
    """Otherwise a group that reads an undeclared topic would look as if it did not."""
    made = kafka(7)
    made.admin.absent = KafkaError.TOPIC_AUTHORIZATION_FAILED
    with pytest.raises(DrError, match="hides topics") as failure:
        groups.committed_offsets(made, ["g"])
    assert failure.value.code == "not_authorized"
    assert 'DESCRIBE on topic "*": ' in failure.value.hint


def test_a_partition_that_the_answer_to_a_commit_does_not_name_is_not_committed() -> None:
    made = kafka()
    made.group_offsets.commit = lambda _group, _offsets: Answered([])
    (refused,) = groups.commit(made, {"g": {Partition("T", 0): groups.Committed(5)}})["g"].values()
    assert "does not name this partition" in (refused or "")


def test_a_setting_that_librdkafka_refuses_is_not_left_out() -> None:
    """Without it, the client could connect in another way than the one that was asked for."""
    with pytest.raises(KafkaException, match=r"no\.such\.setting"):
        GroupOffsets({"no.such.setting": "1"})


def test_a_commit_without_the_right_to_read_a_topic_names_it() -> None:
    made = kafka(KafkaError.TOPIC_AUTHORIZATION_FAILED)
    (refused,) = groups.commit(made, {"g": {Partition("T", 0): groups.Committed(5)}})["g"].values()
    assert 'READ on topic "T": ' in (refused or "")


@pytest.mark.parametrize("code", MOVES)
def test_a_commit_is_repeated_while_the_coordinator_moves(code: int) -> None:
    wanted = {"g": {("T", 0): groups.Committed(5), ("T", 1): groups.Committed(6)}}
    for first in (raised(code), code):
        made = kafka(first, None)
        assert groups.commit(made, wanted) == {"g": {("T", 0): None, ("T", 1): None}}
        assert made.admin.outcomes == []


def test_a_refused_commit_is_not_repeated() -> None:
    made = kafka(KafkaError.UNKNOWN_MEMBER_ID, None)
    assert groups.commit(made, {"g": {("T", 0): groups.Committed(5)}}) == {"g": {("T", 0): "Broker: Unknown member"}}
    assert made.admin.outcomes == [None]


def test_a_commit_that_never_succeeds_keeps_the_last_error() -> None:
    made = kafka(*[KafkaError.NOT_COORDINATOR] * 100, timeout=0.3)
    assert groups.commit(made, {"g": {("T", 0): groups.Committed(5)}}) == {"g": {("T", 0): "Broker: Not coordinator"}}


NO_ANSWER = raised(KafkaError._TIMED_OUT)


def end(offset: int) -> Any:
    return SimpleNamespace(offset=offset)


def test_offsets_of_a_dead_leader_are_read_from_the_next_one() -> None:
    """Start offsets, then end offsets. The second request names only the partition that got no response."""
    starts = {0: end(0), 1: end(0)}
    made = kafka(starts, {0: end(5), 1: raised(KafkaError._TIMED_OUT)}, "topics", {1: end(7)})
    assert topics.log_ranges(made, [("T", 0), ("T", 1)]) == {("T", 0): (0, 5), ("T", 1): (0, 7)}


def test_offsets_are_read_once_librdkafka_knows_a_leader() -> None:
    """After a restart, the client reports _NOENT, "No leaders found", until its metadata name a leader."""
    unknown, starts = {0: raised(KafkaError._NOENT)}, {0: end(0)}
    made = kafka(starts, unknown, "topics", unknown, starts, unknown, "topics", {0: end(5)})
    assert topics.log_ranges(made, [("T", 0)]) == {("T", 0): (0, 5)}


def test_offsets_of_many_partitions_are_read_by_one_consumer_until_it_misses_a_leader(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made, consumers = kafka("topics", {0: end(7)}), []

    class Consumer:
        def __init__(self, isolation: str) -> None:
            self.missing: set[int] = set()
            consumers.append((isolation, self))

        def offsets_for_times(self, asked: list[TopicPartition], timeout: float) -> list[Any]:
            assert timeout == made.timeout
            missed = KafkaError(KafkaError._NOENT)
            return [
                SimpleNamespace(
                    topic=one.topic,
                    partition=one.partition,
                    offset=5,
                    error=missed if one.partition in self.missing else None,
                )
                for one in asked
            ]

    monkeypatch.setattr(made, "consumer", Consumer)
    monkeypatch.setattr(topics, "_ADMIN_OFFSETS", 1)
    both = [Partition("T", 0), Partition("T", 1)]
    for isolation in ("read_committed", "read_committed", "read_uncommitted"):
        assert topics.log_ranges(made, both, isolation) == dict.fromkeys(both, (5, 5))
    assert [isolation for isolation, _consumer in consumers] == ["read_committed", "read_uncommitted"]
    consumers[1][1].missing = {0}
    # The one that it missed is read otherwise. The next reader learns where the partition is led.
    assert topics.log_ends(made, both) == {("T", 0): 7, ("T", 1): 5}
    assert topics.log_ends(made, both) == {("T", 0): 5, ("T", 1): 5}
    assert [isolation for isolation, _consumer in consumers][2:] == ["read_uncommitted"]


@pytest.mark.parametrize("outcomes", [[NO_ANSWER] * 100, ["topics", {0: NO_ANSWER}]])
def test_offsets_without_any_response_are_an_error(outcomes: list[Any]) -> None:
    made = kafka({0: end(0)}, {0: NO_ANSWER}, *outcomes, timeout=0.3)
    with pytest.raises(Unreachable, match="did not answer"):
        topics.known_ranges(made, [("T", 0)])


def test_newer_metadata_are_read_while_a_request_waits_for_a_broker_that_is_down() -> None:
    made, waits = kafka(), Future[Any]()

    def list_topics(timeout: float) -> None:
        assert timeout < made.timeout
        waits.set_result("described")

    made.admin.list_topics = list_topics  # type: ignore[method-assign]
    assert made.result(waits) == "described"


def test_a_request_without_a_response_ends_at_the_time_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_METADATA_SECONDS", 0.05)
    made = kafka()
    made.timeout = -4.0
    asked: list[float] = []

    def list_topics(timeout: float) -> None:
        asked.append(timeout)

    made.admin.list_topics = list_topics  # type: ignore[method-assign]
    with pytest.raises(DrError, match="did not answer"):
        made.settle(Future(), "describe the cluster")
    assert asked


def state(in_sync: int | None, wanted: str | None = "2", factor: int | None = 3) -> TopicState:
    config = {"min.insync.replicas": ConfigValue(wanted, False)}
    return TopicState("T", "id", 3, factor, (), config, in_sync)


@pytest.mark.parametrize(
    ("found", "refuses", "shrunk"),
    [
        (state(3), False, False),
        (state(2), False, True),
        (state(1), True, True),
        (state(0), True, True),
        (state(None), False, True),
        (state(1, None), False, True),
        (state(1, "2", None), True, True),
    ],
)
def test_a_topic_refuses_writes_with_fewer_in_sync_replicas_than_its_minimum(
    found: TopicState, refuses: bool, shrunk: bool
) -> None:
    assert bool(refused_writes(found)) is refuses
    assert found.shrunk is shrunk


def test_settings_are_read_only_for_topics_that_are_not_in_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def with_config(_kafka: Any, states: list[TopicState], _wanted: Any) -> dict[str, TopicState]:
        asked.extend(one.name for one in states)
        return {one.name: one for one in states}

    monkeypatch.setattr(topics, "with_config", with_config)
    assert topics.refusing_writes(kafka(), [state(3)]) == []
    assert asked == []
    assert topics.refusing_writes(kafka(), [state(1)]) == [
        '"T" has too few in-sync replicas: 1, and min.insync.replicas is 2'
    ]


def test_a_request_survives_a_new_client_of_another_thread() -> None:
    """Else librdkafka ends it with _DESTROY, which is no answer of a broker."""
    kafka = Kafka("127.0.0.1:1", {}, 2.0)
    pending = kafka.admin.describe_cluster(request_timeout=0.5)
    kafka.reconnect()
    with pytest.raises(Unreachable) as error:
        kafka.settle(pending, "describe the cluster")
    assert error.value.retriable
    assert "terminat" not in error.value.message
