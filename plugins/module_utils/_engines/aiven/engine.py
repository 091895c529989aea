# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine ``aiven``: a managed MirrorMaker 2 service at Aiven runs the flows, set through Aiven's API.

The API has no connectors, tasks or stored offsets. The state of a flow ``A->B`` is put together from these sources:

- the state of the service: whether its workers run,
- ``enabled`` of the flow: whether it is configured to replicate,
- ``sync_group_offsets_enabled`` of the flow: whether it is configured to write group offsets,
- the offsets topic on B: which source offsets were replicated,
- checkpoints and committed offsets on B: whether group sync is off (:mod:`.group_sync`).

Private to this collection: may change in any release.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..._core.changes import Outcome
from ..._core.discovery.observations import MirrorConnector
from ..._core.engines.aiven.flow_fields import GROUP_SYNC, filters, problems, sync_interval
from ..._core.engines.aiven.inventory import CAPABILITIES
from ..._core.errors import DrError, LockedOut, Unreachable
from ..._core.flows.goals import FlowGoal
from ..._core.flows.pair_spec import PairSpec
from ..._core.names import CONNECTORS, Naming, connector_name, flow_name, offsets_topic
from ..._core.partition import Partition
from ..._core.verdict import PROVEN, UNKNOWN, Finding
from ..._core.waiting import Bounds, wait_until
from ..._kafka.acls import AclStore
from ..._kafka.client import Kafka
from ..._kafka.connect_offsets import ConnectOffsets
from ..._module import Result
from ..base import FlowState, PartState, SiteSettings, StoredOffsets, attempt, no_offsets
from .applying import apply_goals, change_fields
from .group_sync import INTERVALS, Evidence, judge, read_evidence
from .sites import Observed, Sites

__all__ = ["AivenEngine", "open_engine"]

# The API does not report tasks. A part with this task is never final.
_UNKNOWN_TASKS = (UNKNOWN,)
# Seconds that a wait for evidence may take longer than the intervals of group sync: a checkpoint must be written first.
_CHECKPOINT_SECONDS = 60.0
_API_SECONDS = 20.0


class AivenEngine:
    """The services of a pair at Aiven.

    ``clusters``: alias -> {aiven: {url, token, client, project, service, kafka_project, kafka_service}}. ``kafka``: a
    Kafka client by the same aliases.
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
        self._sites = Sites(clusters, timeout)
        self._naming, self._kafka = naming, kafka
        self._offsets: dict[str, ConnectOffsets] = {}

    @property
    def requests(self) -> list[dict[str, Any]]:
        """All requests sent so far, without secrets."""
        return self._sites.requests

    def observe(self, source: str, target: str) -> FlowState:
        """Read the service and the flow, and the offsets topic. No part is ever ``final``."""
        observed = self._sites.observe(target)
        return FlowState(_parts(observed, source, target), self._replicated(source, target))

    def observe_offsets(self, source: str, target: str) -> FlowState:
        """Read only the flow's stored offsets, from Kafka. Without Aiven's API, report each part as STOPPED."""
        names = {part: connector_name(source, target, part) for part in CONNECTORS}
        parts = {part: PartState(part, name, "STOPPED", ()) for part, name in names.items()}
        return FlowState(parts, self._replicated(source, target))

    def about(self, source: str, target: str) -> tuple[None, None]:
        """Check that the service runs and is integrated with both clusters. The API reports neither value."""
        self._sites.require_ready(source, target)
        return None, None

    def offsets(self, source: str, target: str) -> StoredOffsets:
        """Raise ``no_offsets``: Aiven's API has no stored offsets."""
        raise no_offsets(source, target, "Aiven's API")

    def competing_flows(self, source: str, target: str, topics: Iterable[str], running: bool = False) -> list[str]:
        """Empty: a service has at most one flow between two aliases. Flows of other services cannot be seen."""
        return []

    def reverse_flows(self, source: str, target: str, topics: Iterable[str]) -> list[str]:
        """The opposite flow, if it is enabled and its service runs."""
        back = _parts(self._sites.observe(source), target, source)["source"]
        return [back.name] if back.state == "RUNNING" else []

    def workers(self, target: str, purpose: str) -> None:
        """None: a service runs its flows without connectors."""

    def connectors_to(self, target: str) -> list[MirrorConnector]:
        """Empty: a service runs its flows without connectors."""
        return []

    def acls(self, alias: str) -> AclStore:
        """The API of the Kafka service, if the inventory names it; else Kafka, which may refuse all ACLs."""
        return self._sites.acls(alias, self._kafka[alias])

    def apply(
        self, pair: PairSpec, goals: Sequence[FlowGoal], settings: SiteSettings, bounds: Bounds, check: bool
    ) -> Result:
        """Create, change and delete flows. Group sync is off in every state."""
        return apply_goals(self._sites, pair, goals, bounds, check)

    def stop(
        self,
        source: str,
        target: str,
        final: bool,
        bounds: Bounds,
        check: bool,
        awaited: Collection[str] = ("source", "checkpoint"),
    ) -> Result:
        """Switch off group sync to ``target``, and prove from Kafka that it is off (R10). Replication continues.

        If the API does not answer, the evidence in Kafka alone decides. If no checkpoint is above a committed offset,
        group sync has nothing to write: a warning says that only the API reports it as off. Raises nothing; the
        failure ``aiven_group_sync`` says that evidence is missing.
        """
        del final, awaited
        return attempt(lambda: self._stop(_Watch(self, source, target), bounds, check))

    def forget(self, lost: str, remaining: str, check: bool) -> list[Outcome]:
        """Raise ``no_offsets``: Aiven's API cannot reset stored offsets."""
        raise no_offsets(lost, remaining, "Aiven's API")

    def evidence(self, source: str, target: str) -> Evidence:
        """Read the evidence about the group sync of a flow from Kafka."""
        return read_evidence(self._kafka[target], self._naming, source, time.time())

    def _stop(self, watch: _Watch, bounds: Bounds, check: bool) -> Result:
        ends, result = (watch.source, watch.target), Result()
        fields: Mapping[str, Any] | None = {}
        try:
            fields = self._sites.observe(watch.target, anew=True).flows.get(watch.name)
            if fields is None:
                return result
            if fields.get(GROUP_SYNC) is not False and not check:
                # Read before the change, because group sync has committed older checkpoints.
                watch.require_later_checkpoints()
            result = change_fields(self._sites, ends, {GROUP_SYNC: False}, bounds, check)
        except LockedOut:
            raise
        except Unreachable as error:
            result.failure = error
        if not check:
            self._require_proof(watch, result, sync_interval(fields or {}), bounds)
        return result

    def _require_proof(self, watch: _Watch, result: Result, interval: float, bounds: Bounds) -> None:
        """Read the evidence that group sync is off. Set the failure of ``result`` if it is needed and missing.

        Evidence is waited for if group sync was on, or if a checkpoint exists that is only too young.
        """
        most = min(bounds.timeout, INTERVALS * interval + _CHECKPOINT_SECONDS)
        finding = wait_until(
            lambda: watch.judged(interval),
            lambda seen: (
                seen.verdict == PROVEN or result.failure is not None or not (result.changed or watch.may_ripen)
            ),
            Bounds(most, max(bounds.sleep, 0.25)),
        ).state
        needed = result.changed or watch.may_ripen
        if finding.verdict == PROVEN:
            if result.failure is not None:
                result.warnings.append(
                    f"{result.failure.message} Kafka proves that group sync to {watch.target} is off: {finding.reason}."
                )
                result.failure = None
        elif result.failure is None and needed:
            result.failure = DrError(
                "aiven_group_sync",
                f"Kafka does not prove that the group sync of {watch.name} is off: {finding.reason}.",
                "Nothing was committed. Run the playbook enable, let consumers read for two intervals of group sync,"
                " then start the same playbook again.",
            )
        elif result.failure is None:
            result.warnings.append(
                f"Only Aiven's API reports that the group sync of {watch.name} is off. Kafka does not show it:"
                f" {finding.reason}."
            )

    def _replicated(self, source: str, target: str) -> dict[Partition, int]:
        flow = flow_name(source, target)
        if flow not in self._offsets:
            topic, connector = offsets_topic(source), CONNECTORS["source"]
            self._offsets[flow] = ConnectOffsets(self._kafka[target], topic, connector, source)
        return self._offsets[flow].last_replicated_offset()


@dataclass
class _Watch:
    """The evidence about one flow over time."""

    engine: AivenEngine
    source: str
    target: str
    #: Only checkpoints after this time count (worker's clock).
    since: float = 0.0
    _newest: float = -1.0
    _first_seen: float = 0.0
    _last: Evidence | None = None

    @property
    def name(self) -> str:
        """The flow's name."""
        return flow_name(self.source, self.target)

    @property
    def may_ripen(self) -> bool:
        """Whether a checkpoint above a committed offset exists that is only too young."""
        return self._last is not None and any(checkpoint.time > self.since for checkpoint in self._last.unsynced)

    def require_later_checkpoints(self) -> None:
        """Count only checkpoints that are written from now on."""
        self.since = self.engine.evidence(self.source, self.target).newest

    def judged(self, interval: float) -> Finding:
        """Read the evidence again and judge it."""
        evidence = self.engine.evidence(self.source, self.target)
        if evidence.newest != self._newest:
            self._newest, self._first_seen = evidence.newest, time.monotonic()
        self._last = evidence
        return judge(evidence, interval, self.since, time.monotonic() - self._first_seen)


def _parts(observed: Observed, source: str, target: str) -> dict[str, PartState]:
    """The parts of a flow in Kafka Connect's terms, as far as the API reports them."""
    service, fields = observed.service, observed.flows.get(flow_name(source, target))
    names = {part: connector_name(source, target, part) for part in CONNECTORS}
    if fields is None:
        return {part: PartState(part, name, None, ()) for part, name in names.items()}
    switches = {
        "source": fields.get("enabled") is True,
        # Unknown counts as on: group sync must be known to be off.
        "checkpoint": fields.get("enabled") is not False and fields.get(GROUP_SYNC) is not False,
        "heartbeat": fields.get("enabled") is True and fields.get("emit_heartbeats_enabled") is True,
    }
    selected = filters(fields, service.settings)
    unsafe = tuple(problems(fields, service.settings)) if switches["source"] else ()
    parts = {}
    for part, name in names.items():
        state = "STOPPED" if not switches[part] else "RUNNING" if service.works else service.state
        tasks = ("RUNNING",) if state == "RUNNING" else _UNKNOWN_TASKS if part == "source" else ()
        parts[part] = PartState(
            part, name, state, tasks, unsafe if part == "source" else (), filters=selected.get(part, ())
        )
    return parts


def open_engine(
    clusters: Mapping[str, Mapping[str, Any]], naming: Naming, kafka: Mapping[str, Kafka], timeout: float
) -> AivenEngine:
    """Open the engine, see :class:`AivenEngine`. Raises ``aiven_no_token``."""
    return AivenEngine(clusters, naming, kafka, max(timeout, _API_SECONDS))
