# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Topics and groups on a cluster that the patterns of the inventory take.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..._core.flows.pair_spec import PairSpec
from ..._core.resources.name_patterns import group_candidates, taken, topic_candidates
from ..._kafka import groups as kafka_groups
from ..._kafka.client import Kafka
from ..._kafka.topics import names as topic_names
from ..._kafka.topics import require_all_visible

__all__ = ["Matches", "candidate_topics", "matches", "unjoined"]


class Matches(NamedTuple):
    """Names that patterns take."""

    topics: list[str]
    groups: list[str]


def candidate_topics(kafka: Kafka, pair: PairSpec) -> list[str]:
    """Return the topics on the cluster that a pattern may take."""
    return topic_candidates(topic_names(kafka), pair.naming, pair.clusters, pair.journal_topic)


def matches(kafka: Kafka, pair: PairSpec, alias: str) -> Matches:
    """Return what the patterns of ``pair`` take on the cluster ``alias``.

    Of the groups, those with a committed offset on a topic of the pair, or on a topic that a pattern takes. Raises
    ``not_authorized`` if the cluster hides topics or groups from this account: a pattern would silently leave them out.
    """
    require_all_visible(kafka)
    by_topic, by_group = pair.patterns.get("topics", ()), pair.patterns.get("groups", ())
    topics = taken(by_topic, candidate_topics(kafka, pair)) if by_topic else []
    if not by_group:
        return Matches(topics, [])
    kafka_groups.require_all_groups_visible(kafka)
    groups = taken(by_group, group_candidates(kafka_groups.names(kafka)))
    originals = {*pair.topics, *topics}
    others = [other for other in pair.clusters if other != alias]
    ours = originals | {pair.naming.replica(other, topic) for other in others for topic in originals}
    offsets = kafka_groups.known_committed_offsets(kafka, groups) if groups else {}
    return Matches(topics, [name for name in groups if ours & {partition.topic for partition in offsets[name]}])


def unjoined(kafka: Kafka, pair: PairSpec, alias: str) -> list[dict[str, Any]]:
    """Return what the patterns take on the cluster ``alias`` and is not in the pair, one row each."""
    if not any(pair.patterns.values()):
        return []
    matched = matches(kafka, pair, alias)
    rows = [("topic", name) for name in matched.topics if name not in pair.topics]
    rows += [("group", name) for name in matched.groups if name not in pair.groups]
    return [{"alias": alias, "kind": kind, "name": name} for kind, name in rows]
