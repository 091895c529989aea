# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Positions of groups: planned from what is there, written all or none, and read back.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping

from .._core.errors import DrError
from .._core.resources.groups import GroupPlan, Seen, failure_of, outcomes_of, plan_group
from .._core.waiting import Bounds, wait_until
from .._module import Result
from . import groups as kafka_groups
from .client import Kafka
from .topics import describe, known_ranges

__all__ = ["commit_offsets"]

Partition = tuple[str, int]


# How often positions are set again that somebody else moves meanwhile.
_TRIES = 3


def commit_offsets(
    kafka: Kafka,
    wanted: Mapping[str, Mapping[Partition, int]],
    lower: str = "fail",
    check: bool = False,
    settle: float = 0.0,
) -> Result:
    """Commit ``wanted`` where it differs. ``lower``: what to do about higher positions (:func:`plan_group`).

    ``settle``: seconds that the positions must then stay as they were written; what is moved meanwhile is set again.
    """
    moved = 0
    plans = [plan_group(group, wanted[group], seen, lower) for group, seen in _observe(kafka, wanted).items()]
    refused = any(plan.problems for plan in plans)
    if refused:
        for plan in plans:
            plan.refuse()
    elif not check:
        _write(kafka, plans)
        if settle and not any(plan.problems for plan in plans):
            moved = _hold(kafka, plans, settle)
    return Result(
        outcomes=outcomes_of(plans),
        extra={
            "committed_offsets": [row.as_dict() for plan in plans for row in plan.rows],
            "moved": moved,
            "lowered": sum(plan.lowered for plan in plans) if lower == "lower" and not refused else 0,
        },
        requests=kafka.requests,
        failure=failure_of(plans, kafka.bootstrap_servers),
    )


def _observe(kafka: Kafka, wanted: Mapping[str, Mapping[Partition, int]]) -> dict[str, Seen]:
    """Groups, positions, topics and log ranges: one batch of each."""
    topics = describe(
        kafka, sorted({topic for committed_offsets in wanted.values() for topic, number in committed_offsets})
    )
    counts = {name: None if state is None else state.partitions for name, state in topics.items()}
    existing = {
        (topic, number)
        for committed_offsets in wanted.values()
        for topic, number in committed_offsets
        if number < (counts[topic] or 0)
    }
    ranges = known_ranges(kafka, existing)
    before = kafka_groups.committed_offsets(kafka, list(wanted))
    # Last, so that nothing slow lies between seeing that a group has no members and writing.
    states = kafka_groups.describe(kafka, list(wanted))
    return {group: Seen(states[group], before[group], ranges, counts) for group in wanted}


def _write(kafka: Kafka, plans: list[GroupPlan]) -> None:
    """Commit what is planned, then look at positions and groups again."""
    writing = {plan.group: plan.to_write for plan in plans if plan.to_write}
    if not writing:
        return
    errors = kafka_groups.commit(kafka, writing)
    try:
        after = kafka_groups.committed_offsets(kafka, list(writing))
        states = kafka_groups.describe(kafka, list(writing))
    except DrError as error:
        # Written is written: an answer that does not come must not make it look as if nothing had happened.
        for plan in plans:
            plan.unproven(error)
        return
    for plan in plans:
        if plan.group in writing:
            plan.conclude(errors[plan.group], after[plan.group], states[plan.group])


def _hold(kafka: Kafka, plans: list[GroupPlan], seconds: float) -> int:
    """Watch the positions, set again what somebody moves, and say how many that were."""
    held = {plan.group: {row.partition: row.wanted for row in plan.rows if row.status != "kept"} for plan in plans}
    count = 0
    for _try in range(_TRIES):
        waited = wait_until(lambda: _moved(kafka, held), bool, Bounds(seconds, 0.5))
        if not waited.done:
            return count
        count += sum(len(one) for one in waited.state.values())
        kafka_groups.commit(kafka, waited.state)
    raise DrError(
        "offsets_moved",
        f"Somebody else moves positions of the groups {', '.join(sorted(waited.state))}: set {_TRIES} times.",
        "See who commits for these groups (a connector, a job, a consumer), end it, and start again.",
        kafka.bootstrap_servers,
    )


def _moved(kafka: Kafka, held: Mapping[str, Mapping[Partition, int]]) -> dict[str, dict[Partition, int]]:
    now = kafka_groups.committed_offsets(kafka, list(held))
    found = {
        group: {key: offset for key, offset in committed_offsets.items() if now[group].get(key) != offset}
        for group, committed_offsets in held.items()
    }
    return {group: committed_offsets for group, committed_offsets in found.items() if committed_offsets}
