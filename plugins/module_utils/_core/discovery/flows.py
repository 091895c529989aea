# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Existing MirrorMaker 2 flows, and what ``kafka_dr_adopt`` must contain for them.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..inventory.adoption import config_problems
from ..names import CONNECTORS, POLICIES, Naming, connector_name, flow_name, naming_of, offsets_topic
from ..resources.topic_filters import filters_of
from .draft import Item, Section
from .observations import ClusterObservation, MirrorConnector, PairObservation
from .topics import dedicated_sources, shown

__all__ = ["flow_section", "observed_naming", "replica_sources"]

_OLD = (
    "MirrorMaker 2 flows that exist. The playbook enable takes over their stored offsets (docs/procedures/enable.md)."
)


@dataclass(frozen=True)
class _Flow:
    """One direction of the pair, as observed."""

    source: ClusterObservation
    target: ClusterObservation
    naming: Naming

    @property
    def name(self) -> str:
        return flow_name(self.source.alias, self.target.alias)

    @property
    def connectors(self) -> list[MirrorConnector]:
        """Connectors on the target's workers between these aliases."""
        ends = (self.source.alias, self.target.alias)
        return [connector for connector in self.target.connectors or () if connector.ends == ends]

    def of_part(self, part: str) -> list[MirrorConnector]:
        """Connectors of a part with other names than those of the pair."""
        own = connector_name(self.source.alias, self.target.alias, part)
        return [connector for connector in self.connectors if connector.part == part and connector.name != own]

    @property
    def has_own(self) -> bool:
        """True if the pair's own source connector exists."""
        own = connector_name(self.source.alias, self.target.alias, "source")
        return any(connector.name == own for connector in self.connectors)


def observed_naming(observation: PairObservation, policy: str | None, separator: str | None) -> Naming:
    """How replicas are named: as the user says, else as the existing source connectors name them.

    A given default counts as not given, because roles fill it in.
    """
    usual = naming_of()
    sources = [
        connector
        for cluster in observation.clusters
        for connector in cluster.connectors or ()
        if connector.part == "source"
    ]
    classes = {naming.java_class: name for name, naming in POLICIES.items()}
    observed = next((classes[connector.policy] for connector in sources if connector.policy in classes), usual.policy)
    used = next((connector.separator for connector in sources), usual.separator)
    return naming_of(
        observed if policy in (None, usual.policy) else policy,
        used if separator in (None, usual.separator) else str(separator),
    )


def replica_sources(cluster: ClusterObservation, other: str) -> list[str]:
    """Aliases whose replicas a cluster may have: the other alias, and those that existing flows use."""
    sources = {connector.ends[0] for connector in cluster.connectors or () if connector.part == "source"}
    return sorted({other, *sources, *dedicated_sources(cluster.topics).values()} - {cluster.alias})


def flow_section(
    observation: PairObservation, naming: Naming, topics: Collection[str], left_out: Mapping[str, str], refused: str
) -> Section:
    """``kafka_dr_adopt``, or a comment if there is nothing to adopt.

    ``left_out``: topics of the home cluster that the draft leaves out. ``refused``: why the engine cannot adopt
    connectors, "" if it can.
    """
    home, away = observation.clusters
    flows = [_Flow(home, away, naming), _Flow(away, home, naming)]
    items, todos, comments = [], [], []
    for flow in flows:
        omitted = set(left_out) if flow.source is home else set(flow.source.topics) - set(topics)
        item, questions, remarks = _adoption(flow, omitted)
        items += [item] if item else []
        todos += questions
        comments += remarks
    for cluster, other in ((home, away), (away, home)):
        todos += _other_aliases(cluster, other)
    if items and (refused or naming.starts_at_cut):
        why = refused or "with the policy identity, the playbook enable finds by content where a flow starts"
        names = shown([connector.name for flow in flows for connector in flow.connectors])
        return Section(comments=(*comments, f"Nothing to adopt: {why}."), todos=(*todos, f"stop {names} first."))
    if not items:
        return Section(comments=tuple(comments) or ("No other MirrorMaker 2 flow was observed.",), todos=tuple(todos))
    return Section("adopt", items=tuple(items), comments=(_OLD, *comments), todos=tuple(todos))


def _adoption(flow: _Flow, omitted: Collection[str]) -> tuple[Item | None, list[str], list[str]]:
    """The item of one flow, the questions about it and the comments."""
    sources = flow.of_part("source")
    if flow.target.connectors is None:
        return None, [f"the connectors of {flow.name} could not be read. Name existing ones in kafka_dr_adopt."], []
    if flow.has_own:
        others = f" {shown([connector.name for connector in sources])} also exist." if sources else ""
        return None, [], [f"{flow.name}: the connectors of this pair exist.{others}"]
    if sources and "/" in sources[0].name and sources[0].replicated is None:
        return _of_mirror_maker(flow, sources[0].name.partition("/")[0])
    if sources:
        return _of_connectors(flow, sources, omitted)
    return _of_dedicated(flow)


def _of_connectors(
    flow: _Flow, sources: Sequence[MirrorConnector], omitted: Collection[str]
) -> tuple[Item | None, list[str], list[str]]:
    value: dict[str, Any] = {"source": sources[0].name}
    todos = []
    if len(sources) > 1:
        todos.append(f"{shown([one.name for one in sources])} all replicate {flow.name}, and only one can be adopted.")
    problems = config_problems("source", sources[0].settings, flow.source.alias, flow.target.alias, flow.naming)
    for part in CONNECTORS:
        others = flow.of_part(part)
        if part != "source" and others:
            value[part] = others[0].name
            problems += config_problems(part, others[0].settings, flow.source.alias, flow.target.alias, flow.naming)
    if problems:
        todos.append(f"{sources[0].name} cannot be adopted as it is: {'; '.join(problems)}.")
    leave = _replicated(sources[0], omitted)
    if leave:
        value["leave_topics"] = sorted(leave)
    if sources[0].replicated is None:
        todos.append(f"the stored offsets of {sources[0].name} could not be read. Check leave_topics.")
    note = "leave_topics are replicated now, and not afterwards" if leave else ""
    return Item(value, key=flow.name, note=note, todos=tuple(todos)), [], [_described(flow)]


def _replicated(source: MirrorConnector, omitted: Collection[str]) -> set[str]:
    """The topics outside of the draft that a connector replicates, except those that no flow carries."""
    (taken,) = filters_of(source.settings, ("topics",))
    return {
        topic
        for topic in omitted
        if topic in (source.replicated or ())
        or (taken.takes(topic) is not False and not _never_replicated(topic, source))
    }


def _never_replicated(topic: str, source: MirrorConnector) -> bool:
    """Topics that MirrorMaker 2 itself leaves out: internal ones, and replicas that would go back."""
    internal = topic.startswith(("__", ".", "mm2-")) or topic.endswith((".internal", "-internal"))
    return internal or topic.endswith("heartbeats") or topic.startswith(f"{source.ends[1]}{source.separator}")


def _described(flow: _Flow) -> str:
    parts = [f"{connector.name} ({connector.part}, {connector.state})" for connector in flow.connectors]
    return f"{flow.name}: {shown(parts)}"


def _of_mirror_maker(flow: _Flow, resource: str) -> tuple[Item | None, list[str], list[str]]:
    """Connectors of a KafkaMirrorMaker2 can be adopted only by their offsets topic. The names are those of v1beta2."""
    todo = (
        f"set spec.replicas to 0 in the KafkaMirrorMaker2 {resource} before the playbook enable. If its spec names"
        " another group or offsets topic, correct them."
    )
    value = {"offsets_topic": "mirrormaker2-cluster-offsets", "group": "mirrormaker2-cluster"}
    return Item(value, key=flow.name, todos=(todo,)), [], [_described(flow)]


def _of_dedicated(flow: _Flow) -> tuple[Item | None, list[str], list[str]]:
    """A dedicated MirrorMaker 2 leaves only its offsets topic on the target; other processes leave only replicas."""
    topic = offsets_topic(flow.source.alias)
    if topic in flow.target.topics:
        todos = ("stop this dedicated MirrorMaker 2 with SIGTERM before the playbook enable, or remove the line if it"
                 " no longer exists.",)  # fmt: skip
        return Item({"offsets_topic": topic}, key=flow.name, todos=todos), [], []
    replicas = [
        name for name in flow.source.topics if flow.naming.replica(flow.source.alias, name) in flow.target.topics
    ]
    if replicas and not flow.naming.keeps_names:
        return None, [f"{flow.target.alias} has replicas of {shown(sorted(replicas))}. Which process fills them?"], []
    return None, [], []


def _other_aliases(cluster: ClusterObservation, other: ClusterObservation) -> Iterable[str]:
    """Questions about flows between other aliases: the names of their replicas fit only these aliases."""
    known = {(other.alias, cluster.alias)}
    for connector in cluster.connectors or ():
        if connector.part == "source" and connector.ends not in known:
            known.add(connector.ends)
            yield (
                f"{connector.name} on the workers of {cluster.alias} replicates {flow_name(*connector.ends)}. If that"
                f" is {flow_name(other.alias, cluster.alias)}, use its aliases in kafka_dr_clusters and kafka_dr_home,"
                " and run discover again."
            )
    for topic, source in dedicated_sources(cluster.topics).items():
        if source != other.alias:
            yield (
                f"the topic {topic} on {cluster.alias} belongs to a dedicated MirrorMaker 2 with the alias {source}."
                f" If that is {other.alias}, use this alias in kafka_dr_clusters and kafka_dr_home, and run discover"
                " again."
            )
