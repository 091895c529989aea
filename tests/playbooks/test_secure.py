# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A secured pair moves like an open one, and no written or shown text has a password."""

from __future__ import annotations

import json
import re
import tarfile
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import KafkaError, Producer
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    ResourcePatternType,
    ResourceType,
)

from brokers import admin
from drafts import drafted
from lab.lab import Lab
from scenario import Scenario, totals
from schemas import faults
from secured import command_lines, leaking_files, leaks
from snapshot import at_rest, end, read_inventory, snapshot
from workers import worker

pytestmark = pytest.mark.long

CLIENTS = [
    {"name": "payments-api", "role": "producer", "rate": 300},
    {"name": "refunds-api", "role": "transactional", "rate": 100},
    {"name": "settlement", "role": "consumer", "group": "settlement"},
]


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    with Scenario(tmp_path_factory.mktemp("secure"), 3, CLIENTS, secure=True, verbosity=3).up() as made:
        yield made


@pytest.fixture(scope="module")
def lab(secured: Scenario) -> Lab:
    return Lab(secured.folder, quiet=True)


@pytest.fixture(scope="module", autouse=True)
def seen(lab: Lab) -> Iterator[dict[str, set[str]]]:
    """The command lines of playbooks during the tests below, and of all programs with a secret."""
    found: dict[str, set[str]] = {"playbooks": set(), "leaks": set()}
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.1):
            lines = command_lines()
            found["playbooks"] |= {line for line in lines if "ansible-playbook" in line and str(lab.paths.root) in line}
            found["leaks"] |= set(leaks(lab, lines))

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    yield found
    over.set()
    watching.join()


def test_a_second_lab_up_changes_nothing(secured: Scenario) -> None:
    assert secured.playbook("lab_up", {**_lab(secured), "lab_fresh": False})["changed"] == 0


def _lab(secured: Scenario) -> dict[str, object]:
    topics = [{"name": "Payments", "partitions": 3, "replication_factor": 1}]
    return {"lab_dir": str(secured.folder), "lab_secure": True, "lab_topics": topics, "lab_clients": CLIENTS}


def test_enable_proves_both_flows(secured: Scenario, lab: Lab) -> None:
    done = secured.playbook("enable", {"kafka_dr_confirm": "P"})
    assert "PROVEN: applications live on P" in done["output"]
    # The most verbose run.
    assert '"invocation": {' in done["output"]
    assert leaks(lab, done["output"].splitlines()) == []
    assert secured.playbook("enable", {"kafka_dr_confirm": "P"})["changed"] == 0


def test_a_cutoff_moves_the_applications(secured: Scenario, lab: Lab) -> None:
    secured.start()
    secured.traffic(1000)
    report = secured.move("failover_cutoff", "B", kafka_dr_fence="acl")
    assert report["outcome"] == "completed"
    checks = {check["name"]: check["verdict"] for check in report["checks"]}
    assert {checks[name] for name in ("drained", "committed_offsets", "first_write", "groups", "fence")} == {"PROVEN"}
    assert refusal(lab, "P") == KafkaError.TOPIC_AUTHORIZATION_FAILED
    secured.traffic(1000)


def test_discover_reads_the_clusters_and_finds_no_drift(secured: Scenario) -> None:
    drafted(secured)


def test_a_failback_loses_nothing(secured: Scenario, lab: Lab) -> None:
    """The fence is moved to the other cluster. A run that undoes itself opens again what it had fenced."""
    report = secured.move("failback", "P")
    assert report["outcome"] == "completed"
    assert {check["verdict"] for check in report["checks"] if check["name"] == "fence"} == {"PROVEN"}
    assert refusal(lab, "B") == KafkaError.TOPIC_AUTHORIZATION_FAILED
    secured.traffic(1000)
    undone = secured.playbook("failover_cutoff", {"kafka_dr_confirm": "B", "kafka_dr_max_downtime": 2}, expect=2)
    assert "back on P" in undone["output"]
    secured.traffic(1000)
    secured.stop()
    found = totals(secured.check())
    assert found["acknowledged"] == found["processed"]
    assert {found[key] for key in ("lost", "processed_twice", "phantom", "out_of_order")} == {0}


def refusal(lab: Lab, alias: str) -> int | None:
    """The reason why the application may not write there, or None. Nothing is written while the fence holds."""
    seen: list[Any] = []
    servers = lab.info()["clusters"][alias]["bootstrap_servers"]
    login = {**lab.paths.security.client("producer"), "bootstrap.servers": servers, "log_level": 0}
    producer = Producer({**login, "message.timeout.ms": 20000})
    producer.produce("Payments", b"fence", on_delivery=lambda error, _record: seen.append(error))
    producer.flush(30)
    return seen[0].code() if seen and seen[0] else None


def test_the_audit_proves_both_clusters(secured: Scenario, lab: Lab) -> None:
    """This runs after the last write, so that a busier machine does not have more to compare."""
    secured.playbook("status")
    secured.playbook("verify")
    assert json.loads((secured.reports / "audit.json").read_text())["verdict"] == "PROVEN"


def test_a_rehearsal_is_proven_completely(secured: Scenario, lab: Lab) -> None:
    """Its own principal is fenced out. No password is passed on, and no ACL is left."""
    before = {alias: _rights(lab, alias) for alias in ("P", "B")}
    variables = {
        "kafka_dr_confirm": "B",
        "kafka_dr_rehearsal_seconds": 2,
        "kafka_dr_fence": "acl",
        "kafka_dr_audit": True,
    }
    secured.playbook("rehearse", variables)
    rehearsal = json.loads((secured.reports / "rehearsal.json").read_text())
    assert (rehearsal["outcome"], rehearsal["verdict"]) == ("completed", "PROVEN"), rehearsal["checks"]
    assert {alias: _rights(lab, alias) for alias in ("P", "B")} == before


def _rights(lab: Lab, alias: str) -> set[str]:
    """The ACLs of all principals."""
    client = admin(lab, alias)
    everything = (ResourceType.ANY, None, ResourcePatternType.ANY, None, None, AclOperation.ANY, AclPermissionType.ANY)
    return {str(acl) for acl in client.describe_acls(AclBindingFilter(*everything)).result()}


def test_no_password_is_outside_its_own_file(secured: Scenario, lab: Lab, seen: dict[str, set[str]]) -> None:
    """The lab folder has the inventory, endpoint files, the -vvv output of playbooks, logs of Kafka, reports, metrics,
    and the clusters' data: the journal, presynced offsets, and Connect's internal topics.
    """
    metrics = secured.reports / "kafka_dr.prom"
    secured.playbook("readiness", {"kafka_dr_metrics_file": str(metrics)})
    before = at_rest(lambda: snapshot(secured.folder, ["settlement"])), observations(lab)
    listed = set(secured.reports.iterdir())
    secured.playbook("support_bundle", options=("--check",))
    assert set(secured.reports.iterdir()) == listed
    about = bundle(secured)
    assert (snapshot(secured.folder, ["settlement"]), observations(lab)) == before
    assert about["missing"] == {}
    packed = {"P/journal.json", "B/connectors.json", "B/offsets.json", "status.json"}
    assert packed <= set(about["files"])
    assert any(re.fullmatch(r"reports/runs/\w+-\w+/report\.json", name) for name in about["files"])
    assert leaking_files(lab) == []
    names = {path.name for path in secured.folder.rglob("*") if path.is_file()}
    written = {
        "report.json",
        "page.html",
        "run.json",
        "index.html",
        "audit.json",
        "rehearsal.json",
        "readiness.html",
        "kafka_dr.prom",
    }
    assert written <= names
    for alias in ("P", "B"):
        reported = worker(lab, alias).call("GET", "/connectors", query="?expand=info&expand=status")
        assert len(reported) == 3
        assert leaks(lab, [json.dumps(reported)]) == []
    assert {name for name in ("enable", "failback", "readiness") if f".{name} " in " ".join(seen["playbooks"])} == {
        "enable",
        "failback",
        "readiness",
    }
    assert seen["leaks"] == set()
    assert json.loads((secured.folder / "ledger" / "clients.json").read_text())["clients"]["settlement"]["user"]


def observations(lab: Lab) -> dict[str, int]:
    """The ends of the state topics, in which readiness stores its observations."""
    servers = {alias: cluster["bootstrap_servers"] for alias, cluster in lab.info()["clusters"].items()}
    client = lab.client()
    return {alias: end({**client, "bootstrap.servers": servers[alias]}, "kafka-dr-state-internal") for alias in servers}


def bundle(secured: Scenario) -> dict[str, Any]:
    """``about.json`` of a new support bundle, which is unpacked below the lab, because an archive would hide a
    password.
    """
    before = set(secured.reports.iterdir())
    assert secured.playbook("support_bundle")["changed"] == 0
    (path,) = set(secured.reports.iterdir()) - before
    texts = {}
    with tarfile.open(path) as archive:
        for entry in archive:
            place = secured.folder / "unpacked" / entry.name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(archive.extractfile(entry).read())  # type: ignore[union-attr]
            texts[place.name] = place.read_text()
    about: dict[str, Any] = json.loads(texts["about.json"])
    assert faults(about) == []
    return about


def test_readiness_and_a_move_name_the_missing_acl(secured: Scenario, lab: Lab) -> None:
    """No other check would: as long as the applications run on P, no client is refused on B."""

    def rights() -> tuple[str, str]:
        secured.playbook("readiness")
        report = json.loads((secured.reports / "readiness.json").read_text())
        row = next(row for row in report["checks"] if row["name"] == "rights")
        return row["answer"], row["found"]

    join = _acl(ResourceType.GROUP, "settlement", AclOperation.READ, AclPermissionType.ALLOW)
    assert rights()[0] == "YES"
    _take(lab, "B", join)
    try:
        missing = "allow User:consumer from *: read group literal settlement"
        assert rights() == ("NO", missing)
        refused = secured.playbook("failover_cutoff", {"kafka_dr_confirm": "B"}, expect=2)
        output = " ".join(refused["output"].split())
        assert refused["changed"] == 0
        assert all(words in output for words in ("NO (rights)", missing, "Nothing was changed by this attempt"))
    finally:
        _give(lab, "B", join)
    assert rights()[0] == "YES"


def test_the_playbook_rights_grants_the_needed_acls_and_exact_deletes_the_rest(secured: Scenario, lab: Lab) -> None:
    join = _acl(ResourceType.GROUP, "settlement", AclOperation.READ, AclPermissionType.ALLOW)
    more = _acl(ResourceType.TOPIC, "elsewhere", AclOperation.READ, AclPermissionType.ALLOW)
    before = {alias: _rights(lab, alias) for alias in ("P", "B")}
    # A cutover has left the fence of the idle cluster.
    assert any("DENY" in right for right in before["B"])
    _take(lab, "B", join)
    _give(lab, "B", more)
    refused = secured.playbook("rights", {}, expect=2)
    assert 'wanted \\"P\\"' in refused["output"] or 'wanted "P"' in refused["output"]
    done = secured.playbook("rights", {"kafka_dr_confirm": "P"}, ("--check", "--diff"))
    assert "settlement" in done["output"]
    assert _rights(lab, "B") != before["B"]
    secured.playbook("rights", {"kafka_dr_confirm": "P"})
    assert _rights(lab, "B") > before["B"]
    secured.playbook("rights", {"kafka_dr_confirm": "P", "kafka_dr_rights": "exact"})
    assert {alias: _rights(lab, alias) for alias in ("P", "B")} == before
    assert secured.playbook("rights", {"kafka_dr_confirm": "P", "kafka_dr_rights": "exact"})["changed"] == 0


def test_a_cluster_that_refuses_the_login_is_not_taken_for_lost(secured: Scenario) -> None:
    clusters = read_inventory(secured.inventory)["kafka_dr_clusters"]
    clusters["P"]["admin_client"]["sasl.password"] = "another-word"
    done = secured.playbook("failover_disaster", {"kafka_dr_confirm": "B", "kafka_dr_clusters": clusters}, expect=2)
    assert "it is unknown whether it is lost" in " ".join(done["output"].split())
    assert done["changed"] <= 1  # The report.


# ---- missing rights of the playbooks -----


WITHHELD = [
    # Everything except this is allowed.
    ("B", ResourceType.TOPIC, "P.Payments", AclOperation.DESCRIBE),
    ("B", ResourceType.TOPIC, "P.Payments", AclOperation.READ),
    ("P", ResourceType.GROUP, "settlement", AclOperation.DESCRIBE),
    ("P", ResourceType.TOPIC, "kafka-dr-journal-internal", AclOperation.READ),
]


@pytest.fixture(scope="module")
def limited(secured: Scenario, lab: Lab) -> Iterator[dict[str, Any]]:
    """Running applications, and clusters with a login that may do everything until an operation is denied."""
    clusters: dict[str, Any] = read_inventory(secured.inventory)["kafka_dr_clusters"]
    for cluster in clusters.values():
        login = cluster["admin_client"]
        login |= {"sasl.username": "consumer", "sasl.password": login["sasl.password"].replace("'admin'", "'consumer'")}
    kinds = (ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID, ResourceType.BROKER)
    names = {ResourceType.BROKER: "kafka-cluster"}
    rights = [_acl(kind, names.get(kind, "*"), AclOperation.ALL, AclPermissionType.ALLOW) for kind in kinds]
    given = [(alias, right) for alias in clusters for right in rights]
    for alias, right in given:
        _give(lab, alias, right)
    secured.start()
    try:
        secured.traffic(200)
        secured.playbook("status", {"kafka_dr_clusters": clusters})
        yield clusters
    finally:
        for alias, right in given:
            _take(lab, alias, right)
        secured.stop()


@pytest.mark.parametrize(("alias", "kind", "name", "operation"), WITHHELD)
def test_missing_evidence_never_gives_yes(
    secured: Scenario,
    lab: Lab,
    limited: dict[str, Any],
    alias: str,
    kind: ResourceType,
    name: str,
    operation: AclOperation,
) -> None:
    """UNKNOWN, exit code 2, nothing changed; and which cluster refused which operation."""
    ban = _acl(kind, name, operation, AclPermissionType.DENY)
    _give(lab, alias, ban)
    try:
        done = secured.playbook("failover_cutoff", {"kafka_dr_confirm": "B", "kafka_dr_clusters": limited}, expect=2)
    finally:
        _take(lab, alias, ban)
    report = secured.report("cutoff", "B")
    assert (report["verdict"], report["outcome"], done["changed"]) == ("UNKNOWN", "failed", 0)
    assert name in report["failure"]["message"]
    assert f"authorization failed. Grant User:consumer {operation.name} on " in report["failure"]["message"]


def _acl(kind: ResourceType, name: str, operation: AclOperation, permission: AclPermissionType) -> AclBinding:
    return AclBinding(kind, name, ResourcePatternType.LITERAL, "User:consumer", "*", operation, permission)


def _give(lab: Lab, alias: str, acl: AclBinding) -> None:
    client = admin(lab, alias)
    for done in client.create_acls([acl]).values():
        done.result()


def _take(lab: Lab, alias: str, acl: AclBinding) -> None:
    client = admin(lab, alias)
    same = AclBindingFilter(
        acl.restype,
        acl.name,
        acl.resource_pattern_type,
        acl.principal,
        acl.host,
        acl.operation,
        acl.permission_type,
    )
    for done in client.delete_acls([same]).values():
        done.result()


def test_a_support_bundle_of_a_pair_with_a_dead_cluster_names_the_missing_parts(secured: Scenario, lab: Lab) -> None:
    # Otherwise the records that a producer cannot send while its broker is down would have to be waited for.
    secured.stop()
    for part in ("connect", "broker"):
        lab.stop("P", part)
    try:
        began = time.monotonic()
        about = bundle(secured)
        # The requests run one after another, with timeouts of 10 and 15 seconds.
        assert time.monotonic() - began < 180
    finally:
        for part in ("broker", "connect"):
            lab.start("P", part)
    assert set(about["missing"]) == {"status", "P/brokers", "P/journal", "P/connectors", "P/offsets"}
    assert {"readiness.json", "B/journal.json", "B/connectors.json"} <= set(about["files"])
    assert leaking_files(lab) == []
