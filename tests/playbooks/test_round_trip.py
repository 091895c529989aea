# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Applications under load move to B and home again, and the ledgers count every record."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
import uuid
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from accounts import read_log
from kills import NO_RETURN, beginning, disturbed, kill_at, kill_in_phase
from scenario import Scenario, totals
from snapshot import read_inventory, snapshot

GROUPS = ["settlement", "fraud"]


def seen(scenario: Scenario) -> dict[str, Any]:
    return snapshot(scenario.folder, GROUPS)


def settled(scenario: Scenario) -> dict[str, Any]:
    """A snapshot that does not change any more: MirrorMaker 2 continues to write offsets for a while."""
    last: list[dict[str, Any]] = [seen(scenario)]

    def still() -> bool:
        time.sleep(2.5)  # Longer than the lab's checkpoint and group sync intervals together.
        last.append(seen(scenario))
        return last[-1] == last[-2]

    scenario.wait(still, 60, "two snapshots are equal")
    return last[-1]


def harmless(scenario: Scenario) -> dict[str, int]:
    """Stop the applications, compare, start them again. The counts must show no harm."""
    scenario.stop()
    counted = totals(scenario.check())
    scenario.start()
    assert counted["acknowledged"] > 0
    harm = {key: counted[key] for key in ("lost", "phantom", "processed_twice", "out_of_order", "unknown")}
    assert harm == dict.fromkeys(harm, 0)
    return counted


def test_enable_checks_then_applies_then_changes_nothing(scenario: Scenario) -> None:
    before = seen(scenario)
    checked = scenario.playbook("enable", {"kafka_dr_confirm": "P"}, ("--check", "--diff"))
    assert checked["changed"] > 0
    assert seen(scenario) == before
    plan = scenario.plan("enable")
    assert {("P", "Payments"), ("B", "Payments")} <= {(row["on"], row["name"]) for row in plan["topic"]}
    made = {row["name"]: {one["name"]: one["after"] for one in row["settings"]} for row in plan["connector"]}
    assert made["P->B.MirrorSourceConnector"]["topics"] == "Payments,heartbeats"
    assert made["P->B.MirrorCheckpointConnector"]["state"] == "RUNNING"
    assert [row["action"] for row in plan["journal"]] == ["enabled"]
    assert "would create connector P->B.MirrorSourceConnector" in " ".join(checked["output"].split())

    applied = scenario.playbook("enable", {"kafka_dr_confirm": "P"})
    assert applied["changed"] > 0
    after = seen(scenario)
    again = scenario.playbook("enable", {"kafka_dr_confirm": "P"})
    assert again["changed"] == 0
    assert seen(scenario) == after
    # R10: the group sync of MirrorMaker 2 must not write on the active cluster.
    assert after["P"]["connectors"].get("B->P.MirrorCheckpointConnector", ("STOPPED",))[0] == "STOPPED"
    assert after["B"]["connectors"]["P->B.MirrorCheckpointConnector"][0] == "RUNNING"


def test_status_shows_where_the_applications_live(enabled: Scenario) -> None:
    enabled.start()
    done = enabled.playbook("status")
    assert done["changed"] == 0
    status = json.loads((enabled.reports / "status.json").read_text())
    assert status["journal"]["active"] == "P"
    assert {flow["name"]: flow["verdict"] for flow in status["flows"]} == {"P->B": "PROVEN", "B->P": "PROVEN"}


def remembered(scenario: Scenario) -> list[dict[str, set[str]]]:
    """The topics that the groups read before each run, as the journal has them (R40)."""
    servers = read_inventory(scenario.inventory)["kafka_dr_clusters"]["P"]["bootstrap_servers"]
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "remembered", "enable.partition.eof": True})
    consumer.assign([TopicPartition("kafka-dr-journal-internal", 0, 0)])
    events: list[dict[str, Any]] = []
    try:
        while (record := consumer.poll(30)) is not None and record.error() is None:
            events.append(json.loads(record.value() or b"{}"))
    finally:
        consumer.close()
    started = [event["data"]["reads"] for event in events if event["kind"] == "started"]
    return [{group: set(topics) for group, topics in reads.items()} for reads in started]


@pytest.mark.parametrize("number", [1, 2])
def test_a_round_trip_by_cutoff_loses_and_repeats_nothing(enabled: Scenario, number: int) -> None:
    enabled.traffic(2000)
    out = enabled.move("failover_cutoff", "B")
    enabled.traffic(2000)
    home = enabled.move("failback", "P")
    enabled.traffic(2000)
    harmless(enabled)
    for report in (out, home):
        assert report["outcome"] == "completed"
        verdicts = {check["name"]: check["verdict"] for check in report["checks"]}
        assert (
            verdicts["drained"]
            == verdicts["committed_offsets"]
            == verdicts["first_write"]
            == verdicts["groups"]
            == "PROVEN"
        )
        # An unchecked part is not proven: without a fence and without the audit the whole is UNKNOWN.
        assert verdicts["fence"] == report["verdict"] == "UNKNOWN"
        assert report["rereads"] == 0
    there, back = remembered(enabled)[-2:]
    assert there == {group: {"Payments", "B.Payments"} for group in GROUPS}
    assert back == {group: {"Payments", "P.Payments"} for group in GROUPS}


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_ten_round_trips_in_a_row_leave_exactly_the_written_records(enabled: Scenario) -> None:
    """No growth, no loop: original and replica together have every record once, on each cluster."""
    enabled.start()
    for _number in range(10):
        enabled.traffic(1000)
        enabled.move("failover_cutoff", "B")
        enabled.traffic(1000)
        enabled.move("failback", "P")
    enabled.stop()
    written = totals(enabled.check())["acknowledged"]
    clusters = read_inventory(enabled.inventory)["kafka_dr_clusters"]

    def records(alias: str, other: str) -> int:
        servers = clusters[alias]["bootstrap_servers"]
        names = ("Payments", f"{other}.Payments")
        return sum(len(read_log(servers, name, number)) for name in names for number in range(enabled.partitions))

    for alias, other in (("P", "B"), ("B", "P")):
        enabled.wait(lambda alias=alias, other=other: records(alias, other) >= written, 60, f"all is on {alias}")
        assert records(alias, other) == written
    enabled.start()


def test_repeating_a_finished_cutover_changes_nothing(enabled: Scenario) -> None:
    done = enabled.playbook("failback", {"kafka_dr_confirm": "P"})
    assert done["changed"] == 0
    report = enabled.report("cutoff", "P")
    assert (report["outcome"], report["verdict"]) == ("already_there", "PROVEN")


def test_check_mode_of_every_playbook_changes_nothing(enabled: Scenario) -> None:
    enabled.stop()
    before = settled(enabled)
    confirmed = {
        "enable": "P",
        "status": "",
        "failover_cutoff": "B",
        "failover_continuous": "B",
        "failback": "P",
        "reverse_checkpoint": "B",
        "disable": "P",
    }
    would = {
        name: enabled.playbook(name, {"kafka_dr_confirm": alias}, ("--check", "--diff"))["changed"]
        for name, alias in confirmed.items()
    }
    after = seen(enabled)
    enabled.start()
    assert after == before
    assert enabled.plan("enable") == {}
    # Only disabling the flows would change something, and committing offsets that MirrorMaker 2 has not synced that
    # far.
    assert {name for name, changed in would.items() if changed} - {"reverse_checkpoint"} == {"disable"}


@pytest.mark.parametrize("bound", [{"kafka_dr_drain_timeout": 5}, {"kafka_dr_max_downtime": 15}])
def test_a_flow_that_cannot_be_drained_stops_the_run_and_everything_is_undone(
    enabled: Scenario, bound: dict[str, int]
) -> None:
    """R16: a run that fails before the point of no return undoes itself. R5: the transaction is named."""
    servers = read_inventory(enabled.inventory)["kafka_dr_clusters"]["P"]["bootstrap_servers"]
    # Open for longer than the playbook takes on a busy machine. Otherwise the broker would end it meanwhile.
    long = {"transactional.id": uuid.uuid4().hex, "transaction.timeout.ms": 600_000}
    producer = Producer({"bootstrap.servers": servers, **long})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce("Payments", b"never committed", partition=0)
    producer.flush(30)
    try:
        # Otherwise preflight refuses it.
        accepted = {"kafka_dr_confirm": "B", "kafka_dr_ready_accept": ["transactions"]}
        done = enabled.playbook("failover_cutoff", {**accepted, **bound}, expect=2)
    finally:
        producer.abort_transaction(30)
    report = enabled.report("cutoff", "B")
    assert report["outcome"] == "undone"
    message = report["failure"]["message"]
    # On a slow machine the stops alone may take so long.
    if "kafka_dr_max_downtime" not in bound or "The run exceeded kafka_dr_max_downtime" not in message:
        # By the timeout, and not by kafka_dr_stall_timeout.
        assert ("open transaction" in message, "the time-out was reached" in message) == (True, True)
    assert "back on P" in done["output"]
    enabled.traffic(1000)
    after = seen(enabled)["B"]["connectors"]
    assert after["P->B.MirrorSourceConnector"][0] == "RUNNING"


@pytest.mark.parametrize("phase", ["barrier", "start"])
def test_a_killed_run_resumes_where_it_was(enabled: Scenario, phase: str) -> None:
    enabled.traffic(1000)
    to = "B" if phase == "barrier" else "P"
    if phase == "barrier":
        kill_in_phase(enabled, phase, to)
    else:
        # Just after the event that records it.
        kill_at(enabled, NO_RETURN, "failback", {"kafka_dr_confirm": to})
        done = enabled.playbook("abandon", {"kafka_dr_confirm": "B"}, expect=2)
        assert "has passed the point of no return" in done["output"]
        assert "switchback.kafka_dr.failover_cutoff -i INVENTORY -e kafka_dr_to=P" in " ".join(done["output"].split())
        assert done["changed"] == 0
    name = "failover_cutoff" if to == "B" else "failback"
    report = enabled.move(name, to)
    assert report["outcome"] == "completed"
    enabled.traffic(1000)
    harmless(enabled)


def test_an_active_run_is_neither_joined_nor_undone(enabled: Scenario) -> None:
    """R25: only one run of a pair is active at a time."""
    enabled.traffic(1000)
    others: list[dict[str, Any]] = []

    def interfere(run: subprocess.Popen[bytes]) -> None:
        # It begins no further task meanwhile. Otherwise it may end before the others look.
        os.kill(run.pid, signal.SIGSTOP)
        try:
            for name, confirm in (("failover_cutoff", "B"), ("abandon", "P")):
                others.append(enabled.playbook(name, {"kafka_dr_confirm": confirm}, expect=2))
        finally:
            os.kill(run.pid, signal.SIGCONT)

    rc, output = disturbed(
        enabled, beginning("stop_producers"), "failover_cutoff", {"kafka_dr_confirm": "B"}, interfere
    )
    assert rc == 0, output[-2000:]
    assert "is still in progress: process" in others[0]["output"]
    assert "still in progress" in others[1]["output"] or "passed the point of no return" in others[1]["output"]
    enabled.traffic(1000)
    enabled.move("failback", "P")
    harmless(enabled)


def test_a_killed_run_is_undone(enabled: Scenario) -> None:
    enabled.traffic(1000)
    kill_in_phase(enabled, "commit_offsets", "B")
    text = enabled.playbook("status")["output"]
    assert "undo:   ansible-playbook switchback.kafka_dr.abandon -i INVENTORY -e kafka_dr_confirm=P" in text
    refused = enabled.playbook("abandon", {"kafka_dr_confirm": "B"}, expect=2)
    checked = enabled.playbook("abandon", {"kafka_dr_confirm": "P"}, options=("--check",))
    assert (refused["changed"], checked["changed"]) == (0, 0)
    done = enabled.playbook("abandon", {"kafka_dr_confirm": "P"})
    assert "undone" in done["output"]
    enabled.traffic(1000)
    assert seen(enabled)["B"]["connectors"]["P->B.MirrorSourceConnector"][0] == "RUNNING"
    again = enabled.playbook("abandon", {"kafka_dr_confirm": "P"})
    assert again["changed"] == 0
    assert "No run of the pair" in again["output"]
    harmless(enabled)


def test_a_continuous_move_loses_and_repeats_nothing(enabled: Scenario) -> None:
    enabled.traffic(2000)
    out = enabled.move("failover_continuous", "B")
    enabled.traffic(2000)
    # Killed when the consumers are on P already: the records that they read there until the run resumes count as read.
    there = {"kafka_dr_confirm": "P", "kafka_dr_type": "continuous"}
    kill_at(enabled, beginning("move_producers"), "failback", there)
    enabled.traffic(1000)
    home = enabled.move("failback", "P", kafka_dr_type="continuous")
    enabled.traffic(1000)
    enabled.stop()
    counted = totals(enabled.check())
    enabled.start()
    harm = {key: counted[key] for key in ("lost", "phantom", "unknown", "processed_twice")}
    assert harm == dict.fromkeys(harm, 0)
    # This type does not keep the order across an original and its replica.
    assert out["rereads"] == home["rereads"] == 0


def test_a_hook_that_fails_before_the_point_of_no_return_undoes_the_run(enabled: Scenario, tmp_path: Path) -> None:
    hook_log = tmp_path / "hooks.log"
    tasks = tmp_path / "tasks.yml"
    tasks.write_text(json.dumps([{"name": "Take too long", "ansible.builtin.command": {"argv": ["sleep", "30"]}}]))
    dead = tmp_path / "dead.yml"
    unreachable = {"ansible_connection": "ssh", "ansible_host": "127.0.0.1", "ansible_port": 1}
    ask = {"name": "Ask", "ansible.builtin.ping": {}, "delegate_to": "unreachable", "vars": unreachable}
    switch = {"name": "Switch", "ansible.builtin.file": {"path": str(tmp_path / "switched"), "state": "touch"}}
    dead.write_text(json.dumps([ask, switch]))
    report_command = ["sh", "-c", f'env | grep ^KAFKA_DR_ | sort | tr "\\n" " " >> {hook_log}; echo >> {hook_log}']
    start = {"when": "before", "phase": "start"}
    hooks = [
        {"name": "report", "when": "before", "phase": "run", "command": report_command},
        {"name": "busy", "when": "after", "phase": "barrier", "command": ["false"], "on_error": "go_on"},
        {
            "name": "slow",
            "when": "before",
            "phase": "start",
            "tasks_file": str(tasks),
            "timeout": 2,
            "on_error": "go_on",
        },
        {"name": "dead", **start, "tasks_file": str(dead)},
        {"name": "not reached", "when": "after", "phase": "start", "command": report_command},
        {"name": "lenient", "when": "before", "phase": "undo", "command": ["false"]},
        {"name": "outcome", "when": "after", "phase": "run", "command": report_command},
        {"name": "another type", "when": "before", "phase": "run", "types": ["disaster"], "command": report_command},
    ]
    variables = {"kafka_dr_confirm": "B", "kafka_dr_hooks": hooks}
    last = enabled.reports / "latest-move" / "report.json"
    before = last.read_bytes() if last.exists() else None
    checked = enabled.playbook("failover_cutoff", variables, ("--check",))
    assert "hook before start: slow, at most 2 s" in checked["output"]
    assert not hook_log.exists()
    assert (last.read_bytes() if last.exists() else None) == before
    _plan_of_the_check_run(enabled, checked["output"])

    enabled.start()
    enabled.traffic(500)
    done = enabled.playbook("failover_cutoff", variables, expect=2)
    report = enabled.report("cutoff", "B")
    assert report["outcome"] == "undone"
    assert "The hook dead before start failed" in report["failure"]["message"]
    assert "a host is unreachable" in report["failure"]["message"]
    assert not (tmp_path / "switched").exists()
    assert "back on P" in done["output"]
    ran = [(hook["name"], hook["failure"] is None) for hook in report["hooks"]]
    before_the_end = [("report", True), ("busy", False), ("slow", False), ("dead", False), ("lenient", False)]
    assert ran == [*before_the_end, ("outcome", True)]
    assert 2 <= report["hooks"][2]["seconds"] < 15
    assert '"false" exited with 1' in report["hooks"][1]["failure"]
    first, last = hook_log.read_text().splitlines()
    assert "KAFKA_DR_FROM=P" in first
    assert "KAFKA_DR_OUTCOME= " in first
    assert "KAFKA_DR_HOOK=outcome" in last
    assert "KAFKA_DR_OUTCOME=undone" in last
    assert f"KAFKA_DR_RUN={report['run']} " in last
    enabled.traffic(500)


def test_hooks_around_a_successful_move(enabled: Scenario, tmp_path: Path) -> None:
    hook_log = tmp_path / "hooks.log"
    tasks = tmp_path / "tasks.yml"
    moment = "{{ cutover_hook_facts.KAFKA_DR_WHEN }} {{ cutover_hook_facts.KAFKA_DR_PHASE }}"
    line = {"path": str(hook_log), "line": moment, "create": True, "mode": "0600"}
    tasks.write_text(json.dumps([{"name": "Say so", "ansible.builtin.lineinfile": line}]))
    around = [
        {"name": f"{when} {phase}", "when": when, "phase": phase, "tasks_file": str(tasks)}
        for phase in ("run", "start")
        for when in ("before", "after")
    ]
    out = enabled.move("failover_cutoff", "B", kafka_dr_hooks=around)
    assert hook_log.read_text().split("\n") == ["before run", "before start", "after start", "after run", ""]
    assert [hook["name"] for hook in out["hooks"]] == ["before run", "before start", "after start", "after run"]
    assert enabled.playbook("failover_cutoff", {"kafka_dr_confirm": "B", "kafka_dr_hooks": around})["changed"] == 0
    enabled.move("failback", "P")
    harmless(enabled)


def test_disable_only_removes_the_flows(enabled: Scenario) -> None:
    enabled.stop()
    before = settled(enabled)
    enabled.playbook("disable", {"kafka_dr_confirm": "P"})
    after = seen(enabled)
    for alias in ("P", "B"):
        assert after[alias]["connectors"] == {}
        assert after[alias]["topics"] == before[alias]["topics"]
        assert after[alias]["committed_offsets"] == before[alias]["committed_offsets"]
    assert enabled.playbook("disable", {"kafka_dr_confirm": "P"})["changed"] == 0


def _plan_of_the_check_run(enabled: Scenario, output: str) -> None:
    """Write a report of its own, and show the planned changes."""
    report = enabled.report("cutoff", "B")
    assert report["outcome"] == "checked"
    plan = report["plan"]
    producers = [step for step in plan["clients"] if step["role"] == "producer"]
    assert plan["clients"][0]["action"] == "stop"
    assert {(step["action"], step["on"]) for step in producers} == {("stop", "P"), ("start", "B")}
    assert all(step["how"] for step in plan["clients"])
    changes = {row["connector"]: (row["now"], row["then"]) for row in plan["connectors"]}
    assert changes["P->B.MirrorCheckpointConnector"] == ("RUNNING", "STOPPED")
    assert {row["group"] for row in plan["committed_offsets"]} == {"settlement", "fraud"}
    assert all(row["offset"] is not None for row in plan["committed_offsets"])
    assert f"would stop {producers[0]['client']} (producer) on {producers[0]['host']}" in " ".join(output.split())
    page = (enabled.reports / "latest" / "page.html").read_text()
    assert "What would be done" in page
