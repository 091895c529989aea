# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What applications may need beside records and positions, and Kafka does not carry to the other side: as names tell.

Sources: Confluent's and Karapace's default ``kafkastore.topic``, Kafka Streams' names of internal topics (KIP-216), the
groups of Kafka Connect's sinks (``connect-`` and the connector's name), KIP-932 for share groups.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Collection

from ..names import is_internal

__all__ = ["not_carried"]

_SCHEMAS = ("_schemas", "_confluent-schemas")
_SHARES = "__share_group_state"
_STATE = ("-changelog", "-repartition")
_SINK = "connect-"
_SHOWN = 5


def not_carried(
    alias: str, topics: Collection[str], groups: Collection[str], originals: Collection[str], replicas: str = ""
) -> list[str]:
    """Notes in words. ``topics``: all names on ``alias``; ``groups``: those that move; ``originals``: what is copied.

    ``replicas``: how names of what is copied to ``alias`` begin. Names only: a schema registry or a sink beside another
    cluster is not seen, and none of it is a verdict.
    """
    there = set(topics)
    reported = set(_SCHEMAS)
    notes = [
        f"{alias} has the topic {name}: records name their schemas by ids of that Schema Registry, and readers on the"
        " other side must reach the same ids"
        for name in _SCHEMAS
        if name in there and name not in originals
    ]
    for group in sorted(groups):
        own = sorted(name for name in there if name.startswith(f"{group}-") and name.endswith(_STATE))
        own = [name for name in own if name not in originals]
        reported |= set(own)
        if own:
            notes.append(
                f'"{group}" is an application of Kafka Streams ({len(own)} internal topics such as {own[0]}): its state'
                " is not copied; it is built anew, or is not there"
            )
        if group.startswith(_SINK):
            notes.append(
                f'"{group}" is a sink of Kafka Connect: its connector has to be made on the other side\'s workers, and'
                " what it wrote elsewhere stays as it is"
            )
    if _SHARES in there:
        notes.append(f"{alias} has share groups ({_SHARES}): what they have acknowledged is not copied")
    rest = sorted(
        name
        for name in there - reported - set(originals)
        if not is_internal(name) and not (replicas and name.startswith(replicas))
    )
    if rest:
        more = f" and {len(rest) - _SHOWN} more" if len(rest) > _SHOWN else ""
        notes.append(
            f"{alias} has {len(rest)} topics that the inventory does not have: {', '.join(rest[:_SHOWN])}{more}"
        )
    return notes
