# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pair as the role ``kafka_dr`` derives it, parsed once into typed data.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..names import CONNECTORS, Naming

__all__ = ["ClusterSpec", "PairSpec"]


@dataclass(frozen=True)
class ClusterSpec:
    """One cluster, as clients of a flow connect to it."""

    alias: str
    bootstrap_servers: str = ""
    #: Properties of its clients, in librdkafka's names.
    client: Mapping[str, Any] = field(default_factory=dict)
    #: None: not known.
    cluster_id: str | None = None

    @property
    def brokers(self) -> set[str]:
        """The bootstrap addresses, one by one."""
        return {address.strip().lower() for address in self.bootstrap_servers.split(",") if address.strip()}


@dataclass(frozen=True)
class PairSpec:
    """What the inventory declares about the clusters and flows of a pair."""

    clusters: Mapping[str, ClusterSpec]
    #: Source and target alias by the flow's name.
    flows: Mapping[str, tuple[str, str]]
    topics: tuple[str, ...]
    groups: tuple[str, ...]
    naming: Naming
    #: The application out of many that the pair stands for; None: there is only one.
    application: str | None
    #: Parts of a flow that belong to the pair.
    parts: tuple[str, ...]
    #: Settings of the user by part; under ``common``, those of each part.
    settings: Mapping[str, Mapping[str, Any]]
    replication_factor: int | None
    tasks_max: int | None
    #: Connectors of other names whose place a flow takes, by the flow's name.
    adopted: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, pair: Mapping[str, Any], cluster_ids: Mapping[str, str]) -> PairSpec:
        """From ``kafka_dr_pair``. ``cluster_ids``: as the clusters reported them, instead of the inventory's."""
        clusters = {
            alias: ClusterSpec(
                alias,
                cluster["bootstrap_servers"],
                cluster["client"] or {},
                cluster_ids.get(alias) or cluster["cluster_id"],
            )
            for alias, cluster in pair["clusters"].items()
        }
        flow = pair["flow"]
        settings = {part: flow.get(f"{part}_settings") or {} for part in CONNECTORS}
        return cls(
            clusters=clusters,
            flows={name: (one["source"], one["target"]) for name, one in pair["flows"].items()},
            topics=tuple(topic["name"] for topic in pair["topics"]),
            groups=tuple(pair["groups"]),
            naming=Naming(pair["policy"], pair["separator"]),
            application=pair["application"],
            parts=tuple(pair["parts"]),
            settings={"common": flow.get("settings") or {}, **settings},
            replication_factor=flow.get("replication_factor"),
            tasks_max=flow.get("tasks_max"),
            adopted={
                name: tuple((one.get("connectors") or {}).values()) for name, one in (pair.get("adopt") or {}).items()
            },
        )

    def away_and_toward(self, alias: str) -> tuple[str, str]:
        """Names of the flow that has ``alias`` as its source, and of the other one."""
        away = next(name for name, (source, _target) in self.flows.items() if source == alias)
        return away, next(name for name in self.flows if name != away)
