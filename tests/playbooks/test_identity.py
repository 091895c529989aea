# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""IdentityReplicationPolicy: one topic of one name, one direction at a time, and only new records on the way back."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from accounts import read_log
from ansible_collections.switchback.kafka_dr.plugins.modules import dr_journal
from ansible_collections.switchback.kafka_dr.tests.support.pairs import of_journal
from brokers import commit
from kills import kill_at, kill_in_phase, outwait
from lab.lab import Lab
from lagging import slow
from modules import run_module
from scenario import Scenario, totals
from snapshot import read_inventory, snapshot
from workers import control_connector

CLIENTS = [
    {"name": "payments-api", "role": "producer", "rate": 500},
    {"name": "ledger-tx", "role": "transactional", "rate": 100, "abort_share": 0.2, "transaction_size": 20},
    {"name": "settlement", "role": "consumer", "group": "settlement"},
    {"name": "fraud", "role": "consumer", "group": "fraud"},
]
ROUND_TRIPS = 10


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    """A pair with the policy identity, enabled, applications running on P."""
    with Scenario(tmp_path_factory.mktemp("same"), clients=CLIENTS, policy="identity").up() as made:
        made.playbook("enable", {"kafka_dr_confirm": "P"})
        made.start()
        yield made


def servers(pair: Scenario) -> dict[str, str]:
    clusters = read_inventory(pair.inventory)["kafka_dr_clusters"]
    return {alias: cluster["bootstrap_servers"] for alias, cluster in clusters.items()}


def records(pair: Scenario, alias: str) -> int:
    """The committed data records of the topic on one cluster."""
    return sum(len(read_log(servers(pair)[alias], "Payments", number)) for number in range(pair.partitions))


def connectors(pair: Scenario) -> dict[str, str]:
    seen = snapshot(pair.folder, [])
    return {name: found[0] for side in seen.values() for name, found in side["connectors"].items()}


def harmless(pair: Scenario) -> None:
    """Stop everything, compare ledgers, and count: both clusters have exactly the records that producers wrote."""
    pair.stop()
    counted = totals(pair.check())
    harm = {key: counted[key] for key in ("lost", "phantom", "processed_twice", "out_of_order", "unknown")}
    assert harm == dict.fromkeys(harm, 0)
    pair.wait(lambda: records(pair, "P") >= counted["acknowledged"], 60, "everything is on P")
    pair.wait(lambda: records(pair, "B") >= counted["acknowledged"], 60, "everything is on B")
    assert {alias: records(pair, alias) for alias in "PB"} == dict.fromkeys("PB", counted["acknowledged"])
    pair.start()


def test_one_direction_is_enabled_and_a_second_enable_changes_nothing(pair: Scenario) -> None:
    assert pair.playbook("enable", {"kafka_dr_confirm": "P"})["changed"] == 0
    states = connectors(pair)
    assert states["P->B.MirrorSourceConnector"] == states["P->B.MirrorCheckpointConnector"] == "RUNNING"
    assert states.get("B->P.MirrorSourceConnector", "STOPPED") == "STOPPED"
    assert states.get("B->P.MirrorCheckpointConnector", "STOPPED") == "STOPPED"


@pytest.mark.long
def test_continuous_is_refused_before_any_change(pair: Scenario) -> None:
    done = pair.playbook("failover_continuous", {"kafka_dr_confirm": "B"}, expect=2)
    assert "no cut would separate their records" in done["output"]
    assert done["changed"] <= 1  # The report.


def trip(pair: Scenario) -> None:
    pair.traffic(2000)
    out = pair.move("failover_cutoff", "B")
    states = connectors(pair)
    assert states["B->P.MirrorSourceConnector"] == "RUNNING"
    assert states["P->B.MirrorSourceConnector"] == states["P->B.MirrorCheckpointConnector"] == "STOPPED"
    pair.traffic(2000)
    home = pair.move("failback", "P")
    for report in (out, home):
        verdicts = {check["name"]: check["verdict"] for check in report["checks"]}
        assert report["outcome"] == "completed"
        assert {verdicts[name] for name in ("drained", "committed_offsets", "first_write", "groups")} == {"PROVEN"}
        assert report["rereads"] == 0


@pytest.mark.long
def test_a_rehearsal_in_both_directions_leaves_the_pair_unchanged(pair: Scenario) -> None:
    """Its cleanup must distinguish replicas, which have the names of originals, from all other topics."""
    pair.traffic(500)
    before = snapshot(pair.folder, [])
    pair.playbook(
        "rehearse", {"kafka_dr_confirm": "B", "kafka_dr_rehearsal_seconds": 2, "kafka_dr_rehearsal_back": True}
    )
    rehearsal = json.loads((pair.reports / "rehearsal.json").read_text())
    found = {check["name"]: check["verdict"] for check in rehearsal["checks"]}
    assert found.pop("cutover") == "UNKNOWN"  # No principal is named, so no producer is denied.
    assert (rehearsal["outcome"], set(found.values())) == ("completed", {"PROVEN"}), rehearsal["checks"]
    after = snapshot(pair.folder, [])
    for alias in ("P", "B"):
        assert {**after[alias], "journal": None} == {**before[alias], "journal": None}


def test_a_round_trip_replicates_no_record_twice(pair: Scenario) -> None:
    """One round trip; the next test makes the second one, and the soak test makes ten in a row."""
    trip(pair)
    harmless(pair)


@pytest.mark.soak
def test_groups_that_lag_over_several_tenures_continue_with_the_next_record(pair: Scenario) -> None:
    """They are stopped in the middle of their work, and are still in an earlier tenure at the next cutover."""
    wait = {"kafka_dr_drain_groups_timeout": 1}
    slow(pair, "settlement", 50)
    reports = []
    for name, to in 2 * (("failover_cutoff", "B"), ("failback", "P")):
        lag_wanted = 3000 + 3000 * len(reports)
        pair.wait(lambda lag_wanted=lag_wanted: lag(pair) > lag_wanted, 120, "the group falls behind")
        reports.append(pair.move(name, to, **wait))
    slow(pair, "settlement", None)
    pair.wait(lambda: lag(pair) < 2000, 240, "the group catches up")
    harmless(pair)
    for report in reports:
        assert report["rereads"] == 0
        assert {row["quality"] for row in report["committed_offsets"]} == {"exact"}
    methods = {row["method"] for report in reports for row in report["committed_offsets"]}
    assert methods & {"content", "sync", "tail"}, methods


def lag(pair: Scenario) -> int:
    return pair.count("acknowledged") - pair.slowest_reader()


@pytest.mark.parametrize(
    ("name", "phase"), [("failover_cutoff", "start"), pytest.param("failback", "flows", marks=pytest.mark.soak)]
)
def test_a_killed_run_seeds_the_flow_back_once(pair: Scenario, name: str, phase: str) -> None:
    for move, to in (("failover_cutoff", "B"), ("failback", "P")):
        pair.traffic(1000)
        if move == name:
            kill_in_phase(pair, phase, to)
        assert pair.move(move, to)["outcome"] == "completed"
    pair.traffic(1000)
    harmless(pair)


@pytest.mark.long
def test_a_new_topic_joins_a_running_pair_at_the_end_of_its_copy(pair: Scenario) -> None:
    """R22: it is compared before it is replicated, also by a run that repeats one that ended before the journal."""
    declared = read_inventory(pair.inventory)["kafka_dr_topics"]
    confirm = {"kafka_dr_confirm": "P"}
    written = int(time.time() * 1000)
    for name, foreign_writes in (("Returns", [b"from elsewhere"]), ("Refunds", [])):
        fill(pair, "P", name, [b"1", b"2", b"3", b"4", b"5"], written)
        fill(pair, "B", name, [b"1", b"2", b"3", *foreign_writes], written)

    wider = {"kafka_dr_topics": [*declared, {**declared[0], "name": "Returns", "partitions": 1}]}
    done = pair.playbook("enable", {**confirm, **wider}, expect=2)
    assert "cut_unknown" in done["output"] or "it is unknown which of them P has" in done["output"]
    assert connectors(pair)["P->B.MirrorSourceConnector"] == "STOPPED"
    pair.playbook("enable", {"kafka_dr_confirm": "P"})
    assert connectors(pair)["P->B.MirrorSourceConnector"] == "RUNNING"

    wider = {"kafka_dr_topics": [*declared, {**declared[0], "name": "Refunds", "partitions": 1}]}
    kill_at(pair, "Wait until the flows replicate", "enable", {**confirm, **wider})
    outwait(pair)
    assert connectors(pair)["P->B.MirrorSourceConnector"] == "RUNNING"
    assert "Refunds" not in journal(pair)["topic_ids"]["P"]
    pair.playbook("enable", {**confirm, **wider})
    cuts = [cut_record["cut"]["Refunds"] for cut_record in journal(pair)["cuts"] if "Refunds" in cut_record["cut"]]
    assert len(cuts) == 1
    pair.wait(lambda: len(read_log(servers(pair)["B"], "Refunds", 0)) >= 5, 60, "the rest of the topic is replicated")
    before = connectors(pair)
    assert pair.playbook("enable", {**confirm, **wider})["changed"] == 0
    assert connectors(pair) == before
    assert [value for _offset, value in read_log(servers(pair)["B"], "Refunds", 0)] == [b"1", b"2", b"3", b"4", b"5"]
    # R42: it leaves only by name.
    assert "1 member of the pair B-P is not in this inventory" in pair.playbook("enable", confirm, expect=2)["output"]
    pair.playbook("enable", {**confirm, "kafka_dr_drop": "Refunds"})
    harmless(pair)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_ten_round_trips_in_a_row(pair: Scenario) -> None:
    for _number in range(ROUND_TRIPS):
        trip(pair)
    harmless(pair)


# From here on P has a record that B lacks. Tests that count both clusters equally come before.


@pytest.mark.long
def test_records_after_the_cut_keep_the_flow_back_stopped_until_they_are_accepted(pair: Scenario) -> None:
    """R22: an unreplicated tail must not be hidden."""
    pair.traffic(1000)
    kill_in_phase(pair, "arrival", "B")
    late_writes = Producer({"bootstrap.servers": servers(pair)["P"]})
    late_writes.produce("Payments", b"written after the move", partition=3)
    assert late_writes.flush(30) == 0
    done = pair.playbook("failover_cutoff", {"kafka_dr_confirm": "B"}, expect=2)
    assert "tail_left" in done["output"] or "records after the cut" in done["output"]
    assert connectors(pair)["B->P.MirrorSourceConnector"] == "STOPPED"
    report = pair.move("failover_cutoff", "B", kafka_dr_accept_tail=["Payments"])
    assert {check["name"]: check["verdict"] for check in report["checks"]}["fence"] == "REFUTED"
    pair.traffic(1000)
    assert pair.move("failback", "P")["outcome"] == "completed"
    pair.traffic(1000)
    pair.stop()
    counted = totals(pair.check())
    assert (counted["lost"], counted["processed_twice"]) == (0, 0)
    # It stays only on P: one more record there, named in the report.
    pair.wait(lambda: records(pair, "B") >= counted["acknowledged"], 60, "everything is on B")
    assert (records(pair, "P"), records(pair, "B")) == (counted["acknowledged"] + 1, counted["acknowledged"])
    pair.start()


@pytest.mark.long
def test_a_manual_failover_is_adopted_and_only_its_new_records_are_replicated_home(pair: Scenario) -> None:
    """The cut is found by content, because the move was not journaled."""
    pair.traffic(1000)
    pair.stop()
    wanted = records(pair, "P")
    pair.wait(lambda: records(pair, "B") == wanted - 1, 60, "everything is on B, but what was accepted as lost there")
    for part in ("Source", "Checkpoint"):
        control_connector(Lab(pair.folder, quiet=True), f"P->B.Mirror{part}Connector", "stop")
    to_ends(servers(pair)["B"], pair.partitions)
    for endpoint in (pair.folder / "ledger").glob("*.env"):
        text = endpoint.read_text()
        assert servers(pair)["P"] in text
        endpoint.write_text(text.replace(servers(pair)["P"], servers(pair)["B"]))
    pair.start()
    pair.traffic(2000)
    pair.playbook("enable", {"kafka_dr_confirm": "P", "kafka_dr_applications_on": "B"})
    pair.traffic(1000)
    assert pair.move("failback", "P")["outcome"] == "completed"
    pair.traffic(1000)
    pair.stop()
    counted = totals(pair.check())
    assert (counted["lost"], counted["processed_twice"], counted["phantom"]) == (0, 0, 0)
    pair.wait(lambda: records(pair, "B") >= counted["acknowledged"], 60, "everything is on B")
    assert (records(pair, "P"), records(pair, "B")) == (counted["acknowledged"] + 1, counted["acknowledged"])
    pair.start()


def fill(pair: Scenario, alias: str, topic: str, values: list[bytes], timestamp: int) -> None:
    """Write equal records to a topic with one partition, on each of these clusters."""
    admin = AdminClient({"bootstrap.servers": servers(pair)[alias]})
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result()
    producer = Producer({"bootstrap.servers": servers(pair)[alias]})
    for value in values:
        producer.produce(topic, value, timestamp=timestamp)
    assert producer.flush(30) == 0


def journal(pair: Scenario) -> dict[str, Any]:
    """The state in the journal of the pair."""
    inventory = read_inventory(pair.inventory)
    result = run_module(dr_journal, of_journal({"clusters": inventory["kafka_dr_clusters"], "pair": "B-P"}))
    assert result["rc"] == 0, result
    state: dict[str, Any] = result["state"]
    return state


def to_ends(bootstrap: str, partitions: int) -> None:
    """Every group has read everything, so it starts at the end of the other cluster."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "by-hand"})
    found = [TopicPartition("Payments", number) for number in range(partitions)]
    ends = {("Payments", one.partition): consumer.get_watermark_offsets(one, timeout=15)[1] for one in found}
    consumer.close()
    for group in ("settlement", "fraud"):
        commit(AdminClient({"bootstrap.servers": bootstrap}), group, ends)
