# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Groups that a move must not overlook (R41): of types that cannot be described, outside the inventory, and on the
cluster that was left. One pair under load, in order."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from confluent_kafka import Consumer

from lab.lab import Lab
from scenario import Scenario
from snapshot import snapshot
from streams_group import streams_member

pytestmark = pytest.mark.long

TOPICS = [{"name": "Payments", "partitions": 2, "replication_factor": 1}]
CLIENTS = [
    {"name": "payments-api", "role": "producer", "rate": 200, "topics": ["Payments"]},
    {"name": "settlement", "role": "consumer", "group": "settlement"},
]
# It joins the group on the cluster that was left, and stays a member until it is ended.
COMES_BACK = """
import os, sys
from confluent_kafka import Consumer
servers, path = sys.argv[1:]
if os.fork():
    sys.exit()
os.setsid()
os.closerange(0, 3)
consumer = Consumer({"bootstrap.servers": servers, "group.id": "settlement", "client.id": "forgotten"})
consumer.subscribe(["Payments", "B.Payments"])
while not consumer.assignment():
    consumer.poll(0.1)
with open(path, "w") as file:
    file.write(str(os.getpid()))
while True:
    consumer.poll(1)
"""


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    """Applications running on P."""
    with Scenario(tmp_path_factory.mktemp("absence"), clients=CLIENTS, topics=TOPICS).up() as made:
        made.playbook("enable", {"kafka_dr_confirm": "P"})
        made.start()
        made.traffic(500)
        yield made


def servers(pair: Scenario, alias: str) -> str:
    return str(Lab(pair.folder, quiet=True).info()["clusters"][alias]["bootstrap_servers"])


@contextmanager
def visitor(pair: Scenario, alias: str, topic: str) -> Iterator[None]:
    """A member of a group that no inventory lists."""
    options = {"bootstrap.servers": servers(pair, alias), "group.id": "nightly", "client.id": "visitor"}
    consumer = Consumer({**options, "log_level": 0})
    consumer.subscribe([topic])
    try:
        while not consumer.assignment():
            consumer.poll(0.1)
        yield
    finally:
        consumer.close()


def refused(pair: Scenario, playbook: str, to: str, *texts: str, **variables: Any) -> None:
    """The playbook exits with 2 and prints ``texts``. Nothing was changed, and the applications go on."""
    before = snapshot(pair.folder, ["nightly"])
    done = pair.playbook(playbook, {"kafka_dr_confirm": to, "kafka_dr_to": to, **variables}, expect=2)
    output = " ".join(done["output"].split())
    assert [text for text in texts if text not in output] == [], output[-3000:]
    assert done["changed"] == 0
    assert snapshot(pair.folder, ["nightly"]) == before
    pair.traffic(100)


def check(report: dict[str, Any], name: str) -> dict[str, str]:
    found: dict[str, str] = next(row for row in report["checks"] if row["name"] == name)
    return found


@pytest.mark.parametrize("playbook", ["failover_cutoff", "failover_continuous"])
def test_a_move_refuses_a_group_outside_the_inventory(pair: Scenario, playbook: str) -> None:
    """Observed: the move completed without a word, and the group stayed on P without new records."""
    with visitor(pair, "P", "Payments"):
        refused(pair, playbook, "B", 'on P, or may use them: "nightly" (visitor on ', "kafka_dr_accept_undeclared")


def test_a_move_refuses_a_streams_group_in_the_inventory_or_outside_of_it(pair: Scenario) -> None:
    """Observed: it was DEAD with committed offsets, and went on committing on P after the move."""
    with streams_member(servers(pair, "P"), "totals", "Payments"):
        named = '"totals" (members unknown: not a classic or consumer group; Payments)'
        refused(pair, "failover_cutoff", "B", named)
        declared = {"kafka_dr_groups": ["settlement", {"name": "totals", "topics": ["Payments"]}]}
        for name, to in (("failover_cutoff", "B"), ("enable", "P")):
            refused(pair, name, to, "classic or consumer group", "group.protocol=classic", **declared)
        pair.playbook("readiness")
        report = json.loads((pair.reports / "readiness.json").read_text())
        found = next(row for row in report["checks"] if row["name"] == "undeclared_groups")
        assert (found["answer"], found["found"]) == ("NO", '"totals" on P (not a classic or consumer group)')


def test_an_accepted_group_stays_and_an_instance_that_comes_back_is_found(pair: Scenario) -> None:
    """Observed: an instance restarted on P after the point of no return and processed every record a second time, and
    the report called the groups PROVEN."""
    pid = pair.folder / "forgotten.pid"
    command = [sys.executable, "-c", COMES_BACK, servers(pair, "P"), str(pid)]
    hook = {"name": "an operator restarts the host", "when": "after", "phase": "arrival", "command": command}
    accepted = {"kafka_dr_accept_undeclared": ["nightly", "totals"], "kafka_dr_hooks": [hook]}
    with visitor(pair, "P", "Payments"):
        done = pair.playbook("failover_cutoff", {"kafka_dr_confirm": "B", "kafka_dr_to": "B", **accepted}, expect=None)
        pair.wait(pid.exists, 30, "the instance is a member")
    os.kill(int(pid.read_text()), signal.SIGKILL)
    report = pair.report("cutoff", "B")
    assert (done["rc"] != 0, report["outcome"], report["verdict"]) == (True, "completed", "REFUTED"), report["checks"]
    left = check(report, "departure")
    assert left["verdict"] == "REFUTED"
    assert '"settlement" has members (forgotten on ' in left["reason"]
    assert check(report, "groups")["verdict"] == "PROVEN"
    assert any(text.startswith('the group "nightly" (visitor on ') for text in report["not_checked"])
    pair.traffic(300)


def test_a_failback_refuses_such_a_group_too_and_proves_that_nothing_stayed(pair: Scenario) -> None:
    with visitor(pair, "B", "P.Payments"):
        refused(pair, "failback", "P", 'on B, or may use them: "nightly" (visitor on ')
    report = pair.move("failback", "P")
    left = check(report, "departure")
    assert (report["outcome"], left["verdict"]) == ("completed", "PROVEN"), left
    assert left["reason"].startswith("1 groups have no members on B and have committed nothing there since the barrier")
    pair.traffic(300)
