# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which errors end by themselves. The only such lists: every wait and every repeated request uses them (R35).

Private to this collection: may change in any release.
"""

from __future__ import annotations

__all__ = ["BROKER_ERRORS", "HTTP_STATUSES", "LIBRARY_ERRORS", "is_retriable_code", "is_retriable_status"]

# Errors of brokers, by the name that librdkafka gives them. Kafka's own clients retry after each of them
# (org.apache.kafka.common.errors.RetriableException).
BROKER_ERRORS = frozenset(
    {
        # A leader moves, or its new epoch is not known everywhere yet.
        "NOT_LEADER_FOR_PARTITION",
        "LEADER_NOT_AVAILABLE",
        "UNKNOWN_LEADER_EPOCH",
        "FENCED_LEADER_EPOCH",
        "OFFSET_NOT_AVAILABLE",
        "PREFERRED_LEADER_NOT_AVAILABLE",
        "ELIGIBLE_LEADERS_NOT_AVAILABLE",
        # A broker has not learnt of a new topic yet.
        "UNKNOWN_TOPIC_OR_PART",
        "UNKNOWN_TOPIC_ID",
        "INCONSISTENT_TOPIC_ID",
        # A coordinator moves or loads, or a group rebalances.
        "COORDINATOR_LOAD_IN_PROGRESS",
        "COORDINATOR_NOT_AVAILABLE",
        "NOT_COORDINATOR",
        "REBALANCE_IN_PROGRESS",
        # A transaction is about to end.
        "UNSTABLE_OFFSET_COMMIT",
        "CONCURRENT_TRANSACTIONS",
        # A broker restarts, is slow, or lacks replicas.
        "NOT_CONTROLLER",
        "BROKER_NOT_AVAILABLE",
        "REPLICA_NOT_AVAILABLE",
        "LISTENER_NOT_FOUND",
        "NETWORK_EXCEPTION",
        "REQUEST_TIMED_OUT",
        "KAFKA_STORAGE_ERROR",
        "NOT_ENOUGH_REPLICAS",
        "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
        "THROTTLING_QUOTA_EXCEEDED",
    }
)
# Errors of librdkafka itself: no broker answered. _RESOLVE, _SSL and _AUTHENTICATION are settings to correct.
LIBRARY_ERRORS = frozenset(
    {
        "_TRANSPORT",
        "_ALL_BROKERS_DOWN",
        "_TIMED_OUT",
        "_TIMED_OUT_QUEUE",
        "_MSG_TIMED_OUT",
        # A broker that starts knows of no broker yet.
        "_PARTIAL",
        "_WAIT_COORD",
        "_WAIT_CACHE",
        "_RETRY",
    }
)
# Statuses of a server that starts or is busy, or of a proxy in front of it. Kafka Connect's 409 depends on its
# message (`_connect/http.py`).
HTTP_STATUSES = frozenset({429, 502, 503, 504})


def is_retriable_code(name: str) -> bool:
    """Whether the error of a broker or of librdkafka with this name ends by itself."""
    return name in BROKER_ERRORS or name in LIBRARY_ERRORS


def is_retriable_status(status: int) -> bool:
    """Whether a request that got this HTTP status may succeed later."""
    return status in HTTP_STATUSES
