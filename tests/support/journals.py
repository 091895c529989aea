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
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.bindings import Witness
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.tenures import nested
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.topics import log_ranges
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.offsets.bindings import (
    last_witnesses,
    witnesses_before,
)

__all__ = ["journal_state"]

TOPIC = "kafka-dr-tests-journal-internal"


def journal_state(
    clusters: Mapping[str, Any],
    way: tuple[str, str],
    *,
    trusted_offsets: Mapping[str, Any] | None = None,
    arrived: Mapping[str, Any] | None = None,
    bound: Mapping[str, Any] | None = None,
    checkpoints: tuple[int, str] | None = (0, ""),
    replays: Mapping[str, Any] | None = None,
    topic_ids: Mapping[str, Any] | None = None,
    offset_syncs_start: Mapping[str, Any] | None = None,
    checkpoints_start: Mapping[str, Any] | None = None,
    name: str = "",
    topic: str = TOPIC,
) -> dict[str, str]:
    """Write a new journal that folds into this state. Return its pair and topic, as ``as_pair`` takes them.

    ``clusters``: each gets a copy. ``way``: the alias being left and the alias being entered. ``trusted_offsets``: of
    the groups when they last left the alias being entered. ``arrived``: their exact offsets on the other cluster then,
    in the same form. ``bound``: the records that the trusted offsets are bound to; None: the last ones of the topics as
    they are now. ``checkpoints``: log end and id of the checkpoints topic then; None: unknown. ``replays``: by flow,
    the partitions whose tail was replayed, with the topic ids of the source. ``name``: of the pair; it needs a
    ``topic`` of its own.
    """
    leave, enter = way
    now, run = time.time(), "earlier"
    begun = {"type": "cutoff", "policy": "default", "from": enter, "to": leave}
    trusted = trusted_offsets or {}
    facts = {
        "committed_offsets": trusted,
        "bound": _bound(clusters[enter], trusted) if bound is None and trusted else bound or {},
        "entered": [
            {
                "group": group,
                "committed_offsets": [
                    {"topic": topic, "partition": int(number), "offset": offset}
                    for topic, numbers in topics.items()
                    for number, offset in numbers.items()
                ],
            }
            for group, topics in (arrived or {}).items()
        ],
        "inexact": [],
        "checkpoints": checkpoints,
    }
    starts = {"offset_syncs_start": offset_syncs_start or {}, "checkpoints_start": checkpoints_start or {}}
    known = {"topic_ids": topic_ids or {}, **starts}
    events = [
        Event(1, 0, "", "enabled", now, {"active": enter, **known}),
        Event(2, 0, run, "started", now, begun),
        Event(2, 1, run, "phase", now, {"phase": "barrier", "facts": facts}),
        Event(2, 2, run, "pnr", now, {}),
        Event(2, 3, run, "ended", now, {"result": "completed"}),
        *(
            Event(3 + number, 0, "", "replayed", now, {"flow": flow, "partitions": partitions})
            for number, (flow, partitions) in enumerate((replays or {}).items())
        ),
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


def _bound(cluster: Mapping[str, Any], trusted: Mapping[str, Any]) -> dict[str, Any]:
    """The records that trusted offsets are bound to at a barrier: those before each offset, and the last ones."""
    kafka = Kafka(cluster["bootstrap_servers"], cluster.get("client") or {}, 15.0)
    places = {
        (Partition(topic, int(number)), offset)
        for topics in trusted.values()
        for topic, numbers in topics.items()
        for number, offset in numbers.items()
    }
    logs = log_ranges(kafka, {key for key, _offset in places}, "read_committed")
    found = witnesses_before(kafka, places, logs, last_witnesses(kafka, logs))
    stored: dict[Partition, set[Witness]] = {}
    for (key, _offset), witnesses in found.items():
        stored.setdefault(key, set()).update(witnesses)
    return nested({key: sorted(witnesses) for key, witnesses in stored.items()})


def _create(admin: AdminClient, topic: str) -> None:
    try:
        admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(30)
    except KafkaException as error:
        if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
            raise
