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
from .._core.holders import Holder
from .._core.leases import Lease, at_work, newest
from .._core.salvage import Progress
from .._core.waiting import Bounds, wait_until
from .._kafka.client import Kafka
from .._kafka.latest import read_latest, write_latest
from .._process import is_alive, myself
from .clusters import on_each

__all__ = ["current_lease", "give_back", "leases_of", "take", "unfinished_replays", "wait_for_lease", "write_lease"]

_SOON = Bounds(60.0, 0.2)


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
    """Who is at work, the run ``but`` left aside, and whose process is seen to have ended."""
    return at_work((one for one in leases_of(kafkas, topic, pair) if not _ended(one)), time.time(), but)


def _ended(lease: Lease) -> bool:
    holder = Holder.of(lease.holder)
    here = holder is not None and holder.pid is not None and holder.host == myself().host
    return here and holder is not None and not is_alive(holder)


def take(kafkas: Mapping[str, Kafka], topic: str, pair: str, kind: str, seconds: float) -> None:
    """For a playbook that touches flows: announced before the journal is read, so that no run begins unseen.

    Where a cluster has no such topic yet, the pair was never enabled, and no run can begin.
    """
    if None in on_each(kafkas, lambda alias: read_latest(kafkas[alias], topic)).values():
        return
    mine = myself().as_dict()
    # A scheduled job is soon over.
    waited = wait_until(
        lambda: current_lease(kafkas, topic, pair), lambda other: other is None or other.holder == mine, _SOON
    )
    other = waited.state
    if other is not None and not waited.done:
        raise DrError(
            "lease_held",
            f"Waited {waited.seconds:.0f} s: the {other.kind} {other.run} is at work on this pair since"
            f" {time.strftime('%H:%M:%S UTC', time.gmtime(other.since))}.",
            f"Start again when it has ended, {max(1, int(other.until - time.time()))} s from now at the latest.",
        )
    now = time.time()
    run = f"{kind}-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime(now))}"
    write_lease(kafkas, topic, Lease(pair, kind, "", run, now, now + seconds, holder=mine))


def give_back(kafkas: Mapping[str, Kafka], topic: str, pair: str) -> None:
    """What this Ansible process has taken."""
    mine = myself().as_dict()
    for lease in leases_of(kafkas, topic, pair):
        if lease.holder == mine and lease.ended is None:
            write_lease(kafkas, topic, lease.over(time.time(), "done", {}))


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
