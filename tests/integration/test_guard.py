# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""R31 on real brokers: no module changes anything for a superseded controller."""

from __future__ import annotations

import time
import uuid
from dataclasses import replace
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.journal.leases import Lease
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal.guard import Guard, Held
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal.leases import write_lease
from ansible_collections.switchback.kafka_dr.plugins.modules import (
    client_control,
    connect_mirror,
    dr_guard_info,
    dr_journal,
    kafka_group,
    kafka_topic,
    kafka_topic_info,
)
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module
from ansible_collections.switchback.kafka_dr.tests.support.pairs import of_journal

pytestmark = pytest.mark.integration


class LabPair:
    """A pair of its own in the shared lab: a journal and a state topic, enabled, with one run."""

    def __init__(self, lab: Any) -> None:
        found = lab.info()["clusters"]
        self.info = found
        self.clusters = {alias: {"bootstrap_servers": found[alias]["bootstrap_servers"]} for alias in ("P", "B")}
        word = uuid.uuid4().hex[:8]
        self.name, self.topic, self.state = f"B-P-{word}", f"journal-{word}-internal", f"state-{word}-internal"
        self.payments = f"Payments-{word}"
        for cluster in self.clusters.values():
            topics = [{"name": name, "partitions": 1} for name in (self.topic, self.state, self.payments)]
            assert run_module(kafka_topic, {**cluster, "topics": topics})["rc"] == 0
        ids = {"P": {}, "B": {}}
        self.note("enabled", data={"active": "P", "topic_ids": ids})
        self.run = self.note("started", data={"type": "cutoff", "from": "P", "to": "B"})

    def note(self, event: str, **params: Any) -> dict[str, Any]:
        base = {"clusters": self.clusters, "pair": self.name, "topic": self.topic, "state_topic": self.state}
        done: dict[str, Any] = run_module(dr_journal, of_journal({**base, "event": event, **params}))
        assert done["rc"] == 0, done
        return done

    def guard(self, **more: Any) -> dict[str, Any]:
        owner = {name: value for name, value in self.run["owner"].items() if name != "on"}
        place = {"clusters": self.clusters, "pair": self.name, "topic": self.topic, "state_topic": self.state}
        return {**place, **owner, **more}

    def overtake(self) -> None:
        """Another controller takes the run over."""
        self.note("resumed", run=self.run["run_id"], take_over=self.run["run_id"])

    def kafkas(self) -> dict[str, Kafka]:
        return {alias: Kafka(cluster["bootstrap_servers"], {}, 15.0) for alias, cluster in self.clusters.items()}


@pytest.fixture
def pair(lab: Any) -> LabPair:
    return LabPair(lab)


def test_a_run_is_held_until_it_is_taken_over(pair: LabPair) -> None:
    assert run_module(dr_guard_info, {"guard": pair.guard()})["held"]
    pair.overtake()
    assert run_module(dr_guard_info, {"guard": pair.guard()})["error"]["code"] == "run_superseded"
    assert run_module(dr_guard_info, {"guard": pair.guard(holder_generation=1)})["held"]
    assert not run_module(dr_guard_info, {"guard": {}})["held"]


def test_no_module_changes_anything_for_a_superseded_controller(pair: LabPair, tmp_path: Any) -> None:
    pair.overtake()
    late, cluster = pair.guard(), pair.clusters["B"]
    created = f"late-{uuid.uuid4().hex[:8]}"
    committed_offset = {"topic": pair.payments, "partition": 0, "offset": 0}
    ends = {"source": {"alias": created, **pair.clusters["P"]}, "target": {"alias": "B", **cluster}}
    connect = {"connect_url": pair.info["B"]["connect_url"], **ends}
    client = {"name": "app", "argv": ["touch", str(tmp_path / "ran")], "path": str(tmp_path / "env"), "content": "x"}
    for module, params in (
        (kafka_topic, {**cluster, "topics": [{"name": created, "partitions": 1}]}),
        (kafka_topic, {**cluster, "topics": [{"name": pair.payments}], "state": "absent"}),
        (kafka_topic, {**cluster, "topics": [{"name": pair.payments, "config": {"retention.ms": 1}}]}),
        (kafka_group, {**cluster, "groups": [{"group": created, "committed_offsets": [committed_offset]}]}),
        (connect_mirror, {**connect, "topics": [pair.payments], "parts": ["source"], "state": "present"}),
        (client_control, {"clients": [client]}),
    ):
        done = run_module(module, {**params, "guard": late})
        assert done["rc"] != 0, (module.__name__, done)
        assert "makes no more changes" in done["msg"], done["msg"]
    found = run_module(kafka_topic_info, {**cluster, "topics": [created, pair.payments], "config": "overrides"})
    there = {one["name"]: one for one in found["topics"]}
    assert (there[created]["exists"], there[pair.payments]["exists"]) == (False, True)
    assert list(tmp_path.iterdir()) == []
    # The holder may.
    mine = {**pair.guard(holder_generation=1), "token": {"journal": 1.0, "epoch": 2, "holder_generation": 1}}
    assert run_module(client_control, {"clients": [client], "guard": mine})["rc"] == 0
    assert (tmp_path / "ran").exists()


def test_a_run_superseded_between_two_effects_of_one_module_is_refused_the_second_one(pair: LabPair) -> None:
    held = Held.of({**pair.guard(), "any_side": False})
    assert held is not None
    assert (held.claim.run, held.claim.holder_generation) == (pair.run["run_id"], 0)
    guard = Guard(held, 15.0)
    guard()
    pair.overtake()
    with pytest.raises(Exception, match="taken over 1 times"):
        guard()


def test_an_unreachable_copy_proves_nothing_except_while_a_run_is_undone(pair: LabPair) -> None:
    half = {**pair.clusters, "P": {"bootstrap_servers": "127.0.0.1:1"}}
    asked = {"guard": pair.guard(clusters=half)}
    assert run_module(dr_guard_info, asked)["error"]["code"] == "kafka_unreachable"
    assert run_module(dr_guard_info, {"guard": pair.guard(clusters=half, any_side=True)})["held"]


@pytest.mark.parametrize("wrong_by", [-7200.0, 0.0, 7200.0])
def test_a_lease_is_held_until_another_process_ends_it_no_matter_what_the_clocks_show(
    pair: LabPair, wrong_by: float
) -> None:
    now = time.time() + wrong_by
    lease = Lease(pair.name, "enable", "", "enable-1", now, now + 2.0, holder={"host": "elsewhere"})
    lease = replace(lease, holder={"host": "elsewhere", "pid": 1, "born": 1, "command": ""})
    write_lease(pair.kafkas(), pair.state, lease)
    held = {"guard": pair.guard(run=None, holder_generation=None, lease="enable-1")}
    assert run_module(dr_guard_info, held)["held"]
    before = time.monotonic()
    taken = pair.note("read", lease="disable")
    # It is watched here for its whole length, and never compared with this machine's time of day.
    assert time.monotonic() - before > 2.0
    assert run_module(dr_guard_info, held)["error"]["code"] == "run_superseded"
    mine = {"guard": pair.guard(run=None, holder_generation=None, lease=taken["owner"]["lease"])}
    assert run_module(dr_guard_info, mine)["held"]


def test_the_first_proof_takes_tenths_of_a_second_and_each_further_one_far_less(pair: LabPair) -> None:
    held = Held.of({**pair.guard(), "any_side": False})
    assert held is not None
    assert (held.claim.run, held.claim.holder_generation) == (pair.run["run_id"], 0)
    guard = Guard(held, 15.0)
    spent = []
    for _number in range(6):
        before = time.monotonic()
        guard()
        spent.append(time.monotonic() - before)
    print("proofs took", [round(one, 3) for one in spent])
    assert min(spent[1:]) < spent[0] / 2


def test_a_transactional_commit_is_accepted_for_a_group_with_members_unlike_an_admin_request(
    pair: LabPair, lab: Any
) -> None:
    """This is why offsets are not committed through the journal's fenced producer: brokers do not
    check members there.
    """
    group, servers = f"group-{uuid.uuid4().hex[:8]}", pair.clusters["B"]["bootstrap_servers"]
    settings = {"bootstrap.servers": servers, "group.id": group, "auto.offset.reset": "earliest"}
    member, outsider = Consumer(settings), Consumer(settings)
    member.subscribe([pair.payments])
    until = time.monotonic() + 60
    while not member.assignment():
        assert time.monotonic() < until
        member.poll(0.2)
    committed_offset = {"topic": pair.payments, "partition": 0, "offset": 0}
    asked = {**pair.clusters["B"], "groups": [{"group": group, "committed_offsets": [committed_offset]}]}
    assert run_module(kafka_group, asked)["rc"] != 0
    producer = Producer({"bootstrap.servers": servers, "transactional.id": group})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.send_offsets_to_transaction([TopicPartition(pair.payments, 0, 0)], outsider.consumer_group_metadata(), 30)
    producer.commit_transaction(30)
    assert [one.offset for one in member.committed([TopicPartition(pair.payments, 0)], timeout=15)] == [0]
    member.close()
    outsider.close()
