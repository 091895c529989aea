# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""dr_active_info on two real clusters: which one is active, with the journal present, lost, short or unsafe (R34)."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.topic_ids import CheckpointsEnd
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.offsets.presynced import write_presynced
from ansible_collections.switchback.kafka_dr.plugins.modules import dr_active_info, dr_journal, kafka_topic
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module
from ansible_collections.switchback.kafka_dr.tests.support.pairs import as_pair, of_journal
from brokers import commit

pytestmark = pytest.mark.integration


class LabPair:
    """A pair with names of its own in the lab: no topic or group exists yet."""

    def __init__(self, lab: Any) -> None:
        found = lab.info()["clusters"]
        self.clusters = {
            alias: {key: found[alias][key] for key in ("bootstrap_servers", "connect_url")} for alias in ("P", "B")
        }
        run = uuid.uuid4().hex[:6]
        self.name, self.group = f"B-P-{run}", f"active-{run}"
        self.topic, self.other = f"active-{run}", f"active-other-{run}"
        self.journal, self.state = f"active-journal-{run}-internal", f"active-state-{run}-internal"

    def servers(self, alias: str) -> str:
        return str(self.clusters[alias]["bootstrap_servers"])

    def admin(self, alias: str) -> AdminClient:
        """The admin client. Keep a reference until its results have arrived: its requests end with it."""
        return AdminClient({"bootstrap.servers": self.servers(alias)})

    def make(self, *names: str, **config: Any) -> None:
        for alias in self.clusters:
            items = [{"name": name, "partitions": 1, "config": config} for name in names]
            made = run_module(kafka_topic, {"bootstrap_servers": self.servers(alias), "topics": items})
            assert made["rc"] == 0, made

    def delete(self, *names: str) -> None:
        for alias in self.clusters:
            client = self.admin(alias)
            for deleted in client.delete_topics(list(names)).values():
                deleted.result(30)

    def journaled(self, active: str, **data: Any) -> None:
        params = {"clusters": self.clusters, "pair": self.name, "topic": self.journal, "event": "enabled"}
        facts = {"active": active, "topic_ids": {"P": {self.topic: uuid.uuid4().hex}}, "adopted": True, **data}
        noted = run_module(dr_journal, of_journal({**params, "data": facts}))
        assert (noted["rc"], noted["state"]["active"]) == (0, active), noted

    def send(self, alias: str, count: int = 1) -> None:
        producer = Producer({"bootstrap.servers": self.servers(alias)})
        for number in range(count):
            producer.produce(self.topic, f"{number}", partition=0)
        assert producer.flush(30) == 0

    def active(self, **more: Any) -> dict[str, Any]:
        params = {
            "clusters": self.clusters,
            "topics": [self.topic, self.other],
            "groups": [self.group],
            "group_topics": {self.group: [self.topic]},
            "pair": self.name,
            "topic": self.journal,
            "state_topic": self.state,
            "home": "P",
            "window": 1.0,
        }
        result = run_module(dr_active_info, as_pair({**params, **more}))
        assert result["changed"] is False
        return result

    @contextmanager
    def member(self, alias: str, *topics: str) -> Iterator[None]:
        """A group member that commits nothing. Once it has joined, librdkafka keeps it a member without polling."""
        options = {"group.id": self.group, "client.id": f"reader-{alias}", "enable.auto.commit": False}
        consumer = Consumer({"bootstrap.servers": self.servers(alias), **options})
        consumer.subscribe(list(topics or [self.topic]))
        deadline = time.monotonic() + 30
        try:
            while not consumer.assignment() and time.monotonic() < deadline:
                consumer.poll(0.1)
            assert consumer.assignment()
            yield
        finally:
            consumer.close()

    @contextmanager
    def producer(self, alias: str) -> Iterator[None]:
        """Write records until the context ends. The first one is there on entry."""
        done, begun = threading.Event(), threading.Event()

        def work() -> None:
            while not done.is_set():
                self.send(alias)
                begun.set()
                done.wait(0.1)

        thread = threading.Thread(target=work)
        thread.start()
        try:
            assert begun.wait(30)
            yield
        finally:
            done.set()
            thread.join()


@pytest.fixture
def pair(lab: Any) -> LabPair:
    return LabPair(lab)


def test_a_new_pair_lives_at_home(pair: LabPair) -> None:
    found = pair.active()
    assert (found["rc"], found["active"], found["journaled"]) == (0, "P", None), found
    pair.make(pair.topic, pair.other)
    pair.send("P")
    commit(pair.admin("P"), pair.group, {(pair.topic, 0): 1})
    assert pair.active()["active"] == "P"


def test_without_a_journal_evidence_decides_or_the_operator_must_name_the_active_cluster(pair: LabPair) -> None:
    """R34. Observed: enable wrote "applications live on P" while every group was STABLE on B."""
    pair.make(pair.topic, pair.other)
    pair.make(pair.journal, **{"retention.ms": -1})
    pair.journaled("B")
    pair.send("B", 3)
    assert pair.active()["active"] == "B"
    pair.delete(pair.journal)

    asked = pair.active()
    assert (asked["rc"], asked["error"]["code"]) == (1, "active_side_unknown"), asked
    assert f'B: "{pair.topic}" holds records there' in asked["msg"]
    assert "kafka_dr_applications_on" in asked["msg"]
    assert [pair.active(asked=alias)["active"] for alias in ("P", "B")] == ["P", "B"]

    with pair.producer("B"):
        assert pair.active()["active"] == "B"
        against = pair.active(asked="P")
        assert (against["error"]["code"], "a producer of" in against["msg"]) == ("active_side_contradicted", True)
    with pair.member("B"):
        found = pair.active()
        assert (found["active"], "reader-B at " in found["reason"]) == ("B", True), found
        assert pair.active(asked="P")["error"]["code"] == "active_side_contradicted"
        with pair.member("P"):
            both = pair.active()
            assert both["error"]["code"] == "active_side_contradicted"
            assert all(f"reader-{alias} at " in both["msg"] for alias in ("P", "B")), both["msg"]

    # An empty journal topic counts as lost too.
    pair.make(pair.journal, **{"retention.ms": -1})
    assert pair.active()["error"]["code"] == "active_side_unknown"


def test_presynced_offsets_in_the_state_topic_show_that_a_pair_is_not_new(pair: LabPair) -> None:
    pair.make(pair.topic, pair.other)
    pair.make(pair.state, **{"cleanup.policy": "compact"})
    kafkas = {alias: Kafka(pair.servers(alias), {}, 15.0) for alias in pair.clusters}
    row = {"group": pair.group, "topic": pair.topic, "partition": 0, "offset": 1, "left": 1, "metadata": None}
    groups = {pair.group: [row]}
    write_presynced(
        kafkas,
        pair.state,
        (pair.name, "P"),
        (time.time(), CheckpointsEnd(0, "")),
        1,
        groups,
        {(Partition(pair.topic, 0), 1): []},
        {pair.topic: "id"},
    )
    asked = pair.active()
    assert (asked["error"]["code"], "reverse_checkpoint last committed offsets for P" in asked["msg"]) == (
        "active_side_unknown",
        True,
    )


def test_with_the_policy_identity_the_flow_explains_records_but_commits_need_an_answer(
    pair: LabPair,
) -> None:
    pair.make(pair.topic, pair.other)
    pair.send("B", 3)
    assert pair.active(policy="identity")["active"] == "P"
    commit(pair.admin("B"), pair.group, {(pair.topic, 0): 3})
    asked = pair.active(policy="identity")
    assert asked["error"]["code"] == "active_side_unknown", asked
    assert f'B: group "{pair.group}" committed offset 3 on {pair.topic}-0' in asked["msg"]
    with pair.member("B"):
        assert pair.active(policy="identity")["active"] == "B"


def test_growing_topics_are_observed_on_both_clusters_on_request(pair: LabPair) -> None:
    pair.make(pair.topic, pair.other)
    pair.make(pair.journal, **{"retention.ms": -1})
    pair.journaled("B")
    assert pair.active()["grown"] == {}
    with pair.producer("P"):
        grown = pair.active(observe=True)["grown"]
    assert grown == {"P": [f'a producer of "{pair.topic}-0" (its log end on P increased)'], "B": []}
    assert pair.active(observe=True)["grown"] == {"P": [], "B": []}


def test_members_on_the_other_cluster_contradict_the_journal(pair: LabPair) -> None:
    pair.make(pair.topic, pair.other)
    pair.make(pair.journal, **{"retention.ms": -1})
    pair.journaled("P")
    with pair.member("B"):
        found = pair.active()
    assert found["error"]["code"] == "active_side_contradicted"
    assert "The journal names P" in found["msg"]
    assert "reader-B at " in found["msg"]


def test_a_journal_that_lost_its_beginning_is_refused(pair: LabPair) -> None:
    pair.make(pair.topic, pair.other)
    pair.make(pair.journal, **{"retention.ms": -1})
    pair.journaled("P")
    pair.journaled("B")
    assert pair.active()["active"] == "B"
    for alias in pair.clusters:
        # The first event and the marker of its transaction.
        cut = TopicPartition(pair.journal, 0, 2)
        client = pair.admin(alias)
        for deleted in client.delete_records([cut]).values():
            deleted.result(30)
    found = pair.active()
    assert found["error"]["code"] == "journal_incomplete", found
    assert "lacks 1 of 2 epochs" in found["msg"]


@pytest.mark.parametrize("config", [{"retention.ms": 604800000}, {"retention.ms": -1, "cleanup.policy": "compact"}])
def test_a_journal_topic_that_can_lose_events_is_refused(pair: LabPair, config: dict[str, Any]) -> None:
    pair.make(pair.journal, **config)
    found = pair.active()
    assert found["error"]["code"] == "journal_unsafe", found
    name = "cleanup.policy" if "cleanup.policy" in config else "retention.ms"
    assert f'"{pair.journal}" on P has {name}={config[name]}' in found["msg"]


def test_a_declaration_that_hides_a_topic_is_refused_before_anything_is_created(pair: LabPair) -> None:
    """R32: committed offsets and members on topics of the pair, including replicas."""
    pair.make(pair.topic, pair.other, f"P.{pair.other}")
    with pair.member("P", pair.topic, pair.other):
        found = pair.active()
    assert found["error"]["code"] == "group_out_of_scope"
    assert f'uses the topic "{pair.other}" on P (assigned to its member reader-P at ' in found["msg"]
    commit(pair.admin("B"), pair.group, {(f"P.{pair.other}", 0): 0})
    found = pair.active()
    assert found["error"]["code"] == "group_out_of_scope"
    assert f'"P.{pair.other}" on B (committed offset 0 on partition 0)' in found["msg"]
    assert pair.active(group_topics={pair.group: [pair.topic, pair.other]})["rc"] == 0
