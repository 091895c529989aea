# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""librdkafka's messages about Kerberos (2.15.1 and 2.16.1) become one line with the next step."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError, KafkaException

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import (
    Busy,
    LockedOut,
    Transient,
    Unreachable,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import kafka_error

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
    assert isinstance(found, Transient)
    assert "refused" not in found.message
    assert isinstance(found, Busy) is (code == KafkaError.REQUEST_TIMED_OUT)


def test_a_refusal_and_a_dead_broker_are_not_temporary() -> None:
    for code in (KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError._TRANSPORT, KafkaError.INVALID_PARTITIONS):
        found = kafka_error(raised(code, "no"), "read offsets", "p:9092")
        assert not isinstance(found, (Transient, LockedOut))
