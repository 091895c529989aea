# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""R49 on real clusters: which metadata of committed offsets go along to the other cluster, with both policies."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from confluent_kafka import Producer

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds, wait_until
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.groups import committed, may_have_members
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.records import data_records
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.topics import describe, log_ranges
from ansible_collections.switchback.kafka_dr.plugins.modules import (
    connect_mirror,
    dr_status_info,
    dr_translation_info,
    kafka_group,
    kafka_topic,
)
from ansible_collections.switchback.kafka_dr.tests.support.journals import journal_state
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module, warned
from ansible_collections.switchback.kafka_dr.tests.support.pairs import as_pair
from metadata import bit_set, commit_with_metadata, run_lengths, stored_metadata, streams
from parallel_application import parallel_application

pytestmark = pytest.mark.integration

#: Records of the plain topic, and the committed offset before which the application has processed all of them.
COUNT, COMMIT = 20, 6
NOW = 1_790_000_000_000
#: Two of the records after the committed offset are processed.
DONE = bit_set(5, {1, 4})
# Longer than the session of a killed member.
BOUNDS = Bounds(90, 0.2)


class LabPair:
    """Two topics that are replicated from P to B; in one, transaction markers shift the offsets. Then the barrier."""

    def __init__(self, lab: Any, policy: str) -> None:
        found = lab.info()["clusters"]
        self.policy, self.p, self.b = policy, f"M{policy[0]}P", f"M{policy[0]}B"
        self.clusters = {
            alias: {key: found[name][key] for key in ("bootstrap_servers", "connect_url", "cluster_id")}
            for alias, name in ((self.p, "P"), (self.b, "B"))
        }
        self.kafka = {alias: Kafka(self.servers(alias), {}, 15.0) for alias in self.clusters}
        run = uuid.uuid4().hex[:6]
        self.plain, self.shifted = f"metadata-plain-{run}", f"metadata-shifted-{run}"
        self.topics = [self.plain, self.shifted]

    def servers(self, alias: str) -> str:
        return str(self.clusters[alias]["bootstrap_servers"])

    def replica(self, topic: str) -> str:
        return topic if self.policy == "identity" else f"{self.p}.{topic}"

    def make(self) -> None:
        items = [{"name": name, "partitions": 1} for name in self.topics]
        for alias in self.clusters:
            made = run_module(kafka_topic, {"bootstrap_servers": self.servers(alias), "topics": items})
            assert made["rc"] == 0, made
        producer = Producer({"bootstrap.servers": self.servers(self.p)})
        for number in range(COUNT):
            producer.produce(self.plain, f"{number}", partition=0)
        assert producer.flush(30) == 0
        transactions = Producer({"bootstrap.servers": self.servers(self.p), "transactional.id": uuid.uuid4().hex})
        transactions.init_transactions(30)
        for number in range(5):
            transactions.begin_transaction()
            for record in range(3):
                transactions.produce(self.shifted, f"{number}/{record}", partition=0)
            transactions.commit_transaction(30)

    def flow(self, state: str) -> None:
        ends = {
            end: {key: self.clusters[alias][key] for key in ("bootstrap_servers", "cluster_id")} | {"alias": alias}
            for end, alias in (("source", self.p), ("target", self.b))
        }
        params = {
            **ends,
            "connect_url": self.clusters[self.b]["connect_url"],
            "topics": self.topics,
            "policy": self.policy,
            "replication_factor": 1,
            "tasks_max": 1,
            # Heartbeats of another pair in the same lab would be replicated in a loop. No test here needs them.
            "source_settings": {"refresh.topics.interval.seconds": 1, "heartbeats.replication.enabled": False},
            "parts": ["source"],
            "state": state,
            "wait_timeout": 90,
            "request_timeout": 30,
        }
        result = run_module(connect_mirror, params)
        assert result["rc"] == 0, result["msg"]

    def wait_replicated(self) -> None:
        params = {
            "clusters": self.clusters,
            "topics": self.topics,
            "policy": self.policy,
            "flows": [{"source": self.p, "target": self.b}],
            "wait_for": "replicated",
            "wait_timeout": 120,
        }
        result = run_module(dr_status_info, as_pair(params))
        assert result["rc"] == 0, result["msg"]

    def move(
        self, commits: Mapping[str, tuple[int, str]], existing: Mapping[str, tuple[int, str]] | None = None
    ) -> Any:
        """Commit offsets and metadata on P, by topic, then translate and commit them on B as the playbooks do.

        ``existing``: what is already committed on B. Returns the translation, and what B has then, by topic.
        """
        group = f"metadata-{uuid.uuid4().hex[:8]}"
        ends = {
            topic: (log_ranges(self.kafka[self.p], {Partition(topic, 0)})[topic, 0][1], "") for topic in self.topics
        }
        for alias, of_alias in ((self.p, {**ends, **commits}), (self.b, existing or {})):
            if of_alias:
                self.commit(alias, group, of_alias)
        return self.translate(group)

    def translate(self, group: str) -> Any:
        """What :meth:`move` does with what the group has committed on P."""
        about = {"clusters": self.clusters, "topics": self.topics, "groups": [group], "policy": self.policy}
        ids = {"topic_ids": self.topic_ids()}
        params = {**about, "leave": self.p, "enter": self.b, "settle": 0.1}
        found = run_module(
            dr_translation_info, as_pair({**params, **journal_state(self.clusters, (self.p, self.b), **ids)})
        )
        assert found["rc"] == 0, found["msg"]
        client = {"bootstrap_servers": self.servers(self.b), "groups": found["committed_offsets"]}
        done = run_module(kafka_group, client)
        assert done["rc"] == 0, done["msg"]
        again = run_module(kafka_group, client)
        assert (again["rc"], again["changed"]) == (0, False)
        stored = stored_metadata(self.kafka[self.b], group)
        there = {topic: self.committed(self.b, group, self.replica(topic)) for topic in self.topics}
        for topic, (_offset, text) in there.items():
            assert stored[Partition(self.replica(topic), 0)] == text.encode()
        return found, there

    def commit(self, alias: str, group: str, commits: Mapping[str, tuple[int, str]]) -> None:
        commit_with_metadata(self.kafka[alias], group, {(topic, 0): value for topic, value in commits.items()})

    def committed(self, alias: str, group: str, topic: str) -> tuple[int, str]:
        return tuple(committed(self.kafka[alias], [group])[group][Partition(topic, 0)])

    def topic_ids(self) -> dict[str, dict[str, str]]:
        ids = {}
        for alias in self.clusters:
            names = {*self.topics, *(self.replica(topic) for topic in self.topics if alias == self.b)}
            found = describe(self.kafka[alias], sorted(names))
            ids[alias] = {name: state.topic_id for name, state in found.items() if state is not None}
        return ids

    def unread(self, alias: str, topic: str, offset: int) -> list[bytes | None]:
        end = log_ranges(self.kafka[alias], {Partition(topic, 0)})[topic, 0][1]
        return [record.value for record in data_records(self.kafka[alias], Partition(topic, 0), offset, end)]


@pytest.fixture(scope="module", params=["default", "identity"])
def pair(lab: Any, request: pytest.FixtureRequest) -> Iterator[LabPair]:
    made = LabPair(lab, request.param)
    made.make()
    made.flow("running")
    made.wait_replicated()
    made.flow("stopped")
    yield made
    made.flow("absent")


@pytest.mark.parametrize("text", [DONE, run_lengths(1, 1, 2, 1), streams(NOW), "any text"])
def test_metadata_go_along_where_each_record_is_at_the_same_place(pair: LabPair, text: str, capsys: Any) -> None:
    found, there = pair.move({pair.plain: (COMMIT, text)})
    assert there[pair.plain] == (COMMIT, text)
    assert not [row for row in found["details"] if row["metadata_dropped"]]
    assert "metadata" not in warned(found, capsys)


def test_parallel_consumer_processes_nothing_twice_after_a_move(pair: LabPair) -> None:
    """The real library stores what it has processed after the committed offset, and reads that on B."""
    group, unfinished = f"parallel-{uuid.uuid4().hex[:8]}", {"3", "7"}
    pair.commit(pair.p, group, dict.fromkeys(pair.topics, (0, "")))
    stored = (3, bit_set(COUNT - 3, set(range(COUNT - 3)) - {0, 4}, version=1))
    with parallel_application(pair.servers(pair.p), group, pair.plain, unfinished) as processed:
        done = wait_until(lambda: pair.committed(pair.p, group, pair.plain), lambda found: found == stored, BOUNDS)
        assert done.state == stored, processed()
        assert set(processed()) == {str(number) for number in range(COUNT)} - unfinished
    wait_until(lambda: may_have_members(pair.kafka[pair.p], group), lambda active: not active, BOUNDS)
    found, there = pair.translate(group)
    assert (there[pair.plain], [row for row in found["details"] if row["metadata_dropped"]]) == (stored, [])
    replica = pair.replica(pair.plain)
    with parallel_application(pair.servers(pair.b), group, replica) as processed:
        done = wait_until(lambda: pair.committed(pair.b, group, replica), lambda found: found == (COUNT, ""), BOUNDS)
        assert done.state == (COUNT, ""), processed()
        assert sorted(processed()) == sorted(unfinished)


def test_times_of_kafka_streams_go_along_to_another_offset(pair: LabPair) -> None:
    _found, there = pair.move({pair.shifted: (5, streams(NOW, {"window": NOW}))})
    # A transaction marker before it takes an offset on P only.
    assert there[pair.shifted] == (4, streams(NOW, {"window": NOW}))


@pytest.mark.parametrize(
    ("commit", "text", "reason"),
    [
        (5, bit_set(4, {3}), "other places"),
        (5, bit_set(11, {3, 10}), "other places"),
        (5, "any text", "format is unknown"),
        # No marker before it, but one within the records that it refers to: the offset alone would not show it.
        (0, "any text", "after the end"),
        (1, run_lengths(1, 4), "other places"),
    ],
)
def test_metadata_that_would_name_other_records_stay_and_are_reported(
    pair: LabPair, commit: int, text: str, reason: str, capsys: Any
) -> None:
    found, there = pair.move({pair.shifted: (commit, text)})
    offset, metadata = there[pair.shifted]
    assert metadata == ""
    assert pair.unread(pair.b, pair.replica(pair.shifted), offset) == pair.unread(pair.p, pair.shifted, commit)
    (row,) = (row for row in found["details"] if row["metadata_dropped"])
    assert (row["topic"], row["quality"], reason in row["metadata_dropped"]) == (
        pair.replica(pair.shifted),
        "exact",
        True,
    )
    warning = f"{row['group']} {row['topic']}-0: {row['metadata_dropped']}"
    assert warning in warned(found, capsys)


def test_metadata_that_refer_to_records_within_one_transaction_go_along(pair: LabPair) -> None:
    """The records before the next marker have the same distances on both clusters."""
    _found, there = pair.move({pair.shifted: (4, bit_set(3, {1}))})
    assert there[pair.shifted] == (3, bit_set(3, {1}))


@pytest.mark.parametrize("text", ["", DONE])
def test_metadata_that_were_meant_for_another_offset_are_replaced_although_the_offset_is_there(
    pair: LabPair, text: str
) -> None:
    """MirrorMaker 2's group sync commits a lower offset with the metadata of the committed one."""
    existing = {pair.replica(pair.plain): (COMMIT, bit_set(9, {0, 8}))}
    _found, there = pair.move({pair.plain: (COMMIT, text)}, existing)
    assert there[pair.plain] == (COMMIT, text)


def test_nothing_stays_before_records_that_do_not_exist_yet(pair: LabPair) -> None:
    """The group has read everything but the last marker. What comes next on B would count as processed."""
    end = log_ranges(pair.kafka[pair.p], {Partition(pair.shifted, 0)})[pair.shifted, 0][1]
    found, there = pair.move({pair.shifted: (end - 1, bit_set(1, {0}))})
    assert there[pair.shifted] == (15, "")
    assert [row["metadata_dropped"] for row in found["details"] if row["metadata_dropped"]] == [
        "they may refer to offsets after the end of the log"
    ]
