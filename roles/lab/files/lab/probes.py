# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Readiness by real responses: an open port or a running process proves nothing."""

from __future__ import annotations

import base64
import http.client
import json
import re
import socket
import ssl
from typing import Any

from . import zookeeper
from .configs import Cluster, kind, number
from .secure import REST_USER, Security


def answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def controller_is_ready(cluster: Cluster, part: str, security: Security | None) -> bool:
    """Whether its listener is open. Clients cannot query it; the registration of the brokers shows that it works."""
    return answers(cluster.port(part))


def zookeeper_is_ready(cluster: Cluster, part: str, security: Security | None) -> bool:
    return zookeeper.is_ready(cluster.port(part))


def broker_is_ready(cluster: Cluster, part: str, security: Security | None) -> bool:
    """Whether the expected cluster responds and lists this broker. A fenced broker is not in the list of brokers.

    Not with ``describe_cluster``: librdkafka crashes the process if that list is empty. No broker accepts that topic.
    """
    if not answers(cluster.port(part)):
        return False
    # Imported here, because `jars`, `down` and `status` work without the library.
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient

    own: dict[str, str | int | float] = {
        "bootstrap.servers": f"127.0.0.1:{cluster.port(part)}",
        "log_level": 0,
        "socket.timeout.ms": 2000,
        "allow.auto.create.topics": "false",
    }
    admin = AdminClient({**(security.client("admin") if security else {}), **own})
    try:
        found = admin.list_topics(topic="lab:none", timeout=2)
    except KafkaException:
        return False
    return found.cluster_id == cluster.cluster_id and number(part) in found.brokers


def out_of_sync(cluster: Cluster, security: Security | None) -> list[str] | None:
    """Partitions with a replica that is not in sync, as ``topic-partition``. None if no broker responds."""
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient

    own: dict[str, str | int | float] = {"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0}
    try:
        topics = AdminClient({**(security.client("admin") if security else {}), **own}).list_topics(timeout=5).topics
    except KafkaException:
        return None
    return sorted(
        f"{name}-{index}"
        for name, topic in topics.items()
        for index, partition in topic.partitions.items()
        if set(partition.isrs) != set(partition.replicas)
    )


def get_json(port: int, path: str, security: Security | None = None, timeout: float = 2) -> Any:
    """The JSON response, or None. A starting worker refuses connections, then responds with 404 and HTML."""
    connection, headers = _connection(port, security, timeout)
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        return json.loads(body) if answer.status == 200 else None
    except (OSError, http.client.HTTPException, ValueError):
        return None
    finally:
        connection.close()


def _connection(
    port: int, security: Security | None, timeout: float
) -> tuple[http.client.HTTPConnection, dict[str, str]]:
    if security is None:
        return http.client.HTTPConnection("127.0.0.1", port, timeout=timeout), {}
    login = base64.b64encode(f"{REST_USER}:{security.password(REST_USER)}".encode()).decode()
    trust = ssl.create_default_context(cafile=str(security.ca))
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=timeout, context=trust)
    return connection, {"Authorization": f"Basic {login}"}


def connect_is_ready(cluster: Cluster, part: str, security: Security | None) -> bool:
    """Whether the worker of this cluster is ready. It lists no connectors before it has read its own topics."""
    about = get_json(cluster.port(part), "/", security)
    if not isinstance(about, dict) or about.get("kafka_cluster_id") != cluster.cluster_id:
        return False
    healthy = get_json(cluster.port(part), "/health", security)
    if isinstance(healthy, dict):
        return healthy.get("status") == "healthy"
    # Kafka Connect before 3.9 has no /health (KIP-1017). It lists its connectors once it has read its own topics.
    version = tuple(int(number) for number in re.findall(r"\d+", str(about.get("version")))[:2])
    return version < (3, 9) and isinstance(get_json(cluster.port(part), "/connectors", security), list)


def cm_is_ready(cluster: Cluster, part: str, security: Security | None) -> bool:
    """Whether the emulator responds and manages this cluster. Its Driver may still wait for the worker."""
    engine = get_json(cluster.cm_port, "/emulator/engine")
    return isinstance(engine, dict) and [site.get("alias") for site in engine.values()] == [cluster.alias]


def aiven_is_ready(cluster: Cluster, part: str, security: Security | None) -> bool:
    """Whether the emulator responds and its workers run the flow to this cluster. The worker may still start."""
    engine = get_json(cluster.cm_port, "/emulator/engine")
    return isinstance(engine, dict) and engine.get("alias") == cluster.alias


_READY = {
    "aiven": aiven_is_ready,
    "zookeeper": zookeeper_is_ready,
    "controller": controller_is_ready,
    "broker": broker_is_ready,
    "connect": connect_is_ready,
    "cm": cm_is_ready,
}


def is_ready(cluster: Cluster, part: str, security: Security | None) -> bool:
    """Whether a part gives the expected response."""
    return _READY[kind(part)](cluster, part, security)
