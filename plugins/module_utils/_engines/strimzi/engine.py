# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine ``strimzi``: flows run as MirrorMaker 2 connectors that an operator on Kubernetes controls by resources.

Planning, waiting and proof are those of the engine ``connect``. Only the client differs: it writes KafkaConnector
resources and proves what it reads.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ..._core.changes import Outcome
from ..._core.engines.strimzi.inventory import CAPABILITIES
from ..._core.errors import DrError
from ..._core.flows.goals import FlowGoal
from ..._core.flows.pair_spec import PairSpec
from ..._core.names import Naming
from ..._core.partition import Partition
from ..._core.waiting import Bounds
from ..._kafka.client import Kafka, connect
from ..._kafka.connect_offsets import ConnectOffsets
from ..._kafka.groups import may_have_members
from ..._module import Result
from ..base import FlowState, SiteSettings, joined
from ..connect.applying import apply_goals
from ..connect.engine import ConnectEngine, application_of
from ..connect.offsets import ConnectStoredOffsets
from .changing import OPERATOR_SECONDS
from .client import StrimziClient
from .site import Site, old_operator
from .stored_offsets import OffsetReader

__all__ = ["StrimziEngine", "open_engine"]


@dataclass(frozen=True)
class StrimziStoredOffsets(ConnectStoredOffsets):
    """The :class:`..base.StoredOffsets` of a connector. Writing begins with a look, which shows every alias."""

    rest: StrimziClient

    def replace(self, wanted: Mapping[Partition, int]) -> None:
        """Remove the old offsets, then set ``wanted`` (R22)."""
        self.rest.prove([self.name])
        super().replace(wanted)

    def update(self, wanted: Mapping[Partition, int], hint: str) -> None:
        """Set the offsets of all partitions in one change, and read them back."""
        self.rest.prove([self.name])
        super().update(wanted, hint)

    def forget(self, topics: Collection[str]) -> None:
        """Remove the offsets of ``topics``."""
        self.rest.prove([self.name])
        super().forget(topics)


class StrimziEngine(ConnectEngine):
    """MirrorMaker 2 connectors as KafkaConnector resources, in the namespace of the target's KafkaConnect."""

    capabilities = CAPABILITIES

    def __init__(self, clients: Mapping[str, StrimziClient], naming: Naming, application: str | None) -> None:
        super().__init__(clients, naming, application)
        self._clients = clients

    def rest(self, source: str, target: str) -> StrimziClient:
        """The client of the site that runs the flow. Raises ``no_strimzi_site``."""
        client = self._clients.get(target)
        if client is None:
            raise DrError(
                "no_strimzi_site",
                f'The cluster "{target}" has no KafkaConnect, but its workers run the flow {source}->{target}.',
                f"Add the site kafka_dr_strimzi.{target} to the inventory.",
            )
        return client

    def observe(self, source: str, target: str) -> FlowState:
        """Read the state of the flow. A connector that this run could not stop counts as an unsafe setting.

        A cutover is then refused before it stops an application.
        """
        state = super().observe(source, target)
        client = self.rest(source, target)
        taken = [text for part in ("source", "checkpoint") for text in client.taken(self.name(source, target, part))]
        own = state.connectors["source"]
        unsafe = replace(own, unsafe_settings=(*own.unsafe_settings, *taken))
        return replace(state, connectors={**state.connectors, "source": unsafe})

    def about(self, source: str, target: str) -> tuple[str | None, str | None]:
        """Check the site, its rights and its operator, and return the cluster id and the version of the workers.

        Raises ``operator_too_old`` if the pair needs offsets by resource.
        """
        client = self.rest(source, target)
        client.site.require_rights()
        answer = super().about(source, target)
        if self._naming.starts_at_cut and not client.site.lists_offsets():
            raise old_operator(client.site, f'kafka_dr_policy "{self._naming.policy}"')
        return answer

    def apply(
        self, pair: PairSpec, goals: Sequence[FlowGoal], settings: SiteSettings, bounds: Bounds, check: bool
    ) -> Result:
        """Reconcile the connectors, one call for each flow and state, on sites that can be controlled by resources."""
        return apply_goals(self._usable, pair, goals, _patient(bounds), check)

    def _usable(self, source: str, target: str) -> StrimziClient:
        client = self.rest(source, target)
        client.site.require_usable()
        return client

    def stop(
        self,
        source: str,
        target: str,
        final: bool,
        bounds: Bounds,
        check: bool,
        awaited: Collection[str] = ("source", "checkpoint"),
    ) -> Result:
        """Stop connectors as the engine ``connect`` does, and prove by a look that each awaited one is stopped.

        A status alone can show a stop that was undone since: the operator corrects that only after up to 120 s.
        """
        bounds = _patient(bounds)
        client = self.rest(source, target)
        names = [self.name(source, target, part) for part in awaited if final or part == "checkpoint"]
        if not check:
            # Their status may be late as well, so it is not awaited first.
            client.prove(name for name in names if client.asked_to_stop(name))
        result = super().stop(source, target, final, bounds, check, awaited)
        if check or result.failure is not None or not client.unproven(names):
            return result
        client.prove(names)
        listed = client.connectors()
        if all(name not in listed or listed[name].stopped for name in names):
            return result
        return joined([result, super().stop(source, target, final, bounds, check, awaited)])

    def forget(self, lost: str, remaining: str, check: bool) -> list[Outcome]:
        """Reset the offsets of both source connectors. Raises ``operator_too_old`` before the first change."""
        for client in self._clients.values():
            if not client.site.lists_offsets():
                raise old_operator(client.site, "the playbook rebuild")
        return super().forget(lost, remaining, check)

    def workers(self, target: str, purpose: str) -> StrimziClient:
        """The client of the site. Raises ``operator_too_old`` if the operator cannot list and change stored offsets."""
        client = self._usable("", target)
        if not client.site.lists_offsets():
            raise old_operator(client.site, purpose)
        return client

    def offsets(self, source: str, target: str) -> StrimziStoredOffsets:
        """The stored offsets of the source connector."""
        return StrimziStoredOffsets(self.rest(source, target), self.name(source, target), source)


def _patient(bounds: Bounds) -> Bounds:
    """Bounds whose time-out is one without progress, because two answers of a late operator may exceed it."""
    stall = bounds.stall or bounds.timeout or bounds.sleep
    return replace(bounds, timeout=bounds.timeout + 2 * OPERATOR_SECONDS, stall=stall)


class _Evidence:
    """What Kafka itself shows of the workers of one site. Connects only if the caller has no connection."""

    def __init__(self, alias: str, cluster: Mapping[str, Any], kafka: Mapping[str, Kafka], timeout: float) -> None:
        self._alias, self._cluster, self._timeout = alias, cluster, timeout
        self._others = {other: connection for other, connection in kafka.items() if other != alias}
        self._given = kafka.get(alias)

    @cached_property
    def _kafka(self) -> Kafka:
        """The cluster that the workers must write to."""
        if self._given is not None:
            return self._given
        options = {
            "bootstrap_servers": self._cluster["bootstrap_servers"],
            "client": self._cluster.get("admin_client") or self._cluster.get("client") or {},
            "expected_cluster_id": self._cluster.get("cluster_id"),
            "request_timeout": self._timeout,
        }
        return connect(options)

    def cluster_id(self, group: str) -> str:
        """Return the id of the cluster that has the workers' group: this site's own first.

        A KafkaConnect names addresses only, which need not be those of the inventory. Raises ``workers_unknown``.
        """
        for kafka in (self._kafka, *self._others.values()):
            if may_have_members(kafka, group):
                return kafka.cluster_id
        raise DrError(
            "workers_unknown",
            f'No worker of the KafkaConnect for {self._alias} is connected to {self._alias}: the group "{group}" does'
            " not exist there.",
            "Check that the KafkaConnect is Ready, that its bootstrapServers are those of this cluster, and that this"
            " account may DESCRIBE the group.",
        )

    def stored(self, topic: str, connector: str, source: str) -> OffsetReader:
        """The reader of the offsets topic on the site's own cluster."""
        return ConnectOffsets(self._kafka, topic, connector, source)


def open_engine(
    clusters: Mapping[str, Mapping[str, Any]], naming: Naming, kafka: Mapping[str, Kafka], timeout: float
) -> StrimziEngine:
    """Open the engine. ``clusters``: alias -> {strimzi: site, bootstrap_servers, client}. ``kafka``: by alias."""
    clients = {}
    for alias, cluster in clusters.items():
        if cluster.get("strimzi"):
            evidence = _Evidence(alias, cluster, kafka, timeout)
            site = Site(cluster["strimzi"], timeout)
            clients[alias] = StrimziClient(site, evidence.stored, evidence.cluster_id)
    return StrimziEngine(clients, naming, application_of(clusters))
