# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commit the translated offsets of live groups on the idle cluster (R11 and R12).

Private to this collection: may change in any release.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Mapping
from typing import Any

from ..._core.errors import DrError
from ..._core.journal.facts import JournalFacts
from ..._core.journal.leases import Lease, Watch
from ..._core.journal.ownership import Claim
from ..._core.journal.state import JournalState
from ..._core.offsets.bindings import Bound, Witness
from ..._core.offsets.skipped_records import skipped_in
from ..._core.partition import Partition, PartitionOffset, Ranges
from ..._core.resources.groups import wanted_metadata, wanted_offsets, with_members
from ..._core.resources.scopes import scope_problems
from ..._core.waiting import Bounds, wait_until
from ..._guard import owned
from ..._kafka.committing import commit_offsets
from ..._module import Result
from ..._process import own_clock
from ..journal.copies import JournalCopies
from ..journal.leases import leases_of, number_of_next, open_leases_of, write_lease
from ..observation.checkpoints import checkpoints_end
from ..observation.pair import Pair
from .bindings import bindings, last_witnesses, witnesses_before
from .carried_metadata import with_metadata
from .evidence import by_group, gather
from .presynced import write_presynced
from .requests import PresyncRequest
from .translation import find_offsets

__all__ = ["checkpoint"]

SKIPPED, DONE, FAILED = "skipped", "done", "failed"


def checkpoint(request: PresyncRequest, check: bool) -> Result:
    """Translate the committed offsets of all groups from the active cluster, and commit them on the other cluster.

    Raises offsets but never lowers them, commits only for groups without members, never during a cutover, and only
    while the lease is open.
    """
    job = _Job(request)
    state = job.state()
    refused = job.not_now(state)
    if refused:
        return Result(extra=_nothing(refused), requests=job.pair.requests)
    result = job.work(state, check) if check else job.under_lease(state)
    result.requests = job.pair.requests
    return result


def _nothing(reason: str) -> dict[str, Any]:
    return {
        "outcome": SKIPPED,
        "reason": reason,
        "committed": 0,
        "preexisting_higher_offsets": [],
        "left_out": [],
        "rereads": None,
        "details": [],
    }


class _Job:
    """One run of the scheduled job."""

    def __init__(self, request: PresyncRequest) -> None:
        self._spec = request.pair
        self.x, self.y = request.leave, request.enter
        self.pair = Pair(request.pair, [(self.x, self.y), (self.y, self.x)], request.request_timeout)
        self._run = f"checkpoint-{uuid.uuid4().hex[:6]}"
        self._seconds = request.seconds
        self._until = 0.0

    def under_lease(self, state: JournalState) -> Result:
        """Do the work under a lease, which is ended afterwards even if the work fails."""
        kafkas, topic = self.pair.kafka, self._spec.state_topic
        lease = number_of_next(kafkas, topic, self._lease(time.time()))
        self._until = own_clock() + self._seconds
        write_lease(kafkas, topic, lease)
        outcome, counts = FAILED, {}
        try:
            # A run that began in this moment has either read the lease, or its journal event is read here.
            refused = self.not_now(self.state())
            with owned(self._require_lease):
                result = Result(extra=_nothing(refused)) if refused else self.work(state, False)
            outcome = result.extra["outcome"]
            counts = {
                key: result.extra[key] for key in ("committed", "preexisting_higher_offsets", "left_out", "rereads")
            }
        finally:
            # If another process ended the lease, it may have a successor by now, which must not be overwritten.
            if any(open_lease.run == lease.run and open_lease.ended is None for open_lease in self._leases()):
                write_lease(kafkas, topic, lease.over(time.time(), outcome, counts))
        return result

    def _leases(self) -> list[Lease]:
        return leases_of(self.pair.kafka, self._spec.state_topic, self._spec.name)

    def _require_lease(self) -> None:
        """Raise if another process has ended the lease, or if its time is over on this machine (R31)."""
        self._require_time()
        Claim(lease=self._run).require(JournalState(), self._leases())

    def _lease(self, began: float) -> Lease:
        """Return the lease that announces this job."""
        return Lease(self._spec.name, "checkpoint", self.y, self._run, began, began + self._seconds)

    def state(self) -> JournalState:
        """Read the journal, merged from both clusters."""
        topic = self._spec.journal_topic
        book = JournalCopies(self.pair.kafka, topic, self._spec.name).observe()
        if book.missing:
            text = f'The journal topic "{topic}" does not exist on {", ".join(book.missing)}.'
            raise DrError("journal_missing", text, "Run the playbook enable first.")
        return book.state

    def not_now(self, state: JournalState) -> str:
        """Return why nothing may be written now; an empty string if it may."""
        if not state.enabled:
            return "the pair is not enabled"
        if state.interrupted and state.run is not None:
            return f"the {state.run.type} run {state.run.id} has not ended"
        if state.active != self.x:
            return f"the applications live on {state.active} and commit their own offsets there"
        other = self._at_work()
        if other is not None:
            return f"the {other.kind} {other.run} is running"
        return ""

    def _at_work(self) -> Lease | None:
        """Return the lease of another live process, or None.

        If that lease is no longer than this job's, wait until it ends or has been unchanged for its whole length.
        """
        watch = Watch(own_clock)

        def others() -> list[Lease]:
            place = (self._spec.state_topic, self._spec.name)
            return watch.live(open_leases_of(self.pair.kafka, *place, self._run))

        def none_short(leases: list[Lease]) -> bool:
            return not any(lease.seconds <= self._seconds for lease in leases)

        waited = wait_until(others, none_short, Bounds(self._seconds + 1.0, 0.2))
        return next(iter(waited.state), None)

    def work(self, state: JournalState, check: bool) -> Result:
        """Gather the evidence, translate the offsets and commit them."""
        since = time.time(), checkpoints_end(self.pair.kafka[self.y], self.pair.naming.checkpoints(self.x))
        # Read before the translation, and compared after it: the log must not have been cut meanwhile (R37).
        last = {} if check else last_witnesses(self.pair.kafka[self.y], self._logs())
        evidence = gather(self.pair, self.x, self.y)
        rows, read = find_offsets(evidence, JournalFacts.toward(state, self.y))
        rows = with_metadata(evidence, rows)
        hidden = [
            row
            for observations in (evidence.x_groups, evidence.y_groups)
            for status in observations.values()
            for row in status.out_of_scope
        ]
        active = sorted(
            group for group, observation in evidence.y_groups.items() if observation.state not in ("EMPTY", "DEAD")
        )
        # An offset that skips records is not committed, nor stored for a disaster, where it would look safe (R30).
        translated = [row for row in rows if row["offset"] is not None and not skipped_in(row).possible]
        witnesses = {} if check else self._witnesses(translated, last)
        safe = [row for row in translated if check or _place(row) in witnesses]
        usable = [row for row in safe if row["group"] not in active]
        following = [row for row in usable if row["existing"] is not None and row["existing"] > row["offset"]]
        groups_to_commit = by_group(usable)
        wanted, metadata = wanted_offsets(groups_to_commit), wanted_metadata(groups_to_commit)
        if not check:
            self._require_time()
            # For a disaster: any process may have committed an offset on that cluster, but only this job writes these.
            groups: dict[str, list[Mapping[str, Any]]] = {group: [] for group in self.pair.groups}
            for row in safe:
                groups[row["group"]].append(row)
            write_presynced(
                self.pair.kafka,
                self._spec.state_topic,
                (self._spec.name, self.y),
                since,
                state.tenure,
                groups,
                witnesses,
                state.topic_ids.get(self.y, {}),
            )
        committed = commit_offsets(self.pair.kafka[self.y], wanted, "raise", check, metadata=metadata)
        committed.extra = {
            "outcome": DONE,
            "reason": "",
            "committed": sum(outcome.status in ("planned", "done") for outcome in committed.outcomes),
            "preexisting_higher_offsets": _named(following),
            "left_out": [
                *_named(row for row in rows if row["offset"] is None or skipped_in(row).possible),
                *(
                    f"{row['group']} {_place(row)[0]}: the log was cut while the offset was translated"
                    for row in translated
                    if row not in safe
                ),
                *(f"{row['group']} {row['topic']}: outside the group's topics, {row['evidence']}" for row in hidden),
            ],
            # If an offset is missing, the number of records that would be read again is unknown.
            "rereads": sum(row["rereads"] for row in usable)
            if usable and len(usable) == len(rows) and not hidden
            else None,
            "details": rows,
            "records_read": read,
        }
        if active and committed.failure is None:
            committed.failure = DrError(
                "group_active",
                f"These groups have members on {self.y}, where no application should run:"
                f" {with_members({group: evidence.y_groups[group].members for group in active})}.",
                f"Their committed offsets are unchanged{'' if check else '; those of the other groups are committed'}."
                " Stop their consumers, or set mode: local for the groups in the inventory.",
            )
        if hidden and committed.failure is None:
            committed.failure = DrError(
                "group_out_of_scope",
                " ".join(scope_problems(hidden[:3])),
                "Nothing is committed on these topics. The groups' offsets on their declared topics"
                f" {'would be' if check else 'are'} committed.",
            )
        if committed.failure is not None:
            committed.extra["outcome"] = FAILED
        return committed

    def _logs(self) -> Ranges:
        return self.pair.ranges(self.y, self.pair.present(self.y))

    def _witnesses(
        self, rows: Iterable[Mapping[str, Any]], last: Mapping[Partition, Witness]
    ) -> dict[PartitionOffset, list[Witness]]:
        """Return the records to bind the offsets to; no entry if the log was cut since ``last`` was read."""
        kafka, logs = self.pair.kafka[self.y], self._logs()
        witnesses = witnesses_before(kafka, {_place(row) for row in rows}, logs, last)
        held = bindings(kafka, [Bound(key, record.offset + 1, (record,)) for key, record in last.items()], logs)
        replaced = {bound.key for bound, binding in held.items() if not binding.holds}
        return {place: bound for place, bound in witnesses.items() if place[0] not in replaced}

    def _require_time(self) -> None:
        if own_clock() >= self._until:
            raise DrError(
                "lease_over",
                f"Translating and committing the offsets took longer than {self._seconds:g} s.",
                "A cutover may have started since, so nothing more is committed. Raise kafka_dr_checkpoint_timeout.",
            )


def _place(row: Mapping[str, Any]) -> PartitionOffset:
    return Partition(row["topic"], row["partition"]), int(row["offset"])


def _named(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    return [f"{row['group']} {row['topic']}-{row['partition']}: {row['reason']}" for row in rows]
