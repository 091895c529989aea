# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The latest values of a topic: a client reads each record once, and returns what a new client returns."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka import latest, topics
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.records import data_records
from ansible_collections.switchback.kafka_dr.plugins.modules import kafka_topic
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module

pytestmark = pytest.mark.integration


def client(lab: Any) -> Kafka:
    return Kafka(lab.info()["clusters"]["P"]["bootstrap_servers"], {}, 15.0)


def create(lab: Any, name: str) -> None:
    item = {"name": name, "partitions": 1, "config": {"cleanup.policy": "compact"}}
    run_module(kafka_topic, {"bootstrap_servers": client(lab).bootstrap_servers, "topics": [item]})


def test_a_client_reads_each_record_once(lab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    name, kafka, other = f"latest-{uuid.uuid4().hex[:8]}", client(lab), client(lab)
    ranges: list[tuple[int, int]] = []

    def noted(kafka: Kafka, place: Partition, start: int, end: int) -> Any:
        ranges.append((start, end))
        return data_records(kafka, place, start, end)

    monkeypatch.setattr(latest, "data_records", noted)
    assert latest.read_latest(kafka, name) is None
    create(lab, name)
    latest.write_latest(other, name, {"a": {"n": 1}, "b": {"n": 1}})
    assert latest.read_latest(kafka, name) == {"a": {"n": 1}, "b": {"n": 1}}
    latest.write_latest(other, name, {"a": {"n": 2}, "b": None, "c": {"n": 3}})
    second = latest.read_latest(kafka, name)
    assert second == {"a": {"n": 2}, "c": {"n": 3}} == latest.read_latest(client(lab), name)
    assert ranges == [(0, 2), (2, 5), (0, 5)]
    assert second is not None
    second.clear()
    assert latest.read_latest(kafka, name) == {"a": {"n": 2}, "c": {"n": 3}}


def test_a_topic_that_was_created_again_is_read_anew(lab: Any) -> None:
    name, kafka, other = f"latest-{uuid.uuid4().hex[:8]}", client(lab), client(lab)
    create(lab, name)
    latest.write_latest(other, name, {"a": {"n": 1}})
    assert latest.read_latest(kafka, name) == {"a": {"n": 1}}
    topics.delete(other, [name], check=False)
    create(lab, name)
    latest.write_latest(other, name, {"b": {"n": 1}, "c": {"n": 2}})
    assert latest.read_latest(kafka, name) == {"b": {"n": 1}, "c": {"n": 2}} == latest.read_latest(client(lab), name)
