# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine srm: the same playbooks through Cloudera Manager and srm-control, as the lab's emulators show them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import NewTopic

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.names import JOURNAL_TOPIC, STATE_TOPIC
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.topics import log_ranges
from brokers import admin
from drafts import drafted
from engine_cases import CLIENTS, EnableCases, EndCases, EngineStore, MoveCases, counted, harmless
from lab.lab import Lab
from managers import Site, sites
from scenario import Scenario
from snapshot import at_rest, read_inventory

REQUESTS = 12
_OTHER = {"P": "B", "B": "P"}


class SrmStore(EngineStore):
    shown = "P->B.enabled"
    own_parts = ("cm",)

    def state(self, alias: str) -> Any:
        return Site(self.pair, alias).lines()

    def runs(self, alias: str) -> bool:
        return f"{_OTHER[alias]}->{alias}.enabled=true" in self.state(alias)

    def empty(self) -> bool:
        return not any(self.runs(alias) for alias in _OTHER)

    def forget(self) -> None:
        for site in sites(self.pair).values():
            site.forget()

    def writes(self) -> list[Any]:
        rows = [row for site in sites(self.pair).values() for row in site.requests()]
        assert rows
        return [row for row in rows if row["method"] != "GET"]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    """A pair before any configuration. Each test continues where the one before ended."""
    with Scenario(tmp_path_factory.mktemp("srm"), partitions=4, clients=CLIENTS, engine="srm").up() as made:
        yield made


@pytest.fixture(scope="module")
def store(pair: Scenario) -> EngineStore:
    return SrmStore(pair)


# ---- invalid configurations

BAD: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    # The site's answer, variables of the run, the message.
    ({"runtime": "7.3.1"}, {"reverse": "required"}, 'it needs Runtime 7.3.2, found "7.3.1'),
    ({}, {"service": "srm"}, 'There is no service "srm" in cluster "Cluster 1". Services there:'),
    ({}, {"cluster": "Cluster 7"}, 'There is no cluster "Cluster 7"'),
    ({}, {"client": {"url_username": "admin", "url_password": "wrong"}}, "refused these credentials"),
    ({}, {"client": {"url_username": "reader", "url_password": "admin"}}, "403"),
    ({"faults": [{"kind": "login_page", "times": None}]}, {}, "HTML"),
]


@pytest.mark.long
@pytest.mark.parametrize(
    ("switches", "site", "expected"), BAD, ids=[expected[:40] for _switches, _site, expected in BAD]
)
def test_each_invalid_configuration_is_refused_and_nothing_is_written(
    pair: Scenario, switches: dict[str, Any], site: dict[str, Any], expected: str
) -> None:
    manager = Site(pair, "B")
    declared = read_inventory(pair.inventory)["kafka_dr_srm"]
    declared["B"] |= {"reverse_checkpointing" if key == "reverse" else key: value for key, value in site.items()}
    before = manager.lines()
    for one in sites(pair).values():
        one.forget()
    manager.switch(**switches)
    try:
        done = pair.playbook("enable", {"kafka_dr_confirm": "P", "kafka_dr_srm": declared}, expect=2)
    finally:
        manager.behave()
    assert expected in done["output"]
    assert manager.lines() == before
    assert all(row["status"] >= 400 for row in manager.requests() if row["method"] != "GET")


@pytest.mark.long
def test_a_driver_that_writes_to_all_clusters_is_refused(pair: Scenario) -> None:
    """Both sites would run both flows, and stopping one site would stop nothing."""
    manager = Site(pair, "P")
    group = (
        f"{manager.service}/roleConfigGroups/streams_replication_manager-STREAMS_REPLICATION_MANAGER_DRIVER-BASE/config"
    )
    name = "streams.replication.manager.driver.target.cluster"
    manager.call(group, "PUT", {"items": [{"name": name, "value": "P,B"}]})
    try:
        done = pair.playbook("enable", {"kafka_dr_confirm": "P"}, expect=2)
    finally:
        manager.call(group, "PUT", {"items": [{"name": name, "value": "P"}]})
    assert "The Driver of P must write to P only" in done["output"]


@pytest.mark.long
def test_passwords_are_not_printed_if_a_task_fails(pair: Scenario) -> None:
    """Ansible prints the variable of a loop after the module has masked its own result."""
    declared = read_inventory(pair.inventory)["kafka_dr_srm"]
    declared["B"]["client"]["url_password"] = "not-the-right-one"
    done = pair.playbook("enable", {"kafka_dr_confirm": "P", "kafka_dr_srm": declared}, ("-vv",), expect=2)
    assert "refused these credentials" in done["output"]
    assert "not-the-right-one" not in done["output"]
    assert "lab-secure-store" not in done["output"]


@pytest.mark.long
def test_prefixless_replication_is_refused(pair: Scenario) -> None:
    manager = Site(pair, "P")
    everything = manager.call(f"{manager.service}/config?view=full")["items"]
    name = next(item["name"] for item in everything if item.get("displayName") == "Enable Prefixless Replication")
    manager.put(name, "true")
    try:
        done = pair.playbook("enable", {"kafka_dr_confirm": "P"}, expect=2)
    finally:
        manager.put(name, None)
    assert '"Enable Prefixless Replication" is on at P' in done["output"].replace('\\"', '"')


def servers(pair: Scenario, alias: str) -> str:
    return str(Lab(pair.folder, quiet=True).info()["clusters"][alias]["bootstrap_servers"])


@pytest.mark.long
def test_replicas_filled_by_another_flow_are_refused_without_advice_to_adopt(pair: Scenario) -> None:
    """R33: SRM would replicate every record a second time, and its offsets cannot be set."""
    before = {alias: site.lines() for alias, site in sites(pair).items()}
    client = {alias: admin(Lab(pair.folder, quiet=True), alias) for alias in sites(pair)}
    for alias, topic in (("P", "Payments"), ("B", "P.Payments")):
        # An enable of an earlier test that failed late has already created the original.
        if topic not in client[alias].list_topics(timeout=15).topics:
            client[alias].create_topics([NewTopic(topic, 4, 1)])[topic].result(15)
    producer = Producer({"bootstrap.servers": servers(pair, "B")})
    producer.produce("P.Payments", value="by another connector", partition=1)
    assert producer.flush(30) == 0
    try:
        done = pair.playbook("enable", {"kafka_dr_confirm": "P", "kafka_dr_adopt": {"P->B": {"source": "x"}}}, expect=2)
        assert 'cannot be used with kafka_dr_engine "srm"' in done["output"].replace('\\"', '"')
        done = pair.playbook("enable", {"kafka_dr_confirm": "P"}, expect=2)
    finally:
        client["B"].delete_topics(["P.Payments"])["P.Payments"].result(15)
    expected = " ".join(done["output"].split())
    assert "offsets_do_not_fit" in expected
    assert "P->B Payments-1" in expected
    assert "The offsets of this engine cannot be set" in expected
    assert "name it in kafka_dr_adopt" not in expected
    assert {alias: site.lines() for alias, site in sites(pair).items()} == before


# ---- enabling


class TestEnable(EnableCases):
    def test_enable_makes_flows_that_replicate(self, pair: Scenario, store: EngineStore) -> None:
        """Cloudera's documentation has P->B=true, which every MirrorMaker 2 accepts silently and ignores."""
        pasted = Site(pair, "B")
        pasted.set_lines([*pasted.lines(), "P->B=true"])
        super().test_enable_makes_flows_that_replicate(pair, store)
        text = "".join(log.read_text() for log in pair.logs.glob("*-enable.log"))
        assert 'The line "P->B" has no effect: "P->B.enabled" enables a flow.' in text
        for site in sites(pair).values():
            assert {"P->B.enabled=true", "B->P.enabled=true"} <= set(site.lines())
            assert "B->P.sync.group.offsets.enabled=false" in site.lines()
        assert "P->B=true" in Site(pair, "B").lines()  # A line from another source.
        assert "replication.factor=1" in Site(pair, "B").lines()

    def test_enabling_again_changes_nothing(self, pair: Scenario, store: EngineStore) -> None:
        super().test_enabling_again_changes_nothing(pair, store)
        paths = {alias: [row["path"] for row in site.requests()] for alias, site in sites(pair).items()}
        own = 1  # the look at its lines
        assert max(len(rows) for rows in paths.values()) <= REQUESTS + own, paths


@pytest.mark.long
def test_discover_reads_the_flows_and_finds_no_drift(pair: Scenario) -> None:
    assert drafted(pair)["kafka_dr_engine"] == "srm"


@pytest.mark.long
def test_status_reports_a_changed_site_that_was_not_restarted(pair: Scenario) -> None:
    site = Site(pair, "B")
    before = site.lines()
    site.set_lines([*before, "P->B.source.consumer.isolation.level=read_uncommitted"])
    try:
        done = pair.playbook("status", expect=None)
        assert "was changed and not restarted since" in done["output"]
        assert "Aborted records would become real ones" in done["output"]
    finally:
        site.set_lines(before)
        pair.playbook("enable", {"kafka_dr_confirm": "P"})


def readiness(pair: Scenario, **variables: Any) -> dict[str, tuple[str, str]]:
    pair.playbook("readiness", variables)
    report = json.loads((pair.reports / "readiness.json").read_text())
    return {row["name"]: (row["answer"], row["found"]) for row in report["checks"]}


@pytest.mark.long
def test_readiness_reads_the_lists_and_reports_disabled_or_stale_settings(pair: Scenario) -> None:
    found = readiness(pair)
    assert {found[name][0] for name in ("flow_carries", "back_carries", "flow_settings")} == {"YES"}, found

    declared = read_inventory(pair.inventory)["kafka_dr_srm"]
    tool = declared["B"]["command"]
    own = {**os.environ, "SECURESTOREPASS": declared["B"]["secret"]}
    command = [*tool, "topics", "--source", "P", "--target", "B", "--remove", "Payments"]
    subprocess.run(command, check=True, capture_output=True, env=own)
    answer, text = readiness(pair)["flow_carries"]
    assert (answer, text) == ("NO", 'Streams Replication Manager leaves out the topic "Payments"')

    declared["B"]["command"] = ["/nowhere/srm-control"]
    answer, text = readiness(pair, kafka_dr_srm=declared)["flow_carries"]
    assert (answer, "did not return the list topics of P->B: " in text, "/nowhere" in text) == ("UNKNOWN", True, True)

    # A setting that enable switched on is switched off manually, without a restart.
    Site(pair, "B").put("cloudera.reverse.checkpointing.enabled", "false")
    found = readiness(pair)
    assert found["flow_carries"][0] == found["flow_settings"][0] == "NO"
    assert 'reverse checkpointing ("cloudera.reverse.checkpointing.enabled") is off on B' in found["flow_carries"][1]
    assert "was changed and not restarted since" in found["flow_settings"][1]
    unwanted = read_inventory(pair.inventory)["kafka_dr_srm"]
    unwanted["B"]["reverse_checkpointing"] = "off"
    assert "reverse checkpointing" not in readiness(pair, kafka_dr_srm=unwanted)["flow_carries"][1]
    pair.playbook("enable", {"kafka_dr_confirm": "P"})
    found = readiness(pair)
    assert {found[name][0] for name in ("flow_carries", "back_carries", "flow_settings")} == {"YES"}, found


class TestMoves(MoveCases):
    def moved(self, pair: Scenario, report: dict[str, Any]) -> None:
        flow, back = ("B->P", "P->B") if report["to"] == "B" else ("P->B", "B->P")
        for site in sites(pair).values():
            lines = site.lines()
            assert {f"{flow}.sync.group.offsets.enabled=true", f"{back}.sync.group.offsets.enabled=false"} <= set(lines)
        # The flow's own offset-syncs were found, which are on its source here.
        assert any(row["anchor"] for row in report["committed_offsets"])
        assert any(row["checkpoint"] is not None for row in report["committed_offsets"])
        if report["to"] == "P":
            assert report["found_offsets"]["equal"] + report["found_offsets"]["lower"] > 0


@pytest.mark.long
def test_a_failed_restart_is_reported_with_its_reason_and_the_same_run_resumes_later(pair: Scenario) -> None:
    """Both the run and its undo need the restart: no success is claimed, and no record is lost."""
    pair.traffic(500)
    Site(pair, "B").switch(restart="failure")
    try:
        pair.playbook("failover_continuous", {"kafka_dr_confirm": "B"}, expect=2)
    finally:
        Site(pair, "B").behave()
    report = pair.report("continuous", "B")
    assert report["failure"]["error"]["code"] == "cm_command_failed"
    assert report["outcome"] == "undo_failed"
    reports = [pair.move("failover_continuous", "B"), pair.move("failback", "P")]
    assert {one["outcome"] for one in reports} == {"completed"}
    pair.traffic(500)
    harmless(counted(pair), sum(one["rereads"] for one in reports))


def surplus(pair: Scenario) -> dict[int, int]:
    """The offsets by which each partition of the replica on B is longer than its original on P, once both are idle."""

    def ends(alias: str, topic: str) -> dict[int, int]:
        found = log_ranges(Kafka(servers(pair, alias), {}, 15.0), {(topic, number) for number in range(4)})
        return {number: end for (_topic, number), (_start, end) in found.items()}

    originals, replicas = at_rest(lambda: (ends("P", "Payments"), ends("B", "P.Payments")))
    return {number: replicas[number] - originals[number] for number in originals}


@pytest.mark.long
def test_a_flow_without_a_journal_continues_where_its_replicas_end(pair: Scenario) -> None:
    """R33: SRM's own earlier flow is accepted by content. No record is repeated or left out."""
    pair.stop()
    before = surplus(pair)
    pair.playbook("disable", {"kafka_dr_confirm": "P"})
    for alias in sites(pair):
        client = admin(Lab(pair.folder, quiet=True), alias)
        for deleted in client.delete_topics([JOURNAL_TOPIC, STATE_TOPIC]).values():
            deleted.result(30)
    pair.start()
    pair.playbook("enable", {"kafka_dr_confirm": "P"})
    pair.traffic(500)
    pair.stop()
    pair.wait(lambda: surplus(pair) == before, 120, "the replica is as much longer than its original as before")
    pair.start()


class TestEnd(EndCases):
    pass
