# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pair as the role ``kafka_dr`` derives it, parsed once into typed data.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

from ..errors import DrError
from ..names import CONNECTORS, JOURNAL_TOPIC, STATE_TOPIC, Naming, flow_name, naming_of
from ..resources.name_patterns import NamePattern

__all__ = ["DEFAULTS", "ClusterSpec", "PairSpec"]

# Optional keys of a pair.
DEFAULTS: Mapping[str, Any] = {
    "name": "",
    "home": "",
    "groups": (),
    "group_topics": {},
    "local_groups": (),
    "accept_undeclared": (),
    "patterns": {},
    "policy": "default",
    "separator": ".",
    "journal_topic": JOURNAL_TOPIC,
    "state_topic": STATE_TOPIC,
    "accept_foreign_writers": (),
    "drop": (),
    "application": None,
    "parts": tuple(CONNECTORS),
    "flow": {},
    "adopted": {},
}


@dataclass(frozen=True)
class ClusterSpec:
    """One cluster, as clients of a flow connect to it."""

    alias: str
    bootstrap_servers: str = ""
    #: Properties of its clients, with librdkafka's names.
    client: Mapping[str, Any] = field(default_factory=dict)
    #: None: unknown.
    cluster_id: str | None = None
    #: The cluster as the inventory derives it, with the keys for the engine's workers and management system.
    connection: Mapping[str, Any] = field(default_factory=dict)

    @property
    def brokers(self) -> set[str]:
        """The bootstrap addresses, one by one."""
        return {address.strip().lower() for address in self.bootstrap_servers.split(",") if address.strip()}


@dataclass(frozen=True)
class PairSpec:
    """What the inventory declares about the clusters and flows of a pair."""

    #: Its name in the journal.
    name: str
    clusters: Mapping[str, ClusterSpec]
    #: Source and target alias by the flow's name.
    flows: Mapping[str, tuple[str, str]]
    topics: tuple[str, ...]
    groups: tuple[str, ...]
    #: The originals that a group reads. A group without an entry reads the topics on which it has committed offsets.
    group_topics: Mapping[str, tuple[str, ...]]
    #: Groups of the inventory that work on both clusters and never move.
    local_groups: tuple[str, ...]
    #: Groups outside the inventory that may stay at work on the cluster that the applications leave.
    accepted_undeclared: tuple[str, ...]
    #: Patterns of the inventory by kind, ``topics`` and ``groups``. The fields of that name hold what they took.
    patterns: Mapping[str, tuple[NamePattern, ...]]
    naming: Naming
    #: Alias of the cluster where the applications live until a cutover moves them.
    home: str
    journal_topic: str
    state_topic: str
    #: Topics whose replicas may have records of foreign writers.
    accepted_foreign_writers: tuple[str, ...]
    #: Topics and groups that may leave the pair, as the operator names them (R42).
    drop: tuple[str, ...]
    #: The application that the pair stands for, if there are several; None: there is only one.
    application: str | None
    #: Parts of a flow that belong to the pair.
    parts: tuple[str, ...]
    #: Settings of the user by part; ``common`` has those for every part.
    settings: Mapping[str, Mapping[str, Any]]
    replication_factor: int | None
    tasks_max: int | None
    #: Connectors with other names that a flow replaces, by the flow's name.
    adopted: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, pair: Mapping[str, Any], cluster_ids: Mapping[str, str] | None = None) -> PairSpec:
        """From the option ``pair`` of a module: ``kafka_dr_pair.spec``, or as much of it as the module needs.

        ``cluster_ids``: as the clusters reported them; they override the inventory's. Raises ``bad_option``.
        """
        given = {**DEFAULTS, **pair}
        for key in ("clusters", "topics"):
            # Before a pattern has taken a name, the pair has no topic.
            if not given.get(key) and not (key == "topics" and given["patterns"].get(key)):
                hint = "Set the option pair to kafka_dr_pair.spec."
                raise DrError("bad_option", f'The option pair has no "{key}".', hint)
        ids = cluster_ids or {}
        clusters = {alias: _cluster(alias, one or {}, ids.get(alias)) for alias, one in given["clusters"].items()}
        flow = given["flow"]
        settings = {part: flow.get(f"{part}_settings") or {} for part in CONNECTORS}
        return cls(
            name=given["name"] or "-".join(sorted(clusters)),
            clusters=clusters,
            flows={flow_name(source, target): (source, target) for source, target in permutations(clusters, 2)},
            topics=tuple(given["topics"]),
            groups=tuple(given["groups"]),
            group_topics={group: tuple(topics) for group, topics in given["group_topics"].items()},
            local_groups=tuple(given["local_groups"]),
            accepted_undeclared=tuple(given["accept_undeclared"]),
            patterns={kind: tuple(map(NamePattern.of, entries)) for kind, entries in given["patterns"].items()},
            naming=naming_of(given["policy"], given["separator"]),
            home=given["home"] or next(iter(clusters)),
            journal_topic=given["journal_topic"],
            state_topic=given["state_topic"],
            accepted_foreign_writers=tuple(given["accept_foreign_writers"]),
            drop=tuple(given["drop"]),
            application=given["application"],
            parts=tuple(given["parts"]),
            settings={"common": flow.get("settings") or {}, **settings},
            replication_factor=flow.get("replication_factor"),
            tasks_max=flow.get("tasks_max"),
            adopted={name: tuple(connectors) for name, connectors in given["adopted"].items()},
        )

    @property
    def connections(self) -> dict[str, Mapping[str, Any]]:
        """Connection settings of each cluster by alias, for Kafka clients and engines."""
        return {alias: cluster.connection for alias, cluster in self.clusters.items()}

    def away_and_toward(self, alias: str) -> tuple[str, str]:
        """Names of the flow that has ``alias`` as its source, and of the other one."""
        away = next(name for name, (source, _target) in self.flows.items() if source == alias)
        return away, next(name for name in self.flows if name != away)

    def require_alias(self, alias: str) -> None:
        """Raise ``unknown_alias`` unless a cluster has this alias."""
        if alias not in self.clusters:
            known = ", ".join(sorted(self.clusters))
            raise DrError(
                "unknown_alias",
                f'A flow names the alias "{alias}", wanted one of the clusters: {known}.',
                "Correct it.",
            )


def _cluster(alias: str, one: Mapping[str, Any], cluster_id: str | None) -> ClusterSpec:
    return ClusterSpec(
        alias,
        one.get("bootstrap_servers") or "",
        one.get("client") or {},
        cluster_id or one.get("cluster_id"),
        {"alias": alias, **one},
    )
