# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From two running clusters to an enabled pair: a draft, a few lines edited by hand, adoption, readiness."""

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

BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"
APPLICATIONS: list[dict[str, Any]] = [
    {"name": "payments-api", "role": "producer", "rate": 200},
    {"name": "settlement", "role": "consumer", "group": "settlement"},
    {"name": "fraud", "role": "consumer", "group": "fraud"},
]
OWN: list[dict[str, Any]] = [
    {"name": name, "partitions": count, "replication_factor": 1} for name, count in (("Payments", 6), ("Orders", 3))
]
# By partitions and settings. The last one is internal to the Kafka Streams application "rates".
OTHERS: dict[str, tuple[int, dict[str, str]]] = {
    "Refunds": (2, {"retention.ms": "86400000"}),
    "Customers": (3, {"cleanup.policy": "compact"}),
    "Invoices": (1, {"max.message.bytes": "2000000"}),
    "Shipments": (4, {}),
    "Prices": (1, {}),
    "Alerts": (1, {}),
    "audit.log": (1, {}),
    "Returns": (1, {}),
    "rates-daily-changelog": (1, {"cleanup.policy": "compact"}),
}
# Groups without members, by the topic of their committed offsets.
GROUPS = {"exports": "Refunds", "console-consumer-77": "Payments", "connect-warehouse": "Orders", "rates": "Prices"}
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
        self.groups = {one["name"]: one["group"] for one in APPLICATIONS if "group" in one}
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
            path.write_text(re.sub(r"(?m)^KAFKA_SUBSCRIBE=.*$", "KAFKA_SUBSCRIBE=Payments,Orders", path.read_text()))

    def populate(self) -> None:
        """Create topics and groups, and start connectors that were made by hand."""
        client = admin(Lab(self.pair.folder), "P")
        topics = [NewTopic(one["name"], one["partitions"], 1) for one in OWN]
        topics += [NewTopic(name, count, 1, config=config) for name, (count, config) in OTHERS.items()]
        for future in client.create_topics(topics).values():
            future.result(15)
        producer = Producer({"bootstrap.servers": str(self.clusters["P"]["bootstrap_servers"])})
        for name in (*OTHERS, *(one["name"] for one in OWN)):
            producer.produce(name, key="k", value="v", partition=0)
        assert producer.flush(30) == 0
        for group, topic in GROUPS.items():
            commit(client, group, {(topic, 0): 1})
        # A ledger client without a committed offset ends: no reset decides where it starts.
        first = {(one["name"], index): 0 for one in OWN for index in range(one["partitions"])}
        for name in self.pair.names("consumer"):
            commit(client, self.groups[name], first)
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
            **{f"{name}.replication.factor": "1" for name in ("checkpoints.topic", "heartbeats.topic")},
            **{f"{part}.converter": BYTES for part in ("key", "value", "header")},
            "replication.factor": "1",
            "offset-syncs.topic.replication.factor": "1",
        }
        for part, name in LEGACY.items():
            kind = f"Mirror{part.capitalize()}Connector"
            rest.create(name, {**common, "connector.class": kind}, "RUNNING")
        kafka = Kafka(str(self.clusters["B"]["bootstrap_servers"]), {}, 15.0)
        replicas = [f"P.{name}" for name in (*OTHERS, *(one["name"] for one in OWN))]
        self.pair.wait(
            lambda: None not in describe(kafka, replicas).values() and _stored(rest, len(replicas)),
            180,
            "the old connectors replicate every topic",
        )

    def discover(self, *options: str, expect: int = 0, **variables: Any) -> dict[str, Any]:
        return self.pair.playbook("discover", variables, options, expect)

    def answer(self) -> int:
        """Complete the draft as a human would, and return the number of lines that this took."""
        before = self.draft.read_text().splitlines()
        after = [edited for line in before for edited in self.answered(line)]
        self.variables.write_text("\n".join(after) + "\n")
        return sum(line.startswith("+") for line in difflib.unified_diff(before, after, lineterm="", n=0)) - 1

    def answered(self, line: str) -> list[str]:
        """The lines that replace one line of the draft."""
        stub = re.match(r"  # - \{name: ([\w-]+), ", line)
        if line == "kafka_dr_clients:":
            producer = "  - {name: payments-api, role: producer, topics: [Payments, Orders], hosts: localhost, "
            return [line, f"{producer}{self.control('payments-api')}}}"]
        if stub and stub[1] in self.commands:
            return [line.replace("# ", "", 1).split("control: ")[0] + self.control(stub[1]) + "}"]
        return [line]

    def control(self, name: str) -> str:
        """How the lab starts and stops an application, in the inventory's words."""
        keys = ("control", "stop", "start", "endpoint_file")
        return ", ".join(f"{key}: {json.dumps(self.commands[name][key])}" for key in keys)


def _stored(rest: ConnectClient, count: int) -> bool:
    """Whether the old source connector has stored the offsets of so many topics."""
    rows = rest.offsets(LEGACY["source"]).get("offsets") or []
    return len({row["partition"]["topic"] for row in rows}) >= count


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with Scenario(tmp_path_factory.mktemp("site"), clients=APPLICATIONS, topics=OWN).up() as pair:
        made = Site(pair)
        made.minimal()
        made.populate()
        made.subscribe_to_originals()
        pair.start()
        pair.traffic(200)
        yield made


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
    wanted = {*OTHERS, *(one["name"] for one in OWN)} - {"rates-daily-changelog"}
    assert set(by_name) == wanted
    assert by_name["Customers"] == {
        "name": "Customers",
        "partitions": 3,
        "replication_factor": 1,
        "config": {"cleanup.policy": "compact"},
    }
    assert draft["kafka_dr_groups"] == [
        {"name": "connect-warehouse", "mode": "local"},
        {"name": "console-consumer-77", "mode": "local"},
        {"name": "exports", "topics": ["Refunds"]},
        {"name": "fraud", "topics": ["Orders", "Payments"]},
        {"name": "rates", "mode": "local"},
        {"name": "settlement", "topics": ["Orders", "Payments"]},
    ]
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


def test_the_draft_becomes_an_enabled_pair_with_few_edits(site: Site) -> None:
    edits = site.answer()
    print(json.dumps({"edited_lines": edits}))
    assert 0 < edits <= LIMIT
    site.pair.playbook("enable", {"kafka_dr_confirm": "P"})
    site.pair.traffic(200)
    site.pair.playbook("readiness")
    ready = json.loads((site.pair.reports / "readiness.json").read_text())
    failing = [row for row in ready["checks"] if row["answer"] == "NO"]
    assert ready["controlled"] == "YES", failing
    kafka = Kafka(str(site.clusters["P"]["bootstrap_servers"]), {}, 15.0)
    assert "kafka-dr-journal-internal" in names(kafka)


def test_a_complete_inventory_is_compared_with_the_clusters(site: Site) -> None:
    elsewhere = {"kafka_dr_discover_file": str(site.pair.folder / "later.yml")}
    assert "No drift from the inventory." in site.discover(**elsewhere)["output"]
    client = admin(Lab(site.pair.folder), "P")
    client.create_topics([NewTopic("Late", 1, 1)])["Late"].result(15)
    shown = site.discover(**elsewhere, kafka_dr_discover_overwrite="true")
    assert "P has topics that kafka_dr_topics does not name: Late." in shown["output"]
