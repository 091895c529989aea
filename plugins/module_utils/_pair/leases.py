# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Leases of a pair on both of its clusters.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from .._core.errors import DrError
from .._core.leases import Lease, at_work, newest
from .._core.salvage import Progress
from .._core.waiting import Bounds, wait_until
from .._kafka.client import Kafka
from .._kafka.latest import read_latest, write_latest
from .clusters import on_each

__all__ = ["current_lease", "leases_of", "unfinished_replays", "wait_for_lease", "write_lease"]


def leases_of(kafkas: Mapping[str, Kafka], topic: str, pair: str) -> list[Lease]:
    """The latest lease of each kind and side; none where the topic does not exist yet."""
    copies = on_each(kafkas, lambda alias: read_latest(kafkas[alias], topic))
    return newest([copy for copy in copies.values() if copy is not None], pair)


def unfinished_replays(kafkas: Mapping[str, Kafka], topic: str, pair: str) -> list[str]:
    """Partitions whose tail was begun to be brought over, and is not yet."""
    copies = on_each(kafkas, lambda alias: read_latest(kafkas[alias], topic))
    found = [value for copy in copies.values() if copy is not None for value in copy.values()]
    replays = [Progress.of(value) for value in found if value.get("kind") == "salvage" and value["pair"] == pair]
    return sorted(f"{one.topic}-{one.partition} of {one.source}" for one in replays if not one.done)


def current_lease(kafkas: Mapping[str, Kafka], topic: str, pair: str, but: str = "") -> Lease | None:
    """Who is at work, the run ``but`` left aside."""
    return at_work(leases_of(kafkas, topic, pair), time.time(), but)


def write_lease(kafkas: Mapping[str, Kafka], topic: str, lease: Lease) -> None:
    """On both clusters."""
    on_each(kafkas, lambda alias: write_latest(kafkas[alias], topic, {lease.key: lease.as_dict()}))


def wait_for_lease(kafkas: Mapping[str, Kafka], topic: str, pair: str, seconds: float) -> None:
    """Until nobody is at work; a holder that died is outwaited, because it commits nothing behind its lease."""
    waited = wait_until(lambda: current_lease(kafkas, topic, pair), lambda lease: lease is None, Bounds(seconds, 0.2))
    if waited.state is not None:
        raise DrError(
            "lease_held",
            f"Waited {waited.seconds:.0f} s for the {waited.state.kind} {waited.state.run} to end.",
            "Start the same playbook again.",
        )
