# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which fields of a record MirrorMaker 2 carries, on real workers, and where groups start if a field is not carried.

The expected results come from the values of the records, each of which is written once, and not from fingerprints.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds, wait_until
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.records import Record, data_records
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.topics import describe, log_ranges
from ansible_collections.switchback.kafka_dr.plugins.modules import (
    connect_mirror,
    dr_checkpoint,
    dr_disaster,
    dr_journal,
    dr_status_info,
    dr_translation_info,
    kafka_topic,
)
from ansible_collections.switchback.kafka_dr.tests.support.journals import journal_state
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module
from ansible_collections.switchback.kafka_dr.tests.support.pairs import as_pair, of_journal
from brokers import commit
from raw_records import NO_TIMESTAMP, Raw, write

pytestmark = pytest.mark.integration

P, B = "FP", "FB"
THERE = {"source": P, "target": B}
APPENDED = {"message.timestamp.type": "LogAppendTime"}
NOW = int(time.time() * 1000) - 60_000
COUNT = 30
COMMITTED_OFFSETS = (5, 12, 15, 22)


def numbered(stamps: Sequence[int], value: bytes | None = None) -> list[Raw]:
    """Records with these timestamps. Their values are unique unless ``value`` is given."""
    return [Raw(value or b"%d" % number, b"k", stamp) for number, stamp in enumerate(stamps)]


def between(count: int = COUNT) -> list[int]:
    """A third with a timestamp, a third without, and a third with one."""
    return [NO_TIMESTAMP if count <= 3 * number < 2 * count else NOW + number for number in range(count)]


FIELDS = [
    Raw(b"plain", b"key", NOW),
    Raw(b"null key", None, NOW),
    Raw(b"empty key", b"", NOW),
    Raw(None, b"tombstone", NOW),
    Raw(b"", b"empty value", NOW),
    Raw(b"time 0", b"k", 0),
    Raw(b"time 1", b"k", 1),
    Raw(b"null header", b"k", NOW, ((b"h", None),)),
    Raw(b"empty header", b"k", NOW, ((b"h", b""),)),
    Raw(b"no name", b"k", NOW, ((b"", b"v"),)),
    Raw(b"order and repeats", b"k", NOW, ((b"b", b"1"), (b"a", b"2"), (b"b", b"3"), (b"a", None))),
    Raw(b"bytes", b"\x00\xff", NOW, ((b"h", b"\x00\xfe\xff"), ("ä\N{SNOWMAN}".encode(), b"1"))),
]


class LabPair:
    """P and B of the lab under aliases of their own, with one topic for each case."""

    def __init__(self, lab: Any) -> None:
        found = lab.info()["clusters"]
        self.clusters = {
            alias: {key: found[name][key] for key in ("bootstrap_servers", "connect_url", "cluster_id")}
            for alias, name in ((P, "P"), (B, "B"))
        }
        self.kafka = {alias: Kafka(self.servers(alias), {}, 15.0) for alias in self.clusters}
        self.run = uuid.uuid4().hex[:6]
        names = "untimed", "ends", "equal", "fields", "unnamed", "appended", "by_replica", "changed"
        self.topics = {name: f"carried-{name}-{self.run}" for name in names}
        self.groups = {at: f"carried-{at}-{self.run}" for at in COMMITTED_OFFSETS}
        self.journal, self.state = f"carried-journal-{self.run}", f"carried-state-{self.run}"

    def servers(self, alias: str) -> str:
        return str(self.clusters[alias]["bootstrap_servers"])

    def make(self, alias: str, *names: str, config: dict[str, str] | None = None) -> None:
        items = [{"name": name, "partitions": 1, "config": config or {}} for name in names]
        made = run_module(kafka_topic, {"bootstrap_servers": self.servers(alias), "topics": items})
        assert made["rc"] == 0, made

    def write(self, name: str, records: Sequence[Raw], alias: str = P) -> None:
        write(self.servers(alias), self.topics[name] if alias == P else self.replica(name), records)

    def replica(self, name: str) -> str:
        return f"{P}.{self.topics[name]}"

    def end(self, alias: str, topic: str) -> int:
        return log_ranges(self.kafka[alias], {(topic, 0)})[topic, 0][1]

    def read(self, alias: str, topic: str) -> list[Record]:
        return data_records(self.kafka[alias], (topic, 0), 0, self.end(alias, topic))

    def both(self, name: str) -> tuple[list[Record], list[Record]]:
        return self.read(P, self.topics[name]), self.read(B, self.replica(name))

    def flow(self, state: str) -> None:
        ends = {
            end: {key: self.clusters[alias][key] for key in ("bootstrap_servers", "cluster_id")} | {"alias": alias}
            for end, alias in THERE.items()
        }
        params = {
            **ends,
            "connect_url": self.clusters[B]["connect_url"],
            "topics": list(self.topics.values()),
            "groups": list(self.groups.values()),
            "replication_factor": 1,
            "tasks_max": 1,
            # Heartbeats of another pair in the same lab would be replicated in a loop. No test here needs them.
            "source_settings": {"refresh.topics.interval.seconds": 1, "heartbeats.replication.enabled": False},
            "checkpoint_settings": {"emit.checkpoints.interval.seconds": 1, "refresh.groups.interval.seconds": 1},
            "parts": ["source", "checkpoint"],
            "state": state,
            "wait_timeout": 90,
            "request_timeout": 30,
        }
        result = run_module(connect_mirror, params)
        assert result["rc"] == 0, result["msg"]

    def wait_replicated(self) -> None:
        wanted = {self.replica(name): self.end(P, topic) for name, topic in self.topics.items()}
        found = wait_until(
            lambda: {topic: self.end(B, topic) for topic in wanted if describe(self.kafka[B], [topic])[topic]},
            lambda ends: ends == wanted,
            Bounds(90, 0.2),
        )
        assert found.done, (found.state, wanted)

    def ids(self) -> dict[str, dict[str, str]]:
        names = {P: list(self.topics.values()), B: [*self.topics.values(), *map(self.replica, self.topics)]}
        states = {alias: describe(self.kafka[alias], names[alias]) for alias in names}
        return {
            alias: {name: state.topic_id for name, state in found.items() if state is not None}
            for alias, found in states.items()
        }

    def about(self, *names: str, groups: Sequence[str] = ()) -> dict[str, Any]:
        return {"clusters": self.clusters, "topics": [self.topics[name] for name in names], "groups": list(groups)}

    def translate(self, name: str, *groups: str) -> dict[tuple[str, str], dict[str, Any]]:
        """The rows of the replica by group and topic. Records to read again are accepted."""
        way = {"leave": P, "enter": B, "settle": 0.1, "group_lag": "reread"}
        journal = journal_state(self.clusters, (P, B), topic_ids=self.ids())
        result = run_module(dr_translation_info, as_pair({**self.about(name, groups=groups), **way, **journal}))
        assert result["rc"] == 0, result["msg"]
        return {(row["group"], row["topic"]): row for row in result["details"]}

    def note(self, event: str, **data: Any) -> None:
        place = {"clusters": self.clusters, "pair": self.run, "topic": self.journal}
        result = run_module(dr_journal, of_journal({**place, "event": event, "data": data}))
        assert result["rc"] == 0, result["msg"]


@pytest.fixture(scope="module")
def pair(lab: Any) -> Iterator[LabPair]:
    """Every record is written and replicated. Then the flow is stopped without tasks."""
    made = LabPair(lab)
    plain = [topic for name, topic in made.topics.items() if name != "appended"]
    made.make(P, *plain)
    made.make(P, made.topics["appended"], config=APPENDED)
    made.make(B, *made.topics.values())
    made.make(B, made.replica("by_replica"), config=APPENDED)
    for alias in (P, B):
        made.make(alias, made.journal, made.state)
    made.write("untimed", numbered(between()))
    made.write("ends", numbered([NOW] * 10 + [NO_TIMESTAMP] * 5))
    made.write("equal", numbered([NO_TIMESTAMP] * COUNT, b"same"))
    made.write("fields", FIELDS)
    made.write("unnamed", [Raw(b"%d" % at, b"k", NOW, ((b"\xff\xfe", b"v"),) if at == 4 else ()) for at in range(9)])
    made.write("appended", numbered([NOW] * COUNT))
    made.write("by_replica", numbered([NOW + number for number in range(COUNT)]))
    made.write("changed", numbered(between()[:15]))
    made.make(P, made.topics["changed"], config=APPENDED)
    made.write("changed", [Raw(b"%d" % number, b"k", NOW) for number in range(15, COUNT)])
    for at, group in made.groups.items():
        commit(AdminClient({"bootstrap.servers": made.servers(P)}), group, {(made.topics["untimed"], 0): at})
    made.note("enabled", active=P)
    made.flow("running")
    try:
        made.wait_replicated()
        made.flow("stopped")
        yield made
    finally:
        made.flow("absent")


# ---- which fields MirrorMaker 2 carries


def test_every_field_except_a_missing_timestamp_is_carried(pair: LabPair) -> None:
    source, replica = pair.both("fields")
    assert [(one.key, one.value, one.headers, one.timestamp) for one in source] == [
        (raw.key, raw.value, tuple((name.decode(), value) for name, value in raw.headers), raw.timestamp)
        for raw in FIELDS
    ]
    assert replica == source


def test_the_copy_of_a_record_without_a_timestamp_gets_the_replication_time(pair: LabPair) -> None:
    source, replica = pair.both("untimed")
    assert [one.timestamp for one in source] == [None if at == NO_TIMESTAMP else at for at in between()]
    for one, copy in zip(source, replica, strict=True):
        assert (copy.key, copy.value, copy.timestamp_type) == (one.key, one.value, "CreateTime")
        assert copy.timestamp is not None
        assert copy.timestamp == one.timestamp if one.timestamp is not None else copy.timestamp > NOW + 60_000 - 5_000


def test_the_append_time_of_the_source_is_carried(pair: LabPair) -> None:
    source, replica = pair.both("appended")
    assert {one.timestamp_type for one in source} == {"LogAppendTime"}
    assert {one.timestamp_type for one in replica} == {"CreateTime"}
    assert [one.timestamp for one in replica] == [one.timestamp for one in source]
    source, replica = pair.both("changed")
    assert [one.timestamp_type for one in source[14:16]] == ["CreateTime", "LogAppendTime"]
    assert [one.timestamp for one in replica[15:]] == [one.timestamp for one in source[15:]]


def test_a_replica_with_log_append_time_carries_no_timestamp(pair: LabPair) -> None:
    source, replica = pair.both("by_replica")
    assert {one.timestamp_type for one in replica} == {"LogAppendTime"}
    assert not {one.timestamp for one in source} & {one.timestamp for one in replica}


def test_a_header_name_that_is_not_utf_8_is_not_carried(pair: LabPair) -> None:
    source, replica = pair.both("unnamed")
    assert [one.value for one in source] == [one.value for one in replica]
    assert replica[4].headers == (("\N{REPLACEMENT CHARACTER}" * 2, b"v"),)
    assert source[4].headers != replica[4].headers


# ---- where groups start


@pytest.mark.parametrize("name", ["untimed", "appended", "by_replica", "changed", "unnamed"])
def test_a_group_starts_with_the_next_record(pair: LabPair, name: str) -> None:
    committed_offsets = [at for at in (0, 1, *COMMITTED_OFFSETS, 29) if at < pair.end(P, pair.topics[name])]
    groups = {f"{name}-{at}-{uuid.uuid4().hex[:6]}": at for at in committed_offsets}
    for group, at in groups.items():
        commit(AdminClient({"bootstrap.servers": pair.servers(P)}), group, {(pair.topics[name], 0): at})
    rows = pair.translate(name, *groups)
    found = {
        group: (row["offset"], row["quality"]) for (group, topic), row in rows.items() if topic != pair.topics[name]
    }
    assert found == {group: (at, "exact") for group, at in groups.items()}


def test_indistinguishable_records_are_never_skipped_and_never_reported_as_exact(pair: LabPair) -> None:
    groups = {f"equal-{at}-{uuid.uuid4().hex[:6]}": at for at in (1, *COMMITTED_OFFSETS, COUNT)}
    for group, at in groups.items():
        commit(AdminClient({"bootstrap.servers": pair.servers(P)}), group, {(pair.topics["equal"], 0): at})
    for (group, topic), row in pair.translate("equal", *groups).items():
        if topic == pair.replica("equal"):
            at = groups[group]
            assert row["offset"] <= at
            assert at == COUNT or row["quality"] != "exact" or row["offset"] == at, row


def test_the_scheduled_job_and_a_disaster_set_groups_to_their_next_record(pair: LabPair) -> None:
    pair.note("enabled", active=P, topic_ids=pair.ids())
    groups = list(pair.groups.values())
    about = {**pair.about("untimed", groups=groups), "leave": P, "enter": B}
    kept = {"pair": pair.run, "state_topic": pair.state}
    job = run_module(dr_checkpoint, as_pair({**about, **kept, "topic": pair.journal}))
    assert (job["rc"], job["outcome"]) == (0, "done"), job
    rows = {row["group"]: row for row in job["details"] if row["topic"] == pair.replica("untimed")}
    assert {at: (rows[group]["offset"], rows[group]["quality"]) for at, group in pair.groups.items()} == {
        at: (at, "exact") for at in COMMITTED_OFFSETS
    }
    lost = {P: {"bootstrap_servers": "127.0.0.1:1"}, B: pair.clusters[B]}
    observation = as_pair({**about, **kept, "clusters": lost, "probe_timeout": 0.5})
    disaster = run_module(dr_disaster, observation, check=True)
    assert disaster["rc"] == 0, disaster["msg"]
    found = {row["group"]: row["offset"] for row in disaster["details"] if row["topic"] == pair.replica("untimed")}
    assert found == {group: at for at, group in pair.groups.items()}


# ---- foreign writers


def test_a_topic_that_ends_without_timestamps_reports_no_foreign_writer(pair: LabPair) -> None:
    observation = {**pair.about("ends", "untimed", "equal", "unnamed"), "flows": [THERE]}
    result = run_module(dr_status_info, as_pair(observation))
    assert result["rc"] == 0, result["msg"]
    assert [text for text in result["status"]["missing"] if "is not in" in text] == []


def test_a_record_that_only_a_foreign_writer_can_have_written_is_still_reported(pair: LabPair) -> None:
    pair.write("ends", [Raw(b"foreign_writes", b"k", NO_TIMESTAMP)], alias=B)
    result = run_module(dr_status_info, as_pair({**pair.about("ends"), "flows": [THERE]}))
    assert [text for text in result["status"]["missing"] if "is not in" in text] != []
