# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which topics of a cluster belong into the inventory, and why the others do not.

Sources: org.apache.kafka.connect.mirror.DefaultReplicationPolicy and MirrorMakerConfig; Kafka Streams developer guide,
"Manage internal topics"; the default topics of Connect workers in distributed mode.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from ..listing import first_few
from ..names import HEARTBEATS, JOURNAL_TOPIC, STATE_TOPIC, Naming, is_internal, salvage_topic
from ..resources.topics import BATCH_OVERHEAD, TopicState
from .draft import Item
from .observations import ClusterObservation, GroupUse, PairObservation
from .yaml_text import is_template

__all__ = [
    "TEMPLATE",
    "dedicated_sources",
    "grouped",
    "is_streams",
    "largest_record",
    "left_out_topics",
    "original_of",
    "own_settings",
    "replication_factor",
    "shown",
    "streams_application",
    "topic_items",
]

#: Why a name or a value cannot be in an inventory.
TEMPLATE = "Ansible would evaluate its name as a template"
_STREAMS = re.compile(r"-(changelog|repartition)$")
_STREAMS_ASSIGNORS = ("stream", "streams")
_WORKER_TOPIC = re.compile(r"(?P<name>.+)(?P<glue>[-._])(?P<kind>configs?|offsets?|status(es)?)$")
_DEDICATED = re.compile(r"mm2-offsets\.(?P<source>.+)\.internal")
# They name brokers of one cluster.
_NOT_PORTABLE = ("leader.replication.throttled.replicas", "follower.replication.throttled.replicas")
_SHOWN = 20


def left_out_topics(cluster: ClusterObservation, naming: Naming, sources: Iterable[str]) -> dict[str, str]:
    """The topics of a cluster that no inventory should name, each with the reason.

    ``sources``: aliases of clusters whose replicas the cluster may have.
    """
    prefixes = [] if naming.keeps_names else [f"{alias}{naming.separator}" for alias in sources]
    workers = _worker_topics(cluster.topics)
    reasons: dict[str, str] = {}
    for name in sorted(cluster.topics):
        reason = _internal(name) or _replica(name, prefixes, naming.separator) or workers.get(name, "")
        if not reason and (application := streams_application(name, cluster.groups)):
            reason = f'internal to the Kafka Streams application "{application}"'
        if not reason and name.endswith(".salvage") and name.removesuffix(".salvage") in cluster.topics:
            reason = "records that the playbook salvage restored"
        if not reason:
            reason = _impossible(name, naming, cluster.alias)
        if reason:
            reasons[name] = reason
    return reasons


def _internal(name: str) -> str:
    """The reason for a topic that Kafka, Kafka Connect, MirrorMaker 2 or this collection has made; "": none."""
    if name in (JOURNAL_TOPIC, STATE_TOPIC) or name.startswith("kafka-dr-rehearsal"):
        return "belongs to this collection"
    if name == HEARTBEATS or name.endswith(".heartbeats"):
        return "heartbeats of MirrorMaker 2"
    if name.startswith("mm2-offset-syncs"):
        return "offset-syncs of MirrorMaker 2"
    if name.endswith("checkpoints.internal"):
        return "checkpoints of MirrorMaker 2"
    if name.startswith(("mm2-", "srm-")):
        return "internal to MirrorMaker 2 or Streams Replication Manager"
    if name.startswith("connect-"):
        return "has the name of a topic of Kafka Connect"
    if name.startswith("__"):
        return "internal to Kafka"
    return "internal: flows never replicate this name" if is_internal(name) or name.startswith(".") else ""


def _replica(name: str, prefixes: Sequence[str], separator: str) -> str:
    prefix = next((prefix for prefix in prefixes if name.startswith(prefix)), "")
    return f"replica from {prefix.removesuffix(separator)}" if prefix else ""


def _worker_topics(topics: Mapping[str, TopicState]) -> dict[str, str]:
    """Compacted topics that differ only in their endings, as those of a group of Connect workers do."""
    families: dict[tuple[str, str], dict[str, str]] = {}
    for name, state in topics.items():
        match = _WORKER_TOPIC.fullmatch(name)
        policy = state.config.get("cleanup.policy")
        if match and policy is not None and policy.value == "compact":
            families.setdefault((match["name"], match["glue"]), {})[match["kind"][:6]] = name
    return {
        name: "configs, offsets or status of Connect workers"
        for family in families.values()
        if len(family) == 3
        for name in family.values()
    }


def streams_application(topic: str, groups: Mapping[str, GroupUse]) -> str:
    """The group that is the Kafka Streams application of an internal topic; "": none."""
    if not _STREAMS.search(topic):
        return ""
    owners = [name for name in groups if topic.startswith(f"{name}-")]
    return max(owners, key=len, default="")


def is_streams(name: str, use: GroupUse, topics: Iterable[str]) -> bool:
    """Whether a group is a Kafka Streams application, by its assignor, its type or its internal topics."""
    state = use.state
    if state is not None and (state.assignor in _STREAMS_ASSIGNORS or state.type == "streams"):
        return True
    return any(_STREAMS.search(topic) and topic.startswith(f"{name}-") for topic in topics)


def _impossible(name: str, naming: Naming, alias: str) -> str:
    if len(naming.replica(alias, name)) > 249 or len(salvage_topic(name)) > 249:
        return "the name of its replica would be too long"
    return ""


def original_of(topic: str, naming: Naming, source: str) -> str:
    """The original of a replica from ``source``; another topic is its own original."""
    return topic if naming.keeps_names else topic.removeprefix(f"{source}{naming.separator}")


def dedicated_sources(topics: Iterable[str]) -> dict[str, str]:
    """The offsets topics of dedicated MirrorMaker 2 processes, each with the alias of the source."""
    return {topic: match["source"] for topic in topics if (match := _DEDICATED.fullmatch(topic))}


def grouped(reasons: Mapping[str, str]) -> tuple[str, ...]:
    """One line for each reason, with the names that it applies to."""
    names: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        names.setdefault(reason, []).append(name)
    return tuple(f"{reason}: {shown(listed)}" for reason, listed in sorted(names.items()))


def shown(names: Sequence[str]) -> str:
    """The first names of a list, and the number of the others."""
    return first_few(names, _SHOWN)


def own_settings(state: TopicState) -> dict[str, str]:
    """The settings that the topic itself has, as an inventory may contain them."""
    return {
        key: str(setting.value)
        for key, setting in sorted(state.config.items())
        if setting.override and setting.value is not None and key not in _NOT_PORTABLE
    }


def replication_factor(observation: PairObservation, topics: Iterable[str]) -> int | None:
    """The largest factor of ``topics`` that both clusters have enough brokers for; None: unknown."""
    factors = [observation.home.topics[name].replication_factor for name in topics]
    known = [factor for factor in factors if factor is not None]
    return min(max(known), *_brokers(observation)) if known else None


def largest_record(observation: PairObservation, topics: Iterable[str]) -> int:
    """Size in bytes of the largest record that one of ``topics`` accepts on the home cluster. 0: unknown."""
    settings = [observation.home.topics[name].config.get("max.message.bytes") for name in topics]
    return max((int(one.value) - BATCH_OVERHEAD for one in settings if one and one.value), default=0)


def _brokers(observation: PairObservation) -> tuple[int, int]:
    return observation.home.brokers, observation.away.brokers


def topic_items(observation: PairObservation, names: Iterable[str], questions: Mapping[str, str]) -> list[Item]:
    """One item for each topic of the draft. ``questions``: about some of them."""
    return [_topic_item(observation, name, questions.get(name, "")) for name in names]


def _topic_item(observation: PairObservation, name: str, question: str) -> Item:
    home, away = observation.clusters
    state, other = home.topics[name], away.topics.get(name)
    todos, notes = [question] if question else [], []
    settings = own_settings(state)
    unwritable = [key for key, value in settings.items() if is_template(value) or is_template(key)]
    value: dict[str, object] = {"name": name, "partitions": state.partitions}
    factor = state.replication_factor
    if factor is not None and factor <= min(_brokers(observation)):
        value["replication_factor"] = factor
    elif factor is not None:
        few = min(observation.clusters, key=lambda cluster: cluster.brokers)
        todos.append(
            f"{factor} replicas on {home.alias}, but {few.alias} has {few.brokers} brokers: how many replicas?"
        )
    if kept := {key: text for key, text in settings.items() if key not in unwritable}:
        value["config"] = kept
    if unwritable:
        todos.append(f"add the setting {', '.join(unwritable)}, whose value Ansible would evaluate as a template.")
    if name in home.without_settings:
        todos.append(f"its settings on {home.alias} could not be read. Add those that are not defaults.")
    if other is not None:
        notes.append(f"also on {away.alias}")
        todos += _differences(away, other, state, settings)
    return Item(value, note="; ".join(notes), todos=tuple(todos))


def _differences(
    away: ClusterObservation, other: TopicState, state: TopicState, settings: Mapping[str, str]
) -> list[str]:
    """What differs between the original on the home cluster and the topic of its name on the other one."""
    texts = []
    if other.partitions != state.partitions:
        texts.append(f"it has {other.partitions} partitions on {away.alias}. The playbook enable refuses that.")
    if other.name in away.without_settings:
        return [*texts, f"its settings on {away.alias} could not be read, so they were not compared."]
    differing = {key: value for key, value in own_settings(other).items() if settings.get(key) != value}
    if differing:
        values = ", ".join(f"{key}={value}" for key, value in differing.items())
        texts.append(
            f"on {away.alias} it has {values}. Which value is right? The settings here apply to both clusters."
        )
    return texts
