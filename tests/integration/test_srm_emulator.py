# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The emulators on the real lab: real MirrorMaker 2 replicates as properties and lists require, once they are in
effect.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from ansible_collections.switchback.kafka_dr.tests.integration.test_lab import play
from brokers import commit
from cm.records import Sync, read_checkpoint, read_sync
from cm_emulator import Cm, S, until
from lab.lab import Lab
from lab.probes import get_json
from lab.srm import SECRET, SECRET_ENV

pytestmark = [pytest.mark.integration, pytest.mark.timeout(240)]

CONFIGS = "streams.replication.manager.config"
REVERSE = "cloudera.reverse.checkpointing.enabled"
FACTORS = "replication.factor=1|offset-syncs.topic.replication.factor=1|checkpoints.topic.replication.factor=1"
FAST = "emit.checkpoints.interval.seconds=1|sync.group.offsets.interval.seconds=1|emit.heartbeats.interval.seconds=1"
BOTH = "P->B.enabled=true|B->P.enabled=true"
BASE = f"{FACTORS}|heartbeats.topic.replication.factor=1|{FAST}"


class World:
    """Both sites with their emulators, tools and clusters."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.info = lab.info()["clusters"]
        self.cm = {alias: Cm(item["cm_url"]) for alias, item in self.info.items()}
        self.admin = {
            alias: AdminClient({"bootstrap.servers": item["bootstrap_servers"], "log_level": 0})
            for alias, item in self.info.items()
        }

    def servers(self, alias: str) -> str:
        return str(self.info[alias]["bootstrap_servers"])

    def control(self, on: str, *arguments: str, rc: int = 0, secret: str | None = SECRET) -> str:
        environ = {**os.environ, **({SECRET_ENV: secret} if secret else {})}
        command = [self.info[on]["srm_control"], *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environ)
        assert done.returncode == rc, done.stdout + done.stderr
        return done.stdout + done.stderr

    def apply(self, alias: str, values: dict[str, Any]) -> None:
        self.cm[alias].put_config(values)
        assert self.cm[alias].run("deployClientConfig")["success"]
        assert self.cm[alias].run("restart")["success"]

    def topic(self, alias: str, name: str, partitions: int = 1) -> None:
        self.admin[alias].create_topics([NewTopic(name, partitions, 1)])[name].result(10)

    def produce(self, alias: str, topic: str, count: int, partition: int = 0) -> None:
        producer = Producer({"bootstrap.servers": self.servers(alias), "acks": "all"})
        for number in range(count):
            producer.produce(topic, str(number), partition=partition)
        assert producer.flush(20) == 0

    def end(self, alias: str, topic: str, partition: int = 0) -> int:
        """The log end, or 0 without the topic."""
        consumer = Consumer({"bootstrap.servers": self.servers(alias), "group.id": "look", "log_level": 0})
        try:
            return int(consumer.get_watermark_offsets(TopicPartition(topic, partition), 10)[1])
        except KafkaException:
            return 0
        finally:
            consumer.close()

    def read(self, alias: str, topic: str) -> list[tuple[bytes, bytes]]:
        """The keys and values of partition 0, up to its current end."""
        end = self.end(alias, topic)
        consumer = Consumer({"bootstrap.servers": self.servers(alias), "group.id": "look", "log_level": 0})
        consumer.assign([TopicPartition(topic, 0, 0)])
        found = []
        while consumer.position([TopicPartition(topic, 0)])[0].offset < end:
            found += [(item.key(), item.value()) for item in consumer.consume(1000, 0.5) if not item.error()]
        consumer.close()
        return [(key, value) for key, value in found if key is not None and value is not None]

    def commit(self, alias: str, group: str, topic: str, offset: int) -> None:
        commit(self.admin[alias], group, {(topic, 0): offset})

    def committed_offset(self, alias: str, group: str, topic: str) -> int | None:
        request = ConsumerGroupTopicPartitions(group, [TopicPartition(topic, 0)])
        found = self.admin[alias].list_consumer_group_offsets([request])[group].result(10).topic_partitions[0].offset
        return found if found >= 0 else None

    def reverse_checkpoints(self, group: str, topic: str) -> list[tuple[int, int]]:
        """The (upstream, downstream) offsets of the checkpoints on P."""
        if not self.end("P", "B.checkpoints.internal"):
            return []
        found = [read_checkpoint(*item) for item in self.read("P", "B.checkpoints.internal")]
        return [(item.upstream, item.downstream) for item in found if (item.group, item.topic) == (group, topic)]

    def observations(self, alias: str, more: int = 2) -> None:
        """Wait until the Driver has refreshed twice."""
        before = self.cm[alias].engine()["observations"]
        until(lambda: self.cm[alias].engine()["observations"] >= before + more)

    def reverse_observations(self, more: int = 2) -> None:
        before = self.cm["P"].engine()["reverse_engine"]["observations"]
        until(lambda: self.cm["P"].engine()["reverse_engine"]["observations"] >= before + more)

    def connectors(self, alias: str) -> dict[str, tuple[str, int]]:
        found = get_json(self.info[alias]["ports"][2], "/connectors?expand=status") or {}
        return {
            name: (item["status"]["connector"]["state"], len(item["status"]["tasks"])) for name, item in found.items()
        }


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A lab of its own: its workers are named as those of dedicated MirrorMaker 2."""
    kept = os.environ.get("KAFKA_DR_TEST_SRM_LAB")
    lab = Lab(Path(kept) if kept else tmp_path_factory.mktemp("srm"), engine="srm", srm_refresh_seconds=1)
    lab.up()
    yield World(lab)
    if not kept:
        lab.down()


# ---- before any configuration


def test_a_new_lab_has_a_started_service_and_replicates_nothing(world: World) -> None:
    for alias in ("P", "B"):
        service = world.cm[alias].get(S)
        assert (service["serviceState"], service["configStalenessStatus"]) == ("STARTED", "FRESH")
        until(lambda alias=alias: world.cm[alias].engine()["writes"] >= 3)
        assert not world.cm[alias].engine()["enabled"]
        tasks = {name: count for name, (_state, count) in world.connectors(alias).items()}
        assert (tasks["MirrorSourceConnector"], tasks["MirrorCheckpointConnector"]) == (0, 0)
    assert world.lab.up() == []
    assert world.lab.status()["parts"]["P cm"]["state"] == "running"


def test_the_tool_needs_its_secret_and_only_accepts_deployed_aliases(world: World) -> None:
    flow = ("topics", "--source", "P", "--target", "B", "--list")
    assert SECRET_ENV in world.control("B", *flow, rc=1, secret=None)
    assert "incorrect" in world.control("B", *flow, rc=1, secret="wrong")
    assert world.control("B", *flow) == "Current whitelist:\nCurrent blacklist:\nDone.\n"
    world.cm["B"].put_config({"clusters": "P, B, X", "external_kafka_accounts": "P,X"})
    assert "unknown cluster alias 'X'" in world.control("B", "topics", "--source", "X", "--target", "B", "--list", rc=1)
    assert world.cm["B"].run("deployClientConfig")["success"]
    world.control("B", "topics", "--source", "X", "--target", "B", "--list")
    world.cm["B"].put_config({"clusters": "P, B", "external_kafka_accounts": "P"})
    assert world.cm["B"].run("deployClientConfig")["success"]


# ---- flows


@pytest.mark.parametrize(
    "line", ["P->B=true", "p->B.enabled=true", "P->b.enabled=true", "P->X.enabled=true", "enabled=true"]
)
def test_a_slightly_wrong_line_has_no_effect_and_gives_no_error(world: World, line: str) -> None:
    if "T" not in world.admin["P"].list_topics(timeout=10).topics:
        world.topic("P", "T")
        world.produce("P", "T", 10)
        world.control("B", "topics", "--source", "P", "--target", "B", "--add", "T")
    world.apply("B", {CONFIGS: f"{BASE}|{line}"})
    world.observations("B")
    engine = world.cm["B"].engine()
    assert (engine["enabled"], engine["trouble"]) == (False, "")
    assert any(line.partition("=")[0] in note for note in engine["notes"])
    assert world.connectors("B")["MirrorSourceConnector"][1] == 0
    assert "P.T" not in world.admin["B"].list_topics(timeout=10).topics


def test_the_right_line_takes_effect_only_after_the_restart(world: World) -> None:
    world.cm["B"].put_config({CONFIGS: f"{BASE}|{BOTH}|tasks.max=2"})
    world.observations("B")
    assert world.cm["B"].get(S)["configStalenessStatus"] == "STALE"
    assert world.cm["B"].engine()["enabled"] is False
    assert world.cm["B"].run("restart")["success"]
    until(lambda: world.end("B", "P.T") == 10)
    assert world.cm["B"].get(S)["configStalenessStatus"] == "FRESH"


def test_the_stored_offset_has_the_key_of_dedicated_mirrormaker(world: World) -> None:
    key = b'["MirrorSourceConnector",{"cluster":"P","partition":0,"topic":"T"}]'
    partitions = world.admin["B"].list_topics(timeout=10).topics["mm2-offsets.P.internal"].partitions
    assert len(partitions) == 1
    until(lambda: dict(world.read("B", "mm2-offsets.P.internal")).get(key) == b'{"offset":9}')


def test_a_topic_is_replicated_once_it_is_on_the_list_and_not_if_it_is_denied(world: World) -> None:
    for name in ("Listed", "Lost.x", "Lost.y", "Other"):
        world.topic("P", name)
        world.produce("P", name, 5)
    # Denied first, because the emulator may read its lists between two commands.
    world.control("B", "--source", "P", "--target", "B", "topics", "--add-blacklist", "Lost.y")
    world.control("B", "topics", "--source", "P", "--target", "B", "--add", r"Listed,Lost\..*")
    until(lambda: world.end("B", "P.Listed") == 5 and world.end("B", "P.Lost.x") == 5)
    world.observations("B")
    there = world.admin["B"].list_topics(timeout=10).topics
    assert not {"P.Lost.y", "P.Other"} & set(there)
    text = world.control(
        "B", "topics", "--source", "P", "--target", "B", "--list", "--bootstrap-server", world.servers("B")
    )
    assert text.split() == [
        "Current",
        "whitelist:",
        "Listed",
        r"Lost\..*",
        "T",
        "Current",
        "blacklist:",
        "Lost.y",
        "Done.",
    ]


def test_an_entry_in_another_case_matches_nothing(world: World) -> None:
    world.topic("P", "Payments")
    world.produce("P", "Payments", 5)
    world.control("B", "topics", "--source", "P", "--target", "B", "--add", "payments")
    world.observations("B", 4)
    assert "P.Payments" not in world.admin["B"].list_topics(timeout=10).topics


# ---- the tool's modes


def test_exit_code_0_does_not_mean_applied(world: World) -> None:
    world.cm["B"].switch(control={"apply": False, "wording": "allowlist", "noise": True})
    add = ("topics", "--source", "P", "--target", "B", "--add", "Never")
    assert "Done." in world.control("B", *add)
    text = world.control("B", "topics", "--source", "P", "--target", "B", "--list")
    assert "Never" not in text
    assert "Current allowlist:" in text
    assert "Current denylist:" in text
    assert "INFO" in text
    assert "log4j" in text
    world.cm["B"].reset()


def test_an_undiscovered_topic_appears_after_the_refresh(world: World) -> None:
    world.cm["B"].switch(control={"discovery": True})
    flow = ("topics", "--source", "P", "--target", "B")
    world.control("B", *flow, "--add", "Later")
    assert "Later" not in world.control("B", *flow, "--list")
    world.topic("P", "Later")
    until(lambda: "Later" in world.control("B", *flow, "--list"))
    world.cm["B"].reset()


def test_before_7_3_2_there_are_no_reverse_lists(world: World) -> None:
    world.cm["P"].switch(runtime="7.3.1")
    assert world.cm["P"].run("deployClientConfig")["success"]
    command = ("reverse-checkpointed-topics", "--source", "B", "--target", "P", "--list")
    assert "unknown command" in world.control("P", *command, rc=1)
    world.cm["P"].reset()
    assert world.cm["P"].run("deployClientConfig")["success"]
    world.control("P", *command)


# ---- reverse checkpoints


def rule(syncs: list[Sync], commit: int) -> int:
    """The rule of the document, reimplemented: the newest sync at or below the commit."""
    newest = [sync for sync in syncs if sync.downstream <= commit][-1]
    return newest.upstream if newest.downstream == commit else newest.upstream + 1


def test_a_reverse_checkpoint_follows_the_rule_once_everything_is_in_effect(world: World) -> None:
    world.topic("P", "R")
    world.control("B", "topics", "--source", "P", "--target", "B", "--add", "R")
    until(lambda: "P.R" in world.admin["B"].list_topics(timeout=10).topics)
    world.produce("P", "R", 500)
    until(lambda: world.end("B", "P.R") == 500)
    world.commit("B", "G", "P.R", 437)
    # Neither the property, nor the flow toward P, nor any list exists yet.
    assert world.cm["P"].engine()["reverse"] is False
    world.apply("P", {CONFIGS: f"{BASE}|{BOTH}|sync.group.offsets.enabled=true"})
    world.control("P", "groups", "--source", "B", "--target", "P", "--add", "G")
    world.control("P", "reverse-checkpointed-topics", "--source", "B", "--target", "P", "--add", "P__R,R")
    assert world.cm["P"].engine()["reverse"] is False
    world.apply("P", {REVERSE: True})
    assert world.cm["P"].engine()["reverse"] is True
    world.reverse_observations()
    assert world.reverse_checkpoints("G", "R") == [], "P__R matches nothing, and G is on one list only"
    world.control("P", "reverse-checkpointed-topics", "--source", "B", "--target", "P", "--add", "P.R")
    world.reverse_observations()
    assert world.reverse_checkpoints("G", "R") == [], "G is on the list of one way only"
    world.control("B", "groups", "--source", "P", "--target", "B", "--add", "G")
    found = until(lambda: world.reverse_checkpoints("G", "R"))[-1]
    syncs = [read_sync(*item) for item in world.read("P", "mm2-offset-syncs.B.internal")]
    assert found == (437, rule([sync for sync in syncs if sync.topic == "R"], 437))
    # One partition without markers: the exact offset is 437. A lower one reads again, a higher one would skip.
    assert 0 < found[1] < 437
    until(lambda: world.committed_offset("P", "G", "R") == found[1])


def test_progress_on_the_replica_is_synced_and_a_higher_commit_is_kept(world: World) -> None:
    world.commit("B", "G", "P.R", 500)
    until(lambda: (world.committed_offset("P", "G", "R") or 0) > 437)
    assert (world.committed_offset("P", "G", "R") or 0) <= 500
    world.commit("P", "G", "R", 499)
    world.commit("B", "G", "P.R", 200)
    until(lambda: world.reverse_checkpoints("G", "R")[-1][0] == 200)
    world.reverse_observations()
    assert world.committed_offset("P", "G", "R") == 499


def test_a_group_with_members_is_not_changed(world: World) -> None:
    world.topic("P", "M")
    world.produce("P", "M", 10)
    world.control("B", "topics", "--source", "P", "--target", "B", "--add", "M")
    world.control("P", "reverse-checkpointed-topics", "--source", "B", "--target", "P", "--add", "P.M")
    for on, source, target in (("B", "P", "B"), ("P", "B", "P")):
        world.control(on, "groups", "--source", source, "--target", target, "--add", "Busy")
    until(lambda: world.end("B", "P.M") == 10)
    member = Consumer({"bootstrap.servers": world.servers("P"), "group.id": "Busy", "enable.auto.commit": False})
    member.subscribe(["M"])
    until(lambda: member.poll(0.2) is None and member.assignment())
    world.commit("B", "Busy", "P.M", 10)
    until(lambda: world.reverse_checkpoints("Busy", "M"))
    world.reverse_observations()
    assert world.committed_offset("P", "Busy", "M") is None
    member.close()
    until(lambda: world.committed_offset("P", "Busy", "M") == world.reverse_checkpoints("Busy", "M")[-1][1])


def test_a_restart_resets_the_timers(world: World) -> None:
    world.apply("P", {CONFIGS: f"{BASE}|{BOTH}|emit.checkpoints.interval.seconds=600"})
    before = len(world.reverse_checkpoints("G", "R"))
    world.commit("B", "G", "P.R", 480)
    world.observations("P", 3)
    assert world.cm["P"].engine()["reverse"] is True
    assert len(world.reverse_checkpoints("G", "R")) == before
    world.apply("P", {CONFIGS: f"{BASE}|{BOTH}"})
    until(lambda: world.reverse_checkpoints("G", "R")[-1][0] == 480)


def test_exported_offsets_name_the_replica(world: World) -> None:
    world.commit("P", "Out", "R", 100)
    world.control("B", "groups", "--source", "P", "--target", "B", "--add", "Out")
    export = ("offsets", "--source", "P", "--target", "B", "--export", "--group")
    text = until(lambda: world.control("B", *export, "Out"))
    topic, partition, offset = text.strip().split(",")
    assert (topic, partition) == ("P.R", "0")
    assert 0 < int(offset) <= 100
    assert world.control("B", *export, "unknown") == ""


# ---- stops and crashes


def test_a_stop_leaves_no_tasks_and_a_start_continues(world: World) -> None:
    assert world.cm["B"].run("stop")["success"]
    assert set(world.connectors("B").values()) == {("STOPPED", 0)}
    assert world.cm["B"].get(S)["serviceState"] == "STOPPED"
    world.produce("P", "T", 5)
    assert world.cm["B"].run("start")["success"]
    until(lambda: world.end("B", "P.T") == 15)


def test_a_killed_emulator_keeps_its_state_and_its_flow_never_stopped(world: World) -> None:
    before = world.cm["B"].get(f"{S}/config")
    world.cm["B"].put_config({CONFIGS: BASE})
    assert world.lab.kill("B", "cm")
    world.produce("P", "T", 5)
    until(lambda: world.end("B", "P.T") == 20)
    assert world.lab.up() == ["B cm"]
    assert world.cm["B"].get(S)["configStalenessStatus"] == "STALE"
    until(lambda: world.cm["B"].engine()["observations"] > 2)
    assert world.cm["B"].engine()["enabled"] is True, "what was only written is not in effect"
    world.cm["B"].put_config({item["name"]: item["value"] for item in before["items"]})
    assert world.cm["B"].get(S)["configStalenessStatus"] == "FRESH"


def test_a_killed_driver_is_visible_in_the_health_and_not_hidden_by_the_service_state(world: World) -> None:
    assert world.lab.kill("B", "connect")
    service = world.cm["B"].get(S)
    assert (service["serviceState"], service["healthSummary"]) == ("STARTED", "BAD")
    assert world.lab.up() == ["B connect"]
    until(lambda: world.cm["B"].get(S)["healthSummary"] == "GOOD")
    world.produce("P", "T", 5)
    until(lambda: world.end("B", "P.T") >= 25)


def test_a_stop_during_a_dead_driver_is_effective_when_it_comes_back(world: World) -> None:
    assert world.lab.kill("B", "connect")
    assert world.cm["B"].run("stop")["success"]
    assert world.lab.up() == ["B connect"]
    until(lambda: set(world.connectors("B").values()) == {("STOPPED", 0)})
    assert world.cm["B"].run("start")["success"]
    until(lambda: world.connectors("B")["MirrorSourceConnector"][0] == "RUNNING")


def test_the_playbook_describes_the_engine_and_omits_the_workers(world: World) -> None:
    folder = world.lab.paths.root
    try:
        play("lab_up", folder, "-e", "lab_engine=srm", "-e", "lab_srm_refresh_seconds=1")
        written = yaml.safe_load((folder / "inventory" / "group_vars" / "all" / "kafka_dr.yml").read_text())
        assert written["kafka_dr_engine"] == "srm"
        assert not [alias for alias, item in written["kafka_dr_clusters"].items() if "connect_url" in item]
        site = written["kafka_dr_srm"]["B"]
        assert Cm(site["url"]).get(S)["name"] == site["service"]
        environ = {**os.environ, site["secret_env"]: site["secret"]}
        command = [*site["command"], "topics", "--source", "P", "--target", "B", "--list"]
        listed = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=True)
        assert "Current whitelist:" in listed.stdout
        again = play("lab_up", folder, "-e", "lab_engine=srm", "-e", "lab_srm_refresh_seconds=1")
        assert again["changed"] == 0
    finally:
        for name in ("inventory", "ledger"):
            shutil.rmtree(folder / name, ignore_errors=True)
