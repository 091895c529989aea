# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Is a cluster able to work? One bounded question, whatever state it is in (R15).

Private to this collection: may change in any release.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..._core.errors import DrError, LockedOut
from ..._core.waiting import Bounds, wait_until
from ..._kafka.client import Kafka
from ..._kafka.topics import describe, known_ranges

__all__ = ["Probe", "probe"]

_LISTENS = 1.0
# One that restarts is away for longer; the look before the point of no return comes seconds later.
_REFUSED = 0.3
# What is wrong here says nothing of the cluster.
_HERE = ("wrong_cluster", "kerberos_missing", "library_missing")


@dataclass(frozen=True)
class Probe:
    """``answers``: the cluster named itself, and every partition of every topic has a leader that told its end.

    ``reachable``: it named itself at least, so that some of its partitions may still be read. ``locked_out``: it is
    there and did not let this client ask, by certificate, login or rights, so that nothing is known of its state.
    """

    answers: bool
    reason: str
    seconds: float
    reachable: bool = False
    locked_out: bool = False

    def as_dict(self) -> dict[str, Any]:
        """For results and reports."""
        return asdict(self)


def probe(cluster: Mapping[str, Any], topics: Sequence[str], timeout: float) -> Probe:
    """Ask for the cluster's id and for every end of ``topics``, within ``timeout`` seconds altogether.

    ``cluster``: bootstrap_servers, client or admin_client, cluster_id. Raises ``wrong_cluster`` when another one
    answers, and what is wrong with the client here: mistakes in inventory or installation, and no disaster.
    """
    began = time.monotonic()

    def left() -> float:
        return max(0.1, timeout - (time.monotonic() - began))

    named = False

    def ended(answers: bool, reason: str, locked_out: bool = False) -> Probe:
        return Probe(answers, reason, round(time.monotonic() - began, 3), named, locked_out)

    addresses = cluster["bootstrap_servers"].split(",")
    # Kafka's client asks again until its time-out; where nobody listens that is known at once.
    listening = wait_until(
        lambda: any(_listens(address, left()) for address in addresses),
        lambda found: found,
        Bounds(min(_REFUSED, timeout / 2), 0.1),
    )
    if not listening.done:
        return ended(False, f"no broker listens at {cluster['bootstrap_servers']}")
    try:
        kafka = Kafka(cluster["bootstrap_servers"], cluster.get("admin_client") or cluster.get("client") or {}, left())
        kafka.identify(cluster.get("cluster_id"))
        named = True
        kafka.timeout = left()
        states = describe(kafka, list(topics))
        missing = [name for name, state in states.items() if state is None]
        if missing:
            return ended(False, f"it answers, but has no topic {', '.join(missing[:5])}")
        keys = {(name, index) for name, state in states.items() if state for index in range(state.partitions)}

        def ends() -> dict[tuple[str, int], tuple[int, int] | None]:
            kafka.timeout = left()
            return known_ranges(kafka, keys)

        # A leader that is being elected is no loss, and takes a moment.
        waited = wait_until(ends, lambda spans: None not in spans.values(), Bounds(left(), 0.1))
        mute = [f"{key[0]}-{key[1]}" for key, span in waited.state.items() if span is None]
        if mute:
            return ended(False, f"it answers, but {len(mute)} partitions have no leader: {', '.join(mute[:5])}")
    except DrError as error:
        if error.code in _HERE:
            raise
        # Whoever refuses is there.
        return ended(False, error.message, isinstance(error, LockedOut) or error.code == "not_authorized")
    return ended(True, f"it answers, and every partition of {len(topics)} topics has a leader")


def _listens(address: str, timeout: float) -> bool:
    host, _colon, port = address.strip().rpartition("://")[2].rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), min(timeout, _LISTENS)):
            return True
    except (OSError, ValueError):
        return False
