# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine ``connect``: flows run as MirrorMaker 2 connectors on Kafka Connect.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ..._connect.connector_client import ConnectorClient
from ..._connect.flow import reconcile_flow
from ..._connect.mirror import FlowSpec
from ..._connect.offsets import replicated_offsets, reset_offsets
from ..._connect.rest import ConnectClient, Connector
from ..._connect.validate import require_version
from ..._core.changes import Change, Outcome
from ..._core.discovery.observations import SETTINGS, MirrorConnector
from ..._core.engines.connect.inventory import CAPABILITIES
from ..._core.errors import DrError
from ..._core.flows.goals import FlowGoal
from ..._core.flows.pair_spec import ClusterSpec, PairSpec
from ..._core.names import CONNECTORS, Naming, connector_name
from ..._core.offsets.tenures import nested
from ..._core.resources.connector_settings import left_open, unsafe_settings
from ..._core.resources.topic_filters import filters_of, takes_any
from ..._core.resources.topics import DEFAULT_LARGEST_RECORD
from ..._core.waiting import Bounds
from ..._kafka.client import Kafka
from ..._module import Result
from ..base import FlowState, PartState, SiteSettings
from .applying import apply_goals
from .offsets import ConnectStoredOffsets

__all__ = ["ConnectEngine", "application_of", "open_engine"]

_FILTERS = {"source": ("topics",), "checkpoint": ("topics", "groups"), "heartbeat": ()}


class ConnectEngine:
    """MirrorMaker 2 connectors on Kafka Connect. The workers attached to the target cluster run a flow."""

    capabilities = CAPABILITIES

    def __init__(self, rest: Mapping[str, ConnectorClient], naming: Naming, application: str | None) -> None:
        self._naming = naming
        self.application = application
        #: By the alias of the cluster that the workers write to.
        self._rest = rest

    @property
    def requests(self) -> list[dict[str, Any]]:
        """All requests sent so far, without secrets."""
        return [request for rest in self._rest.values() for request in rest.requests]

    def rest(self, source: str, target: str) -> ConnectorClient:
        """The client of the workers that run the flow. Raises ``no_connect_url``."""
        client = self._rest.get(target)
        if client is None:
            raise DrError(
                "no_connect_url",
                f'The cluster "{target}" has no connect_url, but its workers run the flow {source}->{target}.',
                f"Set kafka_dr_clusters.{target}.connect_url to the REST address of these workers.",
            )
        return client

    def name(self, source: str, target: str, part: str = "source") -> str:
        """Name of the flow's connector for ``part``."""
        return connector_name(source, target, part, self.application)

    def observe(self, source: str, target: str) -> FlowState:
        """Read the state of the three connectors, and the source connector's stored offsets. Two requests."""
        rest = self.rest(source, target)
        observations = {}
        listed = rest.connectors()
        for part in CONNECTORS:
            name = self.name(source, target, part)
            status = listed.get(name)
            state = None if status is None else status.state
            tasks = () if status is None else tuple(task.state for task in status.tasks)
            config = {} if status is None else status.config
            unsafe = () if status is None else (*unsafe_settings(config, _brokers(config)), *left_open(part, config))
            filters = () if status is None else filters_of(config, _FILTERS[part])
            failures = () if status is None else status.failures
            largest = _largest_record(config)
            observations[part] = PartState(
                part, name, state, tasks, unsafe, filters, failures=failures, largest_record=largest
            )
        return FlowState(observations, replicated_offsets(rest, observations["source"].name, source))

    def observe_offsets(self, source: str, target: str) -> None:
        """None: state and offsets are equally quick to read."""

    def about(self, source: str, target: str) -> tuple[str | None, str | None]:
        """Return the cluster id and the version that the workers report at their root path."""
        rest = self.rest(source, target)
        cluster_id, version = rest.about()
        require_version(rest, version)
        return cluster_id, version

    def offsets(self, source: str, target: str) -> ConnectStoredOffsets:
        """The stored offsets of the source connector."""
        return ConnectStoredOffsets(self.rest(source, target), self.name(source, target), source)

    def reverse_flows(self, source: str, target: str, topics: Iterable[str]) -> list[str]:
        """Names of source connectors, on the workers of either cluster, that replicate back and are not stopped.

        For the flows of one application, only connectors that may replicate its ``topics`` are listed: other
        applications may live on the other cluster.
        """
        ends = {"source.cluster.alias": target, "target.cluster.alias": source}
        return sorted(
            connector.name
            for rest in self._rest.values()
            for connector in rest.connectors().values()
            if connector.part == "source"
            and not connector.stopped
            and all(connector.config.get(key) == alias for key, alias in ends.items())
            and takes_any(connector.config, topics if self.application else ())
        )

    def competing_flows(self, source: str, target: str, topics: Iterable[str], running: bool = False) -> list[str]:
        """Names of other source connectors that replicate one of ``topics`` into the replicas of this flow.

        ``running``: leave out stopped connectors.
        """
        ends = {"source.cluster.alias": source, "target.cluster.alias": target}
        return sorted(
            connector.name
            for connector in self.rest(source, target).connectors().values()
            if connector.part == "source"
            and connector.name != self.name(source, target)
            and not (running and connector.stopped)
            and all(connector.config.get(key) == alias for key, alias in ends.items())
            and takes_any(connector.config, topics)
        )

    def workers(self, target: str, purpose: str) -> ConnectorClient:
        """The client of the workers. Raises ``no_connect_url``."""
        return self.rest("", target)

    def connectors_to(self, target: str) -> list[MirrorConnector]:
        """Every connector on the workers of ``target``, with the topics of its stored offsets."""
        rest = self._rest[target]
        return [_mirror_connector(rest, one) for _name, one in sorted(rest.connectors().items()) if one.part]

    def acls(self, alias: str) -> None:
        """None: Kafka's own protocol."""

    def apply(
        self, pair: PairSpec, goals: Sequence[FlowGoal], settings: SiteSettings, bounds: Bounds, check: bool
    ) -> Result:
        """Reconcile the connectors, one call for each flow and state."""
        return apply_goals(self.rest, pair, goals, bounds, check)

    def stop(
        self,
        source: str,
        target: str,
        final: bool,
        bounds: Bounds,
        check: bool,
        awaited: Collection[str] = ("source", "checkpoint"),
    ) -> Result:
        """Stop the checkpoint connector and, if ``final``, the source connector. Wait until ``awaited`` have no tasks.

        Stopping the source connector takes seconds if the source cluster does not answer.
        """
        # A stop needs the names of the connectors, but not their settings.
        ends = ClusterSpec(source), ClusterSpec(target)
        spec = FlowSpec(*ends, naming=self._naming, application=self.application)
        parts = ("source", "checkpoint") if final else ("checkpoint",)
        return reconcile_flow(self.rest(source, target), spec, parts, "stopped", bounds, check, awaited)

    def forget(self, lost: str, remaining: str, check: bool) -> list[Outcome]:
        """Reset the offsets of both source connectors, and verify that none is left.

        Raises ``not_stopped`` unless both source connectors are STOPPED.
        """
        outcomes = []
        for source, target in ((lost, remaining), (remaining, lost)):
            rest, name = self.rest(source, target), self.name(source, target)
            if not check:
                self.offsets(source, target).require_stopped(
                    "Kafka Connect resets offsets only in that state. Start the same playbook again."
                )
            stored = replicated_offsets(rest, name)
            if stored:
                change = Change("offsets", name, "delete", nested(stored), None)
                outcomes.append(Outcome(change, "planned" if check else "done"))
                if not check:
                    reset_offsets(rest, name)
        return outcomes


def _mirror_connector(rest: ConnectorClient, connector: Connector) -> MirrorConnector:
    settings = {key: connector.config[key] for key in SETTINGS if key in connector.config}
    replicated = None
    if connector.part == "source":
        # The offsets of other connectors are useful even if a worker cannot return these.
        with suppress(DrError):
            stored = replicated_offsets(rest, connector.name, settings.get("source.cluster.alias"))
            replicated = frozenset(partition.topic for partition in stored)
    return MirrorConnector(connector.name, str(connector.part), connector.state, settings, replicated)


def _largest_record(config: Mapping[str, str]) -> int:
    """The connector's max.request.size, else the default. Kafka Connect does not report the worker's own setting."""
    value = config.get("producer.override.max.request.size", "")
    return int(value) if value.isdigit() else DEFAULT_LARGEST_RECORD


def _brokers(config: Mapping[str, str]) -> set[str]:
    """Bootstrap servers of the target cluster in a connector's settings."""
    return {address.strip().lower() for address in config.get("target.cluster.bootstrap.servers", "").split(",")}


def application_of(clusters: Mapping[str, Mapping[str, Any]]) -> str | None:
    """The application whose flows the clusters of a pair name. None: the flows of the whole pair."""
    return next((cluster.get("application") for cluster in clusters.values()), None)


def open_engine(
    clusters: Mapping[str, Mapping[str, Any]], naming: Naming, kafka: Mapping[str, Kafka], timeout: float
) -> ConnectEngine:
    """Open the engine. ``clusters``: alias -> {connect_url, connect_client}. ``kafka`` is not used."""
    del kafka
    rest = {
        alias: ConnectClient(cluster["connect_url"], cluster.get("connect_client") or {}, timeout)
        for alias, cluster in clusters.items()
        if cluster.get("connect_url")
    }
    return ConnectEngine(rest, naming, application_of(clusters))
