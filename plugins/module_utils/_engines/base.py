# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The contract of an engine, the system that runs the flows of a pair.

An engine is one folder beside this file. Nothing outside of ``_engines`` asks which engine a pair has: code asks for a
capability, or calls a method and gets the guarantee that its docstring states.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from .._core.changes import Outcome
from .._core.errors import DrError
from .._core.flows.goals import FlowGoal
from .._core.flows.pair_spec import PairSpec
from .._core.names import flow_name
from .._core.resources.topic_filters import Filter
from .._core.waiting import Bounds
from .._module import Result
from .inventory import Capabilities

__all__ = [
    "Engine",
    "FlowState",
    "PartState",
    "Partition",
    "SiteSettings",
    "StoredOffsets",
    "attempt",
    "joined",
    "no_offsets",
]

Partition = tuple[str, int]
#: max.request.size of a Kafka producer that sets none.
DEFAULT_LARGEST_RECORD = 1_048_576


@dataclass(frozen=True)
class PartState:
    """One part of a flow (``source``, ``checkpoint``, ``heartbeat``) in Kafka Connect's terms."""

    part: str
    name: str
    #: State as the engine reports it; None: this part does not exist.
    state: str | None
    #: State of each task.
    tasks: tuple[str, ...]
    #: Settings of the source part with which no proof can hold, in words.
    unsafe_settings: tuple[str, ...] = ()
    #: The topics and groups that it takes, where the engine itself knows them.
    filters: tuple[Filter, ...] = ()
    #: Differences from the inventory, in words.
    drift: tuple[str, ...] = ()
    #: What failed, each with the first line of its trace and its innermost cause.
    failures: tuple[str, ...] = ()
    #: Bytes of the largest record, uncompressed, that the source part's producer sends.
    largest_record: int = DEFAULT_LARGEST_RECORD

    @property
    def failed(self) -> bool:
        """The connector or one of its tasks is FAILED: Kafka Connect restarts neither by itself."""
        return "FAILED" in (self.state, *self.tasks)

    @property
    def final(self) -> bool:
        """Stopped without tasks: only then its offsets are final (R20)."""
        return self.state == "STOPPED" and not self.tasks


@dataclass(frozen=True)
class FlowState:
    """One flow as its engine reports it."""

    connectors: dict[str, PartState]
    #: Last replicated source offset by partition; absent: unknown. A lower bound unless the source part is ``final``.
    last_replicated_offset: dict[Partition, int]
    #: Why the engine could not be asked; then nothing else of this is known.
    away: str = ""


@dataclass(frozen=True)
class SiteSettings:
    """What an engine that is configured through a management system needs besides the goals."""

    #: Further properties by alias.
    properties: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    #: Reason for the change, for the history of that system.
    reason: str = ""


def attempt(work: Callable[[], Result]) -> Result:
    """The result of ``work``; an error of it as the failure of a result."""
    try:
        return work()
    except DrError as error:
        return Result(failure=error)


def joined(results: Iterable[Result]) -> Result:
    """One result of several calls. ``connectors``: theirs, in order. The first failure is that of the whole, others
    are warnings.
    """
    whole = Result(extra={"connectors": []})
    for one in results:
        whole.outcomes += one.outcomes
        whole.warnings += [text for text in one.warnings if text not in whole.warnings]
        if one.failure is not None and whole.failure is not None:
            whole.warnings.append(one.failure.sentence())
        whole.failure = whole.failure or one.failure
        whole.extra["connectors"] += one.extra.get("connectors", [])
    return whole


class StoredOffsets(Protocol):
    """The source offsets that one flow has stored, where its engine lets them be changed.

    Every write needs the flow STOPPED without tasks, leaves alone what it was not asked for, and is read back: it
    returns only if the engine shows what was written, else raises ``offsets_not_set``.
    """

    @property
    def name(self) -> str:
        """What the engine stores them under."""

    def read(self) -> dict[Partition, int]:
        """Last replicated source offset by partition; final only while the flow is stopped. Absent: unknown."""

    def require_stopped(self, hint: str) -> None:
        """Raise ``not_stopped`` with ``hint`` unless the flow exists and is STOPPED without tasks."""

    def replace(self, wanted: Mapping[Partition, int]) -> None:
        """Make ``wanted`` all that the flow knows."""

    def update(self, wanted: Mapping[Partition, int], hint: str) -> None:
        """Set ``wanted`` (-1: none); offsets of other partitions stay. ``hint``: what to do if they were not taken."""

    def forget(self, topics: Collection[str]) -> None:
        """Remove the offsets of ``topics``: the flow replicates them from the start again."""


class Engine(Protocol):
    """What a pair asks of its engine. ``application``: the one whose flows these are; None: those of the whole pair."""

    capabilities: Capabilities
    application: str | None

    @property
    def requests(self) -> list[dict[str, Any]]:
        """Every request sent so far, without secrets."""

    # ---- observation: changes nothing

    def observe(self, source: str, target: str) -> FlowState:
        """The flow's parts and stored offsets, read now. Raises where the engine does not answer."""

    def observe_offsets(self, source: str, target: str) -> FlowState | None:
        """The stored offsets as of a stopped flow, its state not asked for; None: :meth:`observe` costs no more."""

    def about(self, source: str, target: str) -> tuple[str | None, str | None]:
        """Cluster id that the flow's workers serve and their version, None where the engine does not report one.

        Raises where the engine does not answer.
        """

    def competing_flows(self, source: str, target: str, topics: Iterable[str], running: bool = False) -> list[str]:
        """Other flows, by name, that replicate one of ``topics`` into the replicas of this one.

        ``running``: only those that are not stopped.
        """

    def reverse_flows(self, source: str, target: str, topics: Iterable[str]) -> list[str]:
        """Flows of any name that replicate one of ``topics`` ``target`` -> ``source`` and are not stopped."""

    # ---- effects

    def apply(
        self, pair: PairSpec, goals: Sequence[FlowGoal], settings: SiteSettings, bounds: Bounds, check: bool
    ) -> Result:
        """Bring flows to their goals; what stops does so before anything starts.

        When it returns without failure, each part of a goal was observed in its state. A goal that fails keeps no other
        one from being reached; the result names the first failure. In check mode nothing is sent, and the outcomes are
        what would be changed. ``extra["not_compared"]``: what decides what a flow takes and was not read.
        """

    def stop(self, source: str, target: str, final: bool, bounds: Bounds, check: bool, awaited: bool = True) -> Result:
        """Stop the flow's group sync, and with ``final`` its replication.

        When it returns without failure, no more group offsets are written toward ``target``. With ``final`` and
        ``awaited``, every part that can be stopped for one flow alone has no task left. Progress is final only if
        :meth:`observe` says so. Not ``awaited``: only the end of the group sync is waited for.
        """

    def offsets(self, source: str, target: str) -> StoredOffsets:
        """The flow's stored offsets for writing; raises ``no_offsets`` where the engine cannot change them."""

    def forget(self, gone: str, here: str, check: bool) -> list[Outcome]:
        """Remove all stored offsets of both flows, which are stopped: a new cluster has taken the place of ``gone``."""


def no_offsets(source: str, target: str, engine: str) -> DrError:
    """The error of an engine whose stored offsets cannot be changed."""
    return DrError(
        "no_offsets",
        f"The stored offsets of {flow_name(source, target)} cannot be changed: {engine} offers no way to.",
        "This step needs an engine whose stored offsets can be changed, such as connect.",
    )
