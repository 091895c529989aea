# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Translates the inventory's client properties for librdkafka and for Java clients.

The inventory's ``client`` dictionary is written with librdkafka's names (Apache Kafka's where both agree).
Sources: librdkafka CONFIGURATION.md; org.apache.kafka.clients.CommonClientConfigs, SaslConfigs, SslConfigs.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .errors import DrError

__all__ = ["java_properties", "librdkafka_properties"]

_LOGIN_MODULES = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
}
_SAME_NAME = {"security.protocol", "client.id", "sasl.kerberos.service.name"}
# Login properties of librdkafka. A Java client has a JAAS line instead, often on another machine with other files.
_LOGIN = {
    "sasl.kerberos.principal",
    "sasl.kerberos.keytab",
    "sasl.kerberos.kinit.cmd",
    "sasl.kerberos.min.time.before.relogin",
}
_TRANSLATED = {"sasl.mechanism", "sasl.mechanisms", "sasl.username", "sasl.password", "ssl.ca.location"}


def librdkafka_properties(client: Mapping[str, Any]) -> dict[str, Any]:
    """The ``client`` dictionary for confluent-kafka. Accepts Java's ``sasl.mechanism`` as an alias."""
    properties = {str(key): value for key, value in client.items() if not str(key).startswith("java.")}
    if "sasl.mechanism" in properties:
        properties["sasl.mechanisms"] = properties.pop("sasl.mechanism")
    return properties


def java_properties(client: Mapping[str, Any]) -> dict[str, str]:
    """The same connection for a Java client. Keys that start with ``java.`` are passed without that prefix.

    Raises ``client_not_translatable`` for a property without a Java equivalent: a guess could weaken security.
    """
    java = {key[len("java.") :]: str(value) for key, value in client.items() if key.startswith("java.")}
    plain = {key: str(value) for key, value in client.items() if not key.startswith("java.")}
    unknown = sorted(set(plain) - _SAME_NAME - _TRANSLATED)
    unknown = [key for key in unknown if key not in java]
    if login := [key for key in unknown if key in _LOGIN and "sasl.jaas.config" not in java]:
        raise DrError(
            "client_not_translatable",
            f'The client property "{login[0]}" cannot be translated: a Java client needs a JAAS line to log in.',
            'Set "java.sasl.jaas.config" in the same client dictionary, see docs/kerberos.md.',
        )
    unknown = [key for key in unknown if key not in _LOGIN]
    if unknown:
        raise DrError(
            "client_not_translatable",
            f'The client property "{unknown[0]}" cannot be translated for the Java clients of Kafka Connect.',
            f'Add its Java form to the same client dictionary as "java.<property>", or remove "{unknown[0]}".',
        )
    for key in sorted(_SAME_NAME & set(plain)):
        java.setdefault(key, plain[key])
    _add_sasl(plain, java)
    if "ssl.ca.location" in plain:
        java.setdefault("ssl.truststore.type", "PEM")
        java.setdefault("ssl.truststore.location", plain["ssl.ca.location"])
    return java


def _add_sasl(plain: Mapping[str, str], java: dict[str, str]) -> None:
    mechanism = plain.get("sasl.mechanisms", plain.get("sasl.mechanism"))
    if mechanism is None:
        return
    java.setdefault("sasl.mechanism", mechanism)
    if "sasl.jaas.config" in java or "sasl.username" not in plain:
        return
    if mechanism not in _LOGIN_MODULES:
        raise DrError(
            "client_not_translatable",
            f'No JAAS line can be made for the SASL mechanism "{mechanism}" from a user name and a password.',
            'Set "java.sasl.jaas.config" in the same client dictionary.',
        )
    user, word = (_quoted(plain.get(key, "")) for key in ("sasl.username", "sasl.password"))
    java["sasl.jaas.config"] = f"{_LOGIN_MODULES[mechanism]} required username={user} password={word};"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
