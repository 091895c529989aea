# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Invalid input gives a clear error, and nothing is changed."""

from __future__ import annotations

import copy
import http.server
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.http import Transport
from lab.lab import Lab
from scenario import Scenario
from snapshot import read_inventory, snapshot
from workers import worker

GROUPS = ["settlement", "fraud"]
FLOW = "/connectors/P-%3EB.MirrorSourceConnector"


@pytest.fixture
def closed_port() -> int:
    """A port of this machine without a listening process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def html_url() -> Iterator[str]:
    """A web server that is not Kafka Connect."""

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<html>Welcome</html>")

        do_PUT = do_POST = do_GET  # noqa: N815 - names that the base class looks for

        def log_message(self, *args: Any) -> None:
            """Quiet."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def refused(
    scenario: Scenario, playbook: str, variables: dict[str, Any], *texts: str, options: tuple[str, ...] = ()
) -> None:
    """The playbook exits with 2, prints all of ``texts``, and changes nothing."""
    before = snapshot(scenario.folder, GROUPS)
    done = scenario.playbook(playbook, variables, options, expect=2)
    flat = " ".join(done["output"].split()).replace('\\"', '"')
    for text in texts:
        assert text in flat, done["log"]
    assert snapshot(scenario.folder, GROUPS) == before


def changed_inventory(scenario: Scenario, alias: str, **values: Any) -> dict[str, Any]:
    clusters = copy.deepcopy(read_inventory(scenario.inventory)["kafka_dr_clusters"])
    clusters[alias].update(values)
    return {"kafka_dr_clusters": clusters}


@pytest.mark.parametrize("playbook", ["failover_cutoff", "failover_continuous"])
def test_a_missing_confirmation_is_refused(enabled: Scenario, playbook: str) -> None:
    refused(enabled, playbook, {}, 'kafka_dr_confirm is "", wanted "B"', "Nothing was changed")


def test_a_wrong_confirmation_is_refused(enabled: Scenario) -> None:
    refused(enabled, "enable", {"kafka_dr_confirm": "B"}, 'kafka_dr_confirm is "B", wanted "P"')


def test_an_unknown_target_alias_is_refused(enabled: Scenario) -> None:
    refused(enabled, "failover_cutoff", {"kafka_dr_to": "C", "kafka_dr_confirm": "C"}, 'kafka_dr_to is "C"')


def test_a_misspelt_key_is_refused(enabled: Scenario) -> None:
    refused(enabled, "status", {"kafka_dr_clientz": []}, '"kafka_dr_clientz" is unknown', '"kafka_dr_clients"')


def test_an_alias_that_a_topic_name_starts_with_is_refused(enabled: Scenario) -> None:
    topics = [{"name": "P.Payments", "partitions": 12}]
    refused(enabled, "enable", {"kafka_dr_topics": topics, "kafka_dr_clients": []}, 'begins with the alias "P"')


def test_a_wrong_cluster_id_is_refused(enabled: Scenario) -> None:
    variables = {**changed_inventory(enabled, "B", cluster_id="someone-else"), "kafka_dr_confirm": "P"}
    refused(enabled, "enable", variables, 'wanted "someone-else"')


@pytest.mark.parametrize("reported", [True, False], ids=["with ids", "without ids"])
def test_workers_beside_the_wrong_cluster_are_refused(enabled: Scenario, reported: bool) -> None:
    """The addresses are exchanged: each worker group would write the replicas on the source cluster."""
    clusters = copy.deepcopy(read_inventory(enabled.inventory)["kafka_dr_clusters"])
    urls = [clusters[alias]["connect_url"] for alias in ("P", "B")]
    clusters["P"]["connect_url"], clusters["B"]["connect_url"] = urls[::-1]
    for cluster in clusters.values():
        cluster["cluster_id"] = cluster["cluster_id"] if reported else None
    variables = {"kafka_dr_clusters": clusters, "kafka_dr_confirm": "P"}

    def connectors() -> list[list[str]]:
        return [sorted(Transport(url, {}, 10).call("GET", "/connectors")) for url in urls]

    before = connectors()
    assert all(before)
    refused(enabled, "enable", variables, "belong to cluster", "Correct connect_url")
    assert connectors() == before


def test_two_aliases_on_one_cluster_are_refused(enabled: Scenario) -> None:
    clusters = read_inventory(enabled.inventory)["kafka_dr_clusters"]
    port = clusters["P"]["bootstrap_servers"].rsplit(":", 1)[1]
    # Another spelling of the same address: only a request to the clusters reveals it.
    variables = changed_inventory(enabled, "B", bootstrap_servers=f"localhost:{port}", cluster_id=None)
    refused(enabled, "failover_cutoff", {**variables, "kafka_dr_confirm": "B"}, "are the same cluster")


def test_different_partition_counts_are_refused(enabled: Scenario) -> None:
    variables = {"kafka_dr_topics": [{"name": "Payments", "partitions": 6}], "kafka_dr_confirm": "P"}
    refused(enabled, "enable", variables, "6 in the inventory, 12 on B, 12 on P")


@pytest.mark.parametrize(
    ("bad", "flow", "texts", "options"),
    [
        ({"replication_factor": 3}, {}, ('create topic "Bad"', "factor of 3 cannot be reached"), ()),
        ({"partitions": 20000}, {}, ('create topic "Bad"', "large number of partitions"), ()),
        ({}, {"replication_factor": 2}, ('create topic "P.Bad"', "kafka_dr_flow.replication_factor"), ("--check",)),
        ({}, {"source_settings": {"replication.factor": 2}}, ('create topic "B.Good"',), ()),
    ],
    ids=["replicas of a topic", "partitions", "replicas of the flows, check mode", "a setting of the flows"],
)
def test_topics_that_a_cluster_cannot_have_are_refused_before_any_is_created(
    enabled: Scenario, bad: dict[str, Any], flow: dict[str, Any], texts: tuple[str, ...], options: tuple[str, ...]
) -> None:
    given = read_inventory(enabled.inventory)
    plain = {"partitions": 1, "replication_factor": 1}
    topics = [*given["kafka_dr_topics"], {"name": "Good", **plain}, {"name": "Bad", **plain, **bad}]
    variables = {"kafka_dr_topics": topics, "kafka_dr_flow": {**given["kafka_dr_flow"], **flow}}
    refused(enabled, "enable", {**variables, "kafka_dr_confirm": "P"}, *texts, options=options)


def test_a_group_that_is_active_on_the_entered_cluster_is_refused(enabled: Scenario) -> None:
    """R9: offsets are committed only for idle groups. Here one has a member on the cluster being entered."""
    from confluent_kafka import Consumer

    inventory = read_inventory(enabled.inventory)
    member = Consumer(
        {"bootstrap.servers": inventory["kafka_dr_clusters"]["B"]["bootstrap_servers"], "group.id": "settlement"}
    )
    member.subscribe(["Payments"])
    try:
        enabled.wait(lambda: bool(member.poll(0.2)) or bool(member.assignment()), 30, "the member has joined")
        refused(enabled, "failover_cutoff", {"kafka_dr_confirm": "B"}, "settlement", "already have members on B")
    finally:
        member.close()


def test_an_unreachable_connect_is_refused(enabled: Scenario, closed_port: int) -> None:
    variables = changed_inventory(enabled, "B", connect_url=f"http://127.0.0.1:{closed_port}")
    refused(enabled, "failover_cutoff", {**variables, "kafka_dr_confirm": "B"}, f"127.0.0.1:{closed_port}", "refused")


def test_a_connect_that_returns_html_is_refused(enabled: Scenario, html_url: str) -> None:
    variables = changed_inventory(enabled, "B", connect_url=html_url)
    refused(enabled, "failover_cutoff", {**variables, "kafka_dr_confirm": "B"}, html_url, "wanted JSON of Kafka")


def test_a_broker_that_is_down_is_refused(enabled: Scenario, closed_port: int) -> None:
    variables = changed_inventory(enabled, "B", bootstrap_servers=f"127.0.0.1:{closed_port}")
    refused(enabled, "failover_cutoff", {**variables, "kafka_dr_confirm": "B"}, f"127.0.0.1:{closed_port}", "answer")


def test_already_there_is_refused_if_a_group_is_active_on_the_other_cluster(enabled: Scenario) -> None:
    """R18: the journal alone is not evidence."""
    from confluent_kafka import Consumer

    inventory = read_inventory(enabled.inventory)
    member = Consumer(
        {"bootstrap.servers": inventory["kafka_dr_clusters"]["B"]["bootstrap_servers"], "group.id": "fraud"}
    )
    member.subscribe(["Payments"])
    try:
        enabled.wait(lambda: bool(member.poll(0.2)) or bool(member.assignment()), 30, "the member has joined")
        text = "these groups have members on B: fraud ("
        refused(enabled, "failback", {"kafka_dr_confirm": "P"}, text)
    finally:
        member.close()


@pytest.mark.parametrize(("playbook", "confirm"), [("enable", "P"), ("disable", "P"), ("failover_disaster", "B")])
def test_the_inventory_of_a_second_team_is_refused(enabled: Scenario, playbook: str, confirm: str) -> None:
    """R42: with the same aliases it would end the replication of the first team's topic."""
    topics = [{"name": "Returns", "partitions": 1, "replication_factor": 1}]
    variables = {"kafka_dr_topics": topics, "kafka_dr_groups": ["returns"], "kafka_dr_clients": []}
    lost = {"kafka_dr_although_healthy": True} if playbook == "failover_disaster" else {}
    where = "on B, unknown on P" if lost else "on P, on B"
    refused(
        enabled,
        playbook,
        {**variables, **lost, "kafka_dr_confirm": confirm},
        f'the topic "Payments" ({where})',
        "not in this inventory",
        """-e '{"kafka_dr_drop": [""",
    )


def test_another_policy_than_that_of_the_topics_is_refused(enabled: Scenario) -> None:
    """Replicas of one policy are originals of the other, so they would be replicated back."""
    variables = {"kafka_dr_policy": "identity", "kafka_dr_confirm": "P"}
    refused(enabled, "enable", variables, 'the pair was enabled with "default"')


def _runs_with(rest: Transport, isolation: str) -> bool:
    configs = [task["config"] for task in rest.call("GET", f"{FLOW}/tasks")]
    states = [task["state"] for task in rest.call("GET", f"{FLOW}/status")["tasks"]]
    taken = all(config["source.consumer.isolation.level"] == isolation for config in configs)
    return taken and states == ["RUNNING"] * len(configs) and bool(configs)


def test_a_connector_with_manually_changed_settings_is_refused(enabled: Scenario) -> None:
    """Aborted records would be replicated as real ones, and records would differ from their copies."""
    rest = worker(Lab(enabled.folder, quiet=True), "B")
    config = rest.call("GET", f"{FLOW}/config")
    config["source.consumer.isolation.level"] = "read_uncommitted"
    del config["header.converter"]
    rest.call("PUT", f"{FLOW}/config", config)
    try:
        # Its tasks restart. Until they run, the current state is not the final one.
        enabled.wait(lambda: _runs_with(rest, "read_uncommitted"), 60, "the connector's tasks run with these settings")
        texts = ('"source.consumer.isolation.level" is "read_uncommitted"', '"header.converter" is not set')
        refused(enabled, "failover_cutoff", {"kafka_dr_confirm": "B"}, *texts)
    finally:
        enabled.playbook("enable", {"kafka_dr_confirm": "P"})


def test_an_endpoint_that_cannot_be_rendered_is_refused(enabled: Scenario) -> None:
    """The rendered text is hidden, because it may have a password. The reason for the failure is shown."""
    clients = copy.deepcopy(read_inventory(enabled.inventory)["kafka_dr_clients"])
    clients[0]["endpoint_template"] = "/nowhere/kafka.env.j2"
    variables = {"kafka_dr_confirm": "B", "kafka_dr_clients": clients}
    refused(enabled, "failover_cutoff", variables, "/nowhere/kafka.env.j2", "Nothing was changed")
