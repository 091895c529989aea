# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What has changed on the clusters since the inventory was written.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..names import connector_name, flow_name, naming_of
from ..resources.connector_settings import as_text
from .building import is_ordinary
from .flows import replica_sources
from .groups import choose_groups
from .observations import ClusterObservation, PairObservation
from .topics import left_out_topics, own_settings

__all__ = ["drift"]


def drift(pair: Mapping[str, Any], observation: PairObservation) -> list[str]:
    """Each difference between the inventory and the clusters, in words. ``pair``: as ``derive_pair`` returns it."""
    return [
        *_topic_drift(pair, observation),
        *_group_drift(pair, observation),
        *_flow_drift(pair, observation),
    ]


def _topic_drift(pair: Mapping[str, Any], observation: PairObservation) -> Iterator[str]:
    naming = naming_of(pair["policy"], pair["separator"])
    for topic in pair["topics"]:
        for cluster in observation.clusters:
            yield from _one_topic(topic, cluster)
    declared = {topic["name"] for topic in pair["topics"]}
    for cluster, other in (observation.clusters, observation.clusters[::-1]):
        reasons = left_out_topics(cluster, naming, replica_sources(cluster, other.alias))
        further = [name for name in sorted(cluster.topics) if name not in {*reasons, *declared}]
        if further:
            yield f"{cluster.alias} has topics that kafka_dr_topics does not name: {', '.join(further)}."


def _one_topic(topic: Mapping[str, Any], cluster: ClusterObservation) -> Iterator[str]:
    name, state = topic["name"], cluster.topics.get(topic["name"])
    where = f'The topic "{name}" on {cluster.alias}'
    if state is None:
        yield f"{where} does not exist, or may not be described."
        return
    if state.partitions != topic["partitions"]:
        yield f"{where} has {state.partitions} partitions, the inventory has {topic['partitions']}."
    factor = topic["replication_factor"]
    if factor is not None and state.replication_factor != factor:
        has = "different numbers of" if state.replication_factor is None else state.replication_factor
        yield f"{where} has {has} replicas, the inventory has {factor}."
    if name in cluster.without_settings:
        yield f"The settings of {where[0].lower()}{where[1:]} could not be read, so they were not compared."
        return
    wanted, present = {key: as_text(value) for key, value in topic["config"].items()}, own_settings(state)
    for key in sorted({*wanted, *present}):
        if wanted.get(key) != present.get(key):
            yield f"{where} has {key}={present.get(key, 'unset')}, the inventory has {wanted.get(key, 'none')}."


def _group_drift(pair: Mapping[str, Any], observation: PairObservation) -> Iterator[str]:
    home, away = observation.clusters
    declared = {*pair["groups"], *pair["local_groups"]}
    used = {client["group"] for client in pair["clients"]}
    for name in pair["groups"]:
        uses = [cluster.groups[name] for cluster in observation.clusters if name in cluster.groups]
        if not uses:
            yield f'The group "{name}" does not exist on either cluster, or may not be described.'
        elif used and name not in used and any(use.has_members for use in uses):
            yield f'The group "{name}" has members, and no application of kafka_dr_clients has this group.'
    naming = naming_of(pair["policy"], pair["separator"])
    topics = {topic["name"] for topic in pair["topics"]}
    for cluster, other in ((home, away), (away, home)):
        view = PairObservation(cluster, other)
        for choice in choose_groups(view, naming, topics, {}):
            if choice.name not in declared and choice.reads:
                kind = "" if is_ordinary(choice.name, cluster) else f" ({choice.reason})"
                reads = ", ".join(choice.reads)
                yield f'The group "{choice.name}"{kind} reads {reads} on {cluster.alias}, and kafka_dr_groups omits it.'
            wanted = pair["group_topics"].get(choice.name)
            if wanted and (more := sorted(set(choice.reads) - set(wanted))):
                yield f'The group "{choice.name}" reads {", ".join(more)} on {cluster.alias}, which its topics omit.'
        unknown = sorted(name for name in declared & set(cluster.groups) if not cluster.groups[name].known)
        if unknown:
            yield f"The groups {', '.join(unknown)} on {cluster.alias} could not be read completely."


def _flow_drift(pair: Mapping[str, Any], observation: PairObservation) -> Iterator[str]:
    for target, source in (observation.clusters, observation.clusters[::-1]):
        flow = flow_name(source.alias, target.alias)
        if target.connectors is None:
            yield f"The connectors of {flow} could not be read."
            continue
        yield from _one_flow(pair, flow, source.alias, target)


def _one_flow(pair: Mapping[str, Any], flow: str, source: str, target: ClusterObservation) -> Iterator[str]:
    listed = {connector.name: connector for connector in target.connectors or ()}
    own = connector_name(source, target.alias, "source", pair["application"])
    adopted = (pair["adopt"].get(flow) or {}).get("connectors") or {}
    if listed and own not in listed:
        yield f'The connector "{own}" does not exist.'
    elif own in listed and listed[own].state == "FAILED":
        yield f'The connector "{own}" is FAILED.'
    others: Sequence[str] = [
        name
        for name, connector in sorted(listed.items())
        if connector.part == "source"
        and connector.ends == (source, target.alias)
        and name not in (own, *adopted.values())
        and connector.state != "STOPPED"
    ]
    if others:
        yield f"Other connectors replicate {flow}: {', '.join(others)}."
