# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the emulator of Aiven's API changes the ACLs of the lab. Without Kafka."""

from __future__ import annotations

import queue
from dataclasses import asdict

import pytest
from confluent_kafka.admin import AclBinding

from aiven_api import broker, kafka_acls
from aiven_api.errors import ApiError
from aiven_api.kafka_acls import Entry, KafkaService, NoBroker

ENTRY = Entry("User:a", "Topic", "T", "LITERAL", "Write", "DENY")


@pytest.mark.parametrize(
    "entry",
    [
        ENTRY,
        Entry("User:a", "Cluster", "kafka-cluster", "LITERAL", "IdempotentWrite", "ALLOW", "10.0.0.1"),
        Entry("User:a", "TransactionalId", "t-", "PREFIXED", "All", "ALLOW"),
        Entry("User:*", "Group", "g", "LITERAL", "DescribeConfigs", "ALLOW"),
    ],
    ids=lambda entry: entry.resource_type,
)
def test_an_acl_of_the_api_is_an_acl_of_kafka(entry: Entry) -> None:
    assert broker._entry(AclBinding(*broker._fields(entry))) == entry


class Restarting(NoBroker):
    """Brokers that do not respond to the first change."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: queue.Queue[str] = queue.Queue()
        self.refused = False

    def create(self, entry: Entry) -> None:
        if not self.refused:
            self.refused = True
            self.calls.put("refused")
            raise ApiError(503, "Kafka: no answer")
        super().create(entry)
        self.calls.put("applied")


def test_a_change_that_the_brokers_miss_is_listed_and_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kafka_acls, "_AGAIN_SECONDS", 0.01)
    brokers = Restarting()
    service = KafkaService("kafka", brokers, lambda: 0.0)
    row = service.add(asdict(ENTRY))
    assert (row, service.rows()) == (ENTRY.row(), [ENTRY.row()])
    assert [brokers.calls.get(timeout=10) for _call in range(2)] == ["refused", "applied"]
    assert brokers.applied == {ENTRY}
