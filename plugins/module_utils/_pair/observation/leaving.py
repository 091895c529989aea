# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wait until brokers drop the members of stopped consumers from their groups, after the session time-out (R9).

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from ..._core.errors import DrError
from ..._core.resources.groups import GroupState, members_named
from ..._core.waiting import Bounds, Waited, wait_until
from ..._kafka.client import Kafka
from ..._kafka.groups import confirm_absent, describe_known_types
from ..connections.clusters import on_each

__all__ = ["States", "wait_for_members_to_leave"]

_NAMED = 3
States = dict[str, dict[str, GroupState]]


def wait_for_members_to_leave(
    kafka: Mapping[str, Kafka],
    groups: Collection[str],
    bounds: Bounds,
    seen: Callable[[States], None] = lambda _states: None,
) -> Waited[States]:
    """Wait until no group has members on any of these clusters; raise after the bounds.

    A static member does not announce that it leaves, and a killed consumer cannot. The broker drops both after the
    session time-out that they requested. It does not report that time-out, so ``bounds`` must be longer.
    Each observation is passed to ``seen``.
    """

    def observe() -> States:
        states = on_each(kafka, lambda alias: describe_known_types(kafka[alias], groups))
        # Asks every broker, so not while a coordinator still reports members.
        if not _still(states):
            states = on_each(kafka, lambda alias: confirm_absent(kafka[alias], states[alias]))
        seen(states)
        return states

    waited = wait_until(observe, lambda states: not _still(states), bounds)
    still = _still(waited.state)
    if still:
        aliases = ", ".join(sorted({alias for alias, _state in still}))
        names = "; ".join(
            f"{state.group} ({state.state}): {members_named(state) or 'the broker reports no member'}"
            for _alias, state in still[:_NAMED]
        )
        raise DrError(
            "group_active",
            f"{len(still)} groups still have members on {aliases} after {waited.seconds:.0f} s: {names}.",
            "Stop these consumers. A consumer that was killed, or a stopped static member (group.instance.id), stays a"
            " member for its session.timeout.ms: raise kafka_dr_member_timeout above that. Nothing was committed.",
        )
    return waited


def _still(states: States) -> list[tuple[str, GroupState]]:
    return [
        (alias, state)
        for alias, group_states in sorted(states.items())
        for _group, state in sorted(group_states.items())
        if state.active
    ]
