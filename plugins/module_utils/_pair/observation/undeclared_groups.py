# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the groups of every type that use topics of the pair and do not move with it (R41).

Private to this collection: may change in any release.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping

from ..._core.checks.undeclared_groups import UndeclaredGroup, judge_group, needs_second_look, with_changes
from ..._core.errors import DrError, Unreachable
from ..._core.resources.groups import UNDESCRIBED, GroupState
from ..._kafka import groups as kafka_groups
from ..._kafka.client import Kafka
from ..._kafka.share_groups import share_groups
from .commits_seen import COMMIT_INTERVAL
from .pair import Pair

__all__ = ["UndeclaredGroups", "undeclared_groups", "undescribed_groups"]


def undeclared_groups(pair: Pair, alias: str) -> list[UndeclaredGroup]:
    """Return the groups on ``alias`` that use topics of the pair and do not move, of every type.

    Raises ``not_authorized`` if the cluster hides groups from this account.
    """
    kafka_groups.require_all_groups_visible(pair.kafka[alias])
    return _observed(pair, alias, kafka_groups.listed(pair.kafka[alias]))


def undescribed_groups(pair: Pair, alias: str) -> list[UndeclaredGroup]:
    """As :func:`undeclared_groups`, only groups of types that the client library cannot describe."""
    kafka_groups.require_all_groups_visible(pair.kafka[alias])
    listed = kafka_groups.listed(pair.kafka[alias])
    return _observed(pair, alias, {name: protocol for name, protocol in listed.items() if protocol is None})


class UndeclaredGroups:
    """Two looks at the same groups. The second one is taken only if it can show more."""

    def __init__(self, pair: Pair, alias: str) -> None:
        self._pair, self._alias = pair, alias
        self._first = undeclared_groups(pair, alias)
        self._at = time.monotonic()

    def again(self) -> list[UndeclaredGroup]:
        """Return what both looks show. Waits until a reader that commits every 5 s has committed again."""
        if not needs_second_look(self._first):
            return self._first
        time.sleep(max(0.0, COMMIT_INTERVAL - (time.monotonic() - self._at)))
        return with_changes(self._first, undeclared_groups(self._pair, self._alias))


def _observed(pair: Pair, alias: str, listed: Mapping[str, str | None]) -> list[UndeclaredGroup]:
    kafka, spec = pair.kafka[alias], pair.spec
    others = sorted(listed.keys() - set(pair.groups))
    if not others:
        return []
    ours = {name for topic in pair.topics for name in pair.both_names(alias, topic)}
    consumers = [name for name in others if listed[name] == kafka_groups.CONSUMER]
    states = kafka_groups.describe(kafka, consumers)
    # An open transaction of such a group hides an offset, not the partition.
    commits = kafka.patiently(kafka_groups.known_committed_offsets, kafka, others)
    # Members of other protocols, such as Kafka Connect's workers, coordinate and do not read topics as a group.
    rest = [name for name in others if name not in states and (listed[name] is None or commits[name])]
    states.update({name: GroupState(name, UNDESCRIBED) for name in rest})
    shared = _shared(kafka, ours) if any(not commits[name] for name in rest) else {}
    rows = [
        judge_group(
            states[name],
            alias,
            commits[name],
            ours,
            shared,
            _declared(name, spec.local_groups, spec.accepted_undeclared),
        )
        for name in sorted(states)
    ]
    return [row for row in rows if row is not None]


def _declared(name: str, local: Collection[str], accepted: Collection[str]) -> str:
    return "local" if name in local else "accepted" if name in accepted else ""


def _shared(kafka: Kafka, ours: Collection[str]) -> dict[str, list[str]] | None:
    """Return what share groups read, from the brokers' own state; None: it could not be read."""
    try:
        return share_groups(kafka, ours)
    except Unreachable:
        raise
    except DrError:
        return None
