# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the brokers of a cluster and their protocol version. The Kafka protocol cannot ask for the broker version.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from .._core.resources.acl import CLUSTER_NAME
from .client import Kafka

with suppress(ImportError):  # Kafka() reports the missing library before anything here runs
    from confluent_kafka.admin import ConfigResource, ResourceType

__all__ = ["brokers"]

# Before Kafka 4: the protocol version that brokers use with each other.
_PROTOCOL = "inter.broker.protocol.version"


def brokers(kafka: Kafka) -> dict[str, Any]:
    """Return the cluster id, the controller and the brokers. ``protocol`` is None if the broker reports none."""
    kafka.note_request("describe_cluster")
    described = kafka.settle(kafka.admin.describe_cluster(request_timeout=kafka.timeout), "describe the cluster")
    nodes = sorted(described.nodes, key=lambda node: node.id)
    kafka.note_request("describe_configs", brokers=1)
    asked = kafka.admin.describe_configs(
        [ConfigResource(ResourceType.BROKER, str(nodes[0].id))], request_timeout=kafka.timeout
    )
    need = ("cluster", CLUSTER_NAME, "describe_configs")
    settings = kafka.settle(next(iter(asked.values())), "describe the settings of a broker", need)
    protocol = settings.get(_PROTOCOL)
    return {
        "cluster_id": described.cluster_id,
        "controller": described.controller.id if described.controller else None,
        "brokers": [{"id": node.id, "host": node.host, "port": node.port, "rack": node.rack} for node in nodes],
        "protocol": protocol.value if protocol else None,
    }
