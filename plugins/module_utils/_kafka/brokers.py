# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The brokers of a cluster, and what they tell of their version: the protocol has no question for it.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from .client import Kafka

with suppress(ImportError):  # Kafka() reports the missing library before anything here runs
    from confluent_kafka.admin import ConfigResource, ResourceType

__all__ = ["brokers"]

# Before Kafka 4 the version that brokers speak with each other.
_PROTOCOL = "inter.broker.protocol.version"


def brokers(kafka: Kafka) -> dict[str, Any]:
    """Id of the cluster, its controller and its brokers; ``protocol`` is None where no broker tells one."""
    kafka.note_request("describe_cluster")
    found = kafka.settle(kafka.admin.describe_cluster(request_timeout=kafka.timeout), "describe the cluster")
    nodes = sorted(found.nodes, key=lambda node: node.id)
    kafka.note_request("describe_configs", brokers=1)
    asked = kafka.admin.describe_configs(
        [ConfigResource(ResourceType.BROKER, str(nodes[0].id))], request_timeout=kafka.timeout
    )
    settings = kafka.settle(next(iter(asked.values())), "describe the settings of a broker")
    protocol = settings.get(_PROTOCOL)
    return {
        "cluster_id": found.cluster_id,
        "controller": found.controller.id if found.controller else None,
        "brokers": [{"id": node.id, "host": node.host, "port": node.port, "rack": node.rack} for node in nodes],
        "protocol": protocol.value if protocol else None,
    }
