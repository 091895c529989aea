# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The text files of the secured lab: references replace passwords, and an open lab is unchanged."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from lab import aiven, secure
from lab.configs import Cluster, Settings, broker, connect, properties, render, worker_group
from lab.errors import LabError
from lab.java import java_arguments
from lab.lab import Lab
from lab.layout import layout, new_clusters, state_document
from lab.rights import table

CLUSTER = Cluster("P", Path("/srv/lab/P"), "abcdefghijklmnopqrstuv", 11001, 11002, 11003)
SECURED = Settings(secure=True)


def parsed(part: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in render(CLUSTER, part, SECURED).splitlines())


def test_the_configuration_of_an_open_lab_is_unchanged() -> None:
    assert render(CLUSTER, "broker", Settings()) == properties(broker(CLUSTER))
    assert render(CLUSTER, "connect", Settings()) == properties(connect(CLUSTER, Settings()))
    assert not [line for line in render(CLUSTER, "broker", Settings()).splitlines() if "sasl" in line.lower()]


def test_no_listener_of_a_secured_lab_is_open() -> None:
    values = parsed("broker")
    assert values["listeners"] == "SASL_SSL://127.0.0.1:11001,CONTROLLER://127.0.0.1:11002"
    assert values["advertised.listeners"] == "SASL_SSL://127.0.0.1:11001"
    assert values["listener.security.protocol.map"] == "CONTROLLER:SASL_SSL,SASL_SSL:SASL_SSL"
    assert values["inter.broker.listener.name"] == "SASL_SSL"
    assert values["super.users"] == "User:broker;User:admin"
    assert "allow.everyone.if.no.acl.found" not in values


def test_a_worker_requires_a_user_over_tls() -> None:
    cluster = dataclasses.replace(CLUSTER, secure=True)
    values = dict(line.split("=", 1) for line in render(cluster, "connect", SECURED).splitlines())
    assert values["listeners"] == "https://127.0.0.1:11003"
    assert values["rest.extension.classes"].endswith("BasicAuthSecurityRestExtension")
    password = values["listeners.https.ssl.keystore.password"]
    assert password == "${file:/srv/lab/secure/passwords.properties:keystore}"


@pytest.mark.parametrize("part", ["broker", "connect"])
def test_every_password_is_a_reference_to_the_one_file(part: str) -> None:
    lines = [value for key, value in parsed(part).items() if key.endswith("jaas.config")]
    assert lines
    words = [word for line in lines for word in line.rstrip(";").split() if word.startswith(("password=", "user_"))]
    assert {word.split("=", 1)[1].rpartition(":")[0] for word in words} == {
        '"${file:/srv/lab/secure/passwords.properties'
    }
    assert parsed(part)["config.providers.file.param.allowed.paths"] == "/srv/lab/secure"


def test_the_worker_has_credentials_for_each_of_its_clients() -> None:
    values = parsed("connect")
    for key in ("security.protocol", "sasl.mechanism", "sasl.jaas.config", "ssl.truststore.location"):
        assert len({values[prefix + key] for prefix in ("", "producer.", "consumer.", "admin.")}) == 1
    assert 'username="flow"' in values["sasl.jaas.config"]


def test_certificates_and_passwords_are_created_once_and_only_their_owner_can_read_them(tmp_path: Path) -> None:
    made = secure.security(tmp_path)
    secure.make(made)
    texts = {path.name: path.read_text("latin-1") for path in made.folder.iterdir()}
    assert set(texts) == {"ca.pem", "server.pem", "server.p12", "passwords.properties", "rest.properties", "rest.jaas"}
    assert made.folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in made.folder.iterdir()} == {0o600}
    assert len({made.password(user) for user in secure.USERS}) == len(secure.USERS)
    secure.make(made)
    assert {path.name: path.read_text("latin-1") for path in made.folder.iterdir()} == texts
    assert "PRIVATE KEY" not in texts["ca.pem"]
    assert len(set(made.secrets())) == len(secure.USERS) + 2
    for secret in made.secrets():
        assert secret not in made.masked(f"tool: bad option {secret}")
    # A user who may log in to Kafka may not log in to a worker.
    assert texts["rest.properties"] == f"{secure.REST_USER}={made.password(secure.REST_USER)}\n"
    assert secure.REST_USER not in texts["passwords.properties"]
    with pytest.raises(LabError, match="has no user 'unknown'"):
        made.password("unknown")


def test_an_interrupted_creation_starts_again(tmp_path: Path) -> None:
    made = secure.security(tmp_path)
    made.folder.mkdir()
    (made.folder / "ca.pem").write_text("half")
    secure.make(made)
    assert "END CERTIFICATE" in made.ca.read_text()


def test_without_openssl_the_error_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LabError, match="needs openssl"):
        secure.make(secure.security(tmp_path))
    assert not secure.security(tmp_path).exists


def test_lab_json_only_has_the_path_of_the_passwords(tmp_path: Path) -> None:
    paths = layout(tmp_path)
    secure.make(paths.security)
    clusters = new_clusters(paths, SECURED)
    document = state_document(paths, clusters, SECURED, dict.fromkeys(paths.parts()))
    assert document["security"]["passwords"] == str(paths.security.passwords)
    assert document["clusters"]["P"]["connect_url"].startswith("https://")
    assert not [secret for secret in paths.security.secrets() if secret in str(document)]
    assert "security" not in state_document(paths, clusters, Settings(), dict.fromkeys(paths.parts()))


def test_the_emulator_of_aiven_gets_the_path_of_the_passwords_and_references_to_them(tmp_path: Path) -> None:
    paths, settings = layout(tmp_path), dataclasses.replace(SECURED, engine="aiven")
    secure.make(paths.security)
    clusters = new_clusters(paths, settings)
    text = aiven.document(clusters["P"], clusters, settings)
    document = json.loads(text)
    assert (document["lab"], document["kafka_service"]) == (str(tmp_path), "kafka-p")
    for side in ("source", "target"):
        assert document["more"][f"{side}.cluster.sasl.jaas.config"] == paths.security.scram_login("flow")
    assert not [secret for secret in paths.security.secrets() if secret in text]
    assert aiven.access(clusters["P"])["kafka_service"] == "kafka-p"
    assert worker_group(clusters["P"], settings) == "B-mm2"
    plain = new_clusters(paths, Settings(engine="aiven"))
    assert "lab" not in json.loads(aiven.document(plain["P"], plain, Settings(engine="aiven")))
    assert "kafka_service" not in aiven.access(plain["P"])


def test_an_open_lab_cannot_be_secured_later(tmp_path: Path) -> None:
    (tmp_path / "P").mkdir()
    (tmp_path / "P" / "cluster_id").write_text("abcdefghijklmnopqrstuv\n")
    with pytest.raises(LabError, match="was created open, wanted secured"):
        Lab(tmp_path, secure=True, quiet=True).up()
    with pytest.raises(LabError, match="does not support the engine srm"):
        Lab(tmp_path / "other", secure=True, engine="srm", quiet=True).up()


@pytest.mark.parametrize("name", ["a:b", "a}b", 'a"b'])
def test_a_folder_that_would_end_a_reference_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(LabError, match="must not contain"):
        Lab(tmp_path / name, secure=True, quiet=True).up()


def test_arguments_in_a_file_are_quoted_as_java_reads_them() -> None:
    assert java_arguments(["-cp", "/a b/*", 'say "x"', "back\\slash"]) == (
        '"-cp"\n"/a b/*"\n"say \\"x\\""\n"back\\\\slash"\n'
    )


def test_the_flow_may_not_write_topics_of_applications() -> None:
    writes = {
        (kind, name)
        for kind, _pattern, name, operation in table("P", "B", "connect-P")
        if operation in ("ALL", "WRITE")
    }
    topics = {name for kind, name in writes if kind == "TOPIC"}
    assert topics == {"connect-P", "B.", "rehearsal-B--", "mm2-offset-syncs", "heartbeats"}
