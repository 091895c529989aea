# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Leases: which process works on a pair, until when, and what the last one did.

A run writes to the journal and then reads the leases. A scheduled job writes its lease and then reads the journal. The
second one sees the first one's record, so they never both continue.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

__all__ = ["Lease", "Watch", "newest", "open_leases"]


@dataclass(frozen=True)
class Lease:
    """A lease of a pair.

    A process that may outlive a lease ends it before it continues (see ``Watch``). So the record alone shows whether
    its holder may still change something, without a comparison of the clocks of two machines.
    """

    pair: str
    kind: str
    to: str
    run: str
    #: Epoch seconds on the machine that wrote the lease, as are ``until`` and ``ended``; only their distance counts.
    since: float
    until: float
    ended: float | None = None
    outcome: str | None = None
    counts: dict[str, Any] = field(default_factory=dict)
    #: The Ansible process, if the lease outlives the module that took it (see ``holders``).
    holder: dict[str, Any] | None = None
    #: Grows with each lease of the same key.
    number: int = 0

    @property
    def seconds(self) -> float:
        """How long it must be observed unchanged before it counts as abandoned."""
        return self.until - self.since

    @property
    def key(self) -> str:
        """Key of the record: one latest value for each pair, kind and target cluster."""
        return f"{self.pair}/{self.kind}/{self.to}"

    def over(self, moment: float, outcome: str, counts: Mapping[str, Any]) -> Lease:
        """The same lease, ended."""
        return replace(self, ended=moment, outcome=outcome, counts=dict(counts))

    def as_dict(self) -> dict[str, Any]:
        """The value of the record."""
        return {"schema": 1, **asdict(self)}


def newest(copies: Iterable[Mapping[str, Mapping[str, Any]]], pair: str) -> list[Lease]:
    """The latest leases of ``pair`` from the copies on its clusters."""
    latest: dict[str, Lease] = {}
    for copy in copies:
        for key, value in copy.items():
            # Presynced offsets are in the same topic.
            if value.get("pair") != pair or "until" not in value:
                continue
            lease = Lease(**{name: value[name] for name in Lease.__dataclass_fields__ if name in value})
            if key not in latest or _age(lease) > _age(latest[key]):
                latest[key] = lease
    return sorted(latest.values(), key=lambda lease: lease.key)


def _age(lease: Lease) -> tuple[int, bool]:
    return lease.number, lease.ended is not None


def open_leases(leases: Iterable[Lease], but: str = "") -> list[Lease]:
    """The leases that have not ended, except those of the run ``but``."""
    return [lease for lease in leases if lease.ended is None and lease.run != but]


class Watch:
    """Distinguishes abandoned leases from live ones by this machine's clock: how long each was seen unchanged (R31)."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._first: dict[tuple[str, str, int], float] = {}

    def live(self, leases: Iterable[Lease]) -> list[Lease]:
        """The leases that have not yet been observed unchanged for their whole length."""
        now, found = self._clock(), list(leases)
        keys = [(lease.key, lease.run, lease.number) for lease in found]
        self._first = {key: self._first.get(key, now) for key in keys}
        return [lease for lease, key in zip(found, keys, strict=True) if now - self._first[key] < lease.seconds]
