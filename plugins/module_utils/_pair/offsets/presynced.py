# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Store the offsets that the scheduled job translated, so that they survive the loss of a cluster (R12).

A committed offset on a cluster may come from any process, for example from a rehearsal or from an earlier tenure.
The offsets stored here were translated while both clusters could be read.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..._core.offsets.disaster import PresyncedOffset
from ..._core.partition import Partition
from ..._kafka.client import Kafka
from ..._kafka.latest import read_latest, write_latest
from ..connections.clusters import on_each

__all__ = ["presynced_offsets", "write_presynced"]


def write_presynced(
    kafkas: Mapping[str, Kafka],
    topic: str,
    place: tuple[str, str],
    since: tuple[float, int | None],
    rows: Iterable[Mapping[str, Any]],
    ids: Mapping[str, str],
) -> None:
    """Write one value for each group to the state topic of every cluster.

    ``place`` is the pair's name and the alias of the cluster that the offsets are for. ``since`` is taken before the
    committed offsets are read: epoch seconds, and the log end of that cluster's checkpoint topic (None: no such topic).
    ``ids`` are the topic ids on that cluster: offsets of a topic that was created again are ignored when read.
    """
    pair, alias = place
    groups: dict[str, list[list[Any]]] = {}
    for row in rows:
        committed_offset = [row["topic"], row["partition"], row["offset"], row["left"], ids.get(row["topic"])]
        groups.setdefault(row["group"], []).append(committed_offset)
    values = {
        f"{pair}/committed_offsets/{alias}/{group}": {
            "schema": 2,
            "pair": pair,
            "kind": "committed_offsets",
            "to": alias,
            "group": group,
            "since": since[0],
            "checkpoints": since[1],
            "committed_offsets": committed_offsets,
        }
        for group, committed_offsets in groups.items()
    }
    on_each(kafkas, lambda name: write_latest(kafkas[name], topic, values))


def presynced_offsets(
    kafka: Kafka, topic: str, pair: str, alias: str, ids: Mapping[str, str]
) -> dict[str, dict[Partition, PresyncedOffset]]:
    """Return the latest stored offsets on ``alias`` by group, for topics with these ids; empty if the job never ran."""
    offsets: dict[str, dict[Partition, PresyncedOffset]] = {}
    for value in (read_latest(kafka, topic) or {}).values():
        if value.get("kind") == "committed_offsets" and (value.get("pair"), value.get("to")) == (pair, alias):
            since, checkpoints = float(value["since"]), value.get("checkpoints")
            offsets[value["group"]] = {
                Partition(name, int(number)): PresyncedOffset(
                    int(offset), since, None if left is None else int(left), checkpoints
                )
                for name, number, offset, left, topic_id in value["committed_offsets"]
                if topic_id is not None and ids.get(name) == topic_id
            }
    return offsets
