# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of the modules that translate offsets, parsed.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from ..._core.flows.pair_spec import PairSpec
from ..._core.journal.ownership import Claim
from ..._core.journal.state import Run
from ..._core.waiting import Bounds
from ..observation.commits_seen import CommitsSeen, IdleGroups

__all__ = ["BarrierRequest", "DisasterRequest", "PresyncRequest", "SeedRequest", "TranslationRequest"]


@dataclass(frozen=True)
class TranslationRequest:
    """Translate the committed offsets of all groups from the cluster ``leave`` to the cluster ``enter``."""

    pair: PairSpec
    leave: str
    enter: str
    #: "refuse" or "reread": what to do with offsets that are not proven to be exact.
    group_lag: str
    #: Groups that may lose unread records that are gone from the cluster being entered.
    accept_skips: Collection[str]
    #: Seconds over which committed offsets must not change for a group to count as idle.
    settle: float
    #: Until the groups have no members.
    members: Bounds
    #: Until everything that the groups have read is replicated.
    replicated: Bounds
    #: The flow is stopped, so its progress is final.
    final: bool
    request_timeout: float
    #: Committed offsets as an earlier module of the run read them on ``leave``; None: not known.
    commits_seen: CommitsSeen | None = None
    #: "fail": a forecast refuses higher committed offsets on ``enter`` (R6).
    lower: str = "fail"
    #: Groups without members on ``leave`` at preflight; None: no barrier follows.
    idle_groups: IdleGroups | None = None

    @property
    def flows(self) -> list[tuple[str, str]]:
        """The flow to the cluster being entered, and the flow back."""
        return [(self.leave, self.enter), (self.enter, self.leave)]


@dataclass(frozen=True)
class BarrierRequest:
    """Create the barrier of a run. The journal names the clusters that the run leaves and enters."""

    pair: PairSpec
    claim: Claim
    #: Stop the source connector too.
    final: bool
    group_lag: str
    accept_skips: Collection[str]
    settle: float
    members: Bounds
    replicated: Bounds
    #: Seconds until the connectors are stopped.
    stop_timeout: float
    #: Used instead of ``stop_timeout`` by an engine that restarts a service to stop connectors.
    restart_timeout: float
    request_timeout: float
    #: Groups without members on the cluster being left at preflight.
    idle_groups: IdleGroups
    #: Committed offsets as the drain read them on the cluster being left; None: not known.
    commits_seen: CommitsSeen | None = None

    def translation(self, run: Run) -> TranslationRequest:
        """The translation of the journal's ``run``."""
        return TranslationRequest(
            pair=self.pair,
            leave=run.source,
            enter=run.target,
            group_lag=self.group_lag,
            accept_skips=self.accept_skips,
            settle=self.settle,
            members=self.members,
            replicated=self.replicated,
            final=self.final,
            request_timeout=self.request_timeout,
            commits_seen=self.commits_seen,
            idle_groups=self.idle_groups,
        )


@dataclass(frozen=True)
class DisasterRequest:
    """Find the groups' offsets from the cluster ``enter`` alone, because the cluster ``leave`` is lost."""

    pair: PairSpec
    leave: str
    enter: str
    #: The run that journals the result; None in check mode.
    claim: Claim | None
    #: Seconds until the connectors are stopped and no transaction is open.
    stop_timeout: float
    #: Used instead of ``stop_timeout`` by an engine that restarts a service to stop connectors.
    restart_timeout: float
    members: Bounds
    #: Seconds to wait for a response of the lost cluster.
    probe_timeout: float
    request_timeout: float


@dataclass(frozen=True)
class PresyncRequest:
    """Commit the translated offsets of live groups on the cluster ``enter``."""

    pair: PairSpec
    leave: str
    enter: str
    #: The job must end within this time.
    seconds: float
    request_timeout: float


@dataclass(frozen=True)
class SeedRequest:
    """Set the start offsets of the flow from ``source`` to ``target``, with the policy identity."""

    pair: PairSpec
    source: str
    target: str
    #: First offset to replicate: topic -> partition -> offset. None: keep the connector's offset, or find one by
    #: content.
    cut: Mapping[str, Mapping[str, int]] | None
    #: Log ends of the target at the barrier: topic -> partition -> offset.
    ends: Mapping[str, Mapping[str, int]]
    #: Topics that may hold records after ``ends``.
    accept_tail: Collection[str]
    #: The applications were moved without this collection.
    moved: bool
    #: The run that journals the result; None: no run.
    claim: Claim | None
    request_timeout: float
