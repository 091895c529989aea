# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Determine on which cluster the applications of a pair live, from the journal and from evidence. Reads only.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Any

from ..._core.checks.residence import SideEvidence, find_residence, missing_epochs, unsafe_journal
from ..._core.checks.undeclared_groups import undescribed_notes
from ..._core.cutover_types import needs_source
from ..._core.errors import DrError
from ..._core.flows.pair_spec import PairSpec
from ..._core.journal.events import Event, merge
from ..._core.journal.state import JournalState, fold
from ..._core.partition import Partition, Ranges
from ..._core.resources.groups import UNDESCRIBED
from ..._core.resources.scopes import out_of_scope, scope_problems
from ..._kafka import groups as kafka_groups
from ..._kafka.latest import read_latest
from ..._kafka.topics import describe
from ..._module import Result
from ..connections.clusters import on_each
from ..observation.groups import Groups, names_of
from ..observation.pair import Pair
from ..observation.undeclared_groups import undescribed_groups
from .copies import read_copy

__all__ = ["ResidenceRequest", "residence"]

_SHOWN = 5
_SETTINGS = ("cleanup.policy", "retention.bytes", "retention.ms")


@dataclass(frozen=True)
class ResidenceRequest:
    """The options of ``dr_active_info``."""

    pair: PairSpec
    #: Alias named by the operator; "": none.
    asked: str
    #: Observe which originals grow even if the journal names the active cluster.
    observe: bool
    #: Require that the engine of both flows responds and has a supported version.
    engine: bool
    #: Seconds between the two observations of log ends.
    window: float
    request_timeout: float


def residence(request: ResidenceRequest) -> Result:
    """Return the active cluster; fail if it is unknown, the journal is unsafe, or a group uses undeclared topics."""
    observation = _Observation(request)
    result = Result()
    try:
        result.warnings = observation.undescribed_groups()
        result.extra = observation.run()
    except DrError as error:
        result.failure = error
    result.requests = observation.pair.requests
    return result


class _Observation:
    """Observes both clusters once, and their originals twice if the journal does not name the active cluster."""

    def __init__(self, request: ResidenceRequest) -> None:
        self._request, self._spec = request, request.pair
        self._journaled: str | None = None
        self._grown: dict[str, list[str]] = {}
        self.pair = Pair(request.pair, permutations(request.pair.clusters, 2), request.request_timeout)

    def run(self) -> dict[str, Any]:
        """Return what the module ``dr_active_info`` returns."""
        if self._request.engine:
            for flow in self.pair.flows:
                self.pair.engine.about(*flow)
        self._require_safe_journal()
        events = self._events()
        state = fold(events)
        if state.interrupted:
            # Applications may run on either cluster. The caller must end that run first.
            return self._found(state, state.active, "named by the journal")
        groups = on_each(self.pair.kafka, self._groups)
        self._require_described(groups)
        self._require_scopes(groups)
        self._journaled = state.active
        self._grown = self._observe() if self._request.observe or self._needs_writes() else {}
        evidence = on_each(self.pair.kafka, lambda alias: self._side(alias, groups[alias]))
        found = find_residence(evidence, self._spec.home, state.active, self._request.asked)
        return self._found(state, found.active, found.reason)

    def _found(self, state: JournalState, active: str | None, reason: str) -> dict[str, Any]:
        run = state.run
        # The source of a disaster failover may have lost the end of its logs (R15).
        lost = run is not None and not needs_source(run.type) and run.target == active
        returning = [{"source": run.source, "target": run.target}] if run is not None and lost else []
        return {
            "active": active,
            "reason": reason,
            "journaled": state.active,
            "moved": active != (state.active or self._spec.home),
            "returning_flows": [] if self.pair.naming.starts_at_cut else returning,
            "grown": self._grown,
        }

    # ---- the journal

    def _require_safe_journal(self) -> None:
        name = self._spec.journal_topic
        unsafe: list[str] = []
        for alias, kafka in self.pair.kafka.items():
            state = describe(kafka, [name], {name: _SETTINGS})[name]
            unsafe += [] if state is None else unsafe_journal(alias, state, kafka.brokers)
        if unsafe:
            raise DrError(
                "journal_unsafe",
                f"The journal topic can lose events: {'; '.join(unsafe)}.",
                "Correct settings with kafka-configs --alter, and the replication factor with"
                " kafka-reassign-partitions. Then start again.",
            )

    def _events(self) -> list[Event]:
        topic, pair = self._spec.journal_topic, self._spec.name
        copies = on_each(self.pair.kafka, lambda alias: read_copy(self.pair.kafka[alias], topic, pair))
        events = merge(copy for copy in copies.values() if copy is not None)
        lost = missing_epochs(events)
        if lost:
            raise DrError(
                "journal_incomplete",
                f'The journal "{topic}" lacks {len(lost)} of {events[-1].epoch} epochs of this pair on both clusters,'
                f" the first one is {lost[0]}: its events were deleted.",
                "The remaining events do not show where the applications live. See the row journal_incomplete in"
                " docs/troubleshooting.md.",
            )
        return events

    # ---- groups

    def _groups(self, alias: str) -> Groups:
        kafka, names = self.pair.kafka[alias], self.pair.groups
        return kafka_groups.describe(kafka, names), kafka_groups.committed_offsets(kafka, names)

    def undescribed_groups(self) -> list[str]:
        """Describe the groups on the pair's topics that are neither classic nor consumer groups. They do not move."""
        texts = []
        for alias in self.pair.kafka:
            try:
                texts += undescribed_notes(undescribed_groups(self.pair, alias))
            except DrError as error:
                texts.append(
                    f"Which groups on {alias} are neither classic nor consumer groups is unknown: {error.message}"
                )
        return texts

    def _require_described(self, groups: Mapping[str, Groups]) -> None:
        """Refuse groups that are to move and whose members and state nothing here can read (R41)."""
        for alias, (states, _commits) in groups.items():
            declared = sorted(group for group, state in states.items() if state.state == UNDESCRIBED)
            if declared:
                raise DrError(
                    "group_undescribed",
                    f"{len(declared)} groups in kafka_dr_groups are not classic or consumer groups on {alias}, so it is"
                    f" unknown whether they have members: {', '.join(declared[:_SHOWN])}.",
                    "Run Kafka Streams with group.protocol=classic. For a share group, or one that stays, set mode:"
                    " local in kafka_dr_groups, and choose where it starts on the other cluster (for a share group,"
                    " share.auto.offset.reset or kafka-share-groups --reset-offsets).",
                )

    def _require_scopes(self, groups: Mapping[str, Groups]) -> None:
        rows = []
        for alias, (states, commits) in groups.items():
            for group in self.pair.groups:
                used = {key.topic for key in (*commits[group], *states[group].assigned)}
                scope = names_of(self.pair, group, alias, used)
                known = self.pair.partitions(alias)
                rows += out_of_scope((group, alias), scope, known, commits[group], states[group].members)
        if rows:
            text = " ".join(scope_problems(rows[:3]))
            raise DrError("group_out_of_scope", text)

    # ---- evidence

    def _needs_writes(self) -> bool:
        """If flows write the originals, growth is no evidence of producers."""
        return self._journaled is None and not self.pair.naming.flows_write_originals

    def _observe(self) -> dict[str, list[str]]:
        """Observe twice, and name the originals that grew in between, by alias."""
        before = on_each(self.pair.kafka, self._ends)
        time.sleep(self._request.window)
        after = on_each(self.pair.kafka, self._ends)
        return {alias: _grown(before[alias], after[alias], alias) for alias in after}

    def _side(self, alias: str, groups: Groups) -> SideEvidence:
        states, commits = groups
        members = [
            f'group "{state.group}" by {member.client_id} at {member.host}'
            for state in states.values()
            for member in state.members
        ]
        if self._journaled:
            return SideEvidence(members)
        if self.pair.naming.flows_write_originals:
            # Only committed offsets on the other cluster are evidence.
            return SideEvidence(members, (), self._commits(alias, commits, self.pair.topics) + self._presynced(alias))
        traces = [] if alias == self._spec.home else self._born_here(alias, commits)
        return SideEvidence(members, self._grown[alias], traces + self._presynced(alias))

    def _ends(self, alias: str) -> Ranges:
        self.pair.partitions(alias)
        return self.pair.ranges(alias, self.pair.topics, "read_uncommitted")

    def _born_here(self, alias: str, commits: Mapping[str, Mapping[Partition, int]]) -> list[str]:
        """Describe records in originals, which no flow of the default policy writes, and committed offsets on them."""
        written = sorted({topic for (topic, _index), (_start, end) in self._ends(alias).items() if end > 0})
        return [f'"{topic}" holds records there' for topic in written] + self._commits(alias, commits, self.pair.topics)

    def _commits(self, alias: str, commits: Mapping[str, Mapping[Partition, int]], topics: list[str]) -> list[str]:
        if alias == self._spec.home:
            return []
        return [
            f'group "{group}" committed offset {offset} on {topic}-{index}'
            for group, offsets in commits.items()
            for (topic, index), offset in sorted(offsets.items())
            if topic in topics and offset > 0
        ]

    def _presynced(self, alias: str) -> list[str]:
        """Describe presynced offsets. They show that reverse_checkpoint has run, so the pair was enabled before."""
        values = (read_latest(self.pair.kafka[alias], self._spec.state_topic) or {}).values()
        found = [
            value
            for value in values
            if value.get("kind") == "committed_offsets" and value.get("pair") == self._spec.name
        ]
        newest = max(found, key=lambda value: float(value["since"]), default=None)
        return [] if newest is None else [f"reverse_checkpoint last committed offsets for {newest['to']}"]


def _grown(before: Ranges, after: Ranges, alias: str) -> list[str]:
    grown = sorted(key for key, (_start, end) in after.items() if key in before and end > before[key][1])
    return [f'a producer of "{topic}-{index}" (its log end on {alias} increased)' for topic, index in grown]
