# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds what applications may need and replication does not carry, by the names of topics and groups.

Sources: Confluent's and Karapace's default ``kafkastore.topic``, Kafka Streams' names of internal topics (KIP-216), the
groups of Kafka Connect's sinks (``connect-`` and the connector's name).

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Collection

from ..listing import first_few
from ..names import is_internal

__all__ = ["not_carried"]

_SCHEMAS = ("_schemas", "_confluent-schemas")
_STATE = ("-changelog", "-repartition")
_SINK = "connect-"


def not_carried(
    alias: str,
    topics: Collection[str],
    groups: Collection[str],
    originals: Collection[str],
    replicas: str = "",
) -> list[str]:
    """Notes in words. None of them is a verdict.

    ``topics``: all names on ``alias``. ``groups``: the groups that move. ``originals``: the topics that are replicated.
    ``replicas``: prefix of the replicas on ``alias``.
    A schema registry or a sink that uses another cluster is not found.
    """
    there = set(topics)
    reported = set(_SCHEMAS)
    notes = [
        f"{alias} has the topic {name}: records refer to schemas by ids of that Schema Registry, and consumers on the"
        " other cluster need the same ids"
        for name in _SCHEMAS
        if name in there and name not in originals
    ]
    for group in sorted(groups):
        own = sorted(name for name in there if name.startswith(f"{group}-") and name.endswith(_STATE))
        own = [name for name in own if name not in originals]
        reported |= set(own)
        if own:
            notes.append(
                f'"{group}" is a Kafka Streams application ({len(own)} internal topics such as {own[0]}): its state is'
                " not replicated, and must be rebuilt"
            )
        if group.startswith(_SINK):
            notes.append(
                f'"{group}" is a Kafka Connect sink: create its connector on the workers of the other cluster; what it'
                " wrote to other systems does not change"
            )
    rest = sorted(
        name
        for name in there - reported - set(originals)
        if not is_internal(name) and not (replicas and name.startswith(replicas))
    )
    if rest:
        notes.append(f"{alias} has {len(rest)} topics that are not in the inventory: {first_few(rest)}")
    return notes
