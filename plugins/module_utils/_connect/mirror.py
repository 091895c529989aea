# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compute the configuration of a flow's three MirrorMaker 2 connectors from one declaration.

Sources: org.apache.kafka.connect.mirror.MirrorConnectorConfig, MirrorSourceConfig, MirrorCheckpointConfig,
MirrorHeartbeatConfig, DefaultTopicFilter (Kafka 4.x).

Private to this collection: may change in any release.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .._core.errors import DrError
from .._core.flows.pair_spec import ClusterSpec
from .._core.names import CONNECTORS, HEARTBEATS, Naming, connector_name, naming_of
from .._core.resources.connector_settings import IN_FORCE, as_text, unsafe_settings
from .._core.security import java_properties
from .rest import PACKAGE

__all__ = ["DEFAULT_TASKS", "FlowSpec", "check_flow", "check_settings", "literal", "wanted_config"]

DEFAULT_TASKS = 4


@dataclass(frozen=True)
class FlowSpec:
    """The declaration of one flow."""

    source: ClusterSpec
    target: ClusterSpec
    #: Names of the topics to replicate.
    topics: tuple[str, ...] = ()
    #: Names of the groups whose offsets to sync.
    groups: tuple[str, ...] = ()
    naming: Naming = field(default_factory=naming_of)
    #: Replication factor of all topics that the flow creates. None: MirrorMaker 2's defaults.
    replication_factor: int | None = None
    #: ``source`` or ``target``: the cluster of the offset-syncs topic.
    offset_syncs_location: str = "target"
    tasks_max: int = DEFAULT_TASKS
    #: Settings of the user by part, and under ``common`` for all parts. None removes a setting.
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    #: Application whose flow this is. None: the flow of the whole pair.
    application: str | None = None

    def name(self, part: str) -> str:
        """Name of the connector of ``part``."""
        return connector_name(self.source.alias, self.target.alias, part, self.application)

    def given(self, part: str) -> dict[str, str | None]:
        """The user's settings for ``part``, as Kafka Connect would store them."""
        merged = {**self.settings.get("common", {}), **self.settings.get(part, {})}
        return {str(key): None if value is None else as_text(value) for key, value in merged.items()}


def literal(name: str) -> str:
    """Return a Java regular expression that matches exactly ``name`` and may be part of a comma-separated list."""
    return re.sub(r"[^A-Za-z0-9_-]", lambda found: r"\." if found[0] == "." else rf"\x{{{ord(found[0]):x}}}", name)


def wanted_config(spec: FlowSpec, part: str) -> dict[str, str | None]:
    """Return the configuration of one connector: our settings, overridden by the user's. None removes a setting."""
    # Any other converter re-encodes: headers would arrive as base64 text, and no record would equal its replica. The
    # settings of the producer are Kafka Connect's defaults, but the worker's own file would override those (R38).
    own = {**_common(spec), **_PART_DEFAULTS[part](spec), **IN_FORCE[part]}
    return {**own, **spec.given(part), "name": spec.name(part), "connector.class": PACKAGE + CONNECTORS[part]}


def _common(spec: FlowSpec) -> dict[str, str]:
    config = {
        "tasks.max": str(spec.tasks_max),
        "source.cluster.alias": spec.source.alias,
        "target.cluster.alias": spec.target.alias,
        "replication.policy.class": PACKAGE + spec.naming.java_class,
        "replication.policy.separator": spec.naming.separator,
        # A refresh from a dead source delays a stop by a minute. With these two settings it takes 3 seconds.
        # source.cluster.* does not accept time-outs, and admin.timeout.ms does not reach the client. While the source
        # is frozen, closing the consumer takes the worker's task.shutdown.graceful.timeout.ms (5 s).
        # source.consumer.request.timeout.ms would shorten that too. But over a busy link, a fetch that takes longer
        # would be aborted and repeated for ever, so that setting is left to the user.
        "source.admin.default.api.timeout.ms": "5000",
        "source.admin.request.timeout.ms": "3000",
    }
    for side, cluster in (("source", spec.source), ("target", spec.target)):
        config[f"{side}.cluster.bootstrap.servers"] = cluster.bootstrap_servers
        for key, value in java_properties(cluster.client).items():
            config[f"{side}.cluster.{key}"] = value
    return config


def _source(spec: FlowSpec) -> dict[str, str]:
    return {
        # The heartbeats topic by its exact name. By default, MirrorMaker 2 replicates every topic whose name ends with
        # "heartbeats", regardless of the filter (MirrorSourceConnector.shouldReplicateTopic). Pairs with other aliases
        # on the same two clusters would then replicate each other's heartbeats without end, under ever longer names.
        "topics": _patterns([*spec.topics, HEARTBEATS]),
        "heartbeats.replication.enabled": "false",
        # The default excludes a declared topic such as "orders.replica".
        "topics.exclude": "",
        # A stop waits for the running poll, and producers are stopped in that time. Default: 1000.
        "consumer.poll.timeout.ms": "200",
        # New topics and partitions are found after 10 s instead of 10 min, at the cost of one metadata request.
        "refresh.topics.interval.seconds": "10",
        # MirrorMaker 2 turns ALLOW ALL into READ, and it never removes an ACL. This collection manages ACLs itself.
        "sync.topic.acls.enabled": "false",
        # Settings of replicas follow the source, so that a replica has the same retention as its source topic.
        "sync.topic.configs.enabled": "true",
        "offset-syncs.topic.location": spec.offset_syncs_location,
        # At most one offset-sync for every 10 records, so a translated offset is at most slightly too low, at a tenth
        # of the write requests of 0. Even 0 guarantees no more: a task never has more than 10 offset-syncs in flight.
        "offset.lag.max": "10",
        **_factor(spec, "replication.factor", "offset-syncs.topic.replication.factor"),
    }


def _checkpoint(spec: FlowSpec) -> dict[str, str]:
    return {
        # The connector considers only groups that read one of these topics.
        "topics": _patterns(spec.topics),
        "topics.exclude": "",
        "groups": _patterns(spec.groups),
        # The default excludes a declared group such as "connect-jdbc-sink".
        "groups.exclude": "",
        "refresh.groups.interval.seconds": "10",
        "emit.checkpoints.interval.seconds": "5",
        "sync.group.offsets.enabled": "true",
        "sync.group.offsets.interval.seconds": "5",
        "offset-syncs.topic.location": spec.offset_syncs_location,
        **_factor(spec, "checkpoints.topic.replication.factor"),
    }


def _heartbeat(spec: FlowSpec) -> dict[str, str]:
    return {"emit.heartbeats.interval.seconds": "1", **_factor(spec, "heartbeats.topic.replication.factor")}


_PART_DEFAULTS = {"source": _source, "checkpoint": _checkpoint, "heartbeat": _heartbeat}


def _factor(spec: FlowSpec, *keys: str) -> dict[str, str]:
    """Replication factor settings. Without them, MirrorMaker 2 uses 2 for replicas and 3 for its internal topics."""
    return {} if spec.replication_factor is None else dict.fromkeys(keys, str(spec.replication_factor))


def _patterns(names: Iterable[str]) -> str:
    return ",".join(literal(name) for name in sorted(set(names)))


# ---- checks without a request


def check_flow(spec: FlowSpec, parts: Iterable[str], configured: bool) -> None:
    """Raise ``flow_invalid`` with all reasons if a flow cannot work.

    ``configured``: connectors will be written, so check clusters and topics too.
    """
    problems = _alias_problems(spec)
    if configured:
        problems += _cluster_problems(spec) + _topic_problems(spec, set(parts))
    if problems:
        raise DrError("flow_invalid", " ".join(problems), "No connector was changed. Correct these options.")


def check_settings(spec: FlowSpec, parts: Iterable[str]) -> None:
    """Raise ``setting_refused`` for settings that contradict an option or invalidate the proofs of a cutover."""
    problems = {
        text: None for part in parts for text in unsafe_settings(spec.given(part), spec.target.brokers, given=True)
    }
    if problems:
        raise DrError("setting_refused", " ".join(problems), "No connector was changed. Correct kafka_dr_flow.")


def _alias_problems(spec: FlowSpec) -> list[str]:
    problems = []
    for side, cluster in (("source", spec.source), ("target", spec.target)):
        if not cluster.alias.strip():
            problems.append(f"The alias of the {side} cluster is empty, which Kafka Connect would accept.")
        elif spec.naming.separator in cluster.alias:
            problems.append(
                f'The alias "{cluster.alias}" of the {side} cluster contains the separator "{spec.naming.separator}", '
                "so the names of replicas would be ambiguous."
            )
    if spec.source.alias == spec.target.alias:
        problems.append(f'Source and target have the same alias "{spec.source.alias}".')
    return problems


def _cluster_problems(spec: FlowSpec) -> list[str]:
    problems = []
    for side, cluster in (("source", spec.source), ("target", spec.target)):
        if not cluster.brokers:
            problems.append(f"{side}.bootstrap_servers is missing.")
    shared = sorted(spec.source.brokers & spec.target.brokers)
    if shared:
        problems.append(f'Source and target share the broker "{shared[0]}": a flow needs two clusters.')
    if spec.source.cluster_id and spec.source.cluster_id == spec.target.cluster_id:
        problems.append(f'Source and target have the same cluster id "{spec.source.cluster_id}".')
    if spec.tasks_max < 1:
        problems.append(f"tasks_max is {spec.tasks_max}, wanted 1 or more.")
    return problems


def _topic_problems(spec: FlowSpec, parts: set[str]) -> list[str]:
    if not parts & {"source", "checkpoint"}:
        return []
    if not spec.topics:
        return ["No topics are named. Name each topic that the flow is to replicate."]
    if spec.naming.keeps_names:
        return []
    aliases = (spec.source.alias, spec.target.alias)
    return [
        f'The topic "{topic}" begins with the alias "{topic.split(spec.naming.separator)[0]}" and the separator: '
        "MirrorMaker 2 takes it for a replica and silently does not replicate it."
        for topic in spec.topics
        if spec.naming.separator in topic and topic.split(spec.naming.separator)[0] in aliases
    ]
