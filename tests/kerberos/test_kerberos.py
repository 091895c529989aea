# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Modules, Connect and Spark against brokers that require a ticket of a real KDC.

The tests run in order: a module creates the topic, MirrorMaker 2 replicates it, Spark proves the copy.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.audit_plan import cluster_part
from audits import run_audit
from kerberized import OPERATOR, WORKER, Kerberized
from lab.processes import wait_until

pytestmark = pytest.mark.timeout(600)

ROOT = Path(__file__).resolve().parents[2]
MODULES = "ansible_collections.switchback.kafka_dr.plugins.modules"
TOPIC, PARTITIONS, RECORDS = "payments", 3, 300


def run(
    folder: Path, module: str, params: dict[str, Any], python: str = sys.executable, **environment: str
) -> dict[str, Any]:
    """The output of a module that runs as a process of its own, as under Ansible."""
    arguments = folder / "arguments.json"
    arguments.write_text(json.dumps({"ANSIBLE_MODULE_ARGS": params}))
    own = {**os.environ, "PYTHONPATH": str(ROOT / "build" / "collections"), **environment}
    command = [python, "-m", f"{MODULES}.{module}", str(arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=own, timeout=120, check=False)
    assert done.stdout.strip(), done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def side(clusters: Kerberized, alias: str, principal: str = OPERATOR) -> dict[str, Any]:
    return {"bootstrap_servers": clusters.servers(alias), "client": clusters.client(principal)}


def cached(clusters: Kerberized) -> dict[str, Any]:
    """The options of a client that uses an existing ticket."""
    without = {"sasl.kerberos.keytab", "sasl.kerberos.principal"}
    client = {name: value for name, value in clusters.client().items() if name not in without}
    client["sasl.kerberos.min.time.before.relogin"] = "0"
    return {"bootstrap_servers": clusters.servers("P"), "client": client}


def records(clusters: Kerberized, alias: str, topic: str) -> int:
    """The sum of the log ends of a topic, or 0 as long as it does not exist."""
    admin = AdminClient(clusters.rdkafka(alias))
    if topic not in admin.list_topics(timeout=30).topics:
        return 0
    asked = {TopicPartition(topic, number): OffsetSpec.latest() for number in range(PARTITIONS)}
    return sum(future.result().offset for future in admin.list_offsets(asked).values())


# ---- modules -----------------------------------------------------------------------------------------------------


def test_modules_create_and_read_a_topic(clusters: Kerberized, tmp_path: Path) -> None:
    wanted = {"name": TOPIC, "partitions": PARTITIONS, "replication_factor": 1}
    made = run(tmp_path, "kafka_topic", {**side(clusters, "P"), "topics": [wanted]})
    assert [(change["name"], change["status"]) for change in made["changes"]] == [(TOPIC, "done")], made
    seen = run(tmp_path, "kafka_topic_info", {**side(clusters, "P"), "topics": [TOPIC]})
    assert seen["topics"][0]["partitions"] == PARTITIONS


def test_an_existing_ticket_is_enough(clusters: Kerberized, tmp_path: Path) -> None:
    """A job got it before: no keytab, no kinit."""
    cache = tmp_path / "ticket"
    assert clusters.realm.ticket(OPERATOR, cache).returncode == 0
    seen = run(tmp_path, "kafka_topic_info", {**cached(clusters), "topics": [TOPIC]}, KRB5CCNAME=f"FILE:{cache}")
    assert seen["topics"][0]["name"] == TOPIC, seen


def test_an_expired_ticket_is_reported(clusters: Kerberized, tmp_path: Path) -> None:
    cache = tmp_path / "ticket"
    assert clusters.realm.ticket(OPERATOR, cache, "-l", "1s").returncode == 0
    assert wait_until(lambda: not clusters.realm.has_ticket(cache), 10.0)
    output = run(tmp_path, "kafka_topic_info", {**cached(clusters), "request_timeout": 8}, KRB5CCNAME=f"FILE:{cache}")
    assert (output["failed"], output["error"]["code"]) == (True, "kafka_unreachable"), output
    assert "Kerberos: Ticket expired" in output["msg"]


def test_without_a_keytab_or_a_ticket_option_the_error_has_a_next_step(clusters: Kerberized, tmp_path: Path) -> None:
    params = cached(clusters)
    del params["client"]["sasl.kerberos.min.time.before.relogin"]
    output = run(tmp_path, "kafka_topic_info", params)
    assert (output["failed"], output["error"]["code"]) == (True, "kafka_error"), output
    assert "sasl.kerberos.min.time.before.relogin: 0" in output["msg"]


def test_the_wheel_reports_that_it_has_no_kerberos(clusters: Kerberized, wheel: str, tmp_path: Path) -> None:
    output = run(tmp_path, "kafka_topic_info", side(clusters, "P"), wheel)
    assert (output["failed"], output["error"]["code"]) == (True, "kerberos_missing"), output
    assert "docs/kerberos.md" in output["msg"]


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no ticket": ({"sasl.kerberos.min.time.before.relogin": 0}, "No Kerberos credentials available"),
    "no such keytab": ({"sasl.kerberos.keytab": "/nonexistent"}, "No Kerberos credentials available"),
    "a principal that is not in the keytab": ({"sasl.kerberos.principal": WORKER}, "No Kerberos credentials available"),
    "another service": (
        {"sasl.kerberos.service.name": "elsewhere"},
        "Server elsewhere/localhost@KAFKA-DR.TEST not found in Kerberos database",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_each_ticket_problem_is_reported_in_one_line(clusters: Kerberized, tmp_path: Path, name: str) -> None:
    change, text = WRONG[name]
    params = side(clusters, "P")
    params["client"] |= change
    output = run(tmp_path, "kafka_topic_info", {**params, "request_timeout": 8}, KRB5CCNAME=f"FILE:{tmp_path / 'none'}")
    assert (output["failed"], output["error"]["code"]) == (True, "kafka_unreachable"), output
    assert f"Kerberos: {text}" in output["msg"]
    assert "docs/kerberos.md" in output["msg"]
    assert "\n" not in output["msg"]


# ---- Connect -----------------------------------------------------------------------------------------------------


def test_connect_replicates_between_the_clusters(clusters: Kerberized, tmp_path: Path) -> None:
    """The worker authenticates with its keytab, and so do the clients of its connectors."""
    producer = Producer(clusters.rdkafka("P"))
    for number in range(RECORDS):
        producer.produce(TOPIC, b"%d" % number, partition=number % PARTITIONS)
    assert producer.flush(60) == 0
    flow = {
        "connect_url": clusters.clusters["B"].connect_url,
        **{
            kind: {"alias": alias, **side(clusters, alias, WORKER), "cluster_id": clusters.clusters[alias].cluster_id}
            for kind, alias in (("source", "P"), ("target", "B"))
        },
        "topics": [TOPIC],
        "replication_factor": 1,
        "wait_timeout": 120,
    }
    done = run(tmp_path, "connect_mirror", flow)
    assert {connector["state"] for connector in done.get("connectors", [])} == {"RUNNING"}, done
    assert wait_until(lambda: records(clusters, "B", f"P.{TOPIC}") >= RECORDS, 120.0, 0.5)
    asked = {"connect_url": flow["connect_url"], "source_alias": "P", "parts": ["source"], "wait_for": "running"}
    seen = run(tmp_path, "connect_mirror_info", asked)
    assert [task["state"] for task in seen["connectors"][0]["tasks"]] == ["RUNNING"] * PARTITIONS


# ---- Spark -------------------------------------------------------------------------------------------------------


def audit(clusters: Kerberized, folder: Path, principal: str = OPERATOR) -> tuple[int, str, dict[str, Any]]:
    """The exit code, the last line of output and the result, with the configuration of the role `verify`."""
    parts: dict[str, Any] = {}
    environment: dict[str, str] = {}
    for alias in ("P", "B"):
        part, secrets = cluster_part(alias, side(clusters, alias, principal), clusters.clusters[alias].cluster_id)
        parts[alias] = part
        environment |= secrets
    every = {"start": None, "end": None}
    topic = {
        "name": TOPIC,
        "source": {"cluster": "P", "topic": TOPIC},
        "target": {"cluster": "B", "topic": f"P.{TOPIC}"},
        "mode": "complete",
        "partitions": [{"partition": number, "source": every, "target": every} for number in range(PARTITIONS)],
    }
    document = {
        "schema": "switchback.kafka_dr/audit-plan/2",
        "run": "none",
        "pair": "B-P",
        "clusters": parts,
        "topics": [topic],
    }
    (folder / "plan.json").write_text(json.dumps(document))
    java = f"spark.driver.defaultJavaOptions={' '.join(clusters.realm.java_options)}"
    done = run_audit(folder / "plan.json", folder / "out", "--conf", java, environment=environment)
    output = [line for line in (done.stderr + done.stdout).splitlines() if not line.startswith(("audit ", "WARNING"))]
    result = folder / "out" / "audit.json"
    return done.returncode, "\n".join(output), json.loads(result.read_text()) if result.exists() else {}


def test_spark_proves_the_copy(clusters: Kerberized, tmp_path: Path) -> None:
    code, output, result = audit(clusters, tmp_path)
    assert (code, result.get("verdict")) == (0, "PROVEN"), output
    assert result["records"] == {"source": RECORDS, "target": RECORDS}


def test_spark_without_a_keytab_ends_with_one_line(clusters: Kerberized, tmp_path: Path) -> None:
    code, output, _result = audit(clusters, tmp_path, "unknown")
    assert code == 2, output
    assert "Cluster P" in output
    assert len(output.splitlines()) == 1, output
