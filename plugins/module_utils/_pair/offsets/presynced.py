# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Positions that the scheduled job vouches for, kept where they survive the loss of the other side (R12).

A commit that is merely found on a cluster may be anybody's: a rehearsal's, or one of an old stay. What lies here was
translated while both sides could be read.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..._core.offsets.disaster import PresyncedOffset
from ..._kafka.client import Kafka
from ..._kafka.latest import read_latest, write_latest
from ..connections.clusters import on_each
from ..observation.pair import Partition

__all__ = ["presynced_offsets", "write_presynced"]


def write_presynced(
    kafkas: Mapping[str, Kafka],
    topic: str,
    place: tuple[str, str],
    since: tuple[float, int | None],
    rows: Iterable[Mapping[str, Any]],
    ids: Mapping[str, str],
) -> None:
    """One value for each group. ``place``: pair and alias.

    ``since``: before the positions were read; epoch seconds, and the log end of that side's topic of checkpoints.
    ``ids``: of the topics on that side. A topic that is created again under its name has nothing prepared.
    """
    pair, alias = place
    groups: dict[str, list[list[Any]]] = {}
    for row in rows:
        committed_offset = [row["topic"], row["partition"], row["offset"], row["left"], ids.get(row["topic"])]
        groups.setdefault(row["group"], []).append(committed_offset)
    values = {
        f"{pair}/positions/{alias}/{group}": {
            "schema": 1,
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
    """The latest positions on ``alias`` by group, on topics that have these ids; nothing where the job never ran."""
    found: dict[str, dict[Partition, PresyncedOffset]] = {}
    for value in (read_latest(kafka, topic) or {}).values():
        if value.get("kind") == "committed_offsets" and (value.get("pair"), value.get("to")) == (pair, alias):
            since, behind = float(value["since"]), value.get("checkpoints")
            found[value["group"]] = {
                (name, int(number)): PresyncedOffset(int(offset), since, None if left is None else int(left), behind)
                for name, number, offset, left, known in value["committed_offsets"]
                if known is not None and ids.get(name) == known
            }
    return found
