# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The flows as MirrorMaker 2 connectors on Kafka Connect.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..._connect.flow import reconcile_flow
from ..._connect.mirror import FlowSpec
from ..._connect.offsets import replicated_offsets, reset_offsets
from ..._connect.rest import ConnectClient
from ..._core.changes import Change, Outcome
from ..._core.errors import DrError
from ..._core.flows.goals import FlowGoal
from ..._core.flows.pair_spec import ClusterSpec, PairSpec
from ..._core.names import CONNECTORS, Naming, connector_name
from ..._core.offsets.tenures import nested
from ..._core.resources.connector_settings import left_open, unsafe_settings
from ..._core.resources.topic_filters import filters_of, takes_any
from ..._core.waiting import Bounds
from ..._kafka.client import Kafka
from ..._module import Result
from ..base import DEFAULT_LARGEST_RECORD, FlowState, PartState, SiteSettings
from .applying import apply_goals
from .inventory import CAPABILITIES
from .offsets import ConnectStoredOffsets

__all__ = ["ConnectEngine", "open_engine"]

_FILTERS = {"source": ("topics",), "checkpoint": ("topics", "groups"), "heartbeat": ()}


class ConnectEngine:
    """MirrorMaker 2 connectors on Kafka Connect: the workers of a flow stand beside its target."""

    capabilities = CAPABILITIES

    def __init__(self, clusters: Mapping[str, Mapping[str, Any]], naming: Naming, timeout: float) -> None:
        self._naming = naming
        self.application = next((cluster.get("application") for cluster in clusters.values()), None)
        self._rest = {
            alias: ConnectClient(cluster["connect_url"], cluster.get("connect_client") or {}, timeout)
            for alias, cluster in clusters.items()
            if cluster.get("connect_url")
        }

    @property
    def requests(self) -> list[dict[str, Any]]:
        """Every request sent so far, without secrets."""
        return [request for rest in self._rest.values() for request in rest.requests]

    def rest(self, source: str, target: str) -> ConnectClient:
        """The workers of a flow."""
        found = self._rest.get(target)
        if found is None:
            raise DrError(
                "no_connect_url", f'The cluster "{target}" needs connect_url: the flow {source}->{target} runs there.'
            )
        return found

    def name(self, source: str, target: str, part: str = "source") -> str:
        """Name of a connector of a flow."""
        return connector_name(source, target, part, self.application)

    def observe(self, source: str, target: str) -> FlowState:
        """The three connectors as the worker lists them, and the source connector's stored offsets."""
        rest = self.rest(source, target)
        observations = {}
        listed = rest.connectors()
        for part in CONNECTORS:
            name = self.name(source, target, part)
            status = listed.get(name)
            state = None if status is None else status.state
            tasks = () if status is None else tuple(task.state for task in status.tasks)
            config = {} if status is None else status.config
            copies = part == "source" and status is not None
            wrong = (*unsafe_settings(config, _brokers(config)), *left_open(config)) if copies else ()
            filters = () if status is None else filters_of(config, _FILTERS[part])
            failures = () if status is None else status.failures
            largest = _largest_record(config)
            observations[part] = PartState(
                part, name, state, tasks, wrong, filters, failures=failures, largest_record=largest
            )
        return FlowState(observations, replicated_offsets(rest, observations["source"].name, source))

    def observe_offsets(self, source: str, target: str) -> None:
        """One request reads both."""

    def about(self, source: str, target: str) -> tuple[str | None, str | None]:
        """As the workers report them at their root path."""
        return self.rest(source, target).about()

    def offsets(self, source: str, target: str) -> ConnectStoredOffsets:
        """Those of the source connector."""
        return ConnectStoredOffsets(self.rest(source, target), self.name(source, target), source)

    def reverse_flows(self, source: str, target: str, topics: Iterable[str]) -> list[str]:
        """Connectors of whatever name, on either side's workers, that copy back and run.

        Of one application only those that may take its ``topics``: others live on the other side.
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
        """Source connectors of other names that replicate one of ``topics`` into the replicas of this flow.

        ``running``: only those that are not stopped.
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

    def apply(
        self, pair: PairSpec, goals: Sequence[FlowGoal], settings: SiteSettings, bounds: Bounds, check: bool
    ) -> Result:
        """One call for each flow and state."""
        return apply_goals(self.rest, pair, goals, bounds, check)

    def stop(self, source: str, target: str, final: bool, bounds: Bounds, check: bool, awaited: bool = True) -> Result:
        """Stop the checkpoint connector; ``final``: the source connector too. Waits until they have no tasks.

        Not ``awaited``: until the checkpoint connector has none. The other one's stop takes seconds on a dead source.
        """
        # Stopping needs the names of the connectors, not their settings.
        ends = ClusterSpec(source), ClusterSpec(target)
        spec = FlowSpec(*ends, naming=self._naming, application=self.application)
        parts = ("source", "checkpoint") if final else ("checkpoint",)
        awaits = parts if awaited else ("checkpoint",)
        return reconcile_flow(self.rest(source, target), spec, parts, "stopped", bounds, check, awaits)

    def forget(self, gone: str, here: str, check: bool) -> list[Outcome]:
        """Reset the offsets of both source connectors, which must be STOPPED, and see that none is left."""
        outcomes = []
        for source, target in ((gone, here), (here, gone)):
            rest, name = self.rest(source, target), self.name(source, target)
            if not check:
                self.offsets(source, target).require_stopped(
                    "Its offsets can be reset only then. Start the same playbook again."
                )
            have = replicated_offsets(rest, name)
            if have:
                change = Change("offsets", name, "delete", nested(have), None)
                outcomes.append(Outcome(change, "planned" if check else "done"))
                if not check:
                    reset_offsets(rest, name)
        return outcomes


def _largest_record(config: Mapping[str, str]) -> int:
    """What the worker itself sets (producer.max.request.size) Kafka Connect does not show."""
    value = config.get("producer.override.max.request.size", "")
    return int(value) if value.isdigit() else DEFAULT_LARGEST_RECORD


def _brokers(config: Mapping[str, str]) -> set[str]:
    """Where a connector says that its target is."""
    return {address.strip().lower() for address in config.get("target.cluster.bootstrap.servers", "").split(",")}


def open_engine(
    clusters: Mapping[str, Mapping[str, Any]], naming: Naming, kafka: Mapping[str, Kafka], timeout: float
) -> ConnectEngine:
    """``clusters``: alias -> {connect_url, connect_client}. Kafka itself is not asked."""
    del kafka
    return ConnectEngine(clusters, naming, timeout)
