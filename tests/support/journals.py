# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Journals for modules that read the state of a pair."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.journal.events import Event, encode

__all__ = ["journal_state"]

TOPIC = "kafka-dr-tests-journal-internal"


def journal_state(
    clusters: Mapping[str, Any],
    way: tuple[str, str],
    *,
    trusted_offsets: Mapping[str, Any] | None = None,
    topic_ids: Mapping[str, Any] | None = None,
    offset_syncs_start: Mapping[str, Any] | None = None,
    name: str = "",
    topic: str = TOPIC,
) -> dict[str, str]:
    """Write a new journal that folds into this state. Return its pair and topic, as ``as_pair`` takes them.

    ``clusters``: each gets a copy. ``way``: the alias being left and the alias being entered. ``trusted_offsets``: of
    the groups when they last left the alias being entered. ``name``: of the pair; it needs a ``topic`` of its own.
    """
    leave, enter = way
    now, run = time.time(), "earlier"
    begun = {"type": "cutoff", "policy": "default", "from": enter, "to": leave}
    known = {"topic_ids": topic_ids or {}, "offset_syncs_start": offset_syncs_start or {}}
    events = [
        Event(1, 0, "", "enabled", now, {"active": enter, **known}),
        Event(2, 0, run, "started", now, begun),
        Event(2, 1, run, "phase", now, {"phase": "barrier", "facts": {"committed_offsets": trusted_offsets or {}}}),
        Event(2, 2, run, "pnr", now, {}),
        Event(2, 3, run, "ended", now, {"result": "completed"}),
    ]
    pair = name or f"pair-{uuid.uuid4().hex[:12]}"
    for cluster in clusters.values():
        client = {"bootstrap.servers": cluster["bootstrap_servers"], **(cluster.get("client") or {})}
        _create(AdminClient(client), topic)
        producer = Producer(client)
        for event in events:
            producer.produce(topic, key=pair.encode(), value=encode(pair, event), partition=0)
        assert producer.flush(30) == 0
    return {"pair": pair, "topic": topic}


def _create(admin: AdminClient, topic: str) -> None:
    try:
        admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(30)
    except KafkaException as error:
        if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
            raise
