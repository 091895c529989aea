# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The trace of a failed task leads to the setting that helps. The traces are from Kafka Connect 4.3.1."""

from __future__ import annotations

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.task_failures import (
    failure_advice,
    with_advice,
)

COMMON = "org.apache.kafka.common.errors."
SENT = "org.apache.kafka.connect.errors.ConnectException: Unrecoverable exception from producer send callback"
TOO_LARGE = (
    f"{SENT} / Caused by: {COMMON}RecordTooLargeException: The message is 3000088 bytes when serialized which is larger"
    " than 1048576, which is the value of the max.request.size configuration."
)
TOO_LARGE_THERE = (
    f"{SENT} / Caused by: {COMMON}RecordTooLargeException: The request included a message larger than the max message"
    " size the server will accept."
)


def test_a_record_above_the_producer_s_limit_names_that_limit_and_the_size() -> None:
    found = failure_advice(TOO_LARGE)
    assert "set producer.override.max.request.size above 3000088 bytes in source_settings of kafka_dr_flow" in found
    assert "uncompressed" in found
    assert "max.message.bytes of the replica" in found


def test_a_record_above_the_replica_s_limit_names_that_limit() -> None:
    found = failure_advice(TOO_LARGE_THERE)
    assert "max.request.size" not in found
    assert "raise max.message.bytes of the replica" in found


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("TopicAuthorizationException: Not authorized to access topics: [P.Payments]", "docs/security.md"),
        ("SaslAuthenticationException: Authentication failed", "login"),
        ("UnknownTopicOrPartitionException: This server does not host this topic-partition.", "playbook enable"),
        ("InvalidReplicationFactorException: Replication factor: 3 larger than available brokers", "kafka_dr_flow"),
        ("InvalidTopicException: Topic name is too long", "249"),
        ("SerializationException: no", "converter"),
    ],
)
def test_each_known_exception_has_its_remedy(name: str, expected: str) -> None:
    assert expected in failure_advice(f"{SENT} / Caused by: {COMMON}{name}")


def test_an_unknown_exception_has_no_remedy() -> None:
    assert failure_advice("java.lang.NullPointerException: null") == ""
    assert failure_advice("") == ""


def test_equal_failures_of_several_tasks_are_reported_once() -> None:
    text = with_advice([f"task: {TOO_LARGE}", f"task: {TOO_LARGE}"])
    assert text.count("RecordTooLargeException") == 1
    assert text.endswith("Then run the playbook enable.")
    assert with_advice(["task 0: java.lang.NullPointerException"]) == "task 0: java.lang.NullPointerException"
    assert with_advice([]) == ""
