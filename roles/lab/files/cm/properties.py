# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of services and role groups. EMULATORS.md lists sources and guesses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .errors import ApiError
from .switches import Switches

SRM = "STREAMS_REPLICATION_MANAGER"
KAFKA = "KAFKA"
DRIVER, SERVICE, GATEWAY = f"{SRM}_DRIVER", f"{SRM}_SERVICE", "GATEWAY"
ROLE_TYPES = {SRM: (DRIVER, SERVICE, GATEWAY), KAFKA: ("KAFKA_BROKER", GATEWAY)}
REPLICATION = "streams.replication.manager.config"
REVERSE = "cloudera.reverse.checkpointing.enabled"
PREFIXLESS = "replication.policy.prefixless.enabled"
DRIVER_TARGET = "streams.replication.manager.driver.target.cluster"
SERVICE_TARGET = "streams.replication.manager.service.target.cluster"
SECRET, SECRET_VARIABLE = "securestorage.password", "securestorage.password.environment"
REVERSE_SINCE = (7, 3, 2)
REDACTED = "REDACTED"


@dataclass(frozen=True)
class Property:
    """``kind`` is str, int or bool. ``default`` is text, like all values."""

    name: str
    display: str
    kind: str = "str"
    default: str | None = None
    related: str = ""
    required: bool = False
    sensitive: bool = False

    def normalised(self, value: Any) -> str:
        """The stored value. JSON numbers and booleans become text."""
        if isinstance(value, bool) or (self.kind == "bool" and str(value).lower() in ("true", "false")):
            return str(value).lower()
        if not isinstance(value, (str, int, float)):
            raise ApiError(400, f"The value of '{self.name}' must be text.")
        return str(value)

    def problem(self, value: str) -> str:
        if self.kind == "int" and not value.strip().lstrip("-").isdigit():
            return f"'{value}' is not a number."
        if self.kind == "bool" and value not in ("true", "false"):
            return f"'{value}' is neither true nor false."
        return ""

    def to_json(self, value: str | None, full: bool, weak: bool) -> dict[str, Any]:
        found: dict[str, Any] = {"name": self.name, "sensitive": self.sensitive}
        if value is not None:
            found["value"] = REDACTED if self.sensitive and weak else value
        if not full:
            return found
        problem = self.problem(value) if value is not None else ""
        found |= {
            "required": self.required,
            "displayName": self.display,
            "description": f"{self.display}.",
            "relatedName": self.related,
            "validationState": "ERROR" if problem else "OK",
            "validationWarningsSuppressed": False,
        }
        if problem:
            found["validationMessage"] = problem
        return found if self.default is None else {**found, "default": self.default}


_REVERSE = Property(REVERSE, "Reverse Checkpointing Enabled", "bool", "false", REVERSE)
_SERVICE_LEVEL = (
    Property("clusters", "Streams Replication Manager Cluster alias", default="", related="clusters"),
    Property(REPLICATION, "Streams Replication Manager's Replication Configs", default=""),
    Property("colocated.cluster.alias", "Streams Replication Manager Co-located Kafka Cluster Alias", default=""),
    Property("external_kafka_accounts", "External Kafka Accounts", default=""),
    Property(
        "refresh.topics.interval.seconds",
        "Refresh Topics Interval",
        "int",
        "600",
        "refresh.topics.interval.seconds",
    ),
    Property(
        "refresh.groups.interval.seconds",
        "Refresh Groups Interval",
        "int",
        "600",
        "refresh.groups.interval.seconds",
    ),
    Property(
        "sync.topic.configs.interval.seconds",
        "Sync Topic Configs Interval",
        "int",
        "600",
        "sync.topic.configs.interval.seconds",
    ),
    Property("metrics.topic.replication.factor", "Metrics Topic Replication Factor", "int", "3"),
    Property("control.topic.replication.factor", "Control Topic Replication Factor", "int", "3"),
    Property(PREFIXLESS, "Enable Prefixless Replication", "bool", "false"),
    Property("kerberos.auth.enable", "Enable Kerberos Authentication", "bool", "false"),
    Property("kafka_service", "Kafka Service", default="kafka"),
)
_TLS = (
    Property("ssl_enabled", "Enable TLS/SSL", "bool", "false"),
    Property("ssl_server_keystore_location", "TLS/SSL Server JKS Keystore File Location", default=""),
    Property("ssl_server_keystore_password", "TLS/SSL Server JKS Keystore File Password", sensitive=True),
    Property("ssl_server_keystore_keypassword", "TLS/SSL Server JKS Keystore Key Password", sensitive=True),
    Property("ssl_client_truststore_location", "TLS/SSL Client Trust Store File", default=""),
    Property("ssl_client_truststore_password", "TLS/SSL Client Trust Store Password", sensitive=True),
)
_GROUP_LEVEL = {
    DRIVER: (
        Property(DRIVER_TARGET, "Driver Target Cluster", default=""),
        *_TLS,
    ),
    SERVICE: (
        Property(SERVICE_TARGET, "Service Target Cluster", default=""),
        *_TLS,
    ),
    GATEWAY: (
        Property(SECRET, "SRM Client's Secure Storage Password", sensitive=True),
        Property(SECRET_VARIABLE, "Environment Variable Holding SRM Password", default="SECURESTOREPASS"),
        Property("kerberos.keytab.location", "Kerberos Keytab Location", default=""),
        Property("kerberos.principal.name", "Kerberos Principal Name", default=""),
    ),
}
_KAFKA_LEVEL = (
    Property("log.retention.hours", "Data Retention Hours", "int", "168", "log.retention.hours"),
    Property("auto.create.topics.enable", "Topic Auto Creation", "bool", "true", "auto.create.topics.enable"),
)


def version(runtime: str) -> tuple[int, ...]:
    return tuple(int(part) for part in runtime.split(".")[:3] if part.isdigit())


def knows_reverse(runtime: str) -> bool:
    """Whether the runtime has reverse checkpointing, which 7.3.2 added."""
    return version(runtime) >= REVERSE_SINCE


def known(service_type: str, role_type: str | None, switches: Switches) -> dict[str, Property]:
    """Properties by name, of a service or, with ``role_type``, of a role group."""
    found: Iterable[Property]
    if service_type == SRM:
        found = _SERVICE_LEVEL if role_type is None else _GROUP_LEVEL[role_type]
        at = {"service": None, "driver": DRIVER}[switches.reverse_level]
        if role_type == at and knows_reverse(switches.runtime):
            found = (*found, _REVERSE)
    else:
        found = _KAFKA_LEVEL if role_type is None else ()
    return {item.name: item for item in found}
