# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""dr_journal on two real clusters: the life of a run, refusals that write nothing, and a copy that misses events."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from confluent_kafka import Producer

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.flows.pair_spec import PairSpec
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.journal.events import Event, encode
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.journal.leases import Lease
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.journal import Appender, Undecided
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal.copies import read_copy
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal.events import note as write
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal.leases import write_lease
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal.request import JournalRequest
from ansible_collections.switchback.kafka_dr.plugins.module_utils._process import myself
from ansible_collections.switchback.kafka_dr.plugins.modules import dr_journal, kafka_topic
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module
from ansible_collections.switchback.kafka_dr.tests.support.pairs import of_journal

pytestmark = pytest.mark.integration

Note = Callable[..., dict[str, Any]]
IDS = {"P": {"T": "1"}, "B": {"T": "2"}}
THERE = {"type": "cutoff", "from": "P", "to": "B"}


@pytest.fixture
def clusters(lab: Any) -> dict[str, Any]:
    found = lab.info()["clusters"]
    return {alias: {"bootstrap_servers": found[alias]["bootstrap_servers"]} for alias in ("P", "B")}


@pytest.fixture
def kafkas(clusters: dict[str, Any]) -> dict[str, Kafka]:
    return {alias: Kafka(cluster["bootstrap_servers"], {}, 15.0) for alias, cluster in clusters.items()}


def make(cluster: dict[str, Any], topic: str) -> None:
    item = {"name": topic, "partitions": 1, "config": {"retention.ms": -1}}
    assert run_module(kafka_topic, {**cluster, "topics": [item]})["rc"] == 0


@pytest.fixture
def topic(clusters: dict[str, Any]) -> str:
    """A journal topic on both clusters."""
    name = f"journal-{uuid.uuid4().hex[:8]}-internal"
    for cluster in clusters.values():
        make(cluster, name)
    return name


@pytest.fixture
def pair() -> str:
    return f"B-P-{uuid.uuid4().hex[:6]}"


@pytest.fixture
def note(clusters: dict[str, Any], topic: str, pair: str) -> Note:
    def run(event: str = "read", check: bool = False, diff: bool = False, **params: Any) -> dict[str, Any]:
        base = {"clusters": clusters, "pair": pair, "topic": topic, "event": event}
        return run_module(dr_journal, of_journal({**base, **params}), check=check, diff=diff)

    return run


@pytest.fixture
def copies(kafkas: dict[str, Kafka], topic: str, pair: str) -> Callable[[], dict[str, list[str] | None]]:
    """The kinds of the events on each cluster."""

    def observe() -> dict[str, list[str] | None]:
        found = {alias: read_copy(kafka, topic, pair) for alias, kafka in kafkas.items()}
        return {alias: None if one is None else [event.kind for event in one] for alias, one in found.items()}

    return observe


def enable(note: Note) -> dict[str, Any]:
    return note("enabled", data={"active": "P", "topic_ids": IDS})


# ---- the life of a pair


def test_an_empty_journal_has_no_state_and_reading_it_writes_nothing(note: Note, copies: Any) -> None:
    result = note()
    assert (result["rc"], result["changed"], result["events"], result["missing_on"]) == (0, False, 0, [])
    assert (result["state"]["active"], result["state"]["enabled"], result["state"]["run"]) == (None, False, None)
    assert copies() == {"P": [], "B": []}


def test_enabled_is_journaled_once_on_both_clusters(note: Note, copies: Any) -> None:
    first = enable(note)
    assert (first["changed"], first["state"]["active"], first["state"]["topic_ids"]) == (True, "P", IDS)
    assert enable(note)["changed"] is False
    assert copies() == {"P": ["enabled"], "B": ["enabled"]}
    again = note("enabled", data={"active": "P", "topic_ids": {"P": {"T": "9"}}})
    assert (again["changed"], again["state"]["active"]) == (True, "P")


def test_enabled_is_journaled_again_for_the_end_of_the_checkpoints_of_a_lost_cluster(note: Note) -> None:
    """R43: nothing else differs after a disaster."""
    enable(note)
    run = note("started", data={**THERE, "type": "disaster"})["run_id"]
    note("phase", run=run, data={"phase": "barrier", "facts": {"disaster": True}})
    note("pnr", run=run, holder_generation=0)
    note("ended", run=run, holder_generation=0, data={"result": "completed"})
    again = note("enabled", data={"active": "B", "topic_ids": IDS, "checkpoints": {"P": 41}})
    assert (again["changed"], again["state"]["left"]["P"]["checkpoints"]) == (True, 41)
    assert note("enabled", data={"active": "B", "topic_ids": IDS, "checkpoints": {}})["changed"] is False


def test_a_run_is_journaled_from_its_start_to_its_end(note: Note, copies: Any) -> None:
    enable(note)
    started = note("started", data=THERE)
    run = started["run_id"]
    assert (started["changed"], started["resumed"], started["state"]["interrupted"]) == (True, False, True)
    facts = {"cut": {"T": {"0": 7}}, "committed_offsets": {"g": {"T": {"0": 5}}}}
    phase = note("phase", run=run, data={"phase": "barrier", "facts": facts})
    assert (phase["state"]["active"], phase["run_id"]) == ("P", run)
    passed = note("pnr", run=run, holder_generation=0)
    assert passed["state"]["active"] == "B"
    assert passed["state"]["left"]["P"]["cut"] == facts["cut"]
    ended = note("ended", run=run, holder_generation=0, data={"result": "completed"})
    assert (ended["state"]["interrupted"], ended["state"]["run"]["result"]) == (False, "completed")
    assert ended["events"] == 5
    assert copies() == {alias: ["enabled", "started", "phase", "pnr", "ended"] for alias in "PB"}
    assert note()["state"] == ended["state"]


def test_the_diff_shows_the_effect_of_the_event(note: Note) -> None:
    result = note("enabled", data={"active": "P", "topic_ids": IDS}, diff=True)
    (before,), (after,) = result["diff"]["before"].values(), result["diff"]["after"].values()
    assert (before["active"], after["active"], after["enabled"]) == (None, "P", True)


# ---- check mode


@pytest.mark.parametrize("event", ["enabled", "started"])
def test_check_mode_shows_the_planned_state_and_writes_nothing(note: Note, copies: Any, event: str) -> None:
    """R25: the preview folds the event into the state without journaling it."""
    result = note(event, check=True, diff=True, data={"active": "P", **THERE})
    assert (result["rc"], result["changed"], result["changes"][0]["status"]) == (0, True, "planned")
    assert result["state"]["active" if event == "enabled" else "interrupted"]
    assert copies() == {"P": [], "B": []}
    assert note()["events"] == 0


# ---- refusals


def test_a_missing_topic_on_one_cluster_is_refused_without_a_write_on_the_other(
    clusters: dict[str, Any], copies: Any, kafkas: dict[str, Kafka], pair: str
) -> None:
    """R25: the journal needs both copies."""
    name = f"journal-{uuid.uuid4().hex[:8]}-internal"
    make(clusters["P"], name)
    params = {"clusters": clusters, "pair": pair, "topic": name}
    result = run_module(dr_journal, of_journal({**params, "event": "enabled", "data": {"active": "P"}}))
    assert result["error"]["code"] == "journal_missing"
    assert "does not exist on B" in result["msg"]
    assert read_copy(kafkas["P"], name, pair) == []
    assert read_copy(kafkas["B"], name, pair) is None  # Reading did not create it.
    seen = run_module(dr_journal, of_journal(params))
    assert (seen["rc"], seen["missing_on"]) == (0, ["B"])


def test_the_same_run_resumes_where_it_stopped(note: Note, copies: Any) -> None:
    enable(note)
    first = note("started", data=THERE)
    note("phase", run=first["run_id"], data={"phase": "drain"})
    # This test has no Ansible parent process, so it is unknown whether the run has ended.
    refused = note("started", data=THERE)
    assert refused["error"]["code"] == "run_undecided"
    assert f"kafka_dr_take_over={first['run_id']}" in refused["msg"]
    assert note("started", data=THERE, take_over="another")["error"]["code"] == "run_undecided"
    assert copies()["P"] == ["enabled", "started", "phase"]
    again = note("started", data=THERE, take_over=first["run_id"])
    assert (again["changed"], again["resumed"], again["run_id"]) == (True, True, first["run_id"])
    assert list(again["state"]["run"]["phases"]) == ["drain"]
    note("ended", run=first["run_id"], holder_generation=1, data={"result": "completed"})
    # A run that has ended cannot be taken over, not even with a confirmation.
    assert note("resumed", run=first["run_id"], take_over=first["run_id"])["error"]["code"] == "run_ended"
    assert copies() == {alias: ["enabled", "started", "phase", "resumed", "ended"] for alias in "PB"}


@pytest.mark.parametrize("other", [{**THERE, "type": "continuous"}, {"type": "cutoff", "from": "B", "to": "P"}])
def test_another_run_is_refused_while_one_is_unfinished(note: Note, copies: Any, other: dict[str, str]) -> None:
    enable(note)
    first = note("started", data=THERE)
    refused = note("started", data=other)
    assert refused["error"]["code"] == "run_interrupted"
    assert first["run_id"] in refused["msg"]
    assert copies()["B"] == ["enabled", "started"]


@pytest.mark.parametrize("event", ["phase", "pnr", "undoing", "ended"])
def test_a_controller_whose_run_was_taken_over_must_not_continue(note: Note, copies: Any, event: str) -> None:
    """R25: the run is the same, but its first controller only slept. It must not undo the run either."""
    enable(note)
    run = note("started", data=THERE)["run_id"]
    assert note("started", data=THERE, take_over=run)["state"]["run"]["resumed"] == 1
    data = {"phase": "committed_offsets", "result": "undone"}
    refused = note(event, run=run, holder_generation=0, data=data)
    assert refused["error"]["code"] == "run_superseded"
    assert copies() == {alias: ["enabled", "started", "resumed"] for alias in "PB"}
    assert note(event, run=run, holder_generation=1, data=data)["rc"] == 0


@pytest.mark.parametrize("event", ["phase", "pnr", "ended"])
def test_a_superseded_run_must_not_continue(note: Note, copies: Any, event: str) -> None:
    """R25: another run has started since."""
    enable(note)
    old = note("started", data=THERE)["run_id"]
    note("ended", run=old, holder_generation=0, data={"result": "undone"})
    new = note("started", data=THERE)["run_id"]
    refused = note(event, run=old, holder_generation=0, data={"phase": "committed_offsets"})
    assert refused["error"]["code"] == "run_superseded"
    assert old in refused["msg"]
    assert new in refused["msg"]
    assert copies()["P"] == ["enabled", "started", "ended", "started"]


def test_an_event_of_the_pair_in_between_does_not_hide_one_of_the_run(note: Note, copies: Any) -> None:
    enable(note)
    run = note("started", data=THERE)["run_id"]
    note("phase", run=run, data={"phase": "drain"})
    note("disabled")
    note("phase", run=run, data={"phase": "barrier"})
    assert sorted(note()["state"]["run"]["phases"]) == ["barrier", "drain"]
    assert copies()["P"] == ["enabled", "started", "phase", "disabled", "phase"]


def raw(cluster: dict[str, Any], topic: str, value: bytes) -> None:
    producer = Producer({"bootstrap.servers": cluster["bootstrap_servers"]})
    producer.produce(topic, value, partition=0)
    assert producer.flush(20) == 0


def test_a_newer_schema_stops_everything(note: Note, clusters: dict[str, Any], topic: str, pair: str) -> None:
    enable(note)
    body = json.loads(encode(pair, Event(9, 0, "r", "phase", 0.0, {"phase": "x"})))
    raw(clusters["B"], topic, json.dumps({**body, "schema": body["schema"] + 1}).encode())
    for event in ("read", "disabled"):
        result = note(event)
        assert result["error"]["code"] == "journal_newer"
        assert (result["changed"], "newer release" in result["msg"]) == (False, True)


def test_an_unreadable_record_stops_everything(note: Note, clusters: dict[str, Any], topic: str) -> None:
    raw(clusters["P"], topic, b"hello")
    assert note()["error"]["code"] == "journal_unreadable"


# ---- copies


def lay(kafka: Kafka, topic: str, pair: str, events: list[Event]) -> None:
    writer = Appender(kafka, topic, pair)
    writer.claim()
    writer.append(events)


def test_the_next_event_repairs_a_copy_that_misses_events(
    note: Note, kafkas: dict[str, Kafka], topic: str, pair: str, copies: Any
) -> None:
    events = [
        Event(1, 0, "", "enabled", 1.0, {"active": "P", "topic_ids": IDS}),
        Event(2, 0, "r1", "started", 2.0, THERE),
        Event(2, 1, "r1", "phase", 3.0, {"phase": "drain"}),
    ]
    lay(kafkas["P"], topic, pair, events)
    lay(kafkas["B"], topic, pair, events[:1])
    result = note("phase", run="r1", data={"phase": "barrier"})
    assert list(result["state"]["run"]["phases"]) == ["drain", "barrier"]
    assert copies() == {alias: ["enabled", "started", "phase", "phase"] for alias in "PB"}


def test_copies_that_miss_different_events_give_one_state(
    note: Note, kafkas: dict[str, Kafka], topic: str, pair: str
) -> None:
    events = [
        Event(1, 0, "", "enabled", 1.0, {"active": "P", "topic_ids": IDS}),
        Event(2, 0, "r1", "started", 2.0, THERE),
        Event(2, 1, "r1", "pnr", 3.0, {}),
    ]
    lay(kafkas["P"], topic, pair, [events[0], events[2]])
    lay(kafkas["B"], topic, pair, [events[1]])
    assert (note()["state"]["active"], note()["events"]) == ("B", 3)


def test_several_pairs_share_a_topic_without_seeing_each_other(note: Note, pair: str) -> None:
    enable(note)
    assert note(pair=f"other-{pair}")["events"] == 0
    assert note()["events"] == 1


# ---- two at a time


def test_of_two_runs_that_start_together_one_is_refused(
    note: Note, clusters: dict[str, Any], topic: str, pair: str
) -> None:
    """R25: if both started from the same observation, the journal would be forked for good."""
    enable(note)
    place = {"journal_topic": topic, "state_topic": topic}
    spec = PairSpec.of({"clusters": clusters, "topics": ["T"], "name": pair, **place})
    kinds = [THERE, {**THERE, "type": "continuous"}]

    def start(data: dict[str, str]) -> str:
        try:
            return str(write(JournalRequest(spec, "started", data), check=False).extra["run_id"])
        except DrError as error:
            return error.code

    for _round in range(8):
        with ThreadPoolExecutor(max_workers=2) as pool:
            answers = sorted(pool.map(start, kinds))
        # A run id begins with its year.
        assert [answer[0].isdigit() for answer in answers] == [True, False], answers
        assert answers[1] == "run_interrupted"
        now = note()["state"]
        assert (now["interrupted"], now["run"]["id"]) == (True, answers[0])
        note("ended", run=answers[0], holder_generation=0, data={"result": "undone"})


def lease(clusters: dict[str, Any], state: str, pair: str, holder: dict[str, Any], seconds: float = 3) -> None:
    """The lease of an ``enable`` that runs for these seconds, or until its process ends."""
    now = time.time()
    held = Lease(pair, "enable", "", "enable-1", now, now + seconds, holder=holder)
    kafkas = {alias: Kafka(cluster["bootstrap_servers"], {}, 15.0) for alias, cluster in clusters.items()}
    write_lease(kafkas, state, held)


ELSEWHERE = {"host": "elsewhere", "pid": 1, "born": 1, "command": ""}


def test_a_run_that_begins_during_a_change_of_the_flows_waits(note: Note, clusters: dict[str, Any], pair: str) -> None:
    """Otherwise enable would restart a flow between the run's barrier and its commit."""
    state = f"state-{uuid.uuid4().hex[:8]}-internal"
    for cluster in clusters.values():
        make(cluster, state)
    enable(note)
    lease(clusters, state, pair, ELSEWHERE)
    before = time.time()
    assert note("started", data=THERE, state_topic=state)["rc"] == 0
    assert time.time() - before > 2
    # A disaster failover does not wait.
    lease(clusters, state, pair, ELSEWHERE, 600)
    now = time.time()
    lost = {"type": "disaster", "from": "P", "to": "B"}
    run = note("read")["state"]["run"]["id"]
    assert note("started", data=lost, state_topic=state, take_over=run)["rc"] == 0
    assert time.time() - now < 300


def test_of_two_changes_of_the_flows_one_waits_until_the_other_ends(
    note: Note, clusters: dict[str, Any], pair: str, topic: str
) -> None:
    state = f"state-{uuid.uuid4().hex[:8]}-internal"
    # This pair was never enabled, so there is no journal to write to.
    assert note("read", state_topic=state, lease="enable")["leases"] == []
    for cluster in clusters.values():
        make(cluster, state)
    lease(clusters, state, pair, ELSEWHERE)
    before = time.time()
    taken = note("read", state_topic=state, lease="disable")
    assert (taken["rc"], time.time() - before > 2) == (0, True)
    # The wait outlasted it, and it is ended in the journal so that its holder can see that.
    assert [one["kind"] for one in taken["leases"] if one["ended"] is None] == ["disable"]
    held = taken["owner"]["lease"]
    assert note("read", state_topic=state, give_back=True, held=held)["rc"] == 0
    after = note("read", state_topic=state)["leases"]
    assert [(one["kind"], one["outcome"]) for one in after] == [("disable", "done"), ("enable", "abandoned")]
    # A process that has ended on this machine makes no more changes.
    gone = {**myself().as_dict(), "pid": 2**22 - 1, "born": 1}
    lease(clusters, state, pair, gone, 600)
    now = time.time()
    assert note("read", state_topic=state, lease="disable")["rc"] == 0
    assert time.time() - now < 300


def test_a_fenced_writer_reads_again_and_writes(
    note: Note, kafkas: dict[str, Kafka], topic: str, pair: str, copies: Any
) -> None:
    """Another writer that claims one copy after the first writer's read must not make it fail or leave a copy out."""
    enable(note)
    run = note("started", data=THERE)["run_id"]
    for alias in ("B", "P"):
        other_writer = Appender(kafkas[alias], topic, pair)
        other_writer.claim()
        assert note("phase", run=run, data={"phase": alias})["rc"] == 0
        with pytest.raises(Undecided):
            other_writer.append([Event(2, 9, run, "pnr", 9.0, {})])
    assert copies() == {alias: ["enabled", "started", "phase", "phase"] for alias in "PB"}


# ---- a run that is undone ---


def test_a_point_of_no_return_in_only_one_copy_is_void_once_the_run_is_undone(
    note: Note, clusters: dict[str, Any], kafkas: dict[str, Kafka], topic: str, pair: str
) -> None:
    """The write to the other copy failed, so no producer was started: the applications did not move."""
    enable(note)
    run = note("started", data=THERE)["run_id"]
    lay(kafkas["B"], topic, pair, [Event(2, 1, run, "pnr", 9.0, {})])
    # B, which has it, is unreachable when the run is undone.
    gone = {**clusters, "B": {"bootstrap_servers": "127.0.0.1:1"}}
    undoing = note("undoing", run=run, holder_generation=0, clusters=gone, request_timeout=2)
    assert (undoing["rc"], undoing["state"]["active"]) == (0, "P")
    ended = note("ended", run=run, holder_generation=0, clusters=gone, request_timeout=2, data={"result": "undone"})
    assert (ended["rc"], ended["state"]["interrupted"]) == (0, False)
    # It comes back: the two copies give one state, and the next event repairs B.
    assert (note()["state"]["active"], note()["state"]["run"]["pnr"]) == ("P", None)
    assert note("started", data=THERE)["rc"] == 0
    held = {alias: [event.kind for event in read_copy(kafka, topic, pair) or []] for alias, kafka in kafkas.items()}
    assert sorted(held["P"]) == sorted(held["B"])


def test_a_run_is_not_undone_if_no_copy_is_reachable(note: Note, clusters: dict[str, Any]) -> None:
    enable(note)
    run = note("started", data=THERE)["run_id"]
    gone = {alias: {"bootstrap_servers": f"127.0.0.1:{port}"} for port, alias in enumerate(clusters, 1)}
    refused = note("undoing", run=run, holder_generation=0, clusters=gone, request_timeout=2)
    assert refused["error"]["code"] == "kafka_unreachable"
    assert note()["state"]["run"]["ended"] is None


# ---- clusters


def test_one_cluster_under_two_names_is_refused(note: Note, clusters: dict[str, Any]) -> None:
    result = note("enabled", clusters={"P": clusters["P"], "B": clusters["P"]}, data={"active": "P"})
    assert result["error"]["code"] == "same_cluster"


def test_another_cluster_than_expected_is_refused(note: Note, clusters: dict[str, Any], copies: Any) -> None:
    wrong = {**clusters, "B": {**clusters["B"], "cluster_id": "somewhere-else"}}
    result = note("enabled", clusters=wrong, data={"active": "P"})
    assert result["error"]["code"] == "wrong_cluster"
    assert copies() == {"P": [], "B": []}


def test_a_cluster_that_is_down_stops_the_run_and_nothing_is_written_on_the_other(
    note: Note, clusters: dict[str, Any], copies: Any
) -> None:
    down = {**clusters, "B": {"bootstrap_servers": "127.0.0.1:1"}}
    result = note("enabled", clusters=down, data={"active": "P"}, request_timeout=2)
    assert (result["error"]["code"], result["error"]["endpoint"]) == ("kafka_unreachable", "127.0.0.1:1")
    assert copies() == {"P": [], "B": []}
