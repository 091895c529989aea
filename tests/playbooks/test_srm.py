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
from disasters import forgotten
from drafts import drafted
from kills import kill_in_phase
from lab.lab import Lab
from lagging import slow
from managers import Site, sites
from scenario import Scenario, totals
from snapshot import at_rest, read_inventory

CLIENTS = [
    {"name": "payments-api", "role": "producer", "rate": 500},
    {"name": "settlement", "role": "consumer", "group": "settlement"},
    {"name": "fraud", "role": "consumer", "group": "fraud"},
]
REQUESTS = 12


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    """A pair before any configuration. Each test continues where the one before ended."""
    with Scenario(tmp_path_factory.mktemp("srm"), partitions=4, clients=CLIENTS, engine="srm").up() as made:
        yield made


# ---- invalid configurations -


BAD: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    # The site's answer, variables of the run, the message.
    ({"runtime": "7.3.1"}, {"reverse": "required"}, 'it needs Runtime 7.3.2, found "7.3.1'),
    ({}, {"service": "srm"}, 'There is no service "srm" in cluster "Cluster 1". Services there:'),
    ({}, {"cluster": "Cluster 7"}, 'There is no cluster "Cluster 7"'),
    ({}, {"client": {"url_username": "admin", "url_password": "wrong"}}, "refused these credentials"),
    ({}, {"client": {"url_username": "reader", "url_password": "admin"}}, "403"),
    ({"faults": [{"kind": "login_page", "times": None}]}, {}, "HTML"),
]


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


def test_passwords_are_not_printed_if_a_task_fails(pair: Scenario) -> None:
    """Ansible prints the variable of a loop after the module has masked its own result."""
    declared = read_inventory(pair.inventory)["kafka_dr_srm"]
    declared["B"]["client"]["url_password"] = "not-the-right-one"
    done = pair.playbook("enable", {"kafka_dr_confirm": "P", "kafka_dr_srm": declared}, ("-vv",), expect=2)
    assert "refused these credentials" in done["output"]
    assert "not-the-right-one" not in done["output"]
    assert "lab-secure-store" not in done["output"]


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


def test_check_mode_shows_each_line_that_enable_would_write_and_writes_nothing(pair: Scenario) -> None:
    before = {alias: site.lines() for alias, site in sites(pair).items()}
    for site in sites(pair).values():
        site.forget()
    done = pair.playbook("enable", {"kafka_dr_confirm": "P"}, ("--check", "--diff"))
    assert "P->B.enabled" in done["output"]
    assert done["changed"] > 0
    assert {alias: site.lines() for alias, site in sites(pair).items()} == before
    assert {row["method"] for site in sites(pair).values() for row in site.requests()} == {"GET"}


def test_enable_explains_a_line_from_the_documentation_and_writes_the_effective_one(pair: Scenario) -> None:
    """Cloudera's documentation has P->B=true, which every MirrorMaker 2 accepts silently and ignores."""
    pasted = Site(pair, "B")
    pasted.set_lines([*pasted.lines(), "P->B=true"])
    done = pair.playbook("enable", {"kafka_dr_confirm": "P"})
    assert 'The line "P->B" has no effect: "P->B.enabled" enables a flow.' in done["output"]
    for site in sites(pair).values():
        assert {"P->B.enabled=true", "B->P.enabled=true"} <= set(site.lines())
        assert "B->P.sync.group.offsets.enabled=false" in site.lines()
    assert "P->B=true" in Site(pair, "B").lines()  # A line from another source.
    assert "replication.factor=1" in Site(pair, "B").lines()
    pair.start()
    pair.traffic(1000)


def test_enabling_again_changes_nothing_and_sends_few_requests(pair: Scenario) -> None:
    for site in sites(pair).values():
        site.forget()
    done = pair.playbook("enable", {"kafka_dr_confirm": "P"})
    assert done["changed"] == 0
    asked = {alias: site.requests() for alias, site in sites(pair).items()}
    assert {row["method"] for rows in asked.values() for row in rows} == {"GET"}
    counts = {alias: len(rows) for alias, rows in asked.items()}
    assert max(counts.values()) <= REQUESTS, {alias: [row["path"] for row in rows] for alias, rows in asked.items()}
    print(f"enable again: {done['seconds']:.1f} s, requests {counts}")


def test_discover_reads_the_flows_and_finds_no_drift(pair: Scenario) -> None:
    assert drafted(pair)["kafka_dr_engine"] == "srm"


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


# ---- moving


def counted(pair: Scenario) -> dict[str, int]:
    pair.stop()
    found = totals(pair.check())
    pair.start()
    return found


def harmless(found: dict[str, int], rereads: int) -> None:
    harm = {key: found[key] for key in ("lost", "phantom", "unknown")}
    assert harm == dict.fromkeys(harm, 0)
    assert found["processed_twice"] <= rereads


def test_a_lagging_group_moves_there_and_back(pair: Scenario) -> None:
    """No record is skipped or read again; with SRM's own offsets, records would be read again."""
    slow(pair, "settlement", 50)
    reports = []
    for playbook, to in (("failover_cutoff", "B"), ("failback", "P")):
        lag_wanted = 2000 + 2000 * len(reports)
        pair.wait(
            lambda lag_wanted=lag_wanted: pair.count("acknowledged") - pair.slowest_reader() > lag_wanted,
            120,
            "it falls behind",
        )
        reports.append(pair.move(playbook, to, kafka_dr_drain_groups_timeout=1))
        for site in sites(pair).values():
            assert f"{'B->P' if to == 'B' else 'P->B'}.sync.group.offsets.enabled=true" in site.lines()
            assert f"{'P->B' if to == 'B' else 'B->P'}.sync.group.offsets.enabled=false" in site.lines()
    slow(pair, "settlement", None)
    pair.wait(lambda: pair.count("acknowledged") - pair.slowest_reader() < 1500, 240, "it catches up")
    for report in reports:
        verdicts = {check["name"]: check["verdict"] for check in report["checks"]}
        assert {verdicts[name] for name in ("drained", "committed_offsets", "first_write", "groups")} == {"PROVEN"}
        assert report["rereads"] == 0
        assert report["found_offsets"]["higher"] == 0
    harmless(counted(pair), sum(report["rereads"] for report in reports))
    assert reports[1]["found_offsets"]["equal"] + reports[1]["found_offsets"]["lower"] > 0
    # The flow's own offset-syncs were found, which are on its source here.
    assert any(row["anchor"] for report in reports for row in report["committed_offsets"])
    assert any(row["checkpoint"] is not None for report in reports for row in report["committed_offsets"])


def test_offsets_are_presynced_on_the_other_cluster(pair: Scenario) -> None:
    pair.traffic(500)
    pair.playbook("reverse_checkpoint", {"kafka_dr_confirm": "B"})
    report = json.loads((pair.reports / "checkpoint-B.json").read_text())
    assert report["outcome"] == "done"
    assert {row["quality"] for row in report["committed_offsets"]} == {"exact"}


def test_a_continuous_move_there_and_back(pair: Scenario) -> None:
    reports = []
    for playbook, to in (("failover_continuous", "B"), ("failback", "P")):
        pair.traffic(1000)
        reports.append(pair.move(playbook, to, **({"kafka_dr_type": "continuous"} if to == "P" else {})))
        assert reports[-1]["outcome"] == "completed"
    pair.traffic(1000)
    harmless(counted(pair), sum(report["rereads"] for report in reports))


def test_a_run_that_was_killed_at_the_barrier_resumes(pair: Scenario) -> None:
    """The site is stopped then. The second run starts it again, without group sync."""
    pair.traffic(500)
    kill_in_phase(pair, "commit_offsets", "B")
    assert pair.move("failover_cutoff", "B")["outcome"] == "completed"
    pair.traffic(500)
    assert pair.move("failback", "P")["outcome"] == "completed"
    pair.traffic(500)
    harmless(counted(pair), 0)


def test_a_failed_restart_is_reported_with_its_reason_and_the_same_run_resumes_later(pair: Scenario) -> None:
    """Both the run and its undo need the restart: no success is claimed, and no record is lost."""
    pair.traffic(500)
    Site(pair, "B").switch(restart="failure")
    try:
        pair.playbook("failover_continuous", {"kafka_dr_confirm": "B"}, expect=2)
    finally:
        Site(pair, "B").behave()
    report = json.loads((pair.reports / "continuous-B.json").read_text())
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


@pytest.mark.soak
def test_a_lost_cluster_is_left_and_comes_back_with_its_unreplicated_records(pair: Scenario) -> None:
    """P and its Cloudera Manager are unreachable. When they are back, the flow replicates the tail itself."""
    pair.traffic(500)
    lab = Lab(pair.folder)
    for part in ("cm", "connect", "broker"):
        lab.kill("P", part)
    before = sites(pair)["B"].lines()
    shown = pair.playbook("failover_disaster", {"kafka_dr_confirm": "B"}, options=("--check",))
    assert "may be lost" in shown["output"] or "at least" in shown["output"]
    assert sites(pair)["B"].lines() == before
    report = pair.move("failover_disaster", "B")
    assert (report["outcome"], report["verdict"]) == ("completed", "UNKNOWN")
    assert {check["name"]: check["verdict"] for check in report["checks"]}["committed_offsets"] == "PROVEN"
    assert {"P->B.enabled=false", "P->B.sync.group.offsets.enabled=false"} <= set(sites(pair)["B"].lines())
    assert pair.move("failover_disaster", "B")["outcome"] == "already_there"
    pair.traffic(500)
    for part in ("broker", "connect", "cm"):
        lab.start("P", part)
    pair.playbook("enable", {"kafka_dr_confirm": "P"})
    forgotten(pair)
    assert pair.move("failback", "P")["outcome"] == "completed"
    pair.traffic(500)
    found = counted(pair)
    assert (found["lost"], found["phantom"]) == (0, 0)


def test_disable_ends_both_flows(pair: Scenario) -> None:
    pair.stop()
    pair.playbook("disable", {"kafka_dr_confirm": "P"})
    for site in sites(pair).values():
        assert {"P->B.enabled=false", "B->P.enabled=false"} <= set(site.lines())
    assert pair.playbook("disable", {"kafka_dr_confirm": "P"})["changed"] <= 1
