# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The secured lab: authentication, ACLs, a real flow, and no password outside its own file."""

from __future__ import annotations

import json
import os
import urllib.parse
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds, wait_until
from ansible_collections.switchback.kafka_dr.plugins.modules import (
    connect_mirror,
    connect_mirror_info,
    dr_probe_info,
    kafka_acl,
    kafka_topic,
    kafka_topic_info,
)
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module
from certificates import issue
from lab.errors import LabError
from lab.lab import Lab
from lab.probes import get_json
from lab.rights import FLOW, table
from secured import Start, command_lines, leaking_files, leaks

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]

TOPIC = "secured.payments"
RECORDS = 500


def servers(lab: Lab, alias: str = "P") -> str:
    found: str = lab.info()["clusters"][alias]["bootstrap_servers"]
    return found


def client(lab: Lab, user: str, alias: str = "P") -> dict[str, Any]:
    return {**lab.client(user), "bootstrap.servers": servers(lab, alias)}


def module_params(lab: Lab, alias: str = "P", **changed: str) -> dict[str, Any]:
    return {"bootstrap_servers": servers(lab, alias), "client": {**lab.client(), **changed}, "request_timeout": 5}


def rest_params(lab: Lab, **changed: str) -> dict[str, Any]:
    client = {**lab.connect_client(), **changed}
    return {"connect_url": lab.info()["clusters"]["B"]["connect_url"], "connect_client": client, "request_timeout": 5}


def flow(lab: Lab, **more: Any) -> dict[str, Any]:
    """The parameters of connect_mirror for P->B, as in the generated inventory."""
    clusters, security = lab.info()["clusters"], lab.info()["security"]
    login = {**security["client"], "java.sasl.jaas.config": security["flow_login"]}
    ends = {
        alias: {key: clusters[alias][key] for key in ("bootstrap_servers", "cluster_id")} | {"client": login}
        for alias in ("P", "B")
    }
    return {
        "connect_url": clusters["B"]["connect_url"],
        "connect_client": lab.connect_client(),
        "source": {"alias": "P", **ends["P"]},
        "target": {"alias": "B", **ends["B"]},
        "topics": [TOPIC],
        "groups": ["secured-group"],
        "replication_factor": 1,
        "source_settings": {"refresh.topics.interval.seconds": 1},
        "wait_timeout": 60,
        **more,
    }


def answers(lab: Lab) -> list[str]:
    """Everything that the workers' REST interfaces return about connectors and tasks."""
    responses = []
    for cluster in lab.info()["clusters"].values():

        def ask(path: str, port: int = cluster["ports"][2]) -> Any:
            return get_json(port, path, lab.paths.security, timeout=20)

        found = ask("/connectors?expand=info&expand=status")
        responses.append(found)
        responses.extend(ask(f"/connectors/{urllib.parse.quote(name, safe='')}/tasks") for name in found)
    assert None not in responses
    return [json.dumps(one) for one in responses]


@pytest.fixture(scope="module")
def topic(secure_lab: Lab) -> str:
    admin = AdminClient(client(secure_lab, "admin"))
    for future in admin.create_topics([NewTopic(TOPIC, 3, 1)]).values():
        future.result(20)
    return TOPIC


def send(lab: Lab, user: str, topic: str, count: int = 1) -> KafkaError | None:
    """Write records. Return the error of the last one."""
    failed: list[KafkaError | None] = []
    producer = Producer({**client(lab, user), "log_level": 0})
    for number in range(count):
        producer.produce(topic, f"record {number}".encode(), on_delivery=lambda error, _message: failed.append(error))
    assert producer.flush(30) == 0
    return failed[-1]


# ---- the start


def test_the_secured_lab_starts_in_the_usual_time(secure_start: Start) -> None:
    assert secure_start.seconds < 120
    assert secure_start.lab.status()["running"]


def test_only_the_owner_may_read_the_folder(secure_lab: Lab) -> None:
    found = secure_lab.paths.security
    assert {path.stat().st_mode & 0o777 for path in found.folder.iterdir()} == {0o600}
    closed = (found.folder, secure_lab.paths.root / "P", secure_lab.paths.root / "B")
    assert {path.stat().st_mode & 0o777 for path in closed} == {0o700}
    assert sorted(path.name for path in found.folder.iterdir()) == [
        "ca.pem",
        "passwords.properties",
        "rest.jaas",
        "rest.properties",
        "server.p12",
        "server.pem",
    ]


def test_no_password_was_in_a_process_list_while_it_started(secure_start: Start) -> None:
    lines = secure_start.command_lines
    arguments = str(secure_start.lab.paths.security.folder / "format-P")
    assert any(f"@{arguments}" in line for line in lines), "the tool that makes the users was not even seen"
    assert leaks(secure_start.lab, lines) == []
    assert not Path(arguments).exists()


def test_no_password_is_in_the_output_of_the_lab(secure_start: Start) -> None:
    lab = secure_start.lab
    reported = [secure_start.output, json.dumps(lab.info()), json.dumps(lab.status()), lab.paths.state_file.read_text()]
    assert leaks(lab, reported) == []
    assert lab.info()["security"]["passwords"] == str(lab.paths.security.passwords)


# ---- authentication


def test_the_playbooks_user_is_authenticated(secure_lab: Lab) -> None:
    assert run_module(kafka_topic_info, {**module_params(secure_lab), "topics": ["none"]})["rc"] == 0


def test_a_wrong_password_is_one_clear_line(secure_lab: Lab) -> None:
    wrong = {"sasl.password": "not-the-password"}
    result = run_module(kafka_topic_info, {**module_params(secure_lab, **wrong), "topics": ["none"]})
    assert (result["rc"], result["error"]["code"]) == (1, "kafka_unreachable")
    assert "invalid credentials with SASL mechanism SCRAM-SHA-512" in result["msg"]
    assert "\n" not in result["msg"]
    assert "not-the-password" not in json.dumps(result)
    # A refused client knows nothing about the cluster, which may be healthy.
    asked = {**module_params(secure_lab, **wrong), "topics": ["none"], "timeout": 5}
    asked.pop("request_timeout")
    probed = run_module(dr_probe_info, asked)
    assert (probed["answers"], probed["reachable"], probed["locked_out"]) == (False, False, True), probed["reason"]


def test_a_missing_right_is_not_taken_for_a_lost_cluster(secure_lab: Lab) -> None:
    """The broker refuses, so it runs: the applications must not be started on the other cluster as well."""
    closed = [{"name": "Closed", "partitions": 1, "replication_factor": 1}]
    assert run_module(kafka_topic, {**module_params(secure_lab), "topics": closed})["rc"] == 0
    asked = {**module_params(secure_lab), "client": secure_lab.client("consumer"), "topics": ["Closed"], "timeout": 5}
    asked.pop("request_timeout")
    probed = run_module(dr_probe_info, asked)
    assert (probed["answers"], probed["locked_out"]) == (False, True), probed["reason"]
    assert "authorization failed" in probed["reason"]


def test_a_wrong_ca_is_one_clear_line(secure_lab: Lab, tmp_path: Path) -> None:
    unknown_ca = str(issue(tmp_path / "unknown").ca)
    wrong = {"ssl.ca.location": unknown_ca}
    result = run_module(kafka_topic_info, {**module_params(secure_lab, **wrong), "topics": ["none"]})
    assert (result["rc"], result["error"]["code"]) == (1, "kafka_unreachable")
    assert f"{servers(secure_lab)}: " in result["msg"]
    assert "certificate" in result["msg"]
    assert "\n" not in result["msg"]
    result = run_module(connect_mirror_info, rest_params(secure_lab, ca_path=unknown_ca))
    assert (result["rc"], result["error"]["code"]) == (1, "connect_tls")
    assert "certificate verify failed" in result["msg"]


def test_a_worker_requires_a_user_and_a_password(secure_lab: Lab) -> None:
    assert run_module(connect_mirror_info, rest_params(secure_lab))["rc"] == 0
    without_user = rest_params(secure_lab)
    without_user["connect_client"] = {"ca_path": without_user["connect_client"]["ca_path"]}
    # A user of Kafka is not a user of the worker.
    admin = {"url_username": "admin", "url_password": secure_lab.paths.security.password("admin")}
    for params in (
        without_user,
        rest_params(secure_lab, url_password="not-the-password"),
        rest_params(secure_lab, **admin),
    ):
        result = run_module(connect_mirror_info, params)
        assert (result["rc"], result["error"]["code"]) == (1, "connect_not_authorized"), result["msg"]
        assert "401" in result["msg"]
        assert leaks(secure_lab, [json.dumps(result)]) == []


def test_no_client_is_accepted_without_tls_and_a_user(secure_lab: Lab) -> None:
    params = {**module_params(secure_lab), "client": {"security.protocol": "PLAINTEXT"}, "topics": ["none"]}
    assert run_module(kafka_topic_info, params)["error"]["code"] == "kafka_unreachable"


# ---- authorization -


def test_an_application_has_no_right_until_an_acl_grants_one(secure_lab: Lab, topic: str) -> None:
    error = send(secure_lab, "producer", topic)
    assert error is not None
    assert error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED
    assert denied(secure_lab.paths.root / "logs" / "P-broker.log", "User:producer"), "the broker writes refusals down"
    right = {"principal": "User:producer", "operation": "write", "resource_type": "topic", "name": topic}
    assert run_module(kafka_acl, {**module_params(secure_lab), "acls": [right]})["changed"]
    assert send(secure_lab, "producer", topic) is None
    assert run_module(kafka_acl, {**module_params(secure_lab), "acls": [right], "state": "absent"})["changed"]


def test_an_application_may_not_read_other_topics(secure_lab: Lab, topic: str) -> None:
    reader = Consumer({**client(secure_lab, "consumer"), "group.id": "secured", "log_level": 0})
    try:
        reader.assign([TopicPartition(topic, 0, 0)])
        answer = wait_until(lambda: reader.poll(1), lambda found: found is not None, Bounds(20.0, 0.0)).state
        assert answer is not None
        refusals = (KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.GROUP_AUTHORIZATION_FAILED)
        assert answer.error().code() in refusals
    finally:
        reader.close()


def test_the_flow_has_the_rights_of_the_table_and_no_others(secure_lab: Lab) -> None:
    for alias, other in (("P", "B"), ("B", "P")):
        result = run_module(kafka_acl, {**module_params(secure_lab, alias), "principals": [FLOW]})
        found = {(acl["resource_type"], acl["pattern_type"], acl["name"], acl["operation"]) for acl in result["acls"]}
        wanted = {(kind.lower(), how.lower(), name, what.lower()) for kind, how, name, what in table(alias, other)}
        assert found == wanted


# ---- a real flow


def test_mirrormaker_2_replicates_and_its_connectors_only_have_references(secure_lab: Lab, topic: str) -> None:
    before = AdminClient(client(secure_lab, "admin")).list_topics(timeout=20).topics
    assert topic in before
    assert send(secure_lab, "admin", topic, RECORDS) is None
    result = run_module(connect_mirror, flow(secure_lab, state="running"))
    assert result["rc"] == 0, result["msg"]
    assert run_module(connect_mirror, flow(secure_lab, state="running"))["changed"] is False
    try:
        wanted = ends(secure_lab, "P", topic)
        bounds = Bounds(60.0, 0.25)
        waited = wait_until(lambda: ends(secure_lab, "B", f"P.{topic}"), lambda found: found == wanted, bounds)
        assert waited.done, f"wanted {wanted}, found {waited.state}"
        reported = answers(secure_lab)
        assert any(f"{secure_lab.paths.security.passwords}:flow}}" in text for text in reported)
        assert leaks(secure_lab, [*reported, json.dumps(result), *command_lines()]) == []
        assert leaking_files(secure_lab) == [], "logs, configurations and the topics of Kafka Connect among them"
        refused = [line for path in secure_lab.paths.root.glob("logs/*.log") for line in denied(path, "User:flow")]
        assert refused == []
    finally:
        run_module(connect_mirror, flow(secure_lab, state="absent"))


def ends(lab: Lab, alias: str, topic: str) -> list[int]:
    """The log ends of the three partitions, or zeros while the topic does not exist."""
    reader = Consumer({**client(lab, "admin", alias), "group.id": "secured-look", "log_level": 0})
    try:
        return [reader.get_watermark_offsets(TopicPartition(topic, number), timeout=20)[1] for number in range(3)]
    except KafkaException:
        return [0, 0, 0]
    finally:
        reader.close()


def denied(log: Path, principal: str) -> list[str]:
    """The requests that the authorizer refused, as the broker logs them."""
    lines = log.read_text(errors="replace").splitlines()
    return [line[:300] for line in lines if f"Principal = {principal} is Denied" in line]


# ---- again


def test_the_lab_restarts_unchanged_even_without_lab_json(secure_lab: Lab, topic: str) -> None:
    before, rights = ends(secure_lab, "P", topic), flow_rights(secure_lab)
    kept = secure_lab.paths.security.passwords.read_text()
    assert len(secure_lab.down()) == 4
    secure_lab.paths.state_file.unlink()
    assert len(Lab(secure_lab.paths.root, quiet=True).up()) == 4
    assert secure_lab.paths.security.passwords.read_text() == kept
    assert secure_lab.info()["settings"]["secure"] is True
    assert (ends(secure_lab, "P", topic), flow_rights(secure_lab)) == (before, rights)
    assert leaking_files(secure_lab) == []


def flow_rights(lab: Lab) -> list[dict[str, str]]:
    found: list[dict[str, str]] = run_module(kafka_acl, {**module_params(lab), "principals": [FLOW]})["acls"]
    return found


def test_a_secured_lab_cannot_be_started_as_an_open_one(secure_lab: Lab) -> None:
    with pytest.raises(LabError, match="was created secured, wanted open"):
        Lab(secure_lab.paths.root, secure=False, quiet=True).up()
    assert secure_lab.status()["running"]


def test_a_client_of_the_ledger_only_needs_the_passwords_file(secure_lab: Lab, tmp_path: Path) -> None:
    from ledger.definition import define

    options = {"role": "producer", "endpoint_file": "x", "user": "producer"}
    reported = define("api", {**options, "password_file": str(secure_lab.paths.security.passwords)}).login()
    assert reported == {key: secure_lab.client("producer")[key] for key in ("sasl.username", "sasl.password")}
    assert os.access(secure_lab.paths.security.passwords, os.R_OK)
