# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Take, read, wait for and end the leases of a pair, on both of its clusters.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import replace

from ..._core.errors import DrError
from ..._core.journal.holders import Holder
from ..._core.journal.leases import Lease, Watch, newest, open_leases
from ..._core.offsets.tails import Progress
from ..._core.waiting import Bounds, wait_until
from ..._kafka.client import Kafka
from ..._kafka.latest import read_latest, write_latest
from ..._kafka.topics import describe
from ..._process import is_alive, myself, own_clock
from ..connections.clusters import on_each

__all__ = [
    "give_back",
    "leases_of",
    "number_of_next",
    "open_leases_of",
    "revoke",
    "take",
    "unfinished_replays",
    "wait_for_lease",
    "write_lease",
]

# A scheduled job takes less than this.
_SOON = Bounds(60.0, 0.2)
# Longer than any lease (600 s, which is also the maximum of kafka_dr_checkpoint_timeout).
_LONG = Bounds(615.0, 0.2)


def leases_of(kafkas: Mapping[str, Kafka], topic: str, pair: str) -> list[Lease]:
    """Return the latest lease of each kind and cluster; empty if the topic does not exist yet."""
    copies = on_each(kafkas, lambda alias: read_latest(kafkas[alias], topic))
    return newest([copy for copy in copies.values() if copy is not None], pair)


def unfinished_replays(kafkas: Mapping[str, Kafka], topic: str, pair: str) -> list[str]:
    """Name the partitions with a replay that has begun and not ended."""
    copies = on_each(kafkas, lambda alias: read_latest(kafkas[alias], topic))
    values = [value for copy in copies.values() if copy is not None for value in copy.values()]
    replays = [Progress.of(value) for value in values if value.get("kind") == "salvage" and value["pair"] == pair]
    return sorted(f"{replay.topic}-{replay.partition} of {replay.source}" for replay in replays if not replay.done)


def open_leases_of(kafkas: Mapping[str, Kafka], topic: str, pair: str, but: str = "") -> list[Lease]:
    """Return the open leases, except that of the run ``but`` and those whose process is known to have ended."""
    return [lease for lease in open_leases(leases_of(kafkas, topic, pair), but) if not _ended(lease)]


def _ended(lease: Lease) -> bool:
    holder = Holder.of(lease.holder)
    here = holder is not None and holder.pid is not None and holder.host == myself().host
    return here and holder is not None and not is_alive(holder)


def _is_mine(lease: Lease, held: str | None) -> bool:
    """Is it this playbook's lease, by its id or by the parent Ansible process? A managed host has no such process."""
    here = myself()
    return lease.run == held or (here.pid is not None and lease.holder == here.as_dict())


def take(
    kafkas: Mapping[str, Kafka],
    topic: str,
    pair: str,
    kind: str,
    seconds: float,
    held: str | None = None,
    take_over: str | None = None,
) -> Lease | None:
    """Take a lease for a playbook that changes flows, before the journal is read, so that no run begins unnoticed.

    Returns None if no cluster has the state topic yet: the pair was never enabled, and no run can begin. ``held`` is
    the lease that this playbook already has. ``take_over`` is a lease whose process has ended, as the operator has
    verified.
    """
    copies = on_each(kafkas, lambda alias: read_latest(kafkas[alias], topic))
    if all(copy is None for copy in copies.values()):
        return None
    known = newest([copy for copy in copies.values() if copy is not None], pair)
    mine = next((one for one in open_leases(known) if one.kind == kind and _is_mine(one, held)), None)
    if mine is not None:
        return mine
    _outwait_others(kafkas, topic, pair, held, take_over, _SOON)
    now = time.time()
    run = f"{kind}-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime(now))}-{uuid.uuid4().hex[:6]}"
    lease = Lease(pair, kind, "", run, now, now + seconds, holder=myself().as_dict())
    lease = replace(lease, number=_next_number(known, lease.key))
    write_lease(kafkas, topic, lease)
    return lease


def _next_number(known: Iterable[Lease], key: str) -> int:
    return 1 + max((lease.number for lease in known if lease.key == key), default=0)


def number_of_next(kafkas: Mapping[str, Kafka], topic: str, lease: Lease) -> Lease:
    """Return ``lease`` with the next number of its key."""
    return replace(lease, number=_next_number(leases_of(kafkas, topic, lease.pair), lease.key))


def give_back(kafkas: Mapping[str, Kafka], topic: str, pair: str, held: str | None = None) -> None:
    """End the leases that this playbook has taken."""
    for lease in open_leases(leases_of(kafkas, topic, pair)):
        if _is_mine(lease, held):
            write_lease(kafkas, topic, lease.over(time.time(), "done", {}))


def write_lease(kafkas: Mapping[str, Kafka], topic: str, lease: Lease) -> None:
    """Write the lease on each cluster that has the topic."""
    states = on_each(kafkas, lambda alias: describe(kafkas[alias], [topic])[topic])
    there = {alias: kafkas[alias] for alias, state in states.items() if state is not None}
    on_each(there, lambda alias: write_latest(there[alias], topic, {lease.key: lease.as_dict()}))


def revoke(kafkas: Mapping[str, Kafka], topic: str, pair: str, but: str = "", kept: str | None = None) -> None:
    """End the leases of other processes, which notice it before their next effect (R31); keep this playbook's lease."""
    for lease in open_leases(leases_of(kafkas, topic, pair), but):
        if not _is_mine(lease, kept):
            write_lease(kafkas, topic, lease.over(time.time(), "abandoned", {}))


def wait_for_lease(
    kafkas: Mapping[str, Kafka], topic: str, pair: str, take_over: str | None = None, but: str = ""
) -> None:
    """Wait until no other process holds a lease. A lease that stays unchanged for its whole length is ended.

    The length is measured by this machine's clock, from the first observation on.
    """
    _outwait_others(kafkas, topic, pair, None, take_over, _LONG, but)


def _outwait_others(
    kafkas: Mapping[str, Kafka],
    topic: str,
    pair: str,
    held: str | None,
    take_over: str | None,
    bounds: Bounds,
    but: str = "",
) -> None:
    watch = Watch(own_clock)

    def others() -> list[Lease]:
        leases = open_leases_of(kafkas, topic, pair, but)
        return watch.live(lease for lease in leases if not _is_mine(lease, held) and lease.run != take_over)

    waited = wait_until(others, lambda leases: not leases, bounds)
    if waited.state:
        other = waited.state[0]
        raise DrError(
            "lease_held",
            f"{other.kind} ({other.run}) still holds a lease of this pair after {waited.seconds:.0f} s. A lease that"
            f" stays unchanged for {other.seconds:.0f} s counts as abandoned.",
            "Start again when that job has ended. If you have verified that its process has ended, start again with"
            f" -e kafka_dr_take_over={other.run}.",
        )
    revoke(kafkas, topic, pair, but, held)
