# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""dr_pattern_info on two real clusters: names from the clusters, from the journal, and from the surviving copy."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient

from ansible_collections.switchback.kafka_dr.plugins.modules import dr_journal, dr_pattern_info, kafka_topic
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module
from ansible_collections.switchback.kafka_dr.tests.support.pairs import as_pair, of_journal
from brokers import commit

pytestmark = pytest.mark.integration


class NamedPair:
    """A pair with names of its own in the lab."""

    def __init__(self, lab: Any) -> None:
        found = lab.info()["clusters"]
        self.clusters = {
            alias: {key: found[alias][key] for key in ("bootstrap_servers", "connect_url")} for alias in ("P", "B")
        }
        run = uuid.uuid4().hex[:6]
        self.name, self.prefix = f"B-P-{run}", f"pat-{run}"
        self.journal = f"{self.prefix}-journal-internal"
        self.patterns = {
            "topics": [{"match": rf"(P\.)?{self.prefix}.*", "exclude": [r".*\.test"]}],
            "groups": [{"match": f"{self.prefix}.*", "exclude": []}],
        }
        self.made: dict[str, list[str]] = {alias: [] for alias in self.clusters}

    def names(self, *suffixes: str) -> list[str]:
        return [f"{self.prefix}{suffix}" for suffix in suffixes]

    def make(self, alias: str, *names: str, partitions: int = 1, **config: Any) -> None:
        items = [{"name": name, "partitions": partitions, "config": config} for name in names]
        servers = self.clusters[alias]["bootstrap_servers"]
        made = run_module(kafka_topic, {"bootstrap_servers": servers, "topics": items})
        assert made["rc"] == 0, made
        self.made[alias] += names

    def find(self, rc: int = 0, **more: Any) -> dict[str, Any]:
        pair = {"topics": [], "patterns": self.patterns, "pair": self.name, "topic": self.journal, "home": "P"}
        result = run_module(dr_pattern_info, as_pair({"clusters": self.clusters, **pair, **more}))
        assert (result["rc"], result["changed"]) == (rc, False), result
        return result

    def delete(self) -> None:
        for alias, names in self.made.items():
            client = AdminClient({"bootstrap.servers": self.clusters[alias]["bootstrap_servers"]})
            for deleted in client.delete_topics(names).values():
                deleted.result(30)


@pytest.fixture(scope="module")
def pair(lab: Any) -> Iterator[NamedPair]:
    made = NamedPair(lab)
    try:
        made.make("P", *made.names(".eu", ".test", "-internal", ".salvage"), f"P.{made.prefix}.eu", partitions=3)
        made.make("P", *made.names(".us"), partitions=2)
        client = AdminClient({"bootstrap.servers": made.clusters["P"]["bootstrap_servers"]})
        eu, test = made.names(".eu", ".test")
        commit(client, made.prefix, {(eu, 0): 0})
        commit(client, f"{made.prefix}-elsewhere", {(test, 0): 0})
        yield made
    finally:
        made.delete()


def test_without_a_journal_the_home_cluster_is_listed(pair: NamedPair) -> None:
    eu, us = pair.names(".eu", ".us")
    listed = {"topics": {eu: 3, us: 2}, "groups": [pair.prefix], "listed": "P"}
    assert pair.find()["resolved"] == listed
    assert pair.find(source="clusters", asked="P")["resolved"] == listed


def test_topics_that_the_inventory_names_are_counted(pair: NamedPair) -> None:
    (test,) = pair.names(".test")
    assert pair.find(topics=[test, "absent"], patterns={})["resolved"]["topics"] == {test: 3}


def test_a_pattern_without_a_match_is_refused(pair: NamedPair) -> None:
    topics = {"topics": [{"match": f"{pair.prefix}_.*", "exclude": []}]}
    error = pair.find(rc=1, source="clusters", patterns=topics)["error"]
    assert error["code"] == "pattern_without_match"
    assert "takes no topic on P" in error["message"]
    assert pair.names(".eu")[0] in error["message"]
    groups = {**pair.patterns, "groups": [{"match": f"{pair.prefix}-elsewhere", "exclude": []}]}
    error = pair.find(rc=1, source="clusters", patterns=groups)["error"]
    assert "takes no group on P that has committed offsets on topics of the pair" in error["message"]
    # An application has declared it.
    assert (
        pair.find(source="clusters", patterns=groups, groups=[f"{pair.prefix}-elsewhere"])["resolved"]["groups"] == []
    )


def test_a_surviving_cluster_without_a_journal_is_refused(pair: NamedPair) -> None:
    lost = {**pair.clusters, "P": {**pair.clusters["P"], "bootstrap_servers": "127.0.0.1:1"}}
    assert pair.find(rc=1, clusters=lost, source="survivor")["error"]["code"] == "pair_not_enabled"


def test_the_journal_names_what_has_joined(pair: NamedPair) -> None:
    config = {"cleanup.policy": "delete", "retention.ms": -1, "retention.bytes": -1}
    for alias in pair.clusters:
        pair.make(alias, pair.journal, **config)
    (eu,) = pair.names(".eu")
    params = {"clusters": pair.clusters, "pair": pair.name, "topic": pair.journal, "event": "enabled"}
    facts = {"active": "P", "topic_ids": {}, "topics": {eu: 3}, "groups": ["g"]}
    for changed in (True, False):
        noted = run_module(dr_journal, of_journal({**params, "data": facts}))
        assert (noted["rc"], noted["changed"]) == (0, changed), noted
    joined = {"topics": {eu: 3}, "groups": ["g"], "listed": None}
    assert pair.find()["resolved"] == joined
    lost = {**pair.clusters, "P": {**pair.clusters["P"], "bootstrap_servers": "127.0.0.1:1"}}
    found = pair.find(clusters=lost, source="survivor")
    assert found["resolved"] == joined
    assert "127.0.0.1:1" not in str(found["requests"])
    assert pair.find(source="clusters")["resolved"]["listed"] == "P"
    # Another group alone is journaled too.
    noted = run_module(dr_journal, of_journal({**params, "data": {**facts, "groups": ["g", "h"]}}))
    assert noted["changed"]
    assert pair.find()["resolved"]["groups"] == ["g", "h"]
