# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Store the offsets that the scheduled job translated, so that they survive the loss of a cluster (R12).

A committed offset on a cluster may come from any process, for example from a rehearsal or from an earlier tenure.
The offsets stored here were translated while both clusters could be read. They are bound to records of the log (R37).

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..._core.offsets.bindings import Bound, Witness
from ..._core.offsets.disaster import PresyncedOffset
from ..._core.partition import Partition, PartitionOffset
from ..._core.resources.topic_ids import CheckpointsEnd
from ..._kafka.client import Kafka
from ..._kafka.latest import read_latest, write_latest
from ..connections.clusters import on_each

__all__ = ["Presynced", "presynced_offsets", "write_presynced"]

#: Stored offsets by group and partition, and the records that they are bound to.
Presynced = dict[str, dict[Partition, tuple[PresyncedOffset, Bound]]]


# Values of schema 2 were not bound to records, those of schema 3 had no metadata, those of schema 4 no id of the
# checkpoints topic.
_SCHEMA = 5
_FIELDS = ("topic", "partition", "offset", "left")
# A value has the offsets of all partitions of a group, so longer metadata are not stored.
_LONGEST_METADATA = 200


def write_presynced(
    kafkas: Mapping[str, Kafka],
    topic: str,
    place: tuple[str, str],
    since: tuple[float, CheckpointsEnd],
    tenure: int,
    groups: Mapping[str, Iterable[Mapping[str, Any]]],
    witnesses: Mapping[PartitionOffset, Iterable[Witness]],
    ids: Mapping[str, str],
) -> None:
    """Write one value for each group to the state topic of every cluster, also for a group without any row.

    So an offset that cannot be translated any more, for example because the group was set back, is not kept (R39).

    ``place`` is the pair's name and the alias of the cluster that the offsets are for. ``since`` is taken before the
    committed offsets are read: epoch seconds, and the end of that cluster's checkpoints topic. ``tenure`` is the
    epoch of the run that moved the applications last. ``witnesses`` are the records that the offsets are bound to.
    ``ids`` are the topic ids on that cluster: offsets of a topic that was created again are ignored when read.
    """
    pair, alias = place
    values = {
        f"{pair}/committed_offsets/{alias}/{group}": {
            "schema": _SCHEMA,
            "pair": pair,
            "kind": "committed_offsets",
            "to": alias,
            "group": group,
            "since": since[0],
            "checkpoints": since[1],
            "tenure": tenure,
            "committed_offsets": [
                [
                    *(row[name] for name in _FIELDS),
                    ids.get(row["topic"]),
                    list(_of(row, witnesses)),
                    _short(row["metadata"] or ""),
                ]
                for row in rows
            ],
        }
        for group, rows in groups.items()
    }
    on_each(kafkas, lambda name: write_latest(kafkas[name], topic, values))


def _of(row: Mapping[str, Any], witnesses: Mapping[PartitionOffset, Iterable[Witness]]) -> Iterable[Witness]:
    return witnesses[Partition(row["topic"], row["partition"]), int(row["offset"])]


def _short(metadata: str) -> str:
    return metadata if len(metadata) <= _LONGEST_METADATA else ""


def presynced_offsets(
    kafka: Kafka, topic: str, pair: str, alias: str, tenure: int, ids: Mapping[str, str], checkpoints_id: str | None
) -> Presynced:
    """Return the latest stored offsets on ``alias``, and the records that they are bound to.

    Only those of the present tenure, for topics with these ids; empty if the job has not run since the last move.
    ``checkpoints_id``: of the checkpoints topic on ``alias``.
    """
    offsets: Presynced = {}
    for value in (read_latest(kafka, topic) or {}).values():
        if value.get("kind") != "committed_offsets" or (value.get("pair"), value.get("to")) != (pair, alias):
            continue
        if (value.get("schema"), value.get("tenure")) != (_SCHEMA, tenure):
            continue
        since, checkpoints = float(value["since"]), CheckpointsEnd(*value["checkpoints"]).within(checkpoints_id)
        offsets[value["group"]] = {
            (key := Partition(name, int(number))): (
                PresyncedOffset(
                    int(offset), since, None if left is None else int(left), checkpoints, metadata=metadata
                ),
                Bound.of(key, int(offset), [Witness.of(fields) for fields in witnesses]),
            )
            for name, number, offset, left, topic_id, witnesses, metadata in value["committed_offsets"]
            if topic_id is not None and ids.get(name) == topic_id
        }
    return offsets
