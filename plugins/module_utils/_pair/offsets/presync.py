# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps the positions of live groups ready on the side where they do not live (R11 and R12).

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
from ..._core.offsets.skipped_records import skipped_in
from ..._core.resources.groups import with_members
from ..._core.resources.scopes import scope_problems
from ..._core.waiting import Bounds, wait_until
from ..._guard import owned
from ..._kafka.committing import commit_offsets
from ..._kafka.topics import describe, log_ranges
from ..._module import Result
from ..._process import own_clock
from ..journal.copies import JournalCopies
from ..journal.leases import leases_of, number_of_next, open_leases_of, write_lease
from ..observation.pair import ISOLATION, Pair, Partition
from .evidence import gather
from .presynced import write_presynced
from .requests import PresyncRequest
from .translation import find_offsets

__all__ = ["checkpoint"]

SKIPPED, DONE, FAILED = "skipped", "done", "failed"


def checkpoint(request: PresyncRequest, check: bool) -> Result:
    """Translate the positions of all groups from where the applications live, and commit them on the other side.

    Upward only, to groups without members only, never while a cutover is under way, and only as long as the lease runs.
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
        """The work, announced before and given back afterwards, also when it fails."""
        kafkas, topic = self.pair.kafka, self._spec.state_topic
        lease = number_of_next(kafkas, topic, self._lease(time.time()))
        self._until = own_clock() + self._seconds
        write_lease(kafkas, topic, lease)
        outcome, counts = FAILED, {}
        try:
            # A run that began in this moment has either seen the lease, or is seen here.
            refused = self.not_now(self.state())
            with owned(self._require_lease):
                result = Result(extra=_nothing(refused)) if refused else self.work(state, False)
            outcome = result.extra["outcome"]
            counts = {
                key: result.extra[key] for key in ("committed", "preexisting_higher_offsets", "left_out", "rereads")
            }
        finally:
            # One that was ended by another process may have a successor by now, which this must not overwrite.
            if any(one.run == lease.run and one.ended is None for one in self._leases()):
                write_lease(kafkas, topic, lease.over(time.time(), outcome, counts))
        return result

    def _leases(self) -> list[Lease]:
        return leases_of(self.pair.kafka, self._spec.state_topic, self._spec.name)

    def _require_lease(self) -> None:
        """Nothing is committed once another process has ended the lease, or once its time is over here (R31)."""
        self._require_time()
        Claim(lease=self._run).require(JournalState(), self._leases())

    def _lease(self, began: float) -> Lease:
        """What says that this job is at work."""
        return Lease(self._spec.name, "checkpoint", self.y, self._run, began, began + self._seconds)

    def state(self) -> JournalState:
        """The journal, merged."""
        topic = self._spec.journal_topic
        book = JournalCopies(self.pair.kafka, topic, self._spec.name).observe()
        if book.missing:
            text = f'The journal topic "{topic}" does not exist on {", ".join(book.missing)}.'
            raise DrError("journal_missing", text, "Run the playbook enable first.")
        return book.state

    def not_now(self, state: JournalState) -> str:
        """Why nothing may be written now, or nothing."""
        if not state.enabled:
            return "the pair is not enabled"
        if state.interrupted and state.run is not None:
            return f"the {state.run.type} run {state.run.id} has not ended"
        if state.active != self.x:
            return f"the applications live on {state.active}: their positions there are their own"
        other = self._at_work()
        if other is not None:
            return f"the {other.kind} {other.run} is at work"
        return ""

    def _at_work(self) -> Lease | None:
        """Another process. One that lasts no longer than this job is watched for its whole length."""
        watch = Watch(own_clock)

        def others() -> list[Lease]:
            place = (self._spec.state_topic, self._spec.name)
            return watch.live(open_leases_of(self.pair.kafka, *place, self._run))

        def none_short(found: list[Lease]) -> bool:
            return not any(lease.seconds <= self._seconds for lease in found)

        waited = wait_until(others, none_short, Bounds(self._seconds + 1.0, 0.2))
        return next(iter(waited.state), None)

    def work(self, state: JournalState, check: bool) -> Result:
        """Evidence, positions, commit."""
        since = time.time(), self._checkpoints_end()
        evidence = gather(self.pair, self.x, self.y)
        rows, read = find_offsets(evidence, JournalFacts.toward(state, self.y))
        hidden = [
            row
            for observations in (evidence.x_groups, evidence.y_groups)
            for one in observations.values()
            for row in one.out_of_scope
        ]
        active = sorted(
            group for group, observation in evidence.y_groups.items() if observation.state not in ("EMPTY", "DEAD")
        )
        # What skips is neither committed nor kept for a disaster: there it would pass for a safe position (R30).
        sound = [row for row in rows if row["offset"] is not None and not skipped_in(row).possible]
        usable = [row for row in sound if row["group"] not in active]
        following = [row for row in usable if row["existing"] is not None and row["existing"] > row["offset"]]
        wanted: dict[str, dict[Partition, int]] = {}
        for row in usable:
            wanted.setdefault(row["group"], {})[row["topic"], row["partition"]] = row["offset"]
        if not check:
            self._require_time()
            # For a disaster: what is found as a commit on that side may be anybody's, this is not.
            place = (self._spec.name, self.y)
            ids = state.topic_ids.get(self.y, {})
            write_presynced(self.pair.kafka, self._spec.state_topic, place, since, sound, ids)
        committed = commit_offsets(self.pair.kafka[self.y], wanted, "raise", check)
        committed.extra = {
            "outcome": DONE,
            "reason": "",
            "committed": sum(outcome.status in ("planned", "done") for outcome in committed.outcomes),
            "preexisting_higher_offsets": _named(following),
            "left_out": [
                *_named(row for row in rows if row["offset"] is None or skipped_in(row).possible),
                *(f"{row['group']} {row['topic']}: outside the group's topics, {row['evidence']}" for row in hidden),
            ],
            # Of a position that is not there nobody knows how much would be read again.
            "rereads": sum(row["rereads"] for row in usable)
            if usable and len(usable) == len(rows) and not hidden
            else None,
            "details": rows,
            "records_read": read,
        }
        if active and committed.failure is None:
            committed.failure = DrError(
                "group_active",
                f"These groups have members on {self.y}, where nobody should work:"
                f" {with_members({group: evidence.y_groups[group].members for group in active})}.",
                f"Their positions were left alone{'' if check else '; those of the other groups are written'}."
                " Stop them, or give them mode: local in the inventory.",
            )
        if hidden and committed.failure is None:
            committed.failure = DrError(
                "group_out_of_scope",
                " ".join(scope_problems(hidden[:3])),
                "Nothing is committed on these topics; the groups' offsets on their declared topics"
                f" {'would be' if check else 'are'} committed all the same.",
            )
        if committed.failure is not None:
            committed.extra["outcome"] = FAILED
        return committed

    def _checkpoints_end(self) -> int | None:
        """Of the topic on the other side to which MirrorMaker 2 writes where these groups are; None: there is none."""
        kafka, topic = self.pair.kafka[self.y], self.pair.naming.checkpoints(self.x)
        if describe(kafka, [topic])[topic] is None:
            return None
        return log_ranges(kafka, {(topic, 0)}, ISOLATION)[topic, 0][1]

    def _require_time(self) -> None:
        if own_clock() >= self._until:
            raise DrError(
                "lease_over",
                f"Finding and committing the positions took longer than {self._seconds:g} s.",
                "A cutover may have begun meanwhile, so nothing more is committed. Raise kafka_dr_checkpoint_timeout.",
            )


def _named(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    return [f"{row['group']} {row['topic']}-{row['partition']}: {row['reason']}" for row in rows]
