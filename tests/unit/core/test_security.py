# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One client dictionary in two dialects: no value is guessed, and secrets are recognised by name."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.security import (
    java_properties,
    librdkafka_properties,
)

SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"


@pytest.mark.parametrize(
    ("client", "properties"),
    [
        ({}, {}),
        ({"security.protocol": "SASL_SSL"}, {"security.protocol": "SASL_SSL"}),
        ({"sasl.mechanism": "PLAIN"}, {"sasl.mechanisms": "PLAIN"}),
        ({"sasl.mechanisms": "PLAIN"}, {"sasl.mechanisms": "PLAIN"}),
        ({"java.ssl.truststore.type": "PEM", "ssl.ca.location": "/ca"}, {"ssl.ca.location": "/ca"}),
    ],
)
def test_properties_for_librdkafka(client: dict[str, Any], properties: dict[str, Any]) -> None:
    assert librdkafka_properties(client) == properties


@pytest.mark.parametrize(
    ("client", "properties"),
    [
        ({}, {}),
        (
            {"security.protocol": "SSL", "client.id": "dr", "ssl.ca.location": "/ca.pem"},
            {
                "security.protocol": "SSL",
                "client.id": "dr",
                "ssl.truststore.type": "PEM",
                "ssl.truststore.location": "/ca.pem",
            },
        ),
        (
            {"sasl.mechanisms": "SCRAM-SHA-512", "sasl.username": "u", "sasl.password": "p"},
            {"sasl.mechanism": "SCRAM-SHA-512", "sasl.jaas.config": f'{SCRAM} required username="u" password="p";'},
        ),
        (
            {"sasl.mechanism": "PLAIN", "sasl.username": "u", "sasl.password": 'a"b\\c'},
            {"sasl.mechanism": "PLAIN", "sasl.jaas.config": f'{PLAIN} required username="u" password="a\\"b\\\\c";'},
        ),
        # A value in Java's form takes precedence over the translation.
        (
            {"ssl.ca.location": "/ca", "java.ssl.truststore.type": "JKS", "java.ssl.truststore.location": "/x.jks"},
            {"ssl.truststore.type": "JKS", "ssl.truststore.location": "/x.jks"},
        ),
        (
            {"sasl.mechanisms": "OAUTHBEARER", "java.sasl.jaas.config": "mine;"},
            {"sasl.mechanism": "OAUTHBEARER", "sasl.jaas.config": "mine;"},
        ),
        (
            {
                "sasl.mechanism": "GSSAPI",
                "sasl.kerberos.service.name": "kafka",
                "sasl.kerberos.keytab": "/k",
                "sasl.kerberos.min.time.before.relogin": 0,
                "java.sasl.jaas.config": "mine;",
            },
            {"sasl.mechanism": "GSSAPI", "sasl.kerberos.service.name": "kafka", "sasl.jaas.config": "mine;"},
        ),
        # Every value of a Java property is a text.
        ({"java.request.timeout.ms": 5000}, {"request.timeout.ms": "5000"}),
        ({"ssl.key.location": "/k", "java.ssl.key.location": "/k"}, {"ssl.key.location": "/k"}),
    ],
)
def test_properties_for_java(client: dict[str, Any], properties: dict[str, str]) -> None:
    assert java_properties(client) == properties


@pytest.mark.parametrize(
    ("client", "named"),
    [
        ({"ssl.endpoint.identification.algorithm": "none"}, "ssl.endpoint.identification.algorithm"),
        ({"enable.ssl.certificate.verification": False}, "enable.ssl.certificate.verification"),
        ({"sasl.mechanism": "GSSAPI", "sasl.username": "u"}, "GSSAPI"),
        ({"sasl.mechanism": "GSSAPI", "sasl.kerberos.keytab": "/k"}, "sasl.kerberos.keytab"),
    ],
)
def test_a_property_without_a_java_twin_is_refused_by_name(client: dict[str, Any], named: str) -> None:
    with pytest.raises(DrError) as refused:
        java_properties(client)
    assert refused.value.code == "client_not_translatable"
    assert named in refused.value.message
    assert "java." in refused.value.hint


def test_a_refusal_never_shows_a_password() -> None:
    with pytest.raises(DrError) as refused:
        java_properties({"sasl.mechanism": "GSSAPI", "sasl.username": "u", "sasl.password": "hunter2"})
    assert "hunter2" not in refused.value.sentence()
