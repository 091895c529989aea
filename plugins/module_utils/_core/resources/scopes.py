# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Topics of the pair that a group demonstrably uses although its declaration omits them (R32).

A cutover translates committed offsets only for the topics in a group's scope. On any other topic that the group reads,
``auto.offset.reset`` would decide on the cluster being entered. So every such topic is refused by name.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from ..listing import first_few
from ..partition import Partition
from .groups import Member

__all__ = ["out_of_scope", "scope_problems"]

_SHOWN = 3


def out_of_scope(
    place: tuple[str, str],
    scope: Collection[str],
    pair_topics: Collection[str],
    commits: Mapping[Partition, int],
    members: Iterable[Member] = (),
    committed: str = "committed offset",
    earlier: Iterable[str] = (),
) -> list[dict[str, Any]]:
    """One row ``{group, alias, topic, evidence}`` for each topic that the group uses outside its scope.

    ``place``: group and alias. ``scope``: topics that the group may use on that cluster, replicas included.
    ``pair_topics``: all topics of the pair there, replicas included. ``committed``: what ``commits`` are. ``earlier``:
    topics that the group used earlier in the run (R40).
    """
    group, alias = place
    hidden = set(pair_topics) - set(scope)
    found: dict[str, list[str]] = {}
    for (topic, partition), offset in sorted(commits.items()):
        if topic in hidden:
            found.setdefault(topic, []).append(f"{committed} {offset} on partition {partition}")
    for member in members:
        for topic in sorted({topic for topic, _partition in member.partitions} & hidden):
            found.setdefault(topic, []).append(f"assigned to its member {member.client_id} at {member.host}")
    for topic in sorted(hidden.intersection(earlier) - found.keys()):
        found[topic] = ["assigned to a member earlier in this run"]
    return [
        {"group": group, "alias": alias, "topic": topic, "evidence": first_few(evidence, _SHOWN)}
        for topic, evidence in sorted(found.items())
    ]


def scope_problems(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """A refusal for each row of :func:`out_of_scope`, with the next step."""
    return [
        f'The group "{row["group"]}" uses the topic "{row["topic"]}" on {row["alias"]} ({row["evidence"]}), which its'
        " topics in kafka_dr_groups leave out. Its committed offsets there would not be moved. Add the topic to the"
        " group's topics (and to those of its clients), or stop the group from reading it and delete its committed"
        " offsets on that topic on both clusters (kafka-consumer-groups --delete-offsets)."
        for row in rows
    ]
