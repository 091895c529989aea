# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Topics and groups by pattern: a new match is named, stops a planned move, joins with enable, and then moves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import requests
from confluent_kafka import Producer
from confluent_kafka.admin import NewTopic

from brokers import admin, commit, committed_offsets
from lab.lab import Lab
from scenario import Scenario

pytestmark = pytest.mark.long

OWN = ["orders.eu", "orders.us"]
CLIENTS = [
    {"name": "shop", "role": "producer", "rate": 300, "topics": OWN},
    {"name": "settlement", "role": "consumer", "group": "settlement", "topics": OWN},
    {"name": "fraud", "role": "consumer", "group": "fraud", "topics": ["orders.us"]},
]
TOPICS = [{"match": r"orders\..*", "exclude": [r".*\.test"], "replication_factor": 1}]
GROUPS = {"kafka_dr_groups": [{"match": ".*", "exclude": ["probe"]}]}
LATE, RECORDS, READ = "orders.jp", 200, 150
NEW = f'topic "{LATE}", group "late"'


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    """Topics of the applications and others exist on P. Nothing is enabled or started yet."""
    with Scenario(tmp_path_factory.mktemp("pair"), clients=CLIENTS, topics=TOPICS).up() as made:
        create(made, "orders.eu", 3)
        create(made, "orders.us", 2)
        create(made, "orders.test", 1)
        create(made, "unrelated", 1)
        yield made


def create(pair: Scenario, name: str, partitions: int) -> None:
    client = admin(Lab(pair.folder), "P")
    client.create_topics([NewTopic(name, partitions, 1)])[name].result(30)


def run(pair: Scenario, name: str, *options: str, expect: int = 0, **variables: Any) -> dict[str, Any]:
    done = pair.playbook(name, {**GROUPS, **variables}, options, expect=expect)
    return {**done, "output": " ".join(done["output"].replace('\\"', '"').replace("\\\\", "\\").split())}


def replicated(pair: Scenario) -> str:
    """The topics that the connector of P->B is to replicate, as names."""
    url = Lab(pair.folder).info()["clusters"]["B"]["connect_url"]
    config = requests.get(f"{url}/connectors/P->B.MirrorSourceConnector/config", timeout=30).json()
    names = str(config["topics"]).replace("\\.", ".").split(",")
    return ",".join(name for name in names if name != "heartbeats")


def patterns_check(pair: Scenario) -> dict[str, Any]:
    run(pair, "readiness")
    ready = json.loads((pair.reports / "readiness.json").read_text())
    found: dict[str, Any] = next(row for row in ready["checks"] if row["name"] == "patterns")
    return found


def test_a_pattern_without_a_match_is_refused_with_similar_names(pair: Scenario) -> None:
    topics = [{"match": r"ordrs\..*"}]
    clients = [{**CLIENTS[0], "topics": None, "rate": None, "start": ["x"], "stop": ["x"]}]
    clients = [{key: value for key, value in client.items() if value is not None} for client in clients]
    done = run(
        pair, "enable", expect=2, kafka_dr_confirm="P", kafka_dr_topics=topics, kafka_dr_clients=clients,
        kafka_dr_groups=[],
    )  # fmt: skip
    assert r'The pattern "ordrs\..*"' in done["output"]
    assert "takes no topic on P." in done["output"]
    assert "Similar names: orders." in done["output"]
    assert done["changed"] == 0


def test_the_plan_names_what_the_patterns_take(pair: Scenario) -> None:
    done = run(pair, "enable", "--check", kafka_dr_confirm="P")
    assert r'topics that match "orders\..*": orders.eu, orders.us' in done["output"]
    assert 'groups that match ".*": fraud, settlement' in done["output"]


def test_names_join_with_enable_and_connectors_get_names(pair: Scenario) -> None:
    run(pair, "enable", kafka_dr_confirm="P")
    assert replicated(pair) == "orders.eu,orders.us"
    pair.start()
    pair.traffic(500)
    assert run(pair, "enable", kafka_dr_confirm="P")["changed"] == 0
    assert patterns_check(pair)["answer"] == "YES"


def test_a_new_match_is_named_and_stops_a_planned_move(pair: Scenario) -> None:
    create(pair, LATE, 1)
    lab = Lab(pair.folder)
    producer = Producer({"bootstrap.servers": lab.info()["clusters"]["P"]["bootstrap_servers"]})
    for number in range(RECORDS):
        producer.produce(LATE, f"{number}", partition=0)
    assert producer.flush(30) == 0
    client = admin(lab, "P")
    commit(client, "late", {(LATE, 0): READ})
    # Groups that a pattern matches, but that use no topic of the pair, or are excluded.
    commit(client, "elsewhere", {("unrelated", 0): 0})
    commit(client, "probe", {(LATE, 0): 1})

    found = patterns_check(pair)
    assert found["answer"] == "NO"
    named = [f'the topic "{LATE}" has not joined', 'the group "late" has not joined']
    assert found["found"].split("; ") == named
    assert f"not in the pair, although a pattern matches: {NEW}: run enable" in run(pair, "status")["output"]
    refused = run(pair, "failover_cutoff", expect=2, kafka_dr_confirm="B")
    assert f"these have not joined the pair and would stay on P: {NEW}. Run the playbook" in refused["output"]
    assert refused["changed"] == 0
    # A connector does not take it by itself.
    assert LATE not in replicated(pair)


def test_a_disaster_says_that_more_may_be_lost(pair: Scenario) -> None:
    done = run(pair, "failover_disaster", "--check", kafka_dr_confirm="B", kafka_dr_although_healthy=True)
    assert "whole topics and groups that match a pattern and had not joined the pair" in done["output"]
    assert r'topics that match "orders\..*": orders.eu, orders.us"' in done["output"]


def test_it_moves_and_returns_once_it_has_joined(pair: Scenario) -> None:
    run(pair, "enable", kafka_dr_confirm="P")
    assert replicated(pair) == "orders.eu,orders.jp,orders.us"
    assert patterns_check(pair)["answer"] == "YES"
    report = pair.move("failover_cutoff", "B", **GROUPS)
    assert report["outcome"] == "completed"
    assert {row["group"] for row in report["committed_offsets"]} == {"settlement", "fraud", "late"}
    there = admin(Lab(pair.folder), "B")
    assert committed_offsets(there, "late")[f"P.{LATE}", 0] == READ
    assert there.list_topics(timeout=15).topics.keys() >= {LATE, f"P.{LATE}"}
    assert not {"P.orders.test", "P.unrelated"} & there.list_topics(timeout=15).topics.keys()
    pair.traffic(500)
    back = pair.move("failback", "P", **GROUPS)
    assert back["outcome"] == "completed"
    pair.traffic(500)
    pair.stop()
    assert pair.require_unharmed()["processed"] > 0
    assert committed_offsets(admin(Lab(pair.folder), "P"), "late")[LATE, 0] == READ


# ---- R42: another inventory of the same pair


def test_a_second_inventory_is_refused_by_each_playbook_and_reported(pair: Scenario) -> None:
    smaller = {"kafka_dr_topics": [{"match": r"orders\..*", "exclude": [r".*\.test", "orders.jp"]}]}
    named = f'the topic "{LATE}" (on P, on B)'
    for playbook, more in (
        ("enable", {"kafka_dr_confirm": "P"}),
        ("reverse_checkpoint", {"kafka_dr_confirm": "B"}),
        ("failover_cutoff", {"kafka_dr_confirm": "B"}),
        ("rehearse", {"kafka_dr_confirm": "B"}),
    ):
        refused = run(pair, playbook, expect=2, **smaller, **more)
        assert named in refused["output"], refused["log"]
        assert refused["changed"] == 0
    assert f"in the pair, but not in this inventory: {named}" in run(pair, "status", **smaller)["output"]
    run(pair, "readiness", **smaller)
    ready = json.loads((pair.reports / "readiness.json").read_text())
    found = next(row for row in ready["checks"] if row["name"] == "members")
    assert (found["answer"], found["found"]) == ("NO", named)
    assert (ready["controlled"], ready["disaster"]) == ("NO", "NO")
    assert LATE in replicated(pair)


def test_what_is_named_leaves_and_what_no_cluster_has_leaves_too(pair: Scenario) -> None:
    smaller = {"kafka_dr_topics": [{"match": r"orders\..*", "exclude": [r".*\.test", "orders.jp"]}]}
    # The group has committed offsets on that topic only, so the pattern no longer takes it.
    drop = {"kafka_dr_drop": f"{LATE}, late"}
    left = run(pair, "enable", kafka_dr_confirm="P", **smaller, **drop)
    assert f'kafka_dr_drop lets the topic "{LATE}", the group "late" leave the pair B-P.' in left["output"]
    assert LATE not in replicated(pair)
    assert run(pair, "enable", kafka_dr_confirm="P", **smaller)["changed"] == 0
    # It joins again, and is then deleted everywhere.
    run(pair, "enable", kafka_dr_confirm="P")
    lab = Lab(pair.folder)
    for alias, names in (("P", [LATE, f"B.{LATE}"]), ("B", [LATE, f"P.{LATE}"])):
        client = admin(lab, alias)
        there = [name for name in names if name in client.list_topics(timeout=15).topics]
        for deleted in client.delete_topics(there).values():
            deleted.result(30)
    gone = run(pair, "enable", kafka_dr_confirm="P", **smaller)
    assert f'Neither this inventory nor any cluster has the topic "{LATE}"' in gone["output"]
    assert LATE not in replicated(pair)
