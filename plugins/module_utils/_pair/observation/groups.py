# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Observe the groups of a pair on one cluster: state, committed offsets, and whether records are left.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..._core.journal.reads import Reads, start_offsets
from ..._core.partition import Partition, PartitionOffset, Ranges, by_topic
from ..._core.resources.groups import GroupState, members_named
from ..._core.resources.scopes import out_of_scope
from ..._kafka.groups import read
from ..._kafka.records import data_after
from .last_records import LastRecords
from .pair import ISOLATION, Pair

__all__ = [
    "GroupStatus",
    "Groups",
    "group_statuses",
    "names_of",
    "observe_groups",
    "observe_readers",
    "read_groups",
    "topics_of",
]

Groups = tuple[dict[str, GroupState], dict[str, dict[Partition, int]]]


@dataclass(frozen=True)
class GroupStatus:
    """A group on one cluster."""

    state: str
    #: Committed offsets.
    commits: dict[Partition, int]
    #: Whether no data record is left at or after the committed offset; None: unknown.
    read_to_end: dict[Partition, bool | None] = field(default_factory=dict)
    #: Topics outside the pair that the group uses.
    undeclared_topics: tuple[str, ...] = ()
    #: Topics of the pair that the group uses outside its declaration, as ``out_of_scope`` returns them.
    out_of_scope: tuple[Mapping[str, Any], ...] = ()
    #: Offsets between the committed offset and the log end; a partition without a committed offset is absent.
    left: dict[Partition, int] = field(default_factory=dict)
    #: Client id and host of the first members, in words; "" without members.
    members: str = ""
    #: Topics that the group uses: with a committed offset, or assigned to a member now or earlier in the run (R40).
    used: frozenset[str] = frozenset()
    #: Topics with unread records that no member is assigned, although the group has members.
    unassigned: tuple[str, ...] = ()


def read_groups(pair: Pair, alias: str) -> Groups:
    """Return the state and the committed offsets of every group on ``alias``."""
    return read(pair.kafka[alias], pair.groups)


def observe_groups(
    pair: Pair, alias: str, topics: Iterable[str], last: LastRecords | None = None, reads: Reads | None = None
) -> dict[str, GroupStatus]:
    """Observe every group on ``alias``: state, committed offsets on ``topics``, and whether records are left.

    ``last``: records that were read before. They answer for each range that is still the same. ``reads``: what the
    groups read on ``alias`` earlier in the run.
    """
    names = set(topics)
    groups = read_groups(pair, alias)
    ranges = pair.ranges(alias, names)

    def has_data_after(places: Iterable[PartitionOffset]) -> dict[PartitionOffset, bool | None]:
        known = {} if last is None else last.data_after(alias, ranges, places)
        return {**known, **data_after(pair.kafka[alias], set(places) - known.keys(), ranges, ISOLATION)}

    return group_statuses(pair, alias, names, groups, ranges, has_data_after, reads=reads)


def observe_readers(pair: Pair, alias: str) -> dict[str, GroupStatus]:
    """Observe the groups with members on ``alias``, on the topics that they read. Nothing else is read."""
    states, commits = read_groups(pair, alias)
    readers = [group for group in pair.groups if states[group].active]
    names = {name for group in readers for name in names_of(pair, group, alias, _used(states[group], commits[group]))}
    ranges = pair.ranges(alias, names)
    return group_statuses(
        pair,
        alias,
        names,
        (states, commits),
        ranges,
        lambda places: data_after(pair.kafka[alias], places, ranges, ISOLATION),
        only=readers,
    )


def group_statuses(
    pair: Pair,
    alias: str,
    topics: set[str],
    groups: Groups,
    ranges: Ranges,
    has_data_after: Callable[[Iterable[PartitionOffset]], Mapping[PartitionOffset, bool | None]],
    only: Iterable[str] | None = None,
    reads: Reads | None = None,
) -> dict[str, GroupStatus]:
    """Combine states and committed offsets with ``ranges``, which were read afterwards.

    ``has_data_after`` returns for each (partition, offset) whether a data record is at or after the offset. ``only``:
    groups to return instead of all groups of the pair. ``reads``: what the groups read on ``alias`` earlier in the run.
    """
    states, reads = groups[0], reads or {}
    wanted = pair.groups if only is None else list(only)
    commits = {group: {**_starts(reads, group, ranges), **groups[1][group]} for group in wanted}
    partitions = by_topic(ranges)
    used = {group: _used(states[group], commits[group]) | set(reads.get(group, ())) for group in wanted}
    names = {group: names_of(pair, group, alias, used[group]) for group in wanted}
    scopes = {
        group: [key for name in sorted(scope) for key in partitions.get(name, ())] for group, scope in names.items()
    }
    data = has_data_after(
        {
            (key, max(commits[group][key], ranges[key][0]))
            for group, scope in scopes.items()
            for key in scope
            if commits[group].get(key, ranges[key][1]) < ranges[key][1]
        }
    )
    counts = pair.partitions(alias)
    statuses = {}
    for group, scope in scopes.items():
        state, own = states[group], commits[group]
        done = {key: _read_to_end(own.get(key), key, ranges, data) for key in scope}
        statuses[group] = GroupStatus(
            state.state,
            {key: offset for key, offset in own.items() if key.topic in topics},
            done,
            tuple(sorted({key.topic for key in (*own, *state.assigned)} - counts.keys())),
            tuple(out_of_scope((group, alias), names[group], counts, own, state.members, earlier=reads.get(group, ()))),
            {key: max(0, ranges[key][1] - own[key]) for key in scope if key in own},
            members_named(state),
            frozenset(used[group]),
            _unassigned(state, own, done),
        )
    return statuses


def _starts(reads: Reads, group: str, ranges: Ranges) -> dict[Partition, int]:
    """Return the offset of the group on each partition that got its first records since it was seen without any."""
    starts = start_offsets(reads, group)
    return {key: offset for key, offset in starts.items() if key in ranges and ranges[key][1] > 0}


def _unassigned(
    state: GroupState, commits: Collection[Partition], read_to_end: Mapping[Partition, bool | None]
) -> tuple[str, ...]:
    if state.state != "STABLE":
        return ()
    unread = {key for key, done in read_to_end.items() if done is False and key in commits}
    return tuple(sorted({key.topic for key in unread - state.assigned}))


def _used(state: GroupState, commits: Iterable[Partition]) -> set[str]:
    return {key.topic for key in (*commits, *state.assigned)}


def topics_of(pair: Pair, group: str, alias: str, used: Collection[str]) -> list[str]:
    """Return the originals that ``group`` reads: the declared ones, else those it uses directly or as a replica.

    ``used``: topics with a committed offset, or assigned to a member now or earlier (R40).
    """
    if pair.spec.group_topics.get(group):
        return list(pair.spec.group_topics[group])
    return [topic for topic in pair.topics if not set(used).isdisjoint(pair.both_names(alias, topic))]


def names_of(pair: Pair, group: str, alias: str, used: Collection[str]) -> set[str]:
    """Return the topics in the group's scope on ``alias``, replicas included; ``used`` as in ``topics_of``."""
    return {name for topic in topics_of(pair, group, alias, used) for name in pair.both_names(alias, topic)}


def _read_to_end(
    commit: int | None, key: Partition, ranges: Ranges, data: Mapping[PartitionOffset, bool | None]
) -> bool | None:
    start, end = ranges[key]
    if end == 0:
        return True
    if commit is None:
        return None
    if commit < start:
        return False  # its unread records have expired here, but may still exist on the other cluster
    if commit >= end:
        return True
    has_data = data.get((key, commit))
    return None if has_data is None else not has_data
