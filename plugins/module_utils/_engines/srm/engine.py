# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine ``srm``: Streams Replication Manager runs the flows, one service at each target, configured by properties.

Connectors cannot be observed. The state of a flow ``A->B`` is put together from these sources:

- the state of the service at B: whether anything runs,
- the line ``A->B.enabled``: whether the flow is configured to replicate,
- the line ``A->B.sync.group.offsets.enabled``: whether the flow writes group offsets,
- the offsets topic on B: which source offsets were replicated.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..._cm.commands import Reader
from ..._cm.config import Declared, reconcile_config
from ..._cm.control import DesiredService, reconcile_service
from ..._cm.replication_config import REPLICATION_CONFIGS, parse
from ..._cm.service import CmService, open_service
from ..._cm.shapes import Service
from ..._core.changes import Change, Outcome
from ..._core.discovery.observations import MirrorConnector
from ..._core.engines.srm.inventory import CAPABILITIES
from ..._core.engines.srm.replication_lines import is_on, sync_key, unsafe_lines
from ..._core.errors import DrError
from ..._core.flows.goals import FlowGoal
from ..._core.flows.pair_spec import PairSpec
from ..._core.names import CONNECTORS, Naming, connector_name, flow_name, offsets_topic
from ..._core.offsets.tenures import nested
from ..._core.partition import Partition
from ..._core.waiting import Bounds
from ..._kafka.client import Kafka
from ..._kafka.connect_offsets import ConnectOffsets
from ..._kafka.topics import delete
from ..._module import Result
from ..base import FlowState, PartState, SiteSettings, StoredOffsets, no_offsets
from .applying import apply_goals
from .preflight import REVERSE

__all__ = ["SrmEngine", "open_engine"]

_OBSERVATION_SECONDS = 5.0
_CM_SECONDS = 30.0
_Seen = tuple[float, Service]


class _Sites:
    """The sites of Streams Replication Manager by alias: their services and properties, each read when needed."""

    def __init__(self, clusters: Mapping[str, Mapping[str, Any]], timeout: float) -> None:
        self._sites = {
            alias: _service(cluster["srm"], timeout) for alias, cluster in clusters.items() if cluster["srm"]
        }
        self.aliases = sorted(self._sites)
        self._lines: dict[str, dict[str, str]] = {}
        self._reverse: dict[str, str | None] = {}
        self._unwanted = {alias for alias, cluster in clusters.items() if _is_off(cluster["srm"])}
        self._seen: dict[str, Reader[_Seen]] = {}

    @property
    def requests(self) -> list[dict[str, Any]]:
        """All requests sent so far, without secrets."""
        return [request for site in self._sites.values() for request in site.client.requests]

    def forget(self, alias: str) -> None:
        """Read the service and the lines of this site again when they are needed."""
        self._lines.pop(alias, None)
        self._seen.pop(alias, None)

    def site(self, alias: str) -> CmService:
        """Return the site at ``alias``; raises ``no_srm_site``."""
        site = self._sites.get(alias)
        if site is None:
            raise DrError(
                "no_srm_site",
                f'The cluster "{alias}" has no Streams Replication Manager, but a flow to it runs there.',
                f"Add the site kafka_dr_srm.{alias} to the inventory.",
            )
        return site

    def service(self, alias: str) -> Service:
        """Read the service, at most once in ``_OBSERVATION_SECONDS``, and tolerate single failed requests.

        A wait polls several times per second. A state of that age is recent enough: progress is observed in Kafka, and
        the state only shows that the service was not stopped.
        """
        if alias not in self._seen:
            site = self.site(alias)
            first = site.read_service()
            self._seen[alias] = Reader(lambda: (time.monotonic(), site.read_service()), (time.monotonic(), first), True)
        seen = self._seen[alias].last
        return (self._seen[alias]() if time.monotonic() - seen[0] >= _OBSERVATION_SECONDS else seen)[1]

    def lines(self, alias: str) -> dict[str, str]:
        """Replication Configs of a site, read once: during a run only ``stop`` of the engine changes them."""
        if alias not in self._lines:
            properties = self.site(alias).read_config()
            self._reverse[alias] = next((one.effective or "" for one in properties if one.name == REVERSE), None)
            configs = [one for one in properties if one.name == REPLICATION_CONFIGS]
            if not configs:
                raise DrError(
                    "no_replication_configs",
                    f'The service at "{alias}" has no property "{REPLICATION_CONFIGS}".',
                    f"Check that kafka_dr_srm.{alias} names a Streams Replication Manager service.",
                )
            if configs[0].hidden:
                raise DrError(
                    "no_replication_configs",
                    f'Cloudera Manager hides "{REPLICATION_CONFIGS}" of the service at "{alias}" from this account.',
                    f"Use an account that may read it: kafka_dr_srm.{alias}.client.",
                )
            self._lines[alias] = parse(configs[0].effective or "")
        return self._lines[alias]

    def drift(self, alias: str) -> tuple[str, ...]:
        """One sentence if the site supports reverse checkpointing and the inventory wants it, but it is off."""
        self.lines(alias)
        found = self._reverse[alias]
        if alias in self._unwanted or found is None or found.strip().lower() == "true":
            return ()
        return (f'reverse checkpointing ("{REVERSE}") is off on {alias}',)


class SrmEngine:
    """Two sites of Streams Replication Manager, controlled through Cloudera Manager.

    ``clusters``: alias -> {srm: {url, client, api_version, cluster, service}}. ``kafka``: a Kafka client by the same
    aliases.
    """

    capabilities = CAPABILITIES
    application: str | None = None

    def __init__(
        self,
        clusters: Mapping[str, Mapping[str, Any]],
        naming: Naming,
        kafka: Mapping[str, Kafka],
        timeout: float,
    ) -> None:
        self._sites = _Sites(clusters, timeout)
        self._naming, self._kafka = naming, kafka
        self._offsets: dict[str, ConnectOffsets] = {}

    @property
    def requests(self) -> list[dict[str, Any]]:
        """All requests sent so far, without secrets."""
        return self._sites.requests

    def observe(self, source: str, target: str) -> FlowState:
        """Read the service at the target, the lines of the flow, and the offsets topic."""
        flow, service = flow_name(source, target), self._sites.service(target)
        lines = self._sites.lines(target)
        enabled = is_on(lines, flow, "enabled")
        syncs = enabled and is_on(lines, flow, "sync.group.offsets.enabled")
        runs = service.state == "STARTED"
        unsafe = unsafe_lines(lines, source, target) if enabled else []
        if runs and not service.fresh:
            staleness = service.staleness or "unknown"
            unsafe.append(f"its site on {target} was changed and not restarted since (configuration {staleness})")
        states: dict[str, str | None] = {
            "source": service.state if enabled or not runs else None,
            "checkpoint": service.state if syncs or not runs else "STOPPED",
            "heartbeat": service.state,
        }
        observations = {
            part: _observe(part, connector_name(source, target, part), states[part], tuple(unsafe))
            for part in CONNECTORS
        }
        observations["checkpoint"] = replace(observations["checkpoint"], drift=self._sites.drift(target))
        return FlowState(observations, self._replicated(source, target))

    def observe_offsets(self, source: str, target: str) -> FlowState:
        """Read only the flow's stored offsets, from Kafka. Without Cloudera Manager, report each part as STOPPED."""
        names = {part: connector_name(source, target, part) for part in CONNECTORS}
        observations = {part: _observe(part, name, "STOPPED", ()) for part, name in names.items()}
        return FlowState(observations, self._replicated(source, target))

    def about(self, source: str, target: str) -> tuple[None, None]:
        """Check that Cloudera Manager answers. It reports neither value, so both are None."""
        self.observe(source, target)
        return None, None

    def offsets(self, source: str, target: str) -> StoredOffsets:
        """Raise ``no_offsets``: the SRM Driver has no interface to change stored offsets."""
        raise no_offsets(source, target, "Streams Replication Manager")

    def competing_flows(self, source: str, target: str, topics: Iterable[str], running: bool = False) -> list[str]:
        """Empty: one service runs at most one flow between two clusters."""
        return []

    def reverse_flows(self, source: str, target: str, topics: Iterable[str]) -> list[str]:
        """The opposite flow, if it is enabled and its service runs."""
        back = self.observe(source=target, target=source).connectors["source"]
        return [back.name] if back.state not in (None, "STOPPED") else []

    def workers(self, target: str, purpose: str) -> None:
        """None: a service runs its flows without connectors."""

    def connectors_to(self, target: str) -> list[MirrorConnector]:
        """Empty: a service runs its flows without connectors."""
        return []

    def acls(self, alias: str) -> None:
        """None: Kafka's own protocol."""

    def apply(
        self, pair: PairSpec, goals: Sequence[FlowGoal], settings: SiteSettings, bounds: Bounds, check: bool
    ) -> Result:
        """Write the lines of each site, then start or stop its service."""
        return apply_goals(self._sites.site, pair, goals, settings, bounds, check)

    def stop(
        self,
        source: str,
        target: str,
        final: bool,
        bounds: Bounds,
        check: bool,
        awaited: Collection[str] = ("source", "checkpoint"),
    ) -> Result:
        """Switch off the group offset sync to ``target``. ``final``: stop the service, else restart it.

        Streams Replication Manager cannot stop one flow alone (R10 and R20), so offsets that are read after the stop
        are lower bounds.
        """
        site, lines = self._sites.site(target), {sync_key(flow_name(source, target)): "false"}
        wanted = Declared(lines={REPLICATION_CONFIGS: lines}, aliases=self._sites.aliases)
        result = reconcile_config(site, wanted, check, lambda _secret: None)
        self._sites.forget(target)
        if result.failure is None:
            desired = (
                DesiredService("stopped")
                if final
                else DesiredService("started", changed=result.changed, join=not result.changed)
            )
            acted = reconcile_service(site, desired, bounds, check)
            result.outcomes += acted.outcomes
            result.warnings += acted.warnings
            result.failure = acted.failure
        return result

    def forget(self, lost: str, remaining: str, check: bool) -> list[Outcome]:
        """Remove the stored offsets of the flow from ``lost``, and delete the offset-syncs topics of both flows.

        The old stored offsets would make the service at ``remaining`` skip the first records of the new cluster. The
        old offset-syncs refer to offsets of the lost cluster. The services create the topics again. The offset-syncs
        topic on the new cluster is deleted too, because a task that was still running may write its last offset-syncs
        there when the address answers again. Raises ``not_stopped`` unless the service at ``remaining`` is STOPPED.
        """
        site = self._sites.site(remaining)
        state = site.read_service().state
        if not check and state != "STOPPED":
            raise DrError(
                "not_stopped",
                f'The service "{site.name}" at {remaining} is {state}, wanted STOPPED.',
                "Its stored offsets can be removed only in that state. Start the same playbook again.",
                site.client.url,
            )
        stored = self._replicated(lost, remaining)
        changes = [Change("offsets", offsets_topic(lost), "delete", nested(stored), None)] if stored else []
        if stored and not check:
            self._offsets[flow_name(lost, remaining)].forget()
        outcomes = [Outcome(change, "planned" if check else "done") for change in changes]
        for alias, other in ((remaining, lost), (lost, remaining)):
            outcomes += delete(self._kafka[alias], [self._naming.offset_syncs(other)], check)
        return outcomes

    def _replicated(self, source: str, target: str) -> dict[Partition, int]:
        flow = flow_name(source, target)
        if flow not in self._offsets:
            topic, connector = offsets_topic(source), CONNECTORS["source"]
            self._offsets[flow] = ConnectOffsets(self._kafka[target], topic, connector, source)
        return self._offsets[flow].last_replicated_offset()


def _is_off(site: Mapping[str, Any] | None) -> bool:
    return site is not None and site.get("reverse_checkpointing") == "off"


def _service(site: Mapping[str, Any], timeout: float) -> CmService:
    reach = {f"cm_{key}": site.get(key) for key in ("url", "client", "api_version")}
    place = {key: site.get(key) for key in ("cluster", "service")}
    return open_service({**reach, **place, "request_timeout": timeout})


def _observe(part: str, name: str, state: str | None, unsafe: tuple[str, ...]) -> PartState:
    """Translate a service state to the terms of Kafka Connect: STARTED is RUNNING with one running task."""
    shown = "RUNNING" if state == "STARTED" else state or None
    return PartState(part, name, shown, ("RUNNING",) if shown == "RUNNING" else (), unsafe if part == "source" else ())


def open_engine(
    clusters: Mapping[str, Mapping[str, Any]], naming: Naming, kafka: Mapping[str, Kafka], timeout: float
) -> SrmEngine:
    """Open the engine, see :class:`SrmEngine`. Cloudera Manager answers slowly while it restarts services."""
    return SrmEngine(clusters, naming, kafka, max(timeout, _CM_SECONDS))
