# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Is a group that moved at work on the cluster that was left, after the point of no return? (R41)

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ..listing import first_few
from ..partition import Partition
from ..resources.groups import GroupState, members_named
from ..verdict import NOT_APPLICABLE, PROVEN, REFUTED, UNKNOWN, Finding, combine

__all__ = ["judge_departure", "together"]

Commits = Mapping[str, Mapping[Partition, int]]


def judge_departure(
    left: str,
    states: Mapping[str, GroupState],
    commits: Commits,
    before: Commits,
    synced: Collection[str],
    looked: bool = False,
) -> Finding:
    """A look at the groups that moved, on the cluster ``left``.

    ``before``: their committed offsets at the barrier. ``synced``: topics on which MirrorMaker 2's group sync may have
    committed since. A changed offset there is a consumer's or group sync's, so it proves neither. Group sync only
    raises offsets, so an unchanged one shows that nothing committed there. ``looked``: an earlier look of the run,
    before group sync started, has proven that the group had left, so only its members are asked for there. Source:
    org.apache.kafka.connect.mirror.MirrorCheckpointTask (Kafka 4.3.1).
    """
    if not states:
        return Finding(NOT_APPLICABLE, "no group moved")
    at_work = [
        f'"{group}" has members ({members_named(state)})' for group, state in sorted(states.items()) if state.members
    ]
    changed = [
        (group, key, then, now)
        for group in sorted(states)
        for key, now in sorted(commits[group].items())
        if (then := before.get(group, {}).get(key)) != now
    ]
    at_work += [
        f'"{group}" committed {now} on {key}, after {"none" if then is None else then} at the barrier'
        for group, key, then, now in changed
        if key.topic not in synced
    ]
    if at_work:
        return Finding(REFUTED, f"at work on {left} after the point of no return: {first_few(at_work, separator='; ')}")
    unclear = sorted(f'"{group}" ({state.state})' for group, state in states.items() if state.active)
    synced_topics: dict[str, dict[str, None]] = {}
    for group, key, _then, _now in changed:
        synced_topics.setdefault(group, {})[key.topic] = None
    if not looked:
        unclear += [
            f'"{group}" (its offsets changed on {first_few(list(topics))}, where group sync commits, too)'
            for group, topics in synced_topics.items()
        ]
    # A group of which the barrier holds nothing was not observed there.
    unclear += sorted(f'"{group}" (no committed offsets in the barrier)' for group in states.keys() - before.keys())
    if unclear:
        return Finding(UNKNOWN, f"it is unknown whether these groups are at work on {left}: {first_few(unclear)}")
    where = ", and where group sync commits, too, nothing until it started" if synced_topics else ""
    text = f"{len(states)} groups have no members on {left} and have committed nothing there since the barrier{where}"
    return Finding(PROVEN, text)


def together(looks: Sequence[Mapping[str, Any] | None]) -> Finding:
    """The finding of all looks between the point of no return and the end. None: a look that was not taken."""
    taken = [look for look in looks if look]
    verdicts = [str(look["verdict"]) for look in taken]
    if not taken or (len(taken) < len(looks) and REFUTED not in verdicts):
        return Finding(UNKNOWN, "the groups on the cluster that was left were not observed until the end")
    verdict = combine(verdicts) if set(verdicts) != {NOT_APPLICABLE} else NOT_APPLICABLE
    return Finding(verdict, next(str(look["reason"]) for look in taken if look["verdict"] == verdict))
