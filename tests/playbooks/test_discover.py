# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From two running clusters to a rehearsed pair: a draft, a few lines edited by hand, adoption, readiness.

The clusters have the size of a real site: 40 topics, 25 groups, 12 applications, and connectors made by hand.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import NewTopic

from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.rest import ConnectClient
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.topics import describe, names
from brokers import admin, commit
from lab.lab import Lab
from scenario import Scenario
from yamls import load_yaml

pytestmark = pytest.mark.long

BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"
RATE, BROKERS = 20, 3
WRITTEN = {
    "payments-api": ["Invoices", "Payments", "Refunds"],
    "shop": ["Orders", "Prices", "Returns", "Shipments"],
}
# Consumers, each one with a group of its name.
READ = {
    "settlement": ["Payments", "Refunds"],
    "fraud": ["Orders", "Payments"],
    "bookkeeping": ["Invoices", "Payments", "Refunds"],
    "warehouse": ["Orders", "Shipments"],
    "customer-mail": ["Orders", "Returns"],
    "pricing": ["Prices"],
    "tracking": ["Shipments"],
    "refund-desk": ["Refunds"],
    "returns-desk": ["Returns"],
    "reporting": ["Invoices", "Orders", "Payments", "Prices", "Refunds", "Returns", "Shipments"],
}
# The ledger's own 20 empty fetches per second from each broker would load a lab of six brokers.
PATIENT = {"fetch.min.bytes": 1, "fetch.wait.max.ms": 500}
APPLICATIONS: list[dict[str, Any]] = [
    *({"name": name, "role": "producer", "rate": RATE, "topics": topics} for name, topics in WRITTEN.items()),
    *(
        {"name": name, "role": "consumer", "group": name, "topics": topics, "config": PATIENT}
        for name, topics in READ.items()
    ),
]
# By partitions and settings. The last one is internal to the Kafka Streams application "rates".
TOPICS: dict[str, tuple[int, dict[str, str]]] = {
    "Payments": (6, {}),
    "Orders": (3, {}),
    "Refunds": (2, {"retention.ms": "86400000"}),
    "Returns": (1, {}),
    "Shipments": (4, {}),
    "Invoices": (1, {"max.message.bytes": "2000000"}),
    "Prices": (1, {}),
    "Customers": (3, {"cleanup.policy": "compact"}),
    "Alerts": (1, {}),
    "audit.log": (1, {}),
    **{f"archive.{number:02d}": (1, {"retention.ms": "604800000"}) for number in range(10)},
    **{f"events-{number:02d}": (2, {}) for number in range(20)},
    "rates-daily-changelog": (1, {"cleanup.policy": "compact"}),
}
MOVED = sorted(TOPICS.keys() - {"rates-daily-changelog"})
# Groups without members, by the topic of their committed offsets. These eight move by their offsets alone.
IDLE = {"exports": "Refunds", "nightly-audit": "audit.log", **{f"batch-{n}": f"events-0{n}" for n in range(6)}}
LOCAL = {
    "connect-lake": "Payments",
    "connect-warehouse": "Orders",
    "console-consumer-77": "Payments",
    "console-consumer-78": "Customers",
    "rates": "Prices",
}
LEFT_OUT = {"connect-state": "rates-daily-changelog", "state-backup": "rates-daily-changelog"}
LEGACY = {"source": "legacy-mirror", "checkpoint": "legacy-checkpoints", "heartbeat": "legacy-heartbeats"}
LIMIT = 15


class Site:
    """Two clusters in use that this collection does not know yet."""

    def __init__(self, pair: Scenario) -> None:
        self.pair = pair
        self.clusters: Mapping[str, Any] = Lab(pair.folder).info()["clusters"]
        self.commands = {
            client["name"]: client
            for client in load_yaml(pair.inventory / "group_vars" / "all" / "kafka_dr.yml")["kafka_dr_clients"]
        }
        self.variables = pair.inventory / "group_vars" / "all" / "kafka_dr.yml"
        self.draft = pair.reports / "discovered.yml"

    def minimal(self) -> None:
        """Replace the lab's inventory by the few variables that discover needs."""
        keys = ("bootstrap_servers", "connect_url")
        clusters = {alias: {key: str(self.clusters[alias][key]) for key in keys} for alias in ("P", "B")}
        self.variables.write_text(json.dumps({"kafka_dr_home": "P", "kafka_dr_clusters": clusters}))

    def subscribe_to_originals(self) -> None:
        """Before a pair exists, no application reads replicas."""
        for name in self.pair.names("consumer"):
            path = self.pair.folder / "ledger" / f"{name}.env"
            own = f"KAFKA_SUBSCRIBE={','.join(READ[name])}"
            path.write_text(re.sub(r"(?m)^KAFKA_SUBSCRIBE=.*$", own, path.read_text()))

    def populate(self) -> None:
        """Create topics and groups, and start connectors that were made by hand."""
        client = admin(Lab(self.pair.folder), "P")
        topics = [NewTopic(name, count, BROKERS, config=config) for name, (count, config) in TOPICS.items()]
        for future in client.create_topics(topics).values():
            future.result(15)
        producer = Producer({"bootstrap.servers": str(self.clusters["P"]["bootstrap_servers"])})
        for name in TOPICS:
            producer.produce(name, key="k", value="v", partition=0)
        assert producer.flush(30) == 0
        for group, topic in {**IDLE, **LOCAL, **LEFT_OUT}.items():
            commit(client, group, {(topic, index): int(index == 0) for index in range(TOPICS[topic][0])})
        # A ledger client without a committed offset ends: no reset decides where it starts.
        for group, names_read in READ.items():
            commit(client, group, {(name, index): 0 for name in names_read for index in range(TOPICS[name][0])})
        self.mirror()

    def mirror(self) -> None:
        rest = ConnectClient(str(self.clusters["B"]["connect_url"]), {}, 15.0)
        common = {
            "source.cluster.alias": "P",
            "target.cluster.alias": "B",
            "source.cluster.bootstrap.servers": str(self.clusters["P"]["bootstrap_servers"]),
            "target.cluster.bootstrap.servers": str(self.clusters["B"]["bootstrap_servers"]),
            "topics": ".*",
            "refresh.topics.interval.seconds": "1",
            **{f"{name}.replication.factor": str(BROKERS) for name in ("checkpoints.topic", "heartbeats.topic")},
            **{f"{part}.converter": BYTES for part in ("key", "value", "header")},
            "replication.factor": str(BROKERS),
            "offset-syncs.topic.replication.factor": str(BROKERS),
        }
        for part, name in LEGACY.items():
            kind = f"Mirror{part.capitalize()}Connector"
            rest.create(name, {**common, "connector.class": kind}, "RUNNING")
        kafka = Kafka(str(self.clusters["B"]["bootstrap_servers"]), {}, 15.0)
        replicas = [f"P.{name}" for name in TOPICS]
        self.pair.wait(
            lambda: None not in describe(kafka, replicas).values() and _stored(rest) >= TOPICS.keys(),
            180,
            "the old connectors replicate every topic",
        )

    def working(self) -> None:
        """Wait until each application has written or processed more records."""
        before = self.progress()
        self.pair.wait(
            lambda: all(count > before[name] for name, count in self.progress().items()),
            120,
            "each application writes or processes records",
        )

    def progress(self) -> dict[str, int]:
        """The number of records that each application has written or processed."""
        clients = json.loads(self.pair.ledger("status"))["clients"]
        counted = {one["name"]: "acknowledged" if one["role"] == "producer" else "processed" for one in APPLICATIONS}
        return {name: int(clients[name]["counts"].get(what, 0)) for name, what in counted.items()}

    def discover(self, *options: str, expect: int = 0, **variables: Any) -> dict[str, Any]:
        return self.pair.playbook("discover", variables, options, expect)

    def answer(self) -> int:
        """Complete the draft as a human would, and return the number of lines edited, added or removed."""
        before = self.draft.read_text().splitlines()
        after = [edited for line in before for edited in self.answered(line)]
        self.variables.write_text("\n".join(after) + "\n")
        changes = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
        return sum(max(i2 - i1, j2 - j1) for kind, i1, i2, j1, j2 in changes if kind != "equal")

    def answered(self, line: str) -> list[str]:
        """The lines that replace one line of the draft."""
        stub = re.match(r"  # - \{name: ([\w-]+), ", line)
        if line == "kafka_dr_clients:":
            return [line, *(self.producer(name, topics) for name, topics in WRITTEN.items())]
        if stub and stub[1] in self.commands:
            return [line.replace("# ", "", 1).split("control: ")[0] + self.control(stub[1]) + "}"]
        return [line]

    def producer(self, name: str, topics: list[str]) -> str:
        """The line of a producer: without an authorizer, the draft has none."""
        listed = ", ".join(topics)
        return f"  - {{name: {name}, role: producer, topics: [{listed}], hosts: localhost, {self.control(name)}}}"

    def control(self, name: str) -> str:
        """How the lab starts and stops an application, in the inventory's words."""
        keys = ("control", "stop", "start", "endpoint_file")
        return ", ".join(f"{key}: {json.dumps(self.commands[name][key])}" for key in keys)


def _stored(rest: ConnectClient) -> set[str]:
    """The topics of which the old source connector has stored offsets."""
    return {row["partition"]["topic"] for row in rest.offsets(LEGACY["source"]).get("offsets") or []}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    topics = [
        {"name": name, "partitions": count, "replication_factor": BROKERS} for name, (count, _config) in TOPICS.items()
    ]
    folder = tmp_path_factory.mktemp("site")
    with Scenario(folder, clients=APPLICATIONS, topics=topics, brokers=BROKERS).up() as pair:
        made = Site(pair)
        made.minimal()
        made.populate()
        made.subscribe_to_originals()
        pair.start()
        made.working()
        yield made


def test_the_site_has_the_size_of_a_real_one() -> None:
    assert (len(MOVED), len(READ) + len(IDLE) + len(LOCAL) + len(LEFT_OUT), len(APPLICATIONS)) == (40, 25, 12)


def test_check_mode_writes_nothing(site: Site) -> None:
    site.discover("--check", "--diff")
    assert not site.draft.exists()


def test_the_draft_names_everything_that_moves_and_why_the_rest_does_not(site: Site) -> None:
    # The folder of the reports is another change.
    changes = 1 if site.pair.reports.exists() else 2
    done = site.discover()
    draft = load_yaml(site.draft)
    assert done["changed"] == changes
    by_name = {one["name"]: one for one in draft["kafka_dr_topics"]}
    assert sorted(by_name) == MOVED
    assert by_name["Customers"] == {
        "name": "Customers",
        "partitions": 3,
        "replication_factor": BROKERS,
        "config": {"cleanup.policy": "compact"},
    }
    reads = READ | {name: [topic] for name, topic in IDLE.items()}
    groups = [{"name": name, "topics": topics} for name, topics in reads.items()]
    groups += [{"name": name, "mode": "local"} for name in LOCAL]
    assert draft["kafka_dr_groups"] == sorted(groups, key=lambda group: str(group["name"]))
    text = " ".join(line.strip("# ") for line in site.draft.read_text().splitlines())
    assert "Left out on P: the group of a sink connector, which Kafka Connect runs: connect-state" in text
    assert "Left out on P: reads no topic of this draft: state-backup" in text
    adopted = draft["kafka_dr_adopt"]["P->B"]
    # The old connector also replicates the internal topics of P's workers.
    left = {name for name in adopted.pop("leave_topics") if not name.startswith("connect-")}
    assert (adopted, left) == (LEGACY, {"rates-daily-changelog"})
    assert {one["cluster_id"] for one in draft["kafka_dr_clusters"].values()} == {
        site.clusters[alias]["cluster_id"] for alias in ("P", "B")
    }
    assert "It passes the inventory check" in done["output"]


def test_a_second_run_changes_nothing_and_a_file_of_a_human_is_kept(site: Site) -> None:
    assert site.discover()["changed"] == 0
    text = site.draft.read_text()
    site.draft.write_text(text + "# mine\n")
    refused = site.discover(expect=2)
    assert "kafka_dr_discover_overwrite=true" in " ".join(refused["output"].split())
    assert site.draft.read_text().endswith("# mine\n")
    shown = site.discover("--check", "--diff")
    assert "-# mine" in shown["output"]
    assert site.draft.read_text().endswith("# mine\n")
    assert site.discover(kafka_dr_discover_overwrite="true")["changed"] == 1
    assert site.draft.read_text() == text


def test_few_edits_make_the_draft_an_enabled_pair(site: Site) -> None:
    edits = site.answer()
    print(json.dumps({"edited_lines": edits}))
    assert len(APPLICATIONS) <= edits <= LIMIT
    kafka = Kafka(str(site.clusters["P"]["bootstrap_servers"]), {}, 15.0)
    site.pair.playbook("enable", {"kafka_dr_confirm": "P"}, ("--check",))
    assert "kafka-dr-journal-internal" not in names(kafka)
    site.pair.playbook("enable", {"kafka_dr_confirm": "P"})
    assert "kafka-dr-journal-internal" in names(kafka)
    site.working()


def test_the_pair_is_rehearsed_and_ready_for_both_kinds_of_move(site: Site) -> None:
    for playbook in ("rehearse", "reverse_checkpoint"):
        site.pair.playbook(playbook, {"kafka_dr_confirm": "B"})
    site.pair.playbook("readiness")
    ready = json.loads((site.pair.reports / "readiness.json").read_text())
    failing = [row for row in ready["checks"] if row["answer"] in ("NO", "UNKNOWN")]
    assert (ready["controlled"], ready["disaster"]) == ("YES", "YES"), failing
    assert ready["rehearsal"]["outcome"] == "completed"


def test_a_complete_inventory_is_compared_with_the_clusters(site: Site) -> None:
    elsewhere = {"kafka_dr_discover_file": str(site.pair.folder / "later.yml")}
    assert "No drift from the inventory." in site.discover(**elsewhere)["output"]
    client = admin(Lab(site.pair.folder), "P")
    client.create_topics([NewTopic("Late", 1, 1)])["Late"].result(15)
    shown = site.discover(**elsewhere, kafka_dr_discover_overwrite="true")
    assert "P has topics that kafka_dr_topics does not name: Late." in shown["output"]


def test_the_applications_are_unaffected(site: Site) -> None:
    site.working()
    site.pair.stop()
    counted = site.pair.require_unharmed()
    assert counted["groups"] == len(READ)
    assert counted["acknowledged"] > 0
