# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records without a timestamp, which get another one in MirrorMaker 2's replica, through every kind of move (R1).

One pair, in order. Values show which records a group would read next, and no fingerprint of the collection is used. Two
of the groups have names that MirrorMaker 2 excludes by default.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.records import data_records
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.topics import log_ranges
from brokers import admin, commit, committed_offsets
from disasters import PARTS
from lab.lab import Lab
from raw_records import NO_TIMESTAMP, Raw, write
from scenario import Scenario

pytestmark = pytest.mark.long

# Each record of Untimed has a unique value. All records of Equal are indistinguishable.
TOPICS = [{"name": name, "partitions": 1, "replication_factor": 1} for name in ("Untimed", "Equal")]
READ = {"connect-jdbc-sink": 5, "console-consumer-audit": 12, "at-15": 15, "at-22": 22}
EQUAL = {"equal": 12}
TOPIC_OF = {**dict.fromkeys(READ, "Untimed"), **dict.fromkeys(EQUAL, "Equal")}
VARIABLES = {
    "kafka_dr_groups": [{"name": group, "topics": [topic]} for group, topic in TOPIC_OF.items()],
    "kafka_dr_clients": [],
    "kafka_dr_group_lag": "reread",
    # No application runs, so there is nothing to wait for.
    "kafka_dr_drain_groups_timeout": 1,
    "kafka_dr_first_write_timeout": 1,
}


class LabPair:
    """Topics, groups and the unread records of each group."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.lab = Lab(scenario.folder, quiet=True)
        clusters = self.lab.info()["clusters"]
        self.servers = {alias: str(clusters[alias]["bootstrap_servers"]) for alias in ("P", "B")}

    def play(self, name: str, to: str, **variables: Any) -> dict[str, Any]:
        return self.scenario.playbook(name, {"kafka_dr_confirm": to, "kafka_dr_to": to, **VARIABLES, **variables})

    def move(self, name: str, to: str) -> dict[str, Any]:
        return self.scenario.move(name, to, **VARIABLES)

    def checkpoint(self, to: str) -> dict[tuple[str, str], dict[str, Any]]:
        """The rows of ``reverse_checkpoint`` by group and topic."""
        self.play("reverse_checkpoint", to)
        report = json.loads((self.scenario.reports / f"checkpoint-{to}.json").read_text())
        assert (report["outcome"], report["left_out"], report["preexisting_higher_offsets"]) == ("done", [], []), report
        return {(row["group"], row["topic"]): row for row in report["committed_offsets"]}

    def write(self, alias: str, prefix: str) -> None:
        """Write thirty records to each original. Ten of Untimed have a timestamp at either end."""
        now = int(time.time() * 1000) - 60_000
        stamps = [NO_TIMESTAMP if 10 <= number < 20 else now + number for number in range(30)]
        untimed = [Raw(b"%s-%d" % (prefix.encode(), number), b"k", stamp) for number, stamp in enumerate(stamps)]
        write(self.servers[alias], "Untimed", untimed)
        write(self.servers[alias], "Equal", [Raw(prefix.encode(), b"k", NO_TIMESTAMP)] * 30)

    def values(self, alias: str, topic: str) -> list[bytes | None]:
        """The values by offset."""
        kafka = Kafka(self.servers[alias], {}, 15.0)
        place = (topic, 0)
        start, end = log_ranges(kafka, {place})[place]
        assert start == 0
        return [record.value for record in data_records(kafka, place, start, end)]

    def replicated(self, alias: str) -> None:
        """Wait until the other cluster has all records written on ``alias``."""
        other = "B" if alias == "P" else "P"
        for topic in ("Untimed", "Equal"):
            wanted = self.values(alias, topic)
            replica = f"{alias}.{topic}"
            self.scenario.wait(lambda r=replica, w=wanted: self.values(other, r) == w, 120, f"{replica} is complete")

    def commit(self, alias: str, topic: str, read: dict[str, int]) -> None:
        client = admin(self.lab, alias)
        for group, offset in read.items():
            commit(client, group, {(topic, 0): offset})

    def committed(self, alias: str, group: str, topic: str) -> int:
        return committed_offsets(admin(self.lab, alias), group)[topic, 0]

    def rereads(self, original: str, entered: str, read: dict[str, int]) -> dict[str, int]:
        """The records of the cluster ``original`` that each group reads again on ``entered``. It skips none."""
        found = {}
        for group, at in read.items():
            topic = TOPIC_OF[group]
            there = topic if entered == original else f"{original}.{topic}"
            unread = Counter(self.values(original, topic)[at:])
            following = Counter(self.values(entered, there)[self.committed(entered, group, there) :])
            assert unread - following == Counter(), f"{group} skips on {entered}: {unread - following}"
            found[group] = (following - unread).total()
        return found


def ahead_by(read: dict[str, int], records: int) -> dict[str, int]:
    return {group: at + records for group, at in read.items()}


def honest(report: dict[str, Any], again: dict[str, int]) -> None:
    """The re-reads in the report are right, and only exact offsets are reported as exact."""
    checks = {check["name"]: check for check in report["checks"]}
    assert report["outcome"] == "completed"
    assert checks["committed_offsets"]["verdict"] == "PROVEN", checks["committed_offsets"]
    assert report["rereads"] >= sum(again.values()), (report["rereads"], again)
    if any(again.values()):
        assert "every group starts exactly" not in checks["committed_offsets"]["reason"]
    for row in report["committed_offsets"]:
        assert row["quality"] != "exact" or row["rereads"] == 0, row


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabPair]:
    """Enabled. Every record on P is replicated, and the groups have read a part of them."""
    with Scenario(tmp_path_factory.mktemp("untimed"), topics=TOPICS).up() as scenario:
        made = LabPair(scenario)
        made.play("enable", "P")
        made.write("P", "first")
        made.commit("P", "Untimed", READ)
        made.commit("P", "Equal", EQUAL)
        made.replicated("P")
        yield made


def test_the_scheduled_job_and_a_cutoff_keep_the_next_record_of_every_group(pair: LabPair) -> None:
    """Observed: the groups at 12, 15 and 22 were all set to 30, and the report was PROVEN."""
    # MirrorMaker 2 also syncs groups with names that it excludes by default.
    client = admin(pair.lab, "B")
    synced = {group: (f"P.{topic}", 0) for group, topic in TOPIC_OF.items()}
    pair.scenario.wait(
        lambda: all(synced[group] in committed_offsets(client, group) for group in synced), 90, "groups are synced"
    )
    rows = pair.checkpoint("B")
    assert {group: (rows[group, "P.Untimed"]["offset"], rows[group, "P.Untimed"]["quality"]) for group in READ} == {
        group: (at, "exact") for group, at in READ.items()
    }
    assert rows["equal", "P.Equal"]["offset"] <= EQUAL["equal"]
    report = pair.move("failover_cutoff", "B")
    again = pair.rereads("P", "B", {**READ, **EQUAL})
    assert {group: again[group] for group in READ} == dict.fromkeys(READ, 0)
    honest(report, again)
    assert report["rereads"] == sum(row["rereads"] for row in report["committed_offsets"])


def test_the_way_back_keeps_the_next_record_for_both_topics(pair: LabPair) -> None:
    pair.write("B", "second")
    pair.replicated("B")
    pair.commit("B", "P.Untimed", ahead_by(READ, 3))
    pair.commit("B", "Untimed", READ)
    pair.commit("B", "Equal", EQUAL)
    rows = pair.checkpoint("P")
    for topic, wanted in (("Untimed", ahead_by(READ, 3)), ("B.Untimed", READ)):
        found = {group: (rows[group, topic]["offset"], rows[group, topic]["quality"]) for group in READ}
        assert found == {group: (at, "exact") for group, at in wanted.items()}, topic
    report = pair.move("failback", "P")
    again = pair.rereads("B", "P", {**READ, **EQUAL})
    assert {group: again[group] for group in READ} == dict.fromkeys(READ, 0)
    honest(report, again)
    assert pair.rereads("P", "P", ahead_by(READ, 3)) == dict.fromkeys(READ, 0)
    pair.rereads("P", "P", EQUAL)


def test_a_disaster_keeps_the_next_record_of_every_group(pair: LabPair) -> None:
    read = ahead_by(READ, 6)
    pair.commit("P", "Untimed", read)
    pair.checkpoint("B")
    # P's records cannot be read once it is lost.
    kept = {topic: pair.values("P", topic) for topic in ("Untimed", "Equal")}
    for part in PARTS:
        pair.lab.kill("P", part)
    report = pair.move("failover_disaster", "B")
    assert pair.values("B", "P.Untimed") == kept["Untimed"]
    assert {group: pair.committed("B", group, "P.Untimed") for group in READ} == read
    assert pair.committed("B", "equal", "P.Equal") <= EQUAL["equal"]
    honest(report, {})
    assert report["verdict"] == "UNKNOWN"
    (row,) = [row for row in report["committed_offsets"] if (row["group"], row["topic"]) == ("equal", "P.Equal")]
    assert row["quality"] != "exact" or row["offset"] == EQUAL["equal"], row
