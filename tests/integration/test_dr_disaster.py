# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""dr_disaster and dr_probe_info on a real cluster: what one cluster alone shows, and what the
modules refuse to guess.
"""

from __future__ import annotations

import json
import struct
import time
import uuid
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.offsets.bindings import last_witnesses
from ansible_collections.switchback.kafka_dr.plugins.modules import (
    dr_disaster,
    dr_probe_info,
    kafka_topic,
    kafka_topic_info,
)
from ansible_collections.switchback.kafka_dr.tests.support.journals import journal_state
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module, warned
from ansible_collections.switchback.kafka_dr.tests.support.pairs import as_pair
from brokers import cut
from lab.lab import Lab
from metadata import commit_with_metadata

pytestmark = pytest.mark.integration

DEAD = "127.0.0.1:1"
Look = Callable[..., dict[str, Any]]


def text(value: str) -> bytes:
    return struct.pack(">h", len(value)) + value.encode()


class SurvivingCluster:
    """The surviving cluster of a pair of its own: B of the lab, under aliases that no other test uses."""

    def __init__(self, lab: Any) -> None:
        found = lab.info()["clusters"]["B"]
        run = uuid.uuid4().hex[:6]
        self.p, self.b = f"DP{run}", f"DB{run}"
        self.servers, self.url = str(found["bootstrap_servers"]), found["connect_url"]
        self.topic, self.group = f"disaster-{run}", f"disaster-{run}"
        self.replica = f"{self.p}.{self.topic}"
        self.checkpoints, self.syncs = f"{self.p}.checkpoints.internal", f"mm2-offset-syncs.{self.p}.internal"
        self.state = f"disaster-{run}-internal"
        # Retention would delete older records in the middle of a test.
        self.began = int(time.time() * 1000)
        self.make(self.topic, self.replica, self.checkpoints, self.syncs, self.state)

    def make(self, *names: str, **config: str) -> None:
        topics = [{"name": name, "partitions": 1, "config": config} for name in names]
        made = run_module(kafka_topic, {"bootstrap_servers": self.servers, "topics": topics})
        assert made["rc"] == 0, made

    def send(self, topic: str, *records: tuple[bytes, bytes, int]) -> None:
        producer = Producer({"bootstrap.servers": self.servers})
        for key, value, stamp in records:
            producer.produce(topic, value, key=key, partition=0, timestamp=stamp)
        assert producer.flush(20) == 0

    def copy(self, *numbers: int, topic: str = "") -> None:
        """Records of the source, by their number. A repeated number was sent twice."""
        records = ((b"k", f"{number}".encode(), self.began + number) for number in numbers)
        self.send(topic or self.replica, *records)

    def checkpoint(self, upstream: int, downstream: int, ago: float = 0) -> None:
        key = text(self.group) + text(self.replica) + struct.pack(">i", 0)
        value = struct.pack(">hqq", 0, upstream, downstream) + text("")
        self.send(self.checkpoints, (key, value, int((time.time() - ago) * 1000)))

    def heartbeat(self, ago: float) -> None:
        """A replicated heartbeat, by the clock of its worker."""
        topic, stamp = f"{self.p}.heartbeats", int((time.time() - ago) * 1000)
        self.make(topic)
        self.send(topic, (text(self.p) + text(self.b), struct.pack(">hq", 0, stamp), stamp))

    def sync(self, upstream: int, downstream: int) -> None:
        key = text(self.topic) + struct.pack(">i", 0)
        self.send(self.syncs, (key, struct.pack(">qq", upstream, downstream), int(time.time() * 1000)))

    def prepare(
        self,
        offset: int,
        left: int,
        since: float | None = None,
        known: bool = True,
        checkpoint_end: int = 1_000_000,
        same_checkpoints: bool = True,
        tenure: int = 0,
        metadata: str = "",
        **witness: Any,
    ) -> None:
        """``witness``: how the record before the offset differs from the one that is there."""
        kafka, place = Kafka(self.servers, {}, 15.0), Partition(self.replica, 0)
        last = last_witnesses(kafka, {place: (0, offset)})[place]
        topic_id = self.id_of(self.replica) if known else "another"
        value = {
            "schema": 5,
            "tenure": tenure,
            "kind": "committed_offsets",
            "pair": "pair",
            "to": self.b,
            "group": self.group,
            "since": time.time() if since is None else since,
            "checkpoints": [checkpoint_end, self.id_of(self.checkpoints) if same_checkpoints else "another"],
            "committed_offsets": [[self.replica, 0, offset, left, topic_id, [last._replace(**witness)], metadata]],
        }
        self.send(self.state, (b"x", json.dumps(value).encode(), int(time.time() * 1000)))

    def id_of(self, topic: str) -> str:
        found = run_module(kafka_topic_info, {"bootstrap_servers": self.servers, "topics": [topic]})
        return str(found["topics"][0]["topic_id"])

    def commit(self, topic: str, offset: int, metadata: str = "") -> None:
        commit_with_metadata(Kafka(self.servers, {}, 15.0), self.group, {(topic, 0): (offset, metadata)})

    def observe(self, known: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
        """``known``: the state in the journal of the surviving cluster."""
        survivor = {self.b: {"bootstrap_servers": self.servers, "connect_url": self.url}}
        own = {"name": "pair", "topic": f"disaster-{uuid.uuid4().hex[:8]}-internal"}
        params = {
            "clusters": {self.p: {"bootstrap_servers": DEAD}, **survivor},
            "topics": [self.topic],
            "groups": [self.group],
            "leave": self.p,
            "enter": self.b,
            "pair": "pair",
            "state_topic": self.state,
            "probe_timeout": 0.5,
            **({} if known is None else journal_state(survivor, (self.p, self.b), **known, **own)),
            **more,
        }
        return run_module(dr_disaster, as_pair(params), check=True)

    def found(self, known: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The row of the replica."""
        result = self.observe(known)
        assert result["rc"] == 0, result["msg"]
        return next(row for row in result["details"] if row["topic"] == self.replica)


@pytest.fixture
def side(lab: Any) -> SurvivingCluster:
    return SurvivingCluster(lab)


def test_without_evidence_the_group_starts_at_the_log_start_and_the_reason_names_the_gap(
    side: SurvivingCluster,
) -> None:
    side.copy(*range(5))
    result = side.observe()
    rows = {row["topic"]: row for row in result["details"]}
    assert (rows[side.replica]["offset"], rows[side.replica]["method"], rows[side.replica]["rereads"]) == (
        0,
        "start",
        5,
    )
    assert (rows[side.topic]["offset"], rows[side.topic]["method"]) == (0, "empty")
    assert [probe["answers"] for probe in result["probes"]] == [False]
    assert result["loss"]["verdict"] == "UNKNOWN"
    assert result["loss"]["records_at_most"] is None
    assert result["ages"] == {side.group: None}
    assert result["changed"] is False


@pytest.mark.parametrize("ahead", [3600.0, 0.0, -3600.0])
def test_the_timestamps_of_producers_are_no_clock(side: SurvivingCluster, ahead: float) -> None:
    """R43: they were one hour ahead, and the loss was "written within the last 0.0 s"."""
    stamp = int((time.time() + ahead) * 1000)
    side.send(side.replica, *((b"k", b"%d" % number, stamp) for number in range(5)))
    side.heartbeat(55.0)
    loss = side.observe()["loss"]
    assert (loss["records_at_least"], loss["records_at_most"], loss["seconds_at_most"]) == (0, None, None)
    assert 55.0 <= loss["heartbeat_age"] < 85.0
    assert [row["last_event_time"] for row in loss["partitions"]] == [stamp / 1000.0]
    # The clock of a worker may be ahead as well.
    side.heartbeat(-3600.0)
    side.checkpoint(3, 3, ago=-3600.0)
    result = side.observe()
    assert result["loss"]["heartbeat_age"] is None
    # A worker's converter makes it unreadable, which ends no disaster.
    side.send(f"{side.p}.heartbeats", (text(side.p) + text(side.b), b'"AAAAAAGTqPq1Zw=="', stamp))
    result = side.observe()
    assert result["loss"]["heartbeat_age"] is None
    assert result["ages"] == {side.group: None}
    assert " 0.0 s" not in " ".join(result["loss_lines"])


def test_a_transaction_marker_is_no_lost_record(side: SurvivingCluster) -> None:
    """R46: everything was replicated, and the group had read past the marker that ends the transaction."""
    source = f"{side.topic}-source"
    side.make(source)
    producer = Producer({"bootstrap.servers": side.servers, "transactional.id": source})
    producer.init_transactions(20)
    producer.begin_transaction()
    for number in range(3):
        producer.produce(source, b"%d" % number, key=b"k", partition=0, timestamp=side.began + number)
    producer.commit_transaction(20)
    info = run_module(kafka_topic_info, {"bootstrap_servers": side.servers, "topics": [source], "offsets": True})
    (log,) = info["topics"][0]["offsets"]
    assert (log["start"], log["end"]) == (0, 4)
    side.copy(0, 1, 2)
    side.sync(2, 2)
    side.checkpoint(log["end"], 3)
    result = side.observe()
    assert (result["loss"]["records_at_least"], result["loss"]["offsets_to_committed"]) == (0, 1)
    assert not [line for line in result["loss_lines"] if "at least" in line]


def test_an_untrusted_committed_offset_does_not_count(side: SurvivingCluster) -> None:
    side.copy(*range(5))
    side.commit(side.replica, 4)
    found = side.found()
    assert (found["offset"], found["existing"]) == (0, 4)


def test_the_newest_of_checkpoint_and_presynced_offset_counts(side: SurvivingCluster) -> None:
    side.copy(*range(10))
    side.checkpoint(3, 3)
    side.checkpoint(5, 4)
    assert (side.found()["offset"], side.found()["method"]) == (4, "checkpoint")
    # The checkpoint is about an earlier topic of that name.
    side.prepare(9, 9, known=False)
    assert side.found()["offset"] == 4
    side.prepare(7, 7)
    found = side.found()
    assert (found["offset"], found["method"], found["rereads"]) == (7, "presynced", 3)
    assert found["as_of"] is not None
    # The group was set back on purpose since.
    side.prepare(7, 7, checkpoint_end=2)
    side.checkpoint(2, 2)
    assert (side.found()["offset"], side.found()["method"]) == (2, "checkpoint")


def test_metadata_that_mirrormaker_2_left_do_not_survive_unless_they_were_compared(
    side: SurvivingCluster, capsys: Any
) -> None:
    """R49: MirrorMaker 2 copies the metadata of another offset. Those of the scheduled job belong to its offset."""
    side.copy(*range(10))
    side.checkpoint(5, 4)
    side.commit(side.replica, 4, "of offset 5")
    result = side.observe()
    (row,) = (row for row in result["details"] if row["topic"] == side.replica)
    assert (row["offset"], row["existing"], row["metadata"]) == (4, 4, "")
    assert "cannot be read" in row["metadata_dropped"]
    assert "The metadata of 1 committed offsets do not go along" in warned(result, capsys)
    (group,) = result["committed_offsets"]
    assert {"topic": side.replica, "partition": 0, "offset": 4, "metadata": ""} in group["committed_offsets"]
    side.prepare(7, 7, metadata="compared")
    side.commit(side.replica, 7, "compared")
    found = side.found()
    assert (found["offset"], found["metadata"], found["metadata_dropped"]) == (7, "compared", "")


def test_checkpoints_and_commits_on_undeclared_topics_are_named(side: SurvivingCluster) -> None:
    """R32, as far as the surviving cluster shows it: the committed offsets of the lost one cannot be read."""
    other = f"{side.topic}-other"
    side.make(other, f"{side.p}.{other}")
    declared = {"topics": [side.topic, other], "group_topics": {side.group: [other]}}
    side.copy(*range(10))
    assert side.observe(**declared)["out_of_scope"] == []
    side.checkpoint(5, 4)
    row = {"group": side.group, "alias": side.b, "topic": side.replica}
    evidence = f"checkpoint of {side.p}'s committed offset 5 on partition 0"
    assert side.observe(**declared)["out_of_scope"] == [{**row, "evidence": evidence}]
    side.commit(side.replica, 4)
    assert side.observe(**declared)["out_of_scope"] == [{**row, "evidence": "committed offset 4 on partition 0"}]
    assert side.observe(topics=[side.topic, other])["out_of_scope"] == []


def test_a_set_back_group_is_recognised_by_the_offset_of_its_checkpoint_and_not_by_a_clock(
    side: SurvivingCluster,
) -> None:
    """The clock of the worker that wrote it is one minute slow."""
    side.copy(*range(10))
    side.checkpoint(5, 4)
    side.prepare(7, 7, checkpoint_end=1)
    assert side.found()["offset"] == 7
    side.checkpoint(2, 2, ago=60)
    assert (side.found()["offset"], side.found()["method"]) == (2, "checkpoint")


def test_a_presynced_offset_counts_only_while_the_record_before_it_is_the_same(side: SurvivingCluster) -> None:
    """R37: after an unclean election or on a restored disk, the same topic id has other records."""
    side.copy(*range(10))
    side.prepare(7, 7, digest="00" * 16)
    found = side.found()
    assert (found["offset"], found["method"], found["quality"]) == (0, "start", "safe")
    assert any("the log was cut and filled again" in text for text in found["hazards"])
    # A checkpoint is no better: it is an offset of the log before it was cut.
    side.checkpoint(8, 8)
    assert side.found()["offset"] == 0
    side.prepare(7, 7, leader_epoch=99)
    assert side.found()["offset"] == 0
    side.prepare(7, 7)
    # R39: the scheduled job found the group lower after that checkpoint.
    assert (side.found()["offset"], side.found()["method"]) == (7, "presynced")


def test_a_replica_that_was_cut_and_filled_again_does_not_keep_its_presynced_offsets(
    side: SurvivingCluster, lab: Lab
) -> None:
    """R37: the group is at 90 of 120. At 90 of the new log, it would never read 30 records that it has not read."""
    for first, end in ((0, 60), (60, 90), (90, 120)):
        side.copy(*range(first, end))
    side.prepare(90, 90)
    assert (side.found()["offset"], side.found()["method"]) == (90, "presynced")
    topic_id = side.id_of(side.replica)
    cut(lab, "B", Partition(side.replica, 0), 60)
    assert side.found()["offset"] == 0
    side.copy(*range(90, 120))
    side.copy(*range(60, 90))
    found = side.found()
    assert side.id_of(side.replica) == topic_id
    assert (found["offset"], found["method"], found["quality"]) == (0, "start", "safe")
    assert "the log was cut and filled again since the offset was stored" in " ".join(found["hazards"])


def test_a_presynced_offset_of_an_earlier_tenure_does_not_count(side: SurvivingCluster) -> None:
    """R39: the group may have been set back on the other cluster since."""
    side.copy(*range(10))
    side.prepare(7, 7, tenure=1)
    assert side.found()["offset"] == 0
    assert side.found({})["offset"] == 0
    side.prepare(7, 7, tenure=2)
    assert side.found({})["offset"] == 7


def test_a_checkpoint_from_before_the_last_move_is_lowered_to_the_groups_own_offset(side: SurvivingCluster) -> None:
    """R39: the group was set back where it lived since."""
    side.copy(*range(10))
    side.checkpoint(8, 8)
    trusted = {side.group: {side.replica: {"0": 3}}}
    first, here = (0, ""), (1, side.id_of(side.checkpoints))
    assert side.found({"trusted_offsets": trusted, "checkpoints": first})["offset"] == 8
    assert side.found({"trusted_offsets": trusted, "checkpoints": here})["offset"] == 3
    assert side.found({"checkpoints": here})["offset"] == 0
    # The checkpoints topic was created again since, so its first checkpoint is newer than the move (R43).
    assert side.found({"trusted_offsets": trusted, "checkpoints": (1, "another")})["offset"] == 8


@pytest.mark.parametrize("ago", [-3600, 3600])
def test_a_checkpoint_that_may_be_from_before_a_disaster_proves_no_offset_and_voids_one(
    side: SurvivingCluster, ago: float
) -> None:
    """R39, R43: this cluster was lost, so its checkpoints were not seen then. Clocks of worker and journal differ."""
    side.copy(*range(10))
    side.checkpoint(5, 5, ago)
    assert side.found()["offset"] == 5
    unknown = side.found({"checkpoints": None})
    assert (unknown["offset"], unknown["method"]) == (0, "start")
    # The scheduled job found the group at 7, and it may have been set back since.
    side.prepare(7, 7, tenure=2, checkpoint_end=0)
    assert side.found({"checkpoints": None})["offset"] == 0
    side.prepare(7, 7, tenure=2)
    assert side.found({"checkpoints": None})["offset"] == 7


@pytest.mark.parametrize("ago", [-3600, 0, 3600])
def test_a_set_back_group_is_seen_in_a_checkpoints_topic_that_was_created_again(
    side: SurvivingCluster, ago: float
) -> None:
    """R43: log ends of a deleted topic say nothing about the new one, and no clock of a worker stands in for them."""
    side.copy(*range(10))
    side.checkpoint(4, 4, ago)
    side.prepare(7, 7, checkpoint_end=30)
    assert side.found()["offset"] == 7
    side.prepare(7, 7, checkpoint_end=30, same_checkpoints=False)
    row = side.found()
    assert (row["offset"], row["method"]) == (4, "checkpoint"), row


def test_an_offset_sync_that_came_later_raises_a_checkpoint(side: SurvivingCluster) -> None:
    side.copy(*range(10))
    side.checkpoint(8, 3)
    side.sync(6, 6)
    found = side.found()
    assert (found["offset"], found["method"]) == (7, "checkpoint"), found


def test_after_a_restart_just_before_the_loss_the_group_starts_at_the_first_copy(side: SurvivingCluster) -> None:
    # 0 to 9 were replicated, then 5 and 6 again. MirrorMaker 2's checkpoint of a group at 6 is after 7, 8 and 9.
    side.copy(*range(10), 5, 6)
    side.checkpoint(6, 11)
    found = side.found()
    assert (found["offset"], found["method"]) == (6, "first_copy")
    assert "replicating records again" in found["reason"]
    # A task that outlives its connector would raise the group to that checkpoint.
    assert side.observe()["settle"] > 0


def test_a_restart_that_had_caught_up_changes_no_offset(side: SurvivingCluster) -> None:
    side.copy(*range(10), *range(5, 12))
    side.checkpoint(6, 11)
    assert (side.found()["offset"], side.found()["method"]) == (11, "checkpoint")
    assert side.observe()["settle"] == 0


def test_a_restart_is_detected_although_copies_of_records_without_a_timestamp_differ(side: SurvivingCluster) -> None:
    """Each copy has the replication time, so no two are equal. Offset-syncs show the restart."""
    for at, number in enumerate([*range(10), 5, 6]):
        side.send(side.replica, (b"k", f"{number}".encode(), side.began + at))
    side.checkpoint(6, 11)
    assert side.found()["offset"] == 11  # The restart is not visible.
    side.sync(0, 0)
    side.sync(5, 10)
    found = side.found()
    assert (found["offset"], found["method"]) == (6, "first_copy"), found
    for at, number in enumerate(range(7, 20)):
        side.send(side.replica, (b"k", f"{number}".encode(), side.began + 20 + at))
    assert (side.found()["offset"], side.found()["method"]) == (11, "checkpoint")


def test_equal_records_with_their_own_timestamps_change_no_offset(side: SurvivingCluster) -> None:
    side.send(side.replica, *((b"k", b"same", side.began + at) for at in range(12)))
    for at in (0, 10):
        side.sync(at, at)
    side.checkpoint(11, 11)
    assert (side.found()["offset"], side.found()["method"]) == (11, "checkpoint")


def test_if_copies_are_indistinguishable_the_offset_is_not_proven(side: SurvivingCluster) -> None:
    stamped = f"{side.topic}-stamped"
    side.make(stamped, f"{side.p}.{stamped}", **{"message.timestamp.type": "LogAppendTime"})
    side.topic, side.replica = stamped, f"{side.p}.{stamped}"
    side.copy(*range(10))
    side.checkpoint(6, 6)
    found = side.found()
    assert (found["offset"], found["quality"]) == (6, "unproven")
    side.copy(5, 6)
    side.checkpoint(6, 11)
    assert (side.found()["offset"], side.found()["method"]) == (6, "first_copy")


def test_a_compacted_replica_is_read_from_its_start(side: SurvivingCluster) -> None:
    compacted = f"{side.topic}-compacted"
    side.make(compacted, f"{side.p}.{compacted}", **{"cleanup.policy": "compact"})
    side.topic, side.replica = compacted, f"{side.p}.{compacted}"
    side.copy(*range(10))
    side.checkpoint(6, 6)
    found = side.found()
    assert (found["offset"], found["method"]) == (0, "start")
    assert "compacted" in found["reason"]


@pytest.mark.parametrize("ago", [-3600, 0, 3600])
def test_checkpoints_of_an_earlier_topic_of_that_name_do_not_count(side: SurvivingCluster, ago: float) -> None:
    """R43: no clock of the worker that wrote them decides it."""
    side.copy(*range(10))
    side.checkpoint(8, 8, ago)

    def offset(start: tuple[int, str]) -> int:
        # Offset-syncs of the present topic follow.
        flow, since = f"{side.p}->{side.b}", int(start[0] > 0)
        starts = {"offset_syncs_start": {flow: {side.topic: since}}, "checkpoints_start": {flow: {side.topic: start}}}
        return int(side.found(starts)["offset"])

    side.sync(0, 0)
    side.sync(1, 1)
    assert offset((0, "")) == 8
    assert offset((1, side.id_of(side.checkpoints))) == 0
    assert offset((1, "another")) == 8


def test_the_groups_own_offset_of_an_earlier_tenure_counts_on_the_original(side: SurvivingCluster) -> None:
    side.copy(*range(10), topic=side.topic)
    trusted = {side.group: {side.topic: {"0": 7}, side.replica: {"0": 3}}}
    rows = {row["topic"]: row for row in side.observe({"trusted_offsets": trusted})["details"]}
    assert (rows[side.topic]["offset"], rows[side.topic]["method"]) == (7, "presynced")
    assert rows[side.replica]["offset"] == 0
    # R37: the records before it are others.
    other = {side.topic: {"0": [[6, 0, "00" * 16]]}}
    rows = {row["topic"]: row for row in side.observe({"trusted_offsets": trusted, "bound": other})["details"]}
    assert (rows[side.topic]["offset"], rows[side.topic]["method"]) == (0, "start")


def test_contradictory_parameters_are_refused(side: SurvivingCluster) -> None:
    missing = side.observe(topics=[f"{side.topic}-none"])
    assert missing["error"]["code"] == "topic_missing"
    again = side.observe({"topic_ids": {side.b: {side.replica: "another"}}})
    assert again["error"]["code"] == "topic_recreated"
    side.send(side.checkpoints, (b"rubbish", b"rubbish", int(time.time() * 1000)))
    assert side.observe()["error"]["code"] == "checkpoints_unreadable"


def test_members_on_the_surviving_cluster_are_named(side: SurvivingCluster) -> None:
    side.copy(*range(3), topic=side.topic)
    settings = {"bootstrap.servers": side.servers, "group.id": side.group, "auto.offset.reset": "earliest"}
    consumer = Consumer(settings)
    consumer.subscribe([side.topic])
    try:
        assert consumer.poll(30) is not None
        assert side.observe()["active_groups"] == [side.group]
    finally:
        consumer.close()


def test_a_probe_is_bounded_and_reports_its_result(side: SurvivingCluster) -> None:
    alive = run_module(dr_probe_info, {"bootstrap_servers": side.servers, "topics": [side.topic], "timeout": 20})
    assert (alive["answers"], alive["changed"]) == (True, False), alive["reason"]
    began = time.monotonic()
    dead = run_module(dr_probe_info, {"bootstrap_servers": DEAD, "topics": [side.topic], "timeout": 1})
    assert dead["answers"] is False
    assert time.monotonic() - began < 30  # librdkafka itself waits for 60 s
    empty = run_module(dr_probe_info, {"bootstrap_servers": side.servers, "topics": ["no-such-topic"]})
    assert (empty["answers"], "does not have the topic no-such-topic" in empty["reason"]) == (False, True)
    other = {"bootstrap_servers": side.servers, "topics": [side.topic], "expected_cluster_id": "another"}
    assert run_module(dr_probe_info, other)["error"]["code"] == "wrong_cluster"


def test_a_missing_local_feature_is_not_taken_for_a_lost_cluster(side: SurvivingCluster) -> None:
    """The wheel of confluent-kafka has no Kerberos: no request was sent, so the state of the cluster is unknown."""
    client = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "GSSAPI"}
    asked = {"bootstrap_servers": side.servers, "client": client, "topics": [side.topic]}
    assert run_module(dr_probe_info, asked)["error"]["code"] == "kerberos_missing"
