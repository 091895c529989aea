# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""librdkafka's messages about Kerberos (2.15.1 and 2.16.1) become one line with the next step."""

from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import (
    DrError,
    Unreachable,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka import journal
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka, kafka_error
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.journal import Appender, Undecided
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.latest import write_records

CREATING = "Failed to create admin client: "
NO_PROVIDER = (
    "No provider for SASL mechanism GSSAPI: recompile librdkafka with libsasl2 or openssl support. "
    "Current build options: PLAIN SASL_SCRAM OAUTHBEARER"
)
NO_KEYTAB = 'Invalid sasl.kerberos.kinit.cmd value: Property not available: "sasl.kerberos.keytab"'
FAILED = (
    "sasl_plaintext://localhost:9092/bootstrap: Failed to initialize SASL authentication: SASL handshake failed "
    "(start (-1)): SASL(-1): generic failure: GSSAPI Error: {} (after 0ms in state AUTH_REQ{})"
)


def raised(code: int, text: str) -> KafkaException:
    return KafkaException(KafkaError(code, text))


def test_a_build_without_kerberos_is_reported() -> None:
    found = kafka_error(raised(KafkaError._INVALID_ARG, CREATING + NO_PROVIDER), "create a Kafka client", "p:9092")
    assert found.code == "kerberos_missing"
    assert "docs/kerberos.md" in found.hint


def test_without_a_keytab_the_error_explains_how_to_get_a_ticket() -> None:
    found = kafka_error(raised(KafkaError._INVALID_ARG, CREATING + NO_KEYTAB), "create a Kafka client", "p:9092")
    assert found.code == "kafka_error"
    assert "sasl.kerberos.min.time.before.relogin: 0" in found.hint


@pytest.mark.parametrize("more", ["", ", 1 identical error(s) suppressed"])
@pytest.mark.parametrize(
    ("gssapi", "reported"),
    [
        (
            "No credentials were supplied, or the credentials were unavailable or inaccessible "
            "(No Kerberos credentials available (default cache: FILE:/tmp/none))",
            "Kerberos: No Kerberos credentials available (default cache: FILE:/tmp/none)",
        ),
        (
            "Unspecified GSS failure.  Minor code may provide more information "
            "(Server elsewhere/localhost@EXAMPLE.COM not found in Kerberos database)",
            "Kerberos: Server elsewhere/localhost@EXAMPLE.COM not found in Kerberos database",
        ),
    ],
)
def test_only_the_innermost_reason_is_reported(gssapi: str, reported: str, more: str) -> None:
    error = raised(KafkaError._TIMED_OUT, "Failed while waiting for controller: Local: Timed out")
    found = kafka_error(error, "describe the cluster", "p:9092", FAILED.format(gssapi, more))
    assert isinstance(found, Unreachable)
    assert found.message.endswith(f"Local: Timed out ({reported}).")
    assert "klist" in found.hint


@pytest.mark.parametrize(
    "code",
    [
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.NOT_COORDINATOR,
        KafkaError.REQUEST_TIMED_OUT,
    ],
)
def test_a_temporary_error_is_distinguished_from_a_refusal(code: int) -> None:
    """R35: a temporary error is retried, a refusal is not."""
    found = kafka_error(raised(code, "not now"), "read offsets", "p:9092")
    assert found.retriable
    assert "refused" not in found.message
    assert isinstance(found, Unreachable) is (code == KafkaError.REQUEST_TIMED_OUT)


def test_a_refusal_is_not_temporary_and_a_broker_without_an_answer_may_restart() -> None:
    for code in (KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError._RESOLVE, KafkaError.INVALID_PARTITIONS):
        assert not kafka_error(raised(code, "no"), "read offsets", "p:9092").retriable
    found = kafka_error(raised(KafkaError._TRANSPORT, "no"), "read offsets", "p:9092")
    assert isinstance(found, Unreachable)
    assert found.retriable


@pytest.mark.parametrize(
    ("code", "where"),
    [
        (KafkaError.TOPIC_AUTHORIZATION_FAILED, 'READ on topic "T"'),
        (KafkaError.GROUP_AUTHORIZATION_FAILED, 'READ on group "g"'),
        (KafkaError.CLUSTER_AUTHORIZATION_FAILED, "ALTER on the cluster"),
        (KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, 'WRITE on transactional id "x"'),
    ],
)
def test_a_refusal_names_the_principal_the_right_and_the_command(code: int, where: str) -> None:
    needs = (
        ("topic", "T", "read"),
        ("group", "g", "read"),
        ("cluster", "kafka-cluster", "alter"),
        ("transactional_id", "x", "write"),
    )
    found = kafka_error(raised(code, "no"), "do it", "p:9092", "", needs, "User:dr")
    assert found.code == "not_authorized"
    assert found.hint.startswith(f"Grant User:dr {where}: kafka-acls.sh --bootstrap-server p:9092 --add ")
    assert "--allow-principal User:dr" in found.hint
    unknown = kafka_error(raised(code, "no"), "do it", "p:9092", "", needs)
    assert unknown.hint.startswith(f"Grant the principal of admin_client {where}: ")
    assert "--allow-principal User:NAME" in unknown.hint


def test_a_producer_that_may_write_nowhere_needs_a_right_on_its_topic() -> None:
    """The broker then refuses the id of an idempotent producer on the cluster, and names no topic (KIP-679)."""
    refused = raised(KafkaError.CLUSTER_AUTHORIZATION_FAILED, "no")
    assert 'WRITE on topic "T": ' in kafka_error(refused, "write", "p:9092", "", [("topic", "T", "write")]).hint


def test_a_fatal_error_of_a_producer_is_a_refusal_and_not_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    """confluent-kafka raises it within its callbacks, so flush() ends with a SystemError of the interpreter."""

    class Refused:
        def produce(self, *_args: Any, **_named: Any) -> None:
            """Queue a record."""

        def flush(self, _timeout: float) -> int:
            raise SystemError("returned a result with an exception set") from cause

    cause: Exception = raised(KafkaError.CLUSTER_AUTHORIZATION_FAILED, "no")
    kafka = Kafka("localhost:1", {}, 1.0)
    monkeypatch.setattr(kafka, "producer", Refused)
    with pytest.raises(DrError) as failure:
        write_records(kafka, "T", [(b"k", b"v", 0)])
    assert failure.value.code == "not_authorized"
    assert 'WRITE on topic "T": ' in failure.value.hint
    cause = ValueError("another")
    with pytest.raises(SystemError):
        write_records(kafka, "T", [(b"k", b"v", 0)])


def test_the_principal_of_a_login_is_known_by_its_user_name() -> None:
    login = {
        "sasl.username": "dr",
        "sasl.password": "x",
        "sasl.mechanism": "PLAIN",
        "security.protocol": "SASL_PLAINTEXT",
    }
    assert Kafka("localhost:1", login, 1.0).principal == "User:dr"
    assert Kafka("localhost:1", {}, 1.0).principal == ""


def test_an_unknown_host_ends_a_wait_unless_the_cluster_answered_before() -> None:
    """In Kubernetes the name of a broker is unknown while its pod restarts."""
    kafka = Kafka("localhost:1", {}, 1.0)
    assert not kafka.explain(raised(KafkaError._RESOLVE, "no"), "read offsets").retriable
    kafka.cluster_id = "id"
    assert kafka.explain(raised(KafkaError._RESOLVE, "no"), "read offsets").retriable
    assert not kafka.explain(raised(KafkaError.TOPIC_AUTHORIZATION_FAILED, "no"), "read offsets").retriable
    kafka._causes.append("SASL authentication error: Authentication failed")
    assert not kafka.explain(raised(KafkaError._TIMED_OUT, "no"), "read offsets").retriable


@pytest.mark.parametrize(
    ("code", "undecided", "right"),
    [
        (KafkaError.TOPIC_AUTHORIZATION_FAILED, False, 'WRITE on topic "J": '),
        (KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, True, 'WRITE on transactional id "kafka-dr-B-P": '),
        (KafkaError._TIMED_OUT, True, None),
    ],
)
def test_only_a_refused_topic_decides_that_an_append_wrote_nothing(
    code: int, undecided: bool, right: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Brokers refuse a topic before the end of the transaction is requested. They may refuse an id after it."""

    def fail() -> None:
        raise raised(code, "no")

    kafka = Kafka("localhost:1", {}, 1.0)
    monkeypatch.setattr(Appender, "_connected", lambda _self: None)
    monkeypatch.setattr(journal, "why_not_written", lambda _kafka, _topics: "")
    with pytest.raises(DrError) as failure:
        Appender(kafka, "J", "B-P")._try(fail, "append to", Undecided)
    assert isinstance(failure.value, Undecided) is undecided
    assert ("Grant " in failure.value.hint) is (right is not None)
    assert (right or "") in failure.value.hint
