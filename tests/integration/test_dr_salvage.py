# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""dr_salvage on real clusters and real MirrorMaker 2: the tail is complete and replayed once, for every history."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient

from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.offsets import (
    change_offsets,
    replicated_offsets,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.rest import ConnectClient
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.journal.events import Event, encode
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.tails import Progress
from ansible_collections.switchback.kafka_dr.plugins.modules import connect_mirror, dr_salvage, kafka_topic
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module
from ansible_collections.switchback.kafka_dr.tests.support.pairs import as_pair

pytestmark = pytest.mark.integration


class Lost:
    """A pair of its own whose flow has stopped: records sent now are never replicated."""

    def __init__(self, lab: Any) -> None:
        found = lab.info()["clusters"]
        run = uuid.uuid4().hex[:6]
        self.p, self.b = f"SP{run}", f"SB{run}"
        self.clusters = {
            alias: {key: found[name][key] for key in ("bootstrap_servers", "connect_url", "cluster_id")}
            for alias, name in ((self.p, "P"), (self.b, "B"))
        }
        self.topic, self.state = f"salvage-{run}", f"salvage-{run}-internal"
        self.began = int(time.time() * 1000)
        self.ids = {alias: self._make(alias, self.topic) for alias in (self.p, self.b)}
        self._make(self.b, self.state)
        self.journal = ""
        self.journaled(self.ids)
        self._make(self.b, f"{self.topic}.salvage")
        self._rest = ConnectClient(self.clusters[self.b]["connect_url"], {}, 30.0)
        self.send(*range(10))
        self.flow("running")
        self._wait_replicated(10)
        self.flow("stopped")

    def _make(self, alias: str, name: str) -> dict[str, str]:
        topics = [{"name": name, "partitions": 1}]
        made = run_module(kafka_topic, {"bootstrap_servers": self.servers(alias), "topics": topics})
        assert made["rc"] == 0, made
        admin = AdminClient({"bootstrap.servers": self.servers(alias)})
        return {name: str(admin.describe_topics(TopicCollection([name]))[name].result().topic_id)}

    def journaled(self, ids: dict[str, Any], left_at: float | None = None) -> None:
        """Keep the journal in a new topic: the pair with these topic ids, and a disaster if ``left_at`` is given."""
        self.journal = f"{self.topic}-{uuid.uuid4().hex[:6]}-internal"
        events = [Event(1, 0, "", "enabled", 1.0, {"active": self.p, "topic_ids": ids})]
        if left_at is not None:
            way = {"type": "disaster", "from": self.p, "to": self.b}
            events += [Event(2, 0, "r2", "started", 2.0, way), Event(2, 1, "r2", "pnr", left_at, {})]
        for alias in self.clusters:
            self._make(alias, self.journal)
            producer = Producer({"bootstrap.servers": self.servers(alias)})
            for event in events:
                producer.produce(self.journal, key="pair", value=encode("pair", event), partition=0)
            assert producer.flush(20) == 0

    def servers(self, alias: str) -> str:
        return str(self.clusters[alias]["bootstrap_servers"])

    def flow(self, state: str) -> None:
        ends = {
            end: {**{key: self.clusters[alias][key] for key in ("bootstrap_servers", "cluster_id")}, "alias": alias}
            for end, alias in (("source", self.p), ("target", self.b))
        }
        params = {
            **ends,
            "connect_url": self.clusters[self.b]["connect_url"],
            "topics": [self.topic],
            "replication_factor": 1,
            "tasks_max": 1,
            "parts": ["source"],
            "source_settings": {"refresh.topics.interval.seconds": 1},
            "state": state,
            "wait_timeout": 90,
        }
        result = run_module(connect_mirror, params)
        assert result["rc"] == 0, result["msg"]

    def _wait_replicated(self, count: int) -> None:
        until = time.monotonic() + 60
        while len(self.read(f"{self.p}.{self.topic}")) < count:
            assert time.monotonic() < until, "the flow did not copy"

    @property
    def connector(self) -> str:
        return f"{self.p}->{self.b}.MirrorSourceConnector"

    @property
    def last_replicated_offset(self) -> int | None:
        return replicated_offsets(self._rest, self.connector, self.p).get((self.topic, 0))

    def note(self, offset: int) -> None:
        """The offset that Kafka Connect has stored."""
        change_offsets(self._rest, self.connector, self.p, {(self.topic, 0): offset})

    def plan(self, begin: int, end: int, through: int) -> None:
        """The progress that a replay has stored."""
        plan = Progress("pair", self.p, self.topic, 0, self.ids[self.p][self.topic], "salvage", begin, end, through)
        producer = Producer({"bootstrap.servers": self.servers(self.b)})
        producer.produce(self.state, key=plan.key, value=json.dumps(plan.as_dict()), partition=0)
        assert producer.flush(20) == 0

    def send(self, *numbers: int, alias: str = "", topic: str = "") -> None:
        producer = Producer({"bootstrap.servers": self.servers(alias or self.p)})
        for number in numbers:
            headers = [("h", b"\x00\xff")]
            stamp = self.began + number
            producer.produce(topic or self.topic, f"{number}", key="k", partition=0, timestamp=stamp, headers=headers)
        assert producer.flush(20) == 0

    def read(self, topic: str, alias: str = "") -> list[Any]:
        settings = {"bootstrap.servers": self.servers(alias or self.b), "group.id": "reader"}
        settings |= {"enable.partition.eof": True, "isolation.level": "read_committed"}  # type: ignore[dict-item]
        consumer = Consumer(settings)
        found: list[Any] = []
        try:
            consumer.assign([TopicPartition(topic, 0, 0)])
            until = time.monotonic() + 20
            while time.monotonic() < until:
                message = consumer.poll(1.0)
                if message is None:
                    continue
                if message.error():
                    break
                found.append(message)
        finally:
            consumer.close()
        return found

    def run(self, mode: str = "list", check: bool = False, **more: Any) -> dict[str, Any]:
        params = {
            "clusters": self.clusters,
            "topics": [self.topic],
            "source": self.p,
            "target": self.b,
            "mode": mode,
            "pair": "pair",
            "topic": self.journal,
            "state_topic": self.state,
            **more,
        }
        return run_module(dr_salvage, as_pair(params), check=check)

    def brought(self) -> list[str]:
        return [message.value().decode() for message in self.read(f"{self.topic}.salvage")]


@pytest.fixture
def lost(lab: Any) -> Iterator[Lost]:
    made = Lost(lab)
    yield made
    made.flow("absent")


def test_the_tail_is_listed_exported_and_replayed_once(lost: Lost, tmp_path: Path) -> None:
    assert lost.run()["partitions"] == []
    lost.send(*range(10, 15))
    failed_over = (lost.began + 13) / 1000
    lost.journaled(lost.ids, left_at=failed_over)
    listed = lost.run()
    row = listed["partitions"][0]
    assert (row["begin"], row["end"], row["records"], row["after_failover"]) == (10, 15, 5, 1)
    assert (row["first_time"], row["last_time"]) == (lost.began + 10, lost.began + 14)
    assert listed["changed"] is False

    assert lost.run("export", check=True, folder=str(tmp_path))["changed"] is True
    assert list(tmp_path.iterdir()) == []
    lost.run("export", folder=str(tmp_path))
    lines = [json.loads(line) for line in (tmp_path / f"{lost.topic}-0.jsonl").read_text().splitlines()]
    first = lines[0]
    assert (first["offset"], first["value"], first["headers"]) == (10, "10", [["h", None, "AP8="]])
    assert len(lines) == 5
    assert lost.run("export", folder=str(tmp_path))["changed"] is False

    assert lost.run("replay", check=True)["changed"] is True
    assert lost.brought() == []
    assert lost.run("replay")["rc"] == 0
    assert lost.brought() == ["10", "11", "12", "13", "14"]
    record = lost.read(f"{lost.topic}.salvage")[0]
    assert (record.key(), record.timestamp()[1]) == (b"k", lost.began + 10)
    assert dict(record.headers())["kafka_dr.salvage.offset"] == b"10"
    # The flow must not replicate it again.
    assert lost.last_replicated_offset == 14
    again = lost.run("replay")
    assert (again["changed"], again["records"]) == (False, 0)
    assert len(lost.brought()) == 5
    lost.send(15)
    lost.run("replay")
    assert lost.brought()[-1] == "15"


def test_a_replay_whose_progress_is_lost_is_not_repeated_unless_it_is_accepted(lost: Lost) -> None:
    """R37: the journal knows of the replay, so an empty state topic is a lost one."""
    lost.send(*range(10, 15))
    assert lost.run("replay")["rc"] == 0
    lost.state = f"{lost.state}-again"
    lost._make(lost.b, lost.state)
    lost.send(15)
    refused = lost.run("replay")
    assert refused["error"]["code"] == "salvage_progress_lost"
    assert f"first {lost.topic}-0" in refused["msg"]
    assert len(lost.brought()) == 5
    # Without the state, records that were replayed look like copies that were lost (R45).
    assert lost.run()["records"] == 6
    assert lost.run("replay", accept_expired=[lost.topic])["rc"] == 0
    assert lost.brought()[-1] == "15"
    # What the flow skipped before is still unknown.
    progress = json.loads(lost.read(lost.state)[-1].value())
    assert progress["skipped_ranges"] is None


def test_a_killed_replay_continues_with_the_next_record(lost: Lost) -> None:
    lost.send(*range(10, 15))
    lost.plan(begin=10, end=15, through=12)
    assert lost.run("replay", into="original")["error"]["code"] == "salvage_elsewhere"
    lost.send(15)
    assert lost.run("replay")["rc"] == 0
    assert lost.brought() == ["12", "13", "14"]
    # Only that range had been started. Later records belong to the next one.
    lost.run("replay")
    assert lost.brought() == ["12", "13", "14", "15"]


def test_records_that_a_killed_worker_replicated_without_storing_the_offset_are_no_tail(lost: Lost) -> None:
    lost.send(10)
    lost.note(6)
    row = lost.run()["partitions"][0]
    assert (row["already_replicated"], row["begin"], row["records"]) == (3, 10, 1)
    # It may have died before it stored any offset.
    lost.note(-1)
    row = lost.run()["partitions"][0]
    assert (row["already_replicated"], row["begin"], row["records"]) == (10, 10, 1)
    # If retention has removed the beginning of the copy, that proves nothing any more: the tail has one record too
    # many.
    replica = TopicPartition(f"{lost.p}.{lost.topic}", 0, 1)
    admin = AdminClient({"bootstrap.servers": lost.servers(lost.b)})  # It must still exist when it is read.
    admin.delete_records([replica])[replica].result()
    row = lost.run()["partitions"][0]
    assert (row["already_replicated"], row["begin"], row["records"]) == (0, 0, 11)


def test_records_whose_copies_were_lost_are_a_part_of_the_tail_or_named(lost: Lost) -> None:
    """R45: what the flow had stored does not say what the replica still holds."""
    lost.send(*range(10, 16))
    # As if the replica had lost the copies of 10 to 12.
    lost.note(12)
    listed = lost.run()
    row = listed["partitions"][0]
    assert (row["begin"], row["records"], row["copies_lost"], row["missing"]) == (10, 6, 3, None)
    assert f"3 of them replicated before and lost on {lost.b}" in listed["lines"][1]
    # As if the flow had gone on after that.
    lost.send(13, 14, alias=lost.b, topic=f"{lost.p}.{lost.topic}")
    lost.note(14)
    row = lost.run()["partitions"][0]
    assert (row["begin"], row["records"], row["copies_lost"]) == (15, 1, 0)
    assert (row["missing"], row["missing_records"]) == ([10, 13], 3)
    refused = lost.run("replay")
    assert refused["error"]["code"] == "copies_missing"
    assert "3 records in the offsets 10 to 12" in refused["msg"]
    assert lost.run("replay", accept_expired=[lost.topic])["rc"] == 0
    assert lost.brought() == ["15"]
    assert lost.run()["partitions"] == []


def test_a_running_flow_a_re_created_topic_and_a_tail_with_a_gap_are_refused(lost: Lost) -> None:
    lost.send(*range(10, 15))
    other = {**lost.ids, lost.p: {lost.topic: "another"}}
    lost.journaled(other)
    assert lost.run("replay")["error"]["code"] == "topic_recreated"
    lost.journaled(lost.ids)
    clusters = {**lost.clusters, lost.p: {**lost.clusters[lost.p], "cluster_id": "another"}}
    assert lost.run(clusters=clusters)["error"]["code"] == "wrong_cluster"
    admin = AdminClient({"bootstrap.servers": lost.servers(lost.p)})
    admin.delete_records([TopicPartition(lost.topic, 0, 12)])[TopicPartition(lost.topic, 0)].result()
    assert lost.run()["partitions"][0]["expired"] == [10, 12]
    refused = lost.run("replay")
    assert refused["error"]["code"] == "tail_expired"
    assert "offsets 10 to 11" in refused["msg"]
    assert lost.brought() == []
    assert lost.run("replay", accept_expired=[lost.topic])["rc"] == 0
    assert lost.brought() == ["12", "13", "14"]
    lost.flow("running")
    assert lost.run()["error"]["code"] == "flow_running"


def test_a_cluster_that_came_back_with_shorter_logs_is_reported_and_the_flow_continues_from_there(lost: Lost) -> None:
    lost.note(20)
    row = lost.run()["partitions"][0]
    assert row["truncated"] == [10, 21]
    assert lost.run("replay")["error"]["code"] == "tail_truncated"
    # Records replayed earlier from offsets that now hold other records do not count for them.
    lost.plan(begin=20, end=30, through=30)
    assert lost.run()["partitions"][0]["truncated"] == [10, 30]
    assert lost.run("replay", accept_expired=[lost.topic])["rc"] == 0
    assert lost.last_replicated_offset == 9
    lost.send(10)
    row = lost.run()["partitions"][0]
    assert (row["begin"], row["end"], row["truncated"]) == (10, 11, None)


def test_a_newer_record_of_the_same_key_is_not_replaced_without_confirmation(lost: Lost) -> None:
    lost.send(10)
    lost.send(11, alias=lost.b)
    refused = lost.run("replay", into="original")
    assert refused["error"]["code"] == "newer_keys"
    assert lost.run("replay", into="original", accept_newer_keys=[lost.topic])["rc"] == 0
    values = [message.value().decode() for message in lost.read(lost.topic)]
    assert values == ["11", "10"]
