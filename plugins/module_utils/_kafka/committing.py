# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commit offsets of groups: plan from the current state, write all or none, and read them back.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping

from .._core.errors import DrError
from .._core.partition import Partition
from .._core.resources.groups import GroupPlan, Seen, failure_of, outcomes_of, plan_group
from .._core.waiting import Bounds, wait_until
from .._module import Result
from . import groups as kafka_groups
from .client import Kafka
from .topics import describe, try_log_ranges, without_errors

__all__ = ["commit_offsets"]


# How often offsets are committed again after another program changed them.
_TRIES = 3


def commit_offsets(
    kafka: Kafka,
    wanted: Mapping[str, Mapping[Partition, int]],
    lower: str = "fail",
    check: bool = False,
    settle: float = 0.0,
    own: Mapping[str, Mapping[Partition, int]] | None = None,
    metadata: Mapping[str, Mapping[Partition, str]] | None = None,
) -> Result:
    """Commit the offsets in ``wanted`` that differ from the committed ones. If one group is refused, write nothing.

    ``lower``: what to do if a committed offset is higher than the wanted one (:func:`plan_group`). ``settle``: seconds
    during which the committed offsets must not change. Offsets that change in this time are committed again, and
    ``offsets_moved`` is raised if that happens too often. ``own``: higher committed offsets that the groups themselves
    committed earlier (:func:`plan_group`). ``metadata``: what to commit with the offsets.
    """
    moved, own, metadata = 0, own or {}, metadata or {}
    plans = [
        plan_group(group, wanted[group], seen, lower, own.get(group), metadata.get(group))
        for group, seen in _observe(kafka, wanted).items()
    ]
    refused = any(plan.problems for plan in plans)
    if refused:
        for plan in plans:
            plan.refuse()
    elif not check:
        _write(kafka, plans)
        if settle and not any(plan.problems for plan in plans):
            moved = _hold(kafka, plans, settle)
    rows = [row.as_dict() for plan in plans for row in plan.rows]
    return Result(
        outcomes=outcomes_of(plans),
        extra={
            "committed_offsets": rows,
            "kept": [row for row in rows if row["status"] == "kept"],
            "moved": moved,
            "lowered": sum(plan.lowered for plan in plans) if lower in ("lower", "fail") and not refused else 0,
        },
        requests=kafka.requests,
        failure=failure_of(plans, kafka.bootstrap_servers),
    )


def _observe(kafka: Kafka, wanted: Mapping[str, Mapping[Partition, int]]) -> dict[str, Seen]:
    """Read the groups, committed offsets, topics and log ranges, each kind in one batch."""
    topics = describe(
        kafka, sorted({topic for committed_offsets in wanted.values() for topic, number in committed_offsets})
    )
    counts = {name: None if state is None else state.partitions for name, state in topics.items()}
    existing = {
        Partition(topic, number)
        for committed_offsets in wanted.values()
        for topic, number in committed_offsets
        if number < (counts[topic] or 0)
    }
    # First, because a leader that is just being elected is waited for. Meanwhile, a group may commit.
    ranges = without_errors(try_log_ranges(kafka, existing))
    before = kafka_groups.committed(kafka, list(wanted))
    # Last, so that little time passes between the check that a group has no members and the commit.
    states = kafka_groups.describe(kafka, list(wanted))
    return {
        group: Seen(
            states[group],
            {key: committed.offset for key, committed in before[group].items()},
            ranges,
            counts,
            {key: committed.metadata for key, committed in before[group].items()},
        )
        for group in wanted
    }


def _write(kafka: Kafka, plans: list[GroupPlan]) -> None:
    """Commit the planned offsets, then read the committed offsets and groups again."""
    writing = {plan.group: _with_metadata(plan, plan.to_write) for plan in plans if plan.to_write}
    if not writing:
        return
    errors = kafka_groups.commit(kafka, writing)
    try:
        after = kafka_groups.committed(kafka, list(writing))
        states = kafka_groups.describe(kafka, list(writing))
    except DrError as error:
        # The offsets may be committed. A missing response must not look as if nothing had changed.
        for plan in plans:
            plan.unproven(error)
        return
    for plan in plans:
        if plan.group in writing:
            plan.conclude(errors[plan.group], after[plan.group], states[plan.group])


def _with_metadata(plan: GroupPlan, offsets: Mapping[Partition, int]) -> dict[Partition, kafka_groups.Committed]:
    metadata = plan.metadata
    return {key: kafka_groups.Committed(offset, metadata.get(key, "")) for key, offset in offsets.items()}


def _hold(kafka: Kafka, plans: list[GroupPlan], seconds: float) -> int:
    """Watch the committed offsets for ``seconds``. Commit changed ones again, and return how many were changed."""
    held = {
        plan.group: _with_metadata(plan, {row.partition: row.wanted for row in plan.rows if row.status != "kept"})
        for plan in plans
    }
    count = 0
    for _try in range(_TRIES):
        waited = wait_until(lambda: _moved(kafka, held), bool, Bounds(seconds, 0.5))
        if not waited.done:
            return count
        count += sum(len(offsets) for offsets in waited.state.values())
        kafka_groups.commit(kafka, waited.state)
    raise DrError(
        "offsets_moved",
        f"Another program changes committed offsets of the groups {', '.join(sorted(waited.state))}: they were"
        f" committed {_TRIES} times and changed again each time.",
        "Find the program that commits for these groups (a connector, a job, a consumer), stop it, and start the same"
        " playbook again.",
        kafka.bootstrap_servers,
    )


def _moved(
    kafka: Kafka, held: Mapping[str, Mapping[Partition, kafka_groups.Committed]]
) -> dict[str, dict[Partition, kafka_groups.Committed]]:
    now = kafka_groups.committed_offsets(kafka, list(held))
    changed = {
        group: {key: wanted for key, wanted in offsets.items() if now[group].get(key) != wanted.offset}
        for group, offsets in held.items()
    }
    return {group: committed_offsets for group, committed_offsets in changed.items() if committed_offsets}
