# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Probe whether a cluster can serve its topics, within a bound and in any state of the cluster (R15).

Private to this collection: may change in any release.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..._core.errors import DrError, LockedOut
from ..._core.partition import Partition
from ..._core.waiting import Bounds, wait_until
from ..._kafka.client import Kafka
from ..._kafka.topics import describe, known_ranges

__all__ = ["Probe", "probe"]

_LISTENS = 1.0
# A broker that restarts is down for longer. The probe before the point of no return follows seconds later.
_REFUSED = 0.3
# These errors are local, and prove nothing about the cluster.
_HERE = ("wrong_cluster", "kerberos_missing", "library_missing")


@dataclass(frozen=True)
class Probe:
    """The result of one probe."""

    #: The cluster returned its id, and every partition of every topic has a leader that returned its log end.
    answers: bool
    reason: str
    seconds: float
    #: The cluster returned its id at least, so some of its partitions may still be readable.
    reachable: bool = False
    #: The cluster is up but rejected this client's certificate, login or permissions, so its state is unknown.
    locked_out: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return the probe as plain data, for results and reports."""
        return asdict(self)


def probe(cluster: Mapping[str, Any], topics: Sequence[str], timeout: float) -> Probe:
    """Request the cluster's id and every log end of ``topics``, within ``timeout`` seconds in total.

    ``cluster``: bootstrap_servers, client or admin_client, cluster_id. Raises ``wrong_cluster`` if another cluster
    responds, and local errors of the client: these are mistakes in the inventory or installation, not a disaster.
    """
    began = time.monotonic()

    def left() -> float:
        return max(0.1, timeout - (time.monotonic() - began))

    named = False

    def ended(answers: bool, reason: str, locked_out: bool = False) -> Probe:
        return Probe(answers, reason, round(time.monotonic() - began, 3), named, locked_out)

    addresses = cluster["bootstrap_servers"].split(",")
    # Kafka's client retries until its time-out, but a refused TCP connection is known at once.
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
            return ended(False, f"it responds, but does not have the topic {', '.join(missing[:5])}")
        keys = {Partition(name, index) for name, state in states.items() if state for index in range(state.partitions)}

        def ends() -> dict[Partition, tuple[int, int] | None]:
            kafka.timeout = left()
            return known_ranges(kafka, keys)

        # A leader election takes a moment, and is not a loss.
        waited = wait_until(ends, lambda spans: None not in spans.values(), Bounds(left(), 0.1))
        mute = [str(key) for key, span in waited.state.items() if span is None]
        if mute:
            return ended(False, f"it responds, but {len(mute)} partitions have no leader: {', '.join(mute[:5])}")
    except DrError as error:
        if error.code in _HERE:
            raise
        # A cluster that rejects the client is up.
        return ended(False, error.message, isinstance(error, LockedOut) or error.code == "not_authorized")
    return ended(True, f"it responds, and every partition of {len(topics)} topics has a leader")


def _listens(address: str, timeout: float) -> bool:
    host, _colon, port = address.strip().rpartition("://")[2].rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), min(timeout, _LISTENS)):
            return True
    except (OSError, ValueError):
        return False
