# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""If a topic, a partition or a committed offset is missing, readiness reports it and translation refuses it."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from ansible_collections.switchback.kafka_dr.plugins.modules import (
    dr_journal,
    dr_readiness,
    dr_translation_info,
    kafka_topic,
)
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module
from ansible_collections.switchback.kafka_dr.tests.support.pairs import as_pair, of_journal
from brokers import commit

pytestmark = pytest.mark.integration

P, B = "GP", "GB"
PARTITIONS = 2
# Case -> what is missing, the check that reports it, words of the finding, and re-reads of the group (None: unknown).
MISSING: dict[str, tuple[dict[str, int], str, str, int | None]] = {
    "the replica": ({"replica": 0}, "topics", "GP.{topic}", None),
    "a partition of the replica": ({"replica": 1}, "partitions", "on GB has 1", None),
    "the original on the other side": ({"there": 0}, "topics", '"{topic}" on GB', 10),
    "the original": ({"here": 0}, "topics", '"{topic}" on GP', 0),
    "the replica of the way back": ({"back": 0}, "topics", "GB.{topic}", 10),
    "a committed offset": ({"commits": 1}, "group_offsets", '"{group}" on {topic}-1', None),
    "every committed offset": ({"commits": 0}, "group_offsets", '"{group}" on {topic}-0', None),
}


class LabPair:
    """A journaled pair without a flow. The group has read 5 of 10 records of each partition on P; B has no copy."""

    def __init__(self, lab: Any, missing: dict[str, int]) -> None:
        found = lab.info()["clusters"]
        wanted = ("bootstrap_servers", "connect_url", "cluster_id")
        self.clusters = {alias: {key: found[name][key] for key in wanted} for alias, name in ((P, "P"), (B, "B"))}
        run = uuid.uuid4().hex[:6]
        self.topic, self.group, self.journal = f"gone-{run}", f"gone-{run}", f"gone-journal-{run}-internal"
        sizes = dict.fromkeys(("here", "there", "replica", "back", "commits"), PARTITIONS) | missing
        self.make(P, {self.topic: sizes["here"], f"{B}.{self.topic}": sizes["back"]})
        self.make(B, {self.topic: sizes["there"], f"{P}.{self.topic}": sizes["replica"]})
        if sizes["here"]:
            self.send()
            self.commit(sizes["commits"])
        self.enable()

    def make(self, alias: str, topics: dict[str, int]) -> None:
        items = [{"name": name, "partitions": count} for name, count in topics.items() if count]
        items.append({"name": self.journal, "partitions": 1, "config": {"retention.ms": -1}})
        made = run_module(kafka_topic, {"bootstrap_servers": self.servers(alias), "topics": items})
        assert made["rc"] == 0, made

    def servers(self, alias: str) -> str:
        return str(self.clusters[alias]["bootstrap_servers"])

    def send(self) -> None:
        producer = Producer({"bootstrap.servers": self.servers(P)})
        for number in range(10 * PARTITIONS):
            producer.produce(self.topic, f"{number}", partition=number % PARTITIONS)
        assert producer.flush(30) == 0

    def commit(self, partitions: int) -> None:
        offsets = {(self.topic, index): 5 for index in range(partitions)}
        if offsets:
            commit(AdminClient({"bootstrap.servers": self.servers(P)}), self.group, offsets)

    def enable(self) -> None:
        params = {"clusters": self.clusters, "pair": self.group, "topic": self.journal, "event": "enabled"}
        facts = {"active": P, "policy": "default", "adopted": False}
        noted = run_module(dr_journal, of_journal({**params, "data": facts}))
        assert noted["rc"] == 0, noted

    @property
    def params(self) -> dict[str, Any]:
        named = {"groups": [self.group], "group_topics": {self.group: [self.topic]}}
        return {"clusters": self.clusters, "topics": [self.topic], **named, "request_timeout": 15}

    def readiness(self) -> dict[str, Any]:
        more = {"home": P, "pair": self.group, "topic": self.journal, "history": False, "unreachable": []}
        # The other gaps of a pair without flows and topic ids are known.
        accepted = {"accept": ["flow", "flow_carries", "back", "topics"]}
        result = run_module(dr_readiness, as_pair({**self.params, **more, **accepted}))
        assert result["rc"] == 0, result
        found: dict[str, Any] = result["readiness"]
        return found

    def forecast(self) -> dict[str, Any]:
        return run_module(dr_translation_info, as_pair({**self.params, "leave": P, "enter": B, "forecast": True}))


@pytest.mark.parametrize("case", MISSING)
def test_each_missing_part_is_reported_without_a_traceback(lab: Any, case: str) -> None:
    missing, check, word, rereads = MISSING[case]
    pair = LabPair(lab, missing)
    found = pair.readiness()
    rows = {row["name"]: row for row in found["checks"]}
    assert rows[check]["answer"] in ("NO", "ACCEPTED"), rows[check]
    assert word.format(topic=pair.topic, group=pair.group) in rows[check]["found"]
    assert not [row for row in found["checks"] if "Error" in row["found"]]
    assert found["rereads"]["controlled"] == {pair.group: rereads}
    assert (found["controlled"], found["disaster"]) != ("YES", "YES")


@pytest.mark.parametrize("case", ["the replica", "a partition of the replica"])
def test_translation_finds_no_offset_without_a_replica(lab: Any, case: str) -> None:
    pair = LabPair(lab, MISSING[case][0])
    rows = pair.forecast()["details"]
    gone = {(f"{P}.{pair.topic}", index) for index in range(MISSING[case][0]["replica"], PARTITIONS)}
    assert {(row["topic"], row["partition"]) for row in rows if row["offset"] is None} == gone
    assert {row["reason"] for row in rows if row["offset"] is None} == {"a log of the partition could not be read"}
