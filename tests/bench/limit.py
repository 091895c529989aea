# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The least that a planned cutover can cost: one process that does only what the rules demand (docs/correctness.md).

All connections are open before a producer stops. It stops and starts the same applications with the same commands as
the product, proves that both logs end in the same record and that the stopped connector has stored that offset,
journals twice on both clusters, commits each group's offsets and reads them back, and waits for the first write. It
knows that every group has read everything, checks no ownership, and can resume nothing.
"""

from __future__ import annotations

import json
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from scenario import Scenario

TOPIC, JOURNAL = "Payments", "limit-journal-internal"
PHASES = ("stop_producers", "drain", "stop_consumers", "barrier", "commit_offsets", "start", "first_write")
Ends = dict[int, int]


class Limit:
    """The open connections of one process to both clusters and both groups of Kafka Connect workers."""

    def __init__(self, scenario: Scenario, clusters: dict[str, Any], groups: Iterable[str]) -> None:
        self.scenario, self.clusters, self.groups = scenario, clusters, list(groups)
        self.pool = ThreadPoolExecutor(32)
        self.ledger = scenario.folder / "ledger"
        self.files: dict[str, dict[Path, str]] = {}
        self.admins, self.readers, self.journals = {}, {}, {}
        for alias, cluster in clusters.items():
            base = {"bootstrap.servers": cluster["bootstrap_servers"]}
            self.admins[alias] = AdminClient(base)
            self.readers[alias] = Consumer({**base, "group.id": "limit", "enable.auto.commit": False})
            self.admins[alias].create_topics([NewTopic(JOURNAL, 1, 1)])[JOURNAL].result()
            self.journals[alias] = Producer({**base, "transactional.id": "limit"})
            self.journals[alias].init_transactions(30)
            for topic in (TOPIC, self.replica(alias)):
                self.ends(alias, topic)

    def replica(self, alias: str) -> str:
        """The topic that the flow writes on a cluster."""
        return f"{next(other for other in self.clusters if other != alias)}.{TOPIC}"

    def remember_endpoints(self, alias: str) -> None:
        """Keep the endpoint files that the product has written for a cluster."""
        self.files[alias] = {path: path.read_text() for path in self.ledger.glob("*.env")}

    def move(self, leave: str, enter: str) -> dict[str, float]:
        """Move all applications. Returns the seconds of each phase."""
        marks = [time.monotonic()]

        def phase(*steps: Callable[[], Any]) -> Any:
            results = [step() for step in steps]
            marks.append(time.monotonic())
            return results[0]

        producers, consumers = self.scenario.names("producer"), self.scenario.names("consumer")
        phase(lambda: self.clients("stop", producers))
        ends = phase(lambda: self.drained(leave, enter))
        asked = self.ask_to_stop(leave, enter)
        phase(lambda: self.clients("stop", consumers))
        list(asked)
        phase(lambda: self.stop_flow(leave, enter, ends), lambda: self.journal("barrier"))
        phase(lambda: self.commit(enter))
        before = self.ends(enter, TOPIC)
        phase(lambda: self.journal("pnr"), lambda: self.start(enter, producers + consumers))
        phase(lambda: self.until(lambda: self.ends(enter, TOPIC) != before, "no write arrived"))
        self.start_flow(leave, enter)
        return {name: marks[at + 1] - marks[at] for at, name in enumerate(PHASES)}

    # ---- applications

    def clients(self, verb: str, names: list[str]) -> None:
        """Stop or start applications, all at the same time."""
        list(self.pool.map(lambda name: self.scenario.ledger(verb, name), names))

    def start(self, enter: str, names: list[str]) -> None:
        """Point the applications to a cluster and start them."""
        for path, text in self.files[enter].items():
            path.write_text(text)
        self.clients("start", names)

    # ---- logs and committed offsets

    def ends(self, alias: str, topic: str) -> Ends:
        """The log ends of a topic."""
        reader = self.readers[alias]
        partitions = range(self.scenario.partitions)
        return {at: reader.get_watermark_offsets(TopicPartition(topic, at), timeout=10)[1] for at in partitions}

    def last_records(self, alias: str, topic: str, ends: Ends) -> dict[int, tuple[Any, Any]]:
        """Key and value of the last record of each partition."""
        reader = self.readers[alias]
        reader.assign([TopicPartition(topic, at, end - 1) for at, end in ends.items() if end])
        found: dict[int, tuple[Any, Any]] = {}
        while len(found) < sum(end > 0 for end in ends.values()):
            record = reader.poll(5)
            if record is None or record.error():
                raise RuntimeError(f"no record of {topic} on {alias}: {record and record.error()}")
            found.setdefault(cast("int", record.partition()), (record.key(), record.value()))
        reader.unassign()
        return found

    def drained(self, leave: str, enter: str) -> Ends:
        """Wait until the groups have read everything and both logs end in the same records. Returns the ends."""
        ends = self.ends(leave, TOPIC)
        wanted = self.last_records(leave, TOPIC, ends)
        replica = self.replica(enter)
        self.until(lambda: self.last_records(enter, replica, self.ends(enter, replica)) == wanted, "not replicated")
        self.until(lambda: all(self.committed(leave, group, TOPIC) == ends for group in self.groups), "not read")
        return ends

    def committed(self, alias: str, group: str, topic: str) -> Ends:
        """The committed offsets of a group on a topic."""
        asked = [ConsumerGroupTopicPartitions(group)]
        found = next(iter(self.admins[alias].list_consumer_group_offsets(asked).values())).result()
        return {one.partition: one.offset for one in found.topic_partitions if one.topic == topic}

    def commit(self, enter: str) -> None:
        """Commit the log ends for each group, and read them back."""
        targets = {topic: self.ends(enter, topic) for topic in (TOPIC, self.replica(enter))}
        offsets = [TopicPartition(topic, at, end) for topic, ends in targets.items() for at, end in ends.items()]

        def one(group: str) -> None:
            asked = [ConsumerGroupTopicPartitions(group, offsets)]
            next(iter(self.admins[enter].alter_consumer_group_offsets(asked).values())).result()
            if any(self.committed(enter, group, topic) != ends for topic, ends in targets.items()):
                raise RuntimeError(f"the offsets of {group} on {enter} are not those that were committed")

        list(self.pool.map(one, self.groups))

    def journal(self, event: str) -> None:
        """Append an event to both copies, one after the other, because the first one decides."""
        for alias in sorted(self.journals):
            producer = self.journals[alias]
            producer.begin_transaction()
            producer.produce(JOURNAL, event, partition=0)
            producer.commit_transaction(10)

    # ---- the flow

    def ask_to_stop(self, leave: str, enter: str) -> Iterator[None]:
        """Ask both connectors to stop, while the consumers stop."""
        return self.pool.map(lambda name: self.connect(enter, "PUT", f"{name}/stop"), self.connectors(leave, enter))

    def stop_flow(self, leave: str, enter: str, ends: Ends) -> None:
        """Wait until both connectors are stopped, and require that the source connector has stored the log ends."""
        names = self.connectors(leave, enter)
        self.until(lambda: all(self.is_stopped(enter, name) for name in names), "the connectors do not stop")
        stored = self.connect(enter, "GET", f"{names[0]}/offsets")["offsets"]
        ours = [row for row in stored if row["partition"]["topic"] == TOPIC]
        last = {row["partition"]["partition"]: row["offset"]["offset"] + 1 for row in ours}
        if last != {at: end for at, end in ends.items() if end}:
            raise RuntimeError(f"the flow has stored {last}, wanted {ends}")

    def start_flow(self, leave: str, enter: str) -> None:
        """Run the connectors again for the way back, after the downtime."""
        for name in self.connectors(leave, enter):
            self.connect(enter, "PUT", f"{name}/resume")

    def is_stopped(self, enter: str, name: str) -> bool:
        status = self.connect(enter, "GET", f"{name}/status")
        return status["connector"]["state"] == "STOPPED" and not status["tasks"]

    @staticmethod
    def connectors(leave: str, enter: str) -> list[str]:
        return [f"{leave}->{enter}.Mirror{part}Connector" for part in ("Source", "Checkpoint")]

    def connect(self, alias: str, method: str, path: str) -> Any:
        """Send one request to the workers of a cluster."""
        url = f"{self.clusters[alias]['connect_url']}/connectors/{urllib.parse.quote(path, safe='/')}"
        with urllib.request.urlopen(urllib.request.Request(url, method=method), timeout=10) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    @staticmethod
    def until(done: Callable[[], bool], what: str) -> None:
        limit = time.monotonic() + 60
        while not done():
            if time.monotonic() > limit:
                raise RuntimeError(what)
            time.sleep(0.02)
