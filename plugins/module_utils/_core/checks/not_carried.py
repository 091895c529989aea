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
from ..names import Naming, is_internal

__all__ = ["not_carried"]

_SCHEMAS = ("_schemas", "_confluent-schemas")
_STATE = ("-changelog", "-repartition")
_SINK = "connect-"


def not_carried(
    alias: str,
    topics: Collection[str],
    groups: Collection[str],
    originals: Collection[str],
    other: str,
    naming: Naming,
) -> list[str]:
    """Notes in words. None of them is a verdict.

    ``topics``: all names on ``alias``. ``groups``: the groups that move. ``originals``: the topics that are replicated.
    A topic that is replicated is named too, with what the policy makes of it: no registry and no application reads a
    replica under another name. ``other``: alias of the other cluster.
    A schema registry or a sink that uses another cluster is not found.
    """
    there = set(topics)
    reported = set(_SCHEMAS)
    notes = [
        f"{alias} has the topic {name}: records refer to schemas by ids of that Schema Registry, and consumers on"
        f" {other} need the same ids{_replicated_schemas(name, alias, other, naming) if name in originals else ''}"
        for name in _SCHEMAS
        if name in there
    ]
    for group in sorted(groups):
        own = sorted(name for name in there if name.startswith(f"{group}-") and name.endswith(_STATE))
        left_out = [name for name in own if name not in originals]
        reported |= set(own)
        if left_out:
            notes.append(
                f'"{group}" is a Kafka Streams application ({len(left_out)} internal topics such as {left_out[0]}): its'
                " state is not replicated, and must be rebuilt"
            )
        replicated = [name for name in own if name in originals]
        if replicated:
            notes.append(
                f'"{group}" is a Kafka Streams application, and {len(replicated)} of its internal topics such as'
                f" {replicated[0]} are in the inventory{_replicated_state(replicated[0], alias, other, naming)}"
            )
        if group.startswith(_SINK):
            notes.append(
                f'"{group}" is a Kafka Connect sink: create its connector on the workers of the other cluster; what it'
                " wrote to other systems does not change"
            )
    rest = sorted(
        name
        for name in there - reported - set(originals)
        if not is_internal(name) and (naming.keeps_names or not name.startswith(naming.replica(other, "")))
    )
    if rest:
        notes.append(f"{alias} has {len(rest)} topics that are not in the inventory: {first_few(rest)}")
    return notes


def _replicated_schemas(name: str, alias: str, other: str, naming: Naming) -> str:
    """What the replica of a registry's topic is good for."""
    if naming.keeps_names:
        return (
            f". The flow replicates it under that name, so a Schema Registry on {other} must only read it"
            f" (leader.eligibility=false) while the applications live on {alias}"
        )
    return (
        f". Its replica on {other} is {naming.replica(alias, name)}, which no Schema Registry reads: replicate the"
        " schemas with the registry's own means"
    )


def _replicated_state(name: str, alias: str, other: str, naming: Naming) -> str:
    """What the replicas of internal topics of Kafka Streams are good for."""
    if naming.keeps_names:
        return (
            ": after a planned move, its state is complete there; after a disaster, it is from another moment than the"
            f" committed offsets. Remove local state directories on {other} before it starts there"
        )
    return (
        f": their replicas on {other}, such as {naming.replica(alias, name)}, are read by no application. It creates"
        " internal topics of its own there, and its state must be rebuilt"
    )
