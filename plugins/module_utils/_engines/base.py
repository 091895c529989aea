# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The contract of an engine: the system that runs the flows of a pair, such as Kafka Connect.

A flow is the replication from one cluster (``source``) to the other (``target``). It has three parts, named as in
MirrorMaker 2: ``source`` replicates records, ``checkpoint`` translates and syncs group offsets, ``heartbeat`` writes
heartbeats.

To add an engine, create a folder beside this file with two files:

- ``engine.py`` defines ``open_engine(clusters, naming, kafka, timeout)``, which returns an :class:`Engine`.
- ``inventory.py`` defines ``INVENTORY``, an :class:`.inventory.EngineInventory`. It states the capabilities of the
  engine and checks the engine's inventory keys.

Then add the engine to :func:`.opening.packed`. Code outside ``_engines`` never asks which engine a pair has. It asks
for a capability (:class:`.inventory.Capabilities`), or it calls a method of :class:`Engine` or :class:`StoredOffsets`.
The docstring of each method states the guarantee that callers rely on.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from .._connect.connector_client import ConnectorClient
from .._core.changes import Outcome
from .._core.discovery.observations import MirrorConnector
from .._core.engines.inventory import Capabilities
from .._core.errors import DrError
from .._core.flows.goals import FlowGoal
from .._core.flows.pair_spec import PairSpec
from .._core.names import flow_name
from .._core.partition import Partition
from .._core.resources.topic_filters import Filter
from .._core.resources.topics import DEFAULT_LARGEST_RECORD
from .._core.waiting import Bounds
from .._kafka.acls import AclStore
from .._module import Result

__all__ = [
    "Engine",
    "FlowState",
    "PartState",
    "SiteSettings",
    "StoredOffsets",
    "attempt",
    "joined",
    "no_offsets",
    "unsafe_settings",
    "workers_of",
]


@dataclass(frozen=True)
class PartState:
    """The observed state of one part of a flow, in Kafka Connect's terms."""

    #: ``source``, ``checkpoint`` or ``heartbeat``.
    part: str
    #: Name of the connector. An engine without connectors uses the name that Kafka Connect would use.
    name: str
    #: RUNNING, PAUSED, STOPPED, FAILED or another Kafka Connect state. None: the part does not exist.
    state: str | None
    #: State of each task. Empty: the part has no tasks.
    tasks: tuple[str, ...]
    #: Settings of this part that invalidate the proofs of a cutover, one sentence each (R38).
    unsafe_settings: tuple[str, ...] = ()
    #: Filters that select the topics and groups of this part. Empty if the engine does not report them.
    filters: tuple[Filter, ...] = ()
    #: Differences from the inventory, one sentence each.
    drift: tuple[str, ...] = ()
    #: Failures of the part and its tasks, each with the first line of the trace and the innermost cause.
    failures: tuple[str, ...] = ()
    #: Size limit in bytes, before compression, of a record that the source part's producer sends.
    largest_record: int = DEFAULT_LARGEST_RECORD

    @property
    def failed(self) -> bool:
        """True if the connector or one of its tasks is FAILED. Kafka Connect does not restart either by itself."""
        return "FAILED" in (self.state, *self.tasks)

    @property
    def rebalancing(self) -> bool:
        """True if the connector or one of its tasks is UNASSIGNED: its workers are distributing their work."""
        return "UNASSIGNED" in (self.state, *self.tasks)

    @property
    def final(self) -> bool:
        """True if the part is STOPPED and has no tasks. Its stored offsets are final only then (R20)."""
        return self.state == "STOPPED" and not self.tasks


def unsafe_settings(parts: Mapping[str, PartState]) -> list[str]:
    """Settings of all parts of a flow that invalidate the proofs of a cutover, each named once, without a full stop."""
    first: dict[str, str] = {}
    for name, part in parts.items():
        for text in part.unsafe_settings:
            first.setdefault(text.rstrip("."), name)
    return [text if part == "source" else f"{part} connector: {text}" for text, part in first.items()]


@dataclass(frozen=True)
class FlowState:
    """The observed state of one flow."""

    #: State by part. Always holds all three parts, unless ``away`` is set.
    connectors: dict[str, PartState]
    #: Offset of the last replicated record by source partition. A partition that is missing here is unknown, not 0.
    #: The offsets are lower bounds unless the source part is ``final``.
    last_replicated_offset: dict[Partition, int]
    #: Why the engine did not answer. If set, nothing else is known. Callers set it; engines raise instead.
    away: str = ""


@dataclass(frozen=True)
class SiteSettings:
    """Extra settings for an engine that is configured through a management system. Other engines ignore them."""

    #: Additional properties to set, by cluster alias.
    properties: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    #: Reason for the change, which the management system stores in its history.
    reason: str = ""


def attempt(work: Callable[[], Result]) -> Result:
    """Call ``work`` and return its result. A raised :class:`DrError` becomes the ``failure`` of a new result."""
    try:
        return work()
    except DrError as error:
        return Result(failure=error)


def joined(results: Iterable[Result]) -> Result:
    """Merge the results of several calls into one.

    ``extra["connectors"]`` lists the connectors of all results, in order. The first failure becomes the failure of the
    merged result. Later failures become warnings.
    """
    merged = Result(extra={"connectors": []})
    for result in results:
        merged.outcomes += result.outcomes
        merged.warnings += [text for text in result.warnings if text not in merged.warnings]
        if result.failure is not None and merged.failure is not None:
            merged.warnings.append(result.failure.sentence())
        merged.failure = merged.failure or result.failure
        merged.extra["connectors"] += result.extra.get("connectors", [])
    return merged


class StoredOffsets(Protocol):
    """The stored source offsets of one flow, for an engine with the capability ``offsets_writable``.

    A stored offset is the offset of the last replicated record of a source partition. A started flow continues with
    the next record.

    The caller stops the flow before it writes: the source part must be STOPPED without tasks. Each write changes only
    the offsets that its docstring names. The engine then reads the offsets back. A write returns only if the engine
    reports the written offsets. Otherwise it raises ``offsets_not_set``.
    """

    @property
    def name(self) -> str:
        """The name under which the engine stores the offsets, for messages and reports."""

    def read(self) -> dict[Partition, int]:
        """Return the offset of the last replicated record by source partition.

        A partition without a stored offset is missing from the result. The offsets are final only while the flow is
        stopped.
        """

    def require_stopped(self, hint: str) -> None:
        """Raise ``not_stopped`` with ``hint`` unless the flow exists and is STOPPED without tasks."""

    def replace(self, wanted: Mapping[Partition, int]) -> None:
        """Replace all stored offsets of the flow with ``wanted``. Offsets of other partitions are removed."""

    def update(self, wanted: Mapping[Partition, int], hint: str) -> None:
        """Set the offsets of the partitions in ``wanted``, and keep those of all others. -1 removes an offset.

        ``hint`` is the hint of the ``offsets_not_set`` error.
        """

    def forget(self, topics: Collection[str]) -> None:
        """Remove the stored offsets of ``topics``. The flow then replicates these topics from the start again."""


class Engine(Protocol):
    """The operations that an engine offers on the two flows of a pair.

    ``source`` and ``target`` are cluster aliases. Every method raises :class:`DrError` if the system that runs the
    flows does not answer, unless its docstring says that errors are part of the result.
    """

    #: What this engine can do. The same object as in the engine's inventory.
    capabilities: Capabilities
    #: The application whose flows this object manages. None: the flows of the whole pair.
    application: str | None

    @property
    def requests(self) -> list[dict[str, Any]]:
        """All requests sent so far, without secrets. Modules return this list to the user."""

    # ---- observation: changes nothing

    def observe(self, source: str, target: str) -> FlowState:
        """Read the state of the flow's parts, and its stored offsets.

        The stored offsets are read on every call. The state may be a few seconds old, so that callers can poll.
        """

    def observe_offsets(self, source: str, target: str) -> FlowState | None:
        """Read only the stored offsets, and report every part as STOPPED without tasks.

        For a caller that has already stopped the flow, and for an engine whose state is slow to read. None: this engine
        has no cheaper way than :meth:`observe`.
        """

    def about(self, source: str, target: str) -> tuple[str | None, str | None]:
        """Return the id of the cluster that the flow's workers are attached to, and the version of the workers.

        None stands for a value that the engine does not report. Raises if this version cannot run the flow.
        """

    def competing_flows(self, source: str, target: str, topics: Iterable[str], running: bool = False) -> list[str]:
        """Names of other flows that replicate one of ``topics`` into the same replicas as this flow.

        ``running``: leave out flows that are stopped.
        """

    def reverse_flows(self, source: str, target: str, topics: Iterable[str]) -> list[str]:
        """Names of the flows, this collection's or not, that replicate ``topics`` from ``target`` to ``source``.

        A flow is listed if it is not stopped and replicates at least one of ``topics``.
        """

    def workers(self, target: str, purpose: str) -> ConnectorClient | None:
        """Return the client that changes single connectors on the workers of ``target``, and their stored offsets.

        They need not be connectors of the pair. ``purpose``: what needs the client, for the message of a refusal.
        None: the engine runs flows without connectors.
        """

    def connectors_to(self, target: str) -> list[MirrorConnector]:
        """Return every MirrorMaker 2 connector on the workers of ``target``, of any name and in any state.

        Empty if the engine runs flows without connectors, which cannot be adopted.
        """

    def acls(self, alias: str) -> AclStore | None:
        """The store that changes the ACLs of the cluster ``alias``. None: Kafka's own protocol. Sends no request.

        What the store reports is what its system keeps. Only the broker's answer to a principal proves a fence.
        """

    # ---- effects

    def apply(
        self, pair: PairSpec, goals: Sequence[FlowGoal], settings: SiteSettings, bounds: Bounds, check: bool
    ) -> Result:
        """Bring flows to their goals, and stop parts before starting others.

        If the result has no failure, each part of each goal was observed in the wanted state. If one goal fails, the
        others are still applied, and the result holds the first failure. Errors are part of the result.

        An engine without the capability ``syncs_groups`` keeps the group sync of every goal off.

        In check mode nothing is changed, and the outcomes list the planned changes. ``extra["not_compared"]`` lists
        settings that select what a flow replicates but that this engine cannot read, one sentence each.
        """

    def stop(
        self,
        source: str,
        target: str,
        final: bool,
        bounds: Bounds,
        check: bool,
        awaited: Collection[str] = ("source", "checkpoint"),
    ) -> Result:
        """Stop the flow's group offset sync and, if ``final``, its replication.

        An engine without the capability ``stop_provable`` leaves replication as it is.

        ``awaited``: parts to wait for. If the result has no failure and ``checkpoint`` was awaited, this flow no
        longer writes group offsets on ``target``. With ``final``, if ``source`` was awaited, each part that the engine
        can stop for this flow alone also has no tasks. The stored offsets are final only if :meth:`observe` reports
        the source part as ``final``. An engine may wait for more than that. Errors are part of the result.
        """

    def offsets(self, source: str, target: str) -> StoredOffsets:
        """The flow's stored offsets, for writing. Raises ``no_offsets`` if the engine cannot change them."""

    def forget(self, lost: str, remaining: str, check: bool) -> list[Outcome]:
        """Remove all stored offsets that the engine can read, of both flows, because a new cluster replaces ``lost``.

        The flow from ``lost`` to ``remaining`` then replicates the new cluster from the start. The engine also removes
        other state that refers to the lost cluster. Raises ``not_stopped`` unless the flows are stopped.
        """


def workers_of(engine: Engine, target: str, purpose: str) -> ConnectorClient:
    """Return :meth:`Engine.workers`. Raises ``no_connectors`` if the engine has none."""
    workers = engine.workers(target, purpose)
    if workers is None:
        raise DrError(
            "no_connectors",
            f"The engine of {target} runs flows without connectors, but {purpose} needs them.",
            'Use kafka_dr_engine "connect" or "strimzi".',
        )
    return workers


def no_offsets(source: str, target: str, engine: str) -> DrError:
    """The error for a flow whose engine cannot change stored offsets. ``engine``: the engine's product name."""
    return DrError(
        "no_offsets",
        f"The stored offsets of {flow_name(source, target)} cannot be changed: {engine} has no interface for it.",
        'Use an engine that can change stored offsets, such as kafka_dr_engine "connect".',
    )
