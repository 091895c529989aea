# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The next step for a connector or task that failed, by the exception in its trace.

Classes: org.apache.kafka.common.errors and org.apache.kafka.connect.errors (Kafka 4.x).

Private to this collection: may change in any release.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["failed_text", "failure_advice", "with_advice"]

_FLOW = "source_settings of kafka_dr_flow"
_RIGHTS = (
    "Grant that right to the flow's principal (docs/security.md, rights of the workers). Then run the playbook enable."
)
_LOGIN = "Correct the login or the certificates of that cluster's client in kafka_dr_clusters; then run enable."
_TOO_LARGE = (
    "The flow's producer limits the uncompressed size of a record: set producer.override.max.request.size above {size}"
    f" in {_FLOW} (its workers need connector.client.config.override.policy=All, the default). The replica limits the"
    " compressed size: if it is smaller there too, raise max.message.bytes of the replica, or set"
    f" producer.override.compression.type in {_FLOW}. Then run the playbook enable."
)
_TOO_LARGE_THERE = (
    "The replica limits the size of a batch as the flow's producer sends it: raise max.message.bytes of the replica on"
    f" the target, or let the flow compress with producer.override.compression.type in {_FLOW}. Then run the playbook"
    " enable."
)
_BY_CLASS = {
    "TopicAuthorizationException": _RIGHTS,
    "GroupAuthorizationException": _RIGHTS,
    "ClusterAuthorizationException": _RIGHTS,
    "TransactionalIdAuthorizationException": _RIGHTS,
    "SaslAuthenticationException": _LOGIN,
    "SslAuthenticationException": _LOGIN,
    "UnknownTopicOrPartitionException": "A topic that the flow writes is missing: run the playbook enable, which"
    " creates it.",
    "InvalidReplicationFactorException": "The target has fewer brokers than replicas are wanted: set"
    " replication_factor in kafka_dr_flow to the number of brokers at most. Then run the playbook enable.",
    "InvalidTopicException": "The name of a replica is invalid or too long (more than 249 characters): remove that"
    " topic from the flow.",
    "PolicyViolationException": "A policy of the target's brokers refuses the topic that the flow creates: create the"
    " replica with settings that the policy allows, then run the playbook enable.",
    "NotEnoughReplicasException": "Start the missing brokers of the target, or lower min.insync.replicas of the"
    " replica.",
    "SerializationException": "A converter changes the bytes of records: remove converter settings from"
    " kafka_dr_flow, then run the playbook enable.",
    "DataException": "A converter changes the bytes of records: remove converter settings from kafka_dr_flow, then"
    " run the playbook enable.",
    "ConfigException": "Correct the setting that it names in kafka_dr_flow, then run the playbook enable.",
    "TimeoutException": "A cluster did not respond to the worker in time: check that the worker's host can reach the"
    " brokers of both clusters, then run the playbook enable.",
}
_CLASS = re.compile(r"\b(?:[a-z][\w]*\.)+([A-Z]\w*Exception)\b")
_SIZE = re.compile(r"message is (\d+) bytes")


def failure_advice(trace: str) -> str:
    """The next step for a trace (its first line and innermost cause), or "" for an exception without a known remedy."""
    for name in reversed(_CLASS.findall(trace)):
        if name == "RecordTooLargeException":
            size = _SIZE.search(trace)
            return _TOO_LARGE.format(size=f"{size[1]} bytes") if size else _TOO_LARGE_THERE
        if name in _BY_CLASS:
            return _BY_CLASS[name]
    return ""


def with_advice(failures: Iterable[str]) -> str:
    """Failures as one text, each once, followed by the remedy of the first failure that has one."""
    texts = list(dict.fromkeys(failures))
    advice = next((found for text in texts if (found := failure_advice(text))), "")
    return " ".join(part for part in ("; ".join(texts), advice) if part)


def failed_text(name: str, failures: Iterable[str]) -> str:
    """A sentence that the connector ``name`` has failed, with its error and the remedy."""
    text = with_advice(failures)
    return f'the connector "{name}" has failed' + (f": {text}" if text else "")
