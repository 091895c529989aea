# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the brokers of a cluster and their protocol version. The Kafka protocol cannot ask for the broker version.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Collection
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

from .._core.errors import DrError, Unreachable
from .._core.resources.acl import CLUSTER_NAME
from .client import Kafka

with suppress(ImportError):  # Kafka() reports the missing library before anything here runs
    from confluent_kafka import KafkaError, KafkaException
    from confluent_kafka.admin import ConfigResource, ResourceType

__all__ = ["broker_settings", "brokers", "describe_cluster"]

# Before Kafka 4: the protocol version that brokers use with each other.
_PROTOCOL = "inter.broker.protocol.version"
# librdkafka (2.16) crashes its process if the answer has no broker, as that of a broker that starts (R35). The
# properties, which contain secrets, come on the standard input.
_DESCRIBE = """
import json, sys
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
asked = json.load(sys.stdin)
admin = AdminClient(asked["properties"])
options = {"include_authorized_operations": asked["operations"], "request_timeout": asked["seconds"]}
try:
    described = admin.describe_cluster(**options).result(asked["seconds"] + 5)
except KafkaException as error:
    print(json.dumps({"error": [error.args[0].code(), error.args[0].str()]}))
else:
    print(json.dumps({
        "cluster_id": described.cluster_id,
        "controller": described.controller.id if described.controller else None,
        "brokers": [{"id": one.id, "host": one.host, "port": one.port, "rack": one.rack} for one in described.nodes],
        "operations": [one.name for one in described.authorized_operations or []],
    }))
"""
_CRASHED = 'Kafka at "{}" is not ready: describe the cluster: a broker knows of no broker yet, librdkafka crashed ({}).'
_FAILED = 'The client of Kafka at "{}" failed: describe the cluster: {}.'


def describe_cluster(kafka: Kafka, operations: bool = False) -> dict[str, Any]:
    """Return the cluster id, the controller, the brokers and, with ``operations``, what this principal may do.

    In a process of its own, which may crash: most callers need only :meth:`Kafka.identify`.
    """
    kafka.note_request("describe_cluster", **({"operations": True} if operations else {}))
    return kafka.patiently(_describe_cluster, kafka, operations)


def _describe_cluster(kafka: Kafka, operations: bool) -> dict[str, Any]:
    asked = {"properties": {"log_level": 0, **kafka.properties}, "operations": operations, "seconds": kafka.timeout}
    done = subprocess.run(
        [sys.executable, "-c", _DESCRIBE],
        input=json.dumps(asked),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        cause = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        if done.returncode > 0:
            text = _FAILED.format(kafka.bootstrap_servers, cause)
            raise DrError("kafka_error", text, "Check the client's settings.", kafka.bootstrap_servers)
        raise Unreachable(
            "kafka_unreachable",
            _CRASHED.format(kafka.bootstrap_servers, cause),
            "Check that the brokers run, then start the same playbook again.",
            kafka.bootstrap_servers,
            retriable=True,
        )
    described: dict[str, Any] = json.loads(done.stdout)
    if "error" in described:
        raise kafka.explain(KafkaException(KafkaError(*described["error"])), "describe the cluster")
    return described


def brokers(kafka: Kafka) -> dict[str, Any]:
    """Return the cluster id, the controller and the brokers. ``protocol`` is None if the broker reports none."""
    described = describe_cluster(kafka)
    nodes = sorted(described["brokers"], key=lambda node: int(node["id"]))
    first = int(nodes[0]["id"])
    return {
        "cluster_id": described["cluster_id"],
        "controller": described["controller"],
        "brokers": nodes,
        "protocol": _settings(kafka, [first], (_PROTOCOL,))[first].get(_PROTOCOL),
    }


def broker_settings(kafka: Kafka, names: Collection[str]) -> dict[int, dict[str, str]]:
    """Return the settings ``names`` of each broker, by its id. A setting that a broker does not report is left out.

    Raises ``not_authorized`` without the right DESCRIBE_CONFIGS on the cluster.
    """
    return kafka.patiently(_settings, kafka, kafka.broker_ids, names)


def _settings(kafka: Kafka, ids: Collection[int], names: Collection[str]) -> dict[int, dict[str, str]]:
    """A broker reports only its own settings, so each gets a request. All are sent at once."""
    kafka.note_request("describe_configs", brokers=len(ids))
    futures: dict[int, Future[Any]] = {}
    for broker in ids:
        resource = ConfigResource(ResourceType.BROKER, str(broker))
        (futures[broker],) = kafka.admin.describe_configs([resource], request_timeout=kafka.timeout).values()
    need = ("cluster", CLUSTER_NAME, "describe_configs")
    found = {}
    for broker, future in futures.items():
        entries = kafka.settle(future, "describe the settings of a broker", need)
        values = {name: entries[name].value for name in names if name in entries}
        found[broker] = {name: str(value) for name, value in values.items() if value is not None}
    return found
