# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A flow of connectors with other names is adopted under load: no record is repeated or missing (R33)."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import NewTopic

from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.rest import ConnectClient
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds, wait_until
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.records import Reading, read_ranges
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.topics import describe, log_ranges, names
from brokers import admin
from kills import kill_at, outwait
from lab.lab import Lab
from scenario import Scenario

pytestmark = pytest.mark.long

TOPIC, REPLICA, PARTITIONS = "Payments", "P.Payments", 12
IDENTITY = "org.apache.kafka.connect.mirror.IdentityReplicationPolicy"
BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"
LEGACY = {"source": "legacy-mirror", "checkpoint": "legacy-checkpoints", "heartbeat": "legacy-heartbeats"}
CLASSES = {part: f"Mirror{part.capitalize()}Connector" for part in LEGACY}
CONFIRM = {"kafka_dr_confirm": "P"}
ADOPT = {**CONFIRM, "kafka_dr_adopt": {"P->B": {**LEGACY, "leave_topics": ["Extra"]}}}
# Output when a run is about to stop the old connectors, has set the offsets, starts the flows, and waits for them.
TRIGGERS = (
    "Stop the old connectors and take over their stored offsets",
    "Journal the adopted flows",
    "Require matching offsets and delete those of",
    "Wait until the flows replicate",
)


class Legacy:
    """Three manually created connectors, and a producer that never stops."""

    def __init__(self, pair: Scenario) -> None:
        found = Lab(pair.folder).info()["clusters"]
        self.servers = {alias: str(found[alias]["bootstrap_servers"]) for alias in ("P", "B")}
        self.rest = ConnectClient(str(found["B"]["connect_url"]), {}, 15.0)
        self.kafka = Kafka(self.servers["B"], {}, 15.0)
        self.sent: Counter[str] = Counter()

    def start(self, **settings: str) -> None:
        common = {
            "source.cluster.alias": "P",
            "target.cluster.alias": "B",
            "source.cluster.bootstrap.servers": self.servers["P"],
            "target.cluster.bootstrap.servers": self.servers["B"],
            "topics": f"{TOPIC},Extra",
            "groups": "settlement",
            "refresh.topics.interval.seconds": "1",
            **{f"{name}.replication.factor": "1" for name in ("checkpoints.topic", "heartbeats.topic")},
            **{f"{part}.converter": BYTES for part in ("key", "value", "header")},
            "replication.factor": "1",
            "offset-syncs.topic.replication.factor": "1",
            "tasks.max": "2",
            **settings,
        }
        for part, name in LEGACY.items():
            self.rest.create(name, {**common, "connector.class": CLASSES[part]}, "RUNNING")

    def states(self) -> dict[str, str | None]:
        return {name: one.state for name, one in self.rest.connectors().items()}

    def send(self, producer: Producer, prefix: str, count: int) -> None:
        """Write records with unique values to all partitions."""
        for number in range(count):
            producer.produce(TOPIC, value=f"{prefix}-{number}", partition=number % PARTITIONS)
            producer.poll(0)
            self.sent[f"{prefix}-{number}"] += 1
        assert producer.flush(30) == 0

    @contextmanager
    def load(self, size: int) -> Iterator[None]:
        """Write ``size`` records, then the same number per second as a steady application, until the block ends."""
        producer = Producer({"bootstrap.servers": self.servers["P"]})
        self.send(producer, "first", size)
        ended = threading.Event()

        def work() -> None:
            number = 0
            while not ended.wait(0.1):
                self.send(producer, f"load-{number}", 30)
                number += 1

        thread = threading.Thread(target=work)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def replicated(self, replica: str = REPLICA) -> int:
        if describe(self.kafka, [replica])[replica] is None:
            return 0
        return sum(end - start for start, end in log_ranges(self.kafka, self.partitions(replica)).values())

    @staticmethod
    def partitions(replica: str) -> set[tuple[str, int]]:
        return {(replica, index) for index in range(PARTITIONS)}

    def held(self, replica: str = REPLICA) -> Counter[str]:
        """The records of the replica, each with the number of its copies."""
        spans = log_ranges(self.kafka, self.partitions(replica))
        reads = read_ranges(self.kafka, spans, Reading(timeout=120.0))
        assert all(read.complete for read in reads.values())
        return Counter((record.value or b"").decode() for read in reads.values() for record in read.records)


def create(pair: Scenario, alias: str, name: str, partitions: int) -> None:
    client = admin(Lab(pair.folder), alias)
    client.create_topics([NewTopic(name, partitions, 1)])[name].result(15)


def refused(pair: Scenario, variables: dict[str, Any], *texts: str, options: tuple[str, ...] = ()) -> None:
    """The run is refused at once, before any change."""
    began = time.monotonic()
    done = pair.playbook("enable", variables, options, expect=2)
    assert done["changed"] == 0
    assert time.monotonic() - began < 60
    output = " ".join(done["output"].split()).replace('\\"', '"')
    for text in texts:
        assert text in output


def set_up(pair: Scenario, **settings: str) -> Legacy:
    """The old connectors run, and replicate one topic besides that of the inventory."""
    legacy = Legacy(pair)
    for name, partitions in ((TOPIC, PARTITIONS), ("Extra", 1)):
        create(pair, "P", name, partitions)
    producer = Producer({"bootstrap.servers": legacy.servers["P"]})
    producer.produce("Extra", value="x")
    assert producer.flush(30) == 0
    legacy.start(**settings)
    return legacy


def adopted_under_load(pair: Scenario, size: int) -> dict[str, float]:
    """The whole procedure, with a kill at each step. Return figures."""
    legacy = set_up(pair)
    with legacy.load(size):
        pair.wait(lambda: legacy.replicated() >= size, 300, "the old connector replicates")
        for trigger in TRIGGERS:
            kill_at(pair, trigger, "enable", ADOPT)
            outwait(pair)
        done = pair.playbook("enable", ADOPT)
    waited = wait_until(legacy.replicated, lambda found: found >= legacy.sent.total(), Bounds(120, 0.3, 60))
    held = legacy.held()
    twice, missing = held - legacy.sent, legacy.sent - held
    assert (waited.state, twice.total(), missing.total()) == (legacy.sent.total(), 0, 0)
    assert [legacy.states()[name] for name in LEGACY.values()] == ["STOPPED"] * 3
    assert pair.playbook("enable", CONFIRM)["changed"] == 0
    return {"records": held.total(), "kills": len(TRIGGERS), "enable_s": round(done["seconds"], 1)}


def readiness(pair: Scenario) -> dict[str, dict[str, Any]]:
    pair.playbook("readiness", {})
    return {row["name"]: row for row in json.loads((pair.reports / "readiness.json").read_text())["checks"]}


def test_a_flow_that_would_replicate_everything_again_is_refused_before_any_change(tmp_path: Path) -> None:
    with Scenario(tmp_path, partitions=PARTITIONS).up() as pair:
        legacy = set_up(pair)
        legacy.send(Producer({"bootstrap.servers": legacy.servers["P"]}), "first", 3000)
        pair.wait(lambda: legacy.replicated() >= 3000, 120, "the old connector replicates")
        # Cases 2 and 16: an impossible adoption is refused before anything is created.
        create(pair, "B", "P.Wide", 5)
        topics = [{"name": TOPIC, "partitions": PARTITIONS}, {"name": "Wide", "partitions": 2}]
        wide = {"kafka_dr_topics": topics, "kafka_dr_groups": [], "kafka_dr_clients": []}
        refused(pair, {**ADOPT, **wide}, '"P.Wide" has 5 partitions on B, "Wide" has 2', "Delete such a replica")
        # Without adoption every record would be replicated twice, in check mode too.
        text = "no connector of this pair has written it"
        refused(pair, CONFIRM, "12 partitions", text, "kafka_dr_adopt", "legacy-mirror", options=("--check",))
        refused(pair, CONFIRM, "12 partitions", text, "kafka_dr_adopt", "legacy-mirror")
        wrong = {"P->B": {key: value for key, value in LEGACY.items() if key != "heartbeat"}}
        refused(pair, {**CONFIRM, "kafka_dr_adopt": wrong}, "would no longer be replicated (Extra)", "leave_topics")
        shown = pair.playbook("enable", ADOPT, ("--check", "--diff"))
        assert all(
            word in shown["output"] for word in ("connector legacy-mirror", "offsets P->B.MirrorSourceConnector")
        )
        assert "kafka-dr-journal-internal" not in names(legacy.kafka)
        assert [legacy.states()[name] for name in LEGACY.values()] == ["RUNNING"] * 3
        assert legacy.replicated() == 3000


def test_a_flow_is_adopted_under_load_with_a_kill_at_each_step(tmp_path: Path) -> None:
    with Scenario(tmp_path, partitions=PARTITIONS).up() as pair:
        print(json.dumps(adopted_under_load(pair, 6000)))
        rows = readiness(pair)
        assert (rows["flow_offsets"]["answer"], rows["flow_alone"]["answer"]) == ("YES", "YES")
        # Another connector that is started later is reported, with the safe next step.
        rest = Legacy(pair).rest
        config = rest.connectors()[LEGACY["source"]].config
        rest.create("third", {**config, "name": "third"}, "RUNNING")
        row = readiness(pair)["flow_alone"]
        assert (row["answer"], '"third"' in row["found"]) == ("NO", True)


def test_with_the_policy_identity_old_connectors_are_stopped_and_the_flow_starts_where_they_ended(
    tmp_path: Path,
) -> None:
    """discover, the refusal of enable and that of kafka_dr_adopt say the same, which works."""
    with Scenario(tmp_path, partitions=PARTITIONS, policy="identity").up() as pair:
        legacy = set_up(pair, **{"replication.policy.class": IDENTITY})
        legacy.send(Producer({"bootstrap.servers": legacy.servers["P"]}), "first", 3000)
        pair.wait(lambda: legacy.replicated(TOPIC) >= 3000, 120, "the old connectors replicate")
        draft = drafted(pair)
        assert "kafka_dr_policy: identity" in draft
        (todo,) = (line for line in draft.splitlines() if "stop legacy" in line)
        assert all(name in todo for name in LEGACY.values()), todo
        assert "kafka_dr_adopt" not in draft
        refused(pair, ADOPT, "Stop the other connector, and remove kafka_dr_adopt")
        next_step = "PUT /connectors/NAME/stop): legacy-mirror, legacy-checkpoints, legacy-heartbeats. Then start"
        for options in (("--check",), ()):
            refused(pair, CONFIRM, '"legacy-mirror" already runs', next_step, options=options)
        assert "kafka-dr-journal-internal" not in names(legacy.kafka)

        for name in LEGACY.values():
            legacy.rest.stop(name)
        pair.wait(lambda: all(one.stopped for one in legacy.rest.connectors().values()), 60, "they are stopped")
        pair.playbook("enable", CONFIRM)
        legacy.send(Producer({"bootstrap.servers": legacy.servers["P"]}), "second", 3000)
        pair.wait(lambda: legacy.replicated(TOPIC) >= 6000, 120, "the pair's own flow replicates")
        assert legacy.held(TOPIC) == legacy.sent
        assert pair.playbook("enable", CONFIRM)["changed"] == 0


def drafted(pair: Scenario) -> str:
    """What discover drafts for a person who has no inventory yet."""
    path = pair.inventory / "group_vars" / "all" / "kafka_dr.yml"
    whole = path.read_text()
    clusters = {
        alias: {key: str(found[key]) for key in ("bootstrap_servers", "connect_url")}
        for alias, found in Lab(pair.folder).info()["clusters"].items()
    }
    path.write_text(json.dumps({"kafka_dr_home": "P", "kafka_dr_clusters": clusters}))
    try:
        pair.playbook("discover")
    finally:
        path.write_text(whole)
    return (pair.reports / "discovered.yml").read_text()


@pytest.mark.soak
def test_a_hundred_thousand_records_are_adopted(tmp_path: Path) -> None:
    with Scenario(tmp_path, partitions=PARTITIONS).up() as pair:
        print(json.dumps(adopted_under_load(pair, 100_000)))
        pair.playbook("verify", {"kafka_dr_audit": True})
        audit = json.loads((pair.reports / "audit.json").read_text())
        assert audit["verdict"] == "PROVEN"
        assert [row["kind"] for topic in audit["topics"] for row in topic["classes"]] == []
